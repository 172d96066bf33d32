/*
 * Tiles: a Merkle tree and its entries as files (C2SP tlog-tiles).
 *
 * tile/L/N holds 256 hashes of level 8 * L, tile/entries/N the 256 entries
 * under tile/0/N; the last tile of a level may be partial, tile/L/N.p/W with
 * the first W. Everything follows from the size of the tree.
 */
#ifndef KS_FORMAT_TILE_H
#define KS_FORMAT_TILE_H

#include "base/buf.h"
#include "format/proof.h"

#define KS_TILE_WIDTH 256	/* of a full tile */
#define KS_TILE_LEVELS 64	/* that a path can spell */
#define KS_TILE_ENTRY_MAX 65535

struct ks_tile {
	bool entries;		/* an entry bundle; level is then 0 */
	unsigned level;		/* below KS_TILE_LEVELS */
	uint64_t number;	/* below 2^63 */
	unsigned width;		/* 1 to 256, which is full */
};

/* "tile/0/x001/x234/067.p/7"; returns `out`. */
#define KS_TILE_PATH 64
char *ks_tile_print(const struct ks_tile *tile, char out[KS_TILE_PATH]);

/* Take a path apart; false unless it is spelled as ks_tile_print() does. */
bool ks_tile_parse(struct ks_span path, struct ks_tile *out);

/* Any failure ends the visit and is returned by it. */
typedef enum ks_status ks_tile_fn(void *arg, const struct ks_tile *tile,
	struct ks_error *err);

/* Visit the hash tiles of a tree of `size` leaves, the lowest level first, or
 * its entry bundles, each in order; only the last of a level is partial. */
enum ks_status ks_tile_each(uint64_t size, ks_tile_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_tile_each_bundle(uint64_t size, ks_tile_fn *visit,
	void *arg, struct ks_error *err) KS_CHECKED;

/* Visit the partial tiles of a tree of `size` leaves, its entry bundle first,
 * but for those that are full in a tree of `later` leaves, which begins with
 * it: what must be kept beside the tiles of that one. */
enum ks_status ks_tile_each_partial(uint64_t size, uint64_t later,
	ks_tile_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* "tile/0/001.p", where the partial tiles are that become this one; returns
 * `out`. */
char *ks_tile_print_partials(const struct ks_tile *tile,
	char out[KS_TILE_PATH]);

/* Append the bytes of a hash tile, 32 for each of its width. KS_USAGE for
 * entry bundles and for levels above 7, which no tree reaches. */
enum ks_status ks_tile_hashes(const struct ks_tile *tile,
	ks_subtree_fn *source, void *arg, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Append an entry to a bundle: its length, two bytes, and its bytes.
 * KS_INVALID when it is longer than KS_TILE_ENTRY_MAX. */
enum ks_status ks_tile_add_entry(struct ks_span entry, struct ks_buf *bundle,
	struct ks_error *err) KS_CHECKED;

/* The `width` entries of a bundle (at most 256), as spans into it. KS_CORRUPT
 * when it is cut short or holds more. */
enum ks_status ks_tile_read_entries(struct ks_span bundle, unsigned width,
	struct ks_span entries[KS_TILE_WIDTH], struct ks_error *err) KS_CHECKED;

#endif
