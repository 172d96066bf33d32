#include <inttypes.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/csv.h"
#include "cli/filter.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/screen.h"

#define COLUMNS_MAX KS_LIST_COLUMNS
/* Columns of a field that always stay, where the terminal is narrow. */
#define WIDTH_MIN 8
#define DATE_CHARS 10

enum form {
	FORM_TABLE,	/* on a terminal */
	FORM_LINES,	/* fields separated by tabs */
	FORM_CSV,
	FORM_JSON
};

struct list {
	struct ks_cli *cli;
	enum form form;
	struct ks_screen screen;
	const struct ks_list_field *columns[COLUMNS_MAX];
	size_t widths[COLUMNS_MAX];
	size_t count;
	struct ks_buf cell;	/* or a line of CSV */
	enum ks_status printed;
};

/* ---- a table ------------------------------------------------------------ */

static size_t
total_width(const struct list *list)
{
	size_t i, total = 0;

	for (i = 0; i < list->count; i++)
		total += list->widths[i] + (i == 0 ? 0 : 2);
	return total;
}

/* Take columns from the widest field until all fit. */
static void
fit(struct list *list)
{
	size_t i, widest;

	while (total_width(list) > list->screen.width) {
		widest = 0;
		for (i = 1; i < list->count; i++)
			if (list->widths[i] > list->widths[widest])
				widest = i;
		if (list->widths[widest] <= WIDTH_MIN)
			break;
		list->widths[widest]--;
	}
}

static void
print_head(struct list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct ks_list_field *field = list->columns[i];

		list->widths[i] = field->type == KS_LIST_TIME ? DATE_CHARS :
			field->columns;
	}
	fit(list);
	ks_screen_style(&list->screen, KS_STYLE_STRONG);
	for (i = 0; i < list->count; i++) {
		if (i > 0)
			ks_screen_blanks(2);
		ks_screen_cell(&list->screen, list->columns[i]->name,
			list->widths[i],
			ks_list_is_number(list->columns[i]));
	}
	ks_screen_style(&list->screen, KS_STYLE_PLAIN);
	ks_out_printf("\n");
}

/* What a cell shows: of digests and kinds the part that tells, of times the
 * date. */
static const char *
cell_text(struct list *list, const struct ks_list_field *field,
	struct ks_span value)
{
	const char *text;

	ks_buf_clear(&list->cell);
	ks_buf_append(&list->cell, value);
	text = ks_buf_cstr(&list->cell);
	if (field->type == KS_LIST_DIGEST && strlen(text) > 7 + KS_REF_DIGITS) {
		list->cell.data[7 + KS_REF_DIGITS] = '\0';
		return text + 7;
	}
	if (field->type == KS_LIST_TIME && strlen(text) > DATE_CHARS)
		list->cell.data[DATE_CHARS] = '\0';
	return strcmp(field->name, "kind") == 0 ? ks_ref_kind(text) : text;
}

static void
print_row(struct list *list, const struct ks_list_record *record)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct ks_list_field *field = list->columns[i];

		if (i > 0)
			ks_screen_blanks(2);
		ks_screen_cell(&list->screen, cell_text(list, field,
			record->values[i]), list->widths[i],
			ks_list_is_number(field));
	}
	ks_out_printf("\n");
}

/* ---- other forms -------------------------------------------------------- */

static void
print_line(struct list *list, const struct ks_list_record *record)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (i > 0)
			ks_out_bytes(ks_span("\t", 1));
		ks_buf_clear(&list->cell);
		ks_buf_append(&list->cell, record->values[i]);
		ks_out_field(ks_buf_cstr(&list->cell));
	}
	ks_out_bytes(ks_span("\n", 1));
}

static void
print_csv_head(struct list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		ks_csv_field(&list->cell, ks_span_text(
			list->columns[i]->name), false, i == 0);
	ks_csv_print(&list->cell);
}

static void
print_csv(struct list *list, const struct ks_list_record *record)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		ks_csv_field(&list->cell, record->values[i],
			ks_list_is_number(list->columns[i]), i == 0);
	ks_csv_print(&list->cell);
}

static void
print_json(struct list *list, const struct ks_list_record *record)
{
	struct ks_doc *doc = ks_doc_new("list");
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct ks_list_field *field = list->columns[i];
		struct ks_span value = record->values[i];

		if (value.len == 0)
			ks_doc_null(doc, field->name);
		else if (ks_list_is_json(field))
			ks_doc_json(doc, field->name, value);
		else
			ks_doc_span(doc, field->name, value);
	}
	ks_doc_bool(doc, "verified", list->cli->verified);
	list->printed = ks_cli_worse(list->printed, ks_doc_write(doc, NULL));
}

/* ---- the sink ----------------------------------------------------------- */

static void
on_begin(void *arg, const struct ks_list_field *const *columns, size_t count)
{
	struct list *list = arg;
	size_t i;

	list->count = count < COLUMNS_MAX ? count : COLUMNS_MAX;
	for (i = 0; i < list->count; i++)
		list->columns[i] = columns[i];
	if (list->form == FORM_TABLE)
		print_head(list);
	else if (list->form == FORM_CSV)
		print_csv_head(list);
}

static bool
on_record(void *arg, const struct ks_list_record *record)
{
	struct list *list = arg;

	switch (list->form) {
	case FORM_TABLE:
		print_row(list, record);
		break;
	case FORM_LINES:
		print_line(list, record);
		break;
	case FORM_CSV:
		print_csv(list, record);
		break;
	case FORM_JSON:
		print_json(list, record);
		break;
	}
	return list->printed != KS_OK;
}

