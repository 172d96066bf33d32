/*
 * Writing a snapshot file (store-layout.md S8 to S14).
 *
 * The log is replayed up to the size first, and its root and notes checked
 * against it; then everything is written in one go. So only an object can still
 * turn out damaged when the first bytes are out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/digest.h"
#include "format/snapfile.h"
#include "store/archive.h"

/* Levels beyond save little: records are small and alike. */
#define LEVEL 9

/* The encoder's output is handed on in pieces of this size. */
#define STEP ((size_t)128 << 10)

/* How many snapshots a message names. */
#define NAMED_MAX 12

struct export {
	struct ks_store *store;
	const struct ks_export_options *options;
	struct ks_snapshot_file *result;
	ks_write_fn *write;
	void *arg;
	const struct ks_stored_note *note, *from_note;
	struct ks_error fault;		/* the first of the notes */
	struct ks_signed signed_;
	struct ks_takedowns takedowns;	/* of the whole log */
	struct ks_replay *replay;	/* of the first `size` entries */
	struct ks_merkle range;		/* of the first `from` */
	struct ks_id *wanted;		/* objects, ascending */
	size_t wanted_count;
	struct ks_checker checker;
	struct ks_buf body;
	struct ks_snapwriter *writer;
	struct ks_deflater *deflater;
	struct ks_buf out;
	struct ks_buf lines;		/* of the segment being gathered */
};

/* ---- which snapshot ------------------------------------------------- */

static void
take_note_fault(void *arg, const char *path, const char *message)
{
	struct export *export = arg;

	if (export->fault.status == KS_OK)
		(void)ks_fail(&export->fault, KS_CORRUPT, "%s: %s", path,
			message);
}

/* "3, 8 and 12", the newest ones. */
static void
name_sizes(const struct ks_checkpoints *notes, char *out, size_t size)
{
	size_t i, used = 0, first = notes->count > NAMED_MAX ?
		notes->count - NAMED_MAX : 0;

	out[0] = '\0';
	for (i = first; i < notes->count && used < size; i++) {
		int n = snprintf(out + used, size - used, "%s%llu",
			i == first ? (first > 0 ? "..., " : "") :
			i + 1 == notes->count ? " and " : ", ",
			(unsigned long long)notes->list[i].size);

		used += n > 0 ? (size_t)n : 0;
	}
}

static enum ks_status
no_snapshot(const struct export *export, uint64_t size, struct ks_error *err)
{
	const struct ks_checkpoints *notes = &export->signed_.notes;
	char sizes[300];

	name_sizes(notes, sizes, sizeof(sizes));
	return ks_fail(err, KS_NOT_FOUND, "there is no snapshot of %llu "
		"entries, only of %s", (unsigned long long)size, sizes);
}

static enum ks_status
choose(struct export *export, struct ks_error *err)
{
	const struct ks_checkpoints *notes = &export->signed_.notes;
	const struct ks_export_options *options = export->options;

	if (export->fault.status != KS_OK)
		return ks_fail(err, KS_CORRUPT, "%s", export->fault.message);
	if (notes->count == 0 || notes->list == NULL)
		return ks_fail(err, KS_NOT_FOUND, "nothing is signed yet: "
			"there is no snapshot (kistore snapshot create)");
	export->note = options->size == 0 ? &notes->list[notes->count - 1] :
		ks_checkpoints_find(notes, options->size);
	if (export->note == NULL)
		return no_snapshot(export, options->size, err);
	if (options->from == 0)
		return KS_OK;
	export->from_note = ks_checkpoints_find(notes, options->from);
	if (export->from_note == NULL)
		return no_snapshot(export, options->from, err);
	if (options->from >= export->note->size)
		return ks_fail(err, KS_USAGE, "an incremental file begins at "
			"an earlier snapshot than that of %llu entries",
			(unsigned long long)export->note->size);
	return KS_OK;
}

/* ---- the log -------------------------------------------------------- */

static enum ks_status
find_takedown(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct export *export = arg;

	return ks_takedowns_take(&export->takedowns, export->store->jcs,
		index, line, err);
}

static enum ks_status
replay_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct export *export = arg;
	struct ks_error rule = KS_ERROR_INIT;
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;

	if (index >= export->note->size)
		return KS_CANCELLED;
	if (ks_replay_line(export->replay, export->store->jcs, line, &verdict,
		&entry, &object, &rule) != KS_OK)
		return ks_fail_nomem(err);
	if (verdict != KS_LINE_OK)
		return ks_fail(err, verdict == KS_LINE_FAULT ? KS_CORRUPT :
			KS_UNSUPPORTED, "entry %llu: %s",
			(unsigned long long)index, rule.message);
	if (index + 1 == export->options->from)
		export->range = *ks_replay_tree(export->replay);
	return ks_signed_line(&export->signed_, &entry,
		ks_replay_tree(export->replay), err);
}

