#include "format/field.h"

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

const struct ks_field *
ks_field_find(const struct ks_field *fields, size_t count,
	struct ks_span name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (name.len == fields[i].name_len &&
			memcmp(name.data, fields[i].name, name.len) == 0)
			return &fields[i];
	}
	return NULL;
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
ks_field_read(const struct ks_field *field, const char *where,
	struct ks_span value, void *arg, struct ks_error *err)
{
	if ((field->types & 1u << ks_json_type(value)) == 0)
		return ks_fail(err, KS_CORRUPT, "%s%s must be %s", where,
			field->name, types_name(field->types));
	return field->read == NULL ? KS_OK : field->read(arg, value, err);
}

enum ks_status
ks_fields_read(const struct ks_field *fields, size_t count,
	const char *where, struct ks_span object, void *arg,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, value;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_json_next_member(&it, &name, &value)) {
		const struct ks_field *field = ks_field_find(fields, count,
			name);

		status = ks_field_check_present(where, name, value, err);
		if (status == KS_OK && field != NULL)
			status = ks_field_read(field, where, value, arg, err);
	}
	return status;
}

enum ks_status
ks_fields_known(const struct ks_field *fields, size_t count,
	const char *where, struct ks_span object, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, value;

	while (ks_json_next_member(&it, &name, &value)) {
		if (ks_field_find(fields, count, name) == NULL &&
			!ks_field_is_extension(name))
			return ks_field_unknown("member", where, name, err);
	}
	return KS_OK;
}
