#include "store/gitdb_internal.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/idmap.h"

/*
 * Trees are filtered along the paths of the cuts only. Each name on such a path
 * remembers the object that it met last and what became of it: neighbours in
 * history share most of theirs, so that only trees which changed between two
 * commits are read.
 */

/* What kind of thing a tree's entry is, by its mode. */
#define MODE_TYPE 0170000U
#define MODE_FILE 0100000U
#define MODE_LINK 0120000U

const struct ks_oid ks_git_changed = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff } };

/* A name on the way to a cut, or at its end. */
struct node {
	struct ks_span name;
	size_t from, to;	/* the cuts at or below it */
	size_t skip;		/* bytes of their paths up to its end */
	size_t first, count;	/* what is below: neighbours, by name */
	bool is_cut, has_met;
	struct ks_oid met, became;	/* zero = it goes */
};

struct ks_git_filter {
	struct ks_gitdb *db;
	const struct ks_git_plan *plan;
	struct ks_git_pack *pack;	/* NULL: dry */
	struct node *nodes;	/* the first is the root of a tree */
	size_t node_count, node_room;
	struct ks_buf trees[KS_GIT_DEPTH_MAX + 1];	/* being composed */
	struct ks_buf removed;	/* struct ks_oid of blobs */
	struct ks_idmap by_oid;
};

/* ---- the names of the cuts --------------------------------------------- */

static enum ks_status
add_node(struct ks_git_filter *filter, const struct node *node,
	struct ks_error *err)
{
	struct node *grown = ks_grow(filter->nodes, filter->node_count,
		&filter->node_room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	filter->nodes = grown;
	grown[filter->node_count++] = *node;
	return KS_OK;
}

static int
by_name(const void *a, const void *b)
{
	return ks_span_compare(((const struct node *)a)->name,
		((const struct node *)b)->name);
}

/* Add what is below a node: one node for all cuts that have a component in
 * common. */
static enum ks_status
expand(struct ks_git_filter *filter, size_t parent, struct ks_error *err)
{
	const struct ks_git_cut *cuts = filter->plan->cuts;
	struct node above = filter->nodes[parent];
	size_t first = filter->node_count;
	size_t i = above.from;
	enum ks_status status = KS_OK;

	while (status == KS_OK && i < above.to) {
		const char *at = cuts[i].path + above.skip;
		size_t len = strcspn(at, "/");
		struct node node = { .name = ks_span(at, len), .from = i,
			.skip = above.skip + len + 1,
			.is_cut = at[len] == '\0' };

		do
			i++;
		while (!node.is_cut && i < above.to && strncmp(
			cuts[i].path + above.skip, at, len + 1) == 0);
		node.to = i;
		status = add_node(filter, &node, err);
	}
	if (status != KS_OK)
		return status;
	filter->nodes[parent].first = first;
	filter->nodes[parent].count = filter->node_count - first;
	qsort(filter->nodes + first, filter->node_count - first,
		sizeof(*filter->nodes), by_name);
	return KS_OK;
}

static enum ks_status
check_cut(const struct ks_git_plan *plan, size_t i, struct ks_error *err)
{
	const char *path = plan->cuts[i].path;

	if (i > 0 && strcmp(plan->cuts[i - 1].path, path) >= 0)
		return ks_fail(err, KS_USAGE, "%s: the paths are not sorted",
			path);
	return ks_git_check_path(path, err);
}

static enum ks_status
plant(struct ks_git_filter *filter, struct ks_error *err)
{
	struct node root = { .to = filter->plan->count };
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < filter->plan->count; i++)
		status = check_cut(filter->plan, i, err);
	if (status == KS_OK)
		status = add_node(filter, &root, err);
	for (i = 0; status == KS_OK && i < filter->node_count; i++)
		if (!filter->nodes[i].is_cut)
			status = expand(filter, i, err);
	return status;
}

/* The node of a name below another; SIZE_MAX for none. */
static size_t
find_below(const struct ks_git_filter *filter, size_t parent,
	struct ks_span name)
{
	size_t low = filter->nodes[parent].first;
	size_t high = low + filter->nodes[parent].count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = ks_span_compare(filter->nodes[middle].name, name);

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return SIZE_MAX;
}

/* ---- objects ----------------------------------------------------------- */

