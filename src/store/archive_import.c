/*
 * A store from a snapshot file, or a store continued by one.
 *
 * Objects go into a pack on its way while they are checked; log, notes and all
 * else follow when the file has been read to its end and found right. A new
 * store is made beside its place and moved there last.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "format/json.h"
#include "store/archive.h"
#include "store/arrivals.h"
#include "store/objects.h"
#include "store/readme.h"
#include "store/redaction.h"

/* How many names are tried for what is made beside a new store. */
#define ATTEMPTS 100

/* A Source that the file brings: the README names it. */
struct source {
	struct ks_id digest;
	uint64_t place;		/* in the spool */
	size_t len;
};

struct import {
	const struct ks_import_options *options;
	struct ks_import_result *result;
	const char *directory;
	struct ks_file_options file_options;
	struct ks_archive archive;
	bool changes;			/* there is something to do */

	/* What is written. Its replay is the archive's, once it is lent. */
	struct ks_writing writing;
	struct ks_redaction redaction;
	bool lent;

	struct ks_store *store;		/* that is continued */
	uint64_t before;		/* entries of it */
	uint64_t newest;		/* of these, as its notes say, signed */
	struct ks_merkle beyond;	/* over them, up to those of the file */
	struct ks_takedowns takedowns;	/* of it before the file, */
	struct ks_takedowns later;	/* and beyond the file */

	struct ks_gitdb *db;		/* that is made: */
	struct ks_buf place;		/* where; empty = in `directory` */

	struct ks_spool *spool;
	struct source *sources;
	size_t source_count, source_room;
};

/* ---- a store to continue -------------------------------------------- */

static enum ks_status
check_origin(const struct import *import, struct ks_error *err)
{
	struct ks_span origin = ks_buf_span(&import->store->origin);
	char shown[300];

	if (origin.len == 0 || ks_span_equal(origin,
		ks_buf_span(&import->archive.origin)))
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "the origin of the store is %s, that "
		"of the file %s (S3)", ks_printable(shown, sizeof(shown),
		origin), import->result->checked.file.origin);
}

static enum ks_status
open_store(struct import *import, struct ks_error *err)
{
	const char *path = import->directory != NULL ? import->directory :
		import->options->store;
	uint64_t from = import->archive.range.size;
	enum ks_status status = ks_store_open(&import->store, path, NULL, err);

	if (status == KS_NOT_FOUND)
		return ks_context(err, "the file continues the store that has "
			"its first %llu entries", (unsigned long long)from);
	if (status == KS_OK)
		status = check_origin(import, err);
	if (status == KS_OK)
		status = ks_writing_begin(&import->writing, import->store,
			&import->options->write,
			(size_t)(import->archive.note.size - from), false,
			err);
	if (status == KS_OK)
		import->before = ks_index_log(import->writing.index)->
			tree.size;
	return status;
}

static enum ks_status
find_takedown(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct import *import = arg;
	const struct ks_archive *archive = &import->archive;

	if (index >= archive->range.size && index < archive->note.size)
		return KS_OK;
	return ks_takedowns_take(index < archive->range.size ?
		&import->takedowns : &import->later, import->store->jcs,
		index, line, err);
}

static void
add_leaf(struct ks_span line, struct ks_merkle *tree)
{
	struct ks_id leaf;

	ks_entry_leaf(line, &leaf);
	ks_merkle_append(tree, &leaf);
}

/* What the store has after the entries before the file is only hashed. */
static enum ks_status
compare_line(struct import *import, struct ks_span line)
{
	add_leaf(line, &import->beyond);
	return import->beyond.size == import->archive.note.size ?
		KS_CANCELLED : KS_OK;
}

