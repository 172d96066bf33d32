#include "store/gitdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The environment without those; the array is the caller's. */
static char **
git_environment(char *prompt)
{
	size_t count = 0;
	size_t used = 0;
	char **out;
	size_t i;

	while (environ != NULL && environ[count] != NULL)
		count++;
	out = calloc(count + 2, sizeof(*out));
	if (out == NULL)
		return NULL;
	for (i = 0; i < count; i++)
		if (!is_local(environ[i]))
			out[used++] = environ[i];
	out[used] = prompt;
	return out;
}

static int
spawn_git(char *const arguments[], int output, pid_t *pid)
{
	char prompt[] = "GIT_TERMINAL_PROMPT=0";
	char **environment = git_environment(prompt);
	posix_spawn_file_actions_t actions;
	int rc;

	if (environment == NULL)
		return ENOMEM;
	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		rc = posix_spawn_file_actions_addopen(&actions, 0,
			"/dev/null", O_RDWR, 0);
		if (rc == 0)
			rc = posix_spawn_file_actions_adddup2(&actions,
				output, 1);
		if (rc == 0)
			rc = posix_spawn_file_actions_adddup2(&actions,
				output, 2);
		if (rc == 0)
			rc = posix_spawnp(pid, "git", &actions, NULL,
				arguments, environment);
		(void)posix_spawn_file_actions_destroy(&actions);
	}
	free(environment);
	return rc;
}

/* Read all, and keep the last line that is not empty. */
static void
last_line(int fd, char *line, size_t size)
{
	char bytes[512];
	size_t used = 0;
	bool fresh = true;
	ssize_t n, i;

	line[0] = '\0';
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 ||
		(n < 0 && errno == EINTR)) {
		for (i = 0; i < n; i++) {
			if (bytes[i] == '\n' || bytes[i] == '\r') {
				fresh = true;
				continue;
			}
			if (fresh)
				used = 0;
			fresh = false;
			if (used + 1 < size)
				line[used++] = bytes[i];
			line[used] = '\0';
		}
	}
}

static enum ks_status
wait_for(pid_t pid, const char *line, struct ks_error *err)
{
	int result = 0;

	while (waitpid(pid, &result, 0) < 0)
		if (errno != EINTR)
			return ks_fail_errno(err, "git gc");
	if (WIFEXITED(result) && WEXITSTATUS(result) == 0)
		return KS_OK;
	return ks_fail(err, KS_IO, "git gc failed: %s",
		line[0] == '\0' ? "it was killed" : line);
}

static enum ks_status
run_git(char *const arguments[], struct ks_error *err)
{
	char line[256];
	int ends[2];
	pid_t pid;
	int rc;

	if (pipe(ends) != 0)
		return ks_fail_errno(err, "git gc");
	(void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	rc = spawn_git(arguments, ends[1], &pid);
	(void)close(ends[1]);
	if (rc != 0) {
		(void)close(ends[0]);
		return ks_fail(err, rc == ENOMEM ? KS_NOMEM : KS_IO,
			"cannot run git: %s", rc == ENOENT ?
			"it is not installed" : "it does not start");
	}
	last_line(ends[0], line, sizeof(line));
	(void)close(ends[0]);
	return wait_for(pid, line, err);
}

/* The packs that are open went away. */
static enum ks_status
reopen(struct ks_gitdb *db, struct ks_error *err)
{
	int rc = git_odb_refresh(db->odb);

	return rc < 0 ? ks_git_fail(err, rc, KS_IO, "%s", db->objects) : KS_OK;
}

enum ks_status
ks_gitdb_gc(struct ks_gitdb *db, struct ks_error *err)
{
	char git[] = "git", hooks[] = "core.hooksPath=/dev/null",
		monitor[] = "core.fsmonitor=false",
		detach[] = "gc.autoDetach=false", option[] = "-c",
		command[] = "gc", quiet[] = "--quiet";
	char *directory = ks_git_join("--git-dir=", db->directory);
	char *arguments[] = { git, directory, option, hooks, option, monitor,
		option, detach, command, quiet, NULL };
	enum ks_status status;

	if (directory == NULL)
		return ks_fail_nomem(err);
	status = run_git(arguments, err);
	free(directory);
	if (status == KS_OK)
		status = reopen(db, err);
	return status;
}