/* A line that a later takedown lists is redacted, and that is beyond the
 * snapshot: no fault. */
static void
take_end_fault(void *arg, uint64_t index, const char *message)
{
	struct export *export = arg;

	if (export->fault.status == KS_OK && !ks_takedowns_lists(
		&export->takedowns, export->note->size, index))
		(void)ks_fail(&export->fault, KS_CORRUPT, "entry %llu: %s",
			(unsigned long long)index, message);
}

/* Does a takedown after the snapshot concern what the file would hold? */
static bool
concerns(const struct export *export, const struct ks_takedown *takedown)
{
	uint32_t number = ks_replay_find(export->replay, &takedown->digest);
	size_t i;

	if (number != KS_NO_OBJECT && ks_replay_object(export->replay,
		number)->published >= export->options->from)
		return true;
	for (i = 0; i < takedown->count; i++) {
		uint64_t line = export->takedowns.lines[takedown->first + i];

		if (line >= export->options->from &&
			line < export->note->size)
			return true;
	}
	return false;
}

/* S13. */
static enum ks_status
check_later(const struct export *export, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	size_t i;

	for (i = 0; i < export->takedowns.count; i++) {
		const struct ks_takedown *takedown =
			&export->takedowns.list[i];

		if (takedown->index >= export->note->size &&
			concerns(export, takedown))
			return ks_fail(err, KS_NOT_FOUND, "the snapshot of "
				"%llu entries has %s, which entry %llu takes "
				"down: only snapshots that cover that entry "
				"can be exported (S13)",
				(unsigned long long)export->note->size,
				ks_id_print(&takedown->digest, text),
				(unsigned long long)takedown->index);
	}
	return KS_OK;
}

static enum ks_status
check_root(struct export *export, const struct ks_stored_note *note,
	struct ks_error *err)
{
	struct ks_id root;

	if (note == NULL)
		return KS_OK;
	if (!ks_signed_root(&export->signed_, note->size, &root))
		return ks_fail(err, KS_CORRUPT, "the log has fewer than the "
			"%llu entries that are signed (S2)",
			(unsigned long long)note->size);
	if (!ks_id_equal(&root, &note->root))
		return ks_fail(err, KS_CORRUPT, "the first %llu entries of "
			"the log are not those that were signed (S1)",
			(unsigned long long)note->size);
	return KS_OK;
}

static enum ks_status
replay_log(struct export *export, struct ks_error *err)
{
	struct ks_store *store = export->store;
	enum ks_status status = ks_replay_new(&export->replay, err);

	ks_signed_start(&export->signed_);
	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0, find_takedown,
			export, err);
	if (status == KS_OK)
		status = ks_takedowns_foresee(&export->takedowns,
			export->replay, 0, err);
	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0, replay_line,
			export, err);
	if (status == KS_CANCELLED)
		status = KS_OK;
	ks_signed_end(&export->signed_);
	return status;
}

static enum ks_status
check_log(struct export *export, struct ks_error *err)
{
	enum ks_status status = replay_log(export, err);

	if (status == KS_OK)
		status = check_root(export, export->note, err);
	if (status == KS_OK)
		status = check_root(export, export->from_note, err);
	if (status == KS_OK)
		status = check_later(export, err);
	if (status != KS_OK)
		return status;
	ks_replay_end(export->replay, take_end_fault, export);
	if (export->fault.status != KS_OK)
		return ks_fail(err, KS_CORRUPT, "%s", export->fault.message);
	return ks_takedowns_check(&export->takedowns, export->options->from,
		export->note->size, err);
}

/* ---- notes ---------------------------------------------------------- */

/* S9: the text and the line of the log's own key, whoever else signed. */
static enum ks_status
print_note(struct export *export, const struct ks_stored_note *stored,
	struct ks_buf *out, struct ks_error *err)
{
	const struct ks_log_key *key = ks_signed_key(&export->signed_,
		stored->size);
	struct ks_note_key open = { .vkey = key == NULL ? NULL : &key->vkey };
	struct ks_note note;
	enum ks_status status;

