/*
 * A snapshot file, from its bytes to notes, lines and objects.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "format/digest.h"
#include "format/json.h"
#include "format/proof.h"
#include "format/snapfile.h"
#include "store/archive.h"

/* What is read, and what it becomes, at a time. */
#define READ_STEP ((size_t)64 << 10)
#define PLAIN_STEP ((size_t)256 << 10)

/* Lines are put aside so many bytes at a time. */
#define PIECE ((size_t)64 << 10)

#define DEFAULT_DIRECTORY "/tmp"

/* How often the watcher is asked while lines come. */
#define WATCH_LINES 4096

/* Lines that lie in the spool. */
struct piece {
	uint64_t place;
	size_t len;
};

void
ks_archive_leave_out(struct ks_archive *archive, const char *text)
{
	char *out = archive->result->not_checked;
	size_t used = strlen(out);

	(void)snprintf(out + used, sizeof(archive->result->not_checked) - used,
		"%s%s", used == 0 ? "" : "; ", text);
}

/* ---- notes ---------------------------------------------------------- */

static enum ks_status
check_origin(struct ks_span origin, struct ks_error *err)
{
	enum ks_status status = ks_key_name_check(origin, err);

	if (status == KS_OK)
		return KS_OK;
	if (err != NULL)
		err->status = KS_CORRUPT;
	return KS_CORRUPT;
}

/* S1, S3, S9: a checkpoint of three lines, and the log's signature alone.
 * Whether that verifies, and by whose key, is for later. */
static enum ks_status
check_note(const struct ks_note *note, struct ks_checkpoint *checkpoint,
	struct ks_error *err)
{
	char shown[300];
	enum ks_status status = ks_checkpoint_parse(note->text, checkpoint,
		err);

	if (status == KS_OK && checkpoint->extension.len > 0)
		status = ks_fail(err, KS_CORRUPT,
			"has more than three lines (S1)");
	if (status == KS_OK)
		status = check_origin(checkpoint->origin, err);
	if (status == KS_OK && note->line_count != 1)
		status = ks_fail(err, KS_CORRUPT, "has %zu signatures, not "
			"only that of the log (S9)", note->line_count);
	if (status == KS_OK && !ks_span_equal(note->lines[0].name,
		checkpoint->origin))
		status = ks_fail(err, KS_CORRUPT, "is signed by %s, which is "
			"not its origin (S3)", ks_printable(shown,
			sizeof(shown), note->lines[0].name));
	return status;
}

static enum ks_status
take_note(struct ks_archive *archive, struct ks_span bytes,
	struct ks_stored_note *out, struct ks_error *err)
{
	struct ks_snapshot_file *file = &archive->result->file;
	struct ks_checkpoint checkpoint = { .size = 0 };
	struct ks_note note;
	enum ks_status status = ks_note_parse(bytes, &note, err);

	if (status != KS_OK)
		return status;
	status = check_note(&note, &checkpoint, err);
	if (status == KS_OK && archive->origin.len == 0) {
		ks_buf_append(&archive->origin, checkpoint.origin);
		(void)snprintf(file->origin, sizeof(file->origin), "%s",
			ks_buf_cstr(&archive->origin));
		(void)snprintf(file->signer, sizeof(file->signer), "%s+%08lx",
			file->origin, (unsigned long)note.lines[0].id);
		status = ks_buf_check(&archive->origin, err);
	}
	if (status == KS_OK && !ks_span_equal(checkpoint.origin,
		ks_buf_span(&archive->origin)))
		status = ks_fail(err, KS_CORRUPT,
			"is of another origin than checkpoint (S3)");
	out->size = checkpoint.size;
	out->root = checkpoint.root;
	ks_buf_append(&out->bytes, bytes);
	ks_note_release(&note);
	return status == KS_OK ? ks_buf_check(&out->bytes, err) : status;
}

static enum ks_status
take_checkpoint(void *arg, struct ks_span bytes, uint64_t *size,
	struct ks_error *err)
{
	struct ks_archive *archive = arg;
	enum ks_status status = take_note(archive, bytes, &archive->note, err);

	if (status != KS_OK)
		return ks_context(err, "checkpoint");
	*size = archive->note.size;
	archive->result->file.size = *size;
	archive->result->file.root = archive->note.root;
	return ks_trusted_new(archive->options->trust, ks_buf_span(
		&archive->origin), archive->options->watch, &archive->trust,
		&archive->state, err);
}

