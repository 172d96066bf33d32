#include "store/collection.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"

enum ks_status
ks_collection_init(struct ks_collection *all, const char *directory,
	struct ks_error *err)
{
	memset(all, 0, sizeof(*all));
	ks_idmap_init(&all->by_digest, KS_ID_BYTES, sizeof(struct ks_item));
	ks_idmap_init(&all->by_id, 16, sizeof(struct ks_item_id));
	all->last_name = all->last_kind_text = UINT32_MAX;
	all->source = KS_NO_ITEM;
	return ks_spool_new(&all->spool, directory, KS_SPOOL_MEMORY, err);
}

/* Free all but the outcomes and the texts of kinds. */
static void
forget(struct ks_collection *all)
{
	ks_spool_free(all->spool);
	ks_idmap_release(&all->by_digest);
	ks_idmap_release(&all->by_id);
	free(all->items);
	free(all->rows);
	free(all->ids);
	free(all->references);
	free(all->order);
	free(all->facts);
	free(all->aliases);
	ks_buf_release(&all->names);
	ks_buf_release(&all->scratch);
	all->spool = NULL;
	all->items = NULL;
	all->rows = NULL;
	all->ids = NULL;
	all->references = NULL;
	all->order = NULL;
	all->facts = NULL;
	all->aliases = NULL;
}

enum ks_status
ks_collection_settle(struct ks_collection *all, struct ks_error *err)
{
	size_t i;

	all->outcomes = calloc(all->order_count + 1, sizeof(*all->outcomes));
	if (all->outcomes == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < all->order_count; i++) {
		const struct ks_item *item = &all->items[all->order[i]];

		all->outcomes[i] = (struct ks_outcome){
			item->digest, item->kind_text, item->is_new
		};
	}
	forget(all);
	return KS_OK;
}

void
ks_collection_release(struct ks_collection *all)
{
	forget(all);
	free(all->outcomes);
	ks_buf_release(&all->kind_texts);
}

const struct ks_item_row *
ks_collection_row(const struct ks_collection *all, const struct ks_item *item)
{
	static const struct ks_item_row none;

	return item->row == 0 ? &none : &all->rows[item->row - 1];
}

/* The item of a digest, made when it is new. */
static enum ks_status
intern(struct ks_collection *all, const struct ks_id *digest,
	uint32_t *number, struct ks_error *err)
{
	struct ks_item *items;

	*number = ks_idmap_find(&all->by_digest, all->items, digest);
	if (*number != KS_IDMAP_NONE)
		return KS_OK;
	items = ks_grow(all->items, all->by_digest.used, &all->item_room,
		sizeof(*items), err);
	if (items == NULL)
		return KS_NOMEM;
	all->items = items;
	*number = all->by_digest.used;
	memset(&items[*number], 0, sizeof(*items));
	items[*number].digest = *digest;
	return ks_idmap_add(&all->by_digest, items) ? KS_OK :
		ks_fail_nomem(err);
}

uint32_t
ks_collection_find(const struct ks_collection *all,
	const struct ks_id *digest)
{
	return ks_idmap_find(&all->by_digest, all->items, digest);
}

uint32_t
ks_collection_find_id(const struct ks_collection *all, const uint8_t id[16])
{
	uint32_t found = ks_idmap_find(&all->by_id, all->ids, id);

	return found == KS_IDMAP_NONE ? KS_NO_ITEM : all->ids[found].item;
}

static enum ks_status
set_id(struct ks_collection *all, const uint8_t id[16], uint32_t item,
	struct ks_error *err)
{
	uint32_t found = ks_idmap_find(&all->by_id, all->ids, id);
	struct ks_item_id *ids;

	if (found != KS_IDMAP_NONE) {
		all->ids[found].item = item;
		return KS_OK;
	}
	ids = ks_grow(all->ids, all->by_id.used, &all->id_room, sizeof(*ids),
		err);
	if (ids == NULL)
		return KS_NOMEM;
	all->ids = ids;
	memcpy(ids[all->by_id.used].id, id, 16);
	ids[all->by_id.used].item = item;
	return ks_idmap_add(&all->by_id, ids) ? KS_OK : ks_fail_nomem(err);
}

