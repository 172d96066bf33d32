#include "format/note.h"

#include <inttypes.h>

#include "base/base64.h"
#include "base/utf8.h"

#define ID_BYTES 4
#define TIME_BYTES 8
#define NAME_SHOWN 96	/* bytes of a foreign name in a message */

/* How each signature line begins: an em dash and a space. */
static const char dash[] = "\xe2\x80\x94 ";
#define DASH_LEN (sizeof(dash) - 1)

static enum ks_status
check_characters(struct ks_span bytes, struct ks_error *err)
{
	size_t end = ks_utf8_check(bytes);
	size_t i;

	for (i = 0; i < end; i++) {
		if (bytes.data[i] < 0x20 && bytes.data[i] != '\n')
			return ks_fail(err, KS_CORRUPT, "byte %zu of the note "
				"is a control character (N2)", i);
	}
	if (end < bytes.len)
		return ks_fail(err, KS_CORRUPT,
			"byte %zu of the note is not UTF-8 (N2)", end);
	return KS_OK;
}

static enum ks_status
check_size(struct ks_span bytes, struct ks_error *err)
{
	if (bytes.len > KS_NOTE_MAX)
		return ks_fail(err, KS_CORRUPT,
			"the note is longer than %d bytes (B16)", KS_NOTE_MAX);
	return KS_OK;
}

enum ks_status
ks_note_check_text(struct ks_span text, struct ks_error *err)
{
	enum ks_status status = check_size(text, err);

	if (status == KS_OK)
		status = check_characters(text, err);
	if (status == KS_OK && (text.len == 0 ||
		text.data[text.len - 1] != '\n'))
		status = ks_fail(err, KS_CORRUPT,
			"the text of the note does not end in a newline (N2)");
	return status;
}

/* Split at the last empty line: the text may have empty lines, too. */
static bool
split(struct ks_span bytes, struct ks_span *text, struct ks_span *block)
{
	size_t i;

	for (i = bytes.len; i >= 2; i--) {
		if (bytes.data[i - 1] == '\n' && bytes.data[i - 2] == '\n') {
			*text = ks_span(bytes.data, i - 1);
			*block = ks_span(bytes.data + i, bytes.len - i);
			return true;
		}
	}
	return false;
}

static enum ks_status
fail_line(const struct ks_note *note, const char *what, struct ks_error *err)
{
	return ks_fail(err, KS_CORRUPT, "signature line %zu %s (N2)",
		note->line_count + 1, what);
}

/* The first bytes of a payload are the id. */
static enum ks_status
decode_payload(struct ks_note *note, struct ks_span base64,
	struct ks_note_line *line, struct ks_error *err)
{
	size_t start = note->payloads.len;
	const uint8_t *id;
	enum ks_status status;
	size_t len;

