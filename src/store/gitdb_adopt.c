/*
 * A repository aside: inside the directory of another, whose objects it has,
 * too, as an alternate. What is fetched there is seen by nobody else until it
 * is adopted.
 */
#include "store/gitdb_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define ASIDE KS_GIT_PRIVATE "incoming"
#define ALTERNATES "objects/info/alternates"
#define OUR_OBJECTS "../../objects\n"	/* from the objects aside */
#define ACCEPTED "refs/kistore/accepted"

/* ---- making and removing it ------------------------------------------ */

/* What is no directory goes: a link may lead anywhere. */
static void
clear_way(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		(void)unlink(path);
}

static void
remove_below(const char *path, const char *prefix)
{
	clear_way(path);
	ks_git_remove_below(path, prefix);
}

/* What git left there when it died: its locks, and half of what it fetched.
 * References are fetched again; objects that are whole stay. */
static void
sweep_aside(const char *path)
{
	static const char *const names[] = { "/packed-refs",
		"/packed-refs.lock", "/HEAD.lock", "/config.lock",
		"/shallow.lock" };
	struct ks_buf name = KS_BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *file = ks_git_join(path, names[i]);

		if (file != NULL)
			(void)unlink(file);
		free(file);
	}
	ks_buf_printf(&name, "%s/refs", path);
	if (ks_buf_check(&name, NULL) == KS_OK)
		remove_below(ks_buf_cstr(&name), NULL);
	ks_buf_clear(&name);
	ks_buf_printf(&name, "%s/objects/pack", path);
	if (ks_buf_check(&name, NULL) == KS_OK)
		remove_below(ks_buf_cstr(&name), "tmp_");
	ks_buf_release(&name);
}

static enum ks_status
open_or_create(struct ks_gitdb **out, const char *path, struct ks_error *err)
{
	struct ks_gitdb *found = NULL;

	clear_way(path);
	sweep_aside(path);
	if (ks_gitdb_open(&found, path, false, NULL) == KS_OK) {
		*out = found;
		return KS_OK;
	}
	ks_git_remove_below(path, NULL);
	return ks_gitdb_create(out, path, false, err);
}

static enum ks_status
write_alternates(struct ks_gitdb *aside, struct ks_error *err)
{
	char *info = ks_git_join(aside->objects, "info");
	char *path = ks_git_join(aside->directory, ALTERNATES);
	enum ks_status status = info == NULL || path == NULL ?
		ks_fail_nomem(err) : ks_git_mkdir(aside, info, err);

	if (status == KS_OK)
		status = ks_file_replace(path, ks_span_text(OUR_OBJECTS), 0666,
			err);
	free(info);
	free(path);
	return status;
}

/* What is there needs not be fetched. */
static enum ks_status
name_accepted(struct ks_gitdb *aside, const struct ks_oid *commit,
	struct ks_error *err)
{
	git_reference *reference = NULL;
	git_oid oid = ks_git_oid(commit);
	int rc = git_reference_create(&reference, aside->repo, ACCEPTED, &oid,
		1, NULL);

	git_reference_free(reference);
	return rc < 0 ? ks_git_fail(err, rc, KS_IO, ACCEPTED) : KS_OK;
}

enum ks_status
ks_gitdb_aside(struct ks_gitdb **out, struct ks_gitdb *db,
	struct ks_error *err)
{
	char *path = ks_git_join(db->directory, ASIDE);
	struct ks_gitdb *aside = NULL;
	struct ks_git_head head;
	enum ks_status status = path == NULL ? ks_fail_nomem(err) :
		ks_gitdb_head(db, &head, err);

	*out = NULL;
	if (status == KS_OK)
		status = open_or_create(&aside, path, err);
	if (status == KS_OK)
		status = write_alternates(aside, err);
	ks_gitdb_close(aside);
	aside = NULL;
	/* libgit2 reads alternates when it opens. */
	if (status == KS_OK)
		status = ks_gitdb_open(&aside, path, false, err);
	if (status == KS_OK && !head.unborn)
		status = name_accepted(aside, &head.commit, err);
	free(path);
	if (status != KS_OK)
		ks_gitdb_close(aside);
	else
		*out = aside;
	return status;
}

bool
ks_gitdb_has_aside(const struct ks_gitdb *db)
{
	char *path = ks_git_join(db->directory, ASIDE);
	bool there = path != NULL && access(path, F_OK) == 0;

	free(path);
	return there;
}

void
ks_gitdb_remove_aside(const struct ks_gitdb *db)
{
	char *path = ks_git_join(db->directory, ASIDE);

	if (path != NULL) {
		remove_below(path, NULL);
		(void)remove(path);
	}
	free(path);
}

/* ---- adopting what it has -------------------------------------------- */

