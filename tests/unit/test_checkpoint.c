#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base64.h"
#include "format/checkpoint.h"
#include "format/digest.h"
#include "../lib/trust.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define SIXTEEN(c) c c c c c c c c c c c c c c c c
#define TWO_HUNDRED_FORTY(c) SIXTEEN(c c c c c c c c c c c c c c c)

#define ROOT "QdQeB11YgX/rOtM3hRv6pa5ldO0wojr2h7Qk3I0novs="
#define EMPTY "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
#define TEXT TRUST_LOG "\n300\n" ROOT "\n"

static void
read_root(const char *base64, struct ks_id *out)
{
	assert_true(ks_base64_decode_exact(ks_span_text(base64), out->bytes,
		KS_ID_BYTES));
}

static void
assert_refused(struct ks_span text, const char *said)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_checkpoint checkpoint;

	if (ks_checkpoint_parse(text, &checkpoint, &err) != KS_CORRUPT)
		fail_msg("not refused (%s): %.*s", said, (int)text.len,
			(const char *)text.data);
	assert_int_equal(err.status, KS_CORRUPT);
	if (strstr(err.message, said) == NULL)
		fail_msg("wanted \"%s\", got \"%s\"", said, err.message);
}

/* Parse what must be right; printing gives it again. */
static void
parse(struct ks_span text, struct ks_checkpoint *out)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf again = KS_BUF_INIT;

	if (ks_checkpoint_parse(text, out, &err) != KS_OK)
		fail_msg("%.*s: %s", (int)text.len, (const char *)text.data,
			err.message);
	ks_checkpoint_print(out, &again);
	assert_true(ks_span_equal(ks_buf_span(&again), text));
	ks_buf_release(&again);
}

/* ---- The vectors ---- */

static void
check_case(struct ks_span item, const struct ks_vkey *log)
{
	struct ks_note_key key = { .vkey = log };
	struct ks_span expect = vector_member(item, "expect");
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	struct ks_note note;

	/* All are signed notes; what differs is the text. */
	(void)vector_unescape(vector_member(item, "note"), &bytes);
	assert_int_equal(ks_note_parse(ks_buf_span(&bytes), &note, NULL),
		KS_OK);
	assert_int_equal(ks_note_open(&note, &key, 1, NULL), KS_OK);
	if (ks_json_is(expect, "reject")) {
		assert_refused(note.text, "checkpoint");
	} else {
		parse(note.text, &checkpoint);
		assert_int_equal(ks_json_is(expect, "ok"),
			ks_span_is(checkpoint.origin, log->name));
		assert_int_equal(ks_json_is(expect, "ok-other-origin"),
			ks_span_is(checkpoint.origin, "go.sum database tree"));
		assert_int_equal(ks_json_is(vector_member(item, "name"),
			"extension"), checkpoint.extension.len > 0);
	}
	ks_note_release(&note);
	ks_buf_release(&bytes);
}

static void
each_checkpoint_of_the_vectors_gets_its_verdict(void **state)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span item;
	struct ks_vkey log;
	size_t seen = 0;

	(void)state;
	(void)vector_read_json("checkpoints.json", &file);
	trust_vkey(ks_json_raw(vector_member(ks_buf_span(&file), "log_vkey")),
		&log);
	it = ks_json_iter(vector_member(ks_buf_span(&file), "cases"));
	while (ks_json_next_element(&it, &item)) {
		check_case(item, &log);
		seen++;
	}
	assert_int_equal(seen, 19);
	ks_buf_release(&file);
}

/* A log and two cosigners of the vectors, with their secrets. */
enum { LOG, WITNESS, MIRROR, PARTIES };

struct parties {
	struct ks_vkey vkey[PARTIES];
	struct ks_secret_key secret[PARTIES];
};

static struct parties parties;

static int
set_up(void **state)
{
	(void)state;
	trust_key(TRUST_LOG_VKEY, &parties.vkey[LOG], &parties.secret[LOG]);
	trust_key(TRUST_WITNESS_VKEY, &parties.vkey[WITNESS],
		&parties.secret[WITNESS]);
	trust_key(TRUST_MIRROR_VKEY, &parties.vkey[MIRROR],
		&parties.secret[MIRROR]);
	return 0;
}

/* Ed25519 is deterministic, so what is signed here is what was signed there:
 * the witness cosigned at 1735689600 plus the size, the mirror a second after
 * it. */
