#include "store/put.h"

#include <stdlib.h>

#include "format/json.h"
#include "format/record.h"
#include "store/arrivals.h"
#include "store/compose.h"
#include "store/objects.h"

/* One put on its way. */
struct put {
	struct ks_store *store;
	const struct ks_put_options *options;
	struct ks_put_result *result;
	struct ks_collection all;
	struct ks_writing writing;
};

/* ---- --source and --provenance ----------------------------------------- */

static enum ks_status
take_source(void *arg, const struct ks_gathered *manifest,
	struct ks_error *err)
{
	struct put *put = arg;

	return ks_collection_aside(&put->all, manifest, &put->all.source, err);
}

static enum ks_status
read_source(struct put *put, struct ks_error *err)
{
	struct ks_gather_sink sink = { .arg = put, .manifest = take_source };
	struct ks_buf value = KS_BUF_INIT;
	struct ks_buf manifest = KS_BUF_INIT;
	enum ks_status status;

	if (put->options->source.len == 0)
		return KS_OK;
	status = ks_jcs_scan(put->store->jcs, put->options->source,
		&ks_jcs_manifest, &value, err);
	if (status == KS_OK)
		status = ks_intake_source(ks_buf_span(&value), &manifest, err);
	if (status == KS_OK)
		status = ks_gather_text(ks_buf_span(&manifest), "--source",
			&put->options->intake, &sink, err);
	else
		(void)ks_context(err, "--source");
	ks_buf_release(&value);
	ks_buf_release(&manifest);
	return status;
}

static enum ks_status
take_provenance(void *arg, const struct ks_id *digest,
	struct ks_span provenance, struct ks_error *err)
{
	struct put *put = arg;
	char text[KS_ID_TEXT + 1];
	uint32_t item = ks_collection_find(&put->all, digest);

	if (item == KS_NO_ITEM || !put->all.items[item].listed)
		return ks_fail(err, KS_INVALID,
			"%s is not in the input", ks_id_print(digest, text));
	return ks_collection_overlay(&put->all, digest, provenance, err);
}

static enum ks_status
read_provenance(struct put *put, struct ks_error *err)
{
	struct ks_intake intake = KS_INTAKE_INIT;
	struct ks_buf value = KS_BUF_INIT;
	enum ks_status status;

	if (put->options->provenance.len == 0)
		return KS_OK;
	status = ks_jcs_scan(put->store->jcs, put->options->provenance,
		&ks_jcs_row, &value, err);
	if (status == KS_OK)
		status = ks_intake_provenance(&intake, ks_buf_span(&value),
			take_provenance, put, err);
	if (status != KS_OK)
		(void)ks_context(err, "--provenance");
	ks_intake_release(&intake);
	ks_buf_release(&value);
	return status;
}

/* ---- the steps --------------------------------------------------------- */

static enum ks_status
gather(struct put *put, const char *const *paths, size_t count,
	struct ks_error *err)
{
	struct ks_gather_sink sink = {
		.arg = &put->all,
		.manifest = ks_collection_manifest,
		.alias = ks_collection_alias
	};
	struct ks_gather_counts counts;
	enum ks_status status = read_source(put, err);

	if (status == KS_OK)
		status = ks_gather(paths, count, &put->options->intake, &sink,
			&counts, put->options->write.watch, err);
	if (status != KS_OK)
		return status;
	put->result->manifests = counts.manifests;
	put->result->rows = counts.rows;
	put->result->derived_rows = counts.derived_rows;
	put->result->unknown_rows = counts.unknown_rows;
	put->result->stated_digests = counts.stated_digests;
	put->result->warnings = counts.notes;
	put->result->other_metadata = put->all.other_metadata;
	status = ks_collection_close(&put->all, err);
	return status == KS_OK ? read_provenance(put, err) : status;
}

/* With the dictionary that there is, or that is due. */
static enum ks_status
compose(struct ks_writing *writing, struct ks_collection *all,
	const struct ks_put_options *options, struct ks_put_result *result,
	struct ks_notes *notes, struct ks_error *err)
{
	struct ks_dictionaries *dictionaries;
	const struct ks_dictionary *current;
	struct ks_objects *objects = NULL;
	bool have;
	enum ks_status status = ks_store_dictionaries(writing->store,
		&dictionaries, err);

