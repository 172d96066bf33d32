#include "format/replay_state.h"

#include <stdlib.h>

#include "format/digest.h"
#include "format/json.h"
#include "format/kind.h"

static const char source_kind[] = KS_API_KISTORE "/Source";
static const char artifact_kind[] = KS_API_KISTORE "/Artifact";
static const char project_kind[] = KS_API_KERNELINDEX "/SoftwareProject";

/* One line on its way through the rules. */
struct step {
	struct ks_replay *replay;
	const struct ks_entry *entry;
	uint64_t index;
	uint32_t object;	/* that the line is about */
	struct ks_error *err;
};

static bool
is_kind(const struct ks_replay *replay, uint16_t kind, const char *text)
{
	return ks_span_is(ks_replay_kind(replay, kind), text);
}

/* ---- ids --------------------------------------------------------------- */

/* R17: rows of these two kinds change in place, so that an id passes on. A
 * kind that is unknown may have been one of them. */
static bool
may_share_id(const struct ks_replay *replay, uint16_t a, uint16_t b)
{
	if (a == KS_UNKNOWN_KIND)
		a = b;
	if (b == KS_UNKNOWN_KIND)
		b = a;
	return a == b && (a == KS_UNKNOWN_KIND ||
		is_kind(replay, a, source_kind) ||
		is_kind(replay, a, artifact_kind));
}

/* R16, R17: whether a line about an object of `kind` may give it this id. */
static enum ks_status
check_id(struct step *step, const uint8_t id[KS_UUID_BYTES], uint16_t kind)
{
	struct ks_replay *replay = step->replay;
	uint32_t owner = ks_replay_find_id(replay, id);
	char text[KS_UUID_TEXT + 1];

	if (owner == KS_NO_OBJECT || owner == step->object ||
		may_share_id(replay, replay->objects[owner].kind, kind))
		return KS_OK;
	return ks_fail(step->err, KS_CORRUPT,
		"id %s belongs to another digest",
		ks_uuid_print(id, text));
}

/* The id resolves to the digest that was published last. */
static void
give_id(struct step *step)
{
	struct ks_replay *replay = step->replay;
	const struct ks_provenance *claims = &step->entry->claims;
	uint32_t number, owner;

	if (!claims->has_id)
		return;
	number = ks_idmap_find(&replay->by_id, replay->owners, claims->id);
	if (number == KS_IDMAP_NONE) {
		ks_replay_add_owner(replay, claims->id, step->object);
		return;
	}
	owner = replay->owners[number].object;
	if (replay->objects[step->object].published >
		replay->objects[owner].published)
		replay->owners[number].object = step->object;
}

/* ---- references -------------------------------------------------------- */

/* References of a line's provenance without an earlier publish. */
struct open {
	struct ks_id ids[2];	/* source, project */
	size_t count;
};

/* R18: what is missing was not published before. */
static enum ks_status
check_missing(struct step *step)
{
	struct ks_json_iter it = ks_json_iter(step->entry->missing);
	struct ks_span element;
	struct ks_id id;
	char text[KS_ID_TEXT + 1];

	while (ks_json_next_element(&it, &element)) {
		if (ks_id_parse(&id, ks_json_raw(element)) &&
			ks_replay_find(step->replay, &id) != KS_NO_OBJECT)
			return ks_fail(step->err, KS_CORRUPT,
				"missing lists %s, which is published",
				ks_id_print(&id, text));
	}
	return KS_OK;
}

static bool
is_missing(struct ks_span missing, const struct ks_id *id)
{
	struct ks_json_iter it = ks_json_iter(missing);
	struct ks_span element;
	struct ks_id other;

	while (ks_json_next_element(&it, &element)) {
		if (ks_id_parse(&other, ks_json_raw(element)) &&
			ks_id_equal(&other, id))
			return true;
	}
	return false;
}

/* R19, R20, R22: a reference is published, with its kind, or missing. */
static enum ks_status
check_reference(struct step *step, const char *name, const struct ks_id *id,
	const char *kind, struct open *open)
{
	struct ks_replay *replay = step->replay;
	uint32_t number = ks_replay_find(replay, id);

	if (ks_id_equal(id, &step->entry->digest))
		return ks_fail(step->err, KS_CORRUPT,
			"provenance.%s is the object itself", name);
	if (number == KS_NO_OBJECT) {
		if (!is_missing(step->entry->missing, id))
			return ks_fail(step->err, KS_CORRUPT,
				"provenance.%s is not published", name);
		open->ids[open->count++] = *id;
		return KS_OK;
	}
	if (replay->objects[number].kind != KS_UNKNOWN_KIND &&
		!is_kind(replay, replay->objects[number].kind, kind))
		return ks_fail(step->err, KS_CORRUPT,
			"provenance.%s is not of kind %s", name, kind);
	return KS_OK;
}

