/*
 * A stream is told and judged the same in pieces of any size, and one that is
 * accepted is written again as the same bytes. Checksums of headers are also
 * put right, so that what is behind them is reached.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "format/layout.h"
#include "format/proof.h"
#include "format/snapfile.h"
#include "format/tar.h"
#include "../lib/fuzz.h"

/* Writes down what it is told, and what it is told as a stream. */
struct reader {
	struct ks_buf told, stream, lines;
	struct ks_snapwriter *writer;
	struct ks_buf from_note;
	uint64_t size, from, next;
};

static enum ks_status
gather(void *arg, struct ks_span bytes, struct ks_error *err)
{
	(void)err;
	ks_buf_append(arg, bytes);
	return KS_OK;
}

static void
note_down(struct reader *reader, const char *what, struct ks_span bytes)
{
	ks_buf_printf(&reader->told, "%s %zu ", what, bytes.len);
	ks_buf_append(&reader->told, bytes);
}

/* The second line, if it is a number. */
static enum ks_status
read_size(struct ks_span note, uint64_t *out, struct ks_error *err)
{
	const uint8_t *at = note.len == 0 ? NULL :
		memchr(note.data, '\n', note.len);
	const uint8_t *end;

	*out = 0;
	if (at == NULL)
		return ks_fail(err, KS_CORRUPT, "no size");
	end = note.data + note.len;
	for (at++; at < end && *at >= '0' && *at <= '9' &&
		*out < (uint64_t)1 << 40; at++)
		*out = *out * 10 + (uint64_t)(*at - '0');
	return KS_OK;
}

static enum ks_status
take_checkpoint(void *arg, struct ks_span note, uint64_t *size,
	struct ks_error *err)
{
	struct reader *reader = arg;
	enum ks_status status = read_size(note, size, err);

	note_down(reader, "checkpoint", note);
	reader->size = *size;
	if (status == KS_OK && *size > 0 && *size <= KS_SNAPFILE_ENTRIES)
		require(ks_snapwriter_checkpoint(reader->writer, note, *size,
			err) == KS_OK);
	return status;
}

static enum ks_status
take_from(void *arg, struct ks_span note, uint64_t *from,
	struct ks_error *err)
{
	struct reader *reader = arg;
	enum ks_status status = read_size(note, from, err);

	note_down(reader, "from", note);
	ks_buf_append(&reader->from_note, note);
	reader->from = reader->next = *from;
	return status;
}

static enum ks_status
take_range(void *arg, struct ks_span text, struct ks_error *err)
{
	struct reader *reader = arg;
	struct ks_merkle range;
	enum ks_status status = ks_proof_range_parse(text, reader->from,
		&range, err);

	note_down(reader, "range", text);
	if (status == KS_OK)
		require(ks_snapwriter_from(reader->writer,
			ks_buf_span(&reader->from_note), &range, err) ==
			KS_OK);
	return status;
}

static enum ks_status
take_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct reader *reader = arg;

	note_down(reader, "line", line);
	require(index == reader->next && index < reader->size);
	reader->next++;
	ks_buf_append(&reader->lines, line);
	ks_buf_byte(&reader->lines, '\n');
	if (reader->next % 256 != 0 && reader->next != reader->size)
		return KS_OK;
	require(ks_snapwriter_segment(reader->writer,
		ks_buf_span(&reader->lines), err) == KS_OK);
	ks_buf_clear(&reader->lines);
	return KS_OK;
}

static enum ks_status
take_object(void *arg, const struct ks_id *id, struct ks_span body,
	struct ks_error *err)
{
	struct reader *reader = arg;
	char hex[KS_ID_HEX + 1];

	require(reader->next == reader->size);
	note_down(reader, ks_id_print_hex(id, hex), body);
	require(ks_snapwriter_object(reader->writer, id, body, err) ==
		KS_OK);
	return KS_OK;
}

static enum ks_status
read_in(struct ks_span stream, size_t step, struct reader *reader,
	struct ks_error *err)
{
	const struct ks_snapfile_handler handler = {
		.arg = reader,
		.checkpoint = take_checkpoint,
		.from_checkpoint = take_from,
		.range = take_range,
		.line = take_line,
		.object = take_object,
	};
	struct ks_snapfile *snapfile;
	enum ks_status status;

	memset(reader, 0, sizeof(*reader));
	require(ks_snapwriter_new(&reader->writer, gather, &reader->stream,
		NULL) == KS_OK);
	require(ks_snapfile_new(&snapfile, &handler, NULL) == KS_OK);
	do {
		size_t len = stream.len < step ? stream.len : step;

		status = ks_snapfile_feed(snapfile, ks_span(stream.data, len),
			err);
		stream.data += len;
		stream.len -= len;
	} while (status == KS_OK && stream.len > 0);
	if (status == KS_OK)
		status = ks_snapfile_end(snapfile, err);
	ks_snapfile_free(snapfile);
	return status;
}

static void
release(struct reader *reader)
{
	ks_buf_release(&reader->told);
	ks_buf_release(&reader->stream);
	ks_buf_release(&reader->lines);
	ks_buf_release(&reader->from_note);
	ks_snapwriter_free(reader->writer);
}

static void
check(struct ks_span stream, size_t step)
{
	struct reader whole, parts;
	struct ks_error err = KS_ERROR_INIT, other = KS_ERROR_INIT;
	enum ks_status status = read_in(stream, stream.len + 1, &whole, &err);
	struct ks_id digest;

	require(read_in(stream, step, &parts, &other) == status);
	require(strcmp(err.message, other.message) == 0);
	require(ks_span_equal(ks_buf_span(&whole.told),
		ks_buf_span(&parts.told)));
	require(status == KS_OK || status == KS_CORRUPT);
	if (status == KS_OK) {
		require(ks_snapwriter_end(whole.writer, &digest, NULL) ==
			KS_OK);
		require(ks_span_equal(ks_buf_span(&whole.stream), stream));
	}
	release(&whole);
	release(&parts);
}

/* Make the checksum of each header fit. */
static void
mend(uint8_t *data, size_t size)
{
	for (; size >= KS_TAR_BLOCK; data += KS_TAR_BLOCK,
		size -= KS_TAR_BLOCK) {
		unsigned sum = 8 * ' ';
		char text[8];
		size_t i;

		if (memcmp(data + 257, "ustar", 6) != 0)
			continue;
		for (i = 0; i < KS_TAR_BLOCK; i++)
			sum += i >= 148 && i < 156 ? 0 : data[i];
		(void)snprintf(text, sizeof(text), "%06o", sum);
		memcpy(data + 148, text, 7);
		data[155] = ' ';
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step = size == 0 ? 1 : (size_t)data[size / 2] * 3 + 1;
	uint8_t *copy = malloc(size == 0 ? 1 : size);

	require(copy != NULL);
	if (size > 0)
		memcpy(copy, data, size);
	check(ks_span(copy, size), step);
	mend(copy, size);
	check(ks_span(copy, size), step);
	free(copy);
	return 0;
}
