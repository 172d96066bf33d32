#include "store/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "../lib/scratch.h"
#include "base/hex.h"
#include "format/layout.h"
#include "format/merkle.h"

#define REPOSITORY "r.git"
#define INDEX_FILE REPOSITORY "/" KS_INDEX_NAME

/* Waiting for a lock is cut to 200 ms: this stands before SQLite's own. */
static int waits;

static int
wait_briefly(void *arg, int times)
{
	(void)arg;
	waits++;
	(void)nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	return times < 20;
}

int
sqlite3_busy_timeout(sqlite3 *db, int ms)
{
	return sqlite3_busy_handler(db, ms == 0 ? NULL : wait_briefly, NULL);
}

/* ---- a log that uses every op ------------------------------------------ */

#define LINES 600

/* Lines that break a rule (R7) and need a newer version (L11). */
#define FAULT_LINE 289
#define NEWER_LINE 419

static const char *const kinds[] = {
	"raw", "kernelindex.dev/v1alpha1/ModelRevision", "example/v1/Thing",
	"kistore/v1/Source",
};

/* The digest of the object that line n publishes. */
static void
print_digest(struct ks_buf *out, unsigned n)
{
	ks_buf_printf(out, "sha256:%08x%056x", n * 2654435761U, n);
}

static struct ks_id
digest_of(unsigned n)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_id id;

	print_digest(&text, n);
	assert_true(ks_id_parse(&id, ks_buf_span(&text)));
	ks_buf_release(&text);
	return id;
}

static void
begin_line(struct ks_buf *out, unsigned n, const char *by, unsigned digest)
{
	ks_buf_printf(out, "{\"at\":\"2026-01-01T00:%02u:%02uZ\"",
		n / 60 % 60, n % 60);
	if (by != NULL)
		ks_buf_printf(out, ",\"by\":\"%s\"", by);
	ks_buf_text(out, ",\"digest\":\"");
	print_digest(out, digest);
	ks_buf_byte(out, '"');
}

/* Lines come in tens: five publishes of one kind, then something about each. */
static void
print_publish(struct ks_buf *out, unsigned n)
{
	const char *kind = kinds[n / 10 % 4];

	begin_line(out, n, NULL, n);
	ks_buf_printf(out, ",\"kind\":\"%s\"", kind);
	if (n % 2 == 1)
		ks_buf_printf(out, ",\"metadata\":{\"name\":\"name-%u\"}",
			n % 7);
	ks_buf_text(out, ",\"op\":\"publish\"");
	/* Sources share an id, which passes to the newest. */
	if (strcmp(kind, "kistore/v1/Source") == 0)
		ks_buf_text(out, ",\"provenance\":{\"id\":"
			"\"ffffffff-0000-4000-8000-000000000000\"}");
	else if (n % 3 == 0)
		ks_buf_printf(out, ",\"provenance\":{\"id\":"
			"\"%08x-0000-4000-8000-%012x\"}", n * 2654435761U, n);
	ks_buf_text(out, "}\n");
}

static void
print_later(struct ks_buf *out, unsigned n)
{
	struct ks_buf by = KS_BUF_INIT;

	switch (n % 10) {
	case 5:
		begin_line(out, n, NULL, n - 5);
		ks_buf_printf(out, ",\"metadata\":{\"name\":\"renamed-%u\"},"
			"\"op\":\"annotate\"}\n", n % 3);
		break;
	case 6:
		begin_line(out, n, NULL, n - 5);
		ks_buf_text(out, ",\"op\":\"retract\",\"reason\":\"r\"}\n");
		break;
	case 7:
		print_digest(&by, n - 4);
		begin_line(out, n, ks_buf_cstr(&by), n - 5);
		ks_buf_text(out, ",\"op\":\"supersede\"}\n");
		break;
	case 8:
		begin_line(out, n, NULL, n - 7);
		ks_buf_text(out, n / 10 % 2 == 0 ?
			",\"op\":\"restore\",\"reason\":\"r\"}\n" :
			",\"op\":\"annotate\",\"provenance\":"
			"{\"summary\":\"s\"}}\n");
		break;
	default:
		begin_line(out, n, NULL, n - 5);
		ks_buf_text(out, n / 10 % 3 == 0 ?
			",\"op\":\"takedown\",\"reason\":\"r\"}\n" :
			",\"op\":\"x-note\"}\n");
		break;
	}
	ks_buf_release(&by);
}

static void
print_line(struct ks_buf *out, unsigned n, bool good)
{
	if (n == 0) {
		ks_buf_text(out, "{\"at\":\"2026-01-01T00:00:00Z\","
			"\"format\":\"kistore/1\",\"op\":\"init\"}\n");
	} else if (n == 5) {	/* line 0 published nothing */
		begin_line(out, n, NULL, 1);
		ks_buf_text(out, ",\"op\":\"x-note\"}\n");
	} else if (!good && n == FAULT_LINE) {
		print_publish(out, 281);	/* and an earlier time */
	} else if (!good && n == NEWER_LINE) {
		ks_buf_text(out, "{\"at\":\"2026-01-01T00:06:59Z\","
			"\"op\":\"unheard-of\"}\n");
	} else if (n % 10 < 5) {
		print_publish(out, n);
	} else {
		print_later(out, n);
	}
}

static void
print_log(struct ks_buf *out, unsigned from, unsigned to, bool good)
{
	for (; from < to; from++)
		print_line(out, from, good);
}

