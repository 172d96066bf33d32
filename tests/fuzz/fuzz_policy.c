/*
 * A policy that is accepted judges soundly: with all keys verified its quorum
 * is met, more keys never meet it less, no key counts twice, and keys of
 * others count for nothing.
 */
#include <stdlib.h>

#include "format/policy.h"
#include "../lib/fuzz.h"

static bool
is_met(const struct ks_policy *policy, const struct ks_note_key *keys,
	size_t count)
{
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status = ks_policy_check_quorum(policy, keys, count,
		&err);

	require(status == KS_OK || (status == KS_UNTRUSTED &&
		err.status == status && err.message[0] != '\0'));
	return status == KS_OK;
}

static void
set_all(struct ks_note_key *keys, size_t count, bool verified)
{
	size_t i;

	for (i = 0; i < count; i++)
		keys[i].verified = verified;
}

/* One public key, one key of the policy. */
static void
check_keys(const struct ks_policy *policy, size_t count)
{
	size_t i, k;

	for (i = 0; i < count; i++) {
		const struct ks_vkey *key = ks_policy_key(policy, i);

		require(key->type == KS_SIGNATURE_COSIGNATURE ||
			ks_policy_has_log(policy, ks_span_text(key->name)));
		for (k = 0; k < i && count < 64; k++)
			require(!ks_public_key_equal(&key->key,
				&ks_policy_key(policy, k)->key));
	}
}

/* Let the keys verify one after the other, in an order that the input picks:
 * once met, a quorum stays met. */
static void
check_growth(const struct ks_policy *policy, struct ks_note_key *keys,
	size_t count, size_t start)
{
	bool met;
	size_t i;

	set_all(keys, count, false);
	met = is_met(policy, keys, count);
	for (i = 0; i < count && i < 64; i++) {
		bool now;

		keys[(start + i) % count].verified = true;
		now = is_met(policy, keys, count);
		require(now || !met);
		met = now;
	}
	set_all(keys, count, true);
	require(is_met(policy, keys, count));
}

/* The keys of others under the policy's names, all verified. */
static void
check_others(const struct ks_policy *policy, struct ks_note_key *keys,
	size_t count)
{
	struct ks_vkey *others = calloc(count + 1, sizeof(*others));
	bool met;
	size_t i;

	if (others == NULL)
		return;
	set_all(keys, count, false);
	met = is_met(policy, keys, count);
	for (i = 0; i < count; i++) {
		others[i] = *keys[i].vkey;
		others[i].type = others[i].type == KS_SIGNATURE_ED25519 ?
			KS_SIGNATURE_COSIGNATURE : KS_SIGNATURE_ED25519;
		keys[i].vkey = &others[i];
	}
	set_all(keys, count, true);
	require(is_met(policy, keys, count) == met);
	for (i = 0; i < count; i++)
		require(ks_policy_check_log(policy,
			ks_span_text(others[i].name), keys, count, NULL) ==
			KS_UNTRUSTED);
	free(others);
}

static void
check_policy(const struct ks_policy *policy, size_t start)
{
	size_t count = ks_policy_key_count(policy);
	struct ks_note_key *keys = calloc(count + 1, sizeof(*keys));
	size_t i;

	require(count <= KS_POLICY_LOGS + KS_POLICY_NAMES);
	if (keys == NULL)
		return;
	check_keys(policy, count);
	ks_policy_keys(policy, keys);
	check_growth(policy, keys, count, start);
	for (i = 0; i < count; i++) {
		bool is_log = keys[i].vkey->type == KS_SIGNATURE_ED25519;

		require(!is_log || ks_policy_judge(policy,
			ks_span_text(keys[i].vkey->name), keys, count,
			NULL) == KS_OK);
	}
	if (count <= 64)
		check_others(policy, keys, count);
	free(keys);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ks_policy *policy;
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status = ks_policy_parse(ks_span(data, size), &policy,
		&err);

	require((status == KS_OK) == (policy != NULL));
	if (status == KS_OK)
		check_policy(policy, size);
	else
		require((status == KS_INVALID || status == KS_UNSUPPORTED) &&
			err.status == status && err.message[0] != '\0');
	ks_policy_free(policy);
	return 0;
}
