#include "format/evidence.h"

#include "format/json.h"

#define REPLICATIONS 2	/* that make a run replicated */

static bool
has(struct ks_span object, const char *name)
{
	return ks_json_get(object, name).len > 0;
}

bool
ks_evidence_has_source(struct ks_span implementation)
{
	return has(implementation, "source") || has(ks_json_get(
		implementation, "projectRevision"), "repository");
}

bool
ks_evidence_has_raw(struct ks_span run)
{
	struct ks_span evidence = ks_json_get(run, "evidence");

	return has(ks_json_get(run, "timing"), "rawSamples") ||
		has(evidence, "rawSamples") || has(evidence, "logs");
}

enum ks_evidence
ks_evidence_level(const struct ks_evidence_facts *facts)
{
	if (facts->replications >= REPLICATIONS)
		return KS_EVIDENCE_REPLICATED;
	if (facts->is_rerun)
		return KS_EVIDENCE_VERIFIED;
	return facts->has_source && facts->has_raw ?
		KS_EVIDENCE_REPRODUCIBLE : KS_EVIDENCE_REPORTED;
}

const char *
ks_evidence_label(enum ks_evidence level)
{
	switch (level) {
	case KS_EVIDENCE_NONE:
		break;
	case KS_EVIDENCE_REPORTED:
		return "Reported";
	case KS_EVIDENCE_REPRODUCIBLE:
		return "Reproducible";
	case KS_EVIDENCE_VERIFIED:
		return "Verified";
	case KS_EVIDENCE_REPLICATED:
		return "Replicated";
	}
	return "No evidence";
}
