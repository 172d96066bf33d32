#include <stdlib.h>

#include "store/catalogue_internal.h"

/* Names of axes are terms, too. */
#define TERM_AXIS KS_TERM_COUNT

/* Look-ups are remembered where a hash of what was asked says, one each: a
 * collision costs a question, nothing else. */
#define TERM_SLOTS 512
#define TERM_BYTES 230
#define FIND_SLOTS 16384
#define PART_SLOTS 1024
#define KEY_SLOTS 1024

struct term_slot {
	uint64_t number;	/* 0 = free */
	uint16_t field, len;
	uint8_t text[TERM_BYTES];
};

struct find_slot {
	struct ks_id digest;
	uint64_t object;	/* 0 = free: entry 0 publishes nothing */
};

struct part_slot {
	uint64_t object;
	uint16_t len;
	uint8_t text[TERM_BYTES];
};

/* What the key of a BenchmarkRun rests on, by the numbers of other records and
 * of terms. */
struct key_parts {
	uint64_t workload, protocol, environment;
	uint64_t metric, statistic, unit;
	uint64_t has_value;
};

struct key_slot {
	struct key_parts parts;		/* workload 0: free */
	bool found;
	struct ks_id key;
};

struct ks_rows {
	struct ks_db *tables;
	bool search;
	bool failed;		/* memory ran out */
	uint64_t last_term;	/* 0 = to be looked up */
	struct ks_buf part;	/* what find_part() found last */
	struct term_slot terms[TERM_SLOTS];
	struct find_slot finds[FIND_SLOTS];
	struct part_slot parts[PART_SLOTS];
	struct key_slot keys[KEY_SLOTS];
};

enum ks_status
ks_rows_new(struct ks_rows **out, struct ks_db *tables, bool search,
	struct ks_error *err)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return ks_fail_nomem(err);
	(*out)->tables = tables;
	(*out)->search = search;
	return KS_OK;
}

void
ks_rows_free(struct ks_rows *rows)
{
	if (rows != NULL)
		ks_buf_release(&rows->part);
	free(rows);
}

/* ---- subjects ----------------------------------------------------------- */

bool
ks_rows_take_subject(struct sqlite3_stmt *stmt, struct ks_subject *subject)
{
	struct ks_span digest = ks_db_bytes(stmt, 1);

	subject->object = ks_db_number(stmt, 0);
	ks_db_text(stmt, 2, subject->kind, sizeof(subject->kind));
	subject->flags = ks_db_number(stmt, 3);
	subject->metadata_line = ks_db_is_null(stmt, 4) ? KS_NO_LINE :
		ks_db_number(stmt, 4);
	subject->provenance_line = ks_db_is_null(stmt, 5) ? KS_NO_LINE :
		ks_db_number(stmt, 5);
	if (digest.len != KS_ID_BYTES)
		return false;
	memcpy(subject->digest.bytes, digest.data, KS_ID_BYTES);
	return (subject->flags & KS_INDEX_TAKEN_DOWN) == 0;
}

bool
ks_rows_subject(struct ks_rows *rows, uint64_t object,
	struct ks_subject *subject)
{
	struct sqlite3_stmt *stmt = ks_db_statement(rows->tables,
		KS_CATALOGUE_ONE);
	bool found;

	ks_db_bind_number(stmt, 1, object);
	found = ks_db_next(rows->tables, stmt) &&
		ks_rows_take_subject(stmt, subject);
	ks_db_reset(stmt);
	return found;
}

/* ---- terms -------------------------------------------------------------- */

/* FNV-1a. */
static size_t
hash_of(unsigned field, struct ks_span text)
{
	uint32_t hash = 2166136261U ^ field;
	size_t i;

	for (i = 0; i < text.len; i++)
		hash = (hash ^ text.data[i]) * 16777619U;
	return hash ^ hash >> 16;
}

