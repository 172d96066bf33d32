#include "cli/attest_report.h"

#include <inttypes.h>

#include "cli/out.h"

void
ks_attest_report_begin(struct ks_attest_report *report)
{
	if (!report->json)
		return;
	report->doc = ks_doc_new("attestations");
	ks_doc_bool(report->doc, "verified", report->verified);
	ks_doc_array(report->doc, "attestations");
}

/* ---- Text --------------------------------------------------------------- */

/* "LABEL: TEXT", where there is any; further lines stand below the first.
 * Whoever wrote it cannot make a line of his own of it. */
static void
print_text(const char *label, const char *text)
{
	char line[1024];
	size_t used = 0;

	if (text[0] == '\0')
		return;
	ks_out_printf("  %s: ", label);
	for (; *text != '\0'; text++) {
		/* A field has room for four times a line. What is longer is
		 * parted where a character begins. */
		if (*text == '\n' || (used >= sizeof(line) - 8 &&
			(*text & 0xc0) != 0x80) || used == sizeof(line) - 1) {
			line[used] = '\0';
			ks_out_field(line);
			used = 0;
		}
		if (*text == '\n')
			ks_out_printf("\n    ");
		else
			line[used++] = *text;
	}
	line[used] = '\0';
	ks_out_field(line);
	ks_out_printf("\n");
}

static void
print_signer(const struct ks_attestation_signer *signer)
{
	ks_out_printf("  signed by: ");
	ks_out_field(signer->name);
	if (signer->given)
		ks_out_printf(", a key that was given");
	if (strcmp(signer->standing, "controlled") == 0)
		ks_out_printf(", controlled by entry %" PRIu64,
			signer->entry);
	else if (strcmp(signer->standing, "unsigned") == 0)
		ks_out_printf(", registered by entry %" PRIu64
			", which is not signed", signer->entry);
	else if (strcmp(signer->standing, "revoked") == 0)
		ks_out_printf(", revoked by entry %" PRIu64, signer->entry);
	ks_out_printf("%s\n", signer->repeated ? "; it has said this before" :
		"");
}

static void
print_signers(const struct ks_attestation *attestation)
{
	size_t i;

	for (i = 0; i < attestation->signer_count; i++)
		print_signer(&attestation->signers[i]);
	if (attestation->signer_count > 0)
		return;
	ks_out_printf("  signed by: no key that is known here");
	if (attestation->claimed[0] != '\0') {
		ks_out_printf(" (it claims ");
		ks_out_field(attestation->claimed);
		ks_out_printf(")");
	}
	ks_out_printf("%s\n", attestation->repeated ? "; this was said before" :
		"");
}

static void
print_subject(const struct ks_attestation *attestation)
{
	char digest[KS_ID_TEXT + 1];

	if (!attestation->has_subject)
		return;
	ks_out_printf("  subject: %s ", ks_id_print(&attestation->subject,
		digest));
	ks_out_field(attestation->subject_kind[0] == '\0' ?
		"(not known here)" : attestation->subject_kind);
	ks_out_printf("\n");
}

static const char *
verdict(const struct ks_attestation *attestation)
{
	return attestation->trusted ? "verified" :
		attestation->signer_count > 0 ? "not trusted" :
		"not verified";
}

static void
print_one(const struct ks_attestation *attestation)
{
	char digest[KS_ID_TEXT + 1];

	ks_out_printf("%s: %s", attestation->type[0] != '\0' ?
		attestation->type : "statement", verdict(attestation));
	if (attestation->is_record)
		ks_out_printf(" %s", ks_id_print(&attestation->digest,
			digest));
	ks_out_printf("\n");
	print_text("problem", attestation->problem);
	print_subject(attestation);
	print_signers(attestation);
	print_text("author", attestation->author);
	print_text("at", attestation->at);
	print_text("observed", attestation->observed);
	print_text("environment", attestation->environment);
	print_text("reason", attestation->reason);
	if (attestation->has_rerun)
		ks_out_printf("  rerun: %s\n", ks_id_print(
			&attestation->rerun, digest));
	print_text("evidence", attestation->evidence_url);
	print_text("body", attestation->body);
	if (attestation->counts)
		ks_out_printf("  counts: the evidence of its subject is "
			"verified by it\n");
}

/* ---- JSON --------------------------------------------------------------- */

