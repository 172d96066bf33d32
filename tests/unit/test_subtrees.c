/*
 * Proofs by cached hashes: compared with those that format/proof makes of all
 * leaves, whatever is done to the cache.
 */
#include "store/subtrees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "base/file.h"

#define REPOSITORY "r.git"
#define CACHE REPOSITORY "/" KS_SUBTREES_NAME
#define SIZE 2361		/* nine full segments and 57 entries */
#define SEGMENTS 9
#define TEXT (sizeof(KS_SUBTREES_TEXT) - 1)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint64_t sizes[] = { 1, 2, 255, 256, 257, 511, 512, 513, 1000,
	2048, 2304, SIZE };

/* ---- a log, and all its leaves ----------------------------------------- */

static struct ks_subtrees *leaves;
static struct ks_store store;

static void
print_line(struct ks_buf *out, uint64_t index)
{
	struct ks_id leaf;
	char hex[65];

	ks_buf_clear(out);
	ks_buf_printf(out, "entry %llu", (unsigned long long)index);
	/* Some were taken down. */
	if (index % 300 == 7) {
		ks_merkle_leaf(ks_buf_span(out), &leaf);
		ks_buf_clear(out);
		ks_buf_printf(out, "-%s", ks_id_print_hex(&leaf, hex));
	}
}

/* Commit a log with the segments for which `has` is true or NULL. */
static void
commit_log(uint64_t size, const bool *has)
{
	struct scratch_edit edits[SCRATCH_EDITS];
	struct ks_buf texts[SCRATCH_EDITS], line = KS_BUF_INIT;
	char paths[SCRATCH_EDITS][KS_SEGMENT_PATH];
	struct ks_oid commit;
	uint64_t i;
	size_t n = 0;

	memset(texts, 0, sizeof(texts));
	memset(edits, 0, sizeof(edits));
	for (i = 0; i < size; i++) {
		print_line(&line, i);
		ks_buf_append(&texts[i / 256], ks_buf_span(&line));
		ks_buf_byte(&texts[i / 256], '\n');
	}
	for (n = 0; n * 256 < size; n++) {
		edits[n].path = ks_layout_segment(n * 256, paths[n]);
		if (has == NULL || has[n])
			edits[n].bytes = ks_buf_span(&texts[n]);
	}
	edits[n].path = "store.json";
	edits[n].bytes = ks_span_text("{}");
	(void)scratch_commit(store.db, edits, n + 1, 0);
	scratch_head(store.db, &commit, &store.tree);
	for (i = 0; i < n; i++)
		ks_buf_release(&texts[i]);
	ks_buf_release(&line);
}

static void
hash_leaves(uint64_t size)
{
	struct ks_buf line = KS_BUF_INIT;
	struct ks_id leaf;
	uint64_t i;

	ks_subtrees_free(leaves);
	assert_int_equal(ks_subtrees_new(&leaves, NULL), KS_OK);
	for (i = 0; i < size; i++) {
		print_line(&line, i);
		ks_entry_leaf(ks_buf_span(&line), &leaf);
		assert_int_equal(ks_subtrees_append(leaves, &leaf, NULL),
			KS_OK);
	}
	ks_buf_release(&line);
}

static int
setup(void **state)
{
	if (scratch_setup(state) != 0)
		return 1;
	memset(&store, 0, sizeof(store));
	store.db = scratch_repository(REPOSITORY);
	commit_log(SIZE, NULL);
	hash_leaves(SIZE);
	return 0;
}

static int
teardown(void **state)
{
	ks_gitdb_close(store.db);
	ks_subtrees_free(leaves);
	leaves = NULL;
	return scratch_teardown(state);
}

static struct ks_id
root_of(uint64_t size)
{
	struct ks_id root;

	assert_int_equal(ks_proof_root(size, ks_subtrees_get, leaves, &root,
		NULL), KS_OK);
	return root;
}

static void
assert_same(const struct ks_proof *a, const struct ks_proof *b)
{
	size_t i;

	assert_int_equal(a->count, b->count);
	for (i = 0; i < a->count; i++)
		assert_true(ks_id_equal(&a->hashes[i], &b->hashes[i]));
}

