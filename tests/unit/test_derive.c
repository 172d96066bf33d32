/*
 * What follows from a record: measurements, keys of comparison, and the level
 * of evidence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/records.h"
#include "format/cohort.h"
#include "format/evidence.h"
#include "format/measure.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct ks_span
span(const char *text)
{
	return ks_span_text(text);
}

/* Measurements. */

/* One as text: "metric:statistic:unit=value/samples". */
static void
describe(struct ks_buf *out, const struct ks_measurement *m)
{
	ks_buf_append(out, m->metric);
	ks_buf_byte(out, ':');
	ks_buf_append(out, m->statistic);
	ks_buf_byte(out, ':');
	ks_buf_append(out, m->unit);
	ks_buf_printf(out, "=%.17g/%d", m->value, (int)m->samples);
}

#define TIMING(more, latency) "{\"timing\":{\"latencyNs\":{" latency "}," \
	"\"primaryStatistic\":" more "}}"
#define M(metric, statistic, value) "{\"metric\":\"" metric \
	"\",\"statistic\":\"" statistic "\",\"unit\":\"u\",\"value\":" value "}"

static const struct {
	const char *run;
	const char *text;	/* NULL = none */
} primaries[] = {
	{ TIMING("\"median\"", "\"mean\":2,\"median\":1"),
		"latency:median:ns=1/0" },
	{ TIMING("\"mean\"", "\"mean\":2,\"median\":1"),
		"latency:mean:ns=2/0" },
	{ TIMING("\"mean\",\"samples\":7", "\"median\":1"),
		"latency:mean:ns=1/7" },
	{ TIMING("\"median\",\"samples\":1", "\"mean\":2"),
		"latency:median:ns=2/1" },
	/* Named p95, but the median. */
	{ TIMING("\"p95\"", "\"mean\":2,\"median\":1,\"p95\":9"),
		"latency:p95:ns=1/0" },
	/* Timing hides the others, even where it says nothing. */
	{ "{\"measurements\":[" M("a", "b", "5") "],\"timing\":{\"latencyNs\":"
		"{\"mean\":2},\"primaryStatistic\":\"mean\"}}",
		"latency:mean:ns=2/0" },
	{ "{\"measurements\":[" M("a", "b", "5") "],\"timing\":{\"latencyNs\":"
		"{\"p95\":2},\"primaryStatistic\":\"mean\"}}", NULL },
	{ "{\"measurements\":[" M("a", "b", "-0.5") "," M("c", "d", "1") "]}",
		"a:b:u=-0.5/0" },
	{ "{\"measurements\":[{\"metric\":\"a\",\"sampleCount\":12,"
		"\"statistic\":\"b\",\"unit\":\"s\",\"value\":1e-7}]}",
		"a:b:s=9.9999999999999995e-08/12" },
	{ "{\"measurements\":[]}", NULL },
	{ "{}", NULL },
	/* What no table lets through. */
	{ "{\"measurements\":[{\"metric\":\"a\",\"value\":\"1\"}]}", NULL },
	{ TIMING("\"mean\"", "\"mean\":\"2\",\"median\":1"),
		"latency:mean:ns=1/0" },
	{ TIMING("\"mean\",\"samples\":-1", "\"mean\":2"),
		"latency:mean:ns=2/0" },
	{ TIMING("null", "\"mean\":2"), "latency::ns=2/0" },
};

static void
the_primary_measurement_is_of_timing_or_else_the_first(void **state)
{
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(primaries); i++) {
		struct ks_primary primary;
		bool is_there = ks_measure_primary(span(primaries[i].run),
			&primary);

		ks_buf_clear(&text);
		describe(&text, &primary.measurement);
		assert_int_equal(is_there, primaries[i].text != NULL);
		assert_string_equal(ks_buf_cstr(&text), is_there ?
			primaries[i].text : "::=0/0");
		assert_false(primary.has_interval);
	}
	ks_buf_release(&text);
}

