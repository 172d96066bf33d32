#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "format/digest.h"
#include "store/writing.h"

#define STORE "s.git"
#define NOW 1787000000
#define INIT "{\"at\":\"2026-08-17T20:53:20Z\",\"format\":\"kistore/1\"," \
	"\"op\":\"init\"}\n"

/* A model, and the digest of its body, computed apart. */
#define MODEL "{\"apiVersion\":\"kernelindex.dev/v1alpha1\",\"kind\":" \
	"\"ModelRevision\",\"metadata\":{\"name\":\"m\"},\"spec\":" \
	"{\"model\":\"M\"}}"
#define BODY "{\"apiVersion\":\"kernelindex.dev/v1alpha1\",\"kind\":" \
	"\"ModelRevision\",\"spec\":{\"model\":\"M\"}}"
#define D_MODEL "sha256:0e3dd9a79ce1a2d89be1eac8153d2167ca5e72c4707b7a60bc2" \
	"b6967397be7ed"
#define OBJECT "objects/0/e3/dd9a79ce1a2d89be1eac8153d2167ca5e72c4707b7a60bc" \
	"2b6967397be7ed.zst"

static int
setup(void **state)
{
	return scratch_setup(state) != 0 || ks_store_create(STORE, NULL,
		false, NOW, NULL) != KS_OK;
}

static struct ks_store *
open_store(const char *at)
{
	struct ks_store *store = NULL;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_store_open(&store, STORE, at, &err) != KS_OK)
		fail_msg("%s", err.message);
	return store;
}

static enum ks_status
put(struct ks_store *store, const char *text, struct ks_error *err)
{
	struct ks_put_options options = { .write = { .now = NOW } };
	struct ks_put_result result;
	const char *path = "in.jsonl";

	scratch_write(path, ks_span_text(text));
	return ks_put(store, &path, 1, &options, NULL, NULL, &result, err);
}

static void
put_model(void)
{
	struct ks_store *store = open_store(NULL);
	struct ks_error err = KS_ERROR_INIT;

	if (put(store, MODEL "\n", &err) != KS_OK)
		fail_msg("%s", err.message);
	ks_store_close(store);
}

/* Put `text` (NULL: nothing) in the place of a file, by hand. */
static void
change(const char *path, const char *text)
{
	struct ks_gitdb *db = scratch_open(STORE);
	struct scratch_edit edit = { path, text == NULL ? ks_span(NULL, 0) :
		ks_span_text(text) };

	(void)scratch_commit(db, &edit, 1, NOW);
	ks_gitdb_close(db);
}

static struct ks_id
model_id(void)
{
	struct ks_id id;

	assert_true(ks_id_parse(&id, ks_span_text(D_MODEL)));
	return id;
}

/* ---- opening (T1, T5) -------------------------------------------------- */

