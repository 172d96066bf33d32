#include "format/vkey.h"

#include <inttypes.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "format/digest.h"

#define ID_BYTES 4
#define TYPED_KEY (1 + KS_ED25519_KEY)	/* a type and a public key */

/* A log signs raw text, so an origin must not begin as the messages that are
 * signed for other purposes do (T6). */
enum ks_status
ks_key_name_check(struct ks_span name, struct ks_error *err)
{
	size_t i = 0;

	if (name.len == 0 || name.len > KS_KEY_NAME_MAX)
		return ks_fail(err, KS_INVALID,
			"an origin has 1 to 255 bytes (T6)");
	if (ks_span_begins(name, "cosignature/") ||
		ks_span_begins(name, "DSSEv1"))
		return ks_fail(err, KS_INVALID, "an origin must not start "
			"with \"cosignature/\" or \"DSSEv1\" (T6)");
	while (i < name.len) {
		uint32_t c = 0;
		size_t n = ks_utf8_decode(
			ks_span(name.data + i, name.len - i), &c);

		if (n == 0 || c < 0x20 || c == 0x7f || c == '+' ||
			ks_utf8_is_space(c))
			return ks_fail(err, KS_INVALID, "an origin is UTF-8 "
				"without control characters, blanks or '+', "
				"like a URL without its scheme (T6)");
		i += n;
	}
	return KS_OK;
}

bool
ks_key_name_is_legal(struct ks_span name)
{
	size_t i = 0;

	while (i < name.len) {
		uint32_t c = 0;
		size_t n = ks_utf8_decode(
			ks_span(name.data + i, name.len - i), &c);

		if (n > 0 && (c == '+' || ks_utf8_is_space(c)))
			return false;
		i += n == 0 ? 1 : n;
	}
	return name.len > 0;
}

uint32_t
ks_key_id(struct ks_span name, enum ks_signature_type type,
	const struct ks_public_key *key)
{
	uint8_t tail[1 + TYPED_KEY] = { '\n', (uint8_t)type };
	struct ks_id hash;

	memcpy(tail + 2, key->bytes, KS_ED25519_KEY);
	ks_sha256_pair(name, ks_span(tail, sizeof(tail)), &hash);
	return (uint32_t)hash.bytes[0] << 24 | (uint32_t)hash.bytes[1] << 16 |
		(uint32_t)hash.bytes[2] << 8 | hash.bytes[3];
}

/* The name has been checked: it fits, and has no NUL. */
static void
fill(struct ks_span name, enum ks_signature_type type,
	const struct ks_public_key *key, struct ks_vkey *out)
{
	*out = (struct ks_vkey){ .type = type, .key = *key };
	memcpy(out->name, name.data, name.len);
	out->id = ks_key_id(name, type, key);
}

enum ks_status
ks_vkey_make(struct ks_span name, enum ks_signature_type type,
	const struct ks_public_key *key, struct ks_vkey *out,
	struct ks_error *err)
{
	enum ks_status status = ks_key_name_check(name, err);

	if (status == KS_OK)
		fill(name, type, key, out);
	return status;
}

/* Take what stands before the first '+' off `text`, and the '+'. */
static struct ks_span
take_part(struct ks_span *text)
{
	struct ks_span part = *text;
	const uint8_t *plus = text->len == 0 ? NULL :
		memchr(text->data, '+', text->len);

	if (plus == NULL) {
		*text = ks_span(NULL, 0);
		return part;
	}
	part.len = (size_t)(plus - part.data);
	*text = ks_span(plus + 1, text->len - part.len - 1);
	return part;
}

/* What a note can carry and a struct ks_vkey can hold. */
static enum ks_status
check_name(struct ks_span name, struct ks_error *err)
{
	size_t i;

	for (i = 0; i < name.len && name.data[i] >= 0x20; i++)
		;
	if (i < name.len || ks_utf8_check(name) < name.len ||
		!ks_key_name_is_legal(name))
		return ks_fail(err, KS_INVALID, "a verifier key begins with "
			"a name in UTF-8 without control characters, blanks "
			"or '+' (N3)");
	if (name.len > KS_KEY_NAME_MAX)
		return ks_fail(err, KS_INVALID, "the name of a verifier key "
			"is longer than 255 bytes (B17)");
	return KS_OK;
}

/* The type, in the first byte. Keys of other types have other lengths. */
static enum ks_status
read_key(struct ks_span base64, uint8_t out[TYPED_KEY], struct ks_error *err)
{
	uint8_t head[3];
	size_t len, known;

	if (!ks_base64_check(base64, &len) || len == 0)
		return ks_fail(err, KS_INVALID, "a verifier key ends in the "
			"base64 of a type and a public key (N3)");
	known = len < sizeof(head) ? len : sizeof(head);
	(void)ks_base64_decode_exact(ks_span(base64.data, 4), head, known);
	if (head[0] != KS_SIGNATURE_ED25519 &&
		head[0] != KS_SIGNATURE_COSIGNATURE)
		return ks_fail(err, KS_UNSUPPORTED, "a verifier key has the "
			"signature type %02x, and only 01 and 04 are "
			"understood (N1)", (unsigned)head[0]);
	if (!ks_base64_decode_exact(base64, out, TYPED_KEY))
		return ks_fail(err, KS_INVALID, "a public key of signature "
			"type %02x has 32 bytes, not %zu (N3)",
			(unsigned)head[0], len - 1);
	return KS_OK;
}

enum ks_status
ks_vkey_parse(struct ks_span text, struct ks_vkey *out, struct ks_error *err)
{
	struct ks_span name = take_part(&text);
	struct ks_span hex = take_part(&text);
	uint8_t id[ID_BYTES], typed[TYPED_KEY];
	struct ks_public_key key;
	struct ks_vkey vkey;
	enum ks_status status = check_name(name, err);

	if (status == KS_OK && !ks_hex_decode(hex, id, sizeof(id)))
		status = ks_fail(err, KS_INVALID, "a verifier key has 8 "
			"lower-case hex digits behind its name and a '+' "
			"(N3)");
	if (status == KS_OK)
		status = read_key(text, typed, err);
	if (status != KS_OK)
		return status;
	memcpy(key.bytes, typed + 1, KS_ED25519_KEY);
	fill(name, (enum ks_signature_type)typed[0], &key, &vkey);
	if (vkey.id != ((uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 |
		(uint32_t)id[2] << 8 | id[3]))
		return ks_fail(err, KS_INVALID, "the id of a verifier key is "
			"%.8s, but that of its key is %08" PRIx32 " (N3)",
			(const char *)hex.data, vkey.id);
	*out = vkey;
	return KS_OK;
}

void
ks_vkey_print(const struct ks_vkey *vkey, struct ks_buf *out)
{
	uint8_t typed[TYPED_KEY] = { (uint8_t)vkey->type };

	memcpy(typed + 1, vkey->key.bytes, KS_ED25519_KEY);
	ks_buf_printf(out, "%s+%08" PRIx32 "+", vkey->name, vkey->id);
	ks_base64_encode(ks_span(typed, sizeof(typed)), out);
}

enum ks_status
ks_vkey_digest(const struct ks_vkey *vkey, struct ks_id *out,
	struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	ks_vkey_print(vkey, &text);
	status = ks_buf_check(&text, err);
	ks_sha256(ks_buf_span(&text), out);
	ks_buf_release(&text);
	return status;
}

bool
ks_vkey_equal(const struct ks_vkey *a, const struct ks_vkey *b)
{
	return a->id == b->id && a->type == b->type &&
		ks_public_key_equal(&a->key, &b->key) &&
		strcmp(a->name, b->name) == 0;
}
