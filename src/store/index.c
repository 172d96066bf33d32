#include "store/index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/hex.h"
#include "format/digest.h"
#include "format/json.h"
#include "format/layout.h"
#include "store/log.h"
#include "store/watch.h"

/* Changes when the tables or what they mean change: another number means
 * "rebuild". */
#define SCHEMA_VERSION 1

#define BUSY_MS 30000

static const char schema[] =
	"CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE kind(number INTEGER PRIMARY KEY, name TEXT UNIQUE);"
	"CREATE TABLE object(digest BLOB PRIMARY KEY, kind INTEGER,"
	" published INTEGER, flags INTEGER, metadata INTEGER,"
	" provenance INTEGER, metadata_hash INTEGER, provenance_hash INTEGER,"
	" successor BLOB, name TEXT) WITHOUT ROWID;"
	"CREATE TABLE id(id BLOB PRIMARY KEY, digest BLOB) WITHOUT ROWID;"
	"CREATE TABLE line(digest BLOB, line INTEGER,"
	" PRIMARY KEY(digest, line)) WITHOUT ROWID;";

/* Made after a build, which is quicker than keeping it up to date. */
static const char schema_names[] =
	"CREATE INDEX IF NOT EXISTS object_name ON object(name)"
	" WHERE name IS NOT NULL;";

static const char drop_all[] =
	"DROP TABLE IF EXISTS meta; DROP TABLE IF EXISTS kind;"
	"DROP TABLE IF EXISTS object; DROP TABLE IF EXISTS id;"
	"DROP TABLE IF EXISTS line;";

enum statement {
	GET_META,
	SET_META,
	ADD_KIND,
	GET_KIND,
	FIND_KIND,
	ADD_OBJECT,
	GET_OBJECT,
	SET_METADATA,
	SET_PROVENANCE,
	SET_FLAGS,
	SET_ID,
	GET_ID,
	ADD_LINE,
	GET_LINES,
	BY_DIGEST,
	BY_NAME,
	BY_ID,
	BY_KIND,
	COUNT_KINDS,
	COUNT_OBJECTS,
	STATEMENTS
};

#define COLUMNS "o.digest, k.name, o.published, o.flags, o.metadata," \
	" o.provenance, o.metadata_hash, o.provenance_hash, o.successor," \
	" o.name FROM object o LEFT JOIN kind k ON k.number = o.kind"

static const char *const sql[STATEMENTS] = {
	[GET_META] = "SELECT value FROM meta WHERE name = ?1",
	[SET_META] = "INSERT OR REPLACE INTO meta VALUES(?1, ?2)",
	[ADD_KIND] = "INSERT OR IGNORE INTO kind(name) VALUES(?1)",
	[GET_KIND] = "SELECT name FROM kind WHERE number = ?1",
	[FIND_KIND] = "SELECT number FROM kind WHERE name = ?1",
	[ADD_OBJECT] = "INSERT INTO object VALUES"
		"(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, ?9)",
	[GET_OBJECT] = "SELECT " COLUMNS " WHERE o.digest = ?1",
	[SET_METADATA] = "UPDATE object SET metadata = ?2,"
		" metadata_hash = ?3, name = ?4 WHERE digest = ?1",
	[SET_PROVENANCE] = "UPDATE object SET provenance = ?2,"
		" provenance_hash = ?3 WHERE digest = ?1",
	[SET_FLAGS] = "UPDATE object SET flags = ?2, successor = ?3"
		" WHERE digest = ?1",
	[SET_ID] = "INSERT OR REPLACE INTO id VALUES(?1, ?2)",
	[GET_ID] = "SELECT digest FROM id WHERE id = ?1",
	[ADD_LINE] = "INSERT OR IGNORE INTO line VALUES(?1, ?2)",
	[GET_LINES] = "SELECT line FROM line WHERE digest = ?1 ORDER BY line",
	[BY_DIGEST] = "SELECT " COLUMNS " WHERE o.digest >= ?1"
		" AND o.digest <= ?2 ORDER BY o.digest",
	[BY_NAME] = "SELECT " COLUMNS " WHERE o.name = ?1 ORDER BY o.digest",
	[BY_ID] = "SELECT " COLUMNS " JOIN id i ON i.digest = o.digest"
		" WHERE i.id >= ?1 AND i.id <= ?2 ORDER BY o.digest",
	[BY_KIND] = "SELECT " COLUMNS " WHERE k.name = ?1 ORDER BY o.digest",
	[COUNT_KINDS] = "SELECT coalesce(k.name, ''), count(*),"
		" sum(o.flags & 1), sum(o.flags >> 1 & 1),"
		" sum(o.flags >> 2 & 1) FROM object o LEFT JOIN kind k"
		" ON k.number = o.kind GROUP BY o.kind ORDER BY 1",
	[COUNT_OBJECTS] = "SELECT count(*) FROM object",
};

/* object.flags */
#define FLAG_RETRACTED 1
#define FLAG_SUPERSEDED 2
#define FLAG_TAKEN_DOWN 4
#define FLAG_REDACTED 8
#define FLAG_WAS_RETRACTED 16
#define FLAG_WAS_SUPERSEDED 32
#define FLAG_HAS_MISSING 64

struct ks_index {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	struct ks_oid commit;
	struct ks_index_log log;
	bool in_transaction;
	bool in_memory;
	struct ks_error failure;	/* sticky: the first SQLite error */
	bool damaged;		/* … was that the file is no good index */
	struct ks_buf path;	/* of the file */
	char kind[sizeof(((struct ks_index_row *)NULL)->kind)];
				/* what the loader handed out */
};

/* ---- SQLite ------------------------------------------------------------ */

