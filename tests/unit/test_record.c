#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/json.h"
#include "format/record.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define API "\"apiVersion\":\"kernelindex.dev/v1alpha1\""
#define PROJECT_START "{" API ",\"kind\":\"SoftwareProject\","
#define PROJECT PROJECT_START \
	"\"metadata\":{\"name\":\"p\"},\"spec\":{\"name\":\"P\"}}"
#define X10 "xxxxxxxxxx"
#define X120 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10

static struct ks_jcs *jcs;

static int
start(void **state)
{
	(void)state;
	return ks_jcs_new(&jcs, NULL) == KS_OK ? 0 : -1;
}

static int
stop(void **state)
{
	(void)state;
	ks_jcs_free(jcs);
	return 0;
}

/* The canonical form of `text` in `out`, or why there is none in `err`. */
static enum ks_status
scan(struct ks_span text, struct ks_buf *out, struct ks_error *err)
{
	return ks_jcs_scan(jcs, text, &ks_jcs_manifest, out, err);
}

/* What a reading reported, one finding a line. */
struct seen {
	struct ks_buf text;
};

static bool
remember(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	struct seen *seen = arg;

	ks_buf_printf(&seen->text, "%d %s: %s\n", (int)level, path, message);
	return false;	/* must not stop anything */
}

static const struct ks_record_policy plain = { .strict = false };
static const struct ks_record_policy strict = { .strict = true };
static const struct ks_record_policy lenient = { .allow_unknown_kind = true };

static enum ks_status
read_text(const char *text, const struct ks_record_policy *policy,
	struct seen *seen, struct ks_buf *manifest, struct ks_record *record,
	struct ks_buf *body, struct ks_id *digest, struct ks_error *err)
{
	assert_int_equal(scan(ks_span_text(text), manifest, err), KS_OK);
	return ks_record_read(ks_buf_span(manifest), policy,
		seen == NULL ? NULL : remember, seen, record, body, digest,
		err);
}

/* Taking apart. */

static const struct {
	const char *text;
	const char *says;
} no_manifests[] = {
	{ "null", "manifest: must be an object" },
	{ "[]", "manifest: must be an object" },
	{ "\"apiVersion\"", "manifest: must be an object" },
	{ "{}", "apiVersion: missing" },
	{ "{\"kind\":\"K\",\"spec\":{}}", "apiVersion: missing" },
	{ "{\"apiVersion\":\"a\",\"spec\":{}}", "kind: missing" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\"}", "spec: missing" },
	{ "{\"apiVersion\":1,\"kind\":\"K\",\"spec\":{}}",
		"apiVersion: must be a string, not a number" },
	{ "{\"apiVersion\":\"a\",\"kind\":null,\"spec\":{}}",
		"kind: must be a string, not null" },
	{ "{\"apiVersion\":\"\",\"kind\":\"K\",\"spec\":{}}",
		"apiVersion: must be 1 to 128" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"\",\"spec\":{}}",
		"kind: must be 1 to 128" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"" X120 "123456789\",\"spec\":{}}",
		"kind: must be 1 to 128" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"a/b\",\"spec\":{}}",
		"kind: must not contain \"/\"" },
	{ "{\"apiVersion\":\"\\u00e9\",\"kind\":\"K\",\"spec\":{}}",
		"apiVersion: must be printable" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"a\\nb\",\"spec\":{}}",
		"kind: must be printable" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"a\\u001fb\",\"spec\":{}}",
		"kind: must be printable" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"a\\u007fb\",\"spec\":{}}",
		"kind: must be printable" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":[]}",
		"spec: must be an object, not an array" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":null}",
		"spec: must be an object, not null" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"metadata\":null,\"spec\":{}}",
		"metadata: must be an object, not null" },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{},\"status\":{}}",
		"unknown member \"status\"" },
	{ "{\"Kind\":\"K\",\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{}}",
		"unknown member \"Kind\"" },
	{ "{\"\\u0007\":1,\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{}}",
		"unknown member \"\\u0007\"" },
};

static void
what_is_no_manifest_is_refused_with_member_and_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(no_manifests); i++) {
		struct ks_buf manifest = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;
		struct ks_record record = { .spec = ks_span("x", 1) };

		assert_int_equal(scan(ks_span_text(no_manifests[i].text),
			&manifest, &err), KS_OK);
		assert_int_equal(ks_record_split(ks_buf_span(&manifest),
			&record, &err), KS_INVALID);
		if (strstr(err.message, no_manifests[i].says) == NULL)
			fail_msg("%s: %s", no_manifests[i].text, err.message);
		assert_int_equal(record.spec.len, 0);
		assert_null(record.kind);
		ks_buf_release(&manifest);
	}
}