static enum ks_status
replay_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct import *import = arg;
	struct ks_archive *archive = &import->archive;
	struct ks_error rule = KS_ERROR_INIT;
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;

	if (index >= archive->range.size)
		return compare_line(import, line);
	if (ks_replay_line(archive->replay, import->store->jcs, line, &verdict,
		&entry, &object, &rule) != KS_OK)
		return ks_fail_nomem(err);
	if (verdict != KS_LINE_OK)
		return ks_fail(err, verdict == KS_LINE_FAULT ? KS_CORRUPT :
			KS_UNSUPPORTED, "entry %llu of the store: %s",
			(unsigned long long)index, rule.message);
	import->beyond = *ks_replay_tree(archive->replay);
	return ks_signed_line(&archive->signed_, &entry, &import->beyond,
		err);
}

static enum ks_status
each_line(struct import *import, ks_line_fn *visit, struct ks_error *err)
{
	enum ks_status status = ks_log_each(import->store->db,
		&import->store->tree, 0, visit, import, err);

	return status == KS_CANCELLED ? KS_OK : status;
}

static enum ks_status
replay_store(struct import *import, struct ks_error *err)
{
	struct ks_archive *archive = &import->archive;
	struct ks_checkpoints *notes = &archive->signed_.notes;
	enum ks_status status = ks_checkpoints_read(import->store->db,
		&import->store->tree, NULL, NULL, notes, err);

	if (status != KS_OK)
		return status;
	archive->has_base = true;
	import->newest = notes->count == 0 ? 0 :
		notes->list[notes->count - 1].size;
	status = ks_archive_begin_log(archive, err);
	if (status == KS_OK)
		status = each_line(import, find_takedown, err);
	if (status == KS_OK)
		status = ks_replay_new(&archive->replay, err);
	if (status == KS_OK)
		status = ks_takedowns_foresee(&import->takedowns,
			archive->replay, 0, err);
	if (status == KS_OK)
		status = ks_takedowns_foresee(&archive->takedowns,
			archive->replay, 0, err);
	archive->later = &import->later;
	if (status == KS_OK)
		status = ks_takedowns_foresee(&import->later,
			archive->replay, 0, err);
	return status == KS_OK ? each_line(import, replay_line, err) : status;
}

/* The store has entries after those that the file continues. */
static enum ks_status
judge_tail(const struct import *import, struct ks_error *err)
{
	const struct ks_archive *archive = &import->archive;
	uint64_t from = archive->range.size, size = archive->note.size;
	struct ks_id root;

	ks_merkle_root(&import->beyond, &root);
	if (import->beyond.size == size && ks_id_equal(&root,
		&archive->note.root))
		return KS_OK;
	if (import->newest <= from)
		return ks_fail(err, KS_EXISTS, "after the %llu entries that "
			"the file continues the store has %llu more, which "
			"are not signed: take its branch back to the commit "
			"of that size first (git update-ref)",
			(unsigned long long)from,
			(unsigned long long)(import->before - from));
	if (import->before < size)
		return ks_fail(err, KS_EXISTS, "the store has %llu entries "
			"already, of which %llu are signed: it is continued "
			"by a file from there (snapshot export --from %llu)",
			(unsigned long long)import->before,
			(unsigned long long)import->newest,
			(unsigned long long)import->newest);
	return ks_fail(err, KS_CORRUPT, "the store has other entries after "
		"entry %llu than the file, and both are said to be signed "
		"(N6)", (unsigned long long)from - 1);
}

static enum ks_status
judge_store(struct import *import, struct ks_error *err)
{
	const struct ks_archive *archive = &import->archive;
	uint64_t from = archive->range.size;
	struct ks_id root;

	if (import->before < from)
		return ks_fail(err, KS_NOT_FOUND, "the store has %llu entries, "
			"and the file begins after %llu: import what is "
			"between first", (unsigned long long)import->before,
			(unsigned long long)from);
	ks_merkle_root(ks_replay_tree(archive->replay), &root);
	if (!ks_id_equal(&root, &archive->from_note.root))
		return ks_fail(err, KS_CORRUPT, "the first %llu entries of "
			"the store are not those that the file continues "
			"(S11)", (unsigned long long)from);
	import->changes = import->before == from;
	return import->changes ? KS_OK : judge_tail(import, err);
}

