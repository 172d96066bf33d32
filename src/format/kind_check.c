/* Checking a spec or metadata against its table. */
#include <stdarg.h>
#include <stdio.h>

#include "format/kind_statement.h"
#include "format/kind_walk.h"

struct check {
	struct ks_walk text;
	ks_finding_fn *report;
	void *arg;
	bool failed;		/* an error was found */
	bool stopped;		/* the caller has heard enough */
};

static void KS_PRINTF(4, 5)
say(struct check *check, enum ks_finding_level level,
	const struct ks_place *place, const char *format, ...)
{
	char path[KS_PATH_ROOM];
	char message[KS_ERROR_MESSAGE_MAX];
	va_list args;

	if (check->stopped)
		return;
	if (level == KS_FINDING_ERROR || level == KS_FINDING_NO_MEMORY)
		check->failed = true;
	if (check->report == NULL)
		return;
	(void)ks_place_print(path, sizeof(path), place);
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (check->report(check->arg, level, path, message))
		return;
	check->stopped = true;
	check->text.at = check->text.end;
}

static void
print_text_rule(char *out, size_t size, const struct ks_type *type)
{
	if (type->says != NULL)
		(void)snprintf(out, size, "%s", type->says);
	else if (type->max == ANY_TEXT)
		(void)snprintf(out, size, "a string");
	else
		(void)snprintf(out, size,
			"a string of at most %lld UTF-16 code units",
			(long long)type->max);
}

static void
print_words(char *out, size_t size, const struct ks_type *type)
{
	size_t used = 0;
	size_t i;

	for (i = 0; type->words[i] != NULL && used < size; i++) {
		int n = snprintf(out + used, size - used, "%s\"%s\"",
			i == 0 ? "" : " or ", type->words[i]);

		used += n < 0 ? size : (size_t)n;
	}
}

static void
print_integer_rule(char *out, size_t size, const struct ks_type *type)
{
	if (type->min == -KS_INTEGER_MAX)
		(void)snprintf(out, size,
			"an integer within \xc2\xb1(2^53 - 1)");
	else
		(void)snprintf(out, size,
			"an integer from %lld to 2^53 - 1",
			(long long)type->min);
}

static void
print_number_rule(char *out, size_t size, const struct ks_type *type)
{
	if (type->min == INT64_MIN)
		(void)snprintf(out, size, "a number");
	else if (type->max != INT64_MAX)
		(void)snprintf(out, size, "a number from %lld to %lld",
			(long long)type->min, (long long)type->max);
	else
		(void)snprintf(out, size, "a number %s %lld",
			type->above_min ? "above" : "from",
			(long long)type->min);
}

/* The rule that `type` is, in words that follow "must be ". */
static void
print_rule(char *out, size_t size, const struct ks_type *type)
{
	const char *text = "";

	switch (type->shape) {
	case KS_SHAPE_TEXT:
		print_text_rule(out, size, type);
		return;
	case KS_SHAPE_WORD:
		print_words(out, size, type);
		return;
	case KS_SHAPE_INTEGER:
		print_integer_rule(out, size, type);
		return;
	case KS_SHAPE_NUMBER:
		print_number_rule(out, size, type);
		return;
	case KS_SHAPE_NUMBER_OR_TEXT:
		(void)snprintf(out, size, "a number, or a string of at most "
			"%lld UTF-16 code units", (long long)type->max);
		return;
	case KS_SHAPE_LINK:
	case KS_SHAPE_REFERENCE:
		text = "a digest (\"sha256:\" and 64 lower-case hex digits)";
		break;
	case KS_SHAPE_STATEMENT:
		text = "the base64 text of an in-toto Statement";
		break;
	case KS_SHAPE_DIMENSION:
		text = "an integer from 0 to 2^53 - 1, or the name of an axis";
		break;
	case KS_SHAPE_BOOLEAN:
		text = "true or false";
		break;
	case KS_SHAPE_DURATION:
		text = "a duration: a whole number of nanoseconds up to "
			"2^53 - 1, as an integer or as text with ns, us, "
			"\xc2\xb5s, ms or s";
		break;
	case KS_SHAPE_FREE:
	case KS_SHAPE_MAP:
	case KS_SHAPE_OBJECT:
		text = "an object";
		break;
	case KS_SHAPE_LIST:
	case KS_SHAPE_SET:
		text = "a list";
		break;
	}
	(void)snprintf(out, size, "%s", text);
}

