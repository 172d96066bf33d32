/*
 * References that are given as arguments: which object one means, and who the
 * candidates are where it means several.
 */
#ifndef KS_CLI_REF_H
#define KS_CLI_REF_H

#include "base/buf.h"
#include "cli/cmd.h"

/* Hex digits of a digest that lists show. */
#define KS_REF_DIGITS 12

/* What a reference was found to mean. */
struct ks_ref {
	struct ks_id digest;	/* of the last match */
	bool retracted, superseded, taken_down;
	struct ks_buf candidates;	/* a text each, ended by NUL */
};

#define KS_REF_INIT { .candidates = KS_BUF_INIT }

/* Resolve `reference`. Where it is ambiguous the candidates are told on
 * standard error, a line each. */
enum ks_status ks_ref_find(struct ks_cli *cli, struct ks_store *store,
	const char *reference, struct ks_ref *out, struct ks_error *err)
	KS_CHECKED;

/* The parts of ks_ref_find(), for a caller that looks at matches itself. */
void ks_ref_add(struct ks_ref *ref, const struct ks_match *match);
void ks_ref_list(struct ks_cli *cli, const struct ks_ref *ref);
void ks_ref_release(struct ks_ref *ref);

/* Note on standard error that what was found is retracted or superseded. */
void ks_ref_note_marks(struct ks_cli *cli, const char *reference,
	const struct ks_ref *ref);

/* The first digits of a digest, NUL-terminated; the last part of a full kind:
 * "BenchmarkRun". Both as lists show them. */
const char *ks_ref_short(const struct ks_id *digest,
	char out[KS_ID_HEX + 1]);
const char *ks_ref_kind(const char *kind);

#endif
