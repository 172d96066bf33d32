#include "store/mirror.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "format/checkpoint.h"
#include "store/log.h"

#define STATE_LIMIT ((uint64_t)1 << 20)

static const struct {
	const char *name;
	enum ks_status status;
} verdicts[] = {
	{ "updated", KS_OK },
	{ "current", KS_OK },
	{ "never", KS_OK },
	{ "unreachable", KS_IO },
	{ "half-updated", KS_IO },
	{ "not a store", KS_NOT_FOUND },
	{ "unsigned", KS_UNTRUSTED },
	{ "untrusted key", KS_UNTRUSTED },
	{ "revoked key", KS_UNTRUSTED },
	{ "not trusted", KS_UNTRUSTED },
	{ "wrong origin", KS_CORRUPT },
	{ "forged", KS_CORRUPT },
	{ "mismatch", KS_CORRUPT },
	{ "false tail", KS_CORRUPT },
	{ "rollback", KS_CORRUPT },
	{ "stale", KS_CORRUPT },
	{ "fork", KS_CORRUPT },
	{ "damaged", KS_CORRUPT },
	{ "incomplete", KS_CORRUPT },
	{ "unsupported", KS_UNSUPPORTED }
};

enum ks_status
ks_mirror_verdict(struct ks_span text, const char **known)
{
	size_t i;

	for (i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (ks_span_is(text, verdicts[i].name)) {
			*known = verdicts[i].name;
			return verdicts[i].status;
		}
	*known = "never";
	return KS_OK;
}

void
ks_mirror_state_release(struct ks_mirror_state *state)
{
	ks_buf_release(&state->url);
	ks_buf_release(&state->verdict);
	ks_buf_release(&state->message);
	ks_buf_release(&state->fork);
	ks_buf_release(&state->cosigners);
}

static enum ks_status
state_path(struct ks_gitdb *db, struct ks_buf *path, struct ks_error *err)
{
	ks_buf_printf(path, "%s" KS_MIRROR_NAME, ks_gitdb_directory(db));
	(void)ks_buf_cstr(path);
	return ks_buf_check(path, err);
}

bool
ks_mirror_is_one(struct ks_gitdb *db)
{
	struct ks_buf path = KS_BUF_INIT;
	bool is_one = state_path(db, &path, NULL) == KS_OK &&
		access(ks_buf_cstr(&path), F_OK) == 0;

	ks_buf_release(&path);
	return is_one;
}

static bool
read_number(struct ks_span text, uint64_t *out)
{
	return ks_checkpoint_read_number(text, out);
}

static bool
read_time(struct ks_span text, int64_t *out)
{
	uint64_t number = 0;
	bool valid = read_number(text, &number);

	*out = (int64_t)number;
	return valid;
}

/* "NAME VALUE"; names that are not known are passed over. */
static bool
take_line(struct ks_mirror_state *state, struct ks_span line)
{
	const uint8_t *blank = memchr(line.data, ' ', line.len);
	struct ks_span name, value;

	if (blank == NULL)
		return false;
	name = ks_span(line.data, (size_t)(blank - line.data));
	value = ks_span(blank + 1, line.len - name.len - 1);
	if (ks_span_is(name, "url"))
		ks_buf_append(&state->url, value);
	else if (ks_span_is(name, "upstream"))
		return ks_oid_read(&state->upstream, value);
	else if (ks_span_is(name, "snapshot"))
		return ks_oid_read(&state->snapshot, value);
	else if (ks_span_is(name, "size"))
		return read_number(value, &state->size);
	else if (ks_span_is(name, "tail"))
		return read_number(value, &state->tail);
	else if (ks_span_is(name, "verdict"))
		ks_buf_append(&state->verdict, value);
	else if (ks_span_is(name, "message"))
		ks_buf_append(&state->message, value);
	else if (ks_span_is(name, "cosigner"))
		ks_buf_printf(&state->cosigners, "%.*s\n", (int)value.len,
			(const char *)value.data);
	else if (ks_span_is(name, "purge"))
		state->purge = ks_span_is(value, "due");
	else if (ks_span_is(name, "fork"))
		ks_buf_append(&state->fork, value);
	else if (ks_span_is(name, "checked"))
		return read_time(value, &state->checked);
	else if (ks_span_is(name, "good"))
		return read_time(value, &state->good);
	return true;
}

static bool
parse(struct ks_mirror_state *state, struct ks_span rest)
{
	struct ks_span line;

	if (!ks_log_next_line(&rest, &line) ||
		!ks_span_is(line, KS_MIRROR_TEXT))
		return false;
	while (ks_log_next_line(&rest, &line))
		if (!take_line(state, line))
			return false;
	return rest.len == 0 && state->url.len > 0;
}

/* What memory did not suffice for must not pass for malformed. */
static enum ks_status
check_memory(const struct ks_mirror_state *state, struct ks_error *err)
{
	enum ks_status status = ks_buf_check(&state->url, err);

	if (status == KS_OK)
		status = ks_buf_check(&state->verdict, err);
	if (status == KS_OK)
		status = ks_buf_check(&state->message, err);
	if (status == KS_OK)
		status = ks_buf_check(&state->fork, err);
	return status == KS_OK ? ks_buf_check(&state->cosigners, err) : status;
}

enum ks_status
ks_mirror_state_read(struct ks_gitdb *db, struct ks_mirror_state *state,
	struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT, text = KS_BUF_INIT;
	bool well;
	enum ks_status status = state_path(db, &path, err);

	*state = (struct ks_mirror_state)KS_MIRROR_STATE_INIT;
	if (status == KS_OK)
		status = ks_file_read(ks_buf_cstr(&path), STATE_LIMIT, &text,
			err);
	if (status == KS_NOT_FOUND)
		status = ks_fail(err, KS_NOT_FOUND, "%s is not a mirror "
			"(kistore mirror clone makes one)",
			ks_gitdb_directory(db));
	well = status == KS_OK && parse(state, ks_buf_span(&text));
	if (status == KS_OK)
		status = check_memory(state, err);
	if (status == KS_INVALID || (status == KS_OK && !well))
		status = ks_fail(err, KS_CORRUPT, "%s: malformed (clone the "
			"mirror again)", ks_buf_cstr(&path));
	ks_buf_release(&text);
	ks_buf_release(&path);
	return status;
}

static void
print_oid(struct ks_buf *out, const char *name, const struct ks_oid *oid)
{
	char hex[KS_OID_HEX + 1];

	if (!ks_oid_is_zero(oid))
		ks_buf_printf(out, "%s %s\n", name, ks_oid_print(oid, hex));
}

/* What others wrote goes in without what would end the line. */
static void
print_text(struct ks_buf *out, const char *name, struct ks_buf *text)
{
	char shown[2048];

	if (text->len > 0)
		ks_buf_printf(out, "%s %s\n", name, ks_printable(shown,
			sizeof(shown), ks_buf_span(text)));
}

static void
print(struct ks_mirror_state *state, struct ks_buf *out)
{
	struct ks_span rest = ks_buf_span(&state->cosigners);
	struct ks_span line;

	ks_buf_printf(out, KS_MIRROR_TEXT "\nurl %s\n",
		ks_buf_cstr(&state->url));
	print_oid(out, "upstream", &state->upstream);
	print_oid(out, "snapshot", &state->snapshot);
	ks_buf_printf(out, "size %llu\ntail %llu\nchecked %llu\ngood %llu\n",
		(unsigned long long)state->size,
		(unsigned long long)state->tail,
		(unsigned long long)state->checked,
		(unsigned long long)state->good);
	print_text(out, "verdict", &state->verdict);
	print_text(out, "message", &state->message);
	print_text(out, "fork", &state->fork);
	if (state->purge)
		ks_buf_text(out, "purge due\n");
	while (ks_log_next_line(&rest, &line))
		ks_buf_printf(out, "cosigner %.*s\n", (int)line.len,
			(const char *)line.data);
}

enum ks_status
ks_mirror_state_write(struct ks_gitdb *db, struct ks_mirror_state *state,
	struct ks_error *err)
{
	struct ks_buf path = KS_BUF_INIT, text = KS_BUF_INIT;
	enum ks_status status = state_path(db, &path, err);

	print(state, &text);
	if (status == KS_OK)
		status = ks_buf_check(&text, err);
	if (status == KS_OK)
		status = ks_file_replace(ks_buf_cstr(&path),
			ks_buf_span(&text), 0666, err);
	if (status == KS_OK)
		ks_gitdb_share(db, ks_buf_cstr(&path));
	ks_buf_release(&text);
	ks_buf_release(&path);
	return status;
}
