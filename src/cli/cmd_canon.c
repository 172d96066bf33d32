#include "cli/cmd.h"
#include "cli/in.h"
#include "cli/opt.h"
#include "cli/out.h"

static enum ks_status
canonicalise(const char *path, struct ks_buf *text, struct ks_buf *canonical,
	struct ks_error *err)
{
	enum ks_status status = ks_in_read(path, SIZE_MAX, text, err);

	if (status != KS_OK)
		return status;
	if (ks_canonicalise(ks_buf_span(text), canonical, err) != KS_OK)
		return ks_context(err, "%s", ks_in_name(path));
	return KS_OK;
}

enum ks_status
ks_cmd_canon(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf canonical = KS_BUF_INIT;
	enum ks_status status;

	cli->examples = "  kistore canon run.json\n"
		"  jq '{apiVersion, kind, spec}' run.json |"
		" kistore canon - | sha256sum\n";
	if (!ks_opt_parse(cli, NULL, 0, &status, err))
		return status;
	status = canonicalise(cli->operands[0], &text, &canonical, err);
	if (status == KS_OK)
		ks_out_bytes(ks_buf_span(&canonical));
	ks_buf_release(&canonical);
	ks_buf_release(&text);
	return status;
}
