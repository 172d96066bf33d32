#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/idmap.h"

#define COUNT 20000

/* Keys of 32 bytes with something after them. */
struct item {
	uint8_t key[32];
	uint32_t other;
};

static struct item *
make_items(void (*fill)(uint8_t *key, uint32_t number))
{
	struct item *items = calloc(COUNT, sizeof(*items));
	uint32_t i;

	assert_non_null(items);
	for (i = 0; i < COUNT; i++)
		fill(items[i].key, i);
	return items;
}

static void
differ_at_the_end(uint8_t *key, uint32_t number)
{
	memset(key, 0xa5, 28);
	memcpy(key + 28, &number, sizeof(number));
}

static void
differ_at_the_start(uint8_t *key, uint32_t number)
{
	memset(key, 0, 32);
	key[0] = (uint8_t)(number >> 8);
	key[1] = (uint8_t)number;
	key[2] = (uint8_t)(number >> 16);
}

static void
check_all(void (*fill)(uint8_t *key, uint32_t number))
{
	struct item *items = make_items(fill);
	struct ks_idmap map;
	uint32_t i;

	ks_idmap_init(&map, 32, sizeof(*items));
	for (i = 0; i < COUNT; i++) {
		assert_int_equal(ks_idmap_find(&map, items, items[i].key),
			KS_IDMAP_NONE);
		assert_int_equal(map.used, i);
		assert_true(ks_idmap_add(&map, items));
	}
	for (i = 0; i < COUNT; i++)
		assert_int_equal(ks_idmap_find(&map, items, items[i].key), i);
	ks_idmap_release(&map);
	free(items);
}

static void
keys_that_differ_only_at_the_end_are_told_apart(void **state)
{
	(void)state;
	check_all(differ_at_the_end);
}

static void
keys_that_differ_only_at_the_start_are_told_apart(void **state)
{
	(void)state;
	check_all(differ_at_the_start);
}

/* Long runs would make a crafted log quadratic. */
static void
crafted_keys_make_no_long_runs(void **state)
{
	struct item *items = make_items(differ_at_the_end);
	struct ks_idmap map;
	size_t slot, run = 0, longest = 0;
	uint32_t i;

	(void)state;
	ks_idmap_init(&map, 32, sizeof(*items));
	for (i = 0; i < COUNT; i++)
		assert_true(ks_idmap_add(&map, items));
	for (slot = 0; slot < map.cap; slot++) {
		run = map.slots[slot] == 0 ? 0 : run + 1;
		longest = run > longest ? run : longest;
	}
	assert_true(longest < 1000);
	ks_idmap_release(&map);
	free(items);
}

static void
short_keys_work_as_well(void **state)
{
	static const uint8_t keys[3][16] = { "0123456789abcde",
		"0123456789abcdf", "1123456789abcde" };
	struct ks_idmap map;
	uint32_t i;

	(void)state;
	ks_idmap_init(&map, 16, 16);
	for (i = 0; i < 3; i++)
		assert_true(ks_idmap_add(&map, keys));
	for (i = 0; i < 3; i++)
		assert_int_equal(ks_idmap_find(&map, keys, keys[i]), i);
	assert_int_equal(ks_idmap_find(&map, keys, "0123456789abcdg"),
		KS_IDMAP_NONE);
	ks_idmap_release(&map);
}

static void
an_empty_or_released_map_finds_nothing(void **state)
{
	static const uint8_t key[32] = { 1 };
	struct ks_idmap map;

	(void)state;
	ks_idmap_init(&map, 32, 32);
	assert_int_equal(ks_idmap_find(&map, NULL, key), KS_IDMAP_NONE);
	ks_idmap_release(&map);
	assert_true(ks_idmap_add(&map, key));
	assert_int_equal(ks_idmap_find(&map, key, key), 0);
	ks_idmap_release(&map);
	assert_int_equal(ks_idmap_find(&map, NULL, key), KS_IDMAP_NONE);
	ks_idmap_release(&map);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			keys_that_differ_only_at_the_end_are_told_apart),
		cmocka_unit_test(
			keys_that_differ_only_at_the_start_are_told_apart),
		cmocka_unit_test(crafted_keys_make_no_long_runs),
		cmocka_unit_test(short_keys_work_as_well),
		cmocka_unit_test(an_empty_or_released_map_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
