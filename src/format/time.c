#include "format/time.h"

#include "format/kind.h"

/* `count` decimal digits, or -1. */
static int
read_digits(const uint8_t *at, size_t count)
{
	int value = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (at[i] < '0' || at[i] > '9')
			return -1;
		value = 10 * value + (at[i] - '0');
	}
	return value;
}

static bool
is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int
days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

/* Days from 0000-01-01 to the first day of `year`, proleptic Gregorian. */
static int64_t
days_before_year(int64_t year)
{
	if (year == 0)
		return 0;
	year--;
	return 366 + 365 * year + year / 4 - year / 100 + year / 400;
}

#define DAYS_BEFORE_1970 719528
#define SECONDS_PER_DAY 86400

bool
ks_time_parse(struct ks_span text, int64_t *seconds)
{
	const uint8_t *p = text.data;
	int year, month, day, hour, minute, second, i;
	int64_t days;

	if (text.len != KS_TIME_TEXT || p[4] != '-' || p[7] != '-' ||
		p[10] != 'T' || p[13] != ':' || p[16] != ':' || p[19] != 'Z')
		return false;
	year = read_digits(p, 4);
	month = read_digits(p + 5, 2);
	day = read_digits(p + 8, 2);
	hour = read_digits(p + 11, 2);
	minute = read_digits(p + 14, 2);
	second = read_digits(p + 17, 2);
	if (year < 0 || month < 1 || month > 12 || day < 1 ||
		day > days_in_month(year, month) || hour < 0 || hour > 23 ||
		minute < 0 || minute > 59 || second < 0 || second > 59)
		return false;
	days = days_before_year(year) - DAYS_BEFORE_1970 + day - 1;
	for (i = 1; i < month; i++)
		days += days_in_month(year, i);
	*seconds = days * SECONDS_PER_DAY + (int64_t)hour * 3600 +
		(int64_t)minute * 60 + second;
	return true;
}

static void
print_digits(int value, size_t count, char *out)
{
	while (count-- > 0) {
		out[count] = (char)('0' + value % 10);
		value /= 10;
	}
}

bool
ks_time_print(int64_t seconds, char out[KS_TIME_TEXT + 1])
{
	const int64_t first = -(int64_t)DAYS_BEFORE_1970 * SECONDS_PER_DAY;
	const int64_t end = first + days_before_year(10000) * SECONDS_PER_DAY;
	int64_t days;
	int year, month = 1, rest;

	out[0] = '\0';
	if (seconds < first || seconds >= end)
		return false;
	days = (seconds - first) / SECONDS_PER_DAY;
	rest = (int)((seconds - first) % SECONDS_PER_DAY);
	year = (int)(days / 366);
	while (days_before_year(year + 1) <= days)
		year++;
	days -= days_before_year(year);
	while (days >= days_in_month(year, month))
		days -= days_in_month(year, month++);
	memcpy(out, "0000-00-00T00:00:00Z", KS_TIME_TEXT + 1);
	print_digits(year, 4, out);
	print_digits(month, 2, out + 5);
	print_digits((int)days + 1, 2, out + 8);
	print_digits(rest / 3600, 2, out + 11);
	print_digits(rest / 60 % 60, 2, out + 14);
	print_digits(rest % 60, 2, out + 17);
	return true;
}

/* The parts of an Instant: all are empty where it is none. */
struct instant {
	struct ks_span minute;		/* "YYYY-MM-DDTHH:MM" */
	struct ks_span second;		/* "SS" */
	struct ks_span fraction;	/* without zeros at its end */
};

#define MINUTE_CHARS 16
#define SECOND_CHARS 19

static struct instant
split_instant(struct ks_span raw)
{
	struct instant t = { .minute = ks_span(NULL, 0) };

	if (!ks_shape_instant(raw))
		return t;
	raw.len--;	/* the Z */
	t.minute = ks_span(raw.data, MINUTE_CHARS);
	t.second = raw.len < SECOND_CHARS ? ks_span_text("00") :
		ks_span(raw.data + MINUTE_CHARS + 1, 2);
	if (raw.len > SECOND_CHARS + 1)
		t.fraction = ks_span(raw.data + SECOND_CHARS + 1,
			raw.len - SECOND_CHARS - 1);
	while (t.fraction.len > 0 &&
		t.fraction.data[t.fraction.len - 1] == '0')
		t.fraction.len--;
	return t;
}

int
ks_time_compare_instants(struct ks_span a, struct ks_span b)
{
	struct instant x = split_instant(a);
	struct instant y = split_instant(b);
	int order = ks_span_compare(x.minute, y.minute);

	if (order == 0)
		order = ks_span_compare(x.second, y.second);
	return order != 0 ? order : ks_span_compare(x.fraction, y.fraction);
}
