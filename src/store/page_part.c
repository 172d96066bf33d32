/*
 * Parts: the records that a page shows something of, read from their objects,
 * with what the log says of them.
 */
#include <stdlib.h>

#include "format/cohort.h"
#include "format/json.h"
#include "format/label.h"
#include "store/page.h"

#define DIGITS 12

/* ---- one record --------------------------------------------------------- */

void
ks_part_release(struct ks_part *part)
{
	ks_buf_release(&part->body);
	ks_buf_release(&part->metadata_text);
	ks_buf_release(&part->provenance_text);
	memset(part, 0, sizeof(*part));
}

/* The row of the index and, by it, what the log says. */
static enum ks_status
read_notes(struct ks_store *store, struct ks_part *part, bool *known,
	struct ks_error *err)
{
	struct ks_index *index;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	*known = false;
	if (status != KS_OK)
		return status;
	*known = ks_index_object(index, &part->digest, &part->row);
	if (!*known)
		return ks_index_check(index, err);
	status = ks_store_notes(store, &part->row, &part->metadata_text,
		&part->provenance_text, err);
	if (status != KS_OK)
		return status;
	part->metadata = ks_buf_span(&part->metadata_text);
	part->provenance = ks_buf_span(&part->provenance_text);
	return KS_OK;
}

/* A part of which nothing is known but that something names it. */
static void
begin(struct ks_part *part, const struct ks_id *digest)
{
	memset(part, 0, sizeof(*part));
	part->digest = *digest;
	part->is_named = true;
	part->state = "";
}

enum ks_status
ks_part_notes(struct ks_store *store, const struct ks_id *digest,
	struct ks_part *part, struct ks_error *err)
{
	bool known;

	begin(part, digest);
	return read_notes(store, part, &known, err);
}

bool
ks_part_known(struct ks_store *store, const struct ks_id *digest,
	struct ks_part *part, bool *failed)
{
	enum ks_status status;
	bool known;

	begin(part, digest);
	status = read_notes(store, part, &known, NULL);
	*failed = *failed || (status != KS_OK && status != KS_CORRUPT);
	return known;
}

static enum ks_status
take_apart(struct ks_store *store, struct ks_part *part, struct ks_error *err)
{
	enum ks_status status = ks_record_judge(store->jcs,
		ks_buf_span(&part->body), &part->record, err);

	part->is_here = status == KS_OK || status == KS_INVALID;
	part->state = "archived";
	if (status == KS_INVALID)
		memset(&part->record, 0, sizeof(part->record));
	return part->is_here ? KS_OK : status;
}

/* Why it is not here: published, absent, and no reason for it, is damage. */
static enum ks_status
judge_absence(struct ks_store *store, struct ks_part *part, bool known,
	struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = KS_NOT_FOUND;

	if (!known)
		part->state = "missing";
	else if (part->row.state.taken_down)
		part->state = "taken down";
	else if (ks_store_has(store, &part->digest))
		part->state = "not fetched";
	else
		status = ks_store_explain_absence(store, &part->digest, &why);
	if (status == KS_NOT_FOUND)
		return KS_OK;
	if (err != NULL)
		*err = why;
	return status;
}

enum ks_status
ks_part_read(struct ks_store *store, const struct ks_id *digest,
	struct ks_part *part, struct ks_error *err)
{
	bool known;
	enum ks_status status;

	begin(part, digest);
	status = read_notes(store, part, &known, err);
	if (status != KS_OK)
		return status;
	status = known && part->row.state.taken_down ? KS_NOT_FOUND :
		ks_store_body(store, digest, &part->body, err);
	if (status == KS_NOT_FOUND)
		return judge_absence(store, part, known, err);
	return status == KS_OK ? take_apart(store, part, err) : status;
}

enum ks_status
ks_part_need(struct ks_store *store, const struct ks_id *digest,
	struct ks_part *part, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	enum ks_status status = ks_part_read(store, digest, part, err);

	if (status != KS_OK || part->is_here)
		return status;
	if (strcmp(part->state, "not fetched") == 0)
		return ks_fail(err, KS_NOT_FOUND, "%s is not here: git has "
			"not fetched it", ks_id_print(digest, text));
	return ks_store_explain_absence(store, digest, err);
}

enum ks_status
ks_part_bare(struct ks_store *store, const struct ks_id *digest,
	struct ks_part *part, struct ks_error *err)
{
	enum ks_status status;

