#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/in.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/trust.h"

/* One thing that is checked, and what came of it. */
struct checked {
	const char *name;	/* as it was given */
	struct ks_check_result result;
	struct ks_check_standing standing;
	bool is_read, has_standing;
	enum ks_status status;
	struct ks_error err;	/* why */
};

struct checking {
	struct ks_cli *cli;
	struct ks_check_options options;
	struct ks_store *store;	/* NULL until needed */
};

/* ---- what it comes to ------------------------------------------------ */

/* The signature that counts: of the file or, of a text, that of the store. */
static const struct ks_signature_result *
signature_of(const struct checked *checked)
{
	return checked->result.form == KS_CHECK_TEXT ?
		&checked->standing.signature : &checked->result.signature;
}

static const char *
verdict_of(const struct checked *checked)
{
	if (checked->status == KS_REVOKED)
		return checked->standing.retracted ? "retracted" :
			"superseded";
	if (checked->status == KS_NOT_FOUND && checked->standing.taken_down)
		return "taken down";
	return checked->status == KS_OK ? "proven" :
		checked->status == KS_UNTRUSTED ? "not trusted" :
		checked->status == KS_CORRUPT ? "refuted" : "not checked";
}

static enum ks_status
judge_signature(struct checked *checked)
{
	const struct ks_signature_result *signature = signature_of(checked);

	if (!signature->asked)
		return ks_fail(&checked->err, KS_UNTRUSTED, "no key is "
			"trusted%s%s: give one that you have from elsewhere "
			"(--key, --policy)", checked->result.signer[0] == '\0'
			? "" : ": it is signed, as it says itself, by ",
			checked->result.signer);
	if (signature->status == KS_OK)
		return KS_OK;
	return ks_fail(&checked->err, signature->status, "%s: %s",
		signature->verdict, signature->message);
}

static enum ks_status
judge_standing(struct checked *checked)
{
	const struct ks_check_standing *standing = &checked->standing;

	if (standing->differs)
		return ks_fail(&checked->err, KS_CORRUPT, "the text is not "
			"the one that the store gives for its digest");
	if (standing->taken_down)
		return ks_fail(&checked->err, KS_NOT_FOUND,
			"it was taken down");
	if (standing->retracted || standing->superseded)
		return ks_fail(&checked->err, KS_REVOKED, "it was %s",
			standing->retracted ? "retracted" : "superseded");
	return KS_OK;
}

/* ---- checking -------------------------------------------------------- */

/* How many digits `text` has as a digest, in full or its first ones; 0 where it
 * is none. */
static size_t
count_digits(const char *text)
{
	const char *hex = strncmp(text, "sha256:", 7) == 0 ? text + 7 : text;
	size_t len = strlen(hex);

	return strspn(hex, "0123456789abcdefABCDEF") == len ? len : 0;
}

/* A file that is too long is malformed, not input that is refused (E10). */
static enum ks_status
read_bytes(const char *name, struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status;

	if (count_digits(name) == KS_ID_HEX) {
		ks_buf_text(out, name);
		return ks_buf_check(out, err);
	}
	status = ks_in_read(name, KS_CHECK_MAX, out, err);
	if (status == KS_IO && count_digits(name) > 0)
		return ks_fail(err, KS_IO, "%s: is neither a file that can be "
			"read nor a digest in full (kistore resolve prints "
			"it)", name);
	return status == KS_INVALID ? KS_CORRUPT : status;
}

/* A store is asked where one is named, and for what proves nothing itself. */
static bool
needs_store(const struct checking *checking, const struct checked *checked)
{
	const struct ks_cli *cli = checking->cli;

	return checked->result.has_digest &&
		(checked->result.form == KS_CHECK_TEXT ||
		cli->directory != NULL ||
		ks_cli_environment("KISTORE_DIR") != NULL);
}

