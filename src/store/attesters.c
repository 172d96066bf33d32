#include "store/attesters.h"

#include <stdlib.h>

#include "format/checkpoint.h"
#include "format/json.h"
#include "format/kind.h"

#define KIND_ATTESTATION KS_API_KISTORE "/Attestation"

/* A key that signs the log, by a line of role "log". */
struct log_key {
	struct ks_vkey vkey;
	struct ks_id next;	/* announced; all zero = none */
	uint64_t entry;
};

struct ks_attesters {
	uint64_t signed_size;	/* entries that the newest note covers */
	struct ks_buf origin;	/* of the store */
	struct ks_buf list;	/* struct ks_attester of each */
	struct ks_buf log_keys;	/* struct log_key of each */
};

static size_t
count_of(const struct ks_buf *array, size_t size)
{
	return array->len / size;
}

size_t
ks_attesters_count(const struct ks_attesters *attesters)
{
	return count_of(&attesters->list, sizeof(struct ks_attester));
}

/* Memory of a buffer is aligned for anything, as malloc() gives it. */
static struct ks_attester *
attester_at(const struct ks_attesters *attesters, size_t index)
{
	void *list = attesters->list.data;

	return (struct ks_attester *)list + index;
}

const struct ks_attester *
ks_attesters_at(const struct ks_attesters *attesters, size_t index)
{
	return attester_at(attesters, index);
}

/* Whoever has the private half signs under every name. */
static struct ks_attester *
find(const struct ks_attesters *attesters, const struct ks_vkey *vkey)
{
	size_t i;

	for (i = 0; i < ks_attesters_count(attesters); i++)
		if (ks_public_key_equal(&attester_at(attesters, i)->vkey.key,
			&vkey->key))
			return attester_at(attesters, i);
	return NULL;
}

const struct ks_attester *
ks_attesters_find(const struct ks_attesters *attesters,
	const struct ks_vkey *vkey)
{
	return find(attesters, vkey);
}

const char *
ks_standing_name(const struct ks_attester *attester)
{
	if (attester == NULL)
		return "";
	switch (attester->standing) {
	case KS_STANDING_CONTROLLED:
		return "controlled";
	case KS_STANDING_UNSIGNED:
		return "unsigned";
	case KS_STANDING_REVOKED:
		return "revoked";
	}
	return "";
}

void
ks_attesters_free(struct ks_attesters *attesters)
{
	if (attesters == NULL)
		return;
	ks_buf_release(&attesters->origin);
	ks_buf_release(&attesters->list);
	ks_buf_release(&attesters->log_keys);
	free(attesters);
}

/* ---- what the log says -------------------------------------------------- */

static void
take_log_key(struct ks_attesters *attesters, const struct ks_entry *entry,
	const struct ks_vkey *vkey, uint64_t line)
{
	struct log_key key = { .vkey = *vkey, .entry = line };

	if (entry->next.len > 0)
		(void)ks_id_parse(&key.next, ks_json_raw(entry->next));
	ks_buf_append(&attesters->log_keys, ks_span(&key, sizeof(key)));
}

/* Once registered and revoked, a key does not stand again before that is
 * signed, too. */
static void
take_controlled(struct ks_attesters *attesters, const struct ks_vkey *vkey,
	uint64_t line)
{
	struct ks_attester *known = find(attesters, vkey);
	struct ks_attester made = { .vkey = *vkey, .entry = line };

	made.standing = line < attesters->signed_size ?
		KS_STANDING_CONTROLLED : KS_STANDING_UNSIGNED;
	if (known == NULL)
		ks_buf_append(&attesters->list, ks_span(&made, sizeof(made)));
	else if (known->standing != KS_STANDING_CONTROLLED)
		*known = made;
}

/* A revocation holds from its line on, signed or not: whoever makes it knows
 * why, and it takes something away only. */
static void
take_revoked(struct ks_attesters *attesters, const struct ks_vkey *vkey,
	uint64_t line)
{
	struct ks_attester *known = find(attesters, vkey);

	if (known == NULL)
		return;
	known->standing = KS_STANDING_REVOKED;
	known->entry = line;
}

/* A line about a key that attests. What it comes to depends on how much of the
 * log is signed, and that on the keys of the log. */
struct registration {
	struct ks_vkey vkey;
	bool revoked;
	uint64_t line;
};

struct gathering {
	struct ks_store *store;
	struct ks_attesters *attesters;
	struct ks_buf lines;	/* uint64_t of each that names a key */
	struct ks_buf registrations;	/* struct registration of each */
};

