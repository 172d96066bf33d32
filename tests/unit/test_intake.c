#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/entry.h"
#include "format/intake.h"
#include "format/json.h"
#include "format/record.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SPEC_M(spec) "{\"apiVersion\":\"a\",\"kind\":\"K\"," \
	"\"metadata\":{\"name\":\"n\"},\"spec\":" spec "}"
#define M SPEC_M("{}")
#define ROW(table, columns) \
	"{\"table\":\"" table "\",\"row\":{" columns "}}"
#define ONES \
	"1111111111111111111111111111111111111111111111111111111111111111"
#define TWOS \
	"2222222222222222222222222222222222222222222222222222222222222222"
#define UUID "01a00328-d47c-7549-9f61-ef41cebab6d3"

static struct ks_jcs *jcs;

static int
start(void **state)
{
	(void)state;
	return ks_jcs_new(&jcs, NULL) == KS_OK ? 0 : -1;
}

static int
stop(void **state)
{
	(void)state;
	ks_jcs_free(jcs);
	return 0;
}

/* A visitor that writes down what it is told, a fact a line. */

static void
write_id(struct ks_buf *out, const char *label, const struct ks_intake_id *id)
{
	char text[KS_UUID_TEXT + 1];

	if (id->present)
		ks_buf_printf(out, " %s=%.8s", label,
			ks_uuid_print(id->bytes, text));
}

static void
write_value(struct ks_buf *out, const char *label, struct ks_span value)
{
	if (value.len == 0)
		return;
	ks_buf_printf(out, " %s=", label);
	ks_buf_append(out, value);
}

static enum ks_status
on_manifest(void *arg, const struct ks_intake_manifest *m,
	struct ks_error *err)
{
	struct ks_buf *out = arg;
	char hex[KS_ID_HEX + 1];

	(void)err;
	ks_buf_printf(out, "%s %s%s", m->table != NULL ? m->table : "-",
		m->main ? "main" : "part", m->partial ? " partial" : "");
	if (m->stated_column != NULL)
		ks_buf_printf(out, " %s=%.4s", m->stated_column,
			ks_id_print_hex(&m->stated, hex));
	write_id(out, "id", &m->id);
	write_id(out, "project", &m->project);
	write_id(out, "source", &m->source);
	write_id(out, "supersedes", &m->supersedes);
	write_value(out, "provenance", m->provenance);
	write_value(out, "reason", m->reason);
	write_value(out, "at", m->retracted_at);
	if (!ks_span_is(m->text, M))
		write_value(out, "text", m->text);
	ks_buf_byte(out, '\n');
	return KS_OK;
}

static enum ks_status
on_alias(void *arg, const uint8_t operation[16], struct ks_span alias,
	struct ks_error *err)
{
	struct ks_buf *out = arg;
	char text[KS_UUID_TEXT + 1];

	(void)err;
	ks_buf_printf(out, "alias %s ", ks_uuid_print(operation, text));
	ks_buf_append(out, alias);
	ks_buf_byte(out, '\n');
	return KS_OK;
}

static void
on_skipped(void *arg, enum ks_intake_skip what, struct ks_span name)
{
	static const char *const words[] = {
		[KS_SKIP_DERIVED] = "derived",
		[KS_SKIP_TABLE] = "unknown",
		[KS_SKIP_MEMBER] = "member",
		[KS_SKIP_SOURCE] = "source",
	};
	struct ks_buf *out = arg;

	ks_buf_printf(out, "skipped %s ", words[what]);
	ks_buf_append(out, name);
	ks_buf_byte(out, '\n');
}

static void
on_difference(void *arg, const struct ks_intake_difference *d)
{
	struct ks_buf *out = arg;

	ks_buf_printf(out, "differs %s.%s ", d->table, d->column);
	ks_buf_append(out, d->stated);
	ks_buf_text(out, " not ");
	ks_buf_append(out, d->implied);
	ks_buf_byte(out, '\n');
}

static enum ks_status
read_text(const char *text, struct ks_buf *out, struct ks_error *err)
{
	struct ks_intake_visitor visitor = { .arg = out,
		.manifest = on_manifest, .alias = on_alias,
		.skipped = on_skipped, .differs = on_difference };
	struct ks_intake intake = KS_INTAKE_INIT;
	struct ks_buf value = KS_BUF_INIT;
	enum ks_status status;

	status = ks_jcs_scan(jcs, ks_span_text(text), &ks_jcs_row, &value,
		err);
	assert_int_equal(status, KS_OK);
	status = ks_intake_read(&intake, ks_buf_span(&value), &visitor, err);
	ks_intake_release(&intake);
	ks_buf_release(&value);
	return status;
}

struct meaning {
	const char *text;
	const char *says;
};

static void
expect_meanings(const struct meaning *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ks_buf out = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		if (read_text(cases[i].text, &out, &err) != KS_OK)
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_string_equal(ks_buf_cstr(&out), cases[i].says);
		ks_buf_release(&out);
	}
}

static void
expect_refusals(const struct meaning *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ks_buf out = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		if (read_text(cases[i].text, &out, &err) != KS_INVALID)
			fail_msg("taken: %s", cases[i].text);
		assert_int_equal(err.status, KS_INVALID);
		if (strstr(err.message, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].text, err.message);
		ks_buf_release(&out);
	}
}

/* Values. */

static const struct meaning values[] = {
	{ M, "- main\n" },
	/* Which members are wrong is for ks_record_read() to say. */
	{ "{\"apiVersion\":1,\"kind\":null}",
		"- main text={\"apiVersion\":1,\"kind\":null}\n" },
	{ "[]", "" },
	{ "[[],[[]]]", "" },
	{ "[" M ",[" M "]," ROW("projects", "\"manifest\":" M) "]",
		"- main\n- main\nprojects main\n" },
	{ "{\"run\":" M ",\"environment\":" M ",\"note\":\"x\",\"row\":{}}",
		"- main\nskipped member note\nskipped member row\n- main\n" },
	/* Canonical order, not the author's. */
	{ "{\"b\":" SPEC_M("{\"x\":2}") ",\"a\":" SPEC_M("{\"x\":1}") "}",
		"- main text=" SPEC_M("{\"x\":1}") "\n"
		"- main text=" SPEC_M("{\"x\":2}") "\n" },
	/* Bundles do not nest, and hold no arrays or rows. */
	{ "{\"a\":{\"b\":" M "},\"c\":[" M "],\"d\":" M ",\"e\":"
		ROW("projects", "\"manifest\":" M) "}",
		"skipped member a\nskipped member c\n- main\n"
		"skipped member e\n" },
	/* A row before a manifest. */
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{},\"table\":"
		"\"novel\",\"row\":{}}", "skipped unknown novel\n" },
	/* Other members around `row` and `table` do not matter. */
	{ "{\"a\":{},\"row\":{\"createdAt\":\"t\",\"manifest\":" M "},"
		"\"s\":{\"slug\":\"x\"},\"table\":\"projects\",\"z\":[]}",
		"projects main provenance={\"createdAt\":\"t\"}\n" },
	{ "{\"row\":{},\"s\":{\"summary\":\"x\"},\"table\":\"sources\"}",
		"sources main text={\"apiVersion\":\"kistore/v1\","
		"\"kind\":\"Source\",\"spec\":{}}\n" },
	{ "{\"row\":{},\"table\":\"\"}", "skipped unknown \n" },
	/* No row, so a bundle. */
	{ "{\"table\":1,\"row\":" M "}", "- main\nskipped member table\n" },
};

static void
a_value_is_a_row_or_a_manifest_or_an_array_or_a_bundle(void **state)
{
	(void)state;
	expect_meanings(values, COUNT(values));
}

