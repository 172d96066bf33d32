#include "format/row.h"

#include "format/entry.h"
#include "format/json.h"
#include "format/kind_walk.h"

/* A hostile value as a message shows it. */
#define SHOWN 96

/* The columns that are read, of all tables together, in canonical order of
 * their names: a row's members come in that order too. */
enum column {
	COL_ALIAS,
	COL_CANONICAL_URL,
	COL_CONFIGURATION_DIGEST,
	COL_CONTENT_DIGEST,
	COL_CONTEXT_LENGTH,
	COL_CREATED_AT,
	COL_DTYPE,
	COL_ENVIRONMENT_KEY,
	COL_FAMILY,
	COL_ID,
	COL_IMPLEMENTATION_DIGEST,
	COL_REPLICATION_COUNT,
	COL_KIND,
	COL_LANGUAGE,
	COL_LICENSE,
	COL_LOAD_GENERATION,
	COL_MANIFEST,
	COL_MEDIA_TYPE,
	COL_MODEL_DIGEST,
	COL_NAME,
	COL_NODE_COUNT,
	COL_OBSERVED_AT,
	COL_OPERATION_ID,
	COL_PARAMETER_COUNT,
	COL_POLICY,
	COL_PROJECT_ID,
	COL_PROTOCOL_KEY,
	COL_PUBLISHED_AT,
	COL_QUALITY_POLICY,
	COL_QUANTIZATION,
	COL_REPRODUCED,
	COL_RETRACTED_AT,
	COL_RETRACTION_REASON,
	COL_RUN_DIGEST,
	COL_SCENARIO,
	COL_SCHEMA_VERSION,
	COL_SEMANTIC_DIGEST,
	COL_SIZE_BYTES,
	COL_SLUG,
	COL_SOURCE_ID,
	COL_SOURCE_REVISION,
	COL_STACK_DIGEST,
	COL_STATUS,
	COL_STORAGE,
	COL_STREAMING,
	COL_SUMMARY,
	COL_SUPERSEDES_ID,
	COL_TAGS,
	COL_TENSOR_PARALLEL,
	COL_URI,
	COL_VERSION,
	COL_WORKLOAD_DIGEST,
	COLUMNS
};

static const char *const column_names[COLUMNS] = {
	[COL_ALIAS] = "alias",
	[COL_CANONICAL_URL] = "canonicalUrl",
	[COL_CONFIGURATION_DIGEST] = "configurationDigest",
	[COL_CONTENT_DIGEST] = "contentDigest",
	[COL_CONTEXT_LENGTH] = "contextLength",
	[COL_CREATED_AT] = "createdAt",
	[COL_DTYPE] = "dtype",
	[COL_ENVIRONMENT_KEY] = "environmentKey",
	[COL_FAMILY] = "family",
	[COL_ID] = "id",
	[COL_IMPLEMENTATION_DIGEST] = "implementationDigest",
	[COL_REPLICATION_COUNT] = "independentReplicationCount",
	[COL_KIND] = "kind",
	[COL_LANGUAGE] = "language",
	[COL_LICENSE] = "license",
	[COL_LOAD_GENERATION] = "loadGeneration",
	[COL_MANIFEST] = "manifest",
	[COL_MEDIA_TYPE] = "mediaType",
	[COL_MODEL_DIGEST] = "modelDigest",
	[COL_NAME] = "name",
	[COL_NODE_COUNT] = "nodeCount",
	[COL_OBSERVED_AT] = "observedAt",
	[COL_OPERATION_ID] = "operationId",
	[COL_PARAMETER_COUNT] = "parameterCount",
	[COL_POLICY] = "policy",
	[COL_PROJECT_ID] = "projectId",
	[COL_PROTOCOL_KEY] = "protocolKey",
	[COL_PUBLISHED_AT] = "publishedAt",
	[COL_QUALITY_POLICY] = "qualityPolicy",
	[COL_QUANTIZATION] = "quantization",
	[COL_REPRODUCED] = "reproducedByKernelindex",
	[COL_RETRACTED_AT] = "retractedAt",
	[COL_RETRACTION_REASON] = "retractionReason",
	[COL_RUN_DIGEST] = "runDigest",
	[COL_SCENARIO] = "scenario",
	[COL_SCHEMA_VERSION] = "schemaVersion",
	[COL_SEMANTIC_DIGEST] = "semanticDigest",
	[COL_SIZE_BYTES] = "sizeBytes",
	[COL_SLUG] = "slug",
	[COL_SOURCE_ID] = "sourceId",
	[COL_SOURCE_REVISION] = "sourceRevision",
	[COL_STACK_DIGEST] = "stackDigest",
	[COL_STATUS] = "status",
	[COL_STORAGE] = "storage",
	[COL_STREAMING] = "streaming",
	[COL_SUMMARY] = "summary",
	[COL_SUPERSEDES_ID] = "supersedesId",
	[COL_TAGS] = "tags",
	[COL_TENSOR_PARALLEL] = "tensorParallel",
	[COL_URI] = "uri",
	[COL_VERSION] = "version",
	[COL_WORKLOAD_DIGEST] = "workloadDigest",
};

