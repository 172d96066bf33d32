/*
 * Snapshot files as they are read: made here line by line, so that what is
 * properly signed can break any rule; and every small change to one.
 */
#include "store/archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "../lib/trust.h"
#include "format/digest.h"
#include "format/proof.h"
#include "format/snapfile.h"

#define NAME "archive.example/log"
#define AT "\"at\":\"2026-08-22T12:00:00Z\""
#define INIT "{" AT ",\"format\":\"kistore/1\",\"op\":\"init\"}"
#define LINES 600
#define OBJECTS 8

static struct ks_vkey vkey, other_vkey;
static struct ks_secret_key secret, other_secret;
static struct ks_jcs *jcs;

static int
make_keys(void **state)
{
	(void)state;
	trust_make(NAME, KS_SIGNATURE_ED25519, 7, &vkey, &secret);
	trust_make(NAME, KS_SIGNATURE_ED25519, 8, &other_vkey, &other_secret);
	return ks_jcs_new(&jcs, NULL) == KS_OK ? 0 : -1;
}

static int
forget_keys(void **state)
{
	(void)state;
	ks_jcs_free(jcs);
	return 0;
}

/* ---- making a file -------------------------------------------------- */

/* A log and its objects; what the file has of it is from `from` on. */
struct plan {
	struct ks_buf lines[LINES];
	size_t count;
	uint64_t from;
	const char *objects[OBJECTS];
	size_t object_count;
	/* What makes it wrong: */
	const struct ks_secret_key *signer;	/* NULL = the log's */
	const struct ks_secret_key *from_signer;
	const char *extra;		/* more signature lines */
	bool other_range;
	struct ks_id named;		/* the first object's name in the file */
	bool misnamed;
};

static void
release(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		ks_buf_release(&plan->lines[i]);
	memset(plan, 0, sizeof(*plan));
}

static void add(struct plan *plan, const char *format, ...) KS_PRINTF(2, 3);

static void
add(struct plan *plan, const char *format, ...)
{
	char text[4096];
	va_list args;

	assert_true(plan->count < LINES);
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ks_buf_text(&plan->lines[plan->count++], text);
}

/* "sha256:…" of a body. */
static const char *
digest_of(const char *body)
{
	static char texts[4][KS_ID_TEXT + 1];
	static size_t next;
	struct ks_id id;

	ks_sha256(ks_span_text(body), &id);
	return ks_id_print(&id, texts[next++ % 4]);
}

static void
add_publish(struct plan *plan, const char *body, const char *kind)
{
	add(plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"%s\","
		"\"op\":\"publish\"}", digest_of(body), kind);
}

static void
add_about(struct plan *plan, const char *body, const char *op)
{
	add(plan, "{" AT ",\"digest\":\"%s\",\"op\":\"%s\",\"reason\":\"x\"}",
		digest_of(body), op);
}

static void
add_key(struct plan *plan, const struct ks_vkey *key)
{
	struct ks_buf text = KS_BUF_INIT;

	ks_vkey_print(key, &text);
	add(plan, "{" AT ",\"key\":\"%s\",\"op\":\"key\",\"origin\":\"%s\","
		"\"role\":\"log\"}", ks_buf_cstr(&text), key->name);
	ks_buf_release(&text);
}

static void
begin(struct plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	add(plan, INIT);
	add_key(plan, &vkey);
}

static void
object(struct plan *plan, const char *body)
{
	plan->objects[plan->object_count++] = body;
}

static void
leaf_of(struct ks_span line, struct ks_id *leaf)
{
	struct ks_entry entry = { .op = KS_OP_INIT };

	if (ks_entry_parse(jcs, line, &entry, NULL) != KS_OK)
		entry.op = KS_OP_INIT;
	ks_replay_leaf(line, &entry, leaf);
}

/* Put the redacted form in place of a line. */
static void
redact(struct plan *plan, size_t index)
{
	char hex[KS_ID_HEX + 1];
	struct ks_id leaf;

	ks_merkle_leaf(ks_buf_span(&plan->lines[index]), &leaf);
	ks_buf_clear(&plan->lines[index]);
	ks_buf_printf(&plan->lines[index], "-%s", ks_id_print_hex(&leaf,
		hex));
}

static void
tree_of(const struct plan *plan, uint64_t size, struct ks_merkle *tree)
{
	struct ks_id leaf;
	uint64_t i;

	memset(tree, 0, sizeof(*tree));
	for (i = 0; i < size; i++) {
		leaf_of(ks_buf_span(&plan->lines[i]), &leaf);
		ks_merkle_append(tree, &leaf);
	}
}

static void
sign(const struct plan *plan, uint64_t size, const struct ks_secret_key *key,
	struct ks_buf *note)
{
	struct ks_merkle tree;
	struct ks_id root;

