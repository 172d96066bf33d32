#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/jcs.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define T(text) (text), sizeof(text) - 1

static struct ks_jcs *jcs;

static int
set_up(void **state)
{
	(void)state;
	return ks_jcs_new(&jcs, NULL) == KS_OK ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	ks_jcs_free(jcs);
	return 0;
}

/* Scan `text`, which must be refused at byte `offset` with `rule` in the
 * message, leaving the output as it was. */
static void
assert_refused(struct ks_span text, const struct ks_jcs_policy *policy,
	size_t offset, const char *rule)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	char where[32];
	char after;

	ks_buf_text(&out, "before");
	if (ks_jcs_scan(jcs, text, policy, &out, &err) != KS_INVALID)
		fail_msg("accepted: %.*s", (int)text.len,
			(const char *)text.data);
	(void)snprintf(where, sizeof(where), "byte %zu", offset);
	after = strlen(err.message) < strlen(where) ? '\0' :
		err.message[strlen(where)];
	if (strncmp(err.message, where, strlen(where)) != 0 ||
		(after != ':' && after != ' ') ||
		strstr(err.message, rule) == NULL)
		fail_msg("%.*s: wanted \"%s: ...%s\", got \"%s\"",
			text.len > 200 ? 200 : (int)text.len,
			(const char *)text.data, where, rule, err.message);
	assert_null(strchr(err.message, '\n'));
	assert_int_equal(err.status, KS_INVALID);
	assert_true(ks_span_is(ks_buf_span(&out), "before"));
	ks_buf_release(&out);
	assert_int_equal(ks_jcs_check(jcs, text, policy, NULL), KS_INVALID);
}

/* Scan `text`, which must come out as `canonical` behind what was there. */
static void
assert_canonical(struct ks_span text, const struct ks_jcs_policy *policy,
	struct ks_span canonical)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	bool same = ks_span_equal(text, canonical);

	ks_buf_text(&out, "before");
	if (ks_jcs_scan(jcs, text, policy, &out, &err) != KS_OK)
		fail_msg("%.*s: %s", (int)text.len, (const char *)text.data,
			err.message);
	assert_int_equal(out.len, 6 + canonical.len);
	assert_memory_equal(out.data, "before", 6);
	assert_memory_equal(out.data + 6, canonical.data, canonical.len);
	ks_buf_release(&out);
	assert_int_equal(ks_jcs_check(jcs, text, policy, NULL),
		same ? KS_OK : KS_INVALID);
	assert_int_equal(ks_jcs_check(jcs, canonical, policy, NULL), KS_OK);
}

/* The published vectors. */

static const char *
shared(void)
{
	const char *dir = getenv("KISTORE_SHARED");

	return dir == NULL ? "../shared" : dir;
}

static bool
read_vector(const char *name, struct ks_buf *out)
{
	char path[4096];
	uint8_t *at;
	FILE *file;

	ks_buf_clear(out);
	(void)snprintf(path, sizeof(path), "%s/vectors/jcs/%s", shared(),
		name);
	file = fopen(path, "rb");
	if (file == NULL)
		return false;
	at = ks_buf_reserve(out, 1 << 20);
	assert_non_null(at);
	out->len = fread(at, 1, 1 << 20, file);
	assert_int_equal(fclose(file), 0);
	return true;
}

static const char *const pairs[] = {
	"cyberphone-arrays", "cyberphone-french", "cyberphone-weird",
	"erdtman-array-empty", "erdtman-array-mixed", "erdtman-array-null",
	"erdtman-array-one", "erdtman-keys-250",
	"erdtman-keys-astral-before-fb33", "erdtman-keys-cr-before-1",
	"erdtman-keys-ffff-after-astral", "erdtman-numbers",
	"erdtman-object-digit-key", "erdtman-object-empty",
	"erdtman-object-in-array", "erdtman-object-null",
	"erdtman-object-two", "erdtman-shared-subtree",
	"erdtman-string-4999", "erdtman-string-5000",
	"erdtman-string-del-slash", "erdtman-string-long-escapes",
	"erdtman-string-other-controls", "erdtman-string-pair",
	"erdtman-string-short-escapes", "erdtman-top-null",
	"erdtman-top-number", "erdtman-top-string", "erdtman-top-true",
	"erdtman-weird",
};

static void
each_published_pair_comes_out_to_the_byte(void **state)
{
	struct ks_buf in = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	char name[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(pairs); i++) {
		(void)snprintf(name, sizeof(name), "pairs/%s.in.json",
			pairs[i]);
		if (!read_vector(name, &in)) {
			print_message("no vectors in %s\n", shared());
			skip();
		}
		(void)snprintf(name, sizeof(name), "pairs/%s.out.json",
			pairs[i]);
		assert_true(read_vector(name, &out));
		assert_canonical(ks_buf_span(&in), &ks_jcs_rfc8785,
			ks_buf_span(&out));
	}
	ks_buf_release(&in);
	ks_buf_release(&out);
}

