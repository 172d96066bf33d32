#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "format/note.h"
#include "../lib/trust.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define KEYS_MAX 8
#define TEXT "one\ntwo\n"
#define DASH "\xe2\x80\x94 "
/* The shortest line that is well formed, by nobody: id 0 and a byte. */
#define NOBODY DASH "x.example AAAAAAA=\n"

/* A key of the test's own, with its secret. */
struct signer {
	struct ks_vkey vkey;
	struct ks_secret_key secret;
};

/* Append the signature line that `signer` makes of `text`; `time` is of use to
 * cosigners only. */
static void
sign_line(const struct signer *signer, const char *text, uint64_t time,
	struct ks_buf *out)
{
	uint8_t payload[8 + KS_ED25519_SIGNATURE];
	struct ks_buf message = KS_BUF_INIT;
	bool timed = signer->vkey.type == KS_SIGNATURE_COSIGNATURE;
	size_t start = timed ? 8 : 0;
	size_t i;

	for (i = 0; i < 8; i++)
		payload[i] = (uint8_t)(time >> (56 - 8 * i));
	if (timed)
		ks_buf_printf(&message, "cosignature/v1\ntime %llu\n",
			(unsigned long long)time);
	ks_buf_text(&message, text);
	assert_int_equal(ks_ed25519_sign(&signer->secret,
		ks_buf_span(&message), payload + start, NULL), KS_OK);
	ks_note_print_line(ks_span_text(signer->vkey.name), signer->vkey.id,
		ks_span(payload, start + KS_ED25519_SIGNATURE), out);
	ks_buf_release(&message);
}

/* Four signers: a log, two cosigners, and the log's key as a cosigner. */
enum { LOG, W1, W2, LOG_04, SIGNERS };

static struct signer signers[SIGNERS];

static int
set_up(void **state)
{
	(void)state;
	trust_make("log.example", KS_SIGNATURE_ED25519, 1,
		&signers[LOG].vkey, &signers[LOG].secret);
	trust_make("w.example/1", KS_SIGNATURE_COSIGNATURE, 2,
		&signers[W1].vkey, &signers[W1].secret);
	trust_make("w.example/2", KS_SIGNATURE_COSIGNATURE, 3,
		&signers[W2].vkey, &signers[W2].secret);
	trust_make("log.example", KS_SIGNATURE_COSIGNATURE, 1,
		&signers[LOG_04].vkey, &signers[LOG_04].secret);
	return 0;
}

static void
all_keys(struct ks_note_key keys[SIGNERS])
{
	size_t i;

	for (i = 0; i < SIGNERS; i++)
		keys[i] = (struct ks_note_key){ .vkey = &signers[i].vkey,
			.verified = true, .line = 99, .time = 99 };
}

/* What of a failure must have been forgotten. */
static void
assert_none_verified(const struct ks_note_key *keys, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		assert_false(keys[i].verified);
		assert_int_equal(keys[i].line, 0);
		assert_int_equal(keys[i].time, 0);
	}
}

/* Parse bytes that must be well formed. */
static void
parse(struct ks_span bytes, struct ks_note *note)
{
	struct ks_error err = KS_ERROR_INIT;

	if (ks_note_parse(bytes, note, &err) != KS_OK)
		fail_msg("%.*s: %s", (int)bytes.len, (const char *)bytes.data,
			err.message);
}

static void
assert_malformed(struct ks_span bytes, const char *said)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_note note;

	if (ks_note_parse(bytes, &note, &err) != KS_CORRUPT)
		fail_msg("not refused (%s): %.*s", said, (int)bytes.len,
			(const char *)bytes.data);
	assert_int_equal(err.status, KS_CORRUPT);
	if (strstr(err.message, said) == NULL)
		fail_msg("wanted \"%s\", got \"%s\"", said, err.message);
	assert_int_equal(note.line_count, 0);
	assert_null(note.payloads.data);
}

/* ---- The vectors ---- */

/* The verdict on a note of the vectors, in their words. */
static const char *
verdict(struct ks_span bytes, struct ks_note_key *keys, size_t count,
	struct ks_note *note)
{
	enum ks_status status = ks_note_parse(bytes, note, NULL);

	if (status != KS_OK)
		return status == KS_CORRUPT ? "malformed" :
			"another status of parsing";
	status = ks_note_open(note, keys, count, NULL);
	if (status == KS_CORRUPT)
		return "invalid-signature";
	if (status == KS_UNTRUSTED)
		return "unverified";
	if (status == KS_USAGE)
		return "ambiguous-key";
	return status == KS_OK ? "ok" : "another status of opening";
}

/* The keys that verified are those expected, in the order of their lines. */
static void
assert_verified(struct ks_span expected, const struct ks_note_key *keys,
	size_t count)
{
	struct ks_json_iter it = ks_json_iter(expected);
	struct ks_span item;
	size_t verified = 0;
	size_t last = 0;
	size_t i;

	while (ks_json_next_element(&it, &item)) {
		struct ks_span text = ks_json_raw(item);
		struct ks_buf name = KS_BUF_INIT;
		bool found = false;

		for (i = 0; i < count && !found; i++) {
			ks_buf_clear(&name);
			ks_buf_printf(&name, "%s+%08lx", keys[i].vkey->name,
				(unsigned long)keys[i].vkey->id);
			found = keys[i].verified &&
				ks_span_equal(ks_buf_span(&name), text) &&
				keys[i].line >= last;
			last = found ? keys[i].line : last;
		}
		ks_buf_release(&name);
		assert_true(found);
	}
	for (i = 0; i < count; i++)
		verified += keys[i].verified;
	assert_int_equal(verified, ks_json_count(expected));
}

static size_t
read_vkeys(struct ks_span list, struct ks_vkey vkeys[KEYS_MAX],
	struct ks_note_key keys[KEYS_MAX])
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span item;
	size_t count = 0;

	while (ks_json_next_element(&it, &item)) {
		assert_true(count < KEYS_MAX);
		trust_vkey(ks_json_raw(item), &vkeys[count]);
		keys[count] = (struct ks_note_key){ .vkey = &vkeys[count] };
		count++;
	}
	return count;
}

static void
read_note(struct ks_span item, struct ks_buf *out)
{
	struct ks_span value;

	ks_buf_clear(out);
	if (ks_json_find(item, "note", &value))
		(void)vector_unescape(value, out);
	else
		assert_true(ks_base64_decode(ks_json_raw(vector_member(item,
			"note_base64")), out));
}

/* The one on which the vectors leave the choice: base64 with other spare bits
 * than zero. It is refused here, so that a note has one form. */
