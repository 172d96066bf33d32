#include "store/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "format/layout.h"

#define REPOSITORY "r.git"

/* ---- taking lines apart ------------------------------------------------ */

static void
a_segment_is_taken_apart_at_each_lf(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *lines[4];
		size_t count;
		size_t rest;	/* bytes of a line without LF */
	} table[] = {
		{ "", 0, { NULL }, 0, 0 },
		{ "\n", 1, { "" }, 1, 0 },
		{ "a\n", 2, { "a" }, 1, 0 },
		{ "a\nbc\n\nd\n", 8, { "a", "bc", "", "d" }, 4, 0 },
		{ "a\r\n", 3, { "a\r" }, 1, 0 },
		{ "a", 1, { NULL }, 0, 1 },
		{ "a\nb", 3, { "a" }, 1, 1 },
		{ "a\n\0", 3, { "a" }, 1, 1 },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_span rest = ks_span(table[i].text, table[i].len);
		struct ks_span line;

		for (n = 0; ks_log_next_line(&rest, &line); n++)
			assert_true(ks_span_is(line, table[i].lines[n]));
		assert_int_equal(n, table[i].count);
		assert_int_equal(rest.len, table[i].rest);
	}
}

/* ---- a log in a tree --------------------------------------------------- */

/* Append lines "entry FROM" … "entry TO - 1". */
static void
print_lines(struct ks_buf *out, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		ks_buf_printf(out, "entry %llu\n", (unsigned long long)from);
}

/* Make the log of `size` lines, in a new repository. */
static struct ks_gitdb *
make_log(uint64_t size, struct ks_oid *tree)
{
	struct ks_gitdb *db = scratch_repository(REPOSITORY);
	struct scratch_edit edits[SCRATCH_EDITS];
	struct ks_buf texts[SCRATCH_EDITS];
	char paths[SCRATCH_EDITS][KS_SEGMENT_PATH];
	struct ks_oid commit;
	uint64_t at;
	size_t n = 0, i;

	memset(texts, 0, sizeof(texts));
	for (at = 0; at < size; at += 256) {
		print_lines(&texts[n], at, at + 256 < size ? at + 256 : size);
		edits[n].path = ks_layout_segment(at, paths[n]);
		edits[n].bytes = ks_buf_span(&texts[n]);
		n++;
	}
	edits[n].path = "store.json";
	edits[n].bytes = ks_span_text("{}");
	(void)scratch_commit(db, edits, n + 1, 0);
	scratch_head(db, &commit, tree);
	for (i = 0; i < n; i++)
		ks_buf_release(&texts[i]);
	return db;
}

struct seen {
	uint64_t next, stop_at;
};

static enum ks_status
see_line(void *arg, uint64_t index, struct ks_span line, struct ks_error *err)
{
	struct seen *seen = arg;
	char expected[64];

	assert_int_equal(index, seen->next);
	(void)snprintf(expected, sizeof(expected), "entry %llu",
		(unsigned long long)index);
	assert_true(ks_span_is(line, expected));
	seen->next++;
	return index == seen->stop_at ?
		ks_fail(err, KS_CANCELLED, "enough") : KS_OK;
}

static const uint64_t sizes[] = { 0, 1, 255, 256, 257, 511, 512, 700 };

static void
every_line_is_visited_in_order_from_any_place(void **state)
{
	static const uint64_t froms[] = { 0, 1, 254, 255, 256, 257, 512, 699,
		700, 5000 };
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ks_oid tree;
		struct ks_gitdb *db = make_log(sizes[i], &tree);

		for (k = 0; k < sizeof(froms) / sizeof(froms[0]); k++) {
			struct seen seen = { froms[k], UINT64_MAX };
			struct ks_error err = KS_ERROR_INIT;

			if (ks_log_each(db, &tree, froms[k], see_line, &seen,
				&err) != KS_OK)
				fail_msg("%s", err.message);
			assert_int_equal(seen.next, froms[k] > sizes[i] ?
				froms[k] : sizes[i]);
		}
		ks_gitdb_close(db);
		assert_int_equal(sh("rm -rf " REPOSITORY), 0);
	}
}

static void
the_visitor_stops_the_walk(void **state)
{
	static const uint64_t stops[] = { 0, 3, 255, 256, 699 };
	struct ks_oid tree;
	struct ks_gitdb *db = make_log(700, &tree);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		struct seen seen = { 0, stops[i] };
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_log_each(db, &tree, 0, see_line, &seen,
			&err), KS_CANCELLED);
		assert_string_equal(err.message, "enough");
		assert_int_equal(seen.next, stops[i] + 1);
	}
	ks_gitdb_close(db);
}

