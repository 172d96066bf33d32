/*
 * Signed snapshots: making one, listing them, taking in cosignatures
 * (store-layout.md S1 to S7).
 *
 * Two commits at most: the first appends a line that names the key, where one
 * is needed; the second adds the note. So whatever is signed is the log of a
 * commit that is there already, and a signer that dies in between has signed
 * nothing that it could not sign again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/digest.h"
#include "format/gittag.h"
#include "format/json.h"
#include "store/keys.h"
#include "store/log.h"
#include "store/readme.h"
#include "store/redaction.h"
#include "store/state.h"
#include "store/verify.h"
#include "store/writing.h"

struct snapshot {
	struct ks_store *store;
	const struct ks_snapshot_options *options;
	ks_log_fn *told;
	ks_finding_report_fn *report;
	void *arg;
	struct ks_snapshot_result *result;
	const struct ks_vkey *vkey;
	struct ks_state *state;
	struct ks_signer_memory memory;
	struct ks_writing writing;
	struct ks_verify_options verify;
	struct ks_verify_result verified;
	struct ks_verifying verifying;
	struct ks_redaction redaction;
	struct ks_checkpoint remembered;	/* by the memory, */
	struct ks_checkpoint resumed;		/* by the caller: size 0 = not;
						 * no log is of size 0 */
};

/* ---- the signer's memory (S7) ---------------------------------------- */

static enum ks_status
read_resumed(struct snapshot *snapshot, struct ks_error *err)
{
	struct ks_note_key key = { .vkey = snapshot->vkey };
	struct ks_note note;
	enum ks_status status;

	if (snapshot->options->resume.len == 0)
		return KS_OK;
	status = ks_note_parse(snapshot->options->resume, &note, err);
	if (status == KS_OK) {
		status = ks_checkpoint_parse(note.text, &snapshot->resumed,
			err);
		if (status == KS_OK)
			status = ks_note_open(&note, &key, 1, err);
		ks_note_release(&note);
	}
	return status == KS_OK ? KS_OK : ks_context(err,
		"the note to resume from");
}

static enum ks_status
read_memory(struct snapshot *snapshot, struct ks_error *err)
{
	enum ks_status status = ks_state_new(&snapshot->state,
		snapshot->options->state_directory, err);

	if (status == KS_OK)
		status = ks_state_signer_begin(snapshot->state, snapshot->vkey,
			snapshot->options->write.wait_ms,
			snapshot->options->write.watch, &snapshot->memory,
			err);
	if (status == KS_OK && snapshot->memory.text.len > 0)
		status = ks_checkpoint_parse(ks_buf_span(
			&snapshot->memory.text), &snapshot->remembered, err);
	if (status == KS_OK)
		status = read_resumed(snapshot, err);
	if (status != KS_OK)
		return status;
	if (snapshot->remembered.size > 0 && snapshot->options->first)
		return ks_fail(err, KS_USAGE, "this key has signed %llu "
			"entries before: not for the first time (S7)",
			(unsigned long long)snapshot->remembered.size);
	if (snapshot->remembered.size == 0 && snapshot->resumed.size == 0 &&
		!snapshot->options->first)
		return ks_fail(err, KS_UNTRUSTED, "there is no memory of what "
			"%s+%08lx signed last: give its newest note, from "
			"elsewhere than this store (--resume FILE), or say "
			"that it never signed (--first) (S7)",
			snapshot->vkey->name,
			(unsigned long)snapshot->vkey->id);
	return KS_OK;
}

/* The log extends what the key signed before. */
static enum ks_status
check_extends(struct snapshot *snapshot, const struct ks_checkpoint *before,
	const char *whose, struct ks_error *err)
{
	struct ks_id root;

	if (before->size == 0)
		return KS_OK;
	if (!ks_span_is(before->origin, snapshot->vkey->name))
		return ks_fail(err, KS_CORRUPT, "%s is of another origin (S7)",
			whose);
	if (!ks_signed_root(&snapshot->verifying.signed_, before->size,
		&root))
		return ks_fail(err, KS_CORRUPT, "the log is shorter than the "
			"%llu entries of %s: not signed, for that would be a "
			"rollback (S7)", (unsigned long long)before->size,
			whose);
	if (!ks_id_equal(&root, &before->root))
		return ks_fail(err, KS_CORRUPT, "the first %llu entries of the "
			"log are others than in %s: not signed, for that "
			"would be a fork (S7)",
			(unsigned long long)before->size, whose);
	return KS_OK;
}

