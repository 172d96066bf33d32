/*
 * A citation file that is accepted is written again as the same bytes, and
 * whatever is not is refused with a reason.
 */
#include "format/citation.h"
#include "../lib/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ks_span file = ks_span(data, size);
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_citation *citation;
	struct ks_citation_facts facts;
	enum ks_status status = ks_citation_read(&citation, file, &err);

	require((status == KS_OK) == (citation != NULL));
	require(status == KS_OK || (err.status == status &&
		err.message[0] != '\0'));
	require(status == KS_OK || status == KS_CORRUPT ||
		status == KS_UNSUPPORTED || status == KS_NOMEM);
	if (status == KS_OK) {
		ks_citation_facts(citation, &facts);
		require(facts.objects > 0 && facts.lines >= facts.objects);
		require(facts.index < facts.checkpoint.size);
		require(ks_citation_write(citation, &out, &err) == KS_OK);
		require(ks_span_equal(ks_buf_span(&out), file));
	}
	ks_citation_free(citation);
	ks_buf_release(&out);
	return 0;
}
