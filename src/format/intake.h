/*
 * Intake: what a piece of input means (store-layout.md, sections "files" and
 * "rows").
 *
 * Input is one canonical JSON value, as ks_jcs_scan() writes it under
 * ks_jcs_row. It is a catalogue row, else a manifest, else an array of values,
 * else a run dossier, else a bundle, else refused. A visitor is told, in input
 * order, of every manifest in it and of every other fact. Nothing is looked up
 * here: ids of the publisher's database stay ids, manifests are not yet checked
 * against their kinds (ks_record_read()), only against the limits.
 *
 *	struct ks_intake intake = KS_INTAKE_INIT;
 *	for each line: scan it, then
 *		ks_intake_read(&intake, value, &visitor, &err)
 *	ks_intake_release(&intake);
 */
#ifndef KS_FORMAT_INTAKE_H
#define KS_FORMAT_INTAKE_H

#include "base/buf.h"
#include "format/id.h"

/* An id of the publisher's database (a UUID), or none. */
struct ks_intake_id {
	bool present;
	uint8_t bytes[16];
};

/* One manifest, and what its row or dossier says about it. Texts are canonical
 * JSON, valid during the call. All but `text`, `table`, `stated_column` and
 * `stated` is empty where neither speaks of this manifest: in bundles, and for
 * the protocol and environment of a run. */
struct ks_intake_manifest {
	struct ks_span text;	/* the manifest, within the limits of 2.4 */
	const char *table;	/* of its row (static); NULL outside rows */
	bool main;		/* not a part that many runs share */
	bool partial;		/* `provenance` is not all that its publisher
				 * says, as a row's is */
	const char *stated_column;	/* "runDigest"; NULL = none stated */
	struct ks_id stated;
	/* The row's own id, and those it refers by. Which kinds' lines carry
	 * a project or a source is for the caller to know. */
	struct ks_intake_id id, project, source, supersedes;
	/* An object with what needs no look-up: createdAt, id, name,
	 * publishedAt, replication, slug, summary, tags; len 0 = nothing. */
	struct ks_span provenance;
	struct ks_span reason;	/* of a retraction: a string or an object;
				 * len 0 = not retracted */
	struct ks_span retracted_at;	/* a string; len 0 = absent */
};

/* A derived column that differs from what the row's manifest implies. */
struct ks_intake_difference {
	const char *table, *column;	/* static */
	struct ks_span stated;		/* canonical values; null or empty */
	struct ks_span implied;		/* where there is none */
};

/* What is left out, and counted. */
enum ks_intake_skip {
	KS_SKIP_DERIVED,	/* a row of a table that follows from others */
	KS_SKIP_TABLE,		/* a row of an unknown table */
	KS_SKIP_MEMBER,		/* a bundle's or dossier's member that is no
				 * manifest */
	KS_SKIP_SOURCE		/* a dossier's source that says too little */
};

/* Where findings go. A status other than KS_OK ends the reading and is
 * returned, with the place put in front of its message. All but `manifest`
 * may be NULL. */
struct ks_intake_visitor {
	void *arg;
	enum ks_status (*manifest)(void *arg,
		const struct ks_intake_manifest *manifest,
		struct ks_error *err);
	/* Another name, a string, of the operation with that id. */
	enum ks_status (*alias)(void *arg, const uint8_t operation[16],
		struct ks_span alias, struct ks_error *err);
	/* A row was read. */
	void (*row)(void *arg);
	/* `name`: of the table or member, escaped, without quotes. */
	void (*skipped)(void *arg, enum ks_intake_skip what,
		struct ks_span name);
	void (*differs)(void *arg,
		const struct ks_intake_difference *difference);
};

/* Scratch memory, kept between values. */
struct ks_intake {
	struct ks_buf manifest;		/* composed from a row's columns */
	struct ks_buf provenance;
	struct ks_buf reason;
	struct ks_buf name;		/* of a dossier's member */
};

#define KS_INTAKE_INIT { \
	.manifest = KS_BUF_INIT, \
	.provenance = KS_BUF_INIT, \
	.reason = KS_BUF_INIT, \
	.name = KS_BUF_INIT \
}

void ks_intake_release(struct ks_intake *intake);

/* Tell `visitor` what `value` holds. KS_INVALID names the element, member, or
 * table and column, and the rule broken; KS_NOMEM; or what the visitor
 * returned. */
enum ks_status ks_intake_read(struct ks_intake *intake, struct ks_span value,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
	KS_CHECKED;

/* Give one manifest to the visitor, or refuse it: it must itself respect the
 * limits of a manifest, which its surroundings may exceed. */
enum ks_status ks_intake_emit(const struct ks_intake_visitor *visitor,
	const struct ks_intake_manifest *manifest, struct ks_error *err)
	KS_CHECKED;

/* The same for the member `name` of a bundle, which is a manifest that no row
 * speaks of, or is left out. */
enum ks_status ks_intake_emit_member(const struct ks_intake_visitor *visitor,
	struct ks_span name, struct ks_span member, struct ks_error *err)
	KS_CHECKED;

/* KS_OK when no digest is stated, or `computed`; else KS_INVALID with what
 * states it and both digests. */
enum ks_status ks_intake_compare(const struct ks_intake_manifest *manifest,
	const struct ks_id *computed, struct ks_error *err) KS_CHECKED;

/* Whether a value is a manifest: an object with apiVersion and kind. */
bool ks_intake_is_manifest(struct ks_span value);

/* Append the Source manifest that `value` is, or is the spec of. KS_INVALID
 * when it is neither. The spec is not checked yet. */
enum ks_status ks_intake_source(struct ks_span value, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Read an object from digest to provenance: each is checked against the
 * closed table, null and empty members left out, and given to `visit` in
 * canonical order. KS_INVALID names the digest and the rule. */
typedef enum ks_status ks_intake_provenance_fn(void *arg,
	const struct ks_id *digest, struct ks_span provenance,
	struct ks_error *err);
enum ks_status ks_intake_provenance(struct ks_intake *intake,
	struct ks_span map, ks_intake_provenance_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* Append `value` as a log line carries it: in objects at every depth, but not
 * inside lists, members that are null, an empty list or an empty object are
 * left out. False, with nothing appended, when nothing remains. */
bool ks_intake_prune(struct ks_buf *out, struct ks_span value);

#endif
