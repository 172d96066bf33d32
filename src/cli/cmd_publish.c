#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"

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
	ks_doc_integer(doc, "citations", (int64_t)result->citations);
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
	ks_out_printf(": wrote %" PRIu64 " files", result->written);
	if (result->citations > 0)
		ks_out_printf(" (citations: %" PRIu64 ")", result->citations);
	ks_out_printf(", %" PRIu64 " bytes; removed %" PRIu64 "\n",
		result->bytes, result->removed);
}

/* ---- what is cited ------------------------------------------------------ */

static enum ks_status
find_records(struct ks_cli *cli, struct ks_store *store,
	const struct ks_opt_list *names, struct ks_id *records,
	struct ks_error *err)
{
	struct ks_ref ref = KS_REF_INIT;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < names->count; i++) {
		status = ks_ref_find(cli, store, names->items[i], &ref, err);
		records[i] = ref.digest;
		ks_ref_note_marks(cli, names->items[i], &ref);
	}
	return status;
}

/* What the names mean where `size` is all that is published, as with cite
 * --at. *records is the caller's to free. */
static enum ks_status
find_cited(struct ks_cli *cli, struct ks_store *store,
	const struct ks_opt_list *names, uint64_t size,
	struct ks_id **records, struct ks_error *err)
{
	struct ks_store *then = NULL;
	char at[24];
	enum ks_status status = KS_OK;

	*records = calloc(names->count + 1, sizeof(**records));
	if (*records == NULL)
		return ks_fail_nomem(err);
	if (size > 0 && names->count > 0) {
		(void)snprintf(at, sizeof(at), "%" PRIu64, size);
		status = ks_cli_open(cli, at, &then, err);
	}
	if (status == KS_OK)
		status = find_records(cli, then == NULL ? store : then, names,
			*records, err);
	ks_store_close(then);
	return status;
}

/* ---- the command -------------------------------------------------------- */

static enum ks_status
publish(struct ks_cli *cli, const struct ks_opt_list *cited,
	struct ks_publish_options *options, struct ks_publish_result *result,
	struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_id *records = NULL;
	enum ks_status status = ks_cli_open(cli, NULL, &store, err);

	if (status == KS_OK)
		status = find_cited(cli, store, cited, options->size,
			&records, err);
	options->cite = records;
	options->cite_count = cited->count;
	if (status == KS_OK)
		status = ks_publish(store, cli->operands[0], options, result,
			err);
	free(records);
	ks_store_close(store);
	return status;
}

enum ks_status
ks_cmd_publish(struct ks_cli *cli, struct ks_error *err)
{
	int64_t size = 0;
	struct ks_opt_list cited = KS_OPT_LIST_INIT;
	struct ks_publish_options options = { .watch = &cli->watch };
	const struct ks_opt table[] = {
		KS_NUMBER(0, "at", "SIZE", &size, 1, INT64_MAX,
			"the snapshot of this many entries, not the newest"),
		KS_LIST(0, "cite", "REF", &cited,
			"a record whose citation file is wanted, too"),
		KS_TEXT(0, "accessed", "DATE", &options.accessed,
			"the day that these citations name"),
	};
	struct ks_publish_result result;
	enum ks_status status;

	cli->examples = "  kistore -C data.git publish /srv/www/records\n"
		"  kistore publish --cite c3252a98 /srv/www/records\n";
	if (!ks_opt_parse(cli, table, KS_COUNT(table), &status, err))
		return status;
	if (options.accessed != NULL && cited.count == 0)
		return ks_fail(err, KS_USAGE, "--accessed goes with --cite");
	options.size = (uint64_t)size;
	if (cited.count > 0)
		status = ks_cli_now(&options.now, err);
	if (status == KS_OK)
		status = publish(cli, &cited, &options, &result, err);
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
