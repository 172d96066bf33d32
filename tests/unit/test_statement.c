#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "format/dsse.h"
#include "format/kind.h"
#include "format/statement.h"
#include "../lib/trust.h"
#include "../lib/vectors.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define RUN "kernelindex.dev/v1alpha1/BenchmarkRun"
#define SERVING "kernelindex.dev/v1alpha1/ServingRun"
#define PROJECT "kernelindex.dev/v1alpha1/SoftwareProject"
#define HEX "c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6"
#define OTHER "21df0b6500000000000000000000000000000000000000000000000000000000"
#define NOON 1796126400		/* 2026-12-01T12:00:00Z */
#define NBSP "\xc2\xa0"
#define NEXT_LINE "\xc2\x85"
#define IDEOGRAPHIC_SPACE "\xe3\x80\x80"
#define BOM "\xef\xbb\xbf"
#define ROCKET "\xf0\x9f\x9a\x80"	/* two UTF-16 units */

/* ---- what tests share --------------------------------------------------- */

static struct ks_id
id_of(const char *hex)
{
	return vector_hex(ks_span_text(hex));
}

/* An observation without its optional parts. */
static struct ks_statement
observation(void)
{
	struct ks_statement statement;

	memset(&statement, 0, sizeof(statement));
	statement.type = KS_STATEMENT_REPRODUCED;
	statement.subject = id_of(HEX);
	statement.kind = ks_span_text(RUN);
	statement.body = ks_span_text("Same here.");
	statement.author = ks_span_text("Ada");
	statement.at = NOON;
	return statement;
}

static struct ks_statement
correction(void)
{
	struct ks_statement statement = observation();

	statement.type = KS_STATEMENT_CORRECTION_WANTED;
	statement.reason = KS_REASON_LICENSE_ISSUE;
	return statement;
}

static struct ks_statement
rerun(void)
{
	struct ks_statement statement = observation();

	statement.type = KS_STATEMENT_RERUN;
	statement.body = ks_span(NULL, 0);
	statement.has_rerun = true;
	statement.rerun = id_of(OTHER);
	return statement;
}

/* Facts that refuse nothing. */
static struct ks_statement_facts
good_facts(void)
{
	struct ks_statement_facts facts = {
		.subject = ks_span_text(RUN),
		.rerun = ks_span_text(RUN),
		.filed = 0,
	};

	return facts;
}

static void
write_to(const struct ks_statement *statement, struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;

	ks_buf_clear(out);
	if (ks_statement_write(statement, out, &err) != KS_OK)
		fail_msg("%s", err.message);
}

/* Neither written nor admitted, with `says` in the message. */
static void
assert_refused(const struct ks_statement *statement, const char *says)
{
	struct ks_statement_facts facts = good_facts();
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;

	ks_buf_text(&out, "kept");
	assert_int_equal(ks_statement_write(statement, &out, &err),
		KS_INVALID);
	if (strstr(err.message, says) == NULL)
		fail_msg("\"%s\" is not in: %s", says, err.message);
	assert_string_equal(ks_buf_cstr(&out), "kept");
	assert_int_equal(ks_statement_admit(statement, &facts, &err),
		KS_INVALID);
	if (strstr(err.message, says) == NULL)
		fail_msg("\"%s\" is not in: %s", says, err.message);
	ks_buf_release(&out);
}

static void
assert_admitted(const struct ks_statement *statement)
{
	struct ks_statement_facts facts = good_facts();
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;

	write_to(statement, &out);
	if (ks_statement_admit(statement, &facts, &err) != KS_OK)
		fail_msg("%s", err.message);
	ks_buf_release(&out);
}

/* Read `text`, in which ' may stand for a quote, as it is. */
static enum ks_status
parse(const char *text, struct ks_statement *out, struct ks_error *err)
{
	struct ks_buf payload = KS_BUF_INIT;
	enum ks_status status;
	size_t i;

	ks_buf_text(&payload, text);
	for (i = 0; i < payload.len; i++) {
		if (payload.data[i] == '\'')
			payload.data[i] = '"';
	}
	status = ks_statement_parse(ks_buf_span(&payload), out, err);
	/* What was read must not lie in what is gone. */
	if (payload.len > 0)
		memset(payload.data, 'x', payload.len);
	ks_buf_release(&payload);
	return status;
}

static void
assert_unread(const char *text, enum ks_status status, const char *says)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_statement statement;

	if (parse(text, &statement, &err) != status)
		fail_msg("%s: %s", text, err.message);
	if (strstr(err.message, says) == NULL)
		fail_msg("\"%s\" is not in: %s", says, err.message);
	assert_null(statement.texts.data);
	assert_null(statement.body.data);
}

static void
read_from(const char *text, struct ks_statement *out)
{
	struct ks_error err = KS_ERROR_INIT;

	if (parse(text, out, &err) != KS_OK)
		fail_msg("%s: %s", text, err.message);
}

#define STATEMENT_OF(predicate, type, subject) \
	"{\"_type\":\"https://in-toto.io/Statement/v1\",\"predicate\":" \
	predicate ",\"predicateType\":\"" type "\",\"subject\":[" subject "]}"
#define SUBJECT "{\"digest\":{\"sha256\":\"" HEX "\"},\"name\":\"" RUN "\"}"
#define STATEMENT(predicate) \
	STATEMENT_OF(predicate, KS_STATEMENT_PREDICATE, SUBJECT)
#define AT "\"at\":\"2026-12-01T12:00:00Z\""
#define BY AT ",\"author\":\"Ada\""

/* ---- what is written ---------------------------------------------------- */

static const char smallest[] = STATEMENT("{" BY ",\"body\":\"Same here.\","
	"\"type\":\"reproduced\"}");
static const char largest[] = STATEMENT("{" BY ",\"body\":\"12 % slower\\n"
	"since \\\"r2\\\" " ROCKET "\",\"environment\":\"A100, driver 535\","
	"\"evidenceUrl\":\"https://example.org/log?x=1\",\"observedNs\":"
	"621504.5,\"type\":\"regression_observed\"}");
