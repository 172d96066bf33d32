#include "store/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>

#define SLICE_MS 200

void
ks_watch_note(const struct ks_watch *watch, const char *format, ...)
{
	char text[KS_ERROR_MESSAGE_MAX];
	va_list args;

	if (watch == NULL || watch->note == NULL)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	watch->note(watch->arg, text);
}

void
ks_watch_progress(const struct ks_watch *watch, const char *phase,
	uint64_t done, uint64_t total)
{
	if (watch != NULL && watch->progress != NULL)
		watch->progress(watch->arg, phase, done, total);
}

enum ks_status
ks_watch_check(const struct ks_watch *watch, struct ks_error *err)
{
	if (watch == NULL || watch->cancelled == NULL ||
		!watch->cancelled(watch->arg))
		return KS_OK;
	return ks_fail(err, KS_CANCELLED, "interrupted");
}

enum ks_status
ks_watch_wait(const struct ks_watch *watch, int fd, struct ks_error *err)
{
	struct pollfd file = { .fd = fd, .events = POLLIN };
	enum ks_status status;
	int ready;

	/* In slices: a signal that came just before would not end a wait. */
	do {
		status = ks_watch_check(watch, err);
		ready = status == KS_OK ? poll(&file, 1, SLICE_MS) : 1;
	} while (ready == 0 || (ready < 0 && errno == EINTR));
	return status;
}
