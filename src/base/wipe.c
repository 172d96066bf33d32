#include "base/wipe.h"

/* Called through a pointer that may change at any time, as far as the compiler
 * knows, so that the call stays although nobody reads the bytes again. */
static void *(*const volatile fill)(void *, int, size_t) = memset;

void
ks_wipe(void *bytes, size_t len)
{
	if (len > 0)
		(void)fill(bytes, 0, len);
}

void
ks_buf_wipe(struct ks_buf *buf)
{
	ks_wipe(buf->data, buf->cap);
	ks_buf_release(buf);
}
