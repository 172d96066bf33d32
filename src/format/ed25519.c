#include "format/ed25519.h"

#include <limits.h>
#include <stdlib.h>

#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#include "format/armor.h"
#include "format/digest.h"

/* PBKDF2 with HMAC-SHA-256, which OpenSSL's PBES2 takes unless told. */
#define ITERATIONS 600000
#define SALT_LEN 16
/* What an encrypted file may ask for: seconds, not hours. */
#define ITERATIONS_MAX 10000000
#define SCRYPT_COST_MAX (1 << 20)
#define SCRYPT_PARALLEL_MAX 64
#define PASSPHRASE_MAX 4096
/* Bytes of a PEM text; a key of any algorithm is far smaller. */
#define PEM_MAX 65536

/* RFC 8410 section 7: an OCTET STRING of 32 bytes inside the OCTET STRING of
 * PKCS#8. */
#define SEED_PREFIX_LEN 2
static const uint8_t seed_prefix[SEED_PREFIX_LEN] = { 0x04, 0x20 };

/* RFC 8410 sections 4 and 7, in DER, before the 32 bytes of the key. */
#define SECRET_PREFIX_LEN 16
static const uint8_t secret_prefix[SECRET_PREFIX_LEN] = { 0x30, 0x2e, 0x02,
	0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22,
	0x04, 0x20 };
#define PUBLIC_PREFIX_LEN 12
static const uint8_t public_prefix[PUBLIC_PREFIX_LEN] = { 0x30, 0x2a, 0x30,
	0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00 };

static const char label_secret[] = "PRIVATE KEY";
static const char label_encrypted[] = "ENCRYPTED PRIVATE KEY";
static const char label_public[] = "PUBLIC KEY";

void
ks_secret_key_wipe(struct ks_secret_key *key)
{
	ks_wipe(key, sizeof(*key));
}

bool
ks_public_key_equal(const struct ks_public_key *a,
	const struct ks_public_key *b)
{
	return memcmp(a->bytes, b->bytes, KS_ED25519_KEY) == 0;
}

/* Record that OpenSSL could not do what cannot fail for a reason in the
 * input: memory, or an OpenSSL without Ed25519. */
static enum ks_status
fail_openssl(const char *what, struct ks_error *err)
{
	return ks_fail(err, KS_IO, "openssl cannot %s", what);
}

static EVP_PKEY *
load_secret(const uint8_t seed[KS_ED25519_KEY])
{
	return EVP_PKEY_new_raw_private_key_ex(ks_digest_library(), "ED25519",
		NULL, seed, KS_ED25519_KEY);
}

static enum ks_status
from_seed(const uint8_t seed[KS_ED25519_KEY], struct ks_secret_key *out,
	struct ks_error *err)
{
	size_t len = KS_ED25519_KEY;
	EVP_PKEY *key = load_secret(seed);
	bool ok = key != NULL && EVP_PKEY_get_raw_public_key(key,
		out->public.bytes, &len) == 1 && len == KS_ED25519_KEY;

	EVP_PKEY_free(key);
	if (!ok)
		return fail_openssl("derive an Ed25519 public key", err);
	memmove(out->seed, seed, KS_ED25519_KEY);
	return KS_OK;
}

/* OpenSSL keeps a queue of errors per thread, which is shared with whoever
 * else uses OpenSSL in this process: what the calls of this module add is
 * taken off again, and nothing else. */
enum ks_status
ks_ed25519_from_seed(const uint8_t seed[KS_ED25519_KEY],
	struct ks_secret_key *out, struct ks_error *err)
{
	enum ks_status status;

	(void)ERR_set_mark();
	status = from_seed(seed, out, err);
	(void)ERR_pop_to_mark();
	return status;
}

enum ks_status
ks_ed25519_generate(struct ks_secret_key *out, struct ks_error *err)
{
	uint8_t seed[KS_ED25519_KEY];
	enum ks_status status;

	(void)ERR_set_mark();
	if (RAND_priv_bytes_ex(ks_digest_library(), seed, sizeof(seed), 0) == 1)
		status = from_seed(seed, out, err);
	else
		status = ks_fail(err, KS_IO,
			"the system has no random numbers for a key");
	(void)ERR_pop_to_mark();
	ks_wipe(seed, sizeof(seed));
	return status;
}

/* A span that is never NULL: OpenSSL takes a NULL message for a question. */
static const uint8_t *
message_bytes(struct ks_span message)
{
	static const uint8_t nothing;

	return message.len == 0 ? &nothing : message.data;
}