/* X3: what the file takes down goes from the store, too. In the file itself it
 * is gone already. */
static enum ks_status
redact(struct import *import, struct ks_error *err)
{
	struct ks_archive *archive = &import->archive;
	const struct ks_takedowns *takedowns = &archive->takedowns;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < takedowns->count; i++)
		status = ks_redaction_add_object(&import->redaction,
			&takedowns->list[i].digest, err);
	for (i = 0; status == KS_OK && i < takedowns->line_count; i++)
		if (takedowns->lines[i] < archive->range.size)
			status = ks_redaction_add_line(&import->redaction,
				takedowns->lines[i], err);
	ks_replay_free(import->writing.replay);
	import->writing.replay = archive->replay;
	import->lent = true;
	import->writing.lines = archive->note.size - archive->range.size;
	if (status == KS_OK)
		status = ks_redaction_carry_out(&import->redaction,
			&import->writing, err);
	import->result->removed = import->redaction.removed;
	import->result->redacted = import->redaction.redacted;
	return status;
}

static enum ks_status
prepare_base(void *arg, struct ks_error *err)
{
	struct import *import = arg;
	enum ks_status status;

	if (import->archive.range.size == 0) {
		import->changes = true;
		return import->directory != NULL ? KS_OK : ks_fail(err,
			KS_USAGE, "the file holds everything: name the "
			"directory of the store to make of it");
	}
	status = open_store(import, err);
	if (status == KS_OK)
		status = replay_store(import, err);
	if (status == KS_OK)
		status = judge_store(import, err);
	return status == KS_OK && import->changes ? redact(import, err) :
		status;
}

/* ---- a store to make ------------------------------------------------ */

/* The name of something that is not there yet, in the directory that the new
 * store will stand in. */
static enum ks_status
name_place(struct import *import, struct ks_error *err)
{
	const char *path = import->directory;
	size_t len = strlen(path);
	struct stat st;
	int i;

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	for (i = 0; i < ATTEMPTS; i++) {
		ks_buf_clear(&import->place);
		ks_buf_append(&import->place, ks_span(path, len));
		ks_buf_printf(&import->place, ".kistore-import-%ld-%d",
			(long)getpid(), i);
		(void)ks_buf_cstr(&import->place);
		if (ks_buf_check(&import->place, err) != KS_OK)
			return KS_NOMEM;
		if (lstat(ks_buf_cstr(&import->place), &st) != 0 &&
			errno == ENOENT)
			return KS_OK;
	}
	return ks_fail(err, KS_IO, "%s: cannot find a free name beside it",
		path);
}

static enum ks_status
make_store(struct import *import, struct ks_error *err)
{
	struct ks_writing *writing = &import->writing;
	struct stat st;
	enum ks_status status = KS_OK;

	writing->watch = import->options->write.watch;
	writing->seconds = import->options->write.now < 0 ?
		(int64_t)time(NULL) : import->options->write.now;
	/* A directory that is there may be where nothing can be moved to. */
	if (lstat(import->directory, &st) != 0 && errno == ENOENT)
		status = name_place(import, err);
	if (status == KS_OK)
		status = ks_gitdb_create(&import->db, import->place.len > 0 ?
			ks_buf_cstr(&import->place) : import->directory, false,
			err);
	if (status == KS_OK)
		status = ks_lock_take(&writing->lock, ks_gitdb_directory(
			import->db), -1, writing->watch, err);
	if (status == KS_OK)
		status = ks_gitdb_begin(&writing->writer, import->db,
			(size_t)import->archive.note.size, err);
	import->result->created = true;
	import->archive.train = true;
	return status == KS_NOT_FOUND ? KS_IO : status;
}

