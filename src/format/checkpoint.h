/*
 * Checkpoints (C2SP tlog-checkpoint): what the holder of a log's key stands
 * by, as the text of a signed note (format/note.h).
 *
 *	archive.example/log
 *	300
 *	QdQeB11YgX/rOtM3hRv6pa5ldO0wojr2h7Qk3I0novs=
 */
#ifndef KS_FORMAT_CHECKPOINT_H
#define KS_FORMAT_CHECKPOINT_H

#include "format/id.h"
#include "format/note.h"

struct ks_checkpoint {
	struct ks_span origin;	/* 1 to 255 bytes, otherwise opaque: compare
				 * it with the one expected */
	uint64_t size;		/* at most 2^63 - 1 */
	struct ks_id root;	/* of size 0: the SHA-256 of nothing */
	struct ks_span extension;	/* the lines after the third, each with
				 * its LF; kistore's own has none (S1) */
};

/* Take apart the text of a note; spans lie in it. KS_CORRUPT with what is
 * wrong: not three lines, an empty line, an origin over 255 bytes (B17), a
 * number not in its one form, a root that is not 32 bytes or not that of no
 * entries, or no text of a note at all. Printing gives the same text again. */
enum ks_status ks_checkpoint_parse(struct ks_span text,
	struct ks_checkpoint *out, struct ks_error *err) KS_CHECKED;

/* The same of a whole note, whose signatures nobody looks at: spans lie in
 * `bytes`. KS_CORRUPT for a malformed note, too. */
enum ks_status ks_checkpoint_of_note(struct ks_span bytes,
	struct ks_checkpoint *out, struct ks_error *err) KS_CHECKED;

/* Append the text. */
void ks_checkpoint_print(const struct ks_checkpoint *checkpoint,
	struct ks_buf *out);

/* A number as C2SP texts have it: decimal digits, no leading zero, at most
 * 2^63 - 1. */
bool ks_checkpoint_read_number(struct ks_span text, uint64_t *out);

/* Append a new note: the three lines, the empty line, and the signature of
 * type 01 that `key` makes under the name `origin`. The text is composed here,
 * never taken from elsewhere (N13). KS_INVALID when `origin` breaks T6,
 * KS_USAGE when `size` is over 2^63 - 1, or 0 with another root than that of
 * no entries. On failure `note` is as it was. */
enum ks_status ks_checkpoint_sign(struct ks_span origin, uint64_t size,
	const struct ks_id *root, const struct ks_secret_key *key,
	struct ks_buf *note, struct ks_error *err) KS_CHECKED;

/* Append the signature line (with LF) of type 04 that `cosigner`, whose secret
 * `key` is, makes of a checkpoint's text at `time`, seconds since 1970. Other
 * parties' texts may have an extension; whoever wants none, looks. KS_CORRUPT
 * as ks_checkpoint_parse(), KS_USAGE when `cosigner` is not of type 04 or not
 * of that key, or `time` is over 2^63 - 1. On failure `line` is as it was. */
enum ks_status ks_checkpoint_cosign(struct ks_span text,
	const struct ks_vkey *cosigner, const struct ks_secret_key *key,
	uint64_t time, struct ks_buf *line, struct ks_error *err) KS_CHECKED;

#endif
