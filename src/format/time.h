/*
 * Times of log lines: "YYYY-MM-DDTHH:MM:SSZ" (store-layout.md L7).
 *
 * The proleptic Gregorian calendar, years 0000 to 9999, no leap seconds. All
 * have one length, so byte order is the order of time.
 */
#ifndef KS_FORMAT_TIME_H
#define KS_FORMAT_TIME_H

#include "base/span.h"

#define KS_TIME_TEXT 20

/* Read exactly that form, a real date and time, as POSIX seconds. */
bool ks_time_parse(struct ks_span text, int64_t *seconds);

/* Write it, NUL-terminated; false (and "") outside the years 0000 to 9999. */
bool ks_time_print(int64_t seconds, char out[KS_TIME_TEXT + 1]);

#endif
