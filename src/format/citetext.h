/*
 * Citation texts: what KernelIndex's pages give to copy, in sentences that are
 * joined by a blank.
 *
 *	NAME · OPERATION, WORKLOAD. PRIMARY (STATISTIC). Reported by SOURCE.
 *	KernelIndex run ID, DIGEST. https://kernelindex.com/runs/ID.
 *	Accessed DATE.
 *
 * What a text says follows from the record, from those that it refers to, and
 * from what the log says of them. It is the same whether these come from a
 * store or from a citation file: this is the only place where it is made.
 *
 *	struct ks_citetext text = KS_CITETEXT_INIT;
 *
 *	ks_citetext_compose(&text, &record, find, arg);
 *	ks_citetext_print(&text, accessed, &out);
 *	ks_citetext_release(&text);
 *
 * Texts are UTF-8, unescaped. Failure is sticky, as with ks_buf, and becomes
 * that of what is printed.
 */
#ifndef KS_FORMAT_CITETEXT_H
#define KS_FORMAT_CITETEXT_H

#include "format/naming.h"

/* The parts of a citation. Empty ones are left out. */
struct ks_citetext {
	struct ks_id digest;
	struct ks_buf subject;	/* "NAME · OPERATION, WORKLOAD" */
	struct ks_buf finding;	/* "621.5 µs (median)" */
	struct ks_buf credit;	/* "Reported by SOURCE" */
	struct ks_buf reporter;	/* "SOURCE" */
	struct ks_buf what;	/* "KernelIndex run" */
	struct ks_buf id;	/* KernelIndex's; where there is none the
				 * digest stands alone */
	struct ks_buf link;	/* the permalink, by id or digest */
	char issued[11];	/* the day of publication, as the publisher
				 * claims it, or of observation: YYYY-MM-DD;
				 * "" = none */
};

#define KS_CITETEXT_INIT { .subject = KS_BUF_INIT, .finding = KS_BUF_INIT, \
	.credit = KS_BUF_INIT, .reporter = KS_BUF_INIT, .what = KS_BUF_INIT, \
	.id = KS_BUF_INIT, .link = KS_BUF_INIT }

/* Fill the parts for a record of any kind; `find` knows those that it refers
 * to. A BenchmarkRun or ServingRun is cited as KernelIndex does; any other
 * record by its name and kind. */
void ks_citetext_compose(struct ks_citetext *out,
	const struct ks_named *record, ks_named_fn *find, void *arg);
void ks_citetext_release(struct ks_citetext *text);

/* Append the text. */
void ks_citetext_print(const struct ks_citetext *text,
	struct ks_span accessed, struct ks_buf *out);

/* Whether `text` is a day, YYYY-MM-DD, that there is. */
bool ks_citetext_is_day(struct ks_span text);

#endif
