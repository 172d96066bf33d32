/*
 * Attestations as they are shown: a paragraph each, or a document with all of
 * them; and what it comes to.
 *
 *	struct ks_attest_report report = { .json = cli->json,
 *		.verified = cli->verified };
 *	ks_attest_report_begin(&report);
 *	status = ks_attestations_of(..., ks_attest_report_add, &report, &err);
 *	status = ks_attest_report_end(&report, status, &err);
 */
#ifndef KS_CLI_ATTEST_REPORT_H
#define KS_CLI_ATTEST_REPORT_H

#include "cli/cmd.h"

struct ks_doc;

struct ks_attest_report {
	bool json;
	bool verified;	/* what the log says, by a pin */
	struct ks_doc *doc;
	uint64_t count, trusted, repeated;
	uint64_t malformed;
};

void ks_attest_report_begin(struct ks_attest_report *report);

/* A ks_attestation_fn. */
bool ks_attest_report_add(void *arg, const struct ks_attestation *attestation);

/* Print what is left to print, if `status` is KS_OK, and judge it: KS_CORRUPT
 * where something is malformed, KS_UNTRUSTED where one is by nobody who
 * is trusted. All has been said then, and the message is empty. */
enum ks_status ks_attest_report_end(struct ks_attest_report *report,
	enum ks_status status, struct ks_error *err) KS_CHECKED;

#endif
