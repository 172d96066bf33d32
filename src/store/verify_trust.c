#include <stdio.h>

#include "store/log.h"
#include "store/trusted.h"
#include "store/verify.h"

/* ---- before the log is read ------------------------------------------ */

static void
report_note(void *arg, const char *path, const char *message)
{
	ks_verify_report(arg, KS_SEVERITY_DAMAGE, NULL, path, "%s", message);
}

static struct ks_span
origin_of(const struct ks_verifying *verifying)
{
	return ks_buf_span(&verifying->store->origin);
}

static enum ks_status
mark_sizes(struct ks_verifying *verifying, struct ks_error *err)
{
	uint64_t sizes[2 * KS_TRUST_KEYS];
	size_t i, count = ks_trust_sizes(verifying->trust, sizes);
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < count; i++)
		status = ks_signed_mark(&verifying->signed_, sizes[i], err);
	for (i = 0; status == KS_OK && i < verifying->mark_count; i++)
		status = ks_signed_mark(&verifying->signed_,
			verifying->marks[i], err);
	return status;
}

/* What was accepted may be of a state that came after the store was opened:
 * then that one is judged, not a rollback seen in the older one. */
static enum ks_status
follow_memory(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_store *store = verifying->store;

	return verifying->options->trust == NULL || store->in_the_past ?
		KS_OK : ks_store_refresh(store, err);
}

enum ks_status
ks_verify_trust_begin(struct ks_verifying *verifying, struct ks_error *err)
{
	struct ks_store *store = verifying->store;
	enum ks_status status = ks_trusted_new(verifying->options->trust,
		origin_of(verifying), verifying->options->watch,
		&verifying->trust, &verifying->state, err);

	if (status == KS_OK && verifying->seen.len > 0)
		status = ks_trust_add_seen(verifying->trust, verifying->seen,
			true, err);
	if (status == KS_OK)
		status = follow_memory(verifying, err);
	if (status != KS_OK)
		return status;
	if (!ks_trust_is_asked(verifying->trust))
		ks_verify_leave_out(verifying, "signature not checked");
	status = ks_signed_read(&verifying->signed_, store->db, &store->tree,
		report_note, verifying, err);
	if (status == KS_CORRUPT)
		status = ks_verify_report_error(verifying, status, NULL,
			KS_PATH_CHECKPOINTS, err);
	verifying->result->checkpoints = verifying->signed_.notes.count;
	return status == KS_OK ? mark_sizes(verifying, err) : status;
}

/* ---- the notes against the log --------------------------------------- */

/* S3: the signature is that of the key which the log itself names, and all
 * names are the origin. Whether that key deserves trust is another question. */
static void
check_signer(struct ks_verifying *verifying,
	const struct ks_stored_note *stored, const char *path)
{
	const struct ks_log_key *key = ks_signed_key(&verifying->signed_,
		stored->size);
	struct ks_error why = KS_ERROR_INIT;
	struct ks_note_key open = { .vkey = key == NULL ? NULL : &key->vkey };
	struct ks_checkpoint checkpoint;
	struct ks_note note;

	if (key == NULL) {
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"the log names no key of its own within this size "
			"(S3)");
		return;
	}
	if (ks_note_parse(ks_buf_span(&stored->bytes), &note, &why) != KS_OK)
		return;
	if (ks_note_open(&note, &open, 1, &why) != KS_OK)
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"is not signed by %s+%08lx, the key that the log "
			"names in entry %llu (S3): %s", key->vkey.name,
			(unsigned long)key->vkey.id,
			(unsigned long long)key->index, why.message);
	else if (ks_checkpoint_parse(note.text, &checkpoint, &why) == KS_OK &&
		(!ks_span_is(checkpoint.origin, key->vkey.name) ||
		!ks_span_equal(checkpoint.origin, origin_of(verifying))))
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"its origin is not that of " KS_PATH_STORE
			" and of the log's key (S3)");
	ks_note_release(&note);
}

static void
check_note(struct ks_verifying *verifying,
	const struct ks_stored_note *stored, uint64_t log_size)
{
	char path[KS_CHECKPOINT_PATH];
	struct ks_id root;

	(void)ks_checkpoints_path(stored->size, path);
	if (!ks_signed_root(&verifying->signed_, stored->size, &root))
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"signs more than the %llu entries of the log (S2)",
			(unsigned long long)log_size);
	else if (!ks_id_equal(&root, &stored->root))
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"the log's entries are not those that it signs (S1)");
	check_signer(verifying, stored, path);
}

