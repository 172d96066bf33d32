#include "store/gitdb.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../lib/scratch.h"

/*
 * Each test runs in a directory of its own, which is the current one. Stock git
 * is the judge of what is written, and makes what is read.
 */

#define LIMIT ((uint64_t)64 << 20)
#define CHANGES_MAX 64

static int
teardown(void **state)
{
	(void)umask(022);
	return scratch_teardown(state);
}

/* A HOME without anybody's configuration; libgit2 looks for it once. */
static char home[64];

static int
make_home(void **state)
{
	(void)state;
	(void)snprintf(home, sizeof(home), "/tmp/kistore-home-XXXXXX");
	return mkdtemp(home) == NULL || setenv("HOME", home, 1) != 0 ||
		unsetenv("XDG_CONFIG_HOME") != 0;
}

static int
remove_home(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command) != 0;
}

static struct ks_gitdb *
create(const char *path, bool worktree)
{
	struct ks_gitdb *db;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_gitdb_create(&db, path, worktree, &err) != KS_OK)
		fail_msg("%s", err.message);
	return db;
}

static struct ks_gitdb *
open_db(const char *path)
{
	struct ks_gitdb *db;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_gitdb_open(&db, path, true, &err) != KS_OK)
		fail_msg("%s", err.message);
	return db;
}

/* Path and text; a NULL text removes. Ends with a NULL path. */
struct edit {
	const char *path;
	const char *text;
};

static struct ks_oid
head_tree(struct ks_gitdb *db, struct ks_git_head *head)
{
	struct ks_git_commit commit;
	struct ks_oid none = { { 0 } };

	assert_int_equal(ks_gitdb_head(db, head, NULL), KS_OK);
	if (head->unborn)
		return none;
	assert_int_equal(ks_gitdb_commit(db, &head->commit, &commit, NULL),
		KS_OK);
	return commit.tree;
}

/* Begin, add and finish, but do not publish. */
static enum ks_status
stage(struct ks_gitdb *db, const struct edit *edits, size_t expected,
	struct ks_git_writer **writer, struct ks_error *err)
{
	struct ks_git_change changes[CHANGES_MAX];
	struct ks_git_head head;
	struct ks_oid tree = head_tree(db, &head);
	struct ks_oid commit;
	enum ks_status status;
	size_t n;

	memset(changes, 0, sizeof(changes));
	status = ks_gitdb_begin(writer, db, expected, err);
	for (n = 0; status == KS_OK && edits[n].path != NULL; n++) {
		changes[n].path = edits[n].path;
		if (edits[n].text != NULL)
			status = ks_gitdb_add(*writer,
				ks_span_text(edits[n].text), n % 2 == 0,
				&changes[n].oid, err);
	}
	if (status == KS_OK)
		status = ks_gitdb_tree(*writer, &tree, changes, n, &tree, err);
	if (status == KS_OK)
		status = ks_gitdb_finish(*writer, &tree, &head, "a put", 86400,
			&commit, err);
	return status;
}

static enum ks_status
put_status(struct ks_gitdb *db, const struct edit *edits, struct ks_error *err)
{
	struct ks_git_writer *writer;
	struct ks_lock lock = KS_LOCK_INIT;
	enum ks_status status;

	status = ks_lock_take(&lock, ks_gitdb_directory(db), 0, NULL, err);
	if (status != KS_OK)
		return status;
	status = stage(db, edits, 1, &writer, err);
	if (status == KS_OK)
		status = ks_gitdb_publish(writer, err);
	ks_gitdb_end(writer);
	ks_lock_release(&lock);
	return status;
}

static void
put(struct ks_gitdb *db, const struct edit *edits)
{
	struct ks_error err = KS_ERROR_INIT;

	if (put_status(db, edits, &err) != KS_OK)
		fail_msg("%s", err.message);
}

static const struct edit first_edits[] = {
	{ "README.md", "read me\n" },
	{ "log/000/000.jsonl", "one\n" },
	{ "objects/c/32/52.zst", "frame one" },
	{ NULL, NULL }
};

static const struct edit second_edits[] = {
	{ "log/000/000.jsonl", "one\ntwo\n" },
	{ "objects/c/32/53.zst", "frame two" },
	{ "objects/d/00/00.zst", "frame three" },
	{ NULL, NULL }
};

