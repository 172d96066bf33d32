#include "store/gitdb_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/idmap.h"
#include "base/spool.h"
#include "format/digest.h"
#include "store/gitdb_deflate.h"

/*
 * Pack entries are composed here and put aside, since a pack states in its
 * head how many there are; at the end libgit2's indexer reads, inflates and
 * hashes all of them, and makes the index: what is placed has been read back.
 * Loose objects are written as they come.
 *
 * All files are made in a private directory in objects/ and renamed to their
 * places when they are complete and flushed, so that a writer's death leaves
 * that directory and nothing else (but for a .keep, which says whose it is).
 */

#define MODE_OBJECT 0444
#define PIECE ((size_t)1 << 20)
#define SPOOL_MEMORY ((size_t)16 << 20)
#define KEEP_NOTE "kistore "

/* Temporary packs of other programs that use libgit2 are left alone while
 * somebody may still be writing them. */
#define STALE_SECONDS 3600

struct piece {
	uint64_t place;
	size_t len;
};

struct ks_git_pack {
	struct ks_gitdb *db;
	bool loose;
	char *private;		/* the directory, ends in '/', or NULL */
	struct ks_buf ids;	/* struct ks_oid of every object */
	struct ks_idmap known;
	struct ks_buf entries;	/* the newest, not yet put aside */
	struct ks_spool *spool;
	struct ks_buf pieces;	/* struct piece of what was put aside */
	struct ks_sha1 *sha1;
	struct ks_deflate_queue *queue;	/* packed: what is not stored */
	struct ks_git_deflater *deflater;	/* loose */
	char *placed;		/* objects/pack/pack-HASH, or NULL */
	bool is_new;		/* nobody had a pack of that name before */
};

enum ks_status
ks_git_pack_new(struct ks_git_pack **out, struct ks_gitdb *db, bool loose,
	struct ks_error *err)
{
	struct ks_git_pack *pack = calloc(1, sizeof(*pack));

	*out = NULL;
	if (pack == NULL)
		return ks_fail_nomem(err);
	if (ks_sha1_new(&pack->sha1, err) != KS_OK) {
		free(pack);
		return KS_NOMEM;
	}
	pack->db = db;
	pack->loose = loose;
	ks_idmap_init(&pack->known, sizeof(struct ks_oid),
		sizeof(struct ks_oid));
	*out = pack;
	return KS_OK;
}

/* "PATH" "SUFFIX" in `buf`, as text. */
static const char *
with(struct ks_buf *buf, const char *path, const char *suffix)
{
	ks_buf_clear(buf);
	ks_buf_printf(buf, "%s%s", path, suffix);
	return ks_buf_cstr(buf);
}

static void
remove_directory(const char *path)
{
	DIR *dir;
	const struct dirent *entry;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (dir == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0)
			(void)unlinkat(fd, entry->d_name, 0);
	(void)closedir(dir);
	(void)rmdir(path);
}

static enum ks_status
need_private(struct ks_git_pack *pack, struct ks_error *err)
{
	char *path;
	size_t len;

	if (pack->private != NULL)
		return KS_OK;
	path = ks_git_join(pack->db->objects, KS_GIT_PRIVATE "XXXXXX/");
	if (path == NULL)
		return ks_fail_nomem(err);
	len = strlen(path);
	path[len - 1] = '\0';
	if (mkdtemp(path) == NULL) {
		enum ks_status status = ks_fail_errno(err,
			"cannot write in %s", pack->db->objects);

		free(path);
		return status == KS_NOT_FOUND ? KS_IO : status;
	}
	path[len - 1] = '/';
	pack->private = path;
	return KS_OK;
}

/* An object on its way: its head in loose form ("blob 12", NUL) and its
 * bytes. */
struct object {
	git_object_t type;
	struct ks_span head, body;
	bool store;
};

/* gitformat-pack: type and length, 4 and then 7 bits at a time. */
static void
append_entry_head(struct ks_buf *out, git_object_t type, size_t len)
{
	uint8_t byte = (uint8_t)((unsigned)type << 4 | (len & 15));

	for (len >>= 4; len > 0; len >>= 7) {
		ks_buf_byte(out, byte | 0x80);
		byte = len & 0x7f;
	}
	ks_buf_byte(out, byte);
}

