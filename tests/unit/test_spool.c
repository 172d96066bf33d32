#include "base/spool.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "../lib/scratch.h"

#define PIECES 3000
#define LONGEST 5000

/* The tests run in a directory of their own, which is the current one. */
static const char directory[] = "./";

/* How many names the directory has. */
static size_t
count_files(void)
{
	DIR *dir = opendir(directory);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	(void)closedir(dir);
	return count - 2;
}

static struct ks_spool *
new_spool(size_t memory)
{
	struct ks_spool *spool = NULL;

	assert_int_equal(ks_spool_new(&spool, directory, memory, NULL),
		KS_OK);
	return spool;
}

/* Piece n is a few thousand times a byte that depends on n. */
static struct ks_span
piece(size_t n, uint8_t room[LONGEST])
{
	size_t len = n * 37 % LONGEST;

	memset(room, (int)(n * 11 + 1), len);
	return ks_span(room, len);
}

/* How many pieces lie in memory before the file is used. */
static const size_t memories[] = { 0, 1, (size_t)1 << 20, (size_t)64 << 20 };

static void
what_was_put_aside_comes_back_whatever_the_memory(void **state)
{
	uint64_t *places = calloc(PIECES, sizeof(*places));
	uint8_t room[LONGEST];
	struct ks_buf scratch = KS_BUF_INIT;
	size_t m, n;

	(void)state;
	assert_non_null(places);
	for (m = 0; m < sizeof(memories) / sizeof(memories[0]); m++) {
		struct ks_spool *spool = new_spool(memories[m]);

		for (n = 0; n < PIECES; n++)
			assert_int_equal(ks_spool_add(spool, piece(n, room),
				&places[n], NULL), KS_OK);
		for (n = PIECES; n-- > 0;) {
			struct ks_span want = piece(n, room);
			struct ks_span got;

			assert_int_equal(ks_spool_get(spool, places[n],
				want.len, &scratch, &got, NULL), KS_OK);
			assert_true(ks_span_equal(got, want));
		}
		assert_int_equal(count_files(), 0);
		ks_spool_free(spool);
	}
	free(places);
	ks_buf_release(&scratch);
}

/* References point at earlier bodies while more are added. */
static void
reading_and_adding_may_alternate(void **state)
{
	struct ks_spool *spool = new_spool(0);
	struct ks_buf scratch = KS_BUF_INIT;
	uint8_t room[LONGEST];
	uint64_t before = 0;
	size_t n;

	(void)state;
	for (n = 1; n < PIECES; n++) {
		uint64_t place;
		struct ks_span got, want;

		assert_int_equal(ks_spool_add(spool, piece(n, room), &place,
			NULL), KS_OK);
		want = piece(n - 1, room);
		if (n > 1) {
			assert_int_equal(ks_spool_get(spool, before, want.len,
				&scratch, &got, NULL), KS_OK);
			assert_true(ks_span_equal(got, want));
		}
		before = place;
	}
	ks_buf_release(&scratch);
	ks_spool_free(spool);
}

static void
a_span_in_memory_stays_while_more_is_added(void **state)
{
	struct ks_spool *spool = new_spool((size_t)64 << 20);
	struct ks_buf scratch = KS_BUF_INIT;
	uint8_t room[LONGEST];
	uint64_t first, place;
	struct ks_span kept;
	size_t n;

	(void)state;
	assert_int_equal(ks_spool_add(spool, ks_span_text("the first"),
		&first, NULL), KS_OK);
	assert_int_equal(ks_spool_get(spool, first, 9, &scratch, &kept, NULL),
		KS_OK);
	for (n = 0; n < PIECES; n++)
		assert_int_equal(ks_spool_add(spool, piece(n, room), &place,
			NULL), KS_OK);
	assert_true(ks_span_is(kept, "the first"));
	assert_null(scratch.data);
	ks_buf_release(&scratch);
	ks_spool_free(spool);
}

