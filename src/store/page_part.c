/*
 * Parts: the records that a page shows something of, read from their objects,
 * with what the log says of them.
 */
#include <stdlib.h>

#include "format/cohort.h"
#include "format/json.h"
#include "store/page.h"

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

struct ks_named
ks_part_named(const struct ks_part *part)
{
	return (struct ks_named){
		.digest = part->digest, .is_named = part->is_named,
		.body = part->is_here ? ks_buf_span(&part->body) :
			ks_span(NULL, 0),
		.record = part->record, .metadata = part->metadata,
		.provenance = part->provenance
	};
}

bool
ks_parts_find(void *arg, const struct ks_id *digest, struct ks_named *out)
{
	const struct ks_part *const *const *list = arg;
	const struct ks_part *const *parts = *list;

	for (; *parts != NULL; parts++)
		if ((*parts)->is_named && ks_id_equal(&(*parts)->digest,
			digest)) {
			*out = ks_part_named(*parts);
			return true;
		}
	return false;
}

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
	return ks_name_member(notes, member, out);
}

void
ks_part_digits(struct ks_buf *out, const struct ks_id *digest)
{
	ks_name_digits(digest, out);
}

void
ks_part_title(const struct ks_part *part, struct ks_buf *out)
{
	const struct ks_named named = ks_part_named(part);

	ks_name_title(&named, out);
}

/* ---- a benchmark run ---------------------------------------------------- */

void
ks_run_implementation(const struct ks_part *implementation,
	const struct ks_part *operation, struct ks_buf *out)
{
	const struct ks_named named = ks_part_named(implementation);
	const struct ks_named of = ks_part_named(operation);

	ks_name_implementation(&named, &of, out);
}

void
ks_run_operation(const struct ks_part *operation, struct ks_buf *out)
{
	const struct ks_named named = ks_part_named(operation);

	ks_name_operation(&named, out);
}

void
ks_run_workload(const struct ks_part *workload, struct ks_buf *out)
{
	const struct ks_named named = ks_part_named(workload);

	ks_name_workload(&named, out);
}

void
ks_run_project(const struct ks_part *project, struct ks_buf *out)
{
	const struct ks_named named = ks_part_named(project);

	ks_name_project(&named, out);
}

void
ks_run_source(const struct ks_part *source, struct ks_span run,
	struct ks_buf *out)
{
	const struct ks_named named = ks_part_named(source);

	ks_name_source(&named, run, out);
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

void
ks_serving_summary(const struct ks_part *configuration, struct ks_buf *out)
{
	const struct ks_named named = ks_part_named(configuration);

	ks_name_configuration(&named, out);
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
