/*
 * The writer's lock: flock(2) on kistore.lock in the git directory.
 *
 * The kernel frees it when the holder dies, however it dies, so there are no
 * stale locks. The file stays; it holds the commit id that the last writer was
 * about to publish and, until git's index and the work tree show that commit,
 * the word "checkout" (store-layout.md, section "writers").
 */
#ifndef KS_STORE_LOCK_H
#define KS_STORE_LOCK_H

#include "base/error.h"

struct ks_lock {
	int fd;	/* -1 while not held */
};

#define KS_LOCK_INIT { .fd = -1 }
#define KS_LOCK_NAME "kistore.lock"

struct ks_watch;

/* Take the lock in `directory` (with a trailing '/'), waiting at most
 * `wait_ms` milliseconds (negative: for ever). KS_BUSY when it stays held,
 * KS_CANCELLED when a signal or the watcher (which may be NULL) says so.
 * A symbolic link or anything but a regular file at that name is KS_IO. */
enum ks_status ks_lock_take(struct ks_lock *lock, const char *directory,
	int wait_ms, const struct ks_watch *watch, struct ks_error *err)
	KS_CHECKED;

/* Give it back; a lock that is not held is left alone. */
void ks_lock_release(struct ks_lock *lock);

/* Replace, durably, or read what the file says ("" when empty or absent);
 * `text` has room for `size` bytes with the NUL. */
enum ks_status ks_lock_write(const char *directory, const char *text,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_lock_read(const char *directory, char *text, size_t size,
	struct ks_error *err) KS_CHECKED;

#endif
