#include "format/number.h"

#include <assert.h>
#include <stdlib.h>

#include "format/number_powers.h"

/*
 * A double is c * 2^e with an integer c < 2^53 and e >= -1074. All arithmetic
 * here is on integers, so neither the rounding mode nor the width of the
 * floating-point registers can change a result.
 */
#define FRACTION_BITS 52
#define HIDDEN_BIT ((uint64_t)1 << FRACTION_BITS)
#define SIGN_BIT ((uint64_t)1 << 63)
#define INFINITY_BITS ((uint64_t)0x7ff << FRACTION_BITS)
#define EXPONENT_MIN (-1074)

/* Decimal digits that fit in 64 bits whatever they are, and that every
 * double in the normal range can tell apart. */
#define DIGITS_HELD 19
#define DIGITS_SURE 15

/* An integer is written without an exponent up to this many digits. */
#define INTEGER_DIGITS 21

static uint64_t
double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double
bits_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Split the bits of a finite double, its sign aside, into c * 2^e. */
static uint64_t
split_bits(uint64_t bits, int *e)
{
	uint64_t c = bits & (HIDDEN_BIT - 1);
	int biased = (int)(bits >> FRACTION_BITS & 0x7ff);

	if (biased == 0) {
		*e = EXPONENT_MIN;
		return c;
	}
	*e = biased - 1 + EXPONENT_MIN;
	return c | HIDDEN_BIT;
}

struct wide {
	uint64_t high;
	uint64_t low;
};

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;

static struct wide
multiply(uint64_t a, uint64_t b)
{
	uint128 product = (uint128)a * b;

	return (struct wide){ .high = (uint64_t)(product >> 64),
		.low = (uint64_t)product };
}
#else
static struct wide
multiply(uint64_t a, uint64_t b)
{
	uint64_t a0 = a & 0xffffffff, a1 = a >> 32;
	uint64_t b0 = b & 0xffffffff, b1 = b >> 32;
	uint64_t low = a0 * b0;
	uint64_t left = a1 * b0 + (low >> 32);
	uint64_t right = a0 * b1 + (left & 0xffffffff);

	return (struct wide){
		.high = a1 * b1 + (left >> 32) + (right >> 32),
		.low = right << 32 | (low & 0xffffffff) };
}
#endif

/* floor(x / 2^shift); C leaves >> of a negative number to the compiler. */
static int
floor_shift(int64_t x, int shift)
{
	int64_t up = (int64_t)1 << 40;

	return (int)(((x + up) >> shift) - (up >> shift));
}

/* floor(log2(10^k)), right for |k| <= 1233. */
static int
floor_log2_pow10(int k)
{
	return floor_shift((int64_t)k * 1741647, 19);
}

static const struct ks_number_power *
power_of_ten(int k)
{
	assert(k >= KS_NUMBER_POWER_MIN && k <= KS_NUMBER_POWER_MAX);
	return &ks_number_powers[k - KS_NUMBER_POWER_MIN];
}

/*
 * Laying out digits: ECMA-262, Number::toString, as RFC 8785 section 3.2.2.3
 * refers to it.
 */

static char *
put(char *out, const char *text, size_t len)
{
	memcpy(out, text, len);
	return out + len;
}

static char *
put_zeros(char *out, int count)
{
	memset(out, '0', (size_t)count);
	return out + count;
}

/* Write `digits` > 0 so that the text ends before `end`; returns its start. */
static char *
put_digits_before(char *end, uint64_t digits)
{
	static const char pairs[] = "00010203040506070809"
				    "10111213141516171819"
				    "20212223242526272829"
				    "30313233343536373839"
				    "40414243444546474849"
				    "50515253545556575859"
				    "60616263646566676869"
				    "70717273747576777879"
				    "80818283848586878889"
				    "90919293949596979899";

	while (digits >= 10) {
		end -= 2;
		memcpy(end, pairs + digits % 100 * 2, 2);
		digits /= 100;
	}
	if (digits > 0)
		*--end = (char)('0' + digits);
	return end;
}

static char *
put_exponent(char *out, int exponent)
{
	char text[4];
	char *end = text + sizeof(text);
	char *start;

	*out++ = 'e';
	*out++ = exponent < 0 ? '-' : '+';
	start = put_digits_before(end, (uint64_t)abs(exponent));
	return put(out, start, (size_t)(end - start));
}

