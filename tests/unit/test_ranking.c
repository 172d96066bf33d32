#include "format/ranking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/records.h"
#include "format/time.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Eligibility. */

static const struct {
	const char *status;
	bool published, retracted, superseded, primary;
	const char *reasons;
} standings[] = {
	{ "passed", true, false, false, true, "" },
	{ "passed", false, false, false, true, "UNPUBLISHED" },
	{ "passed", true, true, false, true, "RETRACTED" },
	{ "passed", true, false, true, true, "SUPERSEDED" },
	{ "passed", true, false, false, false, "MISSING_PRIMARY_METRIC" },
	{ "runtime_error", true, false, false, false,
		"STATUS_RUNTIME_ERROR, MISSING_PRIMARY_METRIC" },
	{ "revoked", false, true, true, false,
		"UNPUBLISHED, STATUS_REVOKED, RETRACTED, SUPERSEDED, "
		"MISSING_PRIMARY_METRIC" },
	{ "", true, false, false, true, "STATUS_" },
};

static void
all_reasons_against_a_rank_are_named_in_order(void **state)
{
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(standings); i++) {
		const struct ks_standing standing = {
			.status = ks_span_text(standings[i].status),
			.is_published = standings[i].published,
			.is_retracted = standings[i].retracted,
			.is_superseded = standings[i].superseded,
			.has_primary = standings[i].primary,
		};

		ks_buf_clear(&text);
		ks_buf_text(&text, "x");
		ks_ranking_reasons(&text, &standing);
		assert_string_equal(ks_buf_cstr(&text) + 1,
			standings[i].reasons);
		assert_int_equal(ks_ranking_is_eligible(&standing),
			standings[i].reasons[0] == '\0');
	}
	ks_buf_release(&text);
}

/* Groups. */

#define MEMBERS 6

/* A group, and how it is shown: "id@rank", with "=" when tied. */
struct group {
	struct {
		const char *id;
		double value;
		double low, high;	/* both 0 = no interval */
		int evidence;
		const char *observed_at;
	} members[MEMBERS];
	bool source_native;		/* the first member is */
	const char *shown;
	const char *records;		/* ids of those that took the lead */
};

#define NOON "2024-01-01T12:00Z"
#define LATER "2024-01-01T12:00:00.1Z"