static const struct {
	const char *name;
	size_t offset;
	const char *rule;
} rejects[] = {
	{ "surrogate-high", 8, "lone surrogate \\ud800" },
	{ "surrogate-low", 8, "lone surrogate \\udead" },
	{ "surrogate-high-then-letter", 8, "lone surrogate \\ud800" },
	{ "surrogate-in-key", 2, "lone surrogate" },
	{ "surrogate-reversed", 8, "lone surrogate \\udc00" },
	{ "surrogate-in-array", 2, "lone surrogate" },
	{ "surrogate-after-6000", 6001, "lone surrogate" },
	{ "nan", 1, "expected a value, found \"NaN\"" },
	{ "infinity", 1, "expected a value, found \"Infinity\"" },
	{ "minus-infinity", 1, "expected a digit, found \"Infinity\"" },
	{ "overflow", 16, "too large for a double" },
	{ "overflow-near", 1, "too large for a double" },
	{ "dup", 7, "duplicate member name \"a\"" },
	{ "dup-escaped", 7, "duplicate member name \"a\"" },
	{ "dup-nested", 19, "in x[0]: duplicate member name \"k\"" },
	{ "utf8-surrogate", 1, "ill-formed UTF-8" },
	{ "utf8-overlong", 1, "ill-formed UTF-8" },
	{ "utf8-latin1", 1, "ill-formed UTF-8" },
};

static void
each_published_reject_is_refused_where_it_is_wrong(void **state)
{
	struct ks_buf in = KS_BUF_INIT;
	char name[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rejects); i++) {
		(void)snprintf(name, sizeof(name), "reject/%s.json",
			rejects[i].name);
		if (!read_vector(name, &in)) {
			print_message("no vectors in %s\n", shared());
			skip();
		}
		assert_refused(ks_buf_span(&in), &ks_jcs_rfc8785,
			rejects[i].offset, rejects[i].rule);
	}
	ks_buf_release(&in);
}

/* Acceptance. */

