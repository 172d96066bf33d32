#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

struct list {
	bool json;
	enum ks_status printed;
};

static void
print_snapshot(void *arg, const struct ks_snapshot_info *info)
{
	struct list *list = arg;
	char root[KS_ID_TEXT + 1];
	struct ks_doc *doc;

	if (!list->json) {
		ks_out_printf("%" PRIu64 " %s %s %" PRIu64 " ", info->size,
			ks_id_print(&info->root, root), info->at[0] == '\0' ?
			"-" : info->at, info->signatures);
		ks_out_field(info->origin);
		ks_out_printf("\n");
		return;
	}
	doc = ks_doc_new("snapshot");
	ks_doc_integer(doc, "size", (int64_t)info->size);
	ks_doc_digest(doc, "root", &info->root);
	if (info->at[0] == '\0')
		ks_doc_null(doc, "at");
	else
		ks_doc_text(doc, "at", info->at);
	ks_doc_text(doc, "origin", info->origin);
	ks_doc_integer(doc, "signatures", (int64_t)info->signatures);
	ks_doc_span(doc, "note", info->note);
	list->printed = ks_cli_worse(list->printed, ks_doc_write(doc, NULL));
}

enum ks_status
ks_cmd_snapshot_list(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct list list = { .printed = KS_OK };
	enum ks_status status;

	cli->examples = "  kistore snapshot list\n";
	if (!ks_opt_parse(cli, NULL, 0, &status, err))
		return status;
	list.json = cli->json;
	status = ks_cli_open_view(cli, &store, err);
	if (status == KS_OK)
		status = ks_snapshot_list(store, print_snapshot, &list, err);
	if (status == KS_OK && list.printed != KS_OK)
		status = ks_fail(err, list.printed, "out of memory");
	ks_store_close(store);
	return status;
}
