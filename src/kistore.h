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

/* What a purge found and did. */
struct ks_gc_result {
	uint64_t takedowns;	/* in the log; 0 = nothing to purge */
	uint64_t waiting;	/* of these: not signed yet, so not purged */
	uint64_t commits, rewritten;	/* of the branch; of these */
	uint64_t objects, lines;	/* that its history had and has not */
	uint64_t tag_count;	/* tags of snapshots that were dropped */
	const char *tags;	/* their names, joined by ", ", or "" */
	uint64_t left;		/* git objects with removed bytes that are in
				 * the repository still; notes say why */
};

/* Pack the repository with stock git. With `purge`, also rewrite the history of
 * the branch, so that what takedowns removed is reachable no more, and remove
 * it (store-layout.md X9); what the newest commit holds stays the same. KS_BUSY
 * when other references lead there, or a work tree has changes in the way;
 * KS_CORRUPT when the log has faults, or an older line is not the one that was
 * redacted; KS_UNSUPPORTED in a shallow or partial clone. The tags' names live
 * until the next call or close. */
enum ks_status ks_gc(struct ks_store *store, bool purge,
	const struct ks_write_options *options, struct ks_gc_result *result,
	struct ks_error *err) KS_CHECKED;

/* ---- Keys -------------------------------------------------------------- */

/* A private key and its name, which is the origin of the log that it signs
 * (store-layout.md N1, N4). Its memory is wiped when it is freed; what else
 * held the secret on the way was wiped before. */
struct ks_signer;

/* A new key of this name. KS_USAGE when the name breaks T6, KS_IO when the
 * system has no random numbers. */
enum ks_status ks_signer_generate(struct ks_signer **out, const char *name,
	struct ks_error *err) KS_CHECKED;

/* Read a private key: PKCS#8 PEM with a line "Name: NAME", or OpenSSH's with
 * the name as its comment. KS_INVALID when it is none, KS_UNTRUSTED when it is
 * encrypted and the passphrase is empty or wrong. */
enum ks_status ks_signer_read(struct ks_signer **out, struct ks_span text,
	struct ks_span passphrase, struct ks_error *err) KS_CHECKED;

/* Append the text of a file that ks_signer_read() and stock openssl read,
 * encrypted unless the passphrase is empty. The caller wipes it. */
enum ks_status ks_signer_write(const struct ks_signer *signer,
	struct ks_span passphrase, struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

const char *ks_signer_name(const struct ks_signer *signer);
/* NULL is allowed. */
void ks_signer_free(struct ks_signer *signer);

/* What may be told of a key, as texts: lines without LF, but for `pem`. */
struct ks_key_info {
	char name[256];		/* the origin */
	char id[9];		/* of the vkey, 8 hex digits */
	char vkey[320];		/* NAME+HHHHHHHH+BASE64 */
	char ssh[340];		/* ssh-ed25519 BASE64 NAME */
	char pem[160];		/* PUBLIC KEY */
	char fingerprint[52];	/* SHA256:…, as ssh-keygen -l writes it */
	bool is_private;	/* the text held the private half */
};

enum ks_status ks_signer_describe(const struct ks_signer *signer,
	struct ks_key_info *out, struct ks_error *err) KS_CHECKED;

/* Describe a public or private key. `origin` is the name of a public key that
 * carries none, or NULL; `cosigner` makes the vkey one of type 04, for
 * cosignatures. Errors as of ks_signer_read(); KS_USAGE without an origin
 * where there must be one, and where the key has another. */
enum ks_status ks_key_describe(struct ks_span text, struct ks_span passphrase,
	const char *origin, bool cosigner, struct ks_key_info *out,
	struct ks_error *err) KS_CHECKED;

/* What became of a registration. */
struct ks_key_change {
	uint64_t entry;		/* of the line that says it */
	bool changed;		/* false: the log said so already */
	char vkey[320];
};

/* Append a line that registers the vkey in `text` as one whose attestations
 * raise the level of evidence, or with `revoke` one that ends it
 * (store-layout.md R24). A key that stands already is left as it is.
 * KS_INVALID when the text is no vkey of type 01, when it is the key of the
 * log (N13), and when there is nothing to revoke. */
enum ks_status ks_key_register(struct ks_store *store, struct ks_span text,
	bool revoke, const struct ks_write_options *options,
	struct ks_key_change *out, struct ks_error *err) KS_CHECKED;

/* ---- Trust -------------------------------------------------------------- */

/* Whose word counts. It comes from outside of any store (store-layout.md N5).
 * Texts are contents, not names of files; empty = not given. */
struct ks_trust_options {
	const struct ks_span *keys;	/* KEY: a vkey, an SSH line, or PEM */
	size_t key_count;
	const char *origin;	/* the name of keys that carry none, or NULL */
	struct ks_span policy;	/* a tlog-policy file */
	struct ks_span since;	/* a signed note that was seen before */
	struct ks_span revoked;	/* the last good note of a revoked key */
	const char *state_directory;	/* where pins and what was accepted
					 * are; NULL = nowhere */
	bool pin;		/* on success, pin the key that signed */
};

/* What came of it. */
struct ks_signature_result {
	bool asked;		/* a key was trusted, or one is pinned */
	const char *verdict;	/* "signed", "unsigned", "untrusted key",
				 * "revoked key", "wrong origin", "forged",
				 * "mismatch", "rollback", "fork", or "not
				 * asked" (static) */
	enum ks_status status;	/* KS_OK, KS_UNTRUSTED or KS_CORRUPT */
	char message[512];	/* the verdict's reason, one line */
	uint64_t size;		/* entries that are signed: by a key that
				 * counts or, where none was asked for, as the
				 * newest note claims; 0 = none */
	uint64_t tail;		/* entries after those */
	char signer[300];	/* NAME+ID of the key; "" = none */
	uint64_t witnesses;	/* cosigners of the policy that signed */
	int64_t time;		/* the latest time of theirs; 0 = none */
	bool pinned, remembered;	/* what was written */
	char evidence[1024];	/* of a fork: where it was left; "" = none */
};

/* What a reader sees of a store. */
struct ks_view {
	bool pinned;		/* the origin is pinned, */
	uint64_t size, tail;	/* so that only this much is seen, of a log
				 * with so many entries more */
	char signer[300];	/* NAME+ID of the key */
	bool has_snapshots;	/* something is signed, pinned or not */
};

/* Where a pin for the store's origin is in `state_directory` (which may be
 * NULL), see from now on only what a checkpoint covers that verifies by it
 * (store-layout.md N7); else all of it, as before. To be called right after
 * ks_store_open(). KS_UNTRUSTED or KS_CORRUPT: nothing is covered, or what was
 * accepted before is missing or other; KS_NOT_FOUND: the store was opened at a
 * state beyond what is signed. */
enum ks_status ks_store_view(struct ks_store *store,
	const char *state_directory, const struct ks_watch *watch,
	struct ks_view *view, struct ks_error *err) KS_CHECKED;

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
	const struct ks_trust_options *trust;	/* NULL = nobody */
	const struct ks_watch *watch;
};

