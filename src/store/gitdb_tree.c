#include "store/gitdb_internal.h"

#include <stdlib.h>

/*
 * Changes come sorted by the bytes of their whole paths. That is git's order
 * of every tree on the way as well, because a directory's name is followed by
 * '/' in a path just as it is when git compares names. So each tree is one
 * merge of two sorted lists, and the changes below one directory are
 * neighbours.
 */

struct merge {
	struct ks_gitdb *db;
	struct ks_git_pack *pack;
	const struct ks_git_change *changes;
	/* The tree being composed at each depth. */
	struct ks_buf trees[KS_GIT_DEPTH_MAX];
};

/* Changes first … last - 1, which share the first `prefix` bytes of path. */
struct range {
	size_t first, last;
	size_t prefix;
	unsigned depth;
};

/* The component of a change's path at this depth. */
struct part {
	struct ks_span name;
	bool is_tree;	/* more components follow */
};

static struct part
part_of(const struct ks_git_change *change, size_t prefix)
{
	const char *at = change->path + prefix;
	size_t len = strcspn(at, "/");

	return (struct part){ ks_span(at, len), at[len] == '/' };
}

enum ks_status
ks_git_check_path(const char *path, struct ks_error *err)
{
	unsigned depth = 0;
	const char *at = path;

	for (;;) {
		size_t len = strcspn(at, "/");

		if (!ks_git_name_is_safe(ks_span(at, len)) ||
			++depth > KS_GIT_DEPTH_MAX)
			return ks_fail(err, KS_USAGE,
				"%s: is not a path for a tree", path);
		if (at[len] == '\0')
			return KS_OK;
		at += len + 1;
	}
}

static enum ks_status
check_changes(const struct ks_git_change *changes, size_t count,
	struct ks_error *err)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (ks_git_check_path(changes[i].path, err) != KS_OK)
			return KS_USAGE;
		if (i > 0 && strcmp(changes[i - 1].path,
			changes[i].path) >= 0)
			return ks_fail(err, KS_USAGE, "%s: the changes are "
				"not sorted", changes[i].path);
	}
	return KS_OK;
}

/* Past the changes whose component here is `part`, a directory. */
static size_t
range_end(const struct merge *merge, const struct range *range, size_t i,
	struct part part)
{
	size_t skip = range->prefix + part.name.len + 1;

	while (i < range->last && strncmp(merge->changes[i].path +
		range->prefix, (const char *)part.name.data,
		skip - range->prefix) == 0)
		i++;
	return i;
}

static bool
starts_with(struct ks_span name, struct ks_span start)
{
	return name.len >= start.len &&
		memcmp(name.data, start.data, start.len) == 0;
}

/* Where the merge of one tree stands. */
struct level {
	const struct range *range;
	struct ks_git_cursor base;
	int more;	/* 1: base is at an entry; 0: at the end; -1: bad */
	size_t next;	/* the change to take next */
};

static bool
at_tree(const struct ks_git_cursor *cursor)
{
	return cursor->mode == KS_GIT_MODE_TREE;
}

static void
advance(struct level *level)
{
	struct ks_git_cursor before = level->base;

	level->more = ks_git_cursor_next(&level->base);
	if (level->more == 1 && ks_git_name_compare(before.name,
		at_tree(&before), level->base.name, at_tree(&level->base)) >= 0)
		level->more = -1;
}

/* A file and a directory of one name must not both be in a tree. The
 * directory sorts after the file, behind nothing but names that start with
 * that name, so both lists are looked ahead no further than those. */
static bool
tree_follows(const struct merge *merge, const struct level *level,
	struct ks_span name)
{
	struct ks_git_cursor base = level->base;
	bool more = level->more == 1;
	size_t i;

	for (i = level->next; i < level->range->last; i++) {
		const struct ks_git_change *change = &merge->changes[i];
		struct part part = part_of(change, level->range->prefix);

		if (!starts_with(part.name, name))
			break;
		if (part.is_tree && part.name.len == name.len &&
			!ks_oid_is_zero(&change->oid))
			return true;
	}
	while (more && starts_with(base.name, name)) {
		if (base.name.len == name.len && at_tree(&base))
			return true;
		more = ks_git_cursor_next(&base) == 1;
	}
	return false;
}

static enum ks_status
check_single(const struct merge *merge, const struct level *level,
	struct part part, struct ks_error *err)
{
	if (part.is_tree || !tree_follows(merge, level, part.name))
		return KS_OK;
	return ks_fail(err, KS_CORRUPT,
		"%.*s%.*s: would be a file and a directory at once",
		(int)level->range->prefix,
		merge->changes[level->range->first].path,
		(int)part.name.len, (const char *)part.name.data);
}

/* Copy the entry of the base that comes next. */
static enum ks_status
keep_entry(struct merge *merge, struct level *level, struct ks_error *err)
{
	struct part part = { level->base.name, at_tree(&level->base) };

	ks_buf_append(&merge->trees[level->range->depth], level->base.raw);
	advance(level);
	return check_single(merge, level, part, err);
}

