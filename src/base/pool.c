#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX 64

enum slot_state {
	SLOT_WAITING,
	SLOT_RUNNING,
	SLOT_DONE
};

struct slot {
	void *job;
	enum slot_state state;
};

/* Jobs are numbered; job n is in slot n % KS_POOL_WINDOW. */
struct ks_pool {
	ks_pool_work_fn *work;
	void *arg;
	pthread_mutex_t mutex;
	pthread_cond_t given;	/* a job waits, or the pool closes */
	pthread_cond_t done;	/* a job is done */
	struct slot slots[KS_POOL_WINDOW];
	size_t first;		/* oldest not pulled */
	size_t next;		/* next to start */
	size_t end;		/* next to push */
	bool closing;
	unsigned threads;	/* started */
	pthread_t thread[THREADS_MAX];
};

struct start {
	struct ks_pool *pool;
	unsigned worker;
};

static struct slot *
slot_of(struct ks_pool *pool, size_t number)
{
	return &pool->slots[number % KS_POOL_WINDOW];
}

/* Run the next waiting job; called and left with the mutex held. */
static void
run_next(struct ks_pool *pool, unsigned worker)
{
	struct slot *slot = slot_of(pool, pool->next++);

	slot->state = SLOT_RUNNING;
	(void)pthread_mutex_unlock(&pool->mutex);
	pool->work(pool->arg, worker, slot->job);
	(void)pthread_mutex_lock(&pool->mutex);
	slot->state = SLOT_DONE;
	(void)pthread_cond_signal(&pool->done);
}

static void *
worker_main(void *arg)
{
	struct start start = *(struct start *)arg;
	struct ks_pool *pool = start.pool;

	free(arg);
	(void)pthread_mutex_lock(&pool->mutex);
	for (;;) {
		while (pool->next == pool->end && !pool->closing)
			(void)pthread_cond_wait(&pool->given, &pool->mutex);
		if (pool->next == pool->end || pool->closing)
			break;
		run_next(pool, start.worker);
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	return NULL;
}

unsigned
ks_pool_threads(unsigned threads)
{
	long online;

	if (threads == 0) {
		online = sysconf(_SC_NPROCESSORS_ONLN);
		threads = online < 1 ? 1 : (unsigned)online;
	}
	return threads < THREADS_MAX ? threads : THREADS_MAX;
}

static bool
start_thread(struct ks_pool *pool)
{
	struct start *start = malloc(sizeof(*start));

	if (start == NULL)
		return false;
	*start = (struct start){ pool, pool->threads + 1 };
	if (pthread_create(&pool->thread[pool->threads], NULL, worker_main,
		start) != 0) {
		free(start);
		return false;
	}
	pool->threads++;
	return true;
}

enum ks_status
ks_pool_new(struct ks_pool **out, unsigned threads, ks_pool_work_fn *work,
	void *arg, struct ks_error *err)
{
	struct ks_pool *pool = calloc(1, sizeof(*pool));
	unsigned wanted = ks_pool_threads(threads);
	unsigned i;

	*out = NULL;
	if (pool == NULL)
		return ks_fail_nomem(err);
	pool->work = work;
	pool->arg = arg;
	(void)pthread_mutex_init(&pool->mutex, NULL);
	(void)pthread_cond_init(&pool->given, NULL);
	(void)pthread_cond_init(&pool->done, NULL);
	for (i = 1; i < wanted && start_thread(pool); i++)
		;
	*out = pool;
	return KS_OK;
}

void
ks_pool_free(struct ks_pool *pool)
{
	unsigned i;

	if (pool == NULL)
		return;
	(void)pthread_mutex_lock(&pool->mutex);
	pool->closing = true;
	(void)pthread_cond_broadcast(&pool->given);
	(void)pthread_mutex_unlock(&pool->mutex);
	for (i = 0; i < pool->threads; i++)
		(void)pthread_join(pool->thread[i], NULL);
	(void)pthread_mutex_destroy(&pool->mutex);
	(void)pthread_cond_destroy(&pool->given);
	(void)pthread_cond_destroy(&pool->done);
	free(pool);
}

unsigned
ks_pool_workers(const struct ks_pool *pool)
{
	return pool->threads + 1;
}

bool
ks_pool_is_full(const struct ks_pool *pool)
{
	return pool->end - pool->first == KS_POOL_WINDOW;
}

void
ks_pool_push(struct ks_pool *pool, void *job)
{
	(void)pthread_mutex_lock(&pool->mutex);
	*slot_of(pool, pool->end) = (struct slot){ job, SLOT_WAITING };
	pool->end++;
	(void)pthread_cond_signal(&pool->given);
	(void)pthread_mutex_unlock(&pool->mutex);
}

void *
ks_pool_pull(struct ks_pool *pool)
{
	struct slot *slot;
	void *job;

	if (pool->first == pool->end)
		return NULL;
	slot = slot_of(pool, pool->first);
	(void)pthread_mutex_lock(&pool->mutex);
	while (slot->state != SLOT_DONE) {
		if (pool->next != pool->end)
			run_next(pool, 0);
		else
			(void)pthread_cond_wait(&pool->done, &pool->mutex);
	}
	job = slot->job;
	pool->first++;
	(void)pthread_mutex_unlock(&pool->mutex);
	return job;
}

void
ks_pool_drain(struct ks_pool *pool)
{
	void *job;

	do
		job = ks_pool_pull(pool);
	while (job != NULL);
}
