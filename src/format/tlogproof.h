/*
 * An inclusion proof with its checkpoint as one text, *.tlog-proof (C2SP
 * tlog-proof):
 *
 *	c2sp.org/tlog-proof@v1
 *	extra BASE64		(may be absent)
 *	index DECIMAL
 *	BASE64 HASH		(any number)
 *
 *	NOTE
 *
 * The leaf is not part of it. What signs the note, and what its text says, is
 * for others to judge; so is whether the proof holds.
 */
#ifndef KS_FORMAT_TLOGPROOF_H
#define KS_FORMAT_TLOGPROOF_H

#include "base/buf.h"
#include "format/proof.h"

struct ks_tlogproof {
	uint64_t index;		/* below 2^63 */
	struct ks_proof proof;
	struct ks_span extra;	/* strict base64 text, vouched for by nobody;
				 * empty = the line is absent */
	struct ks_span note;	/* a signed note, as it is */
};

/* Take a text apart; the spans point into it. KS_CORRUPT unless it is exactly
 * what ks_tlogproof_write() would write; also for an extra line where
 * `with_extra` is false (store-layout.md A5). Of the note only the final LF
 * is looked at. */
enum ks_status ks_tlogproof_parse(struct ks_span text, bool with_extra,
	struct ks_tlogproof *out, struct ks_error *err) KS_CHECKED;

/* Append the text. KS_INVALID when a member is out of its bounds: an index of
 * 2^63 or more, too many hashes, extra that is no base64, a note without
 * final LF. */
enum ks_status ks_tlogproof_write(const struct ks_tlogproof *proof,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

#endif
