/*
 * What is done while a call fails, and what must hold afterwards.
 *
 * A program that includes this wraps calls of the library (see the Makefile)
 * and asks fault_fires() in each. For every scenario it makes the first call
 * fail, then the second, and so on until none is left to fail; each time a
 * fresh store is taken, and afterwards, with nothing failing, it must be as
 * before or as after the change, sound, and good for the next change.
 */
#ifndef TESTS_FAULTS_FAULTS_H
#define TESTS_FAULTS_FAULTS_H

#include <stdatomic.h>

#include "../lib/scratch.h"
#include "kistore.h"

#define NOW 1787000000
#define WORK "work.git"
#define EMPTY "empty.git"
#define FULL "full.git"
#define ATTESTED "attested.git"
#define SIGNED "signed.git"	/* published, with citations, in SERVED */
#define TAKEN "taken.git"	/* the same after a takedown, signed, too */
#define SERVED "served"
#define UPSTREAM "upstream.git"	/* SIGNED and more, signed, too, */
#define MIRROR "mirror.git"	/* which this follows, and has not seen */
#define RUN "c3252a98"
#define OPERATION "e655a95629"
#define LIGER "f3f6de9bb2bc69f7"	/* liger-runs.jsonl, as it is */
#define RAW "raw.bin"

/* More than a put keeps in memory. */
#define RAW_BYTES ((size_t)5 << 20)

/* RFC 8410 section 10.3, under a name. */
#define KEY "Name: runner.example\n-----BEGIN PRIVATE KEY-----\n" \
	"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n" \
	"-----END PRIVATE KEY-----\n"
#define VKEY "runner.example+263d92a6+" \
	"ARm/RAlphM3+hUG6wWfcO5bIUIaqMLa2ywxcOK1wMWbh"

/* ---- counting ---------------------------------------------------------- */

/* How many more calls until one fails; 0 = none will. */
static _Atomic long faults_left;
static _Atomic bool fault_sticks;	/* all that follow fail, too */
static _Atomic bool fault_fired;
static const char *volatile fault_call = "?";	/* the first that failed */

static inline bool
fault_fires(const char *call)
{
	long left = atomic_load(&faults_left);

	if (left == 0)
		return atomic_load(&fault_sticks) &&
			atomic_load(&fault_fired);
	if (atomic_fetch_sub(&faults_left, 1) != 1)
		return false;
	atomic_store(&fault_fired, true);
	fault_call = call;
	return true;
}

static inline void
fault_arm(long n, bool sticks)
{
	atomic_store(&fault_fired, false);
	atomic_store(&fault_sticks, sticks);
	atomic_store(&faults_left, n);
}

static inline void
fault_disarm(void)
{
	atomic_store(&faults_left, 0);
	atomic_store(&fault_sticks, false);
}

/* ---- what is done ------------------------------------------------------ */

struct scenario {
	const char *name;
	const char *start;	/* the store it begins with; NULL: none */
	enum ks_status (*run)(struct ks_store *store, struct ks_error *err);
	bool writes;
};

/* What the last scenario had to say, and whether it spoke of damage. */
static struct ks_buf fault_answer = KS_BUF_INIT;
static unsigned fault_damage;
static char fault_finding[512];

static inline const char *
fixture(const char *name)
{
	static char path[8192];

	(void)snprintf(path, sizeof(path), "%s/fixtures/%s", scratch_before,
		name);
	return path;
}

static inline enum ks_status
put_fixture(struct ks_store *store, const char *name, struct ks_error *err)
{
	struct ks_put_options options = { .write = { .now = NOW } };
	struct ks_put_result result;
	const char *path = fixture(name);

	return ks_put(store, &path, 1, &options, NULL, NULL, &result, err);
}

static inline enum ks_status
run_put_seed(struct ks_store *store, struct ks_error *err)
{
	return put_fixture(store, "seeds/closure/000", err);
}

static inline enum ks_status
run_put_many(struct ks_store *store, struct ks_error *err)
{
	return put_fixture(store, "liger-runs.jsonl", err);
}