static void
store_json_says_what_a_store_is(void **state)
{
	static const struct {
		const char *text;	/* NULL: no such file */
		enum ks_status status;
		const char *says;
	} table[] = {
		{ "{\"format\":\"kistore/1\"}", KS_OK, "" },
		{ "{\"format\":\"kistore/1\",\"origin\":\"example.org/log\"}",
			KS_OK, "" },
		{ NULL, KS_NOT_FOUND, "is not a kistore store" },
		{ "", KS_CORRUPT, "store.json: " },
		{ "{", KS_CORRUPT, "store.json: " },
		{ "{}", KS_CORRUPT, "no member \"format\"" },
		{ "[]", KS_CORRUPT, "store.json: " },
		{ "\"kistore/1\"", KS_CORRUPT, "store.json: " },
		{ "{\"format\":\"kistore/1\"}\n", KS_CORRUPT,
			"store.json: " },
		{ "{ \"format\":\"kistore/1\"}", KS_CORRUPT,
			"store.json: " },
		{ "{\"format\":1}", KS_CORRUPT, "store.json: " },
		{ "{\"format\":null}", KS_CORRUPT, "store.json: " },
		{ "{\"format\":\"kistore/1\",\"origin\":7}", KS_CORRUPT,
			"store.json: " },
		{ "{\"format\":\"kistore/1\",\"format\":\"kistore/1\"}",
			KS_CORRUPT, "store.json: " },
		{ "{\"format\":\"kistore/2\"}", KS_UNSUPPORTED,
			"kistore/2" },
		{ "{\"format\":\"kistore/10\"}", KS_UNSUPPORTED,
			"kistore/10" },
		{ "{\"format\":\"kistore/1\",\"more\":\"x\"}",
			KS_UNSUPPORTED, "newer kistore" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_store *store = NULL;
		struct ks_error err = KS_ERROR_INIT;
		enum ks_status status;

		change("store.json", table[i].text);
		status = ks_store_open(&store, STORE, NULL, &err);
		if (status != table[i].status ||
			strstr(err.message, table[i].says) == NULL)
			fail_msg("%s: %s, \"%s\"", table[i].text,
				ks_status_name(status), err.message);
		assert_true((store != NULL) == (status == KS_OK));
		ks_store_close(store);
	}
}

static void
what_is_no_repository_is_no_store(void **state)
{
	static const struct {
		const char *path;
		enum ks_status status;
	} table[] = {
		{ "absent", KS_NOT_FOUND },
		{ "plain", KS_NOT_FOUND },
		{ "file", KS_NOT_FOUND },
		{ "unborn", KS_NOT_FOUND },
		{ "other", KS_NOT_FOUND },
	};
	size_t i;

	(void)state;
	assert_int_equal(sh("exec 2>/dev/null; mkdir plain; : > file; "
		"git init -q unborn; git init -q other; cd other; : > f; "
		"git add f; git commit -q -m x"), 0);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_store *store = NULL;
		struct ks_error err = KS_ERROR_INIT;

		if (ks_store_open(&store, table[i].path, NULL, &err) !=
			table[i].status)
			fail_msg("%s: %s", table[i].path, err.message);
		assert_null(store);
		assert_true(err.message[0] != '\0');
	}
	ks_store_close(NULL);
}

static void
creating_refuses_what_is_there_and_bad_origins(void **state)
{
	static const char *const origins[] = {
		"", " ", "a b", "a+b", "a\nb", "a\x7f" "b",
		"cosignature/x", "DSSEv1x", "a\xc2\xa0" "b", "\xff",
	};
	struct ks_error err = KS_ERROR_INIT;
	size_t i;

	(void)state;
	assert_int_equal(ks_store_create(STORE, NULL, false, NOW, NULL),
		KS_EXISTS);
	for (i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		enum ks_status status = ks_store_create("new.git", origins[i],
			false, NOW, &err);

		if (status != KS_INVALID && status != KS_USAGE)
			fail_msg("origin %zu: %s", i, ks_status_name(status));
		assert_int_equal(access("new.git", F_OK), -1);
	}
	assert_int_equal(ks_store_create("new.git", NULL, false,
		(int64_t)1 << 60, &err), KS_USAGE);
	assert_int_equal(access("new.git", F_OK), -1);
}

static void
a_store_sees_the_commit_it_was_opened_at(void **state)
{
	struct ks_store *store = open_store(NULL);
	struct ks_buf line = KS_BUF_INIT;
	struct ks_log_info log;

	(void)state;
	put_model();
	assert_int_equal(ks_log(store, &log, NULL), KS_OK);
	assert_int_equal(log.size, 1);
	assert_string_equal(log.time, "2026-08-17T20:53:20Z");
	assert_int_equal(ks_store_line(store, 0, &line, NULL), KS_OK);
	assert_int_equal(ks_store_line(store, 1, &line, NULL), KS_NOT_FOUND);
	assert_int_equal(ks_store_refresh(store, NULL), KS_OK);
	assert_int_equal(ks_log(store, &log, NULL), KS_OK);
	assert_int_equal(log.size, 2);
	/* Lines that were kept are of the commit before. */
	assert_int_equal(ks_store_line(store, 1, &line, NULL), KS_OK);
	ks_buf_release(&line);
	ks_store_close(store);
}

static void
a_past_state_is_read_and_not_written(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_id id = model_id();
	struct ks_store *store;
	struct ks_log_info log;

	(void)state;
	put_model();
	store = open_store("1");
	assert_int_equal(ks_log(store, &log, NULL), KS_OK);
	assert_int_equal(log.size, 1);
	assert_false(ks_store_has(store, &id));
	assert_int_not_equal(put(store, MODEL "\n", &err), KS_OK);
	assert_non_null(strstr(err.message, "past"));
	ks_store_close(store);
	store = NULL;
	assert_int_equal(ks_store_open(&store, STORE, "7", &err),
		KS_NOT_FOUND);
	assert_null(store);
}

