#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/dsse.h"
#include "../lib/scratch.h"
#include "../lib/shell.h"
#include "../lib/trust.h"
#include "../lib/vectors.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define NAME "runner.example/r1"
#define TEXT "text/plain"
#define PAYLOAD "hello world"
#define SIG \
	"xNj9J7EY6GNkv2hG6M4F9Wc9PKLvPB6rjg4O6jzgs9rK/xyVrzpPRQCniwm3vqE2" \
	"aEdZpOqbTnGm2Hwt6ZcXDQ=="
/* The same in the other alphabet. */
#define SIG_URL \
	"xNj9J7EY6GNkv2hG6M4F9Wc9PKLvPB6rjg4O6jzgs9rK_xyVrzpPRQCniwm3vqE2" \
	"aEdZpOqbTnGm2Hwt6ZcXDQ=="
#define SIG_MIXED \
	"xNj9J7EY6GNkv2hG6M4F9Wc9PKLvPB6rjg4O6jzgs9rK/xyVrzpPRQCniwm3vqE-" \
	"aEdZpOqbTnGm2Hwt6ZcXDQ=="

static struct ks_vkey vkey;
static struct ks_secret_key secret;

static int
make_key(void **state)
{
	(void)state;
	trust_make(NAME, KS_SIGNATURE_ED25519, 7, &vkey, &secret);
	return 0;
}

/* Canonical JSON of a text that may have ' for its quotes. */
static void
put_json(const char *text, struct ks_buf *out)
{
	size_t i;

	ks_buf_clear(out);
	ks_buf_text(out, text);
	for (i = 0; i < out->len; i++) {
		if (out->data[i] == '\'')
			out->data[i] = '"';
	}
	(void)vector_json(out);
}

static void
parse(const char *text, struct ks_dsse *out)
{
	struct ks_buf json = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	put_json(text, &json);
	if (ks_dsse_parse(ks_buf_span(&json), out, &err) != KS_OK)
		fail_msg("%s: %s", text, err.message);
	ks_buf_release(&json);
}

/* ---- the vectors -------------------------------------------------------- */

/* What refuses an envelope of the vectors: the scanner of JSON, this module's
 * reading, or that too few keys verify. */
enum judge {
	BY_NOBODY,
	BY_SCANNER,
	BY_PARSER,
	BY_KEYS
};

static const struct {
	const char *name;
	enum judge judge;
	const char *says;
} verdicts[] = {
	{ "statement", BY_NOBODY, "" },
	{ "no-keyid", BY_NOBODY, "" },
	{ "misleading-keyid", BY_NOBODY, "" },
	{ "unknown-fields", BY_NOBODY, "" },
	{ "url-safe-base64", BY_NOBODY, "" },
	{ "std-base64", BY_NOBODY, "" },
	{ "empty-payload", BY_NOBODY, "" },
	{ "utf8-type", BY_NOBODY, "" },
	{ "escaped-type", BY_NOBODY, "" },
	{ "two-signers", BY_NOBODY, "" },
	{ "same-signer-twice", BY_KEYS, "" },
	{ "one-bad-one-good", BY_NOBODY, "" },
	{ "wrong-type", BY_KEYS, "" },
	{ "payload-changed", BY_KEYS, "" },
	{ "signed-raw-payload", BY_KEYS, "" },
	{ "signed-base64-payload", BY_KEYS, "" },
	{ "pae-le64", BY_KEYS, "" },
	{ "no-signatures", BY_PARSER, "1 to 16 signatures, not 0" },
	{ "missing-payloadType", BY_PARSER, "no payloadType" },
	{ "signature-key-missing-sig", BY_PARSER, "no sig" },
	{ "bad-base64", BY_PARSER, "payload of the envelope must be base64" },
	{ "duplicate-payload-member", BY_SCANNER, "payload" },
};

static void
read_keys(struct ks_span keys, struct ks_vkey out[2])
{
	struct ks_json_iter it = ks_json_iter(keys);
	struct ks_span item;
	size_t i;

	for (i = 0; i < 2; i++) {
		struct ks_public_key key;

		assert_true(ks_json_next_element(&it, &item));
		vector_bytes(item, "public_hex", key.bytes, sizeof(key.bytes));
		assert_int_equal(ks_vkey_make(ks_span_text(NAME),
			KS_SIGNATURE_ED25519, &key, &out[i], NULL), KS_OK);
	}
}

