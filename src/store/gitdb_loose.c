/*
 * Looking at a loose object before libgit2 does.
 *
 * libgit2 1.5 never comes back from a loose object whose zlib stream is
 * damaged or cut short, waits in open() for the writer of a FIFO, and follows
 * symbolic links. So what stands at the path of a loose object must be a plain
 * file with one sound zlib stream, or it is damage (store-layout.md G3). The
 * check is a backend that libgit2 asks before all others: it either fails or
 * passes the question on. An object in a pack is read from there, so nothing
 * is looked for; loose objects of alternates are not looked at.
 */
#include "store/gitdb_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <git2/sys/odb_backend.h>

#include "store/gitdb_deflate.h"

/* Greater than those of packs (2) and loose objects (1). */
#define PRIORITY 100

/* More than any object that is read; blobs have limits of their own. */
#define LENGTH_MAX ((uint64_t)128 << 20)

struct guard {
	git_odb_backend backend;
	git_odb_backend **packs;
	size_t pack_count;
	char *path;		/* of the objects, and room for a name */
	size_t stem;
};

#define NAME_SIZE (KS_OID_HEX + 2)

static bool
is_packed(const struct guard *guard, const git_oid *id)
{
	size_t i;

	for (i = 0; i < guard->pack_count; i++)
		if (guard->packs[i]->exists(guard->packs[i], id) == 1)
			return true;
	return false;
}

/* Open a plain file without waiting and without following a link; -1 and
 * KS_OK when there is none. */
static enum ks_status
open_plain(const char *path, int *out, struct ks_error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	*out = -1;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return KS_OK;
	if (fd < 0 && errno != ELOOP && errno != ENXIO)
		return ks_fail_errno(err, "cannot open it");
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			(void)close(fd);
		return ks_fail(err, KS_CORRUPT, "is not a plain file");
	}
	*out = fd;
	return KS_OK;
}

/* Say no to libgit2, or let it go on. An error of the system keeps errno. */
static int
answer(const struct guard *guard, enum ks_status status,
	const struct ks_error *err)
{
	char text[2 * KS_ERROR_MESSAGE_MAX];
	int code = errno;

	if (status == KS_OK)
		return GIT_PASSTHROUGH;
	(void)snprintf(text, sizeof(text), "%s: %s", guard->path,
		err->message);
	git_error_set_str(status == KS_NOMEM ? GIT_ERROR_NOMEMORY :
		status == KS_IO ? GIT_ERROR_OS : GIT_ERROR_ODB, text);
	errno = status == KS_CORRUPT ? 0 : code;
	return GIT_ERROR;
}

static int
check(struct guard *guard, const git_oid *id, bool whole)
{
	struct ks_oid oid = ks_git_oid_of(id);
	struct ks_error err = KS_ERROR_INIT;
	char hex[KS_OID_HEX + 1];
	enum ks_status status;
	int fd;

	if (is_packed(guard, id))
		return GIT_PASSTHROUGH;
	(void)ks_oid_print(&oid, hex);
	(void)snprintf(guard->path + guard->stem, NAME_SIZE, "%.2s/%s", hex,
		hex + 2);
	status = open_plain(guard->path, &fd, &err);
	if (status == KS_OK && fd >= 0) {
		if (whole)
			status = ks_inflate_check(fd, LENGTH_MAX, &err);
		(void)close(fd);
	}
	return answer(guard, status, &err);
}

static int
guard_read(void **data, size_t *len, git_object_t *type,
	git_odb_backend *backend, const git_oid *id)
{
	(void)data;
	(void)len;
	(void)type;
	return check((struct guard *)backend, id, true);
}

static int
guard_read_header(size_t *len, git_object_t *type, git_odb_backend *backend,
	const git_oid *id)
{
	(void)len;
	(void)type;
	return check((struct guard *)backend, id, false);
}

static void
guard_free(git_odb_backend *backend)
{
	struct guard *guard = (struct guard *)backend;

	free(guard->packs);
	free(guard->path);
	free(guard);
}

/* Note the backends that are there, of which only those of packs can be
 * written a pack into. Asked for now, because libgit2 holds its lock while it
 * asks the guard. */
static enum ks_status
find_packs(struct guard *guard, git_odb *odb, struct ks_error *err)
{
	size_t i, count = git_odb_num_backends(odb);
	git_odb_backend *backend;

	guard->packs = calloc(count + 1, sizeof(guard->packs[0]));
	if (guard->packs == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < count; i++)
		if (git_odb_get_backend(&backend, odb, i) == 0 &&
			backend->writepack != NULL && backend->exists != NULL)
			guard->packs[guard->pack_count++] = backend;
	return KS_OK;
}

static enum ks_status
make_path(struct guard *guard, const char *objects, struct ks_error *err)
{
	guard->stem = strlen(objects);
	guard->path = malloc(guard->stem + NAME_SIZE);
	if (guard->path == NULL)
		return ks_fail_nomem(err);
	memcpy(guard->path, objects, guard->stem + 1);
	return KS_OK;
}

/* Whether there are any loose objects: a directory named by two hex digits.
 * After a bulk load or `kistore gc` there is none. What others write later is
 * not damage. */
static bool
has_loose(const char *objects)
{
	DIR *dir = opendir(objects);
	const struct dirent *entry;
	bool found = false;

	if (dir == NULL)
		return true;
	while (!found && (entry = readdir(dir)) != NULL)
		found = strlen(entry->d_name) == 2 &&
			strspn(entry->d_name, "0123456789abcdef") == 2;
	(void)closedir(dir);
	return found;
}

static enum ks_status
add_guard(struct ks_gitdb *db, struct ks_error *err)
{
	struct guard *guard = calloc(1, sizeof(*guard));
	enum ks_status status = guard == NULL ? ks_fail_nomem(err) :
		find_packs(guard, db->odb, err);
	int rc;

	if (guard == NULL)
		return status;
	if (status == KS_OK)
		status = make_path(guard, db->objects, err);
	guard->backend.version = GIT_ODB_BACKEND_VERSION;
	guard->backend.read = guard_read;
	guard->backend.read_header = guard_read_header;
	guard->backend.free = guard_free;
	rc = status == KS_OK ? git_odb_add_backend(db->odb, &guard->backend,
		PRIORITY) : 0;
	if (rc < 0)
		status = ks_git_fail(err, rc, KS_IO, "git's object database");
	if (status != KS_OK)
		guard_free(&guard->backend);
	return status;
}

enum ks_status
ks_git_guard_loose(struct ks_gitdb *db, struct ks_error *err)
{
	return has_loose(db->objects) ? add_guard(db, err) : KS_OK;
}
