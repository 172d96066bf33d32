#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base64.h"
#include "format/digest.h"
#include "format/jcs.h"
#include "format/json.h"
#include "format/kind_table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ROWS(array, row) \
	for (row = array; row < array + COUNT(array); row++)

/* A digest all of whose digits are `c`. */
#define EIGHT(c) c c c c c c c c
#define DIGEST(c) "sha256:" EIGHT(c) EIGHT(c) EIGHT(c) EIGHT(c) EIGHT(c) \
	EIGHT(c) EIGHT(c) EIGHT(c)

/*
 * JSON in the tables below is written with ' for ", and not canonical.
 */
static void
canonical_from(struct ks_span text, struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_jcs *jcs;

	assert_int_equal(ks_jcs_new(&jcs, &err), KS_OK);
	if (ks_jcs_scan(jcs, text, &ks_jcs_manifest, out, &err) != KS_OK)
		fail_msg("%s", err.message);
	ks_jcs_free(jcs);
}

static void
canonical(const char *quoted, struct ks_buf *out)
{
	struct ks_buf text = KS_BUF_INIT;
	size_t i;

	ks_buf_text(&text, quoted);
	for (i = 0; i < text.len; i++) {
		if (text.data[i] == '\'')
			text.data[i] = '"';
	}
	canonical_from(ks_buf_span(&text), out);
	ks_buf_release(&text);
}

/* One finding a line: "E path: message", U for unknown, N for a note. */
static bool
collect(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	static const char letters[] = "EUNM";

	ks_buf_printf(arg, "%c %s: %s\n", letters[level], path, message);
	return true;
}

static const struct ks_kind *
kind_named(const char *name)
{
	const struct ks_kind *kind = ks_kind_find(
		ks_span_text(KS_API_KERNELINDEX), ks_span_text(name));

	if (kind == NULL)
		kind = ks_kind_find(ks_span_text(KS_API_KISTORE),
			ks_span_text(name));
	assert_non_null(kind);
	return kind;
}

/* Check a spec; the findings must be `expected`, to the byte. */
static void
assert_findings(const char *name, const char *spec, const char *expected)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf found = KS_BUF_INIT;
	bool ok;

	canonical(spec, &text);
	if (strcmp(name, "metadata") == 0)
		ok = ks_kind_check_metadata(ks_buf_span(&text), collect,
			&found);
	else
		ok = ks_kind_check_spec(kind_named(name), ks_buf_span(&text),
			collect, &found);
	if (strcmp(ks_buf_cstr(&found), expected) != 0)
		fail_msg("%s %s\nfound:\n%swanted:\n%s", name, spec,
			ks_buf_cstr(&found), expected);
	assert_int_equal(ok, strstr(expected, "E ") == NULL);
	ks_buf_release(&text);
	ks_buf_release(&found);
}

/*
 * The tables themselves.
 */
static void
assert_type_is_sound(const struct ks_type *type)
{
	size_t i;

	if (type->shape == KS_SHAPE_WORD)
		assert_non_null(type->words[0]);
	if (type->fits != NULL)
		assert_non_null(type->says);
	if (type->shape == KS_SHAPE_LIST || type->shape == KS_SHAPE_SET ||
		type->shape == KS_SHAPE_MAP) {
		assert_non_null(type->of);
		assert_type_is_sound(type->of);
	}
	if (type->shape == KS_SHAPE_MAP)
		assert_int_equal(type->key->shape, KS_SHAPE_TEXT);
	if (type->shape == KS_SHAPE_SET)
		assert_int_equal(type->of->shape, KS_SHAPE_TEXT);
	if (type->shape != KS_SHAPE_OBJECT)
		return;
	for (i = 0; i < (size_t)type->max; i++) {
		const struct ks_field *field = &type->fields[i];

		assert_int_equal(field->name_len, strlen(field->name));
		if (i > 0 && ks_json_name_compare(
			ks_span_text(field[-1].name),
			ks_span_text(field->name)) >= 0)
			fail_msg("%s stands before %s", field[-1].name,
				field->name);
		assert_type_is_sound(field->type);
	}
}

static void
every_table_stands_in_canonical_order(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ks_kind_count(); i++)
		assert_type_is_sound(ks_kind_at(i)->spec);
	assert_type_is_sound(&ks_type_metadata);
}

static void
kinds_are_found_by_their_exact_names(void **state)
{
	static const char *const names[] = {
		"kernelindex.dev/v1alpha1/OperationSpec",
		"kernelindex.dev/v1alpha1/WorkloadCase",
		"kernelindex.dev/v1alpha1/WorkloadSuite",
		"kernelindex.dev/v1alpha1/SoftwareProject",
		"kernelindex.dev/v1alpha1/ImplementationRevision",
		"kernelindex.dev/v1alpha1/BenchmarkProtocol",
		"kernelindex.dev/v1alpha1/ExecutionEnvironment",
		"kernelindex.dev/v1alpha1/BenchmarkRun",
		"kernelindex.dev/v1alpha1/ModelRevision",
		"kernelindex.dev/v1alpha1/ServingStackRevision",
		"kernelindex.dev/v1alpha1/ServingConfiguration",
		"kernelindex.dev/v1alpha1/ServingWorkload",
		"kernelindex.dev/v1alpha1/ServingRun",
		"kistore/v1/Source",
		"kistore/v1/Artifact",
		"kistore/v1/Attestation",
	};
	size_t i;

	(void)state;
	assert_int_equal(ks_kind_count(), COUNT(names));
	for (i = 0; i < COUNT(names); i++) {
		const struct ks_kind *kind = ks_kind_find_full(
			ks_span_text(names[i]));

		assert_ptr_equal(kind, ks_kind_at(i));
		assert_int_equal(ks_kind_index(kind), i);
		assert_string_equal(ks_kind_full_name(kind), names[i]);
		assert_string_equal(ks_kind_name(kind),
			strrchr(names[i], '/') + 1);
	}
	assert_null(ks_kind_at(COUNT(names)));
}

static void
other_names_are_no_kind(void **state)
{
	static const char *const names[] = {
		"", "/", "BenchmarkRun", "/BenchmarkRun",
		"kernelindex.dev/v1alpha1", "kernelindex.dev/v1alpha1/",
		"kernelindex.dev/v1alpha1/benchmarkrun",
		"kernelindex.dev/v1alpha1/BenchmarkRun ",
		"kernelindex.dev/v1alpha1/BenchmarkRun/",
		"kernelindex.dev/v1alpha2/BenchmarkRun",
		"kernelindex.dev/v1alpha1/Source",
		"kistore/v1/BenchmarkRun", "kistore/v2/Source", "raw",
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++)
		assert_null(ks_kind_find_full(ks_span_text(names[i])));
}

static void
only_some_kinds_have_source_project_or_rows_that_change(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ks_kind_count(); i++) {
		const struct ks_kind *kind = ks_kind_at(i);
		const char *name = ks_kind_name(kind);

		assert_int_equal(ks_kind_has_source(kind),
			strcmp(name, "BenchmarkRun") == 0 ||
			strcmp(name, "ServingRun") == 0);
		assert_int_equal(ks_kind_has_project(kind),
			strcmp(name, "ImplementationRevision") == 0 ||
			strcmp(name, "ServingStackRevision") == 0);
		assert_int_equal(ks_kind_is_mutable_row(kind),
			strcmp(name, "Source") == 0 ||
			strcmp(name, "Artifact") == 0);
		assert_int_equal(ks_kind_metadata_optional(kind), i >= 13);
	}
}

/*
 * Shapes of strings.
 */
struct shape_case {
	bool (*shape)(struct ks_span raw);
	const char *raw;
	bool fits;
};

