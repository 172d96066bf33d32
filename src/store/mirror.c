/*
 * Following another store (store-layout.md, section M).
 *
 * What comes is fetched into a repository aside, verified there, and only then
 * adopted: objects first, then the branch, in one step. Whatever ends it before
 * leaves the mirror as it was.
 */
#include "store/mirror.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/log.h"
#include "store/purge.h"
#include "store/trusted.h"

/* ---- beginning ------------------------------------------------------- */

void
ks_mirror_release(struct ks_mirror *mirror)
{
	ks_verify_release(&mirror->verifying);
	ks_store_close(mirror->candidate);
	ks_gitdb_close(mirror->aside);
	ks_checkpoints_release(&mirror->notes);
	ks_store_close(mirror->base);
	ks_mirror_state_release(&mirror->state);
	ks_lock_release(&mirror->lock);
	ks_gitdb_close(mirror->db);
}

static void
start(struct ks_mirror *mirror, const struct ks_mirror_options *options,
	struct ks_mirror_result *result)
{
	memset(result, 0, sizeof(*result));
	*mirror = (struct ks_mirror){ .options = options, .result = result,
		.lock = KS_LOCK_INIT, .state = KS_MIRROR_STATE_INIT,
		.notes = KS_CHECKPOINTS_INIT };
	if (options == NULL)
		return;
	mirror->trust = *options->trust;
	mirror->verify.trust = &mirror->trust;
	mirror->verify.watch = options->write.watch;
}

static enum ks_status
check_bare(struct ks_mirror *mirror, struct ks_error *err)
{
	const char *promisor = ks_gitdb_promisor(mirror->db);

	if (ks_gitdb_worktree(mirror->db) == NULL && promisor == NULL &&
		!ks_gitdb_is_shallow(mirror->db))
		return KS_OK;
	return ks_fail(err, KS_UNSUPPORTED, "%s: a mirror is a bare "
		"repository, neither shallow nor partial (kistore mirror clone "
		"makes one)", ks_gitdb_directory(mirror->db));
}

/* Its branch is what moves. */
static enum ks_status
check_branch(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_git_head head;
	enum ks_status status = ks_gitdb_head(mirror->db, &head, err);

	if (status != KS_OK || !head.detached)
		return status;
	return ks_fail(err, KS_IO, "%s: HEAD is detached: a mirror is on a "
		"branch (git symbolic-ref HEAD refs/heads/main)",
		ks_gitdb_directory(mirror->db));
}

/* Take the lock and clear away what a dead update left in git's places. */
static enum ks_status
lock(struct ks_mirror *mirror, struct ks_error *err)
{
	const struct ks_write_options *write = &mirror->options->write;
	struct ks_git_writer *writer = NULL;
	enum ks_status status = ks_lock_take(&mirror->lock,
		ks_gitdb_directory(mirror->db), write->wait_ms, write->watch,
		err);

	if (status == KS_OK)
		status = ks_gitdb_begin(&writer, mirror->db, 0, err);
	ks_gitdb_end(writer);
	return status;
}

/* What was accepted before. */
static enum ks_status
open_base(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_mirror_result *result = mirror->result;
	struct ks_git_head head;
	const struct ks_stored_note *newest;
	enum ks_status status = ks_gitdb_head(mirror->db, &head, err);

	if (status != KS_OK || head.unborn)
		return status;
	status = ks_store_open(&mirror->base, ks_gitdb_directory(mirror->db),
		NULL, err);
	if (status == KS_OK)
		status = ks_checkpoints_read(mirror->base->db,
			&mirror->base->tree, NULL, NULL, &mirror->notes, err);
	if (status != KS_OK || mirror->notes.count == 0)
		return status;
	newest = &mirror->notes.list[mirror->notes.count - 1];
	result->size = result->before = newest->size;
	result->root = newest->root;
	(void)snprintf(result->origin, sizeof(result->origin), "%s",
		ks_buf_cstr(&mirror->base->origin));
	return KS_OK;
}

