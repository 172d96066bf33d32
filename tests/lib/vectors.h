/*
 * What tests share that read vectors: files of fixtures/trust, which are part
 * of the repository, and of the shared folder, without which a test is
 * skipped; and members of JSON that must be there.
 *
 * For cmocka programs, which include their own headers first.
 */
#ifndef TESTS_LIB_VECTORS_H
#define TESTS_LIB_VECTORS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/hex.h"
#include "format/id.h"
#include "format/jcs.h"
#include "format/json.h"

#define VECTOR_LIMIT ((uint64_t)1 << 24)

/* A file under fixtures/trust. */
static inline void
vector_read(const char *name, struct ks_buf *out)
{
	struct ks_error err = KS_ERROR_INIT;
	char path[512];

	(void)snprintf(path, sizeof(path), "fixtures/trust/%s", name);
	if (ks_file_read(path, VECTOR_LIMIT, out, &err) != KS_OK)
		fail_msg("%s", err.message);
}

/* A file of the shared folder's vectors/trust, or a skipped test. */
static inline void
vector_read_shared(const char *name, struct ks_buf *out)
{
	const char *shared = getenv("KISTORE_SHARED");
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/vectors/trust/%s",
		shared == NULL ? "../shared" : shared, name);
	if (ks_file_read(path, VECTOR_LIMIT, out, NULL) == KS_OK)
		return;
	print_message("not here: %s\n", path);
	ks_buf_release(out);
	skip();
}

/* Put canonical JSON in place of a JSON text. */
static inline struct ks_span
vector_json(struct ks_buf *text)
{
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_jcs *jcs = NULL;

	assert_int_equal(ks_jcs_new(&jcs, NULL), KS_OK);
	if (ks_jcs_scan(jcs, ks_buf_span(text), &ks_jcs_rfc8785, &out,
		&err) != KS_OK)
		fail_msg("%s", err.message);
	ks_jcs_free(jcs);
	ks_buf_release(text);
	*text = out;
	return ks_buf_span(text);
}

/* A file under fixtures/trust as canonical JSON, in `out`. */
static inline struct ks_span
vector_read_json(const char *name, struct ks_buf *out)
{
	vector_read(name, out);
	return vector_json(out);
}

static inline struct ks_span
vector_member(struct ks_span object, const char *name)
{
	struct ks_span value = ks_span(NULL, 0);

	if (!ks_json_find(object, name, &value))
		fail_msg("no member %s", name);
	return value;
}

static inline struct ks_span
vector_element(struct ks_span array, size_t index)
{
	struct ks_json_iter it = ks_json_iter(array);
	struct ks_span value = ks_span(NULL, 0);
	size_t i;

	for (i = 0; i <= index; i++)
		assert_true(ks_json_next_element(&it, &value));
	return value;
}

/* The characters of a string, in `out`, which is emptied first. */
static inline struct ks_span
vector_unescape(struct ks_span string, struct ks_buf *out)
{
	assert_int_equal(ks_json_type(string), KS_JSON_STRING);
	ks_buf_clear(out);
	ks_json_unescape(out, ks_json_raw(string));
	assert_false(out->failed);
	return ks_buf_span(out);
}

/* Those of a member, which the caller releases. */
static inline struct ks_buf
vector_string(struct ks_span object, const char *name)
{
	struct ks_buf out = KS_BUF_INIT;

	(void)vector_unescape(vector_member(object, name), &out);
	return out;
}

/* A string without escapes. */
static inline struct ks_span
vector_text(struct ks_span object, const char *name)
{
	return ks_json_raw(vector_member(object, name));
}

static inline uint64_t
vector_number(struct ks_span object, const char *name)
{
	int64_t value = -1;

	assert_true(ks_json_integer(vector_member(object, name), &value));
	assert_true(value >= 0);
	return (uint64_t)value;
}

/* A string of exactly as many bytes in hex. */
static inline void
vector_bytes(struct ks_span object, const char *name, uint8_t *out, size_t len)
{
	assert_true(ks_hex_decode(vector_text(object, name), out, len));
}

static inline struct ks_id
vector_base64(struct ks_span text)
{
	struct ks_id id = { { 0 } };

	assert_true(ks_base64_decode_exact(text, id.bytes, KS_ID_BYTES));
	return id;
}

static inline struct ks_id
vector_hex(struct ks_span text)
{
	struct ks_id id = { { 0 } };

	assert_true(ks_id_parse_hex(&id, text));
	return id;
}

#endif