static const char wanted[] = STATEMENT("{" BY ",\"body\":\"Not MIT.\","
	"\"evidenceUrl\":\"http://example.org/LICENSE\","
	"\"reason\":\"license_issue\",\"type\":\"correction_wanted\"}");
static const char anew[] = STATEMENT("{" BY ",\"rerun\":\"sha256:" OTHER "\","
	"\"type\":\"rerun\"}");

static void
a_statement_is_one_text(void **state)
{
	struct ks_statement statement = observation();
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	write_to(&statement, &out);
	assert_string_equal(ks_buf_cstr(&out), smallest);
	statement.type = KS_STATEMENT_REGRESSION_OBSERVED;
	statement.body = ks_span_text("12 % slower\nsince \"r2\" " ROCKET);
	statement.evidence_url = ks_span_text("https://example.org/log?x=1");
	statement.has_observed = true;
	statement.observed_ns = 621504.5;
	statement.environment = ks_span_text("A100, driver 535");
	write_to(&statement, &out);
	assert_string_equal(ks_buf_cstr(&out), largest);
	statement = correction();
	statement.body = ks_span_text("Not MIT.");
	statement.evidence_url = ks_span_text("http://example.org/LICENSE");
	write_to(&statement, &out);
	assert_string_equal(ks_buf_cstr(&out), wanted);
	statement = rerun();
	write_to(&statement, &out);
	assert_string_equal(ks_buf_cstr(&out), anew);
	ks_buf_release(&out);
}

static void
what_is_written_is_canonical_and_read_as_it_was_meant(void **state)
{
	static const char *const texts[] = { smallest, largest, wanted, anew };
	struct ks_buf out = KS_BUF_INIT;
	struct ks_jcs *jcs = NULL;
	size_t i;

	(void)state;
	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	for (i = 0; i < COUNT(texts); i++) {
		struct ks_statement statement;

		assert_int_equal(ks_jcs_check(jcs, ks_span_text(texts[i]),
			&ks_jcs_manifest, NULL), KS_OK);
		read_from(texts[i], &statement);
		assert_true(ks_span_is(statement.kind, RUN));
		assert_true(ks_span_is(statement.author, "Ada"));
		assert_int_equal(statement.at, NOON);
		write_to(&statement, &out);
		assert_string_equal(ks_buf_cstr(&out), texts[i]);
		ks_statement_release(&statement);
	}
	ks_jcs_free(jcs);
	ks_buf_release(&out);
}

static void
each_member_is_read(void **state)
{
	struct ks_statement statement;
	struct ks_id id;

	(void)state;
	read_from(largest, &statement);
	id = id_of(HEX);
	assert_true(ks_id_equal(&statement.subject, &id));
	assert_int_equal(statement.type, KS_STATEMENT_REGRESSION_OBSERVED);
	assert_true(ks_span_is(statement.body, "12 % slower\nsince \"r2\" "
		ROCKET));
	assert_true(ks_span_is(statement.evidence_url,
		"https://example.org/log?x=1"));
	assert_true(statement.has_observed);
	assert_true(statement.observed_ns == 621504.5);
	assert_true(ks_span_is(statement.environment, "A100, driver 535"));
	assert_false(statement.has_rerun);
	assert_int_equal(statement.reason, KS_REASON_NONE);
	ks_statement_release(&statement);
	read_from(anew, &statement);
	id = id_of(OTHER);
	assert_int_equal(statement.type, KS_STATEMENT_RERUN);
	assert_true(statement.has_rerun);
	assert_true(ks_id_equal(&statement.rerun, &id));
	assert_null(statement.body.data);
	assert_null(statement.evidence_url.data);
	assert_null(statement.environment.data);
	assert_false(statement.has_observed);
	ks_statement_release(&statement);
	read_from(wanted, &statement);
	assert_int_equal(statement.reason, KS_REASON_LICENSE_ISSUE);
	ks_statement_release(&statement);
	ks_statement_release(&statement);
}

static void
every_type_and_reason_has_its_name(void **state)
{
	static const char *const types[] = { "reproduced",
		"could_not_reproduce", "environment_note",
		"regression_observed", "correction_wanted", "rerun" };
	static const char *const reasons[] = { "incorrect_result",
		"wrong_attribution", "license_issue", "comparability",
		"other" };
	struct ks_error err = KS_ERROR_INIT;
	enum ks_statement_reason reason;
	enum ks_statement_type type;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(types); i++) {
		assert_int_equal(ks_statement_type_parse(
			ks_span_text(types[i]), &type, NULL), KS_OK);
		assert_int_equal(type, i);
		assert_string_equal(ks_statement_type_name(type), types[i]);
	}
	for (i = 0; i < COUNT(reasons); i++) {
		assert_int_equal(ks_statement_reason_parse(
			ks_span_text(reasons[i]), &reason, NULL), KS_OK);
		assert_int_equal(reason, i + 1);
		assert_string_equal(ks_statement_reason_name(reason),
			reasons[i]);
	}
	assert_string_equal(ks_statement_reason_name(KS_REASON_NONE), "");
	assert_int_equal(ks_statement_type_parse(ks_span_text("Rerun\n"),
		&type, &err), KS_INVALID);
	assert_string_equal(err.message, "the type must be reproduced, "
		"could_not_reproduce, environment_note, regression_observed, "
		"correction_wanted or rerun, not \"Rerun\\x0a\"");
	assert_int_equal(ks_statement_reason_parse(ks_span(NULL, 0), &reason,
		&err), KS_INVALID);
	assert_string_equal(err.message, "the reason must be "
		"incorrect_result, wrong_attribution, license_issue, "
		"comparability or other, not \"\"");
}

/* ---- texts -------------------------------------------------------------- */

static void
put_times(const char *text, size_t count, struct ks_buf *out)
{
	while (count-- > 0)
		ks_buf_text(out, text);
}

