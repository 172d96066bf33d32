/*
 * A log line that is accepted is written again as the same bytes, and what is
 * written is accepted as the same entry.
 */
#include <stdlib.h>

#include "format/entry.h"
#include "format/json.h"
#include "../lib/fuzz.h"

/* Members that begin with "x-" are not kept. */
static bool
has_extension(struct ks_span line)
{
	struct ks_json_iter it = ks_json_iter(line);
	struct ks_span name, value;

	while (ks_json_next_member(&it, &name, &value)) {
		if (name.len >= 2 && name.data[0] == 'x' &&
			name.data[1] == '-')
			return true;
	}
	return false;
}

static void
check_time(struct ks_span at)
{
	char text[KS_TIME_TEXT + 1];
	int64_t seconds;

	require(ks_time_parse(at, &seconds));
	require(ks_time_print(seconds, text));
	require(ks_span_is(at, text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ks_jcs *jcs;
	struct ks_span line = ks_span(data, size);
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_entry entry;
	enum ks_status status;

	if (jcs == NULL && ks_jcs_new(&jcs, NULL) != KS_OK)
		abort();
	status = ks_entry_parse(jcs, line, &entry, &err);
	require(status == KS_OK || (status == err.status &&
		(status == KS_CORRUPT || status == KS_UNSUPPORTED)));
	if (entry.at.len > 0)
		check_time(entry.at);
	if (status == KS_OK && entry.op != KS_OP_EXTENSION &&
		!has_extension(line)) {
		require(ks_entry_write(&entry, &out, &err) == KS_OK);
		require(ks_span_equal(ks_buf_span(&out), line));
	}
	ks_buf_release(&out);
	return 0;
}
