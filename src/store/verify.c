#include "store/readme.h"
#include "store/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- reporting --------------------------------------------------------- */

static void
count(struct ks_verify_result *result, enum ks_severity severity)
{
	switch (severity) {
	case KS_SEVERITY_DAMAGE:
		result->damaged++;
		break;
	case KS_SEVERITY_ABSENT:
		result->absent++;
		break;
	case KS_SEVERITY_UNFETCHED:
		result->unfetched++;
		break;
	case KS_SEVERITY_UNSUPPORTED:
		result->unsupported++;
		break;
	case KS_SEVERITY_WARNING:
		result->warnings++;
		break;
	}
}

void
ks_verify_report(struct ks_verifying *verifying, enum ks_severity severity,
	const struct ks_id *digest, const char *path, const char *format, ...)
{
	char message[KS_ERROR_MESSAGE_MAX];
	struct ks_finding finding = {
		.severity = severity,
		.digest = digest,
		.path = path,
		.message = message
	};
	va_list args;

	count(verifying->result, severity);
	if (verifying->report == NULL)
		return;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	verifying->report(verifying->arg, &finding);
}

enum ks_status
ks_verify_report_error(struct ks_verifying *verifying, enum ks_status status,
	const struct ks_id *digest, const char *path, struct ks_error *err)
{
	const char *message = err == NULL ? "" : err->message;

	if (status == KS_CORRUPT || status == KS_INVALID) {
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, digest, path,
			"%s", message);
		return KS_OK;
	}
	if (status == KS_NOT_FOUND) {
		ks_verify_report(verifying, KS_SEVERITY_UNFETCHED, digest,
			path, "%s", message);
		return KS_OK;
	}
	return status;
}

void
ks_verify_report_line(struct ks_verifying *verifying, uint64_t index,
	const char *message)
{
	char segment[KS_SEGMENT_PATH], path[KS_SEGMENT_PATH + 24];

	(void)snprintf(path, sizeof(path), "%s:%llu",
		ks_layout_segment(index, segment),
		(unsigned long long)(index % KS_SEGMENT_ENTRIES + 1));
	ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path, "%s",
		message);
}

void
ks_verify_leave_out(struct ks_verifying *verifying, const char *text)
{
	struct ks_buf *list = &verifying->not_checked;

	ks_buf_printf(list, "%s%s", list->len == 0 ? "" : "; ", text);
}

/* ---- the top of the tree ----------------------------------------------- */

/* T7: what keeps git from changing bytes at checkout. */
static enum ks_status
check_attributes(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = ks_gitdb_read(verifying->store->db,
		&verifying->store->tree, KS_PATH_ATTRIBUTES,
		KS_LIMIT_STORE_JSON, &text, err);

	if (status == KS_NOT_FOUND || (status == KS_OK &&
		!ks_span_is(ks_buf_span(&text), ks_layout_attributes))) {
		ks_verify_report(verifying, KS_SEVERITY_WARNING, NULL,
			KS_PATH_ATTRIBUTES, "is not what kistore writes: a "
			"checkout may change line ends (T7)");
		status = KS_OK;
	}
	ks_buf_release(&text);
	return status == KS_OK ? KS_OK : ks_verify_report_error(verifying,
		status, NULL, KS_PATH_ATTRIBUTES, err);
}

/* T3: every name that the store uses has the mode it must have. */
static enum ks_status
check_top(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	static const struct {
		const char *name;
		uint32_t mode;
	} known[] = {
		{ KS_PATH_STORE, KS_GIT_MODE_FILE },
		{ KS_PATH_README, KS_GIT_MODE_FILE },
		{ KS_PATH_ATTRIBUTES, KS_GIT_MODE_FILE },
		{ KS_PATH_CHECKPOINT, KS_GIT_MODE_FILE },
		{ KS_PATH_CHECKPOINTS, KS_GIT_MODE_TREE },
		{ KS_PATH_LOG, KS_GIT_MODE_TREE },
		{ KS_PATH_OBJECTS, KS_GIT_MODE_TREE },
		{ KS_PATH_DICTIONARIES, KS_GIT_MODE_TREE }
	};
	struct ks_verifying *verifying = arg;
	char shown[256], text[300];
	size_t i;

	(void)err;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(entry->name, known[i].name) != 0)
			continue;
		if (entry->mode != known[i].mode)
			ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL,
				entry->name, "has mode %06lo, must be %06lo "
				"(T3)", (unsigned long)entry->mode,
				(unsigned long)known[i].mode);
		return KS_OK;
	}
	(void)snprintf(text, sizeof(text), "%s is not covered", ks_printable(
		shown, sizeof(shown), ks_span_text(entry->name)));
	ks_verify_leave_out(verifying, text);
	return KS_OK;
}

