#include "format/snapfile.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "format/digest.h"
#include "format/entry.h"
#include "format/layout.h"
#include "format/note.h"
#include "format/proof.h"
#include "format/tar.h"

#define CHECKPOINT "checkpoint"
#define FROM_CHECKPOINT "from/checkpoint"
#define FROM_RANGE "from/range"
#define OBJECTS "objects/"

/* Room for "checkpoint or from/…" in messages, and for all names. */
#define DUE_TEXT (KS_TAR_NAME + 1)

/* Members, in the order of S9 and S11. */
enum member {
	MEMBER_CHECKPOINT,
	MEMBER_FROM,
	MEMBER_RANGE,
	MEMBER_SEGMENT,
	MEMBER_OBJECT
};

/* How far the log has come, in both halves. */
struct progress {
	uint64_t size, from;	/* entries from `from` to size - 1 */
	uint64_t next;		/* the next entry */
	struct ks_id last;	/* the newest object, if any */
	bool has_last;
};

/* The end of the segment that holds the next entry (T9, T10). */
static uint64_t
segment_end(const struct progress *log)
{
	uint64_t end = (log->next / KS_SEGMENT_ENTRIES + 1) *
		KS_SEGMENT_ENTRIES;

	return end < log->size ? end : log->size;
}

static uint64_t
range_length(uint64_t size)
{
	struct ks_merkle range = { .size = size };

	return ks_merkle_width(&range) * KS_PROOF_RANGE_LINE;
}

/* How many bytes a member may have at most. */
static uint64_t
limit_of(enum member member)
{
	switch (member) {
	case MEMBER_CHECKPOINT:
	case MEMBER_FROM:
		return KS_NOTE_MAX;
	case MEMBER_RANGE:
		return (uint64_t)KS_MERKLE_DEPTH * KS_PROOF_RANGE_LINE;
	case MEMBER_SEGMENT:
		return KS_LIMIT_SEGMENT;
	case MEMBER_OBJECT:
		return KS_LIMIT_RAW;
	}
	return 0;
}

/* ---- reading ----------------------------------------------------------- */

/* Where in the archive the next byte belongs. */
enum phase {
	PHASE_HEADER,
	PHASE_DATA,
	PHASE_PADDING,
	PHASE_LAST_BLOCK,
	PHASE_END
};

struct ks_snapfile {
	struct ks_snapfile_handler handler;
	enum phase phase;
	enum member member;	/* inside: which; before a header: which is
				 * due, or the one after it if that may be
				 * left out */
	struct ks_tar_member tar;
	struct ks_id id;	/* of an object */
	uint8_t block[KS_TAR_BLOCK];
	size_t held;		/* bytes of it */
	uint64_t left;		/* bytes of this phase */
	struct ks_buf body;	/* of a member or line, if it comes in parts */
	struct progress log;
	uint64_t end;		/* of this segment */
	enum ks_status status;	/* the first failure */
	struct ks_error failure;
};

enum ks_status
ks_snapfile_new(struct ks_snapfile **out,
	const struct ks_snapfile_handler *handler, struct ks_error *err)
{
	struct ks_snapfile *snapfile = calloc(1, sizeof(*snapfile));

	*out = snapfile;
	if (snapfile == NULL)
		return ks_fail_nomem(err);
	snapfile->handler = *handler;
	return KS_OK;
}

void
ks_snapfile_free(struct ks_snapfile *snapfile)
{
	if (snapfile == NULL)
		return;
	ks_buf_release(&snapfile->body);
	free(snapfile);
}

/* Take at most `most` bytes off the front. */
static struct ks_span
take(struct ks_span *bytes, uint64_t most)
{
	struct ks_span part = ks_span(bytes->data,
		bytes->len < most ? bytes->len : (size_t)most);

	*bytes = ks_span(bytes->data + part.len, bytes->len - part.len);
	return part;
}

