#include "format/sshsig.h"

#include "format/armor.h"
#include "format/digest.h"
#include "format/sshkey.h"

#define MAGIC_LEN 6
#define VERSION 1
/* Bytes of an armor: room for the largest key of any type. */
#define ARMOR_MAX 16384

static const char label[] = "SSH SIGNATURE";
static const char begin_line[] = KS_SSHSIG_BEGIN "\n";
static const char end_line[] = "-----END SSH SIGNATURE-----";
/* Without a length or a NUL. */
static const uint8_t magic[MAGIC_LEN] = { 'S', 'S', 'H', 'S', 'I', 'G' };

static void
put_text(const char *text, struct ks_buf *out)
{
	ks_ssh_put_string(ks_span_text(text), out);
}

/* What is signed: the digest of the message, and what it is for. */
static void
put_signed(const char *namespace, bool use_sha512, struct ks_span message,
	struct ks_buf *out)
{
	uint8_t sha512[KS_SHA512_SIZE];
	struct ks_id sha256;

	ks_buf_append(out, ks_span(magic, sizeof(magic)));
	put_text(namespace, out);
	put_text("", out);
	put_text(use_sha512 ? "sha512" : "sha256", out);
	if (use_sha512) {
		ks_sha512(message, sha512);
		ks_ssh_put_string(ks_span(sha512, sizeof(sha512)), out);
	} else {
		ks_sha256(message, &sha256);
		ks_ssh_put_string(ks_span(sha256.bytes, KS_ID_BYTES), out);
	}
}

static void
put_blob(const struct ks_public_key *key, const char *namespace,
	const uint8_t signature[KS_ED25519_SIGNATURE], struct ks_buf *out)
{
	uint8_t blob[KS_SSH_BLOB];

	ks_ssh_blob(key, blob);
	ks_buf_append(out, ks_span(magic, sizeof(magic)));
	ks_ssh_put_u32(VERSION, out);
	ks_ssh_put_string(ks_span(blob, sizeof(blob)), out);
	put_text(namespace, out);
	put_text("", out);
	put_text("sha512", out);
	ks_ssh_put_u32(4 + sizeof(KS_SSH_TYPE) - 1 + 4 + KS_ED25519_SIGNATURE,
		out);
	put_text(KS_SSH_TYPE, out);
	ks_ssh_put_string(ks_span(signature, KS_ED25519_SIGNATURE), out);
}

enum ks_status
ks_sshsig_sign(const struct ks_secret_key *key, const char *namespace,
	struct ks_span message, struct ks_buf *out, struct ks_error *err)
{
	uint8_t signature[KS_ED25519_SIGNATURE];
	struct ks_buf bytes = KS_BUF_INIT;
	enum ks_status status;

	put_signed(namespace, true, message, &bytes);
	status = ks_buf_check(&bytes, err);
	if (status == KS_OK)
		status = ks_ed25519_sign(key, ks_buf_span(&bytes), signature,
			err);
	ks_buf_clear(&bytes);
	if (status == KS_OK) {
		put_blob(&key->public, namespace, signature, &bytes);
		status = ks_buf_check(&bytes, err);
	}
	if (status == KS_OK) {
		ks_armor_write(label, ks_buf_span(&bytes), KS_ARMOR_SSH, out);
		status = ks_buf_check(out, err);
	}
	ks_buf_release(&bytes);
	return status;
}

static enum ks_status
fail_malformed(const char *what, struct ks_error *err)
{
	return ks_fail(err, KS_CORRUPT,
		"malformed SSH signature: %s (PROTOCOL.sshsig)", what);
}

static enum ks_status
take_key(struct ks_span blob, struct ks_public_key *out, struct ks_error *err)
{
	struct ks_span rest = blob;
	struct ks_span type;
	char shown[64];

	if (ks_ssh_take_string(&rest, &type) &&
		!ks_span_is(type, KS_SSH_TYPE))
		return ks_fail(err, KS_UNTRUSTED,
			"SSH signature by a key of type %s, not %s (N4)",
			ks_printable(shown, sizeof(shown), type), KS_SSH_TYPE);
	if (ks_ssh_blob_read(blob, out, NULL) != KS_OK)
		return fail_malformed("its public key", err);
	return KS_OK;
}

static enum ks_status
take_purpose(struct ks_span *rest, const char *namespace, bool *sha512,
	struct ks_error *err)
{
	struct ks_span name, reserved, hash;
	char shown[64];

	if (!ks_ssh_take_string(rest, &name) ||
		!ks_ssh_take_string(rest, &reserved) ||
		!ks_ssh_take_string(rest, &hash))
		return fail_malformed("cut short", err);
	if (name.len == 0 || !ks_span_is(name, namespace))
		return ks_fail(err, KS_CORRUPT, "SSH signature is for the "
			"namespace \"%s\", not \"%s\"",
			ks_printable(shown, sizeof(shown), name), namespace);
	if (reserved.len != 0)
		return fail_malformed("its reserved field is not empty", err);
	*sha512 = ks_span_is(hash, "sha512");
	if (!*sha512 && !ks_span_is(hash, "sha256"))
		return fail_malformed("neither sha512 nor sha256", err);
	return KS_OK;
}

