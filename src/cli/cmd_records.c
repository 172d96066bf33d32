#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd.h"
#include "cli/csv.h"
#include "cli/filter.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/screen.h"

#define VALUE_COLUMNS 12
#define DATE_CHARS 10

struct records {
	struct ks_cli *cli;
	struct ks_screen screen;
	struct ks_id key;	/* of the group being printed */
	bool begun;
	struct ks_buf line;	/* of CSV */
	enum ks_status printed;
};

/* ---- text --------------------------------------------------------------- */

static void
print_group(struct records *records, const struct ks_record_event *event)
{
	char digits[KS_ID_HEX + 1];

	if (records->begun)
		ks_out_printf("\n");
	ks_screen_style(&records->screen, KS_STYLE_STRONG);
	ks_out_field(event->operation);
	ks_screen_style(&records->screen, KS_STYLE_PLAIN);
	ks_out_printf(", ");
	ks_out_field(event->workload);
	ks_out_printf(", ");
	ks_out_field(event->hardware);
	ks_out_printf("\n  key %s, %zu run%s\n", ks_ref_short(&event->key,
		digits), event->runs, event->runs == 1 ? "" : "s");
}

static bool
print_event(void *arg, const struct ks_record_event *event)
{
	struct records *records = arg;
	char digits[KS_ID_HEX + 1];
	char date[DATE_CHARS + 1] = "-";

	if (!records->begun || !ks_id_equal(&records->key, &event->key))
		print_group(records, event);
	records->begun = true;
	records->key = event->key;
	if (strlen(event->at) >= DATE_CHARS)
		memcpy(date, event->at, DATE_CHARS);
	ks_out_printf("  ");
	ks_screen_cell(&records->screen, date, DATE_CHARS, false);
	ks_out_printf("  ");
	ks_screen_cell(&records->screen, event->text, VALUE_COLUMNS, true);
	ks_out_printf("  %s  ", ks_ref_short(&event->run, digits));
	ks_out_field(event->implementation);
	ks_out_printf("%s\n", event->leads ? "  <- leads" : "");
	return false;
}

/* ---- JSON and CSV ------------------------------------------------------- */

static bool
print_json(void *arg, const struct ks_record_event *event)
{
	struct records *records = arg;
	struct ks_doc *doc = ks_doc_new("records");

	ks_doc_digest(doc, "comparison", &event->key);
	ks_doc_digest(doc, "run", &event->run);
	if (event->has_previous)
		ks_doc_digest(doc, "previous", &event->previous);
	else
		ks_doc_null(doc, "previous");
	ks_doc_text(doc, "cause", "new_run");
	ks_doc_text(doc, "policy", "ranking-v1");
	ks_doc_text(doc, "at", event->at);
	ks_doc_json(doc, "value", ks_span_text(event->value));
	ks_doc_text(doc, "unit", event->unit);
	ks_doc_text(doc, "result", event->text);
	ks_doc_bool(doc, "leads", event->leads);
	ks_doc_integer(doc, "number", (int64_t)event->number);
	ks_doc_integer(doc, "count", (int64_t)event->count);
	ks_doc_integer(doc, "runs", (int64_t)event->runs);
	ks_doc_text(doc, "operation", event->operation);
	ks_doc_text(doc, "workload", event->workload);
	ks_doc_text(doc, "hardware", event->hardware);
	ks_doc_text(doc, "implementation", event->implementation);
	ks_doc_bool(doc, "verified", records->cli->verified);
	records->printed = ks_cli_worse(records->printed,
		ks_doc_write(doc, NULL));
	return records->printed != KS_OK;
}

static void
print_csv_head(struct ks_buf *line)
{
	static const char *const names[] = { "comparison", "run", "previous",
		"at", "value", "unit", "result", "leads", "number", "count",
		"runs", "operation", "workload", "hardware",
		"implementation" };
	size_t i;

	for (i = 0; i < KS_COUNT(names); i++)
		ks_csv_field(line, ks_span_text(names[i]), false, i == 0);
	ks_csv_print(line);
}