static uint64_t
ask_term(struct ks_rows *rows, unsigned field, struct ks_span text)
{
	struct sqlite3_stmt *stmt = ks_db_statement(rows->tables,
		KS_CATALOGUE_FIND_TERM);
	uint64_t number = 0;

	ks_db_bind_number(stmt, 1, field);
	ks_db_bind_text(stmt, 2, text);
	if (ks_db_next(rows->tables, stmt))
		number = ks_db_number(stmt, 0);
	ks_db_reset(stmt);
	return number;
}

/* Numbers are given here, not by SQLite: a statement that has to report one
 * makes the search write out what it has gathered, each time. */
static uint64_t
add_term(struct ks_rows *rows, unsigned field, struct ks_span text)
{
	struct sqlite3_stmt *stmt;

	if (rows->last_term == 0) {
		stmt = ks_db_statement(rows->tables, KS_CATALOGUE_LAST_TERM);
		if (ks_db_next(rows->tables, stmt))
			rows->last_term = ks_db_number(stmt, 0);
		ks_db_reset(stmt);
	}
	stmt = ks_db_statement(rows->tables, KS_CATALOGUE_ADD_TERM);
	ks_db_bind_number(stmt, 1, rows->last_term + 1);
	ks_db_bind_number(stmt, 2, field);
	ks_db_bind_text(stmt, 3, text);
	return ks_db_finish(rows->tables, stmt, NULL) == KS_OK ?
		++rows->last_term : 0;
}

/* The number of a term; 0 for an empty text, and for one that there is not
 * (without `add`), or when the tables fail. */
static uint64_t
find_term(struct ks_rows *rows, unsigned field, struct ks_span text, bool add)
{
	struct term_slot *slot = &rows->terms[hash_of(field, text) %
		TERM_SLOTS];
	uint64_t number;

	if (text.len == 0)
		return 0;
	if (slot->number != 0 && slot->field == field && ks_span_equal(text,
		ks_span(slot->text, slot->len)))
		return slot->number;
	number = ask_term(rows, field, text);
	if (number == 0 && add)
		number = add_term(rows, field, text);
	if (number != 0 && text.len <= TERM_BYTES) {
		slot->number = number;
		slot->field = (uint16_t)field;
		slot->len = (uint16_t)text.len;
		memcpy(slot->text, text.data, text.len);
	}
	return number;
}

/* ---- objects ------------------------------------------------------------ */

uint64_t
ks_rows_find(struct ks_rows *rows, const struct ks_id *digest)
{
	struct sqlite3_stmt *stmt;
	struct find_slot *slot;
	uint64_t object = KS_NO_LINE;
	uint32_t hash;

	memcpy(&hash, digest->bytes, sizeof(hash));
	slot = &rows->finds[hash % FIND_SLOTS];
	if (slot->object != 0 && ks_id_equal(&slot->digest, digest))
		return slot->object;
	stmt = ks_db_statement(rows->tables, KS_CATALOGUE_FIND);
	ks_index_bind_digest(stmt, 1, digest);
	if (ks_db_next(rows->tables, stmt))
		object = ks_db_number(stmt, 0);
	ks_db_reset(stmt);
	if (object != KS_NO_LINE) {
		slot->digest = *digest;
		slot->object = object;
	}
	return object;
}

/* ---- keys --------------------------------------------------------------- */

static void
keep_part(struct ks_rows *rows, uint64_t object, struct ks_span text)
{
	struct part_slot *slot = &rows->parts[object % PART_SLOTS];

	if (text.len > TERM_BYTES)
		return;
	slot->object = object;
	slot->len = (uint16_t)text.len;
	if (text.len > 0)
		memcpy(slot->text, text.data, text.len);
}

