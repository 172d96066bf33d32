/*
 * Secrets that commands need: private keys and their passphrases.
 *
 * Neither ever stands among the arguments or in a message. A passphrase is the
 * first line of a file, or typed on the terminal, which does not show it.
 *
 *	struct ks_secret secret = { .file = NULL };
 *	const struct ks_opt options[] = {
 *		KS_SECRET_OPTIONS(&secret),
 *	};
 *	...
 *	status = ks_secret_arguments(cli, err);
 *	...
 *	status = ks_secret_signer(cli, path, &secret, &signer, err);
 */
#ifndef KS_CLI_SECRET_H
#define KS_CLI_SECRET_H

#include "base/wipe.h"
#include "cli/cmd.h"
#include "cli/opt.h"

struct ks_secret {
	const char *file;	/* --passphrase-file, or NULL */
	bool ask;		/* --passphrase */
};

#define KS_SECRET_OPTIONS(secret) \
	KS_FLAG(0, "passphrase", &(secret)->ask, \
		"ask for the key's passphrase on the terminal"), \
	KS_TEXT(0, "passphrase-file", "FILE", &(secret)->file, \
		"the passphrase is the first line of this file")

/* KS_USAGE where one of the command's arguments is a private key: others on
 * the machine see arguments, and messages quote them. For before
 * ks_opt_parse(). */
enum ks_status ks_secret_arguments(const struct ks_cli *cli,
	struct ks_error *err) KS_CHECKED;

/* KS_USAGE where both options are given, and where standard input would have
 * to be both passphrase and `path`. */
enum ks_status ks_secret_check(const struct ks_secret *secret,
	const char *path, struct ks_error *err) KS_CHECKED;

/* The passphrase for the key `path`, which the terminal is asked for once or,
 * where it is a new one, twice. *out, which is empty, gets it; the caller
 * wipes it (ks_buf_wipe()), after a failure too. KS_INVALID when it is empty,
 * too long, or not the same twice; KS_IO without a terminal; KS_CANCELLED
 * after a signal. */
enum ks_status ks_secret_passphrase(const struct ks_secret *secret,
	const char *path, bool is_new, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* What a key's text is wanted for. KS_UNTRUSTED asks for the passphrase, or
 * for the right one. */
typedef enum ks_status ks_secret_use_fn(void *arg, struct ks_span text,
	struct ks_span passphrase, struct ks_error *err);

/* Read the key file `path` ("-" = standard input), and let `use` have its
 * text: first without a passphrase and, if it asks, with one. The message
 * names the file; what was read is wiped. *open_to_others says whether more
 * than its owner may read or change that file. */
enum ks_status ks_secret_key(const char *path, const struct ks_secret *secret,
	ks_secret_use_fn *use, void *arg, bool *open_to_others,
	struct ks_error *err) KS_CHECKED;

/* Warn that a private key is open to others. */
void ks_secret_warn(struct ks_cli *cli, const char *path);

/* The signer in the file `path`, whose mode is warned about. */
enum ks_status ks_secret_signer(struct ks_cli *cli, const char *path,
	const struct ks_secret *secret, struct ks_signer **out,
	struct ks_error *err) KS_CHECKED;

#endif
