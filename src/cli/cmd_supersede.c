#include "cli/change.h"
#include "cli/opt.h"
#include "cli/ref.h"

enum ks_status
ks_cmd_supersede(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_change change = KS_CHANGE_INIT;
	struct ks_ref successor = KS_REF_INIT;
	const char *by = NULL;
	const char *reason = NULL;
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "by", "REF", &by,
			"the object that takes its place, of the same kind"),
		KS_TEXT(0, "reason", "TEXT", &reason, "why"),
	};
	enum ks_status status;

	cli->examples = "  kistore supersede c3252a98 --by 21df0b65\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_change_begin(&change, cli, err);
	if (status == KS_OK)
		status = ks_ref_find(cli, change.store, by, &successor, err);
	if (status == KS_OK)
		status = ks_supersede(change.store, &change.digest,
			&successor.digest, reason, &change.options, err);
	return ks_change_end(&change, cli, "supersede", status, err);
}
