#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "base/file.h"
#include "base/hex.h"
#include "format/digest.h"
#include "format/ed25519.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ABC_SHA512 \
	"ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" \
	"2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"

/* RFC 8032 section 7.1: TEST 1, TEST 2, TEST 3, TEST SHA(abc). */
static const struct {
	const char *seed, *public, *message, *signature;
} vectors[] = {
	{ "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
		"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
		"",
		"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555f"
		"b8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b" },
	{ "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
		"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
		"72",
		"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da08"
		"5ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00" },
	{ "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
		"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
		"af82",
		"6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18"
		"ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a" },
	{ "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
		"ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
		ABC_SHA512,
		"dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909"
		"351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704" },
};

static void
unhex(const char *hex, uint8_t *out, size_t len)
{
	assert_true(ks_hex_decode(ks_span_text(hex), out, len));
}

static struct ks_secret_key
vector_key(size_t i)
{
	uint8_t seed[KS_ED25519_KEY];
	struct ks_secret_key key;
	struct ks_error err = KS_ERROR_INIT;

	unhex(vectors[i].seed, seed, sizeof(seed));
	if (ks_ed25519_from_seed(seed, &key, &err) != KS_OK)
		fail_msg("%s", err.message);
	return key;
}

static struct ks_span
vector_message(size_t i, uint8_t out[64])
{
	size_t len = strlen(vectors[i].message) / 2;

	unhex(vectors[i].message, out, len);
	return ks_span(len == 0 ? NULL : out, len);
}

static void
each_rfc_8032_vector_signs_and_verifies(void **state)
{
	uint8_t expected[KS_ED25519_SIGNATURE], made[KS_ED25519_SIGNATURE];
	uint8_t public[KS_ED25519_KEY], message[64];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(vectors); i++) {
		struct ks_secret_key key = vector_key(i);
		struct ks_span text = vector_message(i, message);

		unhex(vectors[i].public, public, sizeof(public));
		unhex(vectors[i].signature, expected, sizeof(expected));
		assert_memory_equal(key.public.bytes, public, sizeof(public));
		assert_int_equal(ks_ed25519_sign(&key, text, made, NULL),
			KS_OK);
		assert_memory_equal(made, expected, sizeof(made));
		assert_true(ks_ed25519_verify(&key.public, text, expected));
	}
}

