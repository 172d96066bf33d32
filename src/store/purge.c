#include "store/purge.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"
#include "store/log.h"
#include "store/signed.h"

#define TAGS "refs/tags/"
#define SNAPSHOTS TAGS "snapshot/"
#define REMOTES "refs/remotes/"

/* How much of a list of names goes into a message. */
#define NAMES_SHOWN 400

/* A redacted line of the newest log. */
struct line {
	uint64_t index;
	struct ks_id leaf;
	bool purged;	/* a takedown that counts lists it */
	bool found;	/* history had it in full */
};

/* A takedown, and a line that it lists. */
struct listing {
	uint64_t line, takedown;
};

/* A path in the trees of history: an object that goes, or a segment with
 * redacted lines. */
struct target {
	char path[KS_OBJECT_PATH + 1];
	bool is_segment;
	uint64_t first;		/* entry of a segment */
};

struct purge {
	struct ks_store *store;
	int lock;
	const struct ks_watch *watch;
	struct ks_gc_result *result;

	struct ks_replay *replay;
	struct ks_signed signed_;
	struct line *lines;		/* ascending */
	size_t line_count, line_room;
	struct listing *listings;
	size_t listing_count, listing_room;

	struct target *targets;		/* by path, and so are the cuts */
	size_t target_count, target_room;
	struct ks_git_cut *cuts;
	struct ks_git_rewrite *rewrite;
	bool elsewhere;		/* other histories than the branch's are looked
				 * at, which need not be of this log */

	struct ks_buf in_the_way;	/* names of references, ", " between */
	struct ks_buf remotes;
	struct ks_buf commands;		/* that delete tags */
	unsigned untouched;		/* packs and places that git leaves */
};

/* ---- what the newest log says ------------------------------------------ */

static enum ks_status
foresee_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct purge *purge = arg;
	struct ks_entry entry;

	if (line.len == 0 || line.data[0] == '-' || ks_entry_parse(
		purge->store->jcs, line, &entry, NULL) != KS_OK ||
		entry.op != KS_OP_TAKEDOWN)
		return KS_OK;
	purge->result->takedowns++;
	return ks_replay_foresee(purge->replay, index, &entry, err);
}

static enum ks_status
add_line(struct purge *purge, uint64_t index, const struct ks_id *leaf,
	struct ks_error *err)
{
	struct line *grown = ks_grow(purge->lines, purge->line_count,
		&purge->line_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	purge->lines = grown;
	grown[purge->line_count++] = (struct line){ .index = index,
		.leaf = *leaf };
	return KS_OK;
}

/* Remember which lines a takedown lists. */
static enum ks_status
add_listings(struct purge *purge, uint64_t index, struct ks_span lines,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(lines);
	struct listing *grown;
	struct ks_span value;
	int64_t line;

	while (lines.len > 0 && ks_json_next_element(&it, &value)) {
		if (!ks_json_integer(value, &line) || line < 0)
			continue;
		grown = ks_grow(purge->listings, purge->listing_count,
			&purge->listing_room, sizeof(*grown), err);
		if (grown == NULL)
			return KS_NOMEM;
		purge->listings = grown;
		grown[purge->listing_count++] = (struct listing){
			.line = (uint64_t)line, .takedown = index };
	}
	return KS_OK;
}

static enum ks_status
replay_line(void *arg, uint64_t index, struct ks_span text,
	struct ks_error *err)
{
	struct purge *purge = arg;
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;
	enum ks_status status = ks_replay_line(purge->replay,
		purge->store->jcs, text, &verdict, &entry, &object, err);

