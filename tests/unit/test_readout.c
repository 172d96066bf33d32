#include "format/readout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "base/file.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct ks_buf out;

static int
release(void **state)
{
	(void)state;
	ks_buf_release(&out);
	return 0;
}

static const char *
latency(double ns)
{
	ks_buf_clear(&out);
	ks_readout_latency(&out, ns);
	return ks_buf_cstr(&out);
}

static const char *
fixed(double value, unsigned decimals)
{
	ks_buf_clear(&out);
	ks_readout_fixed(&out, value, decimals);
	return ks_buf_cstr(&out);
}

static const char *
value_of(double value, const char *unit)
{
	ks_buf_clear(&out);
	ks_readout_value(&out, value, ks_span_text(unit));
	return ks_buf_cstr(&out);
}

/* Latencies. */

static const struct {
	double ns;
	const char *text;
} latencies[] = {
	{ 0, "0 ns" },
	{ 0.49999999999999994, "0 ns" },
	{ 0.5, "1 ns" },
	{ 1.5, "2 ns" },
	{ 984, "984 ns" },
	{ 999.4, "999 ns" },
	{ 999.5, "1000 ns" },	/* the unit comes first */
	{ 999.9999, "1000 ns" },
	{ 1000, "1.00 µs" },
	{ 1005, "1.00 µs" },	/* 1.005 lies below the tie */
	{ 1125, "1.13 µs" },
	{ 1375, "1.38 µs" },
	{ 1625, "1.63 µs" },
	{ 1875, "1.88 µs" },
	{ 9994, "9.99 µs" },
	{ 9995, "9.99 µs" },
	{ 9996, "10.00 µs" },
	{ 9999, "10.00 µs" },
	{ 10000, "10.0 µs" },
	{ 12250, "12.3 µs" },
	{ 12350, "12.3 µs" },
	{ 12750, "12.8 µs" },
	{ 99950, "100.0 µs" },
	{ 116064, "116.1 µs" },
	{ 621504, "621.5 µs" },
	{ 999949, "999.9 µs" },
	{ 999950, "1000.0 µs" },
	{ 999999, "1000.0 µs" },
	{ 999999.9999999999, "1000.0 µs" },
	{ 1e6, "1.00 ms" },
	{ 1125000, "1.13 ms" },
	{ 2569632, "2.57 ms" },
	{ 12250000, "12.3 ms" },
	{ 999999999, "1000.0 ms" },
	{ 1e9, "1.00 s" },
	{ 1125e6, "1.13 s" },
	{ 36e11, "3600.0 s" },
	{ 9007199254740991, "9007199.3 s" },
	/* What the schema lets through, too. */
	{ -0.0, "0 ns" },
	{ -0.5, "0 ns" },
	{ -1.5, "-1 ns" },
	{ -12250, "-12250 ns" },
	{ 5e-324, "0 ns" },
	{ 1e30, "1000000000000000000000.0 s" },
};

static void
a_latency_has_a_unit_and_few_decimals(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(latencies); i++)
		assert_string_equal(latency(latencies[i].ns),
			latencies[i].text);
}

static void
each_row_of_the_latency_table_is_shown_as_it_says(void **state)
{
	const char *shared = getenv("KISTORE_SHARED");
	struct ks_buf table = KS_BUF_INIT;
	char path[4096];
	size_t rows = 0;
	char *line, *rest;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/vectors/latency-vectors.tsv",
		shared == NULL ? "../shared" : shared);
	if (ks_file_read(path, 1 << 20, &table, NULL) != KS_OK) {
		print_message("no %s\n", path);
		ks_buf_release(&table);
		skip();
	}
	ks_buf_byte(&table, '\0');
	for (line = (char *)table.data; *line != '\0'; rows++) {
		double ns = strtod(line, &rest);

		assert_int_equal(*rest, '\t');
		line = rest + strcspn(rest, "\n");
		assert_int_equal(*line, '\n');
		*line++ = '\0';
		assert_string_equal(latency(ns), rest + 1);
	}
	assert_int_equal(rows, 47);
	ks_buf_release(&table);
}

/* The same by another way: printf rounds the exact value, too, but ties go to
 * the even digit. A tie is where twice the last decimal has no smaller part
 * than a half, which is to say that q is an odd number of quarters or eighths;
 * the next double makes it go up. */
