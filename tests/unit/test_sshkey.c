#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "../lib/vectors.h"
#include "format/armor.h"
#include "format/sshkey.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Made by ssh-keygen 9.2, for this. */
#define NAME "example.org/log"
#define FINGERPRINT "SHA256:b1raLg7xH35hxS8NnHN2EAgSgxyfSB3JfNx95tLq+fI"
#define BASE64 "AAAAC3NzaC1lZDI1NTE5AAAA" \
	"IAN5vMM+CNJmvF8+J/DcTntem5p6l961G3qfSEyTMzGX"
#define LINE "ssh-ed25519 " BASE64
#define BEGIN "-----BEGIN OPENSSH PRIVATE KEY-----\n"
#define END "-----END OPENSSH PRIVATE KEY-----\n"
#define BODY \
	"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n" \
	"QyNTUxOQAAACADebzDPgjSZrxfPifw3E57XpuaepfetRt6n0hMkzMxlwAAAJhXWIcmV1iH\n" \
	"JgAAAAtzc2gtZWQyNTUxOQAAACADebzDPgjSZrxfPifw3E57XpuaepfetRt6n0hMkzMxlw\n" \
	"AAAEDUVbrWT2q63znhiA+rXocY0y98fQxX1dVAciiQp8xllgN5vMM+CNJmvF8+J/DcTnte\n" \
	"m5p6l961G3qfSEyTMzGXAAAAD2V4YW1wbGUub3JnL2xvZwECAwQFBg==\n"
/* The same under a passphrase, and keys of other types. */
#define ENCRYPTED_BODY \
	"b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABCOdJOWFS\n" \
	"9mdI+VFSZRANcFAAAAAQAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIAN5vMM+CNJmvF8+\n" \
	"J/DcTntem5p6l961G3qfSEyTMzGXAAAAoDvQyNdNSoaOE9TwzG8W4YXH8dneU5G4P/ilVL\n" \
	"sZ2LK+4b7OTXegj8ZTe2HyRNT2x3EQGtZ+pAtsfYEfsF/9Q698hKbfby5kM7l6D+D8nghO\n" \
	"77+92oLetxTUfEADFQU3fbyat/sQraAB1JCDLQIwGHJSdiPEprtc429DnBMAPsyUYsvEXx\n" \
	"isbRDOWpm/uv0mEU2YGb+Aa+79/Yg/vYOwsYg=\n"
#define ECDSA_BODY \
	"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAaAAAABNlY2RzYS\n" \
	"1zaGEyLW5pc3RwMjU2AAAACG5pc3RwMjU2AAAAQQSuNJxoHF7HYsxZv+jd+V0A4ky7fdnM\n" \
	"Z8qlyt9BnVZ2Q06YaMTZisimRSKjl291B2huKMEKC1DE1SXg3KBI7mJ2AAAAoAotoZ8KLa\n" \
	"GfAAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBK40nGgcXsdizFm/\n" \
	"6N35XQDiTLt92cxnyqXK30GdVnZDTphoxNmKyKZFIqOXb3UHaG4owQoLUMTVJeDcoEjuYn\n" \
	"YAAAAhANQ55xWO8qWMxaDbs9rzUyrwauinHrKSBfmKiuT7pcJ9AAAAAXgBAgMEBQY=\n"
#define ECDSA_LINE "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlz" \
	"dHAyNTYAAABBBK40nGgcXsdizFm/6N35XQDiTLt92cxnyqXK30GdVnZDTphoxNmKyKZFIqOX" \
	"b3UHaG4owQoLUMTVJeDcoEjuYnY= x"
#define RSA_LINE "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDVpVTorNZdkN1uOwjeubFXYX6g6bo2" \
	"Cy6r1gcCGp+AY1BKRBvjLNoE16EUViD0ESvwjRCegFD6Ij1W5kAi6QGZDKVLLHAPr8rox0l/ZESm" \
	"D8aRMptAkQgL+4R7F1obWlRi4c2QdnUtITtH7K94raXj45niShx6UMtY0NPH7tRIqw== x"

