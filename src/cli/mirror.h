/*
 * What the commands about mirrors share.
 */
#ifndef KS_CLI_MIRROR_H
#define KS_CLI_MIRROR_H

#include "cli/cmd.h"

/* Tell the verdict of a clone, an update or a status (`kind` names the
 * document), in text or JSON. Returns what the verdict is an error of, with no
 * message: it has been told. */
enum ks_status ks_cli_mirror_tell(struct ks_cli *cli, const char *kind,
	const struct ks_mirror_result *result, struct ks_error *err)
	KS_CHECKED;

/* Parse the options, clone (of the two operands) or update, and tell. */
enum ks_status ks_cli_mirror_follow(struct ks_cli *cli, bool clone,
	struct ks_error *err) KS_CHECKED;

/* The directory that -C or $KISTORE_DIR names, or NULL. */
const char *ks_cli_mirror_directory(const struct ks_cli *cli);

#endif