/* What a row of a table is. */
enum form {
	FORM_MANIFEST,	/* its `manifest` is one manifest */
	FORM_RUN,	/* its `manifest` is {run, protocol, environment} */
	FORM_COMPOSED,	/* its columns are the spec of a kistore/v1 kind */
	FORM_ALIAS,	/* another name of an operation */
	FORM_DERIVED	/* follows from other rows */
};

/* A column that must agree with the row's main manifest: its value stands at
 * a path of the spec, or when nothing does at the other; no path means the
 * apiVersion. */
struct derived {
	enum column column;
	const char *path[3];
	const char *other[3];
};

/* A member of a composed spec, and the column it is taken from. */
struct composed {
	const char *member;
	enum column column;
};

struct table {
	const char *name;
	enum form form;
	enum column digest;	/* states the main manifest's digest; COLUMNS
				 * where the table has no such column */
	const struct derived *derived;	/* ended by COLUMNS; may be NULL */
	const char *kind;		/* of a composed manifest … */
	const struct composed *spec;	/* … its members, ended by NULL */
};

#define SCHEMA_VERSION { .column = COL_SCHEMA_VERSION }
#define END { .column = COLUMNS }

static const struct derived project_derived[] = {
	{ .column = COL_CANONICAL_URL, .path = { "repository" },
		.other = { "homepage" } },
	END
};

static const struct derived operation_derived[] = {
	SCHEMA_VERSION,
	{ .column = COL_FAMILY, .path = { "family" } },
	END
};

static const struct derived workload_derived[] = {
	SCHEMA_VERSION,
	END
};

static const struct derived implementation_derived[] = {
	{ .column = COL_LANGUAGE, .path = { "callable", "language" } },
	{ .column = COL_SOURCE_REVISION,
		.path = { "projectRevision", "commit" },
		.other = { "projectRevision", "version" } },
	END
};

static const struct derived benchmark_run_derived[] = {
	{ .column = COL_STATUS, .path = { "status" } },
	{ .column = COL_OBSERVED_AT, .path = { "observedAt" } },
	END
};

static const struct derived model_derived[] = {
	SCHEMA_VERSION,
	{ .column = COL_PARAMETER_COUNT, .path = { "parameterCount" } },
	{ .column = COL_CONTEXT_LENGTH, .path = { "contextLength" } },
	{ .column = COL_LICENSE, .path = { "license" } },
	END
};

static const struct derived stack_derived[] = {
	SCHEMA_VERSION,
	{ .column = COL_VERSION, .path = { "revision", "version" } },
	END
};

static const struct derived configuration_derived[] = {
	SCHEMA_VERSION,
	{ .column = COL_DTYPE, .path = { "dtype" } },
	{ .column = COL_QUANTIZATION, .path = { "quantization" } },
	{ .column = COL_TENSOR_PARALLEL,
		.path = { "parallelism", "tensor" } },
	END
};

static const struct derived serving_workload_derived[] = {
	SCHEMA_VERSION,
	{ .column = COL_STREAMING, .path = { "streaming" } },
	{ .column = COL_LOAD_GENERATION, .path = { "loadGeneration" } },
	END
};

