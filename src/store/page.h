/*
 * Pages, rankings and comparisons, in their parts (private to store/page*.c).
 *
 * Three things are kept apart: parts are records read from their objects,
 * hashed, with what the log says of them; a draft is a page being written; and
 * each page_*.c says, for its kinds, which rows there are. Tables (index,
 * catalogue) only choose and order.
 */
#ifndef KS_STORE_PAGE_H
#define KS_STORE_PAGE_H

#include "format/naming.h"
#include "format/ranking.h"
#include "format/record.h"
#include "store/catalogue.h"
#include "store/store.h"

/* Rows of a section, and sections of a page, beyond which it says how many
 * more there are: a record may have as many members as fit into 1 MiB. */
#define KS_PAGE_ROWS 200
#define KS_PAGE_SECTIONS 64

/* Of those that refer to a record, how many are named. */
#define KS_PAGE_USERS 10

/* ---- Parts -------------------------------------------------------------- */

/* A record that something is shown of. All zero is one that nothing names. */
struct ks_part {
	struct ks_id digest;
	bool is_named;		/* something refers to it */
	bool is_here;		/* it was read; else state says why not */
	const char *state;	/* "archived", "missing", "taken down" or "not
				 * fetched" (static) */
	struct ks_index_row row;	/* kind "" where it was never
					 * published */
	struct ks_buf body, metadata_text, provenance_text;
	struct ks_record record;	/* kind NULL, spec empty: raw, or not
					 * here */
	struct ks_span metadata, provenance;	/* objects, or empty */
};

/* Read an object. One that is not here for a reason (never published, taken
 * down, not fetched) is no failure; damage is. `part` is released by the
 * caller whatever comes of it. */
enum ks_status ks_part_read(struct ks_store *store,
	const struct ks_id *digest, struct ks_part *part,
	struct ks_error *err) KS_CHECKED;

/* The same, where it must be here: errors as of ks_get(). */
enum ks_status ks_part_need(struct ks_store *store,
	const struct ks_id *digest, struct ks_part *part,
	struct ks_error *err) KS_CHECKED;

/* The same, the object alone: without row, metadata and provenance. */
enum ks_status ks_part_bare(struct ks_store *store,
	const struct ks_id *digest, struct ks_part *part,
	struct ks_error *err) KS_CHECKED;

/* As ks_part_read(), of what a member of `object` names, if it does. */
enum ks_status ks_part_follow(struct ks_store *store, struct ks_span object,
	const char *member, struct ks_part *part, struct ks_error *err)
	KS_CHECKED;

/* What the log says of an object, without the object. */
enum ks_status ks_part_notes(struct ks_store *store,
	const struct ks_id *digest, struct ks_part *part,
	struct ks_error *err) KS_CHECKED;

/* The same, for lists: false when it was never published. Notes that are
 * damaged are left out; *failed is set where they cannot be read for another
 * reason, and else left as it is. */
bool ks_part_known(struct ks_store *store, const struct ks_id *digest,
	struct ks_part *part, bool *failed);

/* Empty it; it may be used again. */
void ks_part_release(struct ks_part *part);

/* "BenchmarkRun", or "" (static, or in the part). */
const char *ks_part_kind(const struct ks_part *part);
bool ks_part_is(const struct ks_part *part, const char *kind);

/* A part as names are made of it (format/naming.h); borrows. And a
 * ks_named_fn: `arg` is a pointer to a list of parts that ends with NULL. */
struct ks_named ks_part_named(const struct ks_part *part);
bool ks_parts_find(void *arg, const struct ks_id *digest,
	struct ks_named *out);

/* Append what a record is called: its title, or the name that its log or spec
 * has for it, or the first digits of its digest. */
void ks_part_title(const struct ks_part *part, struct ks_buf *out);

/* Append a member of metadata or provenance, unescaped. False when there is
 * none, or it is no string. */
bool ks_part_note(struct ks_span notes, const char *member,
	struct ks_buf *out);

/* Append the first 12 digits of a digest. */
void ks_part_digits(struct ks_buf *out, const struct ks_id *digest);