/* Whether the file at `path` in HEAD holds `text`. */
static void
assert_reads(struct ks_gitdb *db, const char *path, const char *text)
{
	struct ks_git_head head;
	struct ks_oid tree = head_tree(db, &head);
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_gitdb_read(db, &tree, path, LIMIT, &bytes, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_true(ks_span_is(ks_buf_span(&bytes), text));
	ks_buf_release(&bytes);
}

static void
a_new_bare_repository_is_one_for_git_too(void **state)
{
	struct ks_gitdb *db = create("made/for/r", false);
	struct ks_git_head head;

	(void)state;
	assert_null(ks_gitdb_worktree(db));
	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	assert_true(head.unborn);
	assert_false(head.detached);
	assert_string_equal(head.branch, "refs/heads/main");
	assert_true(ks_oid_is_zero(&head.commit));
	assert_string_equal(output("git -C made/for/r rev-parse "
		"--is-bare-repository"), "true");
	assert_int_equal(sh("git -C made/for/r fsck --strict 2>/dev/null"), 0);
	assert_int_equal(sh("grep -q -e -delta "
		"made/for/r/info/attributes"), 0);
	ks_gitdb_close(db);
}

static void
a_new_repository_with_a_work_tree_is_one_for_git_too(void **state)
{
	struct ks_gitdb *db = create("r", true);
	char expected[128];

	(void)state;
	(void)snprintf(expected, sizeof(expected), "%s/r/",
		scratch_directory);
	assert_string_equal(ks_gitdb_worktree(db), expected);
	(void)snprintf(expected, sizeof(expected), "%s/r/.git/",
		scratch_directory);
	assert_string_equal(ks_gitdb_directory(db), expected);
	assert_string_equal(output("git -C r status --porcelain --branch"),
		"## No commits yet on main");
	ks_gitdb_close(db);
}

static void
creating_refuses_what_is_there_and_leaves_it_as_it_was(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	ks_gitdb_close(db);
	assert_int_equal(sh("mkdir full; echo x > full/x; echo y > file"), 0);
	assert_int_equal(ks_gitdb_create(&db, "r", false, NULL), KS_EXISTS);
	assert_null(db);
	assert_int_equal(ks_gitdb_create(&db, "full", true, &err), KS_EXISTS);
	assert_string_equal(err.message, "full: exists and is not empty");
	assert_int_equal(ks_gitdb_create(&db, "file", false, NULL), KS_IO);
	assert_int_equal(ks_gitdb_create(&db, "file/r", false, NULL), KS_IO);
	assert_int_equal(ks_gitdb_create(&db, "new/full/../../file", false,
		NULL), KS_IO);
	assert_string_equal(output("cat full/x file; ls full; ls"),
		"x\ny\nx\nfile\nfull\nr");
	assert_int_equal(sh("mkdir empty"), 0);
	db = create("empty", false);
	ks_gitdb_close(db);
}

static void
a_failing_creation_removes_what_it_made(void **state)
{
	struct rlimit limit, small = { .rlim_cur = 20, .rlim_max = 20 };
	struct ks_gitdb *db;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	/* Files of more than 20 bytes cannot be written. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small.rlim_max = limit.rlim_max;
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(ks_gitdb_create(&db, "a/b/r", true, &err), KS_IO);
	assert_int_equal(mkdir("empty", 0700), 0);
	assert_int_equal(ks_gitdb_create(&db, "empty", false, NULL), KS_IO);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
	assert_string_equal(output("find . | sort"), ".\n./empty");
}

static void
every_layout_that_git_knows_is_opened(void **state)
{
	static const struct {
		const char *path;
		bool search;
		enum ks_status status;
		const char *directory, *worktree;
	} table[] = {
		{ "wt", false, KS_OK, "wt/.git/", "wt/" },
		{ "wt/.git", false, KS_OK, "wt/.git/", "wt/" },
		{ "wt/log", true, KS_OK, "wt/.git/", "wt/" },
		{ "wt/log", false, KS_NOT_FOUND, NULL, NULL },
		{ "bare.git", false, KS_OK, "bare.git/", NULL },
		{ "bare.git/refs", true, KS_OK, "bare.git/", NULL },
		{ "linked", false, KS_OK, "bare.git/", "linked/" },
		{ "linked/log", true, KS_OK, "bare.git/", "linked/" },
		{ "around", false, KS_OK, "around/.bare/", NULL },
		{ "apart", false, KS_OK, "git-of-apart/", "apart/" },
		{ "configured.git", false, KS_OK, "configured.git/", NULL },
		{ "plain", false, KS_NOT_FOUND, NULL, NULL },
		{ "absent", true, KS_NOT_FOUND, NULL, NULL },
		{ "file", false, KS_NOT_FOUND, NULL, NULL },
	};
	struct ks_gitdb *db = create("wt", true);
	size_t i;

	(void)state;
	put(db, first_edits);
	ks_gitdb_close(db);
	assert_int_equal(sh("exec 2>/dev/null; set -e; "
		"git clone -q --bare wt bare.git; "
		"git -C bare.git worktree add -q ../linked; "
		"mkdir around; git clone -q --bare wt around/.bare; "
		"echo 'gitdir: ./.bare' > around/.git; "
		"git clone -q --separate-git-dir git-of-apart wt apart; "
		"git clone -q --bare wt configured.git; "
		"git -C configured.git config extensions.worktreeConfig true; "
		"git -C configured.git config --unset core.bare; "
		"git -C configured.git config --worktree core.bare true; "
		"mkdir plain; : > file"), 0);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char path[256];
		enum ks_status status = ks_gitdb_open(&db, table[i].path,
			table[i].search, NULL);

		assert_int_equal(status, table[i].status);
		if (status != KS_OK) {
			assert_null(db);
			continue;
		}
		(void)snprintf(path, sizeof(path), "%s/%s",
			scratch_directory, table[i].directory);
		assert_string_equal(ks_gitdb_directory(db), path);
		if (table[i].worktree == NULL)
			assert_null(ks_gitdb_worktree(db));
		else
			assert_reads(db, "log/000/000.jsonl", "one\n");
		ks_gitdb_close(db);
	}
}

static void
puts_work_in_every_layout(void **state)
{
	static const char *const layouts[] = { "wt", "bare.git", "linked",
		"around", "apart" };
	struct ks_gitdb *db = create("wt", true);
	size_t i;

	(void)state;
	put(db, first_edits);
	ks_gitdb_close(db);
	assert_int_equal(sh("exec 2>/dev/null; set -e; "
		"git clone -q --bare wt bare.git; "
		"git -C bare.git worktree add -q ../linked; "
		"mkdir around; git clone -q --bare wt around/.bare; "
		"echo 'gitdir: ./.bare' > around/.git; "
		"git clone -q --separate-git-dir git-of-apart wt apart"), 0);
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		char script[256];

		db = open_db(layouts[i]);
		put(db, second_edits);
		assert_reads(db, "log/000/000.jsonl", "one\ntwo\n");
		ks_gitdb_close(db);
		(void)snprintf(script, sizeof(script), "cd %s && "
			"git fsck --strict 2>/dev/null && "
			"test $(git rev-list --count HEAD) = 2", layouts[i]);
		assert_int_equal(sh(script), 0);
	}
	assert_string_equal(output("for d in wt linked apart; do "
		"git -C $d status --porcelain; done"), "");
}

static void
what_libgit2_does_not_know_is_unsupported_and_named(void **state)
{
	static const struct {
		const char *change;
		enum ks_status status;
		const char *names;
	} table[] = {
		{ "git init -q --object-format=sha256 r", KS_UNSUPPORTED,
			"extensions.objectformat" },
		{ "git init -q r; git -C r config core.repositoryformatversion "
			"1; git -C r config extensions.strange 1",
			KS_UNSUPPORTED, "extensions.strange" },
		{ "git init -q r; git -C r config core.repositoryformatversion "
			"7", KS_UNSUPPORTED, "version 7" },
		{ "git init -q r; git -C r config core.repositoryformatversion "
			"1; git -C r config extensions.preciousObjects true",
			KS_OK, "" },
		{ "git init -q r; git -C r config core.repositoryformatversion "
			"1; git -C r config extensions.worktreeConfig true; "
			"git -C r config --worktree core.worktree /tmp",
			KS_UNSUPPORTED, "core.worktree" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_gitdb *db;
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(sh("rm -rf r"), 0);
		(void)sh(table[i].change);
		assert_int_equal(ks_gitdb_open(&db, "r", false, &err),
			table[i].status);
		assert_non_null(strstr(err.message, table[i].names));
		ks_gitdb_close(db);
	}
}

static void
a_foreign_owner_is_judged_as_git_does(void **state)
{
	static const struct {
		const char *config;
		enum ks_status status;
	} table[] = {
		{ "rm -f $HOME/.gitconfig", KS_IO },
		{ "git config --global safe.directory $PWD/r", KS_OK },
		{ "git config --global safe.directory $PWD/other", KS_IO },
		{ "git config --global safe.directory '*'", KS_OK },
		{ "git config --global --add safe.directory ''", KS_IO },
	};
	size_t i;

	(void)state;
	if (geteuid() != 0) {
		print_message("not run as root\n");
		skip();
	}
	assert_int_equal(sh("git init -q r; git init -q --bare b; "
		"git -C r config safe.directory '*'; "
		"chown -R 12345:12345 r b"), 0);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_gitdb *db;
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(sh(table[i].config), 0);
		assert_int_equal(ks_gitdb_open(&db, "r", false, &err),
			table[i].status);
		assert_int_equal(sh("git -C r status >/dev/null 2>&1") == 0,
			table[i].status == KS_OK);
		if (db == NULL) {
			assert_non_null(strstr(err.message, "uid 12345"));
			assert_non_null(strstr(err.message, "uid 0"));
			assert_non_null(strstr(err.message, "git config "
				"--global --add safe.directory /"));
		}
		ks_gitdb_close(db);
	}
	assert_int_equal(sh("rm -f $HOME/.gitconfig"), 0);
}

static void
head_is_read_in_all_its_states(void **state)
{
	static const struct {
		const char *change;
		enum ks_status status;
		const char *branch;
		bool unborn, detached;
	} table[] = {
		{ "true", KS_OK, "refs/heads/main", false, false },
		{ "git branch -m main trunk", KS_OK, "refs/heads/trunk", false,
			false },
		{ "git pack-refs --all", KS_OK, "refs/heads/trunk", false,
			false },
		{ "git update-ref --no-deref HEAD HEAD", KS_OK, "", false,
			true },
		{ "git symbolic-ref HEAD refs/heads/gone", KS_OK,
			"refs/heads/gone", true, false },
		{ "git symbolic-ref refs/heads/gone refs/heads/trunk", KS_OK,
			"refs/heads/trunk", false, false },
		{ "git symbolic-ref HEAD refs/tags/x", KS_UNSUPPORTED, NULL,
			false, false },
		{ "git symbolic-ref HEAD refs/heads/e; : > refs/heads/e",
			KS_CORRUPT, NULL, false, false },
		{ "echo 'ref: refs/heads/e' > refs/heads/e", KS_CORRUPT, NULL,
			false, false },
		{ "echo rubbish > HEAD", KS_CORRUPT, NULL, false, false },
	};
	struct ks_gitdb *db = create("r", false);
	size_t i;

	(void)state;
	put(db, first_edits);
	assert_int_equal(chdir("r"), 0);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_git_head head;
		struct ks_error err = KS_ERROR_INIT;

		(void)sh(table[i].change);
		assert_int_equal(ks_gitdb_head(db, &head, &err),
			table[i].status);
		if (table[i].status != KS_OK)
			continue;
		assert_string_equal(head.branch, table[i].branch);
		assert_int_equal(head.unborn, table[i].unborn);
		assert_int_equal(head.detached, table[i].detached);
		assert_int_equal(ks_oid_is_zero(&head.commit), head.unborn);
	}
	ks_gitdb_close(db);
}

static void
three_commits_are_what_stock_git_says_they_are(void **state)
{
	static const struct edit third[] = {
		{ "README.md", NULL },
		{ "objects/c/32/52.zst", NULL },
		{ "objects/c/32/53.zst", NULL },
		{ NULL, NULL }
	};
	struct ks_gitdb *db = create("r", false);

	(void)state;
	put(db, first_edits);
	put(db, second_edits);
	put(db, third);
	ks_gitdb_close(db);
	assert_int_equal(chdir("r"), 0);
	assert_int_equal(sh("git fsck --strict --full 2>&1 | "
		"grep -v '^notice' > ../fsck; test ! -s ../fsck"), 0);
	assert_string_equal(output("git log --format='%s|%ci|%at'"),
		"a put|1970-01-02 00:00:00 +0000|86400\n"
		"a put|1970-01-02 00:00:00 +0000|86400\n"
		"a put|1970-01-02 00:00:00 +0000|86400");
	assert_string_equal(output("git ls-tree -r --name-only HEAD~2"),
		"README.md\nlog/000/000.jsonl\nobjects/c/32/52.zst");
	assert_string_equal(output("git ls-tree -r HEAD | cut -f1 -d' ' | "
		"sort -u; git ls-tree -r --name-only HEAD"),
		"100644\nlog/000/000.jsonl\nobjects/d/00/00.zst");
	assert_string_equal(output("git cat-file -p HEAD~1:"
		"objects/c/32/53.zst; git show HEAD:log/000/000.jsonl"),
		"frame twoone\ntwo");
	assert_string_equal(output("ls objects; ls objects/pack | "
		"sed 's/.*\\.//' | sort | uniq -c | tr -s ' '"),
		"info\npack\n 3 idx\n 3 pack");
}

static void
commits_are_by_gits_identity_or_by_kistore(void **state)
{
	struct ks_gitdb *db = create("r", false);

	(void)state;
	if (sh("git config --system user.name >/dev/null") != 0) {
		put(db, first_edits);
		assert_string_equal(output("git -C r log -1 "
			"--format='%an <%ae> %cn <%ce>'"),
			"kistore <kistore@localhost> "
			"kistore <kistore@localhost>");
	}
	assert_int_equal(sh("git -C r config user.name 'A <b> U Thor'; "
		"git -C r config user.email a@example.org"), 0);
	put(db, second_edits);
	assert_string_equal(output("git -C r log -1 --format='%an <%ae>'"),
		"A b U Thor <a@example.org>");
	assert_int_equal(sh("git -C r fsck --strict 2>/dev/null"), 0);
	ks_gitdb_close(db);
}

static void
objects_of_every_size_and_many_of_them_survive(void **state)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 2047, 2048, 65534, 65535,
		65536, 131070, 131071, (1 << 20) + 1, 5 << 20 };
	const size_t count = sizeof(sizes) / sizeof(sizes[0]);
	struct ks_git_change changes[2 * sizeof(sizes) / sizeof(sizes[0])];
	char names[2 * sizeof(sizes) / sizeof(sizes[0])][16];
	struct ks_gitdb *db = create("r", false);
	struct ks_git_writer *writer;
	struct ks_git_head head;
	struct ks_oid tree = head_tree(db, &head);
	struct ks_oid commit, again;
	uint8_t *bytes = malloc(5 << 20);
	size_t i;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < 5 << 20; i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	assert_int_equal(ks_gitdb_begin(&writer, db, 1000, NULL), KS_OK);
	for (i = 0; i < 2 * count; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "%c%02d",
			i < count ? 'a' : 'b', (int)(i % count));
		changes[i].path = names[i];
		/* Stored and deflated ones must differ to be both written. */
		bytes[0] = i < count ? 's' : 'd';
		assert_int_equal(ks_gitdb_add(writer, ks_span(bytes,
			sizes[i % count]), i < count, &changes[i].oid, NULL),
			KS_OK);
		assert_int_equal(ks_gitdb_add(writer, ks_span(bytes,
			sizes[i % count]), i >= count, &again, NULL), KS_OK);
		assert_true(ks_oid_equal(&again, &changes[i].oid));
	}
	assert_int_equal(ks_gitdb_tree(writer, &tree, changes, 2 * count,
		&tree, NULL), KS_OK);
	assert_int_equal(ks_gitdb_finish(writer, &tree, &head, "sizes", 1,
		&commit, NULL), KS_OK);
	assert_int_equal(ks_gitdb_publish(writer, NULL), KS_OK);
	ks_gitdb_end(writer);
	assert_int_equal(sh("git -C r fsck --strict 2>/dev/null"), 0);
	for (i = 0; i < 2 * count; i++) {
		struct ks_buf found = KS_BUF_INIT;

		bytes[0] = i < count ? 's' : 'd';
		assert_int_equal(ks_gitdb_blob(db, &changes[i].oid, LIMIT,
			true, &found, NULL), KS_OK);
		assert_true(ks_span_equal(ks_buf_span(&found),
			ks_span(bytes, sizes[i % count])));
		ks_buf_release(&found);
	}
	free(bytes);
	ks_gitdb_close(db);
}

