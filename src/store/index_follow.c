#include "store/index_internal.h"

#include <stdlib.h>

#include "format/digest.h"
#include "format/json.h"
#include "store/log.h"
#include "store/watch.h"

struct follower {
	struct ks_index *index;
	const struct ks_index_goal *goal;
	struct ks_replay *replay;
	struct ks_jcs *jcs;
	bool whole;		/* from entry 0 */
	bool foreseen;		/* takedowns were announced */
	bool needs_all;		/* only a build from entry 0 can judge a line:
				 * a redaction, or what ks_replay_needs_all()
				 * means */
	uint32_t *kind_rows;	/* by the replay's kind number; 0 = not known */
};

/* ---- rows -------------------------------------------------------------- */

uint64_t
ks_index_hash(struct ks_span text)
{
	struct ks_id id;
	uint64_t hash = 0;
	size_t i;

	if (text.len == 0)
		return 0;
	ks_sha256(text, &id);
	for (i = 0; i < 8; i++)
		hash = hash << 8 | id.bytes[i];
	return hash == 0 ? 1 : hash;
}

static unsigned
flags_of(const struct ks_object_state *state)
{
	return (state->retracted ? KS_INDEX_RETRACTED : 0U) |
		(state->superseded ? KS_INDEX_SUPERSEDED : 0U) |
		(state->taken_down ? KS_INDEX_TAKEN_DOWN : 0U) |
		(state->redacted ? KS_INDEX_REDACTED : 0U) |
		(state->was_retracted ? KS_INDEX_WAS_RETRACTED : 0U) |
		(state->was_superseded ? KS_INDEX_WAS_SUPERSEDED : 0U) |
		(state->has_missing ? KS_INDEX_HAS_MISSING : 0U);
}

/* A member that is a string, escaped: metadata.name, provenance.slug. (A Name
 * has nothing to escape.) */
static struct ks_span
text_of(struct ks_span object, const char *member)
{
	struct ks_span text;

	if (object.len == 0 || !ks_json_find(object, member, &text) ||
		ks_json_type(text) != KS_JSON_STRING)
		return ks_span(NULL, 0);
	return ks_json_raw(text);
}

/* The row of a kind, made if there is none. */
static enum ks_status
find_kind(struct ks_db *tables, struct ks_span text, uint32_t *row,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_INDEX_ADD_KIND);
	enum ks_status status;

	ks_db_bind_text(stmt, 1, text);
	status = ks_db_finish(tables, stmt, err);
	if (status != KS_OK)
		return status;
	stmt = ks_db_statement(tables, KS_INDEX_FIND_KIND);
	ks_db_bind_text(stmt, 1, text);
	if (ks_db_next(tables, stmt))
		*row = (uint32_t)ks_db_number(stmt, 0);
	ks_db_reset(stmt);
	return ks_db_check(tables, err);
}

/* The kind of a redacted object is not known: it has no row. */
static enum ks_status
bind_kind(struct follower *follower, struct sqlite3_stmt *stmt, int at,
	uint16_t kind, struct ks_error *err)
{
	struct ks_span text = ks_replay_kind(follower->replay, kind);
	uint32_t *row = &follower->kind_rows[kind];

	if (text.len == 0) {
		ks_db_bind_null(stmt, at);
		return KS_OK;
	}
	if (*row == 0) {
		enum ks_status status = find_kind(&follower->index->tables,
			text, row, err);

		if (status != KS_OK)
			return status;
	}
	ks_db_bind_number(stmt, at, *row);
	return KS_OK;
}

/* The line that gave an object a text, if it did, and the text's hash. */
static void
bind_note(struct sqlite3_stmt *stmt, int at, struct ks_span text,
	uint64_t line)
{
	if (text.len > 0)
		ks_db_bind_number(stmt, at, line);
	else
		ks_db_bind_null(stmt, at);
	ks_db_bind_number(stmt, at + 1, ks_index_hash(text));
}

static enum ks_status
add_object(struct follower *follower, const struct ks_object_state *state,
	const struct ks_entry *entry, struct ks_error *err)
{
	struct ks_db *tables = &follower->index->tables;
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_INDEX_ADD_OBJECT);
	enum ks_status status = bind_kind(follower, stmt, 3, state->kind, err);

	if (status != KS_OK)
		return status;
	ks_db_bind_number(stmt, 1, state->published);
	ks_index_bind_digest(stmt, 2, &state->digest);
	ks_db_bind_number(stmt, 4, flags_of(state));
	bind_note(stmt, 5, entry->metadata, state->published);
	bind_note(stmt, 7, entry->provenance, state->published);
	ks_db_bind_text(stmt, 9, text_of(entry->metadata, "name"));
	ks_db_bind_text(stmt, 10, text_of(entry->provenance, "slug"));
	return ks_db_finish(tables, stmt, err);
}

