/*
 * libkistore: an archive of records named by their SHA-256.
 *
 * A store is a git repository in the format kistore/1 (store-layout.md). This
 * header is everything that a linking program, the kistore command included,
 * may use, with base/error.h, base/buf.h, base/span.h and format/id.h.
 *
 *	struct ks_store *store;
 *	struct ks_buf body = KS_BUF_INIT;
 *	struct ks_id id;
 *
 *	if (ks_store_open(&store, "data.git", NULL, &err) != KS_OK)
 *		...
 *	if (ks_resolve_one(store, "c3252a98", &id, &err) == KS_OK)
 *		status = ks_get(store, &id, KS_GET_BODY, &body, &err);
 *	ks_store_close(store);
 *
 * A store object belongs to one thread at a time. It sees the commit that was
 * current when it was opened, whatever others write. Fallible functions return
 * an enum ks_status and describe a failure in *err (which may be NULL);
 * out-parameters are filled on success only, unless said otherwise.
 */
#ifndef KISTORE_H
#define KISTORE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"
#include "format/id.h"

#define KISTORE_VERSION "0.1.0"
#define KISTORE_FORMAT "kistore/1"

/*
 * What a long operation tells its caller. Every member may be NULL; calls come
 * from the thread that called the operation.
 */
struct ks_watch {
	void *arg;
	/* Asked often; true makes the operation stop with KS_CANCELLED. */
	bool (*cancelled)(void *arg);
	/* `done` of `total` (0 = unknown) of a phase such as "reading". */
	void (*progress)(void *arg, const char *phase, uint64_t done,
		uint64_t total);
	/* A warning, one line: what was normalised, skipped, left open. */
	void (*note)(void *arg, const char *text);
	/* Every note; false: the first few of a sort, and how many more. */
	bool all_notes;
};

/* ---- Texts, without a store ------------------------------------------- */