/* Write +-digits * 10^exponent, digits > 0; returns the length. */
static size_t
layout(bool negative, uint64_t digits, int exponent, char *out)
{
	char text[DIGITS_HELD + 1];
	char *end = text + sizeof(text);
	char *start;
	char *at = out;
	int count, point;

	while (digits % 10 == 0) {
		digits /= 10;
		exponent++;
	}
	start = put_digits_before(end, digits);
	count = (int)(end - start);
	point = count + exponent;
	if (negative)
		*at++ = '-';
	if (exponent >= 0 && point <= INTEGER_DIGITS) {
		at = put(at, start, (size_t)count);
		at = put_zeros(at, exponent);
	} else if (point > 0 && point <= INTEGER_DIGITS) {
		at = put(at, start, (size_t)point);
		*at++ = '.';
		at = put(at, start + point, (size_t)(count - point));
	} else if (point > -6 && point <= 0) {
		at = put(at, "0.", 2);
		at = put_zeros(at, -point);
		at = put(at, start, (size_t)count);
	} else {
		*at++ = *start;
		if (count > 1) {
			*at++ = '.';
			at = put(at, start + 1, (size_t)count - 1);
		}
		at = put_exponent(at, point - 1);
	}
	return (size_t)(at - out);
}

/*
 * Writing: Schubfach (R. Giulietti, "The Schubfach way to render doubles").
 *
 * The decimals that read back as v = c * 2^e lie between its two rounding
 * boundaries. With 10^k the largest power of ten that is not wider than that
 * interval, at most one multiple of 10^(k+1) lies inside; it is the shortest
 * where there is one, else the nearer of the multiples of 10^k around v is.
 * All are compared in quarters of 10^k, rounded to odd, which keeps every
 * order and every equality.
 */

/* floor(c * power / 2^128), its last bit set where the exact quotient is not
 * an integer. The excess of the power stays below one in the middle word, so
 * an integer leaves that zero; and no quotient that comes up here lies less
 * than 2^-63 above an even integer, where alone the bit makes a difference. */
static uint64_t
round_to_odd(const struct ks_number_power *power, uint64_t c)
{
	uint64_t carry = multiply(power->low, c).high;
	struct wide product = multiply(power->high, c);
	uint64_t middle = product.low + carry;

	product.high += middle < carry;
	return product.high | (middle != 0);
}

/* The shortest decimal of c * 2^e, as its digits and *exponent. `uneven` says
 * that the next double below is only half as far as the one above. */
static uint64_t
shortest(uint64_t c, int e, bool uneven, int *exponent)
{
	/* floor(log10(2^e)), or of 3/4 of it; right for |e| <= 1650 */
	int k = floor_shift((int64_t)e * 1262611 - (uneven ? 524031 : 0), 22);
	int h = e + floor_log2_pow10(-k) + 1;
	const struct ks_number_power *power = power_of_ten(-k);
	uint64_t v = round_to_odd(power, 4 * c << h);
	/* a boundary itself belongs to the even neighbour */
	uint64_t lower = round_to_odd(power, (4 * c - 2 + uneven) << h) +
		(c & 1);
	uint64_t upper = round_to_odd(power, (4 * c + 2) << h) - (c & 1);
	uint64_t s = v / 4;
	uint64_t tens = s / 10;
	uint64_t middle = 4 * s + 2;
	bool down, up;

	*exponent = k + 1;
	down = tens > 0 && lower <= 40 * tens;
	up = tens > 0 && 40 * tens + 40 <= upper;
	if (down != up)
		return tens + up;
	*exponent = k;
	down = lower <= 4 * s;
	up = 4 * s + 4 <= upper;
	if (down != up)
		return s + up;
	return s + (v > middle || (v == middle && (s & 1) == 1));
}

size_t
ks_number_write(double value, char *out)
{
	uint64_t bits = double_bits(value);
	uint64_t size = bits & ~SIGN_BIT;
	uint64_t c, digits;
	int e, exponent = 0;
	bool uneven;

	assert(size < INFINITY_BITS);
	if (size == 0) {
		*out = '0';
		return 1;
	}
	c = split_bits(size, &e);
	if (e <= 0 && e >= -FRACTION_BITS &&
		(c & (((uint64_t)1 << -e) - 1)) == 0) {
		digits = c >> -e;
	} else {
		uneven = c == HIDDEN_BIT && e > EXPONENT_MIN;
		digits = shortest(c, e, uneven, &exponent);
	}
	return layout((bits & SIGN_BIT) != 0, digits, exponent, out);
}

