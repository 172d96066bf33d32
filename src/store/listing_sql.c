#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "store/listing.h"

#define WORDS_MAX 16

/* ---- composing ---------------------------------------------------------- */

/* A value to be bound: bytes in `values`, or a number. */
enum bound_type {
	BOUND_TEXT,
	BOUND_BYTES,
	BOUND_NUMBER
};

struct bound {
	enum bound_type type;
	size_t at, len;
	uint64_t number;
};

struct composing {
	struct ks_choice *choice;
	struct ks_buf with;	/* what stands before SELECT */
	struct ks_buf where;	/* conditions, joined by AND */
	struct ks_buf values;
	struct ks_buf bounds;	/* struct bound each */
};

static void
release(struct composing *c)
{
	ks_buf_release(&c->with);
	ks_buf_release(&c->where);
	ks_buf_release(&c->values);
	ks_buf_release(&c->bounds);
}

/* The number of the parameter that is bound to a value. */
static unsigned
bind(struct composing *c, enum bound_type type, struct ks_span value,
	uint64_t number)
{
	struct bound bound;

	memset(&bound, 0, sizeof(bound));
	bound.type = type;
	bound.at = c->values.len;
	bound.len = value.len;
	bound.number = number;
	ks_buf_append(&c->values, value);
	ks_buf_append(&c->bounds, ks_span(&bound, sizeof(bound)));
	return (unsigned)(c->bounds.len / sizeof(bound));
}

static unsigned
bind_text(struct composing *c, const char *text)
{
	return bind(c, BOUND_TEXT, ks_span_text(text), 0);
}

static unsigned
bind_bytes(struct composing *c, const uint8_t *bytes, size_t len)
{
	return bind(c, BOUND_BYTES, ks_span(bytes, len), 0);
}

static void
apply_bounds(const struct composing *c, struct sqlite3_stmt *stmt)
{
	size_t i, count = c->bounds.len / sizeof(struct bound);

	for (i = 0; i < count; i++) {
		struct bound bound;
		struct ks_span value;

		memcpy(&bound, c->bounds.data + i * sizeof(bound),
			sizeof(bound));
		value = ks_span(c->values.data + bound.at, bound.len);
		if (bound.type == BOUND_NUMBER)
			ks_db_bind_number(stmt, (int)i + 1, bound.number);
		else if (bound.type == BOUND_TEXT)
			ks_db_bind_text(stmt, (int)i + 1, value);
		else
			ks_db_bind_bytes(stmt, (int)i + 1, value);
	}
}

static void
begin_condition(struct composing *c)
{
	ks_buf_text(&c->where, c->where.len == 0 ? "" : " AND ");
}

static void
compose_kinds(struct composing *c)
{
	const struct ks_choice *choice = c->choice;
	size_t i;

	if (choice->all_kinds)
		return;
	begin_condition(c);
	ks_buf_text(&c->where, "r.kind IN (");
	for (i = 0; i < choice->kind_count; i++)
		ks_buf_printf(&c->where, "%s%llu", i == 0 ? "" : ",",
			(unsigned long long)ks_choice_kind_term(choice, i));
	ks_buf_byte(&c->where, ')');
}

/* ---- conditions --------------------------------------------------------- */

#define KIND_TERM "(SELECT number FROM term WHERE field = 0 AND text = "

/* The kinds that a field's value itself stands in, but for runs, to which
 * nothing leads: "kind IN (4,5) AND ". One by one, so that the planner knows
 * how few there are. */
static void
compose_ends(struct composing *c, const struct ks_field *field,
	struct ks_buf *out)
{
	const struct ks_route *route = field->routes;
	const char *separator = "kind IN (";

	for (; route != NULL && route->kind != NULL; route++) {
		size_t len = strlen(route->kind);

		if (route->path[0] != '\0' ||
			strcmp(route->kind + len - 3, "Run") == 0)
			continue;
		ks_buf_printf(out, "%s" KIND_TERM "?%u)", separator,
			bind_text(c, route->kind));
		separator = ",";
	}
	if (separator[0] == ',')
		ks_buf_text(out, ") AND ");
}

