#include "store/index_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "format/layout.h"
#include "store/log.h"
#include "store/watch.h"

/* Changes when the tables or what they mean change: another number means
 * "rebuild". */
#define SCHEMA_VERSION 4

static const char schema[] =
	"CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE kind(number INTEGER PRIMARY KEY, name TEXT UNIQUE);"
	"CREATE TABLE object(published INTEGER PRIMARY KEY, digest BLOB,"
	" kind INTEGER, flags INTEGER, metadata INTEGER,"
	" metadata_hash INTEGER, provenance INTEGER,"
	" provenance_hash INTEGER, name TEXT, successor BLOB, slug TEXT);"
	"CREATE TABLE id(id BLOB, object INTEGER);"
	"CREATE TABLE line(line INTEGER PRIMARY KEY, object INTEGER);"
	"CREATE TABLE keyline(line INTEGER PRIMARY KEY);";

/* Made after a build: sorting once is much quicker than keeping in order. */
static const char schema_order[] =
	"CREATE UNIQUE INDEX object_digest ON object(digest);"
	"CREATE INDEX object_name ON object(name) WHERE name IS NOT NULL;"
	"CREATE INDEX object_slug ON object(slug) WHERE slug IS NOT NULL;"
	"CREATE INDEX object_missing ON object(published)"
	" WHERE flags & 64 <> 0;"
	"CREATE INDEX id_object ON id(id, object);"
	"CREATE INDEX line_object ON line(object);";

static const char drop_all[] =
	"DROP TABLE IF EXISTS meta; DROP TABLE IF EXISTS kind;"
	"DROP TABLE IF EXISTS object; DROP TABLE IF EXISTS id;"
	"DROP TABLE IF EXISTS line; DROP TABLE IF EXISTS keyline;";

#define COLUMNS "o.digest, k.name, o.published, o.flags, o.metadata," \
	" o.provenance, o.metadata_hash, o.provenance_hash, o.successor," \
	" o.name FROM object o LEFT JOIN kind k ON k.number = o.kind"

static const char *const sql[KS_INDEX_STATEMENTS] = {
	[KS_INDEX_GET_META] = "SELECT value FROM meta WHERE name = ?1",
	[KS_INDEX_SET_META] = "INSERT OR REPLACE INTO meta VALUES(?1, ?2)",
	[KS_INDEX_ADD_KIND] = "INSERT OR IGNORE INTO kind(name) VALUES(?1)",
	[KS_INDEX_FIND_KIND] = "SELECT number FROM kind WHERE name = ?1",
	[KS_INDEX_ADD_OBJECT] = "INSERT INTO object VALUES"
		"(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL, ?10)",
	[KS_INDEX_GET_OBJECT] = "SELECT " COLUMNS " WHERE o.digest = ?1",
	[KS_INDEX_SET_METADATA] = "UPDATE object SET metadata = ?2,"
		" metadata_hash = ?3, name = ?4 WHERE published = ?1",
	[KS_INDEX_SET_PROVENANCE] = "UPDATE object SET provenance = ?2,"
		" provenance_hash = ?3, slug = ?4 WHERE published = ?1",
	[KS_INDEX_SET_STATE] = "UPDATE object SET flags = ?2, successor = ?3"
		" WHERE published = ?1",
	[KS_INDEX_ADD_ID] = "INSERT INTO id VALUES(?1, ?2)",
	[KS_INDEX_GET_ID] = "SELECT digest FROM object WHERE published ="
		" (SELECT max(object) FROM id WHERE id = ?1)",
	[KS_INDEX_ADD_LINE] = "INSERT INTO line VALUES(?1, ?2)",
	[KS_INDEX_GET_LINES] = "SELECT line FROM line WHERE object ="
		" (SELECT published FROM object WHERE digest = ?1)"
		" ORDER BY line",
	[KS_INDEX_ADD_KEY] = "INSERT INTO keyline VALUES(?1)",
	[KS_INDEX_GET_KEYS] = "SELECT line FROM keyline ORDER BY line",
	[KS_INDEX_BY_DIGEST] = "SELECT " COLUMNS " WHERE o.digest >= ?1"
		" AND o.digest <= ?2 ORDER BY o.digest",
	[KS_INDEX_BY_NAME] = "SELECT " COLUMNS " WHERE o.name = ?1"
		" ORDER BY o.digest",
	[KS_INDEX_BY_SLUG] = "SELECT " COLUMNS " WHERE o.slug = ?1"
		" ORDER BY o.digest",
	[KS_INDEX_BY_ID] = "SELECT " COLUMNS " WHERE o.published IN"
		" (SELECT max(object) FROM id WHERE id >= ?1 AND id <= ?2"
		" GROUP BY id) ORDER BY o.digest",
	/* With "+", rows are sorted after they were chosen. */
	[KS_INDEX_BY_KIND] = "SELECT " COLUMNS " WHERE k.name = ?1"
		" ORDER BY +o.digest",
	/* 64 is KS_INDEX_HAS_MISSING; the index has the same condition. */
	[KS_INDEX_BY_MISSING] = "SELECT " COLUMNS " WHERE o.flags & 64 <> 0"
		" ORDER BY o.published",
	[KS_INDEX_COUNT_KINDS] = "SELECT coalesce(k.name, ''), count(*),"
		" sum(o.flags & 1), sum(o.flags >> 1 & 1),"
		" sum(o.flags >> 2 & 1) FROM object o LEFT JOIN kind k"
		" ON k.number = o.kind GROUP BY o.kind ORDER BY 1",
	[KS_INDEX_COUNT_OBJECTS] = "SELECT count(*) FROM object",
};