static const struct meaning no_values[] = {
	{ "null", "null is no record" },
	{ "17", "a number is no record" },
	{ "\"x\"", "a string is no record" },
	{ "{}", "this object is no record" },
	{ "{\"kind\":\"K\",\"spec\":{}}", "this object is no record" },
	{ "{\"a\":{\"b\":" M "}}", "this object is no record" },
	{ "{\"a\":[" M "]}", "this object is no record" },
	{ "{\"table\":\"projects\",\"row\":[]}", "this object is no record" },
	{ "{\"table\":\"projects\"}", "this object is no record" },
	{ "{\"row\":{}}", "this object is no record" },
	{ "[" M ",7]", "element 1: a number is no record" },
	{ "[[],[" M ",{}]]", "element 1: element 1: this object" },
};

static void
any_other_value_is_refused_with_its_place(void **state)
{
	(void)state;
	expect_refusals(no_values, COUNT(no_values));
}

/* A bundle around a manifest whose spec nests `levels` arrays. */
static void
deep_bundle(struct ks_buf *out, size_t levels)
{
	ks_buf_text(out, "{\"run\":{\"apiVersion\":\"a\",\"kind\":\"K\","
		"\"spec\":{\"x\":");
	for (size_t i = 0; i < levels; i++)
		ks_buf_byte(out, '[');
	ks_buf_byte(out, '1');
	for (size_t i = 0; i < levels; i++)
		ks_buf_byte(out, ']');
	ks_buf_text(out, "}}}");
}

static void
a_manifest_inside_must_itself_respect_the_depth(void **state)
{
	(void)state;
	for (size_t extra = 0; extra < 2; extra++) {
		struct ks_buf text = KS_BUF_INIT, out = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		/* The manifest, its spec, 61 arrays and the number. */
		deep_bundle(&text, 61 + extra);
		assert_int_equal(read_text(ks_buf_cstr(&text), &out, &err),
			extra == 0 ? KS_OK : KS_INVALID);
		if (extra != 0)
			assert_string_equal(err.message, "run: a manifest may "
				"nest at most 64 levels deep");
		ks_buf_release(&text);
		ks_buf_release(&out);
	}
}

static void
a_manifest_inside_must_itself_respect_the_length(void **state)
{
	struct ks_buf text = KS_BUF_INIT, out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	ks_buf_text(&text, "[{\"apiVersion\":\"a\",\"kind\":\"");
	for (size_t i = 0; i < 1048576; i++)
		ks_buf_byte(&text, 'x');
	ks_buf_text(&text, "\"}]");
	assert_int_equal(read_text(ks_buf_cstr(&text), &out, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message,
		"element 0: a manifest may have at most 1048576 bytes"));
	ks_buf_release(&text);
	ks_buf_release(&out);
}

/* Run dossiers. */

#define DOSSIER(run, manifest, more) \
	"{\"run\":{" run "},\"manifest\":" manifest more "}"
#define OWN(kind, spec) "{\"apiVersion\":\"kistore/v1\",\"kind\":\"" \
	kind "\",\"spec\":" spec "}"
#define D(hex) "\"sha256:" hex "\""
#define FROM(source) \
	DOSSIER("", M, ",\"provenance\":{\"source\":" source "}")
/* Refers to ONES as its environment and workload. */
#define REFERRING SPEC_M("{\"environmentDigest\":" D(ONES) \
	",\"workloadDigest\":" D(ONES) "}")
#define OF_REFERRING(more) DOSSIER("", REFERRING, more)
/* Of {"kind":"k","name":"N","slug":"s"}, and with "policy":{"url":"u"}. */
#define D_SOURCE D("d9ccc41ee76e34bb2ec5a703f3ad96e4" \
	"5a93bb1c09b74cd8326f9d618db1a8cc")
#define D_POLICY_SOURCE D("48018bd0b2922941d6659556bc292e8a" \
	"fcfb8511100eb29b26b32e6c8fa0be40")

static const struct meaning dossiers[] = {
	{ DOSSIER("", "{\"run\":" M "}", ""), "- main partial\n" },
	/* A serving run has no other manifests. */
	{ DOSSIER("", M, ""), "- main partial\n" },
	/* Canonical order of the members; null says nothing. */
	{ DOSSIER("\"digest\":" D(ONES) ",\"observedAt\":1,\"id\":"
		"\"01A00328-D47C-7549-9F61-EF41CEBAB6D3\",\"publishedAt\":"
		"\"t\",\"status\":[]", "{\"run\":" M ",\"protocol\":"
		SPEC_M("{\"p\":1}") ",\"note\":1,\"none\":null,"
		"\"environment\":" SPEC_M("{\"e\":1}") "}",
		",\"cohort\":{},\"primary\":null,\"protocol\":[],"
		"\"provenance\":{\"externalId\":\"x\",\"source\":null,"
		"\"parserVersion\":null}"),
		"skipped member cohort\n"
		"- part text=" SPEC_M("{\"e\":1}") "\n"
		"skipped member manifest.note\n"
		"- part text=" SPEC_M("{\"p\":1}") "\n"
		"- main partial run.digest=1111 id=01a00328 provenance="
		"{\"id\":\"" UUID "\",\"publishedAt\":\"t\"}\n"
		"skipped member protocol\n"
		"skipped member provenance.externalId\n" },
	{ DOSSIER("\"digest\":null,\"id\":null,\"publishedAt\":null", M,
		",\"provenance\":null"), "- main partial\n" },
	{ DOSSIER("", M, ",\"provenance\":[]"),
		"- main partial\nskipped member provenance\n" },
	/* The run says which its parts are. */
	{ DOSSIER("", "{\"run\":" REFERRING ",\"environment\":" M
		",\"protocol\":" M ",\"other\":" M "}", ""),
		"- part spec.environmentDigest of the run=1111\n"
		"- part\n- part\n- main partial text=" REFERRING "\n" },
	{ OF_REFERRING(",\"workload\":{\"digest\":" D(ONES) "},"
		"\"environment\":{\"digest\":null},\"implementation\":"
		"{\"digest\":" D(TWOS) "}"),
		"skipped member environment\nskipped member implementation\n"
		"- main partial text=" REFERRING "\n"
		"skipped member workload\n" },
	/* Manifests beside `manifest` are taken as a bundle's are. */
	{ OF_REFERRING(",\"workload\":" M ",\"runs\":[" M "],\"a\":" M),
		"- part\n- main partial text=" REFERRING "\n- main\n"
		"- part spec.workloadDigest of the run=1111\n" },
	{ DOSSIER("", M, ",\"provenance\":" M), "- main partial\n- part\n" },
	/* A source that is stated whole, in part, or by its slug. */
	{ FROM("{\"slug\":\"s\",\"name\":\"N\",\"kind\":\"k\","
		"\"url\":\"u\",\"policy\":null}"),
		"- main partial provenance={\"source\":" D_SOURCE "}\n"
		"- part text=" OWN("Source", "{\"kind\":\"k\",\"name\":"
		"\"N\",\"slug\":\"s\"}") "\n" },
	{ FROM("{\"slug\":\"s\",\"name\":\"N\",\"kind\":\"k\","
		"\"policy\":{\"url\":\"u\"}}"),
		"- main partial provenance={\"source\":" D_POLICY_SOURCE
		"}\n- part text=" OWN("Source", "{\"kind\":\"k\","
		"\"name\":\"N\",\"policy\":{\"url\":\"u\"},\"slug\":"
		"\"s\"}") "\n" },
	{ FROM(OWN("Source", "{\"kind\":\"k\",\"name\":\"N\","
		"\"slug\":\"s\"}")),
		"- main partial provenance={\"source\":" D_SOURCE "}\n"
		"- part text=" OWN("Source", "{\"kind\":\"k\",\"name\":"
		"\"N\",\"slug\":\"s\"}") "\n" },
	{ FROM("{\"name\":\"N\",\"kind\":\"k\",\"slug\":null}"),
		"- main partial\nskipped source provenance.source\n" },
	{ FROM("\"s\""),
		"- main partial\nskipped source provenance.source\n" },
	{ FROM("17"), "- main partial\nskipped source provenance.source\n" },
	/* What is none. */
	{ "{\"run\":" M ",\"manifest\":" M "}", "- main\n- main\n" },
	{ "{\"run\":[],\"manifest\":" M "}", "- main\nskipped member run\n" },
	{ "{\"run\":{},\"manifest\":[" M "],\"x\":" M "}",
		"skipped member manifest\nskipped member run\n- main\n" },
	{ "{\"run\":{},\"manifest\":" M ",\"table\":\"t\",\"row\":{}}",
		"skipped unknown t\n" },
};

