#include "format/citation.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/digest.h"
#include "format/entry.h"
#include "format/json.h"
#include "format/tlogproof.h"

/* Nesting: the file, its objects, one of them, its lines, one of them, a
 * text. */
#define DEPTH 6

/* A line of the log and what puts it there. */
struct line {
	uint64_t index;
	struct ks_buf text;
	struct ks_buf proof;	/* a tlog-proof */
};

struct object {
	struct ks_id digest;
	struct ks_buf body;
	struct line lines[KS_CITATION_LINES];
	size_t line_count;
	/* What these say, once judged; spans lie in them. */
	struct ks_record record;
	struct ks_span kind, at, missing;
	struct ks_span metadata, provenance;
	struct ks_provenance claims;
	bool is_reached;	/* from the record that is cited */
};

struct ks_citation {
	struct ks_id record;
	struct ks_buf accessed, note, text;
	struct ks_checkpoint checkpoint;	/* in `note` */
	struct object *objects;		/* ascending by digest, once judged */
	size_t count, room;
	size_t cited;			/* number of the record among them,
					 * likewise */
	struct ks_citetext parts;
	struct ks_jcs *jcs;
};

/* ---- making ------------------------------------------------------------- */

static enum ks_status
make_empty(struct ks_citation **out, struct ks_error *err)
{
	struct ks_citation *citation = calloc(1, sizeof(*citation));
	enum ks_status status;

	*out = NULL;
	if (citation == NULL)
		return ks_fail_nomem(err);
	status = ks_jcs_new(&citation->jcs, err);
	if (status != KS_OK) {
		ks_citation_free(citation);
		return status;
	}
	*out = citation;
	return KS_OK;
}

/* The note that all proofs end in (A5): three lines, as a log of kistore's
 * signs them (S1). */
static enum ks_status
set_note(struct ks_citation *citation, struct ks_span note,
	struct ks_error *err)
{
	enum ks_status status;

	ks_buf_append(&citation->note, note);
	status = ks_buf_check(&citation->note, err);
	if (status == KS_OK)
		status = ks_checkpoint_of_note(ks_buf_span(&citation->note),
			&citation->checkpoint, err);
	if (status == KS_OK && citation->checkpoint.extension.len > 0)
		status = ks_fail(err, KS_CORRUPT, "the checkpoint has more "
			"than three lines of text (S1)");
	return status;
}

static enum ks_status
set_accessed(struct ks_citation *citation, struct ks_span day,
	struct ks_error *err)
{
	if (!ks_citetext_is_day(day))
		return ks_fail(err, KS_INVALID, "the day of access is not "
			"YYYY-MM-DD (A2)");
	ks_buf_append(&citation->accessed, day);
	return ks_buf_check(&citation->accessed, err);
}

enum ks_status
ks_citation_new(struct ks_citation **out, const struct ks_id *record,
	struct ks_span accessed, struct ks_span note, struct ks_error *err)
{
	enum ks_status status = make_empty(out, err);

	if (status != KS_OK)
		return status;
	(*out)->record = *record;
	status = set_accessed(*out, accessed, err);
	if (status == KS_OK)
		status = set_note(*out, note, err);
	if (status != KS_OK) {
		ks_citation_free(*out);
		*out = NULL;
	}
	return status;
}

static void
release_object(struct object *object)
{
	size_t i;

	ks_buf_release(&object->body);
	for (i = 0; i < object->line_count; i++) {
		ks_buf_release(&object->lines[i].text);
		ks_buf_release(&object->lines[i].proof);
	}
}

void
ks_citation_free(struct ks_citation *citation)
{
	size_t i;

	if (citation == NULL)
		return;
	for (i = 0; i < citation->count; i++)
		release_object(&citation->objects[i]);
	free(citation->objects);
	ks_buf_release(&citation->accessed);
	ks_buf_release(&citation->note);
	ks_buf_release(&citation->text);
	ks_citetext_release(&citation->parts);
	ks_jcs_free(citation->jcs);
	free(citation);
}

