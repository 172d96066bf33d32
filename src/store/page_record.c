/*
 * The page of a record that KernelIndex has no page for, or one that lists
 * more than it says: identity, members by name, what uses it. And those of
 * kistore's own kinds.
 */
#include <stdlib.h>

#include "format/json.h"
#include "store/page.h"

/* ---- header and identity ------------------------------------------------ */

/* What a reader calls it: KernelIndex's names where it has rules for them. */
static void
append_title(struct ks_composing *c, const struct ks_part *operation)
{
	const struct ks_named named = ks_part_named(c->part);
	const struct ks_named of = ks_part_named(operation);

	ks_name_record(&named, &of, &c->title);
}

static void
say_header(struct ks_composing *c, const struct ks_part *operation)
{
	struct ks_buf *value;

	append_title(c, operation);
	ks_draft_section(&c->draft, "");
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_append(value, ks_buf_span(&c->title));
	value = ks_draft_row(&c->draft, "", KS_ROW_LOG);
	ks_buf_text(value, ks_part_kind(c->part));
	if (c->part->row.name[0] != '\0')
		ks_buf_printf(value, " · %s", c->part->row.name);
	ks_page_strip(c, "Superseded; preserved for the audit trail.");
}

/* The strings of a list of metadata or provenance, joined. */
static void
say_strings(struct ks_draft *draft, const char *label, struct ks_span list,
	const char *member)
{
	struct ks_json_iter it = ks_json_iter(list);
	struct ks_span element;
	struct ks_buf *value;

	if (ks_json_count(list) == 0)
		return;
	value = ks_draft_row(draft, label, KS_ROW_LOG);
	while (ks_json_next_element(&it, &element)) {
		struct ks_span text = member == NULL ? element :
			ks_json_get(element, member);

		if (text.len == 0)
			continue;
		ks_buf_text(value, value->len == 0 ? "" : ", ");
		ks_draft_scalar(value, text);
	}
}

static void
say_labels(struct ks_draft *draft, struct ks_span labels)
{
	struct ks_json_member *members;
	size_t count, i;
	struct ks_buf *value;

	if (!ks_json_list_jsonb(labels, &members, &count)) {
		draft->failed = true;
		return;
	}
	value = ks_draft_row(draft, "labels", KS_ROW_LOG);
	for (i = 0; i < count; i++) {
		ks_buf_text(value, i == 0 ? "" : ", ");
		ks_json_unescape(value, members[i].name);
		ks_buf_text(value, " = ");
		ks_draft_scalar(value, members[i].value);
	}
	if (count == 0)
		ks_draft_drop(draft);
	free(members);
}

static void
say_links(struct ks_draft *draft, struct ks_span refs)
{
	struct ks_json_iter it = ks_json_iter(refs);
	struct ks_span element;

	while (ks_json_next_element(&it, &element))
		ks_draft_member(draft, "link", element, "url", KS_ROW_LOG);
}

/* What the log says of it, beside the record. */
static void
say_provenance(struct ks_composing *c, const struct ks_part *operation,
	const struct ks_part *project)
{
	struct ks_draft *draft = &c->draft;
	struct ks_span provenance = c->part->provenance;
	struct ks_span metadata = c->part->metadata;

	ks_draft_member(draft, "id", provenance, "id", KS_ROW_LOG);
	ks_draft_member(draft, "slug", provenance, "slug", KS_ROW_LOG);
	ks_draft_member(draft, "summary", provenance, "summary", KS_ROW_LOG);
	if (operation->is_named)
		ks_run_operation(operation, ks_draft_part(draft, "operation",
			operation, KS_ROW_LOG));
	if (project->is_named)
		ks_run_project(project, ks_draft_part(draft, "project",
			project, KS_ROW_LOG));
	say_strings(draft, "authors", ks_json_get(metadata, "authors"),
		"name");
	say_labels(draft, ks_json_get(metadata, "labels"));
	say_strings(draft, "aliases", ks_json_get(provenance, "aliases"),
		NULL);
	say_strings(draft, "tags", ks_json_get(provenance, "tags"), NULL);
	say_links(draft, ks_json_get(metadata, "sourceRefs"));
	ks_draft_member(draft, "created", provenance, "createdAt",
		KS_ROW_LOG);
}

