#include "store/gitdb_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What libgit2 may hold (store-layout.md, section "bounds"). Mapped pages count
 * as memory; a walk in path order needs a few windows only, because packs have
 * their blobs in that order. */
#define OPEN_PACKS 64
#define WINDOW ((size_t)8 << 20)
#define MAPPED ((size_t)32 << 20)
#define CACHE ((ssize_t)16 << 20)
#define CACHED_TREE ((size_t)64 << 10)

/* Descriptors are shared with the rest of the process; packs may take a
 * quarter of them. */
static size_t
pack_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
		limit.rlim_cur / 4 >= OPEN_PACKS)
		return OPEN_PACKS;
	return limit.rlim_cur < 8 ? 2 : (size_t)limit.rlim_cur / 4;
}

/*
 * libgit2 is started once and never shut down. Its hash check on reading is
 * off: what is read is checked by its sha256, or by ks_gitdb_blob() on demand.
 */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int started;

static void
start(void)
{
	const char *extensions[] = { "partialclone", "preciousobjects",
		"worktreeconfig" };

	started = git_libgit2_init();
	if (started < 0)
		return;
	(void)git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	(void)git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	(void)git_libgit2_opts(GIT_OPT_SET_MWINDOW_FILE_LIMIT, pack_limit());
	(void)git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, WINDOW);
	(void)git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, MAPPED);
	(void)git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, CACHE);
	(void)git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT,
		GIT_OBJECT_TREE, CACHED_TREE);
	(void)git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions,
		sizeof(extensions) / sizeof(extensions[0]));
}

enum ks_status
ks_git_start(struct ks_error *err)
{
	(void)pthread_once(&once, start);
	return started < 0 ? ks_fail(err, KS_IO, "libgit2 does not start") :
		KS_OK;
}

static char *
copy(const char *text)
{
	return ks_git_join("", text);
}

/* As git reads it: a truth value, a word, or octal permissions. */
static int
parse_shared(const char *value)
{
	char *end;
	long mode;

	if (strcmp(value, "group") == 0 || strcmp(value, "true") == 0 ||
		strcmp(value, "1") == 0 || strcmp(value, "yes") == 0 ||
		strcmp(value, "on") == 0)
		return 0660;
	if (strcmp(value, "all") == 0 || strcmp(value, "world") == 0 ||
		strcmp(value, "everybody") == 0 || strcmp(value, "2") == 0)
		return 0664;
	mode = strtol(value, &end, 8);
	if (end == value || *end != '\0' || (mode & 0600) != 0600)
		return 0;
	return -(int)(mode & 0666);
}

/* NAME in fresh memory if `entry` is remote.NAME.promisor and true, or the
 * older extensions.partialClone; else NULL. */
static char *
promisor_of(const git_config_entry *entry)
{
	const char *suffix = ".promisor";
	int yes = 0;
	char *name;

	if (strcmp(entry->name, "extensions.partialclone") == 0)
		return entry->value == NULL ? NULL : copy(entry->value);
	if (strncmp(entry->name, "remote.", 7) != 0 ||
		!ks_git_ends_in(entry->name, suffix) ||
		strlen(entry->name) <= 7 + strlen(suffix) ||
		git_config_parse_bool(&yes, entry->value) < 0 || !yes)
		return NULL;
	name = copy(entry->name + 7);
	if (name != NULL)
		name[strlen(name) - strlen(suffix)] = '\0';
	return name;
}

/* Not by a regular expression: libgit2 1.5 leaks 20 kB for each match. */
static char *
find_promisor(git_config *config)
{
	git_config_iterator *all = NULL;
	git_config_entry *entry;
	char *found = NULL;

	if (git_config_iterator_new(&all, config) < 0)
		return NULL;
	while (found == NULL && git_config_next(&entry, all) == 0)
		found = promisor_of(entry);
	git_config_iterator_free(all);
	return found;
}

/* With extensions.worktreeConfig, git keeps core.bare and core.worktree in a
 * file that libgit2 1.5 does not read; taken for a work tree, the directory
 * around a bare repository would be written to. */
static enum ks_status
check_worktree_config(struct ks_gitdb *db, git_config *config,
	struct ks_error *err)
{
	git_config *own = NULL;
	char *path;
	int on = 0;
	int bare = 0;
	git_config_entry *entry = NULL;
	enum ks_status status = KS_OK;

	if (git_config_get_bool(&on, config, "extensions.worktreeconfig") < 0 ||
		!on)
		return KS_OK;
	path = ks_git_join(db->gitdir, "config.worktree");
	if (path == NULL)
		return ks_fail_nomem(err);
	if (access(path, F_OK) == 0 && git_config_open_ondisk(&own, path) < 0)
		status = ks_git_fail(err, GIT_ERROR, KS_CORRUPT, "%s", path);
	else if (own != NULL &&
		git_config_get_entry(&entry, own, "core.worktree") == 0)
		status = ks_fail(err, KS_UNSUPPORTED,
			"%s: sets core.worktree, which this kistore cannot "
			"follow", path);
	else if (own != NULL &&
		git_config_get_bool(&bare, own, "core.bare") == 0 && bare) {
		free(db->worktree);
		db->worktree = NULL;
	}
	git_config_entry_free(entry);
	git_config_free(own);
	free(path);
	return status;
}

static enum ks_status
read_config(struct ks_gitdb *db, struct ks_error *err)
{
	git_config *config = NULL;
	git_config_entry *entry = NULL;
	enum ks_status status;
	int rc = git_repository_config_snapshot(&config, db->repo);

	if (rc < 0)
		return ks_git_fail(err, rc, KS_CORRUPT, "%sconfig",
			db->directory);
	if (git_config_get_entry(&entry, config, "core.sharedrepository") == 0)
		db->shared = parse_shared(entry->value == NULL ? "true" :
			entry->value);
	git_config_entry_free(entry);
	db->promisor = find_promisor(config);
	status = check_worktree_config(db, config, err);
	git_config_free(config);
	return status;
}

