#include "format/trust.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/digest.h"

/* A checkpoint that somebody kept: what a log was once. */
struct kept {
	struct ks_buf note;
	struct ks_buf origin;
	uint64_t size;
	struct ks_id root;
	struct ks_vkey signer;	/* of a revocation: the key that is revoked */
	bool authentic;
};

struct ks_trust {
	struct ks_vkey keys[KS_TRUST_KEYS];
	size_t key_count;
	struct ks_policy *policy;	/* NULL = none */
	struct kept seen[KS_TRUST_KEYS];
	size_t seen_count;
	struct kept revoked[KS_TRUST_KEYS];
	size_t revoked_count;
};

enum ks_status
ks_trust_new(struct ks_trust **out, struct ks_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? ks_fail_nomem(err) : KS_OK;
}

static void
kept_release(struct kept *kept)
{
	ks_buf_release(&kept->note);
	ks_buf_release(&kept->origin);
}

void
ks_trust_free(struct ks_trust *trust)
{
	size_t i;

	if (trust == NULL)
		return;
	for (i = 0; i < trust->seen_count; i++)
		kept_release(&trust->seen[i]);
	for (i = 0; i < trust->revoked_count; i++)
		kept_release(&trust->revoked[i]);
	ks_policy_free(trust->policy);
	free(trust);
}

/* ---- the keys that count now ----------------------------------------- */

/* The keys of logs and witnesses to open notes with: those trusted, those of
 * the policy, and successors as they are met. */
struct ring {
	struct ks_vkey *keys;
	struct ks_note_key *open;	/* over `keys` */
	size_t count, room;
};

static void
ring_release(struct ring *ring)
{
	free(ring->keys);
	free(ring->open);
}

static bool
ring_has(const struct ring *ring, const struct ks_vkey *vkey)
{
	size_t i;

	for (i = 0; i < ring->count; i++)
		if (ks_vkey_equal(&ring->keys[i], vkey))
			return true;
	return false;
}

static enum ks_status
ring_grow(struct ring *ring, struct ks_error *err)
{
	size_t room = ring->room;
	struct ks_vkey *keys = ks_grow(ring->keys, ring->count, &room,
		sizeof(*keys), err);
	struct ks_note_key *open;

	if (keys == NULL)
		return KS_NOMEM;
	ring->keys = keys;
	open = ks_grow(ring->open, ring->count, &ring->room, sizeof(*open),
		err);
	if (open == NULL)
		return KS_NOMEM;
	ring->open = open;
	return KS_OK;
}

static enum ks_status
ring_add(struct ring *ring, const struct ks_vkey *vkey, struct ks_error *err)
{
	enum ks_status status;
	size_t i;

	if (ring_has(ring, vkey))
		return KS_OK;
	status = ring_grow(ring, err);
	if (status != KS_OK)
		return status;
	ring->keys[ring->count++] = *vkey;
	for (i = 0; i < ring->count; i++)
		ring->open[i] = (struct ks_note_key){ .vkey = &ring->keys[i] };
	return KS_OK;
}

static enum ks_status
ring_fill(struct ring *ring, const struct ks_trust *trust,
	struct ks_error *err)
{
	size_t policy = trust->policy == NULL ? 0 :
		ks_policy_key_count(trust->policy);
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < trust->key_count; i++)
		status = ring_add(ring, &trust->keys[i], err);
	for (i = 0; status == KS_OK && i < policy; i++)
		status = ring_add(ring, ks_policy_key(trust->policy, i), err);
	return status;
}

/* The key that signed as the log's, after ks_note_open(): one of type 01, by
 * preference of the name `origin`; NULL when only witnesses signed. */
static const struct ks_vkey *
ring_signer(const struct ring *ring, struct ks_span origin)
{
	const struct ks_vkey *other = NULL;
	size_t i;

	for (i = 0; i < ring->count; i++) {
		if (!ring->open[i].verified ||
			ring->keys[i].type != KS_SIGNATURE_ED25519)
			continue;
		if (ks_span_is(origin, ring->keys[i].name))
			return &ring->keys[i];
		other = &ring->keys[i];
	}
	return other;
}

/* ---- what is trusted ------------------------------------------------- */

enum ks_status
ks_trust_add_key(struct ks_trust *trust, const struct ks_vkey *vkey,
	struct ks_error *err)
{
	size_t i;

