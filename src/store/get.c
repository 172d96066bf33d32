/*
 * Reading objects: the forms of `get`, and the reference tree.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "format/json.h"
#include "format/record.h"
#include "store/store.h"

#define DEPTH_MAX 64

/* ---- one object -------------------------------------------------------- */

static enum ks_status
get_body(struct ks_store *store, const struct ks_id *digest,
	struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status = ks_store_body(store, digest, out, err);

	return status == KS_NOT_FOUND && !ks_store_has(store, digest) ?
		ks_store_explain_absence(store, digest, err) : status;
}

/* A record read from the store, with its current metadata. */
struct loaded {
	struct ks_buf body, metadata;
	struct ks_record record;
};

#define LOADED_INIT { .body = KS_BUF_INIT, .metadata = KS_BUF_INIT }

static void
release_loaded(struct loaded *loaded)
{
	ks_buf_release(&loaded->body);
	ks_buf_release(&loaded->metadata);
}

static enum ks_status
load(struct ks_store *store, const struct ks_id *digest,
	struct loaded *loaded, struct ks_error *err)
{
	struct ks_index *index = NULL;
	struct ks_index_row row;
	char text[KS_ID_TEXT + 1];
	enum ks_status status = get_body(store, digest, &loaded->body, err);

	if (status == KS_OK)
		status = ks_log_understood(store, err);
	if (status == KS_OK)
		status = ks_store_index(store, &index, NULL, err);
	if (status != KS_OK)
		return status;
	status = ks_record_judge(store->jcs, ks_buf_span(&loaded->body),
		&loaded->record, err);
	if (status == KS_INVALID)
		return ks_fail(err, KS_INVALID, "%s is not a record: it has "
			"no manifest (get prints its bytes)",
			ks_id_print(digest, text));
	if (status != KS_OK || !ks_index_object(index, digest, &row))
		return status;
	status = ks_store_notes(store, &row, &loaded->metadata, NULL, err);
	loaded->record.metadata = ks_buf_span(&loaded->metadata);
	return status;
}

/* Append the manifest: the body with metadata at its canonical place. */
static void
print_manifest(const struct loaded *loaded, struct ks_buf *out)
{
	const struct ks_record *record = &loaded->record;

	ks_buf_text(out, "{\"apiVersion\":\"");
	ks_buf_append(out, record->api_version);
	ks_buf_text(out, "\",\"kind\":\"");
	ks_buf_append(out, record->kind_name);
	ks_buf_byte(out, '"');
	if (record->metadata.len > 0) {
		ks_buf_text(out, ",\"metadata\":");
		ks_buf_append(out, record->metadata);
	}
	ks_buf_text(out, ",\"spec\":");
	ks_buf_append(out, record->spec);
	ks_buf_byte(out, '}');
}

static enum ks_status
get_manifest(struct ks_store *store, const struct ks_id *digest,
	struct ks_buf *out, struct ks_error *err)
{
	struct loaded loaded = LOADED_INIT;
	enum ks_status status = load(store, digest, &loaded, err);

	if (status == KS_OK)
		print_manifest(&loaded, out);
	release_loaded(&loaded);
	return status == KS_OK ? ks_buf_check(out, err) : status;
}

/* ---- several in one object --------------------------------------------- */

/* Members of a bundle under construction, sorted at the end. */
struct member {
	char name[KS_ID_HEX + 32];
	struct ks_id digest;
	struct ks_buf manifest;
};

struct bundle {
	struct ks_store *store;
	struct member *members;
	size_t count, room;
};

static void
release_bundle(struct bundle *bundle)
{
	size_t i;

	for (i = 0; i < bundle->count; i++)
		ks_buf_release(&bundle->members[i].manifest);
	free(bundle->members);
}

static bool
has_member(const struct bundle *bundle, const char *name)
{
	size_t i;

	for (i = 0; i < bundle->count; i++)
		if (strcmp(bundle->members[i].name, name) == 0)
			return true;
	return false;
}

