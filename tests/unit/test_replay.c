#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/json.h"
#include "format/replay.h"

#define KI "kernelindex.dev/v1alpha1/"
#define RUN KI "BenchmarkRun"
#define IMPLEMENTATION KI "ImplementationRevision"
#define PROJECT KI "SoftwareProject"
#define SOURCE "kistore/v1/Source"
#define ARTIFACT "kistore/v1/Artifact"
#define NOON "2026-08-22T12:00:00Z"
#define ID_X "01234567-89ab-cdef-0123-456789abcdef"
#define ID_Y "11234567-89ab-cdef-0123-456789abcdef"
#define HASH \
	"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define NAME "archive.example/log"
#define VKEY NAME "+f8ca281c+Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up"
#define COSIGNER \
	"witness.example/w1+44d58d5d+" \
	"BAvCPfs2bIz6Yj2LPVfBDQ+bQOtqa2zrFNapuSnvGnVH"

/* A log that grows line by line. */
struct log {
	struct ks_jcs *jcs;
	struct ks_replay *replay;
	struct ks_entry entry;
	struct ks_error err;
	uint32_t object;
	const char *at;		/* the time of the lines to come */
	const char *extra;	/* what a publish or annotate line says more:
				 * ",\"provenance\":{…}" or "" */
	char missing[400];	/* "\"missing\":[…]," or "" */
	char text[1500];
};

static int
set_up(void **state)
{
	static struct log log;

	*state = &log;
	log = (struct log){ .at = NOON, .extra = "" };
	return ks_jcs_new(&log.jcs, NULL) == KS_OK &&
		ks_replay_new(&log.replay, NULL) == KS_OK ? 0 : -1;
}

static int
tear_down(void **state)
{
	struct log *log = *state;

	ks_replay_free(log->replay);
	ks_jcs_free(log->jcs);
	return 0;
}

/* Digest number n: n in every byte. */
static struct ks_id
digest(unsigned n)
{
	struct ks_id id;

	memset(id.bytes, (int)n, sizeof(id.bytes));
	return id;
}

static const char *
digest_text(unsigned n)
{
	static char texts[4][KS_ID_TEXT + 1];
	static size_t next;
	struct ks_id id = digest(n);

	next = (next + 1) % 4;
	return ks_id_print(&id, texts[next]);
}

static enum ks_verdict
line(struct log *log, const char *text)
{
	enum ks_verdict verdict;
	struct ks_merkle before = *ks_replay_tree(log->replay);
	struct ks_id leaf, root, expected;

	log->err = (struct ks_error)KS_ERROR_INIT;
	assert_int_equal(ks_replay_line(log->replay, log->jcs,
		ks_span_text(text), &verdict, &log->entry, &log->object,
		&log->err), KS_OK);
	/* Whatever the verdict, the leaf is in the tree. */
	if (text[0] == '-')
		assert_true(ks_id_parse_hex(&leaf, ks_span_text(text + 1)));
	else
		ks_merkle_leaf(ks_span_text(text), &leaf);
	ks_merkle_append(&before, &leaf);
	ks_merkle_root(&before, &expected);
	ks_merkle_root(ks_replay_tree(log->replay), &root);
	assert_memory_equal(&root, &expected, sizeof(root));
	if (verdict != KS_LINE_OK)
		assert_int_equal(log->object, KS_NO_OBJECT);
	return verdict;
}

static enum ks_verdict
init(struct log *log)
{
	(void)snprintf(log->text, sizeof(log->text),
		"{\"at\":\"%s\",\"format\":\"kistore/1\",\"op\":\"init\"}",
		log->at);
	return line(log, log->text);
}

static enum ks_verdict
publish(struct log *log, unsigned n, const char *kind)
{
	(void)snprintf(log->text, sizeof(log->text),
		"{\"at\":\"%s\",\"digest\":\"%s\",\"kind\":\"%s\",%s"
		"\"op\":\"publish\"%s}", log->at, digest_text(n), kind,
		log->missing, log->extra);
	log->missing[0] = '\0';
	log->extra = "";
	return line(log, log->text);
}

static enum ks_verdict
annotate(struct log *log, unsigned n)
{
	(void)snprintf(log->text, sizeof(log->text),
		"{\"at\":\"%s\",\"digest\":\"%s\",\"op\":\"annotate\"%s}",
		log->at, digest_text(n), log->extra);
	log->extra = "";
	return line(log, log->text);
}

/* retract, restore, takedown. */
static enum ks_verdict
say(struct log *log, const char *op, unsigned n)
{
	(void)snprintf(log->text, sizeof(log->text),
		"{\"at\":\"%s\",\"digest\":\"%s\",\"op\":\"%s\","
		"\"reason\":\"because\"}", log->at, digest_text(n), op);
	return line(log, log->text);
}

static const char *
takedown_text(struct log *log, unsigned n, const char *lines)
{
	(void)snprintf(log->text, sizeof(log->text),
		"{\"at\":\"%s\",\"digest\":\"%s\",\"lines\":%s,"
		"\"op\":\"takedown\",\"reason\":\"law\"}", log->at,
		digest_text(n), lines);
	return log->text;
}

static enum ks_verdict
take_down(struct log *log, unsigned n, const char *lines)
{
	return line(log, takedown_text(log, n, lines));
}

static enum ks_verdict
supersede(struct log *log, unsigned n, unsigned by)
{
	(void)snprintf(log->text, sizeof(log->text),
		"{\"at\":\"%s\",\"by\":\"%s\",\"digest\":\"%s\","
		"\"op\":\"supersede\"}", log->at, digest_text(by),
		digest_text(n));
	return line(log, log->text);
}

static enum ks_verdict
key(struct log *log, const char *vkey, const char *role)
{
	(void)snprintf(log->text, sizeof(log->text),
		"{\"at\":\"%s\",\"key\":\"%s\",\"op\":\"key\","
		"\"role\":\"%s\"}", log->at, vkey, role);
	return line(log, log->text);
}

static void
foresee(struct log *log, uint64_t index, unsigned n, const char *lines)
{
	struct ks_entry entry;

	assert_int_equal(ks_entry_parse(log->jcs, ks_span_text(
		takedown_text(log, n, lines)), &entry, NULL), KS_OK);
	assert_int_equal(ks_replay_foresee(log->replay, index, &entry, NULL),
		KS_OK);
}

