/*
 * DSSE envelopes (v1.0.2) with Ed25519 signatures.
 *
 *	{"payload":BASE64,"payloadType":TYPE,
 *	 "signatures":[{"keyid":HINT,"sig":BASE64},…]}
 *
 * What is signed is the PAE, which names the type and both lengths, so that a
 * signature made for one purpose cannot serve another. Its tail is the
 * payload: what was verified and what is read afterwards are the same bytes.
 *
 *	struct ks_dsse dsse;
 *	if (ks_dsse_parse(envelope, &dsse, &err) != KS_OK)
 *		return ...;
 *	status = ks_dsse_verify(&dsse, &vkey, &err);
 *	if (status == KS_OK && ks_span_is(dsse.type, "…"))
 *		... dsse.payload
 *	ks_dsse_release(&dsse);
 *
 * Envelopes are malleable: anybody can add signatures or members, reorder the
 * list, rewrite base64 in its other alphabet, and change keyids. So neither an
 * envelope's bytes nor a signature's identify anything; what a key said is
 * identified by (key, payload), ks_dsse_identity().
 */
#ifndef KS_FORMAT_DSSE_H
#define KS_FORMAT_DSSE_H

#include "format/vkey.h"

/* Signatures of an envelope, so that verifying one costs a bounded time. */
#define KS_DSSE_SIGNATURES 16

/* An envelope taken apart. It owns `message`, in which the spans lie. */
struct ks_dsse {
	struct ks_buf message;	/* the PAE: what each signature is over */
	struct ks_span type;	/* payloadType, unescaped */
	struct ks_span payload;	/* decoded */
	/* Those that can be Ed25519's: others have another length. */
	uint8_t signatures[KS_DSSE_SIGNATURES][KS_ED25519_SIGNATURE];
	size_t count;
};

/* Append the pre-authentication encoding: "DSSEv1 LEN TYPE LEN PAYLOAD". */
void ks_dsse_pae(struct ks_span type, struct ks_span payload,
	struct ks_buf *out);

/* Take apart an envelope, canonical JSON (format/json.h). KS_INVALID with what
 * is wrong: a member missing or of the wrong type, no signature or more than
 * KS_DSSE_SIGNATURES, base64 that is not strict (base/base64.h; the alphabet
 * of RFC 4648 section 5, '-' and '_', is taken as well, for DSSE demands it,
 * but no mixture). Unknown members are ignored, as DSSE demands, and so are
 * keyids: they are hints that nobody signed. A signature that cannot be
 * Ed25519's is passed over, like any that does not verify. After a failure
 * there is nothing to release. */
enum ks_status ks_dsse_parse(struct ks_span envelope, struct ks_dsse *out,
	struct ks_error *err) KS_CHECKED;
void ks_dsse_release(struct ks_dsse *dsse);

/* KS_OK when at least one of the signatures is the key's; KS_UNTRUSTED when
 * none is (that of another key and a forged one cannot be told apart);
 * KS_USAGE when the vkey is of type 04, whose key signs checkpoints only. To
 * demand several signers, ask for each of as many distinct keys. */
enum ks_status ks_dsse_verify(const struct ks_dsse *dsse,
	const struct ks_vkey *vkey, struct ks_error *err) KS_CHECKED;

/* What is counted once, however often and in whatever envelopes it comes:
 * SHA-256(public key || payload). It means something only after
 * ks_dsse_verify() has said KS_OK for that key. */
void ks_dsse_identity(const struct ks_dsse *dsse,
	const struct ks_public_key *key, struct ks_id *out);

/* Append a new envelope, canonical JSON, with one signature by `key`. Its
 * keyid is NAME+HHHHHHHH, as the vkey of `key` under `name` begins, by which a
 * reader finds the `key` line of the log. `type` is UTF-8. The key is not that
 * of a log, which signs checkpoints only (store-layout.md N13): the caller
 * knows. KS_INVALID when `name` breaks T6. On failure `out` is as it was. */
enum ks_status ks_dsse_make(struct ks_span type, struct ks_span payload,
	struct ks_span name, const struct ks_secret_key *key,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

#endif
