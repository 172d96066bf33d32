#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/pool.h"
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
	grown = ks_grow(segments->list, segments->count, &segments->room,
		sizeof(*grown), err);
	if (grown == NULL)
		return KS_NOMEM;
	segments->list = grown;
	grown[segments->count].number = segments->directory * 256 + file;
	grown[segments->count++].oid = entry->oid;
	return KS_OK;
}

static enum ks_status
take_directory(void *arg, const struct ks_git_entry *entry,
	struct ks_error *err)
{
	struct segments *segments = arg;
	struct ks_verifying *verifying = segments->verifying;
	char path[KS_SEGMENT_PATH];
	enum ks_status status;

	if (entry->mode != KS_GIT_MODE_TREE || !parse_number(entry->name,
		strlen(entry->name), &segments->directory)) {
		report_stray(verifying, "", entry->name);
		return KS_OK;
	}
	(void)snprintf(segments->directory_name,
		sizeof(segments->directory_name), "%s", entry->name);
	(void)snprintf(path, sizeof(path), KS_PATH_LOG "/%s", entry->name);
	status = ks_gitdb_list(verifying->store->db, &entry->oid,
		take_segment, segments, err);
	return status == KS_OK ? KS_OK : ks_verify_report_error(verifying,
		status, NULL, path, err);
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

/* ---- taking lines apart, in any thread ---------------------------------- */

/* One segment, and what its lines say. */
struct segment_job {
	uint64_t number;
	bool last;
	bool present;		/* the segment could be read */
	struct ks_buf text;
	struct ks_entry entries[KS_SEGMENT_ENTRIES];
	struct ks_id leaves[KS_SEGMENT_ENTRIES];
	enum ks_status parsed[KS_SEGMENT_ENTRIES];
	size_t count;		/* lines taken apart */
};

struct reading {
	struct ks_verifying *verifying;
	struct ks_jcs **jcs;	/* one a worker */
	struct ks_pool *pool;
	struct segment_job *jobs;
	const struct segments *segments;
	bool foreseen;		/* takedowns were announced */
	/* The line being judged, for reports: */
	uint64_t segment;
	size_t line;		/* in the segment, from 1 */
	struct ks_verify_claims claims;
};

static void
take_apart(void *arg, unsigned worker, void *data)
{
	struct reading *reading = arg;
	struct segment_job *job = data;
	struct ks_span rest = ks_buf_span(&job->text);
	struct ks_span line;
	size_t i = 0;

	while (i < KS_SEGMENT_ENTRIES && ks_log_next_line(&rest, &line)) {
		job->parsed[i] = ks_entry_parse(reading->jcs[worker], line,
			&job->entries[i], NULL);
		ks_replay_leaf(line, &job->entries[i], &job->leaves[i]);
		i++;
	}
	job->count = i;
}

/* ---- judging them, in order --------------------------------------------- */

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

static void
report_verdict(struct reading *reading, enum ks_verdict verdict,
	const struct ks_error *rule)
{
	switch (verdict) {
	case KS_LINE_OK:
		break;
	case KS_LINE_FAULT:
		report_line(reading, KS_SEVERITY_DAMAGE, rule->message);
		break;
	case KS_LINE_UNSUPPORTED:
		report_line(reading, KS_SEVERITY_UNSUPPORTED, rule->message);
		break;
	}
}

/* A line that is out of form is taken apart again, for the message. */
static enum ks_status
judge_again(struct reading *reading, struct ks_span line,
	struct ks_error *err)
{
	struct ks_entry entry;
	enum ks_verdict verdict;
	uint32_t object;
	struct ks_error rule = KS_ERROR_INIT;

	reading->line++;
	if (ks_replay_line(reading->verifying->replay,
		reading->verifying->store->jcs, line, &verdict, &entry,
		&object, &rule) != KS_OK)
		return ks_fail_nomem(err);
	report_verdict(reading, verdict, &rule);
	return ks_signed_line(&reading->verifying->signed_, NULL,
		ks_replay_tree(reading->verifying->replay), err);
}

static enum ks_status
judge(struct reading *reading, const struct segment_job *job, size_t i,
	struct ks_error *err)
{
	enum ks_verdict verdict;
	uint32_t object;
	struct ks_error rule = KS_ERROR_INIT;

