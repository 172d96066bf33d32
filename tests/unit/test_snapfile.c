#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "format/digest.h"
#include "format/entry.h"
#include "format/layout.h"
#include "format/proof.h"
#include "format/snapfile.h"
#include "format/tar.h"
#include "../lib/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- who is told ------------------------------------------------------- */

/* Writes down what it is told, so that nothing that differs looks the same,
 * and answers with sizes that were fixed before. */
struct teller {
	uint64_t size, from;
	struct ks_buf told;
	size_t calls;
	size_t fail_at;		/* this call says KS_UNTRUSTED */
	uint64_t next;		/* the next line is to be this one */
};

static enum ks_status
note_down(struct teller *teller, const char *what, struct ks_span bytes,
	struct ks_error *err)
{
	ks_buf_text(&teller->told, what);
	ks_buf_append(&teller->told, ks_span(&bytes.len, sizeof(bytes.len)));
	ks_buf_append(&teller->told, bytes);
	ks_buf_byte(&teller->told, '\n');
	if (++teller->calls == teller->fail_at)
		return ks_fail(err, KS_UNTRUSTED, "call %zu", teller->calls);
	return KS_OK;
}

static enum ks_status
tell_checkpoint(void *arg, struct ks_span note, uint64_t *size,
	struct ks_error *err)
{
	struct teller *teller = arg;

	*size = teller->size;
	return note_down(teller, "checkpoint", note, err);
}

static enum ks_status
tell_from(void *arg, struct ks_span note, uint64_t *from,
	struct ks_error *err)
{
	struct teller *teller = arg;

	*from = teller->next = teller->from;
	return note_down(teller, "from", note, err);
}

static enum ks_status
tell_range(void *arg, struct ks_span text, struct ks_error *err)
{
	return note_down(arg, "range", text, err);
}

static enum ks_status
tell_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct teller *teller = arg;

	assert_int_equal(index, teller->next);
	assert_true(index < teller->size);
	assert_true(line.len <= KS_ENTRY_MAX);
	teller->next++;
	return note_down(teller, "line", line, err);
}

static enum ks_status
tell_object(void *arg, const struct ks_id *id, struct ks_span body,
	struct ks_error *err)
{
	struct teller *teller = arg;
	char hex[KS_ID_HEX + 1];

	assert_int_equal(teller->next, teller->size);
	return note_down(teller, ks_id_print_hex(id, hex), body, err);
}

static struct ks_snapfile *
new_reader(struct teller *teller)
{
	const struct ks_snapfile_handler handler = {
		.arg = teller,
		.checkpoint = tell_checkpoint,
		.from_checkpoint = tell_from,
		.range = tell_range,
		.line = tell_line,
		.object = tell_object,
	};
	struct ks_snapfile *snapfile = NULL;

	ks_buf_clear(&teller->told);
	teller->calls = 0;
	teller->next = 0;
	assert_int_equal(ks_snapfile_new(&snapfile, &handler, NULL), KS_OK);
	return snapfile;
}

/* Read a stream in pieces of `step` bytes, each in memory of its own so that a
 * read behind it, or after it was given, is noticed. */
static enum ks_status
read_in(struct ks_span stream, size_t step, struct teller *teller,
	struct ks_error *err)
{
	struct ks_snapfile *snapfile = new_reader(teller);
	uint8_t *piece = malloc(step);
	enum ks_status status = KS_OK;

	assert_non_null(piece);
	while (status == KS_OK && stream.len > 0) {
		size_t len = stream.len < step ? stream.len : step;

		memcpy(piece, stream.data, len);
		status = ks_snapfile_feed(snapfile, ks_span(piece, len), err);
		memset(piece, 0x55, len);
		stream = ks_span(stream.data + len, stream.len - len);
	}
	if (status == KS_OK)
		status = ks_snapfile_end(snapfile, err);
	free(piece);
	ks_snapfile_free(snapfile);
	return status;
}

static enum ks_status
read_whole(struct ks_span stream, struct teller *teller,
	struct ks_error *err)
{
	struct ks_snapfile *snapfile = new_reader(teller);
	enum ks_status status = ks_snapfile_feed(snapfile, stream, err);

	if (status == KS_OK)
		status = ks_snapfile_end(snapfile, err);
	ks_snapfile_free(snapfile);
	return status;
}

/* ---- streams ----------------------------------------------------------- */

static enum ks_status
gather(void *arg, struct ks_span bytes, struct ks_error *err)
{
	(void)err;
	ks_buf_append(arg, bytes);
	return KS_OK;
}

static void
note_of(uint64_t size, struct ks_buf *out)
{
	ks_buf_clear(out);
	ks_buf_printf(out, "example.org/log\n%llu\nroot\n\nsigned\n",
		(unsigned long long)size);
}

/* "entry 0", "entry 1", and so on. */
static void
range_of(uint64_t size, struct ks_merkle *out)
{
	uint64_t i;

	*out = (struct ks_merkle){ .size = 0 };
	for (i = 0; i < size; i++) {
		char text[32];
		struct ks_id leaf;

		(void)snprintf(text, sizeof(text), "entry %llu",
			(unsigned long long)i);
		ks_merkle_leaf(ks_span_text(text), &leaf);
		ks_merkle_append(out, &leaf);
	}
}

static void
lines_of(uint64_t from, uint64_t to, struct ks_buf *out)
{
	ks_buf_clear(out);
	for (; from < to; from++)
		ks_buf_printf(out, "entry %llu\n", (unsigned long long)from);
}

