/*
 * Particulars: what tells a record from others of its name.
 *
 * Names are not keys: importers cut them, and sources use theirs again. What
 * differs then is the result of a run, what an implementation was tested on,
 * a configuration's software: one line of it, for lists of candidates.
 */
#ifndef KS_STORE_PARTICULARS_H
#define KS_STORE_PARTICULARS_H

#include "store/store.h"

/* Append the particulars of an object, parts joined by " · ": nothing where
 * there are none, or its bytes are not here. `provenance` is what the log says
 * of it now, or empty. */
void ks_particulars(struct ks_store *store, const struct ks_index_row *row,
	struct ks_span provenance, struct ks_buf *out);

#endif
