/*
 * The receipt of a put: its objects while they are few, and counts by kind.
 */
#ifndef KS_CLI_RECEIPT_H
#define KS_CLI_RECEIPT_H

#include "cli/cmd.h"

struct ks_receipt;

struct ks_receipt *ks_receipt_new(void);
void ks_receipt_free(struct ks_receipt *receipt);

/* Take in one object: a ks_put_fn. */
void ks_receipt_add(void *arg, const struct ks_put_object *object);

/* A line an object, or beyond 100 a line a kind and one for all. */
void ks_receipt_print(struct ks_receipt *receipt);

/* The same as one document, with everything that the put counted. */
enum ks_status ks_receipt_print_json(struct ks_receipt *receipt,
	const struct ks_put_result *result, bool dry_run,
	struct ks_error *err) KS_CHECKED;

#endif
