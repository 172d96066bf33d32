/*
 * Reading attestations: what they say, who has signed them, and whether that
 * counts (store-layout.md K31, K33, K34, N14, N19).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/idmap.h"
#include "format/keyfile.h"
#include "format/json.h"
#include "format/kind.h"
#include "format/readout.h"
#include "format/sshkey.h"
#include "store/attesters.h"
#include "store/input.h"

#define KIND_ATTESTATION KS_API_KISTORE "/Attestation"
#define NAME_SIZE 300

/* A key that an envelope may verify by. */
struct candidate {
	struct ks_vkey vkey;
	char name[NAME_SIZE];
	bool given;
	const struct ks_attester *registered;	/* or NULL */
};

/* The texts of one attestation, each ended by NUL. */
enum text {
	TEXT_PROBLEM,
	TEXT_KIND,
	TEXT_PREDICATE,
	TEXT_AT,
	TEXT_AUTHOR,
	TEXT_BODY,
	TEXT_URL,
	TEXT_ENVIRONMENT,
	TEXT_OBSERVED,
	TEXT_CLAIMED,
	TEXT_STATEMENT,
	TEXTS
};

struct reading {
	struct ks_store *store;		/* or NULL */
	struct ks_index *index;		/* with a store */
	struct candidate *candidates;
	size_t candidate_count;
	struct ks_attestation_signer *signers;
	ks_attestation_fn *visit;
	void *arg;
	bool hidden;	/* what is read was retracted or superseded */
	bool told, stopped;
	struct ks_buf seen;	/* struct ks_id: what was said, and by whom */
	struct ks_idmap map;
	struct ks_envelope envelope;
	struct ks_buf texts[TEXTS];
};

static void
release(struct reading *reading)
{
	size_t i;

	for (i = 0; i < TEXTS; i++)
		ks_buf_release(&reading->texts[i]);
	ks_envelope_release(&reading->envelope);
	ks_idmap_release(&reading->map);
	ks_buf_release(&reading->seen);
	free(reading->signers);
	free(reading->candidates);
}

/* ---- keys --------------------------------------------------------------- */

static void
name_by_vkey(struct candidate *candidate)
{
	(void)snprintf(candidate->name, NAME_SIZE, "%s+%08" PRIx32,
		candidate->vkey.name, candidate->vkey.id);
}

/* A key without a name is as good: an envelope is not for a name. */
static enum ks_status
read_key(struct ks_span text, struct candidate *out, struct ks_error *err)
{
	char fingerprint[KS_SSH_FINGERPRINT + 1];
	enum ks_status status = ks_public_key_read(text, ks_span(NULL, 0),
		&out->vkey, err);

	if (status == KS_OK)
		name_by_vkey(out);
	if (status == KS_USAGE) {
		status = ks_public_key_read(text, ks_span_text("key"),
			&out->vkey, err);
		if (status == KS_OK)
			(void)snprintf(out->name, NAME_SIZE, "%s",
				ks_ssh_fingerprint(&out->vkey.key,
				fingerprint));
	}
	if (status == KS_OK && out->vkey.type != KS_SIGNATURE_ED25519)
		return ks_fail(err, KS_USAGE, "a key of type 04 makes "
			"cosignatures and signs nothing else (M3)");
	/* Nothing is put in: what is no key is a mistake of the call. */
	if (status == KS_INVALID && err != NULL)
		err->status = KS_USAGE;
	return status == KS_INVALID ? KS_USAGE : status;
}

/* Mark the candidates that have the same key; add one where there is none. */
static void
add_given(struct reading *reading, const struct candidate *given)
{
	bool known = false;
	size_t i;

	for (i = 0; i < reading->candidate_count; i++) {
		struct candidate *old = &reading->candidates[i];

		if (!ks_public_key_equal(&old->vkey.key, &given->vkey.key))
			continue;
		old->given = true;
		known = true;
	}
	if (known)
		return;
	reading->candidates[i] = *given;
	reading->candidates[i].given = true;
	reading->candidate_count++;
}

static void
add_registered(struct reading *reading, const struct ks_attesters *attesters)
{
	size_t i;

	for (i = 0; attesters != NULL && i < ks_attesters_count(attesters);
		i++) {
		struct candidate *new =
			&reading->candidates[reading->candidate_count++];

		new->registered = ks_attesters_at(attesters, i);
		new->vkey = new->registered->vkey;
		name_by_vkey(new);
	}
}

