#include "store/gitdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "store/lock.h"

/* With that many objects a pack is better in any case: each loose one costs
 * two flushes. */
#define LOOSE_MAX 256

/* How long another program's lock file is waited for: git packs references
 * in less. */
#define LOCK_NAPS 100
#define LOCK_NAP_NS 10000000L

#define FALLBACK_NAME "kistore"
#define FALLBACK_EMAIL "kistore@localhost"

/* What kistore.lock says after the commit id while git's index and the work
 * tree do not show that commit yet. */
#define PENDING " checkout\n"

#define TEMPORARY KS_GIT_PRIVATE "new"

struct ks_git_writer {
	struct ks_gitdb *db;
	struct ks_git_pack *pack;
	struct ks_git_head head;
	struct ks_oid commit;
	bool finished, published;
};

static char *
lock_name(const char *path)
{
	return ks_git_join(path, ".lock");
}

static enum ks_status
refuse_locked(const char *lock, struct ks_error *err)
{
	struct stat st;
	long long age = 0;

	if (lstat(lock, &st) == 0)
		age = (long long)(time(NULL) - st.st_mtime);
	return ks_fail(err, KS_BUSY, "%s: lock of another git process, %lld s "
		"old; remove it if no git command is running", lock, age);
}

/* link(2), because the lock then has its content from the start; where the
 * file system has no links, the file is made in place. */
static int
link_or_create(const char *temporary, const char *lock, const char *content)
{
	enum ks_status status;

	if (link(temporary, lock) == 0)
		return 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS &&
		errno != EXDEV)
		return -1;
	status = ks_file_create(lock, ks_span_text(content), 0666, NULL);
	if (status == KS_EXISTS)
		errno = EEXIST;
	return status == KS_OK ? 0 : -1;
}

static enum ks_status
take_lock(const char *temporary, const char *lock, const char *content,
	struct ks_error *err)
{
	struct timespec nap = { .tv_sec = 0, .tv_nsec = LOCK_NAP_NS };
	int i;

	for (i = 0; i < LOCK_NAPS; i++) {
		if (link_or_create(temporary, lock, content) == 0)
			return KS_OK;
		if (errno != EEXIST)
			return ks_fail_errno(err, "%s", lock);
		(void)nanosleep(&nap, NULL);
	}
	return refuse_locked(lock, err);
}

enum ks_status
ks_git_lock(const struct ks_gitdb *db, const char *path, const char *content,
	struct ks_error *err)
{
	char *temporary = ks_git_join(db->directory, TEMPORARY);
	char *lock = lock_name(path);
	enum ks_status status = KS_OK;

