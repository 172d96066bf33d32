#include "format/label.h"

#include <stdlib.h>

#include "format/json.h"
#include "format/readout.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Separates the parts of labels, and the segments of titles. */
#define DOT " · "

/* Begin a part of the label that began at `start`. */
static void
begin_part(struct ks_buf *out, size_t start)
{
	if (out->len > start)
		ks_buf_text(out, DOT);
}

static uint8_t
lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

static uint8_t
upper(uint8_t c)
{
	return c >= 'a' && c <= 'z' ? (uint8_t)(c - 'a' + 'A') : c;
}

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* The next piece of `rest` and what separates it from the one after, which
 * are taken off; false when there is none. A text that ends in a separator
 * has an empty piece last. */
static bool
next_piece(struct ks_span *rest, const char *separator, struct ks_span *piece)
{
	size_t len = strlen(separator);
	size_t n = 0;

	if (rest->data == NULL)
		return false;
	while (rest->len - n >= len && memcmp(rest->data + n, separator,
			len) != 0)
		n++;
	if (rest->len - n < len) {
		*piece = *rest;
		*rest = ks_span(NULL, 0);
		return true;
	}
	*piece = ks_span(rest->data, n);
	*rest = ks_span(rest->data + n + len, rest->len - n - len);
	return true;
}

/* Dtypes. */

#define DTYPES_NAMED 3

static int
compare_raw(const void *a, const void *b)
{
	return ks_json_name_compare(*(const struct ks_span *)a,
		*(const struct ks_span *)b);
}

/* Put the distinct dtypes of `tensors`, sorted, into `list`, which has room
 * for one per tensor; returns how many. */
static size_t
collect_dtypes(struct ks_span tensors, struct ks_span *list)
{
	struct ks_json_iter it = ks_json_iter(tensors);
	struct ks_span name, tensor;
	size_t found = 0;
	size_t kept = 0;
	size_t i;

	while (ks_json_next_member(&it, &name, &tensor)) {
		list[found] = ks_json_get_raw(tensor, "dtype");
		if (list[found].len > 0)
			found++;
	}
	qsort(list, found, sizeof(*list), compare_raw);
	for (i = 0; i < found; i++)
		if (kept == 0 || !ks_span_equal(list[i], list[kept - 1]))
			list[kept++] = list[i];
	return kept;
}

/* Whether a dtype is that of indexes and masks more than of numbers. */
static bool
is_minor(struct ks_span dtype)
{
	return ks_span_begins(dtype, "int") || ks_span_begins(dtype, "uint") ||
		ks_span_begins(dtype, "index") || ks_span_is(dtype, "bool");
}

/* Take out the minor ones, unless all are; returns how many are left. */
static size_t
drop_minor(struct ks_span *list, size_t count)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (!is_minor(list[i]))
			list[kept++] = list[i];
	return kept == 0 ? count : kept;
}

static void
append_dtype(struct ks_buf *out, struct ks_span dtype)
{
	if (ks_span_is(dtype, "float4_e2m1fn_x2"))
		ks_buf_text(out, "fp4");
	else
		ks_json_unescape(out, dtype);
}

void
ks_label_dtypes(struct ks_buf *out, struct ks_span tensors)
{
	struct ks_span *list = calloc(ks_json_count(tensors) + 1,
		sizeof(*list));
	size_t count, i;

	if (list == NULL) {
		out->failed = true;
		return;
	}
	count = drop_minor(list, collect_dtypes(tensors, list));
	for (i = 0; i < count && i < DTYPES_NAMED; i++) {
		if (i > 0)
			ks_buf_byte(out, '/');
		append_dtype(out, list[i]);
	}
	if (count > DTYPES_NAMED)
		ks_buf_printf(out, " +%zu", count - DTYPES_NAMED);
	free(list);
}

/* Workloads. */

static void
append_axes(struct ks_buf *out, size_t start, struct ks_span axes)
{
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(axes, &members, &count)) {
		out->failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		begin_part(out, start);
		ks_json_unescape(out, members[i].name);
		ks_buf_text(out, " = ");
		ks_buf_append(out, members[i].value);
	}
	free(members);
}