static void
blanks_around_texts_are_taken_away(void **state)
{
	struct ks_statement statement = observation();
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	statement.body = ks_span_text(BOM " \t\r\n\v\f" NBSP
		IDEOGRAPHIC_SPACE "Same here." IDEOGRAPHIC_SPACE NBSP BOM
		"\xe2\x80\xa8\n");
	statement.environment = ks_span_text(" \n" NBSP);
	statement.author = ks_span_text(" Ada\xe2\x80\x89");
	write_to(&statement, &out);
	assert_string_equal(ks_buf_cstr(&out), smallest);
	/* ECMAScript's trim() leaves U+0085, and so does this. */
	statement.body = ks_span_text(NEXT_LINE "a" NEXT_LINE);
	write_to(&statement, &out);
	assert_non_null(strstr(ks_buf_cstr(&out),
		"\"body\":\"" NEXT_LINE "a" NEXT_LINE "\""));
	ks_buf_release(&out);
}

static void
blanks_around_texts_are_not_read_either(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_statement statement;

	(void)state;
	read_from(STATEMENT("{" AT ",'author':' Ada" NBSP "','body':"
		"'\\n Same here.\\t','environment':'\\r','type':"
		"'reproduced'}"), &statement);
	assert_true(ks_span_is(statement.body, "Same here."));
	assert_true(ks_span_is(statement.author, "Ada"));
	assert_int_equal(statement.environment.len, 0);
	write_to(&statement, &out);
	assert_string_equal(ks_buf_cstr(&out), smallest);
	ks_statement_release(&statement);
	ks_buf_release(&out);
}

static void
a_body_must_not_be_blank_nor_too_long(void **state)
{
	static const char *const blank[] = { "", " ", "\n\t", NBSP BOM };
	struct ks_statement note = observation(), claim = correction();
	struct ks_buf text = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(blank); i++) {
		note.body = claim.body = ks_span_text(blank[i]);
		assert_refused(&note, "the body must not be blank");
		assert_refused(&claim, "the body must not be blank");
	}
	note.body = claim.body = ks_span(NULL, 0);
	assert_refused(&note, "the body must not be blank");
	/* Counted after trimming, in UTF-16 units. */
	ks_buf_text(&text, "  ");
	put_times(ROCKET, 1000, &text);
	ks_buf_text(&text, " ");
	note.body = ks_buf_span(&text);
	assert_admitted(&note);
	ks_buf_text(&text, "x");
	note.body = claim.body = ks_buf_span(&text);
	assert_refused(&note, "the body must have at most 2000 UTF-16");
	assert_admitted(&claim);
	ks_buf_clear(&text);
	put_times("\xc3\xa9", 4000, &text);
	claim.body = ks_buf_span(&text);
	assert_admitted(&claim);
	ks_buf_text(&text, "x");
	claim.body = ks_buf_span(&text);
	assert_refused(&claim, "the body must have at most 4000 UTF-16");
	ks_buf_release(&text);
}

static void
texts_are_utf8_without_nul(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{ "a\0b", 3 }, { "a\xff", 2 }, { "\xed\xa0\x80", 3 },
		{ "\xc0\x80", 2 }, { "\x80\x80\x80\x80\x80", 5 },
		{ "\xf0\x9f\x9a", 3 }, { "\xff a", 3 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		struct ks_span text = ks_span(bad[i].bytes, bad[i].len);
		struct ks_statement statement = observation();

		statement.body = text;
		assert_refused(&statement, "the body must be UTF-8");
		statement = observation();
		statement.environment = text;
		assert_refused(&statement, "the environment must be UTF-8");
		statement = observation();
		statement.author = text;
		assert_refused(&statement, i == 0 ? "control characters" :
			"the author's name must be UTF-8");
	}
	assert_unread(STATEMENT("{" BY ",'body':'a\\u0000b','type':"
		"'reproduced'}"), KS_INVALID, "the body must be UTF-8");
}

static void
an_environment_is_cut_between_characters(void **state)
{
	struct ks_statement statement = observation(), back;
	struct ks_buf text = KS_BUF_INIT, out = KS_BUF_INIT;
	struct ks_buf again = KS_BUF_INIT;

	(void)state;
	/* 198 + 1 units, and the next character has two. */
	ks_buf_text(&text, " ");
	put_times("x", 198, &text);
	ks_buf_text(&text, "y" ROCKET);
	statement.environment = ks_buf_span(&text);
	write_to(&statement, &out);
	assert_int_equal(ks_statement_parse(ks_buf_span(&out), &back, NULL),
		KS_OK);
	assert_int_equal(back.environment.len, 199);
	ks_statement_release(&back);
	/* A blank that comes to stand at the end goes, too. */
	ks_buf_clear(&text);
	put_times("x", 150, &text);
	put_times(" ", 60, &text);
	ks_buf_text(&text, "y");
	statement.environment = ks_buf_span(&text);
	write_to(&statement, &out);
	assert_int_equal(ks_statement_parse(ks_buf_span(&out), &back, NULL),
		KS_OK);
	assert_int_equal(back.environment.len, 150);
	write_to(&back, &again);
	assert_true(ks_span_equal(ks_buf_span(&out), ks_buf_span(&again)));
	ks_statement_release(&back);
	ks_buf_release(&text);
	ks_buf_release(&out);
	ks_buf_release(&again);
}

static void
an_author_has_a_name_of_one_line(void **state)
{
	struct ks_statement statement = observation();
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	statement.author = ks_span_text(" \n");
	assert_refused(&statement, "the author's name must not be blank");
	statement.author = ks_span(NULL, 0);
	assert_refused(&statement, "the author's name must not be blank");
	statement.author = ks_span_text("A\nda");
	assert_refused(&statement, "control characters");
	statement.author = ks_span_text("A\x7f");
	assert_refused(&statement, "control characters");
	put_times(ROCKET, 100, &text);
	statement.author = ks_buf_span(&text);
	assert_admitted(&statement);
	ks_buf_text(&text, "x");
	statement.author = ks_buf_span(&text);
	assert_refused(&statement, "at most 200 UTF-16");
	ks_buf_release(&text);
}

/* ---- values ------------------------------------------------------------- */

