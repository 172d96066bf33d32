#include "format/readout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "format/json.h"
#include "format/kind.h"
#include "format/number.h"

#define NS_PER_S 1e9
#define DOUBLE_BITS 53
#define WHOLE_MAX 320	/* characters of the largest double */
#define DATE_CHARS 10

/* Rounding. */

/* A number that is not negative, rounded to some decimals. */
struct rounded {
	double whole;
	uint64_t fraction;	/* in units of the last decimal */
};

static uint64_t
power(uint64_t base, unsigned exponent)
{
	uint64_t result = 1;

	while (exponent-- > 0)
		result *= base;
	return result;
}

/* The part below 1 is an integer c < 2^53 times 2^(exponent - 53), so c times
 * 5^decimals fits 64 bits and, shifted right, is the fraction exactly. The
 * last bit that falls off says whether to round up, a tie being just it. */
static struct rounded
round_exactly(double value, unsigned decimals)
{
	struct rounded r;
	int exponent;
	double part = modf(value, &r.whole);
	uint64_t c = (uint64_t)ldexp(frexp(part, &exponent), DOUBLE_BITS);
	int shift = DOUBLE_BITS - exponent - (int)decimals;

	c *= power(5, decimals);
	r.fraction = shift > 63 ? 0 : (c >> shift) + (c >> (shift - 1) & 1);
	if (r.fraction == power(10, decimals)) {
		r.whole += 1;
		r.fraction = 0;
	}
	return r;
}

static void
append_sign(struct ks_buf *out, double value)
{
	if (value < 0)
		ks_buf_byte(out, '-');
}

void
ks_readout_fixed(struct ks_buf *out, double value, unsigned decimals)
{
	struct rounded r = round_exactly(fabs(value), decimals);

	append_sign(out, value);
	ks_buf_printf(out, "%.0f", r.whole);
	if (decimals > 0)
		ks_buf_printf(out, ".%0*" PRIu64, (int)decimals, r.fraction);
}

void
ks_readout_grouped(struct ks_buf *out, double value)
{
	struct rounded r = round_exactly(fabs(value), 3);
	unsigned decimals = 3;
	char whole[WHOLE_MAX];
	int len = snprintf(whole, sizeof(whole), "%.0f", r.whole);
	int i;

	append_sign(out, value);
	for (i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			ks_buf_byte(out, ',');
		ks_buf_byte(out, (uint8_t)whole[i]);
	}
	for (; decimals > 0 && r.fraction % 10 == 0; decimals--)
		r.fraction /= 10;
	if (decimals > 0)
		ks_buf_printf(out, ".%0*" PRIu64, (int)decimals, r.fraction);
}

void
ks_readout_number(struct ks_buf *out, double value)
{
	char text[KS_NUMBER_TEXT_MAX];

	ks_buf_append(out, ks_span(text, ks_number_write(value, text)));
}

/* Latencies. */

/* The unit that a duration is shown in. */
struct scale {
	double below;	/* for durations below this, in ns */
	double ns;	/* how long the unit is */
	const char *unit;
};

static const struct scale *
scale_of(double ns)
{
	static const struct scale scales[] = {
		{ 1e3, 1, " ns" },
		{ 1e6, 1e3, " µs" },	/* U+00B5 */
		{ 1e9, 1e6, " ms" },
		{ HUGE_VAL, 1e9, " s" },
	};
	const struct scale *scale = scales;

	while (ns >= scale->below)
		scale++;
	return scale;
}

/* The nearest integer, the upper one of two. */
static double
round_half_up(double value)
{
	double lower = floor(value);

	return value - lower >= 0.5 ? lower + 1 : lower;
}

void
ks_readout_latency(struct ks_buf *out, double ns)
{
	const struct scale *scale = scale_of(ns);
	double q = ns / scale->ns;

	if (scale->ns > 1)
		ks_readout_fixed(out, q, q < 10 ? 2 : 1);
	else
		ks_readout_number(out, round_half_up(ns));
	ks_buf_text(out, scale->unit);
}

/* Values. */

/* How many nanoseconds the unit is, or 0 when it is no unit of time. */
static double
ns_of(struct ks_span unit)
{
	if (ks_span_is(unit, "ns"))
		return 1;
	return ks_span_is(unit, "s") ? NS_PER_S : 0;
}

void
ks_readout_value(struct ks_buf *out, double value, struct ks_span unit)
{
	double ns = value * ns_of(unit);

	if (ns_of(unit) > 0 && isfinite(ns)) {
		ks_readout_latency(out, ns);
		return;
	}
	ks_readout_number(out, value);
	ks_buf_byte(out, ' ');
	ks_json_unescape(out, unit);
	while (out->len > 0 && ks_span_is_space(out->data[out->len - 1]))
		out->len--;
}

bool
ks_readout_spread(struct ks_buf *out, double value, struct ks_span unit,
	double low, double high)
{
	double ns = value * ns_of(unit);
	double half = fabs(high - low) / 2 * ns_of(unit);

	if (ns_of(unit) <= 0 || !isfinite(ns) || !isfinite(half))
		return false;
	ks_buf_text(out, "±");
	ks_readout_fixed(out, half / scale_of(ns)->ns, 2);
	return true;
}

void
ks_readout_date(struct ks_buf *out, struct ks_span instant)
{
	if (ks_shape_instant(instant))
		ks_buf_append(out, ks_span(instant.data, DATE_CHARS));
	else
		ks_buf_text(out, "—");
}
