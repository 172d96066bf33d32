#include "store/gather.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
#include "format/jcs.h"
#include "format/json.h"
#include "format/record.h"
#include "store/input.h"
#include "store/notes.h"

/* Bodies that a worker has handed on lately: another occurrence need not
 * carry its bytes again. */
#define SEEN_SLOTS 1024

/* Texts of manifests that rows and dossiers repeat: a run's holds its protocol
 * and its environment, of which there are few. */
#define REPEATED_SLOTS 64

/* Notes that one batch keeps; the rest are counted. */
#define NOTES_KEPT 1000

/* A stretch of a batch's text buffer; offsets, since the buffer grows. */
struct piece {
	size_t at, len;
};

/* One fact found in a batch: a manifest, or (alias set) an alias. */
struct found {
	uint64_t line;
	bool is_alias;
	struct ks_id digest;
	const struct ks_kind *kind;
	struct piece full_kind, body, metadata, provenance, reason;
	struct piece retracted_at, alias;
	struct ks_intake_id id, project, source, supersedes;
	bool partial, stated;
	size_t first_reference, reference_count;
};

/* A batch: a chunk of input, and what a worker makes of it. */
struct batch {
	struct ks_chunk chunk;
	struct ks_buf text;		/* what the pieces point into */
	struct found *found;
	size_t found_count, found_room;
	struct ks_gathered_reference *references;
	size_t reference_count, reference_room;
	struct ks_buf notes;		/* texts, each ended by NUL */
	struct ks_gather_counts counts;
	enum ks_status status;
	struct ks_error err;
};

/* A manifest that was read before, and what came of it. */
struct repeated {
	struct ks_buf text;
	struct ks_id digest;
	const struct ks_kind *kind;
	struct piece metadata;	/* in `text` */
};

/* What a worker keeps between batches. */
struct worker {
	struct ks_jcs *jcs;
	struct ks_intake intake;
	struct ks_buf canonical;	/* of the value being read */
	struct ks_buf body;
	struct ks_buf skipped;		/* names of its members that are … */
	size_t skips;			/* … left out, and how many */
	struct ks_id seen[SEEN_SLOTS];
	struct repeated repeated[REPEATED_SLOTS];
	/* Set while a value is read. */
	struct batch *batch;
	uint64_t line;
	const struct ks_record_policy *policy;
};

struct gathering {
	struct ks_record_policy policy;
	struct worker *workers;
	const struct ks_gather_sink *sink;
	struct ks_gather_counts *counts;
	const struct ks_watch *watch;
	struct ks_notes notes;
};

/* ---- in a worker ------------------------------------------------------- */

static struct piece
keep(struct batch *batch, struct ks_span text)
{
	struct piece piece = { batch->text.len, text.len };

	ks_buf_append(&batch->text, text);
	return piece;
}

/* The next fact of a batch, zeroed; NULL when memory is short. */
static struct found *
new_found(struct worker *worker)
{
	struct batch *batch = worker->batch;
	struct found *found = ks_grow(batch->found, batch->found_count,
		&batch->found_room, sizeof(*found), NULL);

	if (found == NULL)
		return NULL;
	batch->found = found;
	found += batch->found_count++;
	memset(found, 0, sizeof(*found));
	found->line = worker->line;
	return found;
}

/* A note is kept as its line number (eight bytes), its text, and NUL. */
static void
add_note(struct worker *worker, const char *path, const char *message)
{
	struct batch *batch = worker->batch;
	struct ks_buf *notes = &batch->notes;

	batch->counts.notes++;
	if (batch->counts.notes > NOTES_KEPT)
		return;
	ks_buf_append(notes, ks_span(&worker->line, sizeof(worker->line)));
	ks_buf_printf(notes, "%s%s%s", path, path[0] == '\0' ? "" : ": ",
		message);
	ks_buf_byte(notes, 0);
}

static bool
note_finding(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	(void)level;
	add_note(arg, path, message);
	return true;
}

static size_t
seen_slot(const struct ks_id *digest)
{
	return (digest->bytes[0] | (size_t)digest->bytes[1] << 8) %
		SEEN_SLOTS;
}

