/*
 * An open store: one repository at one commit, and what was read of it.
 *
 * Private to src/store. Everything derived is loaded on first use.
 */
#ifndef KS_STORE_STORE_H
#define KS_STORE_STORE_H

#include "format/entry.h"
#include "format/frame.h"
#include "format/jcs.h"
#include "format/layout.h"
#include "format/merkle.h"
#include "kistore.h"
#include "store/dictionaries.h"
#include "store/gitdb.h"
#include "store/index.h"
#include "store/lines.h"
#include "store/lock.h"
#include "store/watch.h"

struct ks_store {
	struct ks_gitdb *db;
	struct ks_git_head head;
	struct ks_oid commit;	/* whose state is read */
	struct ks_oid tree;
	bool in_the_past;	/* opened with --at */
	struct ks_buf origin;	/* NUL-terminated text; empty = none */
	struct ks_dictionaries *dictionaries;	/* NULL until needed */
	struct ks_index *index;			/* NULL until needed */
	struct ks_catalogue *catalogue;		/* NULL until needed */
	struct ks_attesters *attesters;		/* NULL until needed */
	struct ks_lines *lines;			/* NULL until needed */
	struct ks_framer *framer;
	struct ks_jcs *jcs;
	/* What ks_store_status() hands out. */
	struct ks_buf others, kind_texts;
	struct ks_kind_count *kinds;
};

/* KS_USAGE with the rule that `origin` breaks (store-layout.md T6). */
enum ks_status ks_store_check_origin(const char *origin, struct ks_error *err)
	KS_CHECKED;

/* The dictionaries and the index of the commit being read. */
enum ks_status ks_store_dictionaries(struct ks_store *store,
	struct ks_dictionaries **out, struct ks_error *err) KS_CHECKED;
enum ks_status ks_store_index(struct ks_store *store, struct ks_index **out,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;

/* Remove the file of the index: free pages of it may hold what the log had. It
 * is made again from the log as it is. */
enum ks_status ks_store_remove_index(struct ks_store *store,
	struct ks_error *err) KS_CHECKED;

/* Look again at HEAD and forget what was loaded: for a writer that has just
 * got the lock. */
enum ks_status ks_store_refresh(struct ks_store *store, struct ks_error *err)
	KS_CHECKED;

/* Append the body of an object, hashed and found right. KS_NOT_FOUND when
 * its path is not in the tree; KS_CORRUPT when the bytes are damaged. Does
 * not look at the log. */
enum ks_status ks_store_body(struct ks_store *store, const struct ks_id *id,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* The same in pieces, none of which is given to `write` before all were hashed
 * and found right; no more of the body than a window is in memory. A status
 * other than KS_OK from `write` ends it and is returned. */
enum ks_status ks_store_body_pieces(struct ks_store *store,
	const struct ks_id *id, ks_write_fn *write, void *arg,
	struct ks_error *err) KS_CHECKED;

/* Whether the tree has a file at an object's address. */
bool ks_store_has(struct ks_store *store, const struct ks_id *id);

/* Judge why an object is not in the tree: KS_NOT_FOUND (never published,
 * taken down, not fetched) or KS_CORRUPT (published but absent), with text. */
enum ks_status ks_store_explain_absence(struct ks_store *store,
	const struct ks_id *id, struct ks_error *err);

/* Append one line of the log (without LF). Neighbours of one that was read
 * lately cost nothing. */
enum ks_status ks_store_line(struct ks_store *store, uint64_t index,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* The current metadata and provenance of an object, canonical; empty when it
 * has none. Each may be NULL when it is not wanted. */
enum ks_status ks_store_notes(struct ks_store *store,
	const struct ks_index_row *row, struct ks_buf *metadata,
	struct ks_buf *provenance, struct ks_error *err) KS_CHECKED;

#endif