/* Objects by the digit that fills their digest. */
static const struct {
	char digit;
	char fill;
	size_t len;
} objects[] = {
	{ '0', ' ', 0 }, { '1', '1', 3 }, { 'a', 'x', 512 },
	{ 'f', 'y', 513 },
};

static struct ks_id
id_of(char digit)
{
	char hex[KS_ID_HEX];
	struct ks_id id;

	memset(hex, digit, sizeof(hex));
	assert_true(ks_id_parse_hex(&id, ks_span(hex, sizeof(hex))));
	return id;
}

static void
write_objects(struct ks_snapwriter *writer, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct ks_id id = id_of(objects[i].digit);
		char body[520];

		memset(body, objects[i].fill, sizeof(body));
		if (objects[i].len == 3)
			memcpy(body, "one", 3);
		assert_int_equal(ks_snapwriter_object(writer, &id,
			ks_span(body, objects[i].len), NULL), KS_OK);
	}
}

/* The stream of a log of `size` entries, from `from` on; its digest. */
static struct ks_id
build(uint64_t size, uint64_t from, size_t count, struct ks_buf *out)
{
	struct ks_snapwriter *writer = NULL;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_merkle range;
	struct ks_id digest;
	uint64_t next = from;

	assert_int_equal(ks_snapwriter_new(&writer, gather, out, NULL),
		KS_OK);
	note_of(size, &text);
	assert_int_equal(ks_snapwriter_checkpoint(writer, ks_buf_span(&text),
		size, NULL), KS_OK);
	if (from > 0) {
		note_of(from, &text);
		range_of(from, &range);
		assert_int_equal(ks_snapwriter_from(writer,
			ks_buf_span(&text), &range, NULL), KS_OK);
	}
	while (next < size) {
		uint64_t end = (next / 256 + 1) * 256;

		end = end < size ? end : size;
		lines_of(next, end, &text);
		assert_int_equal(ks_snapwriter_segment(writer,
			ks_buf_span(&text), NULL), KS_OK);
		next = end;
	}
	write_objects(writer, count);
	assert_int_equal(ks_snapwriter_end(writer, &digest, NULL), KS_OK);
	ks_snapwriter_free(writer);
	ks_buf_release(&text);
	return digest;
}

/* Digests of the same streams as another program writes them. */
static const struct {
	uint64_t size, from;
	size_t objects;
	size_t len;
	const char *digest;
} streams[] = {
	{ 1, 0, 0, 3072, "eb0986dfca89bf00940b2ddd805749c7"
		"0ac7ed507fd5d99057efd59582a1d2ff" },
	{ 3, 0, 4, 7168, "abd4a48b5dc432dc890ddf82d95e5ea8"
		"9ffea47e347c94a41fe0da7cdbae8303" },
	{ 256, 0, 4, 9216, "5f13a53f3957b3311b1480a3508f955f"
		"114ccdcb3a2695c2f1aa7e1e4809bdaf" },
	{ 257, 0, 4, 10240, "2c2520950c383457a4c38235b0ab66b0"
		"dc009a0577541b781fca19a15af4b713" },
	{ 600, 0, 0, 9728, "cc4f44f894918dcdd0a0c49405aae691"
		"af8c82010264a0d04fb1ba0d74b9ca52" },
	{ 600, 300, 4, 12800, "b61cf6c74fa73364816685f10e78d3d1"
		"cfe06a93fc04093c8b18c35564c597aa" },
	{ 600, 512, 4, 9728, "fd50d0c7c5c18ce0519e1ad5cefe9baa"
		"450b0a2fb3f770c77c846e9fb44af7a0" },
	{ 600, 599, 1, 5632, "92e79e883652ddb5df662f7f4ff34086"
		"2f71907331df6365e03ff69ab6fd9179" },
	{ 70000, 65543, 4, 71168, "bb58894b8b06ae320d75a63f92f7f27b"
		"a511ecaacef815382f655e9570015c92" },
};

static void
streams_are_written_to_the_byte(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(streams); i++) {
		struct ks_buf out = KS_BUF_INIT;
		struct ks_id digest = build(streams[i].size, streams[i].from,
			streams[i].objects, &out), found;
		char hex[KS_ID_HEX + 1];

		assert_string_equal(ks_id_print_hex(&digest, hex),
			streams[i].digest);
		assert_int_equal(out.len, streams[i].len);
		ks_sha256(ks_buf_span(&out), &found);
		assert_true(ks_id_equal(&found, &digest));
		ks_buf_release(&out);
	}
}

/* What a reader of the stream is to be told. */
static void
expect(size_t row, struct ks_buf *out)
{
	uint64_t size = streams[row].size, from = streams[row].from;
	struct teller teller = { .told = KS_BUF_INIT };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_merkle range;
	size_t i;

	note_of(size, &text);
	(void)note_down(&teller, "checkpoint", ks_buf_span(&text), NULL);
	if (from > 0) {
		note_of(from, &text);
		(void)note_down(&teller, "from", ks_buf_span(&text), NULL);
		range_of(from, &range);
		ks_buf_clear(&text);
		ks_proof_range_print(&range, &text);
		(void)note_down(&teller, "range", ks_buf_span(&text), NULL);
	}
	for (; from < size; from++) {
		ks_buf_clear(&text);
		ks_buf_printf(&text, "entry %llu", (unsigned long long)from);
		(void)note_down(&teller, "line", ks_buf_span(&text), NULL);
	}
	for (i = 0; i < streams[row].objects; i++) {
		struct ks_id id = id_of(objects[i].digit);
		char hex[KS_ID_HEX + 1], body[520];

		memset(body, objects[i].fill, sizeof(body));
		(void)note_down(&teller, ks_id_print_hex(&id, hex),
			objects[i].len == 3 ? ks_span_text("one") :
			ks_span(body, objects[i].len), NULL);
	}
	*out = teller.told;
	ks_buf_release(&text);
}

