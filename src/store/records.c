#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"
#include "format/label.h"
#include "format/ranking.h"
#include "format/readout.h"
#include "store/listing.h"
#include "store/watch.h"

/* The runs of a group that may rank. */
struct group {
	struct ks_id key;
	struct ks_catalogue_run *runs;
	struct ks_ranking_entry *entries;
	char (*ids)[KS_ID_TEXT + 1];	/* what orders equals */
	size_t count, room;
	bool failed;
};

struct telling {
	struct ks_catalogue *catalogue;
	struct ks_reader *reader;
	ks_record_event_fn *visit;
	void *arg;
	const struct ks_watch *watch;
	struct ks_list_result *result;
	bool leaders, stopped;
	struct ks_buf operation, workload, hardware, implementation;
	struct ks_buf value, unit, text;
};

/* ---- a group ------------------------------------------------------------ */

static bool
grow(struct group *group)
{
	struct ks_catalogue_run *runs = ks_grow(group->runs, group->count,
		&group->room, sizeof(*runs), NULL);

	if (runs != NULL)
		group->runs = runs;
	return runs != NULL;
}

static bool
take_run(void *arg, const struct ks_catalogue_run *run)
{
	struct group *group = arg;

	if (!run->passed || run->retracted || run->superseded ||
		!run->has_value)
		return false;
	if (!grow(group)) {
		group->failed = true;
		return true;
	}
	group->runs[group->count++] = *run;
	return false;
}

/* Its id, else its digest: as text, so that those without come last, here as in
 * rankings. */
static struct ks_span
write_id(const struct ks_catalogue_run *run, char out[KS_ID_TEXT + 1])
{
	if (run->id[0] != '\0')
		(void)snprintf(out, KS_ID_TEXT + 1, "%s", run->id);
	else
		(void)ks_id_print(&run->digest, out);
	return ks_span_text(out);
}

/* Load a group and sort its history to the front; *events is how many runs ever
 * led. */
static enum ks_status
load_group(struct telling *telling, struct group *group, size_t *events,
	struct ks_error *err)
{
	size_t i;
	enum ks_status status;

	*events = 0;
	group->count = 0;
	status = ks_catalogue_group(telling->catalogue, &group->key, take_run,
		group, err);
	if (status == KS_OK && group->failed)
		status = ks_fail_nomem(err);
	if (status != KS_OK || group->count == 0)
		return status;
	free(group->entries);
	free(group->ids);
	group->entries = calloc(group->count, sizeof(*group->entries));
	group->ids = calloc(group->count, sizeof(*group->ids));
	if (group->entries == NULL || group->ids == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < group->count; i++) {
		const struct ks_catalogue_run *run = &group->runs[i];
		struct ks_ranking_entry *entry = &group->entries[i];

		entry->value = run->value;
		entry->has_interval = run->has_interval;
		entry->low = run->low;
		entry->high = run->high;
		entry->is_source_native = run->is_source_native;
		entry->observed_at = ks_span_text(run->observed);
		entry->evidence = run->evidence;
		entry->id = write_id(run, group->ids[i]);
		entry->index = i;
	}
	*events = ks_ranking_records(group->entries, group->count);
	return KS_OK;
}

/* ---- an event ----------------------------------------------------------- */

static enum ks_status
find_labels(struct telling *telling, const struct ks_found *run,
	struct ks_error *err)
{
	const struct ks_found *workload = NULL, *operation = NULL;
	const struct ks_found *environment = NULL, *implementation = NULL;
	enum ks_status status = ks_reader_follow(telling->reader, run,
		"workload", &workload, err);

	ks_buf_clear(&telling->operation);
	ks_buf_clear(&telling->workload);
	ks_buf_clear(&telling->hardware);
	ks_buf_clear(&telling->implementation);
	if (status == KS_OK)
		status = ks_reader_follow(telling->reader, run,
			"workload.operation", &operation, err);
	if (status == KS_OK)
		status = ks_reader_follow(telling->reader, run, "environment",
			&environment, err);
	if (status == KS_OK)
		status = ks_reader_follow(telling->reader, run,
			"implementation", &implementation, err);
	if (status != KS_OK)
		return status;
	if (workload != NULL)
		ks_label_workload(&telling->workload,
			ks_buf_span(&workload->body));
	if (operation != NULL)
		ks_label_operation(&telling->operation, operation->metadata);
	if (environment != NULL)
		ks_buf_append(&telling->hardware, ks_found_text(environment,
			KS_TERM_HARDWARE));
	if (implementation != NULL)
		ks_label_implementation(&telling->implementation,
			implementation->metadata, ks_json_get_raw(
			implementation->provenance, "slug"),
			operation == NULL ? ks_span(NULL, 0) :
			operation->metadata);
	return KS_OK;
}

