#include "format/kind_shape.h"

#include <stdio.h>

#include "base/base64.h"
#include "base/hex.h"
#include "format/id.h"
#include "format/json.h"
#include "format/kind.h"
#include "format/number.h"

#define URL_MAX 2000
#define DURATION_MAX INT64_C(9007199254740991)	/* 2^53 - 1 */
#define LATENCY_DIGITS 400	/* more than any double needs in ns */

static bool
is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool
is_hex(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

bool
ks_shape_token(struct ks_span raw)
{
	size_t i;

	if (raw.len == 0 || !is_lower(raw.data[0]))
		return false;
	for (i = 1; i < raw.len; i++) {
		uint8_t c = raw.data[i];

		if (!is_lower(c) && !is_digit(c) && c != '_')
			return false;
	}
	return true;
}

/* A letter or digit first, then also the characters in `more`. */
static bool
is_identifier(struct ks_span raw, size_t max, const char *more)
{
	size_t i;

	if (raw.len == 0 || raw.len > max)
		return false;
	for (i = 0; i < raw.len; i++) {
		uint8_t c = raw.data[i];

		if (is_lower(c) || is_digit(c))
			continue;
		if (i == 0 || c == '\0' || strchr(more, c) == NULL)
			return false;
	}
	return true;
}

bool
ks_shape_slug(struct ks_span raw)
{
	return is_identifier(raw, 100, "-");
}

bool
ks_shape_name(struct ks_span raw)
{
	return is_identifier(raw, 200, "._-");
}

static bool
is_all_hex(const uint8_t *digits, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!is_hex(digits[i]))
			return false;
	}
	return true;
}

bool
ks_shape_digest(struct ks_span raw)
{
	return raw.len == KS_ID_TEXT && memcmp(raw.data, "sha256:", 7) == 0 &&
		is_all_hex(raw.data + 7, KS_ID_HEX);
}

bool
ks_shape_commit(struct ks_span raw)
{
	return raw.len == 40 && is_all_hex(raw.data, raw.len);
}

bool
ks_shape_expression(struct ks_span raw)
{
	size_t i;

	if (raw.len == 0 || raw.len > 200)
		return false;
	for (i = 0; i < raw.len; i++) {
		uint8_t c = raw.data[i];

		if (is_lower(c) || is_digit(c))
			continue;
		if (c == '\0' || strchr("_+-*%/() ", c) == NULL)
			return false;
	}
	return true;
}

bool
ks_shape_base64(struct ks_span raw)
{
	size_t len;

	return ks_base64_check(raw, &len);
}

bool
ks_shape_is_within(struct ks_span raw, int64_t max)
{
	/* No UTF-16 code unit is written with less than one byte. */
	return raw.len <= (uint64_t)max ||
		ks_json_utf16_length(raw) <= (uint64_t)max;
}

/* Take two decimal digits off the front; -1 when they are not there. */
static int
take_pair(struct ks_span *rest)
{
	int value;

	if (rest->len < 2 || !is_digit(rest->data[0]) ||
		!is_digit(rest->data[1]))
		return -1;
	value = (rest->data[0] - '0') * 10 + (rest->data[1] - '0');
	*rest = ks_span(rest->data + 2, rest->len - 2);
	return value;
}

/* Take `c` off the front. */
static bool
take(struct ks_span *rest, uint8_t c)
{
	if (rest->len == 0 || rest->data[0] != c)
		return false;
	*rest = ks_span(rest->data + 1, rest->len - 1);
	return true;
}

