#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/screen.h"

#define GAP 2
#define LABEL_MAX 26
#define CELL_MAX 44
#define CELL_MIN 12

/* ---- Text --------------------------------------------------------------- */

/* How records are set beside each other. */
struct table {
	const struct ks_compare *compare;
	struct ks_screen screen;
	bool all;
	size_t label, cell;
};

/* "A", "B", … "Z", "AA": what a record is called in the table. */
static const char *
letter(size_t i, char out[3])
{
	size_t at = 0;

	if (i >= 26)
		out[at++] = (char)('A' + i / 26 - 1);
	out[at++] = (char)('A' + i % 26);
	out[at] = '\0';
	return out;
}

static const char *
cell_text(const struct ks_compare_row *row, size_t i)
{
	return row->values[i] == NULL ? "-" : row->values[i];
}

static void
widen(size_t *width, const char *text, size_t most)
{
	size_t columns = ks_screen_columns(text, most);

	if (columns > *width)
		*width = columns;
}

static bool
is_shown(const struct table *table, const struct ks_compare_row *row)
{
	return table->all || !row->same;
}

static void
measure_section(struct table *table, const struct ks_compare_section *section)
{
	size_t i, k;

	for (i = 0; i < section->count; i++) {
		const struct ks_compare_row *row = &section->rows[i];

		if (!is_shown(table, row))
			continue;
		widen(&table->label, row->label, LABEL_MAX);
		for (k = 0; k < table->compare->record_count; k++)
			widen(&table->cell, cell_text(row, k), CELL_MAX);
	}
}

static void
measure(struct table *table)
{
	size_t count = table->compare->record_count;
	size_t room, i;

	table->label = CELL_MIN;
	table->cell = CELL_MIN;
	for (i = 0; i < table->compare->count; i++)
		measure_section(table, &table->compare->sections[i]);
	for (i = 0; i < count; i++)
		widen(&table->cell, table->compare->records[i].title,
			CELL_MAX);
	if (!table->screen.terminal || count == 0)
		return;
	room = table->screen.width > 2 + table->label ?
		(table->screen.width - 2 - table->label) / count : 0;
	room = room > GAP ? room - GAP : 0;
	if (table->cell > room)
		table->cell = room > CELL_MIN ? room : CELL_MIN;
}

/* A line of one text a record. The last is not padded. */
static void
print_cells(const struct table *table, const char *mark, const char *label,
	const char *const *texts)
{
	size_t count = table->compare->record_count;
	size_t i;

	ks_out_printf("%s", mark);
	ks_screen_cell(&table->screen, label, table->label, false);
	for (i = 0; i < count; i++) {
		size_t columns = ks_screen_columns(texts[i], table->cell);

		ks_screen_blanks(GAP);
		ks_screen_cell(&table->screen, texts[i], i + 1 < count ?
			table->cell : columns, false);
	}
}

/* Whether all values of a row stand in their columns uncut. */
static bool
fits(const struct table *table, const struct ks_compare_row *row)
{
	size_t i;

	if (ks_screen_columns(row->label, SIZE_MAX) > table->label)
		return false;
	for (i = 0; i < table->compare->record_count; i++) {
		const char *text = cell_text(row, i);

		if (strchr(text, '\n') != NULL ||
			ks_screen_columns(text, SIZE_MAX) > table->cell)
			return false;
	}
	return true;
}

/* Values one below another, where they are long: nothing that differs may be
 * cut off. */
static void
print_stacked(const struct table *table, const char *mark,
	const struct ks_compare_row *row)
{
	char name[3];
	size_t i;

	ks_out_printf("%s", mark);
	(void)ks_screen_text(&table->screen, row->label, 2, KS_STYLE_PLAIN);
	if (row->decides)
		ks_out_printf("  first material mismatch");
	if (row->same) {
		ks_out_printf("\n      ");
		(void)ks_screen_text(&table->screen, cell_text(row, 0), 6,
			KS_STYLE_PLAIN);
	}
	for (i = 0; !row->same && i < table->compare->record_count; i++) {
		ks_out_printf("\n    %-2s", letter(i, name));
		(void)ks_screen_text(&table->screen, cell_text(row, i), 6,
			KS_STYLE_PLAIN);
	}
	ks_out_printf("\n");
}

