/*
 * Numbers as ECMAScript writes them (RFC 8785 section 3.2.2.3).
 *
 * Both directions are exact and independent of the locale: text is read to
 * the nearest double, ties to even; a double is written with the fewest
 * digits that read back, the nearest of those, ties to the even digit.
 */
#ifndef KS_FORMAT_NUMBER_H
#define KS_FORMAT_NUMBER_H

#include "base/span.h"

#define KS_NUMBER_TEXT_MAX 32

/* What reading a JSON number literal found. */
enum ks_number_kind {
	KS_NUMBER_OK,
	KS_NUMBER_OVERFLOW,	/* rounds to infinity */
	KS_NUMBER_UNDERFLOW,	/* a nonzero literal that rounds to zero */
	KS_NUMBER_INEXACT_INTEGER /* an integer literal (no '.', 'e', 'E') that
				   * its double neither holds exactly nor has
				   * as its ES6 text */
};

/* Read `literal`, which must follow the grammar of RFC 8259 section 6. The
 * value is set for OK, UNDERFLOW and INEXACT_INTEGER. Never looks at the
 * locale; linear in the length of the literal, whatever its size. */
enum ks_number_kind ks_number_read(struct ks_span literal, double *value);

/* Write a finite double; both zeros are "0". `out` has room for
 * KS_NUMBER_TEXT_MAX bytes and gets no NUL. Returns the length. */
size_t ks_number_write(double value, char *out);

/* Rewrite a number literal as the ES6 text of its double, as ks_number_read
 * and ks_number_write in turn would, but without going through a double where
 * the digits decide it (at most 15 significant ones). On OVERFLOW nothing is
 * written and *len is 0. */
enum ks_number_kind ks_number_canonical(struct ks_span literal, char *out,
	size_t *len);

#endif
