/* The kernel kinds, and what all KernelIndex kinds share (store-layout.md,
 * section "kinds"). */
#include "format/json.h"
#include "format/kind_table.h"

static bool
has(struct ks_span object, const char *name)
{
	struct ks_span value;

	return ks_json_find(object, name, &value);
}

/*
 * Shared.
 */
static const struct ks_field artifact_ref_fields[] = {
	REQUIRED("digest", LINK),
	REQUIRED("uri", STRING(2000)),
};
const struct ks_type ks_type_artifact_ref = { MEMBERS(artifact_ref_fields) };
#define ARTIFACT_REF (&ks_type_artifact_ref)

static const struct ks_field measurement_fields[] = {
	REQUIRED("metric", TOKEN),
	OPTIONAL("sampleCount", INTEGER_FROM(1)),
	REQUIRED("statistic", TOKEN),
	REQUIRED("unit", TOKEN),
	REQUIRED("value", NUMBER),
};
const struct ks_type ks_type_measurement = { MEMBERS(measurement_fields) };

static const struct ks_field author_fields[] = {
	OPTIONAL("github", STRING(100)),
	OPTIONAL("name", STRING(200)),
};

static const struct ks_field source_ref_fields[] = {
	REQUIRED("url", HTTPS_URL),
};

static const struct ks_field metadata_fields[] = {
	OPTIONAL("authors", LIST(OBJECT(author_fields))),
	OPTIONAL("description", STRING(2000)),
	OPTIONAL("labels", MAP(TOKEN, STRING(200))),
	REQUIRED("name", NAME),
	OPTIONAL("sourceRefs", LIST(OBJECT(source_ref_fields))),
	OPTIONAL("title", STRING(200)),
};
const struct ks_type ks_type_metadata = { MEMBERS(metadata_fields) };

/*
 * OperationSpec: what is computed, independent of shape.
 */
static const struct ks_field axis_fields[] = {
	OPTIONAL("expression", EXPRESSION),
	OPTIONAL("maximum", INTEGER),
	OPTIONAL("minimum", INTEGER),
	REQUIRED("role", ONE_OF("variable", "constant", "derived")),
	REQUIRED("type", ONE_OF("integer")),
	OPTIONAL("value", INTEGER),
};

static const char *
axis_rule(struct ks_span axis)
{
	struct ks_span role;

	if (!ks_json_find(axis, "role", &role))
		return NULL;
	if (ks_json_is(role, "constant") && !has(axis, "value"))
		return "a constant axis must have a value";
	if (ks_json_is(role, "derived") && !has(axis, "expression"))
		return "a derived axis must have an expression";
	return NULL;
}

static const struct ks_field operation_scalar_fields[] = {
	REQUIRED("dtype", TOKEN),
};

static const struct ks_field operation_tensor_fields[] = {
	REQUIRED("dtype", TOKEN),
	OPTIONAL("layout", ONE_OF("row_major", "col_major", "contiguous",
		"strided")),
	REQUIRED("shape", LIST_FROM_1(DIMENSION)),
};

static const struct ks_field argument_fields[] = {
	REQUIRED("name", TOKEN),
	OPTIONAL("scalar", OBJECT(operation_scalar_fields)),
	OPTIONAL("tensor", OBJECT(operation_tensor_fields)),
};

static const char *
argument_rule(struct ks_span argument)
{
	if (has(argument, "scalar") != has(argument, "tensor"))
		return NULL;
	return "must have exactly one of tensor and scalar";
}

static const struct ks_field operation_reference_fields[] = {
	OPTIONAL("artifact", ARTIFACT_REF),
	REQUIRED("language", TOKEN),
};

static const struct ks_field semantics_fields[] = {
	REQUIRED("determinism", ONE_OF("deterministic", "nondeterministic",
		"unspecified")),
	OPTIONAL("expression", STRING(2000)),
	REQUIRED("mutation", ONE_OF("none", "in_place", "destination")),
};

