#include "format/replay.h"

#include <stdlib.h>

#include "base/idmap.h"
#include "format/digest.h"
#include "format/json.h"
#include "format/kind.h"

static const char source_kind[] = KS_API_KISTORE "/Source";
static const char artifact_kind[] = KS_API_KISTORE "/Artifact";
static const char project_kind[] = KS_API_KERNELINDEX "/SoftwareProject";

#define UNKNOWN_KIND 0	/* of a redacted object: fits every rule, X7 */

/* Part of the text arena. */
struct part {
	size_t offset;
	size_t len;
};

/* The object that an id of the publisher's database belongs to. */
struct owner {
	uint8_t id[KS_UUID_BYTES];
	uint32_t object;
};

/* A key with role controlled; `key` is the SHA-256 of its escaped text. */
struct controlled {
	struct ks_id key;
	bool stands;
};

/* What an object's publish line left open. */
struct gap {
	uint32_t object;
	struct part missing;
	struct part open;
};

/* References of a line's provenance without an earlier publish. */
struct open {
	struct ks_id ids[2];	/* source, project */
	size_t count;
};

/* A takedown that stands later in the log. */
struct foreseen {
	struct ks_id digest;
	uint64_t index;
	bool took_effect;
};

/* A line that it names. */
struct named {
	uint64_t line;
	size_t takedown;	/* in the array of struct foreseen */
	bool redacted;		/* met as such */
};

struct ks_replay {
	struct ks_merkle tree;
	struct ks_replay_loader loader;	/* functions NULL = none */
	uint64_t base;			/* the entry it began with */
	char at[KS_TIME_TEXT + 1];
	uint64_t counts[KS_OP_REDACTED + 1];
	uint64_t faults, unsupported;
	bool failed;			/* memory ran out */
	bool needs_all;

	struct ks_object_state *objects;
	size_t objects_cap;
	struct ks_idmap by_digest;	/* into objects, all of them */

	struct owner *owners;
	size_t owners_cap;
	struct ks_idmap by_id;		/* into owners, all of them */

	/* By entry - base: the object whose publish or annotate line, or
	 * redacted line, it is; else KS_NO_OBJECT. */
	uint32_t *entry_objects;
	size_t entries_cap;

	struct ks_buf texts;		/* of kinds and gaps */

	struct part *kinds;		/* by kind number */
	uint16_t *kind_order;		/* kind numbers by text */
	size_t kinds_used, kinds_cap, kind_order_cap;

	struct gap *gaps;		/* by object number, ascending */
	size_t gaps_used, gaps_cap;

	struct controlled *keys;
	size_t keys_cap;
	struct ks_idmap by_key;		/* into keys, all of them */

	struct foreseen *foreseen;	/* by index, ascending */
	size_t foreseen_used, foreseen_cap;
	struct named *named;		/* by line and takedown, once sorted */
	size_t named_used, named_cap;
	bool named_sorted;
};

/* One line on its way through the rules. */
struct step {
	struct ks_replay *replay;
	const struct ks_entry *entry;
	uint64_t index;
	uint32_t object;	/* that the line is about */
	struct ks_error *err;
};

/* ---- memory ------------------------------------------------------------ */

/* Room for one item more: the array, perhaps moved; NULL when memory ran out,
 * with the array as it was. */
static void *
grow(void *array, size_t *cap, size_t used, size_t item)
{
	size_t more = *cap == 0 ? 64 : 2 * *cap;
	void *grown;

	if (used < *cap)
		return array;
	if (more > SIZE_MAX / item)
		return NULL;
	grown = realloc(array, more * item);
	if (grown != NULL)
		*cap = more;
	return grown;
}

static void
out_of_memory(struct ks_replay *replay)
{
	replay->failed = true;
}

enum ks_status
ks_replay_new(struct ks_replay **out, struct ks_error *err)
{
	struct ks_replay *replay = calloc(1, sizeof(*replay));

	*out = NULL;
	if (replay == NULL)
		return ks_fail_nomem(err);
	ks_idmap_init(&replay->by_digest, KS_ID_BYTES,
		sizeof(*replay->objects));
	ks_idmap_init(&replay->by_id, KS_UUID_BYTES, sizeof(*replay->owners));
	ks_idmap_init(&replay->by_key, KS_ID_BYTES, sizeof(*replay->keys));
	*out = replay;
	return KS_OK;
}

