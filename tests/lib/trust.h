/*
 * What tests of notes, keys and checkpoints share: the vectors in
 * fixtures/trust, and keys made of them.
 *
 * For cmocka programs, which include their own headers first.
 */
#ifndef TESTS_LIB_TRUST_H
#define TESTS_LIB_TRUST_H

#include <stdio.h>

#include "base/file.h"
#include "base/hex.h"
#include "format/jcs.h"
#include "format/json.h"
#include "format/vkey.h"

/* A file of vectors as canonical JSON. */
static inline void
trust_read(const char *name, struct ks_buf *out)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_jcs *jcs;
	char path[256];

	(void)snprintf(path, sizeof(path), "fixtures/trust/%s", name);
	if (ks_file_read(path, (uint64_t)1 << 20, &text, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	if (ks_jcs_scan(jcs, ks_buf_span(&text), &ks_jcs_rfc8785, out, &err) !=
		KS_OK)
		fail_msg("%s: %s", path, err.message);
	ks_jcs_free(jcs);
	ks_buf_release(&text);
}

static inline struct ks_span
trust_member(struct ks_span object, const char *name)
{
	struct ks_span value = ks_span(NULL, 0);

	if (!ks_json_find(object, name, &value))
		fail_msg("there is no member %s", name);
	return value;
}

/* Put the characters of a string into `out`, which is emptied first. */
static inline struct ks_span
trust_text(struct ks_span string, struct ks_buf *out)
{
	assert_int_equal(ks_json_type(string), KS_JSON_STRING);
	ks_buf_clear(out);
	ks_json_unescape(out, ks_json_raw(string));
	assert_false(out->failed);
	return ks_buf_span(out);
}

static inline int64_t
trust_integer(struct ks_span object, const char *name)
{
	int64_t value = 0;

	assert_true(ks_json_integer(trust_member(object, name), &value));
	return value;
}

static inline void
trust_hex(struct ks_span object, const char *name, uint8_t *out, size_t len)
{
	assert_true(ks_hex_decode(ks_json_raw(trust_member(object, name)),
		out, len));
}

static inline void
trust_vkey(struct ks_span text, struct ks_vkey *out)
{
	struct ks_error err = KS_ERROR_INIT;

	if (ks_vkey_parse(text, out, &err) != KS_OK)
		fail_msg("%.*s: %s", (int)text.len, (const char *)text.data,
			err.message);
}

/* The key whose vkey `text` is, with its secret, from keys.json. */
static inline void
trust_key(const char *text, struct ks_vkey *vkey, struct ks_secret_key *secret)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_span item = ks_span(NULL, 0);
	struct ks_json_iter it;
	uint8_t seed[KS_ED25519_KEY];
	bool found = false;

	trust_read("keys.json", &file);
	it = ks_json_iter(ks_buf_span(&file));
	while (!found && ks_json_next_element(&it, &item))
		found = ks_json_is(trust_member(item, "vkey"), text);
	assert_true(found);
	trust_hex(item, "seed_hex", seed, sizeof(seed));
	assert_int_equal(ks_ed25519_from_seed(seed, secret, NULL), KS_OK);
	trust_vkey(ks_span_text(text), vkey);
	assert_true(ks_public_key_equal(&vkey->key, &secret->public));
	ks_buf_release(&file);
}

/* A key of the test's own: the one whose seed has `number` in each byte. */
static inline void
trust_make(const char *name, enum ks_signature_type type, uint8_t number,
	struct ks_vkey *vkey, struct ks_secret_key *secret)
{
	uint8_t seed[KS_ED25519_KEY];

	memset(seed, number, sizeof(seed));
	assert_int_equal(ks_ed25519_from_seed(seed, secret, NULL), KS_OK);
	assert_int_equal(ks_vkey_make(ks_span_text(name), type,
		&secret->public, vkey, NULL), KS_OK);
}

#define TRUST_LOG "archive.example/log"
#define TRUST_LOG_VKEY \
	TRUST_LOG "+f8ca281c+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up"
#define TRUST_LOG_VKEY_04 \
	TRUST_LOG "+d6842c1b+BP6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up"
#define TRUST_WITNESS_VKEY \
	"witness.example/w1+44d58d5d+" \
	"BAvCPfs2bIz6Yj2LPVfBDQ+bQOtqa2zrFNapuSnvGnVH"
#define TRUST_MIRROR_VKEY \
	"mirror.example/m2+b5a0d82e+" \
	"BEdCVrsjy2bPI3VpPfL3Rt4bSyL54wYXY8yWWP+nbhdQ"
#define TRUST_OTHER_VKEY \
	"other.example/log+29b5bc2e+" \
	"AfJReDuSkkL8f8trDDDhtsde/VFOxoQPFbLpMsqyoglI"

#endif
