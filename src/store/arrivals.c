#include "store/arrivals.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/kind.h"
#include "format/record.h"

/* Earlier objects that left something open. */
struct waiting_object {
	struct ks_id id;
	uint64_t line;		/* its publish line */
};

struct waiting {
	struct waiting_object *list;
	size_t count, room;
	bool failed;
};

static bool
add_waiting(void *arg, const struct ks_index_row *row)
{
	struct waiting *waiting = arg;
	struct waiting_object *grown = ks_grow(waiting->list, waiting->count,
		&waiting->room, sizeof(*grown), NULL);

	if (grown == NULL) {
		waiting->failed = true;
		return true;
	}
	waiting->list = grown;
	grown[waiting->count++] = (struct waiting_object){
		.id = row->state.digest, .line = row->state.published
	};
	return false;
}

/* One of them, against what is new. */
struct judging {
	struct ks_replay *replay;
	uint64_t base;		/* entries before this change */
	const struct ks_id *from;
	struct ks_error *err;
	enum ks_status status;
};

/* The kind of a target that this change publishes; false for all others. */
static bool
arrives(struct judging *judging, const struct ks_id *target,
	struct ks_span *kind)
{
	uint32_t object = ks_replay_find(judging->replay, target);
	const struct ks_object_state *state;

	if (object == KS_NO_OBJECT)
		return false;
	state = ks_replay_object(judging->replay, object);
	*kind = ks_replay_kind(judging->replay, state->kind);
	return state->published >= judging->base;
}

static void
refuse(struct judging *judging, const struct ks_id *target,
	struct ks_span found, const char *path)
{
	char digest[KS_ID_TEXT + 1], from[KS_ID_TEXT + 1], shown[300];

	judging->status = ks_fail(judging->err, KS_INVALID,
		"%s is a %s, but %s of %s, which was put before it, must "
		"name another kind (R22)", ks_id_print(target, digest),
		ks_printable(shown, sizeof(shown), found),
		path, ks_id_print(judging->from, from));
}

static bool
judge_reference(void *arg, const struct ks_reference *reference)
{
	struct judging *judging = arg;
	struct ks_span found;

	if (!reference->is_link &&
		arrives(judging, &reference->target, &found) &&
		!ks_reference_accepts(reference, ks_kind_find_full(found)))
		refuse(judging, &reference->target, found, reference->path);
	return judging->status == KS_OK;
}

static void
judge_claim(struct judging *judging, bool claimed, const struct ks_id *target,
	const char *kind, const char *path)
{
	struct ks_span found;

	if (claimed && judging->status == KS_OK &&
		arrives(judging, target, &found) && !ks_span_is(found, kind))
		refuse(judging, target, found, path);
}

/* What a publish line's provenance refers to (L19). */
static enum ks_status
judge_line(struct judging *judging, struct ks_store *store, uint64_t index,
	struct ks_buf *text, struct ks_error *err)
{
	struct ks_entry entry;
	enum ks_status status;

	ks_buf_clear(text);
	status = ks_store_line(store, index, text, err);
	if (status != KS_OK || ks_entry_parse(store->jcs, ks_buf_span(text),
		&entry, NULL) != KS_OK || entry.provenance.len == 0)
		return status;
	judge_claim(judging, entry.claims.has_source, &entry.claims.source,
		KS_API_KISTORE "/Source", "provenance.source");
	judge_claim(judging, entry.claims.has_project, &entry.claims.project,
		KS_API_KERNELINDEX "/SoftwareProject",
		"provenance.project");
	return judging->status;
}

/* A body that is damaged or not fetched is verify's business, not ours. */
static enum ks_status
judge_body(struct judging *judging, struct ks_store *store,
	struct ks_buf *text, struct ks_error *err)
{
	struct ks_record record;
	enum ks_status status;

	ks_buf_clear(text);
	status = ks_store_body(store, judging->from, text, err);
	if (status == KS_CORRUPT || status == KS_NOT_FOUND)
		return KS_OK;
	if (status == KS_OK && ks_record_is_body(store->jcs,
		ks_buf_span(text), &record) && record.kind != NULL)
		(void)ks_kind_references(record.kind, record.spec,
			judge_reference, judging);
	return status != KS_OK ? status : judging->status;
}

static enum ks_status
judge_all(struct ks_store *store, struct ks_index *index,
	struct ks_replay *replay, const struct waiting *waiting,
	struct ks_error *err)
{
	struct judging judging = {
		.replay = replay,
		.base = ks_index_log(index)->tree.size,
		.err = err,
		.status = KS_OK
	};
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < waiting->count; i++) {
		judging.from = &waiting->list[i].id;
		status = judge_body(&judging, store, &text, err);
		if (status == KS_OK)
			status = judge_line(&judging, store,
				waiting->list[i].line, &text, err);
	}
	ks_buf_release(&text);
	return status;
}

enum ks_status
ks_arrivals_check(struct ks_store *store, struct ks_index *index,
	struct ks_replay *replay, struct ks_error *err)
{
	struct waiting waiting = { .count = 0 };
	enum ks_status status = ks_replay_tree(replay)->size ==
		ks_index_log(index)->tree.size ? KS_OK :
		ks_index_by_missing(index, add_waiting, &waiting, err);

	if (status == KS_OK && waiting.failed)
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = judge_all(store, index, replay, &waiting, err);
	free(waiting.list);
	return status;
}
