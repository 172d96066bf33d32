/*
 * What the parts of gitdb share. Together they are the one user of libgit2:
 *
 *	gitdb_open.c		starting libgit2, opening, the configuration
 *	gitdb_create.c		a new repository
 *	gitdb.c			ids, errors, modes, HEAD, revisions, commits
 *	gitdb_read.c		objects, trees, paths
 *	gitdb_loose.c		keeping libgit2 from bad loose objects
 *	gitdb_pack.c		new objects, from memory to objects/
 *	gitdb_tree.c		a tree under changes
 *	gitdb_compare.c		what differs between trees
 *	gitdb_write.c		the transaction: leftovers, commit, branch
 *	gitdb_tag.c		annotated tags
 *	gitdb_worktree.c	git's index and the files beside it
 *	gitdb_filter.c		trees without what is cut out of them
 *	gitdb_rewrite.c		a branch's history, rewritten
 *	gitdb_run.c		running stock git
 *	gitdb_gc.c		git gc, packs
 *	gitdb_fetch.c		git fetch
 *	gitdb_adopt.c		taking over what was fetched aside
 */
#ifndef KS_STORE_GITDB_INTERNAL_H
#define KS_STORE_GITDB_INTERNAL_H

#include <git2.h>

#include "store/gitdb.h"

/* Lock file, private directories and .keep files of kistore begin with this. */
#define KS_GIT_PRIVATE "kistore-"

/* What git's index is changed in (libgit2 locks it by a file NAME.lock). */
#define KS_GIT_INDEX_COPY KS_GIT_PRIVATE "index"

/* The longest path handled, in components. */
#define KS_GIT_DEPTH_MAX 16

struct ks_gitdb {
	git_repository *repo;
	git_odb *odb;
	git_odb *anew;		/* the packs as they were found later, or
				 * NULL */
	int refusal;		/* errno of when the system refused libgit2
				 * something; 0 = never */
	char *directory;	/* the common git directory, ends in '/' */
	char *gitdir;		/* this work tree's; else the same */
	char *objects;		/* directory of objects, ends in '/' */
	char *worktree;		/* ends in '/', or NULL */
	char *promisor;		/* name of a remote, or NULL */
	bool shallow;
	int shared;		/* core.sharedRepository as bits; 0 = umask,
				 * negative = exactly these */
	char *created;		/* the path given to ks_gitdb_create(), … */
	size_t made;		/* … and the length of its topmost directory
				 * that was made then; 0 = none was */
};

/* Record a failure of libgit2: the text, ": " and its message. The status is
 * KS_NOMEM or KS_IO when the system failed, KS_BUSY for a lock, otherwise
 * `otherwise`. */
enum ks_status ks_git_fail(struct ks_error *err, int code,
	enum ks_status otherwise, const char *format, ...) KS_PRINTF(4, 5);

/* Start libgit2, once for the process. */
enum ks_status ks_git_start(struct ks_error *err) KS_CHECKED;

/* Make a ks_gitdb of `repo`, which is taken over also after a failure. */
enum ks_status ks_git_wrap(struct ks_gitdb **out, git_repository *repo,
	struct ks_error *err) KS_CHECKED;

bool ks_git_ends_in(const char *name, const char *suffix);

/* "DIRECTORY" "NAME" in fresh memory, or NULL. */
char *ks_git_join(const char *directory, const char *name);

/* mkdir with what git would give it; there already is fine. */
enum ks_status ks_git_mkdir(const struct ks_gitdb *db, const char *path,
	struct ks_error *err) KS_CHECKED;

/* Remove what is below the directory `path`, which is kistore's own; with a
 * `prefix`, of its names those that begin so. No link is followed. */
void ks_git_remove_below(const char *path, const char *prefix);

/* Keep libgit2 from loose objects that it would not come back from, or would
 * follow a link to (gitdb_loose.c). */
enum ks_status ks_git_guard_loose(struct ks_gitdb *db, struct ks_error *err)
	KS_CHECKED;