static const struct {
	const char *text;
	size_t len;
	size_t offset;
	const char *rule;
} refused[] = {
	/* numbers (RFC 8259 section 6) */
	{ T("01"), 0, "leading zero" },
	{ T("00"), 0, "leading zero" },
	{ T("007"), 0, "leading zero" },
	{ T("-01"), 0, "leading zero" },
	{ T("[1,01]"), 3, "leading zero" },
	{ T("1."), 2, "the text ends inside a number" },
	{ T("-1."), 3, "the text ends inside a number" },
	{ T("[1.]"), 3, "expected a digit" },
	{ T("1.e5"), 2, "expected a digit, found \"e5\"" },
	{ T("-.5"), 1, "expected a digit" },
	{ T(".5"), 0, "expected a value" },
	{ T("+1"), 0, "expected a value, found \"+1\"" },
	{ T("+"), 0, "expected a value" },
	{ T("-"), 1, "the text ends inside a number" },
	{ T("--1"), 1, "expected a digit" },
	{ T("-+1"), 1, "expected a digit" },
	{ T("NaN"), 0, "expected a value, found \"NaN\"" },
	{ T("Infinity"), 0, "expected a value, found \"Infinity\"" },
	{ T("-Infinity"), 1, "expected a digit, found \"Infinity\"" },
	{ T("-inf"), 1, "expected a digit" },
	{ T("-nan"), 1, "expected a digit" },
	{ T("1e"), 2, "the text ends inside a number" },
	{ T("1e+"), 3, "the text ends inside a number" },
	{ T("1E"), 2, "the text ends inside a number" },
	{ T("0e"), 2, "the text ends inside a number" },
	{ T("1.e"), 2, "expected a digit" },
	{ T("1-2"), 1, "text after the value" },
	{ T("1.2.3"), 3, "text after the value" },
	{ T("1e1e1"), 3, "text after the value" },
	{ T("0x10"), 1, "text after the value" },
	{ T("1_000"), 1, "text after the value" },
	{ T("1f"), 1, "text after the value" },
	{ T("[1e]"), 3, "expected a digit" },
	{ T("[1-2]"), 2, "expected ',' or ']'" },
	{ T("[0x10]"), 2, "expected ',' or ']'" },
	{ T("1E400"), 0, "number 1E400 is too large for a double" },
	{ T("-1E400"), 0, "too large for a double" },
	{ T("1.7976931348623159e308"), 0, "too large for a double" },
	{ T("[0,1e999999999999999999999]"), 3, "too large for a double" },
	/* strings (RFC 8259 section 7) */
	{ T("\"\\uZZZZ\""), 1, "\\u without four hexadecimal digits" },
	{ T("\"\\u00G0\""), 1, "\\u without four hexadecimal digits" },
	{ T("\"\\u 123\""), 1, "\\u without four hexadecimal digits" },
	{ T("\"\\u-123\""), 1, "\\u without four hexadecimal digits" },
	{ T("\"\\u{41}xx\""), 1, "\\u without four hexadecimal digits" },
	{ T("\"\\u12\""), 1, "\\u without four hexadecimal digits" },
	{ T("\"ab\\u004\""), 3, "\\u without four hexadecimal digits" },
	{ T("\"\\U0041\""), 1, "unknown escape" },
	{ T("\"\\x41\""), 1, "unknown escape" },
	{ T("\"\\a\""), 1, "unknown escape" },
	{ T("\"\\'\""), 1, "unknown escape" },
	{ T("\"\\0\""), 1, "unknown escape" },
	{ T("\"\\v\""), 1, "unknown escape" },
	{ T("\"\\\n\""), 1, "unknown escape" },
	{ T("\"\\ud800\""), 1, "lone surrogate \\ud800" },
	{ T("\"\\udc00\""), 1, "lone surrogate \\udc00" },
	{ T("\"\\ud800\\u0041\""), 1, "lone surrogate \\ud800" },
	{ T("\"\\ud800x\""), 1, "lone surrogate \\ud800" },
	{ T("\"\\udc00\\ud800\""), 1, "lone surrogate \\udc00" },
	{ T("\"\\ud800\\ud800\""), 1, "lone surrogate \\ud800" },
	{ T("\"\\ud83d\\ude00\\uDBFF\""), 13, "lone surrogate \\udbff" },
	{ T("\"\xff\""), 1, "ill-formed UTF-8" },
	{ T("\"\x80\""), 1, "ill-formed UTF-8" },
	{ T("\"\xc3\""), 1, "ill-formed UTF-8" },
	{ T("\"\xc3\x28\""), 1, "ill-formed UTF-8" },
	{ T("\"\xe2\x82\""), 1, "ill-formed UTF-8" },
	{ T("\"\xc0\x80\""), 1, "ill-formed UTF-8" },
	{ T("\"\xc0\xaf\""), 1, "ill-formed UTF-8" },
	{ T("\"\xe0\x80\xaf\""), 1, "ill-formed UTF-8" },
	{ T("\"\xed\xa0\x80\""), 1, "ill-formed UTF-8" },
	{ T("\"\xed\xa0\xbd\xed\xb8\x80\""), 1, "ill-formed UTF-8" },
	{ T("\"\xf0\x80\x80\xaf\""), 1, "ill-formed UTF-8" },
	{ T("\"\xf4\x90\x80\x80\""), 1, "ill-formed UTF-8" },
	{ T("\"\xf8\x88\x80\x80\x80\""), 1, "ill-formed UTF-8" },
	{ T("\"0123456789abcdef\xc3\xa9\xc3\""), 19, "ill-formed UTF-8" },
	{ T("{\"\xff\":1}"), 2, "ill-formed UTF-8" },
	{ T("\"a\tb\""), 2, "control character 0x09" },
	{ T("\"a\nb\""), 2, "control character 0x0a" },
	{ T("\"\x01\""), 1, "control character 0x01" },
	{ T("\"01234567\x1f\""), 9, "control character 0x1f" },
	{ T("\"a\0b\""), 2, "control character 0x00" },
	{ T("{\"a\0b\":1}"), 3, "control character 0x00" },
	{ T("{\"a\rb\":1}"), 3, "control character 0x0d" },
	/* structure (RFC 8259 sections 2 to 5) */
	{ T("{}x"), 2, "text after the value" },
	{ T("{}{}"), 2, "text after the value" },
	{ T("[1]]"), 3, "text after the value" },
	{ T("nullx"), 4, "text after the value" },
	{ T("truefalse"), 4, "text after the value" },
	{ T("{},"), 2, "text after the value" },
	{ T("{}//c"), 2, "text after the value" },
	{ T("{}}"), 2, "text after the value" },
	{ T("{}\0"), 2, "text after the value" },
	{ T("{}\0x"), 2, "text after the value" },
	{ T("[1]\x01\x02"), 3, "text after the value" },
	{ T("\"a\" \"b\""), 4, "text after the value" },
	{ T("[1\f,2]"), 2, "expected ',' or ']', found \"\\x0c\"" },
	{ T("\v{}"), 0, "expected a value" },
	{ T("[\x01" "1]"), 1, "expected a value" },
	{ T("{\x1f}"), 1, "expected a member name" },
	{ T("[1\0,2]"), 2, "expected ',' or ']'" },
	{ T("\xc2\xa0{}"), 0, "expected a value" },
	{ T("[\xe2\x80\xa8]"), 1, "expected a value" },
	{ T("[1\x7f]"), 2, "expected ',' or ']'" },
	{ T(""), 0, "empty text" },
	{ T(" "), 1, "empty text" },
	{ T("\r\n\t "), 4, "empty text" },
	{ T("\xef\xbb\xbf{}"), 0, "byte order mark" },
	{ T("\xef\xbb\xbf"), 0, "byte order mark" },
	{ T("\xef\xbb\xbf\xef\xbb\xbf{}"), 0, "byte order mark" },
	{ T(" \xef\xbb\xbf{}"), 1, "expected a value" },
	{ T("{\xef\xbb\xbf}"), 1, "expected a member name" },
	{ T("\xff\xfe{\0}\0"), 0, "UTF-16" },
	{ T("\xfe\xff\0{\0}"), 0, "UTF-16" },
	{ T("{\0}\0"), 0, "UTF-16" },
	{ T("\0{\0}"), 0, "UTF-16" },
	{ T("{\0\0\0}\0\0\0"), 0, "UTF-32" },
	{ T("\0\0\0{\0\0\0}"), 0, "UTF-32" },
	{ T("\xff\xfe\0\0{\0\0\0"), 0, "UTF-32" },
	{ T("\0"), 0, "expected a value" },
	{ T("[1,]"), 3, "expected a value, found \"]\"" },
	{ T("[,1]"), 1, "expected a value" },
	{ T("[,]"), 1, "expected a value" },
	{ T("[1,,2]"), 3, "expected a value" },
	{ T("[1 2]"), 3, "expected ',' or ']'" },
	{ T("[1:2]"), 2, "expected ',' or ']'" },
	{ T("[}"), 1, "expected a value" },
	{ T("[1}"), 2, "expected ',' or ']'" },
	{ T("{]"), 1, "expected a member name" },
	{ T("{\"a\":1]"), 6, "expected ',' or '}'" },
	{ T("{\"a\":1,}"), 7, "expected a member name" },
	{ T("{,\"a\":1}"), 1, "expected a member name" },
	{ T("{,}"), 1, "expected a member name" },
	{ T("{\"a\":1 \"b\":2}"), 7, "expected ',' or '}'" },
	{ T("{\"a\" 1}"), 5, "expected ':'" },
	{ T("{\"a\"}"), 4, "expected ':'" },
	{ T("{\"a\",1}"), 4, "expected ':'" },
	{ T("{\"a\"::1}"), 5, "expected a value" },
	{ T("{\"a\":}"), 5, "expected a value" },
	{ T("{\"a\":]"), 5, "expected a value" },
	{ T("{\"a\":,}"), 5, "expected a value" },
	{ T("{a:1}"), 1, "expected a member name, found \"a\"" },
	{ T("{'a':1}"), 1, "expected a member name" },
	{ T("{1:1}"), 1, "expected a member name" },
	{ T("{null:1}"), 1, "expected a member name" },
	{ T("'a'"), 0, "expected a value" },
	{ T("/**/1"), 0, "expected a value" },
	{ T("[1,//\n2]"), 3, "expected a value" },
	{ T("[tru]"), 1, "expected a value, found \"tru\"" },
	{ T("[nul]"), 1, "expected a value" },
	{ T("True"), 0, "expected a value, found \"True\"" },
	{ T("NULL"), 0, "expected a value" },
	{ T("]"), 0, "expected a value" },
	{ T("}"), 0, "expected a value" },
	{ T(","), 0, "expected a value" },
	{ T(":"), 0, "expected a value" },
	{ T("["), 1, "the text ends inside an array" },
	{ T("[1"), 2, "the text ends inside an array" },
	{ T("[1,"), 3, "the text ends inside a value" },
	{ T("{"), 1, "the text ends inside an object" },
	{ T("{\"a\""), 4, "the text ends inside an object" },
	{ T("{\"a\":"), 5, "the text ends inside a value" },
	{ T("{\"a\":1"), 6, "the text ends inside an object" },
	{ T("{\"a\":1,"), 7, "the text ends inside an object" },
	{ T("\""), 1, "the text ends inside a string" },
	{ T("\"abc"), 4, "the text ends inside a string" },
	{ T("\"abc\\"), 5, "the text ends inside an escape" },
	{ T("\"\\u00"), 5, "the text ends inside an escape" },
	{ T("\"\\ud83d\\ude0"), 12, "the text ends inside an escape" },
	{ T("tru"), 3, "the text ends inside a word" },
	{ T("[f"), 2, "the text ends inside a word" },
	/* repeated names (RFC 8785 section 3.1) */
	{ T("{\"a\":1,\"a\":2}"), 7, "duplicate member name \"a\"" },
	{ T("{\"\\u0061\":1,\"a\":2}"), 12, "duplicate member name \"a\"" },
	{ T("{\"\":1,\"\":2}"), 6, "duplicate member name \"\"" },
	{ T("{\"a\":1,\"b\":2,\"a\":3}"), 13, "duplicate member name" },
	{ T("{\"b\":1,\"a\":2,\"b\":3}"), 13, "duplicate member name" },
	{ T("{\"b\":1,\"a\":2,\"b\":3,\"b\":4,\"a\":5}"), 13, "duplicate" },
	{ T("{\"\\n\":1,\"\\u000a\":2}"), 8, "duplicate member name \"\\n\"" },
	{ T("{\"\\/\":1,\"/\":2}"), 8, "duplicate member name \"/\"" },
	{ T("{\"\xc3\xa9\":1,\"e\":2,\"\\u00e9\":3}"), 14, "duplicate" },
	{ T("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}"), 10,
		"duplicate" },
	{ T("{\"a\\u0000b\":1,\"a\\u0000b\":2}"), 14, "duplicate" },
	{ T("{\"\\u0000\":1,\"a\":2,\"\\u0000\":3}"), 18, "duplicate" },
	{ T("{\"x\":{\"longer name\":1,\"longer name\":2}}"), 22,
		"in x: duplicate member name \"longer name\"" },
	{ T("[0,{\"b\":1,\"a\":[],\"b\":2}]"), 17,
		"in [1]: duplicate member name \"b\"" },
};

