#include "base/hex.h"

static const char digits[] = "0123456789abcdef";

void
ks_hex_encode(struct ks_span bytes, char *out)
{
	size_t i;

	for (i = 0; i < bytes.len; i++) {
		out[2 * i] = digits[bytes.data[i] >> 4];
		out[2 * i + 1] = digits[bytes.data[i] & 15];
	}
}

int
ks_hex_value(uint8_t digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

bool
ks_hex_decode(struct ks_span hex, uint8_t *out, size_t len)
{
	size_t i;

	if (hex.len != 2 * len)
		return false;
	for (i = 0; i < len; i++) {
		int high = ks_hex_value(hex.data[2 * i]);
		int low = ks_hex_value(hex.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
