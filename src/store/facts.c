#include "store/facts.h"

#include <stdlib.h>

#include "format/cohort.h"
#include "format/evidence.h"
#include "format/json.h"
#include "format/measure.h"
#include "format/uuid.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Members of a set that are looked at. */
#define SET_MAX 64

/* ---- names of things ---------------------------------------------------- */

#define X(id, column) #column,
static const char *const term_columns[] = { KS_TERMS(X) };
static const char *const relation_columns[] = { KS_RELATIONS(X) };
#undef X

const char *
ks_term_column(enum ks_term term)
{
	return term_columns[term];
}

const char *
ks_relation_column(enum ks_relation relation)
{
	return relation_columns[relation];
}

const struct ks_relation_path ks_relation_paths[] = {
	{ KS_RELATION_OPERATION, "ImplementationRevision",
		"spec.operation.specDigest" },
	{ KS_RELATION_OPERATION, NULL, "spec.operationSpecDigest" },
	{ KS_RELATION_WORKLOAD, NULL, "spec.workloadDigest" },
	{ KS_RELATION_IMPLEMENTATION, NULL, "spec.implementationDigest" },
	{ KS_RELATION_PROTOCOL, NULL, "spec.protocolDigest" },
	{ KS_RELATION_ENVIRONMENT, NULL, "spec.environmentDigest" },
	{ KS_RELATION_MODEL, NULL, "spec.modelDigest" },
	{ KS_RELATION_CONFIGURATION, NULL, "spec.configurationDigest" },
	{ KS_RELATION_STACK, NULL, "spec.stackDigest" },
	{ KS_RELATION_PROJECT, NULL, "project" },
	{ KS_RELATION_SOURCE, NULL, "source" },
};
const size_t ks_relation_path_count = COUNT(ks_relation_paths);

const char *
ks_relation_path(enum ks_relation relation, const char *kind)
{
	size_t i;

	for (i = 0; i < COUNT(ks_relation_paths); i++)
		if (ks_relation_paths[i].relation == relation &&
			(ks_relation_paths[i].kind == NULL ||
			strcmp(ks_relation_paths[i].kind, kind) == 0))
			return ks_relation_paths[i].path;
	return "";
}

/* The relation that a path is; a kind's own paths come first. */
static enum ks_relation
find_relation(const struct ks_kind *kind, const char *path)
{
	size_t i;

	for (i = 0; i < COUNT(ks_relation_paths); i++)
		if (strcmp(ks_relation_paths[i].path, path) == 0 &&
			(ks_relation_paths[i].kind == NULL ||
			strcmp(ks_relation_paths[i].kind,
			ks_kind_name(kind)) == 0))
			return ks_relation_paths[i].relation;
	return KS_RELATION_COUNT;
}

/* ---- memory ------------------------------------------------------------- */

void
ks_fact_store_release(struct ks_fact_store *store)
{
	ks_buf_release(&store->text);
	ks_buf_release(&store->references);
	ks_buf_release(&store->axes);
}

void
ks_fact_store_clear(struct ks_fact_store *store)
{
	ks_buf_clear(&store->text);
	ks_buf_clear(&store->references);
	ks_buf_clear(&store->axes);
}

enum ks_status
ks_fact_store_check(const struct ks_fact_store *store, struct ks_error *err)
{
	enum ks_status status = ks_buf_check(&store->text, err);

	if (status == KS_OK)
		status = ks_buf_check(&store->references, err);
	return status == KS_OK ? ks_buf_check(&store->axes, err) : status;
}

struct ks_span
ks_fact_text(const struct ks_fact_store *store, struct ks_fact_text text)
{
	return ks_span(text.len == 0 ? NULL : store->text.data + text.at,
		text.len);
}

struct ks_span
ks_facts_text(const struct ks_facts *facts, const struct ks_fact_store *store,
	unsigned which)
{
	return ks_fact_text(store, facts->texts[which]);
}

/* ---- texts -------------------------------------------------------------- */

/* Where facts go as they are found. */
struct deriving {
	struct ks_facts *facts;
	struct ks_fact_store *store;
};

static size_t
begin_text(const struct deriving *d)
{
	return d->store->text.len;
}

static struct ks_fact_text
end_text(const struct deriving *d, size_t start)
{
	struct ks_fact_text text = { 0, 0 };

	if (!d->store->text.failed) {
		text.at = (uint32_t)start;
		text.len = (uint32_t)(d->store->text.len - start);
	}
	return text;
}

