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
	const char *particulars; /* of several, what tells one from others of
				 * its name: "621.5 µs median · 2024-09-03"; or
				 * "" */
	const char *reading;	/* "digest", "digest prefix", "id", "id prefix",
				 * "name", "permalink", "external id" */
	bool retracted, superseded, taken_down;
};

typedef void ks_match_fn(void *arg, const struct ks_match *match);

/* Everything that `reference` may mean: a digest ("sha256:…", 64 hex), a
 * unique digest prefix of 6 or more, a record name, kind/name, an id or id
 * prefix, a permalink (format/permalink.h), what a source calls a run
 * ("source:externalId"). KS_OK when there is exactly one, KS_AMBIGUOUS,
 * KS_NOT_FOUND; `visit` is called for each (at most 50) in order of digest. */
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

/* ---- Pages -------------------------------------------------------------- */

/* What a row of a page rests on. */
enum ks_row_origin {
	KS_ROW_TEXT,	/* words of the page, the same on every one */
	KS_ROW_OBJECT,	/* objects, whose bytes were hashed */
	KS_ROW_LOG,	/* what the log says: titles, names, ids, times. No
			 * digest covers it */
	KS_ROW_DERIVED	/* worked out from many objects and the log: ranks,
			 * counts */
};

/* One row. Texts are UTF-8 as records have them: to be escaped before they are
 * shown. One with LF in it is several lines. */
struct ks_page_row {
	const char *label;	/* "" = none */
	const char *value;
	const char *note;	/* beside it: a command, a state; "" = none */
	enum ks_row_origin origin;
	bool warns;		/* it is retracted, say */
	bool has_target;	/* the value names an object: */
	struct ks_id target;
};

struct ks_page_section {
	const char *title;	/* "" = none */
	const struct ks_page_row *rows;
	size_t count;
};

/* All that is to be said of one object, in the order of reading. */
struct ks_page {
	struct ks_id digest;
	const char *kind;	/* full kind, or "raw" */
	const char *title;
	const char *name;	/* metadata.name, or "" */
	const char *id;		/* KernelIndex's, or "" */
	const char *comparison_key;	/* "sha256:…" of a run, or "" */
	bool retracted, superseded;
	const struct ks_page_section *sections;
	size_t count;
};

struct ks_page_options {
	int64_t now;		/* POSIX seconds: what is recent? */
	const char *accessed;	/* YYYY-MM-DD, for the citation; NULL = the
				 * day of `now` */
	bool manifest;		/* with the text of the manifest */
	const struct ks_watch *watch;
};

/* Compose the page of an object: of a BenchmarkRun or ServingRun that of
 * KernelIndex, value for value; of any other its members, what it refers to,
 * and what refers to it. Errors as of ks_get(), and KS_USAGE where `accessed`
 * is no date. The page is the caller's, and lives longer than the store. */
enum ks_status ks_page_new(struct ks_page **out, struct ks_store *store,
	const struct ks_id *digest, const struct ks_page_options *options,
	struct ks_error *err) KS_CHECKED;
/* NULL is allowed. */
void ks_page_free(struct ks_page *page);

/* One run of a comparison group. */
struct ks_rank_row {
	struct ks_id digest;
	size_t rank;		/* from 1; 0 = it does not rank */
	bool tied;		/* others have this rank, too */
	bool asked;		/* it is the run that was asked for */
	bool has_value;
	double value;		/* in the unit of the group, */
	const char *number;	/* "621504", exactly, */
	const char *text;	/* and "621.5 µs"; "" = none */
	const char *implementation;
	struct ks_id implementation_digest;
	const char *source;	/* its name, or ""; */
	bool has_source;	/* the log names a Source: */
	struct ks_id source_digest;
	const char *evidence;	/* "Reported" */
	const char *observed;	/* observedAt, as written */
	const char *id;		/* KernelIndex's, or "" */
	const char *reasons;	/* "RETRACTED, …": why it does not rank; "" */
};

