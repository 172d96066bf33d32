#include "store/gitdb_deflate.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define ZLIB_CONST	/* next_in points to const */
#include <zlib.h>

#include "base/pool.h"

#define STORED_MAX 65535
#define BATCH_BYTES ((size_t)256 << 10)
#define BATCH_OBJECTS 256

void
ks_deflate_stored(struct ks_buf *out, struct ks_span head,
	struct ks_span body)
{
	size_t left = head.len + body.len;
	uLong sum = adler32(adler32(0, NULL, 0), head.data, (uInt)head.len);
	uint8_t tail[4];
	size_t i;

	sum = adler32_z(sum, body.data, body.len);
	ks_buf_append(out, ks_span("\x78\x01", 2));
	do {
		size_t len = left < STORED_MAX ? left : STORED_MAX;
		uint8_t block[5] = { left == len, len & 0xff, len >> 8 & 0xff,
			~len & 0xff, ~len >> 8 & 0xff };
		size_t from_head = len < head.len ? len : head.len;

		ks_buf_append(out, ks_span(block, sizeof(block)));
		ks_buf_append(out, ks_span(head.data, from_head));
		ks_buf_append(out, ks_span(body.data, len - from_head));
		head = ks_span(head.data + from_head, head.len - from_head);
		body.data += len - from_head;
		body.len -= len - from_head;
		left -= len;
	} while (left > 0);
	for (i = 0; i < sizeof(tail); i++)
		tail[i] = (uint8_t)(sum >> (24 - 8 * i));
	ks_buf_append(out, ks_span(tail, sizeof(tail)));
}

/* One stored block (RFC 1951 section 3.2.4). */
static void
put_block(struct ks_span bytes, bool last, struct ks_buf *out)
{
	size_t len = bytes.len;
	uint8_t head[5] = { last, len & 0xff, len >> 8 & 0xff, ~len & 0xff,
		~len >> 8 & 0xff };

	ks_buf_append(out, ks_span(head, sizeof(head)));
	ks_buf_append(out, bytes);
}

void
ks_deflate_stored_add(struct ks_stored *stored, struct ks_span bytes,
	struct ks_buf *out)
{
	size_t i;

	if (!stored->begun) {
		ks_buf_append(out, ks_span("\x78\x01", 2));
		stored->sum = (uint32_t)adler32(0, NULL, 0);
		stored->begun = true;
	}
	if (bytes.len > 0)
		stored->sum = (uint32_t)adler32_z(stored->sum, bytes.data,
			bytes.len);
	for (; bytes.len > STORED_MAX; bytes = ks_span(bytes.data + STORED_MAX,
		bytes.len - STORED_MAX)) {
		stored->left -= STORED_MAX;
		put_block(ks_span(bytes.data, STORED_MAX), false, out);
	}
	stored->left -= bytes.len;
	put_block(bytes, stored->left == 0, out);
	for (i = 0; stored->left == 0 && i < 4; i++)
		ks_buf_byte(out, (uint8_t)(stored->sum >> (24 - 8 * i)));
}

/* ---- a stream that others wrote ---------------------------------------- */

#define CHECK_BYTES 16384

/* Inflate what was read, and forget it. */
static enum ks_status
check_input(z_stream *z, int *rc, uint64_t limit, struct ks_error *err)
{
	uint8_t scratch[CHECK_BYTES];

	do {
		z->next_out = scratch;
		z->avail_out = sizeof(scratch);
		*rc = inflate(z, Z_NO_FLUSH);
		if (z->total_out > limit)
			return ks_fail(err, KS_CORRUPT, "gives more than the "
				"%llu bytes allowed",
				(unsigned long long)limit);
	} while (*rc == Z_OK && (z->avail_in > 0 || z->avail_out == 0));
	if (*rc == Z_MEM_ERROR)
		return ks_fail_nomem(err);
	if (*rc == Z_OK || *rc == Z_BUF_ERROR || *rc == Z_STREAM_END)
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "its zlib stream is damaged");
}