static void
set_raw(const struct deriving *d, unsigned which, struct ks_span raw)
{
	size_t start = begin_text(d);

	ks_json_unescape(&d->store->text, raw);
	d->facts->texts[which] = end_text(d, start);
}

/* The text of a member that is a string; what was set stays without one. */
static void
set_member(const struct deriving *d, unsigned which, struct ks_span object,
	const char *name)
{
	struct ks_span raw = ks_json_get_raw(object, name);

	if (raw.len > 0)
		set_raw(d, which, raw);
}

static void
set_plain(const struct deriving *d, unsigned which, struct ks_span text)
{
	size_t start = begin_text(d);

	ks_buf_append(&d->store->text, text);
	d->facts->texts[which] = end_text(d, start);
}

/* ---- sets --------------------------------------------------------------- */

struct set {
	struct ks_span items[SET_MAX];	/* sorted, escaped */
	size_t count;
};

static void
add_to_set(struct set *set, struct ks_span item)
{
	size_t i = 0;

	while (i < set->count && ks_span_compare(set->items[i], item) < 0)
		i++;
	if (item.len == 0 || set->count == SET_MAX ||
		(i < set->count && ks_span_equal(set->items[i], item)))
		return;
	memmove(&set->items[i + 1], &set->items[i],
		(set->count - i) * sizeof(set->items[0]));
	set->items[i] = item;
	set->count++;
}

static void
set_set(const struct deriving *d, unsigned which, const struct set *set)
{
	size_t start = begin_text(d), i;

	for (i = 0; i < set->count; i++) {
		if (i > 0)
			ks_buf_byte(&d->store->text, ',');
		ks_json_unescape(&d->store->text, set->items[i]);
	}
	d->facts->texts[which] = end_text(d, start);
}

/* The strings of an array, as a set. */
static void
set_strings(const struct deriving *d, unsigned which, struct ks_span array)
{
	struct ks_json_iter it = ks_json_iter(array);
	struct set set = { .count = 0 };
	struct ks_span item;

	if (ks_json_type(array) != KS_JSON_ARRAY)
		return;
	while (ks_json_next_element(&it, &item))
		if (ks_json_type(item) == KS_JSON_STRING)
			add_to_set(&set, ks_json_raw(item));
	set_set(d, which, &set);
}

/* ---- words to search for ------------------------------------------------ */

static void
add_words(struct ks_buf *out, size_t start, struct ks_span raw)
{
	if (raw.len == 0)
		return;
	if (out->len > start)
		ks_buf_byte(out, ' ');
	ks_json_unescape(out, raw);
}

/* The strings of an array; the names of authors. */
static void
add_array_words(struct ks_buf *out, size_t start, struct ks_span array)
{
	struct ks_json_iter it = ks_json_iter(array);
	struct ks_span item;

	if (ks_json_type(array) != KS_JSON_ARRAY)
		return;
	while (ks_json_next_element(&it, &item)) {
		if (ks_json_type(item) == KS_JSON_STRING)
			add_words(out, start, ks_json_raw(item));
		else
			add_words(out, start, ks_json_get_raw(item, "name"));
	}
}

static void
add_label_words(struct ks_buf *out, size_t start, struct ks_span labels)
{
	struct ks_json_iter it = ks_json_iter(labels);
	struct ks_span name, value;

	if (ks_json_type(labels) != KS_JSON_OBJECT)
		return;
	while (ks_json_next_member(&it, &name, &value))
		if (ks_json_type(value) == KS_JSON_STRING)
			add_words(out, start, ks_json_raw(value));
}

/* A member of metadata or provenance that is for reading. */
static void
add_note_words(struct ks_buf *out, size_t start, struct ks_span name,
	struct ks_span value)
{
	if (ks_span_is(name, "tags") || ks_span_is(name, "aliases") ||
		ks_span_is(name, "authors"))
		add_array_words(out, start, value);
	else if (ks_span_is(name, "labels"))
		add_label_words(out, start, value);
	else if ((ks_span_is(name, "description") ||
		ks_span_is(name, "summary") || ks_span_is(name, "slug") ||
		ks_span_is(name, "name")) &&
		ks_json_type(value) == KS_JSON_STRING)
		add_words(out, start, ks_json_raw(value));
}

static void
add_notes_words(struct ks_buf *out, size_t start, struct ks_span notes)
{
	struct ks_json_iter it = ks_json_iter(notes);
	struct ks_span name, value;

	if (notes.len == 0)
		return;
	while (ks_json_next_member(&it, &name, &value))
		add_note_words(out, start, name, value);
}