/* From one directory to the other; what is there already stays. */
static enum ks_status
move_file(struct ks_gitdb *db, const char *from, const char *to,
	const char *name, struct ks_error *err)
{
	char *source = ks_git_join(from, name);
	char *target = ks_git_join(to, name);
	enum ks_status status = source == NULL || target == NULL ?
		ks_fail_nomem(err) : KS_OK;

	if (status == KS_OK && access(target, F_OK) != 0) {
		status = ks_file_sync(source, err);
		if (status == KS_OK && rename(source, target) != 0)
			status = ks_fail_errno(err, "%s", target);
		if (status == KS_OK)
			ks_gitdb_share(db, target);
	}
	free(source);
	free(target);
	return status;
}

typedef bool name_fn(const char *name);

static bool
is_pack(const char *name)
{
	return strncmp(name, "pack-", 5) == 0 && ks_git_ends_in(name, ".pack");
}

static bool
is_reverse_index(const char *name)
{
	return strncmp(name, "pack-", 5) == 0 && ks_git_ends_in(name, ".rev");
}

static bool
is_index(const char *name)
{
	return strncmp(name, "pack-", 5) == 0 && ks_git_ends_in(name, ".idx");
}

static bool
is_loose(const char *name)
{
	return strlen(name) == KS_OID_HEX - 2 &&
		strspn(name, "0123456789abcdef") == KS_OID_HEX - 2;
}

/* All files of one form. */
static enum ks_status
move_files(struct ks_gitdb *db, const char *from, const char *to,
	name_fn *wanted, struct ks_error *err)
{
	DIR *dir = opendir(from);
	const struct dirent *entry;
	enum ks_status status = KS_OK;

	if (dir == NULL)
		return ks_fail_errno(err, "%s", from);
	while (status == KS_OK && (entry = readdir(dir)) != NULL)
		if (wanted(entry->d_name))
			status = move_file(db, from, to, entry->d_name, err);
	(void)closedir(dir);
	return status;
}

/* The index comes last, for it is what makes a pack one. */
static enum ks_status
move_packs(struct ks_gitdb *db, const char *from, const char *to,
	struct ks_error *err)
{
	enum ks_status status = move_files(db, from, to, is_pack, err);

	if (status == KS_OK)
		status = move_files(db, from, to, is_reverse_index, err);
	if (status == KS_OK)
		status = ks_file_sync(to, err);
	if (status == KS_OK)
		status = move_files(db, from, to, is_index, err);
	return status == KS_OK ? ks_file_sync(to, err) : status;
}

/* objects/xx/ */
static enum ks_status
move_loose(struct ks_gitdb *db, const char *from, const char *to,
	struct ks_error *err)
{
	enum ks_status status = ks_git_mkdir(db, to, err);

	if (status == KS_OK)
		status = move_files(db, from, to, is_loose, err);
	return status == KS_OK ? ks_file_sync(to, err) : status;
}

static enum ks_status
move_directory(struct ks_gitdb *db, const char *aside, const char *name,
	struct ks_error *err)
{
	bool packs = strcmp(name, "pack") == 0;
	struct ks_buf from = KS_BUF_INIT, to = KS_BUF_INIT;
	enum ks_status status;

	if (!packs && (strlen(name) != 2 || strspn(name,
		"0123456789abcdef") != 2))
		return KS_OK;
	ks_buf_printf(&from, "%s%s/", aside, name);
	ks_buf_printf(&to, "%s%s/", db->objects, name);
	(void)ks_buf_cstr(&from);
	(void)ks_buf_cstr(&to);
	status = ks_buf_check(&from, err);
	if (status == KS_OK)
		status = ks_buf_check(&to, err);
	if (status == KS_OK)
		status = packs ? move_packs(db, ks_buf_cstr(&from),
			ks_buf_cstr(&to), err) : move_loose(db,
			ks_buf_cstr(&from), ks_buf_cstr(&to), err);
	ks_buf_release(&from);
	ks_buf_release(&to);
	return status;
}

enum ks_status
ks_gitdb_adopt(struct ks_gitdb *db, const struct ks_gitdb *aside,
	struct ks_error *err)
{
	DIR *dir = opendir(aside->objects);
	const struct dirent *entry;
	enum ks_status status = KS_OK;
	int rc;

	if (dir == NULL)
		return ks_fail_errno(err, "%s", aside->objects);
	while (status == KS_OK && (entry = readdir(dir)) != NULL)
		status = move_directory(db, aside->objects, entry->d_name,
			err);
	(void)closedir(dir);
	if (status == KS_OK)
		status = ks_file_sync(db->objects, err);
	if (status != KS_OK)
		return status == KS_NOT_FOUND ? KS_IO : status;
	rc = git_odb_refresh(db->odb);
	return rc < 0 ? ks_git_fail(err, rc, KS_IO, "%s", db->objects) : KS_OK;
}
