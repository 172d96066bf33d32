#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/digest.h"
#include "format/tile.h"
#include "../lib/vectors.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- paths ------------------------------------------------------------- */

static void
assert_spelled(struct ks_tile tile, struct ks_span wanted)
{
	char text[KS_TILE_PATH];
	struct ks_tile back;

	if (!ks_span_is(wanted, ks_tile_print(&tile, text)))
		fail_msg("%s, not %.*s", text, (int)wanted.len,
			(const char *)wanted.data);
	assert_true(ks_tile_parse(wanted, &back));
	assert_int_equal(back.entries, tile.entries);
	assert_int_equal(back.level, tile.level);
	assert_int_equal(back.number, tile.number);
	assert_int_equal(back.width, tile.width);
}

static struct ks_tile
tile_of(unsigned level, uint64_t number, unsigned width)
{
	return (struct ks_tile){ .level = level, .number = number,
		.width = width };
}

static struct ks_tile
bundle_of(uint64_t number, unsigned width)
{
	return (struct ks_tile){ .entries = true, .number = number,
		.width = width };
}

static void
paths_are_spelled_as_the_vectors_say(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, row;
	struct ks_json_iter it;
	size_t seen = 0;

	(void)state;
	vectors = vector_read_json("tile_paths.json", &text);
	it = ks_json_iter(vector_member(vectors, "by_index"));
	for (; ks_json_next_element(&it, &row); seen++) {
		uint64_t n = vector_number(row, "n");

		assert_spelled(tile_of(0, n, 256),
			vector_text(row, "level0_full"));
		assert_spelled(tile_of(0, n, 7),
			vector_text(row, "level0_partial_7"));
		assert_spelled(tile_of(3, n, 255),
			vector_text(row, "level3_partial_255"));
		assert_spelled(bundle_of(n, 256),
			vector_text(row, "entries_full"));
	}
	assert_int_equal(seen, 14);
	ks_buf_release(&text);
}

static void
the_ends_of_each_range_can_be_spelled(void **state)
{
	(void)state;
	assert_spelled(tile_of(63, 0, 1), ks_span_text("tile/63/000.p/1"));
	assert_spelled(tile_of(10, 0, 10), ks_span_text("tile/10/000.p/10"));
	assert_spelled(tile_of(9, 1, 99), ks_span_text("tile/9/001.p/99"));
	assert_spelled(tile_of(0, 2, 100), ks_span_text("tile/0/002.p/100"));
	assert_spelled(tile_of(0, INT64_MAX, 256), ks_span_text(
		"tile/0/x009/x223/x372/x036/x854/x775/807"));
	assert_spelled(bundle_of(INT64_MAX, 255), ks_span_text(
		"tile/entries/x009/x223/x372/x036/x854/x775/807.p/255"));
}

static void
every_index_to_20000_comes_back(void **state)
{
	uint64_t n;

	(void)state;
	for (n = 0; n <= 20000; n++) {
		char text[KS_TILE_PATH];
		struct ks_tile tile = tile_of((unsigned)(n % 64), n,
			(unsigned)(n % 256 + 1));

		(void)ks_tile_print(&tile, text);
		assert_spelled(tile, ks_span_text(text));
	}
}

static void
the_invalid_paths_of_the_vectors_are_refused(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, row;
	struct ks_json_iter it;
	struct ks_tile tile;
	size_t seen = 0;

	(void)state;
	vectors = vector_read_json("tile_paths.json", &text);
	it = ks_json_iter(vector_member(vectors, "invalid"));
	for (; ks_json_next_element(&it, &row); seen++) {
		struct ks_span path = vector_text(row, "path");

		if (ks_tile_parse(path, &tile))
			fail_msg("%.*s", (int)path.len,
				(const char *)path.data);
	}
	assert_int_equal(seen, 16);
	ks_buf_release(&text);
}

