#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "format/label.h"
#include "format/measure.h"
#include "format/permalink.h"
#include "format/ranking.h"
#include "format/readout.h"
#include "format/uuid.h"
#include "store/listing.h"
#include "store/watch.h"

#define COLUMNS_MAX KS_LIST_COLUMNS

struct listing {
	struct ks_reader *reader;
	const struct ks_list_sink *sink;
	struct ks_list_result *result;
	const struct ks_field *columns[COLUMNS_MAX];
	size_t column_count;
	/* Of the record at hand: all values, and where each is. */
	struct ks_buf text;
	size_t starts[COLUMNS_MAX + 1];
	struct ks_span values[COLUMNS_MAX];
};

/* ---- values ------------------------------------------------------------- */

static void
append_first(struct ks_buf *out, struct ks_span a, struct ks_span b)
{
	ks_buf_append(out, a.len > 0 ? a : b);
}

static void
append_state(struct ks_buf *out, const struct ks_found *record)
{
	bool retracted = (record->subject.flags & KS_RECORD_RETRACTED) != 0;
	bool superseded = (record->subject.flags & KS_RECORD_SUPERSEDED) != 0;

	if (retracted)
		ks_buf_text(out, "retracted");
	if (superseded)
		ks_buf_text(out, retracted ? ", superseded" : "superseded");
}

static void
append_workload(struct ks_buf *out, const struct ks_found *workload)
{
	size_t before = out->len;

	ks_label_workload(out, ks_buf_span(&workload->body));
	if (out->len == before)		/* it serves a model */
		append_first(out, ks_found_text(workload, KS_FACT_TITLE),
			ks_found_text(workload, KS_FACT_NAME));
}

static enum ks_status
append_implementation(struct listing *listing, struct ks_buf *out,
	const struct ks_found *implementation, struct ks_error *err)
{
	const struct ks_found *operation;
	enum ks_status status = ks_reader_follow(listing->reader,
		implementation, "operation", &operation, err);

	if (status == KS_OK)
		ks_label_implementation(out, implementation->metadata,
			ks_json_get_raw(implementation->provenance, "slug"),
			operation == NULL ? ks_span(NULL, 0) :
			operation->metadata);
	return status;
}

static void
append_result(struct ks_buf *out, const struct ks_found *run)
{
	struct ks_span statistic = ks_found_text(run, KS_TERM_STATISTIC);
	struct ks_buf unit = KS_BUF_INIT;

	if (!run->facts.has_value)
		return;
	ks_json_quote(&unit, ks_found_text(run, KS_TERM_UNIT));
	ks_readout_value(out, run->facts.value, ks_json_raw(
		ks_buf_span(&unit)));
	out->failed = out->failed || unit.failed;
	ks_buf_release(&unit);
	if (statistic.len > 0)
		ks_buf_byte(out, ' ');
	ks_buf_append(out, statistic);
}

static enum ks_status
append_evidence(struct listing *listing, struct ks_buf *out,
	const struct ks_found *run, struct ks_error *err)
{
	enum ks_evidence evidence;
	enum ks_status status = ks_reader_evidence(listing->reader, run,
		&evidence, err);

	if (status == KS_OK)
		ks_buf_text(out, ks_field_level(evidence));
	return status;
}

static enum ks_status
append_key(struct listing *listing, struct ks_buf *out,
	const struct ks_found *run, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	struct ks_id key;
	bool has_key;
	enum ks_status status = ks_reader_key(listing->reader, run, &key,
		&has_key, err);

	if (status == KS_OK && has_key)
		ks_buf_text(out, ks_id_print(&key, text));
	return status;
}

static void
append_reasons(struct ks_buf *out, const struct ks_found *run)
{
	const struct ks_standing standing = {
		.status = ks_json_get_raw(ks_found_text(run, KS_FACT_SPEC),
			"status"),
		.is_published = true,
		.is_retracted = (run->subject.flags & KS_RECORD_RETRACTED) !=
			0,
		.is_superseded = (run->subject.flags &
			KS_RECORD_SUPERSEDED) != 0,
		.has_primary = run->facts.has_value
	};

	ks_ranking_reasons(out, &standing);
}

/* A member of the wrong type counts as absent. */
static void
append_member(struct ks_buf *out, const struct ks_field *field,
	const struct ks_found *record)
{
	struct ks_span value = ks_json_get(ks_buf_span(&record->body), "spec");
	const char *path = field->member;
	enum ks_json_type type;
	char name[32];

	while (value.len > 0 && *path != '\0') {
		size_t len = strcspn(path, ".");

		(void)snprintf(name, sizeof(name), "%.*s", (int)len, path);
		value = ks_json_get(value, name);
		path += len + (path[len] == '.' ? 1 : 0);
	}
	type = value.len == 0 ? KS_JSON_NULL : ks_json_type(value);
	if (field->shown.type == KS_LIST_TEXT && type == KS_JSON_STRING)
		ks_json_unescape(out, ks_json_raw(value));
	else if ((field->shown.type == KS_LIST_JSON &&
		type == KS_JSON_OBJECT) ||
		(ks_list_is_number(&field->shown) && type == KS_JSON_NUMBER))
		ks_buf_append(out, value);
}

