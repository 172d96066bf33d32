/*
 * The file of the index and the catalogue, which is derived: compared, row by
 * row, with what a fresh build in memory gives.
 */
#include <stdio.h>

#include "store/catalogue_internal.h"
#include "store/verify.h"

/* Differences that are told one by one. */
#define DIFFERENCES_MAX 100

#define PATH KS_INDEX_NAME
#define REMEDY " (it is derived: remove it, and the next command builds it " \
	"anew)"

struct comparing {
	struct ks_verifying *verifying;
	struct ks_index *found;		/* the file */
	struct ks_index *fresh;
	uint64_t differences;
};

/* ---- tables ------------------------------------------------------------- */

/* What is compared: rows in order of their first columns, the keys. Numbers of
 * terms and kinds depend on who came first, so their texts are compared. */
struct table {
	const char *name;
	const char *sql;
	int keys;
	bool by_object;		/* the first key is a publish line */
};

static const struct table index_tables[] = {
	{ "object", "SELECT o.published, o.digest, k.name AS kind, o.flags,"
		" o.metadata, o.metadata_hash, o.provenance,"
		" o.provenance_hash, o.name, o.successor, o.slug"
		" FROM object o LEFT JOIN kind k ON k.number = o.kind"
		" ORDER BY o.published", 1, true },
	{ "object_digest", "SELECT digest, published FROM object"
		" ORDER BY digest", 1, false },
	{ "id", "SELECT id, object FROM id ORDER BY id, object", 2, false },
	{ "line", "SELECT line, object FROM line ORDER BY line", 1, false },
	{ "keyline", "SELECT line FROM keyline ORDER BY line", 1, false },
};

#define AS_TERM(id, column) ", (SELECT text FROM term WHERE number = r." \
	#column ") AS " #column
#define AS_COLUMN(id, column) ", r." #column

static const struct table catalogue_tables[] = {
	{ "record", "SELECT r.object, r.flags" KS_TERMS(AS_TERM)
		KS_RELATIONS(AS_COLUMN) ", r.value, r.low, r.high, r.samples,"
		" r.moment, r.observed, r.published, r.external, r.id,"
		" r.comparison FROM record r ORDER BY r.object", 1, true },
	{ "text", "SELECT object, name, title, words FROM text"
		" ORDER BY object", 1, true },
	{ "axis", "SELECT x.object, x.item, t.text AS name, x.value"
		" FROM axis x JOIN term t ON t.number = x.name"
		" ORDER BY 1, 2, 3", 3, true },
	{ "reference", "SELECT object, target, path FROM reference"
		" ORDER BY 1, 2, 3", 3, true },
	{ "open", "SELECT object, digest FROM open ORDER BY 1, 2", 2, true },
	{ "described", "SELECT object, bytes FROM described ORDER BY 1", 1,
		true },
	{ "rerun", "SELECT object, attestation FROM rerun ORDER BY 1, 2", 2,
		true },
};

/* Every word of every text, as the search has them. */
static const char vocabulary[] = "CREATE VIRTUAL TABLE temp.word USING"
	" fts5vocab('main', 'search', 'instance')";
static const struct table search_table = {
	"search", "SELECT doc, col, \"offset\", term FROM temp.word"
		" ORDER BY 1, 2, 3", 3, true
};

/* ---- differences -------------------------------------------------------- */

/* The digest of the object that a row is about, if it is about one. */
static const struct ks_id *
object_of(struct comparing *comparing, const struct table *table,
	struct sqlite3_stmt *stmt, struct ks_id *digest)
{
	struct ks_db *tables = &comparing->fresh->tables;
	struct sqlite3_stmt *find;
	const struct ks_id *found = NULL;
	struct ks_span bytes;

	if (!table->by_object)
		return NULL;
	find = ks_db_prepare(tables, "SELECT digest FROM object WHERE "
		"published = ?1");
	ks_db_bind_number(find, 1, ks_db_number(stmt, 0));
	if (ks_db_next(tables, find)) {
		bytes = ks_db_bytes(find, 0);
		if (bytes.len == KS_ID_BYTES) {
			memcpy(digest->bytes, bytes.data, KS_ID_BYTES);
			found = digest;
		}
	}
	ks_db_discard(find);
	return found;
}

/* "record 17", "axis 17, 0, "batch"". */
static void
print_row(const struct table *table, struct sqlite3_stmt *stmt,
	struct ks_buf *out)
{
	int i;

	ks_buf_printf(out, "row of %s ", table->name);
	for (i = 0; i < table->keys; i++) {
		ks_buf_text(out, i == 0 ? "" : ", ");
		ks_db_print(stmt, i, out);
	}
}

/* Tell of one, unless many were told. */
static void
report(struct comparing *comparing, const struct table *table,
	struct sqlite3_stmt *stmt, struct ks_buf *what)
{
	struct ks_id digest;

	if (++comparing->differences > DIFFERENCES_MAX)
		return;
	ks_verify_report(comparing->verifying, KS_SEVERITY_DAMAGE,
		object_of(comparing, table, stmt, &digest), PATH, "%s%s",
		ks_buf_cstr(what), comparing->differences == 1 ? REMEDY : "");
}