static const char *const invalid[] = {
	"", "t", "tile", "tile/", "tile//000", "tile/0", "tile/0/",
	"/tile/0/000", "tile/0/000/", "tile/0/000.p/", "tile/0/000.p/1/",
	"tile/0/000.p/1000", "tile/0/000.p/300", "tile/0/000.p/-1",
	"tile/0/000.p/+1", "tile/0/000.p/1 ", "tile/0/000.p/001",
	"tile/0/000.p/012", "tile/0/000.p/099", "tile/0/000.p/1999",
	"tile/001/000", "tile/012/000",
	"tile/0/000.q/1", "tile/0/000 ", "tile/0/ 000", "tile/0/0x0",
	"tile/0/x1/000", "tile/0/x01/000", "tile/0/x0001/000",
	"tile/0/x001/x000", "tile/0/x000/x001/000", "tile/0/x001//000",
	"tile/0/X001/000", "tile/0/x001x/000", "tile/0/xx001/000",
	"tile/0/x", "tile/0/x/000", "tile/100/000", "tile/99/000",
	"tile/0000000000000000000000000000000/000", "tile/+0/000",
	"tile/entries", "tile/entries/", "tile/entries/0",
	"tile/entries/0/000", "tile/entries/000.p/256", "tile/Entries/000",
	"tiles/0/000", "tile/0/000\n",
	"tile/0/x009/x223/x372/x036/x854/x775/808",
	"tile/0/x018/x446/x744/x073/x709/x551/616",
	"tile/0/x001/x000/x000/x000/x000/x000/x000/000",
	"tile/0/x999/x999/x999/x999/x999/x999/x999/x999/999",
};

static void
no_other_spelling_is_accepted(void **state)
{
	struct ks_tile tile;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(invalid); i++) {
		if (ks_tile_parse(ks_span_text(invalid[i]), &tile))
			fail_msg("%s", invalid[i]);
	}
	assert_false(ks_tile_parse(ks_span("tile/0/000\0", 11), &tile));
	assert_false(ks_tile_parse(ks_span(NULL, 0), &tile));
}

/* What is accepted is what would be printed. */
static void
every_changed_byte_is_refused_or_another_tile(void **state)
{
	static const char path[] = "tile/12/x034/567.p/89";
	char copy[sizeof(path)], text[KS_TILE_PATH];
	struct ks_tile tile;
	size_t i, other = 0;
	unsigned c;

	(void)state;
	for (i = 0; i < sizeof(path) - 1; i++)
		for (c = 1; c < 256; c++) {
			memcpy(copy, path, sizeof(path));
			copy[i] = (char)(copy[i] ^ (char)c);
			if (!ks_tile_parse(ks_span(copy, sizeof(path) - 1),
				&tile))
				continue;
			other++;
			assert_memory_equal(ks_tile_print(&tile, text), copy,
				sizeof(path) - 1);
		}
	/* Level 22, 32, ..., 62 and 10 to 19; six digits of the index; width
	 * 19, 29, ..., 99 and 80 to 89. */
	assert_int_equal(other, 5 + 9 + 6 * 9 + 8 + 9);
}

/* ---- the tiles of a size ----------------------------------------------- */

/* Counts full tiles by level and writes down partial ones; numbers must run
 * from 0. */
struct census {
	uint64_t full[16];
	uint64_t next;
	unsigned level;
	bool entries;
	struct ks_buf partial;
};

static enum ks_status
count_tile(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	struct census *census = arg;
	char text[KS_TILE_PATH];

	(void)err;
	assert_int_equal(tile->entries, census->entries);
	assert_true(tile->level < COUNT(census->full));
	assert_true(tile->level >= census->level);
	if (tile->level > census->level)
		census->next = 0;
	census->level = tile->level;
	assert_int_equal(tile->number, census->next++);
	if (tile->width == KS_TILE_WIDTH) {
		census->full[tile->level]++;
		return KS_OK;
	}
	ks_buf_printf(&census->partial, "%s\n", ks_tile_print(tile, text));
	return KS_OK;
}

static void
check_size(struct ks_span row)
{
	struct census census = { .level = 0 };
	struct ks_buf wanted = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span value;
	unsigned level;

	assert_int_equal(ks_tile_each(vector_number(row, "size"), count_tile,
		&census, NULL), KS_OK);
	for (level = 0; level < COUNT(census.full); level++) {
		struct ks_span full = vector_member(row, "full_tiles");
		char name[16];

		(void)snprintf(name, sizeof(name), "level%u", level);
		assert_int_equal(census.full[level],
			ks_json_find(full, name, &value) ?
			vector_number(full, name) : 0);
	}
	it = ks_json_iter(vector_member(row, "partial_tiles"));
	while (ks_json_next_element(&it, &value)) {
		ks_buf_append(&wanted, ks_json_raw(value));
		ks_buf_byte(&wanted, '\n');
	}
	assert_string_equal(ks_buf_cstr(&census.partial),
		ks_buf_cstr(&wanted));
	ks_buf_release(&wanted);
	ks_buf_release(&census.partial);
}

