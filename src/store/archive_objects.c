/*
 * The objects of a snapshot file: each against the log, by all processors, and
 * compressed, where they are to be stored.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
#include "store/archive.h"
#include "store/objects.h"

#define JOB_OBJECTS 256
#define JOB_BYTES ((size_t)1 << 20)

/* A body of so many bytes is waited for: no more than one is in memory. */
#define LARGE ((size_t)4 << 20)

/* Bodies that are held until there are enough to train on take no more. */
#define HOLD_BYTES ((size_t)64 << 20)

struct subject {
	struct ks_id digest;
	uint32_t object;	/* in the replay */
	size_t end;		/* of its body in job->bodies, */
	size_t frame_end;	/* and of its frame in job->frames */
};

struct object_job {
	struct subject subjects[JOB_OBJECTS];
	size_t count;
	struct ks_buf bodies, frames;
	struct ks_check_findings findings;
	enum ks_status status;	/* of compressing */
	struct ks_error err;
};

struct ks_archive_objects {
	struct ks_archive *archive;
	struct ks_checker *checkers;	/* one a worker */
	unsigned workers;
	struct ks_pool *pool;
	struct object_job *jobs;
	struct object_job *filling;
	size_t next_job;
	uint64_t expected;		/* objects that there must be */

	/* Before a dictionary is trained: what has come. */
	size_t wanted;			/* records to train on; 0 = do not */
	struct subject *held;
	size_t held_count, held_room;
	struct ks_buf held_bodies, samples;
	size_t *sizes;
	size_t sample_count;
	struct ks_dictionary *trained;
};

/* ---- one job, in any thread ----------------------------------------- */

static struct ks_span
part(const struct ks_buf *buf, size_t from, size_t to)
{
	return to == from ? ks_span(NULL, 0) :
		ks_span(buf->data + from, to - from);
}

static void
check_subjects(void *arg, unsigned worker, void *data)
{
	struct ks_archive_objects *objects = arg;
	const struct ks_archive *archive = objects->archive;
	struct ks_checker *checker = &objects->checkers[worker];
	struct object_job *job = data;
	size_t i, at = 0;

	for (i = 0; i < job->count && job->status == KS_OK; i++) {
		struct subject *subject = &job->subjects[i];
		struct ks_span body = part(&job->bodies, at, subject->end);

		ks_check_body(checker, archive->replay, &subject->digest,
			subject->object, body, &job->findings);
		if (archive->compress)
			job->status = ks_frame_pack(checker->framer, body,
				archive->dictionary, &job->frames, &job->err);
		subject->frame_end = job->frames.len;
		at = subject->end;
	}
}

/* ---- what came of it ------------------------------------------------ */

/* The first thing that is wrong with an object of a job. */
static enum ks_status
judge_findings(struct ks_archive *archive, const struct object_job *job,
	struct ks_error *err)
{
	const struct ks_check_findings *findings = &job->findings;
	char hex[KS_ID_HEX + 1];

	if (findings->failed || job->bodies.failed)
		return ks_fail_nomem(err);
	archive->result->warnings += findings->warnings;
	if (findings->count == 0)
		return KS_OK;
	if (findings->list[0].message.failed)
		return ks_fail_nomem(err);
	return ks_fail(err, KS_CORRUPT, "objects/%s: %.*s", ks_id_print_hex(
		&findings->list[0].digest, hex),
		(int)findings->list[0].message.len,
		(const char *)findings->list[0].message.data);
}

static enum ks_status
finish_job(struct ks_archive_objects *objects, struct object_job *job,
	struct ks_error *err)
{
	struct ks_archive *archive = objects->archive;
	size_t i, at = 0, frame_at = 0;
	enum ks_status status = judge_findings(archive, job, err);

	if (status == KS_OK && job->status != KS_OK)
		status = ks_fail(err, job->status, "%s", job->err.message);
	for (i = 0; status == KS_OK && archive->compress && i < job->count;
		i++) {
		const struct subject *subject = &job->subjects[i];

		status = archive->hooks->object(archive->arg,
			&subject->digest, subject->object,
			part(&job->bodies, at, subject->end),
			part(&job->frames, frame_at, subject->frame_end),
			err);
		at = subject->end;
		frame_at = subject->frame_end;
	}
	return status;
}

static enum ks_status
drain(struct ks_archive_objects *objects, struct ks_error *err)
{
	struct object_job *job;
	enum ks_status status = KS_OK;

	if (objects->filling != NULL)
		ks_pool_push(objects->pool, objects->filling);
	objects->filling = NULL;
	while ((job = ks_pool_pull(objects->pool)) != NULL)
		if (status == KS_OK)
			status = finish_job(objects, job, err);
	return status;
}