/* Append a condition on the record at the end of `path`: `end` is one on a row
 * of `record` (columns without a table before them). */
static void
compose_at(struct composing *c, const struct ks_field *field,
	const char *path, const char *end, struct ks_buf *out)
{
	size_t closing = 0;

	if (path[0] == '\0') {
		ks_buf_printf(out, "r.object IN (SELECT object FROM record "
			"WHERE %s)", end);
		return;
	}
	ks_buf_text(out, "r.");
	for (;;) {
		size_t len = strcspn(path, ".");

		ks_buf_append(out, ks_span(path, len));
		ks_buf_text(out, " IN (SELECT object FROM record WHERE ");
		closing++;
		if (path[len] == '\0')
			break;
		path += len + 1;
	}
	compose_ends(c, field, out);
	ks_buf_text(out, end);
	while (closing-- > 0)
		ks_buf_byte(out, ')');
}

/* The condition for each kind, by its path to the value. */
static void
compose_routes(struct composing *c, const struct ks_field *field,
	const char *own, const char *end)
{
	const struct ks_choice *choice = c->choice;
	struct ks_buf *out = &c->where;
	size_t i;

	begin_condition(c);
	if (choice->all_kinds) {
		ks_buf_text(out, own);
		return;
	}
	ks_buf_byte(out, '(');
	for (i = 0; i < choice->kind_count; i++) {
		const char *path = ks_field_path(field,
			ks_choice_kind(choice, i));

		ks_buf_text(out, i == 0 ? "" : " OR ");
		if (choice->kind_count > 1)
			ks_buf_printf(out, "r.kind = %llu AND ",
				(unsigned long long)ks_choice_kind_term(
				choice, i));
		if (path[0] == '\0')
			ks_buf_text(out, own);
		else
			compose_at(c, field, path, end, out);
	}
	ks_buf_text(out, choice->kind_count == 0 ? "0)" : ")");
}

static void
compose_terms(struct composing *c, const struct ks_field *field)
{
	const char *column = ks_term_column(field->which);
	struct ks_buf numbers = KS_BUF_INIT;
	struct ks_buf own = KS_BUF_INIT;
	struct ks_buf end = KS_BUF_INIT;

	ks_choice_fit_terms(c->choice, field, &numbers);
	ks_buf_printf(&own, "r.%s IN (%s)", column, ks_buf_cstr(&numbers));
	ks_buf_printf(&end, "%s IN (%s)", column, ks_buf_cstr(&numbers));
	compose_routes(c, field, ks_buf_cstr(&own), ks_buf_cstr(&end));
	ks_choice_drop(c->choice, &numbers);
	ks_choice_drop(c->choice, &own);
	ks_choice_drop(c->choice, &end);
}

/* Digits of a digest, six or more, as a range; false when it is something
 * else. */
static bool
digest_range(const char *value, size_t min, uint8_t low[KS_ID_BYTES],
	uint8_t high[KS_ID_BYTES])
{
	struct ks_span hex = ks_span_text(value);
	char digits[KS_ID_HEX];
	size_t i;

	if (ks_span_begins(hex, "sha256:"))
		hex = ks_span(hex.data + 7, hex.len - 7);
	if (hex.len < min || hex.len > KS_ID_HEX)
		return false;
	for (i = 0; i < hex.len; i++)
		digits[i] = (char)ks_choice_lower(hex.data[i]);
	return ks_index_hex_range(ks_span(digits, hex.len), low, high,
		KS_ID_BYTES);
}

/* A name of the log has no upper case. */
static unsigned
bind_name(struct composing *c, const char *value)
{
	struct ks_buf name = KS_BUF_INIT;
	unsigned number;
	size_t i;

	for (i = 0; value[i] != '\0'; i++)
		ks_buf_byte(&name, ks_choice_lower((uint8_t)value[i]));
	number = bind(c, BOUND_TEXT, ks_buf_span(&name), 0);
	ks_choice_drop(c->choice, &name);
	return number;
}

/* Records of kistore's own kinds have no metadata: their names stand in them,
 * and not in the log. */
