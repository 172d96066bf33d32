/*
 * What the program says.
 *
 * Standard output carries results only: text, exact bytes, or with --json one
 * JSON document or one a line. Standard error carries messages, each a line
 * that starts with "kistore: ", and progress. A failure to write results is
 * kept and reported once, by ks_out_finish().
 */
#ifndef KS_CLI_OUT_H
#define KS_CLI_OUT_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/cmd.h"

/* Make sure that the three standard descriptors are open, so that no file of
 * a store ever gets one of their numbers: a closed one stays unusable. And
 * make sure that a reader which went away ends the program, whatever the
 * parent did to SIGPIPE. */
void ks_out_start(void);

/* Exact bytes; formatted text; both to standard output. */
void ks_out_bytes(struct ks_span bytes);
void ks_out_printf(const char *format, ...) KS_PRINTF(1, 2);

/* Text from a record or the log: as it is, but escaped by ks_printable() when
 * standard output is a terminal. */
void ks_out_text(struct ks_span text);

/* The same of text in lines: these stay lines. */
void ks_out_lines(struct ks_span text);

/* One field of a line: always escaped by ks_printable(), so that a line stays
 * one; cut where it is very long. */
void ks_out_field(const char *text);

/* Results could not be made: as if writing them had failed with this errno. */
void ks_out_fail(int code);

/* A message on standard error that belongs to a failure, so -q lets it
 * through. */
void ks_out_message(struct ks_cli *cli, const char *format, ...)
	KS_PRINTF(2, 3);

/* A message on standard error. Notes are what -q silences: warnings, counts
 * of what was skipped. Details are shown with -v only. */
void ks_out_note(struct ks_cli *cli, const char *format, ...) KS_PRINTF(2, 3);
void ks_out_detail(struct ks_cli *cli, const char *format, ...)
	KS_PRINTF(2, 3);

/* The error that ends the program: a line on standard error, and with --json
 * the object {"error":{"code":…,"message":…,"exit":…},"schema":…} on standard
 * output as well. */
void ks_out_error(struct ks_cli *cli, const struct ks_error *err);

/* Flush standard output: KS_IO when anything was not written. */
enum ks_status ks_out_finish(struct ks_cli *cli, struct ks_error *err)
	KS_CHECKED;

/* Fill cli->watch: progress, notes, and cancellation by a signal. Progress is
 * one line that is redrawn at most twice a second from half a second on; where
 * standard error is not a terminal, a line every ten seconds, or with
 * --progress twice a second. */
void ks_out_watch(struct ks_cli *cli);

/*
 * A JSON document, written from the outside in:
 *
 *	struct ks_doc *doc = ks_doc_new("resolve");
 *	ks_doc_array(doc, "matches");
 *	ks_doc_object(doc, NULL);
 *	ks_doc_text(doc, "digest", text);
 *	ks_doc_end(doc);
 *	ks_doc_end(doc);
 *	status = ks_doc_write(doc, err);
 *
 * Failure is sticky, as with ks_buf: a document that could not grow (or was
 * NULL to begin with) takes every call, and ks_doc_write() reports it. `name`
 * is NULL for the elements of an array.
 */
struct ks_doc;

/* A document that is an object with the member "schema": "kistore-NAME/1". */
struct ks_doc *ks_doc_new(const char *name);
void ks_doc_free(struct ks_doc *doc);

/* Begin a member that is an object or array; end the innermost one. */
void ks_doc_object(struct ks_doc *doc, const char *name);
void ks_doc_array(struct ks_doc *doc, const char *name);
void ks_doc_end(struct ks_doc *doc);

/* One member. Bytes that are not UTF-8, or hold a NUL, are written as
 * ks_printable() shows them. `json` is canonical JSON, taken as it is. */
void ks_doc_text(struct ks_doc *doc, const char *name, const char *text);
void ks_doc_span(struct ks_doc *doc, const char *name, struct ks_span text);
/* A text, or null where it is empty. */
void ks_doc_some(struct ks_doc *doc, const char *name, const char *text);
void ks_doc_integer(struct ks_doc *doc, const char *name, int64_t value);
void ks_doc_bool(struct ks_doc *doc, const char *name, bool value);
void ks_doc_null(struct ks_doc *doc, const char *name);
void ks_doc_json(struct ks_doc *doc, const char *name, struct ks_span json);

/* A digest as "sha256:…". */
void ks_doc_digest(struct ks_doc *doc, const char *name,
	const struct ks_id *digest);

/* Print it as one line on standard output, and free it. KS_NOMEM when it is
 * incomplete: nothing is printed then. */
enum ks_status ks_doc_write(struct ks_doc *doc, struct ks_error *err)
	KS_CHECKED;

#endif
