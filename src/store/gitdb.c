#include "store/gitdb_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/hex.h"

#define BRANCHES "refs/heads/"
#define SYMREF_DEPTH 5

bool
ks_oid_equal(const struct ks_oid *a, const struct ks_oid *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool
ks_oid_is_zero(const struct ks_oid *oid)
{
	static const struct ks_oid zero;

	return ks_oid_equal(oid, &zero);
}

char *
ks_oid_print(const struct ks_oid *oid, char out[KS_OID_HEX + 1])
{
	ks_hex_encode(ks_span(oid->bytes, sizeof(oid->bytes)), out);
	out[KS_OID_HEX] = '\0';
	return out;
}

bool
ks_oid_parse(struct ks_oid *oid, const char *hex)
{
	return ks_hex_decode(ks_span_text(hex), oid->bytes,
		sizeof(oid->bytes));
}

bool
ks_oid_read(struct ks_oid *oid, struct ks_span text)
{
	return text.len >= KS_OID_HEX && ks_hex_decode(ks_span(text.data,
		KS_OID_HEX), oid->bytes, sizeof(oid->bytes));
}

static enum ks_status
status_of(int code, int klass, enum ks_status otherwise)
{
	if (klass == GIT_ERROR_NOMEMORY)
		return KS_NOMEM;
	if (code == GIT_ELOCKED)
		return KS_BUSY;
	return klass == GIT_ERROR_OS ? KS_IO : otherwise;
}

enum ks_status
ks_git_fail(struct ks_error *err, int code, enum ks_status otherwise,
	const char *format, ...)
{
	const git_error *last = git_error_last();
	char text[KS_ERROR_MESSAGE_MAX / 2];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return ks_fail(err,
		status_of(code, last == NULL ? 0 : last->klass, otherwise),
		"%s: %s", text, last == NULL ? "unknown error of libgit2" :
		last->message);
}

char *
ks_git_join(const char *directory, const char *name)
{
	size_t head = strlen(directory);
	size_t tail = strlen(name);
	char *path = malloc(head + tail + 1);

	if (path == NULL)
		return NULL;
	memcpy(path, directory, head);
	memcpy(path + head, name, tail + 1);
	return path;
}

/* Permission bits as git grants them: read bits become search bits in a
 * directory, and nothing is made writable that its owner may not write. */
static mode_t
shared_mode(int shared, mode_t mode)
{
	mode_t grant = (mode_t)(shared < 0 ? -shared : shared);

	if ((mode & S_IWUSR) == 0)
		grant &= ~(mode_t)0222;
	if (S_ISDIR(mode) || (mode & S_IXUSR) != 0)
		grant |= (grant & 0444) >> 2;
	if (shared < 0)
		mode &= ~(mode_t)0777;
	mode |= grant;
	if (S_ISDIR(mode) && (mode & 0060) != 0)
		mode |= S_ISGID;
	return mode & 07777;
}

void
ks_gitdb_share(const struct ks_gitdb *db, const char *path)
{
	struct stat st;

	if (db->shared == 0 || lstat(path, &st) != 0 || S_ISLNK(st.st_mode))
		return;
	(void)chmod(path, shared_mode(db->shared, st.st_mode));
}

enum ks_status
ks_git_mkdir(const struct ks_gitdb *db, const char *path,
	struct ks_error *err)
{
	if (mkdir(path, 0777) == 0)
		ks_gitdb_share(db, path);
	else if (errno != EEXIST)
		return ks_fail_errno(err, "%s", path);
	return KS_OK;
}

void
ks_gitdb_close(struct ks_gitdb *db)
{
	if (db == NULL)
		return;
	git_odb_free(db->odb);
	git_odb_free(db->anew);
	git_repository_free(db->repo);
	free(db->directory);
	free(db->gitdir);
	free(db->objects);
	free(db->worktree);
	free(db->promisor);
	free(db->created);
	free(db);
}

const char *
ks_gitdb_directory(const struct ks_gitdb *db)
{
	return db->directory;
}

const char *
ks_gitdb_worktree(const struct ks_gitdb *db)
{
	return db->worktree;
}

const char *
ks_gitdb_promisor(const struct ks_gitdb *db)
{
	return db->promisor;
}

bool
ks_gitdb_is_shallow(const struct ks_gitdb *db)
{
	return db->shallow;
}

bool
ks_git_ends_in(const char *name, const char *suffix)
{
	size_t len = strlen(name);
	size_t tail = strlen(suffix);

	return len >= tail && strcmp(name + len - tail, suffix) == 0;
}

const char *
ks_gitdb_objects(const struct ks_gitdb *db)
{
	return db->objects;
}

size_t
ks_gitdb_pack_count(const struct ks_gitdb *db)
{
	char *path = ks_git_join(db->objects, "pack");
	DIR *dir = path == NULL ? NULL : opendir(path);
	const struct dirent *entry;
	size_t count = 0;

	free(path);
	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL)
		count += ks_git_ends_in(entry->d_name, ".pack");
	(void)closedir(dir);
	return count;
}