static void
assert_hex(struct ks_span item, const char *member, struct ks_span bytes)
{
	struct ks_span hex;
	char *text;

	if (!ks_json_find(item, member, &hex))
		return;
	text = malloc(2 * bytes.len + 1);
	assert_non_null(text);
	ks_hex_encode(bytes, text);
	assert_true(ks_span_equal(ks_json_raw(hex),
		ks_span(text, 2 * bytes.len)));
	free(text);
}

static enum judge
judge_envelope(struct ks_span item, const struct ks_vkey keys[2],
	struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT, json = KS_BUF_INIT;
	enum judge judge = BY_NOBODY;
	struct ks_jcs *jcs = NULL;
	struct ks_dsse dsse;
	uint64_t count = 0;
	size_t i;

	(void)vector_unescape(vector_member(item, "envelope"), &text);
	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	if (ks_jcs_scan(jcs, ks_buf_span(&text), &ks_jcs_rfc8785, &json,
		err) != KS_OK) {
		judge = BY_SCANNER;
	} else if (ks_dsse_parse(ks_buf_span(&json), &dsse, err) != KS_OK) {
		assert_int_equal(err->status, KS_INVALID);
		assert_null(dsse.message.data);
		judge = BY_PARSER;
	} else {
		for (i = 0; i < 2; i++)
			count += ks_dsse_verify(&dsse, &keys[i], err) == KS_OK;
		if (count < vector_number(item, "threshold"))
			judge = BY_KEYS;
		assert_hex(item, "payload_hex", dsse.payload);
		assert_hex(item, "pae_hex", ks_buf_span(&dsse.message));
		ks_dsse_release(&dsse);
	}
	ks_jcs_free(jcs);
	ks_buf_release(&text);
	ks_buf_release(&json);
	return judge;
}

static void
each_of_the_22_envelopes_is_judged_where_it_is_bad(void **state)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_vkey keys[2];
	struct ks_json_iter it;
	struct ks_span vectors, item;
	size_t i = 0;

	(void)state;
	vector_read("dsse.json", &file);
	vectors = vector_json(&file);
	read_keys(vector_member(vectors, "keys"), keys);
	it = ks_json_iter(vector_member(vectors, "cases"));
	for (; ks_json_next_element(&it, &item); i++) {
		struct ks_error err = KS_ERROR_INIT;
		bool good = ks_json_is(vector_member(item, "expect"), "ok");
		bool bad = ks_json_is(vector_member(item, "expect"),
			"reject");
		enum judge judge;

		assert_true(i < COUNT(verdicts));
		assert_true(ks_span_is(vector_text(item, "name"),
			verdicts[i].name));
		judge = judge_envelope(item, keys, &err);
		if (judge != verdicts[i].judge ||
			strstr(err.message, verdicts[i].says) == NULL ||
			(good && judge != BY_NOBODY) ||
			(bad && judge == BY_NOBODY))
			fail_msg("%s: %d, %s", verdicts[i].name, (int)judge,
				err.message);
	}
	assert_int_equal(i, COUNT(verdicts));
	ks_buf_release(&file);
}

/* ---- the example of the specification ----------------------------------- */

/* A decimal number as 32 bytes, big-endian. */
static void
read_decimal(struct ks_span digits, uint8_t out[32])
{
	size_t i, k;

	memset(out, 0, 32);
	for (i = 0; i < digits.len; i++) {
		unsigned carry = (unsigned)(digits.data[i] - '0');

		for (k = 32; k-- > 0;) {
			carry += 10U * out[k];
			out[k] = (uint8_t)(carry & 0xff);
			carry >>= 8;
		}
		assert_int_equal(carry, 0);
	}
}

/* A public key of the curve P-256 as SubjectPublicKeyInfo. */
static void
write_p256(struct ks_span example)
{
	static const uint8_t head[] = {
		0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce,
		0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
		0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04
	};
	uint8_t der[sizeof(head) + 64];

	memcpy(der, head, sizeof(head));
	read_decimal(vector_text(example, "ecdsa_p256_x"), der + sizeof(head));
	read_decimal(vector_text(example, "ecdsa_p256_y"),
		der + sizeof(head) + 32);
	scratch_write("public.der", ks_span(der, sizeof(der)));
}

