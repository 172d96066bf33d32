/*
 * Walking canonical text beside the tables of kinds: one look at every value,
 * no memory. Private to format/kind*.c and format/row.c.
 */
#ifndef KS_FORMAT_KIND_WALK_H
#define KS_FORMAT_KIND_WALK_H

#include "base/word.h"
#include "format/json.h"
#include "format/kind_table.h"

/* A cursor over canonical text. On text that is not canonical it goes to the
 * end, so that every loop ends, and never beyond. */
struct ks_walk {
	const uint8_t *at;
	const uint8_t *end;
};

static inline uint8_t
ks_walk_peek(const struct ks_walk *w)
{
	return w->at < w->end ? *w->at : 0;
}

static inline bool
ks_walk_take(struct ks_walk *w, uint8_t byte)
{
	if (w->at >= w->end || *w->at != byte)
		return false;
	w->at++;
	return true;
}

/* A string, which starts here, with its quotes. */
static inline struct ks_span
ks_walk_string(struct ks_walk *w)
{
	const uint8_t *start = w->at;
	const uint8_t *p = start + 1;

	while (w->end - p >= KS_WORD_BYTES) {
		uint64_t word = ks_word_load(p);
		uint64_t hits = ks_word_equal(word, '"') |
			ks_word_equal(word, '\\');

		if (hits == 0) {
			p += KS_WORD_BYTES;
			continue;
		}
		p += ks_word_first(hits);
		if (*p == '"')
			break;
		p += w->end - p > 1 ? 2 : 1;
	}
	while (p < w->end && *p != '"')
		p += *p == '\\' && w->end - p > 1 ? 2 : 1;
	w->at = p < w->end ? p + 1 : w->end;
	return ks_span(start, (size_t)(w->at - start));
}

/* A number, true, false or null. */
static inline struct ks_span
ks_walk_literal(struct ks_walk *w)
{
	const uint8_t *start = w->at;
	const uint8_t *p = start;

	while (p < w->end && *p != ',' && *p != '}' && *p != ']')
		p++;
	w->at = p > start ? p : w->end;
	return ks_span(start, (size_t)(w->at - start));
}

/* An object or array, which starts here, with everything in it. */
struct ks_span ks_walk_container(struct ks_walk *w);

/* Any value. */
static inline struct ks_span
ks_walk_value(struct ks_walk *w)
{
	switch (ks_walk_peek(w)) {
	case '"':
		return ks_walk_string(w);
	case '{':
	case '[':
		return ks_walk_container(w);
	default:
		return ks_walk_literal(w);
	}
}

static inline bool
ks_is_string(struct ks_span value)
{
	return value.len >= 2 && value.data[0] == '"';
}

/* Step to the next element of an array, the '[' of which is taken. */
static inline bool
ks_walk_element(struct ks_walk *w)
{
	if (ks_walk_take(w, ']') || w->at >= w->end)
		return false;
	(void)ks_walk_take(w, ',');
	return true;
}

/* Step to the value of the next member of an object, the '{' of which is
 * taken. */
static inline bool
ks_walk_member(struct ks_walk *w, struct ks_span *name)
{
	if (ks_walk_take(w, '}') || w->at >= w->end)
		return false;
	(void)ks_walk_take(w, ',');
	if (ks_walk_peek(w) != '"') {
		w->at = w->end;
		return false;
	}
	*name = ks_json_raw(ks_walk_string(w));
	(void)ks_walk_take(w, ':');
	return true;
}

/* The field called `name` among those from `field` on, or NULL. As both
 * stand in canonical order, what lies behind `field` need not be looked at. */
static inline const struct ks_field *
ks_field_match(const struct ks_field *field, const struct ks_field *end,
	struct ks_span name)
{
	for (; field < end; field++) {
		if (field->name_len == name.len &&
			memcmp(field->name, name.data, name.len) == 0)
			return field;
	}
	return NULL;
}

static inline const struct ks_field *
ks_fields_end(const struct ks_type *type)
{
	return type->fields + type->max;
}

/*
 * Where in a record a value stands: a chain from the value up to "spec". It
 * becomes text only when something is to be said.
 */
struct ks_place {
	const struct ks_place *up;	/* NULL: the root */
	struct ks_span name;	/* of a member; data NULL: an element */
	size_t index;		/* of an element */
};

static inline struct ks_place
ks_place_member(const struct ks_place *up, struct ks_span name)
{
	return (struct ks_place){ .up = up, .name = name };
}

static inline struct ks_place
ks_place_element(const struct ks_place *up, size_t index)
{
	return (struct ks_place){ .up = up, .index = index };
}

/* Write a place as "spec.inputs[2].name", cut where `size` ends. Returns the
 * length. */
size_t ks_place_print(char *out, size_t size, const struct ks_place *place);

#define KS_PATH_ROOM 512

/* At most this much of a hostile text goes into a path or message. */
#define KS_QUOTE_MAX 64
/* Room for it, each byte perhaps as \xHH, an ellipsis, quotes and a NUL. */
#define KS_QUOTE_ROOM (4 * KS_QUOTE_MAX + 16)

/* As ks_printable(), with "…" where the text had to be cut. */
char *ks_quote_raw(char out[KS_QUOTE_ROOM], struct ks_span raw);

/* A value as messages show it: scalars as they are written, others by their
 * type. */
char *ks_quote_value(char out[KS_QUOTE_ROOM], struct ks_span value);

#endif
