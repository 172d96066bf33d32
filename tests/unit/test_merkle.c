#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "format/digest.h"
#include "format/merkle.h"
#include "../lib/vectors.h"

/* RFC 6962 section 2.1: the SHA-256 of nothing. */
#define EMPTY_ROOT \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* A vector file of the shared folder as canonical JSON, or a skipped test. */
static struct ks_span
read_shared_json(const char *name, struct ks_buf *out)
{
	vector_read_shared(name, out);
	return vector_json(out);
}

static void
assert_hex(const struct ks_id *id, struct ks_span string)
{
	struct ks_id expected;

	assert_true(ks_id_parse_hex(&expected, ks_json_raw(string)));
	assert_memory_equal(id->bytes, expected.bytes, KS_ID_BYTES);
}

/* The RFC's own definition, by recursion over the list of leaves. */
static void
tree_hash(const struct ks_id *leaves, size_t count, struct ks_id *out)
{
	struct ks_id left, right;
	uint8_t text[1 + 2 * KS_ID_BYTES] = { 0x01 };
	size_t split = 1;

	if (count == 1) {
		*out = leaves[0];
		return;
	}
	while (2 * split < count)
		split *= 2;
	tree_hash(leaves, split, &left);
	tree_hash(leaves + split, count - split, &right);
	memcpy(text + 1, left.bytes, KS_ID_BYTES);
	memcpy(text + 1 + KS_ID_BYTES, right.bytes, KS_ID_BYTES);
	ks_sha256(ks_span(text, sizeof(text)), out);
}

static void
the_empty_tree_has_the_hash_of_nothing(void **state)
{
	struct ks_merkle tree = { .size = 0 };
	struct ks_id root;
	char hex[KS_ID_HEX + 1];

	(void)state;
	ks_merkle_root(&tree, &root);
	assert_string_equal(ks_id_print_hex(&root, hex), EMPTY_ROOT);
	assert_int_equal(ks_merkle_width(&tree), 0);
}

static void
the_tree_of_eight_is_that_of_other_implementations(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, leaves, levels, roots;
	struct ks_merkle tree = { .size = 0 };
	struct ks_id level[8], root;
	size_t i, depth;

	(void)state;
	vectors = read_shared_json("third_party/rfc6962_tree8.json", &text);
	leaves = vector_member(vectors, "leaf_inputs_hex");
	levels = vector_member(vectors, "node_hashes_hex_by_level");
	roots = vector_member(vectors, "root_hex_by_size");
	for (i = 0; i < 8; i++) {
		struct ks_span hex = ks_json_raw(vector_element(leaves, i));
		uint8_t bytes[32];

		assert_true(ks_hex_decode(hex, bytes, hex.len / 2));
		ks_merkle_leaf(ks_span(bytes, hex.len / 2), &level[i]);
		assert_hex(&level[i], vector_element(vector_element(levels, 0), i));
		ks_merkle_root(&tree, &root);
		assert_hex(&root, vector_element(roots, i));
		ks_merkle_append(&tree, &level[i]);
	}
	ks_merkle_root(&tree, &root);
	assert_hex(&root, vector_element(roots, 8));
	for (depth = 1; depth <= 3; depth++)
		for (i = 0; i < (size_t)8 >> depth; i++) {
			ks_merkle_node(&level[2 * i], &level[2 * i + 1],
				&level[i]);
			assert_hex(&level[i],
				vector_element(vector_element(levels, depth), i));
		}
	ks_buf_release(&text);
}

static void
a_leaf_and_a_node_of_the_same_bytes_differ(void **state)
{
	struct ks_id left = { { 1 } }, right = { { 2 } }, node, leaf;
	uint8_t both[2 * KS_ID_BYTES];

	(void)state;
	memcpy(both, left.bytes, KS_ID_BYTES);
	memcpy(both + KS_ID_BYTES, right.bytes, KS_ID_BYTES);
	ks_merkle_node(&left, &right, &node);
	ks_merkle_leaf(ks_span(both, sizeof(both)), &leaf);
	assert_false(ks_id_equal(&node, &leaf));
	ks_merkle_node(&right, &left, &leaf);
	assert_false(ks_id_equal(&node, &leaf));
}

/* Take entries, each behind its length in two bytes, off `text`. */
static void
append_entries(struct ks_span text, struct ks_span tile,
	struct ks_merkle *trees, size_t *count)
{
	size_t at = 0, leaves = 0;

	while (at < text.len) {
		size_t len = (size_t)(text.data[at] << 8 | text.data[at + 1]);
		struct ks_id leaf;

		ks_merkle_leaf(ks_span(text.data + at + 2, len), &leaf);
		assert_true((leaves + 1) * KS_ID_BYTES <= tile.len);
		assert_memory_equal(leaf.bytes,
			tile.data + leaves * KS_ID_BYTES, KS_ID_BYTES);
		trees[*count + 1] = trees[*count];
		ks_merkle_append(&trees[++*count], &leaf);
		at += 2 + len;
		leaves++;
	}
	assert_int_equal(leaves * KS_ID_BYTES, tile.len);
}

static void
check_checkpoints(struct ks_span checkpoints, const struct ks_merkle *trees)
{
	struct ks_json_iter it = ks_json_iter(checkpoints);
	struct ks_span checkpoint;
	size_t seen = 0;

	while (ks_json_next_element(&it, &checkpoint)) {
		struct ks_id root, expected = vector_base64(
			vector_text(checkpoint, "root"));

		ks_merkle_root(&trees[vector_number(checkpoint, "size")],
			&root);
		assert_true(ks_id_equal(&root, &expected));
		seen++;
	}
	assert_int_equal(seen, 9);
}

