/*
 * From keys of one fixed size to their indexes in an array of the caller's.
 *
 * The array holds the keys, one every `stride` bytes, and grows as it likes;
 * the map holds four bytes a slot and nothing else. Open addressing with linear
 * probing, at most half full. Keys may be chosen by an adversary: all
 * words of the key are multiplied by numbers drawn from where the process
 * happens to lie in memory and summed (a universal hash), and the sum is mixed
 * so that regular keys do not cluster. Nothing but time depends on them.
 *
 *	index = ks_idmap_find(&map, array, key);
 *	if (index == KS_IDMAP_NONE) {
 *		array[map.used] = ...;
 *		if (!ks_idmap_add(&map, array))
 *			return ks_fail_nomem(err);
 *	}
 */
#ifndef KS_BASE_IDMAP_H
#define KS_BASE_IDMAP_H

#include "base/span.h"

#define KS_IDMAP_NONE UINT32_MAX
#define KS_IDMAP_WORDS 8	/* 32-bit words of the longest key */

struct ks_idmap {
	uint32_t *slots;	/* index + 1; 0 = free */
	size_t cap;		/* slots: a power of two, or 0 */
	unsigned shift;		/* 64 - log2(cap) */
	uint32_t used;		/* keys in the map: indexes 0 … used - 1 */
	size_t key_len;		/* 4, 8, … 32 bytes */
	size_t stride;
	uint64_t multiplier[KS_IDMAP_WORDS];
};

/* An empty map for keys of `key_len` bytes (a multiple of 4, at most 32) that
 * stand at the start of items of `stride` bytes. */
void ks_idmap_init(struct ks_idmap *map, size_t key_len, size_t stride);
void ks_idmap_release(struct ks_idmap *map);

/* The index of `key` in `array`, or KS_IDMAP_NONE. */
uint32_t ks_idmap_find(const struct ks_idmap *map, const void *array,
	const void *key);

/* Take in array[map->used], whose key must be new. False when memory or the
 * numbers run out; the map is then as before. */
bool ks_idmap_add(struct ks_idmap *map, const void *array);

#endif
