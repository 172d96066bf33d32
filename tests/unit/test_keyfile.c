#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "base/file.h"
#include "format/keyfile.h"
#include "format/sshkey.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The key of RFC 8410 section 10.3 in every form. */
#define NAME "example.org/log"
#define SECRET_BASE64 \
	"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"
#define SECRET "-----BEGIN PRIVATE KEY-----\n" SECRET_BASE64 "\n" \
	"-----END PRIVATE KEY-----\n"
#define PUBLIC "-----BEGIN PUBLIC KEY-----\n" \
	"MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n" \
	"-----END PUBLIC KEY-----\n"
#define SSH "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" \
	"IBm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh"
/* SHA-256(NAME || LF || 01 || key) begins 00f117d5, by sha256sum. */
#define VKEY NAME "+00f117d5+ARm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh"
#define ENCRYPTED "-----BEGIN ENCRYPTED PRIVATE KEY-----\n" \
	"MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhljZOAsdhz1wICCAAw\n" \
	"DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEPkA93oZ6IKFJgrEIk8235wEQBvX\n" \
	"WBK4VhOMDlpw7jzriNXghuj9W1h3RqIItxNKQ56uuxmM5koMYowlh4bBN5d3tTsX\n" \
	"XxpKfBWnXNCSjYImseo=\n-----END ENCRYPTED PRIVATE KEY-----\n"

static const uint8_t public_bytes[KS_ED25519_KEY] = { 0x19, 0xbf, 0x44, 0x09,
	0x69, 0x84, 0xcd, 0xfe, 0x85, 0x41, 0xba, 0xc1, 0x67, 0xdc, 0x3b, 0x96,
	0xc8, 0x50, 0x86, 0xaa, 0x30, 0xb6, 0xb6, 0xcb, 0x0c, 0x5c, 0x38, 0xad,
	0x70, 0x31, 0x66, 0xe1 };

static enum ks_status
read_public(const char *text, const char *origin, struct ks_vkey *out,
	struct ks_error *err)
{
	return ks_public_key_read(ks_span_text(text), ks_span_text(origin),
		out, err);
}

static enum ks_status
read_private(const char *text, const char *passphrase,
	struct ks_named_key *out, struct ks_error *err)
{
	return ks_private_key_read(ks_span_text(text),
		ks_span_text(passphrase), out, err);
}

/* ---- Public keys ---- */

static const struct {
	const char *text;
	const char *origin;
} publics[] = {
	{ VKEY, "" },
	{ VKEY "\n", "" },
	{ " " VKEY " \r\n", NAME },
	{ "\xef\xbb\xbf" VKEY "\r\n", "" },
	{ SSH, NAME },
	{ SSH "\n", NAME },
	{ SSH " another.example/name\r\n", NAME },
	{ "ssh-ed25519\tAAAAC3NzaC1lZDI1NTE5AAAA"
		"IBm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh\n", NAME },
	{ "\xef\xbb\xbf" SSH "\r\n", NAME },
	{ PUBLIC, NAME },
	{ "Name: another\n" PUBLIC, NAME },
	{ "\xef\xbb\xbf" PUBLIC, NAME },
	{ "\r\n-----BEGIN PUBLIC KEY-----\r\n"
		"MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\r\n"
		"-----END PUBLIC KEY-----\r\n", NAME },
};

static void
each_form_of_a_public_key_is_read_with_its_origin(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(publics); i++) {
		struct ks_vkey vkey;
		struct ks_error err = KS_ERROR_INIT;

		if (read_public(publics[i].text, publics[i].origin, &vkey,
			&err) != KS_OK)
			fail_msg("%s: %s", err.message, publics[i].text);
		assert_string_equal(vkey.name, NAME);
		assert_int_equal(vkey.type, KS_SIGNATURE_ED25519);
		assert_int_equal(vkey.id, 0x00f117d5);
		assert_memory_equal(vkey.key.bytes, public_bytes,
			sizeof(public_bytes));
	}
}

