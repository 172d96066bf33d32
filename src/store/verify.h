/*
 * Verification, in its parts (private to store/verify*.c).
 *
 * The log is replayed first; then the tree is walked in path order by the
 * calling thread, which alone uses libgit2, and batches of frames are checked
 * by all processors against what the log says. Memory is a constant plus what
 * the replay keeps of each object. A fault is reported and the check goes on.
 */
#ifndef KS_STORE_VERIFY_H
#define KS_STORE_VERIFY_H

#include "format/kind.h"
#include "store/signed.h"
#include "store/state.h"
#include "store/store.h"

/* A verification on its way. */
struct ks_verifying {
	struct ks_store *store;
	const struct ks_verify_options *options;
	ks_finding_report_fn *report;
	void *arg;
	struct ks_verify_result *result;
	struct ks_replay *replay;
	struct ks_dictionaries *dictionaries;
	uint64_t *unread;	/* one a dictionary that cannot be used: how
				 * many objects need it */
	struct ks_signed signed_;
	struct ks_trust *trust;
	struct ks_trust_result verdict;
	struct ks_state *state;
	/* Set by who wants less, or more, than ks_verify(): */
	struct ks_span seen;	/* a note that was accepted before, by who has
				 * no doubt of it */
	uint64_t since;		/* objects published before this entry are
				 * only looked for, not read */
	const uint64_t *marks;	/* sizes whose roots are wanted, too */
	size_t mark_count;
	struct ks_buf not_checked;
	uint64_t unexcused;	/* findings that a takedown would excuse, were
				 * it signed by whom is trusted (N8, X3) */
};

/* Check: `store`, `options`, `result` and perhaps others are set, the rest is
 * zero. What was gathered stays until the release; nothing is remembered
 * before ks_verify_trust_end(). */
enum ks_status ks_verify_run(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;

/* Check what the store has beyond `base`, an older state of it that was found
 * right: that all else is as it was there, and the new lines and objects. The
 * work is proportional to what is new. *extends is false where that is not
 * shown, be it that there is a fault, or a change of another kind: then
 * ks_verify_run() says which. Otherwise this has found what that would find,
 * but for warnings, and is to be ended likewise. */
enum ks_status ks_verify_extension(struct ks_verifying *verifying,
	struct ks_store *base, bool *extends, struct ks_error *err)
	KS_CHECKED;
void ks_verify_release(struct ks_verifying *verifying);

/* Report a finding and count it; digest may be NULL. */
void ks_verify_report(struct ks_verifying *verifying,
	enum ks_severity severity, const struct ks_id *digest,
	const char *path, const char *format, ...) KS_PRINTF(5, 6);

/* Report what *err says, as absence, damage or unfetched by its status. A
 * status that means the check itself failed is returned instead. */
enum ks_status ks_verify_report_error(struct ks_verifying *verifying,
	enum ks_status status, const struct ks_id *digest, const char *path,
	struct ks_error *err) KS_CHECKED;

/* One more thing that this verification does not check: a phrase. */
void ks_verify_leave_out(struct ks_verifying *verifying, const char *text);

/* What is trusted, and what is signed: before the log is replayed; its verdict
 * and the findings about notes and tags afterwards; what is to be remembered
 * at the very end. */
enum ks_status ks_verify_trust_begin(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_verify_trust_judge(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_verify_trust_end(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;

/* Tags named snapshot/SIZE (S4). */
enum ks_status ks_verify_tags(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;

/* The file of the index and the catalogue, against what it should be. */
enum ks_status ks_verify_index(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;

/* Whether the takedown of an object excuses its absence, and forbids its
 * presence (X8, N8). */
bool ks_verify_is_gone(const struct ks_verifying *verifying,
	const struct ks_object_state *state);

/* Form, order and rules of the log; leaves the replay. */
enum ks_status ks_verify_log(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;

/* What lines name by their provenance that has not come yet: kept while they
 * are replayed, and judged when all are (R22). */
struct ks_verify_claim {
	uint64_t index;
	struct ks_provenance names;
};

struct ks_verify_claims {
	struct ks_verify_claim *list;
	size_t count, room;
};

/* Of the line that was replayed last. */
enum ks_status ks_verify_claims_keep(struct ks_verify_claims *claims,
	struct ks_replay *replay, const struct ks_provenance *names,
	struct ks_error *err) KS_CHECKED;
void ks_verify_claims_check(const struct ks_verify_claims *claims,
	struct ks_verifying *verifying);
void ks_verify_claims_release(struct ks_verify_claims *claims);

/* Report a fault of entry `index`, at its place in the tree. */
void ks_verify_report_line(struct ks_verifying *verifying, uint64_t index,
	const char *message);

/* Names and contents of dictionaries/; loads all that are sound. */
enum ks_status ks_verify_dictionaries(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;

/* Every object of the tree, and the tree against the log; or, with
 * options->digests, those and what they refer to. */
enum ks_status ks_verify_objects(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_verify_closure(struct ks_verifying *verifying,
	struct ks_error *err) KS_CHECKED;

/*
 * Checking one object: pure, for any thread.
 */

/* What one thread needs to check objects. */
struct ks_checker {
	struct ks_jcs *jcs;
	struct ks_framer *framer;
	struct ks_buf body;
};

enum ks_status ks_checker_init(struct ks_checker *checker,
	struct ks_error *err) KS_CHECKED;
void ks_checker_release(struct ks_checker *checker);

/* What was found about one object, told after the fact. */
struct ks_check_finding {
	enum ks_severity severity;
	struct ks_id digest;
	struct ks_buf message;
};

struct ks_check_findings {
	struct ks_check_finding *list;
	size_t count, room;
	uint64_t warnings;	/* of kind tables, kept or not */
	bool keep_warnings;
	bool failed;		/* memory ran out */
};

void ks_check_findings_release(struct ks_check_findings *findings);

/* Check a frame that stands at the address of `digest`: frame, address, form,
 * kind against the log's, references. `object` is its number in the replay,
 * KS_NO_OBJECT when the log does not know it. The body is left in
 * checker->body (empty when it could not be had). *wants is the id of a
 * dictionary that the frame names and that is not loaded, else 0. */
void ks_check_object(struct ks_checker *checker,
	struct ks_replay *replay, const struct ks_dictionaries *dictionaries,
	const struct ks_id *digest, uint32_t object, struct ks_span frame,
	struct ks_check_findings *findings, uint32_t *wants);

/* The same of a body that is in no frame: address, form, kind, references. */
void ks_check_body(struct ks_checker *checker, struct ks_replay *replay,
	const struct ks_id *digest, uint32_t object, struct ks_span body,
	struct ks_check_findings *findings);

#endif
