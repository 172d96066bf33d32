#include "store/gitdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "format/layout.h"

/*
 * Files are compared and written byte for byte: no filter, no conversion of
 * line ends. Every directory on the way is opened without following symbolic
 * links, so that nothing outside of the work tree is read or written.
 *
 * git's index is changed in a copy, which replaces it while index.lock is
 * held: the lock file is one of ours (see ks_git_lock()).
 */

#define TEMPORARY ".kistore-new"
#define INDEX_LIMIT ((uint64_t)1 << 30)
#define NAME_SIZE 256

/* A place in the work tree: an open directory and a name in it. */
struct place {
	int dir;		/* -1: a directory on the way is absent */
	const char *name;
};

enum file_state {
	FILE_ABSENT,
	FILE_SAME,
	FILE_OTHER
};

/* Replace *dir by the directory `name` in it. */
static int
enter(int *dir, const char *name, bool make)
{
	int next = -1;

	if (!make || mkdirat(*dir, name, 0777) == 0 || errno == EEXIST)
		next = openat(*dir, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0)
		return -1;
	(void)close(*dir);
	*dir = next;
	return 0;
}

/* Go to the directory that `path` stands in; with `make`, make it. The caller
 * closes place->dir. */
static enum ks_status
walk(int *dir, const char *path, bool make, struct place *place,
	struct ks_error *err)
{
	char name[NAME_SIZE];
	const char *at = path;

	for (;;) {
		size_t len = strcspn(at, "/");

		if (len >= sizeof(name) ||
			!ks_git_name_is_safe(ks_span(at, len)))
			return ks_fail(err, KS_CORRUPT,
				"%s: is not a path for a work tree", path);
		if (at[len] == '\0')
			break;
		memcpy(name, at, len);
		name[len] = '\0';
		if (enter(dir, name, make) == 0) {
			at += len + 1;
			continue;
		}
		if (errno == ENOENT && !make)
			return KS_OK;
		if (errno == ENOTDIR || errno == ELOOP)
			return ks_fail(err, KS_BUSY, "%s: a file or symbolic "
				"link stands in for a directory", path);
		return ks_fail_errno(err, "%s", path);
	}
	*place = (struct place){ .dir = *dir, .name = at };
	*dir = -1;
	return KS_OK;
}

static enum ks_status
open_place(int root, const char *path, bool make, struct place *place,
	struct ks_error *err)
{
	int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);
	enum ks_status status;

	*place = (struct place){ .dir = -1, .name = path };
	if (dir < 0)
		return ks_fail_errno(err, "%s", path);
	status = walk(&dir, path, make, place, err);
	if (dir >= 0)
		(void)close(dir);
	return status;
}

static void
close_place(struct place *place)
{
	if (place->dir >= 0)
		(void)close(place->dir);
	place->dir = -1;
}

/* How the file at a place compares with a blob (zero = none). */
static enum file_state
file_state(const struct place *place, const struct ks_oid *oid)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct stat st;
	git_oid wanted = ks_git_oid(oid);
	git_oid found;
	enum file_state state = FILE_OTHER;

	if (place->dir < 0 || (fstatat(place->dir, place->name, &st,
		AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT))
		return FILE_ABSENT;
	if (!ks_oid_is_zero(oid) && ks_file_read_at(place->dir, place->name,
		KS_LIMIT_FRAME, &bytes, NULL) == KS_OK &&
		git_odb_hash(&found, ks_buf_cstr(&bytes), bytes.len,
		GIT_OBJECT_BLOB) == 0 && git_oid_equal(&found, &wanted))
		state = FILE_SAME;
	ks_buf_release(&bytes);
	return state;
}

