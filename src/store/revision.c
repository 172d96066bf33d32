#include "store/revision.h"

#include "format/entry.h"
#include "format/layout.h"
#include "store/log.h"

/* Find the last entry of a tree whose names are numbers of at least three
 * digits: the longest, then the greatest. */
struct last {
	char name[32];
	struct ks_oid oid;
};

static enum ks_status
note_last(void *arg, const struct ks_git_entry *entry, struct ks_error *err)
{
	struct last *last = arg;
	size_t len = strlen(entry->name);
	size_t had = strlen(last->name);

	(void)err;
	if (len >= sizeof(last->name) || len < had ||
		(len == had && strcmp(entry->name, last->name) < 0))
		return KS_OK;
	memcpy(last->name, entry->name, len + 1);
	last->oid = entry->oid;
	return KS_OK;
}

/* The value of the decimal digits that `text` starts with. */
static uint64_t
leading_number(const char *text)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9' && value < UINT32_MAX)
		value = value * 10 + (uint64_t)(*text++ - '0');
	return value;
}

static size_t
count_lines(struct ks_span text)
{
	struct ks_span line;
	size_t count = 0;

	while (ks_log_next_line(&text, &line))
		count++;
	return count;
}

enum ks_status
ks_revision_log_size(struct ks_gitdb *db, const struct ks_oid *tree,
	uint64_t *size, struct ks_error *err)
{
	struct last directory = { .name = "" };
	struct last segment = { .name = "" };
	struct ks_git_entry log;
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = ks_gitdb_find(db, tree, KS_PATH_LOG, &log,
		err);

	*size = 0;
	if (status == KS_OK)
		status = ks_gitdb_list(db, &log.oid, note_last, &directory,
			err);
	if (status == KS_OK && directory.name[0] != '\0')
		status = ks_gitdb_list(db, &directory.oid, note_last, &segment,
			err);
	if (status == KS_OK && segment.name[0] != '\0')
		status = ks_gitdb_blob(db, &segment.oid, KS_LIMIT_SEGMENT,
			false, &text, err);
	if (status == KS_OK)
		*size = (leading_number(directory.name) * 256 +
			leading_number(segment.name)) * KS_SEGMENT_ENTRIES +
			count_lines(ks_buf_span(&text));
	ks_buf_release(&text);
	return status;
}

static bool
is_digits(const char *text)
{
	return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static enum ks_status
find_size(struct ks_gitdb *db, const struct ks_oid *head, const char *text,
	struct ks_oid *commit, struct ks_error *err)
{
	uint64_t wanted = leading_number(text);
	struct ks_oid at = *head;

	while (!ks_oid_is_zero(&at)) {
		struct ks_git_commit found;
		uint64_t size = 0;
		enum ks_status status = ks_gitdb_commit(db, &at, &found, err);

		if (status == KS_OK)
			status = ks_revision_log_size(db, &found.tree, &size,
				err);
		if (status != KS_OK)
			return status;
		if (size == wanted) {
			*commit = at;
			return KS_OK;
		}
		if (size < wanted)
			break;
		at = found.parent;
	}
	return ks_fail(err, KS_NOT_FOUND,
		"no commit on the branch has a log of %s entries", text);
}

/* A date (its last second) or a full time. */
static bool
parse_time(const char *text, int64_t *seconds)
{
	char full[KS_TIME_TEXT + 1];
	size_t len = strlen(text);

	if (len == KS_TIME_TEXT)
		return ks_time_parse(ks_span_text(text), seconds);
	if (len != 10)
		return false;
	memcpy(full, text, 10);
	memcpy(full + 10, "T23:59:59Z", 11);
	return ks_time_parse(ks_span_text(full), seconds);
}

enum ks_status
ks_revision_find(struct ks_gitdb *db, const struct ks_oid *head,
	const char *at, struct ks_oid *commit, struct ks_error *err)
{
	int64_t seconds;

	if (is_digits(at))
		return find_size(db, head, at, commit, err);
	if (parse_time(at, &seconds))
		return ks_gitdb_revision_at(db, head, seconds, commit, err);
	return ks_gitdb_revision(db, at, commit, err);
}