/* ---- a fork ---------------------------------------------------------- */

static enum ks_status
each_line(void *arg, ks_line_fn *visit, void *to, struct ks_error *err)
{
	const struct ks_store *store = arg;

	return ks_log_each(store->db, &store->tree, 0, visit, to, err);
}

static void
keep_fork(struct ks_verifying *verifying)
{
	const struct ks_trust_result *verdict = &verifying->verdict;

	ks_trusted_keep_fork(verifying->state, verdict,
		ks_buf_span(&verifying->signed_.notes.list[verdict->note].
			bytes), each_line, verifying->store,
		verifying->options->watch, &verifying->result->signature);
}

/* ---- the verdict ----------------------------------------------------- */

/* Without trust, what is signed is what the newest sound note claims. */
static void
claim(struct ks_verifying *verifying, uint64_t log_size)
{
	struct ks_signature_result *out = &verifying->result->signature;
	const struct ks_checkpoints *notes = &verifying->signed_.notes;
	struct ks_id root;
	size_t i;

	for (i = notes->count; i-- > 0; )
		if (ks_signed_root(&verifying->signed_, notes->list[i].size,
			&root) && ks_id_equal(&root, &notes->list[i].root)) {
			out->size = notes->list[i].size;
			out->tail = log_size - out->size;
			return;
		}
}

/* X3: a line goes when the takedown that lists it is signed, not before. */
static void
check_redactions(struct ks_verifying *verifying)
{
	const struct ks_signed *signed_ = &verifying->signed_;
	uint64_t size = verifying->result->signature.size;
	char segment[KS_SEGMENT_PATH], path[KS_SEGMENT_PATH + 24];
	size_t i;

	if (signed_->notes.count == 0 && !signed_->notes.has_newest)
		return;
	for (i = 0; i < signed_->redacted_count; i++) {
		uint64_t index = signed_->redacted[i];

		if (!ks_signed_is_unsigned_redaction(signed_, index, size))
			continue;
		(void)snprintf(path, sizeof(path), "%s:%llu",
			ks_layout_segment(index, segment), (unsigned long long)
			(index % KS_SEGMENT_ENTRIES + 1));
		verifying->unexcused++;
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
			"redacted by a takedown that nobody who is trusted "
			"has signed (X3)");
	}
}

enum ks_status
ks_verify_trust_judge(struct ks_verifying *verifying, struct ks_error *err)
{
	const struct ks_checkpoints *notes = &verifying->signed_.notes;
	uint64_t log_size = ks_replay_tree(verifying->replay)->size;
	struct ks_trust_subject subject;
	size_t i;
	enum ks_status status = ks_signed_subject(&verifying->signed_,
		origin_of(verifying), &subject, err);

	subject.is_past = verifying->store->in_the_past;
	if (status == KS_OK)
		status = ks_trust_judge(verifying->trust, &subject,
			&verifying->verdict, err);
	if (status != KS_OK)
		return status;
	for (i = 0; i < notes->count; i++)
		check_note(verifying, &notes->list[i], log_size);
	ks_trusted_describe(verifying->trust, &verifying->verdict, log_size,
		&verifying->result->signature);
	if (!verifying->result->signature.asked)
		claim(verifying, log_size);
	check_redactions(verifying);
	if (verifying->verdict.verdict == KS_TRUST_FORK)
		keep_fork(verifying);
	return KS_OK;
}

bool
ks_verify_is_gone(const struct ks_verifying *verifying,
	const struct ks_object_state *state)
{
	const struct ks_checkpoints *notes = &verifying->signed_.notes;

	if (!state->taken_down)
		return false;
	if (notes->count == 0 && !notes->has_newest)
		return true;
	return ks_signed_took_down(&verifying->signed_, &state->digest,
		verifying->result->signature.size);
}

/* Only what is sound throughout is accepted. */
enum ks_status
ks_verify_trust_end(struct ks_verifying *verifying, struct ks_error *err)
{
	const struct ks_trust_options *trust = verifying->options->trust;
	const struct ks_trust_result *verdict = &verifying->verdict;

	if (trust == NULL || verdict->verdict != KS_TRUST_SIGNED ||
		verifying->result->damaged + verifying->result->absent > 0)
		return KS_OK;
	return ks_trusted_accept(verifying->state, trust, verdict,
		ks_buf_span(&verifying->signed_.notes.list[verdict->note].
			bytes), verifying->options->watch,
		&verifying->result->signature, err);
}
