#include <stdlib.h>

#include "base/grow.h"
#include "format/digest.h"
#include "format/json.h"
#include "format/record.h"
#include "store/verify.h"

enum ks_status
ks_checker_init(struct ks_checker *checker, struct ks_error *err)
{
	enum ks_status status;

	memset(checker, 0, sizeof(*checker));
	status = ks_jcs_new(&checker->jcs, err);
	return status == KS_OK ? ks_framer_new(&checker->framer, err) : status;
}

void
ks_checker_release(struct ks_checker *checker)
{
	ks_jcs_free(checker->jcs);
	ks_framer_free(checker->framer);
	ks_buf_release(&checker->body);
}

void
ks_check_findings_release(struct ks_check_findings *findings)
{
	size_t i;

	for (i = 0; i < findings->count; i++)
		ks_buf_release(&findings->list[i].message);
	free(findings->list);
	memset(findings, 0, sizeof(*findings));
}

/* ---- noting ------------------------------------------------------------ */

static struct ks_buf *
add_finding(struct ks_check_findings *findings, enum ks_severity severity,
	const struct ks_id *digest)
{
	struct ks_check_finding *grown = ks_grow(findings->list,
		findings->count, &findings->room, sizeof(*grown), NULL);

	if (grown == NULL) {
		findings->failed = true;
		return NULL;
	}
	findings->list = grown;
	grown += findings->count++;
	grown->severity = severity;
	grown->digest = *digest;
	grown->message = (struct ks_buf)KS_BUF_INIT;
	return &grown->message;
}

static void
add_text(struct ks_check_findings *findings, enum ks_severity severity,
	const struct ks_id *digest, const char *text)
{
	struct ks_buf *message = add_finding(findings, severity, digest);

	if (message != NULL)
		ks_buf_text(message, text);
}

/* A note of the kind tables about one object. */
struct noting {
	struct ks_check_findings *findings;
	const struct ks_id *digest;
};

static bool
note(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	struct noting *noting = arg;
	struct ks_buf *text;

	(void)level;
	noting->findings->warnings++;
	if (!noting->findings->keep_warnings)
		return true;
	text = add_finding(noting->findings, KS_SEVERITY_WARNING,
		noting->digest);
	if (text != NULL)
		ks_buf_printf(text, "%s%s%s", path,
			path[0] == '\0' ? "" : ": ", message);
	return true;
}

/* ---- references -------------------------------------------------------- */

/* The references of one body against the log. */
struct referring {
	struct ks_replay *replay;
	struct ks_check_findings *findings;
	const struct ks_id *digest;
	const struct ks_object_state *state;
	struct ks_id open[64];	/* references without an earlier publish */
	size_t count;
	bool overflow;
};

static void
add_open(struct referring *referring, const struct ks_id *target)
{
	size_t i;

	for (i = 0; i < referring->count; i++)
		if (ks_id_equal(&referring->open[i], target))
			return;
	if (referring->count ==
		sizeof(referring->open) / sizeof(referring->open[0]))
		referring->overflow = true;
	else
		referring->open[referring->count++] = *target;
}

static void
wrong_kind(struct referring *referring, const struct ks_reference *reference,
	struct ks_span found)
{
	char text[KS_ID_TEXT + 1], shown[300];
	struct ks_buf *message = add_finding(referring->findings,
		KS_SEVERITY_DAMAGE, referring->digest);

	if (message == NULL)
		return;
	ks_buf_printf(message, "%s names %s, which is a %s, not a %s%s%s "
		"(R22)", reference->path,
		ks_id_print(&reference->target, text),
		ks_printable(shown, sizeof(shown), found),
		reference->expected[0] == NULL ? "record" :
		ks_kind_name(reference->expected[0]),
		reference->expected[1] == NULL ? "" : " or ",
		reference->expected[1] == NULL ? "" :
		ks_kind_name(reference->expected[1]));
}

static bool
check_reference(void *arg, const struct ks_reference *reference)
{
	struct referring *referring = arg;
	uint32_t number;
	const struct ks_object_state *target;
	struct ks_span kind;

	if (reference->is_link)
		return true;
	number = ks_replay_find(referring->replay, &reference->target);
	target = number == KS_NO_OBJECT ? NULL :
		ks_replay_object(referring->replay, number);
	if (target == NULL || target->published >= referring->state->published)
		add_open(referring, &reference->target);
	if (target == NULL)
		return true;
	kind = ks_replay_kind(referring->replay, target->kind);
	if (kind.len > 0 && !ks_reference_accepts(reference,
		ks_kind_find_full(kind)))
		wrong_kind(referring, reference, kind);
	return true;
}