/* Append what a record adds to the keys of runs that refer to it. */
static void
find_part(struct ks_rows *rows, uint64_t object, struct ks_buf *out)
{
	const struct part_slot *slot = &rows->parts[object % PART_SLOTS];
	struct sqlite3_stmt *stmt;

	if (slot->object == object) {
		ks_buf_append(out, ks_span(slot->text, slot->len));
		return;
	}
	stmt = ks_db_statement(rows->tables, KS_CATALOGUE_GET_PART);
	ks_db_bind_number(stmt, 1, object);
	if (ks_db_next(rows->tables, stmt)) {
		ks_buf_append(out, ks_db_bytes(stmt, 0));
		keep_part(rows, object, ks_db_bytes(stmt, 0));
	}
	ks_db_reset(stmt);
}

static uint64_t
find_related(struct ks_rows *rows, const struct ks_facts *facts,
	enum ks_relation relation)
{
	return (facts->related >> relation & 1) == 0 ? KS_NO_LINE :
		ks_rows_find(rows, &facts->relations[relation]);
}

/* The key of a run; false when it has none. */
static bool
compute_key(struct ks_rows *rows, const struct ks_facts *facts,
	const struct ks_fact_store *store, struct ks_id *key)
{
	uint64_t workload = find_related(rows, facts, KS_RELATION_WORKLOAD);
	uint64_t model = find_related(rows, facts, KS_RELATION_MODEL);
	struct ks_buf *text = &rows->part;
	size_t split;
	enum ks_status status;

	ks_buf_clear(text);
	if (workload == KS_NO_LINE)
		return false;
	find_part(rows, workload, text);
	split = text->len;
	if (model != KS_NO_LINE)
		find_part(rows, model, text);
	status = ks_buf_check(text, NULL);
	if (status == KS_OK)
		status = ks_facts_key(facts->kind, ks_facts_text(facts, store,
			KS_FACT_SPEC), ks_span(text->data, split), ks_span(
			split == text->len ? NULL : text->data + split,
			text->len - split), key);
	rows->failed = rows->failed || status == KS_NOMEM;
	return status == KS_OK;
}

static void
find_key_parts(struct ks_rows *rows, const struct ks_facts *facts,
	const struct ks_fact_store *store, struct key_parts *parts)
{
	memset(parts, 0, sizeof(*parts));
	parts->workload = find_related(rows, facts, KS_RELATION_WORKLOAD);
	parts->protocol = find_related(rows, facts, KS_RELATION_PROTOCOL);
	parts->environment = find_related(rows, facts,
		KS_RELATION_ENVIRONMENT);
	parts->metric = find_term(rows, KS_TERM_METRIC,
		ks_facts_text(facts, store, KS_TERM_METRIC), true);
	parts->statistic = find_term(rows, KS_TERM_STATISTIC,
		ks_facts_text(facts, store, KS_TERM_STATISTIC), true);
	parts->unit = find_term(rows, KS_TERM_UNIT,
		ks_facts_text(facts, store, KS_TERM_UNIT), true);
	parts->has_value = facts->has_value ? 1 : 0;
}

/* Runs of one group often come together. */
static bool
make_key(struct ks_rows *rows, const struct ks_facts *facts,
	const struct ks_fact_store *store, struct ks_id *key)
{
	struct key_parts parts;
	struct key_slot *slot;

	if (!ks_facts_is_benchmark(facts->kind))
		return compute_key(rows, facts, store, key);
	find_key_parts(rows, facts, store, &parts);
	if (parts.workload == KS_NO_LINE || parts.protocol == KS_NO_LINE ||
		parts.environment == KS_NO_LINE)
		return compute_key(rows, facts, store, key);
	slot = &rows->keys[(parts.workload * 31 + parts.protocol * 7 +
		parts.environment) % KEY_SLOTS];
	if (slot->parts.workload == 0 || memcmp(&slot->parts, &parts,
		sizeof(parts)) != 0) {
		slot->found = compute_key(rows, facts, store, &slot->key);
		slot->parts = parts;
	}
	*key = slot->key;
	return slot->found;
}