/* What the next publish or annotate line says more. */
static struct log *
with_id(struct log *log, const char *id)
{
	static char text[100];

	(void)snprintf(text, sizeof(text), ",\"provenance\":{\"id\":\"%s\"}",
		id);
	log->extra = text;
	return log;
}

static struct log *
with_reference(struct log *log, const char *name, unsigned n)
{
	static char text[200];

	(void)snprintf(text, sizeof(text), ",\"provenance\":{\"%s\":\"%s\"}",
		name, digest_text(n));
	log->extra = text;
	return log;
}

static struct log *
with_missing(struct log *log, unsigned n)
{
	(void)snprintf(log->missing, sizeof(log->missing),
		"\"missing\":[\"%s\"],", digest_text(n));
	return log;
}

static struct ks_object_state *
object(struct log *log, unsigned n)
{
	struct ks_id id = digest(n);
	uint32_t number = ks_replay_find(log->replay, &id);

	assert_int_not_equal(number, KS_NO_OBJECT);
	return ks_replay_object(log->replay, number);
}

static bool
is_known(struct log *log, unsigned n)
{
	struct ks_id id = digest(n);

	return ks_replay_find(log->replay, &id) != KS_NO_OBJECT;
}

/* The number of the digest that an id resolves to; 0 = none. */
static unsigned
resolve(struct log *log, const char *text)
{
	uint8_t id[16];
	uint32_t number;

	assert_true(ks_uuid_parse(ks_span_text(text), false, id));
	number = ks_replay_find_id(log->replay, id);
	return number == KS_NO_OBJECT ? 0 :
		ks_replay_object(log->replay, number)->digest.bytes[0];
}

static void
count_report(void *arg, uint64_t index, const char *message)
{
	uint64_t *last = arg;

	assert_non_null(message);
	*last = index;
}

#define NO_REPORT 999

/* The entry that ks_replay_end() reports last. */
static uint64_t
end(struct log *log)
{
	uint64_t last = NO_REPORT;

	ks_replay_end(log->replay, count_report, &last);
	return last;
}

#define assert_ok(log, call) do { \
	if ((call) != KS_LINE_OK) \
		fail_msg("%s: %s", (log)->text, (log)->err.message); \
} while (0)

#define assert_fault(log, call, rule) do { \
	uint64_t faults_before = ks_replay_faults((log)->replay); \
	assert_int_equal(call, KS_LINE_FAULT); \
	assert_int_equal((log)->err.status, KS_CORRUPT); \
	if (strstr((log)->err.message, rule) == NULL) \
		fail_msg("%s: %s", (log)->text, (log)->err.message); \
	assert_int_equal(ks_replay_faults((log)->replay), \
		faults_before + 1); \
} while (0)

/* Entry 0, and time. */

static void
a_log_begins_with_init(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_int_equal(log->entry.op, KS_OP_INIT);
	assert_int_equal(log->object, KS_NO_OBJECT);
	assert_int_equal(ks_replay_count(log->replay, KS_OP_INIT), 1);
	assert_string_equal(ks_replay_time(log->replay), NOON);
	assert_int_equal(ks_replay_tree(log->replay)->size, 1);
	assert_int_equal(end(log), NO_REPORT);
}

static void
init_stands_nowhere_else(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_fault(log, init(log), "only entry 0");
	assert_int_equal(ks_replay_count(log->replay, KS_OP_INIT), 1);
}

static void
another_line_is_no_entry_0(void **state)
{
	struct log *log = *state;

	assert_fault(log, publish(log, 1, "raw"), "entry 0 must be init");
	assert_false(is_known(log, 1));
	assert_fault(log, init(log), "only entry 0");
	/* What follows is judged as ever. */
	assert_ok(log, publish(log, 1, "raw"));
}

static void
no_extension_line_is_entry_0(void **state)
{
	struct log *log = *state;

	assert_fault(log, line(log, "{\"at\":\"" NOON "\",\"op\":\"x-a\"}"),
		"entry 0 must be init");
}

static void
no_redacted_line_is_entry_0(void **state)
{
	struct log *log = *state;

	foresee(log, 1, 1, "[0]");
	assert_fault(log, line(log, "-" HASH), "entry 0 must be init");
}

static void
an_empty_log_is_a_fault(void **state)
{
	struct log *log = *state;

	assert_int_equal(end(log), 0);
	assert_int_equal(ks_replay_faults(log->replay), 1);
}

static void
time_may_stand_still_but_not_go_back(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, "raw"));
	log->at = "2026-08-22T11:59:59Z";
	assert_fault(log, publish(log, 2, "raw"), "at is earlier");
	assert_false(is_known(log, 2));
	assert_string_equal(ks_replay_time(log->replay), NOON);
	log->at = "2026-08-22T12:00:01Z";
	assert_ok(log, publish(log, 2, "raw"));
	assert_string_equal(ks_replay_time(log->replay),
		"2026-08-22T12:00:01Z");
}

static void
the_time_of_a_fault_does_not_count(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	log->at = "2027-01-01T00:00:00Z";
	assert_fault(log, say(log, "retract", 1), "not published");
	log->at = NOON;
	assert_ok(log, publish(log, 1, "raw"));
}

static void
the_time_of_an_extension_line_counts(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, line(log,
		"{\"at\":\"2027-01-01T00:00:00Z\",\"op\":\"x-a\"}"));
	assert_int_equal(ks_replay_count(log->replay, KS_OP_EXTENSION), 1);
	assert_fault(log, publish(log, 1, "raw"), "at is earlier");
	assert_fault(log, line(log, "{\"at\":\"" NOON "\",\"op\":\"x-a\"}"),
		"at is earlier");
}

