#include "cli/opt.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/out.h"

/* Options of one command, the shared ones included. */
#define OPTIONS_MAX 64

#define WIDTH 80	/* of help text */
#define HELP_COLUMN 26	/* where explanations start */

#define WAIT_MAX 86400	/* seconds: a day */

struct parser {
	struct ks_opt options[OPTIONS_MAX];
	bool seen[OPTIONS_MAX];
	size_t count;
	const char *command;	/* its name, for messages */
	int argc;
	char **argv;
	int at;			/* the argument being read */
	struct ks_error *err;
};

/* ---- The tables ------------------------------------------------------- */

static void
add_option(struct parser *parser, const struct ks_opt *option, bool seen)
{
	assert(parser->count < OPTIONS_MAX);
	parser->options[parser->count] = *option;
	parser->seen[parser->count] = seen;
	parser->count++;
}

/* The options that `features` names; those given before the command's name
 * count as seen. */
static void
add_shared(struct parser *parser, struct ks_cli *cli, unsigned features)
{
	const struct ks_opt store = KS_TEXT('C', NULL, "DIR", &cli->directory,
		"the store, instead of $KISTORE_DIR or the one around "
		"the current directory");
	const struct ks_opt json = KS_FLAG(0, "json", &cli->json,
		"print JSON");
	const struct ks_opt progress = KS_FLAG(0, "progress", &cli->progress,
		"report progress off a terminal too");
	const struct ks_opt at = KS_TEXT(0, "at", "REV", &cli->at,
		"the state at a log size, date, tag or commit");
	const struct ks_opt unsigned_ = KS_FLAG(0, "unsigned",
		&cli->with_unsigned,
		"what is not signed as well, though the origin is pinned");
	const struct ks_opt wait = KS_NUMBER(0, "wait", "SECONDS",
		&cli->wait, 0, WAIT_MAX,
		"how long to wait for another writer (30)");
	const struct ks_opt quiet = KS_FLAG('q', NULL, &cli->quiet,
		"print results and errors only");
	const struct ks_opt verbose = KS_FLAG('v', NULL, &cli->verbose,
		"say more");

	if ((features & KS_HAS_STORE) != 0)
		add_option(parser, &store, cli->directory != NULL);
	if ((features & KS_HAS_JSON) != 0)
		add_option(parser, &json, cli->json);
	if ((features & KS_HAS_PROGRESS) != 0)
		add_option(parser, &progress, cli->progress);
	if ((features & KS_HAS_AT) != 0)
		add_option(parser, &at, false);
	if ((features & KS_HAS_VIEW) != 0)
		add_option(parser, &unsigned_, false);
	if ((features & KS_HAS_WAIT) != 0)
		add_option(parser, &wait, false);
	add_option(parser, &quiet, cli->quiet);
	add_option(parser, &verbose, cli->verbose);
}

/* Two options of one spelling are a mistake in a table, not in the input. */
static bool
is_sound(const struct parser *parser)
{
	size_t i, k;

	for (i = 0; i < parser->count; i++) {
		const struct ks_opt *a = &parser->options[i];

		if (a->letter == 'h' || (a->letter == 0 && a->name == NULL))
			return false;
		for (k = 0; k < i; k++) {
			const struct ks_opt *b = &parser->options[k];

			if (a->letter != 0 && a->letter == b->letter)
				return false;
			if (a->name != NULL && b->name != NULL &&
				strcmp(a->name, b->name) == 0)
				return false;
		}
	}
	return true;
}

/* ---- Reading arguments ------------------------------------------------ */

static enum ks_status
fail_unknown(const struct parser *parser, const char *dashes, const char *name,
	size_t len)
{
	return ks_fail(parser->err, KS_USAGE,
		"unknown option %s%.*s (see: kistore %s%s--help)", dashes,
		(int)len, name, parser->command,
		*parser->command == '\0' ? "" : " ");
}

/* How messages name an option: "--json", "-C". */
static const char *
spelling(const struct ks_opt *option, char out[64])
{
	if (option->name == NULL)
		(void)snprintf(out, 64, "-%c", option->letter);
	else
		(void)snprintf(out, 64, "--%s", option->name);
	return out;
}