/* Add the digests of a canonical array. */
static void
add_array(struct referring *referring, struct ks_span array)
{
	struct ks_json_iter it = ks_json_iter(array);
	struct ks_span element;
	struct ks_id id;

	while (ks_json_next_element(&it, &element))
		if (ks_id_parse(&id, ks_json_raw(element)))
			add_open(referring, &id);
}

static int
by_id(const void *a, const void *b)
{
	return ks_id_compare(a, b);
}

/* R21: `missing` lists exactly the references without an earlier publish.
 * Which members are references may grow with the tables: one that the writer
 * did not know is worth a warning only. */
static void
compare_missing(struct referring *referring, struct ks_span missing)
{
	struct ks_json_iter it;
	struct ks_span element;
	char text[KS_ID_TEXT + 1];
	struct ks_buf *message;
	size_t i;

	qsort(referring->open, referring->count, sizeof(referring->open[0]),
		by_id);
	for (i = 0; i < referring->count; i++) {
		bool listed = false;

		it = ks_json_iter(missing);
		(void)ks_id_print(&referring->open[i], text);
		while (!listed && ks_json_next_element(&it, &element))
			listed = ks_span_is(ks_json_raw(element), text);
		if (listed)
			continue;
		message = add_finding(referring->findings, KS_SEVERITY_DAMAGE,
			referring->digest);
		if (message != NULL)
			ks_buf_printf(message, "refers to %s, which no earlier "
				"entry publishes and its entry does not list "
				"as missing (R21)", text);
	}
	it = ks_json_iter(missing);
	while (ks_json_next_element(&it, &element)) {
		struct ks_id id;

		if (!ks_id_parse(&id, ks_json_raw(element)) ||
			bsearch(&id, referring->open, referring->count,
				sizeof(id), by_id) != NULL)
			continue;
		message = add_finding(referring->findings, KS_SEVERITY_DAMAGE,
			referring->digest);
		if (message != NULL)
			ks_buf_printf(message, "its entry lists %s as missing, "
				"which it does not refer to (R21)",
				ks_id_print(&id, text));
	}
}

/* `record` is NULL for raw bytes, which refer to nothing. */
static void
check_references(struct ks_replay *replay, const struct ks_record *record,
	const struct ks_id *digest, uint32_t object,
	struct ks_check_findings *findings)
{
	struct referring referring = {
		.replay = replay,
		.findings = findings,
		.digest = digest,
		.state = ks_replay_object(replay, object)
	};

	/* A redacted publish line says nothing of what it left open. */
	if (referring.state->redacted)
		return;
	if (record != NULL && record->kind != NULL)
		(void)ks_kind_references(record->kind, record->spec,
			check_reference, &referring);
	add_array(&referring, ks_replay_open_provenance(replay, object));
	/* Of an unknown kind only the provenance is known to refer. */
	if (referring.overflow || (record != NULL && record->kind == NULL &&
		ks_replay_missing(replay, object).len > 0))
		return;
	compare_missing(&referring, ks_replay_missing(replay, object));
}

/* ---- one object -------------------------------------------------------- */

/* The kind that the bytes have: "raw", or as the record says. */
static void
print_kind(const struct ks_record *record, bool is_record, struct ks_buf *out)
{
	ks_buf_clear(out);
	if (is_record)
		ks_record_full_kind(record, out);
	else
		ks_buf_text(out, "raw");
}

/* Why bytes that the log calls a record are none. */
static void
explain_raw(struct ks_checker *checker, struct ks_span body,
	struct ks_error *err)
{
	struct ks_record record;

	if (ks_jcs_check(checker->jcs, body, &ks_jcs_manifest, err) == KS_OK &&
		ks_record_split(body, &record, err) == KS_OK)
		(void)ks_fail(err, KS_CORRUPT, "members other than apiVersion, "
			"kind and spec");
}

static void
check_kind(struct ks_checker *checker, struct ks_span body,
	struct ks_span logged, const struct ks_record *record, bool is_record,
	const struct ks_id *digest, struct ks_check_findings *findings)
{
	struct ks_buf kind = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf *message;
	char shown[300];

	print_kind(record, is_record, &kind);
	if (kind.failed) {
		findings->failed = true;
	} else if (!ks_span_equal(ks_buf_span(&kind), logged)) {
		message = add_finding(findings, KS_SEVERITY_DAMAGE, digest);
		(void)ks_printable(shown, sizeof(shown), logged);
		if (message != NULL)
			ks_buf_printf(message, "the log says it is a %s, its "
				"bytes are %s%s (O8)", shown,
				is_record ? "a " : "", ks_buf_cstr(&kind));
		if (message != NULL && !is_record) {
			explain_raw(checker, body, &err);
			ks_buf_printf(message, ": %s", err.message);
		}
	}
	ks_buf_release(&kind);
}

