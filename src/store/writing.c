#include "store/writing.h"

#include <stdlib.h>
#include <time.h>

#include "base/grow.h"
#include "format/entry.h"
#include "store/attesters.h"
#include "store/log.h"
#include "store/mirror.h"

/* A change of more lines than this leaves the index to whoever needs it next:
 * bulk loads should not wait for it. */
#define INDEX_NOW_LINES 2000

/* ---- beginning --------------------------------------------------------- */

static enum ks_status
check_head(const struct ks_store *store, struct ks_error *err)
{
	if (store->in_the_past)
		return ks_fail(err, KS_USAGE,
			"a past state cannot be written to");
	if (store->head.detached)
		return ks_fail(err, KS_IO, "HEAD is detached: nothing would "
			"refer to what is written (git switch BRANCH first)");
	if (ks_mirror_is_one(store->db))
		return ks_fail(err, KS_USAGE, "this is a mirror, and the next "
			"update would drop what is written: write to the "
			"store that it follows (M12)");
	return KS_OK;
}

static enum ks_status
check_log(const struct ks_index *index, struct ks_error *err)
{
	const struct ks_index_log *log = ks_index_log(index);

	if (log->faults > 0)
		return ks_fail(err, KS_CORRUPT, "the log has %llu fault%s, and "
			"is not extended (kistore verify names %s)",
			(unsigned long long)log->faults,
			log->faults == 1 ? "" : "s",
			log->faults == 1 ? "it" : "them");
	if (log->unsupported > 0)
		return ks_fail(err, KS_UNSUPPORTED, "log entry %llu needs a "
			"newer kistore, so this one must not extend the log",
			(unsigned long long)log->first_problem);
	return KS_OK;
}

/* All lines carry one time: now, or the last line's where that is later. */
static enum ks_status
choose_time(struct ks_writing *writing, int64_t now, struct ks_error *err)
{
	const char *last = ks_index_log(writing->index)->time;
	int64_t last_seconds;

	writing->seconds = now < 0 ? (int64_t)time(NULL) : now;
	if (last[0] != '\0' && ks_time_parse(ks_span_text(last),
		&last_seconds) && last_seconds > writing->seconds) {
		ks_watch_note(writing->watch, "the clock is before the log's "
			"last entry: dated %s as that one (check the clock)",
			last);
		writing->seconds = last_seconds;
	}
	if (!ks_time_print(writing->seconds, writing->at))
		return ks_fail(err, KS_USAGE,
			"the time is outside the years 0000 to 9999");
	return KS_OK;
}

/* Load the last segment when it has room. */
static enum ks_status
load_tail(struct ks_writing *writing, struct ks_error *err)
{
	uint64_t size = ks_index_log(writing->index)->tree.size;

	if (size % KS_SEGMENT_ENTRIES == 0)
		return KS_OK;
	return ks_log_segment(writing->store->db, &writing->store->tree,
		size, &writing->segment, err);
}

/* In a work tree, the files that every change rewrites must be as committed. */
static enum ks_status
check_worktree(struct ks_writing *writing, struct ks_error *err)
{
	char segment[KS_SEGMENT_PATH];
	const char *paths[1];
	uint64_t size = ks_index_log(writing->index)->tree.size;

	paths[0] = ks_layout_segment(size, segment);
	return ks_gitdb_check_clean(writing->store->db, &writing->store->head,
		paths, 1, err);
}

static enum ks_status
prepare(struct ks_writing *writing, int64_t now, struct ks_error *err)
{
	struct ks_store *store = writing->store;
	struct ks_replay_loader loader;
	const struct ks_index_log *log;
	enum ks_status status = ks_store_index(store, &writing->index,
		writing->watch, err);

	if (status == KS_OK)
		status = check_log(writing->index, err);
	if (status == KS_OK)
		status = choose_time(writing, now, err);
	if (status == KS_OK)
		status = load_tail(writing, err);
	if (status != KS_OK)
		return status;
	loader = ks_index_loader(writing->index);
	log = ks_index_log(writing->index);
	return ks_replay_resume(&writing->replay, &loader, &log->tree,
		log->time, err);
}

enum ks_status
ks_writing_begin(struct ks_writing *writing, struct ks_store *store,
	const struct ks_write_options *options, size_t expected, bool dry_run,
	struct ks_error *err)
{
	enum ks_status status;

