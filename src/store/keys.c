/*
 * Keys: the signer of a log, what may be told of a key, and the keys that the
 * log registers.
 */
#include "store/keys.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/armor.h"
#include "format/json.h"
#include "format/sshkey.h"
#include "store/log.h"
#include "store/writing.h"

struct ks_signer {
	struct ks_named_key key;
	struct ks_vkey vkey;
};

/* ---- the signer --------------------------------------------------------- */

static enum ks_status
new_signer(struct ks_signer **out, struct ks_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? ks_fail_nomem(err) : KS_OK;
}

void
ks_signer_free(struct ks_signer *signer)
{
	if (signer != NULL)
		ks_wipe(signer, sizeof(*signer));
	free(signer);
}

/* The public half; what failed leaves no signer. */
static enum ks_status
finish(struct ks_signer **signer, enum ks_status status, struct ks_error *err)
{
	if (status == KS_OK)
		status = ks_vkey_make(ks_span_text((*signer)->key.name),
			KS_SIGNATURE_ED25519, &(*signer)->key.secret.public,
			&(*signer)->vkey, err);
	if (status != KS_OK) {
		ks_signer_free(*signer);
		*signer = NULL;
	}
	return status;
}

/* A name that nothing was stored with yet is a mistake of the call. */
static enum ks_status
check_name(const char *name, struct ks_error *err)
{
	enum ks_status status = ks_key_name_check(ks_span_text(name), err);

	if (status != KS_INVALID)
		return status;
	if (err != NULL)
		err->status = KS_USAGE;
	return KS_USAGE;
}

enum ks_status
ks_signer_generate(struct ks_signer **out, const char *name,
	struct ks_error *err)
{
	enum ks_status status = new_signer(out, err);

	if (status != KS_OK)
		return status;
	status = check_name(name, err);
	if (status == KS_OK) {
		memcpy((*out)->key.name, name, strlen(name) + 1);
		status = ks_ed25519_generate(&(*out)->key.secret, err);
	}
	return finish(out, status, err);
}

enum ks_status
ks_signer_read(struct ks_signer **out, struct ks_span text,
	struct ks_span passphrase, struct ks_error *err)
{
	enum ks_status status = new_signer(out, err);

	if (status != KS_OK)
		return status;
	status = ks_private_key_read(text, passphrase, &(*out)->key, err);
	return finish(out, status, err);
}

enum ks_status
ks_signer_write(const struct ks_signer *signer, struct ks_span passphrase,
	struct ks_buf *out, struct ks_error *err)
{
	return ks_private_key_write(&signer->key, passphrase, out, err);
}

const char *
ks_signer_name(const struct ks_signer *signer)
{
	return signer->key.name;
}

const struct ks_named_key *
ks_signer_key(const struct ks_signer *signer)
{
	return &signer->key;
}

const struct ks_vkey *
ks_signer_vkey(const struct ks_signer *signer)
{
	return &signer->vkey;
}

/* ---- what may be told --------------------------------------------------- */

/* One form of a public key; a single line goes without its LF. */
static enum ks_status
write_form(const struct ks_vkey *vkey, enum ks_key_form form, char *out,
	size_t size, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = ks_public_key_write(vkey, form, &text, err);
	size_t len = text.len;

	if (status == KS_OK && form != KS_KEY_PEM)
		len--;
	if (status == KS_OK && len >= size)
		status = ks_fail(err, KS_INVALID,
			"the text of a key has %zu bytes", len);
	if (status == KS_OK) {
		memcpy(out, text.data, len);
		out[len] = '\0';
	}
	ks_buf_release(&text);
	return status;
}

static enum ks_status
describe(const struct ks_vkey *vkey, struct ks_key_info *out,
	struct ks_error *err)
{
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	memcpy(out->name, vkey->name, sizeof(vkey->name));
	(void)snprintf(out->id, sizeof(out->id), "%08lx",
		(unsigned long)vkey->id);
	(void)ks_ssh_fingerprint(&vkey->key, out->fingerprint);
	status = write_form(vkey, KS_KEY_VKEY, out->vkey, sizeof(out->vkey),
		err);
	if (status == KS_OK)
		status = write_form(vkey, KS_KEY_SSH, out->ssh,
			sizeof(out->ssh), err);
	return status != KS_OK ? status : write_form(vkey, KS_KEY_PEM,
		out->pem, sizeof(out->pem), err);
}

enum ks_status
ks_signer_describe(const struct ks_signer *signer, struct ks_key_info *out,
	struct ks_error *err)
{
	enum ks_status status = describe(&signer->vkey, out, err);

	out->is_private = true;
	return status;
}

/* Whether a text is meant as a private key, though perhaps not as one that is
 * taken. */