static void
a_vkey_of_a_cosigner_keeps_its_type(void **state)
{
	struct ks_public_key key;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_vkey vkey, back;

	(void)state;
	memcpy(key.bytes, public_bytes, sizeof(key.bytes));
	assert_int_equal(ks_vkey_make(ks_span_text("example.org/w"),
		KS_SIGNATURE_COSIGNATURE, &key, &vkey, NULL), KS_OK);
	ks_vkey_print(&vkey, &text);
	assert_int_equal(read_public(ks_buf_cstr(&text), "", &back, NULL),
		KS_OK);
	assert_true(ks_vkey_equal(&vkey, &back));
	ks_buf_release(&text);
}

static const struct {
	const char *text;
	const char *origin;
	enum ks_status status;
	const char *reason;
} public_refusals[] = {
	/* no origin, another, and none that can be one */
	{ SSH, "", KS_USAGE, "--origin NAME" },
	{ SSH " " NAME, "", KS_USAGE, "--origin NAME" },
	{ PUBLIC, "", KS_USAGE, "--origin NAME" },
	{ "Name: " NAME "\n" PUBLIC, "", KS_USAGE, "--origin NAME" },
	{ VKEY, "example.org/lo", KS_USAGE,
		"for the origin example.org/log, and --origin is example.org/lo" },
	{ SSH, "a b", KS_INVALID, "(T6)" },
	{ PUBLIC, "a+b", KS_INVALID, "(T6)" },
	/* private keys */
	{ SECRET, NAME, KS_INVALID, "private key where a public key" },
	{ "Name: " NAME "\n" SECRET, "", KS_INVALID,
		"private key where a public key" },
	{ ENCRYPTED, NAME, KS_INVALID, "private key where a public key" },
	{ "-----BEGIN OPENSSH PRIVATE KEY-----\n", NAME, KS_INVALID,
		"private key where a public key" },
	{ "PRIVATE+KEY+" VKEY "\n", NAME, KS_INVALID,
		"private key where a public key" },
	/* other types and algorithms, by name */
	{ "ssh-rsa AAAAB3NzaC1yc2E=", NAME, KS_INVALID, "type ssh-rsa" },
	{ "-----BEGIN PUBLIC KEY-----\n"
		"MCowBQYDK2VuAyEAX3cDSflqx6GHNXm6gCH+YMy2D8pD3AfiLcooNzzSKGU=\n"
		"-----END PUBLIC KEY-----\n", NAME, KS_INVALID,
		"algorithm X25519" },
	{ "-----BEGIN CERTIFICATE-----\n", NAME, KS_INVALID, "CERTIFICATE" },
	/* a vkey with another id, or another signature type */
	{ NAME "+00f117d6+ARm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh", "",
		KS_INVALID, "id" },
	{ NAME "+00f117d5+Ahm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh", "",
		KS_UNSUPPORTED, "" },
	{ "a+b", "", KS_INVALID, "" },
	{ "+", "", KS_INVALID, "" },
	/* nothing of that */
	{ "", NAME, KS_INVALID, "not a public key" },
	{ "\n\n", NAME, KS_INVALID, "not a public key" },
	{ "\xef\xbb\xbf", NAME, KS_INVALID, "not a public key" },
	{ "garbage", NAME, KS_INVALID, "not a public key" },
	{ "some garbage", NAME, KS_INVALID, "not a line" },
	{ VKEY "\n" VKEY "\n", "", KS_INVALID, "" },
	{ SSH "\n" SSH "\n", NAME, KS_INVALID, "more than one line" },
	{ PUBLIC PUBLIC, NAME, KS_INVALID, "more than one" },
};

static void
what_is_no_public_key_is_refused_with_what_to_do(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(public_refusals); i++) {
		struct ks_vkey vkey;
		struct ks_error err = KS_ERROR_INIT;
		enum ks_status status = read_public(public_refusals[i].text,
			public_refusals[i].origin, &vkey, &err);

		if (status != public_refusals[i].status ||
			strstr(err.message, public_refusals[i].reason) == NULL)
			fail_msg("%s \"%s\", not \"%s\": %s",
				ks_status_name(status), err.message,
				public_refusals[i].reason,
				public_refusals[i].text);
		assert_null(strchr(err.message, '\n'));
		assert_null(strstr(err.message, SECRET_BASE64));
	}
}

