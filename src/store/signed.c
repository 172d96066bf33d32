#include "store/signed.h"

#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"

void
ks_signed_release(struct ks_signed *signed_)
{
	ks_checkpoints_release(&signed_->notes);
	free(signed_->keys);
	free(signed_->takedowns);
	free(signed_->redacted);
	free(signed_->listings);
	free(signed_->marks);
	free(signed_->spans);
	memset(signed_, 0, sizeof(*signed_));
}

/* ---- roots ----------------------------------------------------------- */

enum ks_status
ks_signed_mark(struct ks_signed *signed_, uint64_t size, struct ks_error *err)
{
	struct ks_signed_mark *grown = ks_grow(signed_->marks,
		signed_->mark_count, &signed_->mark_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	signed_->marks = grown;
	grown[signed_->mark_count++] = (struct ks_signed_mark){ .size = size };
	return KS_OK;
}

enum ks_status
ks_signed_read(struct ks_signed *signed_, struct ks_gitdb *db,
	const struct ks_oid *tree, ks_checkpoint_fault_fn *fault, void *arg,
	struct ks_error *err)
{
	enum ks_status status;
	size_t i;

	memset(signed_, 0, sizeof(*signed_));
	status = ks_checkpoints_read(db, tree, fault, arg, &signed_->notes,
		err);
	for (i = 0; status == KS_OK && i < signed_->notes.count; i++)
		status = ks_signed_mark(signed_, signed_->notes.list[i].size,
			err);
	return status;
}

static int
by_size(const void *a, const void *b)
{
	uint64_t x = ((const struct ks_signed_mark *)a)->size;
	uint64_t y = ((const struct ks_signed_mark *)b)->size;

	return (x > y) - (x < y);
}

/* Fill in the marks that stand where the tree is now. */
static void
reach(struct ks_signed *signed_, const struct ks_merkle *tree)
{
	while (signed_->next_mark < signed_->mark_count &&
		signed_->marks[signed_->next_mark].size == tree->size) {
		struct ks_signed_mark *mark =
			&signed_->marks[signed_->next_mark++];

		ks_merkle_root(tree, &mark->root);
		mark->known = true;
	}
}

static void
sort_marks(struct ks_signed *signed_)
{
	if (signed_->mark_count > 1)
		qsort(signed_->marks, signed_->mark_count,
			sizeof(*signed_->marks), by_size);
	signed_->next_mark = 0;
}

void
ks_signed_start(struct ks_signed *signed_)
{
	static const struct ks_merkle empty;

	sort_marks(signed_);
	reach(signed_, &empty);
}

void
ks_signed_resume(struct ks_signed *signed_, uint64_t size,
	const struct ks_checkpoints *known)
{
	sort_marks(signed_);
	while (signed_->next_mark < signed_->mark_count &&
		signed_->marks[signed_->next_mark].size <= size) {
		struct ks_signed_mark *mark =
			&signed_->marks[signed_->next_mark++];
		const struct ks_stored_note *note = ks_checkpoints_find(known,
			mark->size);

		if (note == NULL)
			continue;
		mark->root = note->root;
		mark->known = true;
	}
}

bool
ks_signed_root(void *arg, uint64_t size, struct ks_id *out)
{
	const struct ks_signed *signed_ = arg;
	struct ks_signed_mark wanted = { .size = size };
	const struct ks_signed_mark *mark = signed_->mark_count == 0 ? NULL :
		bsearch(&wanted, signed_->marks, signed_->mark_count,
			sizeof(wanted), by_size);

	if (mark == NULL || !mark->known)
		return false;
	*out = mark->root;
	return true;
}

/* ---- lines ----------------------------------------------------------- */

/* L18. A vkey of a type that this program does not know cannot be one that it
 * trusts; it still takes the place of the one before. */
static enum ks_status
take_key(struct ks_signed *signed_, const struct ks_entry *entry,
	uint64_t index, struct ks_error *err)
{
	struct ks_log_key key = { .index = index };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_log_key *grown;
	enum ks_status status;

	if (!ks_span_is(entry->role, "\"log\""))
		return KS_OK;
	ks_json_unescape(&text, ks_json_raw(entry->key));
	status = ks_buf_check(&text, err);
	if (status != KS_OK)
		return status;
	if (ks_vkey_parse(ks_buf_span(&text), &key.vkey, NULL) != KS_OK)
		memset(&key.vkey, 0, sizeof(key.vkey));
	ks_buf_release(&text);
	key.has_next = entry->next.len > 2 && ks_id_parse(&key.next,
		ks_span(entry->next.data + 1, entry->next.len - 2));
	grown = ks_grow(signed_->keys, signed_->key_count, &signed_->key_room,
		sizeof(*grown), err);
	if (grown == NULL)
		return KS_NOMEM;
	signed_->keys = grown;
	grown[signed_->key_count++] = key;
	return KS_OK;
}

enum ks_status
ks_signed_earlier_key(struct ks_signed *signed_, const struct ks_entry *entry,
	uint64_t index, struct ks_error *err)
{
	return take_key(signed_, entry, index, err);
}

static enum ks_status
take_listings(struct ks_signed *signed_, const struct ks_entry *entry,
	uint64_t index, struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(entry->lines);
	struct ks_signed_listing *grown;
	struct ks_span item;
	int64_t line;

	while (entry->lines.len > 0 && ks_json_next_element(&it, &item)) {
		if (!ks_json_integer(item, &line) || line < 0)
			continue;
		grown = ks_grow(signed_->listings, signed_->listing_count,
			&signed_->listing_room, sizeof(*grown), err);
		if (grown == NULL)
			return KS_NOMEM;
		signed_->listings = grown;
		grown[signed_->listing_count++] = (struct ks_signed_listing){
			.line = (uint64_t)line, .takedown = index
		};
	}
	return KS_OK;
}

static enum ks_status
take_takedown(struct ks_signed *signed_, const struct ks_entry *entry,
	uint64_t index, struct ks_error *err)
{
	struct ks_signed_takedown *grown = ks_grow(signed_->takedowns,
		signed_->takedown_count, &signed_->takedown_room,
		sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	signed_->takedowns = grown;
	grown[signed_->takedown_count++] = (struct ks_signed_takedown){
		.digest = entry->digest, .index = index
	};
	return take_listings(signed_, entry, index, err);
}

static enum ks_status
take_redacted(struct ks_signed *signed_, uint64_t index, struct ks_error *err)
{
	uint64_t *grown = ks_grow(signed_->redacted, signed_->redacted_count,
		&signed_->redacted_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	signed_->redacted = grown;
	grown[signed_->redacted_count++] = index;
	return KS_OK;
}

enum ks_status
ks_signed_line(struct ks_signed *signed_, const struct ks_entry *entry,
	const struct ks_merkle *tree, struct ks_error *err)
{
	uint64_t index = tree->size - 1;
	enum ks_status status = KS_OK;

	if (entry != NULL && entry->op == KS_OP_KEY)
		status = take_key(signed_, entry, index, err);
	else if (entry != NULL && entry->op == KS_OP_TAKEDOWN)
		status = take_takedown(signed_, entry, index, err);
	else if (entry != NULL && entry->op == KS_OP_REDACTED)
		status = take_redacted(signed_, index, err);
	reach(signed_, tree);
	return status;
}

/* ---- answers --------------------------------------------------------- */

enum ks_status
ks_signed_subject(struct ks_signed *signed_, struct ks_span origin,
	struct ks_trust_subject *out, struct ks_error *err)
{
	size_t i, count = signed_->notes.count;

	free(signed_->spans);
	signed_->spans = calloc(count + 1, sizeof(*signed_->spans));
	if (signed_->spans == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < count; i++)
		signed_->spans[i] = ks_buf_span(&signed_->notes.list[i].bytes);
	*out = (struct ks_trust_subject){
		.origin = origin,
		.notes = signed_->spans,
		.note_count = count,
		.keys = signed_->keys,
		.key_count = signed_->key_count,
		.has_keys = true,
		.root = ks_signed_root,
		.arg = signed_
	};
	return KS_OK;
}

const struct ks_log_key *
ks_signed_key(const struct ks_signed *signed_, uint64_t size)
{
	const struct ks_log_key *found = NULL;
	size_t i;

	for (i = 0; i < signed_->key_count; i++)
		if (signed_->keys[i].index < size)
			found = &signed_->keys[i];
	return found;
}

static int
by_digest(const void *a, const void *b)
{
	const struct ks_signed_takedown *x = a;
	const struct ks_signed_takedown *y = b;
	int order = ks_id_compare(&x->digest, &y->digest);

	return order != 0 ? order : (x->index > y->index) -
		(x->index < y->index);
}

/* Then the earliest takedown first. */
static int
by_line(const void *a, const void *b)
{
	const struct ks_signed_listing *x = a;
	const struct ks_signed_listing *y = b;

	if (x->line != y->line)
		return (x->line > y->line) - (x->line < y->line);
	return (x->takedown > y->takedown) - (x->takedown < y->takedown);
}

void
ks_signed_end(struct ks_signed *signed_)
{
	if (signed_->takedown_count > 1)
		qsort(signed_->takedowns, signed_->takedown_count,
			sizeof(*signed_->takedowns), by_digest);
	if (signed_->listing_count > 1)
		qsort(signed_->listings, signed_->listing_count,
			sizeof(*signed_->listings), by_line);
}

bool
ks_signed_is_unsigned_redaction(const struct ks_signed *signed_,
	uint64_t index, uint64_t size)
{
	size_t low = 0, high = signed_->listing_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (signed_->listings[middle].line < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low < signed_->listing_count &&
		signed_->listings[low].line == index &&
		signed_->listings[low].takedown >= size;
}

bool
ks_signed_took_down(const struct ks_signed *signed_,
	const struct ks_id *digest, uint64_t size)
{
	size_t low = 0, high = signed_->takedown_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ks_id_compare(&signed_->takedowns[middle].digest,
			digest) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < signed_->takedown_count &&
		ks_id_equal(&signed_->takedowns[low].digest, digest) &&
		signed_->takedowns[low].index < size;
}
