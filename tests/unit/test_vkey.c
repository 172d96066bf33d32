#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "../lib/trust.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define SIXTEEN(c) c c c c c c c c c c c c c c c c
#define TWO_HUNDRED_FORTY(c) SIXTEEN(c c c c c c c c c c c c c c c)
#define KEY "Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up"

static void
each_key_of_the_vectors_has_its_id_and_its_one_text(void **state)
{
	struct ks_buf file = KS_BUF_INIT, text = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span item;
	size_t seen = 0;

	(void)state;
	it = ks_json_iter(vector_read_json("keys.json", &file));
	while (ks_json_next_element(&it, &item)) {
		struct ks_span name = ks_json_raw(vector_member(item, "name"));
		struct ks_span vkey = ks_json_raw(vector_member(item, "vkey"));
		enum ks_signature_type type = (enum ks_signature_type)
			vector_number(item, "type");
		uint8_t seed[KS_ED25519_KEY], public[KS_ED25519_KEY], id[4];
		struct ks_secret_key secret;
		struct ks_vkey made, read;

		vector_bytes(item, "seed_hex", seed, sizeof(seed));
		vector_bytes(item, "public_hex", public, sizeof(public));
		vector_bytes(item, "key_id_hex", id, sizeof(id));
		assert_int_equal(ks_ed25519_from_seed(seed, &secret, NULL),
			KS_OK);
		assert_memory_equal(secret.public.bytes, public,
			sizeof(public));
		assert_int_equal(ks_vkey_make(name, type, &secret.public,
			&made, NULL), KS_OK);
		assert_int_equal(made.id, (uint32_t)id[0] << 24 |
			(uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3]);
		assert_int_equal(ks_key_id(name, type, &secret.public),
			made.id);
		ks_buf_clear(&text);
		ks_vkey_print(&made, &text);
		assert_true(ks_span_equal(ks_buf_span(&text), vkey));
		trust_vkey(vkey, &read);
		assert_true(ks_vkey_equal(&made, &read));
		assert_true(ks_span_is(name, read.name));
		seen++;
	}
	assert_int_equal(seen, 5);
	ks_buf_release(&file);
	ks_buf_release(&text);
}

static const char *const good_names[] = {
	"a",
	"archive.example/log",
	"\xc3\xa9\xe2\x9c\x93\xf0\x9f\x98\x80",
	"\xc2\x80", "\xc2\x9b",		/* C1 is no rule's business */
	"xcosignature/", "Cosignature/", "cosignature", "DSSEv", "dssev1",
	TWO_HUNDRED_FORTY("a") "123456789012345",
};

/* A name and a part of what is said about it. */
static const struct {
	const char *name;
	const char *said;
} bad_names[] = {
	{ "", "1 to 255" },
	{ TWO_HUNDRED_FORTY("a") "1234567890123456", "1 to 255" },
	{ "cosignature/", "start" },
	{ "cosignature/v1", "start" },
	{ "DSSEv1", "start" },
	{ "DSSEv1 28 application", "start" },
	{ "DSSEv12", "start" },
	{ "a+b", "'+'" },
	{ "+", "'+'" },
	{ "a ", "blanks" },
	{ "a\tb", "blanks" },
	{ "a\nb", "blanks" },
	{ "a\r", "blanks" },
	{ "\x01", "control" },
	{ "a\x1f", "control" },
	{ "a\x7f", "control" },
	{ "a\xff", "UTF-8" },
	{ "a\xc3", "UTF-8" },
	{ "\xc0\x80", "UTF-8" },
	{ "\xed\xa0\x80", "UTF-8" },
};

