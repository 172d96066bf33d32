#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/digest.h"
#include "format/json.h"
#include "store/attesters.h"
#include "store/catalogue.h"
#include "store/db.h"
#include "store/log.h"
#include "store/revision.h"

/* ---- store.json -------------------------------------------------------- */

static enum ks_status
read_origin(struct ks_store *store, struct ks_span value, struct ks_error *err)
{
	enum ks_status status;

	ks_json_unescape(&store->origin, ks_json_raw(value));
	status = ks_buf_check(&store->origin, err);
	if (status != KS_OK || ks_store_check_origin(
		ks_buf_cstr(&store->origin), err) == KS_OK)
		return status;
	if (err != NULL)
		err->status = KS_CORRUPT;
	return KS_CORRUPT;
}

/* {"format":"kistore/1","origin":"…"}: closed, so that a newer format cannot
 * be taken for this one. */
static enum ks_status
read_members(struct ks_store *store, struct ks_span object,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, value;
	bool has_format = false;

	while (ks_json_next_member(&it, &name, &value)) {
		if (!ks_span_is(name, "format") && !ks_span_is(name, "origin"))
			return ks_fail(err, KS_UNSUPPORTED,
				"unknown member: needs a newer kistore");
		if (ks_json_type(value) != KS_JSON_STRING)
			return ks_fail(err, KS_CORRUPT,
				"members must be strings");
		if (ks_span_is(name, "format")) {
			if (!ks_json_is(value, KISTORE_FORMAT))
				return ks_fail(err, KS_UNSUPPORTED,
					"format %.*s needs another kistore "
					"(this one reads " KISTORE_FORMAT ")",
					(int)(value.len < 80 ? value.len : 80),
					(const char *)value.data);
			has_format = true;
		} else {
			enum ks_status status = read_origin(store, value, err);

			if (status != KS_OK)
				return status;
		}
	}
	return has_format ? KS_OK : ks_fail(err, KS_CORRUPT,
		"no member \"format\"");
}

static enum ks_status
read_store_json(struct ks_store *store, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = ks_gitdb_read(store->db, &store->tree,
		KS_PATH_STORE, KS_LIMIT_STORE_JSON, &text, err);

	if (status == KS_NOT_FOUND) {
		ks_buf_release(&text);
		/* A partial clone may well be one, and lack the file. */
		return ks_gitdb_promisor(store->db) != NULL ? status :
			ks_fail(err, status,
			"%s is not a kistore store: no " KS_PATH_STORE
			" in it (kistore init makes one)",
			ks_gitdb_directory(store->db));
	}
	ks_buf_clear(&store->origin);
	if (status == KS_OK)
		status = ks_jcs_check(store->jcs, ks_buf_span(&text),
			&ks_jcs_manifest, err);
	if (status == KS_OK && ks_json_type(ks_buf_span(&text)) !=
		KS_JSON_OBJECT)
		status = ks_fail(err, KS_CORRUPT, "must be an object");
	if (status == KS_OK)
		status = read_members(store, ks_buf_span(&text), err);
	ks_buf_release(&text);
	if (status == KS_INVALID)
		status = KS_CORRUPT;
	if (status != KS_OK)
		(void)ks_context(err, KS_PATH_STORE);
	return status;
}

/* ---- opening ----------------------------------------------------------- */

static enum ks_status
read_commit(struct ks_store *store, struct ks_error *err)
{
	struct ks_git_commit commit;
	enum ks_status status = ks_gitdb_commit(store->db, &store->commit,
		&commit, err);

	if (status != KS_OK)
		return status;
	store->tree = commit.tree;
	return read_store_json(store, err);
}

static enum ks_status
read_head(struct ks_store *store, struct ks_error *err)
{
	enum ks_status status = ks_gitdb_head(store->db, &store->head, err);

	if (status != KS_OK)
		return status;
	if (store->head.unborn)
		return ks_fail(err, KS_NOT_FOUND,
			"%s is not a kistore store: %s has no commit yet "
			"(kistore init makes a store)",
			ks_gitdb_directory(store->db), store->head.branch);
	store->commit = store->head.commit;
	return KS_OK;
}

static enum ks_status
open_parts(struct ks_store *store, const char *path, const char *at,
	struct ks_error *err)
{
	enum ks_status status = ks_gitdb_open(&store->db,
		path == NULL ? "." : path, path == NULL, err);

	if (status == KS_OK)
		status = ks_jcs_new(&store->jcs, err);
	if (status == KS_OK)
		status = ks_framer_new(&store->framer, err);
	if (status == KS_OK)
		status = read_head(store, err);
	if (status == KS_OK && at != NULL) {
		store->in_the_past = true;
		status = ks_revision_find(store->db, &store->head.commit, at,
			&store->commit, err);
	}
	return status == KS_OK ? read_commit(store, err) : status;
}