static const struct ks_field operation_spec_fields[] = {
	REQUIRED("axes", MAP(AXIS, OBJECT_WITH(axis_fields, axis_rule))),
	REQUIRED("family", SLUG),
	REQUIRED("inputs",
		LIST_FROM_1(OBJECT_WITH(argument_fields, argument_rule))),
	REQUIRED("outputs",
		LIST_FROM_1(OBJECT_WITH(argument_fields, argument_rule))),
	OPTIONAL("reference", OBJECT(operation_reference_fields)),
	REQUIRED("semantics", OBJECT(semantics_fields)),
};

const struct ks_kind ks_kind_operation_spec = {
	KIND(KS_API_KERNELINDEX, "OperationSpec"),
	.spec = OBJECT(operation_spec_fields),
};

/*
 * WorkloadCase: one binding of an operation's axes.
 */
static const struct ks_field data_fields[] = {
	OPTIONAL("artifact", ARTIFACT_REF),
	REQUIRED("generator", TOKEN),
	OPTIONAL("parameters", MAP(TOKEN, NUMBER)),
	OPTIONAL("seed", INTEGER_FROM(0)),
};

static const struct ks_field workload_tensor_fields[] = {
	OPTIONAL("alignmentBytes", INTEGER_FROM(1)),
	OPTIONAL("data", OBJECT(data_fields)),
	REQUIRED("dtype", TOKEN),
	REQUIRED("shape", LIST_FROM_1(INTEGER_FROM(0))),
	OPTIONAL("strides", LIST(INTEGER)),
};

static const struct ks_field workload_scalar_fields[] = {
	REQUIRED("dtype", TOKEN),
	REQUIRED("value", NUMBER),
};

#define POLICY ONE_OF("reject", "exact_match", "ignore")
static const struct ks_field tolerance_fields[] = {
	REQUIRED("comparator", TOKEN),
	OPTIONAL("infinityPolicy", POLICY),
	OPTIONAL("maxAbsoluteError", NUMBER_FROM_0),
	OPTIONAL("maxRelativeError", NUMBER_FROM_0),
	OPTIONAL("nanPolicy", POLICY),
	OPTIONAL("requiredMatchedRatio", RATIO),
};

static const struct ks_field workload_case_fields[] = {
	REQUIRED("axes", MAP(AXIS, INTEGER)),
	REQUIRED("correctness", OBJECT(tolerance_fields)),
	REQUIRED("operationSpecDigest", REFERENCE(ks_kind_operation_spec)),
	OPTIONAL("scalars", MAP(TOKEN, OBJECT(workload_scalar_fields))),
	REQUIRED("tensors", MAP(TOKEN, OBJECT(workload_tensor_fields))),
};

const struct ks_kind ks_kind_workload_case = {
	KIND(KS_API_KERNELINDEX, "WorkloadCase"),
	.spec = OBJECT(workload_case_fields),
};

/*
 * WorkloadSuite: a closed list of cases with one aggregate.
 */
static const struct ks_field aggregation_fields[] = {
	REQUIRED("metric", TOKEN),
	REQUIRED("statistic", TOKEN),
};

static const struct ks_field suite_case_fields[] = {
	REQUIRED("axes", MAP(AXIS, INTEGER)),
	REQUIRED("externalId", STRING(200)),
};

static const struct ks_field suite_correctness_fields[] = {
	REQUIRED("comparator", TOKEN),
	OPTIONAL("description", STRING(500)),
};

static const struct ks_field workload_suite_fields[] = {
	REQUIRED("aggregation", OBJECT(aggregation_fields)),
	REQUIRED("cases", LIST_FROM_1(OBJECT(suite_case_fields))),
	REQUIRED("correctness", OBJECT(suite_correctness_fields)),
	REQUIRED("operationSpecDigest", REFERENCE(ks_kind_operation_spec)),
};

const struct ks_kind ks_kind_workload_suite = {
	KIND(KS_API_KERNELINDEX, "WorkloadSuite"),
	.spec = OBJECT(workload_suite_fields),
};