static enum ks_status
open_mirror(struct ks_mirror *mirror, const char *directory,
	struct ks_error *err)
{
	enum ks_status status = ks_gitdb_open(&mirror->db, directory == NULL ?
		"." : directory, directory == NULL, err);

	if (status == KS_OK)
		status = ks_mirror_state_read(mirror->db, &mirror->state, err);
	return status == KS_OK ? check_bare(mirror, err) : status;
}

enum ks_status
ks_mirror_open(struct ks_mirror *mirror, const char *directory,
	const struct ks_mirror_options *options,
	struct ks_mirror_result *result, struct ks_error *err)
{
	enum ks_status status;

	start(mirror, options, result);
	status = open_mirror(mirror, directory, err);
	if (status == KS_OK)
		status = check_branch(mirror, err);
	if (status == KS_OK)
		status = lock(mirror, err);
	return status == KS_OK ? open_base(mirror, err) : status;
}

/* ---- fetching -------------------------------------------------------- */

static const char *
reason_of(const struct ks_error *err, char out[400])
{
	(void)snprintf(out, 400, "%.399s", err->message);
	return out;
}

/* What fails here, fails there: it is a verdict, if it is no failure of this
 * machine. */
static enum ks_status
fetch(struct ks_mirror *mirror, struct ks_error *err)
{
	const char *url = ks_buf_cstr(&mirror->state.url);
	struct ks_error said = KS_ERROR_INIT;
	char text[400];
	enum ks_status status = ks_gitdb_aside(&mirror->aside, mirror->db,
		err);

	if (status != KS_OK)
		return status;
	ks_watch_progress(mirror->options->write.watch, "fetching", 0, 0);
	status = ks_gitdb_fetch(mirror->aside, url, mirror->lock.fd,
		mirror->options->write.watch, &said);
	if (status == KS_OK)
		return ks_watch_check(mirror->options->write.watch, err);
	if (ks_watch_check(mirror->options->write.watch, err) != KS_OK)
		return KS_CANCELLED;
	if (status != KS_IO)
		return ks_mirror_blame(mirror, status, &said, err);
	ks_mirror_say(mirror, "half-updated", "it does not deliver what its "
		"HEAD leads to (try again later: it is being updated, is "
		"damaged, or the transfer broke off): %s", reason_of(&said,
		text));
	return KS_OK;
}

/* The snapshot that the mirror has is judged again: trust may be another. It
 * has it, unless somebody moved its branch. */
static bool
is_known(const struct ks_mirror *mirror)
{
	return mirror->base != NULL && ks_oid_equal(&mirror->snapshot,
		&mirror->state.snapshot) &&
		mirror->result->before == mirror->state.size;
}

/* Ask what there is; fetch what is new, choose the snapshot, open it. */
static enum ks_status
get(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_error said = KS_ERROR_INIT;
	char text[400];
	enum ks_status status = ks_gitdb_remote_head(mirror->db,
		ks_buf_cstr(&mirror->state.url), mirror->options->write.watch,
		&mirror->upstream, &said);

	if (ks_watch_check(mirror->options->write.watch, err) != KS_OK)
		return KS_CANCELLED;
	if (status == KS_NOMEM)
		return ks_fail_nomem(err);
	if (ks_span_begins(ks_span_text(said.message), KS_GIT_CANNOT_RUN))
		return ks_fail(err, KS_IO, "%s", said.message);
	if (status != KS_OK) {
		ks_mirror_say(mirror, status == KS_NOT_FOUND ? "unsigned" :
			"unreachable", "%s", reason_of(&said, text));
		return KS_OK;
	}
	mirror->snapshot = mirror->state.snapshot;
	mirror->result->tail = mirror->state.tail;
	if (!is_known(mirror) || !ks_oid_equal(&mirror->upstream,
		&mirror->state.upstream)) {
		status = fetch(mirror, err);
		if (status == KS_OK && mirror->result->verdict == NULL)
			status = ks_mirror_choose(mirror, err);
	}
	return status;
}

