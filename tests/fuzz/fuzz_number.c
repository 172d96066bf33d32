/*
 * Numbers survive both directions: every double is read back from what is
 * written of it, and every literal is read as strtod() reads it and rewritten
 * to a text that stands for the same double and is rewritten to itself.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/number.h"
#include "../lib/fuzz.h"

static const char *
skip_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* RFC 8259 section 6. */
static bool
is_literal(const char *p)
{
	const char *digits;

	p += *p == '-';
	digits = p;
	p = skip_digits(digits);
	if (p == digits || (*digits == '0' && p - digits > 1))
		return false;
	if (*p == '.') {
		digits = p + 1;
		p = skip_digits(digits);
		if (p == digits)
			return false;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		digits = p;
		p = skip_digits(digits);
		if (p == digits)
			return false;
	}
	return *p == '\0';
}

static bool
same_bits(double a, double b)
{
	uint64_t x, y;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	return x == y;
}

static void
check_double(double value)
{
	char text[KS_NUMBER_TEXT_MAX + 1];
	char again[KS_NUMBER_TEXT_MAX];
	double back = 0;
	size_t len, len_again;

	len = ks_number_write(value, text);
	require(len > 0 && len <= KS_NUMBER_TEXT_MAX);
	text[len] = '\0';
	require(is_literal(text));
	require(ks_number_read(ks_span(text, len), &back) == KS_NUMBER_OK);
	require(same_bits(back, value) || (value == 0 && back == 0));
	require(ks_number_canonical(ks_span(text, len), again, &len_again) ==
		KS_NUMBER_OK);
	require(len_again == len && memcmp(again, text, len) == 0);
}

static void
check_literal(const char *literal)
{
	struct ks_span span = ks_span_text(literal);
	double wanted = strtod(literal, NULL);
	double value = 0;
	enum ks_number_kind kind = ks_number_read(span, &value);
	char text[KS_NUMBER_TEXT_MAX];
	char direct[KS_NUMBER_TEXT_MAX];
	size_t len = 99;

	require(ks_number_canonical(span, direct, &len) == kind);
	require((kind == KS_NUMBER_OVERFLOW) == (bool)isinf(wanted));
	if (kind == KS_NUMBER_OVERFLOW) {
		require(len == 0);
		return;
	}
	require(same_bits(value, wanted) || (value == 0 && wanted == 0));
	require(len == ks_number_write(value, text));
	require(memcmp(direct, text, len) == 0);
	check_double(value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *literal;
	double value;

	if (size == sizeof(value)) {
		memcpy(&value, data, sizeof(value));
		if (isfinite(value))
			check_double(value);
	}
	literal = malloc(size + 1);
	if (literal == NULL)
		return 0;
	if (size > 0)
		memcpy(literal, data, size);
	literal[size] = '\0';
	if (strlen(literal) == size && is_literal(literal))
		check_literal(literal);
	free(literal);
	return 0;
}
