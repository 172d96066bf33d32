#include "store/gitdb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "../lib/scratch.h"

/*
 * Rewriting history (gitdb_filter.c, gitdb_rewrite.c), apart from what stores
 * do with it. Each test runs in a directory of its own. Stock git makes the
 * repository `r` and judges what became of it.
 */

#define CUTS_MAX 8
#define NAMES_SIZE 1024

/* A repository whose commits are what each script leaves in its work tree. */
static void
make(const char *first, const char *second, const char *third)
{
	const char *scripts[3];
	char command[2048];
	size_t i;

	scripts[0] = first;
	scripts[1] = second;
	scripts[2] = third;
	assert_int_equal(sh("git init -q -b main r"), 0);
	for (i = 0; i < 3 && scripts[i] != NULL; i++) {
		(void)snprintf(command, sizeof(command), "set -e; cd r; %s; "
			"git add -A; git commit -q --allow-empty -m %zu",
			scripts[i], i);
		assert_int_equal(sh(command), 0);
	}
}

/* What a test cuts, and how its edits go. */
struct job {
	struct ks_gitdb *db;
	struct ks_git_head head;
	struct ks_git_cut cuts[CUTS_MAX];
	struct ks_git_plan plan;
	struct ks_git_rewrite *rewrite;
	struct ks_error err;
	enum ks_status verdict;	/* of edits and steps */
	unsigned edits;
	char names[NAMES_SIZE];
};

/* Upper case, of what has an x. */
static enum ks_status
edit(void *arg, size_t cut, struct ks_span old, struct ks_buf *new,
	struct ks_error *err)
{
	struct job *job = arg;
	size_t i;

	assert_true(cut < job->plan.count && job->cuts[cut].edit);
	job->edits++;
	if (job->verdict != KS_OK)
		return ks_fail(err, job->verdict, "as the test wants");
	for (i = 0; i < old.len; i++)
		ks_buf_byte(new, old.data[i] == 'x' ? 'X' : old.data[i]);
	return KS_OK;
}

static enum ks_status
step(void *arg, uint64_t commits, struct ks_error *err)
{
	(void)arg;
	(void)commits;
	return ks_fail(err, KS_CANCELLED, "interrupted");
}

/* Paths that end in '!' are edited. */
static void
plan(struct job *job, const char *const *paths)
{
	static char kept[CUTS_MAX][256];
	struct ks_error err = KS_ERROR_INIT;
	size_t i;

	memset(job, 0, sizeof(*job));
	for (i = 0; paths[i] != NULL; i++) {
		size_t len = strlen(paths[i]);

		(void)snprintf(kept[i], sizeof(kept[i]), "%s", paths[i]);
		job->cuts[i].path = kept[i];
		job->cuts[i].edit = len > 0 && paths[i][len - 1] == '!';
		if (job->cuts[i].edit)
			kept[i][len - 1] = '\0';
	}
	job->plan = (struct ks_git_plan){ .cuts = job->cuts, .count = i,
		.limit = 100, .arg = job, .edit = edit };
	if (ks_gitdb_open(&job->db, "r", false, &err) != KS_OK ||
		ks_gitdb_head(job->db, &job->head, &err) != KS_OK)
		fail_msg("%s", err.message);
}

static enum ks_status
compose(struct job *job)
{
	return ks_gitdb_rewrite(&job->rewrite, job->db, &job->head, &job->plan,
		&job->err);
}

static void
finish(struct job *job)
{
	ks_gitdb_rewrite_free(job->rewrite);
	ks_gitdb_close(job->db);
}

/* The whole of it, which has to work. */
static void
rewrite(struct job *job, const char *const *paths)
{
	plan(job, paths);
	if (compose(job) != KS_OK || ks_gitdb_rewrite_publish(job->rewrite,
		&job->err) != KS_OK)
		fail_msg("%s", job->err.message);
	assert_string_equal(output("cd r; git fsck --strict --no-dangling; "
		"git status --porcelain; ls -A .git/objects .git/objects/pack "
		"| grep -e kistore -e keep"), "");
}