/* ---- the same in a repository ------------------------------------------ */

static struct ks_gitdb *db;

/* A state of the log: a commit. */
struct state {
	struct ks_oid commit, tree;
};

/* Commit `text` as the whole log. */
static struct state
commit_text(struct ks_span text)
{
	struct scratch_edit edits[8];
	char paths[8][KS_SEGMENT_PATH];
	size_t count = 0, lines;
	struct state state;

	while (text.len > 0) {
		const uint8_t *at = text.data;

		for (lines = 0; lines < 256 && at < text.data + text.len;
			lines++)
			at = (const uint8_t *)memchr(at, '\n', text.len) + 1;
		edits[count].path = ks_layout_segment(count * 256,
			paths[count]);
		edits[count].bytes = ks_span(text.data,
			(size_t)(at - text.data));
		text.len -= edits[count].bytes.len;
		text.data = at;
		count++;
	}
	(void)scratch_commit(db, edits, count, 0);
	scratch_head(db, &state.commit, &state.tree);
	return state;
}

static struct state
commit_lines(unsigned count, bool good)
{
	struct ks_buf text = KS_BUF_INIT;
	struct state state;

	print_log(&text, 0, count, good);
	state = commit_text(ks_buf_span(&text));
	ks_buf_release(&text);
	return state;
}

/* States at these sizes, the last of which is the whole log. */
static const unsigned sizes[] = { 1, 2, 100, 255, 256, 257, 300, 512, 513,
	LINES };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct state states[SIZES], faulty[SIZES];

/* Once for all tests: making commits takes longest. */
static int
setup(void **state)
{
	size_t i;

	if (scratch_setup(state) != 0)
		return 1;
	db = scratch_repository(REPOSITORY);
	for (i = 0; i < SIZES; i++) {
		faulty[i] = commit_lines(sizes[i], false);
		states[i] = commit_lines(sizes[i], true);
	}
	return 0;
}

static struct ks_buf notes = KS_BUF_INIT;

static int
teardown(void **state)
{
	ks_gitdb_close(db);
	ks_buf_release(&notes);
	(void)sqlite3_shutdown();
	return scratch_teardown(state);
}

static int
remove_index(void **state)
{
	(void)state;
	return sh("rm -rf " INDEX_FILE "*");
}

/* ---- everything that an index says ------------------------------------- */

static bool
print_row_line(void *arg, uint64_t line)
{
	ks_buf_printf(arg, " %llu", (unsigned long long)line);
	return false;
}

struct printing {
	struct ks_buf *out;
	struct ks_buf digests;	/* of all rows */
};

static bool
print_row(void *arg, const struct ks_index_row *row)
{
	struct printing *printing = arg;
	const struct ks_object_state *s = &row->state;
	char text[KS_ID_TEXT + 1], hex[KS_ID_HEX + 1];

	ks_buf_printf(printing->out, "%s %s %s %u %d%d%d%d%d%d%d %llu %llu "
		"%llx %llx %s\n", ks_id_print(&s->digest, text), row->kind,
		row->name, s->published, s->retracted, s->superseded,
		s->taken_down, s->redacted, s->was_retracted,
		s->was_superseded, s->has_missing,
		(unsigned long long)row->metadata_line,
		(unsigned long long)row->provenance_line,
		(unsigned long long)row->metadata_hash,
		(unsigned long long)row->provenance_hash, s->superseded ?
		ks_id_print_hex(&row->successor, hex) : "-");
	ks_buf_append(&printing->digests, ks_span(&s->digest,
		sizeof(s->digest)));
	return false;
}

static void
print_kind(void *arg, const char *kind, uint64_t count, uint64_t retracted,
	uint64_t superseded, uint64_t taken_down)
{
	ks_buf_printf(arg, "%s: %llu %llu %llu %llu\n", kind,
		(unsigned long long)count, (unsigned long long)retracted,
		(unsigned long long)superseded,
		(unsigned long long)taken_down);
}

static void
print_ids(struct ks_index *index, struct ks_buf *out)
{
	uint8_t id[16] = { 0xff, 0xff, 0xff, 0xff, 0, 0, 0x40, 0, 0x80 };
	char text[KS_ID_TEXT + 1];
	struct ks_id digest;
	unsigned n, i;

	if (ks_index_id(index, id, &digest))
		ks_buf_printf(out, "shared id: %s\n",
			ks_id_print(&digest, text));
	for (n = 0; n < LINES; n++) {
		for (i = 0; i < 4; i++)
			id[i] = (uint8_t)(n * 2654435761U >> (24 - 8 * i));
		id[14] = (uint8_t)(n >> 8);
		id[15] = (uint8_t)n;
		if (ks_index_id(index, id, &digest))
			ks_buf_printf(out, "id %u: %s\n", n,
				ks_id_print(&digest, text));
	}
}

static const char *opened = "";	/* what, for messages */