bool
ks_opt_number(const char *text, int64_t min, int64_t max, int64_t *out)
{
	bool negative = *text == '-';
	const char *digit = text + negative;
	int64_t value = 0;

	if (*digit == '\0')
		return false;
	for (; *digit != '\0'; digit++) {
		if (*digit < '0' || *digit > '9')
			return false;
		if (value > (INT64_MAX - (*digit - '0')) / 10)
			return false;
		value = value * 10 + (*digit - '0');
	}
	value = negative ? -value : value;
	if (value < min || value > max)
		return false;
	*out = value;
	return true;
}

/* Give an option its value (NULL for a flag). */
static enum ks_status
set_option(struct parser *parser, size_t index, const char *value)
{
	const struct ks_opt *option = &parser->options[index];
	char name[64];

	if (parser->seen[index] && option->list == NULL)
		return ks_fail(parser->err, KS_USAGE,
			"option %s is given twice", spelling(option, name));
	parser->seen[index] = true;
	if (option->flag != NULL)
		*option->flag = true;
	else if (option->text != NULL)
		*option->text = value;
	else if (option->list != NULL)
		option->list->items[option->list->count++] = value;
	else if (!ks_opt_number(value, option->min, option->max,
		option->number))
		return ks_fail(parser->err, KS_USAGE,
			"option %s needs a number from %lld to %lld, not '%s'",
			spelling(option, name), (long long)option->min,
			(long long)option->max, value);
	return KS_OK;
}

/* Give an option the value `attached` to it, or else the next argument. */
static enum ks_status
set_value(struct parser *parser, size_t index, const char *attached)
{
	const struct ks_opt *option = &parser->options[index];
	char name[64];

	if (attached != NULL)
		return set_option(parser, index, attached);
	if (parser->at + 1 >= parser->argc)
		return ks_fail(parser->err, KS_USAGE,
			"option %s needs a value: %s", spelling(option, name),
			option->value);
	parser->at++;
	return set_option(parser, index, parser->argv[parser->at]);
}

/* --name, --name VALUE or --name=VALUE; `text` is behind the dashes. */
static enum ks_status
read_long(struct parser *parser, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t len = equals == NULL ? strlen(text) : (size_t)(equals - text);
	size_t i;

	for (i = 0; i < parser->count; i++) {
		const struct ks_opt *option = &parser->options[i];

		if (option->name == NULL ||
			!ks_span_is(ks_span(text, len), option->name))
			continue;
		if (option->flag == NULL)
			return set_value(parser, i,
				equals == NULL ? NULL : equals + 1);
		if (equals != NULL)
			return ks_fail(parser->err, KS_USAGE,
				"option --%s takes no value", option->name);
		return set_option(parser, i, NULL);
	}
	return fail_unknown(parser, "--", text, len);
}

/* -abc, -oVALUE or -o VALUE; `text` is behind the dash. */
static enum ks_status
read_short(struct parser *parser, const char *text)
{
	for (; *text != '\0'; text++) {
		enum ks_status status;
		size_t i = 0;

		while (i < parser->count &&
			parser->options[i].letter != *text)
			i++;
		if (i == parser->count)
			return fail_unknown(parser, "-", text, 1);
		if (parser->options[i].flag == NULL)
			return set_value(parser, i,
				text[1] == '\0' ? NULL : text + 1);
		status = set_option(parser, i, NULL);
		if (status != KS_OK)
			return status;
	}
	return KS_OK;
}

/* One argument that starts with '-' and is neither "-" nor "--". */
static enum ks_status
read_option(struct parser *parser)
{
	const char *text = parser->argv[parser->at];

	if (text[1] == '-')
		return read_long(parser, text + 2);
	return read_short(parser, text + 1);
}

static bool
is_option(const char *text)
{
	return text[0] == '-' && text[1] != '\0';
}

