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

static const struct ks_route to_framework[] = {
	{ KERNEL("BenchmarkRun"), "environment" },
	{ KERNEL("ExecutionEnvironment"), "" },
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
		SHOWN("operation", "what is computed: name, title or family",
			"NAME", true, 28),
		.value = KS_VALUE_NAME, .match = KS_MATCH_RECORD,
		.routes = to_operation,
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
		SHOWN("implementation", "the code: name or digest",
			"NAME", false, 24),
		.value = KS_VALUE_IMPLEMENTATION, .match = KS_MATCH_RECORD,
		.routes = to_implementation,
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
		SHOWN("source", "who reported it: slug or name", "NAME", true,
			20),
		.value = KS_VALUE_NAME, .match = KS_MATCH_RECORD,
		.routes = to_source,
	}, {
		SHOWN("hardware", "the product, or words of it: H100", "NAME",
			true, 24),
		.value = KS_VALUE_TERM, .which = KS_TERM_HARDWARE,
		.match = KS_MATCH_WORDS, .routes = to_hardware,
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
		.match = KS_MATCH_WORDS, .routes = to_framework,
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
		TYPED("samples", "how many there were", KS_LIST_NUMBER, NULL,
			true, 8),
		.value = KS_VALUE_SAMPLES, .routes = of_runs,
	}, {
		SHOWN("result", "value, unit and statistic, to be read", NULL,
			false, 20),
		.value = KS_VALUE_RESULT, .routes = of_runs,
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
