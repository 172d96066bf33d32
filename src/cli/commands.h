/*
 * The commands, each one row:
 *
 *	X(identifier, "name", "operands", min, max, features, "summary")
 *
 * The function behind a row is ks_cmd_identifier() in cmd_identifier.c; a name
 * may be two words. `operands` is how usage shows them, `min` and `max` how
 * many there may be (KS_ANY: no limit), `features` which of the options that
 * commands share it takes. Adding a command is a row and its file.
 */
#ifndef KS_CLI_COMMANDS_H
#define KS_CLI_COMMANDS_H

#define KS_COMMANDS(X) \
	X(canon, "canon", "FILE|-", 1, 1, 0, \
		"print the canonical bytes of a JSON text") \
	X(digest, "digest", "FILE...|-", 1, KS_ANY, KS_HAS_JSON, \
		"print the digest of every manifest in files")

#endif
