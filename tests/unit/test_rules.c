/*
 * The logs of fixtures/logs, one rule of store-layout.md each, against
 * replay: verdict, line, and that what has no effect has none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>

#include "format/replay.h"

#define LOGS "fixtures/logs/"
#define LINES_MAX 16
#define NO_LINE UINT64_MAX
#define NOON "2026-08-22T12:00:00Z"
#define INIT "{\"at\":\"" NOON "\",\"format\":\"kistore/1\",\"op\":\"init\"}"

struct fixture {
	char file[80];
	char rule[8];
	enum ks_verdict verdict;
	uint64_t line;
};

static struct fixture fixtures[256];
static size_t fixture_count;
static struct ks_jcs *jcs;

/* ---- reading ------------------------------------------------------------ */

static void
read_row(const char *row)
{
	struct fixture *fixture = &fixtures[fixture_count];
	char verdict[16], line[16];

	assert_true(fixture_count < sizeof(fixtures) / sizeof(fixtures[0]));
	assert_int_equal(sscanf(row, "%79s %7s %15s %15s", fixture->file,
		fixture->rule, verdict, line), 4);
	fixture->verdict = strcmp(verdict, "ok") == 0 ? KS_LINE_OK :
		strcmp(verdict, "fault") == 0 ? KS_LINE_FAULT :
		KS_LINE_UNSUPPORTED;
	fixture->line = strcmp(line, "-") == 0 ? NO_LINE :
		strtoull(line, NULL, 10);
	fixture_count++;
}

static int
read_manifest(void **state)
{
	char row[200];
	FILE *file = fopen(LOGS "MANIFEST.tsv", "r");

	(void)state;
	if (file == NULL || ks_jcs_new(&jcs, NULL) != KS_OK)
		return -1;
	while (fgets(row, sizeof(row), file) != NULL)
		if (row[0] != '#' && row[0] != '\n')
			read_row(row);
	return fclose(file);
}

static int
forget_manifest(void **state)
{
	(void)state;
	ks_jcs_free(jcs);
	return 0;
}

/* A log: its bytes, and its lines in them. */
struct log {
	char text[65536];
	struct ks_span lines[LINES_MAX];
	size_t count;
};

static void
read_log(const struct fixture *fixture, struct log *log)
{
	char path[128];
	FILE *file;
	size_t len;
	struct ks_span rest;

	(void)snprintf(path, sizeof(path), LOGS "%s", fixture->file);
	file = fopen(path, "rb");
	assert_non_null(file);
	len = fread(log->text, 1, sizeof(log->text), file);
	assert_int_equal(fclose(file), 0);
	assert_in_range(len, 1, sizeof(log->text) - 1);
	assert_int_equal(log->text[len - 1], '\n');
	log->count = 0;
	for (rest = ks_span(log->text, len); rest.len > 0; log->count++) {
		const uint8_t *end = memchr(rest.data, '\n', rest.len);
		size_t used = (size_t)(end - rest.data);

		assert_true(log->count < LINES_MAX);
		log->lines[log->count] = ks_span(rest.data, used);
		rest = ks_span(end + 1, rest.len - used - 1);
	}
}

static bool
is_redacted(const struct log *log)
{
	size_t i;

	for (i = 0; i < log->count; i++)
		if (log->lines[i].len > 0 && log->lines[i].data[0] == '-')
			return true;
	return false;
}

/* ---- replaying ---------------------------------------------------------- */

/* What came of a log. */
struct outcome {
	enum ks_verdict verdicts[LINES_MAX];
	uint64_t first;		/* line that is not OK, or NO_LINE */
	size_t others;		/* how many more are not OK */
	char rule[KS_ERROR_MESSAGE_MAX];
};

static void
note(struct outcome *outcome, uint64_t line, enum ks_verdict verdict,
	const char *rule)
{
	if (outcome->first != NO_LINE) {
		outcome->others++;
		return;
	}
	outcome->first = line;
	outcome->verdicts[line] = verdict;
	(void)snprintf(outcome->rule, sizeof(outcome->rule), "%s", rule);
}

static void
note_end(void *arg, uint64_t line, const char *rule)
{
	note(arg, line, KS_LINE_FAULT, rule);
}

static void
foresee(struct ks_replay *replay, const struct log *log)
{
	struct ks_entry entry;
	size_t i;

	for (i = 0; i < log->count; i++)
		if (ks_entry_parse(jcs, log->lines[i], &entry, NULL) ==
			KS_OK && entry.op == KS_OP_TAKEDOWN)
			assert_int_equal(ks_replay_foresee(replay, i, &entry,
				NULL), KS_OK);
}

