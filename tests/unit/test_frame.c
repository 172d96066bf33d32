#include "format/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/hex.h"
#include "format/digest.h"
#include "format/layout.h"

static struct ks_framer *framer;
static struct ks_dictionary *dictionary, *other_dictionary;
static struct ks_buf dictionary_bytes;

#define ID 32768
#define OTHER_ID 32769

/* Texts that are alike as records are: enough for a dictionary. */
static void
make_samples(struct ks_buf *samples, size_t *sizes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		size_t before = samples->len;

		ks_buf_printf(samples, "{\"apiVersion\":\"example/v1\",\"kind\":"
			"\"Sample\",\"spec\":{\"number\":%zu,\"square\":%zu,"
			"\"text\":\"sample number %zu of many\"}}", i, i * i,
			i * 7919 % 1000);
		sizes[i] = samples->len - before;
	}
}

#define SAMPLES 1500

static int
setup(void **state)
{
	static size_t sizes[SAMPLES];
	struct ks_buf samples = KS_BUF_INIT;
	struct ks_buf other = KS_BUF_INIT;
	bool ok;

	(void)state;
	make_samples(&samples, sizes, SAMPLES);
	ok = ks_framer_new(&framer, NULL) == KS_OK &&
		ks_dictionary_train(ks_buf_span(&samples), sizes, SAMPLES, ID,
			&dictionary_bytes, NULL) == KS_OK &&
		ks_dictionary_train(ks_buf_span(&samples), sizes, SAMPLES,
			OTHER_ID, &other, NULL) == KS_OK &&
		ks_dictionary_new(&dictionary, ks_buf_span(&dictionary_bytes),
			NULL) == KS_OK &&
		ks_dictionary_new(&other_dictionary, ks_buf_span(&other),
			NULL) == KS_OK;
	ks_buf_release(&samples);
	ks_buf_release(&other);
	return !ok;
}

static int
teardown(void **state)
{
	(void)state;
	ks_framer_free(framer);
	ks_dictionary_free(dictionary);
	ks_dictionary_free(other_dictionary);
	ks_buf_release(&dictionary_bytes);
	return 0;
}

static const char body_text[] = "{\"apiVersion\":\"example/v1\",\"kind\":"
	"\"Sample\",\"spec\":{\"number\":3,\"text\":\"aaaaaaaaaaaaaaaaaaaa\"}}";

static struct ks_span
body(void)
{
	return ks_span_text(body_text);
}

static void
pack(struct ks_span text, const struct ks_dictionary *with,
	struct ks_buf *out)
{
	assert_int_equal(ks_frame_pack(framer, text, with, out, NULL), KS_OK);
}

/* ---- there and back ---------------------------------------------------- */

static void
bodies_of_every_size_come_back(void **state)
{
	static const size_t sizes[] = {
		0, 1, 2, 255, 256, 257, 65535, 65536, 65791, 65792, 1048576,
	};
	uint8_t *bytes = calloc(1, 1048576);
	size_t i, k;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < 1048576; i++)
		bytes[i] = (uint8_t)(i * 2654435761U >> 24);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (k = 0; k < 2; k++) {
			const struct ks_dictionary *with =
				k == 0 ? NULL : dictionary;
			struct ks_span text = ks_span(bytes, sizes[i]);
			struct ks_buf frame = KS_BUF_INIT;
			struct ks_buf back = KS_BUF_INIT;
			struct ks_frame_info info;

			pack(text, with, &frame);
			assert_int_equal(ks_frame_inspect(ks_buf_span(&frame),
				KS_LIMIT_RECORD, &info, NULL), KS_OK);
			assert_int_equal(info.content_size, sizes[i]);
			assert_int_equal(info.dictionary_id, k == 0 ? 0 : ID);
			ks_buf_text(&back, "before");
			assert_int_equal(ks_frame_unpack(framer,
				ks_buf_span(&frame), KS_LIMIT_RECORD, with,
				&back, NULL), KS_OK);
			assert_int_equal(back.len, 6 + sizes[i]);
			assert_memory_equal(back.data, "before", 6);
			assert_memory_equal(back.data + 6, bytes, sizes[i]);
			ks_buf_release(&frame);
			ks_buf_release(&back);
		}
	free(bytes);
}

static void
a_dictionary_makes_like_texts_shorter(void **state)
{
	struct ks_buf plain = KS_BUF_INIT;
	struct ks_buf small = KS_BUF_INIT;

	(void)state;
	pack(body(), NULL, &plain);
	pack(body(), dictionary, &small);
	assert_true(small.len < plain.len);
	ks_buf_release(&plain);
	ks_buf_release(&small);
}

static void
frames_are_appended(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_buf back = KS_BUF_INIT;

	(void)state;
	ks_buf_text(&out, "head");
	pack(body(), NULL, &out);
	assert_memory_equal(out.data, "head", 4);
	assert_int_equal(ks_frame_unpack(framer, ks_span(out.data + 4,
		out.len - 4), KS_LIMIT_RECORD, NULL, &back, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&back), body()));
	ks_buf_release(&out);
	ks_buf_release(&back);
}

/* F8: any level is right, and so is a checksum (F6). */
static void
frames_of_other_writers_are_read(void **state)
{
	int level;

	(void)state;
	for (level = -5; level <= 19; level += 3) {
		uint8_t frame[1024];
		ZSTD_CCtx *ctx = ZSTD_createCCtx();
		struct ks_buf back = KS_BUF_INIT;
		size_t len;

		assert_non_null(ctx);
		(void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel,
			level);
		(void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag,
			level & 1);
		len = ZSTD_compress2(ctx, frame, sizeof(frame), body_text,
			strlen(body_text));
		assert_false(ZSTD_isError(len));
		assert_int_equal(ks_frame_unpack(framer, ks_span(frame, len),
			KS_LIMIT_RECORD, NULL, &back, NULL), KS_OK);
		assert_true(ks_span_equal(ks_buf_span(&back), body()));
		ks_buf_release(&back);
		(void)ZSTD_freeCCtx(ctx);
	}
}

