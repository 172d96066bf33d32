/*
 * Whatever lines a log holds, replay judges each, keeps every one as a leaf,
 * and what it remembers stays sound: no chain of successors comes round, what
 * is kept apart stays apart, and the same log says the same again.
 */
#include <stdlib.h>

#include "format/json.h"
#include "format/replay.h"
#include "../lib/fuzz.h"

static bool
next_line(struct ks_span *rest, struct ks_span *line)
{
	const uint8_t *lf;

	if (rest->len == 0)
		return false;
	lf = memchr(rest->data, '\n', rest->len);
	line->data = rest->data;
	line->len = lf == NULL ? rest->len : (size_t)(lf - rest->data);
	*rest = lf == NULL ? ks_span(NULL, 0) :
		ks_span(lf + 1, rest->len - line->len - 1);
	return true;
}

static void
foresee(struct ks_replay *replay, struct ks_jcs *jcs, struct ks_span log)
{
	struct ks_span line;
	struct ks_entry entry;
	uint64_t index;

	for (index = 0; next_line(&log, &line); index++) {
		if (ks_entry_parse(jcs, line, &entry, NULL) == KS_OK &&
			entry.op == KS_OP_TAKEDOWN)
			require(ks_replay_foresee(replay, index, &entry,
				NULL) == KS_OK);
	}
}

static void
check_object(struct ks_replay *replay, uint32_t number)
{
	const struct ks_object_state *state = ks_replay_object(replay, number);
	uint32_t next = state->successor;
	uint32_t steps = 0;

	require(ks_replay_find(replay, &state->digest) == number);
	require(state->superseded == (next != KS_NO_OBJECT));
	require(!state->superseded || state->was_superseded);
	require(!state->retracted || state->was_retracted);
	require(state->redacted ==
		(ks_replay_kind(replay, state->kind).len == 0));
	require(state->has_missing ==
		(ks_replay_missing(replay, number).len > 0));
	require(state->has_missing ||
		ks_replay_open_provenance(replay, number).len == 0);
	while (next != KS_NO_OBJECT) {
		require(next != number && steps++ < ks_replay_objects(replay));
		next = ks_replay_object(replay, next)->successor;
	}
}

static void
ignore(void *arg, uint64_t index, const char *message)
{
	(void)arg;
	(void)index;
	(void)message;
}

/* Replay `log`; returns how many lines were neither faults nor too new. */
static uint64_t
replay_log(struct ks_jcs *jcs, struct ks_span log)
{
	struct ks_replay *replay;
	struct ks_merkle tree = { .size = 0 };
	struct ks_span line;
	struct ks_entry entry;
	enum ks_verdict verdict;
	struct ks_error err;
	uint64_t good = 0;
	uint32_t object;

	require(ks_replay_new(&replay, NULL) == KS_OK);
	foresee(replay, jcs, log);
	while (next_line(&log, &line)) {
		struct ks_id leaf;

		require(ks_replay_line(replay, jcs, line, &verdict, &entry,
			&object, &err) == KS_OK);
		good += verdict == KS_LINE_OK;
		leaf = entry.leaf;
		if (entry.op != KS_OP_REDACTED)
			ks_merkle_leaf(line, &leaf);
		ks_merkle_append(&tree, &leaf);
		require(object == KS_NO_OBJECT ||
			object < ks_replay_objects(replay));
	}
	require(tree.size == ks_replay_tree(replay)->size);
	require(memcmp(tree.roots, ks_replay_tree(replay)->roots,
		ks_merkle_width(&tree) * sizeof(tree.roots[0])) == 0);
	require(good + ks_replay_faults(replay) +
		ks_replay_unsupported(replay) == tree.size);
	for (object = 0; object < ks_replay_objects(replay); object++)
		check_object(replay, object);
	ks_replay_end(replay, ignore, NULL);
	ks_replay_free(replay);
	return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ks_jcs *jcs;
	struct ks_span log = ks_span(data, size);

	if (jcs == NULL && ks_jcs_new(&jcs, NULL) != KS_OK)
		abort();
	require(replay_log(jcs, log) == replay_log(jcs, log));
	return 0;
}
