#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/screen.h"

#define VALUE_COLUMNS 44
/* Values of a group that are shown, unless all are asked for. */
#define VALUES_MAX 12

struct stats {
	struct ks_cli *cli;
	struct ks_screen screen;
	bool all;
	char group[32];		/* the one being printed */
	uint64_t shown, hidden, hidden_records;
	struct ks_doc *doc;
};

/* ---- text --------------------------------------------------------------- */

static void
end_group(struct stats *stats)
{
	if (stats->hidden > 0)
		ks_out_printf("  %" PRIu64 " more: %" PRIu64 " records\n",
			stats->hidden, stats->hidden_records);
	stats->shown = 0;
	stats->hidden = 0;
	stats->hidden_records = 0;
}

/* Of kinds the part that tells; what has no value is told as such. */
static const char *
value_text(const struct ks_stats_row *row)
{
	if (row->value[0] == '\0')
		return "-";
	return strcmp(row->group, "kind") == 0 ? ks_ref_kind(row->value) :
		row->value;
}

static void
print_mark(uint64_t count, const char *what)
{
	if (count > 0)
		ks_out_printf("  (%" PRIu64 " %s)", count, what);
}

static void
print_row(void *arg, const struct ks_stats_row *row)
{
	struct stats *stats = arg;

	if (strcmp(stats->group, row->group) != 0) {
		end_group(stats);
		(void)snprintf(stats->group, sizeof(stats->group), "%s",
			row->group);
		ks_screen_style(&stats->screen, KS_STYLE_STRONG);
		ks_out_printf("%s\n", row->group);
		ks_screen_style(&stats->screen, KS_STYLE_PLAIN);
	}
	if (!stats->all && stats->shown == VALUES_MAX) {
		stats->hidden++;
		stats->hidden_records += row->records;
		return;
	}
	stats->shown++;
	ks_screen_blanks(2);
	ks_screen_cell(&stats->screen, value_text(row), VALUE_COLUMNS, false);
	ks_out_printf("%10" PRIu64, row->records);
	print_mark(row->retracted, "retracted");
	print_mark(row->superseded, "superseded");
	ks_out_printf("\n");
}

static void
print_totals(struct stats *stats, const struct ks_stats_result *result)
{
	end_group(stats);
	ks_out_printf("%" PRIu64 " records", result->records);
	if (result->taken_down > 0)
		ks_out_printf(", and %" PRIu64 " taken down",
			result->taken_down);
	ks_out_printf("; %" PRIu64 " groups of runs that compare",
		result->groups);
	if (result->first[0] != '\0') {
		ks_out_printf("; measured ");
		ks_out_field(result->first);
		ks_out_printf(" to ");
		ks_out_field(result->last);
	}
	ks_out_printf("\n");
}

/* ---- JSON --------------------------------------------------------------- */

static void
add_row(void *arg, const struct ks_stats_row *row)
{
	struct stats *stats = arg;
	struct ks_doc *doc = stats->doc;

	if (strcmp(stats->group, row->group) != 0) {
		if (stats->group[0] != '\0')
			ks_doc_end(doc);
		(void)snprintf(stats->group, sizeof(stats->group), "%s",
			row->group);
		ks_doc_array(doc, row->group);
	}
	ks_doc_object(doc, NULL);
	if (row->value[0] == '\0')
		ks_doc_null(doc, "value");
	else
		ks_doc_text(doc, "value", row->value);
	ks_doc_integer(doc, "records", (int64_t)row->records);
	ks_doc_integer(doc, "retracted", (int64_t)row->retracted);
	ks_doc_integer(doc, "superseded", (int64_t)row->superseded);
	ks_doc_end(doc);
}

static void
add_time(struct ks_doc *doc, const char *name, const char *time)
{
	if (time[0] == '\0')
		ks_doc_null(doc, name);
	else
		ks_doc_text(doc, name, time);
}

static void
add_totals(struct stats *stats, const struct ks_stats_result *result)
{
	struct ks_doc *doc = stats->doc;

	if (stats->group[0] != '\0')
		ks_doc_end(doc);
	ks_doc_integer(doc, "records", (int64_t)result->records);
	ks_doc_integer(doc, "takenDown", (int64_t)result->taken_down);
	ks_doc_integer(doc, "unread", (int64_t)result->unread);
	ks_doc_integer(doc, "groups", (int64_t)result->groups);
	add_time(doc, "firstObserved", result->first);
	add_time(doc, "lastObserved", result->last);
	ks_doc_bool(doc, "verified", stats->cli->verified);
}

/* ---- the command -------------------------------------------------------- */

enum ks_status
ks_cmd_stats(struct ks_cli *cli, struct ks_error *err)
{
	struct stats stats = { .cli = cli };
	const struct ks_opt options[] = {
		KS_FLAG(0, "all", &stats.all,
			"every value, not the most frequent ones only"),
	};
	struct ks_stats_result result;
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore -C data.git stats\n"
		"  kistore stats --json | jq '.hardware[0]'\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	ks_out_watch(cli);
	ks_screen_init(&stats.screen);
	status = ks_cli_open_view(cli, &store, err);
	if (status != KS_OK)
		return status;
	if (cli->json)
		stats.doc = ks_doc_new("stats");
	status = ks_stats(store, &cli->watch, cli->json ? add_row : print_row,
		&stats, &result, err);
	ks_store_close(store);
	if (status != KS_OK) {
		ks_doc_free(stats.doc);
		return status;
	}
	if (!cli->json) {
		print_totals(&stats, &result);
		return KS_OK;
	}
	add_totals(&stats, &result);
	return ks_doc_write(stats.doc, err);
}