	reading->line++;
	if (ks_replay_apply(reading->verifying->replay, job->parsed[i],
		&job->entries[i], &job->leaves[i], &verdict, &object,
		&rule) != KS_OK)
		return ks_fail_nomem(err);
	report_verdict(reading, verdict, &rule);
	if (ks_signed_line(&reading->verifying->signed_,
		verdict == KS_LINE_OK ? &job->entries[i] : NULL,
		ks_replay_tree(reading->verifying->replay), err) != KS_OK)
		return KS_NOMEM;
	return verdict != KS_LINE_OK ? KS_OK :
		ks_verify_claims_keep(&reading->claims,
		reading->verifying->replay, &job->entries[i].claims, err);
}

/* Redacted lines cannot be judged before the takedown that names them, which
 * comes later: at the first one the rest of the log is searched. */
static enum ks_status
foresee_line(void *arg, uint64_t index, struct ks_span line,
	struct ks_error *err)
{
	struct ks_verifying *verifying = arg;
	struct ks_entry entry;

	if (line.len == 0 || line.data[0] == '-' ||
		index < ks_replay_tree(verifying->replay)->size ||
		ks_entry_parse(verifying->store->jcs, line, &entry, NULL) !=
		KS_OK || entry.op != KS_OP_TAKEDOWN)
		return KS_OK;
	return ks_replay_foresee(verifying->replay, index, &entry, err);
}

static enum ks_status
foresee(struct reading *reading, struct ks_error *err)
{
	struct ks_verifying *verifying = reading->verifying;
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = KS_OK;
	size_t i;

	for (i = 0; status == KS_OK && i < reading->segments->count; i++) {
		const struct segment *segment = &reading->segments->list[i];
		uint64_t index = segment->number * KS_SEGMENT_ENTRIES;
		struct ks_span rest, line;

		ks_buf_clear(&text);
		if (segment->number < reading->segment ||
			ks_gitdb_blob(verifying->store->db, &segment->oid,
				KS_LIMIT_SEGMENT, false, &text, NULL) != KS_OK)
			continue;
		rest = ks_buf_span(&text);
		while (status == KS_OK && ks_log_next_line(&rest, &line))
			status = foresee_line(verifying, index++, line, err);
	}
	ks_buf_release(&text);
	reading->foreseen = true;
	return status;
}

/* T10: how many lines a segment has, and how it ends. */
static void
check_extent(struct reading *reading, const struct segment_job *job,
	struct ks_span rest)
{
	char message[96];

	if (rest.len > 0) {
		reading->line++;
		report_line(reading, KS_SEVERITY_DAMAGE,
			"the last line does not end in LF (T10)");
	}
	if (reading->line != 0 && reading->line <= KS_SEGMENT_ENTRIES &&
		(job->last || reading->line == KS_SEGMENT_ENTRIES))
		return;
	(void)snprintf(message, sizeof(message),
		"the segment has %zu lines, must have %s%d (T10)",
		reading->line, job->last ? "1 to " : "", KS_SEGMENT_ENTRIES);
	report_line(reading, KS_SEVERITY_DAMAGE, message);
}

static enum ks_status
judge_segment(struct reading *reading, const struct segment_job *job,
	struct ks_error *err)
{
	struct ks_span text = ks_buf_span(&job->text);
	struct ks_span line;
	size_t i;
	enum ks_status status = KS_OK;

	reading->segment = job->number;
	reading->line = 0;
	for (i = 0; status == KS_OK && i < job->count; i++) {
		(void)ks_log_next_line(&text, &line);
		if (job->entries[i].op == KS_OP_REDACTED && !reading->foreseen)
			status = foresee(reading, err);
		if (status == KS_OK)
			status = job->parsed[i] == KS_OK ?
				judge(reading, job, i, err) :
				judge_again(reading, line, err);
	}
	while (status == KS_OK && ks_log_next_line(&text, &line))
		status = judge_again(reading, line, err);
	if (status == KS_OK && job->present)
		check_extent(reading, job, text);
	return status;
}

/* ---- reading them ------------------------------------------------------- */

static enum ks_status
read_segment(struct reading *reading, const struct segment *segment,
	struct segment_job *job, struct ks_error *err)
{
	char path[KS_SEGMENT_PATH];
	enum ks_status status;

