/*
 * What the parts of publishing share (private to store/publish*.c):
 *
 *	publish.c		the order of it all; the log, judged
 *	publish_tiles.c		tiles and entry bundles
 *	publish_git.c		the repository, for git's dumb HTTP
 *	publish_cite.c		citation files
 *
 * store-layout.md, section "W".
 */
#ifndef KS_STORE_PUBLISH_INTERNAL_H
#define KS_STORE_PUBLISH_INTERNAL_H

#include "format/proof.h"
#include "format/tile.h"
#include "store/archive.h"
#include "store/cite.h"
#include "store/store.h"
#include "store/webdir.h"

/* A segment of the log, which is an entry bundle as well. */
struct ks_publish_segment {
	uint32_t length;	/* of its bundle */
	uint16_t width;		/* entries, within the size */
	bool redacted;		/* some of them are */
};

struct ks_publish {
	struct ks_store *store;
	const struct ks_watch *watch;
	struct ks_publish_result *result;
	struct ks_webdir *dir;
	const char *directory;		/* as it was given */

	const struct ks_stored_note *note;
	struct ks_signed signed_;
	struct ks_takedowns takedowns;	/* of the whole log */
	struct ks_replay *replay;	/* of the first note->size entries */
	struct ks_subtrees *subtrees;	/* over them */
	struct ks_publish_segment *segments;
	size_t segment_count, segment_room;

	uint64_t served;	/* the size that DIR served before; 0 = none */
	struct ks_id served_root;
	bool marked;		/* the directory has the mark */

	const struct ks_id *cite;	/* records: the caller's list */
	size_t cite_count;
	char day[KS_CITE_DAY + 1];	/* of these citations */

	struct ks_error fault;	/* the first of the notes */
};

/* Bundles, then the tiles over them, lowest level first; nothing that is there
 * already is written again. */
enum ks_status ks_publish_tiles(struct ks_publish *publish,
	struct ks_error *err) KS_CHECKED;

/* Remove partial tiles whose full tile is there (W6). */
enum ks_status ks_publish_tidy_tiles(struct ks_publish *publish,
	struct ks_error *err) KS_CHECKED;

/* Whether all citation files that are asked for can be made. Writes nothing;
 * errors as of ks_cite(). */
enum ks_status ks_publish_judge_citations(struct ks_publish *publish,
	struct ks_error *err) KS_CHECKED;

/* Make them (W12). */
enum ks_status ks_publish_citations(struct ks_publish *publish,
	struct ks_error *err) KS_CHECKED;

/* Remove citation files that have what was taken down, or are none (W13). */
enum ks_status ks_publish_drop_citations(struct ks_publish *publish,
	struct ks_error *err) KS_CHECKED;

/* The repository (W9, W10). */
enum ks_status ks_publish_repository(struct ks_publish *publish,
	struct ks_error *err) KS_CHECKED;

#endif