static const struct shape_case shapes[] = {
	{ ks_shape_token, "a", true },
	{ ks_shape_token, "sm_100", true },
	{ ks_shape_token, "fp8_e4m3fnuz", true },
	{ ks_shape_token, "", false },
	{ ks_shape_token, "A", false },
	{ ks_shape_token, "1a", false },
	{ ks_shape_token, "_a", false },
	{ ks_shape_token, "a-b", false },
	{ ks_shape_token, "a/b", false },
	{ ks_shape_token, "a b", false },
	{ ks_shape_token, "a\\n", false },
	{ ks_shape_token, "\xc3\xa4", false },
	{ ks_shape_slug, "1-a", true },
	{ ks_shape_slug, "-a", false },
	{ ks_shape_slug, "a_b", false },
	{ ks_shape_slug, "a.b", false },
	{ ks_shape_slug, "", false },
	{ ks_shape_name, "0.a_b-c", true },
	{ ks_shape_name, ".a", false },
	{ ks_shape_name, "-a", false },
	{ ks_shape_name, "_a", false },
	{ ks_shape_name, "", false },
	{ ks_shape_name, "aB", false },
	{ ks_shape_name, "a/b", false },
	{ ks_shape_digest, DIGEST("a"), true },
	{ ks_shape_digest, DIGEST("A"), false },
	{ ks_shape_digest, DIGEST("g"), false },
	{ ks_shape_digest, DIGEST("1") "1", false },
	{ ks_shape_digest, "md5:abc123", false },
	{ ks_shape_digest, "", false },
	{ ks_shape_commit, "b81d40e0b81d40e0b81d40e0b81d40e0b81d40e0", true },
	{ ks_shape_commit, "B81d40e0b81d40e0b81d40e0b81d40e0b81d40e0", false },
	{ ks_shape_commit, "b81d40e0b81d40e0b81d40e0b81d40e0b81d40e", false },
	{ ks_shape_expression, "(a_1 + 2) // b % 3", true },
	{ ks_shape_expression, "", false },
	{ ks_shape_expression, "a^2", false },
	{ ks_shape_expression, "A", false },
	{ ks_shape_instant, "2026-08-01T12:00:00Z", true },
	{ ks_shape_instant, "2026-08-01T12:00Z", true },
	{ ks_shape_instant, "2026-08-01T12:00:00.0Z", true },
	{ ks_shape_instant, "2026-08-01T23:59:59.123456789012Z", true },
	{ ks_shape_instant, "2024-02-29T00:00Z", true },
	{ ks_shape_instant, "2000-02-29T00:00Z", true },
	{ ks_shape_instant, "0000-02-29T00:00Z", true },
	{ ks_shape_instant, "2023-02-29T00:00Z", false },
	{ ks_shape_instant, "1900-02-29T00:00Z", false },
	{ ks_shape_instant, "2024-02-30T00:00Z", false },
	{ ks_shape_instant, "2024-04-31T00:00Z", false },
	{ ks_shape_instant, "2024-13-01T00:00Z", false },
	{ ks_shape_instant, "2024-00-01T00:00Z", false },
	{ ks_shape_instant, "2024-01-00T00:00Z", false },
	{ ks_shape_instant, "2024-01-32T00:00Z", false },
	{ ks_shape_instant, "2024-01-01T24:00Z", false },
	{ ks_shape_instant, "2024-01-01T23:60Z", false },
	{ ks_shape_instant, "2024-01-01T23:59:60Z", false },
	{ ks_shape_instant, "2024-01-01T12:00:00+00:00", false },
	{ ks_shape_instant, "2024-01-01t12:00:00Z", false },
	{ ks_shape_instant, "2024-01-01T12:00:00z", false },
	{ ks_shape_instant, "2024-01-01 12:00:00Z", false },
	{ ks_shape_instant, "2024-01-01T12:00:00", false },
	{ ks_shape_instant, "2024-01-01T12:00:00.Z", false },
	{ ks_shape_instant, "2024-01-01T12:00:00,5Z", false },
	{ ks_shape_instant, "2024-01-01T12:00.5Z", false },
	{ ks_shape_instant, "2024-01-01T12Z", false },
	{ ks_shape_instant, "2024-01-01T12:00:Z", false },
	{ ks_shape_instant, "2024-01-01T12:00:00ZZ", false },
	{ ks_shape_instant, "2024-01-01", false },
	{ ks_shape_instant, "24-01-01T12:00Z", false },
	{ ks_shape_instant, "+002024-01-01T12:00Z", false },
	{ ks_shape_instant, "", false },
	{ ks_shape_base64, "Zm9v", true },
	{ ks_shape_base64, "Zm9=", false },
	{ ks_shape_https_url, "https://example.org/a b?c#d", true },
	{ ks_shape_https_url, "https://example.org", true },
	{ ks_shape_https_url, "HTTPS://X", true },
	{ ks_shape_https_url, "https:x", true },
	{ ks_shape_https_url, "https:/x", true },
	{ ks_shape_https_url, "https:\\\\\\\\x", true },
	{ ks_shape_https_url, " \\u0001\\t https://x", true },
	{ ks_shape_https_url, "https://x \\n", true },
	{ ks_shape_https_url, "ht\\ntps://x", true },
	{ ks_shape_https_url, "https://user:pass word@x:443/", true },
	{ ks_shape_https_url, "https://x:/", true },
	{ ks_shape_https_url, "https://x:65535", true },
	{ ks_shape_https_url, "https://[::1]:80/", true },
	{ ks_shape_https_url, "https://b\xc3\xbc" "cher.example/", true },
	{ ks_shape_https_url, "https://x?", true },
	{ ks_shape_https_url, "", false },
	{ ks_shape_https_url, "https", false },
	{ ks_shape_https_url, "https:", false },
	{ ks_shape_https_url, "https://", false },
	{ ks_shape_https_url, "https:// ", false },
	{ ks_shape_https_url, "https:///?x", false },
	{ ks_shape_https_url, "https://@/", false },
	{ ks_shape_https_url, "https://u@", false },
	{ ks_shape_https_url, "https://:443/", false },
	{ ks_shape_https_url, "http://x", false },
	{ ks_shape_https_url, "httpsx://x", false },
	{ ks_shape_https_url, "//x", false },
	{ ks_shape_https_url, "x", false },
	{ ks_shape_https_url, "ftp://https://x", false },
	{ ks_shape_https_url, "https://a b/", false },
	{ ks_shape_https_url, "https://a\\u0001b/", false },
	{ ks_shape_https_url, "https://a<b/", false },
	{ ks_shape_https_url, "https://a|b/", false },
	{ ks_shape_https_url, "https://a[b]/", false },
	{ ks_shape_https_url, "https://[::1/", false },
	{ ks_shape_https_url, "https://a]/", false },
	{ ks_shape_https_url, "https://x:65536/", false },
	{ ks_shape_https_url, "https://x:99999999999999999999/", false },
	{ ks_shape_https_url, "https://x:8o/", false },
	{ ks_shape_https_url, "https://x:1:2/", false },
};

static void
strings_have_their_shapes(void **state)
{
	const struct shape_case *row;

	(void)state;
	ROWS(shapes, row) {
		if (row->shape(ks_span_text(row->raw)) != row->fits)
			fail_msg("row %zu: \"%s\" %s", (size_t)(row - shapes),
				row->raw, row->fits ? "was refused" :
				"was accepted");
	}
}

static void
lengths_end_at_their_limits(void **state)
{
	char text[2001];

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_true(ks_shape_slug(ks_span(text, 100)));
	assert_false(ks_shape_slug(ks_span(text, 101)));
	assert_true(ks_shape_name(ks_span(text, 200)));
	assert_false(ks_shape_name(ks_span(text, 201)));
	assert_true(ks_shape_expression(ks_span(text, 200)));
	assert_false(ks_shape_expression(ks_span(text, 201)));
	assert_true(ks_shape_token(ks_span(text, sizeof(text))));
	memcpy(text, "https://", 8);
	assert_true(ks_shape_https_url(ks_span(text, 2000)));
	assert_false(ks_shape_https_url(ks_span(text, 2001)));
}

static void
lengths_count_utf16_code_units(void **state)
{
	(void)state;
	/* An escape is one, U+00E4 is one, U+1F600 is two. */
	assert_true(ks_shape_is_within(ks_span_text("\\u0001"), 1));
	assert_true(ks_shape_is_within(ks_span_text("\xc3\xa4"), 1));
	assert_true(ks_shape_is_within(ks_span_text("\xf0\x9f\x98\x80"), 2));
	assert_false(ks_shape_is_within(ks_span_text("\xf0\x9f\x98\x80"), 1));
	assert_false(ks_shape_is_within(ks_span_text("a"), 0));
	assert_true(ks_shape_is_within(ks_span_text(""), 0));
}

struct duration_case {
	const char *raw;
	int64_t nanoseconds;	/* -1: refused */
};

static const struct duration_case durations[] = {
	{ "0ns", 0 },
	{ "8120 ns", 8120 },
	{ "0.008 ms", 8000 },
	{ "1.001 us", 1001 },	/* binary arithmetic gives 1000.999… */
	{ "99.999us", 99999 },
	{ "8.5 \xc2\xb5s", 8500 },
	{ "2s", 2000000000 },
	{ "0.000000001 s", 1 },
	{ "1.50000000000000000000 us", 1500 },
	{ "00012.0 ns", 12 },
	{ "1\\tms", 1000000 },
	{ "1\xc2\xa0ms", 1000000 },
	{ "9007199254740991 ns", 9007199254740991 },
	{ "9007199.254740991 s", 9007199254740991 },
	{ "9007199254740992 ns", -1 },
	{ "9007199.254740992 s", -1 },
	{ "99999999999999999999999999 s", -1 },
	{ "0.0000005 ms", -1 },
	{ "0.5 ns", -1 },
	{ "1.0000000000000000000001 s", -1 },
	{ "1", -1 },
	{ "ms", -1 },
	{ "", -1 },
	{ "1  ms", -1 },
	{ " 1 ms", -1 },
	{ "1 ms ", -1 },
	{ "-1 ms", -1 },
	{ "+1 ms", -1 },
	{ "1. ms", -1 },
	{ ".5 ms", -1 },
	{ "1.5.5 ms", -1 },
	{ "1e3 ns", -1 },
	{ "1,5 us", -1 },
	{ "1 MS", -1 },
	{ "1 min", -1 },
	{ "1 \xce\xbcs", -1 },	/* U+03BC, not U+00B5 */
	{ "1 m", -1 },
};

