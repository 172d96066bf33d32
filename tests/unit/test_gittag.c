#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "../lib/vectors.h"
#include "format/gittag.h"
#include "format/sshkey.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define OID "55239822c6c669d9faff5f972ed4d5fd0c5f16aa"
#define IDENT "Arch Ive <signer@example.org>"
#define HEADER "object " OID "\ntype commit\ntag snapshot/3\n" \
	"tagger " IDENT " 1735689600 +0000\n"
#define NOTE "example.org/log\n3\nroot\n\n\xe2\x80\x94 example.org/log sig\n"

/* ---- The vectors: git_objects.json, checked with git 2.39 ---- */

static struct ks_buf vectors;
static struct ks_secret_key signer;

static int
load_vectors(void **state)
{
	uint8_t seed[KS_ED25519_KEY];

	(void)state;
	vector_bytes(vector_read_json("sshsig/git_objects.json", &vectors),
		"seed_hex", seed, sizeof(seed));
	return ks_ed25519_from_seed(seed, &signer, NULL) != KS_OK;
}

static int
drop_vectors(void **state)
{
	(void)state;
	ks_buf_release(&vectors);
	return 0;
}

static enum ks_status
judge(struct ks_span bytes, struct ks_error *err)
{
	struct ks_git_tag tag;
	enum ks_status status = ks_git_tag_read(bytes, &tag, err);

	if (status == KS_OK)
		status = ks_git_tag_verify(&tag, &signer.public, err);
	return status;
}

static void
assert_span(struct ks_span span, const char *text)
{
	if (!ks_span_is(span, text))
		fail_msg("\"%.*s\", not \"%s\"", (int)span.len,
			(const char *)span.data, text);
}

static void
the_tag_that_git_signed_is_taken_apart_and_made_again(void **state)
{
	struct ks_json_iter it = ks_json_iter(vector_member(
		ks_buf_span(&vectors), "cases"));
	struct ks_buf object, payload;
	struct ks_buf made = KS_BUF_INIT;
	struct ks_git_tag tag;
	struct ks_span item;

	(void)state;
	assert_true(ks_json_next_element(&it, &item));
	object = vector_string(item, "object");
	payload = vector_string(item, "payload");
	assert_int_equal(ks_git_tag_read(ks_buf_span(&object), &tag, NULL),
		KS_OK);
	assert_span(tag.object, OID);
	assert_span(tag.name, "snap-1");
	assert_span(tag.ident, IDENT);
	assert_int_equal(tag.seconds, 1735689600);
	assert_span(tag.message, "snapshot 1\n\nsize 300\n");
	assert_span(tag.payload, ks_buf_cstr(&payload));
	assert_true(ks_span_equal(tag.armor, ks_span(object.data + payload.len,
		object.len - payload.len)));
	assert_int_equal(ks_git_tag_verify(&tag, &signer.public, NULL), KS_OK);
	assert_int_equal(ks_git_tag_write(&tag, &signer, &made, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&made), ks_buf_cstr(&object));
	ks_buf_release(&object);
	ks_buf_release(&payload);
	ks_buf_release(&made);
}

/* Every case of the vectors, in order; where another outcome than git's is
 * meant, the rule is said beside it. */
static const struct {
	const char *why;
	enum ks_status status;
	const char *reason;
} outcomes[] = {
	{ "", KS_OK, "" },
	{ "", KS_CORRUPT, "header" },		/* a commit */
	{ "hand-made tag", KS_OK, "" },
	{ "message changed after signing", KS_CORRUPT, "does not verify" },
	{ "signed in namespace file", KS_CORRUPT, "namespace \"file\"" },
	{ "no tagger line", KS_CORRUPT, "header" },
	{ "empty message", KS_OK, "" },
	/* git takes the last of several lines that start a signature, so that
	 * one looks signed that is not: here there may be only one (S4). */
	{ "message contains an armor header line; last one counts", KS_CORRUPT,
		"not base64" },
	/* git passes over it, which nobody signed (S4). */
	{ "text after the signature", KS_CORRUPT, "line END" },
	{ "a PGP header line after the SSH signature", KS_CORRUPT,
		"line END" },
};

