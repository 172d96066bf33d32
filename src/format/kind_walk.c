#include "format/kind_walk.h"

#include <stdio.h>

struct ks_span
ks_walk_container(struct ks_walk *w)
{
	const uint8_t *start = w->at;
	size_t depth = 0;

	do {
		uint8_t byte = ks_walk_peek(w);

		if (byte == '"') {
			(void)ks_walk_string(w);
			continue;
		}
		if (w->at >= w->end)
			break;
		if (byte == '{' || byte == '[')
			depth++;
		if (byte == '}' || byte == ']')
			depth--;
		w->at++;
	} while (depth > 0);
	return ks_span(start, (size_t)(w->at - start));
}

/* Whether all is printable ASCII, as nearly always. */
static bool
is_plain(struct ks_span raw)
{
	size_t i;

	for (i = 0; i < raw.len; i++) {
		if (raw.data[i] < 0x20 || raw.data[i] >= 0x7f)
			return false;
	}
	return raw.len > 0;
}

char *
ks_quote_raw(char out[KS_QUOTE_ROOM], struct ks_span raw)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t n = raw.len;

	if (n <= KS_QUOTE_MAX && is_plain(raw)) {
		memcpy(out, raw.data, n);
		out[n] = '\0';
		return out;
	}
	if (n <= KS_QUOTE_MAX)
		return ks_printable(out, KS_QUOTE_ROOM, raw);
	n = KS_QUOTE_MAX;
	while (n > 0 && (raw.data[n] & 0xc0) == 0x80)
		n--;
	(void)ks_printable(out, KS_QUOTE_ROOM - sizeof(ellipsis),
		ks_span(raw.data, n));
	memcpy(out + strlen(out), ellipsis, sizeof(ellipsis));
	return out;
}

char *
ks_quote_value(char out[KS_QUOTE_ROOM], struct ks_span value)
{
	enum ks_json_type type = ks_json_type(value);
	size_t len;

	if (type == KS_JSON_OBJECT || type == KS_JSON_ARRAY) {
		(void)snprintf(out, KS_QUOTE_ROOM, "%s",
			ks_json_type_name(type));
		return out;
	}
	if (type != KS_JSON_STRING)
		return ks_quote_raw(out, value);
	(void)ks_quote_raw(out, ks_json_raw(value));
	len = strlen(out);
	memmove(out + 1, out, len);
	out[0] = out[len + 1] = '"';
	out[len + 2] = '\0';
	return out;
}

/* Append to `out` what fits of `text`. Returns the new length. */
static size_t
append(char *out, size_t size, size_t used, const char *text)
{
	size_t len = strlen(text);

	if (len > size - 1 - used)
		len = size - 1 - used;
	memcpy(out + used, text, len);
	out[used + len] = '\0';
	return used + len;
}

size_t
ks_place_print(char *out, size_t size, const struct ks_place *place)
{
	char part[KS_QUOTE_ROOM];
	size_t used = 0;

	if (place->up != NULL)
		used = ks_place_print(out, size, place->up);
	if (place->name.data == NULL) {
		(void)snprintf(part, sizeof(part), "[%zu]", place->index);
		return append(out, size, used, part);
	}
	if (place->up != NULL)
		used = append(out, size, used, ".");
	return append(out, size, used, ks_quote_raw(part, place->name));
}
