/*
 * What an upstream has: which commit of it is the newest snapshot, and whether
 * that may take the place of what the mirror has.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/log.h"
#include "store/mirror.h"
#include "store/revision.h"

/* How many findings are told one by one. */
#define TOLD_MAX 20

/* A note: longer ones are none (B16). */
#define NOTE_LIMIT 1000000

void
ks_mirror_say(struct ks_mirror *mirror, const char *verdict,
	const char *format, ...)
{
	struct ks_mirror_result *result = mirror->result;
	va_list args;

	result->status = ks_mirror_verdict(ks_span_text(verdict),
		&result->verdict);
	va_start(args, format);
	(void)vsnprintf(result->message, sizeof(result->message), format,
		args);
	va_end(args);
}

enum ks_status
ks_mirror_blame(struct ks_mirror *mirror, enum ks_status status,
	const struct ks_error *why, struct ks_error *err)
{
	if (status == KS_OK)
		return KS_OK;
	if (status != KS_CORRUPT && status != KS_NOT_FOUND)
		return ks_fail(err, status, "%s", why->message);
	ks_mirror_say(mirror, "damaged", "%s", why->message);
	return KS_OK;
}

/* ---- which commit ---------------------------------------------------- */

/* The size of the newest note in a tree; false where it has none that is
 * well-formed. */
static enum ks_status
read_size(struct ks_gitdb *db, const struct ks_oid *tree, bool *has,
	uint64_t *size, struct ks_error *err)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	enum ks_status status = ks_gitdb_read(db, tree, KS_PATH_CHECKPOINT,
		NOTE_LIMIT, &note, err);

	*has = status == KS_OK && ks_checkpoint_of_note(ks_buf_span(&note),
		&checkpoint, NULL) == KS_OK;
	if (*has)
		*size = checkpoint.size;
	ks_buf_release(&note);
	return status == KS_NOT_FOUND || status == KS_CORRUPT ? KS_OK : status;
}

/* The log goes on after what is signed: the commit before that has the
 * snapshot, and its note. */
static enum ks_status
step_back(struct ks_mirror *mirror, uint64_t size, struct ks_error *err)
{
	struct ks_gitdb *db = mirror->aside;
	struct ks_git_commit commit;
	char digits[32];
	uint64_t found = 0;
	bool has = false;
	enum ks_status status;

	(void)snprintf(digits, sizeof(digits), "%llu",
		(unsigned long long)size);
	status = ks_revision_find(db, &mirror->upstream, digits,
		&mirror->snapshot, err);
	if (status == KS_OK)
		status = ks_gitdb_commit(db, &mirror->snapshot, &commit, err);
	if (status == KS_OK)
		status = read_size(db, &commit.tree, &has, &found, err);
	if ((status == KS_OK && has && found == size) || status == KS_IO ||
		status == KS_NOMEM)
		return status;
	ks_mirror_say(mirror, "false tail", "its newest note is of %llu "
		"entries, but no commit has that note and a log of %llu: what "
		"follows is passed off as signed (S3)",
		(unsigned long long)size, (unsigned long long)size);
	return KS_OK;
}

static enum ks_status
find_snapshot(struct ks_mirror *mirror, const struct ks_oid *tree,
	struct ks_error *err)
{
	uint64_t signed_size = 0, size = 0;
	bool has = false;
	enum ks_status status = ks_revision_log_size(mirror->aside, tree,
		&size, err);

	if (status == KS_OK)
		status = read_size(mirror->aside, tree, &has, &signed_size,
			err);
	mirror->snapshot = mirror->upstream;
	mirror->result->tail = 0;
	if (status != KS_OK || !has || size <= signed_size)
		return status;
	mirror->result->tail = size - signed_size;
	return step_back(mirror, signed_size, err);
}

/* A tag stays that leads to a commit of the snapshot's history, whatever it is:
 * verification judges it (S4). */
struct tags {
	struct ks_mirror *mirror;
	struct ks_buf history;		/* struct ks_oid, sorted */
	struct ks_buf commands;
};

static int
by_id(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct ks_oid));
}

