/*
 * The language in which the tables of kinds are written (private to
 * format/kind*.c and format/kinds_*.c).
 *
 * A kind is a tree of types; a type says what one JSON value must be. The
 * tables follow the reference line by line: REQUIRED("family", SLUG) is the
 * row "family | Slug | yes". The fields of an object stand in RFC 8785 order
 * of their names, which is the order in which canonical text has its members,
 * so that reading is a merge of the two.
 */
#ifndef KS_FORMAT_KIND_TABLE_H
#define KS_FORMAT_KIND_TABLE_H

#include "format/kind.h"
#include "format/kind_shape.h"

enum ks_shape {
	KS_SHAPE_TEXT,		/* a string: `fits`, and at most `max` long */
	KS_SHAPE_WORD,		/* one of `words` */
	KS_SHAPE_LINK,		/* a Digest of other bytes */
	KS_SHAPE_REFERENCE,	/* a Digest of a record of an `expected` kind */
	KS_SHAPE_STATEMENT,	/* base64 of an in-toto Statement about one
				 * record */
	KS_SHAPE_INTEGER,	/* `min` to `max` */
	KS_SHAPE_NUMBER,	/* `min` (or just above it) to `max` */
	KS_SHAPE_NUMBER_OR_TEXT,/* a string is at most `max` long */
	KS_SHAPE_DIMENSION,	/* an integer from 0 on, or an axis */
	KS_SHAPE_BOOLEAN,
	KS_SHAPE_DURATION,	/* integer nanoseconds; text is normalised */
	KS_SHAPE_FREE,		/* an object with any members */
	KS_SHAPE_LIST,		/* `min` to `max` values of type `of` */
	KS_SHAPE_SET,		/* strings `of`; sorted, without duplicates */
	KS_SHAPE_MAP,		/* names of type `key` to values of type `of` */
	KS_SHAPE_OBJECT		/* `fields`, in canonical order */
};

#define KS_INTEGER_MAX ((int64_t)9007199254740991)	/* 2^53 - 1 */

struct ks_field;

/* What one value must be. Lengths of strings are in UTF-16 code units. */
struct ks_type {
	enum ks_shape shape;
	bool above_min;			/* NUMBER: `min` itself is refused */
	int64_t min, max;		/* OBJECT: max is how many fields */
	bool (*fits)(struct ks_span raw);	/* TEXT; NULL = any text */
	const char *says;	/* TEXT with `fits`: the rule in words */
	const char *const *words;	/* WORD; NULL-terminated */
	const struct ks_kind *expected[2];	/* REFERENCE */
	const struct ks_type *key;		/* MAP; always TEXT */
	const struct ks_type *of;		/* LIST, SET, MAP */
	const struct ks_field *fields;		/* OBJECT */
	/* OBJECT: a rule between members. NULL, or what is wrong. */
	const char *(*rule)(struct ks_span object);
};

/* A member of an object. */
struct ks_field {
	const char *name;
	size_t name_len;
	bool required;
	const struct ks_type *type;
};

struct ks_kind {
	const char *api_version;
	const char *name;
	const char *full_name;
	const struct ks_type *spec;
	bool has_source, has_project, is_mutable_row, metadata_optional;
};

#define KIND(api, kind) \
	.api_version = api, .name = kind, .full_name = api "/" kind

#define FIELD(text, what, must) \
	{ .name = text, .name_len = sizeof(text) - 1, .required = must, \
		.type = what }
#define REQUIRED(text, what) FIELD(text, what, true)
#define OPTIONAL(text, what) FIELD(text, what, false)

#define TYPE(...) (&(const struct ks_type){ __VA_ARGS__ })

#define ANY_TEXT INT64_MAX
#define STRING(longest) TYPE(.shape = KS_SHAPE_TEXT, .max = longest)
#define SHAPED(function, text) \
	TYPE(.shape = KS_SHAPE_TEXT, .max = ANY_TEXT, .fits = function, \
		.says = text)
#define TOKEN \
	SHAPED(ks_shape_token, "a token (a lower-case letter, then lower-" \
		"case letters, digits and underscores)")
#define AXIS TOKEN
#define SLUG \
	SHAPED(ks_shape_slug, "a slug (lower-case letters, digits and " \
		"hyphens, a hyphen not first, at most 100)")
#define NAME \
	SHAPED(ks_shape_name, "a name (lower-case letters, digits, '.', " \
		"'_' and '-', the first a letter or digit, at most 200)")
#define COMMIT \
	SHAPED(ks_shape_commit, "a commit (40 lower-case hex digits)")
