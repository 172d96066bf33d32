/*
 * UUIDs in their text form of 36 characters (RFC 9562 section 4).
 */
#ifndef KS_FORMAT_UUID_H
#define KS_FORMAT_UUID_H

#include "base/span.h"

#define KS_UUID_BYTES 16
#define KS_UUID_TEXT 36

/* Read hex digits and hyphens 8-4-4-4-12: lower case only, or (loose) any. */
bool ks_uuid_parse(struct ks_span text, bool loose, uint8_t out[KS_UUID_BYTES]);

/* Write it in lower case, NUL-terminated. Returns `out`. */
char *ks_uuid_print(const uint8_t id[KS_UUID_BYTES],
	char out[KS_UUID_TEXT + 1]);

#endif