/* ---- headers: RFC 8878 section 3.1.1.1 --------------------------------- */

/* Descriptor bits: 7-6 size of the content size, 5 single segment, 4 unused,
 * 3 reserved, 2 checksum, 1-0 size of the dictionary id. */
static const struct {
	const char *hex;
	uint64_t limit;
	enum ks_status status;
	uint64_t content_size;
	uint32_t dictionary_id;
	const char *says;
} headers[] = {
	/* Sizes of one, two, four and eight bytes. */
	{ "28b52ffd" "20" "05" "00", 5, KS_OK, 5, 0, "" },
	{ "28b52ffd" "60" "0000" "00", 256, KS_OK, 256, 0, "" },
	{ "28b52ffd" "60" "ffff" "00", 65791, KS_OK, 65791, 0, "" },
	{ "28b52ffd" "a0" "01000000" "00", 99, KS_OK, 1, 0, "" },
	{ "28b52ffd" "e0" "0100000000000000" "00", 99, KS_OK, 1, 0, "" },
	{ "28b52ffd" "24" "05" "00", 5, KS_OK, 5, 0, "" },
	/* With a window descriptor: 1 KiB, 1 MiB, and what is over. */
	{ "28b52ffd" "40" "00" "0000" "00", 256, KS_OK, 256, 0, "" },
	{ "28b52ffd" "40" "50" "0000" "00", 256, KS_OK, 256, 0, "" },
	{ "28b52ffd" "40" "51" "0000" "00", 256, KS_CORRUPT, 0, 0, "window" },
	{ "28b52ffd" "40" "58" "0000" "00", 256, KS_CORRUPT, 0, 0, "window" },
	{ "28b52ffd" "40" "58" "0000" "00", 2097152, KS_OK, 256, 0, "" },
	{ "28b52ffd" "40" "ff" "0000" "00", 67108864, KS_CORRUPT, 0, 0,
		"window" },
	/* Dictionary ids of one, two and four bytes. */
	{ "28b52ffd" "21" "07" "05" "00", 5, KS_OK, 5, 7, "" },
	{ "28b52ffd" "22" "0180" "05" "00", 5, KS_OK, 5, 32769, "" },
	{ "28b52ffd" "23" "ffffffff" "05" "00", 5, KS_OK, 5, 4294967295U,
		"" },
	{ "28b52ffd" "23" "00000000" "05" "00", 5, KS_OK, 5, 0, "" },
	/* F1 */
	{ "", 5, KS_CORRUPT, 0, 0, "empty" },
	{ "28", 5, KS_CORRUPT, 0, 0, "truncated" },
	{ "28b52ffd", 5, KS_CORRUPT, 0, 0, "truncated" },
	{ "28b52ffd" "20", 5, KS_CORRUPT, 0, 0, "truncated" },
	{ "28b52ffd" "60" "00", 999, KS_CORRUPT, 0, 0, "truncated" },
	{ "28b52ffd" "e0" "01000000000000", 99, KS_CORRUPT, 0, 0,
		"truncated" },
	{ "28b52ffd" "23" "ffffff" "05", 99, KS_CORRUPT, 0, 0, "truncated" },
	{ "27b52ffd" "20" "05" "00", 5, KS_CORRUPT, 0, 0, "not a zstd" },
	{ "502a4d18" "04000000" "00000000", 5, KS_CORRUPT, 0, 0,
		"not a zstd" },	/* skippable */
	{ "fd2fb528" "20" "05" "00", 5, KS_CORRUPT, 0, 0, "not a zstd" },
	/* F2 */
	{ "28b52ffd" "00" "00" "00" "00", 5, KS_CORRUPT, 0, 0,
		"does not state" },
	{ "28b52ffd" "04" "58" "00" "00", 5, KS_CORRUPT, 0, 0,
		"does not state" },
	/* F3 */
	{ "28b52ffd" "28" "05" "00", 5, KS_CORRUPT, 0, 0, "reserved" },
	{ "28b52ffd" "30" "05" "00", 5, KS_CORRUPT, 0, 0, "reserved" },
	{ "28b52ffd" "38" "05" "00", 5, KS_CORRUPT, 0, 0, "reserved" },
	/* F4 */
	{ "28b52ffd" "20" "06" "00", 5, KS_CORRUPT, 0, 0, "6 bytes" },
	{ "28b52ffd" "60" "0000" "00", 255, KS_CORRUPT, 0, 0, "256 bytes" },
	{ "28b52ffd" "a0" "01001000" "00", 1048576, KS_CORRUPT, 0, 0,
		"1048577 bytes" },
	{ "28b52ffd" "a0" "00001000" "00", 1048576, KS_OK, 1048576, 0, "" },
	{ "28b52ffd" "e0" "ffffffffffffffff" "00", 67108864, KS_CORRUPT, 0, 0,
		"18446744073709551615 bytes" },
	{ "28b52ffd" "e0" "0000000001000000" "00", 67108864, KS_CORRUPT, 0, 0,
		"4294967296 bytes" },
};

