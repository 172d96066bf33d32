/*
 * Options of the command line: cli/opt.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/opt.h"

#define ARGS_MAX 8

/* What the table under test fills. */
struct values {
	bool flag;
	const char *text;
	int64_t number;
	struct ks_opt_list list;
	struct ks_cli cli;
	struct ks_error err;
};

static const struct ks_cmd command = {
	.name = "try", .operands = "FILE...", .min = 0, .max = 2,
	.features = KS_HAS_STORE | KS_HAS_JSON, .summary = "try options",
};

/* Read `words`, separated by blanks ('_' is an empty word). */
static bool
parse(struct values *values, const char *words, enum ks_status *status)
{
	char copy[128];
	char *argv[ARGS_MAX];
	int argc = 0;
	char *word;
	char *rest = NULL;
	const struct ks_opt options[] = {
		KS_FLAG('f', "flag", &values->flag, "a flag"),
		KS_TEXT('o', "output", "FILE", &values->text, "a text"),
		KS_NUMBER('n', "lines", "N", &values->number, -5, 100,
			"a number"),
		KS_LIST(0, "add", "X", &values->list, "a list"),
	};

	*values = (struct values){ .cli = { .cmd = &command },
		.err = KS_ERROR_INIT };
	(void)snprintf(copy, sizeof(copy), "%s", words);
	for (word = strtok_r(copy, " ", &rest);
		word != NULL && argc < ARGS_MAX;
		word = strtok_r(NULL, " ", &rest)) {
		if (*word == '_')
			*word = '\0';
		argv[argc++] = word;
	}
	values->cli.argc = argc;
	values->cli.argv = argv;
	return ks_opt_parse(&values->cli, options, KS_COUNT(options), status,
		&values->err);
}

static void
assert_parses(struct values *values, const char *words)
{
	enum ks_status status;

	if (!parse(values, words, &status))
		fail_msg("%s: %s", words, values->err.message);
	assert_int_equal(status, KS_OK);
	/* argv is gone; what points into it must not be looked at. */
}

static void
assert_refused(const char *words, const char *message)
{
	struct values values;
	enum ks_status status;

	assert_false(parse(&values, words, &status));
	assert_int_equal(status, KS_USAGE);
	assert_string_equal(values.err.message, message);
	free(values.cli.scratch);
}

static void
all_spellings_of_a_value_are_read(void **state)
{
	static const char *const spellings[] = { "--lines=7", "--lines 7",
		"-n7", "-n 7", "-fn7", "-fn 7", "x -n 7 y", "-- x y -n" };
	size_t i;

	(void)state;
	for (i = 0; i < 7; i++) {
		struct values values;

		assert_parses(&values, spellings[i]);
		assert_int_equal(values.number, 7);
		assert_int_equal(values.flag, i == 4 || i == 5);
		assert_int_equal(values.cli.operand_count, i == 6 ? 2 : 0);
		free(values.cli.scratch);
	}
	assert_refused(spellings[7], "try has no use for '-n' "
		"(see: kistore try --help)");
}

static void
what_is_not_given_stays_as_it_was(void **state)
{
	struct values values;

	(void)state;
	assert_parses(&values, "");
	assert_false(values.flag);
	assert_null(values.text);
	assert_int_equal(values.number, 0);
	assert_int_equal(values.list.count, 0);
	assert_int_equal(values.cli.operand_count, 0);
	free(values.cli.scratch);
}

static void
a_list_keeps_every_value(void **state)
{
	struct values values;

	(void)state;
	assert_parses(&values, "--add=a x --add b --add=");
	assert_int_equal(values.list.count, 3);
	assert_int_equal(values.cli.operand_count, 1);
	free(values.cli.scratch);
}

static void
a_dash_and_an_empty_word_are_operands(void **state)
{
	struct values values;

	(void)state;
	assert_parses(&values, "- _");
	assert_int_equal(values.cli.operand_count, 2);
	free(values.cli.scratch);
}

