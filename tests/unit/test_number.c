#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "../lib/es6_lines.h"
#include "format/number_powers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double
double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* A double as text with a NUL. */
static const char *
written(double value, char text[KS_NUMBER_TEXT_MAX + 1])
{
	text[ks_number_write(value, text)] = '\0';
	return text;
}

/* Both entry points on one literal: the kind, the bits and the text. */
static void
expect_span(struct ks_span literal, enum ks_number_kind kind, uint64_t bits,
	const char *text)
{
	char out[KS_NUMBER_TEXT_MAX + 1];
	double value = 99;
	size_t len = 99;

	assert_int_equal(ks_number_read(literal, &value), kind);
	assert_true(bits_of(value) == bits);
	assert_int_equal(ks_number_canonical(literal, out, &len), kind);
	out[len] = '\0';
	assert_string_equal(out, text);
}

static void
expect(const char *literal, enum ks_number_kind kind, uint64_t bits,
	const char *text)
{
	expect_span(ks_span_text(literal), kind, bits, text);
}

/* A reproducible sequence (splitmix64). */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double
random_double(uint64_t *state)
{
	double value;

	do {
		value = double_of(next_random(state));
	} while (!isfinite(value) || value == 0);
	return value;
}

/*
 * Integers of 4096 bits, for exact expectations.
 */

#define NUM_LIMBS 128
#define NUM_TEXT_MAX (NUM_LIMBS * 10 + 1)

struct num {
	uint32_t limb[NUM_LIMBS];	/* the least significant first */
};

static void
num_set(struct num *num, uint64_t high, uint64_t low)
{
	memset(num, 0, sizeof(*num));
	num->limb[0] = (uint32_t)low;
	num->limb[1] = (uint32_t)(low >> 32);
	num->limb[2] = (uint32_t)high;
	num->limb[3] = (uint32_t)(high >> 32);
}

static void
num_multiply(struct num *num, uint32_t factor, int times)
{
	for (; times > 0; times--) {
		uint64_t carry = 0;
		size_t i;

		for (i = 0; i < NUM_LIMBS; i++) {
			carry += (uint64_t)num->limb[i] * factor;
			num->limb[i] = (uint32_t)carry;
			carry >>= 32;
		}
		assert_true(carry == 0);
	}
}

static int
num_compare(const struct num *a, const struct num *b)
{
	size_t i;

	for (i = NUM_LIMBS; i-- > 0;) {
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	}
	return 0;
}

/* floor(log2(num)), num > 0 */
static int
num_log2(const struct num *num)
{
	size_t i = NUM_LIMBS - 1;
	int bit = 31;

	while (num->limb[i] == 0)
		i--;
	while (num->limb[i] >> bit == 0)
		bit--;
	return (int)i * 32 + bit;
}

static bool
num_is_zero(const struct num *num)
{
	static const struct num zero;

	return num_compare(num, &zero) == 0;
}

/* The decimal digits of `num`, which is used up; returns how many. */
static size_t
num_print(struct num *num, char text[NUM_TEXT_MAX])
{
	char reversed[NUM_TEXT_MAX];
	size_t len = 0, i;
	uint64_t rest;

	do {
		rest = 0;
		for (i = NUM_LIMBS; i-- > 0;) {
			rest = rest << 32 | num->limb[i];
			num->limb[i] = (uint32_t)(rest / 10);
			rest %= 10;
		}
		reversed[len++] = (char)('0' + rest);
	} while (!num_is_zero(num));
	for (i = 0; i < len; i++)
		text[i] = reversed[len - 1 - i];
	text[len] = '\0';
	return len;
}

/*
 * Vectors from the shared folder.
 */

/* Its path, or skip the test where there is none. */
static const char *
vector_path(const char *name, char path[4096])
{
	const char *shared = getenv("KISTORE_SHARED");
	FILE *file;

	snprintf(path, 4096, "%s/vectors/jcs/%s",
		shared != NULL ? shared : "../shared", name);
	file = fopen(path, "r");
	if (file == NULL) {
		print_message("no %s: skipped\n", path);
		skip();
	}
	fclose(file);
	return path;
}

/* The next line that is no comment, cut at its first two separators. */
static bool
next_row(FILE *file, const char *separator, char line[4096], char **first,
	char **second)
{
	do {
		if (fgets(line, 4096, file) == NULL)
			return false;
	} while (line[0] == '#');
	line[strcspn(line, "\n")] = '\0';
	*first = line;
	*second = line + strcspn(line, separator);
	assert_true(**second != '\0');
	*(*second)++ = '\0';
	(*second)[strcspn(*second, separator)] = '\0';
	return true;
}