static bool
has_digest(const struct bundle *bundle, const struct ks_id *digest)
{
	size_t i;

	for (i = 0; i < bundle->count; i++)
		if (ks_id_equal(&bundle->members[i].digest, digest))
			return true;
	return false;
}

/* What a record is called in a bundle, as on KernelIndex's run page: the last
 * word of its kind that says something ("run" of BenchmarkRun, "stack" of
 * ServingStackRevision), in lower case. */
static void
print_role(const char *kind, char out[32])
{
	static const char *const silent[] = {
		"Case", "Suite", "Spec", "Revision"
	};
	size_t len = strlen(kind), start, i;

	for (i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		size_t n = strlen(silent[i]);

		if (len > n && strncmp(kind + len - n, silent[i], n) == 0) {
			len -= n;
			break;
		}
	}
	start = len;
	while (start > 0 && !(kind[start] >= 'A' && kind[start] <= 'Z'))
		start--;
	if (start == len && len > 0)
		start = 0;
	(void)snprintf(out, 32, "%.*s", (int)(len - start), kind + start);
	if (out[0] >= 'A' && out[0] <= 'Z')
		out[0] = (char)(out[0] - 'A' + 'a');
}

/* A second of its sort has digits of its digest in its name, too. */
static void
name_member(const struct bundle *bundle, const struct ks_kind *kind,
	struct member *member)
{
	char hex[KS_ID_HEX + 1];
	char role[32] = "record";

	if (kind != NULL)
		print_role(ks_kind_name(kind), role);
	(void)snprintf(member->name, sizeof(member->name), "%s", role);
	if (has_member(bundle, member->name))
		(void)snprintf(member->name, sizeof(member->name), "%s-%.12s",
			role, ks_id_print_hex(&member->digest, hex));
}

static enum ks_status
add_member(struct bundle *bundle, const struct ks_id *digest,
	struct loaded *loaded, struct ks_error *err)
{
	struct member *member;
	enum ks_status status = load(bundle->store, digest, loaded, err);

	if (status != KS_OK)
		return status;
	member = ks_grow(bundle->members, bundle->count, &bundle->room,
		sizeof(*member), err);
	if (member == NULL)
		return KS_NOMEM;
	bundle->members = member;
	member += bundle->count;
	member->digest = *digest;
	member->manifest = (struct ks_buf)KS_BUF_INIT;
	name_member(bundle, loaded->record.kind, member);
	bundle->count++;
	print_manifest(loaded, &member->manifest);
	return ks_buf_check(&member->manifest, err);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name,
		((const struct member *)b)->name);
}

static void
print_bundle(struct bundle *bundle, struct ks_buf *out)
{
	size_t i;

	if (bundle->count > 1)
		qsort(bundle->members, bundle->count,
			sizeof(*bundle->members), by_name);
	ks_buf_byte(out, '{');
	for (i = 0; i < bundle->count; i++) {
		if (i > 0)
			ks_buf_byte(out, ',');
		ks_json_quote(out, ks_span_text(bundle->members[i].name));
		ks_buf_byte(out, ':');
		ks_buf_append(out, ks_buf_span(&bundle->members[i].manifest));
	}
	ks_buf_byte(out, '}');
}

/* The references of one record, collected so that its text can go. */
struct targets {
	struct ks_id ids[64];
	char paths[64][96];
	bool is_link[64];
	size_t count;
	bool links;	/* collect links, too */
};

static bool
collect_target(void *arg, const struct ks_reference *reference)
{
	struct targets *targets = arg;
	size_t i = targets->count;

	if (reference->is_link && !targets->links)
		return true;
	if (i == sizeof(targets->ids) / sizeof(targets->ids[0]))
		return false;
	targets->ids[i] = reference->target;
	targets->is_link[i] = reference->is_link;
	(void)snprintf(targets->paths[i], sizeof(targets->paths[i]), "%s",
		reference->path);
	targets->count++;
	return true;
}

