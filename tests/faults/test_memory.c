/*
 * Allocations of the library made to fail. Under the address sanitizer
 * (make check-faults SANITIZE=address,undefined) leaks show at the end.
 *
 * wrap: malloc, calloc, realloc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "faults.h"

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *
__wrap_malloc(size_t size)
{
	return fault_fires(__func__) ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *
__wrap_calloc(size_t count, size_t size)
{
	return fault_fires(__func__) ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *
__wrap_realloc(void *memory, size_t size)
{
	return fault_fires(__func__) ? NULL : __real_realloc(memory, size);
}

/* Of the many allocations of a large put, one in so many. */
static long
stride_of(const struct scenario *scenario)
{
	return scenario->run == run_put_many ? 23 : 1;
}

static void
an_allocation_that_fails_is_out_of_memory_and_no_more(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < SCENARIOS; i++)
		fail_each_call(&scenarios[i], stride_of(&scenarios[i]), false);
}

static void
so_are_all_that_follow(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < SCENARIOS; i++)
		fail_each_call(&scenarios[i],
			3 * stride_of(&scenarios[i]), true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_allocation_that_fails_is_out_of_memory_and_no_more),
		cmocka_unit_test(so_are_all_that_follow),
	};

	return cmocka_run_group_tests(tests, fault_setup, fault_teardown);
}