static void
a_manifest_is_taken_apart_into_spans_of_its_text(void **state)
{
	struct ks_record record;
	struct ks_buf kind = KS_BUF_INIT;

	(void)state;
	assert_int_equal(ks_record_split(ks_span_text(PROJECT), &record, NULL),
		KS_OK);
	assert_true(ks_span_is(record.api_version, "kernelindex.dev/v1alpha1"));
	assert_true(ks_span_is(record.kind_name, "SoftwareProject"));
	assert_true(ks_span_is(record.metadata, "{\"name\":\"p\"}"));
	assert_true(ks_span_is(record.spec, "{\"name\":\"P\"}"));
	assert_string_equal(ks_kind_name(record.kind), "SoftwareProject");
	ks_record_full_kind(&record, &kind);
	assert_string_equal(ks_buf_cstr(&kind),
		"kernelindex.dev/v1alpha1/SoftwareProject");
	ks_buf_release(&kind);
}

static void
apiVersion_and_kind_may_have_128_characters_counted_unescaped(void **state)
{
	static const char text[] = "{\"apiVersion\":\"" X120 "1234567\\\"\","
		"\"kind\":\"" X120 "123 567\\\\\",\"spec\":{}}";
	struct ks_record record;

	(void)state;
	assert_int_equal(ks_record_split(ks_span_text(text), &record, NULL),
		KS_OK);
	assert_null(record.kind);
	assert_int_equal(record.api_version.len, 129);
}

/* Bodies. */

static const struct {
	const char *bytes;
	bool is_body;
} bodies[] = {
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{}}", true },
	{ "{\"apiVersion\":\"a/b\",\"kind\":\"K\",\"spec\":{\"x\":1}}", true },
	/* Tables grow: what they would say does not decide. */
	{ PROJECT_START "\"spec\":{}}", true },
	{ PROJECT, false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"metadata\":{},\"spec\":{}}",
		false },
	{ "", false },
	{ "{}", false },
	{ "{\"apiVersion\":\"", false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{}}\n", false },
	{ " {\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{}}", false },
	{ "{\"apiVersion\":\"a\",\"spec\":{},\"kind\":\"K\"}", false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K/L\",\"spec\":{}}", false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":[]}", false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{\"x\":1.0}}",
		false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{\"x\":\"\\u0000\"}}",
		false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{\"x\":\"\xff\"}}",
		false },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"spec\":{},\"x\":1}", false },
};

static void
only_canonical_bodies_within_the_limits_are_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bodies); i++) {
		struct ks_record record = { .spec = ks_span("x", 1) };

		if (ks_record_is_body(jcs, ks_span_text(bodies[i].bytes),
			&record) != bodies[i].is_body)
			fail_msg("%s", bodies[i].bytes);
		assert_int_equal(record.metadata.len, 0);
		assert_int_equal(record.spec.len != 0, bodies[i].is_body);
	}
}

/* A body of `size` bytes whose spec is one long string. */
static void
long_body(struct ks_buf *out, size_t size)
{
	ks_buf_text(out, "{\"apiVersion\":\"a\",\"kind\":\"K\","
		"\"spec\":{\"s\":\"");
	while (out->len < size - 3)
		ks_buf_byte(out, 'x');
	ks_buf_text(out, "\"}}");
	assert_int_equal(out->len, size);
}

static void
a_body_may_have_one_mebibyte_and_no_byte_more(void **state)
{
	(void)state;
	for (size_t extra = 0; extra < 2; extra++) {
		struct ks_buf text = KS_BUF_INIT, body = KS_BUF_INIT;
		struct ks_record record;
		struct ks_id digest;

		long_body(&text, 1048576 + extra);
		assert_int_equal(ks_record_is_body(jcs, ks_buf_span(&text),
			&record), extra == 0);
		assert_int_equal(ks_record_read(ks_buf_span(&text), &lenient,
			NULL, NULL, &record, &body, &digest, NULL),
			extra == 0 ? KS_OK : KS_INVALID);
		ks_buf_release(&text);
		ks_buf_release(&body);
	}
}

