/*
 * Comparison groups: the runs that share a key, ranked.
 *
 * The order is by the rows of the catalogue, since a group may have thousands
 * of runs. Each that is shown of it is compared with its object first, so that
 * a wrong row cannot show a wrong record; one that is left out, or in a group
 * that is not its own, is found by verify --index.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"
#include "store/page.h"
#include "store/reader.h"

struct gathering {
	struct ks_group *group;
	struct ks_error *err;
	enum ks_status status;
};

static struct ks_group_member *
new_member(struct gathering *gathering)
{
	struct ks_group *group = gathering->group;
	struct ks_group_member *member = calloc(1, sizeof(*member));
	struct ks_group_member **grown = ks_grow(group->members, group->count,
		&group->room, sizeof(struct ks_group_member *),
		gathering->err);

	if (grown != NULL)
		group->members = grown;
	if (member == NULL || grown == NULL) {
		gathering->status = ks_fail_nomem(gathering->err);
		free(member);
		return NULL;
	}
	group->members[group->count++] = member;
	return member;
}

static bool
take_run(void *arg, const struct ks_catalogue_run *run)
{
	struct ks_group_member *member = new_member(arg);

	if (member != NULL)
		member->facts = *run;
	return member == NULL;
}

/* ---- from the rows ------------------------------------------------------ */

/* observedAt as the run has it, where the row's column was too short. */
static enum ks_status
read_observed(struct ks_store *store, struct ks_group_member *member,
	struct ks_error *err)
{
	struct ks_part run;
	enum ks_status status = ks_part_bare(store, &member->facts.digest,
		&run, err);

	if (status == KS_OK)
		ks_buf_append(&member->observed, ks_json_get_raw(
			run.record.spec, "observedAt"));
	ks_part_release(&run);
	return status;
}

static enum ks_status
fill_member(struct ks_store *store, struct ks_group_member *member,
	struct ks_error *err)
{
	const struct ks_catalogue_run *facts = &member->facts;
	const struct ks_standing standing = {
		.status = ks_span_text(facts->status),
		.is_published = true,
		.is_retracted = facts->retracted,
		.is_superseded = facts->superseded,
		.has_primary = facts->has_value
	};

	member->is_eligible = ks_ranking_is_eligible(&standing);
	member->entry = (struct ks_ranking_entry){
		.value = facts->value,
		.has_interval = facts->has_interval,
		.low = facts->low,
		.high = facts->high,
		.is_source_native = facts->is_source_native,
		.evidence = facts->evidence
	};
	if (facts->id[0] != '\0')
		(void)snprintf(member->id, sizeof(member->id), "%s",
			facts->id);
	else
		(void)ks_id_print(&facts->digest, member->id);
	if (strlen(facts->observed) + 1 == sizeof(facts->observed))
		return read_observed(store, member, err);
	ks_buf_text(&member->observed, facts->observed);
	return ks_buf_check(&member->observed, err);
}

static enum ks_status
fill_members(struct ks_store *store, struct ks_group *group,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < group->count; i++)
		status = fill_member(store, group->members[i], err);
	return status;
}

/* ---- ranking ------------------------------------------------------------ */

/* Those that rank first, in their order; the others as they came. */
static void
arrange(struct ks_group *group, struct ks_group_member **order,
	struct ks_ranking_entry *entries)
{
	size_t others = 0;
	size_t i;

	for (i = 0; i < group->count; i++) {
		struct ks_group_member *member = group->members[i];

		if (!member->is_eligible)
			continue;
		member->entry.observed_at = ks_buf_span(&member->observed);
		member->entry.id = ks_span_text(member->id);
		member->entry.index = i;
		entries[group->ranked++] = member->entry;
	}
	ks_ranking_sort(entries, group->ranked);
	for (i = 0; i < group->ranked; i++) {
		order[i] = group->members[entries[i].index];
		order[i]->entry = entries[i];
		group->is_source_native = group->is_source_native ||
			entries[i].is_source_native;
	}
	for (i = 0; i < group->count; i++)
		if (!group->members[i]->is_eligible)
			order[group->ranked + others++] = group->members[i];
	if (group->count > 0)
		memcpy(group->members, order, group->count * sizeof(*order));
}

