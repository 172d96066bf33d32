/*
 * Names of keys, key ids and verifier keys (C2SP signed-note).
 *
 * A vkey is NAME+HHHHHHHH+BASE64: the name, the key id, and the signature type
 * with the public key (store-layout.md N3).
 */
#ifndef KS_FORMAT_VKEY_H
#define KS_FORMAT_VKEY_H

#include "format/ed25519.h"
#include "format/id.h"

#define KS_KEY_NAME_MAX 255

/* Signature types of C2SP signed-note that kistore makes and checks. */
enum ks_signature_type {
	KS_SIGNATURE_ED25519 = 0x01,	/* over the text of the note */
	KS_SIGNATURE_COSIGNATURE = 0x04	/* with a time, over a checkpoint */
};

struct ks_vkey {
	char name[KS_KEY_NAME_MAX + 1];
	enum ks_signature_type type;
	uint32_t id;
	struct ks_public_key key;
};

/* KS_INVALID with the rule of T6 that `name`, an origin or the name of a key,
 * breaks. */
enum ks_status ks_key_name_check(struct ks_span name, struct ks_error *err)
	KS_CHECKED;

/* Whether a signed note may carry this name: not empty, no '+', no Unicode
 * space (C2SP signed-note; laxer than T6). UTF-8 is judged elsewhere. */
bool ks_key_name_is_legal(struct ks_span name);

/* The first four bytes of SHA-256(name || LF || type || key), big-endian. */
uint32_t ks_key_id(struct ks_span name, enum ks_signature_type type,
	const struct ks_public_key *key);

/* Fill *out. KS_INVALID as ks_key_name_check(). */
enum ks_status ks_vkey_make(struct ks_span name, enum ks_signature_type type,
	const struct ks_public_key *key, struct ks_vkey *out,
	struct ks_error *err) KS_CHECKED;

/* Take apart a vkey (without LF). KS_INVALID when it is malformed or its id is
 * not that of its key, KS_UNSUPPORTED for another signature type. */
enum ks_status ks_vkey_parse(struct ks_span text, struct ks_vkey *out,
	struct ks_error *err) KS_CHECKED;

/* Append the text, without LF. */
void ks_vkey_print(const struct ks_vkey *vkey, struct ks_buf *out);

/* The SHA-256 of that text, by which a successor is announced (N9). */
enum ks_status ks_vkey_digest(const struct ks_vkey *vkey, struct ks_id *out,
	struct ks_error *err) KS_CHECKED;

bool ks_vkey_equal(const struct ks_vkey *a, const struct ks_vkey *b);

#endif
