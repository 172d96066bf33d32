/*
 * Raw objects: the bytes of files, put in and handed out as they are
 * (store-layout.md O1 to O4, O8, K30, P24).
 *
 * A file is read twice: to know its digest, before the lock is taken, and to
 * compress it, where it is new. So of a file of any length only a piece is in
 * memory; its frame goes through a spool, since a pack says the length of what
 * it holds in front.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/spool.h"
#include "base/utf8.h"
#include "format/digest.h"
#include "format/json.h"
#include "format/kind.h"
#include "format/record.h"
#include "store/put.h"

#define PIECE ((size_t)256 << 10)
#define FRAME_PIECE ((size_t)1 << 20)
#define SPOOL_MEMORY ((size_t)4 << 20)
#define KIND_ARTIFACT KS_API_KISTORE "/Artifact"

/* What an artifact is said to be where nothing else is given. Its bytes are in
 * the store. */
#define DEFAULT_MEDIA_TYPE "application/octet-stream"
#define DEFAULT_KIND "file"
#define STORAGE "archived"

/* Bytes that were put aside: pieces of one length, but for the last. */
struct aside {
	struct ks_spool *spool;
	struct ks_buf places;	/* uint64_t of each piece */
	size_t piece;
	uint64_t len;
	struct ks_buf scratch;
};

/* A file that is to be put. */
struct source {
	const char *path;
	struct ks_id digest;
	uint64_t size;
	bool again;	/* another one with these bytes comes before it */
	bool is_new, gone;
};

/* One put on its way. */
struct putting {
	struct ks_store *store;
	const struct ks_artifact_options *options;
	struct ks_put_result *result;
	struct source *sources;
	size_t count;
	struct aside input;	/* of standard input, which is read once */
	struct ks_collection all;	/* of the descriptions */
	struct ks_writing writing;
	uint64_t done, total;	/* bytes, for progress */
};

/* ---- bytes put aside ---------------------------------------------------- */

static void
release_aside(struct aside *aside)
{
	ks_spool_free(aside->spool);
	ks_buf_release(&aside->places);
	ks_buf_release(&aside->scratch);
}

static enum ks_status
begin_aside(struct aside *aside, struct ks_store *store, size_t piece,
	struct ks_error *err)
{
	aside->piece = piece;
	return ks_spool_new(&aside->spool, ks_gitdb_objects(store->db),
		SPOOL_MEMORY, err);
}

/* All but the last have the length of a piece. */
static enum ks_status
add_aside(struct aside *aside, struct ks_span bytes, struct ks_error *err)
{
	uint64_t place = 0;
	enum ks_status status = ks_spool_add(aside->spool, bytes, &place, err);

	aside->len += bytes.len;
	ks_buf_append(&aside->places, ks_span(&place, sizeof(place)));
	return status == KS_OK ? ks_buf_check(&aside->places, err) : status;
}

/* A ks_git_read_fn: the piece that begins at `at`. */
static enum ks_status
read_aside(void *arg, uint64_t at, struct ks_span *bytes,
	struct ks_error *err)
{
	struct aside *aside = arg;
	size_t number = (size_t)(at / aside->piece);
	uint64_t left = aside->len - at;
	uint64_t place;

	memcpy(&place, aside->places.data + number * sizeof(place),
		sizeof(place));
	return ks_spool_get(aside->spool, place, left < aside->piece ?
		(size_t)left : aside->piece, &aside->scratch, bytes, err);
}

/* ---- reading files ------------------------------------------------------ */

/* "PATH: " in front of what is wrong with a file. */
static enum ks_status
at_source(const struct source *source, struct ks_error *err)
{
	char shown[256];

	return ks_context(err, "%s", strcmp(source->path, "-") == 0 ?
		"standard input" : ks_printable(shown, sizeof(shown),
		ks_span_text(source->path)));
}

static enum ks_status
too_long(struct ks_error *err)
{
	return ks_fail(err, KS_INVALID, "is longer than %llu bytes, the most "
		"that a raw object has (O1)",
		(unsigned long long)KS_LIMIT_RAW);
}