static enum ks_status
rank_runs(struct ks_group *group, struct ks_error *err)
{
	struct ks_group_member **order = calloc(group->count + 1,
		sizeof(struct ks_group_member *));
	struct ks_ranking_entry *entries = calloc(group->count + 1,
		sizeof(*entries));
	enum ks_status status = order == NULL || entries == NULL ?
		ks_fail_nomem(err) : KS_OK;

	if (status == KS_OK)
		arrange(group, order, entries);
	free(order);
	free(entries);
	return status;
}

enum ks_status
ks_group_read(struct ks_store *store, const struct ks_id *key,
	struct ks_group *out, const struct ks_watch *watch,
	struct ks_error *err)
{
	struct gathering gathering = {
		.group = out, .err = err, .status = KS_OK
	};
	struct ks_catalogue *catalogue;
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	status = ks_store_catalogue(store, &catalogue, watch, err);
	if (status == KS_OK)
		status = ks_catalogue_group(catalogue, key, take_run,
			&gathering, err);
	if (status == KS_OK)
		status = gathering.status;
	if (status == KS_OK)
		status = fill_members(store, out, err);
	return status == KS_OK ? rank_runs(out, err) : status;
}

enum ks_status
ks_group_checker(struct ks_store *store, struct ks_reader **out,
	struct ks_error *err)
{
	struct ks_catalogue *catalogue;
	enum ks_status status = ks_store_catalogue(store, &catalogue, NULL,
		err);

	*out = NULL;
	return status == KS_OK ? ks_reader_new(out, catalogue, err) : status;
}

enum ks_status
ks_group_check(struct ks_store *store, struct ks_reader *checker,
	const struct ks_id *digest, struct ks_span *run, struct ks_error *err)
{
	const struct ks_found *found = NULL;
	struct ks_index *index;
	struct ks_index_row row;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status == KS_OK && !ks_index_object(index, digest, &row))
		status = ks_store_explain_absence(store, digest, err);
	if (status == KS_OK)
		status = ks_reader_get(checker, row.state.published, &found,
			err);
	if (status != KS_OK)
		return status;
	if (!found->is_there) {
		if (err != NULL)
			*err = found->why;
		return found->problem;
	}
	*run = ks_found_text(found, KS_FACT_SPEC);
	return KS_OK;
}

void
ks_group_release(struct ks_group *group)
{
	size_t i;

	for (i = 0; i < group->count; i++) {
		ks_buf_release(&group->members[i]->observed);
		free(group->members[i]);
	}
	free(group->members);
	memset(group, 0, sizeof(*group));
}

/* One run that is looked for. */
struct search {
	const struct ks_id *run;
	enum ks_evidence evidence;
};

static bool
match_run(void *arg, const struct ks_catalogue_run *run)
{
	struct search *search = arg;

	if (!ks_id_equal(&run->digest, search->run))
		return false;
	search->evidence = run->evidence;
	return true;
}

enum ks_status
ks_group_evidence(struct ks_store *store, const struct ks_id *key,
	const struct ks_id *run, enum ks_evidence *out,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct search search = { .run = run, .evidence = KS_EVIDENCE_NONE };
	struct ks_catalogue *catalogue;
	enum ks_status status = ks_store_catalogue(store, &catalogue, watch,
		err);

	if (status == KS_OK)
		status = ks_catalogue_group(catalogue, key, match_run, &search,
			err);
	*out = search.evidence;
	return status;
}

const struct ks_group_member *
ks_group_find(const struct ks_group *group, const struct ks_id *run)
{
	size_t i;

	for (i = 0; i < group->count; i++)
		if (ks_id_equal(&group->members[i]->facts.digest, run))
			return group->members[i];
	return NULL;
}