/* Whether a run's key has to wait: what it rests on comes later in the log. */
static bool
is_early(struct ks_rows *rows, uint64_t object, const struct ks_facts *facts)
{
	uint64_t workload = find_related(rows, facts, KS_RELATION_WORKLOAD);
	uint64_t model = find_related(rows, facts, KS_RELATION_MODEL);

	return (workload != KS_NO_LINE && workload > object) ||
		(model != KS_NO_LINE && model > object);
}

static bool
has_key(const struct ks_facts *facts)
{
	return ks_facts_is_benchmark(facts->kind) ||
		ks_facts_is_serving(facts->kind);
}

enum ks_status
ks_rows_set_key(struct ks_rows *rows, uint64_t object,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(rows->tables,
		KS_CATALOGUE_SET_KEY);
	struct ks_id key;

	ks_db_bind_number(stmt, 1, object);
	if (make_key(rows, facts, store, &key))
		ks_index_bind_digest(stmt, 2, &key);
	else
		ks_db_bind_null(stmt, 2);
	return rows->failed ? ks_fail_nomem(err) :
		ks_db_finish(rows->tables, stmt, err);
}

/* ---- a row -------------------------------------------------------------- */

/* The values of a row of `record` that are numbers. */
struct row {
	uint64_t flags;
	uint64_t terms[KS_TERM_COUNT];		/* 0 = NULL */
	uint64_t relations[KS_RELATION_COUNT];	/* KS_NO_LINE = NULL */
};

static void
make_row(struct ks_rows *rows, const struct ks_subject *subject,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	bool add, struct row *row)
{
	unsigned i;

	row->flags = (subject->flags & (KS_RECORD_RETRACTED |
		KS_RECORD_SUPERSEDED)) |
		(facts->has_raw ? KS_RECORD_HAS_RAW : 0U) |
		(facts->has_source ? KS_RECORD_HAS_SOURCE : 0U) |
		(facts->is_source_native ? KS_RECORD_IS_NATIVE : 0U) |
		(facts->is_readable ? KS_RECORD_IS_READ : 0U);
	for (i = 0; i < KS_TERM_COUNT; i++)
		row->terms[i] = find_term(rows, i,
			ks_facts_text(facts, store, i), add);
	for (i = 0; i < KS_RELATION_COUNT; i++)
		row->relations[i] = find_related(rows, facts, i);
}

/* observedAt as it was written, where KS_FACT_MOMENT and a Z are something
 * else. */
static struct ks_span
odd_time(const struct ks_facts *facts, const struct ks_fact_store *store)
{
	struct ks_span written = ks_facts_text(facts, store,
		KS_FACT_OBSERVED);
	struct ks_span moment = ks_facts_text(facts, store, KS_FACT_MOMENT);

	return written.len == moment.len + 1 && moment.len > 0 &&
		memcmp(written.data, moment.data, moment.len) == 0 ?
		ks_span(NULL, 0) : written;
}

static void
bind_number(struct sqlite3_stmt *stmt, int at, uint64_t value, uint64_t none)
{
	if (value == none)
		ks_db_bind_null(stmt, at);
	else
		ks_db_bind_number(stmt, at, value);
}

static void
bind_real(struct sqlite3_stmt *stmt, int at, bool there, double value)
{
	if (there)
		ks_db_bind_real(stmt, at, value);
	else
		ks_db_bind_null(stmt, at);
}

