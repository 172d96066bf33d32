#include "cli/snapfile.h"

#include <inttypes.h>

#include "cli/out.h"
#include "cli/trust.h"

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void
ks_cli_snapfile_text(const struct ks_snapshot_file *file, struct ks_buf *out)
{
	char shown[512], digest[KS_ID_TEXT + 1];

	ks_buf_printf(out, "snapshot of %" PRIu64 " entr%s of %s, root %s\n",
		file->size, file->size == 1 ? "y" : "ies",
		ks_printable(shown, sizeof(shown), ks_span_text(file->origin)),
		ks_id_print(&file->root, digest));
	if (file->from > 0)
		ks_buf_printf(out, "continues the snapshot of %" PRIu64
			" entr%s\n", file->from,
			file->from == 1 ? "y" : "ies");
	ks_buf_printf(out, "%" PRIu64 " object%s, %" PRIu64 " byte%s\n",
		file->objects, plural(file->objects), file->object_bytes,
		plural(file->object_bytes));
	ks_buf_printf(out, "tar %s, %" PRIu64 " bytes\n",
		ks_id_print(&file->tar, digest), file->tar_bytes);
}

void
ks_cli_snapfile_doc(struct ks_doc *doc, const struct ks_snapshot_file *file)
{
	ks_doc_text(doc, "origin", file->origin);
	ks_doc_integer(doc, "from", (int64_t)file->from);
	ks_doc_integer(doc, "size", (int64_t)file->size);
	ks_doc_digest(doc, "root", &file->root);
	ks_doc_text(doc, "signer", file->signer);
	ks_doc_integer(doc, "objects", (int64_t)file->objects);
	ks_doc_integer(doc, "objectBytes", (int64_t)file->object_bytes);
	ks_doc_digest(doc, "tar", &file->tar);
	ks_doc_integer(doc, "tarBytes", (int64_t)file->tar_bytes);
}

void
ks_cli_snapfile_print(const struct ks_file_result *result)
{
	struct ks_buf text = KS_BUF_INIT;

	ks_cli_snapfile_text(&result->file, &text);
	ks_out_printf("%s", ks_buf_cstr(&text));
	ks_buf_release(&text);
	ks_cli_print_signature(&result->signature);
	if (result->unsupported > 0)
		ks_out_printf("unsupported: %" PRIu64 " entr%s a newer "
			"kistore\n", result->unsupported,
			result->unsupported == 1 ? "y needs" : "ies need");
	if (result->warnings > 0)
		ks_out_printf("warnings: %" PRIu64 "\n", result->warnings);
	if (result->not_checked[0] != '\0')
		ks_out_printf("%s\n", result->not_checked);
}

void
ks_cli_snapfile_doc_result(struct ks_doc *doc,
	const struct ks_file_result *result)
{
	ks_cli_snapfile_doc(doc, &result->file);
	ks_cli_doc_signature(doc, &result->signature);
	ks_doc_integer(doc, "unsupported", (int64_t)result->unsupported);
	ks_doc_integer(doc, "warnings", (int64_t)result->warnings);
	ks_doc_text(doc, "notChecked", result->not_checked);
}

const char *
ks_cli_temporary(void)
{
	return ks_cli_environment("TMPDIR");
}
