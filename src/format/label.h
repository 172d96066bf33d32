/*
 * Labels: the names and lines that KernelIndex derives from records.
 *
 * Specs and metadata are canonical objects (format/json.h); an empty span
 * stands for one that is not at hand. Every function appends UTF-8 to `out`,
 * whose failure is sticky, and nothing where there is nothing to say; members
 * of the wrong type count as absent. Parts of a label are joined by " · ".
 * Case is that of ASCII.
 */
#ifndef KS_FORMAT_LABEL_H
#define KS_FORMAT_LABEL_H

#include "base/buf.h"

/* The dtypes of a case's tensors: "bf16", "bf16/fp32/fp8_e4m3 +2". Distinct
 * and sorted; three are named, the others counted. float4_e2m1fn_x2 reads
 * "fp4". Those that begin with int, uint or index, and bool, are left out
 * unless all are such. */
void ks_label_dtypes(struct ks_buf *out, struct ks_span tensors);

/* A workload, from its identity body {apiVersion, kind, spec}. A case has its
 * axes in jsonb order and its dtypes: "seq = 2048 · hidden = 8192 · bf16". A
 * suite has its size and what it aggregates, unless unspecified: "suite of 16
 * cases · mean latency". */
void ks_label_workload(struct ks_buf *out, struct ks_span body);

/* An operation, from its metadata: the title, or else the name. One with a
 * space in it is shown as it is; of others a number in front goes, "_" becomes
 * a space, technical words get their usual case, and the first word begins
 * with a capital: "013_gqa_paged_decode" is "GQA paged decode". */
void ks_label_operation(struct ks_buf *out, struct ks_span metadata);

/* An implementation: the segments of its title that do not merely repeat the
 * operation, or, where none is left, its slug. `slug` (escaped as in JSON) is
 * the catalogue's; empty means that it is metadata.name. */
void ks_label_implementation(struct ks_buf *out, struct ks_span metadata,
	struct ks_span slug, struct ks_span operation_metadata);

/* The source's own numbers (a run's sourceNative.metrics) in one line: "SOL
 * 0.8312 · 1.25× reference · 16/16 cases faster", then all others in jsonb
 * order: "ms 20 0.62". Latencies in milliseconds are left out, and a speedup
 * where there is a better one. */
void ks_label_metrics(struct ks_buf *out, struct ks_span metrics);

/* What a run ran in, from the specs of environment and protocol: "CUDA 12.8 ·
 * pytorch 2.8.0+cu128 · flashinfer-bench". */
void ks_label_environment(struct ks_buf *out, struct ks_span environment,
	struct ks_span protocol);

#endif
