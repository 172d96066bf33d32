/*
 * Ed25519 keys and signatures (RFC 8032, PureEdDSA), by OpenSSL, and the PEM
 * files that hold such keys (PKCS#8, RFC 8410).
 *
 * A secret lives on its owner's stack, in a buffer of its own or in memory
 * that its owner wipes: ks_secret_key_wipe(), ks_wipe().
 */
#ifndef KS_FORMAT_ED25519_H
#define KS_FORMAT_ED25519_H

#include "base/wipe.h"

#define KS_ED25519_KEY 32
#define KS_ED25519_SIGNATURE 64

struct ks_public_key {
	uint8_t bytes[KS_ED25519_KEY];
};

struct ks_secret_key {
	uint8_t seed[KS_ED25519_KEY];
	struct ks_public_key public;	/* derived from the seed */
};

void ks_secret_key_wipe(struct ks_secret_key *key);

bool ks_public_key_equal(const struct ks_public_key *a,
	const struct ks_public_key *b);

/* A new key from the system's random numbers. KS_IO when there are none. */
enum ks_status ks_ed25519_generate(struct ks_secret_key *out,
	struct ks_error *err) KS_CHECKED;

/* The key of a seed. */
enum ks_status ks_ed25519_from_seed(const uint8_t seed[KS_ED25519_KEY],
	struct ks_secret_key *out, struct ks_error *err) KS_CHECKED;

enum ks_status ks_ed25519_sign(const struct ks_secret_key *key,
	struct ks_span message, uint8_t signature[KS_ED25519_SIGNATURE],
	struct ks_error *err) KS_CHECKED;

/* Whether the signature is the key's over `message`; a signature that is not
 * in its one canonical form (S >= L) is not. */
bool ks_ed25519_verify(const struct ks_public_key *key,
	struct ks_span message, const uint8_t signature[KS_ED25519_SIGNATURE]);

/* PEM. Text before BEGIN and after END is allowed when reading; nothing else
 * but one key of type Ed25519 is: KS_INVALID with the rule (another algorithm
 * is named). `passphrase` is for ENCRYPTED PRIVATE KEY; empty = none was given,
 * which such a key answers with KS_UNTRUSTED, as it does a wrong one. */
enum ks_status ks_pem_read_secret(struct ks_span text,
	struct ks_span passphrase, struct ks_secret_key *out,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_pem_read_public(struct ks_span text,
	struct ks_public_key *out, struct ks_error *err) KS_CHECKED;

/* Append PEM text; with a passphrase encrypted (PBES2, scrypt or PBKDF2 with
 * AES-256), which stock openssl reads. */
enum ks_status ks_pem_write_secret(const struct ks_secret_key *key,
	struct ks_span passphrase, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_pem_write_public(const struct ks_public_key *key,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

#endif