enum ks_status
ks_inflate_check(int fd, uint64_t limit, struct ks_error *err)
{
	uint8_t in[CHECK_BYTES];
	z_stream z = { .next_in = in };
	int rc = inflateInit(&z);
	enum ks_status status = rc == Z_OK ? KS_OK : ks_fail_nomem(err);

	while (status == KS_OK && rc != Z_STREAM_END) {
		ssize_t got = read(fd, in, sizeof(in));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			status = ks_fail_errno(err, "cannot read");
		else if (got == 0)
			status = ks_fail(err, KS_CORRUPT,
				"its zlib stream is cut short");
		z.next_in = in;
		z.avail_in = got > 0 ? (uInt)got : 0;
		if (status == KS_OK)
			status = check_input(&z, &rc, limit, err);
	}
	(void)inflateEnd(&z);
	return status;
}

/* ---- one object -------------------------------------------------------- */

/* Small trees are many, and resetting a compressor costs what its tables
 * measure: they get one with small tables. */
#define SMALL_MAX ((size_t)4096)
#define SMALL_WINDOW_BITS 12
#define SMALL_MEM_LEVEL 5

struct compressor {
	z_stream z;
	bool made;
};

struct ks_git_deflater {
	struct compressor small, large;
};

enum ks_status
ks_git_deflater_new(struct ks_git_deflater **out, struct ks_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? ks_fail_nomem(err) : KS_OK;
}

void
ks_git_deflater_free(struct ks_git_deflater *deflater)
{
	if (deflater == NULL)
		return;
	if (deflater->small.made)
		(void)deflateEnd(&deflater->small.z);
	if (deflater->large.made)
		(void)deflateEnd(&deflater->large.z);
	free(deflater);
}

static z_stream *
get_compressor(struct ks_git_deflater *deflater, bool small)
{
	struct compressor *c = small ? &deflater->small : &deflater->large;

	if (c->made) {
		(void)deflateReset(&c->z);
		return &c->z;
	}
	c->made = deflateInit2(&c->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
		small ? SMALL_WINDOW_BITS : MAX_WBITS,
		small ? SMALL_MEM_LEVEL : 8, Z_DEFAULT_STRATEGY) == Z_OK;
	return c->made ? &c->z : NULL;
}

/* Feed `bytes` to the compressor. */
static enum ks_status
feed(z_stream *z, struct ks_span bytes, int flush, struct ks_buf *out,
	struct ks_error *err)
{
	int rc;

	z->next_in = bytes.data;
	z->avail_in = (uInt)bytes.len;
	do {
		size_t room = deflateBound(z, z->avail_in) + 64;
		uint8_t *at = ks_buf_reserve(out, room);

		if (at == NULL)
			return ks_fail_nomem(err);
		z->next_out = at;
		z->avail_out = (uInt)room;
		rc = deflate(z, flush);
		out->len += room - z->avail_out;
		if (rc == Z_STREAM_ERROR)
			return ks_fail(err, KS_NOMEM, "zlib failed");
	} while (z->avail_in > 0 || (flush == Z_FINISH && rc != Z_STREAM_END));
	return KS_OK;
}

enum ks_status
ks_deflate(struct ks_git_deflater *deflater, struct ks_span head,
	struct ks_span body, struct ks_buf *out, struct ks_error *err)
{
	z_stream *z = get_compressor(deflater,
		head.len + body.len <= SMALL_MAX);
	enum ks_status status = z == NULL ? ks_fail_nomem(err) :
		feed(z, head, Z_NO_FLUSH, out, err);

	return status == KS_OK ? feed(z, body, Z_FINISH, out, err) : status;
}

/* ---- many -------------------------------------------------------------- */

struct item {
	size_t raw_len, body_len;
};

struct batch {
	struct ks_buf plain;	/* raw and body of each item */
	struct item items[BATCH_OBJECTS];
	size_t count;
	struct ks_buf out;
	enum ks_status status;
	struct ks_error err;
};

struct ks_deflate_queue {
	struct ks_pool *pool;	/* made when a first batch is full */
	struct ks_git_deflater **deflaters;	/* one a worker */
	unsigned workers;
	struct batch *batches;	/* KS_POOL_WINDOW in flight, one filling, one
				 * given out */
	size_t next;
	struct batch *filling;
};

#define BATCHES (KS_POOL_WINDOW + 2)

