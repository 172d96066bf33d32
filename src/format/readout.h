/*
 * Readouts: the texts that KernelIndex shows for the numbers of a run.
 *
 * All rounding is of the exact value of the double, ties away from zero: a
 * tie is one in binary, so 12250 ns is "12.3 µs", and so is 12350 ns, whose
 * 12.35 lies below the tie. Nothing depends on the locale. Every function
 * appends to `out`.
 */
#ifndef KS_FORMAT_READOUT_H
#define KS_FORMAT_READOUT_H

#include "base/buf.h"

#define KS_READOUT_DECIMALS 4	/* at most */

/* A finite number with exactly `decimals` decimals. */
void ks_readout_fixed(struct ks_buf *out, double value, unsigned decimals);

/* A finite number with commas between its thousands and at most three
 * decimals: "8,840.42". */
void ks_readout_grouped(struct ks_buf *out, double value);

/* A finite number as ECMAScript writes it. */
void ks_readout_number(struct ks_buf *out, double value);

/* A finite duration in nanoseconds: "984 ns", rounded half up, below 1000,
 * else in µs, ms or s with two decimals below 10 and one from there. The unit
 * is chosen first, so 999950 ns is "1000.0 µs". */
void ks_readout_latency(struct ks_buf *out, double ns);

/* A finite value with its unit (escaped as in JSON, perhaps empty): a latency
 * where the unit is ns or s, else "0.75 ratio". Seconds that are too large
 * for nanoseconds stay a number with a unit. */
void ks_readout_value(struct ks_buf *out, double value, struct ks_span unit);

/* Half the width of the interval around `value`, in the unit that
 * ks_readout_value() shows it in, with two decimals: "±1.25". False, and
 * nothing appended, for other units than ns and s. */
bool ks_readout_spread(struct ks_buf *out, double value, struct ks_span unit,
	double low, double high);

/* The date of an instant (escaped as in JSON): its first ten characters; an
 * em dash when it is none, or empty. */
void ks_readout_date(struct ks_buf *out, struct ks_span instant);

#endif
