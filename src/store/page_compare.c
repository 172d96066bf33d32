/*
 * Comparisons: records of one kind side by side, what differs between them,
 * and whether any of them may be said to be faster.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/readout.h"
#include "store/page.h"

/* A row of all: the label, as often as it stood before in its section. */
struct row {
	const char *label;
	size_t turn;
	const char **values;	/* one a side */
	const char **notes;	/* the same, and in the same memory */
};

struct section {
	const char *title;
	struct row *rows;
	size_t count, room;
};

/* A comparison and what it owns. */
struct made {
	struct ks_compare compare; /* first: a pointer to it is one to this */
	struct ks_texts texts;
	struct ks_compare_record *records;
	struct ks_compare_section *sections;
	struct ks_compare_row *rows;
	const char **values;
};

struct comparing {
	struct ks_store *store;
	const struct ks_watch *watch;
	struct ks_side *sides;
	size_t count;
	struct section *sections;
	size_t section_count, section_room;
	struct made *made;
};

/* ---- reading ------------------------------------------------------------ */

/* All that are compared are of the kind of the first. */
static enum ks_status
check_kind(struct comparing *comparing, struct ks_side *side,
	const struct ks_part *part, struct ks_error *err)
{
	char digest[KS_ID_TEXT + 1], other[KS_ID_TEXT + 1];
	char kind[256], first[256];

	if (part->record.spec.len == 0)
		return ks_fail(err, KS_USAGE, "%s is no record: its bytes are "
			"all there is to compare",
			ks_id_print(&side->digest, digest));
	ks_buf_text(&side->kind, part->row.kind);
	side->sort = ks_part_is(part, "BenchmarkRun") ? KS_SIDE_RUN :
		ks_part_is(part, "ServingRun") ? KS_SIDE_SERVING :
		KS_SIDE_OTHER;
	if (strcmp(ks_buf_cstr(&side->kind),
		ks_buf_cstr(&comparing->sides[0].kind)) == 0)
		return KS_OK;
	return ks_fail(err, KS_USAGE, "only records of one kind can be "
		"compared: %s is a %s, %s a %s", ks_id_print(
		&comparing->sides[0].digest, other), ks_printable(first,
		sizeof(first), ks_buf_span(&comparing->sides[0].kind)),
		ks_id_print(&side->digest, digest), ks_printable(kind,
		sizeof(kind), ks_buf_span(&side->kind)));
}

static enum ks_status
read_side(struct comparing *comparing, struct ks_side *side,
	struct ks_error *err)
{
	struct ks_draft draft = KS_DRAFT_INIT;
	struct ks_part part;
	enum ks_status status = ks_part_need(comparing->store, &side->digest,
		&part, err);

	if (status == KS_OK)
		status = check_kind(comparing, side, &part, err);
	if (status == KS_OK)
		status = ks_history_read(comparing->store, &side->digest,
			&side->history, err);
	if (status == KS_OK)
		status = ks_side_say(comparing->store, side, &part, &draft,
			comparing->watch, err);
	if (status == KS_OK)
		status = ks_draft_finish(&draft, &side->made, err);
	if (status == KS_OK && (side->title.failed || side->text.failed ||
		side->reasons.failed || side->observed.failed ||
		side->kind.failed))
		status = ks_fail_nomem(err);
	ks_draft_release(&draft);
	ks_part_release(&part);
	return status;
}

static enum ks_status
read_sides(struct comparing *comparing, const struct ks_id *digests,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	size_t i, k;
	enum ks_status status = KS_OK;

	for (i = 0; i < comparing->count; i++)
		for (k = 0; k < i; k++)
			if (ks_id_equal(&digests[i], &digests[k]))
				return ks_fail(err, KS_USAGE,
					"%s is given twice",
					ks_id_print(&digests[i], text));
	for (i = 0; status == KS_OK && i < comparing->count; i++) {
		comparing->sides[i].digest = digests[i];
		status = read_side(comparing, &comparing->sides[i], err);
	}
	return status;
}

