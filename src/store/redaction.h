/*
 * Carrying out takedowns (store-layout.md X3): objects leave the tree, and
 * lines of the log are replaced by '-' and the hex digits of their leaf hash,
 * so that root and proofs stay as they are.
 */
#ifndef KS_STORE_REDACTION_H
#define KS_STORE_REDACTION_H

#include "store/writing.h"

struct ks_redaction {
	struct ks_id *objects;
	size_t object_count, object_room;
	uint64_t *lines;
	size_t line_count, line_room;
	/* What was there to remove and redact, once carried out. */
	uint64_t removed, redacted;
};

#define KS_REDACTION_INIT { .objects = NULL, .lines = NULL }

void ks_redaction_release(struct ks_redaction *redaction);

/* Add an object to remove; an entry of the log to redact (one that is redacted
 * already, or was added before, does no harm). */
enum ks_status ks_redaction_add_object(struct ks_redaction *redaction,
	const struct ks_id *digest, struct ks_error *err) KS_CHECKED;
enum ks_status ks_redaction_add_line(struct ks_redaction *redaction,
	uint64_t index, struct ks_error *err) KS_CHECKED;

/* Do all of it in a change that is being written, after its own lines. */
enum ks_status ks_redaction_carry_out(struct ks_redaction *redaction,
	struct ks_writing *writing, struct ks_error *err) KS_CHECKED;

#endif
