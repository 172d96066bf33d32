/*
 * What a user trusts and remembers, outside of every store.
 *
 * A directory ($XDG_STATE_HOME/kistore; the caller names it) with, for each
 * origin, under the hex SHA-256 of the origin:
 *
 *	pins/HEX	a tlog-policy file: the keys that are trusted for it
 *	accepted/HEX	the newest signed note that was accepted
 *	forks/HEX-SIZE-ROOT	evidence: two notes that cannot both be true
 *
 * and for each key that signs here, under the hex SHA-256 of its vkey text:
 *
 *	signers/HEX/checkpoint	the last checkpoint text that it signed
 *
 * Everything is readable with stock tools, written whole and durably, and
 * shared by all clones of a log (store-layout.md N5 to N7, S7).
 */
#ifndef KS_STORE_STATE_H
#define KS_STORE_STATE_H

#include "format/trust.h"
#include "store/lock.h"
#include "store/watch.h"

struct ks_state;

/* `directory` need not exist: it is made when something is first written. NULL
 * or "": nothing is pinned or remembered, and writing is KS_IO. */
enum ks_status ks_state_new(struct ks_state **out, const char *directory,
	struct ks_error *err) KS_CHECKED;
void ks_state_free(struct ks_state *state);

/* Whether there is a pin for this origin; when so, *policy is set to its text
 * (appended). KS_IO when it cannot be read. */
enum ks_status ks_state_pin_read(struct ks_state *state,
	struct ks_span origin, struct ks_buf *policy, bool *found,
	struct ks_error *err) KS_CHECKED;

/* Pin what `policy`, a tlog-policy, trusts for this origin. KS_EXISTS when
 * another pin is there. */
enum ks_status ks_state_pin_write(struct ks_state *state,
	struct ks_span origin, struct ks_span policy, struct ks_error *err)
	KS_CHECKED;

/* The note accepted last for this origin, appended; found as above. */
enum ks_status ks_state_accepted(struct ks_state *state,
	struct ks_span origin, struct ks_buf *note, bool *found,
	struct ks_error *err) KS_CHECKED;

/* Remember a note that was accepted, unless one of a larger size, accepted
 * meanwhile, is there. */
enum ks_status ks_state_accept(struct ks_state *state, struct ks_span origin,
	uint64_t size, struct ks_span note, struct ks_error *err) KS_CHECKED;

/* Keep evidence of a fork: `text` under a name made of origin, size and root.
 * *path is where (appended). */
enum ks_status ks_state_keep_fork(struct ks_state *state,
	struct ks_span origin, uint64_t size, const struct ks_id *root,
	struct ks_span text, struct ks_buf *path, struct ks_error *err)
	KS_CHECKED;

/* Whether this key has signed a log here: only its name and place tell, and
 * nothing is read. */
enum ks_status ks_state_has_signed(struct ks_state *state,
	const struct ks_vkey *vkey, bool *signed_, struct ks_error *err)
	KS_CHECKED;

/* The memory of one signing key, locked: two signers with one key never sign
 * side by side. */
struct ks_signer_memory {
	struct ks_lock lock;
	struct ks_buf directory;	/* with a trailing '/' */
	struct ks_buf text;		/* of the last checkpoint; empty = it
					 * never signed here */
};

#define KS_SIGNER_MEMORY_INIT { .lock = KS_LOCK_INIT }

/* Take the lock (KS_BUSY after wait_ms) and read. KS_CORRUPT when the file is
 * not a checkpoint's text. */
enum ks_status ks_state_signer_begin(struct ks_state *state,
	const struct ks_vkey *vkey, int wait_ms, const struct ks_watch *watch,
	struct ks_signer_memory *memory, struct ks_error *err) KS_CHECKED;
/* Record, durably, what is about to be signed. */
enum ks_status ks_state_signer_record(struct ks_signer_memory *memory,
	struct ks_span text, struct ks_error *err) KS_CHECKED;
void ks_state_signer_end(struct ks_signer_memory *memory);

#endif
