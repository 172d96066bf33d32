#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/snapfile.h"
#include "cli/trust.h"

#define THREADS_MAX 256

static enum ks_status
print_json(const struct ks_file_result *result, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("snapshot-verify");

	ks_cli_snapfile_doc_result(doc, result);
	return ks_doc_write(doc, err);
}

/* The summary has told of everything but that nobody is trusted. */
static enum ks_status
verdict(const struct ks_file_result *result, struct ks_error *err)
{
	enum ks_status status = result->signature.status;

	*err = (struct ks_error)KS_ERROR_INIT;
	if (!result->signature.asked)
		status = ks_fail(err, KS_UNTRUSTED, "no key is trusted: it is "
			"signed, as it says itself, by %s; give a key that "
			"you have from elsewhere (--key, --policy)",
			result->file.signer);
	return result->unsupported > 0 ? ks_cli_worse(status,
		KS_UNSUPPORTED) : status;
}

static enum ks_status
run(struct ks_cli *cli, const struct ks_file_options *options,
	struct ks_error *err)
{
	struct ks_file_result result;
	enum ks_status status = ks_snapshot_verify(cli->operands[0], options,
		&result, err);

	if (status == KS_OK && cli->json)
		status = print_json(&result, err);
	else if (status == KS_OK)
		ks_cli_snapfile_print(&result);
	return status == KS_OK ? verdict(&result, err) : status;
}

enum ks_status
ks_cmd_snapshot_verify(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_file_options file = { .temporary = ks_cli_temporary() };
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	int64_t threads = 0;
	const struct ks_opt options[] = {
		KS_NUMBER(0, "threads", "N", &threads, 0, THREADS_MAX,
			"how many to use (0: one a processor)"),
		KS_TRUST_OPTIONS(&trust),
	};
	enum ks_status status;

	cli->examples = "  kistore snapshot verify --key log.pub "
		"records.kistore\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	file.threads = (unsigned)threads;
	file.trust = &trust.options;
	file.watch = &cli->watch;
	status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK)
		status = run(cli, &file, err);
	ks_cli_trust_release(&trust);
	return status;
}
