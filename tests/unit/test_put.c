#include "kistore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"

/*
 * What put writes, as whole logs (store-layout.md, sections P and C). Expected
 * lines are put together from the rules; digests were computed apart.
 */

#define STORE "s.git"
#define NOW 1787000000
#define DATE "2026-08-17T20:53:20Z"

/* ---- records ----------------------------------------------------------- */

#define D_MODEL \
	"sha256:0e3dd9a79ce1a2d89be1eac8153d2167" \
	"ca5e72c4707b7a60bc2b6967397be7ed"
#define D_MODEL2 \
	"sha256:2318b4f1f2ea1eb41e72e4c966989770" \
	"95c0979b5fd37a2c2efe6cde2b8c5edb"
#define D_MODEL3 \
	"sha256:c1d08fbd5f905397076b70e88baddf6d" \
	"5f7adbfa751b6f724664c882aaf1fa4c"
#define D_PROJECT \
	"sha256:96c9fe7a05f3ff6b9559de77865128c4" \
	"399cbec59e23a64a4e070d292aa938b5"
#define D_STACK \
	"sha256:6cd7354ca0fa93c36537af6ba254bb09" \
	"dfe0e6f46c7fdc6bdc72d94a6217cfde"
#define D_CONF \
	"sha256:99370de0d4d07f6c84d25f9ae917492b" \
	"66917b2a6a09e654a7cb4da7083daa41"
#define D_LOAD \
	"sha256:c60820ec63ec310f7babaf12d6f21713" \
	"e3baec64ef0c8cc82b8d56b7e2189ddf"
#define D_RUN \
	"sha256:23a21a6e371c14460477d36392501a3e" \
	"fb7aef0e99e31d76662d5f8c3c64e645"
#define D_RUN2 \
	"sha256:6aebcdd9f7e4a51613cc1e260f97b7e9" \
	"58a730939149f41da9061e21ec026af9"
#define D_OP \
	"sha256:bbf2f3408229c27c636af1f15ed54607" \
	"b87226aa7ed825ed8e0718aa23eb81a3"
#define D_SUITE \
	"sha256:494c3ed74a817edb9168253c914c233f" \
	"3436b6dac0833774cb5d8fde8b37f7fd"
#define D_SUITE_BAD \
	"sha256:6ee1da645aa63ad24a337017ffc8ce53" \
	"5d3ed5a3d93fe73d684390142f4202ed"
#define D_SOURCE \
	"sha256:7b41c736ab2bd78d180cb208230f6154" \
	"630c0c41872729d046d6a8a2883a4b85"
#define D_SOURCE2 \
	"sha256:bc8f45ff80ba7f85c027821fa4fa1c43" \
	"67afcecebb19551f7367d3ec114bf6da"
#define D_SOURCE3 \
	"sha256:75ab9ebd05eaeb54fe321a18ff6c8b80" \
	"dc1fcf225c506d0ae1fe2adec3b84132"
#define D_ARTIFACT \
	"sha256:37867307c4b9fb0133ca1bc9dabe3828" \
	"c8cf4bbad296cad65defb20d152a1213"
#define D_ARTIFACT2 \
	"sha256:2a5bfb2af0614c4c88da03dfcd8a104e" \
	"924cfaf6e228214874ca3bd560715049"
#define D_OTHER \
	"sha256:4c28829753d9e316d96955b3814ea46b" \
	"734616bd6f125aad0b6711d787fb1c74"
#define D_SET_IMPL \
	"sha256:6e8cf8eba1ecf941cb062374e0b01b4b" \
	"43d6c77cad1e23d64bf07f966025c5d2"
#define D_PROTO \
	"sha256:a7d847d167b903706e2535ff2ea20464" \
	"4732229e074e36a54b88810a8d7d7f7b"
#define D_ENV \
	"sha256:94dff2c1d490736d75ccb0d1cd1a9ee1" \
	"bcb46e0efe07c0b02daa0928b81fd5b5"
#define D_BRUN \
	"sha256:e65a4fbca9338ba183a0bae497355533" \
	"98ef1fd32154b1a6b47f470f326e8214"

#define KI "kernelindex.dev/v1alpha1/"
#define OWN "kistore/v1/"

/* A manifest's text. */
#define MANIFEST(kind, metadata, spec) \
	"{\"apiVersion\":\"kernelindex.dev/v1alpha1\",\"kind\":\"" kind "\"," \
	"\"metadata\":" metadata ",\"spec\":" spec "}"
#define NAMED(name) "{\"name\":\"" name "\"}"

#define MODEL_OF(spec, metadata) \
	MANIFEST("ModelRevision", metadata, "{\"model\":\"" spec "\"}")
#define MODEL MODEL_OF("M", NAMED("m"))
#define MODEL2 MODEL_OF("M2", NAMED("m2"))
#define MODEL3 MODEL_OF("M3", NAMED("m3"))
#define PROJECT MANIFEST("SoftwareProject", NAMED("p"), "{\"name\":\"P\"}")
#define STACK MANIFEST("ServingStackRevision", NAMED("s"), \
	"{\"project\":{\"name\":\"S\"},\"revision\":{\"version\":\"1\"}}")
#define CONF MANIFEST("ServingConfiguration", NAMED("c"), \
	"{\"stackDigest\":\"" D_STACK "\"}")
#define LOAD MANIFEST("ServingWorkload", NAMED("l"), \
	"{\"loadGeneration\":\"offline\",\"streaming\":false}")
#define RUN_OF(name, value) MANIFEST("ServingRun", NAMED(name), \
	"{\"configurationDigest\":\"" D_CONF "\",\"harness\":{\"name\":" \
	"\"h\",\"version\":\"1\"},\"measurements\":[{\"metric\":\"tps\"," \
	"\"statistic\":\"mean\",\"unit\":\"per_s\",\"value\":" value "}]," \
	"\"modelDigest\":\"" D_MODEL "\",\"observedAt\":" \
	"\"2026-01-01T00:00:00Z\",\"qualityPolicy\":\"none\",\"status\":" \
	"\"valid\",\"topology\":{\"acceleratorModel\":\"X\"," \
	"\"acceleratorsPerNode\":1,\"nodeCount\":1},\"workloadDigest\":\"" \
	D_LOAD "\"}")
#define RUN RUN_OF("r", "1")
#define RUN2 RUN_OF("r2", "2")
#define OP MANIFEST("OperationSpec", NAMED("o"), \
	"{\"axes\":{},\"family\":\"f\",\"inputs\":[{\"name\":\"x\"," \
	"\"scalar\":{\"dtype\":\"float\"}}],\"outputs\":[{\"name\":\"y\"," \
	"\"scalar\":{\"dtype\":\"float\"}}],\"semantics\":{\"determinism\":" \
	"\"unspecified\",\"mutation\":\"none\"}}")
#define SUITE_OF(operation) MANIFEST("WorkloadSuite", NAMED("w"), \
	"{\"aggregation\":{\"metric\":\"m\",\"statistic\":\"s\"},\"cases\":" \
	"[{\"axes\":{},\"externalId\":\"1\"}],\"correctness\":" \
	"{\"comparator\":\"c\"},\"operationSpecDigest\":\"" operation "\"}")
#define SUITE SUITE_OF(D_OP)
#define IMPL_OF(dtypes) MANIFEST("ImplementationRevision", NAMED("i"), \
	"{\"callable\":{\"language\":\"cuda\"},\"licensing\":{}," \
	"\"operation\":{\"specDigest\":\"" D_OP "\"},\"projectRevision\":" \
	"{\"version\":\"1\"},\"support\":{\"dtypes\":" dtypes "," \
	"\"hardwareArchitectures\":[\"sm_90\"]}}")
#define IMPL IMPL_OF("[\"bf16\",\"fp16\"]")
#define PROTO_OF(warmup) MANIFEST("BenchmarkProtocol", NAMED("t"), \
	"{\"harness\":{\"name\":\"h\"},\"measurement\":{" \
	"\"primaryStatistic\":\"median\",\"timer\":\"t\"," \
	"\"warmupDuration\":" warmup "}}")
#define PROTO PROTO_OF("8000")
#define ENV MANIFEST("ExecutionEnvironment", NAMED("e"), \
	"{\"hardware\":{\"architecture\":\"a\",\"product\":\"p\"," \
	"\"vendor\":\"v\"},\"software\":{}}")
#define BRUN MANIFEST("BenchmarkRun", NAMED("b"), \
	"{\"environmentDigest\":\"" D_ENV "\",\"implementationDigest\":\"" \
	D_SET_IMPL "\",\"observedAt\":\"2026-01-01T00:00:00Z\"," \
	"\"protocolDigest\":\"" D_PROTO "\",\"status\":\"passed\"," \
	"\"workloadDigest\":\"" D_SUITE "\"}")
#define OTHER "{\"apiVersion\":\"example/v1\",\"kind\":\"Thing\"," \
	"\"spec\":{}}"

/* Ids of the publisher's database. */
#define ID(n) "0000000" n "-0000-4000-8000-000000000000"
#define Q(text) "\"" text "\""

/* A row: the columns after its id, each with a comma before it. */
#define ROW(table, n, columns) \
	"{\"table\":\"" table "\",\"row\":{\"id\":\"" ID(n) "\"" columns "}}\n"
#define HOLDS(manifest) ",\"manifest\":" manifest
#define MODEL_ROW(n, manifest, columns) \
	ROW("model_revisions", n, HOLDS(manifest) columns)
#define RUN_ROW(n, manifest, columns) \
	ROW("serving_runs", n, HOLDS(manifest) columns)
#define SOURCE_ROW(n, name) \
	ROW("sources", n, ",\"slug\":\"s\",\"kind\":\"benchmark\",\"name\":\"" \
		name "\",\"policy\":null")
