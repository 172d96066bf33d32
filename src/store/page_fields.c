/*
 * The members of a spec as rows, whatever its kind: scalars by name, each
 * object or list in a section of its own, one row a member or element, what
 * lies deeper in one line.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "store/page.h"

#define DOT " · "

/* What lies deeper than this is shown as JSON. */
#define DEPTH_MAX 4

struct fields {
	struct ks_store *store;
	struct ks_draft *draft;
	bool names;
};

/* ---- in one line -------------------------------------------------------- */

static bool
is_container(struct ks_span value)
{
	return ks_json_type(value) == KS_JSON_OBJECT ||
		ks_json_type(value) == KS_JSON_ARRAY;
}

/* Whether a list has no list or object in it. */
static bool
is_flat(struct ks_span list)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span element;

	while (ks_json_next_element(&it, &element))
		if (is_container(element))
			return false;
	return true;
}

static void
append_flat(struct ks_buf *out, struct ks_span list)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span element;
	const char *before = "";

	while (ks_json_next_element(&it, &element)) {
		ks_buf_text(out, before);
		ks_draft_scalar(out, element);
		before = ", ";
	}
}

static bool
is_tensor(struct ks_span value)
{
	return ks_json_type(value) == KS_JSON_OBJECT &&
		ks_json_get(value, "dtype").len > 0 &&
		ks_json_get(value, "shape").len > 0;
}

/* Members that the text of a tensor has already. */
static bool
is_of_tensor(struct ks_span name)
{
	return ks_span_is(name, "dtype") || ks_span_is(name, "shape") ||
		ks_span_is(name, "strides") ||
		ks_span_is(name, "alignmentBytes");
}

static void append_inline(struct ks_buf *out, struct ks_span value,
	struct ks_span without, unsigned depth);

static void
append_member(struct ks_buf *out, size_t start,
	const struct ks_json_member *member, unsigned depth)
{
	bool tensor = is_tensor(member->value);

	if (out->len > start)
		ks_buf_text(out, DOT);
	/* A tensor is seen to be one. */
	if (!tensor || !ks_span_is(member->name, "tensor")) {
		ks_json_unescape(out, member->name);
		ks_buf_byte(out, ' ');
	}
	append_inline(out, member->value, ks_span(NULL, 0), depth);
}

static void
append_object(struct ks_buf *out, struct ks_span object,
	struct ks_span without, unsigned depth)
{
	struct ks_json_member *members;
	size_t start = out->len;
	size_t count, i;
	bool tensor = is_tensor(object);

	if (!ks_json_list_jsonb(object, &members, &count)) {
		out->failed = true;
		return;
	}
	if (tensor)
		ks_page_tensor(out, object);
	for (i = 0; i < count; i++)
		if (!ks_span_equal(members[i].name, without) &&
			!(tensor && is_of_tensor(members[i].name)))
			append_member(out, start, &members[i], depth + 1);
	free(members);
}

/* `without` is a member that stands elsewhere. */
static void
append_inline(struct ks_buf *out, struct ks_span value,
	struct ks_span without, unsigned depth)
{
	if (!is_container(value))
		ks_draft_scalar(out, value);
	else if (ks_json_type(value) == KS_JSON_ARRAY && is_flat(value))
		append_flat(out, value);
	else if (ks_json_type(value) == KS_JSON_OBJECT && depth < DEPTH_MAX)
		append_object(out, value, without, depth);
	else
		ks_history_compact(out, value);
}

/* ---- digests ------------------------------------------------------------ */

/* A digest by the name of what has it. False when it is no digest. */
static bool
say_digest(const struct fields *fields, struct ks_buf *value,
	struct ks_span string)
{
	struct ks_part part;
	struct ks_id id;
	struct ks_buf *note = ks_draft_note(fields->draft);

	if (!fields->names || ks_json_type(string) != KS_JSON_STRING ||
		!ks_id_parse(&id, ks_json_raw(string)))
		return false;
	ks_draft_target(fields->draft, &id);
	if (ks_part_known(fields->store, &id, &part,
		&fields->draft->failed)) {
		ks_part_title(&part, value);
		ks_buf_text(note, ks_part_kind(&part));
		if (part.row.state.taken_down)
			ks_buf_text(note, ", taken down");
	} else {
		struct ks_part artifact;
		const char *state = ks_page_link_state(fields->store, &id,
			&artifact, &fields->draft->failed);

		if (artifact.is_here)
			ks_part_title(&artifact, value);
		else
			ks_part_digits(value, &id);
		ks_buf_text(note, state);
		ks_part_release(&artifact);
	}
	ks_part_release(&part);
	return true;
}

