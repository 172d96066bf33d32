/*
 * Whose attestations count, as other parts of the store ask for it
 * (store/attesters.h). What the commands make of it is in
 * tests/cli/attest.bats.
 */
#include "store/attesters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "store/keys.h"
#include "../lib/scratch.h"
#include "../lib/shell.h"

#define NOW 1787000000
#define ORIGIN "log.example/a"
#define RUN "c3252a98"

static struct ks_signer *log_key, *runner, *stranger;
static struct ks_id run, anew;

/* Fail with what the library said. */
#define MUST(call) \
	do { \
		struct ks_error err = KS_ERROR_INIT; \
\
		if ((call) != KS_OK) \
			fail_msg("%s", err.message); \
	} while (0)

static const struct ks_write_options write_options = { .now = NOW };

static void
put(struct ks_store *store, const char *path)
{
	const struct ks_put_options options = { .write = { .now = NOW } };
	struct ks_put_result result;

	MUST(ks_put(store, &path, 1, &options, NULL, NULL, &result, &err));
}

/* The seeds, and their run a second time, observed on another day. */
static void
fill(struct ks_store *store)
{
	char command[8192];

	(void)snprintf(command, sizeof(command), "sed 's/\"observedAt\": *"
		"\"[0-9-]*/\"observedAt\": \"2026-09-01/; "
		"s/\"name\": *\"[^\"]*\"/\"name\": \"anew\"/' "
		"'%s/fixtures/seeds/closure/000/run.json' > anew.json",
		scratch_before);
	assert_int_equal(sh(command), 0);
	(void)snprintf(command, sizeof(command),
		"%s/fixtures/seeds/closure/000", scratch_before);
	put(store, command);
	put(store, "anew.json");
	MUST(ks_resolve_one(store, RUN, &run, &err));
	MUST(ks_resolve_one(store, "anew", &anew, &err));
	assert_false(ks_id_equal(&run, &anew));
}

static struct ks_store *
open_store(void)
{
	struct ks_store *store = NULL;

	MUST(ks_store_open(&store, "s.git", NULL, &err));
	return store;
}

static int
setup(void **state)
{
	struct ks_store *store;

	if (scratch_setup(state) != 0)
		return 1;
	MUST(ks_signer_generate(&log_key, ORIGIN, &err));
	MUST(ks_signer_generate(&runner, "runner.example", &err));
	MUST(ks_signer_generate(&stranger, "stranger.example", &err));
	MUST(ks_store_create("s.git", ORIGIN, false, NOW, &err));
	store = open_store();
	fill(store);
	ks_store_close(store);
	return 0;
}

static int
teardown(void **state)
{
	ks_signer_free(log_key);
	ks_signer_free(runner);
	ks_signer_free(stranger);
	return scratch_teardown(state);
}

static void
change_key(struct ks_store *store, const struct ks_signer *signer, bool revoke)
{
	struct ks_key_info info;
	struct ks_key_change change;

	MUST(ks_signer_describe(signer, &info, &err));
	MUST(ks_key_register(store, ks_span_text(info.vkey), revoke,
		&write_options, &change, &err));
}

static void
snapshot(struct ks_store *store)
{
	struct ks_snapshot_options options = {
		.write = { .now = NOW }, .signer = log_key,
		.state_directory = "state"
	};
	struct ks_snapshot_result result;

	options.first = access("state", F_OK) != 0;
	MUST(ks_snapshot_create(store, &options, NULL, NULL, NULL, &result,
		&err));
}

/* What `signer` says of `run`; the digest of the Attestation. */
static struct ks_id
attest(struct ks_store *store, const struct ks_signer *signer,
	const char *type)
{
	struct ks_attest_options options = {
		.write = { .now = NOW }, .signer = signer, .type = type
	};
	struct ks_attest_result result;

	options.rerun = strcmp(type, "rerun") == 0;
	if (!options.rerun)
		options.body = ks_span_text("the same");
	MUST(ks_attest(store, &run, options.rerun ? &anew : NULL, &options,
		NULL, &result, &err));
	assert_true(result.added);
	return result.digest;
}

static bool
counts(struct ks_store *store, const struct ks_id *attestation)
{
	struct ks_id subject;
	bool is_rerun = false;

	MUST(ks_store_rerun(store, attestation, &subject, &is_rerun, &err));
	if (is_rerun)
		assert_true(ks_id_equal(&subject, &run));
	return is_rerun;
}

static enum ks_standing
standing_of(struct ks_store *store, const struct ks_signer *signer)
{
	struct ks_attesters *attesters;
	const struct ks_attester *found;

	MUST(ks_store_attesters(store, &attesters, &err));
	found = ks_attesters_find(attesters, ks_signer_vkey(signer));
	assert_non_null(found);
	return found->standing;
}