/* Hand over the job being filled and take an empty one. */
static enum ks_status
turn_over(struct ks_archive_objects *objects, struct ks_error *err)
{
	struct object_job *job;
	enum ks_status status = KS_OK;

	if (objects->filling != NULL)
		ks_pool_push(objects->pool, objects->filling);
	objects->filling = NULL;
	if (ks_pool_is_full(objects->pool))
		status = finish_job(objects, ks_pool_pull(objects->pool), err);
	job = &objects->jobs[objects->next_job++ % (KS_POOL_WINDOW + 1)];
	ks_check_findings_release(&job->findings);
	ks_buf_clear(&job->bodies);
	ks_buf_clear(&job->frames);
	job->count = 0;
	job->status = KS_OK;
	objects->filling = job;
	ks_watch_progress(objects->archive->options->watch,
		"checking objects", objects->archive->result->file.objects,
		objects->expected);
	return status;
}

static enum ks_status
add_subject(struct ks_archive_objects *objects, const struct ks_id *id,
	uint32_t object, struct ks_span body, struct ks_error *err)
{
	struct object_job *job = objects->filling;
	enum ks_status status = KS_OK;

	if (job == NULL || job->count == JOB_OBJECTS ||
		job->bodies.len > JOB_BYTES)
		status = turn_over(objects, err);
	if (status != KS_OK)
		return status;
	job = objects->filling;
	ks_buf_append(&job->bodies, body);
	job->subjects[job->count++] = (struct subject){
		.digest = *id, .object = object, .end = job->bodies.len
	};
	return body.len < LARGE ? KS_OK : drain(objects, err);
}

/* ---- a dictionary --------------------------------------------------- */

static bool
is_raw(struct ks_archive *archive, uint32_t object)
{
	struct ks_replay *replay = archive->replay;

	return object == KS_NO_OBJECT || ks_span_is(ks_replay_kind(replay,
		ks_replay_object(replay, object)->kind), "raw");
}

static enum ks_status
hold(struct ks_archive_objects *objects, const struct ks_id *id,
	uint32_t object, struct ks_span body, struct ks_error *err)
{
	struct subject *grown = ks_grow(objects->held, objects->held_count,
		&objects->held_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	objects->held = grown;
	ks_buf_append(&objects->held_bodies, body);
	grown[objects->held_count++] = (struct subject){
		.digest = *id, .object = object,
		.end = objects->held_bodies.len
	};
	if (!is_raw(objects->archive, object)) {
		ks_buf_append(&objects->samples, body);
		objects->sizes[objects->sample_count++] = body.len;
	}
	return ks_buf_check(&objects->held_bodies, err);
}

/* P21: bodies come by digest, so that the first are those with the smallest.
 * What is too little or too alike to train on is stored without. */
static enum ks_status
train(struct ks_archive_objects *objects, struct ks_error *err)
{
	struct ks_archive *archive = objects->archive;
	struct ks_buf bytes = KS_BUF_INIT;
	enum ks_status status = ks_buf_check(&objects->samples, err);

	if (status == KS_OK)
		status = ks_dictionary_train(ks_buf_span(&objects->samples),
			objects->sizes, objects->sample_count,
			KS_DICTIONARY_FIRST_ID, &bytes, err);
	if (status == KS_OK)
		status = ks_dictionary_new(&objects->trained,
			ks_buf_span(&bytes), err);
	if (status == KS_OK)
		status = archive->hooks->dictionary(archive->arg,
			ks_buf_span(&bytes), err);
	if (status == KS_OK)
		archive->dictionary = objects->trained;
	ks_buf_release(&bytes);
	return status == KS_INVALID ? KS_OK : status;
}

static enum ks_status
release_held(struct ks_archive_objects *objects, struct ks_error *err)
{
	size_t i, at = 0;
	enum ks_status status = train(objects, err);

	objects->wanted = 0;
	for (i = 0; status == KS_OK && i < objects->held_count; i++) {
		const struct subject *held = &objects->held[i];

		status = add_subject(objects, &held->digest, held->object,
			part(&objects->held_bodies, at, held->end), err);
		at = held->end;
	}
	ks_buf_release(&objects->held_bodies);
	ks_buf_release(&objects->samples);
	return status;
}

/* ---- which there are ------------------------------------------------ */

static bool
is_expected(const struct ks_archive *archive,
	const struct ks_object_state *state)
{
	return state->published >= archive->range.size && !state->taken_down;
}

static enum ks_status
check_presence(struct ks_archive *archive, const struct ks_id *id,
	uint32_t object, struct ks_error *err)
{
	struct ks_object_state *state = object == KS_NO_OBJECT ? NULL :
		ks_replay_object(archive->replay, object);
	char hex[KS_ID_HEX + 1];

	/* What is not understood may publish as well as take down. */
	if (archive->result->unsupported == 0 && (state == NULL ||
		state->published < archive->range.size))
		return ks_fail(err, KS_CORRUPT, "objects/%s: no entry of the "
			"file publishes it (S9)", ks_id_print_hex(id, hex));
	if (archive->result->unsupported == 0 && state->taken_down)
		return ks_fail(err, KS_CORRUPT, "objects/%s: was taken down "
			"and is still here (X8)", ks_id_print_hex(id, hex));
	if (state != NULL)
		state->seen = true;
	return KS_OK;
}

static enum ks_status
check_complete(struct ks_archive *archive, struct ks_error *err)
{
	const struct ks_object_state *first = NULL;
	char text[KS_ID_TEXT + 1];
	uint64_t absent = 0;
	uint32_t i;

	for (i = 0; i < ks_replay_objects(archive->replay); i++) {
		const struct ks_object_state *state =
			ks_replay_object(archive->replay, i);

		if (state->seen || !is_expected(archive, state))
			continue;
		absent++;
		if (first == NULL || ks_id_compare(&state->digest,
			&first->digest) < 0)
			first = state;
	}
	if (first == NULL || archive->result->unsupported > 0)
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "%s is published, and not in the file "
		"(S9); so are %llu more", ks_id_print(&first->digest, text),
		(unsigned long long)absent - 1);
}