static const struct derived serving_run_derived[] = {
	SCHEMA_VERSION,
	{ .column = COL_STATUS, .path = { "status" } },
	{ .column = COL_OBSERVED_AT, .path = { "observedAt" } },
	{ .column = COL_QUALITY_POLICY, .path = { "qualityPolicy" } },
	{ .column = COL_SCENARIO,
		.path = { "sourceNative", "scenario" } },
	{ .column = COL_NODE_COUNT, .path = { "topology", "nodeCount" } },
	END
};

/* Members in canonical order. */
static const struct composed source_spec[] = {
	{ "kind", COL_KIND },
	{ "name", COL_NAME },
	{ "policy", COL_POLICY },
	{ "slug", COL_SLUG },
	{ NULL, COLUMNS }
};

static const struct composed artifact_spec[] = {
	{ "digest", COL_CONTENT_DIGEST },
	{ "kind", COL_KIND },
	{ "license", COL_LICENSE },
	{ "mediaType", COL_MEDIA_TYPE },
	{ "name", COL_NAME },
	{ "sizeBytes", COL_SIZE_BYTES },
	{ "storage", COL_STORAGE },
	{ "uri", COL_URI },
	{ NULL, COLUMNS }
};

static const struct table tables[] = {
	{ .name = "benchmark_runs", .form = FORM_RUN,
		.digest = COL_RUN_DIGEST, .derived = benchmark_run_derived },
	{ .name = "measurements", .form = FORM_DERIVED, .digest = COLUMNS },
	{ .name = "record_events", .form = FORM_DERIVED, .digest = COLUMNS },
	{ .name = "workloads", .form = FORM_MANIFEST,
		.digest = COL_WORKLOAD_DIGEST, .derived = workload_derived },
	{ .name = "implementations", .form = FORM_MANIFEST,
		.digest = COL_IMPLEMENTATION_DIGEST,
		.derived = implementation_derived },
	{ .name = "artifacts", .form = FORM_COMPOSED, .digest = COLUMNS,
		.kind = "Artifact", .spec = artifact_spec },
	{ .name = "operations", .form = FORM_MANIFEST,
		.digest = COL_SEMANTIC_DIGEST, .derived = operation_derived },
	{ .name = "operation_aliases", .form = FORM_ALIAS,
		.digest = COLUMNS },
	{ .name = "projects", .form = FORM_MANIFEST, .digest = COLUMNS,
		.derived = project_derived },
	{ .name = "sources", .form = FORM_COMPOSED, .digest = COLUMNS,
		.kind = "Source", .spec = source_spec },
	{ .name = "model_revisions", .form = FORM_MANIFEST,
		.digest = COL_MODEL_DIGEST, .derived = model_derived },
	{ .name = "serving_stack_revisions", .form = FORM_MANIFEST,
		.digest = COL_STACK_DIGEST, .derived = stack_derived },
	{ .name = "serving_configurations", .form = FORM_MANIFEST,
		.digest = COL_CONFIGURATION_DIGEST,
		.derived = configuration_derived },
	{ .name = "serving_workloads", .form = FORM_MANIFEST,
		.digest = COL_WORKLOAD_DIGEST,
		.derived = serving_workload_derived },
	{ .name = "serving_runs", .form = FORM_MANIFEST,
		.digest = COL_RUN_DIGEST, .derived = serving_run_derived },
	{ .name = "serving_measurements", .form = FORM_DERIVED,
		.digest = COLUMNS },
};

/* The manifests in a benchmark_runs row, and the columns that state their
 * digests. (protocolKey of a serving run is text.) */
static const struct part {
	const char *member;
	enum column digest;
	bool main;
} run_parts[] = {
	{ "environment", COL_ENVIRONMENT_KEY, false },
	{ "protocol", COL_PROTOCOL_KEY, false },
	{ "run", COL_RUN_DIGEST, true },
};

#define RUN_PARTS (sizeof(run_parts) / sizeof(run_parts[0]))

/* A row taken apart, and its main manifest as far as columns speak of it. */
struct row {
	const struct table *table;
	struct ks_span column[COLUMNS];	/* empty where the row has none */
	struct ks_span api_version, metadata, spec;
};

