#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/attest_report.h"
#include "cli/in.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/secret.h"
#include "cli/trust.h"

/* What no body could be is not read to its end. */
#define BODY_MAX_BYTES (1 << 20)

/* What the options say. */
struct attest {
	struct ks_cli *cli;
	bool verify;
	struct ks_opt_list keys;
	struct ks_secret secret;
	const char *body, *body_file, *url, *environment, *author, *rerun;
	struct ks_attest_options options;
	struct ks_buf body_text, state;
	struct ks_signer *signer;
};

/* ---- Filing ------------------------------------------------------------- */

static enum ks_status
check_filing(const struct attest *attest, struct ks_error *err)
{
	const struct ks_cli *cli = attest->cli;

	if (attest->options.type == NULL)
		return ks_fail(err, KS_USAGE, "attest needs --type TYPE, or "
			"--verify");
	if (attest->keys.count != 1)
		return ks_fail(err, KS_USAGE, "attest needs --key FILE, once: "
			"the private key that signs");
	if (cli->with_unsigned)
		return ks_fail(err, KS_USAGE, "--unsigned is for --verify");
	if (attest->body != NULL && attest->body_file != NULL)
		return ks_fail(err, KS_USAGE,
			"--body and --body-file exclude each other");
	if (attest->body_file != NULL && strcmp(attest->body_file, "-") == 0 &&
		(strcmp(attest->keys.items[0], "-") == 0 ||
		(attest->secret.file != NULL &&
		strcmp(attest->secret.file, "-") == 0)))
		return ks_fail(err, KS_USAGE,
			"standard input can be only one of them");
	return KS_OK;
}

/* A text that was given, or none. */
static struct ks_span
text_of(const char *given)
{
	return given == NULL ? ks_span(NULL, 0) : ks_span_text(given);
}

static enum ks_status
read_texts(struct attest *attest, struct ks_error *err)
{
	struct ks_attest_options *options = &attest->options;
	enum ks_status status = KS_OK;

	options->body = text_of(attest->body);
	options->evidence_url = text_of(attest->url);
	options->environment = text_of(attest->environment);
	options->author = text_of(attest->author);
	options->rerun = attest->rerun != NULL;
	if (attest->body_file == NULL)
		return KS_OK;
	status = ks_in_read(attest->body_file, BODY_MAX_BYTES,
		&attest->body_text, err);
	/* An empty file is a body, too: one that is blank. */
	options->body = attest->body_text.len > 0 ?
		ks_buf_span(&attest->body_text) : ks_span_text("");
	return status;
}

/* Whoever files a rerun wants to know whether it counts (N14). */
static void
note_standing(struct ks_cli *cli, const struct ks_attest_options *options,
	const struct ks_attest_result *result)
{
	if (!options->rerun || strcmp(result->standing, "controlled") == 0)
		return;
	if (strcmp(result->standing, "unsigned") == 0)
		ks_out_note(cli, "%s is registered, but no snapshot covers "
			"that yet: until one does, this rerun raises no level "
			"of evidence", result->signer);
	else
		ks_out_note(cli, "%s %s: this rerun raises no level of "
			"evidence", result->signer,
			result->standing[0] == '\0' ? "is not a key that the "
			"log registers (see key register)" :
			"was revoked");
}

static void
note_entries(struct ks_cli *cli, const struct ks_attest_result *result,
	bool dry_run)
{
	if (!result->added)
		ks_out_note(cli, "that is there already: nothing was written");
	else
		ks_out_note(cli, "%s1 entry; the log %s %" PRIu64, dry_run ?
			"dry run, nothing written: would add " : "added ",
			dry_run ? "would have" : "has", result->size);
}

static enum ks_status
print_json(const struct ks_attest_result *result, bool dry_run,
	const struct ks_id *subject, struct ks_span statement,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("attest");

	ks_doc_bool(doc, "dryRun", dry_run);
	ks_doc_digest(doc, "digest", &result->digest);
	ks_doc_text(doc, "state", result->added ? "new" : "known");
	ks_doc_digest(doc, "subject", subject);
	ks_doc_text(doc, "signer", result->signer);
	if (result->standing[0] != '\0')
		ks_doc_text(doc, "standing", result->standing);
	else
		ks_doc_null(doc, "standing");
	ks_doc_json(doc, "statement", statement);
	ks_doc_integer(doc, "logSize", (int64_t)result->size);
	if (result->commit[0] != '\0')
		ks_doc_text(doc, "commit", result->commit);
	else
		ks_doc_null(doc, "commit");
	return ks_doc_write(doc, err);
}