static void
headers_are_judged_before_anything_is_allocated(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		size_t len = strlen(headers[i].hex) / 2;
		uint8_t *frame = malloc(len + 1);
		struct ks_error err = KS_ERROR_INIT;
		struct ks_frame_info info;
		enum ks_status status;

		assert_non_null(frame);
		assert_true(ks_hex_decode(ks_span_text(headers[i].hex), frame,
			len));
		frame = realloc(frame, len == 0 ? 1 : len);
		assert_non_null(frame);
		status = ks_frame_inspect(ks_span(frame, len),
			headers[i].limit, &info, &err);
		if (status != headers[i].status ||
			strstr(err.message, headers[i].says) == NULL)
			fail_msg("row %zu: %s", i, err.message);
		if (status == KS_OK) {
			assert_int_equal(info.content_size,
				headers[i].content_size);
			assert_int_equal(info.dictionary_id,
				headers[i].dictionary_id);
		}
		free(frame);
	}
}

/* ---- damage ------------------------------------------------------------ */

static enum ks_status
unpack(struct ks_span frame, const struct ks_dictionary *with,
	struct ks_buf *back, struct ks_error *err)
{
	enum ks_status status = ks_frame_unpack(framer, frame,
		KS_LIMIT_RECORD, with, back, err);

	if (status != KS_OK)
		assert_int_equal(back->len, 0);
	return status;
}

static void
assert_corrupt(struct ks_span frame, const struct ks_dictionary *with,
	const char *says)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf back = KS_BUF_INIT;

	if (unpack(frame, with, &back, &err) != KS_CORRUPT ||
		strstr(err.message, says) == NULL)
		fail_msg("\"%s\", not \"%s\"", err.message, says);
	ks_buf_release(&back);
}

static void
a_frame_cut_anywhere_is_refused(void **state)
{
	struct ks_buf frame = KS_BUF_INIT;
	size_t len;

	(void)state;
	pack(body(), NULL, &frame);
	for (len = 0; len < frame.len; len++) {
		uint8_t *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, frame.data, len);
		assert_corrupt(ks_span(copy, len), NULL, "");
		free(copy);
	}
	ks_buf_release(&frame);
}

/* F1: nothing after the frame, not even another one. */
static void
bytes_after_a_frame_are_refused(void **state)
{
	struct ks_buf one = KS_BUF_INIT;
	struct ks_buf frame = KS_BUF_INIT;
	size_t len;

	(void)state;
	pack(body(), NULL, &one);
	len = one.len;
	ks_buf_append(&frame, ks_buf_span(&one));
	ks_buf_byte(&frame, 0);
	assert_corrupt(ks_buf_span(&frame), NULL, "1 bytes follow");
	frame.len = len;
	ks_buf_append(&frame, ks_buf_span(&one));
	assert_corrupt(ks_buf_span(&frame), NULL, "follow");
	frame.len = len;
	ks_buf_append(&frame, ks_span("\x50\x2a\x4d\x18\0\0\0\0", 8));
	assert_corrupt(ks_buf_span(&frame), NULL, "8 bytes follow");
	ks_buf_release(&one);
	ks_buf_release(&frame);
}

/* The address catches what zstd does not: no flip gives the same body but
 * those that change nothing of it, and then the sha256 is the same. */
static void
flip_every_bit(const struct ks_buf *frame, const struct ks_dictionary *with)
{
	struct ks_id wanted, found;
	struct ks_buf back = KS_BUF_INIT;
	uint8_t *copy = malloc(frame->len);
	size_t bit;

	assert_non_null(copy);
	ks_sha256(body(), &wanted);
	for (bit = 0; bit < frame->len * 8; bit++) {
		memcpy(copy, frame->data, frame->len);
		copy[bit / 8] ^= (uint8_t)(1U << bit % 8);
		ks_buf_clear(&back);
		if (unpack(ks_span(copy, frame->len), with, &back, NULL) !=
			KS_OK)
			continue;
		ks_sha256(ks_buf_span(&back), &found);
		assert_int_equal(ks_id_equal(&found, &wanted),
			ks_span_equal(ks_buf_span(&back), body()));
	}
	free(copy);
	ks_buf_release(&back);
}

static void
every_flipped_bit_is_refused_or_gives_another_body(void **state)
{
	struct ks_buf frame = KS_BUF_INIT;

	(void)state;
	pack(body(), NULL, &frame);
	flip_every_bit(&frame, NULL);
	ks_buf_clear(&frame);
	pack(body(), dictionary, &frame);
	flip_every_bit(&frame, dictionary);
	ks_buf_release(&frame);
}

