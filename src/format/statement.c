#include "format/statement.h"

#include <float.h>
#include <stdio.h>

#include "base/utf8.h"
#include "format/jcs.h"
#include "format/json.h"
#include "format/kind.h"
#include "format/kind_shape.h"
#include "format/number.h"
#include "format/time.h"

#define STATEMENT_V1 "https://in-toto.io/Statement/v1"
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define SHOWN 80	/* bytes of a text in a message */

/* ---- words -------------------------------------------------------------- */

static const char *const type_names[] = {
	[KS_STATEMENT_REPRODUCED] = "reproduced",
	[KS_STATEMENT_COULD_NOT_REPRODUCE] = "could_not_reproduce",
	[KS_STATEMENT_ENVIRONMENT_NOTE] = "environment_note",
	[KS_STATEMENT_REGRESSION_OBSERVED] = "regression_observed",
	[KS_STATEMENT_CORRECTION_WANTED] = "correction_wanted",
	[KS_STATEMENT_RERUN] = "rerun",
};

static const char *const reason_names[] = {
	[KS_REASON_NONE] = "",
	[KS_REASON_INCORRECT_RESULT] = "incorrect_result",
	[KS_REASON_WRONG_ATTRIBUTION] = "wrong_attribution",
	[KS_REASON_LICENSE_ISSUE] = "license_issue",
	[KS_REASON_COMPARABILITY] = "comparability",
	[KS_REASON_OTHER] = "other",
};

const char *
ks_statement_type_name(enum ks_statement_type type)
{
	return type_names[type];
}

const char *
ks_statement_reason_name(enum ks_statement_reason reason)
{
	return reason_names[reason];
}

/* Find `name` among `words` from `first` on. */
static enum ks_status
find_word(const char *what, struct ks_span name, const char *const *words,
	size_t first, size_t count, size_t *out, struct ks_error *err)
{
	char list[256] = "";
	char shown[SHOWN];
	size_t used = 0;
	size_t i;

	for (i = first; i < count; i++) {
		int n = snprintf(list + used, sizeof(list) - used, "%s%s",
			i == first ? "" : i + 1 < count ? ", " : " or ",
			words[i]);

		used += n > 0 ? (size_t)n : 0;
		if (ks_span_is(name, words[i])) {
			*out = i;
			return KS_OK;
		}
	}
	return ks_fail(err, KS_INVALID, "the %s must be %s, not \"%s\"", what,
		list, ks_printable(shown, sizeof(shown), name));
}

enum ks_status
ks_statement_type_parse(struct ks_span name, enum ks_statement_type *out,
	struct ks_error *err)
{
	size_t found = 0;
	enum ks_status status = find_word("type", name, type_names, 0,
		COUNT(type_names), &found, err);

	*out = (enum ks_statement_type)found;
	return status;
}

enum ks_status
ks_statement_reason_parse(struct ks_span name, enum ks_statement_reason *out,
	struct ks_error *err)
{
	size_t found = KS_REASON_NONE;
	enum ks_status status = find_word("reason", name, reason_names,
		KS_REASON_NONE + 1, COUNT(reason_names), &found, err);

	*out = (enum ks_statement_reason)found;
	return status;
}

/* Whether the type is one of KernelIndex's own, an observation by a person. */
static bool
is_observation(enum ks_statement_type type)
{
	return type != KS_STATEMENT_CORRECTION_WANTED &&
		type != KS_STATEMENT_RERUN;
}

enum ks_status
ks_statement_value_parse(struct ks_span text, double *ns,
	struct ks_error *err)
{
	char shown[SHOWN];

	if (ks_shape_latency(text, ns))
		return KS_OK;
	return ks_fail(err, KS_INVALID, "the observed value must be a number "
		"and its unit (ns, us, \xc2\xb5s, ms or s), as in 621.5us, not "
		"\"%s\"", ks_printable(shown, sizeof(shown), text));
}

