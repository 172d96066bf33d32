#include <stdio.h>
#include <stdlib.h>

#include "format/replay.h"
#include "store/log.h"
#include "store/verify.h"

/* A name below log/ that is all digits, at least three, and no longer than it
 * must be (store-layout.md T9). */
static bool
parse_number(const char *name, size_t len, uint64_t *number)
{
	size_t i;

	*number = 0;
	if (len < 3 || len > 12 || (len > 3 && name[0] == '0'))
		return false;
	for (i = 0; i < len; i++) {
		if (name[i] < '0' || name[i] > '9')
			return false;
		*number = *number * 10 + (uint64_t)(name[i] - '0');
	}
	return true;
}

/* ---- which segments there are ------------------------------------------ */

struct segment {
	uint64_t number;
	struct ks_oid oid;
};

struct segments {
	struct ks_verifying *verifying;
	struct segment *list;
	size_t count, room;
	uint64_t directory;
	char directory_name[32];
};

static void
report_stray(struct ks_verifying *verifying, const char *directory,
	const char *name)
{
	char path[KS_ERROR_MESSAGE_MAX], shown[256];

	(void)snprintf(path, sizeof(path), KS_PATH_LOG "/%s%s%s", directory,
		directory[0] == '\0' ? "" : "/",
		ks_printable(shown, sizeof(shown), ks_span_text(name)));
	ks_verify_report(verifying, KS_SEVERITY_DAMAGE, NULL, path,
		"not a segment of the log (T9)");
}

static enum ks_status
take_segment(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct segments *segments = arg;
	const char *dot = strchr(entry->name, '.');
	struct segment *grown;
	uint64_t file;

	if (entry->mode != KS_GIT_MODE_FILE || dot == NULL ||
		strcmp(dot, ".jsonl") != 0 || !parse_number(entry->name,
			(size_t)(dot - entry->name), &file) || file > 255) {
		report_stray(segments->verifying, segments->directory_name,
			entry->name);
		return KS_OK;
	}
	if (segments->count == segments->room) {
		size_t room = segments->room == 0 ? 64 : segments->room * 2;

		grown = realloc(segments->list, room * sizeof(*grown));
		if (grown == NULL)
			return ks_fail_nomem(err);
		segments->list = grown;
		segments->room = room;
	}
	segments->list[segments->count].number = segments->directory * 256 +
		file;
	segments->list[segments->count++].oid = entry->oid;
	return KS_OK;
}

static enum ks_status
take_directory(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct segments *segments = arg;
	struct ks_verifying *verifying = segments->verifying;

	if (entry->mode != KS_GIT_MODE_TREE || !parse_number(entry->name,
		strlen(entry->name), &segments->directory)) {
		report_stray(verifying, "", entry->name);
		return KS_OK;
	}
	(void)snprintf(segments->directory_name,
		sizeof(segments->directory_name), "%s", entry->name);
	return ks_gitdb_list(verifying->store->db, &entry->oid, take_segment,
		segments, err);
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct segment *)a)->number;
	uint64_t y = ((const struct segment *)b)->number;

	return (x > y) - (x < y);
}

static enum ks_status
list_segments(struct segments *segments, struct ks_error *err)
{
	struct ks_store *store = segments->verifying->store;
	struct ks_git_entry log;
	enum ks_status status = ks_gitdb_find(store->db, &store->tree,
		KS_PATH_LOG, &log, err);

	if (status == KS_NOT_FOUND)
		return KS_OK;
	if (status == KS_OK)
		status = ks_gitdb_list(store->db, &log.oid, take_directory,
			segments, err);
	if (status == KS_OK && segments->count > 0)
		qsort(segments->list, segments->count,
			sizeof(*segments->list), by_number);
	return status;
}

/* ---- lines ------------------------------------------------------------- */

struct reading {
	struct ks_verifying *verifying;
	struct ks_buf text;
	bool redacted;		/* met a redacted line */
	bool foresee;		/* the first pass, for takedowns */
	uint64_t segment;
	size_t line;		/* in the segment, from 1 */
};

static void
report_line(struct reading *reading, enum ks_severity severity,
	const char *message)
{
	char segment[KS_SEGMENT_PATH], path[KS_SEGMENT_PATH + 24];

	(void)snprintf(path, sizeof(path), "%s:%zu", ks_layout_segment(
		reading->segment * KS_SEGMENT_ENTRIES, segment),
		reading->line);
	ks_verify_report(reading->verifying, severity, NULL, path, "%s",
		message);
}

static enum ks_status
foresee_line(struct reading *reading, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct ks_verifying *verifying = reading->verifying;
	struct ks_entry entry;

	if (line.len == 0 || line.data[0] == '-' || ks_entry_parse(
		verifying->store->jcs, line, &entry, NULL) != KS_OK ||
		entry.op != KS_OP_TAKEDOWN)
		return KS_OK;
	return ks_replay_foresee(verifying->replay, index, &entry, err);
}

static enum ks_status
replay_line(struct reading *reading, struct ks_span line,
	struct ks_error *err)
{
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;
	struct ks_error rule = KS_ERROR_INIT;
	enum ks_status status = ks_replay_line(reading->verifying->replay,
		reading->verifying->store->jcs, line, &verdict, &entry,
		&object, &rule);

