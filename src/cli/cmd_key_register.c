#include <inttypes.h>

#include "cli/opt.h"
#include "cli/out.h"
#include "cli/secret.h"
#include "cli/trust.h"

static enum ks_status
print_json(const struct ks_key_change *change, bool revoke,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("key-change");

	ks_doc_integer(doc, "entry", (int64_t)change->entry);
	ks_doc_text(doc, "role", revoke ? "revoked" : "controlled");
	ks_doc_text(doc, "key", change->vkey);
	ks_doc_bool(doc, "changed", change->changed);
	return ks_doc_write(doc, err);
}

static enum ks_status
print(struct ks_cli *cli, const struct ks_key_change *change, bool revoke,
	struct ks_error *err)
{
	if (!change->changed)
		ks_out_note(cli, "that key is registered already: nothing "
			"was written");
	if (cli->json)
		return print_json(change, revoke, err);
	ks_out_printf("%" PRIu64 " ", change->entry);
	ks_out_text(ks_span_text(change->vkey));
	ks_out_printf("\n");
	return KS_OK;
}

static enum ks_status
change_store(struct ks_cli *cli, struct ks_span text, bool revoke,
	struct ks_key_change *change, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_write_options options;
	enum ks_status status = ks_cli_write_options(cli, &options, err);

	if (status == KS_OK)
		status = ks_cli_open(cli, NULL, &store, err);
	if (status == KS_OK)
		status = ks_key_register(store, text, revoke, &options, change,
			err);
	ks_store_close(store);
	return status;
}

enum ks_status
ks_cmd_key_register(struct ks_cli *cli, struct ks_error *err)
{
	bool revoke = false;
	const struct ks_opt options[] = {
		KS_FLAG(0, "revoke", &revoke,
			"end the registration of this key"),
	};
	struct ks_buf text = KS_BUF_INIT;
	struct ks_key_change change;
	enum ks_status status = ks_secret_arguments(cli, err);

	cli->examples = "  kistore key register runner.pub\n";
	if (status != KS_OK || !ks_opt_parse(cli, options, KS_COUNT(options),
		&status, err))
		return status;
	status = ks_cli_key_text(cli->operands[0], &text, err);
	if (status == KS_OK)
		status = change_store(cli, ks_buf_span(&text), revoke, &change,
			err);
	/* Somebody may have named the private half. */
	ks_buf_wipe(&text);
	if (status != KS_OK)
		return status;
	cli->changed = change.changed;
	return print(cli, &change, revoke, err);
}
