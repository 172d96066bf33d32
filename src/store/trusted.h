/*
 * A verifier's trust, from what the caller gives and what the user's state
 * directory holds (store-layout.md N5 to N7).
 */
#ifndef KS_STORE_TRUSTED_H
#define KS_STORE_TRUSTED_H

#include "kistore.h"
#include "store/log.h"
#include "store/state.h"

/* Make *trust (NULL after a failure) and *state of `options`, which may be
 * NULL. `origin` is what the store says it is, or empty: where no key and no
 * policy is given, its pin is what is trusted. What was accepted before is
 * added for `origin` and for every key given; a memory that cannot be read is
 * told to `watch` and left out. Nothing is trusted when neither is there: then
 * ks_trust_is_asked() says no.
 *
 * KS_USAGE for texts that are no key or policy, KS_CORRUPT for a malformed
 * note; the message says which. */
enum ks_status ks_trusted_new(const struct ks_trust_options *options,
	struct ks_span origin, const struct ks_watch *watch,
	struct ks_trust **trust, struct ks_state **state,
	struct ks_error *err) KS_CHECKED;

/* Fill *out from what ks_trust_judge() found for a log of `log_size` entries.
 * Of a fork, the evidence is not left here. */
void ks_trusted_describe(const struct ks_trust *trust,
	const struct ks_trust_result *result, uint64_t log_size,
	struct ks_signature_result *out);

/* Remember what was accepted; where options->pin says so, pin the policy that
 * accepted it, or the key that signed where there is none. That a memory could
 * not be written is told to `watch`; that a pin could not is a failure. */
enum ks_status ks_trusted_accept(struct ks_state *state,
	const struct ks_trust_options *options,
	const struct ks_trust_result *result, struct ks_span note,
	const struct ks_watch *watch, struct ks_signature_result *out,
	struct ks_error *err) KS_CHECKED;

/* Visits all lines of a log, from its first entry on; the failure of a visit
 * ends it. */
typedef enum ks_status ks_trusted_lines_fn(void *arg, ks_line_fn *visit,
	void *to, struct ks_error *err);

/* Leave evidence of a fork in the state directory: the note accepted before,
 * the note `now`, and the proof, by the `lines` of the log at hand, that fails
 * between them; `lines` is NULL where not all are at hand, and there is no
 * proof when they do not reach that far. Where the evidence is goes to
 * out->evidence; that it could not be kept is told to `watch`. */
void ks_trusted_keep_fork(struct ks_state *state,
	const struct ks_trust_result *result, struct ks_span now,
	ks_trusted_lines_fn *lines, void *arg, const struct ks_watch *watch,
	struct ks_signature_result *out);

#endif