	if (status == KS_OK)
		status = ks_signed_line(&purge->signed_,
			verdict == KS_LINE_OK ? &entry : NULL,
			ks_replay_tree(purge->replay), err);
	if (status == KS_OK && verdict == KS_LINE_OK &&
		entry.op == KS_OP_TAKEDOWN)
		status = add_listings(purge, index, entry.lines, err);
	if (status == KS_OK && verdict == KS_LINE_OK &&
		entry.op == KS_OP_REDACTED)
		status = add_line(purge, index, &entry.leaf, err);
	return status;
}

static void
ignore_fault(void *arg, uint64_t index, const char *message)
{
	(void)arg;
	(void)index;
	(void)message;
}

/* What a fault has taken out of the newest state may be nowhere else than in
 * history; and what a newer version means, only that knows (R3, R4). */
static enum ks_status
check_log(struct purge *purge, struct ks_error *err)
{
	uint64_t faults, unsupported;

	ks_replay_end(purge->replay, ignore_fault, NULL);
	faults = ks_replay_faults(purge->replay);
	unsupported = ks_replay_unsupported(purge->replay);
	if (faults > 0)
		return ks_fail(err, KS_CORRUPT, "the log has %llu fault%s, and "
			"its history may be needed (kistore verify names %s)",
			(unsigned long long)faults, faults == 1 ? "" : "s",
			faults == 1 ? "it" : "them");
	if (unsupported > 0)
		return ks_fail(err, KS_UNSUPPORTED, "%llu entr%s of the log "
			"need%s a newer kistore, so this one must not purge",
			(unsigned long long)unsupported,
			unsupported == 1 ? "y" : "ies",
			unsupported == 1 ? "s" : "");
	return KS_OK;
}

static enum ks_status
read_log(struct purge *purge, struct ks_error *err)
{
	struct ks_store *store = purge->store;
	enum ks_status status = ks_replay_new(&purge->replay, err);

	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0, foresee_line,
			purge, err);
	if (status != KS_OK || purge->result->takedowns == 0)
		return status;
	status = ks_signed_read(&purge->signed_, store->db, &store->tree, NULL,
		NULL, err);
	ks_signed_start(&purge->signed_);
	if (status == KS_OK)
		status = ks_log_each(store->db, &store->tree, 0, replay_line,
			purge, err);
	ks_signed_end(&purge->signed_);
	return status == KS_OK ? check_log(purge, err) : status;
}

/* ---- what is to go ----------------------------------------------------- */

/* The takedowns below this entry count: all where nothing was ever signed, else
 * those that the newest sound note covers (N8). The snapshot that comes next
 * carries out the others (X3). */
static uint64_t
signed_size(struct purge *purge)
{
	const struct ks_checkpoints *notes = &purge->signed_.notes;
	struct ks_id root;
	size_t i;

	if (notes->count == 0 && !notes->has_newest)
		return UINT64_MAX;
	for (i = notes->count; i-- > 0; )
		if (ks_signed_root(&purge->signed_, notes->list[i].size,
			&root) && ks_id_equal(&root, &notes->list[i].root))
			return notes->list[i].size;
	return 0;
}

static enum ks_status
add_target(struct purge *purge, const struct target *target,
	struct ks_error *err)
{
	struct target *grown = ks_grow(purge->targets, purge->target_count,
		&purge->target_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	purge->targets = grown;
	grown[purge->target_count++] = *target;
	return KS_OK;
}

/* An object that the newest tree still has is a fault (X8), and no business of
 * history. */
static enum ks_status
add_object(struct purge *purge, const struct ks_id *digest,
	struct ks_error *err)
{
	struct target target = { .is_segment = false };
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(purge->store->db,
		&purge->store->tree, ks_layout_object(digest, target.path),
		&entry, NULL);
	char text[KS_ID_TEXT + 1];

	if (status == KS_NOT_FOUND)
		return add_target(purge, &target, err);
	if (status != KS_OK)
		return ks_gitdb_find(purge->store->db, &purge->store->tree,
			target.path, &entry, err);
	ks_watch_note(purge->watch, "%s was taken down and is still here, so "
		"it stays in history, too (X8)", ks_id_print(digest, text));
	return KS_OK;
}

static enum ks_status
add_objects(struct purge *purge, uint64_t size, struct ks_error *err)
{
	const struct ks_signed_takedown *list = purge->signed_.takedowns;
	size_t i, count = purge->signed_.takedown_count;
	enum ks_status status = KS_OK;

	/* By digest, and of one digest the first one first. */
	for (i = 0; status == KS_OK && i < count; i++) {
		if (list[i].index >= size)
			purge->result->waiting++;
		else if (i == 0 || !ks_id_equal(&list[i - 1].digest,
			&list[i].digest))
			status = add_object(purge, &list[i].digest, err);
	}
	return status;
}

static int
by_index(const void *a, const void *b)
{
	uint64_t x = ((const struct line *)a)->index;
	uint64_t y = ((const struct line *)b)->index;

	return (x > y) - (x < y);
}

static struct line *
find_line(struct purge *purge, uint64_t index)
{
	struct line wanted = { .index = index };

	return purge->line_count == 0 ? NULL : bsearch(&wanted, purge->lines,
		purge->line_count, sizeof(wanted), by_index);
}

static enum ks_status
add_segments(struct purge *purge, uint64_t size, struct ks_error *err)
{
	uint64_t done = UINT64_MAX;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; i < purge->listing_count; i++) {
		struct line *line = find_line(purge, purge->listings[i].line);

		if (line != NULL && purge->listings[i].takedown < size)
			line->purged = true;
	}
	for (i = 0; status == KS_OK && i < purge->line_count; i++) {
		uint64_t index = purge->lines[i].index;
		struct target target = { .is_segment = true,
			.first = index - index % KS_SEGMENT_ENTRIES };

		if (!purge->lines[i].purged || target.first == done)
			continue;
		done = target.first;
		(void)ks_layout_segment(target.first, target.path);
		status = add_target(purge, &target, err);
	}
	return status;
}