/* FNV-1a. */
static uint64_t
mix(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Of one file, or of what cannot be looked at. */
static uint64_t
stamp_file(int folder, const char *name)
{
	uint64_t facts[4] = { 0 };
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		facts[0] = (uint64_t)st.st_ino;
		facts[1] = (uint64_t)st.st_size;
		facts[2] = (uint64_t)st.st_mtim.tv_sec;
		facts[3] = (uint64_t)st.st_mtim.tv_nsec;
	}
	return mix(mix(UINT64_C(0xcbf29ce484222325), name, strlen(name)),
		facts, sizeof(facts));
}

/* A sum, since a folder has no order. */
static uint64_t
stamp_folder(const struct ks_gitdb *db, const char *name)
{
	char *path = ks_git_join(db->objects, name);
	DIR *dir = path == NULL ? NULL : opendir(path);
	const struct dirent *entry;
	uint64_t sum = 0;

	free(path);
	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			sum += stamp_file(dirfd(dir), entry->d_name);
	(void)closedir(dir);
	return sum;
}

uint64_t
ks_gitdb_stamp(const struct ks_gitdb *db)
{
	uint64_t sum = stamp_folder(db, "pack");
	char name[3];
	unsigned i;

	for (i = 0; i < 256; i++) {
		(void)snprintf(name, sizeof(name), "%02x", i);
		sum += stamp_folder(db, name);
	}
	return sum;
}

/* Read a reference: its target's name in `name`, or the id in `oid`. */
static int
read_reference(struct ks_gitdb *db, char *name, size_t size,
	struct ks_oid *oid, bool *symbolic)
{
	git_reference *ref = NULL;
	int rc = git_reference_lookup(&ref, db->repo, name);
	int n;

	if (rc < 0)
		return rc;
	*symbolic = git_reference_type(ref) == GIT_REFERENCE_SYMBOLIC;
	if (*symbolic) {
		n = snprintf(name, size, "%s",
			git_reference_symbolic_target(ref));
		rc = n < 0 || (size_t)n >= size ? GIT_EBUFS : 0;
	} else {
		*oid = ks_git_oid_of(git_reference_target(ref));
	}
	git_reference_free(ref);
	return rc;
}

static enum ks_status
refuse_head(const char *name, int code, struct ks_error *err)
{
	if (code == GIT_EBUFS)
		return ks_fail(err, KS_UNSUPPORTED,
			"HEAD: the branch's name is too long");
	return ks_git_fail(err, code, KS_CORRUPT, "reference %s", name);
}

enum ks_status
ks_gitdb_head(struct ks_gitdb *db, struct ks_git_head *head,
	struct ks_error *err)
{
	char name[sizeof(head->branch)] = "HEAD";
	bool symbolic = true;
	int depth = 0;
	int rc;

	memset(head, 0, sizeof(*head));
	do
		rc = read_reference(db, name, sizeof(name), &head->commit,
			&symbolic);
	while (rc == 0 && symbolic && depth++ < SYMREF_DEPTH);
	if (rc == GIT_ENOTFOUND && depth > 0) {
		head->unborn = true;
	} else if (rc < 0) {
		return refuse_head(name, rc, err);
	} else if (symbolic) {
		return ks_fail(err, KS_CORRUPT,
			"HEAD: symbolic references lead nowhere");
	}
	head->detached = depth == 0;
	if (!head->detached)
		memcpy(head->branch, name, sizeof(name));
	if (!head->detached && strncmp(name, BRANCHES, strlen(BRANCHES)) != 0)
		return ks_fail(err, KS_UNSUPPORTED,
			"HEAD: %s is not a branch", name);
	return KS_OK;
}

