#include "format/sshkey.h"

#include "base/base64.h"
#include "format/armor.h"
#include "format/digest.h"

#define TYPE_LEN (sizeof(KS_SSH_TYPE) - 1)
/* Bytes of a private key file; one of any type is far smaller. */
#define SECRET_MAX 65536
/* PROTOCOL.key: the block size of the cipher "none". */
#define BLOCK 8
/* The private section before its comment's bytes, and the seed and public key
 * in it. */
#define SECTION_LEN 131
#define PAIR_LEN 64

static const char label_secret[] = "OPENSSH PRIVATE KEY";
/* With its NUL (PROTOCOL.key). */
static const char magic[] = "openssh-key-v1";

bool
ks_ssh_take_u32(struct ks_span *rest, uint32_t *out)
{
	const uint8_t *at = rest->data;

	if (rest->len < 4)
		return false;
	*out = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
		(uint32_t)at[2] << 8 | at[3];
	*rest = ks_span(at + 4, rest->len - 4);
	return true;
}

bool
ks_ssh_take_string(struct ks_span *rest, struct ks_span *out)
{
	struct ks_span after = *rest;
	uint32_t len;

	if (!ks_ssh_take_u32(&after, &len) || len > after.len)
		return false;
	*out = ks_span(after.data, len);
	*rest = ks_span(after.data + len, after.len - len);
	return true;
}

static void
store_u32(uint32_t value, uint8_t out[4])
{
	out[0] = (uint8_t)(value >> 24);
	out[1] = (uint8_t)(value >> 16);
	out[2] = (uint8_t)(value >> 8);
	out[3] = (uint8_t)value;
}

void
ks_ssh_put_u32(uint32_t value, struct ks_buf *out)
{
	uint8_t bytes[4];

	store_u32(value, bytes);
	ks_buf_append(out, ks_span(bytes, sizeof(bytes)));
}

void
ks_ssh_put_string(struct ks_span bytes, struct ks_buf *out)
{
	ks_ssh_put_u32((uint32_t)bytes.len, out);
	ks_buf_append(out, bytes);
}

void
ks_ssh_blob(const struct ks_public_key *key, uint8_t out[KS_SSH_BLOB])
{
	store_u32(TYPE_LEN, out);
	memcpy(out + 4, KS_SSH_TYPE, TYPE_LEN);
	store_u32(KS_ED25519_KEY, out + 4 + TYPE_LEN);
	memcpy(out + KS_SSH_BLOB - KS_ED25519_KEY, key->bytes, KS_ED25519_KEY);
}

static enum ks_status
fail_type(struct ks_span type, struct ks_error *err)
{
	char shown[64];

	return ks_fail(err, KS_INVALID, "key of type %s, not %s (N4)",
		ks_printable(shown, sizeof(shown), type), KS_SSH_TYPE);
}

enum ks_status
ks_ssh_blob_read(struct ks_span blob, struct ks_public_key *out,
	struct ks_error *err)
{
	struct ks_span rest = blob;
	struct ks_span type, key;

	if (!ks_ssh_take_string(&rest, &type))
		return ks_fail(err, KS_INVALID,
			"malformed OpenSSH public key");
	if (!ks_span_is(type, KS_SSH_TYPE))
		return fail_type(type, err);
	if (!ks_ssh_take_string(&rest, &key) || rest.len != 0 ||
		key.len != KS_ED25519_KEY)
		return ks_fail(err, KS_INVALID,
			"malformed OpenSSH public key (RFC 8709 section 4)");
	memcpy(out->bytes, key.data, KS_ED25519_KEY);
	return KS_OK;
}

char *
ks_ssh_fingerprint(const struct ks_public_key *key,
	char out[KS_SSH_FINGERPRINT + 1])
{
	static const char prefix[] = "SHA256:";
	struct ks_buf text = KS_BUF_INIT;
	uint8_t blob[KS_SSH_BLOB];
	struct ks_id id;

	ks_ssh_blob(key, blob);
	ks_sha256(ks_span(blob, sizeof(blob)), &id);
	ks_buf_text(&text, prefix);
	ks_base64_encode(ks_span(id.bytes, sizeof(id.bytes)), &text);
	memset(out, 0, KS_SSH_FINGERPRINT + 1);
	if (!text.failed)	/* one "=" of padding is left off */
		memcpy(out, text.data, KS_SSH_FINGERPRINT);
	ks_buf_release(&text);
	return out;
}

/* ---- The line of a public key ---- */

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

/* Cut the first word, and the blanks after it, off *rest. */
static struct ks_span
take_word(struct ks_span *rest)
{
	struct ks_span word = ks_span(rest->data, 0);
	size_t used;

	while (word.len < rest->len && !is_blank(rest->data[word.len]))
		word.len++;
	for (used = word.len; used < rest->len && is_blank(rest->data[used]);)
		used++;
	if (used > 0)
		*rest = ks_span(rest->data + used, rest->len - used);
	return word;
}

/* Whether a word is spelled as the types of keys are: letters, digits, '-',
 * '@' and '.', with a '-' in it. */