/* A measurement as canonical JSON; its names are escaped already. */
static void
append_measurement(struct ks_buf *out, const struct ks_measurement *row)
{
	ks_buf_text(out, "{\"metric\":\"");
	ks_buf_append(out, row->metric);
	ks_buf_text(out, "\",\"samples\":");
	if (row->samples > 0)
		ks_buf_printf(out, "%lld", (long long)row->samples);
	else
		ks_buf_text(out, "null");
	ks_buf_text(out, ",\"statistic\":\"");
	ks_buf_append(out, row->statistic);
	ks_buf_text(out, "\",\"unit\":\"");
	ks_buf_append(out, row->unit);
	ks_buf_text(out, "\",\"value\":");
	ks_readout_number(out, row->value);
	ks_buf_byte(out, '}');
}

static enum ks_status
append_measurements(struct ks_buf *out, const struct ks_found *run,
	struct ks_error *err)
{
	struct ks_measurement *rows;
	size_t count, i;
	enum ks_status status = ks_measure_list(ks_found_text(run,
		KS_FACT_SPEC), &rows, &count, err);

	if (status != KS_OK)
		return status;
	for (i = 0; i < count; i++) {
		ks_buf_byte(out, i == 0 ? '[' : ',');
		append_measurement(out, &rows[i]);
	}
	if (count > 0)
		ks_buf_byte(out, ']');
	free(rows);
	return KS_OK;
}

/* Append the value of a field of `at`, the record that has it. */
static enum ks_status
append_value(struct listing *listing, const struct ks_field *field,
	const struct ks_found *at, struct ks_error *err)
{
	const struct ks_facts *facts = &at->facts;
	struct ks_buf *out = &listing->text;
	char text[KS_ID_TEXT + 1];

	switch (field->value) {
	case KS_VALUE_NONE:
		break;
	case KS_VALUE_TERM:
	case KS_VALUE_TEXT:
		ks_buf_append(out, ks_found_text(at, field->which));
		break;
	case KS_VALUE_DIGEST:
		ks_buf_text(out, ks_id_print(&at->subject.digest, text));
		break;
	case KS_VALUE_STATE:
		append_state(out, at);
		break;
	case KS_VALUE_ID:
		if (facts->has_id)
			ks_buf_text(out, ks_uuid_print(facts->id, text));
		break;
	case KS_VALUE_NAME:
		append_first(out, ks_found_text(at, KS_FACT_NAME),
			ks_found_text(at, KS_FACT_TITLE));
		break;
	case KS_VALUE_PROPER:
		append_first(out, ks_found_text(at, KS_FACT_TITLE),
			ks_found_text(at, KS_FACT_NAME));
		break;
	case KS_VALUE_WORKLOAD:
		append_workload(out, at);
		break;
	case KS_VALUE_IMPLEMENTATION:
		return append_implementation(listing, out, at, err);
	case KS_VALUE_RESULT:
		append_result(out, at);
		break;
	case KS_VALUE_NUMBER:
		if (facts->has_value)
			ks_readout_number(out, facts->value);
		break;
	case KS_VALUE_SAMPLES:
		if (facts->samples > 0)
			ks_buf_printf(out, "%lld", (long long)facts->samples);
		break;
	case KS_VALUE_EVIDENCE:
		return append_evidence(listing, out, at, err);
	case KS_VALUE_KEY:
		return append_key(listing, out, at, err);
	case KS_VALUE_MARK:
		ks_buf_text(out, (at->subject.flags & field->which) != 0 ?
			"true" : "false");
		break;
	case KS_VALUE_REASONS:
		append_reasons(out, at);
		break;
	case KS_VALUE_RELATION:
		if ((facts->related >> field->which & 1) != 0)
			ks_buf_text(out, ks_id_print(
				&facts->relations[field->which], text));
		break;
	case KS_VALUE_MEMBER:
		append_member(out, field, at);
		break;
	case KS_VALUE_MEASUREMENTS:
		return append_measurements(out, at, err);
	case KS_VALUE_LOW:
		if (facts->has_interval)
			ks_readout_number(out, facts->low);
		break;
	case KS_VALUE_HIGH:
		if (facts->has_interval)
			ks_readout_number(out, facts->high);
		break;
	case KS_VALUE_PERMALINK:
		ks_permalink_print(out, at->subject.kind, ks_span_text(
			facts->has_id ? ks_uuid_print(facts->id, text) :
			ks_id_print(&at->subject.digest, text)));
		break;
	}
	return KS_OK;
}