static void
durations_are_exact_or_refused(void **state)
{
	const struct duration_case *row;

	(void)state;
	ROWS(durations, row) {
		int64_t found = -1;

		if (!ks_shape_duration(ks_span_text(row->raw), &found))
			found = -1;
		if (found != row->nanoseconds)
			fail_msg("\"%s\" gave %lld", row->raw,
				(long long)found);
	}
}

static const struct latency_case {
	const char *raw;
	double nanoseconds;	/* -1: refused */
} latencies[] = {
	{ "0ns", 0 },
	{ "621.5us", 621500 },
	{ "0.5 ns", 0.5 },
	{ "1.001 us", 1001 },
	{ "8.5 \xc2\xb5s", 8500 },
	{ "0.1us", 100 },
	{ "0.0000003 s", 300 },
	{ "00012.0 ns", 12 },
	{ "000 ns", 0 },
	{ "1.0000000000000000000001 s", 1e9 },
	{ "9007199254740993 ns", 9007199254740992 },
	{ "99999999999999999999999999 s", 1e35 },
	{ "1e3 ns", -1 },
	{ "-1 ms", -1 },
	{ "1", -1 },
	{ "ms", -1 },
	{ "", -1 },
	{ "1. ms", -1 },
	{ ".5 ms", -1 },
	{ "1  ms", -1 },
	{ "1 ms ", -1 },
	{ "1 min", -1 },
	{ "nan ns", -1 },
};

static void
latencies_need_not_be_whole_nanoseconds(void **state)
{
	const struct latency_case *row;
	struct ks_buf digits = KS_BUF_INIT;
	double found = -1;
	int i;

	(void)state;
	ROWS(latencies, row) {
		found = -1;
		if (!ks_shape_latency(ks_span_text(row->raw), &found))
			found = -1;
		if (found < row->nanoseconds || found > row->nanoseconds)
			fail_msg("\"%s\" gave %g", row->raw, found);
	}
	/* More than a double holds. */
	for (i = 0; i < 310; i++)
		ks_buf_byte(&digits, '9');
	ks_buf_text(&digits, "ns");
	assert_false(ks_shape_latency(ks_buf_span(&digits), &found));
	ks_buf_release(&digits);
}

/*
 * Checking.
 */
#define RUN_DIGESTS \
	"'environmentDigest':'" DIGEST("1") "'," \
	"'implementationDigest':'" DIGEST("2") "'," \
	"'protocolDigest':'" DIGEST("3") "'," \
	"'workloadDigest':'" DIGEST("4") "'"
#define RUN "{" RUN_DIGESTS ",'status':'passed'," \
	"'observedAt':'2026-08-01T12:00:00Z'"
#define RUN_TIMED(latency) \
	RUN ",'timing':{'primaryStatistic':'mean','latencyNs':" latency "}}"
#define OPERATION(axes, inputs) \
	"{'axes':" axes ",'family':'f','inputs':[" inputs "],'outputs':[" \
	"{'name':'o','scalar':{'dtype':'fp32'}}],'semantics':{" \
	"'determinism':'unspecified','mutation':'none'}}"
#define INPUT "{'name':'i','scalar':{'dtype':'fp32'}}"
#define CASE(correctness) \
	"{'axes':{},'correctness':{'comparator':'c'" correctness "}," \
	"'operationSpecDigest':'" DIGEST("5") "','tensors':{}}"
#define ENVIRONMENT(settings) \
	"{'hardware':{'architecture':'a','product':'p','vendor':'v'}," \
	"'settings':{" settings "},'software':{}}"
#define STACK(backends) \
	"{'backends':[" backends "],'project':{'name':''},'revision':{}}"
#define SERVING_RUN(measurements, metrics) \
	"{'configurationDigest':'" DIGEST("1") "'," \
	"'harness':{'name':'h','version':'1'},'measurements':[" measurements \
	"],'modelDigest':'" DIGEST("2") "','observedAt':'2026-08-01T12:00Z'," \
	"'qualityPolicy':'q','sourceNative':{'benchmark':'','category':'c'," \
	"'division':'d','externalId':'','metrics':" metrics "," \
	"'scenario':'s','source':'s'},'status':'valid','topology':{" \
	"'acceleratorModel':'m','acceleratorsPerNode':1,'nodeCount':1}," \
	"'workloadDigest':'" DIGEST("3") "'}"
#define MEASUREMENT "{'metric':'m','statistic':'s','unit':'u','value':-1.5}"
#define SLO(operator, value) \
	"{'loadGeneration':'offline','streaming':false,'slo':[{'metric':'m'," \
	"'operator':'" operator "','statistic':'s','unit':'u','value':" value \
	"}]}"
#define TEN(text) text text text text text text text text text text
#define HUNDRED(text) TEN(TEN(text))

#define DIGEST_RULE \
	"must be a digest (\"sha256:\" and 64 lower-case hex digits), not "
#define TOKEN_RULE \
	"a token (a lower-case letter, then lower-case letters, digits and " \
	"underscores), not "

struct finding_case {
	const char *kind;
	const char *spec;
	const char *findings;
};

static const struct finding_case accepted[] = {
	{ "BenchmarkRun", RUN "}", "" },
	{ "BenchmarkRun", RUN_TIMED("{'mean':0}"), "" },
	{ "BenchmarkRun", RUN_TIMED("{'median':1,'confidence95':[2,1]}"), "" },
	{ "BenchmarkRun", RUN ",'measurements':[]}", "" },
	{ "BenchmarkRun", RUN ",'measurements':[" MEASUREMENT "]}", "" },
	{ "BenchmarkRun", RUN ",'evidence':{}}", "" },
	{ "OperationSpec", OPERATION("{}", INPUT), "" },
	{ "OperationSpec", OPERATION("{'n':{'role':'constant','type':"
		"'integer','value':-1}}", "{'name':'t','tensor':{'dtype':'d',"
		"'shape':[0,'n']}}"), "" },
	{ "WorkloadCase", CASE(""), "" },
	{ "WorkloadCase", CASE(",'requiredMatchedRatio':1.0,"
		"'maxAbsoluteError':0,'nanPolicy':'ignore'"), "" },
	{ "ExecutionEnvironment", ENVIRONMENT(""), "" },
	{ "ExecutionEnvironment", ENVIRONMENT("'environmentVariables':"
		"{'A.B C\xc3\xa4':'','':'x'},'powerLimitWatts':0.5"), "" },
	{ "ImplementationRevision", "{'callable':{'language':'cuda'},"
		"'licensing':{},'operation':{'specDigest':'" DIGEST("a")
		"'},'projectRevision':{},'support':{'dtypes':[],"
		"'hardwareArchitectures':[]}}", "" },
	{ "ServingStackRevision", STACK("'b','a','b'"), "" },
	{ "ServingRun", SERVING_RUN(MEASUREMENT, "{'a':1,'b':'text'}"), "" },
	{ "ServingWorkload", SLO("<=", "0.1"), "" },
	{ "Source", "{'kind':'k','name':'n','slug':'s-1'}", "" },
	{ "Source", "{'kind':'k','name':'n','slug':'s','policy':{'terms':"
		"{'deep':[null,{'x':1}]},'freshnessDays':10}}", "" },
	{ "Artifact", "{'digest':'" DIGEST("0") "','kind':'log','mediaType':"
		"'text/plain','sizeBytes':0,'storage':'inline'}", "" },
	{ "metadata", "{'name':'n'}", "" },
	{ "metadata", "{'name':'n','authors':[{}],'labels':{'torch':''},"
		"'sourceRefs':[{'url':'https://x'}]}", "" },
};