/* Whether a note has a signature line of this key. */
static bool
is_ours(const struct snapshot *snapshot, const struct ks_stored_note *stored)
{
	struct ks_note_key key = { .vkey = snapshot->vkey };
	struct ks_note note;
	bool ours;

	if (ks_note_parse(ks_buf_span(&stored->bytes), &note, NULL) != KS_OK)
		return false;
	ours = ks_note_open(&note, &key, 1, NULL) == KS_OK;
	ks_note_release(&note);
	return ours;
}

static enum ks_status
check_memory(struct snapshot *snapshot, struct ks_error *err)
{
	const struct ks_checkpoints *notes =
		&snapshot->verifying.signed_.notes;
	size_t i;
	enum ks_status status = check_extends(snapshot, &snapshot->remembered,
		"what this key signed last", err);

	if (status == KS_OK)
		status = check_extends(snapshot, &snapshot->resumed,
			"the note to resume from", err);
	for (i = 0; status == KS_OK && snapshot->options->first &&
		i < notes->count; i++)
		if (is_ours(snapshot, &notes->list[i]))
			return ks_fail(err, KS_UNTRUSTED, "the store has a "
				"note of this key, of size %llu: it does not "
				"sign for the first time (S7)",
				(unsigned long long)notes->list[i].size);
	return status;
}

/* ---- checking what is to be signed (S6) ------------------------------ */

/* Whether the key of this note's size announced this one. */
static bool
is_predecessors(const struct snapshot *snapshot,
	const struct ks_stored_note *stored)
{
	const struct ks_log_key *key = ks_signed_key(
		&snapshot->verifying.signed_, stored->size);
	struct ks_id digest;

	return key != NULL && key->has_next && ks_vkey_digest(snapshot->vkey,
		&digest, NULL) == KS_OK && ks_id_equal(&key->next, &digest);
}

/* The size of the newest note of this key, or of the one that announced it:
 * what follows is told, whoever else has signed it. */
static uint64_t
signed_before(const struct snapshot *snapshot)
{
	const struct ks_checkpoints *notes =
		&snapshot->verifying.signed_.notes;
	size_t i;

	for (i = notes->count; i-- > 0; )
		if (is_ours(snapshot, &notes->list[i]) ||
			is_predecessors(snapshot, &notes->list[i]))
			return notes->list[i].size;
	return 0;
}

static enum ks_status
read_newest_size(struct snapshot *snapshot, uint64_t *size,
	struct ks_error *err)
{
	struct ks_checkpoints notes;
	size_t i;
	enum ks_status status = ks_checkpoints_read(snapshot->store->db,
		&snapshot->store->tree, NULL, NULL, &notes, err);

	*size = 0;
	if (status != KS_OK)
		return status;
	for (i = notes.count; i-- > 0 && *size == 0; )
		if (is_ours(snapshot, &notes.list[i]))
			*size = notes.list[i].size;
	ks_checkpoints_release(&notes);
	return KS_OK;
}

static enum ks_status
check_store(struct snapshot *snapshot, struct ks_error *err)
{
	const struct ks_verify_result *verified = &snapshot->verified;
	uint64_t marks[2] = { snapshot->remembered.size,
		snapshot->resumed.size };
	uint64_t since;
	enum ks_status status = read_newest_size(snapshot, &since, err);

	if (status != KS_OK)
		return status;
	snapshot->verify.watch = snapshot->options->write.watch;
	snapshot->verifying = (struct ks_verifying){
		.store = snapshot->store,
		.options = &snapshot->verify,
		.report = snapshot->report,
		.arg = snapshot->arg,
		.result = &snapshot->verified,
		.since = since,
		.marks = marks,
		.mark_count = 2
	};
	status = ks_verify_run(&snapshot->verifying, err);
	snapshot->verifying.marks = NULL;
	snapshot->verifying.mark_count = 0;
	/* Of a log that was cut or rewritten this is the better word. */
	if (status == KS_OK)
		status = check_memory(snapshot, err);
	if (status != KS_OK)
		return status;
	if (verified->unsupported > 0)
		return ks_fail(err, KS_UNSUPPORTED, "the log needs a newer "
			"kistore, so this one must not sign it (R3)");
	if (verified->unfetched > 0)
		return ks_fail(err, KS_NOT_FOUND, "%llu objects are not here: "
			"what cannot be checked is not signed (git fetch "
			"--refetch --no-filter)",
			(unsigned long long)verified->unfetched);
	if (verified->damaged + verified->absent > 0)
		return ks_fail(err, KS_CORRUPT, "the store has %llu faults, "
			"and is not signed (S6)", (unsigned long long)
			(verified->damaged + verified->absent));
	return KS_OK;
}

