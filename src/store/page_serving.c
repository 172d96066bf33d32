/*
 * The page of a ServingRun: KernelIndex's, element by element.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "format/measure.h"
#include "format/readout.h"
#include "store/page.h"

/* Characters of digests and ids that the page shows. */
#define KEY_SHOWN 23
#define DIGEST_SHOWN 30
#define ID_TITLE 8
#define ID_SHOWN 13

/* Texts that several elements have. */
struct names {
	struct ks_buf id;	/* or the digest's digits */
	struct ks_buf summary, model, stack, workload, topology, attribution;
};

/* ---- names -------------------------------------------------------------- */

static void
append_name(struct ks_buf *out, const struct ks_part *part)
{
	const struct ks_named named = ks_part_named(part);

	ks_name_served(&named, out);
}

/* A stack by title, else by version. */
static void
append_stack(struct ks_buf *out, const struct ks_part *stack)
{
	struct ks_span revision = ks_json_get(stack->record.spec, "revision");

	if (!ks_part_note(stack->metadata, "title", out) &&
		!ks_part_note(revision, "version", out))
		ks_part_title(stack, out);
}

/* "8× MI300X × 2 nodes" */
static void
append_topology(struct ks_buf *out, struct ks_span run)
{
	struct ks_span topology = ks_json_get(run, "topology");
	struct ks_span nodes = ks_json_get(topology, "nodeCount");
	int64_t count;

	ks_draft_scalar(out, ks_json_get(topology, "acceleratorsPerNode"));
	ks_buf_text(out, "× ");
	ks_draft_scalar(out, ks_json_get(topology, "acceleratorModel"));
	if (ks_json_integer(nodes, &count) && count > 1) {
		ks_buf_text(out, " × ");
		ks_draft_scalar(out, nodes);
		ks_buf_text(out, " nodes");
	}
}

static void
find_names(const struct ks_serving_parts *parts, struct names *out)
{
	const struct ks_named source = ks_part_named(&parts->source);
	char hex[KS_ID_HEX + 1];

	if (!ks_part_note(parts->run.provenance, "id", &out->id))
		ks_buf_text(&out->id, ks_id_print_hex(&parts->run.digest,
			hex));
	ks_serving_summary(&parts->configuration, &out->summary);
	append_name(&out->model, &parts->model);
	append_stack(&out->stack, &parts->stack);
	append_name(&out->workload, &parts->workload);
	append_topology(&out->topology, parts->run.record.spec);
	ks_name_attribution(&source, parts->run.record.spec,
		&out->attribution);
}

static void
release_names(struct ks_draft *draft, struct names *names)
{
	ks_draft_spent(draft, &names->id);
	ks_draft_spent(draft, &names->summary);
	ks_draft_spent(draft, &names->model);
	ks_draft_spent(draft, &names->stack);
	ks_draft_spent(draft, &names->workload);
	ks_draft_spent(draft, &names->topology);
	ks_draft_spent(draft, &names->attribution);
}

/* The first characters of a text. */
static struct ks_span
start_of(struct ks_buf *text, size_t len)
{
	const char *chars = ks_buf_cstr(text);

	return ks_span(chars, strlen(chars) < len ? strlen(chars) : len);
}

/* ---- elements ----------------------------------------------------------- */

static void
say_header(struct ks_composing *c, const struct ks_serving_parts *parts,
	struct names *names)
{
	struct ks_buf *value;

	ks_draft_section(&c->draft, "");
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_text(value, "Serving run ");
	ks_buf_append(value, start_of(&names->id, ID_TITLE));
	ks_buf_text(value, " · KernelIndex");
	ks_buf_append(&c->title, ks_buf_span(&names->summary));
	ks_buf_append(ks_draft_row(&c->draft, "", KS_ROW_LOG),
		ks_buf_span(&names->summary));
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_append(value, ks_buf_span(&names->model));
	ks_buf_text(value, " · ");
	ks_buf_append(value, ks_buf_span(&names->workload));
	ks_buf_text(value, " · run ");
	ks_buf_append(value, start_of(&names->id, ID_SHOWN));
	ks_buf_text(value, "…");
	value = ks_draft_row(&c->draft, "", KS_ROW_OBJECT);
	ks_draft_scalar(value, ks_json_get(parts->run.record.spec, "status"));
	ks_buf_text(value, " · Reported evidence");
	ks_page_strip(c, "Superseded by a corrected run; preserved for the "
		"audit trail.");
}

