/* The serving kinds (store-layout.md, section "kinds"). */
#include "format/kind_table.h"

/*
 * ModelRevision.
 */
static const struct ks_field model_repository_fields[] = {
	REQUIRED("host", ONE_OF("huggingface", "github", "other")),
	REQUIRED("id", STRING(200)),
	OPTIONAL("revision", STRING(100)),
};

static const struct ks_field tokenizer_fields[] = {
	OPTIONAL("digest", LINK),
	OPTIONAL("name", STRING(200)),
	OPTIONAL("revision", STRING(100)),
};

static const struct ks_field model_revision_fields[] = {
	OPTIONAL("architecture", STRING(100)),
	OPTIONAL("contextLength", INTEGER_FROM(1)),
	OPTIONAL("license", STRING(200)),
	OPTIONAL("modality", TOKEN),
	REQUIRED("model", STRING(200)),
	OPTIONAL("parameterCount", INTEGER_FROM(1)),
	OPTIONAL("repository", OBJECT(model_repository_fields)),
	OPTIONAL("tokenizer", OBJECT(tokenizer_fields)),
};

const struct ks_kind ks_kind_model_revision = {
	KIND(KS_API_KERNELINDEX, "ModelRevision"),
	.spec = OBJECT(model_revision_fields),
};

/*
 * ServingStackRevision.
 */
static const struct ks_field stack_project_fields[] = {
	REQUIRED("name", STRING(200)),
	OPTIONAL("repository", HTTPS_URL),
};

static const struct ks_field stack_revision_fields[] = {
	OPTIONAL("commit", COMMIT),
	OPTIONAL("containerDigest", LINK),
	OPTIONAL("version", STRING(120)),
};

static const struct ks_field serving_stack_revision_fields[] = {
	OPTIONAL("apiProtocol", TOKEN),
	OPTIONAL("backends", LIST_OF(TOKEN, 0, 8)),
	OPTIONAL("license", STRING(200)),
	REQUIRED("project", OBJECT(stack_project_fields)),
	REQUIRED("revision", OBJECT(stack_revision_fields)),
};

const struct ks_kind ks_kind_serving_stack_revision = {
	KIND(KS_API_KERNELINDEX, "ServingStackRevision"),
	.spec = OBJECT(serving_stack_revision_fields),
	.has_project = true,
};

/*
 * ServingConfiguration.
 */
static const struct ks_field kv_cache_fields[] = {
	OPTIONAL("capacityTokens", INTEGER_FROM(1)),
	OPTIONAL("dtype", TOKEN),
};

static const struct ks_field limits_fields[] = {
	OPTIONAL("maxBatchSize", INTEGER_FROM(1)),
	OPTIONAL("maxNumTokens", INTEGER_FROM(1)),
	OPTIONAL("maxSequenceLength", INTEGER_FROM(1)),
};

static const struct ks_field parallelism_fields[] = {
	OPTIONAL("context", INTEGER_FROM(1)),
	OPTIONAL("data", INTEGER_FROM(1)),
	OPTIONAL("expert", INTEGER_FROM(1)),
	OPTIONAL("pipeline", INTEGER_FROM(1)),
	OPTIONAL("tensor", INTEGER_FROM(1)),
};

static const struct ks_field speculative_fields[] = {
	OPTIONAL("draftModel", STRING(200)),
	REQUIRED("method", TOKEN),
};

static const struct ks_field serving_configuration_fields[] = {
	OPTIONAL("attentionBackend", TOKEN),
	OPTIONAL("dtype", TOKEN),
	OPTIONAL("kvCache", OBJECT(kv_cache_fields)),
	OPTIONAL("limits", OBJECT(limits_fields)),
	OPTIONAL("options", MAP(TOKEN, STRING(500))),
	OPTIONAL("parallelism", OBJECT(parallelism_fields)),
	OPTIONAL("quantization", TOKEN),
	OPTIONAL("speculative", OBJECT(speculative_fields)),
	REQUIRED("stackDigest", REFERENCE(ks_kind_serving_stack_revision)),
};

const struct ks_kind ks_kind_serving_configuration = {
	KIND(KS_API_KERNELINDEX, "ServingConfiguration"),
	.spec = OBJECT(serving_configuration_fields),
};

/*
 * ServingWorkload.
 */