static void
shared_options_are_read_where_the_command_has_them(void **state)
{
	struct values values;

	(void)state;
	assert_parses(&values, "-qv --json -C dir");
	assert_true(values.cli.quiet);
	assert_true(values.cli.verbose);
	assert_true(values.cli.json);
	assert_non_null(values.cli.directory);
	free(values.cli.scratch);
	assert_refused("--progress",
		"unknown option --progress (see: kistore try --help)");
}

static void
mistakes_are_refused_by_name(void **state)
{
	static const struct {
		const char *words;
		const char *message;
	} cases[] = {
		{ "--fla", "unknown option --fla (see: kistore try --help)" },
		{ "--flags", "unknown option --flags "
			"(see: kistore try --help)" },
		{ "--=x", "unknown option -- (see: kistore try --help)" },
		{ "-x", "unknown option -x (see: kistore try --help)" },
		{ "-fx", "unknown option -x (see: kistore try --help)" },
		{ "---flag", "unknown option ---flag "
			"(see: kistore try --help)" },
		{ "-f --flag", "option --flag is given twice" },
		{ "-ff", "option --flag is given twice" },
		{ "-o a --output=b", "option --output is given twice" },
		{ "-C a -C b", "option -C is given twice" },
		{ "--flag=", "option --flag takes no value" },
		{ "--output", "option --output needs a value: FILE" },
		{ "x -o", "option --output needs a value: FILE" },
		{ "-n 101", "option --lines needs a number from -5 to 100, "
			"not '101'" },
		{ "-n -6", "option --lines needs a number from -5 to 100, "
			"not '-6'" },
		{ "-n 7x", "option --lines needs a number from -5 to 100, "
			"not '7x'" },
		{ "-n +7", "option --lines needs a number from -5 to 100, "
			"not '+7'" },
		{ "-n -", "option --lines needs a number from -5 to 100, "
			"not '-'" },
		{ "-n _", "option --lines needs a number from -5 to 100, "
			"not ''" },
		{ "a b c", "try has no use for 'c' "
			"(see: kistore try --help)" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < KS_COUNT(cases); i++)
		assert_refused(cases[i].words, cases[i].message);
}

static void
numbers_are_bounded_decimal_integers(void **state)
{
	int64_t value = 0;

	(void)state;
	assert_true(ks_opt_number("9223372036854775807", 0, INT64_MAX,
		&value));
	assert_true(value == INT64_MAX);
	assert_true(ks_opt_number("-3", -3, 3, &value));
	assert_int_equal(value, -3);
	assert_true(ks_opt_number("007", 0, 10, &value));
	assert_int_equal(value, 7);
	assert_false(ks_opt_number("9223372036854775808", 0, INT64_MAX,
		&value));
	assert_false(ks_opt_number("99999999999999999999999", 0, INT64_MAX,
		&value));
	assert_false(ks_opt_number("", 0, 1, &value));
	assert_false(ks_opt_number(" 1", 0, 1, &value));
	assert_false(ks_opt_number("1 ", 0, 1, &value));
	assert_false(ks_opt_number("0x1", 0, 1, &value));
	assert_false(ks_opt_number("1e0", 0, 1, &value));
	assert_false(ks_opt_number("--1", -1, 1, &value));
}

static void
a_required_option_that_is_missing_is_named(void **state)
{
	const char *key = NULL;
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "key", "FILE", &key, "the key"),
	};
	struct ks_cli cli = { .cmd = &command };
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status;

	(void)state;
	assert_false(ks_opt_parse(&cli, options, 1, &status, &err));
	assert_int_equal(status, KS_USAGE);
	assert_string_equal(err.message, "try needs --key FILE");
	free(cli.scratch);
}

