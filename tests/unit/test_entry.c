#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/entry.h"
#include "format/json.h"
#include "format/vkey.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define HEX_A \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define A "\"sha256:" HEX_A "\""
#define B "\"sha256:" HEX_B "\""
#define AT "{\"at\":\"2026-08-22T12:00:00Z\","
#define DA "\"digest\":" A ","
#define RAW AT DA "\"kind\":\"raw\","
#define RUN AT DA "\"kind\":\"kernelindex.dev/v1alpha1/BenchmarkRun\","
#define PUBLISH "\"op\":\"publish\"}"
#define PROV(members) RAW "\"op\":\"publish\",\"provenance\":{" members "}}"
#define ID "01234567-89ab-cdef-0123-456789abcdef"
#define C16(c) c c c c c c c c c c c c c c c c
#define C128(c) C16(c) C16(c) C16(c) C16(c) C16(c) C16(c) C16(c) C16(c)

/* From the vectors of C2SP signed-note, types 01 and 04. */
#define NAME "archive.example/log"
#define KEY_TAIL "+f8ca281c+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up"
#define VKEY "\"" NAME KEY_TAIL "\""
#define COSIGNER \
	"\"witness.example/w1+44d58d5d+" \
	"BAvCPfs2bIz6Yj2LPVfBDQ+bQOtqa2zrFNapuSnvGnVH\""
#define KEY(text) AT "\"key\":" text ",\"op\":\"key\","

struct fixture {
	struct ks_jcs *jcs;
	struct ks_entry entry;
	struct ks_error err;
};

static int
set_up(void **state)
{
	static struct fixture fixture;

	*state = &fixture;
	return ks_jcs_new(&fixture.jcs, NULL) == KS_OK ? 0 : -1;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	ks_jcs_free(f->jcs);
	return 0;
}

static enum ks_status
parse(struct fixture *f, const char *line)
{
	f->err = (struct ks_error)KS_ERROR_INIT;
	return ks_entry_parse(f->jcs, ks_span_text(line), &f->entry, &f->err);
}

static void
assert_span(struct ks_span span, const char *text)
{
	assert_int_equal(span.len, strlen(text));
	assert_memory_equal(span.data, text, span.len);
}

/* Lines that are right, one for each op and then some. */
static const char *const right[] = {
	AT "\"format\":\"kistore/1\",\"op\":\"init\"}",
	KEY(VKEY) "\"origin\":\"" NAME "\",\"role\":\"log\"}",
	AT "\"key\":" VKEY ",\"next\":" A ",\"op\":\"key\",\"origin\":\"" NAME
		"\",\"role\":\"log\"}",
	KEY(COSIGNER) "\"role\":\"controlled\"}",
	KEY(VKEY) "\"role\":\"revoked\"}",
	KEY(VKEY) "\"role\":\"x-other\"}",
	/* A name that has to be escaped. */
	KEY("\"a\\\"b+63297b18+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up\"")
		"\"origin\":\"a\\\"b\",\"role\":\"log\"}",
	RAW PUBLISH,
	RAW "\"metadata\":{\"a\":null,\"b\":[],\"c\":{\"d\":{}}},"
		"\"missing\":[" A "," B "]," PUBLISH,
	AT DA "\"kind\":\"a/b\"," PUBLISH,
	AT DA "\"kind\":\"a/b/c\"," PUBLISH,
	AT DA "\"kind\":\"//c\"," PUBLISH,
	AT DA "\"kind\":\"a b~/ c\"," PUBLISH,
	AT DA "\"kind\":\"a\\\\/\\\"\"," PUBLISH,
	AT DA "\"kind\":\"raw/raw\"," PUBLISH,
	AT DA "\"kind\":\"" C128("a") "/" C128("\\\"") "\"," PUBLISH,
	AT DA "\"op\":\"annotate\"}",
	AT DA "\"metadata\":{\"a\":1},\"op\":\"annotate\",\"provenance\":"
		"{\"name\":\"\"}}",
	AT DA "\"op\":\"retract\",\"reason\":\"wrong\"}",
	AT DA "\"op\":\"retract\",\"reason\":{\"actor\":\"me\",\"n\":1},"
		"\"retractedAt\":\"\"}",
	AT "\"by\":" B "," DA "\"op\":\"supersede\"}",
	AT "\"by\":" B "," DA "\"op\":\"supersede\",\"reason\":\"newer\"}",
	AT DA "\"op\":\"restore\",\"reason\":\"mistake\"}",
	AT DA "\"op\":\"takedown\",\"reason\":\"law\"}",
	AT DA "\"lines\":[0,7,9007199254740991],\"op\":\"takedown\","
		"\"reason\":\"law\"}",
	RUN "\"op\":\"publish\",\"provenance\":{\"source\":" B "}}",
	AT DA "\"kind\":\"kernelindex.dev/v1alpha1/ServingRun\","
		"\"op\":\"publish\",\"provenance\":{\"source\":" B "}}",
	AT DA "\"kind\":\"kernelindex.dev/v1alpha1/ImplementationRevision\","
		"\"op\":\"publish\",\"provenance\":{\"project\":" B "}}",
	AT DA "\"kind\":\"kernelindex.dev/v1alpha1/ServingStackRevision\","
		"\"op\":\"publish\",\"provenance\":{\"project\":" B "}}",
	/* Of an annotate line the kind is not known here. */
	AT DA "\"op\":\"annotate\",\"provenance\":{\"project\":" B
		",\"source\":" A "}}",
	PROV("\"aliases\":[\"\",\"a\",\"ab\",\"b\"],\"createdAt\":\"\","
		"\"id\":\"" ID "\",\"name\":\"n\",\"publishedAt\":\"then\","
		"\"replication\":{\"independentReplicationCount\":2,"
		"\"reproducedByKernelindex\":false},\"slug\":\"s\","
		"\"summary\":\"\",\"tags\":[\"b\",\"a\",\"b\"]"),
	PROV("\"replication\":{\"independentReplicationCount\":0,"
		"\"reproducedByKernelindex\":true}"),
	PROV("\"replication\":{\"reproducedByKernelindex\":true}"),
	PROV("\"replication\":{\"independentReplicationCount\":1}"),
	/* Byte order of the text itself, not of its escapes: U+0001, tab,
	 * quote, A, backslash, ], a, e with acute, U+FFFD, U+1F600. */
	PROV("\"aliases\":[\"\\u0001\",\"\\t\",\"\\\"\",\"A\",\"\\\\\","
		"\"]\",\"a\",\"\xc3\xa9\",\"\xef\xbf\xbd\","
		"\"\xf0\x9f\x98\x80\"]"),
	PROV("\"name\":\"n\",\"x-a\":[null],\"x-b\":{\"c\":[{}]},\"x-c\":1"),
	("-" HEX_A),
};

