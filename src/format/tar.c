#include "format/tar.h"

#include <stdio.h>

/* The fields of a ustar header, in order; each begins where the one before it
 * ends. */
enum field {
	NAME, MODE, UID, GID, SIZE, MTIME, CHECKSUM, TYPE, LINK_NAME, MAGIC,
	VERSION, OWNER, GROUP, DEVICE_MAJOR, DEVICE_MINOR, PREFIX, REST,
	FIELDS
};

static const struct {
	size_t at;
	const char *name;
} fields[FIELDS + 1] = {
	[NAME] = { 0, "name" },
	[MODE] = { 100, "mode" },
	[UID] = { 108, "owner id" },
	[GID] = { 116, "group id" },
	[SIZE] = { 124, "size" },
	[MTIME] = { 136, "time" },
	[CHECKSUM] = { 148, "checksum" },
	[TYPE] = { 156, "type" },
	[LINK_NAME] = { 157, "link name" },
	[MAGIC] = { 257, "magic" },
	[VERSION] = { 263, "version" },
	[OWNER] = { 265, "owner name" },
	[GROUP] = { 297, "group name" },
	[DEVICE_MAJOR] = { 329, "device" },
	[DEVICE_MINOR] = { 337, "device" },
	[PREFIX] = { 345, "prefix" },
	[REST] = { 500, "unused end" },
	[FIELDS] = { KS_TAR_BLOCK, "" },
};

/* The text of a field, without a NUL. */
static void
put(uint8_t *block, enum field field, const char *text)
{
	memcpy(block + fields[field].at, text, strlen(text));
}

/* What is the same in all headers; the rest are zero bytes. */
static void
put_constants(uint8_t *block)
{
	put(block, MODE, "0000644");
	put(block, UID, "0000000");
	put(block, GID, "0000000");
	put(block, MTIME, "00000000000");
	put(block, CHECKSUM, "        ");	/* as it is summed */
	put(block, TYPE, "0");
	put(block, MAGIC, "ustar");
	put(block, VERSION, "00");
	put(block, DEVICE_MAJOR, "0000000");
	put(block, DEVICE_MINOR, "0000000");
}

enum ks_status
ks_tar_write(const char *name, uint64_t size, uint8_t block[KS_TAR_BLOCK],
	struct ks_error *err)
{
	size_t len = strlen(name);
	unsigned sum = 0;
	char text[16];
	size_t i;

	if (len == 0 || len > KS_TAR_NAME)
		return ks_fail(err, KS_INVALID,
			"archive member has a name of %zu bytes, not 1 to %d",
			len, KS_TAR_NAME);
	if (size >= KS_TAR_SIZE)
		return ks_fail(err, KS_INVALID,
			"archive member of %llu bytes, over the limit of %llu",
			(unsigned long long)size,
			(unsigned long long)KS_TAR_SIZE - 1);
	memset(block, 0, KS_TAR_BLOCK);
	put_constants(block);
	put(block, NAME, name);
	(void)snprintf(text, sizeof(text), "%011llo",
		(unsigned long long)size);
	put(block, SIZE, text);
	for (i = 0; i < KS_TAR_BLOCK; i++)
		sum += block[i];
	(void)snprintf(text, sizeof(text), "%06o", sum);
	put(block, CHECKSUM, text);
	block[fields[CHECKSUM].at + 6] = '\0';
	return KS_OK;
}

/* Eleven octal digits and a NUL. */
static bool
read_size(const uint8_t *block, uint64_t *size)
{
	const uint8_t *field = block + fields[SIZE].at;
	size_t i;

	*size = 0;
	for (i = 0; i < 11; i++) {
		if (field[i] < '0' || field[i] > '7')
			return false;
		*size = *size << 3 | (uint64_t)(field[i] - '0');
	}
	return field[11] == '\0';
}

/* Name the field that differs; the checksum only when it alone does. */
static enum ks_status
tell_difference(const uint8_t *block, const uint8_t *expected,
	const char *name, struct ks_error *err)
{
	char shown[4 * KS_TAR_NAME + 1];
	enum field field, found = CHECKSUM;

	for (field = NAME; field < FIELDS; field++) {
		size_t at = fields[field].at;

		if (field != CHECKSUM && memcmp(block + at, expected + at,
			fields[field + 1].at - at) != 0) {
			found = field;
			break;
		}
	}
	return ks_fail(err, KS_CORRUPT,
		"archive member %s has another %s than an exporter writes "
		"(S10)", ks_printable(shown, sizeof(shown),
			ks_span_text(name)), fields[found].name);
}

enum ks_status
ks_tar_read(const uint8_t block[KS_TAR_BLOCK], struct ks_tar_member *out,
	struct ks_error *err)
{
	uint8_t expected[KS_TAR_BLOCK];
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	memcpy(out->name, block, KS_TAR_NAME);
	if (out->name[0] == '\0')
		return ks_fail(err, KS_CORRUPT,
			"archive member without a name (S10)");
	if (!read_size(block, &out->size))
		return ks_fail(err, KS_CORRUPT,
			"size of an archive member is not eleven octal digits "
			"(S10)");
	status = ks_tar_write(out->name, out->size, expected, err);
	if (status != KS_OK)
		return status;
	if (memcmp(block, expected, KS_TAR_BLOCK) == 0)
		return KS_OK;
	return tell_difference(block, expected, out->name, err);
}

size_t
ks_tar_padding(uint64_t size)
{
	return (size_t)(-size % KS_TAR_BLOCK);
}

bool
ks_tar_is_zero(struct ks_span bytes)
{
	static const uint8_t zeros[KS_TAR_BLOCK];

	while (bytes.len > sizeof(zeros)) {
		if (memcmp(bytes.data, zeros, sizeof(zeros)) != 0)
			return false;
		bytes = ks_span(bytes.data + sizeof(zeros),
			bytes.len - sizeof(zeros));
	}
	return bytes.len == 0 || memcmp(bytes.data, zeros, bytes.len) == 0;
}