	if (status == KS_OK)
		status = ks_dictionaries_current(dictionaries, &current, err);
	if (status != KS_OK)
		return status;
	have = ks_dictionaries_count(dictionaries) > 0;
	status = ks_objects_begin(&objects, all, writing->replay,
		have || options->dry_run ? 0 :
		ks_dictionaries_next_id(dictionaries), err);
	if (status == KS_OK)
		status = ks_compose(writing, all, options, result, err);
	if (status == KS_OK)
		status = ks_arrivals_check(writing->store, writing->index,
			writing->replay, err);
	if (status == KS_OK)
		status = ks_objects_write(objects, writing, current,
			&result->dictionary_trained, notes, err);
	/* Of a million records the commit needs room for its own. */
	ks_objects_free(objects);
	return status;
}

enum ks_status
ks_put_compose(struct ks_writing *writing, struct ks_collection *all,
	const struct ks_put_options *options, struct ks_put_result *result,
	struct ks_error *err)
{
	struct ks_notes notes = { .watch = options->write.watch };
	enum ks_status status = compose(writing, all, options, result, &notes,
		err);

	if (status == KS_OK)
		ks_notes_tell(&notes);
	result->warnings += notes.total;
	ks_notes_release(&notes);
	return status;
}

enum ks_status
ks_put_commit(struct ks_writing *writing, struct ks_collection *all,
	const char *message, struct ks_put_result *result,
	struct ks_error *err)
{
	enum ks_status status = ks_collection_settle(all, err);

	result->entries = writing->lines;
	result->size = ks_replay_tree(writing->replay)->size;
	if (status == KS_OK)
		status = ks_writing_commit(writing, message, err);
	if (status == KS_OK && !ks_oid_is_zero(&writing->commit))
		(void)ks_oid_print(&writing->commit, result->commit);
	if (status == KS_OK)
		result->advise_gc = ks_gitdb_pack_count(writing->store->db) >=
			KS_GITDB_PACK_LIMIT;
	return status;
}

static enum ks_status
commit(struct put *put, struct ks_error *err)
{
	struct ks_buf message = KS_BUF_INIT;
	struct ks_put_result *result = put->result;
	uint64_t others = result->annotated + result->retracted +
		result->superseded;
	enum ks_status status;

	ks_buf_printf(&message, "put %llu objects",
		(unsigned long long)result->added);
	if (others > 0)
		ks_buf_printf(&message, ", %llu other entries",
			(unsigned long long)others);
	ks_buf_byte(&message, '\n');
	status = ks_put_commit(&put->writing, &put->all,
		ks_buf_cstr(&message), result, err);
	ks_buf_release(&message);
	return status;
}

void
ks_put_report(const struct ks_collection *all, ks_put_fn *visit, void *arg)
{
	size_t i;

	for (i = 0; visit != NULL && i < all->order_count; i++) {
		const struct ks_outcome *outcome = &all->outcomes[i];
		struct ks_put_object object = {
			.digest = outcome->digest,
			.kind = ks_collection_kind(all, outcome->kind_text),
			.is_new = outcome->is_new
		};

		visit(arg, &object);
	}
}

static enum ks_status
run(struct put *put, const char *const *paths, size_t count,
	struct ks_error *err)
{
	enum ks_status status = ks_collection_init(&put->all,
		ks_gitdb_objects(put->store->db), err);

	if (status == KS_OK)
		status = gather(put, paths, count, err);
	if (status == KS_OK)
		status = ks_writing_begin(&put->writing, put->store,
			&put->options->write, put->all.order_count,
			put->options->dry_run, err);
	if (status == KS_OK)
		status = ks_put_compose(&put->writing, &put->all,
			put->options, put->result, err);
	if (status == KS_OK)
		status = commit(put, err);
	return status;
}

enum ks_status
ks_put(struct ks_store *store, const char *const *paths, size_t count,
	const struct ks_put_options *options, ks_put_fn *visit, void *arg,
	struct ks_put_result *result, struct ks_error *err)
{
	struct put *put = calloc(1, sizeof(*put));
	enum ks_status status;

	memset(result, 0, sizeof(*result));
	if (put == NULL)
		return ks_fail_nomem(err);
	put->store = store;
	put->options = options;
	put->result = result;
	put->writing.lock = (struct ks_lock)KS_LOCK_INIT;
	status = run(put, paths, count, err);
	if (status == KS_OK) {
		result->objects = put->all.order_count;
		ks_put_report(&put->all, visit, arg);
	}
	ks_writing_end(&put->writing);
	ks_collection_release(&put->all);
	free(put);
	return status;
}