static void
evidence_is_an_https_url_without_blanks(void **state)
{
	static const char *const bad[] = {
		"", "x", "https:/", "https://", "HTTPS://example.org",
		" https://example.org", "https://example.org ",
		"https://exa mple.org", "https://a\nb", "https://a\tb",
		"https://a" NBSP "b", "https://a" BOM, "https://"
			IDEOGRAPHIC_SPACE, "ftp://example.org", "http://",
		"http:// ", "http:/a", "javascript:https://x",
	};
	struct ks_statement note = observation(), claim = correction();
	struct ks_buf text = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		note.evidence_url = claim.evidence_url = ks_span_text(bad[i]);
		assert_refused(&note, "the evidence URL must begin with "
			"https:// and have no blank, not \"");
		assert_refused(&claim, "the evidence URL must begin with "
			"http:// or https:// and have no blank, not \"");
	}
	note.evidence_url = claim.evidence_url = ks_span_text("http://a");
	assert_refused(&note, "https://");
	assert_admitted(&claim);
	note.evidence_url = ks_span_text("https://a");
	assert_admitted(&note);
	ks_buf_text(&text, "https://");
	put_times("x", 1992, &text);
	note.evidence_url = ks_buf_span(&text);
	assert_admitted(&note);
	ks_buf_text(&text, "x");
	note.evidence_url = ks_buf_span(&text);
	assert_refused(&note, "the evidence URL must have at most 2000");
	note.evidence_url = ks_span_text("https://a\xff");
	assert_refused(&note, "the evidence URL must be UTF-8");
	ks_buf_release(&text);
}

static void
an_observed_value_is_finite_and_above_0(void **state)
{
	static const double good[] = { 621504, 0.5, 5e-324, DBL_MAX, 1e21 };
	const double bad[] = { 0, -0.0, -1, -5e-324, (double)INFINITY,
		-(double)INFINITY, (double)NAN };
	struct ks_statement statement = observation(), back;
	struct ks_buf out = KS_BUF_INIT;
	size_t i;

	(void)state;
	statement.has_observed = true;
	for (i = 0; i < COUNT(bad); i++) {
		statement.observed_ns = bad[i];
		assert_refused(&statement, "the observed value must be a "
			"finite number of nanoseconds above 0");
	}
	for (i = 0; i < COUNT(good); i++) {
		statement.observed_ns = good[i];
		write_to(&statement, &out);
		assert_int_equal(ks_statement_parse(ks_buf_span(&out), &back,
			NULL), KS_OK);
		assert_true(back.observed_ns == good[i]);
		ks_statement_release(&back);
	}
	assert_unread(STATEMENT("{" BY ",'body':'x','observedNs':0,'type':"
		"'reproduced'}"), KS_INVALID, "above 0");
	assert_unread(STATEMENT("{" BY ",'body':'x','observedNs':'7','type':"
		"'reproduced'}"), KS_INVALID,
		"observedNs must be a number, not a string");
	assert_unread(STATEMENT("{" BY ",'body':'x','observedNs':null,'type':"
		"'reproduced'}"), KS_INVALID,
		"observedNs must be a number, not null");
	ks_buf_release(&out);
}

static void
a_time_is_one_that_can_be_written(void **state)
{
	struct ks_statement statement = observation();

	(void)state;
	statement.at = INT64_MAX;
	assert_refused(&statement, "the years 0000 to 9999");
	statement.at = INT64_MIN;
	assert_refused(&statement, "the years 0000 to 9999");
	statement.at = -1;
	assert_admitted(&statement);
}

/* ---- what a type has ---------------------------------------------------- */

static void
a_correction_has_a_reason_and_nothing_observed(void **state)
{
	struct ks_statement statement = correction();

	(void)state;
	statement.reason = KS_REASON_NONE;
	assert_refused(&statement, "the reason must be incorrect_result, ");
	statement = correction();
	statement.has_observed = true;
	statement.observed_ns = 1;
	assert_refused(&statement,
		"a statement of the type correction_wanted has no observedNs");
	statement = correction();
	statement.environment = ks_span_text("x");
	assert_refused(&statement, "has no environment");
	statement = observation();
	statement.reason = KS_REASON_OTHER;
	assert_refused(&statement,
		"a statement of the type reproduced has no reason");
}

static void
a_rerun_names_another_run_and_nothing_else(void **state)
{
	struct ks_statement statement = rerun();

	(void)state;
	assert_admitted(&statement);
	statement.rerun = statement.subject;
	assert_refused(&statement, "a run must not be its own rerun");
	statement.has_rerun = false;
	assert_refused(&statement, "must name the new run");
	statement = rerun();
	statement.body = ks_span_text("");
	assert_refused(&statement, "a statement of the type rerun has no body");
	statement = rerun();
	statement.evidence_url = ks_span_text("https://a");
	assert_refused(&statement, "has no evidenceUrl");
	statement = rerun();
	statement.environment = ks_span_text(" ");
	assert_refused(&statement, "has no environment");
	statement = rerun();
	statement.has_observed = true;
	statement.observed_ns = 1;
	assert_refused(&statement, "has no observedNs");
	statement = rerun();
	statement.reason = KS_REASON_OTHER;
	assert_refused(&statement, "has no reason");
	statement = observation();
	statement.has_rerun = true;
	statement.rerun = id_of(OTHER);
	assert_refused(&statement, "type reproduced has no rerun");
}

/* ---- admission ---------------------------------------------------------- */

/* Everything is wrong at first; put right what is complained of. */
static void
the_first_rule_that_is_broken_is_the_one_reported(void **state)
{
	struct ks_statement_facts facts = { .filed = KS_STATEMENT_PER_DAY };
	struct ks_statement statement = observation();
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	statement.body = ks_span_text(" ");
	statement.evidence_url = ks_span_text("http://a");
	statement.has_observed = true;
	statement.author = ks_span(NULL, 0);
	statement.at = INT64_MAX;
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "the body must not be blank"));
	statement.body = ks_span_text("x");
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "the evidence URL must begin"));
	statement.evidence_url = ks_span_text("https://a");
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "the observed value must be"));
	statement.observed_ns = 1;
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_NOT_FOUND);
	assert_string_equal(err.message,
		"the subject sha256:" HEX " is not published");
	facts.subject = ks_span_text(SERVING);
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_string_equal(err.message,
		"20 were filed in the last 24 hours, and 20 are the limit");
	facts.filed--;
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "the author's name"));
	statement.author = ks_span_text("Ada");
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "the years"));
	statement.at = NOON;
	assert_int_equal(ks_statement_admit(&statement, &facts, &err), KS_OK);
}

