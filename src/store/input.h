/*
 * Input of `put` and `digest`: files, directories and standard input, as a
 * stream of JSON texts (store-layout.md, section "files").
 *
 * `.jsonl` is lines and `.json` is one value, also with `.zst` after it;
 * anything else is lines when its first line is a value and more follows, else
 * one value. Directories are walked in byte order of names without following
 * symbolic links.
 */
#ifndef KS_STORE_INPUT_H
#define KS_STORE_INPUT_H

#include "base/buf.h"
#include "kistore.h"

#define KS_INPUT_LINE_MAX ((size_t)4 << 20)	/* a line */
#define KS_INPUT_VALUE_MAX ((size_t)64 << 20)	/* a text of one value */

/* A piece of input: whole lines, or one whole value. */
struct ks_chunk {
	struct ks_buf text;
	const char *name;	/* of the file; belongs to the input */
	uint64_t line;		/* number of the first line, from 1; 0 = the
				 * text is one value */
};

struct ks_input;

/* `paths` must outlive the input. "-" is standard input. */
enum ks_status ks_input_new(struct ks_input **out, const char *const *paths,
	size_t count, const struct ks_watch *watch, struct ks_error *err)
	KS_CHECKED;
void ks_input_free(struct ks_input *input);

/* Fill `chunk` (whose buffer is cleared first) with what comes next; *more is
 * false at the end. KS_INVALID: a directory without records, a FIFO or
 * device, damaged .zst, a line or value over the limit; KS_IO: cannot read.
 * Memory is bounded by the limits above, however much a .zst would unpack
 * to. */
enum ks_status ks_input_next(struct ks_input *input, struct ks_chunk *chunk,
	bool *more, struct ks_error *err) KS_CHECKED;

/* Bytes read so far, and of how many in all (0 = not known). */
uint64_t ks_input_done(const struct ks_input *input);
uint64_t ks_input_total(const struct ks_input *input);

#endif
