/*
 * Growable bytes with sticky failure.
 *
 * Append freely and test once: after an allocation fails, every append does
 * nothing and ks_buf_check() reports KS_NOMEM. A buffer may live on the stack,
 * starts as KS_BUF_INIT, and owns its memory until ks_buf_release().
 */
#ifndef KS_BASE_BUF_H
#define KS_BASE_BUF_H

#include "base/error.h"

struct ks_buf {
	uint8_t *data;	/* NULL while nothing was ever appended */
	size_t len;	/* bytes in use */
	size_t cap;	/* bytes allocated */
	bool failed;	/* an allocation failed; contents are incomplete */
};

#define KS_BUF_INIT { .data = NULL, .len = 0, .cap = 0, .failed = false }

/* Free the memory; the buffer is as KS_BUF_INIT afterwards. */
void ks_buf_release(struct ks_buf *buf);

/* Empty the buffer and forget a failure, keeping the memory. */
void ks_buf_clear(struct ks_buf *buf);

/* Make room for `more` bytes beyond len; returns where they start, or NULL. */
uint8_t *ks_buf_reserve(struct ks_buf *buf, size_t more);

/* Append bytes, a text, one byte, formatted text. */
void ks_buf_append(struct ks_buf *buf, struct ks_span bytes);
void ks_buf_text(struct ks_buf *buf, const char *text);
void ks_buf_byte(struct ks_buf *buf, uint8_t byte);
void ks_buf_printf(struct ks_buf *buf, const char *format, ...)
	KS_PRINTF(2, 3);

/* What the buffer holds; valid until it next changes. */
struct ks_span ks_buf_span(const struct ks_buf *buf);

/* The contents as NUL-terminated text (the NUL is not counted in len); "" on
 * failure. Valid until the buffer next changes. */
const char *ks_buf_cstr(struct ks_buf *buf);

/* KS_OK, or KS_NOMEM when any append failed. */
enum ks_status ks_buf_check(const struct ks_buf *buf, struct ks_error *err)
	KS_CHECKED;

#endif
