#include "cli/ref.h"

#include "cli/out.h"

const char *
ks_ref_short(const struct ks_id *digest, char out[KS_ID_HEX + 1])
{
	(void)ks_id_print_hex(digest, out);
	out[KS_REF_DIGITS] = '\0';
	return out;
}

const char *
ks_ref_kind(const char *kind)
{
	const char *slash = strrchr(kind, '/');

	return slash == NULL ? kind : slash + 1;
}

/* "c3252a98ba48 BenchmarkRun name, "title", 621.5 µs median · 2024-09-03 (by
 * id prefix; retracted)" */
static void
describe(struct ks_buf *out, const struct ks_match *match)
{
	char digits[KS_ID_HEX + 1];

	ks_buf_printf(out, "%s %s", ks_ref_short(&match->digest, digits),
		match->kind[0] == '\0' ? "-" : ks_ref_kind(match->kind));
	if (match->name[0] != '\0')
		ks_buf_printf(out, " %s", match->name);
	if (match->title[0] != '\0')
		ks_buf_printf(out, ", \"%s\"", match->title);
	if (match->particulars[0] != '\0')
		ks_buf_printf(out, ", %s", match->particulars);
	ks_buf_printf(out, " (by %s%s%s%s)", match->reading,
		match->retracted ? "; retracted" : "",
		match->superseded ? "; superseded" : "",
		match->taken_down ? "; taken down" : "");
}

void
ks_ref_add(struct ks_ref *ref, const struct ks_match *match)
{
	ref->digest = match->digest;
	ref->retracted = match->retracted;
	ref->superseded = match->superseded;
	ref->taken_down = match->taken_down;
	describe(&ref->candidates, match);
	ks_buf_byte(&ref->candidates, 0);
}

void
ks_ref_list(struct ks_cli *cli, const struct ks_ref *ref)
{
	size_t at = 0;

	while (at < ref->candidates.len && !ref->candidates.failed) {
		const char *text = (const char *)ref->candidates.data + at;

		ks_out_message(cli, "candidate: %s", text);
		at += strlen(text) + 1;
	}
}

void
ks_ref_release(struct ks_ref *ref)
{
	ks_buf_release(&ref->candidates);
}

static void
add_match(void *arg, const struct ks_match *match)
{
	ks_ref_add(arg, match);
}

enum ks_status
ks_ref_find(struct ks_cli *cli, struct ks_store *store, const char *reference,
	struct ks_ref *out, struct ks_error *err)
{
	struct ks_ref ref = KS_REF_INIT;
	enum ks_status status = ks_resolve(store, reference, add_match, &ref,
		err);

	*out = (struct ks_ref)KS_REF_INIT;
	if (status == KS_AMBIGUOUS)
		ks_ref_list(cli, &ref);
	ks_ref_release(&ref);
	if (status == KS_OK)
		*out = ref;
	return status;
}

void
ks_ref_note_marks(struct ks_cli *cli, const char *reference,
	const struct ks_ref *ref)
{
	if (ref->retracted || ref->superseded)
		ks_out_note(cli, "%s is %s (kistore log %s tells more)",
			reference, !ref->superseded ? "retracted" :
			!ref->retracted ? "superseded" :
			"retracted and superseded", reference);
}