enum ks_status
ks_git_wrap(struct ks_gitdb **out, git_repository *repo, struct ks_error *err)
{
	struct ks_gitdb *db = calloc(1, sizeof(*db));
	const char *worktree = git_repository_workdir(repo);
	enum ks_status status = KS_OK;
	int rc;

	if (db == NULL) {
		git_repository_free(repo);
		return ks_fail_nomem(err);
	}
	db->repo = repo;
	db->directory = copy(git_repository_commondir(repo));
	db->gitdir = copy(git_repository_path(repo));
	if (worktree != NULL)
		db->worktree = copy(worktree);
	if (db->directory != NULL)
		db->objects = ks_git_join(db->directory, "objects/");
	if (db->directory == NULL || db->gitdir == NULL ||
		db->objects == NULL || (worktree != NULL && !db->worktree))
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = read_config(db, err);
	rc = status == KS_OK ? git_repository_odb(&db->odb, repo) : 0;
	if (rc < 0)
		status = ks_git_fail(err, rc, KS_CORRUPT, "%s", db->objects);
	if (status == KS_OK)
		status = ks_git_guard_loose(db, err);
	if (status != KS_OK) {
		ks_gitdb_close(db);
		return status;
	}
	db->shallow = git_repository_is_shallow(repo) > 0;
	*out = db;
	return KS_OK;
}

static int
open_repository(git_repository **repo, const char *path, bool search)
{
	return git_repository_open_ext(repo, path,
		search ? 0 : GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
}

/* libgit2 1.5 says either of these when the owner is somebody else. */
static bool
is_owner_refusal(int code)
{
	const git_error *last = git_error_last();

	return code == GIT_EOWNER || (code == GIT_ENOTFOUND && last != NULL &&
		strstr(last->message, "safe.directory") != NULL);
}

struct safe_search {
	const char *path;
	bool safe;
};

static int
match_safe(const git_config_entry *entry, void *arg)
{
	struct safe_search *search = arg;
	const char *value = entry->value;
	size_t len;

	/* An empty value forgets those before it. */
	if (value == NULL || value[0] == '\0') {
		search->safe = false;
		return 0;
	}
	len = strlen(value);
	while (len > 1 && value[len - 1] == '/')
		len--;
	if (strcmp(value, "*") == 0 ||
		(strncmp(search->path, value, len) == 0 &&
		strcmp(search->path + len, "/") == 0))
		search->safe = true;
	return 0;
}

/* safe.directory as git reads it: not from the repository's own config.
 * libgit2 1.5 does not know "*". `path` ends in '/'. */
static bool
is_declared_safe(const char *path)
{
	struct safe_search search = { .path = path, .safe = false };
	git_config *config = NULL;

	if (git_config_open_default(&config) == 0)
		(void)git_config_get_multivar_foreach(config,
			"safe.directory", NULL, match_safe, &search);
	git_config_free(config);
	return search.safe;
}

static enum ks_status
refuse_owner(const char *path, struct ks_error *err)
{
	struct stat st;
	long owner = lstat(path, &st) == 0 ? (long)st.st_uid : -1;
	int len = (int)strlen(path);

	if (len > 1)
		len--;
	return ks_fail(err, KS_IO, "%.*s: belongs to uid %ld, and this is uid "
		"%ld; to use it anyway: git config --global --add "
		"safe.directory %.*s", len, path, owner, (long)geteuid(), len,
		path);
}

/* Open again without libgit2's check, to learn which path git would look for
 * in safe.directory, and decide as git does. */
static enum ks_status
open_foreign(git_repository **repo, const char *path, bool search,
	struct ks_error *err)
{
	const char *place;
	int rc;

	(void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	rc = open_repository(repo, path, search);
	(void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
	if (rc < 0)
		return ks_git_fail(err, rc, KS_IO, "%s", path);
	place = git_repository_workdir(*repo);
	if (place == NULL)
		place = git_repository_path(*repo);
	if (is_declared_safe(place))
		return KS_OK;
	(void)refuse_owner(place, err);
	git_repository_free(*repo);
	*repo = NULL;
	return KS_IO;
}

static enum ks_status
refuse_open(const char *path, int code, struct ks_error *err)
{
	const git_error *last = git_error_last();
	int major, minor, rev;

	(void)git_libgit2_version(&major, &minor, &rev);
	if (last != NULL && strncmp(last->message, "unsupported ", 12) == 0)
		return ks_fail(err, KS_UNSUPPORTED, "%s: %s (libgit2 %d.%d.%d)",
			path, last->message, major, minor, rev);
	if (code == GIT_ENOTFOUND && access(path, F_OK) == 0)
		return ks_fail(err, KS_NOT_FOUND, "%s: is not a git "
			"repository", path);
	if (code == GIT_ENOTFOUND)
		return ks_fail_errno(err, "%s", path);
	return ks_git_fail(err, code, KS_CORRUPT, "%s", path);
}

enum ks_status
ks_gitdb_open(struct ks_gitdb **out, const char *path, bool search,
	struct ks_error *err)
{
	git_repository *repo = NULL;
	enum ks_status status;
	int rc;

	*out = NULL;
	status = ks_git_start(err);
	if (status != KS_OK)
		return status;
	rc = open_repository(&repo, path, search);
	if (rc < 0 && is_owner_refusal(rc))
		status = open_foreign(&repo, path, search, err);
	else if (rc < 0)
		status = refuse_open(path, rc, err);
	if (status != KS_OK)
		return status;
	return ks_git_wrap(out, repo, err);
}
