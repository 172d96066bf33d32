#include "store/catalogue_internal.h"

#include <stdlib.h>

#include "store/attesters.h"
#include "store/watch.h"

/* Changes when the tables or what they mean change, or what is derived from a
 * body: another number means "fill anew". */
#define SCHEMA_VERSION 1

#define AS_COLUMN(id, column) " " #column " INTEGER,"
static const char schema[] =
	"CREATE TABLE term(number INTEGER PRIMARY KEY, field INTEGER,"
	" text TEXT);"
	"CREATE UNIQUE INDEX term_text ON term(field, text);"
	"CREATE TABLE record(object INTEGER PRIMARY KEY, flags INTEGER,"
	KS_TERMS(AS_COLUMN) KS_RELATIONS(AS_COLUMN)
	" value REAL, low REAL, high REAL, samples INTEGER, moment TEXT,"
	" observed TEXT, published TEXT, external TEXT, id BLOB,"
	" comparison BLOB);"
	"CREATE TABLE text(object INTEGER PRIMARY KEY, name TEXT, title TEXT,"
	" words TEXT);"
	"CREATE TABLE axis(object INTEGER, item INTEGER, name INTEGER,"
	" value INTEGER, PRIMARY KEY(object, item, name)) WITHOUT ROWID;"
	/* References that are no relations. */
	"CREATE TABLE reference(object INTEGER, target INTEGER, path TEXT,"
	" PRIMARY KEY(object, target, path)) WITHOUT ROWID;"
	/* References to what was not published when they were looked at. */
	"CREATE TABLE open(object INTEGER, digest BLOB,"
	" PRIMARY KEY(object, digest)) WITHOUT ROWID;"
	/* What an Artifact describes. */
	"CREATE TABLE described(object INTEGER PRIMARY KEY, bytes BLOB);"
	/* Runs that were rerun, by an attestation that counts. */
	"CREATE TABLE rerun(object INTEGER, attestation INTEGER,"
	" PRIMARY KEY(object, attestation)) WITHOUT ROWID;";

#define BY(column) "CREATE INDEX record_" column " ON record(" column \
	", kind) WHERE " column " IS NOT NULL;"

/* Columns that are not indexed have few values, or rows of few kinds, which
 * are found by their kind. The indices of what few records have cost little
 * while the tables are filled, */
static const char schema_early[] =
	BY("operation") BY("model") BY("configuration") BY("stack")
	BY("project") BY("dtypes")
	"CREATE INDEX reference_target ON reference(target);"
	"CREATE INDEX open_digest ON open(digest);";

/* and the others less when they are made at the end, as in the index. */
static const char schema_late[] =
	"CREATE INDEX record_kind ON record(kind);"
	BY("workload") BY("implementation") BY("protocol") BY("environment")
	BY("source") BY("status") BY("moment") BY("external") BY("comparison")
	"CREATE INDEX axis_value ON axis(name, value);"
	"CREATE INDEX described_bytes ON described(bytes);"
	"PRAGMA analysis_limit = 0;"
	"ANALYZE record; ANALYZE axis;";

/* Made when something is first searched for. */
static const char schema_search[] =
	"CREATE VIRTUAL TABLE search USING fts5(name, title, words,"
	" content='text', content_rowid='object', columnsize=0);"
	"INSERT INTO search(search) VALUES('rebuild');";

const char ks_catalogue_drop[] =
	"DROP TABLE IF EXISTS term; DROP TABLE IF EXISTS record;"
	"DROP TABLE IF EXISTS search; DROP TABLE IF EXISTS text;"
	"DROP TABLE IF EXISTS axis; DROP TABLE IF EXISTS reference;"
	"DROP TABLE IF EXISTS open; DROP TABLE IF EXISTS described;"
	"DROP TABLE IF EXISTS rerun;";

#define SUBJECT "SELECT o.published, o.digest, k.name, o.flags," \
	" o.metadata, o.provenance FROM object o" \
	" LEFT JOIN kind k ON k.number = o.kind"

