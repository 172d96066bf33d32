/*
 * The page of a BenchmarkRun: KernelIndex's, element by element and in its
 * order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "format/label.h"
#include "format/measure.h"
#include "format/readout.h"
#include "store/page.h"
#include "store/reader.h"

/* Characters of digests and ids that the page shows. */
#define KEY_SHOWN 23
#define DIGEST_SHOWN 30
#define ID_TITLE 8
#define ID_SHOWN 13

/* ---- texts -------------------------------------------------------------- */

/* The first characters of a text, and an ellipsis. */
static void
append_start(struct ks_buf *out, const char *text, size_t len)
{
	ks_buf_append(out, ks_span(text, len < strlen(text) ? len :
		strlen(text)));
	ks_buf_text(out, "…");
}

/* The record's id, or its digest where it has none. */
static void
append_id(struct ks_buf *out, const struct ks_part *run)
{
	char hex[KS_ID_HEX + 1];

	if (!ks_part_note(run->provenance, "id", out))
		ks_buf_text(out, ks_id_print_hex(&run->digest, hex));
}

/* A status as a word: "runtime error". */
static void
append_status(struct ks_buf *out, struct ks_span run)
{
	struct ks_span raw = ks_json_get_raw(run, "status");
	size_t i;

	for (i = 0; i < raw.len; i++)
		ks_buf_byte(out, raw.data[i] == '_' ? ' ' : raw.data[i]);
}

static bool
is_passed(struct ks_span run)
{
	return ks_json_is(ks_json_get(run, "status"), "passed");
}

/* The evidence that the run has by itself: what the catalogue knows besides is
 * whether a controlled rerun raised it. */
static enum ks_evidence
evidence_of(const struct ks_run_parts *parts,
	const struct ks_group_member *member)
{
	struct ks_evidence_facts facts = {
		.has_source = ks_evidence_has_source(
			parts->implementation.record.spec),
		.has_raw = ks_evidence_has_raw(parts->run.record.spec)
	};

	return member != NULL ? member->facts.evidence :
		ks_evidence_level(&facts);
}

/* ---- header ------------------------------------------------------------- */

static void
say_title(struct ks_composing *c, const struct ks_run_parts *parts)
{
	struct ks_buf id = KS_BUF_INIT;
	struct ks_buf *value;

	append_id(&id, &parts->run);
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_printf(value, "Run %.*s · KernelIndex", ID_TITLE,
		ks_buf_cstr(&id));
	ks_run_implementation(&parts->implementation, &parts->operation,
		&c->title);
	ks_buf_append(ks_draft_row(&c->draft, "", KS_ROW_LOG),
		ks_buf_span(&c->title));
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_run_operation(&parts->operation, value);
	ks_buf_text(value, " · ");
	ks_run_workload(&parts->workload, value);
	ks_buf_text(value, " · run ");
	append_start(value, ks_buf_cstr(&id), ID_SHOWN);
	ks_draft_spent(&c->draft, &id);
}

/* Numbers of such a source are invented, to show what a page looks like. */
static void
say_illustrative(struct ks_composing *c, const struct ks_run_parts *parts)
{
	if (!ks_json_is(ks_json_get(parts->source.record.spec, "kind"),
		"illustrative"))
		return;
	ks_draft_say(&c->draft, "", "Example data Every number on this page "
		"is fictional, not benchmark evidence.");
	ks_draft_warn(&c->draft);
}

static void
say_header(struct ks_composing *c, const struct ks_run_parts *parts,
	const struct ks_group_member *member)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_buf *value;

	ks_draft_section(&c->draft, "");
	say_illustrative(c, parts);
	say_title(c, parts);
	value = ks_draft_row(&c->draft, "", KS_ROW_DERIVED);
	if (is_passed(run))
		ks_buf_text(value, "● ");
	append_status(value, run);
	ks_buf_printf(value, " · %s evidence",
		ks_evidence_label(evidence_of(parts, member)));
	ks_page_strip(c,
		"Superseded by a corrected run; preserved for the audit "
		"trail.");
}

/* ---- primary measurement ------------------------------------------------ */

/* "621.5µs" and, as the page sets it beside: "±0.12 · median of 20". */
static void
say_primary(struct ks_draft *draft, struct ks_span run)
{
	struct ks_buf *value = ks_draft_row(draft, "", KS_ROW_OBJECT);
	struct ks_buf *note = ks_draft_note(draft);
	struct ks_primary primary;
	const struct ks_measurement *m = &primary.measurement;
	uint8_t *blank;

	if (!ks_measure_primary(run, &primary)) {
		ks_buf_text(value, "0");
		ks_buf_text(note, "value");
		return;
	}
	ks_readout_value(value, m->value, m->unit);
	blank = value->len == 0 ? NULL : memchr(value->data, ' ', value->len);
	if (blank != NULL) {
		size_t rest = value->len - (size_t)(blank - value->data) - 1;

		memmove(blank, blank + 1, rest);
		value->len--;
	}
	if (primary.has_interval && ks_readout_spread(note, m->value, m->unit,
		primary.low, primary.high))
		ks_buf_text(note, " · ");
	ks_json_unescape(note, m->statistic);
	if (m->samples > 0)
		ks_buf_printf(note, " of %lld", (long long)m->samples);
}