enum ks_status
ks_ed25519_sign(const struct ks_secret_key *key, struct ks_span message,
	uint8_t signature[KS_ED25519_SIGNATURE], struct ks_error *err)
{
	size_t len = KS_ED25519_SIGNATURE;
	EVP_MD_CTX *ctx;
	EVP_PKEY *loaded;
	bool ok;

	(void)ERR_set_mark();
	ctx = EVP_MD_CTX_new();
	loaded = load_secret(key->seed);
	ok = ctx != NULL && loaded != NULL &&
		EVP_DigestSignInit_ex(ctx, NULL, NULL, ks_digest_library(),
			NULL, loaded, NULL) == 1 &&
		EVP_DigestSign(ctx, signature, &len, message_bytes(message),
			message.len) == 1 && len == KS_ED25519_SIGNATURE;
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(loaded);
	(void)ERR_pop_to_mark();
	if (!ok)
		return fail_openssl("make an Ed25519 signature", err);
	return KS_OK;
}

bool
ks_ed25519_verify(const struct ks_public_key *key, struct ks_span message,
	const uint8_t signature[KS_ED25519_SIGNATURE])
{
	EVP_MD_CTX *ctx;
	EVP_PKEY *loaded;
	bool ok;

	(void)ERR_set_mark();
	ctx = EVP_MD_CTX_new();
	loaded = EVP_PKEY_new_raw_public_key_ex(ks_digest_library(), "ED25519",
		NULL, key->bytes, KS_ED25519_KEY);
	/* OpenSSL refuses S >= L (RFC 8032 section 5.1.7). */
	ok = ctx != NULL && loaded != NULL &&
		EVP_DigestVerifyInit_ex(ctx, NULL, NULL, ks_digest_library(),
			NULL, loaded, NULL) == 1 &&
		EVP_DigestVerify(ctx, signature, KS_ED25519_SIGNATURE,
			message_bytes(message), message.len) == 1;
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(loaded);
	(void)ERR_pop_to_mark();
	return ok;
}

/* ---- Reading PEM ----
 *
 * The algorithms are those of our own library context. That the tables of
 * object names, which are the process's, make OpenSSL look at its
 * configuration file once more, changes nothing here.
 */

static const char *
algorithm_name(const ASN1_OBJECT *algorithm, char *out, size_t size)
{
	switch (OBJ_obj2nid(algorithm)) {
	case NID_ED25519:
		return "Ed25519";
	case NID_rsaEncryption:
		return "RSA";
	case NID_X9_62_id_ecPublicKey:
		return "EC";
	default:
		break;
	}
	/* X25519, ED448 …, or the digits of the identifier. */
	if (OBJ_obj2txt(out, (int)size, algorithm, 0) <= 0)
		return "an unknown algorithm";
	return out;
}

static enum ks_status
fail_algorithm(const char *what, const ASN1_OBJECT *algorithm,
	struct ks_error *err)
{
	char name[80];

	return ks_fail(err, KS_INVALID,
		"%s key of algorithm %s, not Ed25519 (N4)", what,
		algorithm_name(algorithm, name, sizeof(name)));
}

/* Why a block with another label is not a key that can be used. */
static enum ks_status
fail_label(struct ks_span label, bool secret, struct ks_error *err)
{
	char shown[64];

	if (secret && ks_span_is(label, label_public))
		return ks_fail(err, KS_INVALID, "public key where a private "
			"key is needed (N4)");
	if (secret && ks_span_is(label, "OPENSSH PRIVATE KEY"))
		return ks_fail(err, KS_INVALID,
			"OpenSSH private key, not PKCS#8 PEM (N4)");
	if (!secret && label.len >= strlen(label_secret) &&
		ks_span_is(ks_span(label.data + label.len -
			strlen(label_secret), strlen(label_secret)),
			label_secret))
		return ks_fail(err, KS_INVALID, "private key where a public "
			"key is needed; keep it secret, and give the public "
			"half (N4)");
	return ks_fail(err, KS_INVALID,
		"PEM block \"%s\", not \"%s\" with an Ed25519 key (N4)",
		ks_printable(shown, sizeof(shown), label),
		secret ? label_secret : label_public);
}

/* The bytes of the one block in a text, and its label. */
static enum ks_status
read_block(struct ks_span text, bool secret, struct ks_span *label,
	struct ks_buf *der, struct ks_error *err)
{
	struct ks_armor armor, second;

