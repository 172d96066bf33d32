/*
 * Checking what somebody hands over: a citation file or a proof, with nothing
 * else at hand; a citation text or digest, by a store (store-layout.md section
 * "citation files").
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/citation.h"
#include "format/tlogproof.h"
#include "store/log.h"
#include "store/page.h"
#include "store/signed.h"
#include "store/trusted.h"

void
ks_check_release(struct ks_check_result *result)
{
	ks_buf_release(&result->kind);
	ks_buf_release(&result->text);
}

void
ks_check_standing_release(struct ks_check_standing *standing)
{
	ks_buf_release(&standing->reason);
	ks_buf_release(&standing->text);
}

/* Keep what fits; all but origins always does. */
static void
keep(char *out, size_t size, struct ks_span text)
{
	size_t len = text.len < size ? text.len : size - 1;

	if (len > 0)
		memcpy(out, text.data, len);
	out[len] = '\0';
}

/* ---- the signature ------------------------------------------------------ */

/* What the note says of itself. */
static enum ks_status
describe_note(struct ks_span bytes, const struct ks_checkpoint *checkpoint,
	struct ks_check_result *out, struct ks_error *err)
{
	struct ks_note note;
	size_t i;
	enum ks_status status = ks_note_parse(bytes, &note, err);

	if (status != KS_OK)
		return status;
	keep(out->origin, sizeof(out->origin), checkpoint->origin);
	out->size = checkpoint->size;
	out->root = checkpoint->root;
	for (i = 0; i < note.line_count && out->signer[0] == '\0'; i++)
		if (ks_span_equal(note.lines[i].name, checkpoint->origin))
			(void)snprintf(out->signer, sizeof(out->signer),
				"%s+%08" PRIx32, out->origin,
				note.lines[i].id);
	ks_note_release(&note);
	return KS_OK;
}

/* Judge the note alone. It may be older than what was accepted before, which
 * is no rollback; it may not be another one of the same size. */
static enum ks_status
judge_note(struct ks_span note, const struct ks_checkpoint *checkpoint,
	const struct ks_check_options *options, struct ks_check_result *out,
	struct ks_error *err)
{
	struct ks_trust_subject subject = {
		.notes = &note, .note_count = 1, .is_past = true
	};
	struct ks_trust_result verdict;
	struct ks_trust *trust;
	struct ks_state *state;
	enum ks_status status = ks_trusted_new(options->trust,
		checkpoint->origin, options->watch, &trust, &state, err);

	if (status == KS_OK)
		status = ks_trust_judge(trust, &subject, &verdict, err);
	if (status == KS_OK)
		ks_trusted_describe(trust, &verdict, checkpoint->size,
			&out->signature);
	ks_trust_free(trust);
	ks_state_free(state);
	return status == KS_OK ? describe_note(note, checkpoint, out, err) :
		status;
}

/* ---- a citation file ---------------------------------------------------- */

static enum ks_status
check_citation(struct ks_span bytes, const struct ks_check_options *options,
	struct ks_check_result *out, struct ks_error *err)
{
	struct ks_citation *citation;
	struct ks_citation_facts facts;
	enum ks_status status = ks_citation_read(&citation, bytes, err);

	if (status != KS_OK)
		return status;
	ks_citation_facts(citation, &facts);
	out->form = KS_CHECK_CITATION;
	out->has_digest = true;
	out->digest = facts.record;
	out->index = facts.index;
	out->objects = facts.objects;
	out->lines = facts.lines;
	keep(out->accessed, sizeof(out->accessed), facts.accessed);
	keep(out->at, sizeof(out->at), facts.at);
	ks_buf_append(&out->kind, facts.kind);
	ks_buf_append(&out->text, facts.text);
	status = ks_buf_check(&out->kind, err);
	if (status == KS_OK)
		status = ks_buf_check(&out->text, err);
	if (status == KS_OK)
		status = judge_note(facts.note, &facts.checkpoint, options,
			out, err);
	ks_citation_free(citation);
	return status;
}