static void
any_changed_bit_of_signature_message_or_key_is_refused(void **state)
{
	struct ks_secret_key key = vector_key(2);
	struct ks_public_key other;
	uint8_t signature[KS_ED25519_SIGNATURE], message[64];
	struct ks_span text = vector_message(2, message);
	size_t i;

	(void)state;
	unhex(vectors[2].signature, signature, sizeof(signature));
	for (i = 0; i < 8 * sizeof(signature); i++) {
		signature[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_false(ks_ed25519_verify(&key.public, text, signature));
		signature[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (i = 0; i < 8 * text.len; i++) {
		message[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_false(ks_ed25519_verify(&key.public, text, signature));
		message[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (i = 0; i < 8 * sizeof(other.bytes); i++) {
		other = key.public;
		other.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		assert_false(ks_public_key_equal(&other, &key.public));
		assert_false(ks_ed25519_verify(&other, text, signature));
	}
	assert_true(ks_ed25519_verify(&key.public, text, signature));
	assert_false(ks_ed25519_verify(&key.public, ks_span(message, 1),
		signature));
	assert_false(ks_ed25519_verify(&key.public, ks_span(NULL, 0),
		signature));
}

/* L of RFC 8032 section 5.1, little-endian. */
static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12,
	0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10 };

static void
a_signature_with_s_plus_l_is_refused(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < COUNT(vectors); i++) {
		struct ks_secret_key key = vector_key(i);
		uint8_t signature[KS_ED25519_SIGNATURE], message[64];
		struct ks_span text = vector_message(i, message);
		unsigned carry = 0;

		unhex(vectors[i].signature, signature, sizeof(signature));
		for (j = 0; j < sizeof(order); j++) {
			carry += (unsigned)signature[32 + j] + order[j];
			signature[32 + j] = (uint8_t)carry;
			carry >>= 8;
		}
		assert_int_equal(carry, 0);
		assert_false(ks_ed25519_verify(&key.public, text, signature));
	}
}

static void
generated_keys_differ_and_belong_together(void **state)
{
	struct ks_secret_key a, b;
	uint8_t signature[KS_ED25519_SIGNATURE];
	struct ks_span text = ks_span_text("message");

	(void)state;
	assert_int_equal(ks_ed25519_generate(&a, NULL), KS_OK);
	assert_int_equal(ks_ed25519_generate(&b, NULL), KS_OK);
	assert_memory_not_equal(a.seed, b.seed, sizeof(a.seed));
	assert_int_equal(ks_ed25519_sign(&a, text, signature, NULL), KS_OK);
	assert_true(ks_ed25519_verify(&a.public, text, signature));
	assert_false(ks_ed25519_verify(&b.public, text, signature));
	assert_int_equal(ks_ed25519_from_seed(a.seed, &b, NULL), KS_OK);
	assert_true(ks_public_key_equal(&a.public, &b.public));
}

static void
wiping_leaves_zeros(void **state)
{
	static const struct ks_secret_key zero;
	struct ks_secret_key key = vector_key(0);
	struct ks_buf buf = KS_BUF_INIT;
	uint8_t bytes[3] = { 1, 2, 3 };

	(void)state;
	ks_secret_key_wipe(&key);
	assert_memory_equal(&key, &zero, sizeof(key));
	ks_wipe(bytes, sizeof(bytes));
	assert_memory_equal(bytes, "\0\0\0", sizeof(bytes));
	ks_wipe(NULL, 0);
	ks_buf_wipe(&buf);
	ks_buf_text(&buf, "secret");
	ks_buf_wipe(&buf);
	assert_null(buf.data);
	assert_int_equal(buf.len, 0);
}

/* ---- PEM ---- */

#define BEGIN(label) "-----BEGIN " label "-----\n"
#define END(label) "-----END " label "-----\n"
#define PRIVATE(base64) BEGIN("PRIVATE KEY") base64 "\n" END("PRIVATE KEY")
#define PUBLIC(base64) BEGIN("PUBLIC KEY") base64 "\n" END("PUBLIC KEY")
#define ENCRYPTED(base64) BEGIN("ENCRYPTED PRIVATE KEY") base64 "\n" \
	END("ENCRYPTED PRIVATE KEY")

/* The examples of RFC 8410 sections 10.1 and 10.3. */
#define SECRET_BASE64 \
	"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"
#define PUBLIC_BASE64 \
	"MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
#define SECRET_SEED \
	"d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842"

/* The same key under the passphrase "secret", by openssl pkcs8. */
#define BY_PBKDF2 \
	"MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhljZOAsdhz1wICCAAw\n" \
	"DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEPkA93oZ6IKFJgrEIk8235wEQBvX\n" \
	"WBK4VhOMDlpw7jzriNXghuj9W1h3RqIItxNKQ56uuxmM5koMYowlh4bBN5d3tTsX\n" \
	"XxpKfBWnXNCSjYImseo="
#define BY_SCRYPT \
	"MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAgaVxU1d2sTVwICBAAC\n" \
	"AQgCAQEwHQYJYIZIAWUDBAEqBBC0zwb2pgXHUiPLVZsCTICLBEDefgKjzB3vSmoQ\n" \
	"OpRifDZl37H0GXPWkNSOk0fasj2vvebW2kX0g5ah0ILRhd/9aGvpKwUEno60fdmW\n" \
	"SIWlxqTk"
#define BY_3DES \
	"MFgwHAYKKoZIhvcNAQwBAzAOBAjkTQXZGsFVcgICCAAEOGqwrLmJMeTUdRdPA9Gu\n" \
	"GruWRcuk1T7wzdH0o0J7XV33wbMmS3ESxKeAME29SjFB/ZT1K/c8pS0B"
/* Made of BY_PBKDF2 by hand: 2^31 - 1 iterations; of BY_SCRYPT: p = 127. */
#define BY_PBKDF2_SLOWLY \
	"MIGdMFkGCSqGSIb3DQEFDTBMMCsGCSqGSIb3DQEFDDAeBAhljZOAsdhz1wIEf///" \
	"/zAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQ+QD3ehnogoUmCsQiTzbfnARA" \
	"G9dYErhWE4wOWnDuPOuI1eCG6P1bWHdGogi3E0pDnq67GYzmSgxijCWHhsE3l3e1" \
	"OxdfGkp8Fadc0JKNgiax6g=="
#define BY_SCRYPT_SLOWLY \
	"MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAgaVxU1d2sTVwICBAAC" \
	"AQgCAX8wHQYJYIZIAWUDBAEqBBC0zwb2pgXHUiPLVZsCTICLBEDefgKjzB3vSmoQ" \
	"OpRifDZl37H0GXPWkNSOk0fasj2vvebW2kX0g5ah0ILRhd/9aGvpKwUEno60fdmW" \
	"SIWlxqTk"

static struct ks_secret_key
pem_key(void)
{
	uint8_t seed[KS_ED25519_KEY];
	struct ks_secret_key key;

	unhex(SECRET_SEED, seed, sizeof(seed));
	assert_int_equal(ks_ed25519_from_seed(seed, &key, NULL), KS_OK);
	return key;
}

static enum ks_status
read_secret(const char *text, const char *passphrase,
	struct ks_secret_key *key, struct ks_error *err)
{
	return ks_pem_read_secret(ks_span_text(text),
		ks_span_text(passphrase), key, err);
}

static void
assert_secret(const char *text, const char *passphrase)
{
	struct ks_secret_key expected = pem_key();
	struct ks_secret_key key;
	struct ks_error err = KS_ERROR_INIT;

	if (read_secret(text, passphrase, &key, &err) != KS_OK)
		fail_msg("%s: %s", err.message, text);
	assert_memory_equal(key.seed, expected.seed, sizeof(key.seed));
	assert_true(ks_public_key_equal(&key.public, &expected.public));
}

static void
assert_public(const char *text)
{
	struct ks_secret_key expected = pem_key();
	struct ks_public_key key;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_pem_read_public(ks_span_text(text), &key, &err) != KS_OK)
		fail_msg("%s: %s", err.message, text);
	assert_true(ks_public_key_equal(&key, &expected.public));
}

static void
the_examples_of_rfc_8410_are_read_and_written(void **state)
{
	struct ks_secret_key key = pem_key();
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	assert_secret(PRIVATE(SECRET_BASE64), "");
	assert_public(PUBLIC(PUBLIC_BASE64));
	ks_buf_text(&out, "Name: x\n");
	assert_int_equal(ks_pem_write_secret(&key, ks_span(NULL, 0), &out,
		NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&out),
		"Name: x\n" PRIVATE(SECRET_BASE64));
	ks_buf_wipe(&out);
	assert_int_equal(ks_pem_write_public(&key.public, &out, NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&out), PUBLIC(PUBLIC_BASE64));
	ks_buf_release(&out);
}

static void
a_passphrase_that_is_not_needed_does_no_harm(void **state)
{
	(void)state;
	assert_secret(PRIVATE(SECRET_BASE64), "secret");
}

#define DASHES "-----"

static const char *const tolerated[] = {
	"Name: x\nanything\n" PRIVATE(SECRET_BASE64) "more\n",
	"\xef\xbb\xbf" PRIVATE(SECRET_BASE64),
	DASHES "BEGIN PRIVATE KEY" DASHES "\r\n" SECRET_BASE64 "\r\n"
		DASHES "END PRIVATE KEY" DASHES "\r\n",
	DASHES "BEGIN PRIVATE KEY" DASHES " \t\n" SECRET_BASE64 "  \n\n"
		DASHES "END PRIVATE KEY" DASHES " ",
	DASHES "BEGIN PRIVATE KEY" DASHES "\n"
		"MC4CAQAwBQYDK2VwBCIEINTuc\ntv5E1hK1bbY8fdp+K06/nwoy/"
		"HU++CXqI9EdVhC\n" DASHES "END PRIVATE KEY" DASHES,
};

static void
text_around_and_the_traces_of_editors_are_passed_over(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tolerated); i++)
		assert_secret(tolerated[i], "");
	assert_public("text\r\n" DASHES "BEGIN PUBLIC KEY" DASHES "\r\n"
		PUBLIC_BASE64 "\r\n" DASHES "END PUBLIC KEY" DASHES "\r\n");
}

#define NOT_A_BLOCK "no line -----BEGIN"
#define NOT_BASE64 "not base64"
#define MALFORMED "malformed"

struct refusal {
	const char *text;
	const char *reason;
};

/* Keys of other algorithms, made for this by openssl. */
#define RSA_BASE64 \
	"MIIBUwIBADANBgkqhkiG9w0BAQEFAASCAT0wggE5AgEAAkEAlIC9MKPoNan1Xg6Z\n" \
	"m5I6Ne8ax8KN9Z6I+8j/VxZ8fB0ZinrKRdQm3XqvKexc1Jg32xSFwDcCukM4t1eG\n" \
	"ttc9TwIDAQABAkAfRIgRQMG44uNF/Z78MarOBl1GKEHJsKq5ERYqWRK28vt9E0aY\n" \
	"mFK4IPn0o6EYcY3UwCTq2O9g2jwepAevCT/pAiEAw0xxdYuTqK4Nvyb3uuyIzHJM\n" \
	"WZLXKID7zjcn1WzO6R0CIQDCqNhXTwXAUKOu4eKMkfwxzKquUfY7N8iOt3f74sXg\n" \
	"WwIgAQ1LWye6TuFJH6t1ECOwBPHkqWLaF9TCBnVTmJmyb50CICGFniv66cyilm2J\n" \
	"bNA0W6/fxQzcBIFSK/GX2su/07+9AiAnd2ZxY2v7Ym0p6BjgzI08SJH+5p18UdvH\n" \
	"JUFbbKd2Nw=="
#define RSA_PUBLIC_BASE64 \
	"MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAJSAvTCj6DWp9V4OmZuSOjXvGsfCjfWe\n" \
	"iPvI/1cWfHwdGYp6ykXUJt16rynsXNSYN9sUhcA3ArpDOLdXhrbXPU8CAwEAAQ=="
#define EC_BASE64 \
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCaC7WavVTAin16c2\n" \
	"HJehZ0yJDJNIxcIJEys+VikEI/+hRANCAASnLKaKdQnOXxjFyo0x5gpY+DWGYyDC\n" \
	"4DF72ond1FWdiQpaGHrsOFPu1WoK8Jgc3Yf66lfKJha9I8P97+qPc8v8"
#define EC_PUBLIC_BASE64 \
	"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEpyyminUJzl8YxcqNMeYKWPg1hmMg\n" \
	"wuAxe9qJ3dRVnYkKWhh67DhT7tVqCvCYHN2H+upXyiYWvSPD/e/qj3PL/A=="

static const struct refusal secret_refusals[] = {
	/* other algorithms, by name */
	{ PRIVATE(RSA_BASE64), "private key of algorithm RSA, not Ed25519" },
	{ PRIVATE(EC_BASE64), "private key of algorithm EC, not Ed25519" },
	{ PRIVATE("MC4CAQAwBQYDK2VuBCIEILjIxwBSb0C4qaTnuRnr9U4O1fbDbg8v6Ac5nJieNlpj"),
		"private key of algorithm X25519, not Ed25519" },
	{ PRIVATE("MEcCAQAwBQYDK2VxBDsEOdI+rz4L2my/YnFN6GKx4hLloeNiZ/ysKXgALtJ4nw9/\n"
		"RzfTJKigY07GFD7XymKTM9eFL5LozBsGJg=="),
		"private key of algorithm ED448, not Ed25519" },
	/* an algorithm without a name (1.3.101.127) */
	{ PRIVATE("MC4CAQAwBQYDK2V/BCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"),
		"private key of algorithm 1.3.101.127, not Ed25519" },
	/* other blocks */
	{ PUBLIC(PUBLIC_BASE64), "public key where a private key is needed" },
	{ BEGIN("OPENSSH PRIVATE KEY") "AAAA\n" END("OPENSSH PRIVATE KEY"),
		"OpenSSH private key, not PKCS#8 PEM" },
	{ BEGIN("RSA PRIVATE KEY") "AAAA\n" END("RSA PRIVATE KEY"),
		"PEM block \"RSA PRIVATE KEY\"" },
	{ BEGIN("EC PARAMETERS") "AAAA\n" END("EC PARAMETERS"),
		"PEM block \"EC PARAMETERS\"" },
	{ BEGIN("CERTIFICATE") "AAAA\n" END("CERTIFICATE"),
		"PEM block \"CERTIFICATE\"" },
	{ BEGIN("\x1b[2J") "AAAA\n" END("\x1b[2J"),
		"PEM block \"\\x1b[2J\"" },
	{ BEGIN("PRIVATE  KEY") SECRET_BASE64 "\n" END("PRIVATE  KEY"),
		"PEM block \"PRIVATE  KEY\"" },
	/* not a block, or two */
	{ "", NOT_A_BLOCK },
	{ "garbage\n", NOT_A_BLOCK },
	{ SECRET_BASE64 "\n", NOT_A_BLOCK },
	{ "x-----BEGIN PRIVATE KEY-----\n" SECRET_BASE64, NOT_A_BLOCK },
	{ "-----BEGIN PRIVATE KEY----\n" SECRET_BASE64, NOT_A_BLOCK },
	{ "-----BEGIN -----\n" SECRET_BASE64, NOT_A_BLOCK },
	{ "-----BEGIN -----", NOT_A_BLOCK },
	{ "-----begin PRIVATE KEY-----\n" SECRET_BASE64, NOT_A_BLOCK },
	{ END("PRIVATE KEY"), NOT_A_BLOCK },
	{ BEGIN("PRIVATE KEY") SECRET_BASE64 "\n",
		"without its line -----END PRIVATE KEY-----" },
	{ BEGIN("PRIVATE KEY") SECRET_BASE64 "\n" END("PUBLIC KEY"),
		"without its line -----END PRIVATE KEY-----" },
	{ BEGIN("PRIVATE KEY") SECRET_BASE64 END("PRIVATE KEY"),
		"without its line -----END PRIVATE KEY-----" },
	{ BEGIN("PRIVATE KEY"), "without its line" },
	{ PRIVATE(SECRET_BASE64) PRIVATE(SECRET_BASE64),
		"more than one PEM block" },
	{ PRIVATE(SECRET_BASE64) PUBLIC(PUBLIC_BASE64),
		"more than one PEM block" },
	/* not base64 */
	{ PRIVATE(SECRET_BASE64 "="), NOT_BASE64 },
	{ PRIVATE("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n"
		SECRET_BASE64), NOT_BASE64 },
	{ PRIVATE("MC4CAQAwBQYD K2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"),
		NOT_BASE64 },
	{ BEGIN("PRIVATE KEY") PRIVATE(SECRET_BASE64), NOT_BASE64 },
	/* not PKCS#8 */
	{ PRIVATE(""), MALFORMED },
	{ PRIVATE("AAAA"), MALFORMED },
	{ PRIVATE(PUBLIC_BASE64), MALFORMED },
	{ PRIVATE("MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVg="),
		MALFORMED },
	{ PRIVATE(SECRET_BASE64 "\nAA=="), MALFORMED },
	/* a seed of 31 bytes; one in a BIT STRING; parameters NULL */
	{ PRIVATE("MC0CAQAwBQYDK2VwBCEEH9Tuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVg="),
		"malformed Ed25519 private key" },
	{ PRIVATE("MC4CAQAwBQYDK2VwBCIDINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"),
		"malformed Ed25519 private key" },
	{ PRIVATE("MDACAQAwBwYDK2VwBQAEIgQg1O5y2/kTWErVttjx92n4rTr+fCjL8dT74Jeoj0R1WEI="),
		"malformed Ed25519 private key" },
	/* RFC 8410 section 10.3: the later version, with the public key */
	{ PRIVATE("MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
		"oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB\n"
		"Z9w7lshQhqowtrbLDFw4rXAxZuE="), "not PKCS#8 version 1" },
	/* encrypted, and more than that is wrong */
	{ ENCRYPTED("AAAA"), "malformed encrypted private key" },
	{ ENCRYPTED(SECRET_BASE64), "malformed encrypted private key" },
	{ ENCRYPTED(BY_3DES), "another scheme than PBES2" },
	{ ENCRYPTED(BY_PBKDF2_SLOWLY), "too much of it" },
	{ ENCRYPTED(BY_SCRYPT_SLOWLY), "too much of it" },
	{ PRIVATE(BY_PBKDF2), MALFORMED },
};

static void
what_is_no_private_key_is_refused_with_the_reason(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(secret_refusals); i++) {
		const struct refusal *refusal = &secret_refusals[i];
		struct ks_error err = KS_ERROR_INIT;
		struct ks_secret_key key;

		assert_int_equal(read_secret(refusal->text, "secret", &key,
			&err), KS_INVALID);
		if (strstr(err.message, refusal->reason) == NULL)
			fail_msg("\"%s\", not \"%s\": %s", err.message,
				refusal->reason, refusal->text);
	}
}

