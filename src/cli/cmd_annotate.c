#include "cli/change.h"
#include "cli/in.h"
#include "cli/opt.h"

/* What a log line could never hold is not read to its end. */
#define TEXT_MAX_BYTES (1 << 20)

struct texts {
	const char *metadata, *provenance;	/* files, or NULL */
	struct ks_buf metadata_text, provenance_text;
};

static enum ks_status
read_text(const char *path, struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status;

	if (path == NULL)
		return KS_OK;
	status = ks_in_read(path, TEXT_MAX_BYTES, out, err);
	if (status == KS_OK && out->len == 0)
		return ks_fail(err, KS_INVALID, "%s: is empty",
			ks_in_name(path));
	return status;
}

static enum ks_status
read_texts(struct texts *texts, struct ks_error *err)
{
	enum ks_status status;

	if (texts->metadata == NULL && texts->provenance == NULL)
		return ks_fail(err, KS_USAGE, "annotate needs --metadata "
			"FILE or --provenance FILE, or both");
	if (texts->metadata != NULL && texts->provenance != NULL &&
		strcmp(texts->metadata, "-") == 0 &&
		strcmp(texts->provenance, "-") == 0)
		return ks_fail(err, KS_USAGE,
			"standard input can be only one of them");
	status = read_text(texts->metadata, &texts->metadata_text, err);
	return status != KS_OK ? status : read_text(texts->provenance,
		&texts->provenance_text, err);
}

enum ks_status
ks_cmd_annotate(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_change change = KS_CHANGE_INIT;
	struct texts texts = { .metadata = NULL };
	const struct ks_opt options[] = {
		KS_TEXT(0, "metadata", "FILE", &texts.metadata,
			"a JSON object that replaces the metadata"),
		KS_TEXT(0, "provenance", "FILE", &texts.provenance,
			"a JSON object that replaces the provenance"),
	};
	enum ks_status status;

	cli->examples =
		"  kistore annotate c3252a98 --metadata metadata.json\n"
		"  jq .metadata run.json |"
		" kistore annotate c3252a98 --metadata -\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = read_texts(&texts, err);
	if (status == KS_OK)
		status = ks_change_begin(&change, cli, err);
	if (status == KS_OK)
		status = ks_annotate(change.store, &change.digest,
			ks_buf_span(&texts.metadata_text),
			ks_buf_span(&texts.provenance_text), &change.options,
			err);
	ks_buf_release(&texts.metadata_text);
	ks_buf_release(&texts.provenance_text);
	return ks_change_end(&change, cli, "annotate", status, err);
}
