/*
 * What tests of the store share: a directory of their own, which is the
 * current one, without anybody's git configuration, and commits made by hand.
 *
 * For cmocka programs, which include their own headers first.
 */
#ifndef TESTS_LIB_SCRATCH_H
#define TESTS_LIB_SCRATCH_H

#include <sys/stat.h>
#include <unistd.h>

#include "shell.h"
#include "store/gitdb.h"
#include "store/lock.h"

static char scratch_directory[64];
static char scratch_before[4096];

/* Fixtures of cmocka: the directory alone. */
static inline int
scratch_enter(void **state)
{
	(void)state;
	/* In memory where there is such a place: fsync is free there. */
	(void)snprintf(scratch_directory, sizeof(scratch_directory),
		"%s/kistore-test-XXXXXX", access("/dev/shm", W_OK) == 0 ?
		"/dev/shm" : "/tmp");
	return getcwd(scratch_before, sizeof(scratch_before)) == NULL ||
		mkdtemp(scratch_directory) == NULL ||
		chdir(scratch_directory) != 0;
}

/* The directory, and what git goes by. */
static inline int
scratch_setup(void **state)
{
	if (scratch_enter(state) != 0)
		return 1;
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	(void)setenv("GIT_AUTHOR_NAME", "Tester", 1);
	(void)setenv("GIT_AUTHOR_EMAIL", "tester@example.org", 1);
	(void)setenv("GIT_COMMITTER_NAME", "Tester", 1);
	(void)setenv("GIT_COMMITTER_EMAIL", "tester@example.org", 1);
	return setenv("HOME", scratch_directory, 1);
}

static inline int
scratch_teardown(void **state)
{
	char command[256];

	(void)state;
	(void)snprintf(command, sizeof(command), "chmod -R u+w %s; rm -rf %s",
		scratch_directory, scratch_directory);
	return chdir(scratch_before) != 0 || system(command) != 0;
}

/* Make or replace a file. */
static inline void
scratch_write(const char *path, struct ks_span bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, bytes.len, file), bytes.len);
	assert_int_equal(fclose(file), 0);
}

/* A new, empty bare repository. */
static inline struct ks_gitdb *
scratch_repository(const char *path)
{
	struct ks_gitdb *db = NULL;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_gitdb_create(&db, path, false, &err) != KS_OK)
		fail_msg("%s", err.message);
	return db;
}

static inline struct ks_gitdb *
scratch_open(const char *path)
{
	struct ks_gitdb *db = NULL;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_gitdb_open(&db, path, false, &err) != KS_OK)
		fail_msg("%s", err.message);
	return db;
}

/* A file of the tree; bytes NULL take it out. */
struct scratch_edit {
	const char *path;
	struct ks_span bytes;
};

#define SCRATCH_EDITS 64

/* The newest commit and its tree. */
static inline void
scratch_head(struct ks_gitdb *db, struct ks_oid *commit, struct ks_oid *tree)
{
	struct ks_git_head head;
	struct ks_git_commit found;

	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	assert_int_equal(ks_gitdb_commit(db, &head.commit, &found, NULL),
		KS_OK);
	*commit = head.commit;
	*tree = found.tree;
}

/* Commit `count` changes, which stand in git's order of paths, on top of HEAD,
 * dated `time`; the commit's id. */
static inline struct ks_oid
scratch_commit(struct ks_gitdb *db, const struct scratch_edit *edits,
	size_t count, int64_t time)
{
	struct ks_git_change changes[SCRATCH_EDITS];
	struct ks_git_writer *writer = NULL;
	struct ks_lock lock = KS_LOCK_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_git_commit old;
	struct ks_git_head head;
	struct ks_oid tree;
	struct ks_oid commit = { .bytes = { 0 } };
	size_t i;
	enum ks_status status;

	memset(&old, 0, sizeof(old));
	memset(changes, 0, sizeof(changes));
	assert_true(count <= SCRATCH_EDITS);
	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	if (!head.unborn)
		assert_int_equal(ks_gitdb_commit(db, &head.commit, &old, NULL),
			KS_OK);
	status = ks_lock_take(&lock, ks_gitdb_directory(db), 0, NULL, &err);
	if (status == KS_OK)
		status = ks_gitdb_begin(&writer, db, count, &err);
	for (i = 0; status == KS_OK && i < count; i++) {
		changes[i].path = edits[i].path;
		if (edits[i].bytes.data != NULL)
			status = ks_gitdb_add(writer, edits[i].bytes, false,
				&changes[i].oid, &err);
	}
	if (status == KS_OK)
		status = ks_gitdb_tree(writer, &old.tree, changes, count,
			&tree, &err);
	if (status == KS_OK)
		status = ks_gitdb_finish(writer, &tree, &head, "by hand\n",
			time, &commit, &err);
	if (status == KS_OK)
		status = ks_gitdb_publish(writer, &err);
	ks_gitdb_end(writer);
	ks_lock_release(&lock);
	if (status != KS_OK)
		fail_msg("%s", err.message);
	return commit;
}

#endif