static enum ks_status
put_aside(struct ks_git_pack *pack, struct ks_error *err)
{
	struct piece piece = { .len = pack->entries.len };
	enum ks_status status = KS_OK;

	if (pack->spool == NULL)
		status = ks_spool_new(&pack->spool, pack->db->objects,
			SPOOL_MEMORY, err);
	if (status == KS_OK)
		status = ks_spool_add(pack->spool,
			ks_buf_span(&pack->entries), &piece.place, err);
	if (status != KS_OK)
		return status;
	ks_buf_append(&pack->pieces, ks_span(&piece, sizeof(piece)));
	ks_buf_clear(&pack->entries);
	return ks_buf_check(&pack->pieces, err);
}

static enum ks_status
add_entries(struct ks_git_pack *pack, struct ks_span entries,
	struct ks_error *err)
{
	ks_buf_append(&pack->entries, entries);
	return pack->entries.len >= PIECE ? put_aside(pack, err) :
		ks_buf_check(&pack->entries, err);
}

/* What needs a compressor is done in the background. */
static enum ks_status
add_deflated(struct ks_git_pack *pack, const struct object *object,
	struct ks_error *err)
{
	struct ks_buf head = KS_BUF_INIT;
	struct ks_span done = ks_span(NULL, 0);
	enum ks_status status = KS_OK;

	if (pack->queue == NULL)
		status = ks_deflate_queue_new(&pack->queue, err);
	append_entry_head(&head, object->type, object->body.len);
	if (status == KS_OK)
		status = ks_buf_check(&head, err);
	if (status == KS_OK)
		status = ks_deflate_queue_add(pack->queue, ks_buf_span(&head),
			object->body, err);
	ks_buf_release(&head);
	if (status == KS_OK)
		status = ks_deflate_queue_take(pack->queue, false, &done, err);
	return status == KS_OK ? add_entries(pack, done, err) : status;
}

static enum ks_status
add_packed(struct ks_git_pack *pack, const struct object *object,
	struct ks_error *err)
{
	if (!object->store)
		return add_deflated(pack, object, err);
	append_entry_head(&pack->entries, object->type, object->body.len);
	ks_deflate_stored(&pack->entries, ks_span(NULL, 0), object->body);
	return add_entries(pack, ks_span(NULL, 0), err);
}

static enum ks_status
add_loose(struct ks_git_pack *pack, const struct object *object,
	const struct ks_oid *oid, struct ks_error *err)
{
	char hex[KS_OID_HEX + 1];
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status = need_private(pack, err);

	ks_buf_clear(&pack->entries);
	if (status == KS_OK && !object->store && pack->deflater == NULL)
		status = ks_git_deflater_new(&pack->deflater, err);
	if (status == KS_OK && object->store)
		ks_deflate_stored(&pack->entries, object->head, object->body);
	else if (status == KS_OK)
		status = ks_deflate(pack->deflater, object->head, object->body,
			&pack->entries, err);
	if (status == KS_OK)
		status = ks_buf_check(&pack->entries, err);
	if (status == KS_OK) {
		(void)with(&path, pack->private, ks_oid_print(oid, hex));
		status = ks_buf_check(&path, err);
	}
	if (status == KS_OK)
		status = ks_file_create(ks_buf_cstr(&path),
			ks_buf_span(&pack->entries), MODE_OBJECT, err);
	ks_buf_release(&path);
	return status;
}

/* A pack may hold an object once only. */
static enum ks_status
is_known(struct ks_git_pack *pack, const struct ks_oid *oid, bool *known,
	struct ks_error *err)
{
	*known = ks_idmap_find(&pack->known, pack->ids.data, oid->bytes) !=
		KS_IDMAP_NONE;
	if (*known)
		return KS_OK;
	ks_buf_append(&pack->ids, ks_span(oid, sizeof(*oid)));
	if (ks_buf_check(&pack->ids, err) != KS_OK)
		return KS_NOMEM;
	return ks_idmap_add(&pack->known, pack->ids.data) ? KS_OK :
		ks_fail_nomem(err);
}

