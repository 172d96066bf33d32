/*
 * Running stock git on a repository.
 *
 * Its hooks are off, it asks nothing, variables that would point it at another
 * repository are left out, and of what it says one line is kept.
 */
#include "store/gitdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "store/watch.h"

/* So long git has to end when it is asked to, in steps of 20 ms. */
#define STOP_STEPS 100

extern char **environ;

/* Variables that would point git at another repository. */
static const char *const local_variables[] = { "GIT_DIR=", "GIT_WORK_TREE=",
	"GIT_INDEX_FILE=", "GIT_OBJECT_DIRECTORY=", "GIT_COMMON_DIR=",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES=", "GIT_NAMESPACE=",
	"GIT_CONFIG_PARAMETERS=", "GIT_CONFIG_COUNT=", "GIT_SHALLOW_FILE=",
	"GIT_GRAFT_FILE=", "GIT_REPLACE_REF_BASE=", "GIT_PREFIX=",
	"GIT_TERMINAL_PROMPT=" };

static bool
is_local(const char *variable)
{
	size_t i;

	for (i = 0; i < sizeof(local_variables) / sizeof(local_variables[0]);
		i++)
		if (strncmp(variable, local_variables[i],
			strlen(local_variables[i])) == 0)
			return true;
	return false;
}

/* The environment without those, but with `more` (NULL = nothing); the array is
 * the caller's. */
static char **
git_environment(char *prompt, char *more)
{
	size_t count = 0;
	size_t used = 0;
	char **out;
	size_t i;

	while (environ != NULL && environ[count] != NULL)
		count++;
	out = calloc(count + 3, sizeof(*out));
	if (out == NULL)
		return NULL;
	for (i = 0; i < count; i++)
		if (!is_local(environ[i]))
			out[used++] = environ[i];
	out[used++] = prompt;
	out[used] = more;
	return out;
}

static int
set_actions(posix_spawn_file_actions_t *actions,
	const struct ks_git_channels *channels)
{
	int rc = channels->input < 0 ? posix_spawn_file_actions_addopen(
		actions, 0, "/dev/null", O_RDWR, 0) :
		posix_spawn_file_actions_adddup2(actions, channels->input, 0);

	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions,
			channels->output < 0 ? channels->messages :
			channels->output, 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions,
			channels->messages, 2);
	return rc;
}

/* What git runs itself (for http, ssh) does not end with it, so that where it
 * may have to be stopped they are a group of processes of their own. Not where
 * there is a terminal, at which ssh may have to ask: there ^C reaches them. */
static int
set_group(posix_spawnattr_t *attributes, const struct ks_git_channels *channels,
	bool *is_group)
{
	int terminal;

	*is_group = false;
	if (channels->watch == NULL)
		return 0;
	terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (terminal >= 0) {
		(void)close(terminal);
		return 0;
	}
	*is_group = true;
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP);
}

static int
spawn_git(char *const arguments[], const struct ks_git_channels *channels,
	pid_t *pid, bool *is_group)
{
	char prompt[] = "GIT_TERMINAL_PROMPT=0";
	char no_grafts[] = "GIT_GRAFT_FILE=/dev/null";
	char **environment = git_environment(prompt, channels->no_grafts ?
		no_grafts : NULL);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc, held;

	if (environment == NULL)
		return ENOMEM;
	rc = posix_spawnattr_init(&attributes);
	if (rc != 0) {
		free(environment);
		return rc;
	}
	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		rc = set_actions(&actions, channels);
		if (rc == 0)
			rc = set_group(&attributes, channels, is_group);
		/* The copy is inherited, and so by what git runs itself. */
		held = channels->lock < 0 ? -1 :
			fcntl(channels->lock, F_DUPFD, STDERR_FILENO + 1);
		if (rc == 0 && channels->lock >= 0 && held < 0)
			rc = errno;
		if (rc == 0)
			rc = posix_spawnp(pid, "git", &actions, &attributes,
				arguments, environment);
		if (held >= 0)
			(void)close(held);
		(void)posix_spawn_file_actions_destroy(&actions);
	}
	(void)posix_spawnattr_destroy(&attributes);
	free(environment);
	return rc;
}

/* Of what git says the first line is kept, for it has the cause, and the next
 * ones what followed from it. Advice and the words of another machine are
 * passed over; where there is nothing else, the last line of these. */
struct said {
	const struct ks_watch *watch;
	char line[256];
	size_t used;
	bool ended;	/* what comes next begins another line */
	bool kept;
};

static bool
is_beside(const char *line)
{
	return strncasecmp(line, "warning:", 8) == 0 ||
		strncmp(line, "hint:", 5) == 0 ||
		strncmp(line, "remote:", 7) == 0;
}

/* "Receiving objects:  45% (450/1000), …": how far it is. */
static bool
take_progress(const struct said *said)
{
	const char *open = strstr(said->line, "% (");
	char *end;
	uint64_t done;

	if (open == NULL)
		return false;
	done = strtoull(open + 3, &end, 10);
	if (*end != '/')
		return false;
	ks_watch_progress(said->watch, "fetching", done,
		strtoull(end + 1, NULL, 10));
	return true;
}

