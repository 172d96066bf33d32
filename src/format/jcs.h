/*
 * RFC 8785 canonical form, straight from JSON text.
 *
 * The scanner reads strict JSON (RFC 8259, UTF-8 without BOM, one value) and
 * writes its canonical bytes in one pass; members are sorted where they were
 * not. It refuses what I-JSON and RFC 8785 cannot carry: duplicate names
 * after unescaping, lone surrogates, numbers that are not finite. A policy
 * adds the rules of intake (store-layout.md, section "intake").
 *
 * A scanner object keeps scratch memory between texts; use one per thread.
 */
#ifndef KS_FORMAT_JCS_H
#define KS_FORMAT_JCS_H

#include "base/buf.h"
#include "base/error.h"

/* What a text must satisfy beyond RFC 8785. */
struct ks_jcs_policy {
	size_t max_bytes;	/* of the text and of its canonical form, so
				 * that the latter passes again; 0 = no limit */
	size_t max_depth;	/* of nesting, a scalar being 1; 0 = the
				 * scanner's own bound, 1000 */
	bool refuse_nul;	/* U+0000 in strings and names */
	bool exact_numbers;	/* refuse KS_NUMBER_INEXACT_INTEGER and
				 * KS_NUMBER_UNDERFLOW */
};

/* What `canon` accepts, and what manifests must be (design 2.4). */
extern const struct ks_jcs_policy ks_jcs_rfc8785;
extern const struct ks_jcs_policy ks_jcs_manifest;	/* 1 MiB, depth 64 */
extern const struct ks_jcs_policy ks_jcs_row;	/* 4 MiB, depth 68: a catalogue
						 * row or bundle around one */

struct ks_jcs;
enum ks_status ks_jcs_new(struct ks_jcs **out, struct ks_error *err) KS_CHECKED;
void ks_jcs_free(struct ks_jcs *jcs);

/* Append the canonical form of `text` to `out`. On failure `out` has its
 * former length, and err says at which byte offset (from 0) and, where it is
 * known, at which member path which rule was broken: KS_INVALID. */
enum ks_status ks_jcs_scan(struct ks_jcs *jcs, struct ks_span text,
	const struct ks_jcs_policy *policy, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Whether `text` is already exactly its own canonical form under `policy`:
 * KS_OK, or KS_INVALID with the reason. */
enum ks_status ks_jcs_check(struct ks_jcs *jcs, struct ks_span text,
	const struct ks_jcs_policy *policy, struct ks_error *err) KS_CHECKED;

#endif
