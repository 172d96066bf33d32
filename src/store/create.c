#include <time.h>

#include "format/json.h"
#include "format/vkey.h"
#include "store/store.h"

/* An origin is a log's name in checkpoints and the name of its key, so it has
 * to be fit for both (store-layout.md T6). */
enum ks_status
ks_store_check_origin(const char *origin, struct ks_error *err)
{
	enum ks_status status = ks_key_name_check(ks_span_text(origin), err);

	if (status == KS_OK)
		return KS_OK;
	if (err != NULL)
		err->status = KS_USAGE;
	return KS_USAGE;
}

static void
print_store_json(struct ks_buf *out, const char *origin)
{
	ks_buf_text(out, "{\"format\":\"" KISTORE_FORMAT "\"");
	if (origin != NULL) {
		ks_buf_text(out, ",\"origin\":");
		ks_json_quote(out, ks_span_text(origin));
	}
	ks_buf_byte(out, '}');
}

static enum ks_status
print_first_segment(struct ks_buf *out, const char *at, struct ks_error *err)
{
	struct ks_entry entry = {
		.op = KS_OP_INIT,
		.at = ks_span_text(at),
		.format = ks_span_text("\"" KISTORE_FORMAT "\"")
	};
	enum ks_status status = ks_entry_write(&entry, out, err);

	ks_buf_byte(out, '\n');
	return status == KS_OK ? ks_buf_check(out, err) : status;
}

/* The files of the first commit, in path order. */
enum { ATTRIBUTES, SEGMENT, STORE, FILES };

static enum ks_status
write_commit(struct ks_git_writer *writer, struct ks_gitdb *db,
	const struct ks_span contents[FILES], int64_t now,
	struct ks_error *err)
{
	char segment[KS_SEGMENT_PATH];
	struct ks_git_change changes[FILES] = {
		[ATTRIBUTES] = { .path = KS_PATH_ATTRIBUTES },
		[SEGMENT] = { .path = ks_layout_segment(0, segment) },
		[STORE] = { .path = KS_PATH_STORE }
	};
	struct ks_oid none, tree, commit;
	struct ks_git_head head;
	size_t i;
	enum ks_status status = ks_gitdb_head(db, &head, err);

	memset(&none, 0, sizeof(none));
	for (i = 0; status == KS_OK && i < FILES; i++)
		status = ks_gitdb_add(writer, contents[i], false,
			&changes[i].oid, err);
	if (status == KS_OK)
		status = ks_gitdb_tree(writer, &none, changes, FILES, &tree,
			err);
	if (status == KS_OK)
		status = ks_gitdb_finish(writer, &tree, &head,
			"kistore init\n", now, &commit, err);
	return status == KS_OK ? ks_gitdb_publish(writer, err) : status;
}

static enum ks_status
fill(struct ks_gitdb *db, const struct ks_span contents[FILES], int64_t now,
	struct ks_error *err)
{
	struct ks_lock lock = KS_LOCK_INIT;
	struct ks_git_writer *writer = NULL;
	enum ks_status status = ks_lock_take(&lock, ks_gitdb_directory(db),
		-1, NULL, err);

	if (status == KS_OK)
		status = ks_gitdb_begin(&writer, db, FILES, err);
	if (status == KS_OK)
		status = write_commit(writer, db, contents, now, err);
	ks_gitdb_end(writer);
	ks_lock_release(&lock);
	return status;
}

enum ks_status
ks_store_create(const char *path, const char *origin, bool worktree,
	int64_t now, struct ks_error *err)
{
	struct ks_gitdb *db = NULL;
	struct ks_buf store = KS_BUF_INIT;
	struct ks_buf segment = KS_BUF_INIT;
	struct ks_span contents[FILES];
	char at[KS_TIME_TEXT + 1];
	int64_t seconds = now < 0 ? (int64_t)time(NULL) : now;
	enum ks_status status = origin == NULL ? KS_OK :
		ks_store_check_origin(origin, err);

	if (status == KS_OK && !ks_time_print(seconds, at))
		status = ks_fail(err, KS_USAGE,
			"the time is outside the years 0000 to 9999");
	if (status == KS_OK)
		status = print_first_segment(&segment, at, err);
	print_store_json(&store, origin);
	if (status == KS_OK)
		status = ks_buf_check(&store, err);
	if (status == KS_OK)
		status = ks_gitdb_create(&db, path, worktree, err);
	contents[ATTRIBUTES] = ks_span_text(ks_layout_attributes);
	contents[SEGMENT] = ks_buf_span(&segment);
	contents[STORE] = ks_buf_span(&store);
	if (status == KS_OK) {
		status = fill(db, contents, seconds, err);
		if (status == KS_OK)
			ks_gitdb_close(db);
		else
			ks_gitdb_discard(db);
	}
	ks_buf_release(&store);
	ks_buf_release(&segment);
	return status;
}
