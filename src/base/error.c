#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

void
ks_record(struct ks_error *err, enum ks_status status, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return;
	err->status = status;
	va_start(args, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
}

static enum ks_status
status_of_errno(int code)
{
	if (code == ENOMEM)
		return KS_NOMEM;
	return code == ENOENT ? KS_NOT_FOUND : KS_IO;
}

enum ks_status
ks_fail_errno(struct ks_error *err, const char *format, ...)
{
	int code = errno;
	enum ks_status status = status_of_errno(code);
	char reason[128];
	va_list args;
	int used;

	if (err == NULL)
		return status;
	err->status = status;
	va_start(args, format);
	used = vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	if (used < 0 || (size_t)used >= sizeof(err->message))
		return status;
	if (strerror_r(code, reason, sizeof(reason)) != 0)
		(void)snprintf(reason, sizeof(reason), "error %d", code);
	(void)snprintf(err->message + used,
		sizeof(err->message) - (size_t)used, ": %s", reason);
	return status;
}

enum ks_status
ks_context(struct ks_error *err, const char *format, ...)
{
	char inner[KS_ERROR_MESSAGE_MAX];
	va_list args;
	size_t room;
	int used;

	if (err == NULL)
		return KS_IO;
	memcpy(inner, err->message, sizeof(inner));
	va_start(args, format);
	used = vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	if (used < 0 || (size_t)used + 3 >= sizeof(err->message))
		return err->status;
	room = sizeof(err->message) - (size_t)used - 3;
	(void)snprintf(err->message + used, room + 3, ": %.*s", (int)room,
		inner);
	return err->status;
}

const char *
ks_status_name(enum ks_status status)
{
	switch (status) {
	case KS_OK: return "ok";
	case KS_NOT_FOUND: return "not-found";
	case KS_AMBIGUOUS: return "ambiguous";
	case KS_EXISTS: return "exists";
	case KS_INVALID: return "invalid";
	case KS_CORRUPT: return "corrupt";
	case KS_USAGE: return "usage";
	case KS_BUSY: return "busy";
	case KS_CANCELLED: return "cancelled";
	case KS_IO: return "io";
	case KS_NOMEM: return "no-memory";
	case KS_UNTRUSTED: return "untrusted";
	case KS_REVOKED: return "revoked";
	case KS_UNSUPPORTED: return "unsupported";
	}
	return "unknown";
}

/* Characters that would change how a terminal shows what follows: C0, DEL,
 * C1, bidirectional controls, line separators, the BOM. */
static bool
is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
		(c >= 0x200e && c <= 0x200f) ||
		(c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

char *
ks_printable(char *out, size_t size, struct ks_span text)
{
	size_t used = 0;
	size_t i = 0;

	while (i < text.len) {
		uint32_t c = 0;
		size_t n = ks_utf8_decode(ks_span(text.data + i, text.len - i),
			&c);
		bool plain = n != 0 && !is_unsafe(c);
		size_t bytes = n == 0 ? 1 : n;
		size_t need = plain ? bytes : 4 * bytes;
		size_t k;

		if (used + need >= size)
			break;
		if (plain) {
			memcpy(out + used, text.data + i, bytes);
			used += bytes;
		} else for (k = 0; k < bytes; k++) {
			(void)snprintf(out + used, size - used, "\\x%02x",
				text.data[i + k]);
			used += 4;
		}
		i += bytes;
	}
	out[used] = '\0';
	return out;
}