static const struct group groups[] = {
	{ .shown = "", .records = "" },
	{ .members = { { "a", 5, 0, 0, 1, NOON } }, .shown = "a@1 ",
		.records = "a" },
	/* Lower is better; ranks are dense. */
	{ .members = { { "a", 3, 0, 0, 1, NOON }, { "b", 1, 0, 0, 1, NOON },
		{ "c", 2, 0, 0, 1, NOON }, { "d", 2, 0, 0, 1, NOON } },
		.shown = "b@1 c@2= d@2= a@3 ", .records = "ab" },
	{ .members = { { "a", -1, 0, 0, 1, NOON }, { "b", -2, 0, 0, 1, NOON },
		{ "c", 0, 0, 0, 1, NOON } },
		.shown = "b@1 a@2 c@3 ", .records = "ab" },
	/* Among equals: evidence, then the newer, then the id. */
	{ .members = { { "a", 1, 0, 0, 1, NOON }, { "b", 1, 0, 0, 1, LATER },
		{ "c", 1, 0, 0, 2, NOON }, { "d", 1, 0, 0, 1, LATER },
		{ "e", 1, 0, 0, 1, "" } },
		.shown = "c@1= b@1= d@1= a@1= e@1= ", .records = "e" },
	/* Intervals that touch tie … */
	{ .members = { { "a", 1, 0, 2, 1, NOON }, { "b", 3, 2, 4, 1, NOON } },
		.shown = "a@1= b@1= ", .records = "a" },
	{ .members = { { "a", 1, 0, 1.9, 1, NOON },
		{ "b", 3, 2, 4, 1, NOON } },
		.shown = "a@1 b@2 ", .records = "a" },
	/* … but not in a group with runs from elsewhere … */
	{ .members = { { "a", 1, 0, 2, 1, NOON }, { "b", 3, 2, 4, 1, NOON } },
		.source_native = true, .shown = "a@1 b@2 ", .records = "a" },
	{ .members = { { "a", 1, 0, 2, 1, NOON }, { "b", 1, 5, 6, 1, NOON } },
		.source_native = true, .shown = "a@1= b@1= ", .records = "a" },
	/* … and not without one of them. */
	{ .members = { { "a", 1, 0, 0, 1, NOON }, { "b", 1.5, 0, 4, 1, NOON } },
		.shown = "a@1 b@2 ", .records = "a" },
	/* A chain is of runs that all tie: a with b, b with c, not a with c. */
	{ .members = { { "a", 1, 0, 2, 1, NOON }, { "b", 2, 1, 3, 1, NOON },
		{ "c", 3, 2.5, 4, 1, NOON }, { "d", 4, 3.5, 5, 1, NOON } },
		.shown = "a@1= b@1= c@2= d@2= ", .records = "a" },
	/* Its members are shown by evidence, not by value. */
	{ .members = { { "a", 1, 0, 9, 1, NOON }, { "b", 2, 0, 9, 3, NOON },
		{ "c", 3, 0, 9, 2, NOON } },
		.shown = "b@1= c@1= a@1= ", .records = "a" },
	/* Equal values tie with each other, but each must also tie with those
	 * below: c has no interval, and begins a chain that d joins. */
	{ .members = { { "a", 1, 0, 9, 1, NOON }, { "b", 2, 0, 9, 4, NOON },
		{ "c", 2, 0, 0, 3, NOON }, { "d", 2, 0, 9, 2, NOON } },
		.shown = "b@1= a@1= c@2= d@2= ", .records = "a" },
	/* The bound is that of all below: the narrowest counts. */
	{ .members = { { "a", 1, 0, 9, 1, NOON }, { "b", 2, 1, 3, 1, NOON },
		{ "c", 4, 3.5, 5, 1, NOON } },
		.shown = "a@1= b@1= c@2 ", .records = "a" },
	/* Equal values do not bound each other. */
	{ .members = { { "a", 2, 1, 3, 1, NOON }, { "b", 2, 7, 8, 1, NOON },
		{ "c", 4, 2, 7, 1, NOON }, { "d", 4, 4, 7, 1, NOON } },
		.shown = "a@1= b@1= c@1= d@2 ", .records = "a" },
	/* History: by time, then by id; only what is strictly better. */
	{ .members = { { "d", 5, 0, 0, 1, "2024-01-01T00:00Z" },
		{ "c", 4, 0, 0, 1, "2024-01-03T00:00Z" },
		{ "b", 4, 0, 0, 1, "2024-01-02T00:00:00Z" },
		{ "a", 6, 0, 0, 1, "2024-01-01T00:00:00.000Z" },
		{ "f", 3, 0, 0, 1, "2024-01-02T00:00:00.000001Z" } },
		.shown = "f@1 c@2= b@2= d@3 a@4 ", .records = "adbf" },
};

static size_t
fill(const struct group *group, struct ks_ranking_entry *entries)
{
	size_t count = 0;

	while (count < MEMBERS && group->members[count].id != NULL) {
		struct ks_ranking_entry entry = {
			.value = group->members[count].value,
			.has_interval = group->members[count].low != 0 ||
				group->members[count].high != 0,
			.low = group->members[count].low,
			.high = group->members[count].high,
			.is_source_native = group->source_native && count == 0,
			.observed_at = ks_span_text(
				group->members[count].observed_at),
			.evidence = (enum ks_evidence)
				group->members[count].evidence,
			.id = ks_span_text(group->members[count].id),
			.index = count,
		};

		entries[count++] = entry;
	}
	return count;
}

/* Put the entries into another order: `turn` of n!. */
static void
permute(struct ks_ranking_entry *entries, size_t count, size_t turn)
{
	for (; count > 1; count--) {
		size_t k = turn % count;
		struct ks_ranking_entry swap = entries[k];

		turn /= count;
		entries[k] = entries[count - 1];
		entries[count - 1] = swap;
	}
}