static void
a_line_for_a_newer_version_is_counted_and_moves_only_time(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	log->extra = ",\"zone\":1";
	assert_int_equal(publish(log, 1, "raw"), KS_LINE_UNSUPPORTED);
	assert_int_equal(log->err.status, KS_UNSUPPORTED);
	assert_false(is_known(log, 1));
	assert_int_equal(line(log,
		"{\"at\":\"2027-01-01T00:00:00Z\",\"op\":\"rename\"}"),
		KS_LINE_UNSUPPORTED);
	assert_int_equal(ks_replay_unsupported(log->replay), 2);
	assert_int_equal(ks_replay_faults(log->replay), 0);
	assert_int_equal(ks_replay_tree(log->replay)->size, 3);
	assert_fault(log, publish(log, 1, "raw"), "at is earlier");
	/* An earlier one does not turn time back. */
	assert_int_equal(line(log, "{\"at\":\"" NOON "\",\"op\":\"rename\"}"),
		KS_LINE_UNSUPPORTED);
	assert_string_equal(ks_replay_time(log->replay),
		"2027-01-01T00:00:00Z");
}

static void
a_malformed_line_is_a_leaf_and_a_fault(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_fault(log, line(log, "not JSON"), "not canonical");
	assert_fault(log, line(log, ""), "not canonical");
	assert_int_equal(ks_replay_tree(log->replay)->size, 3);
}

/* publish */

static void
publish_makes_an_object(void **state)
{
	struct log *log = *state;
	struct ks_object_state *state_1;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_int_equal(log->object, 0);
	assert_ok(log, publish(log, 2, "raw"));
	assert_int_equal(log->object, 1);
	assert_int_equal(ks_replay_objects(log->replay), 2);
	state_1 = object(log, 1);
	assert_int_equal(state_1->published, 1);
	assert_int_equal(state_1->successor, KS_NO_OBJECT);
	assert_true(ks_span_is(ks_replay_kind(log->replay, state_1->kind),
		RUN));
	assert_false(state_1->retracted || state_1->superseded ||
		state_1->taken_down || state_1->redacted ||
		state_1->has_missing || state_1->seen);
	assert_true(ks_span_is(ks_replay_kind(log->replay,
		object(log, 2)->kind), "raw"));
}

static void
a_digest_is_published_once(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, "raw"));
	assert_fault(log, publish(log, 1, "raw"), "published already");
	assert_fault(log, publish(log, 1, RUN), "published already");
	assert_int_equal(ks_replay_objects(log->replay), 1);
	assert_int_equal(object(log, 1)->published, 1);
}

static void
many_kinds_keep_their_numbers(void **state)
{
	struct log *log = *state;
	unsigned i;

	assert_ok(log, init(log));
	for (i = 1; i < 200; i++) {
		char kind[20];

		(void)snprintf(kind, sizeof(kind), "a/k%u", i * 37 % 101);
		assert_ok(log, publish(log, i, kind));
	}
	for (i = 1; i < 200; i++) {
		char kind[20];

		(void)snprintf(kind, sizeof(kind), "a/k%u", i * 37 % 101);
		assert_true(ks_span_is(ks_replay_kind(log->replay,
			object(log, i)->kind), kind));
	}
	assert_int_equal(object(log, 1)->kind, object(log, 102)->kind);
	assert_int_equal(ks_replay_kind(log->replay, 60000).len, 0);
}

static void
other_ops_need_a_publish_line(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 2, "raw"));
	assert_fault(log, annotate(log, 1), "not published");
	assert_fault(log, say(log, "retract", 1), "not published");
	assert_fault(log, say(log, "restore", 1), "not published");
	assert_fault(log, say(log, "takedown", 1), "not published");
	assert_fault(log, supersede(log, 1, 2), "not published");
	assert_fault(log, supersede(log, 2, 1), "by is not published");
	/* A later publish does not mend them. */
	assert_ok(log, publish(log, 1, "raw"));
	assert_false(object(log, 1)->retracted || object(log, 1)->taken_down);
}

/* References of provenance, and missing. */

static void
a_source_is_published_before(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_fault(log, publish(with_reference(log, "source", 1), 2, RUN),
		"source is not published");
	assert_false(is_known(log, 2));
	assert_ok(log, publish(log, 1, SOURCE));
	assert_ok(log, publish(with_reference(log, "source", 1), 2, RUN));
	assert_int_equal(ks_replay_open_provenance(log->replay,
		log->object).len, 0);
}

static void
a_source_is_of_kind_source(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, ARTIFACT));
	assert_fault(log, publish(with_reference(log, "source", 1), 2, RUN),
		"source is not of kind " SOURCE);
	assert_ok(log, publish(log, 3, "kistore/v2/Source"));
	assert_fault(log, publish(with_reference(log, "source", 3), 2, RUN),
		"source is not of kind");
}

static void
a_project_is_of_kind_software_project(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, SOURCE));
	assert_ok(log, publish(log, 2, PROJECT));
	assert_fault(log, publish(with_reference(log, "project", 1), 3,
		IMPLEMENTATION), "project is not of kind " PROJECT);
	assert_fault(log, publish(with_reference(log, "project", 4), 3,
		IMPLEMENTATION), "project is not published");
	assert_ok(log, publish(with_reference(log, "project", 2), 3,
		IMPLEMENTATION));
}

static void
no_object_is_its_own_source(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_fault(log, publish(with_missing(with_reference(log, "source",
		1), 1), 1, RUN), "the object itself");
	assert_ok(log, publish(log, 1, RUN));
	log->extra = "";
	assert_fault(log, annotate(with_reference(log, "source", 1), 1),
		"the object itself");
}

static void
an_unpublished_source_is_listed_as_missing(void **state)
{
	struct log *log = *state;
	uint32_t number;
	char expected[100];

	assert_ok(log, init(log));
	assert_fault(log, publish(with_missing(with_reference(log, "source",
		1), 9), 2, RUN), "source is not published");
	assert_ok(log, publish(with_missing(with_reference(log, "source", 1),
		1), 2, RUN));
	number = log->object;
	assert_true(object(log, 2)->has_missing);
	(void)snprintf(expected, sizeof(expected), "[\"%s\"]",
		digest_text(1));
	assert_true(ks_span_is(ks_replay_missing(log->replay, number),
		expected));
	assert_true(ks_span_is(ks_replay_open_provenance(log->replay,
		number), expected));
	/* It stays as written when the source arrives, of whatever kind. */
	assert_ok(log, publish(log, 1, SOURCE));
	assert_true(ks_span_is(ks_replay_missing(log->replay, number),
		expected));
}

