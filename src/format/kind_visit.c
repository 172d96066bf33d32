/* Finding references and links, and making the normal form: visits to the
 * values of certain shapes, wherever the tables have them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/kind_statement.h"
#include "format/kind_walk.h"

struct visit {
	struct ks_walk text;
	unsigned shapes;	/* a bit for each shape to visit */
	/* Called with each value of such a shape. */
	bool (*leaf)(struct visit *visit, const struct ks_type *type,
		struct ks_span value, const struct ks_place *place);
	void *arg;
	bool stopped;		/* a leaf returned false */
};

static bool
is_visited(const struct visit *visit, const struct ks_type *type)
{
	return (visit->shapes >> type->shape & 1) != 0;
}

/* Whether values of the type can have visited ones in them. */
static bool
holds_visited(const struct visit *visit, const struct ks_type *type)
{
	const struct ks_field *field;

	if (is_visited(visit, type))
		return true;
	if (type->of != NULL)
		return holds_visited(visit, type->of);
	if (type->shape != KS_SHAPE_OBJECT)
		return false;
	for (field = type->fields; field < ks_fields_end(type); field++) {
		if (holds_visited(visit, field->type))
			return true;
	}
	return false;
}

static void visit_value(struct visit *visit, const struct ks_type *type,
	const struct ks_place *place);

static void
visit_object(struct visit *visit, const struct ks_type *type,
	const struct ks_place *place)
{
	const struct ks_field *field = type->fields;
	struct ks_span name;

	while (ks_walk_member(&visit->text, &name)) {
		const struct ks_field *found = ks_field_match(field,
			ks_fields_end(type), name);
		struct ks_place at = ks_place_member(place, name);

		if (found != NULL)
			field = found + 1;
		if (found != NULL && holds_visited(visit, found->type))
			visit_value(visit, found->type, &at);
		else
			(void)ks_walk_value(&visit->text);
	}
}

static void
visit_map(struct visit *visit, const struct ks_type *type,
	const struct ks_place *place)
{
	struct ks_span name;

	while (ks_walk_member(&visit->text, &name)) {
		struct ks_place at = ks_place_member(place, name);

		visit_value(visit, type->of, &at);
	}
}

static void
visit_list(struct visit *visit, const struct ks_type *type,
	const struct ks_place *place)
{
	size_t index = 0;

	while (ks_walk_element(&visit->text)) {
		struct ks_place at = ks_place_element(place, index++);

		visit_value(visit, type->of, &at);
	}
}

static void
visit_leaf(struct visit *visit, const struct ks_type *type,
	const struct ks_place *place)
{
	struct ks_span value = ks_walk_value(&visit->text);

	if (visit->stopped || visit->leaf(visit, type, value, place))
		return;
	visit->stopped = true;
	visit->text.at = visit->text.end;
}

/* Take one value of a type that holds visited ones, and visit them. A value
 * that has another type than the table says is stepped over. */
static void
visit_value(struct visit *visit, const struct ks_type *type,
	const struct ks_place *place)
{
	bool in_braces = type->shape == KS_SHAPE_OBJECT ||
		type->shape == KS_SHAPE_MAP;

	if (is_visited(visit, type))
		visit_leaf(visit, type, place);
	else if (!ks_walk_take(&visit->text, in_braces ? '{' : '['))
		(void)ks_walk_value(&visit->text);
	else if (type->shape == KS_SHAPE_OBJECT)
		visit_object(visit, type, place);
	else if (type->shape == KS_SHAPE_MAP)
		visit_map(visit, type, place);
	else
		visit_list(visit, type, place);
}

static void
visit_spec(struct visit *visit, const struct ks_kind *kind,
	struct ks_span spec)
{
	struct ks_place place = ks_place_member(NULL, ks_span_text("spec"));

	if (!holds_visited(visit, kind->spec))
		return;
	visit->text.at = spec.data;
	visit->text.end = spec.data + spec.len;
	visit_value(visit, kind->spec, &place);
}

/*
 * References and links.
 */
struct references {
	ks_reference_fn *visit;
	void *arg;
};

/* The digest that a value states; false when it is malformed. */
static bool
read_digest(const struct ks_type *type, struct ks_span value,
	struct ks_id *target, bool *no_memory)
{
	enum ks_status status;

	if (!ks_is_string(value))
		return false;
	if (type->shape != KS_SHAPE_STATEMENT)
		return ks_id_parse(target, ks_json_raw(value));
	status = ks_kind_statement(ks_json_raw(value), target, NULL);
	*no_memory = status == KS_NOMEM;
	return status == KS_OK;
}

static bool
reference_leaf(struct visit *visit, const struct ks_type *type,
	struct ks_span value, const struct ks_place *place)
{
	struct references *references = visit->arg;
	struct ks_reference reference = {
		.is_link = type->shape == KS_SHAPE_LINK,
		.expected = { type->expected[0], type->expected[1] },
	};
	char path[KS_PATH_ROOM];
	bool no_memory = false;

	if (!read_digest(type, value, &reference.target, &no_memory))
		return !no_memory;
	(void)ks_place_print(path, sizeof(path), place);
	reference.path = path;
	return references->visit(references->arg, &reference);
}

