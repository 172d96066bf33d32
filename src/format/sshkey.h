/*
 * Keys in OpenSSH's formats: the blob and the line of a public key (RFC 8709,
 * sshd(8)), its fingerprint, and the file of a private key (PROTOCOL.key).
 *
 * Of the types of keys only ssh-ed25519 is taken (store-layout.md N4); another
 * one is named in the refusal.
 */
#ifndef KS_FORMAT_SSHKEY_H
#define KS_FORMAT_SSHKEY_H

#include "format/ed25519.h"

#define KS_SSH_BLOB 51		/* bytes of a public key's blob */
#define KS_SSH_FINGERPRINT 50	/* characters of "SHA256:…" */
#define KS_SSH_TYPE "ssh-ed25519"

/* RFC 4251 section 5: a string is its length, 32 bits big-endian, and as many
 * bytes. Taking cuts it off the front of *rest; false, and *rest stays, when
 * it is not all there. */
bool ks_ssh_take_u32(struct ks_span *rest, uint32_t *out);
bool ks_ssh_take_string(struct ks_span *rest, struct ks_span *out);
void ks_ssh_put_u32(uint32_t value, struct ks_buf *out);
/* The bytes number less than 2^32. */
void ks_ssh_put_string(struct ks_span bytes, struct ks_buf *out);

void ks_ssh_blob(const struct ks_public_key *key, uint8_t out[KS_SSH_BLOB]);
/* KS_INVALID when it is malformed or of another type. */
enum ks_status ks_ssh_blob_read(struct ks_span blob, struct ks_public_key *out,
	struct ks_error *err) KS_CHECKED;

/* "SHA256:" and the SHA-256 of the blob in base64 without padding, as
 * ssh-keygen -l writes it; NUL-terminated. Returns `out`. */
char *ks_ssh_fingerprint(const struct ks_public_key *key,
	char out[KS_SSH_FINGERPRINT + 1]);

/* Read the one line of a .pub file: type, base64 and, if it has one, a
 * comment, parted by blanks. Blanks, CR and LF around the line are passed
 * over; options before the type are refused. *comment lies in `text`. */
enum ks_status ks_ssh_line_read(struct ks_span text, struct ks_public_key *out,
	struct ks_span *comment, struct ks_error *err) KS_CHECKED;
/* Append the line with its LF; an empty comment is left out, and one must not
 * have control characters. */
void ks_ssh_line_write(const struct ks_public_key *key, struct ks_span comment,
	struct ks_buf *out);

/* Read a private key file that is not encrypted; append its comment.
 * KS_INVALID for everything else, with what to do about an encrypted one. The
 * three copies of the public key must be that of the seed: ssh-keygen does not
 * look at all of them. */
enum ks_status ks_ssh_secret_read(struct ks_span text,
	struct ks_secret_key *out, struct ks_buf *comment, struct ks_error *err)
	KS_CHECKED;
/* Append the file, not encrypted; `comment` has no control characters. */
enum ks_status ks_ssh_secret_write(const struct ks_secret_key *key,
	struct ks_span comment, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

#endif