/*
 * Reading.
 */

/* A literal taken apart: its size is digits * 10^exponent, or more than that
 * by less than one unit of the last digit where it is `cut`. */
struct decimal {
	uint64_t digits;	/* the first DIGITS_HELD significant ones */
	int count;		/* how many there are in `digits` */
	bool cut;		/* digits that do not fit are not all zeros */
	bool negative;
	bool integer;		/* no '.', 'e', 'E' */
	int64_t exponent;
	int64_t scale;		/* exponent of the last digit of the literal */
};

static bool
is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

/* Take digits into the number while they fit, raising the exponent for each
 * of those that do not. */
static const uint8_t *
scan_digits(struct decimal *d, const uint8_t *at, const uint8_t *end)
{
	for (; at < end && is_digit(*at); at++) {
		if (d->count < DIGITS_HELD) {
			d->digits = d->digits * 10 + (uint64_t)(*at - '0');
			d->count += d->digits != 0;
		} else {
			d->cut = d->cut || *at != '0';
			d->exponent++;
		}
	}
	return at;
}

/* The exponent after 'e'. One of 10^17 or more stays there: no literal is
 * long enough to make up for it. */
static int64_t
scan_exponent(const uint8_t *at, const uint8_t *end)
{
	bool negative = at < end && *at == '-';
	int64_t exponent = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	for (; at < end && is_digit(*at); at++) {
		if (exponent < (int64_t)100000000000000000)
			exponent = exponent * 10 + (*at - '0');
	}
	return negative ? -exponent : exponent;
}

static struct decimal
scan_literal(struct ks_span literal)
{
	struct decimal d = { .digits = 0 };
	const uint8_t *at = literal.data;
	const uint8_t *end = at + literal.len;
	const uint8_t *fraction;

	d.negative = at < end && *at == '-';
	at = scan_digits(&d, at + d.negative, end);
	d.integer = at == end;
	if (at < end && *at == '.') {
		fraction = at + 1;
		at = scan_digits(&d, fraction, end);
		d.scale = -(int64_t)(at - fraction);
	}
	if (at < end)
		d.scale += scan_exponent(at + 1, end);
	d.exponent += d.scale;
	return d;
}

/* The bits of the double nearest to (high * 2^64 + low + more) * 2^e, where
 * `more` stands for something above zero and below one; ties to even. high is
 * not zero. Infinity from 2^1024 - 2^970 on. */
static uint64_t
round_bits(uint64_t high, uint64_t low, bool more, int e)
{
	int biased, extra;
	uint64_t c, rest;

	while ((high & SIGN_BIT) == 0) {
		high = high << 1 | low >> 63;
		low <<= 1;
		e--;
	}
	more = more || low != 0;
	biased = e + 127 + 1023;
	if (biased >= 0x7ff)
		return INFINITY_BITS;
	if (biased < 1) {
		extra = biased < -62 ? 63 : 1 - biased;
		more = more || high << (64 - extra) != 0;
		high >>= extra;
		biased = 1;
	}
	/* a c that still has its hidden bit adds one to the exponent */
	c = (high >> 11) + ((uint64_t)(biased - 1) << FRACTION_BITS);
	rest = high & 0x7ff;
	return c + (rest > 0x400 || (rest == 0x400 && (more || (c & 1) == 1)));
}

/* Bounds for the double nearest to digits * 10^k: it is *low or *high, and
 * these are equal or neighbours, mostly equal. */
static void
bracket(uint64_t digits, int k, uint64_t *low, uint64_t *high)
{
	const struct ks_number_power *power = power_of_ten(k);
	int shift = __builtin_clzll(digits);
	int e = floor_log2_pow10(k) - 127 + 64 - shift;
	struct wide minor = multiply(power->low, digits << shift);
	struct wide major = multiply(power->high, digits << shift);
	uint64_t middle = major.low + minor.high;
	uint64_t top = major.high + (middle < minor.high);
	bool exact = k >= 0 && k <= 55;

	*high = round_bits(top, middle, !exact || minor.low != 0, e);
	if (exact) {
		*low = *high;
		return;
	}
	/* The power is too large by less than one, the product hence by less
	 * than 2^64, which is one in the middle word. */
	*low = round_bits(top - (middle == 0), middle - 1, true, e);
}

