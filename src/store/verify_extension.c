/*
 * Verifying what is new.
 *
 * Where a state differs from one that was found right by new lines, objects,
 * notes and dictionaries alone, those are all that has to be looked at: what is
 * equal by git's ids is the same bytes, which git compares itself where it
 * fetches an object that is there (store-layout.md M6). All else is left to the
 * whole verification, and so is telling what is wrong.
 */
#include "store/arrivals.h"
#include "store/log.h"
#include "store/verify.h"

struct extension {
	struct ks_verifying *verifying;
	struct ks_store *base;
	struct ks_index *index;		/* of the base */
	uint64_t from, size;		/* entries of both */
	bool plain;			/* nothing else was seen so far */
	uint64_t objects, segments;	/* files that came */
	uint64_t last_segment;
	struct ks_verify_claims claims;
};

static uint64_t
segments_of(uint64_t entries)
{
	return (entries + KS_SEGMENT_ENTRIES - 1) / KS_SEGMENT_ENTRIES;
}

/* ---- files ----------------------------------------------------------- */

static bool
is_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 && path[len] == '/';
}

/* "objects/c/32/52a98….zst" */
static bool
is_object(const char *path)
{
	const char *a = path + strlen(KS_PATH_OBJECTS "/");
	char first[2], second[3];
	struct ks_id id;

	if (strlen(a) < 5 || a[1] != '/' || a[4] != '/')
		return false;
	first[0] = a[0];
	first[1] = '\0';
	second[0] = a[2];
	second[1] = a[3];
	second[2] = '\0';
	return ks_layout_object_id(first, second, a + 5, &id);
}

/* A new one behind, or the last one, which grows. */
static bool
take_segment(struct extension *extension, const char *path, bool is_new)
{
	uint64_t number;

	if (!ks_layout_segment_number(path, &number))
		return false;
	if (!is_new)
		return number == extension->from / KS_SEGMENT_ENTRIES &&
			extension->from % KS_SEGMENT_ENTRIES != 0;
	extension->segments++;
	if (number > extension->last_segment)
		extension->last_segment = number;
	return number >= segments_of(extension->from);
}

/* Whether a change is one that an extension brings. What is not covered (T4)
 * may change as it likes. */
static bool
is_extension(struct extension *extension, const char *path,
	const struct ks_git_entry *old, const struct ks_git_entry *new)
{
	bool is_new = old == NULL;

	if (new == NULL || new->mode != KS_GIT_MODE_FILE)
		return false;
	if (is_below(path, KS_PATH_OBJECTS)) {
		extension->objects++;
		return is_new && is_object(path);
	}
	if (is_below(path, KS_PATH_LOG))
		return take_segment(extension, path, is_new);
	if (is_below(path, KS_PATH_DICTIONARIES))
		return is_new;
	return is_below(path, KS_PATH_CHECKPOINTS) ||
		strcmp(path, KS_PATH_CHECKPOINT) == 0 ||
		strcmp(path, KS_PATH_README) == 0;
}

static bool
is_covered(const char *path)
{
	static const char *const known[] = { KS_PATH_STORE, KS_PATH_README,
		KS_PATH_ATTRIBUTES, KS_PATH_CHECKPOINT, KS_PATH_CHECKPOINTS,
		KS_PATH_LOG, KS_PATH_OBJECTS, KS_PATH_DICTIONARIES };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(path, known[i]) == 0 || is_below(path, known[i]))
			return true;
	return false;
}

static enum ks_status
judge_change(void *arg, const char *path, const struct ks_git_entry *old,
	const struct ks_git_entry *new, struct ks_error *err)
{
	struct extension *extension = arg;

	(void)err;
	if (!is_covered(path))
		return KS_OK;
	extension->plain = is_extension(extension, path, old, new);
	return extension->plain ? KS_OK : KS_CANCELLED;
}

/* The last segment begins with the bytes that it had. */
static enum ks_status
compare_segment(struct extension *extension, struct ks_error *err)
{
	struct ks_store *store = extension->verifying->store;
	struct ks_buf old = KS_BUF_INIT, new = KS_BUF_INIT;
	enum ks_status status;

	if (extension->from % KS_SEGMENT_ENTRIES == 0)
		return KS_OK;
	status = ks_log_segment(extension->base->db, &extension->base->tree,
		extension->from, &old, err);
	if (status == KS_OK)
		status = ks_log_segment(store->db, &store->tree,
			extension->from, &new, err);
	if (status == KS_OK && (new.len < old.len ||
		memcmp(new.data, old.data, old.len) != 0))
		extension->plain = false;
	ks_buf_release(&old);
	ks_buf_release(&new);
	return status;
}