/* A run's columns for ranking, read in this order by catalogue_ask.c. */
#define RUN "SELECT o.digest, r.flags, r.value, r.low, r.high," \
	" s.text, coalesce(r.observed, r.moment || 'Z'), r.id, i.flags," \
	" EXISTS(SELECT 1 FROM rerun x WHERE x.object = r.object)," \
	" oi.digest, ow.digest, os.digest" \
	" FROM record r JOIN object o ON o.published = r.object" \
	" LEFT JOIN term s ON s.number = r.status" \
	" LEFT JOIN record i ON i.object = r.implementation" \
	" LEFT JOIN object oi ON oi.published = r.implementation" \
	" LEFT JOIN object ow ON ow.published = r.workload" \
	" LEFT JOIN object os ON os.published = r.source"

/* All that refer to ?1: object, kind, and its path, or the relation. */
#define AS_USE(id, column) " UNION ALL SELECT object, kind, 0, '" #column \
	"' FROM record WHERE " #column " = ?1"
#define USES "SELECT r.object AS object, r.kind AS kind, 1 AS other," \
	" x.path AS path FROM reference x JOIN record r" \
	" ON r.object = x.object WHERE x.target = ?1" KS_RELATIONS(AS_USE)

#define AS_PARAMETER(id, column) ", ?"

#define SLOT(statement) [(statement) - KS_INDEX_STATEMENTS]