#define ARTIFACT_ROW(n, size) ROW("artifacts", n, \
	",\"contentDigest\":\"sha256:" \
	"11111111111111111111111111111111" \
	"11111111111111111111111111111111\",\"kind\":\"log\",\"mediaType\":" \
	"\"text/plain\",\"sizeBytes\":" size ",\"storage\":\"external\"")
#define ALIAS_ROW(n, operation, alias) ROW("operation_aliases", n, \
	",\"operationId\":\"" ID(operation) "\",\"alias\":\"" alias "\"")

/* ---- lines ------------------------------------------------------------- */

#define AT "{\"at\":\"" DATE "\""
#define INIT AT ",\"format\":\"kistore/1\",\"op\":\"init\"}\n"
/* Members between `kind` and `op`, and after `op`. */
#define PUBLISH(digest, kind, before, after) \
	AT ",\"digest\":\"" digest "\",\"kind\":\"" kind "\"" before \
	",\"op\":\"publish\"" after "}\n"
#define METADATA(object) ",\"metadata\":" object
#define NAME(name) METADATA(NAMED(name))
#define MISSING(list) ",\"missing\":[" list "]"
#define SAYS(members) ",\"provenance\":{" members "}"
#define SAYS_ID(n) SAYS("\"id\":\"" ID(n) "\"")
#define ANNOTATE(digest, before, after) \
	AT ",\"digest\":\"" digest "\"" before ",\"op\":\"annotate\"" after \
	"}\n"
#define RETRACT(digest, reason, after) \
	AT ",\"digest\":\"" digest "\",\"op\":\"retract\",\"reason\":" reason \
	after "}\n"
#define SUPERSEDE(digest, by) \
	AT ",\"by\":\"" by "\",\"digest\":\"" digest \
	"\",\"op\":\"supersede\"}\n"
#define RESTORE(digest, reason) \
	AT ",\"digest\":\"" digest "\",\"op\":\"restore\",\"reason\":\"" \
	reason "\"}\n"

#define P_MODEL PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), "")
#define P_MODEL2 PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"), "")
#define P_STACK PUBLISH(D_STACK, KI "ServingStackRevision", NAME("s"), "")
#define P_CONF PUBLISH(D_CONF, KI "ServingConfiguration", NAME("c"), "")
#define P_LOAD PUBLISH(D_LOAD, KI "ServingWorkload", NAME("l"), "")
#define P_RUN PUBLISH(D_RUN, KI "ServingRun", NAME("r"), "")
#define P_OP PUBLISH(D_OP, KI "OperationSpec", NAME("o"), "")
#define P_SUITE PUBLISH(D_SUITE, KI "WorkloadSuite", NAME("w"), "")
#define P_IMPL \
	PUBLISH(D_SET_IMPL, KI "ImplementationRevision", NAME("i"), "")
#define P_PROTO PUBLISH(D_PROTO, KI "BenchmarkProtocol", NAME("t"), "")
#define P_ENV PUBLISH(D_ENV, KI "ExecutionEnvironment", NAME("e"), "")

/* ---- putting ----------------------------------------------------------- */

static struct ks_store *store;
static struct ks_put_result result;
static struct ks_buf notes = KS_BUF_INIT;
static struct ks_buf objects = KS_BUF_INIT;	/* what put told of */

static int
setup(void **state)
{
	return scratch_setup(state) != 0 || ks_store_create(STORE, NULL,
		false, NOW, NULL) != KS_OK || ks_store_open(&store, STORE,
		NULL, NULL) != KS_OK;
}

static int
teardown(void **state)
{
	ks_store_close(store);
	return scratch_teardown(state);
}

static int
release(void **state)
{
	(void)state;
	ks_buf_release(&notes);
	ks_buf_release(&objects);
	return 0;
}

static void
keep_note(void *arg, const char *text)
{
	(void)arg;
	ks_buf_printf(&notes, "%s\n", text);
}

static const struct ks_watch watch = { .note = keep_note };

static void
keep_object(void *arg, const struct ks_put_object *object)
{
	char text[KS_ID_TEXT + 1];

	(void)arg;
	ks_buf_printf(&objects, "%s %s %s\n", ks_id_print(&object->digest,
		text), object->kind, object->is_new ? "new" : "known");
}

/* Options by letters: a(nnotate), m(issing allowed), u(nknown kinds),
 * s(trict), d(ry run). */
static struct ks_put_options
options_of(const char *letters, int64_t now)
{
	return (struct ks_put_options){
		.write = { .now = now, .watch = &watch },
		.intake = {
			.allow_unknown_kind = strchr(letters, 'u') != NULL,
			.strict = strchr(letters, 's') != NULL
		},
		.annotate = strchr(letters, 'a') != NULL,
		.allow_missing = strchr(letters, 'm') != NULL,
		.dry_run = strchr(letters, 'd') != NULL
	};
}

static enum ks_status
put_with(const char *text, const struct ks_put_options *options,
	struct ks_error *err)
{
	static const char *const path = "in.jsonl";

	scratch_write(path, ks_span_text(text));
	ks_buf_clear(&notes);
	ks_buf_clear(&objects);
	return ks_put(store, &path, 1, options, keep_object, NULL, &result,
		err);
}

static void
put(const char *letters, const char *text)
{
	struct ks_put_options options = options_of(letters, NOW);
	struct ks_error err = KS_ERROR_INIT;

	if (put_with(text, &options, &err) != KS_OK)
		fail_msg("%s", err.message);
}

static bool
add_line(void *arg, uint64_t index, struct ks_span line)
{
	(void)index;
	ks_buf_append(arg, line);
	ks_buf_byte(arg, '\n');
	return false;
}

/* The whole log is what is expected, to the byte. */
static void
assert_log(const char *expected)
{
	struct ks_buf text = KS_BUF_INIT;

	assert_int_equal(ks_log_lines(store, 0, UINT64_MAX, add_line, &text,
		NULL), KS_OK);
	if (!ks_span_is(ks_buf_span(&text), expected))
		fail_msg("the log is\n%snot\n%s", ks_buf_cstr(&text),
			expected);
	ks_buf_release(&text);
}

/* Refused with these words in one line, and nothing was written. */
static void
refuse_with(const char *text, const struct ks_put_options *options,
	const char *says)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_log_info before, after;
	enum ks_status status;

	assert_int_equal(ks_log(store, &before, NULL), KS_OK);
	status = put_with(text, options, &err);
	if (status != KS_INVALID || strstr(err.message, says) == NULL ||
		strchr(err.message, '\n') != NULL)
		fail_msg("%s: \"%s\"", ks_status_name(status), err.message);
	assert_int_equal(ks_log(store, &after, NULL), KS_OK);
	assert_int_equal(before.size, after.size);
	assert_true(ks_id_equal(&before.root, &after.root));
	assert_string_equal(result.commit, "");
}

static void
refuse(const char *letters, const char *text, const char *says)
{
	struct ks_put_options options = options_of(letters, NOW);

	refuse_with(text, &options, says);
}

static void
assert_noted(const char *text)
{
	if (strstr(ks_buf_cstr(&notes), text) == NULL)
		fail_msg("not noted: %s\n%s", text, ks_buf_cstr(&notes));
}

static struct ks_id
id_of(const char *text)
{
	struct ks_id id;

	assert_true(ks_id_parse(&id, ks_span_text(text)));
	return id;
}

/* ---- the order of publishes (P6, P7) ----------------------------------- */

static void
publishes_come_in_input_order_each_after_its_references(void **state)
{
	(void)state;
	put("", RUN "\n" MODEL2 "\n" LOAD "\n" CONF "\n" STACK "\n" MODEL
		"\n");
	assert_log(INIT P_STACK P_CONF P_MODEL P_LOAD P_RUN P_MODEL2);
	assert_int_equal(result.manifests, 6);
	assert_int_equal(result.objects, 6);
	assert_int_equal(result.added, 6);
	assert_int_equal(result.known, 0);
	assert_int_equal(result.entries, 6);
	assert_int_equal(result.size, 7);
	assert_int_equal(strlen(result.commit), 40);
	/* What put tells of comes in input order all the same. */
	assert_string_equal(ks_buf_cstr(&objects),
		D_RUN " " KI "ServingRun new\n"
		D_MODEL2 " " KI "ModelRevision new\n"
		D_LOAD " " KI "ServingWorkload new\n"
		D_CONF " " KI "ServingConfiguration new\n"
		D_STACK " " KI "ServingStackRevision new\n"
		D_MODEL " " KI "ModelRevision new\n");
}

static void
references_that_are_published_do_not_move(void **state)
{
	(void)state;
	put("", MODEL "\n" STACK "\n");
	put("", LOAD "\n" RUN "\n" CONF "\n");
	assert_log(INIT P_MODEL P_STACK P_LOAD P_CONF P_RUN);
}

static void
a_bundle_stands_for_its_manifests_in_order_of_their_names(void **state)
{
	(void)state;
	put("", "{\"z\":" MODEL ",\"a\":" MODEL2 ",\"note\":\"text\","
		"\"m\":[" LOAD "],\"y\":" STACK "}\n");
	assert_log(INIT P_MODEL2 P_STACK P_MODEL);
	assert_noted("in.jsonl:1: members \"m, note\" are not manifests: "
		"skipped");
	assert_int_equal(result.warnings, 1);
}

