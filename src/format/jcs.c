#include "format/jcs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/word.h"
#include "format/json.h"
#include "format/number.h"

#define DEPTH_MAX 1000	/* the scanner's own bound, whatever the policy */
#define ROOM 64		/* spare bytes behind what the output may still need */
#define PATH_TEXT 256	/* of a member path in a message */
#define NAME_TEXT 80	/* of one name in a message */
#define SHORT_INTEGER 15	/* digits that a double always holds */
#define RUN 8		/* members that are sorted by insertion */

const struct ks_jcs_policy ks_jcs_rfc8785 = {
	.max_bytes = 0,
	.max_depth = 0,
	.refuse_nul = false,
	.exact_numbers = false,
};

const struct ks_jcs_policy ks_jcs_manifest = {
	.max_bytes = 1048576,
	.max_depth = 64,
	.refuse_nul = true,
	.exact_numbers = true,
};

const struct ks_jcs_policy ks_jcs_row = {
	.max_bytes = 4194304,
	.max_depth = 68,
	.refuse_nul = true,
	.exact_numbers = true,
};

/* A member of an object that is still open. Its text in the output ends where
 * the next one's begins, but for the comma. */
struct member {
	uint64_t key;		/* name_key() of the name */
	size_t start;		/* of its text in the output: a quote */
	size_t name_len;	/* escaped, without quotes */
	size_t source;		/* of its name in the input: a quote */
};

/* A member's turn in the sorted object. */
struct turn {
	uint64_t key;
	size_t index;	/* among the object's members as they came */
};

/* A container that is still open. */
struct frame {
	size_t first;	/* an object's first member */
	size_t element;	/* index of an array's current element */
	uint8_t closer;	/* '}' or ']' */
	bool outside;	/* between members: no member is current */
	bool unsorted;	/* some member came before one it must follow */
};

struct ks_jcs {
	const uint8_t *text;	/* the input */
	const uint8_t *end;
	struct ks_buf *out;
	const struct ks_jcs_policy *policy;
	struct ks_error *err;
	enum ks_status status;

	struct member *members;	/* of all open objects, outermost first */
	size_t member_count;
	size_t member_cap;
	struct turn *turns;	/* two lists, for merging */
	size_t turn_cap;
	struct ks_buf moved;	/* members that change places */
	struct ks_buf canonical;	/* what a check compares with */

	size_t depth;		/* of open containers */
	size_t depth_max;
	struct frame frames[DEPTH_MAX];
};

/* Where scanning stands in the input and in the output. It is passed and
 * returned by value, so that it stays in registers; a NULL `in` is a failure
 * that the scanner has recorded. The output has at least ROOM bytes more left
 * than the input: nothing but a number can grow, and that sees to it. */
struct place {
	const uint8_t *in;
	uint8_t *out;
};

enum ks_status
ks_jcs_new(struct ks_jcs **out, struct ks_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? ks_fail_nomem(err) : KS_OK;
}

void
ks_jcs_free(struct ks_jcs *jcs)
{
	if (jcs == NULL)
		return;
	free(jcs->members);
	free(jcs->turns);
	ks_buf_release(&jcs->moved);
	ks_buf_release(&jcs->canonical);
	free(jcs);
}

/* Messages. */

static struct ks_span
member_name(const struct ks_jcs *jcs, const struct member *member)
{
	return ks_span(jcs->out->data + member->start + 1, member->name_len);
}

/* The current member of the frame at `level`, or NULL. */
static const struct member *
current_member(const struct ks_jcs *jcs, size_t level)
{
	size_t after = level + 1 < jcs->depth ? jcs->frames[level + 1].first :
		jcs->member_count;

	if (jcs->frames[level].outside || after == jcs->frames[level].first)
		return NULL;
	return &jcs->members[after - 1];
}

/* One step of a path: ".name" or "[7]"; empty when none is current. */
static void
print_step(const struct ks_jcs *jcs, size_t level, char *out, size_t size)
{
	const struct frame *frame = &jcs->frames[level];
	const struct member *member;
	char name[NAME_TEXT];

	out[0] = '\0';
	if (frame->closer == ']') {
		(void)snprintf(out, size, "[%zu]", frame->element);
		return;
	}
	member = current_member(jcs, level);
	if (member == NULL)
		return;
	(void)ks_printable(name, sizeof(name), member_name(jcs, member));
	(void)snprintf(out, size, "%s%s", level == 0 ? "" : ".",
		name[0] == '\0' ? "\"\"" : name);
}