enum ks_status
ks_store_open(struct ks_store **out, const char *path, const char *at,
	struct ks_error *err)
{
	struct ks_store *store = calloc(1, sizeof(*store));
	enum ks_status status;

	*out = NULL;
	if (store == NULL)
		return ks_fail_nomem(err);
	status = open_parts(store, path, at, err);
	if (status != KS_OK) {
		ks_store_close(store);
		return status;
	}
	*out = store;
	return KS_OK;
}

/* Drop what was derived from the commit. */
static void
forget(struct ks_store *store)
{
	ks_dictionaries_free(store->dictionaries);
	store->dictionaries = NULL;
	ks_attesters_free(store->attesters);
	store->attesters = NULL;
	ks_catalogue_free(store->catalogue);
	store->catalogue = NULL;
	ks_index_close(store->index);
	store->index = NULL;
}

void
ks_store_close(struct ks_store *store)
{
	if (store == NULL)
		return;
	forget(store);
	ks_framer_free(store->framer);
	ks_jcs_free(store->jcs);
	ks_buf_release(&store->origin);
	ks_buf_release(&store->others);
	ks_buf_release(&store->kind_texts);
	ks_lines_free(store->lines);
	free(store->kinds);
	ks_gitdb_close(store->db);
	free(store);
}

enum ks_status
ks_store_refresh(struct ks_store *store, struct ks_error *err)
{
	struct ks_oid before = store->commit;
	enum ks_status status = read_head(store, err);

	if (status != KS_OK || ks_oid_equal(&before, &store->commit))
		return status;
	forget(store);
	return read_commit(store, err);
}

enum ks_status
ks_store_dictionaries(struct ks_store *store, struct ks_dictionaries **out,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (store->dictionaries == NULL)
		status = ks_dictionaries_open(&store->dictionaries, store->db,
			&store->tree, err);
	*out = store->dictionaries;
	return status;
}

enum ks_status
ks_store_index(struct ks_store *store, struct ks_index **out,
	const struct ks_watch *watch, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (store->index == NULL)
		status = ks_index_open(&store->index, store->db,
			&store->commit, &store->tree, store->in_the_past,
			watch, err);
	*out = store->index;
	return status;
}

enum ks_status
ks_store_remove_index(struct ks_store *store, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status;

	ks_index_close(store->index);
	store->index = NULL;
	ks_buf_printf(&path, "%s" KS_INDEX_NAME,
		ks_gitdb_directory(store->db));
	(void)ks_buf_cstr(&path);
	status = ks_buf_check(&path, err);
	if (status == KS_OK)
		ks_db_remove(ks_buf_cstr(&path));
	ks_buf_release(&path);
	return status;
}

/* ---- objects ----------------------------------------------------------- */

/* The dictionary that a frame names, or NULL. */
static enum ks_status
find_dictionary(struct ks_store *store, struct ks_span frame,
	const struct ks_dictionary **out, struct ks_error *err)
{
	struct ks_frame_info info;
	struct ks_dictionaries *dictionaries;
	enum ks_status status = ks_frame_inspect(frame, KS_LIMIT_RAW, &info,
		err);

	*out = NULL;
	if (status != KS_OK || info.dictionary_id == 0)
		return status;
	status = ks_store_dictionaries(store, &dictionaries, err);
	return status != KS_OK ? status : ks_dictionaries_get(dictionaries,
		info.dictionary_id, out, err);
}

static enum ks_status
unpack(struct ks_store *store, struct ks_span frame, struct ks_buf *out,
	struct ks_error *err)
{
	const struct ks_dictionary *dictionary;
	enum ks_status status = find_dictionary(store, frame, &dictionary,
		err);

	return status != KS_OK ? status : ks_frame_unpack(store->framer, frame,
		KS_LIMIT_RAW, dictionary, out, err);
}

static enum ks_status
other_hash(struct ks_error *err)
{
	return ks_fail(err, KS_CORRUPT,
		"its bytes have another sha256 than its address");
}

static enum ks_status
read_object(struct ks_store *store, const struct ks_id *id,
	const struct ks_oid *blob, struct ks_buf *out, struct ks_error *err)
{
	struct ks_buf frame = KS_BUF_INIT;
	size_t before = out->len;
	struct ks_id found;
	enum ks_status status = ks_gitdb_blob(store->db, blob, KS_LIMIT_FRAME,
		false, &frame, err);

	if (status == KS_OK)
		status = unpack(store, ks_buf_span(&frame), out, err);
	ks_buf_release(&frame);
	if (status != KS_OK)
		return status;
	ks_sha256(ks_span(out->data + before, out->len - before), &found);
	if (ks_id_equal(&found, id))
		return KS_OK;
	out->len = before;
	return other_hash(err);
}

