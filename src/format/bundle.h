/*
 * Bundles: objects that hold manifests (store-layout.md P5, P23).
 *
 * A member may be a manifest, as on KernelIndex's run page ("run", "protocol",
 * "environment"). Under the plural names of a submission ("projects", "runs",
 * …) it may also be a list of entries, or one: an entry is a manifest, or in
 * turn an object with manifests among its members. Part of format/intake.h.
 */
#ifndef KS_FORMAT_BUNDLE_H
#define KS_FORMAT_BUNDLE_H

#include "format/intake.h"

/* Whether `value` is an object with a manifest among its members. */
bool ks_bundle_has_manifest(struct ks_span value);

/* Whether a member is a manifest or, under a plural name, has entries. */
bool ks_bundle_takes(struct ks_span name, struct ks_span member);

/* Whether `value` is an object with such a member. */
bool ks_bundle_is(struct ks_span value);

/* Tell `visitor` of the manifests in a bundle, in canonical order of the
 * members, and of what is left out. Fails as ks_intake_read(). */
enum ks_status ks_bundle_read(struct ks_span bundle,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
	KS_CHECKED;

/* The same for one member. */
enum ks_status ks_bundle_read_member(struct ks_span name,
	struct ks_span member, const struct ks_intake_visitor *visitor,
	struct ks_error *err) KS_CHECKED;

#endif
