#include "format/citation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/digest.h"
#include "format/entry.h"
#include "../lib/trust.h"

#define DAY "2026-08-17"
#define AT "2026-08-16T00:00:00Z"
#define LINES 16

/* ---- A small log ------------------------------------------------------------ */

static struct ks_vkey vkey, witness_vkey;
static struct ks_secret_key secret, witness_secret;
static struct ks_buf lines[LINES];
static size_t line_count;
static struct ks_buf note;

static char operation[400], workload[600], run[900], source[300];
static char operation_id[KS_ID_TEXT + 1], workload_id[KS_ID_TEXT + 1];
static char run_id[KS_ID_TEXT + 1], source_id[KS_ID_TEXT + 1];
#define OPEN "sha256:00000000000000000000000000000000" \
	"00000000000000000000000000000001"

static void
name_body(const char *body, char id[KS_ID_TEXT + 1])
{
	struct ks_id digest;

	ks_sha256(ks_span_text(body), &digest);
	(void)ks_id_print(&digest, id);
}

static void
make_bodies(void)
{
#define KI "{\"apiVersion\":\"kernelindex.dev/v1alpha1\",\"kind\":"
	(void)snprintf(operation, sizeof(operation), KI
		"\"OperationSpec\",\"spec\":{}}");
	name_body(operation, operation_id);
	(void)snprintf(workload, sizeof(workload), KI "\"WorkloadCase\","
		"\"spec\":{\"axes\":{\"n\":8},\"operationSpecDigest\":\"%s\"}}",
		operation_id);
	name_body(workload, workload_id);
	(void)snprintf(run, sizeof(run), KI "\"BenchmarkRun\",\"spec\":{"
		"\"implementationDigest\":\"" OPEN "\",\"timing\":{"
		"\"latencyNs\":{\"median\":984},\"primaryStatistic\":"
		"\"median\"},\"workloadDigest\":\"%s\"}}", workload_id);
	name_body(run, run_id);
	(void)snprintf(source, sizeof(source), "{\"apiVersion\":\"kistore/v1\","
		"\"kind\":\"Source\",\"spec\":{\"name\":\"Bench\"}}");
	name_body(source, source_id);
}

static void add(const char *format, ...) KS_PRINTF(1, 2);

static void
add(const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	assert_true(line_count < LINES);
	ks_buf_text(&lines[line_count++], text);
}

static void
publish(const char *id, const char *kind, const char *more)
{
	add("{\"at\":\"" AT "\",\"digest\":\"%s\",\"kind\":\"%s\",%s"
		"\"op\":\"publish\"%s", id, kind, more, "}");
}

#define KIND "kernelindex.dev/v1alpha1/"

static struct ks_subtrees *
subtrees(void)
{
	struct ks_subtrees *out;
	struct ks_id leaf;
	size_t i;

	assert_int_equal(ks_subtrees_new(&out, NULL), KS_OK);
	for (i = 0; i < line_count; i++) {
		ks_entry_leaf(ks_buf_span(&lines[i]), &leaf);
		assert_int_equal(ks_subtrees_append(out, &leaf, NULL), KS_OK);
	}
	return out;
}

static void
sign(struct ks_buf *out, const struct ks_secret_key *key)
{
	struct ks_subtrees *tree = subtrees();
	struct ks_id root;

	assert_int_equal(ks_proof_root(line_count, ks_subtrees_get, tree,
		&root, NULL), KS_OK);
	assert_int_equal(ks_checkpoint_sign(ks_span_text("log.example/a"),
		line_count, &root, key, out, NULL), KS_OK);
	ks_subtrees_free(tree);
}

