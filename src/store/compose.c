#include "store/compose.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"

/* References nest as kinds do: a run's workload's operation. Hashes cannot
 * form a cycle, so this only bounds the stack. */
#define DEPTH_MAX 64

/* Digests left open by one record, and its texts while a line is made. */
struct composer {
	struct ks_writing *writing;
	struct ks_collection *all;
	const struct ks_put_options *options;
	struct ks_put_result *result;
	uint32_t *annotate;	/* items to annotate, in input order */
	size_t annotate_count, annotate_room;
	bool again;		/* what is composed now was composed before:
				 * its warnings have been given */
	struct ks_buf partial, merged, metadata, provenance, reason, at;
};

/* A set of digests: the references of one record that are not published. */
struct open_set {
	struct ks_id *ids;
	size_t count, room;
};

/* ---- looking up -------------------------------------------------------- */

static uint32_t
find(struct composer *composer, const struct ks_id *digest)
{
	return ks_replay_find(composer->writing->replay, digest);
}

static const struct ks_object_state *
state_of(struct composer *composer, uint32_t object)
{
	return ks_replay_object(composer->writing->replay, object);
}

/* Put "FILE:LINE: " in front of a refusal about an item. */
static enum ks_status
refuse(struct composer *composer, const struct ks_item *item,
	struct ks_error *err)
{
	struct ks_buf place = KS_BUF_INIT;
	char text[KS_ID_TEXT + 1];

	ks_collection_place(composer->all, item, &place);
	if (place.len == 0)
		ks_buf_text(&place, ks_id_print(&item->digest, text));
	(void)ks_context(err, "%s", ks_buf_cstr(&place));
	ks_buf_release(&place);
	return KS_INVALID;
}

/* The digest that a publisher's id belongs to: in the input, then in the
 * log. */
static bool
resolve_id(struct composer *composer, const uint8_t id[16],
	struct ks_id *digest)
{
	uint32_t item = ks_collection_find_id(composer->all, id);
	uint32_t object;

	if (item != KS_NO_ITEM) {
		*digest = composer->all->items[item].digest;
		return true;
	}
	object = ks_replay_find_id(composer->writing->replay, id);
	if (object == KS_NO_OBJECT)
		return false;
	*digest = state_of(composer, object)->digest;
	return true;
}

/* An id that names nothing: refused, or with --allow-missing warned about. */
static enum ks_status
unknown_id(struct composer *composer, const struct ks_item *item,
	const char *column, const uint8_t id[16], struct ks_error *err)
{
	char text[KS_UUID_TEXT + 1];
	struct ks_buf place = KS_BUF_INIT;

	(void)ks_uuid_print(id, text);
	if (!composer->options->allow_missing) {
		(void)ks_fail(err, KS_INVALID, "%s %s is neither in the input "
			"nor in the log (--allow-missing puts the row without "
			"it)", column, text);
		return refuse(composer, item, err);
	}
	if (composer->again)
		return KS_OK;
	ks_collection_place(composer->all, item, &place);
	ks_watch_note(composer->writing->watch, "%s: %s %s is neither in the "
		"input nor in the log: left out", ks_buf_cstr(&place), column,
		text);
	composer->result->warnings++;
	ks_buf_release(&place);
	return KS_OK;
}

/* ---- provenance -------------------------------------------------------- */

/* Append ,"name":"sha256:…" to a provenance object under construction. */
static void
add_digest_member(struct ks_buf *out, const char *name,
	const struct ks_id *digest)
{
	char text[KS_ID_TEXT + 1];

	ks_buf_clear(out);
	ks_buf_printf(out, "{\"%s\":\"%s\"}", name,
		ks_id_print(digest, text));
}

/* Lay the object in `partial` over the provenance so far. */
static void
overlay(struct composer *composer, struct ks_span over)
{
	struct ks_buf swap;

	ks_buf_clear(&composer->merged);
	ks_json_merge(&composer->merged, ks_buf_span(&composer->provenance),
		over);
	swap = composer->provenance;
	composer->provenance = composer->merged;
	composer->merged = swap;
}

