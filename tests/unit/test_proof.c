#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/digest.h"
#include "format/proof.h"
#include "../lib/vectors.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 65		/* leaves of the trees that are tried in full */

/* ---- RFC 6962 section 2.1 by its own words ----------------------------- */

static struct ks_id leaves[MOST];

/* A list of hashes that only grows, as "+" in formulas. */
struct list {
	size_t count;
	struct ks_id hashes[KS_PROOF_MAX];
};

static size_t
half(size_t n)
{
	size_t k = 1;

	while (2 * k < n)
		k *= 2;
	return k;
}

static struct ks_id
mth(const struct ks_id *d, size_t n)
{
	struct ks_id out, left, right;
	uint8_t text[1 + 2 * KS_ID_BYTES] = { 0x01 };

	if (n == 1)
		return d[0];
	ks_sha256(ks_span(NULL, 0), &out);
	if (n == 0)
		return out;
	left = mth(d, half(n));
	right = mth(d + half(n), n - half(n));
	memcpy(text + 1, left.bytes, KS_ID_BYTES);
	memcpy(text + 1 + KS_ID_BYTES, right.bytes, KS_ID_BYTES);
	ks_sha256(ks_span(text, sizeof(text)), &out);
	return out;
}

static void
then(struct list *list, struct ks_id hash)
{
	list->hashes[list->count++] = hash;
}

static void
path(size_t m, const struct ks_id *d, size_t n, struct list *out)
{
	size_t k = half(n);

	if (n == 1)
		return;
	if (m < k) {
		path(m, d, k, out);
		then(out, mth(d + k, n - k));
	} else {
		path(m - k, d + k, n - k, out);
		then(out, mth(d, k));
	}
}

static void
subproof(size_t m, const struct ks_id *d, size_t n, bool b, struct list *out)
{
	size_t k = half(n);

	if (m == n) {
		if (!b)
			then(out, mth(d, m));
	} else if (m <= k) {
		subproof(m, d, k, b, out);
		then(out, mth(d + k, n - k));
	} else {
		subproof(m - k, d + k, n - k, false, out);
		then(out, mth(d, k));
	}
}

/* ---- fixtures ---------------------------------------------------------- */

static struct ks_subtrees *subtrees;

