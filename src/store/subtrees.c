#include "store/subtrees.h"

#include <stdlib.h>

#include "base/file.h"
#include "store/log.h"

#define LEVEL 8		/* of a full segment */
#define TEXT_LENGTH (sizeof(KS_SUBTREES_TEXT) - 1)
#define FILE_LIMIT (TEXT_LENGTH + ((uint64_t)KS_REPLAY_ENTRIES + 1) / \
	KS_SEGMENT_ENTRIES * KS_ID_BYTES)

/* Segments whose leaves are at hand: that of the entry and the last one; a
 * consistency proof may want two ends. */
#define KEPT 3

struct kept {
	uint64_t number;
	struct ks_subtrees *leaves;	/* NULL = free */
};

struct source {
	struct ks_store *store;
	struct ks_buf path;
	struct ks_buf file;	/* as it is, or is to be */
	bool from_file;		/* some of its hashes were read */
	struct ks_subtrees *tops;	/* over the segments within a size */
	struct kept kept[KEPT];
	size_t next;
};

/* ---- segments -------------------------------------------------------- */

static enum ks_status
hash_lines(struct ks_span rest, struct ks_subtrees *leaves,
	struct ks_error *err)
{
	struct ks_span line;
	struct ks_id leaf;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_log_next_line(&rest, &line)) {
		ks_entry_leaf(line, &leaf);
		status = ks_subtrees_append(leaves, &leaf, err);
	}
	return status;
}

/* The subtrees of one segment. */
static enum ks_status
read_segment(struct ks_store *store, uint64_t number,
	struct ks_subtrees **out, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = ks_log_segment(store->db, &store->tree,
		number * KS_SEGMENT_ENTRIES, &text, err);

	*out = NULL;
	if (status == KS_NOT_FOUND)
		status = ks_fail(err, KS_CORRUPT, "the log has no entry %llu",
			(unsigned long long)number * KS_SEGMENT_ENTRIES);
	if (status == KS_OK)
		status = ks_subtrees_new(out, err);
	if (status == KS_OK)
		status = hash_lines(ks_buf_span(&text), *out, err);
	ks_buf_release(&text);
	return status;
}

static enum ks_status
keep_segment(struct source *source, uint64_t number,
	struct ks_subtrees **out, struct ks_error *err)
{
	struct kept *kept;
	size_t i;
	enum ks_status status;

	for (i = 0; i < KEPT; i++) {
		kept = &source->kept[i];
		if (kept->leaves != NULL && kept->number == number) {
			*out = kept->leaves;
			return KS_OK;
		}
	}
	kept = &source->kept[source->next++ % KEPT];
	ks_subtrees_free(kept->leaves);
	kept->number = number;
	status = read_segment(source->store, number, &kept->leaves, err);
	if (status != KS_OK) {
		ks_subtrees_free(kept->leaves);
		kept->leaves = NULL;
	}
	*out = kept->leaves;
	return status;
}

/* A ks_subtree_fn. */
static enum ks_status
get(void *arg, unsigned level, uint64_t number, struct ks_id *out,
	struct ks_error *err)
{
	struct source *source = arg;
	struct ks_subtrees *leaves = NULL;
	uint64_t segment;
	enum ks_status status;

	if (level >= LEVEL)
		return ks_subtrees_get(source->tops, level - LEVEL, number,
			out, err);
	segment = number >> (LEVEL - level);
	status = keep_segment(source, segment, &leaves, err);
	if (status == KS_OK)
		status = ks_subtrees_get(leaves, level, number -
			(segment << (LEVEL - level)), out, err);
	return status == KS_USAGE ? ks_fail(err, KS_CORRUPT, "the log ends in "
		"segment %llu, too early", (unsigned long long)segment) :
		status;
}

/* ---- the file -------------------------------------------------------- */

static size_t
count_of(const struct source *source)
{
	return (source->file.len - TEXT_LENGTH) / KS_ID_BYTES;
}

static void
forget_file(struct source *source)
{
	ks_buf_clear(&source->file);
	ks_buf_text(&source->file, KS_SUBTREES_TEXT);
	source->from_file = false;
}

/* Whatever is wrong with it, it can be made anew. */
static void
read_file(struct source *source)
{
	struct ks_buf *file = &source->file;

	ks_buf_clear(file);
	if (ks_file_read_at(KS_FILE_CWD, ks_buf_cstr(&source->path),
		FILE_LIMIT, file, NULL) != KS_OK || !ks_span_begins(
		ks_buf_span(file), KS_SUBTREES_TEXT))
		forget_file(source);
	file->len -= (file->len - TEXT_LENGTH) % KS_ID_BYTES;
	source->from_file = count_of(source) > 0;
}

/* A file that cannot be written costs time only. */
static void
write_file(struct source *source)
{
	if (ks_file_replace(ks_buf_cstr(&source->path),
		ks_buf_span(&source->file), 0666, NULL) != KS_OK)
		return;
}

