/*
 * What is asked for: which fields, terms and kinds it means.
 */
#include <stdio.h>
#include <stdlib.h>

#include "store/listing.h"
#include "store/watch.h"

/* Values that are named where none fits. */
#define HINTS_MAX 8

/* ---- memory ------------------------------------------------------------- */

/* Let go of a text that became a part of others. */
void
ks_choice_drop(struct ks_choice *choice, struct ks_buf *text)
{
	choice->failed = choice->failed || text->failed;
	ks_buf_release(text);
}

/* ---- comparing texts ---------------------------------------------------- */

uint8_t
ks_choice_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

bool
ks_choice_same(struct ks_span a, struct ks_span b)
{
	size_t i;

	if (a.len != b.len)
		return false;
	for (i = 0; i < a.len; i++)
		if (ks_choice_lower(a.data[i]) != ks_choice_lower(b.data[i]))
			return false;
	return true;
}

bool
ks_choice_is_word(uint8_t c)
{
	c = ks_choice_lower(c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
}

/* Whether `words` stand in `text`, and no word goes on at either end. */
static bool
has_words(struct ks_span text, struct ks_span words)
{
	size_t i;

	for (i = 0; words.len > 0 && i + words.len <= text.len; i++) {
		size_t end = i + words.len;

		if (ks_choice_same(ks_span(text.data + i, words.len), words) &&
			(i == 0 || !ks_choice_is_word(text.data[i - 1]) ||
			!ks_choice_is_word(text.data[i])) && (end == text.len ||
			!ks_choice_is_word(text.data[end]) ||
			!ks_choice_is_word(text.data[end - 1])))
			return true;
	}
	return false;
}

/* Whether it is the text, or one of a set. */
static bool
has_item(struct ks_span text, struct ks_span item)
{
	size_t start = 0, i;

	if (ks_choice_same(text, item))
		return true;
	for (i = 0; i <= text.len; i++)
		if (i == text.len || text.data[i] == ',') {
			if (ks_choice_same(item, ks_span(text.data + start,
				i - start)))
				return true;
			start = i + 1;
		}
	return false;
}

/* The last part of a kind. */
static struct ks_span
short_kind(struct ks_span kind)
{
	size_t i = kind.len;

	while (i > 0 && kind.data[i - 1] != '/')
		i--;
	return ks_span(kind.data + i, kind.len - i);
}

static bool
fits(enum ks_field_match match, struct ks_span text, struct ks_span wanted)
{
	if (match == KS_MATCH_WORDS)
		return has_words(text, wanted);
	if (match == KS_MATCH_KIND)
		return ks_choice_same(text, wanted) ||
			ks_choice_same(short_kind(text), wanted);
	return has_item(text, wanted);
}

/* ---- filters by name ---------------------------------------------------- */

bool
ks_choice_has_filter(const struct ks_choice *choice, size_t i,
	const struct ks_field *field)
{
	return strcmp(choice->options->filters[i].field, field->shown.name) ==
		0;
}

bool
ks_choice_is_first(const struct ks_choice *choice, size_t i,
	const struct ks_field *field)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (ks_choice_has_filter(choice, k, field))
			return false;
	return true;
}

static bool
is_wanted(const struct ks_choice *choice, const struct ks_field *field,
	struct ks_span text)
{
	size_t i;

	for (i = 0; i < choice->options->filter_count; i++)
		if (ks_choice_has_filter(choice, i, field) &&
			fits(field->match, text, ks_span_text(
			choice->options->filters[i].value)))
			return true;
	return false;
}

static bool
has_filter(const struct ks_choice *choice, const char *name)
{
	size_t i;

	for (i = 0; i < choice->options->filter_count; i++)
		if (strcmp(choice->options->filters[i].field, name) == 0)
			return true;
	return false;
}

/* ---- terms -------------------------------------------------------------- */

