/*
 * Citing a record: its text, and the file that proves it (store-layout.md
 * section "citation files").
 */
#include "store/cite.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/citation.h"
#include "format/citeform.h"
#include "format/json.h"
#include "store/checkpoints.h"
#include "store/page.h"
#include "store/subtrees.h"

_Static_assert(KS_CHECK_MAX == KS_CITATION_MAX, "one limit for a file");

/* ---- the text ----------------------------------------------------------- */

/* Records that a text has names of, as far as they were read; the list ends
 * with a part that nothing names. */
#define PARTS 5

struct citing {
	struct ks_store *store;
	struct ks_part parts[PARTS];
	struct ks_part *record;		/* the first of them */
	const struct ks_part *list[PARTS + 1];
	size_t count;
};

static enum ks_status
follow(struct citing *citing, struct ks_span object, const char *member,
	struct ks_error *err)
{
	size_t i = citing->count;
	enum ks_status status = ks_part_follow(citing->store, object, member,
		&citing->parts[i], err);

	citing->list[i] = &citing->parts[i];
	citing->count++;
	return status;
}

/* What the text of a run, serving run or implementation names. */
static enum ks_status
read_parts(struct citing *citing, struct ks_error *err)
{
	struct ks_span spec = citing->record->record.spec;
	enum ks_status status;

	if (ks_part_is(citing->record, "ImplementationRevision"))
		return follow(citing, ks_json_get(spec, "operation"),
			"specDigest", err);
	if (!ks_part_is(citing->record, "BenchmarkRun") &&
		!ks_part_is(citing->record, "ServingRun"))
		return KS_OK;
	status = follow(citing, spec, "workloadDigest", err);
	if (status == KS_OK)
		status = follow(citing, citing->record->provenance, "source",
			err);
	if (status != KS_OK)
		return status;
	if (ks_part_is(citing->record, "ServingRun")) {
		status = follow(citing, spec, "configurationDigest", err);
		return status != KS_OK ? status : follow(citing, spec,
			"modelDigest", err);
	}
	status = follow(citing, spec, "implementationDigest", err);
	return status != KS_OK ? status : follow(citing,
		citing->parts[1].record.spec, "operationSpecDigest", err);
}

static enum ks_status
read_record(struct citing *citing, const struct ks_id *digest,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	enum ks_status status = ks_part_need(citing->store, digest,
		citing->record, err);

	citing->list[0] = citing->record;
	citing->count = 1;
	if (status == KS_OK && citing->record->record.spec.len == 0)
		status = ks_fail(err, KS_INVALID, "%s is not a record: only "
			"records are cited", ks_id_print(digest, text));
	return status == KS_OK ? read_parts(citing, err) : status;
}

static void
release_parts(struct citing *citing)
{
	size_t i;

	for (i = 0; i < citing->count; i++)
		ks_part_release(&citing->parts[i]);
}

static void
print_form(const struct ks_citeform *form, enum ks_cite_format format,
	struct ks_buf *out)
{
	switch (format) {
	case KS_CITE_TEXT:
		ks_citetext_print(form->parts, form->accessed, out);
		ks_buf_byte(out, '\n');
		break;
	case KS_CITE_BIBTEX:
		ks_citeform_bibtex(form, out);
		break;
	case KS_CITE_CSL_JSON:
		ks_citeform_csl(form, out);
		break;
	case KS_CITE_RIS:
		ks_citeform_ris(form, out);
		break;
	}
}

/* ---- what is signed ----------------------------------------------------- */

/* The newest note that is no larger than the log that is read, with the
 * cosignatures that it has got meanwhile. */
static enum ks_status
find_note(struct ks_store *store, struct ks_buf *out, struct ks_error *err)
{
	struct ks_checkpoints notes;
	struct ks_git_commit commit;
	struct ks_index *index;
	uint64_t size = 0;
	size_t i;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status == KS_OK) {
		size = ks_index_log(index)->tree.size;
		status = ks_gitdb_commit(store->db, &store->head.commit,
			&commit, err);
	}
	if (status == KS_OK)
		status = ks_checkpoints_read(store->db, &commit.tree, NULL,
			NULL, &notes, err);
	if (status != KS_OK)
		return status;
	for (i = notes.count; i > 0 && notes.list[i - 1].size > size; i--)
		;
	if (i > 0)
		ks_buf_append(out, ks_buf_span(&notes.list[i - 1].bytes));
	ks_checkpoints_release(&notes);
	return ks_buf_check(out, err);
}

