/*
 * Whatever a piece of input is taken to mean, what would be stored of it obeys
 * the rules of the store: bodies are records in normal form, provenance and
 * reasons are what a log line may carry.
 */
#include "format/entry.h"
#include "format/intake.h"
#include "format/json.h"
#include "format/record.h"
#include "../lib/fuzz.h"

static bool
ignore(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	(void)arg;
	require(level != KS_FINDING_ERROR && *path != '\0' && *message != '\0');
	return true;
}

static void
check_body(struct ks_jcs *jcs, struct ks_span body)
{
	struct ks_record record;
	struct ks_buf again = KS_BUF_INIT;
	bool changed = true;

	require(ks_record_is_body(jcs, body, &record));
	ks_record_body(&record, &again);
	require(ks_span_equal(ks_buf_span(&again), body));
	ks_buf_clear(&again);
	if (record.kind != NULL)
		require(ks_kind_normalise(record.kind, record.spec, &again,
			&changed, ignore, NULL, NULL) == KS_OK && !changed);
	ks_buf_release(&again);
}

static void
check_line_member(struct ks_jcs *jcs, struct ks_span value)
{
	struct ks_buf pruned = KS_BUF_INIT;

	require(ks_jcs_check(jcs, value, &ks_jcs_row, NULL) == KS_OK);
	require(ks_intake_prune(&pruned, value));
	require(ks_span_equal(ks_buf_span(&pruned), value));
	ks_buf_release(&pruned);
}

static enum ks_status
on_manifest(void *arg, const struct ks_intake_manifest *manifest,
	struct ks_error *err)
{
	static const struct ks_record_policy policy = {
		.allow_unknown_kind = true };
	struct ks_jcs *jcs = arg;
	struct ks_provenance provenance;
	struct ks_buf body = KS_BUF_INIT;
	struct ks_record record;
	struct ks_id digest;
	enum ks_status status;

	require(ks_jcs_check(jcs, manifest->text, &ks_jcs_manifest, NULL) ==
		KS_OK);
	status = ks_record_read(manifest->text, &policy, ignore, NULL, &record,
		&body, &digest, err);
	if (status == KS_OK)
		check_body(jcs, ks_buf_span(&body));
	else
		require(body.len == 0 && err->status == KS_INVALID);
	ks_buf_release(&body);
	if (manifest->provenance.len != 0) {
		check_line_member(jcs, manifest->provenance);
		require(ks_provenance_read(manifest->provenance,
			ks_span(NULL, 0), &provenance, NULL) == KS_OK);
	}
	if (manifest->reason.len != 0)
		check_line_member(jcs, manifest->reason);
	return KS_OK;
}

static enum ks_status
on_provenance(void *arg, const struct ks_id *digest, struct ks_span provenance,
	struct ks_error *err)
{
	(void)digest;
	(void)err;
	if (!ks_span_is(provenance, "{}"))
		check_line_member(arg, provenance);
	return KS_OK;
}

static void
check_value(struct ks_jcs *jcs, struct ks_span value)
{
	struct ks_intake_visitor visitor = { .arg = jcs,
		.manifest = on_manifest };
	struct ks_intake intake = KS_INTAKE_INIT;
	struct ks_buf source = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_intake_read(&intake, value, &visitor, &err) != KS_OK)
		require(err.status == KS_INVALID);
	if (ks_intake_provenance(&intake, value, on_provenance, jcs, &err) !=
		KS_OK)
		require(err.status == KS_INVALID);
	if (ks_intake_source(value, &source, &err) == KS_OK)
		require(ks_intake_is_manifest(ks_buf_span(&source)));
	ks_buf_release(&source);
	ks_intake_release(&intake);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ks_jcs *jcs;
	struct ks_buf value = KS_BUF_INIT;

	if (ks_jcs_new(&jcs, NULL) != KS_OK)
		return 0;
	if (ks_jcs_scan(jcs, ks_span(data, size), &ks_jcs_row, &value, NULL) ==
		KS_OK)
		check_value(jcs, ks_buf_span(&value));
	ks_buf_release(&value);
	ks_jcs_free(jcs);
	return 0;
}