struct ks_verify_result {
	struct ks_log_info log;
	uint64_t objects, bytes;	/* checked; bytes of bodies */
	uint64_t damaged, absent, unfetched, unsupported, warnings;
	uint64_t taken_down;
	uint64_t dictionaries, checkpoints, tags;
	struct ks_signature_result signature;
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

/* ---- Snapshots ---------------------------------------------------------- */

struct ks_signer;	/* section "Keys" */

struct ks_snapshot_options {
	struct ks_write_options write;
	const struct ks_signer *signer;	/* its name is the log's origin */
	struct ks_span next;	/* vkey of the successor to announce, or
				 * empty */
	bool first;		/* this key signs for the first time */
	struct ks_span resume;	/* the note it signed last, from elsewhere,
				 * or empty */
	const char *state_directory;	/* where the memory of signers is */
};

/* Entries by what they say. */
struct ks_op_counts {
	uint64_t published, annotated, retracted, superseded, restored;
	uint64_t taken_down, keys, others;
};

struct ks_snapshot_result {
	bool created;		/* false: the newest snapshot covers all */
	bool tagged;		/* the tag was made (again) */
	uint64_t from, size;	/* entries signed before, and now */
	struct ks_id root;
	struct ks_op_counts counts;	/* of the entries from … to size - 1 */
	uint64_t removed, redacted;	/* objects and lines that went by
					 * takedowns */
	char signer[300];	/* NAME+ID */
	char commit[41];
};

/* Check everything that is new since the last snapshot, sign the log as it
 * is, and carry out its takedowns, in one commit with a tag (store-layout.md,
 * section "snapshots"). `told` is called, before anything is signed, for each
 * new entry that retracts, supersedes, takes down or names a key; a true from
 * it stops with KS_CANCELLED. Findings of the check go to `report`.
 *
 * KS_CORRUPT: the store has faults, or is no extension of what this key signed
 * last. KS_UNTRUSTED: the key has no memory here and neither `first` nor
 * `resume` says what to think of it. KS_USAGE: the key's name is not the
 * store's origin. */
enum ks_status ks_snapshot_create(struct ks_store *store,
	const struct ks_snapshot_options *options, ks_log_fn *told,
	ks_finding_report_fn *report, void *arg,
	struct ks_snapshot_result *result, struct ks_error *err) KS_CHECKED;

/* One published note. Texts are valid during the call. */
struct ks_snapshot_info {
	uint64_t size;
	struct ks_id root;
	const char *at;		/* of its last entry: a claim; "" = unknown */
	const char *origin;
	uint64_t signatures;
	struct ks_span note;
};
typedef void ks_snapshot_fn(void *arg, const struct ks_snapshot_info *info);

/* The notes of the store, ascending. Nothing is verified. */
enum ks_status ks_snapshot_list(struct ks_store *store, ks_snapshot_fn *visit,
	void *arg, struct ks_error *err) KS_CHECKED;

/* Take over the signature lines that other parties made of a note of the store:
 * `text` is their lines, or the note with them. Only lines that verify by a
 * key of `trust` are taken; *added is how many. KS_NOT_FOUND: the store has no
 * such note; KS_UNTRUSTED: no line is of a key given. */
enum ks_status ks_snapshot_add_cosignature(struct ks_store *store,
	struct ks_span text, const struct ks_trust_options *trust,
	const struct ks_write_options *options, uint64_t *size,
	uint64_t *added, struct ks_error *err) KS_CHECKED;

/* ---- Snapshot files ------------------------------------------------------ */

/* What a snapshot file holds: the log up to a signed size, or from one signed
 * size to another, and the objects that those entries publish (store-layout.md
 * S8 to S14). */
struct ks_snapshot_file {
	char origin[256];
	uint64_t from, size;	/* entries from … to size - 1; from 0: all */
	struct ks_id root;	/* of the first `size` entries */
	char signer[300];	/* NAME+ID, as its signature line says */
	uint64_t objects, object_bytes;
	struct ks_id tar;	/* SHA-256 of the tar stream in it, which is
				 * the same whoever exports */
	uint64_t tar_bytes;
};

/* Takes what is written. A status other than KS_OK ends it and is returned. */
typedef enum ks_status ks_write_fn(void *arg, struct ks_span bytes,
	struct ks_error *err);

struct ks_export_options {
	uint64_t size;	/* 0 = the newest snapshot */
	uint64_t from;	/* an earlier snapshot, for an incremental file;
			 * 0 = everything */
	const struct ks_watch *watch;
};

/* Write the snapshot file of one signed size. What has been written is of no
 * use after a failure. KS_NOT_FOUND: there is no such snapshot, or one that
 * cannot be exported any more since it has what was taken down later (S13);
 * KS_CORRUPT: something that belongs in the file is damaged or absent;
 * KS_UNSUPPORTED: the log has lines that need a newer kistore. */
enum ks_status ks_snapshot_export(struct ks_store *store,
	const struct ks_export_options *options, ks_write_fn *write, void *arg,
	struct ks_snapshot_file *result, struct ks_error *err) KS_CHECKED;

struct ks_file_options {
	const struct ks_trust_options *trust;	/* NULL = nobody */
	const char *temporary;	/* a directory for what memory does not hold;
				 * NULL = /tmp */
	unsigned threads;	/* 0 = all cores */
	const struct ks_watch *watch;
};

struct ks_file_result {
	struct ks_snapshot_file file;
	struct ks_signature_result signature;
	uint64_t unsupported;	/* entries that need a newer kistore */
	uint64_t warnings;	/* of kind tables */
	char not_checked[512];	/* what could not be judged; "" = nothing */
};

/* Check the snapshot file at `path` ("-" = standard input) in one pass, without
 * a store. KS_OK also when the signature does not count or entries are not
 * understood: read `signature` and `unsupported`. KS_CORRUPT: an exporter would
 * not have written it, or what it holds breaks a rule. */
enum ks_status ks_snapshot_verify(const char *path,
	const struct ks_file_options *options, struct ks_file_result *result,
	struct ks_error *err) KS_CHECKED;

struct ks_import_options {
	struct ks_write_options write;
	struct ks_file_options file;	/* its watch is that of `write` */
	bool unverified;	/* without trust, too */
	const char *store;	/* of an incremental file, where `directory` is
				 * NULL; NULL = the store that holds the
				 * current directory */
};

struct ks_import_result {
	struct ks_file_result checked;
	bool created;		/* a new store */
	bool changed;		/* false: the store had all of it */
	bool dictionary_trained;
	uint64_t removed, redacted;	/* objects and lines that went by
					 * takedowns */
	char commit[41];	/* "" when nothing changed */
};

/* Check a snapshot file as ks_snapshot_verify() does, and make a store of it
 * in `directory`, which must not be there or be empty; or, of an incremental
 * file, continue the store in `directory`, whose log ends where it begins. One
 * commit; after a failure nothing has changed.
 *
 * KS_UNTRUSTED: no trusted key signed it. KS_CORRUPT, KS_UNSUPPORTED: as
 * above, and when the store is another log. KS_EXISTS: `directory` is not
 * empty, or the store has entries that are not in the file. KS_NOT_FOUND: the
 * store lacks entries before those of the file. KS_USAGE: there is no
 * `directory` to make a store in. */
enum ks_status ks_snapshot_import(const char *path, const char *directory,
	const struct ks_import_options *options,
	struct ks_import_result *result, struct ks_error *err) KS_CHECKED;

#endif