/* Bind the columns of `record` in their order. */
static void
bind_record(struct sqlite3_stmt *stmt, uint64_t object, const struct row *row,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	const struct ks_id *key)
{
	int at = 1;
	unsigned i;

	ks_db_bind_number(stmt, at++, object);
	ks_db_bind_number(stmt, at++, row->flags);
	for (i = 0; i < KS_TERM_COUNT; i++)
		bind_number(stmt, at++, row->terms[i], 0);
	for (i = 0; i < KS_RELATION_COUNT; i++)
		bind_number(stmt, at++, row->relations[i], KS_NO_LINE);
	bind_real(stmt, at++, facts->has_value, facts->value);
	bind_real(stmt, at++, facts->has_interval, facts->low);
	bind_real(stmt, at++, facts->has_interval, facts->high);
	bind_number(stmt, at++, (uint64_t)facts->samples, 0);
	ks_db_bind_text(stmt, at++, ks_facts_text(facts, store,
		KS_FACT_MOMENT));
	ks_db_bind_text(stmt, at++, odd_time(facts, store));
	ks_db_bind_text(stmt, at++, ks_facts_text(facts, store,
		KS_FACT_PUBLISHED));
	ks_db_bind_text(stmt, at++, ks_facts_text(facts, store,
		KS_FACT_EXTERNAL));
	if (facts->has_id)
		ks_db_bind_bytes(stmt, at, ks_span(facts->id,
			sizeof(facts->id)));
	else
		ks_db_bind_null(stmt, at);
	at++;
	if (key != NULL)
		ks_index_bind_digest(stmt, at, key);
	else
		ks_db_bind_null(stmt, at);
}

/* ---- what stands beside it ---------------------------------------------- */

static enum ks_status
add_text_to(struct ks_rows *rows, enum ks_catalogue_statement which,
	uint64_t object, const struct ks_facts *facts,
	const struct ks_fact_store *store, struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(rows->tables, which);

	ks_db_bind_number(stmt, 1, object);
	ks_db_bind_text(stmt, 2, ks_facts_text(facts, store, KS_FACT_NAME));
	ks_db_bind_text(stmt, 3, ks_facts_text(facts, store, KS_FACT_TITLE));
	ks_db_bind_text(stmt, 4, ks_facts_text(facts, store, KS_FACT_WORDS));
	return ks_db_finish(rows->tables, stmt, err);
}

static enum ks_status
add_texts(struct ks_rows *rows, uint64_t object, const struct ks_facts *facts,
	const struct ks_fact_store *store, struct ks_error *err)
{
	enum ks_status status;

	if (facts->texts[KS_FACT_NAME].len + facts->texts[KS_FACT_TITLE].len +
		facts->texts[KS_FACT_WORDS].len == 0)
		return KS_OK;
	status = add_text_to(rows, KS_CATALOGUE_ADD_TEXT, object, facts,
		store, err);
	return status != KS_OK || !rows->search ? status : add_text_to(rows,
		KS_CATALOGUE_ADD_SEARCH, object, facts, store, err);
}

static enum ks_status
add_axes(struct ks_rows *rows, uint64_t object, const struct ks_facts *facts,
	const struct ks_fact_store *store, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < facts->axis_count; i++) {
		struct sqlite3_stmt *stmt;
		struct ks_fact_axis axis;
		uint64_t name;

		memcpy(&axis, store->axes.data + (facts->axis + i) *
			sizeof(axis), sizeof(axis));
		name = find_term(rows, TERM_AXIS, ks_fact_text(store,
			axis.name), true);
		stmt = ks_db_statement(rows->tables, KS_CATALOGUE_ADD_AXIS);
		ks_db_bind_number(stmt, 1, object);
		ks_db_bind_number(stmt, 2, axis.item);
		ks_db_bind_number(stmt, 3, name);
		ks_db_bind_number(stmt, 4, (uint64_t)axis.value);
		status = ks_db_finish(rows->tables, stmt, err);
	}
	return status;
}

static enum ks_status
add_open(struct ks_rows *rows, uint64_t object, const struct ks_id *target,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt = ks_db_statement(rows->tables,
		KS_CATALOGUE_ADD_OPEN);

	ks_db_bind_number(stmt, 1, object);
	ks_index_bind_digest(stmt, 2, target);
	return ks_db_finish(rows->tables, stmt, err);
}