/* What breaks a rule, and a part of what is said about it. */
static const struct {
	const char *line;
	const char *message;
} faults[] = {
	{ "", "not canonical JSON" },
	{ "{}", "op is missing" },
	{ "null", "must be an object" },
	{ "[]", "must be an object" },
	{ "\"x\"", "must be an object" },
	/* Not canonical. */
	{ AT "\"format\":\"kistore/1\",\"op\":\"init\"} ", "not canonical" },
	{ AT "\"op\":\"init\",\"format\":\"kistore/1\"}", "not canonical" },
	{ AT "\"format\":\"kistore\\/1\",\"op\":\"init\"}", "not canonical" },
	{ AT "\"op\":\"x-a\",\"x\":1.0}", "not canonical" },
	{ AT "\"op\":\"x-a\",\"op\":\"x-a\"}", "not canonical" },
	{ AT "\"op\":\"x-a\",\"x\":\"\\u0000\"}", "not canonical" },
	{ AT "\"op\":\"x-a\",\"x\":9007199254740993}", "not canonical" },
	{ AT "\"op\":\"x-a\",\"x\":1e-999}", "not canonical" },
	{ AT "\"op\":\"x-a\",\"x\":\"\xff\"}", "not canonical" },
	{ AT "\"op\":\"x-a\"", "not canonical" },
	/* op and at. */
	{ "{\"op\":\"x-a\"}", "at is missing" },
	{ AT "\"x-op\":\"init\"}", "op is missing" },
	{ AT "\"op\":1}", "op must be a string" },
	{ AT "\"op\":null}", "op must be a string" },
	{ "{\"at\":1,\"op\":\"x-a\"}", "at must be a string" },
	{ "{\"at\":\"2026-08-22 12:00:00Z\",\"op\":\"x-a\"}", "at is not" },
	{ "{\"at\":\"2026-08-22T12:00:00.000Z\",\"op\":\"x-a\"}",
		"at is not" },
	{ "{\"at\":\"2026-02-29T12:00:00Z\",\"op\":\"zebra\"}", "at is not" },
	/* Members that are missing or ill-typed. */
	{ AT "\"op\":\"init\"}", "format is missing" },
	{ AT "\"format\":1,\"op\":\"init\"}", "format must be a string" },
	{ AT DA PUBLISH, "kind is missing" },
	{ AT "\"kind\":\"raw\"," PUBLISH, "digest is missing" },
	{ AT "\"op\":\"annotate\"}", "digest is missing" },
	{ AT "\"op\":\"retract\",\"reason\":\"a\"}", "digest is missing" },
	{ AT DA "\"op\":\"retract\"}", "reason is missing" },
	{ AT DA "\"op\":\"restore\"}", "reason is missing" },
	{ AT DA "\"op\":\"takedown\"}", "reason is missing" },
	{ AT DA "\"op\":\"supersede\"}", "by is missing" },
	{ AT "\"by\":" A ",\"op\":\"supersede\"}", "digest is missing" },
	{ AT "\"digest\":1,\"kind\":\"raw\"," PUBLISH,
		"digest must be a string" },
	{ AT "\"digest\":\"" HEX_A "\",\"kind\":\"raw\"," PUBLISH,
		"digest is not a digest" },
	{ AT "\"digest\":\"sha256:A" HEX_A "\",\"kind\":\"raw\"," PUBLISH,
		"digest is not a digest" },
	{ AT "\"digest\":\"SHA256:" HEX_A "\",\"kind\":\"raw\"," PUBLISH,
		"digest is not a digest" },
	{ AT "\"by\":\"" HEX_B "\"," DA "\"op\":\"supersede\"}",
		"by is not a digest" },
	{ AT DA "\"kind\":7," PUBLISH, "kind must be a string" },
	{ AT DA "\"kind\":\"\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"rAw\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"/\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"/b\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"a/\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"a/\xc3\xa9\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"a/\x7f\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"a/\\n\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"" C128("a") "a/b\"," PUBLISH, "kind is neither" },
	{ AT DA "\"kind\":\"a/b" C128("b") "\"," PUBLISH, "kind is neither" },
	{ RAW "\"metadata\":\"a\"," PUBLISH, "metadata must be an object" },
	{ RAW "\"metadata\":[1]," PUBLISH, "metadata must be an object" },
	{ RAW "\"missing\":" A "," PUBLISH, "missing must be a list" },
	{ RAW "\"missing\":{\"a\":1}," PUBLISH, "missing must be a list" },
	{ RAW "\"missing\":[1]," PUBLISH, "missing must be digests" },
	{ RAW "\"missing\":[\"" HEX_A "\"]," PUBLISH,
		"missing must be digests" },
	{ RAW "\"missing\":[" B "," A "]," PUBLISH,
		"missing must be sorted" },
	{ RAW "\"missing\":[" A "," A "]," PUBLISH,
		"missing must be sorted" },
	{ RAW "\"op\":\"publish\",\"provenance\":\"a\"}",
		"provenance must be an object" },
	{ AT DA "\"lines\":7,\"op\":\"takedown\",\"reason\":\"a\"}",
		"lines must be a list" },
	{ AT DA "\"lines\":[\"7\"],\"op\":\"takedown\",\"reason\":\"a\"}",
		"lines must be ascending" },
	{ AT DA "\"lines\":[-1],\"op\":\"takedown\",\"reason\":\"a\"}",
		"lines must be ascending" },
	{ AT DA "\"lines\":[0.5],\"op\":\"takedown\",\"reason\":\"a\"}",
		"lines must be ascending" },
	{ AT DA "\"lines\":[9007199254740992],\"op\":\"takedown\","
		"\"reason\":\"a\"}", "lines must be ascending" },
	{ AT DA "\"lines\":[3,2],\"op\":\"takedown\",\"reason\":\"a\"}",
		"lines must be ascending" },
	{ AT DA "\"lines\":[3,3],\"op\":\"takedown\",\"reason\":\"a\"}",
		"lines must be ascending" },
	{ AT DA "\"op\":\"retract\",\"reason\":\"\"}", "must be a non-empty" },
	{ AT DA "\"op\":\"retract\",\"reason\":7}", "reason must be" },
	{ AT DA "\"op\":\"retract\",\"reason\":[\"a\"]}", "reason must be" },
	{ AT DA "\"op\":\"restore\",\"reason\":\"\"}", "must be a non-empty" },
	{ AT DA "\"op\":\"restore\",\"reason\":{\"a\":1}}",
		"must be a non-empty" },
	{ AT DA "\"op\":\"takedown\",\"reason\":{\"a\":1}}",
		"must be a non-empty" },
	{ AT "\"by\":" B "," DA "\"op\":\"supersede\",\"reason\":{\"a\":1}}",
		"must be a non-empty" },
	{ AT "\"by\":" B "," DA "\"op\":\"supersede\",\"reason\":\"\"}",
		"must be a non-empty" },
	{ AT DA "\"op\":\"retract\",\"reason\":\"a\",\"retractedAt\":1}",
		"retractedAt must be a string" },
	/* What must be left out. */
	{ RAW "\"metadata\":{}," PUBLISH, "metadata holds null" },
	{ RAW "\"metadata\":null," PUBLISH, "metadata holds null" },
	{ RAW "\"missing\":[]," PUBLISH, "missing holds null" },
	{ RAW "\"missing\":null," PUBLISH, "missing holds null" },
	{ RAW "\"op\":\"publish\",\"provenance\":{}}",
		"provenance must be an object with" },
	{ RAW "\"op\":\"publish\",\"provenance\":null}",
		"provenance must be an object with" },
	{ RAW "\"op\":\"publish\",\"x-a\":null}", "x-a holds null" },
	{ RAW "\"op\":\"publish\",\"x-a\":[]}", "x-a holds null" },
	{ RAW "\"op\":\"publish\",\"x-a\":{\"b\":{\"c\":{}}}}",
		"x-a holds null" },
	{ AT DA "\"lines\":[],\"op\":\"takedown\",\"reason\":\"a\"}",
		"lines holds null" },
	{ AT DA "\"op\":\"retract\",\"reason\":{}}", "reason holds null" },
	{ AT DA "\"op\":\"retract\",\"reason\":null}", "reason holds null" },
	{ AT DA "\"op\":\"retract\",\"reason\":{\"actor\":null}}",
		"reason holds null" },
	{ AT DA "\"op\":\"retract\",\"reason\":\"a\",\"retractedAt\":null}",
		"retractedAt holds null" },
	{ PROV("\"tags\":[]"), "provenance.tags holds null" },
	{ PROV("\"name\":null"), "provenance.name holds null" },
	{ PROV("\"x-a\":{}"), "provenance.x-a holds null" },
	{ PROV("\"x-a\":{\"b\":[]}"), "provenance.x-a holds null" },
	{ PROV("\"replication\":{}"), "provenance.replication holds null" },
	{ PROV("\"replication\":{\"reproducedByKernelindex\":null}"),
		"provenance.replication holds null" },
	/* Provenance. */
	{ PROV("\"id\":1"), "provenance.id must be a string" },
	{ PROV("\"id\":\"01234567-89AB-cdef-0123-456789abcdef\""),
		"provenance.id is not" },
	{ PROV("\"id\":\"0123456789abcdef0123456789abcdef\""),
		"provenance.id is not" },
	{ PROV("\"id\":\"{" ID "}\""), "provenance.id is not" },
	{ PROV("\"source\":" B), "source belongs to runs" },
	{ PROV("\"project\":" B), "project belongs to" },
	{ RUN "\"op\":\"publish\",\"provenance\":{\"project\":" B "}}",
		"project belongs to" },
	{ RUN "\"op\":\"publish\",\"provenance\":{\"source\":\"x\"}}",
		"provenance.source is not a digest" },
	{ RUN "\"op\":\"publish\",\"provenance\":{\"source\":{\"a\":1}}}",
		"provenance.source must be a string" },
	{ AT DA "\"kind\":\"kernelindex.dev/v1alpha2/BenchmarkRun\","
		"\"op\":\"publish\",\"provenance\":{\"source\":" B "}}",
		"source belongs to runs" },
	{ AT DA "\"op\":\"annotate\",\"provenance\":{\"project\":\"x\"}}",
		"provenance.project is not a digest" },
	{ PROV("\"publishedAt\":1"), "publishedAt must be a string" },
	{ PROV("\"createdAt\":[1]"), "createdAt must be a string" },
	{ PROV("\"name\":true"), "name must be a string" },
	{ PROV("\"slug\":1"), "slug must be a string" },
	{ PROV("\"summary\":1"), "summary must be a string" },
	{ PROV("\"tags\":\"a\""), "tags must be a list" },
	{ PROV("\"tags\":[\"a\",1]"), "tags must be strings" },
	{ PROV("\"aliases\":{\"a\":1}"), "aliases must be a list" },
	{ PROV("\"aliases\":[null]"), "aliases must be strings" },
	{ PROV("\"aliases\":[\"b\",\"a\"]"), "aliases must be sorted" },
	{ PROV("\"aliases\":[\"a\",\"a\"]"), "aliases must be sorted" },
	{ PROV("\"aliases\":[\"\",\"\"]"), "aliases must be sorted" },
	{ PROV("\"aliases\":[\"ab\",\"a\"]"), "aliases must be sorted" },
	{ PROV("\"aliases\":[\"\\\\\",\"A\"]"), "aliases must be sorted" },
	{ PROV("\"aliases\":[\"\xf0\x9f\x98\x80\",\"\xef\xbf\xbd\"]"),
		"aliases must be sorted" },
	{ PROV("\"replication\":1"), "replication must be an object" },
	{ PROV("\"replication\":{\"independentReplicationCount\":0,"
		"\"reproducedByKernelindex\":false}"), "must be left out" },
	{ PROV("\"replication\":{\"independentReplicationCount\":0}"),
		"must be left out" },
	{ PROV("\"replication\":{\"x-a\":1}"), "must be left out" },
	{ PROV("\"replication\":{\"independentReplicationCount\":-1}"),
		"must be an integer, 0 or more" },
	{ PROV("\"replication\":{\"independentReplicationCount\":1.5}"),
		"must be an integer, 0 or more" },
	{ PROV("\"replication\":{\"independentReplicationCount\":\"1\"}"),
		"must be a number" },
	{ PROV("\"replication\":{\"reproducedByKernelindex\":1}"),
		"must be true or false" },
	/* Keys. */
	{ AT "\"op\":\"key\",\"role\":\"log\"}", "key is missing" },
	{ AT "\"key\":" VKEY ",\"op\":\"key\"}", "role is missing" },
	{ KEY(VKEY) "\"role\":1}", "role must be a string" },
	{ KEY(VKEY) "\"role\":\"log\"}", "origin must be the name" },
	{ KEY(VKEY) "\"origin\":\"archive.example\",\"role\":\"log\"}",
		"origin must be the name" },
	{ KEY(VKEY) "\"origin\":7,\"role\":\"log\"}",
		"origin must be a string" },
	{ KEY(VKEY) "\"origin\":\"" NAME "\",\"role\":\"controlled\"}",
		"belong to role log" },
	{ KEY(VKEY) "\"origin\":\"" NAME "\",\"role\":\"x-a\"}",
		"belong to role log" },
	{ AT "\"key\":" VKEY ",\"next\":" A ",\"op\":\"key\","
		"\"role\":\"revoked\"}", "belong to role log" },
	{ AT "\"key\":" VKEY ",\"next\":\"" HEX_A "\",\"op\":\"key\","
		"\"origin\":\"" NAME "\",\"role\":\"log\"}",
		"next is not a digest" },
	{ AT "\"key\":" VKEY ",\"next\":1,\"op\":\"key\",\"origin\":\"" NAME
		"\",\"role\":\"log\"}", "next must be a string" },
	/* Redacted lines. */
	{ "-", "a redacted line is" },
	{ "-" HEX_A "a", "a redacted line is" },
	{ "- " HEX_A, "a redacted line is" },
	{ "--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"a redacted line is" },
	{ "-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"a redacted line is" },
};

/* What only a newer version can judge, whatever else is wrong with it. */
static const struct {
	const char *line;
	const char *message;
} newer[] = {
	{ AT "\"op\":\"rename\"}", "op \"rename\"" },
	{ AT "\"op\":\"\"}", "op \"\"" },
	{ AT "\"op\":\"X-a\"}", "op \"X-a\"" },
	{ AT "\"op\":\"x\"}", "op \"x\"" },
	{ AT "\"op\":\"extension\"}", "op \"extension\"" },
	{ AT "\"op\":\"redacted\"}", "op \"redacted\"" },
	{ AT "\"op\":\"rename\",\"zone\":null}", "op \"rename\"" },
	{ AT "\"format\":\"kistore/2\",\"op\":\"init\"}", "format" },
	{ AT "\"format\":\"\",\"op\":\"init\"}", "format" },
	{ RAW "\"op\":\"publish\",\"size\":1}", "member \"size\"" },
	{ RAW "\"op\":\"publish\",\"size\":null}", "member \"size\"" },
	{ AT "\"op\":\"publish\",\"size\":1}", "member \"size\"" },
	{ "{\"X-a\":1,\"at\":\"2026-08-22T12:00:00Z\"," DA
		"\"kind\":\"raw\"," PUBLISH, "member \"X-a\"" },
	{ RAW "\"op\":\"publish\",\"reason\":\"a\"}", "member \"reason\"" },
	{ AT "\"by\":" B "," DA "\"op\":\"retract\",\"reason\":\"a\"}",
		"member \"by\"" },
	{ AT DA "\"format\":\"kistore/1\",\"op\":\"init\"}",
		"member \"digest\"" },
	{ AT DA "\"lines\":[1],\"op\":\"retract\",\"reason\":\"a\"}",
		"member \"lines\"" },
	{ AT DA "\"missing\":[" B "],\"op\":\"annotate\"}",
		"member \"missing\"" },
	{ AT DA "\"kind\":\"raw\",\"op\":\"annotate\"}", "member \"kind\"" },
	{ KEY(VKEY) "\"role\":\"mirror\"}", "role \"mirror\"" },
	{ KEY("7") "\"role\":\"mirror\"}", "role \"mirror\"" },
	{ PROV("\"doi\":\"a\""), "member \"provenance.doi\"" },
	{ PROV("\"doi\":null,\"id\":7"), "member \"provenance.doi\"" },
	{ PROV("\"replication\":{\"count\":1}"),
		"member \"provenance.replication.count\"" },
};

static void
a_right_line_is_taken_apart_and_written_again(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < LENGTH(right); i++) {
		struct ks_buf out = KS_BUF_INIT;

		if (parse(f, right[i]) != KS_OK)
			fail_msg("%s: %s", right[i], f->err.message);
		if (strstr(right[i], "\"x-a\"") == NULL) {
			assert_int_equal(ks_entry_write(&f->entry, &out,
				NULL), KS_OK);
			assert_string_equal(ks_buf_cstr(&out), right[i]);
		}
		ks_buf_release(&out);
	}
}

static void
a_line_that_breaks_a_rule_is_a_fault(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < LENGTH(faults); i++) {
		enum ks_status status = parse(f, faults[i].line);

		if (status != KS_CORRUPT ||
			strstr(f->err.message, faults[i].message) == NULL)
			fail_msg("%s: %s %s", faults[i].line,
				ks_status_name(status), f->err.message);
		assert_int_equal(f->err.status, KS_CORRUPT);
		assert_int_equal(f->entry.at.len, 0);
		assert_int_equal(ks_entry_parse(f->jcs,
			ks_span_text(faults[i].line), &f->entry, NULL),
			KS_CORRUPT);
	}
}