static const char *const sql[] = {
	SLOT(KS_CATALOGUE_EACH) = SUBJECT " WHERE o.flags & 4 = 0"
		" ORDER BY o.published",
	SLOT(KS_CATALOGUE_ONE) = SUBJECT " WHERE o.published = ?1",
	SLOT(KS_CATALOGUE_PLACES) = "SELECT digest, published FROM object"
		" ORDER BY digest",
	/* New, spoken of again, or referring to what is new. */
	SLOT(KS_CATALOGUE_CHANGED) = "SELECT published FROM object"
		" WHERE published >= ?1"
		" UNION SELECT object FROM line WHERE line >= ?1"
		" UNION SELECT w.object FROM object o JOIN open w"
		" ON w.digest = o.digest WHERE o.published >= ?1"
		" ORDER BY 1",
	SLOT(KS_CATALOGUE_FIND) = "SELECT published FROM object"
		" WHERE digest = ?1",
	SLOT(KS_CATALOGUE_FIND_TERM) = "SELECT number FROM term"
		" WHERE field = ?1 AND text = ?2",
	SLOT(KS_CATALOGUE_LAST_TERM) = "SELECT max(number) FROM term",
	SLOT(KS_CATALOGUE_ADD_TERM) = "INSERT INTO term VALUES(?1, ?2, ?3)",
	SLOT(KS_CATALOGUE_GET_TERM) = "SELECT text FROM term"
		" WHERE number = ?1",
	SLOT(KS_CATALOGUE_GET_PART) = "SELECT t.text FROM record r"
		" JOIN term t ON t.number = r.part WHERE r.object = ?1",
	SLOT(KS_CATALOGUE_ADD_RECORD) = "INSERT INTO record VALUES(?, ?"
		KS_TERMS(AS_PARAMETER) KS_RELATIONS(AS_PARAMETER)
		", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	SLOT(KS_CATALOGUE_ADD_TEXT) = "INSERT INTO text VALUES"
		"(?1, ?2, ?3, ?4)",
	SLOT(KS_CATALOGUE_ADD_SEARCH) = "INSERT INTO"
		" search(rowid, name, title, words) VALUES(?1, ?2, ?3, ?4)",
	SLOT(KS_CATALOGUE_ADD_AXIS) = "INSERT OR IGNORE INTO axis VALUES"
		"(?1, ?2, ?3, ?4)",
	SLOT(KS_CATALOGUE_ADD_REFERENCE) = "INSERT OR IGNORE INTO reference"
		" VALUES(?1, ?2, ?3)",
	SLOT(KS_CATALOGUE_ADD_OPEN) = "INSERT OR IGNORE INTO open VALUES"
		"(?1, ?2)",
	SLOT(KS_CATALOGUE_ADD_BYTES) = "INSERT INTO described VALUES(?1, ?2)",
	SLOT(KS_CATALOGUE_SET_KEY) = "UPDATE record SET comparison = ?2"
		" WHERE object = ?1",
	SLOT(KS_CATALOGUE_DROP_RECORD) = "DELETE FROM record"
		" WHERE object = ?1",
	/* The search forgets a row by being told what it has. */
	SLOT(KS_CATALOGUE_DROP_SEARCH) = "INSERT INTO"
		" search(search, rowid, name, title, words)"
		" SELECT 'delete', object, name, title, words FROM text"
		" WHERE object = ?1",
	SLOT(KS_CATALOGUE_DROP_TEXT) = "DELETE FROM text WHERE object = ?1",
	SLOT(KS_CATALOGUE_DROP_AXES) = "DELETE FROM axis WHERE object = ?1",
	SLOT(KS_CATALOGUE_DROP_REFERENCES) = "DELETE FROM reference"
		" WHERE object = ?1",
	SLOT(KS_CATALOGUE_DROP_OPEN) = "DELETE FROM open WHERE object = ?1",
	SLOT(KS_CATALOGUE_DROP_BYTES) = "DELETE FROM described"
		" WHERE object = ?1",
	SLOT(KS_CATALOGUE_DROP_RERUNS) = "DELETE FROM rerun",
	SLOT(KS_CATALOGUE_ADD_RERUN) = "INSERT OR IGNORE INTO rerun VALUES"
		"((SELECT published FROM object WHERE digest = ?1),"
		" (SELECT published FROM object WHERE digest = ?2))",
	SLOT(KS_CATALOGUE_ATTESTATIONS) = "SELECT o.digest FROM record r"
		" JOIN object o ON o.published = r.object WHERE r.kind ="
		" (SELECT number FROM term WHERE field = 0 AND text = '"
		KS_API_KISTORE "/Attestation') AND r.flags & 3 = 0"
		" ORDER BY r.object",
	SLOT(KS_CATALOGUE_GROUP) = RUN " WHERE r.comparison = ?1"
		" ORDER BY r.object",
	SLOT(KS_CATALOGUE_KEYS) = "SELECT DISTINCT comparison FROM record"
		" WHERE comparison >= ?1 AND comparison <= ?2"
		" ORDER BY comparison",
	SLOT(KS_CATALOGUE_USERS) = "SELECT o.digest, t.text, u.other, u.path"
		" FROM (" USES ") u JOIN object o ON o.published = u.object"
		" JOIN term t ON t.number = u.kind"
		" ORDER BY u.object, u.other, u.path",
	SLOT(KS_CATALOGUE_USER_COUNTS) = "SELECT t.text, u.other, u.path,"
		" count(*) FROM (" USES ") u"
		" JOIN term t ON t.number = u.kind"
		" GROUP BY t.text, u.other, u.path",
	SLOT(KS_CATALOGUE_ABOUT) = "SELECT o.digest FROM reference x"
		" JOIN record r ON r.object = x.object"
		" JOIN object o ON o.published = r.object"
		" JOIN term t ON t.number = r.kind WHERE x.target ="
		" (SELECT published FROM object WHERE digest = ?1)"
		" AND t.text = '" KS_API_KISTORE "/Attestation'"
		" AND r.flags & 3 = 0 ORDER BY r.object",
	SLOT(KS_CATALOGUE_DESCRIBING) = "SELECT o.digest FROM described d"
		" JOIN object o ON o.published = d.object WHERE d.bytes = ?1"
		" ORDER BY d.object",
	SLOT(KS_CATALOGUE_EXTERNAL) = "SELECT o.digest FROM record r"
		" JOIN object o ON o.published = r.object"
		" LEFT JOIN term n ON n.number = r.native"
		" LEFT JOIN text s ON s.object = r.source"
		" WHERE r.external = ?2 AND (n.text = ?1 OR s.name = ?1)"
		" ORDER BY r.object",
	SLOT(KS_CATALOGUE_RERUNS_OF) = "SELECT o.digest FROM rerun x"
		" JOIN object o ON o.published = x.attestation"
		" WHERE x.object = ?1",
	SLOT(KS_CATALOGUE_GET_RECORD) = "SELECT r.*, t.name, t.title, t.words"
		" FROM record r LEFT JOIN text t ON t.object = r.object"
		" WHERE r.object = ?1",
};

