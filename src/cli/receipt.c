#include "cli/receipt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/out.h"

/* Objects that are listed one by one, and kinds that are told apart: more, so
 * that every object that is listed has its kind. */
#define OBJECTS_MAX 100
#define KINDS_MAX 128

#define KIND_SIZE 280

struct object {
	struct ks_id digest;
	size_t kind;
	bool is_new;
};

struct kind {
	char name[KIND_SIZE];
	uint64_t added, known;
};

struct ks_receipt {
	struct object objects[OBJECTS_MAX];
	uint64_t count;		/* of all, listed or not */
	struct kind kinds[KINDS_MAX + 1];	/* the last is all others */
	size_t kind_count;
	struct kind all;
};

struct ks_receipt *
ks_receipt_new(void)
{
	return calloc(1, sizeof(struct ks_receipt));
}

void
ks_receipt_free(struct ks_receipt *receipt)
{
	free(receipt);
}

/* ---- Taking in ---------------------------------------------------------- */

static size_t
find_kind(struct ks_receipt *receipt, const char *name)
{
	size_t i;

	for (i = 0; i < receipt->kind_count; i++)
		if (strcmp(receipt->kinds[i].name, name) == 0)
			return i;
	if (i > KINDS_MAX)
		return KINDS_MAX;
	(void)snprintf(receipt->kinds[i].name, KIND_SIZE, "%s",
		i == KINDS_MAX ? "other kinds" : name);
	receipt->kind_count++;
	return i;
}

static void
count_one(struct kind *kind, bool is_new)
{
	if (is_new)
		kind->added++;
	else
		kind->known++;
}

void
ks_receipt_add(void *arg, const struct ks_put_object *object)
{
	struct ks_receipt *receipt = arg;
	size_t kind = find_kind(receipt, object->kind);

	if (receipt->count < OBJECTS_MAX)
		receipt->objects[receipt->count] = (struct object){
			.digest = object->digest, .kind = kind,
			.is_new = object->is_new
		};
	receipt->count++;
	count_one(&receipt->kinds[kind], object->is_new);
	count_one(&receipt->all, object->is_new);
}

/* ---- Text --------------------------------------------------------------- */

static const char *
state_of(const struct object *object)
{
	return object->is_new ? "new" : "known";
}

static void
print_objects(const struct ks_receipt *receipt)
{
	char digest[KS_ID_TEXT + 1];
	size_t i;

	for (i = 0; i < receipt->count; i++) {
		const struct object *object = &receipt->objects[i];

		ks_out_printf("%s ", ks_id_print(&object->digest, digest));
		ks_out_field(receipt->kinds[object->kind].name);
		ks_out_printf(" %s\n", state_of(object));
	}
}

static void
print_kind(const char *name, const struct kind *kind)
{
	ks_out_field(name);
	ks_out_printf(": %" PRIu64 " new, %" PRIu64 " known\n", kind->added,
		kind->known);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct kind *)a)->name,
		((const struct kind *)b)->name);
}

void
ks_receipt_print(struct ks_receipt *receipt)
{
	size_t i;

	if (receipt->count <= OBJECTS_MAX) {
		print_objects(receipt);
		return;
	}
	qsort(receipt->kinds, receipt->kind_count, sizeof(receipt->kinds[0]),
		by_name);
	for (i = 0; i < receipt->kind_count; i++)
		print_kind(receipt->kinds[i].name, &receipt->kinds[i]);
	print_kind("all", &receipt->all);
}

/* ---- JSON --------------------------------------------------------------- */

static void
add_counts(struct ks_doc *doc, const struct ks_put_result *result)
{
	const struct {
		const char *name;
		uint64_t value;
	} counts[] = {
		{ "manifests", result->manifests },
		{ "objects", result->objects },
		{ "new", result->added },
		{ "known", result->known },
		{ "otherMetadata", result->other_metadata },
		{ "otherProvenance", result->other_provenance },
		{ "annotated", result->annotated },
		{ "retracted", result->retracted },
		{ "superseded", result->superseded },
		{ "skippedTakenDown", result->skipped_taken_down },
		{ "missing", result->missing },
		{ "rows", result->rows },
		{ "derivedRows", result->derived_rows },
		{ "unknownRows", result->unknown_rows },
		{ "statedDigests", result->stated_digests },
		{ "warnings", result->warnings },
		{ "entries", result->entries },
	};
	size_t i;

	ks_doc_object(doc, "counts");
	for (i = 0; i < KS_COUNT(counts); i++)
		ks_doc_integer(doc, counts[i].name, (int64_t)counts[i].value);
	ks_doc_end(doc);
}

static void
add_kinds(struct ks_doc *doc, const struct ks_receipt *receipt)
{
	size_t i;

	ks_doc_array(doc, "kinds");
	for (i = 0; i < receipt->kind_count; i++) {
		const struct kind *kind = &receipt->kinds[i];

		ks_doc_object(doc, NULL);
		ks_doc_text(doc, "kind", kind->name);
		ks_doc_integer(doc, "new", (int64_t)kind->added);
		ks_doc_integer(doc, "known", (int64_t)kind->known);
		ks_doc_end(doc);
	}
	ks_doc_end(doc);
}

static void
add_objects(struct ks_doc *doc, const struct ks_receipt *receipt)
{
	size_t i;

	ks_doc_array(doc, "objects");
	for (i = 0; i < receipt->count; i++) {
		const struct object *object = &receipt->objects[i];

		ks_doc_object(doc, NULL);
		ks_doc_digest(doc, "digest", &object->digest);
		ks_doc_text(doc, "kind", receipt->kinds[object->kind].name);
		ks_doc_text(doc, "state", state_of(object));
		ks_doc_end(doc);
	}
	ks_doc_end(doc);
}

enum ks_status
ks_receipt_print_json(struct ks_receipt *receipt,
	const struct ks_put_result *result, bool dry_run, struct ks_error *err)
{
	struct ks_doc *doc = ks_doc_new("put");

	ks_doc_bool(doc, "dryRun", dry_run);
	if (result->commit[0] == '\0')
		ks_doc_null(doc, "commit");
	else
		ks_doc_text(doc, "commit", result->commit);
	ks_doc_integer(doc, "logSize", (int64_t)result->size);
	add_counts(doc, result);
	ks_doc_bool(doc, "dictionaryTrained", result->dictionary_trained);
	ks_doc_bool(doc, "adviseGc", result->advise_gc);
	add_kinds(doc, receipt);
	if (receipt->count <= OBJECTS_MAX)
		add_objects(doc, receipt);
	return ks_doc_write(doc, err);
}
