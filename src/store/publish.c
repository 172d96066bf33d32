/*
 * A directory for any web server (store-layout.md, section "W").
 *
 * The log is replayed and its roots compared with what is signed, and with what
 * the directory serves, before anything is written; then come what takedowns
 * take away, content, and last the checkpoint.
 */
#include "store/publish_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"

#define MARK ".kistore-publish"
#define MARK_LIMIT 4096
#define CHECKPOINT_LIMIT ((uint64_t)1 << 20)
#define SNAPSHOTS "snapshot"

/* ---- which snapshot -------------------------------------------------- */

static void
take_note_fault(void *arg, const char *path, const char *message)
{
	struct ks_publish *publish = arg;

	if (publish->fault.status == KS_OK)
		(void)ks_fail(&publish->fault, KS_CORRUPT, "%s: %s", path,
			message);
}

static enum ks_status
choose(struct ks_publish *publish, uint64_t size, struct ks_error *err)
{
	const struct ks_checkpoints *notes = &publish->signed_.notes;
	enum ks_status status = ks_signed_read(&publish->signed_,
		publish->store->db, &publish->store->tree, take_note_fault,
		publish, err);

	if (status != KS_OK)
		return status;
	if (ks_gitdb_is_shallow(publish->store->db) ||
		ks_gitdb_promisor(publish->store->db) != NULL)
		return ks_fail(err, KS_UNSUPPORTED, "a shallow or partial "
			"clone has not all that is to be published (make a "
			"full one)");
	if (publish->fault.status != KS_OK)
		return ks_fail(err, KS_CORRUPT, "%s", publish->fault.message);
	if (notes->count == 0 || notes->list == NULL)
		return ks_fail(err, KS_UNTRUSTED, "nothing is signed yet, and "
			"only what is signed is published (kistore snapshot "
			"create)");
	publish->note = size == 0 ? &notes->list[notes->count - 1] :
		ks_checkpoints_find(notes, size);
	if (publish->note == NULL)
		return ks_fail(err, KS_NOT_FOUND, "there is no snapshot of "
			"%llu entries (kistore snapshot list)",
			(unsigned long long)size);
	publish->result->size = publish->note->size;
	publish->result->root = publish->note->root;
	(void)snprintf(publish->result->origin,
		sizeof(publish->result->origin), "%s",
		ks_buf_cstr(&publish->store->origin));
	return KS_OK;
}

/* ---- whose directory it is ------------------------------------------- */

static void
print_mark(struct ks_publish *publish, struct ks_buf *out)
{
	ks_buf_printf(out, "kistore-publish/1\n%s\n",
		publish->result->origin);
}

static enum ks_status
of_another(const struct ks_publish *publish, const char *name,
	struct ks_error *err)
{
	return ks_fail(err, KS_INVALID, "%s/%s is not of the log %s: nothing "
		"is published there (W2)", publish->directory, name,
		publish->result->origin);
}

static enum ks_status
read_mark(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT, wanted = KS_BUF_INIT;
	enum ks_status status;

	print_mark(publish, &wanted);
	status = ks_buf_check(&wanted, err);
	if (status == KS_OK)
		status = ks_webdir_read(publish->dir, MARK, MARK_LIMIT, &text,
			err);
	publish->marked = status == KS_OK;
	if (status == KS_INVALID || (status == KS_OK && !ks_span_equal(
		ks_buf_span(&text), ks_buf_span(&wanted))))
		status = of_another(publish, MARK, err);
	ks_buf_release(&text);
	ks_buf_release(&wanted);
	return status == KS_NOT_FOUND ? KS_OK : status;
}

/* KS_INVALID when it is none of this log, whatever is wrong with it. */
static enum ks_status
read_note(const struct ks_publish *publish, struct ks_span text,
	struct ks_checkpoint *out, struct ks_error *err)
{
	enum ks_status status = ks_checkpoint_of_note(text, out, err);

	if (status == KS_OK && ks_span_is(out->origin,
		publish->result->origin))
		return KS_OK;
	return status == KS_NOMEM ? status : KS_INVALID;
}

/* What is served now. */
static enum ks_status
read_served(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_checkpoint served;
	enum ks_status status = ks_webdir_read(publish->dir,
		KS_PATH_CHECKPOINT, CHECKPOINT_LIMIT, &text, err);

	if (status == KS_OK)
		status = read_note(publish, ks_buf_span(&text), &served, err);
	if (status == KS_INVALID)
		status = of_another(publish, KS_PATH_CHECKPOINT, err);
	if (status == KS_OK) {
		publish->served = served.size;
		publish->served_root = served.root;
		publish->result->served = served.size;
	}
	ks_buf_release(&text);
	return status == KS_NOT_FOUND ? KS_OK : status;
}