bool
ks_kind_references(const struct ks_kind *kind, struct ks_span spec,
	ks_reference_fn *visit_reference, void *arg)
{
	struct references references = {
		.visit = visit_reference,
		.arg = arg,
	};
	struct visit visit = {
		.shapes = 1U << KS_SHAPE_LINK | 1U << KS_SHAPE_REFERENCE |
			1U << KS_SHAPE_STATEMENT,
		.leaf = reference_leaf,
		.arg = &references,
	};

	visit_spec(&visit, kind, spec);
	return !visit.stopped;
}

/*
 * Normal form: the text is copied, and what changes is replaced.
 */
struct normaliser {
	struct ks_buf *out;
	const uint8_t *copied;	/* the text before this is in `out` */
	ks_finding_fn *report;
	void *arg;
	bool changed;
};

/* Copy the text up to `value`; a replacement for it follows. */
static void
start_replacing(struct normaliser *n, struct ks_span value)
{
	ks_buf_append(n->out,
		ks_span(n->copied, (size_t)(value.data - n->copied)));
	n->copied = value.data + value.len;
	n->changed = true;
}

static void KS_PRINTF(3, 4)
note(struct normaliser *n, const struct ks_place *place,
	const char *format, ...)
{
	char path[KS_PATH_ROOM];
	char message[KS_ERROR_MESSAGE_MAX];
	va_list args;

	if (n->report == NULL)
		return;
	(void)ks_place_print(path, sizeof(path), place);
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (!n->report(n->arg, KS_FINDING_NOTE, path, message))
		n->report = NULL;
}

static void
normalise_duration(struct normaliser *n, struct ks_span value,
	const struct ks_place *place)
{
	int64_t nanoseconds;
	char found[KS_QUOTE_ROOM];

	if (!ks_is_string(value) ||
		!ks_shape_duration(ks_json_raw(value), &nanoseconds))
		return;
	start_replacing(n, value);
	ks_buf_printf(n->out, "%lld", (long long)nanoseconds);
	(void)ks_quote_value(found, value);
	note(n, place, "%s became %lld nanoseconds", found,
		(long long)nanoseconds);
}

static int
compare_strings(const void *a, const void *b)
{
	const struct ks_span *left = a;
	const struct ks_span *right = b;

	return ks_json_name_compare(ks_json_raw(*left), ks_json_raw(*right));
}

/* What is to be done with a list that should be a set. */
struct set_state {
	size_t count;
	bool all_strings;
	bool ascending;		/* in normal form already */
};

static struct set_state
look_at_set(struct ks_span list)
{
	struct set_state state = { .all_strings = true, .ascending = true };
	struct ks_span last = { .data = NULL, .len = 0 };
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span item;

	while (state.all_strings && ks_json_next_element(&it, &item)) {
		state.all_strings = ks_is_string(item);
		if (state.count++ > 0 && state.all_strings &&
			state.ascending)
			state.ascending = compare_strings(&last, &item) < 0;
		last = item;
	}
	return state;
}

/* Append the strings in `items`, sorted, each once. Returns how many. */
static size_t
write_set(struct ks_buf *out, struct ks_span *items, size_t count)
{
	size_t kept = 0;
	size_t i;

	qsort(items, count, sizeof(items[0]), compare_strings);
	ks_buf_byte(out, '[');
	for (i = 0; i < count; i++) {
		if (i > 0 && ks_span_equal(items[i - 1], items[i]))
			continue;
		if (kept++ > 0)
			ks_buf_byte(out, ',');
		ks_buf_append(out, items[i]);
	}
	ks_buf_byte(out, ']');
	return kept;
}

static void
normalise_set(struct normaliser *n, struct ks_span value,
	const struct ks_place *place)
{
	struct set_state state = look_at_set(value);
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span *items;
	size_t filled = 0;
	size_t kept;

	if (!state.all_strings || state.ascending)
		return;
	items = malloc(state.count * sizeof(items[0]));
	if (items == NULL) {
		n->out->failed = true;
		return;
	}
	while (filled < state.count &&
		ks_json_next_element(&it, &items[filled]))
		filled++;
	start_replacing(n, value);
	kept = write_set(n->out, items, filled);
	free(items);
	if (kept == state.count)
		note(n, place, "was sorted (%zu elements)", kept);
	else
		note(n, place, "was sorted and lost its duplicates "
			"(%zu elements became %zu)", state.count, kept);
}

static bool
normalise_leaf(struct visit *visit, const struct ks_type *type,
	struct ks_span value, const struct ks_place *place)
{
	if (type->shape == KS_SHAPE_DURATION)
		normalise_duration(visit->arg, value, place);
	else
		normalise_set(visit->arg, value, place);
	return true;
}

enum ks_status
ks_kind_normalise(const struct ks_kind *kind, struct ks_span spec,
	struct ks_buf *out, bool *changed, ks_finding_fn *report, void *arg,
	struct ks_error *err)
{
	struct normaliser n = {
		.out = out,
		.copied = spec.data,
		.report = report,
		.arg = arg,
	};
	struct visit visit = {
		.shapes = 1U << KS_SHAPE_DURATION | 1U << KS_SHAPE_SET,
		.leaf = normalise_leaf,
		.arg = &n,
	};
	enum ks_status status;

	*changed = false;
	visit_spec(&visit, kind, spec);
	if (n.changed)
		ks_buf_append(out, ks_span(n.copied,
			(size_t)(spec.data + spec.len - n.copied)));
	status = ks_buf_check(out, err);
	if (status == KS_OK)
		*changed = n.changed;
	return status;
}
