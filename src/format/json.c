#include "format/json.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "base/word.h"
#include "format/number.h"

#define INDENT_MAX 1000	/* levels; what ks_jcs_scan() lets through */
#define INTEGER_MAX 9007199254740991	/* 2^53 - 1 */
#define INTEGER_DIGITS 16

enum ks_json_type
ks_json_type(struct ks_span value)
{
	if (value.len == 0)
		return KS_JSON_NULL;
	switch (value.data[0]) {
	case '{':
		return KS_JSON_OBJECT;
	case '[':
		return KS_JSON_ARRAY;
	case '"':
		return KS_JSON_STRING;
	case 't':
		return KS_JSON_TRUE;
	case 'f':
		return KS_JSON_FALSE;
	case 'n':
		return KS_JSON_NULL;
	default:
		return KS_JSON_NUMBER;
	}
}

const char *
ks_json_type_name(enum ks_json_type type)
{
	switch (type) {
	case KS_JSON_NULL:
		return "null";
	case KS_JSON_FALSE:
		return "false";
	case KS_JSON_TRUE:
		return "true";
	case KS_JSON_NUMBER:
		return "a number";
	case KS_JSON_STRING:
		return "a string";
	case KS_JSON_ARRAY:
		return "an array";
	case KS_JSON_OBJECT:
		return "an object";
	}
	return "unknown";
}

/* Stepping over values. These return `end` when the text breaks off. */

/* The quote that ends the string whose characters begin at `at`. */
static inline const uint8_t *
find_quote(const uint8_t *at, const uint8_t *end)
{
	while (at < end) {
		while (end - at >= KS_WORD_BYTES) {
			uint64_t word = ks_word_load(at);
			uint64_t hits = ks_word_equal(word, '"') |
				ks_word_equal(word, '\\');

			if (hits != 0) {
				at += ks_word_first(hits);
				break;
			}
			at += KS_WORD_BYTES;
		}
		if (at == end || *at == '"')
			return at;
		at += *at == '\\' && end - at > 1 ? 2 : 1;
	}
	return end;
}

static inline const uint8_t *
skip_string(const uint8_t *at, const uint8_t *end)
{
	at = find_quote(at + 1, end);
	return at == end ? end : at + 1;
}

static const uint8_t *
skip_container(const uint8_t *at, const uint8_t *end)
{
	size_t depth = 0;

	while (at < end) {
		switch (*at) {
		case '"':
			at = skip_string(at, end);
			continue;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (--depth == 0)
				return at + 1;
			break;
		default:
			break;
		}
		at++;
	}
	return end;
}

static inline const uint8_t *
skip_value(const uint8_t *at, const uint8_t *end)
{
	if (at == end)
		return end;
	if (*at == '"')
		return skip_string(at, end);
	if (*at == '{' || *at == '[')
		return skip_container(at, end);
	while (at < end && *at != ',' && *at != '}' && *at != ']')
		at++;
	return at;
}

/* Iteration. */

struct ks_json_iter
ks_json_iter(struct ks_span value)
{
	struct ks_json_iter it = { .at = NULL, .end = NULL };

	if (value.len < 2 || (value.data[0] != '{' && value.data[0] != '['))
		return it;
	it.at = value.data + 1;
	it.end = value.data + value.len - 1;
	return it;
}

bool
ks_json_next_element(struct ks_json_iter *it, struct ks_span *value)
{
	const uint8_t *from = it->at;
	const uint8_t *to;

	*value = ks_span(NULL, 0);
	if (from == it->end)
		return false;
	to = skip_value(from, it->end);
	*value = ks_span(from, (size_t)(to - from));
	it->at = to == it->end ? to : to + 1;
	return true;
}

bool
ks_json_next_member(struct ks_json_iter *it, struct ks_span *name,
	struct ks_span *value)
{
	const uint8_t *from = it->at;
	const uint8_t *quote;

	*name = *value = ks_span(NULL, 0);
	if (from == it->end || *from != '"')
		return false;
	from++;
	quote = find_quote(from, it->end);
	if (it->end - quote < 2 || quote[1] != ':')
		return false;
	it->at = quote + 2;
	*name = ks_span(from, (size_t)(quote - from));
	return ks_json_next_element(it, value);
}