static void
each_version_of_what_is_cut_goes_and_nothing_else(void **state)
{
	static const char *const paths[] = { "a-b/x", "a.b", "a/x", "a/z/w",
		"ab/deep/er/x", NULL };
	struct job job;

	(void)state;
	make("mkdir -p a a-b a/z ab/deep/er; for f in a/x a/y a-b/x a.b a0 "
		"a/z/w ab/deep/er/x ab/x a=b; do echo $f > $f; done",
		"echo new > a/x; mkdir -p a-b/y; echo y > a-b/y/x",
		"git rm -q a/x a-b/x a.b a/z/w ab/deep/er/x");
	rewrite(&job, paths);
	assert_string_equal(output("cd r; for c in HEAD HEAD~ HEAD~2; do "
		"git ls-tree -r --name-only $c | tr '\\n' ' '; echo; done"),
		"a-b/y/x a/y a0 a=b ab/x \n"
		"a-b/y/x a/y a0 a=b ab/x \n"
		"a/y a0 a=b ab/x ");
	assert_int_equal(ks_gitdb_rewrite_counts(job.rewrite)->commits, 3);
	assert_int_equal(ks_gitdb_rewrite_counts(job.rewrite)->rewritten, 3);
	assert_true(job.cuts[0].found && job.cuts[4].found);
	finish(&job);
}

static void
what_stands_at_a_cut_goes_whatever_it_is(void **state)
{
	static const char *const paths[] = { "dir", "link", "tool", "wanting",
		NULL };
	struct job job;

	(void)state;
	make("mkdir -p dir/of; echo 1 > dir/of/x; ln -s dir link; "
		"echo 1 > tool; chmod +x tool; echo 1 > kept; chmod +x kept",
		"git rm -q -r dir link tool", NULL);
	rewrite(&job, paths);
	assert_string_equal(output("cd r; git ls-tree -r HEAD~ | cut -c1-11; "
		"git diff HEAD HEAD~"), "100755 blob");
	assert_true(job.cuts[0].found);
	assert_false(job.cuts[3].found);
	finish(&job);
}

static void
a_root_that_is_left_empty_is_gits_empty_tree(void **state)
{
	static const char *const paths[] = { "d/x", NULL };
	struct job job;

	(void)state;
	make("mkdir d; echo 1 > d/x", "git rm -q d/x", NULL);
	rewrite(&job, paths);
	assert_string_equal(output("git -C r rev-parse 'HEAD~^{tree}'"),
		"4b825dc642cb6eb9a060e54bf8d69288fbee4904");
	finish(&job);
}

static void
files_are_edited_in_each_version_and_directories_are_not(void **state)
{
	static const char *const paths[] = { "d/x!", "other!", NULL };
	struct job job;

	(void)state;
	make("mkdir d other; printf 'x y x' > d/x; echo x > other/x",
		"printf 'x y x z' > d/x; rm -r other; ln -s xx other",
		"printf 'X y X' > d/x; rm other");
	rewrite(&job, paths);
	assert_string_equal(output("cd r; git show HEAD~2:d/x HEAD~:d/x; "
		"git show HEAD~2:other/x HEAD~:other; "
		"git ls-tree HEAD~ other | cut -c1-6"),
		"X y XX y X zx\nXX120000");
	/* The newest, two older versions, and the link. */
	assert_int_equal(job.edits, 4);
	finish(&job);
}

static void
an_edit_that_fails_ends_it_and_names_the_commit(void **state)
{
	static const char *const paths[] = { "d/x!", NULL };
	struct job job;
	char commit[16];

	(void)state;
	make("mkdir d; echo x > d/x", "echo X > d/x", NULL);
	(void)snprintf(commit, sizeof(commit), "commit %.7s",
		output("git -C r rev-parse HEAD~"));
	plan(&job, paths);
	job.verdict = KS_CORRUPT;
	assert_int_equal(compose(&job), KS_CORRUPT);
	assert_non_null(strstr(job.err.message, commit));
	assert_non_null(strstr(job.err.message, "d/x: as the test wants"));
	assert_null(job.rewrite);
	job.verdict = KS_OK;
	job.plan.limit = 1;
	assert_int_equal(compose(&job), KS_CORRUPT);
	assert_non_null(strstr(job.err.message, "more than the 1 allowed"));
	finish(&job);
	assert_int_equal(sh("ls -A r/.git/objects | grep -q kistore"), 1);
}

static void
nothing_to_cut_leaves_the_branch_where_it_is(void **state)
{
	static const char *const paths[] = { "d/x/y", "wanting", "x!", NULL };
	struct job job;

	(void)state;
	make("mkdir d; echo 1 > d/x; echo y > x", "echo 2 > d/x", NULL);
	assert_int_equal(sh("cp -a r before"), 0);
	rewrite(&job, paths);
	assert_int_equal(ks_gitdb_rewrite_counts(job.rewrite)->rewritten, 0);
	assert_true(ks_oid_equal(&job.head.commit,
		&ks_gitdb_rewrite_counts(job.rewrite)->head));
	finish(&job);
	assert_int_equal(sh("diff -r before r"), 0);
}