/* One more object, empty, or NULL. */
static struct object *
add_object(struct ks_citation *citation, const struct ks_id *digest,
	struct ks_error *err)
{
	struct object *grown;

	if (citation->count == KS_CITATION_OBJECTS) {
		(void)ks_fail(err, KS_INVALID, "more than %d objects (B24)",
			KS_CITATION_OBJECTS);
		return NULL;
	}
	grown = ks_grow(citation->objects, citation->count, &citation->room,
		sizeof(*grown), err);
	if (grown == NULL)
		return NULL;
	citation->objects = grown;
	grown += citation->count++;
	memset(grown, 0, sizeof(*grown));
	grown->digest = *digest;
	return grown;
}

enum ks_status
ks_citation_add(struct ks_citation *citation, const struct ks_id *digest,
	struct ks_span body, struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	struct object *object = add_object(citation, digest, &why);

	if (object == NULL)
		return ks_fail(err, why.status, "%s", why.message);
	ks_buf_append(&object->body, body);
	return ks_buf_check(&object->body, err);
}

/* Lines may come in any order. */
static struct line *
add_line(struct object *object, uint64_t index)
{
	size_t i = object->line_count++;

	for (; i > 0 && object->lines[i - 1].index > index; i--)
		object->lines[i] = object->lines[i - 1];
	memset(&object->lines[i], 0, sizeof(object->lines[i]));
	object->lines[i].index = index;
	return &object->lines[i];
}

enum ks_status
ks_citation_add_line(struct ks_citation *citation, struct ks_span text,
	uint64_t index, const struct ks_proof *proof, struct ks_error *err)
{
	struct object *object = citation->count == 0 ? NULL :
		&citation->objects[citation->count - 1];
	struct ks_tlogproof written = { .index = index, .proof = *proof,
		.note = ks_buf_span(&citation->note) };
	struct line *line;
	enum ks_status status;

	if (object == NULL || object->line_count == KS_CITATION_LINES)
		return ks_fail(err, KS_INVALID, "an object has at most %d "
			"lines (A4)", KS_CITATION_LINES);
	line = add_line(object, index);
	ks_buf_append(&line->text, text);
	status = ks_buf_check(&line->text, err);
	return status != KS_OK ? status : ks_tlogproof_write(&written,
		&line->proof, err);
}

bool
ks_citation_has(const struct ks_citation *citation,
	const struct ks_id *digest)
{
	size_t i;

	for (i = 0; i < citation->count; i++)
		if (ks_id_equal(&citation->objects[i].digest, digest))
			return true;
	return false;
}

static int
by_digest(const void *a, const void *b)
{
	return ks_id_compare(&((const struct object *)a)->digest,
		&((const struct object *)b)->digest);
}

/* Once they are in order. */
static struct object *
find_object(const struct ks_citation *citation, const struct ks_id *digest)
{
	const struct object key = { .digest = *digest };

	return citation->count == 0 ? NULL : bsearch(&key, citation->objects,
		citation->count, sizeof(key), by_digest);
}

/* ---- judging an object -------------------------------------------------- */

/* What is wrong, and with which object. */
static enum ks_status
fail_object(const struct object *object, const char *what,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];

	return ks_fail(err, KS_CORRUPT, "%s: %s", ks_id_print(&object->digest,
		text), what);
}

/* A6: the bytes are those that the digest names, and a record. */
static enum ks_status
judge_body(struct ks_citation *citation, struct object *object,
	struct ks_error *err)
{
	struct ks_span body = ks_buf_span(&object->body);
	struct ks_error why = KS_ERROR_INIT;
	struct ks_id digest;
	enum ks_status status;

	ks_sha256(body, &digest);
	if (!ks_id_equal(&digest, &object->digest))
		return fail_object(object, "the body is not what this digest "
			"names (A6)", err);
	status = ks_record_judge(citation->jcs, body, &object->record, &why);
	if (status == KS_INVALID)
		return fail_object(object, "the body is no record (A6)", err);
	return status == KS_OK ? KS_OK : ks_fail(err, status, "%s",
		why.message);
}

