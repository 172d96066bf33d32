/*
 * The reference tree of a record, as resolve --tree shows it.
 */
#ifndef KS_CLI_TREE_H
#define KS_CLI_TREE_H

#include "cli/cmd.h"
#include "cli/out.h"

/* Print it with lines drawn, in UTF-8 where the locale has it. Nothing is
 * printed when it cannot be walked to its end. */
enum ks_status ks_tree_print(struct ks_store *store,
	const struct ks_id *digest, struct ks_error *err) KS_CHECKED;

/* Add it to a document, as the array "tree". */
enum ks_status ks_tree_add(struct ks_store *store, const struct ks_id *digest,
	struct ks_doc *doc, struct ks_error *err) KS_CHECKED;

#endif
