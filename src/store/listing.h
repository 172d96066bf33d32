/*
 * Choosing records: the fields that they are chosen, ordered and shown by, and
 * the question that a choice is to the catalogue.
 *
 * One table (listing_fields.c) says everything of a field: its name, what it is
 * for, where its value is to be found from a record of each kind, how a wanted
 * value is compared with it. Filters, orders, columns and the help text follow
 * from it. What is asked for is looked at first (listing_choice.c), then made
 * into SQL (listing_sql.c), which is composed of names in that table; what a
 * caller gives is bound, or becomes numbers of terms before.
 *
 * Private to src/store.
 */
#ifndef KS_STORE_LISTING_H
#define KS_STORE_LISTING_H

#include "store/reader.h"

/* Where a field's value is, once the record that has it was found. */
enum ks_field_value {
	KS_VALUE_NONE,		/* a filter that shows nothing */
	KS_VALUE_TERM,		/* a term, or the text of the same number */
	KS_VALUE_TEXT,		/* another text of its facts */
	KS_VALUE_DIGEST,
	KS_VALUE_STATE,		/* retracted, superseded */
	KS_VALUE_ID,
	KS_VALUE_NAME,		/* how other records call it: name or title */
	KS_VALUE_PROPER,	/* the same, title first */
	KS_VALUE_WORKLOAD,	/* labels, as KernelIndex shows them */
	KS_VALUE_IMPLEMENTATION,
	KS_VALUE_RESULT,
	KS_VALUE_NUMBER,	/* the primary measurement */
	KS_VALUE_SAMPLES,
	KS_VALUE_EVIDENCE,
	KS_VALUE_KEY,
	KS_VALUE_MARK,		/* whether a bit of its flags is set */
	KS_VALUE_REASONS,	/* why it may not rank */
	KS_VALUE_RELATION,	/* the digest that it refers to, which need
				 * not be here */
	KS_VALUE_MEMBER,	/* a member of its spec, as it stands there */
	KS_VALUE_MEASUREMENTS,	/* all of them */
	KS_VALUE_LOW,		/* ends of the interval of the primary one */
	KS_VALUE_HIGH,
	KS_VALUE_PERMALINK
};

/* How a filter compares. Case is that of ASCII and does not count. */
enum ks_field_match {
	KS_MATCH_NONE,
	KS_MATCH_KIND,		/* in full, or its last part */
	KS_MATCH_TERM,		/* the whole term, or one of a set */
	KS_MATCH_WORDS,		/* words that stand together in the term */
	KS_MATCH_RECORD,	/* a record by name, title or digest */
	KS_MATCH_NAME,		/* the record's own name */
	KS_MATCH_EVIDENCE,
	KS_MATCH_KEY,		/* first digits */
	KS_MATCH_EXTERNAL,
	KS_MATCH_SINCE,
	KS_MATCH_UNTIL,
	KS_MATCH_AXIS,
	KS_MATCH_SEARCH
};

/* How to get from a record of a kind to the one that has the value: relations
 * ("workload.operation"), or "" when it has it itself. */
struct ks_route {
	const char *kind;	/* in full; NULL ends the list */
	const char *path;
};

struct ks_field {
	struct ks_list_field shown;
	enum ks_field_value value;
	unsigned which;		/* the term, text, relation or bit */
	const char *member;	/* "timing.samples": names, of objects in
				 * objects */
	enum ks_field_match match;
	const struct ks_route *routes;	/* NULL: any kind, itself */
};

extern const struct ks_field ks_fields[];
extern const size_t ks_field_count;

/* The field of a name; NULL when there is none. */
const struct ks_field *ks_field_find(const char *name);

/* Append what a record is ordered and counted by: SQL about `r`, a row of
 * `record`, from which `path` leads to the one that has the value. Of a path
 * only r's column for its first step is looked at. */
void ks_field_sql(const struct ks_field *field, const char *path,
	struct ks_buf *out);

/* "reported" and so on, by enum ks_evidence (static). */
const char *ks_field_level(unsigned level);

/* Whether a kind is one of runs, and whether runs have a field. */
bool ks_field_is_run(const char *kind);
bool ks_field_is_of_runs(const struct ks_field *field);

/* The path from a record of `kind`; NULL when its kind does not have the
 * field. */
const char *ks_field_path(const struct ks_field *field, const char *kind);

/* ---- what is asked for (listing_choice.c) -------------------------------- */

/* A choice of records, checked. */
struct ks_choice {
	struct ks_catalogue *catalogue;
	const struct ks_list_options *options;
	const struct ks_field *sort;	/* NULL: in order of publication */
	/* The kinds that are looked at: full names, each ended by NUL, and the
	 * numbers of their terms. */
	struct ks_buf kinds;
	struct ks_buf kind_terms;	/* uint64_t each */
	size_t kind_count;
	bool all_kinds;		/* no filter says which, */
	bool is_empty;		/* a filter has a value that none has */
	bool failed;		/* memory ran out */
};

#define KS_CHOICE_INIT { .catalogue = NULL }

/* Check what is asked. KS_USAGE: a field or value that makes no sense. */
enum ks_status ks_choice_make(struct ks_choice *choice,
	struct ks_catalogue *catalogue, const struct ks_list_options *options,
	struct ks_error *err) KS_CHECKED;
void ks_choice_release(struct ks_choice *choice);

/* The nth kind that is looked at, and its term. */
const char *ks_choice_kind(const struct ks_choice *choice, size_t n);
uint64_t ks_choice_kind_term(const struct ks_choice *choice, size_t n);

/* Whether filter `i` is by a field; whether it is the first of its field. */
bool ks_choice_has_filter(const struct ks_choice *choice, size_t i,
	const struct ks_field *field);
bool ks_choice_is_first(const struct ks_choice *choice, size_t i,
	const struct ks_field *field);

/* Append the numbers of the terms that fit the filters by a field, as "3,17".
 * Ours, they may stand in the text of a statement, where the planner sees how
 * many there are. Where none fits, nothing is chosen, and the caller is told
 * what there would be. */
void ks_choice_fit_terms(struct ks_choice *choice,
	const struct ks_field *field, struct ks_buf *numbers);

/* Let go of a text that became a part of others. */
void ks_choice_drop(struct ks_choice *choice, struct ks_buf *text);

/* Case is that of ASCII and does not count; words are of letters and digits. */
uint8_t ks_choice_lower(uint8_t c);
bool ks_choice_same(struct ks_span a, struct ks_span b);
bool ks_choice_is_word(uint8_t c);

/* ---- questions (listing_sql.c) ------------------------------------------- */

/* Append the numbers of the records chosen, uint64_t each, in order. */
enum ks_status ks_choice_run(struct ks_choice *choice, struct ks_buf *out,
	struct ks_error *err) KS_CHECKED;

/* Run "SELECT … FROM record r WHERE …", where `head` ends before FROM, and
 * what comes after the conditions is `tail`. */
typedef enum ks_status ks_choice_row_fn(void *arg, struct sqlite3_stmt *stmt,
	struct ks_error *err);
enum ks_status ks_choice_select(struct ks_choice *choice, const char *head,
	const char *tail, ks_choice_row_fn *visit, void *arg,
	struct ks_error *err) KS_CHECKED;

/* Tell a result how much of the store it knows nothing of (list.c). */
void ks_list_note_unread(const struct ks_catalogue *catalogue,
	struct ks_list_result *result);

#endif