static const struct ks_db_plan plan = {
	.name = KS_INDEX_NAME,
	.remedy = " (the next command builds it anew)",
	.count = KS_INDEX_STATEMENTS,
	.sql = sql
};

/* Of a file that nobody mends. */
static const struct ks_db_plan plan_as_is = {
	.name = KS_INDEX_NAME,
	.remedy = "",
	.count = KS_INDEX_STATEMENTS,
	.sql = sql
};

/* ---- binding ----------------------------------------------------------- */

/* What binds the index: written last in every change. Plain memory images:
 * the file never leaves the machine, and another layout is another version. */
struct binding {
	uint32_t version;
	uint32_t size;
	struct ks_oid commit;
	struct ks_index_log log;
};

/* A value is followed by its hash: that everything else can be trusted rests
 * on it, and SQLite has no checksums. */
bool
ks_index_get_meta(struct ks_index *index, const char *name, void *out,
	size_t len)
{
	struct sqlite3_stmt *stmt = ks_db_statement(&index->tables,
		KS_INDEX_GET_META);
	struct ks_span sealed;
	uint64_t hash;
	bool found = false;

	ks_db_bind_text(stmt, 1, ks_span_text(name));
	if (!ks_db_next(&index->tables, stmt))
		return false;
	sealed = ks_db_bytes(stmt, 0);
	if (sealed.len == len + sizeof(hash)) {
		memcpy(&hash, sealed.data + len, sizeof(hash));
		found = ks_index_hash(ks_span(sealed.data, len)) == hash;
	}
	if (found)
		memcpy(out, sealed.data, len);
	ks_db_reset(stmt);
	return found;
}

enum ks_status
ks_index_set_meta(struct ks_index *index, const char *name, const void *value,
	size_t len, struct ks_error *err)
{
	uint64_t hash = ks_index_hash(ks_span(value, len));
	struct ks_buf sealed = KS_BUF_INIT;
	struct sqlite3_stmt *stmt;
	enum ks_status status;

	ks_buf_append(&sealed, ks_span(value, len));
	ks_buf_append(&sealed, ks_span(&hash, sizeof(hash)));
	status = ks_buf_check(&sealed, err);
	if (status == KS_OK) {
		stmt = ks_db_statement(&index->tables, KS_INDEX_SET_META);
		ks_db_bind_text(stmt, 1, ks_span_text(name));
		ks_db_bind_bytes(stmt, 2, ks_buf_span(&sealed));
		status = ks_db_finish(&index->tables, stmt, err);
	}
	ks_buf_release(&sealed);
	return status;
}

static enum ks_status
write_binding(struct ks_index *index, const struct ks_oid *commit,
	struct ks_error *err)
{
	struct binding binding;

	index->commit = *commit;
	memset(&binding, 0, sizeof(binding));
	binding.version = SCHEMA_VERSION;
	binding.size = sizeof(binding);
	binding.commit = index->commit;
	binding.log = index->log;
	return ks_index_set_meta(index, "binding", &binding, sizeof(binding),
		err);
}