/* ---- a proof and its entry ---------------------------------------------- */

/* What the entry says, where it is a line of a log of kistore's. */
static enum ks_status
describe_entry(struct ks_span bytes, struct ks_check_result *out,
	struct ks_error *err)
{
	struct ks_jcs *jcs;
	struct ks_entry entry;
	enum ks_status status = ks_jcs_new(&jcs, err);

	if (status != KS_OK)
		return status;
	if (ks_entry_parse(jcs, bytes, &entry, NULL) == KS_OK) {
		keep(out->at, sizeof(out->at), entry.at);
		if (entry.op == KS_OP_PUBLISH) {
			out->has_digest = true;
			out->digest = entry.digest;
			ks_buf_append(&out->kind, entry.kind);
		}
	}
	ks_jcs_free(jcs);
	return ks_buf_check(&out->kind, err);
}

static enum ks_status
check_inclusion(const struct ks_tlogproof *proof, struct ks_span entry,
	const struct ks_checkpoint *checkpoint, struct ks_error *err)
{
	struct ks_id leaf;

	ks_merkle_leaf(entry, &leaf);
	if (ks_proof_check_inclusion(&leaf, proof->index, checkpoint->size,
		&proof->proof, &checkpoint->root))
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "the entry is not proven to stand in "
		"the log (A7)%s", entry.len > 0 &&
		entry.data[entry.len - 1] == '\n' ? ": it ends in LF, which a "
		"line of the log has not" : "");
}

static enum ks_status
check_proof(struct ks_span bytes, const struct ks_check_options *options,
	struct ks_check_result *out, struct ks_error *err)
{
	struct ks_checkpoint checkpoint;
	struct ks_tlogproof proof;
	enum ks_status status;

	out->form = KS_CHECK_PROOF;
	if (options->entry == NULL)
		return ks_fail(err, KS_USAGE, "a proof says nothing without "
			"the entry that it is about (--entry)");
	status = ks_tlogproof_parse(bytes, true, &proof, err);
	if (status == KS_OK)
		status = ks_checkpoint_of_note(proof.note, &checkpoint, err);
	if (status == KS_OK)
		status = check_inclusion(&proof, *options->entry, &checkpoint,
			err);
	if (status != KS_OK)
		return status;
	out->index = proof.index;
	out->lines = 1;
	status = describe_entry(*options->entry, out, err);
	return status == KS_OK ? judge_note(proof.note, &checkpoint, options,
		out, err) : status;
}

/* ---- a text ------------------------------------------------------------- */

