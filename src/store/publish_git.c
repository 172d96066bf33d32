/*
 * The repository, as git's dumb HTTP wants it: packs with their list, and the
 * references with theirs (as git update-server-info makes them).
 *
 * What is published is the snapshot's commit with its history, and the tags of
 * snapshots that lead into it; an unsigned tail is not. The packs are made for
 * the directory by stock git: one with everything, then one more each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "format/checkpoint.h"
#include "store/publish_internal.h"
#include "store/purge.h"
#include "store/revision.h"

#define REPOSITORY "repository.git"
#define REFS REPOSITORY "/info/refs"
#define PACKS REPOSITORY "/objects/info/packs"
#define PACK_FOLDER REPOSITORY "/objects/pack"
#define LIST_LIMIT ((uint64_t)64 << 20)
#define TAG_LIMIT ((uint64_t)1 << 20)
#define LOCK_WAIT_MS 30000
#define PACKS_MAX 50	/* then they are made into one */

/* pack-<40 digits> */
#define PACK_NAME 45
#define PACK_PATH (sizeof(PACK_FOLDER) + PACK_NAME + 8)

struct tag {
	char name[64];		/* "snapshot/9" */
	struct ks_oid oid, commit;
	bool is_published;	/* its commit is in the history */
	bool was_published;	/* it was in the list before */
};

struct repository {
	struct ks_publish *publish;
	struct ks_git_head head;
	struct ks_oid commit;
	struct tag *tags;	/* in order of name */
	size_t tag_count, tag_room;
	struct ks_buf refs;	/* the list, as it is there */
	struct ks_oid old;	/* the commit that it has; zero = none */
	bool goes_on;		/* from that commit */
	struct ks_buf packs;	/* the names of packs, 45 bytes each */
};

/* ---- what there is to publish ---------------------------------------- */

/* A tag of another form than a snapshot's is not published. */
static enum ks_status
take_tag(void *arg, const char *name, const struct ks_oid *oid,
	struct ks_error *err)
{
	struct repository *repository = arg;
	struct ks_buf text = KS_BUF_INIT;
	struct tag tag = { .oid = *oid };
	struct tag *grown;
	uint64_t size;
	bool good = ks_checkpoint_read_number(ks_span_text(name +
		strlen("snapshot/")), &size) && strlen(name) <
		sizeof(tag.name) && ks_gitdb_tag_read(
		repository->publish->store->db, oid, TAG_LIMIT, &text, NULL)
		== KS_OK && ks_span_begins(ks_buf_span(&text), "object ") &&
		ks_oid_read(&tag.commit,
		ks_span(text.data + 7, text.len - 7));

	ks_buf_release(&text);
	if (!good)
		return KS_OK;
	memcpy(tag.name, name, strlen(name) + 1);
	grown = ks_grow(repository->tags, repository->tag_count,
		&repository->tag_room, sizeof(*grown), err);
	if (grown == NULL)
		return KS_NOMEM;
	repository->tags = grown;
	grown[repository->tag_count++] = tag;
	return KS_OK;
}

static void
mark(struct repository *repository, const struct ks_oid *commit)
{
	size_t i;

	repository->goes_on = repository->goes_on ||
		ks_oid_equal(commit, &repository->old);
	for (i = 0; i < repository->tag_count; i++)
		if (ks_oid_equal(commit, &repository->tags[i].commit))
			repository->tags[i].is_published = true;
}

/* Which tags, and whether the commit published before, are in the history. */
static enum ks_status
walk_history(struct repository *repository, struct ks_error *err)
{
	struct ks_oid at = repository->commit;
	struct ks_git_commit commit;
	enum ks_status status = KS_OK;

	while (status == KS_OK && !ks_oid_is_zero(&at)) {
		mark(repository, &at);
		status = ks_gitdb_commit(repository->publish->store->db, &at,
			&commit, err);
		at = commit.parent;
	}
	return status;
}

static enum ks_status
find_commit(struct repository *repository, struct ks_error *err)
{
	struct ks_store *store = repository->publish->store;
	char size[32];
	enum ks_status status = ks_gitdb_head(store->db, &repository->head,
		err);

	(void)snprintf(size, sizeof(size), "%llu",
		(unsigned long long)repository->publish->note->size);
	if (status == KS_OK)
		status = ks_revision_find(store->db, &store->commit, size,
			&repository->commit, err);
	return status == KS_OK ? ks_gitdb_tags(store->db, "snapshot/",
		take_tag, repository, err) : status;
}

/* ---- what was published before --------------------------------------- */

