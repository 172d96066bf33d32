/*
 * SHA-256, SHA-512 and SHA-1 (FIPS 180-4), by OpenSSL.
 */
#ifndef KS_FORMAT_DIGEST_H
#define KS_FORMAT_DIGEST_H

#include "base/error.h"
#include "format/id.h"

/* The digest of the concatenation of `a` and `b` (either may be empty). Does
 * not fail: an OpenSSL without SHA-256 ends the process by abort(). Safe from
 * any thread. */
void ks_sha256(struct ks_span bytes, struct ks_id *out);
void ks_sha256_pair(struct ks_span a, struct ks_span b, struct ks_id *out);

/* The SHA-512 of `bytes`, which is what an SSH signature covers; as above. */
#define KS_SHA512_SIZE 64
void ks_sha512(struct ks_span bytes, uint8_t out[KS_SHA512_SIZE]);

/* A running digest, for bytes that arrive in pieces. */
struct ks_digest;
enum ks_status ks_digest_new(struct ks_digest **out, struct ks_error *err)
	KS_CHECKED;
void ks_digest_free(struct ks_digest *digest);
void ks_digest_update(struct ks_digest *digest, struct ks_span bytes);
/* The digest of everything so far; the object is then ready for a new one. */
void ks_digest_final(struct ks_digest *digest, struct ks_id *out);

/* A running SHA-1, for git's object ids and the checksum of a pack: transport,
 * outside trust. As above, but it writes 20 bytes. */
#define KS_SHA1_SIZE 20
struct ks_sha1;
enum ks_status ks_sha1_new(struct ks_sha1 **out, struct ks_error *err)
	KS_CHECKED;
void ks_sha1_free(struct ks_sha1 *sha1);
void ks_sha1_update(struct ks_sha1 *sha1, struct ks_span bytes);
void ks_sha1_final(struct ks_sha1 *sha1, uint8_t out[KS_SHA1_SIZE]);

/* OpenSSL's library context (an OSSL_LIB_CTX) that reads no configuration
 * file, for the one other module that uses OpenSSL. Never freed. */
struct ossl_lib_ctx_st;
struct ossl_lib_ctx_st *ks_digest_library(void);

#endif