/* Without waiting for a FIFO's writer, and without taking a terminal. */
static enum ks_status
open_source(const struct source *source, int *fd, struct ks_error *err)
{
	struct stat st;

	*fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st) != 0) {
		enum ks_status status = ks_fail_errno(err, "cannot be read");

		return status == KS_NOT_FOUND ? KS_IO : status;
	}
	if (!S_ISREG(st.st_mode))
		return ks_fail(err, KS_INVALID, "not a regular file (give its "
			"data on standard input, as \"-\")");
	return (uint64_t)st.st_size > KS_LIMIT_RAW ? too_long(err) : KS_OK;
}

/* Fill `piece`, so that only the last one is shorter than PIECE. A pipe may
 * have nothing to say for long, so a signal is looked at, too. */
static enum ks_status
read_piece(int fd, const struct ks_watch *watch, struct ks_buf *piece,
	struct ks_error *err)
{
	enum ks_status status;

	ks_buf_clear(piece);
	while (piece->len < PIECE) {
		uint8_t *at = ks_buf_reserve(piece, PIECE - piece->len);
		ssize_t got;

		if (at == NULL)
			return ks_fail_nomem(err);
		status = ks_watch_wait(watch, fd, err);
		if (status != KS_OK)
			return status;
		got = read(fd, at, PIECE - piece->len);
		if (got == 0)
			break;
		if (got > 0)
			piece->len += (size_t)got;
		else if (errno != EINTR)
			return ks_fail_errno(err, "cannot be read");
	}
	return KS_OK;
}

typedef enum ks_status take_fn(void *arg, struct ks_span piece,
	struct ks_error *err);

/* Give all bytes of an open file to `take`. */
static enum ks_status
read_all(struct putting *putting, int fd, take_fn *take, void *arg,
	struct ks_error *err)
{
	const struct ks_watch *watch = putting->options->write.watch;
	struct ks_buf piece = KS_BUF_INIT;
	uint64_t len = 0;
	enum ks_status status = KS_OK;

	do {
		status = read_piece(fd, watch, &piece, err);
		len += piece.len;
		putting->done += piece.len;
		if (status == KS_OK && len > KS_LIMIT_RAW)
			status = too_long(err);
		if (status == KS_OK && piece.len > 0)
			status = take(arg, ks_buf_span(&piece), err);
		ks_watch_progress(watch, "reading", putting->done,
			putting->total);
	} while (status == KS_OK && piece.len == PIECE);
	ks_buf_release(&piece);
	return status;
}

static enum ks_status
take_aside(void *arg, struct ks_span piece, struct ks_error *err)
{
	return add_aside(arg, piece, err);
}

static enum ks_status
read_input_again(struct aside *input, take_fn *take, void *arg,
	struct ks_error *err)
{
	struct ks_span piece = ks_span(NULL, 0);
	uint64_t at = 0;
	enum ks_status status = KS_OK;

	while (status == KS_OK && at < input->len) {
		status = read_aside(input, at, &piece, err);
		if (status == KS_OK)
			status = take(arg, piece, err);
		at += piece.len;
	}
	return status;
}

/* Standard input is put aside, because it cannot be read twice. */
static enum ks_status
read_input(struct putting *putting, take_fn *take, void *arg,
	struct ks_error *err)
{
	struct aside *input = &putting->input;
	enum ks_status status = KS_OK;

	if (input->spool == NULL) {
		status = begin_aside(input, putting->store, PIECE, err);
		if (status == KS_OK)
			status = read_all(putting, STDIN_FILENO, take_aside,
				input, err);
	}
	return status == KS_OK ? read_input_again(input, take, arg, err) :
		status;
}

/* Give the bytes of a source to `take`; the message names it. */
static enum ks_status
read_source(struct putting *putting, const struct source *source,
	take_fn *take, void *arg, struct ks_error *err)
{
	int fd = -1;
	enum ks_status status;

	if (strcmp(source->path, "-") == 0) {
		status = read_input(putting, take, arg, err);
	} else {
		status = open_source(source, &fd, err);
		if (status == KS_OK)
			status = read_all(putting, fd, take, arg, err);
		if (fd >= 0)
			(void)close(fd);
	}
	if (status != KS_OK && status != KS_NOMEM && status != KS_CANCELLED)
		(void)at_source(source, err);
	return status;
}

