/*
 * Lines of the log, one here and one there: whole segments are kept for a
 * while, so that neighbours cost nothing.
 */
#ifndef KS_STORE_LINES_H
#define KS_STORE_LINES_H

#include "store/gitdb.h"

struct ks_lines;

/* The lines of the log in `tree`, of whichever that is at the time; borrows
 * both. */
enum ks_status ks_lines_new(struct ks_lines **out, struct ks_gitdb *db,
	const struct ks_oid *tree, struct ks_error *err) KS_CHECKED;
void ks_lines_free(struct ks_lines *lines);

/* One line, without LF, valid until the next call. KS_NOT_FOUND when the log
 * is shorter, KS_CORRUPT when the segment is not lines that end in LF. */
enum ks_status ks_lines_get(struct ks_lines *lines, uint64_t index,
	struct ks_span *line, struct ks_error *err) KS_CHECKED;

#endif
