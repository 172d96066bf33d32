#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/jcs.h"
#include "format/json.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define T(text) (text), sizeof(text) - 1

static void
assert_span(struct ks_span span, const char *text)
{
	if (!ks_span_is(span, text))
		fail_msg("wanted %s, got %.*s", text, (int)span.len,
			(const char *)span.data);
}

/* Values. */

static const struct {
	const char *text;
	enum ks_json_type type;
	const char *name;
	size_t count;
	size_t depth;
} values[] = {
	{ "null", KS_JSON_NULL, "null", 0, 1 },
	{ "false", KS_JSON_FALSE, "false", 0, 1 },
	{ "true", KS_JSON_TRUE, "true", 0, 1 },
	{ "0", KS_JSON_NUMBER, "a number", 0, 1 },
	{ "-1.5e-7", KS_JSON_NUMBER, "a number", 0, 1 },
	{ "\"\"", KS_JSON_STRING, "a string", 0, 1 },
	{ "\"[1,2]\"", KS_JSON_STRING, "a string", 0, 1 },
	{ "[]", KS_JSON_ARRAY, "an array", 0, 1 },
	{ "{}", KS_JSON_OBJECT, "an object", 0, 1 },
	{ "[1]", KS_JSON_ARRAY, "an array", 1, 2 },
	{ "[[],{}]", KS_JSON_ARRAY, "an array", 2, 2 },
	{ "[[[]],[0],\"[[[[\"]", KS_JSON_ARRAY, "an array", 3, 3 },
	{ "[\"],\\\"\",\"\\\\\",1]", KS_JSON_ARRAY, "an array", 3, 2 },
	{ "{\"a\":{\"b\":{}}}", KS_JSON_OBJECT, "an object", 1, 3 },
	{ "{\"a\":[1,2,3],\"b\":{\"c\":1,\"d\":2},\"{[\":\"}\"}",
		KS_JSON_OBJECT, "an object", 3, 3 },
	{ "{\"a\":[],\"b\":[1]}", KS_JSON_OBJECT, "an object", 2, 3 },
};

static void
each_value_has_its_type_count_and_depth(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(values); i++) {
		struct ks_span value = ks_span_text(values[i].text);

		assert_int_equal(ks_json_type(value), values[i].type);
		assert_string_equal(ks_json_type_name(values[i].type),
			values[i].name);
		assert_int_equal(ks_json_count(value), values[i].count);
		assert_int_equal(ks_json_depth(value), values[i].depth);
	}
}

static void
members_come_in_order_with_their_values(void **state)
{
	static const char *const wanted[][2] = {
		{ "", "\"\"" },
		{ "\\\"}", "[1,{\"x\":\"]\"},\"\\\\\"]" },
		{ "a long name of many bytes", "{\"y\":{}}" },
		{ "b", "-1e+21" },
		{ "c", "null" },
	};
	struct ks_json_iter it = ks_json_iter(ks_span_text("{\"\":\"\","
		"\"\\\"}\":[1,{\"x\":\"]\"},\"\\\\\"],"
		"\"a long name of many bytes\":{\"y\":{}},"
		"\"b\":-1e+21,\"c\":null}"));
	struct ks_span name, value;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wanted); i++) {
		assert_true(ks_json_next_member(&it, &name, &value));
		assert_span(name, wanted[i][0]);
		assert_span(value, wanted[i][1]);
	}
	assert_false(ks_json_next_member(&it, &name, &value));
	assert_int_equal(name.len + value.len, 0);
	assert_false(ks_json_next_member(&it, &name, &value));
}

static void
elements_come_in_order(void **state)
{
	static const char *const wanted[] = { "1", "\",\"", "[2,3]",
		"{\"a\":\"}\"}", "true" };
	struct ks_json_iter it = ks_json_iter(
		ks_span_text("[1,\",\",[2,3],{\"a\":\"}\"},true]"));
	struct ks_span value;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wanted); i++) {
		assert_true(ks_json_next_element(&it, &value));
		assert_span(value, wanted[i]);
	}
	assert_false(ks_json_next_element(&it, &value));
	assert_int_equal(value.len, 0);
}

