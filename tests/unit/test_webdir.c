/*
 * A directory that a web server shows.
 */
#include "store/webdir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"

static struct ks_webdir *dir;

static int
setup(void **state)
{
	if (scratch_enter(state) != 0)
		return 1;
	return ks_webdir_open(&dir, "www", NULL) != KS_OK;
}

static int
teardown(void **state)
{
	ks_webdir_close(dir);
	dir = NULL;
	return scratch_teardown(state);
}

static void
put(const char *path, const char *text)
{
	struct ks_error err = KS_ERROR_INIT;

	if (ks_webdir_write(dir, path, ks_span_text(text), &err) != KS_OK)
		fail_msg("%s", err.message);
}

static void
assert_holds(const char *path, const char *text)
{
	struct ks_buf bytes = KS_BUF_INIT;

	assert_int_equal(ks_webdir_read(dir, path, 100, &bytes, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&bytes), text);
	ks_buf_release(&bytes);
}

static void
assert_mode(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void
files_appear_with_all_directories_on_the_way(void **state)
{
	mode_t before = umask(0077);
	uint64_t length;

	(void)state;
	put("a", "one");
	put("b/c/d", "two");
	put("b/c/e", "three");
	put("b/f", "");
	(void)umask(before);
	assert_holds("a", "one");
	assert_holds("b/c/d", "two");
	assert_holds("b/c/e", "three");
	assert_int_equal(ks_webdir_length(dir, "b/c/e", &length, NULL), KS_OK);
	assert_int_equal(length, 5);
	assert_int_equal(ks_webdir_length(dir, "b/f", &length, NULL), KS_OK);
	assert_int_equal(length, 0);
	assert_mode("www/b", 0755);
	assert_mode("www/b/c", 0755);
	assert_mode("www/b/c/d", 0644);
	assert_int_equal(ks_webdir_flush(dir, NULL), KS_OK);
	assert_int_equal(ks_webdir_counts(dir).written, 4);
	assert_int_equal(ks_webdir_counts(dir).bytes, 11);
	put("a", "four");
	assert_holds("a", "four");
}

static void
what_is_not_there_is_not_found(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	uint64_t length = 7;

	(void)state;
	put("b/c", "x");
	assert_int_equal(ks_webdir_length(dir, "b/d", &length, NULL),
		KS_NOT_FOUND);
	assert_int_equal(length, 0);
	assert_int_equal(ks_webdir_length(dir, "e/f/g", &length, NULL),
		KS_NOT_FOUND);
	assert_int_equal(ks_webdir_read(dir, "e/f", 9, &bytes, NULL),
		KS_NOT_FOUND);
	assert_int_equal(ks_webdir_read(dir, "b/c", 0, &bytes, NULL),
		KS_INVALID);
	assert_int_equal(ks_webdir_remove(dir, "e/f", NULL), KS_OK);
	assert_int_equal(ks_webdir_remove(dir, "b/d", NULL), KS_OK);
	assert_int_equal(ks_webdir_remove_all(dir, "e", NULL), KS_OK);
	assert_int_equal(ks_webdir_list(dir, "e", &bytes, NULL), KS_OK);
	assert_int_equal(bytes.len, 0);
	assert_int_equal(ks_webdir_counts(dir).removed, 0);
	ks_buf_release(&bytes);
}

static void
only_what_differs_is_written(void **state)
{
	bool written = false;

	(void)state;
	assert_int_equal(ks_webdir_update(dir, "a/b", ks_span_text("x"),
		&written, NULL), KS_OK);
	assert_true(written);
	assert_int_equal(ks_webdir_update(dir, "a/b", ks_span_text("x"),
		&written, NULL), KS_OK);
	assert_false(written);
	assert_int_equal(ks_webdir_update(dir, "a/b", ks_span_text("y"),
		&written, NULL), KS_OK);
	assert_true(written);
	assert_int_equal(ks_webdir_update(dir, "a/b", ks_span_text(""),
		&written, NULL), KS_OK);
	assert_true(written);
	assert_int_equal(ks_webdir_update(dir, "a/b", ks_span_text("longer"),
		NULL, NULL), KS_OK);
	assert_holds("a/b", "longer");
	assert_int_equal(ks_webdir_counts(dir).written, 4);
}

static void
names_are_listed_in_order(void **state)
{
	static const char wanted[] = "a\0b\0c";
	struct ks_buf names = KS_BUF_INIT;

	(void)state;
	put("d/c", "");
	put("d/a", "");
	put("d/b/e", "");
	assert_int_equal(ks_webdir_list(dir, "d", &names, NULL), KS_OK);
	assert_int_equal(names.len, sizeof(wanted));
	assert_memory_equal(names.data, wanted, sizeof(wanted));
	ks_buf_clear(&names);
	assert_int_equal(ks_webdir_list(dir, "", &names, NULL), KS_OK);
	assert_string_equal((const char *)names.data, "d");
	ks_buf_release(&names);
}

static void
removing_takes_all_and_follows_nothing(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("outside", 0777), 0);
	scratch_write("outside/kept", ks_span_text("mine"));
	put("d/a/b", "");
	put("d/c", "");
	assert_int_equal(symlink("../../outside", "www/d/a/link"), 0);
	assert_int_equal(ks_webdir_remove_all(dir, "d", NULL), KS_OK);
	assert_int_not_equal(lstat("www/d", &st), 0);
	assert_int_equal(lstat("outside/kept", &st), 0);
	assert_int_equal(ks_webdir_counts(dir).removed, 3);
	/* What was there is made again. */
	put("d/a/b", "new");
	assert_holds("d/a/b", "new");
}