static void
each_malformed_text_is_refused_at_its_first_wrong_byte(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(refused); i++)
		assert_refused(ks_span(refused[i].text, refused[i].len),
			&ks_jcs_rfc8785, refused[i].offset, refused[i].rule);
}

static const struct {
	const char *text;
	size_t len;
	const char *canonical;
} accepted[] = {
	{ T("{}"), "{}" },
	{ T("[]"), "[]" },
	{ T("\"\""), "\"\"" },
	{ T(" \t\r\n{ \t\r\n} \t\r\n"), "{}" },
	{ T("[ ]"), "[]" },
	{ T("[ 1 , 2 ]"), "[1,2]" },
	{ T("{ \"a\" : 1 , \"b\" : [ ] }"), "{\"a\":1,\"b\":[]}" },
	{ T("true"), "true" },
	{ T("[false,null]"), "[false,null]" },
	{ T("0"), "0" },
	{ T("-0"), "0" },
	{ T("[-0,1]"), "[0,1]" },
	{ T("-0.0"), "0" },
	{ T("-0e5"), "0" },
	{ T("1e-400"), "0" },
	{ T("-1e-400"), "0" },
	{ T("10e-1"), "1" },
	{ T("1.0"), "1" },
	{ T("1E5"), "100000" },
	{ T("1e20"), "100000000000000000000" },
	{ T("1e21"), "1e+21" },
	{ T("1e-7"), "1e-7" },
	{ T("2147483648"), "2147483648" },
	{ T("-9007199254740991"), "-9007199254740991" },
	{ T("9007199254740993"), "9007199254740992" },
	{ T("999999999999999"), "999999999999999" },
	{ T("1000000000000000"), "1000000000000000" },
	{ T("0.30000000000000004"), "0.30000000000000004" },
	{ T("1.7976931348623157e308"), "1.7976931348623157e+308" },
	{ T("\"\\u0000\""), "\"\\u0000\"" },
	{ T("\"a\\u0000b\""), "\"a\\u0000b\"" },
	{ T("\"\\ud83d\\ude00\""), "\"\xf0\x9f\x98\x80\"" },
	{ T("\"\\uD83D\\uDE00\""), "\"\xf0\x9f\x98\x80\"" },
	{ T("\"\\uffff\\ufdd0\""), "\"\xef\xbf\xbf\xef\xb7\x90\"" },
	{ T("\"\\u20ac\\u00E9\\u0041\""), "\"\xe2\x82\xac\xc3\xa9" "A\"" },
	{ T("\"\\u0022\\u005c\\u002f\\/\""), "\"\\\"\\\\//\"" },
	{ T("\"\\b\\t\\n\\f\\r\\\"\\\\\""), "\"\\b\\t\\n\\f\\r\\\"\\\\\"" },
	{ T("\"\\u0008\\u0009\\u000A\\u000c\\u000D\""),
		"\"\\b\\t\\n\\f\\r\"" },
	{ T("\"\\u000B\\u001F\\u007f\""), "\"\\u000b\\u001f\x7f\"" },
	{ T("\"\xc2\xa0\xe2\x80\xa8\xef\xbb\xbf\""),
		"\"\xc2\xa0\xe2\x80\xa8\xef\xbb\xbf\"" },
	/* order of members (RFC 8785 section 3.2.3) */
	{ T("{\"b\":1,\"a\":2}"), "{\"a\":2,\"b\":1}" },
	{ T("{\"aa\":1,\"a\":2,\"\":3}"), "{\"\":3,\"a\":2,\"aa\":1}" },
	{ T("{\"kind\":1,\"KIND\":2}"), "{\"KIND\":2,\"kind\":1}" },
	{ T("{\"a\\u0000b\":1,\"a\":2,\"a\\u0000c\":3}"),
		"{\"a\":2,\"a\\u0000b\":1,\"a\\u0000c\":3}" },
	{ T("{\"\\u0000\\u0000\":1,\"\\u0000\":2,\"\":3}"),
		"{\"\":3,\"\\u0000\":2,\"\\u0000\\u0000\":1}" },
	{ T("{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,"
		"\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7}"),
		"{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,"
		"\"\xe2\x82\xac\":1,\"\xf0\x9f\x98\x80\":5,"
		"\"\xef\xac\xb3\":3}" },
	{ T("{\"12345678\xee\x80\x80\":1,\"12345678\xf4\x8f\xbf\xbf\":2}"),
		"{\"12345678\xf4\x8f\xbf\xbf\":2,"
		"\"12345678\xee\x80\x80\":1}" },
	{ T("{\"\xf0\x90\x80\x80\":1,\"\xed\x9f\xbf\":2,\"\xef\xbf\xbf\":3}"),
		"{\"\xed\x9f\xbf\":2,\"\xf0\x90\x80\x80\":1,"
		"\"\xef\xbf\xbf\":3}" },
	{ T("{\"]\":1,\"\\\\\":2,\"[\":3,\"#\":4,\"\\\"\":5,\"!\":6}"),
		"{\"!\":6,\"\\\"\":5,\"#\":4,\"[\":3,\"\\\\\":2,\"]\":1}" },
	{ T("{\"\\u000b\":1,\"\\n\":2,\"\\t\":3,\"\\u001f\":4,\" \":5}"),
		"{\"\\t\":3,\"\\n\":2,\"\\u000b\":1,\"\\u001f\":4,\" \":5}" },
	{ T("{\"12345678b\":1,\"12345678a\":2,\"12345678\":3,"
		"\"1234567\":4}"),
		"{\"1234567\":4,\"12345678\":3,\"12345678a\":2,"
		"\"12345678b\":1}" },
	{ T("{\"b\":{\"d\":[{\"f\":1,\"e\":2}],\"c\":3},\"a\":{}}"),
		"{\"a\":{},\"b\":{\"c\":3,\"d\":[{\"e\":2,\"f\":1}]}}" },
	{ T("[{\"b\":1,\"a\":1},{\"b\":1,\"a\":1}]"),
		"[{\"a\":1,\"b\":1},{\"a\":1,\"b\":1}]" },
};

