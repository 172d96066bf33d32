#include "format/provenance.h"

#include "base/hex.h"
#include "format/member.h"
#include "format/kind.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char where[] = "provenance.";
static const char replication_where[] = "provenance.replication.";

/* A provenance object being read. */
struct reading {
	struct ks_provenance found;
	bool telling;		/* a replication fact is not its default */
};

static enum ks_status
read_source(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;

	if (!ks_id_parse(&r->found.source, ks_json_raw(value)))
		return ks_fail(err, KS_CORRUPT,
			"provenance.source is not a digest");
	r->found.has_source = true;
	return KS_OK;
}

static enum ks_status
read_project(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;

	if (!ks_id_parse(&r->found.project, ks_json_raw(value)))
		return ks_fail(err, KS_CORRUPT,
			"provenance.project is not a digest");
	r->found.has_project = true;
	return KS_OK;
}

static enum ks_status
read_id(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;

	if (!ks_uuid_parse(ks_json_raw(value), false, r->found.id))
		return ks_fail(err, KS_CORRUPT,
			"provenance.id is not a lower-case UUID");
	r->found.has_id = true;
	return KS_OK;
}

static enum ks_status
read_tags(void *arg, struct ks_span value, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span tag;

	(void)arg;
	while (ks_json_next_element(&it, &tag)) {
		if (ks_json_type(tag) != KS_JSON_STRING)
			return ks_fail(err, KS_CORRUPT,
				"provenance.tags must be strings");
	}
	return KS_OK;
}

/* Take the first byte of the unescaped text off an RFC 8785 string; -1 at the
 * end. Section 3.2.2.2 escapes only the quote, the backslash and controls,
 * each of them one byte. */
static int
next_byte(struct ks_span *raw)
{
	static const char escapes[] = "b\bf\fn\nr\rt\t";
	const uint8_t *p = raw->data;
	size_t used = 1;
	int byte;

	if (raw->len == 0)
		return -1;
	byte = p[0];
	if (byte == '\\' && raw->len >= 6 && p[1] == 'u') {
		byte = ks_hex_value(p[4]) << 4 | ks_hex_value(p[5]);
		used = 6;
	} else if (byte == '\\' && raw->len >= 2) {
		const char *found = strchr(escapes, p[1]);

		byte = found != NULL && *found != '\0' ? found[1] : p[1];
		used = 2;
	}
	*raw = ks_span(p + used, raw->len - used);
	return byte;
}

/* Order of two escaped strings by the bytes of their UTF-8 text. */
static int
compare_text(struct ks_span a, struct ks_span b)
{
	int byte_a, byte_b;

	do {
		byte_a = next_byte(&a);
		byte_b = next_byte(&b);
	} while (byte_a == byte_b && byte_a >= 0);
	return byte_a - byte_b;
}

static enum ks_status
read_aliases(void *arg, struct ks_span value, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span alias, before = ks_span(NULL, 0);

	(void)arg;
	while (ks_json_next_element(&it, &alias)) {
		if (ks_json_type(alias) != KS_JSON_STRING)
			return ks_fail(err, KS_CORRUPT,
				"provenance.aliases must be strings");
		if (before.len > 0 && compare_text(ks_json_raw(before),
			ks_json_raw(alias)) >= 0)
			return ks_fail(err, KS_CORRUPT, "provenance.aliases "
				"must be sorted by bytes, without duplicates");
		before = alias;
	}
	return KS_OK;
}

static enum ks_status
read_count(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;
	int64_t count;

	if (!ks_json_integer(value, &count) || count < 0)
		return ks_fail(err, KS_CORRUPT,
			"%sindependentReplicationCount must be an integer, "
			"0 or more", replication_where);
	r->telling = r->telling || count > 0;
	return KS_OK;
}

static enum ks_status
read_reproduced(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;

	(void)err;
	r->telling = r->telling || ks_json_type(value) == KS_JSON_TRUE;
	return KS_OK;
}

static const struct ks_member replication_fields[] = {
	{ KS_MEMBER("independentReplicationCount"), .types = KS_TYPE_NUMBER,
		.read = read_count },
	{ KS_MEMBER("reproducedByKernelindex"), .types = KS_TYPE_BOOLEAN,
		.read = read_reproduced },
};