static enum ks_status
keep(struct ks_collection *all, struct ks_span bytes, struct ks_kept *kept,
	struct ks_error *err)
{
	*kept = (struct ks_kept){ 0, (uint32_t)bytes.len };
	if (bytes.len == 0)
		return KS_OK;
	if (bytes.len > UINT32_MAX)
		return ks_fail(err, KS_INVALID, "longer than 4 GiB");
	return ks_spool_add(all->spool, bytes, &kept->place, err);
}

enum ks_status
ks_collection_get(const struct ks_collection *all, struct ks_kept kept,
	struct ks_buf *scratch, struct ks_span *out, struct ks_error *err)
{
	*out = ks_span(NULL, 0);
	return kept.len == 0 ? KS_OK : ks_spool_get(all->spool, kept.place,
		kept.len, scratch, out, err);
}

/* The offset of `text` among texts of which the last one used is likely to be
 * wanted again. */
static uint32_t
intern_text(struct ks_buf *texts, uint32_t *last, struct ks_span text)
{
	uint32_t at;

	if (*last != UINT32_MAX && ks_span_is(text,
		(const char *)texts->data + *last))
		return *last;
	for (at = 0; at < texts->len; at += (uint32_t)strlen(
		(const char *)texts->data + at) + 1)
		if (ks_span_is(text, (const char *)texts->data + at))
			break;
	if (at >= texts->len) {
		at = (uint32_t)texts->len;
		ks_buf_append(texts, text);
		ks_buf_byte(texts, 0);
	}
	*last = texts->failed ? UINT32_MAX : at;
	return at;
}

const char *
ks_collection_kind(const struct ks_collection *all, uint32_t kind_text)
{
	return (const char *)all->kind_texts.data + kind_text;
}

void
ks_collection_place(const struct ks_collection *all,
	const struct ks_item *item, struct ks_buf *out)
{
	char shown[256];

	if (!item->present)
		return;
	ks_buf_text(out, ks_printable(shown, sizeof(shown), ks_span_text(
		(const char *)all->names.data + item->name)));
	if (item->line > 0)
		ks_buf_printf(out, ":%lu", (unsigned long)item->line);
}

/* ---- taking in --------------------------------------------------------- */

static uint8_t
kind_number(const struct ks_kind *kind)
{
	return kind == NULL ? 0 : (uint8_t)(ks_kind_index(kind) + 1);
}

static enum ks_status
add_references(struct ks_collection *all, uint32_t number,
	const struct ks_gathered *manifest, struct ks_error *err)
{
	size_t i;
	size_t first = all->reference_count;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < manifest->reference_count; i++) {
		const struct ks_gathered_reference *from =
			&manifest->references[i];
		struct ks_item_reference *grown = ks_grow(all->references,
			all->reference_count, &all->reference_room,
			sizeof(*grown), err);

		if (grown == NULL)
			return KS_NOMEM;
		all->references = grown;
		grown += all->reference_count++;
		grown->expected[0] = kind_number(from->expected[0]);
		grown->expected[1] = kind_number(from->expected[1]);
		status = intern(all, &from->target, &grown->target, err);
	}
	all->items[number].first_reference = (uint32_t)first;
	all->items[number].reference_count =
		(uint32_t)(all->reference_count - first);
	return status;
}

/* Whether a row speaks of the manifest, and not of retraction only. */
static bool
is_from_row(const struct ks_gathered *manifest)
{
	return manifest->provenance.len > 0 || manifest->id.present ||
		manifest->project.present || manifest->source.present;
}

/* The row of an item, made when it has none; NULL when memory is short. */
static struct ks_item_row *
need_row(struct ks_collection *all, struct ks_item *item)
{
	struct ks_item_row *grown;

	if (item->row == 0) {
		grown = ks_grow(all->rows, all->row_count, &all->row_room,
			sizeof(*grown), NULL);
		if (grown == NULL)
			return NULL;
		all->rows = grown;
		memset(&grown[all->row_count], 0, sizeof(*grown));
		item->row = (uint32_t)++all->row_count;
	}
	return &all->rows[item->row - 1];
}

/* The first row that speaks of a manifest says where it is from, or where
 * there is none the first dossier (store-layout.md C10, P22). */
static enum ks_status
take_row(struct ks_collection *all, struct ks_item *item,
	const struct ks_gathered *manifest, struct ks_error *err)
{
	struct ks_item_row *row;

	if (!is_from_row(manifest) || (ks_collection_row(all, item)->from_row &&
		(manifest->partial || !ks_collection_row(all, item)->partial)))
		return KS_OK;
	row = need_row(all, item);
	if (row == NULL)
		return ks_fail_nomem(err);
	row->from_row = true;
	row->partial = manifest->partial;
	row->id = manifest->id;
	row->project = manifest->project;
	row->source = manifest->source;
	return keep(all, manifest->provenance, &row->provenance, err);
}

