/*
 * What a run was: workload, measurements, protocol and environment, as its
 * page and comparisons show them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "format/measure.h"
#include "format/readout.h"
#include "store/page.h"

/* ---- workload ----------------------------------------------------------- */

/* "[1, 8, 2048, 256]" */
static void
append_list(struct ks_buf *out, struct ks_span list)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span element;
	const char *before = "[";

	while (ks_json_next_element(&it, &element)) {
		ks_buf_text(out, before);
		ks_draft_scalar(out, element);
		before = ", ";
	}
	ks_buf_text(out, before[0] == '[' ? "[]" : "]");
}

void
ks_page_tensor(struct ks_buf *out, struct ks_span tensor)
{
	struct ks_span strides = ks_json_get(tensor, "strides");
	struct ks_span align = ks_json_get(tensor, "alignmentBytes");

	ks_json_unescape(out, ks_json_get_raw(tensor, "dtype"));
	ks_buf_byte(out, ' ');
	append_list(out, ks_json_get(tensor, "shape"));
	if (strides.len > 0) {
		ks_buf_text(out, " strides ");
		append_list(out, strides);
	}
	if (align.len > 0) {
		ks_buf_text(out, " align ");
		ks_draft_scalar(out, align);
	}
}

/* A row a member, in jsonb order. */
static void
say_map(struct ks_draft *draft, struct ks_span map,
	void (*append)(struct ks_buf *out, struct ks_span value))
{
	struct ks_buf label = KS_BUF_INIT;
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(map, &members, &count)) {
		draft->failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		ks_buf_clear(&label);
		ks_json_unescape(&label, members[i].name);
		append(ks_draft_row_buf(draft, &label, KS_ROW_OBJECT),
			members[i].value);
	}
	free(members);
	ks_buf_release(&label);
}

/* Where a page says what is not here, instead. */
static bool
say_absent(struct ks_draft *draft, const struct ks_part *part)
{
	if (part->is_here)
		return false;
	ks_buf_text(ks_draft_part(draft, "", part, KS_ROW_TEXT),
		"not in this store");
	return true;
}

void
ks_page_workload(struct ks_draft *draft, const struct ks_part *workload)
{
	static const char *const tolerances[] = {
		"maxAbsoluteError", "maxRelativeError", "requiredMatchedRatio",
		"nanPolicy", "infinityPolicy"
	};
	struct ks_span spec = workload->record.spec;
	struct ks_span correctness = ks_json_get(spec, "correctness");
	char label[64];
	size_t i;

	if (say_absent(draft, workload))
		return;
	if (ks_part_is(workload, "WorkloadSuite")) {
		ks_draft_member(draft, "definition comparator", correctness,
			"comparator", KS_ROW_OBJECT);
		ks_draft_member(draft, "definition description", correctness,
			"description", KS_ROW_OBJECT);
		return;
	}
	say_map(draft, ks_json_get(spec, "axes"), ks_draft_scalar);
	say_map(draft, ks_json_get(spec, "tensors"), ks_page_tensor);
	ks_draft_member(draft, "definition comparator", correctness,
		"comparator", KS_ROW_OBJECT);
	for (i = 0; i < sizeof(tolerances) / sizeof(tolerances[0]); i++) {
		(void)snprintf(label, sizeof(label), "definition %s",
			tolerances[i]);
		ks_draft_member(draft, label, correctness, tolerances[i],
			KS_ROW_OBJECT);
	}
}

/* ---- measurements ------------------------------------------------------- */

static void
say_measurement(struct ks_draft *draft, const struct ks_measurement *m,
	bool exactly)
{
	struct ks_buf label = KS_BUF_INIT;
	struct ks_buf *value, *note;

	ks_json_unescape(&label, m->metric);
	ks_buf_text(&label, " · ");
	ks_json_unescape(&label, m->statistic);
	value = ks_draft_row_buf(draft, &label, KS_ROW_OBJECT);
	ks_readout_value(value, m->value, m->unit);
	if (m->samples > 0)
		ks_buf_printf(value, " · n=%lld", (long long)m->samples);
	ks_buf_release(&label);
	if (!exactly)
		return;
	note = ks_draft_note(draft);
	ks_readout_number(note, m->value);
	ks_buf_byte(note, ' ');
	ks_json_unescape(note, m->unit);
}