static inline enum ks_status
run_annotate(struct ks_store *store, struct ks_error *err)
{
	struct ks_write_options options = { .now = NOW };
	struct ks_id id;
	enum ks_status status = ks_resolve_one(store, RUN, &id, err);

	return status != KS_OK ? status : ks_annotate(store, &id,
		ks_span_text("{\"name\":\"new-name\"}"), ks_span(NULL, 0),
		&options, err);
}

static inline enum ks_status
run_takedown(struct ks_store *store, struct ks_error *err)
{
	struct ks_write_options options = { .now = NOW };
	struct ks_id id;
	enum ks_status status = ks_resolve_one(store, RUN, &id, err);

	return status != KS_OK ? status : ks_takedown(store, &id, "law", true,
		&options, err);
}

static inline enum ks_status
run_attest(struct ks_store *store, struct ks_error *err)
{
	struct ks_attest_options options = {
		.write = { .now = NOW }, .type = "reproduced",
		.value = "621.5us", .body = ks_span_text("the same")
	};
	struct ks_attest_result result;
	struct ks_signer *signer = NULL;
	struct ks_id id;
	enum ks_status status = ks_signer_read(&signer, ks_span_text(KEY),
		ks_span(NULL, 0), err);

	options.signer = signer;
	if (status == KS_OK)
		status = ks_resolve_one(store, RUN, &id, err);
	if (status == KS_OK)
		status = ks_attest(store, &id, NULL, &options, &fault_answer,
			&result, err);
	ks_signer_free(signer);
	return status;
}

static inline bool
note_attestation(void *arg, const struct ks_attestation *attestation)
{
	(void)arg;
	ks_buf_printf(&fault_answer, "%s %s %s %zu %d%d%d ",
		attestation->type, attestation->body, attestation->problem,
		attestation->signer_count, attestation->trusted,
		attestation->repeated, attestation->counts);
	return false;
}

static inline enum ks_status
run_attestations(struct ks_store *store, struct ks_error *err)
{
	const struct ks_span text = ks_span_text(VKEY);
	const struct ks_attestation_keys keys = { &text, 1 };
	struct ks_id id;
	enum ks_status status = ks_resolve_one(store, RUN, &id, err);

	return status != KS_OK ? status : ks_attestations_of(store, &id, &keys,
		note_attestation, NULL, err);
}

static inline enum ks_status
run_artifact_put(struct ks_store *store, struct ks_error *err)
{
	const struct ks_artifact_options options = {
		.write = { .now = NOW }, .describe = true
	};
	const char *const paths[] = { RAW, fixture("liger-runs.jsonl") };
	struct ks_put_result result;

	return ks_artifact_put(store, paths, 2, &options, NULL, NULL, &result,
		err);
}

static inline enum ks_status
add_answer(void *arg, struct ks_span bytes, struct ks_error *err)
{
	(void)arg;
	ks_buf_append(&fault_answer, bytes);
	return ks_buf_check(&fault_answer, err);
}

static inline enum ks_status
run_artifact_get(struct ks_store *store, struct ks_error *err)
{
	struct ks_id id;
	enum ks_status status = ks_resolve_one(store, LIGER, &id, err);

	return status != KS_OK ? status : ks_artifact_get(store, &id,
		add_answer, NULL, err);
}

static inline void
note_finding(void *arg, const struct ks_finding *finding)
{
	(void)arg;
	if (finding->severity == KS_SEVERITY_WARNING)
		return;
	fault_damage++;
	(void)snprintf(fault_finding, sizeof(fault_finding), "%s: %s",
		finding->path == NULL ? "" : finding->path, finding->message);
}

static inline enum ks_status
run_verify(struct ks_store *store, struct ks_error *err)
{
	struct ks_verify_options options = { .threads = 2 };
	struct ks_verify_result result;
	enum ks_status status = ks_verify(store, &options, note_finding, NULL,
		&result, err);

	if (status == KS_OK)
		ks_buf_printf(&fault_answer, "%llu objects",
			(unsigned long long)result.objects);
	return status;
}