/* ---- objects (O9, O12, T3) --------------------------------------------- */

static void
a_body_is_hashed_before_it_is_given(void **state)
{
	struct ks_id id = model_id();
	struct ks_buf body = KS_BUF_INIT;
	struct ks_store *store;

	(void)state;
	put_model();
	store = open_store(NULL);
	assert_true(ks_store_has(store, &id));
	ks_buf_text(&body, "before");
	assert_int_equal(ks_store_body(store, &id, &body, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&body), "before" BODY);
	ks_buf_release(&body);
	ks_store_close(store);
}

/* A frame of other bytes, of raw blocks: "abc" and the body with one letter
 * changed are sound frames at the wrong address. */
static void
a_damaged_object_is_told_with_its_path(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *says;
	} table[] = {
		{ "", 0, "empty file" },
		{ "not a frame", 11, "not a zstd frame" },
		{ "\x28\xb5\x2f\xfd\x20\3\x19\0\0abc", 12,
			"another sha256 than its address" },
		{ "\x28\xb5\x2f\xfd\x20\3\x19\0\0ab", 11, "zstd frame" },
		{ "\x28\xb5\x2f\xfd\x20\3\x19\0\0abcd", 13, "follow" },
		{ "\x28\xb5\x2f\xfd\x23\0\x80\0\0\3\x19\0\0abc", 16,
			"dictionary 32768" },
	};
	struct ks_id id = model_id();
	size_t i;

	(void)state;
	put_model();
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct scratch_edit edit = { OBJECT, ks_span(table[i].bytes,
			table[i].len) };
		struct ks_gitdb *db = scratch_open(STORE);
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf body = KS_BUF_INIT;
		struct ks_store *store;

		(void)scratch_commit(db, &edit, 1, NOW);
		ks_gitdb_close(db);
		store = open_store(NULL);
		ks_buf_text(&body, "before");
		if (ks_store_body(store, &id, &body, &err) != KS_CORRUPT ||
			strstr(err.message, table[i].says) == NULL ||
			strstr(err.message, OBJECT) == NULL)
			fail_msg("row %zu: %s", i, err.message);
		assert_string_equal(ks_buf_cstr(&body), "before");
		assert_int_equal(ks_get(store, &id, KS_GET_BODY, &body, NULL),
			KS_CORRUPT);
		assert_string_equal(ks_buf_cstr(&body), "before");
		ks_buf_release(&body);
		ks_store_close(store);
	}
}

static void
another_mode_than_a_files_is_damage(void **state)
{
	struct ks_id id = model_id();
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf body = KS_BUF_INIT;
	struct ks_store *store;

	(void)state;
	put_model();
	assert_int_equal(sh("set -e; cd " STORE "; "
		"git read-tree HEAD; "
		"git update-index --cacheinfo 100755,"
		"$(git rev-parse HEAD:" OBJECT ")," OBJECT "; "
		"git update-ref HEAD $(git commit-tree -p HEAD -m x "
		"$(git write-tree)); rm index"), 0);
	store = open_store(NULL);
	assert_int_equal(ks_store_body(store, &id, &body, &err), KS_CORRUPT);
	assert_non_null(strstr(err.message, "mode 100755"));
	ks_buf_release(&body);
	ks_store_close(store);
}

static void
an_absent_object_is_explained(void **state)
{
	struct ks_write_options options = { .now = NOW };
	struct ks_id id = model_id();
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf body = KS_BUF_INIT;
	struct ks_store *store = open_store(NULL);

	(void)state;
	/* Never published, … */
	assert_int_equal(ks_get(store, &id, KS_GET_BODY, &body, &err),
		KS_NOT_FOUND);
	assert_string_equal(err.message, D_MODEL " is not in this store");
	ks_store_close(store);
	/* … published and gone, … */
	put_model();
	change(OBJECT, NULL);
	store = open_store(NULL);
	assert_int_equal(ks_get(store, &id, KS_GET_BODY, &body, &err),
		KS_CORRUPT);
	assert_non_null(strstr(err.message, "its object is absent"));
	/* … or taken down. */
	assert_int_equal(ks_takedown(store, &id, "law", false, &options,
		NULL), KS_OK);
	assert_int_equal(ks_get(store, &id, KS_GET_BODY, &body, &err),
		KS_NOT_FOUND);
	assert_string_equal(err.message, D_MODEL " was taken down");
	assert_int_equal(body.len, 0);
	ks_buf_release(&body);
	ks_store_close(store);
}