/* Bytes that are read in pieces of at most `step`. */
struct pieces {
	struct ks_span bytes;
	size_t step;
	uint64_t failing;	/* from here on they cannot be read */
};

static enum ks_status
read_some(void *arg, uint64_t at, struct ks_span *bytes, struct ks_error *err)
{
	const struct pieces *pieces = arg;
	size_t left = pieces->bytes.len - (size_t)at;

	assert_true(at < pieces->bytes.len);
	if (at >= pieces->failing)
		return ks_fail(err, KS_IO, "no more of them");
	*bytes = ks_span(pieces->bytes.data + at,
		left < pieces->step ? left : pieces->step);
	return KS_OK;
}

/* Add all sizes in pieces, and one of them whole; commit. */
static void
put_pieces(struct ks_gitdb *db, uint8_t *bytes, const size_t *sizes,
	size_t count, size_t step)
{
	struct ks_git_change changes[16];
	char names[16][16];
	struct ks_git_writer *writer;
	struct ks_git_head head;
	struct ks_oid tree = head_tree(db, &head);
	struct ks_oid commit, again;
	size_t i;

	assert_int_equal(ks_gitdb_begin(&writer, db, count, NULL), KS_OK);
	for (i = 0; i < count; i++) {
		struct pieces pieces = { ks_span(bytes, sizes[i]), step,
			UINT64_MAX };

		(void)snprintf(names[i], sizeof(names[i]), "p%02d", (int)i);
		changes[i].path = names[i];
		assert_int_equal(ks_gitdb_add_pieces(writer, sizes[i],
			read_some, &pieces, &changes[i].oid, NULL), KS_OK);
		/* The same once more, and whole: a pack has it once. */
		assert_int_equal(ks_gitdb_add_pieces(writer, sizes[i],
			read_some, &pieces, &again, NULL), KS_OK);
		assert_true(ks_oid_equal(&again, &changes[i].oid));
		assert_int_equal(ks_gitdb_add(writer, pieces.bytes, true,
			&again, NULL), KS_OK);
		assert_true(ks_oid_equal(&again, &changes[i].oid));
	}
	assert_int_equal(ks_gitdb_tree(writer, &tree, changes, count, &tree,
		NULL), KS_OK);
	assert_int_equal(ks_gitdb_finish(writer, &tree, &head, "pieces", 1,
		&commit, NULL), KS_OK);
	assert_int_equal(ks_gitdb_publish(writer, NULL), KS_OK);
	ks_gitdb_end(writer);
	for (i = 0; i < count; i++) {
		struct ks_buf found = KS_BUF_INIT;

		assert_int_equal(ks_gitdb_blob(db, &changes[i].oid, LIMIT,
			true, &found, NULL), KS_OK);
		assert_true(ks_span_equal(ks_buf_span(&found),
			ks_span(bytes, sizes[i])));
		ks_buf_release(&found);
	}
}

static void
blobs_in_pieces_are_those_that_they_would_be_whole(void **state)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 65534, 65535, 65536,
		131070, (1 << 20) + 1, 5 << 20 };
	static const size_t steps[] = { 1000, 65535, 3 << 20 };
	struct ks_gitdb *db = create("r", false);
	uint8_t *bytes = malloc(5 << 20);
	size_t i;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < 5 << 20; i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		bytes[0] = (uint8_t)i;
		put_pieces(db, bytes, sizes, sizeof(sizes) / sizeof(sizes[0]),
			steps[i]);
	}
	assert_int_equal(sh("git -C r fsck --strict 2>/dev/null"), 0);
	/* And as loose objects. */
	for (i = 0; i < KS_GITDB_PACK_LIMIT; i++) {
		char text[32];
		const struct edit edits[] = { { "n", text }, { NULL, NULL } };

		(void)snprintf(text, sizeof(text), "put %zu", i);
		put(db, edits);
	}
	bytes[0] = 'l';
	put_pieces(db, bytes, sizes, sizeof(sizes) / sizeof(sizes[0]), 70000);
	assert_int_equal(sh("git -C r fsck --strict 2>/dev/null"), 0);
	assert_string_equal(output("cd r; find objects -name 'kistore*'; "
		"stat -c %a objects/[0-9a-f][0-9a-f]/* | sort -u"), "444");
	free(bytes);
	ks_gitdb_close(db);
}

static void
a_blob_whose_pieces_fail_is_not_there(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_git_writer *writer;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_oid oid;
	uint8_t bytes[2000] = { 0 };
	struct pieces pieces = { ks_span(bytes, 2000), 500, 1000 };

	(void)state;
	assert_int_equal(ks_gitdb_begin(&writer, db, 1, NULL), KS_OK);
	assert_int_equal(ks_gitdb_add_pieces(writer, 2000, read_some, &pieces,
		&oid, &err), KS_IO);
	assert_string_equal(err.message, "no more of them");
	assert_true(ks_oid_is_zero(&oid));
	ks_gitdb_end(writer);
	assert_string_equal(output("cd r; find objects -type f"), "");
	ks_gitdb_close(db);
}

struct using {
	struct ks_span expected;
	enum ks_status answer;
};

static enum ks_status
use_bytes(void *arg, struct ks_span bytes, struct ks_error *err)
{
	const struct using *using = arg;

	assert_true(ks_span_equal(bytes, using->expected));
	return using->answer == KS_OK ? KS_OK :
		ks_fail(err, using->answer, "enough");
}

static void
a_blob_is_used_without_a_copy(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct using using = { ks_span_text("read me"), KS_OK };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_git_head head;
	struct ks_git_entry entry;
	struct ks_oid tree;
	const struct edit edits[] = { { "README.md", "read me" },
		{ NULL, NULL } };

	(void)state;
	put(db, edits);
	tree = head_tree(db, &head);
	assert_int_equal(ks_gitdb_find(db, &tree, "README.md", &entry, NULL),
		KS_OK);
	assert_int_equal(ks_gitdb_blob_use(db, &entry.oid, 7, use_bytes,
		&using, &err), KS_OK);
	using.answer = KS_CANCELLED;
	assert_int_equal(ks_gitdb_blob_use(db, &entry.oid, 7, use_bytes,
		&using, &err), KS_CANCELLED);
	assert_int_equal(ks_gitdb_blob_use(db, &entry.oid, 6, use_bytes,
		NULL, &err), KS_CORRUPT);
	assert_int_equal(ks_gitdb_blob_use(db, &tree, LIMIT, use_bytes, NULL,
		&err), KS_CORRUPT);
	ks_gitdb_close(db);
}

static enum ks_status
count_entry(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	size_t *left = arg;

	assert_non_null(entry->name);
	if (*left == 0)
		return ks_fail(err, KS_CANCELLED, "enough");
	(*left)--;
	return KS_OK;
}

static void
paths_are_found_and_trees_listed(void **state)
{
	static const struct {
		const char *path;
		enum ks_status status;
		uint32_t mode;
	} table[] = {
		{ "README.md", KS_OK, 0100644 },
		{ "objects", KS_OK, 040000 },
		{ "objects/c/32/52.zst", KS_OK, 0100644 },
		{ "objects/c/32/5", KS_NOT_FOUND, 0 },
		{ "README.md/x", KS_NOT_FOUND, 0 },
		{ "README", KS_NOT_FOUND, 0 },
		{ "", KS_NOT_FOUND, 0 },
		{ "objects/", KS_NOT_FOUND, 0 },
		{ "objects//c", KS_NOT_FOUND, 0 },
		{ "/objects", KS_NOT_FOUND, 0 },
		{ "../r/objects", KS_NOT_FOUND, 0 },
	};
	struct ks_gitdb *db = create("r", false);
	struct ks_git_head head;
	struct ks_git_entry entry;
	struct ks_oid tree;
	size_t i, left = 9;

	(void)state;
	put(db, first_edits);
	tree = head_tree(db, &head);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(ks_gitdb_find(db, &tree, table[i].path,
			&entry, NULL), table[i].status);
		assert_int_equal(entry.mode, table[i].mode);
		assert_null(entry.name);
	}
	assert_int_equal(ks_gitdb_list(db, &tree, count_entry, &left, NULL),
		KS_OK);
	assert_int_equal(left, 6);
	left = 1;
	assert_int_equal(ks_gitdb_list(db, &tree, count_entry, &left, NULL),
		KS_CANCELLED);
	/* A blob is no tree, a tree no blob, a commit neither. */
	assert_int_equal(ks_gitdb_list(db, &head.commit, count_entry, &left,
		NULL), KS_CORRUPT);
	assert_int_equal(ks_gitdb_find(db, &head.commit, "x", &entry, NULL),
		KS_CORRUPT);
	ks_gitdb_close(db);
}

