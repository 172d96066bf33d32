/*
 * What may be told of a key, printed.
 */
#ifndef KS_CLI_OUT_KEY_H
#define KS_CLI_OUT_KEY_H

#include "cli/cmd.h"

/* The document "kistore-key/1". */
enum ks_status ks_out_key_json(const struct ks_key_info *info,
	struct ks_error *err) KS_CHECKED;

#endif