static const struct refusal public_refusals[] = {
	{ PUBLIC(RSA_PUBLIC_BASE64), "public key of algorithm RSA, not Ed25519" },
	{ PUBLIC(EC_PUBLIC_BASE64), "public key of algorithm EC, not Ed25519" },
	{ PUBLIC("MCowBQYDK2VuAyEAX3cDSflqx6GHNXm6gCH+YMy2D8pD3AfiLcooNzzSKGU="),
		"public key of algorithm X25519, not Ed25519" },
	{ PUBLIC("MEMwBQYDK2VxAzoACecIGukst5/xJXmGuEGt1406xEQcmKlCCvdGsmTWxjst9Bz1\n"
		"PRlQlijEJlAllf6SkPzQeIQWS1qA"),
		"public key of algorithm ED448, not Ed25519" },
	{ PRIVATE(SECRET_BASE64), "private key where a public key is needed" },
	{ ENCRYPTED(BY_PBKDF2), "private key where a public key is needed" },
	{ BEGIN("OPENSSH PRIVATE KEY") "AAAA\n" END("OPENSSH PRIVATE KEY"),
		"private key where a public key is needed" },
	{ BEGIN("RSA PUBLIC KEY") "AAAA\n" END("RSA PUBLIC KEY"),
		"PEM block \"RSA PUBLIC KEY\"" },
	{ "", NOT_A_BLOCK },
	{ "ssh-ed25519 AAAA", NOT_A_BLOCK },
	{ BEGIN("PUBLIC KEY") PUBLIC_BASE64 "\n", "without its line" },
	{ PUBLIC(PUBLIC_BASE64) PUBLIC(PUBLIC_BASE64), "more than one" },
	{ PUBLIC("MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuF="),
		NOT_BASE64 },
	{ PUBLIC(""), MALFORMED },
	{ PUBLIC("AAAA"), MALFORMED },
	{ PUBLIC("MCkwBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZg=="),
		MALFORMED },
	{ PUBLIC("MCowBQYDK2VwAyEBGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="),
		MALFORMED },
	{ PUBLIC(PUBLIC_BASE64 "\nAA=="), NOT_BASE64 },
	{ PUBLIC(SECRET_BASE64), MALFORMED },
};