static void
say_rank(struct ks_draft *draft, const struct ks_run_parts *parts,
	const struct ks_group *group, const struct ks_group_member *member)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_buf *value = ks_draft_row(draft, "", KS_ROW_DERIVED);

	if (member != NULL) {
		ks_buf_printf(value, "Rank %zu in its comparison group · ",
			member->entry.rank);
		ks_buf_printf(ks_draft_note(draft), "of %zu: kistore rank ",
			group->ranked);
		ks_part_digits(ks_draft_note(draft), &parts->run.digest);
	}
	ks_buf_text(value, ks_json_get(run, "sourceNative").len > 0 ?
		"source-native comparison" : "strict exact comparison");
	ks_buf_text(value, " · observed ");
	ks_readout_date(value, ks_json_get_raw(run, "observedAt"));
}

/* Why a run does not rank takes the place of its rank. */
static bool
say_reasons(struct ks_composing *c, struct ks_span run)
{
	struct ks_primary primary;
	struct ks_standing standing = {
		.status = ks_json_get_raw(run, "status"),
		.is_published = true,
		.is_retracted = c->history.retracted,
		.is_superseded = c->history.superseded,
		.has_primary = ks_measure_primary(run, &primary)
	};
	struct ks_buf *value;

	if (ks_ranking_is_eligible(&standing))
		return false;
	value = ks_draft_row(&c->draft, "", KS_ROW_DERIVED);
	ks_buf_text(value, "Not eligible to rank: ");
	ks_ranking_reasons(value, &standing);
	return true;
}

static void
say_head(struct ks_draft *draft, const struct ks_run_parts *parts,
	const struct ks_group *group)
{
	const struct ks_id *head;

	if (group->ranked == 0)
		return;
	head = &group->members[0]->facts.digest;
	if (ks_id_equal(head, &parts->run.digest))
		return;
	ks_buf_text(ks_draft_row(draft, "", KS_ROW_DERIVED),
		"Compare with #1 →");
	ks_buf_text(ks_draft_note(draft), "kistore compare ");
	ks_part_digits(ks_draft_note(draft), head);
	ks_buf_byte(ks_draft_note(draft), ' ');
	ks_part_digits(ks_draft_note(draft), &parts->run.digest);
	ks_draft_target(draft, head);
}

static void
say_measured(struct ks_composing *c, const struct ks_run_parts *parts,
	const struct ks_group *group, const struct ks_group_member *member)
{
	struct ks_span run = parts->run.record.spec;
	struct ks_buf *value;

	ks_draft_section(&c->draft, "Primary measurement");
	say_primary(&c->draft, run);
	if (!say_reasons(c, run))
		say_rank(&c->draft, parts, group, member);
	say_head(&c->draft, parts, group);
	value = ks_draft_row(&c->draft, "", KS_ROW_OBJECT);
	ks_label_metrics(value, ks_json_get(ks_json_get(run, "sourceNative"),
		"metrics"));
	if (value->len == 0)
		ks_draft_drop(&c->draft);
}

/* ---- identity ----------------------------------------------------------- */

static void
say_key(struct ks_composing *c, const struct ks_run_parts *parts)
{
	char text[KS_ID_TEXT + 1];
	struct ks_buf *value = ks_draft_row(&c->draft, "comparison key",
		KS_ROW_OBJECT);

	if (!parts->has_key) {
		ks_buf_text(value, "unknown: what it is made of is not here");
		return;
	}
	(void)ks_id_print(&parts->key, text);
	append_start(value, text, KEY_SHOWN);
	ks_buf_text(&c->key, text);
}

static void
say_identity(struct ks_composing *c, const struct ks_run_parts *parts)
{
	struct ks_draft *draft = &c->draft;
	struct ks_span run = parts->run.record.spec;
	struct ks_span native = ks_json_get(run, "sourceNative");
	char text[KS_ID_TEXT + 1];

	ks_draft_section(draft, "Identity");
	ks_run_implementation(&parts->implementation, &parts->operation,
		ks_draft_part(draft, "implementation", &parts->implementation,
		KS_ROW_LOG));
	if (parts->project.is_named)
		ks_run_project(&parts->project, ks_draft_part(draft, "project",
			&parts->project, KS_ROW_LOG));
	ks_run_revision(parts->implementation.record.spec,
		ks_draft_row(draft, "revision", KS_ROW_OBJECT));
	ks_run_workload(&parts->workload, ks_draft_part(draft, "workload",
		&parts->workload, KS_ROW_OBJECT));
	say_key(c, parts);
	ks_run_source(&parts->source, run, ks_draft_part(draft, "source",
		&parts->source, KS_ROW_LOG));
	ks_draft_member(draft, "external id", native, "externalId",
		KS_ROW_OBJECT);
	append_start(ks_draft_row(draft, "", KS_ROW_OBJECT),
		ks_id_print(&parts->run.digest, text), DIGEST_SHOWN);
}

