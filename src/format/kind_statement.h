/*
 * The in-toto Statement inside an Attestation (store-layout.md K31). Private
 * to format/kind*.c.
 */
#ifndef KS_FORMAT_KIND_STATEMENT_H
#define KS_FORMAT_KIND_STATEMENT_H

#include "base/error.h"
#include "format/id.h"

/* Read the payload of a DSSE envelope (the base64 text of an in-toto
 * Statement v1) and give its one subject's SHA-256 digest. KS_INVALID with the
 * rule that it breaks, worded to follow the name of the payload. */
enum ks_status ks_kind_statement(struct ks_span payload,
	struct ks_id *subject, struct ks_error *err) KS_CHECKED;

#endif
