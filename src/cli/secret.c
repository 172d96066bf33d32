#include "cli/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/in.h"
#include "cli/out.h"
#include "cli/prompt.h"

/* More than this of a passphrase openssl does not read from a file. */
#define PASSPHRASE_MAX 1023

/* A key of any form is far smaller. */
#define KEY_MAX 65536

/* ---- reading ------------------------------------------------------------ */

static enum ks_status
open_file(const char *path, int *fd, struct ks_error *err)
{
	enum ks_status status;

	*fd = STDIN_FILENO;
	if (strcmp(path, "-") == 0)
		return KS_OK;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*fd >= 0)
		return KS_OK;
	status = ks_fail_errno(err, "%s", path);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

static void
close_file(int fd)
{
	if (fd > STDIN_FILENO)
		(void)close(fd);
}

/* Read to the end, or to the end of a line where `line`, or until there are
 * more than `limit` bytes. The buffer is made once, so that it leaves no copy
 * behind. */
static enum ks_status
read_secret(int fd, const char *path, size_t limit, bool line,
	struct ks_buf *out, struct ks_error *err)
{
	bool done = false;

	while (!done && out->len <= limit) {
		size_t room = limit + 1 - out->len;
		uint8_t *at = ks_buf_reserve(out, room);
		ssize_t got;

		if (at == NULL)
			return ks_fail_nomem(err);
		got = read(fd, at, room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ks_fail_errno(err, "%s", ks_in_name(path));
		done = got == 0 ||
			(line && memchr(at, '\n', (size_t)got) != NULL);
		out->len += (size_t)got;
	}
	return KS_OK;
}

/* ---- passphrases -------------------------------------------------------- */

enum ks_status
ks_secret_arguments(const struct ks_cli *cli, struct ks_error *err)
{
	int i;

	for (i = 0; i < cli->argc; i++) {
		if (strstr(cli->argv[i], "PRIVATE KEY-----") != NULL ||
			strstr(cli->argv[i], "PRIVATE+KEY+") != NULL)
			return ks_fail(err, KS_USAGE, "a private key does not "
				"belong on the command line, where others see "
				"it: name its file");
	}
	return KS_OK;
}

enum ks_status
ks_secret_check(const struct ks_secret *secret, const char *path,
	struct ks_error *err)
{
	if (secret->ask && secret->file != NULL)
		return ks_fail(err, KS_USAGE, "--passphrase and "
			"--passphrase-file exclude each other");
	if (secret->file != NULL && strcmp(secret->file, "-") == 0 &&
		strcmp(path, "-") == 0)
		return ks_fail(err, KS_USAGE,
			"standard input can be only one of them");
	return KS_OK;
}

/* Its first line, without the LF: as openssl reads -passin file:. */
static enum ks_status
read_passphrase(const char *path, struct ks_buf *out, struct ks_error *err)
{
	const uint8_t *end;
	int fd;
	enum ks_status status = open_file(path, &fd, err);

	if (status != KS_OK)
		return status;
	status = read_secret(fd, path, PASSPHRASE_MAX, true, out, err);
	close_file(fd);
	if (status != KS_OK)
		return status;
	end = memchr(out->data, '\n', out->len);
	if (end != NULL)
		out->len = (size_t)(end - out->data);
	if (out->len > PASSPHRASE_MAX)
		return ks_fail(err, KS_INVALID, "%s: a passphrase has at most "
			"%d bytes", ks_in_name(path), PASSPHRASE_MAX);
	return KS_OK;
}

/* openssl takes a NUL for the end. */
static enum ks_status
check_passphrase(const struct ks_secret *secret, const struct ks_buf *text,
	struct ks_error *err)
{
	const char *where = secret->file == NULL ? "" :
		ks_in_name(secret->file);
	const char *colon = secret->file == NULL ? "" : ": ";

