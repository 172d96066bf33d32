/*
 * What a user gives as a key (store-layout.md N4), and what is given back.
 *
 * Public: a vkey, a line "ssh-ed25519 …", or a PEM PUBLIC KEY. Private: a
 * PKCS#8 PEM with a line "Name: NAME" before BEGIN, or OpenSSH's file with the
 * name as its comment. Editors' byte order marks, CR and blanks at the end of
 * lines are passed over.
 */
#ifndef KS_FORMAT_KEYFILE_H
#define KS_FORMAT_KEYFILE_H

#include "format/vkey.h"

/* Bytes of a text with a key in it. */
#define KS_KEY_FILE_MAX 65536

/* Read a public key. `origin` is the name that the user gives for it, or
 * empty: only a vkey has a name of its own, and its type; the other forms are
 * keys of logs. KS_INVALID when the text is no public key (a private one is
 * told so), KS_UNSUPPORTED as ks_vkey_parse(); KS_USAGE without an origin
 * where there must be one, and where a vkey has another name. */
enum ks_status ks_public_key_read(struct ks_span text, struct ks_span origin,
	struct ks_vkey *out, struct ks_error *err) KS_CHECKED;

enum ks_key_form {
	KS_KEY_VKEY,	/* NAME+HHHHHHHH+BASE64 */
	KS_KEY_SSH,	/* ssh-ed25519 BASE64 NAME */
	KS_KEY_PEM	/* PUBLIC KEY, without the name */
};

/* Append a public key with its final LF. */
enum ks_status ks_public_key_write(const struct ks_vkey *vkey,
	enum ks_key_form form, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

/* A private key and its name, which obeys T6. Its owner wipes it. */
struct ks_named_key {
	char name[KS_KEY_NAME_MAX + 1];
	struct ks_secret_key secret;
};

/* Read a private key; `passphrase` is for an encrypted PKCS#8 one, as in
 * ks_pem_read_secret(): KS_UNTRUSTED when it is missing or wrong. KS_INVALID
 * when the text is no private key, or has no name. *out is wiped on failure. */
enum ks_status ks_private_key_read(struct ks_span text,
	struct ks_span passphrase, struct ks_named_key *out,
	struct ks_error *err) KS_CHECKED;

/* Append the line "Name: NAME" and the PEM, encrypted when there is a
 * passphrase. */
enum ks_status ks_private_key_write(const struct ks_named_key *key,
	struct ks_span passphrase, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

#endif
