/*
 * Everything that one put has gathered: each digest once, and the facts about
 * it, before anything is looked up in the log.
 *
 * Bodies and notes lie in a spool, so that a million records need little
 * memory: about 200 bytes each here.
 */
#ifndef KS_STORE_COLLECTION_H
#define KS_STORE_COLLECTION_H

#include "base/idmap.h"
#include "base/spool.h"
#include "store/gather.h"

#define KS_NO_ITEM UINT32_MAX

/* Bytes in the spool; len 0 = none. */
struct ks_kept {
	uint64_t place;
	uint32_t len;
};

/* What a catalogue row, or --provenance, says of an item; most manifests of a
 * large put have none. */
struct ks_item_row {
	struct ks_intake_id id, project, source;
	struct ks_kept provenance;
	struct ks_kept overlay;		/* from --provenance */
	struct ks_id replaces;		/* the older digest of its id */
	bool from_row;		/* a row has spoken of it, or a dossier */
	bool partial;		/* only a dossier has */
	bool replacing;		/* `replaces` is set */
};

/* A digest that the input holds or refers to. The digest stands first: it is
 * the key of the map. */
struct ks_item {
	struct ks_id digest;
	struct ks_kept body, metadata;
	const struct ks_kind *kind;	/* NULL when not known */
	uint32_t kind_text;		/* number of its full text */
	uint32_t first_reference, reference_count;
	uint32_t name, line;		/* where it was first met */
	uint32_t row;		/* in `rows`, counted from 1; 0 = none */
	bool present;		/* it was given (else: only named) */
	bool listed;		/* it has a place in the input order */
	bool composed;		/* its turn has come */
	bool is_new;		/* it was not in the store */
};

/* What became of an item: all that is kept while the commit is written. */
struct ks_outcome {
	struct ks_id digest;
	uint32_t kind_text;
	bool is_new;
};

/* Kinds are kept as ks_kind_index() + 1, 0 = none: there are as many
 * references as records, and more. */
struct ks_item_reference {
	uint32_t target;	/* item number */
	uint8_t expected[2];
};

/* Facts that become lines after the publishes, in input order. */
enum ks_fact_kind {
	KS_FACT_RETRACT,	/* reason, retracted_at */
	KS_FACT_SUPERSEDE,	/* the row with `id` is replaced by item */
	KS_FACT_REPLACE		/* a Source or Artifact row of a known id */
};

struct ks_fact {
	enum ks_fact_kind kind;
	uint32_t item;
	uint8_t id[16];
	struct ks_kept reason, retracted_at;
};

struct ks_alias {
	uint8_t operation[16];
	struct ks_kept text;	/* a JSON string */
	uint32_t name, line;	/* where it was met */
};

/* Which item has a publisher's id; the newest where several do. */
struct ks_item_id {
	uint8_t id[16];
	uint32_t item;
};

struct ks_collection {
	struct ks_spool *spool;
	struct ks_item *items;
	size_t item_room;
	struct ks_idmap by_digest;
	struct ks_item_row *rows;
	size_t row_count, row_room;
	struct ks_item_id *ids;
	size_t id_room;
	struct ks_idmap by_id;
	struct ks_item_reference *references;
	size_t reference_count, reference_room;
	uint32_t *order;	/* items in input order, each once */
	size_t order_count, order_room;
	struct ks_outcome *outcomes;	/* in input order, once it is closed */
	struct ks_fact *facts;
	size_t fact_count, fact_room;
	struct ks_alias *aliases;
	size_t alias_count, alias_room;
	struct ks_buf kind_texts;	/* each ended by NUL */
	struct ks_buf names;		/* of files, each ended by NUL */
	uint32_t last_name, last_kind_text;
	uint64_t other_metadata;	/* repeated with other metadata */
	uint32_t source;	/* item of --source, or KS_NO_ITEM */
	struct ks_buf scratch;
};

/* `directory` is where the spool may make its file. */
enum ks_status ks_collection_init(struct ks_collection *all,
	const char *directory, struct ks_error *err) KS_CHECKED;
void ks_collection_release(struct ks_collection *all);

/* Sinks for ks_gather(): `arg` is the collection. */
enum ks_status ks_collection_manifest(void *arg,
	const struct ks_gathered *manifest, struct ks_error *err);
enum ks_status ks_collection_alias(void *arg, const struct ks_place *place,
	const uint8_t operation[16], struct ks_span alias,
	struct ks_error *err);

/* Take in a manifest without giving it a place in the input order: it is
 * published only when something refers to it. *number is its item. */
enum ks_status ks_collection_aside(struct ks_collection *all,
	const struct ks_gathered *manifest, uint32_t *number,
	struct ks_error *err) KS_CHECKED;

/* Note what --provenance says of a digest. */
enum ks_status ks_collection_overlay(struct ks_collection *all,
	const struct ks_id *digest, struct ks_span provenance,
	struct ks_error *err) KS_CHECKED;

/* After the last input: sort the aliases. */
enum ks_status ks_collection_close(struct ks_collection *all,
	struct ks_error *err) KS_CHECKED;

/* Append the aliases of an operation's id as a JSON array (sorted, unique);
 * nothing when it has none. */
enum ks_status ks_collection_aliases(struct ks_collection *all,
	const uint8_t id[16], struct ks_buf *out, struct ks_error *err)
	KS_CHECKED;

/* Keep what became of the items, in `outcomes` (order_count of them), and
 * forget everything else but the texts of kinds. */
enum ks_status ks_collection_settle(struct ks_collection *all,
	struct ks_error *err) KS_CHECKED;

/* What rows say of an item; all empty when none do. */
const struct ks_item_row *ks_collection_row(const struct ks_collection *all,
	const struct ks_item *item);

/* The item of a digest or id, or KS_NO_ITEM. */
uint32_t ks_collection_find(const struct ks_collection *all,
	const struct ks_id *digest);
uint32_t ks_collection_find_id(const struct ks_collection *all,
	const uint8_t id[16]);

/* Bytes that were kept: valid as ks_spool_get() says. */
enum ks_status ks_collection_get(const struct ks_collection *all,
	struct ks_kept kept, struct ks_buf *scratch, struct ks_span *out,
	struct ks_error *err) KS_CHECKED;

/* "apiVersion/kind" of an item; "FILE:LINE" where it was met, into `out`. */
const char *ks_collection_kind(const struct ks_collection *all,
	uint32_t kind_text);
void ks_collection_place(const struct ks_collection *all,
	const struct ks_item *item, struct ks_buf *out);

#endif