static inline enum ks_status
run_get(struct ks_store *store, struct ks_error *err)
{
	struct ks_id id;
	enum ks_status status = ks_resolve_one(store, RUN, &id, err);

	return status != KS_OK ? status : ks_get(store, &id, KS_GET_BUNDLE,
		&fault_answer, err);
}

static inline enum ks_status
run_resolve(struct ks_store *store, struct ks_error *err)
{
	struct ks_id id;
	char text[KS_ID_TEXT + 1];
	enum ks_status status = ks_resolve_one(store, RUN, &id, err);

	if (status == KS_OK)
		ks_buf_text(&fault_answer, ks_id_print(&id, text));
	return status;
}

static inline enum ks_status
run_index(struct ks_store *store, struct ks_error *err)
{
	struct ks_status_info info;
	enum ks_status status;

	if (unlink(WORK "/kistore-index.sqlite") != 0 ||
		unlink(WORK "/kistore-index.sqlite-wal") != 0)
		fault_damage += access(WORK "/kistore-index.sqlite", F_OK) ==
			0 && !atomic_load(&fault_fired);
	status = ks_store_status(store, &info, err);
	if (status == KS_OK)
		ks_buf_printf(&fault_answer, "%llu objects, %llu entries",
			(unsigned long long)info.objects,
			(unsigned long long)info.log.size);
	return status;
}

static inline bool
note_listed(void *arg, const struct ks_list_record *record)
{
	char text[KS_ID_TEXT + 1];

	(void)arg;
	ks_buf_printf(&fault_answer, "%s ", ks_id_print(&record->digest,
		text));
	ks_buf_append(&fault_answer, record->values[0]);
	return false;
}

static inline void
note_unlisted(void *arg, const struct ks_id *digest,
	const struct ks_error *why)
{
	(void)arg;
	(void)digest;
	ks_buf_text(&fault_answer, why->message);
}

/* Fills the catalogue and its search, and asks both. */
static inline enum ks_status
run_list(struct ks_store *store, struct ks_error *err)
{
	static const struct ks_list_filter filters[] = {
		{ "text", "rotary position" }, { "hardware", "A100" },
		{ "operation", "rope" }, { "axis", "seq=2048" },
		{ "dtype", "bf16" }, { "since", "2024" }
	};
	static const char *const columns[] = { "result", "implementation",
		"evidence", "comparison" };
	const struct ks_list_options options = { .filters = filters,
		.filter_count = 6, .columns = columns, .column_count = 4,
		.sort = "value" };
	const struct ks_list_sink sink = { .record = note_listed,
		.problem = note_unlisted };
	struct ks_list_result result;

	return ks_list(store, &options, &sink, &result, err);
}

static inline bool
note_event(void *arg, const struct ks_record_event *event)
{
	(void)arg;
	ks_buf_printf(&fault_answer, "%s %s %s", event->text,
		event->operation, event->workload);
	return false;
}

static inline enum ks_status
run_records(struct ks_store *store, struct ks_error *err)
{
	const struct ks_list_options options = { .filter_count = 0 };
	struct ks_list_result result;

	return ks_records(store, &options, false, note_event, NULL, &result,
		err);
}

static inline void
note_count(void *arg, const struct ks_stats_row *row)
{
	(void)arg;
	ks_buf_printf(&fault_answer, "%s %s %llu\n", row->group, row->value,
		(unsigned long long)row->records);
}

static inline enum ks_status
run_stats(struct ks_store *store, struct ks_error *err)
{
	struct ks_stats_result result;

	return ks_stats(store, NULL, note_count, NULL, &result, err);
}

static inline enum ks_status
run_verify_index(struct ks_store *store, struct ks_error *err)
{
	struct ks_verify_options options = { .threads = 1, .index = true };
	struct ks_verify_result result;
	enum ks_status status = run_list(store, err);

	ks_buf_clear(&fault_answer);
	return status != KS_OK ? status : ks_verify(store, &options,
		note_finding, NULL, &result, err);
}

