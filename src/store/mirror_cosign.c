/*
 * A mirror's own cosignatures: made over a note that it holds in full, and kept
 * when the branch goes on to what the upstream has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "store/keys.h"
#include "store/log.h"
#include "store/mirror.h"
#include "store/writing.h"

/* ---- keeping them ---------------------------------------------------- */

struct cosigners {
	struct ks_vkey *vkeys;
	struct ks_note_key *keys;
	size_t count;
};

static enum ks_status
read_cosigners(const struct ks_mirror_state *state, struct cosigners *out,
	struct ks_error *err)
{
	struct ks_span rest = ks_buf_span(&state->cosigners), line;
	size_t most = 1;

	while (ks_log_next_line(&rest, &line))
		most++;
	out->vkeys = calloc(most, sizeof(*out->vkeys));
	out->keys = calloc(most, sizeof(*out->keys));
	if (out->vkeys == NULL || out->keys == NULL)
		return ks_fail_nomem(err);
	rest = ks_buf_span(&state->cosigners);
	while (ks_log_next_line(&rest, &line)) {
		if (ks_vkey_parse(line, &out->vkeys[out->count], NULL) !=
			KS_OK)
			continue;
		out->keys[out->count].vkey = &out->vkeys[out->count];
		out->count++;
	}
	return KS_OK;
}

static void
release_cosigners(struct cosigners *cosigners)
{
	free(cosigners->vkeys);
	free(cosigners->keys);
}

/* Append to `out` the note `new` with the lines that `old`, a note of the same
 * text, has by the cosigners. KS_NOT_FOUND: it has none that `new` lacks. */
static enum ks_status
merge(struct ks_span old, struct ks_span new, struct cosigners *cosigners,
	struct ks_buf *out, struct ks_error *err)
{
	struct ks_note a, b;
	struct ks_note_merged merged;
	enum ks_status status = ks_note_parse(old, &a, err);

	if (status != KS_OK)
		return status;
	status = ks_note_parse(new, &b, err);
	if (status == KS_OK) {
		size_t text = a.text.len + 1;

		status = !ks_span_equal(a.text, b.text) ? KS_NOT_FOUND :
			ks_note_merge(&b, ks_span(old.data + text, old.len -
				text), cosigners->keys, cosigners->count,
				KS_NOTE_LINES, out, &merged, err);
		ks_note_release(&b);
	}
	ks_note_release(&a);
	if (status == KS_OK && ks_span_equal(ks_buf_span(out), new))
		status = KS_NOT_FOUND;
	return status;
}

/* The notes with more lines, as changes of the tree. */
struct carrying {
	struct ks_git_writer *writer;
	const struct ks_watch *watch;
	struct ks_buf paths;		/* each ended by NUL */
	struct ks_oid *oids;
	size_t count;
};

static enum ks_status
add_note(struct carrying *carrying, const char *path, struct ks_span bytes,
	struct ks_error *err)
{
	enum ks_status status = ks_gitdb_add(carrying->writer, bytes, false,
		&carrying->oids[carrying->count], err);

	if (status != KS_OK)
		return status;
	carrying->count++;
	ks_buf_append(&carrying->paths, ks_span(path, strlen(path) + 1));
	return ks_buf_check(&carrying->paths, err);
}

static enum ks_status
carry_note(struct carrying *carrying, const struct ks_stored_note *old,
	const struct ks_stored_note *new, bool is_newest,
	struct cosigners *cosigners, struct ks_error *err)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_error why = KS_ERROR_INIT;
	char path[KS_CHECKPOINT_PATH];
	enum ks_status status = merge(ks_buf_span(&old->bytes),
		ks_buf_span(&new->bytes), cosigners, &note, &why);

	/* What does not go together is left as the upstream has it. */
	if (status != KS_OK) {
		ks_buf_release(&note);
		if (status == KS_INVALID)
			ks_watch_note(carrying->watch, "own cosignatures of "
				"%llu entries are not kept: %s",
				(unsigned long long)new->size, why.message);
		return status == KS_NOMEM ? ks_fail_nomem(err) : KS_OK;
	}
	if (is_newest)
		status = add_note(carrying, KS_PATH_CHECKPOINT,
			ks_buf_span(&note), err);
	if (status == KS_OK)
		status = add_note(carrying, ks_checkpoints_path(new->size,
			path), ks_buf_span(&note), err);
	ks_buf_release(&note);
	return status;
}