	if (key == NULL)
		return ks_fail(err, KS_CORRUPT, "the log names no key of its "
			"own within %llu entries (S3)",
			(unsigned long long)stored->size);
	if (!ks_span_is(ks_buf_span(&export->store->origin), key->vkey.name))
		return ks_fail(err, KS_CORRUPT, "the key of the log is of "
			"another origin than " KS_PATH_STORE " (S3)");
	status = ks_note_parse(ks_buf_span(&stored->bytes), &note, err);
	if (status != KS_OK)
		return status;
	if (ks_note_open(&note, &open, 1, err) != KS_OK) {
		status = ks_fail(err, KS_CORRUPT, "checkpoints/%llu is not "
			"signed by %s+%08lx, the key that the log names in "
			"entry %llu (S3)", (unsigned long long)stored->size,
			key->vkey.name, (unsigned long)key->vkey.id,
			(unsigned long long)key->index);
	} else {
		ks_buf_append(out, note.text);
		ks_buf_byte(out, '\n');
		ks_buf_append(out, note.lines[open.line].line);
		status = ks_buf_check(out, err);
	}
	ks_note_release(&note);
	return status;
}

static void
describe(struct export *export)
{
	struct ks_snapshot_file *result = export->result;
	const struct ks_log_key *key = ks_signed_key(&export->signed_,
		export->note->size);

	result->from = export->options->from;
	result->size = export->note->size;
	result->root = export->note->root;
	(void)snprintf(result->origin, sizeof(result->origin), "%s",
		key->vkey.name);
	(void)snprintf(result->signer, sizeof(result->signer), "%s+%08lx",
		key->vkey.name, (unsigned long)key->vkey.id);
}

static enum ks_status
write_notes(struct export *export, struct ks_error *err)
{
	struct ks_buf note = KS_BUF_INIT;
	enum ks_status status = print_note(export, export->note, &note, err);

	if (status == KS_OK)
		status = ks_snapwriter_checkpoint(export->writer,
			ks_buf_span(&note), export->note->size, err);
	ks_buf_clear(&note);
	if (status == KS_OK && export->from_note != NULL) {
		status = print_note(export, export->from_note, &note, err);
		if (status == KS_OK)
			status = ks_snapwriter_from(export->writer,
				ks_buf_span(&note), &export->range, err);
	}
	ks_buf_release(&note);
	return status;
}

/* ---- lines ---------------------------------------------------------- */

static enum ks_status
flush_lines(struct export *export, struct ks_error *err)
{
	enum ks_status status = ks_buf_check(&export->lines, err);

	if (status == KS_OK)
		status = ks_snapwriter_segment(export->writer,
			ks_buf_span(&export->lines), err);
	ks_buf_clear(&export->lines);
	return status == KS_OK ? ks_watch_check(export->options->watch, err) :
		status;
}

static enum ks_status
write_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct export *export = arg;
	enum ks_status status = KS_OK;

	ks_buf_append(&export->lines, line);
	ks_buf_byte(&export->lines, '\n');
	if ((index + 1) % KS_SEGMENT_ENTRIES == 0 ||
		index + 1 == export->note->size)
		status = flush_lines(export, err);
	return status == KS_OK && index + 1 == export->note->size ?
		KS_CANCELLED : status;
}

static enum ks_status
write_lines(struct export *export, struct ks_error *err)
{
	struct ks_error stop = KS_ERROR_INIT;
	enum ks_status status = ks_log_each(export->store->db,
		&export->store->tree, export->options->from, write_line,
		export, &stop);

	/* The last line ends it without a message. */
	if (status == KS_CANCELLED && stop.message[0] == '\0')
		return KS_OK;
	return status == KS_OK ? KS_OK : ks_fail(err, status, "%s",
		stop.message);
}

/* ---- objects -------------------------------------------------------- */

static int
by_digest(const void *a, const void *b)
{
	return ks_id_compare(a, b);
}

static enum ks_status
list_wanted(struct export *export, struct ks_error *err)
{
	uint32_t i, count = ks_replay_objects(export->replay);

	export->wanted = calloc((size_t)count + 1, sizeof(*export->wanted));
	if (export->wanted == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < count; i++) {
		const struct ks_object_state *state =
			ks_replay_object(export->replay, i);

		if (state->published >= export->options->from &&
			!state->taken_down)
			export->wanted[export->wanted_count++] = state->digest;
	}
	qsort(export->wanted, export->wanted_count, sizeof(*export->wanted),
		by_digest);
	return KS_OK;
}

/* What a reader of the file would refuse is not written. */
static enum ks_status
check_object(struct export *export, const struct ks_id *id,
	struct ks_error *err)
{
	struct ks_check_findings findings = { .count = 0 };
	char text[KS_ID_TEXT + 1];
	enum ks_status status = KS_OK;