/* A BenchmarkRun and all that its page shows of others. */
struct ks_run_parts {
	struct ks_part run, implementation, project, workload, operation;
	struct ks_part protocol, environment, source;
	bool has_key;
	struct ks_id key;	/* of comparison; see has_key */
};

/* Read them; a run that is no BenchmarkRun is KS_USAGE. */
enum ks_status ks_run_read(struct ks_store *store, const struct ks_id *digest,
	struct ks_run_parts *parts, struct ks_error *err) KS_CHECKED;
void ks_run_release(struct ks_run_parts *parts);

/* Append names as KernelIndex shows them, or what stands for one. */
void ks_run_implementation(const struct ks_part *implementation,
	const struct ks_part *operation, struct ks_buf *out);
void ks_run_operation(const struct ks_part *operation, struct ks_buf *out);
void ks_run_workload(const struct ks_part *workload, struct ks_buf *out);
void ks_run_project(const struct ks_part *project, struct ks_buf *out);
/* Without a Source record, the slug that the run itself states. */
void ks_run_source(const struct ks_part *source, struct ks_span run,
	struct ks_buf *out);
/* The commit of an implementation, or its version, or "unknown". */
void ks_run_revision(struct ks_span implementation, struct ks_buf *out);

/* A ServingRun, likewise. */
struct ks_serving_parts {
	struct ks_part run, model, configuration, stack, workload, source;
	bool has_key;
	struct ks_id key;
};
enum ks_status ks_serving_read(struct ks_store *store,
	const struct ks_id *digest, struct ks_serving_parts *parts,
	struct ks_error *err) KS_CHECKED;
void ks_serving_release(struct ks_serving_parts *parts);
void ks_serving_summary(const struct ks_part *configuration,
	struct ks_buf *out);

/* ---- Drafts ------------------------------------------------------------- */

/* Texts that stay where they are until all are freed. */
struct ks_texts_chunk;
struct ks_texts {
	struct ks_texts_chunk *last;
	bool failed;
};

/* A copy of `text`, ended by NUL; "" once memory has run out. */
const char *ks_texts_keep(struct ks_texts *texts, struct ks_span text);
void ks_texts_release(struct ks_texts *texts);

struct ks_draft_section {
	const char *title;
	size_t first, count;	/* rows */
	size_t left_out;	/* rows beyond KS_PAGE_ROWS */
};

/* A page being written. Failure is sticky, as with ks_buf. */
struct ks_draft {
	struct ks_texts texts;
	struct ks_page_row *rows;
	struct ks_draft_section *sections;
	size_t row_count, row_room, section_count, section_room;
	struct ks_buf label, value, note;	/* of the open row */
	struct ks_page_row open;
	bool is_open;
	bool failed;
};

#define KS_DRAFT_INIT { .label = KS_BUF_INIT, .value = KS_BUF_INIT, \
	.note = KS_BUF_INIT }

void ks_draft_release(struct ks_draft *draft);

/* Begin a section. One without rows is left out in the end. */
void ks_draft_section(struct ks_draft *draft, const char *title);

/* Begin a row: the caller appends to the value, and then to the note, until
 * the next call. */
struct ks_buf *ks_draft_row(struct ks_draft *draft, const char *label,
	enum ks_row_origin origin);
struct ks_buf *ks_draft_row_buf(struct ks_draft *draft,
	const struct ks_buf *label, enum ks_row_origin origin);
struct ks_buf *ks_draft_note(struct ks_draft *draft);

/* Release a text that went into the draft: its failure becomes the draft's. */
void ks_draft_spent(struct ks_draft *draft, struct ks_buf *text);

/* Of the row that was begun last: what its value names; that it warns; that it
 * is to be dropped. */
void ks_draft_target(struct ks_draft *draft, const struct ks_id *digest);
void ks_draft_warn(struct ks_draft *draft);
void ks_draft_drop(struct ks_draft *draft);

/* A row with a fixed text. */
void ks_draft_say(struct ks_draft *draft, const char *label,
	const char *value);