static enum ks_status
check_empty(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf names = KS_BUF_INIT;
	enum ks_status status = ks_webdir_list(publish->dir, "", &names, err);

	if (status == KS_OK && names.len > 0)
		status = ks_fail(err, KS_INVALID, "%s is not empty, and not "
			"what publish has made: nothing is published there "
			"(W2)", publish->directory);
	ks_buf_release(&names);
	return status;
}

static enum ks_status
check_directory(struct ks_publish *publish, struct ks_error *err)
{
	enum ks_status status = read_mark(publish, err);

	if (status == KS_OK)
		status = read_served(publish, err);
	if (status == KS_OK && !publish->marked && publish->served == 0)
		status = check_empty(publish, err);
	if (status == KS_OK && publish->served > publish->note->size)
		status = ks_fail(err, KS_INVALID, "%s serves %llu entries "
			"already, more than the %llu of this snapshot (W2)",
			publish->directory,
			(unsigned long long)publish->served,
			(unsigned long long)publish->note->size);
	return status;
}

/* One that is absent is made once the store was judged, not before: what is
 * refused leaves nothing (W2). */
static enum ks_status
find_directory(struct ks_publish *publish, struct ks_error *err)
{
	enum ks_status status = ks_webdir_find(&publish->dir,
		publish->directory, err);

	if (status == KS_NOT_FOUND)
		return KS_OK;
	return status == KS_OK ? check_directory(publish, err) : status;
}

static enum ks_status
make_directory(struct ks_publish *publish, struct ks_error *err)
{
	enum ks_status status;

	if (publish->dir != NULL)
		return KS_OK;
	status = ks_webdir_open(&publish->dir, publish->directory, err);
	return status == KS_OK ? check_directory(publish, err) : status;
}

/* ---- the log --------------------------------------------------------- */

static enum ks_status
find_takedown(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct ks_publish *publish = arg;

	return ks_takedowns_take(&publish->takedowns, publish->store->jcs,
		index, line, err);
}

/* Count the line in the segment, which is a bundle. */
static enum ks_status
add_to_segment(struct ks_publish *publish, uint64_t index,
	struct ks_span line, struct ks_error *err)
{
	struct ks_publish_segment *segment;

	if (index % KS_SEGMENT_ENTRIES == 0) {
		segment = ks_grow(publish->segments, publish->segment_count,
			&publish->segment_room, sizeof(*segment), err);
		if (segment == NULL)
			return KS_NOMEM;
		publish->segments = segment;
		segment[publish->segment_count++] =
			(struct ks_publish_segment){ .length = 0 };
	}
	segment = &publish->segments[publish->segment_count - 1];
	segment->length += (uint32_t)line.len + 2;
	segment->width++;
	if (line.len > 0 && line.data[0] == '-')
		segment->redacted = true;
	return KS_OK;
}

static enum ks_status
replay_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct ks_publish *publish = arg;
	struct ks_error rule = KS_ERROR_INIT;
	struct ks_entry entry;
	enum ks_verdict verdict;
	struct ks_id leaf;
	uint32_t object;
	enum ks_status status;

	if (index >= publish->note->size)
		return KS_CANCELLED;
	if (ks_replay_line(publish->replay, publish->store->jcs, line,
		&verdict, &entry, &object, &rule) != KS_OK)
		return ks_fail_nomem(err);
	if (verdict != KS_LINE_OK)
		return ks_fail(err, verdict == KS_LINE_FAULT ? KS_CORRUPT :
			KS_UNSUPPORTED, "entry %llu: %s",
			(unsigned long long)index, rule.message);
	ks_entry_leaf(line, &leaf);
	status = ks_subtrees_append(publish->subtrees, &leaf, err);
	if (status == KS_OK)
		status = add_to_segment(publish, index, line, err);
	return status == KS_OK ? ks_signed_line(&publish->signed_, &entry,
		ks_replay_tree(publish->replay), err) : status;
}

static enum ks_status
replay_log(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_store *store = publish->store;
	enum ks_status status = ks_replay_new(&publish->replay, err);

	if (status == KS_OK)
		status = ks_subtrees_new(&publish->subtrees, err);
	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0,
			find_takedown, publish, err);
	if (status == KS_OK)
		status = ks_takedowns_foresee(&publish->takedowns,
			publish->replay, 0, err);
	ks_signed_start(&publish->signed_);
	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0, replay_line,
			publish, err);
	ks_signed_end(&publish->signed_);
	return status == KS_CANCELLED ? KS_OK : status;
}