/* Whether SQLite's last error means that the file is no good index. */
static bool
is_damage(const struct ks_index *index)
{
	/* Without what makes the code an extended one. */
	int code = index->db == NULL ? SQLITE_OK :
		sqlite3_errcode(index->db) & 0xff;

	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB ||
		code == SQLITE_ERROR || code == SQLITE_MISMATCH ||
		code == SQLITE_CONSTRAINT;
}

static enum ks_status
db_failed(struct ks_index *index, struct ks_error *err)
{
	if (index->failure.status == KS_OK) {
		index->damaged = is_damage(index);
		(void)ks_fail(&index->failure, KS_IO, KS_INDEX_NAME ": %s%s",
			index->db == NULL ? "out of memory" :
			sqlite3_errmsg(index->db), index->damaged ?
			" (the next command builds it anew)" : "");
	}
	if (err != NULL)
		*err = index->failure;
	return KS_IO;
}

/* Forget a failure: what caused it is gone. */
static void
forgive(struct ks_index *index)
{
	index->failure.status = KS_OK;
	index->damaged = false;
}

static enum ks_status
run(struct ks_index *index, const char *text, struct ks_error *err)
{
	if (sqlite3_exec(index->db, text, NULL, NULL, NULL) != SQLITE_OK)
		return db_failed(index, err);
	return KS_OK;
}

/* The prepared statement, reset; NULL on failure, which sticks. */
static sqlite3_stmt *
statement(struct ks_index *index, enum statement which)
{
	sqlite3_stmt **slot = &index->statements[which];

	if (*slot == NULL) {
		if (sqlite3_prepare_v3(index->db, sql[which], -1,
			SQLITE_PREPARE_PERSISTENT, slot, NULL) != SQLITE_OK) {
			(void)db_failed(index, NULL);
			return NULL;
		}
		return *slot;
	}
	(void)sqlite3_reset(*slot);
	return *slot;
}

static void
bind_bytes(sqlite3_stmt *stmt, int at, struct ks_span bytes)
{
	(void)sqlite3_bind_blob64(stmt, at, bytes.data, bytes.len,
		SQLITE_STATIC);
}

static void
bind_digest(sqlite3_stmt *stmt, int at, const struct ks_id *digest)
{
	bind_bytes(stmt, at, ks_span(digest->bytes, KS_ID_BYTES));
}