static void
what_is_no_public_key_is_refused_with_the_reason(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(public_refusals); i++) {
		const struct refusal *refusal = &public_refusals[i];
		struct ks_error err = KS_ERROR_INIT;
		struct ks_public_key key;

		assert_int_equal(ks_pem_read_public(ks_span_text(refusal->text),
			&key, &err), KS_INVALID);
		if (strstr(err.message, refusal->reason) == NULL)
			fail_msg("\"%s\", not \"%s\": %s", err.message,
				refusal->reason, refusal->text);
	}
}

static void
a_text_of_any_size_that_cannot_be_a_key_is_refused(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_secret_key secret;
	struct ks_public_key public;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	while (text.len <= 65536)
		ks_buf_text(&text, "a line of text before the key\n");
	ks_buf_text(&text, PRIVATE(SECRET_BASE64));
	assert_int_equal(ks_pem_read_secret(ks_buf_span(&text),
		ks_span(NULL, 0), &secret, &err), KS_INVALID);
	assert_non_null(strstr(err.message, "too many for a key"));
	assert_int_equal(ks_pem_read_public(ks_buf_span(&text), &public,
		NULL), KS_INVALID);
	assert_int_equal(ks_pem_read_public(ks_span(NULL, 0), &public, NULL),
		KS_INVALID);
	ks_buf_release(&text);
}