static void
check_outcome(size_t i, struct ks_span item)
{
	struct ks_buf object = vector_string(item, "object");
	struct ks_error err = KS_ERROR_INIT;
	struct ks_span why;
	enum ks_status status = judge(ks_buf_span(&object), &err);

	if (ks_json_find(item, "why", &why))
		assert_true(ks_json_is(why, outcomes[i].why));
	if (status != outcomes[i].status ||
		strstr(err.message, outcomes[i].reason) == NULL)
		fail_msg("case %zu, %s: %s, \"%s\"", i, outcomes[i].why,
			ks_status_name(status), err.message);
	ks_buf_release(&object);
}

static void
each_odd_object_is_taken_or_refused_by_its_rule(void **state)
{
	struct ks_json_iter it = ks_json_iter(vector_member(
		ks_buf_span(&vectors), "cases"));
	struct ks_span item;
	size_t count = 0;

	(void)state;
	while (ks_json_next_element(&it, &item)) {
		assert_true(count < COUNT(outcomes));
		check_outcome(count++, item);
	}
	assert_int_equal(count, COUNT(outcomes));
}

/* ---- Tags made by hand ---- */

static struct ks_git_tag
good_tag(void)
{
	struct ks_git_tag tag;

	memset(&tag, 0, sizeof(tag));
	tag.object = ks_span_text(OID);
	tag.name = ks_span_text("snapshot/3");
	tag.ident = ks_span_text(IDENT);
	tag.seconds = 1735689600;
	tag.message = ks_span_text(NOTE);
	return tag;
}

static void
a_tag_is_its_payload_and_the_signature_of_that(void **state)
{
	struct ks_git_tag tag = good_tag();
	struct ks_buf made = KS_BUF_INIT;
	struct ks_buf expected = KS_BUF_INIT;

	(void)state;
	ks_buf_text(&expected, HEADER "\n" NOTE);
	assert_int_equal(ks_sshsig_sign(&signer, "git",
		ks_span_text(HEADER "\n" NOTE), &expected, NULL), KS_OK);
	assert_int_equal(ks_git_tag_write(&tag, &signer, &made, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&made), ks_buf_cstr(&expected));
	assert_int_equal(judge(ks_buf_span(&made), NULL), KS_OK);
	ks_buf_release(&made);
	ks_buf_release(&expected);
}

/* Sign a payload as it stands, whatever it is. */
static struct ks_buf
sign(const char *payload)
{
	struct ks_buf out = KS_BUF_INIT;

	ks_buf_text(&out, payload);
	assert_int_equal(ks_sshsig_sign(&signer, "git", ks_span_text(payload),
		&out, NULL), KS_OK);
	return out;
}

#define OBJECT "object " OID "\n"
#define TYPE "type commit\n"
#define TAG "tag snapshot/3\n"
#define TAGGER(text) OBJECT TYPE TAG "tagger " text "\n\nm\n"

static const char *const good_payloads[] = {
	TAGGER("A <a> 0 +0000"),
	TAGGER("A <> 0 +0000"),
	TAGGER(" <a> 0 +0000"),
	TAGGER("A B <a@b> 253402300799 -1130"),
	TAGGER("\xc3\xa4 <a> 1 +0545"),
	OBJECT TYPE TAG "tagger A <a> 0 +0000\n\n",
	OBJECT TYPE TAG "tagger A <a> 0 +0000\n\n\n\n",
	OBJECT TYPE "tag \xc3\xa4/b\ntagger A <a> 0 +0000\n\nm\n",
	/* not at the start of a line, or not quite */
	TAGGER("A <a> 0 +0000") " -----BEGIN SSH SIGNATURE-----\n",
	TAGGER("A <a> 0 +0000") "----BEGIN SSH SIGNATURE-----\n",
	TAGGER("A <a> 0 +0000") "-----BEGIN SSH SIGNATURE----\n",
	TAGGER("A <a> 0 +0000") "-----END SSH SIGNATURE-----\n",
};

static void
other_taggers_zones_and_messages_are_read(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(good_payloads); i++) {
		struct ks_buf bytes = sign(good_payloads[i]);
		struct ks_error err = KS_ERROR_INIT;

		if (judge(ks_buf_span(&bytes), &err) != KS_OK)
			fail_msg("%s: %s", err.message, good_payloads[i]);
		ks_buf_release(&bytes);
	}
}