static void
report_alone(struct comparing *comparing, const struct table *table,
	struct sqlite3_stmt *stmt, const char *why)
{
	struct ks_buf what = KS_BUF_INIT;

	print_row(table, stmt, &what);
	ks_buf_printf(&what, " %s", why);
	report(comparing, table, stmt, &what);
	ks_buf_release(&what);
}

static void
compare_columns(struct comparing *comparing, const struct table *table,
	struct sqlite3_stmt *found, struct sqlite3_stmt *fresh)
{
	struct ks_buf what = KS_BUF_INIT;
	int i;

	for (i = table->keys; i < ks_db_columns(fresh); i++) {
		if (ks_db_compare(found, fresh, i) == 0)
			continue;
		ks_buf_clear(&what);
		print_row(table, fresh, &what);
		ks_buf_printf(&what, ": %s is ", ks_db_column(fresh, i));
		ks_db_print(found, i, &what);
		ks_buf_text(&what, ", must be ");
		ks_db_print(fresh, i, &what);
		report(comparing, table, fresh, &what);
	}
	ks_buf_release(&what);
}

static int
compare_keys(const struct table *table, struct sqlite3_stmt *found,
	struct sqlite3_stmt *fresh)
{
	int i, order = 0;

	for (i = 0; order == 0 && i < table->keys; i++)
		order = ks_db_compare(found, fresh, i);
	return order;
}

/* Step both through their rows, side by side. */
static void
merge(struct comparing *comparing, const struct table *table,
	struct sqlite3_stmt *found, struct sqlite3_stmt *fresh)
{
	struct ks_db *a = &comparing->found->tables;
	struct ks_db *b = &comparing->fresh->tables;
	bool more = ks_db_next(a, found);
	bool due = ks_db_next(b, fresh);

	while ((more || due) && ks_db_check(a, NULL) == KS_OK) {
		int order = !more ? 1 : !due ? -1 :
			compare_keys(table, found, fresh);

		if (order < 0)
			report_alone(comparing, table, found,
				"should not be there");
		else if (order > 0)
			report_alone(comparing, table, fresh, "is missing");
		else
			compare_columns(comparing, table, found, fresh);
		if (order <= 0)
			more = ks_db_next(a, found);
		if (order >= 0)
			due = ks_db_next(b, fresh);
	}
}

/* The file cannot be read on: that is what is told of it. */
static enum ks_status
report_unreadable(struct comparing *comparing, struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = ks_db_check(&comparing->fresh->tables, err);

	if (status != KS_OK)
		return status;
	if (ks_db_check(&comparing->found->tables, &why) == KS_OK)
		return KS_OK;
	comparing->differences++;
	ks_verify_report(comparing->verifying, KS_SEVERITY_DAMAGE, NULL, PATH,
		"cannot be read: %s%s", why.message, REMEDY);
	return KS_OK;
}

static enum ks_status
compare_table(struct comparing *comparing, const struct table *table,
	struct ks_error *err)
{
	struct ks_db *a = &comparing->found->tables;
	struct ks_db *b = &comparing->fresh->tables;
	struct sqlite3_stmt *found, *fresh;

	/* What cannot be read was told, and hides the rest. */
	if (ks_db_check(a, NULL) != KS_OK)
		return KS_OK;
	found = ks_db_prepare(a, table->sql);
	fresh = ks_db_prepare(b, table->sql);
	if (found != NULL)
		merge(comparing, table, found, fresh);
	ks_db_discard(found);
	ks_db_discard(fresh);
	return report_unreadable(comparing, err);
}

static enum ks_status
compare_tables(struct comparing *comparing, const struct table *tables,
	size_t count, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < count; i++)
		status = compare_table(comparing, &tables[i], err);
	return status;
}

/* ---- the whole file ----------------------------------------------------- */

/* What SQLite itself finds wrong: pages, and indices that miss rows. */
static enum ks_status
check_integrity(struct comparing *comparing, struct ks_error *err)
{
	struct ks_db *tables = &comparing->found->tables;
	struct sqlite3_stmt *stmt = ks_db_prepare(tables,
		"PRAGMA integrity_check(20)");
	struct ks_buf what = KS_BUF_INIT;

	while (ks_db_next(tables, stmt)) {
		char shown[300];

		if (ks_span_is(ks_db_bytes(stmt, 0), "ok"))
			continue;
		comparing->differences++;
		ks_verify_report(comparing->verifying, KS_SEVERITY_DAMAGE,
			NULL, PATH, "%s%s", ks_printable(shown, sizeof(shown),
			ks_db_bytes(stmt, 0)),
			comparing->differences == 1 ? REMEDY : "");
	}
	ks_db_discard(stmt);
	ks_buf_release(&what);
	return report_unreadable(comparing, err);
}

