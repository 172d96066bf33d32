#include "format/tlogproof.h"

#include "base/base64.h"

#define HEADER "c2sp.org/tlog-proof@v1"
#define EXTRA "extra "
#define INDEX "index "

/* Take the first line off, without its LF. */
static bool
take_line(struct ks_span *text, struct ks_span *line)
{
	const uint8_t *lf = text->len == 0 ? NULL :
		memchr(text->data, '\n', text->len);

	if (lf == NULL)
		return false;
	*line = ks_span(text->data, (size_t)(lf - text->data));
	*text = ks_span(lf + 1, text->len - line->len - 1);
	return true;
}

/* Take `word` off the front of a line. */
static bool
take_word(struct ks_span *line, const char *word)
{
	size_t len = strlen(word);

	if (line->len < len || memcmp(line->data, word, len) != 0)
		return false;
	*line = ks_span(line->data + len, line->len - len);
	return true;
}

/* A decimal number below 2^63, without sign or leading zeros. */
static bool
parse_index(struct ks_span text, uint64_t *out)
{
	size_t i;

	*out = 0;
	if (text.len == 0 || (text.data[0] == '0' && text.len > 1))
		return false;
	for (i = 0; i < text.len; i++) {
		unsigned digit = (unsigned)text.data[i] - '0';

		if (digit > 9 || *out > ((uint64_t)INT64_MAX - digit) / 10)
			return false;
		*out = *out * 10 + digit;
	}
	return true;
}

/* An extra line without anything is not written: there is one text for each
 * proof. */
static bool
is_extra(struct ks_span text)
{
	size_t len;

	return ks_base64_check(text, &len) && len > 0;
}

static bool
is_note(struct ks_span note)
{
	return note.len > 0 && note.data[note.len - 1] == '\n';
}

/* The lines before the hashes. */
static enum ks_status
parse_head(struct ks_span *text, bool with_extra, struct ks_tlogproof *out,
	struct ks_error *err)
{
	struct ks_span line;

	if (!take_line(text, &line) || !ks_span_is(line, HEADER))
		return ks_fail(err, KS_CORRUPT,
			"proof does not begin with the line " HEADER);
	if (!take_line(text, &line))
		return ks_fail(err, KS_CORRUPT, "proof has no index line");
	if (take_word(&line, EXTRA)) {
		if (!with_extra)
			return ks_fail(err, KS_CORRUPT,
				"proof has an extra line (A5)");
		if (!is_extra(line))
			return ks_fail(err, KS_CORRUPT,
				"extra line of a proof is not base64");
		out->extra = line;
		if (!take_line(text, &line))
			return ks_fail(err, KS_CORRUPT,
				"proof has no index line");
	}
	if (!take_word(&line, INDEX))
		return ks_fail(err, KS_CORRUPT, "proof has no index line");
	if (!parse_index(line, &out->index))
		return ks_fail(err, KS_CORRUPT,
			"index of a proof is not a decimal number");
	return KS_OK;
}

/* The hashes, and the empty line that ends them: the first one. */
static enum ks_status
parse_hashes(struct ks_span *text, struct ks_proof *proof,
	struct ks_error *err)
{
	struct ks_span line;

	for (;;) {
		if (!take_line(text, &line))
			return ks_fail(err, KS_CORRUPT,
				"proof has no empty line before its "
				"checkpoint");
		if (line.len == 0)
			return KS_OK;
		if (proof->count == KS_PROOF_MAX)
			return ks_fail(err, KS_CORRUPT,
				"proof of more than %d hashes (B18)",
				KS_PROOF_MAX);
		if (!ks_base64_decode_exact(line,
			proof->hashes[proof->count].bytes, KS_ID_BYTES))
			return ks_fail(err, KS_CORRUPT,
				"hash %zu of a proof is no base64 hash",
				proof->count + 1);
		proof->count++;
	}
}

enum ks_status
ks_tlogproof_parse(struct ks_span text, bool with_extra,
	struct ks_tlogproof *out, struct ks_error *err)
{
	enum ks_status status;

	*out = (struct ks_tlogproof){ .index = 0 };
	status = parse_head(&text, with_extra, out, err);
	if (status == KS_OK)
		status = parse_hashes(&text, &out->proof, err);
	if (status != KS_OK)
		return status;
	out->note = text;
	if (!is_note(text))
		return ks_fail(err, KS_CORRUPT,
			"checkpoint of a proof does not end in a newline");
	return KS_OK;
}

static enum ks_status
check(const struct ks_tlogproof *proof, struct ks_error *err)
{
	if (proof->index > INT64_MAX)
		return ks_fail(err, KS_INVALID,
			"index %llu of a proof is too large",
			(unsigned long long)proof->index);
	if (proof->proof.count > KS_PROOF_MAX)
		return ks_fail(err, KS_INVALID,
			"proof of more than %d hashes (B18)", KS_PROOF_MAX);
	if (proof->extra.len > 0 && !is_extra(proof->extra))
		return ks_fail(err, KS_INVALID,
			"extra line of a proof is not base64");
	if (!is_note(proof->note))
		return ks_fail(err, KS_INVALID,
			"checkpoint of a proof does not end in a newline");
	return KS_OK;
}

enum ks_status
ks_tlogproof_write(const struct ks_tlogproof *proof, struct ks_buf *out,
	struct ks_error *err)
{
	size_t i;
	enum ks_status status = check(proof, err);

	if (status != KS_OK)
		return status;
	ks_buf_text(out, HEADER "\n");
	if (proof->extra.len > 0) {
		ks_buf_text(out, EXTRA);
		ks_buf_append(out, proof->extra);
		ks_buf_byte(out, '\n');
	}
	ks_buf_printf(out, INDEX "%llu\n", (unsigned long long)proof->index);
	for (i = 0; i < proof->proof.count; i++) {
		ks_base64_encode(ks_span(proof->proof.hashes[i].bytes,
			KS_ID_BYTES), out);
		ks_buf_byte(out, '\n');
	}
	ks_buf_byte(out, '\n');
	ks_buf_append(out, proof->note);
	return ks_buf_check(out, err);
}