static inline enum ks_status
run_cite(struct ks_store *store, struct ks_error *err)
{
	const struct ks_cite_options options = { .now = NOW };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_id id;
	enum ks_status status = ks_resolve_one(store, RUN, &id, err);

	if (status == KS_OK)
		status = ks_cite(store, &id, &options, &text, &fault_answer,
			err);
	ks_buf_release(&text);
	return status;
}

/* Publish with the citation of a record, and compare all that is there. */
static inline enum ks_status
publish_record(struct ks_store *store, const char *reference,
	const char *directory, struct ks_error *err)
{
	struct ks_publish_options options = { .now = NOW, .cite_count = 1 };
	struct ks_publish_result result;
	struct ks_id id;
	enum ks_status status = ks_resolve_one(store, reference, &id, err);

	options.cite = &id;
	if (status == KS_OK)
		status = ks_publish(store, directory, &options, &result, err);
	if (status == KS_OK)
		ks_buf_printf(&fault_answer, "%llu written, %llu cited, %llu "
			"removed", (unsigned long long)result.written,
			(unsigned long long)result.citations,
			(unsigned long long)result.removed);
	return status;
}

static inline enum ks_status
run_publish(struct ks_store *store, struct ks_error *err)
{
	return sh("rm -rf www") != 0 ? KS_USAGE :
		publish_record(store, RUN, "www", err);
}

/* Where one citation has to go, and another one has to stay. */
static inline enum ks_status
run_publish_again(struct ks_store *store, struct ks_error *err)
{
	return sh("rm -rf www; cp -a " SERVED " www") != 0 ? KS_USAGE :
		publish_record(store, OPERATION, "www", err);
}

/* Bring a mirror up to an upstream that has more. */
static inline enum ks_status
run_mirror_update(struct ks_store *store, struct ks_error *err)
{
	struct ks_span key = ks_span_text(VKEY);
	struct ks_trust_options trust = { .keys = &key, .key_count = 1,
		.state_directory = "seen" };
	struct ks_mirror_options options = { .write = { .now = NOW },
		.trust = &trust };
	struct ks_mirror_result result;
	enum ks_status status = sh("rm -rf updated.git seen; cp -a " MIRROR
		" updated.git") != 0 ? KS_USAGE : ks_mirror_update(
		"updated.git", &options, &result, err);

	(void)store;
	if (status == KS_OK)
		ks_buf_printf(&fault_answer, "%s, %llu, %llu checked",
			result.verdict, (unsigned long long)result.size,
			(unsigned long long)result.objects);
	return status;
}

static const struct scenario scenarios[] = {
	{ "init", NULL, NULL, true },
	{ "put of a run and what it rests on", EMPTY, run_put_seed, true },
	{ "put of many", EMPTY, run_put_many, true },
	{ "annotate", FULL, run_annotate, true },
	{ "takedown with lines", FULL, run_takedown, true },
	{ "verify", FULL, run_verify, false },
	{ "get", FULL, run_get, false },
	{ "resolve", FULL, run_resolve, false },
	{ "index", FULL, run_index, false },
	{ "list", FULL, run_list, false },
	{ "records", FULL, run_records, false },
	{ "stats", FULL, run_stats, false },
	{ "verify of the index", FULL, run_verify_index, false },
	{ "attest", FULL, run_attest, true },
	{ "attestations", ATTESTED, run_attestations, false },
	{ "artifact put", FULL, run_artifact_put, true },
	{ "artifact get", ATTESTED, run_artifact_get, false },
	{ "cite", SIGNED, run_cite, false },
	{ "publish", SIGNED, run_publish, false },
	{ "publish after a takedown", TAKEN, run_publish_again, false },
	{ "mirror update", FULL, run_mirror_update, false },
};

#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