static const struct {
	const char *payload;
	const char *reason;
} bad_payloads[] = {
	/* header lines: missing, more, in another order, misspelt */
	{ "", "header" },
	{ "\n", "header" },
	{ TYPE TAG "tagger A <a> 0 +0000\n\nm\n", "header" },
	{ OBJECT TAG "tagger A <a> 0 +0000\n\nm\n", "header" },
	{ OBJECT TYPE "tagger A <a> 0 +0000\n\nm\n", "header" },
	{ OBJECT TYPE TAG "\nm\n", "header" },
	{ TYPE OBJECT TAG "tagger A <a> 0 +0000\n\nm\n", "header" },
	{ OBJECT OBJECT TYPE TAG "tagger A <a> 0 +0000\n\nm\n", "header" },
	{ OBJECT TYPE TAG TAG "tagger A <a> 0 +0000\n\nm\n", "header" },
	{ OBJECT TYPE TAG "tagger A <a> 0 +0000\ntagger A <a> 0 +0000\n\nm\n",
		"other lines" },
	{ OBJECT TYPE TAG "tagger A <a> 0 +0000\nencoding utf-8\n\nm\n",
		"other lines" },
	{ OBJECT TYPE TAG "tagger A <a> 0 +0000\ngpgsig-sha256 x\n\nm\n",
		"other lines" },
	{ OBJECT TYPE TAG "tagger A <a> 0 +0000\n", "other lines" },
	{ OBJECT TYPE TAG "tagger A <a> 0 +0000\n more\n\nm\n",
		"other lines" },
	{ "Object " OID "\n" TYPE TAG "tagger A <a> 0 +0000\n\nm\n", "header" },
	{ "\n" TAGGER("A <a> 0 +0000"), "header" },
	/* values */
	{ OBJECT "type tag\n" TAG "tagger A <a> 0 +0000\n\nm\n",
		"not one of a commit" },
	{ OBJECT "type commit \n" TAG "tagger A <a> 0 +0000\n\nm\n",
		"not one of a commit" },
	{ "object " OID "\r\n" TYPE TAG "tagger A <a> 0 +0000\n\nm\n",
		"40 lower-case" },
	{ "object  " OID "\n" TYPE TAG "tagger A <a> 0 +0000\n\nm\n",
		"40 lower-case" },
	{ "object 5523\n" TYPE TAG "tagger A <a> 0 +0000\n\nm\n",
		"40 lower-case" },
	{ "object 55239822C6c669d9faff5f972ed4d5fd0c5f16aa\n" TYPE TAG
		"tagger A <a> 0 +0000\n\nm\n", "40 lower-case" },
	{ OBJECT TYPE "tag \ntagger A <a> 0 +0000\n\nm\n", "its name" },
	{ OBJECT TYPE "tag a b\ntagger A <a> 0 +0000\n\nm\n", "its name" },
	{ OBJECT TYPE "tag a\r\ntagger A <a> 0 +0000\n\nm\n", "its name" },
	{ OBJECT TYPE "tag a\x7f\ntagger A <a> 0 +0000\n\nm\n", "its name" },
	/* taggers */
	{ TAGGER(""), "tagger" },
	{ TAGGER("A"), "tagger" },
	{ TAGGER("A <a>"), "tagger" },
	{ TAGGER("A <a> "), "tagger" },
	{ TAGGER("A <a> 0"), "tagger" },
	{ TAGGER("A <a> 0 "), "tagger" },
	{ TAGGER("A <a> +0000"), "tagger" },
	{ TAGGER("A <a>0 +0000"), "tagger" },
	{ TAGGER("A <a>  0 +0000"), "tagger" },
	{ TAGGER("A <a> -1 +0000"), "tagger" },
	{ TAGGER("A <a> 00 +0000"), "tagger" },
	{ TAGGER("A <a> 01 +0000"), "tagger" },
	{ TAGGER("A <a> 1.5 +0000"), "tagger" },
	{ TAGGER("A <a> 1 +000"), "tagger" },
	{ TAGGER("A <a> 1 +00000"), "tagger" },
	{ TAGGER("A <a> 1 0000"), "tagger" },
	{ TAGGER("A <a> 1 Z"), "tagger" },
	{ TAGGER("A <a> 1 +00x0"), "tagger" },
	{ TAGGER("A <a> 1 +0000 "), "tagger" },
	{ TAGGER("A <a> 1  +0000"), "tagger" },
	{ TAGGER("A a> 0 +0000"), "tagger" },
	{ TAGGER("A<a> 0 +0000"), "tagger" },
	{ TAGGER("<a> 0 +0000"), "tagger" },
	{ TAGGER("A <<a> 0 +0000"), "tagger" },
	{ TAGGER("A <a>> 0 +0000"), "tagger" },
	{ TAGGER("A <a> <b> 0 +0000"), "tagger" },
	{ TAGGER("A\t <a> 0 +0000"), "tagger" },
	{ TAGGER("A <a> 253402300800 +0000"), "1970 to 9999" },
	{ TAGGER("A <a> 1000000000000 +0000"), "tagger" },
	{ TAGGER("A <a> 99999999999999999999 +0000"), "tagger" },
	/* lines that start a signature */
	{ TAGGER("A <a> 0 +0000") "-----BEGIN PGP SIGNATURE-----\n",
		"not an SSH signature" },
	{ TAGGER("A <a> 0 +0000") "-----BEGIN PGP MESSAGE-----\n",
		"not an SSH signature" },
	{ TAGGER("A <a> 0 +0000") "-----BEGIN SIGNED MESSAGE-----x\n",
		"not an SSH signature" },
	{ TAGGER("A <a> 0 +0000") "-----BEGIN SSH SIGNATURE-----x\n",
		"not an SSH signature" },
	{ TAGGER("A <a> 0 +0000") "-----BEGIN SSH SIGNATURE-----\nm\n",
		"not base64" },
	/* a signature that does not begin a line */
	{ OBJECT TYPE TAG "tagger A <a> 0 +0000\n\nm", "not signed" },
};