static void
add_fact_words(const struct deriving *d, size_t start,
	struct ks_fact_text text)
{
	struct ks_buf *out = &d->store->text;

	if (text.len == 0)
		return;
	if (out->len > start)
		ks_buf_byte(out, ' ');
	/* It lies in the same memory, which must not move meanwhile. */
	if (ks_buf_reserve(out, text.len) != NULL)
		ks_buf_append(out, ks_fact_text(d->store, text));
}

/* What else a search should find; most of it are facts already. `title` is
 * that of the metadata, which may have been replaced. */
static void
derive_words(const struct deriving *d, const struct ks_fact_origin *origin,
	struct ks_fact_text title)
{
	static const unsigned facts[] = { KS_TERM_FAMILY, KS_TERM_HARDWARE,
		KS_TERM_ARCHITECTURE, KS_TERM_FRAMEWORK, KS_FACT_BENCHMARK,
		KS_FACT_EXTERNAL };
	struct ks_buf *out = &d->store->text;
	size_t start = begin_text(d), i;

	add_notes_words(out, start, origin->metadata);
	add_notes_words(out, start, origin->provenance);
	for (i = 0; i < COUNT(facts); i++)
		add_fact_words(d, start, d->facts->texts[facts[i]]);
	if (d->facts->texts[KS_FACT_TITLE].at != title.at)
		add_fact_words(d, start, title);
	d->facts->texts[KS_FACT_WORDS] = end_text(d, start);
}

/* ---- times -------------------------------------------------------------- */

/* An Instant in a form that sorts by bytes: "2026-03-14T23:56:12.645". */
static void
derive_moment(const struct deriving *d, struct ks_span raw)
{
	size_t start = begin_text(d);

	if (!ks_shape_instant(raw))
		return;
	raw.len--;		/* the Z */
	ks_buf_append(&d->store->text, raw);
	if (raw.len == strlen("YYYY-MM-DDTHH:MM"))
		ks_buf_text(&d->store->text, ":00");
	if (memchr(raw.data, '.', raw.len) != NULL) {
		struct ks_buf *text = &d->store->text;

		while (text->len > start && text->data[text->len - 1] == '0')
			text->len--;
		if (text->len > start && text->data[text->len - 1] == '.')
			text->len--;
	}
	d->facts->texts[KS_FACT_MOMENT] = end_text(d, start);
}

struct ks_span
ks_facts_moment(struct ks_fact_store *store, struct ks_span instant)
{
	struct ks_facts facts;
	const struct deriving d = { .facts = &facts, .store = store };

	memset(&facts, 0, sizeof(facts));
	derive_moment(&d, instant);
	return ks_facts_text(&facts, store, KS_FACT_MOMENT);
}

/* ---- kinds -------------------------------------------------------------- */

/* What runs of both sorts have. */
static void
derive_any_run(const struct deriving *d, struct ks_span spec)
{
	struct ks_span native = ks_json_get(spec, "sourceNative");
	struct ks_facts *facts = d->facts;
	struct ks_primary primary;

	set_member(d, KS_TERM_STATUS, spec, "status");
	set_member(d, KS_FACT_OBSERVED, spec, "observedAt");
	derive_moment(d, ks_json_get_raw(spec, "observedAt"));
	set_member(d, KS_TERM_NATIVE, native, "source");
	set_member(d, KS_FACT_EXTERNAL, native, "externalId");
	set_member(d, KS_FACT_BENCHMARK, native, "benchmark");
	set_plain(d, KS_FACT_SPEC, spec);
	facts->is_source_native = native.len > 0;
	facts->has_value = ks_measure_primary(spec, &primary);
	if (!facts->has_value)
		return;
	facts->value = primary.measurement.value;
	facts->samples = primary.measurement.samples;
	facts->has_interval = primary.has_interval;
	facts->low = primary.low;
	facts->high = primary.high;
	set_raw(d, KS_TERM_METRIC, primary.measurement.metric);
	set_raw(d, KS_TERM_STATISTIC, primary.measurement.statistic);
	set_raw(d, KS_TERM_UNIT, primary.measurement.unit);
}

static void
derive_benchmark(const struct deriving *d, struct ks_span spec)
{
	derive_any_run(d, spec);
	d->facts->has_raw = ks_evidence_has_raw(spec);
}