static int
by_path(const void *a, const void *b)
{
	return strcmp(((const struct ks_git_change *)a)->path,
		((const struct ks_git_change *)b)->path);
}

static enum ks_status
commit_notes(const struct ks_mirror *mirror, struct ks_store *store,
	struct carrying *carrying, struct ks_oid *commit,
	struct ks_error *err)
{
	struct ks_git_change *changes = calloc(carrying->count,
		sizeof(*changes));
	const char *path = (const char *)carrying->paths.data;
	int64_t now = mirror->options->write.now;
	struct ks_oid tree;
	size_t i;
	enum ks_status status;

	if (changes == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < carrying->count; i++) {
		changes[i].path = path;
		changes[i].oid = carrying->oids[i];
		path += strlen(path) + 1;
	}
	qsort(changes, carrying->count, sizeof(*changes), by_path);
	status = ks_gitdb_tree(carrying->writer, &store->tree, changes,
		carrying->count, &tree, err);
	free(changes);
	if (status == KS_OK)
		status = ks_gitdb_finish(carrying->writer, &tree, &store->head,
			"cosignatures of this mirror\n", now < 0 ?
			(int64_t)time(NULL) : now, commit, err);
	return status == KS_OK ? ks_gitdb_publish(carrying->writer, err) :
		status;
}

/* Only what both have is looked at. */
static enum ks_status
carry_notes(struct ks_mirror *mirror, struct carrying *carrying,
	struct cosigners *cosigners, struct ks_error *err)
{
	const struct ks_checkpoints *notes = &mirror->verifying.signed_.notes;
	enum ks_status status = KS_OK;
	size_t i;

	carrying->oids = calloc(notes->count + 1, sizeof(*carrying->oids));
	if (carrying->oids == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < notes->count; i++) {
		const struct ks_stored_note *old = ks_checkpoints_find(
			&mirror->notes, notes->list[i].size);
		size_t before = carrying->count;

		if (old == NULL || ks_span_equal(ks_buf_span(&old->bytes),
			ks_buf_span(&notes->list[i].bytes)))
			continue;
		status = carry_note(carrying, old, &notes->list[i],
			i + 1 == notes->count, cosigners, err);
		mirror->result->carried += carrying->count > before;
	}
	return status;
}

enum ks_status
ks_mirror_carry(struct ks_mirror *mirror, struct ks_oid *commit,
	struct ks_error *err)
{
	struct cosigners cosigners = { .count = 0 };
	struct carrying carrying = { .paths = KS_BUF_INIT,
		.watch = mirror->options->write.watch };
	enum ks_status status;

	*commit = mirror->snapshot;
	if (mirror->state.cosigners.len == 0 || mirror->notes.count == 0)
		return KS_OK;
	status = read_cosigners(&mirror->state, &cosigners, err);
	if (status == KS_OK)
		status = ks_gitdb_begin(&carrying.writer,
			mirror->candidate->db, 4, err);
	if (status == KS_OK)
		status = carry_notes(mirror, &carrying, &cosigners, err);
	if (status == KS_OK && carrying.count > 0)
		status = commit_notes(mirror, mirror->candidate, &carrying,
			commit, err);
	ks_gitdb_end(carrying.writer);
	ks_buf_release(&carrying.paths);
	free(carrying.oids);
	release_cosigners(&cosigners);
	return status;
}

/* ---- making one ------------------------------------------------------ */

struct cosigning {
	struct ks_mirror mirror;
	struct ks_mirror_result ignored;
	const struct ks_signer *signer;
	struct ks_vkey vkey;		/* of type 04 */
	struct ks_state *state;
	struct ks_signer_memory memory;
	struct ks_checkpoint remembered; /* size 0: nothing */
	const struct ks_stored_note *newest;
	struct ks_mirror_cosigned *result;
};

