#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/keys.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The key of RFC 8410 section 10.3. */
#define NAME "example.org/log"
#define SECRET "-----BEGIN PRIVATE KEY-----\n" \
	"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n" \
	"-----END PRIVATE KEY-----\n"
#define VKEY NAME "+00f117d5+ARm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh"

static struct ks_signer *
read_signer(const char *text, const char *passphrase)
{
	struct ks_signer *signer;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_signer_read(&signer, ks_span_text(text),
		ks_span_text(passphrase), &err) != KS_OK)
		fail_msg("%s", err.message);
	return signer;
}

static void
wiped_bytes_are_zero_and_their_neighbours_stay(void **state)
{
	uint8_t bytes[10];
	size_t i;

	(void)state;
	memset(bytes, 7, sizeof(bytes));
	ks_wipe(bytes + 1, 8);
	for (i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], i == 0 || i == 9 ? 7 : 0);
	ks_wipe(bytes, 0);
	assert_int_equal(bytes[0], 7);
	ks_wipe(NULL, 0);
}

static void
a_wiped_buffer_is_as_new(void **state)
{
	struct ks_buf buf = KS_BUF_INIT;

	(void)state;
	ks_buf_wipe(&buf);
	ks_buf_text(&buf, "secret");
	ks_buf_wipe(&buf);
	assert_null(buf.data);
	assert_int_equal(buf.len + buf.cap, 0);
	ks_buf_text(&buf, "x");
	assert_int_equal(buf.len, 1);
	ks_buf_wipe(&buf);
}

static void
a_signer_gives_its_key_its_name_and_its_vkey(void **state)
{
	struct ks_signer *signer = read_signer("Name: " NAME "\n" SECRET, "");
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	assert_string_equal(ks_signer_name(signer), NAME);
	assert_string_equal(ks_signer_key(signer)->name, NAME);
	assert_int_equal(ks_signer_vkey(signer)->type, KS_SIGNATURE_ED25519);
	assert_true(ks_public_key_equal(&ks_signer_vkey(signer)->key,
		&ks_signer_key(signer)->secret.public));
	ks_vkey_print(ks_signer_vkey(signer), &text);
	assert_string_equal(ks_buf_cstr(&text), VKEY);
	ks_buf_release(&text);
	ks_signer_free(signer);
	ks_signer_free(NULL);
}

static void
a_generated_signer_is_read_back_as_it_was_written(void **state)
{
	static const char *const passphrases[] = { "", "correct horse" };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(passphrases); i++) {
		struct ks_span passphrase = ks_span_text(passphrases[i]);
		struct ks_buf text = KS_BUF_INIT;
		struct ks_signer *signer, *back;

		assert_int_equal(ks_signer_generate(&signer, NAME, NULL),
			KS_OK);
		assert_int_equal(ks_signer_write(signer, passphrase, &text,
			NULL), KS_OK);
		back = read_signer(ks_buf_cstr(&text), passphrases[i]);
		assert_memory_equal(ks_signer_key(signer),
			ks_signer_key(back), sizeof(struct ks_named_key));
		assert_true(ks_vkey_equal(ks_signer_vkey(signer),
			ks_signer_vkey(back)));
		ks_signer_free(signer);
		ks_signer_free(back);
		ks_buf_wipe(&text);
	}
}

static void
what_fails_leaves_no_signer(void **state)
{
	struct ks_signer *signer = (struct ks_signer *)state;
	struct ks_error err = KS_ERROR_INIT;

	assert_int_equal(ks_signer_generate(&signer, "a b", NULL), KS_USAGE);
	assert_null(signer);
	signer = (struct ks_signer *)state;
	assert_int_equal(ks_signer_generate(&signer, "", &err), KS_USAGE);
	assert_int_equal(err.status, KS_USAGE);
	assert_null(signer);
	signer = (struct ks_signer *)state;
	assert_int_equal(ks_signer_read(&signer, ks_span_text(SECRET),
		ks_span(NULL, 0), NULL), KS_INVALID);
	assert_null(signer);
}

static void
a_signer_and_its_text_are_described_alike(void **state)
{
	struct ks_span text = ks_span_text("Name: " NAME "\n" SECRET);
	struct ks_signer *signer = read_signer("Name: " NAME "\n" SECRET, "");
	struct ks_key_info a, b;

	(void)state;
	assert_int_equal(ks_signer_describe(signer, &a, NULL), KS_OK);
	assert_int_equal(ks_key_describe(text, ks_span(NULL, 0), NULL, false,
		&b, NULL), KS_OK);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_true(a.is_private);
	assert_string_equal(a.vkey, VKEY);
	assert_string_equal(a.id, "00f117d5");
	assert_int_equal(ks_key_describe(ks_span_text(VKEY), ks_span(NULL, 0),
		NULL, false, &b, NULL), KS_OK);
	assert_false(b.is_private);
	assert_string_equal(b.ssh, a.ssh);
	assert_string_equal(b.pem, a.pem);
	assert_string_equal(b.fingerprint, a.fingerprint);
	ks_signer_free(signer);
}

/* The arrays of struct ks_key_info hold the longest texts there can be. */
static void
the_longest_name_fits(void **state)
{
	struct ks_signer *signer;
	struct ks_key_info info;
	struct ks_error err = KS_ERROR_INIT;
	char name[KS_KEY_NAME_MAX + 1];

	(void)state;
	memset(name, 'n', KS_KEY_NAME_MAX);
	name[KS_KEY_NAME_MAX] = '\0';
	assert_int_equal(ks_signer_generate(&signer, name, NULL), KS_OK);
	if (ks_signer_describe(signer, &info, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_string_equal(info.name, name);
	assert_int_equal(strlen(info.vkey), 255 + 1 + 8 + 1 + 44);
	assert_int_equal(strlen(info.ssh), 11 + 1 + 68 + 1 + 255);
	ks_signer_free(signer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wiped_bytes_are_zero_and_their_neighbours_stay),
		cmocka_unit_test(a_wiped_buffer_is_as_new),
		cmocka_unit_test(a_signer_gives_its_key_its_name_and_its_vkey),
		cmocka_unit_test(
			a_generated_signer_is_read_back_as_it_was_written),
		cmocka_unit_test(what_fails_leaves_no_signer),
		cmocka_unit_test(a_signer_and_its_text_are_described_alike),
		cmocka_unit_test(the_longest_name_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