/* What was read is what the catalogue said of the run, but for its key, and
 * that, too, unless the catalogue is wrong: ks_reader_get() has compared. */
static enum ks_status
read_run(struct telling *telling, const struct ks_catalogue_run *run,
	const struct ks_found **out, struct ks_error *err)
{
	struct ks_index_row row;

	if (!ks_index_object(telling->catalogue->index, &run->digest, &row))
		return ks_fail(err, KS_IO, KS_INDEX_NAME " has lost a run "
			"(kistore verify --index tells more)");
	return ks_reader_get(telling->reader, row.state.published, out, err);
}

static void
count_problem(struct telling *telling, const struct ks_found *run)
{
	char text[KS_ID_TEXT + 1];

	if (run->problem == KS_NOT_FOUND)
		telling->result->unfetched++;
	else
		telling->result->damaged++;
	ks_watch_note(telling->watch, "%s: %s", ks_id_print(
		&run->subject.digest, text), run->why.message);
}

static void
print_value(struct telling *telling, const struct ks_found *run)
{
	struct ks_buf unit = KS_BUF_INIT;

	ks_buf_clear(&telling->value);
	ks_buf_clear(&telling->unit);
	ks_buf_clear(&telling->text);
	ks_readout_number(&telling->value, run->facts.value);
	ks_buf_append(&telling->unit, ks_found_text(run, KS_TERM_UNIT));
	ks_json_quote(&unit, ks_buf_span(&telling->unit));
	ks_readout_value(&telling->text, run->facts.value,
		ks_json_raw(ks_buf_span(&unit)));
	telling->unit.failed = telling->unit.failed || unit.failed;
	ks_buf_release(&unit);
}

static enum ks_status
check_texts(const struct telling *telling, struct ks_error *err)
{
	return telling->operation.failed || telling->workload.failed ||
		telling->hardware.failed || telling->implementation.failed ||
		telling->value.failed || telling->unit.failed ||
		telling->text.failed ? ks_fail_nomem(err) : KS_OK;
}

static enum ks_status
tell_event(struct telling *telling, const struct group *group, size_t number,
	size_t events, struct ks_error *err)
{
	const struct ks_catalogue_run *run =
		&group->runs[group->entries[number].index];
	const struct ks_catalogue_run *previous = number == 0 ? NULL :
		&group->runs[group->entries[number - 1].index];
	const struct ks_found *found;
	struct ks_record_event event;
	enum ks_status status = read_run(telling, run, &found, err);

	if (status == KS_OK && !found->is_there) {
		count_problem(telling, found);
		return KS_OK;
	}
	if (status == KS_OK)
		status = find_labels(telling, found, err);
	if (status != KS_OK)
		return status;
	print_value(telling, found);
	memset(&event, 0, sizeof(event));
	event.key = group->key;
	event.run = run->digest;
	event.has_previous = previous != NULL;
	if (previous != NULL)
		event.previous = previous->digest;
	event.at = run->observed;
	event.value = ks_buf_cstr(&telling->value);
	event.unit = ks_buf_cstr(&telling->unit);
	event.text = ks_buf_cstr(&telling->text);
	event.leads = number + 1 == events;
	event.number = number + 1;
	event.count = events;
	event.runs = group->count;
	event.operation = ks_buf_cstr(&telling->operation);
	event.workload = ks_buf_cstr(&telling->workload);
	event.hardware = ks_buf_cstr(&telling->hardware);
	event.implementation = ks_buf_cstr(&telling->implementation);
	status = check_texts(telling, err);
	if (status != KS_OK)
		return status;
	telling->result->records++;
	telling->stopped = telling->visit(telling->arg, &event);
	return KS_OK;
}

static enum ks_status
tell_group(struct telling *telling, struct group *group, struct ks_error *err)
{
	size_t events, i;
	enum ks_status status = load_group(telling, group, &events, err);

	i = telling->leaders && events > 0 ? events - 1 : 0;
	for (; status == KS_OK && !telling->stopped && i < events; i++)
		status = tell_event(telling, group, i, events, err);
	return status;
}

