/*
 * Powers of ten to 128 bits, for reading and writing numbers.
 *
 * With r(k) = floor(log2(10^k)) - 127, the row of exponent k holds the least
 * integer not below 10^k / 2^r(k), which lies in [2^127, 2^128). It is exact
 * for 0 <= k <= 55 and too large by less than one for every other k.
 *
 * Used by number.c alone, and by its test.
 */
#ifndef KS_FORMAT_NUMBER_POWERS_H
#define KS_FORMAT_NUMBER_POWERS_H

#include <stdint.h>

/* Reading needs exponents -342 to 308, writing -292 to 324. */
#define KS_NUMBER_POWER_MIN (-342)
#define KS_NUMBER_POWER_MAX 324
#define KS_NUMBER_POWERS (KS_NUMBER_POWER_MAX - KS_NUMBER_POWER_MIN + 1)

struct ks_number_power {
	uint64_t high;
	uint64_t low;
};

/* The row of exponent k is at index k - KS_NUMBER_POWER_MIN. */
extern const struct ks_number_power ks_number_powers[KS_NUMBER_POWERS];

#endif