static void
compose_own_names(unsigned name, struct ks_buf *out)
{
	ks_buf_printf(out, " UNION SELECT t.object FROM record x JOIN text t "
		"ON t.object = x.object WHERE x.kind IN ("
		KIND_TERM "'" KS_API_KISTORE "/Source'),"
		KIND_TERM "'" KS_API_KISTORE "/Artifact')) AND "
		"t.name = ?%u COLLATE NOCASE", name);
}

/* The objects that a value may mean: by name and slug, which the index has in
 * order; of kinds that have few records, by title, too; by digest. */
static void
compose_objects(struct composing *c, const struct ks_field *field,
	const char *value, bool by_digest, struct ks_buf *out)
{
	uint8_t low[KS_ID_BYTES], high[KS_ID_BYTES];
	unsigned name = bind_name(c, value);

	ks_buf_printf(out, "SELECT published FROM object WHERE name = ?%u "
		"UNION SELECT published FROM object WHERE slug = ?%u", name,
		name);
	if (field->value == KS_VALUE_NAME || field->value == KS_VALUE_PROPER) {
		ks_buf_text(out, " UNION SELECT t.object FROM (SELECT object "
			"FROM record WHERE ");
		compose_ends(c, field, out);
		ks_buf_printf(out, "1) x JOIN text t ON t.object = x.object "
			"WHERE t.name = ?%u COLLATE NOCASE OR "
			"t.title = ?%u COLLATE NOCASE", name, name);
	}
	if (field->match == KS_MATCH_NAME)
		compose_own_names(name, out);
	if (by_digest && digest_range(value, 6, low, high))
		ks_buf_printf(out, " UNION SELECT published FROM object WHERE "
			"digest >= ?%u AND digest <= ?%u",
			bind_bytes(c, low, KS_ID_BYTES),
			bind_bytes(c, high, KS_ID_BYTES));
}

/* An operation is also named by its family. */
static void
compose_family(struct composing *c, const char *value, struct ks_buf *out)
{
	ks_buf_printf(out, " UNION SELECT object FROM record WHERE kind = "
		KIND_TERM "'" KS_API_KERNELINDEX "/OperationSpec') AND "
		"family = (SELECT number FROM term WHERE field = %u AND "
		"text = ?%u)",
		(unsigned)KS_TERM_FAMILY, bind_name(c, value));
}

static void
compose_records(struct composing *c, const struct ks_field *field)
{
	const struct ks_list_options *options = c->choice->options;
	struct ks_buf set = KS_BUF_INIT;
	struct ks_buf own = KS_BUF_INIT;
	struct ks_buf end = KS_BUF_INIT;
	size_t i;

	for (i = 0; i < options->filter_count; i++) {
		const char *value = options->filters[i].value;

		if (!ks_choice_has_filter(c->choice, i, field))
			continue;
		ks_buf_text(&set, set.len == 0 ? "" : " UNION ");
		compose_objects(c, field, value, field->match ==
			KS_MATCH_RECORD, &set);
		if (strcmp(field->shown.name, "operation") == 0)
			compose_family(c, value, &set);
	}
	ks_buf_printf(&own, "r.object IN (%s)", ks_buf_cstr(&set));
	ks_buf_printf(&end, "object IN (%s)", ks_buf_cstr(&set));
	compose_routes(c, field, ks_buf_cstr(&own), ks_buf_cstr(&end));
	ks_choice_drop(c->choice, &set);
	ks_choice_drop(c->choice, &own);
	ks_choice_drop(c->choice, &end);
}

#define EVIDENCE "CASE WHEN EXISTS(SELECT 1 FROM rerun x WHERE x.object = " \
	"r.object) THEN 3 WHEN r.flags & 4 <> 0 AND (SELECT i.flags & 8 " \
	"FROM record i WHERE i.object = r.implementation) <> 0 THEN 2 " \
	"ELSE 1 END"

