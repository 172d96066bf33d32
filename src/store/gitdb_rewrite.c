#include "store/gitdb_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/idmap.h"

/*
 * Commits are taken parents first, so that a commit's new parents are known
 * when it is composed. Other references are looked at in the same way, dry:
 * nothing is composed, and what would change has the id ks_git_changed.
 */

#define TAG_DEPTH 32
#define TAG_LIMIT ((size_t)1 << 20)
#define STEP 256

/* A commit that was met. Until its turn has come `new` is zero. */
struct rewritten {
	struct ks_oid old, new;
};

struct ks_git_rewrite {
	struct ks_gitdb *db;
	const struct ks_git_plan *plan;
	struct ks_git_head head;
	struct ks_git_pack *pack;
	struct ks_git_filter *filter;
	bool dry, published;
	struct rewritten *commits;
	size_t commit_room;
	struct ks_idmap by_old;
	struct ks_buf stack;	/* struct ks_oid: commits to come */
	struct ks_git_rewrite_counts counts;
};

/* ---- commits ----------------------------------------------------------- */

/* The text of a commit, as far as it is to change. */
struct commit_text {
	struct ks_oid tree;
	struct ks_span parents;	/* lines "parent ID" */
	struct ks_span rest;
};

/* Take a line "WORD ID" off the front of a text. */
static bool
take_id(struct ks_span *text, const char *word, struct ks_oid *oid)
{
	size_t len = strlen(word);
	char hex[KS_OID_HEX + 1] = "";

	if (text->len < len + KS_OID_HEX + 1 ||
		memcmp(text->data, word, len) != 0 ||
		text->data[len + KS_OID_HEX] != '\n')
		return false;
	memcpy(hex, text->data + len, KS_OID_HEX);
	if (!ks_oid_parse(oid, hex))
		return false;
	*text = ks_span(text->data + len + KS_OID_HEX + 1,
		text->len - len - KS_OID_HEX - 1);
	return true;
}

static enum ks_status
read_commit(struct ks_git_rewrite *rewrite, const struct ks_oid *oid,
	git_odb_object **object, struct commit_text *commit,
	struct ks_error *err)
{
	struct ks_span text;
	struct ks_oid parent;
	char hex[KS_OID_HEX + 1];
	enum ks_status status = ks_git_sound(rewrite->db, oid,
		GIT_OBJECT_COMMIT, object, err);

	if (status != KS_OK)
		return status;
	text = ks_span(git_odb_object_data(*object),
		git_odb_object_size(*object));
	if (!take_id(&text, "tree ", &commit->tree)) {
		git_odb_object_free(*object);
		*object = NULL;
		return ks_fail(err, KS_CORRUPT, "git commit %s: is malformed",
			ks_oid_print(oid, hex));
	}
	commit->parents = text;
	while (take_id(&text, "parent ", &parent))
		;
	commit->parents.len -= text.len;
	commit->rest = text;
	return KS_OK;
}

/* The number of a commit, or KS_IDMAP_NONE. */
static uint32_t
find_commit(const struct ks_git_rewrite *rewrite, const struct ks_oid *oid)
{
	return ks_idmap_find(&rewrite->by_old, rewrite->commits, oid->bytes);
}

/* What became of a commit: zero while that is open, and for one that was not
 * met it stays what it is. */
static struct ks_oid
new_of(const struct ks_git_rewrite *rewrite, const struct ks_oid *oid)
{
	uint32_t found = find_commit(rewrite, oid);

	return found == KS_IDMAP_NONE ? *oid : rewrite->commits[found].new;
}

static bool
has_changed(const struct ks_git_rewrite *rewrite, const struct ks_oid *oid)
{
	struct ks_oid new = new_of(rewrite, oid);

	return !ks_oid_equal(oid, &new);
}

