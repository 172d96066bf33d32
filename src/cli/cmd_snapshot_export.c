#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/outfile.h"
#include "cli/snapfile.h"

/* ---- What is said of it --------------------------------------------- */

static enum ks_status
print_json(const struct ks_outfile *output,
	const struct ks_snapshot_file *file, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("snapshot-export");

	ks_doc_text(doc, "file", output->path);
	ks_cli_snapfile_doc(doc, file);
	return ks_doc_write(doc, err);
}

/* Where the file itself went to standard output, what is said of it does
 * not. */
static void
print_text(struct ks_cli *cli, const struct ks_outfile *output,
	const struct ks_snapshot_file *file)
{
	struct ks_buf text = KS_BUF_INIT;
	const char *line, *end;

	ks_cli_snapfile_text(file, &text);
	line = ks_buf_cstr(&text);
	if (output->path != NULL)
		ks_out_printf("%s", line);
	else
		for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
			ks_out_note(cli, "%.*s", (int)(end - line), line);
	ks_buf_release(&text);
}

/* ---- The command ---------------------------------------------------- */

static enum ks_status
run(struct ks_cli *cli, struct ks_outfile *output,
	const struct ks_export_options *options, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_snapshot_file file;
	enum ks_status status = ks_cli_open(cli, NULL, &store, err);

	if (status == KS_OK)
		status = ks_outfile_open(output, err);
	if (status == KS_OK)
		status = ks_snapshot_export(store, options, ks_outfile_write,
			output, &file, err);
	status = ks_outfile_close(output, status, err);
	ks_store_close(store);
	if (status != KS_OK)
		return status;
	if (cli->json)
		return print_json(output, &file, err);
	print_text(cli, output, &file);
	return KS_OK;
}

enum ks_status
ks_cmd_snapshot_export(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_outfile output = KS_OUTFILE_INIT;
	struct ks_export_options export = { .watch = &cli->watch };
	int64_t from = 0, size = 0;
	const struct ks_opt options[] = {
		KS_TEXT('o', NULL, "FILE", &output.path,
			"where it goes (-: standard output)"),
		KS_NUMBER(0, "from", "SIZE", &from, 1, INT64_MAX,
			"only what follows this earlier snapshot"),
	};
	enum ks_status status;

	cli->examples = "  kistore snapshot export -o records.kistore\n"
		"  kistore snapshot export --from 246 -o more.kistore\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	if (output.path != NULL && strcmp(output.path, "-") == 0)
		output.path = NULL;
	if (cli->json && output.path == NULL)
		return ks_fail(err, KS_USAGE, "--json needs -o FILE: the "
			"file itself goes to standard output");
	if (cli->operand_count > 0 && !ks_opt_number(cli->operands[0], 1,
		INT64_MAX, &size))
		return ks_fail(err, KS_USAGE, "SIZE is how many entries a "
			"snapshot has, not '%s'", cli->operands[0]);
	export.size = (uint64_t)size;
	export.from = (uint64_t)from;
	return run(cli, &output, &export, err);
}
