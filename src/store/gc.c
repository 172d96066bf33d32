#include "store/purge.h"

/* What a purge must not begin with. */
static enum ks_status
check_state(struct ks_store *store, struct ks_error *err)
{
	const char *promisor = ks_gitdb_promisor(store->db);

	if (store->in_the_past)
		return ks_fail(err, KS_USAGE,
			"a past state cannot be purged");
	if (store->head.detached)
		return ks_fail(err, KS_IO, "HEAD is detached: there is no "
			"branch to rewrite (git switch BRANCH first)");
	if (ks_gitdb_is_shallow(store->db))
		return ks_fail(err, KS_UNSUPPORTED, "the history of a shallow "
			"clone cannot be purged (git fetch --unshallow brings "
			"the rest)");
	if (promisor != NULL)
		return ks_fail(err, KS_UNSUPPORTED, "the history of a partial "
			"clone cannot be purged (make a full one)");
	if (ks_gitdb_is_precious(store->db))
		return ks_fail(err, KS_UNSUPPORTED, "git never removes objects "
			"here (extensions.preciousObjects), so nothing can be "
			"purged");
	return KS_OK;
}

static enum ks_status
purge_history(struct ks_store *store, const struct ks_lock *lock,
	const struct ks_watch *watch, struct ks_gc_result *result,
	struct ks_error *err)
{
	enum ks_status status = ks_store_refresh(store, err);

	if (status == KS_OK)
		status = check_state(store, err);
	return status != KS_OK ? status : ks_purge(store, lock->fd, watch,
		result, err);
}

enum ks_status
ks_gc(struct ks_store *store, bool purge,
	const struct ks_write_options *options, struct ks_gc_result *result,
	struct ks_error *err)
{
	struct ks_lock lock = KS_LOCK_INIT;
	struct ks_git_writer *writer = NULL;
	enum ks_status status = ks_lock_take(&lock,
		ks_gitdb_directory(store->db), options->wait_ms,
		options->watch, err);

	*result = (struct ks_gc_result){ .tags = "" };
	/* Beginning to write clears away what a dead writer left. */
	if (status == KS_OK)
		status = ks_gitdb_begin(&writer, store->db, 0, err);
	ks_gitdb_end(writer);
	if (status == KS_OK)
		status = purge ? purge_history(store, &lock, options->watch,
			result, err) : ks_gitdb_gc(store->db, err);
	ks_lock_release(&lock);
	return status;
}
