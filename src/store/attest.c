/*
 * Filing an attestation: judged, signed and put, in one commit
 * (store-layout.md K33 to K35).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "format/kind.h"
#include "store/attesters.h"
#include "store/keys.h"
#include "store/put.h"
#include "store/state.h"

#define KIND_ATTESTATION KS_API_KISTORE "/Attestation"
#define DAY 86400

/* One filing on its way. */
struct filing {
	struct ks_store *store;
	const struct ks_attest_options *options;
	struct ks_statement statement;
	struct ks_statement_facts facts;
	struct ks_writing writing;
	struct ks_buf subject_kind, rerun_kind;	/* what `facts` has */
	struct ks_buf payload, envelope, manifest;
};

/* ---- what needs no store ------------------------------------------------ */

/* A word as it is typed: '-' stands for '_'. One that is too long is none. */
static struct ks_span
word(const char *typed, char out[64])
{
	size_t i;

	for (i = 0; i < 63 && typed[i] != '\0'; i++) {
		out[i] = typed[i];
		if (out[i] == '-')
			out[i] = '_';
	}
	out[i] = '\0';
	return ks_span(out, i);
}

static enum ks_status
read_words(const struct ks_attest_options *options,
	struct ks_statement *out, struct ks_error *err)
{
	char text[64];
	enum ks_status status = ks_statement_type_parse(word(
		options->type == NULL ? "" : options->type, text), &out->type,
		err);

	if (status != KS_OK || options->reason == NULL)
		return status;
	return ks_statement_reason_parse(word(options->reason, text),
		&out->reason, err);
}

/* The parts that are given as they are. */
static void
take_texts(const struct ks_attest_options *options, struct ks_statement *out)
{
	out->body = options->body;
	out->evidence_url = options->evidence_url;
	out->environment = options->environment;
	out->author = options->author;
	if (out->author.data == NULL && options->signer != NULL)
		out->author = ks_span_text(ks_signer_name(options->signer));
	out->has_rerun = options->rerun;
}

/* Judge by the rules that come before those about the store; a subject that
 * nobody has published stops there. */
static enum ks_status
check_form(const struct ks_statement *statement, struct ks_error *err)
{
	static const struct ks_statement_facts nothing;
	struct ks_statement copy = *statement;
	enum ks_status status;

	/* Which run it is comes later, but not the same. */
	memset(&copy.subject, 0, sizeof(copy.subject));
	memset(&copy.rerun, 0xff, sizeof(copy.rerun));
	status = ks_statement_admit(&copy, &nothing, err);
	return status == KS_NOT_FOUND ? KS_OK : status;
}

/* The value has its turn after type, reason, body and URL. */
static enum ks_status
read_value(const struct ks_attest_options *options, struct ks_statement *out,
	struct ks_error *err)
{
	struct ks_statement before = *out;
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status;

	if (options->value == NULL)
		return KS_OK;
	status = ks_statement_value_parse(ks_span_text(options->value),
		&out->observed_ns, &why);
	out->has_observed = status == KS_OK;
	if (status == KS_OK)
		return KS_OK;
	before.environment = ks_span(NULL, 0);
	before.has_rerun = before.type == KS_STATEMENT_RERUN;
	status = check_form(&before, err);
	return status != KS_OK ? status : ks_fail(err, KS_INVALID, "%s",
		why.message);
}

static enum ks_status
read_options(const struct ks_attest_options *options,
	struct ks_statement *out, struct ks_error *err)
{
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	status = read_words(options, out, err);
	if (status != KS_OK)
		return status;
	take_texts(options, out);
	status = read_value(options, out, err);
	return status == KS_OK ? check_form(out, err) : status;
}

enum ks_status
ks_attest_check(const struct ks_attest_options *options, struct ks_error *err)
{
	struct ks_statement statement;

	return read_options(options, &statement, err);
}

/* ---- the key ------------------------------------------------------------ */

/* N13: a key that has signed a log here, this one or another, signs nothing
 * else. */