static void
the_log_of_300_has_its_tiles_and_checkpoints(void **state)
{
	static struct ks_merkle trees[301];
	struct ks_buf entries[2] = { KS_BUF_INIT, KS_BUF_INIT };
	struct ks_buf tiles[3] = { KS_BUF_INIT, KS_BUF_INIT, KS_BUF_INIT };
	struct ks_buf text = KS_BUF_INIT;
	size_t count = 0;

	(void)state;
	vector_read_shared("log300/tile/entries/000", &entries[0]);
	vector_read_shared("log300/tile/entries/001.p/44", &entries[1]);
	vector_read_shared("log300/tile/0/000", &tiles[0]);
	vector_read_shared("log300/tile/0/001.p/44", &tiles[1]);
	vector_read_shared("log300/tile/1/000.p/1", &tiles[2]);
	(void)read_shared_json("log300_checkpoints.json", &text);
	append_entries(ks_buf_span(&entries[0]), ks_buf_span(&tiles[0]),
		trees, &count);
	append_entries(ks_buf_span(&entries[1]), ks_buf_span(&tiles[1]),
		trees, &count);
	assert_int_equal(count, 300);
	assert_memory_equal(trees[256].roots[0].bytes, tiles[2].data,
		KS_ID_BYTES);
	check_checkpoints(vector_member(ks_buf_span(&text), "checkpoints"), trees);
	ks_buf_release(&entries[0]);
	ks_buf_release(&entries[1]);
	ks_buf_release(&tiles[0]);
	ks_buf_release(&tiles[1]);
	ks_buf_release(&tiles[2]);
	ks_buf_release(&text);
}

static void
append_numbered(struct ks_merkle *tree, size_t number, struct ks_id *leaf)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "leaf %zu", number);

	ks_merkle_leaf(ks_span(text, (size_t)len), leaf);
	ks_merkle_append(tree, leaf);
}

static void
roots_of_up_to_70000_leaves_are_the_expected_ones(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_merkle tree = { .size = 0 };
	struct ks_span roots;
	size_t i, seen = 0;

	(void)state;
	roots = vector_member(read_shared_json("tree_leaf_n.json", &text),
		"roots_hex_by_size");
	for (i = 0; i <= 70000; i++) {
		struct ks_id leaf, root;
		struct ks_span expected;
		char size[24];

		(void)snprintf(size, sizeof(size), "%zu", i);
		if ((i <= 300 || i > 65000 || i % 1000 < 32) &&
			ks_json_find(roots, size, &expected)) {
			ks_merkle_root(&tree, &root);
			assert_hex(&root, expected);
			seen++;
		}
		append_numbered(&tree, i, &leaf);
	}
	assert_true(seen > 45);
	ks_buf_release(&text);
}

static void
every_size_to_300_agrees_with_the_definition(void **state)
{
	struct ks_merkle tree = { .size = 0 };
	struct ks_id leaves[300], root, expected;
	size_t size;

	(void)state;
	for (size = 1; size <= 300; size++) {
		append_numbered(&tree, size - 1, &leaves[size - 1]);
		assert_int_equal(tree.size, size);
		ks_merkle_root(&tree, &root);
		tree_hash(leaves, size, &expected);
		assert_memory_equal(&root, &expected, sizeof(root));
	}
}

static void
the_compact_range_holds_complete_subtrees_largest_first(void **state)
{
	struct ks_merkle tree = { .size = 0 };
	struct ks_id leaves[300], expected;
	size_t i, start = 0;

	(void)state;
	for (i = 0; i < 300; i++)
		append_numbered(&tree, i, &leaves[i]);
	/* 300 = 256 + 32 + 8 + 4 */
	assert_int_equal(ks_merkle_width(&tree), 4);
	for (i = 0; i < 4; i++) {
		static const size_t sizes[4] = { 256, 32, 8, 4 };

		tree_hash(leaves + start, sizes[i], &expected);
		assert_memory_equal(&tree.roots[i], &expected,
			sizeof(expected));
		start += sizes[i];
	}
}

static void
a_tree_goes_on_from_its_size_and_roots_alone(void **state)
{
	struct ks_merkle whole = { .size = 0 }, part = { .size = 0 };
	struct ks_merkle resumed;
	struct ks_id leaf, a, b;
	size_t i;

	(void)state;
	for (i = 0; i < 177; i++)
		append_numbered(&part, i, &leaf);
	memset(&resumed, 0xff, sizeof(resumed));
	resumed.size = part.size;
	memcpy(resumed.roots, part.roots,
		ks_merkle_width(&part) * sizeof(part.roots[0]));
	for (i = 0; i < 300; i++)
		append_numbered(&whole, i, &leaf);
	for (i = 177; i < 300; i++)
		append_numbered(&resumed, i, &leaf);
	ks_merkle_root(&whole, &a);
	ks_merkle_root(&resumed, &b);
	assert_memory_equal(&a, &b, sizeof(a));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_empty_tree_has_the_hash_of_nothing),
		cmocka_unit_test(
			the_tree_of_eight_is_that_of_other_implementations),
		cmocka_unit_test(a_leaf_and_a_node_of_the_same_bytes_differ),
		cmocka_unit_test(the_log_of_300_has_its_tiles_and_checkpoints),
		cmocka_unit_test(
			roots_of_up_to_70000_leaves_are_the_expected_ones),
		cmocka_unit_test(every_size_to_300_agrees_with_the_definition),
		cmocka_unit_test(
		    the_compact_range_holds_complete_subtrees_largest_first),
		cmocka_unit_test(a_tree_goes_on_from_its_size_and_roots_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
