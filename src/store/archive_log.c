/*
 * The log of a snapshot file: its rules, its key, its signature.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "store/archive.h"

/* ---- what is signed ------------------------------------------------- */

static enum ks_status
add_note(struct ks_signed *signed_, const struct ks_stored_note *note,
	struct ks_error *err)
{
	struct ks_checkpoints *notes = &signed_->notes;
	struct ks_stored_note copy = { .size = note->size,
		.root = note->root };
	struct ks_stored_note *grown = ks_grow(notes->list, notes->count,
		&notes->room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	notes->list = grown;
	ks_buf_append(&copy.bytes, ks_buf_span(&note->bytes));
	grown[notes->count++] = copy;
	return ks_buf_check(&copy.bytes, err);
}

/* Of a store only notes up to where the file begins count. */
static void
drop_later(struct ks_checkpoints *notes, uint64_t from)
{
	while (notes->count > 0 &&
		notes->list[notes->count - 1].size > from)
		ks_buf_release(&notes->list[--notes->count].bytes);
}

static enum ks_status
mark(struct ks_archive *archive, uint64_t size, struct ks_error *err)
{
	if (!archive->has_base && size <= archive->range.size)
		return KS_OK;
	return ks_signed_mark(&archive->signed_, size, err);
}

/* What was accepted of a smaller size than where the file begins cannot be
 * compared without the entries before. */
static enum ks_status
mark_seen(struct ks_archive *archive, struct ks_error *err)
{
	uint64_t sizes[2 * KS_TRUST_KEYS];
	size_t i, count = ks_trust_sizes(archive->trust, sizes);
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < count; i++) {
		status = mark(archive, sizes[i], err);
		if (!archive->has_base && sizes[i] < archive->range.size)
			archive->incomparable = true;
	}
	return status;
}

enum ks_status
ks_archive_begin_log(struct ks_archive *archive, struct ks_error *err)
{
	struct ks_checkpoints *notes = &archive->signed_.notes;
	uint64_t from = archive->range.size;
	enum ks_status status = KS_OK;
	size_t i;

	drop_later(notes, from);
	if (from > 0 && (notes->count == 0 ||
		notes->list[notes->count - 1].size < from))
		status = add_note(&archive->signed_, &archive->from_note, err);
	if (status == KS_OK)
		status = add_note(&archive->signed_, &archive->note, err);
	for (i = 0; status == KS_OK && i < notes->count; i++)
		status = mark(archive, notes->list[i].size, err);
	if (status == KS_OK)
		status = mark_seen(archive, err);
	ks_signed_start(&archive->signed_);
	return status;
}

/* ---- entries before the file that are not at hand ------------------- */

/* They published all that the file does not bring, of whatever kind, and of
 * each object all was said that some line may rest on. */
static bool
assume_object(void *arg, const struct ks_id *digest,
	struct ks_object_state *state, struct ks_span *kind,
	struct ks_id *successor)
{
	const struct ks_archive *archive = arg;

	(void)successor;
	if (archive->by_brought.used > 0 && ks_idmap_find(
		&archive->by_brought, archive->brought, digest) !=
		KS_IDMAP_NONE)
		return false;
	state->redacted = true;
	state->retracted = true;
	*kind = ks_span(NULL, 0);
	return true;
}

static bool
assume_no_id(void *arg, const uint8_t id[16], struct ks_id *digest)
{
	(void)arg;
	(void)id;
	(void)digest;
	return false;
}

static enum ks_status
make_replay(struct ks_archive *archive, struct ks_error *err)
{
	const struct ks_replay_loader loader = {
		.arg = archive, .object = assume_object, .id = assume_no_id
	};
	enum ks_status status = ks_archive_begin_log(archive, err);

	if (status == KS_OK)
		status = archive->range.size == 0 ?
			ks_replay_new(&archive->replay, err) :
			ks_replay_resume(&archive->replay, &loader,
				&archive->range, "", err);
	return status != KS_OK ? status : ks_takedowns_foresee(
		&archive->takedowns, archive->replay, archive->range.size,
		err);
}

/* ---- the lines ------------------------------------------------------ */

