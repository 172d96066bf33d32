#include "format/kind_statement.h"

#include "base/base64.h"
#include "format/jcs.h"
#include "format/json.h"

/* The digest of the only element of `subjects`. */
static enum ks_status
read_subject(struct ks_span subjects, struct ks_id *subject,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(subjects);
	struct ks_span element, digest, sha256;

	if (ks_json_type(subjects) != KS_JSON_ARRAY ||
		ks_json_count(subjects) != 1 ||
		!ks_json_next_element(&it, &element))
		return ks_fail(err, KS_INVALID,
			"must state exactly one subject");
	if (!ks_json_find(element, "digest", &digest) ||
		!ks_json_find(digest, "sha256", &sha256) ||
		ks_json_type(sha256) != KS_JSON_STRING ||
		!ks_id_parse_hex(subject, ks_json_raw(sha256)))
		return ks_fail(err, KS_INVALID, "must give its subject's "
			"sha256 digest as 64 lower-case hex digits");
	return KS_OK;
}

/* Judge a statement in canonical form. */
static enum ks_status
read_statement(struct ks_span statement, struct ks_id *subject,
	struct ks_error *err)
{
	struct ks_span value;

	if (!ks_json_find(statement, "_type", &value) ||
		!ks_json_is(value, "https://in-toto.io/Statement/v1"))
		return ks_fail(err, KS_INVALID,
			"must be an in-toto Statement v1");
	if (!ks_json_find(statement, "predicateType", &value) ||
		ks_json_type(value) != KS_JSON_STRING ||
		ks_json_raw(value).len == 0)
		return ks_fail(err, KS_INVALID, "must state a predicateType");
	if (ks_json_find(statement, "predicate", &value) &&
		ks_json_type(value) != KS_JSON_OBJECT)
		return ks_fail(err, KS_INVALID,
			"must have an object as its predicate");
	if (!ks_json_find(statement, "subject", &value))
		return ks_fail(err, KS_INVALID,
			"must state exactly one subject");
	return read_subject(value, subject, err);
}

enum ks_status
ks_statement_read(struct ks_span payload, struct ks_id *subject,
	struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf statement = KS_BUF_INIT;
	struct ks_jcs *jcs = NULL;
	struct ks_id found;
	enum ks_status status;

	memset(subject, 0, sizeof(*subject));
	if (!ks_base64_decode(payload, &text)) {
		status = ks_fail(err, KS_INVALID,
			"must be base64 text (RFC 4648 section 4, padded)");
		goto done;
	}
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_jcs_new(&jcs, err);
	if (status != KS_OK)
		goto done;
	status = ks_jcs_scan(jcs, ks_buf_span(&text), &ks_jcs_rfc8785,
		&statement, err);
	if (status != KS_OK) {
		(void)ks_context(err, "must be JSON text");
		goto done;
	}
	status = read_statement(ks_buf_span(&statement), &found, err);
	if (status == KS_OK)
		*subject = found;
done:
	ks_jcs_free(jcs);
	ks_buf_release(&statement);
	ks_buf_release(&text);
	return status;
}