static void
refuse(struct check *check, const struct ks_type *type,
	const struct ks_place *place, struct ks_span value)
{
	char rule[512];
	char found[KS_QUOTE_ROOM];

	print_rule(rule, sizeof(rule), type);
	(void)ks_quote_value(found, value);
	say(check, KS_FINDING_ERROR, place, "must be %s, not %s", rule, found);
}

static inline bool
is_number(struct ks_span value)
{
	return value.len > 0 && (value.data[0] == '-' ||
		(value.data[0] >= '0' && value.data[0] <= '9'));
}

static bool
text_fits(const struct ks_type *type, struct ks_span raw)
{
	if (type->fits != NULL && !type->fits(raw))
		return false;
	return ks_shape_is_within(raw, type->max);
}

static bool
word_fits(const struct ks_type *type, struct ks_span raw)
{
	const char *const *word;

	for (word = type->words; *word != NULL; word++) {
		if (ks_span_is(raw, *word))
			return true;
	}
	return false;
}

static bool
integer_fits(struct ks_span value, int64_t min, int64_t max)
{
	int64_t number;

	return is_number(value) && ks_json_integer(value, &number) &&
		number >= min && number <= max;
}

static bool
number_fits(const struct ks_type *type, struct ks_span value)
{
	double number;

	if (!is_number(value))
		return false;
	if (type->min == INT64_MIN)
		return true;
	number = ks_json_double(value);
	if (type->max != INT64_MAX && number > (double)type->max)
		return false;
	return type->above_min ? number > (double)type->min :
		number >= (double)type->min;
}

/* Whether a value is what a scalar type says. Types that are not scalar are
 * checked elsewhere and fit nothing here. */
static bool
scalar_fits(const struct ks_type *type, struct ks_span value)
{
	switch (type->shape) {
	case KS_SHAPE_TEXT:
		return ks_is_string(value) &&
			text_fits(type, ks_json_raw(value));
	case KS_SHAPE_WORD:
		return ks_is_string(value) &&
			word_fits(type, ks_json_raw(value));
	case KS_SHAPE_LINK:
	case KS_SHAPE_REFERENCE:
		return ks_is_string(value) &&
			ks_shape_digest(ks_json_raw(value));
	case KS_SHAPE_INTEGER:
		return integer_fits(value, type->min, type->max);
	case KS_SHAPE_NUMBER:
		return number_fits(type, value);
	case KS_SHAPE_NUMBER_OR_TEXT:
		return is_number(value) || (ks_is_string(value) &&
			ks_shape_is_within(ks_json_raw(value), type->max));
	case KS_SHAPE_DIMENSION:
		if (ks_is_string(value))
			return ks_shape_token(ks_json_raw(value));
		return integer_fits(value, 0, KS_INTEGER_MAX);
	case KS_SHAPE_BOOLEAN:
		return ks_span_is(value, "true") || ks_span_is(value, "false");
	case KS_SHAPE_DURATION:
		return integer_fits(value, 0, KS_INTEGER_MAX);
	case KS_SHAPE_FREE:
		return value.len > 0 && value.data[0] == '{';
	case KS_SHAPE_STATEMENT:
	case KS_SHAPE_LIST:
	case KS_SHAPE_SET:
	case KS_SHAPE_MAP:
	case KS_SHAPE_OBJECT:
		break;
	}
	return false;
}

/* A scalar that does not fit. A duration may be one, only not in normal
 * form, and is then told so. */