	tree_of(plan, size, &tree);
	ks_merkle_root(&tree, &root);
	assert_int_equal(ks_checkpoint_sign(ks_span_text(NAME), size, &root,
		key == NULL ? &secret : key, note, NULL), KS_OK);
}

static enum ks_status
collect(void *arg, struct ks_span bytes, struct ks_error *err)
{
	(void)err;
	ks_buf_append(arg, bytes);
	return KS_OK;
}

static int
by_digest(const void *a, const void *b)
{
	struct ks_id x, y;

	ks_sha256(ks_span_text(*(const char *const *)a), &x);
	ks_sha256(ks_span_text(*(const char *const *)b), &y);
	return ks_id_compare(&x, &y);
}

static void
write_notes(const struct plan *plan, struct ks_snapwriter *writer)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_merkle tree;

	sign(plan, plan->count, plan->signer, &note);
	if (plan->extra != NULL)
		ks_buf_text(&note, plan->extra);
	assert_int_equal(ks_snapwriter_checkpoint(writer, ks_buf_span(&note),
		plan->count, NULL), KS_OK);
	ks_buf_clear(&note);
	if (plan->from > 0) {
		sign(plan, plan->from, plan->from_signer, &note);
		tree_of(plan, plan->from, &tree);
		if (plan->other_range)
			tree.roots[0].bytes[0] ^= 1;
		assert_int_equal(ks_snapwriter_from(writer, ks_buf_span(
			&note), &tree, NULL), KS_OK);
	}
	ks_buf_release(&note);
}

static void
write_lines(const struct plan *plan, struct ks_snapwriter *writer)
{
	struct ks_buf lines = KS_BUF_INIT;
	uint64_t i;

	for (i = plan->from; i < plan->count; i++) {
		ks_buf_append(&lines, ks_buf_span(&plan->lines[i]));
		ks_buf_byte(&lines, '\n');
		if ((i + 1) % KS_SEGMENT_ENTRIES != 0 && i + 1 != plan->count)
			continue;
		assert_int_equal(ks_snapwriter_segment(writer,
			ks_buf_span(&lines), NULL), KS_OK);
		ks_buf_clear(&lines);
	}
	ks_buf_release(&lines);
}

/* The tar stream. */
static void
print_tar(struct plan *plan, struct ks_buf *tar, struct ks_id *digest)
{
	struct ks_snapwriter *writer;
	struct ks_id id;
	size_t i;

	assert_int_equal(ks_snapwriter_new(&writer, collect, tar, NULL),
		KS_OK);
	write_notes(plan, writer);
	write_lines(plan, writer);
	qsort(plan->objects, plan->object_count, sizeof(plan->objects[0]),
		by_digest);
	for (i = 0; i < plan->object_count; i++) {
		ks_sha256(ks_span_text(plan->objects[i]), &id);
		if (plan->misnamed && i == 0)
			id = plan->named;
		assert_int_equal(ks_snapwriter_object(writer, &id,
			ks_span_text(plan->objects[i]), NULL), KS_OK);
	}
	assert_int_equal(ks_snapwriter_end(writer, digest, NULL), KS_OK);
	ks_snapwriter_free(writer);
}

static void
compress(struct ks_span tar, int level, struct ks_buf *out)
{
	struct ks_deflater *deflater;

	assert_int_equal(ks_deflater_new(&deflater, level, NULL), KS_OK);
	while (tar.len > 0)
		assert_int_equal(ks_deflater_step(deflater, &tar, 1 << 16, out,
			NULL), KS_OK);
	assert_int_equal(ks_deflater_end(deflater, out, NULL), KS_OK);
	ks_deflater_free(deflater);
}

static void
print_file(struct plan *plan, struct ks_buf *out, struct ks_id *digest)
{
	struct ks_buf tar = KS_BUF_INIT;

	print_tar(plan, &tar, digest);
	compress(ks_buf_span(&tar), 9, out);
	ks_buf_release(&tar);
}

/* ---- reading one ---------------------------------------------------- */

/* Read a file, `step` bytes at a time; `key` is trusted, NULL = none. */
static enum ks_status
read_by(struct ks_span bytes, size_t step, const struct ks_vkey *key,
	struct ks_file_result *result, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span keys[1];
	struct ks_trust_options trust = { .keys = keys };
	struct ks_file_options options = { .trust = &trust, .threads = 1 };
	struct ks_archive archive = { .options = &options, .result = result };
	enum ks_status status;

	if (key != NULL) {
		ks_vkey_print(key, &text);
		keys[0] = ks_buf_span(&text);
		trust.key_count = 1;
	}
	*err = (struct ks_error)KS_ERROR_INIT;
	status = ks_archive_open(&archive, err);
	while (status == KS_OK && bytes.len > 0) {
		size_t n = bytes.len < step ? bytes.len : step;

		status = ks_archive_feed(&archive, ks_span(bytes.data, n),
			err);
		bytes = ks_span(bytes.data + n, bytes.len - n);
	}
	if (status == KS_OK)
		status = ks_archive_close(&archive, err);
	ks_archive_release(&archive);
	ks_buf_release(&text);
	return status;
}

