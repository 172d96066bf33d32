/*
 * What is said about a record: in-toto Statements (v1), the payloads of
 * Attestations.
 *
 * The envelope, and that there is exactly one subject, is ruled by
 * store-layout.md K31; what may raise the level of evidence by N14; the frame
 * by in-toto's Statement v1. Inside the frame, kistore has a predicate type of
 * its own, KS_STATEMENT_PREDICATE, which is laid down here:
 *
 *	{"_type":"https://in-toto.io/Statement/v1",
 *	 "predicate":{"at":TIME,"author":TEXT,…,"type":TYPE},
 *	 "predicateType":KS_STATEMENT_PREDICATE,
 *	 "subject":[{"digest":{"sha256":HEX},"name":KIND}]}
 *
 * in canonical form. `at` is a time as in log lines (L7), a claim like all of
 * those; `author` a name to show; `name` the kind of the subject, which by
 * in-toto's rules identifies nothing. Per type the predicate has these members
 * too, and none of the others here; names that are not here are ignored.
 *
 *	reproduced, could_not_reproduce, environment_note, regression_observed
 *		body, evidenceUrl?, observedNs?, environment?
 *	correction_wanted
 *		reason, body, evidenceUrl?
 *	rerun
 *		rerun: the digest ("sha256:…") of a run, published in its own
 *		right, that measured the subject anew
 *
 * Of these only a rerun says something that counts: under a key that stands as
 * `controlled` in the signed log it makes the subject's evidence "verified".
 */
#ifndef KS_FORMAT_STATEMENT_H
#define KS_FORMAT_STATEMENT_H

#include "base/buf.h"
#include "base/error.h"
#include "format/id.h"

#define KS_STATEMENT_PREDICATE \
	"https://kernelindex.com/kistore/attestation/v1"
/* The payloadType of an envelope around a Statement. */
#define KS_STATEMENT_PAYLOAD_TYPE "application/vnd.in-toto+json"

/* In UTF-16 code units. Of the environment, what is longer is cut off. */
#define KS_STATEMENT_BODY_MAX 2000
#define KS_STATEMENT_CORRECTION_MAX 4000	/* a body of that type */
#define KS_STATEMENT_URL_MAX 2000
#define KS_STATEMENT_ENVIRONMENT_MAX 200
#define KS_STATEMENT_AUTHOR_MAX 200
#define KS_STATEMENT_KIND_MAX 257	/* apiVersion, '/' and kind */

/* How many may be filed in 24 hours: of observations under one key, of
 * corrections about one subject. Of reruns any number. */
#define KS_STATEMENT_PER_DAY 20

enum ks_statement_type {
	KS_STATEMENT_REPRODUCED,
	KS_STATEMENT_COULD_NOT_REPRODUCE,
	KS_STATEMENT_ENVIRONMENT_NOTE,
	KS_STATEMENT_REGRESSION_OBSERVED,
	KS_STATEMENT_CORRECTION_WANTED,
	KS_STATEMENT_RERUN
};

/* Why a correction is wanted. */
enum ks_statement_reason {
	KS_REASON_NONE,		/* of every other type */
	KS_REASON_INCORRECT_RESULT,
	KS_REASON_WRONG_ATTRIBUTION,
	KS_REASON_LICENSE_ISSUE,
	KS_REASON_COMPARABILITY,
	KS_REASON_OTHER
};

/* "could_not_reproduce"; "wrong_attribution", "" for none (static). */
const char *ks_statement_type_name(enum ks_statement_type type);
const char *ks_statement_reason_name(enum ks_statement_reason reason);

/* The type or reason of that name. KS_INVALID, which lists them. */
enum ks_status ks_statement_type_parse(struct ks_span name,
	enum ks_statement_type *out, struct ks_error *err) KS_CHECKED;
enum ks_status ks_statement_reason_parse(struct ks_span name,
	enum ks_statement_reason *out, struct ks_error *err) KS_CHECKED;

/* A value that was observed, as it is typed: "621.5us", "0.62 ms"; ns, us, µs,
 * ms or s. KS_INVALID for anything else. */
enum ks_status ks_statement_value_parse(struct ks_span text, double *ns,
	struct ks_error *err) KS_CHECKED;

/* A statement of kistore's own predicate type. Texts are UTF-8, unescaped; one
 * whose data is NULL was not given. */
struct ks_statement {
	enum ks_statement_type type;
	struct ks_id subject;
	/* The subject's name: its kind, as log lines have it. A claim, of any
	 * text, where it was read: what counts is what the log says. */
	struct ks_span kind;
	enum ks_statement_reason reason;
	struct ks_span body;
	struct ks_span evidence_url;
	bool has_observed;
	double observed_ns;
	struct ks_span environment;	/* may also be empty: of none */
	bool has_rerun;
	struct ks_id rerun;
	struct ks_span author;
	int64_t at;		/* seconds since 1970 */
	/* Where the texts of a statement that was parsed are. Of one that is
	 * to be written the caller owns them, and this is all zero. */
	struct ks_buf texts;
};

/* Free the texts of a parsed statement. */
void ks_statement_release(struct ks_statement *statement);

/* What a store knows when a statement is filed: kinds as log lines have them,
 * empty where nothing of that digest is published. */
struct ks_statement_facts {
	struct ks_span subject;
	struct ks_span rerun;	/* of a statement of the type RERUN */
	size_t filed;		/* in the last 24 hours, see above */
};

/* Judge a statement that is to be filed: its type, reason and body; its URL;
 * the value observed; environment and digest of the rerun; that the subject is
 * published, a record, and a run unless a correction is wanted; that the rerun
 * is published, and of the same kind; how many were filed; author and time.
 * The first rule that is broken is the one reported: KS_INVALID, or
 * KS_NOT_FOUND for what is not published. Blanks around texts do not count. */
enum ks_status ks_statement_admit(const struct ks_statement *statement,
	const struct ks_statement_facts *facts, struct ks_error *err)
	KS_CHECKED;

/* Append the Statement, canonical JSON: the payload of an envelope. Texts are
 * trimmed, and the environment cut to its length. KS_INVALID as
 * ks_statement_admit() by the rules that need no store; `kind` is taken for
 * the subject's. On failure `out` is as it was. */
enum ks_status ks_statement_write(const struct ks_statement *statement,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* Read the payload of an envelope, any bytes. Texts are given as
 * ks_statement_write() would write them. KS_UNSUPPORTED for a Statement of
 * another predicate type, which may be as good as any; KS_INVALID when it is
 * none, or breaks a rule of its type. After a failure there is nothing to
 * release. Nobody has said so until the envelope verifies. */
enum ks_status ks_statement_parse(struct ks_span payload,
	struct ks_statement *out, struct ks_error *err) KS_CHECKED;

/* The frame of a Statement of any predicate type. Spans lie in its canonical
 * form. */
struct ks_statement_frame {
	struct ks_id subject;
	struct ks_span name;		/* of the subject, escaped; or empty */
	struct ks_span predicate_type;	/* escaped, not empty */
	struct ks_span predicate;	/* an object, or empty */
};

/* Read JSON text as a Statement v1 about exactly one subject with a SHA-256
 * digest (K31). Its canonical form replaces what is in `canonical`. KS_INVALID
 * with the rule that it breaks, worded to follow the name of what it is.
 * Members that in-toto does not name are ignored, as it demands. */
enum ks_status ks_statement_frame(struct ks_span text,
	struct ks_buf *canonical, struct ks_statement_frame *out,
	struct ks_error *err) KS_CHECKED;

#endif