static enum ks_status
compose_evidence(struct composing *c, const char *value, struct ks_error *err)
{
	unsigned i;

	for (i = KS_EVIDENCE_REPORTED; i <= KS_EVIDENCE_REPLICATED; i++)
		if (ks_choice_same(ks_span_text(ks_field_level(i)),
			ks_span_text(value))) {
			ks_buf_printf(&c->where, EVIDENCE " = %u", i);
			return KS_OK;
		}
	return ks_fail(err, KS_USAGE, "no level of evidence is called that: "
		"there are reported, reproducible, verified and replicated");
}

static enum ks_status
compose_key(struct composing *c, const char *value, struct ks_error *err)
{
	uint8_t low[KS_ID_BYTES], high[KS_ID_BYTES];

	if (!digest_range(value, 1, low, high))
		return ks_fail(err, KS_USAGE, "a comparison key begins with "
			"hex digits, perhaps after \"sha256:\"");
	ks_buf_printf(&c->where, "(r.comparison >= ?%u AND "
		"r.comparison <= ?%u)", bind_bytes(c, low, KS_ID_BYTES),
		bind_bytes(c, high, KS_ID_BYTES));
	return KS_OK;
}

/* ---- times -------------------------------------------------------------- */

/* The rest of the first moment in a period that is named by its beginning. */
static const char first_moment[] = "0000-01-01T00:00:00Z";

/* Whether `text` is a year, a month, a day or an Instant; of an Instant the
 * text that sorts (KS_FACT_MOMENT) is appended to `out`, of others themselves:
 * all moments in them begin with it. */
static bool
read_time(const char *text, struct ks_buf *out, bool *is_exact)
{
	struct ks_span given = ks_span_text(text);
	char whole[sizeof(first_moment)];

	*is_exact = ks_shape_instant(given);
	if (*is_exact) {
		struct ks_fact_store store = KS_FACT_STORE_INIT;
		struct ks_span moment = ks_facts_moment(&store, given);

		ks_buf_append(out, moment);
		out->failed = out->failed || store.text.failed;
		ks_fact_store_release(&store);
		return true;
	}
	if (given.len != 4 && given.len != 7 && given.len != 10)
		return false;
	memcpy(whole, first_moment, sizeof(whole));
	memcpy(whole, given.data, given.len);
	ks_buf_append(out, given);
	return ks_shape_instant(ks_span_text(whole));
}

static enum ks_status
compose_time(struct composing *c, const struct ks_field *field,
	const char *value, struct ks_error *err)
{
	struct ks_buf moment = KS_BUF_INIT;
	char shown[64];
	bool is_exact;
	enum ks_status status = KS_OK;

	if (!read_time(value, &moment, &is_exact)) {
		status = ks_fail(err, KS_USAGE, "%s is not a time: it may be "
			"2026, 2026-03, 2026-03-14 or "
			"2026-03-14T12:00:00Z", ks_printable(shown,
			sizeof(shown), ks_span_text(value)));
	} else {
		/* '~' is after all that a moment can go on with. */
		if (!is_exact && field->match == KS_MATCH_UNTIL)
			ks_buf_byte(&moment, '~');
		ks_buf_printf(&c->where, "r.moment %s ?%u",
			field->match == KS_MATCH_UNTIL ? "<=" : ">=",
			bind(c, BOUND_TEXT, ks_buf_span(&moment), 0));
	}
	ks_choice_drop(c->choice, &moment);
	return status;
}

/* ---- axes --------------------------------------------------------------- */

/* "batch=4" */
static enum ks_status
read_axis(const char *text, struct ks_span *name, int64_t *value,
	struct ks_error *err)
{
	const char *equals = strchr(text, '=');
	char shown[64];

	if (equals != NULL && equals > text && equals[1] != '\0' &&
		ks_json_integer(ks_span_text(equals + 1), value) &&
		equals[1 + strspn(equals + 1, "-0123456789")] == '\0') {
		*name = ks_span(text, (size_t)(equals - text));
		return KS_OK;
	}
	return ks_fail(err, KS_USAGE, "%s is not an axis and its value, as in "
		"batch=4", ks_printable(shown, sizeof(shown),
		ks_span_text(text)));
}

