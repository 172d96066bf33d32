#include "format/frame.h"

#include <stdlib.h>

#include <zdict.h>
#include <zstd.h>

#define MAGIC_LEN 4
#define DICTIONARY_CAPACITY 112640
#define WINDOW_FLOOR ((uint64_t)1 << 20)
#define INPUT_WINDOW_LOG 27

static const uint8_t magic[MAGIC_LEN] = { 0x28, 0xb5, 0x2f, 0xfd };

/* A little-endian unsigned integer of `len` bytes. */
static uint64_t
little_endian(const uint8_t *bytes, size_t len)
{
	uint64_t value = 0;

	while (len-- > 0)
		value = value << 8 | bytes[len];
	return value;
}

/* RFC 8878 section 3.1.1.1.2: mantissa and exponent. */
static uint64_t
window_size(uint8_t descriptor)
{
	uint64_t base = (uint64_t)1 << (10 + (descriptor >> 3));

	return base + base / 8 * (descriptor & 7);
}

/* The header after the magic number, RFC 8878 section 3.1.1.1. */
struct header {
	bool single_segment;
	size_t dictionary_bytes, size_bytes;
	size_t len;
};

static struct header
read_descriptor(uint8_t descriptor)
{
	static const size_t dictionary_bytes[4] = { 0, 1, 2, 4 };
	static const size_t size_bytes[4] = { 0, 2, 4, 8 };
	struct header header;

	header.single_segment = (descriptor & 0x20) != 0;
	header.dictionary_bytes = dictionary_bytes[descriptor & 3];
	header.size_bytes = size_bytes[descriptor >> 6];
	if (header.size_bytes == 0 && header.single_segment)
		header.size_bytes = 1;
	header.len = MAGIC_LEN + 1 + (header.single_segment ? 0U : 1U) +
		header.dictionary_bytes + header.size_bytes;
	return header;
}

enum ks_status
ks_frame_inspect(struct ks_span frame, uint64_t limit,
	struct ks_frame_info *info, struct ks_error *err)
{
	struct header header;
	const uint8_t *at = frame.data + MAGIC_LEN + 1;
	uint64_t window_limit = limit > WINDOW_FLOOR ? limit : WINDOW_FLOOR;

	*info = (struct ks_frame_info){ 0 };
	if (frame.len == 0)
		return ks_fail(err, KS_CORRUPT, "empty file, not a zstd frame");
	if (memcmp(frame.data, magic, frame.len < MAGIC_LEN ? frame.len :
		MAGIC_LEN) != 0)
		return ks_fail(err, KS_CORRUPT, "not a zstd frame");
	if (frame.len < MAGIC_LEN + 2)
		return ks_fail(err, KS_CORRUPT, "truncated zstd frame");
	if ((frame.data[MAGIC_LEN] & 0x18) != 0)
		return ks_fail(err, KS_CORRUPT,
			"zstd frame header has a reserved bit set");
	header = read_descriptor(frame.data[MAGIC_LEN]);
	if (frame.len < header.len)
		return ks_fail(err, KS_CORRUPT, "truncated zstd frame");
	if (header.size_bytes == 0)
		return ks_fail(err, KS_CORRUPT,
			"zstd frame does not state its content size");
	if (!header.single_segment && window_size(*at++) > window_limit)
		return ks_fail(err, KS_CORRUPT,
			"zstd frame asks for a window over the limit of "
			"%llu bytes", (unsigned long long)window_limit);
	info->dictionary_id =
		(uint32_t)little_endian(at, header.dictionary_bytes);
	at += header.dictionary_bytes;
	info->content_size = little_endian(at, header.size_bytes);
	if (header.size_bytes == 2)
		info->content_size += 256;
	if (info->content_size > limit)
		return ks_fail(err, KS_CORRUPT,
			"zstd frame states %llu bytes, over the limit of %llu",
			(unsigned long long)info->content_size,
			(unsigned long long)limit);
	return KS_OK;
}

struct ks_dictionary {
	ZSTD_CDict *compress;
	ZSTD_DDict *decompress;
	uint32_t id;
};

enum ks_status
ks_dictionary_new(struct ks_dictionary **out, struct ks_span bytes,
	struct ks_error *err)
{
	struct ks_dictionary *dictionary;
	uint32_t id = ZDICT_getDictID(bytes.data, bytes.len);