/* Do it, in the store at WORK. */
static inline enum ks_status
perform(const struct scenario *scenario, struct ks_error *err)
{
	struct ks_store *store = NULL;
	enum ks_status status;

	ks_buf_clear(&fault_answer);
	fault_damage = 0;
	if (scenario->start == NULL)
		return ks_store_create(WORK, NULL, false, NOW, err);
	status = ks_store_open(&store, WORK, NULL, err);
	if (status == KS_OK)
		status = scenario->run(store, err);
	ks_store_close(store);
	return status;
}

/* ---- what must hold ---------------------------------------------------- */

static inline struct ks_store *
open_work(void)
{
	struct ks_store *store = NULL;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_store_open(&store, WORK, NULL, &err) != KS_OK)
		fail_msg("%s", err.message);
	return store;
}

static inline struct ks_id
root_of(struct ks_store *store)
{
	struct ks_log_info log;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_log(store, &log, &err) != KS_OK)
		fail_msg("%s", err.message);
	return log.root;
}

static inline void
assert_sound(struct ks_store *store)
{
	struct ks_error err = KS_ERROR_INIT;

	fault_damage = 0;
	if (run_verify(store, &err) != KS_OK || fault_damage > 0)
		fail_msg("not sound: %s%s", err.message, fault_finding);
}

/* Every file of a bare store that kistore made; none of them is temporary. */
#define FILES "HEAD|config|description|hooks/README.sample|" \
	"info/attributes|info/exclude|kistore.lock|" \
	"kistore-index.sqlite(-wal|-shm)?|refs/heads/main|" \
	"refs/tags/snapshot/[0-9]+|" \
	"objects/pack/pack-[0-9a-f]{40}.(idx|pack)|" \
	"objects/[0-9a-f]{2}/[0-9a-f]{38}"

/* Which call failed, for messages. */
static inline const char *
where(const struct scenario *scenario, long n)
{
	static char text[256];

	(void)snprintf(text, sizeof(text), "%s, call %ld (%s)",
		scenario->name, n, fault_call);
	return text;
}

static inline void
assert_nothing_left(const struct scenario *scenario, long n)
{
	if (sh("cd " WORK "; find . -type f | sed 's,^./,,' | "
		"grep -vxE '" FILES "'") == 0)
		fail_msg("%s: something is left", where(scenario, n));
}

static inline void
start_from(const char *start)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf " WORK "; "
		"[ -z '%s' ] || cp -a '%s' " WORK, start == NULL ? "" : start,
		start == NULL ? "" : start);
	assert_int_equal(sh(command), 0);
}

/* What a scenario leaves when nothing fails. */
struct outcome {
	struct ks_id before, after;
	struct ks_buf answer;
};

static inline struct outcome
expected_outcome(const struct scenario *scenario)
{
	struct outcome outcome = { .answer = KS_BUF_INIT };
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store;

	start_from(scenario->start);
	if (scenario->start != NULL) {
		store = open_work();
		outcome.before = root_of(store);
		ks_store_close(store);
		start_from(scenario->start);
	}
	if (perform(scenario, &err) != KS_OK)
		fail_msg("%s: %s", scenario->name, err.message);
	ks_buf_append(&outcome.answer, ks_buf_span(&fault_answer));
	store = open_work();
	outcome.after = root_of(store);
	ks_store_close(store);
	return outcome;
}

/* A refusal is one line, and never speaks of damage (store-layout.md, G5). */
static inline void
check_refusal(const struct scenario *scenario, long n, enum ks_status status,
	const struct ks_error *err)
{
	if (fault_damage > 0)
		fail_msg("%s: damage was reported, \"%s\"", where(scenario, n),
			fault_finding);
	if (status == KS_OK)
		return;
	if (status != KS_IO && status != KS_NOMEM)
		fail_msg("%s: %s, \"%s\"", where(scenario, n),
			ks_status_name(status), err->message);
	if (err->status != status || err->message[0] == '\0' ||
		strchr(err->message, '\n') != NULL)
		fail_msg("%s: %s with \"%s\"", where(scenario, n),
			ks_status_name(status), err->message);
}

