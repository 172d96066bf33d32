#include "cli/csv.h"

#include <errno.h>

#include "base/utf8.h"
#include "cli/out.h"

/* What begins a formula: the four, and the forms of them that a spreadsheet may
 * take for the same (small, fullwidth, the minus of mathematics). */
static bool
is_operator(uint32_t c)
{
	static const uint32_t forms[] = { '=', '+', '-', '@', 0x2212, 0xfe62,
		0xfe63, 0xfe66, 0xfe6b, 0xff0b, 0xff0d, 0xff1d, 0xff20 };
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (c == forms[i])
			return true;
	return false;
}

/* What some programs drop in front: blanks, controls, and what nobody sees. */
static bool
is_dropped(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f) || ks_utf8_is_space(c) ||
		c == 0xad || (c >= 0x200b && c <= 0x200f) ||
		(c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
		c == 0xfeff;
}

/* Whether a spreadsheet may take a text for a formula. */
static bool
is_run(struct ks_span value)
{
	uint32_t c = 0;
	size_t n;

	if (value.len > 0 && memchr("\t\n\r", value.data[0], 3) != NULL)
		return true;
	while ((n = ks_utf8_decode(value, &c)) > 0 && is_dropped(c))
		value = ks_span(value.data + n, value.len - n);
	return n > 0 && is_operator(c);
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