enum ks_status
ks_git_pack_add(struct ks_git_pack *pack, git_object_t type,
	struct ks_span content, bool store, struct ks_oid *oid,
	struct ks_error *err)
{
	char head[64];
	int len = snprintf(head, sizeof(head), "%s %zu",
		git_object_type2string(type), content.len);
	struct object object = { type, ks_span(head, (size_t)len + 1), content,
		store };
	struct ks_oid made;
	bool known = false;
	enum ks_status status;

	memset(oid, 0, sizeof(*oid));
	ks_sha1_update(pack->sha1, object.head);
	ks_sha1_update(pack->sha1, object.body);
	ks_sha1_final(pack->sha1, made.bytes);
	status = is_known(pack, &made, &known, err);
	if (status == KS_OK && !known)
		status = pack->loose ? add_loose(pack, &object, &made, err) :
			add_packed(pack, &object, err);
	if (status == KS_OK)
		*oid = made;
	return status;
}

/* ---- a blob in pieces --------------------------------------------------- */

struct pieces {
	uint64_t len;
	ks_git_read_fn *read;
	void *arg;
	struct ks_span head;	/* in loose form */
	const struct ks_oid *oid;
};

typedef enum ks_status use_fn(struct ks_git_pack *pack, void *arg,
	struct ks_span piece, struct ks_error *err);

static enum ks_status
each_piece(struct ks_git_pack *pack, const struct pieces *pieces, use_fn *use,
	void *arg, struct ks_error *err)
{
	uint64_t at = 0;
	struct ks_span piece = ks_span(NULL, 0);
	enum ks_status status = KS_OK;

	while (status == KS_OK && at < pieces->len) {
		status = pieces->read(pieces->arg, at, &piece, err);
		if (status == KS_OK && piece.len > pieces->len - at)
			piece.len = (size_t)(pieces->len - at);
		if (status == KS_OK)
			status = use(pack, arg, piece, err);
		at += piece.len;
	}
	return status;
}

static enum ks_status
hash_piece(struct ks_git_pack *pack, void *arg, struct ks_span piece,
	struct ks_error *err)
{
	(void)arg;
	(void)err;
	ks_sha1_update(pack->sha1, piece);
	return KS_OK;
}

static enum ks_status
pack_piece(struct ks_git_pack *pack, void *arg, struct ks_span piece,
	struct ks_error *err)
{
	ks_deflate_stored_add(arg, piece, &pack->entries);
	return add_entries(pack, ks_span(NULL, 0), err);
}

static enum ks_status
add_packed_pieces(struct ks_git_pack *pack, const struct pieces *pieces,
	struct ks_error *err)
{
	struct ks_stored stored = { .left = pieces->len };

	append_entry_head(&pack->entries, GIT_OBJECT_BLOB,
		(size_t)pieces->len);
	if (pieces->len == 0)
		return pack_piece(pack, &stored, ks_span(NULL, 0), err);
	return each_piece(pack, pieces, pack_piece, &stored, err);
}

struct loose {
	struct ks_stored stored;
	const char *path;
	int fd;
};

static enum ks_status
loose_piece(struct ks_git_pack *pack, void *arg, struct ks_span piece,
	struct ks_error *err)
{
	struct loose *loose = arg;
	enum ks_status status;

	ks_buf_clear(&pack->entries);
	ks_deflate_stored_add(&loose->stored, piece, &pack->entries);
	status = ks_buf_check(&pack->entries, err);
	return status != KS_OK ? status : ks_file_write(loose->fd,
		loose->path, ks_buf_span(&pack->entries), err);
}

/* It is flushed when it is moved to its place. */
static enum ks_status
add_loose_pieces(struct ks_git_pack *pack, const struct pieces *pieces,
	struct ks_error *err)
{
	struct loose loose = {
		.stored = { .left = pieces->head.len + pieces->len },
		.fd = -1
	};
	char hex[KS_OID_HEX + 1];
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status = need_private(pack, err);

