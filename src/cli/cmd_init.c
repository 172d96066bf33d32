#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

struct plan {
	const char *directory;
	const char *origin;
	bool worktree;
};

static enum ks_status
print_json(const struct plan *plan, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("init");

	ks_doc_text(doc, "directory", plan->directory);
	ks_doc_text(doc, "format", KISTORE_FORMAT);
	if (plan->origin != NULL)
		ks_doc_text(doc, "origin", plan->origin);
	else
		ks_doc_null(doc, "origin");
	ks_doc_bool(doc, "bare", !plan->worktree);
	return ks_doc_write(doc, err);
}

static void
print_text(const struct plan *plan)
{
	ks_out_field(plan->directory);
	ks_out_printf(": a new store, format " KISTORE_FORMAT ", %s",
		plan->worktree ? "with a work tree" : "bare");
	if (plan->origin != NULL) {
		ks_out_printf(", origin ");
		ks_out_field(plan->origin);
	}
	ks_out_printf("\n");
}

enum ks_status
ks_cmd_init(struct ks_cli *cli, struct ks_error *err)
{
	struct plan plan = { .directory = NULL };
	const struct ks_opt options[] = {
		KS_TEXT(0, "origin", "NAME", &plan.origin,
			"the name of its log in signed snapshots"),
		KS_FLAG(0, "worktree", &plan.worktree,
			"check the files out beside .git"),
	};
	int64_t now;
	enum ks_status status;

	cli->examples = "  kistore init data.git\n"
		"  kistore init --origin example.org/records --worktree data\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	plan.directory = cli->operands[0];
	status = ks_cli_now(&now, err);
	if (status == KS_OK)
		status = ks_store_create(plan.directory, plan.origin,
			plan.worktree, now, err);
	if (status != KS_OK)
		return status;
	cli->changed = true;
	if (cli->json)
		return print_json(&plan, err);
	print_text(&plan);
	return KS_OK;
}