/* ---- choosing groups ---------------------------------------------------- */

static enum ks_status
take_key(void *arg, struct sqlite3_stmt *stmt, struct ks_error *err)
{
	struct ks_buf *keys = arg;
	struct ks_span key = ks_db_bytes(stmt, 0);

	if (key.len == KS_ID_BYTES)
		ks_buf_append(keys, key);
	return ks_buf_check(keys, err);
}

static enum ks_status
choose_groups(struct ks_catalogue *catalogue,
	const struct ks_list_options *options, struct ks_buf *keys,
	struct ks_error *err)
{
	struct ks_choice choice = KS_CHOICE_INIT;
	struct ks_buf tail = KS_BUF_INIT;
	enum ks_status status = ks_choice_make(&choice, catalogue, options,
		err);

	ks_buf_text(&tail, " AND r.comparison IS NOT NULL GROUP BY "
		"r.comparison ORDER BY min(r.object)");
	if (options->limit > 0)
		ks_buf_printf(&tail, " LIMIT %llu",
			(unsigned long long)options->limit);
	if (status == KS_OK)
		status = ks_buf_check(&tail, err);
	if (status == KS_OK)
		status = ks_choice_select(&choice, "SELECT r.comparison",
			ks_buf_cstr(&tail), take_key, keys, err);
	ks_buf_release(&tail);
	ks_choice_release(&choice);
	return status;
}

/* Only BenchmarkRuns rank. */
static enum ks_status
restrict_kind(const struct ks_list_options *options,
	struct ks_list_options *out, struct ks_list_filter **filters,
	struct ks_error *err)
{
	size_t i;

	*filters = calloc(options->filter_count + 1, sizeof(**filters));
	if (*filters == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < options->filter_count; i++) {
		if (strcmp(options->filters[i].field, "kind") == 0)
			return ks_fail(err, KS_USAGE,
				"only BenchmarkRuns rank: there is no kind to "
				"choose");
		(*filters)[i] = options->filters[i];
	}
	(*filters)[i] = (struct ks_list_filter){ .field = "kind",
		.value = KS_API_KERNELINDEX "/BenchmarkRun" };
	*out = *options;
	out->filters = *filters;
	out->filter_count = options->filter_count + 1;
	out->sort = NULL;
	return KS_OK;
}

static enum ks_status
tell_groups(struct telling *telling, const struct ks_buf *keys,
	struct ks_error *err)
{
	struct group group = { .count = 0 };
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && !telling->stopped &&
		i + KS_ID_BYTES <= keys->len; i += KS_ID_BYTES) {
		memcpy(group.key.bytes, keys->data + i, KS_ID_BYTES);
		status = ks_watch_check(telling->watch, err);
		if (status == KS_OK)
			status = tell_group(telling, &group, err);
	}
	free(group.runs);
	free(group.entries);
	free(group.ids);
	return status;
}

enum ks_status
ks_records(struct ks_store *store, const struct ks_list_options *options,
	bool leaders, ks_record_event_fn *visit, void *arg,
	struct ks_list_result *result, struct ks_error *err)
{
	struct telling telling = { .visit = visit, .arg = arg,
		.watch = options->watch, .result = result,
		.leaders = leaders };
	struct ks_list_filter *filters = NULL;
	struct ks_list_options restricted;
	struct ks_buf keys = KS_BUF_INIT;
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	status = restrict_kind(options, &restricted, &filters, err);
	if (status == KS_OK)
		status = ks_store_catalogue(store, &telling.catalogue,
			options->watch, err);
	if (status == KS_OK)
		status = choose_groups(telling.catalogue, &restricted, &keys,
			err);
	if (status == KS_OK)
		status = ks_reader_new(&telling.reader, telling.catalogue,
			err);
	if (status == KS_OK) {
		ks_list_note_unread(telling.catalogue, result);
		status = tell_groups(&telling, &keys, err);
	}
	ks_reader_free(telling.reader);
	free(filters);
	ks_buf_release(&keys);
	ks_buf_release(&telling.operation);
	ks_buf_release(&telling.workload);
	ks_buf_release(&telling.hardware);
	ks_buf_release(&telling.implementation);
	ks_buf_release(&telling.value);
	ks_buf_release(&telling.unit);
	ks_buf_release(&telling.text);
	return status;
}
