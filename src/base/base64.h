/*
 * Base64 text, strict: RFC 4648 section 4.
 *
 * The standard alphabet ('+' and '/'), padded to a multiple of four, no line
 * breaks or blanks, padding only at the end, and the spare bits before it
 * zero. So exactly one text stands for given bytes, and what this module
 * accepts is what it would write.
 */
#ifndef KS_BASE_BASE64_H
#define KS_BASE_BASE64_H

#include "base/buf.h"

/* How many characters `len` bytes take. */
#define KS_BASE64_LENGTH(len) (((len) + 2) / 3 * 4)

/* Append the text of `bytes` to `out`, without a NUL. */
void ks_base64_encode(struct ks_span bytes, struct ks_buf *out);

/* Whether `text` is strict base64. *len is how many bytes it stands for, 0
 * when it is not. The empty text stands for no bytes. */
bool ks_base64_check(struct ks_span text, size_t *len);

/* Append the bytes that `text` stands for to `out`. False, and nothing is
 * appended, when it is not strict base64. Running out of memory shows in
 * ks_buf_check(). */
bool ks_base64_decode(struct ks_span text, struct ks_buf *out);

/* Decode a text that must stand for exactly `len` bytes into `out`; false,
 * with `out` untouched, on anything else. */
bool ks_base64_decode_exact(struct ks_span text, uint8_t *out, size_t len);

#endif
