/*
 * Merkle proofs: that a leaf stands in a tree, that one tree begins with
 * another (RFC 6962 section 2.1, RFC 9162 sections 2.1.3 and 2.1.4).
 *
 * Proofs are made from the hashes of complete subtrees, wherever these come
 * from: a source is asked for at most about two hashes per level of the tree.
 * Checking needs nothing but hashing, and takes any proof: no bytes of it are
 * trusted.
 */
#ifndef KS_FORMAT_PROOF_H
#define KS_FORMAT_PROOF_H

#include "base/buf.h"
#include "base/error.h"
#include "format/merkle.h"

/* Hashes of a proof (store-layout.md B18): enough for each inclusion in a
 * tree of fewer than 2^63 leaves and each consistency up to 2^62. */
#define KS_PROOF_MAX 63

/* Lowest level first, as RFC 9162 and tlog-proof order them. */
struct ks_proof {
	size_t count;
	struct ks_id hashes[KS_PROOF_MAX];
};

/* Writes the hash of the complete subtree over the leaves number * 2^level to
 * (number + 1) * 2^level - 1; level 0 is a leaf hash. Any failure ends what
 * asked for it. */
typedef enum ks_status ks_subtree_fn(void *arg, unsigned level,
	uint64_t number, struct ks_id *out, struct ks_error *err);

/* That leaf `index` stands in the tree of the first `size` leaves: KS_USAGE
 * unless index < size < 2^63. */
enum ks_status ks_proof_inclusion(uint64_t index, uint64_t size,
	ks_subtree_fn *source, void *arg, struct ks_proof *proof,
	struct ks_error *err) KS_CHECKED;

/* That the tree of `to` leaves begins with the tree of `from`; empty when
 * `from` is 0 or `to`. KS_USAGE unless from <= to < 2^63, and KS_INVALID when
 * it would be longer than KS_PROOF_MAX (to > 2^62). */
enum ks_status ks_proof_consistency(uint64_t from, uint64_t to,
	ks_subtree_fn *source, void *arg, struct ks_proof *proof,
	struct ks_error *err) KS_CHECKED;

/* The root of the first `size` leaves (0: the hash of nothing), and their
 * compact range. KS_USAGE unless size < 2^63. */
enum ks_status ks_proof_root(uint64_t size, ks_subtree_fn *source, void *arg,
	struct ks_id *out, struct ks_error *err) KS_CHECKED;
enum ks_status ks_proof_range(uint64_t size, ks_subtree_fn *source, void *arg,
	struct ks_merkle *out, struct ks_error *err) KS_CHECKED;

/* Whether `proof` shows that the leaf hash `leaf` is number `index` of the
 * tree with this size and root (RFC 9162 section 2.1.3.2). */
bool ks_proof_check_inclusion(const struct ks_id *leaf, uint64_t index,
	uint64_t size, const struct ks_proof *proof, const struct ks_id *root);

/* Whether `proof` shows that the tree of n leaves begins with that of m (RFC
 * 9162 section 2.1.4.2). Every tree begins with the empty one: for m = 0 it
 * does when the proof is empty and root_m the hash of nothing. False when m
 * is greater than n. */
bool ks_proof_check_consistency(uint64_t m, uint64_t n,
	const struct ks_id *root_m, const struct ks_id *root_n,
	const struct ks_proof *proof);

/* A compact range as text: one base64 hash a line, the largest subtree first
 * (store-layout.md S11). */
#define KS_PROOF_RANGE_LINE 45	/* characters of a line, with its LF */
void ks_proof_range_print(const struct ks_merkle *range, struct ks_buf *out);

/* The range of `size` leaves. KS_CORRUPT unless the text is exactly one line
 * for each subtree, popcount(size) of them. */
enum ks_status ks_proof_range_parse(struct ks_span text, uint64_t size,
	struct ks_merkle *out, struct ks_error *err) KS_CHECKED;

/* A source in memory: the hashes of all complete subtrees of the leaves
 * appended so far, at most 64 bytes a leaf. */
struct ks_subtrees;
enum ks_status ks_subtrees_new(struct ks_subtrees **out, struct ks_error *err)
	KS_CHECKED;
void ks_subtrees_free(struct ks_subtrees *subtrees);

/* Append one leaf hash. KS_NOMEM: nothing is appended. */
enum ks_status ks_subtrees_append(struct ks_subtrees *subtrees,
	const struct ks_id *leaf, struct ks_error *err) KS_CHECKED;

/* How many leaves there are. */
uint64_t ks_subtrees_size(const struct ks_subtrees *subtrees);

/* A ks_subtree_fn; `arg` is the struct ks_subtrees. KS_USAGE when the leaves
 * asked for are not all there. */
enum ks_status ks_subtrees_get(void *arg, unsigned level, uint64_t number,
	struct ks_id *out, struct ks_error *err) KS_CHECKED;

#endif