static void
each_wellformed_text_comes_out_in_canonical_form(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(accepted); i++)
		assert_canonical(ks_span(accepted[i].text, accepted[i].len),
			&ks_jcs_rfc8785, ks_span_text(accepted[i].canonical));
}

static const struct {
	const char *text;
	size_t len;
	size_t offset;
	const char *rule;	/* NULL: accepted */
} intake[] = {
	{ T("\"\\u0000\""), 1, "U+0000 in a string" },
	{ T("{\"a\\u0000\":1}"), 3, "U+0000 in a string" },
	{ T("\"\\uffff\""), 0, NULL },
	{ T("9007199254740992"), 0, NULL },
	{ T("9007199254740993"), 0, "would become 9007199254740992" },
	{ T("[1,-9007199254740993]"), 3, "would become -9007199254740992" },
	{ T("9007199254740993.0"), 0, NULL },
	{ T("9007199254740994"), 0, NULL },
	{ T("100000000000000000000"), 0, NULL },
	{ T("100000000000000000001"), 0, "would become 100000" },
	{ T("333333333333333300000"), 0, NULL },
	{ T("0.1"), 0, NULL },
	{ T("-0"), 0, NULL },
	{ T("0e-999"), 0, NULL },
	{ T("5e-324"), 0, NULL },
	{ T("1e-400"), 0, "number 1e-400 would become 0" },
	{ T("{\"a\":-1e-400}"), 5, "in a: number -1e-400 would become 0" },
	{ T("1e400"), 0, "too large for a double" },
};