static void
a_signed_payload_of_another_form_is_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad_payloads); i++) {
		struct ks_buf bytes = sign(bad_payloads[i].payload);
		struct ks_error err = KS_ERROR_INIT;
		enum ks_status status = judge(ks_buf_span(&bytes), &err);

		if (status != KS_CORRUPT ||
			strstr(err.message, bad_payloads[i].reason) == NULL)
			fail_msg("%s \"%s\", not \"%s\": %s",
				ks_status_name(status), err.message,
				bad_payloads[i].reason,
				bad_payloads[i].payload);
		ks_buf_release(&bytes);
	}
}

static void
a_nul_byte_is_refused_wherever_it_stands(void **state)
{
	struct ks_git_tag tag = good_tag();
	struct ks_buf bytes = KS_BUF_INIT;
	size_t i;

	(void)state;
	assert_int_equal(ks_git_tag_write(&tag, &signer, &bytes, NULL), KS_OK);
	for (i = 0; i < bytes.len; i++) {
		uint8_t before = bytes.data[i];

		bytes.data[i] = '\0';
		assert_int_equal(judge(ks_buf_span(&bytes), NULL), KS_CORRUPT);
		bytes.data[i] = before;
	}
	ks_buf_release(&bytes);
}

static void
any_changed_byte_and_any_prefix_is_refused(void **state)
{
	struct ks_git_tag tag = good_tag();
	struct ks_buf bytes = KS_BUF_INIT;
	size_t i;

	(void)state;
	assert_int_equal(ks_git_tag_write(&tag, &signer, &bytes, NULL), KS_OK);
	for (i = 0; i < bytes.len; i++) {
		enum ks_status status;

		assert_int_equal(judge(ks_span(bytes.data, i), NULL),
			KS_CORRUPT);
		bytes.data[i] ^= 1;
		status = judge(ks_buf_span(&bytes), NULL);
		if (status != KS_CORRUPT && status != KS_UNTRUSTED)
			fail_msg("byte %zu: %s", i, ks_status_name(status));
		bytes.data[i] ^= 1;
	}
	assert_int_equal(judge(ks_span(NULL, 0), NULL), KS_CORRUPT);
	ks_buf_text(&bytes, "\n");
	assert_int_equal(judge(ks_buf_span(&bytes), NULL), KS_CORRUPT);
	ks_buf_release(&bytes);
}