/* Call `visit` for each term of a field. */
typedef void term_fn(void *arg, uint64_t number, struct ks_span text);

static void
each_term(struct ks_choice *choice, unsigned field, term_fn *visit, void *arg)
{
	struct ks_db *tables = ks_catalogue_tables(choice->catalogue);
	struct sqlite3_stmt *stmt = ks_db_prepare(tables,
		"SELECT number, text FROM term WHERE field = ?1 ORDER BY text");

	ks_db_bind_number(stmt, 1, field);
	while (ks_db_next(tables, stmt))
		visit(arg, ks_db_number(stmt, 0), ks_db_bytes(stmt, 1));
	ks_db_discard(stmt);
}

/* Terms that fit, as a list of their numbers: "3,17". */
struct fitting {
	struct ks_choice *choice;
	const struct ks_field *field;
	struct ks_buf numbers;
	struct ks_buf hints;	/* texts of the first that there are */
	size_t hinted;
};

static void
take_term(void *arg, uint64_t number, struct ks_span text)
{
	struct fitting *fitting = arg;
	char shown[64];

	if (is_wanted(fitting->choice, fitting->field, text))
		ks_buf_printf(&fitting->numbers, "%s%llu",
			fitting->numbers.len == 0 ? "" : ",",
			(unsigned long long)number);
	if (fitting->hinted++ < HINTS_MAX)
		ks_buf_printf(&fitting->hints, "%s%s",
			fitting->hints.len == 0 ? "" : ", ",
			ks_printable(shown, sizeof(shown), text));
}

void
ks_choice_fit_terms(struct ks_choice *choice, const struct ks_field *field,
	struct ks_buf *numbers)
{
	struct fitting fitting = { .choice = choice, .field = field };

	each_term(choice, field->which, take_term, &fitting);
	if (fitting.numbers.len == 0) {
		choice->is_empty = true;
		ks_watch_note(choice->options->watch, "no record has such "
			"a %s: there %s %s%s", field->shown.name,
			fitting.hinted == 0 ? "is" : "are",
			fitting.hinted == 0 ? "none" :
			ks_buf_cstr(&fitting.hints),
			fitting.hinted > HINTS_MAX ? ", …" : "");
		ks_buf_text(&fitting.numbers, "0");
	}
	ks_buf_append(numbers, ks_buf_span(&fitting.numbers));
	ks_choice_drop(choice, &fitting.numbers);
	ks_buf_release(&fitting.hints);
}

/* ---- kinds -------------------------------------------------------------- */

static void
add_kind(struct ks_choice *choice, uint64_t number, struct ks_span kind)
{
	ks_buf_append(&choice->kinds, kind);
	ks_buf_byte(&choice->kinds, 0);
	ks_buf_append(&choice->kind_terms, ks_span(&number, sizeof(number)));
	choice->kind_count++;
}

const char *
ks_choice_kind(const struct ks_choice *choice, size_t n)
{
	const char *kind = (const char *)choice->kinds.data;

	while (n-- > 0)
		kind += strlen(kind) + 1;
	return kind;
}

uint64_t
ks_choice_kind_term(const struct ks_choice *choice, size_t n)
{
	uint64_t number;

	memcpy(&number, choice->kind_terms.data + n * sizeof(number),
		sizeof(number));
	return number;
}

struct kind_taking {
	struct ks_choice *choice;
	const struct ks_field *field;	/* NULL: runs */
};

/* Whether a kind has all the fields that are filtered by. */
static bool
has_fields(const struct ks_choice *choice, const char *kind)
{
	size_t i;

	for (i = 0; i < choice->options->filter_count; i++)
		if (ks_field_path(ks_field_find(
			choice->options->filters[i].field), kind) == NULL)
			return false;
	return true;
}

