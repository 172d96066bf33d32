#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd.h"
#include "cli/csv.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/screen.h"

#define LIMIT 20
#define GAP 2

/* Columns: of bars, and of names that have no more to say than fits. */
#define BAR 20
#define BAR_MIN 8
#define NAME_MAX_COLUMNS 48
#define NAME_MIN_COLUMNS 12
#define DATE 10

/* ---- Text --------------------------------------------------------------- */

/* The columns of a table of runs. */
struct table {
	const struct ks_rank *rank;
	struct ks_screen screen;
	size_t place, value, bar, name, source, evidence;
	double most;	/* the greatest value: the whole bar */
};

static void
widen(size_t *width, const char *text, size_t most)
{
	size_t columns = ks_screen_columns(text, most);

	if (columns > *width)
		*width = columns;
}

/* "2=" for one that shares its rank; "-" for one that has none. */
static void
print_place(const struct ks_rank_row *row, char out[32])
{
	if (row->rank == 0)
		(void)snprintf(out, 32, "-");
	else
		(void)snprintf(out, 32, "%zu%s", row->rank,
			row->tied ? "=" : "");
}

static void
measure_row(struct table *table, const struct ks_rank_row *row)
{
	char place[32];

	print_place(row, place);
	widen(&table->place, place, SIZE_MAX);
	widen(&table->value, row->text, 32);
	widen(&table->name, row->implementation, NAME_MAX_COLUMNS);
	widen(&table->source, row->source, NAME_MAX_COLUMNS);
	widen(&table->evidence, row->evidence, SIZE_MAX);
	if (row->rank > 0 && row->value > table->most)
		table->most = row->value;
}

static size_t
table_width(const struct table *table)
{
	return 2 + table->place + table->value + table->bar + table->name +
		table->source + table->evidence + DATE + KS_REF_DIGITS +
		7 * (size_t)GAP;
}

/* Take from a column what is too much, as far as it can give. */
static void
narrow(const struct table *table, size_t *width, size_t least)
{
	size_t wanted = table_width(table);
	size_t surplus = wanted > table->screen.width ?
		wanted - table->screen.width : 0;
	size_t spare = *width > least ? *width - least : 0;

	*width -= surplus < spare ? surplus : spare;
}

static void
measure(struct table *table)
{
	const struct ks_rank *rank = table->rank;
	size_t i;

	table->place = strlen("rank");
	table->value = strlen("value");
	table->bar = BAR;
	table->name = strlen("implementation");
	table->source = strlen("source");
	table->evidence = strlen("evidence");
	for (i = 0; i < rank->count; i++)
		measure_row(table, &rank->rows[i]);
	if (!table->screen.terminal)
		return;
	narrow(table, &table->bar, BAR_MIN);
	narrow(table, &table->source, NAME_MIN_COLUMNS);
	narrow(table, &table->name, NAME_MIN_COLUMNS);
}

/* As long as the value is great: the first has the shortest. */
static void
print_bar(const struct table *table, const struct ks_rank_row *row)
{
	const char *mark = table->screen.utf8 ? "█" : "#";
	size_t length = 0;
	size_t i;

	if (row->rank > 0 && row->value > 0 && table->most > 0)
		length = (size_t)(row->value / table->most *
			(double)table->bar + 0.5);
	if (length == 0 && row->rank > 0 && row->value > 0)
		length = 1;
	for (i = 0; i < length && i < table->bar; i++)
		ks_out_bytes(ks_span_text(mark));
	ks_screen_blanks(table->bar - i + GAP);
}

static void
print_cell(const struct table *table, const char *text, size_t width,
	bool right)
{
	ks_screen_cell(&table->screen, text, width, right);
	ks_screen_blanks(GAP);
}