static void
append_entry(struct ks_buf *tree, struct part part, const struct ks_oid *oid)
{
	ks_buf_text(tree, part.is_tree ? "40000 " : "100644 ");
	ks_buf_append(tree, part.name);
	ks_buf_byte(tree, 0);
	ks_buf_append(tree, ks_span(oid->bytes, sizeof(oid->bytes)));
}

static enum ks_status merge_tree(struct merge *merge,
	const struct ks_oid *base, const struct range *range,
	struct ks_oid *tree, struct ks_error *err);

/* Take the next change, or all those below its directory; `replaces` says that
 * the base's entry of that name is the one that comes next. */
static enum ks_status
take_change(struct merge *merge, struct level *level, bool replaces,
	struct ks_error *err)
{
	const struct range *range = level->range;
	const struct ks_git_change *change = &merge->changes[level->next];
	struct part part = part_of(change, range->prefix);
	struct ks_oid old = { { 0 } };
	struct ks_oid oid = change->oid;
	struct range below = {
		.first = level->next,
		.last = level->next + 1,
		.prefix = range->prefix + part.name.len + 1,
		.depth = range->depth + 1,
	};
	enum ks_status status = KS_OK;

	if (replaces) {
		memcpy(old.bytes, level->base.oid, sizeof(old.bytes));
		advance(level);
	}
	if (part.is_tree) {
		below.last = range_end(merge, range, level->next, part);
		status = merge_tree(merge, &old, &below, &oid, err);
	}
	level->next = below.last;
	if (status != KS_OK || ks_oid_is_zero(&oid))
		return status;
	append_entry(&merge->trees[range->depth], part, &oid);
	return check_single(merge, level, part, err);
}

/* How the base's next entry sorts against the next change. */
static int
compare_next(const struct merge *merge, const struct level *level)
{
	struct part part;

	if (level->next == level->range->last)
		return -1;
	if (level->more == 0)
		return 1;
	part = part_of(&merge->changes[level->next], level->range->prefix);
	return ks_git_name_compare(level->base.name, at_tree(&level->base),
		part.name, part.is_tree);
}

/* Merge one tree's entries with the changes in it. */
static enum ks_status
merge_entries(struct merge *merge, struct ks_git_cursor base,
	const struct range *range, struct ks_error *err)
{
	struct level level = { .range = range, .base = base,
		.next = range->first };
	enum ks_status status = KS_OK;

	level.more = ks_git_cursor_next(&level.base);
	while (status == KS_OK && (level.more == 1 ||
		(level.more == 0 && level.next < range->last))) {
		int order = compare_next(merge, &level);

		status = order < 0 ? keep_entry(merge, &level, err) :
			take_change(merge, &level, order == 0, err);
	}
	if (status == KS_OK && level.more < 0)
		return ks_fail(err, KS_CORRUPT,
			"the git tree at \"%.*s\" is malformed",
			(int)range->prefix, merge->changes[range->first].path);
	return status;
}

/* Only called with at least one change, and a path has KS_GIT_DEPTH_MAX
 * components at most: that bounds the recursion. */
static enum ks_status
merge_tree(struct merge *merge, const struct ks_oid *base,
	const struct range *range, struct ks_oid *tree, struct ks_error *err)
{
	struct ks_buf *out = &merge->trees[range->depth];
	git_odb_object *object = NULL;
	enum ks_status status = KS_OK;

	if (!ks_oid_is_zero(base))
		status = ks_git_object(merge->db, base, GIT_OBJECT_TREE,
			&object, err);
	ks_buf_clear(out);
	if (status == KS_OK)
		status = merge_entries(merge, ks_git_cursor(object), range,
			err);
	if (status == KS_OK)
		status = ks_buf_check(out, err);
	if (status != KS_OK) {
		git_odb_object_free(object);
		return status;
	}
	if (out->len == 0 && range->depth > 0)
		memset(tree, 0, sizeof(*tree));
	else if (object != NULL && ks_span_equal(ks_buf_span(out),
		ks_span(git_odb_object_data(object),
		git_odb_object_size(object))))
		*tree = *base;
	else
		status = ks_git_pack_add(merge->pack, GIT_OBJECT_TREE,
			ks_buf_span(out), false, tree, err);
	git_odb_object_free(object);
	return status;
}

enum ks_status
ks_git_tree_merge(struct ks_gitdb *db, struct ks_git_pack *pack,
	const struct ks_oid *base, const struct ks_git_change *changes,
	size_t count, struct ks_oid *tree, struct ks_error *err)
{
	struct merge *merge;
	struct ks_oid start = *base;	/* may be where the result goes */
	struct range range = { .first = 0, .last = count };
	enum ks_status status = check_changes(changes, count, err);
	size_t i;

	memset(tree, 0, sizeof(*tree));
	if (status != KS_OK)
		return status;
	if (count == 0 && !ks_oid_is_zero(&start)) {
		*tree = start;
		return KS_OK;
	}
	merge = calloc(1, sizeof(*merge));
	if (merge == NULL)
		return ks_fail_nomem(err);
	merge->db = db;
	merge->pack = pack;
	merge->changes = changes;
	status = merge_tree(merge, &start, &range, tree, err);
	for (i = 0; i < KS_GIT_DEPTH_MAX; i++)
		ks_buf_release(&merge->trees[i]);
	free(merge);
	return status;
}
