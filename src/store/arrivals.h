/*
 * What arrives after it was left open (store-layout.md R22).
 *
 * A put with --allow-missing publishes records whose references are not there
 * yet. When such a digest is published later, it has to be of the kind that
 * those records expect: otherwise the store would not verify.
 */
#ifndef KS_STORE_ARRIVALS_H
#define KS_STORE_ARRIVALS_H

#include "store/store.h"

/* Compare what `replay` has taken after the lines that `index` holds with what
 * the records of `store`, which the index is of, left open: by their bodies and
 * their publish lines. KS_INVALID names the two records and the member that
 * refers. */
enum ks_status ks_arrivals_check(struct ks_store *store,
	struct ks_index *index, struct ks_replay *replay, struct ks_error *err)
	KS_CHECKED;

#endif