static void
print_head(const struct table *table)
{
	ks_screen_style(&table->screen, KS_STYLE_FAINT);
	ks_screen_blanks(2);
	print_cell(table, "rank", table->place, true);
	print_cell(table, "value", table->value, true);
	print_cell(table, "", table->bar, false);
	print_cell(table, "implementation", table->name, false);
	print_cell(table, "source", table->source, false);
	print_cell(table, "evidence", table->evidence, false);
	print_cell(table, "observed", DATE, false);
	ks_out_printf("digest");
	ks_screen_style(&table->screen, KS_STYLE_PLAIN);
	ks_out_printf("\n");
}

static void
print_row(const struct table *table, const struct ks_rank_row *row)
{
	char digits[KS_ID_HEX + 1];
	char place[32], date[DATE + 1];

	(void)snprintf(date, sizeof(date), "%s", row->observed);
	print_place(row, place);
	ks_screen_style(&table->screen, row->asked ? KS_STYLE_STRONG :
		KS_STYLE_PLAIN);
	ks_out_printf(row->asked ? "> " : "  ");
	print_cell(table, place, table->place, true);
	print_cell(table, row->text, table->value, true);
	print_bar(table, row);
	print_cell(table, row->implementation, table->name, false);
	print_cell(table, row->source, table->source, false);
	print_cell(table, row->evidence, table->evidence, false);
	print_cell(table, date, DATE, false);
	ks_out_printf("%s", ks_ref_short(&row->digest, digits));
	if (row->reasons[0] != '\0') {
		ks_out_printf("  ");
		ks_out_field(row->reasons);
	}
	if (row->asked)
		ks_screen_style(&table->screen, KS_STYLE_PLAIN);
	ks_out_printf("\n");
}

static void
print_line(const struct ks_screen *screen, const char *label,
	const char *text)
{
	ks_screen_cell(screen, label, 14, false);
	ks_screen_blanks(GAP);
	(void)ks_screen_text(screen, text, 14 + GAP, KS_STYLE_PLAIN);
	ks_out_printf("\n");
}

static void
print_group(const struct ks_rank *rank, const struct ks_screen *screen)
{
	char key[KS_ID_TEXT + 1], metric[512];

	(void)snprintf(metric, sizeof(metric), "%s%s%s",
		rank->metric[0] == '\0' ? "none" : rank->metric,
		rank->metric[0] == '\0' ? "" : " · ", rank->statistic);
	print_line(screen, "operation", rank->operation);
	print_line(screen, "workload", rank->workload);
	print_line(screen, "protocol", rank->protocol);
	print_line(screen, "environment", rank->environment);
	print_line(screen, "metric", metric);
	print_line(screen, "comparison key", ks_id_print(&rank->key, key));
	print_line(screen, "profile", rank->profile);
	print_line(screen, "policy", rank->policy);
}

/* Ranked ones, then the others; and how many of each are not shown. */
static void
print_text(const struct ks_rank *rank)
{
	struct table table = { .rank = rank };
	size_t ranked = 0;
	size_t i;

	ks_screen_init(&table.screen);
	print_group(rank, &table.screen);
	ks_out_printf("\n");
	measure(&table);
	print_head(&table);
	while (ranked < rank->count && rank->rows[ranked].rank > 0)
		print_row(&table, &rank->rows[ranked++]);
	ks_out_printf("%zu of %zu that rank%s\n", ranked, rank->ranked,
		ranked < rank->ranked ? " (--all, --limit N show more)" : "");
	if (rank->excluded == 0)
		return;
	ks_out_printf("\n");
	for (i = ranked; i < rank->count; i++)
		print_row(&table, &rank->rows[i]);
	ks_out_printf("%zu of %zu that do not rank%s\n", rank->count - ranked,
		rank->excluded, rank->count - ranked < rank->excluded ?
		" (--all, --limit N show more)" : "");
}

/* ---- CSV ---------------------------------------------------------------- */

static void
csv_text(struct ks_buf *line, const char *text)
{
	ks_csv_field(line, ks_span_text(text), false, false);
}