static bool
is_private(struct ks_span text)
{
	static const char suffix[] = "PRIVATE KEY";
	static const char signer[] = "PRIVATE+KEY+";
	size_t len = sizeof(suffix) - 1;
	struct ks_armor armor;

	if (ks_armor_find(text, &armor))
		return armor.label.len >= len && memcmp(armor.label.data +
			armor.label.len - len, suffix, len) == 0;
	return text.len >= sizeof(signer) - 1 &&
		memcmp(text.data, signer, sizeof(signer) - 1) == 0;
}

/* A private key has its name with it. */
static enum ks_status
read_half(struct ks_span text, struct ks_span passphrase, const char *origin,
	struct ks_vkey *out, struct ks_error *err)
{
	char shown[KS_KEY_NAME_MAX + 1], given[KS_KEY_NAME_MAX + 1];
	struct ks_signer *signer;
	enum ks_status status = ks_signer_read(&signer, text, passphrase, err);

	if (status != KS_OK)
		return status;
	*out = signer->vkey;
	ks_signer_free(signer);
	if (origin == NULL || strcmp(origin, out->name) == 0)
		return KS_OK;
	return ks_fail(err, KS_USAGE,
		"the key is for the origin %s, and --origin is %s",
		ks_printable(shown, sizeof(shown), ks_span_text(out->name)),
		ks_printable(given, sizeof(given), ks_span_text(origin)));
}

enum ks_status
ks_key_describe(struct ks_span text, struct ks_span passphrase,
	const char *origin, bool cosigner, struct ks_key_info *out,
	struct ks_error *err)
{
	bool private = is_private(text);
	struct ks_vkey vkey, other;
	enum ks_status status;

	if (private)
		status = read_half(text, passphrase, origin, &vkey, err);
	else
		status = ks_public_key_read(text, ks_span_text(
			origin == NULL ? "" : origin), &vkey, err);
	if (status == KS_OK && cosigner)
		status = ks_vkey_make(ks_span_text(vkey.name),
			KS_SIGNATURE_COSIGNATURE, &vkey.key, &other, err);
	if (status == KS_OK)
		status = describe(cosigner ? &other : &vkey, out, err);
	if (status == KS_OK)
		out->is_private = private;
	return status;
}

/* ---- keys in the log ---------------------------------------------------- */

/* What the log says of a key so far. */
struct standing {
	struct ks_jcs *jcs;
	const struct ks_vkey *vkey;
	struct ks_span quoted;	/* the vkey as it stands in a line */
	bool controlled;	/* it is registered, */
	uint64_t entry;		/* by the line that said so last, */
	struct ks_vkey said;	/* perhaps under another name */
	bool signs;		/* it is, or was, the key of the log, */
	uint64_t signs_entry;	/* by this line */
};

/* A line of op "key" has no member that sorts before `key` but `at`, whose
 * length is fixed. */
static bool
may_be_key(struct ks_span line)
{
	static const char member[] = ",\"key\":";
	size_t at = strlen("{\"at\":\"\"") + KS_TIME_TEXT;

	return line.len > at + strlen(member) &&
		memcmp(line.data + at, member, strlen(member)) == 0;
}

/* Whether a line's vkey has the public key asked for, under whatever name. */
static bool
is_same_key(const struct standing *standing, struct ks_span quoted,
	struct ks_vkey *vkey)
{
	struct ks_buf text = KS_BUF_INIT;
	bool same;

	ks_json_unescape(&text, ks_json_raw(quoted));
	same = ks_buf_check(&text, NULL) == KS_OK &&
		ks_vkey_parse(ks_buf_span(&text), vkey, NULL) == KS_OK &&
		ks_public_key_equal(&vkey->key, &standing->vkey->key);
	ks_buf_release(&text);
	return same;
}

static enum ks_status
look_at_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct standing *standing = arg;
	struct ks_entry entry;
	struct ks_vkey vkey;

	(void)err;
	if (!may_be_key(line) || ks_entry_parse(standing->jcs, line, &entry,
		NULL) != KS_OK || entry.op != KS_OP_KEY ||
		!is_same_key(standing, entry.key, &vkey))
		return KS_OK;
	if (ks_json_is(entry.role, "log") && !standing->signs) {
		standing->signs = true;
		standing->signs_entry = index;
	}
	if (vkey.type != standing->vkey->type)
		return KS_OK;
	if (ks_json_is(entry.role, "controlled") && !standing->controlled) {
		standing->controlled = true;
		standing->said = vkey;
		standing->entry = index;
	} else if (ks_json_is(entry.role, "revoked")) {
		standing->controlled = false;
		standing->entry = index;
	}
	return KS_OK;
}