/* ---- side by side ------------------------------------------------------- */

static bool
grow(void **items, size_t size, size_t count, size_t *room)
{
	void *grown = ks_grow(*items, count, room, size, NULL);

	if (grown != NULL)
		*items = grown;
	return grown != NULL;
}

/* The section of that title, made where there is none. NULL: no memory. */
static struct section *
section_of(struct comparing *comparing, const char *title)
{
	void *sections = comparing->sections;
	struct section *section;
	size_t i;

	for (i = 0; i < comparing->section_count; i++)
		if (strcmp(comparing->sections[i].title, title) == 0)
			return &comparing->sections[i];
	if (!grow(&sections, sizeof(*section), comparing->section_count,
		&comparing->section_room))
		return NULL;
	comparing->sections = sections;
	section = &comparing->sections[comparing->section_count++];
	*section = (struct section){ .title = title };
	return section;
}

/* Put in a row at `at`. NULL: no memory. */
static struct row *
insert_row(const struct comparing *comparing, struct section *section,
	size_t at, const char *label, size_t turn)
{
	void *rows = section->rows;
	const char **values = calloc(2 * comparing->count, sizeof(*values));
	struct row *row;

	if (values == NULL || !grow(&rows, sizeof(*row), section->count,
		&section->room)) {
		free(values);
		return NULL;
	}
	section->rows = rows;
	row = &section->rows[at];
	memmove(row + 1, row, (section->count - at) * sizeof(*row));
	section->count++;
	*row = (struct row){ .label = label, .turn = turn, .values = values,
		.notes = values + comparing->count };
	return row;
}

/* How often a label stood before in a section of one record. */
static size_t
turn_of(const struct ks_page_section *section, size_t i)
{
	size_t turn = 0;
	size_t k;

	for (k = 0; k < i; k++)
		turn += strcmp(section->rows[k].label,
			section->rows[i].label) == 0;
	return turn;
}

/* Lay one record's section over what is there: a label that is new comes after
 * the one that it came after. */
static bool
merge_section(struct comparing *comparing, size_t side,
	const struct ks_page_section *from)
{
	struct section *section = section_of(comparing, from->title);
	size_t place = 0;
	size_t i, k;

	if (section == NULL)
		return false;
	for (i = 0; i < from->count; i++) {
		const char *label = from->rows[i].label;
		size_t turn = turn_of(from, i);
		struct row *row = NULL;

		for (k = 0; row == NULL && k < section->count; k++)
			if (section->rows[k].turn == turn &&
				strcmp(section->rows[k].label, label) == 0)
				row = &section->rows[k];
		if (row == NULL)
			row = insert_row(comparing, section, place, label,
				turn);
		if (row == NULL)
			return false;
		row->values[side] = from->rows[i].value;
		row->notes[side] = from->rows[i].note;
		place = (size_t)(row - section->rows) + 1;
	}
	return true;
}

static enum ks_status
merge(struct comparing *comparing, struct ks_error *err)
{
	size_t i, k;

	for (i = 0; i < comparing->count; i++) {
		const struct ks_page *page = &comparing->sides[i].made->page;

		for (k = 0; k < page->count; k++)
			if (!merge_section(comparing, i, &page->sections[k]))
				return ks_fail_nomem(err);
	}
	return KS_OK;
}

static bool
is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
are_same(const char *const *texts, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (!is_same(texts[i], texts[0]))
			return false;
	return true;
}

/* Whether the value of a side reads like one from which it differs, as numbers
 * do that were rounded. */
static bool
reads_like_another(const struct row *row, size_t side, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (is_same(row->values[i], row->values[side]) &&
			!is_same(row->notes[i], row->notes[side]))
			return true;
	return false;
}

/* ---- what is made of it ------------------------------------------------- */

