/*
 * What a user has accepted, and a store that is opened before and judged after
 * (store/view.c, store/verify_trust.c).
 */
#include "kistore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../lib/scratch.h"

#define NOW 1787000000
#define ORIGIN "log.example/a"

/* Fail with what the library said. */
#define MUST(call) \
	do { \
		struct ks_error err = KS_ERROR_INIT; \
\
		if ((call) != KS_OK) \
			fail_msg("%s", err.message); \
	} while (0)

static struct ks_signer *signer;
static struct ks_key_info key;

static void
add(const char *fixture, bool first)
{
	const struct ks_put_options put = { .write = { .now = NOW } };
	struct ks_snapshot_options options = { .write = { .now = NOW },
		.signer = signer, .first = first, .state_directory = "signer" };
	char path[8192];
	const char *paths = path;
	struct ks_put_result added;
	struct ks_snapshot_result result;
	struct ks_store *store;

	(void)snprintf(path, sizeof(path), "%s/fixtures/%s", scratch_before,
		fixture);
	MUST(ks_store_open(&store, "s.git", NULL, &err));
	MUST(ks_put(store, &paths, 1, &put, NULL, NULL, &added, &err));
	MUST(ks_snapshot_create(store, &options, NULL, NULL, NULL, &result,
		&err));
	ks_store_close(store);
}

static struct ks_verify_result
verify(struct ks_store *store)
{
	struct ks_span text = ks_span_text(key.vkey);
	const struct ks_trust_options trust = { .keys = &text, .key_count = 1,
		.state_directory = "state", .pin = true };
	const struct ks_verify_options options = { .trust = &trust };
	struct ks_verify_result result;

	MUST(ks_verify(store, &options, NULL, NULL, &result, &err));
	return result;
}

static int
setup(void **state)
{
	if (scratch_setup(state) != 0)
		return 1;
	MUST(ks_signer_generate(&signer, ORIGIN, &err));
	MUST(ks_signer_describe(signer, &key, &err));
	MUST(ks_store_create("s.git", ORIGIN, false, NOW, &err));
	add("seeds/closure/000", true);
	return 0;
}

static int
teardown(void **state)
{
	ks_signer_free(signer);
	return scratch_teardown(state);
}

/* Accept what comes after `early` was opened. */
static uint64_t
accept_more(void)
{
	struct ks_store *store;
	struct ks_verify_result result;

	add("seeds/closure/003", false);
	MUST(ks_store_open(&store, "s.git", NULL, &err));
	result = verify(store);
	assert_int_equal(result.signature.status, KS_OK);
	ks_store_close(store);
	return result.signature.size;
}

static void
a_verifier_that_was_opened_before_sees_no_rollback(void **state)
{
	struct ks_store *early;
	struct ks_verify_result result;
	uint64_t size;

	(void)state;
	MUST(ks_store_open(&early, "s.git", NULL, &err));
	size = accept_more();
	result = verify(early);
	assert_string_equal(result.signature.verdict, "signed");
	assert_int_equal(result.signature.size, size);
	ks_store_close(early);
}

static void
nor_does_a_reader(void **state)
{
	struct ks_store *early;
	struct ks_view view;
	uint64_t size;

	(void)state;
	MUST(ks_store_open(&early, "s.git", NULL, &err));
	size = accept_more();
	MUST(ks_store_view(early, "state", NULL, &view, &err));
	assert_int_equal(view.size, size);
	assert_int_equal(view.tail, 0);
	ks_store_close(early);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_verifier_that_was_opened_before_sees_no_rollback),
		TEST(nor_does_a_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