static void
print_row(const struct table *table, const struct ks_compare_row *row,
	const char **texts)
{
	const char *mark = row->same ? "  " : table->screen.utf8 ? "≠ " :
		"! ";
	size_t i;

	if (row->decides)
		ks_screen_style(&table->screen, KS_STYLE_WARNING);
	if (fits(table, row)) {
		for (i = 0; i < table->compare->record_count; i++)
			texts[i] = cell_text(row, i);
		print_cells(table, mark, row->label, texts);
		ks_out_printf(row->decides ? "  first material mismatch\n" :
			"\n");
	} else {
		print_stacked(table, mark, row);
	}
	if (row->decides)
		ks_screen_style(&table->screen, KS_STYLE_PLAIN);
}

static void
print_section(const struct table *table,
	const struct ks_compare_section *section, const char **texts)
{
	size_t folded = 0;
	size_t i;

	ks_out_printf("\n");
	(void)ks_screen_text(&table->screen, section->title, 0,
		KS_STYLE_STRONG);
	ks_out_printf("\n");
	for (i = 0; i < section->count; i++) {
		if (is_shown(table, &section->rows[i]))
			print_row(table, &section->rows[i], texts);
		else
			folded++;
	}
	if (folded > 0)
		ks_out_printf("  %zu equal\n", folded);
}

static const char *
state_of(const struct ks_compare_record *record)
{
	if (record->retracted && record->superseded)
		return "retracted, superseded";
	return record->retracted ? "retracted" :
		record->superseded ? "superseded" : "";
}

/* What a line of the head has of a record: "" = nothing. */
enum head { HEAD_LETTER, HEAD_TITLE, HEAD_DIGEST, HEAD_VALUE, HEAD_RANK,
	HEAD_STATE, HEAD_REASONS, HEAD_COUNT };

static const char *
head_text(const struct ks_compare_record *record, size_t i, enum head line,
	char out[128])
{
	char digits[KS_ID_HEX + 1];

	switch (line) {
	case HEAD_LETTER:
		return letter(i, out);
	case HEAD_TITLE:
		return record->title;
	case HEAD_DIGEST:
		(void)snprintf(out, 128, "%s", ks_ref_short(&record->digest,
			digits));
		return out;
	case HEAD_VALUE:
		(void)snprintf(out, 128, "%s%s%s", record->text,
			record->ratio[0] == '\0' ? "" : "  ", record->ratio);
		return out;
	case HEAD_RANK:
		if (record->rank == 0)
			return "";
		(void)snprintf(out, 128, "#%zu%s", record->rank,
			record->tied ? "=" : "");
		return out;
	case HEAD_STATE:
		return state_of(record);
	case HEAD_REASONS:
		return record->reasons;
	case HEAD_COUNT:
		break;
	}
	return "";
}

static void
print_head(const struct table *table, const char **texts, char (*room)[128])
{
	static const char *const labels[] = {
		"", "", "", "value", "rank here", "state", "does not rank"
	};
	size_t count = table->compare->record_count;
	unsigned line;
	size_t i;

	for (line = 0; line < HEAD_COUNT; line++) {
		bool any = false;

		for (i = 0; i < count; i++) {
			texts[i] = head_text(&table->compare->records[i], i,
				(enum head)line, room[i]);
			any = any || texts[i][0] != '\0';
		}
		if (!any)
			continue;
		print_cells(table, "  ", labels[line], texts);
		ks_out_printf("\n");
	}
}

static enum ks_status
print_text(const struct ks_compare *compare, bool all, struct ks_error *err)
{
	struct table table = { .compare = compare, .all = all };
	size_t count = compare->record_count;
	const char **texts = calloc(count, sizeof(*texts));
	char (*room)[128] = calloc(count, sizeof(*room));
	size_t i;

	if (texts == NULL || room == NULL) {
		free(texts);
		free(room);
		return ks_fail_nomem(err);
	}
	ks_screen_init(&table.screen);
	measure(&table);
	ks_out_printf("%zu of kind ", count);
	ks_out_field(ks_ref_kind(compare->kind));
	ks_out_printf("\n");
	(void)ks_screen_text(&table.screen, compare->verdict, 0,
		KS_STYLE_STRONG);
	ks_out_printf("\n\n");
	print_head(&table, texts, room);
	for (i = 0; i < compare->count; i++)
		print_section(&table, &compare->sections[i], texts);
	free(texts);
	free(room);
	return KS_OK;
}

/* ---- JSON --------------------------------------------------------------- */