/* S13: what a later entry takes down is not published any more. */
static enum ks_status
check_later(struct ks_publish *publish, struct ks_error *err)
{
	size_t i;

	for (i = 0; i < publish->takedowns.count; i++) {
		const struct ks_takedown *takedown =
			&publish->takedowns.list[i];

		if (takedown->index >= publish->note->size &&
			ks_replay_find(publish->replay, &takedown->digest) !=
			KS_NO_OBJECT)
			return ks_fail(err, KS_NOT_FOUND, "entry %llu takes "
				"down what the snapshot of %llu entries has: "
				"publish one that covers that entry (S13; "
				"kistore snapshot create)",
				(unsigned long long)takedown->index,
				(unsigned long long)publish->note->size);
	}
	return KS_OK;
}

/* The log is what was signed. */
static enum ks_status
check_root(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_id root;
	enum ks_status status = ks_proof_root(publish->note->size,
		ks_subtrees_get, publish->subtrees, &root, err);

	if (status == KS_USAGE || (status == KS_OK &&
		!ks_id_equal(&root, &publish->note->root)))
		return ks_fail(err, KS_CORRUPT, "the first %llu entries of "
			"the log are not those that were signed (S1)",
			(unsigned long long)publish->note->size);
	return status;
}

/* It goes on from what is served. */
static enum ks_status
check_served(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_id root;
	enum ks_status status;

	if (publish->served == 0)
		return KS_OK;
	status = ks_proof_root(publish->served, ks_subtrees_get,
		publish->subtrees, &root, err);
	if (status == KS_OK && !ks_id_equal(&root, &publish->served_root))
		status = ks_fail(err, KS_INVALID, "%s serves another log of "
			"the same origin: its %llu entries are not the first "
			"of this one (W2)", publish->directory,
			(unsigned long long)publish->served);
	return status;
}

/* The note is of the log's own key, as it stood then. */
static enum ks_status
check_signature(struct ks_publish *publish, struct ks_error *err)
{
	const struct ks_log_key *key = ks_signed_key(&publish->signed_,
		publish->note->size);
	struct ks_note_key open = { .vkey = key == NULL ? NULL : &key->vkey };
	struct ks_note note;
	enum ks_status status;

	if (key == NULL)
		return ks_fail(err, KS_CORRUPT, "the log names no key of its "
			"own within %llu entries (S3)",
			(unsigned long long)publish->note->size);
	status = ks_note_parse(ks_buf_span(&publish->note->bytes), &note, err);
	if (status != KS_OK)
		return status;
	if (!ks_span_is(ks_buf_span(&publish->store->origin), key->vkey.name)
		|| ks_note_open(&note, &open, 1, err) != KS_OK)
		status = ks_fail(err, KS_CORRUPT, "checkpoints/%llu is not "
			"signed by the key that the log names in entry %llu "
			"(S3)", (unsigned long long)publish->note->size,
			(unsigned long long)key->index);
	ks_note_release(&note);
	return status;
}

static enum ks_status
check_log(struct ks_publish *publish, struct ks_error *err)
{
	enum ks_status status = replay_log(publish, err);

	if (status == KS_OK)
		status = check_root(publish, err);
	if (status == KS_OK)
		status = check_signature(publish, err);
	if (status == KS_OK)
		status = check_later(publish, err);
	return status == KS_OK ? ks_takedowns_check(&publish->takedowns, 0,
		publish->note->size, err) : status;
}

/* ---- objects and dictionaries ---------------------------------------- */

static enum ks_status
is_there(struct ks_publish *publish, const char *path, bool *there,
	struct ks_error *err)
{
	uint64_t length;
	enum ks_status status = ks_webdir_length(publish->dir, path, &length,
		err);

	*there = status == KS_OK && length > 0;
	return status == KS_NOT_FOUND ? KS_OK : status;
}

static enum ks_status
copy_file(struct ks_publish *publish, const char *path, uint64_t limit,
	struct ks_error *err)
{
	struct ks_store *store = publish->store;
	struct ks_buf bytes = KS_BUF_INIT;
	enum ks_status status = ks_gitdb_read(store->db, &store->tree, path,
		limit, &bytes, err);

	if (status == KS_OK)
		status = ks_webdir_write(publish->dir, path,
			ks_buf_span(&bytes), err);
	ks_buf_release(&bytes);
	return status;
}

/* The body was hashed on the way. */
static enum ks_status
pass_by(void *arg, struct ks_span bytes, struct ks_error *err)
{
	(void)arg;
	(void)bytes;
	(void)err;
	return KS_OK;
}

