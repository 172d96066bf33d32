#include "format/uuid.h"

#include "base/hex.h"

/* Where the four hyphens stand: after 4, 6, 8 and 10 bytes. */
static bool
has_hyphen_before(size_t byte)
{
	return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

static int
hex_value(uint8_t digit, bool loose)
{
	if (loose && digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return ks_hex_value(digit);
}

bool
ks_uuid_parse(struct ks_span text, bool loose, uint8_t out[KS_UUID_BYTES])
{
	uint8_t bytes[KS_UUID_BYTES];
	const uint8_t *p = text.data;
	size_t i;

	if (text.len != KS_UUID_TEXT)
		return false;
	for (i = 0; i < KS_UUID_BYTES; i++, p += 2) {
		int high, low;

		if (has_hyphen_before(i) && *p++ != '-')
			return false;
		high = hex_value(p[0], loose);
		low = hex_value(p[1], loose);
		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(out, bytes, KS_UUID_BYTES);
	return true;
}

char *
ks_uuid_print(const uint8_t id[KS_UUID_BYTES], char out[KS_UUID_TEXT + 1])
{
	char *p = out;
	size_t i;

	for (i = 0; i < KS_UUID_BYTES; i++, p += 2) {
		if (has_hyphen_before(i))
			*p++ = '-';
		ks_hex_encode(ks_span(&id[i], 1), p);
	}
	*p = '\0';
	return out;
}