/* ---- first: what they are ----------------------------------------------- */

struct looking {
	struct ks_digest *digest;
	uint64_t size;
	struct ks_buf start;	/* all of it, while it could be a record */
};

static enum ks_status
look_at_piece(void *arg, struct ks_span piece, struct ks_error *err)
{
	struct looking *looking = arg;

	ks_digest_update(looking->digest, piece);
	looking->size += piece.len;
	if (looking->size > KS_RECORD_MAX) {
		ks_buf_release(&looking->start);
		return KS_OK;
	}
	ks_buf_append(&looking->start, piece);
	return ks_buf_check(&looking->start, err);
}

/* O4, O8: nothing but the bytes decides. */
static enum ks_status
check_raw(struct putting *putting, const struct looking *looking,
	struct ks_error *err)
{
	struct ks_record record;
	enum ks_status status;

	if (looking->size > KS_RECORD_MAX)
		return KS_OK;
	status = ks_record_judge(putting->store->jcs,
		ks_buf_span(&looking->start), &record, err);
	if (status == KS_OK)
		return ks_fail(err, KS_INVALID, "is a record, and a record is "
			"never stored as raw bytes (O8): use kistore put");
	return status == KS_INVALID ? KS_OK : status;
}

static enum ks_status
look_at(struct putting *putting, struct source *source, struct ks_error *err)
{
	struct looking looking = { .start = KS_BUF_INIT };
	enum ks_status status = ks_digest_new(&looking.digest, err);

	if (status == KS_OK)
		status = read_source(putting, source, look_at_piece, &looking,
			err);
	if (status == KS_OK) {
		ks_digest_final(looking.digest, &source->digest);
		source->size = looking.size;
		status = check_raw(putting, &looking, err);
		if (status == KS_INVALID)
			(void)at_source(source, err);
	}
	ks_digest_free(looking.digest);
	ks_buf_release(&looking.start);
	return status;
}

/* The sources in order of their digests. */
struct sortable {
	struct ks_id digest;
	size_t number;
};

static int
by_digest(const void *a, const void *b)
{
	const struct sortable *x = a;
	const struct sortable *y = b;
	int order = ks_id_compare(&x->digest, &y->digest);

	return order != 0 ? order : (x->number > y->number) -
		(x->number < y->number);
}

/* The caller frees it. The same bytes are put once, where they come first. */
static struct sortable *
sort_sources(struct putting *putting)
{
	size_t i, count = putting->count;
	struct sortable *sorted = calloc(count + 1, sizeof(*sorted));

	if (sorted == NULL)
		return NULL;
	for (i = 0; i < count; i++)
		sorted[i] = (struct sortable){ putting->sources[i].digest, i };
	if (count > 1)
		qsort(sorted, count, sizeof(*sorted), by_digest);
	for (i = 1; i < count; i++)
		putting->sources[sorted[i].number].again = ks_id_equal(
			&sorted[i - 1].digest, &sorted[i].digest);
	return sorted;
}

static void
sum_sizes(struct putting *putting)
{
	struct stat st;
	size_t i;

	for (i = 0; i < putting->count; i++)
		if (stat(putting->sources[i].path, &st) == 0)
			putting->total += (uint64_t)st.st_size;
}

static enum ks_status
look_at_all(struct putting *putting, struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	sum_sizes(putting);
	for (i = 0; status == KS_OK && i < putting->count; i++)
		status = look_at(putting, &putting->sources[i], err);
	return status;
}

/* ---- descriptions ------------------------------------------------------- */

static enum ks_status
add_member(struct ks_buf *out, const char *name, const char *text,
	struct ks_error *err)
{
	if (text == NULL)
		return KS_OK;
	if (ks_utf8_check(ks_span_text(text)) != strlen(text))
		return ks_fail(err, KS_INVALID, "the %s of an artifact must "
			"be UTF-8", name);
	ks_buf_printf(out, ",\"%s\":", name);
	ks_json_quote(out, ks_span_text(text));
	return KS_OK;
}