static void
expect_shown(const struct group *group, size_t turn)
{
	struct ks_ranking_entry entries[MEMBERS];
	size_t count = fill(group, entries);
	struct ks_buf text = KS_BUF_INIT;
	size_t i;

	permute(entries, count, turn);
	ks_ranking_sort(entries, count);
	for (i = 0; i < count; i++) {
		ks_buf_append(&text, entries[i].id);
		ks_buf_printf(&text, "@%zu%s ", entries[i].rank,
			entries[i].is_tied ? "=" : "");
	}
	assert_string_equal(ks_buf_cstr(&text), group->shown);
	ks_buf_release(&text);
}

static void
expect_records(const struct group *group, size_t turn)
{
	struct ks_ranking_entry entries[MEMBERS];
	size_t count = fill(group, entries);
	size_t seen = 0;
	struct ks_buf text = KS_BUF_INIT;
	size_t records, i;

	permute(entries, count, turn);
	records = ks_ranking_records(entries, count);
	for (i = 0; i < records; i++)
		ks_buf_append(&text, entries[i].id);
	assert_string_equal(ks_buf_cstr(&text), group->records);
	for (i = 0; i < count; i++)
		seen |= (size_t)1 << entries[i].index;
	assert_int_equal(seen, ((size_t)1 << count) - 1);
	ks_buf_release(&text);
}

#define TURNS 720

static void
groups_are_ranked_whatever_order_they_come_in(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(groups); i++)
		for (size_t turn = 0; turn < TURNS; turn++)
			expect_shown(&groups[i], turn);
}

static void
the_history_of_the_lead_is_that_of_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(groups); i++)
		for (size_t turn = 0; turn < TURNS; turn++)
			expect_records(&groups[i], turn);
}

/* The same by the words of the rule: a run joins the chain only if it ties
 * with every member. */

static bool
ties(const struct ks_ranking_entry *a, const struct ks_ranking_entry *b,
	bool strict)
{
	return a->value == b->value || (strict && a->has_interval &&
		b->has_interval && a->low <= b->high && b->low <= a->high);
}

static bool
ties_with_all(const struct ks_ranking_entry *chain, size_t count,
	const struct ks_ranking_entry *entry, bool strict)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!ties(&chain[i], entry, strict))
			return false;
	return true;
}

#define MANY 40

/* By value, and where that is equal by id: the rest is equal. */
static int
compare_plainly(const void *left, const void *right)
{
	const struct ks_ranking_entry *a = left;
	const struct ks_ranking_entry *b = right;

	if (a->value < b->value || a->value > b->value)
		return a->value < b->value ? -1 : 1;
	return a->id.data[0] - b->id.data[0];
}

static void
expect_as_the_rule_says(const struct ks_ranking_entry *given, bool strict)
{
	struct ks_ranking_entry entries[MANY];
	struct ks_ranking_entry sorted[MANY];
	size_t start = 0;
	size_t rank = 1;
	size_t i, k;

	memcpy(entries, given, sizeof(entries));
	memcpy(sorted, given, sizeof(sorted));
	ks_ranking_sort(entries, MANY);
	qsort(sorted, MANY, sizeof(sorted[0]), compare_plainly);
	for (i = 0; i < MANY; i++) {
		if (!ties_with_all(&sorted[start], i - start, &sorted[i],
			strict)) {
			start = i;
			rank++;
		}
		sorted[i].rank = rank;
	}
	for (i = 0; i < MANY; i++) {
		for (k = 0; sorted[k].index != entries[i].index; k++)
			;
		assert_int_equal(entries[i].rank, sorted[k].rank);
	}
}

static void
chains_agree_with_the_rule_taken_by_its_words(void **state)
{
	static const char ids[MANY + 1] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn";
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct ks_ranking_entry entries[MANY];

		memset(entries, 0, sizeof(entries));
		for (size_t i = 0; i < MANY; i++) {
			seed = seed * 1103515245u + 12345u;
			entries[i].value = seed >> 16 & 31;
			entries[i].has_interval = (seed >> 21 & 7) != 0;
			entries[i].low = entries[i].value -
				(seed >> 24 & 7);
			entries[i].high = entries[i].value +
				(seed >> 27 & 7);
			entries[i].id = ks_span(&ids[i], 1);
			entries[i].index = i;
			entries[i].is_source_native = round % 4 == 3;
		}
		expect_as_the_rule_says(entries, round % 4 != 3);
	}
}