/* What this key has cosigned before, which must be of this log. */
static enum ks_status
open_memory(struct cosigning *cosigning, struct ks_error *err)
{
	struct ks_mirror *mirror = &cosigning->mirror;
	const struct ks_write_options *write = &mirror->options->write;
	char shown[300];
	enum ks_status status = ks_state_new(&cosigning->state,
		mirror->trust.state_directory, err);

	if (status == KS_OK)
		status = ks_state_signer_begin(cosigning->state,
			&cosigning->vkey, write->wait_ms, write->watch,
			&cosigning->memory, err);
	if (status != KS_OK || cosigning->memory.text.len == 0)
		return status;
	status = ks_checkpoint_parse(ks_buf_span(&cosigning->memory.text),
		&cosigning->remembered, err);
	if (status == KS_OK && !ks_span_equal(cosigning->remembered.origin,
		ks_buf_span(&mirror->base->origin)))
		return ks_fail(err, KS_USAGE, "that key cosigns the log %s: "
			"use another one for this (M3)", ks_printable(shown,
			sizeof(shown), cosigning->remembered.origin));
	return status;
}

static enum ks_status
check_use(struct cosigning *cosigning, struct ks_error *err)
{
	const struct ks_vkey *vkey = ks_signer_vkey(cosigning->signer);
	bool signs = false;
	enum ks_status status = ks_key_check_unused(cosigning->mirror.base,
		vkey, err);

	if (status == KS_OK)
		status = ks_state_has_signed(cosigning->state, vkey, &signs,
			err);
	if (status == KS_OK && signs)
		status = ks_fail(err, KS_USAGE, "that key signs a log: cosign "
			"with one that does nothing else (M3)");
	return status;
}

/* The mirror holds what it cosigns, in full. */
static enum ks_status
verify(struct cosigning *cosigning, struct ks_error *err)
{
	struct ks_mirror *mirror = &cosigning->mirror;
	struct ks_mirror_result *found = mirror->result;
	uint64_t mark = cosigning->remembered.size;
	enum ks_status status;

	mirror->candidate = mirror->base;
	status = ks_mirror_judge_whole(mirror, &mark, mark > 0, err);
	mirror->candidate = NULL;
	if (status == KS_OK && found->status != KS_OK)
		status = ks_fail(err, found->status, "not cosigned: %s: %s",
			found->verdict, found->message);
	return status;
}

/* Never an older log, never another. */
static enum ks_status
compare_memory(struct cosigning *cosigning, struct ks_error *err)
{
	const struct ks_checkpoint *seen = &cosigning->remembered;
	struct ks_id root;

	if (seen->size == 0)
		return KS_OK;
	if (seen->size > cosigning->newest->size)
		return ks_fail(err, KS_CORRUPT, "not cosigned: this key has "
			"cosigned %llu entries already, and the mirror has "
			"%llu (rollback)", (unsigned long long)seen->size,
			(unsigned long long)cosigning->newest->size);
	if (ks_signed_root(&cosigning->mirror.verifying.signed_, seen->size,
		&root) && ks_id_equal(&root, &seen->root))
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "not cosigned: this key has cosigned "
		"%llu other entries of this origin (fork)",
		(unsigned long long)seen->size);
}

/* Remembered before it exists. */
static enum ks_status
sign(struct cosigning *cosigning, struct ks_span text, struct ks_buf *line,
	struct ks_error *err)
{
	int64_t now = cosigning->mirror.options->write.now;
	enum ks_status status = ks_state_signer_record(&cosigning->memory,
		text, err);

	now = now < 0 ? (int64_t)time(NULL) : now;
	cosigning->result->time = now;
	return status != KS_OK ? status : ks_checkpoint_cosign(text,
		&cosigning->vkey, &ks_signer_key(cosigning->signer)->secret,
		(uint64_t)now, line, err);
}

/* Append the note with the line, as it is where it has one already: the first
 * is the one that proves since when. */
static enum ks_status
add_line(struct cosigning *cosigning, struct ks_buf *out, struct ks_error *err)
{
	struct ks_note_key key = { .vkey = &cosigning->vkey };
	struct ks_note_merged merged;
	struct ks_buf line = KS_BUF_INIT;
	struct ks_note note;
	enum ks_status status = ks_note_parse(ks_buf_span(
		&cosigning->newest->bytes), &note, err);

	if (status != KS_OK)
		return status;
	cosigning->result->is_new = ks_note_open(&note, &key, 1, NULL) !=
		KS_OK;
	if (!cosigning->result->is_new) {
		cosigning->result->time = (int64_t)key.time;
		ks_buf_append(out, ks_buf_span(&cosigning->newest->bytes));
		status = ks_buf_check(out, err);
	} else {
		status = sign(cosigning, note.text, &line, err);
		if (status == KS_OK)
			status = ks_note_merge(&note, ks_buf_span(&line), &key,
				1, KS_NOTE_LINES, out, &merged, err);
	}
	ks_note_release(&note);
	ks_buf_release(&line);
	return status;
}