static void
the_tiles_of_each_size_are_those_of_the_vectors(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, row;
	struct ks_json_iter it;
	size_t seen = 0;

	(void)state;
	vectors = vector_read_json("tile_paths.json", &text);
	it = ks_json_iter(vector_member(vectors, "by_tree_size"));
	for (; ks_json_next_element(&it, &row); seen++)
		check_size(row);
	assert_int_equal(seen, 14);
	ks_buf_release(&text);
}

static void
bundles_are_those_of_the_lowest_level(void **state)
{
	struct census census = { .entries = true };

	(void)state;
	assert_int_equal(ks_tile_each_bundle(70000, count_tile, &census,
		NULL), KS_OK);
	assert_int_equal(census.full[0], 273);
	assert_string_equal(ks_buf_cstr(&census.partial),
		"tile/entries/273.p/112\n");
	ks_buf_clear(&census.partial);
	census.next = 0;
	assert_int_equal(ks_tile_each_bundle(0, count_tile, &census, NULL),
		KS_OK);
	assert_int_equal(census.partial.len, 0);
	ks_buf_release(&census.partial);
}

static enum ks_status
stop_at_third(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	size_t *seen = arg;

	(void)tile;
	return ++*seen == 3 ? ks_fail(err, KS_CANCELLED, "enough") : KS_OK;
}

static void
a_visit_ends_when_it_is_told_to(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	size_t seen = 0;

	(void)state;
	assert_int_equal(ks_tile_each(UINT64_MAX, stop_at_third, &seen, &err),
		KS_CANCELLED);
	assert_int_equal(seen, 3);
	assert_string_equal(err.message, "enough");
	seen = 1;
	assert_int_equal(ks_tile_each(70000, stop_at_third, &seen, NULL),
		KS_CANCELLED);
	seen = 0;
	assert_int_equal(ks_tile_each_bundle(70000, stop_at_third, &seen,
		NULL), KS_CANCELLED);
}

/* ---- the bytes of tiles ------------------------------------------------ */

/* A directory of tiles made from entries. */
struct tree {
	struct ks_subtrees *subtrees;
	struct ks_buf *entries;	/* bundles, one a tile */
	size_t seen;
};

static enum ks_status
compare_tile(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	struct tree *tree = arg;
	struct ks_buf wanted = KS_BUF_INIT, made = KS_BUF_INIT;
	char path[KS_TILE_PATH + 8] = "log300/";

	(void)ks_tile_print(tile, path + strlen(path));
	vector_read(path, &wanted);
	if (tile->entries)
		ks_buf_append(&made, ks_buf_span(
			&tree->entries[tile->number]));
	else
		assert_int_equal(ks_tile_hashes(tile, ks_subtrees_get,
			tree->subtrees, &made, err), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&made), ks_buf_span(&wanted)));
	tree->seen++;
	ks_buf_release(&wanted);
	ks_buf_release(&made);
	return KS_OK;
}

/* Read a bundle, and grow the tree and new bundles by its entries. */
static void
plant_bundle(struct tree *tree, uint64_t number, unsigned width)
{
	struct ks_tile tile = bundle_of(number, width);
	struct ks_span entries[KS_TILE_WIDTH];
	struct ks_buf bundle = KS_BUF_INIT;
	char path[KS_TILE_PATH + 8] = "log300/";
	unsigned i;

	(void)ks_tile_print(&tile, path + strlen(path));
	vector_read(path, &bundle);
	assert_int_equal(ks_tile_read_entries(ks_buf_span(&bundle), width,
		entries, NULL), KS_OK);
	for (i = 0; i < width; i++) {
		struct ks_id leaf;

		ks_merkle_leaf(entries[i], &leaf);
		assert_int_equal(ks_subtrees_append(tree->subtrees, &leaf,
			NULL), KS_OK);
		assert_int_equal(ks_tile_add_entry(entries[i],
			&tree->entries[number], NULL), KS_OK);
	}
	ks_buf_release(&bundle);
}