enum ks_status
ks_replay_resume(struct ks_replay **out,
	const struct ks_replay_loader *loader, const struct ks_merkle *tree,
	const char *at, struct ks_error *err)
{
	struct ks_replay *replay;
	enum ks_status status = ks_replay_new(out, err);

	if (status != KS_OK)
		return status;
	replay = *out;
	replay->loader = *loader;
	replay->tree = *tree;
	replay->base = tree->size;
	if (strlen(at) == KS_TIME_TEXT)
		memcpy(replay->at, at, KS_TIME_TEXT);
	return KS_OK;
}

void
ks_replay_free(struct ks_replay *replay)
{
	if (replay == NULL)
		return;
	free(replay->named);
	free(replay->foreseen);
	ks_idmap_release(&replay->by_key);
	free(replay->keys);
	free(replay->gaps);
	free(replay->kind_order);
	free(replay->kinds);
	ks_buf_release(&replay->texts);
	free(replay->entry_objects);
	ks_idmap_release(&replay->by_id);
	free(replay->owners);
	ks_idmap_release(&replay->by_digest);
	free(replay->objects);
	free(replay);
}

/* ---- texts and kinds --------------------------------------------------- */

static struct part
keep_text(struct ks_replay *replay, struct ks_span text)
{
	struct part part = { .offset = replay->texts.len, .len = text.len };

	ks_buf_append(&replay->texts, text);
	if (replay->texts.failed)
		out_of_memory(replay);
	return part;
}

static struct ks_span
part_text(const struct ks_replay *replay, struct part part)
{
	if (part.len == 0 || replay->texts.failed)
		return ks_span(NULL, 0);
	return ks_span(replay->texts.data + part.offset, part.len);
}

struct ks_span
ks_replay_kind(const struct ks_replay *replay, uint16_t kind)
{
	if (kind >= replay->kinds_used)
		return ks_span(NULL, 0);
	return part_text(replay, replay->kinds[kind]);
}

