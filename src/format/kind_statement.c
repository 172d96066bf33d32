#include "format/kind_statement.h"

#include "base/base64.h"
#include "format/statement.h"

enum ks_status
ks_kind_statement(struct ks_span payload, struct ks_id *subject,
	struct ks_error *err)
{
	struct ks_buf canonical = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_statement_frame frame;
	enum ks_status status;

	memset(subject, 0, sizeof(*subject));
	if (ks_base64_decode(payload, &text))
		status = ks_buf_check(&text, err);
	else
		status = ks_fail(err, KS_INVALID,
			"must be base64 text (RFC 4648 section 4, padded)");
	if (status == KS_OK)
		status = ks_statement_frame(ks_buf_span(&text), &canonical,
			&frame, err);
	if (status == KS_OK)
		*subject = frame.subject;
	ks_buf_release(&canonical);
	ks_buf_release(&text);
	return status;
}