/* The blob at the object's address. */
static enum ks_status
find_object(struct ks_store *store, const char *path, struct ks_oid *blob,
	struct ks_error *err)
{
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(store->db, &store->tree, path,
		&entry, err);

	if (status != KS_OK)
		return status;
	*blob = entry.oid;
	if (entry.mode == KS_GIT_MODE_FILE)
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "mode %06lo, must be %06lo",
		(unsigned long)entry.mode, (unsigned long)KS_GIT_MODE_FILE);
}

/* Put the path in front of what failed there. */
static enum ks_status
at_path(const char *path, enum ks_status status, struct ks_error *err)
{
	if (status != KS_OK)
		(void)ks_context(err, "%s", path);
	return status;
}

enum ks_status
ks_store_body(struct ks_store *store, const struct ks_id *id,
	struct ks_buf *out, struct ks_error *err)
{
	char path[KS_OBJECT_PATH + 1];
	struct ks_oid blob;
	enum ks_status status = find_object(store, ks_layout_object(id, path),
		&blob, err);

	if (status == KS_NOT_FOUND)
		return status;
	if (status == KS_OK)
		status = read_object(store, id, &blob, out, err);
	return at_path(path, status, err);
}

static enum ks_status
hash_piece(void *arg, struct ks_span piece, struct ks_error *err)
{
	(void)err;
	ks_digest_update(arg, piece);
	return KS_OK;
}

/* One object that is handed out in pieces. */
struct handing {
	struct ks_store *store;
	const struct ks_id *id;
	ks_write_fn *write;
	void *arg;
	bool begun;	/* what fails from here on is not the object */
};

static enum ks_status
check_pieces(const struct handing *handing, struct ks_span frame,
	const struct ks_dictionary *dictionary, struct ks_error *err)
{
	struct ks_digest *digest = NULL;
	struct ks_id found;
	enum ks_status status = ks_digest_new(&digest, err);

	if (status == KS_OK)
		status = ks_frame_unpack_pieces(handing->store->framer, frame,
			KS_LIMIT_RAW, dictionary, hash_piece, digest, err);
	if (status == KS_OK) {
		ks_digest_final(digest, &found);
		if (!ks_id_equal(&found, handing->id))
			status = other_hash(err);
	}
	ks_digest_free(digest);
	return status;
}

static enum ks_status
hand_out(void *arg, struct ks_span frame, struct ks_error *err)
{
	struct handing *handing = arg;
	const struct ks_dictionary *dictionary;
	enum ks_status status = find_dictionary(handing->store, frame,
		&dictionary, err);

	if (status == KS_OK)
		status = check_pieces(handing, frame, dictionary, err);
	if (status != KS_OK)
		return status;
	handing->begun = true;
	return ks_frame_unpack_pieces(handing->store->framer, frame,
		KS_LIMIT_RAW, dictionary, handing->write, handing->arg, err);
}

enum ks_status
ks_store_body_pieces(struct ks_store *store, const struct ks_id *id,
	ks_write_fn *write, void *arg, struct ks_error *err)
{
	struct handing handing = {
		.store = store, .id = id, .write = write, .arg = arg
	};
	char path[KS_OBJECT_PATH + 1];
	struct ks_oid blob;
	enum ks_status status = find_object(store, ks_layout_object(id, path),
		&blob, err);

	if (status == KS_NOT_FOUND)
		return status;
	if (status == KS_OK)
		status = ks_gitdb_blob_use(store->db, &blob, KS_LIMIT_FRAME,
			hand_out, &handing, err);
	return handing.begun ? status : at_path(path, status, err);
}

bool
ks_store_has(struct ks_store *store, const struct ks_id *id)
{
	char path[KS_OBJECT_PATH + 1];
	struct ks_git_entry entry;

	return ks_gitdb_find(store->db, &store->tree,
		ks_layout_object(id, path), &entry, NULL) == KS_OK;
}

enum ks_status
ks_store_explain_absence(struct ks_store *store, const struct ks_id *id,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	struct ks_index *index;
	struct ks_index_row row;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status != KS_OK)
		return status;
	(void)ks_id_print(id, text);
	if (!ks_index_object(index, id, &row)) {
		status = ks_index_check(index, err);
		return status != KS_OK ? status : ks_fail(err, KS_NOT_FOUND,
			"%s is not in this store", text);
	}
	if (row.state.taken_down)
		return ks_fail(err, KS_NOT_FOUND, "%s was taken down", text);
	return ks_fail(err, KS_CORRUPT,
		"%s was published but its object is absent", text);
}

/* ---- log and notes ----------------------------------------------------- */

