#include "base/idmap.h"

#include <stdlib.h>

#define FIRST_CAP 64
#define FIRST_SHIFT (64 - 6)

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t
mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint64_t
next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return mix(*state);
}

void
ks_idmap_init(struct ks_idmap *map, size_t key_len, size_t stride)
{
	uint64_t state = (uint64_t)(uintptr_t)map;
	size_t i;

	*map = (struct ks_idmap){ .key_len = key_len, .stride = stride };
	state = next_random(&state) ^ (uint64_t)(uintptr_t)&state;
	for (i = 0; i < KS_IDMAP_WORDS; i++)
		map->multiplier[i] = next_random(&state);
}

void
ks_idmap_release(struct ks_idmap *map)
{
	free(map->slots);
	map->slots = NULL;
	map->cap = 0;
	map->used = 0;
}

static const uint8_t *
key_at(const struct ks_idmap *map, const void *array, uint32_t index)
{
	return (const uint8_t *)array + (size_t)index * map->stride;
}

static size_t
home_slot(const struct ks_idmap *map, const uint8_t *key)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < map->key_len / 4; i++) {
		uint32_t word;

		memcpy(&word, key + 4 * i, sizeof(word));
		sum += map->multiplier[i] * word;
	}
	return (size_t)(mix(sum) >> map->shift);
}

uint32_t
ks_idmap_find(const struct ks_idmap *map, const void *array, const void *key)
{
	size_t slot;

	if (map->cap == 0)
		return KS_IDMAP_NONE;
	slot = home_slot(map, key);
	while (map->slots[slot] != 0) {
		uint32_t index = map->slots[slot] - 1;

		if (memcmp(key_at(map, array, index), key, map->key_len) == 0)
			return index;
		slot = (slot + 1) & (map->cap - 1);
	}
	return KS_IDMAP_NONE;
}

static void
place(struct ks_idmap *map, const void *array, uint32_t index)
{
	size_t slot = home_slot(map, key_at(map, array, index));

	while (map->slots[slot] != 0)
		slot = (slot + 1) & (map->cap - 1);
	map->slots[slot] = index + 1;
}

static bool
grow(struct ks_idmap *map, const void *array)
{
	size_t cap = map->cap == 0 ? FIRST_CAP : 2 * map->cap;
	uint32_t *slots = calloc(cap, sizeof(*slots));
	uint32_t i;

	if (slots == NULL)
		return false;
	free(map->slots);
	map->slots = slots;
	map->shift = map->cap == 0 ? FIRST_SHIFT : map->shift - 1;
	map->cap = cap;
	for (i = 0; i < map->used; i++)
		place(map, array, i);
	return true;
}

bool
ks_idmap_add(struct ks_idmap *map, const void *array)
{
	if (map->used == KS_IDMAP_NONE - 1)
		return false;
	if (map->used >= map->cap / 2 && !grow(map, array))
		return false;
	place(map, array, map->used);
	map->used++;
	return true;
}
