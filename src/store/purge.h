/*
 * Purging: what takedowns removed from the newest state goes from the whole
 * history of the branch (store-layout.md X9).
 */
#ifndef KS_STORE_PURGE_H
#define KS_STORE_PURGE_H

#include "store/store.h"

/* Rewrite the branch, and let git remove what nothing leads to any more; a
 * plain gc where nothing was ever taken down. The caller holds the store's lock
 * (by the descriptor `lock`), has refreshed the store and let ks_gitdb_begin()
 * clear away what a dead writer left. The names in *result are the store's. */
enum ks_status ks_purge(struct ks_store *store, int lock,
	const struct ks_watch *watch, struct ks_gc_result *result,
	struct ks_error *err) KS_CHECKED;

/* Whether history has what a purge would remove: what takedowns that count have
 * taken from the newest state. Nothing is changed, but the caller holds the
 * store's lock. KS_CORRUPT, KS_UNSUPPORTED:
 * the log has faults, or lines that need a newer kistore. */
enum ks_status ks_purge_is_due(struct ks_store *store,
	const struct ks_watch *watch, bool *due, struct ks_error *err)
	KS_CHECKED;

#endif