	ks_check_body(&export->checker, export->replay, id,
		ks_replay_find(export->replay, id), ks_buf_span(&export->body),
		&findings);
	if (findings.failed)
		status = ks_fail_nomem(err);
	else if (findings.count > 0)
		status = ks_fail(err, KS_CORRUPT, "%s: %s", ks_id_print(id,
			text), ks_buf_cstr(&findings.list[0].message));
	ks_check_findings_release(&findings);
	return status;
}

static enum ks_status
write_object(struct export *export, const struct ks_id *id,
	struct ks_error *err)
{
	enum ks_status status;

	ks_buf_clear(&export->body);
	status = ks_store_body(export->store, id, &export->body, err);
	if (status == KS_NOT_FOUND && !ks_store_has(export->store, id))
		status = ks_store_explain_absence(export->store, id, err);
	if (status == KS_OK)
		status = check_object(export, id, err);
	if (status == KS_OK)
		status = ks_snapwriter_object(export->writer, id,
			ks_buf_span(&export->body), err);
	export->result->objects++;
	export->result->object_bytes += export->body.len;
	return status;
}

static enum ks_status
write_objects(struct export *export, struct ks_error *err)
{
	const struct ks_watch *watch = export->options->watch;
	size_t i;
	enum ks_status status = list_wanted(export, err);

	if (status == KS_OK)
		status = ks_checker_init(&export->checker, err);
	for (i = 0; status == KS_OK && i < export->wanted_count; i++) {
		status = ks_watch_check(watch, err);
		if (status == KS_OK)
			status = write_object(export, &export->wanted[i], err);
		ks_watch_progress(watch, "exporting", i,
			export->wanted_count);
	}
	return status;
}

/* ---- the stream ----------------------------------------------------- */

static enum ks_status
hand_on(struct export *export, struct ks_error *err)
{
	enum ks_status status = ks_buf_check(&export->out, err);

	if (status == KS_OK && export->out.len > 0)
		status = export->write(export->arg, ks_buf_span(&export->out),
			err);
	ks_buf_clear(&export->out);
	return status;
}

static enum ks_status
compress(void *arg, struct ks_span bytes, struct ks_error *err)
{
	struct export *export = arg;
	enum ks_status status = KS_OK;

	export->result->tar_bytes += bytes.len;
	while (status == KS_OK && bytes.len > 0) {
		status = ks_deflater_step(export->deflater, &bytes, STEP,
			&export->out, err);
		if (status == KS_OK && export->out.len >= STEP)
			status = hand_on(export, err);
	}
	return status;
}

static enum ks_status
write_all(struct export *export, struct ks_error *err)
{
	enum ks_status status = ks_deflater_new(&export->deflater, LEVEL, err);

	if (status == KS_OK)
		status = ks_snapwriter_new(&export->writer, compress, export,
			err);
	if (status == KS_OK)
		status = write_notes(export, err);
	if (status == KS_OK)
		status = write_lines(export, err);
	if (status == KS_OK)
		status = write_objects(export, err);
	if (status == KS_OK)
		status = ks_snapwriter_end(export->writer,
			&export->result->tar, err);
	if (status == KS_OK)
		status = ks_deflater_end(export->deflater, &export->out, err);
	return status == KS_OK ? hand_on(export, err) : status;
}

static void
release(struct export *export)
{
	ks_snapwriter_free(export->writer);
	ks_deflater_free(export->deflater);
	ks_buf_release(&export->out);
	ks_buf_release(&export->lines);
	ks_buf_release(&export->body);
	ks_checker_release(&export->checker);
	free(export->wanted);
	ks_replay_free(export->replay);
	ks_takedowns_release(&export->takedowns);
	ks_signed_release(&export->signed_);
}

enum ks_status
ks_snapshot_export(struct ks_store *store,
	const struct ks_export_options *options, ks_write_fn *write, void *arg,
	struct ks_snapshot_file *result, struct ks_error *err)
{
	struct export export = {
		.store = store,
		.options = options,
		.result = result,
		.write = write,
		.arg = arg,
		.fault = KS_ERROR_INIT
	};
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	status = ks_signed_read(&export.signed_, store->db, &store->tree,
		take_note_fault, &export, err);
	if (status == KS_OK)
		status = choose(&export, err);
	if (status == KS_OK)
		status = check_log(&export, err);
	if (status == KS_OK)
		status = write_all(&export, err);
	if (status == KS_OK)
		describe(&export);
	release(&export);
	return status;
}