	*out = NULL;
	if (id == 0)
		return ks_fail(err, KS_CORRUPT, "not a zstd dictionary");
	dictionary = calloc(1, sizeof(*dictionary));
	if (dictionary == NULL)
		return ks_fail_nomem(err);
	dictionary->id = id;
	dictionary->compress = ZSTD_createCDict(bytes.data, bytes.len,
		KS_FRAME_LEVEL);
	dictionary->decompress = ZSTD_createDDict(bytes.data, bytes.len);
	if (dictionary->compress == NULL || dictionary->decompress == NULL) {
		ks_dictionary_free(dictionary);
		return ks_fail(err, KS_CORRUPT, "damaged zstd dictionary");
	}
	*out = dictionary;
	return KS_OK;
}

void
ks_dictionary_free(struct ks_dictionary *dictionary)
{
	if (dictionary == NULL)
		return;
	(void)ZSTD_freeCDict(dictionary->compress);
	(void)ZSTD_freeDDict(dictionary->decompress);
	free(dictionary);
}

uint32_t
ks_dictionary_id(const struct ks_dictionary *dictionary)
{
	return dictionary->id;
}

/* The id follows the magic number of a dictionary, little-endian (RFC 8878
 * section 5). */
static void
set_dictionary_id(uint8_t *dictionary, uint32_t id)
{
	size_t i;

	for (i = 0; i < 4; i++)
		dictionary[MAGIC_LEN + i] = (uint8_t)(id >> (8 * i));
}

enum ks_status
ks_dictionary_train(struct ks_span samples, const size_t *sizes, size_t count,
	uint32_t id, struct ks_buf *out, struct ks_error *err)
{
	uint8_t *at = ks_buf_reserve(out, DICTIONARY_CAPACITY);
	size_t made;

	if (at == NULL)
		return ks_fail_nomem(err);
	if (count > UINT32_MAX)
		return ks_fail(err, KS_INVALID, "too many samples");
	made = ZDICT_trainFromBuffer(at, DICTIONARY_CAPACITY, samples.data,
		sizes, (unsigned)count);
	if (ZDICT_isError(made) || made < MAGIC_LEN + 4)
		return ks_fail(err, KS_INVALID,
			"zstd cannot train a dictionary on these objects: %s",
			ZDICT_getErrorName(made));
	set_dictionary_id(at, id);
	out->len += made;
	return KS_OK;
}

struct ks_framer {
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
};

enum ks_status
ks_framer_new(struct ks_framer **out, struct ks_error *err)
{
	struct ks_framer *framer = calloc(1, sizeof(*framer));

	*out = NULL;
	if (framer == NULL)
		return ks_fail_nomem(err);
	*out = framer;
	return KS_OK;
}

void
ks_framer_free(struct ks_framer *framer)
{
	if (framer == NULL)
		return;
	(void)ZSTD_freeCCtx(framer->compress);
	(void)ZSTD_freeDCtx(framer->decompress);
	free(framer);
}

/* The contexts are made on first use: most commands need only one. */
static ZSTD_CCtx *
compressor(struct ks_framer *framer)
{
	if (framer->compress == NULL)
		framer->compress = ZSTD_createCCtx();
	return framer->compress;
}

static ZSTD_DCtx *
decompressor(struct ks_framer *framer)
{
	if (framer->decompress == NULL)
		framer->decompress = ZSTD_createDCtx();
	return framer->decompress;
}

enum ks_status
ks_frame_pack(struct ks_framer *framer, struct ks_span body,
	const struct ks_dictionary *dictionary, struct ks_buf *out,
	struct ks_error *err)
{
	ZSTD_CCtx *ctx = compressor(framer);
	size_t bound = ZSTD_compressBound(body.len);
	uint8_t *at = ks_buf_reserve(out, bound);
	size_t made;

	if (ctx == NULL || at == NULL)
		return ks_fail_nomem(err);
	made = dictionary == NULL ?
		ZSTD_compressCCtx(ctx, at, bound, body.data, body.len,
			KS_FRAME_LEVEL) :
		ZSTD_compress_usingCDict(ctx, at, bound, body.data, body.len,
			dictionary->compress);
	if (ZSTD_isError(made))
		return ks_fail(err, KS_NOMEM, "zstd: %s",
			ZSTD_getErrorName(made));
	out->len += made;
	return KS_OK;
}