static bool
read_binding(struct ks_index *index)
{
	struct binding binding;

	if (!ks_index_get_meta(index, "binding", &binding, sizeof(binding)) ||
		binding.version != SCHEMA_VERSION ||
		binding.size != sizeof(binding))
		return false;
	index->commit = binding.commit;
	index->log = binding.log;
	return true;
}

/* Whether a file is an index that can be asked. */
static bool
is_index(struct ks_index *index)
{
	return read_binding(index) &&
		ks_db_statement(&index->tables, KS_INDEX_GET_OBJECT) != NULL;
}

static bool
is_current(struct ks_index *index, const struct ks_oid *commit)
{
	return is_index(index) && ks_oid_equal(&index->commit, commit);
}

/* ---- the log's growth -------------------------------------------------- */

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

/* Whether the log has so many new lines that building is quicker than catching
 * up, which has to keep everything in order: twice as many and a segment. */
static bool
has_outgrown(const struct ks_index *index, const struct ks_index_goal *goal)
{
	uint64_t size = 2 * index->log.tree.size + KS_SEGMENT_ENTRIES;
	char path[KS_SEGMENT_PATH];
	struct ks_git_entry entry;

	return ks_gitdb_find(goal->db, goal->tree,
		ks_layout_segment(size, path), &entry, NULL) == KS_OK;
}

bool
ks_index_extends(struct ks_gitdb *db, const struct ks_oid *commit,
	const struct ks_oid *tree, uint64_t size)
{
	struct ks_git_commit old;

	return ks_gitdb_commit(db, commit, &old, NULL) == KS_OK &&
		log_extends(db, &old.tree, tree, size);
}

static bool
can_catch_up(struct ks_index *index, const struct ks_index_goal *goal)
{
	/* That a log was empty is a fault that ends with its first line. */
	return is_index(index) && index->log.tree.size > 0 &&
		!has_outgrown(index, goal) && ks_index_extends(goal->db,
		&index->commit, goal->tree, index->log.tree.size);
}

/* ---- building and catching up ------------------------------------------ */

/* End a change of the tables. */
static enum ks_status
end(struct ks_index *index, enum ks_status status, bool built,
	struct ks_error *err)
{
	bool flush = built || index->took_down;

	index->took_down = false;
	status = ks_db_end(&index->tables, status, err);
	return status == KS_OK && flush && !index->in_memory ?
		ks_db_empty_wal(&index->tables, err) : status;
}

/* Go on to the goal, inside a transaction. */
static enum ks_status
catch_up(struct ks_index *index, const struct ks_index_goal *goal,
	bool *needs_all, struct ks_error *err)
{
	enum ks_status status = ks_index_follow(index, goal, needs_all, err);

	return status == KS_OK ? write_binding(index, goal->commit, err) :
		status;
}

/* Fill the tables from nothing, inside a transaction. */
static enum ks_status
build(struct ks_index *index, const struct ks_index_goal *goal,
	struct ks_error *err)
{
	struct ks_db *tables = &index->tables;
	bool needs_all;
	enum ks_status status = ks_db_run(tables, ks_catalogue_drop, err);

	if (status == KS_OK)
		status = ks_db_run(tables, drop_all, err);
	memset(&index->log, 0, sizeof(index->log));
	index->log.first_problem = KS_NO_LINE;
	if (status == KS_OK)
		status = ks_db_run(tables, schema, err);
	if (status == KS_OK)
		status = ks_index_follow(index, goal, &needs_all, err);
	if (status == KS_OK)
		status = ks_db_run(tables, schema_order, err);
	return status == KS_OK ? write_binding(index, goal->commit, err) :
		status;
}

/* Catch up where that is possible, else build, inside a transaction. */
static enum ks_status
update(struct ks_index *index, const struct ks_index_goal *goal, bool *built,
	struct ks_error *err)
{
	bool needs_all = true;
	enum ks_status status = KS_OK;

	*built = false;
	if (can_catch_up(index, goal))
		status = catch_up(index, goal, &needs_all, err);
	if (!needs_all || (status != KS_OK && status != KS_CANCELLED))
		return status;
	ks_db_forgive(&index->tables);	/* there may be no tables yet */
	*built = true;
	return build(index, goal, err);
}

/* ---- opening ----------------------------------------------------------- */

