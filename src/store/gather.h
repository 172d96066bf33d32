/*
 * Gathering: input files become checked manifests, in input order.
 *
 * Texts are read by the calling thread, scanned, checked, normalised and
 * hashed by all processors, and handed to the sink by the calling thread
 * again, in the order of the input. Nothing is stored here.
 */
#ifndef KS_STORE_GATHER_H
#define KS_STORE_GATHER_H

#include "format/intake.h"
#include "format/kind.h"
#include "kistore.h"

/* Where in the input something stands. */
struct ks_place {
	const char *name;	/* of the file */
	uint64_t line;		/* 0 = the file is one value */
};

/* A reference of a manifest, with the kinds it may name. */
struct ks_gathered_reference {
	struct ks_id target;
	const struct ks_kind *expected[2];
};

/* One occurrence of a manifest. Spans live during the call. */
struct ks_gathered {
	struct ks_place place;
	struct ks_id digest;
	const struct ks_kind *kind;	/* NULL when not known */
	struct ks_span full_kind;	/* "apiVersion/kind" */
	struct ks_span body;	/* identity bytes; len 0 when the sink was
				 * given this digest before */
	struct ks_span metadata;	/* len 0 = none */
	struct ks_span provenance, reason, retracted_at; /* as intake.h */
	bool partial;	/* as intake.h */
	struct ks_intake_id id, project, source, supersedes;
	bool stated;	/* its digest is stated, and it is equal */
	const struct ks_gathered_reference *references;
	size_t reference_count;
};

struct ks_gather_sink {
	void *arg;
	enum ks_status (*manifest)(void *arg,
		const struct ks_gathered *manifest, struct ks_error *err);
	enum ks_status (*alias)(void *arg, const struct ks_place *place,
		const uint8_t operation[16], struct ks_span alias,
		struct ks_error *err);
};

/* What was met on the way. */
struct ks_gather_counts {
	uint64_t manifests, rows, derived_rows, unknown_rows;
	uint64_t stated_digests, notes;
};

/* Gather everything in `paths`. KS_INVALID names file, line, byte or member
 * path, and the rule; also when there is no manifest at all. `sink->alias`
 * may be NULL. Notes go to `watch`: the first of each sort in full, the rest
 * counted. */
enum ks_status ks_gather(const char *const *paths, size_t count,
	const struct ks_intake_policy *policy,
	const struct ks_gather_sink *sink, struct ks_gather_counts *counts,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;

/* Gather one text that is at hand, a manifest, as if it were the file
 * `name`. */
enum ks_status ks_gather_text(struct ks_span text, const char *name,
	const struct ks_intake_policy *policy,
	const struct ks_gather_sink *sink, struct ks_error *err) KS_CHECKED;

#endif