static enum ks_status
check_memory(const struct ks_attest_options *options, struct ks_error *err)
{
	const struct ks_vkey *vkey = ks_signer_vkey(options->signer);
	struct ks_state *state = NULL;
	bool signs = false;
	enum ks_status status = ks_state_new(&state,
		options->state_directory, err);

	if (status == KS_OK)
		status = ks_state_has_signed(state, vkey, &signs, err);
	ks_state_free(state);
	if (status == KS_OK && signs)
		return ks_fail(err, KS_INVALID, "that key has signed snapshots "
			"of %s, and the key of a log is used for nothing else: "
			"what it signs must not be taken for a snapshot (N13); "
			"use another one", vkey->name);
	return status;
}

static enum ks_status
check_key(struct filing *filing, struct ks_attest_result *result,
	struct ks_error *err)
{
	const struct ks_vkey *vkey = ks_signer_vkey(filing->options->signer);
	struct ks_attesters *attesters;
	enum ks_status status = ks_store_attesters(filing->store, &attesters,
		err);

	if (status == KS_OK)
		status = ks_attesters_check_use(attesters, vkey, err);
	if (status == KS_OK)
		status = check_memory(filing->options, err);
	if (status == KS_OK)
		result->standing = ks_standing_name(ks_attesters_find(
			attesters, vkey));
	(void)snprintf(result->signer, sizeof(result->signer),
		"%s+%08" PRIx32, vkey->name, vkey->id);
	return status;
}

/* ---- what the store knows ----------------------------------------------- */

/* The kind of a record, kept in `kept`; empty when it is not published. */
static enum ks_status
find_kind(struct filing *filing, const struct ks_id *digest,
	struct ks_buf *kept, struct ks_span *kind, struct ks_error *err)
{
	struct ks_replay *replay = filing->writing.replay;
	uint32_t object = ks_replay_find(replay, digest);
	const struct ks_object_state *state;
	char text[KS_ID_TEXT + 1];

	if (object == KS_NO_OBJECT)
		return ks_replay_check(replay, err);
	state = ks_replay_object(replay, object);
	if (state->taken_down)
		return ks_fail(err, KS_NOT_FOUND, "%s was taken down",
			ks_id_print(digest, text));
	ks_buf_append(kept, ks_replay_kind(replay, state->kind));
	*kind = ks_buf_span(kept);
	return ks_buf_check(kept, err);
}

/* An Attestation of the log. */
struct place {
	uint64_t published;
	struct ks_id digest;
};

static bool
note_place(void *arg, const struct ks_index_row *row)
{
	struct place place = { row->state.published, row->state.digest };

	if (!row->state.taken_down)
		ks_buf_append(arg, ks_span(&place, sizeof(place)));
	return false;
}

/* The newest first. */
static int
by_publication(const void *a, const void *b)
{
	uint64_t x = ((const struct place *)a)->published;
	uint64_t y = ((const struct place *)b)->published;

	return (x < y) - (x > y);
}

/* Whether an entry is of the last 24 hours. */
static enum ks_status
is_recent(struct filing *filing, uint64_t entry, bool *recent,
	struct ks_error *err)
{
	struct ks_buf line = KS_BUF_INIT;
	struct ks_entry parsed = { .at = ks_span(NULL, 0) };
	int64_t at = INT64_MIN;
	enum ks_status status = ks_store_line(filing->store, entry, &line,
		err);

	if (status == KS_OK)
		status = ks_entry_parse(filing->store->jcs, ks_buf_span(&line),
			&parsed, err);
	*recent = status == KS_OK && ks_time_parse(parsed.at, &at) &&
		at > filing->writing.seconds - DAY;
	ks_buf_release(&line);
	return status;
}

/* K35: an observation counts for the key that signed it, a correction for the
 * record that it is about. */
static bool
is_counted(const struct filing *filing, const struct ks_statement *statement,
	const struct ks_dsse *dsse)
{
	const struct ks_statement *wanted = &filing->statement;

	if (wanted->type == KS_STATEMENT_CORRECTION_WANTED)
		return statement->type == wanted->type &&
			ks_id_equal(&statement->subject, &wanted->subject);
	return statement->type != KS_STATEMENT_CORRECTION_WANTED &&
		statement->type != KS_STATEMENT_RERUN && ks_dsse_verify(dsse,
		ks_signer_vkey(filing->options->signer), NULL) == KS_OK;
}