/* The kinds that a run needs come last here, in order of their names. */
static void
a_submission_is_published_in_order_of_its_names_references_first(void **state)
{
	(void)state;
	put("", "{\"runs\":[{\"run\":" BRUN ",\"protocol\":" PROTO
		",\"environment\":" ENV "}],\"implementations\":["
		"{\"manifest\":" IMPL ",\"projectSlug\":\"p\"}],"
		"\"workloads\":[" SUITE "],\"operations\":[" OP "],"
		"\"projects\":[" PROJECT "]}\n");
	assert_log(INIT P_OP P_IMPL PUBLISH(D_PROJECT, KI "SoftwareProject",
		NAME("p"), "") P_ENV P_PROTO P_SUITE
		PUBLISH(D_BRUN, KI "BenchmarkRun", NAME("b"), ""));
	assert_noted("in.jsonl:1: member \"projectSlug\" is not a manifest: "
		"skipped");
	/* As one with the manifests by themselves, but for the order. */
	put("", "{\"runs\":" BRUN ",\"protocols\":[" PROTO "],"
		"\"environments\":[" ENV "],\"implementations\":[" IMPL "],"
		"\"workloads\":[" SUITE "],\"operations\":" OP "}\n");
	assert_int_equal(result.known, 6);
	assert_string_equal(result.commit, "");
}

static void
a_submission_with_something_else_in_a_list_is_refused(void **state)
{
	(void)state;
	refuse("", "{\"operations\":[" OP "],\"runs\":[" BRUN ",null]}\n",
		"in.jsonl:1: runs: element 1: null is no manifest");
	refuse("", "{\"operations\":[" OP "],\"workloads\":[{\"case\":"
		MANIFEST("WorkloadSuite", NAMED("w"), "{}") "}]}\n",
		"in.jsonl:1: workloads: element 0: case: spec.");
}

/* ---- run dossiers (P22) ------------------------------------------------ */

#define D_ZERO "sha256:00000000000000000000000000000000" \
	"00000000000000000000000000000000"
#define DOSSIER_OF(run, source) "{\"run\":{" run "},\"evidence\":1," \
	"\"provenance\":{\"source\":" source "},\"manifest\":{\"run\":" \
	BRUN ",\"protocol\":" PROTO ",\"environment\":" ENV "}}\n"
#define STATES(digest, n) "\"digest\":\"" digest "\",\"id\":\"" ID(n) \
	"\",\"publishedAt\":\"then\",\"status\":\"passed\""
#define SOURCE_OBJECT(name) \
	"{\"slug\":\"s\",\"kind\":\"benchmark\",\"name\":\"" name "\"}"
#define REST OP "\n" SUITE "\n" IMPL "\n"
#define P_REST P_OP P_SUITE P_IMPL

static void
a_dossier_gives_its_run_id_time_and_source(void **state)
{
	(void)state;
	put("", REST DOSSIER_OF(STATES(D_BRUN, "1"), SOURCE_OBJECT("S")));
	assert_log(INIT P_REST P_ENV P_PROTO
		PUBLISH(D_SOURCE, OWN "Source", "", "")
		PUBLISH(D_BRUN, KI "BenchmarkRun", NAME("b"), SAYS("\"id\":\""
			ID("1") "\",\"publishedAt\":\"then\",\"source\":\""
			D_SOURCE "\"")));
	assert_noted("in.jsonl:4: member \"evidence\" is not a manifest: "
		"skipped");
	assert_int_equal(result.stated_digests, 3);
	put("a", DOSSIER_OF(STATES(D_BRUN, "1"), SOURCE_OBJECT("S")));
	assert_string_equal(result.commit, "");
}

static void
a_source_that_is_stated_in_part_is_said_to_be_skipped(void **state)
{
	(void)state;
	put("", REST DOSSIER_OF("", "{\"kind\":\"benchmark\",\"name\":"
		"\"S\"}"));
	assert_log(INIT P_REST P_ENV P_PROTO
		PUBLISH(D_BRUN, KI "BenchmarkRun", NAME("b"), ""));
	assert_noted("in.jsonl:4: provenance.source does not say kind, name "
		"and slug: the run gets no Source from it (--source gives "
		"one)");
}

static void
a_dossier_that_states_another_digest_is_refused(void **state)
{
	(void)state;
	refuse("m", DOSSIER_OF(STATES(D_ZERO, "1"), "null"),
		"in.jsonl:1: manifest.run: run.digest states " D_ZERO
		", but the manifest's digest is " D_BRUN);
	refuse("m", "{\"run\":{},\"manifest\":{\"run\":" BRUN
		",\"environment\":" MANIFEST("ExecutionEnvironment",
		NAMED("e"), "{\"hardware\":{\"architecture\":\"a\","
		"\"product\":\"q\",\"vendor\":\"v\"},\"software\":{}}")
		"}}\n", "in.jsonl:1: manifest.environment: "
		"spec.environmentDigest of the run states " D_ENV
		", but the manifest's digest is sha256:");
	refuse("m", "{\"run\":{},\"manifest\":{\"run\":" BRUN "},"
		"\"workload\":{\"digest\":\"" D_ZERO "\"}}\n",
		"workload.digest states " D_ZERO ", but spec.workloadDigest "
		"of the run is " D_SUITE);
	/* In normal form it is the protocol that the run names. */
	put("m", "{\"run\":{},\"manifest\":{\"run\":" BRUN ",\"protocol\":"
		PROTO_OF("\"8 us\"") "}}\n");
}

static void
a_dossier_of_another_records_id_is_refused(void **state)
{
	(void)state;
	put("", REST MODEL_ROW("1", MODEL, ""));
	refuse("", DOSSIER_OF(STATES(D_BRUN, "1"), "null"), ID("1"));
	/* A source is that of a run only. */
	refuse("", "{\"run\":{},\"manifest\":" MODEL2 ",\"provenance\":"
		"{\"source\":" SOURCE_OBJECT("S") "}}\n", "source");
}

#define RUN_OF_ROW ROW("benchmark_runs", "1", ",\"manifest\":{\"run\":" \
	BRUN ",\"protocol\":" PROTO ",\"environment\":" ENV "}," \
	"\"createdAt\":\"once\",\"publishedAt\":\"now\"")

/* A dossier says less than a row. */
static void
a_dossier_is_laid_over_what_a_row_said(void **state)
{
	static const char dossier[] = DOSSIER_OF(STATES(D_BRUN, "1"), "null");

	(void)state;
	put("", REST);
	put("", DOSSIER_OF("\"publishedAt\":\"then\"", "null")
		RUN_OF_ROW);
	put("", dossier);
	assert_int_equal(result.other_provenance, 1);
	put("a", dossier);
	put("a", dossier);
	assert_string_equal(result.commit, "");
	put("a", RUN_OF_ROW);
	assert_log(INIT P_REST P_ENV P_PROTO
		PUBLISH(D_BRUN, KI "BenchmarkRun", NAME("b"),
			SAYS("\"createdAt\":\"once\",\"id\":\"" ID("1")
				"\",\"publishedAt\":\"now\""))
		ANNOTATE(D_BRUN, "",
			SAYS("\"createdAt\":\"once\",\"id\":\"" ID("1")
				"\",\"publishedAt\":\"then\""))
		ANNOTATE(D_BRUN, "",
			SAYS("\"createdAt\":\"once\",\"id\":\"" ID("1")
				"\",\"publishedAt\":\"now\"")));
}

/* ---- lists and rows ---------------------------------------------------- */

static void
lists_nest_and_hold_any_value(void **state)
{
	(void)state;
	put("", "[" MODEL2 ",[[],[" MODEL "]],{\"x\":" STACK "}]\n");
	assert_log(INIT P_MODEL2 P_MODEL P_STACK);
}

static void
the_manifests_of_a_run_row_come_in_order_of_their_names(void **state)
{
	(void)state;
	put("", OP "\n" SUITE "\n" IMPL "\n" ROW("benchmark_runs", "1",
		",\"manifest\":{\"run\":" BRUN ",\"protocol\":" PROTO
		",\"environment\":" ENV "},\"runDigest\":\"" D_BRUN "\","
		"\"protocolKey\":\"" D_PROTO "\",\"environmentKey\":\"" D_ENV
		"\""));
	assert_log(INIT P_OP P_SUITE P_IMPL P_ENV P_PROTO
		PUBLISH(D_BRUN, KI "BenchmarkRun", NAME("b"), SAYS_ID("1")));
	assert_int_equal(result.stated_digests, 3);
	assert_int_equal(result.rows, 1);
}

static void
source_and_project_follow_the_references_of_the_body(void **state)
{
	(void)state;
	put("", RUN_ROW("1", RUN, ",\"sourceId\":\"" ID("5") "\"")
		MODEL "\n" LOAD "\n" CONF "\n"
		ROW("serving_stack_revisions", "2", HOLDS(STACK)
			",\"projectId\":\"" ID("3") "\"")
		ROW("projects", "3", HOLDS(PROJECT))
		SOURCE_ROW("5", "S"));
	assert_log(INIT
		PUBLISH(D_PROJECT, KI "SoftwareProject", NAME("p"),
			SAYS_ID("3"))
		PUBLISH(D_STACK, KI "ServingStackRevision", NAME("s"),
			SAYS("\"id\":\"" ID("2") "\",\"project\":\"" D_PROJECT
				"\""))
		P_CONF P_MODEL P_LOAD
		PUBLISH(D_SOURCE, OWN "Source", "", SAYS_ID("5"))
		PUBLISH(D_RUN, KI "ServingRun", NAME("r"),
			SAYS("\"id\":\"" ID("1") "\",\"source\":\"" D_SOURCE
				"\"")));
}

/* Rows of other kinds have these columns too; their lines do not. */
static void
source_and_project_stand_only_where_they_belong(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, ",\"sourceId\":\"" ID("5")
		"\",\"projectId\":\"" ID("6") "\""));
	assert_log(INIT PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
		SAYS_ID("1")));
}

/* ---- metadata (P6, P9) ------------------------------------------------- */

static void
the_first_manifest_of_a_digest_gives_the_metadata(void **state)
{
	(void)state;
	put("", MODEL "\n" MODEL_OF("M", NAMED("other")) "\n" MODEL "\n");
	assert_log(INIT P_MODEL);
	assert_int_equal(result.manifests, 3);
	assert_int_equal(result.objects, 1);
	assert_int_equal(result.added, 1);
	assert_int_equal(result.other_metadata, 1);
}

