#include <stdlib.h>

#include "base/grow.h"
#include "store/store.h"

/* ---- what lies at the top of the tree ---------------------------------- */

static enum ks_status
note_top(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	static const char *const known[] = {
		KS_PATH_STORE, KS_PATH_README, KS_PATH_ATTRIBUTES,
		KS_PATH_CHECKPOINT, KS_PATH_CHECKPOINTS, KS_PATH_LOG,
		KS_PATH_OBJECTS, KS_PATH_DICTIONARIES
	};
	struct ks_store *store = arg;
	char shown[256];
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(entry->name, known[i]) == 0)
			return KS_OK;
	ks_buf_printf(&store->others, "%s%s",
		store->others.len > 0 ? ", " : "",
		ks_printable(shown, sizeof(shown),
			ks_span_text(entry->name)));
	return ks_buf_check(&store->others, err);
}

static enum ks_status
count_entry(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	(void)entry;
	(void)err;
	++*(uint64_t *)arg;
	return KS_OK;
}

static enum ks_status
count_checkpoints(struct ks_store *store, uint64_t *count,
	struct ks_error *err)
{
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(store->db, &store->tree,
		KS_PATH_CHECKPOINTS, &entry, err);

	*count = 0;
	if (status == KS_NOT_FOUND)
		return KS_OK;
	return status != KS_OK ? status : ks_gitdb_list(store->db, &entry.oid,
		count_entry, count, err);
}

/* ---- kinds ------------------------------------------------------------- */

/* Kind texts go into one buffer, which may move: offsets first. */
struct kinds {
	struct ks_store *store;
	size_t count, room;
	size_t *offsets;
	bool failed;
};

static void
note_kind(void *arg, const char *kind, uint64_t objects, uint64_t retracted,
	uint64_t superseded, uint64_t taken_down)
{
	struct kinds *kinds = arg;
	struct ks_store *store = kinds->store;
	size_t room = kinds->room;
	struct ks_kind_count *grown = ks_grow(store->kinds, kinds->count,
		&room, sizeof(*grown), NULL);
	size_t *offsets = NULL;

	if (grown != NULL) {
		store->kinds = grown;
		offsets = ks_grow(kinds->offsets, kinds->count, &kinds->room,
			sizeof(*offsets), NULL);
	}
	if (offsets == NULL) {
		kinds->failed = true;
		return;
	}
	kinds->offsets = offsets;
	offsets[kinds->count] = store->kind_texts.len;
	grown[kinds->count++] = (struct ks_kind_count){
		.objects = objects, .retracted = retracted,
		.superseded = superseded, .taken_down = taken_down
	};
	ks_buf_append(&store->kind_texts, ks_span(kind, strlen(kind) + 1));
}

static enum ks_status
count_kinds(struct ks_store *store, struct ks_index *index,
	struct ks_status_info *out, struct ks_error *err)
{
	struct kinds kinds = { .store = store };
	size_t i;
	enum ks_status status;

	ks_buf_clear(&store->kind_texts);
	status = ks_index_kinds(index, note_kind, &kinds, err);
	if (status == KS_OK && (kinds.failed || store->kind_texts.failed))
		status = ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < kinds.count; i++) {
		store->kinds[i].kind = (const char *)store->kind_texts.data +
			kinds.offsets[i];
		out->objects += store->kinds[i].objects;
	}
	free(kinds.offsets);
	out->kinds = store->kinds;
	out->kind_count = kinds.count;
	return status;
}

enum ks_status
ks_store_status(struct ks_store *store, struct ks_status_info *out,
	struct ks_error *err)
{
	struct ks_index *index = NULL;
	struct ks_dictionaries *dictionaries = NULL;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	memset(out, 0, sizeof(*out));
	if (status == KS_OK)
		status = ks_log(store, &out->log, err);
	if (status == KS_OK)
		status = count_kinds(store, index, out, err);
	if (status == KS_OK)
		status = ks_store_dictionaries(store, &dictionaries, err);
	if (status == KS_OK)
		status = count_checkpoints(store, &out->checkpoints, err);
	ks_buf_clear(&store->others);
	if (status == KS_OK)
		status = ks_gitdb_list(store->db, &store->tree, note_top,
			store, err);
	if (status != KS_OK)
		return status;
	out->directory = ks_gitdb_directory(store->db);
	out->origin = ks_buf_cstr(&store->origin);
	(void)ks_oid_print(&store->commit, out->commit);
	out->branch = store->head.branch;
	out->packs = ks_gitdb_pack_count(store->db);
	out->dictionaries = ks_dictionaries_count(dictionaries);
	out->faults = ks_index_log(index)->faults;
	out->unsupported = ks_index_log(index)->unsupported;
	out->shallow = ks_gitdb_is_shallow(store->db);
	out->partial = ks_gitdb_promisor(store->db) != NULL;
	out->others = ks_buf_cstr(&store->others);
	return KS_OK;
}