/* Read an object of `type`; the caller frees it with git_odb_object_free(). */
enum ks_status ks_git_object(struct ks_gitdb *db, const struct ks_oid *oid,
	git_object_t type, git_odb_object **out, struct ks_error *err)
	KS_CHECKED;

/* Walk the raw bytes of a tree. */
struct ks_git_cursor {
	const uint8_t *at, *end;
	/* The entry read last: */
	struct ks_span name;
	uint32_t mode;
	const uint8_t *oid;
	struct ks_span raw;	/* all its bytes */
};

/* 1: an entry was read; 0: the end; -1: the bytes are not a tree. */
int ks_git_cursor_next(struct ks_git_cursor *cursor);
struct ks_git_cursor ks_git_cursor(git_odb_object *tree);

/* git's order of names in a tree: a directory's as if it ended in '/'. */
int ks_git_name_compare(struct ks_span a, bool a_is_tree, struct ks_span b,
	bool b_is_tree);

/* Whether `name` may be a component of a path: not empty, ".", "..", ".git" in
 * any case, and without '/' and '\0'. */
bool ks_git_name_is_safe(struct ks_span name);

/* KS_USAGE unless `path` is 1 to KS_GIT_DEPTH_MAX such components. */
enum ks_status ks_git_check_path(const char *path, struct ks_error *err)
	KS_CHECKED;

/*
 * New objects on their way to the repository. They become visible, flushed to
 * disk, by ks_git_pack_place(): as one pack with a .keep file, or loose.
 */
struct ks_git_pack;
enum ks_status ks_git_pack_new(struct ks_git_pack **out, struct ks_gitdb *db,
	bool loose, struct ks_error *err) KS_CHECKED;
/* Take in an object; `store` = deflate level 0. */
enum ks_status ks_git_pack_add(struct ks_git_pack *pack, git_object_t type,
	struct ks_span content, bool store, struct ks_oid *oid,
	struct ks_error *err) KS_CHECKED;
/* The same of a blob in pieces (see ks_gitdb_add_pieces()). */
enum ks_status ks_git_pack_add_pieces(struct ks_git_pack *pack, uint64_t len,
	ks_git_read_fn *read, void *arg, struct ks_oid *oid,
	struct ks_error *err) KS_CHECKED;
/* `note` is what the .keep file will say. */
enum ks_status ks_git_pack_place(struct ks_git_pack *pack, const char *note,
	struct ks_error *err) KS_CHECKED;
/* The branch has moved: the pack need not be kept by force any more. */
void ks_git_pack_release(struct ks_git_pack *pack);
/* What was placed and not released is removed. */
void ks_git_pack_free(struct ks_git_pack *pack);
/* What a dead writer left in objects/, under the store's lock. */
void ks_git_pack_sweep(struct ks_gitdb *db);

/* The tree that `base` becomes under changes (see ks_gitdb_tree()). */
enum ks_status ks_git_tree_merge(struct ks_gitdb *db, struct ks_git_pack *pack,
	const struct ks_oid *base, const struct ks_git_change *changes,
	size_t count, struct ks_oid *tree, struct ks_error *err) KS_CHECKED;

/* Read an object whose bytes have the SHA-1 that names it: what is copied from
 * one that is damaged would pass for sound. */
enum ks_status ks_git_sound(struct ks_gitdb *db, const struct ks_oid *oid,
	git_object_t type, git_odb_object **out, struct ks_error *err)
	KS_CHECKED;

/*
 * Trees under the cuts of a plan (see ks_gitdb_rewrite()). What changes is
 * added to `pack`; once ks_git_filter_dry() was called, it has the id
 * ks_git_changed instead, and nothing is added.
 */
struct ks_git_filter;
extern const struct ks_oid ks_git_changed;
enum ks_status ks_git_filter_new(struct ks_git_filter **out,
	struct ks_gitdb *db, const struct ks_git_plan *plan,
	struct ks_git_pack *pack, struct ks_error *err) KS_CHECKED;
void ks_git_filter_free(struct ks_git_filter *filter);
void ks_git_filter_dry(struct ks_git_filter *filter);
/* What the root tree `old` becomes. */
enum ks_status ks_git_filter_root(struct ks_git_filter *filter,
	const struct ks_oid *old, struct ks_oid *new, struct ks_error *err)
	KS_CHECKED;
