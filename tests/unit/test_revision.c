#include "store/revision.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "format/layout.h"

#define REPOSITORY "r.git"
#define DAY ((int64_t)86400)

/* A history of six commits: sizes of the log, and when each was made. The
 * fourth changes something else. 20000 days are 2024-10-04. */
static const struct {
	size_t size;
	int64_t time;
} history[] = {
	{ 1, 20000 * DAY + 3600 },
	{ 3, 20000 * DAY + 7200 },
	{ 256, 20001 * DAY - 1 },
	{ 256, 20001 * DAY },
	{ 257, 20001 * DAY + 1 },
	{ 600, 20003 * DAY },
};

#define COMMITS (sizeof(history) / sizeof(history[0]))

static struct ks_gitdb *db;
static struct ks_oid commits[COMMITS];

static void
print_lines(struct ks_buf *out, size_t count)
{
	while (count-- > 0)
		ks_buf_text(out, "{}\n");
}

/* Commit the segments that a log of `size` lines has. */
static void
commit_size(size_t n)
{
	struct scratch_edit edits[8];
	struct ks_buf texts[8];
	char paths[8][KS_SEGMENT_PATH];
	char number[8];
	size_t count = 0, at, i;

	memset(texts, 0, sizeof(texts));
	for (at = 0; at < history[n].size; at += 256) {
		size_t left = history[n].size - at;

		print_lines(&texts[count], left < 256 ? left : 256);
		edits[count].path = ks_layout_segment(at, paths[count]);
		edits[count].bytes = ks_buf_span(&texts[count]);
		count++;
	}
	(void)snprintf(number, sizeof(number), "%zu", n);
	edits[count].path = "number";
	edits[count].bytes = ks_span_text(number);
	commits[n] = scratch_commit(db, edits, count + 1, history[n].time);
	for (i = 0; i < count; i++)
		ks_buf_release(&texts[i]);
}

static int
setup(void **state)
{
	size_t i;

	if (scratch_setup(state) != 0)
		return 1;
	db = scratch_repository(REPOSITORY);
	for (i = 0; i < COMMITS; i++)
		commit_size(i);
	return sh("git -C " REPOSITORY " tag first HEAD~5; "
		"git -C " REPOSITORY " tag -a -m x second HEAD~4; "
		"git -C " REPOSITORY " branch 2024-10 HEAD~3");
}

static int
teardown(void **state)
{
	ks_gitdb_close(db);
	return scratch_teardown(state);
}

#define NONE COMMITS

static void
a_revision_is_a_size_a_time_or_a_name(void **state)
{
	static const struct {
		const char *at;
		size_t commit;
	} table[] = {
		/* Digits are a log size: the newest commit that has it. */
		{ "1", 0 },
		{ "3", 1 },
		{ "003", 1 },
		{ "256", 3 },
		{ "257", 4 },
		{ "600", 5 },
		{ "0", NONE },
		{ "2", NONE },
		{ "255", NONE },
		{ "599", NONE },
		{ "601", NONE },
		{ "4294967296", NONE },
		{ "18446744073709551617", NONE },	/* not 1 */
		/* A time: the newest commit not after it. */
		{ "2024-10-04", 2 },
		{ "2024-10-05", 4 },
		{ "2024-10-06", 4 },
		{ "2024-10-07", 5 },
		{ "2030-01-01", 5 },
		{ "2024-10-03", NONE },
		{ "2024-10-04T00:59:59Z", NONE },
		{ "2024-10-04T01:00:00Z", 0 },
		{ "2024-10-04T01:59:59Z", 0 },
		{ "2024-10-04T23:59:58Z", 1 },
		{ "2024-10-04T23:59:59Z", 2 },
		{ "2024-10-05T00:00:00Z", 3 },
		/* Anything else is git's. */
		{ "HEAD", 5 },
		{ "main", 5 },
		{ "HEAD~2", 3 },
		{ "first", 0 },
		{ "second", 1 },
		{ "2024-10", 2 },
		{ "", NONE },
		{ "nothing", NONE },
		{ "HEAD~6", NONE },
		{ "HEAD:number", NONE },	/* a blob */
		{ "2024-10-32", NONE },
		{ "2024-02-30", NONE },
		{ "2024-10-04T01:00:00", NONE },
		{ "2024-10-04 01:00", NONE },
		{ "-1", NONE },
		{ "1 ", NONE },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_oid found;
		enum ks_status status = ks_revision_find(db,
			&commits[COMMITS - 1], table[i].at, &found, &err);

		if (table[i].commit == NONE) {
			if (status != KS_NOT_FOUND)
				fail_msg("%s: %s", table[i].at,
					ks_status_name(status));
			assert_true(err.message[0] != '\0');
			continue;
		}
		if (status != KS_OK || !ks_oid_equal(&found,
			&commits[table[i].commit]))
			fail_msg("%s: %s", table[i].at, err.message);
	}
}