/* F6: with a checksum every flip is found by the frame itself. */
static void
a_checksum_finds_every_flipped_bit_of_the_data(void **state)
{
	uint8_t frame[1024];
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	struct ks_buf back = KS_BUF_INIT;
	size_t len, bit;

	(void)state;
	assert_non_null(ctx);
	(void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
	len = ZSTD_compress2(ctx, frame, sizeof(frame), body_text,
		strlen(body_text));
	assert_false(ZSTD_isError(len));
	for (bit = 0; bit < len * 8; bit++) {
		enum ks_status status;

		frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
		ks_buf_clear(&back);
		status = unpack(ks_span(frame, len), NULL, &back, NULL);
		if (status == KS_OK &&
			!ks_span_equal(ks_buf_span(&back), body()))
			fail_msg("bit %zu", bit);
		frame[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
	ks_buf_release(&back);
	(void)ZSTD_freeCCtx(ctx);
}

/* F2: a raw block of 3 bytes in a frame that states 2 or 4. */
static void
another_length_than_stated_is_refused(void **state)
{
	static const uint8_t sizes[] = { 0, 1, 2, 4, 200 };
	uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0,
		'a', 'b', 'c' };
	struct ks_buf back = KS_BUF_INIT;
	size_t i;

	(void)state;
	assert_int_equal(unpack(ks_span(frame, sizeof(frame)), NULL, &back,
		NULL), KS_OK);
	assert_true(ks_span_is(ks_buf_span(&back), "abc"));
	for (i = 0; i < sizeof(sizes); i++) {
		frame[5] = sizes[i];
		assert_corrupt(ks_span(frame, sizeof(frame)), NULL, "damaged");
	}
	ks_buf_release(&back);
}

/* F4: memory is that of the limit, whatever the frame would unpack to. */
static void
a_body_over_the_limit_is_refused_before_it_is_unpacked(void **state)
{
	struct ks_buf frame = KS_BUF_INIT;
	struct ks_buf back = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	pack(body(), NULL, &frame);
	assert_int_equal(ks_frame_unpack(framer, ks_buf_span(&frame),
		body().len - 1, NULL, &back, &err), KS_CORRUPT);
	assert_null(back.data);
	assert_int_equal(ks_frame_unpack(framer, ks_buf_span(&frame),
		body().len, NULL, &back, &err), KS_OK);
	ks_buf_release(&frame);
	ks_buf_release(&back);
}

/* ---- dictionaries ------------------------------------------------------ */

/* F7 */
static void
a_frame_is_unpacked_only_with_the_dictionary_that_it_names(void **state)
{
	struct ks_buf plain = KS_BUF_INIT;
	struct ks_buf frame = KS_BUF_INIT;

	(void)state;
	pack(body(), NULL, &plain);
	pack(body(), dictionary, &frame);
	assert_corrupt(ks_buf_span(&frame), NULL, "dictionary 32768");
	assert_corrupt(ks_buf_span(&frame), other_dictionary,
		"dictionary 32768");
	assert_corrupt(ks_buf_span(&plain), dictionary, "dictionary 0");
	ks_buf_release(&plain);
	ks_buf_release(&frame);
}

static void
a_dictionary_has_the_id_it_was_trained_for(void **state)
{
	(void)state;
	assert_int_equal(ks_dictionary_id(dictionary), ID);
	assert_int_equal(ks_dictionary_id(other_dictionary), OTHER_ID);
	assert_memory_equal(dictionary_bytes.data, "\x37\xa4\x30\xec"
		"\x00\x80\x00\x00", 8);
}

static void
the_same_samples_give_the_same_dictionary(void **state)
{
	static size_t sizes[SAMPLES];
	struct ks_buf samples = KS_BUF_INIT;
	struct ks_buf again = KS_BUF_INIT;

	(void)state;
	make_samples(&samples, sizes, SAMPLES);
	assert_int_equal(ks_dictionary_train(ks_buf_span(&samples), sizes,
		SAMPLES, ID, &again, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&again),
		ks_buf_span(&dictionary_bytes)));
	ks_buf_release(&samples);
	ks_buf_release(&again);
}

static void
samples_that_teach_nothing_are_refused(void **state)
{
	static const size_t counts[] = { 0, 1, 4 };
	size_t sizes[4] = { 1, 1, 1, 1 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf out = KS_BUF_INIT;

		assert_int_equal(ks_dictionary_train(ks_span("aaaa",
			counts[i]), sizes, counts[i], ID, &out, &err),
			KS_INVALID);
		assert_int_equal(out.len, 0);
		assert_non_null(strstr(err.message, "dictionary"));
		ks_buf_release(&out);
	}
}

/* T15: a raw-content dictionary is none. */
static void
what_is_no_dictionary_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} table[] = {
		{ "", 0 },
		{ "\x37", 1 },
		{ "\x37\xa4\x30\xec", 4 },
		{ "\x37\xa4\x30\xec\0\x80\0", 7 },
		{ "\x37\xa4\x30\xec\0\x80\0\0", 8 },
		{ "\x37\xa4\x30\xec\0\0\0\0 and no id", 18 },
		{ "just some text that is long enough for content", 46 },
		{ "\x28\xb5\x2f\xfd\x20\0\1\0\0", 9 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_dictionary *made = NULL;
		struct ks_error err = KS_ERROR_INIT;

		if (ks_dictionary_new(&made, ks_span(table[i].bytes,
			table[i].len), &err) != KS_CORRUPT)
			fail_msg("row %zu", i);
		assert_null(made);
		assert_non_null(strstr(err.message, "dictionary"));
	}
}

static void
a_dictionary_cut_in_its_tables_is_refused(void **state)
{
	size_t len;

	(void)state;
	for (len = 0; len < 64; len++) {
		struct ks_dictionary *made = NULL;

		assert_int_equal(ks_dictionary_new(&made, ks_span(
			dictionary_bytes.data, len), NULL), KS_CORRUPT);
		assert_null(made);
	}
}

/* ---- input ------------------------------------------------------------- */

/* Feed everything, `step` bytes of input at a time. */
static enum ks_status
inflate(struct ks_span in, size_t step, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_inflater *inflater = NULL;
	enum ks_status status = ks_inflater_new(&inflater, err);

	while (status == KS_OK && in.len > 0) {
		struct ks_span part = ks_span(in.data,
			in.len < step ? in.len : step);
		size_t before = part.len;
		size_t had = out->len;

		status = ks_inflater_step(inflater, &part, 64, out, err);
		assert_true(status != KS_OK || out->len - had <= 64);
		in.data += before - part.len;
		in.len -= before - part.len;
	}
	/* What is left inside comes out without input. */
	while (status == KS_OK) {
		struct ks_span none = ks_span(NULL, 0);
		size_t had = out->len;

		status = ks_inflater_step(inflater, &none, 64, out, err);
		if (out->len == had)
			break;
	}
	if (status == KS_OK)
		status = ks_inflater_end(inflater, err);
	ks_inflater_free(inflater);
	return status;
}