/* Bring an open, writable file up to date. */
static enum ks_status
refresh_file(struct ks_index *index, const struct ks_index_goal *goal,
	struct ks_error *err)
{
	struct ks_db *tables = &index->tables;
	bool built = false;
	enum ks_status status = ks_db_begin(tables, false, err);

	if (status == KS_OK && is_current(index, goal->commit))
		return KS_OK;
	ks_db_forgive(tables);		/* there may be no tables yet */
	status = ks_db_begin(tables, true, err);
	if (status != KS_OK)
		return status;
	if (!is_current(index, goal->commit))
		status = update(index, goal, &built, err);
	return end(index, status, built, err);
}

static enum ks_status
open_memory(struct ks_index *index, const struct ks_index_goal *goal,
	struct ks_error *err)
{
	enum ks_status status = ks_db_open(&index->tables, NULL, KS_DB_MEMORY,
		err);

	index->in_memory = true;
	index->read_only = false;
	if (status == KS_OK)
		status = ks_db_begin(&index->tables, true, err);
	if (status == KS_OK)
		status = build(index, goal, err);
	return ks_db_end(&index->tables, status, err);
}

/* The file as it is, if that is not stale. */
static bool
opens_as_is(struct ks_index *index, enum ks_db_mode mode,
	const struct ks_oid *commit)
{
	return ks_db_open(&index->tables, ks_buf_cstr(&index->path), mode,
		NULL) == KS_OK && ks_db_begin(&index->tables, false, NULL) ==
		KS_OK && is_current(index, commit);
}

/* Where nothing can be written, an index in memory takes the place of a file
 * that is stale. */
static enum ks_status
open_read_only(struct ks_index *index, const struct ks_index_goal *goal,
	struct ks_error *err)
{
	index->read_only = opens_as_is(index, KS_DB_READ, goal->commit) ||
		(!ks_db_has_wal(ks_buf_cstr(&index->path)) &&
		opens_as_is(index, KS_DB_READ_ALONE, goal->commit));
	return index->read_only ? KS_OK : open_memory(index, goal, err);
}

/* The log is the truth: a damaged file is thrown away, and where there can be
 * none, memory will do. */
static enum ks_status
open_file(struct ks_index *index, const struct ks_index_goal *goal,
	struct ks_error *err)
{
	const char *path = ks_buf_cstr(&index->path);
	int attempt;

	for (attempt = 0; attempt < 2; attempt++) {
		enum ks_status status = ks_db_open(&index->tables, path,
			KS_DB_WRITE, err);

		if (status == KS_OK)
			status = refresh_file(index, goal, err);
		if (status == KS_OK || status == KS_CANCELLED ||
			status == KS_NOMEM || status == KS_CORRUPT)
			return status;
		if (!index->tables.damaged)
			break;
		ks_watch_note(goal->watch, KS_INDEX_NAME
			" is damaged and is built anew");
		ks_db_close(&index->tables);
		ks_db_remove(path);
	}
	return open_memory(index, goal, err);
}

static bool
is_writable(struct ks_index *index, struct ks_gitdb *db)
{
	return access(ks_gitdb_directory(db), W_OK) == 0 &&
		(access(ks_buf_cstr(&index->path), W_OK) == 0 ||
		errno == ENOENT);
}

enum ks_status
ks_index_open(struct ks_index **out, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree, bool fixed,
	const struct ks_watch *watch, struct ks_error *err)
{
	const struct ks_index_goal goal = { .db = db, .commit = commit,
		.tree = tree, .watch = watch };
	struct ks_index *index = calloc(1, sizeof(*index));
	enum ks_status status;

	*out = NULL;
	if (index == NULL)
		return ks_fail_nomem(err);
	index->tables.plan = &plan;
	ks_buf_printf(&index->path, "%s" KS_INDEX_NAME,
		ks_gitdb_directory(db));
	status = ks_buf_check(&index->path, err);
	if (status == KS_OK)
		status = fixed ? open_memory(index, &goal, err) :
			is_writable(index, db) ? open_file(index, &goal, err) :
			open_read_only(index, &goal, err);
	if (status != KS_OK) {
		ks_index_close(index);
		return status;
	}
	*out = index;
	return KS_OK;
}

static bool
has_tables(struct ks_index *index)
{
	struct sqlite3_stmt *stmt = ks_db_prepare(&index->tables,
		"SELECT 1 FROM sqlite_master");
	bool has = ks_db_next(&index->tables, stmt);

	ks_db_discard(stmt);
	return has;
}

