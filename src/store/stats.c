#include <stdlib.h>

#include "store/listing.h"

#define BENCHMARK KS_API_KERNELINDEX "/BenchmarkRun"
#define SERVING KS_API_KERNELINDEX "/ServingRun"

/* What runs are counted by: fields, and what they are called here. */
static const char *const groups[] = { "status", "evidence", "source",
	"vendor", "hardware", "family", "model", "language", "metric" };

struct counting {
	struct ks_db *tables;
	ks_stats_fn *visit;
	void *arg;
};

/* Tell of the rows of a statement: value and three counts. */
static enum ks_status
tell(const struct counting *counting, const char *group, const char *sql,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_prepare(counting->tables, sql);
	struct ks_buf value = KS_BUF_INIT;
	struct ks_stats_row row = { .group = group };
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_db_next(counting->tables, stmt)) {
		ks_buf_clear(&value);
		if (strcmp(group, "evidence") == 0)
			ks_buf_text(&value, ks_field_level(
				(unsigned)ks_db_number(stmt, 0)));
		else
			ks_buf_append(&value, ks_db_bytes(stmt, 0));
		row.value = ks_buf_cstr(&value);
		status = ks_buf_check(&value, err);
		if (status != KS_OK)
			break;
		row.records = ks_db_number(stmt, 1);
		row.retracted = ks_db_number(stmt, 2);
		row.superseded = ks_db_number(stmt, 3);
		counting->visit(counting->arg, &row);
	}
	ks_db_discard(stmt);
	ks_buf_release(&value);
	return status != KS_OK ? status : ks_db_check(counting->tables, err);
}

/* What the runs of a kind are grouped by before their values are looked up:
 * the first step on the way there, of which there are few. */
static void
append_column(const struct ks_field *field, const char *path,
	struct ks_buf *out)
{
	if (path[0] != '\0')
		ks_buf_append(out, ks_span(path, strcspn(path, ".")));
	else if (field->value == KS_VALUE_TERM)
		ks_buf_text(out, ks_term_column(field->which));
	else
		ks_buf_text(out, "object");
}

/* Append "SELECT value, counts" of the runs of one kind; nothing when the kind
 * does not have the field. */
static void
append_kind(const struct ks_field *field, const char *kind,
	struct ks_buf *out)
{
	const char *path = ks_field_path(field, kind);
	struct ks_buf column = KS_BUF_INIT;

	if (path == NULL)
		return;
	append_column(field, path, &column);
	ks_buf_text(out, out->len == 0 ? "" : " UNION ALL ");
	ks_buf_text(out, "SELECT ");
	ks_field_sql(field, path, out);
	ks_buf_printf(out, " AS v, n, a, b FROM (SELECT %s, flags, "
		"implementation, count(*) AS n, sum(flags & 1) AS a, "
		"sum(flags >> 1 & 1) AS b FROM record WHERE kind = (SELECT "
		"number FROM term WHERE field = 0 AND text = '%s') "
		"GROUP BY %s) r", ks_buf_cstr(&column), kind,
		ks_buf_cstr(&column));
	out->failed = out->failed || column.failed;
	ks_buf_release(&column);
}

static enum ks_status
count_field(const struct counting *counting, const char *name,
	struct ks_error *err)
{
	const struct ks_field *field = ks_field_find(name);
	struct ks_buf kinds = KS_BUF_INIT;
	struct ks_buf sql = KS_BUF_INIT;
	enum ks_status status;

	append_kind(field, BENCHMARK, &kinds);
	append_kind(field, SERVING, &kinds);
	ks_buf_printf(&sql, "SELECT v, sum(n), sum(a), sum(b) FROM (%s) "
		"GROUP BY v ORDER BY 2 DESC, 1", ks_buf_cstr(&kinds));
	sql.failed = sql.failed || kinds.failed;
	status = ks_buf_check(&sql, err);
	if (status == KS_OK)
		status = tell(counting, name, ks_buf_cstr(&sql), err);
	ks_buf_release(&kinds);
	ks_buf_release(&sql);
	return status;
}

static enum ks_status
count_kinds(const struct counting *counting, struct ks_error *err)
{
	return tell(counting, "kind", "SELECT t.text, count(*), "
		"sum(r.flags & 1), sum(r.flags >> 1 & 1) FROM record r "
		"LEFT JOIN term t ON t.number = r.kind GROUP BY r.kind "
		"ORDER BY 2 DESC, 1", err);
}

/* ---- totals ------------------------------------------------------------- */

static enum ks_status
ask_text(struct ks_db *tables, const char *sql, char *out, size_t size,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_prepare(tables, sql);

	out[0] = '\0';
	if (ks_db_next(tables, stmt))
		ks_db_text(stmt, 0, out, size);
	ks_db_discard(stmt);
	return ks_db_check(tables, err);
}

static enum ks_status
ask_number(struct ks_db *tables, const char *sql, uint64_t *out,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_prepare(tables, sql);

	*out = 0;
	if (ks_db_next(tables, stmt))
		*out = ks_db_number(stmt, 0);
	ks_db_discard(stmt);
	return ks_db_check(tables, err);
}

/* The run that was measured first, or last. */
#define MOMENT(which) "SELECT coalesce(observed, moment || 'Z') FROM record " \
	"WHERE moment = (SELECT " which "(moment) FROM record) LIMIT 1"

static enum ks_status
count_totals(struct ks_catalogue *catalogue, struct ks_stats_result *result,
	struct ks_error *err)
{
	struct ks_db *tables = ks_catalogue_tables(catalogue);
	enum ks_status status = ask_number(tables,
		"SELECT count(*) FROM record", &result->records, err);

	result->unread = catalogue->unread;
	if (status == KS_OK)
		status = ask_number(tables, "SELECT count(*) FROM object "
			"WHERE flags & 4 <> 0", &result->taken_down, err);
	if (status == KS_OK)
		status = ask_number(tables, "SELECT count(*) FROM (SELECT "
			"DISTINCT comparison FROM record WHERE comparison "
			"IS NOT NULL)", &result->groups, err);
	if (status == KS_OK)
		status = ask_text(tables, MOMENT("min"), result->first,
			sizeof(result->first), err);
	return status != KS_OK ? status : ask_text(tables, MOMENT("max"),
		result->last, sizeof(result->last), err);
}

enum ks_status
ks_stats(struct ks_store *store, const struct ks_watch *watch,
	ks_stats_fn *visit, void *arg, struct ks_stats_result *result,
	struct ks_error *err)
{
	struct counting counting = { .visit = visit, .arg = arg };
	struct ks_catalogue *catalogue;
	size_t i;
	enum ks_status status = ks_store_catalogue(store, &catalogue, watch,
		err);

	memset(result, 0, sizeof(*result));
	if (status != KS_OK)
		return status;
	counting.tables = ks_catalogue_tables(catalogue);
	status = count_kinds(&counting, err);
	for (i = 0; status == KS_OK && i < sizeof(groups) / sizeof(groups[0]);
		i++)
		status = count_field(&counting, groups[i], err);
	return status == KS_OK ? count_totals(catalogue, result, err) : status;
}