	memset(writing, 0, sizeof(*writing));
	writing->store = store;
	writing->watch = options->watch;
	writing->lock = (struct ks_lock)KS_LOCK_INIT;
	status = check_head(store, err);
	if (status == KS_OK && !dry_run)
		status = ks_lock_take(&writing->lock,
			ks_gitdb_directory(store->db), options->wait_ms,
			options->watch, err);
	if (status == KS_OK)
		status = ks_store_refresh(store, err);
	if (status == KS_OK)
		status = check_head(store, err);
	if (status == KS_OK && !dry_run)
		status = ks_gitdb_begin(&writing->writer, store->db, expected,
			err);
	if (status == KS_OK)
		status = prepare(writing, options->now, err);
	if (status == KS_OK && !dry_run)
		status = check_worktree(writing, err);
	return status;
}

/* ---- replaying the whole log ------------------------------------------- */

static enum ks_status
foresee_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct ks_writing *writing = arg;
	struct ks_entry entry;

	if (line.len == 0 || line.data[0] == '-' || ks_entry_parse(
		writing->store->jcs, line, &entry, NULL) != KS_OK ||
		entry.op != KS_OP_TAKEDOWN)
		return KS_OK;
	return ks_replay_foresee(writing->replay, index, &entry, err);
}

static enum ks_status
replay_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct ks_writing *writing = arg;
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;

	(void)index;
	return ks_replay_line(writing->replay, writing->store->jcs, line,
		&verdict, &entry, &object, err);
}

enum ks_status
ks_writing_begin_whole(struct ks_writing *writing, struct ks_store *store,
	const struct ks_write_options *options, struct ks_error *err)
{
	enum ks_status status = ks_writing_begin(writing, store, options, 1,
		false, err);

	if (status != KS_OK)
		return status;
	ks_replay_free(writing->replay);
	writing->replay = NULL;
	status = ks_replay_new(&writing->replay, err);
	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0, foresee_line,
			writing, err);
	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0, replay_line,
			writing, err);
	return status;
}

/* ---- changing ---------------------------------------------------------- */