static enum ks_status
add_aliases(struct composer *composer, const struct ks_item *item,
	struct ks_error *err)
{
	const struct ks_item_row *row =
		ks_collection_row(composer->all, item);
	struct ks_buf *partial = &composer->partial;
	size_t before;
	enum ks_status status;

	if (!row->id.present)
		return KS_OK;
	ks_buf_clear(partial);
	ks_buf_text(partial, "{\"aliases\":");
	before = partial->len;
	status = ks_collection_aliases(composer->all, row->id.bytes, partial,
		err);
	if (status != KS_OK || partial->len == before)
		return status;
	ks_buf_byte(partial, '}');
	overlay(composer, ks_buf_span(partial));
	return KS_OK;
}

static enum ks_status
add_source(struct composer *composer, const struct ks_item *item,
	struct ks_error *err)
{
	const struct ks_item_row *row =
		ks_collection_row(composer->all, item);
	struct ks_id digest;

	if (item->kind == NULL || !ks_kind_has_source(item->kind))
		return KS_OK;
	if (composer->all->source != KS_NO_ITEM)
		digest = composer->all->items[composer->all->source].digest;
	else if (!row->source.present)
		return KS_OK;
	else if (!resolve_id(composer, row->source.bytes, &digest))
		return unknown_id(composer, item, "sourceId",
			row->source.bytes, err);
	add_digest_member(&composer->partial, "source", &digest);
	overlay(composer, ks_buf_span(&composer->partial));
	return KS_OK;
}

static enum ks_status
add_project(struct composer *composer, const struct ks_item *item,
	struct ks_error *err)
{
	const struct ks_item_row *row =
		ks_collection_row(composer->all, item);
	struct ks_id digest;

	if (item->kind == NULL || !ks_kind_has_project(item->kind) ||
		!row->project.present)
		return KS_OK;
	if (!resolve_id(composer, row->project.bytes, &digest))
		return unknown_id(composer, item, "projectId",
			row->project.bytes, err);
	add_digest_member(&composer->partial, "project", &digest);
	overlay(composer, ks_buf_span(&composer->partial));
	return KS_OK;
}

/* What the line says of where a record comes from, in composer->provenance:
 * the row's columns, aliases, source and project, then --provenance. */
static enum ks_status
compose_provenance(struct composer *composer, const struct ks_item *item,
	struct ks_error *err)
{
	const struct ks_item_row *row =
		ks_collection_row(composer->all, item);
	struct ks_span text;
	enum ks_status status = ks_collection_get(composer->all,
		row->provenance, &composer->partial, &text, err);

	ks_buf_clear(&composer->provenance);
	if (status != KS_OK)
		return status;
	ks_buf_append(&composer->provenance, text);
	status = add_aliases(composer, item, err);
	if (status == KS_OK)
		status = add_source(composer, item, err);
	if (status == KS_OK)
		status = add_project(composer, item, err);
	if (status == KS_OK)
		status = ks_collection_get(composer->all, row->overlay,
			&composer->partial, &text, err);
	if (status != KS_OK)
		return status;
	if (text.len > 0)
		overlay(composer, text);
	return ks_buf_check(&composer->provenance, err);
}

/* ---- references -------------------------------------------------------- */

static enum ks_status compose_item(struct composer *composer, uint32_t number,
	unsigned depth, struct ks_error *err);

static enum ks_status
add_open(struct open_set *open, const struct ks_id *digest,
	struct ks_error *err)
{
	struct ks_id *grown = ks_grow(open->ids, open->count, &open->room,
		sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	open->ids = grown;
	grown[open->count++] = *digest;
	return KS_OK;
}

/* See that a digest is published if the input allows it, else note it as
 * left open. */
static enum ks_status
ensure(struct composer *composer, const struct ks_id *digest,
	struct open_set *open, unsigned depth, struct ks_error *err)
{
	uint32_t item;
	enum ks_status status = KS_OK;