static void
scalars_and_empty_containers_have_no_members(void **state)
{
	static const char *const empty[] = { "", "1", "\"{}\"", "null", "[]",
		"{}" };
	struct ks_span name, value;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(empty); i++) {
		struct ks_json_iter it = ks_json_iter(ks_span_text(empty[i]));

		assert_false(ks_json_next_member(&it, &name, &value));
		it = ks_json_iter(ks_span_text(empty[i]));
		assert_false(ks_json_next_element(&it, &value));
	}
}

static void
find_takes_the_member_of_exactly_that_name(void **state)
{
	struct ks_span object = ks_span_text("{\"\\n\":0,\"a\":1,\"ab\":2,"
		"\"b\":{\"kind\":3},\"kind\":4,\"\xc3\xa9\":5}");
	struct ks_span value;

	(void)state;
	assert_true(ks_json_find(object, "a", &value));
	assert_span(value, "1");
	assert_true(ks_json_find(object, "ab", &value));
	assert_span(value, "2");
	assert_true(ks_json_find(object, "kind", &value));
	assert_span(value, "4");
	assert_false(ks_json_find(object, "KIND", &value));
	assert_int_equal(value.len, 0);
	assert_false(ks_json_find(object, "", &value));
	assert_false(ks_json_find(object, "abc", &value));
	assert_false(ks_json_find(object, "n", &value));
	assert_false(ks_json_find(object, "z", &value));
	assert_false(ks_json_find(ks_span_text("[\"a\"]"), "a", &value));
	assert_false(ks_json_find(ks_span_text("\"a\""), "a", &value));
	assert_false(ks_json_find(ks_span_text("{}"), "a", &value));
	assert_false(ks_json_find(ks_span_text(""), "a", &value));
}

/* Strings. */

static const struct {
	const char *raw;
	const char *bytes;
	size_t len;
	size_t units;
} strings[] = {
	{ "", T(""), 0 },
	{ "plain", T("plain"), 5 },
	{ "\\\"\\\\/", T("\"\\/"), 3 },
	{ "\\b\\t\\n\\f\\r", T("\b\t\n\f\r"), 5 },
	{ "a\\u0000b\\u001f", T("a\0b\x1f"), 4 },
	{ "\\u000b\\u000e\x7f", T("\x0b\x0e\x7f"), 3 },
	{ "\\\\n\\\\u0001", T("\\n\\u0001"), 8 },
	{ "\xc3\xa9\xe2\x82\xac\xef\xbf\xbf", T("\xc3\xa9\xe2\x82\xac"
		"\xef\xbf\xbf"), 3 },
	{ "\xf0\x9f\x98\x80!", T("\xf0\x9f\x98\x80!"), 3 },
	{ "\xf4\x8f\xbf\xbf\xed\x9f\xbf", T("\xf4\x8f\xbf\xbf\xed\x9f\xbf"),
		3 },
};

static void
quoting_and_unescaping_are_inverse(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(strings); i++) {
		struct ks_span raw = ks_span_text(strings[i].raw);

		ks_buf_clear(&buf);
		ks_json_unescape(&buf, raw);
		assert_int_equal(buf.len, strings[i].len);
		if (buf.len > 0)
			assert_memory_equal(buf.data, strings[i].bytes,
				buf.len);
		ks_buf_clear(&buf);
		ks_json_quote(&buf, ks_span(strings[i].bytes,
			strings[i].len));
		assert_span(ks_json_raw(ks_buf_span(&buf)), strings[i].raw);
		assert_int_equal(buf.data[0], '"');
		assert_int_equal(buf.data[buf.len - 1], '"');
		assert_int_equal(ks_json_utf16_length(raw), strings[i].units);
	}
	ks_buf_release(&buf);
}

static void
each_control_character_has_the_escape_of_rfc_8785(void **state)
{
	static const char *const escapes[] = {
		"\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004",
		"\\u0005", "\\u0006", "\\u0007", "\\b", "\\t", "\\n",
		"\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010",
		"\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015",
		"\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a",
		"\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
	};
	uint8_t out[6];
	uint8_t c;

	(void)state;
	for (c = 0; c < COUNT(escapes); c++)
		assert_span(ks_span(out, ks_json_escape(c, out)), escapes[c]);
	assert_span(ks_span(out, ks_json_escape('"', out)), "\\\"");
	assert_span(ks_span(out, ks_json_escape('\\', out)), "\\\\");
}

