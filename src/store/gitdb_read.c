#include "store/gitdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <strings.h>
#include <unistd.h>

#include <git2/sys/odb_backend.h>

/* A name in a tree is at most as long as git itself handles well. */
#define NAME_LIMIT 4096

static bool
is_refusal(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOMEM ||
		code == EIO || code == EACCES || code == EPERM ||
		code == ESTALE;
}

/* libgit2 1.5 passes over a pack that it cannot open, for good, and says that
 * objects in it do not exist. Whether the system refused shows in errno, which
 * was 0 before, be it that another pack had what was asked for. */
static void
note_refusal(struct ks_gitdb *db)
{
	if (is_refusal(errno))
		db->refusal = errno;
}

/* … and in whether a file can be opened now. errno says why. */
static bool
system_refused(const struct ks_gitdb *db)
{
	int code = is_refusal(errno) ? errno : db->refusal;
	int fd;

	errno = code;
	if (code != 0)
		return true;
	fd = open(db->objects, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (fd < 0)
		return true;
	(void)close(fd);
	return false;
}

static const char *
type_name(git_object_t type)
{
	const char *name = git_object_type2string(type);

	return name == NULL ? "object" : name;
}

/* Why an object cannot be read. */
static enum ks_status
explain(struct ks_gitdb *db, const struct ks_oid *oid, git_object_t type,
	int code, struct ks_error *err)
{
	char hex[KS_OID_HEX + 1];

	(void)ks_oid_print(oid, hex);
	if (system_refused(db)) {
		(void)ks_fail_errno(err, "cannot read git %s %s",
			type_name(type), hex);
		if (err != NULL && err->status == KS_NOT_FOUND)
			err->status = KS_IO;
		return errno == ENOMEM ? KS_NOMEM : KS_IO;
	}
	if (code != GIT_ENOTFOUND)
		return ks_git_fail(err, code, KS_CORRUPT, "git %s %s",
			type_name(type), hex);
	if (db->promisor != NULL)
		return ks_fail(err, KS_NOT_FOUND, "git %s %s: not fetched "
			"(partial clone of %s)", type_name(type), hex,
			db->promisor);
	if (db->shallow && type == GIT_OBJECT_COMMIT)
		return ks_fail(err, KS_NOT_FOUND, "git commit %s: not fetched "
			"(shallow clone; git fetch --unshallow brings it)",
			hex);
	return ks_fail(err, KS_CORRUPT, "git %s %s: is absent, or its pack is "
		"damaged", type_name(type), hex);
}

/* Who packs beside a reader takes packs away that libgit2 has opened an index
 * of, its own or one of many packs, and not yet the pack. Then what is there
 * now is looked at; loose objects are not asked again (gitdb_loose.c). So it is
 * where an object is not found, but once: a pack may have been passed over. */
static bool
look_anew(struct ks_gitdb *db, int code)
{
	git_odb_backend *packs = NULL;
	int rc;

	if (system_refused(db) || (code == GIT_ENOTFOUND && db->anew != NULL))
		return false;
	git_odb_free(db->anew);
	db->anew = NULL;
	rc = git_odb_backend_pack(&packs, db->objects);
	if (rc == 0)
		rc = git_odb_new(&db->anew);
	if (rc == 0)
		rc = git_odb_add_backend(db->anew, packs, 1);
	if (rc != 0 && packs != NULL)
		packs->free(packs);
	return rc == 0;
}

static int
read_object(struct ks_gitdb *db, const git_oid *id, git_odb_object **out)
{
	int rc;

	errno = 0;
	rc = git_odb_read(out, db->odb, id);
	note_refusal(db);
	if (rc < 0 && db->anew != NULL &&
		git_odb_read(out, db->anew, id) == 0)
		return 0;
	if (rc < 0 && look_anew(db, rc))
		rc = git_odb_read(out, db->anew, id);
	return rc;
}

static int
read_header(struct ks_gitdb *db, const git_oid *id, size_t *len,
	git_object_t *type)
{
	int rc;

	errno = 0;
	rc = git_odb_read_header(len, type, db->odb, id);
	note_refusal(db);
	if (rc < 0 && db->anew != NULL &&
		git_odb_read_header(len, type, db->anew, id) == 0)
		return 0;
	if (rc < 0 && look_anew(db, rc))
		rc = git_odb_read_header(len, type, db->anew, id);
	return rc;
}

enum ks_status
ks_git_object(struct ks_gitdb *db, const struct ks_oid *oid,
	git_object_t type, git_odb_object **out, struct ks_error *err)
{
	git_oid id = ks_git_oid(oid);
	git_object_t found;
	char hex[KS_OID_HEX + 1];
	int rc;

	*out = NULL;
	rc = read_object(db, &id, out);
	if (rc < 0) {
		*out = NULL;
		return explain(db, oid, type, rc, err);
	}
	found = git_odb_object_type(*out);
	if (found == type)
		return KS_OK;
	git_odb_object_free(*out);
	*out = NULL;
	return ks_fail(err, KS_CORRUPT, "git object %s: is a %s, not a %s",
		ks_oid_print(oid, hex), type_name(found), type_name(type));
}

struct ks_git_cursor
ks_git_cursor(git_odb_object *tree)
{
	struct ks_git_cursor cursor = { .at = NULL, .end = NULL };

	if (tree != NULL && git_odb_object_size(tree) > 0) {
		cursor.at = git_odb_object_data(tree);
		cursor.end = cursor.at + git_odb_object_size(tree);
	}
	return cursor;
}

/* Octal digits and a space; 0 when they are something else. */
static uint32_t
parse_mode(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;
	uint32_t mode = 0;

	while (p < end && *p >= '0' && *p <= '7' && mode < 01000000)
		mode = mode << 3 | (uint32_t)(*p++ - '0');
	if (p == end || *p != ' ' || mode >= 01000000)
		return 0;
	*at = p + 1;
	return mode;
}

int
ks_git_cursor_next(struct ks_git_cursor *cursor)
{
	const uint8_t *start = cursor->at;
	const uint8_t *p = start;
	const uint8_t *nul;

	if (p == cursor->end)
		return 0;
	cursor->mode = parse_mode(&p, cursor->end);
	if (cursor->mode == 0)
		return -1;
	nul = memchr(p, '\0', (size_t)(cursor->end - p));
	if (nul == NULL || nul == p || nul - p > NAME_LIMIT ||
		cursor->end - nul < 1 + (ptrdiff_t)sizeof(struct ks_oid))
		return -1;
	cursor->name = ks_span(p, (size_t)(nul - p));
	cursor->oid = nul + 1;
	cursor->at = cursor->oid + sizeof(struct ks_oid);
	cursor->raw = ks_span(start, (size_t)(cursor->at - start));
	return 1;
}

int
ks_git_name_compare(struct ks_span a, bool a_is_tree, struct ks_span b,
	bool b_is_tree)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n == 0 ? 0 : memcmp(a.data, b.data, n);
	int next_a, next_b;

	if (order != 0)
		return order;
	next_a = a.len > b.len ? a.data[n] : a_is_tree ? '/' : 0;
	next_b = b.len > a.len ? b.data[n] : b_is_tree ? '/' : 0;
	return next_a - next_b;
}