/* The id of the log's own key, the first line by the name of the origin. */
static uint32_t
key_of(struct ks_span bytes, struct ks_span origin)
{
	struct ks_note note;
	uint32_t id = 0;
	size_t i;

	if (ks_note_parse(bytes, &note, NULL) != KS_OK)
		return 0;
	for (i = 0; i < note.line_count; i++)
		if (ks_span_equal(note.lines[i].name, origin)) {
			id = note.lines[i].id;
			break;
		}
	ks_note_release(&note);
	return id;
}

/* Say of a record that entry `index` publishes what covers it. */
static void
set_signed(struct ks_citeform *form, struct ks_span note, uint64_t index)
{
	struct ks_checkpoint checkpoint;

	if (note.len == 0 || ks_checkpoint_of_note(note, &checkpoint, NULL) !=
		KS_OK || index >= checkpoint.size)
		return;
	form->origin = checkpoint.origin;
	form->size = checkpoint.size;
	form->key_id = key_of(note, checkpoint.origin);
}

/* ---- without a file ----------------------------------------------------- */

static enum ks_status
cite_plainly(struct ks_store *store, const struct ks_id *digest,
	const struct ks_cite_options *options, struct ks_buf *out,
	struct ks_error *err)
{
	struct citing citing = { .store = store };
	struct ks_citetext text = KS_CITETEXT_INIT;
	struct ks_buf note = KS_BUF_INIT;
	struct ks_citeform form = { .parts = &text,
		.accessed = ks_span_text(options->accessed) };
	enum ks_status status;

	citing.record = &citing.parts[0];
	status = read_record(&citing, digest, err);
	if (status == KS_OK && options->format != KS_CITE_TEXT)
		status = find_note(store, &note, err);
	if (status == KS_OK) {
		const struct ks_part *const *list = citing.list;
		struct ks_named named = ks_part_named(citing.record);

		citing.list[citing.count] = NULL;
		ks_citetext_compose(&text, &named, ks_parts_find, &list);
		set_signed(&form, ks_buf_span(&note),
			citing.record->row.state.published);
		print_form(&form, options->format, out);
		status = ks_buf_check(out, err);
	}
	ks_citetext_release(&text);
	ks_buf_release(&note);
	release_parts(&citing);
	return status;
}

/* ---- with one ----------------------------------------------------------- */

/* A file being filled. */
struct filling {
	struct ks_store *store;
	struct ks_citation *citation;
	struct ks_checkpoint checkpoint;
	struct ks_id *open;	/* what is to be added still */
	size_t count, room;
	struct ks_error *err;
	enum ks_status status;
};

/* The lines of one object that go into the file. */
struct chosen {
	struct ks_jcs *jcs;
	uint64_t size;
	uint64_t publish, metadata, provenance;
	struct ks_error *err;
	enum ks_status status;
};

static bool
choose_line(void *arg, uint64_t index, struct ks_span line)
{
	struct chosen *chosen = arg;
	struct ks_entry entry;

	if (index >= chosen->size)
		return true;
	chosen->status = ks_entry_parse(chosen->jcs, line, &entry,
		chosen->err);
	if (chosen->status != KS_OK)
		return true;
	if (entry.op == KS_OP_PUBLISH)
		chosen->publish = index;
	else if (entry.op == KS_OP_REDACTED)
		chosen->status = ks_fail(chosen->err, KS_NOT_FOUND, "the text "
			"of entry %llu was taken down, so it cannot be cited",
			(unsigned long long)index);
	else if (entry.op == KS_OP_ANNOTATE && entry.metadata.len > 0)
		chosen->metadata = index;
	if (entry.op == KS_OP_ANNOTATE && entry.provenance.len > 0)
		chosen->provenance = index;
	return chosen->status != KS_OK;
}