static void
what_is_in_the_way_is_refused(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	uint64_t length;
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("outside", 0777), 0);
	scratch_write("outside/f", ks_span_text("mine"));
	put("file", "x");
	put("folder/x", "x");
	assert_int_equal(symlink("../outside", "www/link"), 0);
	assert_int_equal(symlink("../outside/f", "www/linked"), 0);
	assert_int_equal(ks_webdir_write(dir, "link/f", ks_span_text("bad"),
		NULL), KS_IO);
	assert_int_equal(ks_webdir_write(dir, "link/g", ks_span_text("bad"),
		NULL), KS_IO);
	assert_int_equal(ks_webdir_read(dir, "link/f", 9, &bytes, NULL),
		KS_IO);
	assert_int_equal(ks_webdir_read(dir, "linked", 9, &bytes, NULL),
		KS_IO);
	assert_int_equal(ks_webdir_length(dir, "linked", &length, NULL),
		KS_IO);
	assert_int_equal(ks_webdir_remove(dir, "link/f", NULL), KS_IO);
	assert_int_equal(ks_webdir_list(dir, "link", &bytes, NULL), KS_IO);
	assert_int_equal(ks_webdir_write(dir, "file/x", ks_span_text("bad"),
		NULL), KS_IO);
	assert_int_equal(ks_webdir_write(dir, "folder", ks_span_text("bad"),
		NULL), KS_IO);
	assert_int_equal(lstat("outside/f", &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_not_equal(lstat("outside/g", &st), 0);
	assert_int_equal(bytes.len, 0);
	ks_buf_release(&bytes);
}

static void
a_dead_writers_file_is_cleared_away(void **state)
{
	struct ks_webdir *other = NULL;
	struct ks_buf names = KS_BUF_INIT;
	int fd = -1;

	(void)state;
	assert_int_equal(ks_webdir_open(&other, "www", NULL), KS_BUSY);
	assert_null(other);
	assert_int_equal(ks_webdir_start(dir, KS_WEBDIR_PACK, &fd, NULL),
		KS_OK);
	assert_int_equal(close(fd), 0);
	assert_int_equal(ks_webdir_list(dir, "", &names, NULL), KS_OK);
	assert_int_not_equal(names.len, 0);
	ks_webdir_close(dir);
	scratch_write("www/.kistore-new", ks_span_text("half"));
	assert_int_equal(ks_webdir_open(&dir, "www", NULL), KS_OK);
	ks_buf_clear(&names);
	assert_int_equal(ks_webdir_list(dir, "", &names, NULL), KS_OK);
	assert_int_equal(names.len, 0);
	ks_buf_release(&names);
}

static void
only_a_directory_can_be_opened(void **state)
{
	struct ks_webdir *other = NULL;

	(void)state;
	scratch_write("file", ks_span_text(""));
	assert_int_equal(ks_webdir_open(&other, "file", NULL), KS_INVALID);
	assert_int_equal(ks_webdir_open(&other, "no/such", NULL), KS_IO);
	assert_null(other);
	ks_webdir_close(NULL);
}

static void
looking_for_a_directory_makes_none(void **state)
{
	struct ks_webdir *other = NULL;
	struct stat st;

	(void)state;
	assert_int_equal(ks_webdir_find(&other, "absent", NULL),
		KS_NOT_FOUND);
	assert_null(other);
	assert_int_not_equal(lstat("absent", &st), 0);
	assert_int_equal(symlink("absent", "dangling"), 0);
	assert_int_equal(ks_webdir_find(&other, "dangling", NULL),
		KS_NOT_FOUND);
	assert_int_equal(ks_webdir_open(&other, "dangling", NULL), KS_IO);
	scratch_write("file", ks_span_text(""));
	assert_int_equal(ks_webdir_find(&other, "file", NULL), KS_INVALID);
	assert_int_equal(ks_webdir_find(&other, "www", NULL), KS_BUSY);
	assert_null(other);
	assert_int_equal(ks_webdir_open(&other, "absent/", NULL), KS_OK);
	ks_webdir_close(other);
	assert_mode("absent", 0755);
	assert_int_equal(ks_webdir_find(&other, "absent", NULL), KS_OK);
	ks_webdir_close(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(files_appear_with_all_directories_on_the_way),
		TEST(what_is_not_there_is_not_found),
		TEST(only_what_differs_is_written),
		TEST(names_are_listed_in_order),
		TEST(removing_takes_all_and_follows_nothing),
		TEST(what_is_in_the_way_is_refused),
		TEST(a_dead_writers_file_is_cleared_away),
		TEST(only_a_directory_can_be_opened),
		TEST(looking_for_a_directory_makes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