static void
take_lines(struct ks_replay *replay, const struct log *log, size_t from,
	size_t to, struct outcome *outcome)
{
	struct ks_error err;
	struct ks_entry entry;
	uint32_t object;
	size_t i;

	for (i = from; i < to; i++) {
		err = (struct ks_error)KS_ERROR_INIT;
		assert_int_equal(ks_replay_line(replay, jcs, log->lines[i],
			&outcome->verdicts[i], &entry, &object, &err), KS_OK);
		if (outcome->verdicts[i] == KS_LINE_OK)
			continue;
		assert_int_equal(object, KS_NO_OBJECT);
		assert_true(err.message[0] != '\0');
		note(outcome, i, outcome->verdicts[i], err.message);
	}
}

static struct ks_replay *
replay_log(const struct log *log, struct outcome *outcome)
{
	struct ks_replay *replay;

	memset(outcome, 0, sizeof(*outcome));
	outcome->first = NO_LINE;
	assert_int_equal(ks_replay_new(&replay, NULL), KS_OK);
	foresee(replay, log);
	take_lines(replay, log, 0, log->count, outcome);
	ks_replay_end(replay, note_end, outcome);
	assert_int_equal(ks_replay_tree(replay)->size, log->count);
	return replay;
}

/* ---- verdicts ----------------------------------------------------------- */

static void
expect_verdict(const struct fixture *fixture, const struct log *log)
{
	struct outcome outcome;
	struct ks_replay *replay = replay_log(log, &outcome);
	bool right = outcome.first == fixture->line && outcome.others == 0 &&
		(fixture->line == NO_LINE ||
		outcome.verdicts[fixture->line] == fixture->verdict);

	if (!right)
		fail_msg("%s: line %lld has verdict %d (%s), and %zu others",
			fixture->file, (long long)outcome.first,
			outcome.first == NO_LINE ? KS_LINE_OK :
			outcome.verdicts[outcome.first], outcome.rule,
			outcome.others);
	assert_int_equal(ks_replay_faults(replay),
		fixture->verdict == KS_LINE_FAULT);
	assert_int_equal(ks_replay_unsupported(replay),
		fixture->verdict == KS_LINE_UNSUPPORTED);
	ks_replay_free(replay);
}

static void
every_log_has_its_verdict_at_its_line_and_nowhere_else(void **state)
{
	static struct log log;
	size_t i;

	(void)state;
	for (i = 0; i < fixture_count; i++) {
		read_log(&fixtures[i], &log);
		expect_verdict(&fixtures[i], &log);
	}
}

static bool
is_listed(const char *file)
{
	size_t i;

	for (i = 0; i < fixture_count; i++)
		if (strcmp(fixtures[i].file, file) == 0)
			return true;
	return false;
}

static void
every_log_is_in_the_manifest_under_its_rule(void **state)
{
	DIR *directory = opendir(LOGS);
	const struct dirent *entry;
	size_t i, seen = 0;

	(void)state;
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		if (strstr(entry->d_name, ".jsonl") == NULL)
			continue;
		seen++;
		if (!is_listed(entry->d_name))
			fail_msg("%s is not in the manifest", entry->d_name);
	}
	assert_int_equal(closedir(directory), 0);
	assert_int_equal(seen, fixture_count);
	for (i = 0; i < fixture_count; i++) {
		size_t len = strlen(fixtures[i].rule);

		if (fixtures[i].verdict == KS_LINE_OK)
			continue;
		assert_memory_equal(fixtures[i].file, fixtures[i].rule, len);
		assert_int_equal(fixtures[i].file[len], '-');
	}
}

/* The rules whose breach a log without objects can show. L4 is below; L13,
 * R1, R3, R4, R13, R15, R17 and R23 say what is allowed or follows. */
static void
every_rule_that_a_log_alone_can_break_is_broken_by_one(void **state)
{
	static const char *const rules[] = {
		"L3", "L6", "L7", "L8", "L9", "L10", "L11", "L12", "L14",
		"L15", "L16", "L17", "L18", "L19", "L20", "L21", "L22", "R2",
		"R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R14",
		"R16", "R18", "R19", "R20", "X2", "X4", "X5", "X6"
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		for (k = 0; k < fixture_count; k++)
			if (strcmp(fixtures[k].rule, rules[i]) == 0 &&
				fixtures[k].verdict != KS_LINE_OK)
				break;
		if (k == fixture_count)
			fail_msg("no log breaks %s", rules[i]);
	}
}

/* ---- effects ------------------------------------------------------------ */