/* What a line's provenance names, and nothing has published yet: its kind is
 * judged when all lines are known. */
struct claim {
	uint64_t index;
	struct ks_id target;
	const char *member, *kind;
};

struct replaying {
	struct ks_archive *archive;
	struct ks_buf trimmed;
	struct claim *claims;
	size_t claim_count, claim_room;
};

static enum ks_status
keep_claim(struct replaying *replaying, bool claimed,
	const struct ks_id *target, const char *member, const char *kind,
	struct ks_error *err)
{
	struct ks_replay *replay = replaying->archive->replay;
	struct claim *grown;

	if (!claimed || ks_replay_find(replay, target) != KS_NO_OBJECT)
		return KS_OK;
	grown = ks_grow(replaying->claims, replaying->claim_count,
		&replaying->claim_room, sizeof(*grown), err);
	if (grown == NULL)
		return KS_NOMEM;
	replaying->claims = grown;
	grown[replaying->claim_count++] = (struct claim){
		ks_replay_tree(replay)->size - 1, *target, member, kind };
	return KS_OK;
}

static enum ks_status
keep_claims(struct replaying *replaying, const struct ks_provenance *names,
	struct ks_error *err)
{
	enum ks_status status = keep_claim(replaying, names->has_source,
		&names->source, "source", KS_API_KISTORE "/Source", err);

	return status != KS_OK ? status : keep_claim(replaying,
		names->has_project, &names->project, "project",
		KS_API_KERNELINDEX "/SoftwareProject", err);
}

static enum ks_status
check_claims(const struct replaying *replaying, struct ks_error *err)
{
	struct ks_replay *replay = replaying->archive->replay;
	size_t i;

	for (i = 0; i < replaying->claim_count; i++) {
		const struct claim *claim = &replaying->claims[i];
		uint32_t number = ks_replay_find(replay, &claim->target);
		struct ks_span kind;

		if (number == KS_NO_OBJECT)
			continue;
		kind = ks_replay_kind(replay, ks_replay_object(replay,
			number)->kind);
		if (kind.len > 0 && !ks_span_is(kind, claim->kind))
			return ks_fail(err, KS_CORRUPT, "entry %llu: "
				"provenance.%s is not of kind %s (R22)",
				(unsigned long long)claim->index,
				claim->member, claim->kind);
	}
	return KS_OK;
}

static enum ks_status
judge_verdict(struct ks_archive *archive, uint64_t index,
	enum ks_verdict verdict, const struct ks_error *rule,
	struct ks_error *err)
{
	if (verdict == KS_LINE_FAULT)
		return ks_fail(err, KS_CORRUPT, "entry %llu: %s",
			(unsigned long long)index, rule->message);
	if (verdict == KS_LINE_UNSUPPORTED &&
		archive->result->unsupported++ == 0)
		ks_watch_note(archive->options->watch, "entry %llu: %s",
			(unsigned long long)index, rule->message);
	return KS_OK;
}

static enum ks_status
replay_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct replaying *replaying = arg;
	struct ks_archive *archive = replaying->archive;
	struct ks_error rule = KS_ERROR_INIT;
	struct ks_entry entry;
	struct ks_id leaf;
	enum ks_verdict verdict;
	uint32_t object;
	enum ks_status status = ks_entry_parse(archive->jcs, line, &entry,
		&rule);

	ks_replay_leaf(line, &entry, &leaf);
	if (status == KS_OK && entry.op == KS_OP_TAKEDOWN &&
		archive->range.size > 0 && !archive->has_base)
		ks_takedowns_trim(&entry, archive->range.size,
			&replaying->trimmed);
	if (replaying->trimmed.failed || ks_replay_apply(archive->replay,
		status, &entry, &leaf, &verdict, &object, &rule) != KS_OK)
		return ks_fail_nomem(err);
	status = judge_verdict(archive, index, verdict, &rule, err);
	if (status == KS_OK)
		status = ks_signed_line(&archive->signed_, verdict ==
			KS_LINE_OK ? &entry : NULL,
			ks_replay_tree(archive->replay), err);
	if (status == KS_OK && verdict == KS_LINE_OK)
		status = keep_claims(replaying, &entry.claims, err);
	return status;
}