static enum ks_status
add_line(struct ks_db *tables, const struct ks_object_state *state,
	uint64_t line, struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(tables, KS_INDEX_ADD_LINE);

	ks_db_bind_number(stmt, 1, line);
	ks_db_bind_number(stmt, 2, state->published);
	return ks_db_finish(tables, stmt, err);
}

static enum ks_status
add_key(struct ks_db *tables, uint64_t line, struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(tables, KS_INDEX_ADD_KEY);

	ks_db_bind_number(stmt, 1, line);
	return ks_db_finish(tables, stmt, err);
}

/* Of several objects with one id, it resolves to the one published last (R17),
 * so it is enough to say which have it. */
static enum ks_status
add_id(struct ks_db *tables, const struct ks_object_state *state,
	const struct ks_provenance *claims, struct ks_error *err)
{
	struct sqlite3_stmt *stmt;

	if (!claims->has_id)
		return KS_OK;
	stmt = ks_db_statement(tables, KS_INDEX_ADD_ID);
	ks_db_bind_bytes(stmt, 1, ks_span(claims->id, sizeof(claims->id)));
	ks_db_bind_number(stmt, 2, state->published);
	return ks_db_finish(tables, stmt, err);
}

static enum ks_status
set_metadata(struct ks_db *tables, const struct ks_object_state *state,
	struct ks_span metadata, uint64_t line, struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_INDEX_SET_METADATA);

	ks_db_bind_number(stmt, 1, state->published);
	bind_note(stmt, 2, metadata, line);
	ks_db_bind_text(stmt, 4, text_of(metadata, "name"));
	return ks_db_finish(tables, stmt, err);
}

static enum ks_status
set_provenance(struct ks_db *tables, const struct ks_object_state *state,
	struct ks_span provenance, uint64_t line, struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_INDEX_SET_PROVENANCE);

	ks_db_bind_number(stmt, 1, state->published);
	bind_note(stmt, 2, provenance, line);
	ks_db_bind_text(stmt, 4, text_of(provenance, "slug"));
	return ks_db_finish(tables, stmt, err);
}

static enum ks_status
set_notes(struct ks_db *tables, const struct ks_object_state *state,
	const struct ks_entry *entry, uint64_t line, struct ks_error *err)
{
	enum ks_status status = KS_OK;

	if (entry->metadata.len > 0)
		status = set_metadata(tables, state, entry->metadata, line,
			err);
	if (status == KS_OK && entry->provenance.len > 0)
		status = set_provenance(tables, state, entry->provenance,
			line, err);
	return status;
}

static enum ks_status
set_state(struct follower *follower, const struct ks_object_state *state,
	struct ks_error *err)
{
	struct ks_db *tables = &follower->index->tables;
	struct sqlite3_stmt *stmt = ks_db_statement(tables,
		KS_INDEX_SET_STATE);

	ks_db_bind_number(stmt, 1, state->published);
	ks_db_bind_number(stmt, 2, flags_of(state));
	if (state->successor == KS_NO_OBJECT)
		ks_db_bind_null(stmt, 3);
	else
		ks_index_bind_digest(stmt, 3, &ks_replay_object(
			follower->replay, state->successor)->digest);
	return ks_db_finish(tables, stmt, err);
}

/* ---- lines ------------------------------------------------------------- */

/* Enter what a line that took effect says. */
static enum ks_status
apply(struct follower *follower, const struct ks_entry *entry,
	uint32_t object, uint64_t line, struct ks_error *err)
{
	struct ks_db *tables = &follower->index->tables;
	struct ks_object_state state;
	enum ks_status status;

	if (entry->op == KS_OP_KEY)
		return add_key(tables, line, err);
	if (object == KS_NO_OBJECT)
		return KS_OK;
	if (entry->op == KS_OP_TAKEDOWN)
		follower->index->took_down = true;
	state = *ks_replay_object(follower->replay, object);
	if (state.published == line)
		status = add_object(follower, &state, entry, err);
	else
		status = add_line(tables, &state, line, err);
	if (status != KS_OK || entry->op == KS_OP_REDACTED)
		return status;
	if (entry->op == KS_OP_ANNOTATE)
		status = set_notes(tables, &state, entry, line, err);
	if (status == KS_OK)
		status = add_id(tables, &state, &entry->claims, err);
	if (status == KS_OK && entry->op != KS_OP_PUBLISH &&
		entry->op != KS_OP_ANNOTATE)
		status = set_state(follower, &state, err);
	return status;
}

