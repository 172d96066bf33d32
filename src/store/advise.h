/*
 * Advice about new records: rules between records that real data breaks, and
 * that therefore only warn (store-layout.md, section "kinds").
 */
#ifndef KS_STORE_ADVISE_H
#define KS_STORE_ADVISE_H

#include "store/collection.h"
#include "store/notes.h"
#include "store/store.h"

#define KS_ADVISER_TEXTS 16

/* Looks up what a record refers to; keeps scratch memory. One per thread. */
struct ks_adviser {
	const struct ks_collection *all;
	struct ks_store *store;	/* NULL: look only among what is collected */
	struct ks_buf texts[KS_ADVISER_TEXTS];
	size_t used;
	bool incomplete;	/* something referred to was not at hand */
	struct ks_buf *notes;	/* where findings go: texts ended by NUL */
};

void ks_adviser_release(struct ks_adviser *adviser);

/* Append the findings about an item to `notes`. False, with nothing appended,
 * when a record that it refers to was not at hand. */
bool ks_advise(struct ks_adviser *adviser, const struct ks_item *item,
	struct ks_buf *notes);

#endif