static void
a_line_with_an_unknown_name_needs_a_newer_version(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < LENGTH(newer); i++) {
		enum ks_status status = parse(f, newer[i].line);

		if (status != KS_UNSUPPORTED ||
			strstr(f->err.message, newer[i].message) == NULL)
			fail_msg("%s: %s %s", newer[i].line,
				ks_status_name(status), f->err.message);
		assert_span(f->entry.at, "2026-08-22T12:00:00Z");
	}
}

static void
every_part_of_a_line_is_found(void **state)
{
	struct fixture *f = *state;
	char text[KS_ID_TEXT + 1];

	assert_int_equal(parse(f, AT DA "\"kind\":\"a/b\",\"metadata\":"
		"{\"m\":1},\"missing\":[" B "],\"op\":\"publish\","
		"\"provenance\":{\"name\":\"n\"}}"), KS_OK);
	assert_int_equal(f->entry.op, KS_OP_PUBLISH);
	assert_span(f->entry.at, "2026-08-22T12:00:00Z");
	assert_string_equal(ks_id_print(&f->entry.digest, text),
		"sha256:" HEX_A);
	assert_span(f->entry.kind, "a/b");
	assert_span(f->entry.metadata, "{\"m\":1}");
	assert_span(f->entry.missing, "[" B "]");
	assert_span(f->entry.provenance, "{\"name\":\"n\"}");
	assert_int_equal(f->entry.reason.len, 0);

	assert_int_equal(parse(f, AT "\"by\":" B "," DA
		"\"op\":\"supersede\",\"reason\":\"r\"}"), KS_OK);
	assert_int_equal(f->entry.op, KS_OP_SUPERSEDE);
	assert_string_equal(ks_id_print(&f->entry.by, text),
		"sha256:" HEX_B);
	assert_span(f->entry.reason, "\"r\"");

	assert_int_equal(parse(f, AT DA "\"lines\":[1,2],\"op\":"
		"\"takedown\",\"reason\":\"law\"}"), KS_OK);
	assert_int_equal(f->entry.op, KS_OP_TAKEDOWN);
	assert_span(f->entry.lines, "[1,2]");

	assert_int_equal(parse(f, AT DA "\"op\":\"retract\",\"reason\":"
		"{\"a\":1},\"retractedAt\":\"then\"}"), KS_OK);
	assert_int_equal(f->entry.op, KS_OP_RETRACT);
	assert_span(f->entry.retracted_at, "\"then\"");

	assert_int_equal(parse(f, AT "\"key\":" VKEY ",\"next\":" A
		",\"op\":\"key\",\"origin\":\"" NAME "\",\"role\":\"log\"}"),
		KS_OK);
	assert_int_equal(f->entry.op, KS_OP_KEY);
	assert_span(f->entry.key, VKEY);
	assert_span(f->entry.next, A);
	assert_span(f->entry.origin, "\"" NAME "\"");
	assert_span(f->entry.role, "\"log\"");

	assert_int_equal(parse(f, "-" HEX_B), KS_OK);
	assert_int_equal(f->entry.op, KS_OP_REDACTED);
	assert_string_equal(ks_id_print(&f->entry.leaf, text),
		"sha256:" HEX_B);
}

