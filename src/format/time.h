/*
 * Times of log lines: "YYYY-MM-DDTHH:MM:SSZ" (store-layout.md L7), and the
 * order of those in manifests.
 *
 * The proleptic Gregorian calendar, years 0000 to 9999, no leap seconds. Times
 * of log lines have one length, so byte order is the order of time.
 */
#ifndef KS_FORMAT_TIME_H
#define KS_FORMAT_TIME_H

#include "base/span.h"

#define KS_TIME_TEXT 20

/* Read exactly that form, a real date and time, as POSIX seconds. */
bool ks_time_parse(struct ks_span text, int64_t *seconds);

/* Write it, NUL-terminated; false (and "") outside the years 0000 to 9999. */
bool ks_time_print(int64_t seconds, char out[KS_TIME_TEXT + 1]);

/* Compare two Instants as manifests have them (seconds and a fraction of any
 * length may be there or not; escaped as in JSON): <0, 0, >0. What is none is
 * before all that are, and equal to its like. */
int ks_time_compare_instants(struct ks_span a, struct ks_span b);

#endif
