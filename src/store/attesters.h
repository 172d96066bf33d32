/*
 * Whose attestations count: the keys that the log registers for it
 * (store-layout.md R24, N14, N19), and what they have signed.
 *
 *	struct ks_attesters *attesters;
 *	ks_store_attesters(store, &attesters, &err);
 *	... ks_attesters_at(attesters, i) ...
 *
 *	ks_store_rerun(store, &attestation, &subject, &counts, &err);
 *
 * All of it hangs on the commit that is read: on its log, and on how much of
 * that its newest note covers, which grows without the log. So what is found
 * here is asked for anew, and not kept in tables that follow the log alone.
 */
#ifndef KS_STORE_ATTESTERS_H
#define KS_STORE_ATTESTERS_H

#include "format/dsse.h"
#include "format/statement.h"
#include "store/store.h"

/* What the log says of a key. */
enum ks_standing {
	KS_STANDING_CONTROLLED,	/* registered, and that is signed */
	KS_STANDING_UNSIGNED,	/* registered, but nobody has signed that */
	KS_STANDING_REVOKED
};

/* A key that was ever registered. */
struct ks_attester {
	struct ks_vkey vkey;
	enum ks_standing standing;
	uint64_t entry;		/* the newest that says so */
};

/* "controlled", "unsigned", "revoked"; "" for NULL (static). */
const char *ks_standing_name(const struct ks_attester *attester);

struct ks_attesters;

/* Those of the commit being read. They belong to the store. KS_UNSUPPORTED as
 * ks_log_understood(). */
enum ks_status ks_store_attesters(struct ks_store *store,
	struct ks_attesters **out, struct ks_error *err) KS_CHECKED;
/* NULL is allowed. */
void ks_attesters_free(struct ks_attesters *attesters);

/* The keys in order of their first line. */
size_t ks_attesters_count(const struct ks_attesters *attesters);
const struct ks_attester *ks_attesters_at(
	const struct ks_attesters *attesters, size_t index);

/* The one with the public key of this vkey, under whatever name, or NULL. */
const struct ks_attester *ks_attesters_find(
	const struct ks_attesters *attesters, const struct ks_vkey *vkey);

/* KS_INVALID when the key is, was or is announced to be one that signs the
 * log, which is used for nothing else (N13); a key with the log's name counts
 * as one. */
enum ks_status ks_attesters_check_use(const struct ks_attesters *attesters,
	const struct ks_vkey *vkey, struct ks_error *err) KS_CHECKED;

/* An Attestation record, taken apart. */
struct ks_envelope {
	struct ks_buf body;	/* canonical; the record's or another */
	struct ks_span json;	/* the envelope in it */
	struct ks_dsse dsse;
};

#define KS_ENVELOPE_INIT { .body = KS_BUF_INIT }

/* Take apart what is in envelope->body: an Attestation, or an envelope by
 * itself. KS_INVALID with what is wrong, also when it is about something else
 * than an in-toto Statement. It is to be released after a failure, too. */
enum ks_status ks_envelope_open(struct ks_envelope *envelope,
	struct ks_error *err) KS_CHECKED;
void ks_envelope_release(struct ks_envelope *envelope);

/* Read the Attestation record `digest`. KS_INVALID as above. */
enum ks_status ks_envelope_read(struct ks_store *store,
	const struct ks_id *digest, struct ks_envelope *envelope,
	struct ks_error *err) KS_CHECKED;

/* Whether the record `digest`, an Attestation that was not taken down,
 * retracted or superseded, makes the evidence of a run "verified" (N14, N19);
 * *subject is then that run. Failures are of reading the store only. */
enum ks_status ks_store_rerun(struct ks_store *store,
	const struct ks_id *digest, struct ks_id *subject, bool *counts,
	struct ks_error *err) KS_CHECKED;

/* Whether a statement is that of a rerun, and its two runs are as N19 has it.
 * The signature is another matter. */
bool ks_attesters_is_rerun(struct ks_index *index,
	const struct ks_statement *statement);

#endif
