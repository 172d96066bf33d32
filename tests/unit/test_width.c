#include "base/width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/utf8.h"

static size_t
width_of(const char *text)
{
	return ks_width(ks_span_text(text));
}

static void
texts_take_the_columns_of_their_characters(void **state)
{
	(void)state;
	assert_int_equal(width_of(""), 0);
	assert_int_equal(width_of("abc"), 3);
	assert_int_equal(width_of("621.5 µs · ≠"), 12);
	assert_int_equal(width_of("漢字"), 4);
	assert_int_equal(width_of("ｆ"), 2);
	assert_int_equal(width_of("한글"), 4);
	assert_int_equal(width_of("🚀"), 2);
	assert_int_equal(width_of("e\xcc\x81"), 1);
	assert_int_equal(width_of("a\xe2\x80\x8d"), 1);
	assert_int_equal(width_of("█…"), 2);
}

static void
bytes_that_are_no_text_take_a_column_each(void **state)
{
	(void)state;
	assert_int_equal(width_of("\xff\xfe"), 2);
	assert_int_equal(width_of("\xe6\xbc"), 2);
}

static void
marks_that_are_piled_up_take_columns(void **state)
{
	char text[201] = "e";
	size_t i;

	(void)state;
	for (i = 1; i + 1 < sizeof(text); i += 2) {
		text[i] = '\xcc';
		text[i + 1] = '\x81';
	}
	text[199] = '\0';
	/* 99 marks, of which the first two are free. */
	assert_int_equal(width_of(text), 1 + 2 * 97);
}

static void
a_cut_is_between_characters_and_behind_their_marks(void **state)
{
	struct ks_span text = ks_span_text("a漢e\xcc\x81z");
	static const struct {
		size_t columns, bytes, used;
	} cases[] = {
		{ 0, 0, 0 }, { 1, 1, 1 }, { 2, 1, 1 }, { 3, 4, 3 },
		{ 4, 7, 4 }, { 5, 8, 5 }, { 99, 8, 5 }
	};
	size_t i, used;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(ks_width_fit(text, cases[i].columns, &used),
			cases[i].bytes);
		assert_int_equal(used, cases[i].used);
	}
	assert_int_equal(ks_width_fit(text, 4, NULL), 7);
}

/* Tables are searched by halves, so they must ascend: then each character has
 * one width, and the known borders of blocks have the right one. */
static void
every_character_has_a_width(void **state)
{
	static const struct {
		uint32_t c;
		size_t width;
	} borders[] = {
		{ 0x2ff, 1 }, { 0x300, 0 }, { 0x36f, 0 }, { 0x370, 1 },
		{ 0x10ff, 1 }, { 0x1100, 2 }, { 0x115f, 2 }, { 0x1160, 1 },
		{ 0x303e, 2 }, { 0x303f, 1 }, { 0x3041, 2 }, { 0xa4cf, 2 },
		{ 0xa4d0, 1 }, { 0xabff, 1 }, { 0xac00, 2 }, { 0xd7a3, 2 },
		{ 0xd7a4, 1 }, { 0xff60, 2 }, { 0xff61, 1 }, { 0x1f5ff, 2 },
		{ 0x1f650, 1 }, { 0x1ffff, 1 }, { 0x20000, 2 },
		{ 0x3fffd, 2 }, { 0x3fffe, 1 }, { 0xe0001, 0 },
		{ 0x10ffff, 1 }
	};
	uint8_t bytes[4];
	uint32_t c;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(borders) / sizeof(borders[0]); i++)
		assert_int_equal(ks_width(ks_span(bytes,
			ks_utf8_encode(borders[i].c, bytes))),
			borders[i].width);
	for (c = 0; c <= 0x10ffff; c++)
		if (c < 0xd800 || c > 0xdfff)
			assert_in_range(ks_width(ks_span(bytes,
				ks_utf8_encode(c, bytes))), 0, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_take_the_columns_of_their_characters),
		cmocka_unit_test(bytes_that_are_no_text_take_a_column_each),
		cmocka_unit_test(marks_that_are_piled_up_take_columns),
		cmocka_unit_test(
			a_cut_is_between_characters_and_behind_their_marks),
		cmocka_unit_test(every_character_has_a_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