static bool
is_for_strict_readers_to_refuse(struct ks_span item)
{
	return ks_json_is(vector_member(item, "name"),
		"noncanonical-base64-signature");
}

static void
check_case(struct ks_span item)
{
	struct ks_vkey vkeys[KEYS_MAX];
	struct ks_note_key keys[KEYS_MAX];
	size_t count = read_vkeys(vector_member(item, "vkeys"), vkeys, keys);
	struct ks_span name = ks_json_raw(vector_member(item, "name"));
	struct ks_span expect = ks_json_raw(vector_member(item, "expect"));
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_note note;
	const char *found;

	read_note(item, &bytes);
	found = verdict(ks_buf_span(&bytes), keys, count, &note);
	if (is_for_strict_readers_to_refuse(item))
		expect = ks_span_text("malformed");
	if (!ks_span_is(expect, found))
		fail_msg("%.*s: expected %.*s, found %s", (int)name.len,
			(const char *)name.data, (int)expect.len,
			(const char *)expect.data, found);
	if (strcmp(found, "ok") == 0)
		assert_verified(vector_member(item, "verified"), keys, count);
	else
		assert_none_verified(keys, count);
	ks_note_release(&note);
	ks_buf_release(&bytes);
}

static void
each_note_of_the_vectors_gets_its_verdict(void **state)
{
	struct ks_buf file = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span item;
	size_t seen = 0;

	(void)state;
	it = ks_json_iter(vector_member(
		vector_read_json("notes.json", &file), "cases"));
	while (ks_json_next_element(&it, &item)) {
		check_case(item);
		seen++;
	}
	assert_int_equal(seen, 43);
	ks_buf_release(&file);
}

static void
check_cosignature(struct ks_span item, const struct ks_vkey *witness,
	uint64_t timestamp, struct ks_buf *signature)
{
	struct ks_buf text = KS_BUF_INIT, line = KS_BUF_INIT;
	struct ks_buf wanted = KS_BUF_INIT, found = KS_BUF_INIT;
	struct ks_note_key key = { .vkey = witness };
	struct ks_note note;

	(void)vector_unescape(vector_member(item, "checkpoint_text"), &text);
	(void)vector_unescape(vector_member(item, "note_line"), &line);
	(void)vector_unescape(vector_member(item, "signed_message"), &wanted);
	ks_note_print_cosigned(ks_buf_span(&text), timestamp,
		&found);
	assert_true(ks_span_equal(ks_buf_span(&found), ks_buf_span(&wanted)));
	ks_buf_clear(&found);
	ks_buf_append(&found, ks_buf_span(&text));
	ks_buf_byte(&found, '\n');
	ks_buf_append(&found, ks_buf_span(&line));
	parse(ks_buf_span(&found), &note);
	assert_int_equal(note.line_count, 1);
	assert_true(ks_span_equal(note.text, ks_buf_span(&text)));
	assert_true(ks_span_equal(note.lines[0].line, ks_buf_span(&line)));
	assert_int_equal(note.lines[0].id, witness->id);
	assert_int_equal(ks_note_open(&note, &key, 1, NULL), KS_OK);
	assert_true(key.verified);
	assert_int_equal(key.time, timestamp);
	ks_buf_clear(&wanted);
	ks_note_print_line(note.lines[0].name, note.lines[0].id,
		note.lines[0].payload, &wanted);
	assert_true(ks_span_equal(ks_buf_span(&wanted), ks_buf_span(&line)));
	assert_int_equal(note.lines[0].payload.len, 72);
	ks_buf_append(signature, ks_span(note.lines[0].payload.data + 8, 64));
	ks_note_release(&note);
	ks_buf_release(&text);
	ks_buf_release(&line);
	ks_buf_release(&wanted);
	ks_buf_release(&found);
}

static void
the_cosignature_of_the_vectors_is_taken_apart_as_they_say(void **state)
{
	struct ks_buf file = KS_BUF_INIT, signature = KS_BUF_INIT;
	struct ks_vkey witness;
	struct ks_span item;
	uint8_t expected[64];
	uint64_t timestamp;

	(void)state;
	item = vector_read_json("cosignature_ed25519.json", &file);
	trust_vkey(ks_json_raw(vector_member(item, "witness_vkey")), &witness);
	timestamp = vector_number(item, "timestamp");
	assert_int_equal(timestamp, 1735689900);
	check_cosignature(item, &witness, timestamp, &signature);
	vector_bytes(item, "signature_hex", expected, sizeof(expected));
	assert_memory_equal(signature.data, expected, sizeof(expected));
	check_cosignature(vector_member(item, "with_extension"), &witness,
		timestamp, &signature);
	ks_buf_release(&signature);
	ks_buf_release(&file);
}

/* ---- Parsing ---- */