static struct ks_oid
parse(const char *hex)
{
	struct ks_oid oid = { { 0 } };

	assert_true(ks_oid_parse(&oid, hex));
	return oid;
}

static void
ids_are_strict_lower_case_hex(void **state)
{
	struct ks_oid oid;
	char text[KS_OID_HEX + 1];
	const char *good = "0123456789abcdef0123456789abcdef01234567";

	(void)state;
	assert_true(ks_oid_parse(&oid, good));
	assert_string_equal(ks_oid_print(&oid, text), good);
	assert_false(ks_oid_is_zero(&oid));
	assert_false(ks_oid_parse(&oid, ""));
	assert_false(ks_oid_parse(&oid,
		"0123456789abcdef0123456789abcdef0123456"));
	assert_false(ks_oid_parse(&oid,
		"0123456789abcdef0123456789abcdef012345678"));
	assert_false(ks_oid_parse(&oid,
		"0123456789ABCDEF0123456789abcdef01234567"));
	assert_false(ks_oid_parse(&oid,
		"0123456789abcdef 123456789abcdef01234567"));
}

static void
absent_damaged_and_oversized_blobs_are_told_apart_from_good_ones(void **state)
{
	static const struct {
		const char *damage;
		enum ks_status unchecked, checked;
	} table[] = {
		{ "true", KS_OK, KS_OK },
		/* "HELLO" under the name of "hello". */
		{ "d=objects/b6; f=$d/fc4c620b67d95f953a5c1c1230aaab5db5a1b0; "
			"o=$(printf HELLO | git hash-object -w --stdin); "
			"cp objects/$(echo $o | sed 's,^..,&/,') $f", KS_OK,
			KS_CORRUPT },
		{ ": > objects/b6/fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
			KS_CORRUPT, KS_CORRUPT },
		{ "head -c 21 /dev/zero > "
			"objects/b6/fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
			KS_CORRUPT, KS_CORRUPT },
		{ "rm objects/b6/fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
			KS_CORRUPT, KS_CORRUPT },
		{ "mkdir objects/b6/fc4c620b67d95f953a5c1c1230aaab5db5a1b0",
			KS_CORRUPT, KS_CORRUPT },
	};
	struct ks_oid oid = parse("b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
	struct ks_gitdb *db = create("r", false);
	struct ks_buf bytes = KS_BUF_INIT;
	size_t i;

	(void)state;
	assert_int_equal(chdir("r"), 0);
	assert_int_equal(sh("printf hello | git hash-object -w --stdin "
		">/dev/null; chmod -R u+w objects"), 0);
	assert_int_equal(ks_gitdb_blob(db, &oid, 5, true, &bytes, NULL),
		KS_OK);
	assert_true(ks_span_is(ks_buf_span(&bytes), "hello"));
	assert_int_equal(ks_gitdb_blob(db, &oid, 4, true, &bytes, NULL),
		KS_CORRUPT);
	ks_gitdb_close(db);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		(void)sh(table[i].damage);
		db = open_db(".");
		assert_int_equal(ks_gitdb_blob(db, &oid, LIMIT, false, &bytes,
			NULL), table[i].unchecked);
		assert_int_equal(ks_gitdb_blob(db, &oid, LIMIT, true, &bytes,
			NULL), table[i].checked);
		ks_gitdb_close(db);
	}
	ks_buf_release(&bytes);
}

static void
a_damaged_pack_is_corrupt_and_never_a_crash(void **state)
{
	static const char *const damages[] = {
		"head -c 40 p > $f; mv $f x; cp x $f",
		": > $f",
		"head -c $(stat -c %s p) /dev/zero > $f",
		"cp p $f; printf XXXX | dd of=$f bs=1 conv=notrunc",
		"cp p $f; printf '\\377\\377\\377\\377\\377\\377\\377' | "
			"dd of=$f bs=1 seek=12 conv=notrunc",
		"cp p $f; f=$(ls objects/pack/*.idx); : > $f",
		"cp i $f; head -c 1100 i > $f",
		"cp i $f; printf '\\377\\377\\377\\377' | "
			"dd of=$f bs=1 seek=8 conv=notrunc",
	};
	static const struct edit one[] = {
		{ "a", "some text that is long enough to be damaged" },
		{ NULL, NULL }
	};
	struct ks_gitdb *db = create("r", false);
	struct ks_git_head head;
	struct ks_oid oid = parse("0ad5b24c9b9ae0b3a5d1cd26d3b4ff4ab9aa5f40");
	char script[512];
	size_t i;

	(void)state;
	put(db, one);
	assert_true(ks_oid_parse(&oid, output("git -C r rev-parse HEAD:a")));
	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	ks_gitdb_close(db);
	assert_int_equal(chdir("r"), 0);
	assert_int_equal(sh("chmod u+w objects/pack/*; "
		"cp objects/pack/*.pack p; cp objects/pack/*.idx i"), 0);
	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct ks_buf bytes = KS_BUF_INIT;
		struct ks_git_commit commit;

		(void)snprintf(script, sizeof(script), "exec 2>/dev/null; "
			"f=$(ls objects/pack/*.%s); %s",
			i < 6 ? "pack" : "idx", damages[i]);
		(void)sh(script);
		db = open_db(".");
		assert_int_not_equal(ks_gitdb_blob(db, &oid, LIMIT, true,
			&bytes, NULL), KS_IO);
		assert_int_not_equal(ks_gitdb_commit(db, &head.commit, &commit,
			NULL), KS_IO);
		ks_buf_release(&bytes);
		ks_gitdb_close(db);
	}
}

/* The tree that a base and edits make, by kistore and by git. */
static void
trees_are_those_that_git_makes(void **state)
{
	static const struct {
		struct edit base[6];
		struct edit edits[6];
	} table[] = {
		{ { { NULL, NULL } }, { { NULL, NULL } } },
		{ { { NULL, NULL } }, { { "a", "1" }, { NULL, NULL } } },
		{ { { NULL, NULL } }, { { "a-", "1" }, { "a.b", "2" },
			{ "a/x", "3" }, { "a0", "4" }, { NULL, NULL } } },
		{ { { "a.b", "1" }, { "a/x", "2" }, { "a0", "3" },
			{ NULL, NULL } }, { { "a-", "4" }, { "a/y", "5" },
			{ "ab", "6" }, { NULL, NULL } } },
		{ { { "d/e/f", "1" }, { NULL, NULL } }, { { "d/e/f", NULL },
			{ NULL, NULL } } },
		{ { { "d/e/f", "1" }, { "x", "2" }, { NULL, NULL } },
			{ { "d/e/f", NULL }, { NULL, NULL } } },
		{ { { "d/e", "1" }, { NULL, NULL } }, { { "d/absent", NULL },
			{ "other/absent", NULL }, { NULL, NULL } } },
		{ { { "a", "1" }, { NULL, NULL } }, { { "a", NULL },
			{ "a.b", "2" }, { "a/x", "3" }, { NULL, NULL } } },
		{ { { "a/x", "1" }, { "b", "2" }, { NULL, NULL } },
			{ { "a/x", "1" }, { "b", "2" }, { NULL, NULL } } },
		{ { { "m", "1" }, { NULL, NULL } }, { { "a/b/c/d/e/f", "2" },
			{ "z/y/x", "3" }, { NULL, NULL } } },
		{ { { "\303\251", "1" }, { NULL, NULL } }, { { "e", "2" },
			{ "\303\251/x", NULL }, { "\303\252", "3" },
			{ NULL, NULL } } },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_gitdb *db = create("r", false);
		char expected[KS_OID_HEX + 1];

		if (table[i].base[0].path != NULL)
			put(db, table[i].base);
		put(db, table[i].edits);
		(void)snprintf(expected, sizeof(expected), "%s",
			output("git -C r rev-parse HEAD^{tree}"));
		assert_int_equal(sh("mkdir g; git -C g init -q"), 0);
		for (k = 0; k < 12; k++) {
			const struct edit *edit = k < 6 ? &table[i].base[k] :
				&table[i].edits[k - 6];
			char script[256];

			if (edit->path == NULL)
				continue;
			(void)snprintf(script, sizeof(script), edit->text ?
				"cd g; git update-index --add --cacheinfo "
				"100644,$(printf '%s' %s | git hash-object -w "
				"--stdin),%s" :
				"cd g; git update-index --force-remove "
				"%.0s%.0s%s", "%s",
				edit->text ? edit->text : "", edit->path);
			assert_int_equal(sh(script), 0);
		}
		assert_string_equal(output("git -C g write-tree"), expected);
		assert_int_equal(sh("git -C r fsck --strict 2>/dev/null; "
			"rm -rf r g"), 0);
		ks_gitdb_close(db);
	}
}

static void
an_emptied_tree_is_gits_empty_tree(void **state)
{
	static const struct edit remove[] = {
		{ "README.md", NULL },
		{ "log/000/000.jsonl", NULL },
		{ "objects/c/32/52.zst", NULL },
		{ NULL, NULL }
	};
	struct ks_gitdb *db = create("r", false);

	(void)state;
	put(db, first_edits);
	put(db, remove);
	assert_string_equal(output("git -C r rev-parse HEAD^{tree}"),
		"4b825dc642cb6eb9a060e54bf8d69288fbee4904");
	assert_int_equal(sh("git -C r fsck --strict 2>/dev/null"), 0);
	ks_gitdb_close(db);
}