static enum ks_status
add_reference(struct ks_rows *rows, uint64_t object,
	const struct ks_fact_reference *reference,
	const struct ks_fact_store *store, struct ks_error *err)
{
	uint64_t target = ks_rows_find(rows, &reference->target);
	struct sqlite3_stmt *stmt;

	if (target == KS_NO_LINE)
		return add_open(rows, object, &reference->target, err);
	stmt = ks_db_statement(rows->tables, KS_CATALOGUE_ADD_REFERENCE);
	ks_db_bind_number(stmt, 1, object);
	ks_db_bind_number(stmt, 2, target);
	ks_db_bind_text(stmt, 3, ks_fact_text(store, reference->path));
	return ks_db_finish(rows->tables, stmt, err);
}

static enum ks_status
add_references(struct ks_rows *rows, uint64_t object, const struct row *row,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	struct ks_error *err)
{
	struct ks_fact_reference reference;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < facts->reference_count; i++) {
		memcpy(&reference, store->references.data +
			(facts->reference + i) * sizeof(reference),
			sizeof(reference));
		status = add_reference(rows, object, &reference, store, err);
	}
	for (i = 0; status == KS_OK && i < KS_RELATION_COUNT; i++)
		if ((facts->related >> i & 1) != 0 &&
			row->relations[i] == KS_NO_LINE)
			status = add_open(rows, object, &facts->relations[i],
				err);
	return status;
}

static enum ks_status
add_bytes(struct ks_rows *rows, uint64_t object, const struct ks_facts *facts,
	struct ks_error *err)
{
	struct sqlite3_stmt *stmt;

	if (!facts->has_bytes)
		return KS_OK;
	stmt = ks_db_statement(rows->tables, KS_CATALOGUE_ADD_BYTES);
	ks_db_bind_number(stmt, 1, object);
	ks_index_bind_digest(stmt, 2, &facts->bytes);
	return ks_db_finish(rows->tables, stmt, err);
}

/* ---- adding and removing ------------------------------------------------ */

enum ks_status
ks_rows_add(struct ks_rows *rows, const struct ks_subject *subject,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	bool *deferred, struct ks_error *err)
{
	struct sqlite3_stmt *stmt;
	struct row row;
	struct ks_id key;
	bool keyed = false;
	enum ks_status status;

	*deferred = has_key(facts) && is_early(rows, subject->object, facts);
	if (has_key(facts) && !*deferred)
		keyed = make_key(rows, facts, store, &key);
	if (rows->failed)
		return ks_fail_nomem(err);
	make_row(rows, subject, facts, store, true, &row);
	stmt = ks_db_statement(rows->tables, KS_CATALOGUE_ADD_RECORD);
	bind_record(stmt, subject->object, &row, facts, store,
		keyed ? &key : NULL);
	status = ks_db_finish(rows->tables, stmt, err);
	if (row.terms[KS_TERM_PART] != 0)
		keep_part(rows, subject->object, ks_facts_text(facts, store,
			KS_TERM_PART));
	if (status == KS_OK)
		status = add_texts(rows, subject->object, facts, store, err);
	if (status == KS_OK)
		status = add_axes(rows, subject->object, facts, store, err);
	if (status == KS_OK)
		status = add_references(rows, subject->object, &row, facts,
			store, err);
	if (status == KS_OK)
		status = add_bytes(rows, subject->object, facts, err);
	return status;
}

enum ks_status
ks_rows_remove(struct ks_rows *rows, uint64_t object, struct ks_error *err)
{
	static const enum ks_catalogue_statement drops[] = {
		KS_CATALOGUE_DROP_SEARCH, KS_CATALOGUE_DROP_TEXT,
		KS_CATALOGUE_DROP_RECORD, KS_CATALOGUE_DROP_AXES,
		KS_CATALOGUE_DROP_REFERENCES, KS_CATALOGUE_DROP_OPEN,
		KS_CATALOGUE_DROP_BYTES
	};
	enum ks_status status = KS_OK;
	size_t i;

	for (i = rows->search ? 0 : 1; status == KS_OK &&
		i < sizeof(drops) / sizeof(drops[0]); i++) {
		struct sqlite3_stmt *stmt = ks_db_statement(rows->tables,
			drops[i]);

		ks_db_bind_number(stmt, 1, object);
		status = ks_db_finish(rows->tables, stmt, err);
	}
	return status;
}

