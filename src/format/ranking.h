/*
 * Rankings: which runs of a comparison group lead, and which did.
 *
 * A group is the eligible runs with one comparison key (format/cohort.h). The
 * policy is KernelIndex's "ranking-v1": lower is better, whatever the metric;
 * runs that cannot be told apart share a rank.
 *
 *	for each eligible run of the group
 *		if (ks_ranking_enter(&entries[count], spec))
 *			...entries[count++].id = ...;
 *	ks_ranking_sort(entries, count);
 *
 * Nothing here needs memory but the caller's array.
 */
#ifndef KS_FORMAT_RANKING_H
#define KS_FORMAT_RANKING_H

#include "base/buf.h"
#include "format/evidence.h"

#define KS_RANKING_POLICY "ranking-v1"

/* What decides whether a run may rank. */
struct ks_standing {
	struct ks_span status;	/* of the run; escaped as in JSON */
	bool is_published;
	bool is_retracted;
	bool is_superseded;	/* by a published run */
	bool has_primary;	/* a primary measurement */
};

bool ks_ranking_is_eligible(const struct ks_standing *standing);

/* Append why a run may not rank, all reasons joined by ", ": UNPUBLISHED,
 * STATUS_… (RUNTIME_ERROR), RETRACTED, SUPERSEDED, MISSING_PRIMARY_METRIC.
 * Nothing when it may. */
void ks_ranking_reasons(struct ks_buf *out,
	const struct ks_standing *standing);

/* A run of a group. */
struct ks_ranking_entry {
	double value;			/* primary, finite */
	bool has_interval;
	double low, high;
	bool is_source_native;		/* has sourceNative */
	struct ks_span observed_at;	/* an Instant; escaped as in JSON */
	enum ks_evidence evidence;
	struct ks_span id;		/* unique; decides last, by bytes */
	size_t index;			/* the caller's own */
	/* What ks_ranking_sort() finds. */
	size_t rank;			/* from 1 */
	bool is_tied;			/* others have this rank, too */
};

/* Fill an entry from the spec of a BenchmarkRun: all but evidence, id and
 * index, which are 0. False when it has no primary measurement. */
bool ks_ranking_enter(struct ks_ranking_entry *entry, struct ks_span run);

/* Rank a group and sort it for display; entries[0] is its head. Two runs tie
 * when their values are equal, or, if no run of the group is source native,
 * when both have intervals and these touch. Runs that all tie with each other
 * share a rank, the ranks are dense (1, 2, 2, 3), and among equals the one
 * with more evidence comes first, then the newer, then by id. */
void ks_ranking_sort(struct ks_ranking_entry *entries, size_t count);

/* The history of a group's lead: returns how many runs ever took it, which
 * then are the first of `entries`, in the order in which they did. Each beat,
 * strictly, the value of the one before it. Runs come by observed_at, then by
 * id. The order of the others is not specified. */
size_t ks_ranking_records(struct ks_ranking_entry *entries, size_t count);

#endif