static const size_t steps[] = { 1, 7, 511, 512, 513, 1000000 };

static void
what_was_written_is_told_in_pieces_of_any_size(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(streams); i++) {
		struct teller teller = { .size = streams[i].size,
			.from = streams[i].from };
		struct ks_buf stream = KS_BUF_INIT, wanted;

		(void)build(streams[i].size, streams[i].from,
			streams[i].objects, &stream);
		expect(i, &wanted);
		for (k = 0; k < COUNT(steps); k++) {
			struct ks_error err = KS_ERROR_INIT;

			if (read_in(ks_buf_span(&stream), steps[k], &teller,
				&err) != KS_OK)
				fail_msg("row %zu, step %zu: %s", i, steps[k],
					err.message);
			assert_true(ks_span_equal(ks_buf_span(&teller.told),
				ks_buf_span(&wanted)));
		}
		ks_buf_release(&stream);
		ks_buf_release(&wanted);
		ks_buf_release(&teller.told);
	}
}

/* ---- damage ------------------------------------------------------------ */

static void
a_stream_cut_anywhere_is_refused(void **state)
{
	struct teller teller = { .size = 600, .from = 599 };
	struct ks_buf stream = KS_BUF_INIT;
	size_t len;

	(void)state;
	(void)build(600, 599, 2, &stream);
	for (len = 0; len < stream.len; len++) {
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(read_whole(ks_span(stream.data, len),
			&teller, &err), KS_CORRUPT);
		assert_string_equal(err.message, "archive is cut short (S10)");
	}
	ks_buf_release(&stream);
	ks_buf_release(&teller.told);
}

/* No padding to a record, as other writers of tar have it. */
static void
a_stream_with_anything_after_it_is_refused(void **state)
{
	struct teller teller = { .size = 3 };
	struct ks_buf stream = KS_BUF_INIT;
	size_t i;
	unsigned c;

	(void)state;
	(void)build(3, 0, 2, &stream);
	ks_buf_byte(&stream, 0);
	for (c = 0; c < 256; c++) {
		stream.data[stream.len - 1] = (uint8_t)c;
		for (i = 0; i < COUNT(steps); i++) {
			struct ks_error err = KS_ERROR_INIT;

			assert_int_equal(read_in(ks_buf_span(&stream),
				steps[i], &teller, &err), KS_CORRUPT);
			assert_string_equal(err.message, "archive goes on "
				"after its two zero blocks (S10)");
		}
	}
	ks_buf_release(&stream);
	ks_buf_release(&teller.told);
}

/* Change every byte to every other, or flip every bit of it; how many changes
 * were accepted. */
static size_t
change_every_byte(struct teller *teller, struct ks_buf *stream, bool bits)
{
	struct ks_buf first = KS_BUF_INIT;
	size_t i, accepted = 0;
	unsigned c;

	assert_int_equal(read_whole(ks_buf_span(stream), teller, NULL),
		KS_OK);
	ks_buf_append(&first, ks_buf_span(&teller->told));
	for (i = 0; i < stream->len; i++)
		for (c = 1; c < 256; c = bits ? 2 * c : c + 1) {
			enum ks_status status;

			stream->data[i] ^= (uint8_t)c;
			status = read_whole(ks_buf_span(stream), teller,
				NULL);
			stream->data[i] ^= (uint8_t)c;
			if (status == KS_CORRUPT)
				continue;
			assert_int_equal(status, KS_OK);
			accepted++;
			if (ks_span_equal(ks_buf_span(&first),
				ks_buf_span(&teller->told)))
				fail_msg("byte %zu, %u", i, c);
		}
	ks_buf_release(&first);
	return accepted;
}

/* Only bytes of notes, lines, ranges and bodies may differ, and then they are
 * told as they are; a line's LF is no part of it, and no other byte of it can
 * become one. */
static void
every_changed_byte_is_refused_or_told(void **state)
{
	struct teller full = { .size = 3 }, part = { .size = 3, .from = 2 };
	struct ks_buf stream = KS_BUF_INIT;
	size_t note = strlen("example.org/log\n3\nroot\n\nsigned\n");
	/* Two million readings take minutes there (tests/lib/check.sh). */
	bool bits = getenv("VALGRIND") != NULL;

	(void)state;
	(void)build(3, 2, 2, &stream);
	assert_int_equal(change_every_byte(&part, &stream, bits),
		(2 * note + KS_PROOF_RANGE_LINE + strlen("one")) *
		(bits ? 8 : 255) + strlen("entry 2") * (bits ? 8 : 254));
	ks_buf_clear(&stream);
	(void)build(3, 0, 3, &stream);
	assert_int_equal(change_every_byte(&full, &stream, true),
		(note + strlen("one") + 512 + 3 * strlen("entry 0")) * 8);
	ks_buf_release(&stream);
	ks_buf_release(&full.told);
	ks_buf_release(&part.told);
}

