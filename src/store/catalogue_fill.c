#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
#include "format/digest.h"
#include "format/json.h"
#include "store/catalogue_internal.h"
#include "store/lines.h"
#include "store/watch.h"

#define JOB_RECORDS 256
#define JOB_BYTES ((size_t)1 << 20)
/* A part of the log whose frames are read before any is looked at. */
#define PART_RECORDS 16384
#define PART_BYTES ((size_t)32 << 20)	/* of frames; others are read later */

/* ---- jobs --------------------------------------------------------------- */

/* What was read for a record: one behind the other in job->bytes. */
struct reading {
	size_t frame;		/* length */
	size_t line;		/* that has the metadata, or both notes; */
	size_t second;		/* that has the provenance */
};

struct job {
	struct ks_subject subjects[JOB_RECORDS];
	struct reading readings[JOB_RECORDS];
	struct ks_facts facts[JOB_RECORDS];
	size_t count;
	struct ks_buf bytes;
	struct ks_fact_store store;
	enum ks_status status;		/* KS_NOMEM when a worker had none */
};

/* What one thread needs. */
struct worker {
	struct ks_jcs *jcs;
	struct ks_framer *framer;
	struct ks_buf body;
};

/* A record of a part, and its frame. */
struct pending {
	struct ks_subject subject;
	struct ks_oid blob;
	bool has_blob, late;
	size_t at, len;			/* of the frame in part->frames, unless
					 * it is late */
};

/* Records are entered in the order of the log, so that rows are appended and
 * what a record refers to is there before it. Their frames lie in packs in the
 * order of digests, and there they are read: only a small window of a pack is
 * mapped at a time. */
struct part {
	struct pending *list;
	struct pending **order;		/* by digest */
	size_t count, room;
	struct ks_buf frames;
};

/* Where an object's frame is. */
struct place {
	uint32_t object;
	struct ks_oid blob;
};

struct filling {
	struct ks_catalogue *catalogue;
	struct ks_store *store;
	struct ks_db *tables;
	const struct ks_watch *watch;
	struct ks_dictionaries *dictionaries;
	struct ks_lines *lines;
	struct ks_rows *rows;
	struct part part;
	struct ks_pool *pool;
	struct worker *workers;
	struct job *jobs;
	struct job *filling;
	size_t next_job;
	/* Of all objects, ascending, when everything is filled. */
	struct place *places;
	size_t place_count, place_room, next_place;
	/* The numbers to be entered, when something is added. */
	struct ks_buf changed;
	/* Runs whose keys have to wait. */
	struct ks_buf deferred;
	uint64_t from;			/* there are rows below this number */
	uint64_t done, total;
};

/* ---- one record, in any thread ------------------------------------------ */

/* Unpack and hash; false when these are not the bytes that the digest names. */
static bool
unpack(struct worker *worker, const struct ks_dictionaries *dictionaries,
	const struct ks_id *digest, struct ks_span frame,
	enum ks_status *status)
{
	const struct ks_dictionary *dictionary = NULL;
	struct ks_frame_info info;
	struct ks_id found;

	ks_buf_clear(&worker->body);
	if (frame.len == 0 || ks_frame_inspect(frame, KS_LIMIT_RECORD, &info,
		NULL) != KS_OK)
		return false;
	if (info.dictionary_id != 0)
		dictionary = ks_dictionaries_loaded(dictionaries,
			info.dictionary_id);
	*status = ks_frame_unpack(worker->framer, frame, KS_LIMIT_RECORD,
		dictionary, &worker->body, NULL);
	if (*status != KS_OK)
		return false;
	ks_sha256(ks_buf_span(&worker->body), &found);
	return ks_id_equal(&found, digest);
}