/*
 * SoftwareProject: nothing refers to one by digest; the link is provenance.
 */
static const struct ks_field host_fields[] = {
	REQUIRED("id", STRING(200)),
	REQUIRED("kind", ONE_OF("github", "huggingface", "gitlab", "other")),
};

static const struct ks_field package_fields[] = {
	REQUIRED("ecosystem", TOKEN),
	REQUIRED("name", STRING(200)),
};

static const struct ks_field software_project_fields[] = {
	OPTIONAL("homepage", HTTPS_URL),
	OPTIONAL("host", OBJECT(host_fields)),
	OPTIONAL("kind", ONE_OF("library", "individual", "vendor")),
	REQUIRED("name", STRING(200)),
	OPTIONAL("packages", LIST(OBJECT(package_fields))),
	OPTIONAL("repository", HTTPS_URL),
};

const struct ks_kind ks_kind_software_project = {
	KIND(KS_API_KERNELINDEX, "SoftwareProject"),
	.spec = OBJECT(software_project_fields),
};

/*
 * ImplementationRevision: one revision of code for an operation.
 */
static const struct ks_field install_fields[] = {
	OPTIONAL("command", STRING(1000)),
	OPTIONAL("commit", COMMIT),
	REQUIRED("kind", ONE_OF("git", "pip", "package", "container",
		"source")),
	OPTIONAL("package", STRING(200)),
	OPTIONAL("repository", HTTPS_URL),
	OPTIONAL("version", STRING(100)),
};

static const struct ks_field build_variant_fields[] = {
	REQUIRED("install", OBJECT(install_fields)),
	REQUIRED("name", NAME),
	OPTIONAL("requirements", MAP(TOKEN, STRING(200))),
};

static const struct ks_field callable_fields[] = {
	OPTIONAL("interface", TOKEN),
	REQUIRED("language", TOKEN),
	OPTIONAL("path", STRING(500)),
	OPTIONAL("symbol", STRING(200)),
};

static const struct ks_field license_evidence_fields[] = {
	OPTIONAL("digest", LINK),
	REQUIRED("path", STRING(500)),
};

static const struct ks_field licensing_fields[] = {
	OPTIONAL("concluded", STRING(200)),
	OPTIONAL("declared", STRING(200)),
	OPTIONAL("evidence", OBJECT(license_evidence_fields)),
};

static const struct ks_field operation_fields[] = {
	REQUIRED("specDigest", REFERENCE(ks_kind_operation_spec)),
};

static const struct ks_field project_revision_fields[] = {
	OPTIONAL("commit", COMMIT),
	OPTIONAL("repository", HTTPS_URL),
	OPTIONAL("treeDigest", LINK),
	OPTIONAL("version", STRING(100)),
};

static const struct ks_field source_file_fields[] = {
	REQUIRED("contentDigest", LINK),
	OPTIONAL("fileName", STRING(200)),
	OPTIONAL("sizeBytes", INTEGER_FROM(1)),
};

static const struct ks_field support_fields[] = {
	OPTIONAL("axes", SET(STRING(200))),
	REQUIRED("dtypes", SET(TOKEN)),
	REQUIRED("hardwareArchitectures", SET(TOKEN)),
	OPTIONAL("layouts", SET(STRING(50))),
	OPTIONAL("productsTested", SET(STRING(100))),
};

static const struct ks_field implementation_revision_fields[] = {
	OPTIONAL("buildVariants", LIST(OBJECT(build_variant_fields))),
	REQUIRED("callable", OBJECT(callable_fields)),
	REQUIRED("licensing", OBJECT(licensing_fields)),
	REQUIRED("operation", OBJECT(operation_fields)),
	REQUIRED("projectRevision", OBJECT(project_revision_fields)),
	OPTIONAL("source", OBJECT(source_file_fields)),
	REQUIRED("support", OBJECT(support_fields)),
};

