#include "store/particulars.h"

#include "format/json.h"
#include "format/kind_shape.h"
#include "format/label.h"
#include "format/measure.h"
#include "format/readout.h"

#define KI "kernelindex.dev/v1alpha1/"
#define OWN "kistore/v1/"
#define DOT " · "

/* Digits of a commit: enough to find it by. */
#define COMMIT_SHOWN 12

/* Products that are named; the others are counted. */
#define PRODUCTS_SHOWN 3

/* A record, and the line about it. */
struct subject {
	struct ks_store *store;
	struct ks_span body, spec, provenance;
	struct ks_buf *out;
	size_t start;		/* of the line in `out` */
};

/* Begin another part of the line. */
static struct ks_buf *
part(const struct subject *subject)
{
	if (subject->out->len > subject->start)
		ks_buf_text(subject->out, DOT);
	return subject->out;
}

/* A part that is a member's text, if it has any. */
static bool
add_text(const struct subject *subject, struct ks_span object,
	const char *member)
{
	struct ks_span raw = ks_json_get_raw(object, member);

	if (raw.len == 0)
		return false;
	ks_json_unescape(part(subject), raw);
	return true;
}

/* ---- by kind ----------------------------------------------------------- */

/* "621.5 µs median · 2024-09-03", "runtime_error · 2026-02-01" */
static void
describe_run(const struct subject *subject)
{
	struct ks_span status = ks_json_get(subject->spec, "status");
	struct ks_primary primary;
	struct ks_buf *out;

	if (ks_measure_primary(subject->spec, &primary)) {
		out = part(subject);
		ks_readout_value(out, primary.measurement.value,
			primary.measurement.unit);
		ks_buf_byte(out, ' ');
		ks_json_unescape(out, primary.measurement.statistic);
	}
	if (!ks_json_is(status, "passed") && !ks_json_is(status, "valid"))
		(void)add_text(subject, subject->spec, "status");
	ks_readout_date(part(subject),
		ks_json_get_raw(subject->spec, "observedAt"));
}

/* The name of the project that the log links an implementation to. */
static void
add_project(const struct subject *subject)
{
	struct ks_index *index;
	struct ks_index_row row;
	struct ks_id project;

	if (ks_id_parse(&project, ks_json_get_raw(subject->provenance,
		"project")) && ks_store_index(subject->store, &index, NULL,
		NULL) == KS_OK && ks_index_object(index, &project, &row) &&
		row.name[0] != '\0')
		ks_buf_text(part(subject), row.name);
}

static void
add_products(const struct subject *subject)
{
	struct ks_span products = ks_json_get(ks_json_get(subject->spec,
		"support"), "productsTested");
	struct ks_json_iter it = ks_json_iter(products);
	struct ks_span product;
	size_t count = ks_json_count(products);

	if (ks_json_type(products) != KS_JSON_ARRAY || count == 0)
		return;
	(void)part(subject);
	for (size_t i = 0; i < PRODUCTS_SHOWN &&
		ks_json_next_element(&it, &product); i++) {
		ks_buf_text(subject->out, i == 0 ? "" : ", ");
		if (ks_json_type(product) == KS_JSON_STRING)
			ks_json_unescape(subject->out, ks_json_raw(product));
	}
	if (count > PRODUCTS_SHOWN)
		ks_buf_printf(subject->out, " +%zu", count - PRODUCTS_SHOWN);
}

/* "transformers · 1e7c9f0a2b3d · NVIDIA H100" */
static void
describe_implementation(const struct subject *subject)
{
	struct ks_span revision = ks_json_get(subject->spec,
		"projectRevision");
	struct ks_span commit = ks_json_get_raw(revision, "commit");

	add_project(subject);
	if (ks_shape_commit(commit))
		ks_buf_append(part(subject), ks_span(commit.data,
			COMMIT_SHOWN));
	else
		(void)add_text(subject, revision, "version");
	add_products(subject);
}

/* "seq = 2048 · hidden = 8192 · bf16" */
static void
describe_workload(const struct subject *subject)
{
	ks_label_workload(part(subject), subject->body);
}

/* Of one system there are many: what they run, and remarks. */
static void
describe_configuration(const struct subject *subject)
{
	struct ks_span options = ks_json_get(subject->spec, "options");

	(void)add_text(subject, subject->spec, "dtype");
	(void)add_text(subject, subject->spec, "quantization");
	(void)add_text(subject, options, "software");
	(void)add_text(subject, options, "notes");
}

static void
describe_project(const struct subject *subject)
{
	(void)add_text(subject, subject->spec, "name");
	if (!add_text(subject, subject->spec, "repository"))
		(void)add_text(subject, subject->spec, "homepage");
}

static void
describe_source(const struct subject *subject)
{
	(void)add_text(subject, subject->spec, "slug");
	(void)add_text(subject, subject->spec, "name");
}

static void
describe_artifact(const struct subject *subject)
{
	(void)add_text(subject, subject->spec, "name");
	(void)add_text(subject, subject->spec, "kind");
	(void)add_text(subject, subject->spec, "mediaType");
}

static const struct {
	const char *kind;
	void (*describe)(const struct subject *subject);
} kinds[] = {
	{ KI "BenchmarkRun", describe_run },
	{ KI "ServingRun", describe_run },
	{ KI "ImplementationRevision", describe_implementation },
	{ KI "WorkloadCase", describe_workload },
	{ KI "WorkloadSuite", describe_workload },
	{ KI "ServingConfiguration", describe_configuration },
	{ KI "SoftwareProject", describe_project },
	{ OWN "Source", describe_source },
	{ OWN "Artifact", describe_artifact },
};

void
ks_particulars(struct ks_store *store, const struct ks_index_row *row,
	struct ks_span provenance, struct ks_buf *out)
{
	struct subject subject = { .store = store, .provenance = provenance,
		.out = out, .start = out->len };
	struct ks_buf body = KS_BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(row->kind, kinds[i].kind) == 0)
			break;
	if (i < sizeof(kinds) / sizeof(kinds[0]) && ks_store_body(store,
		&row->state.digest, &body, NULL) == KS_OK) {
		subject.body = ks_buf_span(&body);
		subject.spec = ks_json_get(subject.body, "spec");
		kinds[i].describe(&subject);
	}
	ks_buf_release(&body);
}