static const struct {
	const char *interval;
	bool is_there;
	double low, high;
} intervals[] = {
	{ "[1,2.5]", true, 1, 2.5 },
	{ "[3,2]", true, 3, 2 },
	{ "[3]", false, 0, 0 },
	{ "[]", false, 0, 0 },
	{ "[\"1\",2]", false, 0, 0 },
	{ "[1,null]", false, 0, 0 },
	{ "{\"a\":1}", false, 0, 0 },
	{ "5", false, 0, 0 },
};

static void
the_interval_is_of_timing(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(intervals); i++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_primary primary;

		ks_buf_printf(&text, "{\"timing\":{\"latencyNs\":{"
			"\"confidence95\":%s,\"median\":2},"
			"\"primaryStatistic\":\"median\"}}",
			intervals[i].interval);
		assert_true(ks_measure_primary(ks_buf_span(&text), &primary));
		assert_int_equal(primary.has_interval, intervals[i].is_there);
		assert_true(primary.low == intervals[i].low);
		assert_true(primary.high == intervals[i].high);
		ks_buf_release(&text);
	}
}

static void
the_metric_key_names_the_primary_measurement(void **state)
{
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	ks_measure_key(&text, span(TIMING("\"median\"", "\"mean\":2")));
	ks_buf_byte(&text, ' ');
	ks_measure_key(&text, span("{\"measurements\":[" M("a\\\"", "b", "5")
		"]}"));
	ks_buf_byte(&text, ' ');
	ks_measure_key(&text, span("{}"));
	assert_string_equal(ks_buf_cstr(&text),
		"latency:median:ns a\\\":b:u none");
	ks_buf_release(&text);
}

static const struct {
	const char *run;
	const char *text;
} lists[] = {
	{ "{}", "" },
	{ "{\"measurements\":[" M("b", "x", "1") "," M("a", "x", "2") "]}",
		"b:x:u=1/0 a:x:u=2/0 " },
	{ "{\"measurements\":[" M("latency", "p99", "8") "],\"timing\":"
		"{\"latencyNs\":{\"confidence95\":[1,2],\"mad\":7,"
		"\"maximum\":6,\"mean\":2,\"median\":1,\"minimum\":5,"
		"\"p05\":3,\"p95\":4},\"primaryStatistic\":\"mean\","
		"\"samples\":10}}",
		"latency:median:ns=1/10 latency:mean:ns=2/10 "
		"latency:p05:ns=3/10 latency:p95:ns=4/10 latency:min:ns=5/10 "
		"latency:max:ns=6/10 latency:mad:ns=7/10 latency:p99:u=8/0 " },
	/* The first of a name stays; units do not tell names apart. */
	{ "{\"measurements\":[" M("latency", "min", "9") ","
		M("latency", "minimum", "8") "," M("a", "x", "1") ","
		M("latency", "mean", "7") "," M("a", "x", "2") ","
		M("a", "y", "3") "," M("a", "x", "4") "],"
		"\"timing\":{\"latencyNs\":{\"mean\":2,\"minimum\":1},"
		"\"primaryStatistic\":\"mean\"}}",
		"latency:mean:ns=2/0 latency:min:ns=1/0 "
		"latency:minimum:u=8/0 a:x:u=1/0 a:y:u=3/0 " },
	{ "{\"measurements\":[1,null,{\"metric\":\"a\"}," M("a", "x", "1")
		"]}", "a:x:u=1/0 " },
};

static void
all_measurements_are_listed_each_name_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_measurement *rows;
		size_t count, k;

		assert_int_equal(ks_measure_list(span(lists[i].run), &rows,
			&count, NULL), KS_OK);
		for (k = 0; k < count; k++) {
			describe(&text, &rows[k]);
			ks_buf_byte(&text, ' ');
		}
		assert_int_equal(count == 0, rows == NULL);
		assert_string_equal(ks_buf_cstr(&text), lists[i].text);
		free(rows);
		ks_buf_release(&text);
	}
}