/* Append the RFC 8785 form of one JSON text. KS_INVALID names byte and rule. */
enum ks_status ks_canonicalise(struct ks_span text, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* How input is judged (store-layout.md, section "intake"). */
struct ks_intake_policy {
	bool allow_unknown_kind;
	bool strict;		/* an unknown member refuses the input */
};

/* Called per manifest: its identity and full kind ("apiVersion/kind"). */
typedef void ks_digest_fn(void *arg, const struct ks_id *digest,
	const char *kind);

/* The identities of all manifests in a file of any form that put takes
 * ("-" = standard input), in input order. */
enum ks_status ks_digest_file(const char *path,
	const struct ks_intake_policy *policy, ks_digest_fn *visit, void *arg,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;

/* ---- Stores ------------------------------------------------------------ */

struct ks_store;

/* Make a new, empty store at `path`: its first commit holds store.json (with
 * `origin` unless NULL), .gitattributes and a log with the init entry dated
 * `now` (POSIX seconds). KS_EXISTS when something is there already. After a
 * failure what was made is gone again. */
enum ks_status ks_store_create(const char *path, const char *origin,
	bool worktree, int64_t now, struct ks_error *err) KS_CHECKED;

/* Open the store at `path`, or, with NULL, the one that holds the current
 * directory. KS_NOT_FOUND: no repository, or one without store.json.
 * KS_UNSUPPORTED: another format. */
enum ks_status ks_store_open(struct ks_store **out, const char *path,
	const char *at, struct ks_error *err) KS_CHECKED;
/* `at` is NULL for the newest state, else --at of the manual: digits are a
 * log size that a commit had, YYYY-MM-DD[THH:MM:SSZ] a time (the newest
 * commit not after it), anything else a git revision. */

void ks_store_close(struct ks_store *store);

/* ---- Reading ----------------------------------------------------------- */

/* One object that a reference may mean. Texts are valid during the call. */
struct ks_match {
	struct ks_id digest;
	const char *kind;	/* "kernelindex.dev/v1alpha1/BenchmarkRun" */
	const char *name;	/* metadata.name, or "" */
	const char *title;	/* metadata.title, or "" */
	const char *reading;	/* "digest", "digest prefix", "id", "id prefix",
				 * "name" */
	bool retracted, superseded, taken_down;
};

typedef void ks_match_fn(void *arg, const struct ks_match *match);

/* Everything that `reference` may mean: a digest ("sha256:…", 64 hex), a
 * unique digest prefix of 6 or more, a record name, kind/name, an id or id
 * prefix. KS_OK when there is exactly one, KS_AMBIGUOUS, KS_NOT_FOUND; `visit`
 * is called for each (at most 50) in order of digest. */
enum ks_status ks_resolve(struct ks_store *store, const char *reference,
	ks_match_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* The one object that `reference` means. */
enum ks_status ks_resolve_one(struct ks_store *store, const char *reference,
	struct ks_id *digest, struct ks_error *err) KS_CHECKED;

/* Which text of an object. */
enum ks_get_form {
	KS_GET_BODY,		/* the canonical bytes; their SHA-256 is
				 * the id */
	KS_GET_MANIFEST,	/* with metadata, canonical */
	KS_GET_BUNDLE,		/* canonical object of the record and its
				 * reference closure; see the manual */
	KS_GET_PAGE		/* KernelIndex's manifest text of a run */
};

/* Append an object's text. Everything returned was hashed first: KS_CORRUPT
 * when the bytes are damaged or absent without reason, KS_NOT_FOUND when it
 * was never published, was taken down, or a partial clone lacks it. */
enum ks_status ks_get(struct ks_store *store, const struct ks_id *digest,
	enum ks_get_form form, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

/* One line of the reference tree, in depth-first order. */
struct ks_tree_node {
	unsigned depth;		/* 0 = the record itself */
	const char *path;	/* "spec.workloadDigest", "source"; "" at
				 * depth 0 */
	struct ks_id digest;
	const char *kind;	/* full kind, or "" when not known */
	const char *name;	/* metadata.name, spec.slug, or "" */
	const char *state;	/* "archived", "described" (an Artifact record
				 * tells of it), "missing" (a reference that was
				 * never published), "absent" (a link to bytes
				 * that are not here), "taken down" */
	bool is_link;		/* other bytes, never part of the closure */
	bool repeated;		/* shown before: its children are left out */
	bool last;		/* the last child of its parent */
};

typedef void ks_tree_fn(void *arg, const struct ks_tree_node *node);
enum ks_status ks_reference_tree(struct ks_store *store,
	const struct ks_id *digest, ks_tree_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* KS_UNSUPPORTED when the log has a line that needs a newer kistore: then
 * what the log says of a record, beyond that it was published, cannot be told
 * (store-layout.md R3). */
enum ks_status ks_log_understood(struct ks_store *store, struct ks_error *err)
	KS_CHECKED;

/* The log as a whole. */
struct ks_log_info {
	uint64_t size;		/* entries */
	struct ks_id root;	/* RFC 6962 tree hash */
	char time[21];		/* `at` of the last entry */
};
enum ks_status ks_log(struct ks_store *store, struct ks_log_info *out,
	struct ks_error *err) KS_CHECKED;

/* Entries from … to - 1 in order, as they are stored (without LF). A true
 * from `visit` stops. */
typedef bool ks_log_fn(void *arg, uint64_t index, struct ks_span line);
enum ks_status ks_log_lines(struct ks_store *store, uint64_t from, uint64_t to,
	ks_log_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* Indices, ascending, of the entries about one object. */
enum ks_status ks_log_of(struct ks_store *store, const struct ks_id *digest,
	ks_log_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* What `status` shows. Looks at log and index, not at objects' contents. */
struct ks_kind_count {
	const char *kind;
	uint64_t objects, retracted, superseded, taken_down;
};
struct ks_status_info {
	const char *directory;		/* of the git repository */
	const char *origin;		/* "" when none */
	char commit[41];
	const char *branch;		/* "refs/heads/main"; "" = detached */
	struct ks_log_info log;
	uint64_t objects, packs, dictionaries, checkpoints;
	uint64_t faults, unsupported;	/* lines of the log */
	bool shallow, partial;
	const char *others;		/* top-level files that kistore does not
					 * cover, joined by ", ", or "" */
	const struct ks_kind_count *kinds;
	size_t kind_count;
};
/* Strings and arrays belong to the store and live until it is closed. */
enum ks_status ks_store_status(struct ks_store *store,
	struct ks_status_info *out, struct ks_error *err) KS_CHECKED;

/* ---- Writing ----------------------------------------------------------- */

/* Options that all writers share. */
struct ks_write_options {
	int64_t now;		/* POSIX seconds; < 0 = the clock, read
				 * under the lock */
	int wait_ms;		/* for the lock; negative = for ever */
	const struct ks_watch *watch;	/* may be NULL */
};

struct ks_put_options {
	struct ks_write_options write;
	struct ks_intake_policy intake;
	struct ks_span source;		/* text of --source, or empty */
	struct ks_span provenance;	/* text of --provenance, or empty */
	bool allow_missing, annotate, dry_run;
};

/* One object of a put, in input order, each digest once. */
struct ks_put_object {
	struct ks_id digest;
	const char *kind;
	bool is_new;
};
typedef void ks_put_fn(void *arg, const struct ks_put_object *object);

/* What a put did. Lines by op; `rows` of a catalogue export. */
struct ks_put_result {
	uint64_t manifests;	/* occurrences in the input */
	uint64_t objects, added, known;
	uint64_t other_metadata;	/* known with other metadata */
	uint64_t other_provenance;	/* known with other provenance */
	uint64_t annotated, retracted, superseded;
	uint64_t skipped_taken_down;
	uint64_t missing;	/* references left open */
	uint64_t rows, derived_rows, unknown_rows, stated_digests;
	uint64_t warnings;	/* notes of all sorts that were counted */
	uint64_t entries;	/* log lines written */
	uint64_t size;		/* of the log afterwards */
	bool dictionary_trained;
	bool advise_gc;		/* so many packs that gc should run */
	char commit[41];	/* "" when nothing changed */
};

/* Put everything in `paths` (files, directories, "-" for standard input):
 * one commit, all or nothing, idempotent. `visit` is called per object after
 * success (also with dry_run). */
enum ks_status ks_put(struct ks_store *store, const char *const *paths,
	size_t count, const struct ks_put_options *options, ks_put_fn *visit,
	void *arg, struct ks_put_result *result, struct ks_error *err)
	KS_CHECKED;

/* Append one line about `digest` (store-layout.md, section "log"). Texts of
 * metadata and provenance are JSON objects; empty = not given. */
enum ks_status ks_annotate(struct ks_store *store, const struct ks_id *digest,
	struct ks_span metadata, struct ks_span provenance,
	const struct ks_write_options *options, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_retract(struct ks_store *store, const struct ks_id *digest,
	const char *reason, const char *retracted_at,
	const struct ks_write_options *options, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_supersede(struct ks_store *store, const struct ks_id *digest,
	const struct ks_id *by, const char *reason,
	const struct ks_write_options *options, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_restore(struct ks_store *store, const struct ks_id *digest,
	const char *reason, const struct ks_write_options *options,
	struct ks_error *err) KS_CHECKED;
/* With `lines`, the text of the object's publish and annotate entries goes as
 * well. Acts at once while nothing was ever signed. */
enum ks_status ks_takedown(struct ks_store *store, const struct ks_id *digest,
	const char *reason, bool lines, const struct ks_write_options *options,
	struct ks_error *err) KS_CHECKED;

/* Train a dictionary on the stored records and commit it; later puts use it. */
enum ks_status ks_dictionary_build(struct ks_store *store,
	const struct ks_write_options *options, char name[128],
	struct ks_error *err) KS_CHECKED;

/* Pack the repository with stock git. */
enum ks_status ks_gc(struct ks_store *store,
	const struct ks_write_options *options, struct ks_error *err)
	KS_CHECKED;

/* ---- Verification ------------------------------------------------------ */

enum ks_severity {
	KS_SEVERITY_DAMAGE,	/* bytes or lines that are wrong */
	KS_SEVERITY_ABSENT,	/* published, not here, without a reason */
	KS_SEVERITY_UNFETCHED,	/* not here, but git promised it */
	KS_SEVERITY_UNSUPPORTED,	/* needs a newer kistore */
	KS_SEVERITY_WARNING	/* worth knowing, not wrong */
};

/* One finding. */
struct ks_finding {
	enum ks_severity severity;
	const struct ks_id *digest;	/* NULL = not about an object */
	const char *path;		/* in the tree, as in
					 * "log/000/000.jsonl:17" */
	const char *message;
};
typedef void ks_finding_report_fn(void *arg, const struct ks_finding *finding);

struct ks_verify_options {
	const struct ks_id *digests;	/* only these and all they refer to; */
	size_t digest_count;		/* 0 = the whole store */
	unsigned threads;		/* 0 = all cores */
	bool warnings;			/* report findings of kind tables too */
	const struct ks_watch *watch;
};

struct ks_verify_result {
	struct ks_log_info log;
	uint64_t objects, bytes;	/* checked; bytes of bodies */
	uint64_t damaged, absent, unfetched, unsupported, warnings;
	uint64_t taken_down;
	uint64_t dictionaries;
	bool whole;			/* false: only what was asked for */
	const char *not_checked;	/* one line: what this did not check; it
					 * lives until the next call or close */
};

/* Check the store. KS_OK also when findings were reported: read the counts.
 * Other statuses mean that the check itself could not be done. */
enum ks_status ks_verify(struct ks_store *store,
	const struct ks_verify_options *options, ks_finding_report_fn *report,
	void *arg, struct ks_verify_result *result, struct ks_error *err)
	KS_CHECKED;

#endif