	if (vkey->type != KS_SIGNATURE_ED25519)
		return ks_fail(err, KS_INVALID, "this is the key of a "
			"cosigner: a log's is asked for (type 01, N1)");
	for (i = 0; i < trust->key_count; i++)
		if (ks_vkey_equal(&trust->keys[i], vkey))
			return KS_OK;
	if (trust->key_count == KS_TRUST_KEYS)
		return ks_fail(err, KS_INVALID, "more than %d keys",
			KS_TRUST_KEYS);
	trust->keys[trust->key_count++] = *vkey;
	return KS_OK;
}

enum ks_status
ks_trust_set_policy(struct ks_trust *trust, struct ks_span text,
	struct ks_error *err)
{
	if (trust->policy != NULL)
		return ks_fail(err, KS_USAGE, "there is a policy already");
	return ks_policy_parse(text, &trust->policy, err);
}

bool
ks_trust_is_asked(const struct ks_trust *trust)
{
	return trust->key_count > 0 || trust->policy != NULL;
}

bool
ks_trust_knows(const struct ks_trust *trust, struct ks_span origin)
{
	size_t i;

	for (i = 0; i < trust->key_count; i++)
		if (ks_span_is(origin, trust->keys[i].name))
			return true;
	return trust->policy != NULL && ks_policy_has_log(trust->policy,
		origin);
}

/* Take a note apart and, with `signer`, find the trusted key that signed. */
static enum ks_status
keep(const struct ks_trust *trust, struct ks_span bytes, bool authentic,
	struct kept *out, struct ks_error *err)
{
	struct ring ring = { .count = 0 };
	struct ks_note note;
	struct ks_checkpoint checkpoint;
	const struct ks_vkey *signer = NULL;
	enum ks_status status = ks_note_parse(bytes, &note, err);

	memset(out, 0, sizeof(*out));
	if (status != KS_OK)
		return status;
	status = ks_checkpoint_parse(note.text, &checkpoint, err);
	if (status == KS_OK && !authentic) {
		status = ring_fill(&ring, trust, err);
		if (status == KS_OK)
			status = ks_note_open(&note, ring.open, ring.count,
				err);
		if (status == KS_OK)
			signer = ring_signer(&ring, checkpoint.origin);
		if (status == KS_OK && (signer == NULL ||
			!ks_span_is(checkpoint.origin, signer->name)))
			status = ks_fail(err, KS_UNTRUSTED, "no trusted key "
				"of this origin signed it (N5)");
	}
	if (status == KS_OK) {
		if (signer != NULL)
			out->signer = *signer;
		out->authentic = authentic;
		out->size = checkpoint.size;
		out->root = checkpoint.root;
		ks_buf_append(&out->note, bytes);
		ks_buf_append(&out->origin, checkpoint.origin);
		status = ks_buf_check(&out->note, err);
		if (status == KS_OK)
			status = ks_buf_check(&out->origin, err);
	}
	if (status != KS_OK)
		kept_release(out);
	ring_release(&ring);
	ks_note_release(&note);
	return status;
}

enum ks_status
ks_trust_add_seen(struct ks_trust *trust, struct ks_span note, bool authentic,
	struct ks_error *err)
{
	enum ks_status status;

	if (trust->seen_count == KS_TRUST_KEYS)
		return ks_fail(err, KS_INVALID, "more than %d notes",
			KS_TRUST_KEYS);
	status = keep(trust, note, authentic, &trust->seen[trust->seen_count],
		err);
	if (status == KS_OK)
		trust->seen_count++;
	return status;
}

enum ks_status
ks_trust_revoke(struct ks_trust *trust, struct ks_span note,
	struct ks_error *err)
{
	enum ks_status status;

	if (trust->revoked_count == KS_TRUST_KEYS)
		return ks_fail(err, KS_INVALID, "more than %d revoked keys",
			KS_TRUST_KEYS);
	status = keep(trust, note, false,
		&trust->revoked[trust->revoked_count], err);
	if (status == KS_OK)
		trust->revoked_count++;
	return status;
}

size_t
ks_trust_sizes(const struct ks_trust *trust,
	uint64_t sizes[2 * KS_TRUST_KEYS])
{
	size_t i, count = 0;

	for (i = 0; i < trust->seen_count; i++)
		sizes[count++] = trust->seen[i].size;
	for (i = 0; i < trust->revoked_count; i++)
		sizes[count++] = trust->revoked[i].size;
	return count;
}

