/*
 * What one record says of itself: the facts that questions are asked about.
 *
 * They are derived from a body and the notes that the log has for it, and from
 * nothing else, so that the rows of the catalogue and what is printed of a
 * record are made by the same code: the rows once, to choose and order; the
 * other anew each time, from bytes that were hashed. What follows from other
 * records (the hardware that a run ran on) is found by going there.
 *
 * Members of a wrong type count as absent: an archive holds what was valid
 * once. Private to src/store; may be called from any thread.
 */
#ifndef KS_STORE_FACTS_H
#define KS_STORE_FACTS_H

#include "base/buf.h"
#include "format/id.h"
#include "format/record.h"

/* Texts of which there are few different ones: X(CONSTANT, column). Sets are
 * sorted and joined by ",". */
#define KS_TERMS(X) \
	X(KIND, kind)			/* in full; "raw" */ \
	X(FAMILY, family) \
	X(STATUS, status) \
	X(VENDOR, vendor) \
	X(HARDWARE, hardware) \
	X(ARCHITECTURE, architecture)	/* a set */ \
	X(DTYPES, dtypes)		/* a set */ \
	X(LANGUAGE, language) \
	X(FRAMEWORK, framework)		/* "pytorch 2.8.0" */ \
	X(LICENSE, license) \
	X(NATIVE, native)		/* sourceNative.source */ \
	X(METRIC, metric) \
	X(STATISTIC, statistic) \
	X(UNIT, unit) \
	X(PART, part)			/* what it adds to the comparison key \
					 * of runs: an object of JSON */

/* Other records that a record refers to: X(CONSTANT, column). */
#define KS_RELATIONS(X) \
	X(OPERATION, operation) \
	X(WORKLOAD, workload) \
	X(IMPLEMENTATION, implementation) \
	X(PROTOCOL, protocol) \
	X(ENVIRONMENT, environment) \
	X(MODEL, model) \
	X(CONFIGURATION, configuration) \
	X(STACK, stack) \
	X(PROJECT, project) \
	X(SOURCE, source)

#define X(id, column) KS_TERM_##id,
enum ks_term { KS_TERMS(X) KS_TERM_COUNT };
#undef X

#define X(id, column) KS_RELATION_##id,
enum ks_relation { KS_RELATIONS(X) KS_RELATION_COUNT };
#undef X

/* All texts: the terms, by their numbers, and these. */
enum ks_fact {
	KS_FACT_NAME = KS_TERM_COUNT,	/* metadata.name; the slug of a
					 * Source */
	KS_FACT_TITLE,			/* its title, or of a project, model or
					 * source what that is called */
	KS_FACT_WORDS,			/* what else a search should find */
	KS_FACT_OBSERVED,		/* observedAt and publishedAt, as */
	KS_FACT_PUBLISHED,		/* written */
	KS_FACT_MOMENT,			/* observedAt in a form that sorts by
					 * bytes: the fraction cut of zeros, no
					 * Z */
	KS_FACT_EXTERNAL,		/* sourceNative.externalId */
	KS_FACT_BENCHMARK,		/* sourceNative.benchmark */
	KS_FACT_SPEC,			/* of a run, which its key needs */
	KS_FACT_COUNT
};

struct ks_fact_text {
	uint32_t at, len;		/* in ks_fact_store.text */
};

/* A reference that is no relation, with its path. */
struct ks_fact_reference {
	struct ks_id target;
	struct ks_fact_text path;
};

/* A value that a workload gives to an axis; `item` is 0 for a case, and of a
 * suite the number of its case, from 1. */
struct ks_fact_axis {
	struct ks_fact_text name;
	int64_t value;
	uint64_t item;
};

/* Memory that the facts of several records share. */
struct ks_fact_store {
	struct ks_buf text;
	struct ks_buf references;	/* struct ks_fact_reference each */
	struct ks_buf axes;		/* struct ks_fact_axis each */
};

#define KS_FACT_STORE_INIT { .text = KS_BUF_INIT, \
	.references = KS_BUF_INIT, .axes = KS_BUF_INIT }

void ks_fact_store_release(struct ks_fact_store *store);
void ks_fact_store_clear(struct ks_fact_store *store);
/* Whether everything that was derived is there. */
enum ks_status ks_fact_store_check(const struct ks_fact_store *store,
	struct ks_error *err) KS_CHECKED;

struct ks_facts {
	const struct ks_kind *kind;	/* NULL = not known */
	bool is_readable;	/* the body is a record of the kind that the
				 * log says */
	struct ks_fact_text texts[KS_FACT_COUNT];
	unsigned related;		/* a bit for each relation it has */
	struct ks_id relations[KS_RELATION_COUNT];
	bool has_value, has_interval, is_source_native, has_raw, has_source;
	double value, low, high;	/* the primary measurement */
	int64_t samples;		/* 0 = not stated */
	bool has_id, has_bytes;
	uint8_t id[16];			/* provenance.id */
	struct ks_id bytes;		/* that an Artifact describes */
	size_t reference, reference_count;	/* first of its own in the */
	size_t axis, axis_count;		/* store, and how many */
};

/* What there is to derive from. */
struct ks_fact_origin {
	struct ks_span kind;		/* as the publish line has it */
	const struct ks_record *record;	/* of the body; NULL: raw, or it could
					 * not be read */
	struct ks_span metadata, provenance;	/* the current ones; or empty */
};

/* Fill *facts, whose texts are appended to `store`. */
void ks_facts_derive(struct ks_facts *facts, struct ks_fact_store *store,
	const struct ks_fact_origin *origin);

/* A text of a record, and one of the others; valid until the store grows. */
struct ks_span ks_facts_text(const struct ks_facts *facts,
	const struct ks_fact_store *store, unsigned which);
struct ks_span ks_fact_text(const struct ks_fact_store *store,
	struct ks_fact_text text);

/* The comparison key of a BenchmarkRun or the cohort key of a ServingRun, from
 * its spec and the `part` (KS_TERM_PART) of its workload and model, which may
 * be empty where there is none. KS_INVALID when it has no key; KS_NOMEM. */
enum ks_status ks_facts_key(const struct ks_kind *kind, struct ks_span spec,
	struct ks_span workload, struct ks_span model, struct ks_id *key)
	KS_CHECKED;

/* An Instant in the form of KS_FACT_MOMENT, in `store`; empty when it is
 * none. */
struct ks_span ks_facts_moment(struct ks_fact_store *store,
	struct ks_span instant);

/* Which run a kind is: false for both = none. */
bool ks_facts_is_benchmark(const struct ks_kind *kind);
bool ks_facts_is_serving(const struct ks_kind *kind);

/* The column of a term or relation (static). */
const char *ks_term_column(enum ks_term term);
const char *ks_relation_column(enum ks_relation relation);

/* How a reference is called in a record of kind `kind` (without apiVersion):
 * "spec.workloadDigest"; NULL = any other kind. And the relation that a path
 * is, or KS_RELATION_COUNT. (Static.) */
struct ks_relation_path {
	enum ks_relation relation;
	const char *kind;
	const char *path;
};
extern const struct ks_relation_path ks_relation_paths[];
extern const size_t ks_relation_path_count;
const char *ks_relation_path(enum ks_relation relation, const char *kind);

#endif
