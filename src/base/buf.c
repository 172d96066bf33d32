#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
ks_buf_release(struct ks_buf *buf)
{
	free(buf->data);
	*buf = (struct ks_buf)KS_BUF_INIT;
}

void
ks_buf_clear(struct ks_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
}

uint8_t *
ks_buf_reserve(struct ks_buf *buf, size_t more)
{
	size_t cap = buf->cap;
	uint8_t *grown;

	if (buf->failed)
		return NULL;
	if (buf->data != NULL && cap - buf->len >= more)
		return buf->data + buf->len;
	if (more > SIZE_MAX / 2 - buf->len) {
		buf->failed = true;
		return NULL;
	}
	if (cap < 64)
		cap = 64;
	while (cap < buf->len + more)
		cap *= 2;
	grown = realloc(buf->data, cap);
	if (grown == NULL) {
		buf->failed = true;
		return NULL;
	}
	buf->data = grown;
	buf->cap = cap;
	return buf->data + buf->len;
}

void
ks_buf_append(struct ks_buf *buf, struct ks_span bytes)
{
	uint8_t *at;

	if (bytes.len == 0)
		return;
	at = ks_buf_reserve(buf, bytes.len);
	if (at == NULL)
		return;
	memcpy(at, bytes.data, bytes.len);
	buf->len += bytes.len;
}

void
ks_buf_text(struct ks_buf *buf, const char *text)
{
	ks_buf_append(buf, ks_span_text(text));
}

void
ks_buf_byte(struct ks_buf *buf, uint8_t byte)
{
	uint8_t *at = ks_buf_reserve(buf, 1);

	if (at == NULL)
		return;
	*at = byte;
	buf->len++;
}

void
ks_buf_printf(struct ks_buf *buf, const char *format, ...)
{
	va_list args;
	int need;
	uint8_t *at;

	va_start(args, format);
	need = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (need < 0) {
		buf->failed = true;
		return;
	}
	at = ks_buf_reserve(buf, (size_t)need + 1);
	if (at == NULL)
		return;
	va_start(args, format);
	(void)vsnprintf((char *)at, (size_t)need + 1, format, args);
	va_end(args);
	buf->len += (size_t)need;
}

struct ks_span
ks_buf_span(const struct ks_buf *buf)
{
	return ks_span(buf->data, buf->len);
}

const char *
ks_buf_cstr(struct ks_buf *buf)
{
	uint8_t *at = ks_buf_reserve(buf, 1);

	if (at == NULL)
		return "";
	*at = '\0';
	return (const char *)buf->data;
}

enum ks_status
ks_buf_check(const struct ks_buf *buf, struct ks_error *err)
{
	return buf->failed ? ks_fail_nomem(err) : KS_OK;
}