/* Add what the current provenance of an object refers to. */
static void
collect_provenance(struct ks_store *store, const struct ks_index_row *row,
	struct targets *targets)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_provenance provenance;
	struct ks_reference reference = { .path = "source" };

	if (ks_store_notes(store, row, NULL, &text, NULL) == KS_OK &&
		text.len > 0 && ks_provenance_read(ks_buf_span(&text),
			ks_span_text(row->kind), &provenance, NULL) == KS_OK) {
		reference.target = provenance.source;
		if (provenance.has_source)
			(void)collect_target(targets, &reference);
		reference.path = "project";
		reference.target = provenance.project;
		if (provenance.has_project)
			(void)collect_target(targets, &reference);
	}
	ks_buf_release(&text);
}

static void
collect_targets(struct ks_store *store, const struct ks_id *digest,
	const struct ks_record *record, struct targets *targets)
{
	struct ks_index *index = NULL;
	struct ks_index_row row;

	targets->count = 0;
	if (record->kind != NULL)
		(void)ks_kind_references(record->kind, record->spec,
			collect_target, targets);
	if (ks_store_index(store, &index, NULL, NULL) == KS_OK &&
		ks_index_object(index, digest, &row))
		collect_provenance(store, &row, targets);
}

/* Add a record and what it refers to; what was taken down or never came is
 * left out. */
static enum ks_status
add_closure(struct bundle *bundle, const struct ks_id *digest,
	unsigned depth, struct ks_error *err)
{
	struct loaded loaded = LOADED_INIT;
	struct targets *targets;
	size_t i;
	enum ks_status status;

	if (has_digest(bundle, digest))
		return KS_OK;
	if (depth > DEPTH_MAX)
		return ks_fail(err, KS_CORRUPT,
			"references nest deeper than %d", DEPTH_MAX);
	targets = calloc(1, sizeof(*targets));
	if (targets == NULL)
		return ks_fail_nomem(err);
	status = add_member(bundle, digest, &loaded, err);
	if (status == KS_NOT_FOUND && depth > 0)
		status = KS_OK;
	else if (status == KS_OK)
		collect_targets(bundle->store, digest, &loaded.record,
			targets);
	release_loaded(&loaded);
	for (i = 0; status == KS_OK && i < targets->count; i++)
		status = add_closure(bundle, &targets->ids[i], depth + 1, err);
	free(targets);
	return status;
}

static enum ks_status
get_bundle(struct ks_store *store, const struct ks_id *digest,
	struct ks_buf *out, struct ks_error *err)
{
	struct bundle bundle = { .store = store };
	enum ks_status status = add_closure(&bundle, digest, 0, err);

	if (status == KS_OK)
		print_bundle(&bundle, out);
	release_bundle(&bundle);
	return status == KS_OK ? ks_buf_check(out, err) : status;
}

/* The manifest text of KernelIndex's page: a benchmark run with protocol and
 * environment, any other record alone (store-layout.md, section "pages"). */
static enum ks_status
gather_page(struct bundle *bundle, const struct ks_id *digest,
	struct ks_buf *out, struct ks_error *err)
{
	struct loaded loaded = LOADED_INIT;
	struct targets *targets = calloc(1, sizeof(*targets));
	size_t i;
	enum ks_status status = targets == NULL ? ks_fail_nomem(err) :
		add_member(bundle, digest, &loaded, err);
	bool whole = status == KS_OK && loaded.record.kind != NULL &&
		strcmp(ks_kind_name(loaded.record.kind), "BenchmarkRun") == 0;