/* The first occurrence of a manifest: its body and notes. */
static enum ks_status
add_first(struct ks_collection *all, uint32_t number,
	const struct ks_gathered *manifest, struct ks_error *err)
{
	struct ks_item *item = &all->items[number];
	enum ks_status status = keep(all, manifest->body, &item->body, err);

	if (status == KS_OK)
		status = keep(all, manifest->metadata, &item->metadata, err);
	if (status == KS_OK)
		status = take_row(all, item, manifest, err);
	item->present = true;
	item->kind = manifest->kind;
	item->kind_text = intern_text(&all->kind_texts, &all->last_kind_text,
		manifest->full_kind);
	item->name = intern_text(&all->names, &all->last_name,
		ks_span_text(manifest->place.name));
	item->line = (uint32_t)manifest->place.line;
	if (status == KS_OK)
		status = ks_buf_check(&all->kind_texts, err);
	if (status == KS_OK)
		status = ks_buf_check(&all->names, err);
	return status != KS_OK ? status :
		add_references(all, number, manifest, err);
}

/* Another occurrence: its metadata may differ, its row may say more. */
static enum ks_status
add_again(struct ks_collection *all, uint32_t number,
	const struct ks_gathered *manifest, struct ks_error *err)
{
	struct ks_item *item = &all->items[number];
	struct ks_span first;
	enum ks_status status = ks_collection_get(all, item->metadata,
		&all->scratch, &first, err);

	if (status != KS_OK)
		return status;
	if (!ks_span_equal(first, manifest->metadata))
		all->other_metadata++;
	/* A manifest may come first from a bundle and then from its row. */
	return take_row(all, item, manifest, err);
}

static enum ks_status
add_fact(struct ks_collection *all, const struct ks_fact *fact,
	struct ks_error *err)
{
	struct ks_fact *grown = ks_grow(all->facts, all->fact_count,
		&all->fact_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	all->facts = grown;
	grown[all->fact_count++] = *fact;
	return KS_OK;
}

static enum ks_status
add_facts(struct ks_collection *all, uint32_t number,
	const struct ks_gathered *manifest, struct ks_error *err)
{
	struct ks_fact fact = { .item = number };
	enum ks_status status = KS_OK;

	if (manifest->reason.len > 0) {
		fact.kind = KS_FACT_RETRACT;
		status = keep(all, manifest->reason, &fact.reason, err);
		if (status == KS_OK)
			status = keep(all, manifest->retracted_at,
				&fact.retracted_at, err);
		if (status == KS_OK)
			status = add_fact(all, &fact, err);
	}
	if (status == KS_OK && manifest->supersedes.present) {
		fact.kind = KS_FACT_SUPERSEDE;
		memcpy(fact.id, manifest->supersedes.bytes, 16);
		status = add_fact(all, &fact, err);
	}
	if (status == KS_OK && manifest->id.present &&
		manifest->kind != NULL &&
		ks_kind_is_mutable_row(manifest->kind)) {
		fact.kind = KS_FACT_REPLACE;
		status = add_fact(all, &fact, err);
	}
	if (status == KS_OK && manifest->id.present)
		status = set_id(all, manifest->id.bytes, number, err);
	return status;
}

enum ks_status
ks_collection_aside(struct ks_collection *all,
	const struct ks_gathered *manifest, uint32_t *number,
	struct ks_error *err)
{
	enum ks_status status = intern(all, &manifest->digest, number, err);

	if (status != KS_OK || all->items[*number].present)
		return status;
	return add_first(all, *number, manifest, err);
}

enum ks_status
ks_collection_manifest(void *arg, const struct ks_gathered *manifest,
	struct ks_error *err)
{
	struct ks_collection *all = arg;
	uint32_t number;
	uint32_t *order;
	enum ks_status status = intern(all, &manifest->digest, &number, err);

