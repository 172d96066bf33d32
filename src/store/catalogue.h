/*
 * The catalogue: what the records themselves say, derived and indexed, for
 * questions that one object cannot answer.
 *
 * It is more tables in the file of the index (store/index.h), bound in the
 * same way to the log that they were filled from, but filled only when a
 * question first needs them: equal log, nothing is read; an extension, caught
 * up from the bodies that are new; anything else, filled anew. Records are
 * known by the number of their publish line, as in the index.
 *
 * The tables choose and order; they are not believed. Whatever is shown of a
 * record is read from its object, whose bytes are hashed, and what the log
 * says of it from the line itself.
 */
#ifndef KS_STORE_CATALOGUE_H
#define KS_STORE_CATALOGUE_H

#include "format/evidence.h"
#include "store/store.h"

struct ks_catalogue;

/* The catalogue of the commit being read, brought up to date. It belongs to
 * the store and is closed with it. */
enum ks_status ks_store_catalogue(struct ks_store *store,
	struct ks_catalogue **out, const struct ks_watch *watch,
	struct ks_error *err) KS_CHECKED;
void ks_catalogue_free(struct ks_catalogue *catalogue);

/* What ranking asks of one run: facts of its body and the log. */
struct ks_catalogue_run {
	struct ks_id digest;
	double value, low, high;	/* of the primary measurement */
	bool has_value, has_interval;
	bool is_source_native;
	bool passed, retracted, superseded;
	char status[32];
	char observed[40];		/* observedAt, as written */
	char id[37];			/* KernelIndex's, or "" */
	enum ks_evidence evidence;
	struct ks_id implementation, workload, source;	/* all zero: none */
};

typedef bool ks_catalogue_run_fn(void *arg,
	const struct ks_catalogue_run *run);

/* The runs whose comparison key is `key`, eligible or not, in order of
 * publication. A true from `visit` stops. */
enum ks_status ks_catalogue_group(struct ks_catalogue *catalogue,
	const struct ks_id *key, ks_catalogue_run_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* The comparison keys that begin with these hex digits, at most `room`;
 * *count says how many there are. */
enum ks_status ks_catalogue_keys(struct ks_catalogue *catalogue,
	struct ks_span hex, struct ks_id *keys, size_t room, size_t *count,
	struct ks_error *err) KS_CHECKED;

/* The records that refer to `digest` (members of their bodies, or source and
 * project in the log), in order of publication: "spec.workloadDigest". */
typedef bool ks_catalogue_user_fn(void *arg, const struct ks_id *digest,
	const char *kind, const char *path);
enum ks_status ks_catalogue_users(struct ks_catalogue *catalogue,
	const struct ks_id *digest, ks_catalogue_user_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* How many there are, by kind and path, in order of these. */
typedef void ks_catalogue_count_fn(void *arg, const char *kind,
	const char *path, uint64_t count);
enum ks_status ks_catalogue_user_counts(struct ks_catalogue *catalogue,
	const struct ks_id *digest, ks_catalogue_count_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* The Attestation records about a record, oldest first, not those that were
 * taken down, retracted or superseded. */
typedef bool ks_catalogue_digest_fn(void *arg, const struct ks_id *digest);
enum ks_status ks_catalogue_attestations(struct ks_catalogue *catalogue,
	const struct ks_id *subject, ks_catalogue_digest_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* The Artifact records that describe bytes with this digest. */
enum ks_status ks_catalogue_artifacts(struct ks_catalogue *catalogue,
	const struct ks_id *bytes, ks_catalogue_digest_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* The runs of a source (its slug) with this externalId (run-page rule: that of
 * sourceNative). For references "source:externalId". */
enum ks_status ks_catalogue_external(struct ks_catalogue *catalogue,
	struct ks_span source, struct ks_span external_id,
	ks_catalogue_digest_fn *visit, void *arg, struct ks_error *err)
	KS_CHECKED;

#endif