	if (!ks_base64_check(base64, &len) || len <= ID_BYTES)
		return fail_line(note, "does not end in the base64 of an id "
			"and a signature", err);
	(void)ks_base64_decode(base64, &note->payloads);
	status = ks_buf_check(&note->payloads, err);
	if (status != KS_OK)
		return status;
	id = note->payloads.data + start;
	line->id = (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 |
		(uint32_t)id[2] << 8 | id[3];
	line->payload.len = len - ID_BYTES;
	return KS_OK;
}

/* `text` is a line without its LF, which follows it. */
static enum ks_status
parse_line(struct ks_note *note, struct ks_span text, struct ks_error *err)
{
	struct ks_note_line *line = &note->lines[note->line_count];
	struct ks_span rest;
	const uint8_t *space;
	enum ks_status status;

	if (text.len < DASH_LEN || memcmp(text.data, dash, DASH_LEN) != 0)
		return fail_line(note,
			"does not begin with an em dash and a space", err);
	rest = ks_span(text.data + DASH_LEN, text.len - DASH_LEN);
	space = rest.len == 0 ? NULL : memchr(rest.data, ' ', rest.len);
	if (space == NULL)
		return fail_line(note, "is not a name, a space and base64",
			err);
	line->line = ks_span(text.data, text.len + 1);
	line->name = ks_span(rest.data, (size_t)(space - rest.data));
	if (!ks_key_name_is_legal(line->name))
		return fail_line(note, "has no name, or one with a blank or "
			"'+' in it", err);
	status = decode_payload(note, ks_span(space + 1,
		rest.len - line->name.len - 1), line, err);
	if (status == KS_OK)
		note->line_count++;
	return status;
}

/* The payloads stand one behind the other, each behind its id; where, is known
 * when the buffer no longer grows. */
static void
place_payloads(struct ks_note *note)
{
	const uint8_t *at = note->payloads.data;
	size_t i;

	for (i = 0; i < note->line_count; i++) {
		struct ks_span *payload = &note->lines[i].payload;

		payload->data = at + ID_BYTES;
		at = payload->data + payload->len;
	}
}

/* `block` is at least one line, and each line ends in LF. */
static enum ks_status
parse_lines(struct ks_note *note, struct ks_span block, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (block.len == 0 || block.data[block.len - 1] != '\n')
		return ks_fail(err, KS_CORRUPT, "the signature lines of the "
			"note do not end in a newline (N2)");
	while (status == KS_OK && block.len > 0) {
		const uint8_t *lf = memchr(block.data, '\n', block.len);
		size_t len = (size_t)(lf - block.data);

		if (note->line_count == KS_NOTE_LINES)
			return ks_fail(err, KS_CORRUPT, "the note has more "
				"than %d signature lines (B16)",
				KS_NOTE_LINES);
		status = parse_line(note, ks_span(block.data, len), err);
		block = ks_span(lf + 1, block.len - len - 1);
	}
	place_payloads(note);
	return status;
}

enum ks_status
ks_note_parse(struct ks_span bytes, struct ks_note *out, struct ks_error *err)
{
	struct ks_span block = ks_span(NULL, 0);
	enum ks_status status = check_size(bytes, err);

	out->text = ks_span(NULL, 0);
	out->line_count = 0;
	out->payloads = (struct ks_buf)KS_BUF_INIT;
	if (status == KS_OK)
		status = check_characters(bytes, err);
	if (status == KS_OK && !split(bytes, &out->text, &block))
		status = ks_fail(err, KS_CORRUPT, "the note has no empty line "
			"between text and signatures (N2)");
	if (status == KS_OK)
		status = parse_lines(out, block, err);
	if (status != KS_OK)
		ks_note_release(out);
	return status;
}

void
ks_note_release(struct ks_note *note)
{
	ks_buf_release(&note->payloads);
	note->text = ks_span(NULL, 0);
	note->line_count = 0;
}

void
ks_note_print_line(struct ks_span name, uint32_t id, struct ks_span payload,
	struct ks_buf *out)
{
	const uint8_t bytes[ID_BYTES] = { (uint8_t)(id >> 24),
		(uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id };
	struct ks_buf whole = KS_BUF_INIT;

	ks_buf_append(&whole, ks_span(bytes, sizeof(bytes)));
	ks_buf_append(&whole, payload);
	ks_buf_text(out, dash);
	ks_buf_append(out, name);
	ks_buf_byte(out, ' ');
	ks_base64_encode(ks_buf_span(&whole), out);
	ks_buf_byte(out, '\n');
	out->failed = out->failed || whole.failed;
	ks_buf_release(&whole);
}

void
ks_note_print_cosigned(struct ks_span text, uint64_t time, struct ks_buf *out)
{
	ks_buf_printf(out, "cosignature/v1\ntime %" PRIu64 "\n", time);
	ks_buf_append(out, text);
}

static void
forget(struct ks_note_key *keys, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		keys[i].verified = false;
		keys[i].line = 0;
		keys[i].time = 0;
	}
}

/* A line names its key by (name, id), so that pair must be one key's. */
static enum ks_status
check_keys(const struct ks_note_key *keys, size_t count, struct ks_error *err)
{
	char shown[NAME_SHOWN];
	size_t i, k;

	if (count > KS_NOTE_KEYS)
		return ks_fail(err, KS_USAGE,
			"a note is opened with at most %d keys", KS_NOTE_KEYS);
	for (i = 0; i < count; i++) {
		const struct ks_vkey *a = keys[i].vkey;

		for (k = 0; k < i; k++) {
			if (a->id != keys[k].vkey->id ||
				strcmp(a->name, keys[k].vkey->name) != 0)
				continue;
			return ks_fail(err, KS_USAGE, "two keys are named %s "
				"and have the id %08" PRIx32, ks_printable(
				shown, sizeof(shown), ks_span_text(a->name)),
				a->id);
		}
	}
	return KS_OK;
}

static struct ks_note_key *
find_key(const struct ks_note_line *line, struct ks_note_key *keys,
	size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (keys[i].vkey->id == line->id &&
			ks_span_is(line->name, keys[i].vkey->name))
			return &keys[i];
	}
	return NULL;
}

