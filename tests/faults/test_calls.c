/*
 * System calls of the library made to fail.
 *
 * wrap: write, pwrite, read, pread, open, openat, __openat_2, close, fsync
 * wrap: rename, renameat, link, unlink, unlinkat, mkstemp, mkdir, mkdirat
 * wrap: rmdir, ftruncate, flock, opendir, pthread_create
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/file.h>

#include <cmocka.h>

#include "faults.h"

/* ---- wrapped calls ----------------------------------------------------- */

/* Whether to fail, errno then being set. */
static bool
fails(const char *call, int code)
{
	if (!fault_fires(call))
		return false;
	errno = code;
	return true;
}

/* What frees room goes on working on a full disk. */
static bool
fails_once(const char *call, int code)
{
	return atomic_load(&faults_left) > 0 && fails(call, code);
}

/* A test of short and interrupted calls counts these. */
static _Atomic bool hurried;
static _Atomic unsigned hurried_calls;

/* Every other call is interrupted, the rest does a part only. */
static bool
is_interrupted(size_t *count)
{
	if (!atomic_load(&hurried))
		return false;
	if (atomic_fetch_add(&hurried_calls, 1) % 2 == 0) {
		errno = EINTR;
		return true;
	}
	/* A few bytes come whole, on any system. */
	if (*count > 64)
		*count = *count * 2 / 3;
	return false;
}

#define WRAP(type, name, parameters) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters

WRAP(ssize_t, write, (int fd, const void *bytes, size_t count))
{
	if (fails(__func__, ENOSPC) || is_interrupted(&count))
		return -1;
	return __real_write(fd, bytes, count);
}

WRAP(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at))
{
	if (fails(__func__, ENOSPC) || is_interrupted(&count))
		return -1;
	return __real_pwrite(fd, bytes, count, at);
}

WRAP(ssize_t, read, (int fd, void *bytes, size_t count))
{
	if (fails(__func__, EIO) || is_interrupted(&count))
		return -1;
	return __real_read(fd, bytes, count);
}

WRAP(ssize_t, pread, (int fd, void *bytes, size_t count, off_t at))
{
	if (fails(__func__, EIO) || is_interrupted(&count))
		return -1;
	return __real_pread(fd, bytes, count, at);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int
__wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if ((flags & O_CREAT) != 0) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return fails(__func__, EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int dir, const char *path, int flags, ...);
int __wrap_openat(int dir, const char *path, int flags, ...);
int
__wrap_openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if ((flags & O_CREAT) != 0) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return fails(__func__, EMFILE) ? -1 : __real_openat(dir, path, flags, mode);
}

int __wrap___openat_2(int dir, const char *path, int flags);
int
__wrap___openat_2(int dir, const char *path, int flags)
{
	return fails(__func__, EMFILE) ? -1 : __real_openat(dir, path, flags);
}

WRAP(int, close, (int fd))
{
	int rc = __real_close(fd);

	return fails_once(__func__, EIO) ? -1 : rc;
}

WRAP(int, fsync, (int fd))
{
	return fails(__func__, EIO) ? -1 : __real_fsync(fd);
}

WRAP(int, rename, (const char *from, const char *to))
{
	return fails(__func__, ENOSPC) ? -1 : __real_rename(from, to);
}

WRAP(int, renameat, (int a, const char *from, int b, const char *to))
{
	return fails(__func__, ENOSPC) ? -1 : __real_renameat(a, from, b, to);
}

WRAP(int, link, (const char *from, const char *to))
{
	return fails(__func__, ENOSPC) ? -1 : __real_link(from, to);
}

WRAP(int, unlink, (const char *path))
{
	return fails_once(__func__, EIO) ? -1 : __real_unlink(path);
}

WRAP(int, unlinkat, (int dir, const char *path, int flags))
{
	return fails_once(__func__, EIO) ? -1 : __real_unlinkat(dir, path, flags);
}

WRAP(int, mkstemp, (char *path))
{
	return fails(__func__, ENOSPC) ? -1 : __real_mkstemp(path);
}

WRAP(int, mkdir, (const char *path, mode_t mode))
{
	return fails(__func__, ENOSPC) ? -1 : __real_mkdir(path, mode);
}

WRAP(int, mkdirat, (int dir, const char *path, mode_t mode))
{
	return fails(__func__, ENOSPC) ? -1 : __real_mkdirat(dir, path, mode);
}

WRAP(int, rmdir, (const char *path))
{
	return fails_once(__func__, EIO) ? -1 : __real_rmdir(path);
}

WRAP(int, ftruncate, (int fd, off_t len))
{
	return fails(__func__, EIO) ? -1 : __real_ftruncate(fd, len);
}

WRAP(int, flock, (int fd, int how))
{
	return fails(__func__, EIO) ? -1 : __real_flock(fd, how);
}

WRAP(DIR *, opendir, (const char *path))
{
	return fails(__func__, EMFILE) ? NULL : __real_opendir(path);
}

WRAP(int, pthread_create, (pthread_t *thread, const pthread_attr_t *attr,
	void *(*start)(void *), void *arg))
{
	if (fault_fires(__func__))
		return EAGAIN;
	return __real_pthread_create(thread, attr, start, arg);
}

/* ---- tests ------------------------------------------------------------- */

static void
a_call_that_fails_once_leaves_old_or_new(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < SCENARIOS; i++)
		fail_each_call(&scenarios[i], 1, false);
}

/* A disk that is full stays full, and a table of files as well. */
static void
calls_that_fail_from_then_on_leave_old_or_new(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < SCENARIOS; i++)
		fail_each_call(&scenarios[i], 2, true);
}

static void
short_and_interrupted_calls_change_nothing(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < SCENARIOS; i++) {
		struct outcome outcome = expected_outcome(&scenarios[i]);
		struct ks_error err = KS_ERROR_INIT;

		start_from(scenarios[i].start);
		atomic_store(&hurried, true);
		if (perform(&scenarios[i], &err) != KS_OK)
			fail_msg("%s: %s", scenarios[i].name, err.message);
		atomic_store(&hurried, false);
		assert_true(ks_span_equal(ks_buf_span(&fault_answer),
			ks_buf_span(&outcome.answer)));
		check_store(&scenarios[i], 0, KS_OK, &outcome, true);
		ks_buf_release(&outcome.answer);
	}
	assert_true(atomic_load(&hurried_calls) > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_fails_once_leaves_old_or_new),
		cmocka_unit_test(
			calls_that_fail_from_then_on_leave_old_or_new),
		cmocka_unit_test(short_and_interrupted_calls_change_nothing),
	};

	return cmocka_run_group_tests(tests, fault_setup, fault_teardown);
}
