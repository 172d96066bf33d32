/*
 * One object as one zstd frame, and streams of frames. The only user of zstd.
 *
 * store-layout.md, section "frames": exactly one frame (RFC 8878), its content
 * size stated, the reserved header bit zero, nothing after it, window and
 * content within the limits below; it may name a dictionary.
 */
#ifndef KS_FORMAT_FRAME_H
#define KS_FORMAT_FRAME_H

#include "base/buf.h"
#include "base/error.h"

#define KS_FRAME_LEVEL 3

/* What a frame header says, before anything is allocated for it. */
struct ks_frame_info {
	uint64_t content_size;
	uint32_t dictionary_id;	/* 0 = none */
};

/* Read and judge the header of `frame`: KS_CORRUPT with the rule broken
 * (not a zstd frame, truncated, size not stated or over `limit`, window over
 * the larger of `limit` and 1 MiB, reserved bit set). */
enum ks_status ks_frame_inspect(struct ks_span frame, uint64_t limit,
	struct ks_frame_info *info, struct ks_error *err) KS_CHECKED;

/* A dictionary, digested for both directions. Immutable: share it freely
 * between threads. */
struct ks_dictionary;
enum ks_status ks_dictionary_new(struct ks_dictionary **out,
	struct ks_span bytes, struct ks_error *err) KS_CHECKED;
void ks_dictionary_free(struct ks_dictionary *dictionary);
uint32_t ks_dictionary_id(const struct ks_dictionary *dictionary);

/* The first id that RFC 8878 section 5 leaves to private use. A store's
 * dictionaries count up from it, so that the highest is the newest. */
#define KS_DICTIONARY_FIRST_ID 32768U

/* Train a dictionary with the id `id` on samples that lie one after another
 * in `samples`, `sizes[i]` bytes each. The same samples give the same bytes
 * with the same zstd. KS_INVALID when they are too few or too alike for zstd
 * to make one. */
enum ks_status ks_dictionary_train(struct ks_span samples,
	const size_t *sizes, size_t count, uint32_t id, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Compresses and decompresses; keeps scratch memory. One per thread. */
struct ks_framer;
enum ks_status ks_framer_new(struct ks_framer **out, struct ks_error *err)
	KS_CHECKED;
void ks_framer_free(struct ks_framer *framer);

/* Append `body` as one frame to `out`; `dictionary` may be NULL. */
enum ks_status ks_frame_pack(struct ks_framer *framer, struct ks_span body,
	const struct ks_dictionary *dictionary, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Append the body of `frame` to `out`. `dictionary` is the one the frame
 * names, or NULL. KS_CORRUPT as ks_frame_inspect, or when the data is
 * damaged or truncated, bytes follow the frame, or its dictionary is another
 * one. On failure `out` has its former length. Memory is bounded by the
 * content size, which was checked against `limit` first. */
enum ks_status ks_frame_unpack(struct ks_framer *framer, struct ks_span frame,
	uint64_t limit, const struct ks_dictionary *dictionary,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* The same, but the body is handed to `take` in pieces, so that no more of it
 * than the window is in memory. After a failure some of it may have been handed
 * out. A status other than KS_OK from `take` ends it and is returned. */
typedef enum ks_status ks_frame_piece_fn(void *arg, struct ks_span piece,
	struct ks_error *err);
enum ks_status ks_frame_unpack_pieces(struct ks_framer *framer,
	struct ks_span frame, uint64_t limit,
	const struct ks_dictionary *dictionary, ks_frame_piece_fn *take,
	void *arg, struct ks_error *err) KS_CHECKED;

/* Streaming decoder for input files (catalogue.jsonl.zst): any number of
 * frames, any size, window at most 128 MiB. Feed `in` until it is empty;
 * each call appends at most about `step` bytes to `out` and moves `in` on.
 * At the end of input call ks_inflater_end(): KS_INVALID when a frame is cut
 * short. Damaged input is KS_INVALID. */
struct ks_inflater;
enum ks_status ks_inflater_new(struct ks_inflater **out, struct ks_error *err)
	KS_CHECKED;
void ks_inflater_free(struct ks_inflater *inflater);
enum ks_status ks_inflater_step(struct ks_inflater *inflater,
	struct ks_span *in, size_t step, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_inflater_end(struct ks_inflater *inflater,
	struct ks_error *err) KS_CHECKED;

/* A strict decoder, used in the same way, for a stream that is one frame with
 * a checksum (store-layout.md S8). KS_CORRUPT, here and in the functions
 * above, when it begins with anything else (a skippable frame, too), has no
 * checksum, a header bit set that RFC 8878 reserves or leaves unused, or a
 * dictionary, is damaged or cut short, asks for a window over 128 MiB, or
 * anything follows it. */
enum ks_status ks_inflater_new_single(struct ks_inflater **out,
	struct ks_error *err) KS_CHECKED;

/* Streaming encoder: all that is fed becomes one frame with a checksum and no
 * dictionary. Feed `in` until it is empty; each call appends at most `step`
 * bytes to `out`, which the caller drains, and moves `in` on. Call
 * ks_deflater_end() once: it appends the rest of the frame, which is little.
 * KS_USAGE for a level that is not 1 to 22, and for calls after the end. */
struct ks_deflater;
enum ks_status ks_deflater_new(struct ks_deflater **out, int level,
	struct ks_error *err) KS_CHECKED;
/* The same for the frame of an object (store-layout.md F2): it states that its
 * content has `size` bytes, which are what must be fed, and has no checksum. */
enum ks_status ks_deflater_new_sized(struct ks_deflater **out, int level,
	uint64_t size, struct ks_error *err) KS_CHECKED;
void ks_deflater_free(struct ks_deflater *deflater);
enum ks_status ks_deflater_step(struct ks_deflater *deflater,
	struct ks_span *in, size_t step, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_deflater_end(struct ks_deflater *deflater,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

#endif