static void
append_case(struct ks_buf *out, struct ks_span spec)
{
	size_t start = out->len;
	size_t before, after;

	append_axes(out, start, ks_json_get(spec, "axes"));
	before = out->len;
	begin_part(out, start);
	after = out->len;
	ks_label_dtypes(out, ks_json_get(spec, "tensors"));
	if (out->len == after)
		out->len = before;	/* no dtypes, no separator */
}

static void
append_suite(struct ks_buf *out, struct ks_span spec)
{
	struct ks_span aggregation = ks_json_get(spec, "aggregation");
	struct ks_span words[] = {
		ks_json_get_raw(aggregation, "statistic"),
		ks_json_get_raw(aggregation, "metric"),
	};
	const char *separator = DOT;
	size_t i;

	ks_buf_printf(out, "suite of %zu cases",
		ks_json_count(ks_json_get(spec, "cases")));
	for (i = 0; i < COUNT(words); i++) {
		if (words[i].len == 0 || ks_span_is(words[i], "unspecified"))
			continue;
		ks_buf_text(out, separator);
		ks_json_unescape(out, words[i]);
		separator = " ";
	}
}

void
ks_label_workload(struct ks_buf *out, struct ks_span body)
{
	struct ks_span spec = ks_json_get(body, "spec");

	if (ks_json_is(ks_json_get(body, "kind"), "WorkloadSuite"))
		append_suite(out, spec);
	else
		append_case(out, spec);
}

/* Operations. */

/* Technical words in their usual case. */
static const char *const technical[] = {
	"AMD", "GPU", "GIT", "NHWC", "VAE", "UNet", "LM", "MTP", "SAM", "GRN",
	"SSM", "FFN", "FFT", "RFFT", "FP8", "FP16", "FP32", "BF16", "INT8",
	"INT4", "NVFP4", "MXFP4", "GEMM", "GEMV", "QR", "PMPP", "Cholesky",
	"Trimul", "MLP", "MoE", "MLA", "GQA", "KV", "QKV", "QK", "RMS", "IoU",
	"GELU", "GeGLU", "SiLU", "SwiGLU", "RMSNorm", "LayerNorm", "GroupNorm",
	"RoPE", "YaRN", "Mamba", "Mamba2", "ConvNeXtV2", "ResNet", "Whisper",
	"Hyena", "Conformer"
};

static bool
equals_in_any_case(struct ks_span word, const char *text)
{
	size_t i;

	if (word.len != strlen(text))
		return false;
	for (i = 0; i < word.len; i++)
		if (lower(word.data[i]) != lower((uint8_t)text[i]))
			return false;
	return true;
}

/* The usual form of a technical word; NULL for others. */
static const char *
find_technical(struct ks_span word)
{
	size_t i;

	for (i = 0; i < COUNT(technical); i++)
		if (equals_in_any_case(word, technical[i]))
			return technical[i];
	return NULL;
}

static bool
is_lower_case(struct ks_span word)
{
	size_t i;

	for (i = 0; i < word.len; i++)
		if (lower(word.data[i]) != word.data[i])
			return false;
	return true;
}

static void
append_word(struct ks_buf *out, struct ks_span word, bool first)
{
	const char *usual = find_technical(word);

	if (usual != NULL) {
		ks_buf_text(out, usual);
	} else if (first && word.len > 0 && is_lower_case(word)) {
		ks_buf_byte(out, upper(word.data[0]));
		ks_buf_append(out, ks_span(word.data + 1, word.len - 1));
	} else {
		ks_buf_append(out, word);
	}
}

/* The text without a number and "_" in front of it. */
static struct ks_span
skip_number(struct ks_span text)
{
	size_t n = 0;

	while (n < text.len && is_digit(text.data[n]))
		n++;
	if (n == 0 || n == text.len || text.data[n] != '_')
		return text;
	return ks_span(text.data + n + 1, text.len - n - 1);
}

static void
append_words(struct ks_buf *out, struct ks_span text)
{
	struct ks_span rest = skip_number(text);
	struct ks_span word;
	bool first = true;

	for (; next_piece(&rest, "_", &word); first = false) {
		if (!first)
			ks_buf_byte(out, ' ');
		append_word(out, word, first);
	}
}

