/*
 * A secret that is typed on the terminal, which does not show it.
 *
 * The terminal is the one that controls the process, whatever standard input
 * is. Its echo comes back after errors and signals, too: a signal that ends
 * or stops the process takes effect once it is back.
 */
#ifndef KS_CLI_PROMPT_H
#define KS_CLI_PROMPT_H

#include "base/buf.h"
#include "base/error.h"

/* Ask for `what`, as in "passphrase for FILE", and where `twice` once more,
 * until both are typed or it fails. *out, which is empty, gets the
 * line without its LF, and no copy of it is left elsewhere; whatever the
 * outcome, the caller wipes it.
 *
 * KS_IO without a terminal, KS_CANCELLED after a signal; KS_INVALID for a line
 * of more than `limit` bytes, and where the second differs. */
enum ks_status ks_prompt(const char *what, bool twice, size_t limit,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

#endif