static size_t
count_rows(const struct comparing *comparing)
{
	size_t rows = 0;
	size_t i;

	for (i = 0; i < comparing->section_count; i++)
		rows += comparing->sections[i].count;
	return rows;
}

/* "26.0 µs (25957 ns)", where 26.0 µs alone would read like another. */
static const char *
keep_in_full(struct made *made, const char *value, const char *note)
{
	struct ks_buf text = KS_BUF_INIT;
	const char *kept;

	ks_buf_text(&text, value);
	if (note[0] != '\0')
		ks_buf_printf(&text, " (%s)", note);
	kept = ks_texts_keep(&made->texts, ks_buf_span(&text));
	if (text.failed)
		made->texts.failed = true;
	ks_buf_release(&text);
	return kept;
}

static void
fill_row(struct comparing *comparing, const struct row *from, size_t number)
{
	struct made *made = comparing->made;
	const char **values = made->values + number * comparing->count;
	size_t i;

	for (i = 0; i < comparing->count; i++)
		values[i] = from->values[i] == NULL ? NULL :
			reads_like_another(from, i, comparing->count) ?
			keep_in_full(made, from->values[i], from->notes[i]) :
			ks_texts_keep(&made->texts,
			ks_span_text(from->values[i]));
	made->rows[number] = (struct ks_compare_row){
		.label = ks_texts_keep(&made->texts,
			ks_span_text(from->label)),
		.values = values,
		.same = are_same(values, comparing->count)
	};
}

static enum ks_status
fill_sections(struct comparing *comparing, struct ks_error *err)
{
	struct made *made = comparing->made;
	size_t rows = count_rows(comparing);
	size_t number = 0;
	size_t i, k;

	made->sections = calloc(comparing->section_count + 1,
		sizeof(*made->sections));
	made->rows = calloc(rows + 1, sizeof(*made->rows));
	made->values = calloc((rows + 1) * comparing->count,
		sizeof(*made->values));
	if (made->sections == NULL || made->rows == NULL ||
		made->values == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < comparing->section_count; i++) {
		const struct section *from = &comparing->sections[i];

		made->sections[i] = (struct ks_compare_section){
			.title = ks_texts_keep(&made->texts,
				ks_span_text(from->title)),
			.rows = made->rows + number,
			.count = from->count
		};
		for (k = 0; k < from->count; k++)
			fill_row(comparing, &from->rows[k], number++);
	}
	made->compare.sections = made->sections;
	made->compare.count = comparing->section_count;
	return KS_OK;
}

/* ---- the verdict -------------------------------------------------------- */

static bool
share_key(const struct comparing *comparing)
{
	size_t i;

	for (i = 0; i < comparing->count; i++)
		if (!comparing->sides[i].has_key || !ks_id_equal(
			&comparing->sides[i].key, &comparing->sides[0].key))
			return false;
	return true;
}

/* Append what of the key differs, and mark the first. False: nothing does. */
static bool
append_differing(struct comparing *comparing, struct ks_buf *out)
{
	struct made *made = comparing->made;
	const struct ks_compare_section *section = &made->sections[0];
	bool any = false;
	size_t i;

	for (i = 0; made->compare.count > 0 && i < section->count; i++) {
		struct ks_compare_row *row = &made->rows[i];

		if (row->same)
			continue;
		row->decides = !any;
		ks_buf_text(out, any ? ", " : "");
		ks_buf_text(out, row->label);
		any = true;
	}
	return any;
}

static void
say_mismatch(struct comparing *comparing, struct ks_buf *out)
{
	struct ks_buf differing = KS_BUF_INIT;

	ks_buf_text(out, comparing->sides[0].sort == KS_SIDE_RUN ?
		"No winner can be declared: " : "Not comparable: ");
	if (append_differing(comparing, &differing))
		ks_buf_printf(out, "what would have to match, and does not, "
			"is: %s.", ks_buf_cstr(&differing));
	else
		ks_buf_text(out, "what the key of one is made of is not in "
			"this store.");
	if (comparing->sides[0].sort == KS_SIDE_RUN)
		ks_buf_text(out, " A valid comparison requires identical "
			"operation, workload, protocol, environment, "
			"correctness policy, and metric.");
	out->failed = out->failed || differing.failed;
	ks_buf_release(&differing);
}

