#include "format/entry.h"

#include "format/member.h"
#include "format/merkle.h"
#include "format/vkey.h"

static const char format_name[] = "kistore/1";

/* store-layout.md L3, L4. */
static const struct ks_jcs_policy line_policy = {
	.max_bytes = KS_ENTRY_MAX,
	.max_depth = 64,
	.refuse_nul = true,
	.exact_numbers = true,
};

/* Sets of ops. */
#define BIT(op) (1u << (op))
#define INIT BIT(KS_OP_INIT)
#define KEY BIT(KS_OP_KEY)
#define PUBLISH BIT(KS_OP_PUBLISH)
#define ANNOTATE BIT(KS_OP_ANNOTATE)
#define RETRACT BIT(KS_OP_RETRACT)
#define SUPERSEDE BIT(KS_OP_SUPERSEDE)
#define RESTORE BIT(KS_OP_RESTORE)
#define TAKEDOWN BIT(KS_OP_TAKEDOWN)
#define OF_OBJECT (PUBLISH | ANNOTATE | RETRACT | SUPERSEDE | RESTORE | \
	TAKEDOWN)
#define EVERY_OP (INIT | KEY | OF_OBJECT)

static const char *const op_names[] = {
	[KS_OP_INIT] = "init",
	[KS_OP_KEY] = "key",
	[KS_OP_PUBLISH] = "publish",
	[KS_OP_ANNOTATE] = "annotate",
	[KS_OP_RETRACT] = "retract",
	[KS_OP_SUPERSEDE] = "supersede",
	[KS_OP_RESTORE] = "restore",
	[KS_OP_TAKEDOWN] = "takedown",
	[KS_OP_EXTENSION] = "extension",
	[KS_OP_REDACTED] = "redacted",
};

/* The members of a line, in canonical order. */
enum member {
	M_AT, M_BY, M_DIGEST, M_FORMAT, M_KEY, M_KIND, M_LINES, M_METADATA,
	M_MISSING, M_NEXT, M_OP, M_ORIGIN, M_PROVENANCE, M_REASON,
	M_RETRACTED_AT, M_ROLE, M_COUNT
};

/* A line being read. */
struct reading {
	struct ks_entry entry;
	struct ks_span value[M_COUNT];	/* len 0 = absent */
	struct ks_gathered rest;
};

const char *
ks_op_name(enum ks_op op)
{
	return op_names[op];
}

/* Readers of single members. */

static enum ks_status
read_at(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;
	int64_t seconds;

	if (!ks_time_parse(ks_json_raw(value), &seconds))
		return ks_fail(err, KS_CORRUPT,
			"at is not a time YYYY-MM-DDTHH:MM:SSZ");
	r->entry.at = ks_json_raw(value);
	return KS_OK;
}

static enum ks_status
read_by(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;

	if (!ks_id_parse(&r->entry.by, ks_json_raw(value)))
		return ks_fail(err, KS_CORRUPT, "by is not a digest");
	return KS_OK;
}

static enum ks_status
read_digest(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;

	if (!ks_id_parse(&r->entry.digest, ks_json_raw(value)))
		return ks_fail(err, KS_CORRUPT, "digest is not a digest");
	return KS_OK;
}

static enum ks_status
read_format(void *arg, struct ks_span value, struct ks_error *err)
{
	(void)arg;
	if (!ks_json_is(value, format_name))
		return ks_field_unknown("format", "", ks_json_raw(value), err);
	return KS_OK;
}

/* Whether an escaped text is 1 to 128 printable ASCII characters. Of these,
 * only the quote and the backslash are written escaped. */
static bool
is_kind_part(struct ks_span raw)
{
	size_t length = 0;
	size_t i;

	for (i = 0; i < raw.len; i++, length++) {
		if (raw.data[i] < 0x20 || raw.data[i] > 0x7e)
			return false;
		if (raw.data[i] != '\\')
			continue;
		i++;
		if (i == raw.len ||
			(raw.data[i] != '"' && raw.data[i] != '\\'))
			return false;
	}
	return length >= 1 && length <= 128;
}