static void
intake_refuses_what_would_be_silently_changed(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(intake); i++) {
		struct ks_span text = ks_span(intake[i].text, intake[i].len);
		struct ks_error err = KS_ERROR_INIT;

		if (intake[i].rule != NULL) {
			assert_refused(text, &ks_jcs_manifest,
				intake[i].offset, intake[i].rule);
			assert_refused(text, &ks_jcs_row, intake[i].offset,
				intake[i].rule);
		} else if (ks_jcs_scan(jcs, text, &ks_jcs_manifest, &out,
				&err) != KS_OK) {
			fail_msg("%s: %s", intake[i].text, err.message);
		}
	}
	ks_buf_release(&out);
}

static void
a_number_of_many_digits_is_refused_when_too_large(void **state)
{
	size_t len = 400000;
	uint8_t *digits = malloc(len);

	(void)state;
	assert_non_null(digits);
	memset(digits, '9', len);
	assert_refused(ks_span(digits, len), &ks_jcs_rfc8785, 0,
		"too large for a double");
	free(digits);
}

/* Limits. */

/* `levels` containers around `inner`, objects and arrays taking turns when
 * `mixed`. */
static void
nest(struct ks_buf *out, size_t levels, bool mixed, const char *inner)
{
	size_t i;

	ks_buf_clear(out);
	for (i = 0; i < levels; i++)
		ks_buf_text(out, mixed && i % 2 == 0 ? "{\"a\":" : "[");
	ks_buf_text(out, inner);
	for (i = levels; i-- > 0;)
		ks_buf_byte(out, mixed && i % 2 == 0 ? '}' : ']');
}

static void
assert_depth_limit(const struct ks_jcs_policy *policy, size_t limit)
{
	static const char *const inner[] = { "1", "[]", "{}", "\"[[\"" };
	struct ks_buf text = KS_BUF_INIT;
	size_t depth, i;
	int mixed;

	for (i = 0; i < COUNT(inner); i++)
		for (mixed = 0; mixed < 2; mixed++)
			for (depth = limit - 1; depth <= limit + 1; depth++) {
				bool fits = depth <= limit;

				if (depth == 0)
					continue;
				nest(&text, depth - 1, mixed == 1, inner[i]);
				assert_int_equal(ks_jcs_check(jcs,
					ks_buf_span(&text), policy, NULL),
					fits ? KS_OK : KS_INVALID);
			}
	ks_buf_release(&text);
}

static void
nesting_is_bounded_exactly_where_the_policy_says(void **state)
{
	struct ks_jcs_policy policy = ks_jcs_rfc8785;
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	assert_depth_limit(&ks_jcs_rfc8785, 1000);
	assert_depth_limit(&ks_jcs_manifest, 64);
	assert_depth_limit(&ks_jcs_row, 68);
	policy.max_depth = 1;
	assert_depth_limit(&policy, 1);
	assert_refused(ks_span_text("[ 1]"), &policy, 2,
		"nesting deeper than 1");
	assert_refused(ks_span_text("{\"a\":1}"), &policy, 1,
		"nesting deeper than 1");
	policy.max_depth = 100000;
	assert_depth_limit(&policy, 1000);
	nest(&text, 64, false, "1");
	assert_refused(ks_buf_span(&text), &ks_jcs_manifest, 64,
		"nesting deeper than 64");
	nest(&text, 200000, false, "");
	assert_refused(ks_buf_span(&text), &ks_jcs_rfc8785, 1000,
		"nesting deeper than 1000");
	ks_buf_release(&text);
}

static void
sizes_are_bounded_exactly_where_the_policy_says(void **state)
{
	struct ks_jcs_policy policy = ks_jcs_rfc8785;

	(void)state;
	policy.max_bytes = 5;
	assert_canonical(ks_span_text("1234"), &policy, ks_span_text("1234"));
	assert_canonical(ks_span_text("12345"), &policy,
		ks_span_text("12345"));
	assert_refused(ks_span_text("123456"), &policy, 5,
		"text longer than 5 bytes");
	assert_refused(ks_span_text("1     "), &policy, 5,
		"text longer than 5 bytes");
	assert_canonical(ks_span_text("1e4"), &policy, ks_span_text("10000"));
	assert_refused(ks_span_text("1e5"), &policy, 3,
		"canonical form of 6 bytes, longer than 5");
}

static void
numbers_that_grow_find_room(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf canonical = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < 5000; i++) {
		ks_buf_text(&text, i == 0 ? "[1e20" : ",1e20,\"tail\"");
		ks_buf_text(&canonical, i == 0 ? "[100000000000000000000" :
			",100000000000000000000,\"tail\"");
	}
	ks_buf_byte(&text, ']');
	ks_buf_byte(&canonical, ']');
	assert_canonical(ks_buf_span(&text), &ks_jcs_rfc8785,
		ks_buf_span(&canonical));
	ks_buf_release(&text);
	ks_buf_release(&canonical);
}

/* Order. */

/* Names whose order is easily got wrong, in the right one. */
static const char *const names[] = {
	"", "\\u0000", "\\n", "\\\"", "12345678", "12345678\\u0000",
	"\xf4\x8f\xbf\xbf", "\xee\x80\x80",
};

static void
append_object(struct ks_buf *out, const size_t *order, size_t count)
{
	size_t i;

	ks_buf_clear(out);
	for (i = 0; i < count; i++)
		ks_buf_printf(out, "%c\"%s\":{\"n\":%zu}", i == 0 ? '{' : ',',
			names[order[i]], order[i]);
	ks_buf_byte(out, '}');
}