bool
ks_json_find(struct ks_span object, const char *name, struct ks_span *value)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span wanted = ks_span_text(name);
	struct ks_span found;

	while (ks_json_next_member(&it, &found, value)) {
		int order = ks_json_name_compare(found, wanted);

		if (order == 0)
			return true;
		if (order > 0)
			break;
	}
	*value = ks_span(NULL, 0);
	return false;
}

struct ks_span
ks_json_get(struct ks_span object, const char *name)
{
	struct ks_span value;

	(void)ks_json_find(object, name, &value);
	return value;
}

struct ks_span
ks_json_get_raw(struct ks_span object, const char *name)
{
	struct ks_span value = ks_json_get(object, name);

	if (ks_json_type(value) != KS_JSON_STRING)
		return ks_span(NULL, 0);
	return ks_json_raw(value);
}

size_t
ks_json_count(struct ks_span value)
{
	struct ks_json_iter it = ks_json_iter(value);
	bool is_object = ks_json_type(value) == KS_JSON_OBJECT;
	struct ks_span name, item;
	size_t count = 0;

	while (is_object ? ks_json_next_member(&it, &name, &item) :
		ks_json_next_element(&it, &item))
		count++;
	return count;
}

size_t
ks_json_depth(struct ks_span value)
{
	const uint8_t *at = value.data;
	const uint8_t *end = at + value.len;
	size_t depth = 1;
	size_t deepest = 1;

	while (at < end) {
		uint8_t c = *at;

		if (c == '"') {
			at = skip_string(at, end);
			continue;
		}
		at++;
		if (c == '}' || c == ']')
			depth--;
		if ((c != '{' && c != '[') || at == end)
			continue;
		if (*at == '}' || *at == ']')
			at++;	/* nothing inside */
		else if (++depth > deepest)
			deepest = depth;
	}
	return deepest;
}

/* Strings. */

bool
ks_json_is(struct ks_span value, const char *text)
{
	return ks_json_type(value) == KS_JSON_STRING &&
		ks_span_is(ks_json_raw(value), text);
}

struct ks_span
ks_json_raw(struct ks_span string)
{
	if (string.len < 2)
		return ks_span(NULL, 0);
	return ks_span(string.data + 1, string.len - 2);
}

static uint8_t
hex_digit(uint8_t value)
{
	return (uint8_t)(value < 10 ? '0' + value : 'a' + value - 10);
}

size_t
ks_json_escape(uint8_t byte, uint8_t *out)
{
	static const char letters[] = "btn\0fr";	/* of 8 to 13 */

	out[0] = '\\';
	out[1] = byte;
	if (byte == '"' || byte == '\\')
		return 2;
	if (byte >= '\b' && byte <= '\r' && letters[byte - '\b'] != '\0') {
		out[1] = (uint8_t)letters[byte - '\b'];
		return 2;
	}
	memcpy(out + 1, "u00", 3);
	out[4] = hex_digit(byte >> 4);
	out[5] = hex_digit(byte & 0x0f);
	return 6;
}

static uint8_t
hex_value(uint8_t digit)
{
	return (uint8_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10) & 0x0f;
}

/* Take the escape at the front off `raw`, as RFC 8785 section 3.2.2.2 writes
 * it, and return the character. */
static uint8_t
take_escape(struct ks_span *raw)
{
	const uint8_t *p = raw->data;
	size_t n = raw->len < 2 ? 1 : 2;
	uint8_t c = p[n - 1];

	if (c == 'u' && raw->len >= 6) {
		n = 6;
		c = (uint8_t)(hex_value(p[4]) << 4 | hex_value(p[5]));
	} else if (c == 'b') {
		c = '\b';
	} else if (c == 't') {
		c = '\t';
	} else if (c == 'n') {
		c = '\n';
	} else if (c == 'f') {
		c = '\f';
	} else if (c == 'r') {
		c = '\r';
	}
	raw->data += n;
	raw->len -= n;
	return c;
}

