#include "cli/mirror.h"

#include <inttypes.h>

#include "cli/opt.h"
#include "cli/out.h"
#include "cli/trust.h"

const char *
ks_cli_mirror_directory(const struct ks_cli *cli)
{
	return cli->directory != NULL ? cli->directory :
		ks_cli_environment("KISTORE_DIR");
}

static void
add_time(struct ks_doc *doc, const char *name, int64_t at)
{
	char time[KS_CLI_TIME] = "";

	if (at > 0)
		ks_cli_time(at, time);
	ks_doc_some(doc, name, time);
}

static enum ks_status
print_json(const char *kind, const struct ks_mirror_result *result,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new(kind);

	ks_doc_text(doc, "verdict", result->verdict);
	ks_doc_text(doc, "message", result->message);
	ks_doc_text(doc, "url", result->url);
	ks_doc_text(doc, "origin", result->origin);
	add_time(doc, "checked", result->checked);
	add_time(doc, "good", result->good);
	ks_doc_some(doc, "fork", result->fork);
	ks_doc_integer(doc, "size", (int64_t)result->size);
	if (result->size > 0)
		ks_doc_digest(doc, "root", &result->root);
	else
		ks_doc_null(doc, "root");
	ks_doc_integer(doc, "before", (int64_t)result->before);
	ks_doc_integer(doc, "unsignedTail", (int64_t)result->tail);
	ks_doc_bool(doc, "changed", result->changed);
	ks_doc_bool(doc, "rewritten", result->rewritten);
	ks_doc_bool(doc, "whole", result->whole);
	ks_doc_integer(doc, "objects", (int64_t)result->objects);
	ks_doc_integer(doc, "damaged", (int64_t)result->damaged);
	ks_doc_integer(doc, "absent", (int64_t)result->absent);
	ks_doc_integer(doc, "carried", (int64_t)result->carried);
	ks_doc_bool(doc, "purged", result->purged);
	ks_doc_bool(doc, "interrupted", result->interrupted);
	ks_doc_integer(doc, "cosignatures", (int64_t)result->cosignatures);
	if (result->signature.asked)
		ks_cli_doc_signature(doc, &result->signature);
	else
		ks_doc_null(doc, "signature");
	return ks_doc_write(doc, err);
}

static const char *
plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

static void
print_root(const struct ks_mirror_result *result)
{
	char root[KS_ID_TEXT + 1];

	if (result->size > 0)
		ks_out_printf("holds %" PRIu64 " %s, root %s\n", result->size,
			plural(result->size, "entry", "entries"),
			ks_id_print(&result->root, root));
	else
		ks_out_printf("holds nothing yet\n");
}

static void
print_changes(const struct ks_mirror_result *result)
{
	if (result->rewritten)
		ks_out_printf("the history was rewritten: the log is "
			"consistent with what was held before\n");
	if (result->purged)
		ks_out_printf("what was taken down is gone from the history "
			"here, too\n");
	if (result->tail > 0)
		ks_out_printf("left: %" PRIu64 " %s after the snapshot, not "
			"signed yet\n", result->tail, plural(result->tail,
			"entry", "entries"));
	if (result->carried > 0)
		ks_out_printf("kept: own cosignatures of %" PRIu64 " %s\n",
			result->carried, plural(result->carried, "note",
			"notes"));
}

static void
print_verdict(const struct ks_mirror_result *result)
{
	if (result->status != KS_OK) {
		ks_out_printf("refused: %s: ", result->verdict);
		ks_out_field(result->message);
	} else {
		ks_out_printf("%s: ", result->verdict);
		ks_out_field(result->origin[0] != '\0' ? result->origin :
			result->message);
		if (result->changed)
			ks_out_printf(", %" PRIu64 " new, %" PRIu64 " objects "
				"checked", result->size - result->before,
				result->objects);
		else if (result->signature.asked)
			ks_out_printf(", nothing is new");
	}
	ks_out_printf("\n");
}

enum ks_status
ks_cli_mirror_tell(struct ks_cli *cli, const char *kind,
	const struct ks_mirror_result *result, struct ks_error *err)
{
	enum ks_status status;

	*err = (struct ks_error)KS_ERROR_INIT;
	if (cli->json) {
		status = print_json(kind, result, err);
		return status != KS_OK ? status : result->status;
	}
	print_verdict(result);
	print_changes(result);
	print_root(result);
	if (result->status == KS_OK)
		ks_cli_print_signature(&result->signature);
	else
		ks_cli_print_evidence(&result->signature);
	return result->status;
}

static enum ks_status
follow(struct ks_cli *cli, bool clone,
	const struct ks_mirror_options *options, struct ks_error *err)
{
	struct ks_mirror_result result;
	enum ks_status status = clone ? ks_mirror_clone(cli->operands[0],
		cli->operands[1], options, &result, err) : ks_mirror_update(
		ks_cli_mirror_directory(cli), options, &result, err);

	if (status != KS_OK)
		return status;
	cli->changed = result.changed;
	return ks_cli_mirror_tell(cli, clone ? "mirror-clone" :
		"mirror-update", &result, err);
}

enum ks_status
ks_cli_mirror_follow(struct ks_cli *cli, bool clone, struct ks_error *err)
{
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	const struct ks_opt options[] = {
		KS_TRUST_OPTIONS(&trust),
	};
	struct ks_mirror_options mirror = { .trust = &trust.options };
	enum ks_status status;

	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	/* A clone, too, has a git to stop and a directory to remove. */
	ks_cli_catch_signals();
	status = ks_cli_write_options(cli, &mirror.write, err);
	if (status == KS_OK)
		status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK)
		status = follow(cli, clone, &mirror, err);
	ks_cli_trust_release(&trust);
	return status;
}