static enum ks_status
file_in_store(struct attest *attest, struct ks_store *store,
	struct ks_error *err)
{
	struct ks_cli *cli = attest->cli;
	struct ks_ref subject = KS_REF_INIT, rerun = KS_REF_INIT;
	struct ks_buf statement = KS_BUF_INIT;
	struct ks_attest_result result;
	char text[KS_ID_TEXT + 1];
	enum ks_status status = ks_ref_find(cli, store, cli->operands[0],
		&subject, err);

	if (status == KS_OK && attest->rerun != NULL)
		status = ks_ref_find(cli, store, attest->rerun, &rerun, err);
	if (status == KS_OK)
		status = ks_attest(store, &subject.digest,
			attest->rerun == NULL ? NULL : &rerun.digest,
			&attest->options, &statement, &result, err);
	if (status == KS_OK) {
		cli->changed = result.commit[0] != '\0';
		ks_ref_note_marks(cli, cli->operands[0], &subject);
		note_standing(cli, &attest->options, &result);
		note_entries(cli, &result, attest->options.dry_run);
		if (!cli->json)
			ks_out_printf("%s\n", ks_id_print(&result.digest,
				text));
		else
			status = print_json(&result, attest->options.dry_run,
				&subject.digest, ks_buf_span(&statement), err);
	}
	ks_buf_release(&statement);
	return status;
}

/* What is to be said is judged before a passphrase is asked for. */
static enum ks_status
file(struct attest *attest, struct ks_error *err)
{
	struct ks_store *store = NULL;
	enum ks_status status = check_filing(attest, err);

	if (status == KS_OK)
		status = ks_cli_write_options(attest->cli,
			&attest->options.write, err);
	if (status == KS_OK)
		status = read_texts(attest, err);
	if (status == KS_OK)
		status = ks_attest_check(&attest->options, err);
	if (status == KS_OK)
		status = ks_secret_signer(attest->cli, attest->keys.items[0],
			&attest->secret, &attest->signer, err);
	attest->options.signer = attest->signer;
	ks_cli_state_directory(&attest->state);
	attest->options.state_directory = ks_buf_cstr(&attest->state);
	if (status == KS_OK)
		status = ks_cli_open(attest->cli, NULL, &store, err);
	if (status == KS_OK)
		status = file_in_store(attest, store, err);
	ks_store_close(store);
	return status;
}

/* ---- Verifying ---------------------------------------------------------- */

static enum ks_status
check_verifying(const struct attest *attest, struct ks_error *err)
{
	const struct ks_attest_options *options = &attest->options;

	if (options->type == NULL && options->reason == NULL &&
		options->value == NULL && attest->body == NULL &&
		attest->body_file == NULL && attest->url == NULL &&
		attest->environment == NULL && attest->author == NULL &&
		attest->rerun == NULL && !options->dry_run &&
		!attest->secret.ask && attest->secret.file == NULL)
		return KS_OK;
	return ks_fail(err, KS_USAGE, "with --verify, --key and --unsigned are "
		"all that can be given");
}

/* A file that is there is meant before anything of that name in the store. */
static bool
is_file(const char *operand)
{
	return strcmp(operand, "-") == 0 || access(operand, F_OK) == 0;
}

/* A file can be judged without a store. */
static enum ks_status
open_store(struct attest *attest, bool needed, struct ks_store **store,
	struct ks_error *err)
{
	struct ks_cli *cli = attest->cli;
	enum ks_status status = ks_cli_open_view(cli, store, err);

	if (status == KS_NOT_FOUND && !needed && cli->directory == NULL) {
		ks_out_note(cli, "there is no store here: only the keys given "
			"are known");
		return KS_OK;
	}
	return status;
}

static enum ks_status
verify_operand(struct attest *attest, const struct ks_attestation_keys *keys,
	struct ks_error *err)
{
	struct ks_cli *cli = attest->cli;
	const char *operand = cli->operands[0];
	struct ks_attest_report report = { .json = cli->json };
	bool from_file = is_file(operand);
	struct ks_store *store = NULL;
	struct ks_ref ref = KS_REF_INIT;
	enum ks_status status = open_store(attest, !from_file, &store, err);

