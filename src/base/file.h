/*
 * Files: read whole within a limit, replaced whole and durably.
 *
 * What is read is a regular file: a FIFO or a device is refused without
 * waiting for it. What is written appears complete under its name or not at
 * all, also after a power cut: temporary beside the target, fsync, rename,
 * fsync of the directory (store-layout.md, section "durability").
 */
#ifndef KS_BASE_FILE_H
#define KS_BASE_FILE_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* Append the whole file to `out`. KS_NOT_FOUND when there is none, KS_INVALID
 * when it is longer than `limit`, KS_IO when it is not a regular file or
 * cannot be read. After a failure `out` is as before. */
enum ks_status ks_file_read(const char *path, uint64_t limit,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* The same, but a symbolic link at `path` itself is refused (KS_IO). A
 * relative path starts at the open directory `dir`, or at the current one
 * when `dir` is KS_FILE_CWD. */
#define KS_FILE_CWD (-1)
enum ks_status ks_file_read_at(int dir, const char *path, uint64_t limit,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* Append what is left to read of an open file, pipe or terminal. `name` is
 * for messages. */
enum ks_status ks_file_read_fd(int fd, const char *name, uint64_t limit,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* Write all of `bytes` to an open file. */
enum ks_status ks_file_write(int fd, const char *name, struct ks_span bytes,
	struct ks_error *err) KS_CHECKED;

/* Flush a file or a directory to disk. */
enum ks_status ks_file_sync(const char *path, struct ks_error *err)
	KS_CHECKED;

/* Flush the directory that `path` stands in. */
enum ks_status ks_file_sync_parent(const char *path, struct ks_error *err)
	KS_CHECKED;

/* What the name of a temporary begins with: one who dies leaves it. */
#define KS_FILE_TEMPORARY ".kistore-"

/* Make `path` a new regular file that holds `bytes`, with `mode` (less the
 * umask), in place of what is there; durable when it returns. A symbolic link
 * at `path` is replaced, not followed. After a failure `path` is as before
 * (only a failing fsync of the directory leaves the new file there), and the
 * temporary is gone. */
enum ks_status ks_file_replace(const char *path, struct ks_span bytes,
	mode_t mode, struct ks_error *err) KS_CHECKED;

/* Make `path`, which must not be there (KS_EXISTS), a file that holds
 * `bytes`, flushed to disk; its directory is not. */
enum ks_status ks_file_create(const char *path, struct ks_span bytes,
	mode_t mode, struct ks_error *err) KS_CHECKED;

#endif