static enum ks_status
append_column(struct listing *listing, const struct ks_field *field,
	const struct ks_found *record, struct ks_error *err)
{
	const char *path = ks_field_path(field, record->subject.kind);
	const struct ks_found *at;
	enum ks_status status;

	if (path == NULL)
		return KS_OK;
	status = ks_reader_follow(listing->reader, record, path, &at, err);
	return status != KS_OK || at == NULL ? status :
		append_value(listing, field, at, err);
}

static enum ks_status
fill_values(struct listing *listing, const struct ks_found *record,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	ks_buf_clear(&listing->text);
	for (i = 0; status == KS_OK && i < listing->column_count; i++) {
		listing->starts[i] = listing->text.len;
		status = append_column(listing, listing->columns[i], record,
			err);
	}
	if (status == KS_OK)
		status = ks_buf_check(&listing->text, err);
	if (status != KS_OK)
		return status;
	listing->starts[i] = listing->text.len;
	for (i = 0; i < listing->column_count; i++)
		listing->values[i] = ks_span(listing->text.data +
			listing->starts[i], listing->starts[i + 1] -
			listing->starts[i]);
	return KS_OK;
}

/* ---- columns ------------------------------------------------------------ */

static enum ks_status
no_such_column(const char *name, struct ks_error *err)
{
	struct ks_buf names = KS_BUF_INIT;
	char shown[64];
	enum ks_status status;
	size_t i;

	for (i = 0; i < ks_field_count; i++)
		if (ks_fields[i].shown.shows && !ks_fields[i].shown.extra)
			ks_buf_printf(&names, "%s%s", names.len == 0 ? "" :
				", ", ks_fields[i].shown.name);
	status = ks_fail(err, KS_USAGE, "there is no field '%s': there are "
		"%s, and the columns of exports",
		ks_printable(shown, sizeof(shown), ks_span_text(name)),
		ks_buf_cstr(&names));
	ks_buf_release(&names);
	return status;
}

static enum ks_status
take_columns(struct listing *listing, const struct ks_list_options *options,
	struct ks_error *err)
{
	size_t i;

	if (options->column_count > COLUMNS_MAX)
		return ks_fail(err, KS_USAGE, "more than %d fields",
			COLUMNS_MAX);
	for (i = 0; i < options->column_count; i++) {
		const struct ks_field *field = ks_field_find(
			options->columns[i]);

		if (field == NULL || !field->shown.shows)
			return no_such_column(options->columns[i], err);
		listing->columns[listing->column_count++] = field;
	}
	return KS_OK;
}

/* Whether one of the kinds that are listed has a field. */
static bool
is_had(const struct ks_choice *choice, const struct ks_field *field)
{
	size_t i;

	for (i = 0; i < choice->kind_count; i++)
		if (ks_field_path(field, ks_choice_kind(choice, i)) != NULL)
			return true;
	return false;
}

/* What people want to see of runs, and of other kinds. */
static const char *const brief_runs[] = { "digest", "operation", "model",
	"workload", "implementation", "hardware", "result", "observed",
	"state" };
static const char *const brief_others[] = { "digest", "kind", "name", "title",
	"state" };

static bool
lists_runs(const struct ks_choice *choice)
{
	size_t i;

	for (i = 0; i < choice->kind_count; i++)
		if (!ks_field_is_run(ks_choice_kind(choice, i)))
			return false;
	return choice->kind_count > 0;
}

/* Whether a field is a column though nobody has asked for it. */
static bool
is_default(const struct ks_choice *choice, const struct ks_field *field)
{
	if (!field->shown.shows)
		return false;
	if (choice->options->runs)
		return ks_field_is_of_runs(field);
	return !field->shown.extra && is_had(choice, field);
}

static void
default_columns(struct listing *listing, const struct ks_choice *choice)
{
	bool runs = lists_runs(choice);
	const char *const *names = runs ? brief_runs : brief_others;
	size_t i, count = runs ? sizeof(brief_runs) / sizeof(brief_runs[0]) :
		sizeof(brief_others) / sizeof(brief_others[0]);

	if (!choice->options->brief) {
		for (i = 0; i < ks_field_count; i++)
			if (is_default(choice, &ks_fields[i]))
				listing->columns[listing->column_count++] =
					&ks_fields[i];
		return;
	}
	for (i = 0; i < count; i++) {
		const struct ks_field *field = ks_field_find(names[i]);

		if (is_had(choice, field))
			listing->columns[listing->column_count++] = field;
	}
}