static enum ks_status
list_history(struct tags *tags, struct ks_error *err)
{
	struct ks_oid at = tags->mirror->snapshot;
	struct ks_git_commit found;
	enum ks_status status = KS_OK;

	while (status == KS_OK && !ks_oid_is_zero(&at)) {
		ks_buf_append(&tags->history, ks_span(at.bytes, sizeof(at)));
		status = ks_gitdb_commit(tags->mirror->aside, &at, &found,
			err);
		at = found.parent;
	}
	if (status == KS_OK)
		status = ks_buf_check(&tags->history, err);
	if (status == KS_OK && tags->history.len > 0)
		qsort(tags->history.data, tags->history.len / sizeof(at),
			sizeof(at), by_id);
	return status;
}

static enum ks_status
judge_tag(void *arg, const char *name, const struct ks_oid *oid,
	struct ks_error *err)
{
	struct tags *tags = arg;
	struct ks_buf full = KS_BUF_INIT;
	struct ks_oid commit;
	char hex[KS_OID_HEX + 1];
	enum ks_status status;

	ks_buf_printf(&full, "refs/tags/%s", name);
	(void)ks_buf_cstr(&full);
	status = ks_buf_check(&full, err);
	if (status == KS_OK)
		status = ks_gitdb_revision(tags->mirror->aside,
			ks_buf_cstr(&full), &commit, err);
	if (status == KS_NOT_FOUND || (status == KS_OK && bsearch(&commit,
		tags->history.data, tags->history.len / sizeof(commit),
		sizeof(commit), by_id) == NULL)) {
		ks_buf_printf(&tags->commands, "delete %s %s\n",
			ks_buf_cstr(&full), ks_oid_print(oid, hex));
		status = KS_OK;
	}
	ks_buf_release(&full);
	return status;
}

static enum ks_status
drop_tags(struct ks_mirror *mirror, struct ks_error *err)
{
	struct tags tags = { .mirror = mirror, .history = KS_BUF_INIT,
		.commands = KS_BUF_INIT };
	enum ks_status status = list_history(&tags, err);

	if (status == KS_OK)
		status = ks_gitdb_tags(mirror->aside, "snapshot/", judge_tag,
			&tags, err);
	if (status == KS_OK)
		status = ks_buf_check(&tags.commands, err);
	if (status == KS_OK && tags.commands.len > 0)
		status = ks_gitdb_delete_refs(mirror->aside,
			ks_buf_span(&tags.commands), mirror->lock.fd, err);
	ks_buf_release(&tags.history);
	ks_buf_release(&tags.commands);
	return status;
}

static enum ks_status
choose(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_git_commit commit;
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_revision(mirror->aside,
		KS_GIT_FETCHED, &mirror->upstream, err);

	/* git fetches from a shallow one, and takes nothing. */
	if (status == KS_NOT_FOUND) {
		ks_mirror_say(mirror, "half-updated", "its HEAD leads to no "
			"commit that comes with all of its history (is it a "
			"shallow clone?)");
		return KS_OK;
	}
	if (status == KS_OK)
		status = ks_gitdb_commit(mirror->aside, &mirror->upstream,
			&commit, err);
	if (status != KS_OK)
		return status;
	if (ks_gitdb_find(mirror->aside, &commit.tree, KS_PATH_STORE, &entry,
		NULL) != KS_OK) {
		ks_mirror_say(mirror, "not a store", "its newest commit has no "
			KS_PATH_STORE " (T1)");
		return KS_OK;
	}
	status = find_snapshot(mirror, &commit.tree, err);
	if (status != KS_OK || mirror->result->verdict != NULL)
		return status;
	status = ks_gitdb_move(mirror->aside, &mirror->snapshot, err);
	return status == KS_OK ? drop_tags(mirror, err) : status;
}

enum ks_status
ks_mirror_choose(struct ks_mirror *mirror, struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = choose(mirror, &why);

	return ks_mirror_blame(mirror, status, &why, err);
}

/* ---- what is wrong --------------------------------------------------- */

/* The first is part of the verdict; more are told, up to a number. */
static void
take_finding(void *arg, const struct ks_finding *finding)
{
	struct ks_mirror *mirror = arg;
	const char *path = finding->path == NULL ? "" : finding->path;

	if (finding->severity == KS_SEVERITY_WARNING)
		return;
	if (mirror->told++ == 0)
		(void)snprintf(mirror->result->message,
			sizeof(mirror->result->message), "%s%s%s", path,
			path[0] == '\0' ? "" : ": ", finding->message);
	if (mirror->told <= TOLD_MAX)
		ks_watch_note(mirror->options->write.watch, "%s%s%s", path,
			path[0] == '\0' ? "" : ": ", finding->message);
}

