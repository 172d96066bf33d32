#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/in.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/trust.h"

#define NOTE_MAX 1000000

static enum ks_status
print_receipt(struct ks_cli *cli, uint64_t size, uint64_t added,
	struct ks_error *err)
{
	struct ks_doc *doc;

	cli->changed = added > 0;
	if (!cli->json && added == 0) {
		ks_out_printf("nothing new: the note of %" PRIu64 " entries "
			"has these keys' lines already\n", size);
		return KS_OK;
	}
	if (!cli->json) {
		ks_out_printf("the note of %" PRIu64 " entries has %" PRIu64
			" line%s more or renewed\n", size, added,
			added == 1 ? "" : "s");
		return KS_OK;
	}
	doc = ks_doc_new("snapshot-cosignature");
	ks_doc_integer(doc, "size", (int64_t)size);
	ks_doc_integer(doc, "added", (int64_t)added);
	return ks_doc_write(doc, err);
}

static enum ks_status
add(struct ks_cli *cli, const struct ks_trust_options *trust,
	struct ks_span text, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_write_options write;
	uint64_t size = 0, added = 0;
	enum ks_status status = ks_cli_write_options(cli, &write, err);

	if (status == KS_OK)
		status = ks_cli_open(cli, NULL, &store, err);
	if (status == KS_OK)
		status = ks_snapshot_add_cosignature(store, text, trust,
			&write, &size, &added, err);
	if (status == KS_OK)
		status = print_receipt(cli, size, added, err);
	ks_store_close(store);
	return status;
}

enum ks_status
ks_cmd_snapshot_cosign(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	struct ks_buf text = KS_BUF_INIT;
	const struct ks_opt options[] = {
		KS_LIST(0, "key", "VKEY", &trust.keys,
			"a cosigner whose line is taken"),
		KS_TEXT(0, "policy", "FILE", &trust.policy,
			"the witnesses of this tlog-policy file are"),
	};
	enum ks_status status;

	cli->examples = "  kistore snapshot add-cosignature --policy "
		"witnesses.policy lines.txt\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK)
		status = ks_in_read(cli->operands[0], NOTE_MAX, &text, err);
	if (status == KS_OK)
		status = add(cli, &trust.options, ks_buf_span(&text), err);
	ks_buf_release(&text);
	ks_cli_trust_release(&trust);
	return status;
}