/* Where parts of the decoded file stand. */
enum {
	AT_CIPHER = 15, AT_KDF = 23, AT_OPTIONS = 31, AT_COUNT = 35,
	AT_BLOB = 39, AT_SECTION = 94, AT_CHECK = 98, AT_TYPE = 106,
	AT_PUBLIC = 121, AT_SECRET = 157, AT_SEED = 161, AT_SECOND = 193,
	AT_COMMENT = 225, AT_NAME = 229, AT_PADDING = 244, FILE_LEN = 250
};

static struct ks_public_key
public_key(void)
{
	struct ks_public_key key;
	uint8_t blob[KS_SSH_BLOB];

	assert_true(ks_base64_decode_exact(ks_span_text(BASE64), blob,
		sizeof(blob)));
	memcpy(key.bytes, blob + 19, sizeof(key.bytes));
	return key;
}

/* ---- Strings, blobs, fingerprints ---- */

static void
a_string_is_taken_only_when_all_of_it_is_there(void **state)
{
	static const uint8_t bytes[] = { 0, 0, 0, 2, 'a', 'b', 0, 0, 0, 0, 0,
		0, 0, 1 };
	struct ks_span rest = ks_span(bytes, sizeof(bytes));
	struct ks_span string;
	uint32_t number;
	size_t len;

	(void)state;
	assert_true(ks_ssh_take_string(&rest, &string));
	assert_true(ks_span_is(string, "ab"));
	assert_true(ks_ssh_take_string(&rest, &string));
	assert_int_equal(string.len, 0);
	assert_int_equal(rest.len, 4);
	assert_false(ks_ssh_take_string(&rest, &string));
	assert_int_equal(rest.len, 4);
	assert_true(ks_ssh_take_u32(&rest, &number));
	assert_int_equal(number, 1);
	for (len = 0; len < 6; len++) {
		rest = ks_span(bytes, len);
		assert_false(ks_ssh_take_string(&rest, &string));
		assert_int_equal(rest.len, len);
	}
	rest = ks_span("\xff\xff\xff\xff" "ab", 6);
	assert_false(ks_ssh_take_string(&rest, &string));
	rest = ks_span(NULL, 0);
	assert_false(ks_ssh_take_u32(&rest, &number));
}

static void
a_blob_holds_its_key_and_has_its_fingerprint(void **state)
{
	struct ks_public_key key = public_key();
	struct ks_public_key back;
	uint8_t blob[KS_SSH_BLOB], expected[KS_SSH_BLOB];
	char text[KS_SSH_FINGERPRINT + 1];

	(void)state;
	ks_ssh_blob(&key, blob);
	assert_true(ks_base64_decode_exact(ks_span_text(BASE64), expected,
		sizeof(expected)));
	assert_memory_equal(blob, expected, sizeof(blob));
	assert_int_equal(ks_ssh_blob_read(ks_span(blob, sizeof(blob)), &back,
		NULL), KS_OK);
	assert_true(ks_public_key_equal(&key, &back));
	assert_string_equal(ks_ssh_fingerprint(&key, text), FINGERPRINT);
}

static void
a_blob_of_any_other_length_or_type_is_refused(void **state)
{
	struct ks_public_key key = public_key();
	uint8_t blob[KS_SSH_BLOB + 1] = { 0 };
	struct ks_error err = KS_ERROR_INIT;
	size_t len, i;

	(void)state;
	ks_ssh_blob(&key, blob);
	for (len = 0; len <= sizeof(blob); len++) {
		if (len != KS_SSH_BLOB)
			assert_int_equal(ks_ssh_blob_read(ks_span(blob, len),
				&key, NULL), KS_INVALID);
	}
	for (i = 0; i < 19; i++) {	/* all but the key's bytes */
		blob[i] ^= 1;
		assert_int_equal(ks_ssh_blob_read(ks_span(blob, KS_SSH_BLOB),
			&key, &err), KS_INVALID);
		blob[i] ^= 1;
	}
	memcpy(blob + 4, "ssh-x\n5519x", 11);
	assert_int_equal(ks_ssh_blob_read(ks_span(blob, KS_SSH_BLOB), &key,
		&err), KS_INVALID);
	assert_string_equal(err.message,
		"key of type ssh-x\\x0a5519x, not ssh-ed25519 (N4)");
}

/* ---- Lines ---- */

