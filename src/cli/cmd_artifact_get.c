#include "cli/opt.h"
#include "cli/out.h"
#include "cli/outfile.h"
#include "cli/ref.h"

/* A whole digest may be of bytes that are only described, of which the log has
 * no entry. */
static enum ks_status
find(struct ks_cli *cli, struct ks_store *store, struct ks_ref *ref,
	struct ks_error *err)
{
	const char *operand = cli->operands[0];
	enum ks_status status;

	if (ks_id_parse_loose(&ref->digest, ks_span_text(operand)))
		return KS_OK;
	status = ks_ref_find(cli, store, operand, ref, err);
	if (status == KS_OK)
		ks_ref_note_marks(cli, operand, ref);
	return status;
}

static enum ks_status
get(struct ks_cli *cli, struct ks_outfile *out, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_ref ref = KS_REF_INIT;
	enum ks_status status = ks_cli_open_view(cli, &store, err);

	if (status == KS_OK)
		status = find(cli, store, &ref, err);
	if (status == KS_OK)
		status = ks_outfile_open(out, err);
	if (status == KS_OK)
		status = ks_artifact_get(store, &ref.digest, ks_outfile_write,
			out, err);
	status = ks_outfile_close(out, status, err);
	ks_store_close(store);
	return status;
}

enum ks_status
ks_cmd_artifact_get(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_outfile out = KS_OUTFILE_INIT;
	const struct ks_opt options[] = {
		KS_TEXT('o', NULL, "FILE", &out.path,
			"where it goes (-: standard output)"),
	};
	enum ks_status status;

	cli->examples = "  kistore artifact get c0535e4b -o run.log\n"
		"  kistore artifact get sha256:c0535e4b... | less\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	return get(cli, &out, err);
}