/* The name of a file without its directories, or none. */
static const char *
name_of(const struct putting *putting, const struct source *source)
{
	const char *slash = strrchr(source->path, '/');
	const char *name = slash == NULL ? source->path : slash + 1;

	if (putting->options->name != NULL)
		return putting->options->name;
	if (strcmp(source->path, "-") == 0 || name[0] == '\0')
		return NULL;
	if (ks_utf8_check(ks_span_text(name)) == strlen(name))
		return name;
	ks_watch_note(putting->options->write.watch, "the name of a file is "
		"not UTF-8: it is described without");
	return NULL;
}

static enum ks_status
write_manifest(const struct putting *putting, const struct source *source,
	struct ks_buf *out, struct ks_error *err)
{
	const struct ks_artifact_options *options = putting->options;
	char digest[KS_ID_TEXT + 1];
	enum ks_status status;

	ks_buf_printf(out, "{\"apiVersion\":\"" KS_API_KISTORE
		"\",\"kind\":\"Artifact\",\"spec\":{\"digest\":\"%s\"",
		ks_id_print(&source->digest, digest));
	status = add_member(out, "kind", options->kind == NULL ?
		DEFAULT_KIND : options->kind, err);
	if (status == KS_OK)
		status = add_member(out, "license", options->license, err);
	if (status == KS_OK)
		status = add_member(out, "mediaType",
			options->media_type == NULL ? DEFAULT_MEDIA_TYPE :
			options->media_type, err);
	if (status == KS_OK)
		status = add_member(out, "name", name_of(putting, source),
			err);
	ks_buf_printf(out, ",\"sizeBytes\":%llu,\"storage\":\"" STORAGE "\"",
		(unsigned long long)source->size);
	if (status == KS_OK)
		status = add_member(out, "uri", options->uri, err);
	ks_buf_text(out, "}}");
	return status == KS_OK ? ks_buf_check(out, err) : status;
}

static enum ks_status
describe(struct putting *putting, const struct source *source,
	struct ks_error *err)
{
	static const struct ks_intake_policy policy = { .strict = true };
	struct ks_gather_sink sink = {
		.arg = &putting->all, .manifest = ks_collection_manifest
	};
	struct ks_buf manifest = KS_BUF_INIT;
	enum ks_status status = write_manifest(putting, source, &manifest,
		err);

	if (status == KS_OK) {
		status = ks_gather_text(ks_buf_span(&manifest),
			"the description", &policy, &sink, err);
		putting->result->manifests++;
	}
	ks_buf_release(&manifest);
	return status;
}

/* What was taken down is not told of again. */
static enum ks_status
describe_all(struct putting *putting, struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; putting->options->describe && status == KS_OK &&
		i < putting->count; i++)
		if (!putting->sources[i].gone)
			status = describe(putting, &putting->sources[i], err);
	return status == KS_OK ? ks_collection_close(&putting->all, err) :
		status;
}

/* ---- then: lines and objects -------------------------------------------- */

static enum ks_status
check_kind(struct putting *putting, const struct ks_object_state *state,
	struct ks_error *err)
{
	struct ks_span kind = ks_replay_kind(putting->writing.replay,
		state->kind);
	char shown[300], text[KS_ID_TEXT + 1];

	if (ks_span_is(kind, "raw"))
		return KS_OK;
	return ks_fail(err, KS_CORRUPT, "the log calls %s a %s, but its bytes "
		"are raw (O8)", ks_id_print(&state->digest, text),
		ks_printable(shown, sizeof(shown), kind));
}

/* The publish line of one, unless it has one. */
static enum ks_status
publish(struct putting *putting, struct source *source, struct ks_error *err)
{
	struct ks_replay *replay = putting->writing.replay;
	uint32_t object = ks_replay_find(replay, &source->digest);
	struct ks_entry entry = {
		.op = KS_OP_PUBLISH,
		.digest = source->digest,
		.kind = ks_span_text("raw")
	};
	enum ks_status status = ks_replay_check(replay, err);

	if (status != KS_OK)
		return status;
	if (object == KS_NO_OBJECT) {
		source->is_new = true;
		putting->result->added++;
		return ks_writing_line(&putting->writing, &entry, &object,
			err);
	}
	source->gone = ks_replay_object(replay, object)->taken_down;
	if (source->gone) {
		putting->result->skipped_taken_down++;
		return KS_OK;
	}
	putting->result->known++;
	return check_kind(putting, ks_replay_object(replay, object), err);
}

