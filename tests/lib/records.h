/*
 * What tests share that read records: canonical text from JSON, and the seeds
 * of fixtures/seeds taken apart.
 *
 * For cmocka programs, which include their own headers first.
 */
#ifndef TESTS_LIB_RECORDS_H
#define TESTS_LIB_RECORDS_H

#include <stdio.h>

#include "base/file.h"
#include "format/jcs.h"
#include "format/json.h"

#define RECORD_LIMIT ((uint64_t)1 << 20)

/* A record: its canonical text, of which the spans are parts. */
struct record {
	struct ks_buf text;
	struct ks_span manifest, spec, metadata;
};

/* Make a record, or any other value, of JSON text. */
static inline struct record
record_of(struct ks_span json)
{
	struct record r = { .text = KS_BUF_INIT };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_jcs *jcs = NULL;

	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	if (ks_jcs_scan(jcs, json, &ks_jcs_rfc8785, &r.text, &err) != KS_OK)
		fail_msg("%s", err.message);
	ks_jcs_free(jcs);
	r.manifest = ks_buf_span(&r.text);
	r.spec = ks_json_get(r.manifest, "spec");
	r.metadata = ks_json_get(r.manifest, "metadata");
	return r;
}

/* The record fixtures/seeds/closure/NAME.json, such as "000/run". */
static inline struct record
record_seed(const char *name)
{
	struct ks_buf json = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct record r;
	char path[512];

	(void)snprintf(path, sizeof(path), "fixtures/seeds/closure/%s.json",
		name);
	if (ks_file_read(path, RECORD_LIMIT, &json, &err) != KS_OK)
		fail_msg("%s", err.message);
	r = record_of(ks_buf_span(&json));
	ks_buf_release(&json);
	return r;
}

static inline void
record_release(struct record *r)
{
	ks_buf_release(&r->text);
}

/* JSON that no table of kinds lets through, for functions that read specs:
 * each is tried by itself, and as the value of each of `names`, and of each in
 * each other. */
typedef void record_try_fn(struct ks_span value);

static inline void
record_try_odd(record_try_fn *try, const char *const *names, size_t count)
{
	static const char *const odd[] = { "null", "true", "0", "-1e300",
		"\"\"", "\"\\u0000\\\"\\\\\"", "\"a\xc2\xb7\"", "[]", "[[]]",
		"[null,1,\"x\",{}]", "[{\"dtype\":1},{\"metric\":[]}]", "{}",
		"{\"\":{\"\":[]}}", "{\"dtype\":\"\",\"name\":7}" };
	struct ks_buf text = KS_BUF_INIT;
	size_t i, k, m;

	try(ks_span(NULL, 0));
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		try(ks_span_text(odd[i]));
		for (k = 0; k < count; k++) {
			ks_buf_clear(&text);
			ks_buf_printf(&text, "{\"%s\":%s}", names[k], odd[i]);
			try(ks_buf_span(&text));
			for (m = 0; m < count; m++) {
				ks_buf_clear(&text);
				ks_buf_printf(&text, "{\"%s\":{\"%s\":%s}}",
					names[k], names[m], odd[i]);
				try(ks_buf_span(&text));
				ks_buf_clear(&text);
				ks_buf_printf(&text, "{\"%s\":[{\"%s\":%s}]}",
					names[k], names[m], odd[i]);
				try(ks_buf_span(&text));
			}
		}
	}
	ks_buf_release(&text);
}

#endif
