#include "store/dictionaries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "format/digest.h"
#include "format/layout.h"

#define REPOSITORY "r.git"
#define SAMPLES 1500

/* A trained dictionary's bytes, whatever id they are to have. */
static struct ks_buf trained = KS_BUF_INIT;

static int
train(void **state)
{
	static size_t sizes[SAMPLES];
	struct ks_buf samples = KS_BUF_INIT;
	enum ks_status status;
	size_t i;

	(void)state;
	for (i = 0; i < SAMPLES; i++) {
		size_t before = samples.len;

		ks_buf_printf(&samples, "{\"number\":%zu,\"square\":%zu,"
			"\"text\":\"sample number %zu of many\"}", i, i * i,
			i * 7919 % 1000);
		sizes[i] = samples.len - before;
	}
	status = ks_dictionary_train(ks_buf_span(&samples), sizes, SAMPLES,
		KS_DICTIONARY_FIRST_ID, &trained, NULL);
	ks_buf_release(&samples);
	return status != KS_OK;
}

static int
release(void **state)
{
	(void)state;
	ks_buf_release(&trained);
	return 0;
}

/* The trained bytes with `id` in them, of which `damage` is changed (0: no
 * byte is), and the path that `named` and their digest give. */
static void
make_file(uint32_t id, uint32_t named, size_t damage, struct ks_buf *bytes,
	char path[KS_DICTIONARY_PATH])
{
	struct ks_id digest;
	size_t i;

	ks_buf_clear(bytes);
	ks_buf_append(bytes, ks_buf_span(&trained));
	for (i = 0; i < 4; i++)
		bytes->data[4 + i] = (uint8_t)(id >> 8 * i);
	ks_sha256(ks_buf_span(bytes), &digest);
	(void)ks_layout_dictionary(named, &digest, path);
	if (damage > 0)
		bytes->data[damage] ^= 1;
}

static struct ks_dictionaries *
open_all(struct ks_gitdb *db)
{
	struct ks_dictionaries *all = NULL;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_oid commit, tree;

	scratch_head(db, &commit, &tree);
	if (ks_dictionaries_open(&all, db, &tree, &err) != KS_OK)
		fail_msg("%s", err.message);
	return all;
}

static void
a_store_without_dictionaries_has_none(void **state)
{
	struct ks_gitdb *db = scratch_repository(REPOSITORY);
	const struct ks_dictionary *found = NULL;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_dictionaries *all;

	(void)state;
	(void)scratch_commit(db, (struct scratch_edit[]){
		{ "store.json", ks_span_text("{}") } }, 1, 0);
	all = open_all(db);
	assert_int_equal(ks_dictionaries_count(all), 0);
	assert_int_equal(ks_dictionaries_next_id(all), 32768);
	assert_int_equal(ks_dictionaries_current(all, &found, NULL), KS_OK);
	assert_null(found);
	assert_int_equal(ks_dictionaries_get(all, 0, &found, NULL), KS_OK);
	assert_null(found);
	assert_int_equal(ks_dictionaries_get(all, 32768, &found, &err),
		KS_CORRUPT);
	assert_non_null(strstr(err.message, "32768"));
	assert_null(ks_dictionaries_loaded(all, 32768));
	ks_dictionaries_free(all);
	ks_dictionaries_free(NULL);
	ks_gitdb_close(db);
}