/* S3: one name everywhere. */
static enum ks_status
check_origin(const struct snapshot *snapshot, struct ks_error *err)
{
	struct ks_span origin = ks_buf_span(&snapshot->store->origin);
	char shown[300];

	if (origin.len == 0 || ks_span_is(origin, snapshot->vkey->name))
		return KS_OK;
	return ks_fail(err, KS_USAGE, "the store's origin is %s, and the "
		"key's name is %s: they must be equal (S3)", ks_printable(
		shown, sizeof(shown), origin), snapshot->vkey->name);
}

/* All that must hold before anything is signed, or a line written for it. */
static enum ks_status
check(struct snapshot *snapshot, struct ks_error *err)
{
	enum ks_status status = check_origin(snapshot, err);

	return status == KS_OK ? check_store(snapshot, err) : status;
}

/* ---- the line that names the key ------------------------------------- */

/* The newest role-log line among those visited. */
struct key_search {
	struct ks_jcs *jcs;
	bool found;
	struct ks_buf key, next;	/* unescaped */
};

static enum ks_status
search_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct key_search *search = arg;
	struct ks_entry entry;

	(void)index;
	(void)err;
	if (ks_entry_parse(search->jcs, line, &entry,
		NULL) != KS_OK || entry.op != KS_OP_KEY ||
		!ks_span_is(entry.role, "\"log\""))
		return KS_OK;
	search->found = true;
	ks_buf_clear(&search->key);
	ks_buf_clear(&search->next);
	ks_json_unescape(&search->key, ks_json_raw(entry.key));
	if (entry.next.len > 0)
		ks_json_unescape(&search->next, ks_json_raw(entry.next));
	return ks_buf_check(&search->key, NULL);
}

/* "sha256:…" of the successor's vkey text. */
static enum ks_status
digest_next(const struct snapshot *snapshot, char out[KS_ID_TEXT + 1],
	struct ks_error *err)
{
	struct ks_vkey next;
	struct ks_id digest;
	enum ks_status status;

	out[0] = '\0';
	if (snapshot->options->next.len == 0)
		return KS_OK;
	status = ks_public_key_read(snapshot->options->next,
		ks_span_text(snapshot->vkey->name), &next, err);
	if (status == KS_OK && next.type != KS_SIGNATURE_ED25519)
		status = ks_fail(err, KS_INVALID, "is a cosigner's key, not "
			"one of a log (N9)");
	if (status == KS_OK && ks_public_key_equal(&next.key,
		&snapshot->vkey->key))
		status = ks_fail(err, KS_INVALID, "is this key itself (N9)");
	if (status != KS_OK)
		return ks_context(err, "the next key");
	status = ks_vkey_digest(&next, &digest, err);
	(void)ks_id_print(&digest, out);
	return status;
}

/* N9: readers follow a key only to one that it announced. */
static void
tell_unannounced(const struct snapshot *snapshot, struct ks_span announced)
{
	struct ks_id digest;
	char text[KS_ID_TEXT + 1];

	if (ks_vkey_digest(snapshot->vkey, &digest, NULL) != KS_OK)
		return;
	ks_id_print(&digest, text);
	if (!ks_span_is(announced, text))
		ks_watch_note(snapshot->options->write.watch, "the log's key "
			"so far did not announce this one (--next): who "
			"trusts that key must be told of this one (N9)");
}

/* S5: whether a line is needed. */
static enum ks_status
need_key_line(struct snapshot *snapshot, const char *next, bool *needed,
	struct ks_error *err)
{
	struct ks_store *store = snapshot->store;
	struct key_search search = { .jcs = store->jcs };
	struct ks_buf own = KS_BUF_INIT;
	bool same;
	enum ks_status status = ks_log_each(store->db, &store->tree, 0,
		search_line, &search, err);

	ks_vkey_print(snapshot->vkey, &own);
	if (status == KS_OK)
		status = ks_buf_check(&own, err);
	same = ks_span_equal(ks_buf_span(&own), ks_buf_span(&search.key));
	*needed = !search.found || !same || (next[0] != '\0' &&
		!ks_span_is(ks_buf_span(&search.next), next));
	if (status == KS_OK && search.found && !same)
		tell_unannounced(snapshot, ks_buf_span(&search.next));
	ks_buf_release(&own);
	ks_buf_release(&search.key);
	ks_buf_release(&search.next);
	return status;
}