static void
a_dossier_speaks_of_its_run_and_states_digests(void **state)
{
	(void)state;
	expect_meanings(dossiers, COUNT(dossiers));
}

static const struct meaning bad_dossiers[] = {
	{ DOSSIER("", "{\"runs\":" M "}", ""),
		"manifest must be the run's, or have it as its member run" },
	{ DOSSIER("", "{\"run\":{},\"x\":" M "}", ""),
		"manifest must be the run's" },
	{ DOSSIER("\"digest\":1", M, ""), "run.digest: 1 is not a digest" },
	{ DOSSIER("\"digest\":\"" ONES "\"", M, ""),
		"run.digest: \"" ONES "\" is not a digest" },
	{ DOSSIER("\"digest\":{\"\\u001b\":1}", M, ""),
		"run.digest: {\"\\u001b\":1} is not a digest" },
	{ DOSSIER("\"id\":\"run-1\"", M, ""),
		"run.id: \"run-1\" is not a UUID" },
	{ DOSSIER("\"id\":[]", M, ""), "run.id: [] is not a UUID" },
	{ DOSSIER("\"publishedAt\":1", M, ""),
		"run.publishedAt: 1 is not a string" },
	{ OF_REFERRING(",\"workload\":{\"digest\":" D(TWOS) "}"),
		"workload.digest states sha256:" TWOS ", but "
		"spec.workloadDigest of the run is sha256:" ONES },
	{ OF_REFERRING(",\"environment\":{\"digest\":" D(TWOS) "}"),
		"environment.digest states sha256:" TWOS },
	{ OF_REFERRING(",\"model\":{\"digest\":\"x\"}"),
		"model.digest: \"x\" is not a digest" },
	{ FROM("{\"slug\":5,\"name\":\"N\",\"kind\":\"k\"}"),
		"provenance.source: spec.slug" },
	{ FROM("{\"slug\":\"s\",\"name\":\"N\",\"kind\":\"k\","
		"\"policy\":[]}"), "provenance.source: spec.policy" },
	{ FROM(M), "provenance.source: a source must be of kind Source" },
	{ FROM(OWN("Source", "{}")), "provenance.source: spec." },
};

static void
a_dossier_that_contradicts_itself_is_refused(void **state)
{
	(void)state;
	expect_refusals(bad_dossiers, COUNT(bad_dossiers));
}

/* Submissions. */

static const struct meaning submissions[] = {
	{ "{\"environments\":[" M "],\"implementations\":[" M "],"
		"\"operations\":[" M "],\"projects\":[" M "],"
		"\"protocols\":[" M "],\"runs\":[" M "],"
		"\"workloads\":[" M "," M "]}",
		"- main\n- main\n- main\n- main\n- main\n- main\n"
		"- main\n- main\n" },
	/* Canonical order of the names, then that of the lists. */
	{ "{\"workloads\":" SPEC_M("{\"x\":3}") ",\"projects\":["
		SPEC_M("{\"x\":2}") "," SPEC_M("{\"x\":1}") "],\"note\":1}",
		"skipped member note\n"
		"- main text=" SPEC_M("{\"x\":2}") "\n"
		"- main text=" SPEC_M("{\"x\":1}") "\n"
		"- main text=" SPEC_M("{\"x\":3}") "\n" },
	/* An entry may be an object of manifests. */
	{ "{\"runs\":[{\"run\":" M ",\"protocol\":" M ",\"x\":1}," M "]}",
		"- main\n- main\nskipped member x\n- main\n" },
	{ "{\"implementations\":{\"manifest\":" M ",\"projectSlug\":"
		"\"p\"}}", "- main\nskipped member projectSlug\n" },
	{ "{\"operations\":[],\"runs\":[" M "]}", "- main\n" },
	/* The same names may mean something else. */
	{ "{\"run\":" M ",\"runs\":[1,{}],\"workloads\":{\"a\":1},"
		"\"projects\":7}", "skipped member projects\n- main\n"
		"skipped member runs\nskipped member workloads\n" },
	{ "[{\"runs\":[" M "]}]", "- main\n" },
};

static void
a_submission_has_lists_of_manifests_under_plural_names(void **state)
{
	(void)state;
	expect_meanings(submissions, COUNT(submissions));
}

static const struct meaning bad_submissions[] = {
	{ "{\"runs\":[" M ",7]}", "runs: element 1: a number is no manifest" },
	{ "{\"runs\":[{}," M "]}", "runs: element 0: this object is no "
		"manifest, nor an object of manifests" },
	{ "{\"runs\":[" M ",[" M "]]}",
		"runs: element 1: an array is no manifest" },
	{ "{\"runs\":[" M "," ROW("projects", "\"manifest\":" M) "]}",
		"runs: element 1: this object is no manifest" },
	{ "{\"runs\":[]}", "this object is no record" },
	{ "{\"runs\":[[" M "]]}", "this object is no record" },
	{ "{\"Runs\":[" M "]}", "this object is no record" },
	{ "{\"models\":[" M "]}", "this object is no record" },
	{ "{\"runs\":[{\"a\":{\"b\":" M "}}]}", "this object is no record" },
};

static void
a_list_of_some_manifests_must_be_all_manifests(void **state)
{
	(void)state;
	expect_refusals(bad_submissions, COUNT(bad_submissions));
}

/* Rows. */

#define STATED(table, column) { \
	ROW(table, "\"manifest\":" M ",\"" column "\":\"sha256:" ONES "\""), \
	table " main " column "=1111\n" }