static void
every_prefix_of_a_key_is_refused(void **state)
{
	static const char text[] = PRIVATE(SECRET_BASE64);
	struct ks_secret_key key;
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(text) - 2; len++)
		assert_int_equal(ks_pem_read_secret(ks_span(text, len),
			ks_span(NULL, 0), &key, NULL), KS_INVALID);
	assert_int_equal(ks_pem_read_secret(ks_span(text, len),
		ks_span(NULL, 0), &key, NULL), KS_OK);
}

static void
encrypted_keys_open_with_their_passphrase(void **state)
{
	(void)state;
	assert_secret(ENCRYPTED(BY_PBKDF2), "secret");
	assert_secret("Name: x\n" ENCRYPTED(BY_SCRYPT), "secret");
}

static void
a_missing_or_wrong_passphrase_is_not_trusted(void **state)
{
	static const char *const texts[] = { ENCRYPTED(BY_PBKDF2),
		ENCRYPTED(BY_SCRYPT) };
	char longest[5000];
	size_t i;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	for (i = 0; i < COUNT(texts); i++) {
		struct ks_error err = KS_ERROR_INIT;
		struct ks_secret_key key;

		assert_int_equal(read_secret(texts[i], "", &key, &err),
			KS_UNTRUSTED);
		assert_non_null(strstr(err.message, "no passphrase"));
		assert_int_equal(read_secret(texts[i], "Secret", &key, &err),
			KS_UNTRUSTED);
		assert_non_null(strstr(err.message, "does not open"));
		assert_int_equal(read_secret(texts[i], longest, &key, &err),
			KS_UNTRUSTED);
	}
}