static enum ks_status
add_segment(struct source *source, uint64_t number, struct ks_error *err)
{
	struct ks_subtrees *leaves = NULL;
	struct ks_id hash;
	enum ks_status status = read_segment(source->store, number, &leaves,
		err);

	if (status == KS_OK && ks_subtrees_size(leaves) != KS_SEGMENT_ENTRIES)
		status = ks_fail(err, KS_CORRUPT, "segment %llu of the log "
			"has %llu lines, must have %d",
			(unsigned long long)number,
			(unsigned long long)ks_subtrees_size(leaves),
			KS_SEGMENT_ENTRIES);
	if (status == KS_OK)
		status = ks_subtrees_get(leaves, LEVEL, 0, &hash, err);
	if (status == KS_OK) {
		ks_buf_append(&source->file, ks_span(hash.bytes,
			KS_ID_BYTES));
		status = ks_buf_check(&source->file, err);
	}
	ks_subtrees_free(leaves);
	return status;
}

/* Have the hashes of `count` segments, and of no more the subtrees above. */
static enum ks_status
extend(struct source *source, uint64_t count, struct ks_error *err)
{
	bool grows = count_of(source) < count;
	struct ks_id hash;
	uint64_t i;
	enum ks_status status = KS_OK;

	while (status == KS_OK && count_of(source) < count)
		status = add_segment(source, count_of(source), err);
	if (status == KS_OK && grows)
		write_file(source);
	ks_subtrees_free(source->tops);
	source->tops = NULL;
	if (status == KS_OK)
		status = ks_subtrees_new(&source->tops, err);
	for (i = 0; status == KS_OK && i < count; i++) {
		memcpy(hash.bytes, source->file.data + TEXT_LENGTH +
			i * KS_ID_BYTES, KS_ID_BYTES);
		status = ks_subtrees_append(source->tops, &hash, err);
	}
	return status;
}

/* ---- a proof --------------------------------------------------------- */

/* What is to be proven: of an entry, or of an earlier size. */
struct claim {
	bool of_entry;
	uint64_t first, size;
	const struct ks_id *first_root, *root;
};

/* Make the proof and see whether it leads to the root. */
static enum ks_status
try(struct source *source, const struct claim *claim, struct ks_proof *proof,
	bool *holds, struct ks_error *err)
{
	struct ks_id leaf;
	enum ks_status status = extend(source,
		claim->size / KS_SEGMENT_ENTRIES, err);

	*holds = false;
	if (status == KS_OK && claim->of_entry)
		status = get(source, 0, claim->first, &leaf, err);
	if (status == KS_OK)
		status = claim->of_entry ? ks_proof_inclusion(claim->first,
			claim->size, get, source, proof, err) :
			ks_proof_consistency(claim->first, claim->size, get,
			source, proof, err);
	if (status != KS_OK)
		return status;
	*holds = claim->of_entry ? ks_proof_check_inclusion(&leaf,
		claim->first, claim->size, proof, claim->root) :
		ks_proof_check_consistency(claim->first, claim->size,
		claim->first_root, claim->root, proof);
	return KS_OK;
}

static enum ks_status
prove(struct source *source, const struct claim *claim,
	struct ks_proof *proof, struct ks_error *err)
{
	bool holds = false;
	enum ks_status status;

	read_file(source);
	status = try(source, claim, proof, &holds, err);
	/* Are the hashes wrong that were read? The log is the truth. */
	if (status == KS_OK && !holds && source->from_file) {
		forget_file(source);
		status = try(source, claim, proof, &holds, err);
	}
	if (status == KS_OK && !holds)
		status = ks_fail(err, KS_CORRUPT, "the first %llu entries of "
			"the log are not those that were signed (S1)",
			(unsigned long long)claim->size);
	if (status != KS_OK)
		proof->count = 0;
	return status;
}

static enum ks_status
run(struct ks_store *store, const struct claim *claim, struct ks_proof *proof,
	struct ks_error *err)
{
	struct source source = { .store = store, .path = KS_BUF_INIT,
		.file = KS_BUF_INIT };
	size_t i;
	enum ks_status status;

	proof->count = 0;
	ks_buf_printf(&source.path, "%s" KS_SUBTREES_NAME,
		ks_gitdb_directory(store->db));
	(void)ks_buf_cstr(&source.path);
	status = ks_buf_check(&source.path, err);
	if (status == KS_OK)
		status = prove(&source, claim, proof, err);
	for (i = 0; i < KEPT; i++)
		ks_subtrees_free(source.kept[i].leaves);
	ks_subtrees_free(source.tops);
	ks_buf_release(&source.file);
	ks_buf_release(&source.path);
	return status;
}

enum ks_status
ks_store_inclusion(struct ks_store *store, uint64_t index, uint64_t size,
	const struct ks_id *root, struct ks_proof *proof,
	struct ks_error *err)
{
	const struct claim claim = { .of_entry = true, .first = index,
		.size = size, .root = root };

	if (index >= size || size > KS_REPLAY_ENTRIES)
		return ks_fail(err, KS_USAGE, "there is no entry %llu among "
			"the first %llu", (unsigned long long)index,
			(unsigned long long)size);
	return run(store, &claim, proof, err);
}

enum ks_status
ks_store_consistency(struct ks_store *store, uint64_t from,
	const struct ks_id *from_root, uint64_t to,
	const struct ks_id *to_root, struct ks_proof *proof,
	struct ks_error *err)
{
	const struct claim claim = { .first = from, .size = to,
		.first_root = from_root, .root = to_root };

	if (from > to || to > KS_REPLAY_ENTRIES)
		return ks_fail(err, KS_USAGE, "a log of %llu entries does not "
			"begin with %llu", (unsigned long long)to,
			(unsigned long long)from);
	return run(store, &claim, proof, err);
}
