#include "format/citetext.h"

#include "format/permalink.h"
#include "format/kind.h"

/* The last three sentences, which say what and where the record is. */
static void
append_record(struct ks_buf *out, const struct ks_cited *cited,
	const char *what, const char *kind)
{
	char digest[KS_ID_TEXT + 1];
	struct ks_span name = cited->id;

	(void)ks_id_print(&cited->digest, digest);
	ks_buf_printf(out, " KernelIndex %s ", what);
	if (name.len == 0)
		name = ks_span_text(digest);
	else {
		ks_buf_append(out, name);
		ks_buf_text(out, ", ");
	}
	ks_buf_printf(out, "%s. ", digest);
	ks_permalink_print(out, kind, name);
	ks_buf_text(out, ". Accessed ");
	ks_buf_append(out, cited->accessed);
	ks_buf_byte(out, '.');
}

/* "A · B, C." */
static void
append_subject(struct ks_buf *out, struct ks_span a, struct ks_span b,
	struct ks_span c)
{
	ks_buf_append(out, a);
	ks_buf_text(out, " · ");
	ks_buf_append(out, b);
	ks_buf_text(out, ", ");
	ks_buf_append(out, c);
	ks_buf_byte(out, '.');
}

void
ks_citetext_run(struct ks_buf *out, const struct ks_cited *cited,
	const struct ks_cited_run *run)
{
	append_subject(out, run->implementation, run->operation,
		run->workload);
	ks_buf_byte(out, ' ');
	ks_buf_append(out, run->primary);
	ks_buf_text(out, " (");
	ks_buf_append(out, run->statistic);
	ks_buf_text(out, "). Reported by ");
	ks_buf_append(out, run->source);
	ks_buf_byte(out, '.');
	append_record(out, cited, "run", KS_API_KERNELINDEX "/BenchmarkRun");
}

void
ks_citetext_serving(struct ks_buf *out, const struct ks_cited *cited,
	const struct ks_cited_serving *run)
{
	append_subject(out, run->summary, run->model, run->workload);
	if (run->value.len > 0) {
		ks_buf_byte(out, ' ');
		ks_buf_append(out, run->value);
		ks_buf_text(out, " (");
		ks_buf_append(out, run->metric);
		ks_buf_text(out, ", ");
		ks_buf_append(out, run->statistic);
		ks_buf_text(out, ").");
	}
	ks_buf_byte(out, ' ');
	ks_buf_append(out, run->attribution);
	ks_buf_byte(out, '.');
	append_record(out, cited, "serving run", KS_API_KERNELINDEX
		"/ServingRun");
}