/* What the cohort is, in words. */
static void
say_cohort(struct ks_composing *c, const struct ks_serving_parts *parts,
	const struct names *names)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_span native = ks_json_get(run, "sourceNative");
	struct ks_buf *value = ks_draft_row(&c->draft, "", KS_ROW_LOG);

	ks_buf_append(value, ks_buf_span(&names->model));
	ks_buf_text(value, " · ");
	ks_buf_append(value, ks_buf_span(&names->workload));
	ks_buf_text(value, " · ");
	if (!ks_part_note(native, "scenario", value))
		ks_buf_text(value, "unspecified");
	ks_buf_text(value, " · ");
	ks_buf_append(value, ks_buf_span(&names->topology));
	ks_buf_text(value, " · ");
	ks_draft_scalar(value, ks_json_get(run, "qualityPolicy"));
	ks_buf_text(value, " · observed ");
	ks_readout_date(value, ks_json_get_raw(run, "observedAt"));
}

/* "A. B." */
static void
say_caveats(struct ks_draft *draft, struct ks_span run)
{
	struct ks_json_iter it = ks_json_iter(ks_json_get(run, "caveats"));
	struct ks_span caveat;
	struct ks_buf *value = ks_draft_row(draft, "", KS_ROW_OBJECT);

	while (ks_json_next_element(&it, &caveat)) {
		ks_buf_text(value, value->len == 0 ? "" : ". ");
		ks_draft_scalar(value, caveat);
	}
	if (value->len == 0)
		ks_draft_drop(draft);
	else
		ks_buf_byte(value, '.');
}

/* "8,840.42 tokens_s" */
static void
append_measurement(struct ks_buf *out, const struct ks_measurement *m)
{
	ks_readout_grouped(out, m->value);
	ks_buf_byte(out, ' ');
	ks_json_unescape(out, m->unit);
}

static enum ks_status
say_measurements(struct ks_composing *c, const struct ks_serving_parts *parts,
	const struct names *names, struct ks_error *err)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_buf label = KS_BUF_INIT;
	struct ks_measurement *rows;
	size_t count, i;
	enum ks_status status = ks_measure_list(run, &rows, &count, err);

	if (status != KS_OK)
		return status;
	ks_draft_section(&c->draft, "Measurements");
	for (i = 0; i < count; i++) {
		ks_buf_clear(&label);
		ks_json_unescape(&label, rows[i].metric);
		ks_buf_text(&label, " · ");
		ks_json_unescape(&label, rows[i].statistic);
		append_measurement(ks_draft_row_buf(&c->draft, &label,
			KS_ROW_OBJECT), &rows[i]);
	}
	free(rows);
	ks_buf_release(&label);
	say_cohort(c, parts, names);
	say_caveats(&c->draft, run);
	return KS_OK;
}

static void
say_identity(struct ks_composing *c, const struct ks_serving_parts *parts,
	const struct names *names)
{
	struct ks_draft *draft = &c->draft;
	struct ks_span run = parts->run.record.spec;
	struct ks_span harness = ks_json_get(run, "harness");
	char text[KS_ID_TEXT + 1];
	struct ks_buf *value;

	ks_draft_section(draft, "Identity");
	ks_buf_append(ks_draft_part(draft, "model", &parts->model,
		KS_ROW_LOG), ks_buf_span(&names->model));
	ks_buf_append(ks_draft_part(draft, "stack", &parts->stack,
		KS_ROW_LOG), ks_buf_span(&names->stack));
	ks_buf_append(ks_draft_part(draft, "workload", &parts->workload,
		KS_ROW_LOG), ks_buf_span(&names->workload));
	ks_buf_append(ks_draft_row(draft, "topology", KS_ROW_OBJECT),
		ks_buf_span(&names->topology));
	value = ks_draft_row(draft, "harness", KS_ROW_OBJECT);
	ks_draft_scalar(value, ks_json_get(harness, "name"));
	ks_buf_byte(value, ' ');
	ks_draft_scalar(value, ks_json_get(harness, "version"));
	ks_draft_member(draft, "quality policy", run, "qualityPolicy",
		KS_ROW_OBJECT);
	value = ks_draft_row(draft, "comparison key", KS_ROW_OBJECT);
	if (parts->has_key) {
		ks_buf_text(&c->key, ks_id_print(&parts->key, text));
		ks_buf_append(value, ks_span(text, KEY_SHOWN));
		ks_buf_text(value, "…");
	} else
		ks_buf_text(value,
			"unknown: what it is made of is not here");
	value = ks_draft_row(draft, "", KS_ROW_OBJECT);
	ks_buf_append(value, ks_span(ks_id_print(&parts->run.digest, text),
		DIGEST_SHOWN));
	ks_buf_text(value, "…");
}

