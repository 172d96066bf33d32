/*
 * The page of a raw object: bytes that are no record.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"
#include "format/json.h"
#include "store/page.h"

/* What is shown of the bytes. */
#define LINES 10
#define LINE_BYTES 400
#define DUMP_LINE 16
#define DUMP_BYTES 64

/* Text is UTF-8 without control characters but those that set it. */
static bool
is_text(struct ks_span bytes)
{
	size_t i;

	for (i = 0; i < bytes.len; i++) {
		uint8_t c = bytes.data[i];

		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r' &&
			c != '\f') || c == 0x7f)
			return false;
	}
	return ks_utf8_check(bytes) == bytes.len;
}

/* The first bytes of a line that make whole characters. */
static size_t
whole_start(struct ks_span line)
{
	size_t len = LINE_BYTES;

	while (len > 0 && (line.data[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static void
say_line(struct ks_draft *draft, struct ks_span line)
{
	struct ks_buf *value = ks_draft_row(draft, "", KS_ROW_OBJECT);
	size_t shown = line.len > LINE_BYTES ? whole_start(line) : line.len;

	ks_buf_append(value, ks_span(line.data, shown));
	if (shown < line.len)
		ks_buf_printf(ks_draft_note(draft), "and %zu bytes more",
			line.len - shown);
}

static void
say_lines(struct ks_draft *draft, struct ks_span bytes)
{
	size_t i;

	ks_draft_section(draft, "First lines");
	for (i = 0; i < LINES && bytes.len > 0; i++) {
		const uint8_t *lf = memchr(bytes.data, '\n', bytes.len);
		size_t len = lf == NULL ? bytes.len :
			(size_t)(lf - bytes.data);
		size_t used = lf == NULL ? len : len + 1;

		say_line(draft, ks_span(bytes.data, len));
		bytes = ks_span(bytes.data + used, bytes.len - used);
	}
	if (bytes.len > 0)
		ks_buf_printf(ks_draft_row(draft, "", KS_ROW_TEXT),
			"and %zu bytes more", bytes.len);
}

/* As hex digits: they disturb no terminal. */
static void
say_dump(struct ks_draft *draft, struct ks_span bytes)
{
	char label[24];
	size_t i, k;

	ks_draft_section(draft, "First bytes");
	for (i = 0; i < bytes.len && i < DUMP_BYTES; i += DUMP_LINE) {
		struct ks_buf *value;

		(void)snprintf(label, sizeof(label), "%04zx", i);
		value = ks_draft_row(draft, label, KS_ROW_OBJECT);
		for (k = i; k < bytes.len && k < i + DUMP_LINE; k++)
			ks_buf_printf(value, "%s%02x", k == i ? "" : " ",
				bytes.data[k]);
	}
}

static void
say_identity(struct ks_composing *c, bool text)
{
	struct ks_draft *draft = &c->draft;
	char digest[KS_ID_TEXT + 1];

	ks_draft_section(draft, "Identity");
	ks_buf_text(ks_draft_row(draft, "digest", KS_ROW_OBJECT),
		ks_id_print(&c->part->digest, digest));
	ks_buf_printf(ks_draft_row(draft, "size", KS_ROW_OBJECT),
		"%zu bytes", c->part->body.len);
	ks_buf_text(ks_draft_row(draft, "type", KS_ROW_OBJECT),
		text ? "text" : "binary");
	ks_buf_text(ks_draft_note(draft), "a guess by its bytes");
	ks_draft_member(draft, "id", c->part->provenance, "id", KS_ROW_LOG);
}

/* ---- who describes it --------------------------------------------------- */

static bool
collect(void *arg, const struct ks_id *digest)
{
	struct ks_buf *digests = arg;

	ks_buf_append(digests, ks_span(digest, sizeof(*digest)));
	return digests->failed;
}

static enum ks_status
say_artifact(struct ks_composing *c, const struct ks_id *digest,
	struct ks_error *err)
{
	struct ks_part artifact;
	struct ks_span spec;
	struct ks_buf *value;
	enum ks_status status = ks_part_read(c->store, digest, &artifact, err);

	spec = artifact.record.spec;
	if (status == KS_OK && artifact.is_here) {
		value = ks_draft_row(&c->draft, "Artifact", KS_ROW_OBJECT);
		ks_draft_target(&c->draft, digest);
		ks_part_title(&artifact, value);
		ks_buf_text(value, " · ");
		ks_draft_scalar(value, ks_json_get(spec, "mediaType"));
		ks_buf_text(value, " · ");
		ks_draft_scalar(value, ks_json_get(spec, "kind"));
		(void)ks_part_note(spec, "license",
			ks_draft_note(&c->draft));
	}
	ks_part_release(&artifact);
	return status;
}

static enum ks_status
say_artifacts(struct ks_composing *c, struct ks_error *err)
{
	struct ks_buf digests = KS_BUF_INIT;	/* struct ks_id each */
	struct ks_catalogue *catalogue;
	struct ks_id digest;
	size_t at;
	enum ks_status status = ks_store_catalogue(c->store, &catalogue,
		c->options->watch, err);

	ks_draft_section(&c->draft, "Described by");
	if (status == KS_OK)
		status = ks_catalogue_artifacts(catalogue, &c->part->digest,
			collect, &digests, err);
	if (status == KS_OK)
		status = ks_buf_check(&digests, err);
	for (at = 0; status == KS_OK && at < digests.len;
		at += sizeof(digest)) {
		memcpy(&digest, digests.data + at, sizeof(digest));
		status = say_artifact(c, &digest, err);
	}
	ks_buf_release(&digests);
	return status;
}

/* ---- the page ----------------------------------------------------------- */

enum ks_status
ks_page_raw(struct ks_composing *c, struct ks_error *err)
{
	struct ks_span bytes = ks_buf_span(&c->part->body);
	bool text = is_text(bytes);
	enum ks_status status;

	ks_buf_text(&c->title, "Raw object ");
	ks_part_digits(&c->title, &c->part->digest);
	ks_draft_section(&c->draft, "");
	ks_buf_append(ks_draft_row(&c->draft, "", KS_ROW_OBJECT),
		ks_buf_span(&c->title));
	ks_page_strip(c, "Superseded; preserved for the audit trail.");
	say_identity(c, text);
	status = say_artifacts(c, err);
	if (status == KS_OK)
		status = ks_page_users(c, err);
	if (status != KS_OK)
		return status;
	if (text)
		say_lines(&c->draft, bytes);
	else
		say_dump(&c->draft, bytes);
	ks_page_history(c);
	return ks_page_manifest(c, err);
}
