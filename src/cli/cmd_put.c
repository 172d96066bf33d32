#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/in.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/receipt.h"

/* The longest --source and --provenance that are read. */
#define SOURCE_MAX (1 << 20)
#define PROVENANCE_MAX (256 << 20)

/* What the options that name files hold. */
struct texts {
	const char *source, *provenance;	/* NULL = not given */
	struct ks_buf source_text, provenance_text;
};

/* ---- Input -------------------------------------------------------------- */

static enum ks_status
check_stdin(const struct ks_cli *cli, const struct texts *texts,
	struct ks_error *err)
{
	return ks_in_once(cli->operands, cli->operand_count,
		(unsigned)ks_in_is_stdin(texts->source) +
		(unsigned)ks_in_is_stdin(texts->provenance), err);
}

static enum ks_status
read_text(const char *path, uint64_t limit, struct ks_buf *out,
	struct ks_error *err)
{
	enum ks_status status;

	if (path == NULL)
		return KS_OK;
	status = ks_in_read(path, limit, out, err);
	if (status == KS_OK && out->len == 0)
		return ks_fail(err, KS_INVALID, "%s: is empty",
			ks_in_name(path));
	return status;
}

static enum ks_status
read_texts(struct texts *texts, struct ks_put_options *options,
	struct ks_error *err)
{
	enum ks_status status = read_text(texts->source, SOURCE_MAX,
		&texts->source_text, err);

	if (status == KS_OK)
		status = read_text(texts->provenance, PROVENANCE_MAX,
			&texts->provenance_text, err);
	options->source = ks_buf_span(&texts->source_text);
	options->provenance = ks_buf_span(&texts->provenance_text);
	return status;
}

/* ---- Output ------------------------------------------------------------- */

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* "N THINGs TEXT", where there are any. */
static void
note_count(struct ks_cli *cli, uint64_t count, const char *what,
	const char *text)
{
	if (count > 0)
		ks_out_note(cli, "%" PRIu64 " %s%s %s", count, what,
			plural(count), text);
}

static void
note_input(struct ks_cli *cli, const struct ks_put_options *options,
	const struct ks_put_result *result)
{
	note_count(cli, result->unknown_rows, "row",
		"of tables that are not known: skipped");
	note_count(cli, result->skipped_taken_down, "object",
		"taken down before: skipped");
	note_count(cli, result->missing, "reference",
		"left open: what they name is not here");
	if (options->annotate)
		return;
	note_count(cli, result->other_metadata, "known object",
		"came with other metadata (--annotate records it)");
	note_count(cli, result->other_provenance, "known object",
		"came with other provenance (--annotate records it)");
}

static void
note_entries(struct ks_cli *cli, const struct ks_put_result *result,
	bool dry_run)
{
	if (result->entries == 0)
		ks_out_note(cli, "nothing to write; the log has %" PRIu64
			" entr%s", result->size,
			result->size == 1 ? "y" : "ies");
	else
		ks_out_note(cli, "%s%" PRIu64 " entr%s; the log %s %" PRIu64,
			dry_run ? "dry run, nothing written: would add " :
			"added ", result->entries,
			result->entries == 1 ? "y" : "ies",
			dry_run ? "would have" : "has", result->size);
}

static enum ks_status
print_receipt(struct ks_cli *cli, struct ks_receipt *receipt,
	const struct ks_put_options *options,
	const struct ks_put_result *result, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	note_input(cli, options, result);
	if (cli->json)
		status = ks_receipt_print_json(receipt, result,
			options->dry_run, err);
	else
		ks_receipt_print(receipt);
	if (result->dictionary_trained)
		ks_out_note(cli, "trained a dictionary, which later puts use "
			"too");
	note_entries(cli, result, options->dry_run);
	if (result->advise_gc)
		ks_out_note(cli, "there are many packs: run kistore gc");
	return status;
}

/* ---- The command -------------------------------------------------------- */

static enum ks_status
put(struct ks_cli *cli, struct ks_receipt *receipt,
	const struct ks_put_options *options, struct ks_error *err)
{
	struct ks_put_result result;
	struct ks_store *store = NULL;
	enum ks_status status = ks_cli_open(cli, NULL, &store, err);

	if (status != KS_OK)
		return status;
	status = ks_put(store, cli->operands, cli->operand_count, options,
		ks_receipt_add, receipt, &result, err);
	ks_store_close(store);
	if (status != KS_OK)
		return status;
	cli->changed = result.commit[0] != '\0';
	return print_receipt(cli, receipt, options, &result, err);
}

static enum ks_status
read_and_put(struct ks_cli *cli, struct texts *texts,
	struct ks_put_options *options, struct ks_error *err)
{
	struct ks_receipt *receipt;
	enum ks_status status = check_stdin(cli, texts, err);

	if (status == KS_OK)
		status = ks_cli_write_options(cli, &options->write, err);
	if (status == KS_OK)
		status = read_texts(texts, options, err);
	if (status != KS_OK)
		return status;
	receipt = ks_receipt_new();
	if (receipt == NULL)
		return ks_fail_nomem(err);
	status = put(cli, receipt, options, err);
	ks_receipt_free(receipt);
	return status;
}

enum ks_status
ks_cmd_put(struct ks_cli *cli, struct ks_error *err)
{
	struct texts texts = { .source = NULL };
	struct ks_put_options put_options = { .dry_run = false };
	const struct ks_opt options[] = {
		KS_TEXT(0, "source", "FILE", &texts.source,
			"a Source, the source of every new run"),
		KS_TEXT(0, "provenance", "FILE", &texts.provenance,
			"a JSON object from digest to provenance"),
		KS_FLAG(0, "allow-missing", &put_options.allow_missing,
			"leave references open that name nothing here"),
		KS_FLAG(0, "allow-unknown-kind",
			&put_options.intake.allow_unknown_kind,
			"take manifests of kinds that are not known"),
		KS_FLAG(0, "annotate", &put_options.annotate,
			"record other metadata of what is known"),
		KS_FLAG(0, "strict", &put_options.intake.strict,
			"refuse members that are not known"),
		KS_FLAG(0, "dry-run", &put_options.dry_run,
			"say what would be done, and do nothing"),
	};
	enum ks_status status;

	cli->examples = "  kistore put run.json\n"
		"  kistore put --allow-missing dossier.json\n"
		"  kistore put --source source.json records/\n"
		"  zstdcat catalogue.jsonl.zst | kistore put --dry-run -\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = read_and_put(cli, &texts, &put_options, err);
	ks_buf_release(&texts.source_text);
	ks_buf_release(&texts.provenance_text);
	return status;
}
