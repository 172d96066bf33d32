/*
 * One change to a store: lines appended to the log, files put into the tree,
 * one commit.
 *
 *	ks_writing_begin(&w, store, &options, expected, &err);
 *	ks_writing_line(&w, &entry, &err);		as often as needed
 *	ks_writing_file(&w, path, bytes, compressed, &err);
 *	ks_writing_commit(&w, "put 3 objects", &err);
 *	ks_writing_end(&w);				always
 *
 * The writer's lock is held from begin to end. Every line goes through the
 * rules of replay before it is written: a line that would be a fault is
 * refused. All lines carry one time (store-layout.md, section "writers").
 */
#ifndef KS_STORE_WRITING_H
#define KS_STORE_WRITING_H

#include "store/store.h"

struct ks_writing {
	struct ks_store *store;
	const struct ks_watch *watch;
	struct ks_lock lock;
	struct ks_git_writer *writer;	/* NULL in a dry run */
	struct ks_index *index;
	struct ks_replay *replay;
	char at[KS_TIME_TEXT + 1];	/* of every line */
	int64_t seconds;		/* the same, POSIX */
	uint64_t lines;			/* appended so far */
	struct ks_buf line;		/* scratch */
	struct ks_buf segment;		/* the last segment, growing */
	struct ks_buf paths;		/* of changes, each ended by NUL */
	struct ks_oid *oids;		/* one a change */
	size_t changes, room;
	bool rewrites;			/* earlier lines change, too */
	struct ks_oid commit;		/* once committed, else zero */
};

/* Take the lock, look at the newest state, get ready to extend its log.
 * KS_BUSY: the lock is held, or a work tree has changes in the way. KS_IO:
 * HEAD is detached. KS_UNSUPPORTED: the log needs a newer kistore. With
 * `dry_run` nothing is locked or written. */
enum ks_status ks_writing_begin(struct ks_writing *writing,
	struct ks_store *store, const struct ks_write_options *options,
	size_t expected, bool dry_run, struct ks_error *err) KS_CHECKED;

/* The same, replaying the log from its first entry: for lines that only a
 * whole replay can judge (ks_replay_needs_all()). */
enum ks_status ks_writing_begin_whole(struct ks_writing *writing,
	struct ks_store *store, const struct ks_write_options *options,
	struct ks_error *err) KS_CHECKED;

/* Append a line; `entry->at` is filled in. *object is the number of the object
 * it is about, as ks_replay_line() gives it. KS_INVALID with the rule when
 * the line would be a fault. */
enum ks_status ks_writing_line(struct ks_writing *writing,
	struct ks_entry *entry, uint32_t *object, struct ks_error *err)
	KS_CHECKED;

/* Put a file into the tree, or (bytes NULL) take it out. */
enum ks_status ks_writing_file(struct ks_writing *writing, const char *path,
	struct ks_span bytes, bool compressed, struct ks_error *err) KS_CHECKED;
/* The same for a compressed file that is too large for memory, in pieces: see
 * ks_gitdb_add_pieces(). */
enum ks_status ks_writing_pieces(struct ks_writing *writing, const char *path,
	uint64_t len, ks_git_read_fn *read, void *arg, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_writing_remove(struct ks_writing *writing,
	const char *path, struct ks_error *err) KS_CHECKED;

/* Commit and publish, when there is anything to. The store then reads the new
 * state. Nothing is visible before this, and all of it after. */
enum ks_status ks_writing_commit(struct ks_writing *writing,
	const char *message, struct ks_error *err) KS_CHECKED;

void ks_writing_end(struct ks_writing *writing);

#endif
