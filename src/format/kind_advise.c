/* Rules that real, published data breaks and that therefore only warn: those
 * between the parts of one record, and those between records
 * (store-layout.md, section "kinds"). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/kind_walk.h"

/* How many bytes of text may be looked at for one record. Real ones need some
 * ten thousand; records made to be slow end here. */
#define BUDGET ((size_t)64 << 20)

struct advice {
	ks_kind_lookup_fn *lookup;
	void *lookup_arg;
	ks_finding_fn *report;
	void *arg;
	size_t budget;
	bool stopped;
};

static void KS_PRINTF(3, 4)
note(struct advice *a, const char *path, const char *format, ...)
{
	char message[KS_ERROR_MESSAGE_MAX];
	va_list args;

	if (a->stopped)
		return;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	a->stopped = !a->report(a->arg, KS_FINDING_NOTE, path, message);
}

/* Whether `bytes` more may be looked at. */
static bool
spend(struct advice *a, size_t bytes)
{
	if (a->stopped)
		return false;
	if (bytes <= a->budget) {
		a->budget -= bytes;
		return true;
	}
	note(a, "spec", "is too large to be compared in full with what it "
		"refers to");
	a->stopped = true;
	return false;
}

/* The member `name` of `object`; an empty span, which has no members and
 * equals nothing of interest, when it is not there. */
static struct ks_span
member(struct ks_span object, const char *name)
{
	struct ks_span wanted = ks_span_text(name);
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span found, value;

	while (ks_json_next_member(&it, &found, &value)) {
		if (ks_span_equal(found, wanted))
			return value;
	}
	return ks_span(NULL, 0);
}

/* A member to pick out of an object, and where its value goes. */
struct wanted {
	const char *name;
	struct ks_span *value;
};

/* Pick several members in one pass: `wanted` stands in canonical order, as
 * the members do. Those that are not there become empty. */
static void
pick(struct ks_span object, const struct wanted *wanted, size_t count)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, value;
	size_t next = 0;
	size_t i;

	for (i = 0; i < count; i++)
		*wanted[i].value = ks_span(NULL, 0);
	while (next < count && ks_json_next_member(&it, &name, &value)) {
		for (i = next; i < count; i++) {
			if (!ks_span_is(name, wanted[i].name))
				continue;
			*wanted[i].value = value;
			next = i + 1;
			break;
		}
	}
}

#define PICK(object, wanted) \
	pick(object, wanted, sizeof(wanted) / sizeof((wanted)[0]))

static bool
has_named(struct ks_span object, struct ks_span raw)
{
	struct ks_json_iter it = ks_json_iter(object);
	struct ks_span name, value;

	while (ks_json_next_member(&it, &name, &value)) {
		if (ks_span_equal(name, raw))
			return true;
	}
	return false;
}

static bool
has_element(struct ks_span list, struct ks_span wanted)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span item;

	while (ks_json_next_element(&it, &item)) {
		if (ks_span_equal(item, wanted))
			return true;
	}
	return false;
}

/* The spec of the record that a digest in canonical text names, when it is at
 * hand and of the kind `wanted` or `other`; else an empty span. */
static struct ks_span
look_up(struct advice *a, struct ks_span digest, const struct ks_kind *wanted,
	const struct ks_kind *other)
{
	const struct ks_kind *kind = NULL;
	struct ks_span spec = { .data = NULL, .len = 0 };
	struct ks_span nothing = spec;
	struct ks_id id;

	if (a->lookup == NULL || !ks_is_string(digest) ||
		!ks_id_parse(&id, ks_json_raw(digest)) ||
		!a->lookup(a->lookup_arg, &id, &kind, &spec))
		return nothing;
	return kind != NULL && (kind == wanted || kind == other) ? spec :
		nothing;
}

/*
 * OperationSpec.
 */

static bool
is_axis_character(uint8_t c, bool first)
{
	bool later = c == '_' || (c >= '0' && c <= '9');

	return (c >= 'a' && c <= 'z') || (later && !first);
}

/* Take the next axis name off an expression. False at the end. */
static bool
next_identifier(struct ks_span *rest, struct ks_span *name)
{
	size_t start = 0;
	size_t end;

	while (start < rest->len &&
		!is_axis_character(rest->data[start], true))
		start++;
	end = start;
	while (end < rest->len && is_axis_character(rest->data[end], false))
		end++;
	*name = ks_span(rest->data + start, end - start);
	*rest = ks_span(rest->data + end, rest->len - end);
	return name->len > 0;
}