/* L15: "raw", or apiVersion/kind, split at the last slash. */
static enum ks_status
read_kind(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;
	struct ks_span kind = ks_json_raw(value);
	size_t name = kind.len;

	r->entry.kind = kind;
	if (ks_span_is(kind, "raw"))
		return KS_OK;
	while (name > 0 && kind.data[name - 1] != '/')
		name--;
	if (name == 0 || !is_kind_part(ks_span(kind.data, name - 1)) ||
		!is_kind_part(ks_span(kind.data + name, kind.len - name)))
		return ks_fail(err, KS_CORRUPT,
			"kind is neither raw nor apiVersion/kind");
	return KS_OK;
}

static enum ks_status
read_lines(void *arg, struct ks_span value, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span element;
	int64_t before = -1, index;

	(void)arg;
	while (ks_json_next_element(&it, &element)) {
		if (ks_json_type(element) != KS_JSON_NUMBER ||
			!ks_json_integer(element, &index) || index <= before)
			return ks_fail(err, KS_CORRUPT,
				"lines must be ascending integers, 0 or more");
		before = index;
	}
	return KS_OK;
}

static enum ks_status
read_missing(void *arg, struct ks_span value, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span element;
	struct ks_id before, id;
	bool first = true;

	(void)arg;
	while (ks_json_next_element(&it, &element)) {
		if (ks_json_type(element) != KS_JSON_STRING ||
			!ks_id_parse(&id, ks_json_raw(element)))
			return ks_fail(err, KS_CORRUPT,
				"missing must be digests");
		if (!first && ks_id_compare(&before, &id) >= 0)
			return ks_fail(err, KS_CORRUPT,
				"missing must be sorted, without duplicates");
		before = id;
		first = false;
	}
	return KS_OK;
}

/* L16: in a retraction also an object, the value of a catalogue row. */
static enum ks_status
read_reason(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;

	if (ks_json_type(value) == KS_JSON_STRING &&
		ks_json_raw(value).len > 0)
		return KS_OK;
	if (ks_json_type(value) == KS_JSON_OBJECT &&
		r->entry.op == KS_OP_RETRACT)
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "reason must be a non-empty string");
}

static enum ks_status
read_next(void *arg, struct ks_span value, struct ks_error *err)
{
	struct ks_id id;

	(void)arg;
	if (!ks_id_parse(&id, ks_json_raw(value)))
		return ks_fail(err, KS_CORRUPT, "next is not a digest");
	return KS_OK;
}

/* Take what stands before the first '+' off `text`, and the '+'. */
static struct ks_span
next_part(struct ks_span *text)
{
	struct ks_span part = *text;
	size_t i = 0;

	while (i < part.len && part.data[i] != '+')
		i++;
	part.len = i;
	if (i < text->len)
		*text = ks_span(text->data + i + 1, text->len - i - 1);
	else
		*text = ks_span(NULL, 0);
	return part;
}

static enum ks_status
read_key(void *arg, struct ks_span value, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_vkey vkey;
	enum ks_status status;

	(void)arg;
	ks_json_unescape(&text, ks_json_raw(value));
	status = ks_buf_check(&text, err);
	if (status == KS_OK && ks_vkey_parse(ks_buf_span(&text), &vkey,
		NULL) != KS_OK)
		status = ks_fail(err, KS_CORRUPT, "key is not a verifier key");
	ks_buf_release(&text);
	return status;
}

/* L18. The log's key is named as its origin; equal texts are escaped equally,
 * and a name has no '+'. An unknown role was reported before. */
static enum ks_status
read_role(void *arg, struct ks_span value, struct ks_error *err)
{
	struct reading *r = arg;
	struct ks_span key = ks_json_raw(r->value[M_KEY]);

	if (ks_json_is(value, "log")) {
		if (r->value[M_ORIGIN].len == 0 ||
			!ks_span_equal(next_part(&key),
				ks_json_raw(r->value[M_ORIGIN])))
			return ks_fail(err, KS_CORRUPT,
				"origin must be the name of the log's key");
		return KS_OK;
	}
	if (r->value[M_ORIGIN].len > 0 || r->value[M_NEXT].len > 0)
		return ks_fail(err, KS_CORRUPT,
			"origin and next belong to role log only");
	return KS_OK;
}