/* Exactly one frame and nothing after it. */
static enum ks_status
check_extent(struct ks_span frame, struct ks_error *err)
{
	size_t extent = ZSTD_findFrameCompressedSize(frame.data, frame.len);

	if (ZSTD_isError(extent))
		return ks_fail(err, KS_CORRUPT,
			"truncated or damaged zstd frame");
	if (extent != frame.len)
		return ks_fail(err, KS_CORRUPT,
			"%zu bytes follow the zstd frame", frame.len - extent);
	return KS_OK;
}

static enum ks_status
check_dictionary(uint32_t wanted, const struct ks_dictionary *dictionary,
	struct ks_error *err)
{
	uint32_t given = dictionary == NULL ? 0 : dictionary->id;

	if (wanted == given)
		return KS_OK;
	return ks_fail(err, KS_CORRUPT,
		"zstd frame needs dictionary %lu, which is not at hand",
		(unsigned long)wanted);
}

enum ks_status
ks_frame_unpack(struct ks_framer *framer, struct ks_span frame,
	uint64_t limit, const struct ks_dictionary *dictionary,
	struct ks_buf *out, struct ks_error *err)
{
	struct ks_frame_info info;
	ZSTD_DCtx *ctx;
	uint8_t *at;
	size_t made;
	enum ks_status status = ks_frame_inspect(frame, limit, &info, err);

	if (status == KS_OK)
		status = check_extent(frame, err);
	if (status == KS_OK && (dictionary != NULL || info.dictionary_id != 0))
		status = check_dictionary(info.dictionary_id, dictionary, err);
	if (status != KS_OK)
		return status;
	ctx = decompressor(framer);
	at = ks_buf_reserve(out, (size_t)info.content_size + 1);
	if (ctx == NULL || at == NULL)
		return ks_fail_nomem(err);
	made = dictionary == NULL ?
		ZSTD_decompressDCtx(ctx, at, (size_t)info.content_size,
			frame.data, frame.len) :
		ZSTD_decompress_usingDDict(ctx, at, (size_t)info.content_size,
			frame.data, frame.len, dictionary->decompress);
	if (ZSTD_isError(made) || made != info.content_size)
		return ks_fail(err, KS_CORRUPT, "damaged zstd frame: %s",
			ZSTD_isError(made) ? ZSTD_getErrorName(made) :
			"other size than stated");
	out->len += made;
	return KS_OK;
}

/* Start over, for a frame with this dictionary or none. */
static bool
prepare(ZSTD_DCtx *ctx, const struct ks_dictionary *dictionary)
{
	if (ZSTD_isError(ZSTD_DCtx_reset(ctx,
		ZSTD_reset_session_and_parameters)) ||
		ZSTD_isError(ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax,
		INPUT_WINDOW_LOG)))
		return false;
	return dictionary == NULL || !ZSTD_isError(ZSTD_DCtx_refDDict(ctx,
		dictionary->decompress));
}

static enum ks_status
unpack_pieces(ZSTD_DCtx *ctx, struct ks_span frame, uint64_t size,
	struct ks_buf *piece, ks_frame_piece_fn *take, void *arg,
	struct ks_error *err)
{
	ZSTD_inBuffer input = { frame.data, frame.len, 0 };
	size_t room = ZSTD_DStreamOutSize(), hint = 1;
	uint64_t made = 0;
	enum ks_status status = KS_OK;

	while (status == KS_OK && hint != 0) {
		ZSTD_outBuffer output = { ks_buf_reserve(piece, room), room,
			0 };

		if (output.dst == NULL)
			return ks_fail_nomem(err);
		hint = ZSTD_decompressStream(ctx, &output, &input);
		made += output.pos;
		if (ZSTD_isError(hint) || made > size ||
			(hint != 0 && output.pos == 0 &&
			input.pos == input.size))
			return ks_fail(err, KS_CORRUPT,
				"damaged zstd frame: %s", ZSTD_isError(hint) ?
				ZSTD_getErrorName(hint) :
				"other size than stated");
		if (output.pos > 0)
			status = take(arg, ks_span(output.dst, output.pos),
				err);
	}
	if (status == KS_OK && made != size)
		return ks_fail(err, KS_CORRUPT,
			"damaged zstd frame: other size than stated");
	return status;
}