static bool
is_digit(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The next digest at or behind *at, which moves behind it. */
static bool
next_digest(struct ks_span text, size_t *at, struct ks_id *out)
{
	size_t i;

	for (i = *at; i + KS_ID_TEXT <= text.len; i++) {
		struct ks_span here = ks_span(text.data + i, KS_ID_TEXT);

		if (ks_id_parse(out, here) && (i + KS_ID_TEXT == text.len ||
			!is_digit(text.data[i + KS_ID_TEXT]))) {
			*at = i + KS_ID_TEXT;
			return true;
		}
	}
	return false;
}

static enum ks_status
read_text(struct ks_span text, struct ks_check_result *out,
	struct ks_error *err)
{
	struct ks_id other;
	size_t at = 0;

	out->form = KS_CHECK_TEXT;
	text = ks_span_trim(text);
	out->has_digest = ks_id_parse_loose(&out->digest, text);
	if (out->has_digest)
		return KS_OK;
	out->has_digest = next_digest(text, &at, &out->digest);
	if (!out->has_digest)
		return ks_fail(err, KS_CORRUPT, "neither a citation file, nor "
			"a proof, nor a text with a digest in it");
	while (next_digest(text, &at, &other))
		if (!ks_id_equal(&other, &out->digest))
			return ks_fail(err, KS_CORRUPT, "a text with more than "
				"one digest in it: give one citation");
	ks_buf_append(&out->text, text);
	return ks_buf_check(&out->text, err);
}

/* ---- without a store ---------------------------------------------------- */

enum ks_status
ks_check(struct ks_span bytes, const struct ks_check_options *options,
	struct ks_check_result *result, struct ks_error *err)
{
	*result = (struct ks_check_result)KS_CHECK_RESULT_INIT;
	result->signature.verdict = ks_trust_verdict_name(KS_TRUST_NOT_ASKED);
	if (ks_span_begins(bytes, "c2sp.org/tlog-proof@"))
		return check_proof(bytes, options, result, err);
	if (options->entry != NULL)
		return ks_fail(err, KS_USAGE, "--entry is for a proof, and "
			"this is none");
	if (bytes.len > 0 && bytes.data[0] == '{')
		return check_citation(bytes, options, result, err);
	return read_text(bytes, result, err);
}

/* ---- by a store --------------------------------------------------------- */

/* One pass over the log of a store, for its roots and keys. */
struct gathering {
	struct ks_store *store;
	struct ks_signed signed_;
	struct ks_merkle tree;
};

/* Of a line that names a key, "key" is the second member (L2): most lines are
 * none, which shows without taking them apart. */
static bool
may_name_key(struct ks_span line)
{
	static const char before[] = "{\"at\":\"0000-00-00T00:00:00Z\",";
	size_t len = sizeof(before) - 1;

	return line.len > len && ks_span_begins(ks_span(line.data + len,
		line.len - len), "\"key\":");
}

static enum ks_status
gather_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct gathering *gathering = arg;
	struct ks_entry entry;
	struct ks_id leaf;
	bool is_key;

	(void)index;
	ks_entry_leaf(line, &leaf);
	ks_merkle_append(&gathering->tree, &leaf);
	is_key = may_name_key(line) && ks_entry_parse(gathering->store->jcs,
		line, &entry, NULL) == KS_OK && entry.op == KS_OP_KEY;
	return ks_signed_line(&gathering->signed_, is_key ? &entry : NULL,
		&gathering->tree, err);
}

static enum ks_status
gather(struct gathering *gathering, const struct ks_trust *trust,
	const struct ks_check_result *checked, struct ks_error *err)
{
	struct ks_store *store = gathering->store;
	uint64_t sizes[2 * KS_TRUST_KEYS];
	size_t i, count = ks_trust_sizes(trust, sizes);
	enum ks_status status = ks_signed_read(&gathering->signed_, store->db,
		&store->tree, NULL, NULL, err);

	for (i = 0; status == KS_OK && i < count; i++)
		status = ks_signed_mark(&gathering->signed_, sizes[i], err);
	if (status == KS_OK && checked->size > 0)
		status = ks_signed_mark(&gathering->signed_, checked->size,
			err);
	if (status != KS_OK)
		return status;
	ks_signed_start(&gathering->signed_);
	status = ks_log_each(store->db, &store->tree, 0, gather_line,
		gathering, err);
	ks_signed_end(&gathering->signed_);
	return status;
}

/* What was proven stands in the store's log, too, or the store answers for
 * another log. */
static enum ks_status
compare_logs(struct gathering *gathering,
	const struct ks_check_result *checked, struct ks_check_standing *out,
	struct ks_error *err)
{
	struct ks_id root;

	if (checked->size == 0)
		return KS_OK;
	out->older = gathering->tree.size < checked->size;
	if (out->older || (ks_signed_root(&gathering->signed_, checked->size,
		&root) && ks_id_equal(&root, &checked->root)))
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "the store is another log than this "
		"is from: its first %" PRIu64 " entries are others",
		checked->size);
}

/* Since when it is proven: the earliest time of a cosignature over a note that
 * covers the entry (N11). */
