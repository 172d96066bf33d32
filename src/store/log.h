/*
 * Reading the lines of the log from a tree.
 */
#ifndef KS_STORE_LOG_H
#define KS_STORE_LOG_H

#include "store/gitdb.h"

/* Called per line (without LF); a status other than KS_OK stops. */
typedef enum ks_status ks_line_fn(void *arg, uint64_t index,
	struct ks_span line, struct ks_error *err);

/* Visit the lines from `from` to the end. KS_CORRUPT when a segment is not
 * lines that end in LF, or one that others follow has not 256 of them. */
enum ks_status ks_log_each(struct ks_gitdb *db, const struct ks_oid *tree,
	uint64_t from, ks_line_fn *visit, void *arg, struct ks_error *err)
	KS_CHECKED;

/* Append the bytes of the segment that holds entry `index`; KS_NOT_FOUND when
 * there is none. */
enum ks_status ks_log_segment(struct ks_gitdb *db, const struct ks_oid *tree,
	uint64_t index, struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* The next line of a segment's bytes: moves `rest` past it and its LF. False
 * at the end, or when the last line has no LF (then rest->len > 0). */
bool ks_log_next_line(struct ks_span *rest, struct ks_span *line);

#endif
