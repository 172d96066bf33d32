/*
 * Options that choose records: one for each field of the library's table that
 * can be filtered by (ks_list_field()), and the marks.
 *
 *	struct ks_cli_filters filters;
 *	struct ks_opt options[KS_FILTER_OPTIONS + 2];
 *	size_t count = 0;
 *
 *	options[count++] = (struct ks_opt)KS_FLAG(...);
 *	ks_cli_filters_init(&filters, options, &count);
 *	if (!ks_opt_parse(cli, options, count, &status, err)) ...
 *	status = ks_cli_filters_take(&filters, &list, err);
 *	...
 *	ks_cli_filters_release(&filters);
 */
#ifndef KS_CLI_FILTER_H
#define KS_CLI_FILTER_H

#include "cli/opt.h"

/* Fields at most, which need not all be options, and options: the marks, too.
 */
#define KS_FILTER_FIELDS 96
#define KS_FILTER_OPTIONS 48

struct ks_cli_filters {
	struct ks_opt_list lists[KS_FILTER_FIELDS];
	bool retracted, no_retracted, superseded, no_superseded;
	struct ks_list_filter *filters;
};

/* Append the options, whose targets are in *filters. */
void ks_cli_filters_init(struct ks_cli_filters *filters,
	struct ks_opt *options, size_t *count);

/* What was given, for the library. KS_USAGE when marks contradict. */
enum ks_status ks_cli_filters_take(struct ks_cli_filters *filters,
	struct ks_list_options *out, struct ks_error *err) KS_CHECKED;
void ks_cli_filters_release(struct ks_cli_filters *filters);

#endif