static void
changes_that_make_no_tree_are_refused_and_nothing_is_stored(void **state)
{
	static const struct {
		struct edit edits[4];
		enum ks_status status;
	} table[] = {
		{ { { "b", "1" }, { "a", "2" } }, KS_USAGE },
		{ { { "a", "1" }, { "a", "1" } }, KS_USAGE },
		{ { { "", "1" } }, KS_USAGE },
		{ { { "/a", "1" } }, KS_USAGE },
		{ { { "a/", "1" } }, KS_USAGE },
		{ { { "a//b", "1" } }, KS_USAGE },
		{ { { "a/../b", "1" } }, KS_USAGE },
		{ { { "./a", "1" } }, KS_USAGE },
		{ { { ".git/config", "1" } }, KS_USAGE },
		{ { { "a/.GIT/config", "1" } }, KS_USAGE },
		{ { { "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", "1" } }, KS_USAGE },
		/* A file where a directory is, and the other way round. */
		{ { { "log", "1" } }, KS_CORRUPT },
		{ { { "log/000", "1" } }, KS_CORRUPT },
		{ { { "README.md/x", "1" } }, KS_CORRUPT },
		{ { { "x", "1" }, { "x.y", "2" }, { "x/y", "3" } },
			KS_CORRUPT },
	};
	struct ks_gitdb *db = create("r", false);
	char before[4096];
	size_t i;

	(void)state;
	put(db, first_edits);
	(void)snprintf(before, sizeof(before), "%s",
		output("find r -type f | sort; cat r/refs/heads/main"));
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(put_status(db, table[i].edits, &err),
			table[i].status);
		assert_string_not_equal(err.message, "");
		assert_string_equal(output("find r -type f | sort; "
			"cat r/refs/heads/main"), before);
	}
	ks_gitdb_close(db);
}

static void
a_malformed_base_tree_is_refused(void **state)
{
	/* printf formats; X is twenty bytes of id. */
	static const char *const trees[] = {
		"100644 b\\0XXXXXXXXXXXXXXXXXXXX100644 a\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 a\\0XXXXXXXXXXXXXXXXXXXX100644 a\\0XXXXXXXXXXXXXXXXXXXX",
		"40000 a\\0XXXXXXXXXXXXXXXXXXXX100644 a.b\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 a\\0XXXXXXXXXXXXXXXXXXX",
		"100644 \\0XXXXXXXXXXXXXXXXXXXX",
		"100644 a",
		"100644a\\0XXXXXXXXXXXXXXXXXXXX",
		"100684 a\\0XXXXXXXXXXXXXXXXXXXX",
		"10064444444444 a\\0XXXXXXXXXXXXXXXXXXXX",
		" a\\0XXXXXXXXXXXXXXXXXXXX",
	};
	struct ks_gitdb *db = create("r", false);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct ks_git_writer *writer;
		struct ks_git_change change = { .path = "zz" };
		struct ks_oid base, tree;
		char script[256];

		(void)snprintf(script, sizeof(script), "printf '%s' | git -C r "
			"hash-object -t tree --literally -w --stdin",
			trees[i]);
		base = parse(output(script));
		assert_int_equal(ks_gitdb_begin(&writer, db, 1, NULL), KS_OK);
		assert_int_equal(ks_gitdb_add(writer, ks_span_text("x"), true,
			&change.oid, NULL), KS_OK);
		assert_int_equal(ks_gitdb_tree(writer, &base, &change, 1,
			&tree, NULL), KS_CORRUPT);
		assert_true(ks_oid_is_zero(&tree));
		ks_gitdb_end(writer);
	}
	ks_gitdb_close(db);
}

/* A tree of files "PATH=TEXT", with blanks between them; "PATH@MODE" is one of
 * another mode. */
static struct ks_oid
tree_of(const char *files)
{
	char script[1024];

	(void)snprintf(script, sizeof(script), "rm -f index; "
		"export GIT_INDEX_FILE=$PWD/index; for f in %s; do "
		"mode=100644; case $f in *@*) mode=${f#*@}; f=${f%%@*}=m;; "
		"esac; echo \"$mode $(printf '%%s' \"${f#*=}\" | git -C r "
		"hash-object -w --stdin)\t${f%%%%=*}\"; done | "
		"git -C r update-index --add --index-info; "
		"git -C r write-tree", files);
	return parse(output(script));
}

/* What was told, each "+ PATH", "- PATH" or "! PATH" with a blank. */
struct told {
	struct ks_buf text;
	unsigned left;		/* so many, and then it is cancelled */
};

static enum ks_status
tell_difference(void *arg, const char *path, const struct ks_git_entry *old,
	const struct ks_git_entry *new, struct ks_error *err)
{
	struct told *told = arg;
	size_t len = strlen(path);

	assert_true(old != NULL || new != NULL);
	if (told->left-- == 0)
		return ks_fail(err, KS_CANCELLED, "enough");
	ks_buf_printf(&told->text, "%s %s%s ", old == NULL ? "+" :
		new == NULL ? "-" : "!", path, old != NULL && new == NULL &&
		old->mode == KS_GIT_MODE_TREE ? "/" : "");
	/* The name is the last component. */
	while (len > 0 && path[len - 1] != '/')
		len--;
	if (old != NULL)
		assert_string_equal(old->name, path + len);
	if (new != NULL)
		assert_string_equal(new->name, path + len);
	return KS_OK;
}

static enum ks_status
compare(struct ks_gitdb *db, const struct ks_oid *from,
	const struct ks_oid *to, struct told *told, struct ks_error *err)
{
	*told = (struct told){ .text = KS_BUF_INIT, .left = 100 };
	return ks_gitdb_compare(db, from, to, tell_difference, told, err);
}

static void
differences_of_trees_are_told_in_order_of_paths(void **state)
{
	static const struct {
		const char *from, *to, *told;
	} table[] = {
		{ "a=1", "a=1", "" },
		{ "", "", "" },
		{ "", "a=1", "+ a " },
		{ "a=1", "", "- a " },
		{ "a=1", "a=2", "! a " },
		{ "b=1", "a=1 b=1 c=1", "+ a + c " },
		{ "a=1 b=1 c=1", "b=1", "- a - c " },
		{ "a=1 c=1 e=1", "b=1 c=2 d=1", "- a + b ! c + d - e " },
		/* Directories: those that came are gone through, those that
		 * went are one. */
		{ "", "d/a=1 d/e/b=2 x=1", "+ d/a + d/e/b + x " },
		{ "d/a=1 d/e/b=2 x=1", "x=1", "- d/ " },
		{ "d/a=1 d/e/b=2", "d/a=1", "- d/e/ " },
		{ "d/a=1 d/e/b=2 d/e/c=1", "d/a=1 d/e/b=3 d/e/c=1",
			"! d/e/b " },
		{ "d/a=1 e/a=1", "d/a=2 e/a=1 f/a=1", "! d/a + f/a " },
		{ "d/a=1 e/a=1", "d/a=1 e/a=1", "" },
		/* The same directory elsewhere is another. */
		{ "d/a=1", "e/a=1", "- d/ + e/a " },
		/* A file for a directory, and the other way round: git's
		 * order has "a.b" between the two. */
		{ "a=1", "a/b=1", "- a + a/b " },
		{ "a/b=1", "a=1", "+ a - a/ " },
		{ "a=1 a.b=1", "a/b=1 a.b=2", "- a ! a.b + a/b " },
		{ "a/b=1 a.b=1", "a=1 a.b=1", "+ a - a/ " },
		/* Bytes, not letters. */
		{ "", "B=1 a=1 \303\251=1 ~=1", "+ B + a + ~ + \303\251 " },
		/* Other modes are told like files. */
		{ "a=m", "a@100755", "! a " },
		{ "a@120000", "a@120000", "" },
		{ "a=m", "a@120000", "! a " },
		{ "a@160000", "a/b=1", "- a + a/b " },
		{ "", "d/a@160000", "+ d/a " },
	};
	struct ks_gitdb *db = create("r", false);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_oid from = tree_of(table[i].from);
		struct ks_oid to = tree_of(table[i].to);
		struct ks_error err = KS_ERROR_INIT;
		struct told told;

		if (compare(db, &from, &to, &told, &err) != KS_OK)
			fail_msg("%s", err.message);
		assert_string_equal(ks_buf_cstr(&told.text), table[i].told);
		ks_buf_release(&told.text);
	}
	ks_gitdb_close(db);
}

/* Git's index has none, but a tree can. */
static void
a_directory_without_files_is_a_difference(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_oid from = tree_of("a=1 d/b=1");
	struct ks_oid none = parse(output("git -C r mktree </dev/null"));
	struct ks_oid empty = parse(output("cd r; "
		"e=$(git mktree </dev/null); d=$(printf '040000 tree %s\t"
		"e\n' $e | git mktree); printf '040000 tree %s\td\n"
		"040000 tree %s\tf\n' $d $e | git mktree"));
	struct told told;

	(void)state;
	assert_int_equal(compare(db, &from, &empty, &told, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&told.text), "- a - d/b + d/e + f ");
	ks_buf_release(&told.text);
	assert_int_equal(compare(db, &empty, &none, &told, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&told.text), "- d/ - f/ ");
	ks_buf_release(&told.text);
	assert_int_equal(compare(db, &empty, &from, &told, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&told.text), "+ a + d/b - d/e/ - f/ ");
	ks_buf_release(&told.text);
	ks_gitdb_close(db);
}

static void
a_comparison_ends_where_it_is_told_to(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_oid from = tree_of("a=1 d/b=1 x=1");
	struct ks_oid to = tree_of("a=2 d/b=2 d/c=1 x=2");
	struct ks_error err = KS_ERROR_INIT;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct told told = { .text = KS_BUF_INIT, .left = i };

		assert_int_equal(ks_gitdb_compare(db, &from, &to,
			tell_difference, &told, &err), KS_CANCELLED);
		assert_string_equal(err.message, "enough");
		ks_buf_release(&told.text);
	}
	ks_gitdb_close(db);
}

/* Equal ones are not read: one that is not there does not matter. */
static void
trees_that_are_equal_are_not_read(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_oid none = parse("1111111111111111111111111111111111111111");
	struct ks_oid from, to;
	struct told told;

	(void)state;
	assert_int_equal(compare(db, &none, &none, &told, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&told.text), "");
	ks_buf_release(&told.text);
	from = tree_of("a=1 d/b=1");
	to = tree_of("a=2 d/b=1");
	assert_int_equal(sh("cd r; d=$(printf '100644 blob %s\tb\n' "
		"$(printf 1 | git hash-object --stdin) | git mktree); "
		"rm objects/$(printf %.2s $d)/${d#??}"), 0);
	assert_int_equal(compare(db, &from, &to, &told, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&told.text), "! a ");
	ks_buf_release(&told.text);
	/* But where it differs. */
	to = tree_of("a=1");
	assert_int_equal(compare(db, &to, &from, &told, NULL), KS_CORRUPT);
	ks_buf_release(&told.text);
	assert_int_equal(compare(db, &none, &from, &told, NULL), KS_CORRUPT);
	ks_buf_release(&told.text);
	ks_gitdb_close(db);
}