static int
by_path(const void *a, const void *b)
{
	return strcmp(((const struct target *)a)->path,
		((const struct target *)b)->path);
}

static enum ks_status
choose_targets(struct purge *purge, struct ks_error *err)
{
	uint64_t size = signed_size(purge);
	size_t i;
	enum ks_status status = add_objects(purge, size, err);

	if (status == KS_OK)
		status = add_segments(purge, size, err);
	if (status != KS_OK || purge->target_count == 0)
		return status;
	qsort(purge->targets, purge->target_count, sizeof(*purge->targets),
		by_path);
	purge->cuts = calloc(purge->target_count, sizeof(*purge->cuts));
	if (purge->cuts == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < purge->target_count; i++)
		purge->cuts[i] = (struct ks_git_cut){
			.path = purge->targets[i].path,
			.edit = purge->targets[i].is_segment
		};
	return KS_OK;
}

/* ---- older versions of segments ---------------------------------------- */

/* Append one line of an older version, redacted where the newest log has it
 * so. The hash shows that it is the same line. */
static enum ks_status
append_line(struct purge *purge, uint64_t index, struct ks_span line,
	struct ks_buf *out, struct ks_error *err)
{
	struct line *wanted = find_line(purge, index);
	struct ks_id leaf;
	char hex[KS_ID_HEX + 1];

	if (wanted != NULL && wanted->purged) {
		ks_entry_leaf(line, &leaf);
		if (ks_id_equal(&leaf, &wanted->leaf)) {
			if (!purge->elsewhere && line.data[0] != '-')
				wanted->found = true;
			ks_buf_printf(out, "-%s", ks_id_print_hex(&leaf, hex));
			return KS_OK;
		}
		if (!purge->elsewhere)
			return ks_fail(err, KS_CORRUPT, "entry %llu is not the "
				"line that was redacted: it has another leaf "
				"hash (X9)", (unsigned long long)index);
	}
	ks_buf_append(out, line);
	return KS_OK;
}

static enum ks_status
edit_segment(void *arg, size_t cut, struct ks_span old, struct ks_buf *new,
	struct ks_error *err)
{
	struct purge *purge = arg;
	uint64_t index = purge->targets[cut].first;
	uint64_t end = index + KS_SEGMENT_ENTRIES;
	struct ks_span line;
	enum ks_status status = KS_OK;

	while (status == KS_OK && index < end &&
		ks_log_next_line(&old, &line)) {
		status = append_line(purge, index++, line, new, err);
		ks_buf_byte(new, '\n');
	}
	/* One that was cut off in the middle. */
	if (status == KS_OK && index < end && old.len > 0) {
		status = append_line(purge, index, old, new, err);
		old.len = 0;
	}
	ks_buf_append(new, old);
	return status;
}

static enum ks_status
step(void *arg, uint64_t commits, struct ks_error *err)
{
	const struct purge *purge = arg;

	ks_watch_progress(purge->watch, "reading history", commits, 0);
	return ks_watch_check(purge->watch, err);
}

/* ---- other references -------------------------------------------------- */

static bool
begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool
is_snapshot(const char *name)
{
	const char *size = name + strlen(SNAPSHOTS);

	return begins(name, SNAPSHOTS) && *size != '\0' &&
		strspn(size, "0123456789") == strlen(size);
}

static void
append_name(struct ks_buf *list, const char *name)
{
	ks_buf_printf(list, "%s%s", list->len > 0 ? ", " : "", name);
}

/* A reference that keeps what is to go. */
static enum ks_status
take_other(void *arg, const char *name, const struct ks_oid *oid,
	struct ks_error *err)
{
	struct purge *purge = arg;
	char hex[KS_OID_HEX + 1];

