/*
 * RFC 6962 section 2.1 hashing over the lines of the log.
 *
 * leaf(d) = SHA-256(0x00 || d), node(l, r) = SHA-256(0x01 || l || r). Knows
 * nothing of stores: other tools may use it on any list of leaves.
 */
#ifndef KS_FORMAT_MERKLE_H
#define KS_FORMAT_MERKLE_H

#include "format/id.h"

/* The hash of a leaf's bytes; of an inner node. */
void ks_merkle_leaf(struct ks_span entry, struct ks_id *out);
void ks_merkle_node(const struct ks_id *left, const struct ks_id *right,
	struct ks_id *out);

/* The compact range of [0, size): the roots of the complete subtrees into
 * which size divides, largest first; all that is needed to go on appending.
 * Starts zeroed: the empty tree. */
#define KS_MERKLE_DEPTH 64

struct ks_merkle {
	uint64_t size;				/* leaves so far */
	struct ks_id roots[KS_MERKLE_DEPTH];	/* popcount(size) in use */
};

/* Append one leaf hash. */
void ks_merkle_append(struct ks_merkle *tree, const struct ks_id *leaf);

/* The root; for size 0 the SHA-256 of nothing. */
void ks_merkle_root(const struct ks_merkle *tree, struct ks_id *out);

/* How many roots are in use: popcount(size). */
size_t ks_merkle_width(const struct ks_merkle *tree);

#endif