/* ---- streams that nobody exports --------------------------------------- */

#define X64(c) c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c \
	c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c
#define NOTE "example.org/log\n2\nroot\n\nsigned\n"
#define LINES "a\nb\n"
#define SEGMENT "log/000/000.jsonl"
#define OBJECT(c) "objects/" X64(c)
#define HASH "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"

#define MEMBERS 6

struct member {
	const char *name;
	const char *body;
};

static void
add(struct ks_buf *out, const char *name, struct ks_span body)
{
	static const uint8_t zeros[KS_TAR_BLOCK];
	uint8_t block[KS_TAR_BLOCK];

	assert_int_equal(ks_tar_write(name, body.len, block, NULL), KS_OK);
	ks_buf_append(out, ks_span(block, sizeof(block)));
	ks_buf_append(out, body);
	ks_buf_append(out, ks_span(zeros, ks_tar_padding(body.len)));
}

static void
add_end(struct ks_buf *out)
{
	static const uint8_t zeros[2 * KS_TAR_BLOCK];

	ks_buf_append(out, ks_span(zeros, sizeof(zeros)));
}

static void
compose(const struct member *members, struct ks_buf *out)
{
	size_t i;

	for (i = 0; i < MEMBERS && members[i].name != NULL; i++)
		add(out, members[i].name, ks_span_text(members[i].body));
	add_end(out);
}

/* The log has two entries unless a row says otherwise. */
static const struct {
	struct member members[MEMBERS];
	const char *says;	/* "": good */
	uint64_t size, from;
} composed[] = {
	/* Good ones, of which the others are variants. */
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES } }, "", 2, 0 },
	{ { { "checkpoint", "" }, { SEGMENT, "\n\n" } }, "", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("0"), "" }, { OBJECT("1"), "x" } }, "", 2, 0 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH }, { SEGMENT, "b\n" } }, "", 2, 1 },
	/* What is due at the start. */
	{ { { NULL, NULL } }, "archive ends where checkpoint is due", 2, 0 },
	{ { { SEGMENT, LINES } },
		"member " SEGMENT " where checkpoint is due", 2, 0 },
	{ { { "Checkpoint", NOTE } }, "where checkpoint is due", 2, 0 },
	{ { { "./checkpoint", NOTE } }, "where checkpoint is due", 2, 0 },
	{ { { "/checkpoint", NOTE } }, "where checkpoint is due", 2, 0 },
	{ { { "checkpoints/2", NOTE } }, "where checkpoint is due", 2, 0 },
	{ { { "store.json", NOTE } }, "where checkpoint is due", 2, 0 },
	{ { { "from/checkpoint", NOTE } }, "where checkpoint is due", 2, 0 },
	/* After the checkpoint. */
	{ { { "checkpoint", NOTE } }, "archive ends where from/checkpoint or "
		SEGMENT " is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { "checkpoint", NOTE } }, "member "
		"checkpoint where from/checkpoint or " SEGMENT " is due", 2,
		0 },
	{ { { "checkpoint", NOTE }, { "from/range", HASH } },
		"member from/range where", 2, 1 },
	{ { { "checkpoint", NOTE }, { OBJECT("0"), "" } },
		" where from/checkpoint or " SEGMENT " is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { "log/000/001.jsonl", LINES } },
		"member log/000/001.jsonl where", 2, 0 },
	{ { { "checkpoint", NOTE }, { "log/0/0.jsonl", LINES } },
		"member log/0/0.jsonl where", 2, 0 },
	{ { { "checkpoint", NOTE }, { "log/000/000.json", LINES } },
		"member log/000/000.json where", 2, 0 },
	{ { { "checkpoint", NOTE }, { "log/", "" } }, "member log/ where", 2,
		0 },
	{ { { "checkpoint", NOTE }, { SEGMENT "\xff", LINES } },
		"member " SEGMENT "\\xff where", 2, 0 },
	/* Sizes. */
	{ { { "checkpoint", NOTE }, { SEGMENT, "" } },
		"snapshot of 0 entries, not 1 to 4294967295 (B8)", 0, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES } },
		"snapshot of 4294967296 entries", 4294967296U, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES } },
		"snapshot of 18446744073709551615 entries", UINT64_MAX, 0 },
	/* An incremental file. */
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE } },
		"archive ends where from/range is due", 2, 1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ SEGMENT, "b\n" } }, "where from/range is due", 2, 1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/checkpoint", NOTE } }, "where from/range is due", 2,
		1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH }, { "from/range", HASH } },
		"member from/range where " SEGMENT " is due", 2, 1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH } }, "archive ends where " SEGMENT, 2,
		1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", "" } }, "of 0 bytes, not the 45", 2, 1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH HASH } }, "of 90 bytes, not the 45", 2,
		1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH } }, "of 45 bytes, not the 90 of a range "
		"of 3 entries (S11)", 4, 3 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE } },
		"of 2 entries from entry 0 on (S11)", 2, 0 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE } },
		"of 2 entries from entry 2 on (S11)", 2, 2 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE } },
		"of 2 entries from entry 18446744073709551615 on", 2,
		UINT64_MAX },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH }, { SEGMENT, LINES } },
		"has bytes after entry 1", 2, 1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH }, { "log/000/001.jsonl", "b\n" } },
		"where " SEGMENT " is due", 2, 1 },
	{ { { "checkpoint", NOTE }, { "from/checkpoint", NOTE },
		{ "from/range", HASH }, { SEGMENT, LINES } },
		"where log/000/001.jsonl is due", 258, 256 },
	/* Lines. */
	{ { { "checkpoint", NOTE }, { SEGMENT, "" } },
		"member " SEGMENT " ends before entry 0 (S9)", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, "a\n" } },
		"ends before entry 1 (S9)", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, "a\nb" } },
		"does not end in a newline (T10)", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, "a\nb\n\n" } },
		"has bytes after entry 1 (S9)", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, "a\nb\nc" } },
		"has bytes after entry 1 (S9)", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES }, { SEGMENT, LINES } },
		"member " SEGMENT " where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ "log/000/001.jsonl", "c\n" } }, "where an object is due", 2,
		0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES } },
		"ends before entry 2", 300, 0 },
	/* Objects. */
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ "objects/", "" } }, "where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ "objects/" "0", "" } }, "where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("0") "0", "" } }, "where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("0") ".zst", "" } }, "where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("A"), "" } }, "where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("g"), "" } }, "where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ "Objects/" X64("0"), "" } }, "where an object is due", 2,
		0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ "dictionaries/1-" X64("0") ".zdict", "" } },
		"where an object is due", 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("1"), "" }, { OBJECT("1"), "" } },
		"member " OBJECT("1") " follows that of " X64("1"), 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("1"), "" }, { OBJECT("0"), "" } },
		"member " OBJECT("0") " follows that of " X64("1"), 2, 0 },
	{ { { "checkpoint", NOTE }, { SEGMENT, LINES },
		{ OBJECT("1"), "" }, { "checkpoint", NOTE } },
		"member checkpoint where an object is due", 2, 0 },
};

