/*
 * KernelIndex's catalogue against what kistore derives from its manifests: a
 * row's own columns say what must come out. It is read from the shared folder;
 * without it the tests are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/idmap.h"
#include "format/cohort.h"
#include "format/digest.h"
#include "format/evidence.h"
#include "format/frame.h"
#include "format/jcs.h"
#include "format/json.h"
#include "format/label.h"
#include "format/measure.h"
#include "format/ranking.h"
#include "format/readout.h"
#include "format/uuid.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CATALOGUE "data/catalog-2026-08-16-0022af0b.jsonl.zst"
#define NONE SIZE_MAX
#define SPARE ((size_t)1 << 23)	/* what scanning asks for beyond */

/* A row of the catalogue, canonical. */
struct row {
	uint8_t id[KS_UUID_BYTES];
	struct ks_span table;		/* its name */
	struct ks_span row;
};

static struct ks_buf text;		/* all lines, each canonical */
static struct row *rows;
static size_t row_count;
static struct ks_idmap row_of_id;

/* Of benchmark runs, ordered by comparison key. */
static const struct row **runs;
static size_t run_count;

/* ---- reading ------------------------------------------------------------ */

static bool
read_packed(struct ks_buf *packed)
{
	const char *shared = getenv("KISTORE_SHARED");
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/" CATALOGUE,
		shared == NULL ? "../shared" : shared);
	return ks_file_read(path, UINT32_MAX, packed, NULL) == KS_OK;
}

static int
inflate(struct ks_span in, struct ks_buf *out)
{
	struct ks_inflater *inflater = NULL;
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status = ks_inflater_new(&inflater, &err);

	while (status == KS_OK && in.len > 0)
		status = ks_inflater_step(inflater, &in, 1 << 20, out, &err);
	if (status == KS_OK)
		status = ks_inflater_end(inflater, &err);
	ks_inflater_free(inflater);
	if (status != KS_OK)
		print_message("%s: %s\n", CATALOGUE, err.message);
	return status != KS_OK;
}

/* Read one line. Its canonical form is no longer than the line, so that there
 * is room for it, and spans into `text` stay. */
static int
read_line(struct ks_jcs *jcs, struct ks_span line)
{
	struct row *row = &rows[row_count];
	size_t start = text.len;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_span value;

	if (ks_jcs_scan(jcs, line, &ks_jcs_row, &text, &err) != KS_OK) {
		print_message("%s\n", err.message);
		return 1;
	}
	value = ks_span(text.data + start, text.len - start);
	row->table = ks_json_get_raw(value, "table");
	row->row = ks_json_get(value, "row");
	/* Aliases have no id. */
	if (!ks_uuid_parse(ks_json_get_raw(row->row, "id"), false, row->id))
		return 0;
	row_count++;
	return ks_idmap_add(&row_of_id, rows) ? 0 : 1;
}

static int
read_lines(struct ks_span rest)
{
	struct ks_jcs *jcs = NULL;
	int failed = ks_jcs_new(&jcs, NULL) != KS_OK;

	while (failed == 0 && rest.len > 0) {
		const uint8_t *end = memchr(rest.data, '\n', rest.len);
		size_t len = end == NULL ? rest.len :
			(size_t)(end - rest.data);
		size_t used = len < rest.len ? len + 1 : len;

		failed = read_line(jcs, ks_span(rest.data, len));
		rest = ks_span(rest.data + used, rest.len - used);
	}
	ks_jcs_free(jcs);
	return failed;
}

static bool
is_in(const struct row *row, const char *table)
{
	return ks_span_is(row->table, table);
}

static struct ks_span
column(const struct row *row, const char *name)
{
	return ks_json_get(row->row, name);
}

static struct ks_span
column_text(const struct row *row, const char *name)
{
	return ks_json_get_raw(row->row, name);
}

static int
compare_runs(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;

	return ks_span_compare(column(a, "comparisonKey"),
		column(b, "comparisonKey"));
}

static int
collect_runs(void)
{
	size_t i;

	runs = calloc(row_count + 1, sizeof(*runs));
	if (runs == NULL)
		return 1;
	for (i = 0; i < row_count; i++)
		if (is_in(&rows[i], "benchmark_runs"))
			runs[run_count++] = &rows[i];
	qsort(runs, run_count, sizeof(*runs), compare_runs);
	return 0;
}