bool
ks_git_name_is_safe(struct ks_span name)
{
	if (name.len == 0 || name.len > NAME_LIMIT || ks_span_is(name, ".") ||
		ks_span_is(name, ".."))
		return false;
	if (name.len == 4 &&
		strncasecmp((const char *)name.data, ".git", 4) == 0)
		return false;
	return memchr(name.data, '/', name.len) == NULL &&
		memchr(name.data, '\0', name.len) == NULL;
}

static enum ks_status
not_a_tree(const struct ks_oid *oid, struct ks_error *err)
{
	char hex[KS_OID_HEX + 1];

	return ks_fail(err, KS_CORRUPT, "git tree %s: is malformed",
		ks_oid_print(oid, hex));
}

/* Find one name in one tree. */
static enum ks_status
find_name(struct ks_gitdb *db, const struct ks_oid *tree, struct ks_span name,
	struct ks_git_entry *out, struct ks_error *err)
{
	git_odb_object *object;
	struct ks_git_cursor cursor;
	enum ks_status status;
	int rc;

	status = ks_git_object(db, tree, GIT_OBJECT_TREE, &object, err);
	if (status != KS_OK)
		return status;
	cursor = ks_git_cursor(object);
	do
		rc = ks_git_cursor_next(&cursor);
	while (rc == 1 && !ks_span_equal(cursor.name, name));
	if (rc == 1) {
		out->mode = cursor.mode;
		memcpy(out->oid.bytes, cursor.oid, sizeof(out->oid.bytes));
	} else if (rc == 0) {
		status = KS_NOT_FOUND;
	} else {
		status = not_a_tree(tree, err);
	}
	git_odb_object_free(object);
	return status;
}

enum ks_status
ks_gitdb_find(struct ks_gitdb *db, const struct ks_oid *tree,
	const char *path, struct ks_git_entry *out, struct ks_error *err)
{
	struct ks_git_entry entry = { .mode = KS_GIT_MODE_TREE, .oid = *tree };
	const char *at = path;
	struct ks_error inner = KS_ERROR_INIT;

	memset(out, 0, sizeof(*out));
	for (;;) {
		const char *slash = strchr(at, '/');
		size_t len = slash == NULL ? strlen(at) : (size_t)(slash - at);
		enum ks_status status = KS_NOT_FOUND;

		if (entry.mode == KS_GIT_MODE_TREE)
			status = find_name(db, &entry.oid, ks_span(at, len),
				&entry, &inner);
		if (status == KS_NOT_FOUND && inner.status == KS_OK)
			return ks_fail(err, KS_NOT_FOUND,
				"%s: is not in the tree", path);
		if (status != KS_OK)
			return ks_fail(err, status, "%s: %s", path,
				inner.message);
		if (slash == NULL)
			break;
		at = slash + 1;
	}
	*out = entry;
	return KS_OK;
}