static void
refuse_scalar(struct check *check, const struct ks_type *type,
	const struct ks_place *place, struct ks_span value)
{
	int64_t nanoseconds;
	char found[KS_QUOTE_ROOM];

	if (type->shape != KS_SHAPE_DURATION || !ks_is_string(value) ||
		!ks_shape_duration(ks_json_raw(value), &nanoseconds)) {
		refuse(check, type, place, value);
		return;
	}
	(void)ks_quote_value(found, value);
	say(check, KS_FINDING_ERROR, place,
		"must be in normal form: the integer %lld, not %s",
		(long long)nanoseconds, found);
}

static void
check_statement(struct check *check, const struct ks_type *type,
	const struct ks_place *place, struct ks_span value)
{
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status;
	struct ks_id subject;

	if (!ks_is_string(value)) {
		refuse(check, type, place, value);
		return;
	}
	status = ks_kind_statement(ks_json_raw(value), &subject, &err);
	if (status != KS_OK)
		say(check, status == KS_NOMEM ? KS_FINDING_NO_MEMORY :
			KS_FINDING_ERROR, place, "%s", err.message);
}

static void check_value(struct check *check, const struct ks_type *type,
	const struct ks_place *place);

/* Say that the required ones among [field, end) are missing. */
static void
refuse_missing(struct check *check, const struct ks_field *field,
	const struct ks_field *end, const struct ks_place *place)
{
	for (; field < end; field++) {
		struct ks_place at = ks_place_member(place,
			ks_span(field->name, field->name_len));

		if (field->required)
			say(check, KS_FINDING_ERROR, &at, "is missing");
	}
}

static void
check_object(struct check *check, const struct ks_type *type,
	const struct ks_place *place)
{
	const struct ks_field *field = type->fields;
	const struct ks_field *end = ks_fields_end(type);
	const uint8_t *start = check->text.at;
	const char *wrong;
	struct ks_span name;

	if (!ks_walk_take(&check->text, '{')) {
		refuse(check, type, place, ks_walk_value(&check->text));
		return;
	}
	while (ks_walk_member(&check->text, &name)) {
		const struct ks_field *found = ks_field_match(field, end, name);
		struct ks_place at = ks_place_member(place, name);

		if (found == NULL) {
			(void)ks_walk_value(&check->text);
			say(check, KS_FINDING_UNKNOWN, &at,
				"is not a known member");
			continue;
		}
		refuse_missing(check, field, found, place);
		check_value(check, found->type, &at);
		field = found + 1;
	}
	refuse_missing(check, field, end, place);
	if (type->rule == NULL || check->stopped)
		return;
	wrong = type->rule(ks_span(start, (size_t)(check->text.at - start)));
	if (wrong != NULL)
		say(check, KS_FINDING_ERROR, place, "%s", wrong);
}

static void
check_map(struct check *check, const struct ks_type *type,
	const struct ks_place *place)
{
	char rule[512];
	char found[KS_QUOTE_ROOM];
	struct ks_span name;

	if (!ks_walk_take(&check->text, '{')) {
		refuse(check, type, place, ks_walk_value(&check->text));
		return;
	}
	while (ks_walk_member(&check->text, &name)) {
		struct ks_place at = ks_place_member(place, name);

		if (!text_fits(type->key, name)) {
			print_text_rule(rule, sizeof(rule), type->key);
			(void)ks_quote_raw(found, name);
			say(check, KS_FINDING_ERROR, place,
				"must name each member by %s, not \"%s\"",
				rule, found);
		}
		check_value(check, type->of, &at);
	}
}

static void
check_count(struct check *check, const struct ks_type *type,
	const struct ks_place *place, size_t count)
{
	if ((int64_t)count >= type->min && (int64_t)count <= type->max)
		return;
	if (type->min == type->max)
		say(check, KS_FINDING_ERROR, place,
			"must have exactly %lld elements, not %zu",
			(long long)type->min, count);
	else if ((int64_t)count < type->min)
		say(check, KS_FINDING_ERROR, place,
			"must have at least %lld element%s, not %zu",
			(long long)type->min, type->min == 1 ? "" : "s",
			count);
	else
		say(check, KS_FINDING_ERROR, place,
			"must have at most %lld elements, not %zu",
			(long long)type->max, count);
}