static const struct finding_case refused[] = {
	/* Members that are missing or unknown. */
	{ "BenchmarkRun", "{}",
		"E spec.environmentDigest: is missing\n"
		"E spec.implementationDigest: is missing\n"
		"E spec.observedAt: is missing\n"
		"E spec.protocolDigest: is missing\n"
		"E spec.status: is missing\n"
		"E spec.workloadDigest: is missing\n" },
	{ "BenchmarkRun", RUN ",'a':{'b':[1]},'zz':1,'\\u0001':2}",
		"U spec.\\u0001: is not a known member\n"
		"U spec.a: is not a known member\n"
		"U spec.zz: is not a known member\n" },
	{ "BenchmarkRun", RUN ",'status\\n':1,'s\xc3\xa4':1}",
		"U spec.status\\n: is not a known member\n"
		"U spec.s\xc3\xa4: is not a known member\n" },
	{ "Source", "{'name':null,'slug':'s'}",
		"E spec.kind: is missing\n"
		"E spec.name: must be a string of at most 200 UTF-16 code "
		"units, not null\n" },
	{ "Source", "[]", "E spec: must be an object, not an array\n" },
	{ "Source", "7", "E spec: must be an object, not 7\n" },
	{ "Source", "{'kind':'k','name':'n','slug':'s','policy':[]}",
		"E spec.policy: must be an object, not an array\n" },
	{ "metadata", "{}", "E metadata.name: is missing\n" },
	{ "metadata", "{'name':'N','x':1}",
		"E metadata.name: must be a name (lower-case letters, "
		"digits, '.', '_' and '-', the first a letter or digit, at "
		"most 200), not \"N\"\n"
		"U metadata.x: is not a known member\n" },
	{ "metadata", "{'name':'n','labels':{'A-B':1}}",
		"E metadata.labels: must name each member by " TOKEN_RULE
		"\"A-B\"\n"
		"E metadata.labels.A-B: must be a string of at most 200 "
		"UTF-16 code units, not 1\n" },
	{ "metadata", "{'name':'n','sourceRefs':[{'url':'https://x'},"
		"{'url':'http://x'},{}]}",
		"E metadata.sourceRefs[1].url: must be an https URL of at "
		"most 2000 characters, not \"http://x\"\n"
		"E metadata.sourceRefs[2].url: is missing\n" },
	/* Wrong scalars. */
	{ "BenchmarkRun", "{" RUN_DIGESTS ",'status':'great',"
		"'observedAt':'2026-02-30T12:00:00Z'}",
		"E spec.observedAt: must be a UTC time such as "
		"\"2026-08-01T12:00:00Z\" that the calendar has, not "
		"\"2026-02-30T12:00:00Z\"\n"
		"E spec.status: must be \"passed\" or \"incorrect_shape\" or "
		"\"incorrect_dtype\" or \"incorrect_numerical\" or "
		"\"compile_error\" or \"runtime_error\" or \"timeout\" or "
		"\"resource_exceeded\" or \"invalid_reference\" or "
		"\"policy_violation\" or \"suspected_reward_hack\" or "
		"\"incomplete_evidence\" or \"revoked\", not \"great\"\n" },
	{ "Artifact", "{'digest':'md5:abc','kind':'log','mediaType':'',"
		"'sizeBytes':-1,'storage':'in-line'}",
		"E spec.digest: " DIGEST_RULE "\"md5:abc\"\n"
		"E spec.sizeBytes: must be an integer from 0 to 2^53 - 1, "
		"not -1\n"
		"E spec.storage: must be " TOKEN_RULE "\"in-line\"\n" },
	{ "Artifact", "{'digest':7,'kind':'log','mediaType':'',"
		"'sizeBytes':1.5,'storage':'s'}",
		"E spec.digest: " DIGEST_RULE "7\n"
		"E spec.sizeBytes: must be an integer from 0 to 2^53 - 1, "
		"not 1.5\n" },
	{ "Artifact", "{'digest':'" DIGEST("0") "','kind':'log','mediaType':"
		"'','sizeBytes':9007199254740992,'storage':'s'}",
		"E spec.sizeBytes: must be an integer from 0 to 2^53 - 1, "
		"not 9007199254740992\n" },
	{ "Artifact", "{'digest':'" DIGEST("0") "','kind':'log','mediaType':"
		"'" HUNDRED("ab") "a','sizeBytes':1,'storage':'s'}",
		"E spec.mediaType: must be a string of at most 200 UTF-16 "
		"code units, not \"abababababababababababababababababababab"
		"abababababababababababab\xe2\x80\xa6\"\n" },
	{ "WorkloadCase", CASE(",'requiredMatchedRatio':1.5,"
		"'maxAbsoluteError':-1e-9,'maxRelativeError':'0'"),
		"E spec.correctness.maxAbsoluteError: must be a number from "
		"0, not -1e-9\n"
		"E spec.correctness.maxRelativeError: must be a number from "
		"0, not \"0\"\n"
		"E spec.correctness.requiredMatchedRatio: must be a number "
		"from 0 to 1, not 1.5\n" },
	{ "ExecutionEnvironment", ENVIRONMENT("'powerLimitWatts':0,"
		"'clocksLocked':'true','environmentVariables':{'A':1}"),
		"E spec.settings.clocksLocked: must be true or false, not "
		"\"true\"\n"
		"E spec.settings.environmentVariables.A: must be a string of "
		"at most 500 UTF-16 code units, not 1\n"
		"E spec.settings.powerLimitWatts: must be a number above 0, "
		"not 0\n" },
	{ "ServingWorkload", SLO(">=", "-1"),
		"E spec.slo[0].operator: must be \"<=\" or \"<\", not "
		"\">=\"\n"
		"E spec.slo[0].value: must be a number above 0, not -1\n" },
	{ "ServingRun", SERVING_RUN(MEASUREMENT, "{'a':true,'b':null}"),
		"E spec.sourceNative.metrics.a: must be a number, or a "
		"string of at most 500 UTF-16 code units, not true\n"
		"E spec.sourceNative.metrics.b: must be a number, or a "
		"string of at most 500 UTF-16 code units, not null\n" },
	/* Lists. */
	{ "ServingRun", SERVING_RUN("", "{}"),
		"E spec.measurements: must have at least 1 element, not 0\n" },
	{ "ServingStackRevision", STACK("'a','a','a','a','a','a','a','a','a'"),
		"E spec.backends: must have at most 8 elements, not 9\n" },
	{ "ServingStackRevision", STACK("'a','B',1"),
		"E spec.backends[1]: must be " TOKEN_RULE "\"B\"\n"
		"E spec.backends[2]: must be " TOKEN_RULE "1\n" },
	{ "BenchmarkRun", RUN ",'measurements':{}}",
		"E spec.measurements: must be a list, not an object\n" },
	{ "OperationSpec", OPERATION("{}", ""),
		"E spec.inputs: must have at least 1 element, not 0\n" },
	{ "OperationSpec", OPERATION("{}", "{'name':'t','tensor':{'dtype':"
		"'d','shape':[-1,'N',1.5]}}"),
		"E spec.inputs[0].tensor.shape[0]: must be an integer from 0 "
		"to 2^53 - 1, or the name of an axis, not -1\n"
		"E spec.inputs[0].tensor.shape[1]: must be an integer from 0 "
		"to 2^53 - 1, or the name of an axis, not \"N\"\n"
		"E spec.inputs[0].tensor.shape[2]: must be an integer from 0 "
		"to 2^53 - 1, or the name of an axis, not 1.5\n" },
	/* Rules between members. */
	{ "OperationSpec", OPERATION("{'a':{'role':'constant','type':"
		"'integer'},'b':{'role':'derived','type':'integer'},"
		"'c':{'role':'variable','type':'real'}}", INPUT),
		"E spec.axes.a: a constant axis must have a value\n"
		"E spec.axes.b: a derived axis must have an expression\n"
		"E spec.axes.c.type: must be \"integer\", not \"real\"\n" },
	{ "OperationSpec", OPERATION("{}", "{'name':'x'},{'name':'y',"
		"'scalar':{'dtype':'d'},'tensor':{'dtype':'d','shape':[1]}}"),
		"E spec.inputs[0]: must have exactly one of tensor and "
		"scalar\n"
		"E spec.inputs[1]: must have exactly one of tensor and "
		"scalar\n" },
	{ "BenchmarkRun", RUN_TIMED("{'p05':1}"),
		"E spec.timing.latencyNs: must have a median or a mean\n" },
	{ "BenchmarkRun", RUN_TIMED("{'mean':1,'confidence95':[1]}"),
		"E spec.timing.latencyNs.confidence95: must have exactly 2 "
		"elements, not 1\n" },
	/* What normalisation did not see to. */
	{ "BenchmarkRun", RUN_TIMED("{'mean':-1,'median':'0.5 ns'}"),
		"E spec.timing.latencyNs.mean: must be a duration: a whole "
		"number of nanoseconds up to 2^53 - 1, as an integer or as "
		"text with ns, us, \xc2\xb5s, ms or s, not -1\n"
		"E spec.timing.latencyNs.median: must be a duration: a whole "
		"number of nanoseconds up to 2^53 - 1, as an integer or as "
		"text with ns, us, \xc2\xb5s, ms or s, not \"0.5 ns\"\n" },
	{ "BenchmarkRun", RUN_TIMED("{'mean':'1.5 us'}"),
		"E spec.timing.latencyNs.mean: must be in normal form: the "
		"integer 1500, not \"1.5 us\"\n" },
	{ "ImplementationRevision", "{'callable':{'language':'cuda'},"
		"'licensing':{},'operation':{'specDigest':'" DIGEST("a")
		"'},'projectRevision':{},'support':{'dtypes':['b','a'],"
		"'hardwareArchitectures':['a','a'],'layouts':['b',1,'a']}}",
		"E spec.support.dtypes: must be in normal form: sorted by "
		"UTF-16 code units, without duplicates\n"
		"E spec.support.hardwareArchitectures: must be in normal "
		"form: sorted by UTF-16 code units, without duplicates\n"
		"E spec.support.layouts[1]: must be a string of at most 50 "
		"UTF-16 code units, not 1\n" },
	/* Hostile text is shown harmlessly. */
	{ "Source", "{'kind':'\\u001b[2J\xe2\x80\xae','name':'n','slug':'s'}",
		"E spec.kind: must be " TOKEN_RULE
		"\"\\u001b[2J\\xe2\\x80\\xae\"\n" },
};

static void
what_the_tables_allow_is_accepted(void **state)
{
	const struct finding_case *row;

	(void)state;
	ROWS(accepted, row)
		assert_findings(row->kind, row->spec, row->findings);
}

static void
everything_wrong_is_named_with_path_and_rule(void **state)
{
	const struct finding_case *row;

	(void)state;
	ROWS(refused, row)
		assert_findings(row->kind, row->spec, row->findings);
}