static void
derive(const struct filling *filling, struct worker *worker, struct job *job,
	size_t which, size_t at)
{
	const struct ks_subject *subject = &job->subjects[which];
	const struct reading *reading = &job->readings[which];
	const uint8_t *bytes = job->bytes.data + at;
	struct ks_span line = ks_span(bytes + reading->frame, reading->line);
	struct ks_span second = ks_span(bytes + reading->frame +
		reading->line, reading->second);
	struct ks_fact_origin origin = {
		.kind = ks_span_text(subject->kind)
	};
	struct ks_record record;
	enum ks_status status = KS_OK;

	if (unpack(worker, filling->dictionaries, &subject->digest,
		ks_span(bytes, reading->frame), &status)) {
		status = ks_record_judge(worker->jcs,
			ks_buf_span(&worker->body), &record, NULL);
		if (status == KS_OK)
			origin.record = &record;
	}
	if (status == KS_NOMEM)
		job->status = status;
	if (subject->metadata_line != KS_NO_LINE)
		origin.metadata = ks_json_get(line, "metadata");
	if (subject->provenance_line != KS_NO_LINE)
		origin.provenance = ks_json_get(subject->provenance_line ==
			subject->metadata_line ? line : second, "provenance");
	ks_facts_derive(&job->facts[which], &job->store, &origin);
}

static void
derive_job(void *arg, unsigned number, void *data)
{
	const struct filling *filling = arg;
	struct job *job = data;
	size_t i, at = 0;

	for (i = 0; i < job->count; i++) {
		const struct reading *reading = &job->readings[i];

		derive(filling, &filling->workers[number], job, i, at);
		at += reading->frame + reading->line + reading->second;
	}
	if (ks_fact_store_check(&job->store, NULL) != KS_OK)
		job->status = KS_NOMEM;
}

/* ---- entering what was derived ------------------------------------------ */

static bool
is_raw(const struct ks_subject *subject)
{
	return strcmp(subject->kind, "raw") == 0;
}

static enum ks_status
enter(struct filling *filling, const struct ks_subject *subject,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	struct ks_error *err)
{
	bool deferred = false;
	enum ks_status status = KS_OK;

	if (subject->object < filling->from)
		status = ks_rows_remove(filling->rows, subject->object, err);
	if (status == KS_OK)
		status = ks_rows_add(filling->rows, subject, facts, store,
			&deferred, err);
	if (status != KS_OK)
		return status;
	if (!facts->is_readable && !is_raw(subject))
		filling->catalogue->unread++;
	if (!deferred)
		return KS_OK;
	ks_buf_append(&filling->deferred, ks_span(&subject->object,
		sizeof(subject->object)));
	return ks_buf_check(&filling->deferred, err);
}

static enum ks_status
finish_job(struct filling *filling, struct job *job, struct ks_error *err)
{
	enum ks_status status = job->status != KS_OK ? ks_fail_nomem(err) :
		KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < job->count; i++)
		status = enter(filling, &job->subjects[i], &job->facts[i],
			&job->store, err);
	filling->done += job->count;
	ks_watch_progress(filling->watch, "reading records", filling->done,
		filling->total);
	return status == KS_OK ? ks_watch_check(filling->watch, err) : status;
}

/* Hand over the job being filled and take an empty one. */
static enum ks_status
turn_over(struct filling *filling, struct ks_error *err)
{
	struct job *job;
	enum ks_status status = KS_OK;

	if (filling->filling != NULL)
		ks_pool_push(filling->pool, filling->filling);
	filling->filling = NULL;
	if (ks_pool_is_full(filling->pool))
		status = finish_job(filling, ks_pool_pull(filling->pool), err);
	if (status != KS_OK)
		return status;
	job = &filling->jobs[filling->next_job++ % (KS_POOL_WINDOW + 1)];
	ks_buf_clear(&job->bytes);
	ks_fact_store_clear(&job->store);
	job->count = 0;
	job->status = KS_OK;
	filling->filling = job;
	return KS_OK;
}

/* ---- reading ------------------------------------------------------------ */

/* Where the frame of the next object of the log is, of all. */
static void
place_blob(struct filling *filling, struct pending *pending)
{
	uint64_t object = pending->subject.object;
	size_t *at = &filling->next_place;

	while (*at < filling->place_count &&
		filling->places[*at].object < object)
		(*at)++;
	pending->has_blob = *at < filling->place_count &&
		filling->places[*at].object == object;
	if (pending->has_blob)
		pending->blob = filling->places[*at].blob;
}

/* The same by its path, of a few. */
static enum ks_status
find_blob(struct filling *filling, struct pending *pending,
	struct ks_error *err)
{
	char path[KS_OBJECT_PATH + 1];
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(filling->store->db,
		&filling->store->tree, ks_layout_object(
		&pending->subject.digest, path), &entry, err);