static void
metadata_is_kept_whole_in_canonical_form(void **state)
{
	(void)state;
	put("", MODEL_OF("M", "{ \"title\" : \"T\\u00e9\", \"name\":\"m\","
		"\"labels\":{\"b\":\"\",\"a\":\"x\"},\"sourceRefs\":[]}")
		"\n");
	assert_log(INIT PUBLISH(D_MODEL, KI "ModelRevision",
		METADATA("{\"labels\":{\"a\":\"x\",\"b\":\"\"},\"name\":\"m\","
			"\"sourceRefs\":[],\"title\":\"T\xc3\xa9\"}"), ""));
}

static void
metadata_that_is_absent_or_empty_is_left_out(void **state)
{
	static const char spec[] = "{\"apiVersion\":\"kistore/v1\",\"kind\":"
		"\"Source\",\"metadata\":{},\"spec\":{\"kind\":\"benchmark\","
		"\"name\":\"S\",\"slug\":\"s\"}}\n";

	(void)state;
	put("u", OTHER "\n");
	put("", spec);
	assert_log(INIT PUBLISH(D_OTHER, "example/v1/Thing", "", "")
		PUBLISH(D_SOURCE, OWN "Source", "", ""));
}

/* ---- nothing new (P1, P14) --------------------------------------------- */

static void
putting_again_changes_nothing(void **state)
{
	char first[41];

	(void)state;
	put("", MODEL "\n" STACK "\n");
	memcpy(first, result.commit, sizeof(first));
	put("", MODEL "\n" STACK "\n");
	assert_string_equal(result.commit, "");
	assert_int_equal(result.known, 2);
	assert_int_equal(result.added, 0);
	assert_int_equal(result.entries, 0);
	assert_int_equal(result.size, 3);
	put("a", STACK "\n");
	assert_string_equal(result.commit, "");
	assert_log(INIT P_MODEL P_STACK);
	assert_string_equal(ks_buf_cstr(&objects),
		D_STACK " " KI "ServingStackRevision known\n");
}

static void
known_objects_with_other_facts_are_counted_and_left(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, ",\"summary\":\"one\"") STACK "\n");
	put("", MODEL_ROW("1", MODEL_OF("M", NAMED("new")),
		",\"summary\":\"two\"") STACK "\n");
	assert_int_equal(result.known, 2);
	assert_int_equal(result.other_metadata, 1);
	assert_int_equal(result.other_provenance, 1);
	assert_string_equal(result.commit, "");
	/* A manifest by itself says nothing of provenance. */
	put("", MODEL "\n");
	assert_int_equal(result.other_metadata, 0);
	assert_int_equal(result.other_provenance, 0);
	assert_log(INIT PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
		SAYS("\"id\":\"" ID("1") "\",\"summary\":\"one\"")) P_STACK);
}

static void
an_older_export_put_again_rolls_nothing_back(void **state)
{
	static const char old_export[] = SOURCE_ROW("5", "S")
		MODEL_ROW("1", MODEL, "") ARTIFACT_ROW("7", "3");
	static const char new_export[] = SOURCE_ROW("5", "S2")
		MODEL_ROW("1", MODEL_OF("M", NAMED("new")), "")
		ARTIFACT_ROW("7", "4");
	static const char log[] = INIT
		PUBLISH(D_SOURCE, OWN "Source", "", SAYS_ID("5"))
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), SAYS_ID("1"))
		PUBLISH(D_ARTIFACT, OWN "Artifact", "", SAYS_ID("7"))
		PUBLISH(D_SOURCE2, OWN "Source", "", SAYS_ID("5"))
		PUBLISH(D_ARTIFACT2, OWN "Artifact", "", SAYS_ID("7"))
		ANNOTATE(D_MODEL, NAME("new"), "")
		SUPERSEDE(D_SOURCE, D_SOURCE2)
		SUPERSEDE(D_ARTIFACT, D_ARTIFACT2);

	(void)state;
	put("", old_export);
	put("a", new_export);
	assert_log(log);
	put("", old_export);
	assert_string_equal(result.commit, "");
	assert_int_equal(result.known, 3);
	assert_int_equal(result.other_metadata, 1);
	put("", new_export);
	assert_string_equal(result.commit, "");
	assert_log(log);
}

/* ---- annotate (P14) ---------------------------------------------------- */

static void
annotate_writes_the_members_that_differ(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, ",\"summary\":\"one\"")
		MODEL_ROW("2", MODEL2, "") STACK "\n");
	put("a", STACK "\n"
		MODEL_ROW("2", MODEL2, ",\"tags\":[\"b\",\"a\",\"b\"]")
		MODEL_ROW("1", MODEL_OF("M", NAMED("new")),
			",\"summary\":\"one\""));
	assert_int_equal(result.annotated, 2);
	assert_int_equal(result.known, 3);
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
			SAYS("\"id\":\"" ID("1") "\",\"summary\":\"one\""))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"),
			SAYS_ID("2"))
		P_STACK
		ANNOTATE(D_MODEL2, "", SAYS("\"id\":\"" ID("2")
			"\",\"tags\":[\"b\",\"a\",\"b\"]"))
		ANNOTATE(D_MODEL, NAME("new"), ""));
	put("a", MODEL_OF("M", NAMED("new")) "\n");
	assert_string_equal(result.commit, "");
}

static void
what_an_annotate_names_is_published_before_it(void **state)
{
	(void)state;
	put("", MODEL "\n" LOAD "\n" CONF "\n" STACK "\n" RUN "\n");
	put("a", RUN_ROW("1", RUN, ",\"sourceId\":\"" ID("5") "\"")
		SOURCE_ROW("5", "S"));
	assert_log(INIT P_MODEL P_LOAD P_STACK P_CONF P_RUN
		PUBLISH(D_SOURCE, OWN "Source", "", SAYS_ID("5"))
		ANNOTATE(D_RUN, "", SAYS("\"id\":\"" ID("1")
			"\",\"source\":\"" D_SOURCE "\"")));
}

/* ---- the groups (P8) --------------------------------------------------- */

static void
annotates_retracts_and_supersedes_follow_in_input_order(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, "") MODEL_ROW("2", MODEL2, "")
		SOURCE_ROW("5", "S"));
	put("a", MODEL_ROW("2", MODEL_OF("M2", NAMED("new2")),
			",\"supersedesId\":\"" ID("1") "\",\"retractedAt\":"
			"\"2026-02-03\",\"retractionReason\":\"wrong\"")
		SOURCE_ROW("5", "S2")
		MODEL_ROW("3", MODEL3, ",\"supersedesId\":\"" ID("2") "\"")
		MODEL_ROW("1", MODEL_OF("M", NAMED("new")),
			",\"retractionReason\":{\"why\":\"x\"}"));
	assert_int_equal(result.added, 2);
	assert_int_equal(result.annotated, 2);
	assert_int_equal(result.retracted, 2);
	assert_int_equal(result.superseded, 3);
	assert_int_equal(result.entries, 9);
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), SAYS_ID("1"))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"),
			SAYS_ID("2"))
		PUBLISH(D_SOURCE, OWN "Source", "", SAYS_ID("5"))
		PUBLISH(D_SOURCE2, OWN "Source", "", SAYS_ID("5"))
		PUBLISH(D_MODEL3, KI "ModelRevision", NAME("m3"),
			SAYS_ID("3"))
		ANNOTATE(D_MODEL2, NAME("new2"), "")
		ANNOTATE(D_MODEL, NAME("new"), "")
		RETRACT(D_MODEL2, "\"wrong\"",
			",\"retractedAt\":\"2026-02-03\"")
		RETRACT(D_MODEL, "{\"why\":\"x\"}", "")
		SUPERSEDE(D_MODEL, D_MODEL2)
		SUPERSEDE(D_SOURCE, D_SOURCE2)
		SUPERSEDE(D_MODEL2, D_MODEL3));
}

/* ---- retraction and supersession of rows (P18, C8, C9) ----------------- */

static void
a_retraction_keeps_the_value_of_the_row(void **state)
{
	static const struct {
		const char *columns, *line;
	} table[] = {
		{ ",\"retractionReason\":\"why\"",
			RETRACT(D_MODEL, "\"why\"", "") },
		{ ",\"retractedAt\":\"2026-02-03 01:02\",\"retractionReason\""
			":\"why\"", RETRACT(D_MODEL, "\"why\"",
				",\"retractedAt\":\"2026-02-03 01:02\"") },
		{ ",\"retractedAt\":\"x\"", RETRACT(D_MODEL,
			"\"unspecified\"", ",\"retractedAt\":\"x\"") },
		{ ",\"retractedAt\":\"x\",\"retractionReason\":null",
			RETRACT(D_MODEL, "\"unspecified\"",
				",\"retractedAt\":\"x\"") },
		{ ",\"retractionReason\":\"\"",
			RETRACT(D_MODEL, "\"unspecified\"", "") },
		{ ",\"retractionReason\":{}",
			RETRACT(D_MODEL, "\"unspecified\"", "") },
		{ ",\"retractionReason\":{\"a\":null,\"b\":{\"c\":[]}}",
			RETRACT(D_MODEL, "\"unspecified\"", "") },
		{ ",\"retractionReason\":{\"b\":1,\"a\":null,\"c\":[null]}",
			RETRACT(D_MODEL, "{\"b\":1,\"c\":[null]}", "") },
		{ ",\"retractedAt\":null,\"retractionReason\":null", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_buf row = KS_BUF_INIT;
		struct ks_buf log = KS_BUF_INIT;

		ks_buf_printf(&row, "{\"table\":\"model_revisions\",\"row\":"
			"{\"manifest\":%s%s}}\n", MODEL, table[i].columns);
		put("", ks_buf_cstr(&row));
		ks_buf_printf(&log, "%s%s%s", INIT, P_MODEL, table[i].line);
		assert_log(ks_buf_cstr(&log));
		ks_buf_release(&row);
		ks_buf_release(&log);
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

static void
a_row_retracts_or_supersedes_only_what_never_was(void **state)
{
	static const char rows[] =
		MODEL_ROW("1", MODEL, ",\"retractionReason\":\"wrong\"")
		MODEL_ROW("2", MODEL2, ",\"supersedesId\":\"" ID("1") "\"");
	static const char log[] = INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), SAYS_ID("1"))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"), SAYS_ID("2"))
		RETRACT(D_MODEL, "\"wrong\"", "")
		SUPERSEDE(D_MODEL, D_MODEL2)
		RESTORE(D_MODEL, "it was right");
	struct ks_write_options options = { .now = NOW };
	struct ks_id model = id_of(D_MODEL);

	(void)state;
	put("", rows);
	assert_int_equal(ks_restore(store, &model, "it was right", &options,
		NULL), KS_OK);
	assert_log(log);
	put("", rows);
	assert_log(log);
	assert_string_equal(result.commit, "");
	assert_int_equal(result.retracted, 0);
	assert_int_equal(result.superseded, 0);
	/* Another reason is no new retraction either. */
	put("a", MODEL_ROW("1", MODEL, ",\"retractionReason\":\"other\""));
	assert_log(log);
}

static void
two_rows_of_one_digest_retract_it_once(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, ",\"retractionReason\":\"first\"")
		MODEL_ROW("1", MODEL, ",\"retractionReason\":\"second\""));
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), SAYS_ID("1"))
		RETRACT(D_MODEL, "\"first\"", ""));
	assert_int_equal(result.retracted, 1);
}