static const struct {
	const char *text;
	const char *comment;
} lines[] = {
	{ LINE, "" },
	{ LINE "\n", "" },
	{ LINE "\r\n", "" },
	{ LINE " \n", "" },
	{ LINE " " NAME "\n", NAME },
	{ LINE "\t" NAME " \r\n", NAME },
	{ LINE "  a comment with  blanks \n\n", "a comment with  blanks" },
	{ "\n  ssh-ed25519\t  " BASE64 " x", "x" },
};

static void
a_line_gives_its_key_and_comment(void **state)
{
	struct ks_public_key expected = public_key();
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(lines); i++) {
		struct ks_public_key key;
		struct ks_span comment;
		struct ks_error err = KS_ERROR_INIT;

		if (ks_ssh_line_read(ks_span_text(lines[i].text), &key,
			&comment, &err) != KS_OK)
			fail_msg("%s: %s", err.message, lines[i].text);
		assert_true(ks_public_key_equal(&key, &expected));
		assert_true(ks_span_is(comment, lines[i].comment));
	}
}

struct refusal {
	const char *text;
	const char *reason;
};

static const struct refusal line_refusals[] = {
	/* other types, by name */
	{ RSA_LINE, "key of type ssh-rsa, not ssh-ed25519" },
	{ ECDSA_LINE, "key of type ecdsa-sha2-nistp256, not ssh-ed25519" },
	{ "sk-ssh-ed25519@openssh.com AAAA", "sk-ssh-ed25519@openssh.com, not" },
	{ "ssh-ed25519-cert-v01@openssh.com AAAA",
		"ssh-ed25519-cert-v01@openssh.com, not" },
	/* the line says one type, the blob another */
	{ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE4AAAA"
		"IAN5vMM+CNJmvF8+J/DcTntem5p6l961G3qfSEyTMzGX",
		"key of type ssh-ed25518, not" },
	/* something before the type */
	{ "namespaces=\"git\" " LINE, "options and principals" },
	{ "me@example.org " LINE, "options and principals" },
	{ "# " LINE, "options and principals" },
	{ "SSH-ED25519 " BASE64, "options and principals" },
	{ "\xef\xbb\xbf" LINE, "options and principals" },
	{ "", "not a line" },
	{ " \n", "not a line" },
	{ BASE64, "not a line" },
	/* not one line */
	{ LINE "\n" LINE "\n", "more than one line" },
	{ LINE "\rx", "more than one line" },
	/* not the base64 of 51 bytes */
	{ "ssh-ed25519", "malformed" },
	{ "ssh-ed25519 ", "malformed" },
	{ LINE "=", "malformed" },
	{ "ssh-ed25519 " NAME, "malformed" },
	{ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", "malformed" },
	{ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA "
		"IAN5vMM+CNJmvF8+J/DcTntem5p6l961G3qfSEyTMzGX", "malformed" },
	{ "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA"
		"HwN5vMM+CNJmvF8+J/DcTntem5p6l961G3qfSEyTMzGX", "malformed" },
};

static void
what_is_no_such_line_is_refused_with_the_reason(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(line_refusals); i++) {
		struct ks_public_key key;
		struct ks_span comment;
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(ks_ssh_line_read(
			ks_span_text(line_refusals[i].text), &key, &comment,
			&err), KS_INVALID);
		if (strstr(err.message, line_refusals[i].reason) == NULL)
			fail_msg("\"%s\", not \"%s\": %s", err.message,
				line_refusals[i].reason,
				line_refusals[i].text);
	}
}

static void
a_line_is_written_as_ssh_keygen_writes_it(void **state)
{
	struct ks_public_key key = public_key();
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	ks_ssh_line_write(&key, ks_span_text(NAME), &out);
	ks_ssh_line_write(&key, ks_span(NULL, 0), &out);
	assert_string_equal(ks_buf_cstr(&out), LINE " " NAME "\n" LINE "\n");
	ks_buf_release(&out);
}

/* ---- Private keys ---- */

static void
assert_secret(struct ks_span text, const char *name)
{
	struct ks_public_key expected = public_key();
	struct ks_buf comment = KS_BUF_INIT;
	struct ks_secret_key key;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_ssh_secret_read(text, &key, &comment, &err) != KS_OK)
		fail_msg("%s: %.*s", err.message, (int)text.len,
			(const char *)text.data);
	assert_true(ks_public_key_equal(&key.public, &expected));
	assert_string_equal(ks_buf_cstr(&comment), name);
	ks_buf_release(&comment);
}