/* ---- comparing ---------------------------------------------------------- */

static bool
same_number(struct sqlite3_stmt *stmt, int at, uint64_t value, uint64_t none)
{
	return ks_db_is_null(stmt, at) ? value == none :
		value != none && ks_db_number(stmt, at) == value;
}

static bool
same_bytes(struct sqlite3_stmt *stmt, int at, struct ks_span bytes)
{
	return ks_span_equal(ks_db_bytes(stmt, at), bytes);
}

static bool
same_real(struct sqlite3_stmt *stmt, int at, bool there, double value)
{
	return ks_db_is_null(stmt, at) == !there &&
		(!there || ks_db_real(stmt, at) == value);
}

static bool
same_rest(struct sqlite3_stmt *stmt, int at, const struct ks_facts *facts,
	const struct ks_fact_store *store, const struct ks_id *key)
{
	struct ks_span id = ks_span(facts->id,
		facts->has_id ? sizeof(facts->id) : 0);

	return same_real(stmt, at, facts->has_value, facts->value) &&
		same_real(stmt, at + 1, facts->has_interval, facts->low) &&
		same_real(stmt, at + 2, facts->has_interval, facts->high) &&
		same_number(stmt, at + 3, (uint64_t)facts->samples, 0) &&
		same_bytes(stmt, at + 4, ks_facts_text(facts, store,
			KS_FACT_MOMENT)) &&
		same_bytes(stmt, at + 5, odd_time(facts, store)) &&
		same_bytes(stmt, at + 6, ks_facts_text(facts, store,
			KS_FACT_PUBLISHED)) &&
		same_bytes(stmt, at + 7, ks_facts_text(facts, store,
			KS_FACT_EXTERNAL)) &&
		same_bytes(stmt, at + 8, id) &&
		same_bytes(stmt, at + 9, key == NULL ? ks_span(NULL, 0) :
			ks_span(key->bytes, KS_ID_BYTES)) &&
		same_bytes(stmt, at + 10, ks_facts_text(facts, store,
			KS_FACT_NAME)) &&
		same_bytes(stmt, at + 11, ks_facts_text(facts, store,
			KS_FACT_TITLE)) &&
		same_bytes(stmt, at + 12, ks_facts_text(facts, store,
			KS_FACT_WORDS));
}

static bool
same_row(struct sqlite3_stmt *stmt, const struct row *row,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	const struct ks_id *key)
{
	bool same = same_number(stmt, 1, row->flags, KS_NO_LINE);
	int at = 2;
	unsigned i;

	for (i = 0; same && i < KS_TERM_COUNT; i++)
		same = same_number(stmt, at++, row->terms[i], 0) &&
			(row->terms[i] == 0) == (facts->texts[i].len == 0);
	for (i = 0; same && i < KS_RELATION_COUNT; i++)
		same = same_number(stmt, at++, row->relations[i], KS_NO_LINE);
	return same && same_rest(stmt, at, facts, store, key);
}

enum ks_status
ks_rows_compare(struct ks_rows *rows, const struct ks_subject *subject,
	const struct ks_facts *facts, const struct ks_fact_store *store,
	const struct ks_id *key, bool *same, struct ks_error *err)
{
	struct sqlite3_stmt *stmt;
	struct row row;

	make_row(rows, subject, facts, store, false, &row);
	stmt = ks_db_statement(rows->tables, KS_CATALOGUE_GET_RECORD);
	ks_db_bind_number(stmt, 1, subject->object);
	*same = ks_db_next(rows->tables, stmt) &&
		same_row(stmt, &row, facts, store, key);
	ks_db_reset(stmt);
	return ks_db_check(rows->tables, err);
}
