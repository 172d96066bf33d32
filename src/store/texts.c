/*
 * What the library does with texts alone, without a store.
 */
#include "format/jcs.h"
#include "format/kind.h"
#include "kistore.h"
#include "store/gather.h"

enum ks_status
ks_canonicalise(struct ks_span text, struct ks_buf *out, struct ks_error *err)
{
	struct ks_jcs *jcs;
	enum ks_status status = ks_jcs_new(&jcs, err);

	if (status == KS_OK)
		status = ks_jcs_scan(jcs, text, &ks_jcs_rfc8785, out, err);
	ks_jcs_free(jcs);
	return status;
}

struct digesting {
	ks_digest_fn *visit;
	void *arg;
};

static enum ks_status
visit_manifest(void *arg, const struct ks_gathered *manifest,
	struct ks_error *err)
{
	struct digesting *digesting = arg;
	struct ks_buf kind = KS_BUF_INIT;
	enum ks_status status;

	ks_buf_append(&kind, manifest->full_kind);
	status = ks_buf_check(&kind, err);
	if (status == KS_OK)
		digesting->visit(digesting->arg, &manifest->digest,
			ks_buf_cstr(&kind));
	ks_buf_release(&kind);
	return status;
}

enum ks_status
ks_digest_file(const char *path, const struct ks_intake_policy *policy,
	ks_digest_fn *visit, void *arg, const struct ks_watch *watch,
	struct ks_error *err)
{
	struct digesting digesting = { .visit = visit, .arg = arg };
	struct ks_gather_sink sink = {
		.arg = &digesting, .manifest = visit_manifest
	};
	struct ks_gather_counts counts;

	return ks_gather(&path, 1, policy, &sink, &counts, watch, err);
}
