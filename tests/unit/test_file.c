#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../lib/scratch.h"

/* Each test runs in a directory of its own, which is the current one. */

static void
make(const char *path, const char *text)
{
	scratch_write(path, ks_span_text(text));
}

static void
assert_holds(const char *path, const char *text)
{
	struct ks_buf bytes = KS_BUF_INIT;

	assert_int_equal(ks_file_read(path, 1 << 20, &bytes, NULL), KS_OK);
	assert_true(ks_span_is(ks_buf_span(&bytes), text));
	ks_buf_release(&bytes);
}

/* How many names there are in the current directory. */
static long
count_names(void)
{
	return strtol(output("ls -A | wc -l"), NULL, 10);
}

static void
a_file_is_appended_whole_to_the_buffer(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;

	(void)state;
	make("a", "hello\n");
	make("empty", "");
	ks_buf_text(&bytes, "<");
	assert_int_equal(ks_file_read("a", 6, &bytes, NULL), KS_OK);
	assert_int_equal(ks_file_read("empty", 0, &bytes, NULL), KS_OK);
	assert_true(ks_span_is(ks_buf_span(&bytes), "<hello\n"));
	ks_buf_release(&bytes);
}

static void
a_file_without_a_stated_length_is_read_to_its_end(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;

	(void)state;
	/* stat says 0 for what /proc makes up. */
	assert_int_equal(ks_file_read("/proc/self/status", 1 << 20, &bytes,
		NULL), KS_OK);
	assert_true(bytes.len > 100);
	ks_buf_clear(&bytes);
	assert_int_equal(ks_file_read("/proc/self/status", 10, &bytes, NULL),
		KS_INVALID);
	assert_int_equal(bytes.len, 0);
	ks_buf_release(&bytes);
}

static void
what_cannot_be_read_is_refused_and_the_buffer_is_as_before(void **state)
{
	static const struct {
		const char *path;
		uint64_t limit;
		enum ks_status at, plain;	/* without, with following */
		const char *message;		/* of the first */
	} table[] = {
		{ "absent", 9, KS_NOT_FOUND, KS_NOT_FOUND,
			"absent: No such file or directory" },
		{ "long", 3, KS_INVALID, KS_INVALID,
			"long: is longer than 3 bytes" },
		{ "long", 0, KS_INVALID, KS_INVALID,
			"long: is longer than 0 bytes" },
		{ "fifo", 9, KS_IO, KS_IO, "fifo: is not a regular file" },
		{ "directory", 9, KS_IO, KS_IO,
			"directory: is not a regular file" },
		{ "/dev/zero", 9, KS_IO, KS_IO,
			"/dev/zero: is not a regular file" },
		{ "to-file", 9, KS_IO, KS_OK, "to-file: is a symbolic link" },
		{ "to-nothing", 9, KS_IO, KS_NOT_FOUND,
			"to-nothing: is a symbolic link" },
		{ "to-fifo", 9, KS_IO, KS_IO, "to-fifo: is a symbolic link" },
		{ "long/x", 9, KS_IO, KS_IO, "long/x: Not a directory" },
	};
	struct ks_buf bytes = KS_BUF_INIT;
	size_t i;

	(void)state;
	make("long", "four");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkdir("directory", 0700), 0);
	assert_int_equal(symlink("long", "to-file"), 0);
	assert_int_equal(symlink("nothing", "to-nothing"), 0);
	assert_int_equal(symlink("fifo", "to-fifo"), 0);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;

		ks_buf_clear(&bytes);
		ks_buf_text(&bytes, "as before");
		assert_int_equal(ks_file_read_at(KS_FILE_CWD, table[i].path,
			table[i].limit, &bytes, &err), table[i].at);
		assert_string_equal(err.message, table[i].message);
		assert_true(ks_span_is(ks_buf_span(&bytes), "as before"));
		assert_int_equal(ks_file_read(table[i].path, table[i].limit,
			&bytes, NULL), table[i].plain);
		if (table[i].plain != KS_OK)
			assert_true(ks_span_is(ks_buf_span(&bytes),
				"as before"));
	}
	ks_buf_release(&bytes);
}

