/*
 * Measurements: what a run states that was measured.
 *
 * `run` is the spec of a BenchmarkRun or a ServingRun, canonical text
 * (format/json.h). Names point into it, escaped and without quotes; what has
 * the wrong type counts as absent.
 */
#ifndef KS_FORMAT_MEASURE_H
#define KS_FORMAT_MEASURE_H

#include "base/buf.h"
#include "base/error.h"

struct ks_measurement {
	struct ks_span metric, statistic, unit;
	double value;
	int64_t samples;	/* 0 = not stated */
};

/* The one measurement that stands for a run, and ranks it. */
struct ks_primary {
	struct ks_measurement measurement;
	bool has_interval;
	double low, high;	/* confidence95, in ns */
};

/* The primary measurement. With `timing`: latency in ns, the statistic that
 * timing.primaryStatistic names, and as its value the mean where that is
 * "mean" and else the median, or the other one where there is only that. A
 * statistic such as p95 is named, though the median is shown. Without
 * `timing`: the first of `measurements`. False, and none, otherwise. */
bool ks_measure_primary(struct ks_span run, struct ks_primary *out);

/* Append "metric:statistic:unit" of the primary measurement (escaped), or
 * "none". */
void ks_measure_key(struct ks_buf *out, struct ks_span run);

/* All measurements: those of timing.latencyNs (median, mean, p05, p95, min,
 * max, mad), then `measurements` in list order. Of those with the same metric
 * and statistic only the first is there. *rows is for the caller to free(),
 * NULL when there are none. KS_NOMEM. */
enum ks_status ks_measure_list(struct ks_span run,
	struct ks_measurement **rows, size_t *count, struct ks_error *err)
	KS_CHECKED;

#endif
