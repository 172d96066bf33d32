#include "format/replay_state.h"

#include <stdlib.h>

/* ---- memory ------------------------------------------------------------ */

/* So many that allocators give arrays pages of their own, which are not
 * copied to grow; pages that are not used cost nothing. */
#define FIRST_CAP 4096

void *
ks_replay_grow(void *array, size_t *cap, size_t used, size_t item)
{
	size_t more = *cap == 0 ? FIRST_CAP : 2 * *cap;
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
		replay->failed = true;
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
	struct part *kinds = ks_replay_grow(replay->kinds,
		&replay->kinds_cap, used, sizeof(*kinds));
	uint16_t *order;

	if (kinds == NULL)
		return false;
	replay->kinds = kinds;
	order = ks_replay_grow(replay->kind_order, &replay->kind_order_cap,
		used, sizeof(*order));
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
bool
ks_replay_number_kind(struct ks_replay *replay, struct ks_span text,
	uint16_t *number)
{
	size_t place;

	if (replay->kinds_used == 0 &&
		!insert_kind(replay, ks_span(NULL, 0), 0)) {
		replay->failed = true;
		return false;
	}
	if (!search_kind(replay, text, &place)) {
		if (replay->kinds_used > KS_REPLAY_KINDS)
			return false;
		if (!insert_kind(replay, text, place)) {
			replay->failed = true;
			return false;
		}
	}
	*number = replay->kind_order[place];
	return true;
}

/* ---- objects ----------------------------------------------------------- */

uint32_t
ks_replay_add_object(struct ks_replay *replay,
	const struct ks_object_state *state)
{
	uint32_t number = replay->by_digest.used;
	struct ks_object_state *objects = ks_replay_grow(replay->objects,
		&replay->objects_cap, number, sizeof(*objects));

	if (objects == NULL) {
		replay->failed = true;
		return KS_NO_OBJECT;
	}
	replay->objects = objects;
	objects[number] = *state;
	if (!ks_idmap_add(&replay->by_digest, objects)) {
		replay->failed = true;
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
	if (!ks_replay_number_kind(replay, kind, &state.kind)) {
		replay->failed = true;
		return KS_NO_OBJECT;
	}
	return ks_replay_add_object(replay, &state);
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

void
ks_replay_add_owner(struct ks_replay *replay, const uint8_t id[KS_UUID_BYTES],
	uint32_t object)
{
	uint32_t number = replay->by_id.used;
	struct owner *owners = ks_replay_grow(replay->owners,
		&replay->owners_cap, number, sizeof(*owners));

	if (owners == NULL) {
		replay->failed = true;
		return;
	}
	replay->owners = owners;
	memcpy(owners[number].id, id, KS_UUID_BYTES);
	owners[number].object = object;
	if (!ks_idmap_add(&replay->by_id, owners))
		replay->failed = true;
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
		ks_replay_add_owner(replay, id, number);
	return number;
}

/* ---- what a publish line leaves open ----------------------------------- */

void
ks_replay_add_gap(struct ks_replay *replay, uint32_t object,
	struct ks_span missing, const struct ks_id *open, size_t open_count)
{
	struct gap *gaps = ks_replay_grow(replay->gaps, &replay->gaps_cap,
		replay->gaps_used, sizeof(*gaps));
	struct gap gap = { .object = object };
	char text[KS_ID_TEXT + 1];
	size_t i;

	if (gaps == NULL) {
		replay->failed = true;
		return;
	}
	replay->gaps = gaps;
	gap.missing = keep_text(replay, missing);
	gap.open.offset = replay->texts.len;
	for (i = 0; i < open_count; i++)
		ks_buf_printf(&replay->texts, "%s\"%s\"", i == 0 ? "[" : ",",
			ks_id_print(&open[i], text));
	if (open_count > 0)
		ks_buf_byte(&replay->texts, ']');
	if (replay->texts.failed) {
		replay->failed = true;
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

/* ---- entries ------------------------------------------------------------ */

void
ks_replay_add_entry(struct ks_replay *replay, uint64_t index, uint32_t object)
{
	uint64_t place = index - replay->base;
	uint32_t *entries = ks_replay_grow(replay->entry_objects,
		&replay->entries_cap, (size_t)place, sizeof(*entries));

	if (entries == NULL) {
		replay->failed = true;
		return;
	}
	replay->entry_objects = entries;
	entries[place] = object;
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