enum ks_status
ks_deflate_queue_new(struct ks_deflate_queue **out, struct ks_error *err)
{
	struct ks_deflate_queue *queue = calloc(1, sizeof(*queue));

	*out = NULL;
	if (queue == NULL)
		return ks_fail_nomem(err);
	queue->batches = calloc(BATCHES, sizeof(*queue->batches));
	if (queue->batches == NULL) {
		free(queue);
		return ks_fail_nomem(err);
	}
	queue->filling = &queue->batches[queue->next++];
	*out = queue;
	return KS_OK;
}

void
ks_deflate_queue_free(struct ks_deflate_queue *queue)
{
	size_t i;

	if (queue == NULL)
		return;
	ks_pool_free(queue->pool);
	for (i = 0; queue->deflaters != NULL && i < queue->workers; i++)
		ks_git_deflater_free(queue->deflaters[i]);
	free(queue->deflaters);
	for (i = 0; i < BATCHES; i++) {
		ks_buf_release(&queue->batches[i].plain);
		ks_buf_release(&queue->batches[i].out);
	}
	free(queue->batches);
	free(queue);
}

static void
deflate_batch(void *arg, unsigned worker, void *job)
{
	struct ks_deflate_queue *queue = arg;
	struct batch *batch = job;
	const uint8_t *at = batch->plain.data;
	size_t i;

	ks_buf_clear(&batch->out);
	batch->status = KS_OK;
	for (i = 0; batch->status == KS_OK && i < batch->count; i++) {
		const struct item *item = &batch->items[i];

		ks_buf_append(&batch->out, ks_span(at, item->raw_len));
		at += item->raw_len;
		batch->status = ks_deflate(queue->deflaters[worker],
			ks_span(NULL, 0), ks_span(at, item->body_len),
			&batch->out, &batch->err);
		at += item->body_len;
	}
}

/* Few objects are compressed by the calling thread alone. */
static enum ks_status
need_pool(struct ks_deflate_queue *queue, unsigned threads,
	struct ks_error *err)
{
	unsigned i;
	enum ks_status status;

	if (queue->pool != NULL)
		return KS_OK;
	status = ks_pool_new(&queue->pool, threads, deflate_batch, queue, err);
	if (status != KS_OK)
		return status;
	queue->workers = ks_pool_workers(queue->pool);
	queue->deflaters = calloc(queue->workers, sizeof(*queue->deflaters));
	if (queue->deflaters == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < queue->workers; i++)
		status = ks_git_deflater_new(&queue->deflaters[i], err);
	return status;
}

/* Hand the batch over that is being filled, and start another. */
static void
turn_over(struct ks_deflate_queue *queue)
{
	struct batch *batch = &queue->batches[queue->next++ % BATCHES];

	ks_pool_push(queue->pool, queue->filling);
	ks_buf_clear(&batch->plain);
	batch->count = 0;
	queue->filling = batch;
}

static bool
is_full(const struct batch *batch)
{
	return batch->count == BATCH_OBJECTS ||
		batch->plain.len >= BATCH_BYTES;
}

enum ks_status
ks_deflate_queue_add(struct ks_deflate_queue *queue, struct ks_span raw,
	struct ks_span body, struct ks_error *err)
{
	struct batch *batch = queue->filling;

	batch->items[batch->count++] = (struct item){ raw.len, body.len };
	ks_buf_append(&batch->plain, raw);
	ks_buf_append(&batch->plain, body);
	return ks_buf_check(&batch->plain, err);
}

enum ks_status
ks_deflate_queue_take(struct ks_deflate_queue *queue, bool all,
	struct ks_span *out, struct ks_error *err)
{
	struct batch *batch = NULL;
	enum ks_status status = KS_OK;

	*out = ks_span(NULL, 0);
	if (!is_full(queue->filling) && !all)
		return KS_OK;
	status = need_pool(queue, is_full(queue->filling) ? 0 : 1, err);
	if (status != KS_OK)
		return status;
	if (ks_pool_is_full(queue->pool))
		batch = ks_pool_pull(queue->pool);
	if (queue->filling->count > 0)
		turn_over(queue);
	if (batch == NULL && all)
		batch = ks_pool_pull(queue->pool);
	if (batch == NULL)
		return KS_OK;
	if (batch->status != KS_OK && err != NULL)
		*err = batch->err;
	*out = ks_buf_span(&batch->out);
	return batch->status;
}