/* Take the first UTF-8 byte of the unescaped text off `raw`, not empty. */
static uint8_t
take_byte(struct ks_span *raw)
{
	if (raw->data[0] == '\\')
		return take_escape(raw);
	raw->len--;
	return *raw->data++;
}

void
ks_json_unescape(struct ks_buf *out, struct ks_span raw)
{
	while (raw.len > 0) {
		const uint8_t *escape = memchr(raw.data, '\\', raw.len);
		size_t plain = escape == NULL ? raw.len :
			(size_t)(escape - raw.data);

		ks_buf_append(out, ks_span(raw.data, plain));
		raw.data += plain;
		raw.len -= plain;
		if (raw.len > 0)
			ks_buf_byte(out, take_escape(&raw));
	}
}

static bool
needs_escape(uint8_t c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

void
ks_json_quote(struct ks_buf *out, struct ks_span text)
{
	uint8_t escape[6];
	size_t from = 0;
	size_t i;

	ks_buf_byte(out, '"');
	for (i = 0; i < text.len; i++) {
		if (!needs_escape(text.data[i]))
			continue;
		ks_buf_append(out, ks_span(text.data + from, i - from));
		ks_buf_append(out, ks_span(escape,
			ks_json_escape(text.data[i], escape)));
		from = i + 1;
	}
	if (from < text.len)
		ks_buf_append(out, ks_span(text.data + from,
			text.len - from));
	ks_buf_byte(out, '"');
}

size_t
ks_json_utf16_length(struct ks_span raw)
{
	size_t units = 0;

	while (raw.len > 0) {
		uint8_t c = take_byte(&raw);

		if ((c & 0xc0) != 0x80)
			units += c >= 0xf0 ? 2 : 1;
	}
	return units;
}

/* RFC 8785 section 3.2.3 wants UTF-16 order. In well-formed UTF-8 that is the
 * order of the bytes, but that a character beyond U+FFFF, which begins with F0
 * to F4, is a pair of surrogates and so goes before U+E000 to U+FFFF, which
 * begin with EE and EF. */
static uint8_t
rank(uint8_t c)
{
	if (c < 0xee || c > 0xf4)
		return c;
	return (uint8_t)(c >= 0xf0 ? c - 2 : c + 5);
}

uint8_t
ks_json_next_rank(struct ks_span *name)
{
	return name->len == 0 ? 0 : rank(take_byte(name));
}

int
ks_json_name_compare(struct ks_span a, struct ks_span b)
{
	while (a.len > 0 && b.len > 0) {
		uint8_t x = take_byte(&a);
		uint8_t y = take_byte(&b);

		if (x != y)
			return rank(x) < rank(y) ? -1 : 1;
	}
	return (a.len > 0) - (b.len > 0);
}

/* Numbers. */

double
ks_json_double(struct ks_span number)
{
	double value = 0;

	(void)ks_number_read(number, &value);
	return value;
}

bool
ks_json_integer(struct ks_span number, int64_t *out)
{
	bool negative = number.len > 0 && number.data[0] == '-';
	size_t i = negative ? 1 : 0;
	int64_t value = 0;

	*out = 0;
	if (number.len == i || number.len - i > INTEGER_DIGITS)
		return false;
	for (; i < number.len; i++) {
		if (number.data[i] < '0' || number.data[i] > '9')
			return false;
		value = 10 * value + (number.data[i] - '0');
	}
	if (value > INTEGER_MAX)
		return false;
	*out = negative ? -value : value;
	return true;
}

/* Objects. */

/* Append `"name":value`, after a comma unless it is the first member of the
 * object that began at `start`. */
static void
append_member(struct ks_buf *out, size_t start, struct ks_span name,
	struct ks_span value)
{
	ks_buf_text(out, out->len == start + 1 ? "\"" : ",\"");
	ks_buf_append(out, name);
	ks_buf_text(out, "\":");
	ks_buf_append(out, value);
}

void
ks_json_merge(struct ks_buf *out, struct ks_span base, struct ks_span over)
{
	struct ks_json_iter a = ks_json_iter(base);
	struct ks_json_iter b = ks_json_iter(over);
	struct ks_span a_name, a_value, b_name, b_value;
	bool has_a = ks_json_next_member(&a, &a_name, &a_value);
	bool has_b = ks_json_next_member(&b, &b_name, &b_value);
	size_t start = out->len;

	ks_buf_byte(out, '{');
	while (has_a || has_b) {
		int order = !has_a ? 1 : !has_b ? -1 :
			ks_json_name_compare(a_name, b_name);

		if (order < 0)
			append_member(out, start, a_name, a_value);
		else
			append_member(out, start, b_name, b_value);
		if (order <= 0)
			has_a = ks_json_next_member(&a, &a_name, &a_value);
		if (order >= 0)
			has_b = ks_json_next_member(&b, &b_name, &b_value);
	}
	ks_buf_byte(out, '}');
}

/* The order of a PostgreSQL jsonb column. */

static size_t
unescaped_length(struct ks_span raw)
{
	size_t bytes = 0;

	for (; raw.len > 0; bytes++)
		(void)take_byte(&raw);
	return bytes;
}

static int
compare_jsonb(const void *left, const void *right)
{
	const struct ks_json_member *a = left;
	const struct ks_json_member *b = right;
	struct ks_span a_name = a->name;
	struct ks_span b_name = b->name;

	if (a->name_bytes != b->name_bytes)
		return a->name_bytes < b->name_bytes ? -1 : 1;
	while (a_name.len > 0 && b_name.len > 0) {
		int order = take_byte(&a_name) - take_byte(&b_name);

		if (order != 0)
			return order;
	}
	return 0;
}

bool
ks_json_list_jsonb(struct ks_span object, struct ks_json_member **members,
	size_t *count)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_json_member *list;
	size_t i;

	*members = NULL;
	*count = 0;
	if (ks_json_type(object) == KS_JSON_OBJECT)
		*count = ks_json_count(object);
	if (*count == 0)
		return true;
	list = calloc(*count, sizeof(*list));
	if (list == NULL)
		return false;
	for (i = 0; i < *count; i++) {
		(void)ks_json_next_member(&it, &list[i].name, &list[i].value);
		list[i].name_bytes = unescaped_length(list[i].name);
	}
	qsort(list, *count, sizeof(*list), compare_jsonb);
	*members = list;
	return true;
}