/* Old or new, sound, and good for the next put; `thorough` looks closer. */
static inline void
check_store(const struct scenario *scenario, long n, enum ks_status status,
	const struct outcome *outcome, bool thorough)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store;
	struct ks_id root;

	if (scenario->start == NULL && status != KS_OK) {
		if (access(WORK, F_OK) == 0)
			fail_msg("%s: something is left",
				where(scenario, n));
		if (perform(scenario, &err) != KS_OK)
			fail_msg("%s, tried again: %s", where(scenario, n),
				err.message);
	}
	store = open_work();
	root = root_of(store);
	if (!ks_id_equal(&root, &outcome->after) &&
		!(status != KS_OK && ks_id_equal(&root, &outcome->before)))
		fail_msg("%s: neither old nor new", where(scenario, n));
	if (thorough) {
		assert_sound(store);
		if (put_fixture(store, "seeds/closure/003", &err) != KS_OK)
			fail_msg("%s, then a put: %s", where(scenario, n),
				err.message);
		assert_sound(store);
		assert_nothing_left(scenario, n);
	}
	ks_store_close(store);
}

/* Fail each call of one scenario in turn: every `stride`th, from the first. */
static inline void
fail_each_call(const struct scenario *scenario, long stride, bool sticks)
{
	struct outcome outcome = expected_outcome(scenario);
	long n, refused = 0;

	for (n = 1;; n += stride) {
		struct ks_error err = KS_ERROR_INIT;
		enum ks_status status;

		start_from(scenario->start);
		fault_arm(n, sticks);
		status = perform(scenario, &err);
		fault_disarm();
		if (!atomic_load(&fault_fired))
			break;
		check_refusal(scenario, n, status, &err);
		refused += status != KS_OK;
		if (status == KS_OK && !ks_span_equal(
			ks_buf_span(&fault_answer),
			ks_buf_span(&outcome.answer)))
			fail_msg("%s: another answer: %s", where(scenario, n),
				ks_buf_cstr(&fault_answer));
		if (sticks && scenario->start == NULL)
			continue;	/* it could not clean up */
		check_store(scenario, n, status, &outcome,
			scenario->writes && (status == KS_OK ||
			n / stride % 8 == 0 || stride == 1));
	}
	print_message("%s: %ld of %ld calls failed it\n", scenario->name,
		refused, (n - 1) / stride);
	ks_buf_release(&outcome.answer);
}

/* ---- stores to begin with ---------------------------------------------- */

/* Bytes that do not compress, the same each time. */
static inline bool
make_raw(void)
{
	FILE *file = fopen(RAW, "wb");
	uint32_t x = 1;
	size_t i;

	if (file == NULL)
		return false;
	for (i = 0; i < RAW_BYTES; i++) {
		x = x * 1664525u + 1013904223u;
		(void)fputc((int)(x >> 24), file);
	}
	return fclose(file) == 0;
}

/* A store with attestations, a registered key, and raw bytes. */
static inline enum ks_status
make_attested(struct ks_error *err)
{
	struct ks_write_options options = { .now = NOW };
	struct ks_key_change change;
	struct ks_store *store = NULL;
	enum ks_status status = sh("cp -a " FULL " " ATTESTED) == 0 ?
		ks_store_open(&store, ATTESTED, NULL, err) : KS_IO;

	if (status == KS_OK)
		status = ks_key_register(store, ks_span_text(VKEY), false,
			&options, &change, err);
	if (status == KS_OK)
		status = run_attest(store, err);
	if (status == KS_OK)
		status = run_artifact_put(store, err);
	ks_store_close(store);
	return status;
}