/* Check a file of bit patterns and texts both ways; returns its rows. */
static size_t
check_bits_and_texts(const char *name, const char *separator)
{
	char path[4096], line[4096], text[KS_NUMBER_TEXT_MAX + 1];
	FILE *file = fopen(vector_path(name, path), "r");
	char *bits_text, *expected;
	size_t rows = 0;

	assert_non_null(file);
	while (next_row(file, separator, line, &bits_text, &expected)) {
		uint64_t bits = strtoull(bits_text, NULL, 16);

		if (strcmp(expected, "!error") == 0)
			continue;
		assert_string_equal(written(double_of(bits), text), expected);
		if (double_of(bits) == 0)
			bits = 0;
		expect(expected, KS_NUMBER_OK, bits, expected);
		rows++;
	}
	fclose(file);
	return rows;
}

static void
each_row_of_the_number_table_is_written_and_read(void **state)
{
	(void)state;
	assert_int_equal(check_bits_and_texts("numbers.tsv", "\t"), 1120);
}

static void
each_of_the_first_es6_lines_is_written_and_read(void **state)
{
	(void)state;
	assert_int_equal(check_bits_and_texts("es6-lines-1k.csv", ","), 1000);
}

static void
each_decimal_of_the_table_gets_its_canonical_text(void **state)
{
	char path[4096], line[4096];
	char out[KS_NUMBER_TEXT_MAX + 1], again[KS_NUMBER_TEXT_MAX + 1];
	char *literal, *expected;
	size_t len, rows = 0;
	FILE *file;

	(void)state;
	file = fopen(vector_path("numbers-decimal.tsv", path), "r");
	assert_non_null(file);
	for (; next_row(file, "\t", line, &literal, &expected); rows++) {
		struct ks_span span = ks_span_text(literal);
		double value;

		(void)ks_number_canonical(span, out, &len);
		out[len] = '\0';
		assert_string_equal(out, expected);
		(void)ks_number_read(span, &value);
		assert_string_equal(written(value, again), expected);
	}
	fclose(file);
	assert_int_equal(rows, 49);
}

static void
the_published_checksums_of_the_es6_lines_come_out(void **state)
{
	static struct es6_lines lines;
	char path[4096], line[4096], hex[KS_ID_HEX + 1];
	char text[ES6_LINE_MAX];
	char *count, *bytes;
	struct ks_digest *digest;
	size_t rows = 0, done = 0;
	FILE *file;

	(void)state;
	assert_true(es6_lines_open(&lines,
		vector_path("es6-static-values.txt", path)));
	file = fopen(vector_path("es6-checksums.tsv", path), "r");
	assert_non_null(file);
	for (; rows < 3 && next_row(file, "\t", line, &count, &bytes); rows++) {
		const char *expected = bytes + strlen(bytes) + 1;
		struct ks_id id;
		size_t i;

		/* each prefix from its own start, so that digests are simple */
		assert_true(es6_lines_open(&lines,
			vector_path("es6-static-values.txt", path)));
		assert_int_equal(ks_digest_new(&digest, NULL), KS_OK);
		done = strtoul(count, NULL, 10);
		for (i = 0; i < done; i++) {
			size_t len = es6_line_write(es6_lines_next(&lines),
				text);

			ks_digest_update(digest, ks_span(text, len));
		}
		ks_digest_final(digest, &id);
		ks_digest_free(digest);
		assert_string_equal(ks_id_print_hex(&id, hex), expected);
	}
	fclose(file);
	assert_int_equal(rows, 3);
	assert_int_equal(done, 100000);
}

/*
 * The table of powers.
 */

/* Sides of a comparison of `row` * 2^r with 10^k, both made integers, where
 * 2^127 <= row < 2^128 and r = floor(log2(10^k)) - 127. */
static void
power_sides(struct num *row_side, struct num *power_side, int k)
{
	struct num power;
	int n = k < 0 ? -k : k, log2, r;

	num_set(&power, 0, 1);
	num_multiply(&power, 10, n);
	log2 = num_log2(&power);
	if (k < 0) {
		/* floor(-log2(10^n)); no 10^n is a power of two but 1 */
		r = -log2 - 1 - 127;
		num_multiply(row_side, 10, n);
		num_set(power_side, 0, 1);
		num_multiply(power_side, 2, -r);
		return;
	}
	r = log2 - 127;
	*power_side = power;
	num_multiply(power_side, 2, r < 0 ? -r : 0);
	num_multiply(row_side, 2, r > 0 ? r : 0);
}