static enum ks_status
write_key_line(struct snapshot *snapshot, const char *next,
	struct ks_error *err)
{
	struct ks_buf key = KS_BUF_INIT, origin = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_entry entry = { .op = KS_OP_KEY,
		.role = ks_span_text("\"log\"") };
	char quoted[KS_ID_TEXT + 3];
	uint32_t object;
	enum ks_status status;

	ks_vkey_print(snapshot->vkey, &text);
	ks_json_quote(&key, ks_buf_span(&text));
	ks_json_quote(&origin, ks_span_text(snapshot->vkey->name));
	entry.key = ks_buf_span(&key);
	entry.origin = ks_buf_span(&origin);
	(void)snprintf(quoted, sizeof(quoted), "\"%s\"", next);
	if (next[0] != '\0')
		entry.next = ks_span_text(quoted);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_buf_check(&key, err);
	if (status == KS_OK)
		status = ks_buf_check(&origin, err);
	if (status == KS_OK)
		status = ks_writing_begin(&snapshot->writing, snapshot->store,
			&snapshot->options->write, 1, false, err);
	if (status == KS_OK)
		status = check(snapshot, err);
	ks_verify_release(&snapshot->verifying);
	memset(&snapshot->verifying, 0, sizeof(snapshot->verifying));
	if (status == KS_OK)
		status = ks_writing_line(&snapshot->writing, &entry, &object,
			err);
	if (status == KS_OK)
		status = ks_writing_commit(&snapshot->writing, "key\n", err);
	ks_writing_end(&snapshot->writing);
	ks_buf_release(&text);
	ks_buf_release(&key);
	ks_buf_release(&origin);
	return status;
}

static enum ks_status
name_key(struct snapshot *snapshot, struct ks_error *err)
{
	char next[KS_ID_TEXT + 1];
	bool needed = false;
	enum ks_status status = digest_next(snapshot, next, err);

	if (status == KS_OK)
		status = need_key_line(snapshot, next, &needed, err);
	return status != KS_OK || !needed ? status :
		write_key_line(snapshot, next, err);
}

/* ---- telling what is new --------------------------------------------- */

static void
count_op(struct ks_op_counts *counts, enum ks_op op)
{
	switch (op) {
	case KS_OP_PUBLISH:
		counts->published++;
		break;
	case KS_OP_ANNOTATE:
		counts->annotated++;
		break;
	case KS_OP_RETRACT:
		counts->retracted++;
		break;
	case KS_OP_SUPERSEDE:
		counts->superseded++;
		break;
	case KS_OP_RESTORE:
		counts->restored++;
		break;
	case KS_OP_TAKEDOWN:
		counts->taken_down++;
		break;
	case KS_OP_KEY:
		counts->keys++;
		break;
	case KS_OP_INIT:
	case KS_OP_EXTENSION:
	case KS_OP_REDACTED:
		counts->others++;
		break;
	}
}

static enum ks_status
add_takedown(struct snapshot *snapshot, const struct ks_entry *entry,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(entry->lines);
	struct ks_span item;
	int64_t index;
	enum ks_status status = ks_redaction_add_object(&snapshot->redaction,
		&entry->digest, err);

	while (status == KS_OK && entry->lines.len > 0 &&
		ks_json_next_element(&it, &item))
		if (ks_json_integer(item, &index) && index >= 0)
			status = ks_redaction_add_line(&snapshot->redaction,
				(uint64_t)index, err);
	return status;
}

static enum ks_status
tell_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct snapshot *snapshot = arg;
	struct ks_entry entry;
	enum ks_status status = KS_OK;

	/* The check has found no fault, so that only memory can lack. */
	if (ks_entry_parse(snapshot->store->jcs, line, &entry, NULL) != KS_OK)
		return ks_fail_nomem(err);
	count_op(&snapshot->result->counts, entry.op);
	if (entry.op != KS_OP_RETRACT && entry.op != KS_OP_SUPERSEDE &&
		entry.op != KS_OP_TAKEDOWN && entry.op != KS_OP_KEY)
		return KS_OK;
	if (snapshot->told != NULL && snapshot->told(snapshot->arg, index,
		line))
		return ks_fail(err, KS_CANCELLED, "not signed");
	if (entry.op == KS_OP_TAKEDOWN)
		status = add_takedown(snapshot, &entry, err);
	return status;
}

