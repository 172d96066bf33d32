/*
 * The dictionaries that a store's frames name.
 */
#ifndef KS_STORE_DICTIONARIES_H
#define KS_STORE_DICTIONARIES_H

#include "format/frame.h"
#include "format/id.h"
#include "store/gitdb.h"

struct ks_dictionaries;

/* One file of dictionaries/, as its name says. */
struct ks_dictionary_file {
	char name[96];
	uint32_t id;
	struct ks_id digest;
	struct ks_oid oid;
	struct ks_dictionary *loaded;	/* NULL until asked for */
};

/* List what `tree` (the root) has in dictionaries/; files whose names are not
 * of the form are left out. */
enum ks_status ks_dictionaries_open(struct ks_dictionaries **out,
	struct ks_gitdb *db, const struct ks_oid *tree, struct ks_error *err)
	KS_CHECKED;
void ks_dictionaries_free(struct ks_dictionaries *all);

/* NULL counts as a set without any, here and in ks_dictionaries_loaded(). */
size_t ks_dictionaries_count(const struct ks_dictionaries *all);
const struct ks_dictionary_file *ks_dictionaries_at(
	const struct ks_dictionaries *all, size_t index);

/* The dictionary with an id, its file's sha256 checked against its name; NULL
 * for id 0. KS_CORRUPT when there is none, or it is damaged. Only this call
 * loads; it is for one thread. */
enum ks_status ks_dictionaries_get(struct ks_dictionaries *all,
	uint32_t id, const struct ks_dictionary **out, struct ks_error *err)
	KS_CHECKED;

/* The same, if it is loaded already, else NULL: for other threads. */
const struct ks_dictionary *ks_dictionaries_loaded(
	const struct ks_dictionaries *all, uint32_t id);

/* The newest one, which has the highest id, to compress with; NULL when there
 * is none. */
enum ks_status ks_dictionaries_current(struct ks_dictionaries *all,
	const struct ks_dictionary **out, struct ks_error *err) KS_CHECKED;

/* The id that the next dictionary of the store gets. */
uint32_t ks_dictionaries_next_id(const struct ks_dictionaries *all);

#endif
