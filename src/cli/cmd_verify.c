#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/secret.h"
#include "cli/trust.h"

#define THREADS_MAX 256
#define TEXT_SIZE 1024

/* A verification on its way: where it is, and whether documents could be
 * made. */
struct run {
	struct ks_cli *cli;
	enum ks_status printed;
	char phase[64];
	uint64_t done, total;
};

static const char *
severity_name(enum ks_severity severity)
{
	switch (severity) {
	case KS_SEVERITY_DAMAGE:
		return "damage";
	case KS_SEVERITY_ABSENT:
		return "absent";
	case KS_SEVERITY_UNFETCHED:
		return "unfetched";
	case KS_SEVERITY_UNSUPPORTED:
		return "unsupported";
	case KS_SEVERITY_WARNING:
		return "warning";
	}
	return "damage";
}

/* ---- Findings ----------------------------------------------------------- */

/* A path with its blanks escaped, so that fields can be told apart. */
static void
print_path(const char *path)
{
	char shown[TEXT_SIZE];
	const char *rest = ks_printable(shown, sizeof(shown),
		ks_span_text(path));

	if (*rest == '\0')
		rest = "-";
	while (*rest != '\0') {
		size_t len = strcspn(rest, " ");

		ks_out_bytes(ks_span(rest, len));
		rest += len;
		if (*rest == ' ') {
			ks_out_printf("\\x20");
			rest++;
		}
	}
}

static void
print_finding(void *arg, const struct ks_finding *finding)
{
	char digest[KS_ID_TEXT + 1] = "-";

	(void)arg;
	if (finding->digest != NULL)
		(void)ks_id_print(finding->digest, digest);
	ks_out_printf("%s ", severity_name(finding->severity));
	print_path(finding->path == NULL ? "" : finding->path);
	ks_out_printf(" %s ", digest);
	ks_out_field(finding->message);
	ks_out_printf("\n");
}

static void
print_finding_json(void *arg, const struct ks_finding *finding)
{
	struct run *run = arg;
	struct ks_doc *doc = ks_doc_new("finding");

	ks_doc_text(doc, "severity", severity_name(finding->severity));
	if (finding->path != NULL && finding->path[0] != '\0')
		ks_doc_text(doc, "path", finding->path);
	else
		ks_doc_null(doc, "path");
	if (finding->digest != NULL)
		ks_doc_digest(doc, "digest", finding->digest);
	else
		ks_doc_null(doc, "digest");
	ks_doc_text(doc, "message", finding->message);
	run->printed = ks_cli_worse(run->printed, ks_doc_write(doc, NULL));
}

/* ---- The summary -------------------------------------------------------- */

static const char *
plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void
print_counts(const struct ks_verify_result *result)
{
	if (result->damaged + result->absent + result->unfetched +
		result->unsupported == 0)
		ks_out_printf("found nothing wrong\n");
	else
		ks_out_printf("found %" PRIu64 " damaged, %" PRIu64
			" absent, %" PRIu64 " unfetched, %" PRIu64
			" unsupported\n", result->damaged, result->absent,
			result->unfetched, result->unsupported);
	if (result->unfetched > 0)
		ks_out_printf("to fetch what is not here: "
			"git fetch --refetch --no-filter\n");
	if (result->taken_down > 0)
		ks_out_printf("taken down: %" PRIu64 " object%s\n",
			result->taken_down, plural(result->taken_down));
}

static void
print_summary(const struct ks_verify_result *result, bool listed)
{
	char root[KS_ID_TEXT + 1];

	ks_out_printf("checked %" PRIu64 " object%s (%" PRIu64
		" bytes), %" PRIu64 " dictionar%s and the log\n",
		result->objects, plural(result->objects), result->bytes,
		result->dictionaries,
		result->dictionaries == 1 ? "y" : "ies");
	ks_out_printf("log of %" PRIu64 " entries, root %s\n",
		result->log.size, ks_id_print(&result->log.root, root));
	ks_cli_print_signature(&result->signature);
	print_counts(result);
	if (result->warnings > 0)
		ks_out_printf("warnings: %" PRIu64 "%s\n", result->warnings,
			listed ? "" : " (--warnings lists those about kinds)");
	if (result->not_checked[0] == '\0')
		return;
	ks_out_field(result->not_checked);
	ks_out_printf("\n");
}

static enum ks_status
print_summary_json(const struct ks_verify_result *result,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("verify");

	ks_doc_bool(doc, "whole", result->whole);
	ks_doc_object(doc, "log");
	ks_doc_integer(doc, "size", (int64_t)result->log.size);
	ks_doc_digest(doc, "root", &result->log.root);
	ks_doc_text(doc, "time", result->log.time);
	ks_doc_end(doc);
	ks_doc_integer(doc, "objects", (int64_t)result->objects);
	ks_doc_integer(doc, "bytes", (int64_t)result->bytes);
	ks_doc_integer(doc, "dictionaries", (int64_t)result->dictionaries);
	ks_doc_integer(doc, "damaged", (int64_t)result->damaged);
	ks_doc_integer(doc, "absent", (int64_t)result->absent);
	ks_doc_integer(doc, "unfetched", (int64_t)result->unfetched);
	ks_doc_integer(doc, "unsupported", (int64_t)result->unsupported);
	ks_doc_integer(doc, "warnings", (int64_t)result->warnings);
	ks_doc_integer(doc, "takenDown", (int64_t)result->taken_down);
	ks_cli_doc_signature(doc, &result->signature);
	ks_doc_text(doc, "notChecked", result->not_checked);
	return ks_doc_write(doc, err);
}