void
ks_label_operation(struct ks_buf *out, struct ks_span metadata)
{
	struct ks_span raw = ks_json_get_raw(metadata, "title");
	struct ks_buf text = KS_BUF_INIT;

	if (raw.len == 0)
		raw = ks_json_get_raw(metadata, "name");
	ks_json_unescape(&text, raw);
	if (text.failed)
		out->failed = true;
	else if (text.len > 0 && memchr(text.data, ' ', text.len) != NULL)
		ks_buf_append(out, ks_buf_span(&text));
	else
		append_words(out, ks_buf_span(&text));
	ks_buf_release(&text);
}

/* Implementations. */

/* A shorter name of the operation is not looked for inside a segment. */
#define TELLING 6

static bool
is_gap(uint8_t c)
{
	return c == '_' || ks_span_is_space(c);
}

/* Append the form in which texts are compared: lower case, with one "-" for
 * each run of "_" and blanks. */
static void
fold(struct ks_buf *out, struct ks_span text)
{
	size_t i;

	text = ks_span_trim(text);
	for (i = 0; i < text.len; i++) {
		if (!is_gap(text.data[i]))
			ks_buf_byte(out, lower(text.data[i]));
		else if (i == 0 || !is_gap(text.data[i - 1]))
			ks_buf_byte(out, '-');
	}
}

/* What an implementation's title is compared with: the operation's label,
 * folded, and its slug. */
struct operation {
	struct ks_buf label;
	struct ks_buf slug;
};

static void
read_operation(struct operation *operation, struct ks_span metadata)
{
	struct ks_buf label = KS_BUF_INIT;

	ks_label_operation(&label, metadata);
	fold(&operation->label, ks_buf_span(&label));
	operation->label.failed |= label.failed;
	ks_json_unescape(&operation->slug, ks_json_get_raw(metadata, "name"));
	ks_buf_release(&label);
}

static bool
ends_with(struct ks_span text, struct ks_span end)
{
	return text.len >= end.len && ks_span_equal(end,
		ks_span(text.data + (text.len - end.len), end.len));
}

static bool
contains(struct ks_span text, struct ks_span part)
{
	for (; text.len >= part.len; text.len--)
		if (ends_with(text, part))
			return true;
	return false;
}

/* Whether a folded segment is `name`, or tells it among other things. */
static bool
tells(struct ks_span segment, struct ks_span name)
{
	return ks_span_equal(segment, name) ||
		(name.len >= TELLING && contains(segment, name));
}

/* Whether a folded segment is the slug's last words. */
static bool
ends_slug(struct ks_span segment, struct ks_span slug)
{
	return slug.len > segment.len && ends_with(slug, segment) &&
		slug.data[slug.len - segment.len - 1] == '-';
}

static bool
repeats(const struct operation *operation, struct ks_span segment)
{
	struct ks_span slug = ks_buf_span(&operation->slug);

	return segment.len == 0 || ends_slug(segment, slug) ||
		tells(segment, ks_buf_span(&operation->label)) ||
		tells(segment, slug);
}

static void
append_segments(struct ks_buf *out, struct ks_span title,
	const struct operation *operation)
{
	struct ks_buf folded = KS_BUF_INIT;
	size_t start = out->len;
	struct ks_span segment;

	while (next_piece(&title, DOT, &segment)) {
		ks_buf_clear(&folded);
		fold(&folded, segment);
		out->failed |= folded.failed;
		if (repeats(operation, ks_buf_span(&folded)))
			continue;
		begin_part(out, start);
		ks_buf_append(out, ks_span_trim(segment));
	}
	ks_buf_release(&folded);
}

void
ks_label_implementation(struct ks_buf *out, struct ks_span metadata,
	struct ks_span slug, struct ks_span operation_metadata)
{
	struct operation operation = { KS_BUF_INIT, KS_BUF_INIT };
	struct ks_buf title = KS_BUF_INIT;
	size_t start = out->len;

	read_operation(&operation, operation_metadata);
	ks_json_unescape(&title, ks_json_get_raw(metadata, "title"));
	append_segments(out, ks_buf_span(&title), &operation);
	out->failed |= title.failed || operation.label.failed ||
		operation.slug.failed;
	if (out->len == start)
		ks_json_unescape(out, slug.len > 0 ? slug :
			ks_json_get_raw(metadata, "name"));
	ks_buf_release(&title);
	ks_buf_release(&operation.label);
	ks_buf_release(&operation.slug);
}

/* The source's metrics. */