static void
trees_with_bad_names_or_order_are_corrupt_on_either_side(void **state)
{
	/* printf formats; X is twenty bytes of id. */
	static const char *const trees[] = {
		"100644 b\\0XXXXXXXXXXXXXXXXXXXX100644 a\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 a\\0XXXXXXXXXXXXXXXXXXXX100644 a\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 a0\\0XXXXXXXXXXXXXXXXXXXX40000 a\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 .git\\0XXXXXXXXXXXXXXXXXXXX",
		"40000 .GiT\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 .\\0XXXXXXXXXXXXXXXXXXXX",
		"40000 ..\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 a/b\\0XXXXXXXXXXXXXXXXXXXX",
		"100644 \\0XXXXXXXXXXXXXXXXXXXX",
		"100644 a\\0XXXXXXXXXXXXXXXXXXX",
		"100644 a",
		"100644a\\0XXXXXXXXXXXXXXXXXXXX",
	};
	struct ks_gitdb *db = create("r", false);
	struct ks_oid sound = tree_of("z=1");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct told told;
		struct ks_oid bad;
		char script[256];

		(void)snprintf(script, sizeof(script), "printf '%s' | git -C r "
			"hash-object -t tree --literally -w --stdin",
			trees[i]);
		bad = parse(output(script));
		assert_int_equal(compare(db, &sound, &bad, &told, &err),
			KS_CORRUPT);
		if (strstr(err.message, "is damaged, or has names that git "
			"would refuse") == NULL)
			fail_msg("%s: %s", trees[i], err.message);
		ks_buf_release(&told.text);
		assert_int_equal(compare(db, &bad, &sound, &told, &err),
			KS_CORRUPT);
		ks_buf_release(&told.text);
	}
	ks_gitdb_close(db);
}

/* Sixteen directories, which no path of a store has, and no more. */
static void
trees_are_compared_to_a_depth(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_oid sound = tree_of("z=1");
	struct ks_oid deep = tree_of("1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h=1");
	struct ks_oid deeper = tree_of("1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/i=1");
	struct ks_error err = KS_ERROR_INIT;
	struct told told;

	(void)state;
	assert_int_equal(compare(db, &sound, &deep, &told, &err), KS_OK);
	assert_string_equal(ks_buf_cstr(&told.text),
		"+ 1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h - z ");
	ks_buf_release(&told.text);
	assert_int_equal(compare(db, &sound, &deeper, &told, &err),
		KS_CORRUPT);
	ks_buf_release(&told.text);
	/* One that went is not gone through. */
	assert_int_equal(compare(db, &deeper, &sound, &told, &err), KS_OK);
	assert_string_equal(ks_buf_cstr(&told.text), "- 1/ + z ");
	ks_buf_release(&told.text);
	ks_gitdb_close(db);
}

static void
with_many_packs_small_puts_write_loose_objects(void **state)
{
	struct ks_gitdb *db = create("r", false);
	char text[32];
	const struct edit edits[] = { { "log/000/000.jsonl", text },
		{ "objects/a/bc/def.zst", text }, { NULL, NULL } };
	struct ks_git_writer *writer;
	struct ks_error err = KS_ERROR_INIT;
	int i;

	(void)state;
	for (i = 0; i < 54; i++) {
		(void)snprintf(text, sizeof(text), "put %d\n", i);
		put(db, edits);
	}
	assert_int_equal(ks_gitdb_pack_count(db), KS_GITDB_PACK_LIMIT);
	assert_int_equal(sh("test $(git -C r rev-list --count HEAD) = 54 && "
		"git -C r fsck --strict 2>/dev/null"), 0);
	assert_string_equal(output("cd r; find objects -name 'kistore*'; "
		"stat -c %a objects/[0-9a-f][0-9a-f]/* | sort -u; "
		"git count-objects | cut -f1 -d' '"), "444\n32");
	assert_reads(db, "log/000/000.jsonl", "put 53\n");
	/* A large put is one more pack all the same. */
	(void)snprintf(text, sizeof(text), "large\n");
	assert_int_equal(stage(db, edits, 1000, &writer, &err), KS_OK);
	assert_int_equal(ks_gitdb_publish(writer, &err), KS_OK);
	ks_gitdb_end(writer);
	assert_int_equal(ks_gitdb_pack_count(db), KS_GITDB_PACK_LIMIT + 1);
	/* gc makes one of all, and the open repository still reads. */
	assert_int_equal(ks_gitdb_gc(db, &err), KS_OK);
	assert_int_equal(ks_gitdb_pack_count(db), 1);
	assert_reads(db, "log/000/000.jsonl", "large\n");
	ks_gitdb_close(db);
}

static void
gc_runs_no_hooks_and_reports_what_git_said(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put(db, first_edits);
	assert_int_equal(sh("cd r; for h in pre-auto-gc post-rewrite "
		"reference-transaction; do printf '#!/bin/sh\ntouch %s' "
		"$PWD/ran > hooks/$h; chmod +x hooks/$h; done"), 0);
	assert_int_equal(ks_gitdb_gc(db, NULL), KS_OK);
	assert_int_equal(sh("test -e r/ran"), 1);
	assert_int_equal(sh("echo '[gc' >> r/config"), 0);
	assert_int_equal(ks_gitdb_gc(db, &err), KS_IO);
	assert_non_null(strstr(err.message, "git gc failed: fatal: "));
	ks_gitdb_close(db);
}

static void
a_transaction_that_is_not_published_leaves_nothing(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_git_writer *writer;
	struct ks_git_head head;
	char before[4096];

	(void)state;
	put(db, first_edits);
	(void)snprintf(before, sizeof(before), "%s", output("find r | sort"));
	assert_int_equal(stage(db, second_edits, 1, &writer, NULL), KS_OK);
	assert_string_equal(output("cat r/objects/pack/*.keep | "
		"cut -f1 -d' '"), "kistore");
	assert_reads(db, "log/000/000.jsonl", "one\n");
	ks_gitdb_end(writer);
	assert_string_equal(output("find r | sort"), before);
	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	/* And it can be done again. */
	put(db, second_edits);
	assert_reads(db, "log/000/000.jsonl", "one\ntwo\n");
	ks_gitdb_end(NULL);
	ks_gitdb_close(db);
}

static void
steps_out_of_order_are_refused(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_git_writer *writer;
	struct ks_git_head head;
	struct ks_oid none = { { 0 } };
	struct ks_oid tree, commit;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put(db, first_edits);
	assert_int_equal(ks_gitdb_begin(&writer, db, 1, NULL), KS_OK);
	assert_int_equal(ks_gitdb_publish(writer, NULL), KS_USAGE);
	assert_int_equal(ks_gitdb_tree(writer, &none, NULL, 0, &tree, NULL),
		KS_OK);
	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	head.detached = true;
	assert_int_equal(ks_gitdb_finish(writer, &tree, &head, "x", 1, &commit,
		&err), KS_USAGE);
	assert_non_null(strstr(err.message, "HEAD is detached at "));
	head.detached = false;
	assert_int_equal(ks_gitdb_finish(writer, &tree, &head, "x", 1, &commit,
		NULL), KS_OK);
	assert_int_equal(ks_gitdb_finish(writer, &tree, &head, "x", 1, &commit,
		NULL), KS_USAGE);
	assert_int_equal(ks_gitdb_publish(writer, NULL), KS_OK);
	assert_int_equal(ks_gitdb_publish(writer, NULL), KS_USAGE);
	ks_gitdb_end(writer);
	ks_gitdb_close(db);
}

static void
a_branch_that_moved_meanwhile_is_not_overwritten(void **state)
{
	static const char *const moves[] = {
		"git -C r update-ref refs/heads/main "
			"$(git -C r commit-tree -m x HEAD^{tree})",
		"git -C r update-ref -d refs/heads/main",
	};
	size_t i;

	(void)state;
	assert_int_equal(sh("git config --global user.name x; "
		"git config --global user.email x@y"), 0);
	for (i = 0; i < 2; i++) {
		struct ks_gitdb *db = create("r", false);
		struct ks_git_writer *writer;
		struct ks_error err = KS_ERROR_INIT;
		char before[64];

		put(db, first_edits);
		assert_int_equal(stage(db, second_edits, 1, &writer, NULL),
			KS_OK);
		assert_int_equal(sh(moves[i]), 0);
		(void)snprintf(before, sizeof(before), "%s",
			output("git -C r for-each-ref"));
		assert_int_equal(ks_gitdb_publish(writer, &err), KS_BUSY);
		assert_non_null(strstr(err.message, "refs/heads/main"));
		ks_gitdb_end(writer);
		assert_string_equal(output("git -C r for-each-ref"), before);
		assert_string_equal(output("find r -name '*.lock' -o -name "
			"'*.keep' | grep -v kistore.lock"), "");
		ks_gitdb_close(db);
		assert_int_equal(sh("rm -rf r"), 0);
	}
	assert_int_equal(sh("rm $HOME/.gitconfig"), 0);
}

static void
a_foreign_lock_is_named_with_its_age_and_never_removed(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put(db, first_edits);
	assert_int_equal(sh("touch -d '1 hour ago' r/refs/heads/main.lock"),
		0);
	assert_int_equal(put_status(db, second_edits, &err), KS_BUSY);
	assert_non_null(strstr(err.message, "r/refs/heads/main.lock"));
	assert_non_null(strstr(err.message, " 360"));
	assert_int_equal(sh("test -e r/refs/heads/main.lock"), 0);
	assert_reads(db, "log/000/000.jsonl", "one\n");
	assert_int_equal(sh("rm r/refs/heads/main.lock"), 0);
	put(db, second_edits);
	ks_gitdb_close(db);
}

