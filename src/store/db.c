#include "store/db.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#define BUSY_MS 30000
#define WAL_MAX ((off_t)4 << 20)	/* bytes */

/* ---- failures ---------------------------------------------------------- */

/* Whether SQLite's last error means that the file is not what it should be. */
static bool
is_damage(const struct ks_db *db)
{
	/* Without what makes the code an extended one. */
	int code = db->connection == NULL ? SQLITE_OK :
		sqlite3_errcode(db->connection) & 0xff;

	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB ||
		code == SQLITE_ERROR || code == SQLITE_MISMATCH ||
		code == SQLITE_CONSTRAINT;
}

static enum ks_status
failed(struct ks_db *db, struct ks_error *err)
{
	if (db->failure.status == KS_OK) {
		db->damaged = is_damage(db);
		(void)ks_fail(&db->failure, KS_IO, "%s: %s%s", db->plan->name,
			db->connection == NULL ? "out of memory" :
			sqlite3_errmsg(db->connection),
			db->damaged ? db->plan->remedy : "");
	}
	return ks_db_check(db, err);
}

enum ks_status
ks_db_check(const struct ks_db *db, struct ks_error *err)
{
	if (db->failure.status != KS_OK && err != NULL)
		*err = db->failure;
	return db->failure.status;
}

void
ks_db_forgive(struct ks_db *db)
{
	db->failure.status = KS_OK;
	db->damaged = false;
}

enum ks_status
ks_db_run(struct ks_db *db, const char *sql, struct ks_error *err)
{
	if (sqlite3_exec(db->connection, sql, NULL, NULL, NULL) != SQLITE_OK)
		return failed(db, err);
	return KS_OK;
}

/* ---- opening ----------------------------------------------------------- */

static const char *const suffixes[] = { "", "-wal", "-shm" };

static void
print_uri(struct ks_buf *out, const char *path, bool alone)
{
	ks_buf_text(out, "file:");
	for (; *path != '\0'; path++) {
		if (*path == '%' || *path == '?' || *path == '#')
			ks_buf_printf(out, "%%%02x", (unsigned char)*path);
		else
			ks_buf_byte(out, (uint8_t)*path);
	}
	ks_buf_text(out, alone ? "?mode=ro&immutable=1" : "?mode=ro");
}

static int
connect_by_uri(struct ks_db *db, const char *path, bool alone, int flags)
{
	struct ks_buf uri = KS_BUF_INIT;
	int rc;

	print_uri(&uri, path, alone);
	(void)ks_buf_cstr(&uri);
	/* Without a name it would be a new database. */
	rc = uri.failed ? SQLITE_NOMEM : sqlite3_open_v2(ks_buf_cstr(&uri),
		&db->connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
		SQLITE_OPEN_NOFOLLOW | flags, NULL);
	ks_buf_release(&uri);
	return rc;
}

static int
connect(struct ks_db *db, const char *path, enum ks_db_mode mode)
{
	const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	const int write = flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

	switch (mode) {
	case KS_DB_WRITE:
		return sqlite3_open_v2(path, &db->connection,
			write | SQLITE_OPEN_NOFOLLOW, NULL);
	case KS_DB_READ:
		return connect_by_uri(db, path, false, flags);
	case KS_DB_READ_ALONE:
		return connect_by_uri(db, path, true, flags);
	case KS_DB_FRESH:
		return sqlite3_open_v2(path, &db->connection,
			flags | SQLITE_OPEN_READWRITE, NULL);
	case KS_DB_MEMORY:
		return sqlite3_open_v2(":memory:", &db->connection, write,
			NULL);
	}
	return SQLITE_MISUSE;
}

