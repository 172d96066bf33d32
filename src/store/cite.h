/*
 * The parts of citing that others need, who know the note and the day.
 */
#ifndef KS_STORE_CITE_H
#define KS_STORE_CITE_H

#include "store/store.h"

#define KS_CITE_DAY 10	/* YYYY-MM-DD */

/* The day that a citation names: `accessed` or, where that is NULL, the one of
 * `now`, POSIX seconds. KS_USAGE when it is none. */
enum ks_status ks_cite_day(const char *accessed, int64_t now,
	char out[KS_CITE_DAY + 1], struct ks_error *err) KS_CHECKED;

/* Append the citation file of a record, whose proofs end in `note`, one of the
 * store's own: what ks_cite() gives where that is the newest. Errors as
 * there. The log is one that ks_log_understood(). */
enum ks_status ks_cite_file(struct ks_store *store,
	const struct ks_id *digest, const char *day, struct ks_span note,
	struct ks_buf *file, struct ks_error *err) KS_CHECKED;

#endif