	if (status == KS_OK && !from_file)
		status = ks_ref_find(cli, store, operand, &ref, err);
	report.verified = cli->verified;
	ks_attest_report_begin(&report);
	if (status == KS_OK)
		status = from_file ? ks_attestations_in(store, operand, keys,
			ks_attest_report_add, &report, err) :
			ks_attestations_of(store, &ref.digest, keys,
			ks_attest_report_add, &report, err);
	if (status == KS_OK && !from_file)
		ks_ref_note_marks(cli, operand, &ref);
	status = ks_attest_report_end(&report, status, err);
	ks_store_close(store);
	return status;
}

static enum ks_status
verify(struct attest *attest, struct ks_error *err)
{
	size_t count = attest->keys.count, i;
	struct ks_buf *texts = calloc(count + 1, sizeof(*texts));
	struct ks_span *spans = calloc(count + 1, sizeof(*spans));
	struct ks_attestation_keys keys = { .texts = spans, .count = count };
	enum ks_status status = check_verifying(attest, err);

	if (texts == NULL || spans == NULL)
		status = ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < count; i++) {
		status = ks_cli_key_text(attest->keys.items[i], &texts[i],
			err);
		spans[i] = ks_buf_span(&texts[i]);
	}
	if (status == KS_OK)
		status = verify_operand(attest, &keys, err);
	for (i = 0; texts != NULL && i < count; i++)
		ks_buf_wipe(&texts[i]);
	free(texts);
	free(spans);
	return status;
}

/* ---- The command -------------------------------------------------------- */

static enum ks_status
run(struct attest *attest, struct ks_error *err)
{
	enum ks_status status = attest->verify ? verify(attest, err) :
		file(attest, err);

	ks_signer_free(attest->signer);
	ks_buf_release(&attest->body_text);
	ks_buf_release(&attest->state);
	return status;
}

enum ks_status
ks_cmd_attest(struct ks_cli *cli, struct ks_error *err)
{
	struct attest attest = { .cli = cli };
	const struct ks_opt options[] = {
		KS_TEXT(0, "type", "TYPE", &attest.options.type,
			"reproduced, could-not-reproduce, environment-note, "
			"regression-observed, correction-wanted or rerun"),
		KS_LIST(0, "key", "FILE", &attest.keys,
			"the private key that signs; with --verify, a public "
			"key that is trusted"),
		KS_SECRET_OPTIONS(&attest.secret),
		KS_TEXT(0, "body", "TEXT", &attest.body, "what is to be said"),
		KS_TEXT(0, "body-file", "FILE", &attest.body_file,
			"the same, from a file"),
		KS_TEXT(0, "evidence-url", "URL", &attest.url,
			"where more is to be found"),
		KS_TEXT(0, "value", "VALUE", &attest.options.value,
			"the latency that was observed, as in 621.5us"),
		KS_TEXT(0, "environment", "TEXT", &attest.environment,
			"what it was observed in"),
		KS_TEXT(0, "author", "NAME", &attest.author,
			"who says so (the name of the key)"),
		KS_TEXT(0, "reason", "REASON", &attest.options.reason,
			"of a correction: incorrect-result, "
			"wrong-attribution, license-issue, comparability or "
			"other"),
		KS_TEXT(0, "rerun", "REF", &attest.rerun,
			"of a rerun: the new run"),
		KS_FLAG(0, "dry-run", &attest.options.dry_run,
			"say what would be done, and do nothing"),
		KS_FLAG(0, "verify", &attest.verify,
			"print attestations and who signed them"),
	};
	enum ks_status status = ks_secret_arguments(cli, err);

	cli->examples =
		"  kistore attest c3252a98 --type reproduced --key me.key\n"
		"      --value 621.5us --body 'Same within noise.'\n"
		"  kistore attest c3252a98 --type rerun --rerun 5f0e11\n"
		"      --key runner.key\n"
		"  kistore attest --verify c3252a98 --key runner.pub\n";
	if (status != KS_OK || !ks_opt_parse(cli, options, KS_COUNT(options),
		&status, err))
		return status;
	return run(&attest, err);
}