static enum ks_status
add_keys(struct reading *reading, const struct ks_attestation_keys *keys,
	const struct ks_attesters *attesters, struct ks_error *err)
{
	size_t room = 1 + (keys == NULL ? 0 : keys->count) +
		(attesters == NULL ? 0 : ks_attesters_count(attesters));
	enum ks_status status = KS_OK;
	size_t i;

	reading->candidates = calloc(room, sizeof(*reading->candidates));
	reading->signers = calloc(room, sizeof(*reading->signers));
	if (reading->candidates == NULL || reading->signers == NULL)
		return ks_fail_nomem(err);
	add_registered(reading, attesters);
	for (i = 0; status == KS_OK && keys != NULL && i < keys->count; i++) {
		struct candidate given = { .given = true };

		status = read_key(keys->texts[i], &given, err);
		if (status == KS_OK)
			add_given(reading, &given);
	}
	return status;
}

static enum ks_status
begin(struct reading *reading, const struct ks_attestation_keys *keys,
	struct ks_error *err)
{
	struct ks_attesters *attesters = NULL;
	enum ks_status status = KS_OK;

	ks_idmap_init(&reading->map, KS_ID_BYTES, sizeof(struct ks_id));
	if (reading->store != NULL)
		status = ks_store_index(reading->store, &reading->index, NULL,
			err);
	if (status == KS_OK && reading->store != NULL)
		status = ks_store_attesters(reading->store, &attesters, err);
	return status == KS_OK ? add_keys(reading, keys, attesters, err) :
		status;
}

/* ---- what was said before ----------------------------------------------- */

static enum ks_status
remember(struct reading *reading, const struct ks_id *identity, bool *before,
	struct ks_error *err)
{
	*before = ks_idmap_find(&reading->map, reading->seen.data,
		identity) != KS_IDMAP_NONE;
	if (*before)
		return KS_OK;
	ks_buf_append(&reading->seen, ks_span(identity, sizeof(*identity)));
	if (ks_buf_check(&reading->seen, err) != KS_OK)
		return KS_NOMEM;
	return ks_idmap_add(&reading->map, reading->seen.data) ? KS_OK :
		ks_fail_nomem(err);
}

/* Who has signed, and whether all of it was said before. What nobody known has
 * signed is known by the payload alone. */
static enum ks_status
find_signers(struct reading *reading, struct ks_attestation *out,
	struct ks_error *err)
{
	static const struct ks_public_key nobody;
	const struct ks_dsse *dsse = &reading->envelope.dsse;
	struct ks_id identity;
	bool before, all = true;
	size_t i;
	enum ks_status status;

	ks_dsse_identity(dsse, &nobody, &identity);
	status = remember(reading, &identity, &before, err);
	for (i = 0; status == KS_OK && i < reading->candidate_count; i++) {
		const struct candidate *key = &reading->candidates[i];
		struct ks_attestation_signer *signer =
			&reading->signers[out->signer_count];

		if (ks_dsse_verify(dsse, &key->vkey, NULL) != KS_OK)
			continue;
		*signer = (struct ks_attestation_signer){
			.name = key->name,
			.given = key->given,
			.standing = ks_standing_name(key->registered),
			.entry = key->registered == NULL ? 0 :
				key->registered->entry
		};
		ks_dsse_identity(dsse, &key->vkey.key, &identity);
		status = remember(reading, &identity, &signer->repeated, err);
		all = all && signer->repeated;
		out->trusted = out->trusted || key->given ||
			strcmp(signer->standing, "controlled") == 0;
		out->signer_count++;
	}
	out->signers = reading->signers;
	out->repeated = out->signer_count == 0 ? before : all;
	return status;
}

static bool
is_controlled(const struct ks_attestation *attestation)
{
	size_t i;

	for (i = 0; i < attestation->signer_count; i++)
		if (strcmp(attestation->signers[i].standing,
			"controlled") == 0)
			return true;
	return false;
}

/* ---- what is said ------------------------------------------------------- */

static const char *
text_of(struct reading *reading, enum text which, struct ks_span text)
{
	ks_buf_append(&reading->texts[which], text);
	return ks_buf_cstr(&reading->texts[which]);
}