static const char *
by_printf(double ns, char text[400])
{
	static const char *const units[] = { "µs", "ms", "s" };
	size_t unit = ns < 1e6 ? 0 : ns < 1e9 ? 1 : 2;
	double q = ns / (unit == 0 ? 1e3 : unit == 1 ? 1e6 : 1e9);
	int decimals = q < 10 ? 2 : 1;

	if (fmod(q * (decimals == 2 ? 8 : 4), 2) == 1)
		q = nextafter(q, HUGE_VAL);
	(void)snprintf(text, 400, "%.*f %s", decimals, q, units[unit]);
	return text;
}

static void
latencies_agree_with_printf_but_for_ties(void **state)
{
	char text[400];
	double ns;

	(void)state;
	for (ns = 1000; ns < 200000; ns++)
		assert_string_equal(latency(ns), by_printf(ns, text));
	for (ns = 200000; ns < 1e13; ns *= 1.0007)
		assert_string_equal(latency(ns), by_printf(ns, text));
	for (ns = 1e6; ns < 2e7; ns += 12500)
		assert_string_equal(latency(ns), by_printf(ns, text));
}

/* Decimals. */

static const struct {
	double value;
	unsigned decimals;
	const char *text;
} fixeds[] = {
	{ 0, 0, "0" },
	{ 0, 4, "0.0000" },
	{ 0.5, 0, "1" },
	{ 2.5, 0, "3" },
	{ 0.25, 1, "0.3" },
	{ 0.35, 1, "0.3" },
	{ 1.005, 2, "1.00" },
	{ 8.345, 2, "8.35" },	/* the double lies above */
	{ 0.625, 2, "0.63" },
	{ 0.0625, 3, "0.063" },
	{ 0.03125, 4, "0.0313" },
	{ 0.00003, 4, "0.0000" },
	{ 0.00005, 4, "0.0001" },
	{ 0.9999, 3, "1.000" },
	{ 99.99999, 4, "100.0000" },
	{ 0.83115, 4, "0.8312" },
	{ -0.0, 2, "0.00" },
	{ -0.125, 2, "-0.13" },
	{ -1e-300, 2, "-0.00" },
	{ 5e-324, 4, "0.0000" },
	{ 4503599627370495.5, 0, "4503599627370496" },
	{ 4503599627370495.5, 2, "4503599627370495.50" },
	{ 9007199254740992, 1, "9007199254740992.0" },
	{ 1e22, 1, "10000000000000000000000.0" },
};

static void
decimals_are_rounded_from_the_exact_value_ties_away_from_zero(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fixeds); i++)
		assert_string_equal(fixed(fixeds[i].value, fixeds[i].decimals),
			fixeds[i].text);
}

static void
the_largest_and_smallest_doubles_have_decimals_as_well(void **state)
{
	char text[400];

	(void)state;
	(void)snprintf(text, sizeof(text), "%.4f", 1.7976931348623157e308);
	assert_string_equal(fixed(1.7976931348623157e308, 4), text);
	assert_string_equal(fixed(2.2250738585072014e-308, 4), "0.0000");
}

static const struct {
	double value;
	const char *text;
} grouped[] = {
	{ 0, "0" },
	{ 7, "7" },
	{ 999, "999" },
	{ 1000, "1,000" },
	{ 8840.42, "8,840.42" },
	{ 123456.7, "123,456.7" },
	{ 1234567.8949, "1,234,567.895" },
	{ 999.9996, "1,000" },
	{ 0.0625, "0.063" },
	{ 12.5, "12.5" },
	{ 0.1004, "0.1" },
	{ 0.0004, "0" },
	{ -1234.5, "-1,234.5" },
	{ 1e21, "1,000,000,000,000,000,000,000" },
};

static void
thousands_are_grouped_and_decimals_at_most_three(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(grouped); i++) {
		ks_buf_clear(&out);
		ks_readout_grouped(&out, grouped[i].value);
		assert_string_equal(ks_buf_cstr(&out), grouped[i].text);
	}
}

/* Values with units. */

