#include "store/dictionaries.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/digest.h"
#include "format/layout.h"

struct ks_dictionaries {
	struct ks_gitdb *db;
	struct ks_dictionary_file *files;
	size_t count, room;
};

static enum ks_status
add_file(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	struct ks_dictionaries *all = arg;
	struct ks_dictionary_file file = { .oid = entry->oid };
	struct ks_dictionary_file *grown;

	if (!ks_layout_dictionary_name(entry->name, &file.id, &file.digest))
		return KS_OK;
	if (all->count == KS_LIMIT_DICTIONARIES)
		return ks_fail(err, KS_CORRUPT,
			"more than %d files in " KS_PATH_DICTIONARIES,
			KS_LIMIT_DICTIONARIES);
	memcpy(file.name, entry->name, strlen(entry->name) + 1);
	grown = ks_grow(all->files, all->count, &all->room, sizeof(*grown),
		err);
	if (grown == NULL)
		return KS_NOMEM;
	all->files = grown;
	grown[all->count++] = file;
	return KS_OK;
}

enum ks_status
ks_dictionaries_open(struct ks_dictionaries **out, struct ks_gitdb *db,
	const struct ks_oid *tree, struct ks_error *err)
{
	struct ks_dictionaries *all = calloc(1, sizeof(*all));
	struct ks_git_entry entry;
	enum ks_status status;

	*out = NULL;
	if (all == NULL)
		return ks_fail_nomem(err);
	all->db = db;
	status = ks_gitdb_find(db, tree, KS_PATH_DICTIONARIES, &entry, err);
	if (status == KS_OK && entry.mode == KS_GIT_MODE_TREE)
		status = ks_gitdb_list(db, &entry.oid, add_file, all, err);
	else if (status == KS_NOT_FOUND)
		status = KS_OK;
	if (status != KS_OK) {
		ks_dictionaries_free(all);
		return status;
	}
	*out = all;
	return KS_OK;
}

void
ks_dictionaries_free(struct ks_dictionaries *all)
{
	size_t i;

	if (all == NULL)
		return;
	for (i = 0; i < all->count; i++)
		ks_dictionary_free(all->files[i].loaded);
	free(all->files);
	free(all);
}

size_t
ks_dictionaries_count(const struct ks_dictionaries *all)
{
	return all == NULL ? 0 : all->count;
}

const struct ks_dictionary_file *
ks_dictionaries_at(const struct ks_dictionaries *all, size_t index)
{
	return &all->files[index];
}

static struct ks_dictionary_file *
find(const struct ks_dictionaries *all, uint32_t id)
{
	size_t i;

	for (i = 0; i < ks_dictionaries_count(all); i++)
		if (all->files[i].id == id)
			return &all->files[i];
	return NULL;
}

static enum ks_status
load(struct ks_dictionaries *all, struct ks_dictionary_file *file,
	struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_id digest;
	enum ks_status status = ks_gitdb_blob(all->db, &file->oid,
		KS_LIMIT_DICTIONARY, false, &bytes, err);

	if (status == KS_OK) {
		ks_sha256(ks_buf_span(&bytes), &digest);
		if (!ks_id_equal(&digest, &file->digest))
			status = ks_fail(err, KS_CORRUPT,
				"sha256 of the dictionary is not the one in "
				"its name");
	}
	if (status == KS_OK)
		status = ks_dictionary_new(&file->loaded, ks_buf_span(&bytes),
			err);
	if (status == KS_OK && ks_dictionary_id(file->loaded) != file->id) {
		ks_dictionary_free(file->loaded);
		file->loaded = NULL;
		status = ks_fail(err, KS_CORRUPT,
			"id inside the dictionary is not the one in its name");
	}
	ks_buf_release(&bytes);
	if (status != KS_OK)
		(void)ks_context(err, KS_PATH_DICTIONARIES "/%s", file->name);
	return status;
}

enum ks_status
ks_dictionaries_get(struct ks_dictionaries *all, uint32_t id,
	const struct ks_dictionary **out, struct ks_error *err)
{
	struct ks_dictionary_file *file;
	enum ks_status status = KS_OK;

	*out = NULL;
	if (id == 0)
		return KS_OK;
	file = find(all, id);
	if (file == NULL)
		return ks_fail(err, KS_CORRUPT,
			"zstd frame needs dictionary %lu, which is not in "
			KS_PATH_DICTIONARIES, (unsigned long)id);
	if (file->loaded == NULL)
		status = load(all, file, err);
	*out = file->loaded;
	return status;
}

const struct ks_dictionary *
ks_dictionaries_loaded(const struct ks_dictionaries *all, uint32_t id)
{
	const struct ks_dictionary_file *file = find(all, id);

	return file == NULL ? NULL : file->loaded;
}

uint32_t
ks_dictionaries_next_id(const struct ks_dictionaries *all)
{
	uint32_t next = KS_DICTIONARY_FIRST_ID;
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->files[i].id >= next)
			next = all->files[i].id + 1;
	return next;
}

enum ks_status
ks_dictionaries_current(struct ks_dictionaries *all,
	const struct ks_dictionary **out, struct ks_error *err)
{
	uint32_t newest = 0;
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->files[i].id > newest)
			newest = all->files[i].id;
	return ks_dictionaries_get(all, newest, out, err);
}
