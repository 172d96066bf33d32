/*
 * Comparison groups: the runs that share a key, ranked.
 *
 * The catalogue names the runs and says how far each can be relied on. Their
 * values, states and times are read from their objects here, and one whose
 * object does not have the key after all is left out: it was the table that
 * was wrong.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/cohort.h"
#include "format/json.h"
#include "format/measure.h"
#include "store/page.h"

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
	struct ks_group_member **grown;

	if (member != NULL && group->count == group->room) {
		group->room = group->room == 0 ? 16 : group->room * 2;
		grown = realloc(group->members, group->room * sizeof(*grown));
		if (grown == NULL) {
			free(member);
			member = NULL;
		} else {
			group->members = grown;
		}
	}
	if (member == NULL)
		gathering->status = ks_fail_nomem(gathering->err);
	else
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

/* ---- from the objects --------------------------------------------------- */

/* Whether a run has the key. Its workload is read where it is not the one of
 * the run before. */
static enum ks_status
check_key(struct ks_store *store, struct ks_span run, const struct ks_id *key,
	struct ks_part *workload, bool *has, struct ks_error *err)
{
	struct ks_id id, found;
	enum ks_status status = KS_OK;

	*has = false;
	if (!ks_id_parse(&id, ks_json_get_raw(run, "workloadDigest")))
		return KS_OK;
	if (!workload->is_here || !ks_id_equal(&id, &workload->digest)) {
		ks_part_release(workload);
		status = ks_part_bare(store, &id, workload, err);
	}
	if (status != KS_OK)
		return status;
	status = ks_cohort_comparison(run, workload->record.spec, &found,
		err);
	*has = status == KS_OK && ks_id_equal(&found, key);
	return status == KS_INVALID ? KS_OK : status;
}

static void
fill_member(struct ks_group_member *member, struct ks_span run)
{
	struct ks_catalogue_run *facts = &member->facts;
	struct ks_standing standing = {
		.status = ks_json_get_raw(run, "status"),
		.is_published = true,
		.is_retracted = facts->retracted,
		.is_superseded = facts->superseded
	};

	standing.has_primary = ks_ranking_enter(&member->entry, run);
	member->is_eligible = ks_ranking_is_eligible(&standing);
	facts->has_value = standing.has_primary;
	facts->value = member->entry.value;
	facts->passed = ks_span_is(standing.status, "passed");
	(void)snprintf(facts->status, sizeof(facts->status), "%.*s",
		(int)(standing.status.len < 64 ? standing.status.len : 64),
		(const char *)standing.status.data);
	ks_buf_append(&member->observed, member->entry.observed_at);
	member->entry.evidence = facts->evidence;
	if (facts->id[0] != '\0')
		(void)snprintf(member->id, sizeof(member->id), "%s",
			facts->id);
	else
		(void)ks_id_print(&facts->digest, member->id);
}

/* Read the runs; those that are not of this group are taken out. */
static enum ks_status
read_runs(struct ks_store *store, const struct ks_id *key,
	struct ks_group *group, struct ks_error *err)
{
	struct ks_part workload;
	size_t kept = 0;
	size_t i;
	enum ks_status status = KS_OK;

	memset(&workload, 0, sizeof(workload));
	for (i = 0; status == KS_OK && i < group->count; i++) {
		struct ks_group_member *member = group->members[i];
		struct ks_part run;
		bool has = false;

		status = ks_part_bare(store, &member->facts.digest, &run, err);
		if (status == KS_OK && ks_part_is(&run, "BenchmarkRun"))
			status = check_key(store, run.record.spec, key,
				&workload, &has, err);
		if (status == KS_OK && has)
			fill_member(member, run.record.spec);
		ks_part_release(&run);
		if (status != KS_OK || has) {
			group->members[i] = group->members[kept];
			group->members[kept++] = member;
		}
	}
	ks_part_release(&workload);
	/* After a failure all are still there to be released. */
	while (status == KS_OK && group->count > kept)
		free(group->members[--group->count]);
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
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < group->count; i++)
		status = ks_buf_check(&group->members[i]->observed, err);
	if (order == NULL || entries == NULL)
		status = ks_fail_nomem(err);
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
		status = read_runs(store, key, out, err);
	return status == KS_OK ? rank_runs(out, err) : status;
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
