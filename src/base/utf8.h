/*
 * UTF-8 as RFC 3629 section 3 defines it: no overlong forms, no surrogates,
 * nothing above U+10FFFF.
 */
#ifndef KS_BASE_UTF8_H
#define KS_BASE_UTF8_H

#include "base/span.h"

/* Decode the first character of `text` into `code_point`. Returns its length
 * in bytes (1 to 4), or 0 when the bytes are ill-formed or `text` is empty. */
size_t ks_utf8_decode(struct ks_span text, uint32_t *code_point);

/* Write `code_point` (a Unicode scalar value) as UTF-8 to `out`, which has
 * room for 4 bytes. Returns the length. */
size_t ks_utf8_encode(uint32_t code_point, uint8_t *out);

/* The offset of the first ill-formed byte, or text.len when all is well. */
size_t ks_utf8_check(struct ks_span text);

/* Whether the character has Unicode's property White_Space. */
bool ks_utf8_is_space(uint32_t code_point);

#endif