static void
take_kind(void *arg, uint64_t number, struct ks_span text)
{
	struct kind_taking *taking = arg;
	struct ks_buf kind = KS_BUF_INIT;
	bool wanted;

	ks_buf_append(&kind, text);
	wanted = taking->field != NULL ? is_wanted(taking->choice,
		taking->field, text) : taking->choice->all_kinds ||
		ks_field_is_run(ks_buf_cstr(&kind));
	if (wanted && has_fields(taking->choice, ks_buf_cstr(&kind)))
		add_kind(taking->choice, number, text);
	ks_choice_drop(taking->choice, &kind);
}

/* Whether a kind is known, though perhaps no record has it. */
static bool
is_known_kind(struct ks_span wanted)
{
	size_t i;

	if (ks_choice_same(wanted, ks_span_text("raw")))
		return true;
	for (i = 0; i < ks_kind_count(); i++)
		if (fits(KS_MATCH_KIND, ks_span_text(ks_kind_full_name(
			ks_kind_at(i))), wanted))
			return true;
	return false;
}

struct kind_naming {
	struct ks_span wanted;
	struct ks_buf names;
	bool found;
};

static void
name_kind(void *arg, uint64_t number, struct ks_span text)
{
	struct kind_naming *naming = arg;
	char shown[128];

	(void)number;
	naming->found = naming->found || fits(KS_MATCH_KIND, text,
		naming->wanted);
	ks_buf_printf(&naming->names, "%s%s", naming->names.len == 0 ? "" :
		", ", ks_printable(shown, sizeof(shown), short_kind(text)));
}

/* Every kind that is asked for is in the store, or a known one. */
static enum ks_status
check_kinds(struct ks_choice *choice, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < choice->options->filter_count;
		i++) {
		struct kind_naming naming = { .wanted = ks_span_text(
			choice->options->filters[i].value) };
		char shown[128];

		if (strcmp(choice->options->filters[i].field, "kind") != 0)
			continue;
		each_term(choice, KS_TERM_KIND, name_kind, &naming);
		if (!naming.found && !is_known_kind(naming.wanted))
			status = ks_fail(err, KS_USAGE,
				"there is no kind '%s' here (there are: %s)",
				ks_printable(shown, sizeof(shown),
				naming.wanted), ks_buf_cstr(&naming.names));
		ks_buf_release(&naming.names);
	}
	return status;
}

/* A field that no kind asked for has is a mistake. */
static enum ks_status
check_reach(struct ks_choice *choice, const struct ks_field *field,
	struct ks_error *err)
{
	const struct ks_list_options *options = choice->options;
	size_t i, k;

	for (i = 0; i < options->filter_count; i++) {
		struct ks_span wanted = ks_span_text(options->filters[i].value);

		if (strcmp(options->filters[i].field, "kind") != 0)
			continue;
		for (k = 0; k < ks_kind_count(); k++) {
			const char *kind = ks_kind_full_name(ks_kind_at(k));

			if (fits(KS_MATCH_KIND, ks_span_text(kind), wanted) &&
				ks_field_path(field, kind) != NULL)
				return KS_OK;
		}
	}
	return ks_fail(err, KS_USAGE, "records of that kind have no %s",
		field->shown.name);
}

/* Whether a kind, by whatever name, is one of runs. */
static bool
is_run(struct ks_span wanted)
{
	size_t i;

	for (i = 0; i < ks_kind_count(); i++) {
		const char *kind = ks_kind_full_name(ks_kind_at(i));

		if (ks_field_is_run(kind) && fits(KS_MATCH_KIND,
			ks_span_text(kind), wanted))
			return true;
	}
	return false;
}

/* Where there are to be runs only, no other kind is asked for. */
static enum ks_status
check_runs(const struct ks_choice *choice, struct ks_error *err)
{
	const struct ks_list_options *options = choice->options;
	size_t i;

	for (i = 0; i < options->filter_count; i++)
		if (strcmp(options->filters[i].field, "kind") == 0 &&
			!is_run(ks_span_text(options->filters[i].value)))
			return ks_fail(err, KS_USAGE, "this is for runs only: "
				"a kind is BenchmarkRun or ServingRun");
	return KS_OK;
}