/* What may come next, for messages. */
static const char *
due(const struct ks_snapfile *snapfile, char out[DUE_TEXT])
{
	char segment[KS_SEGMENT_PATH];

	switch (snapfile->member) {
	case MEMBER_CHECKPOINT:
		return CHECKPOINT;
	case MEMBER_RANGE:
		return FROM_RANGE;
	case MEMBER_FROM:
	case MEMBER_SEGMENT:
		(void)snprintf(out, DUE_TEXT, "%s%s",
			snapfile->member == MEMBER_FROM ?
			FROM_CHECKPOINT " or " : "",
			ks_layout_segment(snapfile->log.next, segment));
		return out;
	case MEMBER_OBJECT:
		break;
	}
	return "an object";
}

/* objects/ and a digest that is greater than the one before. */
static enum ks_status
begin_object(struct ks_snapfile *snapfile, struct ks_error *err)
{
	struct progress *log = &snapfile->log;
	const char *name = snapfile->tar.name;
	char hex[KS_ID_HEX + 1];

	if (log->has_last && ks_id_compare(&snapfile->id, &log->last) <= 0)
		return ks_fail(err, KS_CORRUPT,
			"member %s follows that of %s (S9)", name,
			ks_id_print_hex(&log->last, hex));
	log->last = snapfile->id;
	log->has_last = true;
	return KS_OK;
}

/* Whether the member that was found may come next; *member is then which it
 * is, and its digest, if it is an object, known. */
static bool
is_due(struct ks_snapfile *snapfile, enum member *member)
{
	const char *name = snapfile->tar.name;
	char segment[KS_SEGMENT_PATH];

	*member = snapfile->member;
	if (*member == MEMBER_FROM && strcmp(name, FROM_CHECKPOINT) != 0)
		*member = MEMBER_SEGMENT;
	switch (*member) {
	case MEMBER_CHECKPOINT:
		return strcmp(name, CHECKPOINT) == 0;
	case MEMBER_FROM:
		return true;
	case MEMBER_RANGE:
		return strcmp(name, FROM_RANGE) == 0;
	case MEMBER_SEGMENT:
		return strcmp(name, ks_layout_segment(snapfile->log.next,
			segment)) == 0;
	case MEMBER_OBJECT:
		break;
	}
	return strncmp(name, OBJECTS, strlen(OBJECTS)) == 0 &&
		ks_id_parse_hex(&snapfile->id,
			ks_span_text(name + strlen(OBJECTS)));
}

static enum ks_status
check_size(const struct ks_snapfile *snapfile, struct ks_error *err)
{
	uint64_t limit = limit_of(snapfile->member);
	uint64_t size = snapfile->tar.size;

	if (size > limit)
		return ks_fail(err, KS_CORRUPT,
			"member %s of %llu bytes, over the limit of %llu",
			snapfile->tar.name, (unsigned long long)size,
			(unsigned long long)limit);
	limit = range_length(snapfile->log.from);
	if (snapfile->member == MEMBER_RANGE && size != limit)
		return ks_fail(err, KS_CORRUPT,
			"member " FROM_RANGE " of %llu bytes, not the %llu of "
			"a range of %llu entries (S11)",
			(unsigned long long)size, (unsigned long long)limit,
			(unsigned long long)snapfile->log.from);
	return KS_OK;
}

/* The header of the member that comes next. */
static enum ks_status
begin_member(struct ks_snapfile *snapfile, struct ks_error *err)
{
	char text[DUE_TEXT], shown[4 * KS_TAR_NAME + 1];
	enum member member;
	enum ks_status status = ks_tar_read(snapfile->block, &snapfile->tar,
		err);

	if (status != KS_OK)
		return status;
	if (!is_due(snapfile, &member))
		return ks_fail(err, KS_CORRUPT,
			"member %s where %s is due (S9)",
			ks_printable(shown, sizeof(shown),
				ks_span_text(snapfile->tar.name)),
			due(snapfile, text));
	snapfile->member = member;
	status = check_size(snapfile, err);
	if (status == KS_OK && member == MEMBER_OBJECT)
		status = begin_object(snapfile, err);
	if (member == MEMBER_SEGMENT)
		snapfile->end = segment_end(&snapfile->log);
	snapfile->phase = PHASE_DATA;
	snapfile->left = snapfile->tar.size;
	return status;
}