static enum ks_status
check_provenance(struct step *step, uint16_t kind, struct open *open)
{
	const struct ks_provenance *claims = &step->entry->claims;
	enum ks_status status;

	open->count = 0;
	status = ks_provenance_check_kind(claims,
		ks_replay_kind(step->replay, kind), step->err);
	if (status == KS_OK && claims->has_source)
		status = check_reference(step, "source", &claims->source,
			source_kind, open);
	if (status == KS_OK && claims->has_project)
		status = check_reference(step, "project", &claims->project,
			project_kind, open);
	if (status == KS_OK && claims->has_id)
		status = check_id(step, claims->id, kind);
	return status;
}

/* ---- the ops ------------------------------------------------------------ */

static enum ks_status
take_publish(struct step *step)
{
	struct ks_replay *replay = step->replay;
	const struct ks_entry *entry = step->entry;
	struct ks_object_state state = { .digest = entry->digest,
		.published = (uint32_t)step->index, .successor = KS_NO_OBJECT,
		.has_missing = entry->missing.len > 0 };
	struct open open;
	enum ks_status status;

	if (ks_replay_find(replay, &entry->digest) != KS_NO_OBJECT)
		return ks_fail(step->err, KS_CORRUPT,
			"the digest is published already");
	if (!ks_replay_number_kind(replay, entry->kind, &state.kind))
		return ks_fail(step->err, KS_CORRUPT,
			"a log has at most %d kinds", KS_REPLAY_KINDS);
	status = check_missing(step);
	if (status == KS_OK)
		status = check_provenance(step, state.kind, &open);
	if (status != KS_OK)
		return status;
	step->object = ks_replay_add_object(replay, &state);
	if (replay->failed)
		return ks_fail_nomem(step->err);
	give_id(step);
	if (state.has_missing)
		ks_replay_add_gap(replay, step->object, entry->missing,
			open.ids, open.count);
	return KS_OK;
}

/* R8, R9: the object that the line is about was published, and not taken
 * down. */
static enum ks_status
find_subject(struct step *step)
{
	struct ks_replay *replay = step->replay;
	uint32_t number = ks_replay_find(replay, &step->entry->digest);

	if (number == KS_NO_OBJECT)
		return ks_fail(step->err, KS_CORRUPT,
			"the digest is not published");
	if (replay->objects[number].taken_down &&
		step->entry->op != KS_OP_TAKEDOWN)
		return ks_fail(step->err, KS_CORRUPT,
			"the digest was taken down");
	step->object = number;
	return KS_OK;
}

static enum ks_status
take_annotate(struct step *step)
{
	struct open open;
	enum ks_status status = find_subject(step);

	if (status == KS_OK)
		status = check_provenance(step,
			step->replay->objects[step->object].kind, &open);
	if (status == KS_OK)
		give_id(step);
	return status;
}

static enum ks_status
take_retract(struct step *step)
{
	enum ks_status status = find_subject(step);
	struct ks_object_state *state;

	if (status != KS_OK)
		return status;
	state = &step->replay->objects[step->object];
	state->retracted = true;
	state->was_retracted = true;
	return KS_OK;
}

/* R12: the chain of current successors from `from` on does not reach the
 * line's object. Chains have no cycle, because of this. */
static enum ks_status
check_chain(struct step *step, uint32_t from)
{
	const struct ks_object_state *objects = step->replay->objects;
	uint32_t steps;

	for (steps = 0; from != KS_NO_OBJECT; steps++) {
		if (from == step->object)
			return ks_fail(step->err, KS_CORRUPT,
				"the successor leads back to the digest");
		if (steps > KS_REPLAY_CHAIN)
			return ks_fail(step->err, KS_CORRUPT,
				"more than %d successors follow",
				KS_REPLAY_CHAIN);
		from = objects[from].successor;
	}
	return KS_OK;
}

