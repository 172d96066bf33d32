#include "format/tile.h"

#include <stdio.h>

/* Levels of a tree of fewer than 2^63 leaves. */
#define USED_LEVELS 8

char *
ks_tile_print(const struct ks_tile *tile, char out[KS_TILE_PATH])
{
	uint64_t unit = 1;
	int used;

	used = tile->entries ?
		snprintf(out, KS_TILE_PATH, "tile/entries/") :
		snprintf(out, KS_TILE_PATH, "tile/%u/", tile->level);
	while (tile->number / unit >= 1000)
		unit *= 1000;
	for (; unit > 1; unit /= 1000)
		used += snprintf(out + used, KS_TILE_PATH - (size_t)used,
			"x%03u/", (unsigned)(tile->number / unit % 1000));
	used += snprintf(out + used, KS_TILE_PATH - (size_t)used, "%03u",
		(unsigned)(tile->number % 1000));
	if (tile->width < KS_TILE_WIDTH)
		(void)snprintf(out + used, KS_TILE_PATH - (size_t)used,
			".p/%u", tile->width);
	return out;
}

/* Take `text` off the front. */
static bool
take(struct ks_span *path, const char *text)
{
	size_t len = strlen(text);

	if (path->len < len || memcmp(path->data, text, len) != 0)
		return false;
	*path = ks_span(path->data + len, path->len - len);
	return true;
}

/* Take 1 to `most` digits off the front. */
static bool
take_digits(struct ks_span *path, size_t most, unsigned *out, size_t *count)
{
	size_t n = 0;

	*out = 0;
	for (; n < path->len && n < most; n++) {
		uint8_t c = path->data[n];

		if (c < '0' || c > '9')
			break;
		*out = *out * 10 + (unsigned)(c - '0');
	}
	*path = ks_span(path->data + n, path->len - n);
	*count = n;
	return n > 0;
}

/* A decimal number without leading zeros; digits that are left over meet no
 * rule for what follows it. */
static bool
take_number(struct ks_span *path, size_t most, unsigned *out)
{
	size_t count;

	return take_digits(path, most, out, &count) &&
		(count == 1 || *out >= (count == 2 ? 10U : 100U));
}

/* Groups of three digits, all but the last behind an 'x'; the first of
 * several is not x000. */
static bool
take_index(struct ks_span *path, uint64_t *out)
{
	bool more;
	unsigned group;
	size_t count;

	*out = 0;
	do {
		more = take(path, "x");
		if (!take_digits(path, 3, &group, &count) || count != 3)
			return false;
		if (*out > ((uint64_t)INT64_MAX - group) / 1000 ||
			(more && *out == 0 && group == 0) ||
			(more && !take(path, "/")))
			return false;
		*out = *out * 1000 + group;
	} while (more);
	return true;
}

bool
ks_tile_parse(struct ks_span path, struct ks_tile *out)
{
	*out = (struct ks_tile){ .width = KS_TILE_WIDTH };
	if (!take(&path, "tile/"))
		return false;
	out->entries = take(&path, "entries/");
	if (!out->entries && (!take_number(&path, 2, &out->level) ||
		out->level >= KS_TILE_LEVELS || !take(&path, "/")))
		return false;
	if (!take_index(&path, &out->number))
		return false;
	if (take(&path, ".p/") && (!take_number(&path, 3, &out->width) ||
		out->width == 0 || out->width >= KS_TILE_WIDTH))
		return false;
	return path.len == 0;
}

/* The tiles of a level of `count` hashes. */
static enum ks_status
each_of_level(bool entries, unsigned level, uint64_t count,
	ks_tile_fn *visit, void *arg, struct ks_error *err)
{
	struct ks_tile tile = { .entries = entries, .level = level,
		.width = KS_TILE_WIDTH };
	enum ks_status status = KS_OK;

	for (; status == KS_OK && count > 0; tile.number++) {
		if (count < KS_TILE_WIDTH)
			tile.width = (unsigned)count;
		count -= tile.width;
		status = visit(arg, &tile, err);
	}
	return status;
}