static void
a_note_is_split_at_its_last_empty_line(void **state)
{
	static const struct {
		const char *bytes;
		const char *text;
		size_t lines;
	} rows[] = {
		{ TEXT "\n" NOBODY, TEXT, 1 },
		{ "\n\n" NOBODY, "\n", 1 },
		{ "a\n\n\n" NOBODY NOBODY, "a\n\n", 2 },
		{ "a\n\nb\n\n" NOBODY, "a\n\nb\n", 1 },
		{ "\n\n\n\n" NOBODY, "\n\n\n", 1 },
		{ NOBODY "\n" NOBODY, NOBODY, 1 },
		{ TEXT "\n" NOBODY "\n" NOBODY, TEXT "\n" NOBODY, 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct ks_note note;

		parse(ks_span_text(rows[i].bytes), &note);
		assert_true(ks_span_is(note.text, rows[i].text));
		assert_int_equal(note.line_count, rows[i].lines);
		assert_true(ks_span_is(note.lines[0].line, NOBODY));
		assert_true(ks_span_is(note.lines[0].name, "x.example"));
		assert_int_equal(note.lines[0].id, 0);
		assert_int_equal(note.lines[0].payload.len, 1);
		assert_int_equal(note.lines[0].payload.data[0], 0);
		ks_note_release(&note);
	}
}

static const struct {
	const char *bytes;
	const char *said;
} malformed[] = {
	{ "", "no empty line" },
	{ "\n", "no empty line" },
	{ "a", "no empty line" },
	{ TEXT, "no empty line" },
	{ TEXT NOBODY, "no empty line" },
	{ "\n" NOBODY, "no empty line" },	/* there is no text */
	{ NOBODY, "no empty line" },
	{ "\n\n", "end in a newline" },
	{ "\n\n\n", "end in a newline" },
	{ TEXT "\n" NOBODY "\n", "end in a newline" },
	{ TEXT "\n" NOBODY "\n\n", "end in a newline" },
	{ TEXT "\n" DASH "x.example AAAAAAA=", "end in a newline" },
	{ TEXT "\n" NOBODY "more", "end in a newline" },
	{ TEXT "\n" NOBODY "more\n", "line 2 does not begin" },
	{ TEXT "\nx.example AAAAAAA=\n", "line 1 does not begin" },
	{ TEXT "\n" NOBODY " " NOBODY, "line 2 does not begin" },
	{ TEXT "\n\xe2\x80\x94x.example AAAAAAA=\n", "does not begin" },
	{ TEXT "\n\xe2\x80\x94\n", "line 1 does not begin" },
	{ TEXT "\n\xe2\x80\x94\xc2\xa0x.example AAAAAAA=\n", "not begin" },
	{ TEXT "\n--- x.example AAAAAAA=\n", "line 1 does not begin" },
	{ TEXT "\n\xe2\x80\x95 x.example AAAAAAA=\n", "does not begin" },
	{ TEXT "\n" DASH "\n", "is not a name" },
	{ TEXT "\n" DASH "x.example\n", "is not a name" },
	{ TEXT "\n" DASH "AAAAAAA=\n", "is not a name" },
	{ TEXT "\n" DASH " AAAAAAA=\n", "has no name" },
	{ TEXT "\n" DASH "  AAAAAAA=\n", "has no name" },
	{ TEXT "\n" DASH "x+y AAAAAAA=\n", "has no name" },
	{ TEXT "\n" DASH "x\xc2\x85y AAAAAAA=\n", "has no name" },
	{ TEXT "\n" DASH "x.example \n", "base64" },
	{ TEXT "\n" DASH "x.example  AAAAAAA=\n", "base64" },
	{ TEXT "\n" DASH "x.example AAAAAAA= \n", "base64" },
	{ TEXT "\n" DASH "x.example AAAAAAA= x\n", "base64" },
	{ TEXT "\n" DASH "x.example AAAAAAA\n", "base64" },
	{ TEXT "\n" DASH "x.example AAAAAAB=\n", "base64" },
	{ TEXT "\n" DASH "x.example AAAA_AA=\n", "base64" },
	{ TEXT "\n" DASH "x.example AAAAAA==\n", "base64" },
	{ TEXT "\n" DASH "x.example AAAA\n", "base64" },
	{ TEXT "\n" DASH "x.example ====\n", "base64" },
	{ TEXT "\n" NOBODY DASH "y.example AAAA\n", "line 2" },
	{ "a\tb\n\n" NOBODY, "byte 1 of the note is a control" },
	{ "a\r\n\n" NOBODY, "byte 1 of the note is a control" },
	{ "\x1f\n\n" NOBODY, "byte 0 of the note is a control" },
	{ "a\x1b[2J\n\n" NOBODY, "byte 1 of the note is a control" },
	{ TEXT "\n" DASH "x\x01y AAAAAAA=\n", "control" },
	{ "ab\xff\n\n" NOBODY, "byte 2 of the note is not UTF-8" },
	{ "\xc0\x80\n\n" NOBODY, "byte 0 of the note is not UTF-8" },
	{ "\xed\xa0\x80\n\n" NOBODY, "not UTF-8" },
	{ "\xf4\x90\x80\x80\n\n" NOBODY, "not UTF-8" },
	{ "a\xe2\x80\n\n" NOBODY, "byte 1 of the note is not UTF-8" },
	{ TEXT "\n" DASH "x\xff AAAAAAA=\n", "not UTF-8" },
	/* What comes first is said. */
	{ "a\x01\xff\n\n" NOBODY, "byte 1 of the note is a control" },
	{ "a\xff\x01\n\n" NOBODY, "byte 1 of the note is not UTF-8" },
};

static void
a_malformed_note_is_refused_whole_with_the_rule(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(malformed); i++)
		assert_malformed(ks_span_text(malformed[i].bytes),
			malformed[i].said);
	assert_malformed(ks_span(NULL, 0), "no empty line");
	assert_malformed(ks_span("a\0\n\n" NOBODY, 4 + strlen(NOBODY)),
		"byte 1 of the note is a control");
}

static void
every_control_below_the_blank_but_the_newline_is_refused(void **state)
{
	uint8_t c;

	(void)state;
	for (c = 0; c < 0x20; c++) {
		char bytes[] = "a?b\n\n" NOBODY;
		struct ks_span span = ks_span(bytes, strlen(bytes));
		struct ks_note note;

		bytes[1] = (char)c;
		if (c == '\n') {
			parse(span, &note);
			ks_note_release(&note);
		} else {
			assert_malformed(span, "control");
		}
	}
}

static void
del_and_the_c1_controls_are_text_like_any_other(void **state)
{
	struct ks_note note;

	(void)state;
	parse(ks_span_text("\x7f\xc2\x85\xc2\x9b\n\n" DASH
		"\x7f\xc2\x9b AAAAAAA=\n"), &note);
	assert_true(ks_span_is(note.lines[0].name, "\x7f\xc2\x9b"));
	ks_note_release(&note);
}

static void
no_unicode_space_may_be_in_a_name(void **state)
{
	static const uint32_t spaces[] = { 0x85, 0xa0, 0x1680, 0x2000, 0x2001,
		0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
		0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(spaces); i++) {
		struct ks_buf bytes = KS_BUF_INIT;
		uint8_t utf8[4];

		ks_buf_text(&bytes, TEXT "\n" DASH "x");
		ks_buf_append(&bytes, ks_span(utf8,
			ks_utf8_encode(spaces[i], utf8)));
		ks_buf_text(&bytes, " AAAAAAA=\n");
		assert_malformed(ks_buf_span(&bytes), "has no name");
		ks_buf_release(&bytes);
	}
}

static void
each_prefix_of_a_note_is_malformed_but_at_the_end_of_a_line(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	size_t whole = 0;
	size_t len;

	(void)state;
	ks_buf_text(&bytes, TEXT "\n");
	sign_line(&signers[LOG], TEXT, 0, &bytes);
	sign_line(&signers[W1], TEXT, 77, &bytes);
	sign_line(&signers[W2], TEXT, 78, &bytes);
	for (len = 0; len <= bytes.len; len++) {
		/* Exactly as large, so that tools see a read beyond. */
		uint8_t *copy = malloc(len + (len == 0));
		struct ks_note note;
		enum ks_status status;

		assert_non_null(copy);
		memcpy(copy, bytes.data, len);
		status = ks_note_parse(ks_span(copy, len), &note, NULL);
		if (status == KS_OK) {
			assert_int_equal(bytes.data[len - 1], '\n');
			assert_int_equal(note.line_count, ++whole);
			ks_note_release(&note);
		} else {
			assert_int_equal(status, KS_CORRUPT);
		}
		free(copy);
	}
	assert_int_equal(whole, 3);
	ks_buf_release(&bytes);
}

