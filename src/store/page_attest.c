/*
 * Attestations on pages: those about a record, and an Attestation's own
 * (store-layout.md K31, N14).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"
#include "format/readout.h"
#include "store/page.h"

/* One that was read, with texts that last. */
struct said {
	struct ks_attestation said;
	const char *signer;	/* NAME+ID of one that counts most, or "" */
	const char *standing;	/* what the log says of it */
	uint64_t entry;
};

/* Those about one record, oldest first. */
struct listing {
	struct ks_texts texts;
	struct said *list;
	size_t count, room;
	size_t repeated;	/* left out: said before by the same key */
	bool all;		/* leave none out */
	bool failed;
};

static void
release_listing(struct listing *listing)
{
	ks_texts_release(&listing->texts);
	free(listing->list);
}

/* ---- reading ------------------------------------------------------------ */

static const char *
keep(struct listing *listing, const char *text)
{
	return ks_texts_keep(&listing->texts, ks_span_text(text));
}

/* A key that stands counts before one that does not. */
static void
keep_signer(struct listing *listing, const struct ks_attestation *from,
	struct said *out)
{
	size_t best = 0;
	size_t i;

	out->signer = out->standing = "";
	if (from->signer_count == 0)
		return;
	for (i = 0; i < from->signer_count; i++)
		if (strcmp(from->signers[i].standing, "controlled") == 0)
			best = i;
	out->signer = keep(listing, from->signers[best].name);
	out->standing = keep(listing, from->signers[best].standing);
	out->entry = from->signers[best].entry;
}

static void
keep_texts(struct listing *listing, const struct ks_attestation *from,
	struct said *out)
{
	out->said = *from;
	out->said.problem = keep(listing, from->problem);
	out->said.type = keep(listing, from->type);
	out->said.predicate_type = keep(listing, from->predicate_type);
	out->said.at = keep(listing, from->at);
	out->said.author = keep(listing, from->author);
	out->said.reason = keep(listing, from->reason);
	out->said.body = keep(listing, from->body);
	out->said.evidence_url = keep(listing, from->evidence_url);
	out->said.environment = keep(listing, from->environment);
	out->said.observed = keep(listing, from->observed);
	keep_signer(listing, from, out);
}

static bool
take(void *arg, const struct ks_attestation *attestation)
{
	struct listing *listing = arg;
	struct said *grown;

	if (attestation->repeated && !listing->all) {
		listing->repeated++;
		return false;
	}
	grown = ks_grow(listing->list, listing->count, &listing->room,
		sizeof(*grown), NULL);
	listing->failed = grown == NULL;
	if (grown == NULL)
		return true;
	listing->list = grown;
	keep_texts(listing, attestation, &listing->list[listing->count++]);
	return listing->texts.failed;
}

static enum ks_status
read_all(struct ks_composing *c, struct listing *listing, struct ks_error *err)
{
	enum ks_status status = ks_attestations_of(c->store, &c->part->digest,
		NULL, take, listing, err);

	if (status == KS_OK && (listing->failed || listing->texts.failed))
		status = ks_fail_nomem(err);
	return status;
}

/* ---- those about a record ----------------------------------------------- */

/* A type as KernelIndex shows it. */
static void
append_type(struct ks_buf *out, const struct said *said)
{
	const char *name = said->said.type[0] == '\0' ? "other statement" :
		said->said.type;

	for (; *name != '\0'; name++)
		ks_buf_byte(out, *name == '_' ? ' ' : (uint8_t)*name);
}

/* "2 reproduced · 1 environment note", in order of first appearance. */
static void
say_counts(struct ks_draft *draft, const struct listing *listing)
{
	struct ks_buf *value = ks_draft_row(draft, "", KS_ROW_DERIVED);
	size_t i = listing->count;
	size_t k, before, same;

	while (i-- > 0) {
		before = same = 0;
		for (k = 0; k < listing->count; k++) {
			bool equal = strcmp(listing->list[i].said.type,
				listing->list[k].said.type) == 0;

			before += equal && k > i;
			same += equal;
		}
		if (before > 0)
			continue;
		ks_buf_printf(value, "%s%zu ", value->len == 0 ? "" : " · ",
			same);
		append_type(value, &listing->list[i]);
	}
	if (listing->repeated > 0)
		ks_buf_printf(ks_draft_note(draft),
			"%zu that only repeat them are left out",
			listing->repeated);
}

static void
append_signer(struct ks_buf *out, const struct said *said)
{
	if (said->signer[0] == '\0')
		ks_buf_text(out, "signed by no key that the log registers");
	else
		ks_buf_printf(out, "signed by %s (%s)", said->signer,
			said->standing);
}

static void
say_text(struct ks_draft *draft, const char *label, const char *text)
{
	if (text[0] != '\0')
		ks_buf_text(ks_draft_row(draft, label, KS_ROW_OBJECT), text);
}