static void
a_text_is_judged_in_the_same_order(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} steps[] = {
		{ STATEMENT("{'at':1,'author':1,'body':1,'environment':1,"
			"'evidenceUrl':1,'observedNs':'','type':'x'}"),
			"the type must be" },
		{ STATEMENT("{'at':1,'author':1,'body':1,'environment':1,"
			"'evidenceUrl':1,'observedNs':'','reason':1,"
			"'type':'reproduced'}"), "reason must be a string" },
		{ STATEMENT("{'at':1,'author':1,'body':1,'environment':1,"
			"'evidenceUrl':1,'observedNs':'','type':"
			"'reproduced'}"), "body must be a string, not a" },
		{ STATEMENT("{'at':1,'author':1,'body':' ','environment':1,"
			"'evidenceUrl':1,'observedNs':'','type':"
			"'reproduced'}"), "the body must not be blank" },
		{ STATEMENT("{'at':1,'author':1,'body':'a','environment':1,"
			"'evidenceUrl':1,'observedNs':'','type':"
			"'reproduced'}"), "evidenceUrl must be a string" },
		{ STATEMENT("{'at':1,'author':1,'body':'a','environment':1,"
			"'evidenceUrl':'','observedNs':'','type':"
			"'reproduced'}"), "the evidence URL must begin" },
		{ STATEMENT("{'at':1,'author':1,'body':'a','environment':1,"
			"'observedNs':'','type':'reproduced'}"),
			"observedNs must be a number" },
		{ STATEMENT("{'at':1,'author':1,'body':'a','environment':1,"
			"'observedNs':-1,'type':'reproduced'}"),
			"the observed value" },
		{ STATEMENT("{'at':1,'author':1,'body':'a','environment':1,"
			"'type':'reproduced'}"),
			"environment must be a string" },
		{ STATEMENT("{'at':1,'author':1,'body':'a','rerun':'sha256:"
			OTHER "','type':'reproduced'}"), "has no rerun" },
		{ STATEMENT("{'at':1,'author':1,'body':'a','type':"
			"'reproduced'}"), "author must be a string" },
		{ STATEMENT("{'at':1,'body':'a','type':'reproduced'}"),
			"the author's name must not be blank" },
		{ STATEMENT("{'at':1,'author':'Ada','body':'a','type':"
			"'reproduced'}"), "at must be a string" },
		{ STATEMENT("{'at':'2026-12-01','author':'Ada','body':'a',"
			"'type':'reproduced'}"), "the time must be in" },
		{ STATEMENT("{'author':'Ada','body':'a','type':"
			"'reproduced'}"), "the time must be in the form" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(steps); i++)
		assert_unread(steps[i].text, KS_INVALID, steps[i].says);
}

static void
only_corrections_are_about_anything_but_runs(void **state)
{
	static const struct {
		const char *kind;
		bool run, record;
	} kinds[] = {
		{ RUN, true, true },
		{ SERVING, true, true },
		{ PROJECT, false, true },
		{ "kistore/v1/Attestation", false, true },
		{ "example.org/v9/Unheard", false, true },
		{ "raw", false, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(kinds); i++) {
		struct ks_statement_facts facts = good_facts();
		struct ks_statement note = observation();
		struct ks_statement claim = correction();
		struct ks_buf out = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		facts.subject = facts.rerun = ks_span_text(kinds[i].kind);
		note.kind = claim.kind = facts.subject;
		assert_int_equal(ks_statement_admit(&note, &facts, &err) ==
			KS_OK, kinds[i].run);
		if (!kinds[i].run)
			assert_non_null(strstr(err.message, "a statement of "
				"the type reproduced is about a run, not "
				"about a "));
		assert_int_equal(ks_statement_write(&note, &out, NULL) ==
			KS_OK, kinds[i].run);
		note = rerun();
		assert_int_equal(ks_statement_admit(&note, &facts, NULL) ==
			KS_OK, kinds[i].run);
		assert_int_equal(ks_statement_admit(&claim, &facts, NULL) ==
			KS_OK, kinds[i].record);
		assert_int_equal(ks_statement_write(&claim, &out, NULL) ==
			KS_OK, kinds[i].record);
		ks_buf_release(&out);
	}
}

static void
a_rerun_is_published_and_of_the_same_kind(void **state)
{
	struct ks_statement_facts facts = good_facts();
	struct ks_statement statement = rerun();
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	facts.filed = 1000000;	/* of reruns any number */
	assert_int_equal(ks_statement_admit(&statement, &facts, &err), KS_OK);
	facts.rerun = ks_span_text(SERVING);
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "the rerun must be of the kind "
		"of its subject, not a " SERVING));
	facts.rerun = ks_span(NULL, 0);
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_NOT_FOUND);
	assert_string_equal(err.message,
		"the rerun sha256:" OTHER " is not published");
	/* What a statement is by itself is judged first. */
	statement.rerun = statement.subject;
	assert_int_equal(ks_statement_admit(&statement, &facts, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "its own rerun"));
}