/* Whether this worker has handed on the body before; remembers it. */
static bool
seen_before(struct worker *worker, const struct ks_id *digest)
{
	size_t slot = seen_slot(digest);

	if (ks_id_equal(&worker->seen[slot], digest))
		return true;
	worker->seen[slot] = *digest;
	return false;
}

static bool
add_reference(void *arg, const struct ks_reference *reference)
{
	struct batch *batch = arg;
	struct ks_gathered_reference *added;

	if (reference->is_link)
		return true;
	added = ks_grow(batch->references, batch->reference_count,
		&batch->reference_room, sizeof(*added), NULL);
	if (added == NULL)
		return false;
	batch->references = added;
	added += batch->reference_count++;
	added->target = reference->target;
	added->expected[0] = reference->expected[0];
	added->expected[1] = reference->expected[1];
	return true;
}

static enum ks_status
keep_manifest(struct worker *worker, const struct ks_intake_manifest *manifest,
	const struct ks_record *record, const struct ks_id *digest,
	struct ks_error *err)
{
	struct batch *batch = worker->batch;
	struct found *found = new_found(worker);

	if (found == NULL)
		return ks_fail_nomem(err);
	found->digest = *digest;
	found->kind = record->kind;
	if (record->kind == NULL) {
		found->full_kind.at = batch->text.len;
		ks_record_full_kind(record, &batch->text);
		found->full_kind.len = batch->text.len - found->full_kind.at;
	}
	found->metadata = keep(batch, record->metadata);
	found->provenance = keep(batch, manifest->provenance);
	found->reason = keep(batch, manifest->reason);
	found->retracted_at = keep(batch, manifest->retracted_at);
	found->id = manifest->id;
	found->project = manifest->project;
	found->source = manifest->source;
	found->supersedes = manifest->supersedes;
	found->partial = manifest->partial;
	found->stated = manifest->stated_column != NULL;
	batch->counts.manifests++;
	batch->counts.stated_digests += found->stated ? 1 : 0;
	if (seen_before(worker, digest))
		return ks_buf_check(&batch->text, err);
	found->body = keep(batch, ks_buf_span(&worker->body));
	found->first_reference = batch->reference_count;
	if (record->kind != NULL && !ks_kind_references(record->kind,
		record->spec, add_reference, batch))
		return ks_fail_nomem(err);
	found->reference_count = batch->reference_count -
		found->first_reference;
	return ks_buf_check(&batch->text, err);
}

/* ---- repeated manifests ------------------------------------------------ */

static struct repeated *
repeated_slot(struct worker *worker, struct ks_span text)
{
	size_t hash = text.len;
	size_t i;

	/* Digests and names stand anywhere; a sample of bytes tells few texts
	 * apart well enough, and a clash costs only time. */
	for (i = 0; i < text.len; i += 1 + text.len / 32)
		hash = hash * 31 + text.data[i];
	return &worker->repeated[hash % REPEATED_SLOTS];
}

static void
remember(struct repeated *slot, struct ks_span text,
	const struct ks_record *record, const struct ks_id *digest)
{
	ks_buf_clear(&slot->text);
	ks_buf_append(&slot->text, text);
	slot->digest = *digest;
	slot->kind = record->kind;
	slot->metadata.len = record->metadata.len;
	slot->metadata.at = record->metadata.len == 0 ? 0 :
		(size_t)(record->metadata.data - text.data);
	if (slot->text.failed)
		slot->text.len = 0;
}

/* Read a manifest, or remember having read it. The sink was given its body
 * then, so that it is not needed again; notes are not repeated. */
static enum ks_status
read_repeated(struct worker *worker,
	const struct ks_intake_manifest *manifest, struct ks_record *record,
	struct ks_id *digest, struct ks_error *err)
{
	struct repeated *slot = repeated_slot(worker, manifest->text);
	enum ks_status status;

	if (ks_span_equal(ks_buf_span(&slot->text), manifest->text)) {
		*digest = slot->digest;
		record->kind = slot->kind;
		record->metadata = ks_span(slot->text.data +
			slot->metadata.at, slot->metadata.len);
		worker->seen[seen_slot(digest)] = *digest;
		return KS_OK;
	}
	status = ks_record_read(manifest->text, worker->policy, note_finding,
		worker, record, &worker->body, digest, err);
	if (status == KS_OK && record->kind != NULL)
		remember(slot, manifest->text, record, digest);
	return status;
}

