#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

/* From so many packs on, reading slows down. */
#define PACKS_MANY 50

#define NOT_LOOKED_AT "the contents of objects (kistore verify does)"

/* ---- Text --------------------------------------------------------------- */

static void
print_field(const char *name, const char *value)
{
	ks_out_printf("%-14s", name);
	ks_out_field(value);
	ks_out_printf("\n");
}

static void
print_count(const char *name, uint64_t count)
{
	ks_out_printf("%-14s%" PRIu64 "\n", name, count);
}

/* ", 3 retracted", where there are any. */
static void
add_count(uint64_t count, const char *what)
{
	if (count > 0)
		ks_out_printf(", %" PRIu64 " %s", count, what);
}

static void
print_kinds(const struct ks_status_info *info)
{
	size_t i;

	for (i = 0; i < info->kind_count; i++) {
		const struct ks_kind_count *kind = &info->kinds[i];

		ks_out_printf("  ");
		ks_out_field(kind->kind[0] == '\0' ? "of unknown kind" :
			kind->kind);
		ks_out_printf(" %" PRIu64, kind->objects);
		add_count(kind->retracted, "retracted");
		add_count(kind->superseded, "superseded");
		add_count(kind->taken_down, "taken down");
		ks_out_printf("\n");
	}
}

static void
print_log(const struct ks_status_info *info)
{
	char root[KS_ID_TEXT + 1];

	print_count("log entries", info->log.size);
	print_field("log root", ks_id_print(&info->log.root, root));
	print_field("last entry", info->log.time);
	if (info->faults > 0)
		print_count("faulty", info->faults);
	if (info->unsupported > 0)
		print_count("unsupported", info->unsupported);
}

static void
print_text(const struct ks_status_info *info)
{
	print_field("directory", info->directory);
	print_field("origin", info->origin[0] == '\0' ? "none" : info->origin);
	print_field("commit", info->commit);
	print_field("branch", info->branch[0] == '\0' ? "detached" :
		info->branch);
	print_log(info);
	print_count("objects", info->objects);
	print_kinds(info);
	print_count("packs", info->packs);
	print_count("dictionaries", info->dictionaries);
	print_count("checkpoints", info->checkpoints);
	if (info->shallow)
		print_field("clone", "shallow: without its history");
	if (info->partial)
		print_field("clone", "partial: git has not fetched everything");
	if (info->others[0] != '\0')
		print_field("not covered", info->others);
	print_field("not looked at", NOT_LOOKED_AT);
}

/* ---- JSON --------------------------------------------------------------- */

static void
add_kinds(struct ks_doc *doc, const struct ks_status_info *info)
{
	size_t i;

	ks_doc_array(doc, "kinds");
	for (i = 0; i < info->kind_count; i++) {
		const struct ks_kind_count *kind = &info->kinds[i];

		ks_doc_object(doc, NULL);
		ks_doc_text(doc, "kind", kind->kind);
		ks_doc_integer(doc, "objects", (int64_t)kind->objects);
		ks_doc_integer(doc, "retracted", (int64_t)kind->retracted);
		ks_doc_integer(doc, "superseded", (int64_t)kind->superseded);
		ks_doc_integer(doc, "takenDown", (int64_t)kind->taken_down);
		ks_doc_end(doc);
	}
	ks_doc_end(doc);
}

static void
add_log(struct ks_doc *doc, const struct ks_status_info *info)
{
	ks_doc_object(doc, "log");
	ks_doc_integer(doc, "size", (int64_t)info->log.size);
	ks_doc_digest(doc, "root", &info->log.root);
	ks_doc_text(doc, "time", info->log.time);
	ks_doc_integer(doc, "faults", (int64_t)info->faults);
	ks_doc_integer(doc, "unsupported", (int64_t)info->unsupported);
	ks_doc_end(doc);
}

static enum ks_status
print_json(const struct ks_status_info *info, bool verified,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("status");

	ks_doc_text(doc, "directory", info->directory);
	ks_doc_some(doc, "origin", info->origin);
	ks_doc_text(doc, "commit", info->commit);
	ks_doc_some(doc, "branch", info->branch);
	add_log(doc, info);
	ks_doc_bool(doc, "verified", verified);
	ks_doc_integer(doc, "objects", (int64_t)info->objects);
	add_kinds(doc, info);
	ks_doc_integer(doc, "packs", (int64_t)info->packs);
	ks_doc_integer(doc, "dictionaries", (int64_t)info->dictionaries);
	ks_doc_integer(doc, "checkpoints", (int64_t)info->checkpoints);
	ks_doc_bool(doc, "shallow", info->shallow);
	ks_doc_bool(doc, "partial", info->partial);
	ks_doc_some(doc, "notCovered", info->others);
	ks_doc_text(doc, "notLookedAt", NOT_LOOKED_AT);
	return ks_doc_write(doc, err);
}

/* ---- The command -------------------------------------------------------- */

static void
give_advice(struct ks_cli *cli, const struct ks_status_info *info)
{
	if (info->faults > 0)
		ks_out_note(cli, "the log breaks rules: kistore verify names "
			"them");
	if (info->unsupported > 0)
		ks_out_note(cli, "the log needs a newer kistore");
	if (info->packs >= PACKS_MANY)
		ks_out_note(cli, "%" PRIu64 " packs: run kistore gc",
			info->packs);
}

enum ks_status
ks_cmd_status(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_status_info info;
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore -C data.git status\n"
		"  kistore status --json --at 8 | jq .log.root\n";
	if (!ks_opt_parse(cli, NULL, 0, &status, err))
		return status;
	status = ks_cli_open_view(cli, &store, err);
	if (status != KS_OK)
		return status;
	status = ks_store_status(store, &info, err);
	if (status == KS_OK && cli->json)
		status = print_json(&info, cli->verified, err);
	else if (status == KS_OK)
		print_text(&info);
	if (status == KS_OK)
		give_advice(cli, &info);
	ks_store_close(store);
	return status;
}