static void
paths_that_are_none_are_refused(void **state)
{
	static const char *const bad[][3] = {
		{ "b", "a", NULL },
		{ "a", "a", NULL },
		{ "", NULL, NULL },
		{ "a//b", NULL, NULL },
		{ "/a", NULL, NULL },
		{ "a/", NULL, NULL },
		{ "a/../b", NULL, NULL },
		{ "a/.GIT/b", NULL, NULL },
		{ "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", NULL, NULL },
	};
	struct job job;
	size_t i;

	(void)state;
	make("echo 1 > a", NULL, NULL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		plan(&job, bad[i]);
		assert_int_equal(compose(&job), KS_USAGE);
		finish(&job);
	}
}

static void
a_newest_tree_that_would_change_is_refused(void **state)
{
	static const char *const paths[] = { "b", NULL };
	struct job job;

	(void)state;
	make("echo 1 > a; echo 1 > b", "echo 2 > b", NULL);
	assert_int_equal(sh("cp -a r before"), 0);
	plan(&job, paths);
	assert_int_equal(compose(&job), KS_OK);
	assert_int_equal(ks_gitdb_rewrite_publish(job.rewrite, &job.err),
		KS_CORRUPT);
	assert_non_null(strstr(job.err.message, "newest commit would change"));
	finish(&job);
	assert_int_equal(sh("diff -r before r"), 0);
}

static void
a_branch_that_moved_meanwhile_is_not_overwritten(void **state)
{
	static const char *const paths[] = { "b", NULL };
	struct job job;

	(void)state;
	make("echo 1 > a; echo 1 > b", "git rm -q b", NULL);
	plan(&job, paths);
	assert_int_equal(compose(&job), KS_OK);
	assert_int_equal(sh("git -C r commit -q --allow-empty -m meanwhile; "
		"git -C r rev-parse HEAD > before"), 0);
	assert_int_equal(ks_gitdb_rewrite_publish(job.rewrite, &job.err),
		KS_BUSY);
	assert_non_null(strstr(job.err.message, "refs/heads/main was moved"));
	finish(&job);
	assert_int_equal(sh("git -C r rev-parse HEAD | cmp - before"), 0);
	assert_string_equal(output("find r/.git -name '*.pack' -o -name "
		"'*.keep' -o -name '*.lock' ! -name kistore.lock"), "");
}

static void
a_step_may_end_it(void **state)
{
	static const char *const paths[] = { "b", NULL };
	struct job job;

	(void)state;
	make("echo 1 > a", NULL, NULL);
	assert_int_equal(sh("cd r; for i in $(seq 300); do c=$(git commit-tree "
		"-p HEAD -m $i HEAD^{tree}); git update-ref HEAD $c; done"),
		0);
	plan(&job, paths);
	job.plan.step = step;
	assert_int_equal(compose(&job), KS_CANCELLED);
	finish(&job);
}

static enum ks_status
take_name(void *arg, const char *name, const struct ks_oid *oid,
	struct ks_error *err)
{
	struct job *job = arg;
	size_t len = strlen(job->names);

	(void)err;
	assert_false(ks_oid_is_zero(oid));
	(void)snprintf(job->names + len, sizeof(job->names) - len, "%s\n",
		name);
	return job->verdict;
}

static void
others_that_lead_to_the_cuts_are_told(void **state)
{
	static const char *const paths[] = { "b", "d/x!", NULL };
	struct job job;

	(void)state;
	make("mkdir d; echo y > d/x; echo 1 > a", "echo 1 > b; echo x > d/x",
		"git rm -q b; echo X > d/x");
	assert_int_equal(sh("exec 2>/dev/null; set -e; cd r; "
		"git branch clean HEAD~2; git branch dirty HEAD~; "
		"git symbolic-ref refs/heads/sym refs/heads/dirty; "
		"git tag -a -m x t1 HEAD~; git tag -a -m x t2 t1; "
		"git tag clean-tree HEAD~2^{tree}; git tag tree HEAD~^{tree}; "
		"git tag blob HEAD~:d/x; git tag clean-blob HEAD:d/x; "
		"git worktree add -q --detach ../w1 HEAD~; "
		"git worktree add -q --detach ../w2 HEAD~2"), 0);
	plan(&job, paths);
	assert_int_equal(compose(&job), KS_OK);
	assert_int_equal(ks_gitdb_rewrite_others(job.rewrite, take_name, &job,
		&job.err), KS_OK);
	assert_string_equal(job.names, "refs/heads/dirty\nrefs/tags/blob\n"
		"refs/tags/t1\nrefs/tags/t2\nrefs/tags/tree\n"
		"worktrees/w1/HEAD\n");
	job.verdict = KS_INVALID;
	assert_int_equal(ks_gitdb_rewrite_others(job.rewrite, take_name, &job,
		&job.err), KS_INVALID);
	finish(&job);
}