static void
say_configuration(struct ks_composing *c,
	const struct ks_part *configuration)
{
	struct ks_span spec = configuration->record.spec;
	struct ks_span options = ks_json_get(spec, "options");
	struct ks_buf label = KS_BUF_INIT;
	struct ks_json_member *members;
	size_t count, i;

	ks_draft_section(&c->draft, "Launch configuration");
	if (!configuration->is_here)
		ks_buf_text(ks_draft_part(&c->draft, "", configuration,
			KS_ROW_TEXT), "not in this store");
	ks_draft_member(&c->draft, "dtype", spec, "dtype", KS_ROW_OBJECT);
	ks_draft_member(&c->draft, "quantization", spec, "quantization",
		KS_ROW_OBJECT);
	if (!ks_json_list_jsonb(options, &members, &count)) {
		c->draft.failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		ks_buf_clear(&label);
		ks_json_unescape(&label, members[i].name);
		ks_draft_scalar(ks_draft_row_buf(&c->draft, &label,
			KS_ROW_OBJECT), members[i].value);
	}
	free(members);
	ks_buf_release(&label);
}

static void
say_workload(struct ks_composing *c, const struct ks_part *workload,
	const struct names *names)
{
	struct ks_span spec = workload->record.spec;
	struct ks_span streaming = ks_json_get(spec, "streaming");

	ks_draft_section(&c->draft, "Workload");
	ks_buf_append(ks_draft_part(&c->draft, "name", workload, KS_ROW_LOG),
		ks_buf_span(&names->workload));
	if (streaming.len > 0)
		ks_buf_text(ks_draft_row(&c->draft, "streaming",
			KS_ROW_OBJECT), ks_json_type(streaming) ==
			KS_JSON_TRUE ? "yes" : "no");
	ks_draft_member(&c->draft, "load generation", spec, "loadGeneration",
		KS_ROW_OBJECT);
}

static void
say_citation(struct ks_composing *c, const struct ks_serving_parts *parts)
{
	const struct ks_part *const others[] = {
		&parts->configuration, &parts->model, &parts->workload,
		&parts->source, NULL
	};

	ks_draft_section(&c->draft, "Cite this result (permalink, digest, "
		"access date)");
	ks_page_citation(c, others, ks_draft_row(&c->draft, "", KS_ROW_LOG));
}

static void
say_footer(struct ks_composing *c, const struct ks_serving_parts *parts,
	const struct names *names)
{
	struct ks_buf *value;

	ks_draft_section(&c->draft, "");
	ks_draft_say(&c->draft, "", "Report an issue with this serving run");
	ks_page_command(c, "attest", " --type correction-wanted --key FILE");
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_append(value, ks_buf_span(&names->attribution));
	ks_buf_text(value, " · shown unmodified as published");
	(void)ks_part_note(ks_json_get(parts->source.record.spec, "policy"),
		"url", ks_draft_note(&c->draft));
	ks_draft_say(&c->draft, "", "All serving results →");
	ks_draft_say(&c->draft, "", "JSON");
	ks_page_command(c, "show --json", "");
}

/* ---- the page ----------------------------------------------------------- */

static enum ks_status
say_all(struct ks_composing *c, const struct ks_serving_parts *parts,
	struct names *names, struct ks_error *err)
{
	enum ks_status status;

	say_header(c, parts, names);
	status = say_measurements(c, parts, names, err);
	if (status != KS_OK)
		return status;
	say_identity(c, parts, names);
	say_configuration(c, &parts->configuration);
	say_workload(c, &parts->workload, names);
	ks_draft_section(&c->draft, "Replications and notes");
	status = ks_page_attestations(c, err);
	if (status != KS_OK)
		return status;
	ks_page_history(c);
	status = ks_page_manifest(c, err);
	if (status != KS_OK)
		return status;
	say_citation(c, parts);
	say_footer(c, parts, names);
	return KS_OK;
}

enum ks_status
ks_page_serving(struct ks_composing *c, struct ks_serving_parts *parts,
	struct ks_error *err)
{
	struct names names;
	enum ks_status status;

	memset(&names, 0, sizeof(names));
	find_names(parts, &names);
	status = say_all(c, parts, &names, err);
	release_names(&c->draft, &names);
	return status;
}