static void
a_kind_that_cannot_be_a_name_is_not_written(void **state)
{
	struct ks_statement statement = correction();
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT, text = KS_BUF_INIT;

	(void)state;
	statement.kind = ks_span(NULL, 0);
	assert_int_equal(ks_statement_write(&statement, &out, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "the subject's kind"));
	statement.kind = ks_span_text("a\nb/c");
	assert_int_equal(ks_statement_write(&statement, &out, &err),
		KS_INVALID);
	put_times("x", KS_STATEMENT_KIND_MAX, &text);
	statement.kind = ks_buf_span(&text);
	assert_int_equal(ks_statement_write(&statement, &out, &err), KS_OK);
	ks_buf_text(&text, "x");
	statement.kind = ks_buf_span(&text);
	assert_int_equal(ks_statement_write(&statement, &out, &err),
		KS_INVALID);
	assert_non_null(strstr(err.message, "at most 257"));
	statement.kind = ks_span_text("a\"\\/b");
	ks_buf_clear(&out);
	assert_int_equal(ks_statement_write(&statement, &out, &err), KS_OK);
	assert_non_null(strstr(ks_buf_cstr(&out),
		"\"name\":\"a\\\"\\\\/b\"}]}"));
	ks_buf_release(&out);
	ks_buf_release(&text);
}

/* ---- reading ------------------------------------------------------------ */

#define FRAME(type, subject, rest) \
	"{'_type':'https://in-toto.io/Statement/" type "'" rest \
	",'subject':" subject "}"
#define OURS ",'predicate':{},'predicateType':'" KS_STATEMENT_PREDICATE "'"

static void
what_is_no_statement_about_one_record_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "", "the statement: must be JSON text: " },
		{ "{", "the statement: must be JSON text: " },
		{ "{'a':1,'a':1}", "must be JSON text: " },
		{ "7", "the statement: must be an in-toto Statement v1" },
		{ "[]", "must be an in-toto Statement v1" },
		{ "{}", "must be an in-toto Statement v1" },
		{ FRAME("v0.1", "[" SUBJECT "]", OURS),
			"must be an in-toto Statement v1" },
		{ FRAME("v1", "[" SUBJECT "]", ""),
			"must state a predicateType" },
		{ FRAME("v1", "[" SUBJECT "]", ",'predicateType':1"),
			"must state a predicateType" },
		{ FRAME("v1", "[" SUBJECT "]", ",'predicate':1,"
			"'predicateType':'x'"),
			"must have an object as its predicate" },
		{ FRAME("v1", "[]", OURS), "must state exactly one subject" },
		{ FRAME("v1", "{}", OURS), "must state exactly one subject" },
		{ FRAME("v1", "[" SUBJECT "," SUBJECT "]", OURS),
			"must state exactly one subject" },
		{ FRAME("v1", "[{'digest':{'gitCommit':'" HEX "'}}]", OURS),
			"must give its subject's sha256 digest" },
		{ FRAME("v1", "[{'digest':{'sha256':'C3'}}]", OURS),
			"must give its subject's sha256 digest" },
		{ FRAME("v1", "['" HEX "']", OURS),
			"must give its subject's sha256 digest" },
		{ FRAME("v1", "[" SUBJECT "]", OURS), "the type must be" },
		{ FRAME("v1", "[" SUBJECT "]", ",'predicateType':'"
			KS_STATEMENT_PREDICATE "'"), "the type must be" },
		{ FRAME("v1", "[" SUBJECT "]", ",'predicate':{'type':1},"
			"'predicateType':'" KS_STATEMENT_PREDICATE "'"),
			"type must be a string, not a number" },
		{ STATEMENT("{" BY ",'body':'a','reason':'why','type':"
			"'correction_wanted'}"), "the reason must be" },
		{ STATEMENT("{" BY ",'body':'a','type':'correction_wanted'}"),
			"the reason must be" },
		{ STATEMENT("{" BY ",'rerun':'" OTHER "','type':'rerun'}"),
			"the rerun must be a digest (\"sha256:\"" },
		{ STATEMENT("{" BY ",'rerun':{},'type':'rerun'}"),
			"rerun must be a string, not an object" },
		{ STATEMENT("{" BY ",'type':'rerun'}"),
			"must name the new run" },
		{ STATEMENT("{" BY ",'rerun':'sha256:" HEX "','type':"
			"'rerun'}"), "its own rerun" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++)
		assert_unread(bad[i].text, KS_INVALID, bad[i].says);
}

static void
a_statement_that_is_not_canonical_is_refused(void **state)
{
	(void)state;
	assert_unread(STATEMENT("{" BY ", 'body':'a','type':'reproduced'}"),
		KS_INVALID, "not in canonical form");
	assert_unread(STATEMENT("{" BY ",'body':'\\u0061','type':"
		"'reproduced'}"), KS_INVALID, "not in canonical form");
	assert_unread(STATEMENT("{'author':'Ada'," AT ",'body':'a','type':"
		"'reproduced'}"), KS_INVALID, "not in canonical form");
	assert_unread(STATEMENT("{" BY ",'body':'a','observedNs':1.0,'type':"
		"'reproduced'}"), KS_INVALID, "not in canonical form");
	assert_unread(STATEMENT("{" BY ",'body':'a','type':'reproduced'}")
		"\n", KS_INVALID, "not in canonical form");
}

/* What another party says in its own words is no fault, in whatever form. */
static void
another_predicate_type_is_told_apart(void **state)
{
	(void)state;
	assert_unread(STATEMENT_OF("{}", "https://example.org/p/v1", SUBJECT),
		KS_UNSUPPORTED, "another one, https://example.org/p/v1");
	assert_unread(" " STATEMENT_OF("{'z':1.50,'a':null}",
		"https://example.org/p/v1", SUBJECT) "\n", KS_UNSUPPORTED,
		"another one");
	assert_unread(STATEMENT_OF("{}", KS_STATEMENT_PREDICATE "0", SUBJECT),
		KS_UNSUPPORTED, "attestation/v10");
	assert_unread(FRAME("v1", "[" SUBJECT "]", ",'predicateType':"
		"'a\\u001bb'"), KS_UNSUPPORTED, "a\\u001bb");
}

static void
members_that_are_not_known_are_ignored(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_statement statement;

	(void)state;
	read_from("{'_type':'https://in-toto.io/Statement/v1','a':[null],"
		"'predicate':{" BY ",'body':'Same here.','bodyx':1,'type':"
		"'reproduced','typf':{}},'predicateType':'"
		KS_STATEMENT_PREDICATE "','subject':[{'digest':{'md5':'x',"
		"'sha256':'" HEX "'},'name':'" RUN "','uri':7}]}", &statement);
	write_to(&statement, &out);
	assert_string_equal(ks_buf_cstr(&out), smallest);
	ks_statement_release(&statement);
	ks_buf_release(&out);
}