/* ---- verdicts -------------------------------------------------------- */

const char *
ks_trust_verdict_name(enum ks_trust_verdict verdict)
{
	switch (verdict) {
	case KS_TRUST_NOT_ASKED:
		return "not asked";
	case KS_TRUST_SIGNED:
		return "signed";
	case KS_TRUST_UNSIGNED:
		return "unsigned";
	case KS_TRUST_UNTRUSTED_KEY:
		return "untrusted key";
	case KS_TRUST_REVOKED_KEY:
		return "revoked key";
	case KS_TRUST_WRONG_ORIGIN:
		return "wrong origin";
	case KS_TRUST_FORGED:
		return "forged";
	case KS_TRUST_MISMATCH:
		return "mismatch";
	case KS_TRUST_ROLLBACK:
		return "rollback";
	case KS_TRUST_FORK:
		return "fork";
	}
	return "";
}

enum ks_status
ks_trust_verdict_status(enum ks_trust_verdict verdict)
{
	switch (verdict) {
	case KS_TRUST_NOT_ASKED:
	case KS_TRUST_SIGNED:
		return KS_OK;
	case KS_TRUST_UNSIGNED:
	case KS_TRUST_UNTRUSTED_KEY:
	case KS_TRUST_REVOKED_KEY:
		return KS_UNTRUSTED;
	case KS_TRUST_WRONG_ORIGIN:
	case KS_TRUST_FORGED:
	case KS_TRUST_MISMATCH:
	case KS_TRUST_ROLLBACK:
	case KS_TRUST_FORK:
		return KS_CORRUPT;
	}
	return KS_CORRUPT;
}

/* ---- judging --------------------------------------------------------- */

struct judging {
	const struct ks_trust *trust;
	const struct ks_trust_subject *subject;
	struct ks_trust_result *result;
	struct ring ring;
	bool has_next;		/* a successor is announced under a signature
				 * that counts: */
	struct ks_id next;
};

static void say(struct judging *judging, enum ks_trust_verdict verdict,
	const char *format, ...) KS_PRINTF(3, 4);

static void
say(struct judging *judging, enum ks_trust_verdict verdict,
	const char *format, ...)
{
	va_list args;

	judging->result->verdict = verdict;
	va_start(args, format);
	(void)vsnprintf(judging->result->message,
		sizeof(judging->result->message), format, args);
	va_end(args);
}

/* The key that the log names within its first `size` entries; NULL = none. */
static const struct ks_log_key *
key_within(const struct ks_trust_subject *subject, uint64_t size)
{
	size_t low = 0, high = subject->key_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (subject->keys[middle].index < size)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? NULL : &subject->keys[low - 1];
}

/* Whether `next`, which may be no announcement, is of this key. */
static bool
announces(const struct ks_id *next, const struct ks_vkey *vkey)
{
	struct ks_id digest;

	return next != NULL && ks_vkey_digest(vkey, &digest, NULL) == KS_OK &&
		ks_id_equal(next, &digest);
}

/* N9: what the key announced last inside what it signed. */
static void
take_announcement(struct judging *judging, uint64_t size)
{
	const struct ks_log_key *key = key_within(judging->subject, size);

	judging->has_next = key != NULL && key->has_next;
	if (judging->has_next)
		judging->next = key->next;
}

/* Whether the log, within `size` entries, says that this key handed over to
 * the successor that it had announced, and was itself announced by none since:
 * whoever has stolen it could name it again. */
static bool
has_handed_over(const struct judging *judging, const struct ks_vkey *vkey,
	uint64_t size)
{
	const struct ks_trust_subject *subject = judging->subject;
	const struct ks_log_key *before = NULL;
	bool handed_over = false;
	size_t i;

	for (i = 0; i < subject->key_count && subject->keys[i].index < size;
		i++) {
		const struct ks_log_key *key = &subject->keys[i];
		bool announced = before != NULL && announces(
			before->has_next ? &before->next : NULL, &key->vkey);

		if (announced) {
			if (ks_vkey_equal(&before->vkey, vkey))
				handed_over = true;
			if (ks_vkey_equal(&key->vkey, vkey))
				handed_over = false;
		}
		if (before == NULL || announced ||
			ring_has(&judging->ring, &key->vkey))
			before = key;
	}
	return handed_over;
}