static void
a_note_has_at_most_100_lines(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_note note;
	size_t i;

	(void)state;
	ks_buf_text(&bytes, TEXT "\n");
	for (i = 0; i < KS_NOTE_LINES; i++)
		ks_note_print_line(ks_span_text("x"), (uint32_t)i,
			ks_span(&"abcdefghij"[i % 10], 1 + i % 3 % 2),
			&bytes);
	parse(ks_buf_span(&bytes), &note);
	assert_int_equal(note.line_count, 100);
	for (i = 0; i < KS_NOTE_LINES; i++) {
		assert_int_equal(note.lines[i].id, i);
		assert_int_equal(note.lines[i].payload.len, 1 + i % 3 % 2);
		assert_int_equal(note.lines[i].payload.data[0], 'a' + i % 10);
	}
	ks_note_release(&note);
	ks_buf_text(&bytes, NOBODY);
	assert_malformed(ks_buf_span(&bytes), "more than 100");
	ks_buf_release(&bytes);
}

static void
a_note_has_at_most_a_million_bytes(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_note note;
	size_t fill = 1000000 - strlen("\n\n" NOBODY);
	uint8_t *at = ks_buf_reserve(&bytes, 1000001);

	(void)state;
	assert_non_null(at);
	memset(at, 'a', fill);
	bytes.len = fill;
	ks_buf_text(&bytes, "\n\n" NOBODY);
	assert_int_equal(bytes.len, 1000000);
	parse(ks_buf_span(&bytes), &note);
	assert_int_equal(note.text.len, fill + 1);
	ks_note_release(&note);
	memset(at, 'a', fill + 1);
	bytes.len = fill + 1;
	ks_buf_text(&bytes, "\n\n" NOBODY);
	assert_int_equal(bytes.len, 1000001);
	assert_malformed(ks_buf_span(&bytes), "1000000");
	ks_buf_release(&bytes);
}

/* Nearly all of the note is one line of a foreign key. */
static void
a_line_may_be_as_long_as_the_note(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT, payload = KS_BUF_INIT;
	struct ks_note note;
	uint8_t *at = ks_buf_reserve(&payload, 700000);

	(void)state;
	assert_non_null(at);
	memset(at, 0xa5, 700000);
	payload.len = 700000;
	ks_buf_text(&bytes, TEXT "\n" NOBODY);
	ks_note_print_line(ks_span_text("y"), 0xfedcba98,
		ks_buf_span(&payload), &bytes);
	ks_buf_text(&bytes, NOBODY);
	parse(ks_buf_span(&bytes), &note);
	assert_int_equal(note.line_count, 3);
	assert_int_equal(note.lines[1].id, 0xfedcba98);
	assert_true(ks_span_equal(note.lines[1].payload,
		ks_buf_span(&payload)));
	assert_int_equal(note.lines[0].payload.data[0], 0);
	assert_int_equal(note.lines[2].payload.len, 1);
	ks_note_release(&note);
	ks_buf_release(&payload);
	ks_buf_release(&bytes);
}

static void
what_may_be_the_text_of_a_note_is_told(void **state)
{
	static const char *const bad[] = { "", "a", "a\n\nb", "a\r\n", "\t\n",
		"\xff\n", "a\n\x01\n" };
	static const char *const good[] = { "\n", "a\n", "a\n\nb\n", "\n\n",
		"\x7f\xc2\x85\n" };
	struct ks_buf big = KS_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++)
		assert_int_equal(ks_note_check_text(ks_span_text(bad[i]),
			NULL), KS_CORRUPT);
	for (i = 0; i < COUNT(good); i++)
		assert_int_equal(ks_note_check_text(ks_span_text(good[i]),
			NULL), KS_OK);
	assert_int_equal(ks_note_check_text(ks_span(NULL, 0), NULL),
		KS_CORRUPT);
	for (i = 0; i < KS_NOTE_MAX; i++)
		ks_buf_byte(&big, '\n');
	assert_int_equal(ks_note_check_text(ks_buf_span(&big), NULL), KS_OK);
	ks_buf_byte(&big, '\n');
	assert_int_equal(ks_note_check_text(ks_buf_span(&big), NULL),
		KS_CORRUPT);
	ks_buf_release(&big);
}

/* ---- Opening ---- */

/* Open a note of TEXT and the given lines with all signers' keys. */
static enum ks_status
open_with_all(struct ks_span lines, struct ks_note_key keys[SIGNERS],
	struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_note note;
	enum ks_status status;

	ks_buf_text(&bytes, TEXT "\n");
	ks_buf_append(&bytes, lines);
	parse(ks_buf_span(&bytes), &note);
	all_keys(keys);
	status = ks_note_open(&note, keys, SIGNERS, err);
	ks_note_release(&note);
	ks_buf_release(&bytes);
	return status;
}

static void
each_known_key_is_told_with_its_line_and_time(void **state)
{
	struct ks_note_key keys[SIGNERS];
	struct ks_buf lines = KS_BUF_INIT;

	(void)state;
	ks_buf_text(&lines, NOBODY);
	sign_line(&signers[W1], TEXT, 77, &lines);
	sign_line(&signers[LOG], TEXT, 0, &lines);
	sign_line(&signers[LOG_04], TEXT, 0, &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, NULL),
		KS_OK);
	assert_true(keys[LOG].verified);
	assert_int_equal(keys[LOG].line, 2);
	assert_int_equal(keys[LOG].time, 0);
	assert_true(keys[W1].verified);
	assert_int_equal(keys[W1].line, 1);
	assert_int_equal(keys[W1].time, 77);
	/* The same name and the same key, but another type: another id. */
	assert_true(keys[LOG_04].verified);
	assert_int_equal(keys[LOG_04].line, 3);
	assert_none_verified(&keys[W2], 1);
	ks_buf_release(&lines);
}

