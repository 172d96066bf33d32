/*
 * Comma-separated values on standard output, as RFC 4180 has them: fields with
 * a comma, quote or line end in quotes, lines that end in CR LF. A text that a
 * spreadsheet would run begins with an apostrophe instead.
 */
#ifndef KS_CLI_CSV_H
#define KS_CLI_CSV_H

#include "base/span.h"

/* One field; `first` of its line. Numbers stay what they are. */
void ks_csv_field(struct ks_span value, bool is_number, bool first);
void ks_csv_end(void);

#endif