/* ---- correctness -------------------------------------------------------- */

static void
say_correctness(struct ks_draft *draft, struct ks_span run)
{
	struct ks_span correctness = ks_json_get(run, "correctness");

	ks_draft_section(draft, "Correctness");
	if (correctness.len == 0) {
		ks_draft_say(draft, "", is_passed(run) ? "Marked passed by "
			"the source; the correctness policy was not "
			"published." :
			"No correctness policy recorded for this run.");
		return;
	}
	ks_draft_member(draft, "comparator", correctness, "comparator",
		KS_ROW_OBJECT);
	ks_draft_member(draft, "max absolute error", correctness,
		"maximumAbsoluteError", KS_ROW_OBJECT);
	ks_draft_member(draft, "max relative error", correctness,
		"maximumRelativeError", KS_ROW_OBJECT);
	ks_draft_member(draft, "matched ratio", correctness, "matchedRatio",
		KS_ROW_OBJECT);
	ks_buf_text(ks_draft_row(draft, "result", KS_ROW_OBJECT),
		is_passed(run) ? "passed" : "failed");
}

/* ---- artifacts ---------------------------------------------------------- */

/* Whether the bytes can be had from where they came. */
static const char *
availability(const struct ks_part *artifact, struct ks_span uri)
{
	struct ks_span spec = artifact->record.spec;

	if (artifact->is_here)
		uri = ks_json_get(spec, "uri");
	if (uri.len == 0)
		return "unavailable";
	return ks_json_is(ks_json_get(spec, "storage"), "upstream") ?
		"upstream" : "public";
}

/* An ArtifactRef of the run, as a row if it is there. */
static void
say_artifact(struct ks_composing *c, const char *role, struct ks_span ref,
	size_t *count)
{
	struct ks_span digest = ks_json_get_raw(ref, "digest");
	char text[KS_ID_TEXT + 1];
	struct ks_part artifact;
	struct ks_buf *value;
	const char *state;
	struct ks_id id;

	if (!ks_id_parse(&id, digest))
		return;
	(*count)++;
	state = ks_page_link_state(c->store, &id, &artifact,
		&c->draft.failed);
	value = ks_draft_row(&c->draft, role, KS_ROW_OBJECT);
	ks_draft_target(&c->draft, &id);
	ks_buf_text(ks_draft_note(&c->draft), state);
	append_start(value, ks_id_print(&id, text), KEY_SHOWN);
	ks_buf_text(value, " · ");
	if (!ks_part_note(artifact.record.spec, "mediaType", value))
		ks_buf_text(value, "unknown");
	ks_buf_printf(value, " · %s", availability(&artifact,
		ks_json_get(ref, "uri")));
	ks_part_release(&artifact);
}

static void
say_artifacts(struct ks_composing *c, struct ks_span run)
{
	struct ks_span evidence = ks_json_get(run, "evidence");
	size_t count = 0;

	ks_draft_section(&c->draft, "Artifacts");
	say_artifact(c, "logs", ks_json_get(evidence, "logs"), &count);
	say_artifact(c, "rawSamples", ks_json_get(evidence, "rawSamples"),
		&count);
	say_artifact(c, "rawSamples", ks_json_get(ks_json_get(run, "timing"),
		"rawSamples"), &count);
	if (count == 0)
		ks_draft_say(&c->draft, "",
			"No artifacts published with this run.");
}

/* ---- replications and notes --------------------------------------------- */

/* What the publisher claims of replications does not raise the level. */
static void
say_replication(struct ks_composing *c)
{
	struct ks_span claim = ks_json_get(c->part->provenance,
		"replication");
	struct ks_span count = ks_json_get(claim,
		"independentReplicationCount");
	struct ks_span rerun = ks_json_get(claim, "reproducedByKernelindex");
	struct ks_buf *value;

	if (claim.len == 0)
		return;
	value = ks_draft_row(&c->draft, "replications", KS_ROW_LOG);
	ks_buf_text(ks_draft_note(&c->draft), "claimed by the publisher");
	if (count.len > 0) {
		ks_buf_append(value, count);
		ks_buf_text(value, " independent");
	}
	if (rerun.len > 0 && ks_json_type(rerun) == KS_JSON_TRUE)
		ks_buf_printf(value, "%sreproduced by KernelIndex",
			value->len == 0 ? "" : " · ");
}