/* ---- Running it --------------------------------------------------------- */

/* Remember how far it got, and show it. */
static void
keep_progress(void *arg, const char *phase, uint64_t done, uint64_t total)
{
	struct run *run = arg;

	(void)snprintf(run->phase, sizeof(run->phase), "%s", phase);
	run->done = done;
	run->total = total;
	if (run->cli->watch.progress != NULL)
		run->cli->watch.progress(run->cli->watch.arg, phase, done,
			total);
}

static void
pass_note(void *arg, const char *text)
{
	struct run *run = arg;

	if (run->cli->watch.note != NULL)
		run->cli->watch.note(run->cli->watch.arg, text);
}

static bool
ask_cancelled(void *arg)
{
	(void)arg;
	return ks_cli_interrupted();
}

static enum ks_status
fail_interrupted(const struct run *run, struct ks_error *err)
{
	if (run->phase[0] == '\0')
		return ks_fail(err, KS_CANCELLED,
			"interrupted before anything was checked");
	return ks_fail(err, KS_CANCELLED, "interrupted while %s, after %" PRIu64
		" of %" PRIu64 ": the rest was not checked", run->phase,
		run->done, run->total);
}

static enum ks_status
verdict(const struct ks_verify_result *result)
{
	enum ks_status status = result->signature.status;

	if (result->damaged + result->absent > 0)
		status = ks_cli_worse(status, KS_CORRUPT);
	if (result->unsupported > 0)
		status = ks_cli_worse(status, KS_UNSUPPORTED);
	if (result->unfetched > 0)
		status = ks_cli_worse(status, KS_NOT_FOUND);
	return status;
}

static enum ks_status
run_verify(struct ks_cli *cli, struct ks_store *store,
	const struct ks_verify_options *options, struct ks_error *err)
{
	struct run run = { .cli = cli };
	struct ks_watch watch = {
		.arg = &run,
		.cancelled = ask_cancelled,
		.progress = keep_progress,
		.note = pass_note
	};
	struct ks_verify_options watched = *options;
	struct ks_verify_result result;
	enum ks_status status;

	watched.watch = &watch;
	status = ks_verify(store, &watched, cli->json ? print_finding_json :
		print_finding, &run, &result, err);
	if (status == KS_CANCELLED)
		return fail_interrupted(&run, err);
	if (status != KS_OK)
		return status;
	if (run.printed != KS_OK)
		return ks_fail(err, run.printed, "out of memory");
	if (cli->json)
		status = print_summary_json(&result, err);
	else
		print_summary(&result, options->warnings);
	if (status != KS_OK)
		return status;
	/* The report has told it all. */
	*err = (struct ks_error)KS_ERROR_INIT;
	return verdict(&result);
}

static enum ks_status
find_all(struct ks_cli *cli, struct ks_store *store, struct ks_id *digests,
	struct ks_error *err)
{
	struct ks_ref ref;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < cli->operand_count; i++) {
		status = ks_ref_find(cli, store, cli->operands[i], &ref, err);
		digests[i] = ref.digest;
	}
	return status;
}

static enum ks_status
verify_operands(struct ks_cli *cli, struct ks_store *store,
	struct ks_verify_options *options, struct ks_error *err)
{
	struct ks_id *digests = NULL;
	enum ks_status status = KS_OK;

	if (cli->operand_count > 0) {
		digests = calloc(cli->operand_count, sizeof(*digests));
		if (digests == NULL)
			return ks_fail_nomem(err);
		status = find_all(cli, store, digests, err);
	}
	options->digests = digests;
	options->digest_count = cli->operand_count;
	if (status == KS_OK)
		status = run_verify(cli, store, options, err);
	free(digests);
	return status;
}

enum ks_status
ks_cmd_verify(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_verify_options verify = { .digests = NULL };
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	int64_t threads = 0;
	const struct ks_opt options[] = {
		KS_FLAG(0, "warnings", &verify.warnings,
			"list what the tables of kinds find as well"),
		KS_FLAG(0, "index", &verify.index,
			"compare the index with one that is built anew"),
		KS_NUMBER(0, "threads", "N", &threads, 0, THREADS_MAX,
			"how many to use (0: one a processor)"),
		KS_TRUST_OPTIONS(&trust),
	};
	struct ks_store *store = NULL;
	enum ks_status status = ks_secret_arguments(cli, err);

	cli->examples = "  kistore -C data.git verify\n"
		"  kistore verify c3252a98\n"
		"  kistore verify --json |"
		" jq -c 'select(.severity == \"damage\")'\n";
	if (status != KS_OK || !ks_opt_parse(cli, options, KS_COUNT(options),
		&status, err))
		return status;
	verify.threads = (unsigned)threads;
	verify.trust = &trust.options;
	status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK)
		status = ks_cli_open(cli, cli->at, &store, err);
	if (status == KS_OK)
		status = verify_operands(cli, store, &verify, err);
	ks_store_close(store);
	ks_cli_trust_release(&trust);
	return status;
}