static void
a_tag_of_another_key_is_not_trusted(void **state)
{
	struct ks_git_tag tag = good_tag();
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_secret_key other;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_ed25519_generate(&other, NULL), KS_OK);
	assert_int_equal(ks_git_tag_write(&tag, &other, &bytes, NULL), KS_OK);
	assert_int_equal(judge(ks_buf_span(&bytes), &err), KS_UNTRUSTED);
	assert_non_null(strstr(err.message, "SHA256:"));
	ks_buf_release(&bytes);
}

/* Make one member of a good tag bad. */
static void
refuse_to_write(const struct ks_git_tag *tag, const char *reason)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_git_tag_write(tag, &signer, &out, &err) != KS_INVALID ||
		strstr(err.message, reason) == NULL)
		fail_msg("\"%s\", not \"%s\"", err.message, reason);
	assert_int_equal(out.len, 0);
	ks_buf_release(&out);
}

static void
what_would_not_be_read_again_is_not_written(void **state)
{
	static const char *const messages[] = { "no LF", "a\0b\n", "\r",
		"m\n-----BEGIN SSH SIGNATURE-----\n",
		"-----BEGIN PGP SIGNATURE-----\n",
		"m\n\n-----BEGIN PGP MESSAGE-----\nm\n",
		"m\n-----BEGIN SIGNED MESSAGE-----" };
	static const char *const idents[] = { "", "A", "A <a", "A a>", "<a>",
		"A <a> ", "A\n <a>", "A <a\n>", "A <b <a>", "A > <a>" };
	static const char *const names[] = { "", "a b", "a\nb", "a\x01" };
	struct ks_git_tag tag;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(messages); i++) {
		tag = good_tag();
		tag.message = ks_span(messages[i], i == 1 ? 4 :
			strlen(messages[i]));
		refuse_to_write(&tag, "its message");
	}
	for (i = 0; i < COUNT(idents); i++) {
		tag = good_tag();
		tag.ident = ks_span_text(idents[i]);
		refuse_to_write(&tag, "its tagger");
	}
	for (i = 0; i < COUNT(names); i++) {
		tag = good_tag();
		tag.name = ks_span_text(names[i]);
		refuse_to_write(&tag, "its name");
	}
	tag = good_tag();
	tag.object = ks_span_text("HEAD");
	refuse_to_write(&tag, "its object");
	tag = good_tag();
	tag.seconds = -1;
	refuse_to_write(&tag, "its time");
	tag.seconds = 253402300800;
	refuse_to_write(&tag, "its time");
}

static void
the_longest_tag_that_is_written_is_read_again(void **state)
{
	struct ks_git_tag tag = good_tag();
	struct ks_buf message = KS_BUF_INIT;
	struct ks_buf name = KS_BUF_INIT;
	struct ks_buf bytes = KS_BUF_INIT;

	(void)state;
	while (name.len < 4096)
		ks_buf_text(&name, "xx");
	while (message.len < 1000000)
		ks_buf_text(&message, "-----BEGIN----\n-----\n");
	message.len = 1000000;
	message.data[message.len - 1] = '\n';
	tag.name = ks_buf_span(&name);
	tag.message = ks_buf_span(&message);
	assert_int_equal(ks_git_tag_write(&tag, &signer, &bytes, NULL), KS_OK);
	assert_int_equal(judge(ks_buf_span(&bytes), NULL), KS_OK);
	ks_buf_clear(&bytes);
	ks_buf_text(&message, "\n");
	tag.message = ks_buf_span(&message);
	refuse_to_write(&tag, "too long");
	tag = good_tag();
	ks_buf_text(&name, "x");
	tag.name = ks_buf_span(&name);
	refuse_to_write(&tag, "too long");
	ks_buf_clear(&bytes);
	while (bytes.len <= KS_GIT_TAG_MAX)
		ks_buf_text(&bytes, HEADER);
	assert_int_equal(judge(ks_buf_span(&bytes), NULL), KS_CORRUPT);
	ks_buf_release(&message);
	ks_buf_release(&name);
	ks_buf_release(&bytes);
}