/* "ID TAB NAME" */
static void
take_ref(struct repository *repository, struct ks_span line)
{
	struct ks_span name;
	struct ks_oid oid;
	size_t i;

	if (line.len <= KS_OID_HEX || !ks_oid_read(&oid, line))
		return;
	name = ks_span(line.data + KS_OID_HEX + 1, line.len - KS_OID_HEX - 1);
	if (ks_span_begins(name, "refs/heads/"))
		repository->old = oid;
	for (i = 0; i < repository->tag_count; i++)
		if (ks_oid_equal(&oid, &repository->tags[i].oid))
			repository->tags[i].was_published = true;
}

/* What is unreadable counts as nothing: then all is published anew. */
static enum ks_status
read_list(struct repository *repository, const char *path, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_error why = KS_ERROR_INIT;
	enum ks_status status = ks_webdir_read(repository->publish->dir, path,
		LIST_LIMIT, out, &why);

	return status == KS_OK || status == KS_NOT_FOUND ||
		status == KS_INVALID ? KS_OK : ks_fail(err, status, "%s",
		why.message);
}

static enum ks_status
read_refs(struct repository *repository, struct ks_error *err)
{
	struct ks_span rest, line;
	enum ks_status status = read_list(repository, REFS, &repository->refs,
		err);

	rest = ks_buf_span(&repository->refs);
	while (ks_log_next_line(&rest, &line))
		take_ref(repository, line);
	return status;
}

/* "repository.git/objects/pack/NAME" and what follows. */
static const char *
pack_path(const uint8_t *name, const char *ending, char out[PACK_PATH])
{
	(void)snprintf(out, PACK_PATH, PACK_FOLDER "/%.*s%s", PACK_NAME,
		(const char *)name, ending);
	return out;
}

/* "P pack-….pack": a pack counts that is there, with its index. */
static enum ks_status
take_pack(struct repository *repository, struct ks_span line,
	bool *whole, struct ks_error *err)
{
	struct ks_webdir *dir = repository->publish->dir;
	char path[PACK_PATH];
	struct ks_oid id;
	uint64_t length;
	enum ks_status status;

	if (line.len == 0)
		return KS_OK;
	if (line.len != 2 + PACK_NAME + 5 || !ks_span_begins(line,
		"P pack-") || !ks_oid_read(&id, ks_span(line.data + 7,
		KS_OID_HEX))) {
		*whole = false;
		return KS_OK;
	}
	status = ks_webdir_length(dir, pack_path(line.data + 2, ".pack", path),
		&length, err);
	if (status == KS_OK)
		status = ks_webdir_length(dir, pack_path(line.data + 2, ".idx",
			path), &length, err);
	if (status == KS_NOT_FOUND)
		*whole = false;
	else
		ks_buf_append(&repository->packs, ks_span(line.data + 2,
			PACK_NAME));
	return status == KS_NOT_FOUND ? KS_OK : status;
}

/* Where one is missing, none is gone on from. */
static enum ks_status
read_packs(struct repository *repository, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span rest, line;
	bool whole = true;
	enum ks_status status = read_list(repository, PACKS, &text, err);

	rest = ks_buf_span(&text);
	while (status == KS_OK && ks_log_next_line(&rest, &line))
		status = take_pack(repository, line, &whole, err);
	ks_buf_release(&text);
	if (status != KS_OK)
		return status;
	if (!whole || repository->packs.len == 0 ||
		repository->packs.len >= (size_t)PACKS_MAX * PACK_NAME)
		repository->goes_on = false;
	if (!repository->goes_on)
		ks_buf_clear(&repository->packs);
	return ks_buf_check(&repository->packs, err);
}

/* ---- the next pack --------------------------------------------------- */

/* What it is to hold; nothing where all is there. */
static void
list_revisions(const struct repository *repository, struct ks_buf *out)
{
	char hex[KS_OID_HEX + 1];
	bool anew = !repository->goes_on;
	size_t i;

	if (anew || !ks_oid_equal(&repository->commit, &repository->old))
		ks_buf_printf(out, "%s\n", ks_oid_print(&repository->commit,
			hex));
	for (i = 0; i < repository->tag_count; i++)
		if (repository->tags[i].is_published &&
			(anew || !repository->tags[i].was_published))
			ks_buf_printf(out, "%s\n", ks_oid_print(
				&repository->tags[i].oid, hex));
	if (!anew && out->len > 0)
		ks_buf_printf(out, "^%s\n", ks_oid_print(&repository->old,
			hex));
}