static const struct ks_db_plan plan = {
	.name = KS_INDEX_NAME,
	.remedy = "",
	.count = KS_CATALOGUE_END - KS_INDEX_STATEMENTS,
	.sql = sql
};

/* ---- binding ------------------------------------------------------------ */

/* What binds the tables to the commit they were filled from. */
struct binding {
	uint32_t version;
	uint32_t size;
	struct ks_oid commit;
	uint64_t entries;	/* of the log */
	uint64_t unread;	/* records that could not be read, */
	uint64_t stamp;		/* among these files of git's */
	uint64_t searchable;	/* 1: the search is there, too */
	uint64_t schema;	/* of the file: nobody has changed tables */
};

/* What is bound; false when it is of another version. */
static bool
get_binding(struct ks_index *index, struct binding *binding)
{
	return ks_index_get_meta(index, KS_CATALOGUE_META, binding,
		sizeof(*binding)) && binding->version == SCHEMA_VERSION &&
		binding->size == sizeof(*binding);
}

/* The same of tables that can be asked. */
static bool
read_binding(struct ks_index *index, struct binding *binding)
{
	return get_binding(index, binding) && binding->schema ==
		ks_db_schema(&index->tables);
}

static enum ks_status
write_binding(struct ks_catalogue *catalogue, struct ks_error *err)
{
	struct ks_index *index = catalogue->index;
	struct binding binding;

	memset(&binding, 0, sizeof(binding));
	binding.version = SCHEMA_VERSION;
	binding.size = sizeof(binding);
	binding.commit = index->commit;
	binding.entries = ks_index_log(index)->tree.size;
	binding.unread = catalogue->unread;
	binding.stamp = catalogue->unread > 0 ? catalogue->stamp : 0;
	binding.searchable = catalogue->searchable ? 1 : 0;
	binding.schema = ks_db_schema(&index->tables);
	return ks_index_set_meta(index, KS_CATALOGUE_META, &binding,
		sizeof(binding), err);
}

/* Whether the tables are there, and are what the commit makes them. What could
 * not be read may have come since, or been mended. */
static bool
is_current(struct ks_catalogue *catalogue, bool search)
{
	struct ks_index *index = catalogue->index;
	struct binding binding;

	if (!read_binding(index, &binding) ||
		!ks_oid_equal(&binding.commit, &index->commit) ||
		(binding.unread > 0 && binding.stamp !=
		ks_gitdb_stamp(catalogue->store->db)) ||
		(search && binding.searchable == 0))
		return false;
	catalogue->unread = binding.unread;
	catalogue->searchable = binding.searchable != 0;
	return true;
}

/* The entry from which on the tables have to be filled; 0 = all of it: they
 * are of another log, lack something, or catching up would take longer. */
static uint64_t
find_start(struct ks_catalogue *catalogue)
{
	struct ks_index *index = catalogue->index;
	uint64_t size = ks_index_log(index)->tree.size;
	struct binding binding;

	if (!read_binding(index, &binding) || binding.entries > size ||
		binding.unread > 0 ||
		size > 2 * binding.entries + KS_SEGMENT_ENTRIES ||
		!ks_index_extends(catalogue->store->db, &binding.commit,
		&catalogue->store->tree, binding.entries))
		return 0;
	catalogue->searchable = binding.searchable != 0;
	return binding.entries;
}

/* ---- filling ------------------------------------------------------------ */

/* The runs that attestations make "verified". This hangs on the commit, whose
 * notes say which keys count, and not on the log alone; so it is asked anew. */