/* A comparison group, as the policy ranks it. */
struct ks_rank {
	struct ks_id key;
	const char *policy;	/* "ranking-v1" */
	const char *profile;	/* "source_native" or "strict_exact" */
	const char *operation, *workload;	/* for people */
	const char *protocol, *environment;
	const char *metric, *statistic, *unit;	/* "" where there is none */
	size_t ranked, excluded;	/* how many there are */
	const struct ks_rank_row *rows;	/* those that were asked for: */
	size_t count;		/* ranked ones in order, then the others */
};

/* The comparison key of a BenchmarkRun. KS_USAGE when it is another kind,
 * KS_NOT_FOUND when what it refers to is not here. */
enum ks_status ks_rank_key(struct ks_store *store, const struct ks_id *run,
	struct ks_id *key, struct ks_error *err) KS_CHECKED;

/* What `reference` asks to rank: a run (*is_run, *run), or a comparison key in
 * full or its first digits, six or more. Candidates of an ambiguous reference
 * are told to `visit`, but for keys, which the message counts. */
enum ks_status ks_rank_find(struct ks_store *store, const char *reference,
	ks_match_fn *visit, void *arg, struct ks_id *key, bool *is_run,
	struct ks_id *run, const struct ks_watch *watch, struct ks_error *err)
	KS_CHECKED;

/* Rank the runs with a key. At most `limit` of those that rank are in rows,
 * with `asked` (NULL = none) wherever it stands, and as many of those that do
 * not. KS_NOT_FOUND: there is no run with that key. */
