#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/tar.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* store-layout.md S10, field by field: ("checkpoint", 5 bytes). */
static const struct {
	size_t at;
	const char *bytes;
	size_t len;
} pinned[] = {
	{ 0, "checkpoint", 10 },
	{ 100, "0000644\0", 8 },
	{ 108, "0000000\0", 8 },
	{ 116, "0000000\0", 8 },
	{ 124, "00000000005\0", 12 },
	{ 136, "00000000000\0", 12 },
	{ 148, "011252\0 ", 8 },
	{ 156, "0", 1 },
	{ 257, "ustar\0" "00", 8 },
	{ 329, "0000000\0" "0000000\0", 16 },
};

static void
make(uint8_t block[KS_TAR_BLOCK])
{
	size_t i;

	memset(block, 0, KS_TAR_BLOCK);
	for (i = 0; i < COUNT(pinned); i++)
		memcpy(block + pinned[i].at, pinned[i].bytes, pinned[i].len);
}

/* Put a fitting checksum. */
static void
sum(uint8_t block[KS_TAR_BLOCK])
{
	unsigned total = 0;
	char text[8];
	size_t i;

	memset(block + 148, ' ', 8);
	for (i = 0; i < KS_TAR_BLOCK; i++)
		total += block[i];
	(void)snprintf(text, sizeof(text), "%06o", total);
	memcpy(block + 148, text, 7);
}

static void
a_header_is_that_of_the_specification(void **state)
{
	uint8_t block[KS_TAR_BLOCK], wanted[KS_TAR_BLOCK];

	(void)state;
	make(wanted);
	memset(block, 0xff, sizeof(block));
	assert_int_equal(ks_tar_write("checkpoint", 5, block, NULL), KS_OK);
	assert_memory_equal(block, wanted, KS_TAR_BLOCK);
	sum(wanted);
	assert_memory_equal(block, wanted, KS_TAR_BLOCK);
}

static const char hundred[] =
	"0123456789" "0123456789" "0123456789" "0123456789" "0123456789"
	"0123456789" "0123456789" "0123456789" "0123456789" "0123456789";

static void
names_and_sizes_come_back(void **state)
{
	static const char *const names[] = {
		"a", "checkpoint", "log/000/000.jsonl", hundred + 1, hundred,
		"\xc3\xa9",
	};
	static const uint64_t sizes[] = {
		0, 1, 7, 8, 511, 512, 67108864, 4294967295U, 4294967296U,
		8589934591U,
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(names); i++)
		for (k = 0; k < COUNT(sizes); k++) {
			uint8_t block[KS_TAR_BLOCK];
			struct ks_tar_member member;

			assert_int_equal(ks_tar_write(names[i], sizes[k],
				block, NULL), KS_OK);
			assert_int_equal(ks_tar_read(block, &member, NULL),
				KS_OK);
			assert_string_equal(member.name, names[i]);
			assert_int_equal(member.size, sizes[k]);
		}
}

static void
what_does_not_fit_a_header_is_not_written(void **state)
{
	char name[KS_TAR_NAME + 2];
	uint8_t block[KS_TAR_BLOCK];
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[KS_TAR_NAME + 1] = '\0';
	assert_int_equal(ks_tar_write(name, 0, block, &err), KS_INVALID);
	assert_string_equal(err.message,
		"archive member has a name of 101 bytes, not 1 to 100");
	assert_int_equal(ks_tar_write("", 0, block, NULL), KS_INVALID);
	assert_int_equal(ks_tar_write("a", KS_TAR_SIZE, block, &err),
		KS_INVALID);
	assert_string_equal(err.message, "archive member of 8589934592 bytes, "
		"over the limit of 8589934591");
	assert_int_equal(ks_tar_write("a", UINT64_MAX, block, NULL),
		KS_INVALID);
}

/* Other writers' headers, with a checksum that fits. */
static const struct {
	size_t at;
	const char *bytes;
	size_t len;
	const char *says;
} foreign[] = {
	{ 0, "", 0, "" },
	{ 0, "\0", 1, "without a name" },
	{ 11, "x", 1, "another name" },
	{ 99, "x", 1, "another name" },
	{ 100, "0000755", 7, "another mode" },
	{ 100, "000644 ", 7, "another mode" },
	{ 100, "0000664", 7, "another mode" },
	{ 100, "\0\0\0\0\0\0\0", 7, "another mode" },
	{ 108, "0001750", 7, "another owner id" },
	{ 108, "000000 ", 7, "another owner id" },
	{ 116, "0001750", 7, "another group id" },
	{ 124, "0000000005 ", 11, "eleven octal digits" },
	{ 124, "          5", 11, "eleven octal digits" },
	{ 124, "00000000008", 11, "eleven octal digits" },
	{ 124, "-0000000005", 11, "eleven octal digits" },
	{ 124, "5\0\0\0\0\0\0\0\0\0\0", 11, "eleven octal digits" },
	{ 124, "00000000005 ", 12, "eleven octal digits" },
	{ 124, "000000000050", 12, "eleven octal digits" },
	{ 124, "\x80\0\0\0\0\0\0\0\0\0\0\5", 12, "eleven octal digits" },
	{ 136, "14523745100", 11, "another time" },
	{ 136, "\0\0\0\0\0\0\0\0\0\0\0", 11, "another time" },
	{ 156, "1", 1, "another type" },
	{ 156, "2", 1, "another type" },
	{ 156, "5", 1, "another type" },
	{ 156, "7", 1, "another type" },
	{ 156, "x", 1, "another type" },
	{ 156, "g", 1, "another type" },
	{ 156, "L", 1, "another type" },
	{ 156, "\0", 1, "another type" },
	{ 157, "target", 6, "another link name" },
	{ 256, "x", 1, "another link name" },
	{ 257, "ustar  \0", 8, "another magic" },
	{ 257, "ustar ", 6, "another magic" },
	{ 257, "\0\0\0\0\0\0\0\0", 8, "another magic" },
	{ 263, "01", 2, "another version" },
	{ 263, "\0\0", 2, "another version" },
	{ 265, "root", 4, "another owner name" },
	{ 297, "root", 4, "another group name" },
	{ 329, "\0\0\0\0\0\0\0", 7, "another device" },
	{ 329, "0000001", 7, "another device" },
	{ 337, "\0\0\0\0\0\0\0", 7, "another device" },
	{ 345, "prefix", 6, "another prefix" },
	{ 499, "x", 1, "another prefix" },
	{ 500, "x", 1, "another unused end" },
	{ 511, "\1", 1, "another unused end" },
};