/* Whatever the size of the pieces, the same is told before the same failure;
 * returns it. */
static enum ks_status
read_in_all_ways(struct ks_span stream, struct teller *teller,
	struct ks_error *err)
{
	struct ks_buf told = KS_BUF_INIT;
	enum ks_status status = read_whole(stream, teller, err);
	size_t i;

	ks_buf_append(&told, ks_buf_span(&teller->told));
	for (i = 0; i < COUNT(steps); i++) {
		struct ks_error other = KS_ERROR_INIT;

		assert_int_equal(read_in(stream, steps[i], teller, &other),
			status);
		assert_string_equal(other.message, err->message);
		assert_true(ks_span_equal(ks_buf_span(&teller->told),
			ks_buf_span(&told)));
	}
	ks_buf_release(&told);
	return status;
}

static void
members_out_of_order_are_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(composed); i++) {
		struct teller teller = { .size = composed[i].size,
			.from = composed[i].from };
		struct ks_error err = KS_ERROR_INIT;
		struct ks_buf stream = KS_BUF_INIT;
		bool good = composed[i].says[0] == '\0';

		compose(composed[i].members, &stream);
		if (read_in_all_ways(ks_buf_span(&stream), &teller, &err) !=
			(good ? KS_OK : KS_CORRUPT) ||
			strstr(err.message, composed[i].says) == NULL)
			fail_msg("row %zu: %s", i, err.message);
		ks_buf_release(&stream);
		ks_buf_release(&teller.told);
	}
}

static void
a_header_inside_the_stream_is_judged_like_any(void **state)
{
	struct teller teller = { .size = 2 };
	struct ks_buf stream = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	add(&stream, "checkpoint", ks_span_text(NOTE));
	add(&stream, SEGMENT, ks_span_text(LINES));
	add(&stream, OBJECT("0"), ks_span(NULL, 0));
	add_end(&stream);
	stream.data[4 * KS_TAR_BLOCK + 156] = '5';
	assert_int_equal(read_in_all_ways(ks_buf_span(&stream), &teller,
		&err), KS_CORRUPT);
	assert_string_equal(err.message, "archive member " OBJECT("0")
		" has another type than an exporter writes (S10)");
	ks_buf_release(&stream);
	ks_buf_release(&teller.told);
}

static void
one_zero_block_is_not_an_end(void **state)
{
	struct teller teller = { .size = 2 };
	struct ks_buf stream = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	add(&stream, "checkpoint", ks_span_text(NOTE));
	add(&stream, SEGMENT, ks_span_text(LINES));
	add_end(&stream);
	stream.len -= KS_TAR_BLOCK;
	assert_int_equal(read_in_all_ways(ks_buf_span(&stream), &teller,
		&err), KS_CORRUPT);
	assert_string_equal(err.message, "archive is cut short (S10)");
	add(&stream, OBJECT("0"), ks_span(NULL, 0));
	assert_int_equal(read_in_all_ways(ks_buf_span(&stream), &teller,
		&err), KS_CORRUPT);
	assert_string_equal(err.message,
		"archive goes on after a zero block (S10)");
	ks_buf_release(&stream);
	ks_buf_release(&teller.told);
}

/* ---- limits ------------------------------------------------------------ */