static bool
stop_at_once(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	(void)level;
	(void)path;
	(void)message;
	++*(int *)arg;
	return false;
}

static void
a_reader_who_has_heard_enough_hears_no_more(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	int heard = 0;

	(void)state;
	canonical("{'kind':1,'name':2,'x':[1,2],'slug':3}", &text);
	assert_false(ks_kind_check_spec(kind_named("Source"),
		ks_buf_span(&text), stop_at_once, &heard));
	assert_int_equal(heard, 1);
	assert_false(ks_kind_check_spec(kind_named("Source"),
		ks_buf_span(&text), NULL, NULL));
	ks_buf_release(&text);
}

/*
 * Attestations.
 */
#define STATEMENT_OF(type, subject, rest) \
	"{'_type':'https://in-toto.io/Statement/" type "','subject':" \
	subject rest "}"
#define SUBJECT_HEX \
	"86d80418deb06f8f6cf44a6b3de9a6b578966773689c18e6c84d44c128207394"
#define SUBJECT "{'digest':{'sha256':'" SUBJECT_HEX "','md5':'x'}}"
#define PREDICATE ",'predicateType':'https://example.org/p'"

static const struct {
	const char *statement;
	const char *wrong;
} statements[] = {
	{ STATEMENT_OF("v1", "[" SUBJECT "]", PREDICATE), NULL },
	{ " " STATEMENT_OF("v1", "[" SUBJECT "]", PREDICATE
		",'predicate':{'z':1.50,'a':null},'later':[]"), NULL },
	{ STATEMENT_OF("v0.1", "[" SUBJECT "]", PREDICATE),
		"must be an in-toto Statement v1" },
	{ "[]", "must be an in-toto Statement v1" },
	{ "7", "must be an in-toto Statement v1" },
	{ STATEMENT_OF("v1", "[" SUBJECT "]", ""),
		"must state a predicateType" },
	{ STATEMENT_OF("v1", "[" SUBJECT "]", ",'predicateType':''"),
		"must state a predicateType" },
	{ STATEMENT_OF("v1", "[" SUBJECT "]", PREDICATE ",'predicate':[]"),
		"must have an object as its predicate" },
	{ STATEMENT_OF("v1", "[]", PREDICATE),
		"must state exactly one subject" },
	{ STATEMENT_OF("v1", "[" SUBJECT "," SUBJECT "]", PREDICATE),
		"must state exactly one subject" },
	{ STATEMENT_OF("v1", SUBJECT, PREDICATE),
		"must state exactly one subject" },
	{ "{'_type':'https://in-toto.io/Statement/v1'" PREDICATE "}",
		"must state exactly one subject" },
	{ STATEMENT_OF("v1", "[{'digest':{'sha512':'00'}}]", PREDICATE),
		"must give its subject's sha256 digest as 64 lower-case hex "
		"digits" },
	{ STATEMENT_OF("v1", "[{'digest':{'sha256':'86D8'}}]", PREDICATE),
		"must give its subject's sha256 digest as 64 lower-case hex "
		"digits" },
	{ STATEMENT_OF("v1", "['" DIGEST("1") "']", PREDICATE),
		"must give its subject's sha256 digest as 64 lower-case hex "
		"digits" },
};

/* An Attestation around `statement`, in canonical form. */
static void
attest(const char *statement, struct ks_buf *out)
{
	struct ks_buf text = KS_BUF_INIT;
	size_t i;

	ks_buf_text(&text, statement);
	for (i = 0; i < text.len; i++) {
		if (text.data[i] == '\'')
			text.data[i] = '"';
	}
	ks_buf_text(out, "{\"envelope\":{\"payload\":\"");
	ks_base64_encode(ks_buf_span(&text), out);
	ks_buf_text(out, "\",\"payloadType\":\"application/vnd.in-toto+json\""
		",\"signatures\":[{\"sig\":\"Zm9v\"}]}}");
	ks_buf_release(&text);
}

struct visited {
	struct ks_buf text;
	size_t limit;
};

/* One reference or link a line: "path=hex kind|kind" or "path=hex link". */
static bool
collect_reference(void *arg, const struct ks_reference *reference)
{
	struct visited *visited = arg;
	char hex[KS_ID_HEX + 1];
	size_t i;

	ks_buf_printf(&visited->text, "%s=%.2s", reference->path,
		ks_id_print_hex(&reference->target, hex));
	for (i = 0; i < 2 && reference->expected[i] != NULL; i++)
		ks_buf_printf(&visited->text, "%c%s", i == 0 ? ' ' : '|',
			ks_kind_name(reference->expected[i]));
	ks_buf_text(&visited->text, reference->is_link ? " link\n" : "\n");
	return --visited->limit > 0;
}

static void
assert_references(const char *name, struct ks_span spec, size_t limit,
	const char *expected)
{
	struct visited visited = { .text = KS_BUF_INIT, .limit = limit };
	bool all = ks_kind_references(kind_named(name), spec,
		collect_reference, &visited);

	assert_string_equal(ks_buf_cstr(&visited.text), expected);
	assert_int_equal(all, visited.limit > 0);
	ks_buf_release(&visited.text);
}

static void
an_attestation_is_about_one_record(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(statements); i++) {
		const char *wrong = statements[i].wrong;
		struct ks_buf spec = KS_BUF_INIT;
		struct ks_buf found = KS_BUF_INIT;
		char expected[256] = "";

		attest(statements[i].statement, &spec);
		if (wrong != NULL)
			(void)snprintf(expected, sizeof(expected),
				"E spec.envelope.payload: %s\n", wrong);
		assert_int_equal(ks_kind_check_spec(kind_named("Attestation"),
			ks_buf_span(&spec), collect, &found), wrong == NULL);
		assert_string_equal(ks_buf_cstr(&found), expected);
		assert_references("Attestation", ks_buf_span(&spec), 9,
			wrong == NULL ? "spec.envelope.payload=86\n" : "");
		ks_buf_release(&spec);
		ks_buf_release(&found);
	}
}

static void
an_envelope_must_be_strict(void **state)
{
	(void)state;
	assert_findings("Attestation", "{'envelope':{'payload':'Zm9=',"
		"'payloadType':'text/plain','signatures':[]}}",
		"E spec.envelope.payload: must be base64 text (RFC 4648 "
		"section 4, padded)\n"
		"E spec.envelope.payloadType: must be "
		"\"application/vnd.in-toto+json\", not \"text/plain\"\n"
		"E spec.envelope.signatures: must have at least 1 element, "
		"not 0\n");
	assert_findings("Attestation", "{'envelope':{'payload':7,'payloadType'"
		":'application/vnd.in-toto+json','signatures':[{'keyid':1,"
		"'sig':'-_-_'}]}}",
		"E spec.envelope.payload: must be the base64 text of an "
		"in-toto Statement, not 7\n"
		"E spec.envelope.signatures[0].keyid: must be a string, not "
		"1\n"
		"E spec.envelope.signatures[0].sig: must be base64 text (RFC "
		"4648 section 4, padded), not \"-_-_\"\n");
	assert_findings("Attestation", "{'envelope':{'payload':7,'x':1},"
		"'y':2}",
		"E spec.envelope.payload: must be the base64 text of an "
		"in-toto Statement, not 7\n"
		"U spec.envelope.x: is not a known member\n"
		"E spec.envelope.payloadType: is missing\n"
		"E spec.envelope.signatures: is missing\n"
		"U spec.y: is not a known member\n");
}

static void
a_payload_must_be_sound_json(void **state)
{
	static const char *const payloads[] = {
		"{'a':1,'a':2}", "{", "", "'\xff'", STATEMENT_OF("v1", "["
			SUBJECT "]", PREDICATE) "x",
	};
	static const char wrong[] =
		"E spec.envelope.payload: must be JSON text: ";
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(payloads); i++) {
		struct ks_buf spec = KS_BUF_INIT;
		struct ks_buf found = KS_BUF_INIT;

		attest(payloads[i], &spec);
		assert_false(ks_kind_check_spec(kind_named("Attestation"),
			ks_buf_span(&spec), collect, &found));
		assert_memory_equal(ks_buf_cstr(&found), wrong,
			sizeof(wrong) - 1);
		assert_references("Attestation", ks_buf_span(&spec), 9, "");
		ks_buf_release(&spec);
		ks_buf_release(&found);
	}
}

/*
 * References.
 */