/* Envelopes are malleable, so payloads are counted. */
static bool
is_first(struct ks_buf *seen, const struct ks_dsse *dsse)
{
	static const struct ks_public_key nobody;
	struct ks_id identity;
	size_t i;

	ks_dsse_identity(dsse, &nobody, &identity);
	for (i = 0; i < seen->len; i += sizeof(identity))
		if (memcmp(seen->data + i, &identity, sizeof(identity)) == 0)
			return false;
	ks_buf_append(seen, ks_span(&identity, sizeof(identity)));
	return true;
}

static enum ks_status
count_one(struct filing *filing, const struct ks_id *digest,
	struct ks_buf *seen, struct ks_error *err)
{
	struct ks_envelope envelope = KS_ENVELOPE_INIT;
	struct ks_statement statement;
	enum ks_status status = ks_envelope_read(filing->store, digest,
		&envelope, err);

	if (status == KS_OK)
		status = ks_statement_parse(envelope.dsse.payload, &statement,
			err);
	if (status == KS_OK) {
		if (is_counted(filing, &statement, &envelope.dsse) &&
			is_first(seen, &envelope.dsse))
			filing->facts.filed++;
		ks_statement_release(&statement);
	}
	ks_envelope_release(&envelope);
	/* What cannot be read was not filed here. */
	return status == KS_INVALID || status == KS_UNSUPPORTED ? KS_OK :
		status;
}

/* Times never fall in a log (R6), so the newest are looked at first. */
static enum ks_status
count_recent(struct filing *filing, struct ks_span places,
	struct ks_error *err)
{
	struct ks_buf seen = KS_BUF_INIT;
	struct place place;
	bool recent = true;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < places.len &&
		filing->facts.filed < KS_STATEMENT_PER_DAY;
		i += sizeof(place)) {
		memcpy(&place, places.data + i, sizeof(place));
		status = is_recent(filing, place.published, &recent, err);
		if (status != KS_OK || !recent)
			break;
		status = count_one(filing, &place.digest, &seen, err);
	}
	if (status == KS_OK)
		status = ks_buf_check(&seen, err);
	ks_buf_release(&seen);
	return status;
}

static enum ks_status
count_filed(struct filing *filing, struct ks_error *err)
{
	struct ks_buf places = KS_BUF_INIT;
	enum ks_status status;

	if (filing->statement.type == KS_STATEMENT_RERUN)
		return KS_OK;
	status = ks_index_by_kind(filing->writing.index, KIND_ATTESTATION,
		note_place, &places, err);
	if (status == KS_OK)
		status = ks_buf_check(&places, err);
	if (places.len > 0)
		qsort(places.data, places.len / sizeof(struct place),
			sizeof(struct place), by_publication);
	if (status == KS_OK)
		status = count_recent(filing, ks_buf_span(&places), err);
	ks_buf_release(&places);
	return status;
}

static enum ks_status
admit(struct filing *filing, struct ks_error *err)
{
	struct ks_statement *statement = &filing->statement;
	enum ks_status status = find_kind(filing, &statement->subject,
		&filing->subject_kind, &filing->facts.subject, err);

	if (status == KS_OK && statement->has_rerun)
		status = find_kind(filing, &statement->rerun,
			&filing->rerun_kind, &filing->facts.rerun, err);
	if (status == KS_OK)
		status = count_filed(filing, err);
	statement->kind = filing->facts.subject;
	statement->at = filing->writing.seconds;
	return status == KS_OK ? ks_statement_admit(statement,
		&filing->facts, err) : status;
}

/* ---- signing and putting ------------------------------------------------ */