/* The first fault that only the end shows. A line that a takedown beyond the
 * file lists is redacted for it. */
struct end_fault {
	const struct ks_takedowns *later;
	struct ks_error *err;
	enum ks_status status;
};

static void
take_end_fault(void *arg, uint64_t index, const char *message)
{
	struct end_fault *fault = arg;

	if (fault->status == KS_OK && (fault->later == NULL ||
		!ks_takedowns_lists(fault->later, 0, index)))
		fault->status = ks_fail(fault->err, KS_CORRUPT,
			"entry %llu: %s", (unsigned long long)index, message);
}

static enum ks_status
replay_lines(struct ks_archive *archive, struct ks_error *err)
{
	struct replaying replaying = { .archive = archive };
	struct end_fault fault = {
		.later = archive->later, .err = err, .status = KS_OK
	};
	enum ks_status status = ks_archive_each_line(archive, replay_line,
		&replaying, err);

	ks_signed_end(&archive->signed_);
	if (status == KS_OK)
		status = check_claims(&replaying, err);
	if (status == KS_OK) {
		ks_replay_end(archive->replay, take_end_fault, &fault);
		status = fault.status;
	}
	free(replaying.claims);
	ks_buf_release(&replaying.trimmed);
	return status;
}

/* ---- the log's own key ---------------------------------------------- */

/* S3: the note of this size is signed by the key that the log names. */
static enum ks_status
check_signer(struct ks_archive *archive, const struct ks_stored_note *stored,
	const char *member, struct ks_error *err)
{
	const struct ks_log_key *key = ks_signed_key(&archive->signed_,
		stored->size);
	struct ks_note_key open = { .vkey = key == NULL ? NULL : &key->vkey };
	struct ks_error why = KS_ERROR_INIT;
	struct ks_note note;
	enum ks_status status;

	if (key == NULL)
		return ks_fail(err, KS_CORRUPT, "%s: the log names no key of "
			"its own within this size (S3)", member);
	status = ks_note_parse(ks_buf_span(&stored->bytes), &note, err);
	if (status != KS_OK)
		return status;
	status = ks_note_open(&note, &open, 1, &why);
	ks_note_release(&note);
	if (status == KS_OK)
		return KS_OK;
	return ks_fail(err, status == KS_NOMEM ? status : KS_CORRUPT,
		"%s: is not signed by %s+%08lx, the key that the log names in "
		"entry %llu (S3): %s", member, key->vkey.name,
		(unsigned long)key->vkey.id, (unsigned long long)key->index,
		why.message);
}

/* The key that the entries before name is not known without them. */
static enum ks_status
check_signers(struct ks_archive *archive, struct ks_error *err)
{
	bool all = archive->range.size == 0 || archive->has_base;
	enum ks_status status = KS_OK;

	if (all || ks_signed_key(&archive->signed_, archive->note.size) !=
		NULL)
		status = check_signer(archive, &archive->note, "checkpoint",
			err);
	if (status == KS_OK && archive->has_base)
		status = check_signer(archive, &archive->from_note,
			"from/checkpoint", err);
	return status;
}

/* ---- trust ---------------------------------------------------------- */

static bool
root_at(void *arg, uint64_t size, struct ks_id *out)
{
	struct ks_archive *archive = arg;
	bool known = true;

	if (size == archive->note.size)
		*out = archive->note.root;
	else if (size > 0 && size == archive->range.size)
		*out = archive->from_note.root;
	else
		known = ks_signed_root(&archive->signed_, size, out);
	return known;
}

static enum ks_status
judge_notes(struct ks_archive *archive, const struct ks_span *notes,
	size_t count, struct ks_trust_result *verdict, struct ks_error *err)
{
	const struct ks_trust_subject subject = {
		.origin = ks_buf_span(&archive->origin),
		.notes = notes,
		.note_count = count,
		.keys = archive->signed_.keys,
		.key_count = archive->signed_.key_count,
		.has_keys = archive->range.size == 0 || archive->has_base,
		.root = root_at,
		.arg = archive
	};

	return ks_trust_judge(archive->trust, &subject, verdict, err);
}

