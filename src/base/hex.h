/*
 * Hexadecimal text, strict: an even number of lower-case digits.
 */
#ifndef KS_BASE_HEX_H
#define KS_BASE_HEX_H

#include "base/span.h"

/* Write 2 * bytes.len lower-case digits to `out`, without a NUL. */
void ks_hex_encode(struct ks_span bytes, char *out);

/* Decode exactly 2 * len lower-case digits into `out`; false on any other
 * length or character. */
bool ks_hex_decode(struct ks_span hex, uint8_t *out, size_t len);

/* The value of every byte as a hex digit; -1 for those that are none. */
extern const int8_t ks_hex_values[256];

/* The value 0 to 15 of a lower-case hex digit, or -1. */
static inline int
ks_hex_value(uint8_t digit)
{
	return ks_hex_values[digit];
}

#endif