static enum ks_status
open_candidate(struct ks_mirror *mirror, struct ks_error *err)
{
	const struct ks_gitdb *db = is_known(mirror) ? mirror->db :
		mirror->aside;
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = ks_store_open(&mirror->candidate,
		ks_gitdb_directory(db), NULL, &why);

	if (status == KS_UNSUPPORTED) {
		ks_mirror_say(mirror, "unsupported", "%s", why.message);
		return KS_OK;
	}
	return ks_mirror_blame(mirror, status, &why, err);
}

/* ---- accepting ------------------------------------------------------- */

/* Whether the mirror's history, as the upstream had it, is not part of what it
 * has now. */
static enum ks_status
is_rewritten(struct ks_mirror *mirror, bool *rewritten, struct ks_error *err)
{
	struct ks_oid at = mirror->snapshot;
	struct ks_git_commit commit;
	enum ks_status status = KS_OK;

	*rewritten = false;
	if (mirror->base == NULL || ks_oid_is_zero(&mirror->state.snapshot))
		return KS_OK;
	while (status == KS_OK && !ks_oid_is_zero(&at)) {
		if (ks_oid_equal(&at, &mirror->state.snapshot))
			return KS_OK;
		status = ks_gitdb_commit(mirror->aside, &at, &commit, err);
		at = commit.parent;
	}
	*rewritten = true;
	return status;
}

struct tag_sync {
	struct ks_mirror *mirror;
	struct ks_buf commands;
};

static enum ks_status
copy_tag(void *arg, const char *name, const struct ks_oid *oid,
	struct ks_error *err)
{
	struct tag_sync *sync = arg;

	return ks_gitdb_tag_point(sync->mirror->db, name, oid, err);
}

static enum ks_status
drop_tag(void *arg, const char *name, const struct ks_oid *oid,
	struct ks_error *err)
{
	struct tag_sync *sync = arg;
	char hex[KS_OID_HEX + 1];

	(void)err;
	ks_buf_printf(&sync->commands, "delete refs/tags/%s %s\n", name,
		ks_oid_print(oid, hex));
	return KS_OK;
}

/* Tags of a history that is no longer there go before the branch moves. */
static enum ks_status
drop_tags(struct ks_mirror *mirror, struct ks_error *err)
{
	struct tag_sync sync = { .mirror = mirror, .commands = KS_BUF_INIT };
	enum ks_status status = !mirror->result->rewritten ? KS_OK :
		ks_gitdb_tags(mirror->db, "snapshot/", drop_tag, &sync, err);

	if (status == KS_OK)
		status = ks_buf_check(&sync.commands, err);
	if (status == KS_OK && sync.commands.len > 0)
		status = ks_gitdb_delete_refs(mirror->db,
			ks_buf_span(&sync.commands), mirror->lock.fd, err);
	ks_buf_release(&sync.commands);
	return status;
}

static void
add_taken_down(void *arg, const char *kind, uint64_t objects,
	uint64_t retracted, uint64_t superseded, uint64_t taken_down)
{
	(void)kind;
	(void)objects;
	(void)retracted;
	(void)superseded;
	*(uint64_t *)arg += taken_down;
}

/* How many objects the log takes down: where only what is new was verified, no
 * more than before. */
static enum ks_status
count_taken_down(struct ks_mirror *mirror, uint64_t *count,
	struct ks_error *err)
{
	struct ks_index *index;
	enum ks_status status;

	*count = mirror->verified.taken_down;
	if (mirror->result->whole)
		return KS_OK;
	status = ks_store_index(mirror->base, &index,
		mirror->options->write.watch, err);
	return status != KS_OK ? status : ks_index_kinds(index,
		add_taken_down, count, err);
}

/* What was taken down goes from the history, too (M4): from the one that the
 * mirror had, and from what came, for an upstream that did not purge delivers
 * it again and again. That it is due is remembered before the branch moves, so
 * that it is done even after a death. */