/* ---- lines ------------------------------------------------------------- */

static bool
count_line(void *arg, uint64_t index, struct ks_span line)
{
	unsigned *count = arg;

	(void)index;
	assert_true(line.len > 0);
	return ++*count == 2;
}

static void
lines_are_had_by_number_range_and_object(void **state)
{
	static const struct {
		uint64_t from, to;
		unsigned expected;
	} table[] = {
		{ 0, 1, 1 }, { 0, UINT64_MAX, 2 }, { 1, 2, 1 }, { 1, 1, 0 },
		{ 2, 9, 0 }, { 5, 2, 0 }, { 0, 0, 0 },
	};
	struct ks_id id = model_id(), other = { { 1 } };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf line = KS_BUF_INIT;
	struct ks_store *store;
	unsigned count = 0;
	size_t i;

	(void)state;
	put_model();
	store = open_store(NULL);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		count = 0;
		assert_int_equal(ks_log_lines(store, table[i].from,
			table[i].to, count_line, &count, NULL), KS_OK);
		assert_int_equal(count, table[i].expected);
	}
	assert_int_equal(ks_store_line(store, 0, &line, NULL), KS_OK);
	ks_buf_byte(&line, '\n');
	assert_string_equal(ks_buf_cstr(&line), INIT);
	assert_int_equal(ks_store_line(store, 2, &line, &err), KS_NOT_FOUND);
	assert_int_equal(ks_store_line(store, 256, &line, NULL),
		KS_NOT_FOUND);
	count = 0;
	assert_int_equal(ks_log_of(store, &id, count_line, &count, NULL),
		KS_OK);
	assert_int_equal(count, 1);
	assert_int_equal(ks_log_of(store, &other, count_line, &count, &err),
		KS_NOT_FOUND);
	ks_buf_release(&line);
	ks_store_close(store);
}

/* ---- writers ----------------------------------------------------------- */

