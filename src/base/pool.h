/*
 * Jobs done by several threads, taken back in the order they were given.
 *
 * One thread (the owner) pushes jobs and pulls them back when they are done;
 * workers run `work` on them meanwhile. The owner also works while it waits,
 * so a pool with no worker threads at all behaves the same, only slower. At
 * most KS_POOL_WINDOW jobs are in flight, which bounds memory.
 *
 *	while (more input) {
 *		if (ks_pool_is_full(pool))
 *			consume(ks_pool_pull(pool));
 *		ks_pool_push(pool, make_job());
 *	}
 *	while ((job = ks_pool_pull(pool)) != NULL)
 *		consume(job);
 */
#ifndef KS_BASE_POOL_H
#define KS_BASE_POOL_H

#include "base/error.h"

#define KS_POOL_WINDOW 16

/* Runs a job. `worker` is below ks_pool_workers(): scratch memory may be kept
 * per worker. Must not touch anything that other jobs change. */
typedef void ks_pool_work_fn(void *arg, unsigned worker, void *job);

struct ks_pool;

/* Start a pool for `threads` threads, the owner included (0 = one for each
 * processor online). When the system gives fewer threads, fewer are used. */
enum ks_status ks_pool_new(struct ks_pool **out, unsigned threads,
	ks_pool_work_fn *work, void *arg, struct ks_error *err) KS_CHECKED;

/* Waits for running jobs, forgets those not pulled, ends the threads. */
void ks_pool_free(struct ks_pool *pool);

/* An upper bound of worker numbers, the owner's included. */
unsigned ks_pool_workers(const struct ks_pool *pool);

/* How many threads ks_pool_new(…, threads, …) would use. */
unsigned ks_pool_threads(unsigned threads);

bool ks_pool_is_full(const struct ks_pool *pool);

/* Hand over a job (not NULL); the pool must not be full. */
void ks_pool_push(struct ks_pool *pool, void *job);

/* The oldest job, once it is done; NULL when there is none. */
void *ks_pool_pull(struct ks_pool *pool);

/* Wait for all jobs and forget them. */
void ks_pool_drain(struct ks_pool *pool);

#endif