/* Refuse a member that statements of this type do not have. */
static enum ks_status
fail_surplus(const struct ks_statement *statement, const char *member,
	struct ks_error *err)
{
	return ks_fail(err, KS_INVALID, "a statement of the type %s has no %s",
		type_names[statement->type], member);
}

/* ---- texts -------------------------------------------------------------- */

/* A blank as ECMAScript's trim() knows it. */
static bool
is_blank(uint32_t c)
{
	return c == 0xfeff || (c != 0x85 && ks_utf8_is_space(c));
}

/* The length of the character at the front of a text that is not empty; what
 * is not UTF-8 is taken for characters of one byte. */
static size_t
first_length(struct ks_span text, uint32_t *c)
{
	size_t n = ks_utf8_decode(text, c);

	if (n > 0)
		return n;
	*c = text.data[0];
	return 1;
}

/* The same of the character at the end. */
static size_t
last_length(struct ks_span text, uint32_t *c)
{
	size_t n = 1;

	while (n < 4 && n < text.len &&
		(text.data[text.len - n] & 0xc0) == 0x80)
		n++;
	if (ks_utf8_decode(ks_span(text.data + text.len - n, n), c) == n)
		return n;
	*c = text.data[text.len - 1];
	return 1;
}

/* The text without blanks at both ends; one that was not given stays so. */
static struct ks_span
trim(struct ks_span text)
{
	uint32_t c = 0;

	while (text.len > 0) {
		size_t n = first_length(text, &c);

		if (!is_blank(c))
			break;
		text = ks_span(text.data + n, text.len - n);
	}
	while (text.len > 0) {
		size_t n = last_length(text, &c);

		if (!is_blank(c))
			break;
		text.len -= n;
	}
	return text;
}

/* As many whole characters from the front as fit in `max` UTF-16 units. */
static struct ks_span
cut(struct ks_span text, size_t max)
{
	size_t at = 0;

	while (at < text.len) {
		uint32_t c = 0;
		size_t n = first_length(ks_span(text.data + at,
			text.len - at), &c);
		size_t units = c > 0xffff ? 2 : 1;

		if (units > max)
			break;
		max -= units;
		at += n;
	}
	return ks_span(text.data, at);
}

static bool
has_blank(struct ks_span text)
{
	while (text.len > 0) {
		uint32_t c = 0;
		size_t n = first_length(text, &c);

		if (is_blank(c))
			return true;
		text = ks_span(text.data + n, text.len - n);
	}
	return false;
}

static bool
has_control(struct ks_span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (text.data[i] < 0x20 || text.data[i] == 0x7f)
			return true;
	}
	return false;
}

/* What every text is: well-formed, and not too long. */
static enum ks_status
check_text(const char *what, struct ks_span text, size_t max,
	struct ks_error *err)
{
	if (ks_utf8_check(text) != text.len ||
		(text.len > 0 && memchr(text.data, '\0', text.len) != NULL))
		return ks_fail(err, KS_INVALID,
			"the %s must be UTF-8 without U+0000", what);
	if (cut(text, max).len != text.len)
		return ks_fail(err, KS_INVALID, "the %s must have at most %zu "
			"UTF-16 code units", what, max);
	return KS_OK;
}

static struct ks_span
trim_environment(struct ks_span text)
{
	/* Trimmed again, so that doing all this twice changes nothing. */
	return trim(cut(trim(text), KS_STATEMENT_ENVIRONMENT_MAX));
}

/* ---- reading members ---------------------------------------------------- */

/* The member `name` where there is one: it must be of the type `wanted`. */
static enum ks_status
find_member(struct ks_span predicate, const char *name,
	enum ks_json_type wanted, struct ks_span *out, bool *found,
	struct ks_error *err)
{
	*found = ks_json_find(predicate, name, out);
	if (!*found || ks_json_type(*out) == wanted)
		return KS_OK;
	return ks_fail(err, KS_INVALID, "%s must be %s, not %s", name,
		ks_json_type_name(wanted),
		ks_json_type_name(ks_json_type(*out)));
}

