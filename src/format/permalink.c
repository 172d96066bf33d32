#include "format/permalink.h"

#include "base/hex.h"

#define HOST "kernelindex.com"
#define KI "kernelindex.dev/v1alpha1/"

/* The pages of single records: what stands before their id or slug. */
static const struct page {
	const char *section, *kind;
	bool by_slug;
} pages[] = {
	{ "implementations", KI "ImplementationRevision", true },
	{ "operations", KI "OperationSpec", true },
	{ "projects", KI "SoftwareProject", true },
	{ "runs", KI "BenchmarkRun", false },
	{ "serving-runs", KI "ServingRun", false },
};

static uint8_t
lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* Take `prefix` (lower case) off the text, in any case. */
static bool
take(struct ks_span *text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (text->len < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (lower(text->data[i]) != (uint8_t)prefix[i])
			return false;
	*text = ks_span(text->data + len, text->len - len);
	return true;
}

static bool
is_one_of(uint8_t c, const char *set)
{
	return memchr(set, c, strlen(set)) != NULL;
}

/* Take off what stands before the first byte of `ends`, which stays. */
static struct ks_span
take_until(struct ks_span *text, const char *ends)
{
	struct ks_span taken = ks_span(text->data, 0);

	while (taken.len < text->len &&
		!is_one_of(text->data[taken.len], ends))
		taken.len++;
	*text = ks_span(text->data + taken.len, text->len - taken.len);
	return taken;
}

/* The path, without the slashes around it; false where the host is another.
 * One with a user before it or a port behind it is. */
static bool
take_path(struct ks_span text, struct ks_span *path)
{
	if (!take(&text, "https://") && !take(&text, "http://"))
		return false;
	if (!take(&text, HOST) || (text.len > 0 &&
		!is_one_of(text.data[0], "/?#")))
		return false;
	*path = take_until(&text, "?#");
	(void)take(path, "/");
	if (path->len > 0 && path->data[path->len - 1] == '/')
		path->len--;
	return true;
}

/* The next character of the last part of a path, with %XX undone; 0 where it
 * is none that an id or a slug may have: printable ASCII, and no slash. */
static char
next_character(struct ks_span *part)
{
	uint8_t c = part->data[0];
	size_t len = 1;
	int high, low;

	if (c == '%') {
		len = 3;
		high = part->len < len ? -1 :
			ks_hex_value(lower(part->data[1]));
		low = part->len < len ? -1 :
			ks_hex_value(lower(part->data[2]));
		if (high < 0 || low < 0)
			return 0;
		c = (uint8_t)(high << 4 | low);
	}
	*part = ks_span(part->data + len, part->len - len);
	if (c <= ' ' || c >= 0x7f || c == '/')
		return 0;
	return (char)c;
}

/* All of them; false where there are none, or too many. */
static bool
decode(struct ks_span part, char out[KS_PERMALINK_SLUG_MAX + 1])
{
	size_t len = 0;

	while (part.len > 0 && len < KS_PERMALINK_SLUG_MAX) {
		out[len] = next_character(&part);
		if (out[len++] == 0)
			return false;
	}
	out[len] = 0;
	return len > 0 && part.len == 0;
}

static const struct page *
find_page(struct ks_span section)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (ks_span_is(section, pages[i].section))
			return &pages[i];
	return NULL;
}

/* A run's page answers to its id and to its digest. */
static enum ks_permalink_form
read_key(struct ks_permalink *link)
{
	struct ks_span key = ks_span_text(link->slug);

	if (ks_id_parse_loose(&link->digest, key))
		return KS_PERMALINK_DIGEST;
	return ks_uuid_parse(key, true, link->id) ? KS_PERMALINK_ID :
		KS_PERMALINK_OTHER;
}

void
ks_permalink_read(struct ks_span text, struct ks_permalink *link)
{
	struct ks_span path, section;
	const struct page *page;

	memset(link, 0, sizeof(*link));
	if (!take_path(text, &path))
		return;
	link->form = KS_PERMALINK_OTHER;
	section = take_until(&path, "/");
	page = find_page(section);
	if (page == NULL || !take(&path, "/") || !decode(path, link->slug))
		return;
	link->kind = page->kind;
	link->form = page->by_slug ? KS_PERMALINK_SLUG : read_key(link);
}

void
ks_permalink_print(struct ks_buf *out, const char *kind, struct ks_span key)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!pages[i].by_slug && strcmp(pages[i].kind, kind) == 0) {
			ks_buf_printf(out, "https://" HOST "/%s/",
				pages[i].section);
			ks_buf_append(out, key);
		}
}
