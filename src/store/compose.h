/*
 * Composing the lines of a put (store-layout.md, section "what put writes").
 *
 * Publishes in input order, each after its own unpublished references; then
 * annotates, retracts and supersedes, each group in input order. What the log
 * knows already is asked of the replay in the writing.
 */
#ifndef KS_STORE_COMPOSE_H
#define KS_STORE_COMPOSE_H

#include "store/collection.h"
#include "store/writing.h"

/* Write all lines for what was collected; items are marked new or not, and
 * the counts in *result grow. KS_INVALID names place, path and rule. */
enum ks_status ks_compose(struct ks_writing *writing,
	struct ks_collection *all, const struct ks_put_options *options,
	struct ks_put_result *result, struct ks_error *err) KS_CHECKED;

#endif