/* C2SP tlog-cosignature: eight bytes of time, at most 2^63 - 1, and the
 * signature over a message that has the time in it. */
static enum ks_status
verify_cosignature(struct ks_span text, struct ks_span payload,
	const struct ks_public_key *key, uint64_t *time, bool *good,
	struct ks_error *err)
{
	struct ks_buf message = KS_BUF_INIT;
	enum ks_status status;
	uint64_t seconds = 0;
	size_t i;

	*good = false;
	if (payload.len != TIME_BYTES + KS_ED25519_SIGNATURE)
		return KS_OK;
	for (i = 0; i < TIME_BYTES; i++)
		seconds = seconds << 8 | payload.data[i];
	if (seconds > INT64_MAX)
		return KS_OK;
	ks_note_print_cosigned(text, seconds, &message);
	status = ks_buf_check(&message, err);
	if (status == KS_OK) {
		*good = ks_ed25519_verify(key, ks_buf_span(&message),
			payload.data + TIME_BYTES);
		*time = *good ? seconds : 0;
	}
	ks_buf_release(&message);
	return status;
}

/* KS_CORRUPT when a line is not what its key, whose (name, id) it has, made
 * of this text. */
static enum ks_status
verify_line(struct ks_span text, const struct ks_note_line *line,
	const struct ks_vkey *vkey, uint64_t *time, struct ks_error *err)
{
	char shown[NAME_SHOWN];
	enum ks_status status = KS_OK;
	bool good = false;

	*time = 0;
	switch (vkey->type) {
	case KS_SIGNATURE_ED25519:
		good = line->payload.len == KS_ED25519_SIGNATURE &&
			ks_ed25519_verify(&vkey->key, text,
				line->payload.data);
		break;
	case KS_SIGNATURE_COSIGNATURE:
		status = verify_cosignature(text, line->payload, &vkey->key,
			time, &good, err);
		break;
	}
	if (status == KS_OK && !good)
		status = ks_fail(err, KS_CORRUPT, "the signature of %s+%08"
			PRIx32 " does not verify (N2)", ks_printable(shown,
			sizeof(shown), line->name), line->id);
	return status;
}

static enum ks_status
open_lines(const struct ks_note *note, struct ks_note_key *keys, size_t count,
	struct ks_error *err)
{
	size_t verified = 0;
	size_t i;

	for (i = 0; i < note->line_count; i++) {
		const struct ks_note_line *line = &note->lines[i];
		struct ks_note_key *key = find_key(line, keys, count);
		enum ks_status status;

		/* Of a line after the first of its key nothing is known. */
		if (key == NULL || key->verified)
			continue;
		status = verify_line(note->text, line, key->vkey, &key->time,
			err);
		if (status != KS_OK)
			return status;
		key->verified = true;
		key->line = i;
		verified++;
	}
	if (verified == 0)
		return ks_fail(err, KS_UNTRUSTED,
			"the note has no signature by a known key (N2)");
	return KS_OK;
}

enum ks_status
ks_note_open(const struct ks_note *note, struct ks_note_key *keys,
	size_t count, struct ks_error *err)
{
	enum ks_status status;

	forget(keys, count);
	status = check_keys(keys, count, err);
	if (status == KS_OK)
		status = open_lines(note, keys, count, err);
	if (status != KS_OK)
		forget(keys, count);
	return status;
}

/* The lines that a merged note will have, one for each (name, id). */
struct kept {
	const struct ks_note_line *lines[2 * KS_NOTE_LINES];
	size_t count;
};

/* The place of the line that has the (name, id) of `line`, or the next free
 * one. */