static void
find_first(struct gathering *gathering, const struct ks_trust *trust,
	const struct ks_trust_subject *subject, struct ks_check_standing *out)
{
	const struct ks_checkpoints *notes = &gathering->signed_.notes;
	int64_t first = out->signature.first;
	size_t i;

	for (i = 0; i < notes->count; i++) {
		struct ks_trust_subject one = *subject;
		struct ks_span note = ks_buf_span(&notes->list[i].bytes);
		struct ks_trust_result verdict;

		if (notes->list[i].size <= out->index)
			continue;
		if (out->snapshot == 0)
			out->snapshot = notes->list[i].size;
		one.notes = &note;
		one.note_count = 1;
		one.is_past = true;
		if (ks_trust_judge(trust, &one, &verdict, NULL) != KS_OK ||
			verdict.verdict != KS_TRUST_SIGNED ||
			verdict.witnesses == 0 || verdict.first > INT64_MAX)
			continue;
		if (first == 0 || (int64_t)verdict.first < first)
			first = (int64_t)verdict.first;
	}
	out->signature.first = first;
}

static enum ks_status
judge_store(struct gathering *gathering, const struct ks_trust *trust,
	struct ks_check_standing *out, struct ks_error *err)
{
	struct ks_store *store = gathering->store;
	struct ks_trust_subject subject;
	struct ks_trust_result verdict;
	enum ks_status status = ks_signed_subject(&gathering->signed_,
		ks_buf_span(&store->origin), &subject, err);

	subject.is_past = store->in_the_past;
	if (status == KS_OK)
		status = ks_trust_judge(trust, &subject, &verdict, err);
	if (status != KS_OK)
		return status;
	ks_trusted_describe(trust, &verdict, gathering->tree.size,
		&out->signature);
	find_first(gathering, trust, &subject, out);
	return KS_OK;
}

/* One entry more about the record (R13 to R15). */
static void
apply(const struct ks_history_entry *entry, struct ks_check_standing *out)
{
	bool retracts = strcmp(entry->op, "retract") == 0;
	bool supersedes = strcmp(entry->op, "supersede") == 0;
	bool restores = strcmp(entry->op, "restore") == 0;
	bool takes_down = strcmp(entry->op, "takedown") == 0;

	if (!retracts && !supersedes && !restores && !takes_down)
		return;
	out->retracted = (out->retracted || retracts) && !restores;
	out->superseded = (out->superseded || supersedes) && !restores;
	out->taken_down = out->taken_down || takes_down;
	if (supersedes)
		out->successor = entry->by;
	out->has_successor = out->superseded;
	out->changed = entry->index;
	keep(out->changed_at, sizeof(out->changed_at),
		ks_span_text(entry->at));
	ks_buf_clear(&out->reason);
	ks_buf_append(&out->reason, ks_buf_span(&entry->reason));
}

/* What the first `size` entries say: those that are signed, where anybody is
 * trusted (N7), and else all. */
static enum ks_status
describe_standing(struct ks_store *store, const struct ks_id *digest,
	uint64_t size, struct ks_check_standing *out, struct ks_error *err)
{
	struct ks_history history = KS_HISTORY_INIT;
	char text[KS_ID_TEXT + 1];
	size_t i;
	enum ks_status status = ks_history_read(store, digest, &history, err);

	out->size = size;
	if (status == KS_OK && out->index >= size)
		status = ks_fail(err, KS_NOT_FOUND, "%s is not among the %"
			PRIu64 " entries that are signed",
			ks_id_print(digest, text), size);
	for (i = 0; status == KS_OK && i < history.count; i++) {
		if (i == 0)
			keep(out->at, sizeof(out->at),
				ks_span_text(history.entries[i].at));
		if (history.entries[i].index < size)
			apply(&history.entries[i], out);
	}
	ks_history_release(&history);
	return status == KS_OK ? ks_buf_check(&out->reason, err) : status;
}

