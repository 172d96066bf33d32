/*
 * The catalogue: that catching up gives what a fresh build gives, whatever is
 * said in whatever order; what it answers; what becomes of a damaged file.
 *
 * `kistore verify --index` compares with a fresh build, row by row, so most
 * tests ask it after each step.
 */
#include "store/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "../lib/shell.h"
#include "base/file.h"
#include "store/catalogue_internal.h"

#define STORE "s.git"
#define FILE_NAME STORE "/" KS_INDEX_NAME
#define NOW 1787000000

#define RUN "c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6"
#define WORKLOAD \
	"c66457140cb6cfc6fdcb24a3187286a041f2b04f37522e1bd65089aacf4cd0f3"
#define OPERATION \
	"e655a95629867bb20ea2d0e6b41bbde013db93f7fca6deb9a49b6ee8b4bc31a5"
#define KEY "63b583a3afe1e4d7"

static char seeds[4200];	/* fixtures/seeds/closure/000/ */
static int64_t now = NOW;

static int
setup(void **state)
{
	char before[4096];

	if (getcwd(before, sizeof(before)) == NULL)
		return 1;
	(void)snprintf(seeds, sizeof(seeds), "%s/fixtures/seeds/closure/000/",
		before);
	return scratch_setup(state);
}

/* ---- a store ------------------------------------------------------------- */

static void
check(enum ks_status status, const struct ks_error *err)
{
	if (status != KS_OK)
		fail_msg("%s", err->message);
}

static struct ks_store *
open_store(void)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store = NULL;

	check(ks_store_open(&store, STORE, NULL, &err), &err);
	return store;
}

static int
new_store(void **state)
{
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	now = NOW;
	(void)sh("chmod -R u+w " STORE " 2>/dev/null; rm -rf " STORE);
	check(ks_store_create(STORE, NULL, false, now, &err), &err);
	return 0;
}

static struct ks_id
id_of(const char *hex)
{
	struct ks_id id;

	assert_true(ks_id_parse_hex(&id, ks_span_text(hex)));
	return id;
}

/* Put a file, or a seed by its name. */
static void
put(const char *name)
{
	struct ks_put_options options = {
		.write = { .now = now++ }, .allow_missing = true
	};
	struct ks_error err = KS_ERROR_INIT;
	struct ks_put_result result;
	struct ks_store *store = open_store();
	struct ks_buf path = KS_BUF_INIT;
	const char *paths[1];

	ks_buf_printf(&path, "%s%s", strchr(name, '.') == NULL ? seeds : "",
		name);
	if (strchr(name, '.') == NULL)
		ks_buf_text(&path, ".json");
	paths[0] = ks_buf_cstr(&path);
	check(ks_put(store, paths, 1, &options, NULL, NULL, &result, &err),
		&err);
	ks_buf_release(&path);
	ks_store_close(store);
}

static void
put_text(const char *text)
{
	scratch_write("text.jsonl", ks_span_text(text));
	put("text.jsonl");
}

static void
put_all(void)
{
	static const char *const names[] = { "project", "operation",
		"workload", "implementation", "protocol", "environment",
		"run" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put(names[i]);
}

/* ---- comparing with a fresh build ---------------------------------------- */

static void
tell_finding(void *arg, const struct ks_finding *finding)
{
	ks_buf_printf(arg, "%s: %s\n", finding->path, finding->message);
}

/* What `verify --index` finds in the file; "" = nothing. */
static const char *
findings(struct ks_buf *out)
{
	struct ks_verify_options options = { .index = true, .threads = 1 };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_verify_result result;
	struct ks_store *store = open_store();

	ks_buf_clear(out);
	check(ks_verify(store, &options, tell_finding, out, &result, &err),
		&err);
	if (strstr(result.not_checked, "compared") != NULL)
		ks_buf_printf(out, "not checked: %s\n", result.not_checked);
	ks_store_close(store);
	return ks_buf_cstr(out);
}

/* Bring the catalogue up to date, searchable if that is asked for. */
static void
ask(bool search)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store = open_store();
	struct ks_catalogue *catalogue;

	check(ks_store_catalogue(store, &catalogue, NULL, &err), &err);
	if (search)
		check(ks_catalogue_make_searchable(catalogue, NULL, &err),
			&err);
	ks_store_close(store);
}

