/*
 * Run dossiers: what KernelIndex's API says of one run (store-layout.md P22).
 *
 * A dossier has the run's manifests in `manifest`, and around them what the
 * catalogue states of it (`run`), where it is from (`provenance`), and much
 * that follows from the manifests. What is stated of digests is compared, what
 * is stated of the run becomes its provenance, the rest is left out. Part of
 * format/intake.h.
 */
#ifndef KS_FORMAT_DOSSIER_H
#define KS_FORMAT_DOSSIER_H

#include "format/intake.h"

/* Whether `value` is an object whose `manifest` is a manifest or has one among
 * its members, and whose `run` is an object but no manifest. */
bool ks_dossier_is(struct ks_span value);

/* Tell `visitor` of the manifests in a dossier, in canonical order of the
 * members, and of what is left out. Fails as ks_intake_read(). */
enum ks_status ks_dossier_read(struct ks_intake *intake, struct ks_span value,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
	KS_CHECKED;

#endif