	loose.path = status != KS_OK ? "" : with(&path, pack->private,
		ks_oid_print(pieces->oid, hex));
	if (status == KS_OK)
		status = ks_buf_check(&path, err);
	if (status == KS_OK) {
		loose.fd = open(loose.path, O_WRONLY | O_CREAT | O_EXCL |
			O_CLOEXEC, MODE_OBJECT);
		if (loose.fd < 0)
			status = ks_fail_errno(err, "%s", loose.path);
	}
	if (status == KS_OK)
		status = loose_piece(pack, &loose, pieces->head, err);
	if (status == KS_OK)
		status = each_piece(pack, pieces, loose_piece, &loose, err);
	if (loose.fd >= 0 && close(loose.fd) != 0 && status == KS_OK)
		status = ks_fail_errno(err, "%s", loose.path);
	ks_buf_clear(&pack->entries);
	ks_buf_release(&path);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

enum ks_status
ks_git_pack_add_pieces(struct ks_git_pack *pack, uint64_t len,
	ks_git_read_fn *read, void *arg, struct ks_oid *oid,
	struct ks_error *err)
{
	char head[64];
	int head_len = snprintf(head, sizeof(head), "blob %llu",
		(unsigned long long)len);
	struct ks_oid made;
	const struct pieces pieces = { len, read, arg,
		ks_span(head, (size_t)head_len + 1), &made };
	bool known = false;
	enum ks_status status;

	memset(oid, 0, sizeof(*oid));
	ks_sha1_update(pack->sha1, pieces.head);
	status = each_piece(pack, &pieces, hash_piece, NULL, err);
	ks_sha1_final(pack->sha1, made.bytes);
	if (status == KS_OK)
		status = is_known(pack, &made, &known, err);
	if (status == KS_OK && !known)
		status = pack->loose ? add_loose_pieces(pack, &pieces, err) :
			add_packed_pieces(pack, &pieces, err);
	if (status == KS_OK)
		*oid = made;
	return status;
}

/* ---- placing ------------------------------------------------------------ */

/* Where the bytes of the pack go; its checksum is taken on the way. */
struct sink {
	git_indexer *indexer;
	git_indexer_progress progress;
	struct ks_sha1 *sha1;
};

static enum ks_status
feed(struct sink *sink, struct ks_span bytes, struct ks_error *err)
{
	int rc;

	if (bytes.len == 0)
		return KS_OK;
	ks_sha1_update(sink->sha1, bytes);
	rc = git_indexer_append(sink->indexer, bytes.data, bytes.len,
		&sink->progress);
	return rc < 0 ? ks_git_fail(err, rc, KS_IO, "cannot write the pack") :
		KS_OK;
}

static enum ks_status
feed_head(struct sink *sink, uint32_t count, struct ks_error *err)
{
	uint8_t head[12] = { 'P', 'A', 'C', 'K', 0, 0, 0, 2,
		(uint8_t)(count >> 24), (uint8_t)(count >> 16),
		(uint8_t)(count >> 8), (uint8_t)count };

	return feed(sink, ks_span(head, sizeof(head)), err);
}

static enum ks_status
feed_pieces(struct sink *sink, const struct ks_git_pack *pack,
	struct ks_error *err)
{
	struct ks_buf scratch = KS_BUF_INIT;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; i < pack->pieces.len && status == KS_OK;
		i += sizeof(struct piece)) {
		struct piece piece;
		struct ks_span bytes;

		memcpy(&piece, pack->pieces.data + i, sizeof(piece));
		status = ks_spool_get(pack->spool, piece.place, piece.len,
			&scratch, &bytes, err);
		if (status == KS_OK)
			status = feed(sink, bytes, err);
	}
	ks_buf_release(&scratch);
	if (status == KS_OK)
		status = feed(sink, ks_buf_span(&pack->entries), err);
	return status;
}

/* What is still being compressed goes in as it is done. */
static enum ks_status
feed_queue(struct sink *sink, const struct ks_git_pack *pack,
	struct ks_error *err)
{
	struct ks_span done;
	enum ks_status status = KS_OK;

	while (pack->queue != NULL) {
		status = ks_deflate_queue_take(pack->queue, true, &done, err);
		if (status != KS_OK || done.len == 0)
			break;
		status = feed(sink, done, err);
		if (status != KS_OK)
			break;
	}
	return status;
}

static enum ks_status
feed_sum(struct sink *sink, struct ks_error *err)
{
	uint8_t sum[KS_SHA1_SIZE];

	ks_sha1_final(sink->sha1, sum);
	return feed(sink, ks_span(sum, sizeof(sum)), err);
}

static enum ks_status
feed_pack(struct sink *sink, const struct ks_git_pack *pack,
	struct ks_error *err)
{
	enum ks_status status = feed_head(sink, pack->known.used, err);
	int rc;

