/*
 * Scripts of the shell, which make what tests read and judge what they wrote.
 *
 * For cmocka programs, which include their own headers first.
 */
#ifndef TESTS_LIB_SHELL_H
#define TESTS_LIB_SHELL_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Run a script; its exit status. */
static inline int
sh(const char *script)
{
	int rc = system(script);

	return WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
}

/* What a script prints, without the last LF; until the next call. */
static inline const char *
output(const char *script)
{
	static char *text;
	static size_t room;
	FILE *pipe = popen(script, "r");
	ssize_t len;

	assert_non_null(pipe);
	len = getdelim(&text, &room, '\0', pipe);
	(void)pclose(pipe);
	if (len <= 0)
		return "";
	if (text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

/* End a child, as another program, whose memory valgrind does not judge: the
 * child has what its parent had, and frees none of it. */
static inline void
leave(int status)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", status);
	(void)execl("/bin/sh", "sh", "-c", "exit $0", text, (char *)NULL);
	_exit(127);
}

/* Skip the test where there is no such program. */
static inline void
need(const char *program)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "command -v %s >/dev/null",
		program);
	if (sh(command) == 0)
		return;
	print_message("there is no %s\n", program);
	skip();
}

#endif