static const struct table *
find_table(struct ks_span name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (ks_span_is(name, tables[i].name))
			return &tables[i];
	return NULL;
}

/* Order of a column and of the name of a member, which is still escaped. An
 * escaped name is no column's; where the escape decides, the column counts as
 * the later one, so that none is passed over. */
static int
compare_column(const char *column, struct ks_span name)
{
	size_t i;

	for (i = 0; i < name.len && name.data[i] != '\\'; i++)
		if ((uint8_t)column[i] != name.data[i] || column[i] == '\0')
			return (uint8_t)column[i] < name.data[i] ? -1 : 1;
	return i == name.len && column[i] == '\0' ? 0 : 1;
}

/* Note the columns of the row that starts here. */
static void
take_columns(struct ks_walk *w, struct row *row)
{
	struct ks_span name, value;
	size_t i = 0;

	(void)ks_walk_take(w, '{');
	while (ks_walk_member(w, &name)) {
		value = ks_walk_value(w);
		while (i < COLUMNS && compare_column(column_names[i], name) < 0)
			i++;
		if (i < COLUMNS && compare_column(column_names[i], name) == 0)
			row->column[i++] = value;
	}
}

/* Take a row apart in one look at its bytes; false when `value` is none. */
static bool
take_row(struct ks_span value, struct row *row, struct ks_span *table)
{
	struct ks_walk w = { .at = value.data, .end = value.data + value.len };
	struct ks_span name, member;
	bool has_row = false;

	*table = ks_span(NULL, 0);
	if (!ks_walk_take(&w, '{'))
		return false;
	while (ks_walk_member(&w, &name)) {
		if (ks_span_is(name, "row") && ks_walk_peek(&w) == '{') {
			take_columns(&w, row);
			has_row = true;
			continue;
		}
		member = ks_walk_value(&w);
		if (ks_span_is(name, "table") && ks_is_string(member))
			*table = ks_json_raw(member);
	}
	return has_row && table->data != NULL;
}

/* A column's value; null is written as absent. */
static bool
given(const struct row *row, enum column column)
{
	struct ks_span value = row->column[column];

	return value.len != 0 && ks_json_type(value) != KS_JSON_NULL;
}

static enum ks_status
refuse_type(const struct row *row, enum column column, const char *wanted,
	struct ks_error *err)
{
	struct ks_span value = row->column[column];

	return ks_fail(err, KS_INVALID, "column %s must be %s, not %s",
		column_names[column], wanted, value.len == 0 ? "absent" :
		ks_json_type_name(ks_json_type(value)));
}

static enum ks_status
need_type(const struct row *row, enum column column, enum ks_json_type type,
	struct ks_error *err)
{
	if (row->column[column].len != 0 &&
		ks_json_type(row->column[column]) == type)
		return KS_OK;
	return refuse_type(row, column, ks_json_type_name(type), err);
}

static enum ks_status
refuse_value(const struct row *row, enum column column, const char *wanted,
	struct ks_error *err)
{
	char shown[SHOWN];

	return ks_fail(err, KS_INVALID, "column %s: %s is not %s",
		column_names[column],
		ks_printable(shown, sizeof(shown), row->column[column]),
		wanted);
}

static enum ks_status
read_id(const struct row *row, enum column column, struct ks_intake_id *id,
	struct ks_error *err)
{
	struct ks_span value = row->column[column];

	if (!given(row, column))
		return KS_OK;
	if (ks_json_type(value) != KS_JSON_STRING ||
		!ks_uuid_parse(ks_json_raw(value), true, id->bytes))
		return refuse_value(row, column, "a UUID", err);
	id->present = true;
	return KS_OK;
}

/* The digest that the row states for one of its manifests, if it does. */
static enum ks_status
read_stated(const struct row *row, enum column column,
	struct ks_intake_manifest *manifest, struct ks_error *err)
{
	struct ks_span value;