const struct ks_kind ks_kind_implementation_revision = {
	KIND(KS_API_KERNELINDEX, "ImplementationRevision"),
	.spec = OBJECT(implementation_revision_fields),
	.has_project = true,
};

/*
 * BenchmarkProtocol: how a run was measured.
 */
static const struct ks_field comparability_fields[] = {
	REQUIRED("family", TOKEN),
	OPTIONAL("notes", STRING(1000)),
};

static const struct ks_field protocol_correctness_fields[] = {
	REQUIRED("comparator", TOKEN),
	REQUIRED("reference", STRING(500)),
};

static const struct ks_field device_policy_fields[] = {
	OPTIONAL("clocksLocked", BOOLEAN),
	OPTIONAL("persistenceMode", BOOLEAN),
	OPTIONAL("powerLimitWatts", NUMBER_ABOVE_0),
};

static const struct ks_field protocol_harness_fields[] = {
	OPTIONAL("commit", COMMIT),
	REQUIRED("name", STRING(200)),
	OPTIONAL("repository", HTTPS_URL),
	OPTIONAL("version", STRING(100)),
};

static const struct ks_field protocol_measurement_fields[] = {
	OPTIONAL("compileIncluded", BOOLEAN),
	OPTIONAL("inputRegeneration", TOKEN),
	OPTIONAL("measuredIterations", INTEGER_FROM(1)),
	OPTIONAL("outlierPolicy", STRING(500)),
	REQUIRED("primaryStatistic", TOKEN),
	OPTIONAL("samples", INTEGER_FROM(1)),
	OPTIONAL("setupIncluded", BOOLEAN),
	OPTIONAL("synchronization", TOKEN),
	REQUIRED("timer", TOKEN),
	OPTIONAL("warmupDuration", DURATION),
	OPTIONAL("warmupIterations", INTEGER_FROM(0)),
};

static const struct ks_field benchmark_protocol_fields[] = {
	OPTIONAL("comparability", OBJECT(comparability_fields)),
	OPTIONAL("correctness", OBJECT(protocol_correctness_fields)),
	OPTIONAL("devicePolicy", OBJECT(device_policy_fields)),
	REQUIRED("harness", OBJECT(protocol_harness_fields)),
	REQUIRED("measurement", OBJECT(protocol_measurement_fields)),
};

const struct ks_kind ks_kind_benchmark_protocol = {
	KIND(KS_API_KERNELINDEX, "BenchmarkProtocol"),
	.spec = OBJECT(benchmark_protocol_fields),
};

/*
 * ExecutionEnvironment: the machine of a run.
 */
static const struct ks_field hardware_fields[] = {
	REQUIRED("architecture", TOKEN),
	OPTIONAL("count", INTEGER_FROM(1)),
	OPTIONAL("formFactor", STRING(100)),
	OPTIONAL("interconnect", STRING(200)),
	OPTIONAL("memoryBytes", INTEGER_FROM(1)),
	REQUIRED("product", STRING(200)),
	REQUIRED("vendor", TOKEN),
};

static const struct ks_field settings_fields[] = {
	OPTIONAL("clocksLocked", BOOLEAN),
	OPTIONAL("eccEnabled", BOOLEAN),
	OPTIONAL("environmentVariables", MAP(STRING(200), STRING(500))),
	OPTIONAL("persistenceMode", BOOLEAN),
	OPTIONAL("powerLimitWatts", NUMBER_ABOVE_0),
};

static const struct ks_field framework_fields[] = {
	REQUIRED("name", TOKEN),
	REQUIRED("version", STRING(100)),
};

static const struct ks_field software_fields[] = {
	OPTIONAL("compiler", STRING(200)),
	OPTIONAL("cudaToolkit", STRING(100)),
	OPTIONAL("driver", STRING(100)),
	OPTIONAL("framework", OBJECT(framework_fields)),
	OPTIONAL("kernel", STRING(200)),
	OPTIONAL("libraries", MAP(TOKEN, STRING(100))),
	OPTIONAL("operatingSystem", STRING(200)),
};