static bool
all_may_rank(const struct comparing *comparing)
{
	size_t i;

	for (i = 0; i < comparing->count; i++)
		if (!comparing->sides[i].may_rank)
			return false;
	return true;
}

/* "5.35×" the least value. Only one above zero can be a measure. */
static const char *
ratio_of(struct comparing *comparing, double value, double least)
{
	struct ks_buf text = KS_BUF_INIT;
	const char *kept;

	if (!(least > 0) || value / least > 1e15)
		return "";
	ks_readout_fixed(&text, value / least, 2);
	ks_buf_text(&text, "×");
	kept = ks_texts_keep(&comparing->made->texts, ks_buf_span(&text));
	if (text.failed)
		comparing->made->texts.failed = true;
	ks_buf_release(&text);
	return kept;
}

static enum ks_status
rank_sides(struct comparing *comparing, struct ks_buf *verdict,
	struct ks_error *err)
{
	struct ks_ranking_entry *entries = calloc(comparing->count,
		sizeof(*entries));
	bool native = false;
	size_t i;

	if (entries == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < comparing->count; i++) {
		struct ks_side *side = &comparing->sides[i];

		entries[i] = side->entry;
		entries[i].observed_at = ks_buf_span(&side->observed);
		entries[i].id = ks_span_text(ks_id_print(&side->digest,
			side->id));
		entries[i].index = i;
		native = native || entries[i].is_source_native;
	}
	ks_ranking_sort(entries, comparing->count);
	for (i = 0; i < comparing->count; i++) {
		struct ks_compare_record *record =
			&comparing->made->records[entries[i].index];

		record->rank = entries[i].rank;
		record->tied = entries[i].is_tied;
		record->ratio = ratio_of(comparing, entries[i].value,
			entries[0].value);
	}
	ks_buf_printf(verdict, "All %zu runs share one %s comparison cohort; "
		"ranks follow " KS_RANKING_POLICY ". ", comparing->count,
		native ? "source-native" : "strict exact");
	if (entries[0].is_tied)
		ks_buf_text(verdict,
			"No single winner: the first rank is shared.");
	else
		ks_buf_printf(verdict, "%s leads.", comparing->made->records[
			entries[0].index].title);
	free(entries);
	return KS_OK;
}

static enum ks_status
judge(struct comparing *comparing, struct ks_buf *verdict,
	struct ks_error *err)
{
	struct ks_compare *compare = &comparing->made->compare;
	char key[KS_ID_TEXT + 1];

	if (comparing->sides[0].sort == KS_SIDE_OTHER) {
		ks_buf_text(verdict, "Records of this kind are not ranked.");
		return KS_OK;
	}
	compare->has_keys = true;
	if (!share_key(comparing)) {
		say_mismatch(comparing, verdict);
		return KS_OK;
	}
	compare->key = ks_texts_keep(&comparing->made->texts, ks_span_text(
		ks_id_print(&comparing->sides[0].key, key)));
	if (comparing->sides[0].sort == KS_SIDE_SERVING) {
		ks_buf_text(verdict, "All share one serving cohort; serving "
			"runs are not ranked.");
		return KS_OK;
	}
	if (!all_may_rank(comparing)) {
		ks_buf_text(verdict, "No winner can be declared: at least one "
			"of these runs is not eligible for ranking.");
		return KS_OK;
	}
	compare->comparable = true;
	return rank_sides(comparing, verdict, err);
}

/* ---- the whole ---------------------------------------------------------- */