	if (text.len > PEM_MAX)
		return ks_fail(err, KS_INVALID,
			"%zu bytes are too many for a key", text.len);
	if (!ks_armor_find(text, &armor))
		return ks_fail(err, KS_INVALID,
			"not a PEM key: no line -----BEGIN %s----- (N4)",
			secret ? label_secret : label_public);
	*label = armor.label;
	if (!ks_span_is(*label, secret ? label_secret : label_public) &&
		!(secret && ks_span_is(*label, label_encrypted)))
		return fail_label(*label, secret, err);
	if (!armor.ended)
		return ks_fail(err, KS_INVALID, "PEM key without its line "
			"-----END %.*s-----", (int)label->len,
			(const char *)label->data);
	if (ks_armor_find(armor.after, &second))
		return ks_fail(err, KS_INVALID,
			"more than one PEM block, where one key is expected");
	if (!ks_armor_decode(armor.body, false, der))
		return ks_fail(err, KS_INVALID,
			"PEM key is not base64 between its lines of dashes");
	return ks_buf_check(der, err);
}

/* The algorithm that an SPKI names (RFC 5280 section 4.1), to be freed; NULL
 * when it is none. */
static X509_ALGOR *
spki_algorithm(struct ks_span der)
{
	const unsigned char *at = der.data;
	long len = 0;
	int tag = 0;
	int class = 0;
	int kind = ASN1_get_object(&at, &len, &tag, &class, (long)der.len);

	if ((kind & 0x80) != 0 || kind != V_ASN1_CONSTRUCTED ||
		tag != V_ASN1_SEQUENCE || class != V_ASN1_UNIVERSAL)
		return NULL;
	return d2i_X509_ALGOR(NULL, &at, len);
}

/* An SPKI has one encoding: DER. */
static enum ks_status
parse_public(struct ks_span der, struct ks_public_key *out,
	struct ks_error *err)
{
	const ASN1_OBJECT *object = NULL;
	X509_ALGOR *algorithm;
	enum ks_status status;

	if (der.len == PUBLIC_PREFIX_LEN + KS_ED25519_KEY &&
		memcmp(der.data, public_prefix, PUBLIC_PREFIX_LEN) == 0) {
		memcpy(out->bytes, der.data + PUBLIC_PREFIX_LEN,
			KS_ED25519_KEY);
		return KS_OK;
	}
	algorithm = spki_algorithm(der);
	if (algorithm != NULL)
		X509_ALGOR_get0(&object, NULL, NULL, algorithm);
	if (object == NULL || OBJ_obj2nid(object) == NID_ED25519)
		status = ks_fail(err, KS_INVALID,
			"malformed public key (RFC 8410 section 4)");
	else
		status = fail_algorithm("public", object, err);
	X509_ALGOR_free(algorithm);
	return status;
}

enum ks_status
ks_pem_read_public(struct ks_span text, struct ks_public_key *out,
	struct ks_error *err)
{
	struct ks_buf der = KS_BUF_INIT;
	struct ks_span label;
	enum ks_status status;

	(void)ERR_set_mark();
	status = read_block(text, false, &label, &der, err);
	if (status == KS_OK)
		status = parse_public(ks_buf_span(&der), out, err);
	(void)ERR_pop_to_mark();
	ks_buf_release(&der);
	return status;
}

static enum ks_status
take_secret(const PKCS8_PRIV_KEY_INFO *info, struct ks_secret_key *out,
	struct ks_error *err)
{
	const ASN1_OBJECT *object = NULL;
	const X509_ALGOR *algorithm = NULL;
	const unsigned char *bytes = NULL;
	int kind = V_ASN1_UNDEF;
	int len = 0;

	if (PKCS8_pkey_get0(&object, &bytes, &len, &algorithm, info) != 1)
		return ks_fail(err, KS_INVALID, "malformed private key");
	if (OBJ_obj2nid(object) != NID_ED25519)
		return fail_algorithm("private", object, err);
	X509_ALGOR_get0(NULL, &kind, NULL, algorithm);
	if (kind != V_ASN1_UNDEF || len != SEED_PREFIX_LEN + KS_ED25519_KEY ||
		memcmp(bytes, seed_prefix, SEED_PREFIX_LEN) != 0)
		return ks_fail(err, KS_INVALID,
			"malformed Ed25519 private key (RFC 8410 section 7)");
	return from_seed(bytes + SEED_PREFIX_LEN, out, err);
}

