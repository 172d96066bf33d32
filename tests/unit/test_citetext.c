#include "format/citetext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEX "c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6"
#define DIGEST "sha256:" HEX
#define ID "01a016ae-0000-7000-8000-000000000000"
#define DIGIT(c) "sha256:000000000000000000000000000000000000000000000000" \
	"000000000000000" c
#define KI "kernelindex.dev/v1alpha1/"

/* What a text is made of. */
struct given {
	const char *digest, *kind, *body, *metadata, *provenance;
};

static struct ks_named
named(const struct given *given)
{
	struct ks_named out = {
		.is_named = true, .body = ks_span_text(given->body),
		.metadata = ks_span_text(given->metadata),
		.provenance = ks_span_text(given->provenance)
	};
	struct ks_jcs *jcs;

	assert_true(ks_id_parse(&out.digest, ks_span_text(given->digest)));
	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	if (given->kind[0] == '\0')
		out.body = ks_span(NULL, 0);
	else
		assert_int_equal(ks_record_judge(jcs, out.body, &out.record,
			NULL), KS_OK);
	ks_jcs_free(jcs);
	return out;
}

static bool
find(void *arg, const struct ks_id *digest, struct ks_named *out)
{
	const struct given *given = arg;

	for (; given->digest != NULL; given++) {
		*out = named(given);
		if (ks_id_equal(&out->digest, digest))
			return true;
	}
	return false;
}

static void
check(const struct given *record, const struct given *others,
	const char *expected)
{
	struct given copy[8] = { { .digest = NULL } };
	const struct ks_named cited = named(record);
	struct ks_citetext text = KS_CITETEXT_INIT;
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	for (i = 0; others[i].digest != NULL; i++)
		copy[i] = others[i];
	ks_citetext_compose(&text, &cited, find, copy);
	ks_citetext_print(&text, ks_span_text("2026-08-17"), &out);
	assert_int_equal(ks_buf_check(&out, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&out), expected);
	ks_citetext_release(&text);
	ks_buf_release(&out);
}

#define BODY(kind, spec) "{\"apiVersion\":\"kernelindex.dev/v1alpha1\"," \
	"\"kind\":\"" kind "\",\"spec\":" spec "}"
#define RUN BODY("BenchmarkRun", "{\"implementationDigest\":\"" DIGIT("1") \
	"\",\"timing\":{\"latencyNs\":{\"median\":621504}," \
	"\"primaryStatistic\":\"median\"},\"workloadDigest\":\"" DIGIT("2") \
	"\"}")

static const struct given parts[] = {
	{ DIGIT("1"), KI "ImplementationRevision",
		BODY("ImplementationRevision", "{}"),
		"{\"name\":\"t\",\"title\":\"Transformers\"}", "" },
	{ DIGIT("2"), KI "WorkloadCase", BODY("WorkloadCase",
		"{\"axes\":{\"seq\":2048},\"operationSpecDigest\":\""
		DIGIT("3") "\"}"), "", "" },
	{ DIGIT("3"), KI "OperationSpec", BODY("OperationSpec", "{}"),
		"{\"title\":\"Rotary position embedding\"}", "" },
	{ DIGIT("4"), "kistore/v1/Source", "{\"apiVersion\":\"kistore/v1\","
		"\"kind\":\"Source\",\"spec\":{\"name\":\"Liger\"}}", "", "" },
	{ .digest = NULL }
};

static void
a_run_is_cited_in_six_sentences(void **state)
{
	const struct given with = { DIGEST, KI "BenchmarkRun", RUN, "",
		"{\"id\":\"" ID "\",\"source\":\"" DIGIT("4") "\"}" };
	const struct given without = { DIGEST, KI "BenchmarkRun", RUN, "", "" };

	(void)state;
	check(&with, parts, "Transformers · Rotary position embedding, "
		"seq = 2048. 621.5 µs (median). Reported by Liger. "
		"KernelIndex run " ID ", " DIGEST
		". https://kernelindex.com/runs/" ID ". Accessed 2026-08-17.");
	check(&without, parts, "Transformers · Rotary position embedding, "
		"seq = 2048. 621.5 µs (median). Reported by unknown. "
		"KernelIndex run " DIGEST ". https://kernelindex.com/runs/"
		DIGEST ". Accessed 2026-08-17.");
}