	(void)err;
	if (is_snapshot(name)) {
		ks_buf_printf(&purge->commands, "delete %s %s\n", name,
			ks_oid_print(oid, hex));
		append_name(&purge->store->others, name + strlen(TAGS));
		purge->result->tag_count++;
	} else if (begins(name, REMOTES)) {
		append_name(&purge->remotes, name);
	} else {
		append_name(&purge->in_the_way, name);
	}
	return KS_OK;
}

static char *
show(struct ks_span names, char out[NAMES_SHOWN + 8])
{
	return ks_printable(out, NAMES_SHOWN, names);
}

static enum ks_status
look_elsewhere(struct purge *purge, struct ks_error *err)
{
	char shown[NAMES_SHOWN + 8];
	enum ks_status status;

	purge->elsewhere = true;
	ks_buf_clear(&purge->store->others);
	status = ks_gitdb_rewrite_others(purge->rewrite, take_other, purge,
		err);
	if (status == KS_OK)
		status = ks_buf_check(&purge->in_the_way, err);
	if (status == KS_OK)
		status = ks_buf_check(&purge->remotes, err);
	if (status == KS_OK)
		status = ks_buf_check(&purge->commands, err);
	if (status == KS_OK)
		status = ks_buf_check(&purge->store->others, err);
	if (status != KS_OK || purge->in_the_way.len == 0)
		return status;
	return ks_fail(err, KS_BUSY, "what is to go would stay, because other "
		"references lead to it (X9): delete them or move them "
		"elsewhere first: %s", show(ks_buf_span(&purge->in_the_way),
		shown));
}

/* ---- carrying it out --------------------------------------------------- */

/* In a work tree, what is to go must not stand in git's index or a file. */
static enum ks_status
check_worktree(struct purge *purge, struct ks_error *err)
{
	const char **paths;
	size_t i;
	enum ks_status status;

	if (ks_gitdb_worktree(purge->store->db) == NULL)
		return KS_OK;
	paths = calloc(purge->target_count, sizeof(*paths));
	if (paths == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < purge->target_count; i++)
		paths[i] = purge->targets[i].path;
	status = ks_gitdb_check_clean(purge->store->db, &purge->store->head,
		paths, purge->target_count, err);
	free(paths);
	return status;
}

static void
fill_result(struct purge *purge)
{
	const struct ks_git_rewrite_counts *counts =
		ks_gitdb_rewrite_counts(purge->rewrite);
	struct ks_gc_result *result = purge->result;
	size_t i;

	result->commits = counts->commits;
	result->rewritten = counts->rewritten;
	for (i = 0; i < purge->target_count; i++)
		result->objects += purge->cuts[i].found &&
			!purge->cuts[i].edit;
	for (i = 0; i < purge->line_count; i++)
		result->lines += purge->lines[i].found;
}

/* The branch has moved. */
static enum ks_status
remove_old(struct purge *purge, struct ks_error *err)
{
	struct ks_store *store = purge->store;
	struct ks_gc_result *result = purge->result;
	enum ks_status status = ks_store_refresh(store, err);

	if (status == KS_OK && purge->commands.len > 0)
		status = ks_gitdb_delete_refs(store->db,
			ks_buf_span(&purge->commands), purge->lock, err);
	result->tags = ks_buf_cstr(&store->others);
	if (status == KS_OK)
		status = ks_gitdb_prune(store->db, result->rewritten > 0,
			purge->lock, err);
	if (status == KS_OK)
		status = ks_gitdb_rewrite_left(purge->rewrite, &result->left,
			err);
	return status == KS_OK ? KS_OK : ks_context(err, "history is "
		"rewritten, but what it was is not all removed yet (kistore gc "
		"--purge goes on)");
}

/* Compose the history anew; `plan` stays in use. */
static enum ks_status
compose(struct purge *purge, struct ks_git_plan *plan, struct ks_error *err)
{
	*plan = (struct ks_git_plan){
		.cuts = purge->cuts,
		.count = purge->target_count,
		.limit = KS_LIMIT_SEGMENT,
		.arg = purge,
		.edit = edit_segment,
		.step = step
	};
	return ks_gitdb_rewrite(&purge->rewrite, purge->store->db,
		&purge->store->head, plan, err);
}

static enum ks_status
carry_out(struct purge *purge, struct ks_error *err)
{
	struct ks_git_plan plan;
	enum ks_status status = check_worktree(purge, err);

	if (status == KS_OK)
		status = compose(purge, &plan, err);
	if (status == KS_OK)
		status = look_elsewhere(purge, err);
	if (status != KS_OK)
		return status;
	fill_result(purge);
	if (purge->line_count > 0 && purge->result->rewritten > 0)
		status = ks_store_remove_index(purge->store, err);
	if (status == KS_OK)
		status = ks_gitdb_rewrite_publish(purge->rewrite, err);
	return status == KS_OK ? remove_old(purge, err) : status;
}

