#include "format/uuid.h"
#include "store/catalogue_internal.h"

/* ---- columns ------------------------------------------------------------ */

static bool
column_digest(struct sqlite3_stmt *stmt, int at, struct ks_id *digest)
{
	struct ks_span bytes = ks_db_bytes(stmt, at);

	memset(digest, 0, sizeof(*digest));
	if (bytes.len != KS_ID_BYTES)
		return false;
	memcpy(digest->bytes, bytes.data, KS_ID_BYTES);
	return true;
}

/* Visit the digests that a bound statement gives in its first column. */
static enum ks_status
visit_digests(struct ks_catalogue *catalogue, struct sqlite3_stmt *stmt,
	ks_catalogue_digest_fn *visit, void *arg, struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	struct ks_id digest;

	while (ks_db_next(tables, stmt))
		if (column_digest(stmt, 0, &digest) && visit(arg, &digest))
			break;
	if (stmt != NULL)
		ks_db_reset(stmt);
	return ks_db_check(tables, err);
}

static struct sqlite3_stmt *
statement(struct ks_catalogue *catalogue, enum ks_catalogue_statement which)
{
	return ks_db_statement(&catalogue->index->tables, which);
}

/* ---- groups ------------------------------------------------------------- */

static void
read_run(struct sqlite3_stmt *stmt, struct ks_catalogue_run *run)
{
	uint64_t flags = ks_db_number(stmt, 1);
	struct ks_span id = ks_db_bytes(stmt, 7);
	struct ks_evidence_facts facts = {
		.is_rerun = ks_db_number(stmt, 9) != 0,
		.has_source = (ks_db_number(stmt, 8) &
			KS_RECORD_HAS_SOURCE) != 0,
		.has_raw = (flags & KS_RECORD_HAS_RAW) != 0
	};

	memset(run, 0, sizeof(*run));
	(void)column_digest(stmt, 0, &run->digest);
	run->retracted = (flags & KS_RECORD_RETRACTED) != 0;
	run->superseded = (flags & KS_RECORD_SUPERSEDED) != 0;
	run->is_source_native = (flags & KS_RECORD_IS_NATIVE) != 0;
	run->has_value = !ks_db_is_null(stmt, 2);
	run->value = ks_db_real(stmt, 2);
	run->has_interval = !ks_db_is_null(stmt, 3);
	run->low = ks_db_real(stmt, 3);
	run->high = ks_db_real(stmt, 4);
	ks_db_text(stmt, 5, run->status, sizeof(run->status));
	run->passed = strcmp(run->status, "passed") == 0;
	ks_db_text(stmt, 6, run->observed, sizeof(run->observed));
	if (id.len == KS_UUID_BYTES)
		(void)ks_uuid_print(id.data, run->id);
	run->evidence = ks_evidence_level(&facts);
	(void)column_digest(stmt, 10, &run->implementation);
	(void)column_digest(stmt, 11, &run->workload);
	(void)column_digest(stmt, 12, &run->source);
}

enum ks_status
ks_catalogue_group(struct ks_catalogue *catalogue, const struct ks_id *key,
	ks_catalogue_run_fn *visit, void *arg, struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	struct sqlite3_stmt *stmt = statement(catalogue, KS_CATALOGUE_GROUP);
	struct ks_catalogue_run run;

	ks_index_bind_digest(stmt, 1, key);
	while (ks_db_next(tables, stmt)) {
		read_run(stmt, &run);
		if (visit(arg, &run))
			break;
	}
	if (stmt != NULL)
		ks_db_reset(stmt);
	return ks_db_check(tables, err);
}

enum ks_status
ks_catalogue_keys(struct ks_catalogue *catalogue, struct ks_span hex,
	struct ks_id *keys, size_t room, size_t *count, struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	uint8_t low[KS_ID_BYTES], high[KS_ID_BYTES];
	struct sqlite3_stmt *stmt;
	struct ks_id key;

	*count = 0;
	if (!ks_index_hex_range(hex, low, high, KS_ID_BYTES))
		return KS_OK;
	stmt = statement(catalogue, KS_CATALOGUE_KEYS);
	ks_db_bind_bytes(stmt, 1, ks_span(low, KS_ID_BYTES));
	ks_db_bind_bytes(stmt, 2, ks_span(high, KS_ID_BYTES));
	while (ks_db_next(tables, stmt)) {
		if (!column_digest(stmt, 0, &key))
			continue;
		if (*count < room)
			keys[*count] = key;
		(*count)++;
	}
	if (stmt != NULL)
		ks_db_reset(stmt);
	return ks_db_check(tables, err);
}

