#include "store/objects.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/pool.h"
#include "format/digest.h"
#include "store/advise.h"

#define JOB_ITEMS 128

/* A dictionary in the making, on a thread of its own. */
struct training {
	struct ks_buf samples;
	size_t *sizes;
	size_t count;
	uint32_t id;
	struct ks_buf dictionary;
	struct ks_error err;
	enum ks_status status;
	pthread_t thread;
	bool running;
};

struct ks_objects {
	struct ks_collection *all;
	uint32_t *order;	/* item numbers of new objects, by digest */
	size_t count;
	struct training training;
	struct ks_dictionary *trained;
};

/* ---- what is new ------------------------------------------------------- */

/* qsort has no argument to pass the array in, so the digest goes along. */
struct sortable {
	struct ks_id digest;
	uint32_t item;
};

static int
by_digest(const void *a, const void *b)
{
	return ks_id_compare(a, b);
}

static enum ks_status
find_new(struct ks_objects *objects, struct ks_replay *replay,
	struct ks_error *err)
{
	struct ks_collection *all = objects->all;
	size_t total = all->by_digest.used;
	struct sortable *sorted = calloc(total + 1, sizeof(*sorted));
	uint32_t i;

	objects->order = calloc(total + 1, sizeof(*objects->order));
	if (sorted == NULL || objects->order == NULL) {
		free(sorted);
		return ks_fail_nomem(err);
	}
	for (i = 0; i < total; i++) {
		const struct ks_item *item = &all->items[i];

		if (!item->present ||
			ks_replay_find(replay, &item->digest) != KS_NO_OBJECT)
			continue;
		sorted[objects->count].digest = item->digest;
		sorted[objects->count++].item = i;
	}
	qsort(sorted, objects->count, sizeof(*sorted), by_digest);
	for (i = 0; i < objects->count; i++)
		objects->order[i] = sorted[i].item;
	free(sorted);
	return KS_OK;
}

/* ---- training ---------------------------------------------------------- */

static void *
train(void *arg)
{
	struct training *training = arg;

	training->status = ks_dictionary_train(
		ks_buf_span(&training->samples), training->sizes,
		training->count, training->id, &training->dictionary,
		&training->err);
	return NULL;
}

/* The bodies with the smallest digests, in digest order: a sample that no
 * order of the input can bias. */
static enum ks_status
gather_samples(struct ks_objects *objects, struct ks_error *err)
{
	struct training *training = &objects->training;
	size_t wanted = objects->count < KS_DICTIONARY_SAMPLES ?
		objects->count : KS_DICTIONARY_SAMPLES;
	struct ks_buf scratch = KS_BUF_INIT;
	size_t i;
	enum ks_status status = KS_OK;

	training->sizes = calloc(wanted, sizeof(*training->sizes));
	if (training->sizes == NULL)
		return ks_fail_nomem(err);
	/* cppcheck takes `wanted` for 0 here. */
	/* cppcheck-suppress knownConditionTrueFalse */
	for (i = 0; status == KS_OK && i < wanted; i++) {
		const struct ks_item *item =
			&objects->all->items[objects->order[i]];
		struct ks_span body;

		status = ks_collection_get(objects->all, item->body, &scratch,
			&body, err);
		if (status != KS_OK)
			break;
		ks_buf_append(&training->samples, body);
		training->sizes[training->count++] = body.len;
	}
	ks_buf_release(&scratch);
	return status == KS_OK ? ks_buf_check(&training->samples, err) :
		status;
}

static enum ks_status
start_training(struct ks_objects *objects, uint32_t id, struct ks_error *err)
{
	struct training *training = &objects->training;
	enum ks_status status = gather_samples(objects, err);

	if (status != KS_OK)
		return status;
	training->id = id;
	training->running = pthread_create(&training->thread, NULL, train,
		training) == 0;
	if (!training->running)
		(void)train(training);
	return KS_OK;
}

static void
wait_training(struct training *training)
{
	if (training->running)
		(void)pthread_join(training->thread, NULL);
	training->running = false;
}

enum ks_status
ks_objects_begin(struct ks_objects **out, struct ks_collection *all,
	struct ks_replay *replay, uint32_t next_id, struct ks_error *err)
{
	struct ks_objects *objects = calloc(1, sizeof(*objects));
	enum ks_status status;

	*out = NULL;
	if (objects == NULL)
		return ks_fail_nomem(err);
	objects->all = all;
	status = find_new(objects, replay, err);
	if (status == KS_OK && next_id != 0 &&
		objects->count >= KS_DICTIONARY_MIN)
		status = start_training(objects, next_id, err);
	if (status != KS_OK) {
		ks_objects_free(objects);
		return status;
	}
	*out = objects;
	return KS_OK;
}

size_t
ks_objects_count(const struct ks_objects *objects)
{
	return objects->count;
}

