#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much is asked for at once where the length is not known. */
#define PIECE ((size_t)64 << 10)

/* How many temporary names are tried before giving up. */
#define ATTEMPTS 100

/* O_NONBLOCK lets a FIFO without a writer be opened, so that it can be
 * refused; O_NOCTTY keeps a terminal from becoming ours. */
static enum ks_status
open_regular(int dir, const char *path, int flags, int *fd, off_t *size,
	struct ks_error *err)
{
	struct stat st;

	*fd = openat(dir, path,
		flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0 && errno == ELOOP && (flags & O_NOFOLLOW) != 0)
		return ks_fail(err, KS_IO, "%s: is a symbolic link", path);
	if (*fd < 0)
		return ks_fail_errno(err, "%s", path);
	if (fstat(*fd, &st) != 0)
		return ks_fail_errno(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return ks_fail(err, KS_IO, "%s: is not a regular file", path);
	*size = st.st_size;
	return KS_OK;
}

static enum ks_status
too_long(const char *name, uint64_t limit, struct ks_error *err)
{
	return ks_fail(err, KS_INVALID, "%s: is longer than %llu bytes", name,
		(unsigned long long)limit);
}

/* Read up to `want` more bytes; *got is 0 at the end. */
static enum ks_status
read_piece(int fd, const char *name, size_t want, struct ks_buf *out,
	size_t *got, struct ks_error *err)
{
	uint8_t *at = ks_buf_reserve(out, want);
	ssize_t n;

	*got = 0;
	if (at == NULL)
		return ks_fail_nomem(err);
	do
		n = read(fd, at, want);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return ks_fail_errno(err, "%s", name);
	*got = (size_t)n;
	out->len += *got;
	return KS_OK;
}

/* `hint` is the length expected. One byte more is always asked for, so that
 * the end, or one byte too many, shows itself. */
static enum ks_status
read_all(int fd, const char *name, uint64_t limit, size_t hint,
	struct ks_buf *out, struct ks_error *err)
{
	size_t start = out->len;
	enum ks_status status;
	size_t got;

	do {
		size_t have = out->len - start;

		status = read_piece(fd, name,
			hint > have ? hint - have + 1 : PIECE, out, &got, err);
		if (status == KS_OK && out->len - start > limit)
			status = too_long(name, limit, err);
	} while (status == KS_OK && got != 0);
	if (status != KS_OK)
		out->len = start;
	return status;
}

static enum ks_status
read_file(int dir, const char *path, int flags, uint64_t limit,
	struct ks_buf *out, struct ks_error *err)
{
	off_t size = 0;
	int fd = -1;
	enum ks_status status;

	status = open_regular(dir, path, flags, &fd, &size, err);
	if (status == KS_OK && (uint64_t)size > limit)
		status = too_long(path, limit, err);
	if (status == KS_OK)
		status = read_all(fd, path, limit, (size_t)size, out, err);
	if (fd >= 0)
		(void)close(fd);
	return status;
}

enum ks_status
ks_file_read(const char *path, uint64_t limit, struct ks_buf *out,
	struct ks_error *err)
{
	return read_file(AT_FDCWD, path, 0, limit, out, err);
}

enum ks_status
ks_file_read_at(int dir, const char *path, uint64_t limit,
	struct ks_buf *out, struct ks_error *err)
{
	return read_file(dir == KS_FILE_CWD ? AT_FDCWD : dir, path, O_NOFOLLOW,
		limit, out, err);
}

enum ks_status
ks_file_read_fd(int fd, const char *name, uint64_t limit, struct ks_buf *out,
	struct ks_error *err)
{
	return read_all(fd, name, limit, 0, out, err);
}

enum ks_status
ks_file_write(int fd, const char *name, struct ks_span bytes,
	struct ks_error *err)
{
	size_t done = 0;

	while (done < bytes.len) {
		ssize_t n = write(fd, bytes.data + done, bytes.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ks_fail_errno(err, "%s", name);
		done += (size_t)n;
	}
	return KS_OK;
}

enum ks_status
ks_file_sync(const char *path, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ks_fail_errno(err, "%s", path);
	if (fsync(fd) != 0)
		status = ks_fail_errno(err, "%s: cannot flush to disk", path);
	(void)close(fd);
	return status;
}

/* The directory part with its '/', or "" for the current directory. */
static struct ks_span
parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return ks_span(path, slash == NULL ? 0 : (size_t)(slash - path) + 1);
}

enum ks_status
ks_file_sync_parent(const char *path, struct ks_error *err)
{
	struct ks_span parent = parent_of(path);
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	ks_buf_append(&text, parent);
	if (parent.len == 0)
		ks_buf_byte(&text, '.');
	(void)ks_buf_cstr(&text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_file_sync(ks_buf_cstr(&text), err);
	ks_buf_release(&text);
	return status;
}

/* Fill a file that was just made, flush it and close it. */
static enum ks_status
fill(int fd, const char *path, struct ks_span bytes, struct ks_error *err)
{
	enum ks_status status = ks_file_write(fd, path, bytes, err);

	if (status == KS_OK && fsync(fd) != 0)
		status = ks_fail_errno(err, "%s: cannot flush to disk", path);
	if (close(fd) != 0 && status == KS_OK)
		status = ks_fail_errno(err, "%s", path);
	return status;
}

enum ks_status
ks_file_create(const char *path, struct ks_span bytes, mode_t mode,
	struct ks_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	enum ks_status status;

	if (fd < 0 && errno == EEXIST)
		return ks_fail(err, KS_EXISTS, "%s: exists already", path);
	if (fd < 0)
		return ks_fail_errno(err, "%s", path);
	status = fill(fd, path, bytes, err);
	if (status != KS_OK)
		(void)unlink(path);
	return status;
}

/* Create the temporary beside `path`; its name is left in `temp`. */
static enum ks_status
create_beside(const char *path, struct ks_span bytes, mode_t mode,
	struct ks_buf *temp, struct ks_error *err)
{
	static atomic_uint counter;
	enum ks_status status = KS_EXISTS;
	int i;

	for (i = 0; i < ATTEMPTS && status == KS_EXISTS; i++) {
		ks_buf_clear(temp);
		ks_buf_append(temp, parent_of(path));
		ks_buf_printf(temp, KS_FILE_TEMPORARY "%ld-%u",
			(long)getpid(), atomic_fetch_add(&counter, 1));
		(void)ks_buf_cstr(temp);
		if (ks_buf_check(temp, err) != KS_OK)
			return KS_NOMEM;
		status = ks_file_create(ks_buf_cstr(temp), bytes, mode, err);
	}
	return status == KS_EXISTS ? KS_IO : status;
}

enum ks_status
ks_file_replace(const char *path, struct ks_span bytes, mode_t mode,
	struct ks_error *err)
{
	struct ks_buf temp = KS_BUF_INIT;
	enum ks_status status;

	status = create_beside(path, bytes, mode, &temp, err);
	if (status == KS_OK && rename(ks_buf_cstr(&temp), path) != 0) {
		status = ks_fail_errno(err, "%s", path);
		(void)unlink(ks_buf_cstr(&temp));
	}
	if (status == KS_OK)
		status = ks_file_sync_parent(path, err);
	ks_buf_release(&temp);
	return status;
}