static const struct ks_field dataset_fields[] = {
	OPTIONAL("digest", LINK),
	REQUIRED("name", STRING(200)),
};

static const struct ks_field sampling_fields[] = {
	OPTIONAL("seeded", BOOLEAN),
	OPTIONAL("temperature", NUMBER),
};

static const struct ks_field objective_fields[] = {
	REQUIRED("metric", TOKEN),
	REQUIRED("operator", ONE_OF("<=", "<")),
	REQUIRED("statistic", TOKEN),
	REQUIRED("unit", TOKEN),
	REQUIRED("value", NUMBER_ABOVE_0),
};

static const struct ks_field token_count_fields[] = {
	OPTIONAL("artifactDigest", LINK),
	REQUIRED("distribution", TOKEN),
	OPTIONAL("maximum", INTEGER_FROM(1)),
	OPTIONAL("mean", NUMBER_ABOVE_0),
};

static const struct ks_field tokens_fields[] = {
	OPTIONAL("output", OBJECT(token_count_fields)),
	OPTIONAL("prompt", OBJECT(token_count_fields)),
};

static const struct ks_field serving_workload_fields[] = {
	OPTIONAL("arrival", TOKEN),
	OPTIONAL("dataset", OBJECT(dataset_fields)),
	OPTIONAL("durationSeconds", INTEGER_FROM(1)),
	REQUIRED("loadGeneration", ONE_OF("open_loop", "closed_loop",
		"offline")),
	OPTIONAL("requestCount", INTEGER_FROM(1)),
	OPTIONAL("requestRatePerSecond", NUMBER_ABOVE_0),
	OPTIONAL("sampling", OBJECT(sampling_fields)),
	OPTIONAL("slo", LIST_OF(OBJECT(objective_fields), 0, 8)),
	REQUIRED("streaming", BOOLEAN),
	OPTIONAL("tokens", OBJECT(tokens_fields)),
};

const struct ks_kind ks_kind_serving_workload = {
	KIND(KS_API_KERNELINDEX, "ServingWorkload"),
	.spec = OBJECT(serving_workload_fields),
};

/*
 * ServingRun.
 */
static const struct ks_field serving_harness_fields[] = {
	REQUIRED("name", TOKEN),
	REQUIRED("version", STRING(100)),
};

static const struct ks_field serving_source_native_fields[] = {
	REQUIRED("benchmark", STRING(200)),
	REQUIRED("category", TOKEN),
	REQUIRED("division", TOKEN),
	REQUIRED("externalId", STRING(500)),
	OPTIONAL("metrics", MAP(TOKEN, NUMBER_OR_STRING(500))),
	REQUIRED("scenario", TOKEN),
	REQUIRED("source", SLUG),
};

static const struct ks_field topology_fields[] = {
	REQUIRED("acceleratorModel", STRING(200)),
	OPTIONAL("acceleratorVendor", TOKEN),
	REQUIRED("acceleratorsPerNode", INTEGER_FROM(1)),
	OPTIONAL("interconnect", STRING(200)),
	REQUIRED("nodeCount", INTEGER_FROM(1)),
};

static const struct ks_field serving_run_fields[] = {
	OPTIONAL("caveats", LIST_OF(STRING(500), 0, 16)),
	REQUIRED("configurationDigest",
		REFERENCE(ks_kind_serving_configuration)),
	REQUIRED("harness", OBJECT(serving_harness_fields)),
	REQUIRED("measurements", LIST_OF(&ks_type_measurement, 1, 64)),
	REQUIRED("modelDigest", REFERENCE(ks_kind_model_revision)),
	REQUIRED("observedAt", INSTANT),
	OPTIONAL("placement", TOKEN),
	REQUIRED("qualityPolicy", TOKEN),
	OPTIONAL("sourceNative", OBJECT(serving_source_native_fields)),
	REQUIRED("status", ONE_OF("valid", "invalid",
		"incomplete_evidence")),
	REQUIRED("topology", OBJECT(topology_fields)),
	REQUIRED("workloadDigest", REFERENCE(ks_kind_serving_workload)),
};

const struct ks_kind ks_kind_serving_run = {
	KIND(KS_API_KERNELINDEX, "ServingRun"),
	.spec = OBJECT(serving_run_fields),
	.has_source = true,
};
