#include "store/webdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"

#define FILE_MODE 0644
#define DIRECTORY_MODE 0755
#define DEPTH_MAX 16	/* of directories that are removed with all in them */

/* New files have one name each, in the topmost directory: the lock makes sure
 * that there is one writer, and the next one finds what a dead one left. */
static const char *const new_names[KS_WEBDIR_KINDS] = {
	[KS_WEBDIR_FILE] = ".kistore-new",
	[KS_WEBDIR_PACK] = ".kistore-new.pack",
	[KS_WEBDIR_PACK_INDEX] = ".kistore-new.idx"
};

struct ks_webdir {
	struct ks_buf path;		/* as it was given */
	int root;
	bool root_changed;
	int at;				/* the directory in use, or -1 */
	struct ks_buf at_path;		/* "tile/0/", "" = the topmost */
	bool at_changed;
	struct ks_buf full;		/* for messages and names */
	struct ks_webdir_counts counts;
};

/* ---- names ----------------------------------------------------------- */

static const char *
full_name(struct ks_webdir *dir, const char *path)
{
	ks_buf_clear(&dir->full);
	ks_buf_printf(&dir->full, "%s/%s", ks_buf_cstr(&dir->path), path);
	return ks_buf_cstr(&dir->full);
}

static const char *
last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static enum ks_status
in_the_way(struct ks_webdir *dir, const char *path, const char *wanted,
	struct ks_error *err)
{
	return ks_fail(err, KS_IO, "%s: is in the way: it is not a %s "
		"(W4)", full_name(dir, path), wanted);
}

/* ---- directories ----------------------------------------------------- */

static enum ks_status
sync_directory(struct ks_webdir *dir, int fd, struct ks_error *err)
{
	return fsync(fd) == 0 ? KS_OK : ks_fail_errno(err,
		"%s: cannot flush to disk", ks_buf_cstr(&dir->path));
}

/* Leave the directory in use. */
static enum ks_status
leave(struct ks_webdir *dir, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (dir->at >= 0 && dir->at_changed)
		status = sync_directory(dir, dir->at, err);
	if (dir->at >= 0)
		(void)close(dir->at);
	dir->at = -1;
	dir->at_changed = false;
	ks_buf_clear(&dir->at_path);
	return status;
}

/* Open directory `name` in *fd, which is closed, and make it if that is
 * wanted. `path` is for messages. */
static enum ks_status
step_down(struct ks_webdir *dir, int *fd, const char *name, const char *path,
	bool make, struct ks_error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int next = openat(*fd, name, flags);
	enum ks_status status = KS_OK;

	if (next < 0 && errno == ENOENT && make) {
		if (mkdirat(*fd, name, DIRECTORY_MODE) != 0)
			return ks_fail_errno(err, "%s", full_name(dir, path));
		next = openat(*fd, name, flags);
		if (next >= 0 && fchmod(next, DIRECTORY_MODE) != 0)
			status = ks_fail_errno(err, "%s",
				full_name(dir, path));
		if (status == KS_OK)
			status = sync_directory(dir, *fd, err);
	}
	if (next < 0 && (errno == ENOTDIR || errno == ELOOP))
		return in_the_way(dir, path, "directory", err);
	if (next < 0)
		return ks_fail_errno(err, "%s", full_name(dir, path));
	(void)close(*fd);
	*fd = next;
	return status;
}

/* Go down `path`, all of whose components end in '/'. */
static enum ks_status
walk(struct ks_webdir *dir, struct ks_span path, bool make, int *fd,
	struct ks_error *err)
{
	struct ks_buf part = KS_BUF_INIT;
	size_t i, start = 0;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < path.len; i++) {
		const char *name;

		if (path.data[i] != '/')
			continue;
		ks_buf_clear(&part);
		ks_buf_append(&part, ks_span(path.data, i));
		name = ks_buf_cstr(&part);
		status = ks_buf_check(&part, err);
		if (status == KS_OK)
			status = step_down(dir, fd, name + start, name, make,
				err);
		start = i + 1;
	}
	ks_buf_release(&part);
	return status;
}

/* Go to the directory that `path` stands in. */
static enum ks_status
enter(struct ks_webdir *dir, const char *path, bool make,
	struct ks_error *err)
{
	struct ks_span parent = ks_span(path,
		(size_t)(last_name(path) - path));
	int fd;
	enum ks_status status;

