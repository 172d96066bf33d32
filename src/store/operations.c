/*
 * The operations that append one entry about one object.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "format/json.h"
#include "format/kind.h"
#include "store/redaction.h"

/* Append one line and commit it. */
static enum ks_status
append(struct ks_store *store, struct ks_entry *entry,
	const struct ks_write_options *options, struct ks_error *err)
{
	struct ks_writing writing;
	char digest[KS_ID_TEXT + 1];
	struct ks_buf message = KS_BUF_INIT;
	uint32_t object;
	enum ks_status status = ks_writing_begin(&writing, store, options, 1,
		false, err);

	ks_buf_printf(&message, "%s %s\n", ks_op_name(entry->op),
		ks_id_print(&entry->digest, digest));
	if (status == KS_OK)
		status = ks_writing_line(&writing, entry, &object, err);
	if (status == KS_OK)
		status = ks_writing_commit(&writing, ks_buf_cstr(&message),
			err);
	ks_writing_end(&writing);
	ks_buf_release(&message);
	return status;
}

/* Append `text` as a JSON string for a member. */
static enum ks_status
quote(struct ks_buf *out, const char *what, const char *text,
	struct ks_error *err)
{
	struct ks_span span = ks_span_text(text);

	if (span.len == 0)
		return ks_fail(err, KS_INVALID, "%s must not be empty", what);
	if (ks_utf8_check(span) != span.len)
		return ks_fail(err, KS_INVALID, "%s is not UTF-8", what);
	ks_json_quote(out, span);
	return ks_buf_check(out, err);
}

/* The canonical form of an object given as text; nothing for no text. */
static enum ks_status
canonical_object(struct ks_store *store, const char *what,
	struct ks_span text, struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status;

	if (text.len == 0)
		return KS_OK;
	status = ks_jcs_scan(store->jcs, text, &ks_jcs_manifest, out, err);
	if (status == KS_OK &&
		(ks_json_type(ks_buf_span(out)) != KS_JSON_OBJECT ||
		ks_json_count(ks_buf_span(out)) == 0))
		status = ks_fail(err, KS_INVALID,
			"must be an object that is not empty");
	if (status != KS_OK)
		(void)ks_context(err, "%s", what);
	return status;
}

static bool
first_error(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	if (level != KS_FINDING_ERROR)
		return true;
	(void)ks_fail(arg, KS_INVALID, "%s: %s", path, message);
	return false;
}

enum ks_status
ks_annotate(struct ks_store *store, const struct ks_id *digest,
	struct ks_span metadata, struct ks_span provenance,
	const struct ks_write_options *options, struct ks_error *err)
{
	struct ks_entry entry = { .op = KS_OP_ANNOTATE, .digest = *digest };
	struct ks_buf data = KS_BUF_INIT;
	struct ks_buf facts = KS_BUF_INIT;
	struct ks_error found = KS_ERROR_INIT;
	enum ks_status status = canonical_object(store, "metadata", metadata,
		&data, err);

	if (status == KS_OK)
		status = canonical_object(store, "provenance", provenance,
			&facts, err);
	if (status == KS_OK && data.len + facts.len == 0)
		status = ks_fail(err, KS_USAGE,
			"neither metadata nor provenance to record");
	if (status == KS_OK && data.len > 0 && !ks_kind_check_metadata(
		ks_buf_span(&data), first_error, &found)) {
		status = KS_INVALID;
		if (err != NULL)
			*err = found;
	}
	entry.metadata = ks_buf_span(&data);
	entry.provenance = ks_buf_span(&facts);
	if (status == KS_OK)
		status = append(store, &entry, options, err);
	ks_buf_release(&data);
	ks_buf_release(&facts);
	return status;
}

enum ks_status
ks_retract(struct ks_store *store, const struct ks_id *digest,
	const char *reason, const char *retracted_at,
	const struct ks_write_options *options, struct ks_error *err)
{
	struct ks_entry entry = { .op = KS_OP_RETRACT, .digest = *digest };
	struct ks_buf why = KS_BUF_INIT;
	struct ks_buf when = KS_BUF_INIT;
	enum ks_status status = quote(&why, "the reason", reason, err);

	if (status == KS_OK && retracted_at != NULL)
		status = quote(&when, "the time of retraction", retracted_at,
			err);
	entry.reason = ks_buf_span(&why);
	entry.retracted_at = ks_buf_span(&when);
	if (status == KS_OK)
		status = append(store, &entry, options, err);
	ks_buf_release(&why);
	ks_buf_release(&when);
	return status;
}

enum ks_status
ks_supersede(struct ks_store *store, const struct ks_id *digest,
	const struct ks_id *by, const char *reason,
	const struct ks_write_options *options, struct ks_error *err)
{
	struct ks_entry entry = {
		.op = KS_OP_SUPERSEDE, .digest = *digest, .by = *by
	};
	struct ks_buf why = KS_BUF_INIT;
	enum ks_status status = reason == NULL ? KS_OK :
		quote(&why, "the reason", reason, err);

	entry.reason = ks_buf_span(&why);
	if (status == KS_OK)
		status = append(store, &entry, options, err);
	ks_buf_release(&why);
	return status;
}