static void
what_a_body_misses_is_kept_for_the_caller(void **state)
{
	struct log *log = *state;
	uint32_t number;
	unsigned i;

	assert_ok(log, init(log));
	for (i = 1; i < 100; i++) {
		if (i % 3 == 0)
			(void)with_missing(log, 100 + i);
		assert_ok(log, publish(log, i, RUN));
	}
	for (i = 1; i < 100; i++) {
		struct ks_id id = digest(i);
		struct ks_span missing;
		char expected[100];

		number = ks_replay_find(log->replay, &id);
		missing = ks_replay_missing(log->replay, number);
		(void)snprintf(expected, sizeof(expected), "[\"%s\"]",
			digest_text(100 + i));
		assert_true(ks_span_is(missing, i % 3 == 0 ? expected : ""));
		assert_int_equal(ks_replay_open_provenance(log->replay,
			number).len, 0);
	}
}

static void
what_is_published_is_not_missing(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, SOURCE));
	assert_fault(log, publish(with_missing(log, 1), 2, RUN),
		"which is published");
	assert_ok(log, say(log, "takedown", 1));
	assert_fault(log, publish(with_missing(log, 1), 2, RUN),
		"which is published");
	assert_false(is_known(log, 2));
}

static void
what_an_annotate_line_names_is_published(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_fault(log, annotate(with_reference(log, "source", 2), 1),
		"source is not published");
	assert_ok(log, publish(log, 2, SOURCE));
	assert_ok(log, publish(log, 3, PROJECT));
	assert_ok(log, annotate(with_reference(log, "source", 2), 1));
	assert_fault(log, annotate(with_reference(log, "source", 3), 1),
		"source is not of kind");
}

static void
annotate_knows_the_kind_of_its_digest(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, SOURCE));
	assert_ok(log, publish(log, 2, PROJECT));
	assert_ok(log, publish(log, 3, RUN));
	assert_ok(log, publish(log, 4, IMPLEMENTATION));
	assert_fault(log, annotate(with_reference(log, "project", 2), 3),
		"project belongs to");
	assert_fault(log, annotate(with_reference(log, "source", 1), 4),
		"source belongs to");
	assert_fault(log, annotate(with_reference(log, "source", 1), 2),
		"source belongs to");
	assert_ok(log, annotate(with_reference(log, "project", 2), 4));
	assert_ok(log, annotate(log, 4));
}

static void
what_was_taken_down_counts_as_published(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, SOURCE));
	assert_ok(log, say(log, "takedown", 1));
	assert_ok(log, publish(with_reference(log, "source", 1), 2, RUN));
	assert_ok(log, annotate(with_reference(log, "source", 1), 2));
}

/* Ids. */

static void
an_id_belongs_to_one_digest(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(with_id(log, ID_X), 1, RUN));
	assert_int_equal(resolve(log, ID_X), 1);
	assert_int_equal(resolve(log, ID_Y), 0);
	assert_fault(log, publish(with_id(log, ID_X), 2, RUN),
		"belongs to another digest");
	assert_false(is_known(log, 2));
	assert_ok(log, publish(log, 2, RUN));
	assert_fault(log, annotate(with_id(log, ID_X), 2),
		"belongs to another digest");
	assert_ok(log, annotate(with_id(log, ID_X), 1));
	assert_int_equal(resolve(log, ID_X), 1);
}

static void
an_id_keeps_resolving_after_an_annotate(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(with_id(log, ID_X), 1, RUN));
	log->extra = ",\"provenance\":{\"name\":\"n\"}";
	assert_ok(log, annotate(log, 1));
	assert_ok(log, annotate(with_id(log, ID_Y), 1));
	assert_int_equal(resolve(log, ID_X), 1);
	assert_int_equal(resolve(log, ID_Y), 1);
	assert_ok(log, say(log, "takedown", 1));
	assert_int_equal(resolve(log, ID_X), 1);
	assert_fault(log, publish(with_id(log, ID_X), 2, RUN),
		"belongs to another digest");
}

static void
the_id_of_a_source_passes_to_the_newest(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(with_id(log, ID_X), 1, SOURCE));
	assert_ok(log, publish(with_id(log, ID_X), 2, SOURCE));
	assert_int_equal(resolve(log, ID_X), 2);
	assert_ok(log, supersede(log, 1, 2));
	/* To say it of the older one again does not turn it back. */
	assert_ok(log, annotate(with_id(log, ID_X), 1));
	assert_int_equal(resolve(log, ID_X), 2);
	assert_ok(log, publish(log, 3, SOURCE));
	assert_int_equal(resolve(log, ID_X), 2);
	assert_ok(log, annotate(with_id(log, ID_X), 3));
	assert_int_equal(resolve(log, ID_X), 3);
}

static void
an_id_does_not_pass_between_kinds(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(with_id(log, ID_X), 1, SOURCE));
	assert_ok(log, publish(with_id(log, ID_Y), 2, ARTIFACT));
	assert_fault(log, publish(with_id(log, ID_X), 3, ARTIFACT),
		"belongs to another");
	assert_fault(log, publish(with_id(log, ID_Y), 3, SOURCE),
		"belongs to another");
	assert_fault(log, publish(with_id(log, ID_Y), 3, RUN),
		"belongs to another");
	assert_ok(log, publish(with_id(log, ID_Y), 3, ARTIFACT));
	assert_int_equal(resolve(log, ID_Y), 3);
	assert_fault(log, publish(with_id(log, ID_X), 4,
		"kistore/v2/Source"), "belongs to another");
}

/* retract, supersede, restore */

static void
a_retraction_and_a_successor_stand_side_by_side(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_ok(log, publish(log, 2, RUN));
	assert_ok(log, publish(log, 3, RUN));
	assert_ok(log, say(log, "retract", 1));
	assert_ok(log, say(log, "retract", 1));
	assert_ok(log, supersede(log, 1, 2));
	assert_int_equal(object(log, 1)->successor, 1);
	assert_ok(log, supersede(log, 1, 3));
	assert_int_equal(object(log, 1)->successor, 2);
	assert_true(object(log, 1)->retracted && object(log, 1)->superseded);
	assert_true(object(log, 1)->was_retracted);
	assert_true(object(log, 1)->was_superseded);
	assert_false(object(log, 2)->superseded);
	assert_false(object(log, 3)->was_superseded);
}