static void
input_of_any_number_of_frames_is_inflated_in_steps(void **state)
{
	static const size_t steps[] = { 1, 2, 7, 100, 100000 };
	struct ks_buf in = KS_BUF_INIT;
	size_t i;

	(void)state;
	pack(body(), NULL, &in);
	ks_buf_append(&in, ks_span("\x50\x2a\x4d\x18\3\0\0\0abc", 11));
	pack(body(), NULL, &in);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct ks_buf out = KS_BUF_INIT;

		assert_int_equal(inflate(ks_buf_span(&in), steps[i], &out,
			NULL), KS_OK);
		assert_int_equal(out.len, 2 * body().len);
		assert_memory_equal(out.data + body().len, body_text,
			body().len);
		ks_buf_release(&out);
	}
	ks_buf_release(&in);
}

static void
input_cut_short_is_refused(void **state)
{
	struct ks_buf in = KS_BUF_INIT;
	size_t len;

	(void)state;
	pack(body(), NULL, &in);
	for (len = 1; len < in.len; len++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf out = KS_BUF_INIT;

		assert_int_equal(inflate(ks_span(in.data, len), 7, &out,
			&err), KS_INVALID);
		assert_string_equal(err.message, "truncated zstd data");
		ks_buf_release(&out);
	}
	ks_buf_release(&in);
}

static void
damaged_input_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} table[] = {
		{ "plain text", 10 },
		{ "{\"a\":1}\n", 8 },
		{ "\x28\xb5\x2f\xfd\x28\5\0\0\0", 9 },	/* reserved bit */
		{ "\x28\xb5\x2f\xfd\x20\3\x1f\0\0abc", 12 },	/* block type */
		{ "\x28\xb5\x2f\xfd\x20\2\x19\0\0abc", 12 },	/* size */
		{ "\x28\xb5\x2f\xfd\x00\x90\1\0\0", 9 },	/* window */
		{ "\x28\xb5\x2f\xfd\x21\7\0\1\0\0abcdefgh", 18 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf out = KS_BUF_INIT;

		if (inflate(ks_span(table[i].bytes, table[i].len), 100, &out,
			&err) != KS_INVALID)
			fail_msg("row %zu", i);
		assert_non_null(strstr(err.message, "zstd data"));
		ks_buf_release(&out);
	}
}

static void
no_input_at_all_is_complete(void **state)
{
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	assert_int_equal(inflate(ks_span(NULL, 0), 1, &out, NULL), KS_OK);
	assert_int_equal(out.len, 0);
	ks_buf_release(&out);
	ks_inflater_free(NULL);
	ks_framer_free(NULL);
	ks_dictionary_free(NULL);
}

/* ---- one frame as a stream (S8) ---------------------------------------- */

/* Feed everything, `step` bytes of input at a time, to a strict decoder. */
static enum ks_status
inflate_single(struct ks_span in, size_t step, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_inflater *inflater = NULL;
	enum ks_status status = ks_inflater_new_single(&inflater, err);

	while (status == KS_OK && in.len > 0) {
		struct ks_span part = ks_span(in.data,
			in.len < step ? in.len : step);
		size_t before = part.len;

		status = ks_inflater_step(inflater, &part, 64, out, err);
		in = ks_span(in.data + (before - part.len),
			in.len - (before - part.len));
	}
	while (status == KS_OK) {
		struct ks_span none = ks_span(NULL, 0);
		size_t had = out->len;

		status = ks_inflater_step(inflater, &none, 64, out, err);
		if (out->len == had)
			break;
	}
	if (status == KS_OK)
		status = ks_inflater_end(inflater, err);
	ks_inflater_free(inflater);
	return status;
}

/* Deflate in pieces of `step` bytes, of input and of output. */
static void
deflate_in(struct ks_span in, int level, size_t step, struct ks_buf *out)
{
	struct ks_deflater *deflater = NULL;

	assert_int_equal(ks_deflater_new(&deflater, level, NULL), KS_OK);
	while (in.len > 0) {
		struct ks_span part = ks_span(in.data,
			in.len < step ? in.len : step);
		size_t before = part.len, had = out->len;

		assert_int_equal(ks_deflater_step(deflater, &part, step, out,
			NULL), KS_OK);
		assert_true(out->len - had <= step);
		in = ks_span(in.data + (before - part.len),
			in.len - (before - part.len));
	}
	assert_int_equal(ks_deflater_end(deflater, out, NULL), KS_OK);
	ks_deflater_free(deflater);
}

/* Bytes that compress, but not to nothing. */
static void
make_text(struct ks_buf *out, size_t len)
{
	uint32_t x = 1;

	while (out->len < len) {
		x = x * 1103515245U + 12345U;
		ks_buf_byte(out, (uint8_t)(x >> 16 & 15));
	}
}

