#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define IMPOSSIBLE (SIZE_MAX / 2 + 1)

static void
assert_holds(const struct ks_buf *buf, const char *bytes, size_t len)
{
	assert_int_equal(buf->len, len);
	assert_true(ks_span_equal(ks_buf_span(buf), ks_span(bytes, len)));
	assert_int_equal(ks_buf_check(buf, NULL), KS_OK);
}

static void
what_is_appended_stands_in_order(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;

	(void)state;
	ks_buf_append(&buf, ks_span("a\0b", 3));
	ks_buf_text(&buf, "-text-");
	ks_buf_byte(&buf, 0xff);
	ks_buf_printf(&buf, "%d%%%s", -12, "x");
	assert_holds(&buf, "a\0b-text-\xff-12%x", 15);
	ks_buf_release(&buf);
}

static void
nothing_appended_is_nothing_held(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;

	(void)state;
	ks_buf_append(&buf, ks_span(NULL, 0));
	ks_buf_text(&buf, "");
	assert_null(buf.data);
	assert_holds(&buf, "", 0);
	assert_null(ks_buf_span(&buf).data);
	ks_buf_release(&buf);
}

static void
contents_survive_every_growth(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		ks_buf_byte(&buf, (uint8_t)(i * 7));
		assert_true(buf.len <= buf.cap);
	}
	for (i = 0; i < 100000; i++)
		assert_int_equal(buf.data[i], (uint8_t)(i * 7));
	ks_buf_release(&buf);
}

static void
reserving_makes_room_and_adds_nothing(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 4096, 1000001 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ks_buf buf = KS_BUF_INIT;
		uint8_t *at;

		ks_buf_text(&buf, "x");
		at = ks_buf_reserve(&buf, sizes[i]);
		assert_ptr_equal(at, buf.data + 1);
		assert_true(buf.cap - buf.len >= sizes[i]);
		memset(at, 'y', sizes[i]);
		assert_holds(&buf, "x", 1);
		ks_buf_release(&buf);
	}
}

static void
formatted_text_of_any_length_fits(void **state)
{
	static const int lengths[] = { 0, 1, 62, 63, 64, 65, 127, 5000 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct ks_buf buf = KS_BUF_INIT;

		ks_buf_printf(&buf, "%*s", lengths[i], "");
		assert_int_equal(buf.len, lengths[i]);
		assert_int_equal(strlen(ks_buf_cstr(&buf)), lengths[i]);
		ks_buf_release(&buf);
	}
}

static void
the_nul_of_a_c_text_is_not_counted(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;

	(void)state;
	assert_string_equal(ks_buf_cstr(&buf), "");
	ks_buf_text(&buf, "abc");
	assert_string_equal(ks_buf_cstr(&buf), "abc");
	ks_buf_text(&buf, "d");
	assert_string_equal(ks_buf_cstr(&buf), "abcd");
	assert_holds(&buf, "abcd", 4);
	ks_buf_release(&buf);
}

/* ---- failing ----------------------------------------------------------- */

/* Each way to append, for a buffer that has failed. */
static void
append_span(struct ks_buf *buf)
{
	ks_buf_append(buf, ks_span("more", 4));
}

static void
append_text(struct ks_buf *buf)
{
	ks_buf_text(buf, "more");
}

static void
append_byte(struct ks_buf *buf)
{
	ks_buf_byte(buf, 'm');
}

static void
append_printf(struct ks_buf *buf)
{
	ks_buf_printf(buf, "%s", "more");
}

static void
append_empty(struct ks_buf *buf)
{
	ks_buf_append(buf, ks_span(NULL, 0));
}

static void
reserve_one(struct ks_buf *buf)
{
	assert_null(ks_buf_reserve(buf, 1));
}

static void
reserve_none(struct ks_buf *buf)
{
	assert_null(ks_buf_reserve(buf, 0));
}

static void
as_text(struct ks_buf *buf)
{
	assert_string_equal(ks_buf_cstr(buf), "");
}

static void
after_a_failure_nothing_is_appended(void **state)
{
	static void (*const ways[])(struct ks_buf *) = {
		append_span, append_text, append_byte, append_printf,
		append_empty, reserve_one, reserve_none, as_text,
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct ks_buf buf = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		ks_buf_text(&buf, "before");
		assert_null(ks_buf_reserve(&buf, IMPOSSIBLE));
		ways[i](&buf);
		assert_int_equal(buf.len, 6);
		assert_memory_equal(buf.data, "before", 6);
		assert_int_equal(ks_buf_check(&buf, &err), KS_NOMEM);
		assert_int_equal(err.status, KS_NOMEM);
		assert_string_equal(err.message, "out of memory");
		ks_buf_release(&buf);
	}
}

static void
sizes_that_would_overflow_are_a_failure(void **state)
{
	static const size_t sizes[] = {
		SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 63, IMPOSSIBLE,
		IMPOSSIBLE - 1,
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ks_buf buf = KS_BUF_INIT;

		ks_buf_byte(&buf, 'x');
		assert_null(ks_buf_reserve(&buf, sizes[i]));
		assert_int_equal(ks_buf_check(&buf, NULL), KS_NOMEM);
		ks_buf_release(&buf);
	}
}

static void
clearing_forgets_contents_and_failure_but_keeps_memory(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;
	uint8_t *data;

	(void)state;
	ks_buf_text(&buf, "before");
	data = buf.data;
	assert_null(ks_buf_reserve(&buf, IMPOSSIBLE));
	ks_buf_clear(&buf);
	assert_holds(&buf, "", 0);
	ks_buf_text(&buf, "after");
	assert_ptr_equal(buf.data, data);
	assert_holds(&buf, "after", 5);
	ks_buf_release(&buf);
}

static void
a_released_buffer_is_a_new_one(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;

	(void)state;
	ks_buf_release(&buf);
	ks_buf_text(&buf, "x");
	assert_null(ks_buf_reserve(&buf, IMPOSSIBLE));
	ks_buf_release(&buf);
	assert_null(buf.data);
	assert_int_equal(buf.cap, 0);
	assert_holds(&buf, "", 0);
	ks_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_appended_stands_in_order),
		cmocka_unit_test(nothing_appended_is_nothing_held),
		cmocka_unit_test(contents_survive_every_growth),
		cmocka_unit_test(reserving_makes_room_and_adds_nothing),
		cmocka_unit_test(formatted_text_of_any_length_fits),
		cmocka_unit_test(the_nul_of_a_c_text_is_not_counted),
		cmocka_unit_test(after_a_failure_nothing_is_appended),
		cmocka_unit_test(sizes_that_would_overflow_are_a_failure),
		cmocka_unit_test(
			clearing_forgets_contents_and_failure_but_keeps_memory),
		cmocka_unit_test(a_released_buffer_is_a_new_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
