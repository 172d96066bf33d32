/*
 * One record of a comparison: its rows, and what ranks it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/cohort.h"
#include "format/json.h"
#include "format/measure.h"
#include "format/readout.h"
#include "store/page.h"

/* The section that comes first: the parts of the key. */
#define COMPARISON "Comparison"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the rows of one record --------------------------------------------- */

/* "Rotary position embedding · e655a9562986": two digests of one name are seen
 * to be two. */
static void
say_part(struct ks_draft *draft, const char *label,
	const struct ks_part *part, struct ks_span name)
{
	struct ks_buf *value = ks_draft_row(draft, label, KS_ROW_LOG);

	if (!part->is_named) {
		ks_buf_text(value, "none");
		return;
	}
	ks_buf_append(value, name);
	ks_buf_text(value, " · ");
	ks_part_digits(value, &part->digest);
}

/* The same, the name being appended by one of ks_run_…(). */
static void
say_named(struct ks_draft *draft, const char *label,
	const struct ks_part *part,
	void (*append)(const struct ks_part *part, struct ks_buf *out))
{
	struct ks_buf name = KS_BUF_INIT;

	append(part, &name);
	say_part(draft, label, part, ks_buf_span(&name));
	ks_draft_spent(draft, &name);
}

/* The parts of a comparison key, in their order. */
static void
say_key(struct ks_draft *draft, const struct ks_run_parts *parts)
{
	struct ks_id correctness;
	enum ks_status status;
	struct ks_buf *value;

	ks_draft_section(draft, COMPARISON);
	say_named(draft, "operation", &parts->operation, ks_run_operation);
	say_named(draft, "workload", &parts->workload, ks_run_workload);
	say_named(draft, "protocol", &parts->protocol, ks_part_title);
	say_named(draft, "environment", &parts->environment, ks_part_title);
	value = ks_draft_row(draft, "correctness policy", KS_ROW_OBJECT);
	status = ks_cohort_correctness(parts->workload.record.spec,
		&correctness, NULL);
	draft->failed = draft->failed || status == KS_NOMEM;
	if (status == KS_OK)
		ks_part_digits(value, &correctness);
	else
		ks_buf_text(value, "unknown");
	value = ks_draft_row(draft, "metric", KS_ROW_OBJECT);
	ks_measure_key(value, parts->run.record.spec);
}

static void
say_run_identity(struct ks_draft *draft, const struct ks_run_parts *parts,
	enum ks_evidence evidence)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_span spec = parts->implementation.record.spec;
	struct ks_span native = ks_json_get(run, "sourceNative");
	struct ks_buf name = KS_BUF_INIT;

	ks_draft_section(draft, "Identity");
	ks_run_implementation(&parts->implementation, &parts->operation,
		&name);
	say_part(draft, "implementation", &parts->implementation,
		ks_buf_span(&name));
	ks_draft_spent(draft, &name);
	if (parts->project.is_named)
		say_named(draft, "project", &parts->project, ks_run_project);
	ks_run_revision(spec, ks_draft_row(draft, "revision",
		KS_ROW_OBJECT));
	ks_draft_member(draft, "license declared", ks_json_get(spec,
		"licensing"), "declared", KS_ROW_OBJECT);
	ks_draft_member(draft, "license concluded", ks_json_get(spec,
		"licensing"), "concluded", KS_ROW_OBJECT);
	ks_run_source(&parts->source, run, ks_draft_row(draft, "source",
		KS_ROW_LOG));
	ks_draft_member(draft, "external id", native, "externalId",
		KS_ROW_OBJECT);
	ks_draft_member(draft, "status", run, "status", KS_ROW_OBJECT);
	ks_buf_text(ks_draft_row(draft, "evidence", KS_ROW_DERIVED),
		ks_evidence_label(evidence));
	ks_draft_member(draft, "observed", run, "observedAt", KS_ROW_OBJECT);
}

