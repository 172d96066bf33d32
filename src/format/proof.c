#include "format/proof.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/grow.h"
#include "format/digest.h"

/* Sizes of other implementations are signed; RFC 9162 has no limit. */
#define SIZE_LIMIT ((uint64_t)1 << 63)

/* The largest power of two that is less than n, for n > 1. */
static uint64_t
split_of(uint64_t n)
{
	uint64_t split = 1;

	while (split < n - split)
		split *= 2;
	return split;
}

/* The compact range of the `count` leaves from `start` on, which is a
 * multiple of a power of two that is not less than `count`. */
static enum ks_status
range_at(uint64_t start, uint64_t count, ks_subtree_fn *source, void *arg,
	struct ks_merkle *out, struct ks_error *err)
{
	size_t width = 0;
	unsigned level;
	enum ks_status status = KS_OK;

	*out = (struct ks_merkle){ .size = count };
	for (level = KS_MERKLE_DEPTH; status == KS_OK && level-- > 0; ) {
		if ((count >> level & 1) == 0)
			continue;
		status = source(arg, level, start >> level,
			&out->roots[width++], err);
		start += (uint64_t)1 << level;
	}
	return status;
}

/* MTH of the same leaves. */
static enum ks_status
root_at(uint64_t start, uint64_t count, ks_subtree_fn *source, void *arg,
	struct ks_id *out, struct ks_error *err)
{
	struct ks_merkle range;
	enum ks_status status = range_at(start, count, source, arg, &range,
		err);

	if (status == KS_OK)
		ks_merkle_root(&range, out);
	return status;
}

/* Add the MTH of these leaves to a proof. */
static enum ks_status
add(struct ks_proof *proof, uint64_t start, uint64_t count,
	ks_subtree_fn *source, void *arg, struct ks_error *err)
{
	if (proof->count == KS_PROOF_MAX)
		return ks_fail(err, KS_INVALID,
			"proof of more than %d hashes (B18)", KS_PROOF_MAX);
	return root_at(start, count, source, arg,
		&proof->hashes[proof->count++], err);
}

/* Proofs are collected from the root down and written from the leaf up. */
static void
reverse(struct ks_proof *proof)
{
	size_t i;

	for (i = 0; i < proof->count / 2; i++) {
		struct ks_id *other = &proof->hashes[proof->count - 1 - i];
		struct ks_id kept = *other;

		*other = proof->hashes[i];
		proof->hashes[i] = kept;
	}
}

/* PATH of RFC 6962 section 2.1.1: the subtree of `n` leaves from `start` on
 * that holds the leaf is halved until it is the leaf, and the half that does
 * not hold it is added. */
enum ks_status
ks_proof_inclusion(uint64_t index, uint64_t size, ks_subtree_fn *source,
	void *arg, struct ks_proof *proof, struct ks_error *err)
{
	uint64_t start = 0, n = size;
	enum ks_status status = KS_OK;

	proof->count = 0;
	if (index >= size || size >= SIZE_LIMIT)
		return ks_fail(err, KS_USAGE,
			"no leaf %llu in a tree of %llu leaves",
			(unsigned long long)index, (unsigned long long)size);
	while (status == KS_OK && n > 1) {
		uint64_t k = split_of(n);

		if (index - start < k) {
			status = add(proof, start + k, n - k, source, arg,
				err);
			n = k;
		} else {
			status = add(proof, start, k, source, arg, err);
			start += k;
			n -= k;
		}
	}
	reverse(proof);
	return status;
}

/* SUBPROOF of RFC 6962 section 2.1.2, with `m` of the `n` leaves from `start`
 * on in the old tree. Once the right half was taken, the old tree's root is
 * not that of the subtree, which is then added itself. */
static enum ks_status
subproof(uint64_t m, uint64_t n, ks_subtree_fn *source, void *arg,
	struct ks_proof *proof, struct ks_error *err)
{
	uint64_t start = 0;
	enum ks_status status = KS_OK;

	while (status == KS_OK && m < n) {
		uint64_t k = split_of(n);

		if (m <= k) {
			status = add(proof, start + k, n - k, source, arg,
				err);
			n = k;
		} else {
			status = add(proof, start, k, source, arg, err);
			start += k;
			m -= k;
			n -= k;
		}
	}
	if (status == KS_OK && start > 0)
		status = add(proof, start, m, source, arg, err);
	return status;
}