/* A block of zeros ends the members, any other is a header. */
static enum ks_status
take_block(struct ks_snapfile *snapfile, struct ks_error *err)
{
	char text[DUE_TEXT];

	if (!ks_tar_is_zero(ks_span(snapfile->block, KS_TAR_BLOCK)))
		return begin_member(snapfile, err);
	if (snapfile->member != MEMBER_OBJECT)
		return ks_fail(err, KS_CORRUPT,
			"archive ends where %s is due (S9)",
			due(snapfile, text));
	snapfile->phase = PHASE_LAST_BLOCK;
	snapfile->left = KS_TAR_BLOCK;
	return KS_OK;
}

/* What a note of the file states. */
static enum ks_status
take_checkpoint(struct ks_snapfile *snapfile, struct ks_span note,
	struct ks_error *err)
{
	const struct ks_snapfile_handler *handler = &snapfile->handler;
	struct progress *log = &snapfile->log;
	enum ks_status status = handler->checkpoint(handler->arg, note,
		&log->size, err);

	if (status != KS_OK)
		return status;
	if (log->size == 0 || log->size > KS_SNAPFILE_ENTRIES)
		return ks_fail(err, KS_CORRUPT,
			"snapshot of %llu entries, not 1 to %llu (B8)",
			(unsigned long long)log->size,
			(unsigned long long)KS_SNAPFILE_ENTRIES);
	snapfile->member = MEMBER_FROM;
	return KS_OK;
}

static enum ks_status
take_from(struct ks_snapfile *snapfile, struct ks_span note,
	struct ks_error *err)
{
	const struct ks_snapfile_handler *handler = &snapfile->handler;
	struct progress *log = &snapfile->log;
	enum ks_status status = handler->from_checkpoint(handler->arg, note,
		&log->from, err);

	if (status != KS_OK)
		return status;
	if (log->from == 0 || log->from >= log->size)
		return ks_fail(err, KS_CORRUPT,
			"incremental snapshot of %llu entries from entry %llu "
			"on (S11)", (unsigned long long)log->size,
			(unsigned long long)log->from);
	log->next = log->from;
	snapfile->member = MEMBER_RANGE;
	return KS_OK;
}

/* A member that is told whole. */
static enum ks_status
take_member(struct ks_snapfile *snapfile, struct ks_span body,
	struct ks_error *err)
{
	const struct ks_snapfile_handler *handler = &snapfile->handler;

	if (snapfile->member == MEMBER_CHECKPOINT)
		return take_checkpoint(snapfile, body, err);
	if (snapfile->member == MEMBER_FROM)
		return take_from(snapfile, body, err);
	if (snapfile->member == MEMBER_OBJECT)
		return handler->object(handler->arg, &snapfile->id, body, err);
	snapfile->member = MEMBER_SEGMENT;
	return handler->range(handler->arg, body, err);
}

/* The lines of a segment are told one by one, so that a segment need not be
 * kept; only a line that is not yet whole is. */
static enum ks_status
take_line(struct ks_snapfile *snapfile, struct ks_span *part,
	struct ks_error *err)
{
	struct ks_snapfile_handler *handler = &snapfile->handler;
	struct ks_buf *kept = &snapfile->body;
	const uint8_t *lf = memchr(part->data, '\n', part->len);
	struct ks_span line = take(part, lf == NULL ? part->len :
		(uint64_t)(lf - part->data));
	enum ks_status status = KS_OK;

	if (snapfile->log.next == snapfile->end)
		return ks_fail(err, KS_CORRUPT,
			"member %s has bytes after entry %llu (S9)",
			snapfile->tar.name,
			(unsigned long long)snapfile->end - 1);
	if (line.len + kept->len > KS_ENTRY_MAX)
		return ks_fail(err, KS_CORRUPT,
			"entry %llu is longer than %d bytes (L4)",
			(unsigned long long)snapfile->log.next, KS_ENTRY_MAX);
	if (lf == NULL || kept->len > 0) {
		ks_buf_append(kept, line);
		line = ks_buf_span(kept);
		status = ks_buf_check(kept, err);
	}
	if (lf == NULL || status != KS_OK)
		return status;
	(void)take(part, 1);
	status = handler->line(handler->arg, snapfile->log.next, line, err);
	snapfile->log.next++;
	ks_buf_clear(kept);
	return status;
}