static enum ks_status
fill_reruns(struct ks_catalogue *catalogue, struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	struct ks_buf digests = KS_BUF_INIT;
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_CATALOGUE_ATTESTATIONS);
	size_t i;
	enum ks_status status;

	while (ks_db_next(tables, stmt))
		ks_buf_append(&digests, ks_db_bytes(stmt, 0));
	status = ks_buf_check(&digests, err);
	if (status == KS_OK)
		status = ks_db_finish(tables, ks_db_statement(tables,
			KS_CATALOGUE_DROP_RERUNS), err);
	for (i = 0; status == KS_OK && i + KS_ID_BYTES <= digests.len;
		i += KS_ID_BYTES) {
		struct ks_id digest, subject;
		bool counts;

		memcpy(digest.bytes, digests.data + i, KS_ID_BYTES);
		status = ks_store_rerun(catalogue->store, &digest, &subject,
			&counts, err);
		if (status == KS_CORRUPT || status == KS_NOT_FOUND) {
			status = KS_OK;
			continue;
		}
		if (status != KS_OK || !counts)
			continue;
		stmt = ks_db_statement(tables, KS_CATALOGUE_ADD_RERUN);
		ks_index_bind_digest(stmt, 1, &subject);
		ks_index_bind_digest(stmt, 2, &digest);
		status = ks_db_finish(tables, stmt, err);
	}
	ks_buf_release(&digests);
	return status;
}

/* Fill empty tables. */
static enum ks_status
build(struct ks_catalogue *catalogue, const struct ks_watch *watch,
	struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	enum ks_status status = ks_db_run(tables, ks_catalogue_drop, err);

	if (status == KS_OK)
		status = ks_db_run(tables, schema, err);
	if (status == KS_OK)
		status = ks_db_run(tables, schema_early, err);
	if (status == KS_OK)
		status = ks_catalogue_fill(catalogue, 0, watch, err);
	return status != KS_OK ? status : ks_db_run(tables, schema_late, err);
}

/* Fill the tables, inside a transaction; *much is whether that was much. */
static enum ks_status
fill(struct ks_catalogue *catalogue, bool search,
	const struct ks_watch *watch, bool *much, struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	uint64_t from;
	enum ks_status status;

	catalogue->searchable = false;
	from = find_start(catalogue);
	ks_db_forgive(tables);		/* there may be no tables yet */
	catalogue->unread = 0;
	/* It takes a look at every file: where a few lines are caught up with,
	 * none is taken, and whatever they lack is tried again. */
	catalogue->stamp = from > 0 ? 0 :
		ks_gitdb_stamp(catalogue->store->db);
	*much = from == 0;
	status = from == 0 ? build(catalogue, watch, err) :
		ks_catalogue_fill(catalogue, from, watch, err);
	if (status == KS_OK && search && !catalogue->searchable) {
		status = ks_db_run(tables, schema_search, err);
		catalogue->searchable = true;
		*much = true;
	}
	if (status == KS_OK)
		status = fill_reruns(catalogue, err);
	return status == KS_OK ? write_binding(catalogue, err) : status;
}

static enum ks_status
fill_in_transaction(struct ks_catalogue *catalogue, bool search,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_index *index = catalogue->index;
	bool much = false;
	enum ks_status status = ks_index_begin(index, err);

	if (status != KS_OK)
		return status;
	if (!is_current(catalogue, search))
		status = fill(catalogue, search, watch, &much, err);
	status = ks_db_end(&index->tables, status, err);
	/* Whoever opens the file next would have to read all of a WAL. */
	return status == KS_OK && much && !index->in_memory ?
		ks_db_empty_wal(&index->tables, err) : status;
}

/* ---- opening ------------------------------------------------------------ */

/* As with the index, a damaged file is thrown away, and where it cannot be
 * written, or is another commit's by now, memory will do. */
