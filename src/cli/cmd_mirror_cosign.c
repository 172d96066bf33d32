#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/mirror.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/secret.h"
#include "cli/trust.h"

static enum ks_status
print_json(const struct ks_mirror_cosigned *result, struct ks_span note,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("mirror-cosign");
	char time[KS_CLI_TIME];

	ks_cli_time(result->time, time);
	ks_doc_integer(doc, "size", (int64_t)result->size);
	ks_doc_digest(doc, "root", &result->root);
	ks_doc_text(doc, "time", time);
	ks_doc_bool(doc, "new", result->is_new);
	ks_doc_text(doc, "cosigner", result->vkey);
	ks_doc_span(doc, "note", note);
	return ks_doc_write(doc, err);
}

static enum ks_status
run(struct ks_cli *cli, const struct ks_signer *signer,
	const struct ks_mirror_options *options, struct ks_error *err)
{
	struct ks_mirror_cosigned result;
	struct ks_buf note = KS_BUF_INIT;
	char time[KS_CLI_TIME];
	enum ks_status status = ks_mirror_cosign(ks_cli_mirror_directory(cli),
		signer, options, &note, &result, err);

	if (status == KS_OK) {
		cli->changed = result.is_new;
		ks_cli_time(result.time, time);
		ks_out_note(cli, "%s %" PRIu64 " entries at %s; the log takes "
			"the line in with: kistore snapshot add-cosignature "
			"--key '%s'", result.is_new ? "cosigned" :
			"had cosigned", result.size, time, result.vkey);
		if (cli->json)
			status = print_json(&result, ks_buf_span(&note), err);
		else
			ks_out_bytes(ks_buf_span(&note));
	}
	ks_buf_release(&note);
	return status;
}

enum ks_status
ks_cmd_mirror_cosign(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	struct ks_secret secret = { .file = NULL };
	struct ks_signer *signer = NULL;
	const char *key = NULL;
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "key", "FILE", &key, "the mirror's private "
			"key, used for nothing else (see key generate)"),
		KS_SECRET_OPTIONS(&secret),
		KS_TEXT(0, "policy", "FILE", &trust.policy,
			"trust as this tlog-policy file says, not as pinned"),
	};
	struct ks_mirror_options mirror = { .trust = &trust.options };
	enum ks_status status = ks_secret_arguments(cli, err);

	cli->examples = "  kistore -C records.git mirror cosign --key "
		"mirror.key > cosigned.txt\n";
	if (status != KS_OK || !ks_opt_parse(cli, options, KS_COUNT(options),
		&status, err))
		return status;
	status = ks_cli_write_options(cli, &mirror.write, err);
	if (status == KS_OK)
		status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK)
		status = ks_secret_signer(cli, key, &secret, &signer, err);
	if (status == KS_OK)
		status = run(cli, signer, &mirror, err);
	ks_signer_free(signer);
	ks_cli_trust_release(&trust);
	return status;
}