static void
count_expected(struct ks_archive_objects *objects, uint64_t *records)
{
	struct ks_archive *archive = objects->archive;
	uint32_t i;

	*records = 0;
	for (i = 0; i < ks_replay_objects(archive->replay); i++)
		if (is_expected(archive, ks_replay_object(archive->replay,
			i))) {
			objects->expected++;
			*records += !is_raw(archive, i);
		}
}

/* ---- all of them ---------------------------------------------------- */

/* Entries that are not at hand are assumed as they are asked for, which is
 * nothing for several threads. */
static unsigned
threads_of(const struct ks_archive *archive)
{
	return archive->range.size > 0 && !archive->has_base ? 1 :
		archive->options->threads;
}

static enum ks_status
start(struct ks_archive_objects *objects, struct ks_error *err)
{
	unsigned i;
	enum ks_status status = ks_pool_new(&objects->pool,
		objects->expected < JOB_OBJECTS ? 1 :
		threads_of(objects->archive), check_subjects, objects, err);

	if (status != KS_OK)
		return status;
	objects->workers = ks_pool_workers(objects->pool);
	objects->checkers = calloc(objects->workers,
		sizeof(*objects->checkers));
	objects->jobs = calloc(KS_POOL_WINDOW + 1, sizeof(*objects->jobs));
	objects->sizes = calloc(objects->wanted + 1, sizeof(*objects->sizes));
	if (objects->checkers == NULL || objects->jobs == NULL ||
		objects->sizes == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < objects->workers; i++)
		status = ks_checker_init(&objects->checkers[i], err);
	return status;
}

enum ks_status
ks_archive_objects_begin(struct ks_archive *archive, struct ks_error *err)
{
	struct ks_archive_objects *objects = calloc(1, sizeof(*objects));
	uint64_t records;

	if (objects == NULL)
		return ks_fail_nomem(err);
	archive->objects = objects;
	objects->archive = archive;
	count_expected(objects, &records);
	if (archive->compress && archive->train &&
		records >= KS_DICTIONARY_MIN)
		objects->wanted = records < KS_DICTIONARY_SAMPLES ?
			(size_t)records : KS_DICTIONARY_SAMPLES;
	return start(objects, err);
}

enum ks_status
ks_archive_objects_take(struct ks_archive *archive, const struct ks_id *id,
	struct ks_span body, struct ks_error *err)
{
	struct ks_archive_objects *objects = archive->objects;
	uint32_t object = ks_replay_find(archive->replay, id);
	enum ks_status status = check_presence(archive, id, object, err);

	archive->result->file.objects++;
	archive->result->file.object_bytes += body.len;
	if (status == KS_OK && objects->wanted > 0) {
		status = hold(objects, id, object, body, err);
		if (status == KS_OK && (objects->sample_count ==
			objects->wanted || objects->held_bodies.len >=
			HOLD_BYTES))
			status = release_held(objects, err);
		return status;
	}
	return status != KS_OK ? status : add_subject(objects, id, object,
		body, err);
}

enum ks_status
ks_archive_objects_end(struct ks_archive *archive, struct ks_error *err)
{
	struct ks_archive_objects *objects = archive->objects;
	enum ks_status status = objects->wanted > 0 ?
		release_held(objects, err) : KS_OK;

	if (status == KS_OK)
		status = drain(objects, err);
	if (status == KS_OK)
		status = ks_replay_check(archive->replay, err);
	return status == KS_OK ? check_complete(archive, err) : status;
}

void
ks_archive_objects_free(struct ks_archive_objects *objects)
{
	size_t i;

	if (objects == NULL)
		return;
	ks_pool_free(objects->pool);
	for (i = 0; objects->checkers != NULL && i < objects->workers; i++)
		ks_checker_release(&objects->checkers[i]);
	for (i = 0; objects->jobs != NULL && i < KS_POOL_WINDOW + 1; i++) {
		ks_check_findings_release(&objects->jobs[i].findings);
		ks_buf_release(&objects->jobs[i].bodies);
		ks_buf_release(&objects->jobs[i].frames);
	}
	ks_buf_release(&objects->held_bodies);
	ks_buf_release(&objects->samples);
	ks_dictionary_free(objects->trained);
	free(objects->held);
	free(objects->sizes);
	free(objects->checkers);
	free(objects->jobs);
	free(objects);
}