static enum ks_status
note_purge(struct ks_mirror *mirror, struct ks_error *err)
{
	uint64_t count;
	enum ks_status status = count_taken_down(mirror, &count, err);

	if (status != KS_OK || count == 0 || mirror->state.purge)
		return status;
	mirror->doubtful = !mirror->result->rewritten;
	mirror->state.purge = true;
	return ks_mirror_state_write(mirror->db, &mirror->state, err);
}

/* What a new mirror is made with is pinned, so that updates need no key, where
 * there is a place for that; a pin that is there already stays. One that cannot
 * be made stops a clone. */
static enum ks_status
trust_new(struct ks_mirror *mirror, struct ks_error *err)
{
	const struct ks_trust_options *given = mirror->options->trust;
	struct ks_buf policy = KS_BUF_INIT;
	bool found = false;
	bool can = given->state_directory != NULL &&
		given->state_directory[0] != '\0';
	enum ks_status status = ks_state_pin_read(mirror->verifying.state,
		ks_buf_span(&mirror->candidate->origin), &policy, &found, err);

	ks_buf_release(&policy);
	mirror->trust.pin = given->pin || (can && !found &&
		(given->key_count > 0 || given->policy.len > 0));
	return status != KS_OK ? status :
		ks_verify_trust_end(&mirror->verifying, err);
}

static enum ks_status
move(struct ks_mirror *mirror, struct ks_error *err)
{
	struct tag_sync sync = { .mirror = mirror };
	struct ks_oid commit;
	enum ks_status status = is_rewritten(mirror,
		&mirror->result->rewritten, err);

	if (status == KS_OK)
		status = ks_mirror_carry(mirror, &commit, err);
	if (status == KS_OK)
		status = ks_gitdb_adopt(mirror->db, mirror->aside, err);
	if (status == KS_OK)
		status = note_purge(mirror, err);
	if (status == KS_OK)
		status = drop_tags(mirror, err);
	if (status == KS_OK && mirror->base == NULL)
		status = trust_new(mirror, err);
	if (status == KS_OK)
		status = ks_gitdb_move(mirror->db, &commit, err);
	if (status == KS_OK)
		status = ks_gitdb_tags(mirror->aside, "snapshot/", copy_tag,
			&sync, err);
	if (status == KS_OK && mirror->base != NULL)
		status = ks_verify_trust_end(&mirror->verifying, err);
	return status;
}

/* What was judged is not needed any more. */
static void
let_go(struct ks_mirror *mirror)
{
	ks_verify_release(&mirror->verifying);
	mirror->verifying = (struct ks_verifying){ .store = NULL };
	ks_store_close(mirror->candidate);
	mirror->candidate = NULL;
	ks_store_close(mirror->base);
	mirror->base = NULL;
}

static enum ks_status
purge(struct ks_mirror *mirror, struct ks_store *store, struct ks_error *err)
{
	const struct ks_watch *watch = mirror->options->write.watch;
	struct ks_gc_result result = { .tags = "" };
	bool due = true;
	enum ks_status status = !mirror->doubtful ? KS_OK :
		ks_purge_is_due(store, watch, &due, err);

	if (status == KS_OK && due)
		status = ks_purge(store, mirror->lock.fd, watch, &result, err);
	/* Where the upstream rewrote history, nothing else removes it. */
	if (status == KS_OK && due && result.rewritten == 0)
		status = ks_store_remove_index(store, err);
	if (status != KS_OK)
		return ks_context(err, "the update is accepted, but what was "
			"taken down is not all removed yet (kistore mirror "
			"update goes on)");
	mirror->result->purged = due;
	mirror->state.purge = false;
	return ks_mirror_state_write(mirror->db, &mirror->state, err);
}