/* Append a JSON scalar as text: strings unescaped, numbers as ECMAScript
 * writes them, true and false. */
void ks_draft_scalar(struct ks_buf *out, struct ks_span value);

/* A row of a member that is a scalar, if it is there. */
void ks_draft_member(struct ks_draft *draft, const char *label,
	struct ks_span object, const char *member, enum ks_row_origin origin);

/* A row about a part: its name in `value` is to be appended by the caller;
 * target and note (where it is not here, why) are set. */
struct ks_buf *ks_draft_part(struct ks_draft *draft, const char *label,
	const struct ks_part *part, enum ks_row_origin origin);

/* Close the draft and make a page of it, whose texts point into the draft's
 * memory, which it takes over. KS_NOMEM. */
struct ks_page_made;
enum ks_status ks_draft_finish(struct ks_draft *draft,
	struct ks_page_made **out, struct ks_error *err) KS_CHECKED;

/* A page and what it owns. */
struct ks_page_made {
	struct ks_page page;	/* first: a pointer to it is one to this */
	struct ks_texts texts;
	struct ks_page_row *rows;
	struct ks_page_section *sections;
};

/* ---- What a page needs to know ------------------------------------------ */

/* One entry of the log about a record. */
struct ks_history_entry {
	uint64_t index;
	char op[16];		/* "redacted" for one without text */
	char at[KS_TIME_TEXT + 1];	/* "" = unknown */
	struct ks_buf reason;	/* shown text, or empty */
	bool has_by;
	struct ks_id by;
};

/* All of them, and what stands. */
struct ks_history {
	struct ks_history_entry *entries;
	size_t count, room;
	bool retracted;
	struct ks_buf retraction;	/* reason as KernelIndex shows it */
	struct ks_buf bare;	/* the same without its actor */
	struct ks_buf retracted_at;	/* escaped, as the line has it */
	bool superseded;
	struct ks_id successor;
};

#define KS_HISTORY_INIT { .entries = NULL, .retraction = KS_BUF_INIT, \
	.bare = KS_BUF_INIT, .retracted_at = KS_BUF_INIT }

enum ks_status ks_history_read(struct ks_store *store,
	const struct ks_id *digest, struct ks_history *out,
	struct ks_error *err) KS_CHECKED;
void ks_history_release(struct ks_history *history);

/* Append a canonical value in one line, with members as a jsonb column orders
 * them. */
void ks_history_compact(struct ks_buf *out, struct ks_span value);

/* A comparison group: those that rank, in order, then the others. */
struct ks_group_member {
	struct ks_catalogue_run facts;	/* as the catalogue has them */
	struct ks_ranking_entry entry;
	struct ks_buf observed;		/* escaped, behind entry.observed_at */
	bool is_eligible;
	char id[KS_ID_TEXT + 1];	/* behind entry.id */
};
struct ks_group {
	struct ks_group_member **members;
	size_t count, ranked, room;
	bool is_source_native;
};
enum ks_status ks_group_read(struct ks_store *store, const struct ks_id *key,
	struct ks_group *out, const struct ks_watch *watch,
	struct ks_error *err) KS_CHECKED;
void ks_group_release(struct ks_group *group);

/* Read a run of a group and compare it with the catalogue's row, its key
 * included: KS_IO, and the index is built anew, where they differ; else errors
 * as of ks_get(). *run is its spec, until the next is read. */
struct ks_reader;
enum ks_status ks_group_checker(struct ks_store *store,
	struct ks_reader **out, struct ks_error *err) KS_CHECKED;
enum ks_status ks_group_check(struct ks_store *store,
	struct ks_reader *checker, const struct ks_id *digest,
	struct ks_span *run, struct ks_error *err) KS_CHECKED;

/* How far one run can be relied on, as the catalogue has it: NONE when it is
 * not among those with the key. */
enum ks_status ks_group_evidence(struct ks_store *store,
	const struct ks_id *key, const struct ks_id *run,
	enum ks_evidence *out, const struct ks_watch *watch,
	struct ks_error *err) KS_CHECKED;