static void
a_retraction_that_came_later_becomes_a_line(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, "") MODEL_ROW("2", MODEL2, ""));
	put("", MODEL_ROW("1", MODEL, ",\"retractionReason\":\"late\"")
		MODEL_ROW("2", MODEL2, ",\"supersedesId\":\"" ID("1") "\""));
	assert_int_equal(result.added, 0);
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), SAYS_ID("1"))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"),
			SAYS_ID("2"))
		RETRACT(D_MODEL, "\"late\"", "")
		SUPERSEDE(D_MODEL, D_MODEL2));
}

static void
a_superseded_row_of_an_earlier_put_is_found_in_the_log(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, ""));
	put("", MODEL_ROW("2", MODEL2, ",\"supersedesId\":\"" ID("1") "\""));
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), SAYS_ID("1"))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"),
			SAYS_ID("2"))
		SUPERSEDE(D_MODEL, D_MODEL2));
}

/* ---- rows that change in place (P17) ----------------------------------- */

static void
a_changed_source_supersedes_the_one_before(void **state)
{
	(void)state;
	put("", SOURCE_ROW("5", "S"));
	put("", SOURCE_ROW("5", "S2"));
	put("", SOURCE_ROW("5", "S3"));
	assert_log(INIT
		PUBLISH(D_SOURCE, OWN "Source", "", SAYS_ID("5"))
		PUBLISH(D_SOURCE2, OWN "Source", "", SAYS_ID("5"))
		SUPERSEDE(D_SOURCE, D_SOURCE2)
		PUBLISH(D_SOURCE3, OWN "Source", "", SAYS_ID("5"))
		SUPERSEDE(D_SOURCE2, D_SOURCE3));
}

static void
a_source_that_changes_within_the_input_does_so_too(void **state)
{
	(void)state;
	put("", SOURCE_ROW("5", "S") SOURCE_ROW("5", "S2")
		RUN_ROW("1", RUN, ",\"sourceId\":\"" ID("5") "\"")
		MODEL "\n" LOAD "\n" CONF "\n" STACK "\n");
	assert_log(INIT
		PUBLISH(D_SOURCE, OWN "Source", "", SAYS_ID("5"))
		PUBLISH(D_SOURCE2, OWN "Source", "", SAYS_ID("5"))
		P_STACK P_CONF P_MODEL P_LOAD
		PUBLISH(D_RUN, KI "ServingRun", NAME("r"),
			SAYS("\"id\":\"" ID("1") "\",\"source\":\"" D_SOURCE2
				"\""))
		SUPERSEDE(D_SOURCE, D_SOURCE2));
}

static void
an_id_of_another_kind_never_moves(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, ""));
	refuse("", MODEL_ROW("1", MODEL2, ""), ID("1"));
	refuse("", SOURCE_ROW("1", "S"), ID("1"));
	refuse("", MODEL_ROW("2", MODEL2, "") MODEL_ROW("2", MODEL3, ""),
		ID("2"));
	put("", SOURCE_ROW("5", "S"));
	refuse("", ARTIFACT_ROW("5", "3"), ID("5"));
}

/* ---- provenance from rows (C3, C4, C10) -------------------------------- */

static void
columns_become_provenance_as_the_table_says(void **state)
{
	(void)state;
	put("", "{\"row\":{\"id\":\"0000000A-0000-4000-8000-00000000000F\","
		"\"publishedAt\":\"2026-01-02T03:04:05.678+00:00\","
		"\"createdAt\":\"yesterday\",\"slug\":\"m\",\"summary\":\"\","
		"\"tags\":[\"b\",\"a\"],\"name\":\"not of a project\","
		"\"independentReplicationCount\":2,"
		"\"reproducedByKernelindex\":false,\"manifest\":" MODEL "},"
		"\"table\":\"model_revisions\"}\n"
		ROW("projects", "1", HOLDS(PROJECT) ",\"slug\":\"other\","
			"\"name\":\"Q\",\"tags\":[],\"publishedAt\":null")
		MODEL_ROW("2", MODEL2, ",\"independentReplicationCount\":0,"
			"\"reproducedByKernelindex\":false"));
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
			SAYS("\"createdAt\":\"yesterday\",\"id\":"
			"\"0000000a-0000-4000-8000-00000000000f\","
			"\"publishedAt\":\"2026-01-02T03:04:05.678+00:00\","
			"\"replication\":{\"independentReplicationCount\":2,"
			"\"reproducedByKernelindex\":false},"
			"\"summary\":\"\",\"tags\":[\"b\",\"a\"]"))
		PUBLISH(D_PROJECT, KI "SoftwareProject", NAME("p"),
			SAYS("\"id\":\"" ID("1") "\",\"name\":\"Q\","
			"\"slug\":\"other\""))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"),
			SAYS_ID("2")));
}

static void
the_first_row_of_a_digest_gives_the_provenance(void **state)
{
	(void)state;
	/* A manifest outside rows is none. */
	put("", MODEL "\n" MODEL_ROW("1", MODEL, ",\"summary\":\"one\"")
		MODEL_ROW("1", MODEL, ",\"summary\":\"two\""));
	assert_log(INIT PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
		SAYS("\"id\":\"" ID("1") "\",\"summary\":\"one\"")));
}

static void
a_row_without_an_id_is_a_row_all_the_same(void **state)
{
	(void)state;
	put("", MODEL "\n{\"table\":\"model_revisions\",\"row\":{\"summary\":"
		"\"one\",\"manifest\":" MODEL "}}\n"
		MODEL_ROW("1", MODEL, ",\"summary\":\"two\""));
	assert_log(INIT PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
		SAYS("\"summary\":\"one\"")));
}

static void
sources_and_artifacts_are_made_from_their_columns(void **state)
{
	(void)state;
	put("", ROW("sources", "5", ",\"slug\":\"s\",\"kind\":\"benchmark\","
			"\"name\":\"S\",\"policy\":null,\"createdAt\":\"then\","
			"\"summary\":\"not taken\"") ARTIFACT_ROW("7", "3"));
	assert_log(INIT
		PUBLISH(D_SOURCE, OWN "Source", "",
			SAYS("\"createdAt\":\"then\",\"id\":\"" ID("5") "\""))
		PUBLISH(D_ARTIFACT, OWN "Artifact", "", SAYS_ID("7")));
}

/* C7 */
static void
aliases_are_sorted_and_each_stands_once(void **state)
{
	(void)state;
	put("", ALIAS_ROW("1", "9", "b") ROW("operations", "9", HOLDS(OP)
			",\"semanticDigest\":\"" D_OP "\"")
		ALIAS_ROW("2", "9", "a") ALIAS_ROW("3", "9", "b")
		ALIAS_ROW("4", "9", "B") ALIAS_ROW("5", "9", "\\u00e9")
		ALIAS_ROW("6", "9", "a b") ALIAS_ROW("7", "9", "\\\""));
	assert_log(INIT PUBLISH(D_OP, KI "OperationSpec", NAME("o"),
		SAYS("\"aliases\":[\"\\\"\",\"B\",\"a\",\"a b\",\"b\","
			"\"\xc3\xa9\"],\"id\":\"" ID("9") "\"")));
}

static void
new_aliases_of_a_known_operation_differ(void **state)
{
	(void)state;
	put("", ROW("operations", "9", HOLDS(OP)));
	put("", ROW("operations", "9", HOLDS(OP)) ALIAS_ROW("1", "9", "a"));
	assert_int_equal(result.other_provenance, 1);
	assert_string_equal(result.commit, "");
	put("a", ROW("operations", "9", HOLDS(OP)) ALIAS_ROW("1", "9", "a"));
	assert_log(INIT
		PUBLISH(D_OP, KI "OperationSpec", NAME("o"), SAYS_ID("9"))
		ANNOTATE(D_OP, "", SAYS("\"aliases\":[\"a\"],\"id\":\"" ID("9")
			"\"")));
}

/* ---- ids that name nothing (C6) ---------------------------------------- */

#define CLOSURE MODEL "\n" LOAD "\n" CONF "\n"

