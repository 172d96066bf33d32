#include "format/intake.h"

#include "base/word.h"
#include "format/bundle.h"
#include "format/dossier.h"
#include "format/entry.h"
#include "format/jcs.h"
#include "format/json.h"
#include "format/kind.h"
#include "format/record.h"
#include "format/row.h"

/* Arrays within arrays, and objects within provenance. The scanner bounds
 * both already (ks_jcs_row); this bounds the stack whatever it was asked. */
#define NESTING_MAX 68

/* A member name as a message shows it. */
#define SHOWN 96

void
ks_intake_release(struct ks_intake *intake)
{
	if (intake == NULL)
		return;
	ks_buf_release(&intake->manifest);
	ks_buf_release(&intake->provenance);
	ks_buf_release(&intake->reason);
	ks_buf_release(&intake->name);
}

bool
ks_intake_is_manifest(struct ks_span value)
{
	struct ks_span member;

	return ks_json_find(value, "apiVersion", &member) &&
		ks_json_find(value, "kind", &member);
}

/* Put the member's name in front of a refusal. */
static enum ks_status
in_member(enum ks_status status, struct ks_span name, struct ks_error *err)
{
	char shown[SHOWN];

	if (status != KS_OK)
		(void)ks_context(err, "%s",
			ks_printable(shown, sizeof(shown), name));
	return status;
}

/* Whether a text has so few brackets that it cannot nest too deep. True of
 * nearly every manifest, and sooner told than its depth. */
static bool
is_shallow(struct ks_span text)
{
	size_t brackets = text.len % KS_WORD_BYTES;

	for (size_t i = 0; i + KS_WORD_BYTES <= text.len; i += KS_WORD_BYTES) {
		/* '[' and '{' differ in one bit; false hits do no harm. */
		uint64_t hits = ks_word_equal(ks_word_load(text.data + i) |
			0x20 * KS_WORD_ONES, '{');

		for (; hits != 0; hits &= hits - 1)
			brackets++;
	}
	return brackets < ks_jcs_manifest.max_depth;
}

enum ks_status
ks_intake_emit(const struct ks_intake_visitor *visitor,
	const struct ks_intake_manifest *manifest, struct ks_error *err)
{
	if (manifest->text.len > ks_jcs_manifest.max_bytes)
		return ks_fail(err, KS_INVALID,
			"a manifest may have at most %zu bytes, not %zu",
			ks_jcs_manifest.max_bytes, manifest->text.len);
	if (!is_shallow(manifest->text) &&
		ks_json_depth(manifest->text) > ks_jcs_manifest.max_depth)
		return ks_fail(err, KS_INVALID,
			"a manifest may nest at most %zu levels deep",
			ks_jcs_manifest.max_depth);
	return visitor->manifest(visitor->arg, manifest, err);
}

enum ks_status
ks_intake_emit_member(const struct ks_intake_visitor *visitor,
	struct ks_span name, struct ks_span member, struct ks_error *err)
{
	struct ks_intake_manifest manifest = { .text = member, .main = true };

	if (ks_intake_is_manifest(member))
		return in_member(ks_intake_emit(visitor, &manifest, err), name,
			err);
	if (visitor->skipped != NULL)
		visitor->skipped(visitor->arg, KS_SKIP_MEMBER, name);
	return KS_OK;
}

static enum ks_status read_value(struct ks_intake *intake,
	struct ks_span value, const struct ks_intake_visitor *visitor,
	unsigned levels, struct ks_error *err);

static enum ks_status
read_array(struct ks_intake *intake, struct ks_span array,
	const struct ks_intake_visitor *visitor, unsigned levels,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(array);
	struct ks_span element;
	enum ks_status status;

	if (levels == 0)
		return ks_fail(err, KS_INVALID,
			"arrays nest more than %d levels deep", NESTING_MAX);
	for (size_t i = 0; ks_json_next_element(&it, &element); i++) {
		status = read_value(intake, element, visitor, levels - 1, err);
		if (status != KS_OK) {
			(void)ks_context(err, "element %zu", i);
			return status;
		}
	}
	return KS_OK;
}

static enum ks_status
read_value(struct ks_intake *intake, struct ks_span value,
	const struct ks_intake_visitor *visitor, unsigned levels,
	struct ks_error *err)
{
	struct ks_intake_manifest manifest = { .text = value, .main = true };
	bool is_row;
	enum ks_status status = ks_row_read(intake, value, &is_row, visitor,
		err);

	if (is_row && visitor->row != NULL)
		visitor->row(visitor->arg);
	if (is_row)
		return status;
	if (ks_intake_is_manifest(value))
		return ks_intake_emit(visitor, &manifest, err);
	if (ks_json_type(value) == KS_JSON_ARRAY)
		return read_array(intake, value, visitor, levels, err);
	if (ks_dossier_is(value))
		return ks_dossier_read(intake, value, visitor, err);
	if (ks_bundle_is(value))
		return ks_bundle_read(value, visitor, err);
	return ks_fail(err, KS_INVALID, "%s is no record: give a manifest "
		"(apiVersion, kind, metadata, spec), a catalogue row (table, "
		"row), an array of these, a run dossier (run, manifest), or "
		"an object of manifests",
		ks_json_type(value) == KS_JSON_OBJECT ? "this object" :
		ks_json_type_name(ks_json_type(value)));
}

