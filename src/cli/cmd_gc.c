#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void
print_purge(const struct ks_gc_result *result)
{
	if (result->rewritten == 0)
		ks_out_printf("nothing to purge\n");
	else
		ks_out_printf("rewrote %" PRIu64 " of %" PRIu64 " commit%s: %"
			PRIu64 " object%s and %" PRIu64 " line%s are gone\n",
			result->rewritten, result->commits,
			plural(result->commits), result->objects,
			plural(result->objects), result->lines,
			plural(result->lines));
	if (result->tag_count > 0) {
		ks_out_printf("dropped %" PRIu64 " tag%s: ",
			result->tag_count, plural(result->tag_count));
		ks_out_text(ks_span_text(result->tags));
		ks_out_printf("\n");
	}
	if (result->left > 0)
		ks_out_printf("still in the repository: %" PRIu64
			" git object%s with removed bytes\n", result->left,
			plural(result->left));
}

enum ks_status
ks_cmd_gc(struct ks_cli *cli, struct ks_error *err)
{
	bool purge = false;
	const struct ks_opt options[] = {
		KS_FLAG(0, "purge", &purge,
			"rewrite history without what was taken down"),
	};
	struct ks_store *store = NULL;
	struct ks_write_options write;
	struct ks_gc_result result;
	enum ks_status status;

	cli->examples = "  kistore -C data.git gc\n"
		"  kistore -C data.git gc --purge\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_cli_write_options(cli, &write, err);
	if (status == KS_OK)
		status = ks_cli_open(cli, NULL, &store, err);
	if (status == KS_OK)
		status = ks_gc(store, purge, &write, &result, err);
	if (status == KS_OK) {
		cli->changed = result.rewritten > 0;
		ks_out_detail(cli, "packed");
		if (purge)
			print_purge(&result);
	}
	ks_store_close(store);
	return status;
}