/* The members of an object, by name. */
static void
say_members(struct ks_draft *draft, struct ks_span object)
{
	struct ks_buf label = KS_BUF_INIT;
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(object, &members, &count)) {
		draft->failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		ks_buf_clear(&label);
		ks_json_unescape(&label, members[i].name);
		ks_draft_scalar(ks_draft_row_buf(draft, &label,
			KS_ROW_OBJECT), members[i].value);
	}
	free(members);
	ks_buf_release(&label);
}

/* ---- what pages leave out ----------------------------------------------- */

/* A member of an object in a spec, or with "" the object itself. */
struct left_out {
	const char *object, *member;
};

static void
say_path(struct ks_draft *draft, const char *path, struct ks_span value)
{
	struct ks_buf *out;

	if (value.len == 0)
		return;
	out = ks_draft_row(draft, path, KS_ROW_OBJECT);
	if (ks_json_type(value) == KS_JSON_OBJECT ||
		ks_json_type(value) == KS_JSON_ARRAY)
		ks_history_compact(out, value);
	else
		ks_draft_scalar(out, value);
}

static void
say_left_out(struct ks_draft *draft, struct ks_span spec,
	const struct left_out *paths, size_t count)
{
	char path[64];
	size_t i;

	for (i = 0; i < count; i++) {
		const char *member = paths[i].member;
		struct ks_span object = ks_json_get(spec, paths[i].object);

		(void)snprintf(path, sizeof(path), "%s%s%s", paths[i].object,
			member[0] == '\0' ? "" : ".", member);
		say_path(draft, path, member[0] == '\0' ? object :
			ks_json_get(object, member));
	}
}

/* How the numbers in each tensor came about. */
static void
say_data(struct ks_draft *draft, struct ks_span tensors)
{
	struct ks_buf label = KS_BUF_INIT;
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(tensors, &members, &count)) {
		draft->failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		ks_buf_clear(&label);
		ks_buf_text(&label, "tensors.");
		ks_json_unescape(&label, members[i].name);
		ks_buf_text(&label, ".data");
		say_path(draft, ks_buf_cstr(&label),
			ks_json_get(members[i].value, "data"));
	}
	free(members);
	ks_draft_spent(draft, &label);
}

/* The cases of a suite, each by the name that its source gave it. */
static void
say_cases(struct ks_draft *draft, struct ks_span cases)
{
	struct ks_json_iter it = ks_json_iter(cases);
	struct ks_buf label = KS_BUF_INIT;
	struct ks_span element;

	while (ks_json_next_element(&it, &element)) {
		ks_buf_clear(&label);
		ks_buf_text(&label, "case ");
		ks_json_unescape(&label, ks_json_get_raw(element,
			"externalId"));
		say_path(draft, ks_buf_cstr(&label), ks_json_get(element,
			"axes"));
	}
	ks_draft_spent(draft, &label);
}

/* What a page says of the three that a run is bound to, and then the rest: two
 * that differ are seen to, and in what. */
static void
say_workload(struct ks_draft *draft, const struct ks_part *workload)
{
	static const struct left_out paths[] = {
		{ "scalars", "" }, { "aggregation", "" }
	};
	struct ks_span spec = workload->record.spec;
	struct ks_span cases = ks_json_get(spec, "cases");
	struct ks_span tensors = ks_json_get(spec, "tensors");

	ks_draft_section(draft, "Workload");
	ks_page_workload(draft, workload);
	say_left_out(draft, spec, paths, COUNT(paths));
	if (ks_json_type(tensors) == KS_JSON_OBJECT)
		say_data(draft, tensors);
	if (ks_json_type(cases) == KS_JSON_ARRAY)
		say_cases(draft, cases);
}