static void
a_deflated_stream_is_one_frame_with_a_checksum(void **state)
{
	static const size_t lens[] = { 0, 1, 1000, 300000 };
	static const size_t chunks[] = { 1000, 1000000 };
	static const int levels[] = { 3, 19 };
	size_t i, k, l;

	(void)state;
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		for (k = 0; k < 2; k++)
			for (l = 0; l < 2; l++) {
				struct ks_buf text = KS_BUF_INIT;
				struct ks_buf frame = KS_BUF_INIT;
				struct ks_buf back = KS_BUF_INIT;

				make_text(&text, lens[i]);
				ks_buf_text(&frame, "kept");
				deflate_in(ks_buf_span(&text), levels[l],
					chunks[k], &frame);
				assert_memory_equal(frame.data, "kept"
					"\x28\xb5\x2f\xfd", 8);
				/* Checksum; no dictionary, no bit unused. */
				assert_int_equal(frame.data[8] & 0x1f, 0x04);
				assert_int_equal(ZSTD_findFrameCompressedSize(
					frame.data + 4, frame.len - 4),
					frame.len - 4);
				assert_int_equal(inflate_single(ks_span(
					frame.data + 4, frame.len - 4), 777,
					&back, NULL), KS_OK);
				assert_true(ks_span_equal(ks_buf_span(&back),
					ks_buf_span(&text)));
				ks_buf_release(&text);
				ks_buf_release(&frame);
				ks_buf_release(&back);
			}
}

/* The frame of an object, made in steps. */
static void
pack_in_steps(struct ks_span body, size_t step, struct ks_buf *out)
{
	struct ks_deflater *deflater = NULL;

	assert_int_equal(ks_deflater_new_sized(&deflater, KS_FRAME_LEVEL,
		body.len, NULL), KS_OK);
	while (body.len > 0) {
		struct ks_span part = ks_span(body.data,
			body.len < step ? body.len : step);
		size_t before = part.len;

		assert_int_equal(ks_deflater_step(deflater, &part, step, out,
			NULL), KS_OK);
		body = ks_span(body.data + (before - part.len),
			body.len - (before - part.len));
	}
	assert_int_equal(ks_deflater_end(deflater, out, NULL), KS_OK);
	ks_deflater_free(deflater);
}

static enum ks_status
take_piece(void *arg, struct ks_span piece, struct ks_error *err)
{
	assert_true(piece.len > 0);
	ks_buf_append(arg, piece);
	return ks_buf_check(arg, err);
}

static void
a_frame_made_in_steps_is_that_of_an_object(void **state)
{
	static const size_t lens[] = { 0, 1, 255, 256, 1000, 65792, 131072,
		300000, 3 << 20 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct ks_buf text = KS_BUF_INIT, frame = KS_BUF_INIT;
		struct ks_buf whole = KS_BUF_INIT, pieces = KS_BUF_INIT;
		struct ks_frame_info info;

		make_text(&text, lens[i]);
		pack_in_steps(ks_buf_span(&text), 70000, &frame);
		assert_int_equal(ks_frame_inspect(ks_buf_span(&frame),
			KS_LIMIT_RAW, &info, NULL), KS_OK);
		assert_int_equal(info.content_size, lens[i]);
		assert_int_equal(info.dictionary_id, 0);
		/* No checksum, no bit unused. */
		assert_int_equal(frame.data[4] & 0x1f, 0);
		assert_int_equal(ks_frame_unpack(framer, ks_buf_span(&frame),
			KS_LIMIT_RAW, NULL, &whole, NULL), KS_OK);
		assert_true(ks_span_equal(ks_buf_span(&whole),
			ks_buf_span(&text)));
		assert_int_equal(ks_frame_unpack_pieces(framer,
			ks_buf_span(&frame), KS_LIMIT_RAW, NULL, take_piece,
			&pieces, NULL), KS_OK);
		assert_true(ks_span_equal(ks_buf_span(&pieces),
			ks_buf_span(&text)));
		ks_buf_release(&text);
		ks_buf_release(&frame);
		ks_buf_release(&whole);
		ks_buf_release(&pieces);
	}
}

/* Whether both ways of unpacking say the same of a frame. */
static void
assert_same_verdict(struct ks_span frame, const struct ks_dictionary *with)
{
	struct ks_buf whole = KS_BUF_INIT, pieces = KS_BUF_INIT;
	struct ks_error a = KS_ERROR_INIT, b = KS_ERROR_INIT;
	enum ks_status status = ks_frame_unpack(framer, frame, 4000, with,
		&whole, &a);

	if (ks_frame_unpack_pieces(framer, frame, 4000, with, take_piece,
		&pieces, &b) != status)
		fail_msg("whole: %s; in pieces: %s", a.message, b.message);
	if (status == KS_OK)
		assert_true(ks_span_equal(ks_buf_span(&whole),
			ks_buf_span(&pieces)));
	ks_buf_release(&whole);
	ks_buf_release(&pieces);
}

static void
pieces_are_judged_as_the_whole_is(void **state)
{
	struct ks_buf text = KS_BUF_INIT, frame = KS_BUF_INIT;
	struct ks_buf longer = KS_BUF_INIT;
	size_t i;

	(void)state;
	make_text(&text, 3000);
	pack_in_steps(ks_buf_span(&text), 1000, &frame);
	for (i = 0; i <= frame.len; i++)
		assert_same_verdict(ks_span(frame.data, i), NULL);
	for (i = 0; i < 8 * frame.len; i++) {
		frame.data[i / 8] ^= (uint8_t)(1U << i % 8);
		assert_same_verdict(ks_buf_span(&frame), NULL);
		frame.data[i / 8] ^= (uint8_t)(1U << i % 8);
	}
	ks_buf_append(&frame, ks_span("x", 1));
	assert_same_verdict(ks_buf_span(&frame), NULL);
	make_text(&text, 4001);
	pack_in_steps(ks_buf_span(&text), 1000, &longer);
	assert_same_verdict(ks_buf_span(&longer), NULL);
	ks_buf_release(&text);
	ks_buf_release(&frame);
	ks_buf_release(&longer);
}