void
ks_objects_free(struct ks_objects *objects)
{
	if (objects == NULL)
		return;
	wait_training(&objects->training);
	ks_buf_release(&objects->training.samples);
	ks_buf_release(&objects->training.dictionary);
	free(objects->training.sizes);
	ks_dictionary_free(objects->trained);
	free(objects->order);
	free(objects);
}

enum ks_status
ks_objects_add_dictionary(struct ks_writing *writing,
	struct ks_span dictionary, char path[KS_DICTIONARY_PATH],
	struct ks_error *err)
{
	struct ks_dictionary *loaded;
	struct ks_id digest;
	uint32_t id;
	enum ks_status status = ks_dictionary_new(&loaded, dictionary, err);

	if (status != KS_OK)
		return status;
	id = ks_dictionary_id(loaded);
	ks_dictionary_free(loaded);
	ks_sha256(dictionary, &digest);
	(void)ks_layout_dictionary(id, &digest, path);
	return ks_writing_file(writing, path, dictionary, true, err);
}

/* Objects too few or too alike to train on are stored without a dictionary. */
static enum ks_status
finish_training(struct ks_objects *objects, struct ks_writing *writing,
	struct ks_error *err)
{
	struct training *training = &objects->training;
	char path[KS_DICTIONARY_PATH];
	struct ks_span bytes;
	enum ks_status status;

	wait_training(training);
	bytes = ks_buf_span(&training->dictionary);
	if (training->count == 0 || training->status == KS_INVALID ||
		bytes.len == 0)
		return KS_OK;
	if (training->status != KS_OK) {
		if (err != NULL)
			*err = training->err;
		return training->status;
	}
	status = ks_objects_add_dictionary(writing, bytes, path, err);
	return status != KS_OK ? status :
		ks_dictionary_new(&objects->trained, bytes, err);
}

/* ---- compressing ------------------------------------------------------- */

struct frame_job {
	const uint32_t *items;
	size_t count;
	size_t ends[JOB_ITEMS];
	struct ks_buf frames;
	struct ks_buf notes;		/* advice: texts ended by NUL */
	size_t note_ends[JOB_ITEMS];
	bool advised[JOB_ITEMS];
	enum ks_status status;
	struct ks_error err;
};

struct framing {
	const struct ks_collection *all;
	const struct ks_dictionary *dictionary;
	struct ks_framer **framers;	/* one a worker */
	struct ks_buf *scratch;		/* likewise */
	struct ks_adviser *advisers;	/* likewise */
	struct ks_adviser fallback;	/* the calling thread's, which may
					 * look into the store */
	struct ks_notes *notes;
};

static void
frame_items(void *arg, unsigned worker, void *data)
{
	struct framing *framing = arg;
	struct frame_job *job = data;
	size_t i;

	ks_buf_clear(&job->frames);
	ks_buf_clear(&job->notes);
	job->status = KS_OK;
	for (i = 0; job->status == KS_OK && i < job->count; i++) {
		const struct ks_item *item =
			&framing->all->items[job->items[i]];
		struct ks_span body;

		job->status = ks_collection_get(framing->all, item->body,
			&framing->scratch[worker], &body, &job->err);
		if (job->status == KS_OK)
			job->status = ks_frame_pack(framing->framers[worker],
				body, framing->dictionary, &job->frames,
				&job->err);
		job->ends[i] = job->frames.len;
		job->advised[i] = ks_advise(&framing->advisers[worker], item,
			&job->notes);
		job->note_ends[i] = job->notes.len;
	}
}

/* Pass on the advice about one item of a job. */
static void
note_advice(struct ks_objects *objects, struct framing *framing,
	struct frame_job *job, size_t i)
{
	const struct ks_item *item = &objects->all->items[job->items[i]];
	struct ks_buf late = KS_BUF_INIT;
	struct ks_buf place = KS_BUF_INIT;
	const struct ks_buf *notes = &job->notes;
	size_t at = i == 0 ? 0 : job->note_ends[i - 1];
	size_t end = job->note_ends[i];

	if (!job->advised[i]) {
		(void)ks_advise(&framing->fallback, item, &late);
		notes = &late;
		at = 0;
		end = late.len;
	}
	if (at < end)
		ks_collection_place(objects->all, item, &place);
	while (at < end && !notes->failed) {
		const char *text = (const char *)notes->data + at;

		ks_notes_add(framing->notes, job->items[i],
			ks_buf_cstr(&place), text);
		at += strlen(text) + 1;
	}
	ks_buf_release(&late);
	ks_buf_release(&place);
}

static enum ks_status
add_frames(struct ks_objects *objects, struct ks_writing *writing,
	struct framing *framing, struct frame_job *job, struct ks_error *err)
{
	char path[KS_OBJECT_PATH + 1];
	size_t i, at = 0;
	enum ks_status status = job->status;