static enum ks_status
choose_lines(struct filling *filling, const struct ks_id *digest,
	struct chosen *chosen, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	enum ks_status status;

	*chosen = (struct chosen){
		.jcs = filling->store->jcs, .size = filling->checkpoint.size,
		.publish = KS_NO_LINE, .metadata = KS_NO_LINE,
		.provenance = KS_NO_LINE, .err = err
	};
	status = ks_log_of(filling->store, digest, choose_line, chosen, err);
	if (status != KS_OK || chosen->status != KS_OK)
		return status != KS_OK ? status : chosen->status;
	if (chosen->publish == KS_NO_LINE)
		return ks_fail(err, KS_NOT_FOUND, "%s is not among the %llu "
			"entries that are signed", ks_id_print(digest, text),
			(unsigned long long)filling->checkpoint.size);
	return KS_OK;
}

static enum ks_status
add_line(struct filling *filling, uint64_t index, struct ks_error *err)
{
	struct ks_buf line = KS_BUF_INIT;
	struct ks_proof proof;
	enum ks_status status;

	if (index == KS_NO_LINE)
		return KS_OK;
	status = ks_store_line(filling->store, index, &line, err);
	if (status == KS_OK)
		status = ks_store_inclusion(filling->store, index,
			filling->checkpoint.size, &filling->checkpoint.root,
			&proof, err);
	if (status == KS_OK)
		status = ks_citation_add_line(filling->citation,
			ks_buf_span(&line), index, &proof, err);
	ks_buf_release(&line);
	return status;
}

static bool
open_target(struct filling *filling, const struct ks_id *target)
{
	struct ks_id *grown = ks_grow(filling->open, filling->count,
		&filling->room, sizeof(*grown), filling->err);

	if (grown == NULL) {
		filling->status = KS_NOMEM;
		return false;
	}
	filling->open = grown;
	grown[filling->count++] = *target;
	return true;
}

static bool
open_reference(void *arg, const struct ks_reference *reference)
{
	return reference->is_link || open_target(arg, &reference->target);
}

/* What an object refers to, by its body and by what the log says of it within
 * the signed size: the provenance that the chosen line has. */
static enum ks_status
open_references(struct filling *filling, const struct ks_part *part,
	const struct chosen *chosen, struct ks_error *err)
{
	struct ks_buf line = KS_BUF_INIT;
	struct ks_entry entry;
	enum ks_status status = ks_store_line(filling->store,
		chosen->provenance != KS_NO_LINE ? chosen->provenance :
		chosen->publish, &line, err);

	if (status == KS_OK)
		status = ks_entry_parse(filling->store->jcs,
			ks_buf_span(&line), &entry, err);
	if (status != KS_OK) {
		ks_buf_release(&line);
		return status;
	}
	filling->status = KS_OK;
	filling->err = err;
	if (part->record.kind != NULL &&
		!ks_kind_references(part->record.kind, part->record.spec,
		open_reference, filling))
		status = ks_fail_nomem(err);
	if (status == KS_OK && entry.claims.has_source)
		(void)open_target(filling, &entry.claims.source);
	if (status == KS_OK && entry.claims.has_project)
		(void)open_target(filling, &entry.claims.project);
	ks_buf_release(&line);
	return status == KS_OK ? filling->status : status;
}

/* A reference that was left open may still lead nowhere. */
static bool
is_open(struct filling *filling, const struct ks_id *digest)
{
	struct ks_index *index;
	struct ks_index_row row;

	return ks_store_index(filling->store, &index, NULL, NULL) == KS_OK &&
		(!ks_index_object(index, digest, &row) ||
		row.state.published >= filling->checkpoint.size);
}

static enum ks_status
add_object(struct filling *filling, const struct ks_id *digest,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	struct chosen chosen = { .err = err };
	struct ks_part part;
	enum ks_status status = ks_part_need(filling->store, digest, &part,
		err);

	if (status == KS_OK && part.record.spec.len == 0)
		status = ks_fail(err, KS_INVALID, "%s is not a record: only "
			"records are cited", ks_id_print(digest, text));
	if (status == KS_OK)
		status = choose_lines(filling, digest, &chosen, err);
	if (status == KS_OK)
		status = ks_citation_add(filling->citation, digest,
			ks_buf_span(&part.body), err);
	if (status == KS_OK)
		status = add_line(filling, chosen.publish, err);
	if (status == KS_OK)
		status = add_line(filling, chosen.metadata, err);
	if (status == KS_OK && chosen.provenance != chosen.metadata)
		status = add_line(filling, chosen.provenance, err);
	if (status == KS_OK)
		status = open_references(filling, &part, &chosen, err);
	ks_part_release(&part);
	return status;
}