/* … and compare it. */
static void
expect_as_fresh(bool search)
{
	struct ks_buf found = KS_BUF_INIT;

	ask(search);
	assert_string_equal(findings(&found), "");
	ks_buf_release(&found);
}

/* ---- questions ----------------------------------------------------------- */

static bool
print_run(void *arg, const struct ks_catalogue_run *run)
{
	ks_buf_printf(arg, "%g %s %s %s%s%s\n", run->value, run->status,
		run->observed, ks_evidence_label(run->evidence),
		run->retracted ? " retracted" : "",
		run->superseded ? " superseded" : "");
	return false;
}

static bool
print_user(void *arg, const struct ks_id *digest, const char *kind,
	const char *path)
{
	char hex[KS_ID_HEX + 1];

	ks_buf_printf(arg, "%.6s %s %s\n", ks_id_print_hex(digest, hex),
		strrchr(kind, '/') + 1, path);
	return false;
}

static void
print_count(void *arg, const char *kind, const char *path, uint64_t count)
{
	ks_buf_printf(arg, "%s %s %llu\n", strrchr(kind, '/') + 1, path,
		(unsigned long long)count);
}

static bool
print_digest(void *arg, const struct ks_id *digest)
{
	char hex[KS_ID_HEX + 1];

	ks_buf_printf(arg, "%.6s\n", ks_id_print_hex(digest, hex));
	return false;
}

/* The group whose key begins with KEY, as text. */
static const char *
group(struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store = open_store();
	struct ks_catalogue *catalogue;
	struct ks_id keys[2];
	size_t count;

	ks_buf_clear(out);
	check(ks_store_catalogue(store, &catalogue, NULL, &err), &err);
	check(ks_catalogue_keys(catalogue, ks_span_text(KEY), keys, 2, &count,
		&err), &err);
	if (count == 1)
		check(ks_catalogue_group(catalogue, &keys[0], print_run, out,
			&err), &err);
	ks_store_close(store);
	return ks_buf_cstr(out);
}

static void
it_answers_what_the_records_say(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_store *store;
	struct ks_catalogue *catalogue;
	struct ks_id id = id_of(WORKLOAD);

	(void)state;
	put_all();
	assert_string_equal(group(&out),
		"621504 passed 2024-09-03T15:39:59.000Z Reported\n");
	store = open_store();
	check(ks_store_catalogue(store, &catalogue, NULL, &err), &err);
	ks_buf_clear(&out);
	check(ks_catalogue_users(catalogue, &id, print_user, &out, &err),
		&err);
	assert_string_equal(ks_buf_cstr(&out),
		"c3252a BenchmarkRun spec.workloadDigest\n");
	id = id_of(OPERATION);
	ks_buf_clear(&out);
	check(ks_catalogue_users(catalogue, &id, print_user, &out, &err),
		&err);
	assert_string_equal(ks_buf_cstr(&out),
		"c66457 WorkloadCase spec.operationSpecDigest\n"
		"459baf ImplementationRevision spec.operation.specDigest\n");
	ks_buf_clear(&out);
	check(ks_catalogue_user_counts(catalogue, &id, print_count, &out,
		&err), &err);
	assert_string_equal(ks_buf_cstr(&out),
		"ImplementationRevision spec.operation.specDigest 1\n"
		"WorkloadCase spec.operationSpecDigest 1\n");
	ks_buf_clear(&out);
	check(ks_catalogue_external(catalogue,
		ks_span_text("liger-kernel-bench"), ks_span_text(
		"rope/backward/huggingface/nvidia-a100-sxm4-80gb/"
		"hidden8192-seq2048-bf16/2024-09-03-15-40-40"), print_digest,
		&out, &err), &err);
	ks_store_close(store);
	ks_buf_release(&out);
}

/* ---- following the log --------------------------------------------------- */

#define NOTE "{\"name\":\"other-name\",\"title\":\"A mistletoe title\"}"

