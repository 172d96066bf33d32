#include "format/id.h"

#include "base/hex.h"

static const char prefix[] = "sha256:";
#define PREFIX_LEN (sizeof(prefix) - 1)

int
ks_id_compare(const struct ks_id *a, const struct ks_id *b)
{
	return memcmp(a->bytes, b->bytes, KS_ID_BYTES);
}

bool
ks_id_equal(const struct ks_id *a, const struct ks_id *b)
{
	return ks_id_compare(a, b) == 0;
}

bool
ks_id_parse_hex(struct ks_id *id, struct ks_span hex)
{
	return ks_hex_decode(hex, id->bytes, KS_ID_BYTES);
}

bool
ks_id_parse(struct ks_id *id, struct ks_span text)
{
	if (text.len != KS_ID_TEXT ||
		memcmp(text.data, prefix, PREFIX_LEN) != 0)
		return false;
	return ks_id_parse_hex(id,
		ks_span(text.data + PREFIX_LEN, KS_ID_HEX));
}

static uint8_t
lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

bool
ks_id_parse_loose(struct ks_id *id, struct ks_span text)
{
	uint8_t copy[KS_ID_TEXT];
	size_t i;

	if (text.len != KS_ID_TEXT && text.len != KS_ID_HEX)
		return false;
	for (i = 0; i < text.len; i++)
		copy[i] = lower(text.data[i]);
	if (text.len == KS_ID_HEX)
		return ks_id_parse_hex(id, ks_span(copy, KS_ID_HEX));
	return ks_id_parse(id, ks_span(copy, KS_ID_TEXT));
}

char *
ks_id_print_hex(const struct ks_id *id, char out[KS_ID_HEX + 1])
{
	ks_hex_encode(ks_span(id->bytes, KS_ID_BYTES), out);
	out[KS_ID_HEX] = '\0';
	return out;
}

char *
ks_id_print(const struct ks_id *id, char out[KS_ID_TEXT + 1])
{
	memcpy(out, prefix, PREFIX_LEN);
	(void)ks_id_print_hex(id, out + PREFIX_LEN);
	return out;
}
