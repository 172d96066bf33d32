#include "cli/cmd.h"
#include "cli/mirror.h"
#include "cli/opt.h"
#include "cli/trust.h"

enum ks_status
ks_cmd_mirror_update(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	const struct ks_opt options[] = {
		KS_TRUST_OPTIONS(&trust),
	};
	struct ks_mirror_options mirror = { .trust = &trust.options };
	struct ks_mirror_result result;
	enum ks_status status;

	cli->examples = "  kistore -C records.git mirror update\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_cli_write_options(cli, &mirror.write, err);
	if (status == KS_OK)
		status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK)
		status = ks_mirror_update(ks_cli_mirror_directory(cli),
			&mirror, &result, err);
	if (status == KS_OK) {
		cli->changed = result.changed;
		status = ks_cli_mirror_tell(cli, "mirror-update", &result,
			err);
	}
	ks_cli_trust_release(&trust);
	return status;
}
