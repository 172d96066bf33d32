/*
 * History: what the log says of one record, entry by entry, and what of it
 * stands (store-layout.md R13 to R15).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"
#include "format/kind.h"
#include "format/readout.h"
#include "store/page.h"

/* Days after which an observation is not recent (run page, section 9). */
#define STALE_DAYS 180
#define DAY 86400

/* ---- texts -------------------------------------------------------------- */

static void
compact_object(struct ks_buf *out, struct ks_span object)
{
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(object, &members, &count)) {
		out->failed = true;
		return;
	}
	ks_buf_byte(out, '{');
	for (i = 0; i < count; i++) {
		ks_buf_text(out, i == 0 ? "\"" : ",\"");
		ks_buf_append(out, members[i].name);
		ks_buf_text(out, "\":");
		ks_history_compact(out, members[i].value);
	}
	ks_buf_byte(out, '}');
	free(members);
}

void
ks_history_compact(struct ks_buf *out, struct ks_span value)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span element;
	const char *before = "";

	if (value.len == 0)
		return;
	if (ks_json_type(value) == KS_JSON_OBJECT) {
		compact_object(out, value);
		return;
	}
	if (ks_json_type(value) != KS_JSON_ARRAY) {
		ks_buf_append(out, value);
		return;
	}
	ks_buf_byte(out, '[');
	while (ks_json_next_element(&it, &element)) {
		ks_buf_text(out, before);
		ks_history_compact(out, element);
		before = ",";
	}
	ks_buf_byte(out, ']');
}

/* As the page prints a reason: text as it is, anything else as compact JSON. */
static void
append_reason(struct ks_buf *out, struct ks_span reason)
{
	if (reason.len > 0 && ks_json_type(reason) == KS_JSON_STRING)
		ks_json_unescape(out, ks_json_raw(reason));
	else
		ks_history_compact(out, reason);
}

/* ---- reading ------------------------------------------------------------ */

void
ks_history_release(struct ks_history *history)
{
	size_t i;

	for (i = 0; i < history->count; i++)
		ks_buf_release(&history->entries[i].reason);
	free(history->entries);
	ks_buf_release(&history->retraction);
	ks_buf_release(&history->bare);
	ks_buf_release(&history->retracted_at);
	*history = (struct ks_history)KS_HISTORY_INIT;
}

struct reading {
	struct ks_store *store;
	struct ks_history *history;
	enum ks_status status;
	struct ks_error *err;
};

/* What stands after this entry. */
static void
apply(struct ks_history *history, const struct ks_entry *entry)
{
	struct ks_span bare = ks_json_get(entry->reason, "reason");

	if (entry->op == KS_OP_RETRACT) {
		history->retracted = true;
		ks_buf_clear(&history->retraction);
		ks_buf_clear(&history->bare);
		ks_buf_clear(&history->retracted_at);
		append_reason(&history->retraction, entry->reason);
		append_reason(&history->bare, bare.len > 0 ? bare :
			entry->reason);
		ks_buf_append(&history->retracted_at,
			entry->retracted_at.len > 0 ?
			ks_json_raw(entry->retracted_at) : entry->at);
	} else if (entry->op == KS_OP_SUPERSEDE) {
		history->superseded = true;
		history->successor = entry->by;
	} else if (entry->op == KS_OP_RESTORE) {
		history->retracted = false;
		history->superseded = false;
	}
}

static struct ks_history_entry *
add_entry(struct reading *reading, uint64_t index)
{
	struct ks_history *history = reading->history;
	struct ks_history_entry *entry;

	entry = ks_grow(history->entries, history->count, &history->room,
		sizeof(*entry), reading->err);
	if (entry == NULL) {
		reading->status = KS_NOMEM;
		return NULL;
	}
	history->entries = entry;
	entry = &history->entries[history->count++];
	*entry = (struct ks_history_entry){
		.index = index, .op = "redacted", .reason = KS_BUF_INIT
	};
	return entry;
}

