/*
 * The commands that append one entry about one object: annotate, retract,
 * supersede, restore, takedown.
 *
 *	struct ks_change change = KS_CHANGE_INIT;
 *
 *	status = ks_change_begin(&change, cli, err);
 *	if (status == KS_OK)
 *		status = ks_restore(change.store, &change.digest, reason,
 *			&change.options, err);
 *	return ks_change_end(&change, cli, "restore", status, err);
 */
#ifndef KS_CLI_CHANGE_H
#define KS_CLI_CHANGE_H

#include "cli/cmd.h"

struct ks_change {
	struct ks_store *store;
	struct ks_id digest;	/* what the first operand means */
	struct ks_write_options options;
};

#define KS_CHANGE_INIT { .store = NULL }

enum ks_status ks_change_begin(struct ks_change *change, struct ks_cli *cli,
	struct ks_error *err) KS_CHECKED;

/* Close the store and, where the change was made (`status` is KS_OK), print
 * the index of its entry and the digest. Returns the status of it all. */
enum ks_status ks_change_end(struct ks_change *change, struct ks_cli *cli,
	const char *op, enum ks_status status, struct ks_error *err)
	KS_CHECKED;

#endif