enum ks_status
ks_gitdb_list(struct ks_gitdb *db, const struct ks_oid *tree,
	ks_git_entry_fn *visit, void *arg, struct ks_error *err)
{
	git_odb_object *object;
	struct ks_git_cursor cursor;
	enum ks_status status;
	int rc = 0;

	status = ks_git_object(db, tree, GIT_OBJECT_TREE, &object, err);
	if (status != KS_OK)
		return status;
	cursor = ks_git_cursor(object);
	while (status == KS_OK && (rc = ks_git_cursor_next(&cursor)) == 1) {
		struct ks_git_entry entry = {
			/* NUL-terminated: that is how a tree stores it. */
			.name = (const char *)cursor.name.data,
			.mode = cursor.mode,
		};

		memcpy(entry.oid.bytes, cursor.oid, sizeof(entry.oid.bytes));
		status = visit(arg, &entry, err);
	}
	if (rc < 0)
		status = not_a_tree(tree, err);
	git_odb_object_free(object);
	return status;
}

/* The length first: a damaged or hostile object may state any. */
static enum ks_status
check_length(struct ks_gitdb *db, const struct ks_oid *oid, uint64_t limit,
	struct ks_error *err)
{
	git_oid id = ks_git_oid(oid);
	git_object_t type;
	size_t len = 0;
	char hex[KS_OID_HEX + 1];
	int rc;

	rc = read_header(db, &id, &len, &type);
	if (rc < 0)
		return explain(db, oid, GIT_OBJECT_BLOB, rc, err);
	if (len > limit)
		return ks_fail(err, KS_CORRUPT, "git %s %s: has %llu bytes, "
			"more than the %llu allowed", type_name(type),
			ks_oid_print(oid, hex), (unsigned long long)len,
			(unsigned long long)limit);
	return KS_OK;
}

static enum ks_status
check_hash(const struct ks_oid *oid, struct ks_span bytes,
	struct ks_error *err)
{
	git_oid expected = ks_git_oid(oid);
	git_oid found;
	char hex[KS_OID_HEX + 1];
	int rc = git_odb_hash(&found, bytes.data, bytes.len, GIT_OBJECT_BLOB);

	if (rc < 0)
		return ks_git_fail(err, rc, KS_CORRUPT, "git blob %s",
			ks_oid_print(oid, hex));
	if (git_oid_cmp(&expected, &found) != 0)
		return ks_fail(err, KS_CORRUPT, "git blob %s: its bytes have "
			"another SHA-1", ks_oid_print(oid, hex));
	return KS_OK;
}

static enum ks_status
read_blob(struct ks_gitdb *db, const struct ks_oid *oid, uint64_t limit,
	git_odb_object **out, struct ks_error *err)
{
	enum ks_status status = check_length(db, oid, limit, err);

	return status != KS_OK ? status :
		ks_git_object(db, oid, GIT_OBJECT_BLOB, out, err);
}

enum ks_status
ks_gitdb_blob_use(struct ks_gitdb *db, const struct ks_oid *oid,
	uint64_t limit, ks_git_use_fn *use, void *arg, struct ks_error *err)
{
	git_odb_object *object = NULL;
	enum ks_status status = read_blob(db, oid, limit, &object, err);

	if (status != KS_OK)
		return status;
	status = use(arg, ks_span(git_odb_object_data(object),
		git_odb_object_size(object)), err);
	git_odb_object_free(object);
	return status;
}

enum ks_status
ks_gitdb_blob(struct ks_gitdb *db, const struct ks_oid *oid, uint64_t limit,
	bool check, struct ks_buf *out, struct ks_error *err)
{
	git_odb_object *object = NULL;
	enum ks_status status = read_blob(db, oid, limit, &object, err);
	struct ks_span bytes;

	if (status != KS_OK)
		return status;
	bytes = ks_span(git_odb_object_data(object),
		git_odb_object_size(object));
	if (check)
		status = check_hash(oid, bytes, err);
	if (status == KS_OK) {
		ks_buf_append(out, bytes);
		status = ks_buf_check(out, err);
	}
	git_odb_object_free(object);
	return status;
}

enum ks_status
ks_gitdb_read(struct ks_gitdb *db, const struct ks_oid *tree,
	const char *path, uint64_t limit, struct ks_buf *out,
	struct ks_error *err)
{
	struct ks_git_entry entry;
	enum ks_status status = ks_gitdb_find(db, tree, path, &entry, err);

	if (status != KS_OK)
		return status;
	if (entry.mode == KS_GIT_MODE_TREE)
		return ks_fail(err, KS_CORRUPT, "%s: is a directory", path);
	status = ks_gitdb_blob(db, &entry.oid, limit, false, out, err);
	if (status != KS_OK)
		(void)ks_context(err, "%s", path);
	return status;
}