	if (temporary == NULL || lock == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK) {
		(void)unlink(temporary);
		status = ks_file_create(temporary, ks_span_text(content), 0666,
			err);
	}
	if (status == KS_OK) {
		ks_gitdb_share(db, temporary);
		status = take_lock(temporary, lock, content, err);
		(void)unlink(temporary);
	}
	free(temporary);
	free(lock);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

void
ks_git_lock_sweep(const char *path, const char *content)
{
	char *lock = lock_name(path);
	struct ks_buf found = KS_BUF_INIT;

	if (lock != NULL && content[0] != '\0' && ks_file_read_at(KS_FILE_CWD,
		lock, 128, &found, NULL) == KS_OK &&
		ks_span_is(ks_buf_span(&found), content))
		(void)unlink(lock);
	ks_buf_release(&found);
	free(lock);
}

/* What kistore.lock says: the commit that the last writer was to publish
 * (zero = nothing), and whether the work tree may lack it. */
static void
read_intent(const struct ks_gitdb *db, struct ks_oid *commit, bool *pending)
{
	char text[128];
	char hex[KS_OID_HEX + 1] = "";

	memset(commit, 0, sizeof(*commit));
	*pending = false;
	if (ks_lock_read(db->directory, text, sizeof(text), NULL) != KS_OK ||
		strlen(text) <= KS_OID_HEX)
		return;
	memcpy(hex, text, KS_OID_HEX);
	if (!ks_oid_parse(commit, hex))
		memset(commit, 0, sizeof(*commit));
	else
		*pending = strcmp(text + KS_OID_HEX, PENDING) == 0;
}

enum ks_status
ks_git_intend(const struct ks_gitdb *db, const struct ks_oid *commit,
	bool pending, struct ks_error *err)
{
	char text[128];
	char hex[KS_OID_HEX + 1];

	(void)snprintf(text, sizeof(text), "%s%s", ks_oid_print(commit, hex),
		pending ? PENDING : "\n");
	return ks_lock_write(db->directory, text, err);
}

static void
lock_content(const struct ks_oid *commit, char out[KS_OID_HEX + 2])
{
	(void)ks_oid_print(commit, out);
	out[KS_OID_HEX] = '\n';
	out[KS_OID_HEX + 1] = '\0';
}

static void
sweep_locks(const struct ks_gitdb *db, const struct ks_git_head *head,
	const struct ks_oid *commit)
{
	char content[KS_OID_HEX + 2];
	char *branch = ks_git_join(db->directory, head->branch);
	char *index = ks_git_join(db->gitdir, "index");

	lock_content(commit, content);
	if (branch != NULL && !head->detached)
		ks_git_lock_sweep(branch, content);
	if (index != NULL)
		ks_git_lock_sweep(index, content);
	free(branch);
	free(index);
}

/* A writer died after the branch had moved: do the rest. */
static enum ks_status
finish_checkout(struct ks_gitdb *db, const struct ks_git_head *head,
	const struct ks_oid *commit, struct ks_error *err)
{
	struct ks_git_commit found;
	enum ks_status status;

	if (db->worktree == NULL || !ks_oid_equal(&head->commit, commit))
		return KS_OK;
	status = ks_gitdb_commit(db, commit, &found, err);
	if (status == KS_OK)
		status = ks_git_index_lock(db, commit, err);
	if (status != KS_OK)
		return status;
	status = ks_git_checkout(db, &found.parent, commit, err);
	ks_git_index_unlock(db);
	return status == KS_OK ? ks_git_intend(db, commit, false, err) :
		status;
}

static void
sweep_file(const char *directory, const char *name)
{
	char *path = ks_git_join(directory, name);

	if (path != NULL)
		(void)unlink(path);
	free(path);
}

/* What a dead writer left; the caller holds the store's lock. */
static enum ks_status
sweep(struct ks_gitdb *db, struct ks_error *err)
{
	struct ks_git_head head;
	struct ks_oid commit;
	bool pending;
	enum ks_status status = ks_gitdb_head(db, &head, err);

	if (status != KS_OK)
		return status;
	ks_git_pack_sweep(db);
	ks_git_remove_below(db->directory, KS_FILE_TEMPORARY);
	sweep_file(db->directory, TEMPORARY);
	sweep_file(db->gitdir, KS_GIT_INDEX_COPY);
	sweep_file(db->gitdir, KS_GIT_INDEX_COPY ".lock");
	read_intent(db, &commit, &pending);
	if (ks_oid_is_zero(&commit))
		return KS_OK;
	sweep_locks(db, &head, &commit);
	return pending ? finish_checkout(db, &head, &commit, err) : KS_OK;
}

enum ks_status
ks_gitdb_begin(struct ks_git_writer **out, struct ks_gitdb *db,
	size_t expected, struct ks_error *err)
{
	struct ks_git_writer *writer;
	enum ks_status status;
	bool loose;

	*out = NULL;
	status = sweep(db, err);
	if (status != KS_OK)
		return status;
	writer = calloc(1, sizeof(*writer));
	if (writer == NULL)
		return ks_fail_nomem(err);
	loose = expected <= LOOSE_MAX &&
		ks_gitdb_pack_count(db) >= KS_GITDB_PACK_LIMIT;
	writer->db = db;
	status = ks_git_pack_new(&writer->pack, db, loose, err);
	if (status == KS_OK)
		*out = writer;
	else
		free(writer);
	return status;
}

enum ks_status
ks_gitdb_add(struct ks_git_writer *writer, struct ks_span content,
	bool compressed, struct ks_oid *oid, struct ks_error *err)
{
	return ks_git_pack_add(writer->pack, GIT_OBJECT_BLOB, content,
		compressed, oid, err);
}

enum ks_status
ks_gitdb_add_pieces(struct ks_git_writer *writer, uint64_t len,
	ks_git_read_fn *read, void *arg, struct ks_oid *oid,
	struct ks_error *err)
{
	return ks_git_pack_add_pieces(writer->pack, len, read, arg, oid, err);
}

enum ks_status
ks_gitdb_tree(struct ks_git_writer *writer, const struct ks_oid *base,
	const struct ks_git_change *changes, size_t count,
	struct ks_oid *tree, struct ks_error *err)
{
	return ks_git_tree_merge(writer->db, writer->pack, base, changes,
		count, tree, err);
}

/* As git takes names: what would end them is left out, and punctuation and
 * white space at either end. */
static struct ks_span
trim_name(struct ks_buf *buf, const char *name)
{
	static const char crud[] = ".,:;<>\"\\'";
	struct ks_span out;

	ks_buf_clear(buf);
	for (; *name != '\0'; name++)
		if (strchr("<>\n", *name) == NULL)
			ks_buf_byte(buf, (uint8_t)*name);
	out = ks_buf_span(buf);
	while (out.len > 0 && (out.data[0] <= ' ' ||
		strchr(crud, out.data[0]) != NULL)) {
		out.data++;
		out.len--;
	}
	while (out.len > 0 && (out.data[out.len - 1] <= ' ' ||
		strchr(crud, out.data[out.len - 1]) != NULL))
		out.len--;
	return out;
}

void
ks_gitdb_identity(struct ks_gitdb *db, struct ks_buf *out)
{
	git_config *config = NULL;
	const char *name = "";
	const char *email = "";
	struct ks_buf names = KS_BUF_INIT;
	struct ks_buf emails = KS_BUF_INIT;
	struct ks_span who, where;

	if (git_repository_config_snapshot(&config, db->repo) == 0) {
		(void)git_config_get_string(&name, config, "user.name");
		(void)git_config_get_string(&email, config, "user.email");
	}
	who = trim_name(&names, name == NULL ? "" : name);
	where = trim_name(&emails, email == NULL ? "" : email);
	if (who.len == 0 || where.len == 0) {
		who = ks_span_text(FALLBACK_NAME);
		where = ks_span_text(FALLBACK_EMAIL);
	}
	ks_buf_append(out, who);
	ks_buf_text(out, " <");
	ks_buf_append(out, where);
	ks_buf_text(out, ">");
	ks_buf_release(&names);
	ks_buf_release(&emails);
	git_config_free(config);
}

static void
compose_commit(struct ks_gitdb *db, const struct ks_oid *tree,
	const struct ks_git_head *head, const char *message, int64_t time,
	struct ks_buf *out)
{
	char hex[KS_OID_HEX + 1];
	size_t len = strlen(message);

