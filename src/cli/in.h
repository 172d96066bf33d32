/*
 * Files that are given as arguments.
 */
#ifndef KS_CLI_IN_H
#define KS_CLI_IN_H

#include "base/buf.h"
#include "base/error.h"

/* Append what the file `path` ("-" = standard input) holds: anything that can
 * be read to its end, a pipe too. KS_INVALID when it is longer than `limit`
 * bytes, KS_IO when it is not there or cannot be read. The message names the
 * file. */
enum ks_status ks_in_read(const char *path, uint64_t limit,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* Whether `path`, which may be NULL, is standard input. */
bool ks_in_is_stdin(const char *path);

/* KS_USAGE when the operands, and `more` others, are standard input more than
 * once. */
enum ks_status ks_in_once(const char *const *operands, size_t count,
	unsigned more, struct ks_error *err) KS_CHECKED;

/* How messages name `path`: "standard input" for "-". */
const char *ks_in_name(const char *path);

#endif