static void
add_signers(struct ks_doc *doc, const struct ks_attestation *attestation)
{
	size_t i;

	ks_doc_array(doc, "signers");
	for (i = 0; i < attestation->signer_count; i++) {
		const struct ks_attestation_signer *signer =
			&attestation->signers[i];

		ks_doc_object(doc, NULL);
		ks_doc_text(doc, "key", signer->name);
		ks_doc_bool(doc, "given", signer->given);
		if (signer->standing[0] == '\0') {
			ks_doc_null(doc, "standing");
			ks_doc_null(doc, "entry");
		} else {
			ks_doc_text(doc, "standing", signer->standing);
			ks_doc_integer(doc, "entry", (int64_t)signer->entry);
		}
		ks_doc_bool(doc, "repeated", signer->repeated);
		ks_doc_end(doc);
	}
	ks_doc_end(doc);
}

/* A text that may be absent. */
static void
add_text(struct ks_doc *doc, const char *name, const char *text)
{
	if (text[0] == '\0')
		ks_doc_null(doc, name);
	else
		ks_doc_text(doc, name, text);
}

static void
add_digest(struct ks_doc *doc, const char *name, bool there,
	const struct ks_id *digest)
{
	if (there)
		ks_doc_digest(doc, name, digest);
	else
		ks_doc_null(doc, name);
}

static void
add_one(struct ks_doc *doc, const struct ks_attestation *attestation)
{
	ks_doc_object(doc, NULL);
	add_digest(doc, "digest", attestation->is_record,
		&attestation->digest);
	add_text(doc, "type", attestation->type);
	add_digest(doc, "subject", attestation->has_subject,
		&attestation->subject);
	add_text(doc, "subjectKind", attestation->subject_kind);
	ks_doc_bool(doc, "trusted", attestation->trusted);
	ks_doc_bool(doc, "malformed", attestation->malformed);
	ks_doc_bool(doc, "repeated", attestation->repeated);
	ks_doc_bool(doc, "counts", attestation->counts);
	add_text(doc, "problem", attestation->problem);
	add_text(doc, "claimedKey", attestation->claimed);
	add_signers(doc, attestation);
	if (attestation->statement.len > 0)
		ks_doc_json(doc, "statement", attestation->statement);
	else
		ks_doc_null(doc, "statement");
	ks_doc_end(doc);
}

/* ---- All of them -------------------------------------------------------- */

bool
ks_attest_report_add(void *arg, const struct ks_attestation *attestation)
{
	struct ks_attest_report *report = arg;

	report->count++;
	report->trusted += attestation->trusted;
	report->repeated += attestation->repeated;
	report->malformed += attestation->malformed;
	if (report->json)
		add_one(report->doc, attestation);
	else
		print_one(attestation);
	return false;
}

static void
print_sum(const struct ks_attest_report *report)
{
	if (report->count == 0) {
		ks_out_printf("No attestations yet.\n");
		return;
	}
	ks_out_printf("%" PRIu64 " attestation%s, %" PRIu64 " verified",
		report->count, report->count == 1 ? "" : "s",
		report->trusted);
	if (report->repeated > 0)
		ks_out_printf(", %" PRIu64 " said before", report->repeated);
	ks_out_printf("\n");
}

static enum ks_status
print_document(struct ks_attest_report *report, struct ks_error *err)
{
	struct ks_doc *doc = report->doc;

	report->doc = NULL;
	ks_doc_end(doc);
	ks_doc_object(doc, "counts");
	ks_doc_integer(doc, "attestations", (int64_t)report->count);
	ks_doc_integer(doc, "trusted", (int64_t)report->trusted);
	ks_doc_integer(doc, "repeated", (int64_t)report->repeated);
	ks_doc_end(doc);
	return ks_doc_write(doc, err);
}

/* The verdict; what there is to say was said. */
static enum ks_status
judge(const struct ks_attest_report *report)
{
	if (report->malformed > 0)
		return KS_CORRUPT;
	return report->trusted < report->count ? KS_UNTRUSTED : KS_OK;
}

enum ks_status
ks_attest_report_end(struct ks_attest_report *report, enum ks_status status,
	struct ks_error *err)
{
	if (status == KS_OK && report->json)
		status = print_document(report, err);
	else if (status == KS_OK)
		print_sum(report);
	ks_doc_free(report->doc);
	report->doc = NULL;
	if (status != KS_OK)
		return status;
	*err = (struct ks_error)KS_ERROR_INIT;
	return judge(report);
}
