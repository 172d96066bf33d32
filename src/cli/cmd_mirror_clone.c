#include "cli/cmd.h"
#include "cli/mirror.h"

enum ks_status
ks_cmd_mirror_clone(struct ks_cli *cli, struct ks_error *err)
{
	cli->examples = "  kistore mirror clone --key log.vkey "
		"https://example.org/log.git log.git\n";
	return ks_cli_mirror_follow(cli, true, err);
}
