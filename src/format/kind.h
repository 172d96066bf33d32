/*
 * Kinds: what a record of each kind must look like.
 *
 * One table per kind (kinds_kernel.c, kinds_serving.c, kinds_kistore.c) drives
 * validation, normalisation, and the extraction of references and links. A
 * new kind is a new table. store-layout.md, section "kinds".
 *
 * Everything here takes canonical text (format/json.h), may be called from
 * any thread, and needs no memory but to sort what is not in normal form, to
 * read an Attestation's statement, and for advice.
 */
#ifndef KS_FORMAT_KIND_H
#define KS_FORMAT_KIND_H

#include "base/buf.h"
#include "base/error.h"
#include "format/id.h"

#define KS_API_KERNELINDEX "kernelindex.dev/v1alpha1"
#define KS_API_KISTORE "kistore/v1"

/* A known kind. Static; compare by pointer. */
struct ks_kind;

/* The kind for an apiVersion and kind name, or for "apiVersion/kind" as log
 * lines write it (split at the last '/'); NULL when it is not known. */
const struct ks_kind *ks_kind_find(struct ks_span api_version,
	struct ks_span name);
const struct ks_kind *ks_kind_find_full(struct ks_span full);

/* "BenchmarkRun"; "kernelindex.dev/v1alpha1/BenchmarkRun" (static). */
const char *ks_kind_name(const struct ks_kind *kind);
const char *ks_kind_full_name(const struct ks_kind *kind);

/* The known kinds, 0 … ks_kind_count() - 1, in the order of kinds.md. A
 * kind's index is stable within one version of the program only. */
size_t ks_kind_count(void);
const struct ks_kind *ks_kind_at(size_t index);
size_t ks_kind_index(const struct ks_kind *kind);

/* Whether the kind is a run (BenchmarkRun, ServingRun): only its publish
 * lines carry a `source`. Whether its lines carry a `project`. Whether its
 * rows change in place (Source, Artifact). Whether metadata may be absent. */
bool ks_kind_has_source(const struct ks_kind *kind);
bool ks_kind_has_project(const struct ks_kind *kind);
bool ks_kind_is_mutable_row(const struct ks_kind *kind);
bool ks_kind_metadata_optional(const struct ks_kind *kind);

/* What is found while reading a spec or metadata. */
enum ks_finding_level {
	KS_FINDING_ERROR,	/* wrong type, missing member, malformed
				 * value */
	KS_FINDING_UNKNOWN,	/* a member the table does not have */
	KS_FINDING_NOTE,	/* what normalisation changed */
	KS_FINDING_NO_MEMORY	/* an error, too: it could not be judged */
};

/* Called per finding: `path` is like "spec.timing.latencyNs.median". Return
 * false to stop. Texts are valid during the call. */
typedef bool ks_finding_fn(void *arg, enum ks_finding_level level,
	const char *path, const char *message);

/* Check `spec` against the table; same for metadata. False when at least one
 * KS_FINDING_ERROR was found; all are reported unless `report` stops it.
 * `report` may be NULL. A spec must be in normal form already. Only the
 * statement of an Attestation needs memory; where there is none, that is
 * KS_FINDING_NO_MEMORY. */
bool ks_kind_check_spec(const struct ks_kind *kind, struct ks_span spec,
	ks_finding_fn *report, void *arg);
bool ks_kind_check_metadata(struct ks_span metadata,
	ks_finding_fn *report, void *arg);

/* The spec in normal form (durations as integer nanoseconds, sets sorted by
 * UTF-16 code units without duplicates): appended to `out` as canonical text.
 * *changed says whether it differs from `spec`; each change is reported as
 * KS_FINDING_NOTE. Parts that have the wrong type are left as they are, for
 * ks_kind_check_spec to refuse. Duration text that is not a whole number of
 * nanoseconds within 2^53 - 1 is left as it is, too. When nothing changes,
 * nothing is appended. */
enum ks_status ks_kind_normalise(const struct ks_kind *kind,
	struct ks_span spec, struct ks_buf *out, bool *changed,
	ks_finding_fn *report, void *arg, struct ks_error *err) KS_CHECKED;

/* A digest found in a spec. A reference names a record of one of at most two
 * kinds and belongs to the closure; a link names other bytes. */
struct ks_reference {
	struct ks_id target;
	const char *path;	/* "spec.workloadDigest"; valid in the call */
	bool is_link;
	const struct ks_kind *expected[2]; /* of references; unused are NULL;
					    * both NULL = any record */
};

/* Called per well-formed digest, in canonical order of members. */
typedef bool ks_reference_fn(void *arg, const struct ks_reference *reference);

/* Walk `spec` for references and links; malformed ones are skipped. Returns
 * false when the callback stopped it, or memory ran out while reading an
 * Attestation. For an Attestation, the one subject of the statement in its
 * envelope (base64 payload) is the reference. */
bool ks_kind_references(const struct ks_kind *kind, struct ks_span spec,
	ks_reference_fn *visit, void *arg);

/* Whether `found` is among reference->expected. */
bool ks_reference_accepts(const struct ks_reference *reference,
	const struct ks_kind *found);

/* Rules inside one record that real data breaks and that therefore only warn
 * (kinds.md section 4: suite externalIds unique, statistic order, …), and
 * rules across records. `lookup` gives the canonical *spec* of a referenced
 * record, valid until ks_kind_advise() returns (a run asks for four), or
 * false when it is not at hand; it may be NULL. Each finding is a
 * KS_FINDING_NOTE. The work for one record is bounded. */
typedef bool ks_kind_lookup_fn(void *arg, const struct ks_id *target,
	const struct ks_kind **kind, struct ks_span *spec);
void ks_kind_advise(const struct ks_kind *kind, struct ks_span spec,
	ks_kind_lookup_fn *lookup, void *lookup_arg,
	ks_finding_fn *report, void *arg);

/* Shared checks of the shapes that kinds.md section 1 names. */
bool ks_shape_name(struct ks_span raw);		/* Name */
bool ks_shape_token(struct ks_span raw);	/* Token, Axis */
bool ks_shape_instant(struct ks_span raw);	/* Instant */

#endif