enum ks_status
ks_intake_read(struct ks_intake *intake, struct ks_span value,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	return read_value(intake, value, visitor, NESTING_MAX, err);
}

enum ks_status
ks_intake_compare(const struct ks_intake_manifest *manifest,
	const struct ks_id *computed, struct ks_error *err)
{
	char stated[KS_ID_TEXT + 1], found[KS_ID_TEXT + 1];

	if (manifest->stated_column == NULL ||
		ks_id_equal(&manifest->stated, computed))
		return KS_OK;
	return ks_fail(err, KS_INVALID,
		"%s%s states %s, but the manifest's digest is %s",
		manifest->table == NULL ? "" : "column ",
		manifest->stated_column, ks_id_print(&manifest->stated, stated),
		ks_id_print(computed, found));
}

enum ks_status
ks_intake_source(struct ks_span value, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_record record;
	enum ks_status status;

	if (ks_json_type(value) != KS_JSON_OBJECT)
		return ks_fail(err, KS_INVALID, "a source must be a Source "
			"manifest or its spec, not %s",
			ks_json_type_name(ks_json_type(value)));
	if (!ks_intake_is_manifest(value)) {
		ks_buf_text(out, "{\"apiVersion\":\"" KS_API_KISTORE
			"\",\"kind\":\"Source\",\"spec\":");
		ks_buf_append(out, value);
		ks_buf_byte(out, '}');
		return ks_buf_check(out, err);
	}
	status = ks_record_split(value, &record, err);
	if (status != KS_OK)
		return status;
	if (!ks_span_is(record.api_version, KS_API_KISTORE) ||
		!ks_span_is(record.kind_name, "Source"))
		return ks_fail(err, KS_INVALID, "a source must be of kind "
			"Source and apiVersion " KS_API_KISTORE);
	ks_buf_append(out, value);
	return ks_buf_check(out, err);
}

static enum ks_status
prune_provenance(struct ks_buf *out, struct ks_span value,
	struct ks_error *err)
{
	ks_buf_clear(out);
	if (!ks_intake_prune(out, value))
		ks_buf_text(out, "{}");
	return ks_buf_check(out, err);
}

static enum ks_status
read_provenance(struct ks_intake *intake, struct ks_span name,
	struct ks_span value, ks_intake_provenance_fn *visit, void *arg,
	struct ks_error *err)
{
	struct ks_provenance unused;
	struct ks_span provenance;
	struct ks_id digest;

	if (!ks_id_parse(&digest, name))
		return ks_fail(err, KS_INVALID, "the name of a member must be "
			"a digest, sha256: and 64 lower-case hex digits");
	if (ks_json_type(value) != KS_JSON_OBJECT)
		return ks_fail(err, KS_INVALID,
			"provenance must be an object, not %s",
			ks_json_type_name(ks_json_type(value)));
	if (prune_provenance(&intake->provenance, value, err) != KS_OK)
		return KS_NOMEM;
	provenance = ks_buf_span(&intake->provenance);
	if (!ks_span_is(provenance, "{}") && ks_provenance_read(provenance,
		ks_span(NULL, 0), &unused, err) != KS_OK) {
		/* Given to be put, not stored: refused, not damaged. */
		if (err != NULL)
			err->status = KS_INVALID;
		return KS_INVALID;
	}
	return visit(arg, &digest, provenance, err);
}

enum ks_status
ks_intake_provenance(struct ks_intake *intake, struct ks_span map,
	ks_intake_provenance_fn *visit, void *arg, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(map);
	struct ks_span name, value;
	enum ks_status status = KS_OK;

	if (ks_json_type(map) != KS_JSON_OBJECT)
		return ks_fail(err, KS_INVALID, "must be an object from digest "
			"to provenance, not %s",
			ks_json_type_name(ks_json_type(map)));
	while (status == KS_OK && ks_json_next_member(&it, &name, &value))
		status = in_member(read_provenance(intake, name, value, visit,
			arg, err), name, err);
	return status;
}

static bool
prune(struct ks_buf *out, struct ks_span value, unsigned levels)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span name, member;
	size_t start = out->len;

	if (ks_span_is(value, "null") || ks_span_is(value, "[]"))
		return false;
	if (ks_json_type(value) != KS_JSON_OBJECT || levels == 0) {
		ks_buf_append(out, value);
		return true;
	}
	ks_buf_byte(out, '{');
	while (ks_json_next_member(&it, &name, &member)) {
		size_t before = out->len;

		if (before > start + 1)
			ks_buf_byte(out, ',');
		ks_buf_byte(out, '"');
		ks_buf_append(out, name);
		ks_buf_text(out, "\":");
		if (!prune(out, member, levels - 1))
			out->len = before;
	}
	if (out->len <= start + 1) {
		out->len = start;
		return false;
	}
	ks_buf_byte(out, '}');
	return true;
}

bool
ks_intake_prune(struct ks_buf *out, struct ks_span value)
{
	return prune(out, value, NESTING_MAX);
}
