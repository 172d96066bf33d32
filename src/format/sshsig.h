/*
 * SSH signatures (PROTOCOL.sshsig, version 1) by Ed25519 keys, as ssh-keygen
 * -Y sign writes them, to the byte.
 *
 * What they cover names its purpose, the namespace, so that a signature made
 * for one cannot serve another.
 */
#ifndef KS_FORMAT_SSHSIG_H
#define KS_FORMAT_SSHSIG_H

#include "format/ed25519.h"

/* The first line of the armor, without LF. */
#define KS_SSHSIG_BEGIN "-----BEGIN SSH SIGNATURE-----"

struct ks_sshsig {
	struct ks_public_key key;	/* which it says it was made with */
	bool sha512;			/* else SHA-256 */
	uint8_t signature[KS_ED25519_SIGNATURE];
};

/* Sign `message` with SHA-512 and append the armor; the namespace is not
 * empty. */
enum ks_status ks_sshsig_sign(const struct ks_secret_key *key,
	const char *namespace, struct ks_span message, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Take apart an armor that is the whole of `text`, but that its last line may
 * lack its LF. KS_CORRUPT when it is malformed, of another version than 1 or
 * another namespace; KS_UNTRUSTED when it was made by a key of another type. */
enum ks_status ks_sshsig_read(struct ks_span text, const char *namespace,
	struct ks_sshsig *out, struct ks_error *err) KS_CHECKED;

/* KS_OK when it is the signature of `key` over `message`; KS_UNTRUSTED, with
 * both fingerprints, when it was made by another key; KS_CORRUPT when it does
 * not verify. */
enum ks_status ks_sshsig_verify(const struct ks_sshsig *sig,
	const struct ks_public_key *key, const char *namespace,
	struct ks_span message, struct ks_error *err) KS_CHECKED;

#endif
