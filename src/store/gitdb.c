#include "store/gitdb_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hex.h"
#include "format/layout.h"

/* What libgit2 may hold (store-layout.md, section "bounds"). */
#define OPEN_PACKS 64
#define WINDOW ((size_t)16 << 20)
#define MAPPED ((size_t)64 << 20)
#define CACHE ((ssize_t)16 << 20)
#define CACHED_TREE ((size_t)64 << 10)

#define FIRST_BRANCH "main"
#define BRANCHES "refs/heads/"
#define SYMREF_DEPTH 5
#define CREATE_DEPTH 32

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
ks_git_share(const struct ks_gitdb *db, const char *path)
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
		ks_git_share(db, path);
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
	git_repository_free(db->repo);
	free(db->directory);
	free(db->gitdir);
	free(db->objects);
	free(db->worktree);
	free(db->promisor);
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

static bool
ends_in(const char *name, const char *suffix)
{
	size_t len = strlen(name);
	size_t tail = strlen(suffix);

	return len >= tail && strcmp(name + len - tail, suffix) == 0;
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
		count += ends_in(entry->d_name, ".pack");
	(void)closedir(dir);
	return count;
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

/* The remote that promised the objects a partial clone lacks: the newer
 * remote.NAME.promisor, or the older extension. */
static char *
find_promisor(git_config *config)
{
	git_config_iterator *all = NULL;
	git_config_entry *entry;
	const char *name = NULL;
	char *found = NULL;

	if (git_config_iterator_glob_new(&all, config,
		"^(remote\\..*\\.promisor|extensions\\.partialclone)$") < 0)
		return NULL;
	while (found == NULL && git_config_next(&entry, all) == 0) {
		int yes = 0;

		if (strncmp(entry->name, "remote.", 7) != 0) {
			found = ks_git_join("", entry->value);
			continue;
		}
		name = entry->name + 7;
		if (git_config_parse_bool(&yes, entry->value) == 0 && yes)
			found = ks_git_join("", name);
		if (found != NULL)
			found[strlen(name) - strlen(".promisor")] = '\0';
	}
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

static char *
copy(const char *text)
{
	return ks_git_join("", text);
}

/* Take over `repo`. */
static enum ks_status
wrap(struct ks_gitdb **out, git_repository *repo, struct ks_error *err)
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
	enum ks_status status = KS_OK;
	int rc;

	*out = NULL;
	(void)pthread_once(&once, start);
	if (started < 0)
		return ks_fail(err, KS_IO, "libgit2 does not start");
	rc = open_repository(&repo, path, search);
	if (rc < 0 && is_owner_refusal(rc))
		status = open_foreign(&repo, path, search, err);
	else if (rc < 0)
		status = refuse_open(path, rc, err);
	if (status != KS_OK)
		return status;
	return wrap(out, repo, err);
}

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

/* Remove everything below `path`, which this process has just made. */
static void
remove_below(const char *path, int depth)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char name[4096];
		struct stat st;
		int n = snprintf(name, sizeof(name), "%s/%s", path,
			entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0 || n < 0 ||
			(size_t)n >= sizeof(name) || lstat(name, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < CREATE_DEPTH)
			remove_below(name, depth + 1);
		(void)remove(name);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

/* Make `path` and the directories above it; *made is the length of the
 * topmost one that was not there, or 0. */
static enum ks_status
make_directories(const char *path, size_t *made, struct ks_error *err)
{
	char *part = copy(path);
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
	status = wrap(&db, repo, err);
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

enum ks_status
ks_gitdb_create(struct ks_gitdb **out, const char *path, bool worktree,
	struct ks_error *err)
{
	enum ks_status status;
	size_t made;

	*out = NULL;
	(void)pthread_once(&once, start);
	if (started < 0)
		return ks_fail(err, KS_IO, "libgit2 does not start");
	status = make_directories(path, &made, err);
	if (status == KS_OK && count_names(path) < 0)
		return ks_fail_errno(err, "%s", path);
	if (status == KS_OK && count_names(path) > 0)
		return ks_fail(err, KS_EXISTS, "%s: exists and is not empty",
			path);
	if (status == KS_OK)
		status = create_in(out, path, worktree, err);
	if (status == KS_OK)
		return KS_OK;
	if (made == 0) {
		remove_below(path, 0);
	} else {
		char *top = copy(path);

		if (top != NULL) {
			top[made] = '\0';
			remove_below(top, 0);
			(void)rmdir(top);
		}
		free(top);
	}
	return status;
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