/* "620.0 µs · environment · author · date", then its text. */
static void
say_one(struct ks_draft *draft, const struct said *said)
{
	const struct ks_attestation *a = &said->said;
	struct ks_buf label = KS_BUF_INIT;
	struct ks_buf *value;

	append_type(&label, said);
	value = ks_draft_row_buf(draft, &label, KS_ROW_OBJECT);
	ks_buf_release(&label);
	append_signer(ks_draft_note(draft), said);
	ks_draft_target(draft, &a->digest);
	if (a->problem[0] != '\0') {
		ks_buf_text(value, a->problem);
		return;
	}
	if (a->observed[0] != '\0')
		ks_buf_printf(value, "%s · ", a->observed);
	if (a->environment[0] != '\0')
		ks_buf_printf(value, "%s · ", a->environment);
	ks_buf_printf(value, "%s · ", a->author);
	ks_readout_date(value, ks_span_text(a->at));
	say_text(draft, "", a->body);
	say_text(draft, "reason", a->reason);
	if (a->has_rerun) {
		ks_part_digits(ks_draft_row(draft, "rerun", KS_ROW_OBJECT),
			&a->rerun);
		ks_draft_target(draft, &a->rerun);
	}
	say_text(draft, "evidence →", a->evidence_url);
}

enum ks_status
ks_page_attestations(struct ks_composing *c, struct ks_error *err)
{
	struct listing listing = { .list = NULL };
	size_t i;
	enum ks_status status = read_all(c, &listing, err);

	if (status == KS_OK && listing.count == 0)
		ks_draft_say(&c->draft, "", "No attestations yet.");
	else if (status == KS_OK)
		say_counts(&c->draft, &listing);
	i = status == KS_OK ? listing.count : 0;
	while (i-- > 0)
		say_one(&c->draft, &listing.list[i]);
	release_listing(&listing);
	return status;
}

/* ---- an attestation's own page ------------------------------------------ */

/* A record by its name. */
static void
say_named(struct ks_composing *c, const char *label, const struct ks_id *id)
{
	struct ks_part part;
	struct ks_buf *value = ks_draft_row(&c->draft, label, KS_ROW_LOG);

	ks_draft_target(&c->draft, id);
	if (ks_part_known(c->store, id, &part, &c->draft.failed))
		ks_buf_text(ks_draft_note(&c->draft), ks_part_kind(&part));
	else
		ks_buf_text(ks_draft_note(&c->draft), "missing");
	ks_part_title(&part, value);
	ks_part_release(&part);
}

static void
say_statement(struct ks_composing *c, const struct said *said)
{
	const struct ks_attestation *a = &said->said;
	struct ks_draft *draft = &c->draft;

	ks_draft_section(draft, "Statement");
	say_text(draft, "type", a->type);
	if (a->type[0] == '\0')
		say_text(draft, "predicate type", a->predicate_type);
	if (a->has_subject)
		say_named(c, "about", &a->subject);
	if (a->has_rerun)
		say_named(c, "rerun", &a->rerun);
	say_text(draft, "reason", a->reason);
	say_text(draft, "observed", a->observed);
	say_text(draft, "environment", a->environment);
	say_text(draft, "text", a->body);
	say_text(draft, "evidence", a->evidence_url);
	say_text(draft, "author", a->author);
	say_text(draft, "at", a->at);
	say_text(draft, "not understood", a->problem);
	if (a->problem[0] != '\0')
		ks_draft_warn(draft);
}

/* N14: what a signature is worth. */
static void
say_signature(struct ks_draft *draft, const struct said *said)
{
	struct ks_buf *value;

	ks_draft_section(draft, "Signature");
	value = ks_draft_row(draft, "verified", KS_ROW_DERIVED);
	if (said->signer[0] == '\0') {
		ks_buf_text(value, "under no key that the log registers: "
			"anybody may have made it");
		ks_draft_warn(draft);
	} else {
		ks_buf_printf(value, "under %s", said->signer);
		ks_buf_printf(ks_draft_note(draft), "%s, by entry %" PRIu64,
			said->standing, said->entry);
	}
	value = ks_draft_row(draft, "counts", KS_ROW_DERIVED);
	ks_buf_text(value, said->said.counts ?
		"it makes the evidence of its subject Verified" :
		"it does not raise the evidence of its subject: only a rerun "
		"under a controlled key does");
}

static void
say_envelope(struct ks_composing *c)
{
	struct ks_span envelope = ks_json_get(c->part->record.spec,
		"envelope");
	struct ks_json_iter it = ks_json_iter(ks_json_get(envelope,
		"signatures"));
	struct ks_span signature;

	ks_draft_section(&c->draft, "Envelope");
	ks_draft_member(&c->draft, "payloadType", envelope, "payloadType",
		KS_ROW_OBJECT);
	ks_buf_printf(ks_draft_row(&c->draft, "signatures", KS_ROW_OBJECT),
		"%zu", ks_json_count(ks_json_get(envelope, "signatures")));
	while (ks_json_next_element(&it, &signature)) {
		if (ks_json_get(signature, "keyid").len == 0)
			continue;
		ks_draft_member(&c->draft, "keyid", signature, "keyid",
			KS_ROW_OBJECT);
		ks_buf_text(ks_draft_note(&c->draft),
			"a hint that nobody signed");
	}
}

enum ks_status
ks_page_attestation(struct ks_composing *c, struct ks_error *err)
{
	struct listing listing = { .all = true };
	enum ks_status status = read_all(c, &listing, err);

	if (status == KS_OK && listing.count > 0) {
		say_statement(c, &listing.list[0]);
		say_signature(&c->draft, &listing.list[0]);
		say_envelope(c);
	}
	release_listing(&listing);
	return status;
}