	if (status == KS_OK)
		status = feed_pieces(sink, pack, err);
	if (status == KS_OK)
		status = feed_queue(sink, pack, err);
	if (status == KS_OK)
		status = feed_sum(sink, err);
	if (status != KS_OK)
		return status;
	rc = git_indexer_commit(sink->indexer, &sink->progress);
	return rc < 0 ? ks_git_fail(err, rc, KS_IO, "cannot index the pack") :
		KS_OK;
}

/* Make pack-HASH.pack and .idx in the private directory; their name without
 * the suffix is left in `stem`. */
static enum ks_status
index_pack(struct ks_git_pack *pack, struct ks_buf *stem,
	struct ks_error *err)
{
	struct sink sink = { .sha1 = pack->sha1 };
	enum ks_status status;
	char hex[KS_OID_HEX + 1];
	int rc;

	rc = git_indexer_new(&sink.indexer, pack->private, MODE_OBJECT, NULL,
		NULL);
	if (rc < 0)
		return ks_git_fail(err, rc, KS_IO, "cannot write the pack");
	status = feed_pack(&sink, pack, err);
	if (status == KS_OK) {
		git_oid_tostr(hex, sizeof(hex),
			git_indexer_hash(sink.indexer));
		ks_buf_printf(stem, "pack-%s", hex);
		(void)ks_buf_cstr(stem);
		status = ks_buf_check(stem, err);
	}
	git_indexer_free(sink.indexer);
	return status;
}

/* libgit2 would flush the private directory four times, where nothing needs to
 * last; what is renamed is flushed here instead. */
static enum ks_status
index_unflushed(struct ks_git_pack *pack, struct ks_buf *stem,
	struct ks_error *err)
{
	enum ks_status status;

	(void)git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 0);
	status = index_pack(pack, stem, err);
	(void)git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	return status;
}

/* Flush private/NAME and rename it to `to`. */
static enum ks_status
move_out(struct ks_git_pack *pack, const char *name, const char *to,
	struct ks_error *err)
{
	char *from = ks_git_join(pack->private, name);
	enum ks_status status;

	/* An empty path is one for which memory was short. */
	if (from == NULL || name[0] == '\0' || to[0] == '\0') {
		free(from);
		return ks_fail_nomem(err);
	}
	ks_gitdb_share(pack->db, from);
	status = ks_file_sync(from, err);
	if (status == KS_OK && rename(from, to) != 0)
		status = ks_fail_errno(err, "%s", to);
	free(from);
	return status;
}

/* A pack of the same name has the same objects; it stays. */
static bool
is_placed(const char *stem)
{
	struct ks_buf path = KS_BUF_INIT;
	bool placed = access(with(&path, stem, ".idx"), F_OK) == 0 &&
		access(with(&path, stem, ".pack"), F_OK) == 0;

	ks_buf_release(&path);
	return placed;
}

/* A .keep is whole from the start, or nobody could tell whose it is. */
static enum ks_status
place_keep(struct ks_git_pack *pack, const char *note, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_buf from = KS_BUF_INIT;
	struct ks_buf to = KS_BUF_INIT;
	enum ks_status status;

	ks_buf_printf(&text, KEEP_NOTE "%s\n", note);
	status = ks_file_create(with(&from, pack->private, "keep"),
		ks_buf_span(&text), MODE_OBJECT, err);
	if (status == KS_OK && rename(ks_buf_cstr(&from),
		with(&to, pack->placed, ".keep")) != 0)
		status = ks_fail_errno(err, "%s", ks_buf_cstr(&to));
	if (text.failed || from.failed || to.failed)
		status = ks_fail_nomem(err);
	ks_buf_release(&text);
	ks_buf_release(&from);
	ks_buf_release(&to);
	return status;
}

/* First the .keep, so that no `git gc` takes the pack away before the branch
 * leads to it; the .idx last, because that makes it a pack. */
static enum ks_status
move_pack(struct ks_git_pack *pack, const char *stem, const char *note,
	struct ks_error *err)
{
	static const char *const suffixes[] = { ".pack", ".idx" };
	struct ks_buf to = KS_BUF_INIT;
	struct ks_buf name = KS_BUF_INIT;
	enum ks_status status = KS_OK;
	size_t i;