/* M3, N13: the keys of logs and of cosigners are used for nothing else. */
static enum ks_status
check_use(const struct standing *standing, struct ks_error *err)
{
	if (standing->vkey->type != KS_SIGNATURE_ED25519)
		return ks_fail(err, KS_INVALID, "a key of type 04 makes "
			"cosignatures and is used for nothing else (M3): "
			"register another one, of type 01");
	if (standing->signs)
		return ks_fail(err, KS_INVALID, "that key signs the log, by "
			"entry %llu, and is used for nothing else (N13): "
			"register another one",
			(unsigned long long)standing->signs_entry);
	return KS_OK;
}

enum ks_status
ks_key_check_unused(struct ks_store *store, const struct ks_vkey *vkey,
	struct ks_error *err)
{
	struct standing standing = { .jcs = store->jcs, .vkey = vkey };
	enum ks_status status = ks_log_each(store->db, &store->tree, 0,
		look_at_line, &standing, err);

	if (status != KS_OK)
		return status;
	if (standing.signs)
		return ks_fail(err, KS_USAGE, "that key signs the log, by "
			"entry %llu: cosign with one that does nothing else "
			"(M3)", (unsigned long long)standing.signs_entry);
	if (standing.entry > 0)
		return ks_fail(err, KS_USAGE, "that key is registered for "
			"attestations, by entry %llu: cosign with one that "
			"does nothing else (M3)",
			(unsigned long long)standing.entry);
	return KS_OK;
}

static enum ks_status
append_line(struct ks_writing *writing, const struct standing *standing,
	bool revoke, struct ks_error *err)
{
	struct ks_entry entry = { .op = KS_OP_KEY, .key = standing->quoted };
	struct ks_buf message = KS_BUF_INIT;
	char name[KS_KEY_NAME_MAX + 1];
	uint32_t object;
	enum ks_status status;

	entry.role = ks_span_text(revoke ? "\"revoked\"" : "\"controlled\"");
	ks_buf_printf(&message, "key %s %s\n",
		revoke ? "revoked" : "controlled", ks_printable(name,
		sizeof(name), ks_span_text(standing->vkey->name)));
	status = ks_buf_check(&message, err);
	if (status == KS_OK)
		status = ks_writing_line(writing, &entry, &object, err);
	if (status == KS_OK)
		status = ks_writing_commit(writing, ks_buf_cstr(&message),
			err);
	ks_buf_release(&message);
	return status;
}

/* Say it unless the log does: with the lock held. */
static enum ks_status
change(struct ks_writing *writing, struct standing *standing, bool revoke,
	struct ks_key_change *out, struct ks_error *err)
{
	struct ks_store *store = writing->store;
	enum ks_status status;

	standing->jcs = store->jcs;
	status = ks_log_each(store->db, &store->tree, 0, look_at_line,
		standing, err);
	if (status == KS_OK && revoke && !standing->controlled)
		return ks_fail(err, KS_INVALID, "that key is not registered: "
			"there is nothing to revoke (R24)");
	if (status == KS_OK && !revoke)
		status = check_use(standing, err);
	if (status != KS_OK)
		return status;
	out->entry = standing->entry;
	out->changed = revoke || !standing->controlled;
	if (!out->changed)
		return write_form(&standing->said, KS_KEY_VKEY, out->vkey,
			sizeof(out->vkey), err);
	out->entry = ks_replay_tree(writing->replay)->size;
	return append_line(writing, standing, revoke, err);
}

/* Only a vkey says for which name it is a key. */
static enum ks_status
read_vkey(struct ks_span text, struct ks_vkey *out, struct ks_error *err)
{
	enum ks_status status = ks_public_key_read(text, ks_span(NULL, 0), out,
		err);

	if (status == KS_USAGE)
		status = ks_fail(err, KS_INVALID, "an OpenSSH or PEM key has "
			"no name: register NAME+HASH+KEY, which key show "
			"--origin NAME prints (L18)");
	return status;
}

enum ks_status
ks_key_register(struct ks_store *store, struct ks_span text, bool revoke,
	const struct ks_write_options *options, struct ks_key_change *out,
	struct ks_error *err)
{
	struct ks_writing writing;
	struct ks_buf quoted = KS_BUF_INIT;
	struct ks_vkey vkey;
	struct standing standing = { .vkey = &vkey };
	enum ks_status status = read_vkey(text, &vkey, err);

	memset(out, 0, sizeof(*out));
	if (status == KS_OK)
		status = write_form(&vkey, KS_KEY_VKEY, out->vkey,
			sizeof(out->vkey), err);
	if (status != KS_OK)
		return status;
	ks_json_quote(&quoted, ks_span_text(out->vkey));
	standing.quoted = ks_buf_span(&quoted);
	status = ks_writing_begin(&writing, store, options, 1, false, err);
	if (status == KS_OK)
		status = ks_buf_check(&quoted, err);
	if (status == KS_OK)
		status = change(&writing, &standing, revoke, out, err);
	ks_writing_end(&writing);
	ks_buf_release(&quoted);
	return status;
}
