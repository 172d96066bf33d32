/*
 * What refers to a record, and whether bytes that it links to are here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/json.h"
#include "store/page.h"

/* ---- links -------------------------------------------------------------- */

static bool
first_digest(void *arg, const struct ks_id *digest)
{
	struct ks_part *part = arg;

	part->is_named = true;
	part->digest = *digest;
	return true;
}

/* The first Artifact that describes bytes, if there is one. */
static enum ks_status
find_artifact(struct ks_store *store, const struct ks_id *bytes,
	struct ks_part *artifact)
{
	struct ks_catalogue *catalogue;
	struct ks_part found;
	enum ks_status status = ks_store_catalogue(store, &catalogue, NULL,
		NULL);

	memset(&found, 0, sizeof(found));
	if (status == KS_OK)
		status = ks_catalogue_artifacts(catalogue, bytes, first_digest,
			&found, NULL);
	if (status == KS_OK && found.is_named)
		status = ks_part_read(store, &found.digest, artifact, NULL);
	if (status != KS_OK)
		ks_part_release(artifact);
	return status;
}

const char *
ks_page_link_state(struct ks_store *store, const struct ks_id *bytes,
	struct ks_part *artifact, bool *failed)
{

	memset(artifact, 0, sizeof(*artifact));
	if (find_artifact(store, bytes, artifact) == KS_NOMEM)
		*failed = true;
	if (ks_store_has(store, bytes))
		return "archived";
	return artifact->is_here ? "described" : "absent";
}

/* ---- users -------------------------------------------------------------- */

/* Those that refer to a record. */
struct users {
	struct ks_composing *c;
	struct ks_buf list;	/* struct user of each that is named */
	uint64_t total;
};

struct user {
	struct ks_id digest;
	char kind[64], path[96];
};

/* "BenchmarkRun" of a full kind. */
static const char *
short_kind(const char *kind)
{
	const char *slash = strrchr(kind, '/');

	return slash == NULL ? kind : slash + 1;
}

static const char *
short_path(const char *path)
{
	return strncmp(path, "spec.", 5) == 0 ? path + 5 : path;
}

/* What list takes for a member of that path; NULL: nothing. */
static const char *
filter_of(const char *path)
{
	static const struct {
		const char *path, *filter;
	} filters[] = {
		{ "operation.specDigest", "operation" },
		{ "operationSpecDigest", "operation" },
		{ "workloadDigest", "workload" },
		{ "implementationDigest", "implementation" },
		{ "modelDigest", "model" },
		{ "project", "project" },
		{ "source", "source" },
	};
	size_t i;

	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (strcmp(filters[i].path, path) == 0)
			return filters[i].filter;
	return NULL;
}

static void
say_count(void *arg, const char *kind, const char *path, uint64_t count)
{
	struct users *users = arg;
	struct ks_buf *value = ks_draft_row(&users->c->draft,
		short_kind(kind), KS_ROW_DERIVED);
	struct ks_buf *note = ks_draft_note(&users->c->draft);

	ks_buf_printf(value, "%" PRIu64, count);
	ks_buf_printf(note, "by %s", short_path(path));
	if (filter_of(short_path(path)) != NULL) {
		ks_buf_printf(note, ": kistore list --kind %s --%s ",
			short_kind(kind), filter_of(short_path(path)));
		ks_part_digits(note, &users->c->part->digest);
	}
	users->total += count;
}

static bool
take_user(void *arg, const struct ks_id *digest, const char *kind,
	const char *path)
{
	struct users *users = arg;
	struct user user = { .digest = *digest };

	(void)snprintf(user.kind, sizeof(user.kind), "%s", short_kind(kind));
	(void)snprintf(user.path, sizeof(user.path), "%s", short_path(path));
	ks_buf_append(&users->list, ks_span(&user, sizeof(user)));
	return users->list.failed ||
		users->list.len / sizeof(user) == KS_PAGE_USERS;
}

static void
say_user(struct users *users, const struct user *user)
{
	struct ks_part part;
	struct ks_buf *value = ks_draft_row(&users->c->draft, user->kind,
		KS_ROW_LOG);

	ks_draft_target(&users->c->draft, &user->digest);
	(void)ks_part_known(users->c->store, &user->digest, &part,
		&users->c->draft.failed);
	ks_part_title(&part, value);
	if (part.row.state.retracted)
		ks_buf_text(ks_draft_note(&users->c->draft), "retracted");
	else if (part.row.state.superseded)
		ks_buf_text(ks_draft_note(&users->c->draft), "superseded");
	else if (part.row.state.taken_down)
		ks_buf_text(ks_draft_note(&users->c->draft), "taken down");
	ks_part_release(&part);
}

static void
say_users(struct users *users)
{
	size_t count = users->list.len / sizeof(struct user);
	struct user user;
	size_t i;

	if (users->total == 0) {
		ks_draft_say(&users->c->draft, "",
			"Nothing in this store refers to it.");
		return;
	}
	ks_draft_section(&users->c->draft, users->total > count ?
		"Used by: the first" : "Used by: all");
	for (i = 0; i < count; i++) {
		memcpy(&user, users->list.data + i * sizeof(user),
			sizeof(user));
		say_user(users, &user);
	}
}

enum ks_status
ks_page_users(struct ks_composing *c, struct ks_error *err)
{
	struct users users = { .c = c, .list = KS_BUF_INIT };
	struct ks_catalogue *catalogue;
	enum ks_status status = ks_store_catalogue(c->store, &catalogue,
		c->options->watch, err);

	ks_draft_section(&c->draft, "Used by");
	if (status == KS_OK)
		status = ks_catalogue_user_counts(catalogue, &c->part->digest,
			say_count, &users, err);
	if (status == KS_OK)
		status = ks_catalogue_users(catalogue, &c->part->digest,
			take_user, &users, err);
	if (status == KS_OK)
		status = ks_buf_check(&users.list, err);
	if (status == KS_OK)
		say_users(&users);
	ks_buf_release(&users.list);
	return status;
}