static void
the_directory_of_300_entries_is_made_to_the_byte(void **state)
{
	struct ks_buf bundles[2] = { KS_BUF_INIT, KS_BUF_INIT };
	struct tree tree = { .entries = bundles };
	struct ks_id root, wanted;

	(void)state;
	assert_int_equal(ks_subtrees_new(&tree.subtrees, NULL), KS_OK);
	plant_bundle(&tree, 0, 256);
	plant_bundle(&tree, 1, 44);
	assert_int_equal(ks_tile_each(300, compare_tile, &tree, NULL), KS_OK);
	assert_int_equal(tree.seen, 3);
	assert_int_equal(ks_tile_each_bundle(300, compare_tile, &tree, NULL),
		KS_OK);
	assert_int_equal(tree.seen, 5);
	/* The third line of log300/checkpoint. */
	wanted = vector_base64(ks_span_text(
		"QdQeB11YgX/rOtM3hRv6pa5ldO0wojr2h7Qk3I0novs="));
	assert_int_equal(ks_proof_root(300, ks_subtrees_get, tree.subtrees,
		&root, NULL), KS_OK);
	assert_true(ks_id_equal(&root, &wanted));
	ks_subtrees_free(tree.subtrees);
	ks_buf_release(&bundles[0]);
	ks_buf_release(&bundles[1]);
}

static void
tiles_of_70000_leaves_have_the_hashes_of_the_vectors(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span vectors, row;
	struct ks_subtrees *tree;
	struct ks_json_iter it;
	size_t i;

	(void)state;
	vectors = vector_read_json("tree_leaf_n.json", &text);
	assert_int_equal(ks_subtrees_new(&tree, NULL), KS_OK);
	for (i = 0; i < 70000; i++) {
		char entry[32];
		struct ks_id leaf;

		(void)snprintf(entry, sizeof(entry), "leaf %zu", i);
		ks_merkle_leaf(ks_span_text(entry), &leaf);
		assert_int_equal(ks_subtrees_append(tree, &leaf, NULL), KS_OK);
	}
	it = ks_json_iter(vector_member(vectors, "tiles_of_size_70000"));
	for (i = 0; ks_json_next_element(&it, &row); i++) {
		struct ks_id wanted = vector_hex(vector_text(row, "sha256"));
		struct ks_buf made = KS_BUF_INIT;
		struct ks_tile tile;
		struct ks_id found;

		assert_true(ks_tile_parse(vector_text(row, "path"), &tile));
		assert_int_equal(ks_tile_hashes(&tile, ks_subtrees_get, tree,
			&made, NULL), KS_OK);
		assert_int_equal(made.len, vector_number(row, "bytes"));
		ks_sha256(ks_buf_span(&made), &found);
		assert_true(ks_id_equal(&found, &wanted));
		ks_buf_release(&made);
	}
	assert_int_equal(i, 6);
	ks_subtrees_free(tree);
	ks_buf_release(&text);
}

static enum ks_status
ask_nothing(void *arg, unsigned level, uint64_t number, struct ks_id *out,
	struct ks_error *err)
{
	(void)arg;
	(void)level;
	(void)number;
	(void)out;
	return ks_fail(err, KS_IO, "no source");
}

static void
what_is_no_tile_of_hashes_has_none(void **state)
{
	struct ks_tile bundle = bundle_of(0, 1), high = tile_of(8, 0, 1);
	struct ks_tile tile = tile_of(0, 0, 1);
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	assert_int_equal(ks_tile_hashes(&bundle, ask_nothing, NULL, &out,
		NULL), KS_USAGE);
	assert_int_equal(ks_tile_hashes(&high, ask_nothing, NULL, &out, NULL),
		KS_USAGE);
	assert_int_equal(ks_tile_hashes(&tile, ask_nothing, NULL, &out, NULL),
		KS_IO);
	assert_int_equal(out.len, 0);
	ks_buf_release(&out);
}

/* ---- bundles ----------------------------------------------------------- */

