/*
 * A mirror, in its parts (private to store/mirror*.c):
 *
 *	mirror.c		clone and update: fetch aside, accept
 *	mirror_judge.c		which commit of the upstream, and the verdict
 *	mirror_state.c		what a mirror remembers
 *	mirror_cosign.c		own cosignatures, made and kept
 */
#ifndef KS_STORE_MIRROR_H
#define KS_STORE_MIRROR_H

#include "store/verify.h"

/* In the git directory: lines "NAME VALUE" after a first one that says what
 * they are. Nothing in it is trusted: it says where to fetch, and what came of
 * it. */
#define KS_MIRROR_NAME "kistore-mirror"
#define KS_MIRROR_TEXT "kistore-mirror/1"

struct ks_mirror_state {
	struct ks_buf url;
	struct ks_oid upstream;		/* its HEAD, as of the last update that
					 * had a good end */
	struct ks_oid snapshot;		/* of it, what was accepted, */
	uint64_t size, tail;		/* of so many entries; and beyond */
	int64_t checked;
	int64_t good;			/* when one had a good end; 0: never */
	struct ks_buf verdict, message;
	struct ks_buf fork;		/* where the evidence of the last fork
					 * was left, or empty */
	struct ks_buf cosigners;	/* vkeys, each with LF */
	bool purge;			/* what was taken down is to go from the
					 * history yet */
};

#define KS_MIRROR_STATE_INIT { .url = KS_BUF_INIT, .verdict = KS_BUF_INIT, \
	.message = KS_BUF_INIT, .fork = KS_BUF_INIT, .cosigners = KS_BUF_INIT }

/* Whether a repository is a mirror, which only updates write to. */
bool ks_mirror_is_one(struct ks_gitdb *db);

/* KS_NOT_FOUND: there is none, this is no mirror. KS_CORRUPT: malformed. */
enum ks_status ks_mirror_state_read(struct ks_gitdb *db,
	struct ks_mirror_state *state, struct ks_error *err) KS_CHECKED;
enum ks_status ks_mirror_state_write(struct ks_gitdb *db,
	struct ks_mirror_state *state, struct ks_error *err) KS_CHECKED;
void ks_mirror_state_release(struct ks_mirror_state *state);

/* The status that a verdict is an error of; *known its static text. */
enum ks_status ks_mirror_verdict(struct ks_span text, const char **known);

struct ks_mirror {
	const struct ks_mirror_options *options;
	struct ks_trust_options trust;
	struct ks_mirror_result *result;
	struct ks_gitdb *db;
	struct ks_lock lock;
	struct ks_mirror_state state;
	struct ks_store *base;		/* what was accepted, or NULL */
	struct ks_gitdb *aside;		/* or NULL: nothing was fetched */
	struct ks_oid upstream, snapshot;
	struct ks_store *candidate;
	struct ks_checkpoints notes;	/* of the base */
	struct ks_verify_options verify;
	struct ks_verify_result verified;
	struct ks_verifying verifying;
	uint64_t told;			/* findings */
	bool doubtful;			/* a purge is due only if history has
					 * what it would remove */
};

/* Open the mirror in `directory` (NULL: the one that holds the current one) and
 * take its lock. To be released also after a failure. */
enum ks_status ks_mirror_open(struct ks_mirror *mirror, const char *directory,
	const struct ks_mirror_options *options,
	struct ks_mirror_result *result, struct ks_error *err) KS_CHECKED;
void ks_mirror_release(struct ks_mirror *mirror);

/* Settle on a verdict, with its reason. */
void ks_mirror_say(struct ks_mirror *mirror, const char *verdict,
	const char *format, ...) KS_PRINTF(3, 4);

/* What cannot be read of the upstream is a fault of it, and a verdict (E10);
 * any other failure is one of this machine, and *err says it. */
enum ks_status ks_mirror_blame(struct ks_mirror *mirror, enum ks_status status,
	const struct ks_error *why, struct ks_error *err) KS_CHECKED;

/* Find the snapshot's commit in what was fetched (M1), and let the branch aside
 * lead to it. A verdict where there is none. */
enum ks_status ks_mirror_choose(struct ks_mirror *mirror,
	struct ks_error *err) KS_CHECKED;

/* Verify the candidate, and settle on a verdict. */
enum ks_status ks_mirror_judge(struct ks_mirror *mirror, struct ks_error *err)
	KS_CHECKED;

/* The same, of all of it, with the roots at `marks` (ks_verifying). */
enum ks_status ks_mirror_judge_whole(struct ks_mirror *mirror,
	const uint64_t *marks, size_t mark_count, struct ks_error *err)
	KS_CHECKED;

/* Add to the notes of the branch aside the lines of this mirror's cosigners
 * that the base's have: one more commit, where there are any. *commit is what
 * the branch then leads to. */
enum ks_status ks_mirror_carry(struct ks_mirror *mirror,
	struct ks_oid *commit, struct ks_error *err) KS_CHECKED;

#endif