/* r and s as two INTEGERs, with a zero byte before a high bit. */
static void
write_ecdsa(const uint8_t signature[64])
{
	uint8_t der[72] = { 0x30 };
	size_t len = 2;
	size_t i;

	for (i = 0; i < 64; i += 32) {
		bool high = signature[i] >= 0x80;

		der[len++] = 0x02;
		der[len++] = high ? 33 : 32;
		if (high)
			der[len++] = 0;
		memcpy(der + len, signature + i, 32);
		len += 32;
	}
	der[1] = (uint8_t)(len - 2);
	scratch_write("signature.der", ks_span(der, len));
}

/* Its key is of another algorithm than ours, but what it signed is what this
 * module composes. */
static void
the_signature_of_the_specification_is_over_our_message(void **state)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_dsse dsse;
	struct ks_span example;

	vector_read_shared("third_party/dsse_spec_example.json", &file);
	example = vector_member(vector_json(&file), "spec_example");
	if (ks_dsse_parse(vector_member(example, "envelope"), &dsse, &err) !=
		KS_OK)
		fail_msg("%s", err.message);
	assert_true(ks_span_equal(ks_buf_span(&dsse.message),
		vector_text(example, "pae")));
	assert_true(ks_span_equal(dsse.type,
		vector_text(example, "payloadType")));
	assert_true(ks_span_equal(dsse.payload,
		vector_text(example, "payload")));
	assert_int_equal(dsse.count, 1);
	assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL), KS_UNTRUSTED);
	assert_int_equal(scratch_setup(state), 0);
	if (sh("command -v openssl >/dev/null") == 0) {
		write_p256(example);
		write_ecdsa(dsse.signatures[0]);
		scratch_write("message", ks_buf_span(&dsse.message));
		assert_int_equal(sh("openssl pkey -pubin -inform DER "
			"-in public.der -out public.pem && openssl dgst "
			"-sha256 -verify public.pem -signature signature.der "
			"message >/dev/null"), 0);
	} else {
		print_message("there is no openssl: signature not looked at\n");
	}
	assert_int_equal(scratch_teardown(state), 0);
	ks_dsse_release(&dsse);
	ks_buf_release(&file);
}

/* ---- making ------------------------------------------------------------- */

/* What openssl pkeyutl made of the same key. */
static const char made[] = "{\"payload\":\"aGVsbG8gd29ybGQ=\",\"payloadType\":"
	"\"" TEXT "\",\"signatures\":[{\"keyid\":\"" NAME "+8e54103b\","
	"\"sig\":\"" SIG "\"}]}";

static void
an_envelope_is_made_as_openssl_makes_it(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_dsse dsse;

	(void)state;
	ks_buf_text(&out, "kept ");
	assert_int_equal(ks_dsse_make(ks_span_text(TEXT),
		ks_span_text(PAYLOAD), ks_span_text(NAME), &secret, &out,
		NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&out) + strlen("kept "), made);
	parse(made, &dsse);
	assert_true(ks_span_is(dsse.type, TEXT));
	assert_true(ks_span_is(dsse.payload, PAYLOAD));
	assert_true(ks_span_is(ks_buf_span(&dsse.message),
		"DSSEv1 10 text/plain 11 hello world"));
	assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL), KS_OK);
	ks_dsse_release(&dsse);
	ks_buf_release(&out);
}

static void
an_envelope_of_any_bytes_is_canonical_and_read_again(void **state)
{
	static const uint8_t bytes[] = { 0, 0xff, 0xfb, '"', '\\', 0xbf, 0 };
	struct ks_buf out = KS_BUF_INIT;
	struct ks_jcs *jcs = NULL;
	struct ks_dsse dsse;
	size_t len;

	(void)state;
	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	for (len = 0; len <= sizeof(bytes); len++) {
		/* Names and types need escapes, too. */
		ks_buf_clear(&out);
		assert_int_equal(ks_dsse_make(ks_span_text("a\"\\\n\xc3\xa9"),
			ks_span(bytes, len), ks_span_text("a\"\\b"), &secret,
			&out, NULL), KS_OK);
		assert_int_equal(ks_jcs_check(jcs, ks_buf_span(&out),
			&ks_jcs_manifest, NULL), KS_OK);
		assert_int_equal(ks_dsse_parse(ks_buf_span(&out), &dsse,
			NULL), KS_OK);
		assert_true(ks_span_equal(dsse.payload, ks_span(bytes, len)));
		assert_true(ks_span_is(dsse.type, "a\"\\\n\xc3\xa9"));
		assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL), KS_OK);
		ks_dsse_release(&dsse);
	}
	ks_jcs_free(jcs);
	ks_buf_release(&out);
}