static void
only_a_string_of_the_same_characters_is_that_text(void **state)
{
	(void)state;
	assert_true(ks_json_is(ks_span_text("\"ns\""), "ns"));
	assert_true(ks_json_is(ks_span_text("\"\""), ""));
	assert_false(ks_json_is(ks_span_text("\"ns \""), "ns"));
	assert_false(ks_json_is(ks_span_text("\"NS\""), "ns"));
	assert_false(ks_json_is(ks_span_text("ns"), "ns"));
	assert_false(ks_json_is(ks_span_text("[ns]"), "ns"));
	assert_false(ks_json_is(ks_span_text("12"), ""));
	assert_false(ks_json_is(ks_span_text(""), ""));
}

/* Names in UTF-16 order, each before the next. */
static const char *const ordered[] = {
	"", "\\u0000", "\\u0000\\u0000", "\\u0001", "\\b", "\\t", "\\n",
	"\\u000b", "\\f", "\\r", "\\u000e", "\\u001f", " ", "!", "\\\"", "#",
	"/", "0", "1", "10", "A", "[", "\\\\", "\\\\\\n", "\\\\n", "]", "a",
	"a\\u0000", "a\\n", "a ", "a\\\"", "aa", "ab", "b", "\x7f",
	"\xc2\x80", "\xc3\xb6", "\xdf\xbf", "\xe0\xa0\x80", "\xe2\x82\xac",
	"\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf0\x9f\x98\x80",
	"\xf4\x8f\xbf\xbf", "\xee\x80\x80", "\xef\xac\xb3", "\xef\xbf\xbf",
	"\xef\xbf\xbf\xf0\x90\x80\x80",
};

static int
sign(int value)
{
	return (value > 0) - (value < 0);
}

static void
names_compare_by_utf16_code_units(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(ordered); i++)
		for (k = 0; k < COUNT(ordered); k++)
			assert_int_equal(sign(ks_json_name_compare(
				ks_span_text(ordered[i]),
				ks_span_text(ordered[k]))),
				(i > k) - (i < k));
}

static void
ranks_of_bytes_order_names_too(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 1; i < COUNT(ordered); i++) {
		struct ks_span a = ks_span_text(ordered[i - 1]);
		struct ks_span b = ks_span_text(ordered[i]);

		for (k = 0; k < 16; k++) {
			uint8_t x = ks_json_next_rank(&a);
			uint8_t y = ks_json_next_rank(&b);

			assert_true(x <= y);
			if (x != y)
				break;
		}
	}
}

/* Numbers. */

static const struct {
	const char *text;
	bool is_integer;
	int64_t value;
} integers[] = {
	{ "0", true, 0 },
	{ "1", true, 1 },
	{ "-1", true, -1 },
	{ "621504", true, 621504 },
	{ "9007199254740991", true, 9007199254740991 },
	{ "-9007199254740991", true, -9007199254740991 },
	{ "9007199254740992", false, 0 },
	{ "-9007199254740992", false, 0 },
	{ "9999999999999999", false, 0 },
	{ "10000000000000000", false, 0 },
	{ "100000000000000000000", false, 0 },
	{ "1e+21", false, 0 },
	{ "1.5", false, 0 },
	{ "1e-7", false, 0 },
	{ "-", false, 0 },
	{ "", false, 0 },
	{ "\"1\"", false, 0 },
	{ "null", false, 0 },
	{ "[1]", false, 0 },
};

static void
integers_are_those_a_double_counts_exactly(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(integers); i++) {
		int64_t value = 99;

		assert_int_equal(ks_json_integer(
			ks_span_text(integers[i].text), &value),
			integers[i].is_integer);
		assert_true(value == integers[i].value);
	}
}