/* Entries 0 … 10; the run's are 5 and 7 to 9, and 10 breaks a rule. */
static int
make_log(void **state)
{
	char more[400];

	(void)state;
	trust_make("log.example/a", KS_SIGNATURE_ED25519, 1, &vkey, &secret);
	trust_make("w.example/1", KS_SIGNATURE_COSIGNATURE, 2, &witness_vkey,
		&witness_secret);
	make_bodies();
	add("{\"at\":\"" AT "\",\"format\":\"kistore/1\",\"op\":\"init\"}");
	publish(operation_id, KIND "OperationSpec",
		"\"metadata\":{\"title\":\"Old name\"},");
	publish(source_id, "kistore/v1/Source", "");
	publish(workload_id, KIND "WorkloadCase", "");
	add("{\"at\":\"" AT "\",\"op\":\"x-note\"}");
	(void)snprintf(more, sizeof(more), "\"missing\":[\"" OPEN "\"],");
	add("{\"at\":\"" AT "\",\"digest\":\"%s\",\"kind\":\"" KIND
		"BenchmarkRun\",\"metadata\":{\"name\":\"r\"},%s"
		"\"op\":\"publish\",\"provenance\":{\"source\":\"%s\"}}",
		run_id, more, source_id);
	add("{\"at\":\"" AT "\",\"digest\":\"%s\",\"metadata\":{\"title\":"
		"\"New name\"},\"op\":\"annotate\"}", operation_id);
	add("{\"at\":\"" AT "\",\"digest\":\"%s\",\"metadata\":{\"name\":"
		"\"older\"},\"op\":\"annotate\",\"provenance\":{\"source\":"
		"\"%s\"}}", run_id, source_id);
	add("{\"at\":\"" AT "\",\"digest\":\"%s\",\"op\":\"annotate\","
		"\"provenance\":{\"slug\":\"s\",\"source\":\"%s\"}}", run_id,
		source_id);
	add("{\"at\":\"" AT "\",\"digest\":\"%s\",\"metadata\":{\"name\":"
		"\"newer\"},\"op\":\"annotate\"}", run_id);
	publish(workload_id, "raw", "");
	sign(&note, &secret);
	return 0;
}

static int
free_log(void **state)
{
	(void)state;
	while (line_count > 0)
		ks_buf_release(&lines[--line_count]);
	ks_buf_release(&note);
	return 0;
}

/* ---- Files ------------------------------------------------------------------ */

/* An object of a file: its body, the lines, by index, that it comes with. */
struct given {
	const char *id, *body;
	int lines[5];		/* ended by -1 */
};

static const struct given whole[] = {
	{ run_id, run, { 5, 8, 9, -1 } },
	{ operation_id, operation, { 1, 6, -1 } },
	{ source_id, source, { 2, -1 } },
	{ workload_id, workload, { 3, -1 } }
};

/* Write a file of these objects that cites the first. */
static enum ks_status
write_file(const struct given *given, size_t count, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_subtrees *tree = subtrees();
	struct ks_citation *citation;
	struct ks_proof proof;
	struct ks_id id;
	enum ks_status status;
	size_t i, j;

	assert_true(ks_id_parse(&id, ks_span_text(given[0].id)));
	status = ks_citation_new(&citation, &id, ks_span_text(DAY),
		ks_buf_span(&note), err);
	assert_int_equal(status, KS_OK);
	for (i = 0; i < count; i++) {
		assert_true(ks_id_parse(&id, ks_span_text(given[i].id)));
		status = ks_citation_add(citation, &id,
			ks_span_text(given[i].body), err);
		for (j = 0; status == KS_OK && given[i].lines[j] >= 0; j++) {
			uint64_t index = (uint64_t)given[i].lines[j];

			assert_int_equal(ks_proof_inclusion(index, line_count,
				ks_subtrees_get, tree, &proof, NULL), KS_OK);
			status = ks_citation_add_line(citation,
				ks_buf_span(&lines[index]), index, &proof, err);
		}
		assert_true(status == KS_OK || status == KS_INVALID);
	}
	if (status == KS_OK)
		status = ks_citation_write(citation, out, err);
	ks_citation_free(citation);
	ks_subtrees_free(tree);
	return status;
}

static void
make_file(const struct given *given, size_t count, struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;

	if (write_file(given, count, out, &err) != KS_OK)
		fail_msg("%s", err.message);
}

/* That such a file is refused, with this in the message. */
static void
refuses(const struct given *given, size_t count, const char *why)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status = write_file(given, count, &out, &err);

	if (status == KS_OK || strstr(err.message, why) == NULL)
		fail_msg("%d: %s, not: %s", status, err.message, why);
	assert_int_equal(out.len, 0);
	ks_buf_release(&out);
}

static enum ks_status
read_bytes(struct ks_span bytes, struct ks_error *err)
{
	struct ks_citation *citation;
	enum ks_status status = ks_citation_read(&citation, bytes, err);

	assert_true((status == KS_OK) == (citation != NULL));
	ks_citation_free(citation);
	return status;
}