static void
a_note_without_a_known_key_is_untrusted(void **state)
{
	struct ks_note_key keys[SIGNERS];
	struct ks_error err = KS_ERROR_INIT;
	struct ks_note note;

	(void)state;
	assert_int_equal(open_with_all(ks_span_text(NOBODY), keys, &err),
		KS_UNTRUSTED);
	assert_non_null(strstr(err.message, "no signature by a known key"));
	assert_none_verified(keys, SIGNERS);
	parse(ks_span_text(TEXT "\n" NOBODY), &note);
	assert_int_equal(ks_note_open(&note, NULL, 0, NULL), KS_UNTRUSTED);
	ks_note_release(&note);
}

/* A line is known by name and id, not by one of the two. */
static void
a_line_of_the_same_name_or_id_only_is_ignored(void **state)
{
	struct ks_note_key keys[SIGNERS];
	struct ks_buf lines = KS_BUF_INIT;

	(void)state;
	ks_note_print_line(ks_span_text("log.example"),
		signers[LOG].vkey.id ^ 1, ks_span("x", 1), &lines);
	ks_note_print_line(ks_span_text("log.examplf"),
		signers[LOG].vkey.id, ks_span("x", 1), &lines);
	ks_note_print_line(ks_span_text("log.exampl"),
		signers[LOG].vkey.id, ks_span("x", 1), &lines);
	ks_note_print_line(ks_span_text("log.example."),
		signers[LOG].vkey.id, ks_span("x", 1), &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, NULL),
		KS_UNTRUSTED);
	sign_line(&signers[W2], TEXT, 5, &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, NULL),
		KS_OK);
	assert_true(keys[W2].verified);
	assert_int_equal(keys[W2].line, 4);
	assert_none_verified(keys, 2);
	ks_buf_release(&lines);
}

static void
assert_spoilt(struct ks_span line)
{
	struct ks_note_key keys[SIGNERS];
	struct ks_buf lines = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	/* Before and behind lines that verify. */
	sign_line(&signers[LOG], TEXT, 0, &lines);
	ks_buf_append(&lines, line);
	sign_line(&signers[W2], TEXT, 5, &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, &err),
		KS_CORRUPT);
	assert_non_null(strstr(err.message,
		"the signature of w.example/1+"));
	assert_none_verified(keys, SIGNERS);
	ks_buf_release(&lines);
}

static void
one_bad_line_of_a_known_key_spoils_the_note(void **state)
{
	const struct ks_vkey *w1 = &signers[W1].vkey;
	struct ks_span name = ks_span_text(w1->name);
	struct ks_buf line = KS_BUF_INIT;
	struct ks_note note;
	uint8_t payload[80] = { 0 };
	size_t len, bit;

	(void)state;
	for (len = 1; len <= sizeof(payload); len++) {
		ks_buf_clear(&line);
		ks_note_print_line(name, w1->id, ks_span(payload, len),
			&line);
		assert_spoilt(ks_buf_span(&line));
	}
	/* One bit of the time or the signature. */
	ks_buf_clear(&line);
	ks_buf_text(&line, TEXT "\n");
	sign_line(&signers[W1], TEXT, 77, &line);
	parse(ks_buf_span(&line), &note);
	memcpy(payload, note.lines[0].payload.data, 72);
	ks_note_release(&note);
	for (bit = 0; bit < 8 * 72; bit += 7) {
		payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ks_buf_clear(&line);
		ks_note_print_line(name, w1->id, ks_span(payload, 72), &line);
		assert_spoilt(ks_buf_span(&line));
		payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ks_buf_clear(&line);
	sign_line(&signers[W1], "one\ntwp\n", 77, &line);
	assert_spoilt(ks_buf_span(&line));
	ks_buf_release(&line);
}

/* What follows a signature that is right is part of the line, too. */
static void
a_signature_with_more_behind_it_does_not_verify(void **state)
{
	static const size_t who[] = { LOG, W1 };
	size_t i, more;

	(void)state;
	for (i = 0; i < COUNT(who); i++) {
		const struct signer *signer = &signers[who[i]];
		struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
		struct ks_note_key keys[SIGNERS];
		uint8_t payload[80] = { 0 };
		struct ks_note note;
		size_t len;

		ks_buf_text(&bytes, TEXT "\n");
		sign_line(signer, TEXT, 77, &bytes);
		parse(ks_buf_span(&bytes), &note);
		len = note.lines[0].payload.len;
		memcpy(payload, note.lines[0].payload.data, len);
		ks_note_release(&note);
		for (more = 0; more <= 8; more++) {
			ks_buf_clear(&lines);
			ks_note_print_line(ks_span_text(signer->vkey.name),
				signer->vkey.id, ks_span(payload, len + more),
				&lines);
			assert_int_equal(open_with_all(ks_buf_span(&lines),
				keys, NULL), more == 0 ? KS_OK : KS_CORRUPT);
		}
		ks_buf_release(&bytes);
		ks_buf_release(&lines);
	}
}

/* A signature over the text alone is no cosignature, nor the other way
 * round, though the public key is the same. */
static void
the_types_do_not_stand_for_one_another(void **state)
{
	struct signer plain = signers[LOG], timed = signers[LOG_04];
	struct ks_note_key keys[SIGNERS];
	struct ks_buf lines = KS_BUF_INIT;

	(void)state;
	plain.vkey.id = signers[LOG_04].vkey.id;
	sign_line(&plain, TEXT, 0, &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, NULL),
		KS_CORRUPT);
	timed.vkey.id = signers[LOG].vkey.id;
	ks_buf_clear(&lines);
	sign_line(&timed, TEXT, 5, &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, NULL),
		KS_CORRUPT);
	ks_buf_release(&lines);
}

static void
a_cosignature_of_a_time_beyond_63_bits_does_not_verify(void **state)
{
	static const struct {
		uint64_t time;
		enum ks_status status;
	} rows[] = {
		{ 0, KS_OK },
		{ 1, KS_OK },
		{ INT64_MAX, KS_OK },
		{ (uint64_t)INT64_MAX + 1, KS_CORRUPT },
		{ UINT64_MAX, KS_CORRUPT },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct ks_note_key keys[SIGNERS];
		struct ks_buf lines = KS_BUF_INIT;

		sign_line(&signers[W1], TEXT, rows[i].time, &lines);
		assert_int_equal(open_with_all(ks_buf_span(&lines), keys,
			NULL), rows[i].status);
		if (rows[i].status == KS_OK)
			assert_true(keys[W1].time == rows[i].time);
		ks_buf_release(&lines);
	}
}