static void
help_shows_every_option_within_80_columns(void **state)
{
	bool flag = false;
	const char *text = NULL;
	const struct ks_opt options[] = {
		KS_FLAG('f', "a-flag-with-a-long-name", &flag, "one two three "
			"four five six seven eight nine ten eleven twelve"),
		KS_REQUIRED('o', "output", "FILE", &text, "where it goes"),
	};
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	ks_opt_help(&command, options, 2, &out);
	assert_string_equal(ks_buf_cstr(&out),
		"usage: kistore try [--a-flag-with-a-long-name] --output FILE "
		"FILE...\n"
		"\n"
		"try options\n"
		"\n"
		"  -f, --a-flag-with-a-long-name\n"
		"                          one two three four five six seven "
		"eight nine ten\n"
		"                          eleven twelve\n"
		"  -o, --output FILE       where it goes\n");
	ks_buf_release(&out);
}

static void
a_long_usage_line_is_broken_between_options(void **state)
{
	const char *text = NULL;
	const struct ks_opt options[] = {
		KS_TEXT(0, "first-of-them", "FILE", &text, "1"),
		KS_TEXT(0, "second-of-them", "FILE", &text, "2"),
		KS_TEXT(0, "third-of-them", "FILE", &text, "3"),
	};
	struct ks_buf out = KS_BUF_INIT;
	static const char wanted[] =
		"usage: kistore try [--first-of-them FILE] "
		"[--second-of-them FILE]\n"
		"               [--third-of-them FILE] FILE...\n\n";

	(void)state;
	ks_opt_help(&command, options, 3, &out);
	assert_true(out.len > sizeof(wanted));
	assert_memory_equal(out.data, wanted, sizeof(wanted) - 1);
	ks_buf_release(&out);
}

static void
exit_codes_are_those_of_the_manual(void **state)
{
	static const struct {
		enum ks_status status;
		int code;
	} cases[] = {
		{ KS_OK, 0 }, { KS_CORRUPT, 1 }, { KS_USAGE, 2 },
		{ KS_NOT_FOUND, 3 }, { KS_AMBIGUOUS, 3 }, { KS_INVALID, 4 },
		{ KS_EXISTS, 5 }, { KS_BUSY, 5 }, { KS_CANCELLED, 5 },
		{ KS_IO, 5 }, { KS_NOMEM, 5 }, { KS_UNTRUSTED, 6 },
		{ KS_REVOKED, 7 }, { KS_UNSUPPORTED, 8 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < KS_COUNT(cases); i++)
		assert_int_equal(ks_cli_exit_code(cases[i].status),
			cases[i].code);
}

static void
the_graver_of_two_statuses_wins_in_either_order(void **state)
{
	static const enum ks_status gravest_first[] = { KS_CORRUPT,
		KS_UNSUPPORTED, KS_IO, KS_UNTRUSTED, KS_NOT_FOUND, KS_REVOKED,
		KS_INVALID, KS_USAGE, KS_OK };
	size_t i, k;

	(void)state;
	for (i = 0; i < KS_COUNT(gravest_first); i++)
		for (k = i; k < KS_COUNT(gravest_first); k++) {
			assert_int_equal(ks_cli_worse(gravest_first[i],
				gravest_first[k]), gravest_first[i]);
			assert_int_equal(ks_cli_worse(gravest_first[k],
				gravest_first[i]), gravest_first[i]);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_spellings_of_a_value_are_read),
		cmocka_unit_test(what_is_not_given_stays_as_it_was),
		cmocka_unit_test(a_list_keeps_every_value),
		cmocka_unit_test(a_dash_and_an_empty_word_are_operands),
		cmocka_unit_test(
			shared_options_are_read_where_the_command_has_them),
		cmocka_unit_test(mistakes_are_refused_by_name),
		cmocka_unit_test(numbers_are_bounded_decimal_integers),
		cmocka_unit_test(a_required_option_that_is_missing_is_named),
		cmocka_unit_test(help_shows_every_option_within_80_columns),
		cmocka_unit_test(a_long_usage_line_is_broken_between_options),
		cmocka_unit_test(exit_codes_are_those_of_the_manual),
		cmocka_unit_test(
			the_graver_of_two_statuses_wins_in_either_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