	if (text->len == 0)
		return ks_fail(err, KS_INVALID, "%s%sthe passphrase is empty",
			where, colon);
	if (memchr(text->data, '\0', text->len) != NULL)
		return ks_fail(err, KS_INVALID,
			"%s%sa passphrase has no byte 00", where, colon);
	return KS_OK;
}

enum ks_status
ks_secret_passphrase(const struct ks_secret *secret, const char *path,
	bool is_new, struct ks_buf *out, struct ks_error *err)
{
	struct ks_buf what = KS_BUF_INIT;
	enum ks_status status;

	if (secret->file != NULL) {
		status = read_passphrase(secret->file, out, err);
	} else {
		ks_buf_printf(&what, "%spassphrase for %s",
			is_new ? "new " : "", ks_in_name(path));
		status = ks_buf_check(&what, err);
		if (status == KS_OK)
			status = ks_prompt(ks_buf_cstr(&what), is_new,
				PASSPHRASE_MAX, out, err);
		ks_buf_release(&what);
	}
	return status != KS_OK ? status : check_passphrase(secret, out, err);
}

/* ---- keys --------------------------------------------------------------- */

static enum ks_status
read_key(const char *path, struct ks_buf *out, bool *open_to_others,
	struct ks_error *err)
{
	struct stat st;
	int fd;
	enum ks_status status = open_file(path, &fd, err);

	if (status != KS_OK)
		return status;
	*open_to_others = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		(st.st_mode & (S_IRWXG | S_IRWXO)) != 0;
	status = read_secret(fd, path, KEY_MAX, false, out, err);
	close_file(fd);
	if (status == KS_OK && out->len > KEY_MAX)
		status = ks_fail(err, KS_INVALID, "%s: is longer than %d bytes",
			ks_in_name(path), KEY_MAX);
	return status;
}

/* `use` asks for a passphrase that nobody offered to give. */
static enum ks_status
fail_locked(const char *path, struct ks_error *err)
{
	return ks_fail(err, KS_UNTRUSTED, "%s: private key is encrypted: give "
		"--passphrase-file FILE, or --passphrase to be asked",
		ks_in_name(path));
}

static enum ks_status
unlock(const char *path, const struct ks_secret *secret,
	struct ks_span text, ks_secret_use_fn *use, void *arg,
	struct ks_error *err)
{
	struct ks_buf passphrase = KS_BUF_INIT;
	enum ks_status status = ks_secret_passphrase(secret, path, false,
		&passphrase, err);

	if (status == KS_OK && use(arg, text, ks_buf_span(&passphrase), err) !=
		KS_OK)
		status = ks_context(err, "%s", ks_in_name(path));
	ks_buf_wipe(&passphrase);
	return status;
}

enum ks_status
ks_secret_key(const char *path, const struct ks_secret *secret,
	ks_secret_use_fn *use, void *arg, bool *open_to_others,
	struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = read_key(path, &text, open_to_others, err);

	if (status != KS_OK) {
		ks_buf_wipe(&text);
		return status;
	}
	status = use(arg, ks_buf_span(&text), ks_span(NULL, 0), err);
	if (status == KS_UNTRUSTED && !secret->ask && secret->file == NULL)
		status = fail_locked(path, err);
	else if (status == KS_UNTRUSTED)
		status = unlock(path, secret, ks_buf_span(&text), use, arg,
			err);
	else if (status != KS_OK)
		status = ks_context(err, "%s", ks_in_name(path));
	ks_buf_wipe(&text);
	return status;
}

void
ks_secret_warn(struct ks_cli *cli, const char *path)
{
	ks_out_note(cli, "%s: this private key can be read or changed by "
		"others than its owner (chmod 600)", ks_in_name(path));
}

static enum ks_status
read_signer(void *arg, struct ks_span text, struct ks_span passphrase,
	struct ks_error *err)
{
	struct ks_signer **out = arg;

	return ks_signer_read(out, text, passphrase, err);
}

enum ks_status
ks_secret_signer(struct ks_cli *cli, const char *path,
	const struct ks_secret *secret, struct ks_signer **out,
	struct ks_error *err)
{
	bool open_to_others = false;
	enum ks_status status = ks_secret_check(secret, path, err);

	*out = NULL;
	if (status == KS_OK)
		status = ks_secret_key(path, secret, read_signer, out,
			&open_to_others, err);
	if (status == KS_OK && open_to_others)
		ks_secret_warn(cli, path);
	return status;
}