/* The header of a member that is not there is refused by itself. */
static void
a_size_over_the_limit_is_refused_by_the_header(void **state)
{
	static const struct {
		const char *name;
		uint64_t limit;
		size_t before;	/* members of the stream */
	} table[] = {
		{ "checkpoint", 1000000, 0 },
		{ "from/checkpoint", 1000000, 1 },
		{ SEGMENT, 16777216, 1 },
		{ OBJECT("0"), 67108864, 2 },
	};
	size_t i, over;

	(void)state;
	for (i = 0; i < COUNT(table); i++)
		for (over = 0; over < 2; over++) {
			struct teller teller = { .size = 2 };
			struct ks_buf stream = KS_BUF_INIT;
			struct ks_error err = KS_ERROR_INIT;
			uint8_t block[KS_TAR_BLOCK];

			if (table[i].before > 0)
				add(&stream, "checkpoint", ks_span_text(NOTE));
			if (table[i].before > 1)
				add(&stream, SEGMENT, ks_span_text(LINES));
			assert_int_equal(ks_tar_write(table[i].name,
				table[i].limit + over, block, NULL), KS_OK);
			ks_buf_append(&stream, ks_span(block, sizeof(block)));
			assert_int_equal(read_whole(ks_buf_span(&stream),
				&teller, &err), KS_CORRUPT);
			assert_non_null(strstr(err.message, over == 0 ?
				"cut short" : ", over the limit of "));
			ks_buf_release(&stream);
			ks_buf_release(&teller.told);
		}
}

/* One line of `len` bytes in a log of one. */
static enum ks_status
read_line(size_t len, struct ks_error *err)
{
	struct teller teller = { .size = 1 };
	struct ks_buf stream = KS_BUF_INIT, line = KS_BUF_INIT;
	enum ks_status status;

	assert_non_null(ks_buf_reserve(&line, len + 1));
	memset(line.data, 'l', len);
	line.data[len] = '\n';
	line.len = len + 1;
	add(&stream, "checkpoint", ks_span_text(NOTE));
	add(&stream, SEGMENT, ks_buf_span(&line));
	add_end(&stream);
	status = read_in_all_ways(ks_buf_span(&stream), &teller, err);
	ks_buf_release(&stream);
	ks_buf_release(&line);
	ks_buf_release(&teller.told);
	return status;
}

/* store-layout.md B6 */
static void
a_line_has_at_most_65535_bytes(void **state)
{
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(read_line(KS_ENTRY_MAX, &err), KS_OK);
	assert_int_equal(read_line(KS_ENTRY_MAX + 1, &err), KS_CORRUPT);
	assert_string_equal(err.message,
		"entry 0 is longer than 65535 bytes (L4)");
	assert_int_equal(read_line(1 << 20, &err), KS_CORRUPT);
}

static void
the_largest_object_is_told_whole(void **state)
{
	struct teller teller = { .size = 2 };
	struct ks_buf stream = KS_BUF_INIT;
	uint8_t *body = calloc(1, KS_LIMIT_RAW);

	(void)state;
	assert_non_null(body);
	body[KS_LIMIT_RAW - 1] = 'z';
	add(&stream, "checkpoint", ks_span_text(NOTE));
	add(&stream, SEGMENT, ks_span_text(LINES));
	add(&stream, OBJECT("0"), ks_span(body, KS_LIMIT_RAW));
	add_end(&stream);
	free(body);
	assert_int_equal(read_in(ks_buf_span(&stream), 1 << 17, &teller,
		NULL), KS_OK);
	assert_true(teller.told.len > KS_LIMIT_RAW);
	assert_memory_equal(teller.told.data + teller.told.len - 2, "z\n", 2);
	ks_buf_release(&stream);
	ks_buf_release(&teller.told);
}

/* ---- failures of others ------------------------------------------------ */

static void
what_a_handler_says_ends_the_reading_for_good(void **state)
{
	struct ks_buf stream = KS_BUF_INIT;
	size_t at;

	(void)state;
	(void)build(4, 2, 4, &stream);
	for (at = 1; at <= 10; at++) {
		struct teller teller = { .size = 4, .from = 2,
			.fail_at = at };
		struct ks_error err = KS_ERROR_INIT;
		struct ks_snapfile *snapfile;
		char wanted[32];

		(void)snprintf(wanted, sizeof(wanted), "call %zu", at);
		if (at == 10)
			break;
		assert_int_equal(read_in_all_ways(ks_buf_span(&stream),
			&teller, &err), KS_UNTRUSTED);
		assert_string_equal(err.message, wanted);
		snapfile = new_reader(&teller);
		assert_int_equal(ks_snapfile_feed(snapfile,
			ks_buf_span(&stream), NULL), KS_UNTRUSTED);
		err = (struct ks_error)KS_ERROR_INIT;
		assert_int_equal(ks_snapfile_feed(snapfile,
			ks_buf_span(&stream), &err), KS_UNTRUSTED);
		assert_string_equal(err.message, wanted);
		assert_int_equal(ks_snapfile_end(snapfile, &err),
			KS_UNTRUSTED);
		assert_int_equal(teller.calls, at);
		ks_snapfile_free(snapfile);
		ks_buf_release(&teller.told);
	}
	ks_buf_release(&stream);
}

static void
nothing_fed_is_nothing_read(void **state)
{
	struct teller teller = { .size = 1 };
	struct ks_snapfile *snapfile = new_reader(&teller);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_snapfile_feed(snapfile, ks_span(NULL, 0), &err),
		KS_OK);
	assert_int_equal(ks_snapfile_end(snapfile, &err), KS_CORRUPT);
	assert_string_equal(err.message, "archive is cut short (S10)");
	ks_snapfile_free(snapfile);
	ks_snapfile_free(NULL);
	ks_snapwriter_free(NULL);
}

/* ---- writing ----------------------------------------------------------- */

/* How far a writer is brought before it is misused. */
enum stage { NEW, BEGUN, FROM, LOGGED, OBJECTS, OVER };