static void
references_and_links_are_told_apart(void **state)
{
	struct ks_buf spec = KS_BUF_INIT;

	(void)state;
	canonical(RUN ",'evidence':{'logs':{'uri':'u','digest':'" DIGEST("a")
		"'}},'timing':{'rawSamples':{'digest':'" DIGEST("b") "'}},"
		"'other':{'digest':'" DIGEST("c") "'}}", &spec);
	assert_references("BenchmarkRun", ks_buf_span(&spec), 99,
		"spec.environmentDigest=11 ExecutionEnvironment\n"
		"spec.evidence.logs.digest=aa link\n"
		"spec.implementationDigest=22 ImplementationRevision\n"
		"spec.protocolDigest=33 BenchmarkProtocol\n"
		"spec.timing.rawSamples.digest=bb link\n"
		"spec.workloadDigest=44 WorkloadCase|WorkloadSuite\n");
	assert_references("BenchmarkRun", ks_buf_span(&spec), 2,
		"spec.environmentDigest=11 ExecutionEnvironment\n"
		"spec.evidence.logs.digest=aa link\n");
	ks_buf_clear(&spec);
	canonical(SERVING_RUN("", "{}"), &spec);
	assert_references("ServingRun", ks_buf_span(&spec), 99,
		"spec.configurationDigest=11 ServingConfiguration\n"
		"spec.modelDigest=22 ModelRevision\n"
		"spec.workloadDigest=33 ServingWorkload\n");
	ks_buf_clear(&spec);
	canonical("{'digest':'" DIGEST("0") "'}", &spec);
	assert_references("Artifact", ks_buf_span(&spec), 99,
		"spec.digest=00 link\n");
	assert_references("Source", ks_buf_span(&spec), 99, "");
	ks_buf_release(&spec);
}

static void
malformed_references_are_stepped_over(void **state)
{
	struct ks_buf spec = KS_BUF_INIT;

	(void)state;
	canonical("{'environmentDigest':7,'evidence':['" DIGEST("a") "'],"
		"'implementationDigest':'" DIGEST("G") "','protocolDigest':"
		"{'x':1},'workloadDigest':'" DIGEST("4") "'}", &spec);
	assert_references("BenchmarkRun", ks_buf_span(&spec), 99,
		"spec.workloadDigest=44 WorkloadCase|WorkloadSuite\n");
	ks_buf_clear(&spec);
	canonical("{'tensors':{'a':{'data':{'artifact':{'digest':'"
		DIGEST("d") "'}}},'b':7}}", &spec);
	assert_references("WorkloadCase", ks_buf_span(&spec), 99,
		"spec.tensors.a.data.artifact.digest=dd link\n");
	ks_buf_release(&spec);
}

static void
a_reference_accepts_its_kinds_only(void **state)
{
	const struct ks_reference either = {
		.expected = { kind_named("WorkloadCase"),
			kind_named("WorkloadSuite") },
	};
	const struct ks_reference one = {
		.expected = { kind_named("WorkloadCase"), NULL },
	};
	const struct ks_reference any = { .is_link = false };

	(void)state;
	assert_true(ks_reference_accepts(&either, kind_named("WorkloadCase")));
	assert_true(ks_reference_accepts(&either,
		kind_named("WorkloadSuite")));
	assert_false(ks_reference_accepts(&either, kind_named("Source")));
	assert_false(ks_reference_accepts(&either, NULL));
	assert_false(ks_reference_accepts(&one, kind_named("WorkloadSuite")));
	assert_false(ks_reference_accepts(&one, NULL));
	assert_true(ks_reference_accepts(&any, kind_named("Source")));
}

/*
 * Normal form.
 */
#define SUPPORT(lists) "{'support':{" lists "}}"

static const struct {
	const char *kind;
	const char *spec;
	const char *normal;	/* NULL: nothing changes */
	const char *notes;
} normal_forms[] = {
	{ "BenchmarkRun", "{'timing':{'latencyNs':{'confidence95':['1 us',2],"
		"'mad':'x','mean':'0.008 ms','median':5}},'zz':'1 us'}",
		"{\"timing\":{\"latencyNs\":{\"confidence95\":[1000,2],"
		"\"mad\":\"x\",\"mean\":8000,\"median\":5}},\"zz\":\"1 us\"}",
		"N spec.timing.latencyNs.confidence95[0]: \"1 us\" became "
		"1000 nanoseconds\n"
		"N spec.timing.latencyNs.mean: \"0.008 ms\" became 8000 "
		"nanoseconds\n" },
	{ "BenchmarkProtocol", "{'measurement':{'warmupDuration':'1 s'}}",
		"{\"measurement\":{\"warmupDuration\":1000000000}}",
		"N spec.measurement.warmupDuration: \"1 s\" became "
		"1000000000 nanoseconds\n" },
	{ "ImplementationRevision", SUPPORT("'dtypes':['fp8','bf16','fp8'],"
		"'layouts':['a','b'],'axes':['b','a']"),
		"{\"support\":{\"axes\":[\"a\",\"b\"],\"dtypes\":[\"bf16\","
		"\"fp8\"],\"layouts\":[\"a\",\"b\"]}}",
		"N spec.support.axes: was sorted (2 elements)\n"
		"N spec.support.dtypes: was sorted and lost its duplicates "
		"(3 elements became 2)\n" },
	/* U+FF61 comes before U+1F600 in UTF-8, behind it in UTF-16; an
	 * escaped line end sorts by its character. */
	{ "ImplementationRevision", SUPPORT("'axes':['\xef\xbd\xa1',"
		"'\xf0\x9f\x98\x80','A','\\n']"),
		"{\"support\":{\"axes\":[\"\\n\",\"A\",\"\xf0\x9f\x98\x80\","
		"\"\xef\xbd\xa1\"]}}",
		"N spec.support.axes: was sorted (4 elements)\n" },
	{ "BenchmarkRun", "{'timing':{'latencyNs':{'mean':'0.5 ns'}}}", NULL,
		"" },
	{ "BenchmarkRun", "{'timing':{'latencyNs':{'mean':['1 us']}}}", NULL,
		"" },
	{ "BenchmarkRun", "{'timing':[{'latencyNs':{'mean':'1 us'}}]}", NULL,
		"" },
	{ "BenchmarkRun", "{'latencyNs':{'mean':'1 us'}}", NULL, "" },
	{ "ImplementationRevision", SUPPORT("'dtypes':['b',1,'a']"), NULL,
		"" },
	{ "ImplementationRevision", SUPPORT("'dtypes':[2,1]"), NULL, "" },
	{ "ImplementationRevision", SUPPORT("'dtypes':{'b':1}"), NULL, "" },
	{ "ImplementationRevision", SUPPORT("'dtypes':[],'axes':['a']"), NULL,
		"" },
	{ "ServingStackRevision", "{'backends':['b','a']}", NULL, "" },
	{ "Source", "[]", NULL, "" },
};

static void
normal_form_changes_durations_and_sets_only(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(normal_forms); i++) {
		const char *normal = normal_forms[i].normal;
		struct ks_buf spec = KS_BUF_INIT;
		struct ks_buf out = KS_BUF_INIT;
		struct ks_buf notes = KS_BUF_INIT;
		bool changed = normal == NULL;

		canonical(normal_forms[i].spec, &spec);
		assert_int_equal(ks_kind_normalise(
			kind_named(normal_forms[i].kind), ks_buf_span(&spec),
			&out, &changed, collect, &notes, NULL), KS_OK);
		assert_int_equal(changed, normal != NULL);
		assert_string_equal(ks_buf_cstr(&out),
			normal == NULL ? "" : normal);
		assert_string_equal(ks_buf_cstr(&notes),
			normal_forms[i].notes);
		ks_buf_release(&spec);
		ks_buf_release(&out);
		ks_buf_release(&notes);
	}
}

/*
 * Advice.
 */
static const struct {
	const char *kind;
	const char *digit;	/* the digest is all of this */
	const char *spec;
} neighbours[] = {
	{ "OperationSpec", "5", "{'axes':{'c':{'role':'constant','value':8},"
		"'d':{'role':'derived'},'v':{'role':'variable'}},'inputs':["
		"{'name':'eps','scalar':{}},{'name':'x','tensor':{}}]}" },
	{ "ImplementationRevision", "2", "{'operation':{'specDigest':'"
		DIGEST("5") "'},'support':{'hardwareArchitectures':"
		"['sm_90'],'productsTested':['H100']}}" },
	{ "BenchmarkProtocol", "3", "{'correctness':{'comparator':'c'},"
		"'measurement':{'primaryStatistic':'mean'}}" },
	{ "ExecutionEnvironment", "1", "{'hardware':{'architecture':'sm_90',"
		"'product':'H100'}}" },
	{ "WorkloadCase", "4", "{'correctness':{'comparator':'c'},"
		"'operationSpecDigest':'" DIGEST("5") "'}" },
	{ "ExecutionEnvironment", "a", "{'hardware':{'architecture':'sm_80',"
		"'product':'A100'}}" },
	{ "WorkloadSuite", "b", "{'correctness':{'comparator':'other'},"
		"'operationSpecDigest':'" DIGEST("6") "'}" },
	{ "ImplementationRevision", "d", "{'support':{"
		"'hardwareArchitectures':[],'productsTested':[]}}" },
	{ "BenchmarkProtocol", "c", "{'measurement':{'primaryStatistic':"
		"'median'}}" },
};

/* The records above, in canonical form. */
struct library {
	struct ks_buf specs[COUNT(neighbours)];
};

static bool
look_in_library(void *arg, const struct ks_id *target,
	const struct ks_kind **kind, struct ks_span *spec)
{
	struct library *library = arg;
	char hex[KS_ID_HEX + 1];
	size_t i;

	(void)ks_id_print_hex(target, hex);
	for (i = 0; i < COUNT(neighbours); i++) {
		if (hex[0] != neighbours[i].digit[0])
			continue;
		*kind = kind_named(neighbours[i].kind);
		*spec = ks_buf_span(&library->specs[i]);
		return true;
	}
	return false;
}

