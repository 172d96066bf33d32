/*
 * Content identifiers: the SHA-256 of an object's bytes.
 *
 * Written as "sha256:" and 64 lower-case hex digits (store-layout.md, section
 * "objects"). Readers of citations may be given upper case; it is accepted on
 * input by ks_id_parse_loose() and never printed.
 */
#ifndef KS_FORMAT_ID_H
#define KS_FORMAT_ID_H

#include "base/span.h"

#define KS_ID_BYTES 32
#define KS_ID_HEX 64		/* hex digits, no NUL */
#define KS_ID_TEXT 71		/* "sha256:" and the digits, no NUL */

struct ks_id {
	uint8_t bytes[KS_ID_BYTES];
};

/* Order by bytes, which is the order of the hex text. */
int ks_id_compare(const struct ks_id *a, const struct ks_id *b);
bool ks_id_equal(const struct ks_id *a, const struct ks_id *b);

/* Parse exactly "sha256:" + 64 lower-case hex digits. */
bool ks_id_parse(struct ks_id *id, struct ks_span text);

/* Parse exactly 64 lower-case hex digits. */
bool ks_id_parse_hex(struct ks_id *id, struct ks_span hex);

/* As typed by a person: with or without "sha256:", either case. */
bool ks_id_parse_loose(struct ks_id *id, struct ks_span text);

/* Print "sha256:…" or the bare digits, NUL-terminated. Returns `out`. */
char *ks_id_print(const struct ks_id *id, char out[KS_ID_TEXT + 1]);
char *ks_id_print_hex(const struct ks_id *id, char out[KS_ID_HEX + 1]);

#endif