static enum ks_status
use_dictionary(struct import *import, struct ks_error *err)
{
	struct ks_dictionaries *dictionaries;
	enum ks_status status = ks_store_dictionaries(import->store,
		&dictionaries, err);

	if (status == KS_OK)
		status = ks_dictionaries_current(dictionaries,
			&import->archive.dictionary, err);
	if (status == KS_OK)
		import->archive.train =
			ks_dictionaries_count(dictionaries) == 0;
	return status;
}

/* ---- what was accepted before, and the store has -------------------- */

struct seen {
	struct ks_checkpoint checkpoint;
	struct ks_merkle tree;
};

static enum ks_status
take_seen(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct seen *seen = arg;

	(void)err;
	if (index >= seen->checkpoint.size)
		return KS_CANCELLED;
	add_leaf(line, &seen->tree);
	return KS_OK;
}

/* Whether the store's log begins with the one of a note. */
static bool
has_seen(const struct import *import, struct ks_span bytes)
{
	struct seen seen = { .tree = { .size = 0 } };
	struct ks_id root;
	enum ks_status status = ks_checkpoint_of_note(bytes, &seen.checkpoint,
		NULL);

	if (status == KS_OK)
		status = ks_log_each(import->store->db, &import->store->tree,
			0, take_seen, &seen, NULL);
	ks_merkle_root(&seen.tree, &root);
	return (status == KS_OK || status == KS_CANCELLED) &&
		seen.tree.size == seen.checkpoint.size &&
		ks_id_equal(&root, &seen.checkpoint.root);
}

/* A file that is older than what was accepted rolls nothing back where the
 * store has both. */
static void
excuse_rollback(struct import *import)
{
	struct ks_archive *archive = &import->archive;
	struct ks_trust_result *verdict = &archive->verdict;

	if (import->changes || verdict->verdict != KS_TRUST_ROLLBACK ||
		!has_seen(import, verdict->seen))
		return;
	verdict->verdict = KS_TRUST_SIGNED;
	ks_trusted_describe(archive->trust, verdict, archive->note.size,
		&import->result->checked.signature);
}

/* ---- once the log is judged ----------------------------------------- */

static enum ks_status
check_trust(const struct import *import, struct ks_error *err)
{
	const struct ks_file_result *checked = &import->result->checked;
	const struct ks_signature_result *signature = &checked->signature;

	if (signature->status == KS_CORRUPT)
		return ks_fail(err, KS_CORRUPT, "%s: %s%s%s",
			signature->verdict, signature->message,
			signature->evidence[0] == '\0' ? "" : "; evidence: ",
			signature->evidence);
	if (checked->unsupported > 0)
		return ks_fail(err, KS_UNSUPPORTED, "%llu entr%s of the log "
			"need%s a newer kistore",
			(unsigned long long)checked->unsupported,
			checked->unsupported == 1 ? "y" : "ies",
			checked->unsupported == 1 ? "s" : "");
	if (import->options->unverified)
		return KS_OK;
	if (!signature->asked)
		return ks_fail(err, KS_UNTRUSTED, "no key is trusted: it is "
			"signed, as it says itself, by %s; give a key that "
			"you have from elsewhere (--key, --policy), or take "
			"it --unverified (S12)", checked->file.signer);
	return signature->status == KS_OK ? KS_OK : ks_fail(err,
		signature->status, "%s: %s", signature->verdict,
		signature->message);
}

static enum ks_status
write_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct import *import = arg;
	struct ks_buf *segment = &import->writing.segment;
	char path[KS_SEGMENT_PATH];
	enum ks_status status;

	ks_buf_append(segment, line);
	ks_buf_byte(segment, '\n');
	if ((index + 1) % KS_SEGMENT_ENTRIES != 0 &&
		index + 1 != import->archive.note.size)
		return KS_OK;
	status = ks_buf_check(segment, err);
	if (status == KS_OK)
		status = ks_writing_file(&import->writing, ks_layout_segment(
			index, path), ks_buf_span(segment), false, err);
	ks_buf_clear(segment);
	return status;
}