	if (dir->at >= 0 && ks_span_equal(parent, ks_buf_span(&dir->at_path)))
		return KS_OK;
	status = leave(dir, err);
	if (status != KS_OK)
		return status;
	fd = openat(dir->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ks_fail_errno(err, "%s", ks_buf_cstr(&dir->path));
	status = walk(dir, parent, make, &fd, err);
	if (status == KS_OK) {
		ks_buf_append(&dir->at_path, parent);
		status = ks_buf_check(&dir->at_path, err);
	}
	if (status != KS_OK) {
		(void)close(fd);
		ks_buf_clear(&dir->at_path);
		return status;
	}
	dir->at = fd;
	return KS_OK;
}

/* ---- opening --------------------------------------------------------- */

/* What a dead writer left goes. */
static void
sweep(struct ks_webdir *dir)
{
	size_t i;

	for (i = 0; i < KS_WEBDIR_KINDS; i++)
		(void)unlinkat(dir->root, new_names[i], 0);
}

/* KS_NOT_FOUND where it is absent. */
static enum ks_status
open_root(struct ks_webdir *dir, const char *path, struct ks_error *err)
{
	dir->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->root < 0 && errno == ENOTDIR)
		return ks_fail(err, KS_INVALID, "%s: is not a directory",
			path);
	if (dir->root < 0)
		return ks_fail_errno(err, "%s", path);
	if (flock(dir->root, LOCK_EX | LOCK_NB) != 0)
		return errno != EWOULDBLOCK ? ks_fail_errno(err,
			"%s: cannot be locked", path) : ks_fail(err, KS_BUSY,
			"%s: another process is publishing here", path);
	return ks_file_sync_parent(path, err);
}

static enum ks_status
make_root(struct ks_webdir *dir, const char *path, struct ks_error *err)
{
	enum ks_status status;

	if (mkdir(path, DIRECTORY_MODE) != 0) {
		/* That its parent is absent is no "not found" of a store. */
		(void)ks_fail_errno(err, "%s: cannot be made", path);
		if (err != NULL)
			err->status = KS_IO;
		return KS_IO;
	}
	status = open_root(dir, path, err);
	if (status == KS_OK && fchmod(dir->root, DIRECTORY_MODE) != 0)
		status = ks_fail_errno(err, "%s", path);
	return status;
}

static enum ks_status
open_directory(struct ks_webdir **out, const char *path, bool make,
	struct ks_error *err)
{
	struct ks_webdir *dir = calloc(1, sizeof(*dir));
	enum ks_status status;

	*out = NULL;
	if (dir == NULL)
		return ks_fail_nomem(err);
	dir->root = -1;
	dir->at = -1;
	ks_buf_text(&dir->path, path);
	while (dir->path.len > 1 && dir->path.data[dir->path.len - 1] == '/')
		dir->path.len--;
	(void)ks_buf_cstr(&dir->path);
	status = ks_buf_check(&dir->path, err);
	if (status == KS_OK)
		status = open_root(dir, ks_buf_cstr(&dir->path), err);
	if (status == KS_NOT_FOUND && make)
		status = make_root(dir, ks_buf_cstr(&dir->path), err);
	if (status != KS_OK) {
		ks_webdir_close(dir);
		return status;
	}
	sweep(dir);
	*out = dir;
	return KS_OK;
}

enum ks_status
ks_webdir_open(struct ks_webdir **out, const char *path, struct ks_error *err)
{
	return open_directory(out, path, true, err);
}

enum ks_status
ks_webdir_find(struct ks_webdir **out, const char *path, struct ks_error *err)
{
	return open_directory(out, path, false, err);
}

void
ks_webdir_close(struct ks_webdir *dir)
{
	if (dir == NULL)
		return;
	if (dir->at >= 0)
		(void)close(dir->at);
	if (dir->root >= 0) {
		sweep(dir);
		(void)close(dir->root);
	}
	ks_buf_release(&dir->path);
	ks_buf_release(&dir->at_path);
	ks_buf_release(&dir->full);
	free(dir);
}

/* ---- reading --------------------------------------------------------- */

/* KS_NOT_FOUND, or KS_IO when it is no regular file. */
static enum ks_status
look(struct ks_webdir *dir, const char *path, struct stat *st,
	struct ks_error *err)
{
	enum ks_status status = enter(dir, path, false, err);

	if (status != KS_OK)
		return status;
	if (fstatat(dir->at, last_name(path), st, AT_SYMLINK_NOFOLLOW) != 0)
		return ks_fail_errno(err, "%s", full_name(dir, path));
	return S_ISREG(st->st_mode) ? KS_OK :
		in_the_way(dir, path, "regular file", err);
}

enum ks_status
ks_webdir_length(struct ks_webdir *dir, const char *path, uint64_t *length,
	struct ks_error *err)
{
	struct stat st;
	enum ks_status status = look(dir, path, &st, err);