static void
an_id_found_neither_in_the_input_nor_in_the_log_refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{ MODEL_ROW("1", MODEL, ",\"supersedesId\":\"" ID("8") "\""),
			"in.jsonl:1: supersedesId " ID("8") },
		{ CLOSURE STACK "\n" RUN_ROW("1", RUN, ",\"sourceId\":\""
			ID("8") "\""), "in.jsonl:5: sourceId " ID("8") },
		{ ROW("serving_stack_revisions", "1", HOLDS(STACK)
			",\"projectId\":\"" ID("8") "\""),
			"in.jsonl:1: projectId " ID("8") },
		{ MODEL "\n" ALIAS_ROW("1", "8", "a"),
			"in.jsonl:2: operationId " ID("8") },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		refuse("", table[i].text, table[i].says);
}

static void
allow_missing_warns_of_such_ids_and_leaves_out_what_they_say(void **state)
{
	(void)state;
	put("m", CLOSURE
		MODEL_ROW("1", MODEL2, ",\"supersedesId\":\"" ID("8") "\"")
		ROW("serving_stack_revisions", "2", HOLDS(STACK)
			",\"projectId\":\"" ID("8") "\"")
		RUN_ROW("3", RUN, ",\"sourceId\":\"" ID("8") "\"")
		ALIAS_ROW("4", "8", "a"));
	assert_log(INIT P_MODEL P_LOAD
		PUBLISH(D_STACK, KI "ServingStackRevision", NAME("s"),
			SAYS_ID("2"))
		P_CONF
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"), SAYS_ID("1"))
		PUBLISH(D_RUN, KI "ServingRun", NAME("r"), SAYS_ID("3")));
	assert_noted("supersedesId " ID("8"));
	assert_noted("projectId " ID("8"));
	assert_noted("sourceId " ID("8"));
	assert_noted("operationId " ID("8"));
}

/* ---- references left open (P13, R18, R21) ------------------------------ */

static void
a_reference_that_is_nowhere_refuses_the_put(void **state)
{
	(void)state;
	refuse("", MODEL "\n" CONF "\n", "in.jsonl:2: spec.stackDigest "
		D_STACK);
	refuse("", RUN "\n" MODEL "\n" CONF "\n" STACK "\n",
		"in.jsonl:1: spec.workloadDigest " D_LOAD);
}

static void
what_was_left_open_is_listed_sorted_and_stays_as_written(void **state)
{
	static const char open_run[] = INIT P_STACK P_CONF
		PUBLISH(D_RUN, KI "ServingRun", NAME("r")
			MISSING(Q(D_MODEL) "," Q(D_LOAD)), "");
	struct ks_buf log = KS_BUF_INIT;

	(void)state;
	assert_true(strcmp(D_MODEL, D_LOAD) < 0);
	put("m", RUN "\n" CONF "\n" STACK "\n");
	assert_log(open_run);
	assert_int_equal(result.missing, 2);
	put("", LOAD "\n" MODEL "\n" RUN "\n");
	ks_buf_printf(&log, "%s%s%s", open_run, P_LOAD, P_MODEL);
	assert_log(ks_buf_cstr(&log));
	ks_buf_release(&log);
}

static void
only_direct_references_are_listed(void **state)
{
	(void)state;
	put("m", RUN "\n" MODEL "\n" LOAD "\n" CONF "\n");
	assert_log(INIT
		PUBLISH(D_CONF, KI "ServingConfiguration", NAME("c")
			MISSING(Q(D_STACK)), "")
		P_MODEL P_LOAD P_RUN);
}

static void
a_reference_to_another_kind_is_refused(void **state)
{
	(void)state;
	refuse("", MODEL "\n" SUITE_OF(D_MODEL) "\n",
		"in.jsonl:2: spec.operationSpecDigest " D_MODEL " is a "
		KI "ModelRevision, must be a OperationSpec");
	put("", MODEL "\n");
	refuse("m", SUITE_OF(D_MODEL) "\n", "spec.operationSpecDigest");
}

/* R22 holds of source and project as well. */
static void
a_source_or_project_of_another_kind_is_refused(void **state)
{
	struct ks_put_options options = options_of("", NOW);

	(void)state;
	refuse("", CLOSURE STACK "\n" RUN_ROW("1", RUN, ",\"sourceId\":\""
		ID("8") "\"") MODEL_ROW("8", MODEL2, ""), "in.jsonl:5: ");
	refuse("", ROW("serving_stack_revisions", "1", HOLDS(STACK)
		",\"projectId\":\"" ID("8") "\"") MODEL_ROW("8", MODEL2, ""),
		"in.jsonl:1: ");
	options.provenance = ks_span_text("{\"" D_STACK "\":{\"project\":\""
		D_MODEL "\"}}");
	refuse_with(STACK "\n" MODEL "\n", &options, "in.jsonl:1: ");
}

/* ---- --source (P15) ---------------------------------------------------- */

#define SOURCE_SPEC "{\"slug\":\"s\",\"kind\":\"benchmark\",\"name\":\"S2\"}"
#define SOURCE_MANIFEST \
	"{\"apiVersion\":\"kistore/v1\",\"kind\":\"Source\",\"spec\":" \
	SOURCE_SPEC "}"

static void
the_source_given_is_that_of_every_new_run(void **state)
{
	static const char *const forms[] = { SOURCE_SPEC, SOURCE_MANIFEST };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct ks_put_options options = options_of("", NOW);

		options.source = ks_span_text(forms[i]);
		assert_int_equal(put_with(MODEL "\n" RUN "\n" CLOSURE STACK
			"\n" RUN_ROW("1", RUN2, ",\"sourceId\":\"" ID("5")
			"\"") SOURCE_ROW("5", "S"), &options, NULL), KS_OK);
		assert_log(INIT P_MODEL P_STACK P_CONF P_LOAD
			PUBLISH(D_SOURCE2, OWN "Source", "", "")
			PUBLISH(D_RUN, KI "ServingRun", NAME("r"),
				SAYS("\"source\":\"" D_SOURCE2 "\""))
			PUBLISH(D_RUN2, KI "ServingRun", NAME("r2"),
				SAYS("\"id\":\"" ID("1") "\",\"source\":\""
				D_SOURCE2 "\""))
			PUBLISH(D_SOURCE, OWN "Source", "", SAYS_ID("5")));
		assert_int_equal(result.objects, 7);
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

static void
without_a_new_run_the_source_given_is_not_published(void **state)
{
	struct ks_put_options options = options_of("", NOW);

	(void)state;
	options.source = ks_span_text(SOURCE_SPEC);
	assert_int_equal(put_with(MODEL "\n", &options, NULL), KS_OK);
	assert_log(INIT P_MODEL);
}

static void
a_source_given_and_in_the_input_has_its_place_there(void **state)
{
	struct ks_put_options options = options_of("", NOW);

	(void)state;
	options.source = ks_span_text(SOURCE_SPEC);
	assert_int_equal(put_with(SOURCE_MANIFEST "\n" MODEL "\n", &options,
		NULL), KS_OK);
	assert_log(INIT PUBLISH(D_SOURCE2, OWN "Source", "", "") P_MODEL);
	assert_int_equal(result.objects, 2);
	assert_int_equal(result.added, 2);
}

static void
what_is_no_source_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "{", "--source: " },
		{ "[]", "--source: " },
		{ "\"s\"", "--source: " },
		{ "{}", "--source: " },
		{ MODEL, "--source: " },
		{ "{\"slug\":\"s\",\"kind\":\"benchmark\"}",
			"--source: spec.name" },
		{ "{\"slug\":\"S!\",\"kind\":\"benchmark\",\"name\":\"S\"}",
			"--source: spec.slug" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_put_options options = options_of("", NOW);

		options.source = ks_span_text(table[i].text);
		refuse_with(MODEL "\n", &options, table[i].says);
	}
}

/* ---- --provenance (P16) ------------------------------------------------ */

static void
provenance_given_is_laid_over_the_rows_member_by_member(void **state)
{
	struct ks_put_options options = options_of("", NOW);

	(void)state;
	options.provenance = ks_span_text("{\"" D_MODEL "\":{\"summary\":"
		"\"given\",\"x-note\":{\"b\":1,\"a\":[]},\"tags\":null},\""
		D_MODEL2 "\":{\"createdAt\":\"then\"}}");
	assert_int_equal(put_with(MODEL_ROW("1", MODEL, ",\"summary\":"
		"\"row\",\"createdAt\":\"row\"") MODEL2 "\n" STACK "\n",
		&options, NULL), KS_OK);
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
			SAYS("\"createdAt\":\"row\",\"id\":\"" ID("1") "\","
			"\"summary\":\"given\",\"x-note\":{\"b\":1}"))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"),
			SAYS("\"createdAt\":\"then\"")) P_STACK);
}

static void
a_source_in_the_provenance_given_wins_and_is_published_first(void **state)
{
	struct ks_put_options options = options_of("", NOW);

	(void)state;
	options.source = ks_span_text("{\"slug\":\"s\",\"kind\":"
		"\"benchmark\",\"name\":\"S3\"}");
	options.provenance = ks_span_text("{\"" D_RUN "\":{\"source\":\""
		D_SOURCE2 "\"}}");
	assert_int_equal(put_with(RUN "\n" CLOSURE STACK "\n" SOURCE_MANIFEST
		"\n", &options, NULL), KS_OK);
	assert_log(INIT P_STACK P_CONF P_MODEL P_LOAD
		PUBLISH(D_SOURCE2, OWN "Source", "", "")
		PUBLISH(D_RUN, KI "ServingRun", NAME("r"),
			SAYS("\"source\":\"" D_SOURCE2 "\"")));
}