/* Step to the next permutation in lexicographic order; false after the last. */
static bool
next_permutation(size_t *order, size_t count)
{
	size_t i = count - 1;
	size_t j = count - 1;
	size_t swap;

	while (i > 0 && order[i - 1] > order[i])
		i--;
	if (i == 0)
		return false;
	while (order[j] < order[i - 1])
		j--;
	swap = order[i - 1];
	order[i - 1] = order[j];
	order[j] = swap;
	for (j = count - 1; i < j; i++, j--) {
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	return true;
}

static void
every_permutation_of_members_has_one_canonical_form(void **state)
{
	size_t order[COUNT(names)];
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf sorted = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++)
		order[i] = i;
	append_object(&sorted, order, COUNT(names));
	do {
		append_object(&text, order, COUNT(names));
		ks_buf_clear(&out);
		assert_int_equal(ks_jcs_scan(jcs, ks_buf_span(&text),
			&ks_jcs_rfc8785, &out, NULL), KS_OK);
		if (!ks_span_equal(ks_buf_span(&out), ks_buf_span(&sorted)))
			fail_msg("%s", ks_buf_cstr(&text));
	} while (next_permutation(order, COUNT(names)));
	ks_buf_release(&text);
	ks_buf_release(&sorted);
	ks_buf_release(&out);
}

/* An object of `count` numbered members, number i standing at place i * step
 * mod count; `again` is a number to repeat at the end, or `count`. */
static void
append_numbered(struct ks_buf *out, size_t count, size_t step, size_t again)
{
	size_t i;

	ks_buf_clear(out);
	for (i = 0; i < count; i++)
		ks_buf_printf(out, "%c\"member-%06zu\":%zu",
			i == 0 ? '{' : ',', i * step % count,
			i * step % count);
	if (again < count)
		ks_buf_printf(out, ",\"member-%06zu\":0", again);
	ks_buf_byte(out, '}');
}

static void
objects_of_every_small_size_are_sorted(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf sorted = KS_BUF_INIT;
	size_t count;

	(void)state;
	for (count = 2; count < 70; count++) {
		append_numbered(&sorted, count, 1, count);
		append_numbered(&text, count, count - 1, count);
		assert_canonical(ks_buf_span(&text), &ks_jcs_rfc8785,
			ks_buf_span(&sorted));
	}
	ks_buf_release(&text);
	ks_buf_release(&sorted);
}

static void
one_repeated_name_among_100000_is_found(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf sorted = KS_BUF_INIT;
	size_t len;

	(void)state;
	append_numbered(&sorted, 100000, 1, 100000);
	append_numbered(&text, 100000, 62417, 100000);
	assert_canonical(ks_buf_span(&text), &ks_jcs_rfc8785,
		ks_buf_span(&sorted));
	len = text.len;
	append_numbered(&text, 100000, 62417, 77777);
	assert_refused(ks_buf_span(&text), &ks_jcs_rfc8785, len,
		"duplicate member name \"member-077777\"");
	append_numbered(&text, 100000, 1, 0);
	assert_refused(ks_buf_span(&text), &ks_jcs_rfc8785, len,
		"duplicate member name \"member-000000\"");
	ks_buf_release(&text);
	ks_buf_release(&sorted);
}

/* Canonical or not. */

static const struct {
	const char *text;
	size_t len;
	size_t offset;
} uncanonical[] = {
	{ T(" {}"), 0 },
	{ T("{}\n"), 2 },
	{ T("[1, 2]"), 3 },
	{ T("{\"b\":1,\"a\":2}"), 2 },
	{ T("{\"a\":1.0}"), 6 },
	{ T("[1,1e2]"), 4 },
	{ T("-0"), 0 },
	{ T("\"a\\/\""), 2 },
	{ T("\"\\u0041\""), 1 },
	{ T("\"\\u000A\""), 2 },
	{ T("\"\\u001F\""), 6 },
	{ T("[\"\\u00e9\"]"), 2 },
};

static void
a_text_other_than_its_canonical_form_fails_the_check(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(uncanonical); i++) {
		struct ks_error err = KS_ERROR_INIT;
		char wanted[80];

		assert_int_equal(ks_jcs_check(jcs, ks_span(uncanonical[i].text,
			uncanonical[i].len), &ks_jcs_manifest, &err),
			KS_INVALID);
		(void)snprintf(wanted, sizeof(wanted), "byte %zu: not in "
			"canonical form (RFC 8785 section 3.2)",
			uncanonical[i].offset);
		assert_string_equal(err.message, wanted);
	}
}

/* Messages. */

static const struct {
	const char *text;
	const char *message;
} messages[] = {
	{ "{\"a\":1,\"b\":2,\"a\":3}",
		"byte 13: duplicate member name \"a\" "
		"(RFC 8785 section 3.1)" },
	{ "{\"run\":{\"spec\":{\"axes\":[1,{\"k\":tru}]}}}",
		"byte 31 in run.spec.axes[1].k: expected a value, "
		"found \"tru\" (RFC 8259 section 2)" },
	{ "{\"a\":{\"b\":1},\"c\":{\"d\":01}}",
		"byte 22 in c.d: leading zero in a number "
		"(RFC 8259 section 6)" },
	{ "{\"a\":{\"b\":1,2}}",
		"byte 12 in a: expected a member name, found \"2\" "
		"(RFC 8259 section 2)" },
	{ "[[],[0,[x]]]",
		"byte 8 in [1][1][0]: expected a value, found \"x\" "
		"(RFC 8259 section 2)" },
	{ "{\"\":{\"a b\":?}}",
		"byte 11 in \"\".a b: expected a value, found \"?\" "
		"(RFC 8259 section 2)" },
	{ "{\"\xe2\x80\xae\\u001b[2J\":\x1b[2J}",
		"byte 16 in \\xe2\\x80\\xae\\u001b[2J: expected a value, "
		"found \"\\x1b\" (RFC 8259 section 2)" },
	{ "\"\xe2\x80\xae\" \xe2\x80\xae",
		"byte 6: text after the value (RFC 8259 section 2)" },
	{ "[\xe2\x80\xae]",
		"byte 1 in [0]: expected a value, found \"\\xe2\\x80\\xae\" "
		"(RFC 8259 section 2)" },
};