static int
setup(void **state)
{
	size_t i;

	(void)state;
	if (ks_subtrees_new(&subtrees, NULL) != KS_OK)
		return -1;
	for (i = 0; i < MOST; i++) {
		ks_merkle_leaf(ks_span(&i, sizeof(i)), &leaves[i]);
		if (ks_subtrees_append(subtrees, &leaves[i], NULL) != KS_OK)
			return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	ks_subtrees_free(subtrees);
	ks_subtrees_free(NULL);
	return 0;
}

static void
inclusion(size_t index, size_t size, struct ks_proof *out)
{
	assert_int_equal(ks_proof_inclusion(index, size, ks_subtrees_get,
		subtrees, out, NULL), KS_OK);
}

static void
consistency(size_t from, size_t to, struct ks_proof *out)
{
	assert_int_equal(ks_proof_consistency(from, to, ks_subtrees_get,
		subtrees, out, NULL), KS_OK);
}

static void
assert_same(const struct ks_proof *proof, const struct list *list)
{
	assert_int_equal(proof->count, list->count);
	if (proof->count > 0)
		assert_memory_equal(proof->hashes, list->hashes,
			list->count * sizeof(list->hashes[0]));
}

static void
flip(struct ks_id *id, size_t bit)
{
	id->bytes[bit / 8 % KS_ID_BYTES] ^= (uint8_t)(1U << bit % 8);
}

/* ---- proofs of small trees, all of them -------------------------------- */

static void
all_subtrees_of_65_leaves_are_kept(void **state)
{
	unsigned level;
	uint64_t number;

	(void)state;
	assert_int_equal(ks_subtrees_size(subtrees), MOST);
	for (level = 0; level < 8; level++)
		for (number = 0; number < 70; number++) {
			size_t first = (size_t)(number << level);
			size_t count = (size_t)1 << level;
			struct ks_id found, wanted;
			enum ks_status status = ks_subtrees_get(subtrees,
				level, number, &found, NULL);

			if (first + count > MOST) {
				assert_int_equal(status, KS_USAGE);
				continue;
			}
			assert_int_equal(status, KS_OK);
			wanted = mth(leaves + first, count);
			assert_true(ks_id_equal(&found, &wanted));
		}
	for (level = 8; level < 200; level++)
		assert_int_equal(ks_subtrees_get(subtrees, level, 0,
			&(struct ks_id){ { 0 } }, NULL), KS_USAGE);
	assert_int_equal(ks_subtrees_get(subtrees, 0, UINT64_MAX,
		&(struct ks_id){ { 0 } }, NULL), KS_USAGE);
}

static void
each_root_and_range_up_to_65_leaves_is_that_of_the_definition(void **state)
{
	struct ks_merkle grown = { .size = 0 }, range;
	struct ks_id root, wanted;
	size_t n;

	(void)state;
	for (n = 0; n <= MOST; n++) {
		assert_int_equal(ks_proof_root(n, ks_subtrees_get, subtrees,
			&root, NULL), KS_OK);
		wanted = mth(leaves, n);
		assert_true(ks_id_equal(&root, &wanted));
		assert_int_equal(ks_proof_range(n, ks_subtrees_get, subtrees,
			&range, NULL), KS_OK);
		assert_int_equal(range.size, n);
		assert_memory_equal(range.roots, grown.roots,
			ks_merkle_width(&grown) * sizeof(grown.roots[0]));
		if (n < MOST)
			ks_merkle_append(&grown, &leaves[n]);
	}
}

static void
each_inclusion_up_to_65_leaves_is_that_of_the_definition(void **state)
{
	size_t size, index, tried = 0;

	(void)state;
	for (size = 1; size <= MOST; size++)
		for (index = 0; index < size; index++, tried++) {
			struct ks_id root = mth(leaves, size);
			struct list wanted = { .count = 0 };
			struct ks_proof proof;

			inclusion(index, size, &proof);
			path(index, leaves, size, &wanted);
			assert_same(&proof, &wanted);
			assert_true(ks_proof_check_inclusion(&leaves[index],
				index, size, &proof, &root));
		}
	assert_int_equal(tried, 2145);
}

static void
each_consistency_up_to_65_leaves_is_that_of_the_definition(void **state)
{
	size_t m, n, tried = 0;

	(void)state;
	for (n = 1; n <= MOST; n++)
		for (m = 1; m <= n; m++, tried++) {
			struct ks_id root_m = mth(leaves, m);
			struct ks_id root_n = mth(leaves, n);
			struct list wanted = { .count = 0 };
			struct ks_proof proof;

			consistency(m, n, &proof);
			subproof(m, leaves, n, true, &wanted);
			assert_same(&proof, &wanted);
			assert_true(ks_proof_check_consistency(m, n, &root_m,
				&root_n, &proof));
		}
	assert_int_equal(tried, 2145);
}

/* ---- what is no proof -------------------------------------------------- */

/* Leave out one hash, or put one more in. */
static void
shorten(const struct ks_proof *proof, size_t at, struct ks_proof *out)
{
	*out = *proof;
	out->count--;
	memmove(out->hashes + at, out->hashes + at + 1,
		(out->count - at) * sizeof(out->hashes[0]));
}

static void
lengthen(const struct ks_proof *proof, size_t at, struct ks_proof *out)
{
	*out = *proof;
	memmove(out->hashes + at + 1, out->hashes + at,
		(out->count - at) * sizeof(out->hashes[0]));
	out->hashes[at] = leaves[at];
	out->count++;
}

static void
refuse_inclusions(size_t index, size_t size)
{
	struct ks_id root = mth(leaves, size), leaf = leaves[index];
	struct ks_proof proof, other;
	size_t i;

	inclusion(index, size, &proof);
	for (i = 0; i < size; i++)
		assert_int_equal(ks_proof_check_inclusion(&leaf, i, size,
			&proof, &root), i == index);
	for (i = 0; i < proof.count; i++) {
		shorten(&proof, i, &other);
		assert_false(ks_proof_check_inclusion(&leaf, index, size,
			&other, &root));
		other = proof;
		flip(&other.hashes[i], i * 37);
		assert_false(ks_proof_check_inclusion(&leaf, index, size,
			&other, &root));
	}
	for (i = 0; i <= proof.count; i++) {
		lengthen(&proof, i, &other);
		assert_false(ks_proof_check_inclusion(&leaf, index, size,
			&other, &root));
	}
	assert_false(ks_proof_check_inclusion(&leaf, size, size, &proof,
		&root));
	assert_false(ks_proof_check_inclusion(&leaf, index, 0, &proof,
		&root));
	assert_false(ks_proof_check_inclusion(&leaf, UINT64_MAX, size,
		&proof, &root));
	for (i = 1000; i <= 1000000; i *= 1000)
		assert_false(ks_proof_check_inclusion(&leaf, index, i,
			&proof, &root));
	flip(&leaf, index);
	assert_false(ks_proof_check_inclusion(&leaf, index, size, &proof,
		&root));
	flip(&root, size);
	assert_false(ks_proof_check_inclusion(&leaves[index], index, size,
		&proof, &root));
}

static void
no_inclusion_holds_with_anything_changed(void **state)
{
	size_t size, index;

	(void)state;
	for (size = 1; size <= 33; size++)
		for (index = 0; index < size; index++)
			refuse_inclusions(index, size);
}

static void
refuse_consistencies(size_t m, size_t n)
{
	struct ks_id root_m = mth(leaves, m), root_n = mth(leaves, n);
	struct ks_proof proof, other;
	size_t i;

	consistency(m, n, &proof);
	for (i = 0; i < proof.count; i++) {
		shorten(&proof, i, &other);
		assert_false(ks_proof_check_consistency(m, n, &root_m,
			&root_n, &other));
		other = proof;
		flip(&other.hashes[i], i * 41);
		assert_false(ks_proof_check_consistency(m, n, &root_m,
			&root_n, &other));
	}
	for (i = 0; i <= proof.count; i++) {
		lengthen(&proof, i, &other);
		assert_false(ks_proof_check_consistency(m, n, &root_m,
			&root_n, &other));
	}
	for (i = 1000; i <= 1000000; i *= 1000)
		assert_false(ks_proof_check_consistency(m, i, &root_m,
			&root_n, &proof));
	assert_false(ks_proof_check_consistency(n + 1, n, &root_m, &root_n,
		&proof));
	assert_false(ks_proof_check_consistency(0, n, &root_m, &root_n,
		&proof));
	assert_int_equal(ks_proof_check_consistency(m, n, &root_n, &root_m,
		&proof), m == n);
	flip(&root_m, m);
	assert_false(ks_proof_check_consistency(m, n, &root_m, &root_n,
		&proof));
	flip(&root_m, m);
	flip(&root_n, n);
	assert_false(ks_proof_check_consistency(m, n, &root_m, &root_n,
		&proof));
}

static void
no_consistency_holds_with_anything_changed(void **state)
{
	size_t m, n;

	(void)state;
	for (n = 1; n <= 33; n++)
		for (m = 1; m <= n; m++)
			refuse_consistencies(m, n);
}

static void
every_tree_begins_with_the_empty_one_and_without_a_proof(void **state)
{
	struct ks_id nothing = mth(leaves, 0), root = mth(leaves, 5);
	struct ks_proof proof = { .count = 9 };

	(void)state;
	consistency(0, 5, &proof);
	assert_int_equal(proof.count, 0);
	assert_true(ks_proof_check_consistency(0, 5, &nothing, &root,
		&proof));
	assert_true(ks_proof_check_consistency(0, 0, &nothing, &nothing,
		&proof));
	assert_false(ks_proof_check_consistency(0, 0, &nothing, &root,
		&proof));
	assert_false(ks_proof_check_consistency(0, 0, &root, &root, &proof));
	assert_false(ks_proof_check_consistency(0, 5, &root, &root, &proof));
	proof.hashes[proof.count++] = root;
	assert_false(ks_proof_check_consistency(0, 5, &nothing, &root,
		&proof));
	assert_false(ks_proof_check_consistency(0, 0, &nothing, &nothing,
		&proof));
}

static void
proofs_that_make_no_sense_are_not_made(void **state)
{
	static const uint64_t limit = (uint64_t)1 << 63;
	struct ks_proof proof;
	struct ks_merkle range;
	struct ks_id root;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_proof_inclusion(5, 5, ks_subtrees_get, subtrees,
		&proof, &err), KS_USAGE);
	assert_string_equal(err.message, "no leaf 5 in a tree of 5 leaves");
	assert_int_equal(ks_proof_inclusion(0, 0, ks_subtrees_get, subtrees,
		&proof, NULL), KS_USAGE);
	assert_int_equal(ks_proof_inclusion(0, limit, ks_subtrees_get,
		subtrees, &proof, NULL), KS_USAGE);
	assert_int_equal(ks_proof_consistency(6, 5, ks_subtrees_get, subtrees,
		&proof, &err), KS_USAGE);
	assert_string_equal(err.message,
		"no tree of 5 leaves begins with one of 6");
	assert_int_equal(ks_proof_consistency(1, limit, ks_subtrees_get,
		subtrees, &proof, NULL), KS_USAGE);
	assert_int_equal(ks_proof_root(limit, ks_subtrees_get, subtrees,
		&root, NULL), KS_USAGE);
	assert_int_equal(ks_proof_range(UINT64_MAX, ks_subtrees_get, subtrees,
		&range, NULL), KS_USAGE);
}

