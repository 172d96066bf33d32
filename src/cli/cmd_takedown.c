#include "cli/change.h"
#include "cli/opt.h"

enum ks_status
ks_cmd_takedown(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_change change = KS_CHANGE_INIT;
	const char *reason = NULL;
	bool lines = false;
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "reason", "TEXT", &reason,
			"the law or danger that demands it"),
		KS_FLAG(0, "lines", &lines,
			"take the text of its log entries too"),
	};
	enum ks_status status;

	cli->examples =
		"  kistore takedown c3252a98 --reason 'names a person'\n"
		"  kistore takedown c3252a98 --lines"
		" --reason 'so does its title'\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_change_begin(&change, cli, err);
	if (status == KS_OK)
		status = ks_takedown(change.store, &change.digest, reason,
			lines, &change.options, err);
	return ks_change_end(&change, cli, "takedown", status, err);
}