/* A second file with the same bytes goes the way of the first. */
static enum ks_status
publish_all(struct putting *putting, const struct sortable *sorted,
	struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < putting->count; i++)
		if (!putting->sources[i].again)
			status = publish(putting, &putting->sources[i], err);
	for (i = 1; i < putting->count; i++) {
		struct source *source = &putting->sources[sorted[i].number];

		if (source->again)
			source->gone =
				putting->sources[sorted[i - 1].number].gone;
	}
	return status;
}

struct packing {
	struct ks_deflater *deflater;
	struct ks_digest *digest;
	uint64_t left;		/* of the size that the frame states */
	bool longer;
	struct aside frame;
	struct ks_buf made;
};

/* Put aside what has come of the frame, in pieces of one length; `all`: the
 * rest of it, too. */
static enum ks_status
drain(struct packing *packing, bool all, struct ks_error *err)
{
	struct ks_buf *made = &packing->made;
	size_t at = 0;
	enum ks_status status = ks_buf_check(made, err);

	while (status == KS_OK && made->len - at >= FRAME_PIECE) {
		status = add_aside(&packing->frame, ks_span(made->data + at,
			FRAME_PIECE), err);
		at += FRAME_PIECE;
	}
	if (status == KS_OK && all && made->len > at) {
		status = add_aside(&packing->frame, ks_span(made->data + at,
			made->len - at), err);
		at = made->len;
	}
	if (at > 0 && made->len > at)
		memmove(made->data, made->data + at, made->len - at);
	made->len -= at;
	return status;
}

static enum ks_status
pack_piece(void *arg, struct ks_span piece, struct ks_error *err)
{
	struct packing *packing = arg;
	enum ks_status status = KS_OK;

	ks_digest_update(packing->digest, piece);
	packing->longer = packing->longer || piece.len > packing->left;
	if (packing->longer)
		return KS_OK;
	packing->left -= piece.len;
	while (status == KS_OK && piece.len > 0) {
		status = ks_deflater_step(packing->deflater, &piece, PIECE,
			&packing->made, err);
		if (status == KS_OK && packing->made.len >= FRAME_PIECE)
			status = drain(packing, false, err);
	}
	return status;
}

/* It is not what it was when its digest was taken. */
static enum ks_status
check_unchanged(const struct packing *packing, const struct source *source,
	struct ks_error *err)
{
	struct ks_id found;

	ks_digest_final(packing->digest, &found);
	if (!packing->longer && packing->left == 0 &&
		ks_id_equal(&found, &source->digest))
		return KS_OK;
	(void)ks_fail(err, KS_INVALID, "was changed while it was read");
	(void)at_source(source, err);
	return KS_INVALID;
}

static enum ks_status
write_object(struct putting *putting, const struct source *source,
	struct packing *packing, struct ks_error *err)
{
	char path[KS_OBJECT_PATH + 1];
	enum ks_status status = begin_aside(&packing->frame, putting->store,
		FRAME_PIECE, err);

	if (status == KS_OK)
		status = ks_digest_new(&packing->digest, err);
	if (status == KS_OK)
		status = ks_deflater_new_sized(&packing->deflater,
			KS_FRAME_LEVEL, source->size, err);
	if (status == KS_OK)
		status = read_source(putting, source, pack_piece, packing,
			err);
	if (status == KS_OK)
		status = check_unchanged(packing, source, err);
	if (status == KS_OK)
		status = ks_deflater_end(packing->deflater, &packing->made,
			err);
	if (status == KS_OK)
		status = drain(packing, true, err);
	return status != KS_OK ? status : ks_writing_pieces(&putting->writing,
		ks_layout_object(&source->digest, path), packing->frame.len,
		read_aside, &packing->frame, err);
}

