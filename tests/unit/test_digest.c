#include "format/digest.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hex.h"

/* FIPS 180-4's examples (NIST, "SHA-256" and "SHA-1" of the secure hash
 * standard), and the empty message. */
static const struct {
	const char *text;
	const char *sha256, *sha1;
} messages[] = {
	{ "",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b"
		"855", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
	{ "abc",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f2001"
		"5ad", "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db0"
		"6c1", "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
};

#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

static void
assert_sha256(const struct ks_id *id, const char *hex)
{
	char text[KS_ID_HEX + 1];

	assert_string_equal(ks_id_print_hex(id, text), hex);
}

static void
known_messages_have_their_known_digests(void **state)
{
	struct ks_id id;
	size_t i;

	(void)state;
	for (i = 0; i < MESSAGES; i++) {
		ks_sha256(ks_span_text(messages[i].text), &id);
		assert_sha256(&id, messages[i].sha256);
	}
}

static void
a_pair_is_hashed_as_its_concatenation(void **state)
{
	struct ks_span text = ks_span_text(messages[2].text);
	struct ks_id id;
	size_t cut;

	(void)state;
	for (cut = 0; cut <= text.len; cut++) {
		ks_sha256_pair(ks_span(text.data, cut),
			ks_span(text.data + cut, text.len - cut), &id);
		assert_sha256(&id, messages[2].sha256);
	}
	ks_sha256_pair(ks_span(NULL, 0), ks_span(NULL, 0), &id);
	assert_sha256(&id, messages[0].sha256);
}

static void
pieces_give_the_digest_of_the_whole_and_begin_anew(void **state)
{
	struct ks_digest *digest;
	struct ks_id id;
	size_t i, k;

	(void)state;
	assert_int_equal(ks_digest_new(&digest, NULL), KS_OK);
	for (i = 0; i < MESSAGES; i++) {
		for (k = 0; messages[i].text[k] != '\0'; k++)
			ks_digest_update(digest,
				ks_span(messages[i].text + k, 1));
		ks_digest_update(digest, ks_span(NULL, 0));
		ks_digest_final(digest, &id);
		assert_sha256(&id, messages[i].sha256);
	}
	ks_digest_free(digest);
}

static void
a_million_times_a_has_its_known_digest(void **state)
{
	struct ks_digest *digest;
	struct ks_id id;
	char block[1000];
	int i;

	(void)state;
	memset(block, 'a', sizeof(block));
	assert_int_equal(ks_digest_new(&digest, NULL), KS_OK);
	for (i = 0; i < 1000; i++)
		ks_digest_update(digest, ks_span(block, sizeof(block)));
	ks_digest_final(digest, &id);
	assert_sha256(&id, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e"
		"046d39ccc7112cd0");
	ks_digest_free(digest);
}

static void
git_ids_are_made_by_sha1(void **state)
{
	struct ks_sha1 *sha1;
	uint8_t out[KS_SHA1_SIZE];
	char text[2 * KS_SHA1_SIZE + 1] = "";
	size_t i;

	(void)state;
	assert_int_equal(ks_sha1_new(&sha1, NULL), KS_OK);
	for (i = 0; i < MESSAGES; i++) {
		ks_sha1_update(sha1, ks_span_text(messages[i].text));
		ks_sha1_final(sha1, out);
		ks_hex_encode(ks_span(out, sizeof(out)), text);
		assert_string_equal(text, messages[i].sha1);
	}
	ks_sha1_free(sha1);
}

/* Workers hash at once; each has a context of its own. */
static void *
hash_often(void *arg)
{
	bool *right = arg;
	struct ks_id id;
	char text[KS_ID_HEX + 1];
	int i;

	*right = true;
	for (i = 0; i < 2000; i++) {
		const char *message = messages[i % (int)MESSAGES].text;

		ks_sha256(ks_span_text(message), &id);
		if (strcmp(ks_id_print_hex(&id, text),
			messages[i % (int)MESSAGES].sha256) != 0)
			*right = false;
	}
	return NULL;
}

static void
threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[4];
	bool right[4];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, hash_often,
			&right[i]), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(right[i]);
	}
}

/* The same, "SHA-512". */
static void
sha512_has_its_known_digests_beside_the_others(void **state)
{
	uint8_t sha512[KS_SHA512_SIZE];
	char hex[2 * KS_SHA512_SIZE + 1] = "";
	struct ks_id id;

	(void)state;
	ks_sha512(ks_span_text("abc"), sha512);
	ks_hex_encode(ks_span(sha512, sizeof(sha512)), hex);
	assert_string_equal(hex,
		"ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
		"2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
	ks_sha256(ks_span_text("abc"), &id);
	assert_sha256(&id, messages[1].sha256);
	ks_sha512(ks_span(NULL, 0), sha512);
	ks_hex_encode(ks_span(sha512, sizeof(sha512)), hex);
	assert_string_equal(hex,
		"cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
		"47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
}

static void
nothing_may_be_freed(void **state)
{
	(void)state;
	ks_digest_free(NULL);
	ks_sha1_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_messages_have_their_known_digests),
		cmocka_unit_test(a_pair_is_hashed_as_its_concatenation),
		cmocka_unit_test(
			pieces_give_the_digest_of_the_whole_and_begin_anew),
		cmocka_unit_test(a_million_times_a_has_its_known_digest),
		cmocka_unit_test(git_ids_are_made_by_sha1),
		cmocka_unit_test(sha512_has_its_known_digests_beside_the_others),
		cmocka_unit_test(threads_do_not_disturb_each_other),
		cmocka_unit_test(nothing_may_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