static void
of_an_extension_line_only_the_form_is_judged(void **state)
{
	static const char *const lines[] = {
		AT "\"op\":\"x-\"}",
		AT "\"digest\":7,\"op\":\"x-note\",\"provenance\":null}",
		AT "\"op\":\"x-note\",\"unknown\":[],\"x-a\":{}}",
	};
	struct fixture *f = *state;
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	for (i = 0; i < LENGTH(lines); i++) {
		assert_int_equal(parse(f, lines[i]), KS_OK);
		assert_int_equal(f->entry.op, KS_OP_EXTENSION);
		assert_span(f->entry.at, "2026-08-22T12:00:00Z");
		assert_int_equal(f->entry.provenance.len, 0);
		assert_int_equal(ks_entry_write(&f->entry, &out, NULL),
			KS_INVALID);
		assert_int_equal(out.len, 0);
	}
}

static void
members_that_begin_with_x_may_stand_anywhere(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse(f, RAW "\"op\":\"publish\",\"x-a\":1,"
		"\"x-b\":false,\"x-c\":[null,[],{}],\"x-d\":\"\"}"), KS_OK);
	assert_int_equal(parse(f, AT "\"format\":\"kistore/1\","
		"\"op\":\"init\",\"x-a\":{\"b\":1}}"), KS_OK);
	assert_int_equal(parse(f, PROV("\"replication\":"
		"{\"independentReplicationCount\":1,\"x-a\":2}")), KS_OK);
}

