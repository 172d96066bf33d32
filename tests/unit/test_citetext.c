#include "format/citetext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define DIGEST \
	"sha256:c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6"
#define ID "01a016ae-0000-7000-8000-000000000000"

static struct ks_cited
cited(const char *id)
{
	struct ks_cited out = {
		.id = ks_span_text(id), .accessed = ks_span_text("2026-08-17")
	};

	assert_true(ks_id_parse(&out.digest, ks_span_text(DIGEST)));
	return out;
}

static void
a_run_is_cited_in_six_sentences(void **state)
{
	const struct ks_cited_run run = {
		.implementation = ks_span_text("Transformers"),
		.operation = ks_span_text("Rotary position embedding"),
		.workload = ks_span_text("seq = 2048 · bf16"),
		.primary = ks_span_text("621.5 µs"),
		.statistic = ks_span_text("median"),
		.source = ks_span_text("Liger-Kernel benchmarks")
	};
	struct ks_cited with = cited(ID), without = cited("");
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	ks_citetext_run(&out, &with, &run);
	assert_string_equal(ks_buf_cstr(&out), "Transformers · Rotary position "
		"embedding, seq = 2048 · bf16. 621.5 µs (median). Reported by "
		"Liger-Kernel benchmarks. KernelIndex run " ID ", " DIGEST
		". https://kernelindex.com/runs/" ID ". Accessed 2026-08-17.");
	ks_buf_clear(&out);
	ks_citetext_run(&out, &without, &run);
	assert_string_equal(ks_buf_cstr(&out), "Transformers · Rotary position "
		"embedding, seq = 2048 · bf16. 621.5 µs (median). Reported by "
		"Liger-Kernel benchmarks. KernelIndex run " DIGEST
		". https://kernelindex.com/runs/" DIGEST
		". Accessed 2026-08-17.");
	ks_buf_release(&out);
}

static void
a_serving_run_is_cited_with_its_attribution(void **state)
{
	struct ks_cited_serving run = {
		.summary = ks_span_text("AMD · Eight"),
		.model = ks_span_text("Llama"),
		.workload = ks_span_text("chat"),
		.value = ks_span_text("8,840.42 tokens_s"),
		.metric = ks_span_text("throughput"),
		.statistic = ks_span_text("reported"),
		.attribution = ks_span_text("MLPerf · closed/datacenter")
	};
	struct ks_cited with = cited(ID);
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	ks_citetext_serving(&out, &with, &run);
	assert_string_equal(ks_buf_cstr(&out), "AMD · Eight · Llama, chat. "
		"8,840.42 tokens_s (throughput, reported). MLPerf · "
		"closed/datacenter. KernelIndex serving run " ID ", " DIGEST
		". https://kernelindex.com/serving-runs/" ID
		". Accessed 2026-08-17.");
	ks_buf_clear(&out);
	run.value = ks_span(NULL, 0);
	ks_citetext_serving(&out, &with, &run);
	assert_string_equal(ks_buf_cstr(&out), "AMD · Eight · Llama, chat. "
		"MLPerf · closed/datacenter. KernelIndex serving run " ID
		", " DIGEST ". https://kernelindex.com/serving-runs/" ID
		". Accessed 2026-08-17.");
	ks_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_cited_in_six_sentences),
		cmocka_unit_test(a_serving_run_is_cited_with_its_attribution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