static void
messages_name_byte_path_and_rule_without_hostile_text(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(messages); i++) {
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_jcs_scan(jcs,
			ks_span_text(messages[i].text), &ks_jcs_rfc8785, &out,
			&err), KS_INVALID);
		assert_string_equal(err.message, messages[i].message);
	}
	ks_buf_release(&out);
}

static void
messages_stay_short_however_long_names_and_paths_are(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	size_t i, k;

	(void)state;
	for (i = 0; i < 999; i++) {
		ks_buf_text(&text, "{\"");
		for (k = 0; k < 100; k++)
			ks_buf_text(&text, "\xe2\x80\xae");
		ks_buf_text(&text, "\":");
	}
	ks_buf_text(&text, "!");
	assert_int_equal(ks_jcs_scan(jcs, ks_buf_span(&text), &ks_jcs_rfc8785,
		&out, &err), KS_INVALID);
	assert_true(strlen(err.message) < 400);
	assert_non_null(strstr(err.message, "...: expected a value, found"));
	ks_buf_release(&text);
	ks_buf_release(&out);
}

static void
a_failure_without_an_error_object_is_still_a_failure(void **state)
{
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	assert_int_equal(ks_jcs_scan(jcs, ks_span_text("{\"a\":[nul]}"),
		&ks_jcs_manifest, &out, NULL), KS_INVALID);
	assert_int_equal(out.len, 0);
	out.failed = true;
	assert_int_equal(ks_jcs_scan(jcs, ks_span_text("1"), &ks_jcs_manifest,
		&out, NULL), KS_NOMEM);
	ks_buf_release(&out);
	ks_jcs_free(NULL);
}

/* Bounds of the input. */

static const char *const documents[] = {
	"{\"b\":[1.5e+3,\"x\\u0041\\n\",true,false,null],\"a\":{\"\":[]}}",
	"{\"name\":\"a longer string with \\ud83d\\ude00 in it\",\"k\":-12}",
	"[ [ ] , { } , \"0123456789abcdef0123456789abcdef\" , 0.25 ]",
	"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 and plain text after it\"",
	"{\"12345678\":1,\"1234567\":2,\"123456789\":3,\"\\u00e9\":4}",
};

/* Scan `text` placed so that its last byte is the last one that may be
 * read. */
static enum ks_status
scan_at_edge(uint8_t *edge, struct ks_span text)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status;
	uint8_t *at = edge - text.len;

	memcpy(at, text.data, text.len);
	status = ks_jcs_scan(jcs, ks_span(at, text.len), &ks_jcs_rfc8785, &out,
		&err);
	if (status == KS_INVALID && strstr(err.message, "ends") == NULL &&
		strstr(err.message, "empty") == NULL &&
		strstr(err.message, "UTF-8") == NULL)
		fail_msg("%.*s: %s", (int)text.len, (const char *)at,
			err.message);
	ks_buf_release(&out);
	return status;
}

static void
every_prefix_is_refused_as_cut_and_not_read_beyond(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	FILE *file = tmpfile();
	uint8_t *edge;
	uint8_t *map;
	size_t i, n;

	(void)state;
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)(2 * page)), 0);
	map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		fileno(file), 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	edge = map + page;
	for (i = 0; i < COUNT(documents); i++) {
		size_t len = strlen(documents[i]);

		for (n = 0; n < len; n++)
			assert_int_equal(scan_at_edge(edge,
				ks_span(documents[i], n)), KS_INVALID);
		assert_int_equal(scan_at_edge(edge, ks_span(documents[i],
			len)), KS_OK);
	}
	assert_int_equal(munmap(map, 2 * page), 0);
	assert_int_equal(fclose(file), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_published_pair_comes_out_to_the_byte),
		cmocka_unit_test(
			each_published_reject_is_refused_where_it_is_wrong),
		cmocka_unit_test(
			each_malformed_text_is_refused_at_its_first_wrong_byte),
		cmocka_unit_test(
			each_wellformed_text_comes_out_in_canonical_form),
		cmocka_unit_test(
			intake_refuses_what_would_be_silently_changed),
		cmocka_unit_test(
			a_number_of_many_digits_is_refused_when_too_large),
		cmocka_unit_test(
			nesting_is_bounded_exactly_where_the_policy_says),
		cmocka_unit_test(
			sizes_are_bounded_exactly_where_the_policy_says),
		cmocka_unit_test(numbers_that_grow_find_room),
		cmocka_unit_test(
			every_permutation_of_members_has_one_canonical_form),
		cmocka_unit_test(objects_of_every_small_size_are_sorted),
		cmocka_unit_test(one_repeated_name_among_100000_is_found),
		cmocka_unit_test(
			a_text_other_than_its_canonical_form_fails_the_check),
		cmocka_unit_test(
			messages_name_byte_path_and_rule_without_hostile_text),
		cmocka_unit_test(
			messages_stay_short_however_long_names_and_paths_are),
		cmocka_unit_test(
			a_failure_without_an_error_object_is_still_a_failure),
		cmocka_unit_test(
			every_prefix_is_refused_as_cut_and_not_read_beyond),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