static void
a_key_whose_name_breaks_t6_makes_nothing(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	ks_buf_text(&out, "kept");
	assert_int_equal(ks_dsse_make(ks_span_text(TEXT),
		ks_span_text(PAYLOAD), ks_span_text("a b"), &secret, &out,
		&err), KS_INVALID);
	assert_non_null(strstr(err.message, "T6"));
	assert_string_equal(ks_buf_cstr(&out), "kept");
	ks_buf_release(&out);
}

/* ---- reading ------------------------------------------------------------ */

#define ENVELOPE(payload, type, signatures) \
	"{'payload':" payload ",'payloadType':" type ",'signatures':" \
	signatures "}"
#define P "'aGVsbG8gd29ybGQ='"
#define T "'" TEXT "'"
#define S "{'sig':'" SIG "'}"
#define FOUR(x) x "," x "," x "," x
#define FOUR_GROUPS "AAAAAAAAAAAAAAAA"	/* 12 bytes */

static const struct {
	const char *envelope;
	const char *says;
} refused[] = {
	{ "[]", "an envelope must be an object, not an array" },
	{ "'x'", "must be an object, not a string" },
	{ "null", "must be an object, not null" },
	{ "{}", "the envelope has no payload" },
	{ "{'payload':" P ",'payloadType':" T "}", "has no signatures" },
	{ "{'payload':" P ",'signatures':[" S "]}", "has no payloadType" },
	{ "{'payloadType':" T ",'signatures':[" S "]}", "has no payload " },
	{ ENVELOPE("1", T, "[" S "]"), "payload of the envelope must be a "
		"string, not a number" },
	{ ENVELOPE(P, "null", "[" S "]"), "payloadType of the envelope must "
		"be a string, not null" },
	{ ENVELOPE(P, T, "{}"), "signatures of the envelope must be an array, "
		"not an object" },
	{ ENVELOPE(P, T, "[]"), "1 to 16 signatures, not 0" },
	{ ENVELOPE(P, T, "[" FOUR(FOUR(S)) "," S "]"), "not 17" },
	{ ENVELOPE(P, T, "[1]"), "has no sig" },
	{ ENVELOPE(P, T, "[{'keyid':'a'}]"), "has no sig" },
	{ ENVELOPE(P, T, "[{'sig':[]}]"), "sig of the envelope must be a "
		"string, not an array" },
	{ ENVELOPE(P, T, "[{'keyid':1,'sig':'" SIG "'}]"), "keyid of the "
		"envelope must be a string, not a number" },
	/* Base64 that is not strict, in one of several signatures too. */
	{ ENVELOPE("'aGVsbG8gd29ybGQ'", T, "[" S "]"), "base64" },
	{ ENVELOPE("'aGVsbG8gd29ybGR='", T, "[" S "]"), "base64" },
	{ ENVELOPE("'aGVsbG8gd29ybGQ=\\n'", T, "[" S "]"), "base64" },
	{ ENVELOPE("'====' ", T, "[" S "]"), "base64" },
	{ ENVELOPE("'-/-/'", T, "[" S "]"), "base64" },
	{ ENVELOPE("'_+_+'", T, "[" S "]"), "base64" },
	{ ENVELOPE("'aGVs\\u0062G8gd29ybGQ=\\u0000'", T, "[" S "]"),
		"base64" },
	{ ENVELOPE(P, T, "[" S ",{'sig':'x'}]"), "sig of the envelope must be "
		"base64" },
	{ ENVELOPE(P, T, "[{'sig':'" SIG_MIXED "'}]"), "base64" },
};

static void
an_envelope_that_is_malformed_is_refused_with_the_rule(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(refused); i++) {
		struct ks_buf json = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;
		struct ks_dsse dsse;

		put_json(refused[i].envelope, &json);
		assert_int_equal(ks_dsse_parse(ks_buf_span(&json), &dsse,
			&err), KS_INVALID);
		if (strstr(err.message, refused[i].says) == NULL)
			fail_msg("%s: %s", refused[i].envelope, err.message);
		assert_null(dsse.message.data);
		assert_int_equal(dsse.count, 0);
		ks_buf_release(&json);
	}
}