	ks_buf_printf(out, "tree %s\n", ks_oid_print(tree, hex));
	if (!head->unborn)
		ks_buf_printf(out, "parent %s\n",
			ks_oid_print(&head->commit, hex));
	ks_buf_text(out, "author ");
	ks_gitdb_identity(db, out);
	ks_buf_printf(out, " %lld +0000\ncommitter ", (long long)time);
	ks_gitdb_identity(db, out);
	ks_buf_printf(out, " %lld +0000\n\n%s", (long long)time, message);
	if (len == 0 || message[len - 1] != '\n')
		ks_buf_byte(out, '\n');
}

enum ks_status
ks_gitdb_finish(struct ks_git_writer *writer, const struct ks_oid *tree,
	const struct ks_git_head *head, const char *message, int64_t time,
	struct ks_oid *commit, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;
	char hex[KS_OID_HEX + 1];

	memset(commit, 0, sizeof(*commit));
	if (writer->finished)
		return ks_fail(err, KS_USAGE, "the transaction is finished");
	if (head->detached)
		return ks_fail(err, KS_USAGE, "HEAD is detached at %.12s: "
			"check out a branch first",
			ks_oid_print(&head->commit, hex));
	compose_commit(writer->db, tree, head, message, time, &text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_git_pack_add(writer->pack, GIT_OBJECT_COMMIT,
			ks_buf_span(&text), false, &writer->commit, err);
	if (status == KS_OK)
		status = ks_git_pack_place(writer->pack,
			ks_oid_print(&writer->commit, hex), err);
	ks_buf_release(&text);
	if (status != KS_OK)
		return status;
	writer->head = *head;
	writer->finished = true;
	*commit = writer->commit;
	return KS_OK;
}

/* With the branch's lock held: is it still where the change began? */
static enum ks_status
check_unmoved(const struct ks_gitdb *db, const struct ks_git_head *head,
	struct ks_error *err)
{
	git_oid now;
	struct ks_oid found = { { 0 } };
	char hex[KS_OID_HEX + 1];
	int rc = git_reference_name_to_id(&now, db->repo, head->branch);

	if (rc == GIT_ENOTFOUND && head->unborn)
		return KS_OK;
	if (rc < 0 && rc != GIT_ENOTFOUND)
		return ks_git_fail(err, rc, KS_CORRUPT, "reference %s",
			head->branch);
	if (rc == 0)
		found = ks_git_oid_of(&now);
	if (!head->unborn && ks_oid_equal(&found, &head->commit))
		return KS_OK;
	return ks_fail(err, KS_BUSY,
		"%s was moved to %.12s by somebody else meanwhile",
		head->branch, ks_oid_print(&found, hex));
}

/* Make the directories above a branch such as refs/heads/a/b. */
static enum ks_status
make_parents(const struct ks_gitdb *db, const char *branch,
	struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status = KS_OK;
	const char *slash = branch;

	while (status == KS_OK && (slash = strchr(slash, '/')) != NULL) {
		ks_buf_clear(&path);
		ks_buf_printf(&path, "%s%.*s", db->directory,
			(int)(slash - branch), branch);
		(void)ks_buf_cstr(&path);
		status = ks_buf_check(&path, err);
		if (status == KS_OK)
			status = ks_git_mkdir(db, ks_buf_cstr(&path), err);
		slash++;
	}
	ks_buf_release(&path);
	return status;
}

enum ks_status
ks_git_move_branch(const struct ks_gitdb *db, const struct ks_git_head *head,
	const struct ks_oid *commit, bool *moved, struct ks_error *err)
{
	char content[KS_OID_HEX + 2];
	char *path = ks_git_join(db->directory, head->branch);
	char *lock = path == NULL ? NULL : lock_name(path);
	enum ks_status status = KS_OK;

	lock_content(commit, content);
	if (lock == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK && head->unborn)
		status = make_parents(db, head->branch, err);
	if (status == KS_OK)
		status = ks_git_lock(db, path, content, err);
	if (status == KS_OK) {
		status = check_unmoved(db, head, err);
		if (status == KS_OK && rename(lock, path) != 0)
			status = ks_fail_errno(err, "%s", path);
		if (status != KS_OK)
			(void)unlink(lock);
	}
	if (status == KS_OK) {
		*moved = true;
		status = ks_file_sync_parent(path, err);
	}
	free(lock);
	free(path);
	return status;
}

static enum ks_status
move_branch(struct ks_git_writer *writer, struct ks_error *err)
{
	return ks_git_move_branch(writer->db, &writer->head, &writer->commit,
		&writer->published, err);
}

/* git's index is locked before the branch moves, so that another program's
 * lock there refuses the change whole. */
static enum ks_status
move_branch_and_files(struct ks_git_writer *writer, struct ks_error *err)
{
	struct ks_gitdb *db = writer->db;
	char hex[KS_OID_HEX + 1];
	enum ks_status status = ks_git_index_lock(db, &writer->commit, err);

	if (status != KS_OK)
		return status;
	status = move_branch(writer, err);
	if (status == KS_OK && (status = ks_git_checkout(db,
		&writer->head.commit, &writer->commit, err)) != KS_OK)
		(void)ks_context(err, "commit %.12s is published, but the "
			"work tree does not show it yet",
			ks_oid_print(&writer->commit, hex));
	ks_git_index_unlock(db);
	return status == KS_OK ?
		ks_git_intend(db, &writer->commit, false, err) : status;
}

enum ks_status
ks_gitdb_publish(struct ks_git_writer *writer, struct ks_error *err)
{
	struct ks_gitdb *db = writer->db;
	enum ks_status status;

	if (!writer->finished || writer->published)
		return ks_fail(err, KS_USAGE,
			"there is no finished transaction to publish");
	status = ks_git_intend(db, &writer->commit, db->worktree != NULL,
		err);
	if (status == KS_OK)
		status = db->worktree == NULL ? move_branch(writer, err) :
			move_branch_and_files(writer, err);
	if (writer->published)
		ks_git_pack_release(writer->pack);
	return status;
}

enum ks_status
ks_gitdb_move(struct ks_gitdb *db, const struct ks_oid *commit,
	struct ks_error *err)
{
	struct ks_git_head head;
	bool moved = false;
	enum ks_status status = ks_gitdb_head(db, &head, err);

	if (status == KS_OK && (head.detached || db->worktree != NULL))
		return ks_fail(err, KS_USAGE, "not a bare repository on a "
			"branch");
	if (status == KS_OK)
		status = ks_git_intend(db, commit, false, err);
	return status != KS_OK ? status : ks_git_move_branch(db, &head, commit,
		&moved, err);
}

void
ks_gitdb_end(struct ks_git_writer *writer)
{
	if (writer == NULL)
		return;
	ks_git_pack_free(writer->pack);
	free(writer);
}