static void
advise_expression(struct advice *a, struct ks_span axes, struct ks_span axis,
	struct ks_span expression)
{
	struct ks_span rest = ks_json_raw(expression);
	char shown[KS_QUOTE_ROOM], where[KS_QUOTE_ROOM];
	char path[KS_PATH_ROOM];
	struct ks_span name;

	if (!ks_shape_expression(rest))
		return;
	while (next_identifier(&rest, &name) && spend(a, axes.len)) {
		if (has_named(axes, name))
			continue;
		(void)snprintf(path, sizeof(path), "spec.axes.%s.expression",
			ks_quote_raw(where, axis));
		note(a, path, "names \"%s\", which is not a declared axis",
			ks_quote_raw(shown, name));
	}
}

static void
advise_operation(struct advice *a, struct ks_span spec)
{
	struct ks_span axes = member(spec, "axes");
	struct ks_json_iter it = ks_json_iter(axes);
	struct ks_span name, axis;

	while (ks_json_next_member(&it, &name, &axis)) {
		struct ks_span expression = member(axis, "expression");

		if (ks_json_is(member(axis, "role"), "derived") &&
			ks_is_string(expression))
			advise_expression(a, axes, name, expression);
	}
}

/*
 * Workloads.
 */

/* The axes that an operation declares, in canonical order. */
struct axis {
	struct ks_span name;
	bool is_variable;
	struct ks_span value;	/* of a constant one; else empty */
};

struct axes {
	struct axis *list;
	size_t count;
};

/* Read them once for all cases of a suite. False when memory runs out. */
static bool
read_axes(struct ks_span operation, struct axes *axes)
{
	struct ks_span declared = member(operation, "axes");
	struct ks_json_iter it = ks_json_iter(declared);
	struct ks_span name, axis;

	axes->count = 0;
	axes->list = malloc((ks_json_count(declared) + 1) *
		sizeof(axes->list[0]));
	if (axes->list == NULL)
		return false;
	while (ks_json_next_member(&it, &name, &axis)) {
		struct axis *next = &axes->list[axes->count++];
		struct ks_span role = member(axis, "role");

		next->name = name;
		next->is_variable = ks_json_is(role, "variable");
		next->value = ks_json_is(role, "constant") ?
			member(axis, "value") : ks_span(NULL, 0);
	}
	return true;
}

static void
note_unbound(struct advice *a, const struct axis *axis, const char *path)
{
	char shown[KS_QUOTE_ROOM];

	if (!axis->is_variable)
		return;
	(void)ks_quote_raw(shown, axis->name);
	note(a, path, "does not bind \"%s\", a variable axis of the "
		"operation", shown);
}

static void
note_undeclared(struct advice *a, struct ks_span name, const char *path)
{
	char shown[KS_QUOTE_ROOM];

	note(a, path, "binds \"%s\", which is not an axis of the operation",
		ks_quote_raw(shown, name));
}

static void
note_rebound(struct advice *a, const struct axis *axis, struct ks_span value,
	const char *path)
{
	char shown[KS_QUOTE_ROOM], is[KS_QUOTE_ROOM], must[KS_QUOTE_ROOM];

	if (axis->value.len == 0 || ks_span_equal(axis->value, value))
		return;
	note(a, path, "binds \"%s\" to %s, a constant axis of the operation "
		"with the value %s", ks_quote_raw(shown, axis->name),
		ks_quote_value(is, value), ks_quote_value(must, axis->value));
}

static bool
is_before(struct ks_span a, struct ks_span b)
{
	return !ks_span_equal(a, b) && ks_json_name_compare(a, b) < 0;
}

/* Compare what is declared with what is bound: a merge by name. */
static void
advise_axes(struct advice *a, const struct axes *axes, struct ks_span bound,
	const char *path)
{
	struct ks_json_iter it = ks_json_iter(bound);
	struct ks_span name, value;
	size_t i = 0;

	if (!spend(a, bound.len + axes->count * sizeof(axes->list[0])))
		return;
	while (ks_json_next_member(&it, &name, &value)) {
		while (i < axes->count && is_before(axes->list[i].name, name))
			note_unbound(a, &axes->list[i++], path);
		if (i < axes->count &&
			ks_span_equal(axes->list[i].name, name))
			note_rebound(a, &axes->list[i++], value, path);
		else
			note_undeclared(a, name, path);
	}
	while (i < axes->count)
		note_unbound(a, &axes->list[i++], path);
}

