#include "cli/csv.h"

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
print_quoted(struct ks_span value)
{
	size_t start = 0, i;

	for (i = 0; i < value.len; i++)
		if (value.data[i] == '"') {
			ks_out_text(ks_span(value.data + start,
				i + 1 - start));
			start = i;
		}
	ks_out_text(ks_span(value.data + start, value.len - start));
}

void
ks_csv_field(struct ks_span value, bool is_number, bool first)
{
	bool harmless = is_number || !is_run(value);
	bool quoted = needs_quotes(value);

	if (!first)
		ks_out_bytes(ks_span(",", 1));
	if (quoted)
		ks_out_bytes(ks_span("\"", 1));
	if (!harmless)
		ks_out_bytes(ks_span("'", 1));
	print_quoted(value);
	if (quoted)
		ks_out_bytes(ks_span("\"", 1));
}

void
ks_csv_end(void)
{
	ks_out_bytes(ks_span("\r\n", 2));
}
