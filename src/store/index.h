/*
 * The derived index: what the log says now, for quick look-ups. Its tables are
 * in SQLite, by store/db.h.
 *
 * An index is bound to the commit and the log (size and root) that it was
 * built from. Opening it for another commit catches up where that log extends
 * this one and rebuilds otherwise; deleting the file loses time, not data. It
 * is kept in the git directory, or in memory where that cannot be written.
 * Nothing that it says is shown without reading the object or line itself.
 */
#ifndef KS_STORE_INDEX_H
#define KS_STORE_INDEX_H

#include "format/replay.h"
#include "kistore.h"
#include "store/gitdb.h"

#define KS_INDEX_NAME "kistore-index.sqlite"
#define KS_NO_LINE UINT64_MAX

struct ks_index;

/* The index of the log at `commit` (with root tree `tree`). `fixed` = the
 * commit is not the newest: the file is neither used nor written. */
enum ks_status ks_index_open(struct ks_index **out, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree, bool fixed,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;
void ks_index_close(struct ks_index *index);

/* Go on to a later commit whose log extends this one's. */
enum ks_status ks_index_catch_up(struct ks_index *index, struct ks_gitdb *db,
	const struct ks_oid *commit, const struct ks_oid *tree,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;

/* The first failure of the tables, which sticks: look-ups that return bool say
 * "no" after one, so a writer asks before it believes them. */
enum ks_status ks_index_check(const struct ks_index *index,
	struct ks_error *err) KS_CHECKED;

/* Something else shows that the index is wrong: its file will be removed when
 * it is closed, so that the next one is built anew. */
void ks_index_distrust(struct ks_index *index);

/* What the whole log says. */
struct ks_index_log {
	struct ks_merkle tree;
	char time[KS_TIME_TEXT + 1];	/* of the last line; "" = none */
	uint64_t faults, unsupported;
	uint64_t first_problem;	/* entry; KS_NO_LINE = none */
};
const struct ks_index_log *ks_index_log(const struct ks_index *index);

/* What it says of one object. */
struct ks_index_row {
	struct ks_object_state state;
	char kind[544];		/* "raw", "api/kind"; "" = redacted */
	char name[208];		/* metadata.name, or "" */
	uint64_t metadata_line, provenance_line; /* that hold the current ones,
						  * or KS_NO_LINE */
	uint64_t metadata_hash, provenance_hash; /* ks_index_hash(); 0 = none */
	struct ks_id successor;	/* when state.superseded */
};

/* The row of a digest. Returns false when it was never published. */
bool ks_index_object(struct ks_index *index, const struct ks_id *digest,
	struct ks_index_row *row);

/* A hash of metadata or provenance text, to tell whether it differs; never 0
 * for a text that is not empty. */
uint64_t ks_index_hash(struct ks_span text);

/* Rows in order of digest: whose hex digits start with `hex`, whose name is
 * `name`, whose slug is `slug` where the catalogue has another than the name,
 * whose id starts with the hex digits of `id`, which are of a kind. The visitor
 * returns true to stop. */
typedef bool ks_index_fn(void *arg, const struct ks_index_row *row);
enum ks_status ks_index_by_digest(struct ks_index *index, struct ks_span hex,
	ks_index_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;
enum ks_status ks_index_by_name(struct ks_index *index, struct ks_span name,
	ks_index_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;
enum ks_status ks_index_by_slug(struct ks_index *index, struct ks_span slug,
	ks_index_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;
enum ks_status ks_index_by_id(struct ks_index *index, struct ks_span id_hex,
	ks_index_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;
enum ks_status ks_index_by_kind(struct ks_index *index, const char *kind,
	ks_index_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* Rows, in order of publication, whose publish line has `missing`. */
enum ks_status ks_index_by_missing(struct ks_index *index, ks_index_fn *visit,
	void *arg, struct ks_error *err) KS_CHECKED;

/* The digest that a full id belongs to. */
bool ks_index_id(struct ks_index *index, const uint8_t id[16],
	struct ks_id *digest);

/* The entries about a digest after its publish line, ascending. */
typedef bool ks_index_line_fn(void *arg, uint64_t line);
enum ks_status ks_index_lines(struct ks_index *index,
	const struct ks_id *digest, ks_index_line_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* The lines that name keys, ascending. */
enum ks_status ks_index_keys(struct ks_index *index, ks_index_line_fn *visit,
	void *arg, struct ks_error *err) KS_CHECKED;

/* Counts by kind, in order of kind text. */
typedef void ks_index_kind_fn(void *arg, const char *kind, uint64_t objects,
	uint64_t retracted, uint64_t superseded, uint64_t taken_down);
enum ks_status ks_index_kinds(struct ks_index *index, ks_index_kind_fn *visit,
	void *arg, struct ks_error *err) KS_CHECKED;

/* How many objects there are. */
uint64_t ks_index_count(struct ks_index *index);

/* A loader that answers from the index, for ks_replay_resume(). */
struct ks_replay_loader ks_index_loader(struct ks_index *index);

#endif