	if (status == KS_NOT_FOUND || status == KS_CORRUPT)
		return KS_OK;
	if (status != KS_OK)
		return status;
	pending->has_blob = entry.mode == KS_GIT_MODE_FILE;
	pending->blob = entry.oid;
	return KS_OK;
}

/* Load the dictionary that a frame names; a frame whose dictionary is not to
 * be had cannot be read. Only while no other thread looks at the list. */
static enum ks_status
load_dictionary(struct filling *filling, struct ks_span frame,
	struct ks_error *err)
{
	const struct ks_dictionary *dictionary;
	struct ks_frame_info info;
	enum ks_status status;

	if (filling->from == 0 || ks_frame_inspect(frame, KS_LIMIT_RECORD,
		&info, NULL) != KS_OK || info.dictionary_id == 0)
		return KS_OK;
	status = ks_dictionaries_get(filling->dictionaries,
		info.dictionary_id, &dictionary, err);
	return status == KS_CORRUPT || status == KS_NOT_FOUND ? KS_OK :
		status;
}

static enum ks_status
load_dictionaries(struct filling *filling, struct ks_error *err)
{
	struct ks_dictionaries *all = filling->dictionaries;
	const struct ks_dictionary *dictionary;
	size_t i;

	for (i = 0; i < ks_dictionaries_count(all); i++) {
		enum ks_status status = ks_dictionaries_get(all,
			ks_dictionaries_at(all, i)->id, &dictionary, err);

		if (status != KS_OK && status != KS_CORRUPT &&
			status != KS_NOT_FOUND)
			return status;
	}
	return KS_OK;
}

/* Append a frame. Raw bytes may be large and say nothing. */
static enum ks_status
read_frame(struct filling *filling, struct pending *pending,
	struct ks_buf *frames, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	pending->at = frames->len;
	pending->len = 0;
	if (is_raw(&pending->subject))
		return KS_OK;
	if (filling->from > 0)
		status = find_blob(filling, pending, err);
	if (status != KS_OK || !pending->has_blob)
		return status;
	status = ks_gitdb_blob(filling->store->db, &pending->blob,
		KS_LIMIT_FRAME, false, frames, err);
	if (status == KS_CORRUPT || status == KS_NOT_FOUND) {
		frames->len = pending->at;
		return KS_OK;
	}
	if (status != KS_OK)
		return status;
	pending->len = frames->len - pending->at;
	return load_dictionary(filling, ks_span(frames->data + pending->at,
		pending->len), err);
}

static enum ks_status
read_line(struct filling *filling, uint64_t index, size_t *len,
	struct ks_error *err)
{
	struct ks_span line;
	enum ks_status status;

	*len = 0;
	if (index == KS_NO_LINE)
		return KS_OK;
	status = ks_lines_get(filling->lines, index, &line, err);
	if (status != KS_OK)
		return status;
	ks_buf_append(&filling->filling->bytes, line);
	*len = line.len;
	return KS_OK;
}

/* Hand a record, with its frame and lines, to the workers. */
static enum ks_status
give(struct filling *filling, struct pending *pending, struct ks_error *err)
{
	const struct ks_subject *subject = &pending->subject;
	struct job *job;
	struct reading *reading;
	enum ks_status status = KS_OK;

	if (filling->filling == NULL ||
		filling->filling->count == JOB_RECORDS ||
		filling->filling->bytes.len > JOB_BYTES)
		status = turn_over(filling, err);
	if (status != KS_OK)
		return status;
	job = filling->filling;
	reading = &job->readings[job->count];
	job->subjects[job->count] = *subject;
	if (pending->late)
		status = read_frame(filling, pending, &job->bytes, err);
	else
		ks_buf_append(&job->bytes, ks_span(filling->part.frames.data +
			pending->at, pending->len));
	reading->frame = pending->len;
	if (status == KS_OK)
		status = read_line(filling, subject->metadata_line,
			&reading->line, err);
	if (status == KS_OK)
		status = read_line(filling, subject->provenance_line ==
			subject->metadata_line ? KS_NO_LINE :
			subject->provenance_line, &reading->second, err);
	job->count++;
	return status == KS_OK ? ks_buf_check(&job->bytes, err) : status;
}

