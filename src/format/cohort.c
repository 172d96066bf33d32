#include "format/cohort.h"

#include <stdlib.h>

#include "format/digest.h"
#include "format/json.h"
#include "format/measure.h"

/* The object that a key is the digest of, as it is composed: its members come
 * in canonical order, their values are canonical. */
struct composing {
	struct ks_buf text;
	const char *missing;	/* a member without a value, or NULL */
};

#define COMPOSING_INIT { .text = KS_BUF_INIT, .missing = NULL }

static void
begin_member(struct composing *c, const char *name)
{
	ks_buf_printf(&c->text, "%c\"%s\":", c->text.len == 0 ? '{' : ',',
		name);
}

static void
add_value(struct composing *c, const char *name, struct ks_span value)
{
	if (value.len == 0)
		c->missing = name;
	begin_member(c, name);
	ks_buf_append(&c->text, value);
}

/* Begin and end a string, the characters of which are appended between. */
static void
begin_text(struct composing *c, const char *name)
{
	begin_member(c, name);
	ks_buf_byte(&c->text, '"');
}

static void
end_text(struct composing *c)
{
	ks_buf_byte(&c->text, '"');
}

/* The key; releases what was composed. */
static enum ks_status
finish(struct composing *c, struct ks_id *out, struct ks_error *err)
{
	enum ks_status status;

	ks_buf_byte(&c->text, '}');
	status = ks_buf_check(&c->text, err);
	if (status == KS_OK && c->missing != NULL)
		status = ks_fail(err, KS_INVALID, "nothing to take the member "
			"%s of a key from", c->missing);
	if (status == KS_OK)
		ks_sha256(ks_buf_span(&c->text), out);
	ks_buf_release(&c->text);
	return status;
}

/* Kernels. */

enum ks_status
ks_cohort_correctness(struct ks_span workload, struct ks_id *out,
	struct ks_error *err)
{
	struct composing c = COMPOSING_INIT;

	add_value(&c, "correctness", ks_json_get(workload, "correctness"));
	return finish(&c, out, err);
}

enum ks_status
ks_cohort_comparison(struct ks_span run, struct ks_span workload,
	struct ks_id *out, struct ks_error *err)
{
	struct composing c = COMPOSING_INIT;
	char correctness[KS_ID_TEXT + 1];
	struct ks_id id;
	enum ks_status status = ks_cohort_correctness(workload, &id, err);

	if (status != KS_OK)
		return status;
	begin_text(&c, "correctness");
	ks_buf_text(&c.text, ks_id_print(&id, correctness));
	end_text(&c);
	add_value(&c, "environment", ks_json_get(run, "environmentDigest"));
	begin_text(&c, "metric");
	ks_measure_key(&c.text, run);
	end_text(&c);
	add_value(&c, "operation",
		ks_json_get(workload, "operationSpecDigest"));
	add_value(&c, "protocol", ks_json_get(run, "protocolDigest"));
	add_value(&c, "v", ks_span_text("1"));
	add_value(&c, "workload", ks_json_get(run, "workloadDigest"));
	return finish(&c, out, err);
}

/* Serving. */

/* Append the characters of a member that is a string, or `otherwise`. */
static void
append_text(struct ks_buf *out, struct ks_span object, const char *name,
	const char *otherwise)
{
	struct ks_span value = ks_json_get(object, name);

	if (ks_json_type(value) == KS_JSON_STRING)
		ks_buf_append(out, ks_json_raw(value));
	else
		ks_buf_text(out, otherwise);
}

void
ks_cohort_protocol(struct ks_buf *out, struct ks_span run,
	struct ks_span workload)
{
	struct ks_span harness = ks_json_get(run, "harness");
	bool streaming = ks_json_type(ks_json_get(workload, "streaming")) ==
		KS_JSON_TRUE;

	append_text(out, harness, "name", "");
	ks_buf_byte(out, '/');
	append_text(out, harness, "version", "");
	ks_buf_byte(out, '/');
	append_text(out, run, "placement", "unspecified");
	ks_buf_text(out, streaming ? "/streaming/" : "/non_streaming/");
	append_text(out, workload, "loadGeneration", "");
}

void
ks_cohort_topology(struct ks_buf *out, struct ks_span run)
{
	struct ks_span topology = ks_json_get(run, "topology");

	append_text(out, topology, "acceleratorVendor", "unknown");
	ks_buf_byte(out, '/');
	append_text(out, topology, "acceleratorModel", "");
	ks_buf_byte(out, '/');
	ks_buf_append(out, ks_json_get(topology, "acceleratorsPerNode"));
	ks_buf_byte(out, 'x');
	ks_buf_append(out, ks_json_get(topology, "nodeCount"));
	ks_buf_byte(out, '/');
	append_text(out, topology, "interconnect", "unspecified");
}

/* The next rank of "metric·statistic", 0 at the end. */
static uint8_t
next_rank(struct ks_span pieces[3])
{
	size_t i = 0;

	while (i < 2 && pieces[i].len == 0)
		i++;
	return ks_json_next_rank(&pieces[i]);
}

/* In the order of RFC 8785 names, the two texts taken as one. */
static int
compare_measured(const void *left, const void *right)
{
	const struct ks_measurement *a = left;
	const struct ks_measurement *b = right;
	struct ks_span dot = ks_span_text("·");
	struct ks_span x[] = { a->metric, dot, a->statistic };
	struct ks_span y[] = { b->metric, dot, b->statistic };
	uint8_t m, n;

	do {
		m = next_rank(x);
		n = next_rank(y);
	} while (m == n && m != 0);
	return m - n;
}

void
ks_cohort_metrics(struct ks_buf *out, struct ks_span run)
{
	struct ks_measurement *rows;
	size_t count, i;

	if (ks_measure_list(run, &rows, &count, NULL) != KS_OK) {
		out->failed = true;
		return;
	}
	if (count > 0)
		qsort(rows, count, sizeof(*rows), compare_measured);
	for (i = 0; i < count; i++) {
		if (i > 0)
			ks_buf_byte(out, ',');
		ks_buf_append(out, rows[i].metric);
		ks_buf_text(out, "·");
		ks_buf_append(out, rows[i].statistic);
	}
	free(rows);
}

enum ks_status
ks_cohort_serving(struct ks_span run, struct ks_span model,
	struct ks_span workload, struct ks_id *out, struct ks_error *err)
{
	struct composing c = COMPOSING_INIT;
	struct ks_span tokenizer = ks_json_get(ks_json_get(model, "tokenizer"),
		"name");

	begin_text(&c, "metricSetKey");
	ks_cohort_metrics(&c.text, run);
	end_text(&c);
	add_value(&c, "modelDigest", ks_json_get(run, "modelDigest"));
	begin_text(&c, "protocolKey");
	ks_cohort_protocol(&c.text, run, workload);
	end_text(&c);
	add_value(&c, "qualityPolicy", ks_json_get(run, "qualityPolicy"));
	add_value(&c, "tokenizer", tokenizer.len > 0 ? tokenizer :
		ks_span_text("null"));
	begin_text(&c, "topologyKey");
	ks_cohort_topology(&c.text, run);
	end_text(&c);
	add_value(&c, "workloadDigest", ks_json_get(run, "workloadDigest"));
	return finish(&c, out, err);
}