static enum ks_status
foresee_line(void *arg, uint64_t line, struct ks_span text,
	struct ks_error *err)
{
	struct follower *follower = arg;
	struct ks_entry entry;

	if (ks_entry_parse(follower->jcs, text, &entry, NULL) != KS_OK ||
		entry.op != KS_OP_TAKEDOWN)
		return KS_OK;
	return ks_replay_foresee(follower->replay, line, &entry, err);
}

/* Redacted lines cannot be judged before the takedown that names them, which
 * comes later (X2): at the first one the rest of the log is searched. */
static enum ks_status
foresee(struct follower *follower, uint64_t line, struct ks_error *err)
{
	if (!follower->whole) {
		follower->needs_all = true;
		return KS_CANCELLED;
	}
	follower->foreseen = true;
	return ks_log_each(follower->goal->db, follower->goal->tree, line + 1,
		foresee_line, follower, err);
}

/* Tell how far it is, and ask whether to go on. */
static enum ks_status
report(const struct ks_watch *watch, uint64_t line, struct ks_error *err)
{
	if (line % 4096 != 0)
		return KS_OK;
	ks_watch_progress(watch, "indexing", line, 0);
	return ks_watch_check(watch, err);
}

static enum ks_status
follow_line(void *arg, uint64_t line, struct ks_span text,
	struct ks_error *err)
{
	struct follower *follower = arg;
	struct ks_index_log *log = &follower->index->log;
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;
	enum ks_status status = KS_OK;

	if (text.len > 0 && text.data[0] == '-' && !follower->foreseen)
		status = foresee(follower, line, err);
	if (status != KS_OK)
		return status;
	status = ks_replay_line(follower->replay, follower->jcs, text,
		&verdict, &entry, &object, err);
	if (status != KS_OK)
		return status;
	if (ks_replay_needs_all(follower->replay)) {
		follower->needs_all = true;
		return KS_CANCELLED;
	}
	if (verdict == KS_LINE_OK)
		status = apply(follower, &entry, object, line, err);
	else if (log->first_problem == KS_NO_LINE)
		log->first_problem = line;
	return status == KS_OK ? report(follower->goal->watch, line, err) :
		status;
}

/* A fault that only the end of the log shows. */
static void
note_end(void *arg, uint64_t line, const char *message)
{
	const struct follower *follower = arg;
	struct ks_index_log *log = &follower->index->log;

	(void)message;
	if (log->first_problem == KS_NO_LINE || line < log->first_problem)
		log->first_problem = line;
}

/* ---- the log ----------------------------------------------------------- */

static enum ks_status
follow(struct follower *follower, struct ks_error *err)
{
	struct ks_index_log *log = &follower->index->log;
	const struct ks_replay *replay = follower->replay;
	enum ks_status status = ks_log_each(follower->goal->db,
		follower->goal->tree, log->tree.size, follow_line, follower,
		err);

	if (status == KS_OK)	/* the loader cannot say that it failed */
		status = ks_db_check(&follower->index->tables, err);
	if (status != KS_OK)
		return status;
	if (follower->whole)
		ks_replay_end(follower->replay, note_end, follower);
	/* It has to go from the catalogue as well. */
	if (follower->index->took_down && !follower->whole)
		status = ks_db_run(&follower->index->tables,
			ks_catalogue_drop, err);
	if (status != KS_OK)
		return status;
	log->tree = *ks_replay_tree(replay);
	memcpy(log->time, ks_replay_time(replay), sizeof(log->time));
	log->faults += ks_replay_faults(replay);
	log->unsupported += ks_replay_unsupported(replay);
	return KS_OK;
}

static enum ks_status
make_replay(struct ks_index *index, struct ks_replay **out,
	struct ks_error *err)
{
	struct ks_replay_loader loader = ks_index_loader(index);

	if (index->log.tree.size == 0)
		return ks_replay_new(out, err);
	return ks_replay_resume(out, &loader, &index->log.tree,
		index->log.time, err);
}

enum ks_status
ks_index_follow(struct ks_index *index, const struct ks_index_goal *goal,
	bool *needs_all, struct ks_error *err)
{
	struct follower follower = { .index = index, .goal = goal,
		.whole = index->log.tree.size == 0 };
	enum ks_status status = make_replay(index, &follower.replay, err);

	if (status == KS_OK)
		status = ks_jcs_new(&follower.jcs, err);
	follower.kind_rows = calloc(KS_REPLAY_KINDS + 1,
		sizeof(*follower.kind_rows));
	if (status == KS_OK && follower.kind_rows == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = follow(&follower, err);
	*needs_all = follower.needs_all;
	free(follower.kind_rows);
	ks_jcs_free(follower.jcs);
	ks_replay_free(follower.replay);
	return status;
}