static void
say_identity(struct ks_composing *c, const struct ks_part *operation,
	const struct ks_part *project)
{
	struct ks_draft *draft = &c->draft;
	char text[KS_ID_TEXT + 1];
	struct ks_buf *value;

	ks_draft_section(draft, "Description");
	ks_draft_member(draft, "", c->part->metadata, "description",
		KS_ROW_LOG);
	ks_draft_section(draft, "Identity");
	ks_buf_text(ks_draft_row(draft, "digest", KS_ROW_OBJECT),
		ks_id_print(&c->part->digest, text));
	ks_buf_text(ks_draft_row(draft, "kind", KS_ROW_OBJECT),
		c->part->row.kind);
	ks_draft_member(draft, "title", c->part->metadata, "title",
		KS_ROW_LOG);
	ks_draft_member(draft, "name", c->part->metadata, "name", KS_ROW_LOG);
	if (ks_part_is(c->part, "ImplementationRevision")) {
		value = ks_draft_row(draft, "revision", KS_ROW_OBJECT);
		ks_run_revision(c->part->record.spec, value);
	}
	say_provenance(c, operation, project);
}

/* ---- kistore's own kinds ------------------------------------------------ */

/* Whether the bytes that an Artifact describes are here. */
static void
say_bytes(struct ks_composing *c)
{
	struct ks_draft *draft = &c->draft;
	struct ks_span digest = ks_json_get_raw(c->part->record.spec,
		"digest");
	struct ks_buf *value;
	struct ks_id id;

	if (!ks_id_parse(&id, digest))
		return;
	ks_draft_section(draft, "Bytes");
	value = ks_draft_row(draft, "state", KS_ROW_DERIVED);
	ks_draft_target(draft, &id);
	if (ks_store_has(c->store, &id)) {
		ks_buf_text(value, "archived");
		ks_buf_text(ks_draft_note(draft), "kistore get ");
		ks_part_digits(ks_draft_note(draft), &id);
	} else {
		ks_buf_text(value, "described");
		ks_buf_text(ks_draft_note(draft), "the bytes are absent");
	}
}

/* ---- the page ----------------------------------------------------------- */

static enum ks_status
say_members(struct ks_composing *c, struct ks_error *err)
{
	enum ks_status status;

	if (ks_part_is(c->part, "Attestation"))
		return ks_page_attestation(c, err);
	status = ks_page_fields(c->store, &c->draft, c->part->record.spec,
		true, err);
	if (status == KS_OK && ks_part_is(c->part, "Artifact"))
		say_bytes(c);
	return status;
}

static enum ks_status
say_all(struct ks_composing *c, const struct ks_part *operation,
	const struct ks_part *project, struct ks_error *err)
{
	enum ks_status status;

	say_header(c, operation);
	say_identity(c, operation, project);
	status = say_members(c, err);
	if (status == KS_OK)
		status = ks_page_users(c, err);
	if (status != KS_OK)
		return status;
	ks_draft_section(&c->draft, "Attestations");
	status = ks_page_attestations(c, err);
	if (status != KS_OK)
		return status;
	ks_page_history(c);
	return ks_page_manifest(c, err);
}

enum ks_status
ks_page_record(struct ks_composing *c, struct ks_error *err)
{
	struct ks_part operation, project;
	struct ks_span spec = c->part->record.spec;
	enum ks_status status;

	memset(&project, 0, sizeof(project));
	status = ks_part_is(c->part, "ImplementationRevision") ?
		ks_part_follow(c->store, ks_json_get(spec, "operation"),
			"specDigest", &operation, err) :
		ks_part_follow(c->store, spec, "operationSpecDigest",
			&operation, err);
	if (status == KS_OK)
		status = ks_part_follow(c->store, c->part->provenance,
			"project", &project, err);
	if (status == KS_OK)
		status = say_all(c, &operation, &project, err);
	ks_part_release(&operation);
	ks_part_release(&project);
	return status;
}