static const char *
unescaped(struct reading *reading, enum text which, struct ks_span raw)
{
	ks_json_unescape(&reading->texts[which], raw);
	return ks_buf_cstr(&reading->texts[which]);
}

static void
take_statement(struct reading *reading, const struct ks_statement *statement,
	struct ks_attestation *out)
{
	char time[KS_TIME_TEXT + 1];

	out->type = ks_statement_type_name(statement->type);
	out->reason = ks_statement_reason_name(statement->reason);
	if (ks_time_print(statement->at, time))
		out->at = text_of(reading, TEXT_AT, ks_span_text(time));
	out->author = text_of(reading, TEXT_AUTHOR, statement->author);
	out->body = text_of(reading, TEXT_BODY, statement->body);
	out->evidence_url = text_of(reading, TEXT_URL,
		statement->evidence_url);
	out->environment = text_of(reading, TEXT_ENVIRONMENT,
		statement->environment);
	out->has_rerun = statement->has_rerun;
	out->rerun = statement->rerun;
	if (!statement->has_observed)
		return;
	out->observed_ns = statement->observed_ns;
	ks_readout_latency(&reading->texts[TEXT_OBSERVED],
		statement->observed_ns);
	out->observed = ks_buf_cstr(&reading->texts[TEXT_OBSERVED]);
}

/* The statement of kistore's own type, or why it is none. */
static enum ks_status
read_statement(struct reading *reading, struct ks_attestation *out,
	struct ks_error *err)
{
	struct ks_statement statement;
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = ks_statement_parse(
		reading->envelope.dsse.payload, &statement, &why);

	if (status == KS_NOMEM)
		return ks_fail_nomem(err);
	if (status != KS_OK) {
		out->problem = text_of(reading, TEXT_PROBLEM,
			ks_span_text(why.message));
		out->malformed = status == KS_INVALID;
		return KS_OK;
	}
	take_statement(reading, &statement, out);
	out->counts = out->is_record && !reading->hidden && !out->repeated &&
		is_controlled(out) &&
		ks_attesters_is_rerun(reading->index, &statement);
	ks_statement_release(&statement);
	return KS_OK;
}

/* The frame, which statements of every type have. */
static enum ks_status
read_frame(struct reading *reading, struct ks_attestation *out,
	struct ks_error *err)
{
	struct ks_buf canonical = KS_BUF_INIT;
	struct ks_statement_frame frame;
	struct ks_index_row row;
	enum ks_status status = ks_statement_frame(
		reading->envelope.dsse.payload, &canonical, &frame, err);

	if (status == KS_OK) {
		out->has_subject = true;
		out->subject = frame.subject;
		out->predicate_type = unescaped(reading, TEXT_PREDICATE,
			frame.predicate_type);
		(void)text_of(reading, TEXT_STATEMENT,
			ks_buf_span(&canonical));
		out->statement = ks_buf_span(&reading->texts[TEXT_STATEMENT]);
	}
	ks_buf_release(&canonical);
	if (status != KS_OK || reading->index == NULL)
		return status == KS_NOMEM ? status : KS_OK;
	if (ks_index_object(reading->index, &out->subject, &row))
		out->subject_kind = text_of(reading, TEXT_KIND,
			ks_span_text(row.kind));
	return ks_index_check(reading->index, err);
}

/* The first keyid, which nobody has signed. */
static void
read_claim(struct reading *reading, struct ks_attestation *out)
{
	struct ks_json_iter it = ks_json_iter(ks_json_get(
		reading->envelope.json, "signatures"));
	struct ks_span first;

	if (ks_json_next_element(&it, &first))
		out->claimed = unescaped(reading, TEXT_CLAIMED,
			ks_json_get_raw(first, "keyid"));
}

static enum ks_status
check_texts(const struct reading *reading, struct ks_error *err)
{
	size_t i;

	for (i = 0; i < TEXTS; i++)
		if (ks_buf_check(&reading->texts[i], err) != KS_OK)
			return KS_NOMEM;
	return KS_OK;
}

/* Tell of the attestation in reading->envelope; `opened` is what came of
 * opening it, with *why. */
