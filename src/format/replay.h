/*
 * Replaying the log: the rules between lines (store-layout.md, section
 * "replay").
 *
 * Feed every line in order to ks_replay_line(). A line that breaks a rule is a
 * fault and has no effect; whether a line takes effect depends on earlier
 * lines alone. What is kept per object is small (about 55 bytes and, with an
 * id, 30 more; 4 per entry), so a million objects fit in 85 MB.
 *
 * A replay may start in the middle: then `loader` supplies the state of
 * objects and ids that earlier lines left, on first use, from an index. One
 * rule needs more than that, see ks_replay_needs_all().
 *
 * Running out of memory sticks: from then on look-ups find nothing and
 * ks_replay_line() and ks_replay_check() say KS_NOMEM.
 */
#ifndef KS_FORMAT_REPLAY_H
#define KS_FORMAT_REPLAY_H

#include "format/entry.h"
#include "format/merkle.h"

#define KS_NO_OBJECT UINT32_MAX

/* Limits (store-layout.md, section "bounds"). */
#define KS_REPLAY_ENTRIES UINT32_MAX	/* of a log */
#define KS_REPLAY_KINDS 65535		/* distinct kinds in a log */
#define KS_REPLAY_CHAIN 10000		/* successors after a `by` */

/* What earlier lines say of one digest: 44 bytes. */
struct ks_object_state {
	struct ks_id digest;
	uint32_t published;	/* index of its publish line */
	uint32_t successor;	/* object number, or KS_NO_OBJECT */
	uint16_t kind;		/* number of the kind text, ks_replay_kind() */
	bool retracted : 1;
	bool superseded : 1;	/* successor may be unknown to a loader */
	bool taken_down : 1;
	bool redacted : 1;	/* the publish line itself was redacted: kind,
				 * id and time unknown and exempt */
	bool was_retracted : 1;	/* ever had a retract line */
	bool was_superseded : 1; /* ever had a supersede line */
	bool has_missing : 1;	/* its publish line has `missing` */
	bool seen;		/* free for the caller (found in the tree); of
				 * its own, so that it may be set while other
				 * threads read the rest */
};

struct ks_replay;

/* Supplies earlier state when a replay starts in the middle. */
struct ks_replay_loader {
	void *arg;
	/* Fill `state` (published, flags; kind text into *kind, valid until
	 * the next call; when superseded, the successor's digest into
	 * *successor). Return false when the digest was never published. */
	bool (*object)(void *arg, const struct ks_id *digest,
		struct ks_object_state *state, struct ks_span *kind,
		struct ks_id *successor);
	/* The digest that an id belongs to (the newest); false when unknown. */
	bool (*id)(void *arg, const uint8_t id[16], struct ks_id *digest);
};

/* What came of a line. */
enum ks_verdict {
	KS_LINE_OK,
	KS_LINE_FAULT,		/* breaks a rule: no effect */
	KS_LINE_UNSUPPORTED	/* needs a newer kistore: no effect, derived
				 * answers stop */
};

/* A replay from entry 0, or (with a loader) from `tree` with the previous
 * line's time `at` (20 characters, "" = none). */
enum ks_status ks_replay_new(struct ks_replay **out, struct ks_error *err)
	KS_CHECKED;
enum ks_status ks_replay_resume(struct ks_replay **out,
	const struct ks_replay_loader *loader, const struct ks_merkle *tree,
	const char *at, struct ks_error *err) KS_CHECKED;
void ks_replay_free(struct ks_replay *replay);

/* Announce a takedown that stands later in the log: needed before replaying a
 * log that holds redacted lines, since only the takedown says whose they are.
 * Call for every takedown line that is still to come, in order, before the
 * first redacted line is taken. A redacted line belongs to the first that
 * names it. */
enum ks_status ks_replay_foresee(struct ks_replay *replay, uint64_t index,
	const struct ks_entry *takedown, struct ks_error *err) KS_CHECKED;

