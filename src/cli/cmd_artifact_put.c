#include <inttypes.h>

#include "cli/in.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/receipt.h"

/* A description is asked for by what it is to say, too. */
static enum ks_status
complete(const struct ks_cli *cli, struct ks_artifact_options *options,
	struct ks_error *err)
{
	if (options->media_type != NULL || options->kind != NULL ||
		options->name != NULL || options->license != NULL ||
		options->uri != NULL)
		options->describe = true;
	if (cli->operand_count > 1 &&
		(options->name != NULL || options->uri != NULL))
		return ks_fail(err, KS_USAGE, "--name and --uri are of one "
			"file: put the files one by one");
	return ks_in_once(cli->operands, cli->operand_count, 0, err);
}

static void
note_result(struct ks_cli *cli, const struct ks_put_result *result)
{
	if (result->skipped_taken_down > 0)
		ks_out_note(cli, "%" PRIu64 " object%s taken down before: "
			"skipped", result->skipped_taken_down,
			result->skipped_taken_down == 1 ? "" : "s");
	if (result->entries == 0)
		ks_out_note(cli, "nothing to write; the log has %" PRIu64
			" entr%s", result->size,
			result->size == 1 ? "y" : "ies");
	else
		ks_out_note(cli, "added %" PRIu64 " entr%s; the log has %"
			PRIu64, result->entries,
			result->entries == 1 ? "y" : "ies", result->size);
	if (result->advise_gc)
		ks_out_note(cli, "there are many packs: run kistore gc");
}

static enum ks_status
put(struct ks_cli *cli, struct ks_receipt *receipt,
	const struct ks_artifact_options *options, struct ks_error *err)
{
	struct ks_put_result result;
	struct ks_store *store = NULL;
	enum ks_status status = ks_cli_open(cli, NULL, &store, err);

	if (status != KS_OK)
		return status;
	status = ks_artifact_put(store, cli->operands, cli->operand_count,
		options, ks_receipt_add, receipt, &result, err);
	ks_store_close(store);
	if (status != KS_OK)
		return status;
	cli->changed = result.commit[0] != '\0';
	if (cli->json)
		status = ks_receipt_print_json(receipt, &result, false, err);
	else
		ks_receipt_print(receipt);
	note_result(cli, &result);
	return status;
}

enum ks_status
ks_cmd_artifact_put(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_artifact_options artifact = { .describe = false };
	const struct ks_opt options[] = {
		KS_FLAG(0, "describe", &artifact.describe,
			"with a record that describes each file"),
		KS_TEXT(0, "media-type", "TYPE", &artifact.media_type,
			"what it says: application/octet-stream"),
		KS_TEXT(0, "kind", "TOKEN", &artifact.kind,
			"what it says: source, log, file"),
		KS_TEXT(0, "name", "NAME", &artifact.name,
			"what it says, in place of the file's name"),
		KS_TEXT(0, "license", "LICENSE", &artifact.license,
			"what it says"),
		KS_TEXT(0, "uri", "URI", &artifact.uri,
			"what it says: where the file is from"),
	};
	struct ks_receipt *receipt;
	enum ks_status status;

	cli->examples = "  kistore artifact put run.log\n"
		"  kistore artifact put --kind source "
		"--media-type text/x-python kernel.py\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = complete(cli, &artifact, err);
	if (status == KS_OK)
		status = ks_cli_write_options(cli, &artifact.write, err);
	if (status != KS_OK)
		return status;
	receipt = ks_receipt_new();
	if (receipt == NULL)
		return ks_fail_nomem(err);
	status = put(cli, receipt, &artifact, err);
	ks_receipt_free(receipt);
	return status;
}