static enum ks_status
find_publish(struct ks_store *store, const struct ks_id *digest,
	struct ks_check_standing *out, struct ks_error *err)
{
	struct ks_index *index;
	struct ks_index_row row;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status != KS_OK)
		return status;
	if (!ks_index_object(index, digest, &row))
		return ks_store_explain_absence(store, digest, err);
	out->index = row.state.published;
	return KS_OK;
}

/* The day at the end of a citation: "… Accessed 2026-08-17." */
static bool
find_day(struct ks_span text, char out[11])
{
	static const char before[] = "Accessed ";
	size_t len = sizeof(before) - 1 + 10 + 1;
	const uint8_t *at;

	if (text.len < len || text.data[text.len - 1] != '.')
		return false;
	at = text.data + text.len - len;
	if (memcmp(at, before, sizeof(before) - 1) != 0)
		return false;
	keep(out, 11, ks_span(at + sizeof(before) - 1, 10));
	return ks_citetext_is_day(ks_span_text(out));
}

/* The text that the store gives: by what is signed, so that entries which
 * nobody has signed make no text a proven one (N7). Where there are none, it
 * may also name what was taken down. */
static enum ks_status
make_text(struct ks_store *store, const struct ks_id *record, const char *day,
	struct ks_check_standing *out, struct ks_error *err)
{
	const struct ks_cite_options options = {
		.accessed = day, .format = KS_CITE_TEXT
	};
	bool has_tail = out->signature.asked &&
		out->signature.status == KS_OK && out->signature.tail > 0;
	struct ks_buf file = KS_BUF_INIT;
	enum ks_status status = ks_cite(store, record, &options, &out->text,
		has_tail ? &file : NULL, err);

	ks_buf_release(&file);
	return status;
}

/* A text is compared with the one that the store gives for the same day. */
static enum ks_status
compare_text(struct ks_store *store, const struct ks_check_result *checked,
	struct ks_check_standing *out, struct ks_error *err)
{
	struct ks_span text = ks_buf_span(&checked->text);
	char day[11] = "1970-01-01";
	bool has_day;
	enum ks_status status;

	if (checked->form != KS_CHECK_TEXT || text.len == 0 || out->taken_down)
		return KS_OK;
	has_day = find_day(text, day);
	status = make_text(store, &checked->digest, has_day ? day :
		"1970-01-01", out, err);
	if (status == KS_INVALID)
		return ks_fail(err, KS_CORRUPT, "what it cites is no record");
	if (status != KS_OK)
		return status;
	out->text.len--;
	out->differs = !has_day || !ks_span_equal(ks_buf_span(&out->text),
		text);
	return KS_OK;
}

enum ks_status
ks_check_store(struct ks_store *store, const struct ks_check_options *options,
	const struct ks_check_result *checked, struct ks_check_standing *out,
	struct ks_error *err)
{
	struct gathering gathering = { .store = store };
	struct ks_trust *trust;
	struct ks_state *state;
	enum ks_status status;

	*out = (struct ks_check_standing)KS_CHECK_STANDING_INIT;
	if (!checked->has_digest)
		return ks_fail(err, KS_USAGE, "an entry that publishes nothing "
			"has no standing in a store");
	status = ks_trusted_new(options->trust, ks_buf_span(&store->origin),
		options->watch, &trust, &state, err);
	if (status != KS_OK)
		return status;
	status = ks_log_understood(store, err);
	if (status == KS_OK)
		status = gather(&gathering, trust, checked, err);
	if (status == KS_OK)
		status = compare_logs(&gathering, checked, out, err);
	if (status == KS_OK)
		status = find_publish(store, &checked->digest, out, err);
	if (status == KS_OK)
		status = judge_store(&gathering, trust, out, err);
	if (status == KS_OK)
		status = describe_standing(store, &checked->digest,
			out->signature.asked && out->signature.size > 0 ?
			out->signature.size : gathering.tree.size, out, err);
	if (status == KS_OK)
		status = compare_text(store, checked, out, err);
	ks_signed_release(&gathering.signed_);
	ks_trust_free(trust);
	ks_state_free(state);
	return status;
}
