/*
 * The file that -o names, or standard output.
 *
 * A regular file appears whole under its name or not at all: it is made beside
 * its place, which is where a symbolic link leads to. Anything else that is
 * there, a device or a pipe, is written to; and so is a file that standard
 * output is already, by whatever name.
 *
 *	struct ks_outfile out = KS_OUTFILE_INIT;	out.path is -o's
 *	status = ks_outfile_open(&out, &err);
 *	if (status == KS_OK)
 *		status = ... ks_outfile_write as a ks_write_fn ...
 *	status = ks_outfile_close(&out, status, &err);
 */
#ifndef KS_CLI_OUTFILE_H
#define KS_CLI_OUTFILE_H

#include "base/buf.h"
#include "base/error.h"

struct ks_outfile {
	const char *path;	/* NULL or "-" = standard output; after opening
				 * NULL */
	struct ks_buf target;		/* path, links followed */
	struct ks_buf temporary;
	int fd;
	bool beside;
};

#define KS_OUTFILE_INIT { .path = NULL, .target = KS_BUF_INIT, \
	.temporary = KS_BUF_INIT, .fd = -1 }

/* KS_USAGE where standard output is a terminal; KS_IO. */
enum ks_status ks_outfile_open(struct ks_outfile *out, struct ks_error *err)
	KS_CHECKED;

/* The name that the file has on its way, for who writes it by name; NULL where
 * it is written to directly. */
const char *ks_outfile_place(struct ks_outfile *out);

/* A ks_write_fn: `arg` is the file. */
enum ks_status ks_outfile_write(void *arg, struct ks_span bytes,
	struct ks_error *err);

/* Put it into its place, flushed to disk, or leave nothing of it where `status`
 * says that something failed. Returns the status of it all. For an unopened
 * one, too. */
enum ks_status ks_outfile_close(struct ks_outfile *out, enum ks_status status,
	struct ks_error *err) KS_CHECKED;

#endif
