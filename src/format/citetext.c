#include "format/citetext.h"

#include <stdlib.h>

#include "format/json.h"
#include "format/measure.h"
#include "format/permalink.h"
#include "format/readout.h"
#include "format/time.h"

#define DAY 10

bool
ks_citetext_is_day(struct ks_span text)
{
	char at[KS_TIME_TEXT + 1] = "0000-00-00T00:00:00Z";
	int64_t seconds;

	if (text.len != DAY)
		return false;
	memcpy(at, text.data, DAY);
	return ks_time_parse(ks_span_text(at), &seconds);
}

/* ---- what is cited ------------------------------------------------------ */

static void
set_day(struct ks_citetext *out, struct ks_span instant)
{
	struct ks_span day = ks_span(instant.data, DAY);

	if (out->issued[0] != '\0' || instant.len < DAY ||
		!ks_citetext_is_day(day))
		return;
	memcpy(out->issued, day.data, DAY);
	out->issued[DAY] = '\0';
}

static struct ks_span
key_of(const struct ks_citetext *text, char digest[KS_ID_TEXT + 1])
{
	return text->id.len > 0 ? ks_buf_span(&text->id) :
		ks_span_text(ks_id_print(&text->digest, digest));
}

static void
set_record(struct ks_citetext *out, const struct ks_named *record,
	const char *what, const char *page)
{
	char digest[KS_ID_TEXT + 1];

	ks_buf_text(&out->what, what);
	(void)ks_name_member(record->provenance, "id", &out->id);
	ks_permalink_print(&out->link, page, key_of(out, digest));
}

static void
compose_run(struct ks_citetext *out, const struct ks_named *record,
	ks_named_fn *find, void *arg)
{
	struct ks_span run = record->record.spec;
	struct ks_named implementation, workload, operation, source;
	struct ks_primary found;

	ks_named_follow(run, "implementationDigest", find, arg,
		&implementation);
	ks_named_follow(run, "workloadDigest", find, arg, &workload);
	/* The operation is the workload's, as in the comparison key. */
	ks_named_follow(workload.record.spec, "operationSpecDigest", find,
		arg, &operation);
	ks_named_follow(record->provenance, "source", find, arg, &source);
	ks_name_implementation(&implementation, &operation, &out->subject);
	ks_buf_text(&out->subject, " · ");
	ks_name_operation(&operation, &out->subject);
	ks_buf_text(&out->subject, ", ");
	ks_name_workload(&workload, &out->subject);
	if (ks_measure_primary(run, &found)) {
		ks_readout_value(&out->finding, found.measurement.value,
			found.measurement.unit);
		ks_buf_text(&out->finding, " (");
		ks_json_unescape(&out->finding, found.measurement.statistic);
		ks_buf_byte(&out->finding, ')');
	} else
		ks_buf_text(&out->finding, "0 (value)");
	ks_buf_text(&out->credit, "Reported by ");
	ks_name_source(&source, run, &out->credit);
	ks_name_source(&source, run, &out->reporter);
	set_record(out, record, "KernelIndex run",
		KS_API_KERNELINDEX "/BenchmarkRun");
}

/* "8,840.42 tokens_s (throughput, reported)" */
static void
append_first(struct ks_buf *out, struct ks_span run)
{
	struct ks_measurement *rows;
	size_t count;

	if (ks_measure_list(run, &rows, &count, NULL) != KS_OK) {
		out->failed = true;
		return;
	}
	if (count > 0) {
		ks_readout_grouped(out, rows[0].value);
		ks_buf_byte(out, ' ');
		ks_json_unescape(out, rows[0].unit);
		ks_buf_text(out, " (");
		ks_json_unescape(out, rows[0].metric);
		ks_buf_text(out, ", ");
		ks_json_unescape(out, rows[0].statistic);
		ks_buf_byte(out, ')');
	}
	free(rows);
}

static void
compose_serving(struct ks_citetext *out, const struct ks_named *record,
	ks_named_fn *find, void *arg)
{
	struct ks_span run = record->record.spec;
	struct ks_named configuration, model, workload, source;

	ks_named_follow(run, "configurationDigest", find, arg,
		&configuration);
	ks_named_follow(run, "modelDigest", find, arg, &model);
	ks_named_follow(run, "workloadDigest", find, arg, &workload);
	ks_named_follow(record->provenance, "source", find, arg, &source);
	ks_name_configuration(&configuration, &out->subject);
	ks_buf_text(&out->subject, " · ");
	ks_name_served(&model, &out->subject);
	ks_buf_text(&out->subject, ", ");
	ks_name_served(&workload, &out->subject);
	append_first(&out->finding, run);
	ks_name_attribution(&source, run, &out->credit);
	ks_name_source(&source, run, &out->reporter);
	set_record(out, record, "KernelIndex serving run",
		KS_API_KERNELINDEX "/ServingRun");
}

