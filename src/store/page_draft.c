/*
 * Drafts: the rows of a page as they are written.
 */
#include "store/page.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"

/* ---- texts -------------------------------------------------------------- */

#define CHUNK 4096

struct ks_texts_chunk {
	struct ks_texts_chunk *before;
	size_t used, size;
	char text[];
};

/* A chunk with room for `size` bytes. */
static struct ks_texts_chunk *
chunk_for(struct ks_texts *texts, size_t size)
{
	struct ks_texts_chunk *chunk = texts->last;
	size_t wanted = size > CHUNK ? size : CHUNK;

	if (chunk != NULL && chunk->size - chunk->used >= size)
		return chunk;
	chunk = malloc(sizeof(*chunk) + wanted);
	if (chunk == NULL) {
		texts->failed = true;
		return NULL;
	}
	chunk->before = texts->last;
	chunk->used = 0;
	chunk->size = wanted;
	texts->last = chunk;
	return chunk;
}

const char *
ks_texts_keep(struct ks_texts *texts, struct ks_span text)
{
	struct ks_texts_chunk *chunk = chunk_for(texts, text.len + 1);
	char *copy;

	if (chunk == NULL)
		return "";
	copy = chunk->text + chunk->used;
	if (text.len > 0)
		memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	chunk->used += text.len + 1;
	return copy;
}

void
ks_texts_release(struct ks_texts *texts)
{
	while (texts->last != NULL) {
		struct ks_texts_chunk *chunk = texts->last;

		texts->last = chunk->before;
		free(chunk);
	}
	texts->failed = false;
}

/* ---- rows --------------------------------------------------------------- */

void
ks_draft_release(struct ks_draft *draft)
{
	ks_texts_release(&draft->texts);
	ks_buf_release(&draft->label);
	ks_buf_release(&draft->value);
	ks_buf_release(&draft->note);
	free(draft->rows);
	free(draft->sections);
	*draft = (struct ks_draft)KS_DRAFT_INIT;
}

/* Room for one more item; false, and the draft has failed, without memory. */
static bool
grow(struct ks_draft *draft, void **items, size_t size, size_t count,
	size_t *room)
{
	void *grown = ks_grow(*items, count, room, size, NULL);

	if (grown == NULL)
		draft->failed = true;
	else
		*items = grown;
	return grown != NULL;
}

/* Keep the open row, in the last section. */
static void
close_row(struct ks_draft *draft)
{
	struct ks_draft_section *section;
	void *rows = draft->rows;
	bool had = draft->is_open;

	draft->is_open = false;
	draft->failed = draft->failed || draft->label.failed ||
		draft->value.failed || draft->note.failed;
	if (!had || draft->failed || draft->section_count == 0)
		return;
	section = &draft->sections[draft->section_count - 1];
	if (section->count == KS_PAGE_ROWS) {
		section->left_out++;
		return;
	}
	if (!grow(draft, &rows, sizeof(*draft->rows), draft->row_count,
		&draft->row_room))
		return;
	draft->rows = rows;
	draft->open.label = ks_texts_keep(&draft->texts,
		ks_buf_span(&draft->label));
	draft->open.value = ks_texts_keep(&draft->texts,
		ks_buf_span(&draft->value));
	draft->open.note = ks_texts_keep(&draft->texts,
		ks_buf_span(&draft->note));
	draft->rows[draft->row_count++] = draft->open;
	section->count++;
}

/* Say of the last section what was left out of it. */
static void
close_section(struct ks_draft *draft)
{
	struct ks_draft_section *section;
	size_t left_out;

	close_row(draft);
	if (draft->section_count == 0)
		return;
	section = &draft->sections[draft->section_count - 1];
	left_out = section->left_out;
	if (left_out == 0)
		return;
	/* One more than the limit, so that it can be said. */
	section->count--;
	draft->row_count--;
	ks_buf_printf(ks_draft_row(draft, "", KS_ROW_TEXT), "and %zu more",
		left_out + 1);
	close_row(draft);
	draft->sections[draft->section_count - 1].left_out = 0;
}

void
ks_draft_section(struct ks_draft *draft, const char *title)
{
	struct ks_draft_section *section;
	void *sections = draft->sections;

	close_section(draft);
	if (draft->failed || !grow(draft, &sections, sizeof(*draft->sections),
		draft->section_count, &draft->section_room))
		return;
	draft->sections = sections;
	section = &draft->sections[draft->section_count++];
	*section = (struct ks_draft_section){ .first = draft->row_count };
	section->title = ks_texts_keep(&draft->texts, ks_span_text(title));
}