	if (status != KS_OK)
		return ks_fail_nomem(err);
	if (verdict == KS_LINE_FAULT)
		report_line(reading, KS_SEVERITY_DAMAGE, rule.message);
	else if (verdict == KS_LINE_UNSUPPORTED)
		report_line(reading, KS_SEVERITY_UNSUPPORTED, rule.message);
	return KS_OK;
}

static enum ks_status
read_lines(struct reading *reading, bool last, struct ks_error *err)
{
	struct ks_span rest = ks_buf_span(&reading->text);
	struct ks_span line;
	uint64_t index = reading->segment * KS_SEGMENT_ENTRIES;
	enum ks_status status = KS_OK;

	reading->line = 0;
	while (status == KS_OK && ks_log_next_line(&rest, &line)) {
		reading->line++;
		if (line.len > 0 && line.data[0] == '-')
			reading->redacted = true;
		status = reading->foresee ?
			foresee_line(reading, index, line, err) :
			replay_line(reading, line, err);
		index++;
	}
	if (status != KS_OK || reading->foresee)
		return status;
	if (rest.len > 0) {
		reading->line++;
		report_line(reading, KS_SEVERITY_DAMAGE,
			"the last line does not end in LF (T10)");
	}
	if (reading->line == 0 || reading->line > KS_SEGMENT_ENTRIES ||
		(!last && reading->line != KS_SEGMENT_ENTRIES)) {
		char message[96];

		(void)snprintf(message, sizeof(message),
			"the segment has %zu lines, must have %s%d (T10)",
			reading->line, last ? "1 to " : "",
			KS_SEGMENT_ENTRIES);
		report_line(reading, KS_SEVERITY_DAMAGE, message);
	}
	return KS_OK;
}

static enum ks_status
read_segment(struct reading *reading, const struct segment *segment,
	bool last, struct ks_error *err)
{
	struct ks_verifying *verifying = reading->verifying;
	char path[KS_SEGMENT_PATH];
	enum ks_status status;

	ks_buf_clear(&reading->text);
	reading->segment = segment->number;
	status = ks_gitdb_blob(verifying->store->db, &segment->oid,
		KS_LIMIT_SEGMENT, false, &reading->text, err);
	if (status != KS_OK)
		return reading->foresee ? KS_OK : ks_verify_report_error(
			verifying, status, NULL, ks_layout_segment(
			segment->number * KS_SEGMENT_ENTRIES, path), err);
	return read_lines(reading, last, err);
}

static enum ks_status
read_segments(struct reading *reading, const struct segments *segments,
	struct ks_error *err)
{
	char path[KS_SEGMENT_PATH];
	uint64_t expected = 0;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < segments->count; i++) {
		const struct segment *segment = &segments->list[i];

		if (segment->number != expected && !reading->foresee)
			ks_verify_report(reading->verifying,
				KS_SEVERITY_DAMAGE, NULL, ks_layout_segment(
				expected * KS_SEGMENT_ENTRIES, path),
				"this segment of the log is absent (T10)");
		expected = segment->number + 1;
		status = read_segment(reading, segment,
			i + 1 == segments->count, err);
		if (status == KS_OK)
			status = ks_watch_check(
				reading->verifying->options->watch, err);
		ks_watch_progress(reading->verifying->options->watch,
			"checking the log", i, segments->count);
	}
	return status;
}

static void
report_end(void *arg, uint64_t index, const char *message)
{
	char segment[KS_SEGMENT_PATH], path[KS_SEGMENT_PATH + 24];

	(void)snprintf(path, sizeof(path), "%s:%llu",
		ks_layout_segment(index, segment),
		(unsigned long long)(index % KS_SEGMENT_ENTRIES + 1));
	ks_verify_report(arg, KS_SEVERITY_DAMAGE, NULL, path, "%s", message);
}

/* Redacted lines cannot be judged before the takedown that names them: a log
 * that has any is read twice. */
static bool
has_redaction(const struct segments *segments, struct reading *reading)
{
	size_t i;

	for (i = 0; i < segments->count && !reading->redacted; i++) {
		ks_buf_clear(&reading->text);
		if (ks_gitdb_blob(reading->verifying->store->db,
			&segments->list[i].oid, KS_LIMIT_SEGMENT, false,
			&reading->text, NULL) != KS_OK)
			continue;
		ks_buf_byte(&reading->text, 0);
		reading->redacted = reading->text.len > 0 &&
			(reading->text.data[0] == '-' || strstr((const char *)
			reading->text.data, "\n-") != NULL);
	}
	return reading->redacted;
}

enum ks_status
ks_verify_log(struct ks_verifying *verifying, struct ks_error *err)
{
	struct segments segments = { .verifying = verifying };
	struct reading reading = { .verifying = verifying };
	enum ks_status status = ks_replay_new(&verifying->replay, err);

	if (status == KS_OK)
		status = list_segments(&segments, err);
	if (status == KS_CORRUPT || status == KS_NOT_FOUND)
		status = ks_verify_report_error(verifying, status, NULL,
			KS_PATH_LOG, err);
	if (status == KS_OK && has_redaction(&segments, &reading)) {
		reading.foresee = true;
		status = read_segments(&reading, &segments, err);
		reading.foresee = false;
	}
	if (status == KS_OK)
		status = read_segments(&reading, &segments, err);
	if (status == KS_OK)
		ks_replay_end(verifying->replay, report_end, verifying);
	free(segments.list);
	ks_buf_release(&reading.text);
	return status;
}