static void
of_several_lines_of_a_key_the_first_counts(void **state)
{
	struct ks_note_key keys[SIGNERS];
	struct ks_buf lines = KS_BUF_INIT;

	(void)state;
	sign_line(&signers[W1], TEXT, 77, &lines);
	sign_line(&signers[W1], TEXT, 76, &lines);
	sign_line(&signers[W1], "another", 75, &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, NULL),
		KS_OK);
	assert_int_equal(keys[W1].time, 77);
	assert_int_equal(keys[W1].line, 0);
	ks_buf_clear(&lines);
	sign_line(&signers[W1], "another", 75, &lines);
	sign_line(&signers[W1], TEXT, 77, &lines);
	assert_int_equal(open_with_all(ks_buf_span(&lines), keys, NULL),
		KS_CORRUPT);
	ks_buf_release(&lines);
}

static void
two_keys_of_one_name_and_id_are_a_mistake_of_the_caller(void **state)
{
	struct ks_vkey other = signers[W1].vkey;
	struct ks_note_key keys[] = { { .vkey = &signers[LOG].vkey },
		{ .vkey = &signers[W1].vkey }, { .vkey = &other } };
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_note note;

	(void)state;
	/* No line of theirs is needed. */
	ks_buf_text(&bytes, TEXT "\n");
	sign_line(&signers[LOG], TEXT, 0, &bytes);
	parse(ks_buf_span(&bytes), &note);
	assert_int_equal(ks_note_open(&note, keys, 3, &err), KS_USAGE);
	assert_non_null(strstr(err.message, "two keys are named w.example/1"));
	assert_none_verified(keys, 3);
	/* Another public key and type with the same id is no better. */
	other.key.bytes[0] ^= 1;
	other.type = KS_SIGNATURE_ED25519;
	assert_int_equal(ks_note_open(&note, keys, 3, NULL), KS_USAGE);
	other.id ^= 1;
	assert_int_equal(ks_note_open(&note, keys, 3, NULL), KS_OK);
	ks_note_release(&note);
	ks_buf_release(&bytes);
}

static void
more_keys_than_any_policy_has_are_a_mistake_of_the_caller(void **state)
{
	struct ks_note_key *keys = calloc(KS_NOTE_KEYS + 1, sizeof(*keys));
	struct ks_vkey *vkeys = calloc(KS_NOTE_KEYS + 1, sizeof(*vkeys));
	struct ks_note note;
	size_t i;

	(void)state;
	assert_non_null(keys);
	assert_non_null(vkeys);
	for (i = 0; i <= KS_NOTE_KEYS; i++) {
		vkeys[i] = signers[LOG].vkey;
		vkeys[i].id = (uint32_t)i + 1;
		keys[i].vkey = &vkeys[i];
	}
	parse(ks_span_text(TEXT "\n" NOBODY), &note);
	assert_int_equal(ks_note_open(&note, keys, KS_NOTE_KEYS + 1, NULL),
		KS_USAGE);
	assert_int_equal(ks_note_open(&note, keys, KS_NOTE_KEYS, NULL),
		KS_UNTRUSTED);
	ks_note_release(&note);
	free(vkeys);
	free(keys);
}

static void
a_hostile_name_is_escaped_in_what_is_said_of_it(void **state)
{
	struct ks_vkey vkey = signers[LOG].vkey;
	struct ks_note_key key = { .vkey = &vkey };
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_note note;

	(void)state;
	(void)snprintf(vkey.name, sizeof(vkey.name),
		"a\xc2\x9b\x7f\xe2\x80\xae""b");
	ks_buf_text(&bytes, TEXT "\n");
	ks_note_print_line(ks_span_text(vkey.name), vkey.id,
		ks_span("x", 1), &bytes);
	parse(ks_buf_span(&bytes), &note);
	assert_int_equal(ks_note_open(&note, &key, 1, &err), KS_CORRUPT);
	assert_non_null(strstr(err.message,
		"of a\\xc2\\x9b\\x7f\\xe2\\x80\\xae""b+"));
	ks_note_release(&note);
	ks_buf_release(&bytes);
}

/* ---- Merging ---- */

/* A note of TEXT, with the lines of these signers. */
static void
make_note(const size_t *who, size_t count, struct ks_buf *out)
{
	size_t i;

	ks_buf_text(out, TEXT "\n");
	for (i = 0; i < count; i++)
		sign_line(&signers[who[i]], TEXT, 10 + i, out);
}

static enum ks_status
merge(struct ks_span bytes, struct ks_span lines, struct ks_note_key *keys,
	struct ks_buf *out, struct ks_note_merged *merged,
	struct ks_error *err)
{
	struct ks_note note;
	enum ks_status status;

	parse(bytes, &note);
	all_keys(keys);
	status = ks_note_merge(&note, lines, keys, SIGNERS,
		KS_NOTE_LINES_PUBLISHED, out, merged, err);
	ks_note_release(&note);
	return status;
}

static void
given_lines_are_added_behind_the_old_ones(void **state)
{
	static const size_t one[] = { LOG };
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT, wanted = KS_BUF_INIT;
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;

	(void)state;
	make_note(one, 1, &bytes);
	ks_buf_text(&bytes, NOBODY);
	sign_line(&signers[W2], TEXT, 50, &lines);
	sign_line(&signers[W1], TEXT, 60, &lines);
	ks_buf_text(&wanted, "before ");
	ks_buf_append(&wanted, ks_buf_span(&bytes));
	ks_buf_append(&wanted, ks_buf_span(&lines));
	ks_buf_text(&out, "before ");
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&out), ks_buf_span(&wanted)));
	assert_int_equal(merged.added, 2);
	assert_int_equal(merged.replaced, 0);
	assert_int_equal(merged.unknown, 0);
	assert_true(keys[LOG].verified && keys[W1].verified &&
		keys[W2].verified && !keys[LOG_04].verified);
	assert_int_equal(keys[LOG].line, 0);
	assert_int_equal(keys[W2].line, 2);
	assert_int_equal(keys[W2].time, 50);
	assert_int_equal(keys[W1].time, 60);
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
	ks_buf_release(&out);
	ks_buf_release(&wanted);
}

static void
a_given_line_takes_the_place_of_the_old_one_of_its_key(void **state)
{
	static const size_t three[] = { LOG, W1, W2 };
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT, wanted = KS_BUF_INIT;
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;

	(void)state;
	make_note(three, 3, &bytes);
	/* The last one given stays. */
	sign_line(&signers[W1], TEXT, 70, &lines);
	sign_line(&signers[W1], TEXT, 50, &lines);
	ks_buf_text(&wanted, TEXT "\n");
	sign_line(&signers[LOG], TEXT, 10, &wanted);
	sign_line(&signers[W1], TEXT, 50, &wanted);
	sign_line(&signers[W2], TEXT, 12, &wanted);
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&out), ks_buf_span(&wanted)));
	assert_int_equal(merged.added, 0);
	assert_int_equal(merged.replaced, 2);
	assert_int_equal(merged.known, 0);
	assert_int_equal(keys[W1].time, 50);
	/* What is there already changes nothing. */
	ks_buf_clear(&out);
	assert_int_equal(merge(ks_buf_span(&wanted), ks_span(lines.data +
		lines.len / 2, lines.len / 2), keys, &out, &merged, NULL),
		KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&out), ks_buf_span(&wanted)));
	assert_int_equal(merged.replaced, 0);
	assert_int_equal(merged.known, 1);
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
	ks_buf_release(&out);
	ks_buf_release(&wanted);
}

