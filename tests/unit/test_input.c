#include "store/input.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zstd.h>

#include "../lib/scratch.h"

/* ---- reading everything ------------------------------------------------ */

/* What was handed out: "NAME:LINE text" a chunk, "NAME text" a value, each
 * ended by '|'; and what was noted, a line each. */
static struct ks_buf shown = KS_BUF_INIT;
static struct ks_buf notes = KS_BUF_INIT;

static void
keep_note(void *arg, const char *text)
{
	(void)arg;
	ks_buf_printf(&notes, "%s\n", text);
}

static const struct ks_watch watch = { .note = keep_note };

/* After the last line of a file there may be a chunk without any. */
static void
show(const struct ks_chunk *chunk)
{
	if (chunk->line > 1 && chunk->text.len == 0)
		return;
	ks_buf_text(&shown, chunk->name);
	if (chunk->line > 0)
		ks_buf_printf(&shown, ":%llu",
			(unsigned long long)chunk->line);
	ks_buf_byte(&shown, ' ');
	ks_buf_append(&shown, ks_buf_span(&chunk->text));
	ks_buf_byte(&shown, '|');
}

static enum ks_status
read_all(const char *const *paths, size_t count, struct ks_error *err)
{
	struct ks_chunk chunk = { .text = KS_BUF_INIT };
	struct ks_input *input = NULL;
	bool more = true;
	enum ks_status status;

	ks_buf_clear(&shown);
	ks_buf_clear(&notes);
	status = ks_input_new(&input, paths, count, &watch, err);
	while (status == KS_OK && more) {
		status = ks_input_next(input, &chunk, &more, err);
		if (status == KS_OK && more)
			show(&chunk);
	}
	ks_buf_release(&chunk.text);
	ks_input_free(input);
	return status;
}

static enum ks_status
read_one(const char *path, struct ks_error *err)
{
	return read_all(&path, 1, err);
}