/* The revocation of a key, or NULL. */
static const struct kept *
revocation_of(const struct ks_trust *trust, const struct ks_vkey *vkey)
{
	size_t i;

	for (i = 0; i < trust->revoked_count; i++)
		if (ks_vkey_equal(&trust->revoked[i].signer, vkey))
			return &trust->revoked[i];
	return NULL;
}

static bool
root_of(const struct ks_trust_subject *subject, uint64_t size,
	struct ks_id *out)
{
	return subject->root != NULL && subject->root(subject->arg, size, out);
}

/* N10. */
static bool
check_revocation(struct judging *judging, const struct ks_vkey *signer,
	const struct ks_checkpoint *checkpoint)
{
	const struct kept *last = revocation_of(judging->trust, signer);
	struct ks_id root;
	bool known;

	if (last == NULL)
		return true;
	known = checkpoint->size == last->size;
	root = checkpoint->root;
	if (!known)
		known = root_of(judging->subject, last->size, &root);
	if (checkpoint->size > last->size)
		say(judging, KS_TRUST_REVOKED_KEY, "the key %s+%08lx is "
			"revoked: its notes count up to size %llu, and this "
			"one has %llu (N10)", signer->name,
			(unsigned long)signer->id,
			(unsigned long long)last->size,
			(unsigned long long)checkpoint->size);
	else if (!known || !ks_id_equal(&root, &last->root))
		say(judging, KS_TRUST_REVOKED_KEY, "the key %s+%08lx is "
			"revoked, and the log is not consistent with its last "
			"good note, of size %llu (N10)", signer->name,
			(unsigned long)signer->id,
			(unsigned long long)last->size);
	else
		return true;
	return false;
}

/* S3: the log itself says which key signs it, so that one that has handed
 * over signs no more. */
static bool
check_current(struct judging *judging, const struct ks_vkey *signer,
	uint64_t size)
{
	const struct ks_log_key *current = key_within(judging->subject, size);

	if (!judging->subject->has_keys)
		return true;
	if (current != NULL && ks_vkey_equal(&current->vkey, signer)) {
		if (!has_handed_over(judging, signer, size))
			return true;
		say(judging, KS_TRUST_REVOKED_KEY, "signed by %s+%08lx, which "
			"had handed over to its successor and was named again "
			"in entry %llu without an announcement (N9)",
			signer->name, (unsigned long)signer->id,
			(unsigned long long)current->index);
		return false;
	}
	if (current == NULL)
		say(judging, KS_TRUST_MISMATCH, "the log names no key of its "
			"own within the signed size %llu (S3)",
			(unsigned long long)size);
	else
		say(judging, KS_TRUST_REVOKED_KEY, "signed by %s+%08lx, but "
			"the log names %s+%08lx as its key since entry %llu "
			"(S3)", signer->name, (unsigned long)signer->id,
			current->vkey.name, (unsigned long)current->vkey.id,
			(unsigned long long)current->index);
	return false;
}

static bool
check_root(struct judging *judging, const struct ks_checkpoint *checkpoint)
{
	struct ks_id root;

	if (judging->subject->root == NULL)
		return true;
	if (!root_of(judging->subject, checkpoint->size, &root))
		say(judging, KS_TRUST_MISMATCH, "%llu entries are signed, and "
			"the log has fewer (S2)",
			(unsigned long long)checkpoint->size);
	else if (!ks_id_equal(&root, &checkpoint->root))
		say(judging, KS_TRUST_MISMATCH, "the first %llu entries of "
			"the log are not those that were signed (S1)",
			(unsigned long long)checkpoint->size);
	else
		return true;
	return false;
}

static bool
check_origin(struct judging *judging, const struct ks_vkey *signer,
	struct ks_span origin)
{
	char shown[300];

	if (!ks_span_is(origin, signer->name))
		say(judging, KS_TRUST_WRONG_ORIGIN, "the key of %s signed "
			"this for the origin %s (S3)", signer->name,
			ks_printable(shown, sizeof(shown), origin));
	else if (judging->subject->origin.len > 0 &&
		!ks_span_equal(origin, judging->subject->origin))
		say(judging, KS_TRUST_WRONG_ORIGIN, "the note is of the "
			"origin %s, which is not that of the store (S3)",
			ks_printable(shown, sizeof(shown), origin));
	else
		return true;
	return false;
}

