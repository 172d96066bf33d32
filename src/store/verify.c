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
	char shown[256];
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
		if (strcmp(entry->name, KS_PATH_CHECKPOINT) == 0)
			verifying->is_signed = true;
		return KS_OK;
	}
	ks_buf_printf(&verifying->not_checked, "; %s is not covered",
		ks_printable(shown, sizeof(shown),
			ks_span_text(entry->name)));
	return KS_OK;
}

/* ---- all of it --------------------------------------------------------- */

static enum ks_status
run(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_store *store = verifying->store;
	bool whole = verifying->options->digest_count == 0;
	enum ks_status status;

	ks_buf_text(&verifying->not_checked, "signature not checked");
	if (!whole)
		ks_buf_text(&verifying->not_checked, "; other records not "
			"checked");
	if (ks_gitdb_is_shallow(store->db))
		ks_buf_text(&verifying->not_checked, "; history not checked: "
			"it is cut (git fetch --unshallow)");
	status = ks_gitdb_list(store->db, &store->tree, check_top, verifying,
		err);
	if (status == KS_OK)
		status = check_attributes(verifying, err);
	if (status == KS_OK)
		status = ks_verify_log(verifying, err);
	if (status == KS_OK)
		status = ks_verify_dictionaries(verifying, err);
	if (status == KS_OK)
		status = whole ? ks_verify_objects(verifying, err) :
			ks_verify_closure(verifying, err);
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
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	result->whole = options->digest_count == 0;
	status = run(&verifying, err);
	describe_log(&verifying);
	ks_buf_release(&store->others);
	store->others = verifying.not_checked;
	result->not_checked = ks_buf_cstr(&store->others);
	ks_replay_free(verifying.replay);
	ks_dictionaries_free(verifying.dictionaries);
	free(verifying.unread);
	return status;
}
