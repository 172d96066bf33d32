#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "../lib/vectors.h"
#include "format/armor.h"
#include "format/sshkey.h"
#include "format/sshsig.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LABEL "SSH SIGNATURE"

/* ---- The vectors: sshsig.json, checked with ssh-keygen 9.2 ---- */

static struct ks_buf vectors;
static struct ks_secret_key signer;

static int
load_vectors(void **state)
{
	uint8_t seed[KS_ED25519_KEY];

	(void)state;
	vector_bytes(vector_read_json("sshsig/sshsig.json", &vectors),
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

/* A string of hex digits as bytes. */
static struct ks_buf
member_bytes(struct ks_span object, const char *name)
{
	struct ks_span hex = vector_text(object, name);
	struct ks_buf out = KS_BUF_INIT;

	assert_non_null(ks_buf_reserve(&out, hex.len / 2));
	assert_true(ks_hex_decode(hex, out.data, hex.len / 2));
	out.len = hex.len / 2;
	return out;
}

static void
the_signer_of_the_vectors_is_read_from_its_line(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_public_key key;
	struct ks_span comment;
	char fingerprint[KS_SSH_FINGERPRINT + 1];

	(void)state;
	vector_read("sshsig/key1.pub", &text);
	assert_int_equal(ks_ssh_line_read(ks_buf_span(&text), &key, &comment,
		NULL), KS_OK);
	assert_true(ks_public_key_equal(&key, &signer.public));
	assert_string_equal(ks_ssh_fingerprint(&key, fingerprint),
		"SHA256:kOtNKk2bzerX+408U6/LfEflAHkH5vdaJap5YUP4vmI");
	ks_buf_release(&text);
}

/* The signed bytes, the signature and the armor of one case. */
static void
check_identical(struct ks_span item)
{
	struct ks_buf namespace = vector_string(item, "namespace");
	struct ks_buf message = member_bytes(item, "message_hex");
	struct ks_buf armored = vector_string(item, "armored");
	struct ks_buf signature = member_bytes(item, "signature_hex");
	struct ks_buf data = member_bytes(item, "signed_data_hex");
	struct ks_buf made = KS_BUF_INIT;
	struct ks_sshsig sig;

	assert_int_equal(ks_sshsig_sign(&signer, ks_buf_cstr(&namespace),
		ks_buf_span(&message), &made, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&made), ks_buf_cstr(&armored));
	assert_int_equal(ks_sshsig_read(ks_buf_span(&made),
		ks_buf_cstr(&namespace), &sig, NULL), KS_OK);
	assert_true(sig.sha512);
	assert_true(ks_public_key_equal(&sig.key, &signer.public));
	assert_memory_equal(sig.signature, signature.data, 64);
	assert_true(ks_ed25519_verify(&signer.public, ks_buf_span(&data),
		sig.signature));
	ks_buf_release(&namespace);
	ks_buf_release(&message);
	ks_buf_release(&armored);
	ks_buf_release(&signature);
	ks_buf_release(&data);
	ks_buf_release(&made);
}

static void
signatures_are_those_of_ssh_keygen_to_the_byte(void **state)
{
	struct ks_json_iter it = ks_json_iter(vector_member(
		ks_buf_span(&vectors), "cases"));
	struct ks_span item, ignored;
	size_t count = 0;

	(void)state;
	while (ks_json_next_element(&it, &item)) {
		if (ks_json_find(item, "why", &ignored))
			continue;
		check_identical(item);
		count++;
	}
	assert_int_equal(count, 4);
}

/* What comes of each of the other cases, and the reason. The rule where it is
 * another outcome than ssh-keygen's is said beside it. */
static const struct {
	const char *why;
	enum ks_status status;
	const char *reason;
} outcomes[] = {
	{ "hash sha256 is also legal", KS_OK, "" },
	{ "hash sha1", KS_CORRUPT, "neither sha512 nor sha256" },
	{ "armor wrapped at 76 columns", KS_OK, "" },
	{ "armor on one line", KS_OK, "" },
	{ "armor with CRLF", KS_CORRUPT, "CR LF" },
	{ "armor with text before the header", KS_CORRUPT, "line BEGIN" },
	/* ssh-keygen accepts it: such text looks signed and is not (S4). */
	{ "armor with text after the footer", KS_CORRUPT, "line END" },
	{ "armor without final newline", KS_OK, "" },
	{ "armor without footer", KS_CORRUPT, "line END" },
	{ "message changed", KS_CORRUPT, "does not verify" },
	{ "verifier expects another namespace", KS_CORRUPT,
		"for the namespace \"file\", not \"git\"" },
	{ "blob names another namespace than was signed", KS_CORRUPT,
		"does not verify" },
	{ "version 2", KS_CORRUPT, "version 2, not 1" },
	/* ssh-keygen accepts it: PROTOCOL.sshsig knows version 1 only. */
	{ "version 0", KS_CORRUPT, "version 0, not 1" },
	{ "trailing byte in the blob", KS_CORRUPT, "bytes after its end" },
	{ "non-empty reserved field, signed over", KS_CORRUPT,
		"reserved field" },
	/* What a file of allowed signers says is no part of a signature: here
	 * a caller names the one key and the one namespace. */
	{ "allowed_signers restricts to namespaces=\"git\"", KS_OK, "" },
	{ "allowed_signers allows namespaces=\"git,file\"", KS_OK, "" },
	{ "key expired", KS_OK, "" },
	{ "key of another signer", KS_UNTRUSTED, ", not by SHA256:kOtNKk2b" },
	/* ssh-keygen accepts it: RFC 8032 section 5.1.7 has S < L. */
	{ "S replaced by S+L (malleated): ssh-keygen 9.2 accepts, OpenSSL and "
		"Go refuse", KS_CORRUPT, "does not verify" },
};

static void
check_outcome(size_t i, struct ks_span item)
{
	struct ks_buf why = vector_string(item, "why");
	struct ks_buf namespace = vector_string(item, "namespace");
	struct ks_buf message = member_bytes(item, "message_hex");
	struct ks_buf armored = vector_string(item, "armored");
	struct ks_error err = KS_ERROR_INIT;
	struct ks_sshsig sig;
	enum ks_status status;

	assert_string_equal(ks_buf_cstr(&why), outcomes[i].why);
	status = ks_sshsig_read(ks_buf_span(&armored),
		ks_buf_cstr(&namespace), &sig, &err);
	if (status == KS_OK)
		status = ks_sshsig_verify(&sig, &signer.public,
			ks_buf_cstr(&namespace), ks_buf_span(&message), &err);
	if (status != outcomes[i].status ||
		strstr(err.message, outcomes[i].reason) == NULL)
		fail_msg("%s: %s, \"%s\"", outcomes[i].why,
			ks_status_name(status), err.message);
	ks_buf_release(&why);
	ks_buf_release(&namespace);
	ks_buf_release(&message);
	ks_buf_release(&armored);
}

static void
each_odd_signature_is_taken_or_refused_by_its_rule(void **state)
{
	struct ks_json_iter it = ks_json_iter(vector_member(
		ks_buf_span(&vectors), "cases"));
	struct ks_span item, ignored;
	size_t count = 0;

	(void)state;
	while (ks_json_next_element(&it, &item)) {
		if (!ks_json_find(item, "why", &ignored))
			continue;
		assert_true(count < COUNT(outcomes));
		check_outcome(count++, item);
	}
	assert_int_equal(count, 21);
	assert_int_equal(count, COUNT(outcomes));
}

/* ---- One signature, altered ---- */

static struct ks_span
message(void)
{
	return ks_span_text("example.org/log\n1\nroot\n");
}

/* The bytes of a signature in the namespace "git". */
static struct ks_buf
make_blob(void)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_armor armor;

	assert_int_equal(ks_sshsig_sign(&signer, "git", message(), &text,
		NULL), KS_OK);
	assert_true(ks_armor_find(ks_buf_span(&text), &armor));
	assert_true(ks_armor_decode(armor.body, true, &out));
	ks_buf_release(&text);
	return out;
}

static enum ks_status
judge_text(struct ks_span text, const char *namespace, struct ks_error *err)
{
	struct ks_sshsig sig;
	enum ks_status status = ks_sshsig_read(text, namespace, &sig, err);

	if (status == KS_OK)
		status = ks_sshsig_verify(&sig, &signer.public, namespace,
			message(), err);
	return status;
}

static enum ks_status
judge(struct ks_span blob, const char *namespace, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status;

	ks_armor_write(LABEL, blob, KS_ARMOR_SSH, &text);
	status = judge_text(ks_buf_span(&text), namespace, err);
	ks_buf_release(&text);
	return status;
}

static void
any_changed_bit_is_refused(void **state)
{
	struct ks_buf blob = make_blob();
	size_t i;

	(void)state;
	for (i = 0; i < 8 * blob.len; i++) {
		enum ks_status status;

		blob.data[i / 8] ^= (uint8_t)(1 << i % 8);
		status = judge(ks_buf_span(&blob), "git", NULL);
		if (status != KS_CORRUPT && status != KS_UNTRUSTED)
			fail_msg("bit %zu: %s", i, ks_status_name(status));
		blob.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	assert_int_equal(judge(ks_buf_span(&blob), "git", NULL), KS_OK);
	ks_buf_release(&blob);
}

static void
a_blob_cut_short_or_with_bytes_after_it_is_refused(void **state)
{
	struct ks_buf blob = make_blob();
	size_t len;

	(void)state;
	for (len = 0; len < blob.len; len++)
		assert_int_equal(judge(ks_span(blob.data, len), "git", NULL),
			KS_CORRUPT);
	ks_buf_byte(&blob, 0);
	assert_int_equal(judge(ks_buf_span(&blob), "git", NULL), KS_CORRUPT);
	ks_buf_release(&blob);
}

static void
a_key_of_another_type_is_named_and_not_trusted(void **state)
{
	struct ks_buf blob = make_blob();
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	memcpy(blob.data + 18, "ssh-ed25518", 11);
	assert_int_equal(judge(ks_buf_span(&blob), "git", &err), KS_UNTRUSTED);
	assert_non_null(strstr(err.message, "type ssh-ed25518, not"));
	ks_buf_release(&blob);
}

static void
a_namespace_is_neither_empty_nor_a_part_of_another(void **state)
{
	static const char *const others[] = { "", "g", "gi", "git2", "GIT",
		"file", "git@example.org" };
	struct ks_buf blob = make_blob();
	struct ks_error err = KS_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(others); i++) {
		assert_int_equal(judge(ks_buf_span(&blob), others[i], &err),
			KS_CORRUPT);
		assert_non_null(strstr(err.message, "namespace \"git\""));
	}
	ks_buf_release(&blob);
	assert_int_equal(ks_sshsig_sign(&signer, "", message(), &blob, NULL),
		KS_OK);
	assert_int_equal(judge_text(ks_buf_span(&blob), "", NULL), KS_CORRUPT);
	ks_buf_release(&blob);
}

static void
every_prefix_of_an_armor_but_that_without_its_last_lf_is_refused(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	size_t len;

	(void)state;
	assert_int_equal(ks_sshsig_sign(&signer, "git", message(), &text,
		NULL), KS_OK);
	for (len = 0; len < text.len - 1; len++)
		assert_int_equal(judge_text(ks_span(text.data, len), "git",
			NULL), KS_CORRUPT);
	assert_int_equal(judge_text(ks_span(text.data, text.len - 1), "git",
		NULL), KS_OK);
	assert_int_equal(judge_text(ks_span(NULL, 0), "git", NULL),
		KS_CORRUPT);
	ks_buf_release(&text);
}

/* Text put into an armor, behind its first `at` bytes (from the end where
 * that is negative). */
static const struct {
	int at;
	const char *text;
} insertions[] = {
	{ 0, "\n" }, { 0, " " }, { 0, "\xef\xbb\xbf" },
	{ 0, "-----BEGIN SSH SIGNATURE-----\n" },
	{ 29, " " }, { 29, "\r" },
	{ 30, "\n" }, { 30, "Hash: sha512\n" }, { 30, "AAAA" }, { 30, "=" },
	{ 60, " " }, { 60, "\t" }, { 60, "\r\n" }, { 60, "\n\n" },
	{ -29, "=" }, { -29, "\n" }, { -29, "AAAA" },
	{ -28, "\n" }, { -28, "AAAA\n" },
	{ -28, "-----END SSH SIGNATURE-----\n" },
	{ -1, " " }, { -1, "\r" }, { -1, "x" },
};

static void
an_armor_with_anything_else_in_it_is_refused(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	size_t i;

	(void)state;
	assert_int_equal(ks_sshsig_sign(&signer, "git", message(), &text,
		NULL), KS_OK);
	for (i = 0; i < COUNT(insertions); i++) {
		struct ks_buf altered = KS_BUF_INIT;
		size_t at = insertions[i].at < 0 ?
			text.len - (size_t)-insertions[i].at :
			(size_t)insertions[i].at;

		ks_buf_append(&altered, ks_span(text.data, at));
		ks_buf_text(&altered, insertions[i].text);
		ks_buf_append(&altered, ks_span(text.data + at,
			text.len - at));
		if (judge_text(ks_buf_span(&altered), "git", NULL) !=
			KS_CORRUPT)
			fail_msg("accepted: %s", ks_buf_cstr(&altered));
		ks_buf_release(&altered);
	}
	ks_buf_text(&text, "\n");
	assert_int_equal(judge_text(ks_buf_span(&text), "git", NULL),
		KS_CORRUPT);
	ks_buf_release(&text);
}

static void
an_armor_too_long_for_any_key_is_refused(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf blob = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	while (blob.len < 16384)
		ks_buf_text(&blob, "SSHSIG");
	ks_armor_write(LABEL, ks_buf_span(&blob), KS_ARMOR_SSH, &text);
	assert_int_equal(judge_text(ks_buf_span(&text), "git", &err),
		KS_CORRUPT);
	assert_non_null(strstr(err.message, "too long"));
	ks_buf_release(&text);
	ks_buf_release(&blob);
}

static void
a_signature_is_of_its_message_and_key_only(void **state)
{
	struct ks_secret_key other;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_sshsig sig;

	(void)state;
	assert_int_equal(ks_ed25519_generate(&other, NULL), KS_OK);
	assert_int_equal(ks_sshsig_sign(&other, "git", message(), &text,
		NULL), KS_OK);
	assert_int_equal(judge_text(ks_buf_span(&text), "git", NULL),
		KS_UNTRUSTED);
	assert_int_equal(ks_sshsig_read(ks_buf_span(&text), "git", &sig,
		NULL), KS_OK);
	assert_int_equal(ks_sshsig_verify(&sig, &other.public, "git",
		message(), NULL), KS_OK);
	assert_int_equal(ks_sshsig_verify(&sig, &other.public, "git",
		ks_span_text("example.org/log\r\n1\r\nroot\r\n"), NULL),
		KS_CORRUPT);
	assert_int_equal(ks_sshsig_verify(&sig, &other.public, "git",
		ks_span(NULL, 0), NULL), KS_CORRUPT);
	/* The signature of one put under the name of another. */
	sig.key = signer.public;
	assert_int_equal(ks_sshsig_verify(&sig, &signer.public, "git",
		message(), NULL), KS_CORRUPT);
	ks_buf_release(&text);
}

/* ---- Against ssh-keygen(1) ---- */

static void
ssh_keygen_makes_the_same_signatures_and_verifies_ours(void **state)
{
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	need("ssh-keygen");
	assert_int_equal(ks_ssh_secret_write(&signer, ks_span_text("x"), &out,
		NULL), KS_OK);
	scratch_write("key", ks_buf_span(&out));
	scratch_write("message", message());
	ks_buf_clear(&out);
	assert_int_equal(ks_sshsig_sign(&signer, "git", message(), &out,
		NULL), KS_OK);
	scratch_write("ours", ks_buf_span(&out));
	ks_buf_clear(&out);
	ks_buf_text(&out, "me@example.org namespaces=\"git\" ");
	ks_ssh_line_write(&signer.public, ks_span(NULL, 0), &out);
	scratch_write("allowed", ks_buf_span(&out));
	assert_int_equal(sh("chmod 600 key && ssh-keygen -Y sign -f "
		"key -n git message >/dev/null 2>&1 && "
		"cmp ours message.sig"), 0);
	assert_int_equal(sh("ssh-keygen -Y verify -f allowed -I "
		"me@example.org -n git -s ours <message >/dev/null"), 0);
	assert_int_not_equal(sh("ssh-keygen -Y verify -f allowed -I "
		"me@example.org -n file -s ours <message >/dev/null 2>&1"), 0);
	ks_buf_wipe(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_signer_of_the_vectors_is_read_from_its_line),
		cmocka_unit_test(
			signatures_are_those_of_ssh_keygen_to_the_byte),
		cmocka_unit_test(
			each_odd_signature_is_taken_or_refused_by_its_rule),
		cmocka_unit_test(any_changed_bit_is_refused),
		cmocka_unit_test(
			a_blob_cut_short_or_with_bytes_after_it_is_refused),
		cmocka_unit_test(
			a_key_of_another_type_is_named_and_not_trusted),
		cmocka_unit_test(
			a_namespace_is_neither_empty_nor_a_part_of_another),
		cmocka_unit_test(
			every_prefix_of_an_armor_but_that_without_its_last_lf_is_refused),
		cmocka_unit_test(an_armor_with_anything_else_in_it_is_refused),
		cmocka_unit_test(an_armor_too_long_for_any_key_is_refused),
		cmocka_unit_test(a_signature_is_of_its_message_and_key_only),
		cmocka_unit_test_setup_teardown(
			ssh_keygen_makes_the_same_signatures_and_verifies_ours,
			scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, load_vectors, drop_vectors);
}
