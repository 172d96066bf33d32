/*
 * Provenance: what a publisher said about an object beside its manifest, a
 * member of publish and annotate lines (store-layout.md L19, L20).
 */
#ifndef KS_FORMAT_PROVENANCE_H
#define KS_FORMAT_PROVENANCE_H

#include "base/error.h"
#include "format/id.h"
#include "format/uuid.h"

/* As far as the program itself acts on it. */
struct ks_provenance {
	bool has_id, has_source, has_project;
	uint8_t id[KS_UUID_BYTES];
	struct ks_id source, project;
};

/* Check the members of a provenance object (canonical text) against the
 * closed table: types, digests, lower-case UUID, nothing null or empty at any
 * depth of objects; and which kinds may carry `source` and `project` (`kind`
 * is as in a publish line, len 0 = unknown: not checked). KS_UNSUPPORTED for
 * an unknown name, else KS_CORRUPT. */
enum ks_status ks_provenance_read(struct ks_span provenance,
	struct ks_span kind, struct ks_provenance *out, struct ks_error *err)
	KS_CHECKED;

/* The last of these rules alone, once the kind is known. */
enum ks_status ks_provenance_check_kind(
	const struct ks_provenance *provenance, struct ks_span kind,
	struct ks_error *err) KS_CHECKED;

#endif
