#include "store/log.h"

#include "format/entry.h"
#include "format/layout.h"

enum ks_status
ks_log_segment(struct ks_gitdb *db, const struct ks_oid *tree, uint64_t index,
	struct ks_buf *out, struct ks_error *err)
{
	char path[KS_SEGMENT_PATH];

	return ks_gitdb_read(db, tree, ks_layout_segment(index, path),
		KS_LIMIT_SEGMENT, out, err);
}

bool
ks_log_next_line(struct ks_span *rest, struct ks_span *line)
{
	const uint8_t *end;

	if (rest->len == 0)
		return false;
	end = memchr(rest->data, '\n', rest->len);
	if (end == NULL)
		return false;
	*line = ks_span(rest->data, (size_t)(end - rest->data));
	*rest = ks_span(end + 1, rest->len - line->len - 1);
	return true;
}

/* Visit the lines of one segment; *count is how many it has. */
static enum ks_status
each_in_segment(struct ks_span rest, uint64_t first, uint64_t from,
	ks_line_fn *visit, void *arg, size_t *count, struct ks_error *err)
{
	struct ks_span line;
	enum ks_status status = KS_OK;

	*count = 0;
	while (status == KS_OK && ks_log_next_line(&rest, &line)) {
		if (first + *count >= from)
			status = visit(arg, first + *count, line, err);
		(*count)++;
	}
	if (status == KS_OK && rest.len > 0)
		return ks_fail(err, KS_CORRUPT, "last line does not end in LF");
	return status;
}

enum ks_status
ks_log_each(struct ks_gitdb *db, const struct ks_oid *tree, uint64_t from,
	ks_line_fn *visit, void *arg, struct ks_error *err)
{
	uint64_t first = from - from % KS_SEGMENT_ENTRIES;
	struct ks_buf segment = KS_BUF_INIT;
	char path[KS_SEGMENT_PATH];
	size_t count = KS_SEGMENT_ENTRIES;
	enum ks_status status;

	for (;;) {
		ks_buf_clear(&segment);
		status = ks_log_segment(db, tree, first, &segment, err);
		if (status != KS_OK || count != KS_SEGMENT_ENTRIES)
			break;
		status = each_in_segment(ks_buf_span(&segment), first, from,
			visit, arg, &count, err);
		if (status != KS_OK)
			break;
		if (count == 0 || count > KS_SEGMENT_ENTRIES) {
			status = ks_fail(err, KS_CORRUPT,
				"%s: %zu lines, must be 1 to %d",
				ks_layout_segment(first, path), count,
				KS_SEGMENT_ENTRIES);
			break;
		}
		first += KS_SEGMENT_ENTRIES;
	}
	ks_buf_release(&segment);
	if (status == KS_OK)
		return ks_fail(err, KS_CORRUPT,
			"%s: %zu lines, but a segment follows (must be %d)",
			ks_layout_segment(first - KS_SEGMENT_ENTRIES, path),
			count, KS_SEGMENT_ENTRIES);
	return status == KS_NOT_FOUND ? KS_OK : status;
}
