#include "format/label.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/records.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct ks_buf out;

static int
release(void **state)
{
	(void)state;
	ks_buf_release(&out);
	return 0;
}

/* What stands in `out`, which is emptied first for each label. */
static void
expect(const char *text)
{
	assert_string_equal(ks_buf_cstr(&out), text);
	ks_buf_clear(&out);
}

static struct ks_span
span(const char *text)
{
	return ks_span_text(text);
}

/* Dtypes. */

#define T(name, dtype) "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[1]}"

static const struct {
	const char *tensors;
	const char *text;
} dtypes[] = {
	{ "{}", "" },
	{ "{" T("a", "bf16") "}", "bf16" },
	{ "{" T("a", "fp32") "," T("b", "bf16") "," T("c", "fp32") "}",
		"bf16/fp32" },
	{ "{" T("a", "int32") "," T("b", "bf16") "," T("c", "bool") "}",
		"bf16" },
	{ "{" T("a", "int32") "," T("b", "bool") "," T("c", "uint8") ","
		T("d", "index") "}", "bool/index/int32 +1" },
	/* Only what is exactly bool. */
	{ "{" T("a", "bool8") "," T("b", "int8") "}", "bool8" },
	{ "{" T("a", "float4_e2m1fn_x2") "," T("b", "bf16") "}", "bf16/fp4" },
	/* Sorted by what they are, not by what they read as. */
	{ "{" T("a", "float4_e2m1fn_x2") "," T("b", "fp32") "," T("c", "fp16")
		"}", "fp4/fp16/fp32" },
	{ "{" T("a", "bf16") "," T("b", "float4_e2m1fn_x2") "," T("c", "fp32")
		"," T("d", "fp8_e4m3") "," T("e", "int64") "," T("f", "fp64")
		"}", "bf16/fp4/fp32 +2" },
	{ "{\"a\":{\"shape\":[1]},\"b\":{\"dtype\":5}}", "" },
	{ "{\"a\":{\"dtype\":\"\\\"\"}}", "\"" },
	{ "[1]", "" },
};

static void
dtypes_are_those_of_numbers_sorted_and_at_most_three(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(dtypes); i++) {
		ks_label_dtypes(&out, span(dtypes[i].tensors));
		expect(dtypes[i].text);
	}
}

/* Workloads. */

#define CASE(spec) "{\"kind\":\"WorkloadCase\",\"spec\":" spec "}"
#define SUITE(spec) "{\"kind\":\"WorkloadSuite\",\"spec\":" spec "}"

static const struct {
	const char *body;
	const char *text;
} workloads[] = {
	{ CASE("{\"axes\":{\"a\":1,\"bb\":-2,\"c\":0},\"tensors\":{" T("x",
		"fp32") "}}"), "a = 1 · c = 0 · bb = -2 · fp32" },
	{ CASE("{\"axes\":{\"n\":7},\"tensors\":{}}"), "n = 7" },
	{ CASE("{\"axes\":{},\"tensors\":{" T("x", "fp32") "}}"), "fp32" },
	{ CASE("{\"axes\":{},\"tensors\":{}}"), "" },
	{ SUITE("{\"aggregation\":{\"metric\":\"latency\",\"statistic\":"
		"\"mean\"},\"cases\":[{},{}]}"),
		"suite of 2 cases · mean latency" },
	{ SUITE("{\"aggregation\":{\"metric\":\"score\",\"statistic\":"
		"\"unspecified\"},\"cases\":[{}]}"),
		"suite of 1 cases · score" },
	{ SUITE("{\"aggregation\":{\"metric\":\"unspecified\",\"statistic\":"
		"\"geomean\"},\"cases\":[{}]}"),
		"suite of 1 cases · geomean" },
	{ SUITE("{\"aggregation\":{\"metric\":\"unspecified\",\"statistic\":"
		"\"unspecified\"},\"cases\":[{},{},{}]}"),
		"suite of 3 cases" },
	{ SUITE("{}"), "suite of 0 cases" },
};