static void
lines_given_by_nobody_known_are_left_out_and_counted(void **state)
{
	static const size_t one[] = { LOG };
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT, wanted = KS_BUF_INIT;
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	make_note(one, 1, &bytes);
	ks_buf_append(&wanted, ks_buf_span(&bytes));
	sign_line(&signers[W1], TEXT, 70, &wanted);
	ks_buf_text(&lines, NOBODY);
	sign_line(&signers[W1], TEXT, 70, &lines);
	ks_buf_text(&lines, NOBODY DASH "w.example/1 AAAAAAA=\n");
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&out), ks_buf_span(&wanted)));
	assert_int_equal(merged.added, 1);
	assert_int_equal(merged.unknown, 3);
	ks_buf_clear(&out);
	assert_int_equal(merge(ks_buf_span(&bytes), ks_span_text(NOBODY),
		keys, &out, &merged, &err), KS_UNTRUSTED);
	assert_non_null(strstr(err.message, "no signature given"));
	assert_int_equal(out.len, 0);
	assert_none_verified(keys, SIGNERS);
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
	ks_buf_release(&out);
	ks_buf_release(&wanted);
}

static void
old_lines_are_kept_once_for_each_name_and_id(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT, wanted = KS_BUF_INIT;
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;

	(void)state;
	ks_buf_text(&bytes, TEXT "\n" NOBODY);
	sign_line(&signers[LOG], TEXT, 0, &bytes);
	ks_buf_text(&bytes, DASH "x.example AAAAAAE=\n");
	/* Bad, but nobody reads the second line of a key. */
	sign_line(&signers[LOG], "another", 0, &bytes);
	ks_buf_text(&bytes, DASH "y.example AAAAAAA=\n");
	sign_line(&signers[W1], TEXT, 3, &lines);
	ks_buf_text(&wanted, TEXT "\n" NOBODY);
	sign_line(&signers[LOG], TEXT, 0, &wanted);
	ks_buf_text(&wanted, DASH "y.example AAAAAAA=\n");
	sign_line(&signers[W1], TEXT, 3, &wanted);
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	assert_true(ks_span_equal(ks_buf_span(&out), ks_buf_span(&wanted)));
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
	ks_buf_release(&out);
	ks_buf_release(&wanted);
}

/* Merge that must fail, and leave nothing behind. */
static void
assert_not_merged(struct ks_span bytes, struct ks_span lines,
	enum ks_status status, const char *said)
{
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;

	ks_buf_text(&out, "before");
	assert_int_equal(merge(bytes, lines, keys, &out, &merged, &err),
		status);
	assert_int_equal(err.status, status);
	if (strstr(err.message, said) == NULL)
		fail_msg("wanted \"%s\", got \"%s\"", said, err.message);
	assert_string_equal(ks_buf_cstr(&out), "before");
	assert_none_verified(keys, SIGNERS);
	ks_buf_release(&out);
}

static void
a_given_line_that_does_not_verify_refuses_the_merge(void **state)
{
	static const size_t one[] = { LOG };
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;

	(void)state;
	make_note(one, 1, &bytes);
	sign_line(&signers[W2], TEXT, 1, &lines);
	sign_line(&signers[W1], "another\n", 1, &lines);
	assert_not_merged(ks_buf_span(&bytes), ks_buf_span(&lines),
		KS_CORRUPT, "the signature of w.example/1+");
	/* Also where a better one of the same key follows. */
	sign_line(&signers[W1], TEXT, 1, &lines);
	assert_not_merged(ks_buf_span(&bytes), ks_buf_span(&lines),
		KS_CORRUPT, "the signature of w.example/1+");
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
}

static void
an_old_line_that_does_not_verify_must_be_replaced(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;

	(void)state;
	ks_buf_text(&bytes, TEXT "\n");
	sign_line(&signers[LOG], TEXT, 0, &bytes);
	sign_line(&signers[W1], "another\n", 1, &bytes);
	sign_line(&signers[W2], TEXT, 1, &lines);
	assert_not_merged(ks_buf_span(&bytes), ks_buf_span(&lines),
		KS_CORRUPT, "the signature of w.example/1+");
	sign_line(&signers[W1], TEXT, 1, &lines);
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	assert_int_equal(merged.replaced, 1);
	assert_int_equal(merged.added, 1);
	assert_true(keys[W1].verified);
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
	ks_buf_release(&out);
}

static void
malformed_lines_are_not_merged(void **state)
{
	static const struct {
		const char *lines;
		const char *said;
	} rows[] = {
		{ "", "end in a newline" },
		{ "\n", "line 1 does not begin" },
		{ DASH "x.example AAAAAAA=", "end in a newline" },
		{ NOBODY "\n" NOBODY, "line 2 does not begin" },
		{ TEXT "\n" NOBODY, "line 1 does not begin" },
		{ NOBODY DASH "x.example AAAAAA==\n", "line 2 does not end" },
		{ NOBODY "\r\n", "control" },
		{ DASH "x\xff AAAAAAA=\n", "UTF-8" },
	};
	static const size_t one[] = { LOG };
	struct ks_buf bytes = KS_BUF_INIT, many = KS_BUF_INIT;
	size_t i;

	(void)state;
	make_note(one, 1, &bytes);
	for (i = 0; i < COUNT(rows); i++)
		assert_not_merged(ks_buf_span(&bytes),
			ks_span_text(rows[i].lines), KS_CORRUPT, rows[i].said);
	assert_not_merged(ks_buf_span(&bytes), ks_span(NULL, 0), KS_CORRUPT,
		"end in a newline");
	for (i = 0; i <= KS_NOTE_LINES; i++)
		ks_buf_text(&many, NOBODY);
	assert_not_merged(ks_buf_span(&bytes), ks_buf_span(&many), KS_CORRUPT,
		"more than 100");
	ks_buf_clear(&many);
	for (i = 0; i <= KS_NOTE_MAX; i++)
		ks_buf_byte(&many, '\n');
	assert_not_merged(ks_buf_span(&bytes), ks_buf_span(&many), KS_CORRUPT,
		"1000000");
	ks_buf_release(&bytes);
	ks_buf_release(&many);
}