static enum ks_status
say_replications(struct ks_composing *c, struct ks_error *err)
{
	enum ks_status status;

	ks_draft_section(&c->draft, "Replications and notes");
	status = ks_page_attestations(c, err);
	if (status != KS_OK)
		return status;
	say_replication(c);
	ks_draft_say(&c->draft, "", "Community attestations. They never "
		"change the evidence level; only a KernelIndex-controlled "
		"rerun does.");
	ks_draft_say(&c->draft, "", "Add a reproduction or note");
	ks_page_command(c, "attest", " --type TYPE --key FILE");
	return KS_OK;
}

/* ---- citation and footer ------------------------------------------------ */

static void
append_citation(struct ks_composing *c, const struct ks_run_parts *parts,
	struct ks_buf *out)
{
	const struct ks_part *const others[] = {
		&parts->implementation, &parts->workload, &parts->operation,
		&parts->source, NULL
	};

	ks_page_citation(c, others, out);
}

static void
say_footer(struct ks_composing *c, const struct ks_run_parts *parts)
{
	struct ks_span policy = ks_json_get(parts->source.record.spec,
		"policy");
	struct ks_buf *value;
	size_t before;

	ks_draft_section(&c->draft, "Cite this record (permalink, digest, "
		"access date)");
	append_citation(c, parts, ks_draft_row(&c->draft, "", KS_ROW_LOG));
	ks_draft_section(&c->draft, "");
	ks_draft_say(&c->draft, "", "Report an issue with this run");
	ks_page_command(c, "attest", " --type correction-wanted --key FILE");
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_text(value, "Published ");
	ks_readout_date(value, ks_json_get_raw(parts->run.provenance,
		"publishedAt"));
	ks_buf_text(value, " · ");
	ks_run_source(&parts->source, parts->run.record.spec, value);
	before = value->len;
	ks_buf_text(value, " · ");
	if (!ks_part_note(policy, "license", value))
		value->len = before;
	(void)ks_part_note(policy, "url", ks_draft_note(&c->draft));
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_text(value, "All results for ");
	ks_run_operation(&parts->operation, value);
	ks_buf_text(value, " →");
	if (parts->operation.is_named)
		ks_draft_target(&c->draft, &parts->operation.digest);
	ks_draft_say(&c->draft, "", "JSON");
	ks_page_command(c, "show --json", "");
}

/* ---- the page ----------------------------------------------------------- */

static enum ks_status
say_all(struct ks_composing *c, const struct ks_run_parts *parts,
	const struct ks_group *group, struct ks_error *err)
{
	const struct ks_group_member *member = ks_group_find(group,
		&parts->run.digest);
	struct ks_span run = parts->run.record.spec;
	enum ks_status status;

	say_header(c, parts, member);
	if (member != NULL && !member->is_eligible)
		member = NULL;
	say_measured(c, parts, group, member);
	say_identity(c, parts);
	say_correctness(&c->draft, run);
	ks_draft_section(&c->draft, "Workload");
	ks_page_workload(&c->draft, &parts->workload);
	ks_draft_section(&c->draft, "Measurements");
	status = ks_page_measurements(&c->draft, run, false, err);
	if (status != KS_OK)
		return status;
	ks_draft_section(&c->draft, "Protocol");
	ks_page_protocol(&c->draft, &parts->protocol);
	ks_draft_section(&c->draft, "Environment");
	ks_page_environment(&c->draft, &parts->environment);
	say_artifacts(c, run);
	status = say_replications(c, err);
	if (status == KS_OK) {
		ks_page_history(c);
		status = ks_page_manifest(c, err);
	}
	if (status == KS_OK)
		say_footer(c, parts);
	return status;
}

/* Its rank and evidence are by its row. */
static enum ks_status
check_row(struct ks_composing *c, const struct ks_id *digest,
	struct ks_error *err)
{
	struct ks_reader *checker;
	struct ks_span run;
	enum ks_status status = ks_group_checker(c->store, &checker, err);

	if (status == KS_OK)
		status = ks_group_check(c->store, checker, digest, &run,
			err);
	ks_reader_free(checker);
	return status;
}

enum ks_status
ks_page_run(struct ks_composing *c, struct ks_run_parts *parts,
	struct ks_error *err)
{
	struct ks_group group;
	enum ks_status status = KS_OK;

	memset(&group, 0, sizeof(group));
	if (parts->has_key)
		status = ks_group_read(c->store, &parts->key, &group,
			c->options->watch, err);
	if (status == KS_OK && parts->has_key)
		status = check_row(c, &parts->run.digest, err);
	if (status == KS_OK)
		status = say_all(c, parts, &group, err);
	ks_group_release(&group);
	return status;
}