static struct ks_snapwriter *
new_writer(enum stage stage, struct ks_buf *out)
{
	struct ks_snapwriter *writer = NULL;
	struct ks_id id = id_of('5');
	struct ks_merkle range;

	range_of(1, &range);
	assert_int_equal(ks_snapwriter_new(&writer, gather, out, NULL),
		KS_OK);
	if (stage >= BEGUN)
		assert_int_equal(ks_snapwriter_checkpoint(writer,
			ks_span_text(NOTE), 2, NULL), KS_OK);
	if (stage >= FROM)
		assert_int_equal(ks_snapwriter_from(writer,
			ks_span_text(NOTE), &range, NULL), KS_OK);
	if (stage >= LOGGED)
		assert_int_equal(ks_snapwriter_segment(writer,
			ks_span_text("b\n"), NULL), KS_OK);
	if (stage >= OBJECTS)
		assert_int_equal(ks_snapwriter_object(writer, &id,
			ks_span_text("five"), NULL), KS_OK);
	if (stage >= OVER)
		assert_int_equal(ks_snapwriter_end(writer, &id, NULL), KS_OK);
	return writer;
}

static void
a_writer_keeps_to_the_order(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_merkle range;
	enum stage stage;

	(void)state;
	range_of(1, &range);
	for (stage = NEW; stage <= OVER; stage++) {
		struct ks_id id = id_of('6'), digest;
		struct ks_snapwriter *writer = new_writer(stage, &out);
		size_t before = out.len;

		if (stage != NEW)
			assert_int_equal(ks_snapwriter_checkpoint(writer,
				ks_span_text(NOTE), 2, NULL), KS_USAGE);
		if (stage != BEGUN)
			assert_int_equal(ks_snapwriter_from(writer,
				ks_span_text(NOTE), &range, NULL), KS_USAGE);
		if (stage != BEGUN && stage != FROM)
			assert_int_equal(ks_snapwriter_segment(writer,
				ks_span_text("b\n"), NULL), KS_USAGE);
		if (stage != LOGGED && stage != OBJECTS) {
			assert_int_equal(ks_snapwriter_object(writer, &id,
				ks_span(NULL, 0), NULL), KS_USAGE);
			assert_int_equal(ks_snapwriter_end(writer, &digest,
				NULL), KS_USAGE);
		}
		assert_int_equal(out.len, before);
		ks_snapwriter_free(writer);
	}
	ks_buf_release(&out);
}

static void
a_writer_takes_objects_in_order_only(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_snapwriter *writer = new_writer(OBJECTS, &out);
	struct ks_id four = id_of('4'), five = id_of('5'), six = id_of('6');

	(void)state;
	assert_int_equal(ks_snapwriter_object(writer, &four, ks_span(NULL, 0),
		NULL), KS_USAGE);
	assert_int_equal(ks_snapwriter_object(writer, &five, ks_span(NULL, 0),
		NULL), KS_USAGE);
	assert_int_equal(ks_snapwriter_object(writer, &six, ks_span(NULL, 0),
		NULL), KS_OK);
	ks_snapwriter_free(writer);
	ks_buf_release(&out);
}

static void
a_writer_takes_the_lines_of_a_segment_only(void **state)
{
	static const char *const wrong[] = {
		"", "\n", "a\n", "a\nb", "a\nb\nc", "a\nb\nc\n", "\n\n\n",
	};
	struct ks_buf out = KS_BUF_INIT, line = KS_BUF_INIT;
	struct ks_snapwriter *writer = new_writer(BEGUN, &out);
	struct ks_error err = KS_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++)
		assert_int_equal(ks_snapwriter_segment(writer,
			ks_span_text(wrong[i]), &err), KS_USAGE);
	assert_string_equal(err.message, "member log/000/000.jsonl is not "
		"given the 2 lines it holds (S9)");
	for (i = 0; i <= KS_ENTRY_MAX; i++)
		ks_buf_byte(&line, 'l');
	ks_buf_text(&line, "\nb\n");
	assert_int_equal(ks_snapwriter_segment(writer, ks_buf_span(&line),
		NULL), KS_USAGE);
	assert_int_equal(ks_snapwriter_segment(writer,
		ks_span(line.data + 1, line.len - 1), NULL), KS_OK);
	ks_snapwriter_free(writer);
	ks_buf_release(&out);
	ks_buf_release(&line);
}

static void
a_writer_keeps_to_the_limits(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	uint8_t *bytes = calloc(1, KS_LIMIT_RAW + 1);
	struct ks_merkle range = { .size = 0 };
	struct ks_id six = id_of('6');
	struct ks_error err = KS_ERROR_INIT;
	struct ks_snapwriter *writer = new_writer(NEW, &out);

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(ks_snapwriter_checkpoint(writer, ks_span_text(NOTE),
		0, NULL), KS_INVALID);
	assert_int_equal(ks_snapwriter_checkpoint(writer, ks_span_text(NOTE),
		4294967296U, NULL), KS_INVALID);
	assert_int_equal(ks_snapwriter_checkpoint(writer, ks_span(bytes,
		1000001), 2, &err), KS_INVALID);
	assert_string_equal(err.message, "member checkpoint of 1000001 bytes, "
		"over the limit of 1000000");
	ks_snapwriter_free(writer);
	writer = new_writer(BEGUN, &out);
	for (range.size = 0; range.size < 5; range.size += 2)
		assert_int_equal(ks_snapwriter_from(writer, ks_span_text(NOTE),
			&range, NULL), KS_INVALID);
	ks_snapwriter_free(writer);
	writer = new_writer(LOGGED, &out);
	assert_int_equal(ks_snapwriter_object(writer, &six, ks_span(bytes,
		KS_LIMIT_RAW + 1), NULL), KS_INVALID);
	ks_snapwriter_free(writer);
	ks_buf_release(&out);
	free(bytes);
}

