#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/grow.h"

#define COUNT 1000

struct item {
	uint64_t number;
	char text[24];
};

static void
a_list_begins_as_null_without_room(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	size_t room = 0;
	struct item *list = ks_grow(NULL, 0, &room, sizeof(*list), &err);

	(void)state;
	assert_non_null(list);
	assert_true(room > 0);
	assert_int_equal(err.status, KS_OK);
	free(list);
}

static void
what_has_room_is_left_alone(void **state)
{
	struct item list[2];
	size_t room = 2;

	(void)state;
	assert_ptr_equal(ks_grow(list, 0, &room, sizeof(*list), NULL), list);
	assert_ptr_equal(ks_grow(list, 1, &room, sizeof(*list), NULL), list);
	assert_int_equal(room, 2);
}

static void
a_full_list_doubles_its_room_and_keeps_its_items(void **state)
{
	struct item *list = NULL;
	size_t room = 0, i;

	(void)state;
	for (i = 0; i < COUNT; i++) {
		size_t before = room;
		struct item *grown = ks_grow(list, i, &room, sizeof(*grown),
			NULL);

		assert_non_null(grown);
		list = grown;
		if (before > 0)
			assert_int_equal(room, i < before ? before :
				2 * before);
		list[i] = (struct item){ .number = i };
	}
	assert_true(room >= COUNT);
	for (i = 0; i < COUNT; i++)
		assert_int_equal(list[i].number, i);
	free(list);
}

/* The list is never read, nor is memory asked for. */
static void
check_refused(size_t room, size_t item)
{
	struct ks_error err = KS_ERROR_INIT;
	size_t after = room;
	char list;

	assert_null(ks_grow(&list, room, &after, item, &err));
	assert_int_equal(err.status, KS_NOMEM);
	assert_string_equal(err.message, "out of memory");
	assert_int_equal(after, room);
	assert_null(ks_grow(&list, room, &after, item, NULL));
}

static void
more_than_can_be_counted_is_out_of_memory(void **state)
{
	(void)state;
	check_refused(SIZE_MAX, 1);
	check_refused(SIZE_MAX / 2 + 1, 1);
	check_refused(SIZE_MAX / 2 + 1, 2);
	check_refused(SIZE_MAX / 4 + 1, 2);
	check_refused(SIZE_MAX / 2 / sizeof(struct item) + 1,
		sizeof(struct item));
	check_refused(1, SIZE_MAX / 2 + 1);
}

static void
so_is_a_first_item_that_is_too_large(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	size_t room = 0;

	(void)state;
	assert_null(ks_grow(NULL, 0, &room, SIZE_MAX / 2, &err));
	assert_int_equal(err.status, KS_NOMEM);
	assert_int_equal(room, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_begins_as_null_without_room),
		cmocka_unit_test(what_has_room_is_left_alone),
		cmocka_unit_test(
			a_full_list_doubles_its_room_and_keeps_its_items),
		cmocka_unit_test(more_than_can_be_counted_is_out_of_memory),
		cmocka_unit_test(so_is_a_first_item_that_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