	if (status != KS_OK)
		return status;
	if (all->items[number].listed) {
		status = add_again(all, number, manifest, err);
	} else {
		status = add_first(all, number, manifest, err);
		order = ks_grow(all->order, all->order_count,
			&all->order_room, sizeof(*order), err);
		if (order == NULL)
			return KS_NOMEM;
		all->order = order;
		order[all->order_count++] = number;
		all->items[number].listed = true;
	}
	return status != KS_OK ? status :
		add_facts(all, number, manifest, err);
}

enum ks_status
ks_collection_alias(void *arg, const struct ks_place *place,
	const uint8_t operation[16], struct ks_span alias,
	struct ks_error *err)
{
	struct ks_collection *all = arg;
	struct ks_alias *grown = ks_grow(all->aliases, all->alias_count,
		&all->alias_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	all->aliases = grown;
	grown += all->alias_count++;
	memcpy(grown->operation, operation, sizeof(grown->operation));
	grown->name = intern_text(&all->names, &all->last_name,
		ks_span_text(place->name));
	grown->line = (uint32_t)place->line;
	if (ks_buf_check(&all->names, err) != KS_OK)
		return KS_NOMEM;
	return keep(all, alias, &grown->text, err);
}

enum ks_status
ks_collection_overlay(struct ks_collection *all, const struct ks_id *digest,
	struct ks_span provenance, struct ks_error *err)
{
	uint32_t number;
	struct ks_item_row *row;
	enum ks_status status = intern(all, digest, &number, err);

	if (status != KS_OK)
		return status;
	row = need_row(all, &all->items[number]);
	return row == NULL ? ks_fail_nomem(err) :
		keep(all, provenance, &row->overlay, err);
}

/* ---- aliases ----------------------------------------------------------- */

static int
by_operation(const void *a, const void *b)
{
	const struct ks_alias *x = a;
	const struct ks_alias *y = b;

	return memcmp(x->operation, y->operation, sizeof(x->operation));
}

enum ks_status
ks_collection_close(struct ks_collection *all, struct ks_error *err)
{
	(void)err;
	if (all->alias_count > 1)
		qsort(all->aliases, all->alias_count, sizeof(*all->aliases),
			by_operation);
	return KS_OK;
}

/* The first alias of an operation, or alias_count. */
static size_t
first_alias(const struct ks_collection *all, const uint8_t id[16])
{
	size_t low = 0, high = all->alias_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(all->aliases[middle].operation, id, 16) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int
by_bytes(const void *a, const void *b)
{
	return ks_span_compare(*(const struct ks_span *)a,
		*(const struct ks_span *)b);
}

/* Append the unescaped texts as strings, sorted, each once. */
static void
print_sorted(struct ks_span *texts, size_t count, struct ks_buf *out)
{
	size_t i;

	qsort(texts, count, sizeof(*texts), by_bytes);
	ks_buf_byte(out, '[');
	for (i = 0; i < count; i++) {
		if (i > 0 && ks_span_equal(texts[i], texts[i - 1]))
			continue;
		if (i > 0)
			ks_buf_byte(out, ',');
		ks_json_quote(out, texts[i]);
	}
	ks_buf_byte(out, ']');
}

enum ks_status
ks_collection_aliases(struct ks_collection *all, const uint8_t id[16],
	struct ks_buf *out, struct ks_error *err)
{
	size_t first = first_alias(all, id);
	size_t count = 0, i, at = 0;
	struct ks_buf plain = KS_BUF_INIT;
	struct ks_span *texts;
	size_t *ends;
	enum ks_status status = KS_OK;

	while (first + count < all->alias_count && memcmp(
		all->aliases[first + count].operation, id, 16) == 0)
		count++;
	if (count == 0)
		return KS_OK;
	texts = calloc(count, sizeof(*texts));
	ends = calloc(count, sizeof(*ends));
	if (texts == NULL || ends == NULL)
		status = ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < count; i++) {
		struct ks_span text;

		status = ks_collection_get(all, all->aliases[first + i].text,
			&all->scratch, &text, err);
		if (status != KS_OK)
			break;
		ks_json_unescape(&plain, ks_json_raw(text));
		ends[i] = plain.len;
	}
	for (i = 0; status == KS_OK && i < count; i++) {
		texts[i] = ks_span(plain.data + at, ends[i] - at);
		at = ends[i];
	}
	if (status == KS_OK)
		status = ks_buf_check(&plain, err);
	if (status == KS_OK)
		print_sorted(texts, count, out);
	free(texts);
	free(ends);
	ks_buf_release(&plain);
	return status;
}