static enum ks_status
put_object(struct ks_publish *publish, const struct ks_id *id,
	struct ks_error *err)
{
	struct ks_store *store = publish->store;
	char path[KS_OBJECT_PATH + 1];
	bool there;
	enum ks_status status = is_there(publish, ks_layout_object(id, path),
		&there, err);

	if (status != KS_OK || there)
		return status;
	status = ks_store_body_pieces(store, id, pass_by, NULL, err);
	if (status == KS_NOT_FOUND && !ks_store_has(store, id))
		status = ks_store_explain_absence(store, id, err);
	if (status == KS_OK)
		status = copy_file(publish, path, KS_LIMIT_FRAME, err);
	publish->result->objects += status == KS_OK;
	return status;
}

static int
by_digest(const void *a, const void *b)
{
	return ks_id_compare(a, b);
}

/* The digests that are, or are not, taken down; in order. */
static enum ks_status
list_objects(struct ks_publish *publish, bool taken_down,
	struct ks_id **list, size_t *count, struct ks_error *err)
{
	uint32_t i, all = ks_replay_objects(publish->replay);

	*count = 0;
	*list = calloc((size_t)all + 1, sizeof(**list));
	if (*list == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < all; i++) {
		const struct ks_object_state *state =
			ks_replay_object(publish->replay, i);

		if (state->taken_down == taken_down)
			(*list)[(*count)++] = state->digest;
	}
	qsort(*list, *count, sizeof(**list), by_digest);
	return KS_OK;
}

static enum ks_status
put_objects(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_id *list = NULL;
	size_t i, count = 0;
	enum ks_status status = list_objects(publish, false, &list, &count,
		err);

	for (i = 0; status == KS_OK && i < count; i++) {
		status = ks_watch_check(publish->watch, err);
		if (status == KS_OK)
			status = put_object(publish, &list[i], err);
		ks_watch_progress(publish->watch, "publishing objects", i,
			count);
	}
	free(list);
	return status;
}

static enum ks_status
put_dictionaries(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_dictionaries *all = NULL;
	size_t i;
	enum ks_status status = ks_store_dictionaries(publish->store, &all,
		err);

	for (i = 0; status == KS_OK && i < ks_dictionaries_count(all); i++) {
		const struct ks_dictionary_file *file =
			ks_dictionaries_at(all, i);
		const struct ks_dictionary *checked;
		char path[KS_DICTIONARY_PATH + 16];
		bool there;

		(void)snprintf(path, sizeof(path), KS_PATH_DICTIONARIES "/%s",
			file->name);
		status = is_there(publish, path, &there, err);
		if (status != KS_OK || there)
			continue;
		status = ks_dictionaries_get(all, file->id, &checked, err);
		if (status == KS_OK)
			status = copy_file(publish, path, KS_LIMIT_DICTIONARY,
				err);
		publish->result->dictionaries += status == KS_OK;
	}
	return status;
}

/* W7: this comes first of all. */
static enum ks_status
remove_taken_down(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_id *list = NULL;
	char path[KS_OBJECT_PATH + 1];
	size_t i, count = 0;
	enum ks_status status = list_objects(publish, true, &list, &count,
		err);

	for (i = 0; status == KS_OK && i < count; i++)
		status = ks_webdir_remove(publish->dir,
			ks_layout_object(&list[i], path), err);
	free(list);
	return status;
}

/* ---- the snapshot file ----------------------------------------------- */

struct output {
	int fd;
	const char *name;
};

static enum ks_status
write_piece(void *arg, struct ks_span bytes, struct ks_error *err)
{
	const struct output *output = arg;

	return ks_file_write(output->fd, output->name, bytes, err);
}

static enum ks_status
put_snapshot(struct ks_publish *publish, const char *path,
	struct ks_error *err)
{
	const struct ks_export_options options = {
		.size = publish->note->size, .watch = publish->watch };
	struct output output = { .fd = -1, .name = path };
	struct ks_snapshot_file file;
	bool there;
	enum ks_status status = is_there(publish, path, &there, err);

	if (status != KS_OK || there)
		return status;
	status = ks_webdir_start(publish->dir, KS_WEBDIR_FILE, &output.fd,
		err);
	if (status == KS_OK)
		status = ks_snapshot_export(publish->store, &options,
			write_piece, &output, &file, err);
	if (output.fd >= 0 && close(output.fd) != 0 && status == KS_OK)
		status = ks_fail_errno(err, "%s/%s", publish->directory,
			path);
	if (status == KS_OK)
		status = ks_webdir_place(publish->dir, KS_WEBDIR_FILE, path,
			err);
	return status;
}