static void
a_private_key_file_is_read_whatever_its_line_ends(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	const char *at;

	(void)state;
	assert_secret(ks_span_text(BEGIN BODY END), NAME);
	assert_secret(ks_span_text("\xef\xbb\xbf\n" BEGIN BODY END "\n"), NAME);
	for (at = BEGIN BODY END; *at != '\0'; at++) {
		if (*at == '\n')
			ks_buf_byte(&text, '\r');
		ks_buf_byte(&text, (uint8_t)*at);
	}
	assert_secret(ks_buf_span(&text), NAME);
	ks_buf_release(&text);
}

static enum ks_status
read_text(struct ks_span text, struct ks_error *err)
{
	static const struct ks_secret_key zero;
	struct ks_buf comment = KS_BUF_INIT;
	struct ks_secret_key key = zero;
	enum ks_status status = ks_ssh_secret_read(text, &key, &comment, err);

	if (status != KS_OK) {
		assert_memory_equal(&key, &zero, sizeof(key));
		assert_int_equal(comment.len, 0);
	}
	ks_buf_release(&comment);
	return status;
}

static const struct refusal secret_refusals[] = {
	{ BEGIN ENCRYPTED_BODY END, "ssh-keygen -p -N ''" },
	{ BEGIN ECDSA_BODY END, "key of type ecdsa-sha2-nistp256, not" },
	{ "", "no lines BEGIN and END" },
	{ BEGIN BODY, "no lines BEGIN and END" },
	{ BODY END, "no lines BEGIN and END" },
	{ "-----BEGIN PRIVATE KEY-----\n" BODY "-----END PRIVATE KEY-----\n",
		"no lines BEGIN and END" },
	{ "Name: x\n" BEGIN BODY END, "text before BEGIN" },
	{ BEGIN BODY END "x\n", "text before BEGIN or after END" },
	{ BEGIN BODY END BEGIN BODY END, "after END" },
	{ BEGIN "*\n" END, "not base64" },
	{ BEGIN END, "other magic" },
	{ BEGIN "AAAA\n" END, "other magic" },
};

static void
what_is_no_private_key_is_refused_with_the_reason(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(secret_refusals); i++) {
		assert_int_equal(read_text(
			ks_span_text(secret_refusals[i].text), &err),
			KS_INVALID);
		if (strstr(err.message, secret_refusals[i].reason) == NULL)
			fail_msg("\"%s\", not \"%s\": %s", err.message,
				secret_refusals[i].reason,
				secret_refusals[i].text);
	}
	while (text.len <= 65536)
		ks_buf_text(&text, "\n");
	ks_buf_text(&text, BEGIN BODY END);
	assert_int_equal(read_text(ks_buf_span(&text), &err), KS_INVALID);
	assert_non_null(strstr(err.message, "too many"));
	ks_buf_release(&text);
}

/* The bytes of the file. */
static void
decode(struct ks_buf *out)
{
	assert_true(ks_armor_decode(ks_span_text(BODY), true, out));
	assert_int_equal(out->len, FILE_LEN);
}

static enum ks_status
read_bytes(struct ks_span bytes, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	ks_armor_write("OPENSSH PRIVATE KEY", bytes, KS_ARMOR_SSH, &text);
	status = read_text(ks_buf_span(&text), err);
	ks_buf_release(&text);
	return status;
}

static void
a_change_of_any_byte_but_those_of_the_comment_is_refused(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	size_t i;

	(void)state;
	decode(&bytes);
	for (i = 0; i < bytes.len; i++) {
		enum ks_status expected = i >= AT_NAME && i < AT_PADDING ?
			KS_OK : KS_INVALID;

		bytes.data[i] ^= 1;
		if (read_bytes(ks_buf_span(&bytes), NULL) != expected)
			fail_msg("byte %zu", i);
		bytes.data[i] ^= 1;
	}
	assert_int_equal(read_bytes(ks_buf_span(&bytes), NULL), KS_OK);
	ks_buf_release(&bytes);
}