static bool
is_help(const char *text)
{
	return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

/* ---- A command's arguments -------------------------------------------- */

/* One block of memory for the operands and for every list: none can hold
 * more than all arguments. */
static enum ks_status
reserve_lists(struct parser *parser, struct ks_cli *cli)
{
	size_t each = (size_t)parser->argc + 1;
	size_t lists = 1;
	const char **next;
	size_t i;

	for (i = 0; i < parser->count; i++)
		lists += parser->options[i].list != NULL;
	next = calloc(lists * each, sizeof(*next));
	if (next == NULL)
		return ks_fail_nomem(parser->err);
	cli->scratch = next;
	cli->operands = next;
	cli->operand_count = 0;
	for (i = 0; i < parser->count; i++) {
		if (parser->options[i].list == NULL)
			continue;
		next += each;
		parser->options[i].list->items = next;
		parser->options[i].list->count = 0;
	}
	return KS_OK;
}

/* Read every argument; *help is set, and reading ends, at --help. */
static enum ks_status
read_arguments(struct parser *parser, struct ks_cli *cli, bool *help)
{
	bool ended = false;

	for (parser->at = 0; parser->at < parser->argc; parser->at++) {
		const char *text = parser->argv[parser->at];
		enum ks_status status;

		if (ended || !is_option(text)) {
			cli->operands[cli->operand_count++] = text;
			continue;
		}
		if (strcmp(text, "--") == 0) {
			ended = true;
			continue;
		}
		if (is_help(text)) {
			*help = true;
			return KS_OK;
		}
		status = read_option(parser);
		if (status != KS_OK)
			return status;
	}
	return KS_OK;
}

static enum ks_status
check_required(const struct parser *parser)
{
	char name[64];
	size_t i;

	for (i = 0; i < parser->count; i++)
		if (parser->options[i].required && !parser->seen[i])
			return ks_fail(parser->err, KS_USAGE,
				"%s needs %s %s", parser->command,
				spelling(&parser->options[i], name),
				parser->options[i].value);
	return KS_OK;
}

static enum ks_status
check_operands(const struct ks_cli *cli, struct ks_error *err)
{
	const struct ks_cmd *cmd = cli->cmd;

	if (cli->operand_count < cmd->min)
		return ks_fail(err, KS_USAGE,
			"%s needs %s (see: kistore %s --help)", cmd->name,
			cmd->operands, cmd->name);
	if (cli->operand_count > cmd->max)
		return ks_fail(err, KS_USAGE,
			"%s has no use for '%s' (see: kistore %s --help)",
			cmd->name, cli->operands[cmd->max], cmd->name);
	return KS_OK;
}

static enum ks_status
print_help(const struct ks_cli *cli, const struct parser *parser)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	ks_opt_help(cli->cmd, parser->options, parser->count, &text);
	if (cli->examples != NULL)
		ks_buf_printf(&text, "\nexamples:\n%s", cli->examples);
	status = ks_buf_check(&text, parser->err);
	if (status == KS_OK)
		ks_out_bytes(ks_buf_span(&text));
	ks_buf_release(&text);
	return status;
}

bool
ks_opt_parse(struct ks_cli *cli, const struct ks_opt *options, size_t count,
	enum ks_status *status, struct ks_error *err)
{
	struct parser parser = { .command = cli->cmd->name, .argc = cli->argc,
		.argv = cli->argv, .err = err };
	bool help = false;
	size_t i;

	for (i = 0; i < count; i++)
		add_option(&parser, &options[i], false);
	add_shared(&parser, cli, cli->cmd->features);
	assert(is_sound(&parser));
	*status = reserve_lists(&parser, cli);
	if (*status == KS_OK)
		*status = read_arguments(&parser, cli, &help);
	if (*status != KS_OK)
		return false;
	if (help) {
		*status = print_help(cli, &parser);
		return false;
	}
	*status = check_required(&parser);
	if (*status == KS_OK)
		*status = check_operands(cli, err);
	if (*status == KS_OK)
		ks_out_watch(cli);
	return *status == KS_OK;
}

enum ks_status
ks_opt_parse_global(struct ks_cli *cli, int argc, char **argv, int *used,
	struct ks_error *err)
{
	struct parser parser = { .command = "", .argc = argc, .argv = argv,
		.err = err };