static void
print_index(struct ks_index *index, struct ks_buf *out)
{
	struct printing printing = { .out = out, .digests = KS_BUF_INIT };
	const struct ks_index_log *log = ks_index_log(index);
	struct ks_error err = KS_ERROR_INIT;
	char hex[KS_ID_HEX + 1];
	struct ks_id id;
	size_t i;

	ks_buf_clear(out);
	ks_merkle_root(&log->tree, &id);
	ks_buf_printf(out, "%llu %s %s %llu %llu %llu, %llu objects\n",
		(unsigned long long)log->tree.size, ks_id_print_hex(&id, hex),
		log->time, (unsigned long long)log->faults,
		(unsigned long long)log->unsupported,
		(unsigned long long)log->first_problem,
		(unsigned long long)ks_index_count(index));
	if (ks_index_by_digest(index, ks_span(NULL, 0), print_row, &printing,
		&err) != KS_OK)
		fail_msg("%s: %s", opened, err.message);
	for (i = 0; i < printing.digests.len; i += sizeof(id)) {
		memcpy(&id, printing.digests.data + i, sizeof(id));
		ks_buf_printf(out, "%s:", ks_id_print_hex(&id, hex));
		assert_int_equal(ks_index_lines(index, &id, print_row_line,
			out, NULL), KS_OK);
		ks_buf_byte(out, '\n');
	}
	assert_int_equal(ks_index_kinds(index, print_kind, out, NULL), KS_OK);
	ks_buf_text(out, "keys:");
	assert_int_equal(ks_index_keys(index, print_row_line, out, NULL),
		KS_OK);
	ks_buf_byte(out, '\n');
	print_ids(index, out);
	if (ks_index_check(index, &err) != KS_OK)
		fail_msg("%s: %s", opened, err.message);
	ks_buf_release(&printing.digests);
}

/* ---- opening ----------------------------------------------------------- */

static void
keep_note(void *arg, const char *text)
{
	(void)arg;
	ks_buf_printf(&notes, "%s\n", text);
}

static const struct ks_watch watch = { .note = keep_note };

static struct ks_index *
open_index(const struct state *at, bool fixed)
{
	struct ks_index *index = NULL;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_index_open(&index, db, &at->commit, &at->tree, fixed, &watch,
		&err) != KS_OK)
		fail_msg("%s", err.message);
	return index;
}

/* Open, print, close. */
static void
print_opened(const struct state *at, bool fixed, struct ks_buf *out)
{
	struct ks_index *index = open_index(at, fixed);

	print_index(index, out);
	ks_index_close(index);
}

/* What a fresh build says; the file is removed before and after. */
static void
print_fresh(const struct state *at, struct ks_buf *out)
{
	(void)remove_index(NULL);
	print_opened(at, false, out);
	(void)remove_index(NULL);
}

static void
assert_same(struct ks_buf *found, struct ks_buf *expected, const char *what)
{
	if (strcmp(ks_buf_cstr(found), ks_buf_cstr(expected)) != 0)
		fail_msg("%s:\n%s\nnot\n%s", what, ks_buf_cstr(found),
			ks_buf_cstr(expected));
}

/* Opening at `at` says what a fresh build says. */
static void
assert_opens_right(const struct state *at, struct ks_buf *fresh,
	const char *what)
{
	struct ks_buf found = KS_BUF_INIT;

	opened = what;
	print_opened(at, false, &found);
	assert_same(&found, fresh, what);
	ks_buf_release(&found);
}

/* ---- catching up ------------------------------------------------------- */

static void
check_catching_up(const struct state states_of[SIZES])
{
	const struct state *last = &states_of[SIZES - 1];
	struct ks_buf fresh = KS_BUF_INIT;
	struct ks_buf found = KS_BUF_INIT;
	struct ks_index *index;
	size_t i;

	print_fresh(last, &fresh);
	for (i = 0; i < SIZES; i++) {
		/* By opening the file of an earlier state, … */
		ks_index_close(open_index(&states_of[i], false));
		assert_opens_right(last, &fresh, "opened");
		(void)remove_index(NULL);
		/* … and by going on with an open one, in file and memory. */
		index = open_index(&states_of[i], false);
		assert_int_equal(ks_index_catch_up(index, db, &last->commit,
			&last->tree, NULL, NULL), KS_OK);
		print_index(index, &found);
		assert_same(&found, &fresh, "went on");
		ks_index_close(index);
		assert_opens_right(last, &fresh, "opened after going on");
		(void)remove_index(NULL);
		index = open_index(&states_of[i], true);
		assert_int_equal(ks_index_catch_up(index, db, &last->commit,
			&last->tree, NULL, NULL), KS_OK);
		print_index(index, &found);
		assert_same(&found, &fresh, "went on in memory");
		ks_index_close(index);
	}
	ks_buf_release(&fresh);
	ks_buf_release(&found);
}

static void
catching_up_from_any_state_equals_a_rebuild(void **state)
{
	(void)state;
	check_catching_up(states);
}

static void
so_it_does_over_lines_that_have_no_effect(void **state)
{
	struct ks_index *index = open_index(&faulty[SIZES - 1], false);
	const struct ks_index_log *log = ks_index_log(index);

	(void)state;
	assert_int_equal(log->faults, 1);
	assert_int_equal(log->unsupported, 1);
	assert_int_equal(log->first_problem, FAULT_LINE);
	ks_index_close(index);
	(void)remove_index(NULL);
	check_catching_up(faulty);
}

static void
step_by_step_it_is_the_same(void **state)
{
	struct ks_index *index = open_index(&states[0], false);
	struct ks_buf fresh = KS_BUF_INIT;
	struct ks_buf found = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 1; i < SIZES; i++) {
		assert_int_equal(ks_index_catch_up(index, db,
			&states[i].commit, &states[i].tree, NULL, NULL),
			KS_OK);
		print_index(index, &found);
		print_opened(&states[i], true, &fresh);
		assert_same(&found, &fresh, "a step");
	}
	ks_index_close(index);
	ks_buf_release(&fresh);
	ks_buf_release(&found);
}