/* Where the other's log first differs from what was accepted. */
struct difference {
	struct ks_mirror *mirror;
	struct ks_buf segment;		/* of the base */
	struct ks_span rest;
	uint64_t at;
	bool found;
};

static enum ks_status
compare_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct difference *difference = arg;
	struct ks_store *base = difference->mirror->base;
	struct ks_span old;
	struct ks_id a, b;
	enum ks_status status = KS_OK;

	if (index % KS_SEGMENT_ENTRIES == 0) {
		ks_buf_clear(&difference->segment);
		status = ks_log_segment(base->db, &base->tree, index,
			&difference->segment, err);
		difference->rest = ks_buf_span(&difference->segment);
	}
	if (status != KS_OK || !ks_log_next_line(&difference->rest, &old))
		return KS_CANCELLED;
	ks_entry_leaf(line, &a);
	ks_entry_leaf(old, &b);
	difference->at = index;
	difference->found = !ks_id_equal(&a, &b);
	return difference->found ? KS_CANCELLED : KS_OK;
}

/* Say it, for those who look for what was changed. */
static void
tell_difference(struct ks_mirror *mirror)
{
	struct difference difference = { .mirror = mirror,
		.segment = KS_BUF_INIT };
	struct ks_mirror_result *result = mirror->result;
	size_t used = strlen(result->message);

	if (mirror->base == NULL)
		return;
	if (ks_log_each(mirror->candidate->db, &mirror->candidate->tree, 0,
		compare_line, &difference, NULL) == KS_CANCELLED &&
		difference.found)
		(void)snprintf(result->message + used,
			sizeof(result->message) - used, "; entry %llu is the "
			"first that differs from this mirror's",
			(unsigned long long)difference.at);
	ks_buf_release(&difference.segment);
}

/* ---- the verdict ----------------------------------------------------- */

static bool
is_behind(const struct ks_mirror *mirror)
{
	size_t count = mirror->notes.count;

	return count > 0 && mirror->verifying.verdict.size <
		mirror->notes.list[count - 1].size;
}

/* Whose log it says it is, and whose pins count. */
static void
say_not_trusted(struct ks_mirror *mirror)
{
	char origin[300];

	ks_mirror_say(mirror, "not trusted", "no key is trusted for its "
		"origin, \"%.150s\": name one that you have from elsewhere "
		"(--key or --policy)%s", ks_printable(origin, sizeof(origin),
		ks_buf_span(&mirror->candidate->origin)),
		mirror->base == NULL ? "" : ", or be the user who pinned one");
}

/* Whether its newest note is the one that was accepted before, and is not
 * trusted now: by another key, or by a policy. Who reads a store must not be
 * shown what is older than that; who follows one is told why. */
static bool
is_distrusted(struct ks_mirror *mirror)
{
	const struct ks_trust_result *verdict = &mirror->verifying.verdict;
	const struct ks_checkpoints *notes = &mirror->verifying.signed_.notes;
	const struct ks_stored_note *newest = notes->count == 0 ? NULL :
		&notes->list[notes->count - 1];
	struct ks_checkpoint seen;
	struct ks_id root;

	return verdict->verdict == KS_TRUST_ROLLBACK && newest != NULL &&
		ks_checkpoint_of_note(verdict->seen, &seen, NULL) == KS_OK &&
		seen.size == newest->size &&
		ks_id_equal(&seen.root, &newest->root) &&
		ks_signed_root(&mirror->verifying.signed_, newest->size,
		&root) && ks_id_equal(&root, &newest->root);
}

/* What is missing was taken down, and the key that signed this, or a witness,
 * is not trusted: that is what is the matter (M13). */
static bool
lacks_trust_alone(struct ks_mirror *mirror)
{
	const struct ks_verify_result *verified = &mirror->verified;

	return verified->signature.asked &&
		(verified->signature.status == KS_UNTRUSTED ||
		is_distrusted(mirror)) &&
		verified->damaged + verified->absent ==
		mirror->verifying.unexcused;
}

static void
say_distrusted(struct ks_mirror *mirror)
{
	uint64_t size = mirror->verifying.verdict.size;

	ks_mirror_say(mirror, "untrusted key", "its newest note was accepted "
		"before, and what is trusted now, another key or a policy, "
		"accepts %llu entries", (unsigned long long)size);
}

/* What the notes are worth comes first, where that is a fault: it says why the
 * rest is wrong. */