static void
name_signers(const struct ks_note *note, char *out, size_t size)
{
	char shown[160];
	size_t used = 0, i;

	out[0] = '\0';
	for (i = 0; i < note->line_count && i < 3 && used < size; i++) {
		int n = snprintf(out + used, size - used, "%s%s+%08lx",
			i == 0 ? "" : ", ", ks_printable(shown, sizeof(shown),
			note->lines[i].name), (unsigned long)note->lines[i].id);

		used += n > 0 ? (size_t)n : 0;
	}
}

/* The cosignatures of the policy's witnesses, and whether they are enough. */
static enum ks_status
check_witnesses(struct judging *judging, struct ks_error *err)
{
	const struct ring *ring = &judging->ring;
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = KS_OK;

	if (judging->trust->policy != NULL)
		status = ks_policy_check_quorum(judging->trust->policy,
			ring->open, ring->count, &why);
	if (status == KS_UNTRUSTED) {
		say(judging, KS_TRUST_UNTRUSTED_KEY, "%s", why.message);
		return KS_OK;
	}
	return status == KS_OK ? KS_OK : ks_fail(err, status, "%s",
		why.message);
}

static void
count_witnesses(struct judging *judging)
{
	const struct ring *ring = &judging->ring;
	size_t i;

	judging->result->witnesses = 0;
	judging->result->time = 0;
	judging->result->first = 0;
	for (i = 0; i < ring->count; i++) {
		if (!ring->open[i].verified ||
			ring->keys[i].type != KS_SIGNATURE_COSIGNATURE)
			continue;
		judging->result->witnesses++;
		if (ring->open[i].time > judging->result->time)
			judging->result->time = ring->open[i].time;
		if (judging->result->witnesses == 1 ||
			ring->open[i].time < judging->result->first)
			judging->result->first = ring->open[i].time;
	}
}

/* A note of a key that counts: all else that must hold. */
static enum ks_status
judge_signed(struct judging *judging, size_t number,
	const struct ks_checkpoint *checkpoint, struct ks_error *err)
{
	struct ks_trust_result *result = judging->result;
	const struct ks_vkey *signer = ring_signer(&judging->ring,
		checkpoint->origin);
	enum ks_status status;

	if (signer == NULL) {
		say(judging, KS_TRUST_UNTRUSTED_KEY, "only cosigners that are "
			"trusted signed it, not the log's key (N1)");
		return KS_OK;
	}
	if (!check_origin(judging, signer, checkpoint->origin) ||
		!check_root(judging, checkpoint) ||
		!check_revocation(judging, signer, checkpoint) ||
		!check_current(judging, signer, checkpoint->size))
		return KS_OK;
	say(judging, KS_TRUST_SIGNED, "signed by %s+%08lx", signer->name,
		(unsigned long)signer->id);
	status = check_witnesses(judging, err);
	if (status != KS_OK || result->verdict != KS_TRUST_SIGNED)
		return status;
	result->has_good = true;
	result->note = number;
	result->size = checkpoint->size;
	result->root = checkpoint->root;
	result->key = *signer;
	count_witnesses(judging);
	take_announcement(judging, checkpoint->size);
	return KS_OK;
}

static enum ks_status
judge_parsed(struct judging *judging, size_t number,
	const struct ks_note *note, struct ks_error *err)
{
	struct ks_checkpoint checkpoint;
	struct ks_error why = KS_ERROR_INIT;
	const struct ks_log_key *current;
	char signers[400];
	enum ks_status status = ks_checkpoint_parse(note->text, &checkpoint,
		&why);

	if (status == KS_OK && checkpoint.extension.len > 0)
		status = ks_fail(&why, KS_CORRUPT,
			"a checkpoint of a store has three lines (S1)");
	if (status != KS_OK) {
		say(judging, KS_TRUST_FORGED, "%s", why.message);
		return KS_OK;
	}
	current = key_within(judging->subject, checkpoint.size);
	if (current != NULL && announces(
		judging->has_next ? &judging->next : NULL, &current->vkey))
		status = ring_add(&judging->ring, &current->vkey, err);
	if (status != KS_OK)
		return status;
	status = ks_note_open(note, judging->ring.open, judging->ring.count,
		&why);
	if (status == KS_OK)
		return judge_signed(judging, number, &checkpoint, err);
	if (status == KS_CORRUPT) {
		say(judging, KS_TRUST_FORGED, "%s", why.message);
		return KS_OK;
	}
	if (status != KS_UNTRUSTED)
		return ks_fail(err, status, "%s", why.message);
	name_signers(note, signers, sizeof(signers));
	say(judging, KS_TRUST_UNTRUSTED_KEY, "the note of size %llu is signed "
		"by %s: no key that is trusted", (unsigned long long)
		checkpoint.size, signers);
	return KS_OK;
}

