#include "store/checkpoints.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/layout.h"

char *
ks_checkpoints_path(uint64_t size, char out[KS_CHECKPOINT_PATH])
{
	(void)snprintf(out, KS_CHECKPOINT_PATH, KS_PATH_CHECKPOINTS "/%llu",
		(unsigned long long)size);
	return out;
}

void
ks_checkpoints_release(struct ks_checkpoints *checkpoints)
{
	size_t i;

	for (i = 0; i < checkpoints->count; i++)
		ks_buf_release(&checkpoints->list[i].bytes);
	free(checkpoints->list);
	ks_buf_release(&checkpoints->newest);
	*checkpoints = (struct ks_checkpoints)KS_CHECKPOINTS_INIT;
}

static int
by_size(const void *a, const void *b)
{
	uint64_t x = ((const struct ks_stored_note *)a)->size;
	uint64_t y = ((const struct ks_stored_note *)b)->size;

	return (x > y) - (x < y);
}

const struct ks_stored_note *
ks_checkpoints_find(const struct ks_checkpoints *checkpoints, uint64_t size)
{
	struct ks_stored_note wanted = { .size = size };

	return checkpoints->count == 0 ? NULL : bsearch(&wanted,
		checkpoints->list, checkpoints->count, sizeof(wanted),
		by_size);
}

/* ---- reading --------------------------------------------------------- */

struct reading {
	struct ks_gitdb *db;
	ks_checkpoint_fault_fn *fault;
	void *arg;
	struct ks_checkpoints *out;
};

static void
report(struct reading *reading, const char *path, const char *message)
{
	if (reading->fault != NULL)
		reading->fault(reading->arg, path, message);
}

/* S1: a note, of the size that its name says, with three lines of text. */
static enum ks_status
judge(struct ks_stored_note *stored, struct ks_error *err)
{
	struct ks_checkpoint checkpoint;
	enum ks_status status = ks_checkpoint_of_note(
		ks_buf_span(&stored->bytes), &checkpoint, err);

	if (status != KS_OK)
		return status;
	if (checkpoint.size != stored->size)
		status = ks_fail(err, KS_CORRUPT, "is a checkpoint of size "
			"%llu, which its name is not (T2)",
			(unsigned long long)checkpoint.size);
	if (status == KS_OK && checkpoint.extension.len > 0)
		status = ks_fail(err, KS_CORRUPT,
			"has more than three lines of text (S1)");
	stored->root = checkpoint.root;
	return status;
}

static enum ks_status
append(struct ks_checkpoints *out, struct ks_stored_note *stored,
	struct ks_error *err)
{
	struct ks_stored_note *grown = ks_grow(out->list, out->count,
		&out->room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	out->list = grown;
	grown[out->count++] = *stored;
	stored->bytes = (struct ks_buf)KS_BUF_INIT;
	return KS_OK;
}

static enum ks_status
read_one(struct reading *reading, const struct ks_git_entry *entry,
	struct ks_stored_note *stored, struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	char path[KS_CHECKPOINT_PATH];
	enum ks_status status = ks_gitdb_blob(reading->db, &entry->oid,
		KS_NOTE_MAX, false, &stored->bytes, &why);

	if (status == KS_OK)
		status = judge(stored, &why);
	if (status == KS_OK)
		return append(reading->out, stored, err);
	if (status != KS_CORRUPT)
		return ks_fail(err, status, "%s", why.message);
	report(reading, ks_checkpoints_path(stored->size, path), why.message);
	return KS_OK;
}

static enum ks_status
take_entry(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	struct reading *reading = arg;
	struct ks_stored_note stored = { .bytes = KS_BUF_INIT };
	char path[KS_ERROR_MESSAGE_MAX], shown[200];
	enum ks_status status;

	if (entry->mode != KS_GIT_MODE_FILE || !ks_checkpoint_read_number(
		ks_span_text(entry->name), &stored.size)) {
		(void)snprintf(path, sizeof(path), KS_PATH_CHECKPOINTS "/%s",
			ks_printable(shown, sizeof(shown),
				ks_span_text(entry->name)));
		report(reading, path, "is not a note by the size of its log "
			"(T2)");
		return KS_OK;
	}
	if (reading->out->count == KS_CHECKPOINTS_MAX)
		return ks_fail(err, KS_CORRUPT, "more than %d checkpoints "
			"(B22)", KS_CHECKPOINTS_MAX);
	status = read_one(reading, entry, &stored, err);
	ks_buf_release(&stored.bytes);
	return status;
}

/* T2: `checkpoint` is the newest of checkpoints/. */
static void
judge_newest(struct reading *reading)
{
	struct ks_checkpoints *out = reading->out;

	if (out->has_newest && (out->count == 0 || !ks_span_equal(
		ks_buf_span(&out->newest),
		ks_buf_span(&out->list[out->count - 1].bytes))))
		report(reading, KS_PATH_CHECKPOINT,
			"is not the newest note of " KS_PATH_CHECKPOINTS
			"/ (T2)");
	if (!out->has_newest && out->count > 0)
		report(reading, KS_PATH_CHECKPOINT, "is absent, but "
			KS_PATH_CHECKPOINTS "/ has notes (T2)");
}

enum ks_status
ks_checkpoints_read(struct ks_gitdb *db, const struct ks_oid *tree,
	ks_checkpoint_fault_fn *fault, void *arg, struct ks_checkpoints *out,
	struct ks_error *err)
{
	struct reading reading = {
		.db = db, .fault = fault, .arg = arg, .out = out
	};
	struct ks_git_entry entry;
	enum ks_status status;

	*out = (struct ks_checkpoints)KS_CHECKPOINTS_INIT;
	status = ks_gitdb_read(db, tree, KS_PATH_CHECKPOINT, KS_NOTE_MAX,
		&out->newest, err);
	out->has_newest = status == KS_OK;
	if (status == KS_OK || status == KS_NOT_FOUND)
		status = ks_gitdb_find(db, tree, KS_PATH_CHECKPOINTS, &entry,
			err);
	if (status == KS_OK && entry.mode == KS_GIT_MODE_TREE)
		status = ks_gitdb_list(db, &entry.oid, take_entry, &reading,
			err);
	if (status == KS_NOT_FOUND)
		status = KS_OK;
	if (status != KS_OK) {
		ks_checkpoints_release(out);
		return status;
	}
	if (out->count > 1)
		qsort(out->list, out->count, sizeof(*out->list), by_size);
	judge_newest(&reading);
	return KS_OK;
}
