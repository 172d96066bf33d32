/*
 * Telling the caller of a long operation what goes on.
 */
#ifndef KS_STORE_WATCH_H
#define KS_STORE_WATCH_H

#include "kistore.h"

/* Tell a watcher something; `watch` and its members may be NULL. */
void ks_watch_note(const struct ks_watch *watch, const char *format, ...)
	KS_PRINTF(2, 3);
void ks_watch_progress(const struct ks_watch *watch, const char *phase,
	uint64_t done, uint64_t total);
/* KS_CANCELLED when the caller wants to stop. */
enum ks_status ks_watch_check(const struct ks_watch *watch,
	struct ks_error *err) KS_CHECKED;

/* Wait until a file can be read, however long a pipe has nothing to say; what
 * is wrong with it, read() tells. KS_CANCELLED when the caller wants to
 * stop. */
enum ks_status ks_watch_wait(const struct ks_watch *watch, int fd,
	struct ks_error *err) KS_CHECKED;

#endif