/* Room for the rows, and for the text so that it never moves. */
static int
make_room(struct ks_span lines)
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < lines.len; i++)
		count += lines.data[i] == '\n';
	rows = calloc(count + 1, sizeof(*rows));
	return rows == NULL || ks_buf_reserve(&text, lines.len + SPARE) == NULL;
}

static int
setup(void **state)
{
	struct ks_buf packed = KS_BUF_INIT;
	struct ks_buf lines = KS_BUF_INIT;
	int failed = 0;

	(void)state;
	ks_idmap_init(&row_of_id, KS_UUID_BYTES, sizeof(struct row));
	if (read_packed(&packed))
		failed = inflate(ks_buf_span(&packed), &lines) != 0 ||
			make_room(ks_buf_span(&lines)) != 0 ||
			read_lines(ks_buf_span(&lines)) != 0 ||
			collect_runs() != 0;
	ks_buf_release(&packed);
	ks_buf_release(&lines);
	return failed;
}

static int
teardown(void **state)
{
	(void)state;
	ks_idmap_release(&row_of_id);
	ks_buf_release(&text);
	free(rows);
	free(runs);
	return 0;
}

static void
need_catalogue(void)
{
	if (row_count > 0)
		return;
	print_message("no %s in the shared folder\n", CATALOGUE);
	skip();
}

/* ---- rows --------------------------------------------------------------- */

/* The index of the row that a column names by id; NONE for null. */
static size_t
index_of(struct ks_span id)
{
	uint8_t bytes[KS_UUID_BYTES];
	uint32_t index;

	if (!ks_uuid_parse(ks_json_raw(id), false, bytes))
		return NONE;
	index = ks_idmap_find(&row_of_id, rows, bytes);
	return index == KS_IDMAP_NONE ? NONE : index;
}

static const struct row *
row_of(const struct row *row, const char *name)
{
	size_t index = index_of(column(row, name));

	if (index == NONE)
		fail_msg("%s: no such row", name);
	return &rows[index];
}

/* The spec of a row's manifest; of a member of it, where there are several. */
static struct ks_span
spec_of(const struct row *row)
{
	return ks_json_get(column(row, "manifest"), "spec");
}

static struct ks_span
part_of(const struct row *run, const char *member)
{
	return ks_json_get(ks_json_get(column(run, "manifest"), member),
		"spec");
}

static bool
is_null(const struct row *row, const char *name)
{
	struct ks_span value = column(row, name);

	return value.len > 0 && ks_json_type(value) == KS_JSON_NULL;
}

static bool
says(const struct row *row, const char *name, bool expected)
{
	return ks_json_type(column(row, name)) ==
		(expected ? KS_JSON_TRUE : KS_JSON_FALSE);
}

static bool
says_number(const struct row *row, const char *name, double expected)
{
	return ks_json_type(column(row, name)) == KS_JSON_NUMBER &&
		ks_json_double(column(row, name)) == expected;
}

/* A number, or null where it is not stated. */
static bool
says_count(const struct row *row, const char *name, int64_t expected)
{
	return expected == 0 ? is_null(row, name) :
		says_number(row, name, (double)expected);
}

static bool
says_id(const struct row *row, const char *name, const struct ks_id *id)
{
	char printed[KS_ID_TEXT + 1];

	return ks_json_is(column(row, name), ks_id_print(id, printed));
}

/* What is in `out`, which is emptied, as the characters of a string. */
static bool
says_text(const struct row *row, const char *name, struct ks_buf *out)
{
	bool same = !out->failed && ks_json_type(column(row, name)) ==
		KS_JSON_STRING &&
		ks_span_equal(column_text(row, name), ks_buf_span(out));

	ks_buf_clear(out);
	return same;
}

/* A check of one row: whether all is as the row says. */
typedef bool check_fn(const struct row *row);

