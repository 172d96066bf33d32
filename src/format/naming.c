#include "format/naming.h"

#include "format/json.h"
#include "format/label.h"

#define DIGITS 12

void
ks_named_follow(struct ks_span object, const char *member, ks_named_fn *find,
	void *arg, struct ks_named *out)
{
	struct ks_id digest;

	memset(out, 0, sizeof(*out));
	if (!ks_id_parse(&digest, ks_json_get_raw(object, member)))
		return;
	if (!find(arg, &digest, out))
		memset(out, 0, sizeof(*out));
	out->digest = digest;
	out->is_named = true;
}

bool
ks_named_is(const struct ks_named *named, const char *kind)
{
	return named->record.kind != NULL &&
		strcmp(ks_kind_name(named->record.kind), kind) == 0;
}

/* ---- parts of names ----------------------------------------------------- */

bool
ks_name_member(struct ks_span object, const char *member, struct ks_buf *out)
{
	struct ks_span value = ks_json_get(object, member);

	if (value.len == 0 || ks_json_type(value) != KS_JSON_STRING)
		return false;
	ks_json_unescape(out, ks_json_raw(value));
	return true;
}

void
ks_name_scalar(struct ks_span value, struct ks_buf *out)
{
	if (value.len > 0 && ks_json_type(value) == KS_JSON_STRING)
		ks_json_unescape(out, ks_json_raw(value));
	else
		ks_buf_append(out, value);
}

void
ks_name_digits(const struct ks_id *digest, struct ks_buf *out)
{
	char hex[KS_ID_HEX + 1];

	ks_buf_append(out, ks_span(ks_id_print_hex(digest, hex), DIGITS));
}

/* What stands for a name that was not found. */
static void
append_stand_in(const struct ks_named *named, struct ks_buf *out)
{
	if (named->is_named)
		ks_name_digits(&named->digest, out);
	else
		ks_buf_text(out, "unknown");
}

/* The members of a spec that name it best. */
static bool
spec_name(const struct ks_named *named, struct ks_buf *out)
{
	struct ks_span spec = named->record.spec;

	if (ks_named_is(named, "Source") || ks_named_is(named, "Artifact") ||
		ks_named_is(named, "SoftwareProject"))
		return ks_name_member(spec, "name", out);
	return ks_named_is(named, "ModelRevision") &&
		ks_name_member(spec, "model", out);
}

void
ks_name_title(const struct ks_named *named, struct ks_buf *out)
{
	if (ks_name_member(named->metadata, "title", out) ||
		ks_name_member(named->provenance, "name", out) ||
		ks_name_member(named->provenance, "summary", out) ||
		spec_name(named, out) ||
		ks_name_member(named->metadata, "name", out))
		return;
	ks_name_digits(&named->digest, out);
}

/* ---- benchmark runs ----------------------------------------------------- */

void
ks_name_implementation(const struct ks_named *implementation,
	const struct ks_named *operation, struct ks_buf *out)
{
	size_t before = out->len;

	ks_label_implementation(out, implementation->metadata,
		ks_json_get_raw(implementation->provenance, "slug"),
		operation->metadata);
	if (out->len == before)
		append_stand_in(implementation, out);
}

void
ks_name_operation(const struct ks_named *operation, struct ks_buf *out)
{
	size_t before = out->len;

	ks_label_operation(out, operation->metadata);
	if (out->len == before)
		append_stand_in(operation, out);
}

void
ks_name_workload(const struct ks_named *workload, struct ks_buf *out)
{
	size_t before = out->len;

	if (workload->body.len > 0)
		ks_label_workload(out, workload->body);
	if (out->len == before)
		append_stand_in(workload, out);
}

/* The row's name, which review may have restated, stands in the log only where
 * it differs. */
void
ks_name_project(const struct ks_named *project, struct ks_buf *out)
{
	if (!ks_name_member(project->provenance, "name", out) &&
		!ks_name_member(project->record.spec, "name", out))
		ks_name_title(project, out);
}

void
ks_name_source(const struct ks_named *source, struct ks_span run,
	struct ks_buf *out)
{
	if (!ks_name_member(source->record.spec, "name", out) &&
		!ks_name_member(ks_json_get(run, "sourceNative"), "source",
		out))
		ks_buf_text(out, "unknown");
}

/* ---- serving runs ------------------------------------------------------- */

/* A configuration is known by its row's summary, which no manifest has. */
void
ks_name_configuration(const struct ks_named *configuration, struct ks_buf *out)
{
	if (!ks_name_member(configuration->provenance, "summary", out))
		ks_name_title(configuration, out);
}

/* KernelIndex names these by title, else by slug. */
void
ks_name_served(const struct ks_named *served, struct ks_buf *out)
{
	if (!ks_name_member(served->metadata, "title", out) &&
		!ks_name_member(served->provenance, "slug", out) &&
		!ks_name_member(served->metadata, "name", out))
		ks_name_title(served, out);
}

void
ks_name_attribution(const struct ks_named *source, struct ks_span run,
	struct ks_buf *out)
{
	struct ks_span native = ks_json_get(run, "sourceNative");

	ks_name_source(source, run, out);
	if (native.len == 0)
		return;
	ks_buf_text(out, " · ");
	ks_name_scalar(ks_json_get(native, "division"), out);
	ks_buf_byte(out, '/');
	ks_name_scalar(ks_json_get(native, "category"), out);
	ks_buf_text(out, " · entry ");
	ks_name_scalar(ks_json_get(native, "externalId"), out);
}

/* ---- any record --------------------------------------------------------- */

void
ks_name_record(const struct ks_named *named, const struct ks_named *operation,
	struct ks_buf *out)
{
	if (ks_named_is(named, "OperationSpec"))
		ks_name_operation(named, out);
	else if (ks_named_is(named, "WorkloadCase") ||
		ks_named_is(named, "WorkloadSuite"))
		ks_name_workload(named, out);
	else if (ks_named_is(named, "ImplementationRevision"))
		ks_name_implementation(named, operation, out);
	else if (ks_named_is(named, "SoftwareProject"))
		ks_name_project(named, out);
	else if (ks_named_is(named, "ServingConfiguration"))
		ks_name_configuration(named, out);
	else
		ks_name_title(named, out);
}