static void
every_later_line_is_followed(void **state)
{
	struct ks_write_options options = { .now = 0 };
	struct ks_id run = id_of(RUN), workload = id_of(WORKLOAD);
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store;
	int step;

	(void)state;
	put_all();
	expect_as_fresh(true);
	for (step = 0; step < 5; step++) {
		store = open_store();
		options.now = now++;
		switch (step) {
		case 0:
			check(ks_annotate(store, &run, ks_span_text(NOTE),
				ks_span(NULL, 0), &options, &err), &err);
			break;
		case 1:
			check(ks_annotate(store, &workload, ks_span(NULL, 0),
				ks_span_text("{\"summary\":\"s\"}"), &options,
				&err), &err);
			break;
		case 2:
			check(ks_retract(store, &run, "wrong", NULL, &options,
				&err), &err);
			break;
		case 3:
			check(ks_restore(store, &run, "right", &options, &err),
				&err);
			break;
		default:
			check(ks_annotate(store, &run, ks_span_text(
				"{\"name\":\"n\"}"), ks_span(NULL, 0),
				&options, &err), &err);
			break;
		}
		ks_store_close(store);
		expect_as_fresh(true);
	}
}

static void
records_that_come_before_what_they_refer_to_are_completed(void **state)
{
	static const char *const backwards[] = { "run", "environment",
		"implementation", "protocol", "workload", "operation" };
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(backwards) / sizeof(backwards[0]); i++) {
		put(backwards[i]);
		expect_as_fresh(i % 2 == 0);
		/* The key needs the workload. */
		assert_string_equal(group(&out), i < 4 ? "" :
			"621504 passed 2024-09-03T15:39:59.000Z Reported\n");
	}
	/* And a build of all of it, in one go, comes to the same. */
	assert_int_equal(sh("rm " FILE_NAME "*"), 0);
	expect_as_fresh(true);
	assert_string_equal(group(&out),
		"621504 passed 2024-09-03T15:39:59.000Z Reported\n");
	ks_buf_release(&out);
}

/* Many small puts, asked for now and then, so that catching up covers one
 * commit or several. */
static void
catching_up_may_skip_commits(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	unsigned i;

	(void)state;
	put_all();
	expect_as_fresh(true);
	for (i = 0; i < 12; i++) {
		ks_buf_clear(&text);
		ks_buf_printf(&text, "{\"apiVersion\":\"kernelindex.dev/"
			"v1alpha1\",\"kind\":\"SoftwareProject\",\"metadata\":"
			"{\"name\":\"p%u\"},\"spec\":{\"name\":\"P %u\"}}\n",
			i, i);
		put_text(ks_buf_cstr(&text));
		if (i % 3 == 1)
			expect_as_fresh(i % 2 == 0);
	}
	expect_as_fresh(true);
	ks_buf_release(&text);
}

static bool
file_has(const char *path, const char *text)
{
	struct ks_buf bytes = KS_BUF_INIT;
	size_t len = strlen(text), i;
	bool found = false;

	if (ks_file_read(path, (uint64_t)1 << 30, &bytes, NULL) == KS_OK)
		for (i = 0; !found && i + len <= bytes.len; i++)
			found = memcmp(bytes.data + i, text, len) == 0;
	ks_buf_release(&bytes);
	return found;
}

static void
a_takedown_leaves_no_text_of_the_record(void **state)
{
	struct ks_write_options options = { .now = 0 };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_id run = id_of(RUN);
	struct ks_store *store;

	(void)state;
	put_all();
	store = open_store();
	options.now = now++;
	check(ks_annotate(store, &run, ks_span_text(NOTE), ks_span(NULL, 0),
		&options, &err), &err);
	ks_store_close(store);
	expect_as_fresh(true);
	assert_true(file_has(FILE_NAME, "mistletoe") ||
		file_has(FILE_NAME "-wal", "mistletoe"));
	store = open_store();
	options.now = now++;
	check(ks_takedown(store, &run, "law", true, &options, &err), &err);
	ks_store_close(store);
	/* At once, not only when somebody asks again. */
	assert_false(file_has(FILE_NAME, "mistletoe"));
	assert_false(file_has(FILE_NAME "-wal", "mistletoe"));
	expect_as_fresh(true);
	assert_string_equal(group(&out), "");
	ks_buf_release(&out);
}

/* ---- the file ------------------------------------------------------------ */