/* Its characters, in `texts`, which has room for them and does not move. */
static enum ks_status
read_text(struct ks_span predicate, const char *name, struct ks_buf *texts,
	struct ks_span *out, struct ks_error *err)
{
	size_t from = texts->len;
	struct ks_span value;
	bool found;
	enum ks_status status = find_member(predicate, name, KS_JSON_STRING,
		&value, &found, err);

	if (status != KS_OK || !found)
		return status;
	ks_json_unescape(texts, ks_json_raw(value));
	*out = ks_span(texts->data + from, texts->len - from);
	return KS_OK;
}

static enum ks_status
read_type(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	struct ks_span name = ks_span(NULL, 0);
	enum ks_status status = read_text(predicate, "type", &out->texts,
		&name, err);

	if (status != KS_OK)
		return status;
	return ks_statement_type_parse(name, &out->type, err);
}

static enum ks_status
read_reason(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	struct ks_span name = ks_span(NULL, 0);
	enum ks_status status = read_text(predicate, "reason", &out->texts,
		&name, err);

	if (status != KS_OK || name.data == NULL)
		return status;
	return ks_statement_reason_parse(name, &out->reason, err);
}

static enum ks_status
read_body(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	enum ks_status status = read_text(predicate, "body", &out->texts,
		&out->body, err);

	out->body = trim(out->body);
	return status;
}

static enum ks_status
read_evidence(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	return read_text(predicate, "evidenceUrl", &out->texts,
		&out->evidence_url, err);
}

static enum ks_status
read_observed(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	struct ks_span value;
	enum ks_status status = find_member(predicate, "observedNs",
		KS_JSON_NUMBER, &value, &out->has_observed, err);

	if (status == KS_OK && out->has_observed)
		out->observed_ns = ks_json_double(value);
	return status;
}

static enum ks_status
read_environment(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	enum ks_status status = read_text(predicate, "environment",
		&out->texts, &out->environment, err);

	out->environment = trim_environment(out->environment);
	return status;
}

static enum ks_status
read_rerun(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	struct ks_span value;
	enum ks_status status = find_member(predicate, "rerun",
		KS_JSON_STRING, &value, &out->has_rerun, err);

	if (status == KS_OK && out->has_rerun &&
		!ks_id_parse(&out->rerun, ks_json_raw(value)))
		status = ks_fail(err, KS_INVALID, "the rerun must be a digest "
			"(\"sha256:\" and 64 lower-case hex digits)");
	return status;
}

static enum ks_status
read_author(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	enum ks_status status = read_text(predicate, "author", &out->texts,
		&out->author, err);

	out->author = trim(out->author);
	return status;
}

static enum ks_status
read_at(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	struct ks_span value;
	bool found;
	enum ks_status status = find_member(predicate, "at", KS_JSON_STRING,
		&value, &found, err);

	if (status != KS_OK)
		return status;
	if (!found || !ks_time_parse(ks_json_raw(value), &out->at))
		return ks_fail(err, KS_INVALID, "the time must be in the form "
			"YYYY-MM-DDTHH:MM:SSZ (L7)");
	return KS_OK;
}

/* ---- rules -------------------------------------------------------------- */

static enum ks_status
check_reason(const struct ks_statement *statement, struct ks_error *err)
{
	bool wanted = statement->type == KS_STATEMENT_CORRECTION_WANTED;
	size_t found;

	if (!wanted && statement->reason != KS_REASON_NONE)
		return fail_surplus(statement, "reason", err);
	if (!wanted)
		return KS_OK;
	return find_word("reason", ks_span_text(
		reason_names[statement->reason]), reason_names,
		KS_REASON_NONE + 1, COUNT(reason_names), &found, err);
}

