/*
 * What the parts of the index share (private to store/index*.c):
 *
 *	index.c		the tables, opening, catching up, questions
 *	index_follow.c	from lines of the log to rows
 *
 * The catalogue has its tables in the same database (store/catalogue.h).
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
	KS_INDEX_ADD_KEY,
	KS_INDEX_GET_KEYS,
	KS_INDEX_BY_DIGEST,
	KS_INDEX_BY_NAME,
	KS_INDEX_BY_SLUG,
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
	bool took_down;		/* something, so that its texts must not stay
				 * in the WAL */
	bool read_only;		/* the file is current, but cannot be written */
	bool as_is;		/* only looked at: the file stays, whatever is
				 * wrong with it */
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

/* Build the index of the same commit anew: in memory, or in a file in place of
 * the one there is. Its address stays. */
enum ks_status ks_index_rebuild(struct ks_index *index,
	const struct ks_index_goal *goal, bool in_memory,
	struct ks_error *err) KS_CHECKED;

/* Open the file as it is, for reading, whatever commit it is of. KS_NOT_FOUND:
 * there is none, or one without tables; KS_CORRUPT: it is no index, or one of
 * another version; KS_IO: it cannot be opened. */
enum ks_status ks_index_open_as_is(struct ks_index **out, struct ks_gitdb *db,
	struct ks_error *err) KS_CHECKED;

/* Begin to change the tables, at the commit that was read so far; KS_BUSY when
 * another process has changed them. */
enum ks_status ks_index_begin(struct ks_index *index, struct ks_error *err)
	KS_CHECKED;

/* Whether the log in `tree` begins with the `size` lines that it had in an
 * older commit. */
bool ks_index_extends(struct ks_gitdb *db, const struct ks_oid *commit,
	const struct ks_oid *tree, uint64_t size);

/* A value of the table `meta`, by name; false when there is none of `len`
 * bytes. */
bool ks_index_get_meta(struct ks_index *index, const char *name, void *out,
	size_t len);
enum ks_status ks_index_set_meta(struct ks_index *index, const char *name,
	const void *value, size_t len, struct ks_error *err) KS_CHECKED;

/* SQL that drops the tables of the catalogue: when the index is built anew,
 * and when something was taken down, of which nothing shall stay. */
#define KS_CATALOGUE_META "catalogue"
extern const char ks_catalogue_drop[];

/* The least and greatest strings of `len` bytes whose hex digits start with
 * `hex`; false when none do. */
bool ks_index_hex_range(struct ks_span hex, uint8_t *low, uint8_t *high,
	size_t len);

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
