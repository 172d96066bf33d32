/*
 * Reading canonical JSON in place.
 *
 * Everything that kistore works with is canonical text first (format/jcs.h):
 * a JSON value *is* the span of its canonical bytes, and a member or element
 * is a span inside it. So reading needs no tree and no memory: an iterator
 * steps from member to member. All functions here trust their input to be
 * RFC 8785 text that ks_jcs_scan() has produced or approved; on other bytes
 * their results are meaningless, but they never read outside the span.
 *
 *	struct ks_json_iter it = ks_json_iter(object);
 *	struct ks_span name, value;
 *	while (ks_json_next_member(&it, &name, &value))
 *		...
 *
 * Names come without their quotes but still escaped, as RFC 8785 writes them.
 */
#ifndef KS_FORMAT_JSON_H
#define KS_FORMAT_JSON_H

#include "base/buf.h"
#include "base/error.h"

enum ks_json_type {
	KS_JSON_NULL,
	KS_JSON_FALSE,
	KS_JSON_TRUE,
	KS_JSON_NUMBER,
	KS_JSON_STRING,
	KS_JSON_ARRAY,
	KS_JSON_OBJECT
};

/* The type of a value, from its first byte. */
enum ks_json_type ks_json_type(struct ks_span value);

/* "a string", "an object", …: for messages (static). */
const char *ks_json_type_name(enum ks_json_type type);

/* Where an iteration over the members or elements of a value stands. */
struct ks_json_iter {
	const uint8_t *at;
	const uint8_t *end;
};

/* Start over an object or array; any other value has no members. */
struct ks_json_iter ks_json_iter(struct ks_span value);

/* The next member or element; false at the end. */
bool ks_json_next_member(struct ks_json_iter *it, struct ks_span *name,
	struct ks_span *value);
bool ks_json_next_element(struct ks_json_iter *it, struct ks_span *value);

/* The member called `name` (plain ASCII, nothing to escape); false when it is
 * not there or `object` is not an object. */
bool ks_json_find(struct ks_span object, const char *name,
	struct ks_span *value);

/* The same as a value to look at next: an empty span, which has no members and
 * is no string, when there is no such member. And the characters of a member
 * that is a string, still escaped; empty when it is none. */
struct ks_span ks_json_get(struct ks_span object, const char *name);
struct ks_span ks_json_get_raw(struct ks_span object, const char *name);

/* How many members or elements a value has (0 for scalars). */
size_t ks_json_count(struct ks_span value);

/* How deeply values nest: 1 for a scalar or an empty container. */
size_t ks_json_depth(struct ks_span value);

/* Whether a value is the string `text` (plain ASCII, nothing to escape). */
bool ks_json_is(struct ks_span value, const char *text);

/* The characters between the quotes of a string, still escaped. */
struct ks_span ks_json_raw(struct ks_span string);

/* Append the unescaped characters of a string (or of an escaped name, which
 * has no quotes) as UTF-8. U+0000 becomes a NUL byte. */
void ks_json_unescape(struct ks_buf *out, struct ks_span raw);

/* Append `text` (well-formed UTF-8) as a JSON string with quotes, escaped as
 * RFC 8785 section 3.2.2.2 says. */
void ks_json_quote(struct ks_buf *out, struct ks_span text);

/* Write the escape that RFC 8785 section 3.2.2.2 has for `byte`, a control
 * character, quote or backslash, to `out`, which has room for 6 bytes.
 * Returns its length. */
size_t ks_json_escape(uint8_t byte, uint8_t *out);

/* Length of an escaped string in UTF-16 code units after unescaping. */
size_t ks_json_utf16_length(struct ks_span raw);

/* RFC 8785 section 3.2.3 order of two escaped names: by UTF-16 code units of
 * the unescaped text. <0, 0, >0. */
int ks_json_name_compare(struct ks_span a, struct ks_span b);

/* Take the first UTF-8 byte of the unescaped text off an escaped name and
 * return its rank, 0 at the end: where two names first differ in their ranks,
 * these decide ks_json_name_compare(). */
uint8_t ks_json_next_rank(struct ks_span *name);

/* A number's value. */
double ks_json_double(struct ks_span number);

/* A number that is an integer within +-(2^53 - 1); false for others. */
bool ks_json_integer(struct ks_span number, int64_t *out);

/* Append the object that has the members of `base` and of `over`, those of
 * `over` winning where both have a name. Either may be empty (no members).
 * The result is canonical when both are. */
void ks_json_merge(struct ks_buf *out, struct ks_span base,
	struct ks_span over);

/* A member of an object, in a list of them. */
struct ks_json_member {
	struct ks_span name;
	struct ks_span value;
	size_t name_bytes;	/* of the unescaped name */
};

/* List the members of `object` as a PostgreSQL jsonb column orders them:
 * shorter names first, then by bytes, both of the unescaped UTF-8. That is the
 * order of every map that KernelIndex shows. *members is for the caller to
 * free(). False when there is no memory for it. */
bool ks_json_list_jsonb(struct ks_span object,
	struct ks_json_member **members, size_t *count);

/* Append `value` with members in that order at every level, indented by two
 * spaces a level as JSON.stringify(value, null, 2) writes it. */
void ks_json_print_jsonb(struct ks_buf *out, struct ks_span value);

#endif
