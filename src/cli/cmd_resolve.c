#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/ref.h"
#include "cli/tree.h"

/* One reference being resolved. */
struct question {
	struct ks_ref ref;
	struct ks_doc *doc;	/* NULL for text */
};

static void
add_to_doc(struct ks_doc *doc, const struct ks_match *match)
{
	ks_doc_object(doc, NULL);
	ks_doc_digest(doc, "digest", &match->digest);
	ks_doc_text(doc, "kind", match->kind);
	ks_doc_text(doc, "name", match->name);
	ks_doc_text(doc, "title", match->title);
	ks_doc_text(doc, "particulars", match->particulars);
	ks_doc_text(doc, "reading", match->reading);
	ks_doc_bool(doc, "retracted", match->retracted);
	ks_doc_bool(doc, "superseded", match->superseded);
	ks_doc_bool(doc, "takenDown", match->taken_down);
	ks_doc_end(doc);
}

static void
on_match(void *arg, const struct ks_match *match)
{
	struct question *question = arg;

	ks_ref_add(&question->ref, match);
	if (question->doc != NULL)
		add_to_doc(question->doc, match);
}

/* ---- One reference, as text or JSON ------------------------------------- */

static enum ks_status
answer_text(struct ks_cli *cli, struct ks_store *store, const char *reference,
	bool tree, struct ks_error *err)
{
	struct question question = { .ref = KS_REF_INIT };
	char digest[KS_ID_TEXT + 1];
	enum ks_status status = ks_resolve(store, reference, on_match,
		&question, err);

	if (status == KS_AMBIGUOUS)
		ks_ref_list(cli, &question.ref);
	if (status == KS_OK && tree)
		status = ks_tree_print(store, &question.ref.digest, err);
	else if (status == KS_OK)
		ks_out_printf("%s\n", ks_id_print(&question.ref.digest,
			digest));
	if (status == KS_OK)
		ks_ref_note_marks(cli, reference, &question.ref);
	ks_ref_release(&question.ref);
	return status;
}

/* The document has "digest" where there is exactly one match, and says by
 * "result" what became of the question otherwise. */
static enum ks_status
answer_json(struct ks_cli *cli, struct ks_store *store, const char *reference,
	bool tree, struct ks_error *err)
{
	struct question question = {
		.ref = KS_REF_INIT, .doc = ks_doc_new("resolve")
	};
	enum ks_status status, printed;

	ks_doc_text(question.doc, "reference", reference);
	ks_doc_bool(question.doc, "verified", cli->verified);
	ks_doc_array(question.doc, "matches");
	status = ks_resolve(store, reference, on_match, &question, err);
	ks_doc_end(question.doc);
	if (status == KS_AMBIGUOUS)
		ks_ref_list(cli, &question.ref);
	if (status == KS_OK)
		ks_doc_digest(question.doc, "digest", &question.ref.digest);
	if (status == KS_OK && tree)
		status = ks_tree_add(store, &question.ref.digest, question.doc,
			err);
	ks_doc_text(question.doc, "result", ks_status_name(status));
	printed = ks_doc_write(question.doc, status == KS_OK ? err : NULL);
	ks_ref_release(&question.ref);
	return ks_cli_worse(status, printed);
}

/* ---- The command -------------------------------------------------------- */

/* Every reference is answered, whatever becomes of the others. A failure is
 * told here, so that the one line an answer has is not followed by another. */
static enum ks_status
answer_all(struct ks_cli *cli, struct ks_store *store, bool tree)
{
	enum ks_status all = KS_OK;
	size_t i;

	for (i = 0; i < cli->operand_count; i++) {
		struct ks_error err = KS_ERROR_INIT;
		enum ks_status status = cli->json ?
			answer_json(cli, store, cli->operands[i], tree, &err) :
			answer_text(cli, store, cli->operands[i], tree, &err);

		if (status != KS_OK)
			ks_out_message(cli, "%s", err.message);
		all = ks_cli_worse(all, status);
	}
	return all;
}

enum ks_status
ks_cmd_resolve(struct ks_cli *cli, struct ks_error *err)
{
	bool tree = false;
	const struct ks_opt options[] = {
		KS_FLAG(0, "tree", &tree, "show all that it refers to"),
	};
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore resolve c3252a98\n"
		"  kistore resolve --tree BenchmarkRun/rmsnorm-h100\n"
		"  kistore resolve https://kernelindex.com/runs/ID\n"
		"  kistore resolve --json c3252a98 | jq -r .digest\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_cli_open_view(cli, &store, err);
	if (status != KS_OK)
		return status;
	status = ks_log_understood(store, err);
	if (status == KS_OK) {
		/* Whatever is wrong is told there. */
		*err = (struct ks_error)KS_ERROR_INIT;
		status = answer_all(cli, store, tree);
	}
	ks_store_close(store);
	return status;
}