static enum ks_status
read_replication(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;
	struct ks_span inner[LENGTH(replication_fields)];
	struct ks_gathered rest;
	enum ks_status status;

	ks_members_gather(replication_fields, LENGTH(replication_fields),
		value, inner, &rest);
	status = ks_members_read(replication_fields,
		LENGTH(replication_fields), replication_where, inner, r, err);
	if (status == KS_OK && !r->telling)
		return ks_fail(err, KS_CORRUPT, "provenance.replication of 0 "
			"and false must be left out");
	return status;
}

#define REPLICATION 0	/* its row, looked at twice */

static const struct ks_member provenance_fields[] = {
	[REPLICATION] = { KS_MEMBER("replication"), .types = KS_TYPE_OBJECT,
		.read = read_replication },
	{ KS_MEMBER("aliases"), .types = KS_TYPE_ARRAY, .read = read_aliases },
	{ KS_MEMBER("createdAt"), .types = KS_TYPE_STRING },
	{ KS_MEMBER("id"), .types = KS_TYPE_STRING, .read = read_id },
	{ KS_MEMBER("name"), .types = KS_TYPE_STRING },
	{ KS_MEMBER("project"), .types = KS_TYPE_STRING, .read = read_project },
	{ KS_MEMBER("publishedAt"), .types = KS_TYPE_STRING },
	{ KS_MEMBER("slug"), .types = KS_TYPE_STRING },
	{ KS_MEMBER("source"), .types = KS_TYPE_STRING, .read = read_source },
	{ KS_MEMBER("summary"), .types = KS_TYPE_STRING },
	{ KS_MEMBER("tags"), .types = KS_TYPE_ARRAY, .read = read_tags },
};

#define FIELDS LENGTH(provenance_fields)

/* Unknown names come before all else: a newer version may have given the
 * other members another meaning (store-layout.md L22). */
static enum ks_status
check_names(const struct ks_span *value, const struct ks_gathered *rest,
	struct ks_error *err)
{
	struct ks_span inner[LENGTH(replication_fields)];
	struct ks_gathered inner_rest;

	if (rest->stray.data != NULL)
		return ks_field_unknown("member", where, rest->stray, err);
	ks_members_gather(replication_fields, LENGTH(replication_fields),
		value[REPLICATION], inner, &inner_rest);
	if (inner_rest.stray.data != NULL)
		return ks_field_unknown("member", replication_where,
			inner_rest.stray, err);
	return KS_OK;
}

/* The names are written out: what lines may say must not change when the
 * tables of kinds grow. */
enum ks_status
ks_provenance_check_kind(const struct ks_provenance *provenance,
	struct ks_span kind, struct ks_error *err)
{
	if (kind.len == 0)
		return KS_OK;
	if (provenance->has_source &&
		!ks_span_is(kind, KS_API_KERNELINDEX "/BenchmarkRun") &&
		!ks_span_is(kind, KS_API_KERNELINDEX "/ServingRun"))
		return ks_fail(err, KS_CORRUPT,
			"provenance.source belongs to runs only");
	if (provenance->has_project &&
		!ks_span_is(kind, KS_API_KERNELINDEX
			"/ImplementationRevision") &&
		!ks_span_is(kind, KS_API_KERNELINDEX "/ServingStackRevision"))
		return ks_fail(err, KS_CORRUPT, "provenance.project belongs "
			"to implementation and serving stack revisions only");
	return KS_OK;
}

enum ks_status
ks_provenance_read(struct ks_span provenance, struct ks_span kind,
	struct ks_provenance *out, struct ks_error *err)
{
	struct reading r = { .telling = false };
	struct ks_span value[FIELDS];
	struct ks_gathered rest;
	enum ks_status status;

	*out = r.found;
	if (ks_json_type(provenance) != KS_JSON_OBJECT ||
		ks_field_is_void(provenance))
		return ks_fail(err, KS_CORRUPT,
			"provenance must be an object with members");
	ks_members_gather(provenance_fields, FIELDS, provenance, value, &rest);
	status = check_names(value, &rest, err);
	if (status == KS_OK && rest.extended)
		status = ks_fields_check_extensions(where, provenance, err);
	if (status == KS_OK)
		status = ks_members_read(provenance_fields, FIELDS, where,
			value, &r, err);
	if (status == KS_OK)
		status = ks_provenance_check_kind(&r.found, kind, err);
	if (status == KS_OK)
		*out = r.found;
	return status;
}
