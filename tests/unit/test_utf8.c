#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* RFC 3629 section 3: the first and last of each length, and the neighbours of
 * the surrogates. */
static const struct {
	uint32_t code_point;
	const char *bytes;
	size_t len;
} characters[] = {
	{ 0x00, "\0", 1 },
	{ 0x41, "A", 1 },
	{ 0x7f, "\x7f", 1 },
	{ 0x80, "\xc2\x80", 2 },
	{ 0x7ff, "\xdf\xbf", 2 },
	{ 0x800, "\xe0\xa0\x80", 3 },
	{ 0x20ac, "\xe2\x82\xac", 3 },
	{ 0xd7ff, "\xed\x9f\xbf", 3 },
	{ 0xe000, "\xee\x80\x80", 3 },
	{ 0xfffe, "\xef\xbf\xbe", 3 },
	{ 0xffff, "\xef\xbf\xbf", 3 },
	{ 0x10000, "\xf0\x90\x80\x80", 4 },
	{ 0x10ffff, "\xf4\x8f\xbf\xbf", 4 },
};

static void
characters_of_every_length_are_read_and_written(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		struct ks_span text = ks_span(characters[i].bytes,
			characters[i].len);
		uint32_t c = 0xdeadbeef;
		uint8_t out[4];

		assert_int_equal(ks_utf8_decode(text, &c), text.len);
		assert_int_equal(c, characters[i].code_point);
		assert_int_equal(ks_utf8_encode(c, out), text.len);
		assert_memory_equal(out, text.data, text.len);
		assert_int_equal(ks_utf8_check(text), text.len);
	}
}

static void
every_scalar_value_comes_back(void **state)
{
	uint32_t c, back;

	(void)state;
	for (c = 0; c <= 0x10ffff; c++) {
		uint8_t out[4];
		size_t len;

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		len = ks_utf8_encode(c, out);
		if (ks_utf8_decode(ks_span(out, len), &back) != len ||
			back != c)
			fail_msg("U+%04lx", (unsigned long)c);
	}
}

/* What RFC 3629 forbids; the bytes before the bad one are counted. */
static const struct {
	const char *bytes;
	size_t len, offset;
} ill_formed[] = {
	{ "\x80", 1, 0 },			/* continuation alone */
	{ "\xbf", 1, 0 },
	{ "\xc0\x80", 2, 0 },			/* overlong NUL */
	{ "\xc0\xaf", 2, 0 },			/* overlong '/' */
	{ "\xc1\xbf", 2, 0 },
	{ "\xe0\x80\x80", 3, 0 },
	{ "\xe0\x9f\xbf", 3, 0 },
	{ "\xf0\x80\x80\x80", 4, 0 },
	{ "\xf0\x8f\xbf\xbf", 4, 0 },
	{ "\xed\xa0\x80", 3, 0 },		/* U+D800 */
	{ "\xed\xbf\xbf", 3, 0 },		/* U+DFFF */
	{ "\xed\xa0\x80\xed\xb0\x80", 6, 0 },	/* CESU-8 */
	{ "\xf4\x90\x80\x80", 4, 0 },		/* U+110000 */
	{ "\xf5\x80\x80\x80", 4, 0 },
	{ "\xf8\x88\x80\x80\x80", 5, 0 },
	{ "\xfe", 1, 0 },
	{ "\xff", 1, 0 },
	{ "\xc2", 1, 0 },			/* cut short */
	{ "\xe2\x82", 2, 0 },
	{ "\xe2", 1, 0 },
	{ "\xf0\x9f\x98", 3, 0 },
	{ "\xf0", 1, 0 },
	{ "\xc2\x41", 2, 0 },			/* followed by ASCII */
	{ "\xe2\x41\x80", 3, 0 },
	{ "\xe2\x82\x41", 3, 0 },
	{ "\xf0\x41\x80\x80", 4, 0 },
	{ "\xf0\x9f\x41\x80", 4, 0 },
	{ "\xf0\x9f\x98\x41", 4, 0 },
	{ "\xc2\xc2\x80", 3, 0 },		/* followed by a start */
	{ "abc\xff", 4, 3 },
	{ "\xc3\xa9\x80", 3, 2 },
	{ "\xf0\x9f\x98\x80\xc3", 5, 4 },
	{ "a\0b\xc0", 4, 3 },
};

static void
ill_formed_bytes_are_refused_and_found(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ill_formed) / sizeof(ill_formed[0]); i++) {
		/* A copy of its own, so that reading past it shows. */
		uint8_t *copy = malloc(ill_formed[i].len);
		size_t at = ill_formed[i].offset;
		struct ks_span text;
		uint32_t c = 0;

		assert_non_null(copy);
		memcpy(copy, ill_formed[i].bytes, ill_formed[i].len);
		text = ks_span(copy, ill_formed[i].len);
		if (ks_utf8_check(text) != at)
			fail_msg("row %zu", i);
		assert_int_equal(ks_utf8_decode(ks_span(copy + at,
			text.len - at), &c), 0);
		free(copy);
	}
}

static void
no_bytes_are_well_formed_and_no_character(void **state)
{
	uint32_t c = 0;

	(void)state;
	assert_int_equal(ks_utf8_check(ks_span(NULL, 0)), 0);
	assert_int_equal(ks_utf8_decode(ks_span(NULL, 0), &c), 0);
}

/* The 25 characters with the property White_Space in Unicode's PropList. */
static void
blanks_are_those_of_unicode(void **state)
{
	static const uint32_t blanks[] = {
		0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680,
		0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
		0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f,
		0x205f, 0x3000,
	};
	size_t found = 0;
	uint32_t c;

	(void)state;
	for (c = 0; c <= 0x10ffff; c++) {
		if (!ks_utf8_is_space(c))
			continue;
		assert_true(found < sizeof(blanks) / sizeof(blanks[0]));
		assert_int_equal(c, blanks[found++]);
	}
	assert_int_equal(found, sizeof(blanks) / sizeof(blanks[0]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			characters_of_every_length_are_read_and_written),
		cmocka_unit_test(every_scalar_value_comes_back),
		cmocka_unit_test(ill_formed_bytes_are_refused_and_found),
		cmocka_unit_test(no_bytes_are_well_formed_and_no_character),
		cmocka_unit_test(blanks_are_those_of_unicode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
