#include "base/base64.h"

static const char alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value 0 to 63 of a character, or -1. */
static int
value_of(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

/* Write one group of 1 to 3 bytes as four characters. */
static void
encode_group(const uint8_t *in, size_t len, uint8_t out[4])
{
	uint32_t bits = (uint32_t)in[0] << 16;

	if (len > 1)
		bits |= (uint32_t)in[1] << 8;
	if (len > 2)
		bits |= in[2];
	out[0] = (uint8_t)alphabet[bits >> 18];
	out[1] = (uint8_t)alphabet[bits >> 12 & 63];
	out[2] = len > 1 ? (uint8_t)alphabet[bits >> 6 & 63] : '=';
	out[3] = len > 2 ? (uint8_t)alphabet[bits & 63] : '=';
}

void
ks_base64_encode(struct ks_span bytes, struct ks_buf *out)
{
	size_t groups = bytes.len / 3 + (bytes.len % 3 != 0);
	size_t i;
	uint8_t *at;

	if (groups > SIZE_MAX / 4) {
		out->failed = true;
		return;
	}
	at = ks_buf_reserve(out, groups * 4);
	if (at == NULL)
		return;
	for (i = 0; i < groups; i++) {
		size_t left = bytes.len - 3 * i;

		encode_group(bytes.data + 3 * i, left > 3 ? 3 : left,
			at + 4 * i);
	}
	out->len += groups * 4;
}

/* How many '=' end the text: 0, 1 or 2. */
static size_t
padding(struct ks_span text)
{
	if (text.len == 0 || text.data[text.len - 1] != '=')
		return 0;
	return text.data[text.len - 2] == '=' ? 2 : 1;
}

bool
ks_base64_check(struct ks_span text, size_t *len)
{
	size_t pad, digits, i;
	int last;

	*len = 0;
	if (text.len % 4 != 0)
		return false;
	pad = padding(text);
	digits = text.len - pad;
	for (i = 0; i < digits; i++) {
		if (value_of(text.data[i]) < 0)
			return false;
	}
	/* The last digit before one '=' carries two spare bits, before two
	 * '=' four. */
	last = pad == 0 ? 0 : value_of(text.data[digits - 1]);
	if ((last & (pad == 1 ? 3 : 15)) != 0)
		return false;
	*len = text.len / 4 * 3 - pad;
	return true;
}

/* Decode checked text that stands for `len` bytes. */
static void
decode(struct ks_span text, uint8_t *out, size_t len)
{
	uint32_t bits = 0;
	unsigned held = 0;
	size_t used = 0;
	size_t i;

	for (i = 0; used < len; i++) {
		bits = bits << 6 | ((uint32_t)value_of(text.data[i]) & 63);
		held += 6;
		if (held < 8)
			continue;
		held -= 8;
		out[used++] = (uint8_t)(bits >> held & 0xff);
	}
}

bool
ks_base64_decode(struct ks_span text, struct ks_buf *out)
{
	size_t len;
	uint8_t *at;

	if (!ks_base64_check(text, &len))
		return false;
	at = ks_buf_reserve(out, len);
	if (at == NULL)
		return true;
	decode(text, at, len);
	out->len += len;
	return true;
}

bool
ks_base64_decode_exact(struct ks_span text, uint8_t *out, size_t len)
{
	size_t found;

	if (!ks_base64_check(text, &found) || found != len)
		return false;
	decode(text, out, len);
	return true;
}