/* in-toto matches by digest alone. */
static void
the_subjects_name_is_no_more_than_a_claim(void **state)
{
	static const char *const subjects[] = {
		"{'digest':{'sha256':'" HEX "'}}",
		"{'digest':{'sha256':'" HEX "'},'name':7}",
		"{'digest':{'sha256':'" HEX "'},'name':''}",
		"{'digest':{'sha256':'" HEX "'},'name':'_'}",
		"{'digest':{'sha256':'" HEX "'},'name':'a\\u001b\\u0000'}",
	};
	static const size_t lengths[] = { 0, 0, 0, 1, 3 };
	struct ks_statement_facts facts = good_facts();
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(subjects); i++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_statement statement;

		ks_buf_text(&text, "{'_type':'https://in-toto.io/Statement/v1'"
			",'predicate':{" BY ",'body':'a','type':'reproduced'},"
			"'predicateType':'" KS_STATEMENT_PREDICATE "',"
			"'subject':[");
		ks_buf_text(&text, subjects[i]);
		ks_buf_text(&text, "]}");
		read_from(ks_buf_cstr(&text), &statement);
		assert_int_equal(statement.kind.len, lengths[i]);
		assert_int_equal(ks_statement_admit(&statement, &facts, NULL),
			KS_OK);
		ks_statement_release(&statement);
		ks_buf_release(&text);
	}
}

/* ---- the vectors, and envelopes ----------------------------------------- */

/* Two subjects, one of them by a git id only: a Statement, but none that an
 * Attestation may carry (K31). With the other subject alone it is one. */
static void
the_statement_of_the_vectors_has_a_subject_too_many(void **state)
{
	struct ks_buf file = KS_BUF_INIT, canonical = KS_BUF_INIT;
	struct ks_buf one = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_statement_frame frame;
	struct ks_statement statement;
	struct ks_span vector, first, second;
	struct ks_json_iter it;
	struct ks_id id;

	(void)state;
	vector_read("intoto_statement.json", &file);
	assert_int_equal(ks_statement_frame(ks_buf_span(&file), &canonical,
		&frame, &err), KS_INVALID);
	assert_string_equal(err.message, "must state exactly one subject");
	vector = vector_json(&file);
	it = ks_json_iter(vector_member(vector, "subject"));
	assert_true(ks_json_next_element(&it, &first));
	assert_true(ks_json_next_element(&it, &second));
	ks_buf_append(&one, ks_span(vector.data,
		(size_t)(first.data - vector.data)));
	ks_buf_append(&one, second);
	ks_buf_text(&one, "]}");
	assert_int_equal(ks_statement_frame(ks_buf_span(&one), &canonical,
		&frame, &err), KS_OK);
	id = id_of("0a3e13f4da85dc6dc4fc18e4766e4257f8ac623f70dff476f5508141"
		"20d5209f");
	assert_true(ks_id_equal(&frame.subject, &id));
	assert_true(ks_span_is(frame.name, "entry-42"));
	assert_true(ks_span_is(frame.predicate_type,
		"https://archive.example/attestation/snapshot/v1"));
	assert_true(ks_span_equal(frame.predicate,
		vector_member(vector, "predicate")));
	assert_int_equal(ks_statement_parse(ks_buf_span(&one), &statement,
		NULL), KS_UNSUPPORTED);
	ks_buf_release(&file);
	ks_buf_release(&canonical);
	ks_buf_release(&one);
}

/* The payload in the envelopes of the vectors is that same statement. */
static void
the_payload_of_the_vectors_is_that_statement(void **state)
{
	struct ks_buf file = KS_BUF_INIT, text = KS_BUF_INIT;
	struct ks_buf wanted_text = KS_BUF_INIT, found = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span item;
	struct ks_dsse dsse;

	(void)state;
	vector_read("intoto_statement.json", &wanted_text);
	vector_read("dsse.json", &file);
	it = ks_json_iter(vector_member(vector_json(&file), "cases"));
	assert_true(ks_json_next_element(&it, &item));
	(void)vector_unescape(vector_member(item, "envelope"), &text);
	assert_int_equal(ks_dsse_parse(vector_json(&text), &dsse, NULL),
		KS_OK);
	assert_true(ks_span_is(dsse.type, KS_STATEMENT_PAYLOAD_TYPE));
	ks_buf_append(&found, dsse.payload);
	assert_true(ks_span_equal(vector_json(&found),
		vector_json(&wanted_text)));
	ks_dsse_release(&dsse);
	ks_buf_release(&file);
	ks_buf_release(&text);
	ks_buf_release(&found);
	ks_buf_release(&wanted_text);
}

/* Made by openssl pkeyutl over the text of `anew`, by the key whose seed is 32
 * times 07. */
static const char signed_rerun[] = "{\"payload\":\"eyJfdHlwZSI6Imh0dHBzOi8vaW4t"
	"dG90by5pby9TdGF0ZW1lbnQvdjEiLCJwcmVkaWNhdGUiOnsiYXQiOiIyMDI2LTEyLTAxV"
	"DEyOjAwOjAwWiIsImF1dGhvciI6IlJ1bm5lciAxIiwicmVydW4iOiJzaGEyNTY6MjFkZj"
	"BiNjUwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA"
	"wMDAwMDAwMCIsInR5cGUiOiJyZXJ1biJ9LCJwcmVkaWNhdGVUeXBlIjoiaHR0cHM6Ly9r"
	"ZXJuZWxpbmRleC5jb20va2lzdG9yZS9hdHRlc3RhdGlvbi92MSIsInN1YmplY3QiOlt7I"
	"mRpZ2VzdCI6eyJzaGEyNTYiOiJjMzI1MmE5OGJhNDg3MDc1ZjEyMDQ3ZThmYzFlY2Q2ZG"
	"MxNTZhOTE0NGU1ZmM1YTY2MTlkZTY5NTQ0MTZmY2Y2In0sIm5hbWUiOiJrZXJuZWxpbmR"
	"leC5kZXYvdjFhbHBoYTEvQmVuY2htYXJrUnVuIn1dfQ==\",\"payloadType\":\"app"
	"lication/vnd.in-toto+json\",\"signatures\":[{\"keyid\":\"runner.examp"
	"le/r1+8e54103b\",\"sig\":\"GOyRKRlF9sBiS4CDFx/Uhmm/TfLHpSrKqpoStD5+dy"
	"zL/cuDlI3SdAI7B7DLnVEwlRiA5U1fdm6P8p+eVFNMDA==\"}]}";