static const struct ks_member fields[M_COUNT] = {
	[M_AT] = { KS_MEMBER("at"), .types = KS_TYPE_STRING,
		.required = EVERY_OP, .read = read_at },
	[M_BY] = { KS_MEMBER("by"), .types = KS_TYPE_STRING,
		.required = SUPERSEDE, .read = read_by },
	[M_DIGEST] = { KS_MEMBER("digest"), .types = KS_TYPE_STRING,
		.required = OF_OBJECT, .read = read_digest },
	[M_FORMAT] = { KS_MEMBER("format"), .types = KS_TYPE_STRING,
		.required = INIT, .read = read_format },
	[M_KEY] = { KS_MEMBER("key"), .types = KS_TYPE_STRING,
		.required = KEY, .read = read_key },
	[M_KIND] = { KS_MEMBER("kind"), .types = KS_TYPE_STRING,
		.required = PUBLISH, .read = read_kind },
	[M_LINES] = { KS_MEMBER("lines"), .types = KS_TYPE_ARRAY,
		.optional = TAKEDOWN, .read = read_lines },
	[M_METADATA] = { KS_MEMBER("metadata"), .types = KS_TYPE_OBJECT,
		.optional = PUBLISH | ANNOTATE },
	[M_MISSING] = { KS_MEMBER("missing"), .types = KS_TYPE_ARRAY,
		.optional = PUBLISH, .read = read_missing },
	[M_NEXT] = { KS_MEMBER("next"), .types = KS_TYPE_STRING,
		.optional = KEY, .read = read_next },
	[M_OP] = { KS_MEMBER("op"), .types = KS_TYPE_STRING,
		.required = EVERY_OP },
	[M_ORIGIN] = { KS_MEMBER("origin"), .types = KS_TYPE_STRING,
		.optional = KEY },
	[M_PROVENANCE] = { KS_MEMBER("provenance"), .types = KS_TYPE_OBJECT,
		.optional = PUBLISH | ANNOTATE },
	[M_REASON] = { KS_MEMBER("reason"),
		.types = KS_TYPE_STRING | KS_TYPE_OBJECT,
		.required = RETRACT | RESTORE | TAKEDOWN,
		.optional = SUPERSEDE, .read = read_reason },
	[M_RETRACTED_AT] = { KS_MEMBER("retractedAt"), .types = KS_TYPE_STRING,
		.optional = RETRACT },
	[M_ROLE] = { KS_MEMBER("role"), .types = KS_TYPE_STRING,
		.required = KEY, .read = read_role },
};

/* L6, L7: what even a line of a newer version has. */
static enum ks_status
read_time_and_op(struct reading *r, struct ks_span *op, struct ks_error *err)
{
	static const enum member both[2] = { M_OP, M_AT };
	enum ks_status status;
	size_t i;

	for (i = 0; i < 2; i++) {
		const struct ks_member *field = &fields[both[i]];
		struct ks_span value = r->value[both[i]];

		if (value.len == 0)
			return ks_fail(err, KS_CORRUPT, "%s is missing",
				field->name);
		status = ks_member_read(field, "", value, r, err);
		if (status != KS_OK)
			return status;
	}
	*op = ks_json_raw(r->value[M_OP]);
	return KS_OK;
}

/* False when no op has that name. */
static bool
find_op(struct ks_span name, enum ks_op *op)
{
	for (*op = KS_OP_INIT; *op < KS_OP_EXTENSION; (*op)++) {
		if (ks_span_is(name, op_names[*op]))
			return true;
	}
	return ks_field_is_extension(name);
}

static bool
is_allowed(enum ks_op op, const struct ks_member *field)
{
	return ((field->required | field->optional) & BIT(op)) != 0;
}

static bool
is_known_role(struct ks_span value)
{
	return ks_json_type(value) != KS_JSON_STRING ||
		ks_json_is(value, "log") || ks_json_is(value, "controlled") ||
		ks_json_is(value, "revoked") ||
		ks_field_is_extension(ks_json_raw(value));
}

/* L11, L12, L18. */
static enum ks_status
check_names(const struct reading *r, struct ks_error *err)
{
	enum ks_op op = r->entry.op;
	size_t i;

	if (r->rest.stray.data != NULL)
		return ks_field_unknown("member", "", r->rest.stray, err);
	for (i = 0; i < M_COUNT; i++) {
		if (r->value[i].len > 0 && !is_allowed(op, &fields[i]))
			return ks_field_unknown("member", "",
				ks_span_text(fields[i].name), err);
	}
	if (r->value[M_ROLE].len > 0 && !is_known_role(r->value[M_ROLE]))
		return ks_field_unknown("role", "",
			ks_json_raw(r->value[M_ROLE]), err);
	return KS_OK;
}