/* ---- users -------------------------------------------------------------- */

/* The last part of a kind: of the texts of reference paths only known kinds
 * have some of their own. */
static const char *
short_kind(const char *kind)
{
	const char *slash = strrchr(kind, '/');

	return slash == NULL ? kind : slash + 1;
}

/* The path behind a row: it stands there, or the relation does. */
static const char *
path_of(const char *kind, bool is_other, const char *text)
{
	unsigned i;

	if (is_other)
		return text;
	for (i = 0; i < KS_RELATION_COUNT; i++)
		if (strcmp(ks_relation_column(i), text) == 0)
			return ks_relation_path(i, short_kind(kind));
	return text;
}

#define PATH_SIZE 512

/* Read kind and path from three columns. */
static const char *
read_path(struct sqlite3_stmt *stmt, int at, char *kind, size_t kind_size,
	char path[PATH_SIZE])
{
	ks_db_text(stmt, at, kind, kind_size);
	ks_db_text(stmt, at + 2, path, PATH_SIZE);
	return path_of(kind, ks_db_number(stmt, at + 1) != 0, path);
}

/* Bind the number of `digest`; a digest without one has no users. */
static bool
bind_object(struct ks_catalogue *catalogue, struct sqlite3_stmt *stmt,
	const struct ks_id *digest)
{
	struct ks_index_row row;

	if (!ks_index_object(catalogue->index, digest, &row))
		return false;
	ks_db_bind_number(stmt, 1, row.state.published);
	return true;
}

enum ks_status
ks_catalogue_users(struct ks_catalogue *catalogue,
	const struct ks_id *digest, ks_catalogue_user_fn *visit, void *arg,
	struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	struct sqlite3_stmt *stmt = statement(catalogue, KS_CATALOGUE_USERS);
	char kind[sizeof(((struct ks_index_row *)NULL)->kind)];
	char path[PATH_SIZE];
	struct ks_id user;

	if (!bind_object(catalogue, stmt, digest))
		return ks_db_check(tables, err);
	while (ks_db_next(tables, stmt)) {
		const char *shown = read_path(stmt, 1, kind, sizeof(kind),
			path);

		if (column_digest(stmt, 0, &user) &&
			visit(arg, &user, kind, shown))
			break;
	}
	if (stmt != NULL)
		ks_db_reset(stmt);
	return ks_db_check(tables, err);
}

enum ks_status
ks_catalogue_user_counts(struct ks_catalogue *catalogue,
	const struct ks_id *digest, ks_catalogue_count_fn *visit, void *arg,
	struct ks_error *err)
{
	struct ks_db *tables = &catalogue->index->tables;
	struct sqlite3_stmt *stmt = statement(catalogue,
		KS_CATALOGUE_USER_COUNTS);
	char kind[sizeof(((struct ks_index_row *)NULL)->kind)];
	char path[PATH_SIZE];

	if (!bind_object(catalogue, stmt, digest))
		return ks_db_check(tables, err);
	while (ks_db_next(tables, stmt)) {
		const char *shown = read_path(stmt, 0, kind, sizeof(kind),
			path);

		visit(arg, kind, shown, ks_db_number(stmt, 3));
	}
	return ks_db_check(tables, err);
}

/* ---- others ------------------------------------------------------------- */

enum ks_status
ks_catalogue_attestations(struct ks_catalogue *catalogue,
	const struct ks_id *subject, ks_catalogue_digest_fn *visit, void *arg,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = statement(catalogue, KS_CATALOGUE_ABOUT);

	ks_index_bind_digest(stmt, 1, subject);
	return visit_digests(catalogue, stmt, visit, arg, err);
}

enum ks_status
ks_catalogue_artifacts(struct ks_catalogue *catalogue,
	const struct ks_id *bytes, ks_catalogue_digest_fn *visit, void *arg,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = statement(catalogue,
		KS_CATALOGUE_DESCRIBING);

	ks_index_bind_digest(stmt, 1, bytes);
	return visit_digests(catalogue, stmt, visit, arg, err);
}

enum ks_status
ks_catalogue_external(struct ks_catalogue *catalogue, struct ks_span source,
	struct ks_span external_id, ks_catalogue_digest_fn *visit, void *arg,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = statement(catalogue,
		KS_CATALOGUE_EXTERNAL);

	ks_db_bind_text(stmt, 1, source);
	ks_db_bind_text(stmt, 2, external_id);
	return visit_digests(catalogue, stmt, visit, arg, err);
}
