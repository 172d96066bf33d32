/*
 * Rankings: a comparison group with the names of who is in it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "format/measure.h"
#include "format/readout.h"
#include "store/page.h"
#include "store/reader.h"

#define PREFIX_MIN 6

/* ---- which group -------------------------------------------------------- */

enum ks_status
ks_rank_key(struct ks_store *store, const struct ks_id *run,
	struct ks_id *key, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	struct ks_run_parts parts;
	enum ks_status status = ks_run_read(store, run, &parts, err);

	if (status == KS_OK && !parts.has_key)
		status = ks_fail(err, KS_NOT_FOUND, "%s has no comparison "
			"key here: the workload that it names is not in this "
			"store", ks_id_print(run, text));
	if (status == KS_OK)
		*key = parts.key;
	ks_run_release(&parts);
	return status;
}

/* The hex digits of a key or its beginning; empty when it is neither. */
static struct ks_span
key_digits(const char *reference)
{
	struct ks_span text = ks_span_text(reference);
	size_t i;

	if (ks_span_begins(text, "sha256:"))
		text = ks_span(text.data + 7, text.len - 7);
	if (text.len < PREFIX_MIN || text.len > KS_ID_HEX)
		return ks_span(NULL, 0);
	for (i = 0; i < text.len; i++)
		if (!((text.data[i] >= '0' && text.data[i] <= '9') ||
			(text.data[i] >= 'a' && text.data[i] <= 'f')))
			return ks_span(NULL, 0);
	return text;
}

/* How many keys begin so, and one of them. */
static enum ks_status
find_keys(struct ks_store *store, const char *reference, struct ks_id *key,
	size_t *count, const struct ks_watch *watch, struct ks_error *err)
{
	struct ks_span digits = key_digits(reference);
	struct ks_catalogue *catalogue;
	enum ks_status status;

	*count = 0;
	if (digits.len == 0)
		return KS_OK;
	status = ks_store_catalogue(store, &catalogue, watch, err);
	return status != KS_OK ? status : ks_catalogue_keys(catalogue, digits,
		key, 1, count, err);
}

/* Objects that a reference means, as they are told on. */
struct finding {
	ks_match_fn *visit;
	void *arg;
	struct ks_id digest;
};

static void
take_match(void *arg, const struct ks_match *match)
{
	struct finding *finding = arg;

	finding->digest = match->digest;
	if (finding->visit != NULL)
		finding->visit(finding->arg, match);
}

enum ks_status
ks_rank_find(struct ks_store *store, const char *reference,
	ks_match_fn *visit, void *arg, struct ks_id *key, bool *is_run,
	struct ks_id *run, const struct ks_watch *watch, struct ks_error *err)
{
	struct finding finding = { .visit = visit, .arg = arg };
	struct ks_error why = KS_ERROR_INIT;
	char shown[256];
	size_t keys;
	enum ks_status found = ks_resolve(store, reference, take_match,
		&finding, &why);
	enum ks_status status;

	*is_run = false;
	if (found != KS_OK && found != KS_NOT_FOUND) {
		if (err != NULL)
			*err = why;
		return found;
	}
	status = find_keys(store, reference, key, &keys, watch, err);
	if (status != KS_OK)
		return status;
	(void)ks_printable(shown, sizeof(shown), ks_span_text(reference));
	if (keys > 1 || (keys == 1 && found == KS_OK))
		return ks_fail(err, KS_AMBIGUOUS, "%s is ambiguous: %zu "
			"comparison keys%s begin so", shown, keys,
			found == KS_OK ? " and an object" : "");
	if (keys == 1)
		return KS_OK;
	if (found == KS_NOT_FOUND)
		return ks_fail(err, KS_NOT_FOUND, "%s: nothing in this store "
			"has that digest, id, name or comparison key", shown);
	*is_run = true;
	*run = finding.digest;
	return ks_rank_key(store, run, key, err);
}

/* ---- the rows ----------------------------------------------------------- */

/* A ranking and what it owns. */
struct made {
	struct ks_rank rank;	/* first: a pointer to it is one to this */
	struct ks_texts texts;
	struct ks_rank_row *rows;
};

/* A name that was looked up: of an implementation or a source. */
struct name {
	struct ks_id digest;
	const char *text;
};

struct ranking {
	struct ks_store *store;
	struct made *made;
	struct ks_group group;
	struct ks_run_parts first;	/* a run of the group, with what all
					 * its runs share */
	struct ks_reader *checker;
	struct ks_buf names;		/* struct name */
};

static const char *
keep(struct ranking *ranking, struct ks_buf *text)
{
	const char *kept = ks_texts_keep(&ranking->made->texts,
		ks_buf_span(text));

	if (text->failed)
		ranking->made->texts.failed = true;
	ks_buf_release(text);
	return kept;
}