static void
bind_text(sqlite3_stmt *stmt, int at, struct ks_span text)
{
	if (text.len == 0)
		(void)sqlite3_bind_null(stmt, at);
	else
		(void)sqlite3_bind_text64(stmt, at, (const char *)text.data,
			text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void
bind_number(sqlite3_stmt *stmt, int at, uint64_t value)
{
	(void)sqlite3_bind_int64(stmt, at, (sqlite3_int64)value);
}

/* Run a statement that returns no rows. */
static enum ks_status
finish(struct ks_index *index, sqlite3_stmt *stmt, struct ks_error *err)
{
	int rc = stmt == NULL ? SQLITE_ERROR : sqlite3_step(stmt);

	if (stmt != NULL)
		(void)sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? KS_OK : db_failed(index, err);
}

/* Step to the next row: 1, 0 at the end, -1 on failure (which sticks). */
static int
next_row(struct ks_index *index, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_ROW)
		return 1;
	(void)sqlite3_reset(stmt);
	if (rc == SQLITE_DONE)
		return 0;
	(void)db_failed(index, NULL);
	return -1;
}

static struct ks_span
column_bytes(sqlite3_stmt *stmt, int at)
{
	const void *data = sqlite3_column_blob(stmt, at);

	return ks_span(data, data == NULL ? 0 :
		(size_t)sqlite3_column_bytes(stmt, at));
}

static uint64_t
column_number(sqlite3_stmt *stmt, int at)
{
	return (uint64_t)sqlite3_column_int64(stmt, at);
}

static bool
column_digest(sqlite3_stmt *stmt, int at, struct ks_id *digest)
{
	struct ks_span bytes = column_bytes(stmt, at);

	if (bytes.len != KS_ID_BYTES)
		return false;
	memcpy(digest->bytes, bytes.data, KS_ID_BYTES);
	return true;
}

/* Copy a text column, cut to what fits. */
static void
column_text(sqlite3_stmt *stmt, int at, char *out, size_t size)
{
	struct ks_span text = column_bytes(stmt, at);
	size_t len = text.len < size - 1 ? text.len : size - 1;

	if (len > 0)
		memcpy(out, text.data, len);
	out[len] = '\0';
}

/* ---- meta -------------------------------------------------------------- */

static enum ks_status
set_meta(struct ks_index *index, const char *name, struct ks_span value,
	struct ks_error *err)
{
	sqlite3_stmt *stmt = statement(index, SET_META);

	if (stmt == NULL)
		return db_failed(index, err);
	bind_text(stmt, 1, ks_span_text(name));
	bind_bytes(stmt, 2, value);
	return finish(index, stmt, err);
}

/* Read a value of exactly `size` bytes. */
static bool
get_meta(struct ks_index *index, const char *name, void *out, size_t size)
{
	sqlite3_stmt *stmt = statement(index, GET_META);
	struct ks_span value;
	bool found;

	if (stmt == NULL)
		return false;
	bind_text(stmt, 1, ks_span_text(name));
	if (next_row(index, stmt) != 1)
		return false;
	value = column_bytes(stmt, 0);
	found = value.len == size;
	if (found && size > 0)
		memcpy(out, value.data, size);
	(void)sqlite3_reset(stmt);
	return found;
}

/* What binds the index: written last in every change. Plain memory images:
 * the file never leaves the machine, and another layout is another version. */
struct binding {
	uint32_t version;
	uint32_t size;
	struct ks_oid commit;
	struct ks_index_log log;
};

static enum ks_status
write_binding(struct ks_index *index, struct ks_error *err)
{
	struct binding binding;

	memset(&binding, 0, sizeof(binding));
	binding.version = SCHEMA_VERSION;
	binding.size = sizeof(binding);
	binding.commit = index->commit;
	binding.log = index->log;
	return set_meta(index, "binding",
		ks_span(&binding, sizeof(binding)), err);
}

static bool
read_binding(struct ks_index *index)
{
	struct binding binding;

	if (!get_meta(index, "binding", &binding, sizeof(binding)) ||
		binding.version != SCHEMA_VERSION ||
		binding.size != sizeof(binding))
		return false;
	index->commit = binding.commit;
	index->log = binding.log;
	return true;
}

/* ---- rows -------------------------------------------------------------- */

uint64_t
ks_index_hash(struct ks_span text)
{
	struct ks_id id;
	uint64_t hash = 0;
	size_t i;

	if (text.len == 0)
		return 0;
	ks_sha256(text, &id);
	for (i = 0; i < 8; i++)
		hash = hash << 8 | id.bytes[i];
	return hash == 0 ? 1 : hash;
}

static int
flags_of(const struct ks_object_state *state)
{
	return (state->retracted ? FLAG_RETRACTED : 0) |
		(state->superseded ? FLAG_SUPERSEDED : 0) |
		(state->taken_down ? FLAG_TAKEN_DOWN : 0) |
		(state->redacted ? FLAG_REDACTED : 0) |
		(state->was_retracted ? FLAG_WAS_RETRACTED : 0) |
		(state->was_superseded ? FLAG_WAS_SUPERSEDED : 0) |
		(state->has_missing ? FLAG_HAS_MISSING : 0);
}

static void
set_flags(struct ks_object_state *state, uint64_t flags)
{
	state->retracted = (flags & FLAG_RETRACTED) != 0;
	state->superseded = (flags & FLAG_SUPERSEDED) != 0;
	state->taken_down = (flags & FLAG_TAKEN_DOWN) != 0;
	state->redacted = (flags & FLAG_REDACTED) != 0;
	state->was_retracted = (flags & FLAG_WAS_RETRACTED) != 0;
	state->was_superseded = (flags & FLAG_WAS_SUPERSEDED) != 0;
	state->has_missing = (flags & FLAG_HAS_MISSING) != 0;
}

static uint64_t
column_line(sqlite3_stmt *stmt, int at)
{
	if (sqlite3_column_type(stmt, at) == SQLITE_NULL)
		return KS_NO_LINE;
	return column_number(stmt, at);
}

/* Read a row of COLUMNS; false when it makes no sense. */
static bool
read_row(sqlite3_stmt *stmt, struct ks_index_row *row)
{
	memset(row, 0, sizeof(*row));
	if (!column_digest(stmt, 0, &row->state.digest))
		return false;
	column_text(stmt, 1, row->kind, sizeof(row->kind));
	row->state.published = (uint32_t)column_number(stmt, 2);
	set_flags(&row->state, column_number(stmt, 3));
	row->metadata_line = column_line(stmt, 4);
	row->provenance_line = column_line(stmt, 5);
	row->metadata_hash = column_number(stmt, 6);
	row->provenance_hash = column_number(stmt, 7);
	row->state.successor = KS_NO_OBJECT;
	(void)column_digest(stmt, 8, &row->successor);
	column_text(stmt, 9, row->name, sizeof(row->name));
	return true;
}

bool
ks_index_object(struct ks_index *index, const struct ks_id *digest,
	struct ks_index_row *row)
{
	sqlite3_stmt *stmt;
	bool found;

	/* Before the first publish there is nothing to look for. */
	if (index->log.tree.size <= 1)
		return false;
	stmt = statement(index, GET_OBJECT);
	if (stmt == NULL)
		return false;
	bind_digest(stmt, 1, digest);
	found = next_row(index, stmt) == 1 && read_row(stmt, row);
	(void)sqlite3_reset(stmt);
	return found;
}

bool
ks_index_id(struct ks_index *index, const uint8_t id[16],
	struct ks_id *digest)
{
	sqlite3_stmt *stmt;
	bool found;

	if (index->log.tree.size <= 1)
		return false;
	stmt = statement(index, GET_ID);
	if (stmt == NULL)
		return false;
	bind_bytes(stmt, 1, ks_span(id, 16));
	found = next_row(index, stmt) == 1 && column_digest(stmt, 0, digest);
	(void)sqlite3_reset(stmt);
	return found;
}

static bool
load_object(void *arg, const struct ks_id *digest,
	struct ks_object_state *state, struct ks_span *kind,
	struct ks_id *successor)
{
	struct ks_index *index = arg;
	struct ks_index_row row;

	if (!ks_index_object(index, digest, &row))
		return false;
	*state = row.state;
	*successor = row.successor;
	memcpy(index->kind, row.kind, sizeof(index->kind));
	*kind = ks_span_text(index->kind);
	return true;
}

static bool
load_id(void *arg, const uint8_t id[16], struct ks_id *digest)
{
	return ks_index_id(arg, id, digest);
}

struct ks_replay_loader
ks_index_loader(struct ks_index *index)
{
	return (struct ks_replay_loader){
		.arg = index, .object = load_object, .id = load_id
	};
}

/* ---- following the log ------------------------------------------------- */

struct follower {
	struct ks_index *index;
	struct ks_replay *replay;
	struct ks_jcs *jcs;
	const struct ks_watch *watch;
	bool foreseen;		/* takedowns were announced */
	bool needs_all;		/* only a build from entry 0 can judge a line:
				 * a redaction not foreseen, or what
				 * ks_replay_needs_all() means */
	uint16_t kind;		/* kind number last looked up, and its row */
	int64_t kind_row;
	bool has_kind;
};

/* metadata.name, unescaped names only (a Name has nothing to escape). */
static struct ks_span
name_of(struct ks_span metadata)
{
	struct ks_span name;

	if (metadata.len == 0 || !ks_json_find(metadata, "name", &name) ||
		ks_json_type(name) != KS_JSON_STRING)
		return ks_span(NULL, 0);
	return ks_json_raw(name);
}

static enum ks_status
kind_row(struct follower *follower, uint16_t kind, struct ks_error *err)
{
	struct ks_index *index = follower->index;
	sqlite3_stmt *stmt;
	struct ks_span text;
	enum ks_status status;

	if (follower->has_kind && follower->kind == kind)
		return KS_OK;
	text = ks_replay_kind(follower->replay, kind);
	follower->has_kind = false;
	stmt = statement(index, ADD_KIND);
	if (stmt == NULL)
		return db_failed(index, err);
	(void)sqlite3_bind_text64(stmt, 1, text.len == 0 ? "" :
		(const char *)text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
	status = finish(index, stmt, err);
	if (status != KS_OK)
		return status;
	stmt = statement(index, FIND_KIND);
	if (stmt == NULL)
		return db_failed(index, err);
	(void)sqlite3_bind_text64(stmt, 1, text.len == 0 ? "" :
		(const char *)text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
	if (next_row(index, stmt) != 1)
		return db_failed(index, err);
	follower->kind_row = sqlite3_column_int64(stmt, 0);
	(void)sqlite3_reset(stmt);
	follower->kind = kind;
	follower->has_kind = true;
	return KS_OK;
}

static enum ks_status
add_object(struct follower *follower, const struct ks_object_state *state,
	const struct ks_entry *entry, uint64_t line, struct ks_error *err)
{
	struct ks_index *index = follower->index;
	enum ks_status status = kind_row(follower, state->kind, err);
	sqlite3_stmt *stmt;

	if (status != KS_OK)
		return status;
	stmt = statement(index, ADD_OBJECT);
	if (stmt == NULL)
		return db_failed(index, err);
	bind_digest(stmt, 1, &state->digest);
	(void)sqlite3_bind_int64(stmt, 2, follower->kind_row);
	bind_number(stmt, 3, line);
	(void)sqlite3_bind_int(stmt, 4, flags_of(state));
	if (entry->metadata.len > 0)
		bind_number(stmt, 5, line);
	else
		(void)sqlite3_bind_null(stmt, 5);
	if (entry->provenance.len > 0)
		bind_number(stmt, 6, line);
	else
		(void)sqlite3_bind_null(stmt, 6);
	bind_number(stmt, 7, ks_index_hash(entry->metadata));
	bind_number(stmt, 8, ks_index_hash(entry->provenance));
	bind_text(stmt, 9, name_of(entry->metadata));
	return finish(index, stmt, err);
}

/* Which object an id belongs to is for the replay to say (R16, R17). */
static enum ks_status
set_id(struct follower *follower, const struct ks_entry *entry,
	struct ks_error *err)
{
	struct ks_index *index = follower->index;
	uint32_t owner;
	sqlite3_stmt *stmt;

	if (!entry->claims.has_id)
		return KS_OK;
	owner = ks_replay_find_id(follower->replay, entry->claims.id);
	if (owner == KS_NO_OBJECT)
		return KS_OK;
	stmt = statement(index, SET_ID);
	if (stmt == NULL)
		return db_failed(index, err);
	bind_bytes(stmt, 1, ks_span(entry->claims.id,
		sizeof(entry->claims.id)));
	bind_digest(stmt, 2,
		&ks_replay_object(follower->replay, owner)->digest);
	return finish(index, stmt, err);
}

static enum ks_status
set_notes(struct ks_index *index, const struct ks_object_state *state,
	const struct ks_entry *entry, uint64_t line, struct ks_error *err)
{
	sqlite3_stmt *stmt;
	enum ks_status status = KS_OK;

	if (entry->metadata.len > 0) {
		stmt = statement(index, SET_METADATA);
		if (stmt == NULL)
			return db_failed(index, err);
		bind_digest(stmt, 1, &state->digest);
		bind_number(stmt, 2, line);
		bind_number(stmt, 3, ks_index_hash(entry->metadata));
		bind_text(stmt, 4, name_of(entry->metadata));
		status = finish(index, stmt, err);
	}
	if (status == KS_OK && entry->provenance.len > 0) {
		stmt = statement(index, SET_PROVENANCE);
		if (stmt == NULL)
			return db_failed(index, err);
		bind_digest(stmt, 1, &state->digest);
		bind_number(stmt, 2, line);
		bind_number(stmt, 3, ks_index_hash(entry->provenance));
		status = finish(index, stmt, err);
	}
	return status;
}

static enum ks_status
set_state(struct follower *follower, const struct ks_object_state *state,
	struct ks_error *err)
{
	sqlite3_stmt *stmt = statement(follower->index, SET_FLAGS);

	if (stmt == NULL)
		return db_failed(follower->index, err);
	bind_digest(stmt, 1, &state->digest);
	(void)sqlite3_bind_int(stmt, 2, flags_of(state));
	if (state->successor == KS_NO_OBJECT)
		(void)sqlite3_bind_null(stmt, 3);
	else
		bind_digest(stmt, 3, &ks_replay_object(follower->replay,
			state->successor)->digest);
	return finish(follower->index, stmt, err);
}

static enum ks_status
add_line(struct ks_index *index, const struct ks_object_state *state,
	uint64_t line, struct ks_error *err)
{
	sqlite3_stmt *stmt = statement(index, ADD_LINE);

	if (stmt == NULL)
		return db_failed(index, err);
	bind_digest(stmt, 1, &state->digest);
	bind_number(stmt, 2, line);
	return finish(index, stmt, err);
}

/* Enter what a line that took effect says. */
static enum ks_status
apply(struct follower *follower, const struct ks_entry *entry,
	uint32_t object, uint64_t line, struct ks_error *err)
{
	struct ks_index *index = follower->index;
	struct ks_object_state state;
	enum ks_status status;

	if (object == KS_NO_OBJECT)
		return KS_OK;
	state = *ks_replay_object(follower->replay, object);
	if (state.published == line)
		status = add_object(follower, &state, entry, line, err);
	else
		status = add_line(index, &state, line, err);
	if (status != KS_OK || entry->op == KS_OP_REDACTED)
		return status;
	if (entry->op == KS_OP_ANNOTATE)
		status = set_notes(index, &state, entry, line, err);
	if (status == KS_OK)
		status = set_id(follower, entry, err);
	if (status == KS_OK && entry->op != KS_OP_PUBLISH &&
		entry->op != KS_OP_ANNOTATE)
		status = set_state(follower, &state, err);
	return status;
}

static enum ks_status
follow_line(void *arg, uint64_t line, struct ks_span text,
	struct ks_error *err)
{
	struct follower *follower = arg;
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;
	enum ks_status status;

	if (text.len > 0 && text.data[0] == '-' && !follower->foreseen) {
		follower->needs_all = true;
		return KS_CANCELLED;
	}
	status = ks_replay_line(follower->replay, follower->jcs, text,
		&verdict, &entry, &object, err);
	if (status != KS_OK)
		return status;
	if (ks_replay_needs_all(follower->replay)) {
		follower->needs_all = true;
		return KS_CANCELLED;
	}
	if (verdict != KS_LINE_OK &&
		follower->index->log.first_problem == KS_NO_LINE)
		follower->index->log.first_problem = line;
	if (verdict == KS_LINE_OK)
		status = apply(follower, &entry, object, line, err);
	if (status == KS_OK && line % 4096 == 0) {
		ks_watch_progress(follower->watch, "indexing", line, 0);
		status = ks_watch_check(follower->watch, err);
	}
	return status;
}

static enum ks_status
foresee_line(void *arg, uint64_t line, struct ks_span text,
	struct ks_error *err)
{
	struct follower *follower = arg;
	struct ks_entry entry;

	/* Only lines that may be takedowns are worth taking apart. */
	if (text.len == 0 || text.data[0] != '{' ||
		ks_entry_parse(follower->jcs, text, &entry, NULL) != KS_OK ||
		entry.op != KS_OP_TAKEDOWN)
		return KS_OK;
	return ks_replay_foresee(follower->replay, line, &entry, err);
}

/* A fault that only the end of the log shows. */
static void
note_end(void *arg, uint64_t line, const char *message)
{
	const struct follower *follower = arg;
	struct ks_index_log *log = &follower->index->log;

	(void)message;
	if (log->first_problem == KS_NO_LINE || line < log->first_problem)
		log->first_problem = line;
}

/* Bring the tables from index->log to the end of the log in `tree`. */
static enum ks_status
follow(struct follower *follower, struct ks_gitdb *db,
	const struct ks_oid *tree, struct ks_error *err)
{
	struct ks_index *index = follower->index;
	uint64_t from = index->log.tree.size;
	enum ks_status status = KS_OK;

	if (follower->foreseen)
		status = ks_log_each(db, tree, 0, foresee_line, follower, err);
	if (status == KS_OK)
		status = ks_log_each(db, tree, from, follow_line, follower,
			err);
	if (status != KS_OK)
		return status;
	if (from == 0)
		ks_replay_end(follower->replay, note_end, follower);
	index->log.tree = *ks_replay_tree(follower->replay);
	memcpy(index->log.time, ks_replay_time(follower->replay),
		sizeof(index->log.time));
	index->log.faults += ks_replay_faults(follower->replay);
	index->log.unsupported += ks_replay_unsupported(follower->replay);
	return KS_OK;
}

static enum ks_status
make_replay(struct ks_index *index, struct ks_replay **out,
	struct ks_error *err)
{
	struct ks_replay_loader loader = ks_index_loader(index);

	if (index->log.tree.size == 0)
		return ks_replay_new(out, err);
	return ks_replay_resume(out, &loader, &index->log.tree,
		index->log.time, err);
}

/* One transaction: the tables follow the log of `commit`. */
static enum ks_status
update(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree, bool foreseen,
	bool *needs_all, const struct ks_watch *watch, struct ks_error *err)
{
	struct follower follower = { .index = index, .watch = watch,
		.foreseen = foreseen };
	enum ks_status status = make_replay(index, &follower.replay, err);

	*needs_all = false;
	if (status == KS_OK)
		status = ks_jcs_new(&follower.jcs, err);
	if (status == KS_OK)
		status = follow(&follower, db, tree, err);
	if (status == KS_OK) {
		index->commit = *commit;
		status = write_binding(index, err);
	}
	*needs_all = follower.needs_all;
	ks_replay_free(follower.replay);
	ks_jcs_free(follower.jcs);
	return status;
}

static enum ks_status
begin(struct ks_index *index, const char *how, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; i < STATEMENTS; i++)
		if (index->statements[i] != NULL)
			(void)sqlite3_reset(index->statements[i]);
	if (index->in_transaction)
		status = run(index, "COMMIT", err);
	index->in_transaction = false;
	if (status == KS_OK)
		status = run(index, how, err);
	index->in_transaction = status == KS_OK;
	return status;
}

static enum ks_status
end(struct ks_index *index, enum ks_status status, struct ks_error *err)
{
	size_t i;

	for (i = 0; i < STATEMENTS; i++)
		if (index->statements[i] != NULL)
			(void)sqlite3_reset(index->statements[i]);
	index->in_transaction = false;
	if (status != KS_OK) {
		(void)sqlite3_exec(index->db, "ROLLBACK", NULL, NULL, NULL);
		return status;
	}
	status = run(index, "COMMIT", err);
	/* One view for all look-ups to come, and no locking for each. */
	return status == KS_OK ? begin(index, "BEGIN", err) : status;
}

static void
forget_statements(struct ks_index *index)
{
	size_t i;

	for (i = 0; i < STATEMENTS; i++) {
		(void)sqlite3_finalize(index->statements[i]);
		index->statements[i] = NULL;
	}
}

/* Empty the tables and follow the whole log, inside a transaction. */
static enum ks_status
rebuild(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree,
	const struct ks_watch *watch, struct ks_error *err)
{
	bool foreseen = false;
	bool met = false;
	enum ks_status status;

	do {
		forget_statements(index);
		memset(&index->log, 0, sizeof(index->log));
		index->log.first_problem = KS_NO_LINE;
		status = run(index, drop_all, err);
		if (status == KS_OK)
			status = run(index, schema, err);
		if (status == KS_OK)
			status = update(index, db, commit, tree, foreseen,
				&met, watch, err);
		foreseen = true;
	} while (status == KS_CANCELLED && met);
	return status == KS_OK ? run(index, schema_names, err) : status;
}

/* ---- opening ----------------------------------------------------------- */

/* Whether `path` is the same object in two trees. */
static bool
same_at(struct ks_gitdb *db, const struct ks_oid *a, const struct ks_oid *b,
	const char *path)
{
	struct ks_git_entry x, y;

	return ks_gitdb_find(db, a, path, &x, NULL) == KS_OK &&
		ks_gitdb_find(db, b, path, &y, NULL) == KS_OK &&
		x.mode == y.mode && ks_oid_equal(&x.oid, &y.oid);
}

/* Whether the segment that was last still begins with the same lines. */
static bool
tail_extends(struct ks_gitdb *db, const struct ks_oid *old,
	const struct ks_oid *new, uint64_t size)
{
	struct ks_buf a = KS_BUF_INIT;
	struct ks_buf b = KS_BUF_INIT;
	bool extends = ks_log_segment(db, old, size - 1, &a, NULL) == KS_OK &&
		ks_log_segment(db, new, size - 1, &b, NULL) == KS_OK &&
		b.len >= a.len && memcmp(a.data, b.data, a.len) == 0;

	ks_buf_release(&a);
	ks_buf_release(&b);
	return extends;
}

/* Whether the log in `new` begins with the `size` lines of the log in `old`:
 * equal git objects for what was full, equal bytes for the rest. */
static bool
log_extends(struct ks_gitdb *db, const struct ks_oid *old,
	const struct ks_oid *new, uint64_t size)
{
	const uint64_t directory = (uint64_t)256 * KS_SEGMENT_ENTRIES;
	char path[KS_SEGMENT_PATH];
	uint64_t at = 0;

	for (; size - at >= directory; at += directory) {
		(void)ks_layout_segment(at, path);
		*strrchr(path, '/') = '\0';
		if (!same_at(db, old, new, path))
			return false;
	}
	for (; size - at >= KS_SEGMENT_ENTRIES; at += KS_SEGMENT_ENTRIES)
		if (!same_at(db, old, new, ks_layout_segment(at, path)))
			return false;
	return at == size || tail_extends(db, old, new, size);
}

static bool
extends(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *tree)
{
	struct ks_git_commit old;

	/* That a log was empty is a fault that ends with its first line. */
	return index->log.tree.size > 0 &&
		ks_gitdb_commit(db, &index->commit, &old, NULL) == KS_OK &&
		log_extends(db, &old.tree, tree, index->log.tree.size);
}

static enum ks_status
connect(struct ks_index *index, const char *path, int flags,
	struct ks_error *err)
{
	if (sqlite3_open_v2(path, &index->db, flags | SQLITE_OPEN_NOMUTEX |
		SQLITE_OPEN_EXRESCODE, NULL) != SQLITE_OK)
		return db_failed(index, err);
	(void)sqlite3_busy_timeout(index->db, BUSY_MS);
	(void)sqlite3_db_config(index->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
		NULL);
	(void)sqlite3_db_config(index->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return run(index, "PRAGMA cache_size = -32768", err);
}

/* Whether a file is an index that can be asked. */
static bool
is_index(struct ks_index *index)
{
	return read_binding(index) && statement(index, GET_OBJECT) != NULL;
}

static bool
is_current(struct ks_index *index, const struct ks_oid *commit)
{
	return is_index(index) && ks_oid_equal(&index->commit, commit);
}

static void
disconnect(struct ks_index *index)
{
	forget_statements(index);
	(void)sqlite3_close(index->db);
	index->db = NULL;
	index->in_transaction = false;
	forgive(index);
}

static enum ks_status
open_memory(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree,
	const struct ks_watch *watch, struct ks_error *err)
{
	enum ks_status status;

	disconnect(index);
	index->in_memory = true;
	status = connect(index, ":memory:", SQLITE_OPEN_READWRITE |
		SQLITE_OPEN_CREATE, err);
	if (status == KS_OK)
		status = begin(index, "BEGIN", err);
	if (status == KS_OK)
		status = rebuild(index, db, commit, tree, watch, err);
	return end(index, status, err);
}

/* A file that cannot be written is read as it is: if that makes it stale, an
 * index in memory takes its place. */
static enum ks_status
open_read_only(struct ks_index *index, const char *path, const char *how,
	const struct ks_oid *commit, struct ks_error *err)
{
	struct ks_buf uri = KS_BUF_INIT;
	enum ks_status status;
	const char *p;

	disconnect(index);
	ks_buf_text(&uri, "file:");
	for (p = path; *p != '\0'; p++) {
		if (*p == '%' || *p == '?' || *p == '#')
			ks_buf_printf(&uri, "%%%02x", (unsigned char)*p);
		else
			ks_buf_byte(&uri, (uint8_t)*p);
	}
	ks_buf_text(&uri, how);
	status = connect(index, ks_buf_cstr(&uri), SQLITE_OPEN_READONLY |
		SQLITE_OPEN_URI | SQLITE_OPEN_NOFOLLOW, err);
	ks_buf_release(&uri);
	if (status == KS_OK)
		status = begin(index, "BEGIN", err);
	return status == KS_OK && !is_current(index, commit) ? KS_NOT_FOUND :
		status;
}

/* Whether the WAL beside a file has anything in it: then the file alone may
 * be torn. */
static bool
has_wal(const char *path)
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

/* After a build, empty the WAL into the file, whoever reads it next. What
 * another process still reads stays; nobody waits for that. */
static enum ks_status
move_into_file(struct ks_index *index, struct ks_error *err)
{
	enum ks_status status;

	(void)sqlite3_busy_timeout(index->db, 0);
	status = begin(index, "PRAGMA wal_checkpoint(TRUNCATE)", err);
	(void)sqlite3_busy_timeout(index->db, BUSY_MS);
	index->in_transaction = false;
	return status == KS_OK ? begin(index, "BEGIN", err) : status;
}

/* Bring a connected, writable file up to date. */
static enum ks_status
refresh_file(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree,
	const struct ks_watch *watch, struct ks_error *err)
{
	bool built = false;
	bool met = true;
	enum ks_status status = begin(index, "BEGIN", err);

	if (status == KS_OK && is_current(index, commit))
		return KS_OK;	/* the read transaction stays: one view */
	forgive(index);		/* there may be no tables yet */
	status = begin(index, "BEGIN IMMEDIATE", err);
	if (status != KS_OK)
		return status;
	if (is_current(index, commit))
		return end(index, KS_OK, err);
	forgive(index);
	if (is_index(index) && extends(index, db, tree))
		status = update(index, db, commit, tree, false, &met, watch,
			err);
	if (met && (status == KS_OK || status == KS_CANCELLED)) {
		forgive(index);
		status = rebuild(index, db, commit, tree, watch, err);
		built = true;
	}
	status = end(index, status, err);
	if (status == KS_OK && built)
		status = move_into_file(index, err);
	return status;
}

static enum ks_status
open_file(struct ks_index *index, const char *path, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree,
	const struct ks_watch *watch, struct ks_error *err)
{
	enum ks_status status = connect(index, path, SQLITE_OPEN_READWRITE |
		SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, err);

	/* The log is the truth: a lost index costs time only, so the WAL is
	 * not flushed at every commit. It stays when the program ends, which
	 * saves two flushes a put. */
	if (status == KS_OK)
		status = run(index, "PRAGMA journal_mode = WAL;"
			"PRAGMA synchronous = NORMAL", err);
	if (status == KS_OK) {
		(void)sqlite3_db_config(index->db,
			SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		status = refresh_file(index, db, commit, tree, watch, err);
	}
	return status;
}

static void
remove_file(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	struct ks_buf name = KS_BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		ks_buf_clear(&name);
		ks_buf_printf(&name, "%s%s", path, suffixes[i]);
		(void)unlink(ks_buf_cstr(&name));
	}
	ks_buf_release(&name);
}

static enum ks_status
open_somewhere(struct ks_index *index, const char *path, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree, bool fixed,
	const struct ks_watch *watch, struct ks_error *err)
{
	int attempt;
	enum ks_status status;

	if (fixed)
		return open_memory(index, db, commit, tree, watch, err);
	if (access(ks_gitdb_directory(db), W_OK) != 0 ||
		(access(path, W_OK) != 0 && errno != ENOENT)) {
		status = open_read_only(index, path, "?mode=ro", commit, err);
		if (status != KS_OK && !has_wal(path))
			status = open_read_only(index, path,
				"?mode=ro&immutable=1", commit, err);
		return status == KS_OK ? KS_OK :
			open_memory(index, db, commit, tree, watch, err);
	}
	for (attempt = 0; attempt < 2; attempt++) {
		bool damaged;

		disconnect(index);
		status = open_file(index, path, db, commit, tree, watch, err);
		if (status == KS_OK || status == KS_CANCELLED ||
			status == KS_NOMEM || status == KS_CORRUPT)
			return status;
		damaged = index->damaged;
		disconnect(index);
		if (!damaged)
			break;
		ks_watch_note(watch, KS_INDEX_NAME
			" is damaged and is built anew");
		remove_file(path);
	}
	return open_memory(index, db, commit, tree, watch, err);
}

enum ks_status
ks_index_open(struct ks_index **out, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree, bool fixed,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_index *index = calloc(1, sizeof(*index));
	enum ks_status status;

	*out = NULL;
	if (index == NULL)
		return ks_fail_nomem(err);
	ks_buf_printf(&index->path, "%s" KS_INDEX_NAME,
		ks_gitdb_directory(db));
	status = ks_buf_check(&index->path, err);
	if (status == KS_OK)
		status = open_somewhere(index, ks_buf_cstr(&index->path), db,
			commit, tree, fixed, watch, err);
	if (status != KS_OK) {
		ks_index_close(index);
		return status;
	}
	*out = index;
	return KS_OK;
}

void
ks_index_close(struct ks_index *index)
{
	bool damaged;

	if (index == NULL)
		return;
	damaged = index->damaged && !index->in_memory;
	disconnect(index);
	if (damaged)
		remove_file(ks_buf_cstr(&index->path));
	ks_buf_release(&index->path);
	free(index);
}

void
ks_index_distrust(struct ks_index *index)
{
	index->damaged = true;
}

enum ks_status
ks_index_catch_up(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_oid before = index->commit;
	bool met = false;
	enum ks_status status = begin(index, "BEGIN IMMEDIATE", err);

	if (status != KS_OK)
		return status;
	if (!read_binding(index) || !ks_oid_equal(&index->commit, &before))
		status = ks_fail(err, KS_BUSY,
			KS_INDEX_NAME " was changed by another process");
	if (status == KS_OK)
		status = update(index, db, commit, tree, false, &met, watch,
			err);
	return end(index, status, err);
}

const struct ks_index_log *
ks_index_log(const struct ks_index *index)
{
	return &index->log;
}

enum ks_status
ks_index_check(const struct ks_index *index, struct ks_error *err)
{
	if (index->failure.status == KS_OK)
		return KS_OK;
	if (err != NULL)
		*err = index->failure;
	return index->failure.status;
}

/* ---- queries ----------------------------------------------------------- */

/* Visit the rows that a bound statement of COLUMNS gives. */
static enum ks_status
visit_rows(struct ks_index *index, sqlite3_stmt *stmt, ks_index_fn *visit,
	void *arg, struct ks_error *err)
{
	struct ks_index_row row;
	int more;

	while ((more = next_row(index, stmt)) == 1)
		if (read_row(stmt, &row) && visit(arg, &row))
			break;
	(void)sqlite3_reset(stmt);
	return more < 0 ? db_failed(index, err) : KS_OK;
}

/* The least and greatest byte strings whose hex digits start with `hex`. */
static bool
hex_range(struct ks_span hex, uint8_t *low, uint8_t *high, size_t len)
{
	size_t i;

	if (hex.len > 2 * len)
		return false;
	memset(low, 0x00, len);
	memset(high, 0xff, len);
	for (i = 0; i < hex.len; i++) {
		int value = ks_hex_value(hex.data[i]);
		unsigned shift = i % 2 == 0 ? 4 : 0;
		uint8_t keep = i % 2 == 0 ? 0x0f : 0xf0;

		if (value < 0)
			return false;
		low[i / 2] = (uint8_t)((low[i / 2] & keep) |
			(unsigned)value << shift);
		high[i / 2] = (uint8_t)((high[i / 2] & keep) |
			(unsigned)value << shift);
	}
	return true;
}

static enum ks_status
by_range(struct ks_index *index, enum statement which, struct ks_span hex,
	size_t len, ks_index_fn *visit, void *arg, struct ks_error *err)
{
	uint8_t low[KS_ID_BYTES], high[KS_ID_BYTES];
	sqlite3_stmt *stmt;

	if (!hex_range(hex, low, high, len))
		return KS_OK;
	stmt = statement(index, which);
	if (stmt == NULL)
		return db_failed(index, err);
	bind_bytes(stmt, 1, ks_span(low, len));
	bind_bytes(stmt, 2, ks_span(high, len));
	return visit_rows(index, stmt, visit, arg, err);
}

enum ks_status
ks_index_by_digest(struct ks_index *index, struct ks_span hex,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	return by_range(index, BY_DIGEST, hex, KS_ID_BYTES, visit, arg, err);
}

enum ks_status
ks_index_by_id(struct ks_index *index, struct ks_span id_hex,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	return by_range(index, BY_ID, id_hex, 16, visit, arg, err);
}

enum ks_status
ks_index_by_name(struct ks_index *index, struct ks_span name,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	sqlite3_stmt *stmt = statement(index, BY_NAME);

	if (stmt == NULL)
		return db_failed(index, err);
	bind_text(stmt, 1, name);
	return visit_rows(index, stmt, visit, arg, err);
}

enum ks_status
ks_index_by_kind(struct ks_index *index, const char *kind, ks_index_fn *visit,
	void *arg, struct ks_error *err)
{
	sqlite3_stmt *stmt = statement(index, BY_KIND);

	if (stmt == NULL)
		return db_failed(index, err);
	bind_text(stmt, 1, ks_span_text(kind));
	return visit_rows(index, stmt, visit, arg, err);
}

enum ks_status
ks_index_lines(struct ks_index *index, const struct ks_id *digest,
	ks_index_line_fn *visit, void *arg, struct ks_error *err)
{
	sqlite3_stmt *stmt = statement(index, GET_LINES);
	int more;

	if (stmt == NULL)
		return db_failed(index, err);
	bind_digest(stmt, 1, digest);
	while ((more = next_row(index, stmt)) == 1)
		if (visit(arg, column_number(stmt, 0)))
			break;
	(void)sqlite3_reset(stmt);
	return more < 0 ? db_failed(index, err) : KS_OK;
}

enum ks_status
ks_index_kinds(struct ks_index *index, ks_index_kind_fn *visit, void *arg,
	struct ks_error *err)
{
	sqlite3_stmt *stmt = statement(index, COUNT_KINDS);
	char kind[544];
	int more;

	if (stmt == NULL)
		return db_failed(index, err);
	while ((more = next_row(index, stmt)) == 1) {
		column_text(stmt, 0, kind, sizeof(kind));
		visit(arg, kind, column_number(stmt, 1),
			column_number(stmt, 2), column_number(stmt, 3),
			column_number(stmt, 4));
	}
	return more < 0 ? db_failed(index, err) : KS_OK;
}

uint64_t
ks_index_count(struct ks_index *index)
{
	sqlite3_stmt *stmt = statement(index, COUNT_OBJECTS);
	uint64_t count = 0;

	if (stmt != NULL && next_row(index, stmt) == 1)
		count = column_number(stmt, 0);
	if (stmt != NULL)
		(void)sqlite3_reset(stmt);
	return count;
}
