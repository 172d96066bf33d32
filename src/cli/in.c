#include "cli/in.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

bool
ks_in_is_stdin(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

enum ks_status
ks_in_once(const char *const *operands, size_t count, unsigned more,
	struct ks_error *err)
{
	unsigned uses = more;
	size_t i;

	for (i = 0; i < count; i++)
		uses += ks_in_is_stdin(operands[i]);
	return uses <= 1 ? KS_OK : ks_fail(err, KS_USAGE,
		"standard input (-) can be given only once");
}

const char *
ks_in_name(const char *path)
{
	return ks_in_is_stdin(path) ? "standard input" : path;
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

	if (ks_in_is_stdin(path))
		return ks_file_read_fd(STDIN_FILENO, ks_in_name(path), limit,
			out, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail_open(path, err);
	status = ks_file_read_fd(fd, path, limit, out, err);
	(void)close(fd);
	return status;
}
