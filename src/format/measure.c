#include "format/measure.h"

#include <stdlib.h>

#include "format/json.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A member that is a number. */
static bool
find_number(struct ks_span object, const char *name, double *value)
{
	struct ks_span number = ks_json_get(object, name);

	*value = ks_json_double(number);
	return ks_json_type(number) == KS_JSON_NUMBER;
}

/* How many samples there were, or 0. */
static int64_t
find_samples(struct ks_span object, const char *name)
{
	int64_t samples;

	if (!ks_json_integer(ks_json_get(object, name), &samples))
		return 0;
	return samples > 0 ? samples : 0;
}

/* An item of `measurements`. */
static bool
read_item(struct ks_span item, struct ks_measurement *out)
{
	out->metric = ks_json_get_raw(item, "metric");
	out->statistic = ks_json_get_raw(item, "statistic");
	out->unit = ks_json_get_raw(item, "unit");
	out->samples = find_samples(item, "sampleCount");
	return find_number(item, "value", &out->value);
}

/* A statistic of `timing`. */
static bool
read_latency(struct ks_span timing, const char *member,
	struct ks_measurement *out)
{
	out->metric = ks_span_text("latency");
	out->unit = ks_span_text("ns");
	out->samples = find_samples(timing, "samples");
	return find_number(ks_json_get(timing, "latencyNs"), member,
		&out->value);
}

static void
read_interval(struct ks_span timing, struct ks_primary *out)
{
	struct ks_json_iter it = ks_json_iter(ks_json_get(
		ks_json_get(timing, "latencyNs"), "confidence95"));
	struct ks_span low, high;

	if (!ks_json_next_element(&it, &low) ||
		!ks_json_next_element(&it, &high) ||
		ks_json_type(low) != KS_JSON_NUMBER ||
		ks_json_type(high) != KS_JSON_NUMBER)
		return;
	out->has_interval = true;
	out->low = ks_json_double(low);
	out->high = ks_json_double(high);
}

static bool
read_timing(struct ks_span timing, struct ks_primary *out)
{
	struct ks_measurement *m = &out->measurement;
	bool mean;

	m->statistic = ks_json_get_raw(timing, "primaryStatistic");
	read_interval(timing, out);
	mean = ks_span_is(m->statistic, "mean");
	return read_latency(timing, mean ? "mean" : "median", m) ||
		read_latency(timing, mean ? "median" : "mean", m);
}

bool
ks_measure_primary(struct ks_span run, struct ks_primary *out)
{
	struct ks_primary found = { .has_interval = false };
	struct ks_json_iter it = ks_json_iter(ks_json_get(run,
		"measurements"));
	struct ks_span timing = ks_json_get(run, "timing");
	struct ks_span item;
	bool is_there;

	if (ks_json_type(timing) == KS_JSON_OBJECT)
		is_there = read_timing(timing, &found);
	else
		is_there = ks_json_next_element(&it, &item) &&
			read_item(item, &found.measurement);
	*out = is_there ? found : (struct ks_primary){ .has_interval = false };
	return is_there;
}

void
ks_measure_key(struct ks_buf *out, struct ks_span run)
{
	struct ks_primary primary;

	if (!ks_measure_primary(run, &primary)) {
		ks_buf_text(out, "none");
		return;
	}
	ks_buf_append(out, primary.measurement.metric);
	ks_buf_byte(out, ':');
	ks_buf_append(out, primary.measurement.statistic);
	ks_buf_byte(out, ':');
	ks_buf_append(out, primary.measurement.unit);
}

/* The statistics of latencyNs, in the order in which they are shown. */
static const struct {
	const char *member;
	const char *statistic;
} statistics[] = {
	{ "median", "median" },
	{ "mean", "mean" },
	{ "p05", "p05" },
	{ "p95", "p95" },
	{ "minimum", "min" },
	{ "maximum", "max" },
	{ "mad", "mad" },
};

/* Fill `rows`, which has room for all; returns how many there are, repeated
 * ones among them. */
static size_t
collect(struct ks_span run, struct ks_measurement *rows)
{
	struct ks_json_iter it = ks_json_iter(ks_json_get(run,
		"measurements"));
	struct ks_span timing = ks_json_get(run, "timing");
	struct ks_span item;
	size_t count = 0;
	size_t i;

	for (i = 0; i < COUNT(statistics); i++) {
		rows[count].statistic = ks_span_text(statistics[i].statistic);
		if (read_latency(timing, statistics[i].member, &rows[count]))
			count++;
	}
	while (ks_json_next_element(&it, &item))
		if (read_item(item, &rows[count]))
			count++;
	return count;
}

/* By metric and statistic, and equal ones in the order they came in: they are
 * elements of one array. */
static int
compare_names(const void *left, const void *right)
{
	const struct ks_measurement *a =
		*(const struct ks_measurement *const *)left;
	const struct ks_measurement *b =
		*(const struct ks_measurement *const *)right;
	int order = ks_span_compare(a->metric, b->metric);

	if (order == 0)
		order = ks_span_compare(a->statistic, b->statistic);
	return order != 0 ? order : (a > b) - (a < b);
}

static bool
same_names(const struct ks_measurement *a, const struct ks_measurement *b)
{
	return ks_span_equal(a->metric, b->metric) &&
		ks_span_equal(a->statistic, b->statistic);
}

/* Take out repeated names with the help of `order`, which has room for a
 * pointer per row; returns how many are left. One that goes is marked by a
 * negative count of samples, which no row has. */
static size_t
drop_repeated(struct ks_measurement *rows, struct ks_measurement **order,
	size_t count)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < count; i++)
		order[i] = &rows[i];
	qsort(order, count, sizeof(*order), compare_names);
	for (i = 1; i < count; i++)
		if (same_names(order[i - 1], order[i]))
			order[i]->samples = -1;
	for (i = 0; i < count; i++)
		if (rows[i].samples >= 0)
			rows[kept++] = rows[i];
	return kept;
}

enum ks_status
ks_measure_list(struct ks_span run, struct ks_measurement **rows,
	size_t *count, struct ks_error *err)
{
	size_t room = COUNT(statistics) + 1 +
		ks_json_count(ks_json_get(run, "measurements"));
	struct ks_measurement *list = calloc(room, sizeof(*list));
	struct ks_measurement **order = calloc(room, sizeof(*order));

	*rows = NULL;
	*count = 0;
	if (list == NULL || order == NULL) {
		free(list);
		free(order);
		return ks_fail_nomem(err);
	}
	*count = drop_repeated(list, order, collect(run, list));
	free(order);
	if (*count == 0)
		free(list);
	else
		*rows = list;
	return KS_OK;
}