static void
a_workload_has_its_axes_and_dtypes_or_its_size_and_aggregate(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(workloads); i++) {
		ks_label_workload(&out, span(workloads[i].body));
		expect(workloads[i].text);
	}
}

static void
a_label_is_appended_without_regard_to_what_is_there(void **state)
{
	(void)state;
	ks_buf_text(&out, "x");
	ks_label_workload(&out, span(workloads[0].body));
	expect("xa = 1 · c = 0 · bb = -2 · fp32");
	ks_buf_text(&out, "x");
	ks_label_metrics(&out, span("{\"a\":1}"));
	expect("xa 1");
	ks_buf_text(&out, "x");
	ks_label_implementation(&out, span("{\"name\":\"n\"}"),
		ks_span(NULL, 0), span("{}"));
	expect("xn");
}

/* Operations. */

static const struct {
	const char *metadata;
	const char *text;
} operations[] = {
	{ "{\"name\":\"liger-rope\",\"title\":\"Rotary position embedding\"}",
		"Rotary position embedding" },
	{ "{\"name\":\"a\",\"title\":\"as_it is\"}", "as_it is" },
	{ "{\"name\":\"s\",\"title\":\"013_gqa_paged_decode_h32_kv8\"}",
		"GQA paged decode h32 kv8" },
	{ "{\"name\":\"s\",\"title\":\"causal_conv1d\"}", "Causal conv1d" },
	{ "{\"name\":\"s\",\"title\":\"mamba2_ssm_scan\"}",
		"Mamba2 SSM scan" },
	{ "{\"name\":\"s\",\"title\":\"Gemm_Rms\"}", "GEMM RMS" },
	{ "{\"name\":\"s\",\"title\":\"myOp_x\"}", "myOp x" },
	{ "{\"name\":\"gemm-n4096-k4096\"}", "Gemm-n4096-k4096" },
	{ "{\"name\":\"some_op\",\"title\":\"\"}", "Some op" },
	{ "{\"name\":\"s\",\"title\":\"3d_conv\"}", "3d conv" },
	{ "{\"name\":\"s\",\"title\":\"12_\"}", "" },
	{ "{\"name\":\"s\",\"title\":\"12\"}", "12" },
	{ "{\"name\":\"s\",\"title\":\"_x\"}", " x" },
	{ "{\"name\":\"s\",\"title\":\"1_2_x\"}", "2 x" },
	{ "{\"name\":\"s\",\"title\":\"a__b\"}", "A  b" },
	{ "{\"name\":\"s\",\"title\":\"\\u0001_b\"}", "\001 b" },
	{ "{}", "" },
};

static void
an_operation_is_its_title_made_readable(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(operations); i++) {
		ks_label_operation(&out, span(operations[i].metadata));
		expect(operations[i].text);
	}
}

static const char words[] = "AMD GPU GIT NHWC VAE UNet LM MTP SAM GRN SSM FFN "
	"FFT RFFT FP8 FP16 FP32 BF16 INT8 INT4 NVFP4 MXFP4 GEMM GEMV QR PMPP "
	"Cholesky Trimul MLP MoE MLA GQA KV QKV QK RMS IoU GELU GeGLU SiLU "
	"SwiGLU RMSNorm LayerNorm GroupNorm RoPE YaRN Mamba Mamba2 ConvNeXtV2 "
	"ResNet Whisper Hyena Conformer";

static void
technical_words_get_their_usual_case(void **state)
{
	char text[sizeof(words) + 2];
	size_t count = 1;
	size_t i;

	(void)state;
	(void)snprintf(text, sizeof(text), "x_%s", words);
	for (i = 0; text[i] != '\0'; i++) {
		if (text[i] == ' ') {
			text[i] = '_';
			count++;
		} else if (text[i] >= 'A' && text[i] <= 'Z') {
			text[i] = (char)(text[i] - 'A' + 'a');
		}
	}
	assert_int_equal(count, 53);
	ks_buf_printf(&out, "{\"title\":\"%s\"}", text);
	{
		struct record r = record_of(ks_buf_span(&out));

		ks_buf_clear(&out);
		ks_label_operation(&out, r.manifest);
		record_release(&r);
	}
	(void)snprintf(text, sizeof(text), "X %s", words);
	expect(text);
}