/* A7: the line stands in the log that the note signs. */
static enum ks_status
judge_proof(struct ks_citation *citation, const struct object *object,
	struct line *line, struct ks_error *err)
{
	const struct ks_checkpoint *log = &citation->checkpoint;
	struct ks_error why = KS_ERROR_INIT;
	struct ks_tlogproof proof;
	struct ks_id leaf;

	if (ks_tlogproof_parse(ks_buf_span(&line->proof), false, &proof,
		&why) != KS_OK)
		return fail_object(object, why.message, err);
	line->index = proof.index;
	if (!ks_span_equal(proof.note, ks_buf_span(&citation->note)))
		return fail_object(object, "its proof ends in another note "
			"than the others (A5)", err);
	ks_entry_leaf(ks_buf_span(&line->text), &leaf);
	if (!ks_proof_check_inclusion(&leaf, proof.index, log->size,
		&proof.proof, &log->root))
		return fail_object(object, "a line is not proven to stand in "
			"the log (A7)", err);
	return KS_OK;
}

/* The publish line, first (A4). */
static enum ks_status
take_publish(struct object *object, const struct ks_entry *entry,
	struct ks_error *err)
{
	struct ks_buf kind = KS_BUF_INIT;
	bool is_right;

	ks_record_full_kind(&object->record, &kind);
	is_right = !kind.failed && ks_span_equal(ks_buf_span(&kind),
		entry->kind);
	if (kind.failed) {
		ks_buf_release(&kind);
		return ks_fail_nomem(err);
	}
	ks_buf_release(&kind);
	if (!is_right)
		return fail_object(object, "its publish line says another "
			"kind (A6)", err);
	object->kind = entry->kind;
	object->at = entry->at;
	object->missing = entry->missing;
	object->metadata = entry->metadata;
	object->provenance = entry->provenance;
	object->claims = entry->claims;
	return KS_OK;
}

/* An annotate line: each member that it carries replaces the former one. The
 * last two arguments are which one of each the later lines carry. */
static enum ks_status
take_annotate(struct object *object, const struct ks_entry *entry,
	bool *metadata, bool *provenance, struct ks_error *err)
{
	bool is_needed = false;

	if (entry->metadata.len > 0 && !*metadata) {
		*metadata = is_needed = true;
		object->metadata = entry->metadata;
	}
	if (entry->provenance.len > 0 && !*provenance) {
		*provenance = is_needed = true;
		object->provenance = entry->provenance;
		object->claims = entry->claims;
	}
	return is_needed ? KS_OK : fail_object(object, "an annotate line is "
		"not the newest that says something (A4)", err);
}

/* The proof comes first: what does not stand in the log is not of a newer
 * version (E9). */
static enum ks_status
parse_line(struct ks_citation *citation, const struct object *object,
	struct line *line, enum ks_op op, struct ks_entry *entry,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	enum ks_status status = judge_proof(citation, object, line, err);

	if (status != KS_OK)
		return status;
	status = ks_entry_parse(citation->jcs, ks_buf_span(&line->text),
		entry, err);
	if (status != KS_OK)
		return status == KS_NOMEM ? status : ks_context(err, "%s",
			ks_id_print(&object->digest, text));
	if (entry->op != op)
		return fail_object(object, "its lines are not one publish line "
			"and annotate lines after it (A4)", err);
	if (!ks_id_equal(&entry->digest, &object->digest))
		return fail_object(object, "a line is about another object "
			"(A4)", err);
	return KS_OK;
}

/* The newest line first, so that each shows what it is there for. */
static enum ks_status
judge_lines(struct ks_citation *citation, struct object *object,
	struct ks_error *err)
{
	bool metadata = false, provenance = false;
	struct ks_entry entry;
	size_t i;
	enum ks_status status;