static void
a_key_text_of_another_form_is_a_fault(void **state)
{
	static const char *const keys[] = {
		"\"\"",
		"7",
		"\"" NAME "\"",
		"\"" NAME "+f8ca281c\"",
		"\"" NAME "+f8ca281c+\"",
		"\"" KEY_TAIL "\"",		/* no name */
		"\"other.example/log" KEY_TAIL "\"",	/* id of another */
		"\"archive.example/ log" KEY_TAIL "\"",
		"\"" NAME "+F8CA281C+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22up\"",
		"\"" NAME "+f8ca281d+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22up\"",
		"\"" NAME "+f8ca281c+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22uq\"",
		"\"" NAME "+f8ca281c+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22u\"",
		"\"" NAME "+f8ca281c+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22up\\n\"",
		"\"" NAME "+f8ca281c+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22upAA==\"",
		/* Type 02, with the id that belongs to it. */
		"\"" NAME "+32cff717+Av6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22up\"",
		/* Names with a no-break space, a line separator, a tab, each
		 * with its id. */
		"\"a\xc2\xa0" "b+5a71780f+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22up\"",
		"\"a\xe2\x80\xa8" "b+dc856eae+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v"
			"5+PHmbYW22up\"",
		("\"a\\tb+4bb81755+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+"
			"PHmbYW22up\""),
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < LENGTH(keys); i++) {
		char line[512];

		(void)snprintf(line, sizeof(line), KEY("%s")
			"\"role\":\"controlled\"}", keys[i]);
		assert_int_equal(parse(f, line), KS_CORRUPT);
		assert_non_null(strstr(f->err.message, "key "));
	}
}

