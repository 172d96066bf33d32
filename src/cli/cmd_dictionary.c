#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

#define NAME_SIZE 128

static enum ks_status
print_name(struct ks_cli *cli, const char *name, struct ks_error *err)
{
	struct ks_doc *doc;

	if (!cli->json) {
		ks_out_printf("%s\n", name);
		return KS_OK;
	}
	doc = ks_doc_new("dictionary");
	ks_doc_text(doc, "dictionary", name);
	return ks_doc_write(doc, err);
}

enum ks_status
ks_cmd_dictionary(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_write_options options;
	char name[NAME_SIZE];
	enum ks_status status;

	cli->examples = "  kistore -C data.git dictionary train\n";
	if (!ks_opt_parse(cli, NULL, 0, &status, err))
		return status;
	status = ks_cli_write_options(cli, &options, err);
	if (status == KS_OK)
		status = ks_cli_open(cli, NULL, &store, err);
	if (status != KS_OK)
		return status;
	status = ks_dictionary_build(store, &options, name, err);
	ks_store_close(store);
	if (status != KS_OK)
		return status;
	cli->changed = true;
	return print_name(cli, name, err);
}