static void
derive_serving(const struct deriving *d, struct ks_span spec)
{
	struct ks_span topology = ks_json_get(spec, "topology");

	derive_any_run(d, spec);
	set_member(d, KS_TERM_VENDOR, topology, "acceleratorVendor");
	set_member(d, KS_TERM_HARDWARE, topology, "acceleratorModel");
}

/* An object of some members of `spec`, in the same, canonical, order. */
static void
derive_part(const struct deriving *d, struct ks_span spec,
	const char *const *names, size_t count)
{
	struct ks_buf *out = &d->store->text;
	size_t start = begin_text(d), i;

	ks_buf_byte(out, '{');
	for (i = 0; i < count; i++) {
		struct ks_span value = ks_json_get(spec, names[i]);

		if (value.len == 0)
			continue;
		ks_buf_printf(out, "%s\"%s\":", out->len == start + 1 ? "" :
			",", names[i]);
		ks_buf_append(out, value);
	}
	ks_buf_byte(out, '}');
	d->facts->texts[KS_TERM_PART] = end_text(d, start);
}

static void
derive_axes(const struct deriving *d, struct ks_span axes, uint64_t item)
{
	struct ks_json_iter it = ks_json_iter(axes);
	struct ks_fact_axis axis;
	struct ks_span name, value;
	size_t start;

	memset(&axis, 0, sizeof(axis));
	axis.item = item;
	if (ks_json_type(axes) != KS_JSON_OBJECT)
		return;
	while (ks_json_next_member(&it, &name, &value)) {
		if (!ks_json_integer(value, &axis.value))
			continue;
		start = begin_text(d);
		ks_json_unescape(&d->store->text, name);
		axis.name = end_text(d, start);
		ks_buf_append(&d->store->axes, ks_span(&axis, sizeof(axis)));
		d->facts->axis_count++;
	}
}

static void
derive_workload(const struct deriving *d, struct ks_span spec)
{
	static const char *const part[] = { "correctness",
		"operationSpecDigest" };

	derive_part(d, spec, part, COUNT(part));
}

static void
derive_case(const struct deriving *d, struct ks_span spec)
{
	struct ks_span tensors = ks_json_get(spec, "tensors");
	struct ks_json_iter it = ks_json_iter(tensors);
	struct set dtypes = { .count = 0 };
	struct ks_span name, value;

	derive_workload(d, spec);
	derive_axes(d, ks_json_get(spec, "axes"), 0);
	if (ks_json_type(tensors) != KS_JSON_OBJECT)
		return;
	while (ks_json_next_member(&it, &name, &value))
		add_to_set(&dtypes, ks_json_get_raw(value, "dtype"));
	set_set(d, KS_TERM_DTYPES, &dtypes);
}

static void
derive_suite(const struct deriving *d, struct ks_span spec)
{
	struct ks_span cases = ks_json_get(spec, "cases");
	struct ks_json_iter it = ks_json_iter(cases);
	struct ks_span item;
	uint64_t number = 1;

	derive_workload(d, spec);
	if (ks_json_type(cases) != KS_JSON_ARRAY)
		return;
	while (ks_json_next_element(&it, &item))
		derive_axes(d, ks_json_get(item, "axes"), number++);
}

static void
add_argument_dtypes(struct set *dtypes, struct ks_span arguments)
{
	struct ks_json_iter it = ks_json_iter(arguments);
	struct ks_span item;

	if (ks_json_type(arguments) != KS_JSON_ARRAY)
		return;
	while (ks_json_next_element(&it, &item))
		add_to_set(dtypes, ks_json_get_raw(ks_json_get(item,
			"tensor"), "dtype"));
}

static void
derive_operation(const struct deriving *d, struct ks_span spec)
{
	struct set dtypes = { .count = 0 };

	set_member(d, KS_TERM_FAMILY, spec, "family");
	set_member(d, KS_TERM_LANGUAGE, ks_json_get(spec, "reference"),
		"language");
	add_argument_dtypes(&dtypes, ks_json_get(spec, "inputs"));
	add_argument_dtypes(&dtypes, ks_json_get(spec, "outputs"));
	set_set(d, KS_TERM_DTYPES, &dtypes);
}