/* The key of the vectors under the name of `len` letters, with its id. */
static enum ks_status
parse_name_of(struct fixture *f, size_t len)
{
	struct ks_vkey vkey;
	char name[KS_KEY_NAME_MAX + 2], line[512];

	assert_int_equal(ks_vkey_parse(ks_span_text(NAME KEY_TAIL), &vkey,
		NULL), KS_OK);
	assert_true(len < sizeof(name));
	memset(name, 'a', len);
	(void)snprintf(line, sizeof(line), KEY("\"%.*s+%08x%s\"")
		"\"role\":\"controlled\"}", (int)len, name,
		(unsigned)ks_key_id(ks_span(name, len), vkey.type, &vkey.key),
		&KEY_TAIL[strlen("+f8ca281c")]);
	return parse(f, line);
}

static void
the_name_of_a_key_is_no_longer_than_a_note_can_have(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(parse_name_of(f, KS_KEY_NAME_MAX), KS_OK);
	assert_int_equal(parse_name_of(f, KS_KEY_NAME_MAX + 1), KS_CORRUPT);
}

/* A publish line whose metadata is filled up to `len` bytes. */
static void
fill_line(struct ks_buf *out, size_t len)
{
	static const char head[] = RAW "\"metadata\":{\"a\":\"";
	static const char tail[] = "\"}," PUBLISH;

	ks_buf_clear(out);
	ks_buf_text(out, head);
	while (out->len < len - strlen(tail))
		ks_buf_byte(out, 'a');
	ks_buf_text(out, tail);
	assert_int_equal(out->len, len);
}