static void
note_registration(struct gathering *gathering, const struct ks_vkey *vkey,
	bool revoked, uint64_t line)
{
	struct registration made = {
		.vkey = *vkey, .revoked = revoked, .line = line
	};

	ks_buf_append(&gathering->registrations, ks_span(&made,
		sizeof(made)));
}

/* Keys of cosigners sign nothing else (M3), so what they sign here does not
 * count. */
static void
take_key(struct gathering *gathering, const struct ks_entry *entry,
	uint64_t line)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_vkey vkey;

	ks_json_unescape(&text, ks_json_raw(entry->key));
	if (ks_vkey_parse(ks_buf_span(&text), &vkey, NULL) == KS_OK &&
		vkey.type == KS_SIGNATURE_ED25519) {
		if (ks_json_is(entry->role, "log"))
			take_log_key(gathering->attesters, entry, &vkey, line);
		else if (ks_json_is(entry->role, "controlled"))
			note_registration(gathering, &vkey, false, line);
		else if (ks_json_is(entry->role, "revoked"))
			note_registration(gathering, &vkey, true, line);
	}
	gathering->registrations.failed = gathering->registrations.failed ||
		text.failed;
	ks_buf_release(&text);
}

static void
take_registrations(const struct gathering *gathering)
{
	const void *list = gathering->registrations.data;
	const struct registration *all = list;
	size_t i, count = count_of(&gathering->registrations, sizeof(*all));

	for (i = 0; i < count; i++)
		if (all[i].revoked)
			take_revoked(gathering->attesters, &all[i].vkey,
				all[i].line);
		else
			take_controlled(gathering->attesters, &all[i].vkey,
				all[i].line);
}

static bool
note_line(void *arg, uint64_t line)
{
	struct gathering *gathering = arg;

	ks_buf_append(&gathering->lines, ks_span(&line, sizeof(line)));
	return false;
}

/* The index chose the line; what it says is read from the log. */
static enum ks_status
read_line(struct gathering *gathering, uint64_t line, struct ks_buf *text,
	struct ks_error *err)
{
	struct ks_entry entry;
	enum ks_status status;

	ks_buf_clear(text);
	status = ks_store_line(gathering->store, line, text, err);
	if (status == KS_OK)
		status = ks_entry_parse(gathering->store->jcs,
			ks_buf_span(text), &entry, err);
	if (status == KS_OK && entry.op == KS_OP_KEY)
		take_key(gathering, &entry, line);
	return status;
}

static enum ks_status
read_lines(struct gathering *gathering, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = KS_OK;
	uint64_t line;
	size_t i;

	for (i = 0; status == KS_OK && i < gathering->lines.len;
		i += sizeof(line)) {
		memcpy(&line, gathering->lines.data + i, sizeof(line));
		status = read_line(gathering, line, &text, err);
	}
	ks_buf_release(&text);
	return status;
}

/* Whether the key that the log names within the size of a note has signed it:
 * whoever has none of the log's keys can say anything in one. */
static enum ks_status
check_signature(const struct ks_attesters *attesters, struct ks_span bytes,
	const struct ks_checkpoint *checkpoint, struct ks_error *err)
{
	const void *list = attesters->log_keys.data;
	const struct log_key *keys = list;
	size_t count = count_of(&attesters->log_keys, sizeof(*keys));
	struct ks_note_key open = { .vkey = NULL };
	struct ks_note note;
	enum ks_status status;

	while (count > 0 && keys[count - 1].entry >= checkpoint->size)
		count--;
	if (count == 0 || !ks_span_is(checkpoint->origin,
		keys[count - 1].vkey.name))
		return ks_fail(err, KS_UNTRUSTED,
			"the log names no key of that origin");
	open.vkey = &keys[count - 1].vkey;
	status = ks_note_parse(bytes, &note, err);
	if (status != KS_OK)
		return status;
	status = ks_note_open(&note, &open, 1, err);
	ks_note_release(&note);
	return status;
}

/* How many entries a note covers, if it is one of this log: not of a shorter
 * or another one, and not of one with faults, which nobody signs (R4). */
static uint64_t
covered(const struct ks_index_log *log, const struct ks_checkpoint *note)
{
	struct ks_id root;

	if (note->size > log->tree.size || log->first_problem < note->size)
		return 0;
	ks_merkle_root(&log->tree, &root);
	if (note->size == log->tree.size && !ks_id_equal(&root, &note->root))
		return 0;
	return note->size;
}

