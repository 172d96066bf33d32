#include "store/reader.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "format/digest.h"
#include "format/json.h"
#include "store/attesters.h"
#include "store/lines.h"

/* A record that others refer to: kept, since many do. The number stands
 * first: it is the key of the map. */
struct kept {
	uint64_t object;
	struct ks_found *found;
};

struct ks_reader {
	struct ks_catalogue *catalogue;
	struct ks_store *store;
	struct ks_lines *lines;
	struct ks_rows *rows;
	struct ks_found current;	/* what was asked for itself */
	struct kept *kept;
	size_t kept_room;
	struct ks_idmap by_object;
};

struct ks_span
ks_found_text(const struct ks_found *found, unsigned which)
{
	return ks_facts_text(&found->facts, &found->store, which);
}

/* ---- memory ------------------------------------------------------------- */

static void
release_found(struct ks_found *found)
{
	ks_buf_release(&found->body);
	ks_buf_release(&found->notes);
	ks_fact_store_release(&found->store);
}

static void
forget_kept(struct ks_reader *reader)
{
	uint32_t i;

	for (i = 0; i < reader->by_object.used; i++) {
		release_found(reader->kept[i].found);
		free(reader->kept[i].found);
	}
	ks_idmap_release(&reader->by_object);
	ks_idmap_init(&reader->by_object, sizeof(uint64_t),
		sizeof(struct kept));
}

enum ks_status
ks_reader_new(struct ks_reader **out, struct ks_catalogue *catalogue,
	struct ks_error *err)
{
	struct ks_reader *reader = calloc(1, sizeof(*reader));
	enum ks_status status;

	*out = NULL;
	if (reader == NULL)
		return ks_fail_nomem(err);
	reader->catalogue = catalogue;
	reader->store = catalogue->store;
	ks_idmap_init(&reader->by_object, sizeof(uint64_t),
		sizeof(struct kept));
	status = ks_lines_new(&reader->lines, reader->store->db,
		&reader->store->tree, err);
	if (status == KS_OK)
		status = ks_rows_new(&reader->rows,
			ks_catalogue_tables(catalogue), false, err);
	if (status != KS_OK) {
		ks_reader_free(reader);
		return status;
	}
	*out = reader;
	return KS_OK;
}

void
ks_reader_free(struct ks_reader *reader)
{
	if (reader == NULL)
		return;
	forget_kept(reader);
	ks_idmap_release(&reader->by_object);
	free(reader->kept);
	release_found(&reader->current);
	ks_lines_free(reader->lines);
	ks_rows_free(reader->rows);
	free(reader);
}

/* ---- notes -------------------------------------------------------------- */

static enum ks_status
index_is_wrong(struct ks_reader *reader, const struct ks_id *digest,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];

	ks_index_distrust(reader->catalogue->index);
	return ks_fail(err, KS_IO, KS_INDEX_NAME " is wrong about %s (the next "
		"command builds it anew)", ks_id_print(digest, text));
}

/* Append a member of the line that the index names, which must be one about
 * this very record. */
static enum ks_status
read_note(struct ks_reader *reader, struct ks_found *found, uint64_t index,
	const char *member, size_t *len, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	struct ks_span line, value;
	enum ks_status status;

	*len = 0;
	if (index == KS_NO_LINE)
		return KS_OK;
	status = ks_lines_get(reader->lines, index, &line, err);
	if (status == KS_OK)
		status = ks_jcs_check(reader->store->jcs, line,
			&ks_jcs_manifest, err);
	if (status == KS_INVALID || status == KS_NOT_FOUND)
		return index_is_wrong(reader, &found->subject.digest, err);
	if (status != KS_OK)
		return status;
	if (!ks_json_is(ks_json_get(line, "digest"), ks_id_print(
		&found->subject.digest, text)))
		return index_is_wrong(reader, &found->subject.digest, err);
	value = ks_json_get(line, member);
	ks_buf_append(&found->notes, value);
	*len = value.len;
	return ks_buf_check(&found->notes, err);
}

static enum ks_status
read_notes(struct ks_reader *reader, struct ks_found *found,
	struct ks_error *err)
{
	size_t metadata = 0, provenance = 0;
	enum ks_status status;

	ks_buf_clear(&found->notes);
	status = read_note(reader, found, found->subject.metadata_line,
		"metadata", &metadata, err);
	if (status == KS_OK)
		status = read_note(reader, found,
			found->subject.provenance_line, "provenance",
			&provenance, err);
	if (status != KS_OK)
		return status;
	found->metadata = ks_span(found->notes.data, metadata);
	found->provenance = ks_span(provenance == 0 ? NULL :
		found->notes.data + metadata, provenance);
	return KS_OK;
}

/* ---- records ------------------------------------------------------------ */

/* Read the body. That it cannot be had is something to be told. */
static enum ks_status
read_body(struct ks_reader *reader, struct ks_found *found,
	struct ks_error *err)
{
	enum ks_status status;

