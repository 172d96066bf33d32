#include "format/dossier.h"

#include "format/bundle.h"
#include "format/json.h"
#include "format/record.h"
#include "format/uuid.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A hostile value or name as a message shows it. */
#define SHOWN 96

/* What a run refers to: under which name a dossier has or describes it, and
 * which member of the run's spec names its digest. */
static const struct part {
	const char *name, *member, *stated_by;
} parts[] = {
#define PART(name) { name, name "Digest", "spec." name "Digest of the run" }
	PART("configuration"),
	PART("environment"),
	PART("implementation"),
	PART("model"),
	PART("protocol"),
	PART("workload"),
#undef PART
};

/* A dossier on its way to the visitor. */
struct dossier {
	struct ks_intake *intake;
	const struct ks_intake_visitor *visitor;
	struct ks_span manifest, run, provenance;	/* its members */
	struct ks_span spec;	/* of the run's manifest */
	struct ks_intake_manifest main;		/* the run */
	struct ks_span source;	/* the manifest of its Source, or empty */
};

bool
ks_dossier_is(struct ks_span value)
{
	struct ks_span manifest, run;

	return ks_json_find(value, "run", &run) &&
		ks_json_find(value, "manifest", &manifest) &&
		ks_json_type(run) == KS_JSON_OBJECT &&
		!ks_intake_is_manifest(run) &&
		(ks_intake_is_manifest(manifest) ||
		ks_bundle_has_manifest(manifest));
}

/* ---- what is stated ---------------------------------------------------- */

/* A member's value; null is written as absent. */
static struct ks_span
given(struct ks_span object, const char *name)
{
	struct ks_span value = ks_json_get(object, name);

	return ks_span_is(value, "null") ? ks_span(NULL, 0) : value;
}

static enum ks_status
refuse_value(const char *object, const char *member, struct ks_span value,
	const char *wanted, struct ks_error *err)
{
	char shown[SHOWN];

	return ks_fail(err, KS_INVALID, "%s.%s: %s is not %s", object, member,
		ks_printable(shown, sizeof(shown), value), wanted);
}

/* A digest that the member `object` states as its own, if it does. */
static enum ks_status
read_digest(const char *object, struct ks_span value, struct ks_id *digest,
	bool *stated, struct ks_error *err)
{
	struct ks_span text = given(value, "digest");

	*stated = text.len != 0;
	if (*stated && (ks_json_type(text) != KS_JSON_STRING ||
		!ks_id_parse(digest, ks_json_raw(text))))
		return refuse_value(object, "digest", text, "a digest "
			"(sha256: and 64 lower-case hex digits)", err);
	return KS_OK;
}

/* The digest by which the run refers to a part; false where it does not, or
 * in a way that the kind's table will refuse. */
static bool
referred(const struct dossier *dossier, const struct part *part,
	struct ks_id *digest)
{
	return ks_id_parse(digest, ks_json_get_raw(dossier->spec,
		part->member));
}

/* A dossier describes a part without its manifest: "workload":{"digest":…}. */
static enum ks_status
check_described(const struct dossier *dossier, const struct part *part,
	struct ks_span described, struct ks_error *err)
{
	char a[KS_ID_TEXT + 1], b[KS_ID_TEXT + 1];
	struct ks_id stated, reference;
	bool is_stated;
	enum ks_status status = read_digest(part->name, described, &stated,
		&is_stated, err);

	if (status != KS_OK || !is_stated ||
		!referred(dossier, part, &reference) ||
		ks_id_equal(&stated, &reference))
		return status;
	return ks_fail(err, KS_INVALID, "%s.digest states %s, but %s is %s",
		part->name, ks_id_print(&stated, a), part->stated_by,
		ks_id_print(&reference, b));
}

static enum ks_status
check_parts(const struct dossier *dossier, struct ks_span value,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;

	for (size_t i = 0; status == KS_OK && i < COUNT(parts); i++)
		status = check_described(dossier, &parts[i],
			ks_json_get(value, parts[i].name), err);
	return status;
}

static enum ks_status
find_run(struct dossier *dossier, struct ks_error *err)
{
	struct ks_span *text = &dossier->main.text;

	if (ks_intake_is_manifest(dossier->manifest))
		*text = dossier->manifest;
	else if (!ks_json_find(dossier->manifest, "run", text) ||
		!ks_intake_is_manifest(*text))
		return ks_fail(err, KS_INVALID, "manifest must be the run's, "
			"or have it as its member run");
	dossier->spec = ks_json_get(*text, "spec");
	return KS_OK;
}

/* ---- provenance -------------------------------------------------------- */

static void
put_member(struct ks_buf *out, const char *name, struct ks_span value)
{
	ks_buf_byte(out, out->len == 0 ? '{' : ',');
	ks_buf_printf(out, "\"%s\":", name);
	ks_buf_append(out, value);
}

