#include "cli/in.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

const char *
ks_in_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* "Not found" is said of what a store holds, not of a file to read. */
static enum ks_status
fail_open(const char *path, struct ks_error *err)
{
	enum ks_status status = ks_fail_errno(err, "%s", path);

	return status == KS_NOT_FOUND ? KS_IO : status;
}

enum ks_status
ks_in_read(const char *path, uint64_t limit, struct ks_buf *out,
	struct ks_error *err)
{
	enum ks_status status;
	int fd;

	if (strcmp(path, "-") == 0)
		return ks_file_read_fd(STDIN_FILENO, ks_in_name(path), limit,
			out, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_open(path, err);
	status = ks_file_read_fd(fd, path, limit, out, err);
	(void)close(fd);
	return status;
}