/* Check all rows of a table; returns how many there are. */
static size_t
check_table(const char *table, check_fn *check)
{
	size_t count = 0;
	size_t wrong = 0;
	size_t i;

	for (i = 0; i < row_count; i++) {
		if (!is_in(&rows[i], table))
			continue;
		count++;
		if (check(&rows[i]))
			continue;
		if (wrong++ < 3)
			print_message("%.*s\n", (int)rows[i].row.len,
				(const char *)rows[i].row.data);
	}
	if (wrong > 0)
		fail_msg("%s: %zu of %zu rows differ", table, wrong, count);
	return count;
}

/* Whether `check` sees that `from` in the first row of a table was replaced by
 * `to`, which is as long: a check that cannot fail is none. */
static void
expect_seen(const char *table, check_fn *check, const char *from,
	const char *to)
{
	struct ks_buf copy = KS_BUF_INIT;
	size_t len = strlen(from);
	struct row row;
	size_t i = 0;

	while (!is_in(&rows[i], table))
		i++;
	row = rows[i];
	ks_buf_append(&copy, row.row);
	for (i = 0; i + len <= copy.len; i++)
		if (memcmp(copy.data + i, from, len) == 0)
			break;
	assert_true(i + len <= copy.len && strlen(to) == len);
	row.row = ks_buf_span(&copy);
	assert_true(check(&row));
	memcpy(copy.data + i, to, len);
	assert_false(check(&row));
	ks_buf_release(&copy);
}

/* ---- measurements ------------------------------------------------------- */

static bool
primary_agrees(const struct row *row)
{
	struct ks_primary primary;
	const struct ks_measurement *m = &primary.measurement;

	if (!ks_measure_primary(part_of(row, "run"), &primary))
		return ks_json_is(column(row, "primaryMetric"), "none") &&
			is_null(row, "primaryStatistic") &&
			is_null(row, "primaryUnit") &&
			is_null(row, "primaryValue") &&
			is_null(row, "sampleCount");
	return ks_span_equal(column_text(row, "primaryMetric"), m->metric) &&
		ks_span_equal(column_text(row, "primaryStatistic"),
			m->statistic) &&
		ks_span_equal(column_text(row, "primaryUnit"), m->unit) &&
		says_number(row, "primaryValue", m->value) &&
		says_count(row, "sampleCount", m->samples) &&
		!primary.has_interval && is_null(row, "uncertaintyLow") &&
		is_null(row, "uncertaintyHigh");
}

static void
each_run_has_its_primary_measurement(void **state)
{
	size_t none = 0;
	size_t i;

	(void)state;
	need_catalogue();
	assert_int_equal(check_table("benchmark_runs", primary_agrees), 7857);
	for (i = 0; i < run_count; i++)
		none += ks_json_is(column(runs[i], "primaryMetric"), "none");
	assert_int_equal(none, 86);
	expect_seen("benchmark_runs", primary_agrees, "\"primaryValue\":0.00",
		"\"primaryValue\":0.10");
	expect_seen("benchmark_runs", primary_agrees,
		"\"statistic\":\"geomean\"", "\"statistic\":\"geomeal\"");
}

/* Rows of a table of measurements, by run. */
struct measured {
	size_t run;		/* index of the row */
	const struct row *row;
};

static int
compare_measured(const void *left, const void *right)
{
	const struct measured *a = left;
	const struct measured *b = right;

	return (a->run > b->run) - (a->run < b->run);
}

/* How many of `count` exported rows are this measurement. */
static size_t
find_measurement(const struct measured *exported, size_t count,
	const struct ks_measurement *m)
{
	size_t found = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct row *row = exported[i].row;

		found += ks_span_equal(column_text(row, "metric"),
			m->metric) && ks_span_equal(column_text(row,
			"statistic"), m->statistic) && ks_span_equal(
			column_text(row, "unit"), m->unit) && says_number(row,
			"value", m->value) && says_count(row, "sampleCount",
			m->samples);
	}
	return found;
}

/* Compare what is exported of a run with what it states; returns how many
 * rows that are. */
static size_t
compare_measurements(const struct measured *exported, size_t count)
{
	const struct row *run = &rows[exported->run];
	struct ks_measurement *list;
	size_t stated, i;

	assert_int_equal(ks_measure_list(is_in(run, "serving_runs") ?
		spec_of(run) : part_of(run, "run"), &list, &stated, NULL),
		KS_OK);
	assert_int_equal(stated, count);
	for (i = 0; i < stated; i++)
		assert_int_equal(find_measurement(exported, count, &list[i]),
			1);
	free(list);
	return stated;
}