enum ks_status
ks_git_sound(struct ks_gitdb *db, const struct ks_oid *oid,
	git_object_t type, git_odb_object **out, struct ks_error *err)
{
	git_oid wanted = ks_git_oid(oid);
	git_oid found;
	char hex[KS_OID_HEX + 1];
	enum ks_status status = ks_git_object(db, oid, type, out, err);

	if (status != KS_OK)
		return status;
	if (git_odb_hash(&found, git_odb_object_data(*out),
		git_odb_object_size(*out), type) == 0 &&
		git_oid_equal(&found, &wanted))
		return KS_OK;
	git_odb_object_free(*out);
	*out = NULL;
	return ks_fail(err, KS_CORRUPT, "git %s %s: its bytes have another "
		"SHA-1", git_object_type2string(type), ks_oid_print(oid, hex));
}

static enum ks_status
keep(struct ks_git_filter *filter, git_object_t type, struct ks_span bytes,
	struct ks_oid *oid, struct ks_error *err)
{
	*oid = ks_git_changed;
	return filter->pack == NULL ? KS_OK : ks_git_pack_add(filter->pack,
		type, bytes, false, oid, err);
}

bool
ks_git_filter_removed(const struct ks_git_filter *filter,
	const struct ks_oid *oid)
{
	return ks_idmap_find(&filter->by_oid, filter->removed.data,
		oid->bytes) != KS_IDMAP_NONE;
}

/* Remember a blob that is not to be reachable any more. */
static enum ks_status
note_removed(struct ks_git_filter *filter, const struct ks_oid *oid,
	struct ks_error *err)
{
	if (ks_git_filter_removed(filter, oid))
		return KS_OK;
	ks_buf_append(&filter->removed, ks_span(oid, sizeof(*oid)));
	if (ks_buf_check(&filter->removed, err) != KS_OK)
		return KS_NOMEM;
	return ks_idmap_add(&filter->by_oid, filter->removed.data) ? KS_OK :
		ks_fail_nomem(err);
}

/* ---- trees ------------------------------------------------------------- */

static bool
is_blob_mode(uint32_t mode)
{
	return (mode & MODE_TYPE) == MODE_FILE ||
		(mode & MODE_TYPE) == MODE_LINK;
}

/* What is at the path of a cut. */
static enum ks_status
cut_blob(struct ks_git_filter *filter, const struct node *node,
	const struct ks_oid *old, struct ks_oid *new, struct ks_error *err)
{
	const struct ks_git_plan *plan = filter->plan;
	struct ks_buf before = KS_BUF_INIT;
	struct ks_buf after = KS_BUF_INIT;
	enum ks_status status = ks_gitdb_blob(filter->db, old, plan->limit,
		true, &before, err);

	if (status == KS_OK)
		status = plan->edit(plan->arg, node->from,
			ks_buf_span(&before), &after, err);
	if (status == KS_OK)
		status = ks_buf_check(&after, err);
	*new = *old;
	if (status == KS_OK && !ks_span_equal(ks_buf_span(&before),
		ks_buf_span(&after))) {
		status = note_removed(filter, old, err);
		if (status == KS_OK)
			status = keep(filter, GIT_OBJECT_BLOB,
				ks_buf_span(&after), new, err);
	}
	ks_buf_release(&before);
	ks_buf_release(&after);
	return status != KS_OK ? ks_context(err, "%s",
		plan->cuts[node->from].path) : status;
}

static enum ks_status
cut(struct ks_git_filter *filter, const struct node *node, uint32_t mode,
	const struct ks_oid *old, struct ks_oid *new, struct ks_error *err)
{
	struct ks_git_cut *what = &filter->plan->cuts[node->from];
	enum ks_status status = KS_OK;

	*new = *old;
	if (what->edit && !is_blob_mode(mode))
		return KS_OK;
	if (what->edit) {
		status = cut_blob(filter, node, old, new, err);
	} else {
		memset(new, 0, sizeof(*new));
		if (is_blob_mode(mode))
			status = note_removed(filter, old, err);
	}
	if (filter->pack != NULL && !ks_oid_equal(old, new))
		what->found = true;
	return status;
}

static enum ks_status pass_tree(struct ks_git_filter *filter, size_t n,
	unsigned depth, const struct ks_oid *old, struct ks_oid *new,
	struct ks_error *err);

/* What becomes of the object that an entry of a tree names; zero: it goes. */
static enum ks_status
pass(struct ks_git_filter *filter, size_t n, unsigned depth,
	uint32_t mode, const struct ks_oid *old, struct ks_oid *new,
	struct ks_error *err)
{
	struct node *node = &filter->nodes[n];
	enum ks_status status;