static enum ks_status
take_signature(struct ks_span blob, struct ks_sshsig *out,
	struct ks_error *err)
{
	struct ks_span type, signature;

	if (!ks_ssh_take_string(&blob, &type) ||
		!ks_ssh_take_string(&blob, &signature) || blob.len != 0 ||
		!ks_span_is(type, KS_SSH_TYPE) ||
		signature.len != KS_ED25519_SIGNATURE)
		return fail_malformed("not 64 bytes of ssh-ed25519", err);
	memcpy(out->signature, signature.data, KS_ED25519_SIGNATURE);
	return KS_OK;
}

static enum ks_status
parse_blob(struct ks_span rest, const char *namespace, struct ks_sshsig *out,
	struct ks_error *err)
{
	struct ks_span key, signature;
	uint32_t version;
	enum ks_status status;

	if (rest.len < MAGIC_LEN || memcmp(rest.data, magic, MAGIC_LEN) != 0)
		return fail_malformed("other magic", err);
	rest = ks_span(rest.data + MAGIC_LEN, rest.len - MAGIC_LEN);
	if (!ks_ssh_take_u32(&rest, &version))
		return fail_malformed("cut short", err);
	if (version != VERSION)
		return ks_fail(err, KS_CORRUPT,
			"SSH signature of version %lu, not 1",
			(unsigned long)version);
	if (!ks_ssh_take_string(&rest, &key))
		return fail_malformed("cut short", err);
	status = take_key(key, &out->key, err);
	if (status == KS_OK)
		status = take_purpose(&rest, namespace, &out->sha512, err);
	if (status != KS_OK)
		return status;
	if (!ks_ssh_take_string(&rest, &signature))
		return fail_malformed("cut short", err);
	if (rest.len != 0)
		return fail_malformed("bytes after its end", err);
	return take_signature(signature, out, err);
}

/* The lines between BEGIN and END, which are the first and the last: text
 * after the last would look signed and is not. */
static enum ks_status
take_body(struct ks_span text, struct ks_span *body, struct ks_error *err)
{
	size_t begin = sizeof(begin_line) - 1;
	size_t end = sizeof(end_line) - 1;

	if (text.len > ARMOR_MAX)
		return fail_malformed("too long", err);
	if (text.len >= begin && text.data[begin - 1] == '\r' &&
		memcmp(text.data, begin_line, begin - 1) == 0)
		return fail_malformed("its lines end in CR LF", err);
	if (text.len < begin || memcmp(text.data, begin_line, begin) != 0)
		return fail_malformed("does not start with its line BEGIN "
			"and LF", err);
	if (text.data[text.len - 1] == '\n')
		text.len--;
	if (text.len < begin + end || memcmp(text.data + text.len - end,
		end_line, end) != 0)
		return fail_malformed("does not end with its line END", err);
	*body = ks_span(text.data + begin, text.len - begin - end);
	return KS_OK;
}

enum ks_status
ks_sshsig_read(struct ks_span text, const char *namespace,
	struct ks_sshsig *out, struct ks_error *err)
{
	struct ks_buf blob = KS_BUF_INIT;
	struct ks_span body;
	enum ks_status status = take_body(text, &body, err);

	if (status != KS_OK)
		return status;
	if (!ks_armor_decode(body, true, &blob))
		status = fail_malformed("not base64 in lines that end in LF",
			err);
	else
		status = ks_buf_check(&blob, err);
	if (status == KS_OK)
		status = parse_blob(ks_buf_span(&blob), namespace, out, err);
	ks_buf_release(&blob);
	return status;
}

static enum ks_status
fail_other_key(const struct ks_public_key *found,
	const struct ks_public_key *wanted, struct ks_error *err)
{
	char a[KS_SSH_FINGERPRINT + 1], b[KS_SSH_FINGERPRINT + 1];

	return ks_fail(err, KS_UNTRUSTED,
		"SSH signature by the key %s, not by %s",
		ks_ssh_fingerprint(found, a), ks_ssh_fingerprint(wanted, b));
}

enum ks_status
ks_sshsig_verify(const struct ks_sshsig *sig, const struct ks_public_key *key,
	const char *namespace, struct ks_span message, struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	enum ks_status status;

	if (!ks_public_key_equal(&sig->key, key))
		return fail_other_key(&sig->key, key, err);
	put_signed(namespace, sig->sha512, message, &bytes);
	status = ks_buf_check(&bytes, err);
	if (status == KS_OK && !ks_ed25519_verify(key, ks_buf_span(&bytes),
		sig->signature))
		status = ks_fail(err, KS_CORRUPT,
			"SSH signature does not verify");
	ks_buf_release(&bytes);
	return status;
}