static void
take_byte(struct said *said, char byte)
{
	if (byte == '\n' || byte == '\r') {
		said->kept = said->kept || (said->used > 0 &&
			!is_beside(said->line) && !take_progress(said));
		said->ended = true;
		return;
	}
	if (said->kept)
		return;
	if (said->ended)
		said->used = 0;
	said->ended = false;
	if (said->used + 1 < sizeof(said->line))
		said->line[said->used++] = byte;
	said->line[said->used] = '\0';
}

/* Read all, unless the watcher wants to stop before. */
static enum ks_status
listen_to(int fd, struct said *said, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	char bytes[512];
	ssize_t n = 1, i;

	while (n > 0) {
		status = ks_watch_wait(said->watch, fd, err);
		if (status != KS_OK)
			return status;
		n = read(fd, bytes, sizeof(bytes));
		for (i = 0; i < n; i++)
			take_byte(said, bytes[i]);
		if (n < 0 && errno == EINTR)
			n = 1;
	}
	return status;
}

/* A server that says nothing must not keep us: git is asked to end, so that it
 * removes what it has begun, and then made to. */
static void
stop(pid_t pid, bool is_group)
{
	const struct timespec step = { .tv_nsec = 20000000 };
	int left = STOP_STEPS;

	(void)kill(is_group ? -pid : pid, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (left-- == 0)
			(void)kill(is_group ? -pid : pid, SIGKILL);
		(void)nanosleep(&step, NULL);
	}
}

static enum ks_status
wait_for(pid_t pid, const char *what, const char *line, struct ks_error *err)
{
	char shown[512];
	int result = 0;

	while (waitpid(pid, &result, 0) < 0)
		if (errno != EINTR)
			return ks_fail_errno(err, "git %s", what);
	if (WIFEXITED(result) && WEXITSTATUS(result) == 0)
		return KS_OK;
	return ks_fail(err, KS_IO, "git %s failed: %s", what,
		line[0] == '\0' ? "it was killed" : ks_printable(shown,
		sizeof(shown), ks_span_text(line)));
}

static enum ks_status
run_git(char *const arguments[], const char *what,
	const struct ks_git_channels *given, struct ks_error *err)
{
	struct ks_git_channels channels = *given;
	struct said said = { .watch = channels.watch };
	int ends[2];
	pid_t pid;
	bool is_group = false;
	int rc;
	enum ks_status status;

	if (pipe(ends) != 0)
		return ks_fail_errno(err, "git %s", what);
	(void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	channels.messages = ends[1];
	rc = spawn_git(arguments, &channels, &pid, &is_group);
	(void)close(ends[1]);
	if (rc != 0) {
		(void)close(ends[0]);
		return ks_fail(err, rc == ENOMEM ? KS_NOMEM : KS_IO,
			KS_GIT_CANNOT_RUN ": %s", rc == ENOENT ?
			"it is not installed" : "it does not start");
	}
	status = listen_to(ends[0], &said, err);
	(void)close(ends[0]);
	if (status != KS_OK) {
		stop(pid, is_group);
		return status;
	}
	return wait_for(pid, what, said.line, err);
}

enum ks_status
ks_git_run(struct ks_gitdb *db, const char *what, const char *const words[],
	const struct ks_git_channels *channels, struct ks_error *err)
{
	static const char *const common[] = { "-c",
		"core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"-c", "gc.autoDetach=false" };
	const size_t fixed = sizeof(common) / sizeof(common[0]);
	char *arguments[3 + sizeof(common) / sizeof(common[0]) +
		KS_GIT_WORDS_MAX] = { NULL };
	size_t i, used = 0;
	bool failed = false;
	enum ks_status status;

	arguments[used++] = ks_git_join("", "git");
	arguments[used++] = ks_git_join("--git-dir=", db->directory);
	for (i = 0; i < fixed; i++)
		arguments[used++] = ks_git_join("", common[i]);
	for (i = 0; i < KS_GIT_WORDS_MAX && words[i] != NULL; i++)
		arguments[used++] = ks_git_join("", words[i]);
	for (i = 0; i < used; i++)
		failed = failed || arguments[i] == NULL;
	status = failed ? ks_fail_nomem(err) :
		run_git(arguments, what, channels, err);
	for (i = 0; i < used; i++)
		free(arguments[i]);
	return status;
}

enum ks_status
ks_git_scratch(struct ks_gitdb *db, struct ks_span bytes, int *fd,
	struct ks_error *err)
{
	char *path = ks_git_join(db->objects, KS_GIT_PRIVATE "XXXXXX");
	enum ks_status status;

	*fd = -1;
	if (path == NULL)
		return ks_fail_nomem(err);
	*fd = mkstemp(path);
	status = *fd < 0 ? ks_fail_errno(err, "cannot write in %s",
		db->objects) : KS_OK;
	if (status == KS_OK) {
		(void)unlink(path);
		(void)fcntl(*fd, F_SETFD, FD_CLOEXEC);
		status = ks_file_write(*fd, path, bytes, err);
	}
	if (status == KS_OK && lseek(*fd, 0, SEEK_SET) != 0)
		status = ks_fail_errno(err, "%s", path);
	free(path);
	return status == KS_NOT_FOUND ? KS_IO : status;
}
