#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define LONG_TEXT 2000

static char long_text[LONG_TEXT + 1];

static int
make_long_text(void **state)
{
	(void)state;
	memset(long_text, 'x', LONG_TEXT);
	return 0;
}

static void
a_failure_records_status_and_text(void **state)
{
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(err.status, KS_OK);
	assert_string_equal(err.message, "");
	assert_int_equal(ks_fail(&err, KS_INVALID, "%s %d", "line", 7),
		KS_INVALID);
	assert_int_equal(err.status, KS_INVALID);
	assert_string_equal(err.message, "line 7");
	assert_int_equal(ks_fail(&err, KS_CORRUPT, "other"), KS_CORRUPT);
	assert_string_equal(err.message, "other");
	assert_int_equal(ks_fail_nomem(&err), KS_NOMEM);
	assert_string_equal(err.message, "out of memory");
}

static void
a_failed_call_is_told_by_its_errno(void **state)
{
	static const struct {
		int code;
		enum ks_status status;
		const char *message;
	} table[] = {
		{ ENOENT, KS_NOT_FOUND, "f: No such file or directory" },
		{ ENOMEM, KS_NOMEM, "f: Cannot allocate memory" },
		{ EIO, KS_IO, "f: Input/output error" },
		{ ENOSPC, KS_IO, "f: No space left on device" },
		{ EMFILE, KS_IO, "f: Too many open files" },
		{ EACCES, KS_IO, "f: Permission denied" },
		{ EEXIST, KS_IO, "f: File exists" },
		{ ENOTDIR, KS_IO, "f: Not a directory" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;

		errno = table[i].code;
		assert_int_equal(ks_fail_errno(&err, "%s", "f"),
			table[i].status);
		assert_int_equal(err.status, table[i].status);
		assert_string_equal(err.message, table[i].message);
		errno = table[i].code;
		assert_int_equal(ks_fail_errno(NULL, "f"), table[i].status);
	}
}

static void
context_goes_in_front_and_keeps_the_status(void **state)
{
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	(void)ks_fail(&err, KS_CORRUPT, "inner");
	assert_int_equal(ks_context(&err, "file %s", "a"), KS_CORRUPT);
	assert_string_equal(err.message, "file a: inner");
	assert_int_equal(ks_context(&err, "store"), KS_CORRUPT);
	assert_string_equal(err.message, "store: file a: inner");
}

static void
without_an_error_only_the_status_is_returned(void **state)
{
	(void)state;
	assert_int_equal(ks_fail(NULL, KS_BUSY, "%s", "x"), KS_BUSY);
	assert_int_equal(ks_fail_nomem(NULL), KS_NOMEM);
	(void)ks_context(NULL, "x");
}

static void
a_text_too_long_is_cut_and_still_ended(void **state)
{
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	(void)ks_fail(&err, KS_IO, "%s", long_text);
	assert_int_equal(strlen(err.message), KS_ERROR_MESSAGE_MAX - 1);
	errno = EIO;
	(void)ks_fail_errno(&err, "%s", long_text);
	assert_int_equal(strlen(err.message), KS_ERROR_MESSAGE_MAX - 1);
	(void)ks_fail(&err, KS_IO, "%s", long_text);
	(void)ks_context(&err, "front");
	assert_int_equal(strlen(err.message), KS_ERROR_MESSAGE_MAX - 1);
	assert_int_equal(strncmp(err.message, "front: xxx", 10), 0);
}

/* The border at which the inner text no longer fits. */
static void
context_of_any_length_never_overflows(void **state)
{
	int len;

	(void)state;
	for (len = KS_ERROR_MESSAGE_MAX - 12; len < KS_ERROR_MESSAGE_MAX + 4;
		len++) {
		struct ks_error err = KS_ERROR_INIT;

		(void)ks_fail(&err, KS_INVALID, "inner text");
		assert_int_equal(ks_context(&err, "%.*s", len, long_text),
			KS_INVALID);
		assert_true(strlen(err.message) < KS_ERROR_MESSAGE_MAX);
		assert_int_equal(strncmp(err.message, "xxxx", 4), 0);
	}
}

static void
every_status_has_a_name_of_its_own(void **state)
{
	enum ks_status a, b;

	(void)state;
	for (a = KS_OK; a <= KS_UNSUPPORTED; a++) {
		assert_string_not_equal(ks_status_name(a), "unknown");
		for (b = KS_OK; b < a; b++)
			assert_string_not_equal(ks_status_name(a),
				ks_status_name(b));
	}
	assert_string_equal(ks_status_name((enum ks_status)99), "unknown");
}

/* ---- printing what others wrote ---------------------------------------- */

static void
what_would_disturb_a_terminal_is_escaped(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *shown;
	} table[] = {
		{ "plain", 5, "plain" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
			"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xc2\xa0", 2, "\xc2\xa0" },
		{ "\0", 1, "\\x00" },
		{ "a\nb", 3, "a\\x0ab" },
		{ "\t\r", 2, "\\x09\\x0d" },
		{ "\x1b[31m", 5, "\\x1b[31m" },
		{ "\x7f", 1, "\\x7f" },
		{ "\xc2\x9b", 2, "\\xc2\\x9b" },	/* C1: CSI */
		{ "\xd8\x9c", 2, "\\xd8\\x9c" },	/* U+061C */
		{ "\xe2\x80\x8e", 3, "\\xe2\\x80\\x8e" },	/* LRM */
		{ "\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8" },	/* U+2028 */
		{ "\xe2\x80\xae", 3, "\\xe2\\x80\\xae" },	/* RLO */
		{ "\xe2\x81\xa9", 3, "\\xe2\\x81\\xa9" },	/* PDI */
		{ "\xef\xbb\xbf", 3, "\\xef\\xbb\\xbf" },	/* BOM */
		{ "\xff", 1, "\\xff" },
		{ "\xc3", 1, "\\xc3" },			/* cut short */
		{ "\xc0\xaf", 2, "\\xc0\\xaf" },	/* overlong */
		{ "\xed\xa0\x80", 3, "\\xed\\xa0\\x80" },	/* surrogate */
		{ "\xe2\x28\xa1", 3, "\\xe2(\\xa1" },
	};
	char out[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_string_equal(ks_printable(out, sizeof(out),
			ks_span(table[i].text, table[i].len)),
			table[i].shown);
}

static void
what_does_not_fit_is_cut_between_characters(void **state)
{
	static const struct {
		size_t size;
		const char *text, *shown;
	} table[] = {
		{ 1, "abc", "" },
		{ 3, "abc", "ab" },
		{ 4, "abc", "abc" },
		{ 3, "a\xc3\xa9", "a" },
		{ 4, "a\xc3\xa9", "a\xc3\xa9" },
		{ 4, "\n", "" },
		{ 5, "\n", "\\x0a" },
		{ 8, "\xc2\x9b", "" },
		{ 9, "\xc2\x9b", "\\xc2\\x9b" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char *out = malloc(table[i].size);

		assert_non_null(out);
		assert_string_equal(ks_printable(out, table[i].size,
			ks_span_text(table[i].text)), table[i].shown);
		free(out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_records_status_and_text),
		cmocka_unit_test(a_failed_call_is_told_by_its_errno),
		cmocka_unit_test(context_goes_in_front_and_keeps_the_status),
		cmocka_unit_test(without_an_error_only_the_status_is_returned),
		cmocka_unit_test(a_text_too_long_is_cut_and_still_ended),
		cmocka_unit_test(context_of_any_length_never_overflows),
		cmocka_unit_test(every_status_has_a_name_of_its_own),
		cmocka_unit_test(what_would_disturb_a_terminal_is_escaped),
		cmocka_unit_test(what_does_not_fit_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, make_long_text, NULL);
}
