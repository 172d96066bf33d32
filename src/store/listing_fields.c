#include "store/listing.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KERNEL(kind) KS_API_KERNELINDEX "/" kind
#define OWN(kind) KS_API_KISTORE "/" kind

/* ---- where things are --------------------------------------------------- */

static const struct ks_route of_runs[] = {
	{ KERNEL("BenchmarkRun"), "" },
	{ KERNEL("ServingRun"), "" },
	{ NULL, NULL }
};

static const struct ks_route of_benchmarks[] = {
	{ KERNEL("BenchmarkRun"), "" },
	{ NULL, NULL }
};

static const struct ks_route of_servings[] = {
	{ KERNEL("ServingRun"), "" },
	{ NULL, NULL }
};

/* Not what it says itself, but what it refers to. */
static const struct ks_route naming_operation[] = {
	{ KERNEL("BenchmarkRun"), "workload" },
	{ KERNEL("WorkloadCase"), "" },
	{ KERNEL("WorkloadSuite"), "" },
	{ KERNEL("ImplementationRevision"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_operation[] = {
	{ KERNEL("BenchmarkRun"), "workload.operation" },
	{ KERNEL("WorkloadCase"), "operation" },
	{ KERNEL("WorkloadSuite"), "operation" },
	{ KERNEL("ImplementationRevision"), "operation" },
	{ KERNEL("OperationSpec"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_workload[] = {
	{ KERNEL("BenchmarkRun"), "workload" },
	{ KERNEL("ServingRun"), "workload" },
	{ KERNEL("WorkloadCase"), "" },
	{ KERNEL("WorkloadSuite"), "" },
	{ KERNEL("ServingWorkload"), "" },
	{ NULL, NULL }
};

/* A suite has several. */
static const struct ks_route to_axes_of_case[] = {
	{ KERNEL("BenchmarkRun"), "workload" },
	{ KERNEL("WorkloadCase"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_axes[] = {
	{ KERNEL("BenchmarkRun"), "workload" },
	{ KERNEL("WorkloadCase"), "" },
	{ KERNEL("WorkloadSuite"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_implementation[] = {
	{ KERNEL("BenchmarkRun"), "implementation" },
	{ KERNEL("ImplementationRevision"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_project[] = {
	{ KERNEL("BenchmarkRun"), "implementation.project" },
	{ KERNEL("ServingRun"), "configuration.stack.project" },
	{ KERNEL("ImplementationRevision"), "project" },
	{ KERNEL("ServingConfiguration"), "stack.project" },
	{ KERNEL("ServingStackRevision"), "project" },
	{ KERNEL("SoftwareProject"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_source[] = {
	{ KERNEL("BenchmarkRun"), "source" },
	{ KERNEL("ServingRun"), "source" },
	{ OWN("Source"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_model[] = {
	{ KERNEL("ServingRun"), "model" },
	{ KERNEL("ModelRevision"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_hardware[] = {
	{ KERNEL("BenchmarkRun"), "environment" },
	{ KERNEL("ServingRun"), "" },
	{ KERNEL("ExecutionEnvironment"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_architecture[] = {
	{ KERNEL("BenchmarkRun"), "environment" },
	{ KERNEL("ExecutionEnvironment"), "" },
	{ KERNEL("ImplementationRevision"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_environment[] = {
	{ KERNEL("BenchmarkRun"), "environment" },
	{ KERNEL("ExecutionEnvironment"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_protocol[] = {
	{ KERNEL("BenchmarkRun"), "protocol" },
	{ KERNEL("BenchmarkProtocol"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_harness[] = {
	{ KERNEL("BenchmarkRun"), "protocol" },
	{ KERNEL("ServingRun"), "" },
	{ KERNEL("BenchmarkProtocol"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_dtypes[] = {
	{ KERNEL("BenchmarkRun"), "workload" },
	{ KERNEL("ServingRun"), "configuration" },
	{ KERNEL("WorkloadCase"), "" },
	{ KERNEL("OperationSpec"), "" },
	{ KERNEL("ImplementationRevision"), "" },
	{ KERNEL("ServingConfiguration"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_language[] = {
	{ KERNEL("BenchmarkRun"), "implementation" },
	{ KERNEL("ImplementationRevision"), "" },
	{ KERNEL("OperationSpec"), "" },
	{ NULL, NULL }
};

static const struct ks_route to_license[] = {
	{ KERNEL("BenchmarkRun"), "implementation" },
	{ KERNEL("ServingRun"), "configuration.stack" },
	{ KERNEL("ImplementationRevision"), "" },
	{ KERNEL("ServingStackRevision"), "" },
	{ KERNEL("ModelRevision"), "" },
	{ OWN("Artifact"), "" },
	{ OWN("Source"), "" },
	{ NULL, NULL }
};

/* ---- the fields --------------------------------------------------------- */

#define SHOWN(name_, help_, filter_, sorts_, columns_) \
	.shown = { .name = name_, .help = help_, .filter = filter_, \
		.shows = true, .sorts = sorts_, .columns = columns_ }
#define TYPED(name_, help_, type_, filter_, sorts_, columns_) \
	.shown = { .name = name_, .help = help_, .type = type_, \
		.filter = filter_, .shows = true, .sorts = sorts_, \
		.columns = columns_ }
#define EXTRA(name_, help_, type_) \
	.shown = { .name = name_, .help = help_, .type = type_, \
		.shows = true, .extra = true, .columns = 12 }
#define FILTER(name_, help_, filter_) \
	.shown = { .name = name_, .help = help_, .filter = filter_ }

const struct ks_field ks_fields[] = {
	{
		TYPED("digest", "its name", KS_LIST_DIGEST, NULL, true, 12),
		.value = KS_VALUE_DIGEST,
	}, {
		SHOWN("kind", "its kind, in full or the last part", "KIND",
			true, 22),
		.value = KS_VALUE_TERM, .which = KS_TERM_KIND,
		.match = KS_MATCH_KIND,
	}, {
		SHOWN("state", "retracted, superseded, or both", NULL, false,
			10),
		.value = KS_VALUE_STATE,
	}, {
		EXTRA("retracted", "whether it is", KS_LIST_BOOLEAN),
		.value = KS_VALUE_MARK, .which = KS_RECORD_RETRACTED,
	}, {
		EXTRA("superseded", "whether it is", KS_LIST_BOOLEAN),
		.value = KS_VALUE_MARK, .which = KS_RECORD_SUPERSEDED,
	}, {
		EXTRA("excluded", "why it may not rank", KS_LIST_TEXT),
		.value = KS_VALUE_REASONS, .routes = of_benchmarks,
	}, {
		SHOWN("name", "its name in the log", "NAME", true, 36),
		.value = KS_VALUE_TEXT, .which = KS_FACT_NAME,
		.match = KS_MATCH_NAME,
	}, {
		SHOWN("title", "its title, or proper name", NULL, true, 48),
		.value = KS_VALUE_TEXT, .which = KS_FACT_TITLE,
	}, {
		SHOWN("id", "KernelIndex's id", NULL, false, 36),
		.value = KS_VALUE_ID,
	}, {
		EXTRA("permalink", "address of its page", KS_LIST_TEXT),
		.value = KS_VALUE_PERMALINK, .routes = of_runs,
	}, {
		SHOWN("operation", "what is computed: name, title or family",
			"NAME", true, 28),
		.value = KS_VALUE_NAME, .match = KS_MATCH_RECORD,
		.routes = to_operation,
	}, {
		EXTRA("operation_title", "its title", KS_LIST_TEXT),
		.value = KS_VALUE_TEXT, .which = KS_FACT_TITLE,
		.routes = to_operation,
	}, {
		EXTRA("operation_digest", "of the operation", KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_OPERATION,
		.routes = naming_operation,
	}, {
		SHOWN("family", "the family of operations", "NAME", true, 20),
		.value = KS_VALUE_TERM, .which = KS_TERM_FAMILY,
		.match = KS_MATCH_TERM, .routes = to_operation,
	}, {
		SHOWN("workload", "the problem: name or digest", "NAME",
			false, 40),
		.value = KS_VALUE_WORKLOAD, .match = KS_MATCH_RECORD,
		.routes = to_workload,
	}, {
		EXTRA("workload_digest", "of the workload", KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_WORKLOAD,
		.routes = of_runs,
	}, {
		EXTRA("axes", "extents of the problem", KS_LIST_JSON),
		.value = KS_VALUE_MEMBER, .member = "axes",
		.routes = to_axes_of_case,
	}, {
		SHOWN("implementation", "the code: name or digest",
			"NAME", false, 24),
		.value = KS_VALUE_IMPLEMENTATION, .match = KS_MATCH_RECORD,
		.routes = to_implementation,
	}, {
		EXTRA("implementation_digest", "of the code", KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_IMPLEMENTATION,
		.routes = of_benchmarks,
	}, {
		SHOWN("project", "the software's project: name or title",
			"NAME", true, 20),
		.value = KS_VALUE_PROPER, .match = KS_MATCH_RECORD,
		.routes = to_project,
	}, {
		SHOWN("model", "the model that is served: name or title",
			"NAME", true, 24),
		.value = KS_VALUE_PROPER, .match = KS_MATCH_RECORD,
		.routes = to_model,
	}, {
		EXTRA("model_digest", "of the model", KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_MODEL,
		.routes = of_servings,
	}, {
		EXTRA("configuration_digest", "of how it is served",
			KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_CONFIGURATION,
		.routes = of_servings,
	}, {
		SHOWN("source", "who reported it: slug or name", "NAME", true,
			20),
		.value = KS_VALUE_NAME, .match = KS_MATCH_RECORD,
		.routes = to_source,
	}, {
		EXTRA("source_name", "its proper name", KS_LIST_TEXT),
		.value = KS_VALUE_TEXT, .which = KS_FACT_TITLE,
		.routes = to_source,
	}, {
		EXTRA("source_license", "of what it reports", KS_LIST_TEXT),
		.value = KS_VALUE_TERM, .which = KS_TERM_LICENSE,
		.routes = to_source,
	}, {
		EXTRA("source_digest", "of the source", KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_SOURCE,
		.routes = of_runs,
	}, {
		SHOWN("hardware", "the product, or words of it: H100", "NAME",
			true, 24),
		.value = KS_VALUE_TERM, .which = KS_TERM_HARDWARE,
		.match = KS_MATCH_WORDS, .routes = to_hardware,
	}, {
		EXTRA("accelerators_per_node", "how many", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER,
		.member = "topology.acceleratorsPerNode",
		.routes = of_servings,
	}, {
		EXTRA("nodes", "how many", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "topology.nodeCount",
		.routes = of_servings,
	}, {
		SHOWN("vendor", "who makes it", "NAME", true, 8),
		.value = KS_VALUE_TERM, .which = KS_TERM_VENDOR,
		.match = KS_MATCH_TERM, .routes = to_hardware,
	}, {
		SHOWN("architecture", "as in sm_90", "NAME", true, 8),
		.value = KS_VALUE_TERM, .which = KS_TERM_ARCHITECTURE,
		.match = KS_MATCH_TERM, .routes = to_architecture,
	}, {
		SHOWN("dtype", "one of the types of numbers: bf16", "TYPE",
			true, 12),
		.value = KS_VALUE_TERM, .which = KS_TERM_DTYPES,
		.match = KS_MATCH_TERM, .routes = to_dtypes,
	}, {
		SHOWN("language", "of the implementation", "NAME", true, 8),
		.value = KS_VALUE_TERM, .which = KS_TERM_LANGUAGE,
		.match = KS_MATCH_TERM, .routes = to_language,
	}, {
		SHOWN("framework", "with its version, or words of it", "NAME",
			true, 20),
		.value = KS_VALUE_TERM, .which = KS_TERM_FRAMEWORK,
		.match = KS_MATCH_WORDS, .routes = to_environment,
	}, {
		EXTRA("driver", "its version", KS_LIST_TEXT),
		.value = KS_VALUE_MEMBER, .member = "software.driver",
		.routes = to_environment,
	}, {
		EXTRA("cuda_toolkit", "its version", KS_LIST_TEXT),
		.value = KS_VALUE_MEMBER, .member = "software.cudaToolkit",
		.routes = to_environment,
	}, {
		EXTRA("environment_digest", "of the environment",
			KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_ENVIRONMENT,
		.routes = of_benchmarks,
	}, {
		EXTRA("harness", "what measured", KS_LIST_TEXT),
		.value = KS_VALUE_MEMBER, .member = "harness.name",
		.routes = to_harness,
	}, {
		EXTRA("harness_version", "its version", KS_LIST_TEXT),
		.value = KS_VALUE_MEMBER, .member = "harness.version",
		.routes = to_harness,
	}, {
		EXTRA("timer", "what took the time", KS_LIST_TEXT),
		.value = KS_VALUE_MEMBER, .member = "measurement.timer",
		.routes = to_protocol,
	}, {
		EXTRA("protocol_digest", "of the protocol", KS_LIST_DIGEST),
		.value = KS_VALUE_RELATION, .which = KS_RELATION_PROTOCOL,
		.routes = of_benchmarks,
	}, {
		EXTRA("quality_policy", "that the answers met", KS_LIST_TEXT),
		.value = KS_VALUE_MEMBER, .member = "qualityPolicy",
		.routes = of_servings,
	}, {
		SHOWN("license", "of the implementation; of what it is", "ID",
			true, 16),
		.value = KS_VALUE_TERM, .which = KS_TERM_LICENSE,
		.match = KS_MATCH_TERM, .routes = to_license,
	}, {
		SHOWN("status", "passed, runtime_error, valid", "STATUS", true,
			14),
		.value = KS_VALUE_TERM, .which = KS_TERM_STATUS,
		.match = KS_MATCH_TERM, .routes = of_runs,
	}, {
		SHOWN("evidence", "reported, reproducible, verified", "LEVEL",
			true, 12),
		.value = KS_VALUE_EVIDENCE, .match = KS_MATCH_EVIDENCE,
		.routes = of_runs,
	}, {
		TYPED("observed", "when it was measured", KS_LIST_TIME, NULL,
			true, 24),
		.value = KS_VALUE_TEXT, .which = KS_FACT_OBSERVED,
		.routes = of_runs,
	}, {
		TYPED("published", "when KernelIndex published it",
			KS_LIST_TIME, NULL, true, 24),
		.value = KS_VALUE_TEXT, .which = KS_FACT_PUBLISHED,
		.routes = of_runs,
	}, {
		SHOWN("metric", "that was measured", "NAME", true, 12),
		.value = KS_VALUE_TERM, .which = KS_TERM_METRIC,
		.match = KS_MATCH_TERM, .routes = of_runs,
	}, {
		SHOWN("statistic", "of it", "NAME", true, 10),
		.value = KS_VALUE_TERM, .which = KS_TERM_STATISTIC,
		.match = KS_MATCH_TERM, .routes = of_runs,
	}, {
		SHOWN("unit", "of the value", "UNIT", true, 8),
		.value = KS_VALUE_TERM, .which = KS_TERM_UNIT,
		.match = KS_MATCH_TERM, .routes = of_runs,
	}, {
		TYPED("value", "the primary measurement", KS_LIST_NUMBER, NULL,
			true, 14),
		.value = KS_VALUE_NUMBER, .routes = of_runs,
	}, {
		TYPED("samples", "how many there were", KS_LIST_INTEGER,
			NULL, true, 8),
		.value = KS_VALUE_SAMPLES, .routes = of_runs,
	}, {
		SHOWN("result", "value, unit and statistic, to be read", NULL,
			false, 20),
		.value = KS_VALUE_RESULT, .routes = of_runs,
	}, {
		EXTRA("latency_median_ns", "median", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "timing.latencyNs.median",
		.routes = of_benchmarks,
	}, {
		EXTRA("latency_mean_ns", "mean", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "timing.latencyNs.mean",
		.routes = of_benchmarks,
	}, {
		EXTRA("latency_p05_ns", "p05", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "timing.latencyNs.p05",
		.routes = of_benchmarks,
	}, {
		EXTRA("latency_p95_ns", "p95", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "timing.latencyNs.p95",
		.routes = of_benchmarks,
	}, {
		EXTRA("latency_min_ns", "minimum", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "timing.latencyNs.minimum",
		.routes = of_benchmarks,
	}, {
		EXTRA("latency_max_ns", "maximum", KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "timing.latencyNs.maximum",
		.routes = of_benchmarks,
	}, {
		EXTRA("latency_mad_ns", "median absolute deviation",
			KS_LIST_INTEGER),
		.value = KS_VALUE_MEMBER, .member = "timing.latencyNs.mad",
		.routes = of_benchmarks,
	}, {
		EXTRA("confidence_low_ns", "95 % interval, its lower end",
			KS_LIST_INTEGER),
		.value = KS_VALUE_LOW, .routes = of_benchmarks,
	}, {
		EXTRA("confidence_high_ns", "its upper end", KS_LIST_INTEGER),
		.value = KS_VALUE_HIGH, .routes = of_benchmarks,
	}, {
		EXTRA("measurements", "all of them", KS_LIST_JSON),
		.value = KS_VALUE_MEASUREMENTS, .routes = of_runs,
	}, {
		EXTRA("max_absolute_error", "of its results", KS_LIST_NUMBER),
		.value = KS_VALUE_MEMBER,
		.member = "correctness.maximumAbsoluteError",
		.routes = of_benchmarks,
	}, {
		EXTRA("max_relative_error", "of its results", KS_LIST_NUMBER),
		.value = KS_VALUE_MEMBER,
		.member = "correctness.maximumRelativeError",
		.routes = of_benchmarks,
	}, {
		EXTRA("benchmark", "the source's name for it", KS_LIST_TEXT),
		.value = KS_VALUE_TEXT, .which = KS_FACT_BENCHMARK,
		.routes = of_runs,
	}, {
		SHOWN("external", "the source's own id of it", "ID", true, 28),
		.value = KS_VALUE_TEXT, .which = KS_FACT_EXTERNAL,
		.match = KS_MATCH_EXTERNAL, .routes = of_runs,
	}, {
		TYPED("comparison", "key of the runs it compares with",
			KS_LIST_DIGEST, "DIGITS", true, 12),
		.value = KS_VALUE_KEY, .match = KS_MATCH_KEY,
		.routes = of_runs,
	}, {
		FILTER("since", "measured then or later: 2026-03", "TIME"),
		.match = KS_MATCH_SINCE, .routes = of_runs,
	}, {
		FILTER("until", "measured then or earlier", "TIME"),
		.match = KS_MATCH_UNTIL, .routes = of_runs,
	}, {
		FILTER("axis", "an extent of the problem: batch=4",
			"NAME=VALUE"),
		.match = KS_MATCH_AXIS, .routes = to_axes,
	}, {
		FILTER("text", "words of titles, tags and the like, begun",
			"WORDS"),
		.match = KS_MATCH_SEARCH,
	},
};
const size_t ks_field_count = COUNT(ks_fields);

const struct ks_list_field *
ks_list_field(size_t n)
{
	return &ks_fields[n].shown;
}

size_t
ks_list_field_count(void)
{
	return ks_field_count;
}

bool
ks_list_is_number(const struct ks_list_field *field)
{
	return field->type == KS_LIST_NUMBER || field->type == KS_LIST_INTEGER;
}

bool
ks_list_is_json(const struct ks_list_field *field)
{
	return ks_list_is_number(field) || field->type == KS_LIST_BOOLEAN ||
		field->type == KS_LIST_JSON;
}

bool
ks_field_is_run(const char *kind)
{
	return strcmp(kind, KERNEL("BenchmarkRun")) == 0 ||
		strcmp(kind, KERNEL("ServingRun")) == 0;
}

bool
ks_field_is_of_runs(const struct ks_field *field)
{
	return ks_field_path(field, KERNEL("BenchmarkRun")) != NULL ||
		ks_field_path(field, KERNEL("ServingRun")) != NULL;
}

const struct ks_field *
ks_field_find(const char *name)
{
	size_t i;

	for (i = 0; i < ks_field_count; i++)
		if (strcmp(ks_fields[i].shown.name, name) == 0)
			return &ks_fields[i];
	return NULL;
}

const char *
ks_field_path(const struct ks_field *field, const char *kind)
{
	const struct ks_route *route = field->routes;

	if (route == NULL)
		return "";
	for (; route->kind != NULL; route++)
		if (strcmp(route->kind, kind) == 0)
			return route->path;
	return NULL;
}

const char *
ks_field_level(unsigned level)
{
	static const char *const names[] = { "none", "reported",
		"reproducible", "verified", "replicated" };

	return names[level < COUNT(names) ? level : 0];
}