static enum ks_status
ask_store(struct checking *checking, struct checked *checked)
{
	enum ks_status status = KS_OK;

	if (checking->store == NULL)
		status = ks_cli_open(checking->cli, NULL, &checking->store,
			&checked->err);
	if (status != KS_OK && checked->result.form == KS_CHECK_TEXT)
		return ks_context(&checked->err, "it proves nothing by itself, "
			"and is looked up in a store (-C DIR)");
	if (status == KS_OK)
		status = ks_check_store(checking->store, &checking->options,
			&checked->result, &checked->standing, &checked->err);
	checked->has_standing = status == KS_OK;
	return status;
}

/* The gravest of what is wrong; its message stays. */
static void
judge(struct checking *checking, struct checked *checked)
{
	struct ks_error first;
	enum ks_status status = KS_OK, other = KS_OK;

	if (checked->result.form != KS_CHECK_TEXT)
		status = judge_signature(checked);
	if (needs_store(checking, checked) && status != KS_CORRUPT) {
		first = checked->err;
		other = ask_store(checking, checked);
		if (other == KS_OK && checked->result.form == KS_CHECK_TEXT) {
			status = judge_signature(checked);
			first = checked->err;
		}
		if (other == KS_OK)
			other = judge_standing(checked);
		if (other == KS_OK || (status != KS_OK &&
			ks_cli_worse(status, other) == status))
			checked->err = first;
	}
	checked->status = ks_cli_worse(status, other);
}

static void
check_one(struct checking *checking, const char *name,
	struct checked *checked)
{
	struct ks_buf bytes = KS_BUF_INIT;

	*checked = (struct checked){ .name = name,
		.result = KS_CHECK_RESULT_INIT,
		.standing = KS_CHECK_STANDING_INIT, .err = KS_ERROR_INIT };
	checked->status = read_bytes(name, &bytes, &checked->err);
	checked->is_read = checked->status == KS_OK;
	if (checked->status == KS_OK)
		checked->status = ks_check(ks_buf_span(&bytes),
			&checking->options, &checked->result, &checked->err);
	if (checked->status == KS_OK)
		judge(checking, checked);
	ks_buf_release(&bytes);
}

/* ---- text ------------------------------------------------------------ */

static void
print_field(const char *label, const char *text)
{
	ks_out_printf("%s: ", label);
	ks_out_field(text);
	ks_out_printf("\n");
}

/* Texts of citations may be long, and are not cut. */
static void
print_text(const char *label, struct ks_buf *text)
{
	if (text->len == 0)
		return;
	ks_out_printf("%s: ", label);
	ks_out_text(ks_buf_span(text));
	ks_out_printf("\n");
}

static void
print_published(const struct checked *checked)
{
	const struct ks_check_result *result = &checked->result;

	if (result->form == KS_CHECK_TEXT)
		return;
	ks_out_printf("published: entry %" PRIu64 " of the %" PRIu64
		" that are signed of ", result->index, result->size);
	ks_out_field(result->origin);
	ks_out_printf("\n");
}

/* Proven by others' clocks, or claimed by the log's writer. */
static void
print_since(const struct checked *checked)
{
	const struct ks_signature_result *signature = signature_of(checked);
	const char *at = checked->has_standing ? checked->standing.at :
		checked->result.at;
	char time[KS_CLI_TIME];

	if (signature->status == KS_OK && signature->asked &&
		signature->first > 0) {
		ks_cli_time(signature->first, time);
		ks_out_printf("since: %s at the latest, by a cosignature; ",
			time);
		ks_out_printf("claimed: %s\n", at[0] == '\0' ? "nothing" : at);
	} else if (at[0] != '\0')
		ks_out_printf("since: %s, as the log claims\n", at);
}

