#include "base/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define MANY 2000

/* A job, and what a worker makes of it. */
struct job {
	unsigned number;
	unsigned long result;
	unsigned worker;
	unsigned times;		/* it was worked on */
	long nap_ns;
};

/* Work that takes unevenly long, so that jobs end out of order. */
static void
work(void *arg, unsigned worker, void *data)
{
	struct job *job = data;
	unsigned long sum = 0;
	unsigned i;

	(void)arg;
	if (job->nap_ns > 0)
		(void)nanosleep(&(struct timespec){ 0, job->nap_ns }, NULL);
	for (i = 0; i <= job->number % 977; i++)
		sum += i;
	job->result = sum;
	job->worker = worker;
	job->times++;
}

static unsigned long
expected(unsigned number)
{
	unsigned long n = number % 977;

	return n * (n + 1) / 2;
}

static struct ks_pool *
new_pool(unsigned threads)
{
	struct ks_pool *pool = NULL;

	assert_int_equal(ks_pool_new(&pool, threads, work, NULL, NULL),
		KS_OK);
	return pool;
}

static void
consume(struct ks_pool *pool, const struct job *job, unsigned number)
{
	assert_non_null(job);
	assert_int_equal(job->number, number);
	assert_int_equal(job->result, expected(number));
	assert_int_equal(job->times, 1);
	assert_true(job->worker < ks_pool_workers(pool));
}

/* Push `count` jobs and pull them back as the header says. */
static void
pump(struct ks_pool *pool, struct job *jobs, unsigned count)
{
	unsigned pushed, pulled = 0;
	struct job *job;

	for (pushed = 0; pushed < count; pushed++) {
		if (ks_pool_is_full(pool))
			consume(pool, ks_pool_pull(pool), pulled++);
		jobs[pushed].number = pushed;
		ks_pool_push(pool, &jobs[pushed]);
	}
	while ((job = ks_pool_pull(pool)) != NULL)
		consume(pool, job, pulled++);
	assert_int_equal(pulled, count);
}

/* 1 thread means no worker but the owner. */
static const unsigned thread_counts[] = { 1, 2, 3, 8, 0 };

static void
jobs_come_back_in_order_whatever_the_threads(void **state)
{
	static const unsigned counts[] = {
		0, 1, KS_POOL_WINDOW - 1, KS_POOL_WINDOW, KS_POOL_WINDOW + 1,
		MANY,
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(thread_counts) / sizeof(unsigned); i++)
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			struct ks_pool *pool = new_pool(thread_counts[i]);
			struct job *jobs = calloc(MANY, sizeof(*jobs));

			assert_non_null(jobs);
			pump(pool, jobs, counts[k]);
			ks_pool_free(pool);
			free(jobs);
		}
}

static void
a_slow_first_job_holds_back_those_after_it(void **state)
{
	struct ks_pool *pool = new_pool(4);
	struct job jobs[KS_POOL_WINDOW];

	(void)state;
	memset(jobs, 0, sizeof(jobs));
	jobs[0].nap_ns = 20000000;
	pump(pool, jobs, KS_POOL_WINDOW);
	ks_pool_free(pool);
}

static void
a_pool_is_used_again_after_it_was_empty(void **state)
{
	struct ks_pool *pool = new_pool(2);
	struct job jobs[40];
	int round;

	(void)state;
	for (round = 0; round < 20; round++) {
		memset(jobs, 0, sizeof(jobs));
		pump(pool, jobs, 40);
		assert_null(ks_pool_pull(pool));
	}
	ks_pool_free(pool);
}

static void
a_pool_is_full_at_its_window_and_not_before(void **state)
{
	struct ks_pool *pool = new_pool(1);
	struct job jobs[KS_POOL_WINDOW + 1];
	unsigned i;

	(void)state;
	memset(jobs, 0, sizeof(jobs));
	for (i = 0; i < KS_POOL_WINDOW; i++) {
		assert_false(ks_pool_is_full(pool));
		ks_pool_push(pool, &jobs[i]);
	}
	assert_true(ks_pool_is_full(pool));
	assert_ptr_equal(ks_pool_pull(pool), &jobs[0]);
	assert_false(ks_pool_is_full(pool));
	ks_pool_push(pool, &jobs[i]);
	assert_true(ks_pool_is_full(pool));
	ks_pool_free(pool);
}

static void
an_empty_pool_gives_nothing(void **state)
{
	struct ks_pool *pool = new_pool(2);

	(void)state;
	assert_null(ks_pool_pull(pool));
	assert_null(ks_pool_pull(pool));
	ks_pool_free(pool);
	ks_pool_free(NULL);
}

/* After ks_pool_free() nobody works on a job: they may be freed. */
static void
jobs_not_pulled_are_done_or_forgotten_when_the_pool_ends(void **state)
{
	size_t i;
	int round;

	(void)state;
	for (i = 0; i < sizeof(thread_counts) / sizeof(unsigned); i++)
		for (round = 0; round < 10; round++) {
			struct ks_pool *pool = new_pool(thread_counts[i]);
			struct job *jobs = calloc(KS_POOL_WINDOW,
				sizeof(*jobs));
			unsigned n;

			assert_non_null(jobs);
			for (n = 0; n < KS_POOL_WINDOW; n++) {
				jobs[n].nap_ns = 100000;
				ks_pool_push(pool, &jobs[n]);
			}
			ks_pool_free(pool);
			for (n = 0; n < KS_POOL_WINDOW; n++)
				assert_true(jobs[n].times <= 1);
			free(jobs);
		}
}

static void
scratch_memory_may_be_kept_per_worker(void **state)
{
	struct ks_pool *pool = new_pool(4);
	struct job *jobs = calloc(MANY, sizeof(*jobs));
	unsigned long done[64] = { 0 };
	unsigned i, total = 0;

	(void)state;
	assert_non_null(jobs);
	pump(pool, jobs, MANY);
	for (i = 0; i < MANY; i++)
		done[jobs[i].worker]++;
	for (i = 0; i < ks_pool_workers(pool); i++)
		total += (unsigned)done[i];
	assert_int_equal(total, MANY);
	ks_pool_free(pool);
	free(jobs);
}

static void
the_number_of_threads_is_bounded(void **state)
{
	(void)state;
	assert_true(ks_pool_threads(0) >= 1);
	assert_int_equal(ks_pool_threads(1), 1);
	assert_int_equal(ks_pool_threads(7), 7);
	assert_int_equal(ks_pool_threads(64), 64);
	assert_int_equal(ks_pool_threads(65), 64);
	assert_int_equal(ks_pool_threads(4000000000U), 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_come_back_in_order_whatever_the_threads),
		cmocka_unit_test(a_slow_first_job_holds_back_those_after_it),
		cmocka_unit_test(a_pool_is_used_again_after_it_was_empty),
		cmocka_unit_test(a_pool_is_full_at_its_window_and_not_before),
		cmocka_unit_test(an_empty_pool_gives_nothing),
		cmocka_unit_test(
			jobs_not_pulled_are_done_or_forgotten_when_the_pool_ends),
		cmocka_unit_test(scratch_memory_may_be_kept_per_worker),
		cmocka_unit_test(the_number_of_threads_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