static void
an_origin_keeps_rule_t6(void **state)
{
	struct ks_secret_key secret;
	struct ks_vkey vkey;
	size_t i;

	(void)state;
	trust_make("a", KS_SIGNATURE_ED25519, 1, &vkey, &secret);
	for (i = 0; i < COUNT(good_names); i++) {
		struct ks_span name = ks_span_text(good_names[i]);

		assert_int_equal(ks_key_name_check(name, NULL), KS_OK);
		assert_int_equal(ks_vkey_make(name, KS_SIGNATURE_ED25519,
			&secret.public, &vkey, NULL), KS_OK);
		assert_string_equal(vkey.name, good_names[i]);
	}
}

static void
an_origin_that_breaks_rule_t6_is_refused_with_the_rule(void **state)
{
	struct ks_secret_key secret;
	struct ks_vkey vkey;
	size_t i;

	(void)state;
	trust_make("kept", KS_SIGNATURE_ED25519, 1, &vkey, &secret);
	for (i = 0; i < COUNT(bad_names); i++) {
		struct ks_span name = ks_span_text(bad_names[i].name);
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_key_name_check(name, &err), KS_INVALID);
		assert_int_equal(err.status, KS_INVALID);
		assert_non_null(strstr(err.message, bad_names[i].said));
		assert_non_null(strstr(err.message, "(T6)"));
		assert_int_equal(ks_vkey_make(name, KS_SIGNATURE_ED25519,
			&secret.public, &vkey, NULL), KS_INVALID);
		assert_string_equal(vkey.name, "kept");
	}
	assert_int_equal(ks_key_name_check(ks_span("a\0b", 3), NULL),
		KS_INVALID);
	assert_int_equal(ks_key_name_check(ks_span(NULL, 0), NULL),
		KS_INVALID);
}

/* Unicode's White_Space, and the neighbours of each range. */
static const struct {
	uint32_t first, last;
} spaces[] = {
	{ 0x09, 0x0d }, { 0x20, 0x20 }, { 0x85, 0x85 }, { 0xa0, 0xa0 },
	{ 0x1680, 0x1680 }, { 0x2000, 0x200a }, { 0x2028, 0x2029 },
	{ 0x202f, 0x202f }, { 0x205f, 0x205f }, { 0x3000, 0x3000 },
};

static bool
is_legal_with(uint32_t c)
{
	uint8_t text[8] = { 'a' };
	size_t len = ks_utf8_encode(c, text + 1);

	text[1 + len] = 'b';
	return ks_key_name_is_legal(ks_span(text, len + 2));
}

static void
no_unicode_space_is_legal_in_a_name_and_their_neighbours_are(void **state)
{
	size_t i;
	uint32_t c;

	(void)state;
	for (i = 0; i < COUNT(spaces); i++) {
		for (c = spaces[i].first; c <= spaces[i].last; c++)
			assert_false(is_legal_with(c));
		assert_true(is_legal_with(spaces[i].first - 1));
		assert_true(is_legal_with(spaces[i].last + 1));
	}
	/* Invisible, but no spaces. */
	assert_true(is_legal_with(0x180e));
	assert_true(is_legal_with(0x200b));
	assert_true(is_legal_with(0xfeff));
}

static void
a_legal_name_may_break_rule_t6_but_is_not_empty_nor_has_a_plus(void **state)
{
	(void)state;
	assert_true(ks_key_name_is_legal(ks_span_text("cosignature/v1")));
	assert_true(ks_key_name_is_legal(ks_span_text("DSSEv1")));
	assert_true(ks_key_name_is_legal(ks_span_text("\x7f")));
	assert_true(ks_key_name_is_legal(ks_span_text(
		TWO_HUNDRED_FORTY("a") TWO_HUNDRED_FORTY("a"))));
	assert_false(ks_key_name_is_legal(ks_span_text("")));
	assert_false(ks_key_name_is_legal(ks_span(NULL, 0)));
	assert_false(ks_key_name_is_legal(ks_span_text("+")));
	assert_false(ks_key_name_is_legal(ks_span_text("a+")));
	/* UTF-8 is judged elsewhere; a blank behind it is seen. */
	assert_true(ks_key_name_is_legal(ks_span_text("\xff")));
	assert_false(ks_key_name_is_legal(ks_span_text("\xff b")));
	assert_false(ks_key_name_is_legal(ks_span_text("\xe2\x80+")));
}

