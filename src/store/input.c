#include "store/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "format/frame.h"
#include "format/jcs.h"
#include "store/watch.h"

#define READ_STEP ((size_t)256 << 10)
#define DEPTH_MAX 64

enum form {
	FORM_LINES,
	FORM_VALUE,
	FORM_UNKNOWN
};

/* A file to read, found before reading begins. */
struct file {
	char *name;
	enum form form;
	bool compressed;
};

struct ks_input {
	const struct ks_watch *watch;
	struct file *files;
	size_t count, room, next;
	uint64_t done, total;
	bool total_known;
	struct ks_jcs *jcs;	/* made when a form has to be found out */

	/* The file being read. */
	int fd;			/* -1 between files */
	struct file *file;
	enum form form;
	uint64_t line;		/* number of the first line in `rest` */
	bool at_end;		/* of the decoded bytes */
	struct ks_inflater *inflater;
	struct ks_buf raw;	/* compressed bytes, read but not decoded */
	size_t raw_used;
	bool raw_end;
	struct ks_buf rest;	/* decoded bytes not yet handed out */
};

/* ---- finding files ----------------------------------------------------- */

static bool
ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name);
	size_t m = strlen(suffix);

	return n > m && strcmp(name + n - m, suffix) == 0;
}

static struct file
classify(const char *name)
{
	struct file file = { .form = FORM_UNKNOWN };

	file.compressed = ends_with(name, ".zst");
	if (ends_with(name, ".jsonl") || ends_with(name, ".jsonl.zst"))
		file.form = FORM_LINES;
	else if (ends_with(name, ".json") || ends_with(name, ".json.zst"))
		file.form = FORM_VALUE;
	return file;
}

static char *
copy_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	if (copy != NULL)
		memcpy(copy, text, size);
	return copy;
}