/* A pack ends in the SHA-1 of what it holds before, and is named after it. */
static enum ks_status
name_pack(struct repository *repository, int fd, struct ks_error *err)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_oid sum;
	char hex[KS_OID_HEX + 1];
	enum ks_status status = KS_OK;

	if (lseek(fd, -(off_t)sizeof(sum), SEEK_END) >= 0)
		status = ks_file_read_fd(fd, "pack", sizeof(sum), &bytes, err);
	if (status == KS_OK && bytes.len != sizeof(sum))
		status = ks_fail(err, KS_IO, "git pack-objects made no pack");
	if (status == KS_OK) {
		memcpy(&sum, bytes.data, sizeof(sum));
		ks_buf_printf(&repository->packs, "pack-%s",
			ks_oid_print(&sum, hex));
		status = ks_buf_check(&repository->packs, err);
	}
	ks_buf_release(&bytes);
	return status;
}

static enum ks_status
place_pack(struct repository *repository, struct ks_error *err)
{
	struct ks_publish *publish = repository->publish;
	const uint8_t *name = repository->packs.data + repository->packs.len -
		PACK_NAME;
	struct ks_buf pack = KS_BUF_INIT;
	char path[PACK_PATH];
	enum ks_status status;

	ks_buf_text(&pack, ks_webdir_new_name(publish->dir, KS_WEBDIR_PACK));
	(void)ks_buf_cstr(&pack);
	status = ks_buf_check(&pack, err);
	if (status == KS_OK)
		status = ks_gitdb_index_pack(publish->store->db,
			ks_buf_cstr(&pack), ks_webdir_new_name(publish->dir,
			KS_WEBDIR_PACK_INDEX), err);
	if (status == KS_OK)
		status = ks_webdir_place(publish->dir, KS_WEBDIR_PACK,
			pack_path(name, ".pack", path), err);
	if (status == KS_OK)
		status = ks_webdir_place(publish->dir, KS_WEBDIR_PACK_INDEX,
			pack_path(name, ".idx", path), err);
	publish->result->packs += status == KS_OK;
	ks_buf_release(&pack);
	return status;
}

static enum ks_status
make_pack(struct repository *repository, struct ks_span revisions,
	struct ks_error *err)
{
	struct ks_webdir *dir = repository->publish->dir;
	int input = -1, pack = -1;
	enum ks_status status = ks_webdir_start(dir, KS_WEBDIR_FILE, &input,
		err);

	if (status == KS_OK)
		status = ks_file_write(input, "revisions", revisions, err);
	if (status == KS_OK && lseek(input, 0, SEEK_SET) != 0)
		status = ks_fail_errno(err, "revisions");
	if (status == KS_OK)
		status = ks_webdir_start(dir, KS_WEBDIR_PACK, &pack, err);
	if (status == KS_OK)
		status = ks_gitdb_pack(repository->publish->store->db, input,
			pack, err);
	if (status == KS_OK)
		status = name_pack(repository, pack, err);
	if (input >= 0)
		(void)close(input);
	if (pack >= 0)
		(void)close(pack);
	ks_webdir_drop(dir, KS_WEBDIR_FILE);
	return status == KS_OK ? place_pack(repository, err) : status;
}

static enum ks_status
add_pack(struct repository *repository, struct ks_error *err)
{
	struct ks_buf revisions = KS_BUF_INIT;
	enum ks_status status;

	list_revisions(repository, &revisions);
	status = ks_buf_check(&revisions, err);
	if (status == KS_OK && revisions.len > 0)
		status = make_pack(repository, ks_buf_span(&revisions), err);
	ks_buf_release(&revisions);
	return status == KS_OK ? ks_webdir_flush(repository->publish->dir,
		err) : status;
}

/* ---- the lists ------------------------------------------------------- */

static enum ks_status
put_text(struct repository *repository, const char *path, struct ks_buf *text,
	struct ks_error *err)
{
	struct ks_webdir *dir = repository->publish->dir;
	enum ks_status status = ks_buf_check(text, err);

	if (status == KS_OK)
		status = ks_webdir_update(dir, path, ks_buf_span(text), NULL,
			err);
	if (status == KS_OK)
		status = ks_webdir_flush(dir, err);
	ks_buf_clear(text);
	return status;
}

static const char *
branch(const struct repository *repository)
{
	return strncmp(repository->head.branch, "refs/heads/", 11) == 0 ?
		repository->head.branch : "refs/heads/main";
}

