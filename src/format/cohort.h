/*
 * Keys of comparison: which runs may be compared with each other.
 *
 * A key is the SHA-256 of the canonical text of a small object composed from
 * the specs of a run and what it refers to (canonical text, format/json.h).
 * It names no stored object. Equal keys mean: same workload, protocol,
 * environment, rule of correctness and primary measurement; whose
 * implementation it was and who reported it does not matter.
 *
 * KS_INVALID when a member that the key rests on is missing.
 */
#ifndef KS_FORMAT_COHORT_H
#define KS_FORMAT_COHORT_H

#include "base/buf.h"
#include "format/id.h"

/* The correctness key: of {correctness} of the spec of a WorkloadCase or
 * WorkloadSuite. */
enum ks_status ks_cohort_correctness(struct ks_span workload,
	struct ks_id *out, struct ks_error *err) KS_CHECKED;

/* The comparison key of a BenchmarkRun: of {correctness, environment, metric,
 * operation, protocol, v, workload}. `workload` is the spec that the run's
 * workloadDigest names; the operation is the workload's. */
enum ks_status ks_cohort_comparison(struct ks_span run,
	struct ks_span workload, struct ks_id *out, struct ks_error *err)
	KS_CHECKED;

/* The cohort key of a ServingRun: of {metricSetKey, modelDigest, protocolKey,
 * qualityPolicy, tokenizer, topologyKey, workloadDigest}. `model` and
 * `workload` are the specs of the ModelRevision and ServingWorkload that the
 * run names. */
enum ks_status ks_cohort_serving(struct ks_span run, struct ks_span model,
	struct ks_span workload, struct ks_id *out, struct ks_error *err)
	KS_CHECKED;

/* Append the three texts in it, escaped as in JSON:
 * "mlperf_loadgen/v5.1/unspecified/streaming/open_loop" (harness, version,
 * placement, how requests come), "amd/MI300X/8x1/unspecified" (vendor, model,
 * accelerators per node x nodes, interconnect), and each "metric·statistic",
 * sorted and joined by ",". */
void ks_cohort_protocol(struct ks_buf *out, struct ks_span run,
	struct ks_span workload);
void ks_cohort_topology(struct ks_buf *out, struct ks_span run);
void ks_cohort_metrics(struct ks_buf *out, struct ks_span run);

#endif