/* L10. Provenance was read already; metadata may hold anything. */
static enum ks_status
check_presence(const struct reading *r, enum member member,
	struct ks_error *err)
{
	struct ks_span value = r->value[member];
	bool opaque = member == M_METADATA || member == M_PROVENANCE;

	if (opaque && !ks_field_is_void(value))
		return KS_OK;
	return ks_field_check_present("", ks_span_text(fields[member].name),
		value, err);
}

static enum ks_status
read_members(struct reading *r, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	enum member i;

	for (i = 0; i < M_COUNT && status == KS_OK; i++) {
		const struct ks_member *field = &fields[i];

		if (r->value[i].len == 0) {
			if ((field->required & BIT(r->entry.op)) != 0)
				status = ks_fail(err, KS_CORRUPT,
					"%s is missing", field->name);
			continue;
		}
		status = check_presence(r, i, err);
		if (status == KS_OK)
			status = ks_member_read(field, "", r->value[i], r,
				err);
	}
	return status;
}

/* Which kinds may have which members is judged once the kind was read; that
 * of an annotate line is for replay to know. */
static enum ks_status
read_provenance(struct reading *r, struct ks_error *err)
{
	if (r->value[M_PROVENANCE].len == 0)
		return KS_OK;
	return ks_provenance_read(r->value[M_PROVENANCE], ks_span(NULL, 0),
		&r->entry.claims, err);
}

static void
keep_values(struct ks_entry *entry, const struct ks_span *value)
{
	entry->metadata = value[M_METADATA];
	entry->provenance = value[M_PROVENANCE];
	entry->missing = value[M_MISSING];
	entry->reason = value[M_REASON];
	entry->retracted_at = value[M_RETRACTED_AT];
	entry->lines = value[M_LINES];
	entry->format = value[M_FORMAT];
	entry->key = value[M_KEY];
	entry->role = value[M_ROLE];
	entry->origin = value[M_ORIGIN];
	entry->next = value[M_NEXT];
}

/* Judge the members of a line whose time and op were read. A name that only a
 * newer version knows decides before any fault, since that version may have
 * given the other members another meaning (L22): so names come first, and
 * provenance, which has names of its own. */
static enum ks_status
read_statement(struct reading *r, struct ks_span line, struct ks_error *err)
{
	enum ks_status status = check_names(r, err);

	if (status == KS_OK)
		status = read_provenance(r, err);
	if (status == KS_OK && r->rest.extended)
		status = ks_fields_check_extensions("", line, err);
	if (status == KS_OK)
		status = read_members(r, err);
	if (status == KS_OK)
		status = ks_provenance_check_kind(&r->entry.claims,
			r->entry.kind, err);
	if (status == KS_OK)
		keep_values(&r->entry, r->value);
	return status;
}

/* Take apart a line that is canonical JSON. */
static enum ks_status
read_line(struct ks_span line, struct ks_entry *entry, struct ks_error *err)
{
	struct reading r = { .rest = { .extended = false } };
	struct ks_span op = { .len = 0 };
	enum ks_status status;

	if (ks_json_type(line) != KS_JSON_OBJECT)
		return ks_fail(err, KS_CORRUPT, "a line must be an object");
	ks_members_gather(fields, M_COUNT, line, r.value, &r.rest);
	status = read_time_and_op(&r, &op, err);
	if (status != KS_OK)
		return status;
	if (!find_op(op, &r.entry.op))
		status = ks_field_unknown("op", "", op, err);
	else if (r.entry.op != KS_OP_EXTENSION)
		status = read_statement(&r, line, err);
	if (status == KS_OK)
		*entry = r.entry;
	else if (status == KS_UNSUPPORTED)
		entry->at = r.entry.at;
	return status;
}

static enum ks_status
read_redacted(struct ks_span line, struct ks_entry *entry,
	struct ks_error *err)
{
	struct ks_id leaf;

	if (!ks_id_parse_hex(&leaf, ks_span(line.data + 1, line.len - 1)))
		return ks_fail(err, KS_CORRUPT,
			"a redacted line is '-' and 64 lower-case hex digits");
	entry->op = KS_OP_REDACTED;
	entry->leaf = leaf;
	return KS_OK;
}

