#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../lib/scratch.h"
#include "store/db.h"

static off_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : 0;
}

/* Nobody moves the WAL when a connection closes. */
static void
the_wal_does_not_grow_without_end(void **state)
{
	static const struct ks_db_plan plan = { .name = "test" };
	struct ks_db db = { .plan = &plan };
	struct ks_error err = KS_ERROR_INIT;
	int i;

	(void)state;
	for (i = 0; i < 12; i++) {
		assert_int_equal(ks_db_open(&db, "wal.sqlite", KS_DB_WRITE,
			&err), KS_OK);
		assert_int_equal(ks_db_begin(&db, true, &err), KS_OK);
		assert_int_equal(ks_db_run(&db,
			"CREATE TABLE IF NOT EXISTS t(b BLOB);"
			"INSERT INTO t VALUES(zeroblob(1000000))", &err),
			KS_OK);
		assert_int_equal(ks_db_end(&db, KS_OK, &err), KS_OK);
		ks_db_close(&db);
		assert_true(size_of("wal.sqlite-wal") < 7000000);
	}
	assert_true(size_of("wal.sqlite") > 5000000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_wal_does_not_grow_without_end, scratch_setup,
			scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
