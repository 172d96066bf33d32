/*
 * Members of a deterministic ustar archive (POSIX.1-2008 pax; store-layout.md
 * S10): regular files only, and nothing of their headers is free but name and
 * size. So a header is read by writing it again.
 */
#ifndef KS_FORMAT_TAR_H
#define KS_FORMAT_TAR_H

#include "base/error.h"

#define KS_TAR_BLOCK 512
#define KS_TAR_NAME 100			/* bytes, without NUL */
#define KS_TAR_SIZE ((uint64_t)1 << 33)	/* a member is shorter than this */

struct ks_tar_member {
	char name[KS_TAR_NAME + 1];
	uint64_t size;
};

/* Write the header of a member. KS_INVALID when the name is empty or longer
 * than KS_TAR_NAME, or the size not below KS_TAR_SIZE. */
enum ks_status ks_tar_write(const char *name, uint64_t size,
	uint8_t block[KS_TAR_BLOCK], struct ks_error *err) KS_CHECKED;

/* Read a header. KS_CORRUPT, with the first field that differs, unless it is
 * to the byte what ks_tar_write() writes for its name and size. */
enum ks_status ks_tar_read(const uint8_t block[KS_TAR_BLOCK],
	struct ks_tar_member *out, struct ks_error *err) KS_CHECKED;

/* How many zero bytes follow the data of a member: up to the next multiple of
 * KS_TAR_BLOCK. */
size_t ks_tar_padding(uint64_t size);

/* Whether all bytes are zero, as those of padding and of the two blocks that
 * end an archive are. */
bool ks_tar_is_zero(struct ks_span bytes);

#endif
