/*
 * Records that were found by the catalogue, read again.
 *
 * The catalogue chooses records; what is shown of them comes from here: their
 * bodies, read from the tree and hashed, and the lines of the log that speak
 * of them. What was read is compared with the catalogue's rows, so that a
 * wrong row is found out before anything is shown that was chosen by it.
 *
 *	ks_reader_new(&reader, catalogue, &err);
 *	ks_reader_get(reader, object, &found, &err);
 *	ks_reader_follow(reader, found, "workload.operation", &operation, &err);
 *	ks_reader_free(reader);
 *
 * Private to src/store. For one thread.
 */
#ifndef KS_STORE_READER_H
#define KS_STORE_READER_H

#include "store/catalogue_internal.h"

/* A record as it was read. */
struct ks_found {
	struct ks_subject subject;
	bool is_there;		/* false: it cannot be had; see `problem` */
	enum ks_status problem;	/* KS_CORRUPT, KS_NOT_FOUND */
	struct ks_error why;
	struct ks_buf body;	/* hashed; empty for raw objects, of which only
				 * the hash is looked at */
	struct ks_buf notes;	/* metadata, then provenance */
	struct ks_span metadata, provenance;
	struct ks_facts facts;
	struct ks_fact_store store;
};

struct ks_reader;

enum ks_status ks_reader_new(struct ks_reader **out,
	struct ks_catalogue *catalogue, struct ks_error *err) KS_CHECKED;
void ks_reader_free(struct ks_reader *reader);

/* Read the record that entry `object` of the log publishes. It is there until
 * the next call for a run, or until KS_READER_KEPT others were read. KS_IO
 * when the catalogue's row is another one: the index is thrown away then. That
 * the record itself is damaged or absent is no failure. */
#define KS_READER_KEPT 4096
enum ks_status ks_reader_get(struct ks_reader *reader, uint64_t object,
	const struct ks_found **out, struct ks_error *err) KS_CHECKED;

/* Go from one record to another along relations ("workload.operation"; "" is
 * the record itself). NULL when one on the way is missing or not there. */
enum ks_status ks_reader_follow(struct ks_reader *reader,
	const struct ks_found *from, const char *path,
	const struct ks_found **out, struct ks_error *err) KS_CHECKED;

/* The comparison key of a run that was read; false when it has none. */
enum ks_status ks_reader_key(struct ks_reader *reader,
	const struct ks_found *run, struct ks_id *key, bool *has_key,
	struct ks_error *err) KS_CHECKED;

/* Its evidence, by what was read. */
enum ks_status ks_reader_evidence(struct ks_reader *reader,
	const struct ks_found *run, enum ks_evidence *evidence,
	struct ks_error *err) KS_CHECKED;

/* A text of what was read. */
struct ks_span ks_found_text(const struct ks_found *found, unsigned which);

#endif
