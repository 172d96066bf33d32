#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
#include "format/record.h"
#include "store/verify.h"

#define JOB_OBJECTS 256
#define JOB_BYTES ((size_t)1 << 20)

/* ---- dictionaries ------------------------------------------------------ */

static enum ks_status
check_dictionary_entry(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct ks_verifying *verifying = arg;
	char path[KS_ERROR_MESSAGE_MAX], shown[256];
	struct ks_id digest;
	uint32_t id;

	(void)err;
	if (entry->mode == KS_GIT_MODE_FILE &&
		ks_layout_dictionary_name(entry->name, &id, &digest))
		return KS_OK;
	(void)snprintf(path, sizeof(path), KS_PATH_DICTIONARIES "/%s",
		ks_printable(shown, sizeof(shown),
			ks_span_text(entry->name)));
	ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
		"not named like a dictionary, or not a plain file (T13)");
	return KS_OK;
}

static enum ks_status
check_dictionary_names(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_store *store = verifying->store;
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(store->db, &store->tree,
		KS_PATH_DICTIONARIES, &entry, err);

	if (status == KS_NOT_FOUND)
		return KS_OK;
	if (status == KS_OK && entry.mode != KS_GIT_MODE_TREE)
		return KS_OK;
	return status != KS_OK ? status : ks_gitdb_list(store->db, &entry.oid,
		check_dictionary_entry, verifying, err);
}

/* Two files of one id: which one a frame means would be a guess. */
static bool
is_duplicate(const struct ks_dictionaries *all, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (ks_dictionaries_at(all, i)->id ==
			ks_dictionaries_at(all, index)->id)
			return true;
	return false;
}

static enum ks_status
load_dictionary(struct ks_verifying *verifying, size_t index,
	struct ks_error *err)
{
	const struct ks_dictionary_file *file =
		ks_dictionaries_at(verifying->dictionaries, index);
	const struct ks_dictionary *loaded;
	char path[KS_DICTIONARY_PATH + 16];
	enum ks_status status;

	(void)snprintf(path, sizeof(path), KS_PATH_DICTIONARIES "/%s",
		file->name);
	if (is_duplicate(verifying->dictionaries, index)) {
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"another dictionary has the same id (T14)");
		return KS_OK;
	}
	verifying->result->dictionaries++;
	status = ks_dictionaries_get(verifying->dictionaries, file->id,
		&loaded, err);
	return status == KS_OK ? KS_OK : ks_verify_report_error(verifying,
		status, NULL, path, err);
}

enum ks_status
ks_verify_dictionaries(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_store *store = verifying->store;
	size_t i, count;
	enum ks_status status = check_dictionary_names(verifying, err);

	if (status == KS_OK)
		status = ks_dictionaries_open(&verifying->dictionaries,
			store->db, &store->tree, err);
	if (status == KS_CORRUPT || status == KS_NOT_FOUND)
		status = ks_verify_report_error(verifying, status, NULL,
			KS_PATH_DICTIONARIES, err);
	if (status != KS_OK)
		return status;
	count = ks_dictionaries_count(verifying->dictionaries);
	verifying->unread = calloc(count + 1, sizeof(*verifying->unread));
	if (verifying->unread == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < count; i++)
		status = load_dictionary(verifying, i, err);
	return status;
}

/* Count an object that needs a dictionary that is not to be had. */
static void
count_unread(struct ks_verifying *verifying, const struct ks_id *digest,
	uint32_t wants)
{
	const struct ks_dictionaries *all = verifying->dictionaries;
	char path[KS_OBJECT_PATH + 1];
	size_t i;

	for (i = 0; i < ks_dictionaries_count(all); i++)
		if (ks_dictionaries_at(all, i)->id == wants) {
			verifying->unread[i]++;
			return;
		}
	ks_verify_report(verifying, KS_SEVERITY_DAMAGE, digest,
		ks_layout_object(digest, path), "needs dictionary %lu, which "
		"is not in " KS_PATH_DICTIONARIES, (unsigned long)wants);
}

static void
report_unread(struct ks_verifying *verifying)
{
	const struct ks_dictionaries *all = verifying->dictionaries;
	char path[KS_DICTIONARY_PATH + 16];
	size_t i;

	for (i = 0; i < ks_dictionaries_count(all); i++) {
		if (verifying->unread[i] == 0)
			continue;
		(void)snprintf(path, sizeof(path), KS_PATH_DICTIONARIES "/%s",
			ks_dictionaries_at(all, i)->name);
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"%llu objects need this dictionary and could not be "
			"checked", (unsigned long long)verifying->unread[i]);
	}
}