static enum ks_status
check_body(const struct ks_statement *statement, struct ks_error *err)
{
	bool long_one = statement->type == KS_STATEMENT_CORRECTION_WANTED;

	if (statement->type == KS_STATEMENT_RERUN)
		return statement->body.data == NULL ? KS_OK :
			fail_surplus(statement, "body", err);
	if (statement->body.len == 0)
		return ks_fail(err, KS_INVALID, "the body must not be blank");
	return check_text("body", statement->body, long_one ?
		KS_STATEMENT_CORRECTION_MAX : KS_STATEMENT_BODY_MAX, err);
}

/* Whether there is something behind the scheme, where KernelIndex's form for
 * corrections takes http too. */
static bool
is_url(const struct ks_statement *statement)
{
	struct ks_span url = statement->evidence_url;

	if (ks_span_begins(url, "https://"))
		return url.len > strlen("https://");
	return statement->type == KS_STATEMENT_CORRECTION_WANTED &&
		ks_span_begins(url, "http://") && url.len > strlen("http://");
}

static enum ks_status
check_evidence(const struct ks_statement *statement, struct ks_error *err)
{
	struct ks_span url = statement->evidence_url;
	char shown[SHOWN];

	if (url.data == NULL)
		return KS_OK;
	if (statement->type == KS_STATEMENT_RERUN)
		return fail_surplus(statement, "evidenceUrl", err);
	if (!is_url(statement) || has_blank(url))
		return ks_fail(err, KS_INVALID, "the evidence URL must begin "
			"with %shttps:// and have no blank, not \"%s\"",
			is_observation(statement->type) ? "" : "http:// or ",
			ks_printable(shown, sizeof(shown), url));
	return check_text("evidence URL", url, KS_STATEMENT_URL_MAX, err);
}

static enum ks_status
check_observed(const struct ks_statement *statement, struct ks_error *err)
{
	double value = statement->observed_ns;

	if (!statement->has_observed)
		return KS_OK;
	if (!is_observation(statement->type))
		return fail_surplus(statement, "observedNs", err);
	/* Neither holds of what is not a number. */
	if (value > 0 && value <= DBL_MAX)
		return KS_OK;
	return ks_fail(err, KS_INVALID, "the observed value must be a finite "
		"number of nanoseconds above 0");
}

static enum ks_status
check_environment(const struct ks_statement *statement, struct ks_error *err)
{
	if (statement->environment.data == NULL)
		return KS_OK;
	if (!is_observation(statement->type))
		return fail_surplus(statement, "environment", err);
	return check_text("environment", statement->environment,
		KS_STATEMENT_ENVIRONMENT_MAX, err);
}

static enum ks_status
check_rerun(const struct ks_statement *statement, struct ks_error *err)
{
	bool wanted = statement->type == KS_STATEMENT_RERUN;

	if (!wanted && statement->has_rerun)
		return fail_surplus(statement, "rerun", err);
	if (wanted && !statement->has_rerun)
		return ks_fail(err, KS_INVALID,
			"a statement of the type rerun must name the new run");
	if (wanted && ks_id_equal(&statement->rerun, &statement->subject))
		return ks_fail(err, KS_INVALID,
			"a run must not be its own rerun");
	return KS_OK;
}

static enum ks_status
check_author(const struct ks_statement *statement, struct ks_error *err)
{
	if (statement->author.len == 0)
		return ks_fail(err, KS_INVALID,
			"the author's name must not be blank");
	if (has_control(statement->author))
		return ks_fail(err, KS_INVALID, "the author's name must not "
			"have control characters");
	return check_text("author's name", statement->author,
		KS_STATEMENT_AUTHOR_MAX, err);
}

static enum ks_status
check_at(const struct ks_statement *statement, struct ks_error *err)
{
	char text[KS_TIME_TEXT + 1];

	if (ks_time_print(statement->at, text))
		return KS_OK;
	return ks_fail(err, KS_INVALID,
		"the time must be in the years 0000 to 9999 (L7)");
}

/* How a member is read, and what it must be: in the order in which KernelIndex
 * judges what is filed. The last ones are not asked of whoever files. */