static enum ks_status
add_commit(struct ks_git_rewrite *rewrite, const struct ks_oid *oid,
	struct ks_error *err)
{
	size_t used = rewrite->by_old.used;
	struct rewritten *grown = ks_grow(rewrite->commits, used,
		&rewrite->commit_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	rewrite->commits = grown;
	grown[used] = (struct rewritten){ .old = *oid };
	return ks_idmap_add(&rewrite->by_old, grown) ? KS_OK :
		ks_fail_nomem(err);
}

/* The bytes of the header that a text begins with, continuation lines
 * included; 0 at the blank line that ends the headers. */
static size_t
header_length(struct ks_span text)
{
	size_t at = 0;

	if (text.len == 0 || text.data[0] == '\n')
		return 0;
	do {
		const uint8_t *end = memchr(text.data + at, '\n',
			text.len - at);

		at = end == NULL ? text.len : (size_t)(end - text.data) + 1;
	} while (at < text.len && text.data[at] == ' ');
	return at;
}

static bool
begins(struct ks_span text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && memcmp(text.data, word, len) == 0;
}

/* A signature cannot hold for another text: that of the commit itself, and
 * that of a tag that was merged, when the commit it names is another now. */
static bool
is_lost_signature(const struct ks_git_rewrite *rewrite, struct ks_span header)
{
	struct ks_oid oid;

	if (begins(header, "gpgsig ") || begins(header, "gpgsig-sha256 "))
		return true;
	return take_id(&header, "mergetag object ", &oid) &&
		has_changed(rewrite, &oid);
}

static void
append_rest(struct ks_git_rewrite *rewrite, struct ks_span rest,
	struct ks_buf *out)
{
	size_t len;

	while ((len = header_length(rest)) > 0) {
		if (is_lost_signature(rewrite, ks_span(rest.data, len)))
			rewrite->counts.signatures++;
		else
			ks_buf_append(out, ks_span(rest.data, len));
		rest = ks_span(rest.data + len, rest.len - len);
	}
	ks_buf_append(out, rest);
}

/* Whether any parent has become another commit. */
static bool
has_new_parent(const struct ks_git_rewrite *rewrite, struct ks_span parents)
{
	struct ks_oid oid;

	while (take_id(&parents, "parent ", &oid))
		if (has_changed(rewrite, &oid))
			return true;
	return false;
}

static enum ks_status
compose(struct ks_git_rewrite *rewrite, const struct commit_text *commit,
	const struct ks_oid *tree, struct ks_oid *new, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span parents = commit->parents;
	struct ks_oid oid;
	char hex[KS_OID_HEX + 1];
	enum ks_status status;

	ks_buf_printf(&text, "tree %s\n", ks_oid_print(tree, hex));
	while (take_id(&parents, "parent ", &oid)) {
		struct ks_oid parent = new_of(rewrite, &oid);

		ks_buf_printf(&text, "parent %s\n",
			ks_oid_print(&parent, hex));
	}
	append_rest(rewrite, commit->rest, &text);
	status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_git_pack_add(rewrite->pack, GIT_OBJECT_COMMIT,
			ks_buf_span(&text), false, new, err);
	ks_buf_release(&text);
	return status;
}

/* One whose tree and parents stay keeps its id. */
static enum ks_status
rewrite_commit(struct ks_git_rewrite *rewrite, const struct ks_oid *old,
	const struct commit_text *commit, struct ks_oid *new,
	struct ks_error *err)
{
	struct ks_oid tree;
	char hex[KS_OID_HEX + 1];
	enum ks_status status = ks_git_filter_root(rewrite->filter,
		&commit->tree, &tree, err);