#define RUN_OF(environment, protocol, workload, more) \
	"{'environmentDigest':'" DIGEST(environment) "'," \
	"'implementationDigest':'" DIGEST("2") "'," \
	"'protocolDigest':'" DIGEST(protocol) "'," \
	"'workloadDigest':'" DIGEST(workload) "'" more "}"
#define TIMED(primary, latency) \
	",'timing':{'primaryStatistic':'" primary "','latencyNs':" latency "}"
#define CASE_OF(axes, scalars) \
	"{'axes':" axes ",'operationSpecDigest':'" DIGEST("5") \
	"','scalars':" scalars "}"
#define SUITE_OF(cases) \
	"{'cases':[" cases "],'operationSpecDigest':'" DIGEST("5") "'}"

static const struct finding_case advice[] = {
	{ "BenchmarkRun", RUN_OF("1", "3", "4", TIMED("mean", "{'mean':5,"
		"'minimum':1,'p05':2,'median':3,'p95':8,'maximum':9}")), "" },
	{ "BenchmarkRun", RUN_OF("1", "3", "4",
		",'correctness':{'comparator':'x'}"),
		"N spec.correctness.comparator: is \"x\", but the workload's "
		"is \"c\"\n" },
	{ "BenchmarkRun", RUN_OF("a", "3", "b", ""),
		"N spec.implementationDigest: is of an implementation for "
		"another operation than the workload's\n"
		"N spec.protocolDigest: is of a protocol with the comparator "
		"\"c\", but the workload's is \"other\"\n"
		"N spec.environmentDigest: is of an environment with the "
		"architecture \"sm_80\", which the implementation does not "
		"list\n"
		"N spec.environmentDigest: is of an environment with the "
		"product \"A100\", which the implementation does not list as "
		"tested\n" },
	{ "BenchmarkRun", RUN_OF("1", "c", "4", TIMED("mean",
		"{'median':5,'minimum':6,'maximum':4}")),
		"N spec.timing.latencyNs: has a minimum of 6 above its "
		"median of 5\n"
		"N spec.timing.latencyNs: has a median of 5 above its "
		"maximum of 4\n"
		"N spec.timing.latencyNs: has no member for the primary "
		"statistic, \"mean\"\n"
		"N spec.timing.primaryStatistic: is \"mean\", but the "
		"protocol's is \"median\"\n" },
	{ "BenchmarkRun", RUN_OF("1", "3", "4", TIMED("mean",
		"{'mean':5,'minimum':6,'maximum':7}")),
		"N spec.timing.latencyNs: has a minimum of 6 above its mean "
		"of 5\n" },
	/* An implementation that lists nothing says nothing. */
	{ "BenchmarkRun", "{'environmentDigest':'" DIGEST("a") "',"
		"'implementationDigest':'" DIGEST("d") "'}", "" },
	/* Digests of nothing at hand, of another kind, or malformed. */
	{ "BenchmarkRun", RUN_OF("e", "e", "e", ""), "" },
	{ "BenchmarkRun", RUN_OF("3", "4", "1", ""), "" },
	{ "BenchmarkRun", "{'workloadDigest':7,'timing':[]}", "" },
	{ "BenchmarkRun", "[]", "" },
	{ "WorkloadCase", CASE_OF("{'v':1}", "{'eps':{}}"), "" },
	{ "WorkloadCase", CASE_OF("{'c':8,'d':2,'v':1}", "{'eps':{}}"), "" },
	{ "WorkloadCase", CASE_OF("{'a':1,'c':9,'z':1}", "{'x':{}}"),
		"N spec.scalars: has \"x\", which is not a scalar input of "
		"the operation\n"
		"N spec.scalars: gives no value to \"eps\", a scalar input "
		"of the operation\n"
		"N spec.axes: binds \"a\", which is not an axis of the "
		"operation\n"
		"N spec.axes: binds \"c\" to 9, a constant axis of the "
		"operation with the value 8\n"
		"N spec.axes: does not bind \"v\", a variable axis of the "
		"operation\n"
		"N spec.axes: binds \"z\", which is not an axis of the "
		"operation\n" },
	{ "WorkloadSuite", SUITE_OF("{'axes':{'v':1},'externalId':'0'},"
		"{'axes':{'v':2},'externalId':'1'}"), "" },
	{ "WorkloadSuite", SUITE_OF("{'axes':{'v':1},'externalId':'0'},"
		"{'axes':{},'externalId':'1'},{'axes':{'v':1,'w':1},"
		"'externalId':'0'}"),
		"N spec.cases: has 2 cases with the externalId \"0\"\n"
		"N spec.cases[1].axes: does not bind \"v\", a variable axis "
		"of the operation\n"
		"N spec.cases[2].axes: binds \"w\", which is not an axis of "
		"the operation\n" },
	{ "OperationSpec", "{'axes':{'d':{'role':'derived','expression':"
		"'(a_1 + 2*v) // hidden'},'v':{'role':'variable',"
		"'expression':'q'}}}",
		"N spec.axes.d.expression: names \"a_1\", which is not a "
		"declared axis\n"
		"N spec.axes.d.expression: names \"hidden\", which is not a "
		"declared axis\n" },
	{ "ServingRun", "{}", "" },
};

static void
rules_that_real_data_breaks_only_warn(void **state)
{
	struct library library = { .specs = { KS_BUF_INIT } };
	const struct finding_case *row;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(neighbours); i++)
		canonical(neighbours[i].spec, &library.specs[i]);
	ROWS(advice, row) {
		struct ks_buf spec = KS_BUF_INIT;
		struct ks_buf notes = KS_BUF_INIT;

		canonical(row->spec, &spec);
		ks_kind_advise(kind_named(row->kind), ks_buf_span(&spec),
			look_in_library, &library, collect, &notes);
		if (strcmp(ks_buf_cstr(&notes), row->findings) != 0)
			fail_msg("%s\nfound:\n%swanted:\n%s", row->spec,
				ks_buf_cstr(&notes), row->findings);
		ks_buf_release(&spec);
		ks_buf_release(&notes);
	}
	for (i = 0; i < COUNT(neighbours); i++)
		ks_buf_release(&library.specs[i]);
}

/* A suite of 20,000 cases against an operation of 20,000 axes: nobody waits
 * for 400 million comparisons. */
static void
advice_on_records_made_to_be_slow_ends(void **state)
{
	struct library library = { .specs = { KS_BUF_INIT } };
	struct ks_buf suite = KS_BUF_INIT;
	struct ks_buf notes = KS_BUF_INIT;
	size_t i;

	(void)state;
	ks_buf_text(&library.specs[0], "{\"axes\":{");
	for (i = 0; i < 20000; i++)
		ks_buf_printf(&library.specs[0], "%s\"a%05zu\":{}",
			i == 0 ? "" : ",", i);
	ks_buf_text(&library.specs[0], "}}");
	ks_buf_text(&suite, "{\"cases\":[");
	for (i = 0; i < 20000; i++)
		ks_buf_printf(&suite, "%s{\"axes\":{},\"externalId\":\"%zu\"}",
			i == 0 ? "" : ",", i);
	ks_buf_text(&suite, "],\"operationSpecDigest\":\"" DIGEST("5") "\"}");
	ks_kind_advise(kind_named("WorkloadSuite"), ks_buf_span(&suite),
		look_in_library, &library, collect, &notes);
	assert_string_equal(ks_buf_cstr(&notes), "N spec: is too large to be "
		"compared in full with what it refers to\n");
	ks_buf_release(&library.specs[0]);
	ks_buf_release(&suite);
	ks_buf_release(&notes);
}

/*
 * Published manifests, from the shared folder.
 */
static bool
read_shared(const char *name, struct ks_buf *out)
{
	const char *shared = getenv("KISTORE_SHARED");
	char path[512];
	uint8_t chunk[4096];
	FILE *file;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/%s",
		shared == NULL ? "../shared" : shared, name);
	file = fopen(path, "rb");
	if (file == NULL)
		return false;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		ks_buf_append(out, ks_span(chunk, n));
	(void)fclose(file);
	return true;
}

static void
skip_without_shared(const char *name)
{
	struct ks_buf text = KS_BUF_INIT;
	bool found = read_shared(name, &text);

	ks_buf_release(&text);
	if (found)
		return;
	print_message("skipped: no %s in the shared folder\n", name);
	skip();
}