static enum ks_status
add_change(struct ks_writing *writing, const char *path,
	const struct ks_oid *oid, struct ks_error *err)
{
	struct ks_oid *grown = ks_grow(writing->oids, writing->changes,
		&writing->room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	writing->oids = grown;
	grown[writing->changes++] = *oid;
	ks_buf_append(&writing->paths, ks_span(path, strlen(path) + 1));
	return ks_buf_check(&writing->paths, err);
}

enum ks_status
ks_writing_file(struct ks_writing *writing, const char *path,
	struct ks_span bytes, bool compressed, struct ks_error *err)
{
	struct ks_oid oid;
	enum ks_status status;

	if (writing->writer == NULL)
		return KS_OK;
	status = ks_gitdb_add(writing->writer, bytes, compressed, &oid, err);
	return status != KS_OK ? status : add_change(writing, path, &oid, err);
}

enum ks_status
ks_writing_pieces(struct ks_writing *writing, const char *path, uint64_t len,
	ks_git_read_fn *read, void *arg, struct ks_error *err)
{
	struct ks_oid oid;
	enum ks_status status;

	if (writing->writer == NULL)
		return KS_OK;
	status = ks_gitdb_add_pieces(writing->writer, len, read, arg, &oid,
		err);
	return status != KS_OK ? status : add_change(writing, path, &oid, err);
}

enum ks_status
ks_writing_remove(struct ks_writing *writing, const char *path,
	struct ks_error *err)
{
	struct ks_oid none;

	memset(&none, 0, sizeof(none));
	return writing->writer == NULL ? KS_OK :
		add_change(writing, path, &none, err);
}

/* Write the segment that ends before entry `end`. */
static enum ks_status
flush_segment(struct ks_writing *writing, uint64_t end, struct ks_error *err)
{
	char path[KS_SEGMENT_PATH];
	enum ks_status status = ks_writing_file(writing,
		ks_layout_segment(end - 1, path),
		ks_buf_span(&writing->segment), false, err);

	ks_buf_clear(&writing->segment);
	return status;
}

enum ks_status
ks_writing_line(struct ks_writing *writing, struct ks_entry *entry,
	uint32_t *object, struct ks_error *err)
{
	struct ks_entry parsed;
	enum ks_verdict verdict = KS_LINE_FAULT;
	uint64_t size;
	enum ks_status status;

	/* A full segment waits for the next line: it may yet be redacted. */
	size = ks_replay_tree(writing->replay)->size;
	status = size % KS_SEGMENT_ENTRIES == 0 && writing->segment.len > 0 ?
		flush_segment(writing, size, err) : KS_OK;
	entry->at = ks_span(writing->at, KS_TIME_TEXT);
	ks_buf_clear(&writing->line);
	if (status == KS_OK)
		status = ks_entry_write(entry, &writing->line, err);
	if (status == KS_OK)
		status = ks_buf_check(&writing->line, err);
	if (status == KS_OK)
		status = ks_replay_line(writing->replay, writing->store->jcs,
			ks_buf_span(&writing->line), &verdict, &parsed, object,
			err);
	if (status != KS_OK)
		return status;
	if (verdict != KS_LINE_OK) {
		if (err != NULL)
			err->status = KS_INVALID;
		return KS_INVALID;
	}
	ks_buf_append(&writing->segment, ks_buf_span(&writing->line));
	ks_buf_byte(&writing->segment, '\n');
	writing->lines++;
	return ks_buf_check(&writing->segment, err);
}

/* ---- committing -------------------------------------------------------- */

static int
by_path(const void *a, const void *b)
{
	return strcmp(((const struct ks_git_change *)a)->path,
		((const struct ks_git_change *)b)->path);
}

/* In a work tree, nothing of somebody else may stand where this puts a file
 * (store-layout.md G15). */
static enum ks_status
check_places(struct ks_writing *writing, struct ks_error *err)
{
	const char **paths;
	const char *path = (const char *)writing->paths.data;
	size_t i;
	enum ks_status status;

	if (ks_gitdb_worktree(writing->store->db) == NULL)
		return KS_OK;
	paths = calloc(writing->changes, sizeof(*paths));
	if (paths == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < writing->changes; i++) {
		paths[i] = path;
		path += strlen(path) + 1;
	}
	status = ks_gitdb_check_clean(writing->store->db,
		&writing->store->head, paths, writing->changes, err);
	free(paths);
	return status;
}

/* The tree with all changes. */
static enum ks_status
write_tree(struct ks_writing *writing, struct ks_oid *tree,
	struct ks_error *err)
{
	struct ks_git_change *changes = calloc(writing->changes,
		sizeof(*changes));
	const char *path = (const char *)writing->paths.data;
	size_t i;
	enum ks_status status;

	if (changes == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < writing->changes; i++) {
		changes[i].path = path;
		changes[i].oid = writing->oids[i];
		path += strlen(path) + 1;
	}
	free(writing->oids);
	writing->oids = NULL;
	qsort(changes, writing->changes, sizeof(*changes), by_path);
	status = ks_gitdb_tree(writing->writer, &writing->store->tree, changes,
		writing->changes, tree, err);
	free(changes);
	ks_buf_release(&writing->paths);
	return status;
}

/* The store reads the new commit; a small change is entered in the index now,
 * a large one when it is next asked. */
static enum ks_status
adopt(struct ks_writing *writing, const struct ks_oid *tree,
	struct ks_error *err)
{
	struct ks_store *store = writing->store;

	store->head.commit = store->commit = writing->commit;
	store->tree = *tree;
	ks_dictionaries_free(store->dictionaries);
	store->dictionaries = NULL;
	ks_attesters_free(store->attesters);
	store->attesters = NULL;
	if (!writing->rewrites && writing->lines <= INDEX_NOW_LINES &&
		ks_index_catch_up(
			writing->index, store->db, &store->commit,
			&store->tree, writing->watch, err) == KS_OK)
		return KS_OK;
	/* The change is made whatever becomes of the index. One that has what
	 * was redacted in it goes: only a new one can be right, anyway. */
	if (writing->rewrites)
		ks_index_distrust(store->index);
	ks_index_close(store->index);
	store->index = writing->index = NULL;
	return KS_OK;
}

enum ks_status
ks_writing_commit(struct ks_writing *writing, const char *message,
	struct ks_error *err)
{
	struct ks_oid tree;
	enum ks_status status = ks_index_check(writing->index, err);

	if (status == KS_OK)
		status = ks_replay_check(writing->replay, err);
	if (status == KS_OK && writing->segment.len > 0 && writing->lines > 0)
		status = flush_segment(writing,
			ks_replay_tree(writing->replay)->size, err);
	if (status != KS_OK || writing->writer == NULL || writing->changes == 0)
		return status;
	status = check_places(writing, err);
	if (status != KS_OK)
		return status;
	ks_replay_free(writing->replay);
	writing->replay = NULL;
	status = write_tree(writing, &tree, err);
	if (status == KS_OK)
		status = ks_gitdb_finish(writing->writer, &tree,
			&writing->store->head, message, writing->seconds,
			&writing->commit, err);
	if (status == KS_OK)
		status = ks_gitdb_publish(writing->writer, err);
	return status == KS_OK ? adopt(writing, &tree, err) : status;
}

void
ks_writing_end(struct ks_writing *writing)
{
	ks_gitdb_end(writing->writer);
	ks_replay_free(writing->replay);
	ks_buf_release(&writing->line);
	ks_buf_release(&writing->segment);
	ks_buf_release(&writing->paths);
	free(writing->oids);
	ks_lock_release(&writing->lock);
	memset(writing, 0, sizeof(*writing));
	writing->lock = (struct ks_lock)KS_LOCK_INIT;
}
