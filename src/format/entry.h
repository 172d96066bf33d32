/*
 * One line of the log: its form, read and written.
 *
 * A line is one RFC 8785 object without the LF, at most KS_ENTRY_MAX bytes
 * (store-layout.md, section "log"); its bytes are the leaf of the Merkle tree.
 * A redacted line is '-' and the 64 hex digits of the former leaf hash. Only
 * the form of a single line is judged here; the rules between lines are in
 * format/replay.h.
 */
#ifndef KS_FORMAT_ENTRY_H
#define KS_FORMAT_ENTRY_H

#include "base/buf.h"
#include "format/id.h"
#include "format/jcs.h"
#include "format/provenance.h"
#include "format/time.h"
#include "format/uuid.h"

#define KS_ENTRY_MAX 65535
#define KS_SEGMENT_ENTRIES 256

enum ks_op {
	KS_OP_INIT,
	KS_OP_KEY,
	KS_OP_PUBLISH,
	KS_OP_ANNOTATE,
	KS_OP_RETRACT,
	KS_OP_SUPERSEDE,
	KS_OP_RESTORE,
	KS_OP_TAKEDOWN,
	KS_OP_EXTENSION,	/* x-…: may be ignored */
	KS_OP_REDACTED		/* '-' and a leaf hash */
};

/* "publish", …: the text of `op`; "extension" and "redacted" (static). */
const char *ks_op_name(enum ks_op op);

/* A line taken apart. Spans are canonical values inside the line ("\"text\""
 * with quotes for strings); a member that is absent has len 0. */
struct ks_entry {
	enum ks_op op;
	struct ks_span at;	/* 20 characters, without quotes */
	struct ks_id digest;	/* all but init, key, x-…, redacted */
	struct ks_id by;	/* supersede */
	struct ks_id leaf;	/* redacted: the former leaf hash */
	struct ks_span kind;	/* publish: escaped, without quotes; "raw" or
				 * apiVersion/kind */
	struct ks_span metadata;	/* an object */
	struct ks_span provenance;	/* an object */
	struct ks_provenance claims;	/* what it says */
	struct ks_span missing;		/* an array of digests */
	struct ks_span reason;		/* a string or an object */
	struct ks_span retracted_at;	/* a string */
	struct ks_span lines;		/* an array of integers */
	struct ks_span format;		/* a string */
	struct ks_span key, role, origin, next;	/* strings */
};

/* Take apart one line (without LF). KS_CORRUPT: not canonical JSON, too long,
 * a member missing, ill-typed, null or empty where it must be absent, a
 * malformed digest or time. KS_UNSUPPORTED: an op, member, role, format or
 * provenance name that is unknown and does not start with "x-" (the line
 * needs a newer kistore, whatever else is wrong with it); then only entry->at
 * is set. Of an x-… line only the form, op and at are judged and at is kept.
 * KS_NOMEM. */
enum ks_status ks_entry_parse(struct ks_jcs *jcs, struct ks_span line,
	struct ks_entry *entry, struct ks_error *err) KS_CHECKED;

/* Append the line for `entry`, without LF: members in canonical order, absent
 * ones left out; the parts are taken as they are. So a parsed line is written
 * again byte for byte, but for members that start with "x-", which are not
 * kept. KS_INVALID when it is longer than KS_ENTRY_MAX (`out` is then as
 * before), and for an x-… line. */
enum ks_status ks_entry_write(const struct ks_entry *entry,
	struct ks_buf *out, struct ks_error *err) KS_CHECKED;

/* The leaf hash of a line (without LF) as it is stored: of its bytes or, of a
 * redacted line, the one that it holds (store-layout.md L5, L21). The line
 * need not be sound. */
void ks_entry_leaf(struct ks_span line, struct ks_id *leaf);

#endif
