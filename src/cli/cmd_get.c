#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"

struct form {
	bool manifest, bundle, page;
};

static enum ks_status
choose_form(const struct form *form, enum ks_get_form *out,
	struct ks_error *err)
{
	*out = KS_GET_BODY;
	if (form->manifest + form->bundle + form->page > 1)
		return ks_fail(err, KS_USAGE, "only one of --manifest, "
			"--bundle and --page can be printed");
	*out = form->manifest ? KS_GET_MANIFEST :
		form->bundle ? KS_GET_BUNDLE :
		form->page ? KS_GET_PAGE : KS_GET_BODY;
	return KS_OK;
}

/* Nothing is printed before all of it was read and hashed. */
static enum ks_status
print_object(struct ks_cli *cli, struct ks_store *store,
	enum ks_get_form form, struct ks_error *err)
{
	const char *reference = cli->operands[0];
	struct ks_buf text = KS_BUF_INIT;
	struct ks_ref ref = KS_REF_INIT;
	enum ks_status status = ks_ref_find(cli, store, reference, &ref, err);

	if (status == KS_OK)
		status = ks_get(store, &ref.digest, form, &text, err);
	if (status == KS_OK) {
		ks_out_lines(ks_buf_span(&text));
		ks_ref_note_marks(cli, reference, &ref);
	}
	ks_buf_release(&text);
	return status;
}

enum ks_status
ks_cmd_get(struct ks_cli *cli, struct ks_error *err)
{
	struct form form = { .page = false };
	const struct ks_opt options[] = {
		KS_FLAG(0, "manifest", &form.manifest,
			"with its metadata, canonical"),
		KS_FLAG(0, "bundle", &form.bundle,
			"with all that it refers to, one JSON object"),
		KS_FLAG(0, "page", &form.page,
			"a run's manifest as KernelIndex shows it"),
	};
	enum ks_get_form chosen;
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore get c3252a98 | sha256sum\n"
		"  kistore get --manifest c3252a98 | jq .metadata.title\n"
		"  kistore get --at 2026-08-17 c3252a98\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = choose_form(&form, &chosen, err);
	if (status == KS_OK)
		status = ks_cli_open_view(cli, &store, err);
	if (status != KS_OK)
		return status;
	status = print_object(cli, store, chosen, err);
	ks_store_close(store);
	return status;
}