static enum ks_status
on_manifest(void *arg, const struct ks_intake_manifest *manifest,
	struct ks_error *err)
{
	struct worker *worker = arg;
	struct ks_record record;
	struct ks_id digest;
	enum ks_status status;

	memset(&record, 0, sizeof(record));
	ks_buf_clear(&worker->body);
	if (!manifest->main)
		status = read_repeated(worker, manifest, &record, &digest,
			err);
	else
		status = ks_record_read(manifest->text, worker->policy,
			note_finding, worker, &record, &worker->body, &digest,
			err);
	if (status == KS_OK)
		status = ks_intake_compare(manifest, &digest, err);
	if (status == KS_OK)
		status = keep_manifest(worker, manifest, &record, &digest, err);
	return status;
}

static enum ks_status
on_alias(void *arg, const uint8_t operation[16], struct ks_span alias,
	struct ks_error *err)
{
	struct worker *worker = arg;
	struct found *found = new_found(worker);

	if (found == NULL)
		return ks_fail_nomem(err);
	found->is_alias = true;
	memcpy(found->id.bytes, operation, sizeof(found->id.bytes));
	found->alias = keep(worker->batch, alias);
	return ks_buf_check(&worker->batch->text, err);
}

static void
on_row(void *arg)
{
	struct worker *worker = arg;

	worker->batch->counts.rows++;
}

static void
on_skipped(void *arg, enum ks_intake_skip what, struct ks_span name)
{
	struct worker *worker = arg;

	switch (what) {
	case KS_SKIP_DERIVED:
		worker->batch->counts.derived_rows++;
		return;
	case KS_SKIP_TABLE:
		worker->batch->counts.unknown_rows++;
		return;
	case KS_SKIP_MEMBER:
		ks_buf_text(&worker->skipped, worker->skips++ == 0 ? "" : ", ");
		ks_buf_append(&worker->skipped, name);
		return;
	case KS_SKIP_SOURCE:
		add_note(worker, "", "provenance.source does not say kind, "
			"name and slug: the run gets no Source from it "
			"(--source gives one)");
		return;
	}
}

/* One note for all members of a value: many a dossier has sixteen. In quotes,
 * values with this or that member are of one sort. */
static void
note_skipped(struct worker *worker)
{
	char shown[384], text[480];

	if (worker->skips == 0)
		return;
	(void)snprintf(text, sizeof(text), "member%s \"%s\" %s: skipped",
		worker->skips == 1 ? "" : "s",
		ks_printable(shown, sizeof(shown),
		ks_buf_span(&worker->skipped)),
		worker->skips == 1 ? "is not a manifest" :
		"are not manifests");
	add_note(worker, "", text);
}

static void
on_difference(void *arg, const struct ks_intake_difference *difference)
{
	struct worker *worker = arg;
	char stated[96], implied[96], text[512];

	(void)snprintf(text, sizeof(text),
		"column %s of %s says %s, the manifest implies %s",
		difference->column, difference->table,
		ks_printable(stated, sizeof(stated), difference->stated),
		ks_printable(implied, sizeof(implied), difference->implied));
	add_note(worker, "", text);
}

static const struct ks_jcs_policy value_policy = {
	.max_bytes = KS_INPUT_VALUE_MAX,
	.max_depth = 72,
	.refuse_nul = true,
	.exact_numbers = true
};

/* Read one JSON value. */
static enum ks_status
read_value(struct worker *worker, struct ks_span text, struct ks_error *err)
{
	struct ks_intake_visitor visitor = {
		.arg = worker,
		.manifest = on_manifest,
		.alias = on_alias,
		.row = on_row,
		.skipped = on_skipped,
		.differs = on_difference
	};
	struct ks_span value;
	enum ks_status status;

	ks_buf_clear(&worker->canonical);
	ks_buf_clear(&worker->skipped);
	worker->skips = 0;
	status = ks_jcs_scan(worker->jcs, text, worker->line == 0 ?
		&value_policy : &ks_jcs_row, &worker->canonical, err);
	if (status != KS_OK)
		return status;
	value = ks_buf_span(&worker->canonical);
	status = ks_intake_read(&worker->intake, value, &visitor, err);
	if (status == KS_OK)
		note_skipped(worker);
	return status;
}