static void
restore_lifts_both_and_needs_one(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_ok(log, publish(log, 2, RUN));
	assert_fault(log, say(log, "restore", 1), "neither retracted");
	assert_ok(log, say(log, "retract", 1));
	assert_ok(log, supersede(log, 1, 2));
	assert_ok(log, say(log, "restore", 1));
	assert_false(object(log, 1)->retracted || object(log, 1)->superseded);
	assert_int_equal(object(log, 1)->successor, KS_NO_OBJECT);
	assert_true(object(log, 1)->was_retracted);
	assert_true(object(log, 1)->was_superseded);
	assert_fault(log, say(log, "restore", 1), "neither retracted");
	assert_ok(log, supersede(log, 1, 2));
	assert_ok(log, say(log, "restore", 1));
}

static void
a_successor_is_of_the_same_kind(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_ok(log, publish(log, 2, KI "ServingRun"));
	assert_ok(log, publish(log, 3, "raw"));
	assert_ok(log, publish(log, 4, "raw"));
	assert_fault(log, supersede(log, 1, 2), "not of the same kind");
	assert_fault(log, supersede(log, 1, 3), "not of the same kind");
	assert_false(object(log, 1)->was_superseded);
	assert_ok(log, supersede(log, 3, 4));
}

static void
a_successor_is_not_taken_down(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_ok(log, publish(log, 2, RUN));
	assert_ok(log, publish(log, 3, RUN));
	assert_ok(log, supersede(log, 1, 2));
	assert_ok(log, say(log, "takedown", 2));
	/* What it was before stays; anew it is a fault. */
	assert_int_equal(object(log, 1)->successor, 1);
	assert_fault(log, supersede(log, 3, 2), "by was taken down");
}

static void
no_chain_of_successors_comes_round(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_ok(log, publish(log, 2, RUN));
	assert_ok(log, publish(log, 3, RUN));
	assert_fault(log, supersede(log, 1, 1), "leads back");
	assert_ok(log, supersede(log, 1, 2));
	assert_fault(log, supersede(log, 2, 1), "leads back");
	assert_ok(log, supersede(log, 2, 3));
	assert_fault(log, supersede(log, 3, 1), "leads back");
	assert_false(object(log, 3)->superseded);
	/* Current successors only: what was lifted or replaced is no link. */
	assert_ok(log, say(log, "restore", 2));
	assert_ok(log, supersede(log, 3, 1));
	assert_fault(log, supersede(log, 2, 3), "leads back");
	assert_ok(log, publish(log, 4, RUN));
	assert_ok(log, supersede(log, 1, 4));
	assert_ok(log, supersede(log, 2, 3));
}

/* Digests from numbers beyond one byte, for long chains. */
static enum ks_verdict
chain_line(struct log *log, bool links, unsigned n, unsigned by)
{
	char digests[2][KS_ID_TEXT + 1];

	(void)snprintf(digests[0], sizeof(digests[0]), "sha256:%064x", n);
	(void)snprintf(digests[1], sizeof(digests[1]), "sha256:%064x", by);
	if (links)
		(void)snprintf(log->text, sizeof(log->text),
			"{\"at\":\"" NOON "\",\"by\":\"%s\",\"digest\":\"%s\","
			"\"op\":\"supersede\"}", digests[1], digests[0]);
	else
		(void)snprintf(log->text, sizeof(log->text),
			"{\"at\":\"" NOON "\",\"digest\":\"%s\","
			"\"kind\":\"raw\",\"op\":\"publish\"}", digests[0]);
	return line(log, log->text);
}

static void
at_most_10000_successors_follow(void **state)
{
	struct log *log = *state;
	unsigned i;

	assert_ok(log, init(log));
	for (i = 0; i <= 10003; i++)
		assert_ok(log, chain_line(log, false, i, 0));
	for (i = 1; i < 10001; i++)
		assert_ok(log, chain_line(log, true, i, i + 1));
	/* 1 has 10000 after it: as a successor it is allowed. */
	assert_ok(log, chain_line(log, true, 0, 1));
	/* 0 has 10001 after it. */
	assert_fault(log, chain_line(log, true, 10003, 0),
		"more than 10000 successors");
}

/* takedown */

static void
after_a_takedown_only_takedowns_follow(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_ok(log, publish(log, 2, RUN));
	assert_ok(log, say(log, "retract", 1));
	assert_ok(log, say(log, "takedown", 1));
	assert_true(object(log, 1)->taken_down && object(log, 1)->retracted);
	assert_fault(log, annotate(log, 1), "was taken down");
	assert_fault(log, say(log, "retract", 1), "was taken down");
	assert_fault(log, say(log, "restore", 1), "was taken down");
	assert_fault(log, supersede(log, 1, 2), "was taken down");
	assert_fault(log, publish(log, 1, RUN), "published already");
	assert_ok(log, say(log, "takedown", 1));
	assert_int_equal(ks_replay_count(log->replay, KS_OP_TAKEDOWN), 2);
}

static void
a_takedown_lists_lines_of_its_digest(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));			/* 0 */
	assert_ok(log, publish(log, 1, RUN));		/* 1 */
	assert_ok(log, publish(log, 2, RUN));		/* 2 */
	assert_ok(log, annotate(log, 1));		/* 3 */
	assert_ok(log, say(log, "retract", 1));		/* 4 */
	assert_ok(log, supersede(log, 2, 1));		/* 5 */
	assert_fault(log, publish(log, 1, RUN), "");	/* 6 */
	assert_fault(log, take_down(log, 1, "[0]"), "entry 0 neither");
	assert_fault(log, take_down(log, 1, "[1,2]"), "entry 2 neither");
	assert_fault(log, take_down(log, 1, "[1,4]"), "entry 4 neither");
	assert_fault(log, take_down(log, 1, "[5]"), "entry 5 neither");
	assert_fault(log, take_down(log, 1, "[6]"), "entry 6 neither");
	assert_fault(log, take_down(log, 1, "[12]"), "not earlier");
	assert_fault(log, take_down(log, 1, "[13]"), "not earlier");
	assert_fault(log, take_down(log, 1, "[9007199254740991]"),
		"not earlier");
	assert_false(object(log, 1)->taken_down);
	assert_ok(log, take_down(log, 1, "[1,3]"));
	assert_true(object(log, 1)->taken_down);
	assert_ok(log, take_down(log, 1, "[3]"));
}