/* Times. */

static const char *const ascending[] = {
	"2023-12-31T23:59:59.999999Z",
	"2024-01-01T00:00Z",
	"2024-01-01T00:00:00.0001Z",
	"2024-01-01T00:00:00.0010Z",
	"2024-01-01T00:00:00.01Z",
	"2024-01-01T00:00:00.010000000000000000000000000001Z",
	"2024-01-01T00:00:01Z",
	"2024-01-01T00:01Z",
	"2024-02-01T00:00Z",
};

static void
instants_are_compared_whatever_precision_they_have(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ascending); i++)
		for (size_t k = 0; k < COUNT(ascending); k++) {
			int order = ks_time_compare_instants(
				ks_span_text(ascending[i]),
				ks_span_text(ascending[k]));

			assert_int_equal((order > 0) - (order < 0),
				(i > k) - (i < k));
		}
	assert_int_equal(ks_time_compare_instants(
		ks_span_text("2024-01-01T00:00Z"),
		ks_span_text("2024-01-01T00:00:00.000Z")), 0);
	assert_int_equal(ks_time_compare_instants(ks_span_text("now"),
		ks_span(NULL, 0)), 0);
	assert_true(ks_time_compare_instants(ks_span_text("now"),
		ks_span_text(ascending[0])) < 0);
}

/* The seeds. */

static const char *const seed_groups[][5] = {
	{ "000/group/run-3de2d5f3d659", "000/group/run-0f5887b03bd8",
		"000/group/run-09e771f055f2", "000/run" },
	{ "003/group/run-3efaa4a362d4", "003/run" },
};

static void
the_seeds_have_the_rank_that_their_pages_show(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(seed_groups); i++) {
		struct record runs[5];
		struct ks_ranking_entry entries[5];
		size_t count = 0;

		for (; seed_groups[i][count] != NULL; count++) {
			runs[count] = record_seed(seed_groups[i][count]);
			assert_true(ks_ranking_enter(&entries[count],
				runs[count].spec));
			assert_true(entries[count].is_source_native);
			entries[count].id = ks_span_text(
				seed_groups[i][count]);
			entries[count].index = count;
		}
		permute(entries, count, 5);
		ks_ranking_sort(entries, count);
		for (size_t k = 0; k < count; k++) {
			assert_int_equal(entries[k].index, k);
			assert_int_equal(entries[k].rank, k + 1);
			assert_false(entries[k].is_tied);
		}
		for (size_t k = 0; k < count; k++)
			record_release(&runs[k]);
	}
}

static void
a_run_without_a_primary_measurement_does_not_enter(void **state)
{
	struct ks_ranking_entry entry = { .value = 7, .rank = 7 };

	(void)state;
	assert_false(ks_ranking_enter(&entry, ks_span_text("{}")));
	assert_true(entry.value == 0);
	assert_int_equal(entry.rank, 0);
	assert_true(ks_ranking_enter(&entry, ks_span_text("{\"observedAt\":"
		"\"x\",\"timing\":{\"latencyNs\":{\"confidence95\":[1,3],"
		"\"mean\":2}}}")));
	assert_true(entry.value == 2);
	assert_true(entry.has_interval && entry.low == 1 && entry.high == 3);
	assert_false(entry.is_source_native);
	assert_true(ks_span_is(entry.observed_at, "x"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_reasons_against_a_rank_are_named_in_order),
		cmocka_unit_test(groups_are_ranked_whatever_order_they_come_in),
		cmocka_unit_test(the_history_of_the_lead_is_that_of_time),
		cmocka_unit_test(chains_agree_with_the_rule_taken_by_its_words),
		cmocka_unit_test(
			instants_are_compared_whatever_precision_they_have),
		cmocka_unit_test(the_seeds_have_the_rank_that_their_pages_show),
		cmocka_unit_test(
			a_run_without_a_primary_measurement_does_not_enter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
