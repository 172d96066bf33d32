/*
 * The in-toto Statement inside an Attestation (store-layout.md, section
 * "kinds"). Private to format/kind*.c.
 */
#ifndef KS_FORMAT_KIND_STATEMENT_H
#define KS_FORMAT_KIND_STATEMENT_H

#include "base/error.h"
#include "format/id.h"

/* Read the payload of a DSSE envelope (the base64 text of an in-toto
 * Statement v1) and give its one subject's SHA-256 digest. KS_INVALID with
 * the rule that it breaks, worded to follow the name of the payload; KS_NOMEM.
 * Members that the standard does not name are ignored, as it demands. */
enum ks_status ks_statement_read(struct ks_span payload,
	struct ks_id *subject, struct ks_error *err) KS_CHECKED;

#endif
