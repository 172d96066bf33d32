/*
 * Writing the objects of a put: dictionary, frames, blobs.
 */
#ifndef KS_STORE_OBJECTS_H
#define KS_STORE_OBJECTS_H

#include "store/collection.h"
#include "store/notes.h"
#include "store/writing.h"

/* A first import of at least this many records trains a dictionary, on at
 * most KS_DICTIONARY_SAMPLES bodies, those with the smallest digests
 * (store-layout.md, section "dictionaries"). */
#define KS_DICTIONARY_MIN 1000
#define KS_DICTIONARY_SAMPLES 5000

struct ks_objects;

/* Look through what was collected for objects that the store does not have,
 * and, where a dictionary is due, start training one beside the caller's
 * further work. `next_id` is the id that it would get; 0 = do not train. */
enum ks_status ks_objects_begin(struct ks_objects **out,
	struct ks_collection *all, struct ks_replay *replay, uint32_t next_id,
	struct ks_error *err) KS_CHECKED;

/* How many objects are new. */
size_t ks_objects_count(const struct ks_objects *objects);

/* Compress the new objects and put them into the tree, in order of digest,
 * with the dictionary just trained or `current` (may be NULL). Calls for
 * every item that the composer marked as new. *trained says whether a
 * dictionary was added; advice about the new records goes to `notes`. */
enum ks_status ks_objects_write(struct ks_objects *objects,
	struct ks_writing *writing, const struct ks_dictionary *current,
	bool *trained, struct ks_notes *notes, struct ks_error *err)
	KS_CHECKED;

void ks_objects_free(struct ks_objects *objects);

/* Train a dictionary on bodies that lie one after another, and put it into
 * the tree; it is also made ready to use. */
enum ks_status ks_objects_add_dictionary(struct ks_writing *writing,
	struct ks_span dictionary, char path[KS_DICTIONARY_PATH],
	struct ks_error *err) KS_CHECKED;

#endif