/* All axes, in one case where a suite has several. */
static enum ks_status
compose_axes(struct composing *c, const struct ks_field *field,
	struct ks_error *err)
{
	const struct ks_list_options *options = c->choice->options;
	struct ks_buf end = KS_BUF_INIT;
	struct ks_buf own = KS_BUF_INIT;
	struct ks_span name;
	int64_t value;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < options->filter_count; i++) {
		if (!ks_choice_has_filter(c->choice, i, field))
			continue;
		status = read_axis(options->filters[i].value, &name, &value,
			err);
		if (status != KS_OK)
			break;
		ks_buf_text(&end, end.len == 0 ?
			"object IN (SELECT object FROM (" : " INTERSECT ");
		ks_buf_printf(&end, "SELECT object, item FROM axis WHERE "
			"name = (SELECT number FROM term WHERE field = %u "
			"AND text = ?%u) AND value = ?%u",
			(unsigned)KS_TERM_COUNT, bind(c, BOUND_TEXT, name, 0),
			bind(c, BOUND_NUMBER, ks_span(NULL, 0),
			(uint64_t)value));
	}
	ks_buf_text(&end, "))");
	ks_buf_printf(&own, "r.%s", ks_buf_cstr(&end));
	if (status == KS_OK)
		compose_routes(c, field, ks_buf_cstr(&own), ks_buf_cstr(&end));
	ks_choice_drop(c->choice, &own);
	ks_choice_drop(c->choice, &end);
	return status;
}

/* ---- search ------------------------------------------------------------- */

/* Where else than in its own texts a record of a kind is found. */
static const struct {
	const char *kind;
	const char *paths[5];
} searched[] = {
	{ KS_API_KERNELINDEX "/BenchmarkRun", { "implementation", "workload",
		"environment", "workload.operation", NULL } },
	{ KS_API_KERNELINDEX "/ServingRun", { "model", "workload",
		"configuration", "configuration.stack", NULL } },
	{ KS_API_KERNELINDEX "/ImplementationRevision", { "operation",
		"project", NULL } },
	{ KS_API_KERNELINDEX "/WorkloadCase", { "operation", NULL } },
	{ KS_API_KERNELINDEX "/WorkloadSuite", { "operation", NULL } },
};

static const char *const *
paths_searched(const struct ks_choice *choice)
{
	static const char *const none[] = { NULL };
	size_t i;

	for (i = 0; choice->kind_count == 1 &&
		i < sizeof(searched) / sizeof(searched[0]); i++)
		if (strcmp(searched[i].kind, ks_choice_kind(choice, 0)) == 0)
			return searched[i].paths;
	return choice->all_kinds || choice->kind_count == 1 ? none : NULL;
}

/* One word: found where a word of the text begins with it. Quoted, nothing in
 * it has a meaning of its own. */
static void
compose_word(struct composing *c, struct ks_span word, unsigned number)
{
	static const char *const all[] = { "implementation", "workload",
		"environment", "model", "configuration", "operation",
		"project", "workload.operation", "configuration.stack", NULL };
	const char *const *paths = paths_searched(c->choice);
	const struct ks_field *field = ks_field_find("text");
	struct ks_buf quoted = KS_BUF_INIT;
	char end[64];
	size_t i;

	ks_buf_byte(&quoted, '"');
	for (i = 0; i < word.len; i++) {
		if (word.data[i] == '"')
			ks_buf_byte(&quoted, '"');
		ks_buf_byte(&quoted, word.data[i]);
	}
	ks_buf_text(&quoted, "\"*");
	ks_buf_printf(&c->with, "%s m%u AS MATERIALIZED (SELECT rowid AS "
		"object FROM search WHERE search MATCH ?%u)",
		c->with.len == 0 ? "WITH" : ",", number,
		bind(c, BOUND_TEXT, ks_buf_span(&quoted), 0));
	ks_choice_drop(c->choice, &quoted);
	begin_condition(c);
	(void)snprintf(end, sizeof(end), "object IN (SELECT object FROM m%u)",
		number);
	ks_buf_printf(&c->where, "(r.%s", end);
	for (paths = paths == NULL ? all : paths; *paths != NULL; paths++) {
		ks_buf_text(&c->where, " OR ");
		compose_at(c, field, *paths, end, &c->where);
	}
	ks_buf_byte(&c->where, ')');
}