static inline enum ks_status
sign(struct ks_store *store, bool first, struct ks_error *err)
{
	struct ks_snapshot_options options = { .write = { .now = NOW },
		.first = first, .state_directory = "state" };
	struct ks_snapshot_result result;
	struct ks_signer *signer = NULL;
	enum ks_status status = ks_signer_read(&signer, ks_span_text(KEY),
		ks_span(NULL, 0), err);

	options.signer = signer;
	if (status == KS_OK)
		status = ks_snapshot_create(store, &options, NULL,
			note_finding, NULL, &result, err);
	ks_signer_free(signer);
	return status;
}

static inline enum ks_status
sign_first(struct ks_store *store, struct ks_error *err)
{
	return sign(store, true, err);
}

static inline enum ks_status
publish_served(struct ks_store *store, struct ks_error *err)
{
	enum ks_status status = publish_record(store, RUN, SERVED, err);

	return status != KS_OK ? status : publish_record(store, OPERATION,
		SERVED, err);
}

static inline enum ks_status
take_down_signed(struct ks_store *store, struct ks_error *err)
{
	enum ks_status status = run_takedown(store, err);

	return status == KS_OK ? sign(store, false, err) : status;
}

static inline enum ks_status
in_store(const char *path, enum ks_status (*run)(struct ks_store *store,
	struct ks_error *err), struct ks_error *err)
{
	struct ks_store *store = NULL;
	enum ks_status status = ks_store_open(&store, path, NULL, err);

	if (status == KS_OK)
		status = run(store, err);
	ks_store_close(store);
	return status;
}

/* Two stores that are signed, and the directory that was made of the first. */
static inline enum ks_status
make_signed(struct ks_error *err)
{
	enum ks_status status = sh("cp -a " FULL " " SIGNED) == 0 ?
		in_store(SIGNED, sign_first, err) : KS_IO;

	if (status == KS_OK)
		status = in_store(SIGNED, publish_served, err);
	/* Two logs go on from here, by one key: each with its memory. */
	if (status == KS_OK && sh("cp -a " SIGNED " " TAKEN "; cp -a state "
		"state.signed") != 0)
		status = KS_IO;
	return status == KS_OK ? in_store(TAKEN, take_down_signed, err) :
		status;
}

static inline enum ks_status
put_more(struct ks_store *store, struct ks_error *err)
{
	enum ks_status status = put_fixture(store, "seeds/closure/003", err);

	return status == KS_OK ? sign(store, false, err) : status;
}

static inline enum ks_status
make_mirror(struct ks_error *err)
{
	struct ks_span key = ks_span_text(VKEY);
	struct ks_trust_options trust = { .keys = &key, .key_count = 1 };
	struct ks_mirror_options options = { .write = { .now = NOW },
		.trust = &trust };
	struct ks_mirror_result result;
	enum ks_status status = sh("cp -a " SIGNED " " UPSTREAM "; rm -rf "
		"state; mv state.signed state") != 0 ? KS_IO :
		ks_mirror_clone(UPSTREAM, MIRROR, &options, &result, err);

	if (status == KS_OK && result.status != KS_OK)
		status = ks_fail(err, result.status, "%s", result.message);
	return status == KS_OK ? in_store(UPSTREAM, put_more, err) : status;
}

static inline int
fault_setup(void **state)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_store *store = NULL;
	enum ks_status status;

	if (scratch_setup(state) != 0)
		return 1;
	status = ks_store_create(EMPTY, NULL, false, NOW, &err);
	if (status == KS_OK)
		status = ks_store_create(FULL, NULL, false, NOW, &err);
	if (status == KS_OK)
		status = ks_store_open(&store, FULL, NULL, &err);
	if (status == KS_OK)
		status = put_fixture(store, "seeds/closure/000", &err);
	ks_store_close(store);
	if (status == KS_OK && make_raw())
		status = make_attested(&err);
	if (status == KS_OK)
		status = make_signed(&err);
	if (status == KS_OK)
		status = make_mirror(&err);
	if (status != KS_OK)
		print_error("%s\n", err.message);
	return status != KS_OK;
}

static inline int
fault_teardown(void **state)
{
	ks_buf_release(&fault_answer);
	return scratch_teardown(state);
}

#endif