	if (object->line_count == 0)
		return fail_object(object, "has no line of the log (A4)", err);
	status = parse_line(citation, object, &object->lines[0],
		KS_OP_PUBLISH, &entry, err);
	if (status == KS_OK)
		status = take_publish(object, &entry, err);
	for (i = object->line_count; status == KS_OK && i-- > 1; ) {
		status = parse_line(citation, object, &object->lines[i],
			KS_OP_ANNOTATE, &entry, err);
		if (status == KS_OK)
			status = take_annotate(object, &entry, &metadata,
				&provenance, err);
	}
	for (i = 1; status == KS_OK && i < object->line_count; i++)
		if (object->lines[i - 1].index >= object->lines[i].index)
			status = fail_object(object, "its lines do not ascend "
				"(A4)", err);
	return status;
}

/* ---- judging the whole -------------------------------------------------- */

struct reaching {
	struct ks_citation *citation;
	struct object *from;
	size_t *open;		/* numbers of objects to go on from */
	size_t count;
	enum ks_status status;
	struct ks_error *err;
};

/* Whether a reference was open when the object was published. */
static bool
was_missing(const struct object *object, const struct ks_id *target)
{
	struct ks_json_iter it = ks_json_iter(object->missing);
	char text[KS_ID_TEXT + 1];
	struct ks_span element;

	(void)ks_id_print(target, text);
	while (ks_json_next_element(&it, &element))
		if (ks_json_is(element, text))
			return true;
	return false;
}

/* A8: it is there, or never was when the object was published. */
static bool
reach(struct reaching *reaching, const struct ks_id *target)
{
	struct object *object = find_object(reaching->citation, target);
	char text[KS_ID_TEXT + 1], other[KS_ID_TEXT + 1];

	if (object == NULL && !was_missing(reaching->from, target))
		reaching->status = ks_fail(reaching->err, KS_CORRUPT, "%s "
			"refers to %s, which is not in the file (A8)",
			ks_id_print(&reaching->from->digest, text),
			ks_id_print(target, other));
	if (object != NULL && !object->is_reached) {
		object->is_reached = true;
		reaching->open[reaching->count++] = (size_t)(object -
			reaching->citation->objects);
	}
	return reaching->status == KS_OK;
}

static bool
reach_reference(void *arg, const struct ks_reference *reference)
{
	return reference->is_link || reach(arg, &reference->target);
}

static enum ks_status
reach_from(struct reaching *reaching, struct object *object)
{
	const struct ks_provenance *claims = &object->claims;

	reaching->from = object;
	if (object->record.kind != NULL && !ks_kind_references(
		object->record.kind, object->record.spec, reach_reference,
		reaching) && reaching->status == KS_OK)
		return ks_fail_nomem(reaching->err);
	if (reaching->status == KS_OK && claims->has_source)
		(void)reach(reaching, &claims->source);
	if (reaching->status == KS_OK && claims->has_project)
		(void)reach(reaching, &claims->project);
	return reaching->status;
}

/* A8: the record, all that it refers to, and nothing else. */
static enum ks_status
judge_closure(struct ks_citation *citation, struct ks_error *err)
{
	struct reaching reaching = { .citation = citation, .err = err };
	struct object *record = find_object(citation, &citation->record);
	size_t i;
	enum ks_status status = KS_OK;

	if (record == NULL)
		return ks_fail(err, KS_CORRUPT, "the record that is cited is "
			"not in the file (A3)");
	reaching.open = calloc(citation->count, sizeof(*reaching.open));
	if (reaching.open == NULL)
		return ks_fail_nomem(err);
	record->is_reached = true;
	citation->cited = (size_t)(record - citation->objects);
	reaching.open[reaching.count++] = citation->cited;
	while (status == KS_OK && reaching.count > 0)
		status = reach_from(&reaching, &citation->objects[
			reaching.open[--reaching.count]]);
	free(reaching.open);
	for (i = 0; status == KS_OK && i < citation->count; i++)
		if (!citation->objects[i].is_reached)
			status = fail_object(&citation->objects[i], "is "
				"nothing that the record refers to (A8)", err);
	return status;
}