static void
entries_stand_behind_their_length(void **state)
{
	static uint8_t most[KS_TILE_ENTRY_MAX + 1];
	struct ks_span entries[KS_TILE_WIDTH];
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_tile_add_entry(ks_span(NULL, 0), &out, NULL),
		KS_OK);
	assert_int_equal(ks_tile_add_entry(ks_span_text("abc"), &out, NULL),
		KS_OK);
	assert_int_equal(out.len, 7);
	assert_memory_equal(out.data, "\0\0\0\3abc", 7);
	assert_int_equal(ks_tile_add_entry(ks_span(most, KS_TILE_ENTRY_MAX),
		&out, NULL), KS_OK);
	assert_memory_equal(out.data + 7, "\xff\xff\0", 3);
	assert_int_equal(ks_tile_add_entry(ks_span(most, sizeof(most)), &out,
		&err), KS_INVALID);
	assert_string_equal(err.message,
		"entry of 65536 bytes, over the limit of 65535");
	assert_int_equal(out.len, 7 + 2 + KS_TILE_ENTRY_MAX);
	assert_int_equal(ks_tile_read_entries(ks_buf_span(&out), 3, entries,
		NULL), KS_OK);
	assert_int_equal(entries[0].len, 0);
	assert_true(ks_span_is(entries[1], "abc"));
	assert_int_equal(entries[2].len, KS_TILE_ENTRY_MAX);
	ks_buf_release(&out);
}

static const struct {
	const char *bytes;
	size_t len;
	unsigned width;
	const char *says;
} bad_bundles[] = {
	{ "", 0, 1, "ends inside entry 0 of 1" },
	{ "\0", 1, 1, "ends inside entry 0 of 1" },
	{ "\0\1", 2, 1, "ends inside entry 0 of 1" },
	{ "\1\0", 2, 1, "ends inside entry 0 of 1" },
	{ "\0\3ab", 4, 1, "ends inside entry 0 of 1" },
	{ "\0\1a", 3, 2, "ends inside entry 1 of 2" },
	{ "\0\1a\0", 4, 2, "ends inside entry 1 of 2" },
	{ "\0\1a\0", 4, 1, "1 bytes follow the 1 entries" },
	{ "\0\1a\0\1b", 6, 1, "3 bytes follow the 1 entries" },
	{ "\0\0", 2, 0, "2 bytes follow the 0 entries" },
	{ "\xff\xff", 2, 1, "ends inside entry 0 of 1" },
};

static void
a_bundle_of_another_length_is_refused(void **state)
{
	struct ks_span entries[KS_TILE_WIDTH];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad_bundles); i++) {
		struct ks_error err = KS_ERROR_INIT;

		if (ks_tile_read_entries(ks_span(bad_bundles[i].bytes,
			bad_bundles[i].len), bad_bundles[i].width, entries,
			&err) != KS_CORRUPT ||
			strstr(err.message, bad_bundles[i].says) == NULL)
			fail_msg("row %zu: %s", i, err.message);
	}
	assert_int_equal(ks_tile_read_entries(ks_span(NULL, 0), 0, entries,
		NULL), KS_OK);
	assert_int_equal(ks_tile_read_entries(ks_span(NULL, 0), 257, entries,
		NULL), KS_USAGE);
}

/* ---- tiles of earlier sizes -------------------------------------------- */

/* Paths, each behind a blank. */
static enum ks_status
take_path(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	char path[KS_TILE_PATH];

	ks_buf_printf(arg, " %s", ks_tile_print(tile, path));
	return ks_buf_check(arg, err);
}

static void
partial_tiles_are_kept_until_they_are_full(void **state)
{
	static const struct {
		uint64_t size, later;
		const char *kept;
	} table[] = {
		{ 0, 9, "" },
		{ 9, 9, " tile/entries/000.p/9 tile/0/000.p/9" },
		{ 9, 255, " tile/entries/000.p/9 tile/0/000.p/9" },
		{ 9, 256, "" },
		{ 256, 256, " tile/1/000.p/1" },
		{ 256, 65535, " tile/1/000.p/1" },
		{ 256, 65536, "" },
		{ 300, 511, " tile/entries/001.p/44 tile/0/001.p/44"
			" tile/1/000.p/1" },
		{ 300, 512, " tile/1/000.p/1" },
		{ 70000, 70001, " tile/entries/273.p/112 tile/0/273.p/112"
			" tile/1/001.p/17 tile/2/000.p/1" },
		{ 70000, 140000, " tile/2/000.p/1" },
		{ 256007, 256008, " tile/entries/x001/000.p/7"
			" tile/0/x001/000.p/7 tile/1/003.p/232"
			" tile/2/000.p/3" },
	};
	struct ks_buf kept = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		ks_buf_clear(&kept);
		assert_int_equal(ks_tile_each_partial(table[i].size,
			table[i].later, take_path, &kept, NULL), KS_OK);
		assert_string_equal(ks_buf_cstr(&kept), table[i].kept);
	}
	ks_buf_release(&kept);
}