/* The proof is that which all leaves give. */
static void
check_inclusion(uint64_t index, uint64_t size)
{
	struct ks_id root = root_of(size);
	struct ks_error err = KS_ERROR_INIT;
	struct ks_proof proof, wanted;

	assert_int_equal(ks_proof_inclusion(index, size, ks_subtrees_get,
		leaves, &wanted, NULL), KS_OK);
	if (ks_store_inclusion(&store, index, size, &root, &proof, &err) !=
		KS_OK)
		fail_msg("%s", err.message);
	assert_same(&proof, &wanted);
}

static void
check_consistency(uint64_t from, uint64_t to)
{
	struct ks_id from_root = root_of(from), to_root = root_of(to);
	struct ks_error err = KS_ERROR_INIT;
	struct ks_proof proof, wanted;

	assert_int_equal(ks_proof_consistency(from, to, ks_subtrees_get,
		leaves, &wanted, NULL), KS_OK);
	if (ks_store_consistency(&store, from, &from_root, to, &to_root,
		&proof, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_same(&proof, &wanted);
}

static void
read_cache(struct ks_buf *out)
{
	ks_buf_clear(out);
	assert_int_equal(ks_file_read(CACHE, 1 << 20, out, NULL), KS_OK);
}

/* ---- proofs ------------------------------------------------------------- */

static void
inclusion_is_what_all_leaves_give(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(sizes); i++) {
		check_inclusion(0, sizes[i]);
		check_inclusion(sizes[i] / 2, sizes[i]);
		check_inclusion(sizes[i] - 1, sizes[i]);
		if (sizes[i] > 7)
			check_inclusion(7, sizes[i]);
	}
}

static void
consistency_is_what_all_leaves_give(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(sizes); i++)
		for (k = i; k < COUNT(sizes); k++)
			check_consistency(sizes[i], sizes[k]);
	check_consistency(0, SIZE);
}

static void
what_makes_no_sense_is_refused(void **state)
{
	struct ks_id root = root_of(SIZE);
	struct ks_proof proof;

	(void)state;
	assert_int_equal(ks_store_inclusion(&store, SIZE, SIZE, &root, &proof,
		NULL), KS_USAGE);
	assert_int_equal(ks_store_inclusion(&store, 0, UINT64_MAX, &root,
		&proof, NULL), KS_USAGE);
	assert_int_equal(ks_store_consistency(&store, 3, &root, 2, &root,
		&proof, NULL), KS_USAGE);
}

static void
another_root_or_a_shorter_log_gives_no_proof(void **state)
{
	struct ks_id root = root_of(SIZE), other = root_of(SIZE - 1);
	struct ks_proof proof;

	(void)state;
	assert_int_equal(ks_store_inclusion(&store, 5, SIZE, &other, &proof,
		NULL), KS_CORRUPT);
	assert_int_equal(proof.count, 0);
	assert_int_equal(ks_store_consistency(&store, 256, &other, SIZE,
		&root, &proof, NULL), KS_CORRUPT);
	assert_int_equal(ks_store_inclusion(&store, 5, SIZE + 1, &root,
		&proof, NULL), KS_CORRUPT);
	assert_int_equal(ks_store_inclusion(&store, 5, SIZE + 1000, &root,
		&proof, NULL), KS_CORRUPT);
	check_inclusion(5, SIZE);
}

/* ---- what is read ------------------------------------------------------- */

static void
only_the_segments_at_the_ends_are_read(void **state)
{
	bool has[SEGMENTS + 1] = { false };

	(void)state;
	check_inclusion(0, SIZE);
	has[4] = true;
	has[SEGMENTS] = true;
	commit_log(SIZE, has);
	check_inclusion(4 * 256 + 11, SIZE);
	check_inclusion(4 * 256, SIZE);
	check_inclusion(SIZE - 1, SIZE);
	check_consistency(4 * 256 + 3, SIZE);
	check_consistency(5 * 256, SIZE);
	check_consistency(4 * 256, 8 * 256);
}