static struct ks_named
name_object(const struct object *object)
{
	return (struct ks_named){
		.digest = object->digest, .is_named = true,
		.body = ks_buf_span(&object->body), .record = object->record,
		.metadata = object->metadata,
		.provenance = object->provenance
	};
}

static bool
find_named(void *arg, const struct ks_id *digest, struct ks_named *out)
{
	const struct object *object = find_object(arg, digest);

	if (object != NULL)
		*out = name_object(object);
	return object != NULL;
}

/* Make the text anew (A9). */
static enum ks_status
compose(struct ks_citation *citation, struct ks_buf *out,
	struct ks_error *err)
{
	const struct ks_named record = name_object(
		&citation->objects[citation->cited]);

	ks_citetext_compose(&citation->parts, &record, find_named, citation);
	ks_citetext_print(&citation->parts, ks_buf_span(&citation->accessed),
		out);
	return ks_buf_check(out, err);
}

static enum ks_status
judge(struct ks_citation *citation, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < citation->count; i++) {
		if (i > 0 && ks_id_compare(&citation->objects[i - 1].digest,
			&citation->objects[i].digest) >= 0)
			return fail_object(&citation->objects[i], "the objects "
				"do not ascend (A3)", err);
		status = judge_body(citation, &citation->objects[i], err);
		if (status == KS_OK)
			status = judge_lines(citation, &citation->objects[i],
				err);
	}
	return status == KS_OK ? judge_closure(citation, err) : status;
}

/* ---- writing ------------------------------------------------------------ */

static void
print_object(const struct object *object, struct ks_buf *out)
{
	char text[KS_ID_TEXT + 1];
	size_t i;

	ks_buf_text(out, "{\"body\":");
	ks_json_quote(out, ks_buf_span(&object->body));
	ks_buf_printf(out, ",\"digest\":\"%s\",\"lines\":[",
		ks_id_print(&object->digest, text));
	for (i = 0; i < object->line_count; i++) {
		ks_buf_text(out, i == 0 ? "{\"line\":" : ",{\"line\":");
		ks_json_quote(out, ks_buf_span(&object->lines[i].text));
		ks_buf_text(out, ",\"proof\":");
		ks_json_quote(out, ks_buf_span(&object->lines[i].proof));
		ks_buf_byte(out, '}');
	}
	ks_buf_text(out, "]}");
}

static void
print_file(const struct ks_citation *citation, struct ks_buf *out)
{
	char text[KS_ID_TEXT + 1];
	size_t i;

	ks_buf_text(out, "{\"accessed\":");
	ks_json_quote(out, ks_buf_span(&citation->accessed));
	ks_buf_text(out, ",\"citation\":");
	ks_json_quote(out, ks_buf_span(&citation->text));
	ks_buf_text(out, ",\"format\":\"" KS_CITATION_FORMAT
		"\",\"objects\":[");
	for (i = 0; i < citation->count; i++) {
		if (i > 0)
			ks_buf_byte(out, ',');
		print_object(&citation->objects[i], out);
	}
	ks_buf_printf(out, "],\"record\":\"%s\"}\n",
		ks_id_print(&citation->record, text));
}

enum ks_status
ks_citation_write(struct ks_citation *citation, struct ks_buf *out,
	struct ks_error *err)
{
	size_t before = out->len;
	enum ks_status status;

	if (citation->count > 1)
		qsort(citation->objects, citation->count,
			sizeof(*citation->objects), by_digest);
	status = judge(citation, err);
	if (status != KS_OK)
		return status;
	ks_citetext_release(&citation->parts);
	ks_buf_clear(&citation->text);
	status = compose(citation, &citation->text, err);
	if (status != KS_OK)
		return status;
	print_file(citation, out);
	if (!out->failed && out->len - before > KS_CITATION_MAX) {
		out->len = before;
		return ks_fail(err, KS_INVALID, "a citation file is at most "
			"%zu bytes (B24)", KS_CITATION_MAX);
	}
	return ks_buf_check(out, err);
}

