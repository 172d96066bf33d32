#include "store/gitdb_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/grow.h"

/* What is found below refs/tags/: names and object ids, then told in the order
 * of names, so that a visitor may use the repository. */
struct found_tag {
	char *name;
	struct ks_oid oid;
};

struct found_tags {
	struct found_tag *list;
	size_t count, room;
	bool failed;
};

static int
take_tag(git_reference *reference, void *payload)
{
	struct found_tags *tags = payload;
	const git_oid *target = git_reference_target(reference);
	struct found_tag *grown = ks_grow(tags->list, tags->count,
		&tags->room, sizeof(*grown), NULL);
	struct found_tag tag = { .name = NULL };

	if (grown != NULL) {
		tags->list = grown;
		tag.name = strdup(git_reference_name(reference));
	}
	/* A symbolic reference is no tag that anybody signed: its id is
	 * zero. */
	if (target != NULL)
		tag.oid = ks_git_oid_of(target);
	if (tag.name != NULL)
		grown[tags->count++] = tag;
	tags->failed = tag.name == NULL;
	git_reference_free(reference);
	return tags->failed ? GIT_EUSER : 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct found_tag *)a)->name,
		((const struct found_tag *)b)->name);
}

enum ks_status
ks_gitdb_tags(struct ks_gitdb *db, const char *prefix, ks_git_tag_fn *visit,
	void *arg, struct ks_error *err)
{
	struct found_tags tags = { .count = 0 };
	git_reference_iterator *iterator = NULL;
	git_reference *reference;
	size_t skip = strlen("refs/tags/"), i;
	char glob[128];
	int rc;
	enum ks_status status = KS_OK;

	(void)snprintf(glob, sizeof(glob), "refs/tags/%s*", prefix);
	rc = git_reference_iterator_glob_new(&iterator, db->repo, glob);
	while (rc == 0 && (rc = git_reference_next(&reference, iterator)) == 0)
		rc = take_tag(reference, &tags);
	git_reference_iterator_free(iterator);
	if (tags.failed)
		status = ks_fail_nomem(err);
	else if (rc != GIT_ITEROVER)
		status = ks_git_fail(err, rc, KS_CORRUPT, "tags");
	if (tags.count > 1)
		qsort(tags.list, tags.count, sizeof(*tags.list), by_name);
	for (i = 0; i < tags.count; i++) {
		if (status == KS_OK)
			status = visit(arg, tags.list[i].name + skip,
				&tags.list[i].oid, err);
		free(tags.list[i].name);
	}
	free(tags.list);
	return status;
}

enum ks_status
ks_gitdb_tag_read(struct ks_gitdb *db, const struct ks_oid *oid,
	uint64_t limit, struct ks_buf *out, struct ks_error *err)
{
	git_odb_object *object = NULL;
	enum ks_status status = ks_git_object(db, oid, GIT_OBJECT_TAG,
		&object, err);

	if (status == KS_OK && git_odb_object_size(object) > limit)
		status = ks_fail(err, KS_CORRUPT, "longer than %llu bytes",
			(unsigned long long)limit);
	if (status == KS_OK) {
		ks_buf_append(out, ks_span(git_odb_object_data(object),
			git_odb_object_size(object)));
		status = ks_buf_check(out, err);
	}
	git_odb_object_free(object);
	return status;
}

/* libgit2 locks a reference by a file, which stays when it dies. Who holds the
 * store's lock is the only one to write tags of this name: what is there is a
 * dead writer's. */
static void
sweep_lock(const struct ks_gitdb *db, const char *name)
{
	struct ks_buf path = KS_BUF_INIT;

	ks_buf_printf(&path, "%srefs/tags/%s.lock", db->directory, name);
	if (ks_buf_check(&path, NULL) == KS_OK)
		(void)unlink(ks_buf_cstr(&path));
	ks_buf_release(&path);
}

enum ks_status
ks_gitdb_tag_write(struct ks_gitdb *db, const char *name,
	struct ks_span bytes, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	git_oid oid;
	int rc;
	enum ks_status status;

	ks_buf_append(&text, bytes);
	status = ks_buf_check(&text, err);
	sweep_lock(db, name);
	if (status == KS_OK) {
		rc = git_tag_create_from_buffer(&oid, db->repo,
			ks_buf_cstr(&text), 1);
		if (rc < 0)
			status = ks_git_fail(err, rc, KS_IO, "tag %s", name);
	}
	ks_buf_release(&text);
	return status;
}

enum ks_status
ks_gitdb_tag_point(struct ks_gitdb *db, const char *name,
	const struct ks_oid *oid, struct ks_error *err)
{
	struct ks_buf full = KS_BUF_INIT;
	git_reference *reference = NULL;
	git_oid id = ks_git_oid(oid);
	enum ks_status status;
	char *path;
	int rc;

	ks_buf_printf(&full, "refs/tags/%s", name);
	(void)ks_buf_cstr(&full);
	status = ks_buf_check(&full, err);
	sweep_lock(db, name);
	if (status == KS_OK) {
		rc = git_reference_create(&reference, db->repo,
			ks_buf_cstr(&full), &id, 1, NULL);
		if (rc < 0)
			status = ks_git_fail(err, rc, KS_IO, "tag %s", name);
	}
	path = status == KS_OK ? ks_git_join(db->directory,
		ks_buf_cstr(&full)) : NULL;
	if (path != NULL)
		ks_gitdb_share(db, path);
	free(path);
	git_reference_free(reference);
	ks_buf_release(&full);
	return status;
}
