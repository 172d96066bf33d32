#include "format/bundle.h"

#include "format/json.h"

/* A member name as a message shows it. */
#define SHOWN 96

/* The members of a submission that may be lists. */
static const char *const plurals[] = {
	"environments", "implementations", "operations", "projects",
	"protocols", "runs", "workloads"
};

static bool
is_plural(struct ks_span name)
{
	for (size_t i = 0; i < sizeof(plurals) / sizeof(plurals[0]); i++)
		if (ks_span_is(name, plurals[i]))
			return true;
	return false;
}

bool
ks_bundle_has_manifest(struct ks_span value)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span name, member;

	if (ks_json_type(value) != KS_JSON_OBJECT)
		return false;
	while (ks_json_next_member(&it, &name, &member))
		if (ks_intake_is_manifest(member))
			return true;
	return false;
}

static bool
is_entry(struct ks_span value)
{
	return ks_intake_is_manifest(value) || ks_bundle_has_manifest(value);
}

/* Whether what stands under a plural name is an entry, or a list with one. A
 * list with none is something else that happens to have the name. */
static bool
has_entry(struct ks_span value)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span element;

	if (ks_json_type(value) != KS_JSON_ARRAY)
		return is_entry(value);
	while (ks_json_next_element(&it, &element))
		if (is_entry(element))
			return true;
	return false;
}

bool
ks_bundle_takes(struct ks_span name, struct ks_span member)
{
	return ks_intake_is_manifest(member) ||
		(is_plural(name) && has_entry(member));
}

bool
ks_bundle_is(struct ks_span value)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span name, member;

	if (ks_json_type(value) != KS_JSON_OBJECT)
		return false;
	while (ks_json_next_member(&it, &name, &member))
		if (ks_bundle_takes(name, member))
			return true;
	return false;
}

static enum ks_status
read_members(struct ks_span object, const struct ks_intake_visitor *visitor,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, member;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_json_next_member(&it, &name, &member))
		status = ks_intake_emit_member(visitor, name, member, err);
	return status;
}

static enum ks_status
read_entry(struct ks_span entry, const struct ks_intake_visitor *visitor,
	struct ks_error *err)
{
	struct ks_intake_manifest manifest = { .text = entry, .main = true };

	if (ks_intake_is_manifest(entry))
		return ks_intake_emit(visitor, &manifest, err);
	if (ks_bundle_has_manifest(entry))
		return read_members(entry, visitor, err);
	return ks_fail(err, KS_INVALID, "%s is no manifest, nor an object of "
		"manifests", ks_json_type(entry) == KS_JSON_OBJECT ?
		"this object" : ks_json_type_name(ks_json_type(entry)));
}

static enum ks_status
read_list(struct ks_span list, const struct ks_intake_visitor *visitor,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span entry;
	enum ks_status status = KS_OK;

	for (size_t i = 0; status == KS_OK &&
		ks_json_next_element(&it, &entry); i++) {
		status = read_entry(entry, visitor, err);
		if (status != KS_OK)
			(void)ks_context(err, "element %zu", i);
	}
	return status;
}

static enum ks_status
read_plural(struct ks_span name, struct ks_span member,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	char shown[SHOWN];
	enum ks_status status = ks_json_type(member) == KS_JSON_ARRAY ?
		read_list(member, visitor, err) :
		read_entry(member, visitor, err);

	if (status != KS_OK)
		(void)ks_context(err, "%s",
			ks_printable(shown, sizeof(shown), name));
	return status;
}

enum ks_status
ks_bundle_read_member(struct ks_span name, struct ks_span member,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	if (!ks_intake_is_manifest(member) && ks_bundle_takes(name, member))
		return read_plural(name, member, visitor, err);
	/* A submission of runs alone may well say "projects":[]. */
	if (is_plural(name) && ks_span_is(member, "[]"))
		return KS_OK;
	return ks_intake_emit_member(visitor, name, member, err);
}

enum ks_status
ks_bundle_read(struct ks_span bundle, const struct ks_intake_visitor *visitor,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(bundle);
	struct ks_span name, member;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_json_next_member(&it, &name, &member))
		status = ks_bundle_read_member(name, member, visitor, err);
	return status;
}