static void
a_past_state_neither_uses_nor_writes_the_file(void **state)
{
	struct ks_buf found = KS_BUF_INIT;
	struct ks_buf fresh = KS_BUF_INIT;

	(void)state;
	print_opened(&states[3], true, &found);
	assert_int_equal(access(INDEX_FILE, F_OK), -1);
	print_fresh(&states[3], &fresh);
	assert_same(&found, &fresh, "past");
	scratch_write(INDEX_FILE, ks_span_text("rubbish"));
	print_opened(&states[3], true, &found);
	assert_same(&found, &fresh, "past, beside rubbish");
	assert_int_equal(sh("[ \"$(cat " INDEX_FILE ")\" = rubbish ]"),
		0);
	ks_buf_release(&found);
	ks_buf_release(&fresh);
}

/* ---- the log changed otherwise ----------------------------------------- */

static void
a_history_that_was_reset_is_indexed_anew(void **state)
{
	struct ks_buf fresh = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i + 1 < SIZES; i++) {
		print_fresh(&states[i], &fresh);
		ks_index_close(open_index(&states[SIZES - 1], false));
		assert_opens_right(&states[i], &fresh, "reset");
	}
	ks_buf_release(&fresh);
}

/* One line changed in each place where a log may differ. */
static void
a_history_that_was_rewritten_is_indexed_anew(void **state)
{
	static const unsigned changed[] = { 1, 250, 255, 256, 510, 511, 512,
		555 };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf fresh = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(changed) / sizeof(changed[0]); i++) {
		unsigned n = changed[i];
		struct state rewritten;

		ks_buf_clear(&text);
		print_log(&text, 0, n, true);
		ks_buf_printf(&text, "{\"at\":\"2026-01-01T00:%02u:%02uZ\","
			"\"op\":\"x-other\"}\n", n / 60 % 60, n % 60);
		print_log(&text, n + 1, LINES, true);
		rewritten = commit_text(ks_buf_span(&text));
		print_fresh(&rewritten, &fresh);
		ks_index_close(open_index(&states[SIZES - 1], false));
		assert_opens_right(&rewritten, &fresh, "rewritten");
		/* And back. */
		print_fresh(&states[SIZES - 1], &fresh);
		ks_index_close(open_index(&rewritten, false));
		assert_opens_right(&states[SIZES - 1], &fresh, "back");
	}
	ks_buf_release(&text);
	ks_buf_release(&fresh);
}

/* X3: the takedown and the redaction come in one commit. */
static void
a_redaction_is_indexed_anew(void **state)
{
	static const unsigned redacted[] = { 41, 253, 301, 521 };
	struct ks_buf fresh = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf line = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(redacted) / sizeof(redacted[0]); i++) {
		unsigned n = redacted[i];
		struct ks_id digest = digest_of(n), leaf;
		struct ks_index_row row;
		struct ks_index *index;
		char hex[KS_ID_HEX + 1];
		struct state after;

		ks_buf_clear(&line);
		print_line(&line, n, true);
		ks_merkle_leaf(ks_span(line.data, line.len - 1), &leaf);
		ks_buf_clear(&text);
		print_log(&text, 0, n, true);
		ks_buf_printf(&text, "-%s\n", ks_id_print_hex(&leaf, hex));
		print_log(&text, n + 1, LINES, true);
		begin_line(&text, LINES, NULL, n);
		ks_buf_printf(&text, ",\"lines\":[%u],\"op\":\"takedown\","
			"\"reason\":\"r\"}\n", n);
		after = commit_text(ks_buf_span(&text));
		print_fresh(&after, &fresh);
		ks_index_close(open_index(&states[SIZES - 1], false));
		assert_opens_right(&after, &fresh, "redacted");
		index = open_index(&after, false);
		assert_true(ks_index_object(index, &digest, &row));
		assert_true(row.state.redacted && row.state.taken_down);
		assert_string_equal(row.kind, "");
		assert_string_equal(row.name, "");
		if (ks_index_log(index)->faults > 0)
			fail_msg("line %u, redacted: fault at %llu", n,
				(unsigned long long)
				ks_index_log(index)->first_problem);
		ks_index_close(index);
	}
	ks_buf_release(&fresh);
	ks_buf_release(&text);
	ks_buf_release(&line);
}

/* A takedown whose lines reach back is for a whole replay to judge. */
static void
a_takedown_of_earlier_lines_is_followed(void **state)
{
	struct ks_buf fresh = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT;
	struct state after;

	(void)state;
	print_log(&text, 0, LINES, true);
	begin_line(&text, LINES, NULL, 41);
	ks_buf_text(&text, ",\"lines\":[41],\"op\":\"takedown\","
		"\"reason\":\"r\"}\n");
	after = commit_text(ks_buf_span(&text));
	print_fresh(&after, &fresh);
	assert_non_null(strstr(ks_buf_cstr(&fresh), " 0 0 "));
	ks_index_close(open_index(&states[SIZES - 1], false));
	assert_opens_right(&after, &fresh, "takedown");
	ks_buf_release(&fresh);
	ks_buf_release(&text);
}

/* ---- files that are no index ------------------------------------------- */