static void
on_problem(void *arg, const struct ks_id *digest, const struct ks_error *why)
{
	struct list *list = arg;
	char text[KS_ID_TEXT + 1];

	ks_out_message(list->cli, "%s: %s", ks_id_print(digest, text),
		why->message);
}

/* ---- the command -------------------------------------------------------- */

/* "value:desc" into the two; `copy` is to be freed. */
static enum ks_status
read_sort(const char *text, struct ks_list_options *out, char **copy,
	struct ks_error *err)
{
	char *colon;

	*copy = NULL;
	if (text == NULL)
		return KS_OK;
	*copy = strdup(text);
	if (*copy == NULL)
		return ks_fail_nomem(err);
	out->sort = *copy;
	colon = strchr(*copy, ':');
	if (colon == NULL)
		return KS_OK;
	*colon = '\0';
	out->descending = strcmp(colon + 1, "desc") == 0;
	if (!out->descending && strcmp(colon + 1, "asc") != 0)
		return ks_fail(err, KS_USAGE,
			"--sort: after the colon comes asc or desc, not '%s'",
			colon + 1);
	return KS_OK;
}

/* "digest,value" into names; `copy` is to be freed. */
static enum ks_status
read_fields(const char *text, const char *names[COLUMNS_MAX],
	struct ks_list_options *out, char **copy, struct ks_error *err)
{
	char *rest = NULL, *name;

	*copy = NULL;
	if (text == NULL)
		return KS_OK;
	*copy = strdup(text);
	if (*copy == NULL)
		return ks_fail_nomem(err);
	for (name = strtok_r(*copy, ",", &rest); name != NULL;
		name = strtok_r(NULL, ",", &rest)) {
		if (out->column_count == COLUMNS_MAX)
			return ks_fail(err, KS_USAGE,
				"--fields: more than %d", COLUMNS_MAX);
		names[out->column_count++] = name;
	}
	out->columns = names;
	return out->column_count > 0 ? KS_OK : ks_fail(err, KS_USAGE,
		"--fields: empty");
}

static enum ks_status
verdict(struct list *list, const struct ks_list_result *result,
	struct ks_error *err)
{
	if (list->printed != KS_OK)
		return ks_fail(err, list->printed, "out of memory");
	if (result->records == 0 && result->damaged + result->unfetched == 0 &&
		list->form <= FORM_LINES)
		ks_out_note(list->cli, "no record was chosen");
	return ks_list_check(result, err);
}

static enum ks_status
run_list(struct ks_cli *cli, enum form form,
	const struct ks_list_options *options, struct ks_error *err)
{
	struct list list = { .cli = cli, .form = form };
	const struct ks_list_sink sink = { .arg = &list, .begin = on_begin,
		.record = on_record, .problem = on_problem };
	struct ks_list_result result;
	struct ks_store *store = NULL;
	enum ks_status status = ks_cli_open_view(cli, &store, err);

	if (status != KS_OK)
		return status;
	ks_screen_init(&list.screen);
	if (form == FORM_LINES && list.screen.terminal)
		list.form = FORM_TABLE;
	status = ks_list(store, options, &sink, &result, err);
	if (status == KS_OK)
		status = verdict(&list, &result, err);
	ks_buf_release(&list.cell);
	ks_store_close(store);
	return status;
}

enum ks_status
ks_cmd_list(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_cli_filters filters;
	struct ks_list_options list = { .watch = &cli->watch };
	const char *sort = NULL, *fields = NULL;
	const char *names[COLUMNS_MAX];
	char *sort_copy = NULL, *fields_copy = NULL;
	int64_t limit = 0;
	bool csv = false;
	struct ks_opt options[KS_FILTER_OPTIONS + 4] = {
		KS_TEXT(0, "sort", "FIELD[:desc]", &sort, "in this order"),
		KS_NUMBER(0, "limit", "N", &limit, 1, INT64_MAX,
			"at most so many"),
		KS_TEXT(0, "fields", "A,B,...", &fields,
			"these fields, as they are called here"),
		KS_FLAG(0, "csv", &csv, "print comma-separated values"),
	};
	size_t count = 4;
	enum ks_status status;

	ks_cli_filters_init(&filters, options, &count);
	cli->examples = "  kistore list --operation rmsnorm --hardware H100 "
		"--sort value\n"
		"  kistore list --kind OperationSpec --text 'paged attention'\n"
		"  kistore list --source sol-execbench --csv >runs.csv\n"
		"  kistore list --json --status runtime_error |"
		" jq -r .digest\n";
	if (!ks_opt_parse(cli, options, count, &status, err))
		return status;
	ks_out_watch(cli);
	list.limit = (uint64_t)limit;
	list.brief = !cli->json && !csv;
	if (cli->json && csv)
		status = ks_fail(err, KS_USAGE, "--json or --csv, not both");
	if (status == KS_OK)
		status = ks_cli_filters_take(&filters, &list, err);
	if (status == KS_OK)
		status = read_sort(sort, &list, &sort_copy, err);
	if (status == KS_OK)
		status = read_fields(fields, names, &list, &fields_copy, err);
	if (status == KS_OK)
		status = run_list(cli, cli->json ? FORM_JSON : csv ? FORM_CSV :
			FORM_LINES, &list, err);
	free(sort_copy);
	free(fields_copy);
	ks_cli_filters_release(&filters);
	return status;
}