static void
a_line_has_at_most_65535_bytes(void **state)
{
	struct fixture *f = *state;
	struct ks_buf line = KS_BUF_INIT, out = KS_BUF_INIT;

	fill_line(&line, KS_ENTRY_MAX + 1);
	assert_int_equal(ks_entry_parse(f->jcs, ks_buf_span(&line), &f->entry,
		&f->err), KS_CORRUPT);
	assert_non_null(strstr(f->err.message, "65535"));
	fill_line(&line, KS_ENTRY_MAX);
	assert_int_equal(ks_entry_parse(f->jcs, ks_buf_span(&line), &f->entry,
		&f->err), KS_OK);
	ks_buf_text(&out, "before");
	assert_int_equal(ks_entry_write(&f->entry, &out, NULL), KS_OK);
	assert_int_equal(out.len, 6 + KS_ENTRY_MAX);
	out.len = 6;
	f->entry.missing = ks_span_text("[1]");
	assert_int_equal(ks_entry_write(&f->entry, &out, &f->err),
		KS_INVALID);
	assert_int_equal(out.len, 6);
	ks_buf_release(&line);
	ks_buf_release(&out);
}

static void
a_line_nests_at_most_64_deep(void **state)
{
	struct fixture *f = *state;
	size_t depth;

	for (depth = 64; depth <= 65; depth++) {
		struct ks_buf line = KS_BUF_INIT;
		size_t i;

		/* The line is 1, the innermost scalar `depth`. */
		ks_buf_text(&line, RAW "\"op\":\"publish\",\"x-a\":");
		for (i = 2; i < depth; i++)
			ks_buf_text(&line, "{\"a\":");
		ks_buf_text(&line, "1");
		for (i = 2; i < depth; i++)
			ks_buf_text(&line, "}");
		ks_buf_text(&line, "}");
		assert_int_equal(ks_entry_parse(f->jcs, ks_buf_span(&line),
			&f->entry, NULL), depth == 64 ? KS_OK : KS_CORRUPT);
		ks_buf_release(&line);
	}
}

static void
provenance_gives_what_the_program_acts_on(void **state)
{
	struct ks_provenance found;
	struct ks_error err = KS_ERROR_INIT;
	char text[KS_UUID_TEXT + 1];
	const struct ks_span run =
		ks_span_text("kernelindex.dev/v1alpha1/ServingRun");

	(void)state;
	assert_int_equal(ks_provenance_read(ks_span_text("{\"id\":\"" ID
		"\",\"source\":" A "}"), run, &found, &err), KS_OK);
	assert_true(found.has_id && found.has_source && !found.has_project);
	assert_string_equal(ks_uuid_print(found.id, text), ID);
	assert_int_equal(found.source.bytes[31], 0xaa);
	assert_int_equal(ks_provenance_read(ks_span_text("{\"project\":" B
		",\"source\":" A "}"), ks_span(NULL, 0), &found, &err), KS_OK);
	assert_true(found.has_project && found.project.bytes[0] == 0xbb);
	assert_int_equal(ks_provenance_read(ks_span_text("{\"project\":" B
		"}"), run, &found, &err), KS_CORRUPT);
	assert_false(found.has_project);
	assert_int_equal(ks_provenance_read(ks_span_text("{}"), run, &found,
		&err), KS_CORRUPT);
	assert_int_equal(ks_provenance_read(ks_span_text("[1]"), run, &found,
		&err), KS_CORRUPT);
	assert_int_equal(ks_provenance_read(ks_span_text("{\"a\":1}"), run,
		&found, NULL), KS_UNSUPPORTED);
}

static void
times_are_read_by_the_calendar(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} times[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1969-12-31T23:59:59Z", -1 },
		{ "2000-02-29T12:34:56Z", 951827696 },
		{ "2026-08-22T12:00:00Z", 1787400000 },
		{ "2038-01-19T03:14:08Z", 2147483648 },
		{ "1600-02-29T00:00:00Z", -11670998400 },
		{ "0000-01-01T00:00:00Z", -62167219200 },
		{ "0000-12-31T23:59:59Z", -62135596801 },
		{ "9999-12-31T23:59:59Z", 253402300799 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(times); i++) {
		char text[KS_TIME_TEXT + 1];
		int64_t seconds = 1;

		assert_true(ks_time_parse(ks_span_text(times[i].text),
			&seconds));
		assert_true(seconds == times[i].seconds);
		assert_true(ks_time_print(seconds, text));
		assert_string_equal(text, times[i].text);
	}
}