static int
by_digest(const void *a, const void *b)
{
	const struct pending *const *x = a;
	const struct pending *const *y = b;

	return ks_id_compare(&(*x)->subject.digest, &(*y)->subject.digest);
}

/* Read the frames of a part, and enter its records. */
static enum ks_status
read_part(struct filling *filling, struct ks_error *err)
{
	struct part *part = &filling->part;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; i < part->count; i++) {
		part->order[i] = &part->list[i];
		if (filling->from == 0)
			place_blob(filling, &part->list[i]);
	}
	if (part->count > 1)
		qsort(part->order, part->count, sizeof(part->order[0]),
			by_digest);
	ks_buf_clear(&part->frames);
	for (i = 0; status == KS_OK && i < part->count; i++) {
		part->order[i]->late = part->frames.len > PART_BYTES;
		if (!part->order[i]->late)
			status = read_frame(filling, part->order[i],
				&part->frames, err);
	}
	for (i = 0; status == KS_OK && i < part->count; i++)
		status = give(filling, &part->list[i], err);
	part->count = 0;
	return status;
}

static enum ks_status
grow_part(struct part *part, struct ks_error *err)
{
	size_t room = part->room == 0 ? 64 : 2 * part->room;
	struct pending *list = realloc(part->list, room * sizeof(*list));
	struct pending **order;

	if (list == NULL)
		return ks_fail_nomem(err);
	part->list = list;
	order = realloc(part->order, room * sizeof(struct pending *));
	if (order == NULL)
		return ks_fail_nomem(err);
	part->order = order;
	part->room = room;
	return KS_OK;
}

static enum ks_status
add_subject(struct filling *filling, const struct ks_subject *subject,
	struct ks_error *err)
{
	struct part *part = &filling->part;
	enum ks_status status = KS_OK;

	if (part->count == PART_RECORDS)
		status = read_part(filling, err);
	if (status == KS_OK && part->count == part->room)
		status = grow_part(part, err);
	if (status != KS_OK)
		return status;
	memset(&part->list[part->count], 0, sizeof(part->list[0]));
	part->list[part->count++].subject = *subject;
	return KS_OK;
}

/* ---- what there is to read ---------------------------------------------- */

static enum ks_status
read_all(struct filling *filling, struct ks_error *err)
{
	struct ks_db *tables = filling->tables;
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_CATALOGUE_EACH);
	struct ks_subject subject;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_db_next(tables, stmt))
		if (ks_rows_take_subject(stmt, &subject))
			status = add_subject(filling, &subject, err);
	if (stmt != NULL)
		ks_db_reset(stmt);
	if (status == KS_OK)
		status = ks_db_check(tables, err);
	return status == KS_OK ? read_part(filling, err) : status;
}

static enum ks_status
list_changed(struct filling *filling, struct ks_error *err)
{
	struct ks_db *tables = filling->tables;
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_CATALOGUE_CHANGED);

	ks_db_bind_number(stmt, 1, filling->from);
	while (ks_db_next(tables, stmt)) {
		uint64_t object = ks_db_number(stmt, 0);

		ks_buf_append(&filling->changed, ks_span(&object,
			sizeof(object)));
		filling->total++;
	}
	if (ks_buf_check(&filling->changed, err) != KS_OK)
		return KS_NOMEM;
	return ks_db_check(tables, err);
}

static uint64_t
number_at(const struct ks_buf *list, size_t which)
{
	uint64_t number;

	memcpy(&number, list->data + which * sizeof(number), sizeof(number));
	return number;
}

static size_t
numbers_in(const struct ks_buf *list)
{
	return list->len / sizeof(uint64_t);
}

static enum ks_status
read_changed(struct filling *filling, struct ks_error *err)
{
	struct ks_subject subject;
	enum ks_status status = list_changed(filling, err);
	size_t i;

	for (i = 0; status == KS_OK && i < numbers_in(&filling->changed); i++)
		if (ks_rows_subject(filling->rows, number_at(
			&filling->changed, i), &subject))
			status = add_subject(filling, &subject, err);
	if (status == KS_OK)
		status = ks_db_check(filling->tables, err);
	return status == KS_OK ? read_part(filling, err) : status;
}