static void
a_body_is_written_from_its_parts(void **state)
{
	struct ks_record record;
	struct ks_buf body = KS_BUF_INIT;

	(void)state;
	assert_int_equal(ks_record_split(ks_span_text(PROJECT), &record, NULL),
		KS_OK);
	ks_record_body(&record, &body);
	assert_string_equal(ks_buf_cstr(&body),
		PROJECT_START "\"spec\":{\"name\":\"P\"}}");
	ks_buf_release(&body);
}

/* Reading. */

static void
a_body_is_appended_and_hashed_without_metadata(void **state)
{
	struct ks_buf manifest = KS_BUF_INIT, body = KS_BUF_INIT;
	struct ks_record record;
	struct ks_id digest;
	char text[KS_ID_TEXT + 1];

	(void)state;
	ks_buf_text(&body, "before");
	assert_int_equal(read_text("{\"spec\":{\"name\":\"P\"},"
		"\"metadata\":{\"name\":\"p\"},\"kind\":\"SoftwareProject\","
		API "}", &plain, NULL, &manifest, &record, &body, &digest,
		NULL), KS_OK);
	assert_string_equal(ks_buf_cstr(&body),
		"before" PROJECT_START "\"spec\":{\"name\":\"P\"}}");
	/* As sha256sum gives it. */
	assert_string_equal(ks_id_print(&digest, text),
		"sha256:96c9fe7a05f3ff6b9559de77865128c4"
		"399cbec59e23a64a4e070d292aa938b5");
	assert_true(ks_span_is(record.metadata, "{\"name\":\"p\"}"));
	ks_buf_release(&manifest);
	ks_buf_release(&body);
}

static const struct {
	const char *text;
	const struct ks_record_policy *policy;
	const char *says[3];
} refused[] = {
	{ "{\"apiVersion\":\"a/v1\",\"kind\":\"K\",\"spec\":{}}", &plain,
		{ "kind \"K\" of apiVersion \"a/v1\" is not known; "
			"--allow-unknown-kind stores it as it is" } },
	{ "{" API ",\"kind\":\"Project\",\"spec\":{}}", &plain,
		{ "kind \"Project\"", "kernelindex.dev/v1alpha1" } },
	{ PROJECT_START "\"spec\":{\"name\":\"P\"}}", &plain,
		{ "metadata: missing", "SoftwareProject" } },
	{ PROJECT_START "\"metadata\":{},\"spec\":{\"name\":\"P\"}}", &plain,
		{ "metadata: missing" } },
	{ PROJECT_START "\"metadata\":{\"name\":\"P Q\"},"
		"\"spec\":{\"name\":\"P\"}}", &plain, { "metadata.name: " } },
	{ PROJECT_START "\"metadata\":{\"name\":\"p\"},\"spec\":{}}", &plain,
		{ "spec.name: " } },
	{ PROJECT_START "\"metadata\":{\"name\":\"p\"},"
		"\"spec\":{\"name\":\"P\",\"popularity\":9001}}", &strict,
		{ "spec.popularity: ", "(--strict refuses it)" } },
	{ PROJECT_START "\"metadata\":{\"name\":\"p\",\"x\":1},"
		"\"spec\":{\"name\":\"P\"}}", &strict,
		{ "metadata.x: ", "(--strict refuses it)" } },
	/* Allowing unknown kinds does not loosen the known ones. */
	{ PROJECT_START "\"metadata\":{\"name\":\"p\"},\"spec\":{}}",
		&lenient, { "spec.name: " } },
	{ "{\"apiVersion\":\"a\",\"kind\":\"K\",\"metadata\":1,\"spec\":{}}",
		&lenient, { "metadata: must be an object" } },
};

static void
a_refusal_names_path_and_rule_and_leaves_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct ks_buf manifest = KS_BUF_INIT, body = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;
		struct ks_record record = { .spec = ks_span("x", 1) };
		struct ks_id digest = { .bytes = { 1 } };

		ks_buf_text(&body, "before");
		assert_int_equal(read_text(refused[i].text, refused[i].policy,
			NULL, &manifest, &record, &body, &digest, &err),
			KS_INVALID);
		for (size_t k = 0; k < 3 && refused[i].says[k] != NULL; k++)
			if (strstr(err.message, refused[i].says[k]) == NULL)
				fail_msg("%s: %s", refused[i].text,
					err.message);
		assert_int_equal(body.len, 6);
		assert_int_equal(record.spec.len, 0);
		assert_int_equal(digest.bytes[0], 0);
		ks_buf_release(&manifest);
		ks_buf_release(&body);
	}
}

