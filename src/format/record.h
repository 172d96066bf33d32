/*
 * Records: manifests {apiVersion, kind, metadata?, spec} and their identity.
 *
 * The identity of a record is the SHA-256 of the RFC 8785 bytes of
 * {apiVersion, kind, spec}; metadata is editorial and outside it
 * (store-layout.md, section "records").
 */
#ifndef KS_FORMAT_RECORD_H
#define KS_FORMAT_RECORD_H

#include "base/buf.h"
#include "format/id.h"
#include "format/jcs.h"
#include "format/kind.h"

#define KS_RECORD_MAX 1048576	/* bytes of a record's text, design 2.4 */

/* A manifest taken apart. Spans point into the text it was read from, or into
 * `body` below. */
struct ks_record {
	struct ks_span api_version;	/* escaped, without quotes */
	struct ks_span kind_name;
	struct ks_span metadata;	/* canonical object; empty = absent */
	struct ks_span spec;		/* canonical object */
	const struct ks_kind *kind;	/* NULL when unknown */
};

/* How strictly to read. */
struct ks_record_policy {
	bool allow_unknown_kind;
	bool strict;		/* unknown members are errors */
};

/* Take apart `manifest` (canonical text). KS_INVALID with the member path and
 * the rule when it is not a manifest: exactly the four members, apiVersion
 * and kind strings of 1 to 128 printable ASCII characters, no '/' in kind,
 * metadata an object where present, spec an object. */
enum ks_status ks_record_split(struct ks_span manifest,
	struct ks_record *record, struct ks_error *err) KS_CHECKED;

/* Whether `bytes` are a record as stored: canonical {apiVersion, kind, spec}
 * within the limits, whatever the kind's table says: tables grow. Fills
 * `record` (without metadata) when so. KS_INVALID: they are raw; KS_NOMEM. */
enum ks_status ks_record_judge(struct ks_jcs *jcs, struct ks_span bytes,
	struct ks_record *record, struct ks_error *err) KS_CHECKED;

/* The same, where a lack of memory need not be told apart. */
bool ks_record_is_body(struct ks_jcs *jcs, struct ks_span bytes,
	struct ks_record *record);

/* Append the identity body. */
void ks_record_body(const struct ks_record *record, struct ks_buf *out);

/* Read one manifest all the way: `manifest` is canonical text. Normalises
 * the spec, checks spec and metadata against the kind's table, and gives the
 * identity body (appended to `body`) and digest. Warnings (unknown members,
 * what was normalised) go to `report`, which may be NULL; what it returns does
 * not matter. KS_INVALID with the first error's path and rule. record->spec
 * points into `manifest`, or, when normalised, into `body`. */
enum ks_status ks_record_read(struct ks_span manifest,
	const struct ks_record_policy *policy, ks_finding_fn *report,
	void *arg, struct ks_record *record, struct ks_buf *body,
	struct ks_id *digest, struct ks_error *err) KS_CHECKED;

/* "kernelindex.dev/v1alpha1/BenchmarkRun": what a log line's `kind` says. */
void ks_record_full_kind(const struct ks_record *record, struct ks_buf *out);

#endif
