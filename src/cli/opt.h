/*
 * Options, declared by a table of a command's own locals.
 *
 *	const char *source = NULL;
 *	int64_t lines = 20;
 *	const struct ks_opt options[] = {
 *		KS_TEXT(0, "source", "FILE", &source, "what it is"),
 *		KS_NUMBER('n', "lines", "N", &lines, 1, 1000, "how many"),
 *	};
 *
 * Usage and --help come from the same table. Options may stand before or
 * after operands; "--" ends them and "-" is an operand. A value follows as
 * --name=VALUE, --name VALUE, -nVALUE or -n VALUE; single letters without a
 * value may be joined. Names are never abbreviated, and an option that is not
 * a list may be given once.
 */
#ifndef KS_CLI_OPT_H
#define KS_CLI_OPT_H

#include "base/error.h"
#include "cli/cmd.h"

/* Values of an option that may be repeated, in order. */
struct ks_opt_list {
	const char **items;
	size_t count;
};

#define KS_OPT_LIST_INIT { .items = NULL, .count = 0 }

/* One option. Which of the four targets is set says what it takes. */
struct ks_opt {
	char letter;		/* 'o' for -o, or 0 */
	bool required;
	const char *name;	/* "dry-run" for --dry-run, or NULL */
	const char *value;	/* "FILE" in usage; NULL for a flag */
	const char *help;	/* a phrase: lower case, no full stop */
	bool *flag;
	const char **text;
	struct ks_opt_list *list;
	int64_t *number;
	int64_t min, max;	/* of the number */
};

#define KS_FLAG(short_, long_, target_, help_) \
	{ .letter = short_, .name = long_, .flag = target_, .help = help_ }
#define KS_TEXT(short_, long_, value_, target_, help_) \
	{ .letter = short_, .name = long_, .value = value_, \
		.text = target_, .help = help_ }
#define KS_REQUIRED(short_, long_, value_, target_, help_) \
	{ .letter = short_, .name = long_, .value = value_, \
		.text = target_, .help = help_, .required = true }
#define KS_LIST(short_, long_, value_, target_, help_) \
	{ .letter = short_, .name = long_, .value = value_, \
		.list = target_, .help = help_ }
#define KS_NUMBER(short_, long_, value_, target_, min_, max_, help_) \
	{ .letter = short_, .name = long_, .value = value_, \
		.number = target_, .min = min_, .max = max_, .help = help_ }

/* Read the command's arguments: sets the targets, the shared options and
 * cli->operands. False when the command is over before it began: *status is
 * KS_OK after --help, KS_USAGE with the message after a mistake. */
bool ks_opt_parse(struct ks_cli *cli, const struct ks_opt *options,
	size_t count, enum ks_status *status, struct ks_error *err) KS_CHECKED;

/* Read the options before the command's name (-C, -q, -v, --json, --progress):
 * *used is how many arguments they took. The caller handles --help and
 * --version, where this stops. */
enum ks_status ks_opt_parse_global(struct ks_cli *cli, int argc, char **argv,
	int *used, struct ks_error *err) KS_CHECKED;

/* "usage: kistore put [--source FILE] … PATH…", wrapped at 80 columns, then
 * summary and options: appended to `out`. */
void ks_opt_help(const struct ks_cmd *cmd, const struct ks_opt *options,
	size_t count, struct ks_buf *out);

/* Whether `text` is a decimal integer within the bounds (no blanks, no '+'). */
bool ks_opt_number(const char *text, int64_t min, int64_t max, int64_t *out);

#endif