static void
csv_digest(struct ks_buf *line, const struct ks_id *digest)
{
	char text[KS_ID_TEXT + 1];

	csv_text(line, ks_id_print(digest, text));
}

static void
print_csv_row(struct ks_buf *line, const struct ks_rank *rank,
	const struct ks_rank_row *row)
{
	char place[32] = "";

	if (row->rank > 0)
		(void)snprintf(place, sizeof(place), "%zu", row->rank);
	ks_csv_field(line, ks_span_text(place), true, true);
	csv_text(line, row->tied ? "true" : "false");
	ks_csv_field(line, ks_span_text(row->number), true, false);
	csv_text(line, rank->unit);
	csv_text(line, row->text);
	csv_text(line, rank->metric);
	csv_text(line, rank->statistic);
	csv_text(line, row->implementation);
	csv_digest(line, &row->implementation_digest);
	csv_text(line, row->source);
	csv_text(line, row->evidence);
	csv_text(line, row->observed);
	csv_digest(line, &row->digest);
	csv_text(line, row->id);
	csv_text(line, row->asked ? "true" : "false");
	csv_text(line, row->reasons);
	ks_csv_print(line);
}

/* A table says nothing of what is not in it, so that is said beside it. */
static void
print_csv(struct ks_cli *cli, const struct ks_rank *rank)
{
	static const char *const names[] = { "rank", "tied", "value", "unit",
		"text", "metric", "statistic", "implementation",
		"implementationDigest", "source", "evidence", "observedAt",
		"digest", "id", "asked", "reasons" };
	struct ks_buf line = KS_BUF_INIT;
	size_t i;

	for (i = 0; i < KS_COUNT(names); i++)
		ks_csv_field(&line, ks_span_text(names[i]), false, i == 0);
	ks_csv_print(&line);
	for (i = 0; i < rank->count; i++)
		print_csv_row(&line, rank, &rank->rows[i]);
	ks_buf_release(&line);
	if (rank->count < rank->ranked + rank->excluded)
		ks_out_note(cli, "%zu of %zu runs (--all, --limit N print "
			"more)", rank->count, rank->ranked + rank->excluded);
}

/* ---- JSON --------------------------------------------------------------- */

/* "A, B" as a list. */
static void
add_reasons(struct ks_doc *doc, const char *reasons)
{
	ks_doc_array(doc, "reasons");
	while (*reasons != '\0') {
		size_t len = strcspn(reasons, ",");

		ks_doc_span(doc, NULL, ks_span(reasons, len));
		reasons += len;
		reasons += strspn(reasons, ", ");
	}
	ks_doc_end(doc);
}

static void
add_row(struct ks_doc *doc, const struct ks_rank_row *row)
{
	ks_doc_object(doc, NULL);
	ks_doc_digest(doc, "digest", &row->digest);
	ks_doc_some(doc, "id", row->id);
	if (row->rank > 0)
		ks_doc_integer(doc, "rank", (int64_t)row->rank);
	else
		ks_doc_null(doc, "rank");
	ks_doc_bool(doc, "tied", row->tied);
	ks_doc_bool(doc, "asked", row->asked);
	if (row->has_value)
		ks_doc_json(doc, "value", ks_span_text(row->number));
	else
		ks_doc_null(doc, "value");
	ks_doc_text(doc, "text", row->text);
	ks_doc_text(doc, "implementation", row->implementation);
	ks_doc_digest(doc, "implementationDigest",
		&row->implementation_digest);
	ks_doc_some(doc, "source", row->source);
	if (row->has_source)
		ks_doc_digest(doc, "sourceDigest", &row->source_digest);
	ks_doc_text(doc, "evidence", row->evidence);
	ks_doc_text(doc, "observedAt", row->observed);
	add_reasons(doc, row->reasons);
	ks_doc_end(doc);
}