static void
a_pipe_is_read_to_its_end_within_the_limit(void **state)
{
	static const struct {
		uint64_t limit;
		enum ks_status status;
		size_t len;
	} table[] = {
		{ 200000, KS_OK, 200000 },
		{ 199999, KS_INVALID, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		FILE *pipe = popen("head -c 200000 /dev/zero", "r");
		struct ks_buf bytes = KS_BUF_INIT;

		assert_non_null(pipe);
		assert_int_equal(ks_file_read_fd(fileno(pipe), "stdin",
			table[i].limit, &bytes, NULL), table[i].status);
		assert_int_equal(bytes.len, table[i].len);
		(void)pclose(pipe);
		ks_buf_release(&bytes);
	}
}

static void
a_file_is_replaced_with_the_mode_less_the_umask(void **state)
{
	struct stat st;

	(void)state;
	make("a", "old and longer");
	(void)umask(027);
	assert_int_equal(ks_file_replace("a", ks_span_text("new"), 0666, NULL),
		KS_OK);
	(void)umask(022);
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_holds("a", "new");
	assert_int_equal(ks_file_replace("b", ks_span(NULL, 0), 0600, NULL),
		KS_OK);
	assert_holds("b", "");
	assert_int_equal(count_names(), 2);
}

static void
a_symbolic_link_is_replaced_and_not_followed(void **state)
{
	struct stat st;

	(void)state;
	make("victim", "untouched");
	assert_int_equal(symlink("victim", "link"), 0);
	assert_int_equal(ks_file_replace("link", ks_span_text("new"), 0600,
		NULL), KS_OK);
	assert_holds("victim", "untouched");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void
a_failed_replacement_leaves_nothing_behind(void **state)
{
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(mkdir("directory", 0700), 0);
	make("directory/x", "");
	assert_int_equal(ks_file_replace("directory", ks_span_text("new"),
		0600, &err), KS_IO);
	assert_string_equal(err.message, "directory: Is a directory");
	assert_int_equal(ks_file_replace("absent/a", ks_span_text("new"),
		0600, NULL), KS_NOT_FOUND);
	assert_int_equal(count_names(), 1);
}

static void
a_write_that_does_not_fit_is_reported(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(ks_file_write(fileno(full), "full",
		ks_span_text("x"), &err), KS_IO);
	assert_string_equal(err.message, "full: No space left on device");
	(void)fclose(full);
}

static void
creating_refuses_what_is_there_even_a_dangling_link(void **state)
{
	(void)state;
	make("a", "old");
	assert_int_equal(symlink("nothing", "link"), 0);
	assert_int_equal(ks_file_create("a", ks_span_text("x"), 0600, NULL),
		KS_EXISTS);
	assert_int_equal(ks_file_create("link", ks_span_text("x"), 0600, NULL),
		KS_EXISTS);
	assert_int_equal(ks_file_create("b", ks_span_text("x"), 0600, NULL),
		KS_OK);
	assert_holds("a", "old");
	assert_holds("b", "x");
	assert_int_equal(count_names(), 3);
}

static void
flushing_needs_something_to_flush(void **state)
{
	(void)state;
	make("a", "");
	assert_int_equal(ks_file_sync("a", NULL), KS_OK);
	assert_int_equal(ks_file_sync(".", NULL), KS_OK);
	assert_int_equal(ks_file_sync_parent("a", NULL), KS_OK);
	assert_int_equal(ks_file_sync_parent("/etc", NULL), KS_OK);
	assert_int_equal(ks_file_sync("absent", NULL), KS_NOT_FOUND);
	assert_int_equal(ks_file_sync_parent("absent/a", NULL), KS_NOT_FOUND);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scratch_enter, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_appended_whole_to_the_buffer),
		TEST(a_file_without_a_stated_length_is_read_to_its_end),
		TEST(what_cannot_be_read_is_refused_and_the_buffer_is_as_before),
		TEST(a_pipe_is_read_to_its_end_within_the_limit),
		TEST(a_file_is_replaced_with_the_mode_less_the_umask),
		TEST(a_symbolic_link_is_replaced_and_not_followed),
		TEST(a_failed_replacement_leaves_nothing_behind),
		TEST(a_write_that_does_not_fit_is_reported),
		TEST(creating_refuses_what_is_there_even_a_dangling_link),
		TEST(flushing_needs_something_to_flush),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