static enum ks_status
drain(struct filling *filling, enum ks_status status, struct ks_error *err)
{
	struct job *job;

	if (status == KS_OK && filling->filling != NULL)
		ks_pool_push(filling->pool, filling->filling);
	while ((job = ks_pool_pull(filling->pool)) != NULL)
		if (status == KS_OK)
			status = finish_job(filling, job, err);
	return status;
}

/* ---- where the objects are ---------------------------------------------- */

/* Walking the tree, whose files come by digest, beside the index. */
struct walking {
	struct filling *filling;
	struct sqlite3_stmt *stmt;	/* of all objects, by digest */
	bool more;
	const char *a, *bb;		/* directory names on the way */
};

static enum ks_status
add_place(struct filling *filling, uint64_t object,
	const struct ks_oid *blob, struct ks_error *err)
{
	struct place *grown = ks_grow(filling->places, filling->place_count,
		&filling->place_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	filling->places = grown;
	filling->places[filling->place_count].object = (uint32_t)object;
	filling->places[filling->place_count].blob = *blob;
	filling->place_count++;
	return KS_OK;
}

static enum ks_status
visit_object(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct walking *walking = arg;
	struct ks_db *tables = walking->filling->tables;
	struct ks_id digest;
	int order = -1;

	if (entry->mode != KS_GIT_MODE_FILE ||
		!ks_layout_object_id(walking->a, walking->bb, entry->name,
		&digest))
		return KS_OK;
	while (walking->more) {
		order = ks_span_compare(ks_db_bytes(walking->stmt, 0),
			ks_span(digest.bytes, KS_ID_BYTES));
		if (order >= 0)
			break;
		walking->more = ks_db_next(tables, walking->stmt);
	}
	return !walking->more || order != 0 ? KS_OK : add_place(
		walking->filling, ks_db_number(walking->stmt, 1), &entry->oid,
		err);
}

/* Go into a directory; what is wrong with one is for verify to say. */
static enum ks_status
enter_directory(struct walking *walking, const struct ks_git_entry *entry,
	const char **name, ks_git_entry_fn *visit, struct ks_error *err)
{
	enum ks_status status;

	if (entry->mode != KS_GIT_MODE_TREE)
		return KS_OK;
	*name = entry->name;
	status = ks_gitdb_list(walking->filling->store->db, &entry->oid,
		visit, walking, err);
	*name = NULL;
	return status == KS_CORRUPT || status == KS_NOT_FOUND ? KS_OK :
		status;
}

static enum ks_status
visit_second(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct walking *walking = arg;

	return enter_directory(walking, entry, &walking->bb, visit_object,
		err);
}

static enum ks_status
visit_first(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	struct walking *walking = arg;

	return enter_directory(walking, entry, &walking->a, visit_second,
		err);
}

static int
by_object(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;

	return (x->object > y->object) - (x->object < y->object);
}

/* Paths are looked up all at once: a tree of git names hundreds of files, and
 * would be unpacked for each of them. */
static enum ks_status
find_places(struct filling *filling, struct ks_error *err)
{
	struct walking walking = { .filling = filling };
	struct ks_store *store = filling->store;
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(store->db, &store->tree,
		KS_PATH_OBJECTS, &entry, err);

	if (status == KS_NOT_FOUND || status == KS_CORRUPT)
		return KS_OK;
	if (status != KS_OK)
		return status;
	walking.stmt = ks_db_statement(filling->tables, KS_CATALOGUE_PLACES);
	walking.more = ks_db_next(filling->tables, walking.stmt);
	status = ks_gitdb_list(store->db, &entry.oid, visit_first, &walking,
		err);
	if (walking.stmt != NULL)
		ks_db_reset(walking.stmt);
	if (status == KS_CORRUPT || status == KS_NOT_FOUND)
		status = KS_OK;
	if (filling->place_count > 0)
		qsort(filling->places, filling->place_count,
			sizeof(*filling->places), by_object);
	return status == KS_OK ? ks_db_check(filling->tables, err) : status;
}

/* ---- keys that had to wait ---------------------------------------------- */

static enum ks_status
set_key(struct filling *filling, const struct ks_subject *subject,
	struct ks_fact_store *store, struct ks_error *err)
{
	struct ks_fact_origin origin = {
		.kind = ks_span_text(subject->kind)
	};
	struct ks_buf body = KS_BUF_INIT;
	struct ks_record record;
	struct ks_facts facts;
	enum ks_status status = ks_store_body(filling->store,
		&subject->digest, &body, err);

	if (status == KS_OK)
		status = ks_record_judge(filling->store->jcs,
			ks_buf_span(&body), &record, err);
	if (status == KS_OK) {
		origin.record = &record;
		ks_fact_store_clear(store);
		ks_facts_derive(&facts, store, &origin);
		status = ks_fact_store_check(store, err);
	}
	if (status == KS_OK)
		status = ks_rows_set_key(filling->rows, subject->object,
			&facts, store, err);
	ks_buf_release(&body);
	return status;
}

static enum ks_status
set_keys(struct filling *filling, struct ks_error *err)
{
	struct ks_fact_store store = KS_FACT_STORE_INIT;
	struct ks_subject subject;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < numbers_in(&filling->deferred);
		i++)
		if (ks_rows_subject(filling->rows, number_at(
			&filling->deferred, i), &subject))
			status = set_key(filling, &subject, &store, err);
	ks_fact_store_release(&store);
	return status;
}

