/*
 * Which commit `--at` means.
 */
#ifndef KS_STORE_REVISION_H
#define KS_STORE_REVISION_H

#include "store/gitdb.h"

/* The commit on the first-parent line from `head` that `at` names: digits are
 * a log size (the newest commit that has it), YYYY-MM-DD or
 * YYYY-MM-DDTHH:MM:SSZ a time (the newest commit not after it; a bare date
 * means its last second), anything else a git revision. KS_NOT_FOUND. */
enum ks_status ks_revision_find(struct ks_gitdb *db,
	const struct ks_oid *head, const char *at, struct ks_oid *commit,
	struct ks_error *err) KS_CHECKED;

/* How many lines the log in `tree` has. */
enum ks_status ks_revision_log_size(struct ks_gitdb *db,
	const struct ks_oid *tree, uint64_t *size, struct ks_error *err)
	KS_CHECKED;

#endif