static enum ks_status
end_segment(struct ks_snapfile *snapfile, struct ks_error *err)
{
	if (snapfile->body.len > 0)
		return ks_fail(err, KS_CORRUPT,
			"member %s does not end in a newline (T10)",
			snapfile->tar.name);
	if (snapfile->log.next < snapfile->end)
		return ks_fail(err, KS_CORRUPT,
			"member %s ends before entry %llu (S9)",
			snapfile->tar.name,
			(unsigned long long)snapfile->log.next);
	snapfile->member = snapfile->log.next == snapfile->log.size ?
		MEMBER_OBJECT : MEMBER_SEGMENT;
	return KS_OK;
}

/* `part` belongs to a member, of which snapfile->left bytes follow it. */
static enum ks_status
take_body(struct ks_snapfile *snapfile, struct ks_span part,
	struct ks_error *err)
{
	struct ks_buf *kept = &snapfile->body;
	enum ks_status status;

	if (snapfile->left > 0 || kept->len > 0) {
		ks_buf_append(kept, part);
		part = ks_buf_span(kept);
		status = ks_buf_check(kept, err);
		if (status != KS_OK || snapfile->left > 0)
			return status;
	}
	status = take_member(snapfile, part, err);
	ks_buf_clear(kept);
	return status;
}

/* Data, of which there may be none. */
static enum ks_status
take_data(struct ks_snapfile *snapfile, struct ks_span *bytes,
	struct ks_error *err)
{
	struct ks_span part = take(bytes, snapfile->left);
	bool lines = snapfile->member == MEMBER_SEGMENT;
	enum ks_status status = KS_OK;

	snapfile->left -= part.len;
	while (status == KS_OK && lines && part.len > 0)
		status = take_line(snapfile, &part, err);
	if (status == KS_OK && lines && snapfile->left == 0)
		status = end_segment(snapfile, err);
	if (!lines)
		status = take_body(snapfile, part, err);
	if (snapfile->left == 0) {
		snapfile->left = ks_tar_padding(snapfile->tar.size);
		snapfile->phase = snapfile->left > 0 ? PHASE_PADDING :
			PHASE_HEADER;
	}
	return status;
}

static enum ks_status
take_header(struct ks_snapfile *snapfile, struct ks_span *bytes,
	struct ks_error *err)
{
	struct ks_span part = take(bytes, KS_TAR_BLOCK - snapfile->held);
	enum ks_status status;

	memcpy(snapfile->block + snapfile->held, part.data, part.len);
	snapfile->held += part.len;
	if (snapfile->held < KS_TAR_BLOCK)
		return KS_OK;
	snapfile->held = 0;
	status = take_block(snapfile, err);
	if (status == KS_OK && snapfile->phase == PHASE_DATA &&
		snapfile->left == 0)
		status = take_data(snapfile, bytes, err);
	return status;
}

/* Bytes that must be zero. */
static enum ks_status
take_zeros(struct ks_snapfile *snapfile, struct ks_span *bytes,
	struct ks_error *err)
{
	struct ks_span part = take(bytes, snapfile->left);
	bool last = snapfile->phase == PHASE_LAST_BLOCK;

	if (!ks_tar_is_zero(part) && last)
		return ks_fail(err, KS_CORRUPT,
			"archive goes on after a zero block (S10)");
	if (!ks_tar_is_zero(part))
		return ks_fail(err, KS_CORRUPT,
			"padding after member %s is not zero (S10)",
			snapfile->tar.name);
	snapfile->left -= part.len;
	if (snapfile->left == 0)
		snapfile->phase = last ? PHASE_END : PHASE_HEADER;
	return KS_OK;
}

