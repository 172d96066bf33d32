#include "format/dsse.h"

#include <inttypes.h>

#include "base/base64.h"
#include "format/digest.h"
#include "format/json.h"

/* Append one part of the PAE; where it begins. */
static size_t
put_part(struct ks_span part, struct ks_buf *out)
{
	size_t at;

	ks_buf_printf(out, " %zu ", part.len);
	at = out->len;
	ks_buf_append(out, part);
	return at;
}

void
ks_dsse_pae(struct ks_span type, struct ks_span payload, struct ks_buf *out)
{
	ks_buf_text(out, "DSSEv1");
	(void)put_part(type, out);
	(void)put_part(payload, out);
}

void
ks_dsse_release(struct ks_dsse *dsse)
{
	ks_buf_release(&dsse->message);
	dsse->type = ks_span(NULL, 0);
	dsse->payload = ks_span(NULL, 0);
	dsse->count = 0;
}

/* Put `text` into `out` in the standard alphabet. False when it uses that one
 * and the other: then it is neither. */
static bool
translate(struct ks_span text, struct ks_buf *out)
{
	bool standard = false;
	bool url_safe = false;
	size_t i;

	for (i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		standard = standard || c == '+' || c == '/';
		url_safe = url_safe || c == '-' || c == '_';
		if (c == '-')
			c = '+';
		else if (c == '_')
			c = '/';
		ks_buf_byte(out, c);
	}
	return !(standard && url_safe);
}

/* Refuse a member that is of another type than `wanted`. */
static enum ks_status
fail_type(const char *name, const char *wanted, struct ks_span value,
	struct ks_error *err)
{
	return ks_fail(err, KS_INVALID, "%s of the envelope must be %s, not "
		"%s (DSSE)", name, wanted,
		ks_json_type_name(ks_json_type(value)));
}

/* Append the bytes of a base64 string, called `what`. */
static enum ks_status
decode(const char *what, struct ks_span string, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;
	bool good;

	if (ks_json_type(string) != KS_JSON_STRING)
		return fail_type(what, "a string", string, err);
	good = translate(ks_json_raw(string), &text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK && (!good ||
		!ks_base64_decode(ks_buf_span(&text), out)))
		status = ks_fail(err, KS_INVALID, "%s of the envelope must be "
			"base64 text (RFC 4648 section 4 or 5, padded)", what);
	if (status == KS_OK)
		status = ks_buf_check(out, err);
	ks_buf_release(&text);
	return status;
}

static enum ks_status
find(struct ks_span object, const char *name, struct ks_span *value,
	struct ks_error *err)
{
	if (ks_json_find(object, name, value))
		return KS_OK;
	return ks_fail(err, KS_INVALID, "the envelope has no %s (DSSE)", name);
}

static enum ks_status
read_payload(struct ks_span envelope, struct ks_buf *out, struct ks_error *err)
{
	struct ks_span value;
	enum ks_status status = find(envelope, "payload", &value, err);

	return status == KS_OK ? decode("payload", value, out, err) : status;
}

static enum ks_status
read_type(struct ks_span envelope, struct ks_buf *out, struct ks_error *err)
{
	struct ks_span value;
	enum ks_status status = find(envelope, "payloadType", &value, err);

	if (status != KS_OK)
		return status;
	if (ks_json_type(value) != KS_JSON_STRING)
		return fail_type("payloadType", "a string", value, err);
	ks_json_unescape(out, ks_json_raw(value));
	return ks_buf_check(out, err);
}

/* Compose what is signed, and find type and payload in it. */
static enum ks_status
compose(struct ks_span type, struct ks_span payload, struct ks_dsse *out,
	struct ks_error *err)
{
	size_t type_at, payload_at;
	enum ks_status status;

	ks_buf_text(&out->message, "DSSEv1");
	type_at = put_part(type, &out->message);
	payload_at = put_part(payload, &out->message);
	status = ks_buf_check(&out->message, err);
	if (status != KS_OK)
		return status;
	out->type = ks_span(out->message.data + type_at, type.len);
	out->payload = ks_span(out->message.data + payload_at, payload.len);
	return KS_OK;
}

static enum ks_status
read_message(struct ks_span envelope, struct ks_dsse *out,
	struct ks_error *err)
{
	struct ks_buf payload = KS_BUF_INIT;
	struct ks_buf type = KS_BUF_INIT;
	enum ks_status status = read_payload(envelope, &payload, err);

	if (status == KS_OK)
		status = read_type(envelope, &type, err);
	if (status == KS_OK)
		status = compose(ks_buf_span(&type), ks_buf_span(&payload),
			out, err);
	ks_buf_release(&payload);
	ks_buf_release(&type);
	return status;
}