	ks_buf_clear(&found->body);
	status = ks_store_body(reader->store, &found->subject.digest,
		&found->body, &found->why);
	if (status == KS_NOT_FOUND && !ks_store_has(reader->store,
		&found->subject.digest))
		status = ks_store_explain_absence(reader->store,
			&found->subject.digest, &found->why);
	found->is_there = status == KS_OK;
	found->problem = status;
	if (status == KS_CORRUPT || status == KS_NOT_FOUND)
		return KS_OK;
	if (status != KS_OK && err != NULL)
		*err = found->why;
	return status;
}

/* Take the facts of what was read. */
static enum ks_status
derive(struct ks_reader *reader, struct ks_found *found, struct ks_error *err)
{
	bool is_raw = strcmp(found->subject.kind, "raw") == 0;
	struct ks_fact_origin origin = {
		.kind = ks_span_text(found->subject.kind),
		.metadata = found->metadata,
		.provenance = found->provenance
	};
	struct ks_record record;
	enum ks_status status = KS_OK;

	if (is_raw)
		ks_buf_clear(&found->body);
	else if (found->is_there)
		status = ks_record_judge(reader->store->jcs,
			ks_buf_span(&found->body), &record, err);
	if (status == KS_OK && found->is_there && !is_raw)
		origin.record = &record;
	if (status == KS_INVALID)
		status = KS_OK;
	if (status != KS_OK)
		return status;
	ks_fact_store_clear(&found->store);
	ks_facts_derive(&found->facts, &found->store, &origin);
	if (found->is_there && !is_raw && !found->facts.is_readable) {
		found->is_there = false;
		found->problem = ks_fail(&found->why, KS_CORRUPT,
			"its bytes are not of the kind that the log says");
	}
	return ks_fact_store_check(&found->store, err);
}

static bool
is_run(const struct ks_found *found)
{
	return ks_facts_is_benchmark(found->facts.kind) ||
		ks_facts_is_serving(found->facts.kind);
}

static enum ks_status
compare(struct ks_reader *reader, const struct ks_found *found,
	struct ks_error *err)
{
	struct ks_id key;
	bool same = true, has_key = false;
	enum ks_status status = KS_OK;

	if (!found->is_there)
		return KS_OK;
	if (is_run(found))
		status = ks_reader_key(reader, found, &key, &has_key, err);
	if (status == KS_OK)
		status = ks_rows_compare(reader->rows, &found->subject,
			&found->facts, &found->store, has_key ? &key : NULL,
			&same, err);
	if (status == KS_OK && !same)
		status = index_is_wrong(reader, &found->subject.digest, err);
	return status;
}

static enum ks_status
load(struct ks_reader *reader, uint64_t object, struct ks_found *found,
	struct ks_error *err)
{
	struct ks_id none;
	enum ks_status status;

	if (!ks_rows_subject(reader->rows, object, &found->subject)) {
		memset(&none, 0, sizeof(none));
		status = ks_db_check(ks_catalogue_tables(reader->catalogue),
			err);
		return status != KS_OK ? status : index_is_wrong(reader,
			&none, err);
	}
	status = read_notes(reader, found, err);
	if (status == KS_OK)
		status = read_body(reader, found, err);
	return status == KS_OK ? derive(reader, found, err) : status;
}

enum ks_status
ks_reader_get(struct ks_reader *reader, uint64_t object,
	const struct ks_found **out, struct ks_error *err)
{
	enum ks_status status;

	if (reader->by_object.used >= KS_READER_KEPT)
		forget_kept(reader);
	*out = &reader->current;
	status = load(reader, object, &reader->current, err);
	return status == KS_OK ? compare(reader, &reader->current, err) :
		status;
}

/* ---- relations ---------------------------------------------------------- */