static void
print_standing(struct checked *checked)
{
	struct ks_check_standing *standing = &checked->standing;
	char digest[KS_ID_TEXT + 1];

	if (!checked->has_standing)
		return;
	if (checked->result.form == KS_CHECK_TEXT)
		ks_out_printf("published: entry %" PRIu64 " of the %" PRIu64
			" that the store shows\n", standing->index,
			standing->size);
	ks_out_printf("store: %s, by %" PRIu64 " entries%s\n",
		standing->taken_down ? "taken down" :
		standing->retracted ? "retracted" :
		standing->superseded ? "superseded" :
		"not retracted, not superseded", standing->size,
		standing->older ? ", fewer than are proven here" : "");
	if (standing->taken_down || standing->retracted ||
		standing->superseded) {
		ks_out_printf("by: entry %" PRIu64 " of %s\n",
			standing->changed, standing->changed_at);
		print_text("reason", &standing->reason);
	}
	if (standing->has_successor)
		ks_out_printf("successor: %s\n",
			ks_id_print(&standing->successor, digest));
	if (standing->differs)
		print_text("the store gives", &standing->text);
}

/* What cannot be told is always told. */
static const char *
not_shown(const struct checked *checked)
{
	if (checked->result.form == KS_CHECK_PROOF)
		return checked->has_standing ? "what was said of it later "
			"than the store knows" : "what was said of it in other "
			"entries";
	if (checked->has_standing)
		return "when it was looked at; what was said of it later than "
			"the store knows";
	return "when it was looked at; whether it was retracted, superseded "
		"or annotated otherwise (a store tells: -C DIR)";
}

static void
print_checked(struct checked *checked)
{
	struct ks_check_result *result = &checked->result;
	char digest[KS_ID_TEXT + 1];

	ks_out_printf("%s: ", verdict_of(checked));
	ks_out_field(ks_in_name(checked->name));
	ks_out_printf("\n");
	if (result->has_digest)
		ks_out_printf("record: %s\n", ks_id_print(&result->digest,
			digest));
	if (result->kind.len > 0)
		print_field("kind", ks_buf_cstr(&result->kind));
	print_text("citation", &result->text);
	print_published(checked);
	print_since(checked);
	if (result->signer[0] != '\0' && !result->signature.asked)
		print_field("signed, as it says itself, by", result->signer);
	ks_cli_print_signature(signature_of(checked));
	if (result->objects > 0)
		ks_out_printf("whole: %" PRIu64 " objects, %" PRIu64
			" entries, each proven to stand in the log\n",
			result->objects, result->lines);
	print_standing(checked);
	print_field("not shown", not_shown(checked));
}

/* ---- json ------------------------------------------------------------ */

static void
add_standing(struct ks_doc *doc, struct checked *checked)
{
	struct ks_check_standing *standing = &checked->standing;

	if (!checked->has_standing) {
		ks_doc_null(doc, "store");
		return;
	}
	ks_doc_object(doc, "store");
	ks_doc_integer(doc, "size", (int64_t)standing->size);
	ks_doc_bool(doc, "older", standing->older);
	ks_doc_integer(doc, "entry", (int64_t)standing->index);
	ks_doc_some(doc, "claimedAt", standing->at);
	ks_doc_bool(doc, "retracted", standing->retracted);
	ks_doc_bool(doc, "superseded", standing->superseded);
	ks_doc_bool(doc, "takenDown", standing->taken_down);
	if (standing->has_successor)
		ks_doc_digest(doc, "successor", &standing->successor);
	else
		ks_doc_null(doc, "successor");
	ks_doc_some(doc, "changedAt", standing->changed_at);
	ks_doc_some(doc, "reason", ks_buf_cstr(&standing->reason));
	ks_doc_bool(doc, "textDiffers", standing->differs);
	ks_doc_end(doc);
}

static void
add_result(struct ks_doc *doc, struct checked *checked)
{
	struct ks_check_result *result = &checked->result;
	const struct ks_signature_result *signature = signature_of(checked);
	char time[KS_CLI_TIME] = "";

	if (result->has_digest)
		ks_doc_digest(doc, "record", &result->digest);
	else
		ks_doc_null(doc, "record");
	ks_doc_some(doc, "kind", ks_buf_cstr(&result->kind));
	ks_doc_some(doc, "citation", ks_buf_cstr(&result->text));
	ks_doc_some(doc, "accessed", result->accessed);
	ks_doc_some(doc, "origin", result->origin);
	ks_doc_some(doc, "signer", result->signer);
	ks_doc_integer(doc, "size", (int64_t)result->size);
	ks_doc_integer(doc, "entry", (int64_t)result->index);
	ks_doc_some(doc, "claimedAt", result->at);
	if (signature->status == KS_OK && signature->first > 0)
		ks_cli_time(signature->first, time);
	ks_doc_some(doc, "provenAt", time);
	ks_doc_integer(doc, "objects", (int64_t)result->objects);
	ks_doc_integer(doc, "lines", (int64_t)result->lines);
	ks_cli_doc_signature(doc, signature);
	add_standing(doc, checked);
	ks_doc_text(doc, "notShown", not_shown(checked));
}