static void
each_form_of_a_public_key_is_written(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_vkey vkey;

	(void)state;
	assert_int_equal(read_public(VKEY, "", &vkey, NULL), KS_OK);
	assert_int_equal(ks_public_key_write(&vkey, KS_KEY_VKEY, &out, NULL),
		KS_OK);
	assert_string_equal(ks_buf_cstr(&out), VKEY "\n");
	ks_buf_clear(&out);
	assert_int_equal(ks_public_key_write(&vkey, KS_KEY_SSH, &out, NULL),
		KS_OK);
	assert_string_equal(ks_buf_cstr(&out), SSH " " NAME "\n");
	ks_buf_clear(&out);
	assert_int_equal(ks_public_key_write(&vkey, KS_KEY_PEM, &out, NULL),
		KS_OK);
	assert_string_equal(ks_buf_cstr(&out), PUBLIC);
	ks_buf_release(&out);
}

/* ---- Private keys ---- */

static const struct {
	const char *text;
	const char *passphrase;
} privates[] = {
	{ "Name: " NAME "\n" SECRET, "" },
	{ "Name: " NAME "\n" SECRET, "not needed" },
	{ "Name:" NAME "\n" SECRET, "" },
	{ "Name: \t" NAME " \r\n" SECRET, "" },
	{ "\xef\xbb\xbfName: " NAME "\n" SECRET, "" },
	{ "The log's key\n\nName: " NAME "\nKeep it secret\n" SECRET "x\n", "" },
	{ "Name: " NAME "\r\n-----BEGIN PRIVATE KEY-----\r\n" SECRET_BASE64
		"\r\n-----END PRIVATE KEY-----\r\n", "" },
	{ "Name: " NAME "\n" SECRET "Name: another\n", "" },
	{ "Name: " NAME "\n" ENCRYPTED, "secret" },
};

static void
a_pkcs8_key_has_the_name_that_stands_before_it(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(privates); i++) {
		struct ks_named_key key;
		struct ks_error err = KS_ERROR_INIT;

		if (read_private(privates[i].text, privates[i].passphrase,
			&key, &err) != KS_OK)
			fail_msg("%s: %s", err.message, privates[i].text);
		assert_string_equal(key.name, NAME);
		assert_memory_equal(key.secret.public.bytes, public_bytes,
			sizeof(public_bytes));
	}
}

static struct ks_named_key
named_key(void)
{
	struct ks_named_key key;

	assert_int_equal(read_private("Name: " NAME "\n" SECRET, "", &key,
		NULL), KS_OK);
	return key;
}

static void
an_openssh_key_has_its_comment_for_a_name(void **state)
{
	struct ks_named_key key = named_key();
	struct ks_named_key back;
	struct ks_buf text = KS_BUF_INIT;

	(void)state;
	assert_int_equal(ks_ssh_secret_write(&key.secret, ks_span_text(NAME),
		&text, NULL), KS_OK);
	assert_int_equal(read_private(ks_buf_cstr(&text), "", &back, NULL),
		KS_OK);
	assert_memory_equal(&back, &key, sizeof(key));
	ks_buf_wipe(&text);
}