	if (find(composer, digest) != KS_NO_OBJECT)
		return KS_OK;
	item = ks_collection_find(composer->all, digest);
	if (item != KS_NO_ITEM && composer->all->items[item].present)
		status = compose_item(composer, item, depth + 1, err);
	if (status != KS_OK || find(composer, digest) != KS_NO_OBJECT)
		return status;
	return add_open(open, digest, err);
}

/* Finds the member path at which a body refers to a digest, for messages. */
struct path_search {
	const struct ks_id *target;
	char path[128];
};

static bool
match_path(void *arg, const struct ks_reference *reference)
{
	struct path_search *search = arg;
	size_t len = strlen(reference->path);

	if (reference->is_link ||
		!ks_id_equal(&reference->target, search->target))
		return true;
	if (len >= sizeof(search->path))
		len = sizeof(search->path) - 1;
	memcpy(search->path, reference->path, len);
	search->path[len] = '\0';
	return false;
}

static void
find_path(struct composer *composer, const struct ks_item *item,
	struct path_search *search)
{
	struct ks_span body, spec;

	search->path[0] = '\0';
	if (item->kind != NULL && ks_collection_get(composer->all, item->body,
		&composer->partial, &body, NULL) == KS_OK &&
		ks_json_find(body, "spec", &spec))
		(void)ks_kind_references(item->kind, spec, match_path, search);
}

static enum ks_status
refuse_missing(struct composer *composer, const struct ks_item *item,
	const struct ks_id *target, struct ks_error *err)
{
	struct path_search search = { .target = target };
	char text[KS_ID_TEXT + 1];

	find_path(composer, item, &search);
	(void)ks_fail(err, KS_INVALID, "%s %s is neither in the input nor in "
		"the store (put it too, or use --allow-missing)",
		search.path[0] == '\0' ? "provenance" : search.path,
		ks_id_print(target, text));
	return refuse(composer, item, err);
}

/* The kind that a published object is of, when it is a known one. */
static const struct ks_kind *
published_kind(struct composer *composer, uint32_t object,
	struct ks_span *text)
{
	*text = ks_replay_kind(composer->writing->replay,
		state_of(composer, object)->kind);
	return ks_kind_find_full(*text);
}

static const struct ks_kind *
kind_of_number(uint8_t number)
{
	return number == 0 ? NULL : ks_kind_at((size_t)number - 1);
}

static enum ks_status
check_kind(struct composer *composer, const struct ks_item *item,
	const struct ks_item_reference *reference, struct ks_error *err)
{
	struct ks_reference probe = {
		.expected = { kind_of_number(reference->expected[0]),
			kind_of_number(reference->expected[1]) }
	};
	const struct ks_item *target = &composer->all->items[reference->target];
	struct path_search search = { .target = &target->digest };
	char digest[KS_ID_TEXT + 1];
	uint32_t object = find(composer, &target->digest);
	struct ks_span found;
	const struct ks_kind *kind;

	if (object == KS_NO_OBJECT)
		return KS_OK;
	kind = published_kind(composer, object, &found);
	if (found.len == 0 || ks_reference_accepts(&probe, kind))
		return KS_OK;
	find_path(composer, item, &search);
	(void)ks_fail(err, KS_INVALID, "%s %s is a %.*s, must be a %s%s%s",
		search.path, ks_id_print(&target->digest, digest),
		(int)found.len, (const char *)found.data,
		probe.expected[0] == NULL ? "record" :
		ks_kind_name(probe.expected[0]),
		probe.expected[1] == NULL ? "" : " or ",
		probe.expected[1] == NULL ? "" :
		ks_kind_name(probe.expected[1]));
	return refuse(composer, item, err);
}

static enum ks_status
ensure_references(struct composer *composer, uint32_t number,
	struct open_set *open, unsigned depth, struct ks_error *err)
{
	const struct ks_item *item = &composer->all->items[number];
	uint32_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < item->reference_count; i++) {
		const struct ks_item_reference *reference =
			&composer->all->references[item->first_reference + i];
		struct ks_id target =
			composer->all->items[reference->target].digest;

		status = ensure(composer, &target, open, depth, err);
		if (status == KS_OK)
			status = check_kind(composer, item, reference, err);
	}
	return status;
}