/* A member that is a number, or an empty span. */
static struct ks_span
find_number(struct ks_span object, const char *name)
{
	struct ks_span value = ks_json_get(object, name);

	return ks_json_type(value) == KS_JSON_NUMBER ? value :
		ks_span(NULL, 0);
}

static void
append_score(struct ks_buf *out, struct ks_span metrics)
{
	struct ks_span score = find_number(metrics, "sol_score");

	if (score.len == 0)
		return;
	ks_buf_text(out, "SOL ");
	ks_readout_fixed(out, ks_json_double(score), 4);
}

static void
append_speedup(struct ks_buf *out, size_t start, struct ks_span metrics)
{
	struct ks_span speedup = find_number(metrics, "avg_speedup");

	if (speedup.len == 0)
		speedup = find_number(metrics, "speedup_factor");
	if (speedup.len == 0)
		return;
	begin_part(out, start);
	ks_readout_fixed(out, ks_json_double(speedup), 2);
	ks_buf_text(out, "× reference");
}

/* Whether the cases that were faster are told in one part; they are when both
 * numbers are there. */
static bool
has_cases(struct ks_span metrics)
{
	return find_number(metrics, "fast_1_count").len > 0 &&
		find_number(metrics, "fast_1_total").len > 0;
}

static void
append_cases(struct ks_buf *out, size_t start, struct ks_span metrics)
{
	if (!has_cases(metrics))
		return;
	begin_part(out, start);
	ks_buf_append(out, find_number(metrics, "fast_1_count"));
	ks_buf_byte(out, '/');
	ks_buf_append(out, find_number(metrics, "fast_1_total"));
	ks_buf_text(out, " cases faster");
}

/* Whether a metric has a part of its own, or none. */
static bool
is_special(struct ks_span name, bool with_cases)
{
	static const char *const names[] = { "sol_score", "avg_speedup",
		"speedup_factor", "latency_ms", "reference_latency_ms" };
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		if (ks_span_is(name, names[i]))
			return true;
	return with_cases && (ks_span_is(name, "fast_1_count") ||
		ks_span_is(name, "fast_1_total"));
}

/* Append a name with blanks for "_". */
static void
append_spaced(struct ks_buf *out, struct ks_span raw)
{
	size_t i = out->len;

	ks_json_unescape(out, raw);
	for (; i < out->len; i++)
		if (out->data[i] == '_')
			out->data[i] = ' ';
}

static void
append_others(struct ks_buf *out, size_t start, struct ks_span metrics)
{
	bool with_cases = has_cases(metrics);
	struct ks_json_member *members;
	size_t count, i;

	if (!ks_json_list_jsonb(metrics, &members, &count)) {
		out->failed = true;
		return;
	}
	for (i = 0; i < count; i++) {
		if (ks_json_type(members[i].value) != KS_JSON_NUMBER ||
			is_special(members[i].name, with_cases))
			continue;
		begin_part(out, start);
		append_spaced(out, members[i].name);
		ks_buf_byte(out, ' ');
		ks_buf_append(out, members[i].value);
	}
	free(members);
}

void
ks_label_metrics(struct ks_buf *out, struct ks_span metrics)
{
	size_t start = out->len;

	append_score(out, metrics);
	append_speedup(out, start, metrics);
	append_cases(out, start, metrics);
	append_others(out, start, metrics);
}

/* Environments. */

void
ks_label_environment(struct ks_buf *out, struct ks_span environment,
	struct ks_span protocol)
{
	struct ks_span software = ks_json_get(environment, "software");
	struct ks_span cuda = ks_json_get_raw(software, "cudaToolkit");
	struct ks_span framework = ks_json_get(software, "framework");
	struct ks_span harness = ks_json_get_raw(
		ks_json_get(protocol, "harness"), "name");
	size_t start = out->len;

	if (cuda.len > 0) {
		ks_buf_text(out, "CUDA ");
		ks_json_unescape(out, cuda);
	}
	if (ks_json_type(framework) == KS_JSON_OBJECT) {
		begin_part(out, start);
		ks_json_unescape(out, ks_json_get_raw(framework, "name"));
		ks_buf_byte(out, ' ');
		ks_json_unescape(out, ks_json_get_raw(framework, "version"));
	}
	if (harness.len > 0) {
		begin_part(out, start);
		ks_json_unescape(out, harness);
	}
}