/* That a file in which `from` (its first place) reads `to` is refused. */
static void
refuses_edit(const struct ks_buf *file, const char *from, const char *to,
	const char *why)
{
	struct ks_buf copy = KS_BUF_INIT, edited = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	const char *text, *at;
	enum ks_status status;

	ks_buf_append(&copy, ks_buf_span(file));
	text = ks_buf_cstr(&copy);
	at = strstr(text, from);
	assert_non_null(at);
	ks_buf_append(&edited, ks_span(text, (size_t)(at - text)));
	ks_buf_text(&edited, to);
	ks_buf_text(&edited, at + strlen(from));
	status = read_bytes(ks_buf_span(&edited), &err);
	if (status == KS_OK || strstr(err.message, why) == NULL)
		fail_msg("%s -> %s: %d: %s, not: %s", from, to, status,
			err.message, why);
	ks_buf_release(&copy);
	ks_buf_release(&edited);
}

/* ---- What a file is --------------------------------------------------------- */

static void
what_is_written_is_read_again(void **state)
{
	struct ks_buf file = KS_BUF_INIT, again = KS_BUF_INIT;
	struct ks_citation *citation;
	struct ks_citation_facts facts;

	(void)state;
	make_file(whole, 4, &file);
	assert_int_equal(ks_citation_read(&citation, ks_buf_span(&file), NULL),
		KS_OK);
	ks_citation_facts(citation, &facts);
	assert_int_equal(facts.objects, 4);
	assert_int_equal(facts.lines, 7);
	assert_int_equal(facts.index, 5);
	assert_int_equal(facts.checkpoint.size, 11);
	assert_true(ks_span_is(facts.kind, KIND "BenchmarkRun"));
	assert_true(ks_span_is(facts.at, AT));
	assert_true(ks_span_is(facts.accessed, DAY));
	assert_true(ks_span_equal(facts.note, ks_buf_span(&note)));
	/* The newer title, the source's name: what the lines say counts. */
	assert_true(ks_span_begins(facts.text, "000000000000 · New name, "
		"n = 8. 984 ns (median). Reported by Bench. KernelIndex run "
		"sha256:"));
	assert_int_equal(ks_citation_write(citation, &again, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&file), ks_buf_span(&again)));
	ks_citation_free(citation);
	ks_buf_release(&file);
	ks_buf_release(&again);
}

static void
the_order_of_adding_does_not_matter(void **state)
{
	const struct given other[] = {
		{ run_id, run, { 9, 5, 8, -1 } }, whole[3], whole[2],
		{ operation_id, operation, { 6, 1, -1 } }
	};
	struct ks_buf a = KS_BUF_INIT, b = KS_BUF_INIT;

	(void)state;
	make_file(whole, 4, &a);
	make_file(other, 4, &b);
	assert_true(ks_span_equal(ks_buf_span(&a), ks_buf_span(&b)));
	ks_buf_release(&a);
	ks_buf_release(&b);
}

static void
one_line_may_say_both(void **state)
{
	const struct given both[] = {
		{ run_id, run, { 5, 7, -1 } }, whole[1], whole[2], whole[3]
	};
	struct ks_buf file = KS_BUF_INIT;

	(void)state;
	make_file(both, 4, &file);
	assert_int_equal(read_bytes(ks_buf_span(&file), NULL), KS_OK);
	ks_buf_release(&file);
}

/* ---- What is refused -------------------------------------------------------- */

static void
lines_that_are_not_the_newest_are_refused(void **state)
{
	struct given bad[] = { whole[0], whole[1], whole[2], whole[3] };

	(void)state;
	/* 8 and 9 say all that 7 says. */
	bad[0] = (struct given){ run_id, run, { 5, 7, 8, 9, -1 } };
	refuses(bad, 1, "at most 3 lines");
	/* Without a publish line, and with two. */
	bad[0] = (struct given){ run_id, run, { 8, 9, -1 } };
	refuses(bad, 4, "one publish line");
	bad[0] = (struct given){ run_id, run, { 5, 5, -1 } };
	refuses(bad, 4, "one publish line");
	bad[0] = (struct given){ run_id, run, { -1 } };
	refuses(bad, 4, "no line of the log");
	bad[0] = whole[0];
	bad[1] = (struct given){ operation_id, operation, { 1, 6, 6, -1 } };
	refuses(bad, 4, "not the newest");
}

static void
a_line_of_another_record_is_refused(void **state)
{
	struct given bad[] = { whole[0], whole[1], whole[2], whole[3] };

	(void)state;
	bad[3] = (struct given){ workload_id, workload, { 10, -1 } };
	refuses(bad, 4, "another kind");
	bad[3] = whole[3];
	bad[1] = (struct given){ operation_id, operation, { 3, -1 } };
	refuses(bad, 4, "about another object");
	bad[1] = (struct given){ operation_id, operation, { 1, 9, -1 } };
	refuses(bad, 4, "about another object");
	bad[1] = (struct given){ operation_id, operation, { 1, 4, -1 } };
	refuses(bad, 4, "one publish line");
	bad[1] = (struct given){ operation_id, operation, { 0, -1 } };
	refuses(bad, 4, "one publish line");
}