/* The same for a whole table; returns how many rows agree. *of_runs is how
 * many runs have any. */
static size_t
check_measurements(const char *table, size_t *of_runs)
{
	struct measured *exported = calloc(row_count, sizeof(*exported));
	size_t count = 0;
	size_t agreed = 0;
	size_t i, next;

	assert_non_null(exported);
	*of_runs = 0;
	for (i = 0; i < row_count; i++) {
		if (!is_in(&rows[i], table))
			continue;
		exported[count].run = index_of(column(&rows[i], "runId"));
		exported[count].row = &rows[i];
		assert_int_not_equal(exported[count].run, NONE);
		count++;
	}
	qsort(exported, count, sizeof(*exported), compare_measured);
	for (i = 0; i < count; i = next) {
		for (next = i; next < count &&
			exported[next].run == exported[i].run; next++)
			;
		agreed += compare_measurements(&exported[i], next - i);
		++*of_runs;
	}
	free(exported);
	return agreed;
}

static void
each_exported_measurement_is_one_that_a_run_states(void **state)
{
	size_t of_runs;

	(void)state;
	need_catalogue();
	assert_int_equal(check_measurements("measurements", &of_runs), 13853);
	/* The others state none. */
	assert_int_equal(of_runs, 7857 - 86);
	assert_int_equal(check_measurements("serving_measurements", &of_runs),
		722);
	assert_int_equal(of_runs, 722);
}

/* ---- keys --------------------------------------------------------------- */

static bool
keys_agree(const struct row *row)
{
	struct ks_span run = part_of(row, "run");
	struct ks_span workload = spec_of(row_of(row, "workloadId"));
	struct ks_id correctness, comparison;

	assert_int_equal(ks_cohort_correctness(workload, &correctness, NULL),
		KS_OK);
	assert_int_equal(ks_cohort_comparison(run, workload, &comparison,
		NULL), KS_OK);
	return says_id(row, "correctnessKey", &correctness) &&
		says_id(row, "comparisonKey", &comparison);
}

static void
each_run_has_its_keys(void **state)
{
	(void)state;
	need_catalogue();
	assert_int_equal(check_table("benchmark_runs", keys_agree), 7857);
	expect_seen("benchmark_runs", keys_agree,
		"\"statistic\":\"geomean\"", "\"statistic\":\"geomeal\"");
	expect_seen("benchmark_runs", keys_agree,
		"\"correctnessKey\":\"sha256:75d", "\"correctnessKey\":\"sha256:75e");
}

static bool
cohort_agrees(const struct row *row)
{
	struct ks_span workload = spec_of(row_of(row, "workloadId"));
	struct ks_span run = spec_of(row);
	struct ks_buf out = KS_BUF_INIT;
	struct ks_id key;
	bool same;

	assert_int_equal(ks_cohort_serving(run, spec_of(row_of(row,
		"modelRevisionId")), workload, &key, NULL), KS_OK);
	same = says_id(row, "cohortKey", &key);
	ks_cohort_protocol(&out, run, workload);
	same = says_text(row, "protocolKey", &out) && same;
	ks_cohort_metrics(&out, run);
	same = says_text(row, "metricSetKey", &out) && same;
	ks_buf_release(&out);
	return same;
}

static void
each_serving_run_has_its_cohort(void **state)
{
	(void)state;
	need_catalogue();
	assert_int_equal(check_table("serving_runs", cohort_agrees), 722);
	expect_seen("serving_runs", cohort_agrees, "\"acceleratorsPerNode\":8",
		"\"acceleratorsPerNode\":7");
}

/* ---- evidence and eligibility ------------------------------------------- */

static bool
source_agrees(const struct row *row)
{
	return says(row, "sourceAvailable",
		ks_evidence_has_source(spec_of(row)));
}