static void
a_key_written_with_a_passphrase_needs_it(void **state)
{
	struct ks_secret_key key = pem_key();
	struct ks_buf out = KS_BUF_INIT;
	struct ks_buf again = KS_BUF_INIT;
	struct ks_secret_key back;
	char longest[5000];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	assert_int_equal(ks_pem_write_secret(&key, ks_span_text("open\nsesame"),
		&out, NULL), KS_OK);
	assert_secret(ks_buf_cstr(&out), "open\nsesame");
	assert_int_equal(read_secret(ks_buf_cstr(&out), "open", &back, NULL),
		KS_UNTRUSTED);
	assert_int_equal(ks_pem_write_secret(&key, ks_span_text("open\nsesame"),
		&again, NULL), KS_OK);
	assert_string_not_equal(ks_buf_cstr(&out), ks_buf_cstr(&again));
	assert_int_equal(ks_pem_write_secret(&key,
		ks_span(longest, sizeof(longest)), &out, NULL), KS_INVALID);
	ks_buf_wipe(&out);
	ks_buf_wipe(&again);
}

/* ---- Against openssl(1) ---- */

static void
read_file(const char *path, struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;

	ks_buf_clear(out);
	if (ks_file_read(path, 1 << 16, out, &err) != KS_OK)
		fail_msg("%s", err.message);
}