	if (pack->is_new)
		status = place_keep(pack, note, err);
	for (i = 0; i < 2 && status == KS_OK && pack->is_new; i++)
		status = move_out(pack, with(&name, stem, suffixes[i]),
			with(&to, pack->placed, suffixes[i]), err);
	if (status == KS_OK)
		status = ks_file_sync_parent(pack->placed, err);
	if (to.failed || name.failed)
		status = ks_fail_nomem(err);
	ks_buf_release(&to);
	ks_buf_release(&name);
	return status;
}

static enum ks_status
place_pack(struct ks_git_pack *pack, const char *note, struct ks_error *err)
{
	struct ks_buf stem = KS_BUF_INIT;
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status;

	status = index_unflushed(pack, &stem, err);
	if (status == KS_OK)
		status = ks_git_mkdir(pack->db,
			with(&path, pack->db->objects, "pack"), err);
	if (status == KS_OK) {
		pack->placed = ks_git_join(with(&path, pack->db->objects,
			"pack/"), ks_buf_cstr(&stem));
		if (pack->placed == NULL)
			status = ks_fail_nomem(err);
	}
	if (status == KS_OK) {
		pack->is_new = !is_placed(pack->placed);
		status = move_pack(pack, ks_buf_cstr(&stem), note, err);
	}
	/* Without memory a path is "", which no call takes for a file. */
	if (stem.failed || path.failed)
		status = ks_fail_nomem(err);
	ks_buf_release(&stem);
	ks_buf_release(&path);
	return status;
}

static enum ks_status
place_loose_one(struct ks_git_pack *pack, const struct ks_oid *oid,
	struct ks_error *err)
{
	char hex[KS_OID_HEX + 1];
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status;

	(void)ks_oid_print(oid, hex);
	ks_buf_printf(&path, "%s%.2s", pack->db->objects, hex);
	(void)ks_buf_cstr(&path);
	status = ks_buf_check(&path, err);
	if (status == KS_OK)
		status = ks_git_mkdir(pack->db, ks_buf_cstr(&path), err);
	ks_buf_printf(&path, "/%s", hex + 2);
	if (status == KS_OK)
		status = move_out(pack, hex, ks_buf_cstr(&path), err);
	if (status == KS_OK)
		status = ks_file_sync_parent(ks_buf_cstr(&path), err);
	ks_buf_release(&path);
	return status;
}

static enum ks_status
place_loose(struct ks_git_pack *pack, struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; i < pack->ids.len && status == KS_OK;
		i += sizeof(struct ks_oid)) {
		struct ks_oid oid;

		memcpy(&oid, pack->ids.data + i, sizeof(oid));
		status = place_loose_one(pack, &oid, err);
	}
	/* For the directories made in it. */
	if (status == KS_OK)
		status = ks_file_sync(pack->db->objects, err);
	return status;
}

static void
drop_private(struct ks_git_pack *pack)
{
	if (pack->private != NULL)
		remove_directory(pack->private);
	free(pack->private);
	pack->private = NULL;
}

enum ks_status
ks_git_pack_place(struct ks_git_pack *pack, const char *note,
	struct ks_error *err)
{
	enum ks_status status = need_private(pack, err);