	*length = status == KS_OK ? (uint64_t)st.st_size : 0;
	return status;
}

enum ks_status
ks_webdir_read(struct ks_webdir *dir, const char *path, uint64_t limit,
	struct ks_buf *out, struct ks_error *err)
{
	struct stat st;
	enum ks_status status = look(dir, path, &st, err);

	return status != KS_OK ? status : ks_file_read_at(dir->at,
		last_name(path), limit, out, err);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **list;
	size_t count, room;
};

static void
release_names(struct names *names)
{
	while (names->count > 0)
		free(names->list[--names->count]);
	free(names->list);
}

static enum ks_status
add_name(struct names *names, const char *name, struct ks_error *err)
{
	char **grown = ks_grow(names->list, names->count, &names->room,
		sizeof(*grown), err);
	char *copy;

	if (grown == NULL)
		return KS_NOMEM;
	names->list = grown;
	copy = strdup(name);
	if (copy == NULL)
		return ks_fail_nomem(err);
	grown[names->count++] = copy;
	return KS_OK;
}

/* The names in an open directory, which is closed. */
static enum ks_status
read_names(int fd, const char *path, struct names *names,
	struct ks_error *err)
{
	DIR *stream = fdopendir(fd);
	const struct dirent *entry;
	enum ks_status status = KS_OK;

	if (stream == NULL) {
		status = ks_fail_errno(err, "%s", path);
		(void)close(fd);
		return status;
	}
	for (;;) {
		errno = 0;
		entry = readdir(stream);
		if (entry == NULL)
			break;
		if (strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0)
			status = add_name(names, entry->d_name, err);
		if (status != KS_OK)
			break;
	}
	if (status == KS_OK && errno != 0)
		status = ks_fail_errno(err, "%s", path);
	(void)closedir(stream);
	if (status == KS_OK && names->count > 1)
		qsort(names->list, names->count, sizeof(*names->list),
			by_text);
	return status;
}

enum ks_status
ks_webdir_list(struct ks_webdir *dir, const char *path, struct ks_buf *names,
	struct ks_error *err)
{
	struct names found = { .count = 0 };
	struct ks_buf inside = KS_BUF_INIT;
	size_t i;
	int fd;
	enum ks_status status;