/* W8: the newest one only; an older one may have what was taken down. */
static enum ks_status
put_snapshots(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf names = KS_BUF_INIT;
	char path[64], old[64 + 256];
	size_t i;
	enum ks_status status;

	(void)snprintf(path, sizeof(path), SNAPSHOTS "/%llu.kistore",
		(unsigned long long)publish->note->size);
	status = put_snapshot(publish, path, err);
	if (status == KS_OK)
		status = ks_webdir_list(publish->dir, SNAPSHOTS, &names, err);
	for (i = 0; status == KS_OK && i < names.len;
		i += strlen((const char *)names.data + i) + 1) {
		(void)snprintf(old, sizeof(old), SNAPSHOTS "/%s",
			(const char *)names.data + i);
		if (strcmp(old, path) != 0)
			status = ks_webdir_remove(publish->dir, old, err);
	}
	ks_buf_release(&names);
	return status;
}

/* ---- all of it ------------------------------------------------------- */

static enum ks_status
put_mark(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	if (publish->marked)
		return KS_OK;
	print_mark(publish, &text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_webdir_write(publish->dir, MARK,
			ks_buf_span(&text), err);
	if (status == KS_OK)
		status = ks_webdir_flush(publish->dir, err);
	ks_buf_release(&text);
	return status;
}

static enum ks_status
put_content(struct ks_publish *publish, struct ks_error *err)
{
	enum ks_status status = put_mark(publish, err);

	if (status == KS_OK)
		status = remove_taken_down(publish, err);
	if (status == KS_OK)
		status = ks_publish_drop_citations(publish, err);
	if (status == KS_OK)
		status = put_dictionaries(publish, err);
	if (status == KS_OK)
		status = put_objects(publish, err);
	if (status == KS_OK)
		status = ks_publish_tiles(publish, err);
	if (status == KS_OK)
		status = put_snapshots(publish, err);
	if (status == KS_OK)
		status = ks_publish_citations(publish, err);
	if (status == KS_OK)
		status = ks_publish_repository(publish, err);
	return status == KS_OK ? ks_webdir_flush(publish->dir, err) : status;
}

/* W1: the checkpoint is last; what it makes superfluous goes after it. */
static enum ks_status
put_checkpoint(struct ks_publish *publish, struct ks_error *err)
{
	enum ks_status status = ks_webdir_update(publish->dir,
		KS_PATH_CHECKPOINT, ks_buf_span(&publish->note->bytes), NULL,
		err);

	if (status == KS_OK)
		status = ks_webdir_flush(publish->dir, err);
	if (status == KS_OK)
		status = ks_publish_tidy_tiles(publish, err);
	return status == KS_OK ? ks_webdir_flush(publish->dir, err) : status;
}

static void
release(struct ks_publish *publish)
{
	ks_webdir_close(publish->dir);
	free(publish->segments);
	ks_subtrees_free(publish->subtrees);
	ks_replay_free(publish->replay);
	ks_takedowns_release(&publish->takedowns);
	ks_signed_release(&publish->signed_);
}

/* All that may be refused is, before the first byte is written. */
static enum ks_status
judge(struct ks_publish *publish, const struct ks_publish_options *options,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (options->cite_count > 0)
		status = ks_cite_day(options->accessed, options->now,
			publish->day, err);
	if (status == KS_OK)
		status = choose(publish, options->size, err);
	if (status == KS_OK)
		status = find_directory(publish, err);
	if (status == KS_OK)
		status = check_log(publish, err);
	if (status == KS_OK)
		status = ks_publish_judge_citations(publish, err);
	if (status == KS_OK)
		status = make_directory(publish, err);
	return status == KS_OK ? check_served(publish, err) : status;
}

enum ks_status
ks_publish(struct ks_store *store, const char *directory,
	const struct ks_publish_options *options,
	struct ks_publish_result *result, struct ks_error *err)
{
	struct ks_publish publish = {
		.store = store,
		.watch = options->watch,
		.result = result,
		.directory = directory,
		.cite = options->cite,
		.cite_count = options->cite_count,
		.fault = KS_ERROR_INIT
	};
	struct ks_webdir_counts counts;
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	status = judge(&publish, options, err);
	if (status == KS_OK)
		status = put_content(&publish, err);
	if (status == KS_OK)
		status = put_checkpoint(&publish, err);
	if (publish.dir != NULL) {
		counts = ks_webdir_counts(publish.dir);
		result->written = counts.written;
		result->bytes = counts.bytes;
		result->removed = counts.removed;
		result->changed = counts.written + counts.removed > 0;
	}
	release(&publish);
	return status;
}
