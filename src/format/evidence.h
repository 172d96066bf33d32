/*
 * Evidence: how far a run can be relied on.
 *
 * The level is derived from facts, never chosen. That a stored record is
 * complete is taken for granted; licences, whether it can be installed, and
 * notes by others do not count.
 */
#ifndef KS_FORMAT_EVIDENCE_H
#define KS_FORMAT_EVIDENCE_H

#include "base/span.h"

/* In rising order. */
enum ks_evidence {
	KS_EVIDENCE_NONE,		/* no level is known */
	KS_EVIDENCE_REPORTED,		/* somebody says so */
	KS_EVIDENCE_REPRODUCIBLE,	/* source and raw evidence are there */
	KS_EVIDENCE_VERIFIED,		/* rerun by the publisher */
	KS_EVIDENCE_REPLICATED		/* at least twice, by others */
};

struct ks_evidence_facts {
	int64_t replications;	/* independent ones */
	bool is_rerun;		/* under the publisher's control */
	bool has_source;
	bool has_raw;
};

/* Whether an implementation's source is available: the spec of its
 * ImplementationRevision has `source` or projectRevision.repository. */
bool ks_evidence_has_source(struct ks_span implementation);

/* Whether a run's raw evidence is: its spec has timing.rawSamples,
 * evidence.rawSamples or evidence.logs. */
bool ks_evidence_has_raw(struct ks_span run);

enum ks_evidence ks_evidence_level(const struct ks_evidence_facts *facts);

/* "Reported" and so on; "No evidence" (static). */
const char *ks_evidence_label(enum ks_evidence level);

#endif