/* In order of digest, as all blobs of a put (G12). */
static enum ks_status
write_objects(struct putting *putting, const struct sortable *sorted,
	struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	putting->done = 0;
	for (i = 0; status == KS_OK && i < putting->count; i++) {
		const struct source *source =
			&putting->sources[sorted[i].number];
		struct packing packing = {
			.left = source->size, .made = KS_BUF_INIT
		};

		if (!source->is_new)
			continue;
		status = write_object(putting, source, &packing, err);
		ks_deflater_free(packing.deflater);
		ks_digest_free(packing.digest);
		release_aside(&packing.frame);
		ks_buf_release(&packing.made);
	}
	return status;
}

static enum ks_status
commit(struct putting *putting, struct ks_error *err)
{
	struct ks_put_options options = { .write = putting->options->write };
	struct ks_buf message = KS_BUF_INIT;
	enum ks_status status = describe_all(putting, err);

	if (status == KS_OK)
		status = ks_put_compose(&putting->writing, &putting->all,
			&options, putting->result, err);
	ks_buf_printf(&message, "put %llu objects\n",
		(unsigned long long)putting->result->added);
	if (status == KS_OK)
		status = ks_buf_check(&message, err);
	if (status == KS_OK)
		status = ks_put_commit(&putting->writing, &putting->all,
			ks_buf_cstr(&message), putting->result, err);
	ks_buf_release(&message);
	return status;
}

static enum ks_status
put(struct putting *putting, const struct sortable *sorted,
	struct ks_error *err)
{
	enum ks_status status = ks_collection_init(&putting->all,
		ks_gitdb_objects(putting->store->db), err);

	if (status == KS_OK)
		status = ks_writing_begin(&putting->writing, putting->store,
			&putting->options->write, 2 * putting->count, false,
			err);
	if (status == KS_OK)
		status = publish_all(putting, sorted, err);
	if (status == KS_OK)
		status = write_objects(putting, sorted, err);
	if (status == KS_OK)
		status = commit(putting, err);
	return status;
}

static void
report(const struct putting *putting, ks_put_fn *visit, void *arg)
{
	size_t i;

	for (i = 0; i < putting->count; i++) {
		const struct source *source = &putting->sources[i];
		struct ks_put_object object = {
			source->digest, "raw", source->is_new
		};

		if (source->again || source->gone)
			continue;
		putting->result->objects++;
		if (visit != NULL)
			visit(arg, &object);
	}
	putting->result->objects += putting->all.order_count;
	ks_put_report(&putting->all, visit, arg);
}

static enum ks_status
run(struct putting *putting, struct ks_error *err)
{
	struct sortable *sorted = NULL;
	enum ks_status status = look_at_all(putting, err);

	if (status == KS_OK) {
		sorted = sort_sources(putting);
		if (sorted == NULL)
			return ks_fail_nomem(err);
		status = put(putting, sorted, err);
	}
	free(sorted);
	return status;
}

/* What describes one file cannot describe several. */
static enum ks_status
check_options(const struct ks_artifact_options *options, size_t count,
	struct ks_error *err)
{
	if (count > 1 && (options->name != NULL || options->uri != NULL))
		return ks_fail(err, KS_USAGE, "a name or URI is of one file");
	return KS_OK;
}

enum ks_status
ks_artifact_put(struct ks_store *store, const char *const *paths,
	size_t count, const struct ks_artifact_options *options,
	ks_put_fn *visit, void *arg, struct ks_put_result *result,
	struct ks_error *err)
{
	struct putting putting = {
		.store = store, .options = options, .result = result,
		.count = count
	};
	size_t i;
	enum ks_status status = check_options(options, count, err);

	memset(result, 0, sizeof(*result));
	putting.writing.lock = (struct ks_lock)KS_LOCK_INIT;
	putting.sources = calloc(count + 1, sizeof(*putting.sources));
	if (status == KS_OK && putting.sources == NULL)
		status = ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < count; i++)
		putting.sources[i].path = paths[i];
	if (status == KS_OK)
		status = run(&putting, err);
	if (status == KS_OK)
		report(&putting, visit, arg);
	ks_writing_end(&putting.writing);
	ks_collection_release(&putting.all);
	release_aside(&putting.input);
	free(putting.sources);
	return status;
}