enum ks_status
ks_tile_each(uint64_t size, ks_tile_fn *visit, void *arg,
	struct ks_error *err)
{
	unsigned level;
	enum ks_status status = KS_OK;

	/* Only full tiles are hashed upwards. */
	for (level = 0; status == KS_OK && size > 0; level++) {
		status = each_of_level(false, level, size, visit, arg, err);
		size /= KS_TILE_WIDTH;
	}
	return status;
}

enum ks_status
ks_tile_each_bundle(uint64_t size, ks_tile_fn *visit, void *arg,
	struct ks_error *err)
{
	return each_of_level(true, 0, size, visit, arg, err);
}

enum ks_status
ks_tile_each_partial(uint64_t size, uint64_t later, ks_tile_fn *visit,
	void *arg, struct ks_error *err)
{
	struct ks_tile tile = { .entries = true };
	enum ks_status status = KS_OK;

	while (status == KS_OK && size > 0) {
		tile.number = size / KS_TILE_WIDTH;
		tile.width = (unsigned)(size % KS_TILE_WIDTH);
		if (tile.width > 0 && later / KS_TILE_WIDTH == tile.number)
			status = visit(arg, &tile, err);
		if (tile.entries) {
			tile.entries = false;
			continue;
		}
		tile.level++;
		size /= KS_TILE_WIDTH;
		later /= KS_TILE_WIDTH;
	}
	return status;
}

char *
ks_tile_print_partials(const struct ks_tile *tile, char out[KS_TILE_PATH])
{
	struct ks_tile partial = *tile;

	partial.width = 1;
	*strrchr(ks_tile_print(&partial, out), '/') = '\0';
	return out;
}

enum ks_status
ks_tile_hashes(const struct ks_tile *tile, ks_subtree_fn *source, void *arg,
	struct ks_buf *out, struct ks_error *err)
{
	struct ks_id hash;
	unsigned i;

	if (tile->entries || tile->level >= USED_LEVELS)
		return ks_fail(err, KS_USAGE, "not a tile of hashes");
	for (i = 0; i < tile->width; i++) {
		enum ks_status status = source(arg, 8 * tile->level,
			tile->number * KS_TILE_WIDTH + i, &hash, err);

		if (status != KS_OK)
			return status;
		ks_buf_append(out, ks_span(hash.bytes, KS_ID_BYTES));
	}
	return ks_buf_check(out, err);
}

enum ks_status
ks_tile_add_entry(struct ks_span entry, struct ks_buf *bundle,
	struct ks_error *err)
{
	if (entry.len > KS_TILE_ENTRY_MAX)
		return ks_fail(err, KS_INVALID,
			"entry of %zu bytes, over the limit of %d", entry.len,
			KS_TILE_ENTRY_MAX);
	ks_buf_byte(bundle, (uint8_t)(entry.len >> 8));
	ks_buf_byte(bundle, (uint8_t)(entry.len & 0xff));
	ks_buf_append(bundle, entry);
	return ks_buf_check(bundle, err);
}

enum ks_status
ks_tile_read_entries(struct ks_span bundle, unsigned width,
	struct ks_span entries[KS_TILE_WIDTH], struct ks_error *err)
{
	unsigned i;

	if (width > KS_TILE_WIDTH)
		return ks_fail(err, KS_USAGE, "bundle of %u entries", width);
	for (i = 0; i < width; i++) {
		size_t len = bundle.len < 2 ? 0 :
			(size_t)bundle.data[0] << 8 | bundle.data[1];

		if (bundle.len < 2 || bundle.len - 2 < len)
			return ks_fail(err, KS_CORRUPT,
				"entry bundle ends inside entry %u of %u", i,
				width);
		entries[i] = ks_span(bundle.data + 2, len);
		bundle = ks_span(bundle.data + 2 + len, bundle.len - 2 - len);
	}
	if (bundle.len > 0)
		return ks_fail(err, KS_CORRUPT,
			"%zu bytes follow the %u entries of a bundle",
			bundle.len, width);
	return KS_OK;
}