static const char *
known_name(const struct ranking *ranking, const struct ks_id *digest)
{
	struct name name;
	size_t at;

	for (at = 0; at < ranking->names.len; at += sizeof(name)) {
		memcpy(&name, ranking->names.data + at, sizeof(name));
		if (ks_id_equal(&name.digest, digest))
			return name.text;
	}
	return NULL;
}

static enum ks_status
find_name(struct ranking *ranking, const struct ks_id *digest, bool source,
	const char **out, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct name name = { .digest = *digest };
	struct ks_part part;
	enum ks_status status;

	name.text = known_name(ranking, digest);
	if (name.text != NULL) {
		*out = name.text;
		return KS_OK;
	}
	if (source) {
		status = ks_part_read(ranking->store, digest, &part, err);
		(void)ks_part_note(part.record.spec, "name", &text);
	} else {
		/* Its name is the log's; the object has nothing to say. */
		status = ks_part_notes(ranking->store, digest, &part, err);
		ks_run_implementation(&part, &ranking->first.operation, &text);
	}
	ks_part_release(&part);
	/* A Source that is not here: the slug that the run states stays. */
	if (text.len > 0 || text.failed)
		*out = keep(ranking, &text);
	name.text = *out;
	ks_buf_append(&ranking->names, ks_span(&name, sizeof(name)));
	return status;
}

static bool
is_zero(const struct ks_id *id)
{
	static const struct ks_id zero;

	return ks_id_equal(id, &zero);
}

/* What a member's object says, for one that is shown. */
static enum ks_status
describe(struct ranking *ranking, const struct ks_group_member *member,
	struct ks_rank_row *row, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT, observed = KS_BUF_INIT;
	struct ks_buf number = KS_BUF_INIT;
	struct ks_buf reasons = KS_BUF_INIT, slug = KS_BUF_INIT;
	struct ks_span run;
	struct ks_primary primary;
	struct ks_standing standing = {
		.is_published = true,
		.is_retracted = member->facts.retracted,
		.is_superseded = member->facts.superseded
	};
	enum ks_status status = ks_group_check(ranking->store,
		ranking->checker, &row->digest, &run, err);

	if (status != KS_OK)
		return status;
	standing.status = ks_json_get_raw(run, "status");
	standing.has_primary = ks_measure_primary(run, &primary);
	if (standing.has_primary) {
		ks_readout_number(&number, primary.measurement.value);
		ks_readout_value(&text, primary.measurement.value,
			primary.measurement.unit);
	}
	ks_json_unescape(&observed, ks_json_get_raw(run, "observedAt"));
	ks_ranking_reasons(&reasons, &standing);
	(void)ks_part_note(ks_json_get(run, "sourceNative"), "source", &slug);
	(void)ks_id_parse(&row->implementation_digest, ks_json_get_raw(run,
		"implementationDigest"));
	row->number = keep(ranking, &number);
	row->text = keep(ranking, &text);
	row->observed = keep(ranking, &observed);
	row->reasons = keep(ranking, &reasons);
	row->source = keep(ranking, &slug);
	return KS_OK;
}

static enum ks_status
fill_row(struct ranking *ranking, const struct ks_group_member *member,
	const struct ks_id *asked, struct ks_rank_row *row,
	struct ks_error *err)
{
	const struct ks_catalogue_run *facts = &member->facts;
	enum ks_status status;

	*row = (struct ks_rank_row){
		.digest = facts->digest,
		.rank = member->is_eligible ? member->entry.rank : 0,
		.tied = member->is_eligible && member->entry.is_tied,
		.asked = asked != NULL && ks_id_equal(asked, &facts->digest),
		.has_value = facts->has_value,
		.value = facts->value,
		.has_source = !is_zero(&facts->source),
		.source_digest = facts->source,
		.evidence = ks_evidence_label(facts->evidence),
		.id = ks_texts_keep(&ranking->made->texts,
			ks_span_text(facts->id))
	};
	status = describe(ranking, member, row, err);
	if (status == KS_OK)
		status = find_name(ranking, &row->implementation_digest, false,
			&row->implementation, err);
	if (status == KS_OK && row->has_source)
		status = find_name(ranking, &facts->source, true,
			&row->source, err);
	return status;
}

/* The first `limit` that rank and that do not, and the one asked for. */
static bool
is_wanted(const struct ranking *ranking, size_t i, const struct ks_id *asked,
	size_t limit)
{
	const struct ks_group *group = &ranking->group;
	size_t place = i < group->ranked ? i : i - group->ranked;

	return place < limit || (asked != NULL && ks_id_equal(asked,
		&group->members[i]->facts.digest));
}