/* The mirror keeps the line of this key from now on. */
static enum ks_status
add_cosigner(struct cosigning *cosigning, struct ks_error *err)
{
	struct ks_mirror_state *state = &cosigning->mirror.state;
	struct ks_span rest = ks_buf_span(&state->cosigners), line;

	while (ks_log_next_line(&rest, &line))
		if (ks_span_is(line, cosigning->result->vkey))
			return KS_OK;
	ks_buf_printf(&state->cosigners, "%s\n", cosigning->result->vkey);
	return ks_mirror_state_write(cosigning->mirror.db, state, err);
}

static enum ks_status
keep(struct cosigning *cosigning, struct ks_span note, struct ks_error *err)
{
	struct ks_mirror *mirror = &cosigning->mirror;
	struct carrying carrying = { .paths = KS_BUF_INIT };
	char path[KS_CHECKPOINT_PATH];
	struct ks_oid commit;
	enum ks_status status = add_cosigner(cosigning, err);

	carrying.oids = calloc(2, sizeof(*carrying.oids));
	if (status == KS_OK && carrying.oids == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = ks_gitdb_begin(&carrying.writer, mirror->base->db, 4,
			err);
	if (status == KS_OK)
		status = add_note(&carrying, KS_PATH_CHECKPOINT, note, err);
	if (status == KS_OK)
		status = add_note(&carrying, ks_checkpoints_path(
			cosigning->newest->size, path), note, err);
	if (status == KS_OK)
		status = commit_notes(mirror, mirror->base, &carrying, &commit,
			err);
	ks_gitdb_end(carrying.writer);
	ks_buf_release(&carrying.paths);
	free(carrying.oids);
	return status;
}

static enum ks_status
describe(struct cosigning *cosigning, struct ks_error *err)
{
	struct ks_mirror_cosigned *result = cosigning->result;
	struct ks_buf vkey = KS_BUF_INIT;
	enum ks_status status;

	ks_vkey_print(&cosigning->vkey, &vkey);
	status = ks_buf_check(&vkey, err);
	if (status == KS_OK)
		(void)snprintf(result->vkey, sizeof(result->vkey), "%s",
			ks_buf_cstr(&vkey));
	ks_buf_release(&vkey);
	result->size = cosigning->newest->size;
	result->root = cosigning->newest->root;
	return status;
}

static enum ks_status
cosign(struct cosigning *cosigning, struct ks_buf *note, struct ks_error *err)
{
	struct ks_mirror *mirror = &cosigning->mirror;
	enum ks_status status;

	if (mirror->notes.count == 0)
		return ks_fail(err, KS_NOT_FOUND, "the mirror has accepted "
			"nothing yet (kistore mirror update)");
	cosigning->newest = &mirror->notes.list[mirror->notes.count - 1];
	status = describe(cosigning, err);
	if (status == KS_OK)
		status = open_memory(cosigning, err);
	if (status == KS_OK)
		status = check_use(cosigning, err);
	if (status == KS_OK)
		status = verify(cosigning, err);
	if (status == KS_OK)
		status = compare_memory(cosigning, err);
	if (status == KS_OK)
		status = add_line(cosigning, note, err);
	return status == KS_OK && cosigning->result->is_new ? keep(cosigning,
		ks_buf_span(note), err) : status;
}

enum ks_status
ks_mirror_cosign(const char *directory, const struct ks_signer *cosigner,
	const struct ks_mirror_options *options, struct ks_buf *note,
	struct ks_mirror_cosigned *result, struct ks_error *err)
{
	struct cosigning cosigning = { .signer = cosigner, .result = result,
		.memory = KS_SIGNER_MEMORY_INIT };
	const struct ks_vkey *vkey = ks_signer_vkey(cosigner);
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	status = ks_mirror_open(&cosigning.mirror, directory, options,
		&cosigning.ignored, err);
	if (status == KS_OK)
		status = ks_vkey_make(ks_span_text(vkey->name),
			KS_SIGNATURE_COSIGNATURE, &vkey->key, &cosigning.vkey,
			err);
	if (status == KS_OK)
		status = cosign(&cosigning, note, err);
	ks_state_signer_end(&cosigning.memory);
	ks_state_free(cosigning.state);
	ks_mirror_release(&cosigning.mirror);
	return status;
}