static void
the_one_with_the_highest_id_is_current(void **state)
{
	static const uint32_t ids[] = { 32768, 32770, 40000 };
	struct ks_gitdb *db = scratch_repository(REPOSITORY);
	struct ks_buf bytes[3] = { KS_BUF_INIT, KS_BUF_INIT, KS_BUF_INIT };
	char paths[3][KS_DICTIONARY_PATH];
	const struct ks_dictionary *found;
	struct scratch_edit edits[3];
	struct ks_dictionaries *all;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		make_file(ids[i], ids[i], 0, &bytes[i], paths[i]);
		edits[i] = (struct scratch_edit){ paths[i],
			ks_buf_span(&bytes[i]) };
	}
	(void)scratch_commit(db, edits, 3, 0);
	all = open_all(db);
	assert_int_equal(ks_dictionaries_count(all), 3);
	assert_int_equal(ks_dictionaries_next_id(all), 40001);
	assert_null(ks_dictionaries_loaded(all, 40000));
	assert_int_equal(ks_dictionaries_current(all, &found, NULL), KS_OK);
	assert_int_equal(ks_dictionary_id(found), 40000);
	assert_ptr_equal(ks_dictionaries_loaded(all, 40000), found);
	for (i = 0; i < 3; i++) {
		assert_string_equal(strrchr(paths[i], '/') + 1,
			ks_dictionaries_at(all, i)->name);
		assert_int_equal(ks_dictionaries_get(all, ids[i], &found,
			NULL), KS_OK);
		assert_int_equal(ks_dictionary_id(found), ids[i]);
		ks_buf_release(&bytes[i]);
	}
	ks_dictionaries_free(all);
	ks_gitdb_close(db);
}

/* store-layout.md, T13 and T15. */
static void
a_damaged_dictionary_is_told_with_its_path(void **state)
{
	static const struct {
		uint32_t id, named;
		size_t damage;
		const char *says;
	} table[] = {
		{ 32768, 32768, 200, "sha256 of the dictionary" },
		{ 32768, 32768, 4, "sha256 of the dictionary" },
		{ 32769, 32768, 0, "id inside the dictionary" },
		{ 0, 32768, 0, "not a zstd dictionary" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_gitdb *db = scratch_repository(REPOSITORY);
		const struct ks_dictionary *found = NULL;
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf bytes = KS_BUF_INIT;
		char path[KS_DICTIONARY_PATH];
		struct ks_dictionaries *all;

		make_file(table[i].id, table[i].named, table[i].damage, &bytes,
			path);
		(void)scratch_commit(db, (struct scratch_edit[]){
			{ path, ks_buf_span(&bytes) } }, 1, 0);
		all = open_all(db);
		/* And again: a failure is not kept as success. */
		if (ks_dictionaries_get(all, table[i].named, &found, &err) !=
			KS_CORRUPT)
			fail_msg("row %zu: %s", i, err.message);
		assert_int_equal(ks_dictionaries_get(all, table[i].named,
			&found, NULL), KS_CORRUPT);
		if (strstr(err.message, table[i].says) == NULL ||
			strstr(err.message, path) == NULL)
			fail_msg("%s", err.message);
		assert_null(found);
		ks_dictionaries_free(all);
		ks_buf_release(&bytes);
		ks_gitdb_close(db);
		assert_int_equal(sh("rm -rf " REPOSITORY), 0);
	}
}

static void
files_with_other_names_are_left_out(void **state)
{
	struct ks_gitdb *db = scratch_repository(REPOSITORY);
	struct ks_dictionaries *all;

	(void)state;
	(void)scratch_commit(db, (struct scratch_edit[]){
		{ "dictionaries/README", ks_span_text("x") },
		{ "dictionaries/x.zdict", ks_span_text("x") } }, 2, 0);
	all = open_all(db);
	assert_int_equal(ks_dictionaries_count(all), 0);
	ks_dictionaries_free(all);
	/* A file in the directory's place is for verify to report. */
	(void)scratch_commit(db, (struct scratch_edit[]){
		{ "dictionaries/README", ks_span(NULL, 0) },
		{ "dictionaries/x.zdict", ks_span(NULL, 0) } }, 2, 0);
	(void)scratch_commit(db, (struct scratch_edit[]){
		{ "dictionaries", ks_span_text("x") } }, 1, 0);
	all = open_all(db);
	assert_int_equal(ks_dictionaries_count(all), 0);
	ks_dictionaries_free(all);
	ks_gitdb_close(db);
}

#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_store_without_dictionaries_has_none),
		TEST(the_one_with_the_highest_id_is_current),
		TEST(a_damaged_dictionary_is_told_with_its_path),
		TEST(files_with_other_names_are_left_out),
	};

	return cmocka_run_group_tests(tests, train, release);
}