static const struct meaning rows[] = {
	{ ROW("projects", "\"manifest\":" M), "projects main\n" },
	STATED("operations", "semanticDigest"),
	STATED("workloads", "workloadDigest"),
	STATED("implementations", "implementationDigest"),
	STATED("model_revisions", "modelDigest"),
	STATED("serving_stack_revisions", "stackDigest"),
	STATED("serving_configurations", "configurationDigest"),
	STATED("serving_workloads", "workloadDigest"),
	STATED("serving_runs", "runDigest"),
	/* Not a digest there. */
	{ ROW("serving_runs", "\"manifest\":" M ",\"protocolKey\":\"a/b\""),
		"serving_runs main\n" },
	/* Null is absent. */
	{ ROW("operations", "\"manifest\":" M ",\"semanticDigest\":null,"
		"\"id\":null,\"supersedesId\":null,\"tags\":null,"
		"\"retractedAt\":null,\"retractionReason\":null,"
		"\"createdAt\":null,\"slug\":null,\"summary\":null"),
		"operations main\n" },
	/* Ids are lower-cased; which kinds may carry them is not said here. */
	{ ROW("implementations", "\"manifest\":" M
		",\"id\":\"01A00328-D47C-7549-9F61-EF41CEBAB6D3\","
		"\"projectId\":\"02000000-0000-7000-8000-000000000000\","
		"\"sourceId\":\"03000000-0000-7000-8000-000000000000\","
		"\"supersedesId\":\"04000000-0000-7000-8000-000000000000\""),
		"implementations main id=01a00328 project=02000000 "
		"source=03000000 supersedes=04000000 "
		"provenance={\"id\":\"" UUID "\"}\n" },
	/* Columns that nobody knows are no matter, nor are escaped ones. */
	{ ROW("projects", "\"manifest\":" M ",\"novel\":[1],"
		"\"created\\\"\":1,\"createdAt\":\"t\",\"zeta\":null"),
		"projects main provenance={\"createdAt\":\"t\"}\n" },
	{ ROW("measurements", "\"id\":7"), "skipped derived measurements\n" },
	{ ROW("serving_measurements", ""),
		"skipped derived serving_measurements\n" },
	{ ROW("record_events", ""), "skipped derived record_events\n" },
	{ ROW("source_links", "\"manifest\":" M),
		"skipped unknown source_links\n" },
	{ ROW("Projects", "\"manifest\":" M), "skipped unknown Projects\n" },
	{ ROW("operation_aliases", "\"operationId\":\""
		"01A00328-d47c-7549-9f61-ef41cebab6d3\",\"alias\":\"x\""),
		"alias " UUID " \"x\"\n" },
};

static void
a_row_is_read_by_its_table(void **state)
{
	(void)state;
	expect_meanings(rows, COUNT(rows));
}

static const struct meaning runs[] = {
	{ ROW("benchmark_runs", "\"manifest\":{\"run\":" M ",\"protocol\":"
		SPEC_M("{\"p\":1}") ",\"environment\":" SPEC_M("{\"e\":1}")
		"},\"id\":\"" UUID "\",\"publishedAt\":\"t\","
		"\"runDigest\":\"sha256:" ONES "\","
		"\"protocolKey\":\"sha256:" TWOS "\","
		"\"environmentKey\":null,\"retractedAt\":\"u\""),
		"benchmark_runs part text=" SPEC_M("{\"e\":1}") "\n"
		"benchmark_runs part protocolKey=2222 text="
		SPEC_M("{\"p\":1}") "\n"
		"benchmark_runs main runDigest=1111 id=01a00328 provenance="
		"{\"id\":\"" UUID "\",\"publishedAt\":\"t\"} "
		"reason=\"unspecified\" at=\"u\"\n" },
	{ ROW("benchmark_runs", "\"manifest\":{\"environment\":" M
		",\"later\":" M ",\"note\":1,\"protocol\":" M ",\"run\":" M
		"},\"environmentKey\":\"sha256:" ONES "\""),
		"benchmark_runs part environmentKey=1111\n- main\n"
		"skipped member note\nbenchmark_runs part\n"
		"benchmark_runs main\n" },
};

static void
a_run_row_speaks_of_its_run_and_states_the_digests_of_all_three(void **state)
{
	(void)state;
	expect_meanings(runs, COUNT(runs));
}

#define SOURCE(spec) \
	"{\"apiVersion\":\"kistore/v1\",\"kind\":\"Source\",\"spec\":" spec "}"
#define ARTIFACT(spec) "{\"apiVersion\":\"kistore/v1\"," \
	"\"kind\":\"Artifact\",\"spec\":" spec "}"

static const struct meaning composed[] = {
	{ ROW("sources", "\"id\":\"" UUID "\",\"createdAt\":\"t\","
		"\"slug\":\"s\",\"kind\":\"k\",\"name\":\"N\",\"policy\":"
		"{\"url\":\"u\"},\"summary\":\"not said\",\"tags\":[\"x\"],"
		"\"projectId\":\"" UUID "\",\"sourceId\":7"),
		"sources main id=01a00328 provenance={\"createdAt\":\"t\","
		"\"id\":\"" UUID "\"} text=" SOURCE("{\"kind\":\"k\","
		"\"name\":\"N\",\"policy\":{\"url\":\"u\"},\"slug\":\"s\"}")
		"\n" },
	{ ROW("sources", "\"slug\":\"s\",\"kind\":\"k\",\"name\":\"N\","
		"\"policy\":null"),
		"sources main text=" SOURCE("{\"kind\":\"k\","
		"\"name\":\"N\",\"slug\":\"s\"}") "\n" },
	{ ROW("sources", ""), "sources main text=" SOURCE("{}") "\n" },
	{ ROW("artifacts", "\"contentDigest\":\"sha256:" ONES "\","
		"\"kind\":\"log\",\"mediaType\":\"text/plain\","
		"\"sizeBytes\":1,\"storage\":\"inline\",\"uri\":null,"
		"\"license\":null,\"createdAt\":\"t\",\"id\":\"" UUID "\""),
		"artifacts main id=01a00328 provenance={\"createdAt\":\"t\","
		"\"id\":\"" UUID "\"} text=" ARTIFACT("{\"digest\":\"sha256:"
		ONES "\",\"kind\":\"log\",\"mediaType\":\"text/plain\","
		"\"sizeBytes\":1,\"storage\":\"inline\"}") "\n" },
	{ ROW("artifacts", "\"name\":\"n\",\"license\":\"l\",\"uri\":\"u\""),
		"artifacts main text=" ARTIFACT("{\"license\":\"l\","
		"\"name\":\"n\",\"uri\":\"u\"}") "\n" },
};

static void
rows_of_sources_and_artifacts_become_manifests(void **state)
{
	(void)state;
	expect_meanings(composed, COUNT(composed));
}

#define PROVENANCE(columns, object) { \
	ROW("implementations", "\"manifest\":" M "," columns), \
	"implementations main provenance=" object "\n" }
#define NO_PROVENANCE(columns) { \
	ROW("implementations", "\"manifest\":" M "," columns), \
	"implementations main\n" }

