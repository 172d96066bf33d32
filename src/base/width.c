#include "base/width.h"

#include "base/utf8.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Marks on one character that take no column. */
#define MARKS_MAX 2

struct range {
	uint32_t first, last;
};

/* Marks, and characters that are not seen. Those of scripts that are not here
 * count a column. */
static const struct range marks[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd },
	{ 0x5bf, 0x5bf }, { 0x5c1, 0x5c2 }, { 0x5c4, 0x5c5 },
	{ 0x5c7, 0x5c7 }, { 0x610, 0x61a }, { 0x64b, 0x65f },
	{ 0x670, 0x670 }, { 0x6d6, 0x6dc }, { 0x6df, 0x6e4 },
	{ 0x6e7, 0x6e8 }, { 0x6ea, 0x6ed }, { 0x93c, 0x93c },
	{ 0x941, 0x948 }, { 0x94d, 0x94d }, { 0xe31, 0xe31 },
	{ 0xe34, 0xe3a }, { 0xe47, 0xe4e }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x2060, 0x2064 },
	{ 0x20d0, 0x20ff }, { 0x302a, 0x302d }, { 0x3099, 0x309a },
	{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xe0000, 0xe0fff }
};

/* Two columns: East Asian scripts, full-width forms, emoji. */
static const struct range wide[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a },
	{ 0x23e9, 0x23f3 }, { 0x25fd, 0x25fe }, { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 }, { 0x267f, 0x267f }, { 0x2693, 0x2693 },
	{ 0x26a1, 0x26a1 }, { 0x26aa, 0x26ab }, { 0x26bd, 0x26be },
	{ 0x26c4, 0x26c5 }, { 0x26ce, 0x26ce }, { 0x26d4, 0x26d4 },
	{ 0x26ea, 0x26ea }, { 0x26f2, 0x26f5 }, { 0x26fa, 0x26fd },
	{ 0x2705, 0x2705 }, { 0x270a, 0x270b }, { 0x2728, 0x2728 },
	{ 0x274c, 0x274e }, { 0x2753, 0x2757 }, { 0x2795, 0x2797 },
	{ 0x27b0, 0x27bf }, { 0x2b1b, 0x2b1c }, { 0x2b50, 0x2b55 },
	{ 0x2e80, 0x303e }, { 0x3041, 0xa4cf }, { 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 }, { 0xf900, 0xfaff }, { 0xfe10, 0xfe19 },
	{ 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x18cff }, { 0x1aff0, 0x1b2ff }, { 0x1f000, 0x1f0ff },
	{ 0x1f18e, 0x1f19a }, { 0x1f1e6, 0x1f64f }, { 0x1f680, 0x1f6ff },
	{ 0x1f7e0, 0x1f7ff }, { 0x1f90c, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd }
};

static bool
is_among(const struct range *ranges, size_t count, uint32_t c)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && c >= ranges[low].first;
}

/* The columns of the next character, which is taken off `rest`. `piled` is how
 * many marks came one after another. */
static size_t
next_width(struct ks_span *rest, size_t *piled)
{
	uint32_t c = 0;
	size_t n = ks_utf8_decode(*rest, &c);

	if (n == 0)
		n = 1;
	rest->data += n;
	rest->len -= n;
	if (c < 0x300 || !is_among(marks, COUNT(marks), c)) {
		*piled = 0;
		return c >= 0x1100 && is_among(wide, COUNT(wide), c) ? 2 : 1;
	}
	return ++*piled > MARKS_MAX ? 2 : 0;
}

size_t
ks_width(struct ks_span text)
{
	size_t columns = 0;
	size_t piled = 0;

	while (text.len > 0)
		columns += next_width(&text, &piled);
	return columns;
}

size_t
ks_width_fit(struct ks_span text, size_t columns, size_t *used)
{
	struct ks_span rest = text;
	size_t taken = 0;
	size_t piled = 0;
	size_t fits = 0;

	while (rest.len > 0) {
		size_t width = next_width(&rest, &piled);

		if (taken + width > columns)
			break;
		taken += width;
		fits = text.len - rest.len;
	}
	if (used != NULL)
		*used = taken;
	return fits;
}