static void
provenance_that_does_not_fit_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "{", "--provenance: " },
		{ "[]", "--provenance: " },
		{ "{\"x\":{}}", "--provenance: " },
		{ "{\"" D_MODEL2 "\":{\"summary\":\"s\"}}", D_MODEL2
			" is not in the input" },
		{ "{\"" D_STACK "\":{\"summary\":\"s\"}}", D_STACK
			" is not in the input" },
		{ "{\"" D_MODEL "\":[]}", D_MODEL },
		{ "{\"" D_MODEL "\":{\"summary\":1}}", D_MODEL },
		{ "{\"" D_MODEL "\":{\"unknown\":1}}", D_MODEL },
		{ "{\"" D_MODEL "\":{\"id\":\"X\"}}", D_MODEL },
		{ "{\"" D_MODEL "\":{\"aliases\":[\"b\",\"a\"]}}", D_MODEL },
		{ "{\"" D_MODEL "\":{\"source\":\"" D_SOURCE "\"}}",
			"in.jsonl:1: " },
		{ "{\"" D_MODEL "\":{\"project\":\"" D_PROJECT "\"}}",
			"in.jsonl:1: " },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_put_options options = options_of("", NOW);

		options.provenance = ks_span_text(table[i].text);
		refuse_with(MODEL "\n", &options, table[i].says);
	}
}

static void
a_source_given_that_is_nowhere_is_missing(void **state)
{
	struct ks_put_options options = options_of("", NOW);

	(void)state;
	options.provenance = ks_span_text("{\"" D_RUN "\":{\"source\":\""
		D_SOURCE "\"}}");
	refuse_with(CLOSURE STACK "\n" RUN "\n", &options, D_SOURCE);
	options.allow_missing = true;
	assert_int_equal(put_with(CLOSURE STACK "\n" RUN "\n", &options,
		NULL), KS_OK);
	assert_log(INIT P_MODEL P_LOAD P_STACK P_CONF
		PUBLISH(D_RUN, KI "ServingRun", NAME("r") MISSING(Q(D_SOURCE)),
			SAYS("\"source\":\"" D_SOURCE "\"")));
}

/* ---- digests stated and columns derived (C11, C12) --------------------- */

static void
a_stated_digest_that_differs_refuses_the_put(void **state)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{ MODEL_ROW("1", MODEL, ",\"modelDigest\":\"" D_MODEL2 "\""),
			"in.jsonl:1: table model_revisions: " },
		{ STACK "\n" ROW("serving_configurations", "1", HOLDS(CONF)
			",\"configurationDigest\":\"" D_LOAD "\""),
			"in.jsonl:2: table serving_configurations: " },
		{ MODEL_ROW("1", MODEL, ",\"modelDigest\":\"x\""),
			"modelDigest" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		refuse("", table[i].text, table[i].says);
	put("", MODEL_ROW("1", MODEL, ",\"modelDigest\":\"" D_MODEL "\""));
	assert_int_equal(result.stated_digests, 1);
}

static void
derived_columns_are_compared_and_derived_rows_counted(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, ",\"license\":\"MIT\",\"unheard\":[]")
		ROW("measurements", "2", "") ROW("record_events", "3", "")
		ROW("serving_measurements", "4", "") ROW("users", "5", ""));
	assert_noted("in.jsonl:1: column license of model_revisions says "
		"\"MIT\"");
	assert_int_equal(result.rows, 5);
	assert_int_equal(result.derived_rows, 3);
	assert_int_equal(result.unknown_rows, 1);
	assert_log(INIT PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"),
		SAYS_ID("1")));
}

/* ---- takedown (P19, R23) ----------------------------------------------- */

static void
take_down(const char *digest)
{
	struct ks_write_options options = { .now = NOW };
	struct ks_id id = id_of(digest);

	assert_int_equal(ks_takedown(store, &id, "danger", false, &options,
		NULL), KS_OK);
}

#define TAKEDOWN(digest) AT ",\"digest\":\"" digest \
	"\",\"op\":\"takedown\",\"reason\":\"danger\"}\n"

static void
what_was_taken_down_is_skipped_among_others(void **state)
{
	(void)state;
	put("", MODEL "\n" LOAD "\n");
	take_down(D_MODEL);
	put("a", MODEL_ROW("1", MODEL_OF("M", NAMED("new")),
		",\"retractionReason\":\"x\"") STACK "\n");
	assert_int_equal(result.skipped_taken_down, 1);
	assert_int_equal(result.added, 1);
	assert_log(INIT P_MODEL P_LOAD TAKEDOWN(D_MODEL) P_STACK);
}

static void
what_was_taken_down_is_refused_alone(void **state)
{
	(void)state;
	put("", MODEL "\n" LOAD "\n");
	take_down(D_MODEL);
	refuse("", MODEL "\n", "taken down");
	refuse("a", MODEL_OF("M", NAMED("new")) "\n", "taken down");
}

static void
as_a_reference_what_was_taken_down_is_published(void **state)
{
	(void)state;
	put("", STACK "\n");
	take_down(D_STACK);
	put("", CONF "\n");
	assert_log(INIT P_STACK TAKEDOWN(D_STACK) P_CONF);
}

/* An export goes on naming what was taken down. */
static void
rows_about_what_was_taken_down_make_no_lines(void **state)
{
	(void)state;
	put("", MODEL_ROW("1", MODEL, "") MODEL_ROW("2", MODEL2, ""));
	take_down(D_MODEL2);
	put("", MODEL_ROW("1", MODEL, "")
		MODEL_ROW("2", MODEL2, ",\"supersedesId\":\"" ID("1") "\"")
		MODEL_ROW("3", MODEL3, ",\"supersedesId\":\"" ID("2") "\""));
	assert_log(INIT
		PUBLISH(D_MODEL, KI "ModelRevision", NAME("m"), SAYS_ID("1"))
		PUBLISH(D_MODEL2, KI "ModelRevision", NAME("m2"),
			SAYS_ID("2"))
		TAKEDOWN(D_MODEL2)
		PUBLISH(D_MODEL3, KI "ModelRevision", NAME("m3"),
			SAYS_ID("3")));
	assert_int_equal(result.superseded, 0);
}

/* ---- a damaged index (R7) ---------------------------------------------- */

/* SQLite has no checksums: a digest changed in its file goes unnoticed. */
static void
a_wrong_index_never_publishes_twice(void **state)
{
	struct ks_put_options options = options_of("", NOW);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put("", MODEL "\n" STACK "\n");
	ks_store_close(store);
	assert_int_equal(sh("sqlite3 " STORE "/kistore-index.sqlite "
		"'UPDATE object SET digest = zeroblob(32) "
		"WHERE name = \"m\"'"), 0);
	assert_int_equal(ks_store_open(&store, STORE, NULL, NULL), KS_OK);
	assert_int_equal(put_with(MODEL "\n", &options, &err), KS_CORRUPT);
	assert_non_null(strstr(err.message, D_MODEL " is in the tree"));
	ks_store_close(store);
	assert_int_equal(ks_store_open(&store, STORE, NULL, NULL), KS_OK);
	put("", MODEL "\n");
	assert_int_equal(result.known, 1);
	assert_log(INIT P_MODEL P_STACK);
}

/* ---- time (P10) -------------------------------------------------------- */

static void
a_clock_that_went_back_dates_as_the_last_line(void **state)
{
	struct ks_put_options options = options_of("", NOW - 1000);

	(void)state;
	assert_int_equal(put_with(MODEL "\n", &options, NULL), KS_OK);
	assert_log(INIT P_MODEL);
	assert_noted("the clock is before the log's last entry");
	assert_int_equal(sh("[ $(git -C " STORE " log -1 "
		"--format=%ct) = 1787000000 ]"), 0);
}

static void
commit_and_lines_have_the_time_of_the_command(void **state)
{
	struct ks_put_options options = options_of("", NOW + 3600);

	(void)state;
	assert_int_equal(put_with(MODEL "\n", &options, NULL), KS_OK);
	assert_log(INIT "{\"at\":\"2026-08-17T21:53:20Z\",\"digest\":\"" D_MODEL
		"\",\"kind\":\"" KI "ModelRevision\",\"metadata\":"
		"{\"name\":\"m\"},\"op\":\"publish\"}\n");
	assert_int_equal(sh("[ \"$(git -C " STORE " log -1 "
		"--format='%ct %at %ad')\" = '1787003600 1787003600 "
		"Mon Aug 17 21:53:20 2026 +0000' ]"), 0);
}

/* ---- refusals of intake ------------------------------------------------ */

static void
input_that_breaks_a_rule_stores_nothing_of_it(void **state)
{
	static const struct {
		const char *letters, *text, *says;
	} table[] = {
		{ "", "", "no manifest in the input" },
		{ "", "\n \n", "no manifest in the input" },
		{ "", "[]\n", "no manifest in the input" },
		{ "", MODEL "\n{}\n", "in.jsonl:2: " },
		{ "", MODEL "\n1\n", "in.jsonl:2: " },
		{ "", MODEL "\n[" MODEL2 ",null]\n", "in.jsonl:2: " },
		{ "", MODEL "\n\n{\"a\":1}\n", "in.jsonl:3: " },
		{ "", MODEL "\nnot json\n", "in.jsonl:2: " },
		{ "", MODEL "\n" MODEL2, "" },	/* fine: no LF at the end */
		{ "", OTHER "\n", "in.jsonl:1: " },
		{ "", MANIFEST("ModelRevision", NAMED("m"), "{}") "\n",
			"spec.model" },
		{ "", MODEL_OF("M", "{}") "\n", "metadata: " },
		{ "", MODEL_OF("M", "{\"title\":\"t\"}") "\n",
			"metadata.name" },
		{ "s", MANIFEST("ModelRevision", NAMED("m"),
			"{\"model\":\"M\",\"more\":1}") "\n", "spec.more" },
		{ "", "{\"a\":" MODEL ",\"b\":" OTHER "}\n",
			"in.jsonl:1: b: " },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].says[0] != '\0')
			refuse(table[i].letters, table[i].text,
				table[i].says);
	put("", MODEL "\n" MODEL2);
	assert_log(INIT P_MODEL P_MODEL2);
}