/* ---- sources ----------------------------------------------------------- */

static void
what_a_source_lacks_ends_each_proof(void **state)
{
	struct ks_proof proof;
	struct ks_merkle range;
	struct ks_id root;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_proof_inclusion(0, MOST + 1, ks_subtrees_get,
		subtrees, &proof, &err), KS_USAGE);
	assert_string_equal(err.message,
		"no complete subtree 32 of level 1 in 65 leaves");
	assert_int_equal(ks_proof_consistency(3, MOST + 1, ks_subtrees_get,
		subtrees, &proof, NULL), KS_USAGE);
	assert_int_equal(ks_proof_root(MOST + 1, ks_subtrees_get, subtrees,
		&root, NULL), KS_USAGE);
	assert_int_equal(ks_proof_range(MOST + 1, ks_subtrees_get, subtrees,
		&range, NULL), KS_USAGE);
}

/* All leaves alike: then all subtrees of a level are, and a tree may be as
 * large as numbers go. Counts what it is asked for. */
struct uniform {
	struct ks_id levels[64];
	size_t asked;
};

static enum ks_status
ask_uniform(void *arg, unsigned level, uint64_t number, struct ks_id *out,
	struct ks_error *err)
{
	struct uniform *uniform = arg;

	(void)err;
	assert_true(level < 64);
	assert_true(number < ((uint64_t)1 << 63 >> level));
	*out = uniform->levels[level];
	uniform->asked++;
	return KS_OK;
}