/* The source and project that composer->provenance names. */
static enum ks_status
ensure_provenance(struct composer *composer, const struct ks_item *item,
	struct open_set *open, unsigned depth, struct ks_error *err)
{
	struct ks_provenance provenance;
	struct ks_span text = ks_buf_span(&composer->provenance);
	enum ks_status status = KS_OK;

	memset(&provenance, 0, sizeof(provenance));
	if (text.len > 0)
		status = ks_provenance_read(text, ks_span_text(
			ks_collection_kind(composer->all, item->kind_text)),
			&provenance,
			err);
	if (status != KS_OK && status != KS_NOMEM)
		return refuse(composer, item, err);
	if (status == KS_OK && provenance.has_source)
		status = ensure(composer, &provenance.source, open, depth,
			err);
	if (status == KS_OK && provenance.has_project)
		status = ensure(composer, &provenance.project, open, depth,
			err);
	return status;
}

/* ---- publishing -------------------------------------------------------- */

static int
by_id(const void *a, const void *b)
{
	return ks_id_compare(a, b);
}

/* Print the digests left open, sorted and unique, as the `missing` array. */
static void
print_missing(struct open_set *open, struct ks_buf *out)
{
	char text[KS_ID_TEXT + 1];
	size_t i;

	ks_buf_clear(out);
	if (open->count == 0)
		return;
	qsort(open->ids, open->count, sizeof(*open->ids), by_id);
	ks_buf_byte(out, '[');
	for (i = 0; i < open->count; i++) {
		if (i > 0 && ks_id_equal(&open->ids[i], &open->ids[i - 1]))
			continue;
		ks_buf_printf(out, "%s\"%s\"", i > 0 ? "," : "",
			ks_id_print(&open->ids[i], text));
	}
	ks_buf_byte(out, ']');
}

/* A Source or Artifact whose id belonged to another digest replaces it. */
static void
note_replaced(struct composer *composer, const struct ks_item *item)
{
	struct ks_item_row *row;
	uint32_t object;

	if (item->row == 0 || item->kind == NULL ||
		!ks_kind_is_mutable_row(item->kind))
		return;
	row = &composer->all->rows[item->row - 1];
	if (!row->id.present)
		return;
	object = ks_replay_find_id(composer->writing->replay, row->id.bytes);
	if (object == KS_NO_OBJECT)
		return;
	row->replaces = state_of(composer, object)->digest;
	row->replacing = !ks_id_equal(&row->replaces, &item->digest);
}

/* What the index does not know must not be in the tree either (store-layout.md,
 * T12): a damaged index would publish it a second time, for ever. */
static enum ks_status
check_absent(struct composer *composer, const struct ks_item *item,
	struct ks_error *err)
{
	char digest[KS_ID_TEXT + 1];

	if (!ks_store_has(composer->writing->store, &item->digest))
		return KS_OK;
	ks_index_distrust(composer->writing->index);
	return ks_fail(err, KS_CORRUPT, "%s is in the tree, but not in the log "
		"or not in the index of it, which is built anew (try again; "
		"kistore verify tells if the store is damaged)",
		ks_id_print(&item->digest, digest));
}

static enum ks_status
write_publish(struct composer *composer, struct ks_item *item,
	struct ks_span missing, struct ks_error *err)
{
	struct ks_entry entry = {
		.op = KS_OP_PUBLISH,
		.digest = item->digest,
		.kind = ks_span_text(ks_collection_kind(composer->all,
			item->kind_text)),
		.missing = missing,
		.provenance = ks_buf_span(&composer->provenance)
	};
	uint32_t object;
	enum ks_status status = check_absent(composer, item, err);

	if (status == KS_OK)
		status = ks_collection_get(composer->all, item->metadata,
			&composer->metadata, &entry.metadata, err);
	note_replaced(composer, item);
	if (status == KS_OK)
		status = ks_writing_line(composer->writing, &entry, &object,
			err);
	if (status == KS_INVALID)
		return refuse(composer, item, err);
	item->is_new = true;
	composer->result->added++;
	return status;
}