enum ks_status
ks_frame_unpack_pieces(struct ks_framer *framer, struct ks_span frame,
	uint64_t limit, const struct ks_dictionary *dictionary,
	ks_frame_piece_fn *take, void *arg, struct ks_error *err)
{
	struct ks_buf piece = KS_BUF_INIT;
	struct ks_frame_info info;
	ZSTD_DCtx *ctx;
	enum ks_status status = ks_frame_inspect(frame, limit, &info, err);

	if (status == KS_OK)
		status = check_extent(frame, err);
	if (status == KS_OK)
		status = check_dictionary(info.dictionary_id, dictionary, err);
	if (status != KS_OK)
		return status;
	ctx = decompressor(framer);
	if (ctx == NULL || !prepare(ctx, dictionary))
		return ks_fail_nomem(err);
	status = unpack_pieces(ctx, frame, info.content_size, &piece, take,
		arg, err);
	ks_buf_release(&piece);
	/* Other frames are unpacked with this context, too. */
	(void)ZSTD_DCtx_reset(ctx, ZSTD_reset_session_and_parameters);
	return status;
}

/* Magic number and descriptor: what a strict decoder looks at itself. */
#define HEAD_LEN (MAGIC_LEN + 1)

struct ks_inflater {
	ZSTD_DCtx *ctx;
	bool inside;	/* a frame has begun and not ended */
	bool single;	/* one frame only, and strict */
	size_t head;	/* single: bytes of the head that went in */
};

enum ks_status
ks_inflater_new(struct ks_inflater **out, struct ks_error *err)
{
	struct ks_inflater *inflater = calloc(1, sizeof(*inflater));

	*out = NULL;
	if (inflater == NULL)
		return ks_fail_nomem(err);
	inflater->ctx = ZSTD_createDCtx();
	if (inflater->ctx == NULL || ZSTD_isError(ZSTD_DCtx_setParameter(
		inflater->ctx, ZSTD_d_windowLogMax, INPUT_WINDOW_LOG))) {
		ks_inflater_free(inflater);
		return ks_fail_nomem(err);
	}
	*out = inflater;
	return KS_OK;
}

enum ks_status
ks_inflater_new_single(struct ks_inflater **out, struct ks_error *err)
{
	enum ks_status status = ks_inflater_new(out, err);

	if (status == KS_OK)
		(*out)->single = true;
	return status;
}

void
ks_inflater_free(struct ks_inflater *inflater)
{
	if (inflater == NULL)
		return;
	(void)ZSTD_freeDCtx(inflater->ctx);
	free(inflater);
}

/* Judge what `in` has of the head of the frame, and that nothing follows the
 * frame. zstd takes skippable frames and ones without a checksum, too. */
static enum ks_status
check_single(const struct ks_inflater *inflater, struct ks_span in,
	struct ks_error *err)
{
	size_t i;

	if (inflater->head == HEAD_LEN && !inflater->inside && in.len > 0)
		return ks_fail(err, KS_CORRUPT,
			"bytes follow the zstd frame (S8)");
	for (i = inflater->head; i < HEAD_LEN && i - inflater->head < in.len;
		i++) {
		uint8_t byte = in.data[i - inflater->head];

		if (i < MAGIC_LEN && byte != magic[i])
			return ks_fail(err, KS_CORRUPT,
				"not a zstd frame (S8)");
		if (i == MAGIC_LEN && (byte & 0x18) != 0)
			return ks_fail(err, KS_CORRUPT,
				"zstd frame header has a reserved bit set");
		if (i == MAGIC_LEN && (byte & 0x04) == 0)
			return ks_fail(err, KS_CORRUPT,
				"zstd frame has no checksum (S8)");
	}
	return KS_OK;
}

/* Take what zstd has read off the front. */
static void
take(struct ks_span *in, size_t len)
{
	if (len > 0)
		*in = ks_span(in->data + len, in->len - len);
}

/* Damaged input is refused, a damaged snapshot is a fault. */
static enum ks_status
verdict(const struct ks_inflater *inflater)
{
	return inflater->single ? KS_CORRUPT : KS_INVALID;
}

enum ks_status
ks_inflater_step(struct ks_inflater *inflater, struct ks_span *in, size_t step,
	struct ks_buf *out, struct ks_error *err)
{
	ZSTD_inBuffer input = { in->data, in->len, 0 };
	ZSTD_outBuffer output = { ks_buf_reserve(out, step), step, 0 };
	size_t hint;

