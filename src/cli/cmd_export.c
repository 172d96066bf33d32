#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/csv.h"
#include "cli/filter.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/outfile.h"

/* How much is kept before it is written to a file. */
#define PENDING_MAX ((size_t)64 << 10)

enum form {
	FORM_JSONL,
	FORM_CSV,
	FORM_SQLITE,
	FORM_COUNT
};

static const char *const forms[FORM_COUNT] = { "jsonl", "csv", "sqlite" };

struct export {
	struct ks_cli *cli;
	enum form form;
	struct ks_outfile output;
	const struct ks_list_field *columns[KS_LIST_COLUMNS];
	size_t count;
	struct ks_buf pending;		/* of a file, or one line */
	enum ks_status written;		/* the first failure, */
	struct ks_error *err;		/* told here */
};

/* ---- where it goes ------------------------------------------------------ */

static void
write_pending(struct export *export)
{
	if (export->written == KS_OK)
		export->written = ks_buf_check(&export->pending, export->err);
	if (export->written == KS_OK)
		export->written = ks_outfile_write(&export->output,
			ks_buf_span(&export->pending), export->err);
	ks_buf_clear(&export->pending);
}

/* Standard output may be a terminal, on which a line is escaped, but not its
 * end. */
static void
print_pending(struct export *export)
{
	struct ks_span line = ks_buf_span(&export->pending);
	size_t end = export->form == FORM_CSV ? 2 : 1;

	if (export->written == KS_OK)
		export->written = ks_buf_check(&export->pending, export->err);
	if (export->written == KS_OK) {
		ks_out_text(ks_span(line.data, line.len - end));
		ks_out_bytes(ks_span(line.data + line.len - end, end));
	}
	ks_buf_clear(&export->pending);
}

static void
end_line(struct export *export)
{
	if (export->output.path == NULL)
		print_pending(export);
	else if (export->pending.len >= PENDING_MAX)
		write_pending(export);
}

/* ---- the sink ----------------------------------------------------------- */

static void
on_begin(void *arg, const struct ks_list_field *const *columns, size_t count)
{
	struct export *export = arg;
	size_t i;

	export->count = count;
	for (i = 0; i < count; i++) {
		export->columns[i] = columns[i];
		if (export->form == FORM_CSV)
			ks_csv_field(&export->pending, ks_span_text(
				columns[i]->name), false, i == 0);
	}
	if (export->form != FORM_CSV)
		return;
	ks_buf_text(&export->pending, "\r\n");
	end_line(export);
}

static bool
on_record(void *arg, const struct ks_list_record *record)
{
	struct export *export = arg;
	size_t i;

	if (export->form == FORM_JSONL) {
		ks_export_line(&export->pending, export->columns,
			export->count, record);
	} else {
		for (i = 0; i < export->count; i++)
			ks_csv_field(&export->pending, record->values[i],
				ks_list_is_number(export->columns[i]), i == 0);
		ks_buf_text(&export->pending, "\r\n");
	}
	end_line(export);
	return export->written != KS_OK;
}

static void
on_problem(void *arg, const struct ks_id *digest, const struct ks_error *why)
{
	struct export *export = arg;
	char text[KS_ID_TEXT + 1];

	ks_out_message(export->cli, "%s: %s", ks_id_print(digest, text),
		why->message);
}

/* ---- the command -------------------------------------------------------- */

static enum ks_status
write_rows(struct export *export, struct ks_store *store,
	const struct ks_list_options *options, struct ks_list_result *result,
	struct ks_error *err)
{
	const struct ks_list_sink sink = { .arg = export, .begin = on_begin,
		.record = on_record, .problem = on_problem };
	const char *place = ks_outfile_place(&export->output);
	enum ks_status status;

	if (export->form == FORM_SQLITE)
		return place == NULL ? ks_fail(err, KS_USAGE, "--format "
			"sqlite needs -o FILE, and no device or pipe") :
			ks_export_sqlite(store, options, place,
			export->output.path, &sink, result, err);
	status = ks_list(store, options, &sink, result, err);
	if (export->output.path != NULL && status == KS_OK)
		write_pending(export);
	return status == KS_OK ? export->written : status;
}

static enum ks_status
verdict(struct export *export, const struct ks_list_result *result,
	struct ks_error *err)
{
	if (export->output.path != NULL)
		ks_out_note(export->cli, "%s: %" PRIu64 " run%s",
			export->output.path, result->records,
			result->records == 1 ? "" : "s");
	return ks_list_check(result, err);
}

/* What is damaged is left out and told of, and the file appears without it. */
static enum ks_status
run_export(struct export *export, const struct ks_list_options *options,
	struct ks_error *err)
{
	struct ks_list_result result = { .records = 0 };
	struct ks_store *store = NULL;
	enum ks_status status = ks_cli_open_view(export->cli, &store, err);

	export->err = err;
	if (status == KS_OK && export->output.path != NULL)
		status = ks_outfile_open(&export->output, err);
	if (status == KS_OK)
		status = write_rows(export, store, options, &result, err);
	status = ks_outfile_close(&export->output, status, err);
	if (status == KS_OK)
		status = verdict(export, &result, err);
	ks_buf_release(&export->pending);
	ks_store_close(store);
	return status;
}

static enum ks_status
read_form(const char *text, enum form *out, struct ks_error *err)
{
	unsigned i;

	for (i = 0; i < FORM_COUNT; i++)
		if (strcmp(text, forms[i]) == 0) {
			*out = (enum form)i;
			return KS_OK;
		}
	return ks_fail(err, KS_USAGE,
		"--format: it may be jsonl, csv or sqlite, not '%s'", text);
}

enum ks_status
ks_cmd_export(struct ks_cli *cli, struct ks_error *err)
{
	struct export export = { .cli = cli, .output = KS_OUTFILE_INIT };
	struct ks_cli_filters filters;
	struct ks_list_options list = { .watch = &cli->watch, .runs = true };
	const char *format = NULL;
	struct ks_opt options[KS_FILTER_OPTIONS + 2] = {
		KS_REQUIRED(0, "format", "jsonl|csv|sqlite", &format,
			"lines of JSON, RFC 4180, or a database"),
		KS_TEXT('o', NULL, "FILE", &export.output.path,
			"where it goes (-: standard output)"),
	};
	size_t count = 2;
	enum ks_status status;

	ks_cli_filters_init(&filters, options, &count);
	cli->examples = "  kistore export --format sqlite -o runs.db\n"
		"  kistore export --format csv --hardware H100 >h100.csv\n"
		"  kistore export --format jsonl |"
		" jq -r 'select(.value) | .digest'\n";
	if (!ks_opt_parse(cli, options, count, &status, err))
		return status;
	ks_out_watch(cli);
	if (export.output.path != NULL &&
		strcmp(export.output.path, "-") == 0)
		export.output.path = NULL;
	status = read_form(format, &export.form, err);
	if (status == KS_OK && export.form == FORM_SQLITE &&
		export.output.path == NULL)
		status = ks_fail(err, KS_USAGE,
			"--format sqlite needs -o FILE");
	if (status == KS_OK)
		status = ks_cli_filters_take(&filters, &list, err);
	if (status == KS_OK)
		status = run_export(&export, &list, err);
	ks_cli_filters_release(&filters);
	return status;
}