static void
say_verdict(struct ks_mirror *mirror)
{
	const struct ks_verify_result *verified = &mirror->verified;
	const struct ks_signature_result *signature = &verified->signature;
	char first[sizeof(mirror->result->message)];

	memcpy(first, mirror->result->message, sizeof(first));
	if (signature->asked && signature->status == KS_CORRUPT &&
		!is_distrusted(mirror))
		ks_mirror_say(mirror, mirror->verifying.verdict.verdict ==
			KS_TRUST_ROLLBACK && !is_behind(mirror) ? "stale" :
			signature->verdict, "%s", signature->message);
	else if (verified->damaged > 0 && !lacks_trust_alone(mirror))
		ks_mirror_say(mirror, "damaged", "%llu damaged, %llu absent: "
			"%.300s", (unsigned long long)verified->damaged,
			(unsigned long long)verified->absent, first);
	else if (verified->absent > 0 && !lacks_trust_alone(mirror))
		ks_mirror_say(mirror, "incomplete", "%llu absent: %.300s",
			(unsigned long long)verified->absent, first);
	else if (verified->unsupported > 0)
		ks_mirror_say(mirror, "unsupported", "%.300s", first);
	else if (verified->unfetched > 0)
		ks_mirror_say(mirror, "half-updated", "%.300s", first);
	else if (!signature->asked)
		say_not_trusted(mirror);
	else if (is_distrusted(mirror))
		say_distrusted(mirror);
	else if (signature->status != KS_OK)
		ks_mirror_say(mirror, signature->verdict, "%s",
			signature->message);
	else
		ks_mirror_say(mirror, "updated", "%s", signature->message);
	if (strcmp(mirror->result->verdict, "mismatch") == 0 ||
		strcmp(mirror->result->verdict, "fork") == 0)
		tell_difference(mirror);
}

/* A mirror is of one log. Another takes its place under no key, though that key
 * is trusted for the other's origin. */
static bool
is_of_another_log(const struct ks_mirror *mirror)
{
	return mirror->notes.count > 0 && !ks_span_equal(
		ks_buf_span(&mirror->base->origin),
		ks_buf_span(&mirror->candidate->origin));
}

static void
say_origin(struct ks_mirror *mirror)
{
	char other[300], own[300];

	ks_mirror_say(mirror, "wrong origin", "its origin is \"%.150s\", and "
		"this is a mirror of \"%.150s\" (S3)", ks_printable(other,
		sizeof(other), ks_buf_span(&mirror->candidate->origin)),
		ks_printable(own, sizeof(own),
		ks_buf_span(&mirror->base->origin)));
}

static void
begin(struct ks_mirror *mirror)
{
	size_t count = mirror->notes.count;

	ks_verify_release(&mirror->verifying);
	mirror->verifying = (struct ks_verifying){
		.store = mirror->candidate,
		.options = &mirror->verify,
		.result = &mirror->verified
	};
	if (count > 0)
		mirror->verifying.seen = ks_buf_span(
			&mirror->notes.list[count - 1].bytes);
}

static void
settle(struct ks_mirror *mirror, enum ks_status status)
{
	struct ks_mirror_result *result = mirror->result;
	const struct ks_verify_result *verified = &mirror->verified;

	result->signature = verified->signature;
	result->objects = verified->objects;
	result->damaged = verified->damaged;
	result->absent = verified->absent;
	if (status == KS_OK)
		say_verdict(mirror);
}

enum ks_status
ks_mirror_judge_whole(struct ks_mirror *mirror, const uint64_t *marks,
	size_t mark_count, struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status;

	begin(mirror);
	mirror->verifying.report = take_finding;
	mirror->verifying.arg = mirror;
	mirror->verifying.marks = marks;
	mirror->verifying.mark_count = mark_count;
	mirror->result->whole = true;
	status = ks_verify_run(&mirror->verifying, &why);
	settle(mirror, status);
	return ks_mirror_blame(mirror, status, &why, err);
}

enum ks_status
ks_mirror_judge(struct ks_mirror *mirror, struct ks_error *err)
{
	bool extends = false;
	enum ks_status status = KS_OK;

	if (is_of_another_log(mirror)) {
		say_origin(mirror);
		return KS_OK;
	}
	begin(mirror);
	if (mirror->base != NULL)
		status = ks_verify_extension(&mirror->verifying, mirror->base,
			&extends, err);
	if (status == KS_OK && !extends)
		return ks_mirror_judge_whole(mirror, NULL, 0, err);
	settle(mirror, status);
	return status;
}