static void
headers_of_other_writers_are_refused_by_the_field(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(foreign); i++) {
		uint8_t block[KS_TAR_BLOCK];
		struct ks_tar_member member;
		struct ks_error err = KS_ERROR_INIT;
		enum ks_status status;

		make(block);
		memcpy(block + foreign[i].at, foreign[i].bytes,
			foreign[i].len);
		sum(block);
		status = ks_tar_read(block, &member, &err);
		if (status != (i == 0 ? KS_OK : KS_CORRUPT) ||
			strstr(err.message, foreign[i].says) == NULL)
			fail_msg("row %zu: %s", i, err.message);
	}
}

static void
another_checksum_is_refused(void **state)
{
	static const char *const sums[] = {
		"011253\0 ", "011252 \0", " 11252\0 ", "011252\0\0",
		"0011252\0", "011252  ", "        ", "11252\0 \0",
	};
	uint8_t block[KS_TAR_BLOCK];
	struct ks_tar_member member;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(sums); i++) {
		struct ks_error err = KS_ERROR_INIT;

		make(block);
		memcpy(block + 148, sums[i], 8);
		assert_int_equal(ks_tar_read(block, &member, &err),
			KS_CORRUPT);
		assert_string_equal(err.message, "archive member checkpoint "
			"has another checksum than an exporter writes (S10)");
	}
}

static void
every_changed_byte_of_a_header_is_refused(void **state)
{
	uint8_t block[KS_TAR_BLOCK];
	struct ks_tar_member member;
	size_t i;
	unsigned c;

	(void)state;
	make(block);
	for (i = 0; i < KS_TAR_BLOCK; i++)
		for (c = 1; c < 256; c++) {
			block[i] ^= (uint8_t)c;
			if (ks_tar_read(block, &member, NULL) != KS_CORRUPT)
				fail_msg("byte %zu, %u", i, c);
			block[i] ^= (uint8_t)c;
		}
}

static void
a_name_is_shown_without_control_characters(void **state)
{
	uint8_t block[KS_TAR_BLOCK];
	struct ks_tar_member member;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	memset(block, 0x1b, sizeof(block));
	memcpy(block + 124, "00000000005\0", 12);
	assert_int_equal(ks_tar_read(block, &member, &err), KS_CORRUPT);
	assert_null(strchr(err.message, 0x1b));
	assert_non_null(strstr(err.message, "\\x1b\\x1b"));
}

static void
padding_goes_to_the_next_block(void **state)
{
	static const struct {
		uint64_t size;
		size_t padding;
	} table[] = {
		{ 0, 0 }, { 1, 511 }, { 2, 510 }, { 511, 1 }, { 512, 0 },
		{ 513, 511 }, { 1024, 0 }, { 8589934591U, 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++)
		assert_int_equal(ks_tar_padding(table[i].size),
			table[i].padding);
}

static void
zeros_are_told_at_every_length(void **state)
{
	static uint8_t bytes[3 * KS_TAR_BLOCK];
	size_t len;

	(void)state;
	assert_true(ks_tar_is_zero(ks_span(NULL, 0)));
	for (len = 1; len <= sizeof(bytes); len++) {
		assert_true(ks_tar_is_zero(ks_span(bytes, len)));
		bytes[len - 1] = 1;
		assert_false(ks_tar_is_zero(ks_span(bytes, len)));
		assert_true(ks_tar_is_zero(ks_span(bytes, len - 1)));
		bytes[len - 1] = 0;
		bytes[len / 2] = 0x80;
		assert_false(ks_tar_is_zero(ks_span(bytes, len)));
		bytes[len / 2] = 0;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_is_that_of_the_specification),
		cmocka_unit_test(names_and_sizes_come_back),
		cmocka_unit_test(what_does_not_fit_a_header_is_not_written),
		cmocka_unit_test(
			headers_of_other_writers_are_refused_by_the_field),
		cmocka_unit_test(another_checksum_is_refused),
		cmocka_unit_test(every_changed_byte_of_a_header_is_refused),
		cmocka_unit_test(a_name_is_shown_without_control_characters),
		cmocka_unit_test(padding_goes_to_the_next_block),
		cmocka_unit_test(zeros_are_told_at_every_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