/* ---- signing --------------------------------------------------------- */

static enum ks_status
print_store_json(const struct snapshot *snapshot, struct ks_buf *out,
	struct ks_error *err)
{
	ks_buf_text(out, "{\"format\":\"" KISTORE_FORMAT "\",\"origin\":");
	ks_json_quote(out, ks_span_text(snapshot->vkey->name));
	ks_buf_byte(out, '}');
	return ks_buf_check(out, err);
}

static enum ks_status
add_files(struct snapshot *snapshot, struct ks_span note,
	struct ks_error *err)
{
	struct ks_writing *writing = &snapshot->writing;
	struct ks_buf text = KS_BUF_INIT;
	char path[KS_CHECKPOINT_PATH];
	enum ks_status status = ks_writing_file(writing, KS_PATH_CHECKPOINT,
		note, false, err);

	if (status == KS_OK)
		status = ks_writing_file(writing, ks_checkpoints_path(
			snapshot->result->size, path), note, false, err);
	if (status == KS_OK && snapshot->store->origin.len == 0) {
		status = print_store_json(snapshot, &text, err);
		if (status == KS_OK)
			status = ks_writing_file(writing, KS_PATH_STORE,
				ks_buf_span(&text), false, err);
	}
	ks_buf_clear(&text);
	if (status == KS_OK)
		status = ks_readme_print(snapshot->store,
			snapshot->verifying.replay, snapshot->vkey->name,
			snapshot->result->size, &text, err);
	if (status == KS_OK)
		status = ks_writing_file(writing, KS_PATH_README,
			ks_buf_span(&text), false, err);
	ks_buf_release(&text);
	return status;
}

