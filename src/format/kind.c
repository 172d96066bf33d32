#include "format/kind.h"

#include "format/kind_table.h"

static const struct ks_kind *const kinds[] = {
	&ks_kind_operation_spec,
	&ks_kind_workload_case,
	&ks_kind_workload_suite,
	&ks_kind_software_project,
	&ks_kind_implementation_revision,
	&ks_kind_benchmark_protocol,
	&ks_kind_execution_environment,
	&ks_kind_benchmark_run,
	&ks_kind_model_revision,
	&ks_kind_serving_stack_revision,
	&ks_kind_serving_configuration,
	&ks_kind_serving_workload,
	&ks_kind_serving_run,
	&ks_kind_source,
	&ks_kind_artifact,
	&ks_kind_attestation,
};
#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

const struct ks_kind *
ks_kind_find(struct ks_span api_version, struct ks_span name)
{
	size_t i;

	for (i = 0; i < KIND_COUNT; i++) {
		if (ks_span_is(name, kinds[i]->name) &&
			ks_span_is(api_version, kinds[i]->api_version))
			return kinds[i];
	}
	return NULL;
}

const struct ks_kind *
ks_kind_find_full(struct ks_span full)
{
	size_t slash = full.len;

	while (slash > 0 && full.data[slash - 1] != '/')
		slash--;
	if (slash == 0)
		return NULL;
	return ks_kind_find(ks_span(full.data, slash - 1),
		ks_span(full.data + slash, full.len - slash));
}

const char *
ks_kind_name(const struct ks_kind *kind)
{
	return kind->name;
}

const char *
ks_kind_full_name(const struct ks_kind *kind)
{
	return kind->full_name;
}

size_t
ks_kind_count(void)
{
	return KIND_COUNT;
}

const struct ks_kind *
ks_kind_at(size_t index)
{
	return index < KIND_COUNT ? kinds[index] : NULL;
}

size_t
ks_kind_index(const struct ks_kind *kind)
{
	size_t i = 0;

	while (i < KIND_COUNT && kinds[i] != kind)
		i++;
	return i;
}

bool
ks_kind_has_source(const struct ks_kind *kind)
{
	return kind->has_source;
}

bool
ks_kind_has_project(const struct ks_kind *kind)
{
	return kind->has_project;
}

bool
ks_kind_is_mutable_row(const struct ks_kind *kind)
{
	return kind->is_mutable_row;
}

bool
ks_kind_metadata_optional(const struct ks_kind *kind)
{
	return kind->metadata_optional;
}

bool
ks_reference_accepts(const struct ks_reference *reference,
	const struct ks_kind *found)
{
	if (reference->expected[0] == NULL)
		return found != NULL;
	return found != NULL && (found == reference->expected[0] ||
		found == reference->expected[1]);
}