enum ks_status
ks_page_measurements(struct ks_draft *draft, struct ks_span run, bool exactly,
	struct ks_error *err)
{
	struct ks_measurement *rows;
	size_t count, i;
	enum ks_status status = ks_measure_list(run, &rows, &count, err);

	if (status != KS_OK)
		return status;
	if (count == 0)
		ks_draft_say(draft, "",
			"Only the primary measurement was published.");
	for (i = 0; i < count; i++)
		say_measurement(draft, &rows[i], exactly);
	free(rows);
	return KS_OK;
}

/* ---- protocol and environment ------------------------------------------- */

/* "name version" of a member that has both. */
static void
say_versioned(struct ks_draft *draft, const char *label,
	struct ks_span object)
{
	struct ks_span version = ks_json_get(object, "version");
	struct ks_buf *value;

	if (object.len == 0)
		return;
	value = ks_draft_row(draft, label, KS_ROW_OBJECT);
	ks_draft_scalar(value, ks_json_get(object, "name"));
	if (version.len > 0) {
		ks_buf_byte(value, ' ');
		ks_draft_scalar(value, version);
	}
}

/* Members under their own names. */
static void
say_members(struct ks_draft *draft, struct ks_span object,
	const char *const *members, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		ks_draft_member(draft, members[i], object, members[i],
			KS_ROW_OBJECT);
}

void
ks_page_protocol(struct ks_draft *draft, const struct ks_part *protocol)
{
	static const char *const members[] = {
		"timer", "synchronization", "compileIncluded",
		"warmupIterations", "measuredIterations", "samples",
		"inputRegeneration", "primaryStatistic", "outlierPolicy"
	};
	struct ks_span spec = protocol->record.spec;

	if (say_absent(draft, protocol))
		return;
	say_versioned(draft, "harness", ks_json_get(spec, "harness"));
	say_members(draft, ks_json_get(spec, "measurement"), members,
		sizeof(members) / sizeof(members[0]));
	ks_draft_member(draft, "correctnessReference", ks_json_get(spec,
		"correctness"), "reference", KS_ROW_OBJECT);
	ks_draft_member(draft, "comparabilityFamily", ks_json_get(spec,
		"comparability"), "family", KS_ROW_OBJECT);
}

static void
say_gpu(struct ks_draft *draft, struct ks_span hardware)
{
	struct ks_buf *value = ks_draft_row(draft, "gpu", KS_ROW_OBJECT);

	ks_draft_scalar(value, ks_json_get(hardware, "product"));
	ks_buf_text(value, " (");
	ks_draft_scalar(value, ks_json_get(hardware, "architecture"));
	ks_buf_byte(value, ')');
}

void
ks_page_environment(struct ks_draft *draft,
	const struct ks_part *environment)
{
	static const char *const system[] = {
		"operatingSystem", "driver", "cudaToolkit"
	};
	static const char *const settings[] = {
		"clocksLocked", "persistenceMode"
	};
	struct ks_span spec = environment->record.spec;
	struct ks_span hardware = ks_json_get(spec, "hardware");
	struct ks_span software = ks_json_get(spec, "software");

	if (say_absent(draft, environment))
		return;
	say_gpu(draft, hardware);
	ks_draft_member(draft, "gpuCount", hardware, "count", KS_ROW_OBJECT);
	ks_draft_member(draft, "memoryBytes", hardware, "memoryBytes",
		KS_ROW_OBJECT);
	say_members(draft, software, system,
		sizeof(system) / sizeof(system[0]));
	say_versioned(draft, "framework", ks_json_get(software, "framework"));
	ks_draft_member(draft, "compiler", software, "compiler",
		KS_ROW_OBJECT);
	say_members(draft, ks_json_get(spec, "settings"), settings,
		sizeof(settings) / sizeof(settings[0]));
	ks_draft_member(draft, "imageDigest", spec, "imageDigest",
		KS_ROW_OBJECT);
}