static void
each_power_is_the_least_integer_not_below_its_value(void **state)
{
	struct num row_side, less_side, power_side;
	int k;

	(void)state;
	for (k = KS_NUMBER_POWER_MIN; k <= KS_NUMBER_POWER_MAX; k++) {
		struct ks_number_power row =
			ks_number_powers[k - KS_NUMBER_POWER_MIN];
		bool exact = k >= 0 && k <= 55;

		assert_true(row.high >> 63 == 1);
		num_set(&row_side, row.high, row.low);
		power_sides(&row_side, &power_side, k);
		assert_int_equal(num_compare(&row_side, &power_side),
			exact ? 0 : 1);
		num_set(&less_side, row.high - (row.low == 0), row.low - 1);
		power_sides(&less_side, &power_side, k);
		assert_true(num_compare(&less_side, &power_side) < 0);
	}
}

/*
 * The C library as an oracle.
 */

/* The significant digits of a number text, without zeros at either end. */
static const char *
significant(const char *text, char digits[64])
{
	size_t len = 0;

	for (; *text != '\0' && *text != 'e'; text++) {
		if (*text >= '1' && *text <= '9')
			digits[len++] = *text;
		else if (*text == '0' && len > 0)
			digits[len++] = *text;
	}
	while (len > 0 && digits[len - 1] == '0')
		len--;
	digits[len] = '\0';
	return digits;
}

/* Add one unit in the last place to the digits before the exponent. */
static void
one_unit_up(char *text)
{
	size_t i = strcspn(text, "e");

	while (i-- > 0) {
		if (text[i] < '0' || text[i] > '9')
			continue;
		if (text[i]++ < '9')
			return;
		text[i] = '0';
	}
}

/* The text of p digits that reads back, if there is one: it is the nearest
 * one, or for a power of two, where the doubles above lie twice as far apart
 * as those below, perhaps the next one up. */
static bool
reads_back_with(double value, int p, char text[64])
{
	bool power_of_two = (bits_of(value) & (((uint64_t)1 << 52) - 1)) == 0;

	snprintf(text, 64, "%.*e", p - 1, value);
	if (strtod(text, NULL) == value)
		return true;
	if (!power_of_two)
		return false;
	one_unit_up(text);
	return strtod(text, NULL) == value;
}

static void
expect_shortest(double value)
{
	char text[KS_NUMBER_TEXT_MAX + 1], oracle[64];
	char digits[64], expected[64];
	int p = 1;

	while (!reads_back_with(value, p, oracle))
		p++;
	written(value, text);
	assert_true(bits_of(strtod(text, NULL)) == bits_of(value));
	assert_string_equal(significant(text, digits),
		significant(oracle, expected));
}

static void
random_doubles_are_written_shortest(void **state)
{
	uint64_t seed = 1;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		expect_shortest(random_double(&seed));
}

static void
powers_of_two_and_neighbours_are_written_shortest(void **state)
{
	int e;

	(void)state;
	for (e = -1074; e <= 1023; e++) {
		double power = ldexp(1, e);

		expect_shortest(power);
		expect_shortest(double_of(bits_of(power) + 1));
		if (e > -1074)
			expect_shortest(double_of(bits_of(power) - 1));
	}
}

static void
powers_of_ten_and_neighbours_are_written_shortest(void **state)
{
	char literal[16];
	int e;

	(void)state;
	for (e = -323; e <= 308; e++) {
		double power;

		snprintf(literal, sizeof(literal), "1e%d", e);
		power = strtod(literal, NULL);
		expect_shortest(power);
		expect_shortest(double_of(bits_of(power) + 1));
		expect_shortest(double_of(bits_of(power) - 1));
	}
}

static void
subnormals_and_small_integers_are_written_shortest(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 1; i <= 2000; i++) {
		expect_shortest(double_of(i));
		expect_shortest((double)i);
		expect_shortest((double)i / 1024);
		expect_shortest(9007199254740992.0 + (double)(2 * i));
		expect_shortest(9007199254740992.0 - (double)i);
	}
}

/* Stress inputs from V. Paxson, "A program for testing IEEE decimal-binary
 * conversion", tables 3 and 4: doubles whose decimal expansion runs very close
 * to a short decimal, or to the middle between two. */
