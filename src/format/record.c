#include "format/record.h"

#include "format/digest.h"
#include "format/json.h"

#define BODY_START "{\"apiVersion\":\""
#define IDENTIFIER_MAX 128	/* characters of apiVersion and of kind */

/* A member name as a message shows it. */
#define SHOWN 96

/* The span of `record` that the member called `name` belongs in, or NULL. */
static struct ks_span *
member_slot(struct ks_record *record, struct ks_span name)
{
	if (ks_span_is(name, "apiVersion"))
		return &record->api_version;
	if (ks_span_is(name, "kind"))
		return &record->kind_name;
	if (ks_span_is(name, "metadata"))
		return &record->metadata;
	if (ks_span_is(name, "spec"))
		return &record->spec;
	return NULL;
}

static enum ks_status
take_members(struct ks_span manifest, struct ks_record *record,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(manifest);
	struct ks_span name, value, *slot;
	char shown[SHOWN];

	while (ks_json_next_member(&it, &name, &value)) {
		slot = member_slot(record, name);
		if (slot == NULL)
			return ks_fail(err, KS_INVALID,
				"unknown member \"%s\": a manifest has exactly "
				"apiVersion, kind, metadata and spec",
				ks_printable(shown, sizeof(shown), name));
		*slot = value;
	}
	return KS_OK;
}

/* Turn the member's value into the characters between its quotes: 1 to 128
 * printable ASCII characters (store-layout.md, section "records"). */
static enum ks_status
take_identifier(struct ks_span *value, const char *member, bool slash_allowed,
	struct ks_error *err)
{
	struct ks_span raw;
	size_t count = 0;

	if (value->len == 0)
		return ks_fail(err, KS_INVALID, "%s: missing", member);
	if (ks_json_type(*value) != KS_JSON_STRING)
		return ks_fail(err, KS_INVALID, "%s: must be a string, not %s",
			member, ks_json_type_name(ks_json_type(*value)));
	raw = ks_json_raw(*value);
	for (size_t i = 0; i < raw.len; i++, count++) {
		/* Of what RFC 8785 escapes, only these two are printable. */
		if (raw.data[i] == '\\' && i + 1 < raw.len &&
			(raw.data[i + 1] == '"' || raw.data[i + 1] == '\\')) {
			i++;
			continue;
		}
		if (raw.data[i] < 0x20 || raw.data[i] > 0x7e ||
			raw.data[i] == '\\')
			return ks_fail(err, KS_INVALID, "%s: must be printable "
				"ASCII characters", member);
		if (raw.data[i] == '/' && !slash_allowed)
			return ks_fail(err, KS_INVALID,
				"%s: must not contain \"/\"", member);
	}
	if (count == 0 || count > IDENTIFIER_MAX)
		return ks_fail(err, KS_INVALID,
			"%s: must be 1 to %d characters long", member,
			IDENTIFIER_MAX);
	*value = raw;
	return KS_OK;
}

static enum ks_status
need_object(struct ks_span value, const char *member, struct ks_error *err)
{
	if (value.len == 0)
		return ks_fail(err, KS_INVALID, "%s: missing", member);
	if (ks_json_type(value) != KS_JSON_OBJECT)
		return ks_fail(err, KS_INVALID, "%s: must be an object, not %s",
			member, ks_json_type_name(ks_json_type(value)));
	return KS_OK;
}

static enum ks_status
split(struct ks_span manifest, struct ks_record *record, struct ks_error *err)
{
	enum ks_status status = need_object(manifest, "manifest", err);

	if (status == KS_OK)
		status = take_members(manifest, record, err);
	if (status == KS_OK)
		status = take_identifier(&record->api_version, "apiVersion",
			true, err);
	if (status == KS_OK)
		status = take_identifier(&record->kind_name, "kind", false,
			err);
	if (status == KS_OK && record->metadata.len != 0)
		status = need_object(record->metadata, "metadata", err);
	if (status == KS_OK)
		status = need_object(record->spec, "spec", err);
	return status;
}

enum ks_status
ks_record_split(struct ks_span manifest, struct ks_record *record,
	struct ks_error *err)
{
	struct ks_record found = { .kind = NULL };
	enum ks_status status = split(manifest, &found, err);

	*record = (struct ks_record){ .kind = NULL };
	if (status != KS_OK)
		return status;
	found.kind = ks_kind_find(found.api_version, found.kind_name);
	*record = found;
	return KS_OK;
}

enum ks_status
ks_record_judge(struct ks_jcs *jcs, struct ks_span bytes,
	struct ks_record *record, struct ks_error *err)
{
	struct ks_record found;
	size_t start = strlen(BODY_START);
	enum ks_status status;

	*record = (struct ks_record){ .kind = NULL };
	/* Spares the scanner most bytes that are anything else. */
	if (bytes.len < start || memcmp(bytes.data, BODY_START, start) != 0)
		return ks_fail(err, KS_INVALID,
			"does not begin with " BODY_START);
	status = ks_jcs_check(jcs, bytes, &ks_jcs_manifest, err);
	if (status == KS_OK)
		status = ks_record_split(bytes, &found, err);
	if (status != KS_OK)
		return status == KS_NOMEM ? KS_NOMEM : KS_INVALID;
	if (found.metadata.len != 0)
		return ks_fail(err, KS_INVALID, "members other than "
			"apiVersion, kind and spec");
	*record = found;
	return KS_OK;
}

bool
ks_record_is_body(struct ks_jcs *jcs, struct ks_span bytes,
	struct ks_record *record)
{
	return ks_record_judge(jcs, bytes, record, NULL) == KS_OK;
}

