#include "base/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

#define CHUNK ((size_t)1 << 20)
#define IN_FILE ((uint64_t)1 << 63)

struct chunk {
	uint8_t *data;
	size_t len, cap;
};

/* A place is chunk number << 32 | offset, or IN_FILE | offset in the file. */
struct ks_spool {
	const char *directory;
	size_t memory, used;
	struct chunk *chunks;
	size_t count, room;
	int fd;
	uint64_t file_len;
	struct ks_buf pending;	/* not yet written to the file */
};

enum ks_status
ks_spool_new(struct ks_spool **out, const char *directory, size_t memory,
	struct ks_error *err)
{
	struct ks_spool *spool = calloc(1, sizeof(*spool));

	*out = NULL;
	if (spool == NULL)
		return ks_fail_nomem(err);
	spool->directory = directory;
	spool->memory = memory;
	spool->fd = -1;
	*out = spool;
	return KS_OK;
}

void
ks_spool_free(struct ks_spool *spool)
{
	size_t i;

	if (spool == NULL)
		return;
	for (i = 0; i < spool->count; i++)
		free(spool->chunks[i].data);
	free(spool->chunks);
	if (spool->fd >= 0)
		(void)close(spool->fd);
	ks_buf_release(&spool->pending);
	free(spool);
}

static bool
add_chunk(struct ks_spool *spool, size_t len)
{
	size_t cap = len > CHUNK ? len : CHUNK;
	struct chunk *last, *grown = ks_grow(spool->chunks, spool->count,
		&spool->room, sizeof(*grown), NULL);
	uint8_t *data;

	if (grown == NULL)
		return false;
	spool->chunks = grown;
	data = malloc(cap);
	if (data == NULL)
		return false;
	last = &spool->chunks[spool->count++];
	last->data = data;
	last->len = 0;
	last->cap = cap;
	spool->used += cap;
	return true;
}

static enum ks_status
open_file(struct ks_spool *spool, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status = KS_OK;

	ks_buf_printf(&path, "%skistore-spool-XXXXXX", spool->directory);
	ks_buf_byte(&path, 0);
	if (ks_buf_check(&path, err) != KS_OK)
		return KS_NOMEM;
	spool->fd = mkstemp((char *)path.data);
	/* A writer that clears away what dead ones left may have been first. */
	if (spool->fd < 0 || (unlink((char *)path.data) != 0 &&
		errno != ENOENT))
		status = ks_fail_errno(err, "%s", (char *)path.data);
	ks_buf_release(&path);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

static enum ks_status
flush_pending(struct ks_spool *spool, struct ks_error *err)
{
	size_t done = 0;

	while (done < spool->pending.len) {
		ssize_t n = pwrite(spool->fd, spool->pending.data + done,
			spool->pending.len - done,
			(off_t)(spool->file_len + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ks_fail_errno(err, "temporary file in %s",
				spool->directory);
		done += (size_t)n;
	}
	spool->file_len += spool->pending.len;
	ks_buf_clear(&spool->pending);
	return KS_OK;
}

static enum ks_status
add_to_file(struct ks_spool *spool, struct ks_span bytes, uint64_t *place,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (spool->fd < 0)
		status = open_file(spool, err);
	if (status == KS_OK && spool->pending.len + bytes.len > CHUNK)
		status = flush_pending(spool, err);
	if (status != KS_OK)
		return status;
	*place = IN_FILE | (spool->file_len + spool->pending.len);
	ks_buf_append(&spool->pending, bytes);
	return ks_buf_check(&spool->pending, err);
}

enum ks_status
ks_spool_add(struct ks_spool *spool, struct ks_span bytes, uint64_t *place,
	struct ks_error *err)
{
	struct chunk *last = spool->count == 0 ? NULL :
		&spool->chunks[spool->count - 1];

	if (last == NULL || last->cap - last->len < bytes.len) {
		if (spool->used >= spool->memory)
			return add_to_file(spool, bytes, place, err);
		if (!add_chunk(spool, bytes.len))
			return ks_fail_nomem(err);
		last = &spool->chunks[spool->count - 1];
	}
	*place = (uint64_t)(spool->count - 1) << 32 | last->len;
	if (bytes.len > 0)
		memcpy(last->data + last->len, bytes.data, bytes.len);
	last->len += bytes.len;
	return KS_OK;
}

static enum ks_status
read_file(const struct ks_spool *spool, uint64_t offset, size_t len,
	struct ks_buf *scratch, struct ks_error *err)
{
	uint8_t *at;
	size_t done = 0;

	ks_buf_clear(scratch);
	at = ks_buf_reserve(scratch, len + 1);
	if (at == NULL)
		return ks_fail_nomem(err);
	while (done < len) {
		ssize_t n = pread(spool->fd, at + done, len - done,
			(off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ks_fail(err, KS_IO,
				"temporary file in %s: cannot read back",
				spool->directory);
		done += (size_t)n;
	}
	scratch->len = len;
	return KS_OK;
}

enum ks_status
ks_spool_get(const struct ks_spool *spool, uint64_t place, size_t len,
	struct ks_buf *scratch, struct ks_span *bytes, struct ks_error *err)
{
	uint64_t offset = place & ~IN_FILE;
	enum ks_status status;

	if ((place & IN_FILE) == 0) {
		const struct chunk *chunk = &spool->chunks[place >> 32];

		*bytes = ks_span(chunk->data + (uint32_t)place, len);
		return KS_OK;
	}
	if (offset >= spool->file_len) {
		*bytes = ks_span(spool->pending.data +
			(offset - spool->file_len), len);
		return KS_OK;
	}
	status = read_file(spool, offset, len, scratch, err);
	*bytes = ks_buf_span(scratch);
	return status;
}