static enum ks_status
take_from_checkpoint(void *arg, struct ks_span bytes, uint64_t *from,
	struct ks_error *err)
{
	struct ks_archive *archive = arg;
	enum ks_status status = take_note(archive, bytes, &archive->from_note,
		err);

	if (status != KS_OK)
		return ks_context(err, "from/checkpoint");
	*from = archive->from_note.size;
	archive->result->file.from = *from;
	return KS_OK;
}

static enum ks_status
take_range(void *arg, struct ks_span text, struct ks_error *err)
{
	struct ks_archive *archive = arg;
	struct ks_id root;
	enum ks_status status = ks_proof_range_parse(text,
		archive->from_note.size, &archive->range, err);

	if (status != KS_OK)
		return ks_context(err, "from/range");
	ks_merkle_root(&archive->range, &root);
	if (!ks_id_equal(&root, &archive->from_note.root))
		return ks_fail(err, KS_CORRUPT, "from/range does not have the "
			"root that from/checkpoint signs (S11)");
	archive->tree = archive->range;
	return KS_OK;
}

/* ---- lines ---------------------------------------------------------- */

static enum ks_status
add_brought(struct ks_archive *archive, const struct ks_id *id,
	struct ks_error *err)
{
	size_t used = archive->by_brought.used;
	struct ks_id *grown;

	if (ks_idmap_find(&archive->by_brought, archive->brought, id) !=
		KS_IDMAP_NONE)
		return KS_OK;
	grown = ks_grow(archive->brought, used, &archive->brought_room,
		sizeof(*grown), err);
	if (grown == NULL)
		return KS_NOMEM;
	archive->brought = grown;
	grown[used] = *id;
	return ks_idmap_add(&archive->by_brought, grown) ? KS_OK :
		ks_fail_nomem(err);
}

/* Where the earlier entries are not at hand, they may be anything that lets
 * these ones be without fault. So they have published whatever these rest on,
 * but neither what these publish nor what these say is missing. */
static enum ks_status
note_brought(struct ks_archive *archive, const struct ks_entry *entry,
	struct ks_error *err)
{
	struct ks_json_iter it = ks_json_iter(entry->missing);
	struct ks_span item;
	struct ks_id id;
	enum ks_status status = KS_OK;

	if (archive->range.size == 0 || archive->hooks != NULL ||
		entry->op != KS_OP_PUBLISH)
		return KS_OK;
	if (archive->by_brought.key_len == 0)
		ks_idmap_init(&archive->by_brought, KS_ID_BYTES,
			sizeof(*archive->brought));
	status = add_brought(archive, &entry->digest, err);
	while (status == KS_OK && ks_json_next_element(&it, &item))
		if (ks_id_parse(&id, ks_json_raw(item)))
			status = add_brought(archive, &id, err);
	return status;
}

static enum ks_status
put_aside(struct ks_archive *archive, struct ks_error *err)
{
	struct piece piece = { .len = archive->pending.len };
	enum ks_status status = ks_buf_check(&archive->pending, err);

	if (status == KS_OK && piece.len > 0)
		status = ks_spool_add(archive->spool,
			ks_buf_span(&archive->pending), &piece.place, err);
	if (status == KS_OK && piece.len > 0)
		ks_buf_append(&archive->pieces, ks_span(&piece,
			sizeof(piece)));
	ks_buf_clear(&archive->pending);
	return status == KS_OK ? ks_buf_check(&archive->pieces, err) : status;
}

static enum ks_status
keep_line(struct ks_archive *archive, struct ks_span line,
	struct ks_error *err)
{
	ks_buf_append(&archive->pending, line);
	ks_buf_byte(&archive->pending, '\n');
	return archive->pending.len < PIECE ? KS_OK : put_aside(archive, err);
}

/* The form of a line is judged here and now, so that no stream of nonsense
 * fills the disk. */