static enum ks_status
take_some(struct ks_snapfile *snapfile, struct ks_span *bytes,
	struct ks_error *err)
{
	switch (snapfile->phase) {
	case PHASE_HEADER:
		return take_header(snapfile, bytes, err);
	case PHASE_DATA:
		return take_data(snapfile, bytes, err);
	case PHASE_PADDING:
	case PHASE_LAST_BLOCK:
		return take_zeros(snapfile, bytes, err);
	case PHASE_END:
		break;
	}
	return ks_fail(err, KS_CORRUPT,
		"archive goes on after its two zero blocks (S10)");
}

/* The first failure, again and again. */
static enum ks_status
failure(const struct ks_snapfile *snapfile, struct ks_error *err)
{
	if (snapfile->status != KS_OK && err != NULL)
		*err = snapfile->failure;
	return snapfile->status;
}

enum ks_status
ks_snapfile_feed(struct ks_snapfile *snapfile, struct ks_span bytes,
	struct ks_error *err)
{
	while (snapfile->status == KS_OK && bytes.len > 0)
		snapfile->status = take_some(snapfile, &bytes,
			&snapfile->failure);
	return failure(snapfile, err);
}

enum ks_status
ks_snapfile_end(struct ks_snapfile *snapfile, struct ks_error *err)
{
	if (snapfile->status == KS_OK && snapfile->phase != PHASE_END)
		snapfile->status = ks_fail(&snapfile->failure, KS_CORRUPT,
			"archive is cut short (S10)");
	return failure(snapfile, err);
}

/* ---- writing ----------------------------------------------------------- */

struct ks_snapwriter {
	ks_snapwriter_fn *output;
	void *arg;
	struct ks_digest *digest;
	enum member member;	/* as of a reader before a header */
	bool over;
	struct progress log;
};

enum ks_status
ks_snapwriter_new(struct ks_snapwriter **out, ks_snapwriter_fn *output,
	void *arg, struct ks_error *err)
{
	struct ks_snapwriter *writer = calloc(1, sizeof(*writer));
	enum ks_status status;

	*out = NULL;
	if (writer == NULL)
		return ks_fail_nomem(err);
	writer->output = output;
	writer->arg = arg;
	status = ks_digest_new(&writer->digest, err);
	if (status != KS_OK) {
		ks_snapwriter_free(writer);
		return status;
	}
	*out = writer;
	return KS_OK;
}

void
ks_snapwriter_free(struct ks_snapwriter *writer)
{
	if (writer == NULL)
		return;
	ks_digest_free(writer->digest);
	free(writer);
}

static enum ks_status
emit(struct ks_snapwriter *writer, struct ks_span bytes,
	struct ks_error *err)
{
	if (bytes.len == 0)
		return KS_OK;
	ks_digest_update(writer->digest, bytes);
	return writer->output(writer->arg, bytes, err);
}

/* Header, data and padding. */
static enum ks_status
emit_member(struct ks_snapwriter *writer, enum member member,
	const char *name, struct ks_span body, struct ks_error *err)
{
	static const uint8_t zeros[KS_TAR_BLOCK];
	uint8_t block[KS_TAR_BLOCK];
	enum ks_status status;

	if (body.len > limit_of(member))
		return ks_fail(err, KS_INVALID,
			"member %s of %zu bytes, over the limit of %llu", name,
			body.len, (unsigned long long)limit_of(member));
	status = ks_tar_write(name, body.len, block, err);
	if (status == KS_OK)
		status = emit(writer, ks_span(block, sizeof(block)), err);
	if (status == KS_OK)
		status = emit(writer, body, err);
	if (status == KS_OK)
		status = emit(writer, ks_span(zeros,
			ks_tar_padding(body.len)), err);
	return status;
}

static enum ks_status
out_of_order(struct ks_error *err)
{
	return ks_fail(err, KS_USAGE,
		"snapshot file is written in another order (S9)");
}