static void
check_signed(struct ks_span bytes, uint64_t size,
	const struct ks_id *root)
{
	struct ks_buf made = KS_BUF_INIT, text = KS_BUF_INIT;
	struct ks_checkpoint checkpoint = {
		.origin = ks_span_text(TRUST_LOG), .size = size,
		.root = *root };
	uint64_t time = 1735689600 + size;

	assert_int_equal(ks_checkpoint_sign(checkpoint.origin, size, root,
		&parties.secret[LOG], &made, NULL), KS_OK);
	ks_checkpoint_print(&checkpoint, &text);
	assert_int_equal(ks_checkpoint_cosign(ks_buf_span(&text),
		&parties.vkey[WITNESS], &parties.secret[WITNESS], time, &made,
		NULL), KS_OK);
	assert_int_equal(ks_checkpoint_cosign(ks_buf_span(&text),
		&parties.vkey[MIRROR], &parties.secret[MIRROR], time + 1,
		&made, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&made), bytes));
	ks_buf_release(&made);
	ks_buf_release(&text);
}

static void
check_log300(struct ks_span item)
{
	struct ks_note_key keys[PARTIES];
	struct ks_checkpoint checkpoint;
	struct ks_buf bytes = KS_BUF_INIT, base64 = KS_BUF_INIT;
	struct ks_note note;
	uint64_t size = vector_number(item, "size");
	size_t i;

	(void)vector_unescape(vector_member(item, "checkpoint"), &bytes);
	assert_int_equal(ks_note_parse(ks_buf_span(&bytes), &note, NULL),
		KS_OK);
	for (i = 0; i < PARTIES; i++)
		keys[i].vkey = &parties.vkey[i];
	assert_int_equal(ks_note_open(&note, keys, PARTIES, NULL), KS_OK);
	for (i = 0; i < PARTIES; i++) {
		assert_true(keys[i].verified);
		assert_int_equal(keys[i].line, i);
		assert_int_equal(keys[i].time,
			i == LOG ? 0 : 1735689600 + size + (i == MIRROR));
	}
	parse(note.text, &checkpoint);
	assert_true(ks_span_is(checkpoint.origin, TRUST_LOG));
	assert_int_equal(checkpoint.size, size);
	assert_int_equal(checkpoint.extension.len, 0);
	ks_base64_encode(ks_span(checkpoint.root.bytes, KS_ID_BYTES),
		&base64);
	assert_true(ks_json_is(vector_member(item, "root"),
		ks_buf_cstr(&base64)));
	check_signed(ks_buf_span(&bytes), size, &checkpoint.root);
	ks_note_release(&note);
	ks_buf_release(&bytes);
	ks_buf_release(&base64);
}

static void
the_checkpoints_of_the_log_of_300_are_read_and_signed_to_the_byte(
	void **state)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span item;
	size_t seen = 0;

	(void)state;
	it = ks_json_iter(vector_member(
		vector_read_json("log300_checkpoints.json", &file), "checkpoints"));
	while (ks_json_next_element(&it, &item)) {
		check_log300(item);
		seen++;
	}
	assert_int_equal(seen, 9);
	ks_buf_release(&file);
}

static void
check_cosignature(struct ks_span item, uint64_t timestamp)
{
	struct ks_buf text = KS_BUF_INIT, line = KS_BUF_INIT;
	struct ks_buf made = KS_BUF_INIT;

	(void)vector_unescape(vector_member(item, "checkpoint_text"), &text);
	(void)vector_unescape(vector_member(item, "note_line"), &line);
	assert_int_equal(ks_checkpoint_cosign(ks_buf_span(&text),
		&parties.vkey[WITNESS], &parties.secret[WITNESS], timestamp,
		&made, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&made), ks_buf_span(&line)));
	ks_buf_release(&text);
	ks_buf_release(&line);
	ks_buf_release(&made);
}

static void
the_cosignatures_of_the_vectors_are_made_to_the_byte(void **state)
{
	struct ks_buf file = KS_BUF_INIT;

	(void)state;
	(void)vector_read_json("cosignature_ed25519.json", &file);
	check_cosignature(ks_buf_span(&file), 1735689900);
	check_cosignature(vector_member(ks_buf_span(&file), "with_extension"),
		1735689900);
	ks_buf_release(&file);
}

/* ---- Parsing ---- */