static void
a_merged_note_has_at_most_16_lines(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;
	uint32_t i;

	(void)state;
	ks_buf_text(&bytes, TEXT "\n");
	sign_line(&signers[LOG], TEXT, 0, &bytes);
	for (i = 0; i < 14; i++)
		ks_note_print_line(ks_span_text("x"), i, ks_span("x", 1),
			&bytes);
	sign_line(&signers[W1], TEXT, 1, &lines);
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	/* A seventeenth line is too much, to replace one is not. */
	ks_buf_clear(&bytes);
	ks_buf_append(&bytes, ks_buf_span(&out));
	ks_buf_clear(&out);
	ks_buf_clear(&lines);
	sign_line(&signers[W1], TEXT, 2, &lines);
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	assert_int_equal(keys[W1].time, 2);
	assert_int_equal(keys[W1].line, 15);
	sign_line(&signers[W2], TEXT, 1, &lines);
	assert_not_merged(ks_buf_span(&bytes), ks_buf_span(&lines),
		KS_INVALID, "17 signature lines");
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
	ks_buf_release(&out);
}

static void
a_merged_note_has_at_most_a_million_bytes(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT, out = KS_BUF_INIT;
	struct ks_note_key keys[SIGNERS];
	struct ks_note_merged merged;
	size_t i;

	(void)state;
	/* A line of w.example/1 has 121 bytes. */
	for (i = 0; i < 1000000 - 121 - strlen("\n\n" NOBODY); i++)
		ks_buf_byte(&text, 'a');
	ks_buf_byte(&text, '\n');
	sign_line(&signers[W1], ks_buf_cstr(&text), 1, &lines);
	assert_int_equal(lines.len, 121);
	ks_buf_append(&bytes, ks_buf_span(&text));
	ks_buf_text(&bytes, "\n" NOBODY);
	assert_int_equal(merge(ks_buf_span(&bytes), ks_buf_span(&lines), keys,
		&out, &merged, NULL), KS_OK);
	assert_int_equal(out.len, 1000000);
	ks_buf_clear(&lines);
	ks_buf_clear(&bytes);
	text.len--;
	ks_buf_text(&text, "a\n");
	sign_line(&signers[W1], ks_buf_cstr(&text), 1, &lines);
	ks_buf_append(&bytes, ks_buf_span(&text));
	ks_buf_text(&bytes, "\n" NOBODY);
	assert_not_merged(ks_buf_span(&bytes), ks_buf_span(&lines),
		KS_CORRUPT, "1000000");
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
	ks_buf_release(&text);
	ks_buf_release(&out);
}

static void
two_keys_of_one_name_and_id_merge_nothing(void **state)
{
	static const size_t one[] = { LOG };
	struct ks_note_key keys[] = { { .vkey = &signers[W1].vkey },
		{ .vkey = &signers[W1].vkey } };
	struct ks_buf bytes = KS_BUF_INIT, lines = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_note_merged merged;
	struct ks_note note;

	(void)state;
	make_note(one, 1, &bytes);
	sign_line(&signers[W1], TEXT, 1, &lines);
	parse(ks_buf_span(&bytes), &note);
	assert_int_equal(ks_note_merge(&note, ks_buf_span(&lines), keys, 2,
		KS_NOTE_LINES, &out, &merged, NULL), KS_USAGE);
	assert_int_equal(out.len, 0);
	ks_note_release(&note);
	ks_buf_release(&bytes);
	ks_buf_release(&lines);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_note_of_the_vectors_gets_its_verdict),
		cmocka_unit_test(
			the_cosignature_of_the_vectors_is_taken_apart_as_they_say),
		cmocka_unit_test(a_note_is_split_at_its_last_empty_line),
		cmocka_unit_test(
			a_malformed_note_is_refused_whole_with_the_rule),
		cmocka_unit_test(
			every_control_below_the_blank_but_the_newline_is_refused),
		cmocka_unit_test(
			del_and_the_c1_controls_are_text_like_any_other),
		cmocka_unit_test(no_unicode_space_may_be_in_a_name),
		cmocka_unit_test(
			each_prefix_of_a_note_is_malformed_but_at_the_end_of_a_line),
		cmocka_unit_test(a_note_has_at_most_100_lines),
		cmocka_unit_test(a_note_has_at_most_a_million_bytes),
		cmocka_unit_test(a_line_may_be_as_long_as_the_note),
		cmocka_unit_test(what_may_be_the_text_of_a_note_is_told),
		cmocka_unit_test(
			each_known_key_is_told_with_its_line_and_time),
		cmocka_unit_test(a_note_without_a_known_key_is_untrusted),
		cmocka_unit_test(
			a_line_of_the_same_name_or_id_only_is_ignored),
		cmocka_unit_test(one_bad_line_of_a_known_key_spoils_the_note),
		cmocka_unit_test(
			a_signature_with_more_behind_it_does_not_verify),
		cmocka_unit_test(the_types_do_not_stand_for_one_another),
		cmocka_unit_test(
			a_cosignature_of_a_time_beyond_63_bits_does_not_verify),
		cmocka_unit_test(of_several_lines_of_a_key_the_first_counts),
		cmocka_unit_test(
			two_keys_of_one_name_and_id_are_a_mistake_of_the_caller),
		cmocka_unit_test(
			more_keys_than_any_policy_has_are_a_mistake_of_the_caller),
		cmocka_unit_test(
			a_hostile_name_is_escaped_in_what_is_said_of_it),
		cmocka_unit_test(given_lines_are_added_behind_the_old_ones),
		cmocka_unit_test(
			a_given_line_takes_the_place_of_the_old_one_of_its_key),
		cmocka_unit_test(
			lines_given_by_nobody_known_are_left_out_and_counted),
		cmocka_unit_test(old_lines_are_kept_once_for_each_name_and_id),
		cmocka_unit_test(
			a_given_line_that_does_not_verify_refuses_the_merge),
		cmocka_unit_test(
			an_old_line_that_does_not_verify_must_be_replaced),
		cmocka_unit_test(malformed_lines_are_not_merged),
		cmocka_unit_test(a_merged_note_has_at_most_16_lines),
		cmocka_unit_test(a_merged_note_has_at_most_a_million_bytes),
		cmocka_unit_test(two_keys_of_one_name_and_id_merge_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