static size_t
place_of(const struct kept *kept, const struct ks_note_line *line)
{
	size_t i;

	for (i = 0; i < kept->count; i++) {
		if (kept->lines[i]->id == line->id &&
			ks_span_equal(kept->lines[i]->name, line->name))
			break;
	}
	return i;
}

/* Of old lines the first stays, which is the one that counts. */
static void
keep_old(struct kept *kept, const struct ks_note *note)
{
	size_t i;

	kept->count = 0;
	for (i = 0; i < note->line_count; i++) {
		size_t place = place_of(kept, &note->lines[i]);

		if (place == kept->count)
			kept->lines[kept->count++] = &note->lines[i];
	}
}

static enum ks_status
take_over(struct kept *kept, const struct ks_note *given, struct ks_span text,
	struct ks_note_key *keys, size_t count, struct ks_note_merged *merged,
	struct ks_error *err)
{
	size_t i;

	for (i = 0; i < given->line_count; i++) {
		const struct ks_note_line *line = &given->lines[i];
		struct ks_note_key *key = find_key(line, keys, count);
		size_t place = place_of(kept, line);
		enum ks_status status;
		uint64_t time;

		if (key == NULL) {
			merged->unknown++;
			continue;
		}
		status = verify_line(text, line, key->vkey, &time, err);
		if (status != KS_OK)
			return status;
		if (place == kept->count) {
			merged->added++;
			kept->count++;
		} else if (ks_span_equal(kept->lines[place]->line,
			line->line)) {
			merged->known++;
		} else {
			merged->replaced++;
		}
		kept->lines[place] = line;
	}
	if (merged->unknown == given->line_count)
		return ks_fail(err, KS_UNTRUSTED,
			"no signature given is by a known key (N2)");
	return KS_OK;
}

/* What is published must open, for everybody who knows one of the keys. */
static enum ks_status
compose(const struct kept *kept, size_t most, struct ks_span text,
	struct ks_note_key *keys, size_t count, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_note note;
	enum ks_status status;
	size_t i;

	if (kept->count > most)
		return ks_fail(err, KS_INVALID, "the note would have %zu "
			"signature lines, and at most %zu are published (N2)",
			kept->count, most);
	ks_buf_append(out, text);
	ks_buf_byte(out, '\n');
	for (i = 0; i < kept->count; i++)
		ks_buf_append(out, kept->lines[i]->line);
	status = ks_buf_check(out, err);
	if (status == KS_OK)
		status = ks_note_parse(ks_buf_span(out), &note, err);
	if (status != KS_OK)
		return status;
	status = ks_note_open(&note, keys, count, err);
	ks_note_release(&note);
	return status;
}

static enum ks_status
parse_given(struct ks_span lines, struct ks_note *out, struct ks_error *err)
{
	enum ks_status status = check_size(lines, err);

	out->text = ks_span(NULL, 0);
	out->line_count = 0;
	out->payloads = (struct ks_buf)KS_BUF_INIT;
	if (status == KS_OK)
		status = check_characters(lines, err);
	return status == KS_OK ? parse_lines(out, lines, err) : status;
}

enum ks_status
ks_note_merge(const struct ks_note *note, struct ks_span lines,
	struct ks_note_key *keys, size_t count, size_t most,
	struct ks_buf *out, struct ks_note_merged *merged,
	struct ks_error *err)
{
	struct ks_buf result = KS_BUF_INIT;
	struct ks_note given;
	struct kept kept;
	enum ks_status status;

	*merged = (struct ks_note_merged){ .added = 0 };
	forget(keys, count);
	status = parse_given(lines, &given, err);
	if (status == KS_OK)
		status = check_keys(keys, count, err);
	keep_old(&kept, note);
	if (status == KS_OK)
		status = take_over(&kept, &given, note->text, keys, count,
			merged, err);
	if (status == KS_OK)
		status = compose(&kept, most, note->text, keys, count, &result,
			err);
	if (status == KS_OK) {
		ks_buf_append(out, ks_buf_span(&result));
		status = ks_buf_check(out, err);
	}
	ks_note_release(&given);
	ks_buf_release(&result);
	return status;
}