static enum ks_status
open_as_is(struct ks_index *index, struct ks_gitdb *db, struct ks_error *err)
{
	const char *path;
	struct stat st;
	enum ks_db_mode mode;
	enum ks_status status;

	index->tables.plan = &plan_as_is;
	index->as_is = true;
	ks_buf_printf(&index->path, "%s" KS_INDEX_NAME,
		ks_gitdb_directory(db));
	status = ks_buf_check(&index->path, err);
	if (status != KS_OK)
		return status;
	path = ks_buf_cstr(&index->path);
	if (lstat(path, &st) != 0)
		return ks_fail(err, KS_NOT_FOUND, "there is no index");
	/* SQLite would wait for a FIFO's writer, and not be interrupted. */
	if (!S_ISREG(st.st_mode))
		return ks_fail(err, KS_CORRUPT, "it is no regular file");
	/* Its WAL, if it has one, is looked at only by those that could
	 * write. */
	mode = ks_db_has_wal(path) || is_writable(index, db) ? KS_DB_READ :
		KS_DB_READ_ALONE;
	status = ks_db_open(&index->tables, path, mode, err);
	if (status == KS_OK)
		status = ks_db_begin(&index->tables, false, err);
	/* Who was killed, or had no space, while making it left no table. */
	if (status == KS_OK && !has_tables(index))
		status = ks_db_check(&index->tables, err) != KS_OK ? KS_IO :
			ks_fail(err, KS_NOT_FOUND, "the index is empty");
	if (status != KS_OK || is_index(index))
		return status;
	status = ks_db_check(&index->tables, err);
	return status != KS_OK ? status : ks_fail(err, KS_CORRUPT,
		"it is none, or one of another version");
}

enum ks_status
ks_index_open_as_is(struct ks_index **out, struct ks_gitdb *db,
	struct ks_error *err)
{
	struct ks_index *index = calloc(1, sizeof(*index));
	enum ks_status status;

	*out = NULL;
	if (index == NULL)
		return ks_fail_nomem(err);
	status = open_as_is(index, db, err);
	if (status != KS_OK) {
		if (status == KS_IO && index->tables.damaged)
			status = KS_CORRUPT;
		ks_index_close(index);
		return status;
	}
	*out = index;
	return KS_OK;
}

enum ks_status
ks_index_rebuild(struct ks_index *index, const struct ks_index_goal *goal,
	bool in_memory, struct ks_error *err)
{
	ks_db_close(&index->tables);
	if (in_memory || index->in_memory)
		return open_memory(index, goal, err);
	ks_db_remove(ks_buf_cstr(&index->path));
	return open_file(index, goal, err);
}

void
ks_index_close(struct ks_index *index)
{
	bool damaged;

	if (index == NULL)
		return;
	damaged = index->distrusted || index->tables.damaged;
	ks_db_close(&index->tables);
	if (damaged && !index->in_memory && !index->as_is)
		ks_db_remove(ks_buf_cstr(&index->path));
	ks_buf_release(&index->path);
	free(index);
}

void
ks_index_distrust(struct ks_index *index)
{
	index->distrusted = true;
}

enum ks_status
ks_index_begin(struct ks_index *index, struct ks_error *err)
{
	struct ks_oid before = index->commit;
	struct ks_index_log log = index->log;
	enum ks_status status = ks_db_begin(&index->tables, true, err);

	if (status != KS_OK)
		return status;
	if (read_binding(index) && ks_oid_equal(&index->commit, &before))
		return KS_OK;
	index->commit = before;
	index->log = log;
	status = ks_fail(err, KS_BUSY,
		KS_INDEX_NAME " was changed by another process");
	return ks_db_end(&index->tables, status, err);
}

enum ks_status
ks_index_catch_up(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree,
	const struct ks_watch *watch, struct ks_error *err)
{
	const struct ks_index_goal goal = { .db = db, .commit = commit,
		.tree = tree, .watch = watch };
	bool needs_all;
	enum ks_status status = ks_index_begin(index, err);

	if (status != KS_OK)
		return status;
	status = catch_up(index, &goal, &needs_all, err);
	return end(index, status, false, err);
}

const struct ks_index_log *
ks_index_log(const struct ks_index *index)
{
	return &index->log;
}