static void
numbers_are_read_to_the_nearest_double(void **state)
{
	(void)state;
	assert_true(ks_json_double(ks_span_text("0")) == 0);
	assert_true(ks_json_double(ks_span_text("-2.5")) == -2.5);
	assert_true(ks_json_double(ks_span_text("0.1")) == 0.1);
	assert_true(ks_json_double(ks_span_text("1e+21")) == 1e21);
	assert_true(ks_json_double(ks_span_text("5e-324")) == 5e-324);
}

/* Objects. */

static const struct {
	const char *base;
	const char *over;
	const char *merged;
} merges[] = {
	{ "", "", "{}" },
	{ "{}", "", "{}" },
	{ "", "{}", "{}" },
	{ "{\"a\":1}", "", "{\"a\":1}" },
	{ "", "{\"a\":1}", "{\"a\":1}" },
	{ "{\"a\":1}", "{\"a\":2}", "{\"a\":2}" },
	{ "{\"a\":1,\"c\":3}", "{\"b\":2}", "{\"a\":1,\"b\":2,\"c\":3}" },
	{ "{\"b\":2}", "{\"a\":1,\"c\":3}", "{\"a\":1,\"b\":2,\"c\":3}" },
	{ "{\"a\":{\"x\":1}}", "{\"a\":{\"y\":2}}", "{\"a\":{\"y\":2}}" },
	{ "{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":null}",
		"{\"a\":1,\"b\":null,\"c\":3}" },
	{ "{\"]\":1}", "{\"\\\\\":2}", "{\"\\\\\":2,\"]\":1}" },
	{ "{\"\xee\x80\x80\":1}", "{\"\xf0\x90\x80\x80\":2}",
		"{\"\xf0\x90\x80\x80\":2,\"\xee\x80\x80\":1}" },
};

static void
merging_lays_one_object_over_another(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(merges); i++) {
		ks_buf_clear(&out);
		ks_buf_text(&out, "x");
		ks_json_merge(&out, ks_span_text(merges[i].base),
			ks_span_text(merges[i].over));
		assert_int_equal(out.data[0], 'x');
		assert_span(ks_span(out.data + 1, out.len - 1),
			merges[i].merged);
	}
	ks_buf_release(&out);
}

static const struct {
	const char *value;
	const char *text;
} pages[] = {
	{ "1", "1" },
	{ "\"a\\u001f\\n\"", "\"a\\u001f\\n\"" },
	{ "[]", "[]" },
	{ "{}", "{}" },
	{ "[1,\"x\"]", "[\n  1,\n  \"x\"\n]" },
	{ "[[],{},[0]]", "[\n  [],\n  {},\n  [\n    0\n  ]\n]" },
	{ "{\"a\":{},\"b\":[]}", "{\n  \"a\": {},\n  \"b\": []\n}" },
	{ "{\"aa\":1,\"b\":{\"ccc\":[true],\"d\":null}}",
		"{\n  \"b\": {\n    \"d\": null,\n    \"ccc\": [\n"
		"      true\n    ]\n  },\n  \"aa\": 1\n}" },
	{ "{\"\":0,\"\\\"\":1,\"aa\":2,\"b\":3,\"\xc3\xa9\":4}",
		"{\n  \"\": 0,\n  \"\\\"\": 1,\n  \"b\": 3,\n  \"aa\": 2,\n"
		"  \"\xc3\xa9\": 4\n}" },
	{ "{\"\xf0\x90\x80\x80\":1,\"\xee\x80\x80\":2,\"\xee\x80\x80-\":3}",
		"{\n  \"\xee\x80\x80\": 2,\n  \"\xee\x80\x80-\": 3,\n"
		"  \"\xf0\x90\x80\x80\": 1\n}" },
};

static void
jsonb_order_is_by_length_then_bytes_at_every_level(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(pages); i++) {
		ks_buf_clear(&out);
		ks_json_print_jsonb(&out, ks_span_text(pages[i].value));
		assert_span(ks_buf_span(&out), pages[i].text);
	}
	ks_buf_release(&out);
}

static void
text_nested_without_end_does_not_exhaust_the_stack(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < 100000; i++)
		ks_buf_byte(&text, '[');
	ks_buf_byte(&text, '1');
	for (i = 0; i < 100000; i++)
		ks_buf_byte(&text, ']');
	assert_int_equal(ks_json_depth(ks_buf_span(&text)), 100001);
	ks_json_print_jsonb(&out, ks_buf_span(&text));
	assert_int_equal(ks_buf_check(&out, NULL), KS_OK);
	ks_buf_release(&text);
	ks_buf_release(&out);
}

