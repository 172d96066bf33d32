/*
 * Citation files in the directory: those that are asked for (W12), and what
 * becomes of those that are there when something is taken down (W13).
 */
#include "store/publish_internal.h"

#include <stdio.h>

#include "format/citation.h"
#include "store/cite.h"

#define CITATIONS "citations"
#define ENDING ".json"
#define NAME_LENGTH (KS_ID_HEX + sizeof(ENDING) - 1)

/* ---- those that are asked for ---------------------------------------- */

static enum ks_status
compose(struct ks_publish *publish, const struct ks_id *record,
	struct ks_buf *file, struct ks_error *err)
{
	enum ks_status status = ks_watch_check(publish->watch, err);

	ks_buf_clear(file);
	return status != KS_OK ? status : ks_cite_file(publish->store, record,
		publish->day, ks_buf_span(&publish->note->bytes), file, err);
}

/* They are not kept: there may be many, and the same are made again. */
enum ks_status
ks_publish_judge_citations(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf file = KS_BUF_INIT;
	size_t i;
	enum ks_status status = publish->cite_count == 0 ? KS_OK :
		ks_log_understood(publish->store, err);

	for (i = 0; status == KS_OK && i < publish->cite_count; i++)
		status = compose(publish, &publish->cite[i], &file, err);
	ks_buf_release(&file);
	return status;
}

static enum ks_status
put_citation(struct ks_publish *publish, const struct ks_id *record,
	struct ks_buf *file, struct ks_error *err)
{
	char hex[KS_ID_HEX + 1], path[sizeof(CITATIONS) + NAME_LENGTH + 1];
	bool written = false;
	enum ks_status status = compose(publish, record, file, err);

	(void)snprintf(path, sizeof(path), CITATIONS "/%s" ENDING,
		ks_id_print_hex(record, hex));
	if (status == KS_OK)
		status = ks_webdir_update(publish->dir, path,
			ks_buf_span(file), &written, err);
	publish->result->citations += written;
	return status;
}

enum ks_status
ks_publish_citations(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf file = KS_BUF_INIT;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < publish->cite_count; i++) {
		ks_watch_progress(publish->watch, "publishing citations", i,
			publish->cite_count);
		status = put_citation(publish, &publish->cite[i], &file, err);
	}
	ks_buf_release(&file);
	return status;
}

/* ---- those that are there -------------------------------------------- */

static bool
was_taken_down(const struct ks_publish *publish,
	const struct ks_takedown *takedown)
{
	return takedown->index < publish->note->size;
}

static bool
anything_was_taken_down(const struct ks_publish *publish)
{
	size_t i;

	for (i = 0; i < publish->takedowns.count; i++)
		if (was_taken_down(publish, &publish->takedowns.list[i]))
			return true;
	return false;
}

/* Of this log, by the name of its record, and without what was taken down. */
static bool
may_stay(const struct ks_publish *publish, const struct ks_citation *citation,
	const char *name)
{
	char hex[KS_ID_HEX + 1];
	struct ks_citation_facts facts;
	size_t i;

	ks_citation_facts(citation, &facts);
	if (!ks_span_is(facts.checkpoint.origin, publish->result->origin) ||
		strncmp(name, ks_id_print_hex(&facts.record, hex), KS_ID_HEX)
		!= 0 || strcmp(name + KS_ID_HEX, ENDING) != 0)
		return false;
	for (i = 0; i < publish->takedowns.count; i++) {
		const struct ks_takedown *takedown =
			&publish->takedowns.list[i];

		if (was_taken_down(publish, takedown) && ks_citation_has(
			citation, &takedown->digest))
			return false;
	}
	return true;
}

/* A file of a later version cannot be judged, and is not thrown away: the
 * caller hears of it. */
static enum ks_status
judge_file(struct ks_publish *publish, const char *path, const char *name,
	bool *stays, struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_citation *citation = NULL;
	enum ks_status status = ks_webdir_read(publish->dir, path,
		KS_CITATION_MAX, &bytes, err);

	if (status == KS_OK) {
		status = ks_citation_read(&citation, ks_buf_span(&bytes), err);
		if (status == KS_UNSUPPORTED)
			status = ks_context(err, "%s/%s",
				publish->directory, path);
	}
	*stays = status == KS_OK && may_stay(publish, citation, name);
	ks_citation_free(citation);
	ks_buf_release(&bytes);
	return status == KS_INVALID || status == KS_CORRUPT ? KS_OK : status;
}

static enum ks_status
visit_file(struct ks_publish *publish, const char *name, struct ks_error *err)
{
	char path[sizeof(CITATIONS) + 256];
	bool stays = false;
	enum ks_status status = ks_watch_check(publish->watch, err);

	(void)snprintf(path, sizeof(path), CITATIONS "/%s", name);
	if (status == KS_OK && strlen(name) == NAME_LENGTH)
		status = judge_file(publish, path, name, &stays, err);
	return status != KS_OK || stays ? status :
		ks_webdir_remove(publish->dir, path, err);
}

enum ks_status
ks_publish_drop_citations(struct ks_publish *publish, struct ks_error *err)
{
	struct ks_buf names = KS_BUF_INIT;
	size_t i;
	enum ks_status status;

	if (!anything_was_taken_down(publish))
		return KS_OK;
	status = ks_webdir_list(publish->dir, CITATIONS, &names, err);
	for (i = 0; status == KS_OK && i < names.len;
		i += strlen((const char *)names.data + i) + 1)
		status = visit_file(publish, (const char *)names.data + i,
			err);
	ks_buf_release(&names);
	return status;
}