enum ks_status
ks_proof_consistency(uint64_t from, uint64_t to, ks_subtree_fn *source,
	void *arg, struct ks_proof *proof, struct ks_error *err)
{
	enum ks_status status;

	proof->count = 0;
	if (from > to || to >= SIZE_LIMIT)
		return ks_fail(err, KS_USAGE,
			"no tree of %llu leaves begins with one of %llu",
			(unsigned long long)to, (unsigned long long)from);
	if (from == 0)
		return KS_OK;
	status = subproof(from, to, source, arg, proof, err);
	reverse(proof);
	return status;
}

enum ks_status
ks_proof_range(uint64_t size, ks_subtree_fn *source, void *arg,
	struct ks_merkle *out, struct ks_error *err)
{
	if (size >= SIZE_LIMIT)
		return ks_fail(err, KS_USAGE, "no tree has %llu leaves",
			(unsigned long long)size);
	return range_at(0, size, source, arg, out, err);
}

enum ks_status
ks_proof_root(uint64_t size, ks_subtree_fn *source, void *arg,
	struct ks_id *out, struct ks_error *err)
{
	struct ks_merkle range;
	enum ks_status status = ks_proof_range(size, source, arg, &range, err);

	if (status == KS_OK)
		ks_merkle_root(&range, out);
	return status;
}

/* Where a check stands: the node that was reached, and the last node of its
 * level, as numbers within the level (`fn` and `sn` of RFC 9162). */
struct climb {
	uint64_t node, last;
};

/* Whether the next hash of a proof stands to the left. If so, the levels on
 * which the node has no sibling are passed over first. */
static bool
joins_left(struct climb *at)
{
	bool left = (at->node & 1) != 0 || at->node == at->last;

	while (left && at->node != 0 && (at->node & 1) == 0) {
		at->node >>= 1;
		at->last >>= 1;
	}
	at->node >>= 1;
	at->last >>= 1;
	return left;
}

bool
ks_proof_check_inclusion(const struct ks_id *leaf, uint64_t index,
	uint64_t size, const struct ks_proof *proof, const struct ks_id *root)
{
	struct climb at = { .node = index, .last = size - 1 };
	struct ks_id hash = *leaf;
	size_t i;

	if (index >= size || proof->count > KS_PROOF_MAX)
		return false;
	for (i = 0; i < proof->count; i++) {
		const struct ks_id *next = &proof->hashes[i];

		if (at.last == 0)
			return false;
		if (joins_left(&at))
			ks_merkle_node(next, &hash, &hash);
		else
			ks_merkle_node(&hash, next, &hash);
	}
	return at.last == 0 && ks_id_equal(&hash, root);
}

/* For 0 < m < n. Where m is a power of two, the proof begins with root_m,
 * which is left out of it. */
static bool
check_growth(uint64_t m, uint64_t n, const struct ks_id *root_m,
	const struct ks_id *root_n, const struct ks_proof *proof)
{
	struct climb at = { .node = m - 1, .last = n - 1 };
	bool given = (m & (m - 1)) != 0;
	struct ks_id old, new;
	size_t i;

	if (proof->count == 0 || proof->count > KS_PROOF_MAX)
		return false;
	for (; (at.node & 1) != 0; at.node >>= 1)
		at.last >>= 1;
	old = new = given ? proof->hashes[0] : *root_m;
	for (i = given ? 1 : 0; i < proof->count; i++) {
		const struct ks_id *next = &proof->hashes[i];

		if (at.last == 0)
			return false;
		if (joins_left(&at)) {
			ks_merkle_node(next, &old, &old);
			ks_merkle_node(next, &new, &new);
		} else {
			ks_merkle_node(&new, next, &new);
		}
	}
	return at.last == 0 && ks_id_equal(&old, root_m) &&
		ks_id_equal(&new, root_n);
}

bool
ks_proof_check_consistency(uint64_t m, uint64_t n, const struct ks_id *root_m,
	const struct ks_id *root_n, const struct ks_proof *proof)
{
	struct ks_id nothing;

	if (m > n)
		return false;
	if (m == n && !ks_id_equal(root_m, root_n))
		return false;
	if (m == 0) {
		ks_sha256(ks_span(NULL, 0), &nothing);
		return proof->count == 0 && ks_id_equal(root_m, &nothing);
	}
	if (m == n)
		return proof->count == 0;
	return check_growth(m, n, root_m, root_n, proof);
}

void
ks_proof_range_print(const struct ks_merkle *range, struct ks_buf *out)
{
	size_t width = ks_merkle_width(range);
	size_t i;

	for (i = 0; i < width; i++) {
		ks_base64_encode(ks_span(range->roots[i].bytes, KS_ID_BYTES),
			out);
		ks_buf_byte(out, '\n');
	}
}

enum ks_status
ks_proof_range_parse(struct ks_span text, uint64_t size,
	struct ks_merkle *out, struct ks_error *err)
{
	size_t width, i;