static void
derive_implementation(const struct deriving *d, struct ks_span spec)
{
	struct ks_span support = ks_json_get(spec, "support");
	struct ks_span licensing = ks_json_get(spec, "licensing");

	set_member(d, KS_TERM_LANGUAGE, ks_json_get(spec, "callable"),
		"language");
	set_strings(d, KS_TERM_ARCHITECTURE, ks_json_get(support,
		"hardwareArchitectures"));
	set_strings(d, KS_TERM_DTYPES, ks_json_get(support, "dtypes"));
	set_member(d, KS_TERM_LICENSE, licensing, "declared");
	set_member(d, KS_TERM_LICENSE, licensing, "concluded");
	d->facts->has_source = ks_evidence_has_source(spec);
}

static void
derive_environment(const struct deriving *d, struct ks_span spec)
{
	struct ks_span hardware = ks_json_get(spec, "hardware");
	struct ks_span framework = ks_json_get(ks_json_get(spec, "software"),
		"framework");
	size_t start;

	set_member(d, KS_TERM_VENDOR, hardware, "vendor");
	set_member(d, KS_TERM_HARDWARE, hardware, "product");
	set_member(d, KS_TERM_ARCHITECTURE, hardware, "architecture");
	start = begin_text(d);
	add_words(&d->store->text, start, ks_json_get_raw(framework, "name"));
	add_words(&d->store->text, start, ks_json_get_raw(framework,
		"version"));
	d->facts->texts[KS_TERM_FRAMEWORK] = end_text(d, start);
}

static void
derive_model(const struct deriving *d, struct ks_span spec)
{
	static const char *const part[] = { "tokenizer" };

	set_member(d, KS_FACT_TITLE, spec, "model");
	set_member(d, KS_TERM_LICENSE, spec, "license");
	derive_part(d, spec, part, COUNT(part));
}

static void
derive_stack(const struct deriving *d, struct ks_span spec)
{
	set_member(d, KS_TERM_LICENSE, spec, "license");
}

static void
derive_configuration(const struct deriving *d, struct ks_span spec)
{
	set_member(d, KS_TERM_DTYPES, spec, "dtype");
}

static void
derive_serving_workload(const struct deriving *d, struct ks_span spec)
{
	static const char *const part[] = { "loadGeneration", "streaming" };

	derive_part(d, spec, part, COUNT(part));
}

static void
derive_project(const struct deriving *d, struct ks_span spec)
{
	set_member(d, KS_FACT_TITLE, spec, "name");
}

static void
derive_source(const struct deriving *d, struct ks_span spec)
{
	set_member(d, KS_FACT_NAME, spec, "slug");
	set_member(d, KS_FACT_TITLE, spec, "name");
	set_member(d, KS_TERM_LICENSE, ks_json_get(spec, "policy"), "license");
}

static void
derive_artifact(const struct deriving *d, struct ks_span spec)
{
	set_member(d, KS_FACT_NAME, spec, "name");
	set_member(d, KS_TERM_LICENSE, spec, "license");
	d->facts->has_bytes = ks_id_parse(&d->facts->bytes,
		ks_json_get_raw(spec, "digest"));
}

static const struct {
	const char *kind;
	void (*derive)(const struct deriving *d, struct ks_span spec);
} derivers[] = {
	{ "BenchmarkRun", derive_benchmark },
	{ "WorkloadCase", derive_case },
	{ "ImplementationRevision", derive_implementation },
	{ "Artifact", derive_artifact },
	{ "ServingRun", derive_serving },
	{ "SoftwareProject", derive_project },
	{ "OperationSpec", derive_operation },
	{ "WorkloadSuite", derive_suite },
	{ "ExecutionEnvironment", derive_environment },
	{ "ServingConfiguration", derive_configuration },
	{ "ServingStackRevision", derive_stack },
	{ "ServingWorkload", derive_serving_workload },
	{ "ModelRevision", derive_model },
	{ "Source", derive_source },
};

static void
derive_kind(const struct deriving *d, struct ks_span spec)
{
	const char *name = ks_kind_name(d->facts->kind);
	size_t i;

	for (i = 0; i < COUNT(derivers); i++)
		if (strcmp(derivers[i].kind, name) == 0) {
			derivers[i].derive(d, spec);
			return;
		}
}

/* ---- references --------------------------------------------------------- */

static void
set_relation(struct ks_facts *facts, enum ks_relation relation,
	const struct ks_id *target)
{
	facts->related |= 1U << relation;
	facts->relations[relation] = *target;
}