static enum ks_status
choose_kinds(struct ks_choice *choice, struct ks_error *err)
{
	const struct ks_list_options *options = choice->options;
	struct kind_taking taking = { .choice = choice };
	enum ks_status status = KS_OK;
	size_t i;

	choice->all_kinds = !has_filter(choice, "kind") && !options->runs &&
		(choice->sort == NULL || choice->sort->routes == NULL);
	if (has_filter(choice, "kind"))
		taking.field = ks_field_find("kind");
	for (i = 0; status == KS_OK && i < options->filter_count; i++) {
		const struct ks_field *field = ks_field_find(
			options->filters[i].field);

		if (field->routes == NULL)
			continue;
		choice->all_kinds = false;
		if (taking.field != NULL)
			status = check_reach(choice, field, err);
	}
	if (status == KS_OK && taking.field != NULL)
		status = check_kinds(choice, err);
	if (status == KS_OK && options->runs)
		status = check_runs(choice, err);
	if (status != KS_OK)
		return status;
	each_term(choice, KS_TERM_KIND, take_kind, &taking);
	if (choice->kind_count == 0)
		choice->is_empty = true;
	if (choice->failed || choice->kinds.failed ||
		choice->kind_terms.failed)
		return ks_fail_nomem(err);
	return ks_db_check(ks_catalogue_tables(choice->catalogue), err);
}

/* ---- asking ------------------------------------------------------------- */

static enum ks_status
find_sort(struct ks_choice *choice, struct ks_error *err)
{
	const char *name = choice->options->sort;
	struct ks_buf names = KS_BUF_INIT;
	char shown[64];
	enum ks_status status;
	size_t i;

	if (name == NULL)
		return KS_OK;
	choice->sort = ks_field_find(name);
	if (choice->sort != NULL && choice->sort->shown.sorts)
		return KS_OK;
	for (i = 0; i < ks_field_count; i++)
		if (ks_fields[i].shown.sorts)
			ks_buf_printf(&names, "%s%s", names.len == 0 ? "" :
				", ", ks_fields[i].shown.name);
	status = ks_fail(err, KS_USAGE, "nothing is sorted by '%s': it may be "
		"%s", ks_printable(shown, sizeof(shown), ks_span_text(name)),
		ks_buf_cstr(&names));
	ks_buf_release(&names);
	return status;
}

static enum ks_status
check_filters(const struct ks_choice *choice, struct ks_error *err)
{
	const struct ks_list_options *options = choice->options;
	char shown[64];
	size_t i;

	for (i = 0; i < options->filter_count; i++) {
		const char *name = options->filters[i].field;
		const struct ks_field *field = ks_field_find(name);

		if (field == NULL || field->match == KS_MATCH_NONE)
			return ks_fail(err, KS_USAGE,
				"records are not chosen by '%s'",
				ks_printable(shown, sizeof(shown),
				ks_span_text(name)));
		if (options->filters[i].value[0] == '\0')
			return ks_fail(err, KS_USAGE, "%s: empty value", name);
	}
	return KS_OK;
}

enum ks_status
ks_choice_make(struct ks_choice *choice, struct ks_catalogue *catalogue,
	const struct ks_list_options *options, struct ks_error *err)
{
	enum ks_status status;

	*choice = (struct ks_choice)KS_CHOICE_INIT;
	choice->catalogue = catalogue;
	choice->options = options;
	status = check_filters(choice, err);
	if (status == KS_OK)
		status = find_sort(choice, err);
	return status == KS_OK ? choose_kinds(choice, err) : status;
}

void
ks_choice_release(struct ks_choice *choice)
{
	ks_buf_release(&choice->kinds);
	ks_buf_release(&choice->kind_terms);
}