static bool
facts_agree(const struct row *row)
{
	struct ks_span implementation = spec_of(row_of(row,
		"implementationId"));

	return says(row, "sourceAvailable",
		ks_evidence_has_source(implementation)) &&
		says(row, "hasRawEvidence",
			ks_evidence_has_raw(part_of(row, "run"))) &&
		says(row, "sourceNative", ks_json_get(part_of(row, "run"),
			"sourceNative").len > 0);
}

static enum ks_evidence
evidence_of(const struct row *run)
{
	struct ks_evidence_facts facts = {
		.is_rerun = says(run, "reproducedByKernelindex", true),
		.has_source = ks_evidence_has_source(spec_of(row_of(run,
			"implementationId"))),
		.has_raw = ks_evidence_has_raw(part_of(run, "run")),
	};

	assert_true(ks_json_integer(column(run,
		"independentReplicationCount"), &facts.replications));
	return ks_evidence_level(&facts);
}

static void
each_run_has_its_level_of_evidence(void **state)
{
	size_t of_level[KS_EVIDENCE_REPLICATED + 1] = { 0 };
	size_t i;

	(void)state;
	need_catalogue();
	assert_int_equal(check_table("implementations", source_agrees), 4250);
	assert_int_equal(check_table("benchmark_runs", facts_agree), 7857);
	expect_seen("benchmark_runs", facts_agree, "\"hasRawEvidence\":false",
		"\"hasRawEvidence\":true ");
	for (i = 0; i < run_count; i++)
		of_level[evidence_of(runs[i])]++;
	assert_int_equal(of_level[KS_EVIDENCE_REPORTED], 7682);
	assert_int_equal(of_level[KS_EVIDENCE_REPRODUCIBLE], 175);
}

static struct ks_standing
standing_of(const struct row *run)
{
	struct ks_primary primary;

	/* Nothing in the catalogue is superseded. */
	assert_true(is_null(run, "supersedesId"));
	return (struct ks_standing){
		.status = column_text(run, "status"),
		.is_published = !is_null(run, "publishedAt"),
		.is_retracted = !is_null(run, "retractedAt"),
		.has_primary = ks_measure_primary(part_of(run, "run"),
			&primary),
	};
}

static void
most_runs_are_eligible(void **state)
{
	static const struct {
		const char *reasons;
		size_t count;
	} wanted[] = {
		{ "", 7771 },
		{ "STATUS_RUNTIME_ERROR, MISSING_PRIMARY_METRIC", 82 },
		{ "STATUS_COMPILE_ERROR, MISSING_PRIMARY_METRIC", 4 },
	};
	size_t found[COUNT(wanted)] = { 0 };
	struct ks_buf reasons = KS_BUF_INIT;
	size_t i, k;

	(void)state;
	need_catalogue();
	for (i = 0; i < run_count; i++) {
		struct ks_standing standing = standing_of(runs[i]);

		ks_buf_clear(&reasons);
		ks_ranking_reasons(&reasons, &standing);
		assert_int_equal(ks_ranking_is_eligible(&standing),
			reasons.len == 0);
		for (k = 0; k < COUNT(wanted); k++)
			found[k] += ks_span_is(ks_buf_span(&reasons),
				wanted[k].reasons);
	}
	for (k = 0; k < COUNT(wanted); k++)
		assert_int_equal(found[k], wanted[k].count);
	ks_buf_release(&reasons);
}

/* ---- labels ------------------------------------------------------------- */

static bool
environment_agrees(const struct row *row)
{
	struct ks_buf out = KS_BUF_INIT;
	bool same;

	ks_label_environment(&out, part_of(row, "environment"),
		part_of(row, "protocol"));
	same = says_text(row, "environmentSummary", &out);
	ks_buf_release(&out);
	return same;
}

static void
each_run_has_its_line_about_the_environment(void **state)
{
	(void)state;
	need_catalogue();
	assert_int_equal(check_table("benchmark_runs", environment_agrees),
		7857);
	expect_seen("benchmark_runs", environment_agrees,
		"\"environmentSummary\":\"ref", "\"environmentSummary\":\"rev");
}

