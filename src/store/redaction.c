#include "store/redaction.h"

#include <stdlib.h>

#include "base/grow.h"
#include "store/log.h"

void
ks_redaction_release(struct ks_redaction *redaction)
{
	free(redaction->objects);
	free(redaction->lines);
	*redaction = (struct ks_redaction)KS_REDACTION_INIT;
}

enum ks_status
ks_redaction_add_object(struct ks_redaction *redaction,
	const struct ks_id *digest, struct ks_error *err)
{
	struct ks_id *grown = ks_grow(redaction->objects,
		redaction->object_count, &redaction->object_room,
		sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	redaction->objects = grown;
	grown[redaction->object_count++] = *digest;
	return KS_OK;
}

enum ks_status
ks_redaction_add_line(struct ks_redaction *redaction, uint64_t index,
	struct ks_error *err)
{
	uint64_t *grown = ks_grow(redaction->lines, redaction->line_count,
		&redaction->line_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	redaction->lines = grown;
	grown[redaction->line_count++] = index;
	return KS_OK;
}

/* ---- objects --------------------------------------------------------- */

static int
by_digest(const void *a, const void *b)
{
	return ks_id_compare(a, b);
}

static enum ks_status
remove_objects(struct ks_redaction *redaction, struct ks_writing *writing,
	struct ks_error *err)
{
	struct ks_id *list = redaction->objects;
	struct ks_git_entry entry;
	char path[KS_OBJECT_PATH + 1];
	size_t i;
	enum ks_status status = KS_OK;

	if (redaction->object_count > 1)
		qsort(list, redaction->object_count, sizeof(*list), by_digest);
	for (i = 0; status == KS_OK && i < redaction->object_count; i++) {
		if (i > 0 && ks_id_equal(&list[i - 1], &list[i]))
			continue;
		status = ks_gitdb_find(writing->store->db,
			&writing->store->tree, ks_layout_object(&list[i],
			path), &entry, err);
		if (status == KS_OK) {
			status = ks_writing_remove(writing, path, err);
			redaction->removed++;
		}
		if (status == KS_NOT_FOUND)
			status = KS_OK;
	}
	return status;
}

/* ---- lines ----------------------------------------------------------- */

static int
by_index(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool
is_listed(const struct ks_redaction *redaction, uint64_t index)
{
	return redaction->line_count > 0 && bsearch(&index, redaction->lines,
		redaction->line_count, sizeof(index), by_index) != NULL;
}

/* Copy a segment, the listed lines redacted (L21). Returns whether any was. */
static bool
redact(struct ks_redaction *redaction, struct ks_span segment,
	uint64_t first, struct ks_buf *out)
{
	struct ks_span line;
	struct ks_id leaf;
	char hex[KS_ID_HEX + 1];
	bool any = false;

	for (; ks_log_next_line(&segment, &line); first++) {
		if (is_listed(redaction, first) && line.len > 0 &&
			line.data[0] != '-') {
			ks_merkle_leaf(line, &leaf);
			ks_buf_printf(out, "-%s\n",
				ks_id_print_hex(&leaf, hex));
			redaction->redacted++;
			any = true;
			continue;
		}
		ks_buf_append(out, line);
		ks_buf_byte(out, '\n');
	}
	return any;
}

static enum ks_status
redact_whole(struct ks_redaction *redaction, struct ks_writing *writing,
	uint64_t first, struct ks_error *err)
{
	struct ks_buf old = KS_BUF_INIT;
	struct ks_buf new = KS_BUF_INIT;
	char path[KS_SEGMENT_PATH];
	bool changed;
	enum ks_status status = ks_log_segment(writing->store->db,
		&writing->store->tree, first, &old, err);

	changed = redact(redaction, ks_buf_span(&old), first, &new);
	if (status == KS_OK)
		status = ks_buf_check(&new, err);
	if (status == KS_OK && changed)
		status = ks_writing_file(writing, ks_layout_segment(first,
			path), ks_buf_span(&new), false, err);
	ks_buf_release(&old);
	ks_buf_release(&new);
	return status;
}

/* The segment that is still growing is rewritten where it grows; where the
 * change adds no line, nothing else would write it. */
static enum ks_status
redact_tail(struct ks_redaction *redaction, struct ks_writing *writing,
	uint64_t tail, struct ks_error *err)
{
	struct ks_buf new = KS_BUF_INIT;
	struct ks_buf old = writing->segment;
	char path[KS_SEGMENT_PATH];
	enum ks_status status;

	if (!redact(redaction, ks_buf_span(&old), tail, &new)) {
		ks_buf_release(&new);
		return KS_OK;
	}
	status = ks_buf_check(&new, err);
	if (status == KS_OK) {
		writing->segment = new;
		new = old;
	}
	ks_buf_release(&new);
	if (status != KS_OK || writing->lines > 0)
		return status;
	return ks_writing_file(writing, ks_layout_segment(tail, path),
		ks_buf_span(&writing->segment), false, err);
}

static enum ks_status
redact_lines(struct ks_redaction *redaction, struct ks_writing *writing,
	struct ks_error *err)
{
	uint64_t size = ks_replay_tree(writing->replay)->size;
	/* The last segment, which may just have become full. */
	uint64_t last = writing->segment.len > 0 ? size - 1 : size;
	uint64_t tail = last - last % KS_SEGMENT_ENTRIES;
	uint64_t done = UINT64_MAX;
	size_t i;
	enum ks_status status = KS_OK;

	if (redaction->line_count > 1)
		qsort(redaction->lines, redaction->line_count,
			sizeof(*redaction->lines), by_index);
	for (i = 0; status == KS_OK && i < redaction->line_count; i++) {
		uint64_t first = redaction->lines[i] -
			redaction->lines[i] % KS_SEGMENT_ENTRIES;

		if (first == tail || first == done)
			continue;
		done = first;
		status = redact_whole(redaction, writing, first, err);
	}
	return status != KS_OK ? status : redact_tail(redaction, writing, tail,
		err);
}

enum ks_status
ks_redaction_carry_out(struct ks_redaction *redaction,
	struct ks_writing *writing, struct ks_error *err)
{
	enum ks_status status = remove_objects(redaction, writing, err);

	writing->rewrites = writing->rewrites || redaction->line_count > 0;
	return status == KS_OK ? redact_lines(redaction, writing, err) :
		status;
}
