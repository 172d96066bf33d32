/*
 * Notes by the thousand, told by the sort.
 *
 * A large put may warn of the same thing in thousands of records. Notes that
 * differ only in what is quoted and in numbers are of one sort: the first is
 * told in full, with how many records have one.
 */
#ifndef KS_STORE_NOTES_H
#define KS_STORE_NOTES_H

#include "store/watch.h"

#define KS_NOTE_SORTS 64

/* One sort. */
struct ks_note_sort {
	char pattern[200];
	char first[600];
	uint64_t count;		/* records */
	uint64_t last;		/* the record that was counted last */
};

struct ks_notes {
	const struct ks_watch *watch;	/* who is told; may be NULL */
	struct ks_note_sort *sorts;	/* KS_NOTE_SORTS, made on first use */
	size_t used;
	uint64_t total;		/* notes */
	uint64_t others;	/* of sorts that found no room */
};

/* Free the memory; the notes are empty afterwards. */
void ks_notes_release(struct ks_notes *notes);

/* Take in the note `text` about record number `record` at `place` ("" = not
 * known): "PLACE: TEXT". A watcher that wants all notes is told at once. */
void ks_notes_add(struct ks_notes *notes, uint64_t record, const char *place,
	const char *text);

/* Tell the sorts, in order of first appearance. */
void ks_notes_tell(const struct ks_notes *notes);

#endif