	if (column == COLUMNS || !given(row, column))
		return KS_OK;
	value = row->column[column];
	if (ks_json_type(value) != KS_JSON_STRING ||
		!ks_id_parse(&manifest->stated, ks_json_raw(value)))
		return refuse_value(row, column, "a digest "
			"(sha256: and 64 lower-case hex digits)", err);
	manifest->stated_column = column_names[column];
	return KS_OK;
}

/* Writes an object member by member into a buffer. */
static void
put_member(struct ks_buf *out, size_t start, const char *name,
	struct ks_span value)
{
	ks_buf_byte(out, out->len == start ? '{' : ',');
	ks_buf_byte(out, '"');
	ks_buf_text(out, name);
	ks_buf_text(out, "\":");
	ks_buf_append(out, value);
}

static void
put_column(const struct row *row, enum column column, struct ks_buf *out)
{
	put_member(out, 0, column_names[column], row->column[column]);
}

static enum ks_status
put_text(const struct row *row, enum column column, struct ks_buf *out,
	struct ks_error *err)
{
	if (!given(row, column))
		return KS_OK;
	if (need_type(row, column, KS_JSON_STRING, err) != KS_OK)
		return KS_INVALID;
	put_column(row, column, out);
	return KS_OK;
}

/* The same, left out where it repeats the name that `object` has. */
static enum ks_status
put_differing(const struct row *row, enum column column, struct ks_span object,
	struct ks_buf *out, struct ks_error *err)
{
	struct ks_span name;

	if (given(row, column) && ks_json_find(object, "name", &name) &&
		ks_span_equal(row->column[column], name))
		return KS_OK;
	return put_text(row, column, out, err);
}

static void
put_id(const struct ks_intake_id *id, struct ks_buf *out)
{
	char text[KS_UUID_TEXT + 3];

	if (!id->present)
		return;
	text[0] = '"';
	(void)ks_uuid_print(id->bytes, text + 1);
	text[KS_UUID_TEXT + 1] = '"';
	put_member(out, 0, "id", ks_span(text, KS_UUID_TEXT + 2));
}

/* The publisher's claim; 0 and false claim nothing. */
static enum ks_status
put_replication(const struct row *row, struct ks_buf *out,
	struct ks_error *err)
{
	bool has_count = given(row, COL_REPLICATION_COUNT);
	bool has_claim = given(row, COL_REPRODUCED);
	struct ks_span claim = row->column[COL_REPRODUCED];
	int64_t count = 0;
	size_t start;

	if (has_count && (ks_json_type(row->column[COL_REPLICATION_COUNT]) !=
		KS_JSON_NUMBER || !ks_json_integer(
		row->column[COL_REPLICATION_COUNT], &count) || count < 0))
		return refuse_value(row, COL_REPLICATION_COUNT, "a count",
			err);
	if (has_claim && ks_json_type(claim) != KS_JSON_TRUE &&
		ks_json_type(claim) != KS_JSON_FALSE)
		return refuse_value(row, COL_REPRODUCED, "true or false", err);
	if (count == 0 && !(has_claim && ks_json_type(claim) == KS_JSON_TRUE))
		return KS_OK;
	put_member(out, 0, "replication", ks_span(NULL, 0));
	start = out->len;
	if (has_count)
		put_member(out, start, column_names[COL_REPLICATION_COUNT],
			row->column[COL_REPLICATION_COUNT]);
	if (has_claim)
		put_member(out, start, column_names[COL_REPRODUCED], claim);
	ks_buf_byte(out, '}');
	return KS_OK;
}

static enum ks_status
put_tags(const struct row *row, struct ks_buf *out, struct ks_error *err)
{
	struct ks_json_iter it;
	struct ks_span tag;

	if (!given(row, COL_TAGS))
		return KS_OK;
	if (ks_json_type(row->column[COL_TAGS]) != KS_JSON_ARRAY)
		return refuse_type(row, COL_TAGS, "a list of strings", err);
	it = ks_json_iter(row->column[COL_TAGS]);
	while (ks_json_next_element(&it, &tag))
		if (ks_json_type(tag) != KS_JSON_STRING)
			return refuse_value(row, COL_TAGS, "a list of strings",
				err);
	if (!ks_span_is(row->column[COL_TAGS], "[]"))
		put_column(row, COL_TAGS, out);
	return KS_OK;
}