static enum ks_status
begin_writing(void *arg, struct ks_error *err)
{
	struct import *import = arg;
	enum ks_status status;

	excuse_rollback(import);
	status = check_trust(import, err);
	if (status != KS_OK || !import->changes)
		return status;
	status = import->store == NULL ? make_store(import, err) :
		use_dictionary(import, err);
	import->archive.compress = true;
	return status == KS_OK ? ks_archive_each_line(&import->archive,
		write_line, import, err) : status;
}

/* ---- objects -------------------------------------------------------- */

static enum ks_status
add_dictionary(void *arg, struct ks_span bytes, struct ks_error *err)
{
	struct import *import = arg;
	char path[KS_DICTIONARY_PATH];

	import->result->dictionary_trained = true;
	return ks_objects_add_dictionary(&import->writing, bytes, path, err);
}

static enum ks_status
add_source(struct import *import, const struct source *source,
	struct ks_error *err)
{
	struct source *grown = ks_grow(import->sources, import->source_count,
		&import->source_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	import->sources = grown;
	grown[import->source_count++] = *source;
	return KS_OK;
}

/* Sources are read again for the README, when their objects cannot be yet. */
static enum ks_status
keep_source(struct import *import, const struct ks_id *id,
	struct ks_span body, struct ks_error *err)
{
	struct source source = { .digest = *id, .len = body.len };
	enum ks_status status = KS_OK;

	if (import->spool == NULL)
		status = ks_spool_new(&import->spool, ks_buf_cstr(
			&import->archive.temporary), KS_SPOOL_MEMORY, err);
	if (status == KS_OK)
		status = ks_spool_add(import->spool, body, &source.place, err);
	return status == KS_OK ? add_source(import, &source, err) : status;
}

static enum ks_status
add_object(void *arg, const struct ks_id *id, uint32_t number,
	struct ks_span body, struct ks_span frame, struct ks_error *err)
{
	struct import *import = arg;
	struct ks_replay *replay = import->archive.replay;
	char path[KS_OBJECT_PATH + 1];
	enum ks_status status = ks_writing_file(&import->writing,
		ks_layout_object(id, path), frame, true, err);

	if (status == KS_OK && ks_span_is(ks_replay_kind(replay,
		ks_replay_object(replay, number)->kind),
		KS_API_KISTORE "/Source"))
		status = keep_source(import, id, body, err);
	return status;
}

static int
by_digest(const void *id, const void *item)
{
	const struct source *source = item;

	return ks_id_compare(id, &source->digest);
}

/* They came, and so lie, in order of digest. */
static enum ks_status
read_source(void *arg, const struct ks_id *digest, struct ks_buf *out,
	struct ks_error *err)
{
	struct import *import = arg;
	const struct source *source = import->source_count == 0 ? NULL :
		bsearch(digest, import->sources, import->source_count,
			sizeof(*source), by_digest);
	struct ks_buf scratch = KS_BUF_INIT;
	struct ks_span body;
	enum ks_status status;