static void
an_unknown_member_is_kept_and_reported(void **state)
{
	struct ks_buf manifest = KS_BUF_INIT, body = KS_BUF_INIT;
	struct seen seen = { .text = KS_BUF_INIT };
	struct ks_record record;
	struct ks_id digest;

	(void)state;
	assert_int_equal(read_text(PROJECT_START "\"metadata\":{\"name\":"
		"\"p\",\"x\":1},\"spec\":{\"name\":\"P\",\"popularity\":1}}",
		&plain, &seen, &manifest, &record, &body, &digest, NULL),
		KS_OK);
	assert_string_equal(ks_buf_cstr(&body), PROJECT_START
		"\"spec\":{\"name\":\"P\",\"popularity\":1}}");
	assert_non_null(strstr(ks_buf_cstr(&seen.text), "1 metadata"));
	assert_non_null(strstr(ks_buf_cstr(&seen.text), "1 spec"));
	ks_buf_release(&manifest);
	ks_buf_release(&body);
	ks_buf_release(&seen.text);
}

static void
an_unknown_kind_is_taken_as_it_is_where_that_is_allowed(void **state)
{
	static const char text[] = "{\"apiVersion\":\"a\",\"kind\":\"K\","
		"\"metadata\":{\"any\":[null]},\"spec\":{\"any\":null}}";
	struct ks_buf body = KS_BUF_INIT;
	struct ks_record record;
	struct ks_id digest;

	(void)state;
	assert_int_equal(ks_record_read(ks_span_text(text), &lenient, NULL,
		NULL, &record, &body, &digest, NULL), KS_OK);
	assert_null(record.kind);
	assert_true(ks_span_is(record.metadata, "{\"any\":[null]}"));
	assert_string_equal(ks_buf_cstr(&body), "{\"apiVersion\":\"a\","
		"\"kind\":\"K\",\"spec\":{\"any\":null}}");
	ks_buf_release(&body);
}

static void
metadata_may_be_missing_or_empty_in_kinds_of_kistore(void **state)
{
	static const char *const texts[] = {
		"{\"apiVersion\":\"kistore/v1\",\"kind\":\"Source\",\"spec\":"
			"{\"kind\":\"k\",\"name\":\"N\",\"slug\":\"s\"}}",
		"{\"apiVersion\":\"kistore/v1\",\"kind\":\"Source\","
			"\"metadata\":{},\"spec\":"
			"{\"kind\":\"k\",\"name\":\"N\",\"slug\":\"s\"}}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct ks_buf body = KS_BUF_INIT;
		struct ks_record record;
		struct ks_id digest;

		assert_int_equal(ks_record_read(ks_span_text(texts[i]), &plain,
			NULL, NULL, &record, &body, &digest, NULL), KS_OK);
		assert_int_equal(record.metadata.len, 0);
		assert_string_equal(ks_buf_cstr(&body), texts[0]);
		ks_buf_release(&body);
	}
}

#define REVISION(spec) "{" API ",\"kind\":\"ImplementationRevision\"," \
	"\"metadata\":{\"name\":\"i\"},\"spec\":{" \
	"\"callable\":{\"language\":\"cuda\"},\"licensing\":{}," \
	"\"operation\":{\"specDigest\":\"sha256:" \
	"1111111111111111111111111111111111111111111111111111111111111111\"}," \
	"\"projectRevision\":{},\"support\":" spec "}}"

static void
the_spec_is_normalised_before_it_is_hashed(void **state)
{
	static const char *const texts[] = {
		REVISION("{\"dtypes\":[\"fp32\",\"bf16\",\"fp32\"],"
			"\"hardwareArchitectures\":[]}"),
		REVISION("{\"dtypes\":[\"bf16\",\"fp32\"],"
			"\"hardwareArchitectures\":[]}"),
	};
	struct ks_buf body = KS_BUF_INIT;
	struct seen seen = { .text = KS_BUF_INIT };
	struct ks_record record[2];
	struct ks_id digest[2];
	size_t half;

	(void)state;
	assert_int_equal(ks_record_read(ks_span_text(texts[1]), &plain,
		remember, &seen, &record[1], &body, &digest[1], NULL), KS_OK);
	assert_int_equal(seen.text.len, 0);
	half = body.len;
	assert_int_equal(ks_record_read(ks_span_text(texts[0]), &plain,
		remember, &seen, &record[0], &body, &digest[0], NULL), KS_OK);
	assert_non_null(strstr(ks_buf_cstr(&seen.text),
		"2 spec.support.dtypes: "));
	assert_true(ks_id_equal(&digest[0], &digest[1]));
	assert_int_equal(body.len, 2 * half);
	assert_memory_equal(body.data, body.data + half, half);
	/* The spec is the normal form, wherever it now stands. */
	assert_true(ks_span_equal(record[0].spec, record[1].spec));
	ks_buf_release(&body);
	ks_buf_release(&seen.text);
}