/* Where `text` stands among the kinds in order, or would; whether it does. */
static bool
search_kind(const struct ks_replay *replay, struct ks_span text, size_t *place)
{
	size_t low = 0, high = replay->kinds_used;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = ks_span_compare(text, ks_replay_kind(replay,
			replay->kind_order[middle]));

		if (order == 0) {
			*place = middle;
			return true;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	*place = low;
	return false;
}

static bool
insert_kind(struct ks_replay *replay, struct ks_span text, size_t place)
{
	size_t used = replay->kinds_used;
	struct part *kinds = grow(replay->kinds, &replay->kinds_cap, used,
		sizeof(*kinds));
	uint16_t *order;

	if (kinds == NULL)
		return false;
	replay->kinds = kinds;
	order = grow(replay->kind_order, &replay->kind_order_cap, used,
		sizeof(*order));
	if (order == NULL)
		return false;
	replay->kind_order = order;
	memmove(order + place + 1, order + place,
		(used - place) * sizeof(*order));
	order[place] = (uint16_t)used;
	kinds[used] = keep_text(replay, text);
	replay->kinds_used++;
	return !replay->failed;
}

/* The number of a kind, new or known. False when it is one too many, or
 * memory ran out. Number 0 is the empty text. */
static bool
number_kind(struct ks_replay *replay, struct ks_span text, uint16_t *number)
{
	size_t place;

	if (replay->kinds_used == 0 &&
		!insert_kind(replay, ks_span(NULL, 0), 0)) {
		out_of_memory(replay);
		return false;
	}
	if (!search_kind(replay, text, &place)) {
		if (replay->kinds_used > KS_REPLAY_KINDS)
			return false;
		if (!insert_kind(replay, text, place)) {
			out_of_memory(replay);
			return false;
		}
	}
	*number = replay->kind_order[place];
	return true;
}

static bool
is_kind(const struct ks_replay *replay, uint16_t kind, const char *text)
{
	return ks_span_is(ks_replay_kind(replay, kind), text);
}

/* ---- objects ----------------------------------------------------------- */

static uint32_t
add_object(struct ks_replay *replay, const struct ks_object_state *state)
{
	uint32_t number = replay->by_digest.used;
	struct ks_object_state *objects = grow(replay->objects,
		&replay->objects_cap, number, sizeof(*objects));

	if (objects == NULL) {
		out_of_memory(replay);
		return KS_NO_OBJECT;
	}
	replay->objects = objects;
	objects[number] = *state;
	if (!ks_idmap_add(&replay->by_digest, objects)) {
		out_of_memory(replay);
		return KS_NO_OBJECT;
	}
	return number;
}

/* Take one object over from the loader. */
static uint32_t
load_object(struct ks_replay *replay, const struct ks_id *digest,
	struct ks_id *successor)
{
	struct ks_object_state state;
	struct ks_span kind = ks_span(NULL, 0);

	memset(&state, 0, sizeof(state));
	memset(successor, 0, sizeof(*successor));
	if (!replay->loader.object(replay->loader.arg, digest, &state, &kind,
		successor))
		return KS_NO_OBJECT;
	state.digest = *digest;
	state.successor = KS_NO_OBJECT;
	if (!number_kind(replay, kind, &state.kind)) {
		out_of_memory(replay);
		return KS_NO_OBJECT;
	}
	return add_object(replay, &state);
}

/* Take over an object and its chain of successors, up to one that is known. */
static uint32_t
load_chain(struct ks_replay *replay, const struct ks_id *digest)
{
	struct ks_id wanted = *digest, successor;
	uint32_t first = load_object(replay, &wanted, &successor);
	uint32_t last = first;

	while (last != KS_NO_OBJECT && replay->objects[last].superseded) {
		uint32_t next;

		wanted = successor;
		next = ks_idmap_find(&replay->by_digest, replay->objects,
			&wanted);
		if (next != KS_IDMAP_NONE) {
			replay->objects[last].successor = next;
			break;
		}
		next = load_object(replay, &wanted, &successor);
		replay->objects[last].successor = next;
		last = next;
	}
	return first;
}

uint32_t
ks_replay_find(struct ks_replay *replay, const struct ks_id *digest)
{
	uint32_t number = ks_idmap_find(&replay->by_digest, replay->objects,
		digest);

	if (number != KS_IDMAP_NONE)
		return number;
	if (replay->loader.object == NULL || replay->failed)
		return KS_NO_OBJECT;
	return load_chain(replay, digest);
}

/* ---- ids --------------------------------------------------------------- */

static void
add_owner(struct ks_replay *replay, const uint8_t id[KS_UUID_BYTES],
	uint32_t object)
{
	uint32_t number = replay->by_id.used;
	struct owner *owners = grow(replay->owners, &replay->owners_cap,
		number, sizeof(*owners));

	if (owners == NULL) {
		out_of_memory(replay);
		return;
	}
	replay->owners = owners;
	memcpy(owners[number].id, id, KS_UUID_BYTES);
	owners[number].object = object;
	if (!ks_idmap_add(&replay->by_id, owners))
		out_of_memory(replay);
}

uint32_t
ks_replay_find_id(struct ks_replay *replay, const uint8_t id[16])
{
	uint32_t number = ks_idmap_find(&replay->by_id, replay->owners, id);
	struct ks_id digest;

	if (number != KS_IDMAP_NONE)
		return replay->owners[number].object;
	if (replay->loader.id == NULL || replay->failed ||
		!replay->loader.id(replay->loader.arg, id, &digest))
		return KS_NO_OBJECT;
	number = ks_replay_find(replay, &digest);
	if (number != KS_NO_OBJECT)
		add_owner(replay, id, number);
	return number;
}

/* R17: rows of these two kinds change in place, so that an id passes on. A
 * kind that is unknown may have been one of them. */
static bool
may_share_id(const struct ks_replay *replay, uint16_t a, uint16_t b)
{
	if (a == UNKNOWN_KIND)
		a = b;
	if (b == UNKNOWN_KIND)
		b = a;
	return a == b && (a == UNKNOWN_KIND ||
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
		add_owner(replay, claims->id, step->object);
		return;
	}
	owner = replay->owners[number].object;
	if (replay->objects[step->object].published >
		replay->objects[owner].published)
		replay->owners[number].object = step->object;
}

/* ---- what a publish line leaves open ------------------------------------ */

static void
add_gap(struct step *step, const struct open *open)
{
	struct ks_replay *replay = step->replay;
	struct gap *gaps = grow(replay->gaps, &replay->gaps_cap,
		replay->gaps_used, sizeof(*gaps));
	struct gap gap = { .object = step->object };
	char text[KS_ID_TEXT + 1];
	size_t i;

	if (gaps == NULL) {
		out_of_memory(replay);
		return;
	}
	replay->gaps = gaps;
	gap.missing = keep_text(replay, step->entry->missing);
	gap.open.offset = replay->texts.len;
	for (i = 0; i < open->count; i++)
		ks_buf_printf(&replay->texts, "%s\"%s\"", i == 0 ? "[" : ",",
			ks_id_print(&open->ids[i], text));
	if (open->count > 0)
		ks_buf_byte(&replay->texts, ']');
	if (replay->texts.failed) {
		out_of_memory(replay);
		return;
	}
	gap.open.len = replay->texts.len - gap.open.offset;
	gaps[replay->gaps_used++] = gap;
}

/* Objects that were published here have ascending numbers, so have gaps. */
static const struct gap *
find_gap(const struct ks_replay *replay, uint32_t object)
{
	size_t low = 0, high = replay->gaps_used;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (replay->gaps[middle].object == object)
			return &replay->gaps[middle];
		if (replay->gaps[middle].object > object)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

struct ks_span
ks_replay_missing(const struct ks_replay *replay, uint32_t number)
{
	const struct gap *gap = find_gap(replay, number);

	return gap == NULL ? ks_span(NULL, 0) : part_text(replay, gap->missing);
}

struct ks_span
ks_replay_open_provenance(const struct ks_replay *replay, uint32_t number)
{
	const struct gap *gap = find_gap(replay, number);

	return gap == NULL ? ks_span(NULL, 0) : part_text(replay, gap->open);
}

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

/* ---- provenance --------------------------------------------------------- */

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
	if (replay->objects[number].kind != UNKNOWN_KIND &&
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
	if (!number_kind(replay, entry->kind, &state.kind))
		return ks_fail(step->err, KS_CORRUPT,
			"a log has at most %d kinds", KS_REPLAY_KINDS);
	status = check_missing(step);
	if (status == KS_OK)
		status = check_provenance(step, state.kind, &open);
	if (status != KS_OK)
		return status;
	step->object = add_object(replay, &state);
	if (replay->failed)
		return ks_fail_nomem(step->err);
	give_id(step);
	if (state.has_missing)
		add_gap(step, &open);
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
	if (old_kind != new_kind && old_kind != UNKNOWN_KIND &&
		new_kind != UNKNOWN_KIND)
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

/* ---- keys --------------------------------------------------------------- */

static void
register_key(struct ks_replay *replay, const struct ks_id *key)
{
	uint32_t number = ks_idmap_find(&replay->by_key, replay->keys, key);
	struct controlled *keys;

	if (number != KS_IDMAP_NONE) {
		replay->keys[number].stands = true;
		return;
	}
	number = replay->by_key.used;
	keys = grow(replay->keys, &replay->keys_cap, number, sizeof(*keys));
	if (keys == NULL) {
		out_of_memory(replay);
		return;
	}
	replay->keys = keys;
	keys[number] = (struct controlled){ .key = *key, .stands = true };
	if (!ks_idmap_add(&replay->by_key, keys))
		out_of_memory(replay);
}

static enum ks_status
revoke_key(struct step *step, const struct ks_id *key)
{
	struct ks_replay *replay = step->replay;
	uint32_t number = ks_idmap_find(&replay->by_key, replay->keys, key);

	if (number == KS_IDMAP_NONE && replay->base > 0) {
		replay->needs_all = true;
		return ks_fail(step->err, KS_CORRUPT,
			"revoking a key needs a full replay");
	}
	if (number == KS_IDMAP_NONE || !replay->keys[number].stands)
		return ks_fail(step->err, KS_CORRUPT,
			"no such key is registered as controlled");
	replay->keys[number].stands = false;
	return KS_OK;
}

/* To register a key that stands already, or was revoked, is no fault: the
 * newest line about it counts. */
static enum ks_status
take_key(struct step *step)
{
	struct ks_id key;

	ks_sha256(step->entry->key, &key);
	if (ks_json_is(step->entry->role, "controlled"))
		register_key(step->replay, &key);
	else if (ks_json_is(step->entry->role, "revoked"))
		return revoke_key(step, &key);
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

	if (replay->tree.size != replay->base ||
		(used > 0 && replay->foreseen[used - 1].index >= index))
		return ks_fail(err, KS_USAGE,
			"takedowns are foreseen in order, before the log");
	foreseen = grow(replay->foreseen, &replay->foreseen_cap, used,
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
		named = grow(replay->named, &replay->named_cap,
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
		.successor = KS_NO_OBJECT, .kind = UNKNOWN_KIND,
		.redacted = true };

	if (named == NULL)
		return ks_fail(step->err, KS_CORRUPT,
			"no takedown names this redacted line");
	state.digest = replay->foreseen[named->takedown].digest;
	step->object = ks_replay_find(replay, &state.digest);
	if (step->object == KS_NO_OBJECT)
		step->object = add_object(replay, &state);
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
		return KS_OK;
	case KS_OP_KEY:
		return take_key(step);
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

static void
append_leaf(struct ks_replay *replay, struct ks_span line,
	const struct ks_entry *entry)
{
	struct ks_id leaf = entry->leaf;

	if (entry->op != KS_OP_REDACTED)
		ks_merkle_leaf(line, &leaf);
	ks_merkle_append(&replay->tree, &leaf);
}

static bool
has_text_of_object(enum ks_op op)
{
	return op == KS_OP_PUBLISH || op == KS_OP_ANNOTATE ||
		op == KS_OP_REDACTED;
}

/* Remember whose line it is, for takedowns. */
static void
note_entry(const struct step *step)
{
	struct ks_replay *replay = step->replay;
	uint64_t place = step->index - replay->base;
	uint32_t *entries = grow(replay->entry_objects, &replay->entries_cap,
		(size_t)place, sizeof(*entries));

	if (entries == NULL) {
		out_of_memory(replay);
		return;
	}
	replay->entry_objects = entries;
	entries[place] = has_text_of_object(step->entry->op) ? step->object :
		KS_NO_OBJECT;
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

enum ks_status
ks_replay_line(struct ks_replay *replay, struct ks_jcs *jcs,
	struct ks_span line, enum ks_verdict *verdict, struct ks_entry *entry,
	uint32_t *object, struct ks_error *err)
{
	struct step step = { .replay = replay, .entry = entry,
		.index = replay->tree.size, .object = KS_NO_OBJECT,
		.err = err };
	enum ks_status status = ks_entry_parse(jcs, line, entry, err);

	*verdict = KS_LINE_FAULT;
	*object = KS_NO_OBJECT;
	if (status == KS_NOMEM)
		out_of_memory(replay);
	if (replay->failed)
		return ks_fail_nomem(err);
	append_leaf(replay, line, entry);
	status = judge(&step, status);
	note_entry(&step);
	if (replay->failed || status == KS_NOMEM)
		return ks_fail_nomem(err);
	*verdict = count_line(replay, entry, status);
	*object = step.object;
	return KS_OK;
}

/* ---- answers ------------------------------------------------------------ */

bool
ks_replay_needs_all(const struct ks_replay *replay)
{
	return replay->needs_all;
}

enum ks_status
ks_replay_check(const struct ks_replay *replay, struct ks_error *err)
{
	return replay->failed ? ks_fail_nomem(err) : KS_OK;
}

const struct ks_merkle *
ks_replay_tree(const struct ks_replay *replay)
{
	return &replay->tree;
}

const char *
ks_replay_time(const struct ks_replay *replay)
{
	return replay->at;
}

uint64_t
ks_replay_count(const struct ks_replay *replay, enum ks_op op)
{
	return replay->counts[op];
}

uint64_t
ks_replay_faults(const struct ks_replay *replay)
{
	return replay->faults;
}

uint64_t
ks_replay_unsupported(const struct ks_replay *replay)
{
	return replay->unsupported;
}

uint32_t
ks_replay_objects(const struct ks_replay *replay)
{
	return replay->by_digest.used;
}

struct ks_object_state *
ks_replay_object(struct ks_replay *replay, uint32_t number)
{
	return &replay->objects[number];
}