enum ks_status
ks_restore(struct ks_store *store, const struct ks_id *digest,
	const char *reason, const struct ks_write_options *options,
	struct ks_error *err)
{
	struct ks_entry entry = { .op = KS_OP_RESTORE, .digest = *digest };
	struct ks_buf why = KS_BUF_INIT;
	enum ks_status status = quote(&why, "the reason", reason, err);

	entry.reason = ks_buf_span(&why);
	if (status == KS_OK)
		status = append(store, &entry, options, err);
	ks_buf_release(&why);
	return status;
}

/* ---- takedown ---------------------------------------------------------- */

/* The entries about an object whose text goes, too. */
struct takedown {
	struct ks_store *store;
	struct ks_writing writing;
	struct ks_redaction redaction;
	bool failed;
};

/* Publish and annotate entries have text of their own; the others stay. */
static bool
collect_line(void *arg, uint64_t index, struct ks_span line)
{
	struct takedown *takedown = arg;
	struct ks_entry entry;

	if (line.len == 0 || line.data[0] == '-' ||
		ks_entry_parse(takedown->store->jcs, line, &entry, NULL) !=
		KS_OK || (entry.op != KS_OP_PUBLISH &&
		entry.op != KS_OP_ANNOTATE))
		return false;
	takedown->failed = ks_redaction_add_line(&takedown->redaction, index,
		NULL) != KS_OK;
	return takedown->failed;
}

static void
print_lines(const struct ks_redaction *redaction, struct ks_buf *out)
{
	size_t i;

	if (redaction->line_count == 0)
		return;
	ks_buf_byte(out, '[');
	for (i = 0; i < redaction->line_count; i++)
		ks_buf_printf(out, "%s%llu", i > 0 ? "," : "",
			(unsigned long long)redaction->lines[i]);
	ks_buf_byte(out, ']');
}

/* Where something was ever signed, the snapshot that signs the takedown
 * carries it out (store-layout.md, section "takedown"). */
static enum ks_status
was_signed(struct ks_store *store, bool *signed_, struct ks_error *err)
{
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(store->db, &store->tree,
		KS_PATH_CHECKPOINT, &entry, err);

	*signed_ = status == KS_OK;
	return status == KS_NOT_FOUND ? KS_OK : status;
}

static enum ks_status
carry_out(struct takedown *takedown, const struct ks_id *digest,
	struct ks_error *err)
{
	enum ks_status status = ks_redaction_add_object(&takedown->redaction,
		digest, err);

	return status != KS_OK ? status : ks_redaction_carry_out(
		&takedown->redaction, &takedown->writing, err);
}

static enum ks_status
write_takedown(struct takedown *takedown, struct ks_entry *entry, bool lines,
	struct ks_error *err)
{
	struct ks_buf list = KS_BUF_INIT;
	bool is_signed = false;
	uint32_t object;
	enum ks_status status = KS_OK;

	if (lines)
		status = ks_log_of(takedown->store, &entry->digest,
			collect_line, takedown, err);
	if (status == KS_OK && takedown->failed)
		status = ks_fail_nomem(err);
	print_lines(&takedown->redaction, &list);
	if (status == KS_OK)
		status = ks_buf_check(&list, err);
	entry->lines = ks_buf_span(&list);
	if (status == KS_OK)
		status = ks_writing_line(&takedown->writing, entry, &object,
			err);
	if (status == KS_OK)
		status = was_signed(takedown->store, &is_signed, err);
	if (status == KS_OK && !is_signed)
		status = carry_out(takedown, &entry->digest, err);
	ks_buf_release(&list);
	return status;
}

enum ks_status
ks_takedown(struct ks_store *store, const struct ks_id *digest,
	const char *reason, bool lines, const struct ks_write_options *options,
	struct ks_error *err)
{
	struct takedown takedown = { .store = store };
	struct ks_entry entry = { .op = KS_OP_TAKEDOWN, .digest = *digest };
	struct ks_buf why = KS_BUF_INIT;
	enum ks_status status = quote(&why, "the reason", reason, err);

	entry.reason = ks_buf_span(&why);
	takedown.writing.lock = (struct ks_lock)KS_LOCK_INIT;
	if (status == KS_OK)
		status = ks_writing_begin_whole(&takedown.writing, store,
			options, err);
	if (status == KS_OK)
		status = write_takedown(&takedown, &entry, lines, err);
	if (status == KS_OK)
		status = ks_writing_commit(&takedown.writing, "takedown\n",
			err);
	ks_writing_end(&takedown.writing);
	ks_redaction_release(&takedown.redaction);
	ks_buf_release(&why);
	return status;
}