static enum ks_status
compare_files(struct extension *extension, struct ks_error *err)
{
	struct ks_store *store = extension->verifying->store;
	enum ks_status status = ks_gitdb_compare(store->db,
		&extension->base->tree, &store->tree, judge_change, extension,
		err);

	return status == KS_OK && extension->plain ?
		compare_segment(extension, err) : status;
}

/* ---- lines ----------------------------------------------------------- */

/* A takedown changes what is old, so that only a replay of all can judge it. */
static enum ks_status
take_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct extension *extension = arg;
	struct ks_verifying *verifying = extension->verifying;
	struct ks_error rule = KS_ERROR_INIT;
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;

	if (line.len > 0 && line.data[0] == '-') {
		extension->plain = false;
		return KS_CANCELLED;
	}
	if (ks_replay_line(verifying->replay, verifying->store->jcs, line,
		&verdict, &entry, &object, &rule) != KS_OK)
		return ks_fail_nomem(err);
	if (verdict != KS_LINE_OK || entry.op == KS_OP_TAKEDOWN) {
		extension->plain = false;
		return KS_CANCELLED;
	}
	extension->size = index + 1;
	if (ks_signed_line(&verifying->signed_, &entry, ks_replay_tree(
		verifying->replay), err) != KS_OK)
		return KS_NOMEM;
	return ks_verify_claims_keep(&extension->claims, verifying->replay,
		&entry.claims, err);
}

/* The keys that the log has named before. */
struct earlier_keys {
	struct extension *extension;
	struct ks_error *err;
	enum ks_status status;
};

static bool
take_earlier_key(void *arg, uint64_t index)
{
	struct earlier_keys *keys = arg;
	struct ks_store *base = keys->extension->base;
	struct ks_buf line = KS_BUF_INIT;
	struct ks_entry entry;

	keys->status = ks_store_line(base, index, &line, keys->err);
	if (keys->status == KS_OK)
		keys->status = ks_entry_parse(base->jcs, ks_buf_span(&line),
			&entry, keys->err);
	if (keys->status == KS_OK)
		keys->status = ks_signed_earlier_key(
			&keys->extension->verifying->signed_, &entry, index,
			keys->err);
	ks_buf_release(&line);
	return keys->status != KS_OK;
}

static enum ks_status
resume(struct extension *extension, struct ks_error *err)
{
	struct ks_verifying *verifying = extension->verifying;
	struct ks_replay_loader loader = ks_index_loader(extension->index);
	const struct ks_index_log *log = ks_index_log(extension->index);
	struct earlier_keys keys = { .extension = extension, .err = err,
		.status = KS_OK };
	struct ks_checkpoints known;
	enum ks_status status = ks_checkpoints_read(extension->base->db,
		&extension->base->tree, NULL, NULL, &known, err);

	if (status != KS_OK)
		return status;
	ks_signed_resume(&verifying->signed_, extension->from, &known);
	ks_checkpoints_release(&known);
	status = ks_index_keys(extension->index, take_earlier_key, &keys, err);
	if (status == KS_OK)
		status = keys.status;
	return status != KS_OK ? status : ks_replay_resume(&verifying->replay,
		&loader, &log->tree, log->time, err);
}

static enum ks_status
replay_new(struct extension *extension, struct ks_error *err)
{
	struct ks_verifying *verifying = extension->verifying;
	struct ks_store *store = verifying->store;
	enum ks_status status = resume(extension, err);

	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, extension->from,
			take_line, extension, err);
	ks_signed_end(&verifying->signed_);
	if (status == KS_OK)
		status = ks_index_check(extension->index, err);
	if (status != KS_OK)
		return status;
	ks_verify_claims_check(&extension->claims, verifying);
	/* T10: the segments that came are those of these lines. */
	if (extension->segments != segments_of(extension->size) -
		segments_of(extension->from) || (extension->segments > 0 &&
		extension->last_segment >= segments_of(extension->size)))
		extension->plain = false;
	return KS_OK;
}

/* ---- objects --------------------------------------------------------- */