static const struct rule {
	enum ks_status (*read)(struct ks_span predicate,
		struct ks_statement *out, struct ks_error *err);
	enum ks_status (*check)(const struct ks_statement *statement,
		struct ks_error *err);
} rules[] = {
	{ read_reason, check_reason },
	{ read_body, check_body },
	{ read_evidence, check_evidence },
	{ read_observed, check_observed },
	{ read_environment, check_environment },
	{ read_rerun, check_rerun },
	{ read_author, check_author },
	{ read_at, check_at },
};

#define RULES_FILED 6	/* the first of them */

static enum ks_status
check(const struct ks_statement *statement, size_t from, size_t to,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = from; status == KS_OK && i < to; i++)
		status = rules[i].check(statement, err);
	return status;
}

/* A copy in the form that is written; its texts are those of `in`. */
static struct ks_statement
normalise(const struct ks_statement *in)
{
	struct ks_statement out = *in;

	out.body = trim(in->body);
	out.environment = trim_environment(in->environment);
	out.author = trim(in->author);
	return out;
}

/* A correction may be wanted of any record, the rest is about runs. */
static enum ks_status
check_kind(enum ks_statement_type type, struct ks_span kind,
	struct ks_error *err)
{
	const struct ks_kind *known = ks_kind_find_full(kind);
	char shown[SHOWN];

	if (known != NULL && ks_kind_has_source(known))
		return KS_OK;
	if (type == KS_STATEMENT_CORRECTION_WANTED &&
		!ks_span_is(kind, "raw"))
		return KS_OK;
	return ks_fail(err, KS_INVALID,
		"a statement of the type %s is about a %s, not about a %s",
		type_names[type],
		type == KS_STATEMENT_CORRECTION_WANTED ? "record" : "run",
		ks_printable(shown, sizeof(shown), kind));
}

static enum ks_status
check_rerun_kind(const struct ks_statement *statement,
	const struct ks_statement_facts *facts, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	char shown[SHOWN];

	if (facts->rerun.len == 0)
		return ks_fail(err, KS_NOT_FOUND, "the rerun %s is not "
			"published", ks_id_print(&statement->rerun, text));
	if (!ks_span_equal(facts->rerun, facts->subject))
		return ks_fail(err, KS_INVALID, "the rerun must be of the "
			"kind of its subject, not a %s",
			ks_printable(shown, sizeof(shown), facts->rerun));
	return KS_OK;
}

static enum ks_status
check_facts(const struct ks_statement *statement,
	const struct ks_statement_facts *facts, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	enum ks_status status;

	if (facts->subject.len == 0)
		return ks_fail(err, KS_NOT_FOUND, "the subject %s is not "
			"published", ks_id_print(&statement->subject, text));
	status = check_kind(statement->type, facts->subject, err);
	if (status != KS_OK)
		return status;
	if (statement->type == KS_STATEMENT_RERUN)
		return check_rerun_kind(statement, facts, err);
	if (facts->filed >= KS_STATEMENT_PER_DAY)
		return ks_fail(err, KS_INVALID, "%zu were filed in the last "
			"24 hours, and %d are the limit", facts->filed,
			KS_STATEMENT_PER_DAY);
	return KS_OK;
}

enum ks_status
ks_statement_admit(const struct ks_statement *statement,
	const struct ks_statement_facts *facts, struct ks_error *err)
{
	struct ks_statement normal = normalise(statement);
	enum ks_status status = check(&normal, 0, RULES_FILED, err);

	if (status == KS_OK)
		status = check_facts(&normal, facts, err);
	if (status == KS_OK)
		status = check(&normal, RULES_FILED, COUNT(rules), err);
	return status;
}

/* ---- writing ------------------------------------------------------------ */

static void
put_text(const char *name, struct ks_span text, struct ks_buf *out)
{
	if (text.len == 0)
		return;
	ks_buf_printf(out, ",\"%s\":", name);
	ks_json_quote(out, text);
}