enum ks_status
ks_store_line(struct ks_store *store, uint64_t index, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_span line = ks_span(NULL, 0);
	enum ks_status status = KS_OK;

	if (store->lines == NULL)
		status = ks_lines_new(&store->lines, store->db, &store->tree,
			err);
	if (status == KS_OK)
		status = ks_lines_get(store->lines, index, &line, err);
	if (status != KS_OK)
		return status;
	ks_buf_append(out, line);
	return ks_buf_check(out, err);
}

/* Append what member of an entry holds the notes wanted. */
static enum ks_status
note_of_line(struct ks_store *store, uint64_t index, const char *member,
	struct ks_buf *out, struct ks_error *err)
{
	struct ks_buf line = KS_BUF_INIT;
	struct ks_span value;
	enum ks_status status;

	if (index == KS_NO_LINE || out == NULL)
		return KS_OK;
	status = ks_store_line(store, index, &line, err);
	if (status == KS_OK)
		status = ks_jcs_check(store->jcs, ks_buf_span(&line),
			&ks_jcs_manifest, err);
	if (status == KS_OK && ks_json_find(ks_buf_span(&line), member, &value))
		ks_buf_append(out, value);
	ks_buf_release(&line);
	if (status != KS_OK)
		return status == KS_INVALID ? KS_CORRUPT : status;
	return ks_buf_check(out, err);
}

enum ks_status
ks_store_notes(struct ks_store *store, const struct ks_index_row *row,
	struct ks_buf *metadata, struct ks_buf *provenance,
	struct ks_error *err)
{
	enum ks_status status = note_of_line(store, row->metadata_line,
		"metadata", metadata, err);

	return status != KS_OK ? status : note_of_line(store,
		row->provenance_line, "provenance", provenance, err);
}

enum ks_status
ks_log(struct ks_store *store, struct ks_log_info *out, struct ks_error *err)
{
	struct ks_index *index;
	const struct ks_index_log *log;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status != KS_OK)
		return status;
	log = ks_index_log(index);
	out->size = log->tree.size;
	ks_merkle_root(&log->tree, &out->root);
	memcpy(out->time, log->time, sizeof(out->time));
	return KS_OK;
}

enum ks_status
ks_log_understood(struct ks_store *store, struct ks_error *err)
{
	struct ks_index *index;
	const struct ks_index_log *log;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status != KS_OK)
		return status;
	log = ks_index_log(index);
	if (log->unsupported == 0)
		return KS_OK;
	return ks_fail(err, KS_UNSUPPORTED, "%llu entr%s of the log need%s a "
		"newer kistore, so what the log says of records cannot be "
		"told", (unsigned long long)log->unsupported,
		log->unsupported == 1 ? "y" : "ies",
		log->unsupported == 1 ? "s" : "");
}

struct line_visit {
	uint64_t to;
	ks_log_fn *visit;
	void *arg;
	bool stopped;
};

static enum ks_status
visit_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct line_visit *visit = arg;

	(void)err;
	if (index < visit->to && !visit->visit(visit->arg, index, line))
		return KS_OK;
	visit->stopped = true;
	return KS_CANCELLED;
}

enum ks_status
ks_log_lines(struct ks_store *store, uint64_t from, uint64_t to,
	ks_log_fn *visit, void *arg, struct ks_error *err)
{
	struct line_visit state = { .to = to, .visit = visit, .arg = arg };
	enum ks_status status = ks_log_each(store->db, &store->tree, from,
		visit_line, &state, err);

	return status == KS_CANCELLED && state.stopped ? KS_OK : status;
}

struct indices {
	uint64_t *list;
	size_t count, room;
	bool failed;
};

static bool
collect_index(void *arg, uint64_t line)
{
	struct indices *indices = arg;
	uint64_t *grown = ks_grow(indices->list, indices->count,
		&indices->room, sizeof(*grown), NULL);

	if (grown == NULL) {
		indices->failed = true;
		return true;
	}
	indices->list = grown;
	grown[indices->count++] = line;
	return false;
}

enum ks_status
ks_log_of(struct ks_store *store, const struct ks_id *digest,
	ks_log_fn *visit, void *arg, struct ks_error *err)
{
	struct indices indices = { 0 };
	struct ks_buf line = KS_BUF_INIT;
	struct ks_index *index;
	struct ks_index_row row;
	size_t i;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status != KS_OK)
		return status;
	if (!ks_index_object(index, digest, &row))
		return ks_store_explain_absence(store, digest, err);
	(void)collect_index(&indices, row.state.published);
	status = ks_index_lines(index, digest, collect_index, &indices, err);
	if (status == KS_OK && indices.failed)
		status = ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < indices.count; i++) {
		ks_buf_clear(&line);
		status = ks_store_line(store, indices.list[i], &line, err);
		if (status == KS_OK && visit(arg, indices.list[i],
			ks_buf_span(&line)))
			break;
	}
	free(indices.list);
	ks_buf_release(&line);
	return status;
}
