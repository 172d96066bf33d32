#include "cli/change.h"

#include <inttypes.h>

#include "cli/out.h"
#include "cli/ref.h"

enum ks_status
ks_change_begin(struct ks_change *change, struct ks_cli *cli,
	struct ks_error *err)
{
	struct ks_ref ref = KS_REF_INIT;
	enum ks_status status = ks_cli_write_options(cli, &change->options,
		err);

	if (status == KS_OK)
		status = ks_cli_open(cli, NULL, &change->store, err);
	if (status == KS_OK)
		status = ks_ref_find(cli, change->store, cli->operands[0],
			&ref, err);
	change->digest = ref.digest;
	return status;
}

static enum ks_status
print_json(const char *op, const struct ks_id *digest, uint64_t index,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("change");

	ks_doc_integer(doc, "entry", (int64_t)index);
	ks_doc_text(doc, "op", op);
	ks_doc_digest(doc, "digest", digest);
	return ks_doc_write(doc, err);
}

/* The entry is the log's last one: the store reads what it has written. */
static enum ks_status
print_receipt(const struct ks_change *change, struct ks_cli *cli,
	const char *op, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	struct ks_log_info log;

	if (ks_log(change->store, &log, err) != KS_OK)
		return ks_context(err, "the store was changed, but");
	if (cli->json)
		return print_json(op, &change->digest, log.size - 1, err);
	ks_out_printf("%" PRIu64 " %s\n", log.size - 1,
		ks_id_print(&change->digest, text));
	return KS_OK;
}

enum ks_status
ks_change_end(struct ks_change *change, struct ks_cli *cli, const char *op,
	enum ks_status status, struct ks_error *err)
{
	if (status == KS_OK) {
		cli->changed = true;
		status = print_receipt(change, cli, op, err);
	}
	ks_store_close(change->store);
	change->store = NULL;
	return status;
}