/* Whether the operation has a scalar input of that name. */
static bool
is_scalar_input(struct ks_span inputs, struct ks_span raw)
{
	struct ks_json_iter it = ks_json_iter(inputs);
	struct ks_span input;

	while (ks_json_next_element(&it, &input)) {
		if (ks_span_equal(ks_json_raw(member(input, "name")), raw) &&
			member(input, "scalar").len > 0)
			return true;
	}
	return false;
}

static void
advise_scalars(struct advice *a, struct ks_span operation,
	struct ks_span scalars)
{
	struct ks_span inputs = member(operation, "inputs");
	struct ks_json_iter given = ks_json_iter(scalars);
	struct ks_json_iter it = ks_json_iter(inputs);
	struct ks_span name, value, input;
	char shown[KS_QUOTE_ROOM];

	while (ks_json_next_member(&given, &name, &value) &&
		spend(a, inputs.len)) {
		if (!is_scalar_input(inputs, name))
			note(a, "spec.scalars", "has \"%s\", which is not a "
				"scalar input of the operation",
				ks_quote_raw(shown, name));
	}
	while (ks_json_next_element(&it, &input) && spend(a, scalars.len)) {
		name = member(input, "name");
		if (ks_is_string(name) && member(input, "scalar").len > 0 &&
			!has_named(scalars, ks_json_raw(name)))
			note(a, "spec.scalars", "gives no value to %s, a "
				"scalar input of the operation",
				ks_quote_value(shown, name));
	}
}

static struct ks_span
operation_of(struct advice *a, struct ks_span workload)
{
	return look_up(a, member(workload, "operationSpecDigest"),
		&ks_kind_operation_spec, NULL);
}

static void
advise_case(struct advice *a, struct ks_span spec)
{
	struct ks_span operation = operation_of(a, spec);
	struct axes axes;

	if (operation.len == 0)
		return;
	advise_scalars(a, operation, member(spec, "scalars"));
	if (!read_axes(operation, &axes))
		return;
	advise_axes(a, &axes, member(spec, "axes"), "spec.axes");
	free(axes.list);
}

static int
compare_spans(const void *a, const void *b)
{
	const struct ks_span *left = a;
	const struct ks_span *right = b;

	return ks_span_compare(*left, *right);
}

/* Say which of the sorted ids stand there more than once. */
static void
note_repeated(struct advice *a, const struct ks_span *ids, size_t count)
{
	char shown[KS_QUOTE_ROOM];
	size_t i, same;

	for (i = 0; i < count; i += same) {
		for (same = 1; i + same < count; same++) {
			if (!ks_span_equal(ids[i], ids[i + same]))
				break;
		}
		if (same > 1)
			note(a, "spec.cases", "has %zu cases with the "
				"externalId %s", same,
				ks_quote_value(shown, ids[i]));
	}
}

static void
advise_external_ids(struct advice *a, struct ks_span cases)
{
	size_t count = ks_json_count(cases);
	struct ks_json_iter it = ks_json_iter(cases);
	struct ks_span item;
	struct ks_span *ids;
	size_t used = 0;

	if (count < 2)
		return;
	ids = malloc(count * sizeof(ids[0]));
	if (ids == NULL)
		return;		/* advice may be left out */
	while (used < count && ks_json_next_element(&it, &item)) {
		ids[used] = member(item, "externalId");
		if (ks_is_string(ids[used]))
			used++;
	}
	qsort(ids, used, sizeof(ids[0]), compare_spans);
	note_repeated(a, ids, used);
	free(ids);
}

static void
advise_suite(struct advice *a, struct ks_span spec)
{
	struct ks_span cases = member(spec, "cases");
	struct ks_span operation = operation_of(a, spec);
	struct ks_json_iter it = ks_json_iter(cases);
	struct ks_span item;
	struct axes axes;
	char path[KS_PATH_ROOM];
	size_t index;

	advise_external_ids(a, cases);
	if (operation.len == 0 || !read_axes(operation, &axes))
		return;
	for (index = 0; ks_json_next_element(&it, &item); index++) {
		if (a->stopped)
			break;
		(void)snprintf(path, sizeof(path), "spec.cases[%zu].axes",
			index);
		advise_axes(a, &axes, member(item, "axes"), path);
	}
	free(axes.list);
}

