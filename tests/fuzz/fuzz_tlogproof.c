/*
 * A proof text that is accepted is written again as the same bytes, whether
 * it may have an extra line decides nothing else, and checking what it proves
 * ends.
 */
#include "format/tlogproof.h"
#include "../lib/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ks_span text = ks_span(data, size);
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_tlogproof proof, plain;
	struct ks_id leaf;
	enum ks_status status = ks_tlogproof_parse(text, true, &proof, &err);
	enum ks_status strict = ks_tlogproof_parse(text, false, &plain, NULL);

	require(status == KS_OK ||
		(status == KS_CORRUPT && err.status == KS_CORRUPT));
	require(strict == (proof.extra.len == 0 ? status : KS_CORRUPT));
	if (status == KS_OK) {
		require(ks_tlogproof_write(&proof, &out, &err) == KS_OK);
		require(ks_span_equal(ks_buf_span(&out), text));
		ks_merkle_leaf(text, &leaf);
		require(!ks_proof_check_inclusion(&leaf, proof.index,
			proof.index + 1 + (size & 7), &proof.proof, &leaf) ||
			(proof.index == 0 && (size & 7) == 0));
	}
	ks_buf_release(&out);
	return 0;
}
