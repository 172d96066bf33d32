/*
 * Bytes put aside: in memory while they are few, then in a file without a
 * name, which the system frees however the process ends.
 *
 *	ks_spool_new(&spool, directory, &err);
 *	ks_spool_add(spool, bytes, &place, &err);
 *	ks_spool_get(spool, place, len, &scratch, &bytes, &err);
 */
#ifndef KS_BASE_SPOOL_H
#define KS_BASE_SPOOL_H

#include "base/buf.h"
#include "base/error.h"

/* How many bytes are kept in memory. */
#define KS_SPOOL_MEMORY ((size_t)32 << 20)

struct ks_spool;

/* `directory` (kept by the caller, with a trailing '/') is where the file
 * would be made. */
enum ks_status ks_spool_new(struct ks_spool **out, const char *directory,
	size_t memory, struct ks_error *err) KS_CHECKED;
void ks_spool_free(struct ks_spool *spool);

/* Put `bytes` aside; `place` is where ks_spool_get() finds them. */
enum ks_status ks_spool_add(struct ks_spool *spool, struct ks_span bytes,
	uint64_t *place, struct ks_error *err) KS_CHECKED;

/* The `len` bytes at `place`: a span into the spool, valid until it is freed,
 * or into `scratch` (whose former contents are lost). Several threads may read
 * at once while nobody adds. */
enum ks_status ks_spool_get(const struct ks_spool *spool, uint64_t place,
	size_t len, struct ks_buf *scratch, struct ks_span *bytes,
	struct ks_error *err) KS_CHECKED;

#endif
