/*
 * Comma-separated values, as RFC 4180 has them: fields with a comma, quote or
 * line end in quotes, lines that end in CR LF. A text that a spreadsheet would
 * run begins with an apostrophe instead.
 *
 *	struct ks_buf line = KS_BUF_INIT;
 *
 *	ks_csv_field(&line, name, false, true);
 *	ks_csv_field(&line, value, true, false);
 *	ks_csv_print(&line);
 */
#ifndef KS_CLI_CSV_H
#define KS_CLI_CSV_H

#include "base/buf.h"

/* Append one field; `first` of its line. Numbers stay what they are. */
void ks_csv_field(struct ks_buf *line, struct ks_span value, bool is_number,
	bool first);

/* Print a line, with its end, on standard output, and empty it. */
void ks_csv_print(struct ks_buf *line);

#endif