static void
members_are_listed_in_jsonb_order(void **state)
{
	static const char *const names[] = { "a", "z", "\\u0001b", "ab",
		"\xc2\xb7", "zzz", "longer" };
	struct ks_json_member *members;
	size_t count, i;

	(void)state;
	assert_true(ks_json_list_jsonb(ks_span_text("{\"\\u0001b\":2,\"a\":0,"
		"\"ab\":3,\"longer\":6,\"z\":1,\"zzz\":5,\"\xc2\xb7\":4}"),
		&members, &count));
	assert_int_equal(count, COUNT(names));
	for (i = 0; i < count; i++) {
		assert_true(ks_span_is(members[i].name, names[i]));
		assert_true(ks_json_double(members[i].value) == (double)i);
	}
	free(members);
	assert_true(ks_json_list_jsonb(ks_span_text("{}"), &members, &count));
	assert_null(members);
	assert_int_equal(count, 0);
	assert_true(ks_json_list_jsonb(ks_span_text("[1,2]"), &members,
		&count));
	assert_null(members);
	assert_int_equal(count, 0);
}

static void
a_member_that_is_not_there_is_an_empty_span(void **state)
{
	struct ks_span object = ks_span_text("{\"a\":{\"b\":\"x\"},\"c\":\"\","
		"\"d\":5}");

	(void)state;
	assert_true(ks_span_is(ks_json_get(object, "d"), "5"));
	assert_true(ks_span_is(ks_json_get_raw(ks_json_get(object, "a"), "b"),
		"x"));
	assert_int_equal(ks_json_get(object, "b").len, 0);
	assert_int_equal(ks_json_get(ks_json_get(object, "b"), "b").len, 0);
	assert_int_equal(ks_json_get_raw(object, "d").len, 0);
	assert_int_equal(ks_json_get_raw(object, "b").len, 0);
	/* An empty string has characters, though none. */
	assert_null(ks_json_get_raw(object, "b").data);
	assert_non_null(ks_json_get_raw(object, "c").data);
}

/* The manifest text that two run pages of KernelIndex show. */

static bool
read_shared(const char *name, struct ks_buf *out)
{
	const char *dir = getenv("KISTORE_SHARED");
	char path[4096];
	uint8_t *at = ks_buf_reserve(out, 1 << 16);
	FILE *file;
	size_t n;

	assert_non_null(at);
	(void)snprintf(path, sizeof(path), "%s/data/seeds/%s",
		dir == NULL ? "../shared" : dir, name);
	file = fopen(path, "rb");
	if (file == NULL) {
		print_message("no %s\n", path);
		return false;
	}
	n = fread(at, 1, 1 << 16, file);
	assert_int_equal(fclose(file), 0);
	out->len += n;
	return true;
}

static bool
compose_run(const char *closure, struct ks_buf *out)
{
	static const char *const parts[] = { "run", "protocol",
		"environment" };
	char name[64];
	size_t i;

	for (i = 0; i < COUNT(parts); i++) {
		ks_buf_printf(out, "%c\"%s\":", i == 0 ? '{' : ',', parts[i]);
		(void)snprintf(name, sizeof(name), "closure/%s/%s.json",
			closure, parts[i]);
		if (!read_shared(name, out))
			return false;
	}
	ks_buf_byte(out, '}');
	return true;
}