/* Members in canonical order; a composed manifest gets only the first two. */
static enum ks_status
put_provenance(const struct row *row, const struct ks_intake_manifest *manifest,
	struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status = put_text(row, COL_CREATED_AT, out, err);

	put_id(&manifest->id, out);
	if (status != KS_OK || row->table->form == FORM_COMPOSED)
		return status;
	if (strcmp(row->table->name, "projects") == 0)
		status = put_differing(row, COL_NAME, row->spec, out, err);
	if (status == KS_OK)
		status = put_text(row, COL_PUBLISHED_AT, out, err);
	if (status == KS_OK)
		status = put_replication(row, out, err);
	if (status == KS_OK)
		status = put_differing(row, COL_SLUG, row->metadata, out, err);
	if (status == KS_OK)
		status = put_text(row, COL_SUMMARY, out, err);
	if (status == KS_OK)
		status = put_tags(row, out, err);
	return status;
}

static enum ks_status
read_provenance(const struct row *row, struct ks_buf *out,
	struct ks_intake_manifest *manifest, struct ks_error *err)
{
	enum ks_status status;

	ks_buf_clear(out);
	status = put_provenance(row, manifest, out, err);
	if (status != KS_OK)
		return status;
	if (out->len != 0)
		ks_buf_byte(out, '}');
	manifest->provenance = ks_buf_span(out);
	return ks_buf_check(out, err);
}

/* The row's value as a line carries it; what says nothing is "unspecified". */
static enum ks_status
read_reason(const struct row *row, struct ks_buf *out, struct ks_error *err)
{
	struct ks_span reason = row->column[COL_RETRACTION_REASON];
	bool kept = false;

	ks_buf_clear(out);
	if (given(row, COL_RETRACTION_REASON)) {
		if (ks_json_type(reason) != KS_JSON_STRING &&
			ks_json_type(reason) != KS_JSON_OBJECT)
			return refuse_type(row, COL_RETRACTION_REASON,
				"a string or an object", err);
		kept = !ks_json_is(reason, "") && ks_intake_prune(out, reason);
	}
	if (!kept)
		ks_buf_text(out, "\"unspecified\"");
	return ks_buf_check(out, err);
}

static enum ks_status
read_retraction(const struct row *row, struct ks_buf *out,
	struct ks_intake_manifest *manifest, struct ks_error *err)
{
	enum ks_status status;

	if (given(row, COL_RETRACTED_AT)) {
		if (need_type(row, COL_RETRACTED_AT, KS_JSON_STRING, err) !=
			KS_OK)
			return KS_INVALID;
		manifest->retracted_at = row->column[COL_RETRACTED_AT];
	} else if (!given(row, COL_RETRACTION_REASON)) {
		return KS_OK;
	}
	status = read_reason(row, out, err);
	if (status == KS_OK)
		manifest->reason = ks_buf_span(out);
	return status;
}

/* Everything that the row says about its main manifest. */
static enum ks_status
read_facts(struct ks_intake *intake, const struct row *row,
	struct ks_intake_manifest *manifest, struct ks_error *err)
{
	enum ks_status status = read_id(row, COL_ID, &manifest->id, err);

	if (status == KS_OK)
		status = read_id(row, COL_SUPERSEDES_ID, &manifest->supersedes,
			err);
	if (status == KS_OK && row->table->form != FORM_COMPOSED)
		status = read_id(row, COL_PROJECT_ID, &manifest->project, err);
	if (status == KS_OK && row->table->form != FORM_COMPOSED)
		status = read_id(row, COL_SOURCE_ID, &manifest->source, err);
	if (status == KS_OK)
		status = read_stated(row, row->table->digest, manifest, err);
	if (status == KS_OK)
		status = read_retraction(row, &intake->reason, manifest, err);
	if (status == KS_OK)
		status = read_provenance(row, &intake->provenance, manifest,
			err);
	return status;
}

/* An instant cut to milliseconds, which is what the database keeps:
 * "…T12:00Z" and "…T12:00:00.000Z" are the same. */
#define INSTANT_CHARS 23

