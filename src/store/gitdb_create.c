#include "store/gitdb_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "format/layout.h"

#define FIRST_BRANCH "main"
#define CREATE_DEPTH 32

/* The names in `path` other than "." and "..": 0, 1 (or more), -1 when it
 * cannot be read as a directory. */
static int
count_names(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int count = 0;

	if (dir == NULL)
		return -1;
	while (count == 0 && (entry = readdir(dir)) != NULL)
		count += strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0;
	(void)closedir(dir);
	return count;
}

/* Removing: what is deeper than that is moved up first, for names come from
 * anybody (a tag may be snapshot/1/2/3/4…). */
struct removal {
	const char *root, *prefix;
	unsigned moved;
};

static bool
move_up(struct removal *removal, const char *path)
{
	char name[4096];
	int n = snprintf(name, sizeof(name), "%s/%sdeep-%u", removal->root,
		removal->prefix == NULL ? "" : removal->prefix,
		removal->moved);

	if (n < 0 || (size_t)n >= sizeof(name) || rename(path, name) != 0)
		return false;
	removal->moved++;
	return true;
}

static void
remove_at(struct removal *removal, const char *path, int depth)
{
	const char *prefix = depth == 0 ? removal->prefix : NULL;
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char name[4096];
		struct stat st;
		int n = snprintf(name, sizeof(name), "%s/%s", path,
			entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0 || n < 0 ||
			(size_t)n >= sizeof(name) || lstat(name, &st) != 0 ||
			(prefix != NULL && strncmp(entry->d_name, prefix,
			strlen(prefix)) != 0))
			continue;
		if (S_ISDIR(st.st_mode) && depth == CREATE_DEPTH) {
			if (move_up(removal, name))
				continue;
		} else if (S_ISDIR(st.st_mode)) {
			remove_at(removal, name, depth + 1);
		}
		(void)remove(name);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

void
ks_git_remove_below(const char *path, const char *prefix)
{
	struct removal removal = { .root = path, .prefix = prefix };
	unsigned before;

	do {
		before = removal.moved;
		remove_at(&removal, path, 0);
	} while (removal.moved > before);
}

/* Make `path` and the directories above it; *made is the length of the
 * topmost one that was not there, or 0. */
static enum ks_status
make_directories(const char *path, size_t *made, struct ks_error *err)
{
	char *part = ks_git_join("", path);
	size_t len = strlen(path);
	enum ks_status status = KS_OK;
	size_t i;

	*made = 0;
	if (part == NULL)
		return ks_fail_nomem(err);
	for (i = 1; i <= len && status == KS_OK; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		part[i] = '\0';
		if (mkdir(part, 0777) == 0)
			*made = *made == 0 ? i : *made;
		else if (errno != EEXIST)
			status = ks_fail_errno(err, "%s", part);
		part[i] = path[i];
	}
	free(part);
	return status;
}

/* Flush what init wrote: a repository whose HEAD is lost in a power cut takes
 * with it what was put later. */
static enum ks_status
sync_new(const struct ks_gitdb *db, struct ks_error *err)
{
	static const char *const names[] = { "HEAD", "config",
		"info/attributes", "info", "objects/pack", "objects",
		"refs/heads", "refs", "" };
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && status == KS_OK;
		i++) {
		char *path = ks_git_join(db->directory, names[i]);

		status = path == NULL ? ks_fail_nomem(err) :
			ks_file_sync(path, err);
		free(path);
	}
	if (status == KS_OK && db->worktree != NULL)
		status = ks_file_sync(db->worktree, err);
	return status;
}

static enum ks_status
write_attributes(struct ks_gitdb *db, struct ks_error *err)
{
	char *info = ks_git_join(db->directory, "info");
	char *path = ks_git_join(db->directory, "info/attributes");
	enum ks_status status = KS_OK;

	if (info == NULL || path == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = ks_git_mkdir(db, info, err);
	if (status == KS_OK)
		status = ks_file_replace(path,
			ks_span_text(ks_layout_attributes), 0666, err);
	free(info);
	free(path);
	return status;
}

static enum ks_status
create_in(struct ks_gitdb **out, const char *path, bool worktree,
	struct ks_error *err)
{
	git_repository_init_options options = {
		.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION,
		.flags = GIT_REPOSITORY_INIT_NO_REINIT |
			(worktree ? 0 : GIT_REPOSITORY_INIT_BARE),
		.initial_head = FIRST_BRANCH,
	};
	git_repository *repo = NULL;
	struct ks_gitdb *db = NULL;
	enum ks_status status;
	int rc;

	rc = git_repository_init_ext(&repo, path, &options);
	if (rc < 0)
		return ks_git_fail(err, rc, KS_IO, "cannot create %s", path);
	status = ks_git_wrap(&db, repo, err);
	if (status == KS_OK) {
		db->created = ks_git_join("", path);
		if (db->created == NULL)
			status = ks_fail_nomem(err);
	}
	if (status == KS_OK)
		status = write_attributes(db, err);
	if (status == KS_OK)
		status = sync_new(db, err);
	if (status == KS_OK)
		*out = db;
	else
		ks_gitdb_close(db);
	return status;
}

static enum ks_status
check_empty(const char *path, struct ks_error *err)
{
	int count = count_names(path);

	if (count < 0)
		return ks_fail_errno(err, "%s", path);
	if (count > 0)
		return ks_fail(err, KS_EXISTS, "%s: exists and is not empty",
			path);
	return KS_OK;
}

/* Remove `path` and the directories above it, down to the first `made` bytes;
 * they are empty, or stay. */
static void
remove_directories(const char *path, size_t made)
{
	char *part = ks_git_join("", path);
	size_t len = strlen(path);

	while (part != NULL && made > 0 && len >= made) {
		part[len] = '\0';
		(void)rmdir(part);
		while (len > 0 && part[len] != '/')
			len--;
	}
	free(part);
}

enum ks_status
ks_gitdb_create(struct ks_gitdb **out, const char *path, bool worktree,
	struct ks_error *err)
{
	enum ks_status status;
	size_t made = 0;

	*out = NULL;
	status = ks_git_start(err);
	if (status == KS_OK)
		status = make_directories(path, &made, err);
	if (status == KS_OK)
		status = check_empty(path, err);
	if (status == KS_OK) {
		status = create_in(out, path, worktree, err);
		if (status != KS_OK)
			ks_git_remove_below(path, NULL);
	}
	if (status != KS_OK)
		remove_directories(path, made);
	else if (*out != NULL)
		(*out)->made = made;
	return status;
}

enum ks_status
ks_gitdb_claim(struct ks_gitdb *db, const char *path, struct ks_error *err)
{
	db->created = ks_git_join("", path);
	return db->created == NULL ? ks_fail_nomem(err) : KS_OK;
}

void
ks_gitdb_discard(struct ks_gitdb *db)
{
	char *path = db->created;
	size_t made = db->made;

	db->created = NULL;
	ks_gitdb_close(db);
	ks_git_remove_below(path, NULL);
	remove_directories(path, made);
	free(path);
}