/* ---- reading ------------------------------------------------------------ */

/* The values of an object that has exactly these members. */
static bool
take_members(struct ks_span object, const char *const *names, size_t count,
	struct ks_span *values)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, extra;
	size_t i;

	for (i = 0; i < count; i++)
		if (!ks_json_next_member(&it, &name, &values[i]) ||
			!ks_span_is(name, names[i]))
			return false;
	return !ks_json_next_member(&it, &name, &extra);
}

static bool
is_string(struct ks_span value)
{
	return value.len > 0 && ks_json_type(value) == KS_JSON_STRING;
}

static bool
is_list(struct ks_span value)
{
	return value.len > 0 && ks_json_type(value) == KS_JSON_ARRAY;
}

static enum ks_status
read_line(struct ks_citation *citation, struct object *object,
	struct ks_span value, struct ks_error *err)
{
	static const char *const names[] = { "line", "proof" };
	struct ks_tlogproof proof;
	struct ks_span values[2];
	struct line *line;
	enum ks_status status;

	if (!take_members(value, names, 2, values) || !is_string(values[0]) ||
		!is_string(values[1]))
		return fail_object(object, "a line is not {line, proof} (A4)",
			err);
	if (object->line_count == KS_CITATION_LINES)
		return fail_object(object, "has too many lines (A4)", err);
	/* In the place where it stands: the order is judged later. */
	line = &object->lines[object->line_count++];
	ks_json_unescape(&line->text, ks_json_raw(values[0]));
	ks_json_unescape(&line->proof, ks_json_raw(values[1]));
	status = ks_buf_check(&line->text, err);
	if (status == KS_OK)
		status = ks_buf_check(&line->proof, err);
	if (status != KS_OK || citation->note.len > 0)
		return status;
	/* The first proof gives the note, which the others must repeat. */
	status = ks_tlogproof_parse(ks_buf_span(&line->proof), false, &proof,
		err);
	return status != KS_OK ? status : set_note(citation, proof.note, err);
}

static enum ks_status
read_object(struct ks_citation *citation, struct ks_span value,
	struct ks_error *err)
{
	static const char *const names[] = { "body", "digest", "lines" };
	struct ks_span values[3], element;
	struct ks_json_iter it;
	struct object *object;
	struct ks_id digest;
	enum ks_status status;

	if (!take_members(value, names, 3, values) || !is_string(values[0]) ||
		!is_string(values[1]) || !is_list(values[2]) ||
		!ks_id_parse(&digest, ks_json_raw(values[1])))
		return ks_fail(err, KS_CORRUPT, "an object is not {body, "
			"digest, lines} (A3)");
	object = add_object(citation, &digest, err);
	if (object == NULL)
		return citation->count == KS_CITATION_OBJECTS ? KS_CORRUPT :
			KS_NOMEM;
	ks_json_unescape(&object->body, ks_json_raw(values[0]));
	status = ks_buf_check(&object->body, err);
	it = ks_json_iter(values[2]);
	while (status == KS_OK && ks_json_next_element(&it, &element))
		status = read_line(citation, object, element, err);
	return status;
}

static enum ks_status
read_members(struct ks_citation *citation, struct ks_span file,
	struct ks_span *text, struct ks_error *err)
{
	static const char *const names[] = {
		"accessed", "citation", "format", "objects", "record"
	};
	struct ks_span format = ks_json_get_raw(file, "format");
	struct ks_span values[5], element;
	struct ks_buf day = KS_BUF_INIT;
	struct ks_json_iter it;
	enum ks_status status;