static void
the_type_and_the_name_are_part_of_the_id(void **state)
{
	struct ks_vkey a, b, c;
	struct ks_secret_key secret;

	(void)state;
	trust_vkey(ks_span_text(TRUST_LOG_VKEY), &a);
	trust_vkey(ks_span_text(TRUST_LOG_VKEY_04), &b);
	assert_true(ks_public_key_equal(&a.key, &b.key));
	assert_string_equal(a.name, b.name);
	assert_int_equal(a.id, 0xf8ca281c);
	assert_int_equal(b.id, 0xd6842c1b);
	assert_false(ks_vkey_equal(&a, &b));
	trust_make("a", KS_SIGNATURE_ED25519, 1, &b, &secret);
	trust_make("b", KS_SIGNATURE_ED25519, 1, &c, &secret);
	assert_int_not_equal(b.id, c.id);
	assert_false(ks_vkey_equal(&b, &c));
}

static void
vkeys_that_differ_in_one_part_are_not_equal(void **state)
{
	struct ks_vkey a, b;

	(void)state;
	trust_vkey(ks_span_text(TRUST_LOG_VKEY), &a);
	b = a;
	assert_true(ks_vkey_equal(&a, &b));
	b.id ^= 1;
	assert_false(ks_vkey_equal(&a, &b));
	b = a;
	b.type = KS_SIGNATURE_COSIGNATURE;
	assert_false(ks_vkey_equal(&a, &b));
	b = a;
	b.key.bytes[31] ^= 1;
	assert_false(ks_vkey_equal(&a, &b));
	b = a;
	b.name[0] = 'A';
	assert_false(ks_vkey_equal(&a, &b));
}

static void
a_vkey_is_printed_behind_what_is_there(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_vkey vkey;

	(void)state;
	trust_vkey(ks_span_text(TRUST_OTHER_VKEY), &vkey);
	ks_buf_text(&out, "key ");
	ks_vkey_print(&vkey, &out);
	assert_string_equal(ks_buf_cstr(&out), "key " TRUST_OTHER_VKEY);
	ks_buf_release(&out);
}

static void
an_id_with_leading_zeros_keeps_its_eight_digits(void **state)
{
	/* From the vectors of notes. */
	static const char text[] = "alice.example/notes+07b0d7b8+"
		"Ab6fzhr98geVYA0fo1uZffwd3pCZrecx/kvRfUOWE38z";
	struct ks_buf out = KS_BUF_INIT;
	struct ks_vkey vkey;

	(void)state;
	trust_vkey(ks_span_text(text), &vkey);
	assert_int_equal(vkey.id, 0x07b0d7b8);
	ks_vkey_print(&vkey, &out);
	assert_string_equal(ks_buf_cstr(&out), text);
	ks_buf_release(&out);
}