static void
fill_records(struct comparing *comparing)
{
	struct made *made = comparing->made;
	size_t i;

	for (i = 0; i < comparing->count; i++) {
		const struct ks_side *side = &comparing->sides[i];

		made->records[i] = (struct ks_compare_record){
			.digest = side->digest,
			.title = ks_texts_keep(&made->texts,
				ks_buf_span(&side->title)),
			.retracted = side->history.retracted,
			.superseded = side->history.superseded,
			.text = ks_texts_keep(&made->texts,
				ks_buf_span(&side->text)),
			.ratio = "",
			.reasons = ks_texts_keep(&made->texts,
				ks_buf_span(&side->reasons))
		};
	}
	made->compare.records = made->records;
	made->compare.record_count = comparing->count;
	made->compare.kind = ks_texts_keep(&made->texts,
		ks_buf_span(&comparing->sides[0].kind));
	made->compare.key = "";
}

static enum ks_status
make(struct comparing *comparing, const struct ks_id *digests,
	struct ks_error *err)
{
	struct made *made = comparing->made;
	struct ks_buf verdict = KS_BUF_INIT;
	enum ks_status status = read_sides(comparing, digests, err);

	if (status == KS_OK)
		status = merge(comparing, err);
	if (status == KS_OK)
		status = fill_sections(comparing, err);
	if (status == KS_OK) {
		fill_records(comparing);
		status = judge(comparing, &verdict, err);
	}
	made->compare.verdict = ks_texts_keep(&made->texts,
		ks_buf_span(&verdict));
	if (status == KS_OK && (verdict.failed || made->texts.failed))
		status = ks_fail_nomem(err);
	ks_buf_release(&verdict);
	return status;
}

static void
release(struct comparing *comparing)
{
	size_t i, k;

	for (i = 0; comparing->sides != NULL && i < comparing->count; i++) {
		struct ks_side *side = &comparing->sides[i];

		ks_page_free(side->made == NULL ? NULL : &side->made->page);
		ks_history_release(&side->history);
		ks_buf_release(&side->title);
		ks_buf_release(&side->text);
		ks_buf_release(&side->reasons);
		ks_buf_release(&side->observed);
		ks_buf_release(&side->kind);
	}
	for (i = 0; i < comparing->section_count; i++) {
		for (k = 0; k < comparing->sections[i].count; k++)
			free(comparing->sections[i].rows[k].values);
		free(comparing->sections[i].rows);
	}
	free(comparing->sections);
	free(comparing->sides);
}

enum ks_status
ks_compare_new(struct ks_compare **out, struct ks_store *store,
	const struct ks_id *digests, size_t count,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct comparing comparing = {
		.store = store, .watch = watch, .count = count
	};
	enum ks_status status = ks_log_understood(store, err);

	*out = NULL;
	if (status == KS_OK && (count < 2 || count > KS_COMPARE_MAX))
		status = ks_fail(err, KS_USAGE, "2 to %d records can be "
			"compared, not %zu", KS_COMPARE_MAX, count);
	if (status != KS_OK)
		return status;
	comparing.made = calloc(1, sizeof(*comparing.made));
	comparing.sides = calloc(count, sizeof(*comparing.sides));
	if (comparing.made != NULL)
		comparing.made->records = calloc(count,
			sizeof(*comparing.made->records));
	if (comparing.made == NULL || comparing.sides == NULL ||
		comparing.made->records == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = make(&comparing, digests, err);
	release(&comparing);
	if (status == KS_OK)
		*out = &comparing.made->compare;
	else
		ks_compare_free(comparing.made == NULL ? NULL :
			&comparing.made->compare);
	return status;
}

void
ks_compare_free(struct ks_compare *compare)
{
	/* The comparison is the first member of what was made. */
	struct made *made = (struct made *)(void *)compare;

	if (made == NULL)
		return;
	ks_texts_release(&made->texts);
	free(made->records);
	free(made->sections);
	free(made->rows);
	free(made->values);
	free(made);
}