static void
same_state(const char *file, struct ks_replay *a, struct ks_replay *b,
	uint32_t number)
{
	const struct ks_object_state *x = ks_replay_object(a, number);
	const struct ks_object_state *y = ks_replay_object(b, number);
	bool same = ks_id_equal(&x->digest, &y->digest) &&
		x->published == y->published &&
		x->successor == y->successor &&
		x->retracted == y->retracted &&
		x->superseded == y->superseded &&
		x->taken_down == y->taken_down &&
		x->redacted == y->redacted &&
		x->was_retracted == y->was_retracted &&
		x->was_superseded == y->was_superseded &&
		x->has_missing == y->has_missing &&
		ks_span_equal(ks_replay_kind(a, x->kind),
			ks_replay_kind(b, y->kind));

	if (!same)
		fail_msg("%s: object %u is not what it was", file, number);
}

static void
same_effect(const char *file, struct ks_replay *a, struct ks_replay *b)
{
	uint32_t i;
	int op;

	assert_int_equal(ks_replay_objects(a), ks_replay_objects(b));
	for (i = 0; i < ks_replay_objects(a); i++)
		same_state(file, a, b, i);
	for (op = KS_OP_INIT; op < KS_OP_EXTENSION; op++)
		assert_int_equal(ks_replay_count(a, (enum ks_op)op),
			ks_replay_count(b, (enum ks_op)op));
}

/* Put a line that says nothing in the place of one, dated as the last before
 * it that has a time. */
static void
silence(struct log *log, size_t line)
{
	static char nothing[64];
	struct ks_entry before = { .op = KS_OP_INIT };
	size_t i = line;

	do
		if (ks_entry_parse(jcs, log->lines[--i], &before, NULL) !=
			KS_OK)
			before.at.len = 0;
	while (i > 0 && before.at.len == 0);
	(void)snprintf(nothing, sizeof(nothing),
		"{\"at\":\"%.*s\",\"op\":\"x-nothing\"}",
		(int)before.at.len, (const char *)before.at.data);
	log->lines[line] = ks_span_text(nothing);
}

static void
a_line_with_a_fault_has_the_effect_of_none(void **state)
{
	static struct log log;
	struct outcome outcome;
	struct ks_replay *broken, *silent;
	size_t i;

	(void)state;
	for (i = 0; i < fixture_count; i++) {
		if (fixtures[i].verdict == KS_LINE_OK || fixtures[i].line == 0)
			continue;
		read_log(&fixtures[i], &log);
		broken = replay_log(&log, &outcome);
		silence(&log, (size_t)fixtures[i].line);
		silent = replay_log(&log, &outcome);
		if (outcome.first != NO_LINE)
			fail_msg("%s silenced: line %lld (%s)",
				fixtures[i].file, (long long)outcome.first,
				outcome.rule);
		same_effect(fixtures[i].file, broken, silent);
		ks_replay_free(broken);
		ks_replay_free(silent);
	}
}

static void
the_tree_has_a_leaf_for_every_line_whatever_the_verdict(void **state)
{
	static struct log log;
	size_t i, k;

	(void)state;
	for (i = 0; i < fixture_count; i++) {
		struct ks_merkle tree = { 0 };
		struct ks_id leaf, expected, root;
		struct outcome outcome;
		struct ks_replay *replay;

		read_log(&fixtures[i], &log);
		replay = replay_log(&log, &outcome);
		for (k = 0; k < log.count; k++) {
			struct ks_span hex = ks_span(log.lines[k].data + 1,
				log.lines[k].len - 1);

			if (log.lines[k].len != 65 ||
				log.lines[k].data[0] != '-' ||
				!ks_id_parse_hex(&leaf, hex))
				ks_merkle_leaf(log.lines[k], &leaf);
			ks_merkle_append(&tree, &leaf);
		}
		ks_merkle_root(&tree, &expected);
		ks_merkle_root(ks_replay_tree(replay), &root);
		assert_memory_equal(&root, &expected, sizeof(root));
		ks_replay_free(replay);
	}
}

static void
the_good_log_of_8_lines_has_the_root_that_its_readme_states(void **state)
{
	static struct log log;
	struct fixture fixture = { .file = "ok-8-lines.jsonl" };
	struct outcome outcome;
	struct ks_replay *replay;
	struct ks_id root;
	char text[KS_ID_TEXT + 1];

	(void)state;
	read_log(&fixture, &log);
	replay = replay_log(&log, &outcome);
	ks_merkle_root(ks_replay_tree(replay), &root);
	assert_string_equal(ks_id_print(&root, text), "sha256:"
		"99f7a34f7961303bbc14430a2430efc3"
		"c72d0d61b44d5fe9ba5c16e30ae00b84");
	ks_replay_free(replay);
}

/* ---- starting in the middle --------------------------------------------- */