	if (output.dst == NULL)
		return ks_fail_nomem(err);
	if (inflater->single && check_single(inflater, *in, err) != KS_OK)
		return verdict(inflater);
	hint = ZSTD_decompressStream(inflater->ctx, &output, &input);
	if (ZSTD_isError(hint))
		return ks_fail(err, verdict(inflater),
			"damaged zstd data: %s", ZSTD_getErrorName(hint));
	if (input.pos > 0 || output.pos > 0)
		inflater->inside = hint != 0;
	inflater->head += input.pos < HEAD_LEN - inflater->head ? input.pos :
		HEAD_LEN - inflater->head;
	out->len += output.pos;
	take(in, input.pos);
	return KS_OK;
}

enum ks_status
ks_inflater_end(struct ks_inflater *inflater, struct ks_error *err)
{
	if (inflater->inside ||
		(inflater->single && inflater->head < HEAD_LEN))
		return ks_fail(err, verdict(inflater), "truncated zstd data");
	return KS_OK;
}

struct ks_deflater {
	ZSTD_CCtx *ctx;
	bool over;
};

/* Whether zstd takes all parameters. */
static bool
set_up(ZSTD_CCtx *ctx, int level, bool checksum, uint64_t size)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(ctx,
		ZSTD_c_compressionLevel, level)) &&
		!ZSTD_isError(ZSTD_CCtx_setParameter(ctx,
		ZSTD_c_checksumFlag, checksum)) &&
		!ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(ctx, size));
}

static enum ks_status
new_deflater(struct ks_deflater **out, int level, bool checksum,
	uint64_t size, struct ks_error *err)
{
	struct ks_deflater *deflater;

	*out = NULL;
	if (level < 1 || level > ZSTD_maxCLevel())
		return ks_fail(err, KS_USAGE,
			"zstd level %d, not 1 to %d", level, ZSTD_maxCLevel());
	deflater = calloc(1, sizeof(*deflater));
	if (deflater == NULL)
		return ks_fail_nomem(err);
	deflater->ctx = ZSTD_createCCtx();
	if (deflater->ctx == NULL ||
		!set_up(deflater->ctx, level, checksum, size)) {
		ks_deflater_free(deflater);
		return ks_fail_nomem(err);
	}
	*out = deflater;
	return KS_OK;
}

enum ks_status
ks_deflater_new(struct ks_deflater **out, int level, struct ks_error *err)
{
	return new_deflater(out, level, true, ZSTD_CONTENTSIZE_UNKNOWN, err);
}

enum ks_status
ks_deflater_new_sized(struct ks_deflater **out, int level, uint64_t size,
	struct ks_error *err)
{
	return new_deflater(out, level, false, size, err);
}

void
ks_deflater_free(struct ks_deflater *deflater)
{
	if (deflater == NULL)
		return;
	(void)ZSTD_freeCCtx(deflater->ctx);
	free(deflater);
}

/* Append at most `step` bytes; *left is 0 once the frame was ended. */
static enum ks_status
deflate(struct ks_deflater *deflater, struct ks_span *in,
	ZSTD_EndDirective how, size_t step, struct ks_buf *out, size_t *left,
	struct ks_error *err)
{
	ZSTD_inBuffer input = { in->data, in->len, 0 };
	ZSTD_outBuffer output = { ks_buf_reserve(out, step), step, 0 };

	if (output.dst == NULL)
		return ks_fail_nomem(err);
	*left = ZSTD_compressStream2(deflater->ctx, &output, &input, how);
	if (ZSTD_isError(*left))
		return ks_fail(err, KS_NOMEM, "zstd: %s",
			ZSTD_getErrorName(*left));
	out->len += output.pos;
	take(in, input.pos);
	return KS_OK;
}

static enum ks_status
check_open(const struct ks_deflater *deflater, struct ks_error *err)
{
	return deflater->over ? ks_fail(err, KS_USAGE,
		"zstd frame has been ended") : KS_OK;
}

enum ks_status
ks_deflater_step(struct ks_deflater *deflater, struct ks_span *in, size_t step,
	struct ks_buf *out, struct ks_error *err)
{
	size_t left;
	enum ks_status status = check_open(deflater, err);

	return status != KS_OK ? status : deflate(deflater, in,
		ZSTD_e_continue, step, out, &left, err);
}

enum ks_status
ks_deflater_end(struct ks_deflater *deflater, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_span none = ks_span(NULL, 0);
	size_t left = 1;
	enum ks_status status = check_open(deflater, err);

	deflater->over = true;
	while (status == KS_OK && left != 0)
		status = deflate(deflater, &none, ZSTD_e_end,
			ZSTD_CStreamOutSize(), out, &left, err);
	return status;
}