/* " in spec.axes[2]", or nothing at the top. */
static void
print_path(const struct ks_jcs *jcs, char out[PATH_TEXT])
{
	static const char more[] = "...";
	char step[NAME_TEXT + 8];
	size_t used = 0;
	size_t level;

	out[0] = '\0';
	for (level = 0; level < jcs->depth; level++) {
		const char *lead = used == 0 ? " in " : "";
		size_t need;

		print_step(jcs, level, step, sizeof(step));
		if (step[0] == '\0')
			return;
		need = strlen(lead) + strlen(step);
		if (used + need + sizeof(more) > PATH_TEXT) {
			memcpy(out + used, more, sizeof(more));
			return;
		}
		used += (size_t)snprintf(out + used, PATH_TEXT - used, "%s%s",
			lead, step);
	}
}

static struct place refuse(struct ks_jcs *jcs, const uint8_t *at,
	const char *format, ...) KS_PRINTF(3, 4);

/* Refuse the input for what stands at `at`. */
static struct place
refuse(struct ks_jcs *jcs, const uint8_t *at, const char *format, ...)
{
	char path[PATH_TEXT];
	char rule[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(rule, sizeof(rule), format, args);
	va_end(args);
	print_path(jcs, path);
	jcs->status = ks_fail(jcs->err, KS_INVALID, "byte %zu%s: %s",
		(size_t)(at - jcs->text), path, rule);
	return (struct place){ .in = NULL, .out = NULL };
}

static struct place
refuse_end(struct ks_jcs *jcs, const char *inside)
{
	return refuse(jcs, jcs->end, "the text ends inside %s "
		"(RFC 8259 section 2)", inside);
}

/* Refuse what stands at `at`, where `wanted` should be: shows the word or the
 * single character found. */
static struct place
refuse_found(struct ks_jcs *jcs, const uint8_t *at, const char *wanted)
{
	char found[NAME_TEXT];
	size_t left = (size_t)(jcs->end - at);
	size_t n = 0;
	uint32_t c;

	while (n < left && n < 16 && ((uint8_t)((at[n] | 0x20) - 'a') < 26 ||
			(uint8_t)(at[n] - '+') < 15))
		n++;
	if (n == 0)
		n = ks_utf8_decode(ks_span(at, left), &c);
	if (n == 0)
		n = 1;
	(void)ks_printable(found, sizeof(found), ks_span(at, n));
	return refuse(jcs, at, "expected %s, found \"%s\" "
		"(RFC 8259 section 2)", wanted, found);
}

static struct place
out_of_memory(struct ks_jcs *jcs)
{
	jcs->status = ks_fail_nomem(jcs->err);
	return (struct place){ .in = NULL, .out = NULL };
}

/* White space. */

static bool
is_space(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline const uint8_t *
skip_space(const uint8_t *in, const uint8_t *end)
{
	while (in < end && *in <= ' ' && is_space(*in))
		in++;
	return in;
}

/* Strings. */

/* Copy what needs no closer look: ASCII but quotes, backslashes, controls. */
static inline struct place
copy_plain(struct place at, const uint8_t *end)
{
	while (end - at.in >= KS_WORD_BYTES) {
		uint64_t hits = ks_word_special(ks_word_load(at.in));
		size_t n = hits == 0 ? KS_WORD_BYTES : ks_word_first(hits);

		memcpy(at.out, at.in, KS_WORD_BYTES);
		at.in += n;
		at.out += n;
		if (hits != 0)
			return at;
	}
	while (at.in < end && *at.in >= 0x20 && *at.in < 0x80 &&
		*at.in != '"' && *at.in != '\\')
		*at.out++ = *at.in++;
	return at;
}

/* Write one character as RFC 8785 section 3.2.2.2 has it. */
static uint8_t *
put_character(uint8_t *out, uint32_t c)
{
	if (c < 0x20 || c == '"' || c == '\\')
		return out + ks_json_escape((uint8_t)c, out);
	return out + ks_utf8_encode(c, out);
}

static int
hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read the backslash, `u` and four digits at `in`, if they are there. */
static bool
read_unit(const uint8_t *in, const uint8_t *end, uint32_t *unit)
{
	size_t i;

	*unit = 0;
	if (end - in < 6 || in[0] != '\\' || in[1] != 'u')
		return false;
	for (i = 2; i < 6; i++) {
		int digit = hex_value(in[i]);

		if (digit < 0)
			return false;
		*unit = *unit << 4 | (uint32_t)digit;
	}
	return true;
}

/* Whether the text ends before the escape at `in` could be complete. */
static bool
breaks_off(const uint8_t *in, const uint8_t *end)
{
	return end - in < 6 && memchr(in, '"', (size_t)(end - in)) == NULL;
}

/* RFC 8259 section 7: a character by its UTF-16 code units. */
static struct place
copy_unicode_escape(struct ks_jcs *jcs, struct place at)
{
	const uint8_t *in = at.in + 6;
	uint32_t c, low;

	if (!read_unit(at.in, jcs->end, &c)) {
		if (breaks_off(at.in, jcs->end))
			return refuse_end(jcs, "an escape");
		return refuse(jcs, at.in, "\\u without four hexadecimal "
			"digits (RFC 8259 section 7)");
	}
	if (c >= 0xd800 && c < 0xe000) {
		if (c < 0xdc00 && breaks_off(in, jcs->end))
			return refuse_end(jcs, "an escape");
		if (c >= 0xdc00 || !read_unit(in, jcs->end, &low) ||
			low < 0xdc00 || low >= 0xe000)
			return refuse(jcs, at.in, "lone surrogate \\u%04x "
				"(RFC 8785 section 3.1)", (unsigned)c);
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		in += 6;
	}
	if (c == 0 && jcs->policy->refuse_nul)
		return refuse(jcs, at.in, "U+0000 in a string "
			"(store-layout.md, section \"intake\")");
	at.in = in;
	at.out = put_character(at.out, c);
	return at;
}

static struct place
copy_escape(struct ks_jcs *jcs, struct place at)
{
	if (jcs->end - at.in < 2)
		return refuse_end(jcs, "an escape");
	switch (at.in[1]) {
	case '"':
	case '\\':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		memcpy(at.out, at.in, 2);
		at.in += 2;
		at.out += 2;
		return at;
	case '/':
		*at.out++ = '/';
		at.in += 2;
		return at;
	case 'u':
		return copy_unicode_escape(jcs, at);
	default:
		return refuse(jcs, at.in, "unknown escape in a string "
			"(RFC 8259 section 7)");
	}
}

/* Copy one character that copy_plain() stopped at and that ends nothing. */
static struct place
copy_special(struct ks_jcs *jcs, struct place at)
{
	uint32_t c;
	size_t n;

	if (*at.in == '\\')
		return copy_escape(jcs, at);
	if (*at.in < 0x20)
		return refuse(jcs, at.in, "control character 0x%02x in a "
			"string, not escaped (RFC 8259 section 7)", *at.in);
	n = ks_utf8_decode(ks_span(at.in, (size_t)(jcs->end - at.in)), &c);
	if (n == 0)
		return refuse(jcs, at.in, "ill-formed UTF-8 "
			"(RFC 3629 section 3)");
	memcpy(at.out, at.in, n);
	at.in += n;
	at.out += n;
	return at;
}

static inline struct place
copy_string(struct ks_jcs *jcs, struct place at)
{
	*at.out++ = *at.in++;
	for (;;) {
		at = copy_plain(at, jcs->end);
		if (at.in == jcs->end)
			return refuse_end(jcs, "a string");
		if (*at.in == '"')
			break;
		at = copy_special(jcs, at);
		if (at.in == NULL)
			return at;
	}
	*at.out++ = *at.in++;
	return at;
}

/* Numbers and words. */

static inline const uint8_t *
skip_digits(const uint8_t *in, const uint8_t *end)
{
	while (in < end && (uint8_t)(*in - '0') < 10)
		in++;
	return in;
}

/* Refuse a number that breaks off at `at`, where a digit must stand. */
static struct place
refuse_number(struct ks_jcs *jcs, const uint8_t *at)
{
	if (at == jcs->end)
		return refuse_end(jcs, "a number");
	return refuse_found(jcs, at, "a digit");
}

/* Refuse a number that has no place in the output, or would silently become
 * another one, `text`. */
static struct place
refuse_value(struct ks_jcs *jcs, const uint8_t *at, size_t len,
	enum ks_number_kind kind, struct ks_span text)
{
	char literal[NAME_TEXT];

	(void)ks_printable(literal, sizeof(literal), ks_span(at, len));
	if (kind == KS_NUMBER_OVERFLOW)
		return refuse(jcs, at, "number %s is too large for a double "
			"(RFC 8785 section 3.2.2.3)", literal);
	return refuse(jcs, at, "number %s would become %.*s "
		"(store-layout.md, section \"intake\")", literal,
		(int)text.len, (const char *)text.data);
}

/* Rewrite the literal of which `len` bytes stand at at.in (RFC 8785 section
 * 3.2.2.3). Here the output may grow beyond the input. */
static struct place
rewrite_number(struct ks_jcs *jcs, struct place at, size_t len)
{
	char text[KS_NUMBER_TEXT_MAX];
	size_t n = 0;
	enum ks_number_kind kind = ks_number_canonical(ks_span(at.in, len),
		text, &n);

	if (kind == KS_NUMBER_OVERFLOW ||
		(kind != KS_NUMBER_OK && jcs->policy->exact_numbers))
		return refuse_value(jcs, at.in, len, kind, ks_span(text, n));
	at.in += len;
	if (n > len) {
		size_t need = n + ROOM + (size_t)(jcs->end - at.in);

		jcs->out->len = (size_t)(at.out - jcs->out->data);
		at.out = ks_buf_reserve(jcs->out, need);
		if (at.out == NULL)
			return out_of_memory(jcs);
	}
	memcpy(at.out, text, n);
	at.out += n;
	return at;
}

/* The fraction and exponent of the number at at.in, whose integer part ends
 * at `in`. */
static struct place
copy_real(struct ks_jcs *jcs, struct place at, const uint8_t *in)
{
	const uint8_t *digits;

	if (in < jcs->end && *in == '.') {
		digits = in + 1;
		in = skip_digits(digits, jcs->end);
		if (in == digits)
			return refuse_number(jcs, in);
	}
	if (in < jcs->end && (*in | 0x20) == 'e') {
		in++;
		if (in < jcs->end && (*in == '+' || *in == '-'))
			in++;
		digits = in;
		in = skip_digits(digits, jcs->end);
		if (in == digits)
			return refuse_number(jcs, in);
	}
	return rewrite_number(jcs, at, (size_t)(in - at.in));
}

/* RFC 8259 section 6. Most numbers are short integers and stay as they are. */
static struct place
copy_number(struct ks_jcs *jcs, struct place at)
{
	const uint8_t *digits = at.in + (*at.in == '-');
	const uint8_t *in = skip_digits(digits, jcs->end);
	size_t len = (size_t)(in - at.in);

	if (in == digits)
		return refuse_number(jcs, in);
	if (*digits == '0' && in - digits > 1)
		return refuse(jcs, at.in, "leading zero in a number "
			"(RFC 8259 section 6)");
	if ((in < jcs->end && (*in == '.' || (*in | 0x20) == 'e')) ||
		in - digits > SHORT_INTEGER || (*digits == '0' && len > 1))
		return copy_real(jcs, at, in);
	memcpy(at.out, at.in, len);
	at.in = in;
	at.out += len;
	return at;
}

/* Copy `word`, or refuse another one that begins with the same letter. */
static inline struct place
copy_word(struct ks_jcs *jcs, struct place at, const char *word, size_t len)
{
	size_t left = (size_t)(jcs->end - at.in);

	if (left >= len && memcmp(at.in, word, len) == 0) {
		memcpy(at.out, word, len);
		at.in += len;
		at.out += len;
		return at;
	}
	if (left < len && memcmp(at.in, word, left) == 0)
		return refuse_end(jcs, "a word");
	return refuse_found(jcs, at.in, "a value");
}

static inline struct place
copy_scalar(struct ks_jcs *jcs, struct place at)
{
	switch (*at.in) {
	case '"':
		return copy_string(jcs, at);
	case 't':
		return copy_word(jcs, at, "true", 4);
	case 'f':
		return copy_word(jcs, at, "false", 5);
	case 'n':
		return copy_word(jcs, at, "null", 4);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return copy_number(jcs, at);
	default:
		return refuse_found(jcs, at.in, "a value");
	}
}

/* Members and their order. */

/* The first eight bytes of a name that has escapes or is not ASCII, each
 * ranked so that names with different keys are in the order of their keys. */
static uint64_t
ranked_key(struct ks_span name)
{
	uint64_t key = 0;
	size_t i;

	for (i = 0; i < KS_WORD_BYTES; i++)
		key = key << 8 | ks_json_next_rank(&name);
	return key;
}

/* A number that orders names as far as their first eight bytes decide it
 * (RFC 8785 section 3.2.3). `name` has at least eight readable bytes. */
static inline uint64_t
name_key(const uint8_t *name, size_t len)
{
	uint64_t word = ks_word_load(name);

	if (len < KS_WORD_BYTES)
		word &= (UINT64_C(1) << 8 * len) - 1;
	if ((word & KS_WORD_HIGHS) != 0 || ks_word_equal(word, '\\') != 0)
		return ranked_key(ks_span(name, len));
	return ks_word_swap(word);
}

/* <0, 0, >0 as member a's name sorts before, as, after that of b. */
static inline int
compare_members(const struct ks_jcs *jcs, const struct member *a,
	const struct member *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return ks_json_name_compare(member_name(jcs, a), member_name(jcs, b));
}

static struct place
refuse_duplicate(struct ks_jcs *jcs, const struct member *member)
{
	char name[NAME_TEXT];

	(void)ks_printable(name, sizeof(name), member_name(jcs, member));
	jcs->frames[jcs->depth - 1].outside = true;
	return refuse(jcs, jcs->text + member->source,
		"duplicate member name \"%s\" (RFC 8785 section 3.1)", name);
}

static struct member *
push_member(struct ks_jcs *jcs)
{
	if (jcs->member_count == jcs->member_cap) {
		size_t cap = jcs->member_cap == 0 ? 64 : 2 * jcs->member_cap;
		struct member *grown = NULL;

		if (cap <= SIZE_MAX / sizeof(*grown))
			grown = realloc(jcs->members, cap * sizeof(*grown));
		if (grown == NULL)
			return NULL;
		jcs->members = grown;
		jcs->member_cap = cap;
	}
	return &jcs->members[jcs->member_count++];
}

/* Note the member whose name begins at `source` and was copied to `start`.
 * While names come in order, a repeated one is next to its like; once they do
 * not, both wait for the sort. */
static inline struct place
add_member(struct ks_jcs *jcs, const uint8_t *source, size_t start,
	struct place at)
{
	struct frame *top = &jcs->frames[jcs->depth - 1];
	struct member *member = push_member(jcs);
	const uint8_t *name = jcs->out->data + start + 1;
	int order;

	if (member == NULL)
		return out_of_memory(jcs);
	member->start = start;
	member->source = (size_t)(source - jcs->text);
	member->name_len = (size_t)(at.out - name) - 1;
	member->key = name_key(name, member->name_len);
	if (top->unsorted || member == &jcs->members[top->first])
		return at;
	order = compare_members(jcs, member - 1, member);
	if (order == 0)
		return refuse_duplicate(jcs, member);
	top->unsorted = order > 0;
	return at;
}

/* Copy a member's name and the colon. */
static inline struct place
copy_name(struct ks_jcs *jcs, struct place at)
{
	struct frame *top = &jcs->frames[jcs->depth - 1];
	size_t start = (size_t)(at.out - jcs->out->data);
	const uint8_t *source;

	top->outside = true;
	at.in = source = skip_space(at.in, jcs->end);
	if (at.in == jcs->end)
		return refuse_end(jcs, "an object");
	if (*at.in != '"')
		return refuse_found(jcs, at.in, "a member name");
	memset(at.out, 0, 1 + KS_WORD_BYTES);	/* name_key() reads them */
	at = copy_string(jcs, at);
	if (at.in == NULL)
		return at;
	at = add_member(jcs, source, start, at);
	if (at.in == NULL)
		return at;
	top->outside = false;
	at.in = skip_space(at.in, jcs->end);
	if (at.in == jcs->end)
		return refuse_end(jcs, "an object");
	if (*at.in != ':')
		return refuse_found(jcs, at.in, "':'");
	*at.out++ = *at.in++;
	return at;
}

static bool
turn_follows(const struct ks_jcs *jcs, const struct member *members,
	const struct turn *a, const struct turn *b)
{
	if (a->key != b->key)
		return a->key > b->key;
	return compare_members(jcs, &members[a->index],
		&members[b->index]) > 0;
}

static void
insertion_sort(const struct ks_jcs *jcs, const struct member *members,
	struct turn *turns, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++) {
		struct turn turn = turns[i];
		size_t k = i;

		for (; k > 0 && turn_follows(jcs, members, &turns[k - 1],
				&turn); k--)
			turns[k] = turns[k - 1];
		turns[k] = turn;
	}
}

/* Merge the sorted from[0..half) and from[half..count) into `to`, the earlier
 * of equal names first. */
static void
merge(const struct ks_jcs *jcs, const struct member *members,
	const struct turn *from, size_t half, size_t count, struct turn *to)
{
	size_t a = 0;
	size_t b = half;

	while (a < half && b < count) {
		bool second = turn_follows(jcs, members, &from[a], &from[b]);

		*to++ = second ? from[b++] : from[a++];
	}
	memcpy(to, from + a, (half - a) * sizeof(*to));
	memcpy(to + (half - a), from + b, (count - b) * sizeof(*to));
}

/* Sort `count` turns with the help of as many more behind them; returns which
 * of the two lists holds the result. Stable, n log n. */
static struct turn *
merge_sort(const struct ks_jcs *jcs, const struct member *members,
	struct turn *turns, size_t count)
{
	struct turn *from = turns;
	struct turn *to = turns + count;
	size_t width, i;

	for (i = 0; i < count; i += RUN)
		insertion_sort(jcs, members, from + i,
			count - i < RUN ? count - i : RUN);
	for (width = RUN; width < count; width *= 2) {
		struct turn *swap = from;

		for (i = 0; i < count; i += 2 * width) {
			size_t left = count - i;
			size_t n = left < 2 * width ? left : 2 * width;

			merge(jcs, members, from + i, n < width ? n : width, n,
				to + i);
		}
		from = to;
		to = swap;
	}
	return from;
}

/* The sorted turns of an object's members; NULL when out of memory. */
static struct turn *
sort_members(struct ks_jcs *jcs, const struct member *members, size_t count)
{
	size_t i;

	if (2 * count > jcs->turn_cap) {
		struct turn *grown = NULL;

		if (count <= SIZE_MAX / sizeof(*grown) / 2)
			grown = realloc(jcs->turns,
				2 * count * sizeof(*grown));
		if (grown == NULL)
			return NULL;
		jcs->turns = grown;
		jcs->turn_cap = 2 * count;
	}
	for (i = 0; i < count; i++)
		jcs->turns[i] = (struct turn){ .key = members[i].key,
			.index = i };
	return merge_sort(jcs, members, jcs->turns, count);
}

/* The first member in the input whose name an earlier one has, or NULL. */
static const struct member *
find_duplicate(const struct ks_jcs *jcs, const struct member *members,
	const struct turn *turns, size_t count)
{
	const struct member *found = NULL;
	size_t i;

	for (i = 1; i < count; i++) {
		const struct member *member = &members[turns[i].index];

		if (turns[i - 1].key != turns[i].key || compare_members(jcs,
				&members[turns[i - 1].index], member) != 0)
			continue;
		if (found == NULL || member->source < found->source)
			found = member;
	}
	return found;
}

/* Write an object's members in the order of `turns`, which is not the order
 * they came in. Those at the front that need not move are left alone. */
static struct place
permute_members(struct ks_jcs *jcs, const struct member *members,
	const struct turn *turns, size_t count, struct place at)
{
	size_t end = (size_t)(at.out - jcs->out->data);
	size_t i = 0;
	size_t start;
	uint8_t *from, *to;

	while (turns[i].index == i)
		i++;
	start = members[i].start;
	ks_buf_clear(&jcs->moved);
	from = ks_buf_reserve(&jcs->moved, end - start);
	if (from == NULL)
		return out_of_memory(jcs);
	to = jcs->out->data + start;
	memcpy(from, to, end - start);
	for (; i < count; i++) {
		size_t k = turns[i].index;
		size_t next = k + 1 < count ? members[k + 1].start - 1 : end;
		size_t len = next - members[k].start;

		memcpy(to, from + (members[k].start - start), len);
		to += len;
		if (i + 1 < count)
			*to++ = ',';
	}
	return at;
}

/* Bring an object's members into order, now that it is complete. */
static struct place
order_members(struct ks_jcs *jcs, struct place at)
{
	size_t first = jcs->frames[jcs->depth - 1].first;
	const struct member *members = jcs->members + first;
	size_t count = jcs->member_count - first;
	const struct turn *turns = sort_members(jcs, members, count);
	const struct member *duplicate;

	if (turns == NULL)
		return out_of_memory(jcs);
	duplicate = find_duplicate(jcs, members, turns, count);
	if (duplicate != NULL)
		return refuse_duplicate(jcs, duplicate);
	return permute_members(jcs, members, turns, count, at);
}

/* Containers. */

/* Copy the opening bracket; at.in is then at what follows it. */
static inline struct place
open_container(struct ks_jcs *jcs, struct place at)
{
	struct frame *top = &jcs->frames[jcs->depth++];
	bool is_object = *at.in == '{';

	top->first = jcs->member_count;
	top->element = 0;
	top->closer = is_object ? '}' : ']';
	top->outside = true;
	top->unsorted = false;
	*at.out++ = *at.in++;
	at.in = skip_space(at.in, jcs->end);
	if (at.in == jcs->end)
		return refuse_end(jcs, is_object ? "an object" : "an array");
	return at;
}

/* Stand before the first value of a container that is not empty. */
static inline struct place
enter_container(struct ks_jcs *jcs, struct place at)
{
	if (jcs->depth >= jcs->depth_max)
		return refuse(jcs, at.in, "nesting deeper than %zu "
			"(store-layout.md, section \"intake\")",
			jcs->depth_max);
	if (jcs->frames[jcs->depth - 1].closer == '}')
		return copy_name(jcs, at);
	return at;
}

static inline struct place
close_container(struct ks_jcs *jcs, struct place at)
{
	struct frame *top = &jcs->frames[jcs->depth - 1];

	if (top->unsorted) {
		at = order_members(jcs, at);
		if (at.in == NULL)
			return at;
	}
	jcs->member_count = top->first;
	jcs->depth--;
	*at.out++ = *at.in++;
	return at;
}

/* Read on to the first scalar or empty container: `[{"a":1`. Of an empty
 * container the closing bracket is left. */
static inline struct place
descend(struct ks_jcs *jcs, struct place at)
{
	for (;;) {
		at.in = skip_space(at.in, jcs->end);
		if (at.in == jcs->end)
			return refuse_end(jcs, "a value");
		if (*at.in != '{' && *at.in != '[')
			return copy_scalar(jcs, at);
		at = open_container(jcs, at);
		if (at.in == NULL ||
			*at.in == jcs->frames[jcs->depth - 1].closer)
			return at;
		at = enter_container(jcs, at);
		if (at.in == NULL)
			return at;
	}
}

/* Close what ends here and stand before the next value, if there is one. */
static inline struct place
ascend(struct ks_jcs *jcs, struct place at)
{
	while (jcs->depth > 0) {
		struct frame *top = &jcs->frames[jcs->depth - 1];
		bool is_object = top->closer == '}';

		at.in = skip_space(at.in, jcs->end);
		if (at.in == jcs->end)
			return refuse_end(jcs,
				is_object ? "an object" : "an array");
		if (*at.in == ',') {
			*at.out++ = *at.in++;
			top->element++;
			return is_object ? copy_name(jcs, at) : at;
		}
		if (*at.in != top->closer)
			return refuse_found(jcs, at.in,
				is_object ? "',' or '}'" : "',' or ']'");
		at = close_container(jcs, at);
		if (at.in == NULL)
			return at;
	}
	return at;
}

/* The whole text. */

static bool
starts_with(const struct ks_jcs *jcs, const char *bytes, size_t len)
{
	return (size_t)(jcs->end - jcs->text) >= len &&
		memcmp(jcs->text, bytes, len) == 0;
}

/* A JSON text begins with an ASCII character, so a zero byte in its first two
 * gives UTF-16 and UTF-32 away. */
static bool
is_wide(const struct ks_jcs *jcs)
{
	size_t len = (size_t)(jcs->end - jcs->text);

	return starts_with(jcs, "\xfe\xff", 2) ||
		starts_with(jcs, "\xff\xfe", 2) || (len >= 2 && len % 2 == 0 &&
			(jcs->text[0] == 0 || jcs->text[1] == 0));
}

/* Name what is wrong with a text as a whole. */
static struct place
check_encoding(struct ks_jcs *jcs, struct place at)
{
	size_t max = jcs->policy->max_bytes;

	if (max != 0 && (size_t)(jcs->end - jcs->text) > max)
		return refuse(jcs, jcs->text + max, "text longer than %zu "
			"bytes (store-layout.md, section \"intake\")", max);
	if (starts_with(jcs, "\xef\xbb\xbf", 3))
		return refuse(jcs, jcs->text, "byte order mark "
			"(RFC 8259 section 8.1)");
	if (is_wide(jcs))
		return refuse(jcs, jcs->text, "UTF-16 or UTF-32 instead of "
			"UTF-8 (RFC 8259 section 8.1)");
	if (skip_space(jcs->text, jcs->end) == jcs->end)
		return refuse(jcs, jcs->end, "empty text, expected a value "
			"(RFC 8259 section 2)");
	return at;
}

static struct place
scan_text(struct ks_jcs *jcs, struct place at)
{
	at = check_encoding(jcs, at);
	if (at.in == NULL)
		return at;
	do {
		at = descend(jcs, at);
		if (at.in != NULL)
			at = ascend(jcs, at);
		if (at.in == NULL)
			return at;
	} while (jcs->depth > 0);
	at.in = skip_space(at.in, jcs->end);
	if (at.in != jcs->end)
		return refuse(jcs, at.in, "text after the value "
			"(RFC 8259 section 2)");
	return at;
}

/* Ready the scanner for a new text. */
static void
begin(struct ks_jcs *jcs, struct ks_span text,
	const struct ks_jcs_policy *policy, struct ks_buf *out,
	struct ks_error *err)
{
	jcs->text = text.data;
	jcs->end = text.data + text.len;
	jcs->out = out;
	jcs->policy = policy;
	jcs->err = err;
	jcs->status = KS_OK;
	jcs->member_count = 0;
	jcs->depth = 0;
	jcs->depth_max = policy->max_depth;
	if (jcs->depth_max == 0 || jcs->depth_max > DEPTH_MAX)
		jcs->depth_max = DEPTH_MAX;
}

enum ks_status
ks_jcs_scan(struct ks_jcs *jcs, struct ks_span text,
	const struct ks_jcs_policy *policy, struct ks_buf *out,
	struct ks_error *err)
{
	static const uint8_t nothing[1];
	size_t before = out->len;
	size_t max = policy->max_bytes;
	struct place at;
	size_t len;

	if (text.len == 0)
		text.data = nothing;
	begin(jcs, text, policy, out, err);
	at.in = text.data;
	at.out = ks_buf_reserve(out, text.len + ROOM);
	if (at.out == NULL)
		return ks_fail_nomem(err);
	at = scan_text(jcs, at);
	out->len = before;
	if (at.in == NULL)
		return jcs->status;
	len = (size_t)(at.out - out->data) - before;
	if (max != 0 && len > max)
		return ks_fail(err, KS_INVALID, "byte %zu: canonical form of "
			"%zu bytes, longer than %zu (store-layout.md, section "
			"\"intake\")", text.len, len, max);
	out->len = before + len;
	return KS_OK;
}

static size_t
first_difference(struct ks_span a, struct ks_span b)
{
	size_t i = 0;

	while (i < a.len && i < b.len && a.data[i] == b.data[i])
		i++;
	return i;
}

enum ks_status
ks_jcs_check(struct ks_jcs *jcs, struct ks_span text,
	const struct ks_jcs_policy *policy, struct ks_error *err)
{
	struct ks_span canonical;
	enum ks_status status;

	ks_buf_clear(&jcs->canonical);
	status = ks_jcs_scan(jcs, text, policy, &jcs->canonical, err);
	if (status != KS_OK)
		return status;
	canonical = ks_buf_span(&jcs->canonical);
	if (ks_span_equal(text, canonical))
		return KS_OK;
	return ks_fail(err, KS_INVALID, "byte %zu: not in canonical form "
		"(RFC 8785 section 3.2)", first_difference(text, canonical));
}