enum ks_status
ks_index_check(const struct ks_index *index, struct ks_error *err)
{
	return ks_db_check(&index->tables, err);
}

/* ---- one object -------------------------------------------------------- */

void
ks_index_bind_digest(struct sqlite3_stmt *stmt, int at,
	const struct ks_id *digest)
{
	ks_db_bind_bytes(stmt, at, ks_span(digest->bytes, KS_ID_BYTES));
}

static bool
column_digest(struct sqlite3_stmt *stmt, int at, struct ks_id *digest)
{
	struct ks_span bytes = ks_db_bytes(stmt, at);

	if (bytes.len != KS_ID_BYTES)
		return false;
	memcpy(digest->bytes, bytes.data, KS_ID_BYTES);
	return true;
}

static uint64_t
column_line(struct sqlite3_stmt *stmt, int at)
{
	return ks_db_is_null(stmt, at) ? KS_NO_LINE : ks_db_number(stmt, at);
}

static void
set_flags(struct ks_object_state *state, uint64_t flags)
{
	state->retracted = (flags & KS_INDEX_RETRACTED) != 0;
	state->superseded = (flags & KS_INDEX_SUPERSEDED) != 0;
	state->taken_down = (flags & KS_INDEX_TAKEN_DOWN) != 0;
	state->redacted = (flags & KS_INDEX_REDACTED) != 0;
	state->was_retracted = (flags & KS_INDEX_WAS_RETRACTED) != 0;
	state->was_superseded = (flags & KS_INDEX_WAS_SUPERSEDED) != 0;
	state->has_missing = (flags & KS_INDEX_HAS_MISSING) != 0;
}

/* Read a row of COLUMNS; false when it makes no sense. */
static bool
read_row(struct sqlite3_stmt *stmt, struct ks_index_row *row)
{
	memset(row, 0, sizeof(*row));
	if (!column_digest(stmt, 0, &row->state.digest))
		return false;
	ks_db_text(stmt, 1, row->kind, sizeof(row->kind));
	row->state.published = (uint32_t)ks_db_number(stmt, 2);
	set_flags(&row->state, ks_db_number(stmt, 3));
	row->metadata_line = column_line(stmt, 4);
	row->provenance_line = column_line(stmt, 5);
	row->metadata_hash = ks_db_number(stmt, 6);
	row->provenance_hash = ks_db_number(stmt, 7);
	row->state.successor = KS_NO_OBJECT;
	(void)column_digest(stmt, 8, &row->successor);
	ks_db_text(stmt, 9, row->name, sizeof(row->name));
	return true;
}

bool
ks_index_object(struct ks_index *index, const struct ks_id *digest,
	struct ks_index_row *row)
{
	struct sqlite3_stmt *stmt;
	bool found;

	/* Before the first publish there is nothing to look for. */
	if (index->log.tree.size <= 1)
		return false;
	stmt = ks_db_statement(&index->tables, KS_INDEX_GET_OBJECT);
	ks_index_bind_digest(stmt, 1, digest);
	found = ks_db_next(&index->tables, stmt) && read_row(stmt, row);
	ks_db_reset(stmt);
	return found;
}

bool
ks_index_id(struct ks_index *index, const uint8_t id[16],
	struct ks_id *digest)
{
	struct sqlite3_stmt *stmt;
	bool found;

