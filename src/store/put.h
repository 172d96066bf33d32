/*
 * The second half of a put: what was collected becomes lines and objects, in
 * one commit. For ks_put() and for all that makes records itself.
 *
 *	ks_collection_init(&all, directory, &err);
 *	... ks_gather_text() or the like, into it ...
 *	ks_writing_begin(&writing, store, &options, count, dry_run, &err);
 *	ks_put_compose(&writing, &all, &put_options, &result, &err);
 *	ks_put_commit(&writing, &all, "put 1 object\n", &result, &err);
 */
#ifndef KS_STORE_PUT_H
#define KS_STORE_PUT_H

#include "store/collection.h"
#include "store/writing.h"

/* Write lines and objects. Items are marked new or not, and the counts in
 * *result grow. KS_INVALID as ks_compose(). */
enum ks_status ks_put_compose(struct ks_writing *writing,
	struct ks_collection *all, const struct ks_put_options *options,
	struct ks_put_result *result, struct ks_error *err) KS_CHECKED;

/* Commit it, if there is anything new. The collection is settled: see
 * ks_collection_settle(). */
enum ks_status ks_put_commit(struct ks_writing *writing,
	struct ks_collection *all, const char *message,
	struct ks_put_result *result, struct ks_error *err) KS_CHECKED;

/* Tell `visit` (which may be NULL) of every object of a settled collection. */
void ks_put_report(const struct ks_collection *all, ks_put_fn *visit,
	void *arg);

#endif