static const struct ks_field execution_environment_fields[] = {
	REQUIRED("hardware", OBJECT(hardware_fields)),
	OPTIONAL("imageDigest", LINK),
	OPTIONAL("settings", OBJECT(settings_fields)),
	REQUIRED("software", OBJECT(software_fields)),
};

const struct ks_kind ks_kind_execution_environment = {
	KIND(KS_API_KERNELINDEX, "ExecutionEnvironment"),
	.spec = OBJECT(execution_environment_fields),
};

/*
 * BenchmarkRun: how fast an implementation was.
 */
static const struct ks_field run_correctness_fields[] = {
	REQUIRED("comparator", TOKEN),
	OPTIONAL("matchedRatio", RATIO),
	OPTIONAL("maximumAbsoluteError", NUMBER_FROM_0),
	OPTIONAL("maximumRelativeError", NUMBER_FROM_0),
};

static const struct ks_field run_harness_fields[] = {
	REQUIRED("commit", COMMIT),
	REQUIRED("repository", HTTPS_URL),
};

static const struct ks_field evidence_fields[] = {
	OPTIONAL("harness", OBJECT(run_harness_fields)),
	OPTIONAL("logs", ARTIFACT_REF),
	OPTIONAL("rawSamples", ARTIFACT_REF),
};

static const struct ks_field run_source_native_fields[] = {
	OPTIONAL("benchmark", STRING(200)),
	OPTIONAL("externalId", STRING(500)),
	OPTIONAL("metrics", MAP(TOKEN, NUMBER)),
	REQUIRED("source", SLUG),
};

static const struct ks_field latency_fields[] = {
	OPTIONAL("confidence95", LIST_OF(DURATION, 2, 2)),
	OPTIONAL("mad", DURATION),
	OPTIONAL("maximum", DURATION),
	OPTIONAL("mean", DURATION),
	OPTIONAL("median", DURATION),
	OPTIONAL("minimum", DURATION),
	OPTIONAL("p05", DURATION),
	OPTIONAL("p95", DURATION),
};

static const char *
latency_rule(struct ks_span latency)
{
	if (has(latency, "mean") || has(latency, "median"))
		return NULL;
	return "must have a median or a mean";
}

static const struct ks_field timing_fields[] = {
	REQUIRED("latencyNs", OBJECT_WITH(latency_fields, latency_rule)),
	REQUIRED("primaryStatistic", TOKEN),
	OPTIONAL("rawSamples", ARTIFACT_REF),
	OPTIONAL("samples", INTEGER_FROM(1)),
};

static const struct ks_field benchmark_run_fields[] = {
	OPTIONAL("correctness", OBJECT(run_correctness_fields)),
	REQUIRED("environmentDigest",
		REFERENCE(ks_kind_execution_environment)),
	OPTIONAL("evidence", OBJECT(evidence_fields)),
	REQUIRED("implementationDigest",
		REFERENCE(ks_kind_implementation_revision)),
	OPTIONAL("measurements", LIST(&ks_type_measurement)),
	REQUIRED("observedAt", INSTANT),
	REQUIRED("protocolDigest", REFERENCE(ks_kind_benchmark_protocol)),
	OPTIONAL("sourceNative", OBJECT(run_source_native_fields)),
	REQUIRED("status", ONE_OF("passed", "incorrect_shape",
		"incorrect_dtype", "incorrect_numerical", "compile_error",
		"runtime_error", "timeout", "resource_exceeded",
		"invalid_reference", "policy_violation",
		"suspected_reward_hack", "incomplete_evidence", "revoked")),
	OPTIONAL("timing", OBJECT(timing_fields)),
	REQUIRED("workloadDigest", REFERENCE_TO_EITHER(ks_kind_workload_case,
		ks_kind_workload_suite)),
};

const struct ks_kind ks_kind_benchmark_run = {
	KIND(KS_API_KERNELINDEX, "BenchmarkRun"),
	.spec = OBJECT(benchmark_run_fields),
	.has_source = true,
};
