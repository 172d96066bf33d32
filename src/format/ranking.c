#include "format/ranking.h"

#include <math.h>
#include <stdlib.h>

#include "format/json.h"
#include "format/measure.h"
#include "format/time.h"

/* Eligibility. */

static bool
is_passed(const struct ks_standing *standing)
{
	return ks_span_is(standing->status, "passed");
}

bool
ks_ranking_is_eligible(const struct ks_standing *standing)
{
	return standing->is_published && is_passed(standing) &&
		!standing->is_retracted && !standing->is_superseded &&
		standing->has_primary;
}

static void
append_reason(struct ks_buf *out, size_t start, const char *reason)
{
	if (out->len > start)
		ks_buf_text(out, ", ");
	ks_buf_text(out, reason);
}

static void
append_status(struct ks_buf *out, size_t start, struct ks_span status)
{
	size_t i;

	append_reason(out, start, "STATUS_");
	for (i = 0; i < status.len; i++) {
		uint8_t c = status.data[i];
		bool is_lower = c >= 'a' && c <= 'z';

		ks_buf_byte(out, is_lower ? (uint8_t)(c - 'a' + 'A') : c);
	}
}

void
ks_ranking_reasons(struct ks_buf *out, const struct ks_standing *standing)
{
	size_t start = out->len;

	if (!standing->is_published)
		append_reason(out, start, "UNPUBLISHED");
	if (!is_passed(standing))
		append_status(out, start, standing->status);
	if (standing->is_retracted)
		append_reason(out, start, "RETRACTED");
	if (standing->is_superseded)
		append_reason(out, start, "SUPERSEDED");
	if (!standing->has_primary)
		append_reason(out, start, "MISSING_PRIMARY_METRIC");
}

/* Ranks. */

bool
ks_ranking_enter(struct ks_ranking_entry *entry, struct ks_span run)
{
	struct ks_primary primary;

	*entry = (struct ks_ranking_entry){ .value = 0 };
	if (!ks_measure_primary(run, &primary))
		return false;
	entry->value = primary.measurement.value;
	entry->has_interval = primary.has_interval;
	entry->low = primary.low;
	entry->high = primary.high;
	entry->is_source_native = ks_json_get(run, "sourceNative").len > 0;
	entry->observed_at = ks_json_get_raw(run, "observedAt");
	return true;
}

/* Which of two runs of one rank is shown first. */
static int
compare_equals(const void *left, const void *right)
{
	const struct ks_ranking_entry *a = left;
	const struct ks_ranking_entry *b = right;
	int order;

	if (a->evidence != b->evidence)
		return a->evidence > b->evidence ? -1 : 1;
	order = ks_time_compare_instants(b->observed_at, a->observed_at);
	return order != 0 ? order : ks_span_compare(a->id, b->id);
}

/* By value; equal ones as they are shown, so that nothing depends on the
 * order in which the entries came. */
static int
compare_values(const void *left, const void *right)
{
	const struct ks_ranking_entry *a = left;
	const struct ks_ranking_entry *b = right;

	if (a->value < b->value || a->value > b->value)
		return a->value < b->value ? -1 : 1;
	return compare_equals(a, b);
}

/* What must hold for a run to tie with each of some others, which have lower
 * values than it: that its interval touches all of theirs. */
struct bound {
	bool is_closed;		/* nothing can: one of them has no interval */
	double low_max;		/* what its upper end must reach */
	double high_min;	/* what its lower end must not pass */
};

#define BOUND_INIT { .is_closed = false, .low_max = -HUGE_VAL, \
	.high_min = HUGE_VAL }

static void
tighten(struct bound *bound, const struct ks_ranking_entry *entry,
	bool by_interval)
{
	if (!by_interval || !entry->has_interval)
		bound->is_closed = true;
	bound->low_max = fmax(bound->low_max, entry->low);
	bound->high_min = fmin(bound->high_min, entry->high);
}

static bool
is_open(const struct bound *bound, const struct ks_ranking_entry *entry)
{
	return !bound->is_closed && entry->has_interval &&
		entry->high >= bound->low_max && entry->low <= bound->high_min;
}

/* The length of the chain that begins at entries[0]: as many runs as all tie
 * with each other. Equal values tie anyway, so that only the bound of those
 * below the current value counts. */
static size_t
chain_length(const struct ks_ranking_entry *entries, size_t count,
	bool by_interval)
{
	struct bound below = BOUND_INIT;
	struct bound all = BOUND_INIT;
	bool alone = true;	/* no lower value is in the chain */
	size_t i;

	for (i = 0; i < count; i++) {
		if (i > 0 && entries[i].value > entries[i - 1].value) {
			below = all;
			alone = false;
		}
		if (!alone && !is_open(&below, &entries[i]))
			return i;
		tighten(&all, &entries[i], by_interval);
	}
	return count;
}

static bool
has_source_native(const struct ks_ranking_entry *entries, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (entries[i].is_source_native)
			return true;
	return false;
}

void
ks_ranking_sort(struct ks_ranking_entry *entries, size_t count)
{
	bool by_interval = !has_source_native(entries, count);
	size_t rank = 1;
	size_t length, i;

	if (count == 0)
		return;
	qsort(entries, count, sizeof(*entries), compare_values);
	for (; count > 0; rank++) {
		length = chain_length(entries, count, by_interval);
		qsort(entries, length, sizeof(*entries), compare_equals);
		for (i = 0; i < length; i++) {
			entries[i].rank = rank;
			entries[i].is_tied = length > 1;
		}
		entries += length;
		count -= length;
	}
}

/* History. */

static int
compare_times(const void *left, const void *right)
{
	const struct ks_ranking_entry *a = left;
	const struct ks_ranking_entry *b = right;
	int order = ks_time_compare_instants(a->observed_at, b->observed_at);

	return order != 0 ? order : ks_span_compare(a->id, b->id);
}

size_t
ks_ranking_records(struct ks_ranking_entry *entries, size_t count)
{
	size_t records = 0;
	size_t i;

	if (count == 0)
		return 0;
	qsort(entries, count, sizeof(*entries), compare_times);
	for (i = 0; i < count; i++) {
		struct ks_ranking_entry entry = entries[i];

		if (records > 0 && entry.value >= entries[records - 1].value)
			continue;
		entries[i] = entries[records];
		entries[records++] = entry;
	}
	return records;
}