static enum ks_status
put_id(struct dossier *dossier, struct ks_buf *out, struct ks_error *err)
{
	struct ks_span value = given(dossier->run, "id");
	struct ks_intake_id *id = &dossier->main.id;
	char text[KS_UUID_TEXT + 3];

	if (value.len == 0)
		return KS_OK;
	if (ks_json_type(value) != KS_JSON_STRING ||
		!ks_uuid_parse(ks_json_raw(value), true, id->bytes))
		return refuse_value("run", "id", value, "a UUID", err);
	id->present = true;
	text[0] = '"';
	(void)ks_uuid_print(id->bytes, text + 1);
	text[KS_UUID_TEXT + 1] = '"';
	put_member(out, "id", ks_span(text, KS_UUID_TEXT + 2));
	return KS_OK;
}

static enum ks_status
put_published(const struct dossier *dossier, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_span value = given(dossier->run, "publishedAt");

	if (value.len == 0)
		return KS_OK;
	if (ks_json_type(value) != KS_JSON_STRING)
		return refuse_value("run", "publishedAt", value, "a string",
			err);
	put_member(out, "publishedAt", value);
	return KS_OK;
}

/* Whether a source is stated so far that a Source can be made of it: what its
 * table requires. Nothing is guessed, and nothing looked up: a Source that
 * says less than the publisher's own would stand beside it for ever. */
static bool
is_whole_source(struct ks_span source)
{
	return ks_json_type(source) == KS_JSON_OBJECT &&
		(ks_intake_is_manifest(source) ||
		(given(source, "kind").len != 0 &&
		given(source, "name").len != 0 &&
		given(source, "slug").len != 0));
}

/* The spec of a Source from what is stated; members in canonical order. */
static void
compose_source(struct ks_span source, struct ks_buf *out)
{
	static const char *const members[] = {
		"kind", "name", "policy", "slug" };

	for (size_t i = 0; i < COUNT(members); i++)
		if (given(source, members[i]).len != 0)
			put_member(out, members[i],
				given(source, members[i]));
	ks_buf_byte(out, '}');
}

/* The manifest of the run's Source, in intake->manifest, and its digest. */
static enum ks_status
make_source(struct dossier *dossier, struct ks_span source, struct ks_id *id,
	struct ks_error *err)
{
	static const struct ks_record_policy lenient = { .strict = false };
	struct ks_buf *out = &dossier->intake->manifest;
	struct ks_buf body = KS_BUF_INIT;
	struct ks_record record;
	enum ks_status status = KS_OK;

	ks_buf_clear(out);
	if (!ks_intake_is_manifest(source)) {
		compose_source(source, &body);
		status = ks_buf_check(&body, err);
		source = ks_buf_span(&body);
	}
	if (status == KS_OK)
		status = ks_intake_source(source, out, err);
	ks_buf_clear(&body);
	if (status == KS_OK)
		status = ks_record_read(ks_buf_span(out), &lenient, NULL, NULL,
			&record, &body, id, err);
	ks_buf_release(&body);
	dossier->source = ks_buf_span(out);
	return status;
}

static enum ks_status
put_source(struct dossier *dossier, struct ks_buf *out, struct ks_error *err)
{
	struct ks_span source = given(dossier->provenance, "source");
	char text[KS_ID_TEXT + 3];
	struct ks_id id;
	enum ks_status status;

	if (!is_whole_source(source))
		return KS_OK;
	status = make_source(dossier, source, &id, err);
	if (status != KS_OK) {
		(void)ks_context(err, "provenance.source");
		return status;
	}
	text[0] = '"';
	(void)ks_id_print(&id, text + 1);
	text[KS_ID_TEXT + 1] = '"';
	put_member(out, "source", ks_span(text, KS_ID_TEXT + 2));
	return KS_OK;
}

/* Everything that is stated of the run; members in canonical order. */
static enum ks_status
read_facts(struct dossier *dossier, struct ks_error *err)
{
	struct ks_buf *out = &dossier->intake->provenance;
	struct ks_intake_manifest *run = &dossier->main;
	bool stated;
	enum ks_status status = read_digest("run", dossier->run, &run->stated,
		&stated, err);

	run->stated_column = stated ? "run.digest" : NULL;
	ks_buf_clear(out);
	if (status == KS_OK)
		status = put_id(dossier, out, err);
	if (status == KS_OK)
		status = put_published(dossier, out, err);
	if (status == KS_OK)
		status = put_source(dossier, out, err);
	if (status != KS_OK)
		return status;
	if (out->len != 0)
		ks_buf_byte(out, '}');
	run->provenance = ks_buf_span(out);
	return ks_buf_check(out, err);
}

/* ---- telling ----------------------------------------------------------- */