/* ---- jobs -------------------------------------------------------------- */

struct subject {
	struct ks_id digest;
	uint32_t object;	/* in the replay */
	size_t end;		/* of its frame in job->frames */
	uint32_t wants;		/* a dictionary that is not loaded */
	size_t bytes;		/* of its body */
};

struct check_job {
	struct subject subjects[JOB_OBJECTS];
	size_t count;
	struct ks_buf frames;
	struct ks_check_findings findings;
};

struct walk {
	struct ks_verifying *verifying;
	struct ks_checker *checkers;	/* one a worker */
	struct ks_pool *pool;
	struct check_job *jobs;
	struct check_job *filling;
	size_t next_job;
	const char *a, *bb;		/* directory names on the way */
};

static void
check_subjects(void *arg, unsigned worker, void *data)
{
	struct walk *walk = arg;
	struct check_job *job = data;
	struct ks_checker *checker = &walk->checkers[worker];
	size_t i, at = 0;

	for (i = 0; i < job->count; i++) {
		struct subject *subject = &job->subjects[i];

		ks_check_object(checker, walk->verifying->replay,
			walk->verifying->dictionaries, &subject->digest,
			subject->object, ks_span(job->frames.data + at,
				subject->end - at), &job->findings,
			&subject->wants);
		subject->bytes = checker->body.len;
		at = subject->end;
	}
}

static enum ks_status
finish_job(struct walk *walk, struct check_job *job, struct ks_error *err)
{
	struct ks_verifying *verifying = walk->verifying;
	char path[KS_OBJECT_PATH + 1];
	size_t i;

	for (i = 0; i < job->findings.count; i++) {
		struct ks_check_finding *finding = &job->findings.list[i];

		ks_verify_report(verifying, finding->severity,
			&finding->digest, ks_layout_object(&finding->digest,
				path), "%s", ks_buf_cstr(&finding->message));
	}
	for (i = 0; i < job->count; i++) {
		if (job->subjects[i].wants != 0)
			count_unread(verifying, &job->subjects[i].digest,
				job->subjects[i].wants);
		verifying->result->bytes += job->subjects[i].bytes;
	}
	/* Warnings that were not kept are counted all the same. */
	if (!job->findings.keep_warnings)
		verifying->result->warnings += job->findings.warnings;
	verifying->result->objects += job->count;
	if (job->findings.failed || job->frames.failed)
		return ks_fail_nomem(err);
	return KS_OK;
}

/* Hand over the job being filled and take an empty one. */
static enum ks_status
turn_over(struct walk *walk, struct ks_error *err)
{
	struct check_job *job;
	enum ks_status status = ks_watch_check(
		walk->verifying->options->watch, err);

	if (status == KS_OK && walk->filling != NULL)
		ks_pool_push(walk->pool, walk->filling);
	walk->filling = NULL;
	if (status == KS_OK && ks_pool_is_full(walk->pool))
		status = finish_job(walk, ks_pool_pull(walk->pool), err);
	if (status != KS_OK)
		return status;
	job = &walk->jobs[walk->next_job++ % (KS_POOL_WINDOW + 1)];
	ks_check_findings_release(&job->findings);
	ks_buf_clear(&job->frames);
	job->count = 0;
	job->findings.keep_warnings = walk->verifying->options->warnings;
	walk->filling = job;
	ks_watch_progress(walk->verifying->options->watch, "checking objects",
		walk->verifying->result->objects,
		ks_replay_objects(walk->verifying->replay));
	return KS_OK;
}

/* Add one object to the job being filled. */
static enum ks_status
add_subject(struct walk *walk, const struct ks_id *digest, uint32_t object,
	const struct ks_oid *blob, struct ks_error *err)
{
	struct ks_verifying *verifying = walk->verifying;
	struct subject *subject;
	char path[KS_OBJECT_PATH + 1];
	enum ks_status status = KS_OK;

	if (walk->filling == NULL || walk->filling->count == JOB_OBJECTS ||
		walk->filling->frames.len > JOB_BYTES)
		status = turn_over(walk, err);
	if (status != KS_OK)
		return status;
	status = ks_gitdb_blob(verifying->store->db, blob, KS_LIMIT_FRAME,
		false, &walk->filling->frames, err);
	if (status != KS_OK)
		return ks_verify_report_error(verifying, status, digest,
			ks_layout_object(digest, path), err);
	subject = &walk->filling->subjects[walk->filling->count++];
	subject->digest = *digest;
	subject->object = object;
	subject->end = walk->filling->frames.len;
	return KS_OK;
}