/* Run SQL on the index file. */
static void
change_index(const char *sql)
{
	sqlite3 *other = NULL;
	char *message = NULL;

	assert_int_equal(sqlite3_open(INDEX_FILE, &other), SQLITE_OK);
	if (sqlite3_exec(other, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

/* What may be in its place: made by a script, or a change to a good one. */
static const struct {
	const char *what, *script, *sql;
} strange[] = {
	{ "empty", ": > I", NULL },
	{ "a text", "echo this is no database > I", NULL },
	{ "zeros", "head -c 20000 /dev/zero > I", NULL },
	{ "noise", "head -c 20000 REPO/objects/pack/*.pack > I", NULL },
	{ "a header alone", "head -c 100 I > x; mv x I", NULL },
	{ "half a page", "head -c 2000 I > x; mv x I", NULL },
	{ "one page", "head -c 4096 I > x; mv x I", NULL },
	{ "cut", "head -c 20000 I > x; mv x I", NULL },
	{ "a WAL of noise", "head -c 9000 REPO/objects/pack/*.pack > I-wal",
		NULL },
	{ "an shm of noise", "head -c 32768 /dev/zero > I-shm", NULL },
	{ "a foreign WAL", "printf '\\067\\177\\006\\202' > I-wal; "
		"head -c 9000 /dev/zero >> I-wal", NULL },
	{ "a directory", "rm I*; mkdir I", NULL },
	{ "a symbolic link", "mv I elsewhere; ln -s ../elsewhere I", NULL },
	{ "a dangling link", "rm I*; ln -s nowhere I", NULL },
	{ "a FIFO", "rm I*; mkfifo I", NULL },
	{ "another database", NULL, "DROP TABLE meta; DROP TABLE object; "
		"DROP TABLE line; DROP TABLE id; DROP TABLE kind; "
		"CREATE TABLE something(a, b)" },
	{ "no tables", NULL, "DROP TABLE object" },
	{ "no binding", NULL, "DELETE FROM meta" },
	{ "a binding of another size", NULL,
		"UPDATE meta SET value = x'0100' WHERE name = 'binding'" },
	{ "a binding that is a text", NULL,
		"UPDATE meta SET value = 'text' WHERE name = 'binding'" },
	{ "an older schema", NULL, "UPDATE meta SET value = "
		"x'00000000' || substr(value, 5)" },
	{ "a newer schema", NULL, "UPDATE meta SET value = "
		"x'ff000000' || substr(value, 5)" },
	{ "a commit that is not here", NULL, "UPDATE meta SET value = "
		"substr(value, 1, 8) || zeroblob(20) || substr(value, 29)" },
	{ "another count of the log", NULL, "UPDATE meta SET value = "
		"substr(value, 1, length(value) - 16) || x'01' || "
		"substr(value, length(value) - 14) WHERE name = 'binding'" },
	{ "tables with other columns", NULL, "DROP TABLE meta; "
		"CREATE TABLE meta(a, b, c)" },
	{ "views for tables", NULL, "DROP TABLE object; "
		"CREATE VIEW object AS SELECT 1" },
	{ "triggers", NULL, "CREATE TRIGGER t AFTER INSERT ON object BEGIN "
		"DELETE FROM object; END; DELETE FROM meta" },
};

/* Replace I and REPO in a script. */
static void
run_script(const char *script)
{
	struct ks_buf text = KS_BUF_INIT;

	ks_buf_printf(&text, "I=" INDEX_FILE "; REPO=" REPOSITORY "; "
		"exec 2>/dev/null; ");
	for (; *script != '\0'; script++)
		if (strncmp(script, "REPO", 4) == 0) {
			ks_buf_text(&text, "$REPO");
			script += 3;
		} else if (*script == 'I') {
			ks_buf_text(&text, "$I");
		} else {
			ks_buf_byte(&text, (uint8_t)*script);
		}
	assert_int_equal(sh(ks_buf_cstr(&text)), 0);
	ks_buf_release(&text);
}

static void
check_strange(const struct state *built_at, const struct state *opened_at)
{
	struct ks_buf fresh = KS_BUF_INIT;
	size_t i;

	print_fresh(opened_at, &fresh);
	for (i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
		ks_index_close(open_index(built_at, false));
		/* Gather everything in the one file. */
		change_index("PRAGMA journal_mode = DELETE");
		if (strange[i].sql != NULL)
			change_index(strange[i].sql);
		else
			run_script(strange[i].script);
		assert_opens_right(opened_at, &fresh, strange[i].what);
		/* The second time as well, from the file where there is one. */
		assert_opens_right(opened_at, &fresh, strange[i].what);
		(void)remove_index(NULL);
		(void)unlink("elsewhere");
	}
	ks_buf_release(&fresh);
}

static void
whatever_is_in_its_place_the_answers_are_right(void **state)
{
	(void)state;
	check_strange(&states[SIZES - 1], &states[SIZES - 1]);
}

static void
so_they_are_when_the_log_has_grown(void **state)
{
	(void)state;
	check_strange(&states[4], &states[SIZES - 1]);
}

/* Damage to pages that opening does not read shows at a look-up. The file is
 * then given up, and the next one to open it builds it anew. */
static void
damage_found_later_is_told_and_then_mended(void **state)
{
	const struct state *last = &states[SIZES - 1];
	struct ks_buf fresh = KS_BUF_INIT;
	struct stat st;
	long page;
	int told = 0;

	(void)state;
	print_fresh(last, &fresh);
	ks_index_close(open_index(last, false));
	change_index("PRAGMA journal_mode = DELETE");
	assert_int_equal(stat(INDEX_FILE, &st), 0);
	for (page = 1; page < st.st_size / 4096; page++) {
		struct ks_error err = KS_ERROR_INIT;
		struct printing printing = { .digests = KS_BUF_INIT };
		struct ks_buf script = KS_BUF_INIT;
		struct ks_buf rows = KS_BUF_INIT;
		struct ks_index *index;

		(void)remove_index(NULL);
		ks_index_close(open_index(last, false));
		change_index("PRAGMA journal_mode = DELETE");
		ks_buf_printf(&script, "yes | tr -d '\\n' | dd of=" INDEX_FILE
			" bs=4096 seek=%ld count=1 iflag=fullblock "
			"conv=notrunc 2>/dev/null", page);
		assert_int_equal(sh(ks_buf_cstr(&script)), 0);
		index = open_index(last, false);
		printing.out = &rows;
		if (ks_index_by_digest(index, ks_span(NULL, 0), print_row,
			&printing, &err) != KS_OK) {
			assert_non_null(strstr(err.message, KS_INDEX_NAME));
			assert_int_equal(ks_index_check(index, NULL), KS_IO);
			told++;
			ks_index_close(index);
			assert_opens_right(last, &fresh, "mended");
		} else {
			ks_index_close(index);
		}
		ks_buf_release(&script);
		ks_buf_release(&rows);
		ks_buf_release(&printing.digests);
	}
	assert_true(told > 0);
	ks_buf_release(&fresh);
}

/* ---- where it cannot be written ---------------------------------------- */

/* Whether opening at `at` works in a process that may only read. */
static bool
opens_read_only(const struct state *at, struct ks_buf *fresh)
{
	pid_t pid;
	int rc = -1;

	assert_int_equal(sh("chmod 755 .; chmod -R a+rX,a-w "
		REPOSITORY "; [ $(id -u) != 0 ] || "
		"chown -R 65534 " REPOSITORY), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct ks_buf found = KS_BUF_INIT;
		struct ks_index *index = NULL;

		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(2);
		if (ks_index_open(&index, db, &at->commit, &at->tree, false,
			NULL, NULL) != KS_OK)
			_exit(3);
		print_index(index, &found);
		_exit(strcmp(ks_buf_cstr(&found), ks_buf_cstr(fresh)) == 0 ?
			0 : 4);
	}
	assert_int_equal(waitpid(pid, &rc, 0), pid);
	assert_int_equal(sh("chmod -R u+w " REPOSITORY "; "
		"[ $(id -u) != 0 ] || chown -R 0 " REPOSITORY), 0);
	return WIFEXITED(rc) && WEXITSTATUS(rc) == 0;
}

static void
a_directory_that_cannot_be_written_gets_no_file(void **state)
{
	const struct state *last = &states[SIZES - 1];
	struct ks_buf fresh = KS_BUF_INIT;

	(void)state;
	print_fresh(last, &fresh);
	assert_true(opens_read_only(last, &fresh));
	assert_int_equal(access(INDEX_FILE, F_OK), -1);
	/* One that is there is used when it is current, … */
	ks_index_close(open_index(last, false));
	assert_true(opens_read_only(last, &fresh));
	/* … with what it says replaced when it is not, … */
	(void)remove_index(NULL);
	ks_index_close(open_index(&states[2], false));
	assert_true(opens_read_only(last, &fresh));
	/* … or is none. */
	(void)remove_index(NULL);
	scratch_write(INDEX_FILE, ks_span_text("rubbish"));
	assert_true(opens_read_only(last, &fresh));
	assert_int_equal(sh("[ \"$(cat " INDEX_FILE ")\" = rubbish ]"),
		0);
	ks_buf_release(&fresh);
}

/* ---- several at once --------------------------------------------------- */

/* Another connection that has done `sql` and holds its lock. */
static sqlite3 *
hold(const char *sql)
{
	sqlite3 *other = NULL;

	assert_int_equal(sqlite3_open(INDEX_FILE, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, sql, NULL, NULL, NULL),
		SQLITE_OK);
	return other;
}

static void
a_locked_file_is_replaced_by_memory(void **state)
{
	const struct state *last = &states[SIZES - 1];
	struct ks_buf fresh = KS_BUF_INIT;
	sqlite3 *other;

	(void)state;
	print_fresh(last, &fresh);
	ks_index_close(open_index(&states[2], false));
	other = hold("BEGIN IMMEDIATE; DELETE FROM line");
	waits = 0;
	assert_opens_right(last, &fresh, "locked by a writer");
	assert_true(waits > 0);
	assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
	change_index("PRAGMA journal_mode = DELETE");
	other = hold("BEGIN EXCLUSIVE; DELETE FROM line");
	assert_opens_right(last, &fresh, "locked for all");
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
	ks_buf_release(&fresh);
}

static void
a_writer_of_the_file_does_not_keep_readers_waiting(void **state)
{
	const struct state *last = &states[SIZES - 1];
	struct ks_buf fresh = KS_BUF_INIT;
	sqlite3 *other;

	(void)state;
	print_fresh(last, &fresh);
	ks_index_close(open_index(last, false));
	other = hold("BEGIN IMMEDIATE; DELETE FROM line");
	waits = 0;
	assert_opens_right(last, &fresh, "beside a writer");
	assert_int_equal(waits, 0);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
	ks_buf_release(&fresh);
}

/* A view stays what it was, and does not hold up whoever builds anew. */
static void
a_reader_keeps_its_view_and_nobody_waits_for_it(void **state)
{
	const struct state *last = &states[SIZES - 1];
	struct ks_buf before = KS_BUF_INIT;
	struct ks_buf after = KS_BUF_INIT;
	struct ks_buf fresh = KS_BUF_INIT;
	struct ks_index *reader;

	(void)state;
	print_fresh(&states[2], &fresh);
	reader = open_index(last, false);
	print_index(reader, &before);
	waits = 0;
	assert_opens_right(&states[2], &fresh, "reset beside a reader");
	assert_int_equal(waits, 0);
	print_index(reader, &after);
	assert_same(&after, &before, "the reader's view");
	ks_index_close(reader);
	ks_buf_release(&before);
	ks_buf_release(&after);
	ks_buf_release(&fresh);
}

static void
who_was_overtaken_does_not_go_on(void **state)
{
	const struct state *last = &states[SIZES - 1];
	struct ks_index *slow = open_index(&states[2], false);
	struct ks_index *quick = open_index(&states[2], false);

	(void)state;
	assert_int_equal(ks_index_catch_up(quick, db, &states[5].commit,
		&states[5].tree, NULL, NULL), KS_OK);
	assert_int_not_equal(ks_index_catch_up(slow, db, &last->commit,
		&last->tree, NULL, NULL), KS_OK);
	ks_index_close(slow);
	ks_index_close(quick);
}

#define PROCESSES 4

static void
processes_that_build_at_once_agree(void **state)
{
	const struct state *last = &states[SIZES - 1];
	struct ks_buf fresh = KS_BUF_INIT;
	pid_t pids[PROCESSES];
	int round, i, rc;

	(void)state;
	print_fresh(last, &fresh);
	for (round = 0; round < 3; round++) {
		(void)remove_index(NULL);
		if (round == 1)
			ks_index_close(open_index(&states[2], false));
		if (round == 2)
			scratch_write(INDEX_FILE, ks_span_text("rubbish"));
		for (i = 0; i < PROCESSES; i++) {
			pids[i] = fork();
			assert_true(pids[i] >= 0);
			if (pids[i] == 0) {
				struct ks_gitdb *own = scratch_open(
					REPOSITORY);
				struct ks_buf found = KS_BUF_INIT;
				struct ks_index *index = NULL;

				if (ks_index_open(&index, own, &last->commit,
					&last->tree, false, NULL, NULL) !=
					KS_OK)
					leave(1);
				print_index(index, &found);
				leave(strcmp(ks_buf_cstr(&found),
					ks_buf_cstr(&fresh)) != 0);
			}
		}
		for (i = 0; i < PROCESSES; i++) {
			assert_int_equal(waitpid(pids[i], &rc, 0), pids[i]);
			assert_int_equal(rc, 0);
		}
		assert_opens_right(last, &fresh, "after all");
	}
	ks_buf_release(&fresh);
}

/* ---- looking up -------------------------------------------------------- */

static bool
count_row(void *arg, const struct ks_index_row *row)
{
	(void)row;
	++*(unsigned *)arg;
	return false;
}

static bool
stop_at_row(void *arg, const struct ks_index_row *row)
{
	(void)count_row(arg, row);
	return true;
}

static void
prefixes_find_what_begins_with_them(void **state)
{
	static const struct {
		const char *digest_hex;
		unsigned expected;
	} table[] = {
		{ "", 299 },
		/* 2654435761 is 9e3779b1. */
		{ "9e3779b1", 1 },
		{ "9e3779b", 1 },
		{ "9e3779b10000000000000000000000000000000000000000000000000"
			"0000001", 1 },
		{ "9e3779b10000000000000000000000000000000000000000000000000"
			"0000002", 0 },
		{ "9e3779b10000000000000000000000000000000000000000000000000"
			"00000010", 0 },
		{ "9E3779B1", 0 },
		{ "9e3779b1g", 0 },
		{ "sha256:9e", 0 },
		{ "%", 0 },
	};
	struct ks_index *index = open_index(&states[SIZES - 1], false);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		unsigned count = 0;

		assert_int_equal(ks_index_by_digest(index, ks_span_text(
			table[i].digest_hex), count_row, &count, NULL),
			KS_OK);
		if (count != table[i].expected)
			fail_msg("%s: %u", table[i].digest_hex, count);
	}
	ks_index_close(index);
}

static void
names_ids_and_kinds_find_exactly_theirs(void **state)
{
	static const struct {
		enum { NAME, ID, KIND } by;
		const char *text;
		unsigned expected;
	} table[] = {
		{ NAME, "renamed-0", 20 },
		{ NAME, "renamed", 0 },
		{ NAME, "renamed-%", 0 },
		{ NAME, "RENAMED-0", 0 },
		{ NAME, "", 0 },
		{ NAME, "' OR 1=1 --", 0 },
		{ ID, "ffffffff", 1 },
		{ ID, "ffffffff000040008000000000000000", 1 },
		{ ID, "ffffffff0000400080000000000000000", 0 },
		{ ID, "ffffffff-0000", 0 },
		{ ID, "FFFFFFFF", 0 },
		{ KIND, "raw", 74 },
		{ KIND, "kistore/v1/Source", 75 },
		{ KIND, "kistore/v1/source", 0 },
		{ KIND, "Source", 0 },
		{ KIND, "", 0 },
	};
	struct ks_index *index = open_index(&states[SIZES - 1], false);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_span text = ks_span_text(table[i].text);
		unsigned count = 0;
		enum ks_status status = KS_USAGE;

		switch (table[i].by) {
		case NAME:
			status = ks_index_by_name(index, text, count_row,
				&count, NULL);
			break;
		case ID:
			status = ks_index_by_id(index, text, count_row,
				&count, NULL);
			break;
		case KIND:
			status = ks_index_by_kind(index, table[i].text,
				count_row, &count, NULL);
			break;
		}
		assert_int_equal(status, KS_OK);
		if (count != table[i].expected)
			fail_msg("%s: %u", table[i].text, count);
	}
	ks_index_close(index);
}

static void
a_visitor_stops_the_rows(void **state)
{
	struct ks_index *index = open_index(&states[SIZES - 1], false);
	unsigned count = 0;

	(void)state;
	assert_int_equal(ks_index_by_digest(index, ks_span(NULL, 0),
		stop_at_row, &count, NULL), KS_OK);
	assert_int_equal(count, 1);
	ks_index_close(index);
	ks_index_close(NULL);
}

static void
what_was_never_published_is_not_there(void **state)
{
	struct ks_index *index = open_index(&states[SIZES - 1], false);
	struct ks_id digest = digest_of(LINES + 1);
	struct ks_index_row row;
	uint8_t id[16] = { 1, 2, 3 };
	unsigned count = 0;

	(void)state;
	assert_false(ks_index_object(index, &digest, &row));
	assert_false(ks_index_id(index, id, &digest));
	assert_int_equal(ks_index_lines(index, &digest, print_row_line, NULL,
		NULL), KS_OK);
	assert_int_equal(count, 0);
	assert_int_equal(ks_index_check(index, NULL), KS_OK);
	ks_index_close(index);
}

static void
a_hash_tells_texts_apart_and_is_never_0(void **state)
{
	(void)state;
	assert_int_equal(ks_index_hash(ks_span(NULL, 0)), 0);
	/* The first eight bytes of the sha256 of "{}". */
	assert_true(ks_index_hash(ks_span_text("{}")) == 0x44136fa355b3678aU);
	assert_true(ks_index_hash(ks_span_text("{ }")) !=
		ks_index_hash(ks_span_text("{}")));
}

/* ---- being stopped ----------------------------------------------------- */

static bool
always(void *arg)
{
	(void)arg;
	return true;
}

static void
a_build_that_is_cancelled_leaves_nothing_wrong(void **state)
{
	static const struct ks_watch impatient = { .cancelled = always };
	const struct state *last = &states[SIZES - 1];
	struct ks_buf fresh = KS_BUF_INIT;
	struct ks_index *index = NULL;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	print_fresh(last, &fresh);
	assert_int_equal(ks_index_open(&index, db, &last->commit, &last->tree,
		false, &impatient, &err), KS_CANCELLED);
	assert_null(index);
	assert_opens_right(last, &fresh, "after a cancelled build");
	ks_buf_release(&fresh);
}

/* A log that is no log is damage, and no index is made of it. */
static void
a_log_that_cannot_be_read_is_told(void **state)
{
	struct ks_index *index = NULL;
	struct ks_error err = KS_ERROR_INIT;
	struct state broken;

	(void)state;
	(void)scratch_commit(db, (struct scratch_edit[]){
		{ "log/000/001.jsonl", ks_span_text("no lf") } }, 1, 0);
	scratch_head(db, &broken.commit, &broken.tree);
	assert_int_equal(ks_index_open(&index, db, &broken.commit,
		&broken.tree, false, NULL, &err), KS_CORRUPT);
	assert_null(index);
	assert_true(err.message[0] != '\0');
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, remove_index, remove_index)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(catching_up_from_any_state_equals_a_rebuild),
		TEST(so_it_does_over_lines_that_have_no_effect),
		TEST(step_by_step_it_is_the_same),
		TEST(a_past_state_neither_uses_nor_writes_the_file),
		TEST(a_history_that_was_reset_is_indexed_anew),
		TEST(a_history_that_was_rewritten_is_indexed_anew),
		TEST(a_redaction_is_indexed_anew),
		TEST(a_takedown_of_earlier_lines_is_followed),
		TEST(whatever_is_in_its_place_the_answers_are_right),
		TEST(so_they_are_when_the_log_has_grown),
		TEST(damage_found_later_is_told_and_then_mended),
		TEST(a_directory_that_cannot_be_written_gets_no_file),
		TEST(a_locked_file_is_replaced_by_memory),
		TEST(a_writer_of_the_file_does_not_keep_readers_waiting),
		TEST(a_reader_keeps_its_view_and_nobody_waits_for_it),
		TEST(who_was_overtaken_does_not_go_on),
		TEST(processes_that_build_at_once_agree),
		TEST(prefixes_find_what_begins_with_them),
		TEST(names_ids_and_kinds_find_exactly_theirs),
		TEST(a_visitor_stops_the_rows),
		TEST(what_was_never_published_is_not_there),
		cmocka_unit_test(a_hash_tells_texts_apart_and_is_never_0),
		TEST(a_build_that_is_cancelled_leaves_nothing_wrong),
		TEST(a_log_that_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