static void
sql(const char *text)
{
	struct ks_buf command = KS_BUF_INIT;

	ks_buf_printf(&command, "sqlite3 " FILE_NAME " \"%s\"", text);
	assert_int_equal(sh(ks_buf_cstr(&command)), 0);
	ks_buf_release(&command);
}

static void
a_wrong_row_is_named(void **state)
{
	static const struct {
		const char *sql, *finding;
	} wrongs[] = {
		{ "UPDATE record SET value = 1 WHERE value > 1",
			"value is 1.0, must be 621504.0" },
		{ "DELETE FROM record WHERE value > 1",
			"is missing" },
		{ "UPDATE record SET environment = workload "
			"WHERE value > 1", "environment is " },
		{ "UPDATE term SET text = 'B200' WHERE text LIKE 'NVIDIA%'",
			"hardware is \"B200\", must be \"NVIDIA A100" },
		{ "UPDATE text SET title = 'x'", "title is \"x\"" },
		{ "INSERT INTO axis VALUES(99, 0, 1, 1)",
			"should not be there" },
		{ "DELETE FROM axis", "row of axis" },
		{ "UPDATE object SET metadata = NULL", "metadata is nothing" },
		{ "UPDATE object SET flags = 1", "flags is 1" },
		{ "DELETE FROM search_data WHERE id > 10", "" },
		{ "DROP TABLE axis", "cannot be read" },
	};
	struct ks_buf found = KS_BUF_INIT;
	size_t i;

	(void)state;
	put_all();
	for (i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		assert_int_equal(sh("rm -f " FILE_NAME "*"), 0);
		expect_as_fresh(true);
		sql(wrongs[i].sql);
		if (strstr(findings(&found), wrongs[i].finding) == NULL ||
			found.len == 0)
			fail_msg("%s: not said: %s\n%s", wrongs[i].sql,
				wrongs[i].finding, ks_buf_cstr(&found));
		assert_non_null(strstr(ks_buf_cstr(&found),
			"remove it, and the next command builds it anew"));
	}
	ks_buf_release(&found);
}

/* However the file is damaged, questions are answered, and by what the records
 * say. */
static void
expect_answers(const char *what)
{
	struct ks_buf out = KS_BUF_INIT;

	if (strcmp(group(&out), "621504 passed 2024-09-03T15:39:59.000Z "
		"Reported\n") != 0)
		fail_msg("%s: %s", what, ks_buf_cstr(&out));
	ks_buf_release(&out);
}

static void
a_damaged_file_is_built_anew(void **state)
{
	static const char *const damages[] = {
		"truncate -s 0 " FILE_NAME, "truncate -s 100 " FILE_NAME,
		"truncate -s 5000 " FILE_NAME,
		"printf 'no database' >" FILE_NAME,
		"sqlite3 " FILE_NAME " 'DROP TABLE record'",
		"sqlite3 " FILE_NAME " 'DROP TABLE term'",
		"sqlite3 " FILE_NAME " 'DROP TABLE record;"
			" CREATE TABLE record(object, flags)'",
		"sqlite3 " FILE_NAME " \"UPDATE meta SET value = x'00'"
			" WHERE name = 'catalogue'\"",
		"sqlite3 " FILE_NAME " 'DELETE FROM meta'",
		"sqlite3 " FILE_NAME " 'DROP TABLE meta'",
	};
	size_t i;

	(void)state;
	put_all();
	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		ask(true);
		assert_int_equal(sh("sqlite3 " FILE_NAME
			" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null"), 0);
		assert_int_equal(sh(damages[i]), 0);
		expect_answers(damages[i]);
	}
}

/* One byte at a time, all over the file: an answer is the right one, or there
 * is an error. */
static void
no_flipped_byte_is_believed(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_catalogue *catalogue;
	struct ks_store *store;
	enum ks_status status;
	size_t at;

	(void)state;
	put_all();
	ask(true);
	assert_int_equal(sh("sqlite3 " FILE_NAME
		" 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null"), 0);
	check(ks_file_read(FILE_NAME, (uint64_t)1 << 30, &bytes, &err), &err);
	for (at = 0; at < bytes.len; at += 509) {
		(void)sh("rm -f " FILE_NAME "*");
		bytes.data[at] ^= 0xff;
		scratch_write(FILE_NAME, ks_buf_span(&bytes));
		bytes.data[at] ^= 0xff;
		store = open_store();
		status = ks_store_catalogue(store, &catalogue, NULL, &err);
		if (status == KS_OK)
			status = ks_catalogue_make_searchable(catalogue, NULL,
				&err);
		ks_store_close(store);
		if (status != KS_OK)
			fail_msg("byte %zu: %s", at, err.message);
		(void)findings(&out);
	}
	ks_buf_release(&bytes);
	ks_buf_release(&out);
}

