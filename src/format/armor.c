#include "format/armor.h"

#include "base/base64.h"
#include "format/ed25519.h"

static const char dashes[] = "-----";

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cut the first line, with its LF, off `rest`. Without the LF, and the blanks
 * at its end, in *line. */
static void
take_line(struct ks_span *rest, struct ks_span *line)
{
	const uint8_t *end = memchr(rest->data, '\n', rest->len);
	size_t len = end == NULL ? rest->len : (size_t)(end - rest->data);
	size_t used = end == NULL ? len : len + 1;

	*line = ks_span(rest->data, len);
	while (line->len > 0 && is_blank(line->data[line->len - 1]))
		line->len--;
	*rest = ks_span(rest->data + used, rest->len - used);
}

/* Whether a line is "-----WORD LABEL-----". */
static bool
read_border(struct ks_span line, const char *word, struct ks_span *label)
{
	size_t side = sizeof(dashes) - 1;
	size_t head = side + strlen(word) + 1;

	if (line.len < head + side + 1 ||
		memcmp(line.data, dashes, side) != 0 ||
		memcmp(line.data + side, word, head - side - 1) != 0 ||
		line.data[head - 1] != ' ' ||
		memcmp(line.data + line.len - side, dashes, side) != 0)
		return false;
	*label = ks_span(line.data + head, line.len - head - side);
	return true;
}

/* How many bytes lie from the start of `whole` to `at`, in the same memory. */
static size_t
distance(struct ks_span whole, struct ks_span at)
{
	return (size_t)(at.data - whole.data);
}

/* From the line after BEGIN on. */
static void
find_end(struct ks_span rest, struct ks_armor *out)
{
	struct ks_span whole = rest;
	struct ks_span line = rest;
	struct ks_span label;

	out->body = rest;
	out->after = ks_span(rest.data + rest.len, 0);
	out->ended = false;
	while (rest.len > 0 && !out->ended) {
		take_line(&rest, &line);
		out->ended = read_border(line, "END", &label) &&
			ks_span_equal(label, out->label);
	}
	if (!out->ended)
		return;
	out->body.len = distance(whole, line);
	out->after = rest;
}

bool
ks_armor_find(struct ks_span text, struct ks_armor *out)
{
	static const uint8_t mark[3] = { 0xef, 0xbb, 0xbf };
	struct ks_span rest = text;
	struct ks_span line;

	memset(out, 0, sizeof(*out));
	if (text.len >= sizeof(mark) &&
		memcmp(text.data, mark, sizeof(mark)) == 0)
		rest = ks_span(text.data + sizeof(mark),
			text.len - sizeof(mark));
	out->before = rest;
	while (rest.len > 0) {
		take_line(&rest, &line);
		if (!read_border(line, "BEGIN", &out->label))
			continue;
		out->before.len = distance(out->before, line);
		find_end(rest, out);
		return true;
	}
	return false;
}

/* Append the characters of the body's lines, without what parts them; false
 * when the body is not what `strict` asks for. */
static bool
join_lines(struct ks_span body, bool strict, struct ks_buf *out)
{
	struct ks_span rest = body;
	struct ks_span line;

	while (rest.len > 0) {
		struct ks_span before = rest;

		take_line(&rest, &line);
		ks_buf_append(out, line);
		if (strict && (line.len == 0 ||
			line.len + 1 != before.len - rest.len))
			return false;
	}
	return true;
}

bool
ks_armor_decode(struct ks_span body, bool strict, struct ks_buf *out)
{
	struct ks_buf text = KS_BUF_INIT;
	bool ok;

	/* As much as it can take, so that no growth leaves a copy behind. */
	if (ks_buf_reserve(&text, body.len) == NULL ||
		ks_buf_reserve(out, body.len / 4 * 3 + 3) == NULL) {
		out->failed = true;
		ks_buf_wipe(&text);
		return true;
	}
	ok = join_lines(body, strict, &text) &&
		ks_base64_decode(ks_buf_span(&text), out);
	ks_buf_wipe(&text);
	return ok;
}

static void
write_border(const char *word, const char *label, struct ks_buf *out)
{
	ks_buf_text(out, dashes);
	ks_buf_text(out, word);
	ks_buf_byte(out, ' ');
	ks_buf_text(out, label);
	ks_buf_text(out, dashes);
	ks_buf_byte(out, '\n');
}

void
ks_armor_write(const char *label, struct ks_span bytes, size_t columns,
	struct ks_buf *out)
{
	size_t borders = 2 * (2 * sizeof(dashes) + strlen(label) + 8);
	struct ks_buf text = KS_BUF_INIT;
	size_t at = 0;

	ks_base64_encode(bytes, &text);
	if (text.failed || ks_buf_reserve(out, borders + text.len +
		text.len / columns + 1) == NULL) {
		out->failed = true;
		ks_buf_wipe(&text);
		return;
	}
	write_border("BEGIN", label, out);
	while (at < text.len) {
		size_t len = text.len - at < columns ? text.len - at : columns;

		ks_buf_append(out, ks_span(text.data + at, len));
		ks_buf_byte(out, '\n');
		at += len;
	}
	write_border("END", label, out);
	ks_buf_wipe(&text);
}