static void
the_three_lines_are_the_origin_the_size_and_the_root(void **state)
{
	struct ks_checkpoint checkpoint;
	struct ks_id root;

	(void)state;
	parse(ks_span_text(TEXT), &checkpoint);
	read_root(ROOT, &root);
	assert_true(ks_span_is(checkpoint.origin, TRUST_LOG));
	assert_int_equal(checkpoint.size, 300);
	assert_true(ks_id_equal(&checkpoint.root, &root));
	assert_int_equal(checkpoint.extension.len, 0);
}

static void
lines_after_the_third_are_told(void **state)
{
	struct ks_checkpoint checkpoint;

	(void)state;
	parse(ks_span_text(TEXT "one\n two \n"), &checkpoint);
	assert_true(ks_span_is(checkpoint.extension, "one\n two \n"));
}

static void
an_origin_is_opaque_and_has_at_most_255_bytes(void **state)
{
	static const char *const origins[] = { "a", " ", "a b+c",
		"cosignature/v1", "\x7f\xc2\x85",
		TWO_HUNDRED_FORTY("a") "123456789012345" };
	struct ks_checkpoint checkpoint;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(origins); i++) {
		struct ks_buf text = KS_BUF_INIT;

		ks_buf_printf(&text, "%s\n1\n" ROOT "\n", origins[i]);
		parse(ks_buf_span(&text), &checkpoint);
		assert_true(ks_span_is(checkpoint.origin, origins[i]));
		ks_buf_release(&text);
	}
	assert_refused(ks_span_text(TWO_HUNDRED_FORTY("a")
		"1234567890123456\n1\n" ROOT "\n"), "255 bytes (B17)");
}

static const struct {
	const char *text;
	const char *said;
} malformed[] = {
	{ "", "does not end in a newline" },
	{ TRUST_LOG "\n300\n" ROOT, "does not end in a newline" },
	{ TEXT "more", "does not end in a newline" },
	{ "\n", "three lines" },
	{ TRUST_LOG "\n", "three lines" },
	{ TRUST_LOG "\n300\n", "three lines" },
	{ "\n" TRUST_LOG "\n300\n" ROOT "\n", "three lines" },
	{ "\n300\n" ROOT "\n", "three lines" },
	{ TRUST_LOG "\n\n" ROOT "\n", "three lines" },
	{ TRUST_LOG "\n300\n\n" ROOT "\n", "three lines" },
	{ TEXT "\n", "an empty line" },
	{ TEXT "\nmore\n", "an empty line" },
	{ TEXT "more\n\n", "an empty line" },
	{ TEXT "more\n\nand more\n", "an empty line" },
	{ TRUST_LOG "\r\n300\r\n" ROOT "\r\n", "control" },
	{ TRUST_LOG "\n300\t\n" ROOT "\n", "control" },
	{ "\xff\n300\n" ROOT "\n", "UTF-8" },
	{ TRUST_LOG "\n" ROOT "\n300\n", "the size" },
	{ TRUST_LOG "\n00\n" EMPTY "\n", "the size" },
	{ TRUST_LOG "\n 300\n" ROOT "\n", "the size" },
	{ TRUST_LOG "\n300 \n" ROOT "\n", "the size" },
	{ TRUST_LOG "\n3e2\n" ROOT "\n", "the size" },
	{ TRUST_LOG "\n300.0\n" ROOT "\n", "the size" },
	{ TRUST_LOG "\n18446744073709551916\n" ROOT "\n", "the size" },
	{ TRUST_LOG "\n300\n" ROOT " \n", "the root" },
	{ TRUST_LOG "\n300\n " ROOT "\n", "the root" },
	{ TRUST_LOG "\n300\nsha256:" ROOT "\n", "the root" },
	/* 33 bytes */
	{ TRUST_LOG "\n300\n" "QdQeB11YgX/rOtM3hRv6pa5ldO0wojr2h7Qk3I0novsA\n",
		"the root" },
	{ TRUST_LOG "\n0\n" ROOT "\n", "size 0 is not the hash of nothing" },
	/* A message that cosigners sign is not a checkpoint again. */
	{ "cosignature/v1\ntime 1\n" TEXT, "the size" },
};

static void
what_is_no_checkpoint_is_refused_with_the_line_at_fault(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(malformed); i++)
		assert_refused(ks_span_text(malformed[i].text),
			malformed[i].said);
	assert_refused(ks_span(NULL, 0), "does not end in a newline");
}