static enum ks_status
tidy(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_store *store = NULL;
	enum ks_status status;

	let_go(mirror);
	status = ks_store_open(&store, ks_gitdb_directory(mirror->db), NULL,
		err);
	if (status == KS_OK && mirror->state.purge)
		status = purge(mirror, store, err);
	else if (status == KS_OK && ks_gitdb_pack_count(store->db) >=
		KS_GITDB_PACK_LIMIT)
		status = ks_gitdb_gc(store->db, err);
	ks_store_close(store);
	return status;
}

static enum ks_status
accept(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_mirror_result *result = mirror->result;
	const struct ks_verify_result *verified = &mirror->verified;
	enum ks_status status;

	if (is_known(mirror)) {
		ks_mirror_say(mirror, "current", "%s",
			verified->signature.message);
		status = ks_verify_trust_end(&mirror->verifying, err);
	} else {
		status = move(mirror, err);
		result->changed = status == KS_OK;
	}
	result->signature = verified->signature;
	if (status != KS_OK)
		return status;
	result->size = verified->signature.size;
	result->root = mirror->verifying.verdict.root;
	(void)snprintf(result->origin, sizeof(result->origin), "%s",
		ks_buf_cstr(&mirror->candidate->origin));
	mirror->state.upstream = mirror->upstream;
	mirror->state.snapshot = mirror->snapshot;
	mirror->state.size = result->size;
	mirror->state.tail = result->tail;
	return KS_OK;
}

/* ---- all of it ------------------------------------------------------- */

/* What is remembered beyond the last update. Evidence that was taken away is
 * not told of any more; where another user has it, no more can be known. */
static void
recall(struct ks_mirror_state *state, struct ks_mirror_result *result)
{
	const char *fork = ks_buf_cstr(&state->fork);

	result->good = state->good;
	if (state->fork.len > 0 && (access(fork, F_OK) == 0 ||
		errno != ENOENT))
		(void)snprintf(result->fork, sizeof(result->fork), "%s", fork);
}

/* What came of it is remembered for `status`. */
static enum ks_status
record(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_mirror_state *state = &mirror->state;
	struct ks_mirror_result *result = mirror->result;
	int64_t now = mirror->options->write.now;

	state->checked = result->checked = now < 0 ? (int64_t)time(NULL) : now;
	if (result->status == KS_OK)
		state->good = state->checked;
	/* That there were two logs stays true, whatever the upstream shows
	 * then. */
	if (result->signature.evidence[0] != '\0') {
		ks_buf_clear(&state->fork);
		ks_buf_text(&state->fork, result->signature.evidence);
	}
	recall(state, result);
	ks_buf_clear(&state->verdict);
	ks_buf_text(&state->verdict, result->verdict);
	ks_buf_clear(&state->message);
	ks_buf_text(&state->message, result->message);
	return ks_mirror_state_write(mirror->db, state, err);
}

static enum ks_status
follow(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_mirror_result *result = mirror->result;
	enum ks_status status = get(mirror, err);

	(void)snprintf(result->url, sizeof(result->url), "%s",
		ks_buf_cstr(&mirror->state.url));
	if (status == KS_OK && result->verdict == NULL)
		status = open_candidate(mirror, err);
	if (status == KS_OK && result->verdict == NULL)
		status = ks_mirror_judge(mirror, err);
	if (status == KS_OK && result->status == KS_OK)
		status = accept(mirror, err);
	if (status == KS_OK)
		status = record(mirror, err);
	/* What was refused is not kept; what was interrupted is. */
	if (status == KS_OK)
		ks_gitdb_remove_aside(mirror->db);
	if (status == KS_OK && (result->changed || mirror->state.purge))
		status = tidy(mirror, err);
	return status;
}

/* What cannot be used as trust is a mistake of the call, and told before
 * anybody is asked. */
