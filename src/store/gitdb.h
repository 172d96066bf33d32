/*
 * The git repository under a store. The only user of libgit2 (1.5).
 *
 * Reading is by tree and path at a fixed commit, so a reader sees one state
 * whatever writers do. Writing is a transaction: blobs and trees go into one
 * pack (or, while KS_GITDB_PACK_LIMIT or more packs exist, loose objects), are
 * flushed to disk, and then one commit becomes visible by moving the branch:
 * the ref moves last. store-layout.md, section "git".
 *
 * Nothing the repository names is executed: no hooks, no filters, no
 * attributes' drivers; replace refs and grafts are not followed. Errors of the
 * system (EMFILE, EIO, ENOMEM) are KS_IO or KS_NOMEM, never KS_CORRUPT.
 */
#ifndef KS_STORE_GITDB_H
#define KS_STORE_GITDB_H

#include "base/buf.h"
#include "base/error.h"

#define KS_GITDB_PACK_LIMIT 50

struct ks_gitdb;
struct ks_watch;

/* A git object id (SHA-1): transport, outside trust. */
struct ks_oid {
	uint8_t bytes[20];
};

#define KS_OID_HEX 40

bool ks_oid_equal(const struct ks_oid *a, const struct ks_oid *b);
bool ks_oid_is_zero(const struct ks_oid *oid);
char *ks_oid_print(const struct ks_oid *oid, char out[KS_OID_HEX + 1]);
bool ks_oid_parse(struct ks_oid *oid, const char *hex);
/* The same of the digits that `text` begins with. */
bool ks_oid_read(struct ks_oid *oid, struct ks_span text);

/* Open the repository at `path` (a work tree, a git directory, a bare
 * repository, a linked work tree, a .git file); with `search`, also look
 * upward from there as git does. KS_NOT_FOUND when there is none,
 * KS_UNSUPPORTED for an object format or extension that libgit2 does not
 * know (names it), KS_IO for ownership that git would refuse too (names path,
 * owner uid, our uid, and the safe.directory remedy). */
enum ks_status ks_gitdb_open(struct ks_gitdb **out, const char *path,
	bool search, struct ks_error *err) KS_CHECKED;

/* Create an empty repository at `path` (made if absent; KS_EXISTS when it is
 * a repository or a directory that is not empty), bare or with a work tree.
 * HEAD names refs/heads/main. Writes info/attributes (see layout.h). On
 * failure whatever was created is removed. */
enum ks_status ks_gitdb_create(struct ks_gitdb **out, const char *path,
	bool worktree, struct ks_error *err) KS_CHECKED;

void ks_gitdb_close(struct ks_gitdb *db);

/* Close a repository that ks_gitdb_create() has made, and remove it again. */
void ks_gitdb_discard(struct ks_gitdb *db);

/* Let the one at `path`, which was made by somebody who died, be discarded,
 * too; the directory itself stays. */
enum ks_status ks_gitdb_claim(struct ks_gitdb *db, const char *path,
	struct ks_error *err) KS_CHECKED;

/* The common git directory, absolute, with a trailing '/'; the work tree, or
 * NULL. Owned by db. */
const char *ks_gitdb_directory(const struct ks_gitdb *db);
const char *ks_gitdb_worktree(const struct ks_gitdb *db);

/* The directory of git's objects, likewise. What a dead writer left in it
 * under names that begin with "kistore-" is removed by the next one. */
const char *ks_gitdb_objects(const struct ks_gitdb *db);

/* What changes when a file of git's objects comes, goes or is written anew: a
 * sum over their names, sizes and times. Equal ones are, but for chance, the
 * same files. */
uint64_t ks_gitdb_stamp(const struct ks_gitdb *db);

/* Facts that explain an absent object: a partial clone's promisor remote
 * (NULL when there is none), a shallow clone. How many packs there are. */
const char *ks_gitdb_promisor(const struct ks_gitdb *db);
bool ks_gitdb_is_shallow(const struct ks_gitdb *db);
size_t ks_gitdb_pack_count(const struct ks_gitdb *db);

/* Where HEAD points. */
struct ks_git_head {
	char branch[256];	/* "refs/heads/main"; "" when detached */
	bool unborn;		/* the branch has no commit yet */
	bool detached;
	struct ks_oid commit;	/* zero when unborn */
};
enum ks_status ks_gitdb_head(struct ks_gitdb *db, struct ks_git_head *head,
	struct ks_error *err) KS_CHECKED;

/* The commit that `revision` (a branch, tag, full or short id, "HEAD~2")
 * names: KS_NOT_FOUND when none. */