static bool
has_word(struct ks_span text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (ks_choice_is_word(text.data[i]))
			return true;
	return false;
}

static enum ks_status
compose_words(struct composing *c, const char *value, unsigned *count,
	struct ks_error *err)
{
	const char *at = value;

	while (*(at += strspn(at, " \t\r\n")) != '\0') {
		struct ks_span word = ks_span(at, strcspn(at, " \t\r\n"));

		at += word.len;
		if (!has_word(word))
			continue;
		if (++*count > WORDS_MAX)
			return ks_fail(err, KS_USAGE,
				"more than %d words to search for", WORDS_MAX);
		compose_word(c, word, *count);
	}
	return KS_OK;
}

static enum ks_status
compose_search(struct composing *c, const struct ks_field *field,
	struct ks_error *err)
{
	const struct ks_list_options *options = c->choice->options;
	unsigned count = 0;
	size_t i;
	enum ks_status status = ks_catalogue_make_searchable(
		c->choice->catalogue, options->watch, err);

	for (i = 0; status == KS_OK && i < options->filter_count; i++)
		if (ks_choice_has_filter(c->choice, i, field))
			status = compose_words(c, options->filters[i].value,
				&count, err);
	if (status == KS_OK && count == 0)
		status = ks_fail(err, KS_USAGE, "no word to search for");
	return status;
}

/* ---- all filters -------------------------------------------------------- */

/* Values of one field, any of which will do, each a condition by itself. */
static enum ks_status
compose_each(struct composing *c, const struct ks_field *field,
	struct ks_error *err)
{
	const struct ks_list_options *options = c->choice->options;
	enum ks_status status = KS_OK;
	const char *separator = "(";
	size_t i;

	begin_condition(c);
	for (i = 0; status == KS_OK && i < options->filter_count; i++) {
		const char *value = options->filters[i].value;

		if (!ks_choice_has_filter(c->choice, i, field))
			continue;
		ks_buf_text(&c->where, separator);
		separator = " OR ";
		if (field->match == KS_MATCH_EVIDENCE)
			status = compose_evidence(c, value, err);
		else if (field->match == KS_MATCH_KEY)
			status = compose_key(c, value, err);
		else if (field->match == KS_MATCH_EXTERNAL)
			ks_buf_printf(&c->where, "r.external = ?%u",
				bind_text(c, value));
		else
			status = compose_time(c, field, value, err);
	}
	ks_buf_byte(&c->where, ')');
	return status;
}

static enum ks_status
compose_filter(struct composing *c, const struct ks_field *field,
	struct ks_error *err)
{
	switch (field->match) {
	case KS_MATCH_NONE:
	case KS_MATCH_KIND:
		break;
	case KS_MATCH_TERM:
	case KS_MATCH_WORDS:
		compose_terms(c, field);
		break;
	case KS_MATCH_RECORD:
	case KS_MATCH_NAME:
		compose_records(c, field);
		break;
	case KS_MATCH_EVIDENCE:
	case KS_MATCH_KEY:
	case KS_MATCH_EXTERNAL:
	case KS_MATCH_SINCE:
	case KS_MATCH_UNTIL:
		return compose_each(c, field, err);
	case KS_MATCH_AXIS:
		return compose_axes(c, field, err);
	case KS_MATCH_SEARCH:
		return compose_search(c, field, err);
	}
	return KS_OK;
}

static void
compose_mark(struct composing *c, enum ks_list_marked marked, unsigned bit)
{
	if (marked == KS_LIST_ANY)
		return;
	begin_condition(c);
	ks_buf_printf(&c->where, "r.flags & %u %s 0", bit,
		marked == KS_LIST_ONLY ? "<>" : "=");
}