static void
where_nothing_can_be_written_memory_will_do(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_catalogue *catalogue;
	struct ks_store *store;

	(void)state;
	if (geteuid() == 0)	/* who may write everywhere */
		skip();
	put_all();
	assert_int_equal(sh("rm -f " FILE_NAME "*;"
		" chmod -R a-w " STORE), 0);
	store = open_store();
	check(ks_store_catalogue(store, &catalogue, NULL, &err), &err);
	assert_true(catalogue->index->in_memory);
	check(ks_catalogue_make_searchable(catalogue, NULL, &err), &err);
	ks_store_close(store);
	expect_answers("read-only");
	assert_int_equal(access(FILE_NAME, F_OK), -1);
}

/* A reader keeps the state that it opened, while a writer goes on. */
static void
readers_and_writers_do_not_disturb_each_other(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_catalogue *before, *after;
	struct ks_store *old, *new;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_id id = id_of(OPERATION);

	(void)state;
	put("operation");
	put("workload");
	ask(false);
	old = open_store();
	check(ks_store_catalogue(old, &before, NULL, &err), &err);
	put("implementation");
	new = open_store();
	check(ks_store_catalogue(new, &after, NULL, &err), &err);
	check(ks_catalogue_users(before, &id, print_user, &out, &err), &err);
	assert_string_equal(ks_buf_cstr(&out),
		"c66457 WorkloadCase spec.operationSpecDigest\n");
	ks_buf_clear(&out);
	check(ks_catalogue_users(after, &id, print_user, &out, &err), &err);
	assert_string_equal(ks_buf_cstr(&out),
		"c66457 WorkloadCase spec.operationSpecDigest\n"
		"459baf ImplementationRevision spec.operation.specDigest\n");
	/* The old one's tables are of the past by now: what it still lacks, it
	 * makes in memory. */
	check(ks_catalogue_make_searchable(before, NULL, &err), &err);
	ks_buf_clear(&out);
	check(ks_catalogue_users(before, &id, print_user, &out, &err), &err);
	assert_string_equal(ks_buf_cstr(&out),
		"c66457 WorkloadCase spec.operationSpecDigest\n");
	ks_store_close(old);
	ks_store_close(new);
	ks_buf_release(&out);
	expect_as_fresh(true);
}

/* What writes or resolves does not pay for it. */
static void
only_questions_fill_it(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_id id;
	struct ks_store *store;

	(void)state;
	put_all();
	store = open_store();
	check(ks_resolve_one(store, "c3252a98", &id, &err), &err);
	ks_store_close(store);
	assert_int_equal(sh("sqlite3 " FILE_NAME
		" \"SELECT name FROM sqlite_schema\" | grep -qx record"), 1);
	ask(false);
	assert_int_equal(sh("sqlite3 " FILE_NAME
		" \"SELECT name FROM sqlite_schema\" | grep -qx record"), 0);
	assert_int_equal(sh("sqlite3 " FILE_NAME
		" \"SELECT name FROM sqlite_schema\" | grep -qx search"), 1);
}

#define TEST(f) cmocka_unit_test_setup(f, new_store)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_answers_what_the_records_say),
		TEST(every_later_line_is_followed),
		TEST(records_that_come_before_what_they_refer_to_are_completed),
		TEST(catching_up_may_skip_commits),
		TEST(a_takedown_leaves_no_text_of_the_record),
		TEST(a_wrong_row_is_named),
		TEST(a_damaged_file_is_built_anew),
		TEST(no_flipped_byte_is_believed),
		TEST(where_nothing_can_be_written_memory_will_do),
		TEST(readers_and_writers_do_not_disturb_each_other),
		TEST(only_questions_fill_it),
	};

	return cmocka_run_group_tests(tests, setup, scratch_teardown);
}