static bool
load_object(void *arg, const struct ks_id *digest,
	struct ks_object_state *state, struct ks_span *kind,
	struct ks_id *successor)
{
	struct ks_replay *earlier = arg;
	uint32_t number = ks_replay_find(earlier, digest);

	if (number == KS_NO_OBJECT)
		return false;
	*state = *ks_replay_object(earlier, number);
	*kind = ks_replay_kind(earlier, state->kind);
	if (state->successor != KS_NO_OBJECT)
		*successor = ks_replay_object(earlier,
			state->successor)->digest;
	state->successor = KS_NO_OBJECT;
	return true;
}

static bool
load_id(void *arg, const uint8_t id[16], struct ks_id *digest)
{
	struct ks_replay *earlier = arg;
	uint32_t number = ks_replay_find_id(earlier, id);

	if (number != KS_NO_OBJECT)
		*digest = ks_replay_object(earlier, number)->digest;
	return number != KS_NO_OBJECT;
}

static void
resume_at(const struct fixture *fixture, const struct log *log, size_t split)
{
	struct outcome outcome = { .first = NO_LINE };
	struct ks_replay *earlier, *later;
	struct ks_replay_loader loader = {
		.object = load_object, .id = load_id
	};

	assert_int_equal(ks_replay_new(&earlier, NULL), KS_OK);
	take_lines(earlier, log, 0, split, &outcome);
	loader.arg = earlier;
	assert_int_equal(ks_replay_resume(&later, &loader,
		ks_replay_tree(earlier), ks_replay_time(earlier), NULL),
		KS_OK);
	take_lines(later, log, split, log->count, &outcome);
	if (!ks_replay_needs_all(later) && (outcome.others > 0 ||
		outcome.first != fixture->line ||
		(fixture->line != NO_LINE &&
		outcome.verdicts[fixture->line] != fixture->verdict)))
		fail_msg("%s resumed at %zu: line %lld (%s)", fixture->file,
			split, (long long)outcome.first, outcome.rule);
	ks_replay_free(earlier);
	ks_replay_free(later);
}

static void
a_replay_from_the_middle_comes_to_the_same_verdicts(void **state)
{
	static struct log log;
	size_t i, split;

	(void)state;
	for (i = 0; i < fixture_count; i++) {
		read_log(&fixtures[i], &log);
		if (is_redacted(&log))
			continue;
		for (split = 1; split < log.count; split++)
			resume_at(&fixtures[i], &log, split);
	}
}

/* ---- L4 ----------------------------------------------------------------- */

/* A publish line of exactly `len` bytes. */
static struct ks_span
long_line(char *text, size_t len)
{
	int head = snprintf(text, len, "{\"at\":\"" NOON "\",\"digest\":"
		"\"sha256:%064d\",\"kind\":\"raw\",\"metadata\":{\"name\":\"",
		1);
	static const char tail[] = "\"},\"op\":\"publish\"}";
	size_t filled = len - (sizeof(tail) - 1);

	memset(text + head, 'a', filled - (size_t)head);
	memcpy(text + filled, tail, sizeof(tail) - 1);
	return ks_span(text, len);
}

static void
a_line_has_at_most_65535_bytes(void **state)
{
	static char text[65536];
	struct outcome outcome = { .first = NO_LINE };
	struct log *log = calloc(1, sizeof(*log));
	struct ks_replay *replay;

	(void)state;
	assert_non_null(log);
	log->count = 2;
	log->lines[0] = ks_span_text(INIT);
	log->lines[1] = long_line(text, 65535);
	replay = replay_log(log, &outcome);
	assert_true(outcome.first == NO_LINE);
	ks_replay_free(replay);
	log->lines[1] = long_line(text, 65536);
	replay = replay_log(log, &outcome);
	assert_int_equal(outcome.first, 1);
	assert_int_equal(outcome.verdicts[1], KS_LINE_FAULT);
	assert_int_equal(ks_replay_objects(replay), 0);
	ks_replay_free(replay);
	free(log);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_log_has_its_verdict_at_its_line_and_nowhere_else),
		cmocka_unit_test(every_log_is_in_the_manifest_under_its_rule),
		cmocka_unit_test(
			every_rule_that_a_log_alone_can_break_is_broken_by_one),
		cmocka_unit_test(a_line_with_a_fault_has_the_effect_of_none),
		cmocka_unit_test(
			the_tree_has_a_leaf_for_every_line_whatever_the_verdict
			),
		cmocka_unit_test(
		    the_good_log_of_8_lines_has_the_root_that_its_readme_states
			),
		cmocka_unit_test(
			a_replay_from_the_middle_comes_to_the_same_verdicts),
		cmocka_unit_test(a_line_has_at_most_65535_bytes),
	};

	return cmocka_run_group_tests(tests, read_manifest, forget_manifest);
}