/* The label that the row's own list of dtypes asks for, by another way. */
static void
label_listed(struct ks_buf *out, struct ks_span list, bool all)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span item, raw;
	size_t count = 0;

	while (ks_json_next_element(&it, &item)) {
		raw = ks_json_raw(item);
		if (!all && (ks_span_begins(raw, "int") ||
			ks_span_begins(raw, "uint") ||
			ks_span_begins(raw, "index") ||
			ks_span_is(raw, "bool")))
			continue;
		if (++count > 3)
			continue;
		if (count > 1)
			ks_buf_byte(out, '/');
		if (ks_span_is(raw, "float4_e2m1fn_x2"))
			raw = ks_span_text("fp4");
		ks_buf_append(out, raw);
	}
	if (count > 3)
		ks_buf_printf(out, " +%zu", count - 3);
	if (count == 0 && !all)
		label_listed(out, list, true);
}

static bool
workload_agrees(const struct row *row)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_buf wanted = KS_BUF_INIT;
	size_t count;
	bool same;

	ks_label_dtypes(&out, ks_json_get(spec_of(row), "tensors"));
	label_listed(&wanted, column(row, "dtypes"), false);
	same = ks_span_equal(ks_buf_span(&out), ks_buf_span(&wanted));
	ks_buf_clear(&out);
	ks_label_workload(&out, column(row, "manifest"));
	count = ks_json_count(ks_json_get(spec_of(row), "cases"));
	if (count > 0) {
		ks_buf_clear(&wanted);
		ks_buf_printf(&wanted, "suite of %zu cases", count);
		same = same && ks_span_begins(ks_buf_span(&out),
			ks_buf_cstr(&wanted));
	} else {
		/* The end of the label is that of the dtypes. */
		same = same && out.len >= wanted.len && (wanted.len == 0 ||
			memcmp(out.data + out.len - wanted.len, wanted.data,
			wanted.len) == 0);
	}
	ks_buf_release(&out);
	ks_buf_release(&wanted);
	return same;
}

static void
each_workload_is_labelled_by_its_dtypes_or_cases(void **state)
{
	(void)state;
	need_catalogue();
	assert_int_equal(check_table("workloads", workload_agrees), 5627);
	expect_seen("workloads", workload_agrees, "\"dtypes\":[\"bf16\"",
		"\"dtypes\":[\"bf17\"");
}

/* Append what a row is called, and of a run its numbers; false for rows of
 * other tables. */
static bool
label_row(struct ks_buf *out, const struct row *row)
{
	struct ks_span manifest = column(row, "manifest");
	struct ks_span metadata = ks_json_get(manifest, "metadata");
	struct ks_primary primary;

	if (is_in(row, "workloads")) {
		ks_label_workload(out, manifest);
	} else if (is_in(row, "operations")) {
		ks_label_operation(out, metadata);
	} else if (is_in(row, "implementations")) {
		ks_label_implementation(out, metadata,
			column_text(row, "slug"), ks_json_get(column(
			row_of(row, "operationId"), "manifest"), "metadata"));
	} else if (is_in(row, "benchmark_runs")) {
		ks_label_metrics(out, ks_json_get(ks_json_get(
			part_of(row, "run"), "sourceNative"), "metrics"));
		if (ks_measure_primary(part_of(row, "run"), &primary)) {
			ks_buf_byte(out, '\t');
			ks_readout_value(out, primary.measurement.value,
				primary.measurement.unit);
		}
	} else {
		return false;
	}
	return true;
}

/* No column says what these are. The digest is of the lines that another
 * program, which shares no code with this one, made by the same rules. */
static void
all_labels_are_those_that_another_program_made(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	char printed[KS_ID_HEX + 1];
	struct ks_id id;
	size_t i;

	(void)state;
	need_catalogue();
	for (i = 0; i < row_count; i++)
		if (label_row(&out, &rows[i]))
			ks_buf_byte(&out, '\n');
	assert_int_equal(ks_buf_check(&out, NULL), KS_OK);
	ks_sha256(ks_buf_span(&out), &id);
	assert_string_equal(ks_id_print_hex(&id, printed), "3b4b58f36121fe7024d2c307f87628b5"
		"6ba6f764100697b0a80b4bf04296b9e2");
	ks_buf_release(&out);
}

/* ---- rankings ----------------------------------------------------------- */

/* Fill the entries of the group that begins at runs[from]; returns how many
 * are eligible. *next is where the next group begins. */
