#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

#define HELD_BACK "the history still has what was taken down: the repository " \
	"is not published until kistore gc --purge has removed it (W10)"

static enum ks_status
print_json(const char *directory, const struct ks_publish_result *result,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("publish");

	ks_doc_text(doc, "directory", directory);
	ks_doc_text(doc, "origin", result->origin);
	ks_doc_integer(doc, "size", (int64_t)result->size);
	ks_doc_digest(doc, "root", &result->root);
	ks_doc_integer(doc, "served", (int64_t)result->served);
	ks_doc_bool(doc, "changed", result->changed);
	ks_doc_bool(doc, "repository", result->has_repository);
	ks_doc_object(doc, "wrote");
	ks_doc_integer(doc, "files", (int64_t)result->written);
	ks_doc_integer(doc, "bytes", (int64_t)result->bytes);
	ks_doc_integer(doc, "tiles", (int64_t)result->tiles);
	ks_doc_integer(doc, "bundles", (int64_t)result->bundles);
	ks_doc_integer(doc, "objects", (int64_t)result->objects);
	ks_doc_integer(doc, "dictionaries", (int64_t)result->dictionaries);
	ks_doc_integer(doc, "packs", (int64_t)result->packs);
	ks_doc_end(doc);
	ks_doc_integer(doc, "removed", (int64_t)result->removed);
	return ks_doc_write(doc, err);
}

static void
print_text(const struct ks_publish_result *result)
{
	if (!result->changed) {
		ks_out_printf("nothing new: %" PRIu64 " entries of ",
			result->size);
		ks_out_field(result->origin);
		ks_out_printf(" are published\n");
		return;
	}
	ks_out_printf("published %" PRIu64 " entries of ", result->size);
	ks_out_field(result->origin);
	ks_out_printf(": wrote %" PRIu64 " files, %" PRIu64 " bytes; removed %"
		PRIu64 "\n", result->written, result->bytes, result->removed);
}

enum ks_status
ks_cmd_publish(struct ks_cli *cli, struct ks_error *err)
{
	int64_t size = 0;
	const struct ks_opt options[] = {
		KS_NUMBER(0, "at", "SIZE", &size, 1, INT64_MAX,
			"the snapshot of this many entries, not the newest"),
	};
	struct ks_publish_options publish = { .watch = &cli->watch };
	struct ks_publish_result result;
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore -C data.git publish /srv/www/records\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	publish.size = (uint64_t)size;
	status = ks_cli_open(cli, NULL, &store, err);
	if (status == KS_OK)
		status = ks_publish(store, cli->operands[0], &publish,
			&result, err);
	ks_store_close(store);
	if (status != KS_OK)
		return status;
	cli->changed = result.changed;
	if (!result.has_repository)
		ks_out_note(cli, "%s", HELD_BACK);
	if (cli->json)
		return print_json(cli->operands[0], &result, err);
	print_text(&result);
	return KS_OK;
}