/* R10, R11. */
static enum ks_status
check_successor(struct step *step, uint32_t by)
{
	const struct ks_object_state *objects = step->replay->objects;
	uint16_t old_kind, new_kind;

	if (by == KS_NO_OBJECT)
		return ks_fail(step->err, KS_CORRUPT, "by is not published");
	if (objects[by].taken_down)
		return ks_fail(step->err, KS_CORRUPT, "by was taken down");
	old_kind = objects[step->object].kind;
	new_kind = objects[by].kind;
	if (old_kind != new_kind && old_kind != KS_UNKNOWN_KIND &&
		new_kind != KS_UNKNOWN_KIND)
		return ks_fail(step->err, KS_CORRUPT,
			"by is not of the same kind");
	return check_chain(step, by);
}

static enum ks_status
take_supersede(struct step *step)
{
	struct ks_replay *replay = step->replay;
	enum ks_status status = find_subject(step);
	struct ks_object_state *state;
	uint32_t by;

	if (status != KS_OK)
		return status;
	by = ks_replay_find(replay, &step->entry->by);
	status = check_successor(step, by);
	if (status != KS_OK)
		return status;
	state = &replay->objects[step->object];
	state->successor = by;
	state->superseded = true;
	state->was_superseded = true;
	return KS_OK;
}

static enum ks_status
take_restore(struct step *step)
{
	enum ks_status status = find_subject(step);
	struct ks_object_state *state;

	if (status != KS_OK)
		return status;
	state = &step->replay->objects[step->object];
	if (!state->retracted && !state->superseded)
		return ks_fail(step->err, KS_CORRUPT,
			"the digest is neither retracted nor superseded");
	state->retracted = false;
	state->superseded = false;
	state->successor = KS_NO_OBJECT;
	return KS_OK;
}

/* X2: each line named is an earlier publish or annotate line of the digest,
 * or a redacted one that belongs to it. */
static enum ks_status
check_lines(struct step *step)
{
	struct ks_replay *replay = step->replay;
	struct ks_json_iter it = ks_json_iter(step->entry->lines);
	struct ks_span element;
	int64_t line;

	while (ks_json_next_element(&it, &element)) {
		if (!ks_json_integer(element, &line) || line < 0 ||
			(uint64_t)line >= step->index)
			return ks_fail(step->err, KS_CORRUPT,
				"lines names an entry that is not earlier");
		if ((uint64_t)line < replay->base) {
			replay->needs_all = true;
			return ks_fail(step->err, KS_CORRUPT,
				"takedown needs a full replay");
		}
		if (replay->entry_objects[(uint64_t)line - replay->base] !=
			step->object)
			return ks_fail(step->err, KS_CORRUPT,
				"entry %llu neither publishes nor annotates "
				"the digest", (unsigned long long)line);
	}
	return KS_OK;
}

static int
compare_index(const void *key, const void *item)
{
	const uint64_t *index = key;
	const struct foreseen *takedown = item;

	return (*index > takedown->index) - (*index < takedown->index);
}

static enum ks_status
take_takedown(struct step *step)
{
	struct ks_replay *replay = step->replay;
	struct foreseen *foreseen = NULL;
	enum ks_status status = find_subject(step);

	if (status == KS_OK)
		status = check_lines(step);
	if (status != KS_OK)
		return status;
	replay->objects[step->object].taken_down = true;
	if (replay->foreseen_used > 0)
		foreseen = bsearch(&step->index, replay->foreseen,
			replay->foreseen_used, sizeof(*foreseen),
			compare_index);
	if (foreseen != NULL)
		foreseen->took_effect = true;
	return KS_OK;
}

/* ---- redacted lines ----------------------------------------------------- */

enum ks_status
ks_replay_foresee(struct ks_replay *replay, uint64_t index,
	const struct ks_entry *takedown, struct ks_error *err)
{
	size_t used = replay->foreseen_used;
	struct foreseen *foreseen;
	struct named *named;
	struct ks_json_iter it = ks_json_iter(takedown->lines);
	struct ks_span element;
	int64_t line;

	if (index < replay->tree.size || replay->named_sorted ||
		(used > 0 && replay->foreseen[used - 1].index >= index))
		return ks_fail(err, KS_USAGE, "takedowns are foreseen in "
			"order, before a redacted line");
	foreseen = ks_replay_grow(replay->foreseen, &replay->foreseen_cap, used,
		sizeof(*foreseen));
	if (foreseen == NULL)
		return ks_fail_nomem(err);
	replay->foreseen = foreseen;
	foreseen[used] = (struct foreseen){ .digest = takedown->digest,
		.index = index };
	replay->foreseen_used++;
	while (ks_json_next_element(&it, &element)) {
		if (!ks_json_integer(element, &line) || line < 0 ||
			(uint64_t)line >= index)
			continue;
		named = ks_replay_grow(replay->named, &replay->named_cap,
			replay->named_used, sizeof(*named));
		if (named == NULL)
			return ks_fail_nomem(err);
		replay->named = named;
		named[replay->named_used++] = (struct named){
			.line = (uint64_t)line, .takedown = used };
	}
	return KS_OK;
}