/* The kind, which is written as the subject's name. */
static enum ks_status
check_name(const struct ks_statement *statement, struct ks_error *err)
{
	enum ks_status status;

	if (statement->kind.len == 0 || has_control(statement->kind))
		return ks_fail(err, KS_INVALID, "the subject's kind must be a "
			"text without control characters");
	status = check_text("subject's kind", statement->kind,
		KS_STATEMENT_KIND_MAX, err);
	if (status == KS_OK)
		status = check_kind(statement->type, statement->kind, err);
	return status;
}

/* In canonical order. */
static void
put_predicate(const struct ks_statement *statement, struct ks_buf *out)
{
	char number[KS_NUMBER_TEXT_MAX];
	char time[KS_TIME_TEXT + 1];
	char digest[KS_ID_TEXT + 1];

	(void)ks_time_print(statement->at, time);
	ks_buf_printf(out, "{\"at\":\"%s\"", time);
	put_text("author", statement->author, out);
	put_text("body", statement->body, out);
	put_text("environment", statement->environment, out);
	put_text("evidenceUrl", statement->evidence_url, out);
	if (statement->has_observed) {
		ks_buf_text(out, ",\"observedNs\":");
		ks_buf_append(out, ks_span(number,
			ks_number_write(statement->observed_ns, number)));
	}
	if (statement->reason != KS_REASON_NONE)
		ks_buf_printf(out, ",\"reason\":\"%s\"",
			reason_names[statement->reason]);
	if (statement->has_rerun)
		ks_buf_printf(out, ",\"rerun\":\"%s\"",
			ks_id_print(&statement->rerun, digest));
	ks_buf_printf(out, ",\"type\":\"%s\"}", type_names[statement->type]);
}

static void
put_statement(const struct ks_statement *statement, struct ks_buf *out)
{
	char hex[KS_ID_HEX + 1];

	ks_buf_text(out, "{\"_type\":\"" STATEMENT_V1 "\",\"predicate\":");
	put_predicate(statement, out);
	ks_buf_printf(out, ",\"predicateType\":\"" KS_STATEMENT_PREDICATE
		"\",\"subject\":[{\"digest\":{\"sha256\":\"%s\"}",
		ks_id_print_hex(&statement->subject, hex));
	put_text("name", statement->kind, out);
	ks_buf_text(out, "}]}");
}

enum ks_status
ks_statement_write(const struct ks_statement *statement, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_statement normal = normalise(statement);
	size_t before = out->len;
	enum ks_status status = check(&normal, 0, RULES_FILED, err);

	if (status == KS_OK)
		status = check_name(&normal, err);
	if (status == KS_OK)
		status = check(&normal, RULES_FILED, COUNT(rules), err);
	if (status != KS_OK)
		return status;
	put_statement(&normal, out);
	status = ks_buf_check(out, err);
	if (status != KS_OK)
		out->len = before;
	return status;
}

/* ---- reading ------------------------------------------------------------ */

/* The digest and name of the only element of `subjects`. */
static enum ks_status
read_subject(struct ks_span subjects, struct ks_statement_frame *out,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(subjects);
	struct ks_span element, digest, sha256, name;

	if (ks_json_type(subjects) != KS_JSON_ARRAY ||
		ks_json_count(subjects) != 1 ||
		!ks_json_next_element(&it, &element))
		return ks_fail(err, KS_INVALID,
			"must state exactly one subject");
	if (!ks_json_find(element, "digest", &digest) ||
		!ks_json_find(digest, "sha256", &sha256) ||
		ks_json_type(sha256) != KS_JSON_STRING ||
		!ks_id_parse_hex(&out->subject, ks_json_raw(sha256)))
		return ks_fail(err, KS_INVALID, "must give its subject's "
			"sha256 digest as 64 lower-case hex digits");
	if (ks_json_find(element, "name", &name) &&
		ks_json_type(name) == KS_JSON_STRING)
		out->name = ks_json_raw(name);
	return KS_OK;
}

/* Judge a statement in canonical form. */
static enum ks_status
read_frame(struct ks_span statement, struct ks_statement_frame *out,
	struct ks_error *err)
{
	struct ks_span value;