/* Check the elements of a list. True when each is a string above the one
 * before, so that they make a set in normal form. */
static bool
check_elements(struct check *check, const struct ks_type *type,
	const struct ks_place *place)
{
	struct ks_span last = { .data = NULL, .len = 0 };
	bool ascending = true;
	size_t count = 0;

	while (ks_walk_element(&check->text)) {
		struct ks_place at = ks_place_element(place, count++);
		const uint8_t *start = check->text.at;
		struct ks_span item;

		check_value(check, type->of, &at);
		if (type->shape != KS_SHAPE_SET || check->stopped)
			continue;
		item = ks_json_raw(ks_span(start,
			(size_t)(check->text.at - start)));
		if (last.data != NULL &&
			ks_json_name_compare(last, item) >= 0)
			ascending = false;
		last = item;
	}
	check_count(check, type, place, count);
	return ascending;
}

static void
check_list(struct check *check, const struct ks_type *type,
	const struct ks_place *place)
{
	bool failed = check->failed;
	bool ascending;

	if (!ks_walk_take(&check->text, '[')) {
		refuse(check, type, place, ks_walk_value(&check->text));
		return;
	}
	check->failed = false;
	ascending = check_elements(check, type, place);
	/* The order of elements that are wrong themselves means nothing. */
	if (!ascending && !check->failed)
		say(check, KS_FINDING_ERROR, place, "must be in normal form: "
			"sorted by UTF-16 code units, without duplicates");
	check->failed = check->failed || failed;
}

/* Take one value and check it. Recursion follows the tables, which end. */
static void
check_value(struct check *check, const struct ks_type *type,
	const struct ks_place *place)
{
	struct ks_span value;

	switch (type->shape) {
	case KS_SHAPE_OBJECT:
		check_object(check, type, place);
		return;
	case KS_SHAPE_MAP:
		check_map(check, type, place);
		return;
	case KS_SHAPE_LIST:
	case KS_SHAPE_SET:
		check_list(check, type, place);
		return;
	case KS_SHAPE_STATEMENT:
		check_statement(check, type, place,
			ks_walk_value(&check->text));
		return;
	case KS_SHAPE_TEXT:
	case KS_SHAPE_WORD:
	case KS_SHAPE_LINK:
	case KS_SHAPE_REFERENCE:
	case KS_SHAPE_INTEGER:
	case KS_SHAPE_NUMBER:
	case KS_SHAPE_NUMBER_OR_TEXT:
	case KS_SHAPE_DIMENSION:
	case KS_SHAPE_BOOLEAN:
	case KS_SHAPE_DURATION:
	case KS_SHAPE_FREE:
		value = ks_walk_value(&check->text);
		if (!scalar_fits(type, value))
			refuse_scalar(check, type, place, value);
		return;
	}
}

static bool
check_root(const struct ks_type *type, const char *root, struct ks_span text,
	ks_finding_fn *report, void *arg)
{
	struct check check = {
		.text = { .at = text.data, .end = text.data + text.len },
		.report = report,
		.arg = arg,
	};
	struct ks_place place = ks_place_member(NULL, ks_span_text(root));

	check_value(&check, type, &place);
	return !check.failed;
}

bool
ks_kind_check_spec(const struct ks_kind *kind, struct ks_span spec,
	ks_finding_fn *report, void *arg)
{
	return check_root(kind->spec, "spec", spec, report, arg);
}

bool
ks_kind_check_metadata(struct ks_span metadata, ks_finding_fn *report,
	void *arg)
{
	return check_root(&ks_type_metadata, "metadata", metadata, report,
		arg);
}
