#include <inttypes.h>
#include <stddef.h>

#include "cli/cmd.h"
#include "cli/in.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/secret.h"
#include "cli/trust.h"

/* A note, or a key, that an option names. */
#define FILE_MAX ((uint64_t)1 << 20)

struct create {
	struct ks_cli *cli;
	struct ks_snapshot_options options;
	struct ks_buf next, resume, state;
	struct ks_doc *doc;	/* with --json: the lines so far */
};

/* ---- Telling --------------------------------------------------------- */

static bool
tell_line(void *arg, uint64_t index, struct ks_span line)
{
	struct create *create = arg;

	if (create->doc != NULL) {
		ks_doc_object(create->doc, NULL);
		ks_doc_integer(create->doc, "index", (int64_t)index);
		ks_doc_json(create->doc, "entry", line);
		ks_doc_end(create->doc);
		return false;
	}
	ks_out_printf("entry %" PRIu64 ": ", index);
	ks_out_text(line);
	ks_out_printf("\n");
	return false;
}

static void
tell_finding(void *arg, const struct ks_finding *finding)
{
	struct create *create = arg;

	if (finding->severity != KS_SEVERITY_WARNING)
		ks_out_message(create->cli, "%s: %s", finding->path == NULL ?
			"" : finding->path, finding->message);
}

static const struct count_name {
	const char *name;
	size_t offset;
} count_names[] = {
	{ "published", offsetof(struct ks_op_counts, published) },
	{ "annotated", offsetof(struct ks_op_counts, annotated) },
	{ "retracted", offsetof(struct ks_op_counts, retracted) },
	{ "superseded", offsetof(struct ks_op_counts, superseded) },
	{ "restored", offsetof(struct ks_op_counts, restored) },
	{ "takenDown", offsetof(struct ks_op_counts, taken_down) },
	{ "keys", offsetof(struct ks_op_counts, keys) },
	{ "others", offsetof(struct ks_op_counts, others) },
};

static uint64_t
count_of(const struct ks_op_counts *counts, size_t i)
{
	const char *base = (const char *)counts;
	uint64_t value;

	memcpy(&value, base + count_names[i].offset, sizeof(value));
	return value;
}

static void
print_result(const struct ks_snapshot_result *result)
{
	char root[KS_ID_TEXT + 1];
	size_t i;

	if (!result->created) {
		ks_out_printf("nothing new since the snapshot of %" PRIu64
			" entries%s\n", result->size, result->tagged ?
			"; its tag was made again" : "");
		return;
	}
	ks_out_printf("new since entry %" PRIu64 ":", result->from);
	for (i = 0; i < KS_COUNT(count_names); i++)
		if (count_of(&result->counts, i) > 0)
			ks_out_printf(" %" PRIu64 " %s", count_of(
				&result->counts, i), count_names[i].name);
	ks_out_printf("\n");
	if (result->removed + result->redacted > 0)
		ks_out_printf("taken down: %" PRIu64 " objects removed, %"
			PRIu64 " lines redacted\n", result->removed,
			result->redacted);
	ks_out_printf("signed %" PRIu64 " entries, root %s, by ",
		result->size, ks_id_print(&result->root, root));
	ks_out_field(result->signer);
	ks_out_printf("\n");
}

/* The document whose array of lines has been filled. */
static enum ks_status
print_document(struct create *create, const struct ks_snapshot_result *result,
	struct ks_error *err)
{
	struct ks_doc *doc = create->doc;
	size_t i;

