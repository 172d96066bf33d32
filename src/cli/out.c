#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* When progress is shown: first after, then at most every so many
 * milliseconds. */
#define DRAW_EVERY 500
#define LOG_EVERY 10000

/* Bytes of a field that are shown. */
#define FIELD_MAX 4096

/* errno of the first failure to write standard output. */
static int write_errno;

void
ks_out_start(void)
{
	int fd;

	/* The wrong way round: reading from what was no input, and writing
	 * to what was no output, must go on failing. */
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			(void)open("/dev/null",
				fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	(void)signal(SIGPIPE, SIG_DFL);
}

/* ---- Results ---------------------------------------------------------- */

static void
note_failure(bool failed)
{
	if (failed && write_errno == 0)
		write_errno = errno == 0 ? EIO : errno;
}

void
ks_out_fail(int code)
{
	errno = code;
	note_failure(true);
}

void
ks_out_bytes(struct ks_span bytes)
{
	if (bytes.len > 0)
		note_failure(fwrite(bytes.data, 1, bytes.len, stdout) !=
			bytes.len);
}

void
ks_out_printf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note_failure(vprintf(format, args) < 0);
	va_end(args);
}

void
ks_out_text(struct ks_span text)
{
	size_t size = 4 * text.len + 1;
	char *shown;

	if (!isatty(STDOUT_FILENO)) {
		ks_out_bytes(text);
		return;
	}
	shown = malloc(size);
	if (shown == NULL) {
		ks_out_fail(ENOMEM);
		return;
	}
	ks_out_bytes(ks_span_text(ks_printable(shown, size, text)));
	free(shown);
}

void
ks_out_lines(struct ks_span text)
{
	while (text.len > 0) {
		const uint8_t *end = memchr(text.data, '\n', text.len);
		size_t len = end == NULL ? text.len :
			(size_t)(end - text.data);

		ks_out_text(ks_span(text.data, len));
		if (end == NULL)
			return;
		ks_out_bytes(ks_span_text("\n"));
		text = ks_span(end + 1, text.len - len - 1);
	}
}

void
ks_out_field(const char *text)
{
	char shown[FIELD_MAX];

	ks_out_bytes(ks_span_text(ks_printable(shown, sizeof(shown),
		ks_span_text(text))));
}

enum ks_status
ks_out_finish(struct ks_cli *cli, struct ks_error *err)
{
	note_failure(fflush(stdout) != 0);
	if (write_errno == 0)
		return KS_OK;
	errno = write_errno;
	return ks_fail_errno(err, "%scannot write standard output",
		cli->changed ? "the store was changed, but " : "");
}

/* ---- Messages --------------------------------------------------------- */

static bool
is_terminal(void)
{
	const char *term = ks_cli_environment("TERM");

	return isatty(STDERR_FILENO) &&
		(term == NULL || strcmp(term, "dumb") != 0);
}

static void
erase_progress(struct ks_cli *cli)
{
	if (!cli->progress_drawn)
		return;
	(void)fputs("\r\033[K", stderr);
	cli->progress_drawn = false;
}

/* One line, whatever the text holds. */
static void
message(struct ks_cli *cli, const char *text)
{
	char shown[4 * KS_ERROR_MESSAGE_MAX];

	erase_progress(cli);
	(void)fprintf(stderr, "kistore: %s\n",
		ks_printable(shown, sizeof(shown), ks_span_text(text)));
}

void
ks_out_message(struct ks_cli *cli, const char *format, ...)
{
	char text[KS_ERROR_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	message(cli, text);
}

void
ks_out_note(struct ks_cli *cli, const char *format, ...)
{
	char text[KS_ERROR_MESSAGE_MAX];
	va_list args;

	if (cli->quiet)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	message(cli, text);
}

void
ks_out_detail(struct ks_cli *cli, const char *format, ...)
{
	char text[KS_ERROR_MESSAGE_MAX];
	va_list args;

	if (!cli->verbose)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	message(cli, text);
}

void
ks_out_error(struct ks_cli *cli, const struct ks_error *err)
{
	struct ks_doc *doc;

	erase_progress(cli);
	if (cli->json) {
		doc = ks_doc_new("error");
		ks_doc_object(doc, "error");
		ks_doc_text(doc, "code", ks_status_name(err->status));
		ks_doc_text(doc, "message", err->message);
		ks_doc_integer(doc, "exit", ks_cli_exit_code(err->status));
		ks_doc_end(doc);
		/* The line on standard error says it as well. */
		if (ks_doc_write(doc, NULL) != KS_OK)
			note_failure(true);
		(void)fflush(stdout);
	}
	message(cli, err->message);
}

/* ---- Progress --------------------------------------------------------- */

static uint64_t
now_ms(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t
interval(const struct ks_cli *cli)
{
	return cli->progress || is_terminal() ? DRAW_EVERY : LOG_EVERY;
}

static void
show_progress(void *arg, const char *phase, uint64_t done, uint64_t total)
{
	struct ks_cli *cli = arg;
	uint64_t now = now_ms();
	char of[64] = "";

	if (now < cli->next_progress)
		return;
	cli->next_progress = now + interval(cli);
	if (total > 0 && done <= total)
		(void)snprintf(of, sizeof(of), " of %" PRIu64 " (%d %%)",
			total, (int)((double)done / (double)total * 100));
	if (is_terminal()) {
		(void)fprintf(stderr, "\r\033[K%s %" PRIu64 "%s", phase, done,
			of);
		cli->progress_drawn = true;
	} else
		(void)fprintf(stderr, "kistore: %s %" PRIu64 "%s\n", phase,
			done, of);
	(void)fflush(stderr);
}

static bool
is_cancelled(void *arg)
{
	(void)arg;
	return ks_cli_interrupted();
}

static void
show_note(void *arg, const char *text)
{
	ks_out_note(arg, "%s", text);
}

void
ks_out_watch(struct ks_cli *cli)
{
	cli->watch.arg = cli;
	cli->watch.cancelled = is_cancelled;
	cli->watch.all_notes = cli->verbose;
	if (cli->quiet)
		return;
	cli->watch.note = show_note;
	cli->watch.progress = show_progress;
	cli->next_progress = now_ms() + interval(cli);
}
