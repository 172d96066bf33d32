#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "store/watch.h"

/* How long to sleep between two looks at a held lock. */
#define NAP_MIN_MS 1
#define NAP_MAX_MS 50

/* Never followed, never waited for: whoever can write in the directory could
 * put a symbolic link or a FIFO there. */
#define OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

#define MODE_MASK 0664

static enum ks_status
lock_path(const char *directory, struct ks_buf *path, struct ks_error *err)
{
	ks_buf_printf(path, "%s" KS_LOCK_NAME, directory);
	(void)ks_buf_cstr(path);
	return ks_buf_check(path, err);
}

/* Make the file as open to others as its directory is (core.sharedRepository
 * is to be seen there), never to the whole world for writing. */
static int
create(const char *directory, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | OPEN_FLAGS, 0600);
	struct stat st;

	if (fd >= 0 && stat(directory, &st) == 0)
		(void)fchmod(fd, (st.st_mode & MODE_MASK) | 0600);
	return fd;
}

static enum ks_status
open_lock(const char *directory, const char *path, int *fd,
	struct ks_error *err)
{
	struct stat st;

	*fd = open(path, O_RDWR | OPEN_FLAGS);
	if (*fd < 0 && errno == ENOENT)
		*fd = create(directory, path);
	if (*fd < 0 && errno == EEXIST)
		*fd = open(path, O_RDWR | OPEN_FLAGS);
	if (*fd < 0 && errno == ELOOP)
		return ks_fail(err, KS_IO, "%s: is a symbolic link", path);
	if (*fd < 0)
		return ks_fail_errno(err, "cannot lock %s", path);
	if (fstat(*fd, &st) != 0)
		return ks_fail_errno(err, "cannot lock %s", path);
	if (!S_ISREG(st.st_mode))
		return ks_fail(err, KS_IO, "%s: is not a regular file", path);
	return KS_OK;
}

/* Whether the file that is locked is still the one of that name. */
static bool
is_current(int fd, const char *path)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && lstat(path, &named) == 0 &&
		held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/* KS_BUSY when somebody else has it. */
static enum ks_status
try_lock(const char *directory, const char *path, int *fd,
	struct ks_error *err)
{
	enum ks_status status = open_lock(directory, path, fd, err);

	if (status != KS_OK)
		return status;
	if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK || errno == EINTR)
			return ks_fail(err, KS_BUSY,
				"%s: held by another process", path);
		return ks_fail_errno(err, "cannot lock %s", path);
	}
	if (!is_current(*fd, path))
		return ks_fail(err, KS_BUSY, "%s: was replaced", path);
	return KS_OK;
}

/* Sleep, a little longer each time; false when a signal came. */
static bool
nap(int *ms)
{
	struct timespec time = { .tv_sec = 0, .tv_nsec = *ms * 1000000L };

	*ms = *ms * 2 < NAP_MAX_MS ? *ms * 2 : NAP_MAX_MS;
	return nanosleep(&time, NULL) == 0;
}

static int64_t
now_ms(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static enum ks_status
wait_for_lock(const char *directory, const char *path, int wait_ms,
	const struct ks_watch *watch, int *fd, struct ks_error *err)
{
	int64_t end = now_ms() + wait_ms;
	int ms = NAP_MIN_MS;

	for (;;) {
		enum ks_status status = try_lock(directory, path, fd, err);

		if (status == KS_OK)
			return KS_OK;
		if (*fd >= 0)
			(void)close(*fd);
		*fd = -1;
		if (status != KS_BUSY || (wait_ms >= 0 && now_ms() >= end))
			return status;
		/* The signal may have come while not asleep. */
		if (!nap(&ms) || ks_watch_check(watch, NULL) != KS_OK)
			return ks_fail(err, KS_CANCELLED,
				"interrupted while waiting for %s", path);
	}
}

enum ks_status
ks_lock_take(struct ks_lock *lock, const char *directory, int wait_ms,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status;

	lock->fd = -1;
	status = lock_path(directory, &path, err);
	if (status == KS_OK)
		status = wait_for_lock(directory, ks_buf_cstr(&path), wait_ms,
			watch, &lock->fd, err);
	ks_buf_release(&path);
	return status;
}

void
ks_lock_release(struct ks_lock *lock)
{
	if (lock->fd >= 0)
		(void)close(lock->fd);
	lock->fd = -1;
}

/* In place, because the lock is on this very file. The text is far shorter
 * than a sector, so that a power cut leaves the old text or the new one. */
static enum ks_status
overwrite(int fd, const char *path, struct ks_span text, struct ks_error *err)
{
	ssize_t n;

	do
		n = pwrite(fd, text.data, text.len, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return ks_fail_errno(err, "%s", path);
	if ((size_t)n != text.len)
		return ks_fail(err, KS_IO, "%s: short write", path);
	if (ftruncate(fd, (off_t)text.len) != 0 || fsync(fd) != 0)
		return ks_fail_errno(err, "%s", path);
	return KS_OK;
}

enum ks_status
ks_lock_write(const char *directory, const char *text, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status;
	int fd = -1;

	status = lock_path(directory, &path, err);
	if (status == KS_OK)
		status = open_lock(directory, ks_buf_cstr(&path), &fd, err);
	if (status == KS_OK)
		status = overwrite(fd, ks_buf_cstr(&path),
			ks_span_text(text), err);
	if (fd >= 0)
		(void)close(fd);
	ks_buf_release(&path);
	return status;
}

enum ks_status
ks_lock_read(const char *directory, char *text, size_t size,
	struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	struct ks_buf bytes = KS_BUF_INIT;
	enum ks_status status;

	text[0] = '\0';
	status = lock_path(directory, &path, err);
	if (status == KS_OK)
		status = ks_file_read_at(KS_FILE_CWD, ks_buf_cstr(&path),
			size - 1, &bytes, err);
	if (status == KS_NOT_FOUND)
		status = KS_OK;
	if (status == KS_OK && bytes.len > 0)
		memcpy(text, bytes.data, bytes.len);
	if (status == KS_OK)
		text[bytes.len] = '\0';
	ks_buf_release(&bytes);
	ks_buf_release(&path);
	return status;
}