/* Take one line (without LF) as the next entry. The leaf is appended to the
 * tree whatever the verdict. `entry` is filled as by ks_entry_parse(), its
 * spans point into `line`; it may be filled for FAULT, too. *object is the
 * object the line is about for OK (KS_NO_OBJECT for init, key, x-…, and other
 * verdicts). For FAULT and UNSUPPORTED err holds the rule, which counts as no
 * failure: KS_NOMEM is the only one. */
enum ks_status ks_replay_line(struct ks_replay *replay, struct ks_jcs *jcs,
	struct ks_span line, enum ks_verdict *verdict, struct ks_entry *entry,
	uint32_t *object, struct ks_error *err) KS_CHECKED;

/* The same in two steps, of which the first may be done by any thread: take
 * the line apart (ks_entry_parse()) and hash it; then let it take effect.
 * `parsed` is what ks_entry_parse() returned, *err what it said then. */
void ks_replay_leaf(struct ks_span line, const struct ks_entry *entry,
	struct ks_id *leaf);
enum ks_status ks_replay_apply(struct ks_replay *replay,
	enum ks_status parsed, const struct ks_entry *entry,
	const struct ks_id *leaf, enum ks_verdict *verdict, uint32_t *object,
	struct ks_error *err) KS_CHECKED;

/* Faults that only the whole log shows, after the last line: calls `report`
 * for each (a redacted line whose takedown took no effect; an empty log) and
 * counts it. Call once. */
void ks_replay_end(struct ks_replay *replay,
	void (*report)(void *arg, uint64_t index, const char *message),
	void *arg);

/* Whether a resumed replay met a line that it had to call a fault because
 * only a replay from entry 0 can judge it: a takedown whose `lines` reach back
 * before its start. */
bool ks_replay_needs_all(const struct ks_replay *replay);

/* KS_OK, or KS_NOMEM after a look-up or line ran out of memory. */
enum ks_status ks_replay_check(const struct ks_replay *replay,
	struct ks_error *err) KS_CHECKED;

/* The tree over the lines so far; the latest time ("" = none); how many lines
 * with an op took effect, were faults, need a newer kistore. */
const struct ks_merkle *ks_replay_tree(const struct ks_replay *replay);
const char *ks_replay_time(const struct ks_replay *replay);
uint64_t ks_replay_count(const struct ks_replay *replay, enum ks_op op);
uint64_t ks_replay_faults(const struct ks_replay *replay);
uint64_t ks_replay_unsupported(const struct ks_replay *replay);

/* The number of a digest (asks the loader), or KS_NO_OBJECT. */
uint32_t ks_replay_find(struct ks_replay *replay, const struct ks_id *digest);

/* The object that an id belongs to (of several Sources or Artifacts the one
 * published last), or KS_NO_OBJECT. */
uint32_t ks_replay_find_id(struct ks_replay *replay, const uint8_t id[16]);

/* Objects known so far are 0 … count - 1; state is valid until the next
 * line or find. */
uint32_t ks_replay_objects(const struct ks_replay *replay);
struct ks_object_state *ks_replay_object(struct ks_replay *replay,
	uint32_t number);

/* The text of a kind number ("raw", "kistore/v1/Source"); "" for the kind of
 * a redacted object. */
struct ks_span ks_replay_kind(const struct ks_replay *replay, uint16_t kind);

/* The `missing` array of the publish line of an object, as canonical text
 * owned by the replay and valid until the next line; empty when it has none,
 * or was published before a resumed replay began. */
struct ks_span ks_replay_missing(const struct ks_replay *replay,
	uint32_t number);

/* The direct references that the provenance of that line added to those of
 * the body and that had no earlier publish: a canonical array of digests,
 * valid as long; empty when there are none. All are in `missing`. */
struct ks_span ks_replay_open_provenance(const struct ks_replay *replay,
	uint32_t number);

#endif