static enum ks_status
publish(struct composer *composer, uint32_t number, unsigned depth,
	struct ks_error *err)
{
	struct ks_item *item = &composer->all->items[number];
	struct open_set open = { 0 };
	struct ks_buf missing = KS_BUF_INIT;
	enum ks_status status = ensure_references(composer, number, &open,
		depth, err);

	if (status == KS_OK)
		status = compose_provenance(composer, item, err);
	if (status == KS_OK)
		status = ensure_provenance(composer, item, &open, depth, err);
	/* Publishing a source or project used the same buffer. */
	composer->again = true;
	if (status == KS_OK)
		status = compose_provenance(composer, item, err);
	composer->again = false;
	if (status == KS_OK && open.count > 0 &&
		!composer->options->allow_missing)
		status = refuse_missing(composer, item, &open.ids[0], err);
	if (status == KS_OK) {
		composer->result->missing += open.count;
		print_missing(&open, &missing);
		status = ks_buf_check(&missing, err);
	}
	if (status == KS_OK)
		status = write_publish(composer, item, ks_buf_span(&missing),
			err);
	free(open.ids);
	ks_buf_release(&missing);
	return status;
}

/* ---- known objects ----------------------------------------------------- */

static enum ks_status
want_annotate(struct composer *composer, uint32_t number,
	struct ks_error *err)
{
	uint32_t *grown = ks_grow(composer->annotate,
		composer->annotate_count, &composer->annotate_room,
		sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	composer->annotate = grown;
	grown[composer->annotate_count++] = number;
	return KS_OK;
}

/* What differs between an item and what the log says of its object. */
struct difference {
	bool metadata, provenance;
};

/* A row says everything about where its record comes from; a dossier, --source
 * and --provenance say something, which is laid over what stands (P14). */
static enum ks_status
lay_over_standing(struct composer *composer, const struct ks_item *item,
	const struct ks_index_row *standing, struct ks_error *err)
{
	const struct ks_item_row *row =
		ks_collection_row(composer->all, item);
	enum ks_status status;

	if ((row->provenance.len > 0 && !row->partial) ||
		composer->provenance.len == 0)
		return KS_OK;
	ks_buf_clear(&composer->partial);
	ks_buf_append(&composer->partial, ks_buf_span(&composer->provenance));
	ks_buf_clear(&composer->provenance);
	status = ks_store_notes(composer->writing->store, standing, NULL,
		&composer->provenance, err);
	overlay(composer, ks_buf_span(&composer->partial));
	return status;
}

/* Compare; composer->provenance holds the item's afterwards. An input that
 * says nothing about metadata or provenance does not differ. */
static enum ks_status
compare(struct composer *composer, const struct ks_item *item,
	struct difference *differs, struct ks_error *err)
{
	struct ks_index_row row;
	struct ks_span metadata, provenance;
	enum ks_status status = compose_provenance(composer, item, err);

	memset(differs, 0, sizeof(*differs));
	if (status == KS_OK)
		status = ks_collection_get(composer->all, item->metadata,
			&composer->metadata, &metadata, err);
	if (status != KS_OK || !ks_index_object(composer->writing->index,
		&item->digest, &row))
		return status;
	status = lay_over_standing(composer, item, &row, err);
	if (status != KS_OK)
		return status;
	provenance = ks_buf_span(&composer->provenance);
	differs->metadata = metadata.len > 0 &&
		ks_index_hash(metadata) != row.metadata_hash;
	differs->provenance = provenance.len > 0 &&
		ks_index_hash(provenance) != row.provenance_hash;
	return KS_OK;
}

static enum ks_status
meet_known(struct composer *composer, uint32_t number, uint32_t object,
	struct ks_error *err)
{
	struct ks_item *item = &composer->all->items[number];
	struct difference differs;
	struct open_set open = { 0 };
	enum ks_status status;