static void
make_uniform(struct uniform *uniform)
{
	size_t i;

	uniform->asked = 0;
	uniform->levels[0] = leaves[0];
	for (i = 1; i < 64; i++)
		ks_merkle_node(&uniform->levels[i - 1],
			&uniform->levels[i - 1], &uniform->levels[i]);
}

static const uint64_t large[] = {
	UINT32_MAX - 1, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
	((uint64_t)1 << 53) + 1, ((uint64_t)1 << 62) - 1, (uint64_t)1 << 62,
	((uint64_t)1 << 62) + 1, INT64_MAX - 1, INT64_MAX,
};

static void
the_largest_trees_have_proofs_of_at_most_63_hashes(void **state)
{
	struct uniform uniform;
	struct ks_proof proof;
	struct ks_id root;
	size_t i, k, longest = 0;

	(void)state;
	make_uniform(&uniform);
	for (i = 0; i < COUNT(large); i++) {
		const uint64_t indices[] = { 0, 1, large[i] / 3,
			large[i] / 2, large[i] - 2, large[i] - 1 };

		assert_int_equal(ks_proof_root(large[i], ask_uniform,
			&uniform, &root, NULL), KS_OK);
		for (k = 0; k < COUNT(indices); k++) {
			uniform.asked = 0;
			assert_int_equal(ks_proof_inclusion(indices[k],
				large[i], ask_uniform, &uniform, &proof, NULL),
				KS_OK);
			assert_true(uniform.asked <= 126);
			assert_true(ks_proof_check_inclusion(&leaves[0],
				indices[k], large[i], &proof, &root));
			if (proof.count > longest)
				longest = proof.count;
		}
	}
	assert_int_equal(longest, 63);
}