static bool
take_line(void *arg, uint64_t index, struct ks_span line)
{
	struct reading *reading = arg;
	struct ks_history_entry *out = add_entry(reading, index);
	struct ks_entry entry;
	enum ks_status status;

	if (out == NULL)
		return true;
	status = ks_entry_parse(reading->store->jcs, line, &entry, NULL);
	if (status == KS_NOMEM)
		reading->status = ks_fail_nomem(reading->err);
	if (status != KS_OK || entry.op == KS_OP_REDACTED)
		return status == KS_NOMEM;
	(void)snprintf(out->op, sizeof(out->op), "%s", ks_op_name(entry.op));
	(void)snprintf(out->at, sizeof(out->at), "%.*s", (int)entry.at.len,
		(const char *)entry.at.data);
	append_reason(&out->reason, entry.reason);
	out->has_by = entry.op == KS_OP_SUPERSEDE;
	out->by = entry.by;
	apply(reading->history, &entry);
	if (out->reason.failed)
		reading->status = ks_fail_nomem(reading->err);
	return out->reason.failed;
}

enum ks_status
ks_history_read(struct ks_store *store, const struct ks_id *digest,
	struct ks_history *out, struct ks_error *err)
{
	struct reading reading = {
		.store = store, .history = out, .status = KS_OK, .err = err
	};
	enum ks_status status;

	*out = (struct ks_history)KS_HISTORY_INIT;
	status = ks_log_of(store, digest, take_line, &reading, err);
	if (status == KS_OK)
		status = reading.status;
	if (status == KS_OK && (out->retraction.failed || out->bare.failed ||
		out->retracted_at.failed))
		status = ks_fail_nomem(err);
	return status;
}

/* ---- on a page ---------------------------------------------------------- */

/* Whether the observation is more than 180 days before now. */
static bool
is_stale(const struct ks_composing *c)
{
	struct ks_span observed = ks_json_get_raw(c->part->record.spec,
		"observedAt");
	char limit[KS_TIME_TEXT + 1];

	return ks_shape_instant(observed) && ks_time_print(c->options->now -
		(int64_t)STALE_DAYS * DAY, limit) &&
		ks_time_compare_instants(observed, ks_span_text(limit)) < 0;
}

void
ks_page_strip(struct ks_composing *c, const char *superseded)
{
	const struct ks_history *history = &c->history;
	bool serving = ks_part_is(c->part, "ServingRun");
	struct ks_buf *value;

	ks_draft_section(&c->draft, "");
	if (history->retracted) {
		value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
		ks_draft_warn(&c->draft);
		ks_buf_text(value, "Retracted ");
		ks_readout_date(value, ks_buf_span(&history->retracted_at));
		ks_buf_text(value, ": ");
		ks_buf_append(value, ks_buf_span(serving ? &history->bare :
			&history->retraction));
	}
	if (history->superseded) {
		value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
		ks_draft_warn(&c->draft);
		ks_draft_target(&c->draft, &history->successor);
		ks_buf_text(value, superseded);
	}
	if (ks_part_is(c->part, "BenchmarkRun") && is_stale(c)) {
		ks_draft_say(&c->draft, "", "Not re-observed recently.");
		ks_draft_warn(&c->draft);
	}
}

void
ks_page_history(struct ks_composing *c)
{
	size_t i;

	ks_draft_section(&c->draft, "History");
	for (i = 0; i < c->history.count; i++) {
		const struct ks_history_entry *entry = &c->history.entries[i];
		struct ks_buf *value = ks_draft_row(&c->draft, entry->op,
			KS_ROW_LOG);

		ks_buf_text(value, entry->at);
		if (entry->reason.len > 0)
			ks_buf_text(value, ": ");
		ks_buf_append(value, ks_buf_span(&entry->reason));
		if (entry->has_by) {
			ks_buf_text(value, " by ");
			ks_part_digits(value, &entry->by);
			ks_draft_target(&c->draft, &entry->by);
		}
		ks_buf_printf(ks_draft_note(&c->draft), "entry %llu",
			(unsigned long long)entry->index);
	}
}
