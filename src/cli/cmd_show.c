#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/screen.h"

/* Columns of labels; a longer one pushes its value, up to the widest. */
#define LABEL_MAX 28
#define LABEL_WIDEST 60
#define INDENT 2
#define GAP 2

/* ---- Text --------------------------------------------------------------- */

/* Set a note: behind the value where it fits, else below. */
static void
print_aside(const struct ks_screen *screen, const char *text, size_t column,
	size_t *end)
{
	size_t columns = ks_screen_columns(text, SIZE_MAX);

	if (screen->terminal && *end + GAP + columns > screen->width) {
		ks_out_printf("\n");
		ks_screen_blanks(column + GAP);
		*end = column + GAP;
	} else {
		ks_screen_blanks(GAP);
		*end += GAP;
	}
	*end = ks_screen_text(screen, text, *end, KS_STYLE_FAINT);
}

/* Where a row stands, and how it is set. */
struct place {
	size_t indent, label;
	enum ks_style style;
	bool is_name;	/* one line is enough for it */
};

static void
print_row(const struct ks_screen *screen, const struct ks_page_row *row,
	const struct place *place)
{
	size_t column = place->indent;
	char digits[KS_ID_HEX + 1];
	size_t end;

	ks_screen_blanks(place->indent);
	if (row->label[0] != '\0') {
		size_t wide = ks_screen_columns(row->label, LABEL_WIDEST);

		wide = wide > place->label ? wide : place->label;
		ks_screen_cell(screen, row->label, wide, false);
		ks_screen_blanks(GAP);
		column += wide + GAP;
	}
	end = place->is_name ?
		ks_screen_name(screen, row->value, column, place->style) :
		ks_screen_text(screen, row->value, column, place->style);
	if (row->note[0] != '\0')
		print_aside(screen, row->note, column, &end);
	/* Not once more where the row has it already. */
	if (row->has_target && strstr(row->note, ks_ref_short(&row->target,
		digits)) == NULL && strstr(row->value, digits) == NULL)
		print_aside(screen, digits, column, &end);
	ks_out_printf("\n");
}

static size_t
label_width(const struct ks_page_section *section)
{
	size_t width = 0;
	size_t i;

	for (i = 0; i < section->count; i++) {
		size_t columns = ks_screen_columns(section->rows[i].label,
			LABEL_MAX);

		width = columns > width ? columns : width;
	}
	return width;
}

static void
print_section(const struct ks_screen *screen, const struct ks_page *page,
	const struct ks_page_section *section)
{
	struct place place = { .label = label_width(section) };
	bool head = section == page->sections;
	size_t i;

	if (!head)
		ks_out_printf("\n");
	if (section->title[0] != '\0') {
		(void)ks_screen_name(screen, section->title, 0,
			KS_STYLE_STRONG);
		ks_out_printf("\n");
		place.indent = INDENT;
	}
	for (i = 0; i < section->count; i++) {
		const struct ks_page_row *row = &section->rows[i];

		place.is_name = head || (row->has_target &&
			row->origin == KS_ROW_LOG);
		place.style = row->warns ? KS_STYLE_WARNING :
			head && strcmp(row->value, page->title) == 0 ?
			KS_STYLE_STRONG : KS_STYLE_PLAIN;
		print_row(screen, row, &place);
	}
}

static void
print_text(const struct ks_page *page)
{
	struct ks_screen screen;
	size_t i;

	ks_screen_init(&screen);
	for (i = 0; i < page->count; i++)
		print_section(&screen, page, &page->sections[i]);
}

/* ---- JSON --------------------------------------------------------------- */

static const char *
origin_name(enum ks_row_origin origin)
{
	switch (origin) {
	case KS_ROW_TEXT: return "text";
	case KS_ROW_OBJECT: return "object";
	case KS_ROW_LOG: return "log";
	case KS_ROW_DERIVED: return "derived";
	}
	return "text";
}

static void
add_row(struct ks_doc *doc, const struct ks_page_row *row)
{
	ks_doc_object(doc, NULL);
	ks_doc_text(doc, "label", row->label);
	ks_doc_text(doc, "value", row->value);
	ks_doc_text(doc, "note", row->note);
	ks_doc_text(doc, "from", origin_name(row->origin));
	if (row->has_target)
		ks_doc_digest(doc, "digest", &row->target);
	ks_doc_end(doc);
}

static void
add_section(struct ks_doc *doc, const struct ks_page_section *section)
{
	size_t i;

	ks_doc_object(doc, NULL);
	ks_doc_text(doc, "title", section->title);
	ks_doc_array(doc, "rows");
	for (i = 0; i < section->count; i++)
		add_row(doc, &section->rows[i]);
	ks_doc_end(doc);
	ks_doc_end(doc);
}

static enum ks_status
print_json(const struct ks_page *page, bool verified, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("show");
	size_t i;

	ks_doc_digest(doc, "digest", &page->digest);
	ks_doc_text(doc, "kind", page->kind);
	ks_doc_text(doc, "title", page->title);
	ks_doc_some(doc, "name", page->name);
	ks_doc_some(doc, "id", page->id);
	ks_doc_some(doc, "comparisonKey", page->comparison_key);
	ks_doc_bool(doc, "retracted", page->retracted);
	ks_doc_bool(doc, "superseded", page->superseded);
	ks_doc_bool(doc, "verified", verified);
	ks_doc_array(doc, "sections");
	for (i = 0; i < page->count; i++)
		add_section(doc, &page->sections[i]);
	ks_doc_end(doc);
	return ks_doc_write(doc, err);
}

/* ---- The command -------------------------------------------------------- */

static enum ks_status
show(struct ks_cli *cli, struct ks_store *store,
	const struct ks_page_options *options, struct ks_error *err)
{
	struct ks_ref ref = KS_REF_INIT;
	struct ks_page *page = NULL;
	enum ks_status status = ks_ref_find(cli, store, cli->operands[0],
		&ref, err);

	if (status == KS_OK)
		status = ks_page_new(&page, store, &ref.digest, options, err);
	if (status == KS_OK && cli->json)
		status = print_json(page, cli->verified, err);
	else if (status == KS_OK)
		print_text(page);
	ks_page_free(page);
	return status;
}

enum ks_status
ks_cmd_show(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_page_options options = { .watch = &cli->watch };
	const struct ks_opt table[] = {
		KS_FLAG(0, "manifest", &options.manifest,
			"with the text of the manifest"),
		KS_TEXT(0, "accessed", "DATE", &options.accessed,
			"the day that the citation names"),
	};
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore show c3252a98\n"
		"  kistore show --json c3252a98 |"
		" jq -r '.sections[].rows[].value'\n"
		"  kistore show --at 2026-08-17 c3252a98\n";
	if (!ks_opt_parse(cli, table, KS_COUNT(table), &status, err))
		return status;
	status = ks_cli_now(&options.now, err);
	if (status == KS_OK)
		status = ks_cli_open_view(cli, &store, err);
	if (status == KS_OK)
		status = show(cli, store, &options, err);
	ks_store_close(store);
	return status;
}