/* Envelopes that say the same under the same key. */
static const char *const same[] = {
	made,
	ENVELOPE(P, T, "[" S "]"),
	ENVELOPE(P, T, "[{'sig':'" SIG_URL "'}]"),
	ENVELOPE(P, T, "[{'keyid':'','sig':'" SIG "'}]"),
	ENVELOPE(P, T, "[{'keyid':'other+00000000','sig':'" SIG "'}]"),
	ENVELOPE(P, T, "[" S "," S "]"),
	ENVELOPE(P, T, "[{'cert':1,'sig':'" SIG "'}]"),
	"{'a':{},'payload':" P ",'payloadType':" T ",'signatures':[" S
		"],'z':[1]}",
	/* Signatures that are nobody's, or of another algorithm, beside it. */
	ENVELOPE(P, T, "[{'sig':''},{'sig':'AAAA'},{'sig':'" SIG_URL "'}]"),
	ENVELOPE(P, T, "[{'sig':'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=='}," S "]"),
	ENVELOPE(P, T, "[" FOUR(FOUR(S)) "]"),
};

static void
what_a_key_said_is_one_however_the_envelope_is_rewritten(void **state)
{
	struct ks_id first, id;
	size_t i;

	(void)state;
	/* sha256sum of the key's 32 bytes and the payload. */
	assert_true(ks_id_parse_hex(&first, ks_span_text("4a0b2f170f46dc5922a4"
		"d58f90f97d279cbdb0157b3606eadd3990f83a3167f3")));
	for (i = 0; i < COUNT(same); i++) {
		struct ks_dsse dsse;

		parse(same[i], &dsse);
		if (ks_dsse_verify(&dsse, &vkey, NULL) != KS_OK)
			fail_msg("%s", same[i]);
		ks_dsse_identity(&dsse, &vkey.key, &id);
		assert_true(ks_id_equal(&id, &first));
		ks_dsse_release(&dsse);
	}
}

static void
what_another_key_said_or_another_payload_is_another(void **state)
{
	struct ks_secret_key other_secret;
	struct ks_vkey other;
	struct ks_dsse dsse, changed;
	struct ks_id id, by_other, of_changed;

	(void)state;
	trust_make(NAME, KS_SIGNATURE_ED25519, 8, &other, &other_secret);
	parse(made, &dsse);
	parse(ENVELOPE("'aGVsbG8gd29ybGR4'", T, "[" S "]"), &changed);
	ks_dsse_identity(&dsse, &vkey.key, &id);
	ks_dsse_identity(&dsse, &other.key, &by_other);
	ks_dsse_identity(&changed, &vkey.key, &of_changed);
	assert_false(ks_id_equal(&id, &by_other));
	assert_false(ks_id_equal(&id, &of_changed));
	assert_false(ks_id_equal(&by_other, &of_changed));
	ks_dsse_release(&dsse);
	ks_dsse_release(&changed);
}

static void
a_signature_of_another_length_is_none_of_ours(void **state)
{
	struct ks_dsse dsse;

	(void)state;
	parse(ENVELOPE(P, T, "[{'sig':''},{'sig':'AAAA'}," S ",{'sig':'" SIG_URL
		"'},{'sig':'" FOUR_GROUPS FOUR_GROUPS FOUR_GROUPS FOUR_GROUPS
		FOUR_GROUPS "AAAAAAA='}]"), &dsse);
	assert_int_equal(dsse.count, 2);
	ks_dsse_release(&dsse);
	parse(ENVELOPE(P, T, "[{'sig':''},{'sig':'AAAA'}]"), &dsse);
	assert_int_equal(dsse.count, 0);
	assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL), KS_UNTRUSTED);
	ks_dsse_release(&dsse);
}

/* ---- verifying ---------------------------------------------------------- */

static void
another_key_of_the_same_name_is_told_and_not_trusted(void **state)
{
	struct ks_secret_key other_secret;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_vkey other;
	struct ks_dsse dsse;

	(void)state;
	trust_make(NAME, KS_SIGNATURE_ED25519, 8, &other, &other_secret);
	parse(made, &dsse);
	assert_int_equal(ks_dsse_verify(&dsse, &other, &err), KS_UNTRUSTED);
	assert_non_null(strstr(err.message, "no signature of the envelope is "
		"by the key " NAME "+"));
	ks_dsse_release(&dsse);
}