/* T8: at a size that is signed, the README is what the template gives. */
static enum ks_status
check_readme(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_store *store = verifying->store;
	const struct ks_checkpoints *notes = &verifying->signed_.notes;
	uint64_t size = ks_replay_tree(verifying->replay)->size;
	struct ks_buf expected = KS_BUF_INIT, found = KS_BUF_INIT;
	enum ks_status status;

	if (notes->count == 0 || notes->list[notes->count - 1].size != size)
		return KS_OK;
	status = ks_gitdb_read(store->db, &store->tree, KS_PATH_README,
		KS_LIMIT_RECORD, &found, NULL);
	if (status == KS_IO || status == KS_NOMEM)
		return ks_fail(err, status, "cannot read %s", KS_PATH_README);
	status = ks_readme_print(store, verifying->replay,
		ks_buf_cstr(&store->origin), size, &expected, err);
	if (status == KS_OK && !ks_span_equal(ks_buf_span(&expected),
		ks_buf_span(&found)))
		ks_verify_report(verifying, KS_SEVERITY_WARNING, NULL,
			KS_PATH_README, "is not the text that a snapshot "
			"writes: do not follow what it says (T8)");
	ks_buf_release(&expected);
	ks_buf_release(&found);
	return status;
}

/* ---- all of it --------------------------------------------------------- */

static enum ks_status
run(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_store *store = verifying->store;
	bool whole = verifying->options->digest_count == 0;
	enum ks_status status;

	status = ks_verify_trust_begin(verifying, err);
	if (status != KS_OK)
		return status;
	if (!whole)
		ks_verify_leave_out(verifying, "other records not checked");
	if (ks_gitdb_is_shallow(store->db))
		ks_verify_leave_out(verifying, "history not checked: it is "
			"cut (git fetch --unshallow)");
	status = ks_gitdb_list(store->db, &store->tree, check_top, verifying,
		err);
	if (status == KS_OK)
		status = check_attributes(verifying, err);
	if (status == KS_OK)
		status = ks_verify_log(verifying, err);
	if (status == KS_OK)
		status = ks_verify_trust_judge(verifying, err);
	if (status == KS_OK)
		status = ks_verify_tags(verifying, err);
	if (status == KS_OK)
		status = ks_verify_dictionaries(verifying, err);
	if (status == KS_OK)
		status = whole ? ks_verify_objects(verifying, err) :
			ks_verify_closure(verifying, err);
	if (status == KS_OK && whole)
		status = check_readme(verifying, err);
	if (status == KS_OK && verifying->options->index)
		status = ks_verify_index(verifying, err);
	return status;
}

static void
describe_log(struct ks_verifying *verifying)
{
	struct ks_log_info *log = &verifying->result->log;
	const struct ks_merkle *tree;

	if (verifying->replay == NULL)
		return;
	tree = ks_replay_tree(verifying->replay);
	log->size = tree->size;
	ks_merkle_root(tree, &log->root);
	(void)snprintf(log->time, sizeof(log->time), "%s",
		ks_replay_time(verifying->replay));
}

enum ks_status
ks_verify_run(struct ks_verifying *verifying, struct ks_error *err)
{
	enum ks_status status;

	memset(verifying->result, 0, sizeof(*verifying->result));
	verifying->result->whole = verifying->options->digest_count == 0 &&
		verifying->since == 0;
	status = run(verifying, err);
	describe_log(verifying);
	return status;
}

void
ks_verify_release(struct ks_verifying *verifying)
{
	ks_buf_release(&verifying->not_checked);
	ks_replay_free(verifying->replay);
	ks_dictionaries_free(verifying->dictionaries);
	ks_signed_release(&verifying->signed_);
	ks_trust_free(verifying->trust);
	ks_state_free(verifying->state);
	free(verifying->unread);
}

enum ks_status
ks_verify(struct ks_store *store, const struct ks_verify_options *options,
	ks_finding_report_fn *report, void *arg,
	struct ks_verify_result *result, struct ks_error *err)
{
	struct ks_verifying verifying = {
		.store = store,
		.options = options,
		.report = report,
		.arg = arg,
		.result = result
	};
	enum ks_status status = ks_verify_run(&verifying, err);

	if (status == KS_OK)
		status = ks_verify_trust_end(&verifying, err);
	ks_buf_release(&store->others);
	store->others = verifying.not_checked;
	verifying.not_checked = (struct ks_buf)KS_BUF_INIT;
	result->not_checked = ks_buf_cstr(&store->others);
	ks_verify_release(&verifying);
	return status;
}