static void
what_a_run_names_and_is_not_at_hand_has_its_digits(void **state)
{
	const struct given run = { DIGEST, KI "BenchmarkRun", RUN, "", "" };

	(void)state;
	check(&run, parts + 4, "000000000000 · unknown, 000000000000. "
		"621.5 µs (median). Reported by unknown. KernelIndex run "
		DIGEST ". https://kernelindex.com/runs/" DIGEST
		". Accessed 2026-08-17.");
}

static void
a_serving_run_is_cited_with_its_attribution(void **state)
{
#define NATIVE "\"sourceNative\":{\"category\":\"datacenter\"," \
	"\"division\":\"closed\",\"externalId\":\"5.1-1\"," \
	"\"source\":\"mlperf\"}"
#define NAMES "\"configurationDigest\":\"" DIGIT("5") "\","
#define MODEL "\"modelDigest\":\"" DIGIT("6") "\","
	const struct given run = { DIGEST, KI "ServingRun", BODY("ServingRun",
		"{" NAMES "\"measurements\":[{\"metric\":\"throughput\","
		"\"statistic\":\"reported\",\"unit\":\"tokens_s\","
		"\"value\":8840.42}]," MODEL NATIVE ",\"workloadDigest\":\""
		DIGIT("7") "\"}"), "", "{\"id\":\"" ID "\"}" };
	const struct given bare = { DIGEST, KI "ServingRun", BODY("ServingRun",
		"{" NAMES MODEL NATIVE ",\"workloadDigest\":\"" DIGIT("7")
		"\"}"), "", "{\"id\":\"" ID "\"}" };
	const struct given others[] = {
		{ DIGIT("5"), KI "ServingConfiguration",
			BODY("ServingConfiguration", "{}"), "",
			"{\"summary\":\"AMD · Eight\"}" },
		{ DIGIT("6"), KI "ModelRevision", BODY("ModelRevision", "{}"),
			"{\"title\":\"Llama\"}", "" },
		{ DIGIT("7"), KI "ServingWorkload",
			BODY("ServingWorkload", "{}"),
			"{\"name\":\"chat\"}", "" },
		{ .digest = NULL }
	};

	(void)state;
	check(&run, others, "AMD · Eight · Llama, chat. 8,840.42 tokens_s "
		"(throughput, reported). mlperf · closed/datacenter · entry "
		"5.1-1. KernelIndex serving run " ID ", " DIGEST
		". https://kernelindex.com/serving-runs/" ID
		". Accessed 2026-08-17.");
	check(&bare, others, "AMD · Eight · Llama, chat. mlperf · "
		"closed/datacenter · entry 5.1-1. KernelIndex serving run " ID
		", " DIGEST ". https://kernelindex.com/serving-runs/" ID
		". Accessed 2026-08-17.");
}

static void
another_record_is_cited_by_name_and_kind(void **state)
{
	const struct given other = { DIGEST, "x", "{\"apiVersion\":\"x/v2\","
		"\"kind\":\"GPUKind\",\"spec\":{}}", "", "" };

	(void)state;
	check(&parts[2], parts + 4, "Rotary position embedding. KernelIndex "
		"operation spec " DIGIT("3") ". Accessed 2026-08-17.");
	check(&parts[3], parts + 4, "Liger. kistore source " DIGIT("4")
		". Accessed 2026-08-17.");
	check(&other, parts + 4, "c3252a98ba48. x/v2 gpukind " DIGEST
		". Accessed 2026-08-17.");
}

static void
days_are_days(void **state)
{
	(void)state;
	assert_true(ks_citetext_is_day(ks_span_text("2024-02-29")));
	assert_false(ks_citetext_is_day(ks_span_text("2026-02-29")));
	assert_false(ks_citetext_is_day(ks_span_text("2026-2-9")));
	assert_false(ks_citetext_is_day(ks_span_text("2026-02-09T")));
	assert_false(ks_citetext_is_day(ks_span(NULL, 0)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_cited_in_six_sentences),
		cmocka_unit_test(
			what_a_run_names_and_is_not_at_hand_has_its_digits),
		cmocka_unit_test(a_serving_run_is_cited_with_its_attribution),
		cmocka_unit_test(another_record_is_cited_by_name_and_kind),
		cmocka_unit_test(days_are_days),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
