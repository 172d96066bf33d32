/*
 * What is inside a signer, for the parts of the library that sign
 * (store-layout.md N1, N4). Its life is in kistore.h, "Keys".
 */
#ifndef KS_STORE_KEYS_H
#define KS_STORE_KEYS_H

#include "format/keyfile.h"
#include "kistore.h"

/* The private key and its name; the signer's, and wiped with it. */
const struct ks_named_key *ks_signer_key(const struct ks_signer *signer);

/* Its public half as the key of a log (type 01); the signer's. */
const struct ks_vkey *ks_signer_vkey(const struct ks_signer *signer);

/* KS_USAGE with the entry where the log of a store has said that this key signs
 * it, or may attest, under whatever name: what cosigns does nothing else
 * (M3). */
enum ks_status ks_key_check_unused(struct ks_store *store,
	const struct ks_vkey *vkey, struct ks_error *err) KS_CHECKED;

#endif
