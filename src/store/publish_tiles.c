#include "store/publish_internal.h"

#include <stdio.h>

/* ---- entry bundles --------------------------------------------------- */

/* The first `width` entries of a segment, as a bundle (W5). */
static enum ks_status
make_bundle(struct ks_span segment, unsigned width, struct ks_buf *bundle,
	struct ks_error *err)
{
	struct ks_span line;
	unsigned i;
	enum ks_status status = KS_OK;

	ks_buf_clear(bundle);
	for (i = 0; status == KS_OK && i < width; i++)
		status = ks_log_next_line(&segment, &line) ?
			ks_tile_add_entry(line, bundle, err) :
			ks_fail(err, KS_CORRUPT, "the log became shorter");
	return status;
}

struct bundles {
	struct ks_publish *publish;
	uint64_t number;		/* of the segment that was read */
	bool is_read;
	struct ks_buf segment, bundle;
};

static enum ks_status
read_segment(struct bundles *bundles, uint64_t number, struct ks_error *err)
{
	struct ks_store *store = bundles->publish->store;
	enum ks_status status;

	if (bundles->is_read && bundles->number == number)
		return KS_OK;
	ks_buf_clear(&bundles->segment);
	status = ks_log_segment(store->db, &store->tree,
		number * KS_SEGMENT_ENTRIES, &bundles->segment, err);
	bundles->number = number;
	bundles->is_read = status == KS_OK;
	return status;
}

/* Write what is not there; a bundle with redacted entries may be there as it
 * was before. */
static enum ks_status
put_bundle(struct bundles *bundles, const struct ks_tile *tile,
	struct ks_error *err)
{
	struct ks_publish *publish = bundles->publish;
	char path[KS_TILE_PATH];
	bool written = false;
	enum ks_status status = read_segment(bundles, tile->number, err);

	if (status == KS_OK)
		status = make_bundle(ks_buf_span(&bundles->segment),
			tile->width, &bundles->bundle, err);
	if (status == KS_OK)
		status = ks_webdir_update(publish->dir, ks_tile_print(tile,
			path), ks_buf_span(&bundles->bundle), &written, err);
	publish->result->bundles += written;
	return status;
}

/* Whether a bundle is there as it has to be. Its tile of hashes, which is
 * written after it, has to be, too: else this may be of another log. */
static enum ks_status
has_bundle(struct bundles *bundles, const struct ks_tile *tile, bool *has,
	struct ks_error *err)
{
	struct ks_publish *publish = bundles->publish;
	const struct ks_publish_segment *segment =
		&publish->segments[tile->number];
	struct ks_tile hashes = { .number = tile->number,
		.width = tile->width };
	struct ks_buf wanted = KS_BUF_INIT, there = KS_BUF_INIT;
	char path[KS_TILE_PATH];
	uint64_t length;
	enum ks_status status = ks_webdir_length(publish->dir,
		ks_tile_print(tile, path), &length, err);

	*has = status == KS_OK && !segment->redacted &&
		tile->width == segment->width && length == segment->length;
	if (status == KS_OK && *has)
		status = ks_webdir_read(publish->dir, ks_tile_print(&hashes,
			path), (uint64_t)KS_TILE_WIDTH * KS_ID_BYTES, &there,
			err);
	if (status == KS_OK && *has)
		status = ks_tile_hashes(&hashes, ks_subtrees_get,
			publish->subtrees, &wanted, err);
	*has = *has && status == KS_OK && ks_span_equal(ks_buf_span(&wanted),
		ks_buf_span(&there));
	ks_buf_release(&wanted);
	ks_buf_release(&there);
	return status == KS_NOT_FOUND || status == KS_INVALID ? KS_OK :
		status;
}

static enum ks_status
visit_bundle(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	struct bundles *bundles = arg;
	bool has = false;
	enum ks_status status = ks_watch_check(bundles->publish->watch, err);

	ks_watch_progress(bundles->publish->watch, "publishing entries",
		tile->number * KS_TILE_WIDTH, bundles->publish->note->size);
	if (status == KS_OK)
		status = has_bundle(bundles, tile, &has, err);
	return status != KS_OK || has ? status :
		put_bundle(bundles, tile, err);
}