	ks_buf_printf(&inside, "%s%s", path, path[0] == '\0' ? "" : "/");
	(void)ks_buf_cstr(&inside);
	status = ks_buf_check(&inside, err);
	if (status == KS_OK)
		status = enter(dir, ks_buf_cstr(&inside), false, err);
	ks_buf_release(&inside);
	if (status != KS_OK)
		return status == KS_NOT_FOUND ? KS_OK : status;
	fd = openat(dir->at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ks_fail_errno(err, "%s", full_name(dir, path));
	status = read_names(fd, full_name(dir, path), &found, err);
	for (i = 0; i < found.count; i++)
		ks_buf_append(names, ks_span(found.list[i],
			strlen(found.list[i]) + 1));
	release_names(&found);
	return status == KS_OK ? ks_buf_check(names, err) : status;
}

/* ---- writing --------------------------------------------------------- */

const char *
ks_webdir_new_name(struct ks_webdir *dir, enum ks_webdir_new kind)
{
	return full_name(dir, new_names[kind]);
}

void
ks_webdir_drop(struct ks_webdir *dir, enum ks_webdir_new kind)
{
	(void)unlinkat(dir->root, new_names[kind], 0);
}

enum ks_status
ks_webdir_start(struct ks_webdir *dir, enum ks_webdir_new kind, int *fd,
	struct ks_error *err)
{
	ks_webdir_drop(dir, kind);
	*fd = openat(dir->root, new_names[kind], O_RDWR | O_CREAT | O_EXCL |
		O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (*fd < 0)
		return ks_fail_errno(err, "%s", full_name(dir,
			new_names[kind]));
	return KS_OK;
}

/* Flush the new file and give it its mode. */
static enum ks_status
settle(struct ks_webdir *dir, enum ks_webdir_new kind, struct ks_error *err)
{
	struct stat st;
	int fd = openat(dir->root, new_names[kind],
		O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	enum ks_status status = KS_OK;

	if (fd < 0 || fstat(fd, &st) != 0 || fchmod(fd, FILE_MODE) != 0 ||
		fsync(fd) != 0)
		status = ks_fail_errno(err, "%s", full_name(dir,
			new_names[kind]));
	else
		dir->counts.bytes += (uint64_t)st.st_size;
	if (fd >= 0)
		(void)close(fd);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

enum ks_status
ks_webdir_place(struct ks_webdir *dir, enum ks_webdir_new kind,
	const char *path, struct ks_error *err)
{
	enum ks_status status = enter(dir, path, true, err);

	if (status == KS_OK)
		status = settle(dir, kind, err);
	if (status != KS_OK)
		return status;
	if (renameat(dir->root, new_names[kind], dir->at, last_name(path)) !=
		0)
		return errno == EISDIR ? in_the_way(dir, path, "regular file",
			err) : ks_fail_errno(err, "%s", full_name(dir, path));
	dir->at_changed = true;
	dir->root_changed = true;
	dir->counts.written++;
	return KS_OK;
}

enum ks_status
ks_webdir_write(struct ks_webdir *dir, const char *path, struct ks_span bytes,
	struct ks_error *err)
{
	int fd = -1;
	enum ks_status status = ks_webdir_start(dir, KS_WEBDIR_FILE, &fd,
		err);

	if (status == KS_OK)
		status = ks_file_write(fd, full_name(dir, path), bytes, err);
	if (fd >= 0 && close(fd) != 0 && status == KS_OK)
		status = ks_fail_errno(err, "%s", full_name(dir, path));
	if (status == KS_OK)
		status = ks_webdir_place(dir, KS_WEBDIR_FILE, path, err);
	if (status != KS_OK)
		ks_webdir_drop(dir, KS_WEBDIR_FILE);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

enum ks_status
ks_webdir_update(struct ks_webdir *dir, const char *path,
	struct ks_span bytes, bool *written, struct ks_error *err)
{
	struct ks_buf old = KS_BUF_INIT;
	enum ks_status status = ks_webdir_read(dir, path, bytes.len, &old,
		err);
	bool differs = status == KS_NOT_FOUND || status == KS_INVALID ||
		(status == KS_OK && !ks_span_equal(ks_buf_span(&old), bytes));

	ks_buf_release(&old);
	if (written != NULL)
		*written = differs;
	return differs ? ks_webdir_write(dir, path, bytes, err) : status;
}

/* ---- removing -------------------------------------------------------- */

enum ks_status
ks_webdir_remove(struct ks_webdir *dir, const char *path,
	struct ks_error *err)
{
	enum ks_status status = enter(dir, path, false, err);

	if (status != KS_OK)
		return status == KS_NOT_FOUND ? KS_OK : status;
	if (unlinkat(dir->at, last_name(path), 0) == 0) {
		dir->at_changed = true;
		dir->counts.removed++;
		return KS_OK;
	}
	return errno == ENOENT ? KS_OK : ks_fail_errno(err, "%s",
		full_name(dir, path));
}

/* Remove all that is in `name` in `parent`, and itself. */
static enum ks_status
remove_tree(struct ks_webdir *dir, int parent, const char *name,
	unsigned depth, struct ks_error *err)
{
	struct names names = { .count = 0 };
	size_t i;
	int fd;
	enum ks_status status;

	if (unlinkat(parent, name, 0) == 0) {
		dir->counts.removed++;
		return KS_OK;
	}
	if (errno == ENOENT)
		return KS_OK;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		O_CLOEXEC);
	if (fd < 0 || depth == 0) {
		status = ks_fail_errno(err, "%s: cannot be removed", name);
		if (fd >= 0)
			(void)close(fd);
		return status;
	}
	status = read_names(dup(fd), name, &names, err);
	for (i = 0; status == KS_OK && i < names.count; i++)
		status = remove_tree(dir, fd, names.list[i], depth - 1, err);
	release_names(&names);
	(void)close(fd);
	if (status == KS_OK && unlinkat(parent, name, AT_REMOVEDIR) != 0)
		status = ks_fail_errno(err, "%s: cannot be removed", name);
	return status;
}

enum ks_status
ks_webdir_remove_all(struct ks_webdir *dir, const char *path,
	struct ks_error *err)
{
	enum ks_status status = enter(dir, path, false, err);
	const char *name = last_name(path);
	struct stat st;

	if (status != KS_OK)
		return status == KS_NOT_FOUND ? KS_OK : status;
	if (fstatat(dir->at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? KS_OK : ks_fail_errno(err, "%s",
			full_name(dir, path));
	dir->at_changed = true;
	return remove_tree(dir, dir->at, name, DEPTH_MAX, err);
}

/* ---- the end --------------------------------------------------------- */

enum ks_status
ks_webdir_flush(struct ks_webdir *dir, struct ks_error *err)
{
	enum ks_status status = leave(dir, err);

	if (status == KS_OK && dir->root_changed)
		status = sync_directory(dir, dir->root, err);
	dir->root_changed = false;
	return status;
}

struct ks_webdir_counts
ks_webdir_counts(const struct ks_webdir *dir)
{
	return dir->counts;
}