static bool
derive_reference(void *arg, const struct ks_reference *reference)
{
	const struct deriving *d = arg;
	struct ks_fact_reference other;
	enum ks_relation relation;
	size_t start;

	if (reference->is_link)
		return true;
	relation = find_relation(d->facts->kind, reference->path);
	if (relation != KS_RELATION_COUNT) {
		set_relation(d->facts, relation, &reference->target);
		return true;
	}
	memset(&other, 0, sizeof(other));
	start = begin_text(d);
	ks_buf_text(&d->store->text, reference->path);
	other.path = end_text(d, start);
	other.target = reference->target;
	ks_buf_append(&d->store->references, ks_span(&other, sizeof(other)));
	d->facts->reference_count++;
	return true;
}

/* What the log says beside the manifest. Review may restate the name of a
 * project, and a title with it. */
static void
derive_provenance(const struct deriving *d, struct ks_span text)
{
	struct ks_json_iter it = ks_json_iter(text);
	struct ks_facts *facts = d->facts;
	struct ks_span name, value, raw;
	struct ks_id id;

	if (text.len == 0)
		return;
	while (ks_json_next_member(&it, &name, &value)) {
		if (ks_json_type(value) != KS_JSON_STRING)
			continue;
		raw = ks_json_raw(value);
		if (ks_span_is(name, "id"))
			facts->has_id = ks_uuid_parse(raw, false, facts->id);
		else if (ks_span_is(name, "name"))
			set_raw(d, KS_FACT_TITLE, raw);
		else if (ks_span_is(name, "publishedAt"))
			set_raw(d, KS_FACT_PUBLISHED, raw);
		else if (ks_span_is(name, "source") && ks_id_parse(&id, raw))
			set_relation(facts, KS_RELATION_SOURCE, &id);
		else if (ks_span_is(name, "project") && ks_id_parse(&id, raw))
			set_relation(facts, KS_RELATION_PROJECT, &id);
	}
}

/* ---- all of it ---------------------------------------------------------- */

/* Whether the body is of the kind that the log says (O8). */
static bool
is_as_logged(const struct ks_record *record, struct ks_span kind)
{
	size_t api = record->api_version.len;

	return kind.len == api + 1 + record->kind_name.len &&
		kind.data[api] == '/' && ks_span_equal(record->api_version,
		ks_span(kind.data, api)) && ks_span_equal(record->kind_name,
		ks_span(kind.data + api + 1, record->kind_name.len));
}

void
ks_facts_derive(struct ks_facts *facts, struct ks_fact_store *store,
	const struct ks_fact_origin *origin)
{
	struct deriving d = { .facts = facts, .store = store };
	const struct ks_record *record = origin->record;
	struct ks_fact_text title;

	memset(facts, 0, sizeof(*facts));
	facts->reference = store->references.len /
		sizeof(struct ks_fact_reference);
	facts->axis = store->axes.len / sizeof(struct ks_fact_axis);
	facts->is_readable = record != NULL &&
		is_as_logged(record, origin->kind);
	set_plain(&d, KS_TERM_KIND, origin->kind);
	set_member(&d, KS_FACT_NAME, origin->metadata, "name");
	set_member(&d, KS_FACT_TITLE, origin->metadata, "title");
	title = facts->texts[KS_FACT_TITLE];
	if (record != NULL && facts->is_readable)
		facts->kind = record->kind;
	if (record != NULL && facts->kind != NULL) {
		derive_kind(&d, record->spec);
		/* Nothing but a lack of memory stops it. */
		if (!ks_kind_references(facts->kind, record->spec,
			derive_reference, &d))
			store->text.failed = true;
	}
	derive_provenance(&d, origin->provenance);
	derive_words(&d, origin, title);
}

/* ---- keys --------------------------------------------------------------- */

bool
ks_facts_is_benchmark(const struct ks_kind *kind)
{
	return kind != NULL && strcmp(ks_kind_full_name(kind),
		KS_API_KERNELINDEX "/BenchmarkRun") == 0;
}

bool
ks_facts_is_serving(const struct ks_kind *kind)
{
	return kind != NULL && strcmp(ks_kind_full_name(kind),
		KS_API_KERNELINDEX "/ServingRun") == 0;
}

enum ks_status
ks_facts_key(const struct ks_kind *kind, struct ks_span spec,
	struct ks_span workload, struct ks_span model, struct ks_id *key)
{
	memset(key, 0, sizeof(*key));
	if (workload.len > 0 && ks_facts_is_benchmark(kind))
		return ks_cohort_comparison(spec, workload, key, NULL);
	if (workload.len > 0 && model.len > 0 && ks_facts_is_serving(kind))
		return ks_cohort_serving(spec, model, workload, key, NULL);
	return KS_INVALID;
}