static bool
cut_instant(struct ks_span value, char out[INSTANT_CHARS])
{
	struct ks_span raw = ks_json_raw(value);

	memcpy(out, "0000-00-00T00:00:00.000", INSTANT_CHARS);
	if (raw.len < 2 || raw.data[raw.len - 1] != 'Z')
		return false;
	memcpy(out, raw.data, raw.len <= INSTANT_CHARS ? raw.len - 1 :
		INSTANT_CHARS);
	return true;
}

static bool
same_value(enum column column, struct ks_span stated, struct ks_span implied)
{
	char a[INSTANT_CHARS], b[INSTANT_CHARS];

	if (stated.len == 0 || ks_json_type(stated) == KS_JSON_NULL)
		return implied.len == 0;
	if (ks_span_equal(stated, implied))
		return true;
	if (column != COL_OBSERVED_AT || implied.len == 0 ||
		ks_json_type(stated) != KS_JSON_STRING ||
		ks_json_type(implied) != KS_JSON_STRING)
		return false;
	return cut_instant(stated, a) && cut_instant(implied, b) &&
		memcmp(a, b, INSTANT_CHARS) == 0;
}

/* What stands at a path of the spec; empty where nothing does. */
static struct ks_span
look_up(const struct row *row, const char *const path[3])
{
	struct ks_span value = row->spec;

	if (path[0] == NULL)
		return row->api_version;
	for (size_t i = 0; i < 3 && path[i] != NULL; i++)
		if (!ks_json_find(value, path[i], &value))
			return ks_span(NULL, 0);
	return value;
}

/* Compare derived columns with the manifest. A column that the row does not
 * have says nothing. */
static void
compare_derived(const struct row *row, const struct ks_intake_visitor *visitor)
{
	const struct derived *d = row->table->derived;
	struct ks_intake_difference difference;

	if (visitor->differs == NULL || d == NULL)
		return;
	for (; d->column != COLUMNS; d++) {
		struct ks_span stated = row->column[d->column];
		struct ks_span implied;

		if (stated.len == 0)
			continue;
		implied = look_up(row, d->path);
		if (implied.len == 0 && d->other[0] != NULL)
			implied = look_up(row, d->other);
		if (same_value(d->column, stated, implied))
			continue;
		difference = (struct ks_intake_difference){
			.table = row->table->name,
			.column = column_names[d->column],
			.stated = stated, .implied = implied };
		visitor->differs(visitor->arg, &difference);
	}
}

static void
read_members(struct ks_span manifest, struct row *row)
{
	struct ks_json_iter it = ks_json_iter(manifest);
	struct ks_span name, value;

	while (ks_json_next_member(&it, &name, &value)) {
		if (ks_span_is(name, "apiVersion"))
			row->api_version = value;
		else if (ks_span_is(name, "metadata"))
			row->metadata = value;
		else if (ks_span_is(name, "spec"))
			row->spec = value;
	}
}

/* Give the manifest that the row is about, with all its facts. */
static enum ks_status
emit_main(struct ks_intake *intake, struct row *row, struct ks_span text,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	struct ks_intake_manifest manifest = { .text = text,
		.table = row->table->name, .main = true };
	enum ks_status status;

	read_members(text, row);
	status = read_facts(intake, row, &manifest, err);
	if (status != KS_OK)
		return status;
	compare_derived(row, visitor);
	return ks_intake_emit(visitor, &manifest, err);
}

static enum ks_status
read_manifest(struct ks_intake *intake, struct row *row,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	if (need_type(row, COL_MANIFEST, KS_JSON_OBJECT, err) != KS_OK)
		return KS_INVALID;
	return emit_main(intake, row, row->column[COL_MANIFEST], visitor, err);
}

static enum ks_status
emit_part(struct ks_intake *intake, struct row *row,
	const struct part *part, struct ks_span text,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	struct ks_intake_manifest manifest = { .text = text,
		.table = row->table->name };
	enum ks_status status;

	if (part->main)
		return emit_main(intake, row, text, visitor, err);
	status = read_stated(row, part->digest, &manifest, err);
	return status == KS_OK ? ks_intake_emit(visitor, &manifest, err) :
		status;
}