	if (index->log.tree.size <= 1)
		return false;
	stmt = ks_db_statement(&index->tables, KS_INDEX_GET_ID);
	ks_db_bind_bytes(stmt, 1, ks_span(id, 16));
	found = ks_db_next(&index->tables, stmt) &&
		column_digest(stmt, 0, digest);
	ks_db_reset(stmt);
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

/* Visit the numbers that a bound statement gives. */
static enum ks_status
visit_lines(struct ks_index *index, struct sqlite3_stmt *stmt,
	ks_index_line_fn *visit, void *arg, struct ks_error *err)
{
	while (ks_db_next(&index->tables, stmt))
		if (visit(arg, ks_db_number(stmt, 0)))
			break;
	ks_db_reset(stmt);
	return ks_db_check(&index->tables, err);
}

enum ks_status
ks_index_lines(struct ks_index *index, const struct ks_id *digest,
	ks_index_line_fn *visit, void *arg, struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(&index->tables,
		KS_INDEX_GET_LINES);

	ks_index_bind_digest(stmt, 1, digest);
	return visit_lines(index, stmt, visit, arg, err);
}

enum ks_status
ks_index_keys(struct ks_index *index, ks_index_line_fn *visit, void *arg,
	struct ks_error *err)
{
	return visit_lines(index, ks_db_statement(&index->tables,
		KS_INDEX_GET_KEYS), visit, arg, err);
}

/* ---- many objects ------------------------------------------------------ */

/* Visit the rows that a bound statement of COLUMNS gives. */
static enum ks_status
visit_rows(struct ks_index *index, struct sqlite3_stmt *stmt,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	struct ks_index_row row;

	while (ks_db_next(&index->tables, stmt))
		if (read_row(stmt, &row) && visit(arg, &row))
			break;
	ks_db_reset(stmt);
	return ks_db_check(&index->tables, err);
}

bool
ks_index_hex_range(struct ks_span hex, uint8_t *low, uint8_t *high, size_t len)
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
by_range(struct ks_index *index, enum ks_index_statement which,
	struct ks_span hex, size_t len, ks_index_fn *visit, void *arg,
	struct ks_error *err)
{
	uint8_t low[KS_ID_BYTES], high[KS_ID_BYTES];
	struct sqlite3_stmt *stmt;

	if (!ks_index_hex_range(hex, low, high, len))
		return KS_OK;
	stmt = ks_db_statement(&index->tables, which);
	ks_db_bind_bytes(stmt, 1, ks_span(low, len));
	ks_db_bind_bytes(stmt, 2, ks_span(high, len));
	return visit_rows(index, stmt, visit, arg, err);
}

enum ks_status
ks_index_by_digest(struct ks_index *index, struct ks_span hex,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	return by_range(index, KS_INDEX_BY_DIGEST, hex, KS_ID_BYTES, visit,
		arg, err);
}

enum ks_status
ks_index_by_id(struct ks_index *index, struct ks_span id_hex,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	return by_range(index, KS_INDEX_BY_ID, id_hex, 16, visit, arg, err);
}

static enum ks_status
by_text(struct ks_index *index, enum ks_index_statement which,
	struct ks_span text, ks_index_fn *visit, void *arg,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(&index->tables, which);

	ks_db_bind_text(stmt, 1, text);
	return visit_rows(index, stmt, visit, arg, err);
}

enum ks_status
ks_index_by_name(struct ks_index *index, struct ks_span name,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	return by_text(index, KS_INDEX_BY_NAME, name, visit, arg, err);
}

enum ks_status
ks_index_by_slug(struct ks_index *index, struct ks_span slug,
	ks_index_fn *visit, void *arg, struct ks_error *err)
{
	return by_text(index, KS_INDEX_BY_SLUG, slug, visit, arg, err);
}

enum ks_status
ks_index_by_kind(struct ks_index *index, const char *kind, ks_index_fn *visit,
	void *arg, struct ks_error *err)
{
	return by_text(index, KS_INDEX_BY_KIND, ks_span_text(kind), visit, arg,
		err);
}

enum ks_status
ks_index_by_missing(struct ks_index *index, ks_index_fn *visit, void *arg,
	struct ks_error *err)
{
	return visit_rows(index, ks_db_statement(&index->tables,
		KS_INDEX_BY_MISSING), visit, arg, err);
}

/* ---- counts ------------------------------------------------------------ */

enum ks_status
ks_index_kinds(struct ks_index *index, ks_index_kind_fn *visit, void *arg,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(&index->tables,
		KS_INDEX_COUNT_KINDS);
	char kind[sizeof(((struct ks_index_row *)NULL)->kind)];

	while (ks_db_next(&index->tables, stmt)) {
		ks_db_text(stmt, 0, kind, sizeof(kind));
		visit(arg, kind, ks_db_number(stmt, 1), ks_db_number(stmt, 2),
			ks_db_number(stmt, 3), ks_db_number(stmt, 4));
	}
	return ks_db_check(&index->tables, err);
}

uint64_t
ks_index_count(struct ks_index *index)
{
	struct sqlite3_stmt *stmt = ks_db_statement(&index->tables,
		KS_INDEX_COUNT_OBJECTS);
	uint64_t count = 0;

	if (ks_db_next(&index->tables, stmt))
		count = ks_db_number(stmt, 0);
	ks_db_reset(stmt);
	return count;
}