static enum ks_status
compose(struct composing *c, struct ks_error *err)
{
	const struct ks_list_options *options = c->choice->options;
	enum ks_status status = KS_OK;
	size_t i;

	compose_kinds(c);
	for (i = 0; status == KS_OK && i < options->filter_count; i++) {
		const struct ks_field *field = ks_field_find(
			options->filters[i].field);

		if (ks_choice_is_first(c->choice, i, field))
			status = compose_filter(c, field, err);
	}
	compose_mark(c, options->retracted, KS_RECORD_RETRACTED);
	compose_mark(c, options->superseded, KS_RECORD_SUPERSEDED);
	if (c->where.len == 0)
		ks_buf_byte(&c->where, '1');
	return status;
}

/* ---- order -------------------------------------------------------------- */

/* Append the object at the end of a path. */
static void
compose_object(const char *path, struct ks_buf *out)
{
	const char *dot = strrchr(path, '.');

	if (path[0] == '\0') {
		ks_buf_text(out, "r.object");
	} else if (dot == NULL) {
		ks_buf_printf(out, "r.%s", path);
	} else {
		struct ks_buf before = KS_BUF_INIT;

		ks_buf_append(&before, ks_span(path, (size_t)(dot - path)));
		ks_buf_printf(out, "(SELECT y.%s FROM record y WHERE "
			"y.object = ", dot + 1);
		compose_object(ks_buf_cstr(&before), out);
		ks_buf_byte(out, ')');
		out->failed = out->failed || before.failed;
		ks_buf_release(&before);
	}
}

static void
compose_term(const struct ks_field *field, const char *path,
	struct ks_buf *out)
{
	const char *column = ks_term_column(field->which);

	if (path[0] == '\0') {
		ks_buf_printf(out, "(SELECT t.text FROM term t WHERE "
			"t.number = r.%s)", column);
		return;
	}
	ks_buf_printf(out, "(SELECT t.text FROM record z JOIN term t ON "
		"t.number = z.%s WHERE z.object = ", column);
	compose_object(path, out);
	ks_buf_byte(out, ')');
}

/* Seconds count as nanoseconds, so that latencies stand together. */
void
ks_field_sql(const struct ks_field *field, const char *path,
	struct ks_buf *out)
{
	const char *column = "";

	switch (field->value) {
	case KS_VALUE_DIGEST:
		ks_buf_text(out, "o.digest");
		return;
	case KS_VALUE_NUMBER:
		ks_buf_printf(out, "r.value * CASE (SELECT text FROM term "
			"WHERE number = r.unit) WHEN 's' THEN 1e9 ELSE 1 END");
		return;
	case KS_VALUE_SAMPLES:
		ks_buf_text(out, "r.samples");
		return;
	case KS_VALUE_EVIDENCE:
		ks_buf_text(out, EVIDENCE);
		return;
	case KS_VALUE_KEY:
		ks_buf_text(out, "r.comparison");
		return;
	case KS_VALUE_TERM:
		compose_term(field, path, out);
		return;
	case KS_VALUE_TEXT:
		if (field->which == KS_FACT_OBSERVED)
			column = "r.moment";
		else if (field->which == KS_FACT_PUBLISHED)
			column = "r.published";
		else if (field->which == KS_FACT_EXTERNAL)
			column = "r.external";
		ks_buf_text(out, column);
		if (column[0] != '\0')
			return;
		column = field->which == KS_FACT_TITLE ? "t.title" : "t.name";
		break;
	case KS_VALUE_PROPER:
		column = "coalesce(t.title, t.name)";
		break;
	case KS_VALUE_NAME:
		column = "coalesce(t.name, t.title)";
		break;
	case KS_VALUE_NONE:
	case KS_VALUE_STATE:
	case KS_VALUE_ID:
	case KS_VALUE_WORKLOAD:
	case KS_VALUE_IMPLEMENTATION:
	case KS_VALUE_RESULT:
	case KS_VALUE_MARK:
	case KS_VALUE_REASONS:
	case KS_VALUE_RELATION:
	case KS_VALUE_MEMBER:
	case KS_VALUE_MEASUREMENTS:
	case KS_VALUE_LOW:
	case KS_VALUE_HIGH:
	case KS_VALUE_PERMALINK:
		ks_buf_text(out, "NULL");
		return;
	}
	ks_buf_printf(out, "(SELECT %s FROM text t WHERE t.object = ", column);
	compose_object(path, out);
	ks_buf_byte(out, ')');
}

