#include "store/state.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "format/digest.h"

#define PIN_MAX KS_POLICY_MAX
#define PRIVATE_FILE 0600
#define PRIVATE_DIRECTORY 0700

struct ks_state {
	struct ks_buf directory;	/* with a trailing '/'; empty = none */
};

enum ks_status
ks_state_new(struct ks_state **out, const char *directory,
	struct ks_error *err)
{
	struct ks_state *state = calloc(1, sizeof(*state));
	enum ks_status status;

	*out = NULL;
	if (state == NULL)
		return ks_fail_nomem(err);
	if (directory != NULL && directory[0] != '\0')
		ks_buf_printf(&state->directory, "%s/", directory);
	status = ks_buf_check(&state->directory, err);
	if (status == KS_OK)
		*out = state;
	else
		ks_state_free(state);
	return status;
}

void
ks_state_free(struct ks_state *state)
{
	if (state == NULL)
		return;
	ks_buf_release(&state->directory);
	free(state);
}

/* ---- names ----------------------------------------------------------- */

static bool
has_directory(const struct ks_state *state)
{
	return state != NULL && state->directory.len > 0;
}

static enum ks_status
need_directory(const struct ks_state *state, struct ks_error *err)
{
	return has_directory(state) ? KS_OK : ks_fail(err, KS_IO, "there is no "
		"place to remember this: set XDG_STATE_HOME or HOME");
}

/* DIRECTORY/KIND/HEX of what `subject` is. */
static enum ks_status
name_file(const struct ks_state *state, const char *kind,
	struct ks_span subject, struct ks_buf *path, struct ks_error *err)
{
	struct ks_id digest;
	char hex[KS_ID_HEX + 1];

	ks_sha256(subject, &digest);
	ks_buf_append(path, ks_buf_span(&state->directory));
	ks_buf_printf(path, "%s/%s", kind, ks_id_print_hex(&digest, hex));
	return ks_buf_check(path, err);
}

/* Make every directory on the way to `path`. */
static enum ks_status
make_directories(struct ks_buf *path, struct ks_error *err)
{
	char *text = strdup(ks_buf_cstr(path));
	char *slash;
	enum ks_status status = KS_OK;

	if (text == NULL)
		return ks_fail_nomem(err);
	for (slash = strchr(text + 1, '/'); status == KS_OK && slash != NULL;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(text, PRIVATE_DIRECTORY) != 0 && errno != EEXIST)
			status = ks_fail_errno(err, "%s", text);
		*slash = '/';
	}
	free(text);
	return status == KS_NOT_FOUND ? KS_IO : status;
}

static enum ks_status
read_file(const struct ks_state *state, const char *kind,
	struct ks_span subject, uint64_t limit, struct ks_buf *out,
	bool *found, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status;

	*found = false;
	if (!has_directory(state))
		return KS_OK;
	status = name_file(state, kind, subject, &path, err);
	if (status == KS_OK)
		status = ks_file_read(ks_buf_cstr(&path), limit, out, err);
	*found = status == KS_OK;
	ks_buf_release(&path);
	return status == KS_NOT_FOUND ? KS_OK : status;
}

/* "Not found" is said of what a store holds, not of a place to write to. */
static enum ks_status
as_io(enum ks_status status, struct ks_error *err)
{
	if (status != KS_NOT_FOUND)
		return status;
	if (err != NULL)
		err->status = KS_IO;
	return KS_IO;
}

/* ---- pins ------------------------------------------------------------ */

enum ks_status
ks_state_pin_read(struct ks_state *state, struct ks_span origin,
	struct ks_buf *policy, bool *found, struct ks_error *err)
{
	return read_file(state, "pins", origin, PIN_MAX, policy, found, err);
}

enum ks_status
ks_state_pin_write(struct ks_state *state, struct ks_span origin,
	struct ks_span policy, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT, old = KS_BUF_INIT;
	char shown[300];
	bool found = false;
	enum ks_status status = need_directory(state, err);

	if (status == KS_OK)
		status = name_file(state, "pins", origin, &path, err);
	if (status == KS_OK)
		status = ks_state_pin_read(state, origin, &old, &found, err);
	if (status == KS_OK && found && !ks_span_equal(ks_buf_span(&old),
		policy))
		status = ks_fail(err, KS_EXISTS, "%s is pinned otherwise in "
			"%s: remove that file to pin another key",
			ks_printable(shown, sizeof(shown), origin),
			ks_buf_cstr(&path));
	if (status == KS_OK && !found)
		status = make_directories(&path, err);
	if (status == KS_OK && !found)
		status = ks_file_replace(ks_buf_cstr(&path), policy,
			PRIVATE_FILE, err);
	ks_buf_release(&old);
	ks_buf_release(&path);
	return as_io(status, err);
}

/* ---- accepted notes -------------------------------------------------- */

enum ks_status
ks_state_accepted(struct ks_state *state, struct ks_span origin,
	struct ks_buf *note, bool *found, struct ks_error *err)
{
	return read_file(state, "accepted", origin, KS_NOTE_MAX, note, found,
		err);
}

/* The size of the note that is there; 0 when none is, or it is unreadable. */
static uint64_t
accepted_size(struct ks_state *state, struct ks_span origin)
{
	struct ks_buf bytes = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	uint64_t size = 0;
	bool found;

	if (ks_state_accepted(state, origin, &bytes, &found, NULL) == KS_OK &&
		found && ks_checkpoint_of_note(ks_buf_span(&bytes),
		&checkpoint, NULL) == KS_OK)
		size = checkpoint.size;
	ks_buf_release(&bytes);
	return size;
}