static void
say_protocol(struct ks_draft *draft, const struct ks_part *protocol)
{
	static const struct left_out paths[] = {
		{ "harness", "repository" }, { "harness", "commit" },
		{ "measurement", "setupIncluded" },
		{ "measurement", "warmupDuration" },
		{ "correctness", "comparator" }, { "devicePolicy", "" },
		{ "comparability", "notes" }
	};

	ks_draft_section(draft, "Protocol");
	ks_page_protocol(draft, protocol);
	say_left_out(draft, protocol->record.spec, paths, COUNT(paths));
}

static void
say_environment(struct ks_draft *draft, const struct ks_part *environment)
{
	static const struct left_out paths[] = {
		{ "hardware", "vendor" }, { "hardware", "formFactor" },
		{ "hardware", "interconnect" }, { "software", "kernel" },
		{ "software", "libraries" }, { "settings", "powerLimitWatts" },
		{ "settings", "eccEnabled" },
		{ "settings", "environmentVariables" }
	};

	ks_draft_section(draft, "Environment");
	ks_page_environment(draft, environment);
	say_left_out(draft, environment->record.spec, paths, COUNT(paths));
}

/* ---- one benchmark run -------------------------------------------------- */

/* What ranks it, and why it may not. */
static void
judge_run(struct ks_side *side, struct ks_span run)
{
	struct ks_primary primary;
	struct ks_standing standing = {
		.status = ks_json_get_raw(run, "status"),
		.is_published = true,
		.is_retracted = side->history.retracted,
		.is_superseded = side->history.superseded
	};

	standing.has_primary = ks_ranking_enter(&side->entry, run);
	ks_buf_append(&side->observed, side->entry.observed_at);
	side->may_rank = ks_ranking_is_eligible(&standing);
	ks_ranking_reasons(&side->reasons, &standing);
	if (ks_measure_primary(run, &primary))
		ks_readout_value(&side->text, primary.measurement.value,
			primary.measurement.unit);
}

static enum ks_status
say_run(struct ks_store *store, struct ks_side *side,
	const struct ks_run_parts *parts, struct ks_draft *draft,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_span run = parts->run.record.spec;
	enum ks_evidence evidence = KS_EVIDENCE_NONE;
	enum ks_status status = KS_OK;

	ks_run_implementation(&parts->implementation, &parts->operation,
		&side->title);
	side->has_key = parts->has_key;
	side->key = parts->key;
	judge_run(side, run);
	if (side->has_key)
		status = ks_group_evidence(store, &side->key, &side->digest,
			&evidence, watch, err);
	if (status != KS_OK)
		return status;
	side->entry.evidence = evidence;
	say_key(draft, parts);
	say_run_identity(draft, parts, evidence);
	say_workload(draft, &parts->workload);
	say_protocol(draft, &parts->protocol);
	say_environment(draft, &parts->environment);
	ks_draft_section(draft, "Correctness");
	say_members(draft, ks_json_get(run, "correctness"));
	ks_draft_section(draft, "Measurements");
	status = ks_page_measurements(draft, run, true, err);
	say_path(draft, "latency · confidence95", ks_json_get(ks_json_get(
		ks_json_get(run, "timing"), "latencyNs"), "confidence95"));
	ks_draft_section(draft, "Source metrics");
	say_members(draft, ks_json_get(ks_json_get(run, "sourceNative"),
		"metrics"));
	return status;
}

/* ---- one serving run ---------------------------------------------------- */

/* The parts of a cohort key, in their order. */
static void
say_cohort(struct ks_draft *draft, const struct ks_serving_parts *parts)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_span tokenizer = ks_json_get(parts->model.record.spec,
		"tokenizer");

	ks_draft_section(draft, COMPARISON);
	say_named(draft, "model", &parts->model, ks_part_title);
	if (ks_json_get(tokenizer, "name").len > 0)
		ks_draft_member(draft, "tokenizer", tokenizer, "name",
			KS_ROW_OBJECT);
	else
		ks_draft_say(draft, "tokenizer", "none");
	say_named(draft, "workload", &parts->workload, ks_part_title);
	ks_cohort_protocol(ks_draft_row(draft, "protocol", KS_ROW_OBJECT),
		run, parts->workload.record.spec);
	ks_cohort_topology(ks_draft_row(draft, "topology", KS_ROW_OBJECT),
		run);
	ks_draft_member(draft, "quality policy", run, "qualityPolicy",
		KS_ROW_OBJECT);
	ks_cohort_metrics(ks_draft_row(draft, "metrics", KS_ROW_OBJECT), run);
}