static void
openssl_reads_the_keys_that_are_written(void **state)
{
	struct ks_secret_key key = pem_key();
	struct ks_buf out = KS_BUF_INIT;

	(void)state;
	need("openssl");
	ks_buf_text(&out, "Name: example.org/log\n");
	assert_int_equal(ks_pem_write_secret(&key, ks_span(NULL, 0), &out,
		NULL), KS_OK);
	scratch_write("plain.pem", ks_buf_span(&out));
	ks_buf_clear(&out);
	assert_int_equal(ks_pem_write_secret(&key, ks_span_text("secret"),
		&out, NULL), KS_OK);
	scratch_write("encrypted.pem", ks_buf_span(&out));
	ks_buf_clear(&out);
	assert_int_equal(ks_pem_write_public(&key.public, &out, NULL), KS_OK);
	scratch_write("public.pem", ks_buf_span(&out));
	assert_int_equal(sh("set -e; openssl pkey -in plain.pem "
		"-pubout | cmp - public.pem; openssl pkey -in encrypted.pem "
		"-passin pass:secret -pubout | cmp - public.pem; openssl pkey "
		"-pubin -in public.pem -pubout | cmp - public.pem"), 0);
	ks_buf_wipe(&out);
}

static void
the_keys_that_openssl_makes_are_read(void **state)
{
	static const char *const files[] = { "plain.pem", "aes.pem",
		"scrypt.pem" };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_public_key public;
	struct ks_secret_key key;
	struct ks_error err = KS_ERROR_INIT;
	size_t i;

	(void)state;
	need("openssl");
	assert_int_equal(sh("exec 2>/dev/null; set -e; "
		"openssl genpkey -algorithm ed25519 -out plain.pem; "
		"openssl genpkey -algorithm ed25519 -aes256 -pass pass:secret "
		"-out own.pem; openssl pkey -in plain.pem -aes256 "
		"-passout pass:secret -out aes.pem; openssl pkcs8 -topk8 "
		"-scrypt -in plain.pem -passout pass:secret -out scrypt.pem; "
		"openssl pkey -in plain.pem -pubout -out public.pem"), 0);
	read_file("public.pem", &text);
	assert_int_equal(ks_pem_read_public(ks_buf_span(&text), &public, NULL),
		KS_OK);
	for (i = 0; i < COUNT(files); i++) {
		read_file(files[i], &text);
		if (ks_pem_read_secret(ks_buf_span(&text),
			ks_span_text("secret"), &key, &err) != KS_OK)
			fail_msg("%s: %s", files[i], err.message);
		assert_true(ks_public_key_equal(&key.public, &public));
	}
	read_file("own.pem", &text);
	assert_int_equal(ks_pem_read_secret(ks_buf_span(&text),
		ks_span_text("secret"), &key, NULL), KS_OK);
	assert_false(ks_public_key_equal(&key.public, &public));
	ks_buf_wipe(&text);
}

