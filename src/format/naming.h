/*
 * Names: what records are called where people read of them.
 *
 * A name rests on a record's body and on what the log says of it, wherever the
 * two come from: a store, or a citation file. Every function appends UTF-8 to
 * `out`, whose failure is sticky.
 */
#ifndef KS_FORMAT_NAMING_H
#define KS_FORMAT_NAMING_H

#include "base/buf.h"
#include "format/record.h"

/* A record that is to be named. All zero is one that nothing refers to. */
struct ks_named {
	struct ks_id digest;
	bool is_named;		/* something refers to it */
	struct ks_span body;	/* empty = not at hand */
	struct ks_record record;	/* all zero: raw, or not at hand */
	struct ks_span metadata, provenance;	/* objects, or empty */
};

/* Fill *out with the record of a digest, borrowed; false when nothing is known
 * of it. */
typedef bool ks_named_fn(void *arg, const struct ks_id *digest,
	struct ks_named *out);

/* What a member of `object` refers to: all zero when it is no digest, and of
 * one that `find` does not know the digest alone. */
void ks_named_follow(struct ks_span object, const char *member,
	ks_named_fn *find, void *arg, struct ks_named *out);

/* Whether it is at hand and of this kind, by its name without apiVersion. */
bool ks_named_is(const struct ks_named *named, const char *kind);

/* Append a member of metadata, provenance or a spec, unescaped. False when
 * there is none, or it is no string. */
bool ks_name_member(struct ks_span object, const char *member,
	struct ks_buf *out);

/* Append a scalar as text: strings unescaped, numbers as they are. */
void ks_name_scalar(struct ks_span value, struct ks_buf *out);

/* Append the first 12 digits of a digest. */
void ks_name_digits(const struct ks_id *digest, struct ks_buf *out);

/* What a record is called: its title, or the name that its log or spec has for
 * it, or the first digits of its digest. */
void ks_name_title(const struct ks_named *named, struct ks_buf *out);

/* Names as KernelIndex shows them, or what stands for one. */
void ks_name_implementation(const struct ks_named *implementation,
	const struct ks_named *operation, struct ks_buf *out);
void ks_name_operation(const struct ks_named *operation, struct ks_buf *out);
void ks_name_workload(const struct ks_named *workload, struct ks_buf *out);
void ks_name_project(const struct ks_named *project, struct ks_buf *out);
/* Of a run's source; without a Source record, the slug that it states. */
void ks_name_source(const struct ks_named *source, struct ks_span run,
	struct ks_buf *out);

/* Of a serving run: its configuration; a model or workload; "SOURCE ·
 * closed/available · entry 5.1-0001". */
void ks_name_configuration(const struct ks_named *configuration,
	struct ks_buf *out);
void ks_name_served(const struct ks_named *served, struct ks_buf *out);
void ks_name_attribution(const struct ks_named *source, struct ks_span run,
	struct ks_buf *out);

/* Any record, by whichever of these its kind has; `operation` is that of an
 * ImplementationRevision. */
void ks_name_record(const struct ks_named *named,
	const struct ks_named *operation, struct ks_buf *out);

#endif
