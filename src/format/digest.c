#include "format/digest.h"

#include <pthread.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

struct ks_digest {
	EVP_MD_CTX *ctx;
};

/* Fetched once: an implicit fetch for every small message would cost more
 * than hashing it. From a library context of our own, which reads no
 * configuration file: none should decide what SHA-256 is, and reading it
 * takes a millisecond. */
static OSSL_LIB_CTX *library;
static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha256;
static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha512_method;
static pthread_once_t sha512_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha1_method;
static pthread_once_t sha1_once = PTHREAD_ONCE_INIT;

static void
make_library(void)
{
	library = OSSL_LIB_CTX_new();
	if (library == NULL)
		abort();
}

OSSL_LIB_CTX *
ks_digest_library(void)
{
	(void)pthread_once(&library_once, make_library);
	return library;
}

static EVP_MD *
fetch(const char *name)
{
	EVP_MD *method = EVP_MD_fetch(ks_digest_library(), name, NULL);

	if (method == NULL)
		abort();
	return method;
}

static void
fetch_sha256(void)
{
	sha256 = fetch("SHA256");
}

/* One context per thread, reused: creating one allocates three times. */
static pthread_key_t ctx_key;
static pthread_once_t ctx_once = PTHREAD_ONCE_INIT;

static void
free_ctx(void *ctx)
{
	EVP_MD_CTX_free(ctx);
}

static void
make_key(void)
{
	if (pthread_key_create(&ctx_key, free_ctx) != 0)
		abort();
}

static EVP_MD_CTX *
thread_ctx(void)
{
	EVP_MD_CTX *ctx;

	(void)pthread_once(&sha256_once, fetch_sha256);
	(void)pthread_once(&ctx_once, make_key);
	ctx = pthread_getspecific(ctx_key);
	if (ctx != NULL)
		return ctx;
	ctx = EVP_MD_CTX_new();
	if (ctx == NULL || pthread_setspecific(ctx_key, ctx) != 0)
		abort();
	return ctx;
}

void
ks_sha256_pair(struct ks_span a, struct ks_span b, struct ks_id *out)
{
	EVP_MD_CTX *ctx = thread_ctx();

	if (EVP_DigestInit_ex2(ctx, sha256, NULL) != 1 ||
		EVP_DigestUpdate(ctx, a.data, a.len) != 1 ||
		EVP_DigestUpdate(ctx, b.data, b.len) != 1 ||
		EVP_DigestFinal_ex(ctx, out->bytes, NULL) != 1)
		abort();
}

void
ks_sha256(struct ks_span bytes, struct ks_id *out)
{
	ks_sha256_pair(bytes, ks_span(NULL, 0), out);
}

static void
fetch_sha512(void)
{
	sha512_method = fetch("SHA512");
}

void
ks_sha512(struct ks_span bytes, uint8_t out[KS_SHA512_SIZE])
{
	EVP_MD_CTX *ctx = thread_ctx();

	(void)pthread_once(&sha512_once, fetch_sha512);
	if (EVP_DigestInit_ex2(ctx, sha512_method, NULL) != 1 ||
		EVP_DigestUpdate(ctx, bytes.data, bytes.len) != 1 ||
		EVP_DigestFinal_ex(ctx, out, NULL) != 1)
		abort();
}

enum ks_status
ks_digest_new(struct ks_digest **out, struct ks_error *err)
{
	struct ks_digest *digest = calloc(1, sizeof(*digest));

	*out = NULL;
	(void)pthread_once(&sha256_once, fetch_sha256);
	if (digest == NULL)
		return ks_fail_nomem(err);
	digest->ctx = EVP_MD_CTX_new();
	if (digest->ctx == NULL ||
		EVP_DigestInit_ex2(digest->ctx, sha256, NULL) != 1) {
		ks_digest_free(digest);
		return ks_fail_nomem(err);
	}
	*out = digest;
	return KS_OK;
}

void
ks_digest_free(struct ks_digest *digest)
{
	if (digest == NULL)
		return;
	EVP_MD_CTX_free(digest->ctx);
	free(digest);
}

void
ks_digest_update(struct ks_digest *digest, struct ks_span bytes)
{
	if (EVP_DigestUpdate(digest->ctx, bytes.data, bytes.len) != 1)
		abort();
}

void
ks_digest_final(struct ks_digest *digest, struct ks_id *out)
{
	if (EVP_DigestFinal_ex(digest->ctx, out->bytes, NULL) != 1 ||
		EVP_DigestInit_ex2(digest->ctx, sha256, NULL) != 1)
		abort();
}

struct ks_sha1 {
	EVP_MD_CTX *ctx;
};

static void
fetch_sha1(void)
{
	sha1_method = fetch("SHA1");
}

enum ks_status
ks_sha1_new(struct ks_sha1 **out, struct ks_error *err)
{
	struct ks_sha1 *sha1 = calloc(1, sizeof(*sha1));

	*out = NULL;
	(void)pthread_once(&sha1_once, fetch_sha1);
	if (sha1 == NULL)
		return ks_fail_nomem(err);
	sha1->ctx = EVP_MD_CTX_new();
	if (sha1->ctx == NULL ||
		EVP_DigestInit_ex2(sha1->ctx, sha1_method, NULL) != 1) {
		ks_sha1_free(sha1);
		return ks_fail_nomem(err);
	}
	*out = sha1;
	return KS_OK;
}

void
ks_sha1_free(struct ks_sha1 *sha1)
{
	if (sha1 == NULL)
		return;
	EVP_MD_CTX_free(sha1->ctx);
	free(sha1);
}

void
ks_sha1_update(struct ks_sha1 *sha1, struct ks_span bytes)
{
	if (EVP_DigestUpdate(sha1->ctx, bytes.data, bytes.len) != 1)
		abort();
}

void
ks_sha1_final(struct ks_sha1 *sha1, uint8_t out[KS_SHA1_SIZE])
{
	if (EVP_DigestFinal_ex(sha1->ctx, out, NULL) != 1 ||
		EVP_DigestInit_ex2(sha1->ctx, sha1_method, NULL) != 1)
		abort();
}
