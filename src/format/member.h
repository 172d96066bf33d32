/*
 * Reading an object by a table of its members.
 *
 * What log lines and provenance have in common (store-layout.md L9 to L13):
 * each member has a type and perhaps more to check, none is null or empty,
 * and names that begin with "x-" belong to others.
 */
#ifndef KS_FORMAT_MEMBER_H
#define KS_FORMAT_MEMBER_H

#include "base/error.h"
#include "format/json.h"

/* Sets of JSON types. */
#define KS_TYPE_STRING (1u << KS_JSON_STRING)
#define KS_TYPE_NUMBER (1u << KS_JSON_NUMBER)
#define KS_TYPE_BOOLEAN (1u << KS_JSON_FALSE | 1u << KS_JSON_TRUE)
#define KS_TYPE_ARRAY (1u << KS_JSON_ARRAY)
#define KS_TYPE_OBJECT (1u << KS_JSON_OBJECT)

/* One member. `read`, which may be NULL, is called for a value of the right
 * type. The two sets belong to the owner of the table. */
struct ks_member {
	const char *name;
	size_t name_len;
	unsigned types;
	unsigned required, optional;
	enum ks_status (*read)(void *arg, struct ks_span value,
		struct ks_error *err);
};

#define KS_MEMBER(text) .name = (text), .name_len = sizeof(text) - 1

/* Check one value: KS_CORRUPT with "WHERE""NAME must be …". */
enum ks_status ks_member_read(const struct ks_member *field, const char *where,
	struct ks_span value, void *arg, struct ks_error *err) KS_CHECKED;

/* Sort the members of an object by the rows of the table: value[i] is that of
 * fields[i], len 0 when absent. */
struct ks_gathered {
	struct ks_span stray;	/* the first name that is neither in the table
				 * nor begins with "x-"; data NULL = none */
	bool extended;		/* there are names that begin with "x-" */
};
void ks_members_gather(const struct ks_member *fields, size_t count,
	struct ks_span object, struct ks_span *value,
	struct ks_gathered *rest);

/* Check that every value gathered is present, and read it. KS_CORRUPT with
 * the first rule broken, or what a reader says. */
enum ks_status ks_members_read(const struct ks_member *fields, size_t count,
	const char *where, const struct ks_span *value, void *arg,
	struct ks_error *err) KS_CHECKED;

/* Check that the members of `object` that begin with "x-" are present. */
enum ks_status ks_fields_check_extensions(const char *where,
	struct ks_span object, struct ks_error *err) KS_CHECKED;

/* Record that `what` is not known and needs a newer version of the program. */
enum ks_status ks_field_unknown(const char *what, const char *where,
	struct ks_span text, struct ks_error *err);

/* Whether a name or op begins with "x-". */
bool ks_field_is_extension(struct ks_span name);

/* Whether a value is null, an empty list or an empty object, all of which are
 * written as absent. */
bool ks_field_is_void(struct ks_span value);

/* KS_CORRUPT when the value of the member `name` is void, or in an object in
 * it, at any depth but not inside lists, a member is (store-layout.md L10). */
enum ks_status ks_field_check_present(const char *where, struct ks_span name,
	struct ks_span value, struct ks_error *err) KS_CHECKED;

#endif