static void
csv_text(struct ks_buf *line, const char *text)
{
	ks_csv_field(line, ks_span_text(text), false, false);
}

static void
csv_count(struct ks_buf *line, size_t count)
{
	char digits[32];

	(void)snprintf(digits, sizeof(digits), "%zu", count);
	ks_csv_field(line, ks_span_text(digits), true, false);
}

static bool
print_csv(void *arg, const struct ks_record_event *event)
{
	struct records *records = arg;
	struct ks_buf *line = &records->line;
	char text[KS_ID_TEXT + 1];

	ks_csv_field(line, ks_span_text(ks_id_print(&event->key, text)), false,
		true);
	csv_text(line, ks_id_print(&event->run, text));
	csv_text(line, event->has_previous ? ks_id_print(&event->previous,
		text) : "");
	csv_text(line, event->at);
	ks_csv_field(line, ks_span_text(event->value), true, false);
	csv_text(line, event->unit);
	csv_text(line, event->text);
	csv_text(line, event->leads ? "true" : "false");
	csv_count(line, event->number);
	csv_count(line, event->count);
	csv_count(line, event->runs);
	csv_text(line, event->operation);
	csv_text(line, event->workload);
	csv_text(line, event->hardware);
	csv_text(line, event->implementation);
	ks_csv_print(line);
	return false;
}

/* ---- the command -------------------------------------------------------- */

static enum ks_status
verdict(struct ks_cli *cli, const struct ks_list_result *result,
	bool csv, struct ks_error *err)
{
	if (result->damaged + result->unfetched == 0 &&
		result->records == 0 && !cli->json && !csv)
		ks_out_note(cli, "no run that may rank was chosen");
	return ks_list_check(result, err);
}

static enum ks_status
run_records(struct ks_cli *cli, const struct ks_list_options *options,
	bool leaders, bool csv, struct ks_error *err)
{
	struct records records = { .cli = cli };
	struct ks_list_result result;
	struct ks_store *store = NULL;
	enum ks_status status = ks_cli_open_view(cli, &store, err);

	if (status != KS_OK)
		return status;
	ks_screen_init(&records.screen);
	if (csv)
		print_csv_head(&records.line);
	status = ks_records(store, options, leaders, cli->json ? print_json :
		csv ? print_csv : print_event, &records, &result, err);
	ks_buf_release(&records.line);
	ks_store_close(store);
	if (status == KS_OK && records.printed != KS_OK)
		status = ks_fail(err, records.printed, "out of memory");
	return status == KS_OK ? verdict(cli, &result, csv, err) :
		status;
}

enum ks_status
ks_cmd_records(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_cli_filters filters;
	struct ks_list_options list = { .watch = &cli->watch };
	int64_t limit = 0;
	bool leaders = false, csv = false;
	struct ks_opt options[KS_FILTER_OPTIONS + 3] = {
		KS_FLAG(0, "leaders", &leaders, "only who leads now"),
		KS_NUMBER(0, "limit", "N", &limit, 1, INT64_MAX,
			"at most so many groups"),
		KS_FLAG(0, "csv", &csv, "print comma-separated values"),
	};
	size_t count = 3;
	enum ks_status status;

	ks_cli_filters_init(&filters, options, &count);
	cli->examples = "  kistore records --operation rmsnorm "
		"--hardware H100\n"
		"  kistore records --leaders --csv >leaders.csv\n";
	if (!ks_opt_parse(cli, options, count, &status, err))
		return status;
	ks_out_watch(cli);
	list.limit = (uint64_t)limit;
	if (cli->json && csv)
		status = ks_fail(err, KS_USAGE, "--json or --csv, not both");
	if (status == KS_OK)
		status = ks_cli_filters_take(&filters, &list, err);
	if (status == KS_OK)
		status = run_records(cli, &list, leaders, csv, err);
	ks_cli_filters_release(&filters);
	return status;
}
