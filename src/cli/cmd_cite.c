#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/outfile.h"
#include "cli/ref.h"

static enum ks_status
choose_format(const char *name, enum ks_cite_format *out, struct ks_error *err)
{
	static const char *const names[] = {
		[KS_CITE_TEXT] = "text", [KS_CITE_BIBTEX] = "bibtex",
		[KS_CITE_CSL_JSON] = "csl-json", [KS_CITE_RIS] = "ris"
	};
	size_t i;

	*out = KS_CITE_TEXT;
	for (i = 0; name != NULL && i < KS_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0) {
			*out = (enum ks_cite_format)i;
			return KS_OK;
		}
	return name == NULL ? KS_OK : ks_fail(err, KS_USAGE, "--format is "
		"text, bibtex, csl-json or ris, not '%s'", name);
}

static enum ks_status
write_file(struct ks_outfile *output, const struct ks_buf *file,
	struct ks_error *err)
{
	enum ks_status status = ks_outfile_open(output, err);

	if (status == KS_OK)
		status = ks_outfile_write(output, ks_buf_span(file), err);
	return ks_outfile_close(output, status, err);
}

/* The text goes to standard output, unless the file does. */
static enum ks_status
run(struct ks_cli *cli, struct ks_store *store,
	const struct ks_cite_options *options, const char *path,
	struct ks_error *err)
{
	struct ks_outfile output = KS_OUTFILE_INIT;
	struct ks_buf text = KS_BUF_INIT, file = KS_BUF_INIT;
	struct ks_ref ref = KS_REF_INIT;
	enum ks_status status = ks_ref_find(cli, store, cli->operands[0],
		&ref, err);

	output.path = path;
	if (status == KS_OK)
		status = ks_cite(store, &ref.digest, options, &text,
			path == NULL ? NULL : &file, err);
	if (status == KS_OK && path != NULL)
		status = write_file(&output, &file, err);
	if (status == KS_OK && (path == NULL || output.path != NULL))
		ks_out_lines(ks_buf_span(&text));
	if (status == KS_OK)
		ks_ref_note_marks(cli, cli->operands[0], &ref);
	ks_buf_release(&text);
	ks_buf_release(&file);
	return status;
}

enum ks_status
ks_cmd_cite(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_cite_options options = { .watch = &cli->watch };
	const char *format = NULL, *proof = NULL;
	const struct ks_opt table[] = {
		KS_TEXT(0, "format", "FORMAT", &format,
			"text (the default), bibtex, csl-json or ris"),
		KS_TEXT(0, "accessed", "DATE", &options.accessed,
			"the day that the citation names"),
		KS_TEXT(0, "proof", "FILE", &proof, "write a file that proves "
			"it, for kistore check (-: standard output)"),
	};
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore cite c3252a98\n"
		"  kistore cite --format bibtex c3252a98 >>paper.bib\n"
		"  kistore cite --proof c3252a98.citation c3252a98\n";
	if (!ks_opt_parse(cli, table, KS_COUNT(table), &status, err))
		return status;
	status = choose_format(format, &options.format, err);
	if (status == KS_OK)
		status = ks_cli_now(&options.now, err);
	if (status == KS_OK)
		status = ks_cli_open_view(cli, &store, err);
	if (status == KS_OK)
		status = run(cli, store, &options, proof, err);
	ks_store_close(store);
	return status;
}