/* The next line, without LF; false at the end. A last line needs no LF. */
static bool
next_line(struct ks_span *rest, struct ks_span *line)
{
	const uint8_t *lf;

	if (rest->len == 0)
		return false;
	lf = memchr(rest->data, '\n', rest->len);
	line->data = rest->data;
	line->len = lf == NULL ? rest->len : (size_t)(lf - rest->data);
	rest->data += line->len;
	rest->len -= line->len;
	if (lf != NULL) {
		rest->data++;
		rest->len--;
	}
	return true;
}

static bool
is_blank(struct ks_span line)
{
	size_t i;

	for (i = 0; i < line.len; i++)
		if (line.data[i] != ' ' && line.data[i] != '\t' &&
			line.data[i] != '\r')
			return false;
	return true;
}

static enum ks_status
read_lines(struct worker *worker, struct ks_error *err)
{
	struct ks_span rest = ks_buf_span(&worker->batch->chunk.text);
	struct ks_span line;
	enum ks_status status = KS_OK;

	worker->line = worker->batch->chunk.line;
	while (next_line(&rest, &line)) {
		if (!is_blank(line))
			status = read_value(worker, line, err);
		if (status != KS_OK)
			break;
		worker->line++;
	}
	return status;
}

static void
name_place(const struct worker *worker, struct ks_error *err)
{
	char name[256];

	(void)ks_printable(name, sizeof(name),
		ks_span_text(worker->batch->chunk.name));
	if (worker->line == 0)
		(void)ks_context(err, "%s", name);
	else
		(void)ks_context(err, "%s:%llu", name,
			(unsigned long long)worker->line);
}

static void
work(void *arg, unsigned number, void *job)
{
	struct gathering *gathering = arg;
	struct worker *worker = &gathering->workers[number];
	struct batch *batch = job;

	worker->batch = batch;
	worker->policy = &gathering->policy;
	worker->line = 0;
	if (batch->chunk.line > 0)
		batch->status = read_lines(worker, &batch->err);
	else
		batch->status = read_value(worker,
			ks_buf_span(&batch->chunk.text), &batch->err);
	if (batch->status == KS_INVALID)
		name_place(worker, &batch->err);
}

/* ---- in the calling thread --------------------------------------------- */

static struct ks_span
span_of(const struct batch *batch, struct piece piece)
{
	return ks_span(batch->text.data + piece.at, piece.len);
}

static enum ks_status
hand_on(const struct ks_gather_sink *sink, const struct batch *batch,
	const struct found *found, struct ks_error *err)
{
	struct ks_gathered out = {
		.place = { batch->chunk.name, found->line },
		.digest = found->digest,
		.kind = found->kind,
		.body = span_of(batch, found->body),
		.metadata = span_of(batch, found->metadata),
		.provenance = span_of(batch, found->provenance),
		.reason = span_of(batch, found->reason),
		.retracted_at = span_of(batch, found->retracted_at),
		.id = found->id,
		.project = found->project,
		.source = found->source,
		.supersedes = found->supersedes,
		.partial = found->partial,
		.stated = found->stated,
		.reference_count = found->reference_count,
	};

	if (found->reference_count > 0)
		out.references = batch->references + found->first_reference;
	out.full_kind = found->kind == NULL ?
		span_of(batch, found->full_kind) :
		ks_span_text(ks_kind_full_name(found->kind));
	return sink->manifest(sink->arg, &out, err);
}

static enum ks_status
hand_on_alias(const struct ks_gather_sink *sink, const struct batch *batch,
	const struct found *found, struct ks_error *err)
{
	struct ks_place place = { batch->chunk.name, found->line };

	return sink->alias(sink->arg, &place, found->id.bytes,
		span_of(batch, found->alias), err);
}