static void
doubles_close_to_a_decision_are_written_shortest(void **state)
{
	static const struct {
		uint64_t c;
		int e;
	} rows[] = {
		{ 8511030020275656, -342 }, { 5201988407066741, -824 },
		{ 6406892948269899, 237 }, { 8431154198732492, 72 },
		{ 6475049196144587, 99 }, { 8274307542972842, 726 },
		{ 5381065484265332, -456 }, { 6761728585499734, -1057 },
		{ 7976538478610756, 376 }, { 5982403858958067, 377 },
		{ 5536995190630837, 93 }, { 7225450889282194, 710 },
		{ 7225450889282194, 709 }, { 8703372741147379, 117 },
		{ 8944262675275217, -1001 }, { 7459803696087692, -707 },
		{ 6080469016670379, -381 }, { 8385515147034757, 721 },
		{ 7514216811389786, -828 }, { 8397297803260511, -345 },
		{ 6733459239310543, 202 }, { 8091450587292794, -473 },
		{ 8887055249355788, 664 }, { 8887055249355788, 665 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++)
		expect_shortest(ldexp((double)rows[i].c, rows[i].e));
}

static void
random_doubles_read_back_to_the_same_bits(void **state)
{
	uint64_t seed = 2;
	int i;

	(void)state;
	for (i = 0; i < 300000; i++) {
		double value = random_double(&seed);
		char text[KS_NUMBER_TEXT_MAX + 1];
		char again[KS_NUMBER_TEXT_MAX];
		size_t len = ks_number_write(value, text);
		size_t canonical;
		double back;

		assert_int_equal(ks_number_read(ks_span(text, len), &back),
			KS_NUMBER_OK);
		assert_true(bits_of(back) == bits_of(value));
		assert_int_equal(ks_number_canonical(ks_span(text, len), again,
			&canonical), KS_NUMBER_OK);
		assert_true(ks_span_equal(ks_span(text, len),
			ks_span(again, canonical)));
	}
}

/* A literal of random shape: sign, up to 40 digits, point, exponent. */
static void
random_literal(uint64_t *seed, char literal[128])
{
	int whole = (int)(next_random(seed) % 21);
	int fraction = (int)(next_random(seed) % 21);
	int exponent = (int)(next_random(seed) % 720) - 370;
	size_t len = 0;

	if (next_random(seed) % 2 == 0)
		literal[len++] = '-';
	literal[len++] = (char)((whole == 0 ? '0' : '1') +
		(whole == 0 ? 0 : (char)(next_random(seed) % 9)));
	while (--whole > 0)
		literal[len++] = (char)('0' + next_random(seed) % 10);
	if (fraction > 0)
		literal[len++] = '.';
	while (fraction-- > 0)
		literal[len++] = (char)('0' + next_random(seed) % 10);
	literal[len] = '\0';
	if (next_random(seed) % 4 != 0)
		snprintf(literal + len, 8, "e%d", exponent);
}

static void
random_literals_are_read_as_the_c_library_does(void **state)
{
	uint64_t seed = 3;
	int i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		char literal[128], text[KS_NUMBER_TEXT_MAX + 1];
		char out[KS_NUMBER_TEXT_MAX + 1];
		double value, expected;
		enum ks_number_kind kind;
		size_t len;

		random_literal(&seed, literal);
		expected = strtod(literal, NULL);
		kind = ks_number_read(ks_span_text(literal), &value);
		assert_int_equal(ks_number_canonical(ks_span_text(literal),
			out, &len), kind);
		assert_int_equal(kind == KS_NUMBER_OVERFLOW,
			isinf(expected) != 0);
		if (kind == KS_NUMBER_OVERFLOW) {
			assert_int_equal(len, 0);
			continue;
		}
		if (bits_of(value) != bits_of(expected))
			fail_msg("%s is read as %a", literal, value);
		out[len] = '\0';
		assert_string_equal(out, written(expected, text));
		assert_int_equal(kind == KS_NUMBER_UNDERFLOW, expected == 0 &&
			strpbrk(literal, "123456789") != NULL &&
			strpbrk(literal, "123456789") <
				literal + strcspn(literal, "e"));
	}
}

/*
 * Middles between two doubles.
 */

