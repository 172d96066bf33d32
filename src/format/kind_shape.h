/*
 * The shapes of strings that the kinds use (store-layout.md, section "kinds",
 * shared types). Private to format/kind*.c, format/kinds_*.c and
 * format/statement.c; three more of them are public, in format/kind.h.
 *
 * All take the characters between the quotes, still escaped, and answer
 * whether they have the shape.
 */
#ifndef KS_FORMAT_KIND_SHAPE_H
#define KS_FORMAT_KIND_SHAPE_H

#include "base/span.h"

bool ks_shape_slug(struct ks_span raw);
bool ks_shape_digest(struct ks_span raw);
bool ks_shape_commit(struct ks_span raw);
bool ks_shape_expression(struct ks_span raw);
bool ks_shape_base64(struct ks_span raw);

/* An https URL as the parser of the WHATWG URL standard takes it, but with
 * its rules for numeric and international host names left out: case of the
 * scheme, leading blanks, a missing "//", tabs and line ends inside do not
 * matter; an empty host, blanks or other forbidden characters in the host and
 * a port above 65535 do. */
bool ks_shape_https_url(struct ks_span raw);

/* At most `max` UTF-16 code units after unescaping. */
bool ks_shape_is_within(struct ks_span raw, int64_t max);

/* A duration as text: decimal digits, perhaps with a fraction, at most one
 * blank, and ns, us, µs (U+00B5), ms or s. True, with the nanoseconds, when
 * they are a whole number up to 2^53 - 1; the arithmetic is exact. */
bool ks_shape_duration(struct ks_span raw, int64_t *nanoseconds);

/* The same for any finite number of nanoseconds, to the nearest double; at
 * most 400 digits. */
bool ks_shape_latency(struct ks_span raw, double *nanoseconds);

#endif