static void
many_measurements_take_no_long_time(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_measurement *rows;
	size_t count, i;

	(void)state;
	ks_buf_text(&text, "{\"measurements\":[");
	for (i = 0; i < 40000; i++)
		ks_buf_printf(&text, "%s{\"metric\":\"m%zu\",\"statistic\":"
			"\"x\",\"unit\":\"u\",\"value\":%zu}",
			i == 0 ? "" : ",", i % 30000, i);
	ks_buf_text(&text, "]}");
	assert_int_equal(ks_measure_list(ks_buf_span(&text), &rows, &count,
		NULL), KS_OK);
	assert_int_equal(count, 30000);
	for (i = 0; i < count; i++)
		assert_true(rows[i].value == (double)i);
	free(rows);
	ks_buf_release(&text);
}

/* Keys. */

static const char *
hex(const struct ks_id *id)
{
	static char text[KS_ID_HEX + 1];

	return ks_id_print_hex(id, text);
}

static const struct {
	const char *seed;
	const char *comparison;
} seeds[] = {
	{ "000", "63b583a3afe1e4d7203af007389a12cd"
		"5122b767a995c960ee58637603b24151" },
	{ "003", "423cdd7c8762e11b94e358d6fc5766bb"
		"ebef342f80c18aff5ccde985ed1650ae" },
};

static void
the_seeds_have_the_keys_that_were_published(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(seeds); i++) {
		struct record run, workload;
		struct ks_id id;
		char name[32];

		(void)snprintf(name, sizeof(name), "%s/run", seeds[i].seed);
		run = record_seed(name);
		(void)snprintf(name, sizeof(name), "%s/workload",
			seeds[i].seed);
		workload = record_seed(name);
		assert_int_equal(ks_cohort_correctness(workload.spec, &id,
			NULL), KS_OK);
		assert_string_equal(hex(&id), "52ff5e65e6367fb49310aa21f4dcf442"
			"c03ff62a93e704b64778a2169d6bf45a");
		assert_int_equal(ks_cohort_comparison(run.spec, workload.spec,
			&id, NULL), KS_OK);
		assert_string_equal(hex(&id), seeds[i].comparison);
		record_release(&run);
		record_release(&workload);
	}
}

#define DIGEST(hex16) "\"sha256:" hex16 hex16 hex16 hex16 "\""
#define ONE DIGEST("1111111111111111")
#define TWO DIGEST("2222222222222222")
#define THREE DIGEST("3333333333333333")
#define FOUR DIGEST("4444444444444444")
#define FIVE DIGEST("5555555555555555")

#define PARTS(protocol) "{\"environmentDigest\":" FOUR protocol \
	",\"workloadDigest\":" THREE "}"
#define WORKLOAD "{\"correctness\":{\"comparator\":\"c\"}," \
	"\"operationSpecDigest\":" FIVE "}"

static void
a_run_without_a_measurement_has_a_key_as_well(void **state)
{
	struct ks_id id;

	(void)state;
	assert_int_equal(ks_cohort_comparison(span(PARTS(
		",\"protocolDigest\":" TWO)), span(WORKLOAD), &id, NULL),
		KS_OK);
	assert_string_equal(hex(&id), "d6597e0afd2d10781b53a9c222796317"
		"ee4f90b663162607518dc3331d600616");
}

static void
a_key_of_too_little_is_refused(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_id id;

	(void)state;
	assert_int_equal(ks_cohort_comparison(span(PARTS("")), span(WORKLOAD),
		&id, &err), KS_INVALID);
	assert_non_null(strstr(err.message, "protocol"));
	assert_int_equal(ks_cohort_comparison(span(PARTS(
		",\"protocolDigest\":" TWO)), span("{}"), &id, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "correctness"));
	assert_int_equal(ks_cohort_serving(span("{}"), span("{}"), span("{}"),
		&id, &err), KS_INVALID);
	assert_int_equal(ks_cohort_serving(ks_span(NULL, 0), ks_span(NULL, 0),
		ks_span(NULL, 0), &id, NULL), KS_INVALID);
}

