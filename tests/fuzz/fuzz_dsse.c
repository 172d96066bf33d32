/*
 * An envelope that is accepted is made again as one that says the same, and a
 * statement that is accepted is written as one that is read the same. The
 * first byte picks what the rest is read as: an envelope, a statement, or an
 * envelope whose bytes nobody made sure to be canonical JSON.
 */
#include "../lib/fuzz.h"
#include "format/dsse.h"
#include "format/jcs.h"
#include "format/statement.h"

#define NAME "runner.example/r1"

/* A refusal says why, in one line. */
static bool
accepted(enum ks_status status, const struct ks_error *err)
{
	if (status == KS_OK)
		return true;
	require(err->status == status && err->message[0] != '\0');
	require(strchr(err->message, '\n') == NULL);
	return false;
}

static bool
same_statement(const struct ks_statement *a, const struct ks_statement *b)
{
	return a->type == b->type && a->reason == b->reason &&
		ks_id_equal(&a->subject, &b->subject) &&
		ks_span_equal(a->kind, b->kind) &&
		ks_span_equal(a->body, b->body) &&
		ks_span_equal(a->evidence_url, b->evidence_url) &&
		ks_span_equal(a->environment, b->environment) &&
		ks_span_equal(a->author, b->author) && a->at == b->at &&
		a->has_observed == b->has_observed &&
		!(a->observed_ns < b->observed_ns) &&
		!(a->observed_ns > b->observed_ns) &&
		a->has_rerun == b->has_rerun &&
		ks_id_equal(&a->rerun, &b->rerun);
}

/* What was read is admitted where nothing is known against it. */
static void
check_admitted(const struct ks_statement *statement)
{
	struct ks_statement_facts facts = {
		.subject = ks_span_text("kernelindex.dev/v1alpha1/"
			"BenchmarkRun"),
		.rerun = ks_span_text("kernelindex.dev/v1alpha1/BenchmarkRun"),
	};

	require(ks_statement_admit(statement, &facts, NULL) == KS_OK);
}

static void
try_statement(struct ks_span payload)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT, last = KS_BUF_INIT;
	struct ks_statement statement, again;

	if (!accepted(ks_statement_parse(payload, &statement, &err), &err)) {
		require(err.status == KS_INVALID ||
			err.status == KS_UNSUPPORTED);
		return;
	}
	check_admitted(&statement);
	/* The subject's name may be anything where it is read. */
	if (accepted(ks_statement_write(&statement, &out, &err), &err)) {
		require(ks_statement_parse(ks_buf_span(&out), &again, NULL) ==
			KS_OK);
		require(same_statement(&statement, &again));
		require(ks_statement_write(&again, &last, NULL) == KS_OK);
		require(ks_span_equal(ks_buf_span(&out),
			ks_buf_span(&last)));
		ks_statement_release(&again);
	}
	ks_buf_release(&out);
	ks_buf_release(&last);
	ks_statement_release(&statement);
}

static void
check_made_again(const struct ks_dsse *dsse)
{
	static const uint8_t seed[KS_ED25519_KEY] = { 7 };
	struct ks_buf out = KS_BUF_INIT;
	struct ks_secret_key key;
	struct ks_vkey vkey;
	struct ks_dsse again;
	struct ks_id a, b;

	require(ks_ed25519_from_seed(seed, &key, NULL) == KS_OK);
	require(ks_vkey_make(ks_span_text(NAME), KS_SIGNATURE_ED25519,
		&key.public, &vkey, NULL) == KS_OK);
	require(ks_dsse_verify(dsse, &vkey, NULL) == KS_UNTRUSTED);
	require(ks_dsse_make(dsse->type, dsse->payload, ks_span_text(NAME),
		&key, &out, NULL) == KS_OK);
	require(ks_dsse_parse(ks_buf_span(&out), &again, NULL) == KS_OK);
	require(ks_span_equal(ks_buf_span(&dsse->message),
		ks_buf_span(&again.message)));
	require(ks_dsse_verify(&again, &vkey, NULL) == KS_OK);
	ks_dsse_identity(dsse, &vkey.key, &a);
	ks_dsse_identity(&again, &vkey.key, &b);
	require(ks_id_equal(&a, &b));
	ks_dsse_release(&again);
	ks_buf_release(&out);
}

static void
try_envelope(struct ks_span text)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf json = KS_BUF_INIT;
	struct ks_jcs *jcs = NULL;
	struct ks_dsse dsse;

	require(ks_jcs_new(&jcs, NULL) == KS_OK);
	if (ks_jcs_scan(jcs, text, &ks_jcs_manifest, &json, NULL) == KS_OK) {
		if (accepted(ks_dsse_parse(ks_buf_span(&json), &dsse, &err),
			&err)) {
			check_made_again(&dsse);
			try_statement(dsse.payload);
			ks_dsse_release(&dsse);
		} else {
			require(err.status == KS_INVALID);
		}
	}
	ks_jcs_free(jcs);
	ks_buf_release(&json);
}

/* Whatever comes of it, nothing else is read. */
static void
try_raw(struct ks_span text)
{
	struct ks_dsse dsse;

	if (ks_dsse_parse(text, &dsse, NULL) == KS_OK)
		ks_dsse_release(&dsse);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ks_span rest;

	if (size == 0)
		return 0;
	rest = ks_span(data + 1, size - 1);
	if (data[0] == 'E')
		try_envelope(rest);
	else if (data[0] == 'S')
		try_statement(rest);
	else if (data[0] == 'R')
		try_raw(rest);
	return 0;
}
