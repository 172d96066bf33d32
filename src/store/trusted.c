#include "store/trusted.h"

#include <stdio.h>

#include "base/base64.h"
#include "format/entry.h"
#include "format/keyfile.h"
#include "format/proof.h"

/* ---- making it ------------------------------------------------------- */

static void
add_accepted(struct ks_trust *trust, struct ks_state *state,
	struct ks_span origin, const struct ks_watch *watch)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_error why = KS_ERROR_INIT;
	char shown[300];
	bool found = false;
	enum ks_status status = ks_state_accepted(state, origin, &note, &found,
		&why);

	if (status == KS_OK && found)
		status = ks_trust_add_seen(trust, ks_buf_span(&note), true,
			&why);
	if (status != KS_OK)
		ks_watch_note(watch, "what was accepted of %s before cannot "
			"be read, and is not compared: %s", ks_printable(shown,
			sizeof(shown), origin), why.message);
	ks_buf_release(&note);
}

static enum ks_status
add_keys(struct ks_trust *trust, struct ks_state *state,
	const struct ks_trust_options *options, struct ks_span origin,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_span given = ks_span_text(options->origin == NULL ? "" :
		options->origin);
	struct ks_vkey vkey;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < options->key_count; i++) {
		status = ks_public_key_read(options->keys[i], given, &vkey,
			err);
		if (status == KS_OK)
			status = ks_trust_add_key(trust, &vkey, err);
		if (status == KS_OK && !ks_span_is(origin, vkey.name))
			add_accepted(trust, state, ks_span_text(vkey.name),
				watch);
	}
	if (status == KS_OK)
		return KS_OK;
	return options->key_count == 1 ? ks_context(err, "the key given") :
		ks_context(err, "key %zu of those given", i);
}

static enum ks_status
add_pin(struct ks_trust *trust, struct ks_state *state, struct ks_span origin,
	struct ks_error *err)
{
	struct ks_buf policy = KS_BUF_INIT;
	char shown[300];
	bool found = false;
	enum ks_status status = ks_state_pin_read(state, origin, &policy,
		&found, err);

	if (status == KS_OK && found)
		status = ks_trust_set_policy(trust, ks_buf_span(&policy), err);
	if (status != KS_OK)
		status = ks_context(err, "the pin of %s", ks_printable(shown,
			sizeof(shown), origin));
	ks_buf_release(&policy);
	return status;
}

static enum ks_status
fill(struct ks_trust *trust, struct ks_state *state,
	const struct ks_trust_options *options, struct ks_span origin,
	const struct ks_watch *watch, struct ks_error *err)
{
	enum ks_status status = add_keys(trust, state, options, origin, watch,
		err);

	if (status == KS_OK && options->policy.len > 0)
		status = ks_trust_set_policy(trust, options->policy, err) ==
			KS_OK ? KS_OK : ks_context(err, "the policy");
	if (status == KS_OK && !ks_trust_is_asked(trust) && origin.len > 0)
		status = add_pin(trust, state, origin, err);
	if (status != KS_OK || !ks_trust_is_asked(trust))
		return status;
	if (origin.len > 0)
		add_accepted(trust, state, origin, watch);
	if (options->revoked.len > 0 &&
		ks_trust_revoke(trust, options->revoked, err) != KS_OK)
		return ks_context(err, "the last note of a revoked key");
	if (options->since.len > 0 && ks_trust_add_seen(trust, options->since,
		false, err) != KS_OK)
		return ks_context(err, "the note seen before");
	return KS_OK;
}

/* What is compared needs a key to be compared by. */
static enum ks_status
check_asked(const struct ks_trust *trust,
	const struct ks_trust_options *options, struct ks_error *err)
{
	if (ks_trust_is_asked(trust) || (options->since.len == 0 &&
		options->revoked.len == 0 && !options->pin))
		return KS_OK;
	return ks_fail(err, KS_USAGE, "no key is trusted: name one (--key or "
		"--policy)");
}

enum ks_status
ks_trusted_new(const struct ks_trust_options *options, struct ks_span origin,
	const struct ks_watch *watch, struct ks_trust **trust,
	struct ks_state **state, struct ks_error *err)
{
	enum ks_status status;

	*state = NULL;
	status = ks_trust_new(trust, err);
	if (status != KS_OK || options == NULL)
		return status;
	status = ks_state_new(state, options->state_directory, err);
	if (status == KS_OK)
		status = fill(*trust, *state, options, origin, watch, err);
	if (status == KS_OK)
		status = check_asked(*trust, options, err);
	/* Nothing is put in: what cannot be used as trust is a mistake of the
	 * call. */
	if (status == KS_INVALID) {
		status = KS_USAGE;
		if (err != NULL)
			err->status = KS_USAGE;
	}
	if (status != KS_OK) {
		ks_trust_free(*trust);
		ks_state_free(*state);
		*trust = NULL;
		*state = NULL;
	}
	return status;
}

/* ---- what came of it ------------------------------------------------- */