static enum ks_status
take_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct ks_archive *archive = arg;
	struct ks_entry entry;
	struct ks_id leaf;
	enum ks_status status = ks_entry_parse(archive->jcs, line, &entry,
		err);

	if (status != KS_OK && status != KS_UNSUPPORTED)
		return status == KS_NOMEM ? status : ks_context(err,
			"entry %llu", (unsigned long long)index);
	ks_replay_leaf(line, &entry, &leaf);
	ks_merkle_append(&archive->tree, &leaf);
	if (status == KS_OK)
		status = ks_takedowns_line(&archive->takedowns, index, &entry,
			err);
	else
		status = KS_OK;
	if (status == KS_OK)
		status = note_brought(archive, &entry, err);
	if (status == KS_OK && index % WATCH_LINES == 0)
		status = ks_watch_check(archive->options->watch, err);
	return status == KS_OK ? keep_line(archive, line, err) : status;
}

enum ks_status
ks_archive_each_line(struct ks_archive *archive, ks_line_fn *visit, void *arg,
	struct ks_error *err)
{
	struct ks_buf scratch = KS_BUF_INIT;
	uint64_t index = archive->range.size;
	size_t i;
	enum ks_status status = put_aside(archive, err);

	for (i = 0; status == KS_OK && i < archive->pieces.len;
		i += sizeof(struct piece)) {
		struct piece piece;
		struct ks_span rest, line;

		memcpy(&piece, archive->pieces.data + i, sizeof(piece));
		status = ks_spool_get(archive->spool, piece.place, piece.len,
			&scratch, &rest, err);
		while (status == KS_OK && ks_log_next_line(&rest, &line))
			status = visit(arg, index++, line, err);
	}
	ks_buf_release(&scratch);
	return status;
}

/* ---- the root, before anything is made of the lines ----------------- */

static enum ks_status
judge_log(struct ks_archive *archive, struct ks_error *err)
{
	struct ks_id root;
	enum ks_status status;

	ks_merkle_root(&archive->tree, &root);
	if (!ks_id_equal(&root, &archive->note.root))
		return ks_fail(err, KS_CORRUPT, "the entries are not those "
			"that checkpoint signs: they have another root (S1)");
	status = ks_archive_judge_log(archive, err);
	return status == KS_OK ? ks_archive_objects_begin(archive, err) :
		status;
}

static enum ks_status
take_object(void *arg, const struct ks_id *id, struct ks_span body,
	struct ks_error *err)
{
	struct ks_archive *archive = arg;
	enum ks_status status = archive->objects == NULL ?
		judge_log(archive, err) : KS_OK;

	return status != KS_OK ? status :
		ks_archive_objects_take(archive, id, body, err);
}

/* ---- the stream ----------------------------------------------------- */

static enum ks_status
open_spool(struct ks_archive *archive, struct ks_error *err)
{
	const char *given = archive->options->temporary;
	enum ks_status status;

	ks_buf_printf(&archive->temporary, "%s/", given == NULL ||
		given[0] == '\0' ? DEFAULT_DIRECTORY : given);
	(void)ks_buf_cstr(&archive->temporary);
	status = ks_buf_check(&archive->temporary, err);
	return status != KS_OK ? status : ks_spool_new(&archive->spool,
		ks_buf_cstr(&archive->temporary), KS_SPOOL_MEMORY, err);
}

enum ks_status
ks_archive_open(struct ks_archive *archive, struct ks_error *err)
{
	const struct ks_snapfile_handler handler = {
		.arg = archive,
		.checkpoint = take_checkpoint,
		.from_checkpoint = take_from_checkpoint,
		.range = take_range,
		.line = take_line,
		.object = take_object
	};
	enum ks_status status;

	memset(archive->result, 0, sizeof(*archive->result));
	status = ks_inflater_new_single(&archive->inflater, err);
	if (status == KS_OK)
		status = ks_snapfile_new(&archive->snapfile, &handler, err);
	if (status == KS_OK)
		status = ks_digest_new(&archive->digest, err);
	if (status == KS_OK)
		status = ks_jcs_new(&archive->jcs, err);
	return status == KS_OK ? open_spool(archive, err) : status;
}

/* What does not fit in one step stays in the decoder, so that it is asked until
 * it gives less than it might. */
enum ks_status
ks_archive_feed(struct ks_archive *archive, struct ks_span bytes,
	struct ks_error *err)
{
	enum ks_status status = KS_OK;
	size_t got = PLAIN_STEP;