	if (state_of(composer, object)->taken_down) {
		composer->result->skipped_taken_down++;
		return KS_OK;
	}
	composer->result->known++;
	status = compare(composer, item, &differs, err);
	if (status != KS_OK)
		return status;
	composer->result->other_metadata += differs.metadata ? 1 : 0;
	composer->result->other_provenance += differs.provenance ? 1 : 0;
	if ((!differs.metadata && !differs.provenance) ||
		!composer->options->annotate)
		return KS_OK;
	/* What the annotate will name must stand before it. */
	status = ensure_provenance(composer, item, &open, 0, err);
	free(open.ids);
	return status != KS_OK ? status :
		want_annotate(composer, number, err);
}

static enum ks_status
compose_item(struct composer *composer, uint32_t number, unsigned depth,
	struct ks_error *err)
{
	struct ks_item *item = &composer->all->items[number];
	uint32_t object;

	if (item->composed)
		return KS_OK;
	if (depth > DEPTH_MAX)
		return ks_fail(err, KS_INVALID,
			"references nest deeper than %d", DEPTH_MAX);
	item->composed = true;
	object = find(composer, &item->digest);
	if (object != KS_NO_OBJECT)
		return meet_known(composer, number, object, err);
	return publish(composer, number, depth, err);
}

static enum ks_status
compose_all(struct composer *composer, struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < composer->all->order_count; i++) {
		status = compose_item(composer, composer->all->order[i], 0,
			err);
		if (status == KS_OK && i % 1024 == 0) {
			ks_watch_progress(composer->writing->watch,
				"composing", i, composer->all->order_count);
			status = ks_watch_check(composer->writing->watch, err);
		}
	}
	return status;
}

/* ---- annotates, retracts, supersedes ----------------------------------- */

static enum ks_status
write_annotate(struct composer *composer, const struct ks_item *item,
	struct ks_error *err)
{
	struct ks_entry entry = {
		.op = KS_OP_ANNOTATE, .digest = item->digest
	};
	struct open_set open = { 0 };
	struct difference differs;
	uint32_t object;
	enum ks_status status = compare(composer, item, &differs, err);

	if (status == KS_OK)
		status = ensure_provenance(composer, item, &open, 0, err);
	if (status == KS_OK && open.count > 0)
		status = refuse_missing(composer, item, &open.ids[0], err);
	free(open.ids);
	if (status == KS_OK && differs.metadata)
		status = ks_collection_get(composer->all, item->metadata,
			&composer->metadata, &entry.metadata, err);
	if (status != KS_OK)
		return status;
	if (differs.provenance)
		entry.provenance = ks_buf_span(&composer->provenance);
	status = ks_writing_line(composer->writing, &entry, &object, err);
	composer->result->annotated++;
	return status == KS_INVALID ? refuse(composer, item, err) : status;
}

static enum ks_status
write_annotates(struct composer *composer, struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	composer->again = true;
	for (i = 0; status == KS_OK && i < composer->annotate_count; i++)
		status = write_annotate(composer,
			&composer->all->items[composer->annotate[i]], err);
	composer->again = false;
	return status;
}

static enum ks_status
write_retract(struct composer *composer, const struct ks_fact *fact,
	struct ks_error *err)
{
	const struct ks_item *item = &composer->all->items[fact->item];
	uint32_t object = find(composer, &item->digest);
	struct ks_entry entry = {
		.op = KS_OP_RETRACT, .digest = item->digest
	};
	enum ks_status status;

	if (object == KS_NO_OBJECT ||
		state_of(composer, object)->was_retracted ||
		state_of(composer, object)->taken_down)
		return KS_OK;
	status = ks_collection_get(composer->all, fact->reason,
		&composer->reason, &entry.reason, err);
	if (status == KS_OK)
		status = ks_collection_get(composer->all, fact->retracted_at,
			&composer->at, &entry.retracted_at, err);
	if (status == KS_OK)
		status = ks_writing_line(composer->writing, &entry, &object,
			err);
	composer->result->retracted++;
	return status == KS_INVALID ? refuse(composer, item, err) : status;
}