static void
pieces_of_a_frame_with_a_dictionary_come_back(void **state)
{
	struct ks_buf frame = KS_BUF_INIT, plain = KS_BUF_INIT;
	int i;

	(void)state;
	assert_int_equal(ks_frame_pack(framer, body(), dictionary, &frame,
		NULL), KS_OK);
	assert_int_equal(ks_frame_pack(framer, body(), NULL, &plain, NULL),
		KS_OK);
	/* Whichever came before. */
	for (i = 0; i < 2; i++) {
		assert_same_verdict(ks_buf_span(&frame), dictionary);
		assert_same_verdict(ks_buf_span(&plain), NULL);
		assert_same_verdict(ks_buf_span(&frame), other_dictionary);
		assert_same_verdict(ks_buf_span(&frame), NULL);
	}
	ks_buf_release(&frame);
	ks_buf_release(&plain);
}

static enum ks_status
refuse_piece(void *arg, struct ks_span piece, struct ks_error *err)
{
	(void)piece;
	(*(int *)arg)++;
	return ks_fail(err, KS_IO, "enough");
}

static void
whoever_takes_pieces_may_stop(void **state)
{
	struct ks_buf text = KS_BUF_INIT, frame = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	int calls = 0;

	(void)state;
	make_text(&text, 1 << 20);
	pack_in_steps(ks_buf_span(&text), 100000, &frame);
	assert_int_equal(ks_frame_unpack_pieces(framer, ks_buf_span(&frame),
		KS_LIMIT_RAW, NULL, refuse_piece, &calls, &err), KS_IO);
	assert_string_equal(err.message, "enough");
	assert_int_equal(calls, 1);
	assert_same_verdict(ks_buf_span(&frame), NULL);
	ks_buf_release(&text);
	ks_buf_release(&frame);
}

static void
a_deflater_is_not_used_after_its_end(void **state)
{
	struct ks_deflater *deflater = NULL;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_span more = ks_span_text("more");
	size_t len;

	(void)state;
	assert_int_equal(ks_deflater_new(&deflater, 3, NULL), KS_OK);
	assert_int_equal(ks_deflater_end(deflater, &out, NULL), KS_OK);
	len = out.len;
	assert_int_equal(ks_deflater_step(deflater, &more, 100, &out, NULL),
		KS_USAGE);
	assert_int_equal(ks_deflater_end(deflater, &out, NULL), KS_USAGE);
	assert_int_equal(out.len, len);
	assert_int_equal(more.len, 4);
	ks_deflater_free(deflater);
	ks_deflater_free(NULL);
	ks_buf_release(&out);
}

static void
levels_are_1_to_22(void **state)
{
	static const int wrong[] = { 0, -1, 23, 1000, -131072 };
	struct ks_deflater *deflater = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_deflater_new(&deflater, wrong[i], &err),
			KS_USAGE);
		assert_null(deflater);
		assert_non_null(strstr(err.message, "not 1 to 22"));
	}
	assert_int_equal(ks_deflater_new(&deflater, 22, NULL), KS_OK);
	ks_deflater_free(deflater);
}

