#include "cli/csv.h"

#include <errno.h>

#include "cli/out.h"

/* What makes a spreadsheet take a text for a formula. */
static bool
is_run(struct ks_span value)
{
	return value.len > 0 && memchr("=+-@\t\r", value.data[0], 6) != NULL;
}

static bool
needs_quotes(struct ks_span value)
{
	size_t i;

	for (i = 0; i < value.len; i++)
		if (value.data[i] == ',' || value.data[i] == '"' ||
			value.data[i] == '\r' || value.data[i] == '\n')
			return true;
	return value.len > 0 && (value.data[0] == ' ' ||
		value.data[value.len - 1] == ' ');
}

/* Text with its quotes doubled. */
static void
append_quoted(struct ks_buf *line, struct ks_span value)
{
	size_t start = 0, i;

	for (i = 0; i < value.len; i++)
		if (value.data[i] == '"') {
			ks_buf_append(line, ks_span(value.data + start,
				i + 1 - start));
			start = i;
		}
	ks_buf_append(line, ks_span(value.data + start, value.len - start));
}

void
ks_csv_field(struct ks_buf *line, struct ks_span value, bool is_number,
	bool first)
{
	bool quoted = needs_quotes(value);

	if (!first)
		ks_buf_byte(line, ',');
	if (quoted)
		ks_buf_byte(line, '"');
	if (!is_number && is_run(value))
		ks_buf_byte(line, '\'');
	append_quoted(line, value);
	if (quoted)
		ks_buf_byte(line, '"');
}

void
ks_csv_print(struct ks_buf *line)
{
	if (line->failed)
		ks_out_fail(ENOMEM);
	ks_out_text(ks_buf_span(line));
	ks_out_bytes(ks_span("\r\n", 2));
	ks_buf_clear(line);
}