/* Implementations. */

#define CONV "{\"name\":\"kernelbot-causal-conv1d\",\"title\":\"causal_conv1d\"}"
#define ROPE "{\"name\":\"liger-rope\",\"title\":\"Rotary position embedding\"}"
#define MLA "{\"name\":\"mla\",\"title\":\"mla\"}"

static const struct {
	const char *metadata;
	const char *slug;
	const char *operation;
	const char *text;
} implementations[] = {
	{ "{\"title\":\"causal_conv1d · submission 555004\"}", "s", CONV,
		"submission 555004" },
	{ "{\"title\":\"Rotary position embedding · Transformers\"}", "s",
		ROPE, "Transformers" },
	{ "{\"title\":\"rotary  POSITION_embedding·x · A_b · C\"}", "s", ROPE,
		"A_b · C" },
	/* The slug's last words. */
	{ "{\"title\":\"rope · A\"}", "s", ROPE, "A" },
	{ "{\"title\":\"ope · A\"}", "s", ROPE, "ope · A" },
	{ "{\"title\":\"liger-rope · A\"}", "s", ROPE, "A" },
	/* Longer than the operation's name, but nothing else in it. */
	{ "{\"title\":\"fast liger-rope v2 · A\"}", "s", ROPE, "A" },
	/* A short name says nothing inside a segment. */
	{ "{\"title\":\"fast mla v2 · MLA\"}", "s", MLA, "fast mla v2" },
	/* Empty segments. */
	{ "{\"title\":\" ·  · A · \"}", "s", ROPE, "A" },
	{ "{\"title\":\"  A \"}", "s", ROPE, "A" },
	/* Nothing left, or nothing there. */
	{ "{\"title\":\"rope\"}", "the-slug", ROPE, "the-slug" },
	{ "{\"title\":\"\"}", "the-slug", ROPE, "the-slug" },
	{ "{\"name\":\"n\"}", "the-slug", ROPE, "the-slug" },
	{ "{\"name\":\"n\"}", "", ROPE, "n" },
	{ "{\"title\":\"A · B\"}", "s", "{}", "A · B" },
	{ "{}", "", "{}", "" },
};

static void
an_implementation_is_what_its_title_adds_to_the_operation(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(implementations); i++) {
		ks_label_implementation(&out, span(implementations[i].metadata),
			span(implementations[i].slug),
			span(implementations[i].operation));
		expect(implementations[i].text);
	}
}

/* Metrics. */

static const struct {
	const char *metrics;
	const char *text;
} metrics[] = {
	{ "{}", "" },
	{ "{\"ms_20\":0.62,\"ms_50\":0.7,\"a\":1}",
		"a 1 · ms 20 0.62 · ms 50 0.7" },
	{ "{\"avg_speedup\":1.255,\"fast_1_count\":15,\"fast_1_total\":16,"
		"\"latency_ms\":2,\"sol_score\":0.83125,\"speedup_factor\":3}",
		"SOL 0.8313 · 1.25× reference · 15/16 cases faster" },
	{ "{\"mean_ns\":12,\"reference_latency_ms\":2,\"speedup_factor\":1.125}",
		"1.13× reference · mean ns 12" },
	/* One of the two numbers is like any other. */
	{ "{\"fast_1_count\":15}", "fast 1 count 15" },
	{ "{\"fast_1_count\":15,\"fast_1_total\":\"16\"}", "fast 1 count 15" },
	/* What is not a number is not there. */
	{ "{\"avg_speedup\":\"2\",\"speedup_factor\":3,\"units\":\"x\"}",
		"3.00× reference" },
	{ "{\"latency_ms\":1,\"reference_latency_ms\":2}", "" },
	{ "{\"tiny\":1e-7}", "tiny 1e-7" },
	{ "[1,2]", "" },
};

static void
metrics_of_the_source_make_one_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(metrics); i++) {
		ks_label_metrics(&out, span(metrics[i].metrics));
		expect(metrics[i].text);
	}
}