enum ks_status
ks_state_accept(struct ks_state *state, struct ks_span origin, uint64_t size,
	struct ks_span note, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT, directory = KS_BUF_INIT;
	struct ks_lock lock = KS_LOCK_INIT;
	enum ks_status status = need_directory(state, err);

	if (status == KS_OK)
		status = name_file(state, "accepted", origin, &path, err);
	if (status == KS_OK)
		status = make_directories(&path, err);
	if (status == KS_OK) {
		ks_buf_append(&directory, ks_buf_span(&state->directory));
		ks_buf_text(&directory, "accepted/");
		status = ks_buf_check(&directory, err);
	}
	if (status == KS_OK)
		status = ks_lock_take(&lock, ks_buf_cstr(&directory), 30000,
			NULL, err);
	if (status == KS_OK && accepted_size(state, origin) <= size)
		status = ks_file_replace(ks_buf_cstr(&path), note,
			PRIVATE_FILE, err);
	ks_lock_release(&lock);
	ks_buf_release(&directory);
	ks_buf_release(&path);
	return as_io(status, err);
}

enum ks_status
ks_state_keep_fork(struct ks_state *state, struct ks_span origin,
	uint64_t size, const struct ks_id *root, struct ks_span text,
	struct ks_buf *path, struct ks_error *err)
{
	char hex[KS_ID_HEX + 1];
	enum ks_status status = need_directory(state, err);

	if (status == KS_OK)
		status = name_file(state, "forks", origin, path, err);
	ks_buf_printf(path, "-%llu-%.16s", (unsigned long long)size,
		ks_id_print_hex(root, hex));
	if (status == KS_OK)
		status = ks_buf_check(path, err);
	if (status == KS_OK)
		status = make_directories(path, err);
	if (status == KS_OK)
		status = ks_file_replace(ks_buf_cstr(path), text, PRIVATE_FILE,
			err);
	return as_io(status, err);
}

/* ---- the memory of a signer ------------------------------------------ */

static enum ks_status
read_memory(struct ks_signer_memory *memory, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	struct ks_checkpoint checkpoint;
	enum ks_status status;

	ks_buf_append(&path, ks_buf_span(&memory->directory));
	ks_buf_text(&path, "checkpoint");
	status = ks_buf_check(&path, err);
	if (status == KS_OK)
		status = ks_file_read(ks_buf_cstr(&path), KS_NOTE_MAX,
			&memory->text, err);
	if (status == KS_OK)
		status = ks_checkpoint_parse(ks_buf_span(&memory->text),
			&checkpoint, err);
	if (status == KS_CORRUPT)
		(void)ks_context(err, "%s", ks_buf_cstr(&path));
	ks_buf_release(&path);
	return status == KS_NOT_FOUND ? KS_OK : status;
}

enum ks_status
ks_state_has_signed(struct ks_state *state, const struct ks_vkey *vkey,
	bool *signed_, struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT, text = KS_BUF_INIT;
	enum ks_status status;

	*signed_ = false;
	if (!has_directory(state))
		return KS_OK;
	ks_vkey_print(vkey, &text);
	status = name_file(state, "signers", ks_buf_span(&text), &path, err);
	ks_buf_text(&path, "/checkpoint");
	(void)ks_buf_cstr(&path);
	if (status == KS_OK)
		status = ks_buf_check(&path, err);
	*signed_ = status == KS_OK && access(ks_buf_cstr(&path), F_OK) == 0;
	ks_buf_release(&text);
	ks_buf_release(&path);
	return status;
}

enum ks_status
ks_state_signer_begin(struct ks_state *state, const struct ks_vkey *vkey,
	int wait_ms, const struct ks_watch *watch,
	struct ks_signer_memory *memory, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = need_directory(state, err);

	*memory = (struct ks_signer_memory)KS_SIGNER_MEMORY_INIT;
	ks_vkey_print(vkey, &text);
	if (status == KS_OK)
		status = name_file(state, "signers", ks_buf_span(&text),
			&memory->directory, err);
	ks_buf_release(&text);
	ks_buf_byte(&memory->directory, '/');
	if (status == KS_OK)
		status = ks_buf_check(&memory->directory, err);
	if (status == KS_OK)
		status = make_directories(&memory->directory, err);
	if (status == KS_OK)
		status = ks_lock_take(&memory->lock,
			ks_buf_cstr(&memory->directory), wait_ms, watch, err);
	return status == KS_OK ? read_memory(memory, err) :
		as_io(status, err);
}

enum ks_status
ks_state_signer_record(struct ks_signer_memory *memory, struct ks_span text,
	struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT;
	enum ks_status status;

	ks_buf_append(&path, ks_buf_span(&memory->directory));
	ks_buf_text(&path, "checkpoint");
	status = ks_buf_check(&path, err);
	if (status == KS_OK)
		status = ks_file_replace(ks_buf_cstr(&path), text,
			PRIVATE_FILE, err);
	ks_buf_release(&path);
	return status;
}

void
ks_state_signer_end(struct ks_signer_memory *memory)
{
	ks_lock_release(&memory->lock);
	ks_buf_release(&memory->directory);
	ks_buf_release(&memory->text);
}
