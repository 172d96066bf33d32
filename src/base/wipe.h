/*
 * Secrets are overwritten before their memory goes back.
 *
 * A buffer that grows leaves copies of what it held behind: what holds a
 * secret is made large enough at first (ks_buf_reserve()).
 */
#ifndef KS_BASE_WIPE_H
#define KS_BASE_WIPE_H

#include "base/buf.h"

/* Overwrite secret bytes, in a way that compilers do not leave out. */
void ks_wipe(void *bytes, size_t len);

/* Wipe a buffer's memory and release it. */
void ks_buf_wipe(struct ks_buf *buf);

#endif
