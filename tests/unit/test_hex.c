#include "base/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void
bytes_are_written_as_two_lower_case_digits_each(void **state)
{
	static const uint8_t bytes[] = { 0x00, 0x01, 0x9a, 0xf0, 0xff };
	char out[11] = "##########";

	(void)state;
	ks_hex_encode(ks_span(bytes, sizeof(bytes)), out);
	assert_string_equal(out, "00019af0ff");
	ks_hex_encode(ks_span(NULL, 0), out);
	assert_string_equal(out, "00019af0ff");
}

static void
every_byte_comes_back(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 256; i++) {
		uint8_t byte = (uint8_t)i;
		uint8_t back = (uint8_t)~i;
		char text[2];

		ks_hex_encode(ks_span(&byte, 1), text);
		assert_true(ks_hex_decode(ks_span(text, 2), &back, 1));
		assert_int_equal(back, i);
	}
}

static void
only_lower_case_digits_have_a_value(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 256; i++) {
		const char *all = "0123456789abcdef";
		const char *at = i == 0 ? NULL : strchr(all, (int)i);

		assert_int_equal(ks_hex_value((uint8_t)i),
			at == NULL ? -1 : at - all);
	}
}

static void
other_lengths_and_characters_are_refused(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} table[] = {
		{ "", 1 }, { "0", 1 }, { "000", 1 }, { "0000", 1 },
		{ "00", 2 }, { "0", 0 }, { "00", 0 },
		{ "AB", 1 }, { "aB", 1 }, { "Ab", 1 }, { "0x", 1 },
		{ "g0", 1 }, { "0g", 1 }, { " 0", 1 }, { "0 ", 1 },
		{ "-1", 1 }, { "+1", 1 }, { "/0", 1 }, { ":0", 1 },
		{ "`0", 1 }, { "\xc3\xa9", 1 }, { "00zz", 2 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint8_t out[4] = { 0 };

		assert_false(ks_hex_decode(ks_span_text(table[i].text), out,
			table[i].len));
	}
}

static void
no_digits_are_no_bytes(void **state)
{
	uint8_t out = 0x5a;

	(void)state;
	assert_true(ks_hex_decode(ks_span(NULL, 0), &out, 0));
	assert_int_equal(out, 0x5a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			bytes_are_written_as_two_lower_case_digits_each),
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(only_lower_case_digits_have_a_value),
		cmocka_unit_test(other_lengths_and_characters_are_refused),
		cmocka_unit_test(no_digits_are_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