enum ks_status ks_gitdb_revision(struct ks_gitdb *db, const char *revision,
	struct ks_oid *commit, struct ks_error *err) KS_CHECKED;

/* The newest commit on the first-parent line from `from` whose committer
 * time is at or before `seconds` (POSIX time). */
enum ks_status ks_gitdb_revision_at(struct ks_gitdb *db,
	const struct ks_oid *from, int64_t seconds, struct ks_oid *commit,
	struct ks_error *err) KS_CHECKED;

/* A commit's tree, committer time and first parent (zero when it has none). */
struct ks_git_commit {
	struct ks_oid tree;
	struct ks_oid parent;
	int64_t time;
};
enum ks_status ks_gitdb_commit(struct ks_gitdb *db, const struct ks_oid *oid,
	struct ks_git_commit *out, struct ks_error *err) KS_CHECKED;

/* One entry of a tree. */
struct ks_git_entry {
	const char *name;	/* borrowed from the tree */
	uint32_t mode;		/* 0100644, 0040000, … */
	struct ks_oid oid;
};

#define KS_GIT_MODE_FILE 0100644
#define KS_GIT_MODE_TREE 0040000

/* Find `path` ("log/000/000.jsonl") under `tree`: its mode and oid (name is
 * NULL). KS_NOT_FOUND when it is not there; KS_CORRUPT or, in a partial
 * clone, KS_NOT_FOUND with "not fetched" when a tree on the way is absent. */
enum ks_status ks_gitdb_find(struct ks_gitdb *db, const struct ks_oid *tree,
	const char *path, struct ks_git_entry *out, struct ks_error *err)
	KS_CHECKED;

/* Call `visit` for each entry of one tree, in git's order; a status other than
 * KS_OK from it stops the listing and is returned. */
typedef enum ks_status ks_git_entry_fn(void *arg,
	const struct ks_git_entry *entry, struct ks_error *err);