static const struct {
	const char *text;
	const char *said;
} malformed[] = {
	{ "", "begins with a name" },
	{ "+f8ca281c+" KEY, "begins with a name" },
	{ " " TRUST_LOG_VKEY, "begins with a name" },
	{ "a b+f8ca281c+" KEY, "begins with a name" },
	{ "a\tb+f8ca281c+" KEY, "begins with a name" },
	{ "a\x01+f8ca281c+" KEY, "begins with a name" },
	{ "a\x1f+f8ca281c+" KEY, "begins with a name" },
	{ "a\xc2\xa0+f8ca281c+" KEY, "begins with a name" },
	{ "a\xff+f8ca281c+" KEY, "begins with a name" },
	{ TWO_HUNDRED_FORTY("a") "1234567890123456+f8ca281c+" KEY, "255" },
	{ "archive.example/log", "hex" },
	{ "archive.example/log+", "hex" },
	{ "archive.example/log++" KEY, "hex" },
	{ "archive.example/log+f8ca281+" KEY, "hex" },
	{ "archive.example/log+f8ca281c0+" KEY, "hex" },
	{ "archive.example/log+F8CA281C+" KEY, "hex" },
	{ "archive.example/log+f8ca281g+" KEY, "hex" },
	{ "archive.example/log+0xf8ca28+" KEY, "hex" },
	{ "archive.example/log+ f8ca281c+" KEY, "hex" },
	{ "archive.example/log+f8ca281c", "base64" },
	{ "archive.example/log+f8ca281c+", "base64" },
	{ "archive.example/log+f8ca281c++" KEY, "base64" },
	{ "archive.example/log+f8ca281c+" KEY "\n", "base64" },
	{ "archive.example/log+f8ca281c+" KEY " ", "base64" },
	{ "archive.example/log+f8ca281c+ " KEY, "base64" },
	{ "archive.example/log+f8ca281c+" KEY "=", "base64" },
	{ "archive.example/log+f8ca281c+" KEY "+" KEY, "base64" },
	{ "archive.example/log+f8ca281c+AQ", "base64" },
	{ "archive.example/log+f8ca281c+"
		"Af6Qjore-3UgLJPYS9K69S7FxBm84h4v5-PHmbYW22up", "base64" },
	/* 1, 2, 32 and 34 bytes, and 33 and the empty key behind it */
	{ "archive.example/log+f8ca281c+AQ==", "32 bytes, not 0" },
	{ "archive.example/log+f8ca281c+Af4=", "32 bytes, not 1" },
	{ "archive.example/log+f8ca281c+"
		"Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22s=", "not 31" },
	{ "archive.example/log+f8ca281c+" KEY "AA==", "not 33" },
	/* the id of another name, type or key */
	{ "archive.example/lob+f8ca281c+" KEY, "that of its key is" },
	{ "archive.example/log+d6842c1b+" KEY, "that of its key is f8ca281c" },
	{ "archive.example/log+f8ca281c+"
		"BP6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up",
		"is f8ca281c, but that of its key is d6842c1b" },
	{ "archive.example/log+f8ca281c+"
		"Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22uq",
		"that of its key is" },
	{ "archive.example/log+f8ca281d+" KEY, "that of its key is" },
};

static void
a_malformed_vkey_is_refused_with_the_part_at_fault(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(malformed); i++) {
		struct ks_vkey vkey = { .name = "kept", .id = 7 };
		struct ks_error err = KS_ERROR_INIT;

		if (ks_vkey_parse(ks_span_text(malformed[i].text), &vkey,
			&err) != KS_INVALID)
			fail_msg("not refused: %s", malformed[i].text);
		if (strstr(err.message, malformed[i].said) == NULL)
			fail_msg("%s: %s", malformed[i].text, err.message);
		assert_int_equal(err.status, KS_INVALID);
		assert_string_equal(vkey.name, "kept");
		assert_int_equal(vkey.id, 7);
	}
}

static void
every_prefix_of_a_vkey_is_refused(void **state)
{
	size_t len;

	(void)state;
	for (len = 0; len < strlen(TRUST_LOG_VKEY); len++) {
		uint8_t *copy = malloc(len + (len == 0));
		struct ks_vkey vkey;

		assert_non_null(copy);
		memcpy(copy, TRUST_LOG_VKEY, len);
		assert_int_equal(ks_vkey_parse(ks_span(copy, len), &vkey,
			NULL), KS_INVALID);
		free(copy);
	}
}

