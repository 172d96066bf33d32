/*
 * Permalinks: the addresses of KernelIndex's pages about one record.
 *
 *	https://kernelindex.com/runs/ID-OR-DIGEST
 *	https://kernelindex.com/serving-runs/ID-OR-DIGEST
 *	https://kernelindex.com/operations/SLUG
 *	https://kernelindex.com/implementations/SLUG
 *	https://kernelindex.com/projects/SLUG
 *
 * http does as well; scheme and host are in any case. A slash at the end, a
 * query and a fragment say nothing about the record: an operation's page shows
 * another workload with ?workload=ID.
 */
#ifndef KS_FORMAT_PERMALINK_H
#define KS_FORMAT_PERMALINK_H

#include "base/buf.h"
#include "format/id.h"
#include "format/uuid.h"

#define KS_PERMALINK_SLUG_MAX 200

enum ks_permalink_form {
	KS_PERMALINK_NONE,	/* no address of that host */
	KS_PERMALINK_OTHER,	/* one that is no record's */
	KS_PERMALINK_DIGEST,
	KS_PERMALINK_ID,
	KS_PERMALINK_SLUG
};

struct ks_permalink {
	enum ks_permalink_form form;
	const char *kind;	/* full, static: of the record */
	struct ks_id digest;
	uint8_t id[KS_UUID_BYTES];
	char slug[KS_PERMALINK_SLUG_MAX + 1];
};

/* Read an address; link->form says what it is. */
void ks_permalink_read(struct ks_span text, struct ks_permalink *link);

/* Append the address of a record of `kind` (full) by its id or digest; nothing
 * where pages of that kind have slugs, or there are none. */
void ks_permalink_print(struct ks_buf *out, const char *kind,
	struct ks_span key);

#endif
