/*
 * Allocations made to fail in what derives labels, measurements and keys: it
 * says so, and leaks nothing (which the address sanitizer sees).
 *
 * wrap: malloc, calloc, realloc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../lib/records.h"
#include "format/cohort.h"
#include "format/label.h"
#include "format/measure.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* How many more calls until one fails, and all after it; 0 = none will. */
static unsigned left;
static bool fired;

static bool
fires(void)
{
	if (left > 0 && --left == 0)
		fired = true;
	return fired;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *
__wrap_malloc(size_t size)
{
	return fires() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *
__wrap_calloc(size_t count, size_t size)
{
	return fires() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *
__wrap_realloc(void *memory, size_t size)
{
	return fires() ? NULL : __real_realloc(memory, size);
}

/* What is derived from; the seed's records. */
static struct record run, workload, operation, implementation, environment,
	protocol;

static int
read_seed(void **state)
{
	(void)state;
	run = record_seed("000/run");
	workload = record_seed("000/workload");
	operation = record_seed("000/operation");
	implementation = record_seed("000/implementation");
	environment = record_seed("000/environment");
	protocol = record_seed("000/protocol");
	return 0;
}

static int
forget_seed(void **state)
{
	(void)state;
	record_release(&run);
	record_release(&workload);
	record_release(&operation);
	record_release(&implementation);
	record_release(&environment);
	record_release(&protocol);
	return 0;
}

static void
label_workload(struct ks_buf *out)
{
	ks_label_workload(out, workload.manifest);
}

static void
label_operation(struct ks_buf *out)
{
	ks_label_operation(out, operation.metadata);
}

static void
label_implementation(struct ks_buf *out)
{
	ks_label_implementation(out, implementation.metadata,
		ks_span(NULL, 0), operation.metadata);
}

static void
label_metrics(struct ks_buf *out)
{
	ks_label_metrics(out, ks_json_get(ks_json_get(run.spec,
		"sourceNative"), "metrics"));
}

static void
label_environment(struct ks_buf *out)
{
	ks_label_environment(out, environment.spec, protocol.spec);
}

static void
print_page(struct ks_buf *out)
{
	ks_json_print_jsonb(out, run.manifest);
}

static void
list_measurements(struct ks_buf *out)
{
	struct ks_measurement *rows;
	size_t count;

	if (ks_measure_list(run.spec, &rows, &count, NULL) == KS_NOMEM)
		out->failed = true;
	else
		ks_buf_printf(out, "%zu", count);
	free(rows);
}

static void
list_metrics(struct ks_buf *out)
{
	ks_cohort_metrics(out, run.spec);
}

static void
derive_key(struct ks_buf *out)
{
	char text[KS_ID_TEXT + 1];
	struct ks_id id;

	if (ks_cohort_comparison(run.spec, workload.spec, &id, NULL) ==
		KS_NOMEM)
		out->failed = true;
	else
		ks_buf_text(out, ks_id_print(&id, text));
}

static void (*const derivations[])(struct ks_buf *out) = { label_workload,
	label_operation, label_implementation, label_metrics,
	label_environment, print_page, list_measurements, list_metrics,
	derive_key };

static void
an_allocation_that_fails_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(derivations); i++) {
		struct ks_buf whole = KS_BUF_INIT;
		unsigned n = 0;
		bool failed;

		derivations[i](&whole);
		assert_true(whole.len > 0 && !whole.failed);
		do {
			struct ks_buf out = KS_BUF_INIT;

			left = ++n;
			fired = false;
			derivations[i](&out);
			left = 0;
			failed = fired;
			fired = false;
			assert_int_equal(out.failed, failed);
			if (!failed)
				assert_true(ks_span_equal(ks_buf_span(&out),
					ks_buf_span(&whole)));
			ks_buf_release(&out);
		} while (failed);
		assert_true(n > 1);
		ks_buf_release(&whole);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_allocation_that_fails_is_told),
	};

	return cmocka_run_group_tests(tests, read_seed, forget_seed);
}