	begin(part, digest);
	status = ks_store_body(store, digest, &part->body, err);
	if (status == KS_NOT_FOUND && !ks_store_has(store, digest))
		return ks_store_explain_absence(store, digest, err);
	return status == KS_OK ? take_apart(store, part, err) : status;
}

enum ks_status
ks_part_follow(struct ks_store *store, struct ks_span object,
	const char *member, struct ks_part *part, struct ks_error *err)
{
	struct ks_id digest;

	memset(part, 0, sizeof(*part));
	part->state = "";
	if (!ks_id_parse(&digest, ks_json_get_raw(object, member)))
		return KS_OK;
	return ks_part_read(store, &digest, part, err);
}

/* ---- names -------------------------------------------------------------- */

const char *
ks_part_kind(const struct ks_part *part)
{
	const char *slash = strrchr(part->row.kind, '/');

	if (part->record.kind != NULL)
		return ks_kind_name(part->record.kind);
	return slash == NULL ? part->row.kind : slash + 1;
}

bool
ks_part_is(const struct ks_part *part, const char *kind)
{
	return part->record.kind != NULL &&
		strcmp(ks_kind_name(part->record.kind), kind) == 0;
}

bool
ks_part_note(struct ks_span notes, const char *member, struct ks_buf *out)
{
	struct ks_span value = ks_json_get(notes, member);

	if (value.len == 0 || ks_json_type(value) != KS_JSON_STRING)
		return false;
	ks_json_unescape(out, ks_json_raw(value));
	return true;
}

void
ks_part_digits(struct ks_buf *out, const struct ks_id *digest)
{
	char hex[KS_ID_HEX + 1];

	ks_buf_append(out, ks_span(ks_id_print_hex(digest, hex), DIGITS));
}

/* The members of a spec that name it best. */
static bool
spec_name(const struct ks_part *part, struct ks_buf *out)
{
	struct ks_span spec = part->record.spec;

	if (ks_part_is(part, "Source") || ks_part_is(part, "Artifact") ||
		ks_part_is(part, "SoftwareProject"))
		return ks_part_note(spec, "name", out);
	return ks_part_is(part, "ModelRevision") &&
		ks_part_note(spec, "model", out);
}

void
ks_part_title(const struct ks_part *part, struct ks_buf *out)
{
	if (ks_part_note(part->metadata, "title", out) ||
		ks_part_note(part->provenance, "name", out) ||
		ks_part_note(part->provenance, "summary", out) ||
		spec_name(part, out) ||
		ks_part_note(part->metadata, "name", out))
		return;
	ks_part_digits(out, &part->digest);
}

/* ---- a benchmark run ---------------------------------------------------- */

void
ks_run_implementation(const struct ks_part *implementation,
	const struct ks_part *operation, struct ks_buf *out)
{
	size_t before = out->len;

	ks_label_implementation(out, implementation->metadata,
		ks_json_get_raw(implementation->provenance, "slug"),
		operation->metadata);
	if (out->len == before && implementation->is_named)
		ks_part_digits(out, &implementation->digest);
	else if (out->len == before)
		ks_buf_text(out, "unknown");
}

void
ks_run_operation(const struct ks_part *operation, struct ks_buf *out)
{
	size_t before = out->len;

	ks_label_operation(out, operation->metadata);
	if (out->len == before && operation->is_named)
		ks_part_digits(out, &operation->digest);
	else if (out->len == before)
		ks_buf_text(out, "unknown");
}

void
ks_run_workload(const struct ks_part *workload, struct ks_buf *out)
{
	size_t before = out->len;

	if (workload->is_here)
		ks_label_workload(out, ks_buf_span(&workload->body));
	if (out->len == before && workload->is_named)
		ks_part_digits(out, &workload->digest);
	else if (out->len == before)
		ks_buf_text(out, "unknown");
}

/* The row's name, which review may have restated, stands in the log only where
 * it differs. */
void
ks_run_project(const struct ks_part *project, struct ks_buf *out)
{
	if (!ks_part_note(project->provenance, "name", out) &&
		!ks_part_note(project->record.spec, "name", out))
		ks_part_title(project, out);
}

void
ks_run_source(const struct ks_part *source, struct ks_span run,
	struct ks_buf *out)
{
	if (!ks_part_note(source->record.spec, "name", out) &&
		!ks_part_note(ks_json_get(run, "sourceNative"), "source", out))
		ks_buf_text(out, "unknown");
}