struct widened {
	const char *kept;	/* of the earlier size */
	uint64_t later;
	unsigned seen;
};

/* A tile of the earlier size is full in the later one, or kept. */
static enum ks_status
is_there_still(void *arg, const struct ks_tile *tile, struct ks_error *err)
{
	struct widened *widened = arg;
	char path[KS_TILE_PATH + 2] = " ";
	uint64_t count = tile->level < 8 ?
		widened->later >> (8 * tile->level) : 0;

	(void)ks_tile_print(tile, path + 1);
	widened->seen++;
	if ((tile->number + 1) * KS_TILE_WIDTH > count &&
		strstr(widened->kept, path) == NULL)
		return ks_fail(err, KS_CORRUPT, "%s", path);
	return KS_OK;
}

static void
every_tile_of_a_size_is_there_at_each_later_one(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 200, 255, 256, 257, 300, 511,
		512, 65535, 65536, 65537, 70000, 131071, 131072, 200000 };
	struct ks_buf kept = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(sizes); i++)
		for (k = i; k < COUNT(sizes); k++) {
			struct widened widened = { .later = sizes[k] };

			ks_buf_clear(&kept);
			assert_int_equal(ks_tile_each_partial(sizes[i],
				sizes[k], take_path, &kept, NULL), KS_OK);
			widened.kept = ks_buf_cstr(&kept);
			if (ks_tile_each(sizes[i], is_there_still, &widened,
				&err) != KS_OK || ks_tile_each_bundle(sizes[i],
				is_there_still, &widened, &err) != KS_OK)
				fail_msg("%s of %lu at %lu", err.message,
					(unsigned long)sizes[i],
					(unsigned long)sizes[k]);
			assert_true(widened.seen > 1);
		}
	ks_buf_release(&kept);
}

static void
partial_tiles_stand_in_a_directory_beside_the_full_one(void **state)
{
	struct ks_tile tile = tile_of(2, 1234067, KS_TILE_WIDTH);
	char path[KS_TILE_PATH];

	(void)state;
	assert_string_equal(ks_tile_print_partials(&tile, path),
		"tile/2/x001/x234/067.p");
	tile.width = 9;
	assert_string_equal(ks_tile_print_partials(&tile, path),
		"tile/2/x001/x234/067.p");
	tile = bundle_of(0, KS_TILE_WIDTH);
	assert_string_equal(ks_tile_print_partials(&tile, path),
		"tile/entries/000.p");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_spelled_as_the_vectors_say),
		cmocka_unit_test(the_ends_of_each_range_can_be_spelled),
		cmocka_unit_test(every_index_to_20000_comes_back),
		cmocka_unit_test(the_invalid_paths_of_the_vectors_are_refused),
		cmocka_unit_test(no_other_spelling_is_accepted),
		cmocka_unit_test(every_changed_byte_is_refused_or_another_tile),
		cmocka_unit_test(
			the_tiles_of_each_size_are_those_of_the_vectors),
		cmocka_unit_test(bundles_are_those_of_the_lowest_level),
		cmocka_unit_test(partial_tiles_are_kept_until_they_are_full),
		cmocka_unit_test(
			every_tile_of_a_size_is_there_at_each_later_one),
		cmocka_unit_test(
			partial_tiles_stand_in_a_directory_beside_the_full_one),
		cmocka_unit_test(a_visit_ends_when_it_is_told_to),
		cmocka_unit_test(
			the_directory_of_300_entries_is_made_to_the_byte),
		cmocka_unit_test(
			tiles_of_70000_leaves_have_the_hashes_of_the_vectors),
		cmocka_unit_test(what_is_no_tile_of_hashes_has_none),
		cmocka_unit_test(entries_stand_behind_their_length),
		cmocka_unit_test(a_bundle_of_another_length_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