/* The blobs that went or changed so far: whether one is among them; all, each a
 * struct ks_oid. */
bool ks_git_filter_removed(const struct ks_git_filter *filter,
	const struct ks_oid *oid);
struct ks_span ks_git_filter_list(const struct ks_git_filter *filter);

/* Whether any reference leads to a commit; true where that cannot be told. */
bool ks_git_is_reached(struct ks_gitdb *db, const struct ks_oid *commit);

/*
 * Lock files as git makes them, PATH.lock. Ours appear complete and hold the
 * id of the commit to be published, so that the next writer can tell what a
 * dead one left; somebody else's are never removed.
 */
enum ks_status ks_git_lock(const struct ks_gitdb *db, const char *path,
	const char *content, struct ks_error *err) KS_CHECKED;
void ks_git_lock_sweep(const char *path, const char *content);

/* Have kistore.lock say that `commit` is to be published, and whether git's
 * index and the work tree are then still to be brought there: before the
 * branch moves. */
enum ks_status ks_git_intend(const struct ks_gitdb *db,
	const struct ks_oid *commit, bool pending, struct ks_error *err)
	KS_CHECKED;

/* Move the branch of `head` from head->commit (from nothing, when it is unborn)
 * to `commit`, which stands in the branch's lock file until then. The rename
 * of that file is the commit point: *moved becomes true there, whatever fails
 * after it, and is left alone otherwise. KS_BUSY when somebody else has moved
 * the branch or holds its lock. */
enum ks_status ks_git_move_branch(const struct ks_gitdb *db,
	const struct ks_git_head *head, const struct ks_oid *commit,
	bool *moved, struct ks_error *err) KS_CHECKED;

/* The lock file of git's index, held by who is to publish `commit`. */
enum ks_status ks_git_index_lock(const struct ks_gitdb *db,
	const struct ks_oid *commit, struct ks_error *err) KS_CHECKED;
void ks_git_index_unlock(const struct ks_gitdb *db);

/* With that lock held, bring git's index and the work tree from one commit
 * (zero = none) to the next. A path that somebody changed meanwhile is left
 * alone. */
enum ks_status ks_git_checkout(struct ks_gitdb *db, const struct ks_oid *from,
	const struct ks_oid *to, struct ks_error *err) KS_CHECKED;

/* Where git reads from and writes to, and what it inherits. */
struct ks_git_channels {
	int input;	/* -1: nothing */
	int output;	/* -1: with its messages */
	int messages;	/* of which one is kept */
	int lock;	/* a descriptor that is held while it runs; -1: none */
	bool no_grafts;	/* commits have the parents that they name */
	const struct ks_watch *watch;	/* is told of progress, and may have
					 * git ended; NULL: neither */
};

#define KS_GIT_NO_CHANNELS { .input = -1, .output = -1, .messages = -1, \
	.lock = -1 }

#define KS_GIT_WORDS_MAX 24

/* Run a command of git on the repository; nothing that this names is executed.
 * `words` are options of git, the command `what` and its own options, and end
 * with NULL. KS_IO with git's reason; KS_CANCELLED: the watcher wants to stop,
 * and git was stopped. */
enum ks_status ks_git_run(struct ks_gitdb *db, const char *what,
	const char *const words[], const struct ks_git_channels *channels,
	struct ks_error *err) KS_CHECKED;

/* A file without a name that holds `bytes`, open at its start. */
enum ks_status ks_git_scratch(struct ks_gitdb *db, struct ks_span bytes,
	int *fd, struct ks_error *err) KS_CHECKED;

static inline git_oid
ks_git_oid(const struct ks_oid *oid)
{
	git_oid out = { .id = { 0 } };

	memcpy(out.id, oid->bytes, sizeof(out.id));
	return out;
}

static inline struct ks_oid
ks_git_oid_of(const git_oid *oid)
{
	struct ks_oid out;

	memcpy(out.bytes, oid->id, sizeof(out.bytes));
	return out;
}

#endif
