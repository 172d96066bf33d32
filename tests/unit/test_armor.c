#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/armor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
assert_span(struct ks_span span, const char *text)
{
	if (!ks_span_is(span, text))
		fail_msg("\"%.*s\", not \"%s\"", (int)span.len,
			(const char *)span.data, text);
}

static void
a_block_is_parted_from_the_text_around_it(void **state)
{
	struct ks_armor armor;

	(void)state;
	assert_true(ks_armor_find(ks_span_text("one\ntwo\n"
		"-----BEGIN A B-----\nbody\nmore\n-----END A B-----\nafter\n"),
		&armor));
	assert_span(armor.before, "one\ntwo\n");
	assert_span(armor.label, "A B");
	assert_span(armor.body, "body\nmore\n");
	assert_span(armor.after, "after\n");
	assert_true(armor.ended);
}

static void
a_block_may_be_the_whole_text_and_empty(void **state)
{
	struct ks_armor armor;

	(void)state;
	assert_true(ks_armor_find(ks_span_text(
		"-----BEGIN A-----\n-----END A-----"), &armor));
	assert_span(armor.before, "");
	assert_span(armor.label, "A");
	assert_span(armor.body, "");
	assert_span(armor.after, "");
	assert_true(armor.ended);
}

static void
a_byte_order_mark_and_blanks_at_line_ends_are_passed_over(void **state)
{
	struct ks_armor armor;

	(void)state;
	assert_true(ks_armor_find(ks_span_text("\xef\xbb\xbfName: x\r\n"
		"-----BEGIN A----- \t\r\nbody\r\n-----END A-----\r\n"),
		&armor));
	assert_span(armor.before, "Name: x\r\n");
	assert_span(armor.label, "A");
	assert_span(armor.body, "body\r\n");
	assert_true(armor.ended);
}

static void
only_the_line_end_of_the_same_label_ends_a_block(void **state)
{
	static const char *const texts[] = {
		"-----BEGIN A-----\nbody\n",
		"-----BEGIN A-----\nbody\n-----END B-----\n",
		"-----BEGIN A-----\nbody\n-----END A----\n",
		"-----BEGIN A-----\nbody\n -----END A-----\n",
		"-----BEGIN A-----\nbody-----END A-----\n",
		"-----BEGIN A-----\nbody\n-----END -----\n",
		"-----BEGIN A-----\nbody\n-----end A-----\n",
	};
	struct ks_armor armor;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++) {
		assert_true(ks_armor_find(ks_span_text(texts[i]), &armor));
		assert_false(armor.ended);
		assert_span(armor.body, texts[i] + 18);
		assert_span(armor.after, "");
	}
}

static void
a_text_without_a_line_begin_has_no_block(void **state)
{
	static const char *const texts[] = { "", "\n", "text\n", "-----",
		"-----BEGIN", "-----BEGIN ", "-----BEGIN -----",
		"-----BEGIN A", "-----BEGIN A----", "----BEGIN A-----",
		" -----BEGIN A-----", "-----BEGINA-----", "-----END A-----",
		"-----BEGIN\tA-----", "-----BEGIN A-----x", "\xef\xbb\xbf",
		"x\xef\xbb\xbf-----BEGIN A-----", "\xef\xbb" };
	struct ks_armor armor;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(texts); i++)
		assert_false(ks_armor_find(ks_span_text(texts[i]), &armor));
	assert_false(ks_armor_find(ks_span(NULL, 0), &armor));
}

static const struct {
	const char *body;
	bool tolerant, strict;
} bodies[] = {
	{ "Zm9vYmFy\n", true, true },
	{ "Zm9v\nYmFy\n", true, true },
	{ "Z\nm9vYmF\ny\n", true, true },
	{ "Zm9vYmFy", true, false },
	{ "Zm9vYmFy\r\n", true, false },
	{ "Zm9v \nYmFy\t\n", true, false },
	{ "Zm9v\n\nYmFy\n", true, false },
	{ "\nZm9vYmFy\n", true, false },
	{ " Zm9vYmFy\n", false, false },
	{ "Zm9v YmFy\n", false, false },
	{ "Zm9vYmF\n", false, false },
	{ "Zm9vYmFy=\n", false, false },
	{ "Zm9vYg==\nYmFy\n", false, false },
	{ "Zm9v\rYmFy\n", false, false },
	{ "Zm9v-mFy\n", false, false },
};

static void
a_body_is_base64_in_lines_of_any_width(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bodies); i++) {
		struct ks_span body = ks_span_text(bodies[i].body);
		struct ks_buf out = KS_BUF_INIT;

		assert_int_equal(ks_armor_decode(body, false, &out),
			bodies[i].tolerant);
		assert_string_equal(ks_buf_cstr(&out),
			bodies[i].tolerant ? "foobar" : "");
		ks_buf_clear(&out);
		assert_int_equal(ks_armor_decode(body, true, &out),
			bodies[i].strict);
		assert_string_equal(ks_buf_cstr(&out),
			bodies[i].strict ? "foobar" : "");
		ks_buf_release(&out);
	}
}

static void
what_is_written_has_full_lines_and_is_read_again(void **state)
{
	uint8_t bytes[200];
	size_t len;

	(void)state;
	memset(bytes, 'o', sizeof(bytes));
	for (len = 0; len <= sizeof(bytes); len++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_buf back = KS_BUF_INIT;
		struct ks_armor armor;
		size_t chars = (len + 2) / 3 * 4;

		ks_buf_text(&text, "before\n");
		ks_armor_write("A B", ks_span(bytes, len), KS_ARMOR_SSH, &text);
		assert_true(ks_armor_find(ks_buf_span(&text), &armor));
		assert_span(armor.before, "before\n");
		assert_span(armor.label, "A B");
		assert_span(armor.after, "");
		assert_int_equal(armor.body.len, chars +
			(chars + KS_ARMOR_SSH - 1) / KS_ARMOR_SSH);
		if (chars > KS_ARMOR_SSH)
			assert_int_equal(armor.body.data[KS_ARMOR_SSH], '\n');
		assert_true(ks_armor_decode(armor.body, true, &back));
		assert_int_equal(back.len, len);
		assert_true(len == 0 || memcmp(back.data, bytes, len) == 0);
		ks_buf_release(&text);
		ks_buf_release(&back);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_parted_from_the_text_around_it),
		cmocka_unit_test(a_block_may_be_the_whole_text_and_empty),
		cmocka_unit_test(
			a_byte_order_mark_and_blanks_at_line_ends_are_passed_over),
		cmocka_unit_test(
			only_the_line_end_of_the_same_label_ends_a_block),
		cmocka_unit_test(a_text_without_a_line_begin_has_no_block),
		cmocka_unit_test(a_body_is_base64_in_lines_of_any_width),
		cmocka_unit_test(
			what_is_written_has_full_lines_and_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
