/*
 * Options by which the user says whom to trust, and what came of it.
 *
 *	struct ks_cli_trust trust = KS_CLI_TRUST_INIT;
 *	const struct ks_opt options[] = {
 *		KS_TRUST_OPTIONS(&trust),
 *	};
 *	...
 *	status = ks_cli_trust_read(cli, &trust, err);
 *	... uses &trust.options ...
 *	ks_cli_trust_release(&trust);
 */
#ifndef KS_CLI_TRUST_H
#define KS_CLI_TRUST_H

#include "cli/cmd.h"
#include "cli/opt.h"

struct ks_cli_trust {
	struct ks_opt_list keys;	/* --key, texts or files */
	const char *origin, *policy, *since, *revoked;
	bool pin;
	/* Made by ks_cli_trust_read(): */
	struct ks_trust_options options;
	struct ks_buf *texts;		/* of the keys, then of the files */
	struct ks_span *spans;
	struct ks_buf state;
};

#define KS_CLI_TRUST_INIT { .keys = KS_OPT_LIST_INIT, .state = KS_BUF_INIT }

#define KS_TRUST_OPTIONS(trust) \
	KS_LIST(0, "key", "KEY", &(trust)->keys, \
		"trust this key: a vkey, an SSH line, PEM, or a file"), \
	KS_TEXT(0, "origin", "NAME", &(trust)->origin, \
		"the origin of a key that is no vkey"), \
	KS_TEXT(0, "policy", "FILE", &(trust)->policy, \
		"trust as this tlog-policy file says"), \
	KS_TEXT(0, "since", "FILE", &(trust)->since, \
		"the log must extend this signed note"), \
	KS_TEXT(0, "revoked", "FILE", &(trust)->revoked, \
		"the last good note of a key that is revoked"), \
	KS_FLAG(0, "pin", &(trust)->pin, \
		"remember the key that signed for this origin")

/* Read what the options name; the directory of pins and memory is
 * $XDG_STATE_HOME/kistore, or ~/.local/state/kistore. */
enum ks_status ks_cli_trust_read(struct ks_cli *cli,
	struct ks_cli_trust *trust, struct ks_error *err) KS_CHECKED;
void ks_cli_trust_release(struct ks_cli_trust *trust);

/* The directory of pins and memory: appended, nothing where neither variable
 * is set, or there is no such home. */
void ks_cli_state_directory(struct ks_buf *out);

/* Whether `text` is itself a key, rather than the name of a file with one. */
bool ks_cli_is_key(const char *text);

/* Append what KEY stands for: itself, or the contents of that file. */
enum ks_status ks_cli_key_text(const char *key, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* A time as "YYYY-MM-DDTHH:MM:SSZ". */
#define KS_CLI_TIME 32
void ks_cli_time(int64_t seconds, char out[KS_CLI_TIME]);

/* The lines of a summary that tell the verdict; of these the one that says
 * where the evidence of a fork is; and a member "signature" of a document. */
void ks_cli_print_signature(const struct ks_signature_result *result);
void ks_cli_print_evidence(const struct ks_signature_result *result);
struct ks_doc;
void ks_cli_doc_signature(struct ks_doc *doc,
	const struct ks_signature_result *result);

#endif