/* The shared folder. */

static const char *
shared(void)
{
	const char *path = getenv("KISTORE_SHARED");

	return path != NULL ? path : "../shared";
}

static bool
load(const char *name, struct ks_buf *out)
{
	struct ks_buf path = KS_BUF_INIT;
	uint8_t chunk[4096];
	size_t n;
	FILE *file;

	ks_buf_printf(&path, "%s/%s", shared(), name);
	file = fopen(ks_buf_cstr(&path), "rb");
	ks_buf_release(&path);
	if (file == NULL)
		return false;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		ks_buf_append(out, ks_span(chunk, n));
	(void)fclose(file);
	return !out->failed;
}

static void
need_shared(const char *name, struct ks_buf *out)
{
	if (load(name, out))
		return;
	print_message("no %s/%s\n", shared(), name);
	skip();
}

static const struct {
	const char *name;
	const char *hex;
} examples[] = {
	{ "benchmark-protocol", "6ac212f99724757d058e7a7f440314de"
		"bd2fed235c5178bc006b62c0d5e0d295" },
	{ "benchmark-run", "86d80418deb06f8f6cf44a6b3de9a6b5"
		"78966773689c18e6c84d44c128207394" },
	{ "execution-environment", "46cf7b24b586c71505152d0103b9e841"
		"01de1ac5b66cdd76aabc88356e93db79" },
	{ "implementation-revision", "c560b43111f315d75a81c1cf194c827b"
		"1c294110fe5b20ad2d4467c09c24809e" },
	{ "model-revision", "a8bee6f772dc4b4c35b199f27fe3e40f"
		"7b3b2266dc57e0da432a047a5d52e22d" },
	{ "operation-spec", "7a3b25630f0628b21ed74b6adb588d28"
		"f7e29191f9038bed6f56ed393deefb5b" },
	{ "serving-configuration", "8951b4b4c5edbcb2708cacf29f9936bd"
		"bc18584aae204ea710c30921c060a5ea" },
	{ "serving-run", "717ee7e47dd85b4585c148a4689890d5"
		"b821afdb86070e2e7f99fae6b9abd920" },
	{ "serving-stack-revision", "f00ca9e39835e6c1fa6e95d16904fbf6"
		"33492ea3c61c63774943f0d83fb10717" },
	{ "serving-workload", "48d84537ce32c83fade011934806f89f"
		"1585710e0235921a168a7fed96bb880d" },
	{ "software-project", "40ac06efff5c790b2b3d853bc207f985"
		"a23e677b17c8e3d3b73fb1db32525a09" },
	{ "workload-case", "944ceb3a7d7d4a4c47f1f8ed239363f4"
		"be78a2a90293b4325fb18a274cf97aa3" },
	{ "workload-suite", "e6768c8169e748b3e3bd18845be0191e"
		"45135689a0381af307e1852f867a255d" },
};

static void
the_published_examples_get_their_published_digests(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(examples); i++) {
		struct ks_buf text = KS_BUF_INIT, canonical = KS_BUF_INIT;
		struct ks_buf body = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;
		struct ks_record record;
		struct ks_id digest;
		char name[128], hex[KS_ID_HEX + 1];

		(void)snprintf(name, sizeof(name), "vectors/examples/%s.json",
			examples[i].name);
		need_shared(name, &text);
		assert_int_equal(scan(ks_buf_span(&text), &canonical, &err),
			KS_OK);
		if (ks_record_read(ks_buf_span(&canonical), &strict, NULL,
			NULL, &record, &body, &digest, &err) != KS_OK)
			fail_msg("%s: %s", name, err.message);
		assert_string_equal(ks_id_print_hex(&digest, hex),
			examples[i].hex);
		assert_true(ks_record_is_body(jcs, ks_buf_span(&body),
			&record));
		ks_buf_release(&text);
		ks_buf_release(&canonical);
		ks_buf_release(&body);
	}
}

