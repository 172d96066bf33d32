/*
 * Policies (C2SP tlog-policy): which logs are accepted, and who must have
 * cosigned their checkpoints. A verifier's trust, from outside of any store
 * (store-layout.md N5).
 *
 *	log archive.example/log+f8ca281c+Af6Qjore...
 *	witness W witness.example/w1+44d58d5d+BAvCPfs2... https://w.example
 *	witness M mirror.example/m2+b5a0d82e+BEdCVrsj...
 *	group either any W M
 *	quorum either
 *
 *	count = ks_policy_key_count(policy);
 *	ks_policy_keys(policy, keys);
 *	status = ks_note_open(&note, keys, count, &err);
 *	if (status == KS_OK)
 *		status = ks_policy_judge(policy, checkpoint.origin, keys, count,
 *			&err);
 *
 * One public key counts once: no two lines of a policy have the same, be it
 * under other names, ids or types, or once for a log and once for a witness;
 * each is in its one encoding (RFC 8032 section 5.1.2); and each witness or
 * group is a member of at most one group.
 */
#ifndef KS_FORMAT_POLICY_H
#define KS_FORMAT_POLICY_H

#include "format/note.h"

/* Limits of a policy: bytes, logs, and witnesses and groups together. */
#define KS_POLICY_MAX ((size_t)1 << 20)
#define KS_POLICY_LOGS 1024
#define KS_POLICY_NAMES 1024

struct ks_policy;

/* Read a policy; *out keeps nothing of `text`, and is NULL on failure.
 * KS_INVALID, with the number of the line, when a rule of tlog-policy is
 * broken, KS_UNSUPPORTED for a key that is neither a log's of type 01 nor a
 * witness's of type 04 but of a type not understood. Stricter than
 * tlog-policy: the last line has its LF too, a log's key is no witness's, and
 * numbers have no leading zeros. URLs are not kept. */
enum ks_status ks_policy_parse(struct ks_span text, struct ks_policy **out,
	struct ks_error *err) KS_CHECKED;
void ks_policy_free(struct ks_policy *policy);

/* The keys to open notes with: of logs (type 01) and witnesses (type 04), in
 * the order of the lines. Owned by the policy. */
size_t ks_policy_key_count(const struct ks_policy *policy);
const struct ks_vkey *ks_policy_key(const struct ks_policy *policy,
	size_t index);

/* Fill ks_policy_key_count() items for ks_note_open(). */
void ks_policy_keys(const struct ks_policy *policy, struct ks_note_key *out);

/* Whether the policy accepts a log of this origin: the name of a log's key. */
bool ks_policy_has_log(const struct ks_policy *policy, struct ks_span origin);

/* Whether the policy lists logs at all. One that does not is for use where
 * the log's key is known otherwise. */
bool ks_policy_has_logs(const struct ks_policy *policy);

/* The three below judge keys that ks_note_open() has filled for one note, in
 * any order, possibly with others between: keys that the policy does not have
 * count for nothing, and none counts twice. KS_OK, KS_UNTRUSTED with what is
 * missing, or KS_NOMEM. */

/* Whether a log of the policy signed the note whose checkpoint has `origin`,
 * under that name. */
enum ks_status ks_policy_check_log(const struct ks_policy *policy,
	struct ks_span origin, const struct ks_note_key *keys, size_t count,
	struct ks_error *err) KS_CHECKED;

/* Whether the witnesses that cosigned are a quorum. */
enum ks_status ks_policy_check_quorum(const struct ks_policy *policy,
	const struct ks_note_key *keys, size_t count, struct ks_error *err)
	KS_CHECKED;

/* Both. A policy without logs accepts no note here. */
enum ks_status ks_policy_judge(const struct ks_policy *policy,
	struct ks_span origin, const struct ks_note_key *keys, size_t count,
	struct ks_error *err) KS_CHECKED;

#endif