static void
every_prefix_of_a_checkpoint_is_refused(void **state)
{
	size_t len;

	(void)state;
	for (len = 0; len < strlen(TEXT); len++) {
		uint8_t *copy = malloc(len + (len == 0));

		assert_non_null(copy);
		memcpy(copy, TEXT, len);
		assert_refused(ks_span(copy, len), "");
		free(copy);
	}
}

static void
a_number_has_one_form_and_63_bits(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "0", 0 }, { "1", 1 }, { "9", 9 }, { "10", 10 },
		{ "4294967296", 4294967296 },
		{ "9223372036854775806", INT64_MAX - 1 },
		{ "9223372036854775807", INT64_MAX },
	};
	static const char *const bad[] = { "", "00", "01", "+1", "-0", "-1",
		" 1", "1 ", "1\n", "0x1", "1a", "/", ":", "\xb2", "1,000",
		"9223372036854775808", "9223372036854775809",
		"9223372036854775810", "18446744073709551615",
		"18446744073709551616", "18446744073709551617",
		"99999999999999999999999999999999" };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(good); i++) {
		uint64_t value = 99;

		assert_true(ks_checkpoint_read_number(
			ks_span_text(good[i].text), &value));
		assert_true(value == good[i].value);
	}
	for (i = 0; i < COUNT(bad); i++) {
		uint64_t value = 99;

		assert_false(ks_checkpoint_read_number(ks_span_text(bad[i]),
			&value));
		assert_int_equal(value, 99);
	}
	assert_false(ks_checkpoint_read_number(ks_span("1\0", 2), &(uint64_t){
		0 }));
}

/* ---- Signing ---- */

static void
what_is_signed_is_appended_and_opens_under_the_origin(void **state)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	struct ks_note_key key;
	struct ks_secret_key secret;
	struct ks_note parsed;
	struct ks_vkey vkey;
	struct ks_id root;

	(void)state;
	trust_make("new.example", KS_SIGNATURE_ED25519, 7, &vkey, &secret);
	read_root(ROOT, &root);
	ks_buf_text(&note, "before");
	assert_int_equal(ks_checkpoint_sign(ks_span_text("new.example"),
		INT64_MAX, &root, &secret, &note, NULL), KS_OK);
	assert_memory_equal(note.data, "beforenew.example\n"
		"9223372036854775807\n" ROOT "\n\n\xe2\x80\x94 new.example ",
		6 + 12 + 20 + 45 + 1 + 16);
	assert_int_equal(ks_note_parse(ks_span(note.data + 6, note.len - 6),
		&parsed, NULL), KS_OK);
	key.vkey = &vkey;
	assert_int_equal(ks_note_open(&parsed, &key, 1, NULL), KS_OK);
	parse(parsed.text, &checkpoint);
	assert_true(checkpoint.size == INT64_MAX);
	assert_int_equal(parsed.line_count, 1);
	ks_note_release(&parsed);
	ks_buf_release(&note);
}

static void
assert_not_signed(const char *origin, uint64_t size, const char *root,
	enum ks_status status, const char *said)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_id id;

	read_root(root, &id);
	ks_buf_text(&note, "before");
	assert_int_equal(ks_checkpoint_sign(ks_span_text(origin), size, &id,
		&parties.secret[LOG], &note, &err), status);
	assert_int_equal(err.status, status);
	assert_non_null(strstr(err.message, said));
	assert_string_equal(ks_buf_cstr(&note), "before");
	ks_buf_release(&note);
}

static void
an_origin_against_rule_t6_is_not_signed_for(void **state)
{
	static const char *const origins[] = { "", "a b", "a+b", "a\nb",
		"a\n1\n" ROOT, "cosignature/v1", "cosignature/", "DSSEv1",
		"DSSEv1 28 application", "a\x7f", "\xff",
		TWO_HUNDRED_FORTY("a") "1234567890123456" };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(origins); i++)
		assert_not_signed(origins[i], 1, ROOT, KS_INVALID, "(T6)");
}

static void
a_size_of_64_bits_or_a_root_of_nothing_that_is_not_is_not_signed(
	void **state)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_id root;

	(void)state;
	assert_not_signed("a", (uint64_t)INT64_MAX + 1, ROOT, KS_USAGE,
		"below 2^63");
	assert_not_signed("a", UINT64_MAX, ROOT, KS_USAGE, "below 2^63");
	assert_not_signed("a", 0, ROOT, KS_USAGE, "size 0");
	assert_not_signed("a", 0,
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", KS_USAGE,
		"size 0");
	ks_sha256(ks_span(NULL, 0), &root);
	assert_int_equal(ks_checkpoint_sign(ks_span_text("a"), 0, &root,
		&parties.secret[LOG], &note, NULL), KS_OK);
	ks_buf_release(&note);
}

