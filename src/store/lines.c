#include "store/lines.h"

#include <stdlib.h>

#include "format/entry.h"
#include "store/log.h"

/* Segments that are kept, each where its number says: about 20 MB. */
#define SEGMENTS 128

struct segment {
	uint64_t number;		/* + 1; 0 = free */
	struct ks_buf bytes;
	size_t starts[KS_SEGMENT_ENTRIES + 1];
	size_t count;
};

struct ks_lines {
	struct ks_gitdb *db;
	const struct ks_oid *tree;
	struct ks_oid kept;		/* of this tree the segments are */
	struct segment segments[SEGMENTS];
};

enum ks_status
ks_lines_new(struct ks_lines **out, struct ks_gitdb *db,
	const struct ks_oid *tree, struct ks_error *err)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return ks_fail_nomem(err);
	(*out)->db = db;
	(*out)->tree = tree;
	(*out)->kept = *tree;
	return KS_OK;
}

void
ks_lines_free(struct ks_lines *lines)
{
	size_t i;

	for (i = 0; lines != NULL && i < SEGMENTS; i++)
		ks_buf_release(&lines->segments[i].bytes);
	free(lines);
}

/* Find where the lines start. */
static enum ks_status
split(struct segment *segment, struct ks_error *err)
{
	struct ks_span rest = ks_buf_span(&segment->bytes);
	struct ks_span line;

	segment->count = 0;
	while (segment->count < KS_SEGMENT_ENTRIES &&
		ks_log_next_line(&rest, &line)) {
		segment->starts[segment->count++] = (size_t)(line.data -
			segment->bytes.data);
		segment->starts[segment->count] = (size_t)(rest.data -
			segment->bytes.data);
	}
	return rest.len == 0 ? KS_OK : ks_fail(err, KS_CORRUPT,
		"last line does not end in LF");
}

static enum ks_status
load(struct ks_lines *lines, struct segment *segment, uint64_t number,
	struct ks_error *err)
{
	enum ks_status status;

	segment->number = 0;
	ks_buf_clear(&segment->bytes);
	status = ks_log_segment(lines->db, lines->tree,
		number * KS_SEGMENT_ENTRIES, &segment->bytes, err);
	if (status == KS_OK)
		status = split(segment, err);
	if (status == KS_OK)
		segment->number = number + 1;
	return status;
}

/* Another commit has another log. */
static void
follow_tree(struct ks_lines *lines)
{
	size_t i;

	if (ks_oid_equal(&lines->kept, lines->tree))
		return;
	lines->kept = *lines->tree;
	for (i = 0; i < SEGMENTS; i++)
		lines->segments[i].number = 0;
}

enum ks_status
ks_lines_get(struct ks_lines *lines, uint64_t index, struct ks_span *line,
	struct ks_error *err)
{
	uint64_t number = index / KS_SEGMENT_ENTRIES;
	size_t at = (size_t)(index % KS_SEGMENT_ENTRIES);
	struct segment *segment = &lines->segments[number % SEGMENTS];
	enum ks_status status;

	follow_tree(lines);
	status = segment->number == number + 1 ? KS_OK :
		load(lines, segment, number, err);
	if (status == KS_OK && at >= segment->count)
		status = ks_fail(err, KS_NOT_FOUND, "the log has no entry %llu",
			(unsigned long long)index);
	if (status != KS_OK)
		return status;
	*line = ks_span(segment->bytes.data + segment->starts[at],
		segment->starts[at + 1] - segment->starts[at] - 1);
	return KS_OK;
}