enum ks_status
ks_snapwriter_checkpoint(struct ks_snapwriter *writer, struct ks_span note,
	uint64_t size, struct ks_error *err)
{
	if (writer->member != MEMBER_CHECKPOINT)
		return out_of_order(err);
	if (size == 0 || size > KS_SNAPFILE_ENTRIES)
		return ks_fail(err, KS_INVALID,
			"snapshot of %llu entries, not 1 to %llu (B8)",
			(unsigned long long)size,
			(unsigned long long)KS_SNAPFILE_ENTRIES);
	writer->log.size = size;
	writer->member = MEMBER_FROM;
	return emit_member(writer, MEMBER_CHECKPOINT, CHECKPOINT, note, err);
}

enum ks_status
ks_snapwriter_from(struct ks_snapwriter *writer, struct ks_span note,
	const struct ks_merkle *range, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	if (writer->member != MEMBER_FROM)
		return out_of_order(err);
	if (range->size == 0 || range->size >= writer->log.size)
		return ks_fail(err, KS_INVALID,
			"incremental snapshot of %llu entries from entry %llu "
			"on (S11)", (unsigned long long)writer->log.size,
			(unsigned long long)range->size);
	writer->log.from = writer->log.next = range->size;
	writer->member = MEMBER_SEGMENT;
	ks_proof_range_print(range, &text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = emit_member(writer, MEMBER_FROM, FROM_CHECKPOINT,
			note, err);
	if (status == KS_OK)
		status = emit_member(writer, MEMBER_RANGE, FROM_RANGE,
			ks_buf_span(&text), err);
	ks_buf_release(&text);
	return status;
}

/* How many lines there are, each with its LF and within the limit; 0 when
 * something else is there. */
static uint64_t
count_lines(struct ks_span lines)
{
	uint64_t count = 0;

	while (lines.len > 0) {
		const uint8_t *lf = memchr(lines.data, '\n', lines.len);

		if (lf == NULL || lf - lines.data > KS_ENTRY_MAX)
			return 0;
		(void)take(&lines, (uint64_t)(lf - lines.data) + 1);
		count++;
	}
	return count;
}

enum ks_status
ks_snapwriter_segment(struct ks_snapwriter *writer, struct ks_span lines,
	struct ks_error *err)
{
	struct progress *log = &writer->log;
	char name[KS_SEGMENT_PATH];
	uint64_t end = segment_end(log);
	uint64_t wanted = end - log->next;

	if (writer->member != MEMBER_FROM && writer->member != MEMBER_SEGMENT)
		return out_of_order(err);
	(void)ks_layout_segment(log->next, name);
	if (count_lines(lines) != wanted)
		return ks_fail(err, KS_USAGE,
			"member %s is not given the %llu lines it holds (S9)",
			name, (unsigned long long)wanted);
	log->next = end;
	writer->member = end == log->size ? MEMBER_OBJECT : MEMBER_SEGMENT;
	return emit_member(writer, MEMBER_SEGMENT, name, lines, err);
}

enum ks_status
ks_snapwriter_object(struct ks_snapwriter *writer, const struct ks_id *id,
	struct ks_span body, struct ks_error *err)
{
	struct progress *log = &writer->log;
	char hex[KS_ID_HEX + 1], name[KS_TAR_NAME + 1];

	if (writer->member != MEMBER_OBJECT || writer->over ||
		(log->has_last && ks_id_compare(id, &log->last) <= 0))
		return out_of_order(err);
	log->last = *id;
	log->has_last = true;
	(void)snprintf(name, sizeof(name), OBJECTS "%s",
		ks_id_print_hex(id, hex));
	return emit_member(writer, MEMBER_OBJECT, name, body, err);
}

enum ks_status
ks_snapwriter_end(struct ks_snapwriter *writer, struct ks_id *digest,
	struct ks_error *err)
{
	static const uint8_t zeros[2 * KS_TAR_BLOCK];
	enum ks_status status;

	if (writer->member != MEMBER_OBJECT || writer->over)
		return out_of_order(err);
	writer->over = true;
	status = emit(writer, ks_span(zeros, sizeof(zeros)), err);
	if (status == KS_OK)
		ks_digest_final(writer->digest, digest);
	return status;
}
