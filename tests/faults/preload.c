/*
 * Preloaded into the program: makes one system call of the whole process fail,
 * whoever makes it, libgit2 and SQLite included.
 *
 *	KISTORE_FAULT=N		the Nth call that changes or opens something
 *	KISTORE_FAULT_STICKS=1	and all that follow, but for those that free
 *	KISTORE_FAULT_LOG=FILE	is given the name of the call that failed
 *
 * Only calls on paths and files below KISTORE_FAULT_BELOW count, so that the
 * loader and libraries start as ever.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int left;
static int sticks;
static int fired;
static const char *below, *log_path;
static size_t below_len;

__attribute__((constructor)) static void
start(void)
{
	const char *n = getenv("KISTORE_FAULT");

	below = getenv("KISTORE_FAULT_BELOW");
	below_len = below == NULL ? 0 : strlen(below);
	log_path = getenv("KISTORE_FAULT_LOG");
	sticks = getenv("KISTORE_FAULT_STICKS") != NULL;
	left = n == NULL || below == NULL ? 0 : atoi(n);
}

static void
tell(const char *call)
{
	char text[64];
	int fd, len;

	fired = 1;
	if (log_path == NULL)
		return;
	len = snprintf(text, sizeof(text), "%s\n", call);
	fd = (int)syscall(SYS_openat, AT_FDCWD, log_path,
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	(void)syscall(SYS_write, fd, text, (size_t)len);
	(void)syscall(SYS_close, fd);
}

/* Whether this call is the one; `frees` calls never fail by sticking. */
static bool
fires(const char *call, bool frees, int code)
{
	int before;

	if (__atomic_load_n(&fired, __ATOMIC_SEQ_CST) != 0) {
		errno = code;
		return sticks && !frees;
	}
	if (__atomic_load_n(&left, __ATOMIC_SEQ_CST) <= 0)
		return false;
	before = __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
	if (before != 1)
		return false;
	tell(call);
	errno = code;
	return true;
}

/* A path counts when it is relative or below the directory. */
static bool
counts(const char *path)
{
	return below != NULL && path != NULL && (path[0] != '/' ||
		strncmp(path, below, below_len) == 0);
}

/* A descriptor counts when it is of a file below the directory. */
static bool
counts_fd(int fd)
{
	char name[64], path[4096];
	ssize_t len;

	if (below == NULL || fd <= STDERR_FILENO)
		return false;
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	len = readlink(name, path, sizeof(path) - 1);
	if (len < 0)
		return false;
	path[len] = '\0';
	return strncmp(path, below, below_len) == 0;
}

/* The function of that name that would have been called. */
static void *
next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (found == NULL)
		abort();
	return found;
}

#define REAL(type, name, parameters) \
	static type (*real) parameters; \
	if (real == NULL) \
		*(void **)&real = next(#name)

#define FAIL_OPEN(name, path) \
	(counts(path) && fires(#name, false, EMFILE))

static mode_t
mode_of(int flags, va_list args)
{
	return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
}

#define DEFINE_OPEN(name) \
	int \
	name(const char *path, int flags, ...) \
	{ \
		REAL(int, name, (const char *, int, ...)); \
		va_list args; \
		mode_t mode; \
		va_start(args, flags); \
		mode = mode_of(flags, args); \
		va_end(args); \
		return FAIL_OPEN(name, path) ? -1 : real(path, flags, mode); \
	}

#define DEFINE_OPENAT(name) \
	int \
	name(int dir, const char *path, int flags, ...) \
	{ \
		REAL(int, name, (int, const char *, int, ...)); \
		va_list args; \
		mode_t mode; \
		va_start(args, flags); \
		mode = mode_of(flags, args); \
		va_end(args); \
		return FAIL_OPEN(name, path) ? -1 : \
			real(dir, path, flags, mode); \
	}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

#define DEFINE_FD(type, name, code, parameters, arguments, failed) \
	type \
	name parameters \
	{ \
		REAL(type, name, parameters); \
		return counts_fd(fd) && fires(#name, false, code) ? failed : \
			real arguments; \
	}

DEFINE_FD(ssize_t, write, ENOSPC, (int fd, const void *p, size_t n),
	(fd, p, n), -1)
DEFINE_FD(ssize_t, pwrite, ENOSPC,
	(int fd, const void *p, size_t n, off_t at), (fd, p, n, at), -1)
DEFINE_FD(ssize_t, pwrite64, ENOSPC,
	(int fd, const void *p, size_t n, off_t at), (fd, p, n, at), -1)
DEFINE_FD(ssize_t, read, EIO, (int fd, void *p, size_t n), (fd, p, n), -1)
DEFINE_FD(ssize_t, pread, EIO, (int fd, void *p, size_t n, off_t at),
	(fd, p, n, at), -1)
DEFINE_FD(ssize_t, pread64, EIO, (int fd, void *p, size_t n, off_t at),
	(fd, p, n, at), -1)
DEFINE_FD(int, fsync, EIO, (int fd), (fd), -1)
DEFINE_FD(int, fdatasync, EIO, (int fd), (fd), -1)
DEFINE_FD(int, ftruncate, EIO, (int fd, off_t n), (fd, n), -1)
DEFINE_FD(int, ftruncate64, EIO, (int fd, off_t n), (fd, n), -1)

#define DEFINE_MAP(name) \
	void * \
	name(void *at, size_t n, int protection, int flags, int fd, \
		off_t offset) \
	{ \
		REAL(void *, name, (void *, size_t, int, int, int, off_t)); \
		return counts_fd(fd) && fires(#name, false, ENOMEM) ? \
			MAP_FAILED : \
			real(at, n, protection, flags, fd, offset); \
	}

DEFINE_MAP(mmap)
DEFINE_MAP(mmap64)

#define DEFINE_TWO_PATHS(name) \
	int \
	name(const char *from, const char *to) \
	{ \
		REAL(int, name, (const char *, const char *)); \
		return counts(to) && fires(#name, false, ENOSPC) ? -1 : \
			real(from, to); \
	}

DEFINE_TWO_PATHS(rename)
DEFINE_TWO_PATHS(link)

int
renameat(int a, const char *from, int b, const char *to)
{
	REAL(int, renameat, (int, const char *, int, const char *));
	return counts(to) && fires("renameat", false, ENOSPC) ? -1 :
		real(a, from, b, to);
}

int
mkdir(const char *path, mode_t mode)
{
	REAL(int, mkdir, (const char *, mode_t));
	return counts(path) && fires("mkdir", false, ENOSPC) ? -1 :
		real(path, mode);
}

int
unlink(const char *path)
{
	REAL(int, unlink, (const char *));
	return counts(path) && fires("unlink", true, EIO) ? -1 : real(path);
}

int
rmdir(const char *path)
{
	REAL(int, rmdir, (const char *));
	return counts(path) && fires("rmdir", true, EIO) ? -1 : real(path);
}
