/*
 * What the commands about snapshot files say of one.
 */
#ifndef KS_CLI_SNAPFILE_H
#define KS_CLI_SNAPFILE_H

#include "cli/cmd.h"

/* Append lines that say what a snapshot file holds, each with its LF; texts in
 * them are made harmless. */
void ks_cli_snapfile_text(const struct ks_snapshot_file *file,
	struct ks_buf *out);

/* The same as members of a document. */
struct ks_doc;
void ks_cli_snapfile_doc(struct ks_doc *doc,
	const struct ks_snapshot_file *file);

/* What was found about a file: those lines, the signature, what was not
 * checked; to standard output. */
void ks_cli_snapfile_print(const struct ks_file_result *result);
void ks_cli_snapfile_doc_result(struct ks_doc *doc,
	const struct ks_file_result *result);

/* Where what does not fit in memory goes: $TMPDIR, or NULL. */
const char *ks_cli_temporary(void);

#endif
