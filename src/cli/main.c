#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"

#define X(id, name_, operands_, min_, max_, features_, summary_) \
	{ .name = name_, .operands = operands_, .min = min_, .max = max_, \
		.features = features_, .summary = summary_, \
		.run = ks_cmd_##id },
static const struct ks_cmd commands[] = { KS_COMMANDS(X) };
#undef X

/* How wide the longest name of a command is. */
static int
name_width(void)
{
	size_t width = 0, i;

	for (i = 0; i < KS_COUNT(commands); i++)
		if (strlen(commands[i].name) > width)
			width = strlen(commands[i].name);
	return (int)width;
}

static void
print_usage(void)
{
	size_t i;

	ks_out_printf("usage: kistore [-C DIR] [-q] [-v] COMMAND ...\n"
		"       kistore COMMAND --help\n"
		"       kistore --help | --version\n"
		"\n"
		"an archive of benchmark records, each named by its SHA-256\n"
		"\n");
	for (i = 0; i < KS_COUNT(commands); i++)
		ks_out_printf("  %-*s  %s\n", name_width(), commands[i].name,
			commands[i].summary);
}

/* How many of `words` spell the name of `cmd`: 0, 1 or 2. */
static int
match_name(const struct ks_cmd *cmd, int count, char **words)
{
	const char *blank = strchr(cmd->name, ' ');
	size_t first = blank == NULL ? strlen(cmd->name) :
		(size_t)(blank - cmd->name);

	if (!ks_span_equal(ks_span(cmd->name, first),
		ks_span_text(words[0])))
		return 0;
	if (blank == NULL)
		return 1;
	return count > 1 && strcmp(blank + 1, words[1]) == 0 ? 2 : 0;
}

static const struct ks_cmd *
find_command(int count, char **words, int *used)
{
	size_t i;

	for (i = 0; i < KS_COUNT(commands); i++) {
		*used = match_name(&commands[i], count, words);
		if (*used > 0)
			return &commands[i];
	}
	return NULL;
}

/* No row fits `word`: say so, or which second words there are. */
static enum ks_status
fail_unknown(const char *word, struct ks_error *err)
{
	struct ks_buf words = KS_BUF_INIT;
	size_t len = strlen(word);
	enum ks_status status;
	size_t i;

	for (i = 0; i < KS_COUNT(commands); i++) {
		const char *name = commands[i].name;

		if (strncmp(name, word, len) == 0 && name[len] == ' ')
			ks_buf_printf(&words, "%s%s",
				words.len == 0 ? "" : ", ", name + len + 1);
	}
	if (words.len == 0)
		status = ks_fail(err, KS_USAGE,
			"unknown command '%s' (see: kistore --help)", word);
	else
		status = ks_fail(err, KS_USAGE, "%s needs one of: %s", word,
			ks_buf_cstr(&words));
	ks_buf_release(&words);
	return status;
}

static enum ks_status
check_features(const struct ks_cli *cli, struct ks_error *err)
{
	unsigned features = cli->cmd->features;

	if (cli->json && (features & KS_HAS_JSON) == 0)
		return ks_fail(err, KS_USAGE, "%s has no --json",
			cli->cmd->name);
	if (cli->progress && (features & KS_HAS_PROGRESS) == 0)
		return ks_fail(err, KS_USAGE, "%s has no --progress",
			cli->cmd->name);
	return KS_OK;
}

static enum ks_status
run_command(struct ks_cli *cli, int argc, char **argv, struct ks_error *err)
{
	enum ks_status status;
	int used;

	cli->cmd = find_command(argc, argv, &used);
	if (cli->cmd == NULL)
		return fail_unknown(argv[0], err);
	cli->argc = argc - used;
	cli->argv = argv + used;
	status = check_features(cli, err);
	if (status != KS_OK)
		return status;
	/* Commands that have no store and make none have nothing to put in
	 * order. */
	if ((cli->cmd->features & (KS_HAS_STORE | KS_HAS_WAIT)) != 0)
		ks_cli_catch_signals();
	return cli->cmd->run(cli, err);
}

static enum ks_status
run(struct ks_cli *cli, int argc, char **argv, struct ks_error *err)
{
	int used;
	enum ks_status status = ks_opt_parse_global(cli, argc, argv, &used,
		err);

	if (status != KS_OK)
		return status;
	if (used == argc)
		return ks_fail(err, KS_USAGE,
			"which command? (see: kistore --help)");
	if (strcmp(argv[used], "--version") == 0) {
		ks_out_printf("kistore %s (format %s)\n", KISTORE_VERSION,
			KISTORE_FORMAT);
		return KS_OK;
	}
	if (argv[used][0] == '-') {
		print_usage();
		return KS_OK;
	}
	return run_command(cli, argc - used, argv + used, err);
}

/* Report a failure; a command that has said everything left no message. */
static void
report(struct ks_cli *cli, enum ks_status status, struct ks_error *err)
{
	if (status == KS_OK || err->message[0] == '\0')
		return;
	err->status = status;
	ks_out_error(cli, err);
}

int
main(int argc, char **argv)
{
	struct ks_cli cli = { .wait = KS_CLI_WAIT };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_error finish_err = KS_ERROR_INIT;
	enum ks_status status, finish;

	if (argc < 1)
		return ks_cli_exit_code(KS_USAGE);
	ks_out_start();
	status = run(&cli, argc - 1, argv + 1, &err);
	report(&cli, status, &err);
	finish = ks_out_finish(&cli, &finish_err);
	cli.json = false;	/* nothing more fits on standard output */
	report(&cli, finish, &finish_err);
	free(cli.scratch);
	if (ks_cli_interrupted() && status != KS_OK)
		ks_cli_die_of_signal();
	return ks_cli_exit_code(ks_cli_worse(status, finish));
}