/* Redacted lines. */

static void
a_redacted_line_counts_as_the_publish(void **state)
{
	struct log *log = *state;

	foresee(log, 4, 1, "[1,2]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	assert_int_equal(log->entry.op, KS_OP_REDACTED);
	assert_int_equal(log->object, 0);
	assert_true(object(log, 1)->redacted);
	assert_int_equal(object(log, 1)->published, 1);
	assert_int_equal(ks_replay_kind(log->replay,
		object(log, 1)->kind).len, 0);
	assert_ok(log, line(log, "-" HASH));
	assert_int_equal(log->object, 0);
	assert_int_equal(object(log, 1)->published, 1);
	assert_ok(log, annotate(log, 1));
	assert_ok(log, take_down(log, 1, "[1,2]"));
	assert_int_equal(ks_replay_count(log->replay, KS_OP_REDACTED), 2);
	assert_int_equal(end(log), NO_REPORT);
	assert_int_equal(ks_replay_faults(log->replay), 0);
}

static void
a_readable_publish_precedes_the_redacted_line(void **state)
{
	struct log *log = *state;

	foresee(log, 3, 1, "[2]");
	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_ok(log, line(log, "-" HASH));
	assert_int_equal(log->object, 0);
	assert_false(object(log, 1)->redacted);
	assert_int_equal(object(log, 1)->published, 1);
	assert_ok(log, take_down(log, 1, "[2]"));
	assert_int_equal(end(log), NO_REPORT);
}

static void
a_readable_publish_after_it_is_the_second(void **state)
{
	struct log *log = *state;

	foresee(log, 3, 1, "[1]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	assert_fault(log, publish(log, 1, RUN), "published already");
	assert_ok(log, take_down(log, 1, "[1]"));
}

static void
a_line_before_the_redacted_publish_is_a_fault(void **state)
{
	struct log *log = *state;

	foresee(log, 3, 1, "[2]");
	assert_ok(log, init(log));
	assert_fault(log, annotate(log, 1), "not published");
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, take_down(log, 1, "[2]"));
}

static void
a_redacted_object_fits_every_rule_of_kind(void **state)
{
	struct log *log = *state;

	foresee(log, 20, 1, "[1]");
	foresee(log, 21, 2, "[2]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, publish(log, 3, RUN));
	assert_ok(log, supersede(log, 1, 3));
	assert_ok(log, supersede(log, 3, 2));
	assert_fault(log, supersede(log, 2, 1), "leads back");
	assert_ok(log, publish(with_reference(log, "source", 1), 4, RUN));
	assert_ok(log, publish(with_reference(log, "project", 1), 5,
		IMPLEMENTATION));
	assert_fault(log, publish(with_missing(log, 1), 6, RUN),
		"which is published");
	assert_ok(log, publish(log, 7, SOURCE));
	assert_ok(log, annotate(with_reference(log, "source", 7), 1));
}

static void
the_unknown_kind_of_a_redacted_owner_may_share_an_id(void **state)
{
	struct log *log = *state;

	foresee(log, 20, 1, "[1]");
	foresee(log, 21, 2, "[2]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, annotate(with_id(log, ID_X), 1));
	assert_ok(log, annotate(with_id(log, ID_X), 2));
	assert_int_equal(resolve(log, ID_X), 2);
	assert_fault(log, publish(with_id(log, ID_X), 3, RUN),
		"belongs to another");
	assert_ok(log, publish(with_id(log, ID_X), 3, SOURCE));
	assert_int_equal(resolve(log, ID_X), 3);
}

static void
a_redacted_line_that_no_takedown_names_is_a_fault(void **state)
{
	struct log *log = *state;

	foresee(log, 3, 1, "[2]");
	assert_ok(log, init(log));
	assert_fault(log, line(log, "-" HASH), "no takedown names");
	assert_int_equal(log->object, KS_NO_OBJECT);
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, take_down(log, 1, "[2]"));
	assert_int_equal(end(log), NO_REPORT);
}

static void
a_takedown_does_not_name_lines_after_it(void **state)
{
	struct log *log = *state;

	foresee(log, 2, 1, "[2,3]");
	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	assert_fault(log, take_down(log, 1, "[2,3]"), "not earlier");
	assert_fault(log, line(log, "-" HASH), "no takedown names");
}

static void
a_redacted_line_of_a_takedown_at_fault_is_a_fault(void **state)
{
	struct log *log = *state;

	foresee(log, 2, 1, "[1]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	log->at = "2025-01-01T00:00:00Z";
	assert_fault(log, take_down(log, 1, "[1]"), "at is earlier");
	assert_int_equal(end(log), 1);
	assert_int_equal(ks_replay_faults(log->replay), 2);
}

static void
a_redacted_line_whose_takedown_never_comes_is_a_fault(void **state)
{
	struct log *log = *state;

	foresee(log, 2, 1, "[1]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	assert_int_equal(end(log), 1);
}

static void
a_second_takedown_of_the_digest_makes_it_good(void **state)
{
	struct log *log = *state;

	foresee(log, 2, 1, "[1]");
	foresee(log, 3, 1, "[1]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	log->at = "2025-01-01T00:00:00Z";
	assert_fault(log, take_down(log, 1, "[1]"), "at is earlier");
	log->at = NOON;
	assert_ok(log, take_down(log, 1, "[1]"));
	assert_int_equal(end(log), NO_REPORT);
}

static void
a_redacted_line_belongs_to_the_first_that_lists_it(void **state)
{
	struct log *log = *state;

	foresee(log, 3, 1, "[1]");
	foresee(log, 4, 2, "[1,2]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, publish(log, 2, RUN));
	assert_ok(log, take_down(log, 1, "[1]"));
	assert_fault(log, take_down(log, 2, "[1,2]"), "entry 1 neither");
	assert_false(object(log, 2)->taken_down);
	assert_int_equal(end(log), NO_REPORT);
}

static void
no_redacted_line_of_a_digest_follows_its_takedown(void **state)
{
	struct log *log = *state;

	foresee(log, 2, 1, "[1]");
	foresee(log, 4, 1, "[3]");
	assert_ok(log, init(log));
	assert_ok(log, line(log, "-" HASH));
	assert_ok(log, take_down(log, 1, "[1]"));
	assert_fault(log, line(log, "-" HASH), "taken down before");
	assert_fault(log, take_down(log, 1, "[3]"), "entry 3 neither");
	assert_int_equal(end(log), NO_REPORT);
}

static void
takedowns_are_foreseen_in_order_and_first(void **state)
{
	struct log *log = *state;
	struct ks_entry entry;

	foresee(log, 5, 1, "[1]");
	assert_int_equal(ks_entry_parse(log->jcs, ks_span_text(
		takedown_text(log, 1, "[1]")), &entry, NULL), KS_OK);
	assert_int_equal(ks_replay_foresee(log->replay, 5, &entry, NULL),
		KS_USAGE);
	assert_int_equal(ks_replay_foresee(log->replay, 4, &entry, NULL),
		KS_USAGE);
	assert_ok(log, init(log));
	assert_int_equal(ks_entry_parse(log->jcs, ks_span_text(
		takedown_text(log, 1, "[1]")), &entry, NULL), KS_OK);
	/* After other lines still, but not after a redacted one. */
	assert_int_equal(ks_replay_foresee(log->replay, 6, &entry, NULL),
		KS_OK);
	assert_ok(log, line(log, "-" HASH));
	assert_int_equal(ks_replay_foresee(log->replay, 7, &entry, NULL),
		KS_USAGE);
}

/* Keys. */

static void
a_controlled_key_is_registered_and_revoked(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, key(log, COSIGNER, "revoked"));	/* of no effect, R24 */
	assert_ok(log, key(log, COSIGNER, "controlled"));
	assert_ok(log, key(log, COSIGNER, "controlled"));
	assert_ok(log, key(log, COSIGNER, "revoked"));
	assert_int_equal(log->object, KS_NO_OBJECT);
	assert_ok(log, key(log, VKEY, "x-other"));
}

static void
an_extension_line_has_no_effect(void **state)
{
	struct log *log = *state;

	assert_ok(log, init(log));
	assert_ok(log, publish(log, 1, RUN));
	(void)snprintf(log->text, sizeof(log->text), "{\"at\":\"" NOON
		"\",\"digest\":\"%s\",\"op\":\"x-takedown\"}",
		digest_text(1));
	assert_ok(log, line(log, log->text));
	assert_int_equal(log->object, KS_NO_OBJECT);
	assert_false(object(log, 1)->taken_down);
}

/* Going on in the middle of a log. */

/* What an index would say of earlier lines: RUN 1 → 2 → 3, SOURCE 4 with
 * ID_X, 5 taken down, 6 redacted. */
static bool
load_object(void *arg, const struct ks_id *id, struct ks_object_state *state,
	struct ks_span *kind, struct ks_id *successor)
{
	unsigned n = id->bytes[0];
	struct ks_id itself = digest(n);
	unsigned *asked = arg;

	(*asked)++;
	if (n < 1 || n > 6 || !ks_id_equal(id, &itself))
		return false;
	state->published = n;
	*kind = ks_span_text(n == 4 ? SOURCE : n == 6 ? "" : RUN);
	state->superseded = n < 3;
	state->was_superseded = n < 3;
	if (n < 3)
		*successor = digest(n + 1);
	state->taken_down = n == 5;
	state->redacted = n == 6;
	return true;
}

static bool
load_id(void *arg, const uint8_t id[16], struct ks_id *found)
{
	uint8_t x[16];

	(void)arg;
	assert_true(ks_uuid_parse(ks_span_text(ID_X), false, x));
	*found = digest(4);
	return memcmp(x, id, sizeof(x)) == 0;
}

static void
resume(struct log *log, unsigned *asked)
{
	struct ks_replay_loader loader = { .arg = asked,
		.object = load_object, .id = load_id };
	struct ks_merkle tree = { .size = 0 };
	unsigned i;

	for (i = 0; i < 7; i++) {
		struct ks_id leaf = digest(i);

		ks_merkle_append(&tree, &leaf);
	}
	ks_replay_free(log->replay);
	assert_int_equal(ks_replay_resume(&log->replay, &loader, &tree, NOON,
		NULL), KS_OK);
	assert_int_equal(ks_replay_tree(log->replay)->size, 7);
}

static void
a_resumed_replay_asks_for_what_went_before(void **state)
{
	struct log *log = *state;
	unsigned asked = 0;

	resume(log, &asked);
	assert_int_equal(ks_replay_objects(log->replay), 0);
	assert_int_equal(object(log, 1)->published, 1);
	assert_true(object(log, 1)->superseded);
	/* With it came its chain of successors, once. */
	assert_int_equal(asked, 3);
	assert_int_equal(ks_replay_objects(log->replay), 3);
	assert_true(object(log, 2)->superseded);
	assert_int_equal(asked, 3);
	assert_false(is_known(log, 9));
	assert_int_equal(resolve(log, ID_X), 4);
	assert_int_equal(resolve(log, ID_Y), 0);
	assert_true(object(log, 5)->taken_down);
	assert_int_equal(ks_replay_check(log->replay, NULL), KS_OK);
}

static void
a_resumed_replay_judges_by_what_went_before(void **state)
{
	struct log *log = *state;
	unsigned asked = 0;

	resume(log, &asked);
	log->at = "2026-08-22T11:00:00Z";
	assert_fault(log, publish(log, 9, RUN), "at is earlier");
	log->at = NOON;
	assert_fault(log, init(log), "only entry 0");
	assert_fault(log, publish(log, 1, RUN), "published already");
	assert_fault(log, supersede(log, 3, 1), "leads back");
	assert_fault(log, annotate(log, 5), "was taken down");
	assert_fault(log, supersede(log, 1, 4), "not of the same kind");
	assert_ok(log, supersede(log, 3, 6));
	assert_fault(log, publish(with_id(log, ID_X), 9, RUN),
		"belongs to another");
	assert_ok(log, publish(with_id(log, ID_X), 9, SOURCE));
	assert_int_equal(resolve(log, ID_X), 9);
	assert_ok(log, publish(with_reference(log, "source", 4), 10, RUN));
	assert_fault(log, publish(with_missing(log, 4), 11, RUN),
		"which is published");
	assert_ok(log, say(log, "restore", 1));
	assert_false(object(log, 1)->superseded);
	assert_false(ks_replay_needs_all(log->replay));
	assert_int_equal(ks_replay_missing(log->replay, 0).len, 0);
}

static void
a_resumed_replay_says_when_it_needs_all_lines(void **state)
{
	struct log *log = *state;
	unsigned asked = 0;

	resume(log, &asked);
	assert_ok(log, annotate(log, 1));		/* 7 */
	assert_ok(log, take_down(log, 1, "[7]"));	/* 8 */
	assert_false(ks_replay_needs_all(log->replay));
	assert_fault(log, take_down(log, 2, "[2]"), "needs a full replay");
	assert_true(ks_replay_needs_all(log->replay));
	assert_false(object(log, 2)->taken_down);
}

/* A damaged index: every object is the predecessor of the next, for ever. */
static bool
load_endless(void *arg, const struct ks_id *id, struct ks_object_state *state,
	struct ks_span *kind, struct ks_id *successor)
{
	(void)arg;
	*kind = ks_span_text(RUN);
	state->superseded = true;
	*successor = *id;
	successor->bytes[0]++;
	return true;
}

static void
a_chain_that_comes_round_in_an_index_ends(void **state)
{
	struct log *log = *state;
	struct ks_replay_loader loader = { .object = load_endless };
	struct ks_merkle tree = { .size = 1 };

	ks_replay_free(log->replay);
	assert_int_equal(ks_replay_resume(&log->replay, &loader, &tree, "",
		NULL), KS_OK);
	assert_true(is_known(log, 1));
	assert_int_equal(ks_replay_objects(log->replay), 256);
	(void)snprintf(log->text, sizeof(log->text), "{\"at\":\"" NOON
		"\",\"digest\":\"sha256:%064d\",\"kind\":\"raw\","
		"\"op\":\"publish\"}", 7);
	assert_fault(log, line(log, log->text), "published already");
	assert_fault(log, supersede(log, 3, 1), "");
}

static void
nothing_is_freed_twice(void **state)
{
	(void)state;
	ks_replay_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_log_begins_with_init),
		TEST(init_stands_nowhere_else),
		TEST(another_line_is_no_entry_0),
		TEST(no_extension_line_is_entry_0),
		TEST(no_redacted_line_is_entry_0),
		TEST(an_empty_log_is_a_fault),
		TEST(time_may_stand_still_but_not_go_back),
		TEST(the_time_of_a_fault_does_not_count),
		TEST(the_time_of_an_extension_line_counts),
		TEST(a_line_for_a_newer_version_is_counted_and_moves_only_time),
		TEST(a_malformed_line_is_a_leaf_and_a_fault),
		TEST(publish_makes_an_object),
		TEST(a_digest_is_published_once),
		TEST(many_kinds_keep_their_numbers),
		TEST(other_ops_need_a_publish_line),
		TEST(a_source_is_published_before),
		TEST(a_source_is_of_kind_source),
		TEST(a_project_is_of_kind_software_project),
		TEST(no_object_is_its_own_source),
		TEST(an_unpublished_source_is_listed_as_missing),
		TEST(what_a_body_misses_is_kept_for_the_caller),
		TEST(what_is_published_is_not_missing),
		TEST(what_an_annotate_line_names_is_published),
		TEST(annotate_knows_the_kind_of_its_digest),
		TEST(what_was_taken_down_counts_as_published),
		TEST(an_id_belongs_to_one_digest),
		TEST(an_id_keeps_resolving_after_an_annotate),
		TEST(the_id_of_a_source_passes_to_the_newest),
		TEST(an_id_does_not_pass_between_kinds),
		TEST(a_retraction_and_a_successor_stand_side_by_side),
		TEST(restore_lifts_both_and_needs_one),
		TEST(a_successor_is_of_the_same_kind),
		TEST(a_successor_is_not_taken_down),
		TEST(no_chain_of_successors_comes_round),
		TEST(at_most_10000_successors_follow),
		TEST(after_a_takedown_only_takedowns_follow),
		TEST(a_takedown_lists_lines_of_its_digest),
		TEST(a_redacted_line_counts_as_the_publish),
		TEST(a_readable_publish_precedes_the_redacted_line),
		TEST(a_readable_publish_after_it_is_the_second),
		TEST(a_line_before_the_redacted_publish_is_a_fault),
		TEST(a_redacted_object_fits_every_rule_of_kind),
		TEST(the_unknown_kind_of_a_redacted_owner_may_share_an_id),
		TEST(a_redacted_line_that_no_takedown_names_is_a_fault),
		TEST(a_takedown_does_not_name_lines_after_it),
		TEST(a_redacted_line_of_a_takedown_at_fault_is_a_fault),
		TEST(a_redacted_line_whose_takedown_never_comes_is_a_fault),
		TEST(a_second_takedown_of_the_digest_makes_it_good),
		TEST(a_redacted_line_belongs_to_the_first_that_lists_it),
		TEST(no_redacted_line_of_a_digest_follows_its_takedown),
		TEST(takedowns_are_foreseen_in_order_and_first),
		TEST(a_controlled_key_is_registered_and_revoked),
		TEST(an_extension_line_has_no_effect),
		TEST(a_resumed_replay_asks_for_what_went_before),
		TEST(a_resumed_replay_judges_by_what_went_before),
		TEST(a_resumed_replay_says_when_it_needs_all_lines),
		TEST(a_chain_that_comes_round_in_an_index_ends),
		TEST(nothing_is_freed_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