static void
a_body_that_is_not_the_digests_is_refused(void **state)
{
	struct given bad[] = { whole[0], whole[1], whole[2], whole[3] };

	(void)state;
	bad[2].body = operation;
	refuses(bad, 4, "not what this digest names");
}

static void
the_closure_is_complete_and_nothing_more(void **state)
{
	const struct given dropped[] = { whole[0], whole[1], whole[3] };
	const struct given inner[] = { whole[0], whole[2], whole[3] };
	const struct given more[] = { whole[3], whole[1], whole[2] };
	const struct given twice[] = {
		whole[0], whole[1], whole[2], whole[3], whole[3]
	};

	(void)state;
	refuses(dropped, 3, "which is not in the file");
	refuses(inner, 3, "which is not in the file");
	refuses(more, 3, "nothing that the record refers to");
	refuses(twice, 5, "do not ascend");
}

static void
edits_are_refused(void **state)
{
	struct ks_buf file = KS_BUF_INIT;

	(void)state;
	make_file(whole, 4, &file);
	refuses_edit(&file, "\"accessed\":\"2026-08-17\"",
		"\"accessed\":\"2026-08-18\"", "(A9)");
	refuses_edit(&file, "\"accessed\":\"2026-08-17\"",
		"\"accessed\":\"2026-02-30\"", "(A2)");
	refuses_edit(&file, "984 ns", "983 ns", "(A9)");
	refuses_edit(&file, "New name", "Our name", "(A9)");
	refuses_edit(&file, "\"format\":", "\"extra\":1,\"format\":", "(A1)");
	refuses_edit(&file, "{\"accessed\"", "{ \"accessed\"", "(A1)");
	refuses_edit(&file, "citation/1", "citation/2", "newer kistore");
	refuses_edit(&file, "citation/1", "citatiom/1", "(A1)");
	refuses_edit(&file, ",\"digest\":", ",\"by\":1,\"digest\":", "(A3)");
	refuses_edit(&file, "{\"line\":", "{\"at\":1,\"line\":", "(A4)");
	refuses_edit(&file, "\"lines\":[", "\"lines\":[1,", "(A4)");
	refuses_edit(&file, "\"objects\":[", "\"objects\":[{},", "(A3)");
	refuses_edit(&file, "tlog-proof@v1\\nindex",
		"tlog-proof@v1\\nextra AAAA\\nindex", "extra");
	refuses_edit(&file, "]}],\"record\"", "]}],\"record\":1,\"record\"",
		"(A1)");
	refuses_edit(&file, "\"}\n", "\"}\n\n", "(A1)");
	refuses_edit(&file, "\"}\n", "\"}", "LF");
	assert_int_equal(read_bytes(ks_span(NULL, 0), NULL), KS_CORRUPT);
	ks_buf_release(&file);
}

/* A proof from a later snapshot, which is as good, is not of this file. */
static void
all_proofs_end_in_the_same_note(void **state)
{
	struct ks_buf file = KS_BUF_INIT, line = KS_BUF_INIT;
	struct ks_buf to = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	char *text;

	(void)state;
	make_file(whole, 4, &file);
	assert_int_equal(ks_checkpoint_of_note(ks_buf_span(&note), &checkpoint,
		NULL), KS_OK);
	assert_int_equal(ks_checkpoint_cosign(ks_span(note.data, (size_t)(
		strstr(ks_buf_cstr(&note), "\n\n") + 1 - (char *)note.data)),
		&witness_vkey, &witness_secret, 1787000000, &line, NULL),
		KS_OK);
	/* One more signature in the last proof. */
	line.len--;
	ks_buf_append(&to, ks_buf_span(&line));
	ks_buf_text(&to, "\\n\"}]}],\"record\"");
	text = strdup(ks_buf_cstr(&to));
	refuses_edit(&file, "\"}]}],\"record\"", text, "another note");
	free(text);
	ks_buf_release(&file);
	ks_buf_release(&line);
	ks_buf_release(&to);
}