static void
what_a_dead_writer_left_is_removed_and_nothing_else(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_git_writer *writer;

	(void)state;
	put(db, first_edits);
	assert_int_equal(sh("cd r; set -e; "
		"mkdir objects/kistore-abcdef; echo > objects/kistore-abcdef/x; "
		"ln -s ../HEAD objects/kistore-link; "
		"echo 'kistore 12' > objects/pack/pack-1.keep; "
		"echo 'mine' > objects/pack/pack-2.keep; "
		": > objects/pack/pack-3.keep; "
		"touch -d yesterday objects/pack/pack_git2_old; "
		"touch objects/pack/pack_git2_new; "
		"cp kistore.lock refs/heads/main.lock; "
		"cp kistore.lock refs/heads/other.lock"), 0);
	assert_int_equal(ks_gitdb_begin(&writer, db, 1, NULL), KS_OK);
	ks_gitdb_end(writer);
	assert_string_equal(output("cd r; ls objects; ls objects/pack | "
		"grep -v '[0-9a-f]\\{40\\}'; ls refs/heads; cat HEAD"),
		"info\npack\npack-2.keep\npack-3.keep\npack_git2_new\n"
		"main\nother.lock\nref: refs/heads/main");
	put(db, second_edits);
	ks_gitdb_close(db);
}

static void
a_writer_killed_at_any_moment_leaves_old_or_new(void **state)
{
	struct ks_gitdb *db = create("r", true);
	int i;

	(void)state;
	put(db, first_edits);
	ks_gitdb_close(db);
	for (i = 0; i < 30; i++) {
		char text[32];
		const struct edit edits[] = { { "log/000/000.jsonl", text },
			{ "objects/a/bc/def.zst", text }, { NULL, NULL } };
		struct timespec nap = { .tv_nsec = i * 1000000L };
		pid_t pid;

		(void)snprintf(text, sizeof(text), "round %d\n", i);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			db = open_db("r");
			put(db, edits);
			_exit(0);
		}
		(void)nanosleep(&nap, NULL);
		(void)kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		db = open_db("r");
		put(db, edits);
		assert_reads(db, "log/000/000.jsonl", text);
		ks_gitdb_close(db);
		assert_string_equal(output("cd r; git status --porcelain; "
			"find .git -name '*.lock' -o -name '*.keep' "
			"-o -name 'kistore-*' | grep -v kistore.lock"), "");
	}
	assert_int_equal(sh("git -C r fsck --strict >/dev/null 2>&1"), 0);
}

static void
revisions_are_read_as_git_reads_them(void **state)
{
	static const struct {
		const char *text;
		enum ks_status status;
	} table[] = {
		{ "HEAD", KS_OK },
		{ "main", KS_OK },
		{ "HEAD~1", KS_OK },
		{ "light", KS_OK },
		{ "annotated", KS_OK },
		{ "HEAD~2", KS_NOT_FOUND },
		{ "nothing", KS_NOT_FOUND },
		{ "blob", KS_NOT_FOUND },
		{ "", KS_NOT_FOUND },
		{ "HEAD^{", KS_NOT_FOUND },
		{ "0000000000000000000000000000000000000000", KS_NOT_FOUND },
	};
	struct ks_gitdb *db = create("r", false);
	struct ks_oid oid;
	char hex[KS_OID_HEX + 1];
	char script[128];
	size_t i;

	(void)state;
	put(db, first_edits);
	put(db, second_edits);
	assert_int_equal(sh("cd r; git tag light HEAD~1; "
		"git -c user.name=x -c user.email=x@y tag -a -m m annotated; "
		"git tag blob HEAD:README.md"), 0);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(ks_gitdb_revision(db, table[i].text, &oid,
			NULL), table[i].status);
		if (table[i].status != KS_OK) {
			assert_true(ks_oid_is_zero(&oid));
			continue;
		}
		(void)snprintf(script, sizeof(script), "git -C r rev-parse "
			"'%s^{commit}'", table[i].text);
		assert_string_equal(ks_oid_print(&oid, hex), output(script));
	}
	ks_gitdb_close(db);
}

static void
the_newest_commit_at_a_time_is_found(void **state)
{
	struct ks_gitdb *db;
	struct ks_git_head head;
	struct ks_oid oid;
	struct ks_error err = KS_ERROR_INIT;
	char hex[KS_OID_HEX + 1];

	(void)state;
	assert_int_equal(sh("git init -q -b main r; cd r; "
		"for t in 100 200 300; do GIT_COMMITTER_DATE=\"@$t +0100\" "
		"git -c user.name=x -c user.email=x@y commit -q --allow-empty "
		"-m $t; done; git clone -q --depth 2 file://$PWD ../s"), 0);
	db = open_db("r");
	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	assert_int_equal(ks_gitdb_revision_at(db, &head.commit, 299, &oid,
		NULL), KS_OK);
	assert_string_equal(ks_oid_print(&oid, hex),
		output("git -C r rev-parse HEAD~1"));
	assert_int_equal(ks_gitdb_revision_at(db, &head.commit, 300, &oid,
		NULL), KS_OK);
	assert_true(ks_oid_equal(&oid, &head.commit));
	assert_int_equal(ks_gitdb_revision_at(db, &head.commit, 99, &oid,
		NULL), KS_NOT_FOUND);
	ks_gitdb_close(db);
	db = open_db("s");
	assert_true(ks_gitdb_is_shallow(db));
	assert_int_equal(ks_gitdb_revision_at(db, &head.commit, 250, &oid,
		NULL), KS_OK);
	assert_int_equal(ks_gitdb_revision_at(db, &head.commit, 100, &oid,
		&err), KS_NOT_FOUND);
	assert_non_null(strstr(err.message, "shallow clone"));
	ks_gitdb_close(db);
}

static void
what_a_partial_clone_lacks_is_not_fetched_rather_than_damaged(void **state)
{
	struct ks_gitdb *db = create("r", false);
	struct ks_git_head head;
	struct ks_oid tree;
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put(db, first_edits);
	assert_null(ks_gitdb_promisor(db));
	ks_gitdb_close(db);
	assert_int_equal(sh("git -C r config uploadpack.allowFilter true; "
		"git clone -q --filter=blob:none --no-checkout -o up.stream "
		"file://$PWD/r p"), 0);
	db = open_db("p");
	assert_string_equal(ks_gitdb_promisor(db), "up.stream");
	tree = head_tree(db, &head);
	assert_int_equal(ks_gitdb_read(db, &tree, "README.md", LIMIT, &bytes,
		&err), KS_NOT_FOUND);
	assert_non_null(strstr(err.message,
		"not fetched (partial clone of up.stream)"));
	assert_int_equal(ks_gitdb_read(db, &tree, "absent", LIMIT, &bytes,
		&err), KS_NOT_FOUND);
	assert_null(strstr(err.message, "not fetched"));
	ks_gitdb_close(db);
	/* The older way to say it. */
	assert_int_equal(sh("cd p; git config --unset "
		"remote.up.stream.promisor; git config "
		"core.repositoryformatversion 1; git config "
		"extensions.partialClone old"), 0);
	db = open_db("p");
	assert_string_equal(ks_gitdb_promisor(db), "old");
	ks_gitdb_close(db);
	ks_buf_release(&bytes);
}

static void
replace_refs_are_not_followed(void **state)
{
	struct ks_gitdb *db = create("r", false);

	(void)state;
	put(db, first_edits);
	assert_int_equal(sh("cd r; git replace HEAD:README.md "
		"$(echo forged | git hash-object -w --stdin)"), 0);
	assert_string_equal(output("git -C r show HEAD:README.md"), "forged");
	assert_reads(db, "README.md", "read me\n");
	ks_gitdb_close(db);
}

static void
too_few_descriptors_are_not_taken_for_damage(void **state)
{
	struct ks_gitdb *db = create("r", false);
	pid_t pid;
	int result = 0;

	(void)state;
	put(db, first_edits);
	ks_gitdb_close(db);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit limit;
		struct ks_oid absent = parse("00000000000000000000"
			"00000000000000000001");
		struct ks_buf bytes = KS_BUF_INIT;
		enum ks_status status;

		db = open_db("r");
		if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
			leave(1);
		limit.rlim_cur = 0;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			leave(1);
		status = ks_gitdb_blob(db, &absent, LIMIT, false, &bytes,
			NULL);
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			leave(1);
		leave(status == KS_IO ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &result, 0), pid);
	assert_true(WIFEXITED(result));
	assert_int_equal(WEXITSTATUS(result), 0);
}