	*new = *old;
	if (status != KS_OK)
		return ks_context(err, "commit %.12s", ks_oid_print(old, hex));
	if (ks_oid_equal(&tree, &commit->tree) &&
		!has_new_parent(rewrite, commit->parents))
		return KS_OK;
	if (rewrite->dry) {
		*new = ks_git_changed;
		return KS_OK;
	}
	rewrite->counts.rewritten++;
	return compose(rewrite, commit, &tree, new, err);
}

/* ---- history ----------------------------------------------------------- */

static enum ks_status
push(struct ks_git_rewrite *rewrite, const struct ks_oid *oid,
	struct ks_error *err)
{
	ks_buf_append(&rewrite->stack, ks_span(oid, sizeof(*oid)));
	return ks_buf_check(&rewrite->stack, err);
}

/* Put the parents that are still to come on the stack. A commit that is open
 * is a descendant: no history of sound objects has such a parent. */
static enum ks_status
push_parents(struct ks_git_rewrite *rewrite, const struct ks_oid *child,
	struct ks_span parents, struct ks_error *err)
{
	struct ks_oid oid;
	char hex[KS_OID_HEX + 1];
	enum ks_status status = KS_OK;

	while (status == KS_OK && take_id(&parents, "parent ", &oid)) {
		struct ks_oid new = new_of(rewrite, &oid);

		if (find_commit(rewrite, &oid) == KS_IDMAP_NONE)
			status = push(rewrite, &oid, err);
		else if (ks_oid_is_zero(&new))
			status = ks_fail(err, KS_CORRUPT, "git commit %s: is "
				"its own ancestor", ks_oid_print(child, hex));
	}
	return status;
}

/* Open the commit on top of the stack, or, with all its parents done, rewrite
 * it and take it off. */
static enum ks_status
take_top(struct ks_git_rewrite *rewrite, const struct ks_oid *oid,
	struct ks_error *err)
{
	uint32_t number = find_commit(rewrite, oid);
	size_t height = rewrite->stack.len;
	git_odb_object *object = NULL;
	struct commit_text commit;
	struct ks_oid new;
	enum ks_status status = read_commit(rewrite, oid, &object, &commit,
		err);

	if (status == KS_OK && number == KS_IDMAP_NONE) {
		number = rewrite->by_old.used;
		status = add_commit(rewrite, oid, err);
		if (status == KS_OK)
			status = push_parents(rewrite, oid, commit.parents,
				err);
	}
	if (status == KS_OK && rewrite->stack.len == height) {
		status = rewrite_commit(rewrite, oid, &commit, &new, err);
		if (status == KS_OK) {
			rewrite->commits[number].new = new;
			rewrite->stack.len -= sizeof(*oid);
		}
	}
	git_odb_object_free(object);
	return status;
}

static enum ks_status
step(struct ks_git_rewrite *rewrite, uint64_t *commits, struct ks_error *err)
{
	const struct ks_git_plan *plan = rewrite->plan;

	if (++*commits % STEP != 0 || plan->step == NULL)
		return KS_OK;
	return plan->step(plan->arg, *commits, err);
}

/* Take every commit that leads to `tip`, and `tip` itself. */
static enum ks_status
walk(struct ks_git_rewrite *rewrite, const struct ks_oid *tip,
	struct ks_error *err)
{
	uint64_t commits = 0;
	enum ks_status status;