static void
begin(struct listing *listing)
{
	const struct ks_list_field *shown[COLUMNS_MAX];
	size_t i;

	if (listing->sink->begin == NULL)
		return;
	for (i = 0; i < listing->column_count; i++)
		shown[i] = &listing->columns[i]->shown;
	listing->sink->begin(listing->sink->arg, shown,
		listing->column_count);
}

/* ---- records ------------------------------------------------------------ */

static void
tell_problem(struct listing *listing, const struct ks_found *record)
{
	if (record->problem == KS_NOT_FOUND)
		listing->result->unfetched++;
	else
		listing->result->damaged++;
	if (listing->sink->problem != NULL)
		listing->sink->problem(listing->sink->arg,
			&record->subject.digest, &record->why);
}

static enum ks_status
list_one(struct listing *listing, uint64_t object, bool *stop,
	struct ks_error *err)
{
	struct ks_list_record shown;
	const struct ks_found *record;
	enum ks_status status = ks_reader_get(listing->reader, object,
		&record, err);

	if (status != KS_OK)
		return status;
	if (!record->is_there) {
		tell_problem(listing, record);
		return KS_OK;
	}
	status = fill_values(listing, record, err);
	if (status != KS_OK)
		return status;
	listing->result->records++;
	shown.digest = record->subject.digest;
	shown.kind = record->subject.kind;
	shown.retracted = (record->subject.flags & KS_RECORD_RETRACTED) != 0;
	shown.superseded = (record->subject.flags & KS_RECORD_SUPERSEDED) !=
		0;
	shown.values = listing->values;
	*stop = listing->sink->record(listing->sink->arg, &shown);
	return KS_OK;
}

static enum ks_status
list_all(struct listing *listing, const struct ks_buf *objects,
	const struct ks_watch *watch, struct ks_error *err)
{
	size_t i, count = objects->len / sizeof(uint64_t);
	enum ks_status status = KS_OK;
	bool stop = false;

	for (i = 0; status == KS_OK && !stop && i < count; i++) {
		uint64_t object;

		memcpy(&object, objects->data + i * sizeof(object),
			sizeof(object));
		if (i % 256 == 0)
			status = ks_watch_check(watch, err);
		if (status == KS_OK)
			status = list_one(listing, object, &stop, err);
	}
	return status;
}

void
ks_list_note_unread(const struct ks_catalogue *catalogue,
	struct ks_list_result *result)
{
	const struct ks_gitdb *db = catalogue->store->db;

	result->unread = catalogue->unread;
	result->partial = ks_gitdb_promisor(db) != NULL ||
		ks_gitdb_is_shallow(db);
}

static enum ks_status
fail_lacking(enum ks_status status, uint64_t count, const char *what,
	struct ks_error *err)
{
	return ks_fail(err, status, "%llu record%s %s",
		(unsigned long long)count, count == 1 ? "" : "s", what);
}

enum ks_status
ks_list_check(const struct ks_list_result *result, struct ks_error *err)
{
	if (result->damaged > 0)
		return fail_lacking(KS_CORRUPT, result->damaged, "could not be "
			"read: damaged or absent (kistore verify tells more)",
			err);
	if (result->unfetched > 0)
		return fail_lacking(KS_NOT_FOUND, result->unfetched,
			"could not be read: not fetched", err);
	if (result->unread > 0 && result->partial)
		return fail_lacking(KS_NOT_FOUND, result->unread, "of the "
			"store could not be read, and may be missing here: "
			"not fetched", err);
	if (result->unread > 0)
		return fail_lacking(KS_CORRUPT, result->unread, "of the store "
			"could not be read, and may be missing here (kistore "
			"verify tells more)", err);
	return KS_OK;
}

enum ks_status
ks_list(struct ks_store *store, const struct ks_list_options *options,
	const struct ks_list_sink *sink, struct ks_list_result *result,
	struct ks_error *err)
{
	struct listing listing = { .sink = sink, .result = result };
	struct ks_choice choice = KS_CHOICE_INIT;
	struct ks_buf objects = KS_BUF_INIT;
	struct ks_catalogue *catalogue = NULL;
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	status = take_columns(&listing, options, err);
	if (status == KS_OK)
		status = ks_store_catalogue(store, &catalogue, options->watch,
			err);
	if (status == KS_OK)
		status = ks_choice_make(&choice, catalogue, options, err);
	if (status == KS_OK && listing.column_count == 0)
		default_columns(&listing, &choice);
	if (status == KS_OK)
		status = ks_choice_run(&choice, &objects, err);
	if (status == KS_OK)
		status = ks_reader_new(&listing.reader, catalogue, err);
	if (status == KS_OK) {
		ks_list_note_unread(catalogue, result);
		begin(&listing);
		status = list_all(&listing, &objects, options->watch, err);
	}
	ks_reader_free(listing.reader);
	ks_choice_release(&choice);
	ks_buf_release(&objects);
	ks_buf_release(&listing.text);
	return status;
}
