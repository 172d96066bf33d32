/*
 * What lines refer to by their provenance, where it came later (R22): replay
 * judges the kind of what is there already.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "format/kind.h"
#include "store/verify.h"

static bool
is_unpublished(struct ks_replay *replay, const struct ks_id *digest)
{
	return ks_replay_find(replay, digest) == KS_NO_OBJECT;
}

enum ks_status
ks_verify_claims_keep(struct ks_verify_claims *claims,
	struct ks_replay *replay, const struct ks_provenance *names,
	struct ks_error *err)
{
	struct ks_verify_claim *grown;

	if ((!names->has_source || !is_unpublished(replay, &names->source)) &&
		(!names->has_project ||
		!is_unpublished(replay, &names->project)))
		return KS_OK;
	grown = ks_grow(claims->list, claims->count, &claims->room,
		sizeof(*grown), err);
	if (grown == NULL)
		return KS_NOMEM;
	claims->list = grown;
	grown[claims->count++] = (struct ks_verify_claim){
		ks_replay_tree(replay)->size - 1, *names };
	return KS_OK;
}

void
ks_verify_claims_release(struct ks_verify_claims *claims)
{
	free(claims->list);
	memset(claims, 0, sizeof(*claims));
}

static void
check_target(struct ks_verifying *verifying, uint64_t index,
	const char *member, const struct ks_id *target, const char *wanted)
{
	struct ks_replay *replay = verifying->replay;
	uint32_t number = ks_replay_find(replay, target);
	struct ks_span kind;
	char message[160];

	if (number == KS_NO_OBJECT)
		return;
	kind = ks_replay_kind(replay, ks_replay_object(replay, number)->kind);
	if (kind.len == 0 || ks_span_is(kind, wanted))
		return;
	(void)snprintf(message, sizeof(message),
		"provenance.%s is not of kind %s (R22)", member, wanted);
	ks_verify_report_line(verifying, index, message);
}

void
ks_verify_claims_check(const struct ks_verify_claims *claims,
	struct ks_verifying *verifying)
{
	size_t i;

	for (i = 0; i < claims->count; i++) {
		const struct ks_verify_claim *claim = &claims->list[i];

		if (claim->names.has_source)
			check_target(verifying, claim->index, "source",
				&claim->names.source, KS_API_KISTORE
				"/Source");
		if (claim->names.has_project)
			check_target(verifying, claim->index, "project",
				&claim->names.project, KS_API_KERNELINDEX
				"/SoftwareProject");
	}
}