	while (status == KS_OK && (bytes.len > 0 || got == PLAIN_STEP)) {
		ks_buf_clear(&archive->plain);
		status = ks_inflater_step(archive->inflater, &bytes,
			PLAIN_STEP, &archive->plain, err);
		if (status != KS_OK)
			break;
		got = archive->plain.len;
		archive->result->file.tar_bytes += got;
		ks_digest_update(archive->digest,
			ks_buf_span(&archive->plain));
		status = ks_snapfile_feed(archive->snapfile,
			ks_buf_span(&archive->plain), err);
	}
	return status;
}

enum ks_status
ks_archive_close(struct ks_archive *archive, struct ks_error *err)
{
	enum ks_status status = ks_inflater_end(archive->inflater, err);

	if (status == KS_OK)
		status = ks_snapfile_end(archive->snapfile, err);
	if (status == KS_OK && archive->objects == NULL)
		status = judge_log(archive, err);
	if (status == KS_OK)
		status = ks_archive_objects_end(archive, err);
	if (status == KS_OK)
		ks_digest_final(archive->digest, &archive->result->file.tar);
	return status;
}

void
ks_archive_release(struct ks_archive *archive)
{
	ks_archive_objects_free(archive->objects);
	ks_signed_release(&archive->signed_);
	ks_replay_free(archive->replay);
	ks_idmap_release(&archive->by_brought);
	free(archive->brought);
	ks_takedowns_release(&archive->takedowns);
	ks_buf_release(&archive->pending);
	ks_buf_release(&archive->pieces);
	ks_spool_free(archive->spool);
	ks_buf_release(&archive->temporary);
	ks_jcs_free(archive->jcs);
	ks_trust_free(archive->trust);
	ks_state_free(archive->state);
	ks_buf_release(&archive->origin);
	ks_buf_release(&archive->note.bytes);
	ks_buf_release(&archive->from_note.bytes);
	ks_buf_release(&archive->plain);
	ks_digest_free(archive->digest);
	ks_snapfile_free(archive->snapfile);
	ks_inflater_free(archive->inflater);
}

/* ---- the file ------------------------------------------------------- */

static enum ks_status
open_file(const char *path, int *fd, uint64_t *total, struct ks_error *err)
{
	struct stat st;

	*fd = STDIN_FILENO;
	*total = 0;
	if (strcmp(path, "-") != 0)
		*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st) != 0) {
		enum ks_status status = ks_fail_errno(err, "%s", path);

		if (status == KS_NOT_FOUND && err != NULL)
			err->status = KS_IO;
		return status == KS_NOT_FOUND ? KS_IO : status;
	}
	if (S_ISREG(st.st_mode))
		*total = (uint64_t)st.st_size;
	return KS_OK;
}

static enum ks_status
read_pieces(struct ks_archive *archive, int fd, const char *path,
	uint64_t total, struct ks_error *err)
{
	struct ks_buf piece = KS_BUF_INIT;
	uint8_t *at = ks_buf_reserve(&piece, READ_STEP);
	uint64_t done = 0;
	ssize_t n = 1;
	enum ks_status status = at == NULL ? ks_fail_nomem(err) : KS_OK;

	while (status == KS_OK && n > 0) {
		status = ks_watch_wait(archive->options->watch, fd, err);
		if (status != KS_OK)
			break;
		n = read(fd, at, READ_STEP);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			status = ks_fail_errno(err, "%s", path);
		if (n > 0)
			status = ks_archive_feed(archive, ks_span(at,
				(size_t)n), err);
		done += n > 0 ? (uint64_t)n : 0;
		ks_watch_progress(archive->options->watch, "reading", done,
			total);
	}
	ks_buf_release(&piece);
	return status;
}

enum ks_status
ks_archive_read(struct ks_archive *archive, const char *path,
	struct ks_error *err)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	char shown[512];
	uint64_t total;
	int fd;
	enum ks_status status = open_file(path, &fd, &total, err);

	if (status == KS_OK)
		status = ks_archive_open(archive, err);
	if (status == KS_OK)
		status = read_pieces(archive, fd, name, total, err);
	if (status == KS_OK)
		status = ks_archive_close(archive, err);
	if (status == KS_CORRUPT)
		(void)ks_context(err, "%s", ks_printable(shown, sizeof(shown),
			ks_span_text(name)));
	if (fd > STDIN_FILENO)
		(void)close(fd);
	return status;
}