static void
assert_reads(const char *path, const char *expected)
{
	struct ks_error err = KS_ERROR_INIT;

	if (read_one(path, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_string_equal(ks_buf_cstr(&shown), expected);
}

/* Refused with this status and words, in one line. */
static void
assert_refused(const char *path, enum ks_status expected, const char *says)
{
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status = read_one(path, &err);

	if (status != expected || strstr(err.message, says) == NULL ||
		strchr(err.message, '\n') != NULL)
		fail_msg("%s: %s, \"%s\"", path, ks_status_name(status),
			err.message);
}

static void
write_text(const char *path, const char *text)
{
	scratch_write(path, ks_span_text(text));
}

/* The bytes of `text`, compressed, but for the last `cut`. */
static void
write_zst(const char *path, struct ks_span text, size_t cut)
{
	size_t bound = ZSTD_compressBound(text.len);
	uint8_t *frame = malloc(bound);
	size_t len;

	assert_non_null(frame);
	len = ZSTD_compress(frame, bound, text.data, text.len, 1);
	assert_false(ZSTD_isError(len));
	scratch_write(path, ks_span(frame, len - cut));
	free(frame);
}

/* ---- forms (store-layout.md, P3) --------------------------------------- */

static const struct {
	const char *name, *text, *expected;
} forms[] = {
	/* .jsonl is lines, whatever they are. */
	{ "a.jsonl", "{\"a\":1}\n{\"a\":2}\n", "a.jsonl:1 {\"a\":1}\n"
		"{\"a\":2}\n|" },
	{ "a.jsonl", "1", "a.jsonl:1 1|" },
	{ "a.jsonl", "{\n}\n", "a.jsonl:1 {\n}\n|" },
	{ "a.jsonl", "\n\n1\n", "a.jsonl:1 \n\n1\n|" },
	{ "a.jsonl", "", "a.jsonl:1 |" },
	/* .json is one value, whatever it is. */
	{ "a.json", "{\"a\":1}\n{\"a\":2}\n", "a.json {\"a\":1}\n"
		"{\"a\":2}\n|" },
	{ "a.json", "{\n}\n", "a.json {\n}\n|" },
	{ "a.json", "", "a.json |" },
	/* Anything else is one value if the whole text is one, else lines. */
	{ "a", "{\n}\n", "a {\n}\n|" },
	{ "a", "{}", "a {}|" },
	/* One line is the same either way. */
	{ "a", "{}\n", "a:1 {}\n|" },
	{ "a", "{}\n \n\t\r\n", "a:1 {}\n \n\t\r\n|" },
	{ "a", "\n\n{}\n\n", "a:1 \n\n{}\n\n|" },
	{ "a", "{}\n{}\n", "a:1 {}\n{}\n|" },
	{ "a", "{}\n\n{}", "a:1 {}\n\n|a:3 {}|" },	/* in two chunks */
	{ "a", "\n{}\n{}\n", "a:1 \n{}\n{}\n|" },
	{ "a", "{}\nnot json\n", "a:1 {}\nnot json\n|" },
	{ "a", "[1,\n2]\n", "a [1,\n2]\n|" },
	{ "a", "not json", "a not json|" },
	{ "a", "", "a |" },
	{ "a.txt", "1\n2\n", "a.txt:1 1\n2\n|" },
	{ "json", "1\n2\n", "json:1 1\n2\n|" },
	{ "a.JSON", "1\n2\n", "a.JSON:1 1\n2\n|" },
	{ ".json", "1\n2\n", ".json:1 1\n2\n|" },
};

static void
the_name_says_what_a_file_is_else_its_first_line(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		write_text(forms[i].name, forms[i].text);
		assert_reads(forms[i].name, forms[i].expected);
		assert_int_equal(unlink(forms[i].name), 0);
	}
}

static void
a_compressed_file_is_what_its_name_says_without_zst(void **state)
{
	(void)state;
	write_zst("a.jsonl.zst", ks_span_text("{\n}\n"), 0);
	assert_reads("a.jsonl.zst", "a.jsonl.zst:1 {\n}\n|");
	write_zst("a.json.zst", ks_span_text("1\n2\n"), 0);
	assert_reads("a.json.zst", "a.json.zst 1\n2\n|");
	write_zst("a.zst", ks_span_text("1\n2\n"), 0);
	assert_reads("a.zst", "a.zst:1 1\n2\n|");
	write_zst("b.zst", ks_span_text("[1,\n2]\n"), 0);
	assert_reads("b.zst", "b.zst [1,\n2]\n|");
	write_zst("empty.jsonl.zst", ks_span_text(""), 0);
	assert_reads("empty.jsonl.zst", "empty.jsonl.zst:1 |");
}

static void
several_files_come_in_the_order_given(void **state)
{
	static const char *const paths[] = { "b.json", "a.jsonl", "b.json" };

	(void)state;
	write_text("a.jsonl", "1\n2\n");
	write_text("b.json", "3");
	assert_int_equal(read_all(paths, 3, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&shown),
		"b.json 3|a.jsonl:1 1\n2\n|b.json 3|");
	assert_int_equal(read_all(paths, 0, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&shown), "");
}

/* Chunks are whole lines, and each says the number of its first. */
static void
lines_are_numbered_through_all_chunks(void **state)
{
	struct ks_chunk chunk = { .text = KS_BUF_INIT };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_input *input = NULL;
	const char *path = "many.jsonl";
	uint64_t expected = 1, chunks = 0;
	bool more = true;
	size_t i;

	(void)state;
	for (i = 1; i <= 200000; i++)
		ks_buf_printf(&text, "%zu\n", i);
	scratch_write(path, ks_buf_span(&text));
	assert_int_equal(ks_input_new(&input, &path, 1, NULL, NULL), KS_OK);
	assert_int_equal(ks_input_total(input), text.len);
	while (ks_input_next(input, &chunk, &more, NULL) == KS_OK && more) {
		const char *at = ks_buf_cstr(&chunk.text);

		assert_int_equal(chunk.line, expected);
		assert_true(chunk.text.len == 0 ||
			chunk.text.data[chunk.text.len - 1] == '\n');
		for (; *at != '\0'; at = strchr(at, '\n') + 1)
			assert_int_equal(strtoul(at, NULL, 10), expected++);
		chunks++;
	}
	assert_false(more);
	assert_int_equal(expected, 200001);
	assert_true(chunks > 1);
	assert_int_equal(ks_input_done(input), text.len);
	ks_buf_release(&text);
	ks_buf_release(&chunk.text);
	ks_input_free(input);
}

static void
a_minus_is_standard_input(void **state)
{
	int before = dup(STDIN_FILENO);
	int fd;

	(void)state;
	write_text("in", "1\n2\n");
	fd = open("in", O_RDONLY);
	assert_true(before >= 0 && fd >= 0);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	assert_reads("-", "standard input:1 1\n2\n|");
	/* It is not closed: the second time there is nothing left. */
	assert_reads("-", "standard input |");
	assert_int_equal(dup2(before, STDIN_FILENO), STDIN_FILENO);
	(void)close(fd);
	(void)close(before);
}

/* ---- directories (P2) -------------------------------------------------- */

static void
a_directory_is_walked_in_byte_order_of_paths(void **state)
{
	(void)state;
	assert_int_equal(sh("mkdir -p d/sub d/a.json.d && "
		"echo 1 > d/b.json && echo 2 > d/B.json && "
		"echo 3 > d/sub/c.jsonl && echo 4 > d/a.json.d/x.json && "
		"echo 5 > d/z.jsonl"), 0);
	assert_reads("d", "d/B.json 2\n|d/a.json.d/x.json 4\n|"
		"d/b.json 1\n|d/sub/c.jsonl:1 3\n|d/z.jsonl:1 5\n|");
	assert_reads("d/", "d/B.json 2\n|d/a.json.d/x.json 4\n|"
		"d/b.json 1\n|d/sub/c.jsonl:1 3\n|d/z.jsonl:1 5\n|");
	assert_string_equal(ks_buf_cstr(&notes), "");
}

static void
everything_else_in_a_directory_is_listed_as_skipped(void **state)
{
	(void)state;
	assert_int_equal(sh("mkdir d && echo 1 > d/a.json && "
		"echo 2 > d/notes.txt && ln -s a.json d/link.json && "
		"ln -s . d/loop && mkfifo d/pipe.json && "
		"echo 3 > d/x.JSON && echo 4 > d/json"), 0);
	assert_reads("d", "d/a.json 1\n|");
	assert_string_equal(ks_buf_cstr(&notes),
		"d/json: skipped, not .json, .jsonl or their .zst\n"
		"d/link.json: skipped, a symbolic link\n"
		"d/loop: skipped, a symbolic link\n"
		"d/notes.txt: skipped, not .json, .jsonl or their .zst\n"
		"d/pipe.json: skipped, not a regular file\n"
		"d/x.JSON: skipped, not .json, .jsonl or their .zst\n");
}

static void
a_symbolic_link_that_was_named_is_followed(void **state)
{
	(void)state;
	write_text("a.json", "1");
	assert_int_equal(symlink("a.json", "b.json"), 0);
	assert_reads("b.json", "b.json 1|");
}

static void
directories_that_nest_without_end_are_refused(void **state)
{
	(void)state;
	assert_int_equal(sh("p=d; i=0; while [ $i -lt 70 ]; do "
		"p=$p/d; i=$((i + 1)); done; mkdir -p $p; "
		"echo 1 > d/a.json"), 0);
	assert_refused("d", KS_INVALID, "directories nest deeper than 64");
}

/* ---- what cannot be read ----------------------------------------------- */

static void
what_holds_no_records_is_refused(void **state)
{
	(void)state;
	assert_int_equal(sh("mkdir empty only; echo x > only/x.txt; "
		"mkfifo fifo; ln -s nowhere dangling"), 0);
	assert_refused("empty", KS_INVALID, "empty: a directory without "
		"records");
	assert_refused("only", KS_INVALID, "only: a directory without "
		"records");
	assert_refused("fifo", KS_INVALID, "fifo: not a regular file");
	assert_refused("/dev/null", KS_INVALID, "/dev/null: not a regular");
	assert_refused("absent", KS_IO, "absent: No such file");
	assert_refused("dangling", KS_IO, "dangling: No such file");
	assert_refused("fifo/x", KS_IO, "fifo/x: Not a directory");
	assert_refused("", KS_IO, "No such file");
}

static void
a_file_that_may_not_be_read_is_an_error_of_the_system(void **state)
{
	(void)state;
	if (geteuid() == 0) {
		print_message("root may read everything\n");
		skip();
	}
	write_text("secret.json", "1");
	assert_int_equal(chmod("secret.json", 0), 0);
	assert_refused("secret.json", KS_IO, "secret.json: Permission denied");
}

static void
a_name_is_shown_without_what_disturbs_a_terminal(void **state)
{
	(void)state;
	assert_refused("a\x1b[31mb", KS_IO, "a\\x1b[31mb: No such file");
	assert_int_equal(mkdir("e\n", 0755), 0);
	assert_refused("e\n", KS_INVALID, "e\\x0a: a directory");
}

static void
damaged_compression_is_refused_with_the_name(void **state)
{
	struct ks_span text = ks_span_text("{\"some\":\"text\"}\n");
	size_t cut;

	(void)state;
	for (cut = 1; cut < 20; cut++) {
		write_zst("cut.jsonl.zst", text, cut);
		assert_refused("cut.jsonl.zst", KS_INVALID,
			"cut.jsonl.zst: truncated zstd data");
	}
	write_text("plain.jsonl.zst", "{\"a\":1}\n");
	assert_refused("plain.jsonl.zst", KS_INVALID,
		"plain.jsonl.zst: damaged zstd data");
	write_text("plain.json.zst", "{\"a\":1}\n");
	assert_refused("plain.json.zst", KS_INVALID,
		"plain.json.zst: damaged zstd data");
	write_text("plain.zst", "{\"a\":1}\n");
	assert_refused("plain.zst", KS_INVALID, "plain.zst: damaged");
}

static void
a_line_over_the_limit_is_refused(void **state)
{
	size_t len = KS_INPUT_LINE_MAX + ((size_t)1 << 20);
	char *text = malloc(len + 3);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', len);
	memcpy(text, "1\n2\n", 4);
	scratch_write("long.jsonl", ks_span(text, len));
	assert_refused("long.jsonl", KS_INVALID, "long.jsonl: line 3 is "
		"longer than the limit of 4194304 bytes");
	free(text);
}

/* Whatever it would unpack to: memory stays at the limit. */
static void
a_bomb_is_refused_at_the_limit(void **state)
{
	size_t len = KS_INPUT_VALUE_MAX + ((size_t)8 << 20);
	uint8_t *zeros = calloc(1, len);

	(void)state;
	assert_non_null(zeros);
	write_zst("bomb.jsonl.zst", ks_span(zeros, len), 0);
	write_zst("bomb.json.zst", ks_span(zeros, len), 0);
	free(zeros);
	assert_refused("bomb.jsonl.zst", KS_INVALID,
		"bomb.jsonl.zst: line 1 is longer than the limit");
	assert_refused("bomb.json.zst", KS_INVALID,
		"bomb.json.zst: longer than the limit");
}

static void
what_stands_before_the_damage_is_handed_out_first(void **state)
{
	static const char *const paths[] = { "a.json", "absent.json" };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_chunk chunk = { .text = KS_BUF_INIT };
	struct ks_input *input = NULL;
	bool more;

	(void)state;
	/* A path that is not there is found before anything is read. */
	write_text("a.json", "1");
	assert_int_equal(read_all(paths, 2, &err), KS_IO);
	assert_string_equal(ks_buf_cstr(&shown), "");
	write_text("absent.json", "2");
	assert_int_equal(ks_input_new(&input, paths, 2, NULL, NULL), KS_OK);
	assert_int_equal(unlink("absent.json"), 0);
	assert_int_equal(ks_input_next(input, &chunk, &more, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&chunk.text), "1");
	assert_int_equal(ks_input_next(input, &chunk, &more, &err), KS_IO);
	assert_non_null(strstr(err.message, "absent.json"));
	ks_buf_release(&chunk.text);
	ks_input_free(input);
	ks_input_free(NULL);
}

/* A FIFO that took a file's place meanwhile is not waited for. */
static void
a_file_that_became_a_fifo_is_refused(void **state)
{
	struct ks_chunk chunk = { .text = KS_BUF_INIT };
	struct ks_input *input = NULL;
	const char *path = "a.json";
	bool more;

	(void)state;
	write_text(path, "1");
	assert_int_equal(ks_input_new(&input, &path, 1, NULL, NULL), KS_OK);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(ks_input_next(input, &chunk, &more, NULL),
		KS_INVALID);
	ks_buf_release(&chunk.text);
	ks_input_free(input);
}

static int
release(void **state)
{
	(void)state;
	ks_buf_release(&shown);
	ks_buf_release(&notes);
	return 0;
}

#define TEST(f) \
	cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_name_says_what_a_file_is_else_its_first_line),
		TEST(a_compressed_file_is_what_its_name_says_without_zst),
		TEST(several_files_come_in_the_order_given),
		TEST(lines_are_numbered_through_all_chunks),
		TEST(a_minus_is_standard_input),
		TEST(a_directory_is_walked_in_byte_order_of_paths),
		TEST(everything_else_in_a_directory_is_listed_as_skipped),
		TEST(a_symbolic_link_that_was_named_is_followed),
		TEST(directories_that_nest_without_end_are_refused),
		TEST(what_holds_no_records_is_refused),
		TEST(a_file_that_may_not_be_read_is_an_error_of_the_system),
		TEST(a_name_is_shown_without_what_disturbs_a_terminal),
		TEST(damaged_compression_is_refused_with_the_name),
		TEST(a_line_over_the_limit_is_refused),
		TEST(a_bomb_is_refused_at_the_limit),
		TEST(what_stands_before_the_damage_is_handed_out_first),
		TEST(a_file_that_became_a_fifo_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