/* Pass on what a batch holds, in order. */
static enum ks_status
deliver(struct gathering *gathering, const struct batch *batch,
	struct ks_error *err)
{
	const struct ks_gather_sink *sink = gathering->sink;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < batch->found_count; i++) {
		const struct found *found = &batch->found[i];

		if (!found->is_alias)
			status = hand_on(sink, batch, found, err);
		else if (sink->alias != NULL)
			status = hand_on_alias(sink, batch, found, err);
	}
	return status;
}

static void
pass_notes(struct gathering *gathering, const struct batch *batch)
{
	char name[256], place[300];
	size_t at = 0;

	(void)ks_printable(name, sizeof(name),
		ks_span_text(batch->chunk.name));
	while (at < batch->notes.len && !batch->notes.failed) {
		const uint8_t *note = batch->notes.data + at;
		const char *text = (const char *)note + sizeof(uint64_t);
		uint64_t line;

		memcpy(&line, note, sizeof(line));
		if (line == 0)
			(void)snprintf(place, sizeof(place), "%s", name);
		else
			(void)snprintf(place, sizeof(place), "%s:%llu", name,
				(unsigned long long)line);
		ks_notes_add(&gathering->notes, line, place, text);
		at += sizeof(line) + strlen(text) + 1;
	}
}

static enum ks_status
consume(struct gathering *gathering, struct batch *batch,
	struct ks_error *err)
{
	struct ks_gather_counts *counts = gathering->counts;
	enum ks_status status;

	pass_notes(gathering, batch);
	counts->manifests += batch->counts.manifests;
	counts->rows += batch->counts.rows;
	counts->derived_rows += batch->counts.derived_rows;
	counts->unknown_rows += batch->counts.unknown_rows;
	counts->stated_digests += batch->counts.stated_digests;
	counts->notes += batch->counts.notes;
	/* Pieces of a buffer that failed point nowhere. */
	status = ks_buf_check(&batch->text, err);
	if (status == KS_OK)
		status = deliver(gathering, batch, err);
	if (status == KS_OK && batch->status != KS_OK) {
		status = batch->status;
		if (err != NULL)
			*err = batch->err;
	}
	return status;
}

static void
release_batch(struct batch *batch)
{
	ks_buf_release(&batch->chunk.text);
	ks_buf_release(&batch->text);
	ks_buf_release(&batch->notes);
	free(batch->found);
	free(batch->references);
}

static void
reset_batch(struct batch *batch)
{
	ks_buf_clear(&batch->text);
	ks_buf_clear(&batch->notes);
	batch->found_count = batch->reference_count = 0;
	memset(&batch->counts, 0, sizeof(batch->counts));
	batch->status = KS_OK;
}

static enum ks_status
make_workers(struct gathering *gathering, unsigned count,
	struct ks_error *err)
{
	unsigned i;
	enum ks_status status = KS_OK;

	gathering->workers = calloc(count, sizeof(*gathering->workers));
	if (gathering->workers == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < count; i++) {
		gathering->workers[i].intake =
			(struct ks_intake)KS_INTAKE_INIT;
		status = ks_jcs_new(&gathering->workers[i].jcs, err);
	}
	return status;
}

static void
free_workers(struct gathering *gathering, unsigned count)
{
	unsigned i;
	size_t slot;

	for (i = 0; gathering->workers != NULL && i < count; i++) {
		struct worker *worker = &gathering->workers[i];

		ks_jcs_free(worker->jcs);
		ks_intake_release(&worker->intake);
		for (slot = 0; slot < REPEATED_SLOTS; slot++)
			ks_buf_release(&worker->repeated[slot].text);
		ks_buf_release(&worker->canonical);
		ks_buf_release(&worker->skipped);
		ks_buf_release(&worker->body);
	}
	free(gathering->workers);
}

/* Read, work, deliver, until the input ends or something is refused. */
static enum ks_status
pump(struct gathering *gathering, struct ks_input *input,
	struct ks_pool *pool, struct batch *batches, struct ks_error *err)
{
	size_t next = 0;
	bool more = true;
	enum ks_status status = KS_OK;