/* What the key signs, or has signed, is the log as it is now. */
static enum ks_status
remember(struct snapshot *snapshot, struct ks_error *err)
{
	struct ks_checkpoint checkpoint = {
		.origin = ks_span_text(snapshot->vkey->name),
		.size = snapshot->result->size,
		.root = snapshot->result->root
	};
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	ks_checkpoint_print(&checkpoint, &text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_state_signer_record(&snapshot->memory,
			ks_buf_span(&text), err);
	ks_buf_release(&text);
	return status;
}

/* Remembered before it exists: a key that forgot what it signed could sign a
 * fork. */
static enum ks_status
sign(struct snapshot *snapshot, struct ks_buf *note, struct ks_error *err)
{
	enum ks_status status = remember(snapshot, err);

	return status != KS_OK ? status : ks_checkpoint_sign(
		ks_span_text(snapshot->vkey->name), snapshot->result->size,
		&snapshot->result->root,
		&ks_signer_key(snapshot->options->signer)->secret, note, err);
}

/* ---- the tag (S4) ---------------------------------------------------- */

static enum ks_status
write_tag(struct snapshot *snapshot, struct ks_span note, int64_t seconds,
	struct ks_error *err)
{
	struct ks_gitdb *db = snapshot->store->db;
	struct ks_buf ident = KS_BUF_INIT, bytes = KS_BUF_INIT;
	char hex[KS_OID_HEX + 1], name[64];
	struct ks_git_tag tag = {
		.object = ks_span_text(ks_oid_print(&snapshot->store->commit,
			hex)),
		.seconds = seconds,
		.message = note
	};
	enum ks_status status;

	(void)snprintf(name, sizeof(name), "snapshot/%llu",
		(unsigned long long)snapshot->result->size);
	tag.name = ks_span_text(name);
	ks_gitdb_identity(db, &ident);
	status = ks_buf_check(&ident, err);
	tag.ident = ks_buf_span(&ident);
	if (status == KS_OK)
		status = ks_git_tag_write(&tag, &ks_signer_key(
			snapshot->options->signer)->secret, &bytes, err);
	if (status == KS_OK)
		status = ks_gitdb_tag_write(db, name, ks_buf_span(&bytes),
			err);
	snapshot->result->tagged = status == KS_OK;
	ks_buf_release(&ident);
	ks_buf_release(&bytes);
	return status;
}

/* Where the newest snapshot covers everything, its tag may be wanting (a signer
 * died before it was made, or history was rewritten), or the memory of it. */
static enum ks_status
renew(struct snapshot *snapshot, struct ks_error *err)
{
	const struct ks_stored_note *stored = ks_checkpoints_find(
		&snapshot->verifying.signed_.notes, snapshot->result->size);
	struct ks_oid oid;
	struct ks_git_commit commit;
	char name[80];
	enum ks_status status;

	if (stored == NULL || !is_ours(snapshot, stored))
		return KS_OK;
	status = remember(snapshot, err);
	(void)snprintf(name, sizeof(name), "refs/tags/snapshot/%llu",
		(unsigned long long)snapshot->result->size);
	if (status != KS_OK || ks_gitdb_revision(snapshot->store->db, name,
		&oid, NULL) == KS_OK)
		return status;
	if (ks_gitdb_commit(snapshot->store->db, &snapshot->store->commit,
		&commit, err) != KS_OK)
		return KS_CORRUPT;
	return write_tag(snapshot, ks_buf_span(&stored->bytes), commit.time,
		err);
}

/* ---- all of it ------------------------------------------------------- */

static enum ks_status
create(struct snapshot *snapshot, struct ks_error *err)
{
	struct ks_snapshot_result *result = snapshot->result;
	struct ks_buf note = KS_BUF_INIT;
	int64_t seconds = snapshot->writing.seconds;
	char message[64];
	enum ks_status status = ks_log_each(snapshot->store->db,
		&snapshot->store->tree, result->from, tell_line, snapshot,
		err);

	if (status == KS_OK)
		status = ks_redaction_carry_out(&snapshot->redaction,
			&snapshot->writing, err);
	result->removed = snapshot->redaction.removed;
	result->redacted = snapshot->redaction.redacted;
	if (status == KS_OK)
		status = sign(snapshot, &note, err);
	if (status == KS_OK)
		status = add_files(snapshot, ks_buf_span(&note), err);
	(void)snprintf(message, sizeof(message), "snapshot %llu\n",
		(unsigned long long)result->size);
	if (status == KS_OK)
		status = ks_writing_commit(&snapshot->writing, message, err);
	if (status == KS_OK) {
		result->created = true;
		(void)ks_oid_print(&snapshot->writing.commit, result->commit);
		status = write_tag(snapshot, ks_buf_span(&note), seconds, err);
	}
	ks_buf_release(&note);
	return status;
}

static enum ks_status
check_and_sign(struct snapshot *snapshot, struct ks_error *err)
{
	struct ks_snapshot_result *result = snapshot->result;
	const struct ks_log_key *key;
	enum ks_status status = ks_writing_begin(&snapshot->writing,
		snapshot->store, &snapshot->options->write, 8, false, err);

	if (status == KS_OK)
		status = check(snapshot, err);
	if (status != KS_OK)
		return status;
	result->from = signed_before(snapshot);
	result->size = snapshot->verified.log.size;
	result->root = snapshot->verified.log.root;
	key = ks_signed_key(&snapshot->verifying.signed_, result->size);
	if (key == NULL || !ks_vkey_equal(&key->vkey, snapshot->vkey))
		return ks_fail(err, KS_BUSY, "another key was named in the "
			"log meanwhile: try again");
	return result->from == result->size ? renew(snapshot, err) :
		create(snapshot, err);
}

enum ks_status
ks_snapshot_create(struct ks_store *store,
	const struct ks_snapshot_options *options, ks_log_fn *told,
	ks_finding_report_fn *report, void *arg,
	struct ks_snapshot_result *result, struct ks_error *err)
{
	struct snapshot snapshot = {
		.store = store,
		.options = options,
		.told = told,
		.report = report,
		.arg = arg,
		.result = result,
		.vkey = ks_signer_vkey(options->signer),
		.memory = KS_SIGNER_MEMORY_INIT,
		.redaction = KS_REDACTION_INIT
	};
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	snapshot.writing.lock = (struct ks_lock)KS_LOCK_INIT;
	(void)snprintf(result->signer, sizeof(result->signer), "%s+%08lx",
		snapshot.vkey->name, (unsigned long)snapshot.vkey->id);
	status = check_origin(&snapshot, err);
	if (status == KS_OK)
		status = read_memory(&snapshot, err);
	if (status == KS_OK)
		status = name_key(&snapshot, err);
	if (status == KS_OK)
		status = check_and_sign(&snapshot, err);
	ks_writing_end(&snapshot.writing);
	ks_verify_release(&snapshot.verifying);
	ks_redaction_release(&snapshot.redaction);
	ks_state_signer_end(&snapshot.memory);
	ks_state_free(snapshot.state);
	return status;
}