static void
a_day_is_a_day_and_a_note_a_note(void **state)
{
	struct ks_citation *citation;
	struct ks_id id;

	(void)state;
	assert_true(ks_id_parse(&id, ks_span_text(run_id)));
	assert_int_equal(ks_citation_new(&citation, &id,
		ks_span_text("2026-13-01"), ks_buf_span(&note), NULL),
		KS_INVALID);
	assert_null(citation);
	assert_int_equal(ks_citation_new(&citation, &id, ks_span_text(DAY),
		ks_span_text("no note"), NULL), KS_CORRUPT);
	assert_null(citation);
}

/* ---- Every byte ------------------------------------------------------------- */

/* Whether the file is right and its note signed by the log. */
static bool
is_proven(struct ks_span bytes)
{
	struct ks_note_key key = { .vkey = &vkey };
	struct ks_citation *citation;
	struct ks_citation_facts facts;
	struct ks_note parsed;
	bool proven = false;

	if (ks_citation_read(&citation, bytes, NULL) != KS_OK)
		return false;
	ks_citation_facts(citation, &facts);
	if (ks_note_parse(facts.note, &parsed, NULL) == KS_OK) {
		proven = ks_note_open(&parsed, &key, 1, NULL) == KS_OK;
		ks_note_release(&parsed);
	}
	ks_citation_free(citation);
	return proven;
}

/* None is harmless: each byte is in canonical JSON, and belongs to a text that
 * is compared, a body that is hashed, a leaf, a hash of a proof, or a note that
 * is signed. (Lines of keys that nobody knows would be; there are none.) */
static void
refuses_changes(const struct given *given, size_t count, const uint8_t *flips,
	size_t flip_count)
{
	struct ks_buf file = KS_BUF_INIT;
	size_t i, j;

	make_file(given, count, &file);
	assert_true(is_proven(ks_buf_span(&file)));
	for (i = 0; i < file.len; i++)
		for (j = 0; j < flip_count; j++) {
			file.data[i] ^= flips[j];
			if (is_proven(ks_buf_span(&file)))
				fail_msg("byte %zu of %zu, changed by %02x, "
					"makes no difference", i, file.len,
					flips[j]);
			file.data[i] ^= flips[j];
		}
	assert_true(is_proven(ks_buf_span(&file)));
	ks_buf_release(&file);
}

/* A file of one object and one line: nothing in it is said twice. */
static void
every_change_of_a_byte_is_refused(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x02, 0x20, 0x80, 0xff };
	const struct given one = { source_id, source, { 2, -1 } };

	(void)state;
	refuses_changes(&one, 1, flips, sizeof(flips));
	refuses_changes(whole, 4, flips, 1);
}

/* A line that does not stand in the log is a forgery, whatever it says: not one
 * of a newer version (E9). */
static void
a_changed_op_is_no_newer_version(void **state)
{
	struct ks_buf file = KS_BUF_INIT;
	char *op;

	(void)state;
	make_file(whole, 4, &file);
	op = strstr(ks_buf_cstr(&file), "publish");
	assert_non_null(op);
	*op = 'q';
	assert_int_equal(read_bytes(ks_buf_span(&file), NULL), KS_CORRUPT);
	ks_buf_release(&file);
}

static void
every_shorter_file_is_refused(void **state)
{
	struct ks_buf file = KS_BUF_INIT;
	size_t len;

	(void)state;
	make_file(whole, 4, &file);
	for (len = 0; len < file.len; len += 1 + len / 64)
		assert_int_not_equal(read_bytes(ks_span(file.data, len), NULL),
			KS_OK);
	assert_int_not_equal(read_bytes(ks_span(file.data, file.len - 1), NULL),
		KS_OK);
	ks_buf_release(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_again),
		cmocka_unit_test(the_order_of_adding_does_not_matter),
		cmocka_unit_test(one_line_may_say_both),
		cmocka_unit_test(lines_that_are_not_the_newest_are_refused),
		cmocka_unit_test(a_line_of_another_record_is_refused),
		cmocka_unit_test(a_body_that_is_not_the_digests_is_refused),
		cmocka_unit_test(the_closure_is_complete_and_nothing_more),
		cmocka_unit_test(edits_are_refused),
		cmocka_unit_test(all_proofs_end_in_the_same_note),
		cmocka_unit_test(a_day_is_a_day_and_a_note_a_note),
		cmocka_unit_test(every_change_of_a_byte_is_refused),
		cmocka_unit_test(a_changed_op_is_no_newer_version),
		cmocka_unit_test(every_shorter_file_is_refused),
	};

	return cmocka_run_group_tests(tests, make_log, free_log);
}
