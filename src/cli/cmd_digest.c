#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

static void
print_text(void *arg, const struct ks_id *digest, const char *kind)
{
	char text[KS_ID_TEXT + 1];

	(void)arg;
	ks_out_printf("%s %s\n", ks_id_print(digest, text), kind);
}

/* A document that cannot be made is reported by print_json()'s caller. */
static void
print_json(void *arg, const struct ks_id *digest, const char *kind)
{
	enum ks_status *status = arg;
	struct ks_doc *doc = ks_doc_new("digest");

	ks_doc_digest(doc, "digest", digest);
	ks_doc_text(doc, "kind", kind);
	*status = ks_cli_worse(*status, ks_doc_write(doc, NULL));
}

enum ks_status
ks_cmd_digest(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_intake_policy policy = { .strict = false };
	const struct ks_opt options[] = {
		KS_FLAG(0, "allow-unknown-kind", &policy.allow_unknown_kind,
			"take manifests of kinds that are not known"),
		KS_FLAG(0, "strict", &policy.strict,
			"refuse members that are not known"),
	};
	enum ks_status printed = KS_OK;
	enum ks_status status;
	size_t i;

	cli->examples = "  kistore digest run.json\n"
		"  kistore digest --json records.jsonl | jq -r .digest\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	for (i = 0; i < cli->operand_count && status == KS_OK; i++)
		status = ks_digest_file(cli->operands[i], &policy,
			cli->json ? print_json : print_text, &printed,
			&cli->watch, err);
	if (status == KS_OK && printed != KS_OK)
		return ks_fail(err, printed, "out of memory");
	return status;
}