/* Make room for one more. */
static enum ks_status
grow(struct ks_reader *reader, struct ks_error *err)
{
	struct kept *grown = ks_grow(reader->kept, reader->by_object.used,
		&reader->kept_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	reader->kept = grown;
	return KS_OK;
}

static enum ks_status
get_kept(struct ks_reader *reader, uint64_t object,
	const struct ks_found **out, struct ks_error *err)
{
	uint32_t at = ks_idmap_find(&reader->by_object, reader->kept,
		&object);
	struct ks_found *found;
	enum ks_status status;

	if (at != KS_IDMAP_NONE) {
		*out = reader->kept[at].found;
		return KS_OK;
	}
	found = calloc(1, sizeof(*found));
	if (found == NULL)
		return ks_fail_nomem(err);
	status = load(reader, object, found, err);
	if (status == KS_OK)
		status = compare(reader, found, err);
	if (status == KS_OK)
		status = grow(reader, err);
	if (status == KS_OK) {
		at = reader->by_object.used;
		reader->kept[at] = (struct kept){ object, found };
		if (!ks_idmap_add(&reader->by_object, reader->kept))
			status = ks_fail_nomem(err);
	}
	if (status != KS_OK) {
		release_found(found);
		free(found);
		return status;
	}
	*out = found;
	return KS_OK;
}

/* Whether there is a record of that number: it was not taken down. */
static bool
is_here(struct ks_reader *reader, uint64_t object)
{
	struct ks_subject subject;

	return ks_idmap_find(&reader->by_object, reader->kept, &object) !=
		KS_IDMAP_NONE || ks_rows_subject(reader->rows, object,
		&subject);
}

/* The relation that the first step of a path names. */
static enum ks_relation
first_step(const char *path, size_t *len)
{
	unsigned i;

	*len = strcspn(path, ".");
	for (i = 0; i < KS_RELATION_COUNT; i++)
		if (ks_span_equal(ks_span(path, *len),
			ks_span_text(ks_relation_column(i))))
			break;
	return i;
}

enum ks_status
ks_reader_follow(struct ks_reader *reader, const struct ks_found *from,
	const char *path, const struct ks_found **out, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	*out = from;
	while (status == KS_OK && *out != NULL && *path != '\0') {
		const struct ks_facts *facts = &(*out)->facts;
		size_t len;
		enum ks_relation step = first_step(path, &len);
		uint64_t object = step == KS_RELATION_COUNT ||
			(facts->related >> step & 1) == 0 ? KS_NO_LINE :
			ks_rows_find(reader->rows, &facts->relations[step]);

		path += len + (path[len] == '.' ? 1 : 0);
		if (object == KS_NO_LINE || !is_here(reader, object)) {
			*out = NULL;
			break;
		}
		status = get_kept(reader, object, out, err);
		if (status == KS_OK && !(*out)->is_there)
			*out = NULL;
	}
	return status == KS_OK ? ks_db_check(ks_catalogue_tables(
		reader->catalogue), err) : status;
}

/* ---- what follows from several ------------------------------------------ */

enum ks_status
ks_reader_key(struct ks_reader *reader, const struct ks_found *run,
	struct ks_id *key, bool *has_key, struct ks_error *err)
{
	const struct ks_found *workload = NULL, *model = NULL;
	enum ks_status status = ks_reader_follow(reader, run, "workload",
		&workload, err);

	*has_key = false;
	if (status == KS_OK)
		status = ks_reader_follow(reader, run, "model", &model, err);
	if (status != KS_OK || workload == NULL)
		return status;
	status = ks_facts_key(run->facts.kind, ks_found_text(run,
		KS_FACT_SPEC), ks_found_text(workload, KS_TERM_PART),
		model == NULL ? ks_span(NULL, 0) : ks_found_text(model,
		KS_TERM_PART), key);
	if (status == KS_NOMEM)
		return ks_fail_nomem(err);
	*has_key = status == KS_OK;
	return KS_OK;
}

/* Whether one of the attestations that the catalogue knows of counts. */
static enum ks_status
is_rerun(struct ks_reader *reader, const struct ks_found *run, bool *rerun,
	struct ks_error *err)
{
	struct ks_db *tables = ks_catalogue_tables(reader->catalogue);
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_CATALOGUE_RERUNS_OF);
	struct ks_buf digests = KS_BUF_INIT;
	struct ks_id digest, subject;
	size_t i;
	enum ks_status status;

	*rerun = false;
	ks_db_bind_number(stmt, 1, run->subject.object);
	while (ks_db_next(tables, stmt))
		ks_buf_append(&digests, ks_db_bytes(stmt, 0));
	status = ks_buf_check(&digests, err);
	for (i = 0; status == KS_OK && !*rerun &&
		i + KS_ID_BYTES <= digests.len; i += KS_ID_BYTES) {
		memcpy(digest.bytes, digests.data + i, KS_ID_BYTES);
		status = ks_store_rerun(reader->store, &digest, &subject,
			rerun, err);
		if (status == KS_CORRUPT || status == KS_NOT_FOUND)
			status = KS_OK;
		else if (*rerun)
			*rerun = ks_id_equal(&subject, &run->subject.digest);
	}
	ks_buf_release(&digests);
	return status;
}

enum ks_status
ks_reader_evidence(struct ks_reader *reader, const struct ks_found *run,
	enum ks_evidence *evidence, struct ks_error *err)
{
	struct ks_evidence_facts facts = { .has_raw = run->facts.has_raw };
	const struct ks_found *implementation;
	enum ks_status status = ks_reader_follow(reader, run,
		"implementation", &implementation, err);

	if (status == KS_OK)
		status = is_rerun(reader, run, &facts.is_rerun, err);
	if (status != KS_OK)
		return status;
	facts.has_source = implementation != NULL &&
		implementation->facts.has_source;
	*evidence = ks_evidence_level(&facts);
	return KS_OK;
}