static const struct {
	size_t at;
	const char *reason;
} reasons[] = {
	{ 0, "other magic" },
	{ AT_CIPHER - 1, "other magic" },	/* its NUL */
	{ AT_CIPHER + 4, "is encrypted" },
	{ AT_KDF + 4, "key derivation without cipher" },
	{ AT_COUNT + 3, "not exactly one key" },
	{ AT_BLOB + 8, "key of type " },
	{ AT_BLOB + 30, "not that of its private key" },
	{ AT_CHECK, "check numbers differ" },
	{ AT_TYPE + 4, "key of type " },
	{ AT_PUBLIC + 4, "not that of its private key" },
	{ AT_SEED, "not that of its private key" },
	/* the one that ssh-keygen -y does not compare */
	{ AT_SECOND, "not that of its private key" },
	{ AT_PADDING, "other padding" },
	{ FILE_LEN - 1, "other padding" },
};

static void
each_part_that_is_wrong_is_named(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	size_t i;

	(void)state;
	decode(&bytes);
	for (i = 0; i < COUNT(reasons); i++) {
		struct ks_error err = KS_ERROR_INIT;

		bytes.data[reasons[i].at] ^= 0x20;
		assert_int_equal(read_bytes(ks_buf_span(&bytes), &err),
			KS_INVALID);
		if (strstr(err.message, reasons[i].reason) == NULL)
			fail_msg("byte %zu: \"%s\", not \"%s\"", reasons[i].at,
				err.message, reasons[i].reason);
		bytes.data[reasons[i].at] ^= 0x20;
	}
	ks_buf_release(&bytes);
}

static void
a_file_cut_short_or_with_bytes_after_it_is_refused(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	size_t len;

	(void)state;
	decode(&bytes);
	for (len = 0; len < bytes.len; len++)
		assert_int_equal(read_bytes(ks_span(bytes.data, len), NULL),
			KS_INVALID);
	ks_buf_byte(&bytes, 0);
	assert_int_equal(read_bytes(ks_buf_span(&bytes), NULL), KS_INVALID);
	ks_buf_release(&bytes);
}

static void
a_section_that_is_padded_by_a_whole_block_is_refused(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	uint8_t pad;

	(void)state;
	decode(&bytes);
	bytes.data[AT_SECTION + 3] += 8;
	for (pad = 7; pad < 15; pad++)
		ks_buf_byte(&bytes, pad);
	assert_int_equal(read_bytes(ks_buf_span(&bytes), &err), KS_INVALID);
	assert_non_null(strstr(err.message, "other padding"));
	bytes.len = AT_PADDING;
	bytes.data[AT_SECTION + 3] -= 8 + 6;
	assert_int_equal(read_bytes(ks_buf_span(&bytes), &err), KS_INVALID);
	assert_non_null(strstr(err.message, "other padding"));
	ks_buf_release(&bytes);
}

static void
what_is_written_is_read_again_with_comments_of_any_length(void **state)
{
	struct ks_secret_key key, back;
	char comment[40];
	size_t len;

	(void)state;
	assert_int_equal(ks_ed25519_generate(&key, NULL), KS_OK);
	memset(comment, 'x', sizeof(comment));
	for (len = 0; len < sizeof(comment); len++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_buf found = KS_BUF_INIT;

		assert_int_equal(ks_ssh_secret_write(&key,
			ks_span(comment, len), &text, NULL), KS_OK);
		assert_int_equal(ks_ssh_secret_read(ks_buf_span(&text), &back,
			&found, NULL), KS_OK);
		assert_memory_equal(&back, &key, sizeof(key));
		assert_int_equal(found.len, len);
		ks_buf_wipe(&text);
		ks_buf_release(&found);
	}
}

static void
a_written_file_differs_from_ssh_keygens_in_its_check_numbers_only(void **state)
{
	struct ks_buf expected = KS_BUF_INIT;
	struct ks_buf comment = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_secret_key key;
	struct ks_armor armor;

	(void)state;
	decode(&expected);
	assert_int_equal(ks_ssh_secret_read(ks_span_text(BEGIN BODY END), &key,
		&comment, NULL), KS_OK);
	assert_int_equal(ks_ssh_secret_write(&key, ks_buf_span(&comment),
		&text, NULL), KS_OK);
	assert_int_equal(text.len, strlen(BEGIN BODY END));
	assert_true(ks_armor_find(ks_buf_span(&text), &armor));
	assert_true(ks_armor_decode(armor.body, true, &bytes));
	assert_int_equal(bytes.len, FILE_LEN);
	memcpy(bytes.data + AT_CHECK, expected.data + AT_CHECK, 8);
	assert_memory_equal(bytes.data, expected.data, FILE_LEN);
	ks_buf_release(&expected);
	ks_buf_release(&comment);
	ks_buf_release(&text);
	ks_buf_release(&bytes);
}