static enum ks_status
add_closure(struct filling *filling, const struct ks_id *record,
	struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	enum ks_status status = add_object(filling, record, err);

	while (status == KS_OK && filling->count > 0) {
		struct ks_id target = filling->open[--filling->count];

		if (ks_citation_has(filling->citation, &target) ||
			is_open(filling, &target))
			continue;
		status = add_object(filling, &target, err);
		if (status == KS_NOT_FOUND)
			status = ks_context(err, "%s cannot be proven to be "
				"complete", ks_id_print(record, text));
	}
	return status;
}

/* Fill `filling->citation`, which its caller frees, and append the file. */
static enum ks_status
fill(struct filling *filling, const struct ks_id *digest,
	struct ks_span accessed, struct ks_span note, struct ks_buf *file,
	struct ks_error *err)
{
	enum ks_status status = ks_checkpoint_of_note(note,
		&filling->checkpoint, err);

	if (status == KS_OK)
		status = ks_citation_new(&filling->citation, digest, accessed,
			note, err);
	if (status == KS_OK)
		status = add_closure(filling, digest, err);
	return status != KS_OK ? status : ks_citation_write(
		filling->citation, file, err);
}

static void
release_filling(struct filling *filling)
{
	ks_citation_free(filling->citation);
	free(filling->open);
}

enum ks_status
ks_cite_file(struct ks_store *store, const struct ks_id *digest,
	const char *day, struct ks_span note, struct ks_buf *file,
	struct ks_error *err)
{
	struct filling filling = { .store = store };
	enum ks_status status = fill(&filling, digest, ks_span_text(day),
		note, file, err);

	release_filling(&filling);
	return status;
}

static enum ks_status
cite_with_file(struct ks_store *store, const struct ks_id *digest,
	const struct ks_cite_options *options, struct ks_buf *text,
	struct ks_buf *file, struct ks_error *err)
{
	struct filling filling = { .store = store };
	struct ks_citation_facts facts;
	struct ks_buf note = KS_BUF_INIT;
	enum ks_status status = find_note(store, &note, err);

	if (status == KS_OK && note.len == 0)
		status = ks_fail(err, KS_UNTRUSTED, "nothing is signed, so "
			"nothing can be proven (kistore snapshot create)");
	if (status == KS_OK)
		status = fill(&filling, digest,
			ks_span_text(options->accessed), ks_buf_span(&note),
			file, err);
	if (status == KS_OK) {
		struct ks_citeform form;

		ks_citation_facts(filling.citation, &facts);
		form = (struct ks_citeform){ .parts = facts.parts,
			.accessed = facts.accessed };
		set_signed(&form, facts.note, facts.index);
		print_form(&form, options->format, text);
		status = ks_buf_check(text, err);
	}
	release_filling(&filling);
	ks_buf_release(&note);
	return status;
}

enum ks_status
ks_cite_day(const char *accessed, int64_t now, char out[KS_CITE_DAY + 1],
	struct ks_error *err)
{
	char time[KS_TIME_TEXT + 1];

	if (accessed == NULL && ks_time_print(now, time)) {
		time[KS_CITE_DAY] = '\0';
		accessed = time;
	}
	if (accessed == NULL || !ks_citetext_is_day(ks_span_text(accessed)))
		return ks_fail(err, KS_USAGE, "no day, YYYY-MM-DD: '%s'",
			accessed == NULL ? "" : accessed);
	memcpy(out, accessed, KS_CITE_DAY + 1);
	return KS_OK;
}

enum ks_status
ks_cite(struct ks_store *store, const struct ks_id *digest,
	const struct ks_cite_options *options, struct ks_buf *text,
	struct ks_buf *file, struct ks_error *err)
{
	struct ks_cite_options dated = *options;
	char day[KS_CITE_DAY + 1];
	enum ks_status status = ks_cite_day(options->accessed, options->now,
		day, err);

	dated.accessed = day;
	if (status == KS_OK)
		status = ks_log_understood(store, err);
	if (status != KS_OK)
		return status;
	return file == NULL ? cite_plainly(store, digest, &dated, text, err) :
		cite_with_file(store, digest, &dated, text, file, err);
}