/* Not one of them may be wrong or missing: then the rest need not be seen. */
static enum ks_status
check_object(struct extension *extension, struct ks_checker *checker,
	uint32_t number, struct ks_error *err)
{
	struct ks_verifying *verifying = extension->verifying;
	struct ks_store *store = verifying->store;
	struct ks_id digest = ks_replay_object(verifying->replay, number)->
		digest;
	struct ks_check_findings findings = { .count = 0 };
	struct ks_buf frame = KS_BUF_INIT;
	char path[KS_OBJECT_PATH + 1];
	uint32_t wants = 0;
	enum ks_status status = ks_gitdb_read(store->db, &store->tree,
		ks_layout_object(&digest, path), KS_LIMIT_FRAME, &frame, err);

	if (status == KS_OK) {
		ks_check_object(checker, verifying->replay,
			verifying->dictionaries, &digest, number,
			ks_buf_span(&frame), &findings, &wants);
		verifying->result->objects++;
		verifying->result->bytes += checker->body.len;
		verifying->result->warnings += findings.warnings;
		extension->plain = findings.count == 0 && wants == 0;
		if (findings.failed)
			status = ks_fail_nomem(err);
	}
	ks_check_findings_release(&findings);
	ks_buf_release(&frame);
	return status;
}

static enum ks_status
check_objects(struct extension *extension, struct ks_error *err)
{
	struct ks_verifying *verifying = extension->verifying;
	struct ks_checker checker;
	uint64_t published = 0;
	uint32_t i;
	enum ks_status status = ks_checker_init(&checker, err);

	for (i = 0; status == KS_OK && extension->plain &&
		i < ks_replay_objects(verifying->replay); i++) {
		if (ks_replay_object(verifying->replay, i)->published <
			extension->from)
			continue;
		published++;
		status = check_object(extension, &checker, i, err);
		ks_watch_progress(verifying->options->watch,
			"checking objects", published, extension->objects);
		if (status == KS_OK)
			status = ks_watch_check(verifying->options->watch,
				err);
	}
	ks_checker_release(&checker);
	/* Each object is at its address, so that those are the files that
	 * came, and no other came (T12). */
	if (published != extension->objects)
		extension->plain = false;
	return status;
}

/* ---- all of it ------------------------------------------------------- */

static enum ks_status
open_base(struct extension *extension, struct ks_error *err)
{
	const struct ks_index_log *log;
	enum ks_status status = ks_store_index(extension->base,
		&extension->index, extension->verifying->options->watch, err);

	if (status != KS_OK)
		return status;
	log = ks_index_log(extension->index);
	extension->from = extension->size = log->tree.size;
	extension->plain = log->faults + log->unsupported == 0 &&
		log->tree.size > 0;
	return KS_OK;
}

static enum ks_status
check_all(struct extension *extension, struct ks_error *err)
{
	struct ks_verifying *verifying = extension->verifying;
	enum ks_status status = replay_new(extension, err);

	if (status == KS_OK && extension->plain)
		status = ks_verify_trust_judge(verifying, err);
	if (status == KS_OK && extension->plain)
		status = ks_verify_tags(verifying, err);
	if (status == KS_OK && extension->plain)
		status = ks_verify_dictionaries(verifying, err);
	if (status == KS_OK && extension->plain)
		status = check_objects(extension, err);
	if (status == KS_OK && extension->plain)
		status = ks_arrivals_check(extension->base, extension->index,
			verifying->replay, err);
	if (status != KS_OK || !extension->plain)
		return status;
	verifying->result->log.size = extension->size;
	ks_merkle_root(ks_replay_tree(verifying->replay),
		&verifying->result->log.root);
	ks_verify_leave_out(verifying, "README.md not compared");
	return KS_OK;
}

static bool
found_nothing(const struct ks_verify_result *result)
{
	return result->damaged + result->absent + result->unfetched +
		result->unsupported == 0;
}

enum ks_status
ks_verify_extension(struct ks_verifying *verifying, struct ks_store *base,
	bool *extends, struct ks_error *err)
{
	struct extension extension = { .verifying = verifying, .base = base };
	enum ks_status status;

	memset(verifying->result, 0, sizeof(*verifying->result));
	*extends = false;
	status = open_base(&extension, err);
	if (status == KS_OK && extension.plain)
		status = compare_files(&extension, err);
	if (status == KS_OK && extension.plain)
		status = ks_verify_trust_begin(verifying, err);
	if (status == KS_OK && extension.plain)
		status = check_all(&extension, err);
	ks_verify_claims_release(&extension.claims);
	*extends = status == KS_OK && extension.plain &&
		found_nothing(verifying->result) &&
		verifying->verdict.verdict == KS_TRUST_SIGNED;
	/* What cannot be read, or broke a rule, is the whole's to tell. */
	if (status == KS_CORRUPT || status == KS_NOT_FOUND ||
		status == KS_INVALID || (status == KS_CANCELLED &&
		!extension.plain))
		status = KS_OK;
	return status;
}