/* R3, R4: such a log is not extended. */
static void
a_log_with_a_fault_or_newer_lines_is_not_extended(void **state)
{
	static const struct {
		const char *log;
		enum ks_status status;
		const char *says;
	} table[] = {
		{ INIT INIT, KS_CORRUPT, "is not extended" },
		{ INIT "{}\n", KS_CORRUPT, "is not extended" },
		{ INIT "{\"at\":\"2026-08-17T20:53:20Z\",\"op\":\"new\"}\n",
			KS_UNSUPPORTED, "newer kistore" },
		{ "{}\n", KS_CORRUPT, "is not extended" },
		{ INIT "no lf", KS_CORRUPT, "LF" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_store *store;
		enum ks_status status;

		change("log/000/000.jsonl", table[i].log);
		store = open_store(NULL);
		status = put(store, MODEL "\n", &err);
		if (status != table[i].status ||
			strstr(err.message, table[i].says) == NULL)
			fail_msg("row %zu: %s, \"%s\"", i,
				ks_status_name(status), err.message);
		ks_store_close(store);
	}
}

/* G14 */
static void
a_detached_head_is_read_and_refuses_writers(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store;
	struct ks_log_info log;

	(void)state;
	assert_int_equal(sh("cd " STORE "; "
		"git rev-parse HEAD > head && mv head HEAD"), 0);
	store = open_store(NULL);
	assert_int_equal(ks_log(store, &log, NULL), KS_OK);
	assert_int_equal(put(store, MODEL "\n", &err), KS_IO);
	assert_non_null(strstr(err.message, "HEAD is detached"));
	ks_store_close(store);
}

static void
one_writer_at_a_time(void **state)
{
	struct ks_write_options options = { .now = NOW, .wait_ms = 0 };
	struct ks_store *store = open_store(NULL);
	struct ks_store *other = open_store(NULL);
	struct ks_error err = KS_ERROR_INIT;
	struct ks_writing writing;

	(void)state;
	assert_int_equal(ks_writing_begin(&writing, store, &options, 1, false,
		NULL), KS_OK);
	assert_int_equal(put(other, MODEL "\n", &err), KS_BUSY);
	assert_true(err.message[0] != '\0');
	ks_writing_end(&writing);
	assert_int_equal(put(other, MODEL "\n", NULL), KS_OK);
	ks_store_close(store);
	ks_store_close(other);
}

/* Nothing is visible before the commit, nor ever if it does not come. */
static void
a_change_that_is_not_committed_leaves_nothing(void **state)
{
	struct ks_write_options options = { .now = NOW };
	struct ks_store *store = open_store(NULL);
	struct ks_entry entry = { .op = KS_OP_PUBLISH, .digest = model_id(),
		.kind = ks_span_text("raw") };
	struct ks_writing writing;
	struct ks_log_info log;
	uint32_t object;

	(void)state;
	assert_int_equal(ks_writing_begin(&writing, store, &options, 1, false,
		NULL), KS_OK);
	assert_int_equal(ks_writing_line(&writing, &entry, &object, NULL),
		KS_OK);
	assert_int_equal(ks_writing_file(&writing, OBJECT, ks_span_text("x"),
		true, NULL), KS_OK);
	ks_writing_end(&writing);
	assert_int_equal(ks_store_refresh(store, NULL), KS_OK);
	assert_int_equal(ks_log(store, &log, NULL), KS_OK);
	assert_int_equal(log.size, 1);
	assert_int_equal(sh("[ -z \"$(ls " STORE "/objects/pack | "
		"grep -v -e idx$ -e pack$)\" ]"), 0);
	ks_store_close(store);
}

/* A line that would be a fault is refused, whoever asks for it. */
static void
lines_that_break_a_rule_are_not_written(void **state)
{
	struct ks_write_options options = { .now = NOW };
	struct ks_id id = model_id(), other = { { 1 } };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store;
	struct ks_log_info log;

	(void)state;
	put_model();
	store = open_store(NULL);
	assert_int_equal(ks_retract(store, &other, "r", NULL, &options, &err),
		KS_INVALID);
	assert_int_equal(ks_restore(store, &id, "r", &options, &err),
		KS_INVALID);
	assert_int_equal(ks_supersede(store, &id, &id, NULL, &options, &err),
		KS_INVALID);
	assert_int_equal(ks_supersede(store, &id, &other, NULL, &options,
		&err), KS_INVALID);
	assert_int_equal(ks_retract(store, &id, "", NULL, &options, &err),
		KS_INVALID);
	assert_int_equal(ks_retract(store, &id, "\xff", NULL, &options, &err),
		KS_INVALID);
	assert_int_equal(ks_annotate(store, &id, ks_span_text("[]"),
		ks_span(NULL, 0), &options, &err), KS_INVALID);
	assert_int_equal(ks_annotate(store, &id, ks_span_text("{}"),
		ks_span(NULL, 0), &options, NULL), KS_INVALID);
	assert_int_equal(ks_annotate(store, &id, ks_span(NULL, 0),
		ks_span_text("{\"source\":\"" D_MODEL "\"}"), &options, &err),
		KS_INVALID);
	assert_int_equal(ks_annotate(store, &id, ks_span(NULL, 0),
		ks_span(NULL, 0), &options, &err), KS_USAGE);
	assert_int_equal(ks_takedown(store, &other, "r", true, &options,
		&err), KS_NOT_FOUND);
	assert_int_equal(ks_log(store, &log, NULL), KS_OK);
	assert_int_equal(log.size, 2);
	ks_store_close(store);
}

/* G15 */
static void
a_changed_work_tree_is_not_written_over(void **state)
{
	static const char *const changes[] = {
		"echo x >> wt/log/000/000.jsonl",
		"rm wt/log/000/000.jsonl",
		"cd wt; echo x >> log/000/000.jsonl; git add log",
		"git -C wt rm -q --cached log/000/000.jsonl",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_store *store = NULL;

		assert_int_equal(sh("rm -rf wt"), 0);
		assert_int_equal(ks_store_create("wt", NULL, true, NOW, NULL),
			KS_OK);
		assert_int_equal(sh(changes[i]), 0);
		assert_int_equal(ks_store_open(&store, "wt", NULL, NULL),
			KS_OK);
		if (put(store, MODEL "\n", &err) != KS_BUSY ||
			strstr(err.message, "log/000/000.jsonl") == NULL)
			fail_msg("row %zu: %s", i, err.message);
		ks_store_close(store);
	}
}

static void
a_work_tree_follows_what_is_written(void **state)
{
	struct ks_store *store = NULL;

	(void)state;
	assert_int_equal(ks_store_create("wt", NULL, true, NOW, NULL), KS_OK);
	assert_int_equal(sh("echo mine > wt/LICENSE"), 0);
	assert_int_equal(ks_store_open(&store, "wt", NULL, NULL), KS_OK);
	assert_int_equal(put(store, MODEL "\n", NULL), KS_OK);
	ks_store_close(store);
	assert_int_equal(sh("cd wt; [ \"$(git status --porcelain)\" = "
		"'?? LICENSE' ] && zstd -qdc " OBJECT " | sha256sum | "
		"grep -q 0e3dd9a7 && [ $(wc -l < log/000/000.jsonl) = 2 ]"),
		0);
}

/* The last segment fills up and the next one begins. */
static void
segments_fill_up_at_256_lines(void **state)
{
	struct ks_store *store = open_store(NULL);
	struct ks_buf text = KS_BUF_INIT;
	struct ks_log_info log;
	int i;

	(void)state;
	for (i = 0; i < 254; i++)
		ks_buf_printf(&text, "{\"apiVersion\":"
			"\"kernelindex.dev/v1alpha1\",\"kind\":"
			"\"ModelRevision\",\"metadata\":{\"name\":\"m\"},"
			"\"spec\":{\"model\":\"%d\"}}\n", i);
	assert_int_equal(put(store, ks_buf_cstr(&text), NULL), KS_OK);
	assert_int_equal(put(store, MODEL "\n", NULL), KS_OK);
	assert_int_equal(ks_log(store, &log, NULL), KS_OK);
	assert_int_equal(log.size, 256);
	assert_int_equal(sh("[ \"$(git -C " STORE " ls-tree -r "
		"--name-only HEAD log/)\" = log/000/000.jsonl ]"), 0);
	ks_buf_clear(&text);
	ks_buf_text(&text, "{\"apiVersion\":\"kernelindex.dev/v1alpha1\","
		"\"kind\":\"ModelRevision\",\"metadata\":{\"name\":\"m\"},"
		"\"spec\":{\"model\":\"last\"}}\n");
	assert_int_equal(put(store, ks_buf_cstr(&text), NULL), KS_OK);
	assert_int_equal(sh("cd " STORE "; [ $(git show "
		"HEAD:log/000/000.jsonl | wc -l) = 256 ] && [ $(git show "
		"HEAD:log/000/001.jsonl | wc -l) = 1 ] && "
		"git fsck --strict 2>&1 | grep -v dangling | grep . ; "
		"[ $? = 1 ]"), 0);
	ks_buf_release(&text);
	ks_store_close(store);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(store_json_says_what_a_store_is),
		TEST(what_is_no_repository_is_no_store),
		TEST(creating_refuses_what_is_there_and_bad_origins),
		TEST(a_store_sees_the_commit_it_was_opened_at),
		TEST(a_past_state_is_read_and_not_written),
		TEST(a_body_is_hashed_before_it_is_given),
		TEST(a_damaged_object_is_told_with_its_path),
		TEST(another_mode_than_a_files_is_damage),
		TEST(an_absent_object_is_explained),
		TEST(lines_are_had_by_number_range_and_object),
		TEST(a_log_with_a_fault_or_newer_lines_is_not_extended),
		TEST(a_detached_head_is_read_and_refuses_writers),
		TEST(one_writer_at_a_time),
		TEST(a_change_that_is_not_committed_leaves_nothing),
		TEST(lines_that_break_a_rule_are_not_written),
		TEST(a_changed_work_tree_is_not_written_over),
		TEST(a_work_tree_follows_what_is_written),
		TEST(segments_fill_up_at_256_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
