#include "cli/change.h"
#include "cli/opt.h"

enum ks_status
ks_cmd_retract(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_change change = KS_CHANGE_INIT;
	const char *reason = NULL;
	const char *when = NULL;
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "reason", "TEXT", &reason,
			"why it does not count any more"),
		KS_TEXT(0, "retracted-at", "TIME", &when,
			"when that was decided, where not now"),
	};
	enum ks_status status;

	cli->examples = "  kistore retract c3252a98"
		" --reason 'the timer included the warm-up'\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_change_begin(&change, cli, err);
	if (status == KS_OK)
		status = ks_retract(change.store, &change.digest, reason,
			when, &change.options, err);
	return ks_change_end(&change, cli, "retract", status, err);
}
