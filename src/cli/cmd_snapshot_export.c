#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/snapfile.h"

/* How many names are tried for the file on its way. */
#define ATTEMPTS 100

/* ---- Where it goes -------------------------------------------------- */

/* A regular file appears whole under its name or not at all: it is made beside
 * its place. Anything else that is there, a device or a pipe, is written to. */
struct output {
	const char *path;	/* NULL = standard output */
	struct ks_buf temporary;
	int fd;
	bool beside;
};

#define OUTPUT_INIT { .path = NULL, .temporary = KS_BUF_INIT, .fd = -1 }

static enum ks_status
open_stdout(struct output *output, struct ks_error *err)
{
	output->fd = STDOUT_FILENO;
	return isatty(STDOUT_FILENO) ? ks_fail(err, KS_USAGE, "standard "
		"output is a terminal: name a file (-o FILE)") : KS_OK;
}

static enum ks_status
open_beside(struct output *output, struct ks_error *err)
{
	const char *slash = strrchr(output->path, '/');
	size_t len = slash == NULL ? 0 : (size_t)(slash - output->path) + 1;
	int i;

	for (i = 0; output->fd < 0 && i < ATTEMPTS; i++) {
		ks_buf_clear(&output->temporary);
		ks_buf_append(&output->temporary, ks_span(output->path, len));
		ks_buf_printf(&output->temporary, ".kistore-export-%ld-%d",
			(long)getpid(), i);
		(void)ks_buf_cstr(&output->temporary);
		if (ks_buf_check(&output->temporary, err) != KS_OK)
			return KS_NOMEM;
		output->fd = open(ks_buf_cstr(&output->temporary),
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (output->fd < 0 && errno != EEXIST)
			break;
	}
	output->beside = output->fd >= 0;
	return output->beside ? KS_OK : ks_fail_errno(err, "%s",
		output->path);
}

static enum ks_status
open_output(struct output *output, struct ks_error *err)
{
	struct stat st;
	enum ks_status status = KS_OK;

	if (output->path == NULL)
		return open_stdout(output, err);
	if (stat(output->path, &st) != 0 || S_ISREG(st.st_mode))
		status = open_beside(output, err);
	else if ((output->fd = open(output->path, O_WRONLY | O_CLOEXEC |
		O_NOCTTY)) < 0)
		status = ks_fail_errno(err, "%s", output->path);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

static enum ks_status
write_bytes(void *arg, struct ks_span bytes, struct ks_error *err)
{
	const struct output *output = arg;

	return ks_file_write(output->fd, output->path == NULL ?
		"standard output" : output->path, bytes, err);
}

/* Put it into its place, or leave nothing of it. */
static enum ks_status
close_output(struct output *output, enum ks_status status,
	struct ks_error *err)
{
	const char *temporary = ks_buf_cstr(&output->temporary);

	if (status == KS_OK && output->beside && fsync(output->fd) != 0)
		status = ks_fail_errno(err, "%s: cannot flush to disk",
			output->path);
	if (output->fd > STDOUT_FILENO && close(output->fd) != 0 &&
		status == KS_OK)
		status = ks_fail_errno(err, "%s", output->path);
	if (status == KS_OK && output->beside &&
		rename(temporary, output->path) != 0)
		status = ks_fail_errno(err, "%s", output->path);
	if (status != KS_OK && output->beside)
		(void)unlink(temporary);
	if (status == KS_OK && output->beside)
		status = ks_file_sync_parent(output->path, err);
	ks_buf_release(&output->temporary);
	return status;
}

/* ---- What is said of it --------------------------------------------- */

static enum ks_status
print_json(const struct output *output, const struct ks_snapshot_file *file,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("snapshot-export");

	ks_doc_text(doc, "file", output->path);
	ks_cli_snapfile_doc(doc, file);
	return ks_doc_write(doc, err);
}

/* Where the file itself went to standard output, what is said of it does
 * not. */
static void
print_text(struct ks_cli *cli, const struct output *output,
	const struct ks_snapshot_file *file)
{
	struct ks_buf text = KS_BUF_INIT;
	const char *line, *end;

	ks_cli_snapfile_text(file, &text);
	line = ks_buf_cstr(&text);
	if (output->path != NULL)
		ks_out_printf("%s", line);
	else
		for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
			ks_out_note(cli, "%.*s", (int)(end - line), line);
	ks_buf_release(&text);
}

/* ---- The command ---------------------------------------------------- */

static enum ks_status
run(struct ks_cli *cli, struct output *output,
	const struct ks_export_options *options, struct ks_error *err)
{
	struct ks_store *store = NULL;
	struct ks_snapshot_file file;
	enum ks_status status = ks_cli_open(cli, NULL, &store, err);

	if (status == KS_OK)
		status = open_output(output, err);
	if (status == KS_OK)
		status = ks_snapshot_export(store, options, write_bytes,
			output, &file, err);
	status = close_output(output, status, err);
	ks_store_close(store);
	if (status != KS_OK)
		return status;
	if (cli->json)
		return print_json(output, &file, err);
	print_text(cli, output, &file);
	return KS_OK;
}

enum ks_status
ks_cmd_snapshot_export(struct ks_cli *cli, struct ks_error *err)
{
	struct output output = OUTPUT_INIT;
	struct ks_export_options export = { .watch = &cli->watch };
	int64_t from = 0, size = 0;
	const struct ks_opt options[] = {
		KS_TEXT('o', NULL, "FILE", &output.path,
			"where it goes (-: standard output)"),
		KS_NUMBER(0, "from", "SIZE", &from, 1, INT64_MAX,
			"only what follows this earlier snapshot"),
	};
	enum ks_status status;

	cli->examples = "  kistore snapshot export -o records.kistore\n"
		"  kistore snapshot export --from 246 -o more.kistore\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	if (output.path != NULL && strcmp(output.path, "-") == 0)
		output.path = NULL;
	if (cli->json && output.path == NULL)
		return ks_fail(err, KS_USAGE, "--json needs -o FILE: the "
			"file itself goes to standard output");
	if (cli->operand_count > 0 && !ks_opt_number(cli->operands[0], 1,
		INT64_MAX, &size))
		return ks_fail(err, KS_USAGE, "SIZE is how many entries a "
			"snapshot has, not '%s'", cli->operands[0]);
	export.size = (uint64_t)size;
	export.from = (uint64_t)from;
	return run(cli, &output, &export, err);
}