static void
print_line_start(struct ks_buf *out, size_t level)
{
	ks_buf_byte(out, '\n');
	for (; level > 0; level--)
		ks_buf_text(out, "  ");
}

static void print_value(struct ks_buf *out, struct ks_span value,
	size_t level);

static void
print_object(struct ks_buf *out, struct ks_span object, size_t level)
{
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(object, &members, &count)) {
		out->failed = true;
		return;
	}
	ks_buf_byte(out, '{');
	for (i = 0; i < count; i++) {
		if (i > 0)
			ks_buf_byte(out, ',');
		print_line_start(out, level + 1);
		ks_buf_byte(out, '"');
		ks_buf_append(out, members[i].name);
		ks_buf_text(out, "\": ");
		print_value(out, members[i].value, level + 1);
	}
	print_line_start(out, level);
	ks_buf_byte(out, '}');
	free(members);
}

static void
print_array(struct ks_buf *out, struct ks_span array, size_t level)
{
	struct ks_json_iter it = ks_json_iter(array);
	struct ks_span element;
	const char *separator = "[";

	while (ks_json_next_element(&it, &element)) {
		ks_buf_text(out, separator);
		print_line_start(out, level + 1);
		print_value(out, element, level + 1);
		separator = ",";
	}
	print_line_start(out, level);
	ks_buf_byte(out, ']');
}

/* Scalars and empty containers stand on one line; so does what is nested
 * deeper than any text that was scanned. */
static void
print_value(struct ks_buf *out, struct ks_span value, size_t level)
{
	if (ks_json_count(value) == 0 || level >= INDENT_MAX)
		ks_buf_append(out, value);
	else if (ks_json_type(value) == KS_JSON_OBJECT)
		print_object(out, value, level);
	else
		print_array(out, value, level);
}

void
ks_json_print_jsonb(struct ks_buf *out, struct ks_span value)
{
	print_value(out, value, 0);
}