static void
a_full_or_short_commit_id_is_found(void **state)
{
	char hex[KS_OID_HEX + 1];
	struct ks_oid found;
	size_t i;

	(void)state;
	for (i = 0; i < COMMITS; i++) {
		(void)ks_oid_print(&commits[i], hex);
		assert_int_equal(ks_revision_find(db, &commits[COMMITS - 1],
			hex, &found, NULL), KS_OK);
		assert_true(ks_oid_equal(&found, &commits[i]));
		/* Unless it looks like a log size. */
		hex[12] = '\0';
		if (strspn(hex, "0123456789") == 12)
			continue;
		assert_int_equal(ks_revision_find(db, &commits[COMMITS - 1],
			hex, &found, NULL), KS_OK);
		assert_true(ks_oid_equal(&found, &commits[i]));
	}
}

static void
only_what_the_given_head_descends_from_is_searched(void **state)
{
	struct ks_oid found;

	(void)state;
	assert_int_equal(ks_revision_find(db, &commits[2], "256", &found,
		NULL), KS_OK);
	assert_true(ks_oid_equal(&found, &commits[2]));
	assert_int_equal(ks_revision_find(db, &commits[2], "257", &found,
		NULL), KS_NOT_FOUND);
	assert_int_equal(ks_revision_find(db, &commits[1], "2030-01-01",
		&found, NULL), KS_OK);
	assert_true(ks_oid_equal(&found, &commits[1]));
}

/* ---- how long a log is ------------------------------------------------- */

static uint64_t
size_of(const struct scratch_edit *edits, size_t count)
{
	struct ks_gitdb *other = scratch_repository("other.git");
	struct ks_error err = KS_ERROR_INIT;
	struct ks_oid commit, tree;
	uint64_t size;

	(void)scratch_commit(other, edits, count, 0);
	scratch_head(other, &commit, &tree);
	if (ks_revision_log_size(other, &tree, &size, &err) != KS_OK)
		fail_msg("%s", err.message);
	ks_gitdb_close(other);
	assert_int_equal(sh("rm -rf other.git"), 0);
	return size;
}

static void
a_log_is_as_long_as_its_last_segment_says(void **state)
{
	const struct ks_span two = ks_span_text("{}\n{}\n");

	(void)state;
	assert_int_equal(size_of((struct scratch_edit[]){
		{ "log/000/000.jsonl", two } }, 1), 2);
	assert_int_equal(size_of((struct scratch_edit[]){
		{ "log/000/000.jsonl", two },
		{ "log/000/010.jsonl", two } }, 2), 2562);
	assert_int_equal(size_of((struct scratch_edit[]){
		{ "log/000/000.jsonl", two },
		{ "log/001/002.jsonl", two } }, 2), 66050);
	/* Past 999 the names are longer, and longer is later. */
	assert_int_equal(size_of((struct scratch_edit[]){
		{ "log/1000/000.jsonl", two },
		{ "log/999/255.jsonl", two } }, 2), 65536002);
}

static void
a_tree_without_a_log_has_no_size(void **state)
{
	struct ks_gitdb *other = scratch_repository("other.git");
	struct ks_oid commit, tree;
	uint64_t size = 7;

	(void)state;
	(void)scratch_commit(other, (struct scratch_edit[]){
		{ "file", ks_span_text("x") } }, 1, 0);
	scratch_head(other, &commit, &tree);
	assert_int_equal(ks_revision_log_size(other, &tree, &size, NULL),
		KS_NOT_FOUND);
	assert_int_equal(size, 0);
	ks_gitdb_close(other);
	assert_int_equal(sh("rm -rf other.git"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_revision_is_a_size_a_time_or_a_name),
		cmocka_unit_test(a_full_or_short_commit_id_is_found),
		cmocka_unit_test(
			only_what_the_given_head_descends_from_is_searched),
		cmocka_unit_test(a_log_is_as_long_as_its_last_segment_says),
		cmocka_unit_test(a_tree_without_a_log_has_no_size),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