#define HTTPS_URL \
	SHAPED(ks_shape_https_url, "an https URL of at most 2000 characters")
#define INSTANT \
	SHAPED(ks_shape_instant, "a UTC time such as " \
		"\"2026-08-01T12:00:00Z\" that the calendar has")
#define EXPRESSION \
	SHAPED(ks_shape_expression, "an expression of lower-case letters, " \
		"digits, blanks and _ + - * % / ( ), at most 200")
#define BASE64 \
	SHAPED(ks_shape_base64, "base64 text (RFC 4648 section 4, padded)")
#define ONE_OF(...) \
	TYPE(.shape = KS_SHAPE_WORD, \
		.words = (const char *const[]){ __VA_ARGS__, NULL })

#define LINK TYPE(.shape = KS_SHAPE_LINK)
#define REFERENCE(kind) \
	TYPE(.shape = KS_SHAPE_REFERENCE, .expected = { &kind, NULL })
#define REFERENCE_TO_EITHER(a, b) \
	TYPE(.shape = KS_SHAPE_REFERENCE, .expected = { &a, &b })
#define STATEMENT TYPE(.shape = KS_SHAPE_STATEMENT)

#define INTEGER_FROM(least) \
	TYPE(.shape = KS_SHAPE_INTEGER, .min = least, .max = KS_INTEGER_MAX)
#define INTEGER INTEGER_FROM(-KS_INTEGER_MAX)
#define NUMBER \
	TYPE(.shape = KS_SHAPE_NUMBER, .min = INT64_MIN, .max = INT64_MAX)
#define NUMBER_FROM_0 \
	TYPE(.shape = KS_SHAPE_NUMBER, .min = 0, .max = INT64_MAX)
#define NUMBER_ABOVE_0 \
	TYPE(.shape = KS_SHAPE_NUMBER, .above_min = true, .min = 0, \
		.max = INT64_MAX)
#define RATIO TYPE(.shape = KS_SHAPE_NUMBER, .min = 0, .max = 1)
#define NUMBER_OR_STRING(longest) \
	TYPE(.shape = KS_SHAPE_NUMBER_OR_TEXT, .max = longest)
#define DIMENSION TYPE(.shape = KS_SHAPE_DIMENSION)
#define BOOLEAN TYPE(.shape = KS_SHAPE_BOOLEAN)
#define DURATION TYPE(.shape = KS_SHAPE_DURATION)

#define FREE_OBJECT TYPE(.shape = KS_SHAPE_FREE)
#define LIST_OF(item, least, most) \
	TYPE(.shape = KS_SHAPE_LIST, .of = item, .min = least, .max = most)
#define LIST(item) LIST_OF(item, 0, INT64_MAX)
#define LIST_FROM_1(item) LIST_OF(item, 1, INT64_MAX)
#define SET(item) TYPE(.shape = KS_SHAPE_SET, .of = item, .max = INT64_MAX)
#define MAP(name, item) TYPE(.shape = KS_SHAPE_MAP, .key = name, .of = item)
#define MEMBERS(list) \
	.shape = KS_SHAPE_OBJECT, .fields = list, \
		.max = sizeof(list) / sizeof((list)[0])
#define OBJECT(list) TYPE(MEMBERS(list))
#define OBJECT_WITH(list, between) TYPE(MEMBERS(list), .rule = between)

/* The types that more than one file of tables uses. */
extern const struct ks_type ks_type_artifact_ref;
extern const struct ks_type ks_type_measurement;

/* metadata, which is the same for every kind. */
extern const struct ks_type ks_type_metadata;

extern const struct ks_kind ks_kind_operation_spec;
extern const struct ks_kind ks_kind_workload_case;
extern const struct ks_kind ks_kind_workload_suite;
extern const struct ks_kind ks_kind_software_project;
extern const struct ks_kind ks_kind_implementation_revision;
extern const struct ks_kind ks_kind_benchmark_protocol;
extern const struct ks_kind ks_kind_execution_environment;
extern const struct ks_kind ks_kind_benchmark_run;

extern const struct ks_kind ks_kind_model_revision;
extern const struct ks_kind ks_kind_serving_stack_revision;
extern const struct ks_kind ks_kind_serving_configuration;
extern const struct ks_kind ks_kind_serving_workload;
extern const struct ks_kind ks_kind_serving_run;

extern const struct ks_kind ks_kind_source;
extern const struct ks_kind ks_kind_artifact;
extern const struct ks_kind ks_kind_attestation;

#endif