/* L4 */
static void
metadata_too_long_for_a_line_refuses_the_put(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	size_t i;

	(void)state;
	ks_buf_text(&text, MODEL "\n{\"apiVersion\":"
		"\"kernelindex.dev/v1alpha1\",\"kind\":\"ModelRevision\","
		"\"metadata\":{\"labels\":{");
	for (i = 0; i < 350; i++)
		ks_buf_printf(&text, "%s\"l%zu\":\"%190s\"", i > 0 ? "," : "",
			i, "");
	ks_buf_text(&text, "},\"name\":\"m2\"},\"spec\":{\"model\":\"M2\"}}"
		"\n");
	refuse("", ks_buf_cstr(&text), "in.jsonl:2: ");
	ks_buf_release(&text);
}

/* O6 */
static void
what_is_normalised_is_noted_and_hashed_in_normal_form(void **state)
{
	(void)state;
	put("", OP "\n" PROTO_OF("\"0.008 ms\"") "\n"
		IMPL_OF("[\"fp16\",\"bf16\",\"fp16\"]") "\n");
	assert_log(INIT P_OP P_PROTO P_IMPL);
	assert_noted("in.jsonl:2: spec.measurement.warmupDuration");
	assert_noted("in.jsonl:3: spec.support.dtypes");
	assert_int_equal(result.warnings, 2);
}

static void
a_dry_run_tells_what_a_put_would_do_and_does_nothing(void **state)
{
	(void)state;
	put("d", RUN "\n" CLOSURE STACK "\n");
	assert_int_equal(result.added, 5);
	assert_int_equal(result.entries, 5);
	assert_int_equal(result.size, 6);
	assert_string_equal(result.commit, "");
	assert_log(INIT);
	refuse("d", RUN "\n", "spec.configurationDigest");
}

/* ---- many at once ------------------------------------------------------ */

/* Batches are worked on by several threads; the order is the input's. */
static void
the_order_does_not_depend_on_threads(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf log = KS_BUF_INIT;
	const char *at;
	int i;

	(void)state;
	for (i = 0; i < 6000; i++)
		ks_buf_printf(&text, "{\"apiVersion\":"
			"\"kernelindex.dev/v1alpha1\",\"kind\":"
			"\"ModelRevision\",\"metadata\":{\"name\":\"m%d\","
			"\"description\":\"%*s\"},\"spec\":{\"model\":\"%d\"}}"
			"\n", i % 5000, i * 7 % 400, "", i % 5000);
	put("", ks_buf_cstr(&text));
	assert_int_equal(result.manifests, 6000);
	assert_int_equal(result.added, 5000);
	assert_int_equal(ks_log_lines(store, 1, UINT64_MAX, add_line, &log,
		NULL), KS_OK);
	at = ks_buf_cstr(&log);
	for (i = 0; i < 5000; i++) {
		char name[32];
		const char *end = strchr(at, '\n');
		const char *found;

		assert_non_null(end);
		(void)snprintf(name, sizeof(name), "\"name\":\"m%d\"}", i);
		found = strstr(at, name);
		assert_true(found != NULL && found < end);
		at = end + 1;
	}
	assert_string_equal(at, "");
	ks_buf_release(&text);
	ks_buf_release(&log);
}

/* ---- digests only ------------------------------------------------------ */

static void
keep_digest(void *arg, const struct ks_id *digest, const char *kind)
{
	char text[KS_ID_TEXT + 1];

	ks_buf_printf(arg, "%s %s\n", ks_id_print(digest, text), kind);
}

static enum ks_status
digest_text(const char *text, const char *letters, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_put_options options = options_of(letters, NOW);

	scratch_write("in.jsonl", ks_span_text(text));
	return ks_digest_file("in.jsonl", &options.intake, keep_digest, out,
		NULL, err);
}

static void
digests_of_a_file_come_in_input_order_each_time(void **state)
{
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	assert_int_equal(digest_text(RUN "\n[" MODEL "," MODEL "]\n"
		SOURCE_ROW("5", "S") "{\"b\":" LOAD ",\"a\":" CONF "}\n"
		IMPL_OF("[\"fp16\",\"bf16\"]") "\n" OTHER "\n", "u", &out,
		NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&out),
		D_RUN " " KI "ServingRun\n"
		D_MODEL " " KI "ModelRevision\n"
		D_MODEL " " KI "ModelRevision\n"
		D_SOURCE " " OWN "Source\n"
		D_CONF " " KI "ServingConfiguration\n"
		D_LOAD " " KI "ServingWorkload\n"
		D_SET_IMPL " " KI "ImplementationRevision\n"
		D_OTHER " example/v1/Thing\n");
	ks_buf_release(&out);
}

static void
digests_of_a_file_are_refused_as_put_would(void **state)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "", "no manifest in the input" },
		{ OTHER "\n", "in.jsonl:1: " },
		{ MODEL "\n{}\n", "in.jsonl:2: " },
		{ MODEL_ROW("1", MODEL, ",\"modelDigest\":\"" D_LOAD "\""),
			"in.jsonl:1: table model_revisions: " },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf out = KS_BUF_INIT;

		if (digest_text(table[i].text, "", &out, &err) !=
			KS_INVALID || strstr(err.message, table[i].says) ==
			NULL)
			fail_msg("row %zu: %s", i, err.message);
		ks_buf_release(&out);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(publishes_come_in_input_order_each_after_its_references),
		TEST(references_that_are_published_do_not_move),
		TEST(a_bundle_stands_for_its_manifests_in_order_of_their_names),
		TEST(a_submission_is_published_in_order_of_its_names_references_first),
		TEST(a_submission_with_something_else_in_a_list_is_refused),
		TEST(a_dossier_gives_its_run_id_time_and_source),
		TEST(a_source_that_is_stated_in_part_is_said_to_be_skipped),
		TEST(a_dossier_that_states_another_digest_is_refused),
		TEST(a_dossier_of_another_records_id_is_refused),
		TEST(a_dossier_is_laid_over_what_a_row_said),
		TEST(lists_nest_and_hold_any_value),
		TEST(the_manifests_of_a_run_row_come_in_order_of_their_names),
		TEST(source_and_project_follow_the_references_of_the_body),
		TEST(source_and_project_stand_only_where_they_belong),
		TEST(the_first_manifest_of_a_digest_gives_the_metadata),
		TEST(metadata_is_kept_whole_in_canonical_form),
		TEST(metadata_that_is_absent_or_empty_is_left_out),
		TEST(putting_again_changes_nothing),
		TEST(known_objects_with_other_facts_are_counted_and_left),
		TEST(an_older_export_put_again_rolls_nothing_back),
		TEST(annotate_writes_the_members_that_differ),
		TEST(what_an_annotate_names_is_published_before_it),
		TEST(annotates_retracts_and_supersedes_follow_in_input_order),
		TEST(a_retraction_keeps_the_value_of_the_row),
		TEST(a_row_retracts_or_supersedes_only_what_never_was),
		TEST(two_rows_of_one_digest_retract_it_once),
		TEST(a_retraction_that_came_later_becomes_a_line),
		TEST(a_superseded_row_of_an_earlier_put_is_found_in_the_log),
		TEST(a_changed_source_supersedes_the_one_before),
		TEST(a_source_that_changes_within_the_input_does_so_too),
		TEST(an_id_of_another_kind_never_moves),
		TEST(columns_become_provenance_as_the_table_says),
		TEST(the_first_row_of_a_digest_gives_the_provenance),
		TEST(a_row_without_an_id_is_a_row_all_the_same),
		TEST(sources_and_artifacts_are_made_from_their_columns),
		TEST(aliases_are_sorted_and_each_stands_once),
		TEST(new_aliases_of_a_known_operation_differ),
		TEST(an_id_found_neither_in_the_input_nor_in_the_log_refuses),
		TEST(allow_missing_warns_of_such_ids_and_leaves_out_what_they_say),
		TEST(a_reference_that_is_nowhere_refuses_the_put),
		TEST(what_was_left_open_is_listed_sorted_and_stays_as_written),
		TEST(only_direct_references_are_listed),
		TEST(a_reference_to_another_kind_is_refused),
		TEST(a_source_or_project_of_another_kind_is_refused),
		TEST(the_source_given_is_that_of_every_new_run),
		TEST(without_a_new_run_the_source_given_is_not_published),
		TEST(a_source_given_and_in_the_input_has_its_place_there),
		TEST(what_is_no_source_is_refused),
		TEST(provenance_given_is_laid_over_the_rows_member_by_member),
		TEST(a_source_in_the_provenance_given_wins_and_is_published_first),
		TEST(provenance_that_does_not_fit_is_refused),
		TEST(a_source_given_that_is_nowhere_is_missing),
		TEST(a_stated_digest_that_differs_refuses_the_put),
		TEST(derived_columns_are_compared_and_derived_rows_counted),
		TEST(what_was_taken_down_is_skipped_among_others),
		TEST(what_was_taken_down_is_refused_alone),
		TEST(as_a_reference_what_was_taken_down_is_published),
		TEST(rows_about_what_was_taken_down_make_no_lines),
		TEST(a_wrong_index_never_publishes_twice),
		TEST(a_clock_that_went_back_dates_as_the_last_line),
		TEST(commit_and_lines_have_the_time_of_the_command),
		TEST(input_that_breaks_a_rule_stores_nothing_of_it),
		TEST(metadata_too_long_for_a_line_refuses_the_put),
		TEST(what_is_normalised_is_noted_and_hashed_in_normal_form),
		TEST(a_dry_run_tells_what_a_put_would_do_and_does_nothing),
		TEST(the_order_does_not_depend_on_threads),
		TEST(digests_of_a_file_come_in_input_order_each_time),
		TEST(digests_of_a_file_are_refused_as_put_would),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
