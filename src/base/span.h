/*
 * Borrowed bytes.
 *
 * A span points at bytes that somebody else owns and that outlive it; it is
 * passed by value. An empty span may have a NULL pointer.
 */
#ifndef KS_BASE_SPAN_H
#define KS_BASE_SPAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ks_span {
	const uint8_t *data;
	size_t len;
};

/* A span over `len` bytes at `data`. */
static inline struct ks_span
ks_span(const void *data, size_t len)
{
	return (struct ks_span){ .data = data, .len = len };
}

/* A span over the characters of a NUL-terminated text. */
static inline struct ks_span
ks_span_text(const char *text)
{
	return ks_span(text, strlen(text));
}

/* Whether two spans hold the same bytes. */
static inline bool
ks_span_equal(struct ks_span a, struct ks_span b)
{
	return a.len == b.len &&
		(a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Whether a span holds exactly the characters of `text`. */
static inline bool
ks_span_is(struct ks_span a, const char *text)
{
	return ks_span_equal(a, ks_span_text(text));
}

/* Whether a span begins with the characters of `start`. */
static inline bool
ks_span_begins(struct ks_span text, const char *start)
{
	size_t len = strlen(start);

	return text.len >= len && memcmp(text.data, start, len) == 0;
}

/* A blank, tab, CR or LF; the span without those at both ends. */
static inline bool
ks_span_is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline struct ks_span
ks_span_trim(struct ks_span text)
{
	while (text.len > 0 && ks_span_is_space(text.data[0]))
		text = ks_span(text.data + 1, text.len - 1);
	while (text.len > 0 && ks_span_is_space(text.data[text.len - 1]))
		text.len--;
	return text;
}

/* Byte order, a shorter prefix first: <0, 0, >0 as memcmp. */
static inline int
ks_span_compare(struct ks_span a, struct ks_span b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n == 0 ? 0 : memcmp(a.data, b.data, n);

	if (order != 0)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}

#endif