/* As stock zstd writes one, with and without a content size. */
static void
a_single_frame_of_another_writer_is_read(void **state)
{
	uint8_t frame[1024];
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	size_t step, len;

	(void)state;
	assert_non_null(ctx);
	(void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
	len = ZSTD_compress2(ctx, frame, sizeof(frame), body_text,
		strlen(body_text));
	assert_false(ZSTD_isError(len));
	for (step = 1; step <= len; step++) {
		struct ks_buf back = KS_BUF_INIT;

		assert_int_equal(inflate_single(ks_span(frame, len), step,
			&back, NULL), KS_OK);
		assert_true(ks_span_equal(ks_buf_span(&back), body()));
		ks_buf_release(&back);
	}
	(void)ZSTD_freeCCtx(ctx);
}

/* A raw block of "abc", with its checksum: the low half of XXH64. */
#define ABC "\x28\xb5\x2f\xfd\x24\3\x19\0\0abc\x99\x09\x77\xad"
#define SKIPPABLE "\x50\x2a\x4d\x18\3\0\0\0abc"

static const struct {
	const char *bytes;
	size_t len;
	const char *says;	/* "": good */
} single[] = {
	{ ABC, 16, "" },
	{ "", 0, "truncated" },
	{ ABC, 3, "truncated" },
	{ ABC, 5, "truncated" },
	{ ABC, 12, "truncated" },
	{ ABC, 15, "truncated" },
	{ ABC "\0", 17, "bytes follow" },
	{ ABC ABC, 32, "bytes follow" },
	{ ABC SKIPPABLE, 27, "bytes follow" },
	{ SKIPPABLE ABC, 27, "not a zstd frame" },
	{ SKIPPABLE, 11, "not a zstd frame" },
	{ "abc", 3, "not a zstd frame" },
	{ "\x28\xb5\x2f\xfc", 4, "not a zstd frame" },
	{ "\x25\xb5\x2f\xfd\x24\3\x19\0\0abc", 12,
		"not a zstd frame" },	/* zstd 0.5 */
	{ "\x28\xb5\x2f\xfd\x20\3\x19\0\0abc", 12, "no checksum" },
	{ "\x28\xb5\x2f\xfd\x20", 5, "no checksum" },
	{ "\x28\xb5\x2f\xfd\x2c\3\x19\0\0abc", 12, "reserved bit" },
	{ "\x28\xb5\x2f\xfd\x34\3\x19\0\0abc\x99\x09\x77\xad", 16,
		"reserved bit" },
	{ "\x28\xb5\x2f\xfd\x24\3\x19\0\0abd\x99\x09\x77\xad", 16,
		"damaged" },
	{ "\x28\xb5\x2f\xfd\x24\3\x19\0\0abc\x99\x09\x77\xac", 16,
		"damaged" },
	{ "\x28\xb5\x2f\xfd\x24\2\x19\0\0abc\x99\x09\x77\xad", 16,
		"damaged" },
	{ "\x28\xb5\x2f\xfd\x24\3\x1f\0\0abc\x99\x09\x77\xad", 16,
		"damaged" },
	/* Dictionary 7; windows of 128 MiB and a little more. */
	{ "\x28\xb5\x2f\xfd\x25\7\3\x19\0\0abc\x99\x09\x77\xad", 17,
		"damaged" },
	{ "\x28\xb5\x2f\xfd\x04\x88\x19\0\0abc\x99\x09\x77\xad", 16,
		"" },
	{ "\x28\xb5\x2f\xfd\x04\x89\x19\0\0abc\x99\x09\x77\xad", 16,
		"damaged" },
	{ "\x28\xb5\x2f\xfd\x04\xf8\x19\0\0abc\x99\x09\x77\xad", 16,
		"damaged" },
	{ "\x28\xb5\x2f\xfd\xa4\1\0\0\x08\x19\0\0abc\x99\x09\x77\xad",
		19, "damaged" },
};

static void
anything_but_one_frame_with_a_checksum_is_refused(void **state)
{
	static const size_t chunks[] = { 1, 5, 100 };
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		for (k = 0; k < sizeof(chunks) / sizeof(chunks[0]); k++) {
			struct ks_error err = KS_ERROR_INIT;
			struct ks_buf out = KS_BUF_INIT;
			bool good = single[i].says[0] == '\0';
			enum ks_status status = inflate_single(ks_span(
				single[i].bytes, single[i].len), chunks[k],
				&out, &err);

			if (status != (good ? KS_OK : KS_CORRUPT) ||
				strstr(err.message, single[i].says) == NULL)
				fail_msg("row %zu, step %zu: %s", i,
					chunks[k], err.message);
			if (good)
				assert_true(ks_span_is(ks_buf_span(&out),
					"abc"));
			ks_buf_release(&out);
		}
}

/* Every bit counts but those that zstd does not read. */
static void
every_flipped_bit_of_a_single_frame_is_refused_or_changes_nothing(
	void **state)
{
	struct ks_buf frame = KS_BUF_INIT, text = KS_BUF_INIT;
	size_t bit;

	(void)state;
	make_text(&text, 100);
	deflate_in(ks_buf_span(&text), 3, 1000, &frame);
	for (bit = 0; bit < frame.len * 8; bit++) {
		struct ks_buf back = KS_BUF_INIT;
		enum ks_status status;

		frame.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
		status = inflate_single(ks_buf_span(&frame), 1000, &back,
			NULL);
		frame.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
		if (status == KS_OK)
			assert_true(ks_span_equal(ks_buf_span(&back),
				ks_buf_span(&text)));
		else
			assert_int_equal(status, KS_CORRUPT);
		ks_buf_release(&back);
	}
	ks_buf_release(&frame);
	ks_buf_release(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_of_every_size_come_back),
		cmocka_unit_test(a_dictionary_makes_like_texts_shorter),
		cmocka_unit_test(frames_are_appended),
		cmocka_unit_test(frames_of_other_writers_are_read),
		cmocka_unit_test(
			headers_are_judged_before_anything_is_allocated),
		cmocka_unit_test(a_frame_cut_anywhere_is_refused),
		cmocka_unit_test(bytes_after_a_frame_are_refused),
		cmocka_unit_test(
			every_flipped_bit_is_refused_or_gives_another_body),
		cmocka_unit_test(
			a_checksum_finds_every_flipped_bit_of_the_data),
		cmocka_unit_test(another_length_than_stated_is_refused),
		cmocka_unit_test(
			a_body_over_the_limit_is_refused_before_it_is_unpacked),
		cmocka_unit_test(
			a_frame_is_unpacked_only_with_the_dictionary_that_it_names),
		cmocka_unit_test(a_dictionary_has_the_id_it_was_trained_for),
		cmocka_unit_test(the_same_samples_give_the_same_dictionary),
		cmocka_unit_test(samples_that_teach_nothing_are_refused),
		cmocka_unit_test(what_is_no_dictionary_is_refused),
		cmocka_unit_test(a_dictionary_cut_in_its_tables_is_refused),
		cmocka_unit_test(
			input_of_any_number_of_frames_is_inflated_in_steps),
		cmocka_unit_test(input_cut_short_is_refused),
		cmocka_unit_test(damaged_input_is_refused),
		cmocka_unit_test(no_input_at_all_is_complete),
		cmocka_unit_test(
			a_deflated_stream_is_one_frame_with_a_checksum),
		cmocka_unit_test(a_frame_made_in_steps_is_that_of_an_object),
		cmocka_unit_test(pieces_are_judged_as_the_whole_is),
		cmocka_unit_test(
			pieces_of_a_frame_with_a_dictionary_come_back),
		cmocka_unit_test(whoever_takes_pieces_may_stop),
		cmocka_unit_test(a_deflater_is_not_used_after_its_end),
		cmocka_unit_test(levels_are_1_to_22),
		cmocka_unit_test(a_single_frame_of_another_writer_is_read),
		cmocka_unit_test(
			anything_but_one_frame_with_a_checksum_is_refused),
		cmocka_unit_test(
			every_flipped_bit_of_a_single_frame_is_refused_or_changes_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
