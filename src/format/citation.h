/*
 * Citation files: one record, all that it refers to, and the proof that all of
 * it was published (store-layout.md A1 to A12).
 *
 * A file is one canonical JSON object and LF. It can be judged with nothing
 * else at hand: ks_citation_read() checks everything but the signature of the
 * note that all proofs end in, which is for format/trust.h.
 *
 *	status = ks_citation_read(&citation, bytes, &err);
 *	if (status == KS_OK)
 *		... judge ks_citation_note(citation) ...
 *	ks_citation_free(citation);
 *
 * To make one: ks_citation_new(), objects with their lines in any order,
 * ks_citation_write(). No file, no clock.
 */
#ifndef KS_FORMAT_CITATION_H
#define KS_FORMAT_CITATION_H

#include "format/checkpoint.h"
#include "format/citetext.h"
#include "format/proof.h"

#define KS_CITATION_FORMAT "kistore-citation/1"

/* Limits (store-layout.md B24): bytes of a file, objects in it. */
#define KS_CITATION_MAX ((size_t)1 << 24)
#define KS_CITATION_OBJECTS 1024

/* Lines of one object: its publish line, the newest annotate with metadata,
 * the newest with provenance. */
#define KS_CITATION_LINES 3

struct ks_citation;

/* Begin a file about `record`, looked at on the day `accessed`, whose proofs
 * all end in `note`. Both are copied. KS_INVALID when `accessed` is no day,
 * KS_CORRUPT when `note` is no note of a log. */
enum ks_status ks_citation_new(struct ks_citation **out,
	const struct ks_id *record, struct ks_span accessed,
	struct ks_span note, struct ks_error *err) KS_CHECKED;
/* NULL is allowed. */
void ks_citation_free(struct ks_citation *citation);

/* Add an object; and to the one that was added last a line of the log, by
 * index. All is copied. KS_INVALID beyond the limits. */
enum ks_status ks_citation_add(struct ks_citation *citation,
	const struct ks_id *digest, struct ks_span body, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_citation_add_line(struct ks_citation *citation,
	struct ks_span text, uint64_t index, const struct ks_proof *proof,
	struct ks_error *err) KS_CHECKED;

/* Whether an object was added. */
bool ks_citation_has(const struct ks_citation *citation,
	const struct ks_id *digest);

/* Judge what was added by the rules for files that are read, and append the
 * file. The same is written whatever the order of adding. */
enum ks_status ks_citation_write(struct ks_citation *citation,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* Read a file and judge all but the signature. KS_CORRUPT with the rule that
 * is broken; KS_UNSUPPORTED for another version, and for a line that needs a
 * newer kistore; KS_NOMEM. *out keeps nothing of `bytes`. */
enum ks_status ks_citation_read(struct ks_citation **out,
	struct ks_span bytes, struct ks_error *err) KS_CHECKED;

/* Of one that was written or read; all borrowed. */
struct ks_citation_facts {
	struct ks_id record;
	struct ks_span kind;	/* in full */
	struct ks_span accessed;
	struct ks_span text;	/* the citation */
	const struct ks_citetext *parts;
	struct ks_span note;
	struct ks_checkpoint checkpoint;
	uint64_t index;		/* of the record's publish line */
	struct ks_span at;	/* its time: a claim */
	size_t objects, lines;
};
void ks_citation_facts(const struct ks_citation *citation,
	struct ks_citation_facts *out);

#endif