static void
a_segment_is_had_by_any_of_its_entries(void **state)
{
	struct ks_oid tree;
	struct ks_gitdb *db = make_log(300, &tree);
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf expected = KS_BUF_INIT;

	(void)state;
	print_lines(&expected, 256, 300);
	ks_buf_text(&text, "before");
	assert_int_equal(ks_log_segment(db, &tree, 511, &text, NULL), KS_OK);
	assert_memory_equal(text.data, "before", 6);
	assert_true(ks_span_equal(ks_span(text.data + 6, text.len - 6),
		ks_buf_span(&expected)));
	assert_int_equal(ks_log_segment(db, &tree, 512, &text, NULL),
		KS_NOT_FOUND);
	ks_buf_release(&text);
	ks_buf_release(&expected);
	ks_gitdb_close(db);
}

/* ---- faults of form (store-layout.md, T10) ----------------------------- */

static enum ks_status
ignore_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	(void)arg;
	(void)index;
	(void)line;
	(void)err;
	return KS_OK;
}

/* The first two segments of a log: how many lines, and what follows them. */
static const struct {
	uint64_t first;
	const char *after_first;
	uint64_t second;	/* UINT64_MAX: there is none */
	const char *after_second;
	const char *says;
} damaged[] = {
	{ 3, "no lf", UINT64_MAX, "", "does not end in LF" },
	{ 256, "x", UINT64_MAX, "", "does not end in LF" },
	{ 0, "", UINT64_MAX, "", "log/000/000.jsonl: 0 lines" },
	{ 257, "", UINT64_MAX, "", "log/000/000.jsonl: 257 lines" },
	{ 256, "\n", UINT64_MAX, "", "log/000/000.jsonl: 257 lines" },
	{ 255, "", 1, "", "log/000/000.jsonl: 255 lines, but a segment "
		"follows" },
	{ 1, "", 0, "", "log/000/000.jsonl: 1 lines, but a segment follows" },
	{ 256, "", 0, "", "log/000/001.jsonl: 0 lines" },
	{ 256, "", 3, "x", "does not end in LF" },
};

static void
segments_that_are_not_as_the_rules_say_are_faults(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		struct ks_gitdb *db = scratch_repository(REPOSITORY);
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf first = KS_BUF_INIT;
		struct ks_buf second = KS_BUF_INIT;
		struct ks_oid commit, tree;

		print_lines(&first, 0, damaged[i].first);
		ks_buf_text(&first, damaged[i].after_first);
		if (damaged[i].second != UINT64_MAX)
			print_lines(&second, 0, damaged[i].second);
		ks_buf_text(&second, damaged[i].after_second);
		(void)scratch_commit(db, (struct scratch_edit[]){
			{ "log/000/000.jsonl", ks_span(first.len == 0 ?
				(const uint8_t *)"" : first.data, first.len) },
			{ "log/000/001.jsonl", ks_span(second.len == 0 ?
				(const uint8_t *)"" : second.data,
				second.len) },
		}, damaged[i].second == UINT64_MAX ? 1 : 2, 0);
		scratch_head(db, &commit, &tree);
		if (ks_log_each(db, &tree, 0, ignore_line, NULL, &err) !=
			KS_CORRUPT || strstr(err.message, damaged[i].says) ==
			NULL)
			fail_msg("row %zu: %s", i, err.message);
		ks_buf_release(&first);
		ks_buf_release(&second);
		ks_gitdb_close(db);
		assert_int_equal(sh("rm -rf " REPOSITORY), 0);
	}
}

static void
a_directory_in_the_place_of_a_segment_is_damage(void **state)
{
	struct ks_gitdb *db = scratch_repository(REPOSITORY);
	struct ks_buf text = KS_BUF_INIT;
	struct ks_oid commit, tree;

	(void)state;
	(void)scratch_commit(db, (struct scratch_edit[]){
		{ "log/000/000.jsonl/x", ks_span_text("x\n") },
	}, 1, 0);
	scratch_head(db, &commit, &tree);
	assert_int_equal(ks_log_segment(db, &tree, 0, &text, NULL),
		KS_CORRUPT);
	assert_int_equal(ks_log_each(db, &tree, 0, ignore_line, NULL, NULL),
		KS_CORRUPT);
	assert_int_equal(text.len, 0);
	ks_buf_release(&text);
	ks_gitdb_close(db);
}

#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_segment_is_taken_apart_at_each_lf),
		TEST(every_line_is_visited_in_order_from_any_place),
		TEST(the_visitor_stops_the_walk),
		TEST(a_segment_is_had_by_any_of_its_entries),
		TEST(segments_that_are_not_as_the_rules_say_are_faults),
		TEST(a_directory_in_the_place_of_a_segment_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