static enum ks_status
check_trust(struct ks_mirror *mirror, struct ks_error *err)
{
	const struct ks_trust_options *options = &mirror->trust;
	struct ks_trust *trust = NULL;
	struct ks_state *state = NULL;
	struct ks_span origin = ks_span(NULL, 0);
	enum ks_status status;

	if (mirror->base != NULL)
		origin = ks_buf_span(&mirror->base->origin);
	else if (options->key_count == 0 && options->policy.len == 0)
		return KS_OK;
	status = ks_trusted_new(options, origin, NULL, &trust, &state, err);
	ks_trust_free(trust);
	ks_state_free(state);
	return status;
}

enum ks_status
ks_mirror_update(const char *directory,
	const struct ks_mirror_options *options,
	struct ks_mirror_result *result, struct ks_error *err)
{
	struct ks_mirror mirror;
	enum ks_status status;

	status = ks_mirror_open(&mirror, directory, options, result, err);
	if (status == KS_OK)
		status = check_trust(&mirror, err);
	if (status == KS_OK)
		status = follow(&mirror, err);
	ks_mirror_release(&mirror);
	return status;
}

/* ---- telling --------------------------------------------------------- */

/* Own lines of the newest note. */
static uint64_t
count_cosignatures(struct ks_mirror *mirror)
{
	size_t count = mirror->notes.count;
	struct ks_span rest = ks_buf_span(&mirror->state.cosigners), line;
	struct ks_note note;
	uint64_t found = 0;

	if (count == 0 || ks_note_parse(ks_buf_span(
		&mirror->notes.list[count - 1].bytes), &note, NULL) != KS_OK)
		return 0;
	while (ks_log_next_line(&rest, &line)) {
		struct ks_vkey vkey;
		struct ks_note_key key = { .vkey = &vkey };

		found += ks_vkey_parse(line, &vkey, NULL) == KS_OK &&
			ks_note_open(&note, &key, 1, NULL) == KS_OK;
	}
	ks_note_release(&note);
	return found;
}

static void
tell_last(struct ks_mirror_state *state, struct ks_mirror_result *result)
{
	result->status = ks_mirror_verdict(ks_buf_span(&state->verdict),
		&result->verdict);
	(void)snprintf(result->message, sizeof(result->message), "%s",
		state->verdict.len > 0 ? ks_buf_cstr(&state->message) :
		"nothing was accepted yet (kistore mirror update goes on)");
	(void)snprintf(result->url, sizeof(result->url), "%s",
		ks_buf_cstr(&state->url));
	result->checked = state->checked;
	result->tail = state->tail;
	recall(state, result);
}

enum ks_status
ks_mirror_status(const char *directory, struct ks_mirror_result *result,
	struct ks_error *err)
{
	struct ks_mirror mirror;
	enum ks_status status;

	start(&mirror, NULL, result);
	status = open_mirror(&mirror, directory, err);
	if (status == KS_OK)
		status = open_base(&mirror, err);
	if (status == KS_OK) {
		tell_last(&mirror.state, result);
		result->interrupted = ks_gitdb_has_aside(mirror.db) ||
			mirror.state.purge;
		result->cosignatures = count_cosignatures(&mirror);
	}
	ks_mirror_release(&mirror);
	return status;
}

/* ---- cloning --------------------------------------------------------- */

/* "https://user:secret@host/": it would stand in a file that others can read,
 * in what `status` prints, and in the list of processes. */
static bool
has_password(const char *url)
{
	const char *at = strstr(url, "://");
	const char *colon;
	size_t len;

	if (at == NULL)
		return false;
	at += 3;
	len = strcspn(at, "/?#");
	colon = memchr(at, ':', len);
	return colon != NULL && memchr(colon, '@', len -
		(size_t)(colon - at)) != NULL;
}

