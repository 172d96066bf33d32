#include "cli/change.h"
#include "cli/opt.h"

enum ks_status
ks_cmd_restore(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_change change = KS_CHANGE_INIT;
	const char *reason = NULL;
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "reason", "TEXT", &reason,
			"why it counts again"),
	};
	enum ks_status status;

	cli->examples =
		"  kistore restore c3252a98"
		" --reason 'measured again, same result'\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_change_begin(&change, cli, err);
	if (status == KS_OK)
		status = ks_restore(change.store, &change.digest, reason,
			&change.options, err);
	return ks_change_end(&change, cli, "restore", status, err);
}