static const struct meaning provenances[] = {
	PROVENANCE("\"createdAt\":\"2026-08-15T02:02:57.440Z\","
		"\"publishedAt\":\"any text\"",
		"{\"createdAt\":\"2026-08-15T02:02:57.440Z\","
		"\"publishedAt\":\"any text\"}"),
	PROVENANCE("\"slug\":\"other\",\"summary\":\"S\"",
		"{\"slug\":\"other\",\"summary\":\"S\"}"),
	NO_PROVENANCE("\"slug\":\"n\""),
	NO_PROVENANCE("\"name\":\"only a project has one\""),
	PROVENANCE("\"tags\":[\"z\",\"a\",\"a\"]",
		"{\"tags\":[\"z\",\"a\",\"a\"]}"),
	NO_PROVENANCE("\"tags\":[]"),
	NO_PROVENANCE("\"independentReplicationCount\":0,"
		"\"reproducedByKernelindex\":false"),
	NO_PROVENANCE("\"independentReplicationCount\":0"),
	NO_PROVENANCE("\"independentReplicationCount\":null,"
		"\"reproducedByKernelindex\":false"),
	PROVENANCE("\"independentReplicationCount\":2,"
		"\"reproducedByKernelindex\":false",
		"{\"replication\":{\"independentReplicationCount\":2,"
		"\"reproducedByKernelindex\":false}}"),
	PROVENANCE("\"independentReplicationCount\":0,"
		"\"reproducedByKernelindex\":true",
		"{\"replication\":{\"independentReplicationCount\":0,"
		"\"reproducedByKernelindex\":true}}"),
	PROVENANCE("\"independentReplicationCount\":3",
		"{\"replication\":{\"independentReplicationCount\":3}}"),
	PROVENANCE("\"reproducedByKernelindex\":true",
		"{\"replication\":{\"reproducedByKernelindex\":true}}"),
	{ ROW("projects", "\"manifest\":" SPEC_M("{\"name\":\"P\"}")
		",\"name\":\"Q\",\"slug\":\"n\""),
		"projects main provenance={\"name\":\"Q\"} text="
		SPEC_M("{\"name\":\"P\"}") "\n" },
	{ ROW("projects", "\"manifest\":" SPEC_M("{\"name\":\"P\"}")
		",\"name\":\"P\",\"slug\":\"m\""),
		"projects main provenance={\"slug\":\"m\"} text="
		SPEC_M("{\"name\":\"P\"}") "\n" },
	{ ROW("projects", "\"manifest\":" M ",\"name\":\"Q\""),
		"projects main provenance={\"name\":\"Q\"}\n" },
	/* Every member, in canonical order. */
	{ ROW("projects", "\"manifest\":" M ",\"tags\":[\"t\"],"
		"\"summary\":\"\",\"slug\":\"s\",\"publishedAt\":\"p\","
		"\"reproducedByKernelindex\":true,\"name\":\"N\","
		"\"id\":\"" UUID "\",\"createdAt\":\"c\""),
		"projects main id=01a00328 provenance={\"createdAt\":\"c\","
		"\"id\":\"" UUID "\",\"name\":\"N\",\"publishedAt\":\"p\","
		"\"replication\":{\"reproducedByKernelindex\":true},"
		"\"slug\":\"s\",\"summary\":\"\",\"tags\":[\"t\"]}\n" },
};

static void
provenance_holds_what_needs_no_lookup_and_is_not_in_the_manifest(void **state)
{
	(void)state;
	expect_meanings(provenances, COUNT(provenances));
}

#define RETRACTION(columns, says) { \
	ROW("serving_runs", "\"manifest\":" M "," columns), \
	"serving_runs main " says "\n" }

static const struct meaning retractions[] = {
	RETRACTION("\"retractedAt\":\"2026-08-17\"",
		"reason=\"unspecified\" at=\"2026-08-17\""),
	RETRACTION("\"retractedAt\":\"t\",\"retractionReason\":null",
		"reason=\"unspecified\" at=\"t\""),
	RETRACTION("\"retractedAt\":\"t\",\"retractionReason\":\"wrong\"",
		"reason=\"wrong\" at=\"t\""),
	RETRACTION("\"retractionReason\":\"wrong\"", "reason=\"wrong\""),
	RETRACTION("\"retractionReason\":\"\"", "reason=\"unspecified\""),
	RETRACTION("\"retractionReason\":{}", "reason=\"unspecified\""),
	RETRACTION("\"retractionReason\":{\"reason\":\"r\",\"actor\":\"a\"}",
		"reason={\"actor\":\"a\",\"reason\":\"r\"}"),
	/* As every line: null, [] and {} are absent, at every depth of
	 * objects, but not inside lists. */
	RETRACTION("\"retractionReason\":{\"reason\":\"r\",\"a\":null,"
		"\"b\":{\"c\":[],\"d\":{}},\"e\":[null,{},[]]}",
		"reason={\"e\":[null,{},[]],\"reason\":\"r\"}"),
	RETRACTION("\"retractionReason\":{\"a\":{\"b\":null}}",
		"reason=\"unspecified\""),
};

static void
a_retraction_has_a_reason_whatever_the_row_says(void **state)
{
	(void)state;
	expect_meanings(retractions, COUNT(retractions));
}

static const struct meaning differences[] = {
	{ ROW("operations", "\"manifest\":" SPEC_M("{\"family\":\"gemm\"}")
		",\"family\":\"gemm\",\"schemaVersion\":\"a\""),
		"operations main text=" SPEC_M("{\"family\":\"gemm\"}") "\n" },
	{ ROW("operations", "\"manifest\":" M ",\"family\":\"gemm\","
		"\"schemaVersion\":\"b\""),
		"differs operations.schemaVersion \"b\" not \"a\"\n"
		"differs operations.family \"gemm\" not \n"
		"operations main\n" },
	{ ROW("model_revisions", "\"manifest\":"
		SPEC_M("{\"contextLength\":1}") ",\"contextLength\":null,"
		"\"parameterCount\":null"),
		"differs model_revisions.contextLength null not 1\n"
		"model_revisions main text=" SPEC_M("{\"contextLength\":1}")
		"\n" },
	{ ROW("projects", "\"manifest\":" SPEC_M("{\"homepage\":\"h\"}")
		",\"canonicalUrl\":\"h\""),
		"projects main text=" SPEC_M("{\"homepage\":\"h\"}") "\n" },
	{ ROW("projects", "\"manifest\":" SPEC_M("{\"homepage\":\"h\","
		"\"repository\":\"r\"}") ",\"canonicalUrl\":\"h\""),
		"differs projects.canonicalUrl \"h\" not \"r\"\n"
		"projects main text=" SPEC_M("{\"homepage\":\"h\","
		"\"repository\":\"r\"}") "\n" },
	/* The database writes milliseconds; the instant is the same. */
	{ ROW("serving_runs", "\"manifest\":"
		SPEC_M("{\"observedAt\":\"2025-09-04T19:30Z\"}")
		",\"observedAt\":\"2025-09-04T19:30:00.000Z\""),
		"serving_runs main text="
		SPEC_M("{\"observedAt\":\"2025-09-04T19:30Z\"}") "\n" },
	{ ROW("serving_runs", "\"manifest\":"
		SPEC_M("{\"observedAt\":\"2025-09-04T19:30:14.12345Z\"}")
		",\"observedAt\":\"2025-09-04T19:30:14.124Z\""),
		"differs serving_runs.observedAt \"2025-09-04T19:30:14.124Z\" "
		"not \"2025-09-04T19:30:14.12345Z\"\n"
		"serving_runs main text="
		SPEC_M("{\"observedAt\":\"2025-09-04T19:30:14.12345Z\"}")
		"\n" },
	{ ROW("serving_runs", "\"manifest\":" SPEC_M("{\"status\":\"valid\","
		"\"observedAt\":\"Z\"}") ",\"observedAt\":\"\","
		"\"status\":\"invalid\""),
		"differs serving_runs.status \"invalid\" not \"valid\"\n"
		"differs serving_runs.observedAt \"\" not \"Z\"\n"
		"serving_runs main text="
		SPEC_M("{\"observedAt\":\"Z\",\"status\":\"valid\"}") "\n" },
};

static void
derived_columns_that_differ_are_reported_and_nothing_more(void **state)
{
	(void)state;
	expect_meanings(differences, COUNT(differences));
}

#define BAD(columns, says) { \
	ROW("implementations", "\"manifest\":" M "," columns), \
	"table implementations: column " says }

