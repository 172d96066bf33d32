#include "cli/out_entry.h"

#include <inttypes.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "cli/out.h"
#include "cli/ref.h"

/* A string member, or NULL. */
static const char *
text_of(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));
}

/* ---- For people -------------------------------------------------------- */

/* " TEXT", where there is a text. */
static void
add_field(const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	ks_out_printf(" ");
	ks_out_field(text);
}

static void
add_digest(const char *text)
{
	struct ks_id digest;
	char digits[KS_ID_HEX + 1];

	if (text != NULL && ks_id_parse(&digest, ks_span_text(text)))
		add_field(ks_ref_short(&digest, digits));
}

/* A reason is text, or an object in what was imported. */
static enum ks_status
add_reason(const cJSON *reason, struct ks_error *err)
{
	char *text;

	if (!cJSON_IsObject(reason)) {
		add_field(cJSON_GetStringValue(reason));
		return KS_OK;
	}
	text = cJSON_PrintUnformatted(reason);
	if (text == NULL)
		return ks_fail_nomem(err);
	add_field(text);
	cJSON_free(text);
	return KS_OK;
}

static enum ks_status
add_content(const cJSON *entry, struct ks_error *err)
{
	const char *kind = text_of(entry, "kind");

	add_digest(text_of(entry, "digest"));
	if (kind != NULL)
		add_field(ks_ref_kind(kind));
	add_field(text_of(cJSON_GetObjectItemCaseSensitive(entry, "metadata"),
		"name"));
	if (text_of(entry, "by") != NULL)
		ks_out_printf(" by");
	add_digest(text_of(entry, "by"));
	add_field(text_of(entry, "format"));
	add_field(text_of(entry, "role"));
	add_field(text_of(entry, "key"));
	return add_reason(cJSON_GetObjectItemCaseSensitive(entry, "reason"),
		err);
}

static bool
is_redacted(struct ks_span line)
{
	return line.len > 0 && line.data[0] == '-';
}

/* A line without an entry in it: "-" stands where the time would. */
static void
print_other(struct ks_span line)
{
	char shown[KS_REF_DIGITS + 1];

	if (!is_redacted(line)) {
		ks_out_printf("-                    damaged\n");
		return;
	}
	(void)ks_printable(shown, sizeof(shown),
		ks_span(line.data + 1, line.len - 1));
	ks_out_printf("-                    redacted  leaf %s\n", shown);
}

enum ks_status
ks_out_entry(uint64_t index, int width, struct ks_span line,
	struct ks_error *err)
{
	cJSON *entry = is_redacted(line) || line.len == 0 ? NULL :
		cJSON_ParseWithLength((const char *)line.data, line.len);
	const char *at = text_of(entry, "at");
	const char *op = text_of(entry, "op");
	enum ks_status status = KS_OK;
	char shown[64];

	ks_out_printf("%*" PRIu64 " ", width, index);
	if (at == NULL || op == NULL) {
		print_other(line);
	} else {
		ks_out_printf("%s ", ks_printable(shown, sizeof(shown),
			ks_span_text(at)));
		ks_out_printf("%-9s", ks_printable(shown, sizeof(shown),
			ks_span_text(op)));
		status = add_content(entry, err);
		ks_out_printf("\n");
	}
	cJSON_Delete(entry);
	return status;
}

/* ---- For programs ------------------------------------------------------ */

/* Whether a line may stand in a document as it is. */
static bool
is_canonical(struct ks_span line)
{
	struct ks_buf canonical = KS_BUF_INIT;
	bool same = ks_canonicalise(line, &canonical, NULL) == KS_OK &&
		ks_span_equal(ks_buf_span(&canonical), line);

	ks_buf_release(&canonical);
	return same;
}

enum ks_status
ks_out_entry_json(uint64_t index, struct ks_span line, bool verified,
	struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("log");

	ks_doc_integer(doc, "index", (int64_t)index);
	if (is_redacted(line))
		ks_doc_span(doc, "redacted",
			ks_span(line.data + 1, line.len - 1));
	else if (is_canonical(line))
		ks_doc_json(doc, "entry", line);
	else
		ks_doc_span(doc, "damaged", line);
	ks_doc_bool(doc, "verified", verified);
	return ks_doc_write(doc, err);
}
