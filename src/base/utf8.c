#include "base/utf8.h"

static bool
is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

size_t
ks_utf8_decode(struct ks_span text, uint32_t *code_point)
{
	const uint8_t *p = text.data;
	uint32_t c;

	if (text.len == 0)
		return 0;
	if (p[0] < 0x80) {
		*code_point = p[0];
		return 1;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		if (text.len < 2 || !is_continuation(p[1]))
			return 0;
		*code_point = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
		return 2;
	}
	if ((p[0] & 0xf0) == 0xe0) {
		if (text.len < 3 || !is_continuation(p[1]) ||
			!is_continuation(p[2]))
			return 0;
		c = (uint32_t)(p[0] & 0x0f) << 12 |
			(uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
		if (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))
			return 0;
		*code_point = c;
		return 3;
	}
	if (p[0] < 0xf0 || p[0] > 0xf4 || text.len < 4 ||
		!is_continuation(p[1]) || !is_continuation(p[2]) ||
		!is_continuation(p[3]))
		return 0;
	c = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
		(uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
	if (c < 0x10000 || c > 0x10ffff)
		return 0;
	*code_point = c;
	return 4;
}

size_t
ks_utf8_encode(uint32_t c, uint8_t *out)
{
	if (c < 0x80) {
		out[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (uint8_t)(0xc0 | c >> 6);
		out[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (uint8_t)(0xe0 | c >> 12);
		out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (uint8_t)(0xf0 | c >> 18);
	out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
	out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	out[3] = (uint8_t)(0x80 | (c & 0x3f));
	return 4;
}

size_t
ks_utf8_check(struct ks_span text)
{
	size_t i = 0;

	while (i < text.len) {
		uint32_t c = 0;
		size_t n;

		if (text.data[i] < 0x80) {
			i++;
			continue;
		}
		n = ks_utf8_decode(ks_span(text.data + i, text.len - i), &c);
		if (n == 0)
			return i;
		i += n;
	}
	return text.len;
}

bool
ks_utf8_is_space(uint32_t code_point)
{
	uint32_t c = code_point;

	return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 ||
		c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
		c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
		c == 0x3000;
}
