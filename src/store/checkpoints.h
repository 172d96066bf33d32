/*
 * The signed notes in a store's tree (store-layout.md S1 to S3, T2).
 *
 * checkpoints/SIZE holds every one that was published, `checkpoint` the newest.
 * Here only their form and names are judged; whether a signature counts is
 * format/trust.h.
 */
#ifndef KS_STORE_CHECKPOINTS_H
#define KS_STORE_CHECKPOINTS_H

#include "format/checkpoint.h"
#include "store/gitdb.h"

/* How many a store may have (B22). */
#define KS_CHECKPOINTS_MAX 65536

struct ks_stored_note {
	uint64_t size;		/* by its name, which its text repeats */
	struct ks_id root;	/* by its text */
	struct ks_buf bytes;
};

struct ks_checkpoints {
	struct ks_stored_note *list;	/* ascending by size */
	size_t count, room;
	struct ks_buf newest;		/* of `checkpoint`; empty = absent */
	bool has_newest;
};

#define KS_CHECKPOINTS_INIT { .newest = KS_BUF_INIT }

/* "checkpoints/300". */
#define KS_CHECKPOINT_PATH 40
char *ks_checkpoints_path(uint64_t size, char out[KS_CHECKPOINT_PATH]);

/* Read them all. What breaks a rule is left out and told to `fault` (which may
 * be NULL): a name that is no size, another mode, a note that is malformed or
 * of another size or with more than three lines (S1), `checkpoint` that is not
 * the largest of them (T2). Failures are those of reading git. */
typedef void ks_checkpoint_fault_fn(void *arg, const char *path,
	const char *message);
enum ks_status ks_checkpoints_read(struct ks_gitdb *db,
	const struct ks_oid *tree, ks_checkpoint_fault_fn *fault, void *arg,
	struct ks_checkpoints *out, struct ks_error *err) KS_CHECKED;
void ks_checkpoints_release(struct ks_checkpoints *checkpoints);

/* The note of this size, or NULL. */
const struct ks_stored_note *ks_checkpoints_find(
	const struct ks_checkpoints *checkpoints, uint64_t size);

#endif
