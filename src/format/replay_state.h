/*
 * What a replay remembers. Private to format/replay*.c: the rules are in
 * replay.c, and here only what they read and change.
 *
 * Nothing here returns a status. When memory runs out the state says so, from
 * then on (`failed`), and stays sound; its answers are then worth nothing.
 */
#ifndef KS_FORMAT_REPLAY_STATE_H
#define KS_FORMAT_REPLAY_STATE_H

#include "base/idmap.h"
#include "format/replay.h"

#define KS_UNKNOWN_KIND 0	/* of a redacted object: fits every rule, X7 */

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

/* What an object's publish line left open. */
struct gap {
	uint32_t object;
	struct part missing;
	struct part open;
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


	struct foreseen *foreseen;	/* by index, ascending */
	size_t foreseen_used, foreseen_cap;
	struct named *named;		/* by line and takedown, once sorted */
	size_t named_used, named_cap;
	bool named_sorted;
};

/* Room for one item more: the array, perhaps moved; NULL when memory ran out,
 * with the array as it was. */
void *ks_replay_grow(void *array, size_t *cap, size_t used, size_t item);

/* The number of a kind, new or known. False when it is one too many, or
 * memory ran out. */
bool ks_replay_number_kind(struct ks_replay *replay, struct ks_span text,
	uint16_t *number);

/* Add an object whose digest is new. Returns its number. */
uint32_t ks_replay_add_object(struct ks_replay *replay,
	const struct ks_object_state *state);

/* Give an id that nobody has to an object. */
void ks_replay_add_owner(struct ks_replay *replay,
	const uint8_t id[KS_UUID_BYTES], uint32_t object);

/* Keep what the publish line of the newest object left open: its `missing`,
 * and those of its provenance. */
void ks_replay_add_gap(struct ks_replay *replay, uint32_t object,
	struct ks_span missing, const struct ks_id *open, size_t open_count);


/* Remember of which object the entry after the last one remembered is a
 * publish, annotate or redacted line; KS_NO_OBJECT = of none. */
void ks_replay_add_entry(struct ks_replay *replay, uint64_t index,
	uint32_t object);

#endif
