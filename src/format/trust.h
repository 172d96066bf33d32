/*
 * Trust: whose word on a log counts (store-layout.md N5 to N10).
 *
 * A verifier trusts keys, or a policy, that came from outside the store, and
 * remembers what it accepted before. A log is judged by its signed notes, in
 * order of size: a note counts when a trusted key signed it and its root is
 * that of the log. A key may hand over to a successor that it named, under its
 * own signature, beforehand.
 *
 *	ks_trust_new(&trust, &err);
 *	ks_trust_add_key(trust, &vkey, &err);
 *	ks_trust_add_seen(trust, remembered, &err);
 *	ks_trust_judge(trust, &subject, &result, &err);
 *	if (result.verdict != KS_TRUST_SIGNED)
 *		... result.message
 *	ks_trust_free(trust);
 *
 * No file, no clock: what is remembered, and where, is store/state.h.
 */
#ifndef KS_FORMAT_TRUST_H
#define KS_FORMAT_TRUST_H

#include "format/checkpoint.h"
#include "format/policy.h"

#define KS_TRUST_KEYS 64	/* keys, revocations, notes seen: each */

struct ks_trust;

enum ks_status ks_trust_new(struct ks_trust **out, struct ks_error *err)
	KS_CHECKED;
void ks_trust_free(struct ks_trust *trust);

/* Trust the key of a log, whose name is the log's origin. KS_INVALID for a
 * cosigner's key (type 04); adding one twice does nothing. */
enum ks_status ks_trust_add_key(struct ks_trust *trust,
	const struct ks_vkey *vkey, struct ks_error *err) KS_CHECKED;

/* Demand a policy: its logs are trusted, its quorum must have cosigned. The
 * text is not kept. Errors as of ks_policy_parse(); KS_USAGE when there is one
 * already. */
enum ks_status ks_trust_set_policy(struct ks_trust *trust,
	struct ks_span text, struct ks_error *err) KS_CHECKED;

/* A key, trusted before, whose notes count no longer: but those up to `note`,
 * the last good one, which it signed (N10). KS_CORRUPT for a malformed note,
 * KS_UNTRUSTED when no trusted key signed it. */
enum ks_status ks_trust_revoke(struct ks_trust *trust, struct ks_span note,
	struct ks_error *err) KS_CHECKED;

/* A note that was accepted before: the log must not be older, nor another.
 * The note is copied. `authentic`: from the verifier's own memory; otherwise a
 * trusted key must have signed it (KS_UNTRUSTED). KS_CORRUPT: malformed. */
enum ks_status ks_trust_add_seen(struct ks_trust *trust, struct ks_span note,
	bool authentic, struct ks_error *err) KS_CHECKED;

/* Whether any key is trusted; whether one for this origin is. */
bool ks_trust_is_asked(const struct ks_trust *trust);
bool ks_trust_knows(const struct ks_trust *trust, struct ks_span origin);

/* The sizes whose roots ks_trust_judge() will ask for beside those of the
 * subject's notes: at most KS_TRUST_KEYS * 2. Returns how many. */
size_t ks_trust_sizes(const struct ks_trust *trust,
	uint64_t sizes[2 * KS_TRUST_KEYS]);

/* A line of the log that names its key (role "log"). */
struct ks_log_key {
	uint64_t index;
	struct ks_vkey vkey;
	bool has_next;
	struct ks_id next;	/* of the successor's vkey text */
};

/* What is judged: a log at hand and the notes that are said to be of it. */
struct ks_trust_subject {
	struct ks_span origin;		/* of store.json; empty = not known */
	const struct ks_span *notes;	/* ascending by size */
	size_t note_count;
	const struct ks_log_key *keys;	/* in the order of the log */
	size_t key_count;
	bool is_past;			/* an older state was asked for: that
					 * it is older is no rollback */
	bool has_keys;			/* false: only a note is at hand, so
					 * the log's own key lines are not
					 * asked */
	/* The root of the log's first `size` entries; false when it has not so
	 * many, or cannot tell. NULL: no log is at hand. */
	bool (*root)(void *arg, uint64_t size, struct ks_id *out);
	void *arg;
};

enum ks_trust_verdict {
	KS_TRUST_NOT_ASKED,	/* no key is trusted: nothing was judged */
	KS_TRUST_SIGNED,	/* the newest note counts */
	KS_TRUST_UNSIGNED,	/* there is no note */
	KS_TRUST_UNTRUSTED_KEY,	/* the newest note is of no trusted key, or
				 * the policy's quorum did not cosign it */
	KS_TRUST_REVOKED_KEY,	/* the newest note is of a revoked key, or one
				 * that has handed over */
	KS_TRUST_WRONG_ORIGIN,	/* a trusted key signed it for another log */
	KS_TRUST_FORGED,	/* a signature does not verify, or the note is
				 * malformed */
	KS_TRUST_MISMATCH,	/* signed, but not this log */
	KS_TRUST_ROLLBACK,	/* older than what was accepted before */
	KS_TRUST_FORK		/* not consistent with what was accepted */
};

/* "signed", "untrusted key", "rollback", … (static), and the status that a
 * verdict is an error of: KS_OK, KS_UNTRUSTED or KS_CORRUPT. */
const char *ks_trust_verdict_name(enum ks_trust_verdict verdict);
enum ks_status ks_trust_verdict_status(enum ks_trust_verdict verdict);

struct ks_trust_result {
	enum ks_trust_verdict verdict;
	char message[512];	/* one line: the verdict with its reason */
	bool has_good;		/* a note counts, though perhaps not the
				 * newest: its number among the subject's
				 * notes, size, root and signer */
	size_t note;
	uint64_t size;
	struct ks_id root;
	struct ks_vkey key;
	size_t witnesses;	/* cosignatures by keys of the policy */
	uint64_t time, first;	/* the latest of theirs, and the earliest; 0 =
				 * none */
	/* Of ROLLBACK and FORK: the note that was seen before. Owned by the
	 * trust. */
	struct ks_span seen;
};

/* Judge. Fails only with KS_NOMEM or KS_USAGE (keys that clash); every other
 * outcome is a verdict. */
enum ks_status ks_trust_judge(const struct ks_trust *trust,
	const struct ks_trust_subject *subject, struct ks_trust_result *result,
	struct ks_error *err) KS_CHECKED;

#endif
