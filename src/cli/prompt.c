#include "cli/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "base/wipe.h"

/* What ends or stops a process from its terminal. They wait (are blocked) but
 * while a line is awaited, so that none comes between the terminal's change
 * and its reversal. */
static const int watched[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP };

#define WATCHED (sizeof(watched) / sizeof(watched[0]))

static volatile sig_atomic_t caught;

struct terminal {
	int fd;
	struct termios modes;			/* as they were: */
	struct sigaction former[WATCHED];
	sigset_t mask;
	size_t limit;
};

static void
catch_signal(int number)
{
	caught = number;
}

/* ---- taking the terminal, giving it back -------------------------------- */

static enum ks_status
open_terminal(struct terminal *terminal, struct ks_error *err)
{
	terminal->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (terminal->fd < 0)
		return ks_fail(err, KS_IO, "there is no terminal to ask for a "
			"passphrase on: give --passphrase-file FILE");
	if (terminal->fd >= FD_SETSIZE)
		return ks_fail(err, KS_IO, "too many files are open to ask "
			"for a passphrase");
	return KS_OK;
}

/* A signal that is ignored goes on being ignored. */
static void
watch_signals(struct terminal *terminal)
{
	struct sigaction action = { .sa_handler = catch_signal };
	sigset_t set;
	size_t i;

	(void)sigemptyset(&action.sa_mask);
	(void)sigemptyset(&set);
	for (i = 0; i < WATCHED; i++)
		(void)sigaddset(&set, watched[i]);
	(void)pthread_sigmask(SIG_BLOCK, &set, &terminal->mask);
	caught = 0;
	for (i = 0; i < WATCHED; i++) {
		struct sigaction *former = &terminal->former[i];

		if (sigaction(watched[i], NULL, former) == 0 &&
			former->sa_handler != SIG_IGN)
			(void)sigaction(watched[i], &action, NULL);
	}
}

static void
unwatch_signals(const struct terminal *terminal)
{
	size_t i;

	for (i = 0; i < WATCHED; i++)
		(void)sigaction(watched[i], &terminal->former[i], NULL);
	(void)pthread_sigmask(SIG_SETMASK, &terminal->mask, NULL);
}

/* What was typed before is dropped: it was not meant for this. */
static enum ks_status
set_modes(const struct terminal *terminal, const struct termios *modes,
	struct ks_error *err)
{
	int done;

	do
		done = tcsetattr(terminal->fd, TCSAFLUSH, modes);
	while (done != 0 && errno == EINTR);
	return done == 0 ? KS_OK : ks_fail_errno(err, "the terminal");
}

static enum ks_status
hide(struct terminal *terminal, struct ks_error *err)
{
	struct termios modes;

	if (tcgetattr(terminal->fd, &terminal->modes) != 0)
		return ks_fail_errno(err, "the terminal");
	modes = terminal->modes;
	modes.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
	modes.c_lflag |= ICANON | ISIG;
	return set_modes(terminal, &modes, err);
}

/* ---- asking ------------------------------------------------------------- */

/* Wait for input, or for a signal, which only now can come. */
static enum ks_status
await(const struct terminal *terminal, struct ks_error *err)
{
	fd_set set;
	int ready;

	do {
		FD_ZERO(&set);
		FD_SET(terminal->fd, &set);
		ready = pselect(terminal->fd + 1, &set, NULL, NULL, NULL,
			&terminal->mask);
	} while (ready < 0 && errno == EINTR && caught == 0);
	if (caught != 0)
		return ks_fail(err, KS_CANCELLED, "interrupted");
	return ready < 0 ? ks_fail_errno(err, "the terminal") : KS_OK;
}

/* Read up to the end of a line, or of input. */
static enum ks_status
read_line(const struct terminal *terminal, struct ks_buf *out,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;
	ssize_t got = 1;

	while (status == KS_OK && got != 0) {
		size_t room = terminal->limit + 1 - out->len;
		uint8_t *at = ks_buf_reserve(out, room);

		if (at == NULL)
			return ks_fail_nomem(err);
		status = await(terminal, err);
		if (status != KS_OK)
			return status;
		got = read(terminal->fd, at, room);
		if (got < 0 && errno != EINTR)
			return ks_fail_errno(err, "the terminal");
		out->len += got < 0 ? 0 : (size_t)got;
		if (out->len > 0 && out->data[out->len - 1] == '\n') {
			out->len--;
			return KS_OK;
		}
		if (out->len > terminal->limit)
			status = ks_fail(err, KS_INVALID, "a passphrase has "
				"at most %zu bytes", terminal->limit);
	}
	return status;
}

static enum ks_status
say(const struct terminal *terminal, const char *text, struct ks_error *err)
{
	return ks_file_write(terminal->fd, "the terminal",
		ks_span_text(text), err);
}

/* The end of the line was not shown either. */
static enum ks_status
ask(const struct terminal *terminal, const char *what, struct ks_buf *out,
	struct ks_error *err)
{
	char shown[256];
	enum ks_status status = say(terminal, ks_printable(shown,
		sizeof(shown), ks_span_text(what)), err);

	if (status == KS_OK)
		status = say(terminal, ": ", err);
	if (status == KS_OK)
		status = read_line(terminal, out, err);
	(void)say(terminal, "\n", NULL);
	return status;
}

static enum ks_status
ask_twice(const struct terminal *terminal, const char *what,
	struct ks_buf *out, struct ks_error *err)
{
	struct ks_buf again = KS_BUF_INIT;
	enum ks_status status = ask(terminal, what, out, err);

	if (status == KS_OK)
		status = ask(terminal, "the same once more", &again, err);
	if (status == KS_OK && !ks_span_equal(ks_buf_span(out),
		ks_buf_span(&again)))
		status = ks_fail(err, KS_INVALID,
			"the passphrases differ: nothing was made");
	ks_buf_wipe(&again);
	return status;
}

static enum ks_status
ask_hidden(struct terminal *terminal, const char *what, bool twice,
	struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status = hide(terminal, err);

	if (status != KS_OK)
		return status;
	status = twice ? ask_twice(terminal, what, out, err) :
		ask(terminal, what, out, err);
	(void)set_modes(terminal, &terminal->modes, NULL);
	return status;
}

/* One attempt. A signal that came does, with the terminal as it was before,
 * what it would have done; true where that was to stop, for a while. */
static bool
attempt(struct terminal *terminal, const char *what, bool twice,
	struct ks_buf *out, enum ks_status *status, struct ks_error *err)
{
	int number;

	watch_signals(terminal);
	*status = ask_hidden(terminal, what, twice, out, err);
	number = caught;
	if (number != 0) {
		ks_wipe(out->data, out->cap);
		ks_buf_clear(out);
	}
	unwatch_signals(terminal);
	if (number != 0)
		(void)raise(number);
	return number == SIGTSTP;
}

enum ks_status
ks_prompt(const char *what, bool twice, size_t limit, struct ks_buf *out,
	struct ks_error *err)
{
	struct terminal terminal = { .limit = limit };
	enum ks_status status = open_terminal(&terminal, err);
	bool stopped = true;

	while (status == KS_OK && stopped) {
		stopped = attempt(&terminal, what, twice, out, &status, err);
		if (stopped)
			status = KS_OK;
	}
	if (terminal.fd >= 0)
		(void)close(terminal.fd);
	return status;
}