/* What the tables say against a record, and its frame, if it came in one. */
static void
check_record(const struct ks_record *record, struct ks_span frame,
	const struct ks_id *digest, struct ks_check_findings *findings)
{
	struct noting noting = { findings, digest };
	struct ks_frame_info info;
	struct ks_error err = KS_ERROR_INIT;

	/* F4: it was unpacked within the wider limits of raw bytes. */
	if (frame.len > 0 && ks_frame_inspect(frame, KS_LIMIT_RECORD, &info,
		&err) != KS_OK)
		add_text(findings, KS_SEVERITY_DAMAGE, digest, err.message);
	if (record->kind != NULL)
		(void)ks_kind_check_spec(record->kind, record->spec, note,
			&noting);
}

static void
check_body(struct ks_checker *checker, struct ks_replay *replay,
	const struct ks_id *digest, uint32_t object, struct ks_span body,
	struct ks_span frame, struct ks_check_findings *findings)
{
	struct ks_record record;
	struct ks_span logged = ks_replay_kind(replay,
		ks_replay_object(replay, object)->kind);
	enum ks_status judged = ks_record_judge(checker->jcs, body, &record,
		NULL);
	bool is_record = judged == KS_OK;

	if (judged == KS_NOMEM) {
		findings->failed = true;
		return;
	}
	/* The kind of an object whose publish line was redacted is unknown. */
	if (logged.len > 0)
		check_kind(checker, body, logged, &record, is_record, digest,
			findings);
	if (is_record)
		check_record(&record, frame, digest, findings);
	check_references(replay, is_record ? &record : NULL, digest, object,
		findings);
}

/* O9. */
static bool
check_digest(const struct ks_id *digest, struct ks_span body,
	struct ks_check_findings *findings)
{
	struct ks_id found;

	ks_sha256(body, &found);
	if (ks_id_equal(&found, digest))
		return true;
	add_text(findings, KS_SEVERITY_DAMAGE, digest,
		"its bytes have another sha256 than its address (O9)");
	return false;
}

/* Unpack and hash; false when the body could not be had. */
static bool
unpack(struct ks_checker *checker, const struct ks_dictionaries *dictionaries,
	const struct ks_id *digest, struct ks_span frame,
	struct ks_check_findings *findings, uint32_t *wants)
{
	struct ks_frame_info info;
	const struct ks_dictionary *dictionary = NULL;
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status = ks_frame_inspect(frame, KS_LIMIT_RAW, &info,
		&err);

	if (status == KS_OK && info.dictionary_id != 0) {
		dictionary = ks_dictionaries_loaded(dictionaries,
			info.dictionary_id);
		if (dictionary == NULL) {
			*wants = info.dictionary_id;
			return false;
		}
	}
	if (status == KS_OK)
		status = ks_frame_unpack(checker->framer, frame, KS_LIMIT_RAW,
			dictionary, &checker->body, &err);
	if (status == KS_NOMEM) {
		findings->failed = true;
		return false;
	}
	if (status != KS_OK) {
		add_text(findings, KS_SEVERITY_DAMAGE, digest, err.message);
		return false;
	}
	return check_digest(digest, ks_buf_span(&checker->body), findings);
}

void
ks_check_object(struct ks_checker *checker, struct ks_replay *replay,
	const struct ks_dictionaries *dictionaries,
	const struct ks_id *digest, uint32_t object, struct ks_span frame,
	struct ks_check_findings *findings, uint32_t *wants)
{
	*wants = 0;
	ks_buf_clear(&checker->body);
	if (!unpack(checker, dictionaries, digest, frame, findings, wants)) {
		ks_buf_clear(&checker->body);
		return;
	}
	if (object != KS_NO_OBJECT)
		check_body(checker, replay, digest, object,
			ks_buf_span(&checker->body), frame, findings);
}

void
ks_check_body(struct ks_checker *checker, struct ks_replay *replay,
	const struct ks_id *digest, uint32_t object, struct ks_span body,
	struct ks_check_findings *findings)
{
	if (check_digest(digest, body, findings) && object != KS_NO_OBJECT)
		check_body(checker, replay, digest, object, body,
			ks_span(NULL, 0), findings);
}