static const struct part *
find_part(struct ks_span name)
{
	for (size_t i = 0; i < RUN_PARTS; i++)
		if (ks_span_is(name, run_parts[i].member))
			return &run_parts[i];
	return NULL;
}

static enum ks_status
read_run(struct ks_intake *intake, struct row *row,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(row->column[COL_MANIFEST]);
	const struct part *part;
	struct ks_span name, text;
	enum ks_status status;
	size_t found = 0;

	if (need_type(row, COL_MANIFEST, KS_JSON_OBJECT, err) != KS_OK)
		return KS_INVALID;
	while (ks_json_next_member(&it, &name, &text)) {
		part = find_part(name);
		if (part == NULL) {
			status = ks_intake_emit_member(visitor, name, text,
				err);
		} else {
			status = emit_part(intake, row, part, text, visitor,
				err);
			if (status != KS_OK)
				(void)ks_context(err, "%s", part->member);
			found++;
		}
		if (status != KS_OK)
			return status;
	}
	if (found != RUN_PARTS)
		return ks_fail(err, KS_INVALID, "column manifest must have the "
			"members run, protocol and environment");
	return KS_OK;
}

static enum ks_status
read_composed(struct ks_intake *intake, struct row *row,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	struct ks_buf *out = &intake->manifest;
	const struct composed *c = row->table->spec;
	size_t start;

	ks_buf_clear(out);
	ks_buf_text(out, "{\"apiVersion\":\"" KS_API_KISTORE "\",\"kind\":\"");
	ks_buf_text(out, row->table->kind);
	ks_buf_text(out, "\",\"spec\":");
	start = out->len;
	for (; c->member != NULL; c++)
		if (given(row, c->column))
			put_member(out, start, c->member,
				row->column[c->column]);
	ks_buf_text(out, out->len == start ? "{}}" : "}}");
	if (ks_buf_check(out, err) != KS_OK)
		return KS_NOMEM;
	return emit_main(intake, row, ks_buf_span(out), visitor, err);
}

static enum ks_status
read_alias(const struct row *row, const struct ks_intake_visitor *visitor,
	struct ks_error *err)
{
	struct ks_intake_id operation = { .present = false };
	enum ks_status status;

	status = need_type(row, COL_OPERATION_ID, KS_JSON_STRING, err);
	if (status == KS_OK)
		status = read_id(row, COL_OPERATION_ID, &operation, err);
	if (status == KS_OK)
		status = need_type(row, COL_ALIAS, KS_JSON_STRING, err);
	if (status == KS_OK && ks_json_is(row->column[COL_ALIAS], ""))
		status = refuse_value(row, COL_ALIAS, "a name", err);
	if (status != KS_OK || visitor->alias == NULL)
		return status;
	return visitor->alias(visitor->arg, operation.bytes,
		row->column[COL_ALIAS], err);
}

static enum ks_status
read_by_form(struct ks_intake *intake, struct row *row,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	switch (row->table->form) {
	case FORM_MANIFEST:
		return read_manifest(intake, row, visitor, err);
	case FORM_RUN:
		return read_run(intake, row, visitor, err);
	case FORM_COMPOSED:
		return read_composed(intake, row, visitor, err);
	case FORM_ALIAS:
		return read_alias(row, visitor, err);
	case FORM_DERIVED:
		break;
	}
	return KS_OK;
}

enum ks_status
ks_row_read(struct ks_intake *intake, struct ks_span value, bool *is_row,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	struct row row = { .table = NULL };
	struct ks_span table;
	enum ks_status status;

	*is_row = take_row(value, &row, &table);
	if (!*is_row)
		return KS_OK;
	row.table = find_table(table);
	if (row.table == NULL || row.table->form == FORM_DERIVED) {
		if (visitor->skipped != NULL)
			visitor->skipped(visitor->arg, row.table == NULL ?
				KS_SKIP_TABLE : KS_SKIP_DERIVED, table);
		return KS_OK;
	}
	status = read_by_form(intake, &row, visitor, err);
	if (status != KS_OK)
		(void)ks_context(err, "table %s", row.table->name);
	return status;
}