	if (!ks_json_find(statement, "_type", &value) ||
		!ks_json_is(value, STATEMENT_V1))
		return ks_fail(err, KS_INVALID,
			"must be an in-toto Statement v1");
	if (!ks_json_find(statement, "predicateType", &value) ||
		ks_json_type(value) != KS_JSON_STRING ||
		ks_json_raw(value).len == 0)
		return ks_fail(err, KS_INVALID, "must state a predicateType");
	out->predicate_type = ks_json_raw(value);
	if (ks_json_find(statement, "predicate", &out->predicate) &&
		ks_json_type(out->predicate) != KS_JSON_OBJECT)
		return ks_fail(err, KS_INVALID,
			"must have an object as its predicate");
	if (!ks_json_find(statement, "subject", &value))
		return ks_fail(err, KS_INVALID,
			"must state exactly one subject");
	return read_subject(value, out, err);
}

enum ks_status
ks_statement_frame(struct ks_span text, struct ks_buf *canonical,
	struct ks_statement_frame *out, struct ks_error *err)
{
	struct ks_jcs *jcs = NULL;
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	ks_buf_clear(canonical);
	status = ks_jcs_new(&jcs, err);
	if (status != KS_OK)
		return status;
	status = ks_jcs_scan(jcs, text, &ks_jcs_rfc8785, canonical, err);
	ks_jcs_free(jcs);
	if (status == KS_OK)
		return read_frame(ks_buf_span(canonical), out, err);
	if (status == KS_INVALID)
		(void)ks_context(err, "must be JSON text");
	return status;
}

void
ks_statement_release(struct ks_statement *statement)
{
	ks_buf_release(&statement->texts);
	memset(statement, 0, sizeof(*statement));
}

/* Read and judge the members, one after the other. */
static enum ks_status
read_predicate(struct ks_span predicate, struct ks_statement *out,
	struct ks_error *err)
{
	enum ks_status status = read_type(predicate, out, err);
	size_t i;

	for (i = 0; status == KS_OK && i < COUNT(rules); i++) {
		status = rules[i].read(predicate, out, err);
		if (status == KS_OK)
			status = rules[i].check(out, err);
	}
	return status;
}

/* Judge a Statement, whose canonical form is `canonical`. */
static enum ks_status
read_own(const struct ks_statement_frame *frame, struct ks_span payload,
	struct ks_span canonical, struct ks_statement *out,
	struct ks_error *err)
{
	char shown[SHOWN];
	enum ks_status status;

	if (!ks_span_is(frame->predicate_type, KS_STATEMENT_PREDICATE))
		return ks_fail(err, KS_UNSUPPORTED, "the statement's "
			"predicate type is another one, %s", ks_printable(
			shown, sizeof(shown), frame->predicate_type));
	if (!ks_span_equal(payload, canonical))
		return ks_fail(err, KS_INVALID,
			"the statement is not in canonical form (RFC 8785)");
	/* Unescaping makes nothing longer: the texts never move. */
	(void)ks_buf_reserve(&out->texts, canonical.len);
	status = ks_buf_check(&out->texts, err);
	if (status != KS_OK)
		return status;
	ks_json_unescape(&out->texts, frame->name);
	out->kind = ks_buf_span(&out->texts);
	out->subject = frame->subject;
	return read_predicate(frame->predicate, out, err);
}

enum ks_status
ks_statement_parse(struct ks_span payload, struct ks_statement *out,
	struct ks_error *err)
{
	struct ks_buf canonical = KS_BUF_INIT;
	struct ks_statement_frame frame;
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	status = ks_statement_frame(payload, &canonical, &frame, err);
	if (status == KS_INVALID)
		(void)ks_context(err, "the statement");
	if (status == KS_OK)
		status = read_own(&frame, payload, ks_buf_span(&canonical),
			out, err);
	if (status != KS_OK)
		ks_statement_release(out);
	ks_buf_release(&canonical);
	return status;
}