/* ---- handing out -------------------------------------------------------- */

/* The digest of the bytes that an Artifact record describes. */
static enum ks_status
read_description(struct ks_store *store, const struct ks_id *artifact,
	struct ks_id *bytes, struct ks_error *err)
{
	struct ks_buf body = KS_BUF_INIT;
	char text[KS_ID_TEXT + 1];
	enum ks_status status = ks_get(store, artifact, KS_GET_BODY, &body,
		err);

	/* What the log calls an Artifact need not be JSON. */
	if (status == KS_OK && (ks_jcs_check(store->jcs, ks_buf_span(&body),
		&ks_jcs_manifest, NULL) != KS_OK || !ks_id_parse(bytes,
		ks_json_get_raw(ks_json_get(ks_buf_span(&body), "spec"),
		"digest"))))
		status = ks_fail(err, KS_NOT_FOUND, "%s describes no bytes",
			ks_id_print(artifact, text));
	ks_buf_release(&body);
	return status;
}

/* Looking for an Artifact that tells of some bytes. */
struct search {
	struct ks_store *store;
	const struct ks_id *bytes;
	struct ks_id artifact;
	bool found;
};

static bool
tells_of(void *arg, const struct ks_index_row *row)
{
	struct search *search = arg;
	struct ks_id bytes;

	if (row->state.taken_down || read_description(search->store,
		&row->state.digest, &bytes, NULL) != KS_OK ||
		!ks_id_equal(&bytes, search->bytes))
		return false;
	search->artifact = row->state.digest;
	search->found = true;
	return true;
}

/* Why there are no such bytes. */
static enum ks_status
explain(struct ks_store *store, struct ks_index *index,
	const struct ks_id *bytes, struct ks_error *err)
{
	struct search search = { .store = store, .bytes = bytes };
	char text[KS_ID_TEXT + 1], artifact[KS_ID_TEXT + 1];
	enum ks_status status = ks_index_by_kind(index, KIND_ARTIFACT,
		tells_of, &search, err);

	if (status != KS_OK)
		return status;
	(void)ks_id_print(bytes, text);
	if (!search.found)
		return ks_fail(err, KS_NOT_FOUND, "%s is not in this store, "
			"and nothing here describes it", text);
	return ks_fail(err, KS_NOT_FOUND, "%s is described by %s, but its "
		"bytes are not archived", text, ks_id_print(&search.artifact,
		artifact));
}

/* The raw object that is meant. */
static enum ks_status
find_bytes(struct ks_store *store, const struct ks_id *digest,
	struct ks_id *bytes, struct ks_error *err)
{
	char text[KS_ID_TEXT + 1];
	struct ks_index *index = NULL;
	struct ks_index_row row;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	*bytes = *digest;
	if (status == KS_OK && ks_index_object(index, digest, &row) &&
		strcmp(row.kind, KIND_ARTIFACT) == 0)
		status = read_description(store, digest, bytes, err);
	if (status != KS_OK)
		return status;
	if (!ks_index_object(index, bytes, &row)) {
		status = ks_index_check(index, err);
		return status != KS_OK ? status :
			explain(store, index, bytes, err);
	}
	if (row.state.taken_down || row.kind[0] == '\0' ||
		strcmp(row.kind, "raw") == 0)
		return KS_OK;
	return ks_fail(err, KS_NOT_FOUND, "%s is a record and no artifact "
		"(kistore get prints it)", ks_id_print(bytes, text));
}

enum ks_status
ks_artifact_get(struct ks_store *store, const struct ks_id *digest,
	ks_write_fn *write, void *arg, struct ks_error *err)
{
	struct ks_id bytes;
	enum ks_status status = find_bytes(store, digest, &bytes, err);

	if (status != KS_OK)
		return status;
	status = ks_store_body_pieces(store, &bytes, write, arg, err);
	return status == KS_NOT_FOUND && !ks_store_has(store, &bytes) ?
		ks_store_explain_absence(store, &bytes, err) : status;
}