static void
the_text_of_a_run_page_is_reproduced_to_the_byte(void **state)
{
	static const char *const runs[][2] = {
		{ "000", "run-c3252a98.json" },
		{ "003", "run-21df0b65.json" },
	};
	struct ks_jcs *jcs;
	size_t i;

	(void)state;
	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	for (i = 0; i < COUNT(runs); i++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_buf canonical = KS_BUF_INIT;
		struct ks_buf page = KS_BUF_INIT;
		struct ks_buf wanted = KS_BUF_INIT;

		if (!compose_run(runs[i][0], &text) ||
			!read_shared(runs[i][1], &wanted)) {
			ks_buf_release(&text);
			ks_jcs_free(jcs);
			skip();
		}
		assert_int_equal(ks_jcs_scan(jcs, ks_buf_span(&text),
			&ks_jcs_row, &canonical, NULL), KS_OK);
		ks_json_print_jsonb(&page, ks_buf_span(&canonical));
		ks_buf_byte(&page, '\n');
		assert_int_equal(page.len, wanted.len);
		assert_memory_equal(page.data, wanted.data, wanted.len);
		ks_buf_release(&text);
		ks_buf_release(&canonical);
		ks_buf_release(&page);
		ks_buf_release(&wanted);
	}
	ks_jcs_free(jcs);
}

/* Bounds of the input: text that was never scanned. */

static void
read_everything(struct ks_span value)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span name, item;
	int64_t integer;

	while (ks_json_next_member(&it, &name, &item))
		ks_json_unescape(&out, name);
	it = ks_json_iter(value);
	while (ks_json_next_element(&it, &item))
		(void)ks_json_integer(item, &integer);
	(void)ks_json_find(value, "zzz", &item);
	(void)ks_json_count(value);
	(void)ks_json_depth(value);
	(void)ks_json_is(value, "a");
	(void)ks_json_utf16_length(value);
	(void)ks_json_name_compare(value, ks_json_raw(value));
	ks_json_unescape(&out, value);
	ks_json_merge(&out, value, value);
	ks_json_print_jsonb(&out, value);
	ks_buf_release(&out);
}

static void
malformed_text_is_never_read_beyond_its_span(void **state)
{
	static const char *const texts[] = {
		"{\"b\":[1.5,\"x\\u0041\\n\",true],\"a\":{\"\":[]},\"\\",
		"{\"a\":\"0123456789abcdef\\\\\\\"\",\"b\":{\"c\":[[[",
		"[\"\\u00\",}]{,:\"\"]]]}}}}[[[[\"\\\"\\",
		"}{]}[{\"\":}]:\"\\\"{\"a\"1:,\"b\"}\\u",
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	FILE *file = tmpfile();
	uint8_t *map;
	size_t i, from, to;

	(void)state;
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)(2 * page)), 0);
	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		fileno(file), 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	for (i = 0; i < COUNT(texts); i++)
		for (from = 0; from <= strlen(texts[i]); from++)
			for (to = from; to <= strlen(texts[i]); to++) {
				uint8_t *at = map + page - (to - from);

				memcpy(at, texts[i] + from, to - from);
				read_everything(ks_span(at, to - from));
			}
	assert_int_equal(munmap(map, 2 * page), 0);
	assert_int_equal(fclose(file), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_has_its_type_count_and_depth),
		cmocka_unit_test(members_come_in_order_with_their_values),
		cmocka_unit_test(elements_come_in_order),
		cmocka_unit_test(scalars_and_empty_containers_have_no_members),
		cmocka_unit_test(find_takes_the_member_of_exactly_that_name),
		cmocka_unit_test(quoting_and_unescaping_are_inverse),
		cmocka_unit_test(
			each_control_character_has_the_escape_of_rfc_8785),
		cmocka_unit_test(
			only_a_string_of_the_same_characters_is_that_text),
		cmocka_unit_test(names_compare_by_utf16_code_units),
		cmocka_unit_test(ranks_of_bytes_order_names_too),
		cmocka_unit_test(integers_are_those_a_double_counts_exactly),
		cmocka_unit_test(numbers_are_read_to_the_nearest_double),
		cmocka_unit_test(merging_lays_one_object_over_another),
		cmocka_unit_test(
			jsonb_order_is_by_length_then_bytes_at_every_level),
		cmocka_unit_test(
			text_nested_without_end_does_not_exhaust_the_stack),
		cmocka_unit_test(members_are_listed_in_jsonb_order),
		cmocka_unit_test(a_member_that_is_not_there_is_an_empty_span),
		cmocka_unit_test(
			the_text_of_a_run_page_is_reproduced_to_the_byte),
		cmocka_unit_test(malformed_text_is_never_read_beyond_its_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
