#include "format/layout.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"
#include "format/entry.h"

const char ks_layout_attributes[] =
	"* -text\n"
	"objects/**/*.zst -diff -delta\n"
	"dictionaries/** -diff -delta\n";

#define SUFFIX ".zst"
#define HEX_REST (KS_ID_HEX - 3)

char *
ks_layout_object(const struct ks_id *id, char out[KS_OBJECT_PATH + 1])
{
	char hex[KS_ID_HEX + 1];

	(void)ks_id_print_hex(id, hex);
	(void)snprintf(out, KS_OBJECT_PATH + 1,
		KS_PATH_OBJECTS "/%.1s/%.2s/%.61s" SUFFIX, hex, hex + 1,
		hex + 3);
	return out;
}

bool
ks_layout_object_id(const char *a, const char *bb, const char *name,
	struct ks_id *id)
{
	char hex[KS_ID_HEX];

	if (strlen(a) != 1 || strlen(bb) != 2 ||
		strlen(name) != HEX_REST + strlen(SUFFIX) ||
		strcmp(name + HEX_REST, SUFFIX) != 0)
		return false;
	memcpy(hex, a, 1);
	memcpy(hex + 1, bb, 2);
	memcpy(hex + 3, name, HEX_REST);
	return ks_id_parse_hex(id, ks_span(hex, KS_ID_HEX));
}

char *
ks_layout_segment(uint64_t index, char out[KS_SEGMENT_PATH])
{
	uint64_t segment = index / KS_SEGMENT_ENTRIES;

	(void)snprintf(out, KS_SEGMENT_PATH, KS_PATH_LOG "/%03llu/%03llu.jsonl",
		(unsigned long long)(segment / 256),
		(unsigned long long)(segment % 256));
	return out;
}

bool
ks_layout_segment_number(const char *path, uint64_t *number)
{
	const char *at;
	char again[KS_SEGMENT_PATH];
	char *end;
	uint64_t directory, file;

	if (strncmp(path, KS_PATH_LOG "/", strlen(KS_PATH_LOG "/")) != 0 ||
		strlen(path) > strlen(KS_PATH_LOG "/00000000/000.jsonl"))
		return false;
	at = path + strlen(KS_PATH_LOG "/");
	directory = strtoull(at, &end, 10);
	if (end == at || *end != '/')
		return false;
	file = strtoull(end + 1, NULL, 10);
	*number = directory * 256 + file;
	/* What is not of the form is not printed so again. */
	return file < 256 && strcmp(ks_layout_segment(*number *
		KS_SEGMENT_ENTRIES, again), path) == 0;
}

char *
ks_layout_dictionary(uint32_t id, const struct ks_id *digest,
	char out[KS_DICTIONARY_PATH])
{
	char hex[KS_ID_HEX + 1];

	(void)snprintf(out, KS_DICTIONARY_PATH,
		KS_PATH_DICTIONARIES "/%lu-%s.zdict", (unsigned long)id,
		ks_id_print_hex(digest, hex));
	return out;
}

/* A decimal number without leading zeros that fits 32 bits and is not 0. */
static bool
parse_dictionary_id(const char *text, size_t len, uint32_t *id)
{
	uint64_t value = 0;
	size_t i;

	if (len == 0 || len > 10 || text[0] == '0')
		return false;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*id = (uint32_t)value;
	return value <= UINT32_MAX;
}

bool
ks_layout_dictionary_name(const char *name, uint32_t *id,
	struct ks_id *digest)
{
	const char *dash = strchr(name, '-');

	if (dash == NULL ||
		!parse_dictionary_id(name, (size_t)(dash - name), id))
		return false;
	return strlen(dash + 1) == KS_ID_HEX + strlen(".zdict") &&
		strcmp(dash + 1 + KS_ID_HEX, ".zdict") == 0 &&
		ks_id_parse_hex(digest, ks_span(dash + 1, KS_ID_HEX));
}