static void
a_signed_rerun_is_the_envelope_that_openssl_makes(void **state)
{
	struct ks_buf payload = KS_BUF_INIT, envelope = KS_BUF_INIT;
	struct ks_statement statement = rerun(), back;
	struct ks_secret_key secret;
	struct ks_vkey vkey;
	struct ks_dsse dsse;

	(void)state;
	trust_make("runner.example/r1", KS_SIGNATURE_ED25519, 7, &vkey,
		&secret);
	statement.author = ks_span_text("Runner 1");
	write_to(&statement, &payload);
	assert_int_equal(ks_dsse_make(ks_span_text(KS_STATEMENT_PAYLOAD_TYPE),
		ks_buf_span(&payload), ks_span_text(vkey.name), &secret,
		&envelope, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&envelope), signed_rerun);
	assert_int_equal(ks_dsse_parse(ks_buf_span(&envelope), &dsse, NULL),
		KS_OK);
	assert_int_equal(ks_dsse_verify(&dsse, &vkey, NULL), KS_OK);
	assert_int_equal(ks_statement_parse(dsse.payload, &back, NULL), KS_OK);
	assert_true(ks_id_equal(&back.rerun, &statement.rerun));
	ks_statement_release(&back);
	ks_dsse_release(&dsse);
	ks_buf_release(&payload);
	ks_buf_release(&envelope);
}

static bool
take_reference(void *arg, const struct ks_reference *reference)
{
	*(struct ks_id *)arg = reference->target;
	return true;
}

/* K31: what is made here is an Attestation about its subject. */
static void
an_envelope_around_a_statement_makes_an_attestation(void **state)
{
	const struct ks_kind *kind = ks_kind_find_full(
		ks_span_text("kistore/v1/Attestation"));
	struct ks_buf spec = KS_BUF_INIT;
	struct ks_id found, id = id_of(HEX);

	(void)state;
	memset(&found, 0, sizeof(found));
	ks_buf_printf(&spec, "{\"envelope\":%s}", signed_rerun);
	assert_true(ks_kind_check_spec(kind, ks_buf_span(&spec), NULL, NULL));
	assert_true(ks_kind_references(kind, ks_buf_span(&spec),
		take_reference, &found));
	assert_true(ks_id_equal(&found, &id));
	ks_buf_release(&spec);
}

/* Every prefix of a statement, and every byte of it put wrong. */
static void
hostile_bytes_are_read_without_harm(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 2 * sizeof(largest); i++) {
		size_t len = i < sizeof(largest) ? i : sizeof(largest) - 1;
		uint8_t *bytes = malloc(len > 0 ? len : 1);
		struct ks_statement statement;

		assert_non_null(bytes);
		memcpy(bytes, largest, len);
		if (i > sizeof(largest))
			bytes[i - sizeof(largest) - 1] ^= 0x81;
		if (ks_statement_parse(ks_span(bytes, len), &statement,
			NULL) == KS_OK)
			ks_statement_release(&statement);
		free(bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_statement_is_one_text),
		cmocka_unit_test(
			what_is_written_is_canonical_and_read_as_it_was_meant),
		cmocka_unit_test(each_member_is_read),
		cmocka_unit_test(every_type_and_reason_has_its_name),
		cmocka_unit_test(blanks_around_texts_are_taken_away),
		cmocka_unit_test(blanks_around_texts_are_not_read_either),
		cmocka_unit_test(a_body_must_not_be_blank_nor_too_long),
		cmocka_unit_test(texts_are_utf8_without_nul),
		cmocka_unit_test(an_environment_is_cut_between_characters),
		cmocka_unit_test(an_author_has_a_name_of_one_line),
		cmocka_unit_test(evidence_is_an_https_url_without_blanks),
		cmocka_unit_test(an_observed_value_is_finite_and_above_0),
		cmocka_unit_test(a_time_is_one_that_can_be_written),
		cmocka_unit_test(
			a_correction_has_a_reason_and_nothing_observed),
		cmocka_unit_test(a_rerun_names_another_run_and_nothing_else),
		cmocka_unit_test(
			the_first_rule_that_is_broken_is_the_one_reported),
		cmocka_unit_test(a_text_is_judged_in_the_same_order),
		cmocka_unit_test(only_corrections_are_about_anything_but_runs),
		cmocka_unit_test(a_rerun_is_published_and_of_the_same_kind),
		cmocka_unit_test(a_kind_that_cannot_be_a_name_is_not_written),
		cmocka_unit_test(
			what_is_no_statement_about_one_record_is_refused),
		cmocka_unit_test(a_statement_that_is_not_canonical_is_refused),
		cmocka_unit_test(another_predicate_type_is_told_apart),
		cmocka_unit_test(members_that_are_not_known_are_ignored),
		cmocka_unit_test(the_subjects_name_is_no_more_than_a_claim),
		cmocka_unit_test(
			the_statement_of_the_vectors_has_a_subject_too_many),
		cmocka_unit_test(the_payload_of_the_vectors_is_that_statement),
		cmocka_unit_test(
			a_signed_rerun_is_the_envelope_that_openssl_makes),
		cmocka_unit_test(
			an_envelope_around_a_statement_makes_an_attestation),
		cmocka_unit_test(hostile_bytes_are_read_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