static void
an_openssh_key_whose_comment_is_no_name_is_refused(void **state)
{
	static const char *const comments[] = { "", "me at home", "a+b",
		"cosignature/v1", "a\nb" };
	struct ks_named_key key = named_key();
	struct ks_named_key back;
	struct ks_error err = KS_ERROR_INIT;
	char long_name[257];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(comments); i++) {
		struct ks_buf text = KS_BUF_INIT;

		assert_int_equal(ks_ssh_secret_write(&key.secret,
			ks_span_text(comments[i]), &text, NULL), KS_OK);
		assert_int_equal(read_private(ks_buf_cstr(&text), "", &back,
			&err), KS_INVALID);
		assert_non_null(strstr(err.message, i == 0 ?
			"ssh-keygen -c -C NAME" : "(T6)"));
		ks_buf_wipe(&text);
	}
	for (i = 254; i <= 256; i++) {
		struct ks_buf text = KS_BUF_INIT;

		memset(long_name, 'x', sizeof(long_name));
		assert_int_equal(ks_ssh_secret_write(&key.secret,
			ks_span(long_name, i), &text, NULL), KS_OK);
		assert_int_equal(read_private(ks_buf_cstr(&text), "", &back,
			NULL), i <= KS_KEY_NAME_MAX ? KS_OK : KS_INVALID);
		ks_buf_wipe(&text);
	}
}

static const struct {
	const char *text;
	const char *passphrase;
	enum ks_status status;
	const char *reason;
} private_refusals[] = {
	/* names */
	{ SECRET, "", KS_INVALID, "put a line \"Name: NAME\" before" },
	{ SECRET "Name: " NAME "\n", "", KS_INVALID, "put a line" },
	{ "name: " NAME "\n" SECRET, "", KS_INVALID, "put a line" },
	{ " Name: " NAME "\n" SECRET, "", KS_INVALID, "put a line" },
	{ "Name: a\nName: b\n" SECRET, "", KS_INVALID, "more than one line" },
	{ "Name: a\nName: a\n" SECRET, "", KS_INVALID, "more than one line" },
	{ "Name:\n" SECRET, "", KS_INVALID, "(T6)" },
	{ "Name: a b\n" SECRET, "", KS_INVALID, "(T6)" },
	{ "Name: a+b\n" SECRET, "", KS_INVALID, "(T6)" },
	{ "Name: DSSEv1\n" SECRET, "", KS_INVALID, "(T6)" },
	{ "Name: \x80\n" SECRET, "", KS_INVALID, "(T6)" },
	/* passphrases, for which nobody is asked in vain */
	{ "Name: " NAME "\n" ENCRYPTED, "", KS_UNTRUSTED, "no passphrase" },
	{ "Name: " NAME "\n" ENCRYPTED, "x", KS_UNTRUSTED, "does not open" },
	{ ENCRYPTED, "", KS_INVALID, "put a line" },
	/* public keys */
	{ VKEY, "", KS_INVALID, "public key where a private key" },
	{ SSH "\n", "", KS_INVALID, "public key where a private key" },
	{ "Name: " NAME "\n" PUBLIC, "", KS_INVALID,
		"public key where a private key" },
	/* forms that are not read */
	{ "PRIVATE+KEY+" VKEY, "", KS_INVALID, "PRIVATE+KEY+NAME" },
	{ "Name: x\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\n"
		"-----END RSA PRIVATE KEY-----\n", "", KS_INVALID,
		"RSA PRIVATE KEY" },
	{ "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"
		"-----END OPENSSH PRIVATE KEY-----\n", "", KS_INVALID,
		"malformed OpenSSH private key" },
	{ "", "", KS_INVALID, "not a private key" },
	{ "Name: " NAME "\n" SECRET_BASE64 "\n", "", KS_INVALID,
		"not a private key" },
	{ "garbage", "", KS_INVALID, "not a private key" },
};

static void
what_is_no_private_key_is_refused_with_what_to_do_and_wiped(void **state)
{
	static const struct ks_named_key zero;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(private_refusals); i++) {
		struct ks_named_key key;
		struct ks_error err = KS_ERROR_INIT;
		enum ks_status status;

		memset(&key, 0xff, sizeof(key));
		status = read_private(private_refusals[i].text,
			private_refusals[i].passphrase, &key, &err);
		if (status != private_refusals[i].status ||
			strstr(err.message, private_refusals[i].reason) == NULL)
			fail_msg("%s \"%s\", not \"%s\": %s",
				ks_status_name(status), err.message,
				private_refusals[i].reason,
				private_refusals[i].text);
		assert_memory_equal(&key, &zero, sizeof(key));
		assert_null(strstr(err.message, SECRET_BASE64));
	}
}