/* ---- Against ssh-keygen(1) ---- */

static void
ssh_keygen_reads_the_keys_that_are_written(void **state)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_secret_key key;
	char text[KS_SSH_FINGERPRINT + 1];

	(void)state;
	need("ssh-keygen");
	assert_int_equal(ks_ed25519_generate(&key, NULL), KS_OK);
	assert_int_equal(ks_ssh_secret_write(&key, ks_span_text(NAME), &out,
		NULL), KS_OK);
	scratch_write("key", ks_buf_span(&out));
	ks_buf_clear(&out);
	ks_ssh_line_write(&key.public, ks_span_text(NAME), &out);
	scratch_write("key.public", ks_buf_span(&out));
	assert_int_equal(sh("chmod 600 key && ssh-keygen -y -f key | "
		"cmp - key.public"), 0);
	ks_buf_clear(&out);
	ks_buf_printf(&out, "256 %s " NAME " (ED25519)\n",
		ks_ssh_fingerprint(&key.public, text));
	scratch_write("fingerprint", ks_buf_span(&out));
	assert_int_equal(sh("ssh-keygen -l -f key.public | "
		"cmp - fingerprint"), 0);
	ks_buf_wipe(&out);
}

static void
read_file(const char *path, struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;

	ks_buf_clear(out);
	if (ks_file_read(path, 1 << 16, out, &err) != KS_OK)
		fail_msg("%s", err.message);
}

static void
the_keys_that_ssh_keygen_makes_are_read(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf name = KS_BUF_INIT;
	struct ks_secret_key key;
	struct ks_public_key public;
	struct ks_span comment;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	need("ssh-keygen");
	assert_int_equal(sh("ssh-keygen -q -t ed25519 -N '' -C "
		NAME " -f key && cp key locked && ssh-keygen -q -p -P '' "
		"-N secret -a 1 -f locked >/dev/null"), 0);
	read_file("key", &text);
	if (ks_ssh_secret_read(ks_buf_span(&text), &key, &name, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_string_equal(ks_buf_cstr(&name), NAME);
	read_file("key.pub", &text);
	assert_int_equal(ks_ssh_line_read(ks_buf_span(&text), &public,
		&comment, NULL), KS_OK);
	assert_true(ks_span_is(comment, NAME));
	assert_true(ks_public_key_equal(&public, &key.public));
	read_file("locked", &text);
	assert_int_equal(read_text(ks_buf_span(&text), &err), KS_INVALID);
	assert_non_null(strstr(err.message, "ssh-keygen -p -N ''"));
	ks_buf_wipe(&text);
	ks_buf_release(&name);
}

#define SCRATCH_TEST(test) \
	cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_is_taken_only_when_all_of_it_is_there),
		cmocka_unit_test(a_blob_holds_its_key_and_has_its_fingerprint),
		cmocka_unit_test(a_blob_of_any_other_length_or_type_is_refused),
		cmocka_unit_test(a_line_gives_its_key_and_comment),
		cmocka_unit_test(
			what_is_no_such_line_is_refused_with_the_reason),
		cmocka_unit_test(a_line_is_written_as_ssh_keygen_writes_it),
		cmocka_unit_test(
			a_private_key_file_is_read_whatever_its_line_ends),
		cmocka_unit_test(
			what_is_no_private_key_is_refused_with_the_reason),
		cmocka_unit_test(
			a_change_of_any_byte_but_those_of_the_comment_is_refused),
		cmocka_unit_test(each_part_that_is_wrong_is_named),
		cmocka_unit_test(
			a_file_cut_short_or_with_bytes_after_it_is_refused),
		cmocka_unit_test(
			a_section_that_is_padded_by_a_whole_block_is_refused),
		cmocka_unit_test(
			what_is_written_is_read_again_with_comments_of_any_length),
		cmocka_unit_test(
			a_written_file_differs_from_ssh_keygens_in_its_check_numbers_only),
		SCRATCH_TEST(ssh_keygen_reads_the_keys_that_are_written),
		SCRATCH_TEST(the_keys_that_ssh_keygen_makes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