	add_shared(&parser, cli,
		KS_HAS_STORE | KS_HAS_JSON | KS_HAS_PROGRESS);
	for (parser.at = 0; parser.at < argc; parser.at++) {
		const char *text = argv[parser.at];
		enum ks_status status;

		if (!is_option(text) || is_help(text) ||
			strcmp(text, "--version") == 0)
			break;
		status = read_option(&parser);
		if (status != KS_OK)
			return status;
	}
	*used = parser.at;
	return KS_OK;
}

/* ---- Help --------------------------------------------------------------- */

/* Append `words` from column *column on, broken at blanks so that no line is
 * longer than WIDTH; further lines start at `indent`. */
static void
wrap(struct ks_buf *out, const char *words, size_t *column, size_t indent)
{
	while (*words != '\0') {
		size_t len = strcspn(words, " ");

		if (*column > indent && *column + 1 + len > WIDTH) {
			ks_buf_printf(out, "\n%*s", (int)indent, "");
			*column = indent;
		} else if (*column > indent) {
			ks_buf_byte(out, ' ');
			*column += 1;
		}
		ks_buf_append(out, ks_span(words, len));
		*column += len;
		words += len;
		words += strspn(words, " ");
	}
}

/* Append a piece of the usage line that must not be broken. */
static void
add_usage(struct ks_buf *out, const char *piece, size_t *column, size_t indent)
{
	size_t len = strlen(piece);

	if (*column + 1 + len > WIDTH) {
		ks_buf_printf(out, "\n%*s", (int)indent - 1, "");
		*column = indent - 1;
	}
	ks_buf_printf(out, " %s", piece);
	*column += 1 + len;
}

static void
usage_line(const struct ks_cmd *cmd, const struct ks_opt *options,
	size_t count, struct ks_buf *out)
{
	static const char lead[] = "usage: kistore";
	size_t indent = sizeof(lead);
	size_t column = indent + strlen(cmd->name);
	size_t i;

	ks_buf_printf(out, "%s %s", lead, cmd->name);
	for (i = 0; i < count; i++) {
		const struct ks_opt *option = &options[i];
		char piece[128];
		char name[64];

		/* -C, -q and -v go without saying. */
		if (option->name == NULL &&
			strchr("Cqv", option->letter) != NULL)
			continue;
		(void)snprintf(piece, sizeof(piece), "%s%s%s%s%s%s",
			option->required ? "" : "[", spelling(option, name),
			option->value == NULL ? "" : " ",
			option->value == NULL ? "" : option->value,
			option->required ? "" : "]",
			option->list == NULL ? "" : "...");
		add_usage(out, piece, &column, indent);
	}
	if (*cmd->operands != '\0')
		add_usage(out, cmd->operands, &column, indent);
	ks_buf_byte(out, '\n');
}

static void
option_line(const struct ks_opt *option, struct ks_buf *out)
{
	size_t start = out->len;
	size_t column;

	if (option->letter != 0)
		ks_buf_printf(out, "  -%c%s", option->letter,
			option->name == NULL ? "" : ", ");
	else
		ks_buf_text(out, "      ");
	if (option->name != NULL)
		ks_buf_printf(out, "--%s", option->name);
	if (option->value != NULL)
		ks_buf_printf(out, " %s", option->value);
	column = out->len - start;
	if (column + 2 > HELP_COLUMN) {
		ks_buf_byte(out, '\n');
		column = 0;
	}
	if (column < HELP_COLUMN)
		ks_buf_printf(out, "%*s", (int)(HELP_COLUMN - column), "");
	column = HELP_COLUMN;
	wrap(out, option->help, &column, HELP_COLUMN);
	ks_buf_byte(out, '\n');
}

void
ks_opt_help(const struct ks_cmd *cmd, const struct ks_opt *options,
	size_t count, struct ks_buf *out)
{
	size_t column = 0;
	size_t i;

	usage_line(cmd, options, count, out);
	ks_buf_byte(out, '\n');
	wrap(out, cmd->summary, &column, 0);
	ks_buf_text(out, "\n\n");
	for (i = 0; i < count; i++)
		option_line(&options[i], out);
}