	if (status == KS_OK && pack->loose)
		status = place_loose(pack, err);
	else if (status == KS_OK)
		status = place_pack(pack, note, err);
	drop_private(pack);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

static void
unlink_placed(const struct ks_git_pack *pack, const char *suffix)
{
	struct ks_buf path = KS_BUF_INIT;

	(void)unlink(with(&path, pack->placed, suffix));
	ks_buf_release(&path);
}

void
ks_git_pack_release(struct ks_git_pack *pack)
{
	if (pack->placed != NULL && pack->is_new)
		unlink_placed(pack, ".keep");
	free(pack->placed);
	pack->placed = NULL;
}

void
ks_git_pack_free(struct ks_git_pack *pack)
{
	if (pack == NULL)
		return;
	if (pack->placed != NULL && pack->is_new) {
		unlink_placed(pack, ".idx");
		unlink_placed(pack, ".pack");
		unlink_placed(pack, ".keep");
	}
	drop_private(pack);
	ks_deflate_queue_free(pack->queue);
	ks_git_deflater_free(pack->deflater);
	ks_sha1_free(pack->sha1);
	ks_spool_free(pack->spool);
	ks_buf_release(&pack->ids);
	ks_idmap_release(&pack->known);
	ks_buf_release(&pack->entries);
	ks_buf_release(&pack->pieces);
	free(pack->placed);
	free(pack);
}

/* Call `visit` with the path of each file in a directory. */
static void
each_file(struct ks_gitdb *db, const char *directory,
	void visit(struct ks_gitdb *db, const char *path, const char *name))
{
	DIR *dir = opendir(directory);
	struct ks_buf child = KS_BUF_INIT;
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		visit(db, with(&child, directory, entry->d_name),
			entry->d_name);
	if (dir != NULL)
		(void)closedir(dir);
	ks_buf_release(&child);
}

static void
sweep_private(struct ks_gitdb *db, const char *path, const char *name)
{
	(void)db;
	if (strncmp(name, KS_GIT_PRIVATE, strlen(KS_GIT_PRIVATE)) != 0)
		return;
	remove_directory(path);
	(void)unlink(path);
}

/* Whether that is a .keep of kistore; it names the commit in the pack. */
static bool
is_our_keep(const char *path, const char *name, struct ks_oid *commit)
{
	size_t len = strlen(name);
	struct ks_buf text = KS_BUF_INIT;
	const char *note;
	bool ours;

	memset(commit, 0, sizeof(*commit));
	if (len < 5 || strcmp(name + len - 5, ".keep") != 0)
		return false;
	ours = ks_file_read_at(KS_FILE_CWD, path, 256, &text, NULL) == KS_OK &&
		strncmp(ks_buf_cstr(&text), KEEP_NOTE, strlen(KEEP_NOTE)) == 0;
	if (ours && text.len == strlen(KEEP_NOTE) + KS_OID_HEX + 1) {
		note = ks_buf_cstr(&text) + strlen(KEEP_NOTE);
		text.data[text.len - 1] = '\0';
		if (!ks_oid_parse(commit, note))
			memset(commit, 0, sizeof(*commit));
	}
	ks_buf_release(&text);
	return ours;
}

/* A writer died with its pack in place, or half of it. If the branch never
 * moved, nothing leads there, and git would keep the pack for weeks or, without
 * an .idx, for ever. */
static void
sweep_kept(struct ks_gitdb *db, const char *keep, const struct ks_oid *commit)
{
	struct ks_buf stem = KS_BUF_INIT;
	struct ks_buf path = KS_BUF_INIT;

	ks_buf_append(&stem, ks_span(keep, strlen(keep) - strlen(".keep")));
	(void)with(&path, ks_buf_cstr(&stem), ".idx");
	if (stem.failed || path.failed) {
		/* Another time: an absent path must not look like an absent
		 * file. */
		ks_buf_release(&stem);
		ks_buf_release(&path);
		return;
	}
	if (access(ks_buf_cstr(&path), F_OK) == 0) {
		if (!ks_oid_is_zero(commit) && !ks_git_is_reached(db, commit)) {
			(void)unlink(ks_buf_cstr(&path));
			(void)unlink(with(&path, ks_buf_cstr(&stem), ".pack"));
		}
	} else if (errno == ENOENT) {
		(void)unlink(with(&path, ks_buf_cstr(&stem), ".pack"));
	}
	(void)unlink(keep);
	ks_buf_release(&stem);
	ks_buf_release(&path);
}

static bool
is_stale_temporary(const char *path, const char *name)
{
	struct stat st;

	return strncmp(name, "pack_git2_", 10) == 0 &&
		lstat(path, &st) == 0 &&
		time(NULL) - st.st_mtime > STALE_SECONDS;
}

static void
sweep_pack(struct ks_gitdb *db, const char *path, const char *name)
{
	struct ks_oid commit;

	if (is_our_keep(path, name, &commit))
		sweep_kept(db, path, &commit);
	else if (is_stale_temporary(path, name))
		(void)unlink(path);
}

void
ks_git_pack_sweep(struct ks_gitdb *db)
{
	struct ks_buf path = KS_BUF_INIT;

	each_file(db, db->objects, sweep_private);
	each_file(db, with(&path, db->objects, "pack/"), sweep_pack);
	ks_buf_release(&path);
}