static enum ks_status
read_signature(struct ks_span element, struct ks_dsse *out,
	struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_span value;
	enum ks_status status;

	if (ks_json_find(element, "keyid", &value) &&
		ks_json_type(value) != KS_JSON_STRING)
		return fail_type("keyid", "a string", value, err);
	status = find(element, "sig", &value, err);
	if (status == KS_OK)
		status = decode("sig", value, &bytes, err);
	if (status == KS_OK && bytes.len == KS_ED25519_SIGNATURE)
		memcpy(out->signatures[out->count++], bytes.data, bytes.len);
	ks_buf_release(&bytes);
	return status;
}

static enum ks_status
read_signatures(struct ks_span envelope, struct ks_dsse *out,
	struct ks_error *err)
{
	struct ks_span list, element;
	struct ks_json_iter it;
	enum ks_status status = find(envelope, "signatures", &list, err);
	size_t count;

	if (status != KS_OK)
		return status;
	if (ks_json_type(list) != KS_JSON_ARRAY)
		return fail_type("signatures", "an array", list, err);
	count = ks_json_count(list);
	if (count < 1 || count > KS_DSSE_SIGNATURES)
		return ks_fail(err, KS_INVALID, "the envelope must have 1 to "
			"%d signatures, not %zu", KS_DSSE_SIGNATURES, count);
	it = ks_json_iter(list);
	while (status == KS_OK && ks_json_next_element(&it, &element))
		status = read_signature(element, out, err);
	return status;
}

enum ks_status
ks_dsse_parse(struct ks_span envelope, struct ks_dsse *out,
	struct ks_error *err)
{
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	if (ks_json_type(envelope) != KS_JSON_OBJECT)
		return ks_fail(err, KS_INVALID,
			"an envelope must be an object, not %s",
			ks_json_type_name(ks_json_type(envelope)));
	status = read_message(envelope, out, err);
	if (status == KS_OK)
		status = read_signatures(envelope, out, err);
	if (status != KS_OK)
		ks_dsse_release(out);
	return status;
}

enum ks_status
ks_dsse_verify(const struct ks_dsse *dsse, const struct ks_vkey *vkey,
	struct ks_error *err)
{
	char shown[KS_KEY_NAME_MAX + 1];
	size_t i;

	if (vkey->type != KS_SIGNATURE_ED25519)
		return ks_fail(err, KS_USAGE, "an envelope is verified with a "
			"vkey of type 01, not with a cosigner's");
	for (i = 0; i < dsse->count; i++) {
		if (ks_ed25519_verify(&vkey->key, ks_buf_span(&dsse->message),
			dsse->signatures[i]))
			return KS_OK;
	}
	return ks_fail(err, KS_UNTRUSTED,
		"no signature of the envelope is by the key %s+%08" PRIx32,
		ks_printable(shown, sizeof(shown), ks_span_text(vkey->name)),
		vkey->id);
}

void
ks_dsse_identity(const struct ks_dsse *dsse, const struct ks_public_key *key,
	struct ks_id *out)
{
	ks_sha256_pair(ks_span(key->bytes, sizeof(key->bytes)), dsse->payload,
		out);
}

static void
print(struct ks_span type, struct ks_span payload, const struct ks_vkey *vkey,
	const uint8_t signature[KS_ED25519_SIGNATURE], struct ks_buf *out)
{
	struct ks_buf keyid = KS_BUF_INIT;

	ks_buf_printf(&keyid, "%s+%08" PRIx32, vkey->name, vkey->id);
	ks_buf_text(out, "{\"payload\":\"");
	ks_base64_encode(payload, out);
	ks_buf_text(out, "\",\"payloadType\":");
	ks_json_quote(out, type);
	ks_buf_text(out, ",\"signatures\":[{\"keyid\":");
	ks_json_quote(out, ks_buf_span(&keyid));
	ks_buf_text(out, ",\"sig\":\"");
	ks_base64_encode(ks_span(signature, KS_ED25519_SIGNATURE), out);
	ks_buf_text(out, "\"}]}");
	out->failed = out->failed || keyid.failed;
	ks_buf_release(&keyid);
}

enum ks_status
ks_dsse_make(struct ks_span type, struct ks_span payload, struct ks_span name,
	const struct ks_secret_key *key, struct ks_buf *out,
	struct ks_error *err)
{
	uint8_t signature[KS_ED25519_SIGNATURE];
	struct ks_buf message = KS_BUF_INIT;
	size_t before = out->len;
	struct ks_vkey vkey;
	enum ks_status status = ks_vkey_make(name, KS_SIGNATURE_ED25519,
		&key->public, &vkey, err);

	if (status != KS_OK)
		return status;
	ks_dsse_pae(type, payload, &message);
	status = ks_buf_check(&message, err);
	if (status == KS_OK)
		status = ks_ed25519_sign(key, ks_buf_span(&message), signature,
			err);
	if (status == KS_OK) {
		print(type, payload, &vkey, signature, out);
		status = ks_buf_check(out, err);
	}
	if (status != KS_OK)
		out->len = before;
	ks_buf_release(&message);
	return status;
}