static enum ks_status
find_signed_size(const struct gathering *gathering,
	const struct ks_index_log *log, struct ks_error *err)
{
	const struct ks_store *store = gathering->store;
	struct ks_buf note = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	enum ks_status status = ks_gitdb_read(store->db, &store->tree,
		KS_PATH_CHECKPOINT, KS_NOTE_MAX, &note, err);

	if (status == KS_OK)
		status = ks_checkpoint_of_note(ks_buf_span(&note),
			&checkpoint, err);
	if (status == KS_OK)
		status = check_signature(gathering->attesters,
			ks_buf_span(&note), &checkpoint, err);
	if (status == KS_OK)
		gathering->attesters->signed_size = covered(log, &checkpoint);
	ks_buf_release(&note);
	/* What is no note covers nothing; verify tells of it. */
	return status == KS_NOT_FOUND || status == KS_CORRUPT ||
		status == KS_UNTRUSTED ? KS_OK : status;
}

static enum ks_status
check_memory(const struct gathering *gathering, struct ks_error *err)
{
	enum ks_status status = ks_buf_check(&gathering->lines, err);

	if (status == KS_OK)
		status = ks_buf_check(&gathering->registrations, err);
	if (status == KS_OK)
		status = ks_buf_check(&gathering->attesters->origin, err);
	if (status == KS_OK)
		status = ks_buf_check(&gathering->attesters->list, err);
	return status == KS_OK ? ks_buf_check(
		&gathering->attesters->log_keys, err) : status;
}

static enum ks_status
gather(struct gathering *gathering, struct ks_error *err)
{
	struct ks_index *index = NULL;
	enum ks_status status = ks_log_understood(gathering->store, err);

	if (status == KS_OK)
		status = ks_store_index(gathering->store, &index, NULL, err);
	if (status == KS_OK)
		status = ks_index_keys(index, note_line, gathering, err);
	if (status == KS_OK)
		status = check_memory(gathering, err);
	if (status == KS_OK)
		status = read_lines(gathering, err);
	if (status == KS_OK)
		status = check_memory(gathering, err);
	if (status == KS_OK)
		status = find_signed_size(gathering, ks_index_log(index), err);
	if (status != KS_OK)
		return status;
	take_registrations(gathering);
	ks_buf_append(&gathering->attesters->origin, ks_buf_span(
		&gathering->store->origin));
	return check_memory(gathering, err);
}

enum ks_status
ks_store_attesters(struct ks_store *store, struct ks_attesters **out,
	struct ks_error *err)
{
	struct gathering gathering = { .store = store };
	enum ks_status status;

	*out = store->attesters;
	if (*out != NULL)
		return KS_OK;
	gathering.attesters = calloc(1, sizeof(*gathering.attesters));
	if (gathering.attesters == NULL)
		return ks_fail_nomem(err);
	status = gather(&gathering, err);
	ks_buf_release(&gathering.lines);
	ks_buf_release(&gathering.registrations);
	if (status != KS_OK) {
		ks_attesters_free(gathering.attesters);
		return status;
	}
	*out = store->attesters = gathering.attesters;
	return KS_OK;
}

/* ---- keys for other uses ------------------------------------------------ */

enum ks_status
ks_attesters_check_use(const struct ks_attesters *attesters,
	const struct ks_vkey *vkey, struct ks_error *err)
{
	const void *list = attesters->log_keys.data;
	const struct log_key *keys = list;
	size_t i, count = count_of(&attesters->log_keys, sizeof(*keys));
	struct ks_id digest;
	enum ks_status status = ks_vkey_digest(vkey, &digest, err);

	if (status != KS_OK)
		return status;
	for (i = 0; i < count; i++) {
		if (ks_public_key_equal(&keys[i].vkey.key,
			&vkey->key))
			return ks_fail(err, KS_INVALID, "that key signs the "
				"log, by entry %llu, and is used for nothing "
				"else: what it signs must not be taken for a "
				"snapshot (N13); use another one",
				(unsigned long long)keys[i].entry);
		if (ks_id_equal(&keys[i].next, &digest))
			return ks_fail(err, KS_INVALID, "that key is to sign "
				"the log, as entry %llu announces, and is "
				"used for nothing else (N13): use another "
				"one", (unsigned long long)keys[i].entry);
	}
	if (attesters->origin.len > 0 && ks_span_is(ks_buf_span(
		&attesters->origin), vkey->name))
		return ks_fail(err, KS_INVALID, "that key has the name of the "
			"log, %s, whose key is used for nothing else (N1, "
			"N13): use another one", vkey->name);
	return KS_OK;
}

/* ---- envelopes ---------------------------------------------------------- */

