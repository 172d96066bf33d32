/*
 * Rows of KernelIndex's catalogue export (store-layout.md, section "rows").
 *
 * A row is read by its table: it holds manifests, is itself the content of a
 * Source or an Artifact, names an operation's alias, or follows from other
 * rows and is left out. Part of format/intake.h; nothing else calls it.
 */
#ifndef KS_FORMAT_ROW_H
#define KS_FORMAT_ROW_H

#include "format/intake.h"

/* Tell `visitor` what `value` holds, if it is a row: an object with a string
 * `table` and an object `row`; *is_row says whether. Fails as
 * ks_intake_read(). */
enum ks_status ks_row_read(struct ks_intake *intake, struct ks_span value,
	bool *is_row, const struct ks_intake_visitor *visitor,
	struct ks_error *err) KS_CHECKED;

#endif
