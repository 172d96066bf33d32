/*
 * Whatever text is accepted has a canonical form that is accepted again,
 * unchanged, and that the reader steps through without losing a byte.
 */
#include "format/jcs.h"
#include "format/json.h"
#include "../lib/fuzz.h"

/* Copy `value` by stepping through its members or elements. */
static void
rebuild(struct ks_buf *out, struct ks_span value)
{
	enum ks_json_type type = ks_json_type(value);
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span last = ks_span(NULL, 0);
	struct ks_span name = ks_span(NULL, 0);
	struct ks_span item;
	size_t count = 0;

	if (type != KS_JSON_OBJECT && type != KS_JSON_ARRAY) {
		ks_buf_append(out, value);
		return;
	}
	ks_buf_byte(out, type == KS_JSON_OBJECT ? '{' : '[');
	while (type == KS_JSON_OBJECT ?
		ks_json_next_member(&it, &name, &item) :
		ks_json_next_element(&it, &item)) {
		if (count++ > 0)
			ks_buf_byte(out, ',');
		if (type == KS_JSON_OBJECT) {
			require(count == 1 ||
				ks_json_name_compare(last, name) < 0);
			last = name;
			ks_buf_byte(out, '"');
			ks_buf_append(out, name);
			ks_buf_text(out, "\":");
		}
		rebuild(out, item);
	}
	ks_buf_byte(out, type == KS_JSON_OBJECT ? '}' : ']');
	require(count == ks_json_count(value));
}

static void
check_reader(struct ks_span canonical)
{
	struct ks_buf out = KS_BUF_INIT;

	rebuild(&out, canonical);
	require(ks_span_equal(ks_buf_span(&out), canonical));
	if (ks_json_type(canonical) == KS_JSON_OBJECT) {
		ks_buf_clear(&out);
		ks_json_merge(&out, canonical, canonical);
		require(ks_span_equal(ks_buf_span(&out), canonical));
	}
	if (ks_json_type(canonical) == KS_JSON_STRING) {
		struct ks_buf quoted = KS_BUF_INIT;

		ks_buf_clear(&out);
		ks_json_unescape(&out, ks_json_raw(canonical));
		ks_json_quote(&quoted, ks_buf_span(&out));
		require(ks_span_equal(ks_buf_span(&quoted), canonical));
		ks_buf_release(&quoted);
	}
	ks_buf_release(&out);
}

/* The text of a run page is JSON too, and means the same. */
static void
check_page(struct ks_jcs *jcs, struct ks_span canonical)
{
	struct ks_buf page = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;

	ks_json_print_jsonb(&page, canonical);
	require(ks_jcs_scan(jcs, ks_buf_span(&page), &ks_jcs_rfc8785, &out,
		NULL) == KS_OK);
	require(ks_span_equal(ks_buf_span(&out), canonical));
	ks_buf_release(&page);
	ks_buf_release(&out);
}

static void
check_policy(struct ks_jcs *jcs, struct ks_span text,
	const struct ks_jcs_policy *policy)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_buf again = KS_BUF_INIT;
	enum ks_status status = ks_jcs_scan(jcs, text, policy, &out, &err);
	bool same = ks_span_equal(text, ks_buf_span(&out));

	if (status != KS_OK) {
		require(status == KS_INVALID && err.status == KS_INVALID);
		require(err.message[0] != '\0' && out.len == 0);
		require(ks_jcs_check(jcs, text, policy, NULL) == KS_INVALID);
		ks_buf_release(&out);
		return;
	}
	require(ks_jcs_check(jcs, text, policy, NULL) ==
		(same ? KS_OK : KS_INVALID));
	require(ks_jcs_check(jcs, ks_buf_span(&out), policy, NULL) == KS_OK);
	require(ks_jcs_scan(jcs, ks_buf_span(&out), policy, &again, NULL) ==
		KS_OK);
	require(ks_span_equal(ks_buf_span(&out), ks_buf_span(&again)));
	require(policy->max_depth == 0 ||
		ks_json_depth(ks_buf_span(&out)) <= policy->max_depth);
	check_reader(ks_buf_span(&out));
	check_page(jcs, ks_buf_span(&out));
	ks_buf_release(&out);
	ks_buf_release(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ks_span text = ks_span(data, size);
	struct ks_jcs *jcs;

	if (ks_jcs_new(&jcs, NULL) != KS_OK)
		return 0;
	check_policy(jcs, text, &ks_jcs_rfc8785);
	check_policy(jcs, text, &ks_jcs_manifest);
	check_policy(jcs, text, &ks_jcs_row);
	ks_jcs_free(jcs);
	return 0;
}