#define SERVING(more, vendor, nodes, inter, list) "{\"harness\":{\"name\":" \
	"\"loadgen\",\"version\":\"v5.1\"},\"measurements\":[" list "]," \
	"\"modelDigest\":" ONE more ",\"qualityPolicy\":\"closed_99\"," \
	"\"topology\":{\"acceleratorModel\":\"MI300X" vendor \
	",\"acceleratorsPerNode\":8" inter ",\"nodeCount\":" nodes "}," \
	"\"workloadDigest\":" THREE "}"
#define LOAD(streaming, how) "{\"loadGeneration\":\"" how \
	"\",\"streaming\":" streaming "}"

static const struct {
	const char *run, *model, *workload;
	const char *protocol, *topology, *metrics;
	const char *key;
} servings[] = {
	/* "·" comes after all letters, so that "a" does so, too. */
	{ SERVING("", " \\\"X\\\"\",\"acceleratorVendor\":\"amd\"", "2", "",
		M("a", "mean", "1") "," M("ab", "mean", "1") ","
		M("aa", "p99", "1") "," M("a", "mean", "2")), "{}",
		LOAD("true", "open_loop"),
		"loadgen/v5.1/unspecified/streaming/open_loop",
		"amd/MI300X \\\"X\\\"/8x2/unspecified",
		"aa·p99,ab·mean,a·mean",
		"775cde2263999ce8a3f3e21d1f7d57a4"
		"17863f0e994f9af1ab33064c35ba257a" },
	{ SERVING(",\"placement\":\"spread\"", "\"", "1",
		",\"interconnect\":\"IB\"", M("a", "mean", "1")),
		"{\"tokenizer\":{\"name\":\"llama\"}}",
		LOAD("false", "offline"),
		"loadgen/v5.1/spread/non_streaming/offline",
		"unknown/MI300X/8x1/IB", "a·mean",
		"ea6d0bfab0d1819b150357202421684858f1a3369f68588dc2fef5774aee"
		"bfb4" },
};

static void
a_serving_cohort_is_model_load_place_and_what_was_measured(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(servings); i++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;
		struct record run = record_of(span(servings[i].run));
		struct ks_id id;

		ks_cohort_protocol(&text, run.manifest,
			span(servings[i].workload));
		assert_string_equal(ks_buf_cstr(&text), servings[i].protocol);
		ks_buf_clear(&text);
		ks_cohort_topology(&text, run.manifest);
		assert_string_equal(ks_buf_cstr(&text), servings[i].topology);
		ks_buf_clear(&text);
		ks_cohort_metrics(&text, run.manifest);
		assert_string_equal(ks_buf_cstr(&text), servings[i].metrics);
		if (ks_cohort_serving(run.manifest, span(servings[i].model),
			span(servings[i].workload), &id, &err) != KS_OK)
			fail_msg("%s", err.message);
		assert_string_equal(hex(&id), servings[i].key);
		ks_buf_release(&text);
		record_release(&run);
	}
}

/* Evidence. */

static const struct {
	struct ks_evidence_facts facts;
	const char *label;
} levels[] = {
	{ { 0, false, false, false }, "Reported" },
	{ { 0, false, true, false }, "Reported" },
	{ { 1, false, false, true }, "Reported" },
	{ { 1, false, true, true }, "Reproducible" },
	{ { 0, true, false, false }, "Verified" },
	{ { 1, true, true, true }, "Verified" },
	{ { 2, false, false, false }, "Replicated" },
	{ { 3, true, true, true }, "Replicated" },
};