/* NULL when the run is not among them. */
const struct ks_group_member *ks_group_find(const struct ks_group *group,
	const struct ks_id *run);

/* Kinds that keys of comparison belong to, and all others. */
enum ks_side_sort { KS_SIDE_RUN, KS_SIDE_SERVING, KS_SIDE_OTHER };

/* One record as it is compared. */
struct ks_side {
	struct ks_id digest;
	enum ks_side_sort sort;
	struct ks_history history;	/* only what stands is used */
	struct ks_page_made *made;	/* its rows */
	bool has_key;
	struct ks_id key;
	bool may_rank;
	struct ks_ranking_entry entry;	/* of those that may */
	struct ks_buf title, text, reasons, observed, kind;
	char id[KS_ID_TEXT + 1];
};

/* Write the rows of a record that is `part`: of a run or serving run the parts
 * of its key first, in a section of their own. Fills in title, key, and what
 * ranks it; side->history is there already. */
enum ks_status ks_side_say(struct ks_store *store, struct ks_side *side,
	const struct ks_part *part, struct ks_draft *draft,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;

/* ---- Sections ----------------------------------------------------------- */

/* A page on its way. */
struct ks_composing {
	struct ks_store *store;
	const struct ks_page_options *options;
	struct ks_draft draft;
	const struct ks_part *part;	/* the object itself */
	struct ks_history history;
	char accessed[KS_TIME_TEXT + 1];
	struct ks_buf title, key;	/* for struct ks_page */
};

/* The pages, by kind. */
enum ks_status ks_page_run(struct ks_composing *c,
	struct ks_run_parts *parts, struct ks_error *err) KS_CHECKED;
enum ks_status ks_page_serving(struct ks_composing *c,
	struct ks_serving_parts *parts, struct ks_error *err) KS_CHECKED;
enum ks_status ks_page_record(struct ks_composing *c, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_page_raw(struct ks_composing *c, struct ks_error *err)
	KS_CHECKED;

/* In the note of the row begun last: what to run for it, about the object. */
void ks_page_command(struct ks_composing *c, const char *command,
	const char *options);

/* Append the citation of the object; `parts` as of ks_parts_find(). */
void ks_page_citation(struct ks_composing *c,
	const struct ks_part *const *parts, struct ks_buf *out);

/* Sections that several have. */
void ks_page_strip(struct ks_composing *c, const char *superseded);
enum ks_status ks_page_attestations(struct ks_composing *c,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_page_attestation(struct ks_composing *c,
	struct ks_error *err) KS_CHECKED;
void ks_page_history(struct ks_composing *c);
enum ks_status ks_page_manifest(struct ks_composing *c, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_page_users(struct ks_composing *c, struct ks_error *err)
	KS_CHECKED;

/* Of a run, for its page and for comparisons. `exactly`: the note of a
 * measurement is the number itself, in its unit. */
void ks_page_tensor(struct ks_buf *out, struct ks_span tensor);
void ks_page_workload(struct ks_draft *draft, const struct ks_part *workload);
enum ks_status ks_page_measurements(struct ks_draft *draft, struct ks_span run,
	bool exactly, struct ks_error *err) KS_CHECKED;
void ks_page_protocol(struct ks_draft *draft, const struct ks_part *protocol);
void ks_page_environment(struct ks_draft *draft,
	const struct ks_part *environment);

/* The members of a spec, by name: scalars in a section "Fields", each object
 * or list in one of its own. Digests of records are shown by name where
 * `names`, else as they are. */
enum ks_status ks_page_fields(struct ks_store *store, struct ks_draft *draft,
	struct ks_span spec, bool names, struct ks_error *err) KS_CHECKED;

/* Whether bytes are "archived", "described" by an Artifact, which is read, or
 * "absent" (static). *failed as of ks_part_known(). */
const char *ks_page_link_state(struct ks_store *store,
	const struct ks_id *bytes, struct ks_part *artifact, bool *failed);

#endif
