#include "cli/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* How many names are tried for the file on its way. */
#define ATTEMPTS 100
/* How many links, and how long. */
#define LINKS_MAX 40
#define LINK_MAX 4096

/* errno, about the file: whichever it is, this is no question of what a store
 * has. */
static enum ks_status
failed(const struct ks_outfile *out, const char *what, struct ks_error *err)
{
	enum ks_status status = ks_fail_errno(err, "%s%s", out->path, what);

	return status == KS_NOT_FOUND ? KS_IO : status;
}

static enum ks_status
open_stdout(struct ks_outfile *out, struct ks_error *err)
{
	out->fd = STDOUT_FILENO;
	return isatty(STDOUT_FILENO) ? ks_fail(err, KS_USAGE, "standard "
		"output is a terminal: name a file (-o FILE)") : KS_OK;
}

/* /dev/stdout, say, where the shell has opened a file. */
static bool
is_stdout(const struct stat *st)
{
	struct stat own;

	return S_ISREG(st->st_mode) && fstat(STDOUT_FILENO, &own) == 0 &&
		own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

/* Of what stands before the last name, with its slash. */
static size_t
folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* The link itself stays: it may be one of the system's. */
static enum ks_status
follow(struct ks_outfile *out, struct ks_error *err)
{
	struct ks_buf *target = &out->target;
	char link[LINK_MAX];
	int i;

	ks_buf_text(target, out->path);
	for (i = 0; i < LINKS_MAX; i++) {
		ssize_t len = readlink(ks_buf_cstr(target), link,
			sizeof(link));

		if (len <= 0 || (size_t)len == sizeof(link))
			break;
		target->len = link[0] == '/' ? 0 :
			folder_length(ks_buf_cstr(target));
		ks_buf_append(target, ks_span(link, (size_t)len));
	}
	if (i == LINKS_MAX) {
		errno = ELOOP;
		return failed(out, "", err);
	}
	(void)ks_buf_cstr(target);
	return ks_buf_check(target, err);
}

static enum ks_status
open_beside(struct ks_outfile *out, struct ks_error *err)
{
	const char *target = ks_buf_cstr(&out->target);
	size_t len = folder_length(target);
	int i;

	for (i = 0; out->fd < 0 && i < ATTEMPTS; i++) {
		ks_buf_clear(&out->temporary);
		ks_buf_append(&out->temporary, ks_span(target, len));
		ks_buf_printf(&out->temporary, ".kistore-out-%ld-%d",
			(long)getpid(), i);
		(void)ks_buf_cstr(&out->temporary);
		if (ks_buf_check(&out->temporary, err) != KS_OK)
			return KS_NOMEM;
		out->fd = open(ks_buf_cstr(&out->temporary),
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (out->fd < 0 && errno != EEXIST)
			break;
	}
	out->beside = out->fd >= 0;
	return out->beside ? KS_OK : failed(out, "", err);
}

enum ks_status
ks_outfile_open(struct ks_outfile *out, struct ks_error *err)
{
	struct stat st;
	bool is_there;
	enum ks_status status = KS_OK;

	if (out->path != NULL && out->path[0] == '\0')
		return ks_fail(err, KS_USAGE, "-o: a file has a name");
	if (out->path != NULL && strcmp(out->path, "-") == 0)
		out->path = NULL;
	is_there = out->path != NULL && stat(out->path, &st) == 0;
	if (is_there && is_stdout(&st))
		out->path = NULL;
	if (out->path == NULL)
		return open_stdout(out, err);
	status = follow(out, err);
	if (status != KS_OK)
		return status;
	if (!is_there || S_ISREG(st.st_mode))
		status = open_beside(out, err);
	else if ((out->fd = open(out->path, O_WRONLY | O_CLOEXEC |
		O_NOCTTY)) < 0)
		status = failed(out, "", err);
	return status;
}

const char *
ks_outfile_place(struct ks_outfile *out)
{
	return out->beside ? ks_buf_cstr(&out->temporary) : NULL;
}

enum ks_status
ks_outfile_write(void *arg, struct ks_span bytes, struct ks_error *err)
{
	const struct ks_outfile *out = arg;

	return ks_file_write(out->fd, out->path == NULL ?
		"standard output" : out->path, bytes, err);
}

enum ks_status
ks_outfile_close(struct ks_outfile *out, enum ks_status status,
	struct ks_error *err)
{
	const char *temporary = ks_buf_cstr(&out->temporary);
	const char *target = ks_buf_cstr(&out->target);

	if (status == KS_OK && out->beside && fsync(out->fd) != 0)
		status = failed(out, ": cannot flush to disk", err);
	if (out->fd > STDOUT_FILENO && close(out->fd) != 0 &&
		status == KS_OK)
		status = failed(out, "", err);
	if (status == KS_OK && out->beside &&
		rename(temporary, target) != 0)
		status = failed(out, "", err);
	if (status != KS_OK && out->beside)
		(void)unlink(temporary);
	if (status == KS_OK && out->beside)
		status = ks_file_sync_parent(target, err);
	ks_buf_release(&out->target);
	ks_buf_release(&out->temporary);
	return status;
}
