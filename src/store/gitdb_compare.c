/*
 * What differs between two trees. Directories that are equal are not read, so
 * the work is proportional to what changed.
 */
#include "store/gitdb_internal.h"

struct comparing {
	struct ks_gitdb *db;
	ks_git_difference_fn *visit;
	void *arg;
	struct ks_buf path;	/* of the directory, with its '/' */
	int depth;
};

/* One of two trees at a place; a tree that is not there has no entries. */
struct side {
	git_odb_object *object;
	struct ks_git_cursor cursor;
	bool more;
};

static bool
is_tree(uint32_t mode)
{
	return mode == KS_GIT_MODE_TREE;
}

/* The one tree without entries. */
static bool
is_empty(const struct ks_oid *tree)
{
	static const struct ks_oid empty = { { 0x4b, 0x82, 0x5d, 0xc6, 0x42,
		0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92,
		0x88, 0xfb, 0xee, 0x49, 0x04 } };

	return ks_oid_equal(tree, &empty);
}

static enum ks_status
not_sound(const struct comparing *comparing, struct ks_error *err)
{
	char shown[256];

	return ks_fail(err, KS_CORRUPT, "the git tree at \"%s\" is damaged, or "
		"has names that git would refuse", ks_printable(shown,
		sizeof(shown), ks_buf_span(&comparing->path)));
}

/* Each name is safe, and after the one before. */
static enum ks_status
advance(const struct comparing *comparing, struct side *side,
	struct ks_error *err)
{
	struct ks_git_cursor before = side->cursor;
	int rc = ks_git_cursor_next(&side->cursor);

	side->more = rc == 1;
	if (rc == 0)
		return KS_OK;
	if (rc < 0 || !ks_git_name_is_safe(side->cursor.name) ||
		(before.name.len > 0 && ks_git_name_compare(before.name,
		is_tree(before.mode), side->cursor.name,
		is_tree(side->cursor.mode)) >= 0))
		return not_sound(comparing, err);
	return KS_OK;
}

static enum ks_status
open_side(struct comparing *comparing, const struct ks_oid *tree,
	struct side *side, struct ks_error *err)
{
	enum ks_status status;

	memset(side, 0, sizeof(*side));
	if (tree == NULL)
		return KS_OK;
	status = ks_git_object(comparing->db, tree, GIT_OBJECT_TREE,
		&side->object, err);
	if (status != KS_OK)
		return status;
	side->cursor = ks_git_cursor(side->object);
	return advance(comparing, side, err);
}

/* Less than 0: `a` has the next name; more: `b`; 0: both. */
static int
compare_names(const struct side *a, const struct side *b)
{
	if (!a->more)
		return 1;
	if (!b->more)
		return -1;
	return ks_git_name_compare(a->cursor.name, is_tree(a->cursor.mode),
		b->cursor.name, is_tree(b->cursor.mode));
}

static struct ks_git_entry
entry_of(const struct side *side)
{
	struct ks_git_entry entry = {
		.name = (const char *)side->cursor.name.data,
		.mode = side->cursor.mode
	};

	memcpy(entry.oid.bytes, side->cursor.oid, sizeof(entry.oid.bytes));
	return entry;
}

static enum ks_status compare_trees(struct comparing *comparing,
	const struct ks_oid *from, const struct ks_oid *to,
	struct ks_error *err);

/* Go into a directory that is new, or differs. */
static enum ks_status
descend(struct comparing *comparing, const struct ks_git_entry *old,
	const struct ks_git_entry *new, struct ks_error *err)
{
	size_t before = comparing->path.len;
	enum ks_status status;

	if (comparing->depth == KS_GIT_DEPTH_MAX)
		return not_sound(comparing, err);
	ks_buf_printf(&comparing->path, "%s/", new->name);
	comparing->depth++;
	status = compare_trees(comparing, old == NULL ? NULL : &old->oid,
		&new->oid, err);
	comparing->depth--;
	comparing->path.len = before;
	return status;
}

static enum ks_status
tell(struct comparing *comparing, const struct ks_git_entry *old,
	const struct ks_git_entry *new, struct ks_error *err)
{
	const struct ks_git_entry *known = new == NULL ? old : new;
	size_t before = comparing->path.len;
	enum ks_status status;

	if (old != NULL && new != NULL && old->mode == new->mode &&
		ks_oid_equal(&old->oid, &new->oid))
		return KS_OK;
	if (new != NULL && is_tree(new->mode) && !is_empty(&new->oid))
		return descend(comparing, old, new, err);
	ks_buf_text(&comparing->path, known->name);
	(void)ks_buf_cstr(&comparing->path);
	status = ks_buf_check(&comparing->path, err);
	if (status == KS_OK)
		status = comparing->visit(comparing->arg, ks_buf_cstr(
			&comparing->path), old, new, err);
	comparing->path.len = before;
	return status;
}

static enum ks_status
compare_next(struct comparing *comparing, struct side *a, struct side *b,
	struct ks_error *err)
{
	int order = compare_names(a, b);
	struct ks_git_entry old, new;
	enum ks_status status;

	if (order <= 0)
		old = entry_of(a);
	if (order >= 0)
		new = entry_of(b);
	status = tell(comparing, order <= 0 ? &old : NULL,
		order >= 0 ? &new : NULL, err);
	if (status == KS_OK && order <= 0)
		status = advance(comparing, a, err);
	if (status == KS_OK && order >= 0)
		status = advance(comparing, b, err);
	return status;
}

static enum ks_status
compare_trees(struct comparing *comparing, const struct ks_oid *from,
	const struct ks_oid *to, struct ks_error *err)
{
	struct side a = { .more = false }, b = { .more = false };
	enum ks_status status = open_side(comparing, from, &a, err);

	if (status == KS_OK)
		status = open_side(comparing, to, &b, err);
	while (status == KS_OK && (a.more || b.more))
		status = compare_next(comparing, &a, &b, err);
	git_odb_object_free(a.object);
	git_odb_object_free(b.object);
	return status;
}

enum ks_status
ks_gitdb_compare(struct ks_gitdb *db, const struct ks_oid *from,
	const struct ks_oid *to, ks_git_difference_fn *visit, void *arg,
	struct ks_error *err)
{
	struct comparing comparing = { .db = db, .visit = visit, .arg = arg,
		.path = KS_BUF_INIT };
	enum ks_status status = ks_oid_equal(from, to) ? KS_OK :
		compare_trees(&comparing, from, to, err);

	ks_buf_release(&comparing.path);
	return status;
}