/*
 * BenchmarkRun.
 */

/* What the rules look at, of a run and of the records that it binds. What is
 * not at hand is empty. */
struct run {
	struct ks_span workload, implementation, protocol, environment;
	struct ks_span comparator, workload_comparator, protocol_comparator;
	struct ks_span workload_operation, implementation_operation;
	struct ks_span architecture, architectures;
	struct ks_span product, products;
	struct ks_span primary, protocol_primary;
	struct ks_span latency;
};

/* Look up the four records that a run binds and pick its own parts. */
static void
read_run(struct advice *a, struct ks_span spec, struct run *run)
{
	struct ks_span correctness, environment, implementation, protocol;
	struct ks_span timing, workload;
	const struct wanted parts[] = {
		{ "correctness", &correctness },
		{ "environmentDigest", &environment },
		{ "implementationDigest", &implementation },
		{ "protocolDigest", &protocol },
		{ "timing", &timing },
		{ "workloadDigest", &workload },
	};
	const struct wanted timing_parts[] = {
		{ "latencyNs", &run->latency },
		{ "primaryStatistic", &run->primary },
	};

	PICK(spec, parts);
	PICK(timing, timing_parts);
	run->comparator = member(correctness, "comparator");
	run->workload = look_up(a, workload, &ks_kind_workload_case,
		&ks_kind_workload_suite);
	run->implementation = look_up(a, implementation,
		&ks_kind_implementation_revision, NULL);
	run->protocol = look_up(a, protocol, &ks_kind_benchmark_protocol,
		NULL);
	run->environment = look_up(a, environment,
		&ks_kind_execution_environment, NULL);
}

static void
read_workload_and_protocol(struct run *run)
{
	struct ks_span correctness, measurement;
	const struct wanted workload_parts[] = {
		{ "correctness", &correctness },
		{ "operationSpecDigest", &run->workload_operation },
	};
	const struct wanted protocol_parts[] = {
		{ "correctness", &correctness },
		{ "measurement", &measurement },
	};

	PICK(run->workload, workload_parts);
	run->workload_comparator = member(correctness, "comparator");
	PICK(run->protocol, protocol_parts);
	run->protocol_comparator = member(correctness, "comparator");
	run->protocol_primary = member(measurement, "primaryStatistic");
}

static void
read_implementation_and_environment(struct run *run)
{
	struct ks_span operation, support;
	const struct wanted parts[] = {
		{ "operation", &operation },
		{ "support", &support },
	};
	const struct wanted support_parts[] = {
		{ "hardwareArchitectures", &run->architectures },
		{ "productsTested", &run->products },
	};
	const struct wanted hardware_parts[] = {
		{ "architecture", &run->architecture },
		{ "product", &run->product },
	};

	PICK(run->implementation, parts);
	PICK(support, support_parts);
	PICK(member(run->environment, "hardware"), hardware_parts);
	run->implementation_operation = member(operation, "specDigest");
}

/* Both are known, and they differ. */
static bool
differ(struct ks_span a, struct ks_span b)
{
	return a.len > 0 && b.len > 0 && !ks_span_equal(a, b);
}

static void
advise_comparators(struct advice *a, const struct run *run)
{
	char is[KS_QUOTE_ROOM], other[KS_QUOTE_ROOM];

	if (differ(run->protocol_comparator, run->workload_comparator))
		note(a, "spec.protocolDigest", "is of a protocol with the "
			"comparator %s, but the workload's is %s",
			ks_quote_value(is, run->protocol_comparator),
			ks_quote_value(other, run->workload_comparator));
	if (differ(run->comparator, run->workload_comparator))
		note(a, "spec.correctness.comparator",
			"is %s, but the workload's is %s",
			ks_quote_value(is, run->comparator),
			ks_quote_value(other, run->workload_comparator));
}

/* Both are known, and the list does not have the value. An empty list says
 * nothing. */
static bool
lacks(struct ks_span list, struct ks_span value)
{
	return ks_json_count(list) > 0 && value.len > 0 &&
		!has_element(list, value);
}

