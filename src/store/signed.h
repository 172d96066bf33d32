/*
 * What is signed of a log: gathered while the log is replayed, judged after.
 *
 *	ks_signed_read(&signed, db, tree, fault, arg, &err);
 *	ks_signed_mark(&signed, size, &err);	more roots that will be asked
 *	ks_signed_start(&signed);
 *	for each line:	ks_signed_line(&signed, &entry, tree, &err);
 *	ks_signed_end(&signed);
 *	ks_signed_subject(&signed, origin);	for ks_trust_judge()
 *	ks_signed_release(&signed);
 */
#ifndef KS_STORE_SIGNED_H
#define KS_STORE_SIGNED_H

#include "format/entry.h"
#include "format/merkle.h"
#include "format/trust.h"
#include "store/checkpoints.h"

/* A takedown line. */
struct ks_signed_takedown {
	struct ks_id digest;
	uint64_t index;
};

/* A line that a takedown line lists. */
struct ks_signed_listing {
	uint64_t line, takedown;
};

/* The root of the first `size` entries, once the replay has passed there. */
struct ks_signed_mark {
	uint64_t size;
	struct ks_id root;
	bool known;
};

struct ks_signed {
	struct ks_checkpoints notes;
	struct ks_log_key *keys;		/* role log, in log order */
	size_t key_count, key_room;
	struct ks_signed_takedown *takedowns;	/* by digest, at the end */
	size_t takedown_count, takedown_room;
	struct ks_signed_mark *marks;		/* ascending, once started */
	size_t mark_count, mark_room, next_mark;
	uint64_t *redacted;		/* lines, ascending */
	size_t redacted_count, redacted_room;
	struct ks_signed_listing *listings;	/* by line, at the end */
	size_t listing_count, listing_room;
	struct ks_span *spans;		/* of the notes, for a subject */
};

/* Read the notes of `tree` (see ks_checkpoints_read()) and mark their sizes. */
enum ks_status ks_signed_read(struct ks_signed *signed_, struct ks_gitdb *db,
	const struct ks_oid *tree, ks_checkpoint_fault_fn *fault, void *arg,
	struct ks_error *err) KS_CHECKED;
void ks_signed_release(struct ks_signed *signed_);

/* Ask for the root at another size. Before ks_signed_start(). */
enum ks_status ks_signed_mark(struct ks_signed *signed_, uint64_t size,
	struct ks_error *err) KS_CHECKED;

/* No more marks: the replay begins, with an empty tree. */
void ks_signed_start(struct ks_signed *signed_);

/* The same where the replay begins after `size` entries: the roots at marks up
 * to there are those of `known`, notes of that log that were found right. */
void ks_signed_resume(struct ks_signed *signed_, uint64_t size,
	const struct ks_checkpoints *known);

/* A line of role log among the entries that are not replayed; in order, after
 * ks_signed_resume(). */
enum ks_status ks_signed_earlier_key(struct ks_signed *signed_,
	const struct ks_entry *entry, uint64_t index, struct ks_error *err)
	KS_CHECKED;

/* Take note of a line that was just replayed without fault (`entry` NULL: one
 * that has no effect); `tree` is what the replay has made so far. */
enum ks_status ks_signed_line(struct ks_signed *signed_,
	const struct ks_entry *entry, const struct ks_merkle *tree,
	struct ks_error *err) KS_CHECKED;

/* The replay is over. Until then nothing below may be asked. */
void ks_signed_end(struct ks_signed *signed_);

/* The root at a marked size that the log reaches; false for others. */
bool ks_signed_root(void *arg, uint64_t size, struct ks_id *out);

/* What ks_trust_judge() asks for. Borrows. */
enum ks_status ks_signed_subject(struct ks_signed *signed_,
	struct ks_span origin, struct ks_trust_subject *out,
	struct ks_error *err) KS_CHECKED;

/* The key that the log names within its first `size` entries, or NULL. */
const struct ks_log_key *ks_signed_key(const struct ks_signed *signed_,
	uint64_t size);

/* Whether the redacted line `index` is listed by takedowns, but by none within
 * the first `size` entries. */
bool ks_signed_is_unsigned_redaction(const struct ks_signed *signed_,
	uint64_t index, uint64_t size);

/* Whether a takedown of this object stands within the first `size` entries. */
bool ks_signed_took_down(const struct ks_signed *signed_,
	const struct ks_id *digest, uint64_t size);

#endif