/* c * 2^e as an exact literal: digits, and an exponent where e < 0. */
static void
exact_literal(char *literal, uint64_t c, int e)
{
	struct num num;
	size_t len;

	num_set(&num, 0, c);
	num_multiply(&num, e < 0 ? 5 : 2, e < 0 ? -e : e);
	len = num_print(&num, literal);
	if (e < 0)
		snprintf(literal + len, 13, "e%d", e);
}

static void
expect_bits(const char *literal, uint64_t bits)
{
	double value;

	(void)ks_number_read(ks_span_text(literal), &value);
	if (bits_of(value) != bits)
		fail_msg("%s is read as %a", literal, value);
}

/* `literal` with `tail` between its digits and its exponent, behind a point
 * that leaves its value as it is. */
static void
insert_tail(char *out, const char *literal, const char *tail)
{
	size_t digits = strcspn(literal, "e");

	sprintf(out, "%.*s.%s%s", (int)digits, literal, tail,
		literal + digits);
}

/* The middle of a double and the next one goes to the even one of them, and
 * whatever is next to the middle to the nearer one. */
static void
check_middle_above(uint64_t bits)
{
	static char literal[NUM_TEXT_MAX + 8], longer[2 * NUM_TEXT_MAX];
	static char zeros[1000];
	uint64_t c = bits & (((uint64_t)1 << 52) - 1);
	int e = (int)(bits >> 52);
	size_t last;

	if (e > 0)
		c |= (uint64_t)1 << 52;
	e = (e > 0 ? e - 1 : 0) - 1074;
	exact_literal(literal, 2 * c + 1, e - 1);
	expect_bits(literal, bits + (bits & 1));
	memset(zeros, '0', sizeof(zeros) - 1);
	insert_tail(longer, literal, zeros);
	expect_bits(longer, bits + (bits & 1));
	zeros[sizeof(zeros) - 2] = '1';
	insert_tail(longer, literal, zeros);
	expect_bits(longer, bits + 1);
	insert_tail(longer, literal, "1");
	expect_bits(longer, bits + 1);
	last = strcspn(literal, "e") - 1;
	while (literal[last] == '0')
		literal[last--] = '9';
	literal[last]--;
	expect_bits(literal, bits);
	insert_tail(longer, literal, "99999999999999999999999999999999999");
	expect_bits(longer, bits);
}

static void
middles_go_to_the_even_double_sides_to_the_nearer(void **state)
{
	uint64_t seed = 4;
	int i;

	(void)state;
	check_middle_above(0);
	check_middle_above(1);
	check_middle_above(((uint64_t)1 << 52) - 1);	/* largest subnormal */
	check_middle_above((uint64_t)1 << 52);
	check_middle_above(bits_of(1));
	check_middle_above(bits_of(9007199254740992.0));
	check_middle_above(bits_of(9007199254740994.0));
	check_middle_above(bits_of(1e22));
	check_middle_above(bits_of(1e23));
	check_middle_above(bits_of(1.7976931348623155e308));
	for (i = 0; i < 300; i++) {
		check_middle_above(bits_of(fabs(random_double(&seed))));
		/* where short literals fall on a middle */
		check_middle_above(bits_of(ldexp(1, 53 + i % 11)) +
			next_random(&seed) % 1000000);
		check_middle_above(next_random(&seed) >> (12 + i % 50));
	}
}

static void
middles_with_few_digits_go_to_the_even_double(void **state)
{
	(void)state;
	expect("9007199254740992.5", KS_NUMBER_OK, 0x4340000000000000,
		"9007199254740992");
	expect("9007199254740993.0", KS_NUMBER_OK, 0x4340000000000000,
		"9007199254740992");
	expect("90071992547409930e-1", KS_NUMBER_OK, 0x4340000000000000,
		"9007199254740992");
	expect("9007199254740993.00000000000000000000001", KS_NUMBER_OK,
		0x4340000000000001, "9007199254740994");
	expect("9007199254740995.0", KS_NUMBER_OK, 0x4340000000000002,
		"9007199254740996");
	expect("4503599627370496.5", KS_NUMBER_OK, 0x4330000000000000,
		"4503599627370496");
	expect("4503599627370497.5", KS_NUMBER_OK, 0x4330000000000002,
		"4503599627370498");
	expect("1125899906842624.125", KS_NUMBER_OK, 0x4310000000000000,
		"1125899906842624");
	expect("1125899906842624.375", KS_NUMBER_OK, 0x4310000000000002,
		"1125899906842624.5");
}

/*
 * Kinds.
 */