static int
open_root(const struct ks_gitdb *db)
{
	return open(db->worktree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool
is_skipped(const git_index_entry *entry)
{
	return entry != NULL &&
		(entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
}

/* Whether the index has exactly this blob (zero = nothing) at a path. */
static bool
index_has(const git_index_entry *entry, const struct ks_oid *oid)
{
	git_oid wanted = ks_git_oid(oid);

	if (entry == NULL)
		return ks_oid_is_zero(oid);
	return git_oid_equal(&entry->id, &wanted);
}

static enum ks_status
check_path(struct ks_gitdb *db, git_index *index, int root,
	const struct ks_oid *tree, const char *path, struct ks_error *err)
{
	const git_index_entry *entry = git_index_get_bypath(index, path, 0);
	struct ks_git_entry in_head = { .mode = 0 };
	struct place place;
	enum file_state state;
	enum ks_status status = KS_NOT_FOUND;

	if (!ks_oid_is_zero(tree))
		status = ks_gitdb_find(db, tree, path, &in_head, err);
	if (status != KS_OK && status != KS_NOT_FOUND)
		return status;
	if (!index_has(entry, &in_head.oid))
		return ks_fail(err, KS_BUSY, "%s: is changed in git's index; "
			"commit that or reset it first", path);
	status = open_place(root, path, false, &place, err);
	if (status != KS_OK)
		return status;
	state = file_state(&place, &in_head.oid);
	close_place(&place);
	if (state == FILE_SAME || (state == FILE_ABSENT &&
		(entry == NULL || is_skipped(entry))))
		return KS_OK;
	if (entry == NULL)
		return ks_fail(err, KS_BUSY, "%s: is in the way in the work "
			"tree; move it elsewhere first", path);
	return ks_fail(err, KS_BUSY, "%s: is %s in the work tree; commit that "
		"or restore it first", path,
		state == FILE_ABSENT ? "deleted" : "modified");
}

enum ks_status
ks_gitdb_check_clean(struct ks_gitdb *db, const struct ks_git_head *head,
	const char *const *paths, size_t count, struct ks_error *err)
{
	struct ks_git_commit commit = { .time = 0 };
	git_index *index = NULL;
	char *name;
	enum ks_status status = KS_OK;
	int rc, root;
	size_t i;

	if (db->worktree == NULL)
		return KS_OK;
	if (!head->unborn)
		status = ks_gitdb_commit(db, &head->commit, &commit, err);
	if (status != KS_OK)
		return status;
	name = ks_git_join(db->gitdir, "index");
	if (name == NULL)
		return ks_fail_nomem(err);
	rc = git_index_open(&index, name);
	if (rc < 0)
		status = ks_git_fail(err, rc, KS_UNSUPPORTED, "%s", name);
	root = open_root(db);
	if (status == KS_OK && root < 0)
		status = ks_fail_errno(err, "%s", db->worktree);
	for (i = 0; i < count && status == KS_OK; i++)
		status = check_path(db, index, root, &commit.tree, paths[i],
			err);
	if (root >= 0)
		(void)close(root);
	git_index_free(index);
	free(name);
	return status;
}

struct checkout {
	struct ks_gitdb *db;
	git_index *index;
	int root;
};

/* Write a file beside its place and rename it there; `st` is what git's index
 * remembers of it. */
static enum ks_status
write_file(const struct place *place, const char *path, struct ks_span bytes,
	struct stat *st, struct ks_error *err)
{
	enum ks_status status;
	int fd;

	(void)unlinkat(place->dir, TEMPORARY, 0);
	fd = openat(place->dir, TEMPORARY,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return ks_fail_errno(err, "%s", path);
	status = ks_file_write(fd, path, bytes, err);
	if (status == KS_OK && (renameat(place->dir, TEMPORARY, place->dir,
		place->name) != 0 || fstat(fd, st) != 0))
		status = ks_fail_errno(err, "%s", path);
	if (close(fd) != 0 && status == KS_OK)
		status = ks_fail_errno(err, "%s", path);
	if (status != KS_OK)
		(void)unlinkat(place->dir, TEMPORARY, 0);
	return status;
}

/* git keeps 32 bits of each. */
static git_index_entry
make_entry(const char *path, const git_oid *id, const struct stat *st)
{
	return (git_index_entry){
		.ctime = { (int32_t)st->st_ctim.tv_sec,
			(uint32_t)st->st_ctim.tv_nsec },
		.mtime = { (int32_t)st->st_mtim.tv_sec,
			(uint32_t)st->st_mtim.tv_nsec },
		.dev = (uint32_t)st->st_dev,
		.ino = (uint32_t)st->st_ino,
		.mode = KS_GIT_MODE_FILE,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.file_size = (uint32_t)st->st_size,
		.id = *id,
		.path = path,
	};
}

static enum ks_status
index_failed(const char *path, int code, struct ks_error *err)
{
	return code < 0 ? ks_git_fail(err, code, KS_IO,
		"%s: cannot update git's index", path) : KS_OK;
}

/* It may be gone: a checkout that was cut off is done again from the start. */
static enum ks_status
remove_entry(struct checkout *checkout, const char *path,
	struct ks_error *err)
{
	int rc = git_index_remove(checkout->index, path, 0);

	return index_failed(path, rc == GIT_ENOTFOUND ? 0 : rc, err);
}

static enum ks_status
put_file(struct checkout *checkout, const struct place *place,
	const git_diff_file *file, struct ks_error *err)
{
	struct ks_oid oid = ks_git_oid_of(&file->id);
	struct ks_buf bytes = KS_BUF_INIT;
	struct stat st;
	git_index_entry entry;
	enum ks_status status;

	memset(&st, 0, sizeof(st));
	status = ks_gitdb_blob(checkout->db, &oid, KS_LIMIT_FRAME, false,
		&bytes, err);
	if (status == KS_OK)
		status = write_file(place, file->path, ks_buf_span(&bytes),
			&st, err);
	ks_buf_release(&bytes);
	if (status != KS_OK)
		return status;
	entry = make_entry(file->path, &file->id, &st);
	return index_failed(file->path, git_index_add(checkout->index, &entry),
		err);
}

/* git keeps no empty directories. */
static void
remove_empty_parents(int root, const char *path)
{
	char *parent = ks_git_join("", path);
	char *slash;

	while (parent != NULL && (slash = strrchr(parent, '/')) != NULL) {
		*slash = '\0';
		if (unlinkat(root, parent, AT_REMOVEDIR) != 0)
			break;
	}
	free(parent);
}

static enum ks_status
remove_file(struct checkout *checkout, const struct place *place,
	const char *path, struct ks_error *err)
{
	if (place->dir >= 0 && unlinkat(place->dir, place->name, 0) != 0 &&
		errno != ENOENT)
		return ks_fail_errno(err, "%s", path);
	remove_empty_parents(checkout->root, path);
	return remove_entry(checkout, path, err);
}

/* Change the index alone: for a path outside of a sparse checkout, and where
 * somebody changed the file meanwhile. There, git is made to look at the file
 * again, and shows the change as one that is not staged. */
static enum ks_status
change_index(struct checkout *checkout, const git_index_entry *old,
	const git_diff_delta *delta, struct ks_error *err)
{
	const char *path = delta->new_file.path;
	struct stat nothing;
	git_index_entry entry;

	if (delta->status == GIT_DELTA_DELETED)
		return remove_entry(checkout, path, err);
	memset(&nothing, 0, sizeof(nothing));
	entry = make_entry(path, &delta->new_file.id, &nothing);
	if (is_skipped(old)) {
		entry.flags = old->flags;
		entry.flags_extended = old->flags_extended;
	}
	return index_failed(path, git_index_add(checkout->index, &entry), err);
}

/* Whether the file at a place is as before (`old`) or as after. */
static bool
is_expected(const struct place *place, const struct ks_oid *old,
	const struct ks_oid *new)
{
	enum file_state state = file_state(place, old);

	if (state == FILE_ABSENT)
		return ks_oid_is_zero(old) || ks_oid_is_zero(new);
	return state == FILE_SAME || file_state(place, new) == FILE_SAME;
}

/* Bring one path over, if the index has it as before or as after. */
static enum ks_status
update_path(struct checkout *checkout, const git_diff_delta *delta,
	struct ks_error *err)
{
	const char *path = delta->new_file.path;
	bool removed = delta->status == GIT_DELTA_DELETED;
	struct ks_oid old = ks_git_oid_of(&delta->old_file.id);
	struct ks_oid new = ks_git_oid_of(&delta->new_file.id);
	const git_index_entry *entry = git_index_get_bypath(checkout->index,
		path, 0);
	struct place place;
	enum ks_status status;

	if ((!removed && delta->new_file.mode != KS_GIT_MODE_FILE) ||
		(!index_has(entry, &old) && !index_has(entry, &new)))
		return KS_OK;
	if (is_skipped(entry))
		return change_index(checkout, entry, delta, err);
	status = open_place(checkout->root, path, !removed, &place, err);
	if (status != KS_OK)
		return status;
	if (!is_expected(&place, &old, &new))
		status = change_index(checkout, entry, delta, err);
	else if (removed)
		status = remove_file(checkout, &place, path, err);
	else
		status = put_file(checkout, &place, &delta->new_file, err);
	close_place(&place);
	return status;
}

/* The tree of a commit, for libgit2; NULL for none. */
static int
lookup_tree(struct ks_gitdb *db, const struct ks_oid *commit, git_tree **tree)
{
	git_oid id = ks_git_oid(commit);
	git_commit *found = NULL;
	int rc;

	*tree = NULL;
	if (ks_oid_is_zero(commit))
		return 0;
	rc = git_commit_lookup(&found, db->repo, &id);
	if (rc == 0)
		rc = git_commit_tree(tree, found);
	git_commit_free(found);
	return rc;
}

static int
diff_commits(struct ks_gitdb *db, const struct ks_oid *from,
	const struct ks_oid *to, git_diff **diff)
{
	git_tree *old = NULL;
	git_tree *new = NULL;
	int rc = lookup_tree(db, from, &old);

	*diff = NULL;
	if (rc == 0)
		rc = lookup_tree(db, to, &new);
	if (rc == 0)
		rc = git_diff_tree_to_tree(diff, db->repo, old, new, NULL);
	git_tree_free(old);
	git_tree_free(new);
	return rc;
}

static enum ks_status
update_paths(struct checkout *checkout, const struct ks_oid *from,
	const struct ks_oid *to, struct ks_error *err)
{
	git_diff *diff;
	enum ks_status status = KS_OK;
	int rc = diff_commits(checkout->db, from, to, &diff);
	size_t count = rc < 0 ? 0 : git_diff_num_deltas(diff);
	size_t i;

	if (rc < 0)
		status = ks_git_fail(err, rc, KS_CORRUPT,
			"cannot compare two commits");
	for (i = 0; i < count && status == KS_OK; i++)
		status = update_path(checkout, git_diff_get_delta(diff, i),
			err);
	git_diff_free(diff);
	return status;
}

static enum ks_status
copy_file(const char *from, const char *to, struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	enum ks_status status;

	(void)unlink(to);
	status = ks_file_read_at(KS_FILE_CWD, from, INDEX_LIMIT, &bytes, err);
	if (status == KS_OK)
		status = ks_file_create(to, ks_buf_span(&bytes), 0666, err);
	else if (status == KS_NOT_FOUND)
		status = KS_OK;
	ks_buf_release(&bytes);
	return status;
}

/* Change the copy of git's index, and the files. */
static enum ks_status
update_copy(struct ks_gitdb *db, const char *copy, const struct ks_oid *from,
	const struct ks_oid *to, struct ks_error *err)
{
	struct checkout checkout = { .db = db, .root = open_root(db) };
	enum ks_status status = KS_OK;
	int rc;

	if (checkout.root < 0)
		return ks_fail_errno(err, "%s", db->worktree);
	rc = git_index_open(&checkout.index, copy);
	if (rc < 0)
		status = ks_git_fail(err, rc, KS_UNSUPPORTED, "git's index");
	if (status == KS_OK)
		status = update_paths(&checkout, from, to, err);
	rc = status == KS_OK ? git_index_write(checkout.index) : 0;
	if (rc < 0)
		status = ks_git_fail(err, rc, KS_IO, "git's index");
	git_index_free(checkout.index);
	(void)close(checkout.root);
	return status;
}

/* With index.lock held. */
static enum ks_status
replace_index(struct ks_gitdb *db, const char *index, const char *copy,
	const struct ks_oid *from, const struct ks_oid *to,
	struct ks_error *err)
{
	enum ks_status status = copy_file(index, copy, err);

	if (status == KS_OK)
		status = update_copy(db, copy, from, to, err);
	if (status == KS_OK) {
		ks_gitdb_share(db, copy);
		if (rename(copy, index) != 0)
			status = ks_fail_errno(err, "%s", index);
	}
	(void)unlink(copy);
	return status;
}

enum ks_status
ks_git_index_lock(const struct ks_gitdb *db, const struct ks_oid *commit,
	struct ks_error *err)
{
	char content[KS_OID_HEX + 2];
	char *index = ks_git_join(db->gitdir, "index");
	enum ks_status status;

	(void)ks_oid_print(commit, content);
	content[KS_OID_HEX] = '\n';
	content[KS_OID_HEX + 1] = '\0';
	status = index == NULL ? ks_fail_nomem(err) :
		ks_git_lock(db, index, content, err);
	free(index);
	return status;
}

void
ks_git_index_unlock(const struct ks_gitdb *db)
{
	char *lock = ks_git_join(db->gitdir, "index.lock");

	if (lock != NULL)
		(void)unlink(lock);
	free(lock);
}

enum ks_status
ks_git_checkout(struct ks_gitdb *db, const struct ks_oid *from,
	const struct ks_oid *to, struct ks_error *err)
{
	char *index = ks_git_join(db->gitdir, "index");
	char *copy = ks_git_join(db->gitdir, KS_GIT_INDEX_COPY);
	enum ks_status status = KS_OK;

	if (index == NULL || copy == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = replace_index(db, index, copy, from, to, err);
	free(index);
	free(copy);
	return status;
}