enum ks_status ks_rank_new(struct ks_rank **out, struct ks_store *store,
	const struct ks_id *key, const struct ks_id *asked, size_t limit,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;
/* NULL is allowed. */
void ks_rank_free(struct ks_rank *rank);

/* Records side by side. */
struct ks_compare_row {
	const char *label;
	const char *const *values;	/* one a record; NULL = has none */
	bool same;
	bool decides;		/* the first of the key's parts that differs */
};

struct ks_compare_section {
	const char *title;
	const struct ks_compare_row *rows;
	size_t count;
};

/* One of them. */
struct ks_compare_record {
	struct ks_id digest;
	const char *title;
	bool retracted, superseded;
	const char *text;	/* "621.5 µs", of a run; "" = none */
	const char *ratio;	/* to the least, "5.35×"; "" = none */
	size_t rank;		/* among these; 0 = none */
	bool tied;
	const char *reasons;	/* why it may not rank; "" */
};

struct ks_compare {
	const char *kind;	/* full kind */
	const struct ks_compare_record *records;
	size_t record_count;
	bool has_keys;		/* of kinds that have keys of comparison */
	bool comparable;	/* one key, and all may rank */
	const char *key;	/* the one they share, "sha256:…", or "" */
	const char *verdict;	/* a sentence: who leads, or why nobody can */
	const struct ks_compare_section *sections;
	size_t count;
};

/* Compare records of one kind, at least two and at most KS_COMPARE_MAX. A
 * WorkloadCase and a WorkloadSuite are of two kinds. KS_USAGE when kinds
 * differ, else errors as of ks_get(). */
#define KS_COMPARE_MAX 64
enum ks_status ks_compare_new(struct ks_compare **out, struct ks_store *store,
	const struct ks_id *digests, size_t count,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;
/* NULL is allowed. */
void ks_compare_free(struct ks_compare *compare);

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
	int64_t first;		/* the earliest: since when it is proven */
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

/* ---- Lists -------------------------------------------------------------- */

enum ks_list_type {
	KS_LIST_TEXT,
	KS_LIST_NUMBER,
	KS_LIST_INTEGER,
	KS_LIST_TIME,		/* an Instant, as it was written */
	KS_LIST_DIGEST,
	KS_LIST_BOOLEAN,	/* "true" or "false" */
	KS_LIST_JSON		/* canonical JSON: an object or a list */
};

/* A field of records, by which they are listed. */
struct ks_list_field {
	const char *name;	/* "hardware" */
	const char *help;	/* a phrase */
	enum ks_list_type type;
	const char *filter;	/* what a filter by it takes, as usage shows it;
				 * NULL: none */
	bool shows;		/* it can be a column, */
	bool extra;		/* but is none unless it is asked for; */
	bool sorts;		/* and the order */
	unsigned columns;	/* of a terminal that it should have */
};

/* All fields (static), in the order of columns. */
const struct ks_list_field *ks_list_field(size_t n);
size_t ks_list_field_count(void);

/* Columns of a list at most: each field once, and some room. */
#define KS_LIST_COLUMNS 96

/* Whether values of a field are numbers; whether they are JSON as they are:
 * numbers, booleans, JSON. */
bool ks_list_is_number(const struct ks_list_field *field);
bool ks_list_is_json(const struct ks_list_field *field);

/* "hardware" with "H100". Several values of one field: any of them; several
 * fields: all. Of "axis" ("batch=4") all values count, in one case of a suite;
 * of "text" all words. */
struct ks_list_filter {
	const char *field, *value;
};

/* Whether records that have a mark are listed. */
enum ks_list_marked {
	KS_LIST_ANY,
	KS_LIST_ONLY,
	KS_LIST_WITHOUT
};

struct ks_list_options {
	const struct ks_list_filter *filters;
	size_t filter_count;
	enum ks_list_marked retracted, superseded;
	const char *const *columns;	/* names of fields; */
	size_t column_count;		/* 0: those that the kinds have, */
	bool brief;			/* or a few of them, for people */
	bool runs;			/* runs only, and by default all that
					 * they have, the extra ones as well */
	const char *sort;		/* NULL: in order of publication */
	bool descending;
	uint64_t limit;			/* 0 = none */
	const struct ks_watch *watch;
};

/* A value: UTF-8 as records have it, to be escaped before it is shown; a
 * number as RFC 8785 writes it; empty = there is none. */
struct ks_list_record {
	struct ks_id digest;
	const char *kind;		/* in full */
	bool retracted, superseded;
	const struct ks_span *values;	/* one a column */
};

/* Where a list goes. */
struct ks_list_sink {
	void *arg;
	/* Called once, before the first record: the columns. */
	void (*begin)(void *arg, const struct ks_list_field *const *columns,
		size_t count);
	/* A true stops. */
	bool (*record)(void *arg, const struct ks_list_record *record);
	/* A record that was chosen and cannot be shown, and why: it is damaged,
	 * absent or not fetched. */
	void (*problem)(void *arg, const struct ks_id *digest,
		const struct ks_error *why);
};

struct ks_list_result {
	uint64_t records;		/* that were shown */
	uint64_t damaged, unfetched;	/* that could not be */
	uint64_t unread;		/* of the whole store: that could not be
					 * read, so that nothing tells whether
					 * they should be chosen */
	bool partial;			/* not all was fetched from elsewhere */
};

/* Whether a result has all that was asked for: KS_CORRUPT or, where the rest
 * was not fetched, KS_NOT_FOUND, with how much it lacks. */
enum ks_status ks_list_check(const struct ks_list_result *result,
	struct ks_error *err) KS_CHECKED;

/* List records. What was taken down is not there. Without a filter by kind, and
 * with one by a field that not all kinds have, runs are listed: BenchmarkRuns
 * and ServingRuns. Every record is read again and hashed before it is shown.
 * KS_USAGE: there is no such field, or a value makes no sense. */
enum ks_status ks_list(struct ks_store *store,
	const struct ks_list_options *options,
	const struct ks_list_sink *sink, struct ks_list_result *result,
	struct ks_error *err) KS_CHECKED;

/* Counts, by what the catalogue says: groups in a fixed order ("kind",
 * "status", …), in each the most frequent value first. */
struct ks_stats_row {
	const char *group, *value;
	uint64_t records, retracted, superseded;
};
typedef void ks_stats_fn(void *arg, const struct ks_stats_row *row);

struct ks_stats_result {
	uint64_t records;		/* of all kinds, without those */
	uint64_t taken_down;
	uint64_t unread;		/* that could not be read, */
	uint64_t groups;		/* of runs that may be compared */
	char first[40], last[40];	/* observedAt of runs; "" = none */
};

enum ks_status ks_stats(struct ks_store *store, const struct ks_watch *watch,
	ks_stats_fn *visit, void *arg, struct ks_stats_result *result,
	struct ks_error *err) KS_CHECKED;

/* One run that took the lead of its comparison group, and when. */
struct ks_record_event {
	struct ks_id key;		/* of the group */
	struct ks_id run;
	bool has_previous;		/* the run that led before it: */
	struct ks_id previous;
	const char *at;			/* observedAt of the run */
	const char *value, *unit;	/* a number as RFC 8785 writes it */
	const char *text;		/* "621.5 µs" */
	bool leads;			/* still */
	size_t number, count;		/* of the group's: 1 to count */
	size_t runs;			/* that may rank, in the group */
	const char *operation, *workload, *hardware, *implementation;
};
/* A true stops. */
typedef bool ks_record_event_fn(void *arg, const struct ks_record_event *event);

/* The history of who led each comparison group, in order of the groups' first
 * runs. `options` chooses the groups: those of the runs that it chooses (of
 * its fields only filters, marks and watch count, and `limit` of groups). With
 * `leaders`, only who leads now. Every run was read again and hashed. */
enum ks_status ks_records(struct ks_store *store,
	const struct ks_list_options *options, bool leaders,
	ks_record_event_fn *visit, void *arg, struct ks_list_result *result,
	struct ks_error *err) KS_CHECKED;

/* ---- Exports ------------------------------------------------------------ */

/* Runs as tables that other programs read: a row for each BenchmarkRun and
 * ServingRun that a list (with `runs`) chooses, with the same columns whatever
 * is chosen. What is written follows from the chosen records alone. */

/* Append a listed record as a line of JSON: an object with its columns in
 * order, null where there is no value. */
void ks_export_line(struct ks_buf *out,
	const struct ks_list_field *const *columns, size_t count,
	const struct ks_list_record *record);

/* Make an empty file, `path`, a database of SQLite with the table `runs`, in
 * the order of the list; numbers and booleans (0, 1) are numbers, JSON is text.
 * Messages call the file `name`. Of `sink` only problem() is called. The file
 * is not flushed to disk, has nothing beside it, and is of no use after a
 * failure. KS_IO: it could not be written; else as ks_list(). */
enum ks_status ks_export_sqlite(struct ks_store *store,
	const struct ks_list_options *options, const char *path,
	const char *name, const struct ks_list_sink *sink,
	struct ks_list_result *result, struct ks_error *err) KS_CHECKED;

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
	bool index;			/* compare the file of the index, which
					 * is derived, with a fresh one */
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

/* ---- Citations ---------------------------------------------------------- */

enum ks_cite_format {
	KS_CITE_TEXT,		/* as KernelIndex gives it, and LF */
	KS_CITE_BIBTEX,
	KS_CITE_CSL_JSON,
	KS_CITE_RIS
};

struct ks_cite_options {
	int64_t now;		/* POSIX seconds */
	const char *accessed;	/* the day that is named, YYYY-MM-DD; NULL =
				 * the day of `now` */
	enum ks_cite_format format;
	const struct ks_watch *watch;
};

/* Append the citation of a record to `text` and, unless it is NULL, a citation
 * file (store-layout.md, section "citation files") to `file`. With a file, both
 * are as of the newest snapshot of what the store is opened at, whatever is
 * said of the record later. KS_INVALID: it is no record. With a file also
 * KS_UNTRUSTED: nothing is signed; KS_NOT_FOUND: the record is not covered by
 * what is signed, or something that it refers to is not here; KS_CORRUPT: the
 * log is not what is signed. */
enum ks_status ks_cite(struct ks_store *store, const struct ks_id *digest,
	const struct ks_cite_options *options, struct ks_buf *text,
	struct ks_buf *file, struct ks_error *err) KS_CHECKED;

/* What can be checked. */
enum ks_check_form {
	KS_CHECK_CITATION,	/* a citation file */
	KS_CHECK_PROOF,		/* a tlog-proof, with its entry */
	KS_CHECK_TEXT		/* a text that has one digest in it: by itself
				 * it proves nothing */
};

/* Bytes of what is checked, at most. */
#define KS_CHECK_MAX ((uint64_t)1 << 24)

struct ks_check_options {
	const struct ks_trust_options *trust;	/* NULL = nobody */
	const struct ks_span *entry;	/* that a tlog-proof is about, byte for
					 * byte; NULL = none */
	const struct ks_watch *watch;
};

/* What was found. Texts are "" where there is none, or they do not apply. */
struct ks_check_result {
	enum ks_check_form form;
	bool has_digest;
	struct ks_id digest;	/* of the record */
	struct ks_buf kind;	/* in full */
	struct ks_buf text;	/* the citation */
	char accessed[11];	/* a claim that nothing can prove */
	char origin[256];	/* of the log */
	char signer[300];	/* NAME+ID of its key, as the note says */
	uint64_t size, index;	/* entries that the note signs; of these, the
				 * one that publishes */
	struct ks_id root;
	char at[21];		/* its time: a claim of the log's writer */
	uint64_t objects, lines;
	struct ks_signature_result signature;
};

#define KS_CHECK_RESULT_INIT { .kind = KS_BUF_INIT, .text = KS_BUF_INIT }

/* Check what somebody hands over, without a store. KS_OK also when the
 * signature does not count: read `signature`. KS_CORRUPT: it is malformed or
 * forged; KS_UNSUPPORTED: it needs a newer kistore; KS_USAGE: there is an entry
 * and no proof, or a proof and no entry. Nothing is remembered or pinned. The
 * result is released whatever comes of it. */
enum ks_status ks_check(struct ks_span bytes,
	const struct ks_check_options *options,
	struct ks_check_result *result, struct ks_error *err) KS_CHECKED;
void ks_check_release(struct ks_check_result *result);

/* What a store says of the record now. */
struct ks_check_standing {
	uint64_t size;		/* entries that it was read by */
	uint64_t index;		/* of the publish line */
	char at[21];
	uint64_t snapshot;	/* the first that covers it; 0 = none */
	bool older;		/* the store ends before what is proven */
	bool retracted, superseded, taken_down;
	bool has_successor;
	struct ks_id successor;
	uint64_t changed;	/* the entry that says so */
	char changed_at[21];
	struct ks_buf reason;
	bool differs;		/* the text is not what the store gives: */
	struct ks_buf text;
	struct ks_signature_result signature;	/* of the store itself */
};

#define KS_CHECK_STANDING_INIT { .reason = KS_BUF_INIT, .text = KS_BUF_INIT }

/* Look up in a store what was checked. KS_NOT_FOUND: it was never published
 * there; KS_CORRUPT: the store is another log than what was proven. */
enum ks_status ks_check_store(struct ks_store *store,
	const struct ks_check_options *options,
	const struct ks_check_result *checked,
	struct ks_check_standing *out, struct ks_error *err) KS_CHECKED;
void ks_check_standing_release(struct ks_check_standing *standing);

/* ---- Publishing --------------------------------------------------------- */

struct ks_publish_options {
	uint64_t size;	/* 0 = the newest snapshot */
	const struct ks_id *cite;	/* records whose citation files are */
	size_t cite_count;		/* to be there, too */
	int64_t now;		/* the day that these name: as in */
	const char *accessed;	/* ks_cite_options */
	const struct ks_watch *watch;
};

struct ks_publish_result {
	char origin[256];
	uint64_t size;		/* entries that are published now */
	uint64_t served;	/* before; 0 = none */
	struct ks_id root;
	bool has_repository;	/* false: held back (W10) */
	bool changed;		/* anything was written or removed */
	/* What was written: files by what they are, all files, their bytes;
	 * and files that were removed. */
	uint64_t tiles, bundles, objects, dictionaries, packs, citations;
	uint64_t written, bytes, removed;
};

/* Make or continue a directory for any web server or object store, from a
 * signed snapshot (store-layout.md, section "W"): tiles, objects, the snapshot
 * file, the repository for git's dumb HTTP, citation files that are asked for,
 * and last the checkpoint.
 *
 * KS_UNTRUSTED: nothing is signed. KS_NOT_FOUND: there is no such snapshot, or
 * something in it was taken down later. KS_INVALID: `directory` holds something
 * else, another log, a fork of this one, or a newer size. KS_BUSY: another
 * process is publishing there. KS_CORRUPT: what is to be published is damaged
 * or not what was signed. One citation that ks_cite() would refuse, with a
 * file, refuses all. After a failure what was served before is served still. */
enum ks_status ks_publish(struct ks_store *store, const char *directory,
	const struct ks_publish_options *options,
	struct ks_publish_result *result, struct ks_error *err) KS_CHECKED;

/* ---- Mirrors ------------------------------------------------------------- */

/* A mirror is a bare repository that follows a store elsewhere. What comes is
 * fetched aside by stock git, verified, and accepted whole or not at all
 * (store-layout.md, section M). */
struct ks_mirror_options {
	struct ks_write_options write;	/* the lock is held while git fetches */
	const struct ks_trust_options *trust;
};

/* What came of an update, or of the last one. */
struct ks_mirror_result {
	/* "updated", "current": nothing is new. Refused, and the mirror
	 * stays as it was: "unreachable", "half-updated" (it does not
	 * deliver what it names), "not a store", "unsigned", "untrusted
	 * key", "revoked key", "not trusted" (no key is), "wrong origin",
	 * "forged", "mismatch", "false tail" (a note that came with a longer
	 * log), "rollback" (behind this mirror), "stale" (behind what was
	 * accepted elsewhere), "fork", "damaged", "incomplete" (objects are
	 * absent), "unsupported". (Static; "never": no update yet.) */
	const char *verdict;
	enum ks_status status;	/* KS_OK, or what it is an error of */
	char message[512];	/* why, one line */
	char url[4096];
	char origin[256];
	int64_t checked;	/* POSIX seconds: when */
	/* The mirror now: */
	uint64_t size, before;	/* entries that are signed; and before this */
	struct ks_id root;
	uint64_t tail;		/* entries of the upstream beyond, unsigned */
	struct ks_signature_result signature;
	/* Of an update: */
	bool changed;
	bool rewritten;		/* its history is another than it was */
	bool whole;		/* all was verified, not what is new alone */
	uint64_t objects;	/* that were checked */
	uint64_t damaged, absent;
	uint64_t carried;	/* own cosignatures that were kept */
	bool purged;		/* what was taken down left the history */
	/* Of this and earlier ones: */
	int64_t good;		/* POSIX seconds: when one was last not
				 * refused; 0: never */
	char fork[1024];	/* where the evidence of a fork was left, as
				 * long as it is there; "" = none */
	/* Of a status: */
	bool interrupted;	/* an update is under way, or died, and the
				 * next goes on */
	uint64_t cosignatures;	/* own ones, of the newest note */
};

/* Make a mirror of the store at `url` (whatever git can fetch) in `directory`,
 * which is absent or empty, or was left by a clone of the same that died. Keys
 * given are pinned for its origin. KS_OK when there is a verdict; where that is
 * no success, nothing is left. KS_EXISTS: something else is there; KS_USAGE:
 * no URL. */
enum ks_status ks_mirror_clone(const char *url, const char *directory,
	const struct ks_mirror_options *options,
	struct ks_mirror_result *result, struct ks_error *err) KS_CHECKED;

/* Bring the mirror in `directory` (NULL: the one that holds the current
 * directory) up to its upstream. KS_OK when there is a verdict. KS_NOT_FOUND:
 * not a mirror; KS_BUSY: another update is under way. */
enum ks_status ks_mirror_update(const char *directory,
	const struct ks_mirror_options *options,
	struct ks_mirror_result *result, struct ks_error *err) KS_CHECKED;

/* What the mirror holds, and what came of its last update; nobody is asked. */
enum ks_status ks_mirror_status(const char *directory,
	struct ks_mirror_result *result, struct ks_error *err) KS_CHECKED;

/* A cosignature over the newest note (C2SP tlog-cosignature, type 04). */
struct ks_mirror_cosigned {
	uint64_t size;
	struct ks_id root;
	int64_t time;		/* POSIX seconds, of the cosignature */
	bool is_new;		/* false: this key had signed it before */
	char vkey[512];		/* of the cosigner */
};

/* Verify the mirror whole, cosign its newest note as `cosigner` (M3), keep the
 * line in the mirror, and append the note. KS_UNTRUSTED or KS_CORRUPT: the
 * mirror does not verify, or is not consistent with what this key has cosigned,
 * which options->trust->state_directory remembers; KS_USAGE: the key is used
 * for something else. */
enum ks_status ks_mirror_cosign(const char *directory,
	const struct ks_signer *cosigner,
	const struct ks_mirror_options *options, struct ks_buf *note,
	struct ks_mirror_cosigned *result, struct ks_error *err) KS_CHECKED;

/* ---- Attestations ------------------------------------------------------- */

/* What somebody says of a record, to be signed and put. Texts are UTF-8; one
 * that is not given is NULL, or has NULL as its data. Which of them a type has
 * is in store-layout.md K34. */
struct ks_attest_options {
	struct ks_write_options write;
	const struct ks_signer *signer;
	const char *type;	/* "reproduced", "could_not_reproduce", …; '-'
				 * stands for '_' */
	const char *reason;	/* why a correction is wanted */
	const char *value;	/* that was observed: "621.5us" */
	struct ks_span body, evidence_url, environment;
	struct ks_span author;	/* not given: the name of the key */
	bool rerun;		/* the digest of a new run is given */
	const char *state_directory;	/* of the memory of signers, or NULL */
	bool dry_run;		/* judge and sign, but write nothing */
};

/* What became of it. */
struct ks_attest_result {
	struct ks_id digest;	/* of the Attestation */
	bool added;		/* false: it was there already */
	uint64_t size;		/* of the log afterwards */
	char signer[300];	/* NAME+ID of the key */
	const char *standing;	/* what the log says of it, as in
				 * ks_attestation_signer (static) */
	char commit[41];	/* "" when nothing changed */
};

/* Judge what is to be said by the rules that need no store, in their order
 * (K35): KS_INVALID with the first one that is broken. */
enum ks_status ks_attest_check(const struct ks_attest_options *options,
	struct ks_error *err) KS_CHECKED;

/* Say it of `subject`: judge by all rules, sign, and put the Attestation, in
 * one commit. `rerun` is the new run, or NULL. The statement that was signed,
 * canonical JSON, is appended to `statement` (which may be NULL). KS_INVALID
 * with the rule that is broken, also where the key is that of a log (N13);
 * KS_NOT_FOUND where a record is not published, or was taken down. */
enum ks_status ks_attest(struct ks_store *store, const struct ks_id *subject,
	const struct ks_id *rerun, const struct ks_attest_options *options,
	struct ks_buf *statement, struct ks_attest_result *result,
	struct ks_error *err) KS_CHECKED;

/* A key by which an envelope verifies. */
struct ks_attestation_signer {
	const char *name;	/* NAME+ID; of a given key that has no name its
				 * fingerprint */
	bool given;		/* by the caller */
	const char *standing;	/* what the log says of it: "controlled",
				 * "unsigned" (registered, but that is not
				 * signed), "revoked", or "" (static) */
	uint64_t entry;		/* of the log, that says so */
	bool repeated;		/* it has said the same before */
};

/* An attestation. Texts are valid during the call, and "" where there is
 * none; all but the verdicts are claims, of whoever signed. */
struct ks_attestation {
	bool is_record;		/* false: it comes from a file */
	struct ks_id digest;	/* of the record */
	const char *problem;	/* why it cannot be read: it is malformed, or
				 * of another predicate type; then only what is
				 * said of its signatures and, perhaps, of its
				 * subject is known */
	bool malformed;
	bool has_subject;
	struct ks_id subject;
	const char *subject_kind;	/* as the log has it; "" = not there */
	const char *predicate_type;
	const char *type, *at, *author;
	const char *reason, *body, *evidence_url, *environment;
	const char *observed;	/* "621.5 µs" */
	double observed_ns;	/* 0 = none */
	bool has_rerun;
	struct ks_id rerun;
	struct ks_span statement;	/* canonical JSON; empty where there is
					 * none */
	const char *claimed;	/* the first keyid: a hint that nobody signed */
	const struct ks_attestation_signer *signers;
	size_t signer_count;	/* 0 = by no key that is known */
	bool trusted;		/* by a key that is given, or "controlled" */
	bool repeated;		/* all of its signers have said it before */
	bool counts;		/* it makes the evidence "verified" (N14) */
};
typedef bool ks_attestation_fn(void *arg,
	const struct ks_attestation *attestation);

/* Keys that the caller trusts, each a vkey, an SSH line or PEM. */
struct ks_attestation_keys {
	const struct ks_span *texts;
	size_t count;
};

/* The attestations about a record, oldest first, but for those that were taken
 * down, retracted or superseded; or, of an Attestation, that one alone. What
 * one key has signed counts once, in however many envelopes it comes. A true
 * from `visit` stops. KS_USAGE for a text that is no key. */
enum ks_status ks_attestations_of(struct ks_store *store,
	const struct ks_id *digest, const struct ks_attestation_keys *keys,
	ks_attestation_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* Those in a file ("-" = standard input): envelopes or Attestations, one or
 * one a line. `store` may be NULL: then only the keys given are known.
 * KS_CORRUPT where the file is not JSON. */
enum ks_status ks_attestations_in(struct ks_store *store, const char *path,
	const struct ks_attestation_keys *keys, ks_attestation_fn *visit,
	void *arg, struct ks_error *err) KS_CHECKED;

/* ---- Artifacts ---------------------------------------------------------- */

/* How files are put as raw objects, and described. NULL = not given. */
struct ks_artifact_options {
	struct ks_write_options write;
	bool describe;		/* with an Artifact record for each file */
	const char *media_type;	/* NULL: application/octet-stream */
	const char *kind;	/* of the artifact, a token; NULL: "file" */
	const char *name;	/* NULL: the file's, without directories */
	const char *license, *uri;
};

/* Put the bytes of files ("-" = standard input), each whole and as it is, in
 * one commit. `visit` is called per object after success, files first, then
 * descriptions. KS_INVALID: a file is longer than a raw object may be, is a
 * record (O8), no regular file, or changed meanwhile; or it was taken down and
 * is the only one. Memory does not grow with the files. */
enum ks_status ks_artifact_put(struct ks_store *store,
	const char *const *paths, size_t count,
	const struct ks_artifact_options *options, ks_put_fn *visit,
	void *arg, struct ks_put_result *result, struct ks_error *err)
	KS_CHECKED;

/* Hand out the bytes of a raw object in pieces: `digest` is its own, or that
 * of an Artifact that describes it. All of it was hashed before the first
 * piece. KS_NOT_FOUND: it is only described, was taken down, was never here,
 * or is not fetched; KS_INVALID: it is a record; KS_CORRUPT as of ks_get(). */
enum ks_status ks_artifact_get(struct ks_store *store,
	const struct ks_id *digest, ks_write_fn *write, void *arg,
	struct ks_error *err) KS_CHECKED;

#endif