static void
a_reference_that_leads_nowhere_is_named(void **state)
{
	static const char *const paths[] = { "b", NULL };
	struct job job;

	(void)state;
	make("echo 1 > b", "git rm -q b", NULL);
	assert_int_equal(sh("echo 1234567890123456789012345678901234567890 "
		"> r/.git/refs/heads/astray"), 0);
	plan(&job, paths);
	assert_int_equal(compose(&job), KS_OK);
	assert_int_equal(ks_gitdb_rewrite_others(job.rewrite, take_name, &job,
		&job.err), KS_CORRUPT);
	assert_non_null(strstr(job.err.message, "refs/heads/astray: "));
	finish(&job);
}

static void
what_is_left_is_counted_by_a_fresh_look(void **state)
{
	static const char *const paths[] = { "b", "x!", NULL };
	struct job job;
	uint64_t left = 99;

	(void)state;
	make("echo 1 > b; echo x > x", "echo 2 > b; echo x2 > x",
		"git rm -q b; echo X > x");
	rewrite(&job, paths);
	assert_int_equal(ks_gitdb_rewrite_left(job.rewrite, &left, &job.err),
		KS_OK);
	assert_int_equal(left, 4);
	assert_int_equal(ks_gitdb_prune(job.db, true, -1, &job.err), KS_OK);
	assert_int_equal(ks_gitdb_rewrite_left(job.rewrite, &left, &job.err),
		KS_OK);
	assert_int_equal(left, 0);
	finish(&job);
	assert_string_equal(output("cd r; git fsck --strict; git reflog"), "");
}

static void
references_are_deleted_by_name_and_id(void **state)
{
	static const char *const none[] = { "b", NULL };
	struct job job;
	char commands[256], id[64];

	(void)state;
	make("echo 1 > a", NULL, NULL);
	assert_int_equal(sh("cd r; git tag one; git pack-refs --all; "
		"git tag two; git tag three"), 0);
	(void)snprintf(id, sizeof(id), "%s", output("git -C r rev-parse one"));
	plan(&job, none);
	(void)snprintf(commands, sizeof(commands), "delete refs/tags/one %s\n"
		"delete refs/tags/two %s\n", id, id);
	assert_int_equal(ks_gitdb_delete_refs(job.db, ks_span_text(commands),
		-1, &job.err), KS_OK);
	assert_string_equal(output("git -C r tag"), "three");
	(void)snprintf(commands, sizeof(commands), "delete refs/tags/three "
		"%.39s%c\n", id, id[39] == '0' ? '1' : '0');
	assert_int_equal(ks_gitdb_delete_refs(job.db, ks_span_text(commands),
		-1, &job.err), KS_IO);
	assert_non_null(strstr(job.err.message, "git update-ref failed: "));
	assert_string_equal(output("git -C r tag; ls r/.git/objects | "
		"grep kistore"), "three");
	finish(&job);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_version_of_what_is_cut_goes_and_nothing_else),
		TEST(what_stands_at_a_cut_goes_whatever_it_is),
		TEST(a_root_that_is_left_empty_is_gits_empty_tree),
		TEST(files_are_edited_in_each_version_and_directories_are_not),
		TEST(an_edit_that_fails_ends_it_and_names_the_commit),
		TEST(nothing_to_cut_leaves_the_branch_where_it_is),
		TEST(paths_that_are_none_are_refused),
		TEST(a_newest_tree_that_would_change_is_refused),
		TEST(a_branch_that_moved_meanwhile_is_not_overwritten),
		TEST(a_step_may_end_it),
		TEST(others_that_lead_to_the_cuts_are_told),
		TEST(a_reference_that_leads_nowhere_is_named),
		TEST(what_is_left_is_counted_by_a_fresh_look),
		TEST(references_are_deleted_by_name_and_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
