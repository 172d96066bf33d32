#include <stdio.h>
#include <stdlib.h>

#include "format/record.h"
#include "store/objects.h"

/* Bodies of records, those with the smallest digests first. */
struct sampling {
	struct ks_store *store;
	struct ks_buf bodies;
	size_t *sizes;
	size_t count;
	enum ks_status status;
	struct ks_error *err;
};

static bool
take_sample(void *arg, const struct ks_index_row *row)
{
	struct sampling *sampling = arg;
	size_t before = sampling->bodies.len;

	if (row->state.taken_down || strcmp(row->kind, "raw") == 0)
		return false;
	sampling->status = ks_store_body(sampling->store, &row->state.digest,
		&sampling->bodies, sampling->err);
	if (sampling->status != KS_OK)
		return true;
	sampling->sizes[sampling->count++] = sampling->bodies.len - before;
	return sampling->count == KS_DICTIONARY_SAMPLES;
}

static enum ks_status
train(struct sampling *sampling, struct ks_writing *writing, char *name,
	size_t size, struct ks_error *err)
{
	struct ks_dictionaries *dictionaries;
	struct ks_buf dictionary = KS_BUF_INIT;
	char path[KS_DICTIONARY_PATH];
	enum ks_status status = ks_index_by_digest(writing->index,
		ks_span(NULL, 0), take_sample, sampling, err);

	if (status == KS_OK)
		status = sampling->status;
	if (status == KS_OK)
		status = ks_buf_check(&sampling->bodies, err);
	if (status == KS_OK)
		status = ks_store_dictionaries(sampling->store, &dictionaries,
			err);
	if (status == KS_OK)
		status = ks_dictionary_train(ks_buf_span(&sampling->bodies),
			sampling->sizes, sampling->count,
			ks_dictionaries_next_id(dictionaries), &dictionary,
			err);
	if (status == KS_OK)
		status = ks_objects_add_dictionary(writing,
			ks_buf_span(&dictionary), path, err);
	if (status == KS_OK)
		(void)snprintf(name, size, "%s", path);
	ks_buf_release(&dictionary);
	return status;
}

enum ks_status
ks_dictionary_build(struct ks_store *store,
	const struct ks_write_options *options, char name[128],
	struct ks_error *err)
{
	struct sampling sampling = { .store = store, .err = err };
	struct ks_writing writing;
	enum ks_status status = ks_writing_begin(&writing, store, options, 1,
		false, err);

	name[0] = '\0';
	sampling.sizes = calloc(KS_DICTIONARY_SAMPLES,
		sizeof(*sampling.sizes));
	if (status == KS_OK && sampling.sizes == NULL)
		status = ks_fail_nomem(err);
	if (status == KS_OK)
		status = train(&sampling, &writing, name, 128, err);
	if (status == KS_OK)
		status = ks_writing_commit(&writing, "dictionary train\n",
			err);
	ks_writing_end(&writing);
	ks_buf_release(&sampling.bodies);
	free(sampling.sizes);
	return status;
}