static void
assert_not_cosigned(const char *text, const struct ks_vkey *vkey,
	const struct ks_secret_key *secret, uint64_t time,
	enum ks_status status)
{
	struct ks_buf line = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	ks_buf_text(&line, "before");
	assert_int_equal(ks_checkpoint_cosign(ks_span_text(text), vkey, secret,
		time, &line, &err), status);
	assert_int_equal(err.status, status);
	assert_true(err.message[0] != '\0');
	assert_string_equal(ks_buf_cstr(&line), "before");
	ks_buf_release(&line);
}

static void
only_checkpoints_are_cosigned(void **state)
{
	const struct ks_vkey *vkey = &parties.vkey[WITNESS];
	const struct ks_secret_key *secret = &parties.secret[WITNESS];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(malformed); i++)
		assert_not_cosigned(malformed[i].text, vkey, secret, 1,
			KS_CORRUPT);
	assert_not_cosigned("free text\n", vkey, secret, 1, KS_CORRUPT);
}

static void
only_a_cosigners_own_key_cosigns_and_within_63_bits_of_time(void **state)
{
	struct ks_vkey log_04;

	(void)state;
	trust_vkey(ks_span_text(TRUST_LOG_VKEY_04), &log_04);
	assert_not_cosigned(TEXT, &parties.vkey[LOG], &parties.secret[LOG], 1,
		KS_USAGE);
	assert_not_cosigned(TEXT, &parties.vkey[WITNESS],
		&parties.secret[MIRROR], 1, KS_USAGE);
	assert_not_cosigned(TEXT, &log_04, &parties.secret[WITNESS], 1,
		KS_USAGE);
	assert_not_cosigned(TEXT, &parties.vkey[WITNESS],
		&parties.secret[WITNESS], (uint64_t)INT64_MAX + 1, KS_USAGE);
	assert_not_cosigned(TEXT, &parties.vkey[WITNESS],
		&parties.secret[WITNESS], UINT64_MAX, KS_USAGE);
}

static void
a_cosignature_of_the_last_second_verifies(void **state)
{
	struct ks_note_key key = { .vkey = &parties.vkey[WITNESS] };
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_note note;

	(void)state;
	ks_buf_text(&bytes, TEXT "\n");
	assert_int_equal(ks_checkpoint_cosign(ks_span_text(TEXT),
		&parties.vkey[WITNESS], &parties.secret[WITNESS], INT64_MAX,
		&bytes, NULL), KS_OK);
	assert_int_equal(ks_note_parse(ks_buf_span(&bytes), &note, NULL),
		KS_OK);
	assert_int_equal(ks_note_open(&note, &key, 1, NULL), KS_OK);
	assert_true(key.time == INT64_MAX);
	ks_note_release(&note);
	ks_buf_release(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_checkpoint_of_the_vectors_gets_its_verdict),
		cmocka_unit_test(
			the_checkpoints_of_the_log_of_300_are_read_and_signed_to_the_byte),
		cmocka_unit_test(
			the_cosignatures_of_the_vectors_are_made_to_the_byte),
		cmocka_unit_test(
			the_three_lines_are_the_origin_the_size_and_the_root),
		cmocka_unit_test(lines_after_the_third_are_told),
		cmocka_unit_test(
			an_origin_is_opaque_and_has_at_most_255_bytes),
		cmocka_unit_test(
			what_is_no_checkpoint_is_refused_with_the_line_at_fault),
		cmocka_unit_test(every_prefix_of_a_checkpoint_is_refused),
		cmocka_unit_test(a_number_has_one_form_and_63_bits),
		cmocka_unit_test(
			what_is_signed_is_appended_and_opens_under_the_origin),
		cmocka_unit_test(an_origin_against_rule_t6_is_not_signed_for),
		cmocka_unit_test(
			a_size_of_64_bits_or_a_root_of_nothing_that_is_not_is_not_signed),
		cmocka_unit_test(only_checkpoints_are_cosigned),
		cmocka_unit_test(
			only_a_cosigners_own_key_cosigns_and_within_63_bits_of_time),
		cmocka_unit_test(a_cosignature_of_the_last_second_verifies),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