static enum ks_status
fill_rows(struct ranking *ranking, const struct ks_id *asked, size_t limit,
	struct ks_error *err)
{
	struct ks_rank *rank = &ranking->made->rank;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < ranking->group.count; i++)
		if (is_wanted(ranking, i, asked, limit))
			status = fill_row(ranking, ranking->group.members[i],
				asked, &ranking->made->rows[rank->count++],
				err);
	rank->rows = ranking->made->rows;
	return status;
}

/* ---- what they share ---------------------------------------------------- */

static void
name_group(struct ranking *ranking)
{
	struct ks_run_parts *first = &ranking->first;
	struct ks_rank *rank = &ranking->made->rank;
	struct ks_buf operation = KS_BUF_INIT, workload = KS_BUF_INIT;
	struct ks_buf protocol = KS_BUF_INIT, environment = KS_BUF_INIT;
	struct ks_buf metric = KS_BUF_INIT, statistic = KS_BUF_INIT;
	struct ks_buf unit = KS_BUF_INIT;
	struct ks_primary primary;

	ks_run_operation(&first->operation, &operation);
	ks_run_workload(&first->workload, &workload);
	ks_part_title(&first->protocol, &protocol);
	ks_part_title(&first->environment, &environment);
	if (ks_measure_primary(first->run.record.spec, &primary)) {
		ks_json_unescape(&metric, primary.measurement.metric);
		ks_json_unescape(&statistic, primary.measurement.statistic);
		ks_json_unescape(&unit, primary.measurement.unit);
	}
	rank->operation = keep(ranking, &operation);
	rank->workload = keep(ranking, &workload);
	rank->protocol = keep(ranking, &protocol);
	rank->environment = keep(ranking, &environment);
	rank->metric = keep(ranking, &metric);
	rank->statistic = keep(ranking, &statistic);
	rank->unit = keep(ranking, &unit);
}

static enum ks_status
make(struct ranking *ranking, const struct ks_id *key,
	const struct ks_id *asked, size_t limit, const struct ks_watch *watch,
	struct ks_error *err)
{
	struct ks_rank *rank = &ranking->made->rank;
	struct ks_group *group = &ranking->group;
	char text[KS_ID_TEXT + 1];
	enum ks_status status = ks_group_read(ranking->store, key, group,
		watch, err);

	if (status == KS_OK && group->count == 0)
		return ks_fail(err, KS_NOT_FOUND, "no run in this store has "
			"the comparison key %s", ks_id_print(key, text));
	if (status == KS_OK)
		status = ks_run_read(ranking->store,
			&group->members[0]->facts.digest, &ranking->first,
			err);
	if (status != KS_OK)
		return status;
	rank->key = *key;
	rank->policy = KS_RANKING_POLICY;
	rank->profile = group->is_source_native ? "source_native" :
		"strict_exact";
	rank->ranked = group->ranked;
	rank->excluded = group->count - group->ranked;
	name_group(ranking);
	ranking->made->rows = calloc(group->count, sizeof(*rank->rows));
	if (ranking->made->rows == NULL)
		return ks_fail_nomem(err);
	status = ks_group_checker(ranking->store, &ranking->checker, err);
	if (status == KS_OK)
		status = fill_rows(ranking, asked, limit, err);
	if (status == KS_OK && (ranking->made->texts.failed ||
		ranking->names.failed))
		status = ks_fail_nomem(err);
	return status;
}

enum ks_status
ks_rank_new(struct ks_rank **out, struct ks_store *store,
	const struct ks_id *key, const struct ks_id *asked, size_t limit,
	const struct ks_watch *watch, struct ks_error *err)
{
	struct ranking ranking = { .store = store, .names = KS_BUF_INIT };
	enum ks_status status = ks_log_understood(store, err);

	*out = NULL;
	if (status != KS_OK)
		return status;
	ranking.made = calloc(1, sizeof(*ranking.made));
	if (ranking.made == NULL)
		return ks_fail_nomem(err);
	status = make(&ranking, key, asked, limit, watch, err);
	ks_reader_free(ranking.checker);
	ks_group_release(&ranking.group);
	ks_run_release(&ranking.first);
	ks_buf_release(&ranking.names);
	if (status == KS_OK)
		*out = &ranking.made->rank;
	else
		ks_rank_free(&ranking.made->rank);
	return status;
}

void
ks_rank_free(struct ks_rank *rank)
{
	/* The ranking is the first member of what was made. */
	struct made *made = (struct made *)(void *)rank;

	if (made == NULL)
		return;
	ks_texts_release(&made->texts);
	free(made->rows);
	free(made);
}
