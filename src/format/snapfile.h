/*
 * The tar stream of a snapshot file, read and written piece by piece
 * (store-layout.md S8 to S11). Neither zstd nor files are seen here.
 *
 * Both halves keep to one grammar: checkpoint, perhaps from/checkpoint and
 * from/range, the log in segments, objects by digest, two zero blocks. What
 * notes, lines and bodies say is for the caller to judge: signatures, the root
 * of the lines, whether a body has the digest it is named by, which objects
 * there must be.
 */
#ifndef KS_FORMAT_SNAPFILE_H
#define KS_FORMAT_SNAPFILE_H

#include "base/error.h"
#include "format/id.h"
#include "format/merkle.h"

/* Entries of a log (store-layout.md B8). */
#define KS_SNAPFILE_ENTRIES ((uint64_t)UINT32_MAX)

/* What is told of a stream, in its order, as far as it was in order. Each
 * status but KS_OK ends the reading and is what ks_snapfile_feed() returns.
 * Spans are valid during the call. */
struct ks_snapfile_handler {
	void *arg;
	/* The note; *size is to be the number of entries it states. */
	enum ks_status (*checkpoint)(void *arg, struct ks_span note,
		uint64_t *size, struct ks_error *err);
	/* Of an incremental file: the earlier note and the number that it
	 * states, then the text of the compact range of that many entries
	 * (ks_proof_range_parse()), of which only the length was judged. */
	enum ks_status (*from_checkpoint)(void *arg, struct ks_span note,
		uint64_t *from, struct ks_error *err);
	enum ks_status (*range)(void *arg, struct ks_span text,
		struct ks_error *err);
	/* Entry `index`, without LF, at most 65,535 bytes. */
	enum ks_status (*line)(void *arg, uint64_t index, struct ks_span line,
		struct ks_error *err);
	/* An object, by strictly ascending `id`, which is what its name says;
	 * `body` was not hashed. */
	enum ks_status (*object)(void *arg, const struct ks_id *id,
		struct ks_span body, struct ks_error *err);
};

struct ks_snapfile;

/* `handler` is copied; all of its functions are needed. */
enum ks_status ks_snapfile_new(struct ks_snapfile **out,
	const struct ks_snapfile_handler *handler, struct ks_error *err)
	KS_CHECKED;
void ks_snapfile_free(struct ks_snapfile *snapfile);

/* Take the next bytes, however many: the same stream is told and judged the
 * same in pieces of any size. KS_CORRUPT when an exporter would not have
 * written it so; KS_NOMEM; what a handler said. After a failure all further
 * calls return it again. Memory is that of the largest member that had to be
 * kept, never more than twice the bytes that were fed. */
enum ks_status ks_snapfile_feed(struct ks_snapfile *snapfile,
	struct ks_span bytes, struct ks_error *err) KS_CHECKED;

/* The stream is over: KS_CORRUPT when it was cut short. */
enum ks_status ks_snapfile_end(struct ks_snapfile *snapfile,
	struct ks_error *err) KS_CHECKED;

/* Takes what is written. */
typedef enum ks_status ks_snapwriter_fn(void *arg, struct ks_span bytes,
	struct ks_error *err);

/* Writes what ks_snapfile reads: call the functions below in their order.
 * KS_USAGE when something is out of order or missing, KS_INVALID when it is
 * over a limit, and what the output said; the stream is then of no use. */
struct ks_snapwriter;
enum ks_status ks_snapwriter_new(struct ks_snapwriter **out,
	ks_snapwriter_fn *output, void *arg, struct ks_error *err) KS_CHECKED;
void ks_snapwriter_free(struct ks_snapwriter *writer);

/* The note, over `size` entries. */
enum ks_status ks_snapwriter_checkpoint(struct ks_snapwriter *writer,
	struct ks_span note, uint64_t size, struct ks_error *err) KS_CHECKED;

/* Only for an incremental file: the earlier note, and the compact range of
 * its entries, whose number is less than `size`. */
enum ks_status ks_snapwriter_from(struct ks_snapwriter *writer,
	struct ks_span note, const struct ks_merkle *range,
	struct ks_error *err) KS_CHECKED;

/* The lines of the next segment, each with its LF: all 256, but those before
 * the range's end in the first and those after `size` in the last. */
enum ks_status ks_snapwriter_segment(struct ks_snapwriter *writer,
	struct ks_span lines, struct ks_error *err) KS_CHECKED;

/* Objects, by strictly ascending digest. */
enum ks_status ks_snapwriter_object(struct ks_snapwriter *writer,
	const struct ks_id *id, struct ks_span body, struct ks_error *err)
	KS_CHECKED;

/* End the stream; *digest is the SHA-256 of all of it. */
enum ks_status ks_snapwriter_end(struct ks_snapwriter *writer,
	struct ks_id *digest, struct ks_error *err) KS_CHECKED;

#endif
