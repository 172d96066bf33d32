#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base64.h"

/* RFC 4648 section 10, and one with the two characters of its own. */
static const struct {
	const char *bytes;
	const char *text;
} pairs[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xfb\xff\xbf", "+/+/" },
};

static const char *const malformed[] = {
	"Z",		/* no whole group */
	"Zg",
	"Zg=",
	"Zg===",
	"=",
	"==",
	"===",
	"====",
	"Z===",		/* six bits are not a byte */
	"Zh==",		/* spare bits */
	"Zm9=",
	"AA=A",		/* padding inside */
	"Zg==Zg==",
	"Zm8=Zm8=",
	"A=AA",
	"=AAA",
	"Zm9v\n",	/* line ends and blanks */
	"Zm9\n",
	" Zm9",
	"Zm9 ",
	"Zm\r\n",
	"-_-_",		/* the URL alphabet */
	"Zm9\x80",
	"Zm9.",
};

static void
each_text_stands_for_its_bytes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct ks_buf out = KS_BUF_INIT;
		size_t len = 99;

		ks_buf_text(&out, "kept ");
		ks_base64_encode(ks_span_text(pairs[i].bytes), &out);
		assert_string_equal(ks_buf_cstr(&out) + 5, pairs[i].text);
		ks_buf_clear(&out);
		ks_buf_text(&out, "kept ");
		assert_true(ks_base64_decode(ks_span_text(pairs[i].text),
			&out));
		assert_string_equal(ks_buf_cstr(&out) + 5, pairs[i].bytes);
		assert_true(ks_base64_check(ks_span_text(pairs[i].text),
			&len));
		assert_int_equal(len, strlen(pairs[i].bytes));
		ks_buf_release(&out);
	}
}

static void
anything_but_the_one_strict_text_is_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		struct ks_buf out = KS_BUF_INIT;
		uint8_t bytes[8] = { 7 };
		size_t len = 99;

		assert_false(ks_base64_check(ks_span_text(malformed[i]),
			&len));
		assert_int_equal(len, 0);
		assert_false(ks_base64_decode(ks_span_text(malformed[i]),
			&out));
		assert_int_equal(out.len, 0);
		assert_false(ks_base64_decode_exact(
			ks_span_text(malformed[i]), bytes, 1));
		assert_int_equal(bytes[0], 7);
		ks_buf_release(&out);
	}
}

static void
a_nul_byte_is_not_a_character(void **state)
{
	size_t len;

	(void)state;
	assert_false(ks_base64_check(ks_span("Zm9\0", 4), &len));
	assert_false(ks_base64_check(ks_span("\0\0\0\0", 4), &len));
}

static void
an_exact_length_admits_no_other(void **state)
{
	uint8_t bytes[4] = { 7, 7, 7, 7 };

	(void)state;
	assert_false(ks_base64_decode_exact(ks_span_text("Zm9v"), bytes, 2));
	assert_false(ks_base64_decode_exact(ks_span_text("Zm9v"), bytes, 4));
	assert_false(ks_base64_decode_exact(ks_span_text(""), bytes, 1));
	assert_int_equal(bytes[0], 7);
	assert_true(ks_base64_decode_exact(ks_span_text("Zm9v"), bytes, 3));
	assert_memory_equal(bytes, "foo\x07", 4);
	assert_true(ks_base64_decode_exact(ks_span(NULL, 0), bytes, 0));
}

static void
every_byte_survives_at_every_length(void **state)
{
	uint8_t all[256];
	size_t len, i;

	(void)state;
	for (i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)i;
	for (len = 0; len <= sizeof(all); len++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_buf back = KS_BUF_INIT;

		ks_base64_encode(ks_span(all + sizeof(all) - len, len), &text);
		assert_int_equal(text.len, KS_BASE64_LENGTH(len));
		assert_true(ks_base64_decode(ks_buf_span(&text), &back));
		assert_int_equal(back.len, len);
		assert_true(len == 0 || memcmp(back.data,
			all + sizeof(all) - len, len) == 0);
		ks_buf_release(&text);
		ks_buf_release(&back);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_text_stands_for_its_bytes),
		cmocka_unit_test(anything_but_the_one_strict_text_is_refused),
		cmocka_unit_test(a_nul_byte_is_not_a_character),
		cmocka_unit_test(an_exact_length_admits_no_other),
		cmocka_unit_test(every_byte_survives_at_every_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