static void
uniform_consistency(struct uniform *uniform, uint64_t m, uint64_t n,
	struct ks_proof *proof)
{
	struct ks_id root_m, root_n;

	if (ks_proof_consistency(m, n, ask_uniform, uniform, proof, NULL) !=
		KS_OK)
		fail_msg("%llu to %llu", (unsigned long long)m,
			(unsigned long long)n);
	assert_int_equal(ks_proof_root(m, ask_uniform, uniform, &root_m,
		NULL), KS_OK);
	assert_int_equal(ks_proof_root(n, ask_uniform, uniform, &root_n,
		NULL), KS_OK);
	assert_true(ks_proof_check_consistency(m, n, &root_m, &root_n,
		proof));
}

static void
the_largest_trees_are_consistent_or_say_why_not(void **state)
{
	static const uint64_t most = (uint64_t)1 << 62;
	struct uniform uniform;
	struct ks_proof proof;
	struct ks_error err = KS_ERROR_INIT;
	size_t i, k;

	(void)state;
	make_uniform(&uniform);
	for (i = 0; i < COUNT(large); i++)
		for (k = 0; large[i] <= most && k <= i; k++)
			uniform_consistency(&uniform, large[k], large[i],
				&proof);
	/* Beyond, 63 hashes may do. */
	uniform_consistency(&uniform, most, most + 1, &proof);
	assert_int_equal(proof.count, 1);
	uniform_consistency(&uniform, 1, INT64_MAX, &proof);
	assert_int_equal(proof.count, 63);
	uniform_consistency(&uniform, most + 2, INT64_MAX, &proof);
	assert_int_equal(proof.count, 63);
	assert_int_equal(ks_proof_consistency(3, most + 1, ask_uniform,
		&uniform, &proof, &err), KS_INVALID);
	assert_string_equal(err.message, "proof of more than 63 hashes (B18)");
}

static void
a_count_over_63_is_no_proof(void **state)
{
	struct ks_proof proof;

	(void)state;
	memset(&proof, 0, sizeof(proof));
	proof.count = KS_PROOF_MAX + 1;
	assert_false(ks_proof_check_inclusion(&leaves[0], 1, UINT64_MAX,
		&proof, &leaves[1]));
	assert_false(ks_proof_check_consistency(3, UINT64_MAX, &leaves[0],
		&leaves[1], &proof));
	proof.count = SIZE_MAX;
	assert_false(ks_proof_check_inclusion(&leaves[0], 1, UINT64_MAX,
		&proof, &leaves[1]));
	assert_false(ks_proof_check_consistency(3, UINT64_MAX, &leaves[0],
		&leaves[1], &proof));
}

/* ---- ranges as text ---------------------------------------------------- */