static size_t
enter_group(size_t from, struct ks_ranking_entry *entries, size_t *next)
{
	struct ks_span key = column(runs[from], "comparisonKey");
	size_t count = 0;
	size_t i;

	for (i = from; i < run_count && ks_span_equal(key,
		column(runs[i], "comparisonKey")); i++) {
		struct ks_standing standing = standing_of(runs[i]);

		if (!ks_ranking_is_eligible(&standing))
			continue;
		assert_true(ks_ranking_enter(&entries[count],
			part_of(runs[i], "run")));
		entries[count].evidence = evidence_of(runs[i]);
		entries[count].id = column_text(runs[i], "id");
		entries[count].index = (size_t)(runs[i] - rows);
		count++;
	}
	*next = i;
	return count;
}

static struct ks_ranking_entry *
new_entries(void)
{
	struct ks_ranking_entry *entries = calloc(run_count,
		sizeof(*entries));

	assert_non_null(entries);
	return entries;
}

/* What is known of the groups of the catalogue. */
struct tally {
	size_t keys, groups, alone, largest, repeated;
	size_t chains, tied, tied_heads, by_id;
};

static bool
repeats_implementation(const struct ks_ranking_entry *entries, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < i; k++)
			if (ks_span_equal(column(&rows[entries[i].index],
				"implementationId"), column(
				&rows[entries[k].index], "implementationId")))
				return true;
	return false;
}

/* All are from elsewhere and without intervals: the rank is how many lower
 * values there are, plus one. */
static void
check_rank(const struct ks_ranking_entry *entries, size_t count, size_t i)
{
	size_t equal = 0;
	size_t lower = 0;
	double last = -1;
	size_t k;

	assert_true(entries[i].is_source_native && !entries[i].has_interval);
	for (k = 0; k < count; k++) {
		assert_true(k == 0 || entries[k].value >= last);
		if (entries[k].value < entries[i].value)
			lower += entries[k].value > last;
		else if (entries[k].value == entries[i].value)
			equal++;
		last = entries[k].value;
	}
	assert_int_equal(entries[i].rank, lower + 1);
	assert_int_equal(entries[i].is_tied, equal > 1);
}

static void
tally_group(struct tally *tally, const struct ks_ranking_entry *entries,
	size_t count)
{
	size_t i;

	tally->groups++;
	tally->alone += count == 1;
	if (count > tally->largest)
		tally->largest = count;
	tally->repeated += repeats_implementation(entries, count);
	tally->tied_heads += entries[0].is_tied;
	for (i = 0; i < count; i++) {
		bool same = i > 0 && entries[i].rank == entries[i - 1].rank;

		check_rank(entries, count, i);
		tally->tied += entries[i].is_tied;
		tally->chains += entries[i].is_tied && !same;
		tally->by_id += same && entries[i].evidence ==
			entries[i - 1].evidence && ks_span_equal(
			entries[i].observed_at, entries[i - 1].observed_at);
	}
}

static void
each_group_is_ranked(void **state)
{
	struct ks_ranking_entry *entries;
	struct tally tally = { .groups = 0 };
	size_t i, next, count;

	(void)state;
	need_catalogue();
	entries = new_entries();
	for (i = 0; i < run_count; i = next) {
		count = enter_group(i, entries, &next);
		tally.keys++;
		if (count == 0)
			continue;
		ks_ranking_sort(entries, count);
		tally_group(&tally, entries, count);
	}
	assert_int_equal(tally.keys, 1912);
	assert_int_equal(tally.groups, 1828);
	assert_int_equal(tally.alone, 1219);
	assert_int_equal(tally.largest, 260);
	assert_int_equal(tally.repeated, 294);
	assert_int_equal(tally.chains, 21);
	assert_int_equal(tally.tied, 46);
	assert_int_equal(tally.tied_heads, 10);
	assert_int_equal(tally.by_id, 0);
	free(entries);
}

/* That a run took the lead: from which one, by the index of its row. */
struct lead {
	bool taken;
	bool exported;
	size_t from;		/* NONE = it was the first */
};

