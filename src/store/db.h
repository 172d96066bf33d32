/*
 * A database of derived data, by SQLite. The only user of SQLite.
 *
 * The owner says which statements it will run; each is prepared on first use
 * and kept. The first failure sticks: it is what ks_db_check() says from then
 * on, so that a caller may look things up and ask once. A statement that could
 * not be prepared is NULL, and the functions that take one do nothing with it,
 * or fail.
 *
 *	stmt = ks_db_statement(db, FIND_ROWS);
 *	ks_db_bind_text(stmt, 1, name);
 *	while (ks_db_next(db, stmt))
 *		use(ks_db_number(stmt, 0));
 *	return ks_db_check(db, err);
 *
 * Who adds tables of its own to a database that another owns sets `more`; its
 * statements are numbered from the owner's count on. A statement whose text is
 * only known when it is needed is made by ks_db_prepare().
 *
 * All reading and writing is inside a transaction. After one that writes, a
 * transaction that reads is open again: one view for all look-ups to come, and
 * no locking for each.
 */
#ifndef KS_STORE_DB_H
#define KS_STORE_DB_H

#include "base/buf.h"
#include "base/error.h"

/* A statement that was prepared; SQLite's. */
struct sqlite3_stmt;

#define KS_DB_STATEMENTS 80	/* of both plans, at most */

/* What an owner does with its database. Static. */
struct ks_db_plan {
	const char *name;	/* begins messages */
	const char *remedy;	/* ends those about damage */
	size_t count;
	const char *const *sql;	/* texts of the statements, by number */
};

/* All zero = closed, but for `plan`. Fields are for db.c, but what is said
 * here. */
struct ks_db {
	const struct ks_db_plan *plan;	/* set by the owner, once */
	const struct ks_db_plan *more;	/* or NULL; set once, too */
	struct sqlite3 *connection;
	struct sqlite3_stmt *statements[KS_DB_STATEMENTS];
	bool in_transaction;
	bool damaged;			/* the first failure was that the file
					 * is not what it should be; to read */
	struct ks_error failure;	/* the first one */
};

enum ks_db_mode {
	KS_DB_WRITE,	/* a file, created if absent, with a WAL beside it
			 * that stays after closing; flushed when the WAL is
			 * moved into it, not at every commit */
	KS_DB_READ,	/* a file and its WAL */
	KS_DB_READ_ALONE, /* a file that nobody changes, without a WAL */
	KS_DB_FRESH,	/* an empty file that nobody else looks at yet: there
			 * is nothing beside it, nothing is flushed, and its
			 * bytes follow from what is done alone; of no use
			 * after a failure */
	KS_DB_MEMORY	/* `path` is not used */
};

/* Open it, closing it first. Waits up to 30 s for locks of others, then and
 * later. A file that is no database may only show when it is read. */
enum ks_status ks_db_open(struct ks_db *db, const char *path,
	enum ks_db_mode mode, struct ks_error *err) KS_CHECKED;

/* Undo what was not committed; forgets the failure. */
void ks_db_close(struct ks_db *db);

/* Whether there is a WAL with anything in it beside a file: then the file
 * alone may be torn. */
bool ks_db_has_wal(const char *path);

/* Remove a file and what is beside it. */
void ks_db_remove(const char *path);

/* The first failure, KS_IO; KS_OK when there was none. */
enum ks_status ks_db_check(const struct ks_db *db, struct ks_error *err)
	KS_CHECKED;

/* Forget a failure: what caused it is gone. */
void ks_db_forgive(struct ks_db *db);

/* Begin a transaction, ending the one that is open. */
enum ks_status ks_db_begin(struct ks_db *db, bool writing,
	struct ks_error *err) KS_CHECKED;

/* End one that writes: commit and begin to read, or (`status` is not KS_OK)
 * undo it and return `status`. */
enum ks_status ks_db_end(struct ks_db *db, enum ks_status status,
	struct ks_error *err) KS_CHECKED;

/* Move the WAL into the file, as far as nobody else still reads the file as it
 * was before; waits for nobody. Then begin to read. */
enum ks_status ks_db_empty_wal(struct ks_db *db, struct ks_error *err)
	KS_CHECKED;

/* Run statements that return no rows, and are not in the plan. */
enum ks_status ks_db_run(struct ks_db *db, const char *sql,
	struct ks_error *err) KS_CHECKED;

/* A number that changes with every change of tables, by whomever. */
uint64_t ks_db_schema(struct ks_db *db);

/* Statement `which` of the plans, ready to be bound; NULL on failure. */
struct sqlite3_stmt *ks_db_statement(struct ks_db *db, size_t which);

/* A statement that is in no plan; NULL on failure. What comes from outside is
 * bound, never part of the text. To be discarded before a transaction begins
 * or ends; NULL is allowed. */
struct sqlite3_stmt *ks_db_prepare(struct ks_db *db, const char *sql);
void ks_db_discard(struct sqlite3_stmt *stmt);

/* Give parameter `at` (from 1) a value. What a span points at must stay until
 * the statement was run; an empty text is NULL. */
void ks_db_bind_bytes(struct sqlite3_stmt *stmt, int at, struct ks_span bytes);
void ks_db_bind_text(struct sqlite3_stmt *stmt, int at, struct ks_span text);
void ks_db_bind_number(struct sqlite3_stmt *stmt, int at, uint64_t value);
void ks_db_bind_real(struct sqlite3_stmt *stmt, int at, double value);
void ks_db_bind_null(struct sqlite3_stmt *stmt, int at);

/* Run a statement that returns no rows. */
enum ks_status ks_db_finish(struct ks_db *db, struct sqlite3_stmt *stmt,
	struct ks_error *err) KS_CHECKED;

/* Go to the next row; false at the end and on failure. */
bool ks_db_next(struct ks_db *db, struct sqlite3_stmt *stmt);

/* Leave the rows that were not asked for. */
void ks_db_reset(struct sqlite3_stmt *stmt);

/* Column `at` (from 0) of the row; valid until the next. A value of another
 * type is converted; NULL is empty, or 0. */
bool ks_db_is_null(struct sqlite3_stmt *stmt, int at);
struct ks_span ks_db_bytes(struct sqlite3_stmt *stmt, int at);
uint64_t ks_db_number(struct sqlite3_stmt *stmt, int at);
double ks_db_real(struct sqlite3_stmt *stmt, int at);

/* Of a statement that has been prepared: how many columns its rows have, and
 * the name of one. The order of the values that two rows have in a column, as
 * SQLite sorts: <0, 0, >0. A value for a message is appended to `out`. */
int ks_db_columns(struct sqlite3_stmt *stmt);
const char *ks_db_column(struct sqlite3_stmt *stmt, int at);
int ks_db_compare(struct sqlite3_stmt *a, struct sqlite3_stmt *b, int at);
void ks_db_print(struct sqlite3_stmt *stmt, int at, struct ks_buf *out);

/* … as terminated text, cut to what fits in `size` > 0 bytes. */
void ks_db_text(struct sqlite3_stmt *stmt, int at, char *out, size_t size);

#endif
