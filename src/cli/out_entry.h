/*
 * Entries of the log, as the log command prints them.
 */
#ifndef KS_CLI_OUT_ENTRY_H
#define KS_CLI_OUT_ENTRY_H

#include "base/error.h"

/* A line for people: index (padded to `width`), time, op, digest, and what
 * there is to say: kind and name, reason, successor. */
enum ks_status ks_out_entry(uint64_t index, int width, struct ks_span line,
	struct ks_error *err) KS_CHECKED;

/* A JSON document: {"schema","index","entry","verified"}, with "redacted" (the
 * leaf hash) or "damaged" (the text) in place of an entry that is not there. */
enum ks_status ks_out_entry_json(uint64_t index, struct ks_span line,
	bool verified, struct ks_error *err) KS_CHECKED;

#endif