static enum ks_status
sign(struct filing *filing, struct ks_error *err)
{
	const struct ks_named_key *key = ks_signer_key(
		filing->options->signer);
	enum ks_status status = ks_statement_write(&filing->statement,
		&filing->payload, err);

	if (status == KS_OK)
		status = ks_dsse_make(ks_span_text(KS_STATEMENT_PAYLOAD_TYPE),
			ks_buf_span(&filing->payload), ks_span_text(key->name),
			&key->secret, &filing->envelope, err);
	ks_buf_text(&filing->manifest, "{\"apiVersion\":\"" KS_API_KISTORE
		"\",\"kind\":\"Attestation\",\"spec\":{\"envelope\":");
	ks_buf_append(&filing->manifest, ks_buf_span(&filing->envelope));
	ks_buf_text(&filing->manifest, "}}");
	return status == KS_OK ? ks_buf_check(&filing->manifest, err) :
		status;
}

static enum ks_status
commit(struct filing *filing, struct ks_collection *all,
	struct ks_put_result *put, struct ks_error *err)
{
	struct ks_buf message = KS_BUF_INIT;
	char text[KS_ID_TEXT + 1];
	enum ks_status status;

	ks_buf_printf(&message, "attest %s %s\n", ks_statement_type_name(
		filing->statement.type), ks_id_print(
		&filing->statement.subject, text));
	status = ks_buf_check(&message, err);
	if (status == KS_OK)
		status = ks_put_commit(&filing->writing, all,
			ks_buf_cstr(&message), put, err);
	ks_buf_release(&message);
	return status;
}

static void
take_result(const struct ks_collection *all, const struct ks_put_result *put,
	struct ks_attest_result *result)
{
	result->digest = all->outcomes[0].digest;
	result->added = all->outcomes[0].is_new;
	result->size = put->size;
	memcpy(result->commit, put->commit, sizeof(result->commit));
}

static enum ks_status
put(struct filing *filing, struct ks_attest_result *result,
	struct ks_error *err)
{
	struct ks_collection all;
	struct ks_gather_sink sink = {
		.arg = &all, .manifest = ks_collection_manifest
	};
	struct ks_put_options options = {
		.write = filing->options->write,
		.dry_run = filing->options->dry_run
	};
	struct ks_put_result done = { .manifests = 1 };
	enum ks_status status = ks_collection_init(&all,
		ks_gitdb_objects(filing->store->db), err);

	if (status == KS_OK)
		status = ks_gather_text(ks_buf_span(&filing->manifest),
			"the attestation", &options.intake, &sink, err);
	if (status == KS_OK)
		status = ks_collection_close(&all, err);
	if (status == KS_OK)
		status = ks_put_compose(&filing->writing, &all, &options,
			&done, err);
	if (status == KS_OK)
		status = commit(filing, &all, &done, err);
	if (status == KS_OK)
		take_result(&all, &done, result);
	ks_collection_release(&all);
	return status;
}

static enum ks_status
file(struct filing *filing, struct ks_attest_result *result,
	struct ks_error *err)
{
	enum ks_status status = ks_writing_begin(&filing->writing,
		filing->store, &filing->options->write, 1,
		filing->options->dry_run, err);

	if (status == KS_OK)
		status = check_key(filing, result, err);
	if (status == KS_OK)
		status = admit(filing, err);
	if (status == KS_OK)
		status = sign(filing, err);
	return status == KS_OK ? put(filing, result, err) : status;
}

enum ks_status
ks_attest(struct ks_store *store, const struct ks_id *subject,
	const struct ks_id *rerun, const struct ks_attest_options *options,
	struct ks_buf *statement, struct ks_attest_result *result,
	struct ks_error *err)
{
	struct filing filing = { .store = store, .options = options };
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	result->standing = "";
	filing.writing.lock = (struct ks_lock)KS_LOCK_INIT;
	status = read_options(options, &filing.statement, err);
	filing.statement.subject = *subject;
	filing.statement.has_rerun = rerun != NULL;
	if (rerun != NULL)
		filing.statement.rerun = *rerun;
	if (status == KS_OK)
		status = file(&filing, result, err);
	if (status == KS_OK && statement != NULL)
		ks_buf_append(statement, ks_buf_span(&filing.payload));
	ks_writing_end(&filing.writing);
	ks_buf_release(&filing.subject_kind);
	ks_buf_release(&filing.rerun_kind);
	ks_buf_release(&filing.payload);
	ks_buf_release(&filing.envelope);
	ks_buf_release(&filing.manifest);
	return status;
}