static void
openssl_and_this_module_verify_each_others_signatures(void **state)
{
	struct ks_secret_key key = pem_key();
	uint8_t signature[KS_ED25519_SIGNATURE];
	struct ks_span message = ks_span_text("example.org/log\n1\nroot\n");

	(void)state;
	need("openssl");
	scratch_write("secret.pem", ks_span_text(PRIVATE(SECRET_BASE64)));
	scratch_write("public.pem", ks_span_text(PUBLIC(PUBLIC_BASE64)));
	scratch_write("message", message);
	assert_int_equal(ks_ed25519_sign(&key, message, signature, NULL),
		KS_OK);
	scratch_write("ours", ks_span(signature, sizeof(signature)));
	assert_int_equal(sh("openssl pkeyutl -verify -rawin -pubin "
		"-inkey public.pem -in message -sigfile ours >/dev/null"), 0);
	assert_int_equal(sh("openssl pkeyutl -sign -rawin -inkey "
		"secret.pem -in message -out theirs && cmp ours theirs"), 0);
	signature[0] ^= 1;
	scratch_write("ours", ks_span(signature, sizeof(signature)));
	assert_int_not_equal(sh("openssl pkeyutl -verify -rawin "
		"-pubin -inkey public.pem -in message -sigfile ours "
		">/dev/null 2>&1"), 0);
}

/* With this one, openssl(1) finds no algorithm any more. */
static void
no_configuration_file_has_a_say(void **state)
{
	(void)state;
	scratch_write("other.cnf", ks_span_text("openssl_conf = a\n[a]\n"
		"alg_section = b\n[b]\ndefault_properties = fips=yes\n"));
	assert_int_equal(setenv("OPENSSL_CONF", "other.cnf", 1), 0);
	assert_secret(ENCRYPTED(BY_PBKDF2), "secret");
	assert_int_equal(unsetenv("OPENSSL_CONF"), 0);
}

#define SCRATCH_TEST(test) \
	cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, while OpenSSL has not looked for it yet. */
		SCRATCH_TEST(no_configuration_file_has_a_say),
		cmocka_unit_test(each_rfc_8032_vector_signs_and_verifies),
		cmocka_unit_test(
			any_changed_bit_of_signature_message_or_key_is_refused),
		cmocka_unit_test(a_signature_with_s_plus_l_is_refused),
		cmocka_unit_test(generated_keys_differ_and_belong_together),
		cmocka_unit_test(wiping_leaves_zeros),
		cmocka_unit_test(the_examples_of_rfc_8410_are_read_and_written),
		cmocka_unit_test(a_passphrase_that_is_not_needed_does_no_harm),
		cmocka_unit_test(
			text_around_and_the_traces_of_editors_are_passed_over),
		cmocka_unit_test(
			what_is_no_private_key_is_refused_with_the_reason),
		cmocka_unit_test(
			what_is_no_public_key_is_refused_with_the_reason),
		cmocka_unit_test(
			a_text_of_any_size_that_cannot_be_a_key_is_refused),
		cmocka_unit_test(every_prefix_of_a_key_is_refused),
		cmocka_unit_test(encrypted_keys_open_with_their_passphrase),
		cmocka_unit_test(a_missing_or_wrong_passphrase_is_not_trusted),
		cmocka_unit_test(a_key_written_with_a_passphrase_needs_it),
		SCRATCH_TEST(openssl_reads_the_keys_that_are_written),
		SCRATCH_TEST(the_keys_that_openssl_makes_are_read),
		SCRATCH_TEST(
			openssl_and_this_module_verify_each_others_signatures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