enum ks_status ks_gitdb_list(struct ks_gitdb *db, const struct ks_oid *tree,
	ks_git_entry_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* Append a blob's bytes to `out`. KS_CORRUPT when it is damaged, of another
 * type, longer than `limit` or absent; KS_NOT_FOUND ("not fetched") when a
 * partial clone promised it. With `check`, SHA-1 is recomputed as well. */
enum ks_status ks_gitdb_blob(struct ks_gitdb *db, const struct ks_oid *oid,
	uint64_t limit, bool check, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

/* The same without a copy, for large ones: `use` gets the bytes, which are gone
 * afterwards. What it returns is returned. */
typedef enum ks_status ks_git_use_fn(void *arg, struct ks_span bytes,
	struct ks_error *err);
enum ks_status ks_gitdb_blob_use(struct ks_gitdb *db,
	const struct ks_oid *oid, uint64_t limit, ks_git_use_fn *use,
	void *arg, struct ks_error *err) KS_CHECKED;

/* Call `visit` for each file that one tree has and the other has not, or that
 * differs, in git's order of paths; `old` or `new` is NULL where there is none.
 * A directory that is only in `from`, or empty in `to`, is told as one entry.
 * Trees that are equal are not read. A status other than KS_OK from `visit`
 * stops and is returned; KS_CORRUPT: a tree is damaged, has unsafe names, or is
 * too deep. */
typedef enum ks_status ks_git_difference_fn(void *arg, const char *path,
	const struct ks_git_entry *old, const struct ks_git_entry *new,
	struct ks_error *err);
enum ks_status ks_gitdb_compare(struct ks_gitdb *db,
	const struct ks_oid *from, const struct ks_oid *to,
	ks_git_difference_fn *visit, void *arg, struct ks_error *err)
	KS_CHECKED;

/* Find and read in one step. */
enum ks_status ks_gitdb_read(struct ks_gitdb *db, const struct ks_oid *tree,
	const char *path, uint64_t limit, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Call `visit` for each tag whose name starts with `prefix`, in order of name
 * (without "refs/tags/"), with the object it names. Symbolic ones are passed
 * over. A status other than KS_OK from `visit` stops and is returned. */
typedef enum ks_status ks_git_tag_fn(void *arg, const char *name,
	const struct ks_oid *oid, struct ks_error *err);
enum ks_status ks_gitdb_tags(struct ks_gitdb *db, const char *prefix,
	ks_git_tag_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* Append "NAME <EMAIL>", who commits and tags: by git's configuration, or
 * "kistore <kistore@localhost>". */
void ks_gitdb_identity(struct ks_gitdb *db, struct ks_buf *out);

/* Append the bytes of an annotated tag. KS_CORRUPT when the object is of
 * another type (a lightweight tag names a commit), damaged or longer than
 * `limit`. */
enum ks_status ks_gitdb_tag_read(struct ks_gitdb *db,
	const struct ks_oid *oid, uint64_t limit, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Store `bytes`, a tag object that names itself `name`, as they are, and let
 * refs/tags/NAME lead to it, in place of what it led to before. The caller
 * holds the store's lock, and nobody else writes tags of such names. */
enum ks_status ks_gitdb_tag_write(struct ks_gitdb *db, const char *name,
	struct ks_span bytes, struct ks_error *err) KS_CHECKED;

/*
 * A write transaction. The caller holds the store's lock (store/lock.h) from
 * before ks_gitdb_begin() until after the end.
 *
 *	ks_gitdb_begin(&w, db, count, &err);
 *	ks_gitdb_check_clean(db, &head, paths, n, &err);
 *	ks_gitdb_add(w, frame, true, &oid, &err);	any number
 *	ks_gitdb_tree(w, &old_tree, changes, n, &tree, &err);
 *	ks_gitdb_finish(w, &tree, &head, message, time, &commit, &err);
 *	ks_gitdb_publish(w, &err);
 *	ks_gitdb_end(w);		always; undoes what was not published
 */
struct ks_git_writer;

/* Start, for about `expected` blobs (a hint: while KS_GITDB_PACK_LIMIT or more
 * packs exist, at most 256 of them are written as loose objects). First removes
 * what a dead writer left (its temporary packs, .keep files, and lock files of
 * git whose content is the commit id in kistore.lock) and brings index and
 * work tree to the commit that it published. */
enum ks_status ks_gitdb_begin(struct ks_git_writer **out, struct ks_gitdb *db,
	size_t expected, struct ks_error *err) KS_CHECKED;

/* Add a blob. `compressed` content is stored at deflate level 0. */
enum ks_status ks_gitdb_add(struct ks_git_writer *writer,
	struct ks_span content, bool compressed, struct ks_oid *oid,
	struct ks_error *err) KS_CHECKED;

/* The same for a blob of `len` bytes that are too many for memory, stored at
 * deflate level 0: `read` gives the bytes from `at` on, at least one and as
 * many as it likes, valid until the next call. It is asked for all of them
 * twice, in order. */
typedef enum ks_status ks_git_read_fn(void *arg, uint64_t at,
	struct ks_span *bytes, struct ks_error *err);
enum ks_status ks_gitdb_add_pieces(struct ks_git_writer *writer, uint64_t len,
	ks_git_read_fn *read, void *arg, struct ks_oid *oid,
	struct ks_error *err) KS_CHECKED;

/* One change to a tree: put a blob at `path`, or (a zero oid) remove it. */
struct ks_git_change {
	const char *path;
	struct ks_oid oid;
};

/* The tree that `base` (zero = empty; else one that was there before the
 * transaction; may be *tree) becomes under `changes`, which are sorted by the
 * bytes of path (strcmp) and have no duplicates: KS_USAGE otherwise, and for
 * paths that git would not take or of more than 16 components. Only trees that
 * change are read and written; a tree left empty disappears. KS_CORRUPT when a
 * file stands where a directory is needed, or the other way round. */
enum ks_status ks_gitdb_tree(struct ks_git_writer *writer,
	const struct ks_oid *base, const struct ks_git_change *changes,
	size_t count, struct ks_oid *tree, struct ks_error *err) KS_CHECKED;

/* Write the commit on top of `head` (the state the transaction began from),
 * by the repository's git identity or "kistore <kistore@localhost>", dated
 * `time` (POSIX seconds, UTC); flush everything to disk. Nothing is visible
 * yet. */
enum ks_status ks_gitdb_finish(struct ks_git_writer *writer,
	const struct ks_oid *tree, const struct ks_git_head *head,
	const char *message, int64_t time, struct ks_oid *commit,
	struct ks_error *err) KS_CHECKED;

/* Write the commit id into the lock file, then move the branch from the old
 * commit to the new one (KS_BUSY when it moved meanwhile or its lock file is
 * held: named with path and age), durably; then, in a repository with a work
 * tree, update git's index and the files at the changed paths. */
enum ks_status ks_gitdb_publish(struct ks_git_writer *writer,
	struct ks_error *err) KS_CHECKED;

void ks_gitdb_end(struct ks_git_writer *writer);

/* In a repository with a work tree: KS_BUSY naming the first path among
 * `paths` that differs between HEAD, git's index and the work tree, so that a
 * writer would overwrite somebody's change. KS_OK in a bare one. To be called
 * after ks_gitdb_begin(), which may have to finish a dead writer's work. */
enum ks_status ks_gitdb_check_clean(struct ks_gitdb *db,
	const struct ks_git_head *head, const char *const *paths, size_t count,
	struct ks_error *err) KS_CHECKED;

/*
 * Rewriting the history of a branch: files leave every tree of it, or change.
 * The caller holds the store's lock, and has let ks_gitdb_begin() clear away
 * what a dead writer left.
 *
 *	ks_gitdb_rewrite(&r, db, &head, &plan, &err);
 *	ks_gitdb_rewrite_others(r, visit, arg, &err);
 *	ks_gitdb_rewrite_publish(r, &err);
 *	ks_gitdb_prune(db, true, lock, &err);
 *	ks_gitdb_rewrite_left(r, &left, &err);
 *	ks_gitdb_rewrite_free(r);	always; undoes what was not published
 */
struct ks_git_rewrite;

/* A path in every tree. What stands there goes, with all below it; or, with
 * `edit`, a file there changes. */
struct ks_git_cut {
	const char *path;
	bool edit;
	bool found;	/* set when history had something to go or change */
};

struct ks_git_plan {
	struct ks_git_cut *cuts;	/* at least one; sorted by the bytes of
					 * path (strcmp), none twice and none
					 * below another */
	size_t count;
	uint64_t limit;			/* bytes of a file that changes */
	void *arg;
	/* Append to `new` what the file of cuts[cut] is to be. */
	enum ks_status (*edit)(void *arg, size_t cut, struct ks_span old,
		struct ks_buf *new, struct ks_error *err);
	/* Called now and then; NULL = not. Both end it all by their status. */
	enum ks_status (*step)(void *arg, uint64_t commits,
		struct ks_error *err);
};

/* Compose the commits that lead to head->commit (all parents) anew, as far as
 * their trees or parents change: the same but for tree, parents and signatures.
 * Nothing is visible yet. `plan` stays in use. Memory: about 60 bytes a
 * commit. KS_CORRUPT when a commit or tree is damaged. */
enum ks_status ks_gitdb_rewrite(struct ks_git_rewrite **out,
	struct ks_gitdb *db, const struct ks_git_head *head,
	const struct ks_git_plan *plan, struct ks_error *err) KS_CHECKED;

/* What came of it. */
struct ks_git_rewrite_counts {
	uint64_t commits;	/* of the branch */
	uint64_t rewritten;	/* of these */
	uint64_t signatures;	/* that were dropped */
	struct ks_oid head;	/* what the branch is to lead to */
};
const struct ks_git_rewrite_counts *ks_gitdb_rewrite_counts(
	const struct ks_git_rewrite *rewrite);

/* Call `visit` for each other reference, and each detached HEAD of another
 * work tree ("worktrees/NAME/HEAD"), that leads to what the plan cuts; with the
 * object that it names. */
typedef enum ks_status ks_git_other_fn(void *arg, const char *name,
	const struct ks_oid *oid, struct ks_error *err);
enum ks_status ks_gitdb_rewrite_others(struct ks_git_rewrite *rewrite,
	ks_git_other_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* Write the new objects, see that the newest tree stays the same (KS_CORRUPT),
 * and move the branch, as ks_gitdb_publish() does. Nothing is done where
 * nothing is to be rewritten. */
enum ks_status ks_gitdb_rewrite_publish(struct ks_git_rewrite *rewrite,
	struct ks_error *err) KS_CHECKED;

/* How many of the blobs that went or changed are in the repository still. */
enum ks_status ks_gitdb_rewrite_left(const struct ks_git_rewrite *rewrite,
	uint64_t *left, struct ks_error *err) KS_CHECKED;
void ks_gitdb_rewrite_free(struct ks_git_rewrite *rewrite);

/* Run stock `git gc` on the repository, hooks off, no terminal prompts; KS_IO
 * with git's reason when it fails or there is no git. */
enum ks_status ks_gitdb_gc(struct ks_gitdb *db, struct ks_error *err)
	KS_CHECKED;

/* The same, and remove every object that no reference leads to, after all
 * reflogs. Removing what was written a moment ago as well, it must not run
 * beside another writer: git inherits `lock`, the descriptor of the store's
 * lock, which so stays held until git is done even when this process dies.
 * `afresh`: look for deltas between the objects of one pack, too, which git
 * else takes for done. */
enum ks_status ks_gitdb_prune(struct ks_gitdb *db, bool afresh, int lock,
	struct ks_error *err) KS_CHECKED;

/* Delete references with stock git. `commands` are lines "delete REF ID". */
enum ks_status ks_gitdb_delete_refs(struct ks_gitdb *db,
	struct ks_span commands, int lock, struct ks_error *err) KS_CHECKED;

/* Write a pack of what the revisions lead to, as `git pack-objects --revs`
 * reads them ("ID" and "^ID", a line each), to the open file `pack`;
 * `revisions` is open at its start. By stock git, and nothing is written
 * elsewhere. */
enum ks_status ks_gitdb_pack(struct ks_gitdb *db, int revisions, int pack,
	struct ks_error *err) KS_CHECKED;

/* Make the index of a pack (whose name ends in ".pack"), wherever it is; no
 * file `index` is there yet. */
enum ks_status ks_gitdb_index_pack(struct ks_gitdb *db, const char *pack,
	const char *index, struct ks_error *err) KS_CHECKED;

/* Give a file or directory the permissions that core.sharedRepository asks
 * for; nothing is done where it is not set, or where `path` is not ours. */
void ks_gitdb_share(const struct ks_gitdb *db, const char *path);

/*
 * What comes from elsewhere: fetched aside with stock git, and adopted only
 * when it was found right. The caller holds the store's lock.
 *
 *	ks_gitdb_remote_head(db, url, watch, &oid, &err);	anything new?
 *	ks_gitdb_aside(&aside, db, &err);
 *	ks_gitdb_fetch(aside, url, lock, watch, &err);
 *	... looks at KS_GIT_FETCHED in `aside`
 *	ks_gitdb_adopt(db, aside, &err);
 *	ks_gitdb_move(db, &commit, &err);
 *	ks_gitdb_close(aside);
 *	ks_gitdb_remove_aside(db);
 */
#define KS_GIT_FETCHED "refs/kistore/fetched"

/* What a message begins with where it is this machine that has no git. */
#define KS_GIT_CANNOT_RUN "cannot run git"

/* The commit that HEAD leads to at `url`. KS_IO with git's reason when it
 * cannot be asked, KS_NOT_FOUND when there is none. Here and below, `watch` (or
 * NULL) may end the wait for a server that says nothing: KS_CANCELLED. */
enum ks_status ks_gitdb_remote_head(struct ks_gitdb *db, const char *url,
	const struct ks_watch *watch, struct ks_oid *head,
	struct ks_error *err) KS_CHECKED;

/* The repository aside, made or (after a death) gone on with: bare, with all
 * objects of `db`. */
enum ks_status ks_gitdb_aside(struct ks_gitdb **out, struct ks_gitdb *db,
	struct ks_error *err) KS_CHECKED;
bool ks_gitdb_has_aside(const struct ks_gitdb *db);
void ks_gitdb_remove_aside(const struct ks_gitdb *db);

/* Fetch HEAD (to KS_GIT_FETCHED) and the tags snapshot/…, with all that they
 * lead to. git inherits `lock`. KS_IO with what git said; KS_CORRUPT: an object
 * is out of form, or a tree has a name like ".git". */
enum ks_status ks_gitdb_fetch(struct ks_gitdb *db, const char *url, int lock,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;

/* Move the objects of `aside` into `db`, durably. */
enum ks_status ks_gitdb_adopt(struct ks_gitdb *db,
	const struct ks_gitdb *aside, struct ks_error *err) KS_CHECKED;

/* Let HEAD's branch, of a bare repository, lead to `commit`, durably, whatever
 * it led to before. */
enum ks_status ks_gitdb_move(struct ks_gitdb *db, const struct ks_oid *commit,
	struct ks_error *err) KS_CHECKED;

/* Let refs/tags/NAME lead to an object that is there. */
enum ks_status ks_gitdb_tag_point(struct ks_gitdb *db, const char *name,
	const struct ks_oid *oid, struct ks_error *err) KS_CHECKED;

/* What keeps git from removing objects: whether it was told never to
 * (extensions.preciousObjects); and each pack and place that it leaves as it
 * is ("objects/pack/pack-….keep", "objects/info/alternates"). */
bool ks_gitdb_is_precious(struct ks_gitdb *db);
typedef void ks_git_name_fn(void *arg, const char *name);
void ks_gitdb_untouched(struct ks_gitdb *db, ks_git_name_fn *visit, void *arg);

#endif