	if (source == NULL && import->store == NULL)
		return ks_fail(err, KS_NOT_FOUND, "not in the file");
	if (source == NULL)
		return ks_store_body(import->store, digest, out, err);
	status = ks_spool_get(import->spool, source->place, source->len,
		&scratch, &body, err);
	if (status == KS_OK)
		ks_buf_append(out, body);
	ks_buf_release(&scratch);
	return status;
}

/* ---- the other files ------------------------------------------------ */

static enum ks_status
write_notes(struct import *import, struct ks_error *err)
{
	struct ks_archive *archive = &import->archive;
	struct ks_span note = ks_buf_span(&archive->note.bytes);
	char path[KS_CHECKPOINT_PATH];
	struct ks_git_entry entry;
	enum ks_status status = ks_writing_file(&import->writing,
		KS_PATH_CHECKPOINT, note, false, err);

	if (status == KS_OK)
		status = ks_writing_file(&import->writing, ks_checkpoints_path(
			archive->note.size, path), note, false, err);
	if (status != KS_OK || import->store == NULL)
		return status;
	status = ks_gitdb_find(import->store->db, &import->store->tree,
		ks_checkpoints_path(archive->range.size, path), &entry, err);
	return status != KS_NOT_FOUND ? status : ks_writing_file(
		&import->writing, path, ks_buf_span(&archive->from_note.bytes),
		false, err);
}

static enum ks_status
write_store_json(struct import *import, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	if (import->store != NULL && import->store->origin.len > 0)
		return KS_OK;
	ks_buf_text(&text, "{\"format\":\"" KISTORE_FORMAT "\",\"origin\":");
	ks_json_quote(&text, ks_buf_span(&import->archive.origin));
	ks_buf_byte(&text, '}');
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_writing_file(&import->writing, KS_PATH_STORE,
			ks_buf_span(&text), false, err);
	ks_buf_release(&text);
	return status;
}

static enum ks_status
write_readme(struct import *import, struct ks_error *err)
{
	struct ks_archive *archive = &import->archive;
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = ks_readme_print_from(read_source, import,
		archive->replay, import->result->checked.file.origin,
		archive->note.size, &text, err);

	if (status == KS_OK)
		status = ks_writing_file(&import->writing, KS_PATH_README,
			ks_buf_span(&text), false, err);
	ks_buf_release(&text);
	return status;
}

static enum ks_status
write_files(struct import *import, struct ks_error *err)
{
	enum ks_status status = write_notes(import, err);

	if (status == KS_OK)
		status = write_store_json(import, err);
	if (status == KS_OK && import->store == NULL)
		status = ks_writing_file(&import->writing, KS_PATH_ATTRIBUTES,
			ks_span_text(ks_layout_attributes), false, err);
	return status == KS_OK ? write_readme(import, err) : status;
}

/* ---- the commit ----------------------------------------------------- */

static int
by_path(const void *a, const void *b)
{
	return strcmp(((const struct ks_git_change *)a)->path,
		((const struct ks_git_change *)b)->path);
}

static enum ks_status
write_tree(struct import *import, struct ks_oid *tree, struct ks_error *err)
{
	struct ks_writing *writing = &import->writing;
	struct ks_git_change *changes = calloc(writing->changes,
		sizeof(*changes));
	const char *path = (const char *)writing->paths.data;
	struct ks_oid none;
	size_t i;
	enum ks_status status;

	memset(&none, 0, sizeof(none));
	if (changes == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < writing->changes; i++) {
		changes[i].path = path;
		changes[i].oid = writing->oids[i];
		path += strlen(path) + 1;
	}
	qsort(changes, writing->changes, sizeof(*changes), by_path);
	status = ks_gitdb_tree(writing->writer, &none, changes,
		writing->changes, tree, err);
	free(changes);
	return status;
}

/* What cannot be made durable there is taken back. */
static enum ks_status
move_into_place(struct import *import, struct ks_error *err)
{
	const char *place = ks_buf_cstr(&import->place);
	enum ks_status status;

	if (import->place.len == 0)
		return KS_OK;
	if (rename(place, import->directory) != 0)
		return errno == ENOTEMPTY || errno == EEXIST ||
			errno == ENOTDIR ? ks_fail(err, KS_EXISTS, "%s: has "
			"come to be meanwhile", import->directory) :
			ks_fail_errno(err, "%s", import->directory);
	status = ks_file_sync_parent(place, err);
	if (status != KS_OK)
		(void)rename(import->directory, place);
	return status;
}

static enum ks_status
commit_new(struct import *import, const char *message, struct ks_error *err)
{
	struct ks_writing *writing = &import->writing;
	struct ks_git_head head;
	struct ks_oid tree;
	enum ks_status status = ks_gitdb_head(import->db, &head, err);

	if (status == KS_OK)
		status = write_tree(import, &tree, err);
	if (status == KS_OK)
		status = ks_gitdb_finish(writing->writer, &tree, &head,
			message, writing->seconds, &writing->commit, err);
	if (status == KS_OK)
		status = ks_gitdb_publish(writing->writer, err);
	ks_gitdb_end(writing->writer);
	writing->writer = NULL;
	ks_lock_release(&writing->lock);
	return status == KS_OK ? move_into_place(import, err) : status;
}

/* From here on the archive has no replay. */
static enum ks_status
commit(struct import *import, struct ks_error *err)
{
	struct ks_writing *writing = &import->writing;
	char message[64];
	enum ks_status status;

	(void)snprintf(message, sizeof(message), "import snapshot %llu\n",
		(unsigned long long)import->archive.note.size);
	if (import->store == NULL) {
		status = commit_new(import, message, err);
	} else {
		import->archive.replay = NULL;
		status = ks_writing_commit(writing, message, err);
	}
	if (status == KS_OK)
		(void)ks_oid_print(&writing->commit, import->result->commit);
	import->result->changed = status == KS_OK;
	return status;
}

/* A reference that was left open earlier, and is wrong now, is the file's
 * fault. */
static enum ks_status
check_arrivals(struct import *import, struct ks_error *err)
{
	const struct ks_writing *writing = &import->writing;
	enum ks_status status = import->store == NULL ? KS_OK :
		ks_arrivals_check(import->store, writing->index,
			writing->replay, err);

	if (status == KS_INVALID && err != NULL)
		err->status = KS_CORRUPT;
	return status == KS_INVALID ? KS_CORRUPT : status;
}

/* The file has been read, and is right. What is accepted is remembered before
 * the store shows it, so that a pin that cannot be made stops it. */
static enum ks_status
finish(struct import *import, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (import->changes)
		status = check_arrivals(import, err);
	if (status == KS_OK && import->changes)
		status = write_files(import, err);
	if (status == KS_OK)
		status = ks_archive_accept(&import->archive, err);
	return status == KS_OK && import->changes ? commit(import, err) :
		status;
}

static void
release(struct import *import, bool done)
{
	if (import->lent)
		import->archive.replay = NULL;
	ks_archive_release(&import->archive);
	ks_writing_end(&import->writing);
	ks_redaction_release(&import->redaction);
	ks_takedowns_release(&import->takedowns);
	ks_takedowns_release(&import->later);
	ks_store_close(import->store);
	if (import->db != NULL && !done)
		ks_gitdb_discard(import->db);
	else
		ks_gitdb_close(import->db);
	ks_buf_release(&import->place);
	ks_spool_free(import->spool);
	free(import->sources);
}

static const struct ks_archive_hooks hooks = {
	.base = prepare_base,
	.judged = begin_writing,
	.dictionary = add_dictionary,
	.object = add_object
};

enum ks_status
ks_snapshot_import(const char *path, const char *directory,
	const struct ks_import_options *options,
	struct ks_import_result *result, struct ks_error *err)
{
	struct import import = {
		.options = options,
		.result = result,
		.directory = directory,
		.file_options = options->file,
		.redaction = KS_REDACTION_INIT
	};
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	import.file_options.watch = options->write.watch;
	import.writing.lock = (struct ks_lock)KS_LOCK_INIT;
	import.archive = (struct ks_archive){
		.options = &import.file_options,
		.result = &result->checked,
		.hooks = &hooks,
		.arg = &import
	};
	status = ks_archive_read(&import.archive, path, err);
	if (status == KS_OK)
		status = finish(&import, err);
	release(&import, status == KS_OK);
	return status;
}
