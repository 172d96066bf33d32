/*
 * What a reader sees of a store whose origin is pinned: the lines that a
 * verified checkpoint covers, and no others (store-layout.md N7).
 */
#include <stdio.h>

#include "store/log.h"
#include "store/revision.h"
#include "store/signed.h"
#include "store/store.h"
#include "store/trusted.h"

/* The notes and, where they are needed, the log's keys and roots. */
struct viewing {
	struct ks_store *store;
	struct ks_trust *trust;
	struct ks_state *state;
	struct ks_signed signed_;
	struct ks_merkle tree;
	struct ks_oid newest;		/* tree of the newest commit */
	struct ks_trust_result result;
};

/* ---- judging --------------------------------------------------------- */

/* One pass over the log, without its rules: leaves, and lines that name a
 * key, which are short. */
static enum ks_status
gather_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct viewing *viewing = arg;
	struct ks_entry entry;
	bool is_key;
	struct ks_id leaf;

	(void)index;
	ks_entry_leaf(line, &leaf);
	ks_merkle_append(&viewing->tree, &leaf);
	is_key = ks_entry_parse(viewing->store->jcs, line, &entry, NULL) ==
		KS_OK && entry.op == KS_OP_KEY;
	return ks_signed_line(&viewing->signed_, is_key ? &entry : NULL,
		&viewing->tree, err);
}

static enum ks_status
gather(struct viewing *viewing, struct ks_error *err)
{
	ks_signed_start(&viewing->signed_);
	memset(&viewing->tree, 0, sizeof(viewing->tree));
	return ks_log_each(viewing->store->db, &viewing->newest, 0,
		gather_line, viewing, err);
}

static enum ks_status
judge_all(struct viewing *viewing, struct ks_error *err)
{
	struct ks_trust_subject subject;
	uint64_t sizes[2 * KS_TRUST_KEYS];
	size_t i, count = ks_trust_sizes(viewing->trust, sizes);
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < count; i++)
		status = ks_signed_mark(&viewing->signed_, sizes[i], err);
	if (status == KS_OK)
		status = gather(viewing, err);
	ks_signed_end(&viewing->signed_);
	if (status == KS_OK)
		status = ks_signed_subject(&viewing->signed_,
			ks_buf_span(&viewing->store->origin), &subject, err);
	return status != KS_OK ? status : ks_trust_judge(viewing->trust,
		&subject, &viewing->result, err);
}

/* Whether the newest note is of what was accepted last, by verify, which read
 * all of the log. */
static bool
is_accepted(struct viewing *viewing, const struct ks_stored_note *newest)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	bool found;
	bool same = ks_state_accepted(viewing->state, ks_buf_span(
		&viewing->store->origin), &bytes, &found, NULL) == KS_OK &&
		found && ks_checkpoint_of_note(ks_buf_span(&bytes),
		&checkpoint, NULL) == KS_OK &&
		checkpoint.size == newest->size &&
		ks_id_equal(&checkpoint.root, &newest->root);

	ks_buf_release(&bytes);
	return same;
}

/* Nearly always the newest note is by a key that is pinned, and was accepted:
 * then the log need not be read here. Its root is compared later. Otherwise
 * its lines may say that the key has handed over, and its roots that it is not
 * the log that was accepted. */
static enum ks_status
judge(struct viewing *viewing, struct ks_error *err)
{
	const struct ks_checkpoints *notes = &viewing->signed_.notes;
	struct ks_span newest = notes->count == 0 ? ks_span(NULL, 0) :
		ks_buf_span(&notes->list[notes->count - 1].bytes);
	struct ks_trust_subject subject = {
		.origin = ks_buf_span(&viewing->store->origin),
		.notes = &newest,
		.note_count = notes->count > 0 ? 1 : 0
	};
	enum ks_status status = ks_trust_judge(viewing->trust, &subject,
		&viewing->result, err);

	if (status != KS_OK || notes->count == 0 ||
		(viewing->result.verdict == KS_TRUST_SIGNED && is_accepted(
		viewing, &notes->list[notes->count - 1])))
		return status;
	return judge_all(viewing, err);
}

/* ---- the view -------------------------------------------------------- */

static enum ks_status
check_root(struct viewing *viewing, struct ks_error *err)
{
	struct ks_index *index;
	const struct ks_index_log *log;
	struct ks_id root;
	enum ks_status status = ks_store_index(viewing->store, &index, NULL,
		err);

	if (status != KS_OK)
		return status;
	log = ks_index_log(index);
	ks_merkle_root(&log->tree, &root);
	if (log->tree.size != viewing->result.size ||
		!ks_id_equal(&root, &viewing->result.root))
		return ks_fail(err, KS_CORRUPT, "the log is not the one that "
			"was signed (kistore verify tells more)");
	/* A line that was redacted without a takedown leaves the root. */
	if (log->faults > 0)
		return ks_fail(err, KS_CORRUPT, "the log breaks rules within "
			"what was signed (kistore verify names them)");
	return KS_OK;
}