static enum ks_status
tell(struct reading *reading, const struct ks_id *record,
	enum ks_status opened, const struct ks_error *why,
	struct ks_error *err)
{
	struct ks_attestation told = {
		.is_record = record != NULL, .problem = "",
		.subject_kind = "", .predicate_type = "", .type = "",
		.at = "", .author = "", .reason = "", .body = "",
		.evidence_url = "", .environment = "", .observed = "",
		.claimed = ""
	};
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; i < TEXTS; i++)
		ks_buf_clear(&reading->texts[i]);
	if (record != NULL)
		told.digest = *record;
	if (opened != KS_OK) {
		told.problem = why->message;
		told.malformed = true;
	} else {
		read_claim(reading, &told);
		status = find_signers(reading, &told, err);
		if (status == KS_OK)
			status = read_frame(reading, &told, err);
		if (status == KS_OK)
			status = read_statement(reading, &told, err);
	}
	if (status == KS_OK)
		status = check_texts(reading, err);
	if (status == KS_OK)
		reading->stopped = reading->visit(reading->arg, &told);
	reading->told = reading->told || status == KS_OK;
	return status;
}

/* ---- in a store --------------------------------------------------------- */

struct place {
	uint64_t published;
	struct ks_id digest;
};

static bool
note_standing(void *arg, const struct ks_index_row *row)
{
	struct place place = { row->state.published, row->state.digest };

	if (!row->state.taken_down && !row->state.retracted &&
		!row->state.superseded)
		ks_buf_append(arg, ks_span(&place, sizeof(place)));
	return false;
}

static int
by_publication(const void *a, const void *b)
{
	uint64_t x = ((const struct place *)a)->published;
	uint64_t y = ((const struct place *)b)->published;

	return (x > y) - (x < y);
}

/* Whether what was read is about `subject`; what cannot be read is about
 * nothing. */
static enum ks_status
is_about(const struct reading *reading, const struct ks_id *subject,
	bool *about, struct ks_error *err)
{
	struct ks_buf canonical = KS_BUF_INIT;
	struct ks_statement_frame frame;
	enum ks_status status = ks_statement_frame(
		reading->envelope.dsse.payload, &canonical, &frame, err);

	*about = status == KS_OK && ks_id_equal(&frame.subject, subject);
	ks_buf_release(&canonical);
	return status == KS_INVALID ? KS_OK : status;
}

static enum ks_status
tell_if_about(struct reading *reading, const struct ks_id *record,
	const struct ks_id *subject, struct ks_error *err)
{
	bool about = false;
	enum ks_status status = ks_envelope_read(reading->store, record,
		&reading->envelope, err);

	if (status == KS_OK)
		status = is_about(reading, subject, &about, err);
	if (status == KS_OK && about)
		return tell(reading, record, KS_OK, NULL, err);
	return status == KS_INVALID ? KS_OK : status;
}

static enum ks_status
tell_all(struct reading *reading, const struct ks_id *subject,
	struct ks_error *err)
{
	struct ks_buf places = KS_BUF_INIT;
	struct place place;
	size_t i;
	enum ks_status status = ks_index_by_kind(reading->index,
		KIND_ATTESTATION, note_standing, &places, err);

	if (status == KS_OK)
		status = ks_buf_check(&places, err);
	if (places.len > 0)
		qsort(places.data, places.len / sizeof(place), sizeof(place),
			by_publication);
	for (i = 0; status == KS_OK && !reading->stopped && i < places.len;
		i += sizeof(place)) {
		memcpy(&place, places.data + i, sizeof(place));
		status = tell_if_about(reading, &place.digest, subject, err);
	}
	ks_buf_release(&places);
	return status;
}

static enum ks_status
tell_one(struct reading *reading, const struct ks_id *record,
	struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = ks_envelope_read(reading->store, record,
		&reading->envelope, &why);

	if (status == KS_OK || status == KS_INVALID)
		return tell(reading, record, status, &why, err);
	if (err != NULL)
		*err = why;
	return status;
}