/* What is bound to the log beside the rows. */
static void
compare_log(struct comparing *comparing)
{
	const struct ks_index_log *found = ks_index_log(comparing->found);
	const struct ks_index_log *fresh = ks_index_log(comparing->fresh);
	struct ks_id a, b;

	ks_merkle_root(&found->tree, &a);
	ks_merkle_root(&fresh->tree, &b);
	if (found->tree.size == fresh->tree.size && ks_id_equal(&a, &b) &&
		memcmp(found->time, fresh->time, sizeof(found->time)) == 0 &&
		found->faults == fresh->faults &&
		found->unsupported == fresh->unsupported &&
		found->first_problem == fresh->first_problem)
		return;
	comparing->differences++;
	ks_verify_report(comparing->verifying, KS_SEVERITY_DAMAGE, NULL, PATH,
		"what it says of the log as a whole is not what the log is%s",
		comparing->differences == 1 ? REMEDY : "");
}

/* The catalogue of the same commit, filled in memory; what it asks of the
 * store on the way is not to be answered by the file. */
static enum ks_status
build_catalogue(struct comparing *comparing, bool search,
	struct ks_error *err)
{
	struct ks_store *store = comparing->verifying->store;
	struct ks_index *before = store->index;
	enum ks_status status;

	store->index = comparing->fresh;
	status = ks_catalogue_build(store, comparing->fresh, search,
		comparing->verifying->options->watch, err);
	store->index = before;
	return status;
}

static enum ks_status
compare_search(struct comparing *comparing, struct ks_error *err)
{
	enum ks_status status = ks_db_run(&comparing->fresh->tables,
		vocabulary, err);

	if (status != KS_OK || ks_db_check(&comparing->found->tables, NULL) !=
		KS_OK)
		return status;
	if (ks_db_run(&comparing->found->tables, vocabulary, NULL) != KS_OK)
		return report_unreadable(comparing, err);
	return compare_table(comparing, &search_table, err);
}

static enum ks_status
compare_catalogue(struct comparing *comparing, struct ks_error *err)
{
	struct ks_verifying *verifying = comparing->verifying;
	bool search;
	enum ks_catalogue_state state = ks_catalogue_state(comparing->found,
		&search);
	enum ks_status status;

	if (state != KS_CATALOGUE_CURRENT || !ks_oid_equal(
		&comparing->found->commit, &verifying->store->commit)) {
		if (state != KS_CATALOGUE_ABSENT)
			ks_verify_leave_out(verifying, "the catalogue not "
				"compared: it is of an older state");
		return KS_OK;
	}
	status = build_catalogue(comparing, search, err);
	if (status == KS_OK)
		status = compare_tables(comparing, catalogue_tables,
			sizeof(catalogue_tables) / sizeof(catalogue_tables[0]),
			err);
	return status != KS_OK || !search ? status :
		compare_search(comparing, err);
}

/* The commit that the file is of; false when it is not in the repository. */
static bool
find_commit(struct comparing *comparing, struct ks_git_commit *commit)
{
	struct ks_store *store = comparing->verifying->store;

	if (ks_oid_equal(&comparing->found->commit, &store->commit)) {
		commit->tree = store->tree;
		return true;
	}
	return ks_gitdb_commit(store->db, &comparing->found->commit, commit,
		NULL) == KS_OK;
}

static enum ks_status
compare(struct comparing *comparing, struct ks_error *err)
{
	struct ks_verifying *verifying = comparing->verifying;
	struct ks_git_commit commit;
	enum ks_status status;

	if (!find_commit(comparing, &commit)) {
		ks_verify_leave_out(verifying, "the index not compared: it is "
			"of a state that is gone");
		return KS_OK;
	}
	status = ks_index_open(&comparing->fresh, verifying->store->db,
		&comparing->found->commit, &commit.tree, true,
		verifying->options->watch, err);
	if (status == KS_OK)
		status = check_integrity(comparing, err);
	if (status != KS_OK)
		return status;
	compare_log(comparing);
	status = compare_tables(comparing, index_tables,
		sizeof(index_tables) / sizeof(index_tables[0]), err);
	if (status == KS_OK)
		status = compare_catalogue(comparing, err);
	if (comparing->differences > DIFFERENCES_MAX)
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, PATH,
			"and %llu more differences", (unsigned long long)
			(comparing->differences - DIFFERENCES_MAX));
	return status;
}

enum ks_status
ks_verify_index(struct ks_verifying *verifying, struct ks_error *err)
{
	struct comparing comparing = { .verifying = verifying };
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = ks_index_open_as_is(&comparing.found,
		verifying->store->db, &why);

	if (status == KS_OK) {
		status = compare(&comparing, err);
	} else if (status == KS_NOT_FOUND) {
		ks_verify_leave_out(verifying, "the index not compared: there "
			"is none so far");
		status = KS_OK;
	} else if (status == KS_CORRUPT) {
		ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, PATH,
			"cannot be used: %s%s", why.message, REMEDY);
		status = KS_OK;
	} else if (err != NULL) {
		*err = why;
	}
	ks_index_close(comparing.found);
	ks_index_close(comparing.fresh);
	return status;
}
