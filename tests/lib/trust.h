/*
 * What tests of notes, keys and checkpoints share: the vectors in
 * fixtures/trust, and keys made of them.
 *
 * For cmocka programs, which include their own headers first.
 */
#ifndef TESTS_LIB_TRUST_H
#define TESTS_LIB_TRUST_H

#include "format/vkey.h"
#include "vectors.h"

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

	it = ks_json_iter(vector_read_json("keys.json", &file));
	while (!found && ks_json_next_element(&it, &item))
		found = ks_json_is(vector_member(item, "vkey"), text);
	assert_true(found);
	vector_bytes(item, "seed_hex", seed, sizeof(seed));
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
