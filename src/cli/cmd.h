/*
 * What every command gets, and what it hands back.
 *
 * A command is a function that reads its arguments with ks_opt_parse(), calls
 * the library, writes results with the functions of cli/out.h, and returns a
 * status: main() prints the error, flushes standard output and turns the
 * status into the exit code. A command that has told the whole story itself
 * (a report of damage, say) returns the status with an empty message.
 *
 *	enum ks_status
 *	ks_cmd_get(struct ks_cli *cli, struct ks_error *err)
 *	{
 *		bool page = false;
 *		const struct ks_opt options[] = {
 *			KS_FLAG(0, "page", &page, "as KernelIndex shows it"),
 *		};
 *		enum ks_status status;
 *
 *		if (!ks_opt_parse(cli, options, KS_COUNT(options), &status,
 *			err))
 *			return status;
 *		...
 */
#ifndef KS_CLI_CMD_H
#define KS_CLI_CMD_H

#include "base/error.h"
#include "cli/commands.h"
#include "kistore.h"

#define KS_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KS_ANY SIZE_MAX

/* Options that commands share; -q, -v and --help are everybody's. */
enum ks_feature {
	KS_HAS_STORE = 1,	/* -C DIR */
	KS_HAS_JSON = 2,	/* --json */
	KS_HAS_PROGRESS = 4,	/* --progress */
	KS_HAS_AT = 8,		/* --at REV */
	KS_HAS_WAIT = 16,	/* --wait SECONDS, of those that write */
	KS_HAS_VIEW = 32	/* --unsigned, of those that only read */
};

struct ks_cli;

/* One row of the table. */
struct ks_cmd {
	const char *name;
	const char *operands;
	size_t min, max;
	unsigned features;
	const char *summary;
	enum ks_status (*run)(struct ks_cli *cli, struct ks_error *err);
};

/* The state of one invocation. main() owns what it points at. */
struct ks_cli {
	const struct ks_cmd *cmd;

	/* The shared options and the environment. */
	const char *directory;	/* -C, else $KISTORE_DIR, else NULL */
	bool quiet;		/* -q: no notes, no progress */
	bool verbose;		/* -v */
	bool json;		/* --json */
	bool progress;		/* --progress: lines even off a terminal */
	const char *at;		/* --at, else NULL */
	bool with_unsigned;	/* --unsigned: beyond what is signed, too */
	bool verified;		/* what is read is covered by a checkpoint
				 * of a pinned key (set by ks_cli_open_view) */
	int64_t wait;		/* --wait: seconds to wait for a lock */

	/* Set before ks_opt_parse(): lines for the end of --help. */
	const char *examples;

	/* What follows the command's name, before ks_opt_parse(). */
	int argc;
	char **argv;

	/* The operands, after ks_opt_parse(). */
	const char **operands;
	size_t operand_count;

	/* Set by a command once a store was changed, so that a failure to
	 * print the receipt does not read as a failure of the change. */
	bool changed;

	struct ks_watch watch;	/* for long operations: see cli/out.h */
	uint64_t next_progress;	/* milliseconds: when to draw again, */
	bool progress_drawn;	/* and whether a line stands on the terminal */
	void *scratch;		/* memory behind operands and lists */
};

/* The default of --wait. */
#define KS_CLI_WAIT 30

/* An environment variable; NULL when it is not set or empty. */
const char *ks_cli_environment(const char *name);

/* The store that -C, $KISTORE_DIR or the current directory names, at the state
 * `at` (NULL = the newest). */
enum ks_status ks_cli_open(struct ks_cli *cli, const char *at,
	struct ks_store **out, struct ks_error *err) KS_CHECKED;

/* The same, at --at, for a command that only reads: where the store's origin
 * is pinned, what is signed is all that is seen; else it is said once, where
 * anything is signed, that nothing is verified. */
enum ks_status ks_cli_open_view(struct ks_cli *cli, struct ks_store **out,
	struct ks_error *err) KS_CHECKED;

/* The options that all writers share: --wait; the clock, or $SOURCE_DATE_EPOCH
 * (KS_USAGE when that is not a number of seconds). */
enum ks_status ks_cli_write_options(struct ks_cli *cli,
	struct ks_write_options *out, struct ks_error *err) KS_CHECKED;

/* POSIX seconds of $SOURCE_DATE_EPOCH, else of the clock. */
enum ks_status ks_cli_now(int64_t *seconds, struct ks_error *err) KS_CHECKED;

/* The exit code for a status (store-layout.md, table "exit codes"), and the
 * graver of two statuses: 1, 8, 5, 6, 3, 7 in that order, then 4 and 2. */
int ks_cli_exit_code(enum ks_status status);
enum ks_status ks_cli_worse(enum ks_status a, enum ks_status b);

/* From now on the first SIGINT or SIGTERM asks for an orderly end and the
 * second one ends; whether one has come; end by it, so that a shell sees what
 * happened. */
void ks_cli_catch_signals(void);
bool ks_cli_interrupted(void);
void ks_cli_die_of_signal(void);

#define X(id, name, operands, min, max, features, summary) \
	enum ks_status ks_cmd_##id(struct ks_cli *cli, struct ks_error *err);
KS_COMMANDS(X)
#undef X

#endif