/* Check a manifest (canonical text), normalised first: findings and digest. */
static void
read_manifest(struct ks_span manifest, struct ks_buf *found, struct ks_id *id)
{
	struct ks_span api, name, metadata, spec;
	struct ks_buf normal = KS_BUF_INIT;
	struct ks_buf body = KS_BUF_INIT;
	const struct ks_kind *kind;
	bool changed;

	assert_true(ks_json_find(manifest, "apiVersion", &api));
	assert_true(ks_json_find(manifest, "kind", &name));
	assert_true(ks_json_find(manifest, "metadata", &metadata));
	assert_true(ks_json_find(manifest, "spec", &spec));
	kind = ks_kind_find(ks_json_raw(api), ks_json_raw(name));
	assert_non_null(kind);
	assert_int_equal(ks_kind_normalise(kind, spec, &normal, &changed,
		NULL, NULL, NULL), KS_OK);
	if (changed)
		spec = ks_buf_span(&normal);
	(void)ks_kind_check_metadata(metadata, collect, found);
	(void)ks_kind_check_spec(kind, spec, collect, found);
	ks_buf_printf(&body, "{\"apiVersion\":%.*s,\"kind\":%.*s,\"spec\":",
		(int)api.len, (const char *)api.data, (int)name.len,
		(const char *)name.data);
	ks_buf_append(&body, spec);
	ks_buf_byte(&body, '}');
	ks_sha256(ks_buf_span(&body), id);
	ks_buf_release(&normal);
	ks_buf_release(&body);
}

static void
each_published_example_gets_its_digest(void **state)
{
	struct ks_buf list = KS_BUF_INIT;
	char *line, *rest = NULL;
	size_t count = 0;

	(void)state;
	skip_without_shared("vectors/examples/digests.tsv");
	assert_true(read_shared("vectors/examples/digests.tsv", &list));
	assert_string_not_equal(ks_buf_cstr(&list), "");
	for (line = strtok_r((char *)list.data, "\n", &rest); line != NULL;
		line = strtok_r(NULL, "\n", &rest)) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_buf manifest = KS_BUF_INIT;
		struct ks_buf found = KS_BUF_INIT;
		char *digest = strchr(line, '\t');
		char path[128];
		char hex[KS_ID_HEX + 1];
		struct ks_id id;

		assert_non_null(digest);
		*digest++ = '\0';
		(void)snprintf(path, sizeof(path),
			"vectors/examples/%s.json", line);
		assert_true(read_shared(path, &text));
		canonical_from(ks_buf_span(&text), &manifest);
		read_manifest(ks_buf_span(&manifest), &found, &id);
		assert_string_equal(ks_buf_cstr(&found), "");
		assert_string_equal(ks_id_print_hex(&id, hex), digest);
		ks_buf_release(&text);
		ks_buf_release(&manifest);
		ks_buf_release(&found);
		count++;
	}
	assert_int_equal(count, 13);
	ks_buf_release(&list);
}

static const struct {
	const char *path;
	const char *findings;
} invalid_examples[] = {
	{ "vectors/examples/invalid/ambiguous-duration.json",
		"E spec.timing.latencyNs.median: must be a duration: a whole "
		"number of nanoseconds up to 2^53 - 1, as an integer or as "
		"text with ns, us, \xc2\xb5s, ms or s, not "
		"\"0.0000005 ms\"\n" },
	{ "vectors/examples/invalid/bad-digest.json",
		"E spec.operationSpecDigest: " DIGEST_RULE
		"\"md5:abc123\"\n" },
	{ "vectors/examples/invalid/unknown-field.json",
		"U spec.popularity: is not a known member\n" },
};

static void
each_published_counterexample_is_found_out(void **state)
{
	size_t i;

	(void)state;
	skip_without_shared(invalid_examples[0].path);
	for (i = 0; i < COUNT(invalid_examples); i++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_buf manifest = KS_BUF_INIT;
		struct ks_buf found = KS_BUF_INIT;
		struct ks_id id;

		assert_true(read_shared(invalid_examples[i].path, &text));
		canonical_from(ks_buf_span(&text), &manifest);
		read_manifest(ks_buf_span(&manifest), &found, &id);
		assert_string_equal(ks_buf_cstr(&found),
			invalid_examples[i].findings);
		ks_buf_release(&text);
		ks_buf_release(&manifest);
		ks_buf_release(&found);
	}
}

/* 190 bundles {run, protocol, environment, …} with every kind but suites. */
static void
all_liger_manifests_pass(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf found = KS_BUF_INIT;
	char *line, *rest = NULL;
	size_t count = 0;

	(void)state;
	skip_without_shared("data/liger-runs.jsonl");
	assert_true(read_shared("data/liger-runs.jsonl", &text));
	assert_string_not_equal(ks_buf_cstr(&text), "");
	for (line = strtok_r((char *)text.data, "\n", &rest); line != NULL;
		line = strtok_r(NULL, "\n", &rest)) {
		struct ks_buf bundle = KS_BUF_INIT;
		struct ks_span name, member, spec;
		struct ks_json_iter it;
		struct ks_id id;

		canonical_from(ks_span_text(line), &bundle);
		it = ks_json_iter(ks_buf_span(&bundle));
		while (ks_json_next_member(&it, &name, &member)) {
			if (!ks_json_find(member, "spec", &spec))
				continue;
			read_manifest(member, &found, &id);
			count++;
		}
		ks_buf_release(&bundle);
	}
	assert_string_equal(ks_buf_cstr(&found), "");
	assert_true(count >= 3 * 190);
	ks_buf_release(&text);
	ks_buf_release(&found);
}

/*
 * Text that is not canonical may give any result, but is never read beyond
 * its end (a sanitizer or valgrind sees it).
 */
static bool
ignore(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	(void)arg;
	(void)level;
	(void)path;
	(void)message;
	return true;
}

static bool
ignore_reference(void *arg, const struct ks_reference *reference)
{
	(void)arg;
	(void)reference;
	return true;
}

static void
try_everything(const struct ks_kind *kind, struct ks_span text)
{
	uint8_t *copy = malloc(text.len + (text.len == 0));
	struct ks_buf out = KS_BUF_INIT;
	struct ks_span spec;
	bool changed;

	assert_non_null(copy);
	if (text.len > 0)
		memcpy(copy, text.data, text.len);
	spec = ks_span(copy, text.len);
	(void)ks_kind_check_spec(kind, spec, ignore, NULL);
	(void)ks_kind_check_metadata(spec, ignore, NULL);
	(void)ks_kind_references(kind, spec, ignore_reference, NULL);
	assert_int_equal(ks_kind_normalise(kind, spec, &out, &changed, ignore,
		NULL, NULL), KS_OK);
	ks_kind_advise(kind, spec, NULL, NULL, ignore, NULL);
	ks_buf_release(&out);
	free(copy);
}

static void
text_that_breaks_off_is_survived(void **state)
{
	const struct finding_case *row;

	(void)state;
	ROWS(accepted, row) {
		struct ks_buf text = KS_BUF_INIT;
		size_t len;

		if (strcmp(row->kind, "metadata") == 0)
			continue;
		canonical(row->spec, &text);
		for (len = 0; len <= text.len; len++)
			try_everything(kind_named(row->kind),
				ks_span(text.data, len));
		ks_buf_release(&text);
	}
}

static void
text_with_a_wrong_byte_is_survived(void **state)
{
	static const uint8_t bytes[] = { '"', '\\', '{', '}', '[', ']', ',',
		':', '0', '-', 0, 0xff };
	struct ks_buf text = KS_BUF_INIT;
	size_t i, k;

	(void)state;
	canonical(RUN ",'timing':{'primaryStatistic':'mean','latencyNs':"
		"{'mean':'1 us','confidence95':['2 us',3]}}}", &text);
	for (i = 0; i < text.len; i++) {
		uint8_t kept = text.data[i];

		for (k = 0; k < sizeof(bytes); k++) {
			text.data[i] = bytes[k];
			try_everything(kind_named("BenchmarkRun"),
				ks_buf_span(&text));
		}
		text.data[i] = kept;
	}
	ks_buf_release(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_stands_in_canonical_order),
		cmocka_unit_test(kinds_are_found_by_their_exact_names),
		cmocka_unit_test(other_names_are_no_kind),
		cmocka_unit_test(
			only_some_kinds_have_source_project_or_rows_that_change),
		cmocka_unit_test(strings_have_their_shapes),
		cmocka_unit_test(lengths_end_at_their_limits),
		cmocka_unit_test(lengths_count_utf16_code_units),
		cmocka_unit_test(durations_are_exact_or_refused),
		cmocka_unit_test(latencies_need_not_be_whole_nanoseconds),
		cmocka_unit_test(what_the_tables_allow_is_accepted),
		cmocka_unit_test(everything_wrong_is_named_with_path_and_rule),
		cmocka_unit_test(a_reader_who_has_heard_enough_hears_no_more),
		cmocka_unit_test(an_attestation_is_about_one_record),
		cmocka_unit_test(an_envelope_must_be_strict),
		cmocka_unit_test(a_payload_must_be_sound_json),
		cmocka_unit_test(references_and_links_are_told_apart),
		cmocka_unit_test(malformed_references_are_stepped_over),
		cmocka_unit_test(a_reference_accepts_its_kinds_only),
		cmocka_unit_test(normal_form_changes_durations_and_sets_only),
		cmocka_unit_test(rules_that_real_data_breaks_only_warn),
		cmocka_unit_test(advice_on_records_made_to_be_slow_ends),
		cmocka_unit_test(each_published_example_gets_its_digest),
		cmocka_unit_test(each_published_counterexample_is_found_out),
		cmocka_unit_test(all_liger_manifests_pass),
		cmocka_unit_test(text_that_breaks_off_is_survived),
		cmocka_unit_test(text_with_a_wrong_byte_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
