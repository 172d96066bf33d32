/*
 * What the parts of the index share (private to store/index*.c):
 *
 *	index.c		the tables, opening, catching up, questions
 *	index_follow.c	from lines of the log to rows
 *
 * An object is known by the number of its publish line, which rows refer to.
 * So all tables are filled in the order of the log, and a build only appends;
 * what orders them otherwise is made at its end.
 */
#ifndef KS_STORE_INDEX_INTERNAL_H
#define KS_STORE_INDEX_INTERNAL_H

#include "base/buf.h"
#include "store/db.h"
#include "store/index.h"

enum ks_index_statement {
	KS_INDEX_GET_META,
	KS_INDEX_SET_META,
	KS_INDEX_ADD_KIND,
	KS_INDEX_FIND_KIND,
	KS_INDEX_ADD_OBJECT,
	KS_INDEX_GET_OBJECT,
	KS_INDEX_SET_METADATA,
	KS_INDEX_SET_PROVENANCE,
	KS_INDEX_SET_STATE,
	KS_INDEX_ADD_ID,
	KS_INDEX_GET_ID,
	KS_INDEX_ADD_LINE,
	KS_INDEX_GET_LINES,
	KS_INDEX_BY_DIGEST,
	KS_INDEX_BY_NAME,
	KS_INDEX_BY_ID,
	KS_INDEX_BY_KIND,
	KS_INDEX_BY_MISSING,
	KS_INDEX_COUNT_KINDS,
	KS_INDEX_COUNT_OBJECTS,
	KS_INDEX_STATEMENTS
};

/* Bits of object.flags, which SQL counts too. */
enum {
	KS_INDEX_RETRACTED = 1,
	KS_INDEX_SUPERSEDED = 2,
	KS_INDEX_TAKEN_DOWN = 4,
	KS_INDEX_REDACTED = 8,
	KS_INDEX_WAS_RETRACTED = 16,
	KS_INDEX_WAS_SUPERSEDED = 32,
	KS_INDEX_HAS_MISSING = 64
};

struct ks_index {
	struct ks_db tables;
	struct ks_oid commit;
	struct ks_index_log log;
	bool in_memory;
	bool distrusted;	/* by the caller, so the file has to go */
	struct ks_buf path;	/* of the file */
	char kind[sizeof(((struct ks_index_row *)NULL)->kind)];
				/* what the loader handed out */
};

/* The log that an index is to follow. */
struct ks_index_goal {
	struct ks_gitdb *db;
	const struct ks_oid *commit, *tree;
	const struct ks_watch *watch;
};

void ks_index_bind_digest(struct sqlite3_stmt *stmt, int at,
	const struct ks_id *digest);

/* Bring the tables and index->log, which hold the lines below index->log's
 * size, to the end of the log. When it meets a line that only a build from
 * entry 0 can judge, *needs_all is set and the status KS_CANCELLED. After a
 * failure the transaction has to be undone. */
enum ks_status ks_index_follow(struct ks_index *index,
	const struct ks_index_goal *goal, bool *needs_all,
	struct ks_error *err) KS_CHECKED;

#endif