static enum ks_status
read_plan(struct plan *plan, const struct ks_vkey *key,
	struct ks_file_result *result, struct ks_error *err)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_id digest;
	enum ks_status status;

	print_file(plan, &file, &digest);
	status = read_by(ks_buf_span(&file), SIZE_MAX, key, result, err);
	if (status == KS_OK)
		assert_true(ks_id_equal(&digest, &result->file.tar));
	ks_buf_release(&file);
	release(plan);
	return status;
}

/* It is right, and signed by the key that is trusted. */
static void
accepted(struct plan *plan)
{
	struct ks_file_result result;
	struct ks_error err;

	if (read_plan(plan, &vkey, &result, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_string_equal(result.signature.verdict, "signed");
	assert_int_equal(result.unsupported, 0);
}

static void
refused(struct plan *plan, const char *why)
{
	struct ks_file_result result;
	struct ks_error err;

	assert_int_equal(read_plan(plan, &vkey, &result, &err), KS_CORRUPT);
	if (strstr(err.message, why) == NULL)
		fail_msg("not \"%s\" but: %s", why, err.message);
}

/* ---- files that are right ------------------------------------------- */

#define RECORD "{\"apiVersion\":\"kistore/v1\",\"kind\":\"Source\"," \
	"\"spec\":{\"kind\":\"publisher\",\"name\":\"N\",\"slug\":\"n\"}}"
#define SOURCE_KIND "kistore/v1/Source"
#define PROJECT "{\"apiVersion\":\"kernelindex.dev/v1alpha1\"," \
	"\"kind\":\"SoftwareProject\",\"spec\":{\"name\":\"P\"}}"
#define PROJECT_KIND "kernelindex.dev/v1alpha1/SoftwareProject"

static void
a_log_without_objects_is_a_file(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	accepted(&plan);
}

static void
objects_of_all_sorts_are_taken(void **state)
{
	struct plan plan;
	struct ks_file_result result;
	struct ks_error err;

	(void)state;
	begin(&plan);
	add_publish(&plan, "raw bytes", "raw");
	add_publish(&plan, "", "raw");
	add_publish(&plan, RECORD, SOURCE_KIND);
	object(&plan, RECORD);
	object(&plan, "");
	object(&plan, "raw bytes");
	if (read_plan(&plan, &vkey, &result, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_int_equal(result.file.objects, 3);
	assert_int_equal(result.file.object_bytes, strlen(RECORD) + 9);
	assert_int_equal(result.file.size, 5);
	assert_int_equal(result.file.from, 0);
	assert_string_equal(result.file.origin, NAME);
	assert_string_equal(result.not_checked, "");
}

static void
the_size_of_pieces_makes_no_difference(void **state)
{
	static const size_t steps[] = { 1, 7, 100, SIZE_MAX };
	struct plan plan;
	struct ks_file_result result;
	struct ks_buf file = KS_BUF_INIT;
	struct ks_error err;
	struct ks_id digest;
	size_t i;

	(void)state;
	begin(&plan);
	for (i = 0; i < 550; i++)
		add(&plan, "{" AT ",\"op\":\"x-%zu\"}", i);
	add_publish(&plan, "a", "raw");
	object(&plan, "a");
	print_file(&plan, &file, &digest);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (read_by(ks_buf_span(&file), steps[i], &vkey, &result,
			&err) != KS_OK)
			fail_msg("%s", err.message);
		assert_true(ks_id_equal(&result.file.tar, &digest));
		assert_int_equal(result.file.size, 553);
	}
	ks_buf_release(&file);
	release(&plan);
}

static void
what_is_taken_down_is_not_there(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	add_publish(&plan, "gone", "raw");
	add_publish(&plan, "here", "raw");
	add(&plan, "{" AT ",\"digest\":\"%s\",\"lines\":[2],\"op\":"
		"\"takedown\",\"reason\":\"law\"}", digest_of("gone"));
	redact(&plan, 2);
	object(&plan, "here");
	accepted(&plan);
	begin(&plan);
	add_publish(&plan, "gone", "raw");
	add_about(&plan, "gone", "takedown");
	accepted(&plan);
}

static void
nobody_trusted_is_said(void **state)
{
	struct plan plan;
	char signer[64];
	struct ks_file_result result;
	struct ks_error err;

	(void)state;
	begin(&plan);
	assert_int_equal(read_plan(&plan, NULL, &result, &err), KS_OK);
	assert_false(result.signature.asked);
	assert_string_equal(result.not_checked, "signature not checked");
	(void)snprintf(signer, sizeof(signer), NAME "+%08lx",
		(unsigned long)vkey.id);
	assert_string_equal(result.file.signer, signer);
	begin(&plan);
	assert_int_equal(read_plan(&plan, &other_vkey, &result, &err), KS_OK);
	assert_string_equal(result.signature.verdict, "untrusted key");
	assert_int_equal(result.signature.status, KS_UNTRUSTED);
}

/* ---- files that are wrong ------------------------------------------- */

static void
every_rule_of_the_log_holds(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	add(&plan, INIT);
	refused(&plan, "entry 2: only entry 0 is init");
	begin(&plan);
	add(&plan, "{ }");
	refused(&plan, "entry 2: ");
	begin(&plan);
	add_publish(&plan, "a", "raw");
	add_publish(&plan, "a", "raw");
	object(&plan, "a");
	refused(&plan, "entry 3: the digest is published already");
	begin(&plan);
	add_about(&plan, "a", "retract");
	refused(&plan, "entry 2: the digest is not published");
	begin(&plan);
	add(&plan, "{\"at\":\"2026-08-22T11:59:59Z\",\"op\":\"x-y\"}");
	refused(&plan, "entry 2: at is earlier");
	begin(&plan);
	add(&plan, "-%064d", 0);
	refused(&plan, "entry 2: no takedown names this redacted line");
	begin(&plan);
	add(&plan, "-%063dg", 0);
	refused(&plan, "entry 2: ");
}

static void
a_source_that_comes_late_is_one(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	add(&plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"" PROJECT_KIND
		"\",\"op\":\"publish\",\"provenance\":{\"project\":\"%s\"}}",
		digest_of(PROJECT), digest_of("b"));
	object(&plan, PROJECT);
	refused(&plan, "entry 2: ");
	begin(&plan);
	add(&plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"kernelindex.dev/"
		"v1alpha1/BenchmarkRun\",\"missing\":[\"%s\"],\"op\":"
		"\"publish\",\"provenance\":{\"source\":\"%s\"}}",
		digest_of("b"), digest_of("a"), digest_of("a"));
	add_publish(&plan, "a", "raw");
	refused(&plan, "entry 2: provenance.source is not of kind "
		SOURCE_KIND " (R22)");
}

static void
redaction_is_carried_out(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	add_publish(&plan, "gone", "raw");
	add(&plan, "{" AT ",\"digest\":\"%s\",\"lines\":[2],\"op\":"
		"\"takedown\",\"reason\":\"law\"}", digest_of("gone"));
	refused(&plan, "entry 2 stands in full, though the takedown in entry "
		"3 lists it (X3, S9)");
	begin(&plan);
	add_publish(&plan, "gone", "raw");
	add_about(&plan, "gone", "takedown");
	object(&plan, "gone");
	refused(&plan, "was taken down and is still here (X8)");
}

static void
there_are_all_objects_and_no_other(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	add_publish(&plan, "a", "raw");
	refused(&plan, "is published, and not in the file (S9); so are 0 "
		"more");
	begin(&plan);
	add_publish(&plan, "a", "raw");
	add_publish(&plan, "b", "raw");
	add_publish(&plan, "c", "raw");
	object(&plan, "b");
	refused(&plan, "so are 1 more");
	begin(&plan);
	object(&plan, "a");
	refused(&plan, "no entry of the file publishes it (S9)");
	begin(&plan);
	add_publish(&plan, "a", "raw");
	object(&plan, "b");
	ks_sha256(ks_span_text("a"), &plan.named);
	plan.misnamed = true;
	refused(&plan, "another sha256 than its address (O9)");
}

static void
an_object_is_what_the_log_says(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	add_publish(&plan, RECORD, "raw");
	object(&plan, RECORD);
	refused(&plan, "the log says it is a raw");
	begin(&plan);
	add_publish(&plan, "a", SOURCE_KIND);
	object(&plan, "a");
	refused(&plan, "its bytes are raw (O8)");
	begin(&plan);
	add(&plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"" SOURCE_KIND
		"\",\"missing\":[\"%s\"],\"op\":\"publish\"}",
		digest_of(RECORD), digest_of("a"));
	object(&plan, RECORD);
	refused(&plan, "as missing, which it does not refer to (R21)");
}

static void
the_logs_own_key_signs_alone(void **state)
{
	struct plan plan;

	(void)state;
	memset(&plan, 0, sizeof(plan));
	add(&plan, INIT);
	refused(&plan, "names no key of its own within this size (S3)");
	begin(&plan);
	plan.signer = &other_secret;
	refused(&plan, ", the key that the log names in entry 1 (S3)");
	begin(&plan);
	add_key(&plan, &other_vkey);
	refused(&plan, "checkpoint: is not signed by " NAME);
	begin(&plan);
	plan.extra = "\342\200\224 witness.example AAAAAAAAAAAA\n";
	refused(&plan, "checkpoint: has 2 signatures, not only that of the "
		"log (S9)");
}

static void
what_is_not_understood_stays_checkable(void **state)
{
	struct plan plan;
	struct ks_file_result result;
	struct ks_error err;

	(void)state;
	begin(&plan);
	add_publish(&plan, "a", "raw");
	add(&plan, "{" AT ",\"op\":\"sing\"}");
	object(&plan, "b");
	if (read_plan(&plan, &vkey, &result, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_int_equal(result.unsupported, 1);
	assert_string_equal(result.signature.verdict, "signed");
	assert_string_equal(result.not_checked,
		"which objects there must be is not checked");
	begin(&plan);
	add(&plan, "{" AT ",\"op\":\"sing\"}");
	plan.signer = &other_secret;
	refused(&plan, "(S3)");
}

/* ---- incremental files ---------------------------------------------- */

/* Entries 0 and 1, and two that publish; the file begins after them. */
static void
begin_from(struct plan *plan)
{
	begin(plan);
	add_publish(plan, "old", "raw");
	add_publish(plan, "older", "raw");
	plan->from = plan->count;
}

static void
entries_before_the_file_are_assumed(void **state)
{
	struct plan plan;
	struct ks_file_result result;
	struct ks_error err;

	(void)state;
	begin_from(&plan);
	add_about(&plan, "old", "retract");
	add_about(&plan, "older", "restore");
	add(&plan, "{" AT ",\"by\":\"%s\",\"digest\":\"%s\",\"op\":"
		"\"supersede\"}", digest_of("old"), digest_of("older"));
	add_publish(&plan, "new", "raw");
	add(&plan, "{" AT ",\"digest\":\"%s\",\"metadata\":{\"name\":\"n\"},"
		"\"op\":\"annotate\"}", digest_of("old"));
	add(&plan, "{" AT ",\"digest\":\"%s\",\"lines\":[2,8],\"op\":"
		"\"takedown\",\"reason\":\"law\"}", digest_of("old"));
	redact(&plan, 8);
	object(&plan, "new");
	if (read_plan(&plan, &vkey, &result, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_string_equal(result.signature.verdict, "signed");
	assert_int_equal(result.file.from, 4);
	assert_int_equal(result.file.objects, 1);
	assert_non_null(strstr(result.not_checked, "import checks them"));
}

static void
what_the_file_itself_decides_is_judged(void **state)
{
	struct plan plan;

	(void)state;
	begin_from(&plan);
	add_about(&plan, "new", "retract");
	add_publish(&plan, "new", "raw");
	object(&plan, "new");
	refused(&plan, "entry 4: the digest is not published");
	begin_from(&plan);
	add_publish(&plan, "new", "raw");
	add_publish(&plan, "new", "raw");
	object(&plan, "new");
	refused(&plan, "entry 5: the digest is published already");
	begin_from(&plan);
	add(&plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"raw\",\"missing\":"
		"[\"%s\"],\"op\":\"publish\"}", digest_of("new"),
		digest_of("never"));
	add_about(&plan, "never", "retract");
	object(&plan, "new");
	refused(&plan, "entry 5: the digest is not published");
	begin_from(&plan);
	add_about(&plan, "old", "restore");
	add_about(&plan, "old", "restore");
	refused(&plan, "entry 5: the digest is neither retracted nor "
		"superseded");
	begin_from(&plan);
	add(&plan, INIT);
	refused(&plan, "entry 4: only entry 0 is init");
	begin_from(&plan);
	add_about(&plan, "old", "retract");
	object(&plan, "old");
	refused(&plan, "no entry of the file publishes it (S9)");
	begin_from(&plan);
	add_publish(&plan, "new", "raw");
	refused(&plan, "is published, and not in the file (S9)");
}

static void
both_notes_of_an_incremental_file_count(void **state)
{
	struct plan plan;
	struct ks_file_result result;
	struct ks_error err;

	(void)state;
	begin_from(&plan);
	add_about(&plan, "old", "retract");
	plan.other_range = true;
	refused(&plan, "from/range does not have the root that "
		"from/checkpoint signs (S11)");
	begin_from(&plan);
	add_about(&plan, "old", "retract");
	plan.from_signer = &other_secret;
	assert_int_equal(read_plan(&plan, &vkey, &result, &err), KS_OK);
	assert_int_equal(result.signature.status, KS_UNTRUSTED);
	assert_int_equal(strncmp(result.signature.message,
		"from/checkpoint: ", 17), 0);
	begin_from(&plan);
	add_about(&plan, "old", "retract");
	plan.signer = &other_secret;
	assert_int_equal(read_plan(&plan, &vkey, &result, &err), KS_OK);
	assert_string_equal(result.signature.verdict, "untrusted key");
	assert_int_equal(result.signature.size, 4);
	begin_from(&plan);
	add_key(&plan, &other_vkey);
	refused(&plan, "checkpoint: is not signed by " NAME);
	begin_from(&plan);
	add_key(&plan, &other_vkey);
	plan.signer = &other_secret;
	assert_int_equal(read_plan(&plan, &other_vkey, &result, &err), KS_OK);
	assert_int_equal(result.signature.status, KS_UNTRUSTED);
}

/* ---- every small change --------------------------------------------- */

/* Whether a changed file is refused; if not, it holds the same stream. */
static bool
is_refused(struct ks_span bytes, const struct ks_id *digest)
{
	struct ks_file_result result;
	struct ks_error err;
	enum ks_status status = read_by(bytes, SIZE_MAX, &vkey, &result, &err);

	if (status == KS_CORRUPT || (status == KS_OK &&
		result.signature.status != KS_OK))
		return true;
	if (status != KS_OK)
		fail_msg("%s", err.message);
	assert_true(ks_id_equal(&result.file.tar, digest));
	return false;
}

/* Of the frame: the magic number, the descriptor, the window; blocks; the
 * checksum. A larger window than is needed decodes to the same stream, and so
 * do parts of a block that nothing uses: a symbol that does not occur, another
 * place with the same bytes to copy. All else is refused. */
#define WINDOW_AT 5
#define CHECKSUM 4

/* All changes; each `sparse`th where everything takes fifty times as long. */
static unsigned
step_of(unsigned sparse)
{
	const char *sanitizers = getenv("SANITIZE");

	return getenv("VALGRIND") != NULL ||
		(sanitizers != NULL && sanitizers[0] != '\0') ? sparse : 1;
}

static void
change_every_byte(struct plan *plan)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_id digest;
	size_t at, window = 0, block = 0, count = 0;
	unsigned by, step = step_of(50);

	print_file(plan, &file, &digest);
	assert_false(is_refused(ks_buf_span(&file), &digest));
	for (at = 0; at < file.len; at++)
		for (by = 1; by < 256; by += step) {
			count++;
			file.data[at] ^= (uint8_t)by;
			if (!is_refused(ks_buf_span(&file), &digest)) {
				assert_true(at >= WINDOW_AT);
				assert_true(at < file.len - CHECKSUM);
				window += at == WINDOW_AT;
				block += at != WINDOW_AT;
			}
			file.data[at] ^= (uint8_t)by;
		}
	print_message("# of %zu changes of a byte %zu decode to the "
		"identical stream: %zu of the window, %zu inside a block\n",
		count, window + block, window, block);
	ks_buf_release(&file);
	release(plan);
}

static void
every_change_of_a_byte_is_refused(void **state)
{
	struct plan plan;

	(void)state;
	begin(&plan);
	add_publish(&plan, "a", "raw");
	object(&plan, "a");
	change_every_byte(&plan);
	begin_from(&plan);
	add_about(&plan, "old", "retract");
	change_every_byte(&plan);
}

static void
every_truncation_is_refused(void **state)
{
	struct plan plan;
	struct ks_buf file = KS_BUF_INIT;
	struct ks_id digest;
	size_t len;

	(void)state;
	begin(&plan);
	add_publish(&plan, "a", "raw");
	object(&plan, "a");
	print_file(&plan, &file, &digest);
	for (len = 0; len < file.len; len++)
		assert_true(is_refused(ks_span(file.data, len), &digest));
	ks_buf_release(&file);
	release(&plan);
}

static void
every_extension_is_refused(void **state)
{
	static const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0,
		0 };
	struct plan plan;
	struct ks_buf file = KS_BUF_INIT, more = KS_BUF_INIT;
	struct ks_id digest;
	size_t len;
	unsigned byte;

	(void)state;
	begin(&plan);
	print_file(&plan, &file, &digest);
	len = file.len;
	for (byte = 0; byte < 256; byte++) {
		ks_buf_byte(&file, (uint8_t)byte);
		assert_true(is_refused(ks_buf_span(&file), &digest));
		file.len = len;
	}
	ks_buf_append(&file, ks_span(skippable, sizeof(skippable)));
	assert_true(is_refused(ks_buf_span(&file), &digest));
	file.len = len;
	compress(ks_span(NULL, 0), 9, &more);
	ks_buf_append(&file, ks_buf_span(&more));
	assert_true(is_refused(ks_buf_span(&file), &digest));
	file.len = len;
	ks_buf_clear(&more);
	ks_buf_append(&more, ks_buf_span(&file));
	ks_buf_append(&file, ks_buf_span(&more));
	assert_true(is_refused(ks_buf_span(&file), &digest));
	ks_buf_release(&file);
	ks_buf_release(&more);
	release(&plan);
}

/* Every change of a byte of the stream itself, compressed again: what an
 * exporter would not have written is refused whatever zstd says. */
static void
every_change_of_the_stream_is_refused(void **state)
{
	struct plan plan;
	struct ks_buf tar = KS_BUF_INIT, file = KS_BUF_INIT;
	struct ks_id digest;
	size_t at, bit, step = step_of(7);

	(void)state;
	begin(&plan);
	add_publish(&plan, "a", "raw");
	object(&plan, "a");
	print_tar(&plan, &tar, &digest);
	for (at = 0; at < tar.len; at++)
		for (bit = 0; bit < 8; bit += step) {
			tar.data[at] ^= (uint8_t)(1U << bit);
			ks_buf_clear(&file);
			compress(ks_buf_span(&tar), 1, &file);
			assert_true(is_refused(ks_buf_span(&file), &digest));
			tar.data[at] ^= (uint8_t)(1U << bit);
		}
	ks_buf_release(&tar);
	ks_buf_release(&file);
	release(&plan);
}

static void
a_bomb_ends_early(void **state)
{
	struct ks_buf tar = KS_BUF_INIT, file = KS_BUF_INIT;
	struct ks_file_result result;
	struct ks_error err;

	(void)state;
	assert_non_null(ks_buf_reserve(&tar, (size_t)64 << 20));
	memset(tar.data, 0, (size_t)64 << 20);
	tar.len = (size_t)64 << 20;
	compress(ks_buf_span(&tar), 9, &file);
	assert_int_equal(read_by(ks_buf_span(&file), SIZE_MAX, &vkey, &result,
		&err), KS_CORRUPT);
	assert_true(result.file.tar_bytes < (size_t)1 << 20);
	ks_buf_release(&tar);
	ks_buf_release(&file);
}

/* ---- importing what needs the entries before ------------------------ */

#define FILE_NAME "f.kistore"
#define STORE "d.git"

static enum ks_status
import(struct plan *plan, struct ks_import_result *result,
	struct ks_error *err)
{
	struct ks_buf file = KS_BUF_INIT, text = KS_BUF_INIT;
	struct ks_id digest;
	struct ks_span keys[1];
	struct ks_trust_options trust = { .keys = keys, .key_count = 1 };
	struct ks_import_options options = {
		.write = { .now = 1787500000 },
		.file = { .trust = &trust, .threads = 1 }
	};
	enum ks_status status;

	ks_vkey_print(&vkey, &text);
	keys[0] = ks_buf_span(&text);
	print_file(plan, &file, &digest);
	scratch_write(FILE_NAME, ks_buf_span(&file));
	*err = (struct ks_error)KS_ERROR_INIT;
	status = ks_snapshot_import(FILE_NAME, STORE, &options, result, err);
	ks_buf_release(&file);
	ks_buf_release(&text);
	return status;
}

/* A store of what `plan` has so far; what is added to it goes on from there. */
static void
import_base(struct plan *plan)
{
	struct ks_import_result result;
	struct ks_error err;

	if (import(plan, &result, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_true(result.created);
	assert_true(result.changed);
	plan->from = plan->count;
	plan->object_count = 0;
}

static struct ks_oid
head_of(const char *path)
{
	struct ks_gitdb *db = scratch_open(path);
	struct ks_oid commit, tree;

	scratch_head(db, &commit, &tree);
	ks_gitdb_close(db);
	return commit;
}

/* Right as far as the file alone tells, wrong after what the store has. */
static void
refused_by_store(struct plan *plan, const char *why)
{
	struct ks_import_result result;
	struct ks_file_result checked;
	struct ks_buf file = KS_BUF_INIT;
	struct ks_oid before = head_of(STORE), after;
	struct ks_error err;
	struct ks_id digest;

	print_file(plan, &file, &digest);
	if (read_by(ks_buf_span(&file), SIZE_MAX, &vkey, &checked, &err) !=
		KS_OK)
		fail_msg("%s", err.message);
	assert_int_equal(checked.signature.status, KS_OK);
	assert_int_equal(import(plan, &result, &err), KS_CORRUPT);
	if (strstr(err.message, why) == NULL)
		fail_msg("not \"%s\" but: %s", why, err.message);
	after = head_of(STORE);
	assert_true(ks_oid_equal(&before, &after));
	while (plan->count > plan->from)
		ks_buf_release(&plan->lines[--plan->count]);
	plan->object_count = 0;
	ks_buf_release(&file);
}

/* A record that refers to `target`, which its line says is missing. */
static void
add_configuration(struct plan *plan, const char *target, char body[400])
{
	(void)snprintf(body, 400, "{\"apiVersion\":\"kernelindex.dev/"
		"v1alpha1\",\"kind\":\"ServingConfiguration\",\"spec\":"
		"{\"stackDigest\":\"%s\"}}", digest_of(target));
	add(plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"kernelindex.dev/"
		"v1alpha1/ServingConfiguration\",\"missing\":[\"%s\"],"
		"\"op\":\"publish\"}", digest_of(body), digest_of(target));
	object(plan, body);
}

static void
a_store_judges_what_the_file_rests_on(void **state)
{
	struct plan plan;
	struct ks_import_result result;
	struct ks_error err;
	char body[400];

	(void)state;
	begin(&plan);
	add(&plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"raw\",\"op\":"
		"\"publish\",\"provenance\":{\"id\":\"00000000-0000-4000-"
		"8000-000000000001\"}}", digest_of("old"));
	object(&plan, "old");
	import_base(&plan);
	add_about(&plan, "never", "retract");
	refused_by_store(&plan, "entry 3: the digest is not published");
	add_publish(&plan, "old", "raw");
	object(&plan, "old");
	refused_by_store(&plan, "entry 3: the digest is published already");
	add_about(&plan, "old", "restore");
	refused_by_store(&plan, "entry 3: the digest is neither retracted nor "
		"superseded");
	add(&plan, "{\"at\":\"2026-08-22T11:59:59Z\",\"op\":\"x-y\"}");
	refused_by_store(&plan, "entry 3: at is earlier than that of an "
		"earlier line");
	add(&plan, "{" AT ",\"digest\":\"%s\",\"kind\":\"raw\",\"op\":"
		"\"publish\",\"provenance\":{\"id\":\"00000000-0000-4000-"
		"8000-000000000001\"}}", digest_of("new"));
	object(&plan, "new");
	refused_by_store(&plan, "belongs to another digest");
	add_configuration(&plan, "old", body);
	refused_by_store(&plan, "entry 3: missing lists ");
	add(&plan, "{" AT ",\"digest\":\"%s\",\"lines\":[1],\"op\":"
		"\"takedown\",\"reason\":\"law\"}", digest_of("old"));
	refused_by_store(&plan, "entry 1 neither publishes nor annotates");
	add_about(&plan, "old", "retract");
	if (import(&plan, &result, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_false(result.created);
	assert_true(result.changed);
	assert_int_equal(result.checked.file.from, 3);
	release(&plan);
}

/* A configuration refers to a stack, which comes later and is none. */
static void
what_was_left_open_is_held_to_its_kind(void **state)
{
	struct plan plan;
	char body[400];

	(void)state;
	begin(&plan);
	add_configuration(&plan, "late", body);
	import_base(&plan);
	add_publish(&plan, "late", "raw");
	object(&plan, "late");
	refused_by_store(&plan, "must name another kind (R22)");
	release(&plan);
}

static void
the_earlier_note_is_of_the_logs_key_then(void **state)
{
	struct plan plan;
	struct ks_import_result result;
	struct ks_error err;

	(void)state;
	begin(&plan);
	import_base(&plan);
	add(&plan, "{" AT ",\"op\":\"x-y\"}");
	plan.from_signer = &other_secret;
	assert_int_equal(import(&plan, &result, &err), KS_CORRUPT);
	assert_non_null(strstr(err.message, "from/checkpoint: is not signed "
		"by " NAME));
	release(&plan);
}

static void
what_is_not_understood_is_not_imported(void **state)
{
	struct plan plan;
	struct ks_import_result result;
	struct ks_error err;

	(void)state;
	begin(&plan);
	add(&plan, "{" AT ",\"op\":\"sing\"}");
	assert_int_equal(import(&plan, &result, &err), KS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "1 entry of the log needs a newer "
		"kistore"));
	assert_int_equal(access(STORE, F_OK), -1);
	release(&plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_without_objects_is_a_file),
		cmocka_unit_test(objects_of_all_sorts_are_taken),
		cmocka_unit_test(the_size_of_pieces_makes_no_difference),
		cmocka_unit_test(what_is_taken_down_is_not_there),
		cmocka_unit_test(nobody_trusted_is_said),
		cmocka_unit_test(every_rule_of_the_log_holds),
		cmocka_unit_test(a_source_that_comes_late_is_one),
		cmocka_unit_test(redaction_is_carried_out),
		cmocka_unit_test(there_are_all_objects_and_no_other),
		cmocka_unit_test(an_object_is_what_the_log_says),
		cmocka_unit_test(the_logs_own_key_signs_alone),
		cmocka_unit_test(what_is_not_understood_stays_checkable),
		cmocka_unit_test(entries_before_the_file_are_assumed),
		cmocka_unit_test(what_the_file_itself_decides_is_judged),
		cmocka_unit_test(both_notes_of_an_incremental_file_count),
		cmocka_unit_test(every_change_of_a_byte_is_refused),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_extension_is_refused),
		cmocka_unit_test(every_change_of_the_stream_is_refused),
		cmocka_unit_test(a_bomb_ends_early),
		cmocka_unit_test_setup_teardown(
			a_store_judges_what_the_file_rests_on, scratch_setup,
			scratch_teardown),
		cmocka_unit_test_setup_teardown(
			what_was_left_open_is_held_to_its_kind, scratch_setup,
			scratch_teardown),
		cmocka_unit_test_setup_teardown(
			the_earlier_note_is_of_the_logs_key_then,
			scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(
			what_is_not_understood_is_not_imported, scratch_setup,
			scratch_teardown),
	};

	return cmocka_run_group_tests(tests, make_keys, forget_keys);
}