/* ---- the tree ---------------------------------------------------------- */

static void
report_stray(struct walk *walk, const char *name, const char *why)
{
	char path[KS_ERROR_MESSAGE_MAX], shown[256];

	(void)snprintf(path, sizeof(path), KS_PATH_OBJECTS "/%s%s%s%s%s",
		walk->a == NULL ? "" : walk->a, walk->a == NULL ? "" : "/",
		walk->bb == NULL ? "" : walk->bb, walk->bb == NULL ? "" : "/",
		ks_printable(shown, sizeof(shown), ks_span_text(name)));
	ks_verify_report(walk->verifying, KS_SEVERITY_DAMAGE, NULL, path,
		"%s", why);
}

/* What the log says of an object that is in the tree. */
static void
judge_presence(struct walk *walk, const struct ks_id *digest,
	uint32_t object)
{
	struct ks_verifying *verifying = walk->verifying;
	char path[KS_OBJECT_PATH + 1];
	struct ks_object_state *state;

	(void)ks_layout_object(digest, path);
	if (object == KS_NO_OBJECT) {
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, digest, path,
			"not published in the log (T12)");
		return;
	}
	state = ks_replay_object(verifying->replay, object);
	state->seen = true;
	if (ks_verify_is_gone(verifying, state))
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, digest, path,
			"was taken down and is still here (X8)");
}

static enum ks_status
visit_object(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct walk *walk = arg;
	struct ks_id digest;
	uint32_t object;

	if (!ks_layout_object_id(walk->a, walk->bb, entry->name, &digest)) {
		report_stray(walk, entry->name, "not named like an object "
			"(T11)");
		return KS_OK;
	}
	object = ks_replay_find(walk->verifying->replay, &digest);
	judge_presence(walk, &digest, object);
	if (entry->mode != KS_GIT_MODE_FILE) {
		report_stray(walk, entry->name, "not a plain file (T3)");
		return KS_OK;
	}
	if (object != KS_NO_OBJECT && ks_replay_object(
		walk->verifying->replay, object)->published <
		walk->verifying->since)
		return KS_OK;
	return add_subject(walk, &digest, object, &entry->oid, err);
}

static bool
is_hex_name(const char *name, size_t len)
{
	return strlen(name) == len &&
		strspn(name, "0123456789abcdef") == len;
}

/* Go into a directory that must be named by `len` hex digits. */
static enum ks_status
enter(struct walk *walk, const struct ks_git_entry *entry, size_t len,
	const char **name, ks_git_entry_fn *visit, struct ks_error *err)
{
	char path[KS_ERROR_MESSAGE_MAX];
	enum ks_status status;

	if (entry->mode != KS_GIT_MODE_TREE ||
		!is_hex_name(entry->name, len)) {
		report_stray(walk, entry->name,
			"not a directory of objects (T11)");
		return KS_OK;
	}
	*name = entry->name;
	status = ks_gitdb_list(walk->verifying->store->db, &entry->oid, visit,
		walk, err);
	if (status == KS_CORRUPT || status == KS_NOT_FOUND) {
		(void)snprintf(path, sizeof(path), KS_PATH_OBJECTS "/%s%s%s",
			walk->a, walk->bb == NULL ? "" : "/",
			walk->bb == NULL ? "" : walk->bb);
		status = ks_verify_report_error(walk->verifying, status, NULL,
			path, err);
	}
	*name = NULL;
	return status;
}

static enum ks_status
visit_second(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct walk *walk = arg;

	return enter(walk, entry, 2, &walk->bb, visit_object, err);
}

static enum ks_status
visit_first(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	struct walk *walk = arg;

	return enter(walk, entry, 1, &walk->a, visit_second, err);
}

/* Published, not taken down, and not seen. */
static void
report_absent(struct ks_verifying *verifying)
{
	uint32_t i;
	char path[KS_OBJECT_PATH + 1];

	for (i = 0; i < ks_replay_objects(verifying->replay); i++) {
		const struct ks_object_state *state =
			ks_replay_object(verifying->replay, i);

		if (state->taken_down)
			verifying->result->taken_down++;
		if (state->seen || ks_verify_is_gone(verifying, state))
			continue;
		verifying->unexcused += state->taken_down;
		ks_verify_report(verifying, KS_SEVERITY_ABSENT, &state->digest,
			ks_layout_object(&state->digest, path), "published in "
			"the log but not in the tree (T12)%s",
			state->taken_down ? ": nobody who is trusted has "
			"signed the entry that takes it down (N8)" : "");
	}
}