/* ---- tiles of hashes ------------------------------------------------- */

static enum ks_status
visit_tile(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	struct ks_publish *publish = arg;
	struct ks_buf bytes = KS_BUF_INIT;
	char path[KS_TILE_PATH];
	bool written = false;
	enum ks_status status = ks_tile_hashes(tile, ks_subtrees_get,
		publish->subtrees, &bytes, err);

	if (status == KS_OK)
		status = ks_webdir_update(publish->dir, ks_tile_print(tile,
			path), ks_buf_span(&bytes), &written, err);
	publish->result->tiles += written;
	ks_buf_release(&bytes);
	return status;
}

/* ---- earlier sizes --------------------------------------------------- */

/* W6: an earlier snapshot's partial tile, while there is no full one. */
static enum ks_status
visit_earlier(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	struct bundles *bundles = arg;

	return tile->entries ? put_bundle(bundles, tile, err) :
		visit_tile(bundles->publish, tile, err);
}

/* What is in DIR of earlier widths, whichever snapshots these are of, must not
 * say more than the log does (W5). */
static enum ks_status
redact_partials(struct bundles *bundles, struct ks_error *err)
{
	struct ks_publish *publish = bundles->publish;
	uint64_t size = publish->note->size;
	struct ks_tile tile = { .entries = true,
		.number = size / KS_TILE_WIDTH };
	struct ks_buf names = KS_BUF_INIT;
	char directory[KS_TILE_PATH], path[2 * KS_TILE_PATH];
	struct ks_tile found;
	size_t i;
	enum ks_status status;

	if (size % KS_TILE_WIDTH == 0)
		return KS_OK;
	(void)ks_tile_print_partials(&tile, directory);
	status = ks_webdir_list(publish->dir, directory, &names, err);
	for (i = 0; status == KS_OK && i < names.len;
		i += strlen((const char *)names.data + i) + 1) {
		(void)snprintf(path, sizeof(path), "%s/%.20s", directory,
			(const char *)names.data + i);
		if (ks_tile_parse(ks_span_text(path), &found) &&
			found.width <= size % KS_TILE_WIDTH)
			status = put_bundle(bundles, &found, err);
	}
	ks_buf_release(&names);
	return status;
}

static enum ks_status
put_earlier(struct bundles *bundles, struct ks_error *err)
{
	const struct ks_publish *publish = bundles->publish;
	const struct ks_checkpoints *notes = &publish->signed_.notes;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < notes->count &&
		notes->list[i].size < publish->note->size; i++)
		status = ks_tile_each_partial(notes->list[i].size,
			publish->note->size, visit_earlier, bundles, err);
	return status == KS_OK ? redact_partials(bundles, err) : status;
}

enum ks_status
ks_publish_tiles(struct ks_publish *publish, struct ks_error *err)
{
	struct bundles bundles = { .publish = publish,
		.segment = KS_BUF_INIT, .bundle = KS_BUF_INIT };
	uint64_t size = publish->note->size;
	enum ks_status status = ks_tile_each_bundle(size, visit_bundle,
		&bundles, err);

	if (status == KS_OK)
		status = put_earlier(&bundles, err);
	/* A tile of level 0 says that its bundle is there. */
	if (status == KS_OK)
		status = ks_webdir_flush(publish->dir, err);
	if (status == KS_OK)
		status = ks_tile_each(size, visit_tile, publish, err);
	ks_buf_release(&bundles.segment);
	ks_buf_release(&bundles.bundle);
	return status;
}

/* ---- tidying --------------------------------------------------------- */

static enum ks_status
visit_full(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	struct ks_publish *publish = arg;
	char path[KS_TILE_PATH];

	return tile->width < KS_TILE_WIDTH ? KS_OK : ks_webdir_remove_all(
		publish->dir, ks_tile_print_partials(tile, path), err);
}

enum ks_status
ks_publish_tidy_tiles(struct ks_publish *publish, struct ks_error *err)
{
	enum ks_status status = ks_tile_each_bundle(publish->note->size,
		visit_full, publish, err);

	return status == KS_OK ? ks_tile_each(publish->note->size, visit_full,
		publish, err) : status;
}
