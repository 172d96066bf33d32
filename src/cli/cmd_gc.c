#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

enum ks_status
ks_cmd_gc(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_write_options options;
	enum ks_status status;

	cli->examples = "  kistore -C data.git gc\n";
	if (!ks_opt_parse(cli, NULL, 0, &status, err))
		return status;
	status = ks_cli_write_options(cli, &options, err);
	if (status == KS_OK)
		status = ks_cli_open(cli, NULL, &store, err);
	if (status != KS_OK)
		return status;
	status = ks_gc(store, &options, err);
	ks_store_close(store);
	if (status == KS_OK)
		ks_out_detail(cli, "packed");
	return status;
}