	ks_buf_clear(&rewrite->stack);
	status = push(rewrite, tip, err);
	while (status == KS_OK && rewrite->stack.len > 0) {
		struct ks_oid oid, new;

		memcpy(&oid, rewrite->stack.data + rewrite->stack.len -
			sizeof(oid), sizeof(oid));
		new = new_of(rewrite, &oid);
		if (find_commit(rewrite, &oid) != KS_IDMAP_NONE &&
			!ks_oid_is_zero(&new)) {
			rewrite->stack.len -= sizeof(oid);
			continue;
		}
		status = take_top(rewrite, &oid, err);
		if (status == KS_OK)
			status = step(rewrite, &commits, err);
	}
	return status;
}

static enum ks_status
rewrite_branch(struct ks_git_rewrite *rewrite, struct ks_error *err)
{
	enum ks_status status = ks_git_pack_new(&rewrite->pack, rewrite->db,
		false, err);

	if (status == KS_OK)
		status = ks_git_filter_new(&rewrite->filter, rewrite->db,
			rewrite->plan, rewrite->pack, err);
	if (status == KS_OK)
		status = walk(rewrite, &rewrite->head.commit, err);
	if (status != KS_OK)
		return status;
	rewrite->counts.commits = rewrite->by_old.used;
	rewrite->counts.head = new_of(rewrite, &rewrite->head.commit);
	return KS_OK;
}

enum ks_status
ks_gitdb_rewrite(struct ks_git_rewrite **out, struct ks_gitdb *db,
	const struct ks_git_head *head, const struct ks_git_plan *plan,
	struct ks_error *err)
{
	struct ks_git_rewrite *rewrite = calloc(1, sizeof(*rewrite));
	enum ks_status status;

	*out = NULL;
	if (rewrite == NULL)
		return ks_fail_nomem(err);
	rewrite->db = db;
	rewrite->plan = plan;
	rewrite->head = *head;
	ks_idmap_init(&rewrite->by_old, sizeof(struct ks_oid),
		sizeof(struct rewritten));
	status = rewrite_branch(rewrite, err);
	if (status == KS_OK)
		*out = rewrite;
	else
		ks_gitdb_rewrite_free(rewrite);
	return status;
}

const struct ks_git_rewrite_counts *
ks_gitdb_rewrite_counts(const struct ks_git_rewrite *rewrite)
{
	return &rewrite->counts;
}

void
ks_gitdb_rewrite_free(struct ks_git_rewrite *rewrite)
{
	if (rewrite == NULL)
		return;
	ks_git_filter_free(rewrite->filter);
	ks_git_pack_free(rewrite->pack);
	free(rewrite->commits);
	ks_idmap_release(&rewrite->by_old);
	ks_buf_release(&rewrite->stack);
	free(rewrite);
}

/* ---- other references -------------------------------------------------- */

/* The object that a tag names. */
static enum ks_status
peel(struct ks_git_rewrite *rewrite, struct ks_oid *oid, struct ks_error *err)
{
	git_odb_object *object;
	struct ks_span text;
	char hex[KS_OID_HEX + 1];
	bool found;
	enum ks_status status = ks_git_sound(rewrite->db, oid,
		GIT_OBJECT_TAG, &object, err);

	if (status != KS_OK)
		return status;
	text = ks_span(git_odb_object_data(object),
		git_odb_object_size(object));
	(void)ks_oid_print(oid, hex);
	found = take_id(&text, "object ", oid);
	git_odb_object_free(object);
	return found ? KS_OK : ks_fail(err, KS_CORRUPT,
		"git tag %s: is malformed", hex);
}

/* Whether an object leads to what the plan cuts. */
static enum ks_status
look(struct ks_git_rewrite *rewrite, const struct ks_oid *what, bool *leads,
	struct ks_error *err)
{
	struct ks_oid oid = *what;
	struct ks_oid new = { { 0 } };
	git_object_t type = GIT_OBJECT_TAG;
	unsigned depth = 0;
	enum ks_status status = KS_OK;