static const struct meaning bad_rows[] = {
	{ ROW("projects", ""), "table projects: column manifest must be an "
		"object, not absent" },
	{ ROW("projects", "\"manifest\":null"), "must be an object, not null" },
	{ ROW("projects", "\"manifest\":[" M "]"), "not an array" },
	{ ROW("benchmark_runs", ""), "table benchmark_runs: column manifest "
		"must be an object" },
	{ ROW("benchmark_runs", "\"manifest\":" M),
		"column manifest must have the members run, protocol" },
	{ ROW("benchmark_runs", "\"manifest\":{\"run\":" M ",\"protocol\":"
		M "}"), "column manifest must have the members run" },
	{ ROW("benchmark_runs", "\"manifest\":{\"run\":" M ",\"protocol\":"
		M ",\"environment\":" M "},\"protocolKey\":\"x\""),
		"table benchmark_runs: protocol: column protocolKey: \"x\" is "
		"not a digest" },
	{ ROW("benchmark_runs", "\"manifest\":{\"run\":" M ",\"protocol\":"
		M ",\"environment\":" M "},\"runDigest\":\"" ONES "\""),
		"table benchmark_runs: run: column runDigest: " },
	BAD("\"implementationDigest\":\"\"",
		"implementationDigest: \"\" is not a digest"),
	BAD("\"implementationDigest\":7", "implementationDigest: 7 is not"),
	BAD("\"implementationDigest\":\"sha256:" ONES "1\"",
		"implementationDigest: "),
	BAD("\"implementationDigest\":\"md5:" ONES "\"",
		"implementationDigest: "),
	{ ROW("operations", "\"manifest\":" M ",\"semanticDigest\":\"sha256:"
		"ABCDEF1111111111111111111111111111111111111111111111111111"
		"111111\""), "table operations: column semanticDigest: " },
	BAD("\"id\":\"\"", "id: \"\" is not a UUID"),
	BAD("\"id\":\"01a00328d47c75499f61ef41cebab6d3\"", "id: "),
	BAD("\"id\":7", "id: 7 is not a UUID"),
	BAD("\"projectId\":\"x\"", "projectId: \"x\" is not a UUID"),
	BAD("\"sourceId\":[]", "sourceId: [] is not a UUID"),
	BAD("\"supersedesId\":\"\\u001b[1m\"",
		"supersedesId: \"\\u001b[1m\" is not a UUID"),
	BAD("\"createdAt\":7", "createdAt must be a string, not a number"),
	BAD("\"publishedAt\":[]", "publishedAt must be a string"),
	BAD("\"slug\":{}", "slug must be a string, not an object"),
	BAD("\"summary\":true", "summary must be a string, not true"),
	BAD("\"tags\":\"x\"", "tags must be a list of strings"),
	BAD("\"tags\":[\"x\",null]", "tags: [\"x\",null] is not a list of"),
	BAD("\"independentReplicationCount\":-1",
		"independentReplicationCount: -1 is not a count"),
	BAD("\"independentReplicationCount\":0.5",
		"independentReplicationCount: 0.5 is not a count"),
	BAD("\"independentReplicationCount\":\"1\"",
		"independentReplicationCount: \"1\" is not a count"),
	BAD("\"reproducedByKernelindex\":1",
		"reproducedByKernelindex: 1 is not true or false"),
	BAD("\"retractedAt\":0", "retractedAt must be a string"),
	BAD("\"retractionReason\":[]", "retractionReason must be a string or"),
	BAD("\"retractionReason\":false", "retractionReason must be a string"),
	{ ROW("projects", "\"manifest\":" M ",\"name\":7"),
		"table projects: column name must be a string" },
	{ ROW("sources", "\"id\":\"x\""), "table sources: column id: " },
	{ ROW("operation_aliases", "\"alias\":\"x\""),
		"table operation_aliases: column operationId must be a string, "
		"not absent" },
	{ ROW("operation_aliases", "\"alias\":\"x\",\"operationId\":\"x\""),
		"column operationId: \"x\" is not a UUID" },
	{ ROW("operation_aliases", "\"operationId\":\"" UUID "\""),
		"column alias must be a string, not absent" },
	{ ROW("operation_aliases", "\"operationId\":\"" UUID "\","
		"\"alias\":null"), "column alias must be a string, not null" },
	{ ROW("operation_aliases", "\"operationId\":\"" UUID "\","
		"\"alias\":\"\""), "column alias: \"\" is not a name" },
};

static void
a_malformed_column_is_refused_with_table_and_column(void **state)
{
	(void)state;
	expect_refusals(bad_rows, COUNT(bad_rows));
}

static void
a_stated_digest_must_be_the_computed_one(void **state)
{
	struct ks_intake_manifest m = { .table = "benchmark_runs",
		.stated_column = "runDigest", .stated = { .bytes = { 1 } } };
	struct ks_id same = { .bytes = { 1 } }, other = { .bytes = { 2 } };
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_intake_compare(&m, &same, NULL), KS_OK);
	assert_int_equal(ks_intake_compare(&m, &other, &err), KS_INVALID);
	assert_non_null(strstr(err.message,
		"column runDigest states sha256:0100"));
	assert_non_null(strstr(err.message, "digest is sha256:0200"));
	m.table = NULL;
	m.stated_column = "run.digest";
	assert_int_equal(ks_intake_compare(&m, &other, &err), KS_INVALID);
	assert_int_equal(strncmp(err.message, "run.digest states sha256:0100",
		29), 0);
	m.stated_column = NULL;
	assert_int_equal(ks_intake_compare(&m, &other, NULL), KS_OK);
}

static enum ks_status
refuse_manifest(void *arg, const struct ks_intake_manifest *m,
	struct ks_error *err)
{
	(void)arg;
	(void)m;
	return ks_fail(err, KS_IO, "the visitor's own words");
}

static void
what_the_visitor_returns_ends_the_reading_and_gets_the_place(void **state)
{
	static const struct meaning cases[] = {
		{ "[" M ",1]", "element 0: the visitor's own words" },
		{ "{\"run\":" M "}", "run: the visitor's own words" },
		{ "{\"runs\":[" M "]}",
			"runs: element 0: the visitor's own words" },
		{ "{\"runs\":{\"run\":" M "}}",
			"runs: run: the visitor's own words" },
		{ "{\"manifest\":" M ",\"run\":{}}",
			"manifest: the visitor's own words" },
		{ "{\"manifest\":{\"environment\":" M ",\"run\":" M "},"
			"\"run\":{}}",
			"manifest.environment: the visitor's own words" },
		{ "{\"row\":{\"manifest\":{\"environment\":" M "}},"
			"\"table\":\"benchmark_runs\"}",
			"table benchmark_runs: environment: the visitor's own "
			"words" },
		{ "{\"row\":{},\"table\":\"sources\"}",
			"table sources: the visitor's own words" },
	};
	struct ks_intake_visitor visitor = { .manifest = refuse_manifest };
	struct ks_intake intake = KS_INTAKE_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_intake_read(&intake,
			ks_span_text(cases[i].text), &visitor, &err), KS_IO);
		assert_string_equal(err.message, cases[i].says);
	}
	ks_intake_release(&intake);
}

static void
everything_but_manifests_may_be_left_unheard(void **state)
{
	static const char *const texts[] = {
		"{\"row\":{},\"table\":\"measurements\"}",
		"{\"row\":{},\"table\":\"novel\"}",
		"{\"row\":{\"alias\":\"x\",\"operationId\":\"" UUID "\"},"
			"\"table\":\"operation_aliases\"}",
		"[{\"apiVersion\":1,\"x\":1},{}]",
	};
	struct ks_intake_visitor visitor = { .manifest = refuse_manifest };
	struct ks_intake intake = KS_INTAKE_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(ks_intake_read(&intake,
			ks_span_text(texts[i]), &visitor, NULL),
			i == 3 ? KS_INVALID : KS_OK);
	ks_intake_release(&intake);
}

/* --source. */

static void
a_source_is_a_manifest_or_its_bare_spec(void **state)
{
	static const struct meaning cases[] = {
		{ "{\"slug\":\"s\"}", SOURCE("{\"slug\":\"s\"}") },
		{ "{\"kind\":\"benchmark\",\"slug\":\"s\"}",
			SOURCE("{\"kind\":\"benchmark\",\"slug\":\"s\"}") },
		{ SOURCE("{\"slug\":\"s\"}"), SOURCE("{\"slug\":\"s\"}") },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ks_buf out = KS_BUF_INIT;

		assert_int_equal(ks_intake_source(ks_span_text(cases[i].text),
			&out, NULL), KS_OK);
		assert_string_equal(ks_buf_cstr(&out), cases[i].says);
		ks_buf_release(&out);
	}
}

