#include "cli/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* How many names are tried for the file on its way. */
#define ATTEMPTS 100

static enum ks_status
open_stdout(struct ks_outfile *out, struct ks_error *err)
{
	out->fd = STDOUT_FILENO;
	return isatty(STDOUT_FILENO) ? ks_fail(err, KS_USAGE, "standard "
		"output is a terminal: name a file (-o FILE)") : KS_OK;
}

static enum ks_status
open_beside(struct ks_outfile *out, struct ks_error *err)
{
	const char *slash = strrchr(out->path, '/');
	size_t len = slash == NULL ? 0 : (size_t)(slash - out->path) + 1;
	int i;

	for (i = 0; out->fd < 0 && i < ATTEMPTS; i++) {
		ks_buf_clear(&out->temporary);
		ks_buf_append(&out->temporary, ks_span(out->path, len));
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
	return out->beside ? KS_OK : ks_fail_errno(err, "%s",
		out->path);
}

enum ks_status
ks_outfile_open(struct ks_outfile *out, struct ks_error *err)
{
	struct stat st;
	enum ks_status status = KS_OK;

	if (out->path != NULL && strcmp(out->path, "-") == 0)
		out->path = NULL;
	if (out->path == NULL)
		return open_stdout(out, err);
	if (stat(out->path, &st) != 0 || S_ISREG(st.st_mode))
		status = open_beside(out, err);
	else if ((out->fd = open(out->path, O_WRONLY | O_CLOEXEC |
		O_NOCTTY)) < 0)
		status = ks_fail_errno(err, "%s", out->path);
	return status == KS_NOT_FOUND ? KS_IO : status;
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

	if (status == KS_OK && out->beside && fsync(out->fd) != 0)
		status = ks_fail_errno(err, "%s: cannot flush to disk",
			out->path);
	if (out->fd > STDOUT_FILENO && close(out->fd) != 0 &&
		status == KS_OK)
		status = ks_fail_errno(err, "%s", out->path);
	if (status == KS_OK && out->beside &&
		rename(temporary, out->path) != 0)
		status = ks_fail_errno(err, "%s", out->path);
	if (status != KS_OK && out->beside)
		(void)unlink(temporary);
	if (status == KS_OK && out->beside)
		status = ks_file_sync_parent(out->path, err);
	ks_buf_release(&out->temporary);
	return status;
}