/* A path is made absolute, for an update may be begun elsewhere. */
static enum ks_status
take_url(struct ks_mirror *mirror, const char *url, struct ks_error *err)
{
	char here[4096];
	struct stat st;
	size_t i;

	for (i = 0; url[i] != '\0'; i++)
		if ((unsigned char)url[i] < ' ' || url[i] == 0x7f)
			return ks_fail(err, KS_USAGE, "an address has no "
				"control characters");
	if (i == 0)
		return ks_fail(err, KS_USAGE, "the address is empty");
	if (has_password(url))
		return ks_fail(err, KS_USAGE, "an address with a password "
			"would be seen by others: leave it out, and let git "
			"have it from a credential helper (git help "
			"credentials)");
	if (url[0] != '/' && stat(url, &st) == 0) {
		if (getcwd(here, sizeof(here)) == NULL)
			return ks_fail_errno(err, "the current directory");
		ks_buf_printf(&mirror->state.url, "%s/", here);
	}
	ks_buf_text(&mirror->state.url, url);
	(void)ks_buf_cstr(&mirror->state.url);
	return ks_buf_check(&mirror->state.url, err);
}

/* Take over what is there, if it is a clone from the same place that died:
 * nothing was accepted, or was and could not be told yet. */
static enum ks_status
take_left(struct ks_mirror *mirror, const char *directory,
	struct ks_error *err)
{
	struct ks_mirror_state state = KS_MIRROR_STATE_INIT;
	struct ks_git_head head = { .unborn = false };
	bool same = ks_mirror_state_read(mirror->db, &state, NULL) == KS_OK &&
		ks_span_equal(ks_buf_span(&state.url),
		ks_buf_span(&mirror->state.url)) &&
		ks_gitdb_head(mirror->db, &head, NULL) == KS_OK;

	if (same && (head.unborn || state.verdict.len == 0)) {
		ks_mirror_state_release(&mirror->state);
		mirror->state = state;
		return KS_OK;
	}
	ks_mirror_state_release(&state);
	return ks_fail(err, KS_EXISTS, same ? "%s: is a mirror of that "
		"already (kistore mirror update)" : "%s: exists and is not "
		"empty", directory);
}

/* Go on with it, unless somebody else does: that is seen under the lock. */
static enum ks_status
go_on(struct ks_mirror *mirror, const char *directory, struct ks_error *err)
{
	enum ks_status status = ks_gitdb_open(&mirror->db, directory, false,
		NULL);

	if (status != KS_OK)
		return ks_fail(err, KS_EXISTS, "%s: exists and is not empty",
			directory);
	status = take_left(mirror, directory, err);
	if (status == KS_OK)
		status = lock(mirror, err);
	if (status == KS_OK)
		status = take_left(mirror, directory, err);
	return status == KS_OK ? open_base(mirror, err) : status;
}

/* *made: it is to be removed again where nothing is accepted. */
static enum ks_status
make(struct ks_mirror *mirror, const char *directory, bool *made,
	struct ks_error *err)
{
	enum ks_status status = ks_gitdb_create(&mirror->db, directory, false,
		err);

	*made = status == KS_OK;
	if (status == KS_EXISTS) {
		status = go_on(mirror, directory, err);
		if (status == KS_OK && mirror->base == NULL)
			status = ks_gitdb_claim(mirror->db, directory, err);
		*made = status == KS_OK && mirror->base == NULL;
		return status;
	}
	if (status == KS_OK)
		status = ks_mirror_state_write(mirror->db, &mirror->state,
			err);
	return status == KS_OK ? lock(mirror, err) : status;
}

enum ks_status
ks_mirror_clone(const char *url, const char *directory,
	const struct ks_mirror_options *options,
	struct ks_mirror_result *result, struct ks_error *err)
{
	struct ks_mirror mirror;
	bool made = false;
	enum ks_status status;

	start(&mirror, options, result);
	status = take_url(&mirror, url, err);
	if (status == KS_OK)
		status = check_trust(&mirror, err);
	if (status == KS_OK)
		status = make(&mirror, directory, &made, err);
	if (status == KS_OK)
		status = follow(&mirror, err);
	if (made && (status != KS_OK || result->status != KS_OK) &&
		!result->changed) {
		ks_gitdb_discard(mirror.db);
		mirror.db = NULL;
	}
	ks_mirror_release(&mirror);
	return status;
}