static enum ks_status
judge_note(struct judging *judging, size_t number, struct ks_error *err)
{
	struct ks_note note;
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = ks_note_parse(judging->subject->notes[number],
		&note, &why);

	if (status == KS_NOMEM)
		return ks_fail_nomem(err);
	if (status != KS_OK) {
		say(judging, KS_TRUST_FORGED, "%s", why.message);
		return KS_OK;
	}
	status = judge_parsed(judging, number, &note, err);
	ks_note_release(&note);
	return status;
}

/* N6: what was accepted before may neither be newer nor another. Only entries
 * that are signed tell a fork: what follows them is anybody's. */
static void
compare_seen(struct judging *judging, const struct kept *seen)
{
	struct ks_trust_result *result = judging->result;
	struct ks_id root = result->root;
	bool known = result->has_good && (seen->size == result->size ||
		(seen->size < result->size &&
		root_of(judging->subject, seen->size, &root)));

	if (known && !ks_id_equal(&root, &seen->root))
		say(judging, KS_TRUST_FORK, "not the log that was accepted "
			"before: its first %llu entries were others then (N6)",
			(unsigned long long)seen->size);
	else if (seen->size > result->size && !judging->subject->is_past)
		say(judging, KS_TRUST_ROLLBACK, "older than what was accepted "
			"before: %llu entries are signed, %llu were then (N6)",
			(unsigned long long)result->size,
			(unsigned long long)seen->size);
	else
		return;
	result->seen = ks_buf_span(&seen->note);
}

/* What a revoked key signed after its last good note counts no more. */
static bool
is_outdated(const struct judging *judging, const struct kept *seen)
{
	const struct ks_trust *trust = judging->trust;
	size_t i;

	for (i = 0; i < trust->revoked_count; i++)
		if (judging->result->verdict == KS_TRUST_REVOKED_KEY &&
			seen->size > trust->revoked[i].size)
			return true;
	return false;
}

static void
compare_all_seen(struct judging *judging)
{
	const struct ks_trust *trust = judging->trust;
	struct ks_trust_result *result = judging->result;
	struct ks_span origin = result->has_good ?
		ks_span_text(result->key.name) : judging->subject->origin;
	size_t i;

	/* A note of nobody on top of an old state must not hide its age. */
	if (ks_trust_verdict_status(result->verdict) == KS_CORRUPT ||
		(!result->has_good && result->verdict != KS_TRUST_UNSIGNED))
		return;
	for (i = 0; i < trust->seen_count; i++) {
		const struct kept *seen = &trust->seen[i];

		if (!ks_span_equal(origin, ks_buf_span(&seen->origin))) {
			if (seen->authentic)
				continue;
			say(judging, KS_TRUST_WRONG_ORIGIN, "the note seen "
				"before is of another origin (S3)");
			return;
		}
		if (is_outdated(judging, seen))
			continue;
		compare_seen(judging, seen);
		if (result->verdict == KS_TRUST_FORK)
			return;
	}
}

enum ks_status
ks_trust_judge(const struct ks_trust *trust,
	const struct ks_trust_subject *subject, struct ks_trust_result *result,
	struct ks_error *err)
{
	struct judging judging = {
		.trust = trust, .subject = subject, .result = result
	};
	enum ks_status status;
	size_t i;

	memset(result, 0, sizeof(*result));
	say(&judging, KS_TRUST_NOT_ASKED, "signature not checked");
	if (!ks_trust_is_asked(trust))
		return KS_OK;
	say(&judging, KS_TRUST_UNSIGNED, "nothing is signed");
	status = ring_fill(&judging.ring, trust, err);
	for (i = 0; status == KS_OK && i < subject->note_count; i++)
		status = judge_note(&judging, i, err);
	if (status == KS_OK)
		compare_all_seen(&judging);
	ring_release(&judging.ring);
	return status;
}