static void
times_of_another_form_or_no_such_day_are_refused(void **state)
{
	static const char *const texts[] = {
		"", "2026-08-22", "2026-08-22T12:00Z",
		"2026-08-22T12:00:00", "2026-08-22T12:00:00z",
		"2026-08-22t12:00:00Z", "2026-08-22 12:00:00Z",
		"2026-08-22T12:00:00.0Z", "2026-08-22T12:00:00ZZ",
		"2026-08-22T12:00:00+", "2026/08/22T12:00:00Z",
		"2026-00-22T12:00:00Z", "2026-13-22T12:00:00Z",
		"2026-08-00T12:00:00Z", "2026-08-32T12:00:00Z",
		"2026-04-31T12:00:00Z", "2026-02-29T12:00:00Z",
		"1900-02-29T12:00:00Z", "2100-02-29T12:00:00Z",
		"2026-08-22T24:00:00Z", "2026-08-22T12:60:00Z",
		"2026-08-22T12:00:60Z", "2026-08-22T12:-1:00Z",
		"+026-08-22T12:00:00Z", " 026-08-22T12:00:00Z",
		"2026-08-22T12:00:0\xb2Z",
	};
	char text[KS_TIME_TEXT + 1];
	int64_t seconds;
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(texts); i++)
		assert_false(ks_time_parse(ks_span_text(texts[i]), &seconds));
	assert_false(ks_time_print(253402300800, text));
	assert_string_equal(text, "");
	assert_false(ks_time_print(-62167219201, text));
	assert_false(ks_time_print(INT64_MIN, text));
	assert_false(ks_time_print(INT64_MAX, text));
}

static void
uuids_are_read_strictly_or_in_any_case(void **state)
{
	static const char *const malformed[] = {
		"", "0123456789abcdef0123456789abcdef",
		"01234567-89ab-cdef-0123-456789abcde",
		"01234567-89ab-cdef-0123-456789abcdef0",
		"01234567-89ab-cdef-0123-456789abcdeg",
		"01234567-89ab-cdef-01234-56789abcdef",
		"0123456789-ab-cdef-0123-456789abcdef",
		"01234567-89ab-cdef-0123_456789abcdef",
		"01234567--9ab-cdef-0123-456789abcdef",
	};
	static const uint8_t expected[16] = { 0x01, 0x23, 0x45, 0x67, 0x89,
		0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd,
		0xef };
	struct ks_span upper =
		ks_span_text("01234567-89AB-CDEF-0123-456789ABCDEF");
	char text[KS_UUID_TEXT + 1];
	uint8_t id[16];
	size_t i;

	(void)state;
	assert_true(ks_uuid_parse(ks_span_text(ID), false, id));
	assert_memory_equal(id, expected, sizeof(id));
	assert_string_equal(ks_uuid_print(id, text), ID);
	memset(id, 0, sizeof(id));
	assert_false(ks_uuid_parse(upper, false, id));
	assert_int_equal(id[0] | id[4], 0);
	assert_true(ks_uuid_parse(upper, true, id));
	assert_memory_equal(id, expected, sizeof(id));
	for (i = 0; i < LENGTH(malformed); i++) {
		assert_false(ks_uuid_parse(ks_span_text(malformed[i]), false,
			id));
		assert_false(ks_uuid_parse(ks_span_text(malformed[i]), true,
			id));
	}
}

static void
every_op_has_its_name(void **state)
{
	(void)state;
	assert_string_equal(ks_op_name(KS_OP_INIT), "init");
	assert_string_equal(ks_op_name(KS_OP_TAKEDOWN), "takedown");
	assert_string_equal(ks_op_name(KS_OP_REDACTED), "redacted");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_right_line_is_taken_apart_and_written_again),
		cmocka_unit_test(a_line_that_breaks_a_rule_is_a_fault),
		cmocka_unit_test(
			a_line_with_an_unknown_name_needs_a_newer_version),
		cmocka_unit_test(every_part_of_a_line_is_found),
		cmocka_unit_test(of_an_extension_line_only_the_form_is_judged),
		cmocka_unit_test(members_that_begin_with_x_may_stand_anywhere),
		cmocka_unit_test(a_key_text_of_another_form_is_a_fault),
		cmocka_unit_test(
			the_name_of_a_key_is_no_longer_than_a_note_can_have),
		cmocka_unit_test(a_line_has_at_most_65535_bytes),
		cmocka_unit_test(a_line_nests_at_most_64_deep),
		cmocka_unit_test(provenance_gives_what_the_program_acts_on),
		cmocka_unit_test(times_are_read_by_the_calendar),
		cmocka_unit_test(
			times_of_another_form_or_no_such_day_are_refused),
		cmocka_unit_test(uuids_are_read_strictly_or_in_any_case),
		cmocka_unit_test(every_op_has_its_name),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