/* ---- starting and ending ----------------------------------------------- */

static enum ks_status
start(struct walk *walk, struct ks_error *err)
{
	unsigned i, workers;
	enum ks_status status = ks_pool_new(&walk->pool,
		walk->verifying->options->threads, check_subjects, walk, err);

	if (status != KS_OK)
		return status;
	workers = ks_pool_workers(walk->pool);
	walk->checkers = calloc(workers, sizeof(*walk->checkers));
	walk->jobs = calloc(KS_POOL_WINDOW + 1, sizeof(*walk->jobs));
	if (walk->checkers == NULL || walk->jobs == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < workers; i++)
		status = ks_checker_init(&walk->checkers[i], err);
	return status;
}

static enum ks_status
drain(struct walk *walk, enum ks_status status, struct ks_error *err)
{
	struct check_job *job;

	if (status == KS_OK && walk->filling != NULL)
		status = turn_over(walk, err);
	while (walk->pool != NULL &&
		(job = ks_pool_pull(walk->pool)) != NULL)
		if (status == KS_OK)
			status = finish_job(walk, job, err);
	return status;
}

static void
stop(struct walk *walk)
{
	unsigned i, workers = walk->pool == NULL ? 0 :
		ks_pool_workers(walk->pool);

	ks_pool_free(walk->pool);
	for (i = 0; walk->checkers != NULL && i < workers; i++)
		ks_checker_release(&walk->checkers[i]);
	for (i = 0; walk->jobs != NULL && i < KS_POOL_WINDOW + 1; i++) {
		ks_check_findings_release(&walk->jobs[i].findings);
		ks_buf_release(&walk->jobs[i].frames);
	}
	free(walk->checkers);
	free(walk->jobs);
}

enum ks_status
ks_verify_objects(struct ks_verifying *verifying, struct ks_error *err)
{
	struct walk walk = { .verifying = verifying };
	struct ks_store *store = verifying->store;
	struct ks_git_entry entry;
	enum ks_status status = start(&walk, err);

	if (status == KS_OK) {
		status = ks_gitdb_find(store->db, &store->tree,
			KS_PATH_OBJECTS, &entry, err);
		if (status == KS_OK)
			status = ks_gitdb_list(store->db, &entry.oid,
				visit_first, &walk, err);
		else if (status == KS_NOT_FOUND)
			status = KS_OK;
		if (status == KS_CORRUPT || status == KS_NOT_FOUND)
			status = ks_verify_report_error(verifying, status,
				NULL, KS_PATH_OBJECTS, err);
	}
	status = drain(&walk, status, err);
	stop(&walk);
	if (status != KS_OK)
		return status;
	report_unread(verifying);
	report_absent(verifying);
	return KS_OK;
}

/* ---- some records and what they refer to ------------------------------- */

struct closure {
	struct walk *walk;
	struct ks_id *queue;
	size_t count, room;
	bool silent;		/* provenance cannot be had from this log */
	bool failed;
};

/* Add a digest once: `seen` marks those queued. */
static void
enqueue(struct closure *closure, const struct ks_id *digest)
{
	uint32_t object = ks_replay_find(closure->walk->verifying->replay,
		digest);
	struct ks_id *grown;

	if (object != KS_NO_OBJECT) {
		struct ks_object_state *state = ks_replay_object(
			closure->walk->verifying->replay, object);

		if (state->seen)
			return;
		state->seen = true;
	}
	grown = ks_grow(closure->queue, closure->count, &closure->room,
		sizeof(*grown), NULL);
	if (grown == NULL) {
		closure->failed = true;
		return;
	}
	closure->queue = grown;
	grown[closure->count++] = *digest;
}

static bool
enqueue_reference(void *arg, const struct ks_reference *reference)
{
	if (!reference->is_link)
		enqueue(arg, &reference->target);
	return true;
}

/* Queue what the record in `body` refers to. */
static enum ks_status
enqueue_references(struct closure *closure, struct ks_checker *checker,
	struct ks_error *err)
{
	struct ks_record record;
	enum ks_status status = ks_record_judge(checker->jcs,
		ks_buf_span(&checker->body), &record, NULL);

	if (status == KS_NOMEM)
		return ks_fail_nomem(err);
	if (status == KS_OK && record.kind != NULL)
		(void)ks_kind_references(record.kind, record.spec,
			enqueue_reference, closure);
	return KS_OK;
}