enum ks_status
ks_attestations_of(struct ks_store *store, const struct ks_id *digest,
	const struct ks_attestation_keys *keys, ks_attestation_fn *visit,
	void *arg, struct ks_error *err)
{
	struct reading reading = {
		.store = store, .visit = visit, .arg = arg
	};
	struct ks_index_row row;
	enum ks_status status = begin(&reading, keys, err);

	if (status == KS_OK && !ks_index_object(reading.index, digest, &row)) {
		status = ks_store_explain_absence(store, digest, err);
	} else if (status == KS_OK && strcmp(row.kind, KIND_ATTESTATION) == 0) {
		reading.hidden = row.state.retracted || row.state.superseded;
		status = tell_one(&reading, digest, err);
	} else if (status == KS_OK) {
		status = tell_all(&reading, digest, err);
		/* Where the line was taken down, too, it may have been one. */
		if (status == KS_OK && !reading.told && row.kind[0] == '\0')
			status = ks_store_explain_absence(store, digest, err);
	}
	release(&reading);
	return status;
}

/* ---- in a file ---------------------------------------------------------- */

static enum ks_status
tell_text(struct reading *reading, struct ks_jcs *jcs, struct ks_span text,
	const char *name, uint64_t line, struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	char shown[256];
	enum ks_status status;

	if (ks_span_trim(text).len == 0 && line > 0)
		return KS_OK;
	ks_buf_clear(&reading->envelope.body);
	status = ks_jcs_scan(jcs, text, &ks_jcs_manifest,
		&reading->envelope.body, err);
	if (status == KS_OK) {
		status = ks_envelope_open(&reading->envelope, &why);
		if (status != KS_OK && status != KS_INVALID)
			return ks_fail_nomem(err);
		return tell(reading, NULL, status, &why, err);
	}
	(void)ks_printable(shown, sizeof(shown), ks_span_text(name));
	if (line > 0)
		(void)ks_context(err, "%s:%llu", shown,
			(unsigned long long)line);
	else
		(void)ks_context(err, "%s", shown);
	/* E10: this is judged, not put in. */
	if (status == KS_INVALID && err != NULL)
		err->status = KS_CORRUPT;
	return status == KS_INVALID ? KS_CORRUPT : status;
}

static enum ks_status
tell_lines(struct reading *reading, struct ks_jcs *jcs,
	const struct ks_chunk *chunk, struct ks_error *err)
{
	struct ks_span rest = ks_buf_span(&chunk->text);
	uint64_t line = chunk->line;
	enum ks_status status = KS_OK;

	if (line == 0)
		return tell_text(reading, jcs, rest, chunk->name, 0, err);
	while (status == KS_OK && !reading->stopped && rest.len > 0) {
		const uint8_t *end = memchr(rest.data, '\n', rest.len);
		size_t len = end == NULL ? rest.len :
			(size_t)(end - rest.data);

		status = tell_text(reading, jcs, ks_span(rest.data, len),
			chunk->name, line++, err);
		len += end == NULL ? 0 : 1;
		rest = ks_span(rest.data + len, rest.len - len);
	}
	return status;
}

static enum ks_status
tell_input(struct reading *reading, struct ks_input *input,
	struct ks_error *err)
{
	struct ks_chunk chunk = { .text = KS_BUF_INIT };
	struct ks_jcs *jcs = NULL;
	bool more = true;
	enum ks_status status = ks_jcs_new(&jcs, err);

	while (status == KS_OK && !reading->stopped) {
		status = ks_input_next(input, &chunk, &more, err);
		if (status != KS_OK || !more)
			break;
		status = tell_lines(reading, jcs, &chunk, err);
	}
	ks_jcs_free(jcs);
	ks_buf_release(&chunk.text);
	return status;
}

/* E10: a malformed file is a fault, and one that is no file cannot be read. */
static enum ks_status
as_judged(enum ks_status status, bool opened, struct ks_error *err)
{
	if (status != KS_INVALID)
		return status;
	status = opened ? KS_CORRUPT : KS_IO;
	if (err != NULL)
		err->status = status;
	return status;
}

enum ks_status
ks_attestations_in(struct ks_store *store, const char *path,
	const struct ks_attestation_keys *keys, ks_attestation_fn *visit,
	void *arg, struct ks_error *err)
{
	struct reading reading = {
		.store = store, .visit = visit, .arg = arg
	};
	struct ks_input *input = NULL;
	enum ks_status status = begin(&reading, keys, err);

	if (status == KS_OK)
		status = as_judged(ks_input_new(&input, &path, 1, NULL, err),
			false, err);
	if (status == KS_OK)
		status = as_judged(tell_input(&reading, input, err), true,
			err);
	ks_input_free(input);
	release(&reading);
	return status;
}