static void
ranges_come_back_from_their_text(void **state)
{
	struct ks_merkle range, back;
	struct ks_buf text = KS_BUF_INIT;
	size_t n;

	(void)state;
	for (n = 0; n <= MOST; n++) {
		assert_int_equal(ks_proof_range(n, ks_subtrees_get, subtrees,
			&range, NULL), KS_OK);
		ks_buf_clear(&text);
		ks_proof_range_print(&range, &text);
		assert_int_equal(text.len, KS_PROOF_RANGE_LINE *
			ks_merkle_width(&range));
		assert_int_equal(ks_proof_range_parse(ks_buf_span(&text), n,
			&back, NULL), KS_OK);
		assert_memory_equal(&range, &back, sizeof(range));
	}
	ks_buf_release(&text);
}

/* SHA-256 of "", "a" and "b". */
#define LINE_0 "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
#define LINE_A "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="
#define LINE_B "PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0="

static void
the_largest_subtree_is_the_first_line(void **state)
{
	struct ks_merkle range = { .size = 5 };
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	ks_sha256(ks_span_text("a"), &range.roots[0]);
	ks_sha256(ks_span_text("b"), &range.roots[1]);
	ks_proof_range_print(&range, &text);
	assert_string_equal(ks_buf_cstr(&text), LINE_A "\n" LINE_B "\n");
	ks_buf_release(&text);
}