static const struct {
	double value;
	const char *unit;
	const char *text;
} values[] = {
	{ 621504, "ns", "621.5 µs" },
	{ 0.000010048658277929109, "s", "10.0 µs" },
	{ 0.001, "s", "1.00 ms" },
	{ 2.5, "s", "2.50 s" },
	{ 1e300, "s", "1e+300 s" },	/* beyond all nanoseconds */
	{ 1e299, "s", NULL },
	{ 0.75, "ratio", "0.75 ratio" },
	{ 1e-7, "x", "1e-7 x" },
	{ 8840.42, "tokens_s", "8840.42 tokens_s" },
	{ 12, "us", "12 us" },
	{ 0, "", "0" },
	{ 5, " ", "5" },
	{ 5, "\\u000ab ", "5 \nb" },
	{ 5, "\\\"", "5 \"" },
};

static void
a_value_is_a_latency_or_a_number_and_its_unit(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		const char *text = value_of(values[i].value, values[i].unit);

		if (values[i].text != NULL)
			assert_string_equal(text, values[i].text);
		else
			assert_int_equal(strlen(text), 300 + 4);
	}
}

static void
a_value_is_appended_to_what_is_there(void **state)
{
	(void)state;
	ks_buf_clear(&out);
	ks_buf_text(&out, "n = ");
	ks_readout_value(&out, 0, ks_span(NULL, 0));
	ks_readout_value(&out, 1, ks_span_text("ns"));
	assert_string_equal(ks_buf_cstr(&out), "n = 01 ns");
}

static const struct {
	double value;
	const char *unit;
	double low, high;
	const char *text;	/* NULL = none */
} spreads[] = {
	{ 621504, "ns", 620000, 622500, "±1.25" },
	{ 621504, "ns", 622500, 620000, "±1.25" },
	{ 900, "ns", 880, 921, "±20.50" },
	{ 2.5e6, "ns", 2.4e6, 2.425e6, "±0.01" },	/* 0.0125 */
	{ 0.002, "s", 0.0015, 0.0025, "±0.50" },
	{ 5, "ns", 5, 5, "±0.00" },
	{ 5, "ratio", 4, 6, NULL },
	{ 5, "", 4, 6, NULL },
	{ 1e300, "s", 1, 2, NULL },
	{ 1, "ns", -1.7e308, 1.7e308, NULL },
};

static void
a_spread_is_half_the_interval_in_the_unit_of_the_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(spreads); i++) {
		bool is_there;

		ks_buf_clear(&out);
		is_there = ks_readout_spread(&out, spreads[i].value,
			ks_span_text(spreads[i].unit), spreads[i].low,
			spreads[i].high);
		assert_int_equal(is_there, spreads[i].text != NULL);
		assert_string_equal(ks_buf_cstr(&out),
			spreads[i].text == NULL ? "" : spreads[i].text);
	}
}

static const struct {
	const char *instant;
	const char *text;
} dates[] = {
	{ "2024-09-03T15:39:59.000Z", "2024-09-03" },
	{ "2024-02-29T12:00Z", "2024-02-29" },
	{ "", "—" },
	{ "2024-09-03", "—" },
	{ "2023-02-29T12:00Z", "—" },
	{ "2024-09-0\xc2\xb7", "—" },
};

static void
a_date_is_the_front_of_an_instant(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(dates); i++) {
		ks_buf_clear(&out);
		ks_readout_date(&out, ks_span_text(dates[i].instant));
		assert_string_equal(ks_buf_cstr(&out), dates[i].text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_latency_has_a_unit_and_few_decimals),
		cmocka_unit_test(
			each_row_of_the_latency_table_is_shown_as_it_says),
		cmocka_unit_test(latencies_agree_with_printf_but_for_ties),
		cmocka_unit_test(
			decimals_are_rounded_from_the_exact_value_ties_away_from_zero),
		cmocka_unit_test(
			the_largest_and_smallest_doubles_have_decimals_as_well),
		cmocka_unit_test(
			thousands_are_grouped_and_decimals_at_most_three),
		cmocka_unit_test(a_value_is_a_latency_or_a_number_and_its_unit),
		cmocka_unit_test(a_value_is_appended_to_what_is_there),
		cmocka_unit_test(
			a_spread_is_half_the_interval_in_the_unit_of_the_value),
		cmocka_unit_test(a_date_is_the_front_of_an_instant),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