static void
anything_else_is_no_source(void **state)
{
	static const struct meaning cases[] = {
		{ "null", "not null" },
		{ "[{\"slug\":\"s\"}]", "not an array" },
		{ M, "must be of kind Source" },
		{ ARTIFACT("{}"), "must be of kind Source" },
		{ "{\"apiVersion\":\"kistore/v1\",\"kind\":\"Source\"}",
			"spec: missing" },
		{ "{\"apiVersion\":\"kistore/v2\",\"kind\":\"Source\","
			"\"spec\":{}}", "must be of kind Source" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ks_buf out = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_intake_source(ks_span_text(cases[i].text),
			&out, &err), KS_INVALID);
		if (strstr(err.message, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_int_equal(out.len, 0);
		ks_buf_release(&out);
	}
}

/* --provenance. */

static enum ks_status
on_provenance(void *arg, const struct ks_id *digest, struct ks_span provenance,
	struct ks_error *err)
{
	struct ks_buf *out = arg;
	char hex[KS_ID_HEX + 1];

	(void)err;
	ks_buf_printf(out, "%.4s ", ks_id_print_hex(digest, hex));
	ks_buf_append(out, provenance);
	ks_buf_byte(out, '\n');
	return KS_OK;
}

#define MAP(provenance) "{\"sha256:" ONES "\":" provenance "}"

static const struct meaning maps[] = {
	{ "{}", "" },
	{ MAP("{\"summary\":\"S\"}"), "1111 {\"summary\":\"S\"}\n" },
	{ "{\"sha256:" ONES "\":{\"x-a\":1},\"sha256:" TWOS "\":{\"name\":"
		"\"N\"}}", "1111 {\"x-a\":1}\n2222 {\"name\":\"N\"}\n" },
	{ MAP("{\"name\":null,\"summary\":\"S\",\"tags\":[]}"),
		"1111 {\"summary\":\"S\"}\n" },
	{ MAP("{\"name\":null}"), "1111 {}\n" },
	{ MAP("{}"), "1111 {}\n" },
};

static void
a_provenance_file_gives_a_provenance_per_digest(void **state)
{
	struct ks_intake intake = KS_INTAKE_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(maps); i++) {
		struct ks_buf out = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		if (ks_intake_provenance(&intake, ks_span_text(maps[i].text),
			on_provenance, &out, &err) != KS_OK)
			fail_msg("%s: %s", maps[i].text, err.message);
		assert_string_equal(ks_buf_cstr(&out), maps[i].says);
		ks_buf_release(&out);
	}
	ks_intake_release(&intake);
}

static const struct meaning bad_maps[] = {
	{ "null", "must be an object from digest to provenance, not null" },
	{ "[]", "not an array" },
	{ "{\"" ONES "\":{}}", ONES ": the name of a member must be a digest" },
	{ MAP("null"), "sha256:" ONES ": provenance must be an object" },
	{ MAP("[]"), "provenance must be an object, not an array" },
	{ MAP("{\"summary\":1}"), "sha256:" ONES ": provenance.summary" },
	{ MAP("{\"id\":\"01A00328-d47c-7549-9f61-ef41cebab6d3\"}"),
		"provenance.id" },
	{ MAP("{\"source\":\"slug\"}"), "provenance.source" },
	{ MAP("{\"sumary\":\"S\"}"), "provenance.sumary" },
};

static void
a_malformed_provenance_file_is_refused_with_digest_and_member(void **state)
{
	struct ks_intake intake = KS_INTAKE_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(bad_maps); i++) {
		struct ks_buf out = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_intake_provenance(&intake,
			ks_span_text(bad_maps[i].text), on_provenance, &out,
			&err), KS_INVALID);
		assert_int_equal(err.status, KS_INVALID);
		if (strstr(err.message, bad_maps[i].says) == NULL)
			fail_msg("%s: %s", bad_maps[i].text, err.message);
		assert_int_equal(ks_intake_provenance(&intake,
			ks_span_text(bad_maps[i].text), on_provenance, &out,
			NULL), KS_INVALID);
		ks_buf_release(&out);
	}
	ks_intake_release(&intake);
}

/* The whole catalogue. */

#define KINDS 16

struct catalogue {
	struct ks_buf by_kind[KINDS];	/* struct ks_id after struct ks_id */
	struct ks_buf body;
	size_t manifests, stated, aliases, differences;
	size_t ids_given, projects, sources, supersedes, retractions;
	size_t names, slugs, summaries, tags, replications;
	size_t measurements, serving_measurements, events, other_skips;
	size_t findings;
};

static bool
count_finding(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	struct catalogue *c = arg;

	(void)level;
	(void)path;
	(void)message;
	c->findings++;
	return true;
}

static void
count_provenance(struct catalogue *c, const struct ks_intake_manifest *m)
{
	struct ks_provenance provenance;
	struct ks_span value;

	if (m->provenance.len == 0)
		return;
	assert_int_equal(ks_provenance_read(m->provenance, ks_span(NULL, 0),
		&provenance, NULL), KS_OK);
	assert_int_equal(ks_jcs_check(jcs, m->provenance, &ks_jcs_manifest,
		NULL), KS_OK);
	assert_true(provenance.has_id && m->id.present);
	assert_memory_equal(provenance.id, m->id.bytes, 16);
	c->names += ks_json_find(m->provenance, "name", &value);
	c->slugs += ks_json_find(m->provenance, "slug", &value);
	c->summaries += ks_json_find(m->provenance, "summary", &value);
	c->tags += ks_json_find(m->provenance, "tags", &value);
	c->replications += ks_json_find(m->provenance, "replication", &value);
}

static enum ks_status
count_manifest(void *arg, const struct ks_intake_manifest *m,
	struct ks_error *err)
{
	static const struct ks_record_policy strict = { .strict = true };
	struct catalogue *c = arg;
	struct ks_record record;
	struct ks_id digest;
	enum ks_status status;

	ks_buf_clear(&c->body);
	status = ks_record_read(m->text, &strict, count_finding, c, &record,
		&c->body, &digest, err);
	if (status != KS_OK)
		return status;
	ks_buf_append(&c->by_kind[ks_kind_index(record.kind)],
		ks_span(&digest, sizeof(digest)));
	c->manifests++;
	c->stated += m->stated_column != NULL;
	c->ids_given += m->id.present;
	c->projects += m->project.present;
	c->sources += m->source.present;
	c->supersedes += m->supersedes.present;
	c->retractions += m->reason.len != 0;
	count_provenance(c, m);
	return ks_intake_compare(m, &digest, err);
}

static enum ks_status
count_alias(void *arg, const uint8_t operation[16], struct ks_span alias,
	struct ks_error *err)
{
	struct catalogue *c = arg;

	(void)operation;
	(void)alias;
	(void)err;
	c->aliases++;
	return KS_OK;
}

static void
count_skipped(void *arg, enum ks_intake_skip what, struct ks_span name)
{
	struct catalogue *c = arg;

	if (what != KS_SKIP_DERIVED)
		c->other_skips++;
	else if (ks_span_is(name, "measurements"))
		c->measurements++;
	else if (ks_span_is(name, "serving_measurements"))
		c->serving_measurements++;
	else if (ks_span_is(name, "record_events"))
		c->events++;
	else
		c->other_skips++;
}