/* The value by the kind of the record. */
static void
compose_sort(const struct ks_choice *choice, struct ks_buf *out)
{
	size_t i;

	if (choice->all_kinds) {
		ks_field_sql(choice->sort, "", out);
		return;
	}
	ks_buf_text(out, "CASE r.kind");
	for (i = 0; i < choice->kind_count; i++) {
		const char *path = ks_field_path(choice->sort,
			ks_choice_kind(choice, i));

		ks_buf_printf(out, " WHEN %llu THEN ",
			(unsigned long long)ks_choice_kind_term(choice, i));
		if (path == NULL)
			ks_buf_text(out, "NULL");
		else
			ks_field_sql(choice->sort, path, out);
	}
	ks_buf_text(out, choice->kind_count == 0 ? " WHEN 0 THEN NULL END" :
		" END");
}

/* What is unknown comes last; equals by digest. */
static void
compose_order(const struct ks_choice *choice, struct ks_buf *out)
{
	struct ks_buf value = KS_BUF_INIT;

	if (choice->sort == NULL) {
		ks_buf_printf(out, " ORDER BY r.object%s",
			choice->options->descending ? " DESC" : "");
	} else {
		compose_sort(choice, &value);
		ks_buf_printf(out, " ORDER BY %s IS NULL, %s%s, o.digest",
			ks_buf_cstr(&value), ks_buf_cstr(&value),
			choice->options->descending ? " DESC" : "");
		out->failed = out->failed || value.failed;
	}
	ks_buf_release(&value);
	if (choice->options->limit > 0)
		ks_buf_printf(out, " LIMIT %llu",
			(unsigned long long)choice->options->limit);
}

/* ---- asking ------------------------------------------------------------- */

static enum ks_status
ask(struct composing *c, const char *sql, ks_choice_row_fn *visit, void *arg,
	struct ks_error *err)
{
	struct ks_db *tables = ks_catalogue_tables(c->choice->catalogue);
	struct sqlite3_stmt *stmt = ks_db_prepare(tables, sql);
	enum ks_status status = KS_OK;

	apply_bounds(c, stmt);
	while (status == KS_OK && ks_db_next(tables, stmt))
		status = visit(arg, stmt, err);
	ks_db_discard(stmt);
	return status == KS_OK ? ks_db_check(tables, err) : status;
}

enum ks_status
ks_choice_select(struct ks_choice *choice, const char *head, const char *tail,
	ks_choice_row_fn *visit, void *arg, struct ks_error *err)
{
	struct composing c = { .choice = choice };
	struct ks_buf sql = KS_BUF_INIT;
	enum ks_status status = compose(&c, err);

	if (status == KS_OK) {
		ks_buf_append(&sql, ks_buf_span(&c.with));
		ks_buf_printf(&sql, " %s FROM record r JOIN object o ON "
			"o.published = r.object WHERE %s%s", head,
			ks_buf_cstr(&c.where), tail);
		if (choice->failed || c.with.failed || c.where.failed ||
			c.values.failed || c.bounds.failed)
			status = ks_fail_nomem(err);
		else
			status = ks_buf_check(&sql, err);
	}
	if (status == KS_OK && !choice->is_empty)
		status = ask(&c, ks_buf_cstr(&sql), visit, arg, err);
	ks_buf_release(&sql);
	release(&c);
	return status;
}

static enum ks_status
take_object(void *arg, struct sqlite3_stmt *stmt, struct ks_error *err)
{
	struct ks_buf *out = arg;
	uint64_t object = ks_db_number(stmt, 0);

	ks_buf_append(out, ks_span(&object, sizeof(object)));
	return ks_buf_check(out, err);
}

enum ks_status
ks_choice_run(struct ks_choice *choice, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_buf order = KS_BUF_INIT;
	enum ks_status status;

	compose_order(choice, &order);
	status = ks_buf_check(&order, err);
	if (status == KS_OK)
		status = ks_choice_select(choice, "SELECT r.object",
			ks_buf_cstr(&order), take_object, out, err);
	ks_buf_release(&order);
	return status;
}