/* ---- starting and ending ------------------------------------------------ */

/* For a few records the caller's thread will do. */
static enum ks_status
start(struct filling *filling, struct ks_error *err)
{
	unsigned i, count;
	enum ks_status status = ks_pool_new(&filling->pool,
		filling->from == 0 ? 0 : 1, derive_job, filling, err);

	if (status != KS_OK)
		return status;
	count = ks_pool_workers(filling->pool);
	filling->workers = calloc(count, sizeof(*filling->workers));
	filling->jobs = calloc(KS_POOL_WINDOW + 1, sizeof(*filling->jobs));
	if (filling->workers == NULL || filling->jobs == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < count; i++) {
		status = ks_jcs_new(&filling->workers[i].jcs, err);
		if (status == KS_OK)
			status = ks_framer_new(&filling->workers[i].framer,
				err);
	}
	if (status == KS_OK)
		status = ks_store_dictionaries(filling->store,
			&filling->dictionaries, err);
	if (status == KS_OK)
		status = ks_lines_new(&filling->lines, filling->store->db,
			&filling->store->tree, err);
	return status != KS_OK ? status : ks_rows_new(&filling->rows,
		filling->tables, filling->catalogue->searchable, err);
}

static void
stop(struct filling *filling)
{
	unsigned i, count = filling->pool == NULL ? 0 :
		ks_pool_workers(filling->pool);

	ks_pool_free(filling->pool);
	for (i = 0; filling->workers != NULL && i < count; i++) {
		ks_jcs_free(filling->workers[i].jcs);
		ks_framer_free(filling->workers[i].framer);
		ks_buf_release(&filling->workers[i].body);
	}
	for (i = 0; filling->jobs != NULL && i < KS_POOL_WINDOW + 1; i++) {
		ks_buf_release(&filling->jobs[i].bytes);
		ks_fact_store_release(&filling->jobs[i].store);
	}
	free(filling->workers);
	free(filling->jobs);
	free(filling->places);
	free(filling->part.list);
	free(filling->part.order);
	ks_buf_release(&filling->part.frames);
	ks_buf_release(&filling->changed);
	ks_buf_release(&filling->deferred);
	ks_lines_free(filling->lines);
	ks_rows_free(filling->rows);
}

enum ks_status
ks_catalogue_fill(struct ks_catalogue *catalogue, uint64_t from,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct filling filling = {
		.catalogue = catalogue,
		.store = catalogue->store,
		.tables = &catalogue->index->tables,
		.watch = watch,
		.from = from,
		.total = from == 0 ? ks_index_count(catalogue->index) : 0
	};
	enum ks_status status = start(&filling, err);

	if (status == KS_OK && from == 0)
		status = load_dictionaries(&filling, err);
	if (status == KS_OK && from == 0)
		status = find_places(&filling, err);
	if (status == KS_OK)
		status = from == 0 ? read_all(&filling, err) :
			read_changed(&filling, err);
	if (filling.pool != NULL && filling.jobs != NULL)
		status = drain(&filling, status, err);
	if (status == KS_OK)
		status = set_keys(&filling, err);
	stop(&filling);
	return status;
}