static void
every_form_of_zero_is_zero_and_no_underflow(void **state)
{
	static const char *const zeros[] = { "0", "0.0", "0e0", "0e999",
		"0E-999", "0.000e99999999999999999999999999",
		"0.0e-99999999999999999999999999" };
	char negative[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(zeros); i++) {
		expect(zeros[i], KS_NUMBER_OK, 0, "0");
		snprintf(negative, sizeof(negative), "-%s", zeros[i]);
		expect(negative, KS_NUMBER_OK, (uint64_t)1 << 63, "0");
	}
}

static void
what_rounds_to_infinity_is_an_overflow(void **state)
{
	static const char *const literals[] = { "1e309", "1e400", "-1e400",
		"1.7976931348623159e308", "-1.7976931348623159e308",
		"17976931348623159e292", "9999999999999999999e290",
		"0.0000001e316", "1e99999999999999999999999999",
		"1000000000000000000000000e285" };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(literals); i++)
		expect(literals[i], KS_NUMBER_OVERFLOW, 0, "");
}

static void
the_middle_above_the_largest_double_is_an_overflow(void **state)
{
	static char literal[NUM_TEXT_MAX], longer[NUM_TEXT_MAX + 8];
	size_t last;

	(void)state;
	exact_literal(literal, ((uint64_t)1 << 54) - 1, 970);
	expect(literal, KS_NUMBER_OVERFLOW, 0, "");
	insert_tail(longer, literal, "0");
	expect(longer, KS_NUMBER_OVERFLOW, 0, "");
	last = strlen(literal) - 1;
	assert_true(literal[last] > '0');
	literal[last]--;
	expect(literal, KS_NUMBER_INEXACT_INTEGER, 0x7fefffffffffffff,
		"1.7976931348623157e+308");
	insert_tail(longer, literal, "9");
	expect(longer, KS_NUMBER_OK, 0x7fefffffffffffff,
		"1.7976931348623157e+308");
}

static void
what_rounds_to_zero_is_an_underflow(void **state)
{
	static const char *const literals[] = { "1e-400", "1e-324", "2e-324",
		"2.4703282292062327e-324", "0.0001e-320",
		"9999999999999999999e-343", "9999999999999999999e-344",
		"99999999999999999999999999e-350",
		"1e-99999999999999999999999999" };
	char negative[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(literals); i++) {
		expect(literals[i], KS_NUMBER_UNDERFLOW, 0, "0");
		snprintf(negative, sizeof(negative), "-%s", literals[i]);
		expect(negative, KS_NUMBER_UNDERFLOW, (uint64_t)1 << 63, "0");
	}
	expect("2.4703282292062328e-324", KS_NUMBER_OK, 1, "5e-324");
	expect("3e-324", KS_NUMBER_OK, 1, "5e-324");
	expect("9999999999999999999e-342", KS_NUMBER_OK, 2, "1e-323");
}

static void
the_middle_above_zero_is_an_underflow(void **state)
{
	static char literal[NUM_TEXT_MAX + 8], longer[NUM_TEXT_MAX + 16];

	(void)state;
	exact_literal(literal, 1, -1075);
	expect(literal, KS_NUMBER_UNDERFLOW, 0, "0");
	insert_tail(longer, literal, "1");
	expect(longer, KS_NUMBER_OK, 1, "5e-324");
}

