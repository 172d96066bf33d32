#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/snapfile.h"
#include "cli/trust.h"

static enum ks_status
print_json(const struct ks_import_result *result, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("snapshot-import");

	ks_doc_bool(doc, "created", result->created);
	ks_doc_bool(doc, "changed", result->changed);
	if (result->commit[0] != '\0')
		ks_doc_text(doc, "commit", result->commit);
	else
		ks_doc_null(doc, "commit");
	ks_doc_bool(doc, "dictionaryTrained", result->dictionary_trained);
	ks_doc_integer(doc, "removed", (int64_t)result->removed);
	ks_doc_integer(doc, "redacted", (int64_t)result->redacted);
	ks_cli_snapfile_doc_result(doc, &result->checked);
	return ks_doc_write(doc, err);
}

static void
print_text(const struct ks_import_result *result)
{
	if (!result->changed)
		ks_out_printf("nothing to do: the store has these entries\n");
	else
		ks_out_printf("%s: commit %.12s\n", result->created ?
			"a new store" : "the store is continued",
			result->commit);
	if (result->removed + result->redacted > 0)
		ks_out_printf("taken down: %" PRIu64 " object%s removed, %"
			PRIu64 " line%s redacted\n", result->removed,
			result->removed == 1 ? "" : "s", result->redacted,
			result->redacted == 1 ? "" : "s");
	ks_cli_snapfile_print(&result->checked);
}

static enum ks_status
run(struct ks_cli *cli, const struct ks_import_options *options,
	struct ks_error *err)
{
	struct ks_import_result result;
	enum ks_status status = ks_snapshot_import(cli->operands[0],
		cli->operand_count > 1 ? cli->operands[1] : NULL, options,
		&result, err);

	if (status != KS_OK)
		return status;
	cli->changed = result.changed;
	if (result.checked.signature.status != KS_OK ||
		!result.checked.signature.asked)
		ks_out_note(cli, "unverified: nobody's word but the file's "
			"own stands for this log");
	if (cli->json)
		return print_json(&result, err);
	print_text(&result);
	return KS_OK;
}

enum ks_status
ks_cmd_snapshot_import(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_import_options import = { .unverified = false };
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	const struct ks_opt options[] = {
		KS_TRUST_OPTIONS(&trust),
		KS_FLAG(0, "unverified", &import.unverified,
			"take it without a key that is trusted"),
	};
	enum ks_status status;

	cli->examples = "  kistore snapshot import --key log.pub "
		"records.kistore records.git\n"
		"  kistore -C records.git snapshot import --key log.pub "
		"more.kistore\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	import.store = cli->directory != NULL ? cli->directory :
		ks_cli_environment("KISTORE_DIR");
	import.file.temporary = ks_cli_temporary();
	import.file.trust = &trust.options;
	status = ks_cli_write_options(cli, &import.write, err);
	if (status == KS_OK)
		status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK)
		status = run(cli, &import, err);
	ks_cli_trust_release(&trust);
	return status;
}
