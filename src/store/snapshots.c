/*
 * The notes of a store: listing them, and taking in what others signed.
 */
#include <stdlib.h>

#include "format/keyfile.h"
#include "format/policy.h"
#include "store/checkpoints.h"
#include "store/writing.h"

/* ---- listing --------------------------------------------------------- */

static void
visit_one(struct ks_store *store, const struct ks_stored_note *stored,
	ks_snapshot_fn *visit, void *arg)
{
	struct ks_snapshot_info info = {
		.size = stored->size, .root = stored->root, .at = "",
		.note = ks_buf_span(&stored->bytes)
	};
	struct ks_buf line = KS_BUF_INIT, origin = KS_BUF_INIT;
	struct ks_note note;
	struct ks_checkpoint checkpoint;
	struct ks_entry entry;
	char at[KS_TIME_TEXT + 1] = "";

	if (ks_note_parse(info.note, &note, NULL) != KS_OK)
		return;
	if (ks_checkpoint_parse(note.text, &checkpoint, NULL) == KS_OK)
		ks_buf_append(&origin, checkpoint.origin);
	info.signatures = note.line_count;
	info.origin = ks_buf_cstr(&origin);
	if (stored->size > 0 && ks_store_line(store, stored->size - 1, &line,
		NULL) == KS_OK && ks_entry_parse(store->jcs,
		ks_buf_span(&line), &entry, NULL) == KS_OK &&
		entry.at.len == KS_TIME_TEXT)
		memcpy(at, entry.at.data, KS_TIME_TEXT);
	info.at = at;
	visit(arg, &info);
	ks_note_release(&note);
	ks_buf_release(&origin);
	ks_buf_release(&line);
}

enum ks_status
ks_snapshot_list(struct ks_store *store, ks_snapshot_fn *visit, void *arg,
	struct ks_error *err)
{
	struct ks_checkpoints notes;
	size_t i;
	enum ks_status status = ks_checkpoints_read(store->db, &store->tree,
		NULL, NULL, &notes, err);

	if (status != KS_OK)
		return status;
	for (i = 0; i < notes.count; i++)
		visit_one(store, &notes.list[i], visit, arg);
	ks_checkpoints_release(&notes);
	return KS_OK;
}

/* ---- cosignatures ---------------------------------------------------- */

/* Lines that others give: on their own, or in the note that they signed. */
struct given {
	struct ks_span lines;
	bool whole;		/* a note: then its text says which */
	struct ks_note note;
};

static void
read_given(struct ks_span text, struct given *given)
{
	given->whole = ks_note_parse(text, &given->note, NULL) == KS_OK;
	given->lines = text;
	/* What follows the note's text and the empty line. */
	if (given->whole)
		given->lines = ks_span(text.data + given->note.text.len + 1,
			text.len - given->note.text.len - 1);
}

/* The note that they belong to: of the same text, or the newest. */
static const struct ks_stored_note *
find_note(const struct ks_checkpoints *notes, const struct given *given)
{
	size_t i;

	if (!given->whole)
		return notes->count == 0 ? NULL :
			&notes->list[notes->count - 1];
	for (i = 0; i < notes->count; i++) {
		struct ks_note note;
		bool same;

		if (ks_note_parse(ks_buf_span(&notes->list[i].bytes), &note,
			NULL) != KS_OK)
			continue;
		same = ks_span_equal(note.text, given->note.text);
		ks_note_release(&note);
		if (same)
			return &notes->list[i];
	}
	return NULL;
}

/* The keys whose lines are taken: those given, and the policy's. */
struct cosigners {
	struct ks_vkey *vkeys;
	struct ks_note_key *keys;
	struct ks_policy *policy;
	size_t count;
};

static enum ks_status
read_cosigners(const struct ks_trust_options *trust, struct cosigners *out,
	struct ks_error *err)
{
	size_t policy = 0, i;
	enum ks_status status = KS_OK;