static enum ks_status
configure(struct ks_db *db, enum ks_db_mode mode, struct ks_error *err)
{
	enum ks_status status;

	(void)sqlite3_busy_timeout(db->connection, BUSY_MS);
	/* Nothing that a file brings along is run. */
	(void)sqlite3_db_config(db->connection,
		SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(db->connection, SQLITE_DBCONFIG_DEFENSIVE, 1,
		NULL);
	/* Moving the WAL would take two flushes. */
	(void)sqlite3_db_config(db->connection,
		SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* What is removed does not stay in free pages (X1). */
	status = ks_db_run(db, "PRAGMA cache_size = -32768;"
		"PRAGMA secure_delete = ON", err);
	if (status == KS_OK && mode == KS_DB_WRITE)
		status = ks_db_run(db, "PRAGMA journal_mode = WAL;"
			"PRAGMA synchronous = NORMAL", err);
	if (status == KS_OK && mode == KS_DB_FRESH)
		status = ks_db_run(db, "PRAGMA page_size = 4096;"
			"PRAGMA auto_vacuum = NONE;"
			"PRAGMA encoding = 'UTF-8';"
			"PRAGMA journal_mode = MEMORY;"
			"PRAGMA synchronous = OFF", err);
	if (status == KS_OK && mode == KS_DB_MEMORY)
		status = ks_db_run(db, "PRAGMA temp_store = MEMORY", err);
	return status;
}

enum ks_status
ks_db_open(struct ks_db *db, const char *path, enum ks_db_mode mode,
	struct ks_error *err)
{
	ks_db_close(db);
	if (connect(db, path, mode) != SQLITE_OK)
		return failed(db, err);
	return configure(db, mode, err);
}

void
ks_db_close(struct ks_db *db)
{
	size_t i;

	for (i = 0; i < KS_DB_STATEMENTS; i++) {
		(void)sqlite3_finalize(db->statements[i]);
		db->statements[i] = NULL;
	}
	(void)sqlite3_close(db->connection);
	db->connection = NULL;
	db->in_transaction = false;
	ks_db_forgive(db);
}

bool
ks_db_has_wal(const char *path)
{
	struct ks_buf name = KS_BUF_INIT;
	struct stat st;
	bool has;

	ks_buf_printf(&name, "%s-wal", path);
	has = stat(ks_buf_cstr(&name), &st) == 0 ? st.st_size > 0 :
		errno != ENOENT;
	ks_buf_release(&name);
	return has;
}

void
ks_db_remove(const char *path)
{
	struct ks_buf name = KS_BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		ks_buf_clear(&name);
		ks_buf_printf(&name, "%s%s", path, suffixes[i]);
		(void)unlink(ks_buf_cstr(&name));
	}
	ks_buf_release(&name);
}

/* ---- transactions ------------------------------------------------------ */

static void
reset_all(struct ks_db *db)
{
	size_t i;

	for (i = 0; i < KS_DB_STATEMENTS; i++)
		(void)sqlite3_reset(db->statements[i]);
}

/* Commit the transaction that is open, if one is. */
static enum ks_status
leave(struct ks_db *db, struct ks_error *err)
{
	bool inside = db->in_transaction;

	reset_all(db);
	db->in_transaction = false;
	return inside ? ks_db_run(db, "COMMIT", err) : KS_OK;
}

enum ks_status
ks_db_begin(struct ks_db *db, bool writing, struct ks_error *err)
{
	enum ks_status status = leave(db, err);

	if (status == KS_OK)
		status = ks_db_run(db, writing ? "BEGIN IMMEDIATE" : "BEGIN",
			err);
	db->in_transaction = status == KS_OK;
	return status;
}

enum ks_status
ks_db_empty_wal(struct ks_db *db, struct ks_error *err)
{
	enum ks_status status = leave(db, err);

	(void)sqlite3_busy_timeout(db->connection, 0);
	if (status == KS_OK)
		status = ks_db_run(db, "PRAGMA wal_checkpoint(TRUNCATE)", err);
	(void)sqlite3_busy_timeout(db->connection, BUSY_MS);
	return status == KS_OK ? ks_db_begin(db, false, err) : status;
}

/* Nothing moves the WAL when a connection closes, and SQLite by itself only
 * when nobody reads: without this it grows with every change. */
static bool
is_wal_long(struct ks_db *db)
{
	const char *path = sqlite3_db_filename(db->connection, "main");
	struct stat st;

	return path != NULL && path[0] != '\0' &&
		stat(sqlite3_filename_wal(path), &st) == 0 &&
		st.st_size > WAL_MAX;
}

enum ks_status
ks_db_end(struct ks_db *db, enum ks_status status, struct ks_error *err)
{
	if (status == KS_OK)
		return is_wal_long(db) ? ks_db_empty_wal(db, err) :
			ks_db_begin(db, false, err);
	reset_all(db);
	db->in_transaction = false;
	(void)sqlite3_exec(db->connection, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

/* ---- statements -------------------------------------------------------- */

static const char *
text_of(const struct ks_db *db, size_t which)
{
	return which < db->plan->count ? db->plan->sql[which] :
		db->more->sql[which - db->plan->count];
}

struct sqlite3_stmt *
ks_db_statement(struct ks_db *db, size_t which)
{
	sqlite3_stmt **slot = &db->statements[which];

	if (*slot != NULL)
		(void)sqlite3_reset(*slot);
	else if (sqlite3_prepare_v3(db->connection, text_of(db, which),
		-1, SQLITE_PREPARE_PERSISTENT, slot, NULL) != SQLITE_OK)
		(void)failed(db, NULL);
	return *slot;
}

struct sqlite3_stmt *
ks_db_prepare(struct ks_db *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v3(db->connection, sql, -1, 0, &stmt, NULL) !=
		SQLITE_OK)
		(void)failed(db, NULL);
	return stmt;
}

void
ks_db_discard(struct sqlite3_stmt *stmt)
{
	(void)sqlite3_finalize(stmt);
}

void
ks_db_bind_bytes(struct sqlite3_stmt *stmt, int at, struct ks_span bytes)
{
	if (stmt != NULL)
		(void)sqlite3_bind_blob64(stmt, at, bytes.data, bytes.len,
			SQLITE_STATIC);
}

void
ks_db_bind_text(struct sqlite3_stmt *stmt, int at, struct ks_span text)
{
	if (stmt == NULL)
		return;
	if (text.len == 0)
		(void)sqlite3_bind_null(stmt, at);
	else
		(void)sqlite3_bind_text64(stmt, at, (const char *)text.data,
			text.len, SQLITE_STATIC, SQLITE_UTF8);
}

void
ks_db_bind_number(struct sqlite3_stmt *stmt, int at, uint64_t value)
{
	if (stmt != NULL)
		(void)sqlite3_bind_int64(stmt, at, (sqlite3_int64)value);
}

void
ks_db_bind_real(struct sqlite3_stmt *stmt, int at, double value)
{
	if (stmt != NULL)
		(void)sqlite3_bind_double(stmt, at, value);
}

void
ks_db_bind_null(struct sqlite3_stmt *stmt, int at)
{
	if (stmt != NULL)
		(void)sqlite3_bind_null(stmt, at);
}

bool
ks_db_next(struct ks_db *db, struct sqlite3_stmt *stmt)
{
	int rc;

	if (stmt == NULL)
		return false;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE)
		(void)failed(db, NULL);
	(void)sqlite3_reset(stmt);
	return false;
}

enum ks_status
ks_db_finish(struct ks_db *db, struct sqlite3_stmt *stmt,
	struct ks_error *err)
{
	int rc;

	if (stmt == NULL)
		return ks_db_check(db, err);
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		(void)failed(db, err);
	(void)sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? KS_OK : ks_db_check(db, err);
}

void
ks_db_reset(struct sqlite3_stmt *stmt)
{
	(void)sqlite3_reset(stmt);
}

uint64_t
ks_db_schema(struct ks_db *db)
{
	struct sqlite3_stmt *stmt = ks_db_prepare(db, "PRAGMA schema_version");
	uint64_t version = 0;

	if (ks_db_next(db, stmt))
		version = ks_db_number(stmt, 0);
	ks_db_discard(stmt);
	return version;
}

/* ---- columns ----------------------------------------------------------- */

bool
ks_db_is_null(struct sqlite3_stmt *stmt, int at)
{
	return sqlite3_column_type(stmt, at) == SQLITE_NULL;
}

struct ks_span
ks_db_bytes(struct sqlite3_stmt *stmt, int at)
{
	const void *data = sqlite3_column_blob(stmt, at);

	return ks_span(data, data == NULL ? 0 :
		(size_t)sqlite3_column_bytes(stmt, at));
}

uint64_t
ks_db_number(struct sqlite3_stmt *stmt, int at)
{
	return (uint64_t)sqlite3_column_int64(stmt, at);
}

double
ks_db_real(struct sqlite3_stmt *stmt, int at)
{
	return sqlite3_column_double(stmt, at);
}

void
ks_db_text(struct sqlite3_stmt *stmt, int at, char *out, size_t size)
{
	struct ks_span text = ks_db_bytes(stmt, at);
	size_t len = text.len < size - 1 ? text.len : size - 1;

	if (len > 0)
		memcpy(out, text.data, len);
	out[len] = '\0';
}

int
ks_db_columns(struct sqlite3_stmt *stmt)
{
	return stmt == NULL ? 0 : sqlite3_column_count(stmt);
}

const char *
ks_db_column(struct sqlite3_stmt *stmt, int at)
{
	const char *name = sqlite3_column_name(stmt, at);

	return name == NULL ? "" : name;
}

/* NULL, numbers, text, bytes. */
static int
rank_of(struct sqlite3_stmt *stmt, int at)
{
	switch (sqlite3_column_type(stmt, at)) {
	case SQLITE_NULL:
		return 0;
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		return 1;
	case SQLITE_TEXT:
		return 2;
	default:
		return 3;
	}
}

static int
compare_numbers(struct sqlite3_stmt *a, struct sqlite3_stmt *b, int at)
{
	sqlite3_int64 m = sqlite3_column_int64(a, at);
	sqlite3_int64 n = sqlite3_column_int64(b, at);
	double x = sqlite3_column_double(a, at);
	double y = sqlite3_column_double(b, at);

	if (sqlite3_column_type(a, at) == SQLITE_INTEGER &&
		sqlite3_column_type(b, at) == SQLITE_INTEGER)
		return (m > n) - (m < n);
	return (x > y) - (x < y);
}

/* Text or bytes; SQLite has NULL where there are none. */
static int
compare_bytes(struct sqlite3_stmt *a, struct sqlite3_stmt *b, int at)
{
	struct ks_span x = ks_db_bytes(a, at), y = ks_db_bytes(b, at);

	if (x.data == NULL || y.data == NULL)
		return (x.data != NULL) - (y.data != NULL);
	return ks_span_compare(x, y);
}

int
ks_db_compare(struct sqlite3_stmt *a, struct sqlite3_stmt *b, int at)
{
	int rank = rank_of(a, at);

	if (rank != rank_of(b, at) || rank == 0)
		return rank - rank_of(b, at);
	return rank == 1 ? compare_numbers(a, b, at) :
		compare_bytes(a, b, at);
}

void
ks_db_print(struct sqlite3_stmt *stmt, int at, struct ks_buf *out)
{
	struct ks_span value = ks_db_bytes(stmt, at);
	char shown[256];
	size_t i;

	switch (rank_of(stmt, at)) {
	case 0:
		ks_buf_text(out, "nothing");
		break;
	case 1:
		ks_buf_append(out, value);
		break;
	case 2:
		ks_buf_printf(out, "\"%s\"", ks_printable(shown,
			sizeof(shown), value));
		break;
	default:
		for (i = 0; i < value.len && i < 32; i++)
			ks_buf_printf(out, "%02x", value.data[i]);
		break;
	}
}
