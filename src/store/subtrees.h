/*
 * Merkle proofs about a store's log, without hashing all of it.
 *
 * The hash of each full segment (256 entries, a complete subtree of level 8) is
 * kept in a file beside the repository's own: 32 bytes each, 125 kB for a
 * million entries. A proof then reads the segment of the entry and the one that
 * the size ends in.
 *
 * The file is derived, may be deleted at any time, and is trusted for nothing:
 * each proof is checked against the root that it has to lead to before it is
 * handed out, and where it does not lead there the hashes are made anew from
 * the log. So it is bound to the log by what is signed.
 *
 * Private to src/store.
 */
#ifndef KS_STORE_SUBTREES_H
#define KS_STORE_SUBTREES_H

#include "format/proof.h"
#include "store/store.h"

/* In the git directory: a line of text, then the hashes of segments 0, 1, … */
#define KS_SUBTREES_NAME "kistore-subtrees"
#define KS_SUBTREES_TEXT "kistore-subtrees/1\n"

/* That entry `index` stands in the log's first `size` entries, whose root is
 * `root`. KS_USAGE unless index < size; KS_CORRUPT when the log has another
 * root at that size, or fewer entries. A file that cannot be written costs
 * time only. */
enum ks_status ks_store_inclusion(struct ks_store *store, uint64_t index,
	uint64_t size, const struct ks_id *root, struct ks_proof *proof,
	struct ks_error *err) KS_CHECKED;

/* That the first `to` entries, with root `to_root`, begin with the first
 * `from`, with root `from_root`: the same otherwise. KS_USAGE unless
 * from <= to. */
enum ks_status ks_store_consistency(struct ks_store *store, uint64_t from,
	const struct ks_id *from_root, uint64_t to,
	const struct ks_id *to_root, struct ks_proof *proof,
	struct ks_error *err) KS_CHECKED;

#endif