	job->number = segment->number;
	ks_buf_clear(&job->text);
	status = ks_gitdb_blob(reading->verifying->store->db, &segment->oid,
		KS_LIMIT_SEGMENT, false, &job->text, err);
	job->present = status == KS_OK;
	return status == KS_OK ? KS_OK : ks_verify_report_error(
		reading->verifying, status, NULL, ks_layout_segment(
		segment->number * KS_SEGMENT_ENTRIES, path), err);
}

static void
report_gap(struct reading *reading, uint64_t expected, uint64_t found)
{
	char path[KS_SEGMENT_PATH];

	if (expected != found)
		ks_verify_report(reading->verifying, KS_SEVERITY_DAMAGE, NULL,
			ks_layout_segment(expected * KS_SEGMENT_ENTRIES, path),
			"this segment of the log is absent (T10)");
}

static enum ks_status
read_segments(struct reading *reading, struct ks_error *err)
{
	const struct segments *segments = reading->segments;
	const struct ks_watch *watch = reading->verifying->options->watch;
	struct segment_job *job;
	uint64_t expected = 0;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < segments->count; i++) {
		const struct segment *segment = &segments->list[i];

		report_gap(reading, expected, segment->number);
		expected = segment->number + 1;
		if (ks_pool_is_full(reading->pool))
			status = judge_segment(reading,
				ks_pool_pull(reading->pool), err);
		if (status == KS_OK)
			status = ks_watch_check(watch, err);
		if (status != KS_OK)
			break;
		job = &reading->jobs[i % KS_POOL_WINDOW];
		job->last = i + 1 == segments->count;
		status = read_segment(reading, segment, job, err);
		if (status == KS_OK)
			ks_pool_push(reading->pool, job);
		ks_watch_progress(watch, "checking the log", i,
			segments->count);
	}
	while ((job = ks_pool_pull(reading->pool)) != NULL)
		if (status == KS_OK)
			status = judge_segment(reading, job, err);
	return status;
}

static enum ks_status
start(struct reading *reading, struct ks_error *err)
{
	unsigned i, workers;
	/* A segment or two is taken apart at once. */
	enum ks_status status = ks_pool_new(&reading->pool,
		reading->segments->count < 3 ? 1 :
		reading->verifying->options->threads, take_apart, reading,
		err);

	if (status != KS_OK)
		return status;
	workers = ks_pool_workers(reading->pool);
	reading->jcs = calloc(workers, sizeof(*reading->jcs));
	reading->jobs = calloc(KS_POOL_WINDOW, sizeof(*reading->jobs));
	if (reading->jcs == NULL || reading->jobs == NULL)
		return ks_fail_nomem(err);
	for (i = 0; status == KS_OK && i < workers; i++)
		status = ks_jcs_new(&reading->jcs[i], err);
	return status;
}

static void
stop(struct reading *reading)
{
	unsigned workers = reading->pool == NULL ? 0 :
		ks_pool_workers(reading->pool);
	unsigned i;

	ks_pool_free(reading->pool);
	for (i = 0; reading->jcs != NULL && i < workers; i++)
		ks_jcs_free(reading->jcs[i]);
	for (i = 0; reading->jobs != NULL && i < KS_POOL_WINDOW; i++)
		ks_buf_release(&reading->jobs[i].text);
	free(reading->jcs);
	free(reading->jobs);
}

static void
report_end(void *arg, uint64_t index, const char *message)
{
	ks_verify_report_line(arg, index, message);
}

enum ks_status
ks_verify_log(struct ks_verifying *verifying, struct ks_error *err)
{
	struct segments segments = { .verifying = verifying };
	struct reading reading = {
		.verifying = verifying, .segments = &segments
	};
	enum ks_status status = ks_replay_new(&verifying->replay, err);

	ks_signed_start(&verifying->signed_);
	if (status == KS_OK)
		status = list_segments(&segments, err);
	if (status == KS_CORRUPT || status == KS_NOT_FOUND)
		status = ks_verify_report_error(verifying, status, NULL,
			KS_PATH_LOG, err);
	if (status == KS_OK)
		status = start(&reading, err);
	if (status == KS_OK)
		status = read_segments(&reading, err);
	ks_signed_end(&verifying->signed_);
	if (status == KS_OK) {
		ks_verify_claims_check(&reading.claims, verifying);
		ks_replay_end(verifying->replay, report_end, verifying);
	}
	ks_verify_claims_release(&reading.claims);
	stop(&reading);
	free(segments.list);
	return status;
}