static void
add_record(struct ks_doc *doc, const struct ks_compare_record *record)
{
	ks_doc_object(doc, NULL);
	ks_doc_digest(doc, "digest", &record->digest);
	ks_doc_text(doc, "title", record->title);
	ks_doc_bool(doc, "retracted", record->retracted);
	ks_doc_bool(doc, "superseded", record->superseded);
	ks_doc_some(doc, "value", record->text);
	ks_doc_some(doc, "ratio", record->ratio);
	if (record->rank > 0)
		ks_doc_integer(doc, "rank", (int64_t)record->rank);
	else
		ks_doc_null(doc, "rank");
	ks_doc_bool(doc, "tied", record->tied);
	ks_doc_some(doc, "reasons", record->reasons);
	ks_doc_end(doc);
}

static void
add_row(struct ks_doc *doc, const struct ks_compare_row *row, size_t count)
{
	size_t i;

	ks_doc_object(doc, NULL);
	ks_doc_text(doc, "label", row->label);
	ks_doc_array(doc, "values");
	for (i = 0; i < count; i++) {
		if (row->values[i] == NULL)
			ks_doc_null(doc, NULL);
		else
			ks_doc_text(doc, NULL, row->values[i]);
	}
	ks_doc_end(doc);
	ks_doc_bool(doc, "same", row->same);
	ks_doc_end(doc);
}

/* The label of the row that decides, or "". */
static const char *
mismatch_of(const struct ks_compare *compare)
{
	size_t i, k;

	for (i = 0; i < compare->count; i++)
		for (k = 0; k < compare->sections[i].count; k++)
			if (compare->sections[i].rows[k].decides)
				return compare->sections[i].rows[k].label;
	return "";
}

static enum ks_status
print_json(const struct ks_compare *compare, bool verified,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("compare");
	size_t i, k;

	ks_doc_text(doc, "kind", compare->kind);
	ks_doc_bool(doc, "verified", verified);
	ks_doc_bool(doc, "comparable", compare->comparable);
	ks_doc_some(doc, "comparisonKey", compare->key);
	ks_doc_some(doc, "firstMaterialMismatch", mismatch_of(compare));
	ks_doc_text(doc, "verdict", compare->verdict);
	ks_doc_array(doc, "records");
	for (i = 0; i < compare->record_count; i++)
		add_record(doc, &compare->records[i]);
	ks_doc_end(doc);
	ks_doc_array(doc, "sections");
	for (i = 0; i < compare->count; i++) {
		ks_doc_object(doc, NULL);
		ks_doc_text(doc, "title", compare->sections[i].title);
		ks_doc_array(doc, "rows");
		for (k = 0; k < compare->sections[i].count; k++)
			add_row(doc, &compare->sections[i].rows[k],
				compare->record_count);
		ks_doc_end(doc);
		ks_doc_end(doc);
	}
	ks_doc_end(doc);
	return ks_doc_write(doc, err);
}

/* ---- The command -------------------------------------------------------- */

static enum ks_status
find_all(struct ks_cli *cli, struct ks_store *store, struct ks_id *digests,
	struct ks_error *err)
{
	struct ks_ref ref = KS_REF_INIT;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < cli->operand_count; i++) {
		status = ks_ref_find(cli, store, cli->operands[i], &ref, err);
		if (status == KS_OK)
			digests[i] = ref.digest;
	}
	return status;
}

static enum ks_status
compare(struct ks_cli *cli, struct ks_store *store, bool all,
	struct ks_error *err)
{
	struct ks_id *digests = calloc(cli->operand_count, sizeof(*digests));
	struct ks_compare *made = NULL;
	enum ks_status status = digests == NULL ? ks_fail_nomem(err) :
		find_all(cli, store, digests, err);

	if (status == KS_OK)
		status = ks_compare_new(&made, store, digests,
			cli->operand_count, &cli->watch, err);
	if (status == KS_OK && cli->json)
		status = print_json(made, cli->verified, err);
	else if (status == KS_OK)
		status = print_text(made, all, err);
	ks_compare_free(made);
	free(digests);
	return status;
}

enum ks_status
ks_cmd_compare(struct ks_cli *cli, struct ks_error *err)
{
	bool all = false;
	const struct ks_opt options[] = {
		KS_FLAG(0, "all", &all, "show what is equal, too"),
	};
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore compare c3252a98 3de2d5f3\n"
		"  kistore compare --all c3252a98 09e771f0 0f5887b0\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_cli_open_view(cli, &store, err);
	if (status == KS_OK)
		status = compare(cli, store, all, err);
	ks_store_close(store);
	return status;
}