	if (whole)
		(void)ks_kind_references(loaded.record.kind,
			loaded.record.spec, collect_target, targets);
	else if (status == KS_OK)
		print_manifest(&loaded, out);
	release_loaded(&loaded);
	for (i = 0; whole && status == KS_OK && i < targets->count; i++) {
		struct loaded part = LOADED_INIT;

		if (strcmp(targets->paths[i], "spec.protocolDigest") == 0 ||
			strcmp(targets->paths[i],
				"spec.environmentDigest") == 0)
			status = add_member(bundle, &targets->ids[i], &part,
				err);
		release_loaded(&part);
	}
	free(targets);
	if (whole && status == KS_OK)
		print_bundle(bundle, out);
	return status;
}

static enum ks_status
get_page(struct ks_store *store, const struct ks_id *digest,
	struct ks_buf *out, struct ks_error *err)
{
	struct bundle bundle = { .store = store };
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = gather_page(&bundle, digest, &text, err);

	if (status == KS_OK)
		status = ks_buf_check(&text, err);
	if (status == KS_OK) {
		ks_json_print_jsonb(out, ks_buf_span(&text));
		ks_buf_byte(out, '\n');
	}
	release_bundle(&bundle);
	ks_buf_release(&text);
	return status == KS_OK ? ks_buf_check(out, err) : status;
}

enum ks_status
ks_get(struct ks_store *store, const struct ks_id *digest,
	enum ks_get_form form, struct ks_buf *out, struct ks_error *err)
{
	switch (form) {
	case KS_GET_BODY:
		return get_body(store, digest, out, err);
	case KS_GET_MANIFEST:
		return get_manifest(store, digest, out, err);
	case KS_GET_BUNDLE:
		return get_bundle(store, digest, out, err);
	case KS_GET_PAGE:
		return get_page(store, digest, out, err);
	}
	return ks_fail(err, KS_USAGE, "no such form");
}

/* ---- the reference tree ------------------------------------------------ */

struct drawing {
	struct ks_store *store;
	ks_tree_fn *visit;
	void *arg;
	struct ks_buf seen;	/* struct ks_id of each */
	struct ks_idmap map;
};

static enum ks_status
remember(struct drawing *drawing, const struct ks_id *digest, bool *before,
	struct ks_error *err)
{
	*before = ks_idmap_find(&drawing->map, drawing->seen.data, digest) !=
		KS_IDMAP_NONE;
	if (*before)
		return KS_OK;
	ks_buf_append(&drawing->seen, ks_span(digest, sizeof(*digest)));
	if (ks_buf_check(&drawing->seen, err) != KS_OK)
		return KS_NOMEM;
	return ks_idmap_add(&drawing->map, drawing->seen.data) ? KS_OK :
		ks_fail_nomem(err);
}

/* A link's target is known when some Artifact record tells of it. */
struct search {
	struct ks_store *store;
	const struct ks_id *target;
	bool found;
};

static bool
describes(void *arg, const struct ks_index_row *row)
{
	struct search *search = arg;
	struct ks_buf body = KS_BUF_INIT;
	struct ks_span spec, digest;
	struct ks_id id;

	if (ks_store_body(search->store, &row->state.digest, &body, NULL) ==
		KS_OK && ks_json_find(ks_buf_span(&body), "spec", &spec) &&
		ks_json_find(spec, "digest", &digest) &&
		ks_id_parse(&id, ks_json_raw(digest)))
		search->found = ks_id_equal(&id, search->target);
	ks_buf_release(&body);
	return search->found;
}

static const char *
state_of_link(struct drawing *drawing, const struct ks_id *digest)
{
	struct search search = {
		.store = drawing->store, .target = digest
	};
	struct ks_index *index = NULL;
	struct ks_index_row row;

	if (ks_store_has(drawing->store, digest))
		return "archived";
	if (ks_store_index(drawing->store, &index, NULL, NULL) != KS_OK)
		return "absent";
	if (ks_index_object(index, digest, &row) && row.state.taken_down)
		return "taken down";
	if (ks_index_by_kind(index, KS_API_KISTORE "/Artifact", describes,
		&search, NULL) == KS_OK && search.found)
		return "described";
	return "absent";
}