/* Look at the newest commit whose log is exactly what is signed. */
static enum ks_status
move_back(struct viewing *viewing, struct ks_error *err)
{
	struct ks_store *store = viewing->store;
	struct ks_git_commit commit;
	struct ks_oid oid;
	char size[24];
	enum ks_status status;

	(void)snprintf(size, sizeof(size), "%llu",
		(unsigned long long)viewing->result.size);
	status = ks_revision_find(store->db, &store->head.commit, size, &oid,
		err);
	if (status == KS_OK)
		status = ks_gitdb_commit(store->db, &oid, &commit, err);
	if (status != KS_OK)
		return ks_context(err, "no commit has the %s entries that are "
			"signed", size);
	store->commit = oid;
	store->tree = commit.tree;
	store->in_the_past = true;
	return KS_OK;
}

/* A state of the past: it must be a beginning of what is signed. */
static enum ks_status
check_past(struct viewing *viewing, uint64_t size, struct ks_error *err)
{
	struct ks_index *index;
	struct ks_id root, expected;
	enum ks_status status;

	if (size > viewing->result.size)
		return ks_fail(err, KS_NOT_FOUND, "that state has %llu "
			"entries, of which %llu are signed (--unsigned shows "
			"it)", (unsigned long long)size,
			(unsigned long long)viewing->result.size);
	status = ks_signed_mark(&viewing->signed_, size, err);
	if (status == KS_OK)
		status = gather(viewing, err);
	if (status == KS_OK)
		status = ks_store_index(viewing->store, &index, NULL, err);
	if (status != KS_OK)
		return status;
	ks_merkle_root(&ks_index_log(index)->tree, &root);
	if (!ks_signed_root(&viewing->signed_, size, &expected) ||
		!ks_id_equal(&root, &expected))
		return ks_fail(err, KS_CORRUPT, "the log of that state is no "
			"beginning of the one that was signed");
	return KS_OK;
}

static enum ks_status
apply(struct viewing *viewing, struct ks_view *view, struct ks_error *err)
{
	struct ks_store *store = viewing->store;
	const struct ks_trust_result *result = &viewing->result;
	uint64_t size = 0;
	enum ks_status status;

	if (!result->has_good || result->verdict == KS_TRUST_ROLLBACK ||
		result->verdict == KS_TRUST_FORK) {
		status = ks_trust_verdict_status(result->verdict);
		return ks_fail(err, status, "%s: %s (--unsigned reads it all "
			"the same)", ks_trust_verdict_name(result->verdict),
			result->message);
	}
	(void)snprintf(view->signer, sizeof(view->signer), "%s+%08lx",
		result->key.name, (unsigned long)result->key.id);
	view->size = result->size;
	status = ks_revision_log_size(store->db, &store->tree, &size, err);
	if (status != KS_OK)
		return status;
	if (store->in_the_past)
		return check_past(viewing, size, err);
	view->tail = size > result->size ? size - result->size : 0;
	if (view->tail > 0)
		status = move_back(viewing, err);
	return status == KS_OK ? check_root(viewing, err) : status;
}

enum ks_status
ks_store_view(struct ks_store *store, const char *state_directory,
	const struct ks_watch *watch, struct ks_view *view,
	struct ks_error *err)
{
	struct ks_trust_options options = {
		.state_directory = state_directory
	};
	struct viewing viewing = { .store = store };
	struct ks_git_commit commit;
	enum ks_status status = ks_trusted_new(&options,
		ks_buf_span(&store->origin), watch, &viewing.trust,
		&viewing.state, err);

	memset(view, 0, sizeof(*view));
	/* What was accepted may be of a state that came after it was opened. */
	if (status == KS_OK && !store->in_the_past)
		status = ks_store_refresh(store, err);
	if (status == KS_OK)
		status = ks_gitdb_commit(store->db, &store->head.commit,
			&commit, err);
	if (status == KS_OK) {
		viewing.newest = commit.tree;
		view->pinned = ks_trust_is_asked(viewing.trust);
		status = ks_signed_read(&viewing.signed_, store->db,
			&viewing.newest, NULL, NULL, err);
	}
	/* Who trusts nobody needs no note. */
	if (status == KS_CORRUPT && !view->pinned) {
		view->has_snapshots = true;
		ks_trust_free(viewing.trust);
		ks_state_free(viewing.state);
		return KS_OK;
	}
	if (status == KS_OK) {
		view->has_snapshots = viewing.signed_.notes.count > 0;
	}
	if (status == KS_OK && view->pinned)
		status = judge(&viewing, err);
	if (status == KS_OK && view->pinned)
		status = apply(&viewing, view, err);
	ks_signed_release(&viewing.signed_);
	ks_trust_free(viewing.trust);
	ks_state_free(viewing.state);
	return status;
}