static struct lead *
derive_leads(size_t *count)
{
	struct lead *leads = calloc(row_count, sizeof(*leads));
	struct ks_ranking_entry *entries = new_entries();
	size_t i, k, next, records;

	assert_non_null(leads);
	*count = 0;
	for (i = 0; i < run_count; i = next) {
		records = ks_ranking_records(entries,
			enter_group(i, entries, &next));
		for (k = 0; k < records; k++)
			leads[entries[k].index] = (struct lead){
				.taken = true,
				.from = k == 0 ? NONE : entries[k - 1].index,
			};
		*count += records;
	}
	free(entries);
	return leads;
}

static void
check_event(const struct row *event, struct lead *leads)
{
	const struct row *run = row_of(event, "runId");
	struct lead *lead = &leads[run - rows];

	assert_true(lead->taken && !lead->exported);
	lead->exported = true;
	assert_int_equal(index_of(column(event, "previousRunId")),
		lead->from);
	assert_true(ks_span_equal(column(event, "comparisonKey"),
		column(run, "comparisonKey")));
	assert_true(ks_span_equal(column(event, "at"),
		column(run, "observedAt")));
	assert_true(ks_json_is(column(event, "policyVersion"),
		KS_RANKING_POLICY));
	assert_true(ks_json_is(column(event, "cause"), "new_run"));
}

static void
each_exported_event_is_a_run_that_took_the_lead(void **state)
{
	struct lead *leads;
	size_t derived, i;
	size_t exported = 0;

	(void)state;
	need_catalogue();
	leads = derive_leads(&derived);
	for (i = 0; i < row_count; i++) {
		if (!is_in(&rows[i], "record_events"))
			continue;
		check_event(&rows[i], leads);
		exported++;
	}
	assert_int_equal(exported, 2948);
	assert_int_equal(derived, exported);
	free(leads);
}

/* ---- readouts ----------------------------------------------------------- */

/* A latency from 1000 ns on as printf writes it, and whether it is an exact
 * tie, which printf rounds to the even digit. */
static bool
print_latency(double ns, char out[64])
{
	static const char *const units[] = { "µs", "ms", "s" };
	size_t unit = ns < 1e6 ? 0 : ns < 1e9 ? 1 : 2;
	double q = ns / (unit == 0 ? 1e3 : unit == 1 ? 1e6 : 1e9);
	int decimals = q < 10 ? 2 : 1;

	(void)snprintf(out, 64, "%.*f %s", decimals, q, units[unit]);
	return fmod(q * (decimals == 2 ? 8 : 4), 2) == 1;
}

static void
each_primary_value_has_a_readout_and_eleven_are_ties(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	size_t ties = 0;
	size_t i;

	(void)state;
	need_catalogue();
	for (i = 0; i < run_count; i++) {
		struct ks_primary primary;
		char plain[64];
		double ns;

		if (!ks_measure_primary(part_of(runs[i], "run"), &primary))
			continue;
		ks_buf_clear(&out);
		ks_readout_value(&out, primary.measurement.value,
			primary.measurement.unit);
		ns = primary.measurement.value * (ks_span_is(
			primary.measurement.unit, "s") ? 1e9 : 1);
		if (ns < 1000)
			(void)snprintf(plain, sizeof(plain), "%.0f ns", ns);
		else if (print_latency(ns, plain))
			ties++;
		else
			assert_string_equal(ks_buf_cstr(&out), plain);
	}
	assert_int_equal(ties, 11);
	ks_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_run_has_its_primary_measurement),
		cmocka_unit_test(
			each_exported_measurement_is_one_that_a_run_states),
		cmocka_unit_test(each_run_has_its_keys),
		cmocka_unit_test(each_serving_run_has_its_cohort),
		cmocka_unit_test(each_run_has_its_level_of_evidence),
		cmocka_unit_test(most_runs_are_eligible),
		cmocka_unit_test(each_run_has_its_line_about_the_environment),
		cmocka_unit_test(
			each_workload_is_labelled_by_its_dtypes_or_cases),
		cmocka_unit_test(all_labels_are_those_that_another_program_made),
		cmocka_unit_test(each_group_is_ranked),
		cmocka_unit_test(
			each_exported_event_is_a_run_that_took_the_lead),
		cmocka_unit_test(
			each_primary_value_has_a_readout_and_eleven_are_ties),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