/* Tell of a member that is left out; null says nothing anyway. */
static void
skip(const struct dossier *dossier, enum ks_intake_skip what,
	const char *object, struct ks_span name, struct ks_span value)
{
	const struct ks_intake_visitor *visitor = dossier->visitor;
	struct ks_buf *path = &dossier->intake->name;

	if (ks_span_is(value, "null") || visitor->skipped == NULL)
		return;
	ks_buf_clear(path);
	ks_buf_text(path, object);
	ks_buf_append(path, name);
	visitor->skipped(visitor->arg, what, ks_buf_span(path));
}

/* A manifest named after what the run refers to is what it refers to. */
static enum ks_status
emit_part(struct dossier *dossier, struct ks_span name, struct ks_span text,
	struct ks_error *err)
{
	struct ks_intake_manifest manifest = { .text = text };

	for (size_t i = 0; i < COUNT(parts); i++)
		if (ks_span_is(name, parts[i].name) &&
			referred(dossier, &parts[i], &manifest.stated))
			manifest.stated_column = parts[i].stated_by;
	return ks_intake_emit(dossier->visitor, &manifest, err);
}

static enum ks_status
in_member(enum ks_status status, const char *object, struct ks_span name,
	struct ks_error *err)
{
	char shown[SHOWN];

	if (status != KS_OK)
		(void)ks_context(err, "%s%s", object,
			ks_printable(shown, sizeof(shown), name));
	return status;
}

static enum ks_status
emit_manifests(struct dossier *dossier, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(dossier->manifest);
	struct ks_span name, text;
	enum ks_status status = KS_OK;

	if (ks_intake_is_manifest(dossier->manifest))
		return in_member(ks_intake_emit(dossier->visitor,
			&dossier->main, err), "", ks_span_text("manifest"),
			err);
	while (status == KS_OK && ks_json_next_member(&it, &name, &text)) {
		if (ks_span_is(name, "run"))
			status = ks_intake_emit(dossier->visitor,
				&dossier->main, err);
		else if (ks_intake_is_manifest(text))
			status = emit_part(dossier, name, text, err);
		else
			skip(dossier, KS_SKIP_MEMBER, "manifest.", name, text);
		status = in_member(status, "manifest.", name, err);
	}
	return status;
}

/* The run's Source, a manifest of its own, and what else `provenance` has. */
static enum ks_status
emit_provenance(struct dossier *dossier, struct ks_error *err)
{
	struct ks_intake_manifest source = { .text = dossier->source };
	struct ks_json_iter it = ks_json_iter(dossier->provenance);
	struct ks_span name, value;

	while (ks_json_next_member(&it, &name, &value))
		if (!ks_span_is(name, "source"))
			skip(dossier, KS_SKIP_MEMBER, "provenance.", name,
				value);
		else if (source.text.len == 0)
			skip(dossier, KS_SKIP_SOURCE, "provenance.", name,
				value);
	return source.text.len == 0 ? KS_OK : in_member(ks_intake_emit(
		dossier->visitor, &source, err), "provenance.",
		ks_span_text("source"), err);
}

static enum ks_status
emit_member(struct dossier *dossier, struct ks_span name, struct ks_span value,
	struct ks_error *err)
{
	if (ks_span_is(name, "run"))
		return KS_OK;
	if (ks_span_is(name, "manifest"))
		return emit_manifests(dossier, err);
	if (ks_intake_is_manifest(value))
		return in_member(emit_part(dossier, name, value, err), "",
			name, err);
	if (ks_span_is(name, "provenance") &&
		ks_json_type(value) == KS_JSON_OBJECT)
		return emit_provenance(dossier, err);
	if (ks_bundle_takes(name, value))
		return ks_bundle_read_member(name, value, dossier->visitor,
			err);
	skip(dossier, KS_SKIP_MEMBER, "", name, value);
	return KS_OK;
}

static enum ks_status
emit_all(struct dossier *dossier, struct ks_span value, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(value);
	struct ks_span name, member;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_json_next_member(&it, &name, &member))
		status = emit_member(dossier, name, member, err);
	return status;
}

enum ks_status
ks_dossier_read(struct ks_intake *intake, struct ks_span value,
	const struct ks_intake_visitor *visitor, struct ks_error *err)
{
	struct dossier dossier = {
		.intake = intake,
		.visitor = visitor,
		.manifest = ks_json_get(value, "manifest"),
		.run = ks_json_get(value, "run"),
		.provenance = ks_json_get(value, "provenance"),
		.main = { .main = true, .partial = true }
	};
	enum ks_status status = find_run(&dossier, err);

	if (status == KS_OK)
		status = check_parts(&dossier, value, err);
	if (status == KS_OK)
		status = read_facts(&dossier, err);
	return status == KS_OK ? emit_all(&dossier, value, err) : status;
}