/* "operation spec" of OperationSpec, with who defined it. */
static void
append_kind(struct ks_buf *out, const struct ks_record *record)
{
	struct ks_buf kind = KS_BUF_INIT;
	bool was_capital = true;
	size_t i;

	if (ks_span_is(record->api_version, KS_API_KERNELINDEX))
		ks_buf_text(out, "KernelIndex");
	else if (ks_span_is(record->api_version, KS_API_KISTORE))
		ks_buf_text(out, "kistore");
	else
		ks_json_unescape(out, record->api_version);
	ks_buf_byte(out, ' ');
	ks_json_unescape(&kind, record->kind_name);
	for (i = 0; i < kind.len; i++) {
		uint8_t c = kind.data[i];
		bool capital = c >= 'A' && c <= 'Z';

		if (capital && !was_capital)
			ks_buf_byte(out, ' ');
		ks_buf_byte(out, capital ? (uint8_t)(c - 'A' + 'a') : c);
		was_capital = capital;
	}
	out->failed = out->failed || kind.failed;
	ks_buf_release(&kind);
}

static void
compose_other(struct ks_citetext *out, const struct ks_named *record,
	ks_named_fn *find, void *arg)
{
	struct ks_named operation;

	ks_named_follow(ks_json_get(record->record.spec, "operation"),
		"specDigest", find, arg, &operation);
	ks_name_record(record, &operation, &out->subject);
	append_kind(&out->what, &record->record);
	(void)ks_name_member(record->provenance, "id", &out->id);
}

void
ks_citetext_compose(struct ks_citetext *out, const struct ks_named *record,
	ks_named_fn *find, void *arg)
{
	out->digest = record->digest;
	out->issued[0] = '\0';
	if (ks_named_is(record, "BenchmarkRun"))
		compose_run(out, record, find, arg);
	else if (ks_named_is(record, "ServingRun"))
		compose_serving(out, record, find, arg);
	else
		compose_other(out, record, find, arg);
	set_day(out, ks_json_get_raw(record->provenance, "publishedAt"));
	set_day(out, ks_json_get_raw(record->record.spec, "observedAt"));
}

void
ks_citetext_release(struct ks_citetext *text)
{
	ks_buf_release(&text->subject);
	ks_buf_release(&text->finding);
	ks_buf_release(&text->credit);
	ks_buf_release(&text->reporter);
	ks_buf_release(&text->what);
	ks_buf_release(&text->id);
	ks_buf_release(&text->link);
}

/* ---- sentences ---------------------------------------------------------- */

/* One of them, with a blank before it where others precede. */
static void
append_sentence(struct ks_buf *out, size_t start, const struct ks_buf *text)
{
	out->failed = out->failed || text->failed;
	if (text->len == 0)
		return;
	if (out->len > start)
		ks_buf_byte(out, ' ');
	ks_buf_append(out, ks_buf_span(text));
	ks_buf_byte(out, '.');
}

void
ks_citetext_print(const struct ks_citetext *text, struct ks_span accessed,
	struct ks_buf *out)
{
	char digest[KS_ID_TEXT + 1];
	size_t start = out->len;

	append_sentence(out, start, &text->subject);
	append_sentence(out, start, &text->finding);
	append_sentence(out, start, &text->credit);
	ks_buf_byte(out, ' ');
	ks_buf_append(out, ks_buf_span(&text->what));
	ks_buf_byte(out, ' ');
	if (text->id.len > 0) {
		ks_buf_append(out, ks_buf_span(&text->id));
		ks_buf_text(out, ", ");
	}
	ks_buf_printf(out, "%s.", ks_id_print(&text->digest, digest));
	append_sentence(out, start, &text->link);
	ks_buf_text(out, " Accessed ");
	ks_buf_append(out, accessed);
	ks_buf_byte(out, '.');
	out->failed = out->failed || text->what.failed || text->id.failed;
}