struct ks_buf *
ks_draft_row(struct ks_draft *draft, const char *label,
	enum ks_row_origin origin)
{
	close_row(draft);
	ks_buf_clear(&draft->label);
	ks_buf_clear(&draft->value);
	ks_buf_clear(&draft->note);
	ks_buf_text(&draft->label, label);
	draft->open = (struct ks_page_row){ .origin = origin };
	draft->is_open = true;
	return &draft->value;
}

struct ks_buf *
ks_draft_row_buf(struct ks_draft *draft, const struct ks_buf *label,
	enum ks_row_origin origin)
{
	(void)ks_draft_row(draft, "", origin);
	ks_buf_append(&draft->label, ks_buf_span(label));
	draft->failed = draft->failed || label->failed;
	return &draft->value;
}

void
ks_draft_spent(struct ks_draft *draft, struct ks_buf *text)
{
	draft->failed = draft->failed || text->failed;
	ks_buf_release(text);
}

struct ks_buf *
ks_draft_note(struct ks_draft *draft)
{
	return &draft->note;
}

void
ks_draft_target(struct ks_draft *draft, const struct ks_id *digest)
{
	draft->open.has_target = true;
	draft->open.target = *digest;
}

void
ks_draft_warn(struct ks_draft *draft)
{
	draft->open.warns = true;
}

void
ks_draft_drop(struct ks_draft *draft)
{
	draft->is_open = false;
}

void
ks_draft_say(struct ks_draft *draft, const char *label, const char *value)
{
	ks_buf_text(ks_draft_row(draft, label, KS_ROW_TEXT), value);
}

void
ks_draft_scalar(struct ks_buf *out, struct ks_span value)
{
	if (value.len == 0)
		return;
	if (ks_json_type(value) == KS_JSON_STRING)
		ks_json_unescape(out, ks_json_raw(value));
	else
		ks_buf_append(out, value);
}

void
ks_draft_member(struct ks_draft *draft, const char *label,
	struct ks_span object, const char *member, enum ks_row_origin origin)
{
	struct ks_span value = ks_json_get(object, member);

	if (value.len > 0)
		ks_draft_scalar(ks_draft_row(draft, label, origin), value);
}

struct ks_buf *
ks_draft_part(struct ks_draft *draft, const char *label,
	const struct ks_part *part, enum ks_row_origin origin)
{
	struct ks_buf *value = ks_draft_row(draft, label, origin);

	if (part->is_named)
		ks_draft_target(draft, &part->digest);
	if (part->is_named && !part->is_here)
		ks_buf_text(&draft->note, part->state);
	return value;
}

/* ---- finishing ---------------------------------------------------------- */

static void
fill(const struct ks_draft *draft, struct ks_page_made *made)
{
	struct ks_page *page = &made->page;
	size_t i;

	for (i = 0; i < draft->section_count; i++) {
		const struct ks_draft_section *from = &draft->sections[i];
		struct ks_page_section *section =
			&made->sections[page->count];

		if (from->count == 0)
			continue;
		section->title = from->title;
		section->rows = made->rows + from->first;
		section->count = from->count;
		page->count++;
	}
	page->sections = made->sections;
}

enum ks_status
ks_draft_finish(struct ks_draft *draft, struct ks_page_made **out,
	struct ks_error *err)
{
	struct ks_page_made *made = calloc(1, sizeof(*made));

	*out = NULL;
	close_section(draft);
	if (made == NULL || draft->failed || draft->texts.failed) {
		free(made);
		return ks_fail_nomem(err);
	}
	made->sections = calloc(draft->section_count + 1,
		sizeof(*made->sections));
	if (made->sections == NULL) {
		free(made);
		return ks_fail_nomem(err);
	}
	made->rows = draft->rows;
	made->texts = draft->texts;
	draft->rows = NULL;
	draft->texts = (struct ks_texts){ .last = NULL };
	fill(draft, made);
	*out = made;
	return KS_OK;
}

void
ks_page_free(struct ks_page *page)
{
	/* The page is the first member of what was made. */
	struct ks_page_made *made = (struct ks_page_made *)(void *)page;

	if (made == NULL)
		return;
	ks_texts_release(&made->texts);
	free(made->rows);
	free(made->sections);
	free(made);
}