static enum ks_status
say_serving(struct ks_side *side, const struct ks_serving_parts *parts,
	struct ks_draft *draft, struct ks_error *err)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_span configuration = parts->configuration.record.spec;
	struct ks_measurement *rows;
	size_t count;
	enum ks_status status = ks_measure_list(run, &rows, &count, err);

	if (status != KS_OK)
		return status;
	ks_serving_summary(&parts->configuration, &side->title);
	side->has_key = parts->has_key;
	side->key = parts->key;
	if (count > 0) {
		ks_readout_grouped(&side->text, rows[0].value);
		ks_buf_byte(&side->text, ' ');
		ks_json_unescape(&side->text, rows[0].unit);
	}
	free(rows);
	say_cohort(draft, parts);
	ks_draft_section(draft, "Identity");
	say_named(draft, "configuration", &parts->configuration,
		ks_serving_summary);
	say_named(draft, "stack", &parts->stack, ks_part_title);
	ks_run_source(&parts->source, run, ks_draft_row(draft, "source",
		KS_ROW_LOG));
	ks_draft_member(draft, "status", run, "status", KS_ROW_OBJECT);
	ks_draft_member(draft, "observed", run, "observedAt", KS_ROW_OBJECT);
	ks_draft_section(draft, "Launch configuration");
	ks_draft_member(draft, "dtype", configuration, "dtype",
		KS_ROW_OBJECT);
	ks_draft_member(draft, "quantization", configuration, "quantization",
		KS_ROW_OBJECT);
	say_members(draft, ks_json_get(configuration, "options"));
	ks_draft_section(draft, "Measurements");
	return ks_page_measurements(draft, run, true, err);
}

/* ---- one record --------------------------------------------------------- */

static enum ks_status
say_other(struct ks_store *store, struct ks_side *side,
	const struct ks_part *part, struct ks_draft *draft,
	struct ks_error *err)
{
	ks_part_title(part, &side->title);
	ks_draft_section(draft, "Identity");
	ks_draft_member(draft, "title", part->metadata, "title", KS_ROW_LOG);
	ks_draft_member(draft, "name", part->metadata, "name", KS_ROW_LOG);
	ks_draft_member(draft, "description", part->metadata, "description",
		KS_ROW_LOG);
	ks_draft_member(draft, "slug", part->provenance, "slug", KS_ROW_LOG);
	ks_draft_member(draft, "project", part->provenance, "project",
		KS_ROW_LOG);
	return ks_page_fields(store, draft, part->record.spec,
		false, err);
}

enum ks_status
ks_side_say(struct ks_store *store, struct ks_side *side,
	const struct ks_part *part, struct ks_draft *draft,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_run_parts run;
	struct ks_serving_parts serving;
	enum ks_status status;

	switch (side->sort) {
	case KS_SIDE_RUN:
		status = ks_run_read(store, &side->digest, &run, err);
		if (status == KS_OK)
			status = say_run(store, side, &run, draft, watch,
				err);
		ks_run_release(&run);
		return status;
	case KS_SIDE_SERVING:
		status = ks_serving_read(store, &side->digest, &serving, err);
		if (status == KS_OK)
			status = say_serving(side, &serving, draft, err);
		ks_serving_release(&serving);
		return status;
	case KS_SIDE_OTHER:
		break;
	}
	return say_other(store, side, part, draft, err);
}
