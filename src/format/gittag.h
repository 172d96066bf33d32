/*
 * Annotated tags of git with an SSH signature (store-layout.md S4), as bytes:
 * git-hash-object(1) has no part in it.
 *
 *	object OID
 *	type commit
 *	tag NAME
 *	tagger IDENT SECONDS ZONE
 *
 *	message
 *	-----BEGIN SSH SIGNATURE-----
 *	…
 *
 * The signature is in the namespace "git" over everything before it (the
 * payload). git takes the last line that starts as any known signature does
 * for its start, and passes over text that follows it; here there is one such
 * line in all, and nothing follows.
 */
#ifndef KS_FORMAT_GITTAG_H
#define KS_FORMAT_GITTAG_H

#include "format/sshsig.h"

#define KS_GIT_TAG_OID 40	/* hex digits of an object's name */
/* Bytes of a tag: a note (B16), the header and a signature. */
#define KS_GIT_TAG_MAX 1048576

struct ks_git_tag {
	struct ks_span object;	/* KS_GIT_TAG_OID lower-case hex digits */
	struct ks_span name;
	struct ks_span ident;	/* of the tagger: "NAME <MAIL>" */
	int64_t seconds;	/* which the tagger claims */
	struct ks_span message;	/* with its last LF; may be empty */
	/* Set by reading: what is signed, and the signature, as text and
	 * taken apart. */
	struct ks_span payload;
	struct ks_span armor;
	struct ks_sshsig sig;
};

/* Append the object: the payload made of the first five members, in zone
 * +0000, and its signature. KS_INVALID, before anything is appended, when
 * reading would refuse it. */
enum ks_status ks_git_tag_write(const struct ks_git_tag *tag,
	const struct ks_secret_key *key, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Take apart an object's bytes, into which the spans of *out point. KS_CORRUPT
 * for what breaks S4; KS_UNTRUSTED for a signature by another type of key.
 * Whether the signature verifies is another question. */
enum ks_status ks_git_tag_read(struct ks_span bytes, struct ks_git_tag *out,
	struct ks_error *err) KS_CHECKED;

/* Whether the signature of a tag that was read is that of `key`: errors as
 * those of ks_sshsig_verify(). */
enum ks_status ks_git_tag_verify(const struct ks_git_tag *tag,
	const struct ks_public_key *key, struct ks_error *err) KS_CHECKED;

#endif