void
ks_trusted_describe(const struct ks_trust *trust,
	const struct ks_trust_result *result, uint64_t log_size,
	struct ks_signature_result *out)
{
	memset(out, 0, sizeof(*out));
	out->asked = ks_trust_is_asked(trust);
	out->verdict = ks_trust_verdict_name(result->verdict);
	out->status = ks_trust_verdict_status(result->verdict);
	(void)snprintf(out->message, sizeof(out->message), "%s",
		result->message);
	if (!result->has_good)
		return;
	out->size = result->size;
	out->tail = log_size > result->size ? log_size - result->size : 0;
	(void)snprintf(out->signer, sizeof(out->signer), "%s+%08lx",
		result->key.name, (unsigned long)result->key.id);
	out->witnesses = result->witnesses;
	out->time = result->time > INT64_MAX ? INT64_MAX :
		(int64_t)result->time;
	out->first = result->first > INT64_MAX ? INT64_MAX :
		(int64_t)result->first;
}

/* A pin trusts what was trusted: not a key without the witnesses that the
 * policy asked for. */
static enum ks_status
pin(struct ks_state *state, const struct ks_trust_options *options,
	const struct ks_vkey *key, struct ks_error *err)
{
	struct ks_buf policy = KS_BUF_INIT;
	enum ks_status status;

	/* The pin itself was what accepted it. */
	if (options->policy.len == 0 && options->key_count == 0)
		return KS_OK;
	if (options->policy.len > 0) {
		ks_buf_append(&policy, options->policy);
	} else {
		ks_buf_text(&policy, "log ");
		ks_vkey_print(key, &policy);
		ks_buf_text(&policy, "\nquorum none\n");
	}
	status = ks_buf_check(&policy, err);
	if (status == KS_OK)
		status = ks_state_pin_write(state, ks_span_text(key->name),
			ks_buf_span(&policy), err);
	ks_buf_release(&policy);
	return status;
}

enum ks_status
ks_trusted_accept(struct ks_state *state,
	const struct ks_trust_options *options,
	const struct ks_trust_result *result, struct ks_span note,
	const struct ks_watch *watch, struct ks_signature_result *out,
	struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = KS_OK;

	if (result->verdict != KS_TRUST_SIGNED)
		return KS_OK;
	if (options->pin)
		status = pin(state, options, &result->key, err);
	if (status != KS_OK)
		return status;
	out->pinned = options->pin;
	status = ks_state_accept(state, ks_span_text(result->key.name),
		result->size, note, &why);
	out->remembered = status == KS_OK;
	if (status != KS_OK)
		ks_watch_note(watch, "what was accepted is not remembered: %s",
			why.message);
	return KS_OK;
}

/* ---- a fork ---------------------------------------------------------- */

static uint64_t
size_of_note(struct ks_span bytes)
{
	struct ks_checkpoint checkpoint;

	return ks_checkpoint_of_note(bytes, &checkpoint, NULL) == KS_OK ?
		checkpoint.size : 0;
}

static enum ks_status
add_leaf(void *arg, uint64_t index, struct ks_span line, struct ks_error *err)
{
	struct ks_id leaf;

	(void)index;
	ks_entry_leaf(line, &leaf);
	return ks_subtrees_append(arg, &leaf, err);
}

/* Append the proof, by the lines at hand, between two sizes of their log:
 * base64 lines; nothing where there is none. */
static void
append_proof(ks_trusted_lines_fn *lines, void *arg, uint64_t a, uint64_t b,
	struct ks_buf *out)
{
	struct ks_subtrees *subtrees = NULL;
	struct ks_proof proof = { .count = 0 };
	size_t i;
	enum ks_status status = ks_subtrees_new(&subtrees, NULL);

	if (status == KS_OK)
		status = lines(arg, add_leaf, subtrees, NULL);
	if (status == KS_OK)
		status = ks_proof_consistency(a < b ? a : b, a < b ? b : a,
			ks_subtrees_get, subtrees, &proof, NULL);
	for (i = 0; status == KS_OK && i < proof.count; i++) {
		ks_base64_encode(ks_span(proof.hashes[i].bytes, KS_ID_BYTES),
			out);
		ks_buf_byte(out, '\n');
	}
	ks_subtrees_free(subtrees);
}

void
ks_trusted_keep_fork(struct ks_state *state,
	const struct ks_trust_result *result, struct ks_span now,
	ks_trusted_lines_fn *lines, void *arg, const struct ks_watch *watch,
	struct ks_signature_result *out)
{
	struct ks_buf text = KS_BUF_INIT, path = KS_BUF_INIT;
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status;

	ks_buf_text(&text, "Two signed notes of one log, which cannot both be "
		"true (store-layout.md N6).\n\n== accepted before\n\n");
	ks_buf_append(&text, result->seen);
	ks_buf_text(&text, "\n== now\n\n");
	ks_buf_append(&text, now);
	ks_buf_text(&text, "\n== the consistency proof between their sizes, by "
		"the log at hand: it does not lead to both roots\n== (RFC "
		"9162 section 2.1.4.2)\n\n");
	if (lines != NULL)
		append_proof(lines, arg, size_of_note(result->seen),
			size_of_note(now), &text);
	status = ks_buf_check(&text, &why);
	if (status == KS_OK)
		status = ks_state_keep_fork(state,
			ks_span_text(result->key.name), result->size,
			&result->root, ks_buf_span(&text), &path, &why);
	if (status == KS_OK)
		(void)snprintf(out->evidence, sizeof(out->evidence), "%s",
			ks_buf_cstr(&path));
	else
		ks_watch_note(watch, "the evidence is not kept: %s",
			why.message);
	ks_buf_release(&text);
	ks_buf_release(&path);
}