	while (status == KS_OK && more) {
		struct batch *batch = &batches[next++ % KS_POOL_WINDOW];

		if (ks_pool_is_full(pool))
			status = consume(gathering, ks_pool_pull(pool), err);
		if (status == KS_OK)
			status = ks_watch_check(gathering->watch, err);
		if (status != KS_OK)
			break;
		reset_batch(batch);
		status = ks_input_next(input, &batch->chunk, &more, err);
		if (status == KS_OK && more)
			ks_pool_push(pool, batch);
		ks_watch_progress(gathering->watch, "reading",
			ks_input_done(input), ks_input_total(input));
	}
	/* What stands before a text that cannot be read is judged first. */
	for (;;) {
		struct batch *batch = ks_pool_pull(pool);
		struct ks_error earlier = KS_ERROR_INIT;
		enum ks_status before;

		if (batch == NULL)
			return status;
		if (status == KS_OK) {
			status = consume(gathering, batch, err);
		} else if (batch->status != KS_OK) {
			before = consume(gathering, batch, &earlier);
			if (err != NULL)
				*err = earlier;
			return before;
		}
	}
}

static enum ks_status
run(struct gathering *gathering, struct ks_input *input, struct ks_pool *pool,
	struct ks_error *err)
{
	struct batch *batches = calloc(KS_POOL_WINDOW, sizeof(*batches));
	size_t i;
	enum ks_status status;

	if (batches == NULL)
		return ks_fail_nomem(err);
	status = pump(gathering, input, pool, batches, err);
	/* Batches that were not pulled may still be worked on. */
	ks_pool_drain(pool);
	for (i = 0; i < KS_POOL_WINDOW; i++)
		release_batch(&batches[i]);
	free(batches);
	return status;
}

static struct ks_record_policy
record_policy(const struct ks_intake_policy *policy)
{
	return (struct ks_record_policy){
		.allow_unknown_kind = policy->allow_unknown_kind,
		.strict = policy->strict
	};
}

enum ks_status
ks_gather(const char *const *paths, size_t count,
	const struct ks_intake_policy *policy,
	const struct ks_gather_sink *sink, struct ks_gather_counts *counts,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct gathering gathering = {
		.policy = record_policy(policy),
		.sink = sink,
		.counts = counts,
		.watch = watch,
		.notes = { .watch = watch }
	};
	struct ks_input *input = NULL;
	struct ks_pool *pool = NULL;
	enum ks_status status;

	memset(counts, 0, sizeof(*counts));
	status = ks_input_new(&input, paths, count, watch, err);
	if (status == KS_OK)
		status = ks_pool_new(&pool, 0, work, &gathering, err);
	if (status == KS_OK)
		status = make_workers(&gathering, ks_pool_workers(pool), err);
	if (status == KS_OK)
		status = run(&gathering, input, pool, err);
	ks_notes_tell(&gathering.notes);
	ks_notes_release(&gathering.notes);
	if (status == KS_OK && counts->manifests == 0 && counts->rows == 0)
		status = ks_fail(err, KS_INVALID, "no manifest in the input");
	free_workers(&gathering, pool == NULL ? 0 : ks_pool_workers(pool));
	ks_pool_free(pool);
	ks_input_free(input);
	return status;
}

enum ks_status
ks_gather_text(struct ks_span text, const char *name,
	const struct ks_intake_policy *policy,
	const struct ks_gather_sink *sink, struct ks_error *err)
{
	struct ks_gather_counts counts = { 0 };
	struct gathering gathering = {
		.policy = record_policy(policy),
		.sink = sink,
		.counts = &counts
	};
	struct batch batch;
	enum ks_status status = make_workers(&gathering, 1, err);

	memset(&batch, 0, sizeof(batch));
	batch.chunk.name = name;
	ks_buf_append(&batch.chunk.text, text);
	if (status == KS_OK)
		status = ks_buf_check(&batch.chunk.text, err);
	if (status == KS_OK) {
		work(&gathering, 0, &batch);
		status = consume(&gathering, &batch, err);
	}
	ks_notes_release(&gathering.notes);
	release_batch(&batch);
	free_workers(&gathering, 1);
	return status;
}
