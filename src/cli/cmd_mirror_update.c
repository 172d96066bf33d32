#include "cli/cmd.h"
#include "cli/mirror.h"

enum ks_status
ks_cmd_mirror_update(struct ks_cli *cli, struct ks_error *err)
{
	cli->examples = "  kistore -C records.git mirror update\n";
	return ks_cli_mirror_follow(cli, false, err);
}