static enum ks_status
bring_up_to_date(struct ks_catalogue *catalogue, bool search,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_store *store = catalogue->store;
	struct ks_index *index = catalogue->index;
	const struct ks_index_goal goal = { .db = store->db,
		.commit = &store->commit, .tree = &store->tree,
		.watch = watch };
	bool damaged;
	enum ks_status status = KS_IO;

	ks_db_forgive(&index->tables);	/* there may be no tables yet */
	if (!index->read_only)
		status = fill_in_transaction(catalogue, search, watch, err);
	if ((status != KS_IO && status != KS_BUSY) || index->in_memory)
		return status;
	damaged = index->tables.damaged && !index->read_only;
	if (damaged)
		ks_watch_note(watch, KS_INDEX_NAME
			" is damaged and is built anew");
	status = ks_index_rebuild(index, &goal, !damaged, err);
	if (status == KS_OK)
		status = fill_in_transaction(catalogue, search, watch, err);
	if ((status != KS_IO && status != KS_BUSY) || index->in_memory)
		return status;
	status = ks_index_rebuild(index, &goal, true, err);
	return status != KS_OK ? status : fill_in_transaction(catalogue,
		search, watch, err);
}

static enum ks_status
open_catalogue(struct ks_store *store, struct ks_catalogue *catalogue,
	const struct ks_watch *watch, struct ks_error *err)
{
	enum ks_status status = ks_log_understood(store, err);

	catalogue->store = store;
	if (status == KS_OK)
		status = ks_store_index(store, &catalogue->index, watch, err);
	if (status != KS_OK)
		return status;
	catalogue->index->tables.more = &plan;
	if (!is_current(catalogue, false))
		status = bring_up_to_date(catalogue, false, watch, err);
	if (status == KS_OK && catalogue->unread > 0)
		ks_watch_note(watch, "records that could not be read and are "
			"left out of what they would be found by: %llu "
			"(kistore verify tells more)",
			(unsigned long long)catalogue->unread);
	return status;
}

/* Whether an open catalogue is that of the index as it is now: a writer may
 * have gone on to another commit with it, or closed it. */
static bool
is_in_use(const struct ks_store *store)
{
	const struct ks_catalogue *catalogue = store->catalogue;

	return catalogue != NULL && catalogue->index == store->index &&
		store->index->tables.more == &plan && ks_oid_equal(
		&store->index->commit, &catalogue->commit);
}

enum ks_status
ks_store_catalogue(struct ks_store *store, struct ks_catalogue **out,
	const struct ks_watch *watch, struct ks_error *err)
{
	enum ks_status status;

	*out = NULL;
	if (!is_in_use(store)) {
		ks_catalogue_free(store->catalogue);
		store->catalogue = calloc(1, sizeof(*store->catalogue));
		if (store->catalogue == NULL)
			return ks_fail_nomem(err);
		status = open_catalogue(store, store->catalogue, watch, err);
		if (status != KS_OK) {
			ks_catalogue_free(store->catalogue);
			store->catalogue = NULL;
			return status;
		}
		store->catalogue->commit = store->index->commit;
	}
	*out = store->catalogue;
	return KS_OK;
}

enum ks_status
ks_catalogue_make_searchable(struct ks_catalogue *catalogue,
	const struct ks_watch *watch, struct ks_error *err)
{
	return catalogue->searchable ? KS_OK : bring_up_to_date(catalogue,
		true, watch, err);
}

enum ks_catalogue_state
ks_catalogue_state(struct ks_index *index, bool *searchable)
{
	struct binding binding;
	uint8_t any[sizeof(binding)];

	*searchable = false;
	if (!ks_index_get_meta(index, KS_CATALOGUE_META, any, sizeof(any)))
		return KS_CATALOGUE_ABSENT;
	if (!get_binding(index, &binding) ||
		!ks_oid_equal(&binding.commit, &index->commit))
		return KS_CATALOGUE_STALE;
	*searchable = binding.searchable != 0;
	return KS_CATALOGUE_CURRENT;
}

enum ks_status
ks_catalogue_build(struct ks_store *store, struct ks_index *index,
	bool search, const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_catalogue catalogue = { .store = store, .index = index };

	index->tables.more = &plan;
	return fill_in_transaction(&catalogue, search, watch, err);
}

void
ks_catalogue_free(struct ks_catalogue *catalogue)
{
	free(catalogue);
}

struct ks_db *
ks_catalogue_tables(struct ks_catalogue *catalogue)
{
	return &catalogue->index->tables;
}