	if (node->has_met && ks_oid_equal(&node->met, old)) {
		*new = node->became;
		return KS_OK;
	}
	status = node->is_cut ? cut(filter, node, mode, old, new, err) :
		pass_tree(filter, n, depth, old, new, err);
	node->has_met = status == KS_OK;
	node->met = *old;
	node->became = *new;
	return status;
}

/* Copy one entry of a tree, as it is or with another object. */
static enum ks_status
pass_entry(struct ks_git_filter *filter, size_t n, unsigned depth,
	const struct ks_git_cursor *entry, bool *changed, struct ks_error *err)
{
	struct ks_buf *out = &filter->trees[depth];
	size_t below = find_below(filter, n, entry->name);
	struct ks_oid old, new;
	enum ks_status status = KS_OK;

	memcpy(old.bytes, entry->oid, sizeof(old.bytes));
	new = old;
	if (below != SIZE_MAX && (filter->nodes[below].is_cut ||
		entry->mode == KS_GIT_MODE_TREE))
		status = pass(filter, below, depth + 1, entry->mode, &old,
			&new, err);
	if (status != KS_OK)
		return status;
	if (ks_oid_equal(&old, &new)) {
		ks_buf_append(out, entry->raw);
		return KS_OK;
	}
	*changed = true;
	if (ks_oid_is_zero(&new))
		return KS_OK;
	ks_buf_append(out, ks_span(entry->raw.data,
		entry->raw.len - sizeof(new.bytes)));
	ks_buf_append(out, ks_span(new.bytes, sizeof(new.bytes)));
	return KS_OK;
}

/* A directory that is left empty goes, too, as git has it. */
static enum ks_status
pass_tree(struct ks_git_filter *filter, size_t n, unsigned depth,
	const struct ks_oid *old, struct ks_oid *new, struct ks_error *err)
{
	struct ks_buf *out = &filter->trees[depth];
	git_odb_object *object = NULL;
	struct ks_git_cursor cursor;
	bool changed = false;
	char hex[KS_OID_HEX + 1];
	int more = 0;
	enum ks_status status = ks_git_sound(filter->db, old, GIT_OBJECT_TREE,
		&object, err);

	cursor = ks_git_cursor(object);
	ks_buf_clear(out);
	while (status == KS_OK && (more = ks_git_cursor_next(&cursor)) == 1)
		status = pass_entry(filter, n, depth, &cursor, &changed,
			err);
	if (status == KS_OK && more < 0)
		status = ks_fail(err, KS_CORRUPT, "git tree %s: is malformed",
			ks_oid_print(old, hex));
	if (status == KS_OK)
		status = ks_buf_check(out, err);
	git_odb_object_free(object);
	*new = *old;
	if (status != KS_OK || !changed)
		return status;
	if (out->len == 0 && depth > 0) {
		memset(new, 0, sizeof(*new));
		return KS_OK;
	}
	return keep(filter, GIT_OBJECT_TREE, ks_buf_span(out), new, err);
}

enum ks_status
ks_git_filter_root(struct ks_git_filter *filter, const struct ks_oid *old,
	struct ks_oid *new, struct ks_error *err)
{
	return pass(filter, 0, 0, KS_GIT_MODE_TREE, old, new, err);
}

void
ks_git_filter_dry(struct ks_git_filter *filter)
{
	filter->pack = NULL;
}

struct ks_span
ks_git_filter_list(const struct ks_git_filter *filter)
{
	return ks_buf_span(&filter->removed);
}

enum ks_status
ks_git_filter_new(struct ks_git_filter **out, struct ks_gitdb *db,
	const struct ks_git_plan *plan, struct ks_git_pack *pack,
	struct ks_error *err)
{
	struct ks_git_filter *filter = calloc(1, sizeof(*filter));
	enum ks_status status;

	*out = NULL;
	if (filter == NULL)
		return ks_fail_nomem(err);
	filter->db = db;
	filter->plan = plan;
	filter->pack = pack;
	ks_idmap_init(&filter->by_oid, sizeof(struct ks_oid),
		sizeof(struct ks_oid));
	status = plant(filter, err);
	if (status == KS_OK)
		*out = filter;
	else
		ks_git_filter_free(filter);
	return status;
}

void
ks_git_filter_free(struct ks_git_filter *filter)
{
	size_t i;

	if (filter == NULL)
		return;
	for (i = 0; i <= KS_GIT_DEPTH_MAX; i++)
		ks_buf_release(&filter->trees[i]);
	free(filter->nodes);
	ks_buf_release(&filter->removed);
	ks_idmap_release(&filter->by_oid);
	free(filter);
}
