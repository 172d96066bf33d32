#include "cli/opt.h"
#include "cli/out.h"
#include "cli/out_key.h"
#include "cli/secret.h"
#include "cli/trust.h"

struct plan {
	const char *origin;
	bool cosigner;
	struct ks_secret secret;
	struct ks_key_info info;
};

static enum ks_status
describe(void *arg, struct ks_span text, struct ks_span passphrase,
	struct ks_error *err)
{
	struct plan *plan = arg;

	return ks_key_describe(text, passphrase, plan->origin, plan->cosigner,
		&plan->info, err);
}

static enum ks_status
look_at(struct ks_cli *cli, struct plan *plan, struct ks_error *err)
{
	const char *operand = cli->operands[0];
	bool open_to_others = false;
	enum ks_status status;

	if (ks_cli_is_key(operand))
		return describe(plan, ks_span_text(operand), ks_span(NULL, 0),
			err);
	status = ks_secret_key(operand, &plan->secret, describe, plan,
		&open_to_others, err);
	if (status == KS_OK && open_to_others && plan->info.is_private)
		ks_secret_warn(cli, operand);
	return status;
}

static enum ks_status
print(struct ks_cli *cli, const struct plan *plan, struct ks_error *err)
{
	if (plan->cosigner)
		ks_out_note(cli, "a key that makes cosignatures must be used "
			"for nothing else");
	if (cli->json)
		return ks_out_key_json(&plan->info, err);
	ks_out_text(ks_span_text(plan->info.vkey));
	ks_out_printf("\n");
	ks_out_text(ks_span_text(plan->info.ssh));
	ks_out_printf("\n%s", plan->info.pem);
	return KS_OK;
}

enum ks_status
ks_cmd_key_show(struct ks_cli *cli, struct ks_error *err)
{
	struct plan plan = { .origin = NULL };
	const struct ks_opt options[] = {
		KS_FLAG(0, "cosigner", &plan.cosigner,
			"as the key of a cosigner (type 04)"),
		KS_TEXT(0, "origin", "NAME", &plan.origin,
			"the name of a public key that carries none"),
		KS_SECRET_OPTIONS(&plan.secret),
	};
	enum ks_status status = ks_secret_arguments(cli, err);

	cli->examples = "  kistore key show records.key\n"
		"  kistore key show --origin example.org/records key.pub\n";
	if (status != KS_OK || !ks_opt_parse(cli, options, KS_COUNT(options),
		&status, err))
		return status;
	status = ks_secret_check(&plan.secret, cli->operands[0], err);
	if (status == KS_OK)
		status = look_at(cli, &plan, err);
	return status == KS_OK ? print(cli, &plan, err) : status;
}