/* Environments. */

#define HARNESS "{\"harness\":{\"name\":\"H\",\"version\":\"v1\"}}"

static const struct {
	const char *environment;
	const char *protocol;
	const char *text;
} environments[] = {
	{ "{\"software\":{}}", HARNESS, "H" },
	{ "{\"software\":{\"cudaToolkit\":\"12.8\",\"framework\":{\"name\":"
		"\"pytorch\",\"version\":\"2.8.0+cu128\"},\"libraries\":"
		"{\"triton\":\"3.4.0\"}}}", HARNESS,
		"CUDA 12.8 · pytorch 2.8.0+cu128 · H" },
	{ "{\"software\":{\"cudaToolkit\":\"12.8\"}}", HARNESS,
		"CUDA 12.8 · H" },
	{ "{\"software\":{\"framework\":{\"name\":\"jax\",\"version\":\"1\"}}}",
		"{}", "jax 1" },
	{ "{}", "{}", "" },
};

static void
an_environment_is_its_software_and_the_harness(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(environments); i++) {
		ks_label_environment(&out, span(environments[i].environment),
			span(environments[i].protocol));
		expect(environments[i].text);
	}
}

/* The seeds. */

static void
the_seeds_are_labelled_as_their_page_shows(void **state)
{
	struct record run = record_seed("000/run");
	struct record workload = record_seed("000/workload");
	struct record operation = record_seed("000/operation");
	struct record implementation = record_seed("000/implementation");
	struct record other = record_seed("003/implementation");
	struct record norm = record_seed("003/operation");

	(void)state;
	ks_label_workload(&out, workload.manifest);
	expect("seq = 2048 · hidden = 8192 · q_heads = 32 · kv_heads = 8 · "
		"bf16");
	ks_label_operation(&out, operation.metadata);
	expect("Rotary position embedding");
	ks_label_implementation(&out, implementation.metadata,
		ks_span(NULL, 0), operation.metadata);
	expect("Transformers");
	ks_label_metrics(&out, ks_json_get(ks_json_get(run.spec,
		"sourceNative"), "metrics"));
	expect("ms 20 0.6208000183105469 · ms 50 0.621504008769989 · ms 80 "
		"0.6223679780960083");
	ks_label_implementation(&out, other.metadata, ks_span(NULL, 0),
		norm.metadata);
	expect("Transformers");
	record_release(&run);
	record_release(&workload);
	record_release(&operation);
	record_release(&implementation);
	record_release(&other);
	record_release(&norm);
}

/* What no table of kinds lets through. */

static void
try_labels(struct ks_span value)
{
	ks_buf_clear(&out);
	ks_label_dtypes(&out, value);
	ks_label_workload(&out, value);
	ks_label_operation(&out, value);
	ks_label_implementation(&out, value, ks_span(NULL, 0), value);
	ks_label_metrics(&out, value);
	ks_label_environment(&out, value, value);
	assert_false(out.failed);
}

static void
odd_values_have_labels_as_well(void **state)
{
	static const char *const names[] = { "spec", "axes", "tensors",
		"cases", "aggregation", "title", "name", "software",
		"framework", "harness", "sol_score", "avg_speedup" };

	(void)state;
	record_try_odd(try_labels, names, COUNT(names));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			dtypes_are_those_of_numbers_sorted_and_at_most_three),
		cmocka_unit_test(
			a_workload_has_its_axes_and_dtypes_or_its_size_and_aggregate),
		cmocka_unit_test(
			a_label_is_appended_without_regard_to_what_is_there),
		cmocka_unit_test(an_operation_is_its_title_made_readable),
		cmocka_unit_test(technical_words_get_their_usual_case),
		cmocka_unit_test(
			an_implementation_is_what_its_title_adds_to_the_operation),
		cmocka_unit_test(metrics_of_the_source_make_one_line),
		cmocka_unit_test(
			an_environment_is_its_software_and_the_harness),
		cmocka_unit_test(the_seeds_are_labelled_as_their_page_shows),
		cmocka_unit_test(odd_values_have_labels_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