static enum ks_status
print_json(const struct ks_rank *rank, bool verified, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("rank");
	size_t i;

	ks_doc_digest(doc, "comparisonKey", &rank->key);
	ks_doc_text(doc, "policy", rank->policy);
	ks_doc_text(doc, "profile", rank->profile);
	ks_doc_text(doc, "operation", rank->operation);
	ks_doc_text(doc, "workload", rank->workload);
	ks_doc_text(doc, "protocol", rank->protocol);
	ks_doc_text(doc, "environment", rank->environment);
	ks_doc_some(doc, "metric", rank->metric);
	ks_doc_some(doc, "statistic", rank->statistic);
	ks_doc_some(doc, "unit", rank->unit);
	ks_doc_bool(doc, "verified", verified);
	ks_doc_integer(doc, "ranked", (int64_t)rank->ranked);
	ks_doc_integer(doc, "excluded", (int64_t)rank->excluded);
	ks_doc_array(doc, "runs");
	for (i = 0; i < rank->count; i++)
		add_row(doc, &rank->rows[i]);
	ks_doc_end(doc);
	return ks_doc_write(doc, err);
}

/* ---- The command -------------------------------------------------------- */

static void
on_match(void *arg, const struct ks_match *match)
{
	ks_ref_add(arg, match);
}

/* The group that the operand means, ranked. */
static enum ks_status
find(struct ks_cli *cli, struct ks_store *store, size_t limit,
	struct ks_rank **out, struct ks_error *err)
{
	struct ks_ref ref = KS_REF_INIT;
	struct ks_id key, run;
	bool is_run;
	enum ks_status status = ks_rank_find(store, cli->operands[0],
		on_match, &ref, &key, &is_run, &run, &cli->watch, err);

	if (status == KS_AMBIGUOUS)
		ks_ref_list(cli, &ref);
	if (status == KS_OK && is_run)
		ks_ref_note_marks(cli, cli->operands[0], &ref);
	ks_ref_release(&ref);
	return status != KS_OK ? status : ks_rank_new(out, store, &key,
		is_run ? &run : NULL, limit, &cli->watch, err);
}

static enum ks_status
check_options(const struct ks_cli *cli, bool csv, bool all, int64_t limit,
	struct ks_error *err)
{
	if (csv && cli->json)
		return ks_fail(err, KS_USAGE, "only one of --csv and --json "
			"can be printed");
	if (all && limit > 0)
		return ks_fail(err, KS_USAGE,
			"--all and --limit are not given together");
	return KS_OK;
}

enum ks_status
ks_cmd_rank(struct ks_cli *cli, struct ks_error *err)
{
	bool all = false;
	bool csv = false;
	int64_t limit = 0;
	const struct ks_opt options[] = {
		KS_NUMBER(0, "limit", "N", &limit, 1, INT32_MAX,
			"how many runs to show (20)"),
		KS_FLAG(0, "all", &all, "show all of them"),
		KS_FLAG(0, "csv", &csv, "as comma-separated values"),
	};
	struct ks_store *store = NULL;
	struct ks_rank *rank = NULL;
	enum ks_status status;

	cli->examples = "  kistore rank c3252a98\n"
		"  kistore rank sha256:63b583a3afe1e4d7 --all --csv\n"
		"  kistore rank --json c3252a98 | jq '.runs[0].digest'\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = check_options(cli, csv, all, limit, err);
	if (status == KS_OK)
		status = ks_cli_open_view(cli, &store, err);
	if (status == KS_OK)
		status = find(cli, store, all ? SIZE_MAX : limit > 0 ?
			(size_t)limit : LIMIT, &rank, err);
	if (status == KS_OK && cli->json)
		status = print_json(rank, cli->verified, err);
	else if (status == KS_OK && csv)
		print_csv(cli, rank);
	else if (status == KS_OK)
		print_text(rank);
	ks_rank_free(rank);
	ks_store_close(store);
	return status;
}