static enum ks_status
parse_secret(struct ks_span der, struct ks_secret_key *out,
	struct ks_error *err)
{
	const unsigned char *at = der.data;
	PKCS8_PRIV_KEY_INFO *info =
		d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)der.len);
	enum ks_status status;

	if (info == NULL || at != der.data + der.len)
		status = ks_fail(err, KS_INVALID,
			"malformed private key: not PKCS#8 version 1 "
			"(RFC 5208)");
	else
		status = take_secret(info, out, err);
	PKCS8_PRIV_KEY_INFO_free(info);		/* wipes it */
	return status;
}

/* Whether an INTEGER is there and within 1 to `max`. */
static bool
within(const ASN1_INTEGER *integer, int64_t max)
{
	int64_t value = 0;

	return integer != NULL &&
		ASN1_INTEGER_get_int64(&value, integer) == 1 && value >= 1 &&
		value <= max;
}

static bool
pbkdf2_is_bounded(const ASN1_TYPE *parameter)
{
	PBKDF2PARAM *param = ASN1_TYPE_unpack_sequence(
		ASN1_ITEM_rptr(PBKDF2PARAM), parameter);
	bool ok = param != NULL && within(param->iter, ITERATIONS_MAX);

	PBKDF2PARAM_free(param);
	return ok;
}

/* OpenSSL bounds the memory that scrypt takes, not the time. */
static bool
scrypt_is_bounded(const ASN1_TYPE *parameter)
{
	SCRYPT_PARAMS *param = ASN1_TYPE_unpack_sequence(
		ASN1_ITEM_rptr(SCRYPT_PARAMS), parameter);
	bool ok = param != NULL &&
		within(param->costParameter, SCRYPT_COST_MAX) &&
		within(param->blockSize, SCRYPT_PARALLEL_MAX) &&
		within(param->parallelizationParameter, SCRYPT_PARALLEL_MAX);

	SCRYPT_PARAMS_free(param);
	return ok;
}

/* Whether the encryption is PBES2 (RFC 8018), with work that ends soon. */
static enum ks_status
check_encryption(const X509_SIG *sig, struct ks_error *err)
{
	const X509_ALGOR *outer = NULL;
	PBE2PARAM *param = NULL;
	bool bounded = false;
	int function = NID_undef;

	X509_SIG_get0(sig, &outer, NULL);
	if (OBJ_obj2nid(outer->algorithm) == NID_pbes2)
		param = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM),
			outer->parameter);
	if (param == NULL)
		return ks_fail(err, KS_INVALID, "private key is encrypted by "
			"another scheme than PBES2; \"openssl pkcs8 -topk8 "
			"-v2 aes256\" converts it");
	function = OBJ_obj2nid(param->keyfunc->algorithm);
	if (function == NID_id_pbkdf2)
		bounded = pbkdf2_is_bounded(param->keyfunc->parameter);
	else if (function == NID_id_scrypt)
		bounded = scrypt_is_bounded(param->keyfunc->parameter);
	PBE2PARAM_free(param);
	if (!bounded)
		return ks_fail(err, KS_INVALID, "encrypted private key asks "
			"for an unknown key derivation, or too much of it");
	return KS_OK;
}

/* With the passphrase given as bytes, OpenSSL has no occasion to ask for it on
 * the terminal. */
static enum ks_status
open_encrypted(const X509_SIG *sig, struct ks_span passphrase,
	struct ks_secret_key *out, struct ks_error *err)
{
	PKCS8_PRIV_KEY_INFO *info;
	enum ks_status status = check_encryption(sig, err);

	if (status != KS_OK)
		return status;
	if (passphrase.len == 0)
		return ks_fail(err, KS_UNTRUSTED,
			"private key is encrypted, and no passphrase is given");
	if (passphrase.len > PASSPHRASE_MAX)
		return ks_fail(err, KS_UNTRUSTED, "passphrase is too long");
	info = PKCS8_decrypt_ex(sig, (const char *)passphrase.data,
		(int)passphrase.len, ks_digest_library(), NULL);
	if (info == NULL)
		return ks_fail(err, KS_UNTRUSTED,
			"the passphrase does not open the private key");
	status = take_secret(info, out, err);
	PKCS8_PRIV_KEY_INFO_free(info);
	return status;
}

static enum ks_status
parse_encrypted(struct ks_span der, struct ks_span passphrase,
	struct ks_secret_key *out, struct ks_error *err)
{
	const unsigned char *at = der.data;
	X509_SIG *sig = d2i_X509_SIG(NULL, &at, (long)der.len);
	enum ks_status status;

