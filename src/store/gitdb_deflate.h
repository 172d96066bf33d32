/*
 * The zlib streams of git objects (private to store/gitdb*.c, and the only
 * user of zlib).
 *
 * One object at a time, or many in the background: these are gathered into
 * batches that a pool of threads compresses, and taken back in order.
 */
#ifndef KS_STORE_GITDB_DEFLATE_H
#define KS_STORE_GITDB_DEFLATE_H

#include "base/buf.h"
#include "base/error.h"

/* Append the zlib stream of `head` and `body` at level 0 (RFC 1950, and RFC
 * 1951 section 3.2.4): stored blocks need no compressor. */
void ks_deflate_stored(struct ks_buf *out, struct ks_span head,
	struct ks_span body);

/* The same in pieces, `left` bytes in all: the stream ends with the last of
 * them. Where there is none at all, one empty piece is added. */
struct ks_stored {
	uint64_t left;
	uint32_t sum;
	bool begun;
};
void ks_deflate_stored_add(struct ks_stored *stored, struct ks_span bytes,
	struct ks_buf *out);

/* Whether what is left to read of `fd` is one sound zlib stream: KS_CORRUPT
 * when it is damaged, cut short, or gives more than `limit` bytes. What may
 * follow it is not looked at. */
enum ks_status ks_inflate_check(int fd, uint64_t limit, struct ks_error *err)
	KS_CHECKED;

/* Compressors, made on first use and used again. One per thread. */
struct ks_git_deflater;
enum ks_status ks_git_deflater_new(struct ks_git_deflater **out,
	struct ks_error *err)
	KS_CHECKED;
void ks_git_deflater_free(struct ks_git_deflater *deflater);

/* Append the zlib stream of `head` and `body` at the default level. */
enum ks_status ks_deflate(struct ks_git_deflater *deflater, struct ks_span head,
	struct ks_span body, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

/*
 * Many objects, each after some bytes that stay as they are (`raw`: the head
 * of a pack entry).
 *
 *	ks_deflate_queue_add(queue, raw, body, &err);	often
 *	ks_deflate_queue_take(queue, false, &out, &err); what is done
 *	ks_deflate_queue_take(queue, true, &out, &err);	until out is empty
 */
struct ks_deflate_queue;
enum ks_status ks_deflate_queue_new(struct ks_deflate_queue **out,
	struct ks_error *err) KS_CHECKED;
void ks_deflate_queue_free(struct ks_deflate_queue *queue);

enum ks_status ks_deflate_queue_add(struct ks_deflate_queue *queue,
	struct ks_span raw, struct ks_span body, struct ks_error *err)
	KS_CHECKED;

/* A finished batch, or nothing. Without `all` only when the queue is full, so
 * that adding may go on; with it until everything added was given back. Valid
 * until the next call. */
enum ks_status ks_deflate_queue_take(struct ks_deflate_queue *queue, bool all,
	struct ks_span *out, struct ks_error *err) KS_CHECKED;

#endif