static void
a_text_too_long_for_a_key_is_refused(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_named_key key;
	struct ks_vkey vkey;

	(void)state;
	while (text.len <= KS_KEY_FILE_MAX)
		ks_buf_text(&text, "Comment: of no use\n");
	ks_buf_text(&text, "Name: " NAME "\n" SECRET);
	assert_int_equal(ks_private_key_read(ks_buf_span(&text),
		ks_span(NULL, 0), &key, NULL), KS_INVALID);
	assert_int_equal(ks_public_key_read(ks_buf_span(&text),
		ks_span_text(NAME), &vkey, NULL), KS_INVALID);
	assert_int_equal(ks_private_key_read(ks_span(NULL, 0),
		ks_span(NULL, 0), &key, NULL), KS_INVALID);
	assert_int_equal(ks_public_key_read(ks_span(NULL, 0),
		ks_span(NULL, 0), &vkey, NULL), KS_INVALID);
	ks_buf_release(&text);
}

static void
a_private_key_is_written_with_its_name_and_read_again(void **state)
{
	struct ks_named_key key = named_key();
	struct ks_named_key back;
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	assert_int_equal(ks_private_key_write(&key, ks_span(NULL, 0), &out,
		NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&out), "Name: " NAME "\n" SECRET);
	ks_buf_clear(&out);
	assert_int_equal(ks_private_key_write(&key, ks_span_text("secret"),
		&out, NULL), KS_OK);
	assert_int_equal(read_private(ks_buf_cstr(&out), "", &back, NULL),
		KS_UNTRUSTED);
	assert_int_equal(read_private(ks_buf_cstr(&out), "secret", &back,
		NULL), KS_OK);
	assert_memory_equal(&back, &key, sizeof(key));
	memcpy(key.name, "a\nb", 4);
	ks_buf_clear(&out);
	assert_int_equal(ks_private_key_write(&key, ks_span(NULL, 0), &out,
		NULL), KS_INVALID);
	assert_int_equal(out.len, 0);
	ks_buf_wipe(&out);
}

static void
stock_tools_read_the_file_with_the_name_in_it(void **state)
{
	struct ks_named_key key = named_key();
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	need("openssl");
	need("ssh-keygen");
	assert_int_equal(ks_private_key_write(&key, ks_span(NULL, 0), &out,
		NULL), KS_OK);
	scratch_write("key.pem", ks_buf_span(&out));
	scratch_write("public.pem", ks_span_text(PUBLIC));
	scratch_write("public.ssh", ks_span_text(SSH " " NAME "\n"));
	assert_int_equal(sh("openssl pkey -in key.pem -pubout | "
		"cmp - public.pem"), 0);
	assert_int_equal(sh("ssh-keygen -l -f public.ssh >/dev/null"),
		0);
	ks_buf_wipe(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_form_of_a_public_key_is_read_with_its_origin),
		cmocka_unit_test(a_vkey_of_a_cosigner_keeps_its_type),
		cmocka_unit_test(
			what_is_no_public_key_is_refused_with_what_to_do),
		cmocka_unit_test(each_form_of_a_public_key_is_written),
		cmocka_unit_test(
			a_pkcs8_key_has_the_name_that_stands_before_it),
		cmocka_unit_test(an_openssh_key_has_its_comment_for_a_name),
		cmocka_unit_test(
			an_openssh_key_whose_comment_is_no_name_is_refused),
		cmocka_unit_test(
			what_is_no_private_key_is_refused_with_what_to_do_and_wiped),
		cmocka_unit_test(a_text_too_long_for_a_key_is_refused),
		cmocka_unit_test(
			a_private_key_is_written_with_its_name_and_read_again),
		cmocka_unit_test_setup_teardown(
			stock_tools_read_the_file_with_the_name_in_it,
			scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