static int
days_in(int year, int month)
{
	static const int days[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return month == 2 && leap ? 29 : days[month - 1];
}

/* "YYYY-MM-DD" off the front, a day that the calendar has. */
static bool
take_date(struct ks_span *rest)
{
	int century = take_pair(rest);
	int year = take_pair(rest);
	int month, day;

	if (century < 0 || year < 0 || !take(rest, '-'))
		return false;
	month = take_pair(rest);
	if (month < 1 || month > 12 || !take(rest, '-'))
		return false;
	day = take_pair(rest);
	return day >= 1 && day <= days_in(century * 100 + year, month);
}

/* "HH:MM", then perhaps ":SS", then perhaps a fraction. */
static bool
take_clock(struct ks_span *rest)
{
	int hour = take_pair(rest);
	int minute, second;

	if (hour < 0 || hour > 23 || !take(rest, ':'))
		return false;
	minute = take_pair(rest);
	if (minute < 0 || minute > 59)
		return false;
	if (!take(rest, ':'))
		return true;
	second = take_pair(rest);
	if (second < 0 || second > 59)
		return false;
	if (!take(rest, '.'))
		return true;
	if (rest->len == 0 || !is_digit(rest->data[0]))
		return false;
	while (rest->len > 0 && is_digit(rest->data[0]))
		*rest = ks_span(rest->data + 1, rest->len - 1);
	return true;
}

bool
ks_shape_instant(struct ks_span raw)
{
	return take_date(&raw) && take(&raw, 'T') && take_clock(&raw) &&
		take(&raw, 'Z') && raw.len == 0;
}

/* The power of ten that turns the unit in `unit` into nanoseconds, or -1. */
static int
unit_scale(struct ks_span unit)
{
	if (ks_span_is(unit, "ns"))
		return 0;
	if (ks_span_is(unit, "us") || ks_span_is(unit, "\xc2\xb5s"))
		return 3;
	if (ks_span_is(unit, "ms"))
		return 6;
	return ks_span_is(unit, "s") ? 9 : -1;
}

/* Take the decimal digits off the front. */
static struct ks_span
take_digits(struct ks_span *rest)
{
	size_t n = 0;
	struct ks_span digits;

	while (n < rest->len && is_digit(rest->data[n]))
		n++;
	digits = ks_span(rest->data, n);
	*rest = ks_span(rest->data + n, rest->len - n);
	return digits;
}

/* Take one blank off the front: a space, an escaped tab, or U+00A0. */
static void
take_blank(struct ks_span *rest)
{
	bool two = rest->len >= 2 && (memcmp(rest->data, "\\t", 2) == 0 ||
		memcmp(rest->data, "\xc2\xa0", 2) == 0);

	if (two)
		*rest = ks_span(rest->data + 2, rest->len - 2);
	else
		(void)take(rest, ' ');
}

/* value * 10 + digit, unless that is too much. */
static bool
shift_in(int64_t *value, int digit)
{
	if (*value > (DURATION_MAX - digit) / 10)
		return false;
	*value = *value * 10 + digit;
	return true;
}

/* whole.fraction * 10^scale as an exact integer. */
static bool
scale_exactly(struct ks_span whole, struct ks_span fraction, int scale,
	int64_t *out)
{
	int64_t value = 0;
	size_t i;

	for (i = 0; i < whole.len; i++) {
		if (!shift_in(&value, whole.data[i] - '0'))
			return false;
	}
	for (i = 0; i < (size_t)scale; i++) {
		int digit = i < fraction.len ? fraction.data[i] - '0' : 0;

		if (!shift_in(&value, digit))
			return false;
	}
	for (; i < fraction.len; i++) {
		if (fraction.data[i] != '0')
			return false;
	}
	*out = value;
	return true;
}

/* Take apart a duration: its digits, and the power of ten of its unit. */
static bool
split_duration(struct ks_span raw, struct ks_span *whole,
	struct ks_span *fraction, int *scale)
{
	*whole = take_digits(&raw);
	*fraction = ks_span(NULL, 0);
	if (whole->len == 0)
		return false;
	if (take(&raw, '.')) {
		*fraction = take_digits(&raw);
		if (fraction->len == 0)
			return false;
	}
	take_blank(&raw);
	*scale = unit_scale(raw);
	return *scale >= 0;
}

bool
ks_shape_duration(struct ks_span raw, int64_t *nanoseconds)
{
	struct ks_span whole, fraction;
	int scale;

	return split_duration(raw, &whole, &fraction, &scale) &&
		scale_exactly(whole, fraction, scale, nanoseconds);
}

bool
ks_shape_latency(struct ks_span raw, double *nanoseconds)
{
	struct ks_span whole, fraction;
	char literal[LATENCY_DIGITS + 8];
	int scale, len;

	if (!split_duration(raw, &whole, &fraction, &scale) ||
		whole.len + fraction.len > LATENCY_DIGITS)
		return false;
	/* A JSON number begins with no zero that says nothing. */
	while (whole.len > 1 && whole.data[0] == '0')
		whole = ks_span(whole.data + 1, whole.len - 1);
	len = snprintf(literal, sizeof(literal), "%.*s%s%.*se%d",
		(int)whole.len, (const char *)whole.data,
		fraction.len > 0 ? "." : "", (int)fraction.len,
		fraction.len > 0 ? (const char *)fraction.data : "", scale);
	return ks_number_read(ks_span(literal, (size_t)len), nanoseconds) ==
		KS_NUMBER_OK;
}

/* Take one character off an escaped text, unescaped; above 0x7f a byte of
 * UTF-8 stands for itself. -1 at the end. */
static int
take_unescaped(struct ks_span *rest)
{
	uint8_t c;
	size_t used = 1;

	if (rest->len == 0)
		return -1;
	c = rest->data[0];
	if (c == '\\' && rest->len >= 2) {
		used = 2;
		c = rest->data[1];
		if (c == 'u' && rest->len >= 6) {
			/* RFC 8785 escapes only U+0000 to U+001F so. */
			used = 6;
			c = (uint8_t)(((unsigned)ks_hex_value(rest->data[4])
				<< 4 | (unsigned)ks_hex_value(rest->data[5])) &
				0x1f);
		} else if (c != '\\' && c != '"') {
			c = c == 't' || c == 'n' || c == 'r' ? '\t' : '\f';
		}
	}
	*rest = ks_span(rest->data + used, rest->len - used);
	return c;
}

/* The same, without the tabs and line ends that a URL parser removes (all of
 * them are '\t' here). */
static int
url_next(struct ks_span *rest)
{
	int c;

	do {
		c = take_unescaped(rest);
	} while (c == '\t');
	return c;
}

/* Whether nothing but C0 controls and spaces is left, which a URL parser
 * strips. */
static bool
url_at_end(struct ks_span rest)
{
	int c;

	do {
		c = take_unescaped(&rest);
	} while (c >= 0 && c <= ' ');
	return c < 0;
}

/* Take "https:" in any case, after leading C0 controls and spaces. */
static bool
take_https(struct ks_span *rest)
{
	static const char scheme[] = "https:";
	const char *want;
	int c;

	do {
		c = url_next(rest);
	} while (c >= 0 && c <= ' ');
	for (want = scheme; *want != '\0'; want++) {
		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		if (c != *want)
			return false;
		if (want[1] != '\0')
			c = url_next(rest);
	}
	return true;
}

static bool
is_slash(int c)
{
	return c == '/' || c == '\\';
}

/* "Forbidden domain code points" of the URL standard, but '%', which may
 * start an escape, and those that end a host or hold an IPv6 address. */
static bool
is_forbidden_in_host(int c)
{
	return c <= ' ' || c == 0x7f ||
		(c < 0x80 && strchr("<>^|", c) != NULL);
}

/* What is known of an authority while reading it. */
struct authority {
	size_t host;		/* characters of the host */
	unsigned port;
	bool in_port, in_brackets;
	bool bad;
};

static void
authority_add(struct authority *a, int c)
{
	if (c == '@') {		/* what came before was user information */
		*a = (struct authority){ .host = 0 };
	} else if (a->in_port) {
		a->bad = a->bad || c < '0' || c > '9';
		a->port = a->port * 10 + (unsigned)(c & 15);
		if (a->port > 65535) {
			a->port = 65536;	/* and no overflow */
			a->bad = true;
		}
	} else if (c == ':' && !a->in_brackets) {
		a->in_port = true;
	} else {
		a->bad = a->bad || is_forbidden_in_host(c) ||
			(c == '[' && a->host > 0) ||
			(c == ']' && !a->in_brackets);
		a->in_brackets = (a->in_brackets || c == '[') && c != ']';
		a->host++;
	}
}

bool
ks_shape_https_url(struct ks_span raw)
{
	struct authority a = { .host = 0 };
	struct ks_span rest = raw;
	int c;

	if (!ks_shape_is_within(raw, URL_MAX) || !take_https(&rest))
		return false;
	do {
		c = url_next(&rest);
	} while (is_slash(c));
	while (c >= 0 && !is_slash(c) && c != '?' && c != '#') {
		if (c <= ' ' && url_at_end(rest))
			break;
		authority_add(&a, c);
		c = url_next(&rest);
	}
	return a.host > 0 && !a.bad && !a.in_brackets;
}