static void
the_level_of_evidence_is_the_first_that_the_facts_allow(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(levels); i++)
		assert_string_equal(ks_evidence_label(ks_evidence_level(
			&levels[i].facts)), levels[i].label);
	assert_string_equal(ks_evidence_label(KS_EVIDENCE_NONE),
		"No evidence");
	assert_true(KS_EVIDENCE_REPLICATED > KS_EVIDENCE_VERIFIED);
}

static void
the_facts_are_where_source_and_samples_are_named(void **state)
{
	(void)state;
	assert_true(ks_evidence_has_source(span("{\"source\":{}}")));
	assert_true(ks_evidence_has_source(span(
		"{\"projectRevision\":{\"repository\":\"https://x\"}}")));
	assert_false(ks_evidence_has_source(span(
		"{\"projectRevision\":{\"commit\":\"x\"}}")));
	assert_true(ks_evidence_has_raw(span(
		"{\"timing\":{\"rawSamples\":{}}}")));
	assert_true(ks_evidence_has_raw(span(
		"{\"evidence\":{\"rawSamples\":{}}}")));
	assert_true(ks_evidence_has_raw(span("{\"evidence\":{\"logs\":{}}}")));
	assert_false(ks_evidence_has_raw(span(
		"{\"evidence\":{\"harness\":{}},\"timing\":{}}")));
}

static void
the_seeds_are_reported(void **state)
{
	struct record run = record_seed("000/run");
	struct record implementation = record_seed("000/implementation");

	(void)state;
	assert_false(ks_evidence_has_source(implementation.spec));
	assert_false(ks_evidence_has_raw(run.spec));
	record_release(&run);
	record_release(&implementation);
}

/* What no table of kinds lets through. */

static void
try_deriving(struct ks_span value)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_measurement *rows;
	struct ks_primary primary;
	struct ks_id id;
	size_t count;

	(void)ks_measure_primary(value, &primary);
	ks_measure_key(&text, value);
	assert_int_equal(ks_measure_list(value, &rows, &count, NULL), KS_OK);
	free(rows);
	assert_int_equal(ks_cohort_correctness(value, &id, NULL),
		ks_json_get(value, "correctness").len > 0 ? KS_OK :
		KS_INVALID);
	assert_int_equal(ks_cohort_comparison(value, value, &id, NULL),
		KS_INVALID);
	assert_int_equal(ks_cohort_serving(value, value, value, &id, NULL),
		KS_INVALID);
	(void)ks_evidence_has_source(value);
	(void)ks_evidence_has_raw(value);
	assert_false(text.failed);
	ks_buf_release(&text);
}

static void
odd_values_do_no_harm(void **state)
{
	static const char *const names[] = { "timing", "latencyNs", "mean",
		"confidence95", "measurements", "metric", "value", "harness",
		"topology", "tokenizer", "correctness", "evidence", "source",
		"projectRevision" };

	(void)state;
	record_try_odd(try_deriving, names, COUNT(names));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_primary_measurement_is_of_timing_or_else_the_first),
		cmocka_unit_test(the_interval_is_of_timing),
		cmocka_unit_test(the_metric_key_names_the_primary_measurement),
		cmocka_unit_test(all_measurements_are_listed_each_name_once),
		cmocka_unit_test(many_measurements_take_no_long_time),
		cmocka_unit_test(the_seeds_have_the_keys_that_were_published),
		cmocka_unit_test(a_run_without_a_measurement_has_a_key_as_well),
		cmocka_unit_test(a_key_of_too_little_is_refused),
		cmocka_unit_test(
			a_serving_cohort_is_model_load_place_and_what_was_measured),
		cmocka_unit_test(
			the_level_of_evidence_is_the_first_that_the_facts_allow),
		cmocka_unit_test(
			the_facts_are_where_source_and_samples_are_named),
		cmocka_unit_test(the_seeds_are_reported),
		cmocka_unit_test(odd_values_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