static bool
looks_like_type(struct ks_span word)
{
	bool dash = false;
	size_t i;

	for (i = 0; i < word.len; i++) {
		uint8_t c = word.data[i];

		if (c == '-')
			dash = true;
		else if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
			c != '@' && c != '.')
			return false;
	}
	return dash;
}

static enum ks_status
check_type(struct ks_span type, struct ks_error *err)
{
	if (ks_span_is(type, KS_SSH_TYPE))
		return KS_OK;
	if (looks_like_type(type))
		return fail_type(type, err);
	return ks_fail(err, KS_INVALID, "not a line \"%s BASE64\" (options "
		"and principals before the type are not allowed) (N4)",
		KS_SSH_TYPE);
}

enum ks_status
ks_ssh_line_read(struct ks_span text, struct ks_public_key *out,
	struct ks_span *comment, struct ks_error *err)
{
	uint8_t blob[KS_SSH_BLOB];
	struct ks_span rest = ks_span_trim(text);
	struct ks_span type, base64;
	enum ks_status status;

	*comment = ks_span(NULL, 0);
	if (rest.len > 0 && (memchr(rest.data, '\n', rest.len) != NULL ||
		memchr(rest.data, '\r', rest.len) != NULL))
		return ks_fail(err, KS_INVALID, "more than one line, where "
			"one OpenSSH public key is expected");
	type = take_word(&rest);
	status = check_type(type, err);
	if (status != KS_OK)
		return status;
	base64 = take_word(&rest);
	if (!ks_base64_decode_exact(base64, blob, sizeof(blob)))
		return ks_fail(err, KS_INVALID, "malformed OpenSSH public "
			"key: not %d bytes in base64", KS_SSH_BLOB);
	*comment = rest;
	return ks_ssh_blob_read(ks_span(blob, sizeof(blob)), out, err);
}

void
ks_ssh_line_write(const struct ks_public_key *key, struct ks_span comment,
	struct ks_buf *out)
{
	uint8_t blob[KS_SSH_BLOB];

	ks_ssh_blob(key, blob);
	ks_buf_text(out, KS_SSH_TYPE " ");
	ks_base64_encode(ks_span(blob, sizeof(blob)), out);
	if (comment.len > 0)
		ks_buf_byte(out, ' ');
	ks_buf_append(out, comment);
	ks_buf_byte(out, '\n');
}

/* ---- The file of a private key ---- */

static enum ks_status
fail_malformed(const char *what, struct ks_error *err)
{
	return ks_fail(err, KS_INVALID,
		"malformed OpenSSH private key: %s (PROTOCOL.key)", what);
}

/* What stands before the keys: how they are encrypted. */
static enum ks_status
take_head(struct ks_span *rest, struct ks_error *err)
{
	struct ks_span cipher, kdf, options;
	uint32_t count;

	if (rest->len < sizeof(magic) ||
		memcmp(rest->data, magic, sizeof(magic)) != 0)
		return fail_malformed("other magic", err);
	*rest = ks_span(rest->data + sizeof(magic), rest->len - sizeof(magic));
	if (!ks_ssh_take_string(rest, &cipher) ||
		!ks_ssh_take_string(rest, &kdf) ||
		!ks_ssh_take_string(rest, &options) ||
		!ks_ssh_take_u32(rest, &count))
		return fail_malformed("cut short", err);
	if (!ks_span_is(cipher, "none"))
		return ks_fail(err, KS_INVALID, "OpenSSH private key is "
			"encrypted, which is not read: take the passphrase off "
			"a copy by ssh-keygen -p -N '' -f FILE, or use an "
			"encrypted PKCS#8 key (N4)");
	if (!ks_span_is(kdf, "none") || options.len != 0)
		return fail_malformed("a key derivation without cipher", err);
	if (count != 1)
		return fail_malformed("not exactly one key", err);
	return KS_OK;
}

/* PROTOCOL.key: 1, 2, 3 … up to the block size. */
static bool
is_padding(struct ks_span rest)
{
	size_t i;

	for (i = 0; i < rest.len; i++) {
		if (rest.data[i] != i + 1)
			return false;
	}
	return rest.len < BLOCK;
}

/* The private section: the seed, and the two copies of the public key in it
 * must be that of the blob, `outer`, and of the seed. */
static enum ks_status
read_section(struct ks_span rest, const struct ks_public_key *outer,
	struct ks_secret_key *out, struct ks_span *comment,
	struct ks_error *err)
{
	struct ks_span whole = rest;
	struct ks_span type, public, secret;
	uint32_t check1, check2;
	enum ks_status status;

