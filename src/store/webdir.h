/*
 * A directory that a web server shows: files in it appear whole, durably, and
 * nothing in it is followed elsewhere.
 *
 * Paths are relative to the directory ("tile/0/000"). Directories on the way
 * are made as needed; one that is a symbolic link or a file is refused (KS_IO),
 * and so is what stands in the place of a file and is no regular one. Files get
 * mode 0644 and directories 0755, whatever the umask (store-layout.md W3).
 *
 *	ks_webdir_open(&dir, path, &err);	one process at a time
 *	ks_webdir_write(dir, "tile/0/000", bytes, &err);
 *	ks_webdir_flush(dir, &err);		all is on disk, by name
 *	ks_webdir_write(dir, "checkpoint", note, &err);
 *	ks_webdir_close(dir);
 *
 * It remembers the directory of the last path: files are best taken in order.
 */
#ifndef KS_STORE_WEBDIR_H
#define KS_STORE_WEBDIR_H

#include "base/buf.h"
#include "base/error.h"

struct ks_webdir;

/* Open the directory at `path`, made if absent (not its parents), and lock it:
 * KS_BUSY when another process has. Clears away what a dead one was writing.
 * `path` itself may be a symbolic link. */
enum ks_status ks_webdir_open(struct ks_webdir **out, const char *path,
	struct ks_error *err) KS_CHECKED;

/* The same, but nothing is made: KS_NOT_FOUND. */
enum ks_status ks_webdir_find(struct ks_webdir **out, const char *path,
	struct ks_error *err) KS_CHECKED;

/* Flushes nothing. NULL is allowed. */
void ks_webdir_close(struct ks_webdir *dir);

/* Append a file. KS_NOT_FOUND, KS_INVALID when it is longer than `limit`. */
enum ks_status ks_webdir_read(struct ks_webdir *dir, const char *path,
	uint64_t limit, struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* How long a file is; KS_NOT_FOUND. */
enum ks_status ks_webdir_length(struct ks_webdir *dir, const char *path,
	uint64_t *length, struct ks_error *err) KS_CHECKED;

/* Make or replace a file, its bytes flushed to disk; its name is with the next
 * ks_webdir_flush(). */
enum ks_status ks_webdir_write(struct ks_webdir *dir, const char *path,
	struct ks_span bytes, struct ks_error *err) KS_CHECKED;

/* The same, but a file that has these bytes is left alone; *written says
 * whether it was not. `written` may be NULL. */
enum ks_status ks_webdir_update(struct ks_webdir *dir, const char *path,
	struct ks_span bytes, bool *written, struct ks_error *err) KS_CHECKED;

/* The same in pieces: *fd is a new file, for reading and writing, which is put
 * at its place once it is filled, or dropped. One of a kind at a time. */
enum ks_webdir_new {
	KS_WEBDIR_FILE,
	KS_WEBDIR_PACK,
	KS_WEBDIR_PACK_INDEX,	/* made by another program, by name */
	KS_WEBDIR_KINDS
};
enum ks_status ks_webdir_start(struct ks_webdir *dir, enum ks_webdir_new kind,
	int *fd, struct ks_error *err) KS_CHECKED;
enum ks_status ks_webdir_place(struct ks_webdir *dir, enum ks_webdir_new kind,
	const char *path, struct ks_error *err) KS_CHECKED;
void ks_webdir_drop(struct ks_webdir *dir, enum ks_webdir_new kind);

/* The name by which others find such a file. Owned by dir. */
const char *ks_webdir_new_name(struct ks_webdir *dir,
	enum ks_webdir_new kind);

/* Remove a file, if it is there; an empty directory; a directory and all that
 * is in it, links not followed. */
enum ks_status ks_webdir_remove(struct ks_webdir *dir, const char *path,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_webdir_remove_all(struct ks_webdir *dir, const char *path,
	struct ks_error *err) KS_CHECKED;

/* Append the names in a directory ("" = the topmost), each with a NUL, in order
 * of bytes; none where it is absent. */
enum ks_status ks_webdir_list(struct ks_webdir *dir, const char *path,
	struct ks_buf *names, struct ks_error *err) KS_CHECKED;

/* Everything that was written and removed so far is so after a power cut. */
enum ks_status ks_webdir_flush(struct ks_webdir *dir, struct ks_error *err)
	KS_CHECKED;

/* What was done so far. */
struct ks_webdir_counts {
	uint64_t written, bytes, removed;
};
struct ks_webdir_counts ks_webdir_counts(const struct ks_webdir *dir);

#endif