static int
compare_named(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	if (a->line != b->line)
		return a->line > b->line ? 1 : -1;
	return (a->takedown > b->takedown) - (a->takedown < b->takedown);
}

static void
sort_named(struct ks_replay *replay)
{
	if (!replay->named_sorted && replay->named_used > 0)
		qsort(replay->named, replay->named_used,
			sizeof(*replay->named), compare_named);
	replay->named_sorted = true;
}

/* X4: a redacted line belongs to the first takedown that names it. */
static struct named *
find_named(struct ks_replay *replay, uint64_t line)
{
	size_t low = 0, high = replay->named_used;

	sort_named(replay);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (replay->named[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == replay->named_used || replay->named[low].line != line)
		return NULL;
	return &replay->named[low];
}

/* X6: the lowest redacted line of a digest counts as its publish, unless a
 * readable one precedes it. */
static enum ks_status
take_redacted(struct step *step)
{
	struct ks_replay *replay = step->replay;
	struct named *named = find_named(replay, step->index);
	struct ks_object_state state = { .published = (uint32_t)step->index,
		.successor = KS_NO_OBJECT, .kind = KS_UNKNOWN_KIND,
		.redacted = true };

	if (named == NULL)
		return ks_fail(step->err, KS_CORRUPT,
			"no takedown names this redacted line");
	state.digest = replay->foreseen[named->takedown].digest;
	step->object = ks_replay_find(replay, &state.digest);
	if (step->object == KS_NO_OBJECT)
		step->object = ks_replay_add_object(replay, &state);
	else if (replay->objects[step->object].taken_down)
		return ks_fail(step->err, KS_CORRUPT,
			"the digest was taken down before this redacted line");
	named->redacted = true;
	return KS_OK;
}

/* X5: whether one of the takedowns in named[first … end - 1], all of which
 * name one line, took effect for the digest that the line was counted to. */
static bool
is_confirmed(const struct ks_replay *replay, size_t first, size_t end)
{
	const struct foreseen *owner =
		&replay->foreseen[replay->named[first].takedown];
	size_t i;

	for (i = first; i < end; i++) {
		const struct foreseen *takedown =
			&replay->foreseen[replay->named[i].takedown];

		if (takedown->took_effect &&
			ks_id_equal(&takedown->digest, &owner->digest))
			return true;
	}
	return false;
}

void
ks_replay_end(struct ks_replay *replay,
	void (*report)(void *arg, uint64_t index, const char *message),
	void *arg)
{
	size_t first, end;

	if (replay->tree.size == 0) {
		replay->faults++;
		report(arg, 0, "the log is empty");
	}
	sort_named(replay);
	for (first = 0; first < replay->named_used; first = end) {
		uint64_t line = replay->named[first].line;

		end = first + 1;
		while (end < replay->named_used &&
			replay->named[end].line == line)
			end++;
		if (!replay->named[first].redacted ||
			is_confirmed(replay, first, end))
			continue;
		replay->faults++;
		report(arg, line,
			"no takedown without fault names this redacted line");
	}
}

/* ---- one line ----------------------------------------------------------- */

static enum ks_status
take(struct step *step)
{
	switch (step->entry->op) {
	case KS_OP_INIT:
	case KS_OP_EXTENSION:
	case KS_OP_KEY:	/* R24: keys are judged by who trusts them */
		return KS_OK;
	case KS_OP_PUBLISH:
		return take_publish(step);
	case KS_OP_ANNOTATE:
		return take_annotate(step);
	case KS_OP_RETRACT:
		return take_retract(step);
	case KS_OP_SUPERSEDE:
		return take_supersede(step);
	case KS_OP_RESTORE:
		return take_restore(step);
	case KS_OP_TAKEDOWN:
		return take_takedown(step);
	case KS_OP_REDACTED:
		return take_redacted(step);
	}
	return KS_OK;
}

static bool
is_earlier(const struct ks_replay *replay, struct ks_span at)
{
	return at.len > 0 && replay->at[0] != '\0' &&
		memcmp(at.data, replay->at, KS_TIME_TEXT) < 0;
}

/* R5, R6: the rules that every line has to keep. A redacted line has no time
 * that could be judged. */
static enum ks_status
check_place(const struct step *step)
{
	bool begins = step->entry->op == KS_OP_INIT;

	if (step->index == 0 && !begins)
		return ks_fail(step->err, KS_CORRUPT, "entry 0 must be init");
	if (step->index > 0 && begins)
		return ks_fail(step->err, KS_CORRUPT, "only entry 0 is init");
	if (is_earlier(step->replay, step->entry->at))
		return ks_fail(step->err, KS_CORRUPT,
			"at is earlier than that of an earlier line, %s",
			step->replay->at);
	return KS_OK;
}

/* Time goes on with every line that is no fault, also with one that only a
 * newer version understands (R6). */
static void
advance_time(struct ks_replay *replay, struct ks_span at)
{
	if (at.len > 0 && !is_earlier(replay, at))
		memcpy(replay->at, at.data, KS_TIME_TEXT);
}

static bool
has_text_of_object(enum ks_op op)
{
	return op == KS_OP_PUBLISH || op == KS_OP_ANNOTATE ||
		op == KS_OP_REDACTED;
}

/* Judge a line that was taken apart with `parsed`, and let it take effect. */
static enum ks_status
judge(struct step *step, enum ks_status parsed)
{
	enum ks_status status = parsed;

	if (status == KS_OK && step->index >= KS_REPLAY_ENTRIES)
		status = ks_fail(step->err, KS_CORRUPT,
			"a log has at most %lu entries",
			(unsigned long)KS_REPLAY_ENTRIES);
	if (status == KS_OK)
		status = check_place(step);
	if (status == KS_OK)
		status = take(step);
	if (status != KS_OK)
		step->object = KS_NO_OBJECT;
	return status;
}

static enum ks_verdict
count_line(struct ks_replay *replay, const struct ks_entry *entry,
	enum ks_status status)
{
	if (status == KS_UNSUPPORTED) {
		replay->unsupported++;
		advance_time(replay, entry->at);
		return KS_LINE_UNSUPPORTED;
	}
	if (status != KS_OK) {
		replay->faults++;
		return KS_LINE_FAULT;
	}
	replay->counts[entry->op]++;
	advance_time(replay, entry->at);
	return KS_LINE_OK;
}

void
ks_replay_leaf(struct ks_span line, const struct ks_entry *entry,
	struct ks_id *leaf)
{
	*leaf = entry->leaf;
	if (entry->op != KS_OP_REDACTED)
		ks_merkle_leaf(line, leaf);
}

enum ks_status
ks_replay_apply(struct ks_replay *replay, enum ks_status parsed,
	const struct ks_entry *entry, const struct ks_id *leaf,
	enum ks_verdict *verdict, uint32_t *object, struct ks_error *err)
{
	struct step step = { .replay = replay, .entry = entry,
		.index = replay->tree.size, .object = KS_NO_OBJECT,
		.err = err };
	enum ks_status status;

	*verdict = KS_LINE_FAULT;
	*object = KS_NO_OBJECT;
	if (parsed == KS_NOMEM)
		replay->failed = true;
	if (replay->failed)
		return ks_fail_nomem(err);
	ks_merkle_append(&replay->tree, leaf);
	status = judge(&step, parsed);
	ks_replay_add_entry(replay, step.index,
		has_text_of_object(entry->op) ? step.object : KS_NO_OBJECT);
	if (replay->failed || status == KS_NOMEM)
		return ks_fail_nomem(err);
	*verdict = count_line(replay, entry, status);
	*object = step.object;
	return KS_OK;
}

enum ks_status
ks_replay_line(struct ks_replay *replay, struct ks_jcs *jcs,
	struct ks_span line, enum ks_verdict *verdict, struct ks_entry *entry,
	uint32_t *object, struct ks_error *err)
{
	enum ks_status parsed = ks_entry_parse(jcs, line, entry, err);
	struct ks_id leaf;

	ks_replay_leaf(line, entry, &leaf);
	return ks_replay_apply(replay, parsed, entry, &leaf, verdict, object,
		err);
}