	create->doc = NULL;
	ks_doc_end(doc);
	ks_doc_bool(doc, "created", result->created);
	ks_doc_bool(doc, "tagged", result->tagged);
	ks_doc_integer(doc, "from", (int64_t)result->from);
	ks_doc_integer(doc, "size", (int64_t)result->size);
	ks_doc_digest(doc, "root", &result->root);
	ks_doc_text(doc, "signer", result->signer);
	if (result->commit[0] != '\0')
		ks_doc_text(doc, "commit", result->commit);
	else
		ks_doc_null(doc, "commit");
	ks_doc_object(doc, "counts");
	for (i = 0; i < KS_COUNT(count_names); i++)
		ks_doc_integer(doc, count_names[i].name,
			(int64_t)count_of(&result->counts, i));
	ks_doc_end(doc);
	ks_doc_integer(doc, "removed", (int64_t)result->removed);
	ks_doc_integer(doc, "redacted", (int64_t)result->redacted);
	return ks_doc_write(doc, err);
}

/* ---- Running --------------------------------------------------------- */

static enum ks_status
read_options(struct create *create, const char *next, const char *resume,
	struct ks_error *err)
{
	enum ks_status status = ks_cli_write_options(create->cli,
		&create->options.write, err);

	if (status == KS_OK && next != NULL)
		status = ks_cli_key_text(next, &create->next, err);
	if (status == KS_OK && next != NULL && create->next.len == 0)
		status = ks_fail(err, KS_USAGE, "%s: is empty", next);
	if (status == KS_OK && resume != NULL)
		status = ks_in_read(resume, FILE_MAX, &create->resume,
			err);
	if (status == KS_OK && resume != NULL && create->resume.len == 0)
		status = ks_fail(err, KS_CORRUPT, "%s: is empty",
			ks_in_name(resume));
	ks_cli_state_directory(&create->state);
	if (status == KS_OK)
		status = ks_buf_check(&create->state, err);
	create->options.next = ks_buf_span(&create->next);
	create->options.resume = ks_buf_span(&create->resume);
	create->options.state_directory = ks_buf_cstr(&create->state);
	return status;
}

static enum ks_status
run(struct create *create, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_snapshot_result result = { .created = false };
	enum ks_status status = ks_cli_open(create->cli, NULL, &store, err);

	if (create->cli->json) {
		create->doc = ks_doc_new("snapshot-create");
		ks_doc_array(create->doc, "lines");
	}
	if (status == KS_OK)
		status = ks_snapshot_create(store, &create->options, tell_line,
			tell_finding, create, &result, err);
	create->cli->changed = status == KS_OK && result.created;
	if (status == KS_OK && create->cli->json)
		status = print_document(create, &result, err);
	else if (status == KS_OK)
		print_result(&result);
	ks_doc_free(create->doc);
	ks_store_close(store);
	return status;
}

enum ks_status
ks_cmd_snapshot_create(struct ks_cli *cli, struct ks_error *err)
{
	struct create create = { .cli = cli };
	struct ks_secret secret = { .file = NULL };
	struct ks_signer *signer = NULL;
	const char *key = NULL, *next = NULL, *resume = NULL;
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "key", "FILE", &key,
			"the log's private key (see key generate)"),
		KS_SECRET_OPTIONS(&secret),
		KS_TEXT(0, "next", "VKEY", &next,
			"announce the key that may follow this one"),
		KS_FLAG(0, "first", &create.options.first,
			"this key has never signed before"),
		KS_TEXT(0, "resume", "FILE", &resume,
			"the note that it signed last, kept elsewhere"),
	};
	enum ks_status status = ks_secret_arguments(cli, err);

	cli->examples = "  kistore snapshot create --key log.key --first\n"
		"  kistore snapshot create --key log.key\n";
	if (status != KS_OK || !ks_opt_parse(cli, options, KS_COUNT(options),
		&status, err))
		return status;
	status = ks_secret_signer(cli, key, &secret, &signer, err);
	create.options.signer = signer;
	if (status == KS_OK)
		status = read_options(&create, next, resume, err);
	if (status == KS_OK)
		status = run(&create, err);
	ks_signer_free(signer);
	ks_buf_release(&create.next);
	ks_buf_release(&create.resume);
	ks_buf_release(&create.state);
	return status;
}