static void
a_piece_larger_than_a_block_is_kept_whole(void **state)
{
	size_t len = ((size_t)3 << 20) + 17;
	uint8_t *big = malloc(len);
	struct ks_buf scratch = KS_BUF_INIT;
	size_t m;

	(void)state;
	assert_non_null(big);
	memset(big, 0x5a, len);
	for (m = 0; m < sizeof(memories) / sizeof(memories[0]); m++) {
		struct ks_spool *spool = new_spool(memories[m]);
		uint64_t place[3];
		struct ks_span got;
		size_t i;

		for (i = 0; i < 3; i++)
			assert_int_equal(ks_spool_add(spool,
				ks_span(big, len), &place[i], NULL), KS_OK);
		for (i = 0; i < 3; i++) {
			assert_int_equal(ks_spool_get(spool, place[i], len,
				&scratch, &got, NULL), KS_OK);
			assert_true(ks_span_equal(got, ks_span(big, len)));
		}
		ks_spool_free(spool);
	}
	free(big);
	ks_buf_release(&scratch);
}

static void
no_bytes_may_be_put_aside(void **state)
{
	struct ks_buf scratch = KS_BUF_INIT;
	size_t m;

	(void)state;
	for (m = 0; m < sizeof(memories) / sizeof(memories[0]); m++) {
		struct ks_spool *spool = new_spool(memories[m]);
		struct ks_span got;
		uint64_t place;

		assert_int_equal(ks_spool_add(spool, ks_span(NULL, 0), &place,
			NULL), KS_OK);
		assert_int_equal(ks_spool_get(spool, place, 0, &scratch, &got,
			NULL), KS_OK);
		assert_int_equal(got.len, 0);
		ks_spool_free(spool);
	}
	ks_buf_release(&scratch);
}

static void
the_file_has_no_name_and_is_for_its_owner_only(void **state)
{
	struct ks_spool *spool = new_spool(0);
	uint8_t room[LONGEST];
	uint64_t place;
	size_t n;

	(void)state;
	for (n = 0; n < PIECES; n++) {
		assert_int_equal(ks_spool_add(spool, piece(n, room), &place,
			NULL), KS_OK);
		assert_int_equal(count_files(), 0);
	}
	ks_spool_free(spool);
	assert_int_equal(count_files(), 0);
}

static void
a_directory_that_takes_no_file_is_an_error_of_the_system(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_spool *spool = NULL;
	uint64_t place;

	(void)state;
	assert_int_equal(ks_spool_new(&spool, "/nowhere/at/all/", 0, NULL),
		KS_OK);
	assert_int_equal(ks_spool_add(spool, ks_span_text("x"), &place, &err),
		KS_IO);
	assert_non_null(strstr(err.message, "/nowhere/at/all/"));
	assert_null(strchr(err.message, '\n'));
	ks_spool_free(spool);
}

/* Few bytes never need the file, so a read-only place does for them. */
static void
without_need_no_file_is_made(void **state)
{
	struct ks_spool *spool = NULL;
	uint64_t place;

	(void)state;
	assert_int_equal(ks_spool_new(&spool, "/nowhere/at/all/",
		KS_SPOOL_MEMORY, NULL), KS_OK);
	assert_int_equal(ks_spool_add(spool, ks_span_text("x"), &place, NULL),
		KS_OK);
	ks_spool_free(spool);
	ks_spool_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_was_put_aside_comes_back_whatever_the_memory),
		cmocka_unit_test(reading_and_adding_may_alternate),
		cmocka_unit_test(a_span_in_memory_stays_while_more_is_added),
		cmocka_unit_test(a_piece_larger_than_a_block_is_kept_whole),
		cmocka_unit_test(no_bytes_may_be_put_aside),
		cmocka_unit_test(
			the_file_has_no_name_and_is_for_its_owner_only),
		cmocka_unit_test(
			a_directory_that_takes_no_file_is_an_error_of_the_system),
		cmocka_unit_test(without_need_no_file_is_made),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_teardown);
}