static const char *
state_of_reference(const struct drawing *drawing,
	const struct ks_index_row *row, bool known)
{
	if (!known)
		return "missing";
	if (row->state.taken_down)
		return "taken down";
	return ks_store_has(drawing->store, &row->state.digest) ?
		"archived" : "absent";
}

/* A record's name: metadata.name, or the slug of a Source. */
static void
name_of(const struct ks_index_row *row, const struct loaded *loaded,
	struct ks_buf *out)
{
	struct ks_span slug;

	if (row->name[0] != '\0')
		ks_buf_text(out, row->name);
	else if (loaded->record.spec.len > 0 &&
		(ks_json_find(loaded->record.spec, "slug", &slug) ||
		ks_json_find(loaded->record.spec, "name", &slug)) &&
		ks_json_type(slug) == KS_JSON_STRING)
		ks_json_unescape(out, ks_json_raw(slug));
}

static enum ks_status draw(struct drawing *drawing,
	const struct ks_tree_node *place, struct ks_error *err);

static enum ks_status
draw_children(struct drawing *drawing, const struct targets *targets,
	unsigned depth, struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < targets->count; i++) {
		struct ks_tree_node child = {
			.depth = depth,
			.path = targets->paths[i],
			.digest = targets->ids[i],
			.is_link = targets->is_link[i],
			.last = i + 1 == targets->count
		};

		status = draw(drawing, &child, err);
	}
	return status;
}

/* Complete a node from index and object, tell of it, and go on below it. */
static enum ks_status
draw(struct drawing *drawing, const struct ks_tree_node *place,
	struct ks_error *err)
{
	struct ks_tree_node node = *place;
	struct ks_index *index = NULL;
	struct ks_index_row row;
	struct loaded loaded = LOADED_INIT;
	struct ks_buf name = KS_BUF_INIT;
	struct targets *targets = calloc(1, sizeof(*targets));
	bool known;
	enum ks_status status = targets == NULL ? ks_fail_nomem(err) :
		ks_store_index(drawing->store, &index, NULL, err);

	if (status == KS_OK && node.depth > DEPTH_MAX)
		status = ks_fail(err, KS_CORRUPT,
			"references nest deeper than %d", DEPTH_MAX);
	if (status == KS_OK)
		status = remember(drawing, &node.digest, &node.repeated, err);
	if (status != KS_OK) {
		free(targets);
		return status;
	}
	memset(&row, 0, sizeof(row));
	known = ks_index_object(index, &node.digest, &row);
	node.kind = row.kind;
	node.state = node.is_link ? state_of_link(drawing, &node.digest) :
		state_of_reference(drawing, &row, known);
	if (!node.is_link && known && !row.state.taken_down &&
		load(drawing->store, &node.digest, &loaded, NULL) == KS_OK) {
		targets->links = true;
		collect_targets(drawing->store, &node.digest, &loaded.record,
			targets);
	}
	name_of(&row, &loaded, &name);
	node.name = ks_buf_cstr(&name);
	drawing->visit(drawing->arg, &node);
	ks_buf_release(&name);
	release_loaded(&loaded);
	if (!node.repeated)
		status = draw_children(drawing, targets, node.depth + 1, err);
	free(targets);
	return status;
}

enum ks_status
ks_reference_tree(struct ks_store *store, const struct ks_id *digest,
	ks_tree_fn *visit, void *arg, struct ks_error *err)
{
	struct drawing drawing = {
		.store = store, .visit = visit, .arg = arg
	};
	struct ks_tree_node root = {
		.path = "", .digest = *digest, .last = true
	};
	enum ks_status status = ks_log_understood(store, err);

	ks_idmap_init(&drawing.map, KS_ID_BYTES, sizeof(struct ks_id));
	if (status == KS_OK)
		status = draw(&drawing, &root, err);
	ks_idmap_release(&drawing.map);
	ks_buf_release(&drawing.seen);
	return status;
}
