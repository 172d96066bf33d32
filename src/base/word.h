/*
 * Eight bytes at a time.
 *
 * A word holds eight bytes of memory, the first one lowest, on machines of
 * either byte order. Tests answer with a set of hits: the high bit of a byte
 * is set where it passed. Hits above the lowest one may be false (a borrow
 * runs upwards), so only ks_word_first() of them means something.
 */
#ifndef KS_BASE_WORD_H
#define KS_BASE_WORD_H

#include <stddef.h>
#include <stdint.h>

#define KS_WORD_BYTES 8
#define KS_WORD_ONES UINT64_C(0x0101010101010101)
#define KS_WORD_HIGHS UINT64_C(0x8080808080808080)

/* The word at `p`; compilers make one load of it. */
static inline uint64_t
ks_word_load(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
		(uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
		(uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
		(uint64_t)p[7] << 56;
}

/* The same bytes with the first one highest, so that comparing words as
 * integers compares them as memcmp() does. */
static inline uint64_t
ks_word_swap(uint64_t w)
{
	w = (w & UINT64_C(0x00ff00ff00ff00ff)) << 8 |
		(w >> 8 & UINT64_C(0x00ff00ff00ff00ff));
	w = (w & UINT64_C(0x0000ffff0000ffff)) << 16 |
		(w >> 16 & UINT64_C(0x0000ffff0000ffff));
	return w << 32 | w >> 32;
}

/* Hits where a byte equals `byte`. */
static inline uint64_t
ks_word_equal(uint64_t word, uint8_t byte)
{
	uint64_t x = word ^ byte * KS_WORD_ONES;

	return (x - KS_WORD_ONES) & ~x & KS_WORD_HIGHS;
}

/* Hits where a byte of a JSON string needs a closer look: the quote, the
 * backslash, control characters and everything that is not ASCII. */
static inline uint64_t
ks_word_special(uint64_t word)
{
	return ((word - 0x20 * KS_WORD_ONES) |
		((word ^ 0x22 * KS_WORD_ONES) - KS_WORD_ONES) |
		((word ^ 0x5c * KS_WORD_ONES) - KS_WORD_ONES) | word) &
		KS_WORD_HIGHS;
}

/* The lowest byte that was hit, 0 to 7; `hits` is not 0. */
static inline size_t
ks_word_first(uint64_t hits)
{
#if defined(__GNUC__)
	return (size_t)__builtin_ctzll(hits) / 8;
#else
	uint64_t below = ((hits & (0 - hits)) >> 7) - 1;

	return (size_t)((below & KS_WORD_ONES) * KS_WORD_ONES >> 56);
#endif
}

#endif
