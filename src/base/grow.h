/*
 * Lists that grow by one item at a time.
 *
 *	struct ks_id *grown = ks_grow(set->ids, set->count, &set->room,
 *		sizeof(*grown), err);
 *
 *	if (grown == NULL)
 *		return KS_NOMEM;
 *	set->ids = grown;
 *	grown[set->count++] = *id;
 */
#ifndef KS_BASE_GROW_H
#define KS_BASE_GROW_H

#include <stddef.h>

#include "base/error.h"

/* Room for one item more in a list of `count` items of `item` bytes each, into
 * which `*room` fit; a list begins as NULL and no room, and what is added is
 * not zeroed. Returns the list, perhaps moved, which is the caller's to keep
 * and to free(); `*room` then says how many fit. NULL when memory ran out or
 * so many bytes cannot be counted: KS_NOMEM is told to `err`, and the list and
 * `*room` are as they were. */
void *ks_grow(void *list, size_t count, size_t *room, size_t item,
	struct ks_error *err) KS_CHECKED;

#endif