	if (status != KS_OK && err != NULL)
		*err = job->err;
	for (i = 0; status == KS_OK && i < job->count; i++) {
		const struct ks_item *item =
			&objects->all->items[job->items[i]];

		if (item->is_new)
			status = ks_writing_file(writing,
				ks_layout_object(&item->digest, path),
				ks_span(job->frames.data + at,
					job->ends[i] - at), true, err);
		if (item->is_new)
			note_advice(objects, framing, job, i);
		at = job->ends[i];
	}
	return status;
}

static enum ks_status
pump_frames(struct ks_objects *objects, struct ks_writing *writing,
	struct framing *framing, struct ks_pool *pool, struct frame_job *jobs,
	struct ks_error *err)
{
	size_t at = 0, next = 0;
	struct frame_job *job;
	enum ks_status status = KS_OK;

	while (status == KS_OK && at < objects->count) {
		if (ks_pool_is_full(pool))
			status = add_frames(objects, writing, framing,
				ks_pool_pull(pool), err);
		if (status == KS_OK)
			status = ks_watch_check(writing->watch, err);
		if (status != KS_OK)
			break;
		job = &jobs[next++ % KS_POOL_WINDOW];
		job->items = objects->order + at;
		job->count = objects->count - at < JOB_ITEMS ?
			objects->count - at : JOB_ITEMS;
		at += job->count;
		ks_pool_push(pool, job);
		ks_watch_progress(writing->watch, "compressing", at,
			objects->count);
	}
	while ((job = ks_pool_pull(pool)) != NULL)
		if (status == KS_OK)
			status = add_frames(objects, writing, framing, job,
				err);
	return status;
}

static enum ks_status
start_framing(struct framing *framing, struct ks_objects *objects,
	struct ks_writing *writing, unsigned workers, struct ks_error *err)
{
	unsigned i;
	enum ks_status status = KS_OK;

	framing->framers = calloc(workers, sizeof(*framing->framers));
	framing->scratch = calloc(workers, sizeof(*framing->scratch));
	framing->advisers = calloc(workers, sizeof(*framing->advisers));
	if (framing->framers == NULL || framing->scratch == NULL ||
		framing->advisers == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < workers; i++) {
		status = ks_framer_new(&framing->framers[i], err);
		framing->advisers[i].all = objects->all;
	}
	framing->fallback.all = objects->all;
	framing->fallback.store = writing->store;
	return status;
}

static void
stop_framing(struct framing *framing, unsigned workers)
{
	unsigned i;

	for (i = 0; i < workers; i++) {
		if (framing->framers != NULL)
			ks_framer_free(framing->framers[i]);
		if (framing->scratch != NULL)
			ks_buf_release(&framing->scratch[i]);
		if (framing->advisers != NULL)
			ks_adviser_release(&framing->advisers[i]);
	}
	ks_adviser_release(&framing->fallback);
	free(framing->framers);
	free(framing->scratch);
	free(framing->advisers);
}

static enum ks_status
write_frames(struct ks_objects *objects, struct ks_writing *writing,
	const struct ks_dictionary *dictionary, struct ks_notes *notes,
	struct ks_error *err)
{
	struct framing framing = {
		.all = objects->all, .dictionary = dictionary, .notes = notes
	};
	struct frame_job *jobs = calloc(KS_POOL_WINDOW, sizeof(*jobs));
	struct ks_pool *pool = NULL;
	unsigned workers = 0, i;
	/* A thread for a handful of objects costs more than it saves. */
	enum ks_status status = jobs == NULL ? ks_fail_nomem(err) :
		ks_pool_new(&pool, objects->count > JOB_ITEMS ? 0 : 1,
			frame_items, &framing, err);

	if (status == KS_OK) {
		workers = ks_pool_workers(pool);
		status = start_framing(&framing, objects, writing, workers,
			err);
	}
	if (status == KS_OK)
		status = pump_frames(objects, writing, &framing, pool, jobs,
			err);
	ks_pool_free(pool);
	stop_framing(&framing, workers);
	for (i = 0; jobs != NULL && i < KS_POOL_WINDOW; i++) {
		ks_buf_release(&jobs[i].frames);
		ks_buf_release(&jobs[i].notes);
	}
	free(jobs);
	return status;
}

enum ks_status
ks_objects_write(struct ks_objects *objects, struct ks_writing *writing,
	const struct ks_dictionary *current, bool *trained,
	struct ks_notes *notes, struct ks_error *err)
{
	enum ks_status status = finish_training(objects, writing, err);

	*trained = objects->trained != NULL;
	if (status != KS_OK || objects->count == 0)
		return status;
	return write_frames(objects, writing, objects->trained != NULL ?
		objects->trained : current, notes, err);
}