void
ks_run_revision(struct ks_span implementation, struct ks_buf *out)
{
	struct ks_span revision = ks_json_get(implementation,
		"projectRevision");

	if (!ks_part_note(revision, "commit", out) &&
		!ks_part_note(revision, "version", out))
		ks_buf_text(out, "unknown");
}

void
ks_run_release(struct ks_run_parts *parts)
{
	ks_part_release(&parts->run);
	ks_part_release(&parts->implementation);
	ks_part_release(&parts->project);
	ks_part_release(&parts->workload);
	ks_part_release(&parts->operation);
	ks_part_release(&parts->protocol);
	ks_part_release(&parts->environment);
	ks_part_release(&parts->source);
}

static enum ks_status
read_others(struct ks_store *store, struct ks_run_parts *parts,
	struct ks_error *err)
{
	struct ks_span run = parts->run.record.spec;
	enum ks_status status = ks_part_follow(store, run,
		"implementationDigest", &parts->implementation, err);

	if (status == KS_OK)
		status = ks_part_follow(store, run, "workloadDigest",
			&parts->workload, err);
	if (status == KS_OK)
		status = ks_part_follow(store, run, "protocolDigest",
			&parts->protocol, err);
	if (status == KS_OK)
		status = ks_part_follow(store, run, "environmentDigest",
			&parts->environment, err);
	/* The operation is the workload's: the key takes it from there. */
	if (status == KS_OK)
		status = ks_part_follow(store, parts->workload.record.spec,
			"operationSpecDigest", &parts->operation, err);
	if (status == KS_OK)
		status = ks_part_follow(store, parts->run.provenance,
			"source", &parts->source, err);
	return status != KS_OK ? status : ks_part_follow(store,
		parts->implementation.provenance, "project", &parts->project,
		err);
}

/* A run that states too little has no key. */
static enum ks_status
judge_key(enum ks_status status, bool *has)
{
	*has = status == KS_OK;
	return status == KS_INVALID ? KS_OK : status;
}

enum ks_status
ks_run_read(struct ks_store *store, const struct ks_id *digest,
	struct ks_run_parts *parts, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	enum ks_status status;

	memset(parts, 0, sizeof(*parts));
	status = ks_part_need(store, digest, &parts->run, err);
	if (status == KS_OK && !ks_part_is(&parts->run, "BenchmarkRun"))
		return ks_fail(err, KS_USAGE, "%s is no BenchmarkRun",
			ks_id_print(digest, text));
	if (status == KS_OK)
		status = read_others(store, parts, err);
	if (status == KS_OK && parts->workload.is_here)
		status = judge_key(ks_cohort_comparison(
			parts->run.record.spec, parts->workload.record.spec,
			&parts->key, err), &parts->has_key);
	return status;
}

/* ---- a serving run ------------------------------------------------------ */

void
ks_serving_release(struct ks_serving_parts *parts)
{
	ks_part_release(&parts->run);
	ks_part_release(&parts->model);
	ks_part_release(&parts->configuration);
	ks_part_release(&parts->stack);
	ks_part_release(&parts->workload);
	ks_part_release(&parts->source);
}

/* A configuration is known by its row's summary, which no manifest has. */
void
ks_serving_summary(const struct ks_part *configuration, struct ks_buf *out)
{
	if (!ks_part_note(configuration->provenance, "summary", out))
		ks_part_title(configuration, out);
}

enum ks_status
ks_serving_read(struct ks_store *store, const struct ks_id *digest,
	struct ks_serving_parts *parts, struct ks_error *err)
{
	struct ks_span run;
	enum ks_status status;

	memset(parts, 0, sizeof(*parts));
	status = ks_part_need(store, digest, &parts->run, err);
	run = parts->run.record.spec;
	if (status == KS_OK)
		status = ks_part_follow(store, run, "modelDigest",
			&parts->model, err);
	if (status == KS_OK)
		status = ks_part_follow(store, run, "configurationDigest",
			&parts->configuration, err);
	if (status == KS_OK)
		status = ks_part_follow(store, run, "workloadDigest",
			&parts->workload, err);
	if (status == KS_OK)
		status = ks_part_follow(store,
			parts->configuration.record.spec, "stackDigest",
			&parts->stack, err);
	if (status == KS_OK)
		status = ks_part_follow(store, parts->run.provenance,
			"source", &parts->source, err);
	if (status == KS_OK && parts->model.is_here && parts->workload.is_here)
		status = judge_key(ks_cohort_serving(run,
			parts->model.record.spec, parts->workload.record.spec,
			&parts->key, err), &parts->has_key);
	return status;
}
