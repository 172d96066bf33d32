/*
 * Tables of runs for other programs: lines of JSON, and a database of SQLite.
 */
#include "format/json.h"
#include "store/listing.h"

/* ---- lines of JSON ------------------------------------------------------ */

void
ks_export_line(struct ks_buf *out, const struct ks_list_field *const *columns,
	size_t count, const struct ks_list_record *record)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct ks_span value = record->values[i];

		ks_buf_printf(out, "%s\"%s\":", i == 0 ? "{" : ",",
			columns[i]->name);
		if (value.len == 0)
			ks_buf_text(out, "null");
		else if (ks_list_is_json(columns[i]))
			ks_buf_append(out, value);
		else
			ks_json_quote(out, value);
	}
	ks_buf_text(out, "}\n");
}

/* ---- a database --------------------------------------------------------- */

/* The columns that questions begin with. */
static const char *const indexed[] = { "operation", "hardware", "comparison" };

struct filling {
	struct ks_db *db;
	const struct ks_list_sink *sink;	/* the caller's */
	struct sqlite3_stmt *insert;
	const struct ks_list_field *columns[KS_LIST_COLUMNS];
	size_t count;
	enum ks_status status;			/* of the first failure, */
	struct ks_error *err;			/* told here */
};

static const char *
type_of(const struct ks_list_field *field)
{
	switch (field->type) {
	case KS_LIST_NUMBER:
		return "REAL";
	case KS_LIST_INTEGER:
	case KS_LIST_BOOLEAN:
		return "INTEGER";
	case KS_LIST_TEXT:
	case KS_LIST_TIME:
	case KS_LIST_DIGEST:
	case KS_LIST_JSON:
		break;
	}
	return "TEXT";
}

static enum ks_status
create_table(struct filling *filling)
{
	struct ks_buf sql = KS_BUF_INIT;
	enum ks_status status;
	size_t i;

	for (i = 0; i < filling->count; i++) {
		const struct ks_list_field *field = filling->columns[i];

		ks_buf_printf(&sql, "%s\n  %s %s%s", i == 0 ?
			"CREATE TABLE runs (" : ",", field->name,
			type_of(field), strcmp(field->name, "digest") == 0 ?
			" NOT NULL PRIMARY KEY" : "");
	}
	ks_buf_text(&sql, "\n)");
	(void)ks_buf_cstr(&sql);
	status = ks_buf_check(&sql, filling->err);
	if (status == KS_OK)
		status = ks_db_run(filling->db, ks_buf_cstr(&sql),
			filling->err);
	ks_buf_release(&sql);
	return status;
}

static enum ks_status
prepare_insert(struct filling *filling)
{
	struct ks_buf sql = KS_BUF_INIT;
	enum ks_status status;
	size_t i;

	ks_buf_text(&sql, "INSERT INTO runs VALUES (?");
	for (i = 1; i < filling->count; i++)
		ks_buf_text(&sql, ", ?");
	ks_buf_byte(&sql, ')');
	(void)ks_buf_cstr(&sql);
	status = ks_buf_check(&sql, filling->err);
	if (status == KS_OK) {
		filling->insert = ks_db_prepare(filling->db,
			ks_buf_cstr(&sql));
		status = ks_db_check(filling->db, filling->err);
	}
	ks_buf_release(&sql);
	return status;
}

static void
on_begin(void *arg, const struct ks_list_field *const *columns, size_t count)
{
	struct filling *filling = arg;
	size_t i;

	filling->count = count;
	for (i = 0; i < count; i++)
		filling->columns[i] = columns[i];
	filling->status = create_table(filling);
	if (filling->status == KS_OK)
		filling->status = prepare_insert(filling);
}

/* SQLite does not always read a number as the nearest double, so it gets
 * none as text. */
static void
bind_number(struct sqlite3_stmt *stmt, int at, bool is_integer,
	struct ks_span value)
{
	int64_t number;

	if (is_integer && ks_json_integer(value, &number))
		ks_db_bind_number(stmt, at, (uint64_t)number);
	else
		ks_db_bind_real(stmt, at, ks_json_double(value));
}

static void
bind(struct sqlite3_stmt *stmt, int at, const struct ks_list_field *field,
	struct ks_span value)
{
	if (value.len == 0)
		ks_db_bind_null(stmt, at);
	else if (ks_list_is_number(field))
		bind_number(stmt, at, field->type == KS_LIST_INTEGER, value);
	else if (field->type == KS_LIST_BOOLEAN)
		ks_db_bind_number(stmt, at, ks_span_is(value, "true"));
	else
		ks_db_bind_text(stmt, at, value);
}

static bool
on_record(void *arg, const struct ks_list_record *record)
{
	struct filling *filling = arg;
	size_t i;

	if (filling->status == KS_OK) {
		for (i = 0; i < filling->count; i++)
			bind(filling->insert, (int)i + 1, filling->columns[i],
				record->values[i]);
		filling->status = ks_db_finish(filling->db, filling->insert,
			filling->err);
	}
	return filling->status != KS_OK;
}

static void
on_problem(void *arg, const struct ks_id *digest, const struct ks_error *why)
{
	const struct filling *filling = arg;

	if (filling->sink->problem != NULL)
		filling->sink->problem(filling->sink->arg, digest, why);
}

/* Made when all rows are there, they are packed and in order. */
static enum ks_status
create_indexes(struct ks_db *db, struct ks_error *err)
{
	struct ks_buf sql = KS_BUF_INIT;
	enum ks_status status;
	size_t i;

	for (i = 0; i < sizeof(indexed) / sizeof(indexed[0]); i++)
		ks_buf_printf(&sql, "CREATE INDEX runs_%s ON runs (%s);",
			indexed[i], indexed[i]);
	(void)ks_buf_cstr(&sql);
	status = ks_buf_check(&sql, err);
	if (status == KS_OK)
		status = ks_db_run(db, ks_buf_cstr(&sql), err);
	ks_buf_release(&sql);
	return status;
}

enum ks_status
ks_export_sqlite(struct ks_store *store, const struct ks_list_options *options,
	const char *path, const char *name, const struct ks_list_sink *sink,
	struct ks_list_result *result, struct ks_error *err)
{
	const struct ks_db_plan plan = { .name = name, .remedy = "" };
	struct ks_db db = { .plan = &plan };
	struct filling filling = { .db = &db, .sink = sink, .err = err };
	const struct ks_list_sink own = { .arg = &filling, .begin = on_begin,
		.record = on_record, .problem = on_problem };
	enum ks_status status = ks_db_open(&db, path, KS_DB_FRESH, err);

	memset(result, 0, sizeof(*result));
	if (status == KS_OK)
		status = ks_db_begin(&db, true, err);
	if (status == KS_OK)
		status = ks_list(store, options, &own, result, err);
	if (status == KS_OK)
		status = filling.status;
	ks_db_discard(filling.insert);
	if (status == KS_OK)
		status = create_indexes(&db, err);
	if (db.in_transaction)
		status = ks_db_end(&db, status, err);
	ks_db_close(&db);
	return status;
}