static const struct {
	uint64_t size;
	const char *text;
} bad_ranges[] = {
	{ 0, LINE_A "\n" },
	{ 0, "\n" },
	{ 1, "" },
	{ 1, LINE_A },
	{ 1, LINE_A "\n" LINE_B "\n" },
	{ 1, LINE_A "\n\n" },
	{ 1, "\n" LINE_A },
	{ 1, LINE_A "\r\n" },
	{ 3, LINE_A "\n" },
	{ 3, LINE_A "\n" LINE_B },
	{ 3, LINE_A LINE_B "\n\n" },
	{ 3, LINE_A "\n" LINE_B "\n" LINE_0 "\n" },
	{ 7, LINE_A "\n" LINE_B "\n" },
	{ UINT64_MAX, LINE_A "\n" },
	{ 1, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=\n" },
	{ 1, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuA==\n" },
	{ 1, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUA\n" },
	{ 1, "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=\n" },
	{ 1, " 7DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n" },
	{ 3, LINE_A "\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF==\n" },
};

static void
a_range_of_other_lines_is_refused(void **state)
{
	struct ks_merkle range;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad_ranges); i++) {
		struct ks_error err = KS_ERROR_INIT;

		if (ks_proof_range_parse(ks_span_text(bad_ranges[i].text),
			bad_ranges[i].size, &range, &err) != KS_CORRUPT)
			fail_msg("row %zu", i);
		assert_non_null(strstr(err.message, "(S11)"));
	}
}

static void
every_changed_byte_of_a_range_is_refused_or_another_range(void **state)
{
	struct ks_merkle range, back;
	struct ks_buf text = KS_BUF_INIT;
	size_t i, other = 0;
	unsigned c;

	(void)state;
	assert_int_equal(ks_proof_range(7, ks_subtrees_get, subtrees, &range,
		NULL), KS_OK);
	ks_proof_range_print(&range, &text);
	for (i = 0; i < text.len; i++)
		for (c = 1; c < 256; c++) {
			text.data[i] ^= (uint8_t)c;
			if (ks_proof_range_parse(ks_buf_span(&text), 7, &back,
				NULL) == KS_OK) {
				other++;
				assert_memory_not_equal(&range, &back,
					sizeof(range));
			}
			text.data[i] ^= (uint8_t)c;
		}
	/* 42 characters of 63 others, one of 15, three times. */
	assert_int_equal(other, 3 * (42 * 63 + 15));
	ks_buf_release(&text);
}

/* ---- vectors ----------------------------------------------------------- */

static void
read_proof(struct ks_span object, struct ks_proof *out)
{
	struct ks_json_iter it = ks_json_iter(vector_member(object, "proof"));
	struct ks_span hash;

	out->count = 0;
	while (ks_json_next_element(&it, &hash)) {
		assert_true(out->count < KS_PROOF_MAX);
		out->hashes[out->count++] = vector_base64(ks_json_raw(hash));
	}
}

static bool
check_inclusion_vector(struct ks_span vector, struct ks_proof *proof)
{
	struct ks_id leaf = vector_base64(vector_text(vector, "leafHash"));
	struct ks_id root = vector_base64(vector_text(vector, "root"));

	read_proof(vector, proof);
	return ks_proof_check_inclusion(&leaf, vector_number(vector,
		"leafIdx"), vector_number(vector, "treeSize"), proof, &root);
}

static bool
check_consistency_vector(struct ks_span vector, struct ks_proof *proof)
{
	struct ks_id root_m = vector_base64(vector_text(vector, "root1"));
	struct ks_id root_n = vector_base64(vector_text(vector, "root2"));

	read_proof(vector, proof);
	return ks_proof_check_consistency(vector_number(vector, "size1"),
		vector_number(vector, "size2"), &root_m, &root_n, proof);
}

/* "leaf 0" to "leaf 69999". */
static void
plant(struct ks_subtrees **out, size_t count)
{
	size_t i;

	assert_int_equal(ks_subtrees_new(out, NULL), KS_OK);
	for (i = 0; i < count; i++) {
		char text[32];
		struct ks_id leaf;

		(void)snprintf(text, sizeof(text), "leaf %zu", i);
		ks_merkle_leaf(ks_span_text(text), &leaf);
		assert_int_equal(ks_subtrees_append(*out, &leaf, NULL), KS_OK);
	}
}

static void
check_roots(struct ks_span roots, struct ks_subtrees *tree)
{
	struct ks_json_iter it = ks_json_iter(roots);
	struct ks_span name, value;

	while (ks_json_next_member(&it, &name, &value)) {
		struct ks_id wanted = vector_hex(ks_json_raw(value)), root;
		int64_t size;

		assert_true(ks_json_integer(name, &size));
		assert_int_equal(ks_proof_root((uint64_t)size,
			ks_subtrees_get, tree, &root, NULL), KS_OK);
		assert_true(ks_id_equal(&root, &wanted));
	}
}

static void
the_vectors_of_70000_leaves_are_made_and_hold(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, vector;
	struct ks_subtrees *tree;
	struct ks_proof given, made;
	struct ks_json_iter it;
	size_t seen = 0;

	(void)state;
	vectors = vector_read_json("tree_leaf_n.json", &text);
	plant(&tree, 70000);
	assert_int_equal(ks_json_count(vector_member(vectors,
		"roots_hex_by_size")), 58);
	check_roots(vector_member(vectors, "roots_hex_by_size"), tree);
	it = ks_json_iter(vector_member(vectors, "inclusion"));
	for (; ks_json_next_element(&it, &vector); seen++) {
		assert_true(check_inclusion_vector(vector, &given));
		assert_int_equal(ks_proof_inclusion(vector_number(vector,
			"leafIdx"), vector_number(vector, "treeSize"),
			ks_subtrees_get, tree, &made, NULL), KS_OK);
		assert_int_equal(made.count, given.count);
		assert_memory_equal(made.hashes, given.hashes,
			made.count * sizeof(made.hashes[0]));
	}
	it = ks_json_iter(vector_member(vectors, "consistency"));
	for (; ks_json_next_element(&it, &vector); seen++) {
		assert_true(check_consistency_vector(vector, &given));
		assert_int_equal(ks_proof_consistency(vector_number(vector,
			"size1"), vector_number(vector, "size2"),
			ks_subtrees_get, tree, &made, NULL), KS_OK);
		assert_int_equal(made.count, given.count);
		assert_memory_equal(made.hashes, given.hashes,
			made.count * sizeof(made.hashes[0]));
	}
	assert_int_equal(seen, 20 + 18);
	ks_subtrees_free(tree);
	ks_buf_release(&text);
}

static void
the_236_negative_vectors_do_not_hold(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, vector;
	struct ks_proof given;
	struct ks_json_iter it;
	size_t seen = 0;

	(void)state;
	vectors = vector_read_json("tree_leaf_n_negative.json", &text);
	it = ks_json_iter(vector_member(vectors, "inclusion"));
	for (; ks_json_next_element(&it, &vector); seen++)
		assert_false(check_inclusion_vector(vector, &given));
	it = ks_json_iter(vector_member(vectors, "consistency"));
	for (; ks_json_next_element(&it, &vector); seen++)
		assert_false(check_consistency_vector(vector, &given));
	assert_int_equal(seen, 121 + 115);
	ks_buf_release(&text);
}

static void
the_tree_of_eight_is_that_of_other_implementations(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, levels, roots;
	struct ks_subtrees *tree;
	struct ks_id found, wanted;
	unsigned level;
	size_t i;

	(void)state;
	vector_read_shared("third_party/rfc6962_tree8.json", &text);
	vectors = vector_json(&text);
	levels = vector_member(vectors, "node_hashes_hex_by_level");
	roots = vector_member(vectors, "root_hex_by_size");
	assert_int_equal(ks_subtrees_new(&tree, NULL), KS_OK);
	for (i = 0; i <= 8; i++) {
		assert_int_equal(ks_proof_root(i, ks_subtrees_get, tree,
			&found, NULL), KS_OK);
		wanted = vector_hex(ks_json_raw(vector_element(roots, i)));
		assert_true(ks_id_equal(&found, &wanted));
		if (i == 8)
			break;
		wanted = vector_hex(ks_json_raw(vector_element(
			vector_element(levels, 0), i)));
		assert_int_equal(ks_subtrees_append(tree, &wanted, NULL),
			KS_OK);
	}
	for (level = 0; level < 4; level++)
		for (i = 0; i < (size_t)8 >> level; i++) {
			assert_int_equal(ks_subtrees_get(tree, level, i,
				&found, NULL), KS_OK);
			wanted = vector_hex(ks_json_raw(vector_element(
				vector_element(levels, level), i)));
			assert_true(ks_id_equal(&found, &wanted));
		}
	ks_subtrees_free(tree);
	ks_buf_release(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_subtrees_of_65_leaves_are_kept),
		cmocka_unit_test(
			each_root_and_range_up_to_65_leaves_is_that_of_the_definition),
		cmocka_unit_test(
			each_inclusion_up_to_65_leaves_is_that_of_the_definition),
		cmocka_unit_test(
			each_consistency_up_to_65_leaves_is_that_of_the_definition),
		cmocka_unit_test(no_inclusion_holds_with_anything_changed),
		cmocka_unit_test(no_consistency_holds_with_anything_changed),
		cmocka_unit_test(
			every_tree_begins_with_the_empty_one_and_without_a_proof),
		cmocka_unit_test(proofs_that_make_no_sense_are_not_made),
		cmocka_unit_test(what_a_source_lacks_ends_each_proof),
		cmocka_unit_test(
			the_largest_trees_have_proofs_of_at_most_63_hashes),
		cmocka_unit_test(
			the_largest_trees_are_consistent_or_say_why_not),
		cmocka_unit_test(a_count_over_63_is_no_proof),
		cmocka_unit_test(ranges_come_back_from_their_text),
		cmocka_unit_test(the_largest_subtree_is_the_first_line),
		cmocka_unit_test(a_range_of_other_lines_is_refused),
		cmocka_unit_test(
			every_changed_byte_of_a_range_is_refused_or_another_range),
		cmocka_unit_test(the_vectors_of_70000_leaves_are_made_and_hold),
		cmocka_unit_test(the_236_negative_vectors_do_not_hold),
		cmocka_unit_test(
			the_tree_of_eight_is_that_of_other_implementations),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