	if (sig == NULL || at != der.data + der.len)
		status = ks_fail(err, KS_INVALID,
			"malformed encrypted private key (RFC 5208)");
	else
		status = open_encrypted(sig, passphrase, out, err);
	X509_SIG_free(sig);
	return status;
}

enum ks_status
ks_pem_read_secret(struct ks_span text, struct ks_span passphrase,
	struct ks_secret_key *out, struct ks_error *err)
{
	struct ks_buf der = KS_BUF_INIT;
	struct ks_span label;
	enum ks_status status;

	(void)ERR_set_mark();
	status = read_block(text, true, &label, &der, err);
	if (status == KS_OK && ks_span_is(label, label_encrypted))
		status = parse_encrypted(ks_buf_span(&der), passphrase, out,
			err);
	else if (status == KS_OK)
		status = parse_secret(ks_buf_span(&der), out, err);
	(void)ERR_pop_to_mark();
	ks_buf_wipe(&der);
	return status;
}

/* ---- Writing PEM ---- */

/* Encrypt the DER of a private key; an X509_SIG to be freed, or NULL. */
static X509_SIG *
encrypt(struct ks_span der, struct ks_span passphrase)
{
	OSSL_LIB_CTX *library = ks_digest_library();
	const unsigned char *at = der.data;
	uint8_t salt[SALT_LEN];
	PKCS8_PRIV_KEY_INFO *info;
	EVP_CIPHER *cipher;
	X509_SIG *sig = NULL;

	info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)der.len);
	cipher = EVP_CIPHER_fetch(library, "AES-256-CBC", NULL);
	if (info != NULL && cipher != NULL &&
		RAND_bytes_ex(library, salt, sizeof(salt), 0) == 1)
		sig = PKCS8_encrypt_ex(-1, cipher,
			(const char *)passphrase.data, (int)passphrase.len,
			salt, sizeof(salt), ITERATIONS, info, library, NULL);
	EVP_CIPHER_free(cipher);
	PKCS8_PRIV_KEY_INFO_free(info);
	return sig;
}

static enum ks_status
write_encrypted(struct ks_span der, struct ks_span passphrase,
	struct ks_buf *out, struct ks_error *err)
{
	X509_SIG *sig = encrypt(der, passphrase);
	unsigned char *bytes = NULL;
	int len = sig == NULL ? -1 : i2d_X509_SIG(sig, &bytes);

	X509_SIG_free(sig);
	if (len < 0)
		return fail_openssl("encrypt a private key", err);
	ks_armor_write(label_encrypted, ks_span(bytes, (size_t)len),
		KS_ARMOR_PEM, out);
	OPENSSL_free(bytes);
	return ks_buf_check(out, err);
}

enum ks_status
ks_pem_write_secret(const struct ks_secret_key *key, struct ks_span passphrase,
	struct ks_buf *out, struct ks_error *err)
{
	uint8_t der[SECRET_PREFIX_LEN + KS_ED25519_KEY];
	enum ks_status status;

	if (passphrase.len > PASSPHRASE_MAX)
		return ks_fail(err, KS_INVALID,
			"passphrase of more than %d bytes", PASSPHRASE_MAX);
	memcpy(der, secret_prefix, SECRET_PREFIX_LEN);
	memcpy(der + SECRET_PREFIX_LEN, key->seed, KS_ED25519_KEY);
	(void)ERR_set_mark();
	if (passphrase.len > 0) {
		status = write_encrypted(ks_span(der, sizeof(der)), passphrase,
			out, err);
	} else {
		ks_armor_write(label_secret, ks_span(der, sizeof(der)),
			KS_ARMOR_PEM, out);
		status = ks_buf_check(out, err);
	}
	(void)ERR_pop_to_mark();
	ks_wipe(der, sizeof(der));
	return status;
}

enum ks_status
ks_pem_write_public(const struct ks_public_key *key, struct ks_buf *out,
	struct ks_error *err)
{
	uint8_t der[PUBLIC_PREFIX_LEN + KS_ED25519_KEY];

	memcpy(der, public_prefix, PUBLIC_PREFIX_LEN);
	memcpy(der + PUBLIC_PREFIX_LEN, key->bytes, KS_ED25519_KEY);
	ks_armor_write(label_public, ks_span(der, sizeof(der)), KS_ARMOR_PEM,
		out);
	return ks_buf_check(out, err);
}