static void
advise_support(struct advice *a, const struct run *run)
{
	char shown[KS_QUOTE_ROOM];

	if (lacks(run->architectures, run->architecture))
		note(a, "spec.environmentDigest", "is of an environment with "
			"the architecture %s, which the implementation does "
			"not list", ks_quote_value(shown, run->architecture));
	if (lacks(run->products, run->product))
		note(a, "spec.environmentDigest", "is of an environment with "
			"the product %s, which the implementation does not "
			"list as tested", ks_quote_value(shown, run->product));
}

static const char latency_path[] = "spec.timing.latencyNs";

/* A statistic of latency, and its value where the run has it. */
struct statistic {
	const char *name;
	int64_t value;
	bool known;
};

static void
advise_order(struct advice *a, const struct statistic *low,
	const struct statistic *high)
{
	if (low->known && high->known && low->value > high->value)
		note(a, latency_path, "has a %s of %lld above its %s of %lld",
			low->name, (long long)low->value, high->name,
			(long long)high->value);
}

/* minimum <= p05 <= median <= p95 <= maximum, and the mean inside. */
static void
advise_latency(struct advice *a, struct ks_span latency)
{
	struct ks_span maximum, mean, median, minimum, p05, p95;
	const struct wanted parts[] = {
		{ "maximum", &maximum }, { "mean", &mean },
		{ "median", &median }, { "minimum", &minimum },
		{ "p05", &p05 }, { "p95", &p95 },
	};
	struct statistic center = { .name = "mean" };
	struct statistic ascending[] = {
		{ .name = "minimum" }, { .name = "p05" },
		{ .name = "median" }, { .name = "p95" },
		{ .name = "maximum" },
	};
	const struct ks_span *const values[] = {
		&minimum, &p05, &median, &p95, &maximum
	};
	const size_t count = sizeof(ascending) / sizeof(ascending[0]);
	const struct statistic *last = &ascending[0];
	size_t i;

	PICK(latency, parts);
	center.known = ks_json_integer(mean, &center.value);
	for (i = 0; i < count; i++) {
		struct statistic *next = &ascending[i];

		next->known = ks_json_integer(*values[i], &next->value);
		if (!next->known)
			continue;
		advise_order(a, last, next);
		last = next;
	}
	advise_order(a, &ascending[0], &center);
	advise_order(a, &center, &ascending[count - 1]);
}

static void
advise_timing(struct advice *a, const struct run *run)
{
	char shown[KS_QUOTE_ROOM], other[KS_QUOTE_ROOM];

	advise_latency(a, run->latency);
	if (!ks_is_string(run->primary))
		return;
	(void)ks_quote_value(shown, run->primary);
	(void)ks_quote_value(other, run->protocol_primary);
	if (!has_named(run->latency, ks_json_raw(run->primary)))
		note(a, latency_path, "has no member for the primary "
			"statistic, %s", shown);
	if (differ(run->primary, run->protocol_primary))
		note(a, "spec.timing.primaryStatistic",
			"is %s, but the protocol's is %s", shown, other);
}

static void
advise_run(struct advice *a, struct ks_span spec)
{
	struct run run;

	read_run(a, spec, &run);
	read_workload_and_protocol(&run);
	read_implementation_and_environment(&run);
	if (differ(run.workload_operation, run.implementation_operation))
		note(a, "spec.implementationDigest", "is of an implementation "
			"for another operation than the workload's");
	advise_comparators(a, &run);
	advise_support(a, &run);
	advise_timing(a, &run);
}

void
ks_kind_advise(const struct ks_kind *kind, struct ks_span spec,
	ks_kind_lookup_fn *lookup, void *lookup_arg, ks_finding_fn *report,
	void *arg)
{
	struct advice a = {
		.lookup = lookup,
		.lookup_arg = lookup_arg,
		.report = report,
		.arg = arg,
		.budget = BUDGET,
	};

	if (kind == &ks_kind_operation_spec)
		advise_operation(&a, spec);
	else if (kind == &ks_kind_workload_case)
		advise_case(&a, spec);
	else if (kind == &ks_kind_workload_suite)
		advise_suite(&a, spec);
	else if (kind == &ks_kind_benchmark_run)
		advise_run(&a, spec);
}
