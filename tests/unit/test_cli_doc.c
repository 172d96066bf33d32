/*
 * JSON documents of the command line: the ks_doc part of cli/out.h.
 *
 * A document goes to standard output, so each test sends that to a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/out.h"

/* Write `doc`; what came out, in `text`. */
static void
print(struct ks_doc *doc, char *text, size_t size)
{
	struct ks_error err = KS_ERROR_INIT;
	FILE *file = tmpfile();
	int saved = dup(STDOUT_FILENO);
	size_t got;

	assert_non_null(file);
	(void)fflush(stdout);
	assert_int_not_equal(dup2(fileno(file), STDOUT_FILENO), -1);
	assert_int_equal(ks_doc_write(doc, &err), KS_OK);
	(void)fflush(stdout);
	assert_int_not_equal(dup2(saved, STDOUT_FILENO), -1);
	(void)close(saved);
	rewind(file);
	got = fread(text, 1, size - 1, file);
	text[got] = '\0';
	(void)fclose(file);
}

static void
assert_prints(struct ks_doc *doc, const char *wanted)
{
	char text[1024];

	print(doc, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void
a_document_names_its_schema(void **state)
{
	(void)state;
	assert_prints(ks_doc_new("verify"),
		"{\"schema\":\"kistore-verify/1\"}\n");
}

static void
objects_and_arrays_nest(void **state)
{
	struct ks_doc *doc = ks_doc_new("x");

	(void)state;
	ks_doc_array(doc, "list");
	ks_doc_text(doc, NULL, "a");
	ks_doc_object(doc, NULL);
	ks_doc_bool(doc, "yes", true);
	ks_doc_null(doc, "none");
	ks_doc_end(doc);
	ks_doc_end(doc);
	ks_doc_bool(doc, "no", false);
	assert_prints(doc, "{\"schema\":\"kistore-x/1\",\"list\":[\"a\","
		"{\"yes\":true,\"none\":null}],\"no\":false}\n");
}

static void
large_integers_are_printed_as_digits(void **state)
{
	struct ks_doc *doc = ks_doc_new("x");

	(void)state;
	ks_doc_array(doc, "n");
	ks_doc_integer(doc, NULL, 1000000000000000);
	ks_doc_integer(doc, NULL, 9007199254740991);
	ks_doc_integer(doc, NULL, -9007199254740991);
	ks_doc_integer(doc, NULL, INT64_MAX);
	ks_doc_end(doc);
	assert_prints(doc, "{\"schema\":\"kistore-x/1\",\"n\":["
		"1000000000000000,9007199254740991,-9007199254740991,"
		"9223372036854775807]}\n");
}

static void
canonical_json_is_taken_as_it_is(void **state)
{
	struct ks_doc *doc = ks_doc_new("x");

	(void)state;
	ks_doc_json(doc, "metadata",
		ks_span_text("{\"a\":[1e-7,\"\\u0000\"]}"));
	assert_prints(doc, "{\"schema\":\"kistore-x/1\","
		"\"metadata\":{\"a\":[1e-7,\"\\u0000\"]}}\n");
}

static void
text_is_escaped_and_never_cut(void **state)
{
	struct ks_doc *doc = ks_doc_new("x");

	(void)state;
	ks_doc_text(doc, "a", "\"\\\n\xc3\xa4");
	ks_doc_span(doc, "b", ks_span("x\0y", 3));
	ks_doc_span(doc, "c", ks_span("\xff", 1));
	ks_doc_span(doc, "d", ks_span(NULL, 0));
	assert_prints(doc, "{\"schema\":\"kistore-x/1\","
		"\"a\":\"\\\"\\\\\\n\xc3\xa4\",\"b\":\"x\\\\x00y\","
		"\"c\":\"\\\\xff\",\"d\":\"\"}\n");
}

static void
a_digest_is_printed_whole(void **state)
{
	struct ks_doc *doc = ks_doc_new("x");
	struct ks_id id = { .bytes = { 0xab, 0x01 } };

	(void)state;
	ks_doc_digest(doc, "digest", &id);
	assert_prints(doc, "{\"schema\":\"kistore-x/1\",\"digest\":\"sha256:"
		"ab01000000000000000000000000000000000000000000000000000000"
		"000000\"}\n");
}

static void
a_document_that_is_not_there_takes_every_call(void **state)
{
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	ks_doc_object(NULL, "a");
	ks_doc_array(NULL, "a");
	ks_doc_text(NULL, "a", "b");
	ks_doc_integer(NULL, "a", 1);
	ks_doc_bool(NULL, "a", true);
	ks_doc_null(NULL, "a");
	ks_doc_json(NULL, "a", ks_span_text("1"));
	ks_doc_end(NULL);
	ks_doc_free(NULL);
	assert_int_equal(ks_doc_write(NULL, &err), KS_NOMEM);
	assert_string_equal(err.message, "out of memory");
}

static void
a_document_nested_too_deeply_is_not_printed(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_doc *doc = ks_doc_new("x");
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		ks_doc_object(doc, "a");
	assert_int_equal(ks_doc_write(doc, &err), KS_NOMEM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_document_names_its_schema),
		cmocka_unit_test(objects_and_arrays_nest),
		cmocka_unit_test(large_integers_are_printed_as_digits),
		cmocka_unit_test(canonical_json_is_taken_as_it_is),
		cmocka_unit_test(text_is_escaped_and_never_cut),
		cmocka_unit_test(a_digest_is_printed_whole),
		cmocka_unit_test(
			a_document_that_is_not_there_takes_every_call),
		cmocka_unit_test(a_document_nested_too_deeply_is_not_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