/* ---- telling what is not done ------------------------------------------ */

static void
tell_untouched(void *arg, const char *name)
{
	struct purge *purge = arg;
	char shown[NAMES_SHOWN + 8];

	purge->untouched++;
	ks_watch_note(purge->watch, "%s: git leaves what this stands for as it "
		"is, and that may hold what was removed", show(
		ks_span_text(name), shown));
}

static void
tell_dictionaries(struct purge *purge)
{
	struct ks_git_entry entry;

	if (purge->result->objects > 0 && ks_gitdb_find(purge->store->db,
		&purge->store->tree, KS_PATH_DICTIONARIES, &entry, NULL) ==
		KS_OK)
		ks_watch_note(purge->watch, "dictionaries stay (T16): one that "
			"was trained on a record may hold pieces of it");
}

static void
tell_rest(struct purge *purge)
{
	const struct ks_gc_result *result = purge->result;
	uint64_t signatures = purge->rewrite == NULL ? 0 :
		ks_gitdb_rewrite_counts(purge->rewrite)->signatures;
	char shown[NAMES_SHOWN + 8];

	if (result->waiting > 0)
		ks_watch_note(purge->watch, "%llu takedown%s not signed yet: "
			"the next snapshot carries %s out (X3), and a purge "
			"after that", (unsigned long long)result->waiting,
			result->waiting == 1 ? " is" : "s are",
			result->waiting == 1 ? "it" : "them");
	if (signatures > 0)
		ks_watch_note(purge->watch, "dropped %llu signature%s in "
			"commits, which cannot hold for other bytes",
			(unsigned long long)signatures,
			signatures == 1 ? "" : "s");
	if (purge->remotes.len > 0)
		ks_watch_note(purge->watch, "still held by remote-tracking "
			"references: push the branch to what they follow, "
			"fetch, and purge again: %s", show(
			ks_buf_span(&purge->remotes), shown));
	if (purge->rewrite != NULL && (result->left > 0 ||
		result->rewritten == 0))
		ks_gitdb_untouched(purge->store->db, tell_untouched, purge);
	if (result->left > 0 && purge->untouched == 0 &&
		purge->remotes.len == 0)
		ks_watch_note(purge->watch, "what leads to them still may be "
			"the index of another work tree (git worktree list)");
	if (result->rewritten > 0)
		ks_watch_note(purge->watch, "clones elsewhere keep what they "
			"have until they take over the rewritten history and "
			"purge");
	tell_dictionaries(purge);
}

static void
release(struct purge *purge)
{
	ks_gitdb_rewrite_free(purge->rewrite);
	ks_signed_release(&purge->signed_);
	ks_replay_free(purge->replay);
	free(purge->lines);
	free(purge->listings);
	free(purge->targets);
	free(purge->cuts);
	ks_buf_release(&purge->in_the_way);
	ks_buf_release(&purge->remotes);
	ks_buf_release(&purge->commands);
}

enum ks_status
ks_purge(struct ks_store *store, int lock, const struct ks_watch *watch,
	struct ks_gc_result *result, struct ks_error *err)
{
	struct purge purge = { .store = store, .lock = lock, .watch = watch,
		.result = result };
	enum ks_status status = read_log(&purge, err);

	if (status == KS_OK)
		status = choose_targets(&purge, err);
	if (status == KS_OK)
		status = purge.target_count == 0 ? ks_gitdb_gc(store->db, err) :
			carry_out(&purge, err);
	if (status == KS_OK)
		tell_rest(&purge);
	release(&purge);
	return status;
}

enum ks_status
ks_purge_is_due(struct ks_store *store, const struct ks_watch *watch,
	bool *due, struct ks_error *err)
{
	struct ks_gc_result result = { .tags = "" };
	struct purge purge = { .store = store, .lock = -1, .watch = watch,
		.result = &result };
	struct ks_git_plan plan;
	enum ks_status status = read_log(&purge, err);

	*due = false;
	if (status == KS_OK)
		status = choose_targets(&purge, err);
	if (status == KS_OK && purge.target_count > 0) {
		status = compose(&purge, &plan, err);
		*due = status == KS_OK && ks_gitdb_rewrite_counts(
			purge.rewrite)->rewritten > 0;
	}
	release(&purge);
	return status;
}