static void
count_difference(void *arg, const struct ks_intake_difference *difference)
{
	struct catalogue *c = arg;

	(void)difference;
	c->differences++;
}

static int
compare_ids(const void *a, const void *b)
{
	return ks_id_compare(a, b);
}

/* How many different ids `ids` holds. */
static size_t
count_distinct(struct ks_buf *ids)
{
	size_t count = ids->len / sizeof(struct ks_id);
	size_t distinct = count != 0;

	if (count == 0)
		return 0;
	qsort(ids->data, count, sizeof(struct ks_id), compare_ids);
	for (size_t i = 1; i < count; i++)
		distinct += memcmp(ids->data + (i - 1) * sizeof(struct ks_id),
			ids->data + i * sizeof(struct ks_id),
			sizeof(struct ks_id)) != 0;
	return distinct;
}

/* kinds.md, in the order of its sections. */
static const struct {
	const char *name;
	size_t distinct;
} kinds[] = {
	{ "kernelindex.dev/v1alpha1/OperationSpec", 449 },
	{ "kernelindex.dev/v1alpha1/WorkloadCase", 5371 },
	{ "kernelindex.dev/v1alpha1/WorkloadSuite", 256 },
	{ "kernelindex.dev/v1alpha1/SoftwareProject", 615 },
	{ "kernelindex.dev/v1alpha1/ImplementationRevision", 4250 },
	{ "kernelindex.dev/v1alpha1/BenchmarkProtocol", 6 },
	{ "kernelindex.dev/v1alpha1/ExecutionEnvironment", 15 },
	{ "kernelindex.dev/v1alpha1/BenchmarkRun", 7857 },
	{ "kernelindex.dev/v1alpha1/ModelRevision", 6 },
	{ "kernelindex.dev/v1alpha1/ServingStackRevision", 71 },
	{ "kernelindex.dev/v1alpha1/ServingConfiguration", 130 },
	{ "kernelindex.dev/v1alpha1/ServingWorkload", 17 },
	{ "kernelindex.dev/v1alpha1/ServingRun", 722 },
	{ "kistore/v1/Source", 4 },
	{ "kistore/v1/Artifact", 3074 },
	{ "kistore/v1/Attestation", 0 },
};

static void
expect_kinds(struct catalogue *c)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const struct ks_kind *kind =
			ks_kind_find_full(ks_span_text(kinds[i].name));

		assert_non_null(kind);
		assert_int_equal(count_distinct(
			&c->by_kind[ks_kind_index(kind)]), kinds[i].distinct);
	}
}

static void
read_catalogue(FILE *file, struct catalogue *c)
{
	struct ks_intake_visitor visitor = { .arg = c,
		.manifest = count_manifest, .alias = count_alias,
		.skipped = count_skipped, .differs = count_difference };
	struct ks_intake intake = KS_INTAKE_INIT;
	struct ks_buf value = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while ((len = getline(&line, &cap, file)) > 0) {
		ks_buf_clear(&value);
		if (ks_jcs_scan(jcs, ks_span(line, (size_t)len), &ks_jcs_row,
			&value, &err) != KS_OK ||
			ks_intake_read(&intake, ks_buf_span(&value), &visitor,
			&err) != KS_OK)
			fail_msg("%.60s…: %s", line, err.message);
	}
	free(line);
	ks_buf_release(&value);
	ks_intake_release(&intake);
}

static FILE *
open_catalogue(void)
{
	static const char name[] = "catalog-2026-08-16-0022af0b.jsonl.zst";
	const char *shared = getenv("KISTORE_SHARED");
	struct ks_buf command = KS_BUF_INIT;
	FILE *file;

	ks_buf_printf(&command, "%s/data/%s",
		shared != NULL ? shared : "../shared", name);
	file = fopen(ks_buf_cstr(&command), "rb");
	if (file == NULL) {
		print_message("no %s\n", ks_buf_cstr(&command));
		ks_buf_release(&command);
		skip();
		return NULL;
	}
	(void)fclose(file);
	ks_buf_clear(&command);
	ks_buf_printf(&command, "zstd -dc '%s/data/%s'",
		shared != NULL ? shared : "../shared", name);
	file = popen(ks_buf_cstr(&command), "r");
	ks_buf_release(&command);
	assert_non_null(file);
	return file;
}

static void
the_catalogue_is_understood_whole(void **state)
{
	static struct catalogue c;
	FILE *file = open_catalogue();

	(void)state;
	read_catalogue(file, &c);
	assert_int_equal(pclose(file), 0);
	expect_kinds(&c);
	assert_int_equal(c.manifests, 35458 + 4 + 3074);
	assert_int_equal(c.stated, 34843);
	assert_int_equal(c.aliases, 450);
	assert_int_equal(c.measurements, 13853);
	assert_int_equal(c.serving_measurements, 722);
	assert_int_equal(c.events, 2948);
	assert_int_equal(c.other_skips, 0);
	assert_int_equal(c.differences, 0);
	assert_int_equal(c.findings, 0);
	/* All but the protocols and environments of runs have an id. */
	assert_int_equal(c.ids_given, 35458 - 2 * 7857 + 4 + 3074);
	assert_int_equal(c.projects, 4250 + 71);
	assert_int_equal(c.sources, 7857 + 722);
	assert_int_equal(c.supersedes, 0);
	assert_int_equal(c.retractions, 0);
	assert_int_equal(c.names, 331);
	assert_int_equal(c.slugs, 4250);
	assert_int_equal(c.summaries, 130);
	assert_int_equal(c.replications, 0);
	for (size_t i = 0; i < KINDS; i++)
		ks_buf_release(&c.by_kind[i]);
	ks_buf_release(&c.body);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_value_is_a_row_or_a_manifest_or_an_array_or_a_bundle),
		cmocka_unit_test(any_other_value_is_refused_with_its_place),
		cmocka_unit_test(
			a_manifest_inside_must_itself_respect_the_depth),
		cmocka_unit_test(
			a_manifest_inside_must_itself_respect_the_length),
		cmocka_unit_test(
			a_dossier_speaks_of_its_run_and_states_digests),
		cmocka_unit_test(a_dossier_that_contradicts_itself_is_refused),
		cmocka_unit_test(
			a_submission_has_lists_of_manifests_under_plural_names),
		cmocka_unit_test(
			a_list_of_some_manifests_must_be_all_manifests),
		cmocka_unit_test(a_row_is_read_by_its_table),
		cmocka_unit_test(
			a_run_row_speaks_of_its_run_and_states_the_digests_of_all_three),
		cmocka_unit_test(
			rows_of_sources_and_artifacts_become_manifests),
		cmocka_unit_test(
			provenance_holds_what_needs_no_lookup_and_is_not_in_the_manifest),
		cmocka_unit_test(
			a_retraction_has_a_reason_whatever_the_row_says),
		cmocka_unit_test(
			derived_columns_that_differ_are_reported_and_nothing_more),
		cmocka_unit_test(
			a_malformed_column_is_refused_with_table_and_column),
		cmocka_unit_test(a_stated_digest_must_be_the_computed_one),
		cmocka_unit_test(
			what_the_visitor_returns_ends_the_reading_and_gets_the_place),
		cmocka_unit_test(everything_but_manifests_may_be_left_unheard),
		cmocka_unit_test(a_source_is_a_manifest_or_its_bare_spec),
		cmocka_unit_test(anything_else_is_no_source),
		cmocka_unit_test(
			a_provenance_file_gives_a_provenance_per_digest),
		cmocka_unit_test(
			a_malformed_provenance_file_is_refused_with_digest_and_member),
		cmocka_unit_test(the_catalogue_is_understood_whole),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
