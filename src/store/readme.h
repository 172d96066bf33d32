/*
 * The README of a store (store-layout.md T8): what it holds, and how to check
 * it with stock tools. The same state of a store gives the same text.
 */
#ifndef KS_STORE_README_H
#define KS_STORE_README_H

#include "format/replay.h"
#include "store/store.h"

/* Append the text for the first `size` entries of the log, all of which
 * `replay` has taken. `origin` is the log's. Sources are read from the store's
 * objects; one that cannot be is left out. KS_NOMEM. */
enum ks_status ks_readme_print(struct ks_store *store,
	struct ks_replay *replay, const char *origin, uint64_t size,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* The same, where the bodies of Sources are not in a store yet. */
typedef enum ks_status ks_readme_body_fn(void *arg,
	const struct ks_id *digest, struct ks_buf *out, struct ks_error *err);
enum ks_status ks_readme_print_from(ks_readme_body_fn *read, void *arg,
	struct ks_replay *replay, const char *origin, uint64_t size,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

#endif