/* The body up to the value of spec. */
static void
append_head(const struct ks_record *record, struct ks_buf *out)
{
	ks_buf_text(out, BODY_START);
	ks_buf_append(out, record->api_version);
	ks_buf_text(out, "\",\"kind\":\"");
	ks_buf_append(out, record->kind_name);
	ks_buf_text(out, "\",\"spec\":");
}

void
ks_record_body(const struct ks_record *record, struct ks_buf *out)
{
	append_head(record, out);
	ks_buf_append(out, record->spec);
	ks_buf_byte(out, '}');
}

/* Stands between the kind's table and the caller: an error becomes the
 * refusal, everything else is passed on. */
struct judge {
	const struct ks_record_policy *policy;
	ks_finding_fn *report;
	void *arg;
	struct ks_error *err;
	bool refused, no_memory;
};

static bool
judge_finding(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	struct judge *judge = arg;

	bool too_strict = level == KS_FINDING_UNKNOWN && judge->policy->strict;

	if (level == KS_FINDING_NO_MEMORY) {
		judge->refused = judge->no_memory = true;
		(void)ks_fail_nomem(judge->err);
		return false;
	}
	if (level == KS_FINDING_ERROR || too_strict) {
		judge->refused = true;
		(void)ks_fail(judge->err, KS_INVALID, "%s: %s%s", path,
			message, too_strict ? " (--strict refuses it)" : "");
		return false;
	}
	/* A check that the caller could stop would let errors through. */
	if (judge->report != NULL)
		(void)judge->report(judge->arg, level, path, message);
	return true;
}

/* The body, with the spec in normal form; record->spec follows it there. */
static enum ks_status
append_body(struct ks_record *record, struct judge *judge, struct ks_buf *body)
{
	size_t start = body->len, spec_start;
	bool changed = false;
	enum ks_status status;

	append_head(record, body);
	spec_start = body->len;
	if (record->kind != NULL) {
		status = ks_kind_normalise(record->kind, record->spec, body,
			&changed, judge_finding, judge, judge->err);
		if (status != KS_OK)
			return status;
	}
	if (!changed)
		ks_buf_append(body, record->spec);
	ks_buf_byte(body, '}');
	status = ks_buf_check(body, judge->err);
	if (status != KS_OK)
		return status;
	/* A duration's text may be shorter than its nanoseconds. */
	if (body->len - start > KS_RECORD_MAX)
		return ks_fail(judge->err, KS_INVALID,
			"in normal form longer than %d bytes", KS_RECORD_MAX);
	if (changed)
		record->spec = ks_span(body->data + spec_start,
			body->len - 1 - spec_start);
	return KS_OK;
}

static enum ks_status
check_metadata(const struct ks_record *record, struct judge *judge)
{
	if (record->metadata.len == 0) {
		if (ks_kind_metadata_optional(record->kind))
			return KS_OK;
		return ks_fail(judge->err, KS_INVALID, "metadata: missing: "
			"a %s needs metadata with a name",
			ks_kind_name(record->kind));
	}
	if (!ks_kind_check_metadata(record->metadata, judge_finding, judge) ||
		judge->refused)
		return KS_INVALID;
	return KS_OK;
}

static enum ks_status
check_spec(const struct ks_record *record, struct judge *judge)
{
	if (!ks_kind_check_spec(record->kind, record->spec, judge_finding,
		judge) || judge->refused)
		return judge->no_memory ? KS_NOMEM : KS_INVALID;
	return KS_OK;
}

static enum ks_status
refuse_unknown_kind(const struct ks_record *record, struct ks_error *err)
{
	return ks_fail(err, KS_INVALID, "kind \"%.*s\" of apiVersion \"%.*s\" "
		"is not known; --allow-unknown-kind stores it as it is",
		(int)record->kind_name.len,
		(const char *)record->kind_name.data,
		(int)record->api_version.len,
		(const char *)record->api_version.data);
}

static enum ks_status
read_record(struct ks_span manifest, struct judge *judge,
	struct ks_record *record, struct ks_buf *body)
{
	enum ks_status status;

	if (manifest.len > KS_RECORD_MAX)
		return ks_fail(judge->err, KS_INVALID,
			"a manifest may have at most %d bytes, not %zu",
			KS_RECORD_MAX, manifest.len);
	status = ks_record_split(manifest, record, judge->err);
	if (status != KS_OK)
		return status;
	if (record->kind == NULL && !judge->policy->allow_unknown_kind)
		return refuse_unknown_kind(record, judge->err);
	/* A log line writes an empty object as absent. */
	if (ks_span_is(record->metadata, "{}"))
		record->metadata.len = 0;
	status = append_body(record, judge, body);
	if (status != KS_OK || record->kind == NULL)
		return status;
	status = check_metadata(record, judge);
	return status == KS_OK ? check_spec(record, judge) : status;
}

enum ks_status
ks_record_read(struct ks_span manifest, const struct ks_record_policy *policy,
	ks_finding_fn *report, void *arg, struct ks_record *record,
	struct ks_buf *body, struct ks_id *digest, struct ks_error *err)
{
	struct judge judge = { .policy = policy, .report = report, .arg = arg,
		.err = err };
	size_t start = body->len;
	enum ks_status status;

	memset(digest, 0, sizeof(*digest));
	status = read_record(manifest, &judge, record, body);
	if (status != KS_OK) {
		*record = (struct ks_record){ .kind = NULL };
		body->len = start;
		return status;
	}
	ks_sha256(ks_span(body->data + start, body->len - start), digest);
	return KS_OK;
}

void
ks_record_full_kind(const struct ks_record *record, struct ks_buf *out)
{
	ks_buf_append(out, record->api_version);
	ks_buf_byte(out, '/');
	ks_buf_append(out, record->kind_name);
}