static enum ks_status
write_supersede(struct composer *composer, const struct ks_item *by,
	const struct ks_id *old, struct ks_error *err)
{
	uint32_t object = find(composer, old);
	uint32_t newer = find(composer, &by->digest);
	struct ks_entry entry = {
		.op = KS_OP_SUPERSEDE, .digest = *old, .by = by->digest
	};
	enum ks_status status;

	if (object == KS_NO_OBJECT || newer == KS_NO_OBJECT ||
		object == newer ||
		state_of(composer, object)->was_superseded ||
		state_of(composer, object)->taken_down ||
		state_of(composer, newer)->taken_down)
		return KS_OK;
	status = ks_writing_line(composer->writing, &entry, &object, err);
	composer->result->superseded++;
	return status == KS_INVALID ? refuse(composer, by, err) : status;
}

static enum ks_status
supersede_by_row(struct composer *composer, const struct ks_fact *fact,
	struct ks_error *err)
{
	const struct ks_item *item = &composer->all->items[fact->item];
	struct ks_id old;

	if (!resolve_id(composer, fact->id, &old))
		return unknown_id(composer, item, "supersedesId", fact->id,
			err);
	return write_supersede(composer, item, &old, err);
}

static enum ks_status
write_facts(struct composer *composer, bool retracts, struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < composer->all->fact_count; i++) {
		const struct ks_fact *fact = &composer->all->facts[i];
		const struct ks_item *item =
			&composer->all->items[fact->item];
		const struct ks_item_row *row =
			ks_collection_row(composer->all, item);

		if ((fact->kind == KS_FACT_RETRACT) != retracts)
			continue;
		switch (fact->kind) {
		case KS_FACT_RETRACT:
			status = write_retract(composer, fact, err);
			break;
		case KS_FACT_SUPERSEDE:
			status = supersede_by_row(composer, fact, err);
			break;
		case KS_FACT_REPLACE:
			if (row->replacing)
				status = write_supersede(composer, item,
					&row->replaces, err);
			break;
		}
	}
	return status;
}

/* ---- all of it --------------------------------------------------------- */

/* Aliases name their operation by an id that must be known, as all ids
 * (store-layout.md, C6). They are sorted by it. */
static enum ks_status
check_aliases(struct composer *composer, struct ks_error *err)
{
	const struct ks_alias *aliases = composer->all->aliases;
	struct ks_id digest;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < composer->all->alias_count; i++) {
		/* What has a place, but is no manifest. */
		struct ks_item row = { .present = true,
			.name = aliases[i].name, .line = aliases[i].line };

		if (i > 0 && memcmp(aliases[i].operation,
			aliases[i - 1].operation, 16) == 0)
			continue;
		if (!resolve_id(composer, aliases[i].operation, &digest))
			status = unknown_id(composer, &row, "operationId",
				aliases[i].operation, err);
	}
	return status;
}

/* A put of nothing but what was taken down is refused; among others it is
 * skipped. */
static enum ks_status
check_taken_down(const struct composer *composer, struct ks_error *err)
{
	if (composer->result->skipped_taken_down == 0 ||
		composer->result->added + composer->result->known > 0)
		return KS_OK;
	return ks_fail(err, KS_INVALID,
		"it was taken down, and what was taken down is not put again");
}

enum ks_status
ks_compose(struct ks_writing *writing, struct ks_collection *all,
	const struct ks_put_options *options, struct ks_put_result *result,
	struct ks_error *err)
{
	struct composer composer = {
		.writing = writing,
		.all = all,
		.options = options,
		.result = result
	};
	enum ks_status status = compose_all(&composer, err);

	if (status == KS_OK)
		status = check_aliases(&composer, err);
	if (status == KS_OK)
		status = check_taken_down(&composer, err);
	if (status == KS_OK)
		status = write_annotates(&composer, err);
	if (status == KS_OK)
		status = write_facts(&composer, true, err);
	if (status == KS_OK)
		status = write_facts(&composer, false, err);
	if (status == KS_OK)
		status = ks_replay_check(writing->replay, err);
	free(composer.annotate);
	ks_buf_release(&composer.partial);
	ks_buf_release(&composer.merged);
	ks_buf_release(&composer.metadata);
	ks_buf_release(&composer.provenance);
	ks_buf_release(&composer.reason);
	ks_buf_release(&composer.at);
	return status;
}