	*out = (struct ks_merkle){ .size = size };
	width = ks_merkle_width(out);
	if (text.len != width * KS_PROOF_RANGE_LINE)
		return ks_fail(err, KS_CORRUPT,
			"compact range of %llu entries is %zu bytes, not the "
			"%zu of its %zu lines (S11)", (unsigned long long)size,
			text.len, width * KS_PROOF_RANGE_LINE, width);
	for (i = 0; i < width; i++) {
		const uint8_t *line = text.data + i * KS_PROOF_RANGE_LINE;

		if (line[KS_PROOF_RANGE_LINE - 1] != '\n' ||
			!ks_base64_decode_exact(ks_span(line,
				KS_PROOF_RANGE_LINE - 1), out->roots[i].bytes,
				KS_ID_BYTES))
			return ks_fail(err, KS_CORRUPT,
				"line %zu of a compact range is no base64 "
				"hash (S11)", i + 1);
	}
	return KS_OK;
}

/* Hashes stand in the order in which they become known: a leaf, then every
 * subtree that it completes. So one list holds them all and only ever grows;
 * it is in pieces that never move. */
#define CHUNK 1024

struct ks_subtrees {
	struct ks_id **chunks;
	size_t count, room;	/* chunks in use, pointers allocated */
	uint64_t size;
};

enum ks_status
ks_subtrees_new(struct ks_subtrees **out, struct ks_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? ks_fail_nomem(err) : KS_OK;
}

void
ks_subtrees_free(struct ks_subtrees *subtrees)
{
	size_t i;

	if (subtrees == NULL)
		return;
	for (i = 0; i < subtrees->count; i++)
		free(subtrees->chunks[i]);
	free(subtrees->chunks);
	free(subtrees);
}

uint64_t
ks_subtrees_size(const struct ks_subtrees *subtrees)
{
	return subtrees->size;
}

/* Leaf j comes after j leaves, and after the j - popcount(j) subtrees that
 * these complete. */
static uint64_t
place_of_leaf(uint64_t leaf)
{
	struct ks_merkle before = { .size = leaf };

	return 2 * leaf - ks_merkle_width(&before);
}

static struct ks_id *
hash_at(struct ks_subtrees *subtrees, uint64_t place)
{
	return &subtrees->chunks[place / CHUNK][place % CHUNK];
}

/* Make room for the hash at `place`, if it is the first of its chunk. */
static bool
make_room(struct ks_subtrees *subtrees, uint64_t place)
{
	struct ks_id *chunk, **grown;

	if (place / CHUNK < subtrees->count)
		return true;
	grown = ks_grow(subtrees->chunks, subtrees->count, &subtrees->room,
		sizeof(struct ks_id *), NULL);
	if (grown == NULL)
		return false;
	subtrees->chunks = grown;
	chunk = malloc(CHUNK * sizeof(*chunk));
	if (chunk == NULL)
		return false;
	subtrees->chunks[subtrees->count++] = chunk;
	return true;
}

enum ks_status
ks_subtrees_append(struct ks_subtrees *subtrees, const struct ks_id *leaf,
	struct ks_error *err)
{
	uint64_t bits, size = subtrees->size;
	uint64_t place = place_of_leaf(size);
	uint64_t left = 2;
	struct ks_id hash = *leaf;

	/* A leaf completes fewer than 64 subtrees: at most one new chunk. */
	if (!make_room(subtrees, place) || !make_room(subtrees, place + 63))
		return ks_fail_nomem(err);
	*hash_at(subtrees, place) = hash;
	for (bits = size; (bits & 1) != 0; bits >>= 1) {
		/* Each is joined with the one of its size before it; from
		 * leaf to leaf of a pair it is 1, then 3, 7, ... back. */
		ks_merkle_node(hash_at(subtrees, place + 1 - left), &hash,
			&hash);
		*hash_at(subtrees, ++place) = hash;
		left *= 2;
	}
	subtrees->size++;
	return KS_OK;
}

/* A subtree stands `level` places after its last leaf. */
enum ks_status
ks_subtrees_get(void *arg, unsigned level, uint64_t number,
	struct ks_id *out, struct ks_error *err)
{
	struct ks_subtrees *subtrees = arg;
	uint64_t complete = level < 64 ? subtrees->size >> level : 0;

	if (number >= complete)
		return ks_fail(err, KS_USAGE,
			"no complete subtree %llu of level %u in %llu leaves",
			(unsigned long long)number, level,
			(unsigned long long)subtrees->size);
	*out = *hash_at(subtrees, place_of_leaf(((number + 1) << level) - 1) +
		level);
	return KS_OK;
}
