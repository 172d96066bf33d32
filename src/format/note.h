/*
 * Signed notes (C2SP signed-note): a text, an empty line, signature lines.
 *
 * Reading has two steps. ks_note_parse() refuses what is malformed, without
 * any key. ks_note_open() judges the lines by keys that the caller trusts;
 * until it says KS_OK the text is nobody's.
 *
 *	struct ks_note_key keys[] = { { .vkey = &log }, { .vkey = &witness } };
 *	struct ks_note note;
 *	if (ks_note_parse(bytes, &note, &err) != KS_OK)
 *		return ...;
 *	status = ks_note_open(&note, keys, 2, &err);
 *	...
 *	ks_note_release(&note);
 *
 * Nothing here signs: a log's key signs what format/checkpoint.h composes, and
 * nothing else (store-layout.md N13).
 */
#ifndef KS_FORMAT_NOTE_H
#define KS_FORMAT_NOTE_H

#include "format/vkey.h"

/* Limits of a note that is read (store-layout.md B16), of one that is
 * published (N2), and of the keys that one is opened with. */
#define KS_NOTE_MAX 1000000
#define KS_NOTE_LINES 100
#define KS_NOTE_LINES_PUBLISHED 16
#define KS_NOTE_KEYS 4096

/* One signature line. Spans lie in the bytes of the note, but `payload`. */
struct ks_note_line {
	struct ks_span line;	/* all of it, with its LF */
	struct ks_span name;
	uint32_t id;
	struct ks_span payload;	/* decoded, what follows the id: at least one
				 * byte; owned by the note */
};

struct ks_note {
	struct ks_span text;	/* with its last LF, in the bytes parsed */
	struct ks_note_line lines[KS_NOTE_LINES];
	size_t line_count;	/* at least 1 */
	struct ks_buf payloads;
};

/* A key to open a note with, and what the note has of it. */
struct ks_note_key {
	const struct ks_vkey *vkey;	/* set by the caller, borrowed */
	bool verified;		/* set by ks_note_open(), as are these: */
	size_t line;		/* index of the line that verified, else 0 */
	uint64_t time;		/* of a cosignature that verified: seconds
				 * since 1970; else 0 */
};

/* Take a note apart. `out` borrows `bytes` and owns the decoded payloads;
 * after a failure there is nothing to release. KS_CORRUPT with the rule (N2,
 * B16): malformed, be it in a line of an unknown key, is refused whole. Base64
 * is strict (base/base64.h), which some readers are not. */
enum ks_status ks_note_parse(struct ks_span bytes, struct ks_note *out,
	struct ks_error *err) KS_CHECKED;
void ks_note_release(struct ks_note *note);

/* Whether `text` may be the text of a note: at least a LF, ending in one,
 * UTF-8 without other control characters below U+0020, at most KS_NOTE_MAX
 * bytes. KS_CORRUPT when not. */
enum ks_status ks_note_check_text(struct ks_span text, struct ks_error *err)
	KS_CHECKED;

/* Judge the lines by `count` keys and say of each key whether it verified.
 * Lines whose (name, id) is no key's are ignored; of several lines of one
 * (name, id) the first counts and the others are ignored. KS_CORRUPT when a
 * line that counts does not verify, KS_UNTRUSTED when no key verified,
 * KS_USAGE when two keys have the same (name, id) or there are more than
 * KS_NOTE_KEYS. After a failure no key is verified. */
enum ks_status ks_note_open(const struct ks_note *note,
	struct ks_note_key *keys, size_t count, struct ks_error *err)
	KS_CHECKED;

/* Append a signature line with its LF. `name` is a legal one. */
void ks_note_print_line(struct ks_span name, uint32_t id,
	struct ks_span payload, struct ks_buf *out);

/* Append what a type 04 key signs (C2SP tlog-cosignature): "cosignature/v1",
 * "time N", and the text. */
void ks_note_print_cosigned(struct ks_span text, uint64_t time,
	struct ks_buf *out);

/* How many of the lines given were taken over, and how many were not. */
struct ks_note_merged {
	size_t added;		/* of keys that had no line */
	size_t replaced;	/* in the place of another there was */
	size_t known;		/* the note has them to the byte */
	size_t unknown;		/* of no key: left out */
};

/* Append to `out` the note with `lines` (signature lines, each with its LF,
 * as a witness returns them) taken over: its text unchanged, then one line for
 * each (name, id), old ones first. A given line is taken over when it is by
 * one of `keys` and verifies; it replaces an old one, and of several given ones
 * the last stays. What was of no use to anybody before, lines of unknown keys,
 * is kept in the note and never taken over.
 *
 * The keys are filled as by ks_note_open() of the result. KS_CORRUPT when
 * `lines` is malformed or a line of a key does not verify (a given one, or an
 * old one that is not replaced), KS_UNTRUSTED when no given line is of a key,
 * KS_INVALID when the result would have more than `most` lines
 * (KS_NOTE_LINES_PUBLISHED, or KS_NOTE_LINES), KS_USAGE as ks_note_open(). On
 * failure `out` is as it was. */
enum ks_status ks_note_merge(const struct ks_note *note, struct ks_span lines,
	struct ks_note_key *keys, size_t count, size_t most,
	struct ks_buf *out, struct ks_note_merged *merged,
	struct ks_error *err) KS_CHECKED;

#endif
