/*
 * The page of an object: which one it gets, and what is on all of them.
 */
#include "store/page.h"

#include <stdio.h>

#include "format/citetext.h"
#include "format/kind.h"

/* Of a date, YYYY-MM-DD. */
#define DATE_CHARS 10

void
ks_page_command(struct ks_composing *c, const char *command,
	const char *options)
{
	struct ks_buf *note = ks_draft_note(&c->draft);

	ks_buf_printf(note, "kistore %s ", command);
	ks_part_digits(note, &c->part->digest);
	ks_buf_text(note, options);
}

/* ---- the manifest ------------------------------------------------------- */

/* The text that KernelIndex's page shows. Where what it needs is not here, the
 * record's alone. */
static enum ks_status
say_text(struct ks_composing *c, struct ks_error *err)
{
	struct ks_buf *value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	enum ks_status status = ks_get(c->store, &c->part->digest,
		KS_GET_PAGE, value, err);

	if (status == KS_NOT_FOUND)
		status = ks_get(c->store, &c->part->digest, KS_GET_MANIFEST,
			value, err);
	while (value->len > 0 && value->data[value->len - 1] == '\n')
		value->len--;
	return status;
}

enum ks_status
ks_page_manifest(struct ks_composing *c, struct ks_error *err)
{
	bool is_record = c->part->record.spec.len > 0;
	struct ks_draft *draft = &c->draft;
	char text[KS_ID_TEXT + 1];

	ks_draft_section(draft, is_record ? "Canonical manifest" :
		"Canonical bytes");
	if (is_record && c->options->manifest) {
		enum ks_status status = say_text(c, err);

		if (status != KS_OK)
			return status;
	} else if (is_record) {
		ks_draft_say(draft, "", "Show manifest");
		ks_page_command(c, "get --page", "");
	}
	ks_buf_text(ks_draft_row(draft, "digest", KS_ROW_OBJECT),
		ks_id_print(&c->part->digest, text));
	ks_page_command(c, "get", " | sha256sum");
	return KS_OK;
}

/* ---- citation ----------------------------------------------------------- */

void
ks_page_citation(struct ks_composing *c, const struct ks_part *const *parts,
	struct ks_buf *out)
{
	const struct ks_named record = ks_part_named(c->part);
	struct ks_citetext text = KS_CITETEXT_INIT;

	ks_citetext_compose(&text, &record, ks_parts_find, &parts);
	ks_citetext_print(&text, ks_span_text(c->accessed), out);
	ks_citetext_release(&text);
}

/* ---- composing ---------------------------------------------------------- */

static enum ks_status
compose_run(struct ks_composing *c, struct ks_error *err)
{
	struct ks_run_parts parts;
	enum ks_status status = ks_run_read(c->store, &c->part->digest,
		&parts, err);

	if (status == KS_OK)
		status = ks_page_run(c, &parts, err);
	ks_run_release(&parts);
	return status;
}

static enum ks_status
compose_serving(struct ks_composing *c, struct ks_error *err)
{
	struct ks_serving_parts parts;
	enum ks_status status = ks_serving_read(c->store, &c->part->digest,
		&parts, err);

	if (status == KS_OK)
		status = ks_page_serving(c, &parts, err);
	ks_serving_release(&parts);
	return status;
}

static enum ks_status
compose(struct ks_composing *c, struct ks_error *err)
{
	if (c->part->record.spec.len == 0)
		return ks_page_raw(c, err);
	if (ks_part_is(c->part, "BenchmarkRun"))
		return compose_run(c, err);
	if (ks_part_is(c->part, "ServingRun"))
		return compose_serving(c, err);
	return ks_page_record(c, err);
}

/* What a page is known by, beside its rows. */
static enum ks_status
describe(struct ks_composing *c, struct ks_page_made *made,
	struct ks_error *err)
{
	struct ks_texts *texts = &made->texts;
	struct ks_page *page = &made->page;
	struct ks_buf id = KS_BUF_INIT;

	(void)ks_part_note(c->part->provenance, "id", &id);
	page->digest = c->part->digest;
	page->kind = ks_texts_keep(texts, ks_span_text(c->part->row.kind));
	page->title = ks_texts_keep(texts, ks_buf_span(&c->title));
	page->name = ks_texts_keep(texts, ks_span_text(c->part->row.name));
	page->id = ks_texts_keep(texts, ks_buf_span(&id));
	page->comparison_key = ks_texts_keep(texts, ks_buf_span(&c->key));
	page->retracted = c->history.retracted;
	page->superseded = c->history.superseded;
	c->draft.failed = false;
	ks_draft_spent(&c->draft, &id);
	return texts->failed || c->draft.failed || c->title.failed ||
		c->key.failed ? ks_fail_nomem(err) : KS_OK;
}

static enum ks_status
finish(struct ks_composing *c, struct ks_page **out, struct ks_error *err)
{
	struct ks_page_made *made;
	enum ks_status status = ks_draft_finish(&c->draft, &made, err);

	if (status == KS_OK)
		status = describe(c, made, err);
	if (status != KS_OK) {
		ks_page_free(made == NULL ? NULL : &made->page);
		return status;
	}
	*out = &made->page;
	return KS_OK;
}

/* The day that a citation names, which is one of the calendar. */
static enum ks_status
set_accessed(struct ks_composing *c, struct ks_error *err)
{
	const char *given = c->options->accessed;
	char shown[64];

	if (given == NULL) {
		if (ks_time_print(c->options->now, c->accessed))
			c->accessed[DATE_CHARS] = '\0';
		return KS_OK;
	}
	if (strlen(given) == DATE_CHARS) {
		(void)snprintf(c->accessed, sizeof(c->accessed),
			"%sT00:00:00Z", given);
		if (ks_shape_instant(ks_span_text(c->accessed))) {
			c->accessed[DATE_CHARS] = '\0';
			return KS_OK;
		}
	}
	return ks_fail(err, KS_USAGE, "%s is no date YYYY-MM-DD, of access to "
		"a record", ks_printable(shown, sizeof(shown),
		ks_span_text(given)));
}

enum ks_status
ks_page_new(struct ks_page **out, struct ks_store *store,
	const struct ks_id *digest, const struct ks_page_options *options,
	struct ks_error *err)
{
	struct ks_composing c = {
		.store = store, .options = options, .draft = KS_DRAFT_INIT,
		.history = KS_HISTORY_INIT
	};
	struct ks_part part;
	enum ks_status status = ks_log_understood(store, err);

	*out = NULL;
	memset(&part, 0, sizeof(part));
	c.part = &part;
	if (status == KS_OK)
		status = set_accessed(&c, err);
	if (status == KS_OK)
		status = ks_part_need(store, digest, &part, err);
	if (status == KS_OK)
		status = ks_history_read(store, digest, &c.history, err);
	if (status == KS_OK)
		status = compose(&c, err);
	if (status == KS_OK)
		status = finish(&c, out, err);
	ks_draft_release(&c.draft);
	ks_history_release(&c.history);
	ks_buf_release(&c.title);
	ks_buf_release(&c.key);
	ks_part_release(&part);
	return status;
}