static void
an_integer_that_its_double_changes_is_inexact(void **state)
{
	static const struct {
		const char *literal;
		uint64_t bits;
		const char *text;
	} rows[] = {
		{ "9007199254740993", 0x4340000000000000, "9007199254740992" },
		{ "9007199254740995", 0x4340000000000002, "9007199254740996" },
		{ "-9007199254740993", 0xc340000000000000,
			"-9007199254740992" },
		{ "12345678901234567", 0x4345ee2a2eb5a5c4,
			"12345678901234568" },
		{ "9223372036854775807", 0x43e0000000000000,
			"9223372036854776000" },
		{ "9223372036854775809", 0x43e0000000000000,
			"9223372036854776000" },
		{ "18446744073709551615", 0x43f0000000000000,
			"18446744073709552000" },
		{ "-18446744073709551617", 0xc3f0000000000000,
			"-18446744073709552000" },
		/* more digits than the text, fewer than the value */
		{ "295147905179352830001", 0x4430000000000000,
			"295147905179352830000" },
		{ "295147905179352825857", 0x4430000000000000,
			"295147905179352830000" },
		{ "295147905179352825855", 0x4430000000000000,
			"295147905179352830000" },
		{ "295147905179352840000", 0x4430000000000000,
			"295147905179352830000" },
		/* 10^23 is not a double, and its text is no integer literal */
		{ "999999999999999999999", 0x444b1ae4d6e2ef50, "1e+21" },
		{ "100000000000000000000000", 0x44b52d02c7e14af6, "1e+23" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++)
		expect(rows[i].literal, KS_NUMBER_INEXACT_INTEGER,
			rows[i].bits, rows[i].text);
}

static void
an_integer_that_is_its_double_or_its_text_is_accepted(void **state)
{
	static const struct {
		const char *literal;
		uint64_t bits;
		const char *text;
	} rows[] = {
		{ "999999999999999", 0x430c6bf52633fff8, "999999999999999" },
		{ "-999999999999999", 0xc30c6bf52633fff8, "-999999999999999" },
		{ "1000000000000000", 0x430c6bf526340000,
			"1000000000000000" },
		{ "9007199254740991", 0x433fffffffffffff,
			"9007199254740991" },
		{ "9007199254740992", 0x4340000000000000,
			"9007199254740992" },
		{ "9007199254740994", 0x4340000000000001,
			"9007199254740994" },
		{ "9223372036854775808", 0x43e0000000000000,
			"9223372036854776000" },
		{ "9223372036854776000", 0x43e0000000000000,
			"9223372036854776000" },
		{ "-18446744073709551616", 0xc3f0000000000000,
			"-18446744073709552000" },
		{ "295147905179352825856", 0x4430000000000000,
			"295147905179352830000" },
		{ "295147905179352830000", 0x4430000000000000,
			"295147905179352830000" },
		{ "295147905179352800000", 0x442fffffffffffff,
			"295147905179352800000" },
		{ "100000000000000000000", 0x4415af1d78b58c40,
			"100000000000000000000" },
		{ "1000000000000000000000", 0x444b1ae4d6e2ef50, "1e+21" },
		{ "10000000000000000000000", 0x4480f0cf064dd592, "1e+22" },
		/* not integer literals */
		{ "9007199254740993.0", 0x4340000000000000,
			"9007199254740992" },
		{ "9007199254740993e0", 0x4340000000000000,
			"9007199254740992" },
		{ "1E23", 0x44b52d02c7e14af6, "1e+23" },
	};
	static char literal[NUM_TEXT_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++)
		expect(rows[i].literal, KS_NUMBER_OK, rows[i].bits,
			rows[i].text);
	exact_literal(literal, ((uint64_t)1 << 53) - 1, 971);
	expect(literal, KS_NUMBER_OK, 0x7fefffffffffffff,
		"1.7976931348623157e+308");
	literal[strlen(literal) - 1]++;
	expect(literal, KS_NUMBER_INEXACT_INTEGER, 0x7fefffffffffffff,
		"1.7976931348623157e+308");
}

static void
the_bounds_of_each_layout_are_where_es6_puts_them(void **state)
{
	static const struct {
		const char *literal;
		const char *text;
	} rows[] = {
		{ "1e20", "100000000000000000000" },
		{ "1e21", "1e+21" },
		{ "123456789012345e6", "123456789012345000000" },
		{ "123456789012345e7", "1.23456789012345e+21" },
		{ "0.000001", "0.000001" },
		{ "0.0000001", "1e-7" },
		{ "0.00000123456789012345", "0.00000123456789012345" },
		{ "0.000000123456789012345", "1.23456789012345e-7" },
		{ "1.50000", "1.5" },
		{ "-12.5E+1", "-125" },
		{ "120e-1", "12" },
		{ "-0.008", "-0.008" },
		{ "1e-10", "1e-10" },
		{ "1e-100", "1e-100" },
		{ "-1.5e300", "-1.5e+300" },
		{ "0.30000000000000004", "0.30000000000000004" },
		{ "2.2250738585072011e-308", "2.225073858507201e-308" },
		{ "123456789012345e-320", "1.23456789012345e-306" },
		{ "123456789012345e-322", "1.23456789012345e-308" },
		{ "123456789012345e-330", "1.2345679e-316" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		expect(rows[i].literal, KS_NUMBER_OK,
			bits_of(strtod(rows[i].literal, NULL)), rows[i].text);
	}
}

/* PREFIX, `zeros` times '0', SUFFIX. */
static void
expect_long(const char *prefix, size_t zeros, const char *suffix,
	enum ks_number_kind kind, uint64_t bits, const char *text)
{
	size_t start = strlen(prefix), len = start + zeros + strlen(suffix);
	char *literal = malloc(len);

	assert_non_null(literal);
	memcpy(literal, prefix, start);
	memset(literal + start, '0', zeros);
	memcpy(literal + start + zeros, suffix, strlen(suffix));
	expect_span(ks_span(literal, len), kind, bits, text);
	free(literal);
}

static void
literals_of_any_length_are_read_right(void **state)
{
	const uint64_t one = 0x3ff0000000000000;
	const char *middle =
		"1.00000000000000011102230246251565404236316680908203125";

	(void)state;
	expect_long("1", 400000, "e-400000", KS_NUMBER_OK, one, "1");
	expect_long("0.", 400000, "1e400001", KS_NUMBER_OK, one, "1");
	expect_long("1.", 400000, "1", KS_NUMBER_OK, one, "1");
	expect_long(middle, 400000, "", KS_NUMBER_OK, one, "1");
	expect_long(middle, 400000, "1", KS_NUMBER_OK, one + 1,
		"1.0000000000000002");
	expect_long("1e", 400000, "0", KS_NUMBER_OK, one, "1");
	expect_long("1e-", 400000, "1", KS_NUMBER_OK, 0x3fb999999999999a,
		"0.1");
	expect_long("1", 400000, "", KS_NUMBER_OVERFLOW, 0, "");
	expect_long("-1", 400000, "e-399000", KS_NUMBER_OVERFLOW, 0, "");
	expect_long("0.", 400000, "1", KS_NUMBER_UNDERFLOW, 0, "0");
	expect_long("0.", 400000, "1e399000", KS_NUMBER_UNDERFLOW, 0, "0");
}

static void
the_rounding_mode_has_no_influence(void **state)
{
	static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(modes); i++) {
		double value = 0;

		assert_int_equal(fesetround(modes[i]), 0);
		(void)ks_number_read(ks_span_text("0.1"), &value);
		assert_int_equal(fesetround(FE_TONEAREST), 0);
		assert_true(bits_of(value) == 0x3fb999999999999a);
		assert_int_equal(fesetround(modes[i]), 0);
		(void)ks_number_read(ks_span_text("0.3"), &value);
		assert_int_equal(fesetround(FE_TONEAREST), 0);
		assert_true(bits_of(value) == 0x3fd3333333333333);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_row_of_the_number_table_is_written_and_read),
		cmocka_unit_test(
			each_of_the_first_es6_lines_is_written_and_read),
		cmocka_unit_test(
			each_decimal_of_the_table_gets_its_canonical_text),
		cmocka_unit_test(
			the_published_checksums_of_the_es6_lines_come_out),
		cmocka_unit_test(
			each_power_is_the_least_integer_not_below_its_value),
		cmocka_unit_test(
			random_doubles_are_written_shortest),
		cmocka_unit_test(
			powers_of_two_and_neighbours_are_written_shortest),
		cmocka_unit_test(
			powers_of_ten_and_neighbours_are_written_shortest),
		cmocka_unit_test(
			subnormals_and_small_integers_are_written_shortest),
		cmocka_unit_test(
			doubles_close_to_a_decision_are_written_shortest),
		cmocka_unit_test(random_doubles_read_back_to_the_same_bits),
		cmocka_unit_test(
			random_literals_are_read_as_the_c_library_does),
		cmocka_unit_test(
			middles_go_to_the_even_double_sides_to_the_nearer),
		cmocka_unit_test(
			middles_with_few_digits_go_to_the_even_double),
		cmocka_unit_test(every_form_of_zero_is_zero_and_no_underflow),
		cmocka_unit_test(what_rounds_to_infinity_is_an_overflow),
		cmocka_unit_test(
			the_middle_above_the_largest_double_is_an_overflow),
		cmocka_unit_test(what_rounds_to_zero_is_an_underflow),
		cmocka_unit_test(the_middle_above_zero_is_an_underflow),
		cmocka_unit_test(
			an_integer_that_its_double_changes_is_inexact),
		cmocka_unit_test(
			an_integer_that_is_its_double_or_its_text_is_accepted),
		cmocka_unit_test(
			the_bounds_of_each_layout_are_where_es6_puts_them),
		cmocka_unit_test(literals_of_any_length_are_read_right),
		cmocka_unit_test(the_rounding_mode_has_no_influence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