static enum ks_status
add_file(struct ks_input *input, const char *name, struct ks_error *err)
{
	struct file file = classify(name);
	struct file *grown = ks_grow(input->files, input->count, &input->room,
		sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	input->files = grown;
	file.name = copy_text(name);
	if (file.name == NULL)
		return ks_fail_nomem(err);
	grown[input->count++] = file;
	return KS_OK;
}

static enum ks_status
unreadable(struct ks_error *err, const char *name)
{
	char shown[256];
	enum ks_status status = ks_fail_errno(err, "%s",
		ks_printable(shown, sizeof(shown), ks_span_text(name)));

	/* A path that was named and is not there is a mistake of the caller's
	 * input, but nothing was read: I/O all the same. */
	if (status == KS_NOT_FOUND && err != NULL)
		err->status = KS_IO;
	return status == KS_NOT_FOUND ? KS_IO : status;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **list;
	size_t count, room;
};

static void
free_names(struct names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static enum ks_status
add_name(struct names *names, const char *name, struct ks_error *err)
{
	char **grown = ks_grow(names->list, names->count, &names->room,
		sizeof(char *), err);

	if (grown == NULL)
		return KS_NOMEM;
	names->list = grown;
	grown[names->count] = copy_text(name);
	if (grown[names->count] == NULL)
		return ks_fail_nomem(err);
	names->count++;
	return KS_OK;
}

/* All names in a directory but "." and "..", in byte order. */
static enum ks_status
read_names(DIR *dir, struct names *names, struct ks_error *err)
{
	const struct dirent *entry;
	enum ks_status status = KS_OK;

	while (status == KS_OK && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0)
			status = add_name(names, entry->d_name, err);
	if (names->count > 0)
		qsort(names->list, names->count, sizeof(char *), by_name);
	return status;
}

static void
note_skipped(struct ks_input *input, const char *path, const char *why)
{
	char shown[512];

	ks_watch_note(input->watch, "%s: skipped, %s",
		ks_printable(shown, sizeof(shown), ks_span_text(path)), why);
}

static enum ks_status walk(struct ks_input *input, const char *path,
	unsigned depth, struct ks_error *err);

static enum ks_status
walk_entry(struct ks_input *input, const char *path, unsigned depth,
	struct ks_error *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return unreadable(err, path);
	if (S_ISDIR(st.st_mode))
		return walk(input, path, depth + 1, err);
	if (!S_ISREG(st.st_mode)) {
		note_skipped(input, path, S_ISLNK(st.st_mode) ?
			"a symbolic link" : "not a regular file");
		return KS_OK;
	}
	if (classify(path).form == FORM_UNKNOWN) {
		note_skipped(input, path, "not .json, .jsonl or their .zst");
		return KS_OK;
	}
	return add_file(input, path, err);
}

/* Add the records below a directory. */
static enum ks_status
walk(struct ks_input *input, const char *path, unsigned depth,
	struct ks_error *err)
{
	DIR *dir;
	struct names names = { .count = 0 };
	size_t i;
	struct ks_buf child = KS_BUF_INIT;
	enum ks_status status;

	if (depth > DEPTH_MAX)
		return ks_fail(err, KS_INVALID,
			"directories nest deeper than %d", DEPTH_MAX);
	dir = opendir(path);
	if (dir == NULL)
		return unreadable(err, path);
	status = read_names(dir, &names, err);
	(void)closedir(dir);
	for (i = 0; status == KS_OK && i < names.count; i++) {
		ks_buf_clear(&child);
		ks_buf_printf(&child, "%s%s%s", path,
			ends_with(path, "/") ? "" : "/", names.list[i]);
		status = ks_buf_check(&child, err);
		if (status == KS_OK)
			status = walk_entry(input, ks_buf_cstr(&child), depth,
				err);
	}
	free_names(&names);
	ks_buf_release(&child);
	return status;
}

/* A path that was named: a file, a directory, or "-". */
static enum ks_status
add_path(struct ks_input *input, const char *path, struct ks_error *err)
{
	char shown[256];
	size_t before = input->count;
	struct stat st;
	enum ks_status status;

	if (strcmp(path, "-") == 0) {
		input->total_known = false;
		return add_file(input, path, err);
	}
	if (stat(path, &st) != 0)
		return unreadable(err, path);
	(void)ks_printable(shown, sizeof(shown), ks_span_text(path));
	if (S_ISREG(st.st_mode)) {
		input->total += (uint64_t)st.st_size;
		return add_file(input, path, err);
	}
	if (!S_ISDIR(st.st_mode))
		return ks_fail(err, KS_INVALID, "%s: not a regular file or "
			"directory (give its data on standard input, as \"-\")",
			shown);
	input->total_known = false;
	status = walk(input, path, 0, err);
	if (status == KS_OK && input->count == before)
		return ks_fail(err, KS_INVALID, "%s: a directory without "
			"records (*.json, *.jsonl, or these with .zst)", shown);
	return status;
}

enum ks_status
ks_input_new(struct ks_input **out, const char *const *paths, size_t count,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_input *input = calloc(1, sizeof(*input));
	size_t i;
	enum ks_status status = KS_OK;

	*out = NULL;
	if (input == NULL)
		return ks_fail_nomem(err);
	input->watch = watch;
	input->fd = -1;
	input->total_known = true;
	for (i = 0; status == KS_OK && i < count; i++)
		status = add_path(input, paths[i], err);
	if (status != KS_OK) {
		ks_input_free(input);
		return status;
	}
	*out = input;
	return KS_OK;
}

static void
close_file(struct ks_input *input)
{
	if (input->fd > STDIN_FILENO)
		(void)close(input->fd);
	input->fd = -1;
	ks_inflater_free(input->inflater);
	input->inflater = NULL;
}

void
ks_input_free(struct ks_input *input)
{
	size_t i;

	if (input == NULL)
		return;
	close_file(input);
	for (i = 0; i < input->count; i++)
		free(input->files[i].name);
	free(input->files);
	ks_buf_release(&input->raw);
	ks_buf_release(&input->rest);
	ks_jcs_free(input->jcs);
	free(input);
}

uint64_t
ks_input_done(const struct ks_input *input)
{
	return input->done;
}

uint64_t
ks_input_total(const struct ks_input *input)
{
	return input->total_known ? input->total : 0;
}

/* ---- reading one file -------------------------------------------------- */

static enum ks_status
open_file(struct ks_input *input, struct ks_error *err)
{
	struct file *file = &input->files[input->next++];
	struct stat st;

	input->file = file;
	input->form = file->form;
	input->line = 1;
	input->at_end = input->raw_end = false;
	input->raw_used = 0;
	ks_buf_clear(&input->raw);
	ks_buf_clear(&input->rest);
	if (strcmp(file->name, "-") == 0)
		input->fd = STDIN_FILENO;
	else
		/* Without O_NONBLOCK a FIFO that took the file's place
		 * meanwhile would hang. */
		input->fd = open(file->name,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (input->fd < 0 || fstat(input->fd, &st) != 0)
		return unreadable(err, file->name);
	if (input->fd != STDIN_FILENO && !S_ISREG(st.st_mode))
		return ks_fail(err, KS_INVALID, "not a regular file");
	return file->compressed ? ks_inflater_new(&input->inflater, err) :
		KS_OK;
}

/* Read up to READ_STEP bytes onto `out`; *end at end of file. */
static enum ks_status
read_some(struct ks_input *input, struct ks_buf *out, bool *end,
	struct ks_error *err)
{
	uint8_t *at = ks_buf_reserve(out, READ_STEP);
	ssize_t n = -1;
	enum ks_status status = at == NULL ? ks_fail_nomem(err) : KS_OK;

	do {
		if (status == KS_OK)
			status = ks_watch_wait(input->watch, input->fd, err);
		if (status != KS_OK)
			return status;
		n = read(input->fd, at, READ_STEP);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return unreadable(err, input->file->name);
	out->len += (size_t)n;
	input->done += (uint64_t)n;
	*end = n == 0;
	return KS_OK;
}

static enum ks_status
inflate_some(struct ks_input *input, struct ks_error *err)
{
	struct ks_span in;
	size_t before = input->rest.len;
	enum ks_status status = KS_OK;

	if (input->raw_used == input->raw.len && !input->raw_end) {
		ks_buf_clear(&input->raw);
		input->raw_used = 0;
		status = read_some(input, &input->raw, &input->raw_end, err);
		if (status != KS_OK)
			return status;
	}
	in = ks_span(input->raw.data + input->raw_used,
		input->raw.len - input->raw_used);
	status = ks_inflater_step(input->inflater, &in, READ_STEP,
		&input->rest, err);
	if (status != KS_OK)
		return status;
	input->raw_used = input->raw.len - in.len;
	if (in.len > 0 || !input->raw_end || input->rest.len > before)
		return KS_OK;
	input->at_end = true;
	return ks_inflater_end(input->inflater, err);
}

/* Decode some more bytes onto `rest`, or set at_end. */
static enum ks_status
decode_some(struct ks_input *input, struct ks_error *err)
{
	if (input->inflater != NULL)
		return inflate_some(input, err);
	return read_some(input, &input->rest, &input->at_end, err);
}

/* The offset after the last LF in `rest`, or 0. */
static size_t
whole_lines(const struct ks_buf *rest)
{
	size_t len = rest->len;

	while (len > 0 && rest->data[len - 1] != '\n')
		len--;
	return len;
}

/* Read until there is at least one whole line, or the end. */
static enum ks_status
fill_lines(struct ks_input *input, struct ks_error *err)
{
	size_t scanned = 0;
	enum ks_status status = KS_OK;

	while (status == KS_OK && !input->at_end) {
		if (input->rest.len > scanned &&
			memchr(input->rest.data + scanned, '\n',
				input->rest.len - scanned) != NULL)
			break;
		scanned = input->rest.len;
		if (scanned > KS_INPUT_LINE_MAX)
			return ks_fail(err, KS_INVALID, "line %llu is longer "
				"than the limit of %zu bytes",
				(unsigned long long)input->line,
				KS_INPUT_LINE_MAX);
		status = decode_some(input, err);
	}
	return status;
}

static enum ks_status
fill_value(struct ks_input *input, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	while (status == KS_OK && !input->at_end) {
		if (input->rest.len > KS_INPUT_VALUE_MAX)
			return ks_fail(err, KS_INVALID, "longer than the limit "
				"of %zu bytes for one JSON value (JSON Lines "
				"has no such limit)", KS_INPUT_VALUE_MAX);
		status = decode_some(input, err);
	}
	return status;
}

static bool
is_blank(struct ks_span text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (strchr(" \t\r\n", text.data[i]) == NULL ||
			text.data[i] == '\0')
			return false;
	return true;
}

/* The first line that is not blank, and what follows it. */
static struct ks_span
first_line(struct ks_span text, struct ks_span *after)
{
	for (;;) {
		const uint8_t *lf = memchr(text.data, '\n', text.len);
		size_t len = lf == NULL ? text.len : (size_t)(lf - text.data);
		struct ks_span line = ks_span(text.data, len);

		*after = lf == NULL ? ks_span(NULL, 0) :
			ks_span(lf + 1, text.len - len - 1);
		if (lf == NULL || !is_blank(line))
			return line;
		text = *after;
	}
}

/* Lines when the first line is a value by itself and more follows. */
static enum ks_status
find_form(struct ks_input *input, struct ks_error *err)
{
	struct ks_span line, after;
	struct ks_buf canonical = KS_BUF_INIT;
	enum ks_status status = fill_lines(input, err);

	if (status == KS_OK && input->jcs == NULL)
		status = ks_jcs_new(&input->jcs, err);
	if (status != KS_OK)
		return status;
	input->form = FORM_VALUE;
	if (input->rest.len == 0)
		return KS_OK;
	line = first_line(ks_buf_span(&input->rest), &after);
	if ((!input->at_end || !is_blank(after)) &&
		ks_jcs_scan(input->jcs, line, &ks_jcs_row, &canonical,
			NULL) == KS_OK)
		input->form = FORM_LINES;
	ks_buf_release(&canonical);
	return KS_OK;
}

/* Move the first `len` decoded bytes into the chunk. */
static enum ks_status
hand_out(struct ks_input *input, size_t len, struct ks_chunk *chunk,
	struct ks_error *err)
{
	struct ks_buf *rest = &input->rest;

	chunk->name = strcmp(input->file->name, "-") == 0 ?
		"standard input" : input->file->name;
	ks_buf_append(&chunk->text, ks_span(rest->data, len));
	if (len > 0)
		memmove(rest->data, rest->data + len, rest->len - len);
	rest->len -= len;
	return ks_buf_check(&chunk->text, err);
}

static uint64_t
count_lf(struct ks_span text)
{
	uint64_t count = 0;
	const uint8_t *at = text.data;
	const uint8_t *end = text.data + text.len;

	while (at != end &&
		(at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		count++;
		at++;
	}
	return count;
}

static enum ks_status
next_lines(struct ks_input *input, struct ks_chunk *chunk,
	struct ks_error *err)
{
	enum ks_status status = fill_lines(input, err);
	size_t len;

	if (status != KS_OK)
		return status;
	len = input->at_end ? input->rest.len : whole_lines(&input->rest);
	chunk->line = input->line;
	status = hand_out(input, len, chunk, err);
	input->line += count_lf(ks_buf_span(&chunk->text));
	return status;
}

static enum ks_status
next_of_file(struct ks_input *input, struct ks_chunk *chunk,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (input->form == FORM_UNKNOWN)
		status = find_form(input, err);
	if (status == KS_OK && input->form == FORM_LINES)
		return next_lines(input, chunk, err);
	if (status == KS_OK)
		status = fill_value(input, err);
	chunk->line = 0;
	return status != KS_OK ? status :
		hand_out(input, input->rest.len, chunk, err);
}

enum ks_status
ks_input_next(struct ks_input *input, struct ks_chunk *chunk, bool *more,
	struct ks_error *err)
{
	char shown[256];
	enum ks_status status = KS_OK;

	ks_buf_clear(&chunk->text);
	*more = true;
	if (input->fd >= 0 && input->at_end && input->rest.len == 0)
		close_file(input);
	if (input->fd < 0) {
		if (input->next == input->count) {
			*more = false;
			return KS_OK;
		}
		status = open_file(input, err);
	}
	if (status == KS_OK)
		status = next_of_file(input, chunk, err);
	if (status == KS_INVALID)
		(void)ks_context(err, "%s", ks_printable(shown, sizeof(shown),
			ks_span_text(strcmp(input->file->name, "-") == 0 ?
			"standard input" : input->file->name)));
	return status;
}