	*leads = false;
	while (status == KS_OK && type == GIT_OBJECT_TAG) {
		git_oid id = ks_git_oid(&oid);
		size_t len;
		int rc = git_odb_read_header(&len, &type, rewrite->db->odb,
			&id);

		if (rc < 0)
			return ks_git_fail(err, rc, KS_CORRUPT,
				"what it names cannot be read");
		if (type == GIT_OBJECT_TAG && (depth++ == TAG_DEPTH ||
			len > TAG_LIMIT))
			return ks_fail(err, KS_CORRUPT, "too many or too long "
				"tags");
		if (type == GIT_OBJECT_TAG)
			status = peel(rewrite, &oid, err);
	}
	if (status == KS_OK && type == GIT_OBJECT_COMMIT) {
		status = walk(rewrite, &oid, err);
		if (status == KS_OK)
			new = new_of(rewrite, &oid);
	} else if (status == KS_OK && type == GIT_OBJECT_TREE) {
		status = ks_git_filter_root(rewrite->filter, &oid, &new,
			err);
	}
	if (status == KS_OK)
		*leads = type == GIT_OBJECT_BLOB ? ks_git_filter_removed(
			rewrite->filter, &oid) : !ks_oid_equal(&oid, &new);
	return status;
}

/* Somebody to tell of what leads to the cuts. */
struct telling {
	struct ks_git_rewrite *rewrite;
	ks_git_other_fn *visit;
	void *arg;
};

static enum ks_status
tell(const struct telling *telling, const char *name,
	const struct ks_oid *oid, struct ks_error *err)
{
	char shown[256];
	bool leads;
	enum ks_status status = look(telling->rewrite, oid, &leads, err);

	if (status == KS_CANCELLED)
		return status;
	if (status != KS_OK)
		return ks_context(err, "%s", ks_printable(shown,
			sizeof(shown), ks_span_text(name)));
	return leads ? telling->visit(telling->arg, name, oid, err) : KS_OK;
}

static enum ks_status
tell_reference(const struct telling *telling, const git_reference *reference,
	struct ks_error *err)
{
	const char *name = git_reference_name(reference);
	const git_oid *target = git_reference_target(reference);
	struct ks_oid oid;

	/* A symbolic one leads where another one leads. */
	if (target == NULL ||
		strcmp(name, telling->rewrite->head.branch) == 0)
		return KS_OK;
	oid = ks_git_oid_of(target);
	return tell(telling, name, &oid, err);
}

static enum ks_status
tell_references(const struct telling *telling, struct ks_error *err)
{
	git_reference_iterator *all = NULL;
	git_reference *reference;
	enum ks_status status = KS_OK;
	int rc = git_reference_iterator_new(&all, telling->rewrite->db->repo);

	while (status == KS_OK && rc == 0 &&
		(rc = git_reference_next(&reference, all)) == 0) {
		status = tell_reference(telling, reference, err);
		git_reference_free(reference);
	}
	git_reference_iterator_free(all);
	if (status == KS_OK && rc != GIT_ITEROVER)
		return ks_git_fail(err, rc, KS_CORRUPT, "references");
	return status;
}

/* The HEAD of a work tree, when it is detached. */
static enum ks_status
tell_head(const struct telling *telling, const char *name,
	struct ks_error *err)
{
	char *path = ks_git_join(telling->rewrite->db->directory, name);
	struct ks_buf text = KS_BUF_INIT;
	struct ks_oid oid;
	enum ks_status status;