/* from/checkpoint vouches for nothing that checkpoint does not cover, but what
 * an exporter would not have written is refused. */
static enum ks_status
judge_from_note(struct ks_archive *archive, struct ks_error *err)
{
	struct ks_trust_result verdict;
	struct ks_span note = ks_buf_span(&archive->from_note.bytes);
	enum ks_status status = judge_notes(archive, &note, 1, &verdict, err);

	if (status != KS_OK || verdict.has_good)
		return status;
	archive->verdict = verdict;
	(void)snprintf(archive->verdict.message,
		sizeof(archive->verdict.message), "from/checkpoint: %.480s",
		verdict.message);
	return KS_OK;
}

static enum ks_status
each_line(void *arg, ks_line_fn *visit, void *to, struct ks_error *err)
{
	return ks_archive_each_line(arg, visit, to, err);
}

/* A proof needs all entries. */
static void
keep_fork(struct ks_archive *archive)
{
	ks_trusted_keep_fork(archive->state, &archive->verdict,
		ks_buf_span(&archive->note.bytes),
		archive->range.size > 0 ? NULL : each_line, archive,
		archive->options->watch, &archive->result->signature);
}

static enum ks_status
judge_signature(struct ks_archive *archive, struct ks_error *err)
{
	struct ks_trust_subject all;
	enum ks_status status = ks_signed_subject(&archive->signed_,
		ks_buf_span(&archive->origin), &all, err);

	if (status == KS_OK)
		status = judge_notes(archive, all.notes, all.note_count,
			&archive->verdict, err);
	if (status == KS_OK && archive->range.size > 0 && !archive->has_base &&
		archive->verdict.verdict == KS_TRUST_SIGNED)
		status = judge_from_note(archive, err);
	if (status != KS_OK)
		return status;
	ks_trusted_describe(archive->trust, &archive->verdict,
		archive->note.size, &archive->result->signature);
	if (archive->verdict.verdict == KS_TRUST_FORK)
		keep_fork(archive);
	return KS_OK;
}

/* What could not be judged, for who reads the result. */
static void
tell_left_out(struct ks_archive *archive)
{
	if (!ks_trust_is_asked(archive->trust))
		ks_archive_leave_out(archive, "signature not checked");
	if (archive->range.size > 0 && !archive->has_base)
		ks_archive_leave_out(archive, "rules that need the entries "
			"before the file are not checked (import checks "
			"them)");
	if (archive->incomparable)
		ks_archive_leave_out(archive, "not compared with what was "
			"accepted before, of a size before the file");
	if (archive->result->unsupported > 0)
		ks_archive_leave_out(archive, "which objects there must be "
			"is not checked");
}

enum ks_status
ks_archive_judge_log(struct ks_archive *archive, struct ks_error *err)
{
	enum ks_status status = ks_takedowns_check(&archive->takedowns,
		archive->range.size, archive->note.size, err);

	if (status == KS_OK)
		status = archive->hooks != NULL ?
			archive->hooks->base(archive->arg, err) :
			make_replay(archive, err);
	if (status == KS_OK && archive->replay == NULL)
		status = make_replay(archive, err);
	if (status == KS_OK)
		status = replay_lines(archive, err);
	if (status == KS_OK)
		status = check_signers(archive, err);
	if (status == KS_OK)
		status = judge_signature(archive, err);
	if (status != KS_OK)
		return status;
	tell_left_out(archive);
	return archive->hooks != NULL ?
		archive->hooks->judged(archive->arg, err) : KS_OK;
}

enum ks_status
ks_archive_accept(struct ks_archive *archive, struct ks_error *err)
{
	const struct ks_trust_options *trust = archive->options->trust;

	if (trust == NULL || archive->incomparable)
		return KS_OK;
	return ks_trusted_accept(archive->state, trust,
		&archive->verdict, ks_buf_span(&archive->note.bytes),
		archive->options->watch, &archive->result->signature, err);
}