	if (ks_span_begins(format, "kistore-citation/") &&
		!ks_span_is(format, KS_CITATION_FORMAT))
		return ks_fail(err, KS_UNSUPPORTED, "a citation file of "
			"another version: it needs a newer kistore (A2)");
	if (!take_members(file, names, 5, values) || !is_string(values[0]) ||
		!is_string(values[1]) || !is_list(values[3]) ||
		!ks_span_is(format, KS_CITATION_FORMAT) ||
		!is_string(values[4]) || !ks_id_parse(&citation->record,
			ks_json_raw(values[4])))
		return ks_fail(err, KS_CORRUPT, "not a citation file, "
			"{accessed, citation, format, objects, record} (A1)");
	*text = values[1];
	ks_json_unescape(&day, ks_json_raw(values[0]));
	status = ks_buf_check(&day, err);
	if (status == KS_OK)
		status = set_accessed(citation, ks_buf_span(&day), err);
	ks_buf_release(&day);
	it = ks_json_iter(values[3]);
	while (status == KS_OK && ks_json_next_element(&it, &element))
		status = read_object(citation, element, err);
	return status;
}

/* A9: the text is the one that is made of all the rest. */
static enum ks_status
judge_text(struct ks_citation *citation, struct ks_span value,
	struct ks_error *err)
{
	struct ks_buf said = KS_BUF_INIT;
	enum ks_status status = compose(citation, &citation->text, err);

	ks_json_unescape(&said, ks_json_raw(value));
	if (status == KS_OK)
		status = ks_buf_check(&said, err);
	if (status == KS_OK && !ks_span_equal(ks_buf_span(&said),
		ks_buf_span(&citation->text)))
		status = ks_fail(err, KS_CORRUPT, "the citation is not the "
			"text that follows from the objects (A9)");
	ks_buf_release(&said);
	return status;
}

/* A1: the file is canonical, and ends in one LF. */
static enum ks_status
read_file(struct ks_citation *citation, struct ks_span bytes,
	struct ks_error *err)
{
	const struct ks_jcs_policy policy = {
		.max_bytes = KS_CITATION_MAX, .max_depth = DEPTH
	};
	struct ks_span file = ks_span(bytes.data, bytes.len - 1), text;
	enum ks_status status = ks_jcs_check(citation->jcs, file, &policy,
		err);

	if (status != KS_OK)
		return status == KS_INVALID ? ks_context(err, "not canonical "
			"(A1)") : status;
	status = read_members(citation, file, &text, err);
	if (status == KS_OK)
		status = judge(citation, err);
	return status == KS_OK ? judge_text(citation, text, err) : status;
}

enum ks_status
ks_citation_read(struct ks_citation **out, struct ks_span bytes,
	struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status;

	*out = NULL;
	if (bytes.len > KS_CITATION_MAX)
		return ks_fail(err, KS_CORRUPT, "a citation file is at most "
			"%zu bytes (B24)", KS_CITATION_MAX);
	if (bytes.len == 0 || bytes.data[bytes.len - 1] != '\n')
		return ks_fail(err, KS_CORRUPT, "a citation file ends in LF "
			"(A1)");
	status = make_empty(out, err);
	if (status != KS_OK)
		return status;
	status = read_file(*out, bytes, &why);
	if (status == KS_OK)
		return KS_OK;
	ks_citation_free(*out);
	*out = NULL;
	/* E10: what is judged is not input that is refused. */
	return ks_fail(err, status == KS_INVALID ? KS_CORRUPT : status, "%s",
		why.message);
}

void
ks_citation_facts(const struct ks_citation *citation,
	struct ks_citation_facts *out)
{
	const struct object *record = &citation->objects[citation->cited];
	size_t i;

	*out = (struct ks_citation_facts){
		.record = citation->record, .kind = record->kind,
		.accessed = ks_buf_span(&citation->accessed),
		.text = ks_buf_span(&citation->text),
		.parts = &citation->parts,
		.note = ks_buf_span(&citation->note),
		.checkpoint = citation->checkpoint,
		.index = record->lines[0].index, .at = record->at,
		.objects = citation->count
	};
	for (i = 0; i < citation->count; i++)
		out->lines += citation->objects[i].line_count;
}