	if (trust->policy.len > 0)
		status = ks_policy_parse(trust->policy, &out->policy, err);
	if (status == KS_OK && out->policy != NULL)
		policy = ks_policy_key_count(out->policy);
	if (status == KS_INVALID && err != NULL)
		err->status = KS_USAGE;
	if (status != KS_OK)
		return ks_context(err, "the policy");
	out->vkeys = calloc(trust->key_count + 1, sizeof(*out->vkeys));
	out->keys = calloc(trust->key_count + policy + 1, sizeof(*out->keys));
	if (out->vkeys == NULL || out->keys == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < trust->key_count; i++) {
		status = ks_public_key_read(trust->keys[i], ks_span_text(
			trust->origin == NULL ? "" : trust->origin),
			&out->vkeys[i], err);
		out->keys[out->count++].vkey = &out->vkeys[i];
	}
	for (i = 0; i < policy; i++)
		out->keys[out->count++].vkey = ks_policy_key(out->policy, i);
	if (status == KS_INVALID) {
		status = KS_USAGE;
		if (err != NULL)
			err->status = KS_USAGE;
	}
	if (status == KS_OK && out->count == 0)
		status = ks_fail(err, KS_USAGE, "name the cosigners whose "
			"lines are taken (--key or --policy)");
	return status;
}

static void
release_cosigners(struct cosigners *cosigners)
{
	free(cosigners->vkeys);
	free(cosigners->keys);
	ks_policy_free(cosigners->policy);
}

static enum ks_status
write_note(struct ks_writing *writing, const struct ks_checkpoints *notes,
	uint64_t size, struct ks_span bytes, struct ks_error *err)
{
	char path[KS_CHECKPOINT_PATH];
	enum ks_status status = ks_writing_file(writing,
		ks_checkpoints_path(size, path), bytes, false, err);

	if (status == KS_OK && notes->list[notes->count - 1].size == size)
		status = ks_writing_file(writing, KS_PATH_CHECKPOINT, bytes,
			false, err);
	return status != KS_OK ? status : ks_writing_commit(writing,
		"cosignature\n", err);
}

static enum ks_status
merge(struct ks_writing *writing, const struct given *given,
	struct cosigners *cosigners, uint64_t *size, uint64_t *added,
	struct ks_error *err)
{
	struct ks_checkpoints notes;
	const struct ks_stored_note *stored;
	struct ks_note_merged merged = { .added = 0 };
	struct ks_note note;
	struct ks_buf bytes = KS_BUF_INIT;
	enum ks_status status = ks_checkpoints_read(writing->store->db,
		&writing->store->tree, NULL, NULL, &notes, err);

	if (status != KS_OK)
		return status;
	stored = find_note(&notes, given);
	if (stored == NULL)
		status = ks_fail(err, KS_NOT_FOUND, "the store has no note %s",
			given->whole ? "with that text" : "at all");
	if (status == KS_OK)
		status = ks_note_parse(ks_buf_span(&stored->bytes), &note,
			err);
	if (status == KS_OK) {
		status = ks_note_merge(&note, given->lines, cosigners->keys,
			cosigners->count, KS_NOTE_LINES_PUBLISHED, &bytes,
			&merged, err);
		ks_note_release(&note);
	}
	if (status == KS_OK) {
		*size = stored->size;
		*added = merged.added + merged.replaced;
		if (!ks_span_equal(ks_buf_span(&bytes),
			ks_buf_span(&stored->bytes)))
			status = write_note(writing, &notes, stored->size,
				ks_buf_span(&bytes), err);
	}
	ks_buf_release(&bytes);
	ks_checkpoints_release(&notes);
	return status;
}

enum ks_status
ks_snapshot_add_cosignature(struct ks_store *store, struct ks_span text,
	const struct ks_trust_options *trust,
	const struct ks_write_options *options, uint64_t *size,
	uint64_t *added, struct ks_error *err)
{
	struct ks_writing writing;
	struct cosigners cosigners = { .count = 0 };
	struct given given = { .whole = false };
	enum ks_status status = read_cosigners(trust, &cosigners, err);

	*size = *added = 0;
	memset(&writing, 0, sizeof(writing));
	writing.lock = (struct ks_lock)KS_LOCK_INIT;
	read_given(text, &given);
	if (status == KS_OK)
		status = ks_writing_begin(&writing, store, options, 4, false,
			err);
	if (status == KS_OK)
		status = merge(&writing, &given, &cosigners, size, added, err);
	ks_writing_end(&writing);
	if (given.whole)
		ks_note_release(&given.note);
	release_cosigners(&cosigners);
	return status;
}