static void
a_rerun_counts_while_its_key_stands_in_what_is_signed(void **state)
{
	struct ks_store *store = open_store();
	struct ks_id rerun = attest(store, runner, "rerun");

	(void)state;
	assert_false(counts(store, &rerun));
	change_key(store, runner, false);
	assert_int_equal(standing_of(store, runner), KS_STANDING_UNSIGNED);
	assert_false(counts(store, &rerun));
	/* The log stays as it is but for a key line: the note is what counts. */
	snapshot(store);
	assert_int_equal(standing_of(store, runner), KS_STANDING_CONTROLLED);
	assert_true(counts(store, &rerun));
	ks_store_close(store);
	store = open_store();
	assert_true(counts(store, &rerun));
	change_key(store, runner, true);
	assert_int_equal(standing_of(store, runner), KS_STANDING_REVOKED);
	assert_false(counts(store, &rerun));
	ks_store_close(store);
}

static void
nothing_else_counts(void **state)
{
	struct ks_store *store = open_store();
	struct ks_id said, other, subject;
	bool is_rerun = true;

	(void)state;
	change_key(store, runner, false);
	said = attest(store, runner, "reproduced");
	other = attest(store, stranger, "rerun");
	snapshot(store);
	assert_false(counts(store, &said));
	assert_false(counts(store, &other));
	/* No Attestation at all, and nothing at all. */
	assert_false(counts(store, &run));
	memset(&subject, 7, sizeof(subject));
	MUST(ks_store_rerun(store, &subject, &subject, &is_rerun, &err));
	assert_false(is_rerun);
	ks_store_close(store);
}

static void
an_attestation_or_run_that_does_not_stand_does_not_count(void **state)
{
	struct ks_store *store = open_store();
	struct ks_id rerun = attest(store, runner, "rerun");

	(void)state;
	change_key(store, runner, false);
	snapshot(store);
	assert_true(counts(store, &rerun));
	MUST(ks_retract(store, &rerun, "wrong", NULL, &write_options, &err));
	assert_false(counts(store, &rerun));
	MUST(ks_restore(store, &rerun, "right", &write_options, &err));
	assert_true(counts(store, &rerun));
	MUST(ks_retract(store, &anew, "wrong", NULL, &write_options, &err));
	assert_false(counts(store, &rerun));
	MUST(ks_restore(store, &anew, "right", &write_options, &err));
	/* Of a run that was retracted it is still said. */
	MUST(ks_retract(store, &run, "wrong", NULL, &write_options, &err));
	assert_true(counts(store, &rerun));
	MUST(ks_takedown(store, &rerun, "law", false, &write_options, &err));
	assert_false(counts(store, &rerun));
	ks_store_close(store);
}

static void
a_past_state_is_judged_by_its_own_note(void **state)
{
	struct ks_store *store = open_store();
	struct ks_id rerun = attest(store, runner, "rerun");
	struct ks_log_info log;
	char at[24];

	(void)state;
	change_key(store, runner, false);
	MUST(ks_log(store, &log, &err));
	(void)snprintf(at, sizeof(at), "%llu", (unsigned long long)log.size);
	snapshot(store);
	assert_true(counts(store, &rerun));
	ks_store_close(store);
	MUST(ks_store_open(&store, "s.git", at, &err));
	assert_false(counts(store, &rerun));
	ks_store_close(store);
}

static void
keys_of_the_log_are_for_nothing_else(void **state)
{
	struct ks_store *store = open_store();
	struct ks_attesters *attesters;
	struct ks_error why = KS_ERROR_INIT;

	(void)state;
	change_key(store, runner, false);
	snapshot(store);
	MUST(ks_store_attesters(store, &attesters, &err));
	assert_int_equal(ks_attesters_count(attesters), 1);
	assert_string_equal(ks_attesters_at(attesters, 0)->vkey.name,
		"runner.example");
	assert_null(ks_attesters_find(attesters, ks_signer_vkey(log_key)));
	assert_int_equal(ks_attesters_check_use(attesters,
		ks_signer_vkey(log_key), &why), KS_INVALID);
	assert_non_null(strstr(why.message, "(N13)"));
	MUST(ks_attesters_check_use(attesters, ks_signer_vkey(runner), &err));
	MUST(ks_attesters_check_use(attesters, ks_signer_vkey(stranger),
		&err));
	assert_string_equal(ks_standing_name(NULL), "");
	ks_store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_rerun_counts_while_its_key_stands_in_what_is_signed),
		TEST(nothing_else_counts),
		TEST(an_attestation_or_run_that_does_not_stand_does_not_count),
		TEST(a_past_state_is_judged_by_its_own_note),
		TEST(keys_of_the_log_are_for_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