/* ---- rows --------------------------------------------------------------- */

static void
say_value(const struct fields *fields, const struct ks_buf *label,
	struct ks_span value, struct ks_span without)
{
	struct ks_buf *out = ks_draft_row_buf(fields->draft, label,
		KS_ROW_OBJECT);

	if (is_container(value) && ks_json_count(value) == 0)
		ks_buf_text(out, "empty");
	else if (!say_digest(fields, out, value))
		append_inline(out, value, without, 0);
}

static void
say_object(const struct fields *fields, struct ks_span object)
{
	struct ks_buf label = KS_BUF_INIT;
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(object, &members, &count)) {
		fields->draft->failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		ks_buf_clear(&label);
		ks_json_unescape(&label, members[i].name);
		say_value(fields, &label, members[i].value,
			ks_span(NULL, 0));
	}
	free(members);
	ks_buf_release(&label);
}

/* The member that names an element of a list, or NULL. */
static const char *
naming_member(struct ks_span element)
{
	static const char *const members[] = {
		"name", "externalId", "metric", "ecosystem", "kind"
	};
	size_t i;

	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (ks_json_get_raw(element, members[i]).len > 0)
			return members[i];
	return NULL;
}

static void
say_list(const struct fields *fields, struct ks_span list)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_buf label = KS_BUF_INIT;
	struct ks_span element;
	size_t number = 0;

	while (ks_json_next_element(&it, &element)) {
		const char *member = naming_member(element);

		number++;
		ks_buf_clear(&label);
		if (member == NULL)
			ks_buf_printf(&label, "%zu", number);
		else
			ks_json_unescape(&label, ks_json_get_raw(element,
				member));
		say_value(fields, &label, element, member == NULL ?
			ks_span(NULL, 0) : ks_span_text(member));
	}
	ks_buf_release(&label);
}

/* Whether a member gets a section of its own. */
static bool
is_section(struct ks_span value)
{
	return ks_json_type(value) == KS_JSON_OBJECT ||
		(ks_json_type(value) == KS_JSON_ARRAY && !is_flat(value));
}

static void
say_sections(const struct fields *fields,
	const struct ks_json_member *members, size_t count)
{
	struct ks_buf title = KS_BUF_INIT;
	size_t sections = 0;
	size_t i;

	for (i = 0; i < count && sections < KS_PAGE_SECTIONS; i++) {
		struct ks_span value = members[i].value;

		if (!is_section(value))
			continue;
		sections++;
		ks_buf_clear(&title);
		ks_json_unescape(&title, members[i].name);
		ks_draft_section(fields->draft, ks_buf_cstr(&title));
		if (ks_json_type(value) == KS_JSON_OBJECT)
			say_object(fields, value);
		else
			say_list(fields, value);
		if (ks_json_count(value) == 0)
			ks_draft_say(fields->draft, "", "empty");
	}
	if (i < count)
		ks_draft_say(fields->draft, "", "and more members: see the "
			"manifest");
	ks_draft_spent(fields->draft, &title);
}

enum ks_status
ks_page_fields(struct ks_store *store, struct ks_draft *draft,
	struct ks_span spec, bool names, struct ks_error *err)
{
	struct fields fields = {
		.store = store, .draft = draft, .names = names
	};
	struct ks_buf label = KS_BUF_INIT;
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(spec, &members, &count))
		return ks_fail_nomem(err);
	ks_draft_section(draft, "Fields");
	for (i = 0; i < count; i++) {
		if (is_section(members[i].value))
			continue;
		ks_buf_clear(&label);
		ks_json_unescape(&label, members[i].name);
		say_value(&fields, &label, members[i].value,
			ks_span(NULL, 0));
	}
	say_sections(&fields, members, count);
	free(members);
	ks_buf_release(&label);
	return KS_OK;
}
