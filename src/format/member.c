#include "format/member.h"

#define MAX_DEPTH 64	/* store-layout.md B3 */

bool
ks_field_is_extension(struct ks_span name)
{
	return name.len >= 2 && name.data[0] == 'x' && name.data[1] == '-';
}

bool
ks_field_is_void(struct ks_span value)
{
	return ks_span_is(value, "null") || ks_span_is(value, "[]") ||
		ks_span_is(value, "{}");
}

/* What is nested too deep was never accepted as canonical text. */
static bool
is_present(struct ks_span value, unsigned depth)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span name, inner;

	if (ks_field_is_void(value) || depth > MAX_DEPTH)
		return false;
	if (ks_json_type(value) != KS_JSON_OBJECT)
		return true;
	while (ks_json_next_member(&it, &name, &inner)) {
		if (!is_present(inner, depth + 1))
			return false;
	}
	return true;
}

enum ks_status
ks_field_check_present(const char *where, struct ks_span name,
	struct ks_span value, struct ks_error *err)
{
	char printable[128];

	if (is_present(value, 0))
		return KS_OK;
	return ks_fail(err, KS_CORRUPT,
		"%s%s holds null, [] or {}, which must be left out", where,
		ks_printable(printable, sizeof(printable), name));
}

enum ks_status
ks_field_unknown(const char *what, const char *where, struct ks_span text,
	struct ks_error *err)
{
	char printable[128];

	return ks_fail(err, KS_UNSUPPORTED,
		"%s \"%s%s\" is not known: a newer kistore is needed", what,
		where, ks_printable(printable, sizeof(printable), text));
}

/* The row of a name, or `count`. */
static size_t
find_field(const struct ks_member *fields, size_t count, struct ks_span name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (name.len == fields[i].name_len &&
			name.data[0] == (uint8_t)fields[i].name[0] &&
			memcmp(name.data, fields[i].name, name.len) == 0)
			break;
	}
	return i;
}

void
ks_members_gather(const struct ks_member *fields, size_t count,
	struct ks_span object, struct ks_span *value,
	struct ks_gathered *rest)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, inner;
	size_t i;

	for (i = 0; i < count; i++)
		value[i] = ks_span(NULL, 0);
	*rest = (struct ks_gathered){ .extended = false };
	while (ks_json_next_member(&it, &name, &inner)) {
		i = find_field(fields, count, name);
		if (i < count)
			value[i] = inner;
		else if (ks_field_is_extension(name))
			rest->extended = true;
		else if (rest->stray.data == NULL)
			rest->stray = name;
	}
}

static const char *
types_name(unsigned types)
{
	if ((types & KS_TYPE_STRING) != 0)
		return "a string";
	if ((types & KS_TYPE_NUMBER) != 0)
		return "a number";
	if ((types & KS_TYPE_BOOLEAN) != 0)
		return "true or false";
	return (types & KS_TYPE_ARRAY) != 0 ? "a list" : "an object";
}

enum ks_status
ks_member_read(const struct ks_member *field, const char *where,
	struct ks_span value, void *arg, struct ks_error *err)
{
	if ((field->types & 1u << ks_json_type(value)) == 0)
		return ks_fail(err, KS_CORRUPT, "%s%s must be %s", where,
			field->name, types_name(field->types));
	return field->read == NULL ? KS_OK : field->read(arg, value, err);
}

enum ks_status
ks_members_read(const struct ks_member *fields, size_t count,
	const char *where, const struct ks_span *value, void *arg,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; i < count && status == KS_OK; i++) {
		if (value[i].len == 0)
			continue;
		status = ks_field_check_present(where,
			ks_span(fields[i].name, fields[i].name_len), value[i],
			err);
		if (status == KS_OK)
			status = ks_member_read(&fields[i], where, value[i],
				arg, err);
	}
	return status;
}

enum ks_status
ks_fields_check_extensions(const char *where, struct ks_span object,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, value;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_json_next_member(&it, &name, &value)) {
		if (ks_field_is_extension(name))
			status = ks_field_check_present(where, name, value,
				err);
	}
	return status;
}