	if (!ks_ssh_take_u32(&rest, &check1) ||
		!ks_ssh_take_u32(&rest, &check2) ||
		!ks_ssh_take_string(&rest, &type) ||
		!ks_ssh_take_string(&rest, &public) ||
		!ks_ssh_take_string(&rest, &secret) ||
		!ks_ssh_take_string(&rest, comment))
		return fail_malformed("cut short", err);
	if (check1 != check2)
		return fail_malformed("check numbers differ", err);
	if (!ks_span_is(type, KS_SSH_TYPE))
		return fail_type(type, err);
	if (public.len != KS_ED25519_KEY || secret.len != PAIR_LEN)
		return fail_malformed("other length of a key", err);
	if (whole.len % BLOCK != 0 || !is_padding(rest))
		return fail_malformed("other padding", err);
	status = ks_ed25519_from_seed(secret.data, out, err);
	if (status != KS_OK)
		return status;
	if (!ks_public_key_equal(&out->public, outer) ||
		memcmp(out->public.bytes, public.data, KS_ED25519_KEY) != 0 ||
		memcmp(out->public.bytes, secret.data + KS_ED25519_KEY,
			KS_ED25519_KEY) != 0)
		return fail_malformed("its public key is not that of its "
			"private key", err);
	return KS_OK;
}

static enum ks_status
parse_secret(struct ks_span bytes, struct ks_secret_key *out,
	struct ks_buf *comment, struct ks_error *err)
{
	struct ks_span rest = bytes;
	struct ks_span name = ks_span(NULL, 0);
	struct ks_span blob, section;
	struct ks_public_key outer;
	enum ks_status status = take_head(&rest, err);

	if (status != KS_OK)
		return status;
	if (!ks_ssh_take_string(&rest, &blob) ||
		!ks_ssh_take_string(&rest, &section))
		return fail_malformed("cut short", err);
	if (rest.len != 0)
		return fail_malformed("bytes after its end", err);
	status = ks_ssh_blob_read(blob, &outer, err);
	if (status == KS_OK)
		status = read_section(section, &outer, out, &name, err);
	if (status != KS_OK)
		return status;
	ks_buf_append(comment, name);
	return ks_buf_check(comment, err);
}

enum ks_status
ks_ssh_secret_read(struct ks_span text, struct ks_secret_key *out,
	struct ks_buf *comment, struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_armor armor;
	enum ks_status status;

	if (text.len > SECRET_MAX)
		return ks_fail(err, KS_INVALID,
			"%zu bytes are too many for a key", text.len);
	if (!ks_armor_find(text, &armor) ||
		!ks_span_is(armor.label, label_secret) || !armor.ended)
		return fail_malformed("no lines BEGIN and END", err);
	if (ks_span_trim(armor.before).len != 0 ||
		ks_span_trim(armor.after).len != 0)
		return fail_malformed("text before BEGIN or after END", err);
	if (ks_armor_decode(armor.body, false, &bytes))
		status = ks_buf_check(&bytes, err);
	else
		status = fail_malformed("not base64", err);
	if (status == KS_OK)
		status = parse_secret(ks_buf_span(&bytes), out, comment, err);
	if (status != KS_OK)
		ks_secret_key_wipe(out);
	ks_buf_wipe(&bytes);
	return status;
}

static void
put_section(const struct ks_secret_key *key, struct ks_span comment,
	struct ks_buf *out)
{
	struct ks_span public = ks_span(key->public.bytes, KS_ED25519_KEY);
	size_t start = out->len + 4;
	size_t len = SECTION_LEN + comment.len;
	struct ks_id check;
	uint8_t pad;

	/* The check numbers tell whether decrypting went well, so any two
	 * equal ones do here: the same key gives the same file. */
	ks_sha256(public, &check);
	ks_ssh_put_u32((uint32_t)((len + BLOCK - 1) / BLOCK * BLOCK), out);
	ks_buf_append(out, ks_span(check.bytes, 4));
	ks_buf_append(out, ks_span(check.bytes, 4));
	ks_ssh_put_string(ks_span_text(KS_SSH_TYPE), out);
	ks_ssh_put_string(public, out);
	ks_ssh_put_u32(PAIR_LEN, out);
	ks_buf_append(out, ks_span(key->seed, KS_ED25519_KEY));
	ks_buf_append(out, public);
	ks_ssh_put_string(comment, out);
	for (pad = 1; !out->failed && (out->len - start) % BLOCK != 0; pad++)
		ks_buf_byte(out, pad);
}

enum ks_status
ks_ssh_secret_write(const struct ks_secret_key *key, struct ks_span comment,
	struct ks_buf *out, struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	uint8_t blob[KS_SSH_BLOB];

	if (comment.len > SECRET_MAX / 2)
		return ks_fail(err, KS_INVALID,
			"comment of %zu bytes is too long", comment.len);
	/* More than it takes, so that no growth leaves a copy behind. */
	(void)ks_buf_reserve(&bytes, 512 + comment.len);
	ks_ssh_blob(&key->public, blob);
	ks_buf_append(&bytes, ks_span(magic, sizeof(magic)));
	ks_ssh_put_string(ks_span_text("none"), &bytes);
	ks_ssh_put_string(ks_span_text("none"), &bytes);
	ks_ssh_put_string(ks_span(NULL, 0), &bytes);
	ks_ssh_put_u32(1, &bytes);
	ks_ssh_put_string(ks_span(blob, sizeof(blob)), &bytes);
	put_section(key, comment, &bytes);
	if (bytes.failed)
		out->failed = true;
	else
		ks_armor_write(label_secret, ks_buf_span(&bytes), KS_ARMOR_SSH,
			out);
	ks_buf_wipe(&bytes);
	return ks_buf_check(out, err);
}
