/*
 * The ES6 number file of github.com/cyberphone/json-canonicalization, line by
 * line: its bit patterns are determined, and a published SHA-256 of the first
 * 10^3 to 10^8 lines says whether every text is right.
 *
 *	1. fixed values, read from a file of 16 hex digits a line;
 *	2. the smallest normal number and the 1,999 doubles after it;
 *	3. the digests of 32 zero bytes, of that digest, and so on, each as
 *	   four little-endian patterns; zeros and what is not finite left out.
 */
#ifndef KS_TESTS_ES6_LINES_H
#define KS_TESTS_ES6_LINES_H

#include <inttypes.h>
#include <stdio.h>

#include "format/digest.h"
#include "format/number.h"

#define ES6_FIXED_MAX 256
#define ES6_COUNTED 2000
#define ES6_LINE_MAX (16 + 1 + KS_NUMBER_TEXT_MAX + 1)

struct es6_lines {
	uint64_t fixed[ES6_FIXED_MAX];
	size_t fixed_count;
	size_t index;		/* of the next line, up to the hash part */
	struct ks_id state;
	size_t group;		/* of the state, 4 when it is used up */
};

/* Start at the first line; false where the fixed values cannot be read. */
static inline bool
es6_lines_open(struct es6_lines *lines, const char *path)
{
	FILE *file = fopen(path, "r");

	memset(lines, 0, sizeof(*lines));
	lines->group = 4;
	if (file == NULL)
		return false;
	while (lines->fixed_count < ES6_FIXED_MAX &&
		fscanf(file, "%16" SCNx64,
			&lines->fixed[lines->fixed_count]) == 1)
		lines->fixed_count++;
	fclose(file);
	return lines->fixed_count > 0;
}

static inline uint64_t
es6_next_hashed(struct es6_lines *lines)
{
	uint64_t bits = 0;
	struct ks_id former;
	size_t i;

	if (lines->group == 4) {
		former = lines->state;
		ks_sha256(ks_span(former.bytes, sizeof(former.bytes)),
			&lines->state);
		lines->group = 0;
	}
	for (i = 8; i-- > 0;)
		bits = bits << 8 | lines->state.bytes[lines->group * 8 + i];
	lines->group++;
	return bits;
}

/* The bits of the next line. */
static inline uint64_t
es6_lines_next(struct es6_lines *lines)
{
	const uint64_t infinity = (uint64_t)0x7ff << 52;
	uint64_t bits, size;
	size_t i = lines->index;

	if (i < lines->fixed_count + ES6_COUNTED) {
		lines->index++;
		if (i < lines->fixed_count)
			return lines->fixed[i];
		return ((uint64_t)1 << 52) + (i - lines->fixed_count);
	}
	do {
		bits = es6_next_hashed(lines);
		size = bits & ~((uint64_t)1 << 63);
	} while (size == 0 || size >= infinity);
	return bits;
}

/* Write the line of `bits` with its newline; returns the length. */
static inline size_t
es6_line_write(uint64_t bits, char out[ES6_LINE_MAX])
{
	double value;
	size_t len = 0;
	int shift = 60;

	while (shift > 0 && bits >> shift == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		out[len++] = "0123456789abcdef"[bits >> shift & 15];
	out[len++] = ',';
	memcpy(&value, &bits, sizeof(value));
	len += ks_number_write(value, out + len);
	out[len++] = '\n';
	return len;
}

#endif
