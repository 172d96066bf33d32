/*
 * Citation texts: what KernelIndex's pages give to copy, in sentences that are
 * joined by a blank.
 *
 * Texts are UTF-8, unescaped. Without an id the digest stands for it, once in
 * the sentence that names the record, and in the permalink.
 */
#ifndef KS_FORMAT_CITETEXT_H
#define KS_FORMAT_CITETEXT_H

#include "base/buf.h"
#include "format/id.h"

/* What is cited, and when it was looked at. */
struct ks_cited {
	struct ks_id digest;
	struct ks_span id;		/* KernelIndex's; empty = none */
	struct ks_span accessed;	/* YYYY-MM-DD */
};

/* A BenchmarkRun: "NAME · OPERATION, WORKLOAD. PRIMARY (STATISTIC). Reported
 * by SOURCE. KernelIndex run ID, DIGEST. https://kernelindex.com/runs/ID.
 * Accessed DATE." */
struct ks_cited_run {
	struct ks_span implementation, operation, workload;
	struct ks_span primary, statistic;
	struct ks_span source;
};
void ks_citetext_run(struct ks_buf *out, const struct ks_cited *cited,
	const struct ks_cited_run *run);

/* A ServingRun: "SUMMARY · MODEL, WORKLOAD. VALUE (METRIC, STATISTIC).
 * ATTRIBUTION. KernelIndex serving run ID, DIGEST.
 * https://kernelindex.com/serving-runs/ID. Accessed DATE." Without a `value`
 * the second sentence is left out. */
struct ks_cited_serving {
	struct ks_span summary, model, workload;
	struct ks_span value, metric, statistic;
	struct ks_span attribution;
};
void ks_citetext_serving(struct ks_buf *out, const struct ks_cited *cited,
	const struct ks_cited_serving *run);

#endif