static enum ks_status
print_json(struct checked *checked, bool has_result, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("check");

	ks_doc_text(doc, "file", ks_in_name(checked->name));
	ks_doc_text(doc, "verdict", verdict_of(checked));
	ks_doc_integer(doc, "exit", ks_cli_exit_code(checked->status));
	ks_doc_some(doc, "message", checked->err.message);
	if (has_result)
		add_result(doc, checked);
	return ks_doc_write(doc, err);
}

/* ---- the command ----------------------------------------------------- */

/* Whether it could be judged at all, so that there is something to tell. */
static bool
is_judged(const struct checked *checked)
{
	return checked->result.signature.verdict != NULL &&
		(checked->result.form == KS_CHECK_TEXT ?
		checked->has_standing : checked->result.size > 0);
}

static enum ks_status
tell(struct ks_cli *cli, struct checked *checked, struct ks_error *err)
{
	bool judged = is_judged(checked);
	enum ks_status status = KS_OK;

	if (cli->json)
		status = print_json(checked, judged, err);
	else if (judged)
		print_checked(checked);
	/* That a file cannot be read says already which one. */
	if (checked->status != KS_OK)
		ks_out_message(cli, "%s%s%s", checked->is_read ?
			ks_in_name(checked->name) : "", checked->is_read ?
			": " : "", checked->err.message);
	return status;
}

static enum ks_status
run(struct checking *checking, struct ks_error *err)
{
	struct ks_cli *cli = checking->cli;
	enum ks_status worst = KS_OK, status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < cli->operand_count; i++) {
		struct checked checked;

		check_one(checking, cli->operands[i], &checked);
		worst = ks_cli_worse(worst, checked.status);
		status = tell(cli, &checked, err);
		ks_check_release(&checked.result);
		ks_check_standing_release(&checked.standing);
	}
	ks_store_close(checking->store);
	return status != KS_OK ? status : worst;
}

enum ks_status
ks_cmd_check(struct ks_cli *cli, struct ks_error *err)
{
	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
	struct checking checking = { .cli = cli };
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_span entry;
	const char *path = NULL;
	const struct ks_opt table[] = {
		KS_TEXT(0, "entry", "FILE", &path,
			"the entry that a .tlog-proof is about"),
		KS_LIST(0, "key", "KEY", &trust.keys,
			"trust this key: a vkey, an SSH line, PEM, or a file"),
		KS_TEXT(0, "origin", "NAME", &trust.origin,
			"the origin of a key that is no vkey"),
		KS_TEXT(0, "policy", "FILE", &trust.policy,
			"trust as this tlog-policy file says"),
	};
	enum ks_status status;

	cli->examples = "  kistore check --key log.vkey c3252a98.citation\n"
		"  kistore check --key log.vkey --entry line line.tlog-proof\n"
		"  kistore -C data.git check --key log.vkey citation.txt\n";
	if (!ks_opt_parse(cli, table, KS_COUNT(table), &status, err))
		return status;
	checking.options.watch = &cli->watch;
	checking.options.trust = &trust.options;
	status = ks_cli_trust_read(cli, &trust, err);
	if (status == KS_OK && path != NULL) {
		status = ks_in_read(path, KS_CHECK_MAX, &bytes, err);
		entry = ks_buf_span(&bytes);
		checking.options.entry = &entry;
	}
	if (status == KS_OK)
		status = run(&checking, err);
	ks_cli_trust_release(&trust);
	ks_buf_release(&bytes);
	return status;
}