	if (path == NULL)
		return ks_fail_nomem(err);
	status = ks_file_read_at(KS_FILE_CWD, path, 4096, &text, err);
	free(path);
	if (status == KS_OK && text.len > KS_OID_HEX) {
		text.data[KS_OID_HEX] = '\0';
		if (ks_oid_parse(&oid, (const char *)text.data))
			status = tell(telling, name, &oid, err);
	}
	ks_buf_release(&text);
	if (status == KS_INVALID)
		status = ks_fail(err, KS_CORRUPT, "%s: is too long", name);
	return status == KS_NOT_FOUND ? KS_OK : status;
}

/* Work trees beside this one have heads of their own. */
static enum ks_status
tell_heads(const struct telling *telling, struct ks_error *err)
{
	char *path = ks_git_join(telling->rewrite->db->directory, "worktrees");
	DIR *dir = path == NULL ? NULL : opendir(path);
	struct ks_buf name = KS_BUF_INIT;
	const struct dirent *entry;
	enum ks_status status = tell_head(telling, "HEAD", err);

	free(path);
	while (status == KS_OK && dir != NULL &&
		(entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		ks_buf_clear(&name);
		ks_buf_printf(&name, "worktrees/%s/HEAD", entry->d_name);
		(void)ks_buf_cstr(&name);
		status = ks_buf_check(&name, err);
		if (status == KS_OK)
			status = tell_head(telling, ks_buf_cstr(&name), err);
	}
	if (dir != NULL)
		(void)closedir(dir);
	ks_buf_release(&name);
	return status;
}

enum ks_status
ks_gitdb_rewrite_others(struct ks_git_rewrite *rewrite,
	ks_git_other_fn *visit, void *arg, struct ks_error *err)
{
	const struct telling telling = { rewrite, visit, arg };
	enum ks_status status;

	rewrite->dry = true;
	ks_git_filter_dry(rewrite->filter);
	status = tell_references(&telling, err);
	return status == KS_OK ? tell_heads(&telling, err) : status;
}

/* ---- making it visible ------------------------------------------------- */

/* The newest state is what it was, to the byte; read back from what was
 * written. */
static enum ks_status
check_newest(struct ks_git_rewrite *rewrite, struct ks_error *err)
{
	struct ks_git_commit old, new;
	int rc = git_odb_refresh(rewrite->db->odb);
	enum ks_status status;

	if (rc < 0)
		return ks_git_fail(err, rc, KS_IO, "%s", rewrite->db->objects);
	status = ks_gitdb_commit(rewrite->db, &rewrite->head.commit, &old,
		err);
	if (status == KS_OK)
		status = ks_gitdb_commit(rewrite->db, &rewrite->counts.head,
			&new, err);
	if (status == KS_OK && !ks_oid_equal(&old.tree, &new.tree))
		return ks_fail(err, KS_CORRUPT, "the tree of the newest commit "
			"would change (X9)");
	return status;
}

/* As with every commit (G8, G9); git's index and the files are those of the
 * same tree. */
static enum ks_status
move_branch(struct ks_git_rewrite *rewrite, struct ks_error *err)
{
	const struct ks_oid *commit = &rewrite->counts.head;
	enum ks_status status = ks_git_intend(rewrite->db, commit, false, err);

	return status != KS_OK ? status : ks_git_move_branch(rewrite->db,
		&rewrite->head, commit, &rewrite->published, err);
}

enum ks_status
ks_gitdb_rewrite_publish(struct ks_git_rewrite *rewrite, struct ks_error *err)
{
	char hex[KS_OID_HEX + 1];
	enum ks_status status;

	if (rewrite->published || rewrite->counts.rewritten == 0)
		return KS_OK;
	status = ks_git_pack_place(rewrite->pack,
		ks_oid_print(&rewrite->counts.head, hex), err);
	if (status == KS_OK)
		status = check_newest(rewrite, err);
	if (status == KS_OK)
		status = move_branch(rewrite, err);
	if (rewrite->published)
		ks_git_pack_release(rewrite->pack);
	return status;
}

/* By a fresh look: libgit2 goes on reading packs that it has open. */
enum ks_status
ks_gitdb_rewrite_left(const struct ks_git_rewrite *rewrite, uint64_t *left,
	struct ks_error *err)
{
	struct ks_span removed = ks_git_filter_list(rewrite->filter);
	git_odb *odb = NULL;
	size_t i;
	int rc;

	*left = 0;
	rc = git_odb_open(&odb, rewrite->db->objects);
	if (rc < 0)
		return ks_git_fail(err, rc, KS_IO, "%s", rewrite->db->objects);
	for (i = 0; i < removed.len; i += sizeof(struct ks_oid)) {
		struct ks_oid oid;
		git_oid id;

		memcpy(&oid, removed.data + i, sizeof(oid));
		id = ks_git_oid(&oid);
		*left += git_odb_exists(odb, &id) == 1;
	}
	git_odb_free(odb);
	return KS_OK;
}
