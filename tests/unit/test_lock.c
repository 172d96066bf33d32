#include "store/lock.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../lib/scratch.h"

/* Each test runs in a directory of its own, which is the current one. */
static const char directory[] = "./";

/* A process that takes the lock, says so, and waits to be killed. */
static pid_t
start_holder(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct ks_lock lock = KS_LOCK_INIT;

		if (ks_lock_take(&lock, directory, 0, NULL, NULL) != KS_OK ||
			write(ends[1], "!", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	(void)close(ends[0]);
	return pid;
}

static void
kill_holder(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int64_t
now_ms(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void
the_lock_is_had_by_one_at_a_time(void **state)
{
	struct ks_lock first = KS_LOCK_INIT;
	struct ks_lock second = KS_LOCK_INIT;

	(void)state;
	assert_int_equal(ks_lock_take(&first, directory, 0, NULL, NULL), KS_OK);
	assert_true(first.fd >= 0);
	assert_int_equal(ks_lock_take(&second, directory, 0, NULL, NULL), KS_BUSY);
	assert_int_equal(second.fd, -1);
	ks_lock_release(&first);
	assert_int_equal(first.fd, -1);
	ks_lock_release(&first);
	assert_int_equal(ks_lock_take(&second, directory, 0, NULL, NULL), KS_OK);
	ks_lock_release(&second);
}

static void
the_lock_of_a_killed_process_is_free(void **state)
{
	struct ks_lock lock = KS_LOCK_INIT;
	pid_t pid = start_holder();

	(void)state;
	assert_int_equal(ks_lock_take(&lock, directory, 0, NULL, NULL), KS_BUSY);
	kill_holder(pid);
	assert_int_equal(ks_lock_take(&lock, directory, 0, NULL, NULL), KS_OK);
	ks_lock_release(&lock);
}

static void
waiting_ends_after_the_time_given(void **state)
{
	struct ks_lock lock = KS_LOCK_INIT;
	struct ks_error err = KS_ERROR_INIT;
	pid_t pid = start_holder();
	int64_t start = now_ms();

	(void)state;
	assert_int_equal(ks_lock_take(&lock, directory, 120, NULL, &err), KS_BUSY);
	assert_true(now_ms() - start >= 120);
	assert_true(now_ms() - start < 5000);
	assert_non_null(strstr(err.message, KS_LOCK_NAME));
	kill_holder(pid);
}

static void
waiting_gets_the_lock_when_its_holder_goes(void **state)
{
	struct ks_lock lock = KS_LOCK_INIT;
	pid_t holder = start_holder();
	pid_t killer = fork();

	(void)state;
	assert_true(killer >= 0);
	if (killer == 0) {
		struct timespec nap = { .tv_nsec = 50000000 };

		(void)nanosleep(&nap, NULL);
		_exit(kill(holder, SIGKILL));
	}
	assert_int_equal(ks_lock_take(&lock, directory, -1, NULL, NULL), KS_OK);
	ks_lock_release(&lock);
	assert_int_equal(waitpid(killer, NULL, 0), killer);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
}

static void
what_is_locked_is_the_file_that_has_the_name_now(void **state)
{
	struct ks_lock first = KS_LOCK_INIT;
	struct ks_lock second = KS_LOCK_INIT;
	struct stat held, named;

	(void)state;
	assert_int_equal(ks_lock_take(&first, directory, 0, NULL, NULL), KS_OK);
	assert_int_equal(unlink(KS_LOCK_NAME), 0);
	assert_int_equal(ks_lock_take(&second, directory, 0, NULL, NULL), KS_OK);
	assert_int_equal(fstat(second.fd, &held), 0);
	assert_int_equal(stat(KS_LOCK_NAME, &named), 0);
	assert_true(held.st_ino == named.st_ino);
	ks_lock_release(&first);
	ks_lock_release(&second);
}

static void
anything_but_a_regular_file_is_refused(void **state)
{
	struct ks_lock lock = KS_LOCK_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(symlink("victim", KS_LOCK_NAME), 0);
	assert_int_equal(ks_lock_take(&lock, directory, 0, NULL, NULL), KS_IO);
	assert_int_equal(ks_lock_write(directory, "x", NULL), KS_IO);
	assert_int_equal(lstat("victim", &st), -1);
	assert_int_equal(unlink(KS_LOCK_NAME), 0);
	assert_int_equal(mkfifo(KS_LOCK_NAME, 0600), 0);
	assert_int_equal(ks_lock_take(&lock, directory, 0, NULL, NULL), KS_IO);
	assert_int_equal(unlink(KS_LOCK_NAME), 0);
	assert_int_equal(mkdir(KS_LOCK_NAME, 0700), 0);
	assert_int_equal(ks_lock_take(&lock, directory, 0, NULL, NULL), KS_IO);
	assert_int_equal(lock.fd, -1);
}

static void
a_directory_that_is_not_there_is_named(void **state)
{
	struct ks_lock lock = KS_LOCK_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_lock_take(&lock, "/nowhere/", -1, NULL, &err),
		KS_NOT_FOUND);
	assert_string_equal(err.message, "cannot lock /nowhere/kistore.lock: "
		"No such file or directory");
}

static void
what_was_written_is_read_while_the_lock_is_held(void **state)
{
	struct ks_lock lock = KS_LOCK_INIT;
	struct ks_lock other = KS_LOCK_INIT;
	char text[32];

	(void)state;
	assert_int_equal(ks_lock_read(directory, text, sizeof(text), NULL),
		KS_OK);
	assert_string_equal(text, "");
	assert_int_equal(ks_lock_take(&lock, directory, 0, NULL, NULL), KS_OK);
	assert_int_equal(ks_lock_write(directory, "long text\n", NULL), KS_OK);
	assert_int_equal(ks_lock_write(directory, "short\n", NULL), KS_OK);
	assert_int_equal(ks_lock_read(directory, text, sizeof(text), NULL),
		KS_OK);
	assert_string_equal(text, "short\n");
	/* Opening and closing the file has not given the lock back. */
	assert_int_equal(ks_lock_take(&other, directory, 0, NULL, NULL), KS_BUSY);
	assert_int_equal(ks_lock_read(directory, text, 6, NULL), KS_INVALID);
	assert_string_equal(text, "");
	assert_int_equal(ks_lock_read(directory, text, 7, NULL), KS_OK);
	assert_string_equal(text, "short\n");
	ks_lock_release(&lock);
}

static void
the_file_is_as_open_to_others_as_its_directory(void **state)
{
	static const struct {
		mode_t directory, file;
	} table[] = {
		{ 0700, 0600 },
		{ 0755, 0644 },
		{ 02770, 0660 },
		{ 02775, 0664 },
		{ 0777, 0664 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_lock lock = KS_LOCK_INIT;
		struct stat st;

		(void)unlink(KS_LOCK_NAME);
		assert_int_equal(chmod(directory, table[i].directory), 0);
		assert_int_equal(ks_lock_take(&lock, directory, 0, NULL, NULL),
			KS_OK);
		assert_int_equal(stat(KS_LOCK_NAME, &st), 0);
		assert_int_equal(st.st_mode & 0777, table[i].file);
		ks_lock_release(&lock);
	}
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scratch_enter, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_lock_is_had_by_one_at_a_time),
		TEST(the_lock_of_a_killed_process_is_free),
		TEST(waiting_ends_after_the_time_given),
		TEST(waiting_gets_the_lock_when_its_holder_goes),
		TEST(what_is_locked_is_the_file_that_has_the_name_now),
		TEST(anything_but_a_regular_file_is_refused),
		TEST(a_directory_that_is_not_there_is_named),
		TEST(what_was_written_is_read_while_the_lock_is_held),
		TEST(the_file_is_as_open_to_others_as_its_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
