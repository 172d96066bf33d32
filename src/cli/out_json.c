#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/utf8.h"
#include "cli/out.h"

/* How deeply documents nest. */
#define DEPTH_MAX 16

struct ks_doc {
	cJSON *open[DEPTH_MAX];	/* from the document to the innermost */
	size_t depth;		/* how many are open; at least the first */
	bool failed;
};

struct ks_doc *
ks_doc_new(const char *name)
{
	struct ks_doc *doc = calloc(1, sizeof(*doc));
	char schema[64];

	if (doc == NULL)
		return NULL;
	doc->open[0] = cJSON_CreateObject();
	doc->depth = 1;
	doc->failed = doc->open[0] == NULL;
	(void)snprintf(schema, sizeof(schema), "kistore-%s/1", name);
	ks_doc_text(doc, "schema", schema);
	return doc;
}

void
ks_doc_free(struct ks_doc *doc)
{
	if (doc == NULL)
		return;
	cJSON_Delete(doc->open[0]);
	free(doc);
}

/* Hang `item` (NULL = it could not be made) into the innermost container. */
static bool
add(struct ks_doc *doc, const char *name, cJSON *item)
{
	cJSON *parent = doc->open[doc->depth - 1];
	bool added = false;

	if (item != NULL && !doc->failed)
		added = name == NULL ? cJSON_AddItemToArray(parent, item) :
			cJSON_AddItemToObject(parent, name, item);
	if (!added) {
		cJSON_Delete(item);
		doc->failed = true;
	}
	return added;
}

static void
begin(struct ks_doc *doc, const char *name, cJSON *container)
{
	if (doc->depth == DEPTH_MAX) {
		cJSON_Delete(container);
		doc->failed = true;
		return;
	}
	if (add(doc, name, container))
		doc->open[doc->depth++] = container;
}

void
ks_doc_object(struct ks_doc *doc, const char *name)
{
	if (doc != NULL && !doc->failed)
		begin(doc, name, cJSON_CreateObject());
}

void
ks_doc_array(struct ks_doc *doc, const char *name)
{
	if (doc != NULL && !doc->failed)
		begin(doc, name, cJSON_CreateArray());
}

void
ks_doc_end(struct ks_doc *doc)
{
	if (doc != NULL && !doc->failed && doc->depth > 1)
		doc->depth--;
}

void
ks_doc_text(struct ks_doc *doc, const char *name, const char *text)
{
	ks_doc_span(doc, name, ks_span_text(text));
}

void
ks_doc_some(struct ks_doc *doc, const char *name, const char *text)
{
	if (text[0] == '\0')
		ks_doc_null(doc, name);
	else
		ks_doc_text(doc, name, text);
}

/* cJSON keeps C strings and does not look at their encoding. */
static bool
fits_cjson(struct ks_span text)
{
	return (text.len == 0 || memchr(text.data, '\0', text.len) == NULL) &&
		ks_utf8_check(text) == text.len;
}

void
ks_doc_span(struct ks_doc *doc, const char *name, struct ks_span text)
{
	size_t size = 4 * text.len + 1;
	char *copy;

	if (doc == NULL || doc->failed)
		return;
	copy = malloc(size);
	if (copy == NULL) {
		doc->failed = true;
		return;
	}
	if (fits_cjson(text)) {
		if (text.len > 0)
			memcpy(copy, text.data, text.len);
		copy[text.len] = '\0';
	} else
		(void)ks_printable(copy, size, text);
	(void)add(doc, name, cJSON_CreateString(copy));
	free(copy);
}

void
ks_doc_integer(struct ks_doc *doc, const char *name, int64_t value)
{
	char digits[24];

	/* As raw text: cJSON keeps doubles, and prints those of 16 digits
	 * with an exponent. */
	(void)snprintf(digits, sizeof(digits), "%" PRId64, value);
	ks_doc_json(doc, name, ks_span_text(digits));
}

void
ks_doc_bool(struct ks_doc *doc, const char *name, bool value)
{
	if (doc != NULL && !doc->failed)
		(void)add(doc, name, cJSON_CreateBool(value));
}

void
ks_doc_null(struct ks_doc *doc, const char *name)
{
	if (doc != NULL && !doc->failed)
		(void)add(doc, name, cJSON_CreateNull());
}

void
ks_doc_json(struct ks_doc *doc, const char *name, struct ks_span json)
{
	struct ks_buf text = KS_BUF_INIT;

	if (doc == NULL || doc->failed)
		return;
	ks_buf_append(&text, json);
	(void)add(doc, name, cJSON_CreateRaw(ks_buf_cstr(&text)));
	doc->failed = doc->failed || text.failed;
	ks_buf_release(&text);
}

void
ks_doc_digest(struct ks_doc *doc, const char *name, const struct ks_id *digest)
{
	char text[KS_ID_TEXT + 1];

	ks_doc_text(doc, name, ks_id_print(digest, text));
}

enum ks_status
ks_doc_write(struct ks_doc *doc, struct ks_error *err)
{
	char *text = NULL;
	enum ks_status status = KS_OK;

	if (doc != NULL && !doc->failed)
		text = cJSON_PrintUnformatted(doc->open[0]);
	if (text == NULL)
		status = ks_fail_nomem(err);
	else
		ks_out_printf("%s\n", text);
	cJSON_free(text);
	ks_doc_free(doc);
	return status;
}