static void
a_log_that_grows_is_read_from_where_it_was(void **state)
{
	bool has[SEGMENTS + 1] = { false };

	(void)state;
	check_inclusion(0, 5 * 256);
	has[5] = has[6] = has[7] = has[8] = has[9] = true;
	commit_log(SIZE, has);
	check_inclusion(7 * 256 + 9, SIZE);
	check_consistency(6 * 256, SIZE);
}

/* ---- the cache ---------------------------------------------------------- */

static void
each_hash_that_is_wrong_is_found_out(void **state)
{
	struct ks_buf good = KS_BUF_INIT, now = KS_BUF_INIT;
	size_t i;

	(void)state;
	check_inclusion(0, SIZE);
	read_cache(&good);
	assert_int_equal(good.len, TEXT + SEGMENTS * KS_ID_BYTES);
	for (i = 0; i < SEGMENTS; i++) {
		good.data[TEXT + i * KS_ID_BYTES + i] ^= 0x40;
		scratch_write(CACHE, ks_buf_span(&good));
		good.data[TEXT + i * KS_ID_BYTES + i] ^= 0x40;
		/* Another segment's entry, so that this hash is needed. */
		check_inclusion((i + 1) % SEGMENTS * 256, SIZE);
		read_cache(&now);
		assert_true(ks_span_equal(ks_buf_span(&good),
			ks_buf_span(&now)));
	}
	for (i = 0; i < SEGMENTS; i++) {
		good.data[TEXT + i * KS_ID_BYTES] ^= 1;
		scratch_write(CACHE, ks_buf_span(&good));
		good.data[TEXT + i * KS_ID_BYTES] ^= 1;
		check_consistency(300, SIZE);
	}
	ks_buf_release(&good);
	ks_buf_release(&now);
}

static void
a_file_of_any_length_and_kind_will_do(void **state)
{
	struct ks_buf good = KS_BUF_INIT;
	size_t len;

	(void)state;
	check_inclusion(0, SIZE);
	read_cache(&good);
	for (len = 0; len <= good.len; len += len < TEXT ? 1 : 13) {
		scratch_write(CACHE, ks_span(good.data, len));
		check_inclusion(700, SIZE);
	}
	ks_buf_append(&good, ks_buf_span(&good));
	scratch_write(CACHE, ks_buf_span(&good));
	check_inclusion(700, SIZE);
	good.data[0] ^= 1;
	scratch_write(CACHE, ks_buf_span(&good));
	check_inclusion(700, SIZE);
	assert_int_equal(unlink(CACHE), 0);
	check_inclusion(700, SIZE);
	assert_int_equal(unlink(CACHE), 0);
	/* Nothing can be written, which costs time only. */
	assert_int_equal(mkdir(CACHE, 0777), 0);
	check_inclusion(700, SIZE);
	assert_int_equal(rmdir(CACHE), 0);
	ks_buf_release(&good);
}

static void
no_symbolic_link_is_followed(void **state)
{
	struct ks_buf good = KS_BUF_INIT;
	struct stat st;

	(void)state;
	check_inclusion(0, SIZE);
	read_cache(&good);
	assert_int_equal(unlink(CACHE), 0);
	scratch_write("elsewhere", ks_span_text("mine"));
	assert_int_equal(symlink("../elsewhere", CACHE), 0);
	check_inclusion(700, SIZE);
	assert_int_equal(stat("elsewhere", &st), 0);
	assert_int_equal(st.st_size, 4);
	ks_buf_release(&good);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(inclusion_is_what_all_leaves_give),
		TEST(consistency_is_what_all_leaves_give),
		TEST(what_makes_no_sense_is_refused),
		TEST(another_root_or_a_shorter_log_gives_no_proof),
		TEST(only_the_segments_at_the_ends_are_read),
		TEST(a_log_that_grows_is_read_from_where_it_was),
		TEST(each_hash_that_is_wrong_is_found_out),
		TEST(a_file_of_any_length_and_kind_will_do),
		TEST(no_symbolic_link_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
