/*
 * Armor: bytes as base64 between two lines of dashes (RFC 7468).
 *
 *	-----BEGIN LABEL-----
 *	…
 *	-----END LABEL-----
 *
 * PEM keys, OpenSSH's private keys and SSH signatures share it, and differ in
 * the label, the width of their lines and what a reader tolerates.
 */
#ifndef KS_FORMAT_ARMOR_H
#define KS_FORMAT_ARMOR_H

#include "base/buf.h"

/* Columns of a full line: RFC 7468 section 2; what ssh-keygen writes. */
#define KS_ARMOR_PEM 64
#define KS_ARMOR_SSH 70

/* The parts of a text with a block in it. */
struct ks_armor {
	struct ks_span before;	/* the lines before BEGIN */
	struct ks_span label;
	struct ks_span body;	/* the lines between BEGIN and END */
	struct ks_span after;	/* what follows the line END */
	bool ended;		/* a line END with the label was found; if
				 * not, body is the rest of the text */
};

/* Find the first block of a key file; false when no line begins one. A byte
 * order mark before the text, blanks at the end of lines, and CR LF are passed
 * over, as editors and git leave them behind. */
bool ks_armor_find(struct ks_span text, struct ks_armor *out);

/* Decode the lines of a body, of any width. Tolerant of what ks_armor_find()
 * passes over and of empty lines; where `strict`, only of lines of base64 that
 * end in one LF each. False when it is not strict base64 (base/base64.h), and
 * then, and where memory fails (ks_buf_check()), nothing is appended. Leaves no
 * copy of the bytes but in `out`, and grows that at most once. */
bool ks_armor_decode(struct ks_span body, bool strict, struct ks_buf *out);

/* Append a block with lines of `columns` characters. Leaves no copy of the
 * bytes but in `out`, and grows that at most once. */
void ks_armor_write(const char *label, struct ks_span bytes, size_t columns,
	struct ks_buf *out);

#endif