static const struct {
	const char *name;
	const char *says;
	bool only_strict;
} invalid[] = {
	{ "ambiguous-duration", "spec.timing.latencyNs.median: ", false },
	{ "bad-digest", "spec.operationSpecDigest: ", false },
	{ "duplicate-key", "name", false },
	{ "unknown-field", "popularity", true },
};

static void
the_published_counter_examples_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(invalid); i++) {
		for (int is_strict = 0; is_strict < 2; is_strict++) {
			struct ks_buf text = KS_BUF_INIT;
			struct ks_buf canonical = KS_BUF_INIT;
			struct ks_buf body = KS_BUF_INIT;
			struct ks_error err = KS_ERROR_INIT;
			struct ks_record record;
			struct ks_id digest;
			enum ks_status status;
			char name[128];

			(void)snprintf(name, sizeof(name),
				"vectors/examples/invalid/%s.json",
				invalid[i].name);
			need_shared(name, &text);
			status = scan(ks_buf_span(&text), &canonical, &err);
			if (status == KS_OK)
				status = ks_record_read(
					ks_buf_span(&canonical),
					is_strict != 0 ? &strict : &plain,
					NULL, NULL, &record, &body, &digest,
					&err);
			if (invalid[i].only_strict && is_strict == 0)
				assert_int_equal(status, KS_OK);
			else if (status != KS_INVALID || strstr(err.message,
				invalid[i].says) == NULL)
				fail_msg("%s: %s", name, err.message);
			ks_buf_release(&text);
			ks_buf_release(&canonical);
			ks_buf_release(&body);
		}
	}
}

static const char *const closure[] = {
	"000/environment", "000/implementation", "000/operation",
	"000/project", "000/protocol", "000/run", "000/workload",
	"003/environment", "003/implementation", "003/operation",
	"003/project", "003/protocol", "003/run", "003/workload",
};

static void
the_seeds_give_their_identity_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(closure); i++) {
		struct ks_buf text = KS_BUF_INIT, canonical = KS_BUF_INIT;
		struct ks_buf body = KS_BUF_INIT, wanted = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;
		struct ks_record record;
		struct ks_id digest;
		char name[128];

		(void)snprintf(name, sizeof(name),
			"data/seeds/closure/%s.json", closure[i]);
		need_shared(name, &text);
		(void)snprintf(name, sizeof(name),
			"data/seeds/closure/%s.jcs", closure[i]);
		need_shared(name, &wanted);
		assert_int_equal(scan(ks_buf_span(&text), &canonical, &err),
			KS_OK);
		if (ks_record_read(ks_buf_span(&canonical), &strict, NULL,
			NULL, &record, &body, &digest, &err) != KS_OK)
			fail_msg("%s: %s", name, err.message);
		assert_int_equal(body.len, wanted.len);
		assert_memory_equal(body.data, wanted.data, wanted.len);
		assert_true(ks_record_is_body(jcs, ks_buf_span(&wanted),
			&record));
		ks_buf_release(&text);
		ks_buf_release(&canonical);
		ks_buf_release(&body);
		ks_buf_release(&wanted);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_is_no_manifest_is_refused_with_member_and_rule),
		cmocka_unit_test(
			a_manifest_is_taken_apart_into_spans_of_its_text),
		cmocka_unit_test(
			apiVersion_and_kind_may_have_128_characters_counted_unescaped),
		cmocka_unit_test(
			only_canonical_bodies_within_the_limits_are_records),
		cmocka_unit_test(a_body_may_have_one_mebibyte_and_no_byte_more),
		cmocka_unit_test(a_body_is_written_from_its_parts),
		cmocka_unit_test(
			a_body_is_appended_and_hashed_without_metadata),
		cmocka_unit_test(
			a_refusal_names_path_and_rule_and_leaves_nothing),
		cmocka_unit_test(an_unknown_member_is_kept_and_reported),
		cmocka_unit_test(
			an_unknown_kind_is_taken_as_it_is_where_that_is_allowed),
		cmocka_unit_test(
			metadata_may_be_missing_or_empty_in_kinds_of_kistore),
		cmocka_unit_test(the_spec_is_normalised_before_it_is_hashed),
		cmocka_unit_test(
			the_published_examples_get_their_published_digests),
		cmocka_unit_test(the_published_counter_examples_are_refused),
		cmocka_unit_test(the_seeds_give_their_identity_bytes),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