/*
 * The exact way, for the few literals so close to the middle between two
 * doubles that 128 bits of a power of ten do not tell.
 *
 * The middle of two neighbours has at most 768 significant digits, so it can
 * only equal or exceed a longer literal if it does so in the first 800.
 */
#define DIGITS_EXACT 800

/* No number here passes 2^2720: 10^800 < 2^2658, and a double times 10^1124
 * on the other side of a comparison has 55 bits more than 5^1124 < 2^2611. */
#define LIMBS 96

struct big {
	uint32_t limb[LIMBS];	/* the least significant first */
	size_t len;		/* the last one in use is not zero */
};

static void
big_push(struct big *big, uint64_t limb)
{
	if (limb == 0)
		return;
	assert(big->len < LIMBS);
	big->limb[big->len++] = (uint32_t)limb;
}

static void
big_set(struct big *big, uint64_t value)
{
	big->len = 0;
	if (value == 0)
		return;
	big->limb[big->len++] = (uint32_t)value;
	big_push(big, value >> 32);
}

static void
big_multiply_add(struct big *big, uint32_t factor, uint32_t addend)
{
	uint64_t carry = addend;
	size_t i;

	for (i = 0; i < big->len; i++) {
		carry += (uint64_t)big->limb[i] * factor;
		big->limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	big_push(big, carry);
}

static void
big_multiply_pow5(struct big *big, int64_t exponent)
{
	for (; exponent >= 13; exponent -= 13)
		big_multiply_add(big, 1220703125, 0);
	for (; exponent > 0; exponent--)
		big_multiply_add(big, 5, 0);
}

static void
big_multiply_pow2(struct big *big, int64_t exponent)
{
	for (; exponent >= 31; exponent -= 31)
		big_multiply_add(big, (uint32_t)1 << 31, 0);
	big_multiply_add(big, (uint32_t)1 << exponent, 0);
}

static int
big_compare(const struct big *a, const struct big *b)
{
	size_t i;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	for (i = a->len; i-- > 0;) {
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	}
	return 0;
}

/* The first DIGITS_EXACT significant digits of a literal. Returns how many
 * follow; *more says whether those are not all zeros. */
static int64_t
big_read(struct big *big, struct ks_span literal, bool *more)
{
	const uint32_t billion = 1000000000;
	uint32_t chunk = 0, unit = 1;
	int64_t left = 0;
	size_t i, count = 0;
	uint8_t byte;

	big->len = 0;
	*more = false;
	for (i = 0; i < literal.len; i++) {
		byte = literal.data[i];
		if (byte == 'e' || byte == 'E')
			break;
		if (!is_digit(byte) || (count == 0 && byte == '0'))
			continue;
		if (count == DIGITS_EXACT) {
			*more = *more || byte != '0';
			left++;
			continue;
		}
		count++;
		chunk = chunk * 10 + (uint32_t)(byte - '0');
		unit *= 10;
		if (unit == billion) {
			big_multiply_add(big, unit, chunk);
			chunk = 0;
			unit = 1;
		}
	}
	big_multiply_add(big, unit, chunk);
	return left;
}

/* The order of the literal's exact size and c * 2^e: <0, 0, >0. */
static int
compare_exactly(struct ks_span literal, const struct decimal *d, uint64_t c,
	int e)
{
	struct big decimal, binary;
	int64_t exponent, shift;
	bool more;
	int order;

	big_set(&binary, c);
	exponent = d->scale + big_read(&decimal, literal, &more);
	if (exponent >= 0)
		big_multiply_pow5(&decimal, exponent);
	else
		big_multiply_pow5(&binary, -exponent);
	shift = exponent - e;
	if (shift >= 0)
		big_multiply_pow2(&decimal, shift);
	else
		big_multiply_pow2(&binary, -shift);
	order = big_compare(&decimal, &binary);
	return order != 0 ? order : (int)more;
}

/* Whether the literal rounds to the double above the one with these bits:
 * it lies above their middle, or on it and the one above is even. */
static bool
rounds_up(struct ks_span literal, const struct decimal *d, uint64_t bits)
{
	int e;
	uint64_t c = split_bits(bits, &e);
	int order = compare_exactly(literal, d, 2 * c + 1, e - 1);

	return order > 0 || (order == 0 && (bits & 1) == 1);
}

/* The bits, without the sign, of the double nearest to a literal. */
static uint64_t
nearest(struct ks_span literal, const struct decimal *d)
{
	uint64_t low, high, unused;

	/* 10^19 * 10^-343 rounds to zero, 10^309 to infinity */
	if (d->digits == 0 || d->exponent < KS_NUMBER_POWER_MIN)
		return 0;
	if (d->exponent > 308)
		return INFINITY_BITS;
	bracket(d->digits, (int)d->exponent, &low, &high);
	if (d->cut)
		bracket(d->digits + 1, (int)d->exponent, &unused, &high);
	if (low != high)
		low += rounds_up(literal, d, low);
	return low;
}

/* A literal's bits without the sign, and what there is to say about them but
 * for KS_NUMBER_INEXACT_INTEGER. */
static enum ks_number_kind
convert(struct ks_span literal, const struct decimal *d, uint64_t *size)
{
	*size = nearest(literal, d);
	if (*size == INFINITY_BITS)
		return KS_NUMBER_OVERFLOW;
	if (*size == 0 && d->digits != 0)
		return KS_NUMBER_UNDERFLOW;
	return KS_NUMBER_OK;
}

static double
signed_double(const struct decimal *d, uint64_t size)
{
	return bits_double(size | (d->negative ? SIGN_BIT : 0));
}

/* Whether an integer literal says more than its double does: it is neither
 * `text`, the double as written, nor its exact value. */
static bool
is_inexact(struct ks_span literal, const struct decimal *d, uint64_t size,
	struct ks_span text)
{
	int e;
	uint64_t c = split_bits(size, &e);

	return !ks_span_equal(literal, text) &&
		compare_exactly(literal, d, c, e) != 0;
}

enum ks_number_kind
ks_number_read(struct ks_span literal, double *value)
{
	char text[KS_NUMBER_TEXT_MAX];
	struct decimal d = scan_literal(literal);
	enum ks_number_kind kind;
	uint64_t size;
	size_t len;

	*value = 0;
	kind = convert(literal, &d, &size);
	if (kind == KS_NUMBER_OVERFLOW)
		return kind;
	*value = signed_double(&d, size);
	if (!d.integer || d.count <= DIGITS_SURE)
		return kind;
	len = ks_number_write(*value, text);
	if (is_inexact(literal, &d, size, ks_span(text, len)))
		return KS_NUMBER_INEXACT_INTEGER;
	return kind;
}

/* Whether a literal is an integer of at most DIGITS_SURE digits, which is
 * canonical as it stands: most numbers are. "-0" is not. */
static bool
is_short_integer(struct ks_span literal)
{
	bool negative = literal.len > 1 && literal.data[0] == '-';
	size_t i = negative;

	if (literal.len == 0 || literal.len - i > DIGITS_SURE)
		return false;
	if (negative && literal.data[i] == '0')
		return false;
	for (; i < literal.len; i++) {
		if (!is_digit(literal.data[i]))
			return false;
	}
	return true;
}

/* Whether the digits of a nonzero number are the shortest that read back. As
 * decimals of DIGITS_SURE digits have different doubles throughout the normal
 * range, no other one of that length reads as the same. */
static bool
digits_decide(const struct decimal *d)
{
	int64_t point = d->count + d->exponent;

	if (d->cut || d->count > DIGITS_SURE)
		return false;
	return point > -306 && point <= 308;
}

enum ks_number_kind
ks_number_canonical(struct ks_span literal, char *out, size_t *len)
{
	enum ks_number_kind kind;
	struct decimal d;
	uint64_t size;

	*len = 0;
	if (is_short_integer(literal)) {
		memcpy(out, literal.data, literal.len);
		*len = literal.len;
		return KS_NUMBER_OK;
	}
	d = scan_literal(literal);
	if (d.digits == 0) {
		*out = '0';
		*len = 1;
		return KS_NUMBER_OK;
	}
	if (digits_decide(&d)) {
		*len = layout(d.negative, d.digits, (int)d.exponent, out);
		return KS_NUMBER_OK;
	}
	kind = convert(literal, &d, &size);
	if (kind == KS_NUMBER_OVERFLOW)
		return kind;
	*len = ks_number_write(signed_double(&d, size), out);
	if (d.integer && is_inexact(literal, &d, size, ks_span(out, *len)))
		return KS_NUMBER_INEXACT_INTEGER;
	return kind;
}
