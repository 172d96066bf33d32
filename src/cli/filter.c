#include "cli/filter.h"

#include <assert.h>
#include <stdlib.h>

void
ks_cli_filters_init(struct ks_cli_filters *filters, struct ks_opt *options,
	size_t *count)
{
	struct ks_opt marks[] = {
		KS_FLAG(0, "retracted", &filters->retracted,
			"only what is retracted"),
		KS_FLAG(0, "no-retracted", &filters->no_retracted,
			"nothing that is"),
		KS_FLAG(0, "superseded", &filters->superseded,
			"only what is superseded"),
		KS_FLAG(0, "no-superseded", &filters->no_superseded,
			"nothing that is"),
	};
	size_t i, before = *count;

	memset(filters, 0, sizeof(*filters));
	assert(ks_list_field_count() <= KS_FILTER_FIELDS);
	for (i = 0; i < ks_list_field_count(); i++) {
		const struct ks_list_field *field = ks_list_field(i);
		struct ks_opt option = KS_LIST(0, field->name, field->filter,
			&filters->lists[i], field->help);

		if (field->filter != NULL)
			options[(*count)++] = option;
	}
	for (i = 0; i < KS_COUNT(marks); i++)
		options[(*count)++] = marks[i];
	assert(*count - before <= KS_FILTER_OPTIONS);
	(void)before;
}

static enum ks_status
take_mark(bool only, bool without, const char *name,
	enum ks_list_marked *out, struct ks_error *err)
{
	if (only && without)
		return ks_fail(err, KS_USAGE,
			"--%s and --no-%s leave nothing", name, name);
	*out = only ? KS_LIST_ONLY : without ? KS_LIST_WITHOUT : KS_LIST_ANY;
	return KS_OK;
}

enum ks_status
ks_cli_filters_take(struct ks_cli_filters *filters,
	struct ks_list_options *out, struct ks_error *err)
{
	size_t i, k, count = 0;
	enum ks_status status = take_mark(filters->retracted,
		filters->no_retracted, "retracted", &out->retracted, err);

	if (status == KS_OK)
		status = take_mark(filters->superseded,
			filters->no_superseded, "superseded",
			&out->superseded, err);
	if (status != KS_OK)
		return status;
	for (i = 0; i < ks_list_field_count(); i++)
		count += filters->lists[i].count;
	filters->filters = calloc(count + 1, sizeof(*filters->filters));
	if (filters->filters == NULL)
		return ks_fail_nomem(err);
	out->filters = filters->filters;
	for (i = 0; i < ks_list_field_count(); i++)
		for (k = 0; k < filters->lists[i].count; k++) {
			struct ks_list_filter *filter =
				&filters->filters[out->filter_count++];

			filter->field = ks_list_field(i)->name;
			filter->value = filters->lists[i].items[k];
		}
	return KS_OK;
}

void
ks_cli_filters_release(struct ks_cli_filters *filters)
{
	free(filters->filters);
}
