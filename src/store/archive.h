/*
 * Snapshot files, in their parts (private to store/archive_*.c; takedowns are
 * of use to store/publish*.c, too).
 *
 * A file is read in one pass (store-layout.md S12): its notes as they come, its
 * lines into a spool while their root is taken; then, before the first object,
 * the log is replayed and the notes are judged; then each object is checked
 * against the log, several at once. Memory is a constant plus what the replay
 * keeps of each object. The first fault ends it.
 *
 *	struct ks_archive archive = { .options = options, .result = result };
 *
 *	status = ks_archive_read(&archive, path, &err);
 *	ks_archive_release(&archive);
 */
#ifndef KS_STORE_ARCHIVE_H
#define KS_STORE_ARCHIVE_H

#include "base/idmap.h"
#include "base/spool.h"
#include "store/log.h"
#include "store/trusted.h"
#include "store/verify.h"

/* ---- takedowns ------------------------------------------------------ */

/* The takedowns of a log, and which of its lines are redacted. Lines are noted
 * in their order. */
struct ks_takedown {
	struct ks_id digest;
	uint64_t index;
	size_t first, count;	/* of the lines that it lists */
};

struct ks_takedowns {
	struct ks_takedown *list;
	size_t count, room;
	uint64_t *lines;
	size_t line_count, line_room;
	uint64_t *redacted;
	size_t redacted_count, redacted_room;
};

void ks_takedowns_release(struct ks_takedowns *takedowns);

/* Note a line that was taken apart, if it is one of the two. */
enum ks_status ks_takedowns_line(struct ks_takedowns *takedowns,
	uint64_t index, const struct ks_entry *entry, struct ks_error *err)
	KS_CHECKED;

/* The same of a line as it stands in the log: most are neither, which shows
 * without taking them apart. What is no entry is passed over. */
enum ks_status ks_takedowns_take(struct ks_takedowns *takedowns,
	struct ks_jcs *jcs, uint64_t index, struct ks_span line,
	struct ks_error *err) KS_CHECKED;

/* Announce all of them to a replay, without the lines before `from`. */
enum ks_status ks_takedowns_foresee(const struct ks_takedowns *takedowns,
	struct ks_replay *replay, uint64_t from, struct ks_error *err)
	KS_CHECKED;

/* The same of one that is about to be replayed: `entry` then lists only lines
 * from `from` on, in `text`. */
void ks_takedowns_trim(struct ks_entry *entry, uint64_t from,
	struct ks_buf *text);

/* KS_CORRUPT when a line from `from` on that a takedown before `size` lists is
 * not redacted (S9). */
enum ks_status ks_takedowns_check(const struct ks_takedowns *takedowns,
	uint64_t from, uint64_t size, struct ks_error *err) KS_CHECKED;

/* Whether a takedown from entry `since` on lists this line. */
bool ks_takedowns_lists(const struct ks_takedowns *takedowns, uint64_t since,
	uint64_t line);

/* ---- a file being read ---------------------------------------------- */

struct ks_archive;
struct ks_archive_objects;

/* What an import does on the way. Each status but KS_OK ends the reading. */
struct ks_archive_hooks {
	/* The lines are all there and have the root: set archive->replay to a
	 * replay of the entries before them, and archive->has_base, where
	 * there are such. It calls ks_archive_begin_log(), first. */
	enum ks_status (*base)(void *arg, struct ks_error *err);
	/* The log and its signature are judged; objects follow. */
	enum ks_status (*judged)(void *arg, struct ks_error *err);
	/* A dictionary was trained, which frames will name. */
	enum ks_status (*dictionary)(void *arg, struct ks_span bytes,
		struct ks_error *err);
	/* An object was found right, and compressed. */
	enum ks_status (*object)(void *arg, const struct ks_id *id,
		uint32_t number, struct ks_span body, struct ks_span frame,
		struct ks_error *err);
};

struct ks_archive {
	/* Set by who reads; the rest is zero. */
	const struct ks_file_options *options;
	struct ks_file_result *result;
	const struct ks_archive_hooks *hooks;	/* NULL: only check */
	void *arg;

	/* The stream. */
	struct ks_inflater *inflater;
	struct ks_snapfile *snapfile;
	struct ks_digest *digest;
	struct ks_buf plain;

	/* Its notes, and what is trusted. */
	struct ks_stored_note note, from_note;	/* size 0: there is none */
	struct ks_buf origin;
	struct ks_trust *trust;
	struct ks_state *state;
	struct ks_trust_result verdict;
	bool incomparable;	/* with something that was accepted before */

	/* Its lines. */
	struct ks_jcs *jcs;
	struct ks_buf temporary;	/* directory of the spool */
	struct ks_spool *spool;
	struct ks_buf pieces;	/* where they are in it */
	struct ks_buf pending;
	struct ks_merkle range;	/* of the entries before them */
	struct ks_merkle tree;	/* over all so far */
	struct ks_takedowns takedowns;
	struct ks_id *brought;	/* of an incremental file: digests that the
				 * entries before it cannot have published */
	size_t brought_room;
	struct ks_idmap by_brought;

	/* The log. */
	bool has_base;		/* the earlier entries are at hand */
	const struct ks_takedowns *later;	/* beyond the file, that a
						 * store has, or NULL */
	struct ks_replay *replay;
	struct ks_signed signed_;

	/* Its objects. Set by hooks->judged: */
	bool compress;
	bool train;		/* a dictionary, if they are many */
	const struct ks_dictionary *dictionary;
	struct ks_archive_objects *objects;
};

/* Read and judge the file at `path` ("-" = standard input). Then the result is
 * filled; nothing is remembered yet. */
enum ks_status ks_archive_read(struct ks_archive *archive, const char *path,
	struct ks_error *err) KS_CHECKED;

/* The same in pieces. */
enum ks_status ks_archive_open(struct ks_archive *archive,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_archive_feed(struct ks_archive *archive,
	struct ks_span bytes, struct ks_error *err) KS_CHECKED;
enum ks_status ks_archive_close(struct ks_archive *archive,
	struct ks_error *err) KS_CHECKED;

/* Remember what was accepted, where the signature counts. */
enum ks_status ks_archive_accept(struct ks_archive *archive,
	struct ks_error *err) KS_CHECKED;
void ks_archive_release(struct ks_archive *archive);

/* Visit the lines of the file, once all are there. */
enum ks_status ks_archive_each_line(struct ks_archive *archive,
	ks_line_fn *visit, void *arg, struct ks_error *err) KS_CHECKED;

/* One more thing that is not checked: a phrase. */
void ks_archive_leave_out(struct ks_archive *archive, const char *text);

/* Take the notes of the file into archive->signed_, after those of a store that
 * are there; which roots will be asked for. */
enum ks_status ks_archive_begin_log(struct ks_archive *archive,
	struct ks_error *err) KS_CHECKED;

/* Replay the lines, judge the notes. */
enum ks_status ks_archive_judge_log(struct ks_archive *archive,
	struct ks_error *err) KS_CHECKED;

/* The objects: all of them, in order, between begin and end. */
enum ks_status ks_archive_objects_begin(struct ks_archive *archive,
	struct ks_error *err) KS_CHECKED;
enum ks_status ks_archive_objects_take(struct ks_archive *archive,
	const struct ks_id *id, struct ks_span body, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_archive_objects_end(struct ks_archive *archive,
	struct ks_error *err) KS_CHECKED;
void ks_archive_objects_free(struct ks_archive_objects *objects);

#endif