static enum ks_status
full_disk(void *arg, struct ks_span bytes, struct ks_error *err)
{
	size_t *room = arg;

	if (*room < bytes.len)
		return ks_fail(err, KS_IO, "disk full");
	*room -= bytes.len;
	return KS_OK;
}

static void
what_the_output_says_is_returned(void **state)
{
	size_t room = 2 * KS_TAR_BLOCK;
	struct ks_snapwriter *writer = NULL;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_snapwriter_new(&writer, full_disk, &room, NULL),
		KS_OK);
	assert_int_equal(ks_snapwriter_checkpoint(writer, ks_span_text(NOTE),
		2, &err), KS_OK);
	assert_int_equal(room, 0);
	assert_int_equal(ks_snapwriter_segment(writer, ks_span_text(LINES),
		&err), KS_IO);
	assert_string_equal(err.message, "disk full");
	ks_snapwriter_free(writer);
}

/* ---- stock tar --------------------------------------------------------- */

/* A file that tar has written. */
static void
assert_file(const char *name, struct ks_span wanted)
{
	struct ks_buf found = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_file_read(name, 1 << 20, &found, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_true(ks_span_equal(ks_buf_span(&found), wanted));
	ks_buf_release(&found);
}

static const char listing[] =
	"-rw-r--r-- 0/0 33 1970-01-01 00:00 checkpoint\n"
	"-rw-r--r-- 0/0 33 1970-01-01 00:00 from/checkpoint\n"
	"-rw-r--r-- 0/0 180 1970-01-01 00:00 from/range\n"
	"-rw-r--r-- 0/0 2120 1970-01-01 00:00 log/000/001.jsonl\n"
	"-rw-r--r-- 0/0 880 1970-01-01 00:00 log/000/002.jsonl\n"
	"-rw-r--r-- 0/0 0 1970-01-01 00:00 " OBJECT("0") "\n"
	"-rw-r--r-- 0/0 3 1970-01-01 00:00 " OBJECT("1") "\n"
	"-rw-r--r-- 0/0 512 1970-01-01 00:00 " OBJECT("a") "\n"
	"-rw-r--r-- 0/0 513 1970-01-01 00:00 " OBJECT("f") "\n";

static void
stock_tar_lists_and_extracts_the_same(void **state)
{
	struct ks_buf stream = KS_BUF_INIT, text = KS_BUF_INIT;
	char body[513];

	(void)state;
	need("tar");
	(void)build(600, 300, 4, &stream);
	scratch_write("stream.tar", ks_buf_span(&stream));
	assert_int_equal(sh("TZ=UTC tar --numeric-owner -tvf stream.tar |"
		" tr -s ' ' >listing"), 0);
	assert_file("listing", ks_span_text(listing));
	assert_int_equal(sh("tar -xf stream.tar"), 0);
	note_of(600, &text);
	assert_file("checkpoint", ks_buf_span(&text));
	lines_of(300, 512, &text);
	assert_file("log/000/001.jsonl", ks_buf_span(&text));
	lines_of(512, 600, &text);
	assert_file("log/000/002.jsonl", ks_buf_span(&text));
	assert_file(OBJECT("0"), ks_span(NULL, 0));
	assert_file(OBJECT("1"), ks_span_text("one"));
	memset(body, 'y', sizeof(body));
	assert_file(OBJECT("f"), ks_span(body, sizeof(body)));
	assert_string_equal(output("LC_ALL=C ls -A"), "checkpoint\nfrom\n"
		"listing\nlog\nobjects\nstream.tar");
	ks_buf_release(&stream);
	ks_buf_release(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_written_to_the_byte),
		cmocka_unit_test(
			what_was_written_is_told_in_pieces_of_any_size),
		cmocka_unit_test(a_stream_cut_anywhere_is_refused),
		cmocka_unit_test(a_stream_with_anything_after_it_is_refused),
		cmocka_unit_test(every_changed_byte_is_refused_or_told),
		cmocka_unit_test(members_out_of_order_are_refused),
		cmocka_unit_test(
			a_header_inside_the_stream_is_judged_like_any),
		cmocka_unit_test(one_zero_block_is_not_an_end),
		cmocka_unit_test(
			a_size_over_the_limit_is_refused_by_the_header),
		cmocka_unit_test(a_line_has_at_most_65535_bytes),
		cmocka_unit_test(the_largest_object_is_told_whole),
		cmocka_unit_test(
			what_a_handler_says_ends_the_reading_for_good),
		cmocka_unit_test(nothing_fed_is_nothing_read),
		cmocka_unit_test(a_writer_keeps_to_the_order),
		cmocka_unit_test(a_writer_takes_objects_in_order_only),
		cmocka_unit_test(a_writer_takes_the_lines_of_a_segment_only),
		cmocka_unit_test(a_writer_keeps_to_the_limits),
		cmocka_unit_test(what_the_output_says_is_returned),
		cmocka_unit_test_setup_teardown(
			stock_tar_lists_and_extracts_the_same,
			scratch_enter, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
