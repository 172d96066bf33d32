/*
 * What the parts of the catalogue share (private to store/catalogue*.c, and to
 * those that ask it with SQL of their own: store/list.c and its like):
 *
 *	catalogue.c		the tables, opening, catching up
 *	catalogue_fill.c	reading the bodies and notes of records
 *	catalogue_rows.c	from facts (store/facts.h) to rows, and back
 *	catalogue_ask.c		the questions of store/catalogue.h
 *
 * A record is known by the number of its publish line. Its row has what it
 * says itself, and the numbers of what it refers to; what those say is found
 * by going there, so that a row changes only when its own record does. The one
 * exception is the key of comparison, which needs the workload as well.
 */
#ifndef KS_STORE_CATALOGUE_INTERNAL_H
#define KS_STORE_CATALOGUE_INTERNAL_H

#include "store/catalogue.h"
#include "store/facts.h"
#include "store/index_internal.h"

/* Statements are numbered after those of the index. */
enum ks_catalogue_statement {
	KS_CATALOGUE_EACH = KS_INDEX_STATEMENTS,
	KS_CATALOGUE_ONE,
	KS_CATALOGUE_PLACES,
	KS_CATALOGUE_CHANGED,
	KS_CATALOGUE_FIND,
	KS_CATALOGUE_FIND_TERM,
	KS_CATALOGUE_LAST_TERM,
	KS_CATALOGUE_ADD_TERM,
	KS_CATALOGUE_GET_TERM,
	KS_CATALOGUE_GET_PART,
	KS_CATALOGUE_ADD_RECORD,
	KS_CATALOGUE_ADD_TEXT,
	KS_CATALOGUE_ADD_SEARCH,
	KS_CATALOGUE_ADD_AXIS,
	KS_CATALOGUE_ADD_REFERENCE,
	KS_CATALOGUE_ADD_OPEN,
	KS_CATALOGUE_ADD_BYTES,
	KS_CATALOGUE_SET_KEY,
	KS_CATALOGUE_DROP_RECORD,
	KS_CATALOGUE_DROP_SEARCH,
	KS_CATALOGUE_DROP_TEXT,
	KS_CATALOGUE_DROP_AXES,
	KS_CATALOGUE_DROP_REFERENCES,
	KS_CATALOGUE_DROP_OPEN,
	KS_CATALOGUE_DROP_BYTES,
	KS_CATALOGUE_DROP_RERUNS,
	KS_CATALOGUE_ADD_RERUN,
	KS_CATALOGUE_ATTESTATIONS,
	KS_CATALOGUE_GROUP,
	KS_CATALOGUE_KEYS,
	KS_CATALOGUE_USERS,
	KS_CATALOGUE_USER_COUNTS,
	KS_CATALOGUE_ABOUT,
	KS_CATALOGUE_DESCRIBING,
	KS_CATALOGUE_EXTERNAL,
	KS_CATALOGUE_GET_RECORD,
	KS_CATALOGUE_RERUNS_OF,
	KS_CATALOGUE_END
};

/* Bits of record.flags; the first two are those of the index. */
enum {
	KS_RECORD_RETRACTED = KS_INDEX_RETRACTED,
	KS_RECORD_SUPERSEDED = KS_INDEX_SUPERSEDED,
	KS_RECORD_HAS_RAW = 4,
	KS_RECORD_HAS_SOURCE = 8,
	KS_RECORD_IS_NATIVE = 16,
	KS_RECORD_IS_READ = 32	/* its body was read, and is as logged */
};

struct ks_catalogue {
	struct ks_store *store;
	struct ks_index *index;
	struct ks_oid commit;	/* that it was opened for */
	uint64_t unread;	/* records whose bodies could not be read, */
	uint64_t stamp;		/* from before any was: ks_gitdb_stamp() */
	bool searchable;	/* there is a table `search` */
};

/* The tables, open for questions. */
struct ks_db *ks_catalogue_tables(struct ks_catalogue *catalogue);

/* Make the table `search`, unless it is there. */
enum ks_status ks_catalogue_make_searchable(struct ks_catalogue *catalogue,
	const struct ks_watch *watch, struct ks_error *err) KS_CHECKED;

/* The state of a catalogue's file, for who compares it with a fresh one. */
enum ks_catalogue_state {
	KS_CATALOGUE_ABSENT,	/* no question has needed it so far */
	KS_CATALOGUE_STALE,	/* of an older commit, or another version */
	KS_CATALOGUE_CURRENT	/* of the index's commit */
};
enum ks_catalogue_state ks_catalogue_state(struct ks_index *index,
	bool *searchable);

/* Fill the tables of an index in memory, as the catalogue of its commit. */
enum ks_status ks_catalogue_build(struct ks_store *store,
	struct ks_index *index, bool search, const struct ks_watch *watch,
	struct ks_error *err) KS_CHECKED;

/* ---- rows (catalogue_rows.c) --------------------------------------------- */

/* A record that is to have a row. */
struct ks_subject {
	uint64_t object;	/* its publish line */
	struct ks_id digest;
	uint64_t flags;		/* of the index */
	uint64_t metadata_line, provenance_line;	/* or KS_NO_LINE */
	char kind[sizeof(((struct ks_index_row *)NULL)->kind)];
};

/* Take the columns of a subject from KS_CATALOGUE_EACH or _ONE; false when they
 * make no sense, or it was taken down. */
bool ks_rows_take_subject(struct sqlite3_stmt *stmt,
	struct ks_subject *subject);

/* Look-ups that were made a moment ago. */
struct ks_rows;

/* `search`: the table of that name is there, and follows. */
enum ks_status ks_rows_new(struct ks_rows **out, struct ks_db *tables,
	bool search, struct ks_error *err) KS_CHECKED;
void ks_rows_free(struct ks_rows *rows);

/* Enter a record, of which there is no row. *deferred: it is a run whose key
 * has to be made by ks_rows_set_key() once all rows are there. */
enum ks_status ks_rows_add(struct ks_rows *rows,
	const struct ks_subject *subject, const struct ks_facts *facts,
	const struct ks_fact_store *store, bool *deferred,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_rows_set_key(struct ks_rows *rows, uint64_t object,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	struct ks_error *err) KS_CHECKED;

/* Take out all that there is of a record. */
enum ks_status ks_rows_remove(struct ks_rows *rows, uint64_t object,
	struct ks_error *err) KS_CHECKED;

/* The subject with a number; false when there is none. */
bool ks_rows_subject(struct ks_rows *rows, uint64_t object,
	struct ks_subject *subject);

/* The number of a published object; KS_NO_LINE when it is none. */
uint64_t ks_rows_find(struct ks_rows *rows, const struct ks_id *digest);

/* Whether the row of a record is what its facts, and the key that it should
 * have (NULL = none), would make now. */
enum ks_status ks_rows_compare(struct ks_rows *rows,
	const struct ks_subject *subject, const struct ks_facts *facts,
	const struct ks_fact_store *store, const struct ks_id *key,
	bool *same, struct ks_error *err) KS_CHECKED;

/* ---- filling (catalogue_fill.c) ------------------------------------------ */

/* Enter what is new since entry `from` (0: everything; the tables are empty),
 * inside a transaction. What cannot be read is counted in `unread`. */
enum ks_status ks_catalogue_fill(struct ks_catalogue *catalogue,
	uint64_t from, const struct ks_watch *watch, struct ks_error *err)
	KS_CHECKED;

#endif