static void
modes_follow_the_umask_and_core_sharedrepository(void **state)
{
	static const struct {
		const char *shared;
		mode_t mask;
		const char *modes;	/* pack, idx, ref, lock */
	} table[] = {
		{ "umask", 022, "444 444 644 644" },
		{ "umask", 077, "400 400 600 600" },
		{ "group", 077, "440 440 660 660" },
		{ "0640", 022, "440 440 640 640" },
		{ "all", 077, "444 444 664 664" },
		{ "true", 000, "444 444 666 664" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_gitdb *db;
		char script[128];

		(void)umask(table[i].mask);
		(void)snprintf(script, sizeof(script), "git init -q --bare "
			"-b main --shared=%s r", table[i].shared);
		assert_int_equal(sh(script), 0);
		db = open_db("r");
		put(db, first_edits);
		assert_string_equal(output("cd r; echo $(stat -c %a "
			"objects/pack/*.pack objects/pack/*.idx "
			"refs/heads/main kistore.lock)"), table[i].modes);
		ks_gitdb_close(db);
		assert_int_equal(sh("rm -rf r"), 0);
	}
}

static void
a_put_updates_index_and_work_tree_byte_for_byte(void **state)
{
	static const struct edit more[] = {
		{ "README.md", NULL },
		{ "log/000/000.jsonl", "one\r\ntwo\n" },
		{ "objects/c/32/52.zst", NULL },
		{ NULL, NULL }
	};
	struct ks_gitdb *db;

	(void)state;
	ks_gitdb_close(create("r", true));
	assert_int_equal(sh("cd r; git config core.autocrlf true; "
		"git config filter.x.smudge 'touch ran'; "
		"echo '* text filter=x' > .git/info/attributes; "
		"echo mine > untracked"), 0);
	db = open_db("r");
	put(db, first_edits);
	assert_string_equal(output("cd r; find . -path ./.git -prune -o "
		"-type f -print | sort; cat log/000/000.jsonl README.md"),
		"./README.md\n./log/000/000.jsonl\n./objects/c/32/52.zst\n"
		"./untracked\none\nread me");
	put(db, more);
	assert_string_equal(output("cd r; find . -path ./.git -prune -o "
		"-print | sort; od -An -c log/000/000.jsonl; "
		"rm .git/info/attributes; git config core.autocrlf false; "
		"git status --porcelain; ls -A .git | grep kistore"),
		".\n./log\n./log/000\n./log/000/000.jsonl\n./untracked\n"
		"   o   n   e  \\r  \\n   t   w   o  \\n\n"
		"?? untracked\nkistore.lock");
	ks_gitdb_close(db);
}

static void
somebody_elses_changes_in_the_work_tree_are_seen(void **state)
{
	static const char *const paths[] = { "README.md", "log/000/000.jsonl",
		"objects/e/00/00.zst" };
	static const struct {
		const char *change;
		enum ks_status status;
		const char *names;
	} table[] = {
		{ "true", KS_OK, "" },
		{ "echo > untracked", KS_OK, "" },
		{ "touch README.md", KS_OK, "" },
		{ "echo x > objects/c/32/52.zst", KS_OK, "" },
		{ "echo x >> README.md", KS_BUSY, "README.md: is modified" },
		{ "rm README.md", KS_BUSY, "README.md: is deleted" },
		{ "rm README.md; mkfifo README.md", KS_BUSY,
			"README.md: is modified" },
		{ "rm README.md; mkdir README.md", KS_BUSY,
			"README.md: is modified" },
		{ "cp README.md x; rm README.md; ln -s x README.md", KS_BUSY,
			"README.md: is modified" },
		{ "echo x >> README.md; git add README.md", KS_BUSY,
			"README.md: is changed in git's index" },
		{ "git rm -q --cached README.md", KS_BUSY,
			"README.md: is changed in git's index" },
		{ "rm -r log; ln -s /tmp log", KS_BUSY,
			"log/000/000.jsonl: a file or symbolic link" },
		{ "ln -s /tmp objects/e", KS_BUSY,
			"objects/e/00/00.zst: a file or symbolic link" },
		{ "echo > objects/e", KS_BUSY,
			"objects/e/00/00.zst: a file or symbolic link" },
		{ "mkdir -p objects/e/00; echo > objects/e/00/00.zst", KS_BUSY,
			"objects/e/00/00.zst: is in the way" },
		{ "mkdir -p objects/e/00; echo > objects/e/00/00.zst; "
			"git add objects", KS_BUSY,
			"objects/e/00/00.zst: is changed in git's index" },
	};
	struct ks_gitdb *db;
	struct ks_git_head head;
	size_t i;

	(void)state;
	db = create("good", true);
	put(db, first_edits);
	ks_gitdb_close(db);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		char script[256];

		(void)snprintf(script, sizeof(script), "rm -rf r; cp -a good "
			"r; cd r; %s", table[i].change);
		assert_int_equal(sh(script), 0);
		db = open_db("r");
		assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
		assert_int_equal(ks_gitdb_check_clean(db, &head, paths, 3,
			&err), table[i].status);
		assert_ptr_equal(strstr(err.message, table[i].names),
			err.message);
		ks_gitdb_close(db);
	}
	db = create("bare", false);
	assert_int_equal(ks_gitdb_head(db, &head, NULL), KS_OK);
	assert_int_equal(ks_gitdb_check_clean(db, &head, paths, 3, NULL),
		KS_OK);
	ks_gitdb_close(db);
}

static void
nothing_is_written_through_a_symbolic_link(void **state)
{
	struct ks_gitdb *db = create("r", true);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put(db, first_edits);
	assert_int_equal(sh("mkdir victim; ln -s ../../victim r/objects/d"),
		0);
	assert_int_equal(put_status(db, second_edits, &err), KS_BUSY);
	assert_non_null(strstr(err.message, "is published, but the work tree"));
	assert_string_equal(output("ls victim"), "");
	/* The next writer finishes it. */
	assert_int_equal(sh("rm r/objects/d"), 0);
	put(db, first_edits);
	assert_string_equal(output("git -C r status --porcelain"), "");
	ks_gitdb_close(db);
}

static void
a_foreign_index_lock_refuses_the_change_whole(void **state)
{
	struct ks_gitdb *db = create("r", true);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put(db, first_edits);
	assert_int_equal(sh(": > r/.git/index.lock"), 0);
	assert_int_equal(put_status(db, second_edits, &err), KS_BUSY);
	assert_non_null(strstr(err.message, "r/.git/index.lock"));
	assert_reads(db, "log/000/000.jsonl", "one\n");
	assert_string_equal(output("cd r; cat log/000/000.jsonl; "
		"find . -name '*.lock' | sort; ls .git/objects/pack/*.keep "
		"2>/dev/null; rm .git/index.lock; git status --porcelain"),
		"one\n./.git/index.lock\n./.git/kistore.lock");
	put(db, second_edits);
	ks_gitdb_close(db);
}

static void
an_unfinished_checkout_is_finished_by_the_next_writer(void **state)
{
	struct ks_gitdb *db = create("r", true);
	struct ks_git_writer *writer;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	put(db, first_edits);
	put(db, second_edits);
	/* As if the second writer had died when the branch had moved, but
	 * somebody made one of the files since. */
	assert_int_equal(sh("cd r; git read-tree HEAD~1; "
		"git checkout-index -a -f; rm -r objects/d; "
		"echo mine > objects/c/32/53.zst; "
		"echo $(git rev-parse HEAD) checkout > .git/kistore.lock"), 0);
	assert_string_equal(output("cat r/log/000/000.jsonl"), "one");
	assert_int_equal(ks_gitdb_begin(&writer, db, 1, &err), KS_OK);
	ks_gitdb_end(writer);
	assert_string_equal(output("cat r/log/000/000.jsonl "
		"r/objects/d/00/00.zst r/objects/c/32/53.zst"),
		"one\ntwo\nframe threemine");
	assert_string_equal(output("git -C r status --porcelain"),
		" M objects/c/32/53.zst");
	assert_int_equal(sh("grep -q checkout r/.git/kistore.lock"), 1);
	ks_gitdb_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_enter, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_bare_repository_is_one_for_git_too),
		TEST(a_new_repository_with_a_work_tree_is_one_for_git_too),
		TEST(creating_refuses_what_is_there_and_leaves_it_as_it_was),
		TEST(a_failing_creation_removes_what_it_made),
		TEST(every_layout_that_git_knows_is_opened),
		TEST(puts_work_in_every_layout),
		TEST(what_libgit2_does_not_know_is_unsupported_and_named),
		TEST(a_foreign_owner_is_judged_as_git_does),
		TEST(head_is_read_in_all_its_states),
		TEST(three_commits_are_what_stock_git_says_they_are),
		TEST(commits_are_by_gits_identity_or_by_kistore),
		TEST(objects_of_every_size_and_many_of_them_survive),
		TEST(paths_are_found_and_trees_listed),
		TEST(ids_are_strict_lower_case_hex),
		TEST(absent_damaged_and_oversized_blobs_are_told_apart_from_good_ones),
		TEST(a_damaged_pack_is_corrupt_and_never_a_crash),
		TEST(trees_are_those_that_git_makes),
		TEST(an_emptied_tree_is_gits_empty_tree),
		TEST(changes_that_make_no_tree_are_refused_and_nothing_is_stored),
		TEST(a_malformed_base_tree_is_refused),
		TEST(blobs_in_pieces_are_those_that_they_would_be_whole),
		TEST(a_blob_whose_pieces_fail_is_not_there),
		TEST(a_blob_is_used_without_a_copy),
		TEST(differences_of_trees_are_told_in_order_of_paths),
		TEST(a_directory_without_files_is_a_difference),
		TEST(a_comparison_ends_where_it_is_told_to),
		TEST(trees_that_are_equal_are_not_read),
		TEST(trees_with_bad_names_or_order_are_corrupt_on_either_side),
		TEST(trees_are_compared_to_a_depth),
		TEST(with_many_packs_small_puts_write_loose_objects),
		TEST(gc_runs_no_hooks_and_reports_what_git_said),
		TEST(a_transaction_that_is_not_published_leaves_nothing),
		TEST(steps_out_of_order_are_refused),
		TEST(a_branch_that_moved_meanwhile_is_not_overwritten),
		TEST(a_foreign_lock_is_named_with_its_age_and_never_removed),
		TEST(what_a_dead_writer_left_is_removed_and_nothing_else),
		TEST(a_writer_killed_at_any_moment_leaves_old_or_new),
		TEST(revisions_are_read_as_git_reads_them),
		TEST(the_newest_commit_at_a_time_is_found),
		TEST(what_a_partial_clone_lacks_is_not_fetched_rather_than_damaged),
		TEST(replace_refs_are_not_followed),
		TEST(too_few_descriptors_are_not_taken_for_damage),
		TEST(modes_follow_the_umask_and_core_sharedrepository),
		TEST(a_put_updates_index_and_work_tree_byte_for_byte),
		TEST(somebody_elses_changes_in_the_work_tree_are_seen),
		TEST(nothing_is_written_through_a_symbolic_link),
		TEST(a_foreign_index_lock_refuses_the_change_whole),
		TEST(an_unfinished_checkout_is_finished_by_the_next_writer),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