void
ks_envelope_release(struct ks_envelope *envelope)
{
	ks_dsse_release(&envelope->dsse);
	ks_buf_release(&envelope->body);
	envelope->json = ks_span(NULL, 0);
}

enum ks_status
ks_envelope_open(struct ks_envelope *envelope, struct ks_error *err)
{
	struct ks_span body = ks_buf_span(&envelope->body);
	struct ks_span inner = ks_json_get(ks_json_get(body, "spec"),
		"envelope");
	char shown[80];
	enum ks_status status;

	envelope->json = inner.len > 0 ? inner : body;
	ks_dsse_release(&envelope->dsse);
	status = ks_dsse_parse(envelope->json, &envelope->dsse, err);
	if (status != KS_OK || ks_span_is(envelope->dsse.type,
		KS_STATEMENT_PAYLOAD_TYPE))
		return status;
	return ks_fail(err, KS_INVALID, "the envelope holds another type "
		"than " KS_STATEMENT_PAYLOAD_TYPE ": %s", ks_printable(shown,
		sizeof(shown), envelope->dsse.type));
}

enum ks_status
ks_envelope_read(struct ks_store *store, const struct ks_id *digest,
	struct ks_envelope *envelope, struct ks_error *err)
{
	enum ks_status status;

	ks_buf_clear(&envelope->body);
	status = ks_get(store, digest, KS_GET_BODY, &envelope->body, err);
	/* What the log calls an Attestation need not be JSON. */
	if (status == KS_OK)
		status = ks_jcs_check(store->jcs, ks_buf_span(&envelope->body),
			&ks_jcs_manifest, err);
	return status == KS_OK ? ks_envelope_open(envelope, err) : status;
}

/* ---- reruns ------------------------------------------------------------- */

bool
ks_attesters_is_rerun(struct ks_index *index,
	const struct ks_statement *statement)
{
	struct ks_index_row old, new;
	const struct ks_kind *kind;

	if (statement->type != KS_STATEMENT_RERUN ||
		!ks_index_object(index, &statement->subject, &old) ||
		!ks_index_object(index, &statement->rerun, &new) ||
		strcmp(old.kind, new.kind) != 0)
		return false;
	kind = ks_kind_find_full(ks_span_text(old.kind));
	return kind != NULL && ks_kind_has_source(kind) &&
		!new.state.taken_down && !new.state.retracted;
}

static bool
is_signed(const struct ks_attesters *attesters, const struct ks_dsse *dsse)
{
	size_t i;

	for (i = 0; i < ks_attesters_count(attesters); i++) {
		const struct ks_attester *key = ks_attesters_at(attesters, i);

		if (key->standing == KS_STANDING_CONTROLLED &&
			ks_dsse_verify(dsse, &key->vkey, NULL) == KS_OK)
			return true;
	}
	return false;
}

/* An envelope that cannot be read says nothing. */
static enum ks_status
judge(struct ks_store *store, const struct ks_attesters *attesters,
	const struct ks_id *digest, struct ks_envelope *envelope,
	struct ks_id *subject, bool *counts, struct ks_error *err)
{
	struct ks_statement statement;
	enum ks_status status = ks_envelope_read(store, digest, envelope, err);

	if (status == KS_OK)
		status = ks_statement_parse(envelope->dsse.payload, &statement,
			err);
	if (status == KS_INVALID || status == KS_UNSUPPORTED)
		return KS_OK;
	if (status != KS_OK)
		return status;
	*subject = statement.subject;
	*counts = ks_attesters_is_rerun(store->index, &statement) &&
		is_signed(attesters, &envelope->dsse);
	ks_statement_release(&statement);
	return ks_index_check(store->index, err);
}

enum ks_status
ks_store_rerun(struct ks_store *store, const struct ks_id *digest,
	struct ks_id *subject, bool *counts, struct ks_error *err)
{
	struct ks_envelope envelope = KS_ENVELOPE_INIT;
	struct ks_attesters *attesters;
	struct ks_index *index = NULL;
	struct ks_index_row row;
	enum ks_status status = ks_store_attesters(store, &attesters, err);

	*counts = false;
	memset(subject, 0, sizeof(*subject));
	if (status == KS_OK)
		status = ks_store_index(store, &index, NULL, err);
	if (status != KS_OK)
		return status;
	if (!ks_index_object(index, digest, &row) || row.state.taken_down ||
		row.state.retracted || row.state.superseded ||
		strcmp(row.kind, KIND_ATTESTATION) != 0)
		return ks_index_check(index, err);
	status = judge(store, attesters, digest, &envelope, subject, counts,
		err);
	ks_envelope_release(&envelope);
	return status;
}