static void
a_nul_byte_is_part_of_no_vkey(void **state)
{
	static const char text[] = "archive.example/log\0+f8ca281c+" KEY;
	struct ks_vkey vkey;

	(void)state;
	assert_int_equal(ks_vkey_parse(ks_span(text, sizeof(text) - 1), &vkey,
		NULL), KS_INVALID);
	assert_int_equal(ks_vkey_parse(ks_span(TRUST_LOG_VKEY,
		sizeof(TRUST_LOG_VKEY)), &vkey, NULL), KS_INVALID);
}

static void
a_vkey_of_another_type_is_unsupported_whatever_its_length(void **state)
{
	static const uint8_t types[] = { 0x00, 0x02, 0x03, 0x05, 0x06, 0xff };
	static const size_t lengths[] = { 1, 2, 3, 4, 33, 92, 1313 };
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(types); i++) {
		for (k = 0; k < COUNT(lengths); k++) {
			struct ks_buf text = KS_BUF_INIT;
			struct ks_error err = KS_ERROR_INIT;
			uint8_t key[1313] = { types[i], 1, 4 };
			struct ks_vkey vkey;

			ks_buf_text(&text, "archive.example/log+f8ca281c+");
			ks_base64_encode(ks_span(key, lengths[k]), &text);
			assert_int_equal(ks_vkey_parse(ks_buf_span(&text),
				&vkey, &err), KS_UNSUPPORTED);
			assert_non_null(strstr(err.message, "type"));
			ks_buf_release(&text);
		}
	}
}

static void
a_name_of_255_bytes_is_read_whole(void **state)
{
	static const char name[] =
		TWO_HUNDRED_FORTY("a") "123456789012345";
	struct ks_buf text = KS_BUF_INIT;
	struct ks_secret_key secret;
	struct ks_vkey made, read;

	(void)state;
	assert_int_equal(strlen(name), KS_KEY_NAME_MAX);
	trust_make(name, KS_SIGNATURE_COSIGNATURE, 9, &made, &secret);
	ks_vkey_print(&made, &text);
	trust_vkey(ks_buf_span(&text), &read);
	assert_string_equal(read.name, name);
	assert_true(ks_vkey_equal(&made, &read));
	ks_buf_release(&text);
}

static void
a_vkey_may_have_a_name_that_is_no_origin(void **state)
{
	struct ks_vkey vkey = { .name = "cosignature/v1",
		.type = KS_SIGNATURE_COSIGNATURE };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_vkey read;

	(void)state;
	vkey.id = ks_key_id(ks_span_text(vkey.name), vkey.type, &vkey.key);
	ks_vkey_print(&vkey, &text);
	trust_vkey(ks_buf_span(&text), &read);
	assert_true(ks_vkey_equal(&vkey, &read));
	ks_buf_release(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_key_of_the_vectors_has_its_id_and_its_one_text),
		cmocka_unit_test(an_origin_keeps_rule_t6),
		cmocka_unit_test(
			an_origin_that_breaks_rule_t6_is_refused_with_the_rule),
		cmocka_unit_test(
			no_unicode_space_is_legal_in_a_name_and_their_neighbours_are),
		cmocka_unit_test(
			a_legal_name_may_break_rule_t6_but_is_not_empty_nor_has_a_plus),
		cmocka_unit_test(the_type_and_the_name_are_part_of_the_id),
		cmocka_unit_test(vkeys_that_differ_in_one_part_are_not_equal),
		cmocka_unit_test(a_vkey_is_printed_behind_what_is_there),
		cmocka_unit_test(
			an_id_with_leading_zeros_keeps_its_eight_digits),
		cmocka_unit_test(
			a_malformed_vkey_is_refused_with_the_part_at_fault),
		cmocka_unit_test(every_prefix_of_a_vkey_is_refused),
		cmocka_unit_test(a_nul_byte_is_part_of_no_vkey),
		cmocka_unit_test(
			a_vkey_of_another_type_is_unsupported_whatever_its_length),
		cmocka_unit_test(a_name_of_255_bytes_is_read_whole),
		cmocka_unit_test(a_vkey_may_have_a_name_that_is_no_origin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