/* ---- Against git(1) ---- */

static void
make_repository(void)
{
	struct ks_buf out = KS_BUF_INIT;

	need("git");
	need("ssh-keygen");
	assert_int_equal(ks_ssh_secret_write(&signer, ks_span_text("x"), &out,
		NULL), KS_OK);
	scratch_write("key", ks_buf_span(&out));
	ks_buf_clear(&out);
	ks_ssh_line_write(&signer.public, ks_span(NULL, 0), &out);
	scratch_write("key.pub", ks_buf_span(&out));
	ks_buf_clear(&out);
	ks_buf_text(&out, "me@example.org namespaces=\"git\" ");
	ks_ssh_line_write(&signer.public, ks_span(NULL, 0), &out);
	scratch_write("allowed", ks_buf_span(&out));
	ks_buf_wipe(&out);
	assert_int_equal(sh("exec >/dev/null; chmod 600 key && "
		"git init -q . && git commit -q --allow-empty -m x && "
		"git config gpg.ssh.allowedSignersFile \"$PWD/allowed\" && "
		"git config gpg.format ssh && "
		"git config user.signingKey \"$PWD/key\" && "
		"printf %s \"$(git rev-parse HEAD)\" >head"), 0);
}

static void
read_file(const char *path, struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;

	if (ks_file_read(path, 1 << 16, out, &err) != KS_OK)
		fail_msg("%s", err.message);
}

static void
git_verifies_the_tags_that_are_written(void **state)
{
	struct ks_git_tag tag = good_tag();
	struct ks_buf head = KS_BUF_INIT;
	struct ks_buf bytes = KS_BUF_INIT;

	(void)state;
	make_repository();
	read_file("head", &head);
	tag.object = ks_buf_span(&head);
	assert_int_equal(ks_git_tag_write(&tag, &signer, &bytes, NULL), KS_OK);
	scratch_write("tag", ks_buf_span(&bytes));
	assert_int_equal(sh("id=$(git hash-object -t tag -w tag) && "
		"git update-ref refs/tags/snapshot/3 $id && "
		"git verify-tag snapshot/3 2>/dev/null && "
		"git fsck --strict --no-dangling"), 0);
	ks_buf_release(&head);
	ks_buf_release(&bytes);
}

static void
the_tags_that_git_signs_are_read(void **state)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_git_tag tag;

	(void)state;
	make_repository();
	assert_int_equal(sh("TZ=Asia/Kolkata git tag -s -m message "
		"snapshot/3 && git cat-file tag snapshot/3 >tag"), 0);
	read_file("tag", &bytes);
	if (ks_git_tag_read(ks_buf_span(&bytes), &tag, &err) != KS_OK)
		fail_msg("%s", err.message);
	assert_span(tag.name, "snapshot/3");
	assert_span(tag.ident, "Tester <tester@example.org>");
	assert_span(tag.message, "message\n");
	assert_int_equal(ks_git_tag_verify(&tag, &signer.public, NULL), KS_OK);
	ks_buf_release(&bytes);
}

#define SCRATCH_TEST(test) \
	cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_tag_that_git_signed_is_taken_apart_and_made_again),
		cmocka_unit_test(
			each_odd_object_is_taken_or_refused_by_its_rule),
		cmocka_unit_test(a_tag_is_its_payload_and_the_signature_of_that),
		cmocka_unit_test(other_taggers_zones_and_messages_are_read),
		cmocka_unit_test(a_signed_payload_of_another_form_is_refused),
		cmocka_unit_test(a_nul_byte_is_refused_wherever_it_stands),
		cmocka_unit_test(any_changed_byte_and_any_prefix_is_refused),
		cmocka_unit_test(a_tag_of_another_key_is_not_trusted),
		cmocka_unit_test(what_would_not_be_read_again_is_not_written),
		cmocka_unit_test(the_longest_tag_that_is_written_is_read_again),
		SCRATCH_TEST(git_verifies_the_tags_that_are_written),
		SCRATCH_TEST(the_tags_that_git_signs_are_read),
	};

	return cmocka_run_group_tests(tests, load_vectors, drop_vectors);
}