static enum ks_status
check_canonical(struct ks_jcs *jcs, struct ks_span line, struct ks_error *err)
{
	enum ks_status status = ks_jcs_check(jcs, line, &line_policy, err);

	if (status != KS_INVALID)
		return status;
	if (err != NULL)
		err->status = KS_CORRUPT;
	(void)ks_context(err, "not canonical JSON");
	return KS_CORRUPT;
}

enum ks_status
ks_entry_parse(struct ks_jcs *jcs, struct ks_span line,
	struct ks_entry *entry, struct ks_error *err)
{
	enum ks_status status;

	*entry = (struct ks_entry){ .op = KS_OP_EXTENSION };
	if (line.len > KS_ENTRY_MAX)
		return ks_fail(err, KS_CORRUPT,
			"a line has at most %d bytes", KS_ENTRY_MAX);
	if (line.len > 0 && line.data[0] == '-')
		return read_redacted(line, entry, err);
	status = check_canonical(jcs, line, err);
	if (status != KS_OK)
		return status;
	return read_line(line, entry, err);
}

/* Writing. */

static void
put(struct ks_buf *out, const char *name, struct ks_span value)
{
	if (value.len == 0)
		return;
	ks_buf_text(out, ",\"");
	ks_buf_text(out, name);
	ks_buf_text(out, "\":");
	ks_buf_append(out, value);
}

/* A member whose text needs no escaping, or is escaped already. */
static void
put_text(struct ks_buf *out, const char *name, struct ks_span text)
{
	if (text.len == 0)
		return;
	put(out, name, ks_span_text("\""));
	ks_buf_append(out, text);
	ks_buf_byte(out, '"');
}

static void
put_id(struct ks_buf *out, const char *name, const struct ks_id *id)
{
	char text[KS_ID_TEXT + 1];

	put_text(out, name, ks_span_text(ks_id_print(id, text)));
}

/* Members in canonical order; `at` is always the first. */
static void
write_line(const struct ks_entry *entry, struct ks_buf *out)
{
	ks_buf_text(out, "{\"at\":\"");
	ks_buf_append(out, entry->at);
	ks_buf_byte(out, '"');
	if (entry->op == KS_OP_SUPERSEDE)
		put_id(out, "by", &entry->by);
	if ((BIT(entry->op) & OF_OBJECT) != 0)
		put_id(out, "digest", &entry->digest);
	put(out, "format", entry->format);
	put(out, "key", entry->key);
	put_text(out, "kind", entry->kind);
	put(out, "lines", entry->lines);
	put(out, "metadata", entry->metadata);
	put(out, "missing", entry->missing);
	put(out, "next", entry->next);
	put_text(out, "op", ks_span_text(op_names[entry->op]));
	put(out, "origin", entry->origin);
	put(out, "provenance", entry->provenance);
	put(out, "reason", entry->reason);
	put(out, "retractedAt", entry->retracted_at);
	put(out, "role", entry->role);
	ks_buf_byte(out, '}');
}

static void
write_redacted(const struct ks_entry *entry, struct ks_buf *out)
{
	char hex[KS_ID_HEX + 1];

	ks_buf_byte(out, '-');
	ks_buf_text(out, ks_id_print_hex(&entry->leaf, hex));
}

enum ks_status
ks_entry_write(const struct ks_entry *entry, struct ks_buf *out,
	struct ks_error *err)
{
	size_t start = out->len;
	enum ks_status status;

	if (entry->op == KS_OP_EXTENSION)
		return ks_fail(err, KS_INVALID,
			"what an extension line says is not kept");
	if (entry->op == KS_OP_REDACTED)
		write_redacted(entry, out);
	else
		write_line(entry, out);
	status = ks_buf_check(out, err);
	if (status == KS_OK && out->len - start > KS_ENTRY_MAX) {
		out->len = start;
		status = ks_fail(err, KS_INVALID,
			"the log line is longer than %d bytes", KS_ENTRY_MAX);
	}
	return status;
}

void
ks_entry_leaf(struct ks_span line, struct ks_id *leaf)
{
	if (line.len != 1 + KS_ID_HEX || line.data[0] != '-' ||
		!ks_id_parse_hex(leaf, ks_span(line.data + 1, KS_ID_HEX)))
		ks_merkle_leaf(line, leaf);
}