static void
print_refs(const struct repository *repository, struct ks_buf *out)
{
	char hex[KS_OID_HEX + 1];
	size_t i;

	ks_buf_printf(out, "%s\t%s\n", ks_oid_print(&repository->commit, hex),
		branch(repository));
	for (i = 0; i < repository->tag_count; i++) {
		const struct tag *tag = &repository->tags[i];

		if (!tag->is_published)
			continue;
		ks_buf_printf(out, "%s\trefs/tags/%s\n", ks_oid_print(
			&tag->oid, hex), tag->name);
		ks_buf_printf(out, "%s\trefs/tags/%s^{}\n", ks_oid_print(
			&tag->commit, hex), tag->name);
	}
}

/* Packs first, then what leads to them. */
static enum ks_status
put_lists(struct repository *repository, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	size_t i;
	enum ks_status status;

	for (i = 0; i < repository->packs.len; i += PACK_NAME)
		ks_buf_printf(&text, "P %.*s.pack\n", PACK_NAME,
			(const char *)repository->packs.data + i);
	ks_buf_byte(&text, '\n');
	status = put_text(repository, PACKS, &text, err);
	if (status == KS_OK) {
		ks_buf_printf(&text, "ref: %s\n", branch(repository));
		status = put_text(repository, REPOSITORY "/HEAD", &text, err);
	}
	if (status == KS_OK) {
		print_refs(repository, &text);
		status = put_text(repository, REFS, &text, err);
	}
	ks_buf_release(&text);
	return status;
}

static bool
is_listed(const struct repository *repository, const char *name)
{
	size_t i;

	for (i = 0; i < repository->packs.len; i += PACK_NAME)
		if (strncmp(name, (const char *)repository->packs.data + i,
			PACK_NAME) == 0)
			return true;
	return false;
}

/* Packs that nothing lists: of a history that was rewritten (W10), or of a
 * process that died. */
static enum ks_status
remove_packs(struct repository *repository, struct ks_error *err)
{
	struct ks_webdir *dir = repository->publish->dir;
	struct ks_buf names = KS_BUF_INIT;
	char path[sizeof(PACK_FOLDER) + 256];
	size_t i;
	enum ks_status status = ks_webdir_list(dir, PACK_FOLDER, &names, err);

	for (i = 0; status == KS_OK && i < names.len;
		i += strlen((const char *)names.data + i) + 1) {
		const char *name = (const char *)names.data + i;

		if (is_listed(repository, name))
			continue;
		(void)snprintf(path, sizeof(path), PACK_FOLDER "/%s", name);
		status = ks_webdir_remove(dir, path, err);
	}
	ks_buf_release(&names);
	return status;
}

/* ---- all of it ------------------------------------------------------- */

static enum ks_status
put_repository(struct repository *repository, struct ks_error *err)
{
	enum ks_status status = find_commit(repository, err);

	if (status == KS_OK)
		status = read_refs(repository, err);
	if (status == KS_OK)
		status = walk_history(repository, err);
	if (status == KS_OK)
		status = read_packs(repository, err);
	if (status == KS_OK)
		status = add_pack(repository, err);
	if (status == KS_OK)
		status = put_lists(repository, err);
	return status == KS_OK ? remove_packs(repository, err) : status;
}

/* W10. Looking needs the lock of writers, who sweep away what they find of
 * others. */
static enum ks_status
is_held_back(struct ks_publish *publish, bool *held, struct ks_error *err)
{
	struct ks_lock lock = KS_LOCK_INIT;
	enum ks_status status;

	*held = false;
	if (publish->takedowns.count == 0)
		return KS_OK;
	status = ks_lock_take(&lock, ks_gitdb_directory(publish->store->db),
		LOCK_WAIT_MS, publish->watch, err);
	if (status == KS_OK)
		status = ks_purge_is_due(publish->store, publish->watch, held,
			err);
	ks_lock_release(&lock);
	return status;
}

enum ks_status
ks_publish_repository(struct ks_publish *publish, struct ks_error *err)
{
	struct repository repository = { .publish = publish,
		.refs = KS_BUF_INIT, .packs = KS_BUF_INIT };
	bool held;
	enum ks_status status = is_held_back(publish, &held, err);

	if (status == KS_OK && held)
		return ks_webdir_remove_all(publish->dir, REPOSITORY, err);
	if (status == KS_OK)
		status = put_repository(&repository, err);
	publish->result->has_repository = status == KS_OK;
	free(repository.tags);
	ks_buf_release(&repository.refs);
	ks_buf_release(&repository.packs);
	return status;
}