static void
a_cosigners_key_verifies_no_envelope(void **state)
{
	struct ks_secret_key same_secret;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_vkey cosigner;
	struct ks_dsse dsse;

	(void)state;
	trust_make(NAME, KS_SIGNATURE_COSIGNATURE, 7, &cosigner, &same_secret);
	parse(made, &dsse);
	assert_int_equal(ks_dsse_verify(&dsse, &cosigner, &err), KS_USAGE);
	assert_non_null(strstr(err.message, "type 01"));
	ks_dsse_release(&dsse);
}

/* Flip each bit in turn of what is signed, and of the signature. */
static void
any_changed_bit_is_refused(void **state)
{
	struct ks_dsse dsse;
	size_t i;

	(void)state;
	parse(made, &dsse);
	for (i = 0; i < 8 * dsse.message.len; i++) {
		dsse.message.data[i / 8] ^= (uint8_t)(1U << i % 8);
		assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL),
			KS_UNTRUSTED);
		dsse.message.data[i / 8] ^= (uint8_t)(1U << i % 8);
	}
	for (i = 0; i < 8 * sizeof(dsse.signatures[0]); i++) {
		dsse.signatures[0][i / 8] ^= (uint8_t)(1U << i % 8);
		assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL),
			KS_UNTRUSTED);
		dsse.signatures[0][i / 8] ^= (uint8_t)(1U << i % 8);
	}
	assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL), KS_OK);
	ks_dsse_release(&dsse);
}

/* Type and payload cannot lend each other bytes. */
static void
where_the_type_ends_is_signed(void **state)
{
	struct ks_buf a = KS_BUF_INIT, b = KS_BUF_INIT;

	(void)state;
	ks_dsse_pae(ks_span_text("t 1 x"), ks_span_text("p"), &a);
	ks_dsse_pae(ks_span_text("t"), ks_span_text("x 1 p"), &b);
	assert_string_equal(ks_buf_cstr(&a), "DSSEv1 5 t 1 x 1 p");
	assert_string_equal(ks_buf_cstr(&b), "DSSEv1 1 t 5 x 1 p");
	ks_buf_clear(&a);
	ks_dsse_pae(ks_span(NULL, 0), ks_span(NULL, 0), &a);
	assert_string_equal(ks_buf_cstr(&a), "DSSEv1 0  0 ");
	ks_buf_release(&a);
	ks_buf_release(&b);
}

/* Bytes that are not canonical JSON at all are no reason to fall. */
static void
hostile_bytes_are_read_without_harm(void **state)
{
	size_t len, i;

	(void)state;
	for (len = 0; len < sizeof(made); len++) {
		/* Of exactly that size, so that a read beyond is noticed. */
		uint8_t *bytes = malloc(len > 0 ? len : 1);
		struct ks_dsse dsse;

		assert_non_null(bytes);
		memcpy(bytes, made, len);
		for (i = 0; i < len; i++) {
			uint8_t kept = bytes[i];

			bytes[i] = (uint8_t)"\"\\{}[],:"[i % 8];
			if (ks_dsse_parse(ks_span(bytes, len), &dsse, NULL) ==
				KS_OK)
				ks_dsse_release(&dsse);
			bytes[i] = kept;
		}
		free(bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_of_the_22_envelopes_is_judged_where_it_is_bad),
		cmocka_unit_test(
			the_signature_of_the_specification_is_over_our_message),
		cmocka_unit_test(an_envelope_is_made_as_openssl_makes_it),
		cmocka_unit_test(
			an_envelope_of_any_bytes_is_canonical_and_read_again),
		cmocka_unit_test(a_key_whose_name_breaks_t6_makes_nothing),
		cmocka_unit_test(
			an_envelope_that_is_malformed_is_refused_with_the_rule),
		cmocka_unit_test(
			what_a_key_said_is_one_however_the_envelope_is_rewritten),
		cmocka_unit_test(
			what_another_key_said_or_another_payload_is_another),
		cmocka_unit_test(
			a_signature_of_another_length_is_none_of_ours),
		cmocka_unit_test(
			another_key_of_the_same_name_is_told_and_not_trusted),
		cmocka_unit_test(a_cosigners_key_verifies_no_envelope),
		cmocka_unit_test(any_changed_bit_is_refused),
		cmocka_unit_test(where_the_type_ends_is_signed),
		cmocka_unit_test(hostile_bytes_are_read_without_harm),
	};

	return cmocka_run_group_tests(tests, make_key, NULL);
}
