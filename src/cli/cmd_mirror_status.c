#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/mirror.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/trust.h"

static void
print_place(const struct ks_mirror_result *result)
{
	char time[KS_CLI_TIME];

	ks_out_printf("follows ");
	ks_out_field(result->url);
	ks_out_printf("\n");
	if (result->checked > 0) {
		ks_cli_time(result->checked, time);
		ks_out_printf("last asked at %s\n", time);
	}
	if (result->good > 0 && result->good != result->checked) {
		ks_cli_time(result->good, time);
		ks_out_printf("last good at %s\n", time);
	}
	if (result->fork[0] != '\0') {
		ks_out_printf("a fork was seen, and the evidence is to be "
			"published: ");
		ks_out_field(result->fork);
		ks_out_printf("\n");
	}
	if (result->cosignatures > 0)
		ks_out_printf("own cosignatures of the newest note: %" PRIu64
			"\n", result->cosignatures);
	if (result->interrupted)
		ks_out_printf("an update is under way, or was interrupted and "
			"the next goes on with it\n");
}

enum ks_status
ks_cmd_mirror_status(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_mirror_result result;
	enum ks_status status;

	cli->examples = "  kistore -C records.git mirror status\n";
	if (!ks_opt_parse(cli, NULL, 0, &status, err))
		return status;
	status = ks_mirror_status(ks_cli_mirror_directory(cli), &result, err);
	if (status != KS_OK)
		return status;
	if (!cli->json)
		print_place(&result);
	return ks_cli_mirror_tell(cli, "mirror-status", &result, err);
}