/* The current provenance of an object, from the log by way of the index. */
static enum ks_status
read_provenance(struct ks_store *store, const struct ks_id *digest,
	struct ks_buf *text, struct ks_provenance *provenance,
	struct ks_error *err)
{
	struct ks_index *index;
	struct ks_index_row row;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	memset(provenance, 0, sizeof(*provenance));
	if (status != KS_OK || !ks_index_object(index, digest, &row))
		return status;
	status = ks_store_notes(store, &row, NULL, text, err);
	if (status != KS_OK || text->len == 0)
		return status;
	return ks_provenance_read(ks_buf_span(text), ks_span(NULL, 0),
		provenance, err);
}

/* Queue what the provenance of an object names. Where the log cannot be
 * understood, that is said once. */
static enum ks_status
enqueue_provenance(struct closure *closure, const struct ks_id *digest,
	struct ks_error *err)
{
	struct ks_verifying *verifying = closure->walk->verifying;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_provenance provenance;
	enum ks_status status = closure->silent ? KS_OK : read_provenance(
		verifying->store, digest, &text, &provenance, err);

	if (status != KS_OK) {
		closure->silent = true;
		status = ks_verify_report_error(verifying, status, digest,
			KS_PATH_LOG, err);
	} else if (!closure->silent) {
		if (provenance.has_source)
			enqueue(closure, &provenance.source);
		if (provenance.has_project)
			enqueue(closure, &provenance.project);
	}
	ks_buf_release(&text);
	return status;
}

/* Check one object of a closure, here and now. */
static enum ks_status
check_one(struct closure *closure, const struct ks_id *digest,
	struct check_job *job, struct ks_error *err)
{
	struct walk *walk = closure->walk;
	struct ks_verifying *verifying = walk->verifying;
	struct ks_git_entry entry;
	char path[KS_OBJECT_PATH + 1];
	uint32_t object = ks_replay_find(verifying->replay, digest);
	enum ks_status status = ks_gitdb_find(verifying->store->db,
		&verifying->store->tree, ks_layout_object(digest, path),
		&entry, err);

	if (status == KS_NOT_FOUND) {
		if (object == KS_NO_OBJECT)
			ks_verify_report(verifying, KS_SEVERITY_WARNING,
				digest, path, "is referred to and was never "
				"published here");
		else if (ks_verify_is_gone(verifying,
			ks_replay_object(verifying->replay, object)))
			verifying->result->taken_down++;
		else
			ks_verify_report(verifying, KS_SEVERITY_ABSENT,
				digest, path, "published in the log but not "
				"in the tree (T12)");
		return KS_OK;
	}
	if (status == KS_OK && entry.mode != KS_GIT_MODE_FILE) {
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, digest, path,
			"not a plain file (T3)");
		return KS_OK;
	}
	if (object == KS_NO_OBJECT)
		judge_presence(walk, digest, object);
	ks_check_findings_release(&job->findings);
	ks_buf_clear(&job->frames);
	job->findings.keep_warnings = verifying->options->warnings;
	job->count = 0;
	if (status == KS_OK)
		status = ks_gitdb_blob(verifying->store->db, &entry.oid,
			KS_LIMIT_FRAME, false, &job->frames, err);
	if (status != KS_OK)
		return ks_verify_report_error(verifying, status, digest, path,
			err);
	job->count = 1;
	job->subjects[0] = (struct subject){
		.digest = *digest, .object = object, .end = job->frames.len
	};
	check_subjects(walk, 0, job);
	status = enqueue_references(closure, &walk->checkers[0], err);
	if (status == KS_OK)
		status = enqueue_provenance(closure, digest, err);
	return status != KS_OK ? status : finish_job(walk, job, err);
}

enum ks_status
ks_verify_closure(struct ks_verifying *verifying, struct ks_error *err)
{
	struct walk walk = { .verifying = verifying };
	struct closure closure = { .walk = &walk };
	size_t i;
	enum ks_status status = start(&walk, err);

	for (i = 0; i < verifying->options->digest_count; i++)
		enqueue(&closure, &verifying->options->digests[i]);
	for (i = 0; status == KS_OK && i < closure.count; i++) {
		struct ks_id digest = closure.queue[i];

		status = ks_watch_check(verifying->options->watch, err);
		if (status == KS_OK)
			status = check_one(&closure, &digest, &walk.jobs[0],
				err);
	}
	if (status == KS_OK && closure.failed)
		status = ks_fail_nomem(err);
	stop(&walk);
	free(closure.queue);
	if (status == KS_OK)
		report_unread(verifying);
	return status;
}