enum ks_status
ks_gitdb_revision(struct ks_gitdb *db, const char *revision,
	struct ks_oid *commit, struct ks_error *err)
{
	git_object *object = NULL;
	git_object *peeled = NULL;
	int rc;

	memset(commit, 0, sizeof(*commit));
	rc = git_revparse_single(&object, db->repo, revision);
	if (rc == 0)
		rc = git_object_peel(&peeled, object, GIT_OBJECT_COMMIT);
	if (rc == 0)
		*commit = ks_git_oid_of(git_object_id(peeled));
	git_object_free(peeled);
	git_object_free(object);
	if (rc == 0)
		return KS_OK;
	if (rc == GIT_EAMBIGUOUS)
		return ks_fail(err, KS_AMBIGUOUS,
			"%s: more than one object begins so", revision);
	return ks_git_fail(err, rc, KS_NOT_FOUND, "%s: names no commit",
		revision);
}

enum ks_status
ks_gitdb_commit(struct ks_gitdb *db, const struct ks_oid *oid,
	struct ks_git_commit *out, struct ks_error *err)
{
	git_odb_object *object = NULL;
	git_commit *commit = NULL;
	struct ks_oid wanted = *oid;	/* may be in *out */
	git_oid id = ks_git_oid(oid);
	enum ks_status status;
	char hex[KS_OID_HEX + 1];
	int rc;

	memset(out, 0, sizeof(*out));
	/* Read first, because this tells absent from unreadable. */
	status = ks_git_object(db, &wanted, GIT_OBJECT_COMMIT, &object, err);
	git_odb_object_free(object);
	if (status != KS_OK)
		return status;
	rc = git_commit_lookup(&commit, db->repo, &id);
	if (rc < 0)
		return ks_git_fail(err, rc, KS_CORRUPT, "commit %s",
			ks_oid_print(&wanted, hex));
	out->tree = ks_git_oid_of(git_commit_tree_id(commit));
	out->time = git_commit_time(commit);
	if (git_commit_parentcount(commit) > 0)
		out->parent = ks_git_oid_of(git_commit_parent_id(commit, 0));
	git_commit_free(commit);
	return KS_OK;
}

enum ks_status
ks_gitdb_revision_at(struct ks_gitdb *db, const struct ks_oid *from,
	int64_t seconds, struct ks_oid *commit, struct ks_error *err)
{
	struct ks_oid at = *from;
	struct ks_git_commit found;

	memset(commit, 0, sizeof(*commit));
	while (!ks_oid_is_zero(&at)) {
		enum ks_status status = ks_gitdb_commit(db, &at, &found, err);

		if (status != KS_OK)
			return status;
		if (found.time <= seconds) {
			*commit = at;
			return KS_OK;
		}
		at = found.parent;
	}
	return ks_fail(err, KS_NOT_FOUND, "no commit is that old");
}

/* 1, 0, or negative where it cannot be told. */
static int
leads_to(struct ks_gitdb *db, const git_reference *ref, const git_oid *commit)
{
	git_object *tip = NULL;
	int rc = git_reference_peel(&tip, ref, GIT_OBJECT_COMMIT);

	if (rc == 0 && git_oid_equal(git_object_id(tip), commit))
		rc = 1;
	else if (rc == 0)
		rc = git_graph_descendant_of(db->repo, git_object_id(tip),
			commit);
	else if (rc == GIT_EPEEL)
		rc = 0;	/* the tag of a tree or blob */
	git_object_free(tip);
	return rc;
}

bool
ks_git_is_reached(struct ks_gitdb *db, const struct ks_oid *commit)
{
	git_oid wanted = ks_git_oid(commit);
	git_reference_iterator *all = NULL;
	git_reference *ref = NULL;
	int found = 0;
	int rc = git_repository_head(&ref, db->repo);

	if (rc == GIT_EUNBORNBRANCH)
		rc = 0;
	if (rc == 0)
		rc = git_reference_iterator_new(&all, db->repo);
	while (rc == 0 && found == 0) {
		if (ref != NULL)
			found = leads_to(db, ref, &wanted);
		git_reference_free(ref);
		ref = NULL;
		if (found == 0)
			rc = git_reference_next(&ref, all);
	}
	git_reference_free(ref);
	git_reference_iterator_free(all);
	return found != 0 || rc != GIT_ITEROVER;
}
