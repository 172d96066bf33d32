#include "format/checkpoint.h"

#include <inttypes.h>

#include "base/base64.h"
#include "format/digest.h"

#define TIME_BYTES 8
#define NUMBER_MAX ((uint64_t)INT64_MAX)	/* what others can hold */

bool
ks_checkpoint_read_number(struct ks_span text, uint64_t *out)
{
	uint64_t value = 0;
	size_t i;

	if (text.len == 0 || (text.len > 1 && text.data[0] == '0'))
		return false;
	for (i = 0; i < text.len; i++) {
		unsigned digit = (unsigned)text.data[i] - '0';

		if (digit > 9 || value > (NUMBER_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = value;
	return true;
}

/* Take one line off a text that ends in LF. An empty line, also the one after
 * the end, has no place in a checkpoint. */
static bool
take_line(struct ks_span *text, struct ks_span *line)
{
	const uint8_t *lf = text->len == 0 ? NULL :
		memchr(text->data, '\n', text->len);

	if (lf == NULL || lf == text->data)
		return false;
	*line = ks_span(text->data, (size_t)(lf - text->data));
	*text = ks_span(lf + 1, text->len - line->len - 1);
	return true;
}

static bool
has_empty_line(struct ks_span lines)
{
	struct ks_span line;

	while (take_line(&lines, &line))
		;
	return lines.len > 0;
}

static bool
is_root_of(uint64_t size, const struct ks_id *root)
{
	struct ks_id empty;

	ks_sha256(ks_span(NULL, 0), &empty);
	return size > 0 || ks_id_equal(root, &empty);
}

static enum ks_status
read_lines(const struct ks_span line[3], struct ks_checkpoint *out,
	struct ks_error *err)
{
	out->origin = line[0];
	if (line[0].len > KS_KEY_NAME_MAX)
		return ks_fail(err, KS_CORRUPT, "the origin of the checkpoint "
			"is longer than %d bytes (B17)", KS_KEY_NAME_MAX);
	if (!ks_checkpoint_read_number(line[1], &out->size))
		return ks_fail(err, KS_CORRUPT, "the size of the checkpoint "
			"is not a decimal number below 2^63 without leading "
			"zeros (S1)");
	if (!ks_base64_decode_exact(line[2], out->root.bytes, KS_ID_BYTES))
		return ks_fail(err, KS_CORRUPT, "the root of the checkpoint "
			"is not the base64 of 32 bytes (S1)");
	if (!is_root_of(out->size, &out->root))
		return ks_fail(err, KS_CORRUPT, "the root of the checkpoint "
			"of size 0 is not the hash of nothing (S1)");
	return KS_OK;
}

enum ks_status
ks_checkpoint_parse(struct ks_span text, struct ks_checkpoint *out,
	struct ks_error *err)
{
	struct ks_span line[3];
	enum ks_status status = ks_note_check_text(text, err);

	if (status != KS_OK)
		return status;
	if (!take_line(&text, &line[0]) || !take_line(&text, &line[1]) ||
		!take_line(&text, &line[2]))
		return ks_fail(err, KS_CORRUPT, "the checkpoint does not begin "
			"with three lines that are not empty (S1)");
	if (has_empty_line(text))
		return ks_fail(err, KS_CORRUPT,
			"the checkpoint has an empty line (S1)");
	out->extension = text;
	return read_lines(line, out, err);
}

enum ks_status
ks_checkpoint_of_note(struct ks_span bytes, struct ks_checkpoint *out,
	struct ks_error *err)
{
	struct ks_note note;
	enum ks_status status = ks_note_parse(bytes, &note, err);

	if (status != KS_OK)
		return status;
	status = ks_checkpoint_parse(note.text, out, err);
	ks_note_release(&note);
	return status;
}

void
ks_checkpoint_print(const struct ks_checkpoint *checkpoint, struct ks_buf *out)
{
	ks_buf_append(out, checkpoint->origin);
	ks_buf_printf(out, "\n%" PRIu64 "\n", checkpoint->size);
	ks_base64_encode(ks_span(checkpoint->root.bytes, KS_ID_BYTES), out);
	ks_buf_byte(out, '\n');
	ks_buf_append(out, checkpoint->extension);
}

/* Append the note to `out`, which is cut back by the caller on failure. */
static enum ks_status
sign(const struct ks_checkpoint *checkpoint, const struct ks_vkey *vkey,
	const struct ks_secret_key *key, struct ks_buf *out,
	struct ks_error *err)
{
	uint8_t signature[KS_ED25519_SIGNATURE];
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	ks_checkpoint_print(checkpoint, &text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_ed25519_sign(key, ks_buf_span(&text), signature,
			err);
	if (status == KS_OK) {
		ks_buf_append(out, ks_buf_span(&text));
		ks_buf_byte(out, '\n');
		ks_note_print_line(checkpoint->origin, vkey->id,
			ks_span(signature, sizeof(signature)), out);
		status = ks_buf_check(out, err);
	}
	ks_buf_release(&text);
	return status;
}

enum ks_status
ks_checkpoint_sign(struct ks_span origin, uint64_t size,
	const struct ks_id *root, const struct ks_secret_key *key,
	struct ks_buf *note, struct ks_error *err)
{
	struct ks_checkpoint checkpoint = { .origin = origin, .size = size,
		.root = *root };
	size_t before = note->len;
	struct ks_vkey vkey;
	enum ks_status status = ks_vkey_make(origin, KS_SIGNATURE_ED25519,
		&key->public, &vkey, err);

	if (status == KS_OK && size > NUMBER_MAX)
		status = ks_fail(err, KS_USAGE,
			"a checkpoint's size is below 2^63 (S1)");
	if (status == KS_OK && !is_root_of(size, root))
		status = ks_fail(err, KS_USAGE, "the root of a checkpoint of "
			"size 0 is the hash of nothing (S1)");
	if (status == KS_OK)
		status = sign(&checkpoint, &vkey, key, note, err);
	if (status != KS_OK)
		note->len = before;
	return status;
}

static enum ks_status
cosign(struct ks_span text, const struct ks_vkey *cosigner,
	const struct ks_secret_key *key, uint64_t time, struct ks_buf *out,
	struct ks_error *err)
{
	uint8_t payload[TIME_BYTES + KS_ED25519_SIGNATURE];
	struct ks_buf message = KS_BUF_INIT;
	enum ks_status status;
	size_t i;

	for (i = 0; i < TIME_BYTES; i++)
		payload[i] = (uint8_t)(time >> (8 * (TIME_BYTES - 1 - i)));
	ks_note_print_cosigned(text, time, &message);
	status = ks_buf_check(&message, err);
	if (status == KS_OK)
		status = ks_ed25519_sign(key, ks_buf_span(&message),
			payload + TIME_BYTES, err);
	if (status == KS_OK) {
		ks_note_print_line(ks_span_text(cosigner->name), cosigner->id,
			ks_span(payload, sizeof(payload)), out);
		status = ks_buf_check(out, err);
	}
	ks_buf_release(&message);
	return status;
}

enum ks_status
ks_checkpoint_cosign(struct ks_span text, const struct ks_vkey *cosigner,
	const struct ks_secret_key *key, uint64_t time, struct ks_buf *line,
	struct ks_error *err)
{
	struct ks_checkpoint checkpoint;
	size_t before = line->len;
	enum ks_status status = ks_checkpoint_parse(text, &checkpoint, err);

	if (status == KS_OK && (cosigner->type != KS_SIGNATURE_COSIGNATURE ||
		!ks_public_key_equal(&cosigner->key, &key->public)))
		status = ks_fail(err, KS_USAGE, "a checkpoint is cosigned "
			"with the key of a vkey of type 04 (N11)");
	if (status == KS_OK && time > NUMBER_MAX)
		status = ks_fail(err, KS_USAGE,
			"the time of a cosignature is below 2^63 seconds");
	if (status == KS_OK)
		status = cosign(text, cosigner, key, time, line, err);
	if (status != KS_OK)
		line->len = before;
	return status;
}
