/*
 * Errors as values.
 *
 * Every fallible function returns an enum ks_status and takes a caller-owned
 * struct ks_error as its last argument, which may be NULL when the caller does
 * not want the text. The detector words the message once: lower case, one
 * line, no full stop, naming the object and the rule; callers add only what
 * the detector could not know, with ks_context().
 *
 *	struct ks_error err = KS_ERROR_INIT;
 *	if (ks_file_read(path, limit, &buf, &err) != KS_OK)
 *		return ks_context(&err, "dictionary %s", path);
 */
#ifndef KS_BASE_ERROR_H
#define KS_BASE_ERROR_H

#include "base/span.h"

/* What a caller may do about a failure; the exit codes of the program follow
 * from it (store-layout.md, table "exit codes"). */
enum ks_status {
	KS_OK = 0,
	KS_NOT_FOUND,	/* no such object, name or store */
	KS_AMBIGUOUS,	/* a reference with more than one reading */
	KS_EXISTS,	/* what was to be created is there already */
	KS_INVALID,	/* input refused: a rule of intake is broken */
	KS_CORRUPT,	/* stored or judged bytes are damaged or forged */
	KS_USAGE,	/* the call itself makes no sense */
	KS_BUSY,	/* a lock is held by another process */
	KS_CANCELLED,	/* the caller's cancel flag was seen */
	KS_IO,		/* the system could not read or write */
	KS_NOMEM,	/* out of memory */
	KS_UNTRUSTED,	/* trust was asked for and is missing */
	KS_REVOKED,	/* proven, but retracted or superseded */
	KS_UNSUPPORTED	/* a newer format or an unknown git extension */
};

#define KS_ERROR_MESSAGE_MAX 1024

/* The last failure: its status and one line of text. */
struct ks_error {
	enum ks_status status;
	char message[KS_ERROR_MESSAGE_MAX];
};

#define KS_ERROR_INIT { .status = KS_OK, .message = "" }

#if defined(__GNUC__)
#define KS_PRINTF(text, args) __attribute__((format(printf, text, args)))
#define KS_CHECKED __attribute__((warn_unused_result))
#else
#define KS_PRINTF(text, args)
#define KS_CHECKED
#endif

/* Record a failure and return its status; `err` may be NULL. A macro around a
 * function, so that compilers and analysers see what it returns; `status` is
 * evaluated twice. */
void ks_record(struct ks_error *err, enum ks_status status,
	const char *format, ...) KS_PRINTF(3, 4);
#define ks_fail(err, status, ...) \
	(ks_record((err), (status), __VA_ARGS__), (enum ks_status)(status))

/* Record a failed system call: the text, ": " and strerror(errno). The status
 * is KS_NOMEM for ENOMEM, KS_NOT_FOUND for ENOENT, else KS_IO. */
enum ks_status ks_fail_errno(struct ks_error *err, const char *format, ...)
	KS_PRINTF(2, 3);

/* Record KS_NOMEM with its fixed text. */
static inline enum ks_status
ks_fail_nomem(struct ks_error *err)
{
	return ks_fail(err, KS_NOMEM, "out of memory");
}

/* Put "TEXT: " in front of the message recorded; returns its status. */
enum ks_status ks_context(struct ks_error *err, const char *format, ...)
	KS_PRINTF(2, 3);

/* A short English name of a status, as in "corrupt" (static). */
const char *ks_status_name(enum ks_status status);

/* A copy of `text`, cut to what fits, in which bytes that are not printable
 * UTF-8 (and control or bidirectional characters) are written as \xHH. `out`
 * has `size` > 0 bytes and is always terminated. Returns `out`. */
char *ks_printable(char *out, size_t size, struct ks_span text);

#endif
