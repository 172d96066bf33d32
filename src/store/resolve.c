#include <stdlib.h>

#include "base/hex.h"
#include "format/json.h"
#include "format/permalink.h"
#include "store/particulars.h"
#include "store/reader.h"

/* Candidates that are shown of an ambiguous reference. */
#define MATCHES_MAX 50
#define PREFIX_MIN 6

/* The longest "apiVersion/kind" (store-layout.md B5). */
#define KIND_MAX 257

/* The matches so far: each digest once, under its first reading. */
struct matching {
	const char *reading;
	struct ks_span kind_filter;	/* len 0 = any */
	struct match {
		struct ks_id digest;
		const char *reading;
	} found[MATCHES_MAX + 1];
	size_t count;
};

/* Who is told. */
struct telling {
	struct ks_store *store;
	struct ks_index *index;
	ks_match_fn *visit;
	void *arg;
};

/* ---- telling ----------------------------------------------------------- */

static void
member_text(struct ks_span object, const char *name, struct ks_buf *out)
{
	struct ks_span value;

	if (object.len > 0 && ks_json_find(object, name, &value) &&
		ks_json_type(value) == KS_JSON_STRING)
		ks_json_unescape(out, ks_json_raw(value));
}

/* Tell the caller of a match. The title comes from the log line itself. */
static void
tell(const struct telling *telling, const struct ks_index_row *row,
	const char *reading, bool in_full)
{
	struct ks_match match = {
		.digest = row->state.digest,
		.kind = row->kind,
		.name = row->name,
		.reading = reading,
		.retracted = row->state.retracted,
		.superseded = row->state.superseded,
		.taken_down = row->state.taken_down
	};
	struct ks_buf metadata = KS_BUF_INIT;
	struct ks_buf provenance = KS_BUF_INIT;
	struct ks_buf title = KS_BUF_INIT;
	struct ks_buf particulars = KS_BUF_INIT;

	if (ks_store_notes(telling->store, row, &metadata, &provenance,
		NULL) == KS_OK)
		member_text(ks_buf_span(&metadata), "title", &title);
	if (in_full)
		ks_particulars(telling->store, row, ks_buf_span(&provenance),
			&particulars);
	match.title = ks_buf_cstr(&title);
	match.particulars = ks_buf_cstr(&particulars);
	telling->visit(telling->arg, &match);
	ks_buf_release(&metadata);
	ks_buf_release(&provenance);
	ks_buf_release(&title);
	ks_buf_release(&particulars);
}

static int
by_digest_order(const void *a, const void *b)
{
	const struct match *x = a;
	const struct match *y = b;

	return ks_id_compare(&x->digest, &y->digest);
}

/* Of several, what tells them apart is told too: it is in the objects, which
 * need not be read where there is but one. */
static void
tell_all(const struct telling *telling, struct matching *matching)
{
	struct ks_index_row row;

	if (telling->visit == NULL)
		return;
	qsort(matching->found, matching->count, sizeof(matching->found[0]),
		by_digest_order);
	for (size_t i = 0; i < matching->count && i < MATCHES_MAX; i++)
		if (ks_index_object(telling->index, &matching->found[i].digest,
			&row))
			tell(telling, &row, matching->found[i].reading,
				matching->count > 1);
}

static bool
has_kind(struct ks_span filter, const char *kind)
{
	const char *name = strrchr(kind, '/');

	return filter.len == 0 || ks_span_is(filter, kind) ||
		(name != NULL && ks_span_is(filter, name + 1));
}

static bool
on_row(void *arg, const struct ks_index_row *row)
{
	struct matching *matching = arg;
	size_t i;

	if (!has_kind(matching->kind_filter, row->kind))
		return false;
	for (i = 0; i < matching->count; i++)
		if (ks_id_equal(&matching->found[i].digest,
			&row->state.digest))
			return false;
	if (matching->count <= MATCHES_MAX)
		matching->found[matching->count++] = (struct match){
			row->state.digest, matching->reading };
	return matching->count > MATCHES_MAX;
}

/* ---- readings ---------------------------------------------------------- */

/* Lower-case hex digits of a reference; false when it has others. */
static bool
hex_of(struct ks_span text, size_t max, char *out, size_t *len)
{
	size_t i;

	*len = 0;
	if (text.len > max)
		return false;
	for (i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (c >= 'A' && c <= 'F')
			c = (uint8_t)(c - 'A' + 'a');
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		out[(*len)++] = (char)c;
	}
	return true;
}

/* A UUID prefix: hex digits, with hyphens where a UUID has them. */
static bool
uuid_hex(struct ks_span text, char *out, size_t *len)
{
	size_t i;

	*len = 0;
	if (text.len > KS_UUID_TEXT)
		return false;
	for (i = 0; i < text.len; i++) {
		bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
		size_t one;

		if (hyphen != (text.data[i] == '-'))
			return false;
		if (!hyphen && !hex_of(ks_span(text.data + i, 1), 1,
			out + *len, &one))
			return false;
		*len += hyphen ? 0 : 1;
	}
	return true;
}

static enum ks_status
by_digest(struct matching *matching, struct ks_index *index,
	struct ks_span text, struct ks_error *err)
{
	char hex[KS_ID_HEX];
	size_t len;
	bool prefixed = text.len > 7 && memcmp(text.data, "sha256:", 7) == 0;

	if (prefixed)
		text = ks_span(text.data + 7, text.len - 7);
	if (text.len < PREFIX_MIN || !hex_of(text, KS_ID_HEX, hex, &len))
		return KS_OK;
	matching->reading = len == KS_ID_HEX ? "digest" : "digest prefix";
	return ks_index_by_digest(index, ks_span(hex, len), on_row, matching,
		err);
}

static enum ks_status
by_id(struct matching *matching, struct ks_index *index, struct ks_span text,
	struct ks_error *err)
{
	char hex[32 + 1];
	size_t len;

	if (text.len < PREFIX_MIN || !uuid_hex(text, hex, &len))
		return KS_OK;
	matching->reading = text.len == KS_UUID_TEXT ? "id" : "id prefix";
	return ks_index_by_id(index, ks_span(hex, len), on_row, matching, err);
}

/* A name, or KIND/NAME with the kind short or in full. A full kind has slashes
 * itself, and so has many a name of a kind that is not known: each slash may be
 * the one between them. */
static enum ks_status
by_name(struct matching *matching, struct ks_index *index,
	struct ks_span text, struct ks_error *err)
{
	enum ks_status status;

	matching->reading = "name";
	status = ks_index_by_name(index, text, on_row, matching, err);
	for (size_t i = 1; status == KS_OK && i + 1 < text.len &&
		i <= KIND_MAX; i++) {
		if (text.data[i] != '/')
			continue;
		matching->kind_filter = ks_span(text.data, i);
		status = ks_index_by_name(index, ks_span(text.data + i + 1,
			text.len - i - 1), on_row, matching, err);
	}
	matching->kind_filter = ks_span(NULL, 0);
	return status;
}

/* The address of a page of KernelIndex about one record. A slug is that of the
 * catalogue, or the name where the catalogue has no other. */
static enum ks_status
by_permalink(struct matching *matching, struct ks_index *index,
	const struct ks_permalink *link, struct ks_error *err)
{
	struct ks_span slug = ks_span_text(link->slug);
	char hex[KS_ID_HEX + 1];
	enum ks_status status = KS_OK;

	if (link->form == KS_PERMALINK_NONE ||
		link->form == KS_PERMALINK_OTHER)
		return KS_OK;
	matching->reading = "permalink";
	matching->kind_filter = ks_span_text(link->kind);
	if (link->form == KS_PERMALINK_DIGEST) {
		status = ks_index_by_digest(index, ks_span_text(
			ks_id_print_hex(&link->digest, hex)), on_row, matching,
			err);
	} else if (link->form == KS_PERMALINK_ID) {
		ks_hex_encode(ks_span(link->id, sizeof(link->id)), hex);
		status = ks_index_by_id(index, ks_span(hex,
			2 * sizeof(link->id)), on_row, matching, err);
	} else {
		status = ks_index_by_slug(index, slug, on_row, matching, err);
		if (status == KS_OK)
			status = ks_index_by_name(index, slug, on_row,
				matching, err);
	}
	matching->kind_filter = ks_span(NULL, 0);
	return status;
}

/* What the catalogue finds, to be looked at. */
struct external {
	struct ks_id found[MATCHES_MAX + 1];
	size_t count;
};

static bool
on_external(void *arg, const struct ks_id *digest)
{
	struct external *external = arg;

	external->found[external->count++] = *digest;
	return external->count > MATCHES_MAX;
}

/* The catalogue chose these runs: each is read again, so that a wrong row is
 * found out. */
static enum ks_status
take_external(struct matching *matching, struct ks_index *index,
	const struct external *external, struct ks_catalogue *catalogue,
	struct ks_error *err)
{
	const struct ks_found *found;
	struct ks_reader *reader = NULL;
	struct ks_index_row row;
	enum ks_status status = ks_reader_new(&reader, catalogue, err);
	size_t i;

	for (i = 0; status == KS_OK && i < external->count; i++)
		if (ks_index_object(index, &external->found[i], &row)) {
			status = ks_reader_get(reader, row.state.published,
				&found, err);
			(void)on_row(matching, &row);
		}
	ks_reader_free(reader);
	return status;
}

/* SOURCE:EXTERNALID, the source by its slug, which has no colon: what the
 * source itself calls a run. */
static enum ks_status
by_external(struct matching *matching, struct ks_store *store,
	struct ks_index *index, struct ks_span text, struct ks_error *err)
{
	const uint8_t *colon = memchr(text.data, ':', text.len);
	struct external external = { .count = 0 };
	struct ks_catalogue *catalogue;
	size_t at = colon == NULL ? 0 : (size_t)(colon - text.data);
	enum ks_status status;

	if (at == 0 || at + 1 == text.len)
		return KS_OK;
	matching->reading = "external id";
	status = ks_store_catalogue(store, &catalogue, NULL, err);
	if (status == KS_OK)
		status = ks_catalogue_external(catalogue,
			ks_span(text.data, at), ks_span(text.data + at + 1,
			text.len - at - 1), on_external, &external, err);
	return status == KS_OK ? take_external(matching, index, &external,
		catalogue, err) : status;
}

static bool
on_source(void *arg, const struct ks_index_row *row)
{
	ks_buf_append(arg, ks_span(&row->state.digest,
		sizeof(row->state.digest)));
	return false;
}

/* What `text` is after the kind, in short or in full. */
static struct ks_span
without_kind(struct ks_span text, const char *kind)
{
	const char *name = strrchr(kind, '/') + 1;
	const char *prefixes[] = { kind, name };
	size_t i;

	for (i = 0; i < 2; i++) {
		size_t len = strlen(prefixes[i]);

		if (text.len > len + 1 && ks_span_begins(text, prefixes[i]) &&
			text.data[len] == '/')
			return ks_span(text.data + len + 1,
				text.len - len - 1);
	}
	return text;
}

/* A Source has its slug for a name, and that is in its body: the log has no
 * metadata of it. There are few, which are asked where nothing else is meant.
 * One that changed is another object, and the newest has the name. */
static enum ks_status
by_source(struct matching *matching, struct ks_store *store,
	struct ks_index *index, struct ks_span text, struct ks_error *err)
{
	struct ks_span slug = without_kind(text, KS_API_KISTORE "/Source");
	struct ks_buf digests = KS_BUF_INIT, body = KS_BUF_INIT;
	struct ks_index_row row;
	struct ks_id digest;
	enum ks_status status = ks_index_by_kind(index,
		KS_API_KISTORE "/Source", on_source, &digests, err);
	size_t i;

	matching->reading = "name";
	if (status == KS_OK)
		status = ks_buf_check(&digests, err);
	for (i = 0; status == KS_OK && i < digests.len; i += sizeof(digest)) {
		memcpy(&digest, digests.data + i, sizeof(digest));
		ks_buf_clear(&body);
		/* One that cannot be read has no name. */
		if (ks_store_body(store, &digest, &body, NULL) == KS_OK &&
			ks_span_equal(ks_json_get_raw(ks_json_get(
			ks_buf_span(&body), "spec"), "slug"), slug) &&
			ks_index_object(index, &digest, &row) &&
			!row.state.superseded)
			(void)on_row(matching, &row);
	}
	ks_buf_release(&digests);
	ks_buf_release(&body);
	return status;
}

/* Pool all readings. A digest in full is never anything else. */
static enum ks_status
pool_readings(struct matching *matching, const struct telling *telling,
	struct ks_span text, const struct ks_permalink *link,
	struct ks_error *err)
{
	struct ks_index *index = telling->index;
	struct ks_id full;
	enum ks_status status = by_digest(matching, index, text, err);

	if (status != KS_OK || ks_id_parse_loose(&full, text) ||
		(text.len >= 7 && memcmp(text.data, "sha256:", 7) == 0))
		return status;
	/* Ids and names are the log's. */
	status = matching->count > 0 ? KS_OK :
		ks_log_understood(telling->store, err);
	if (status == KS_OK)
		status = by_permalink(matching, index, link, err);
	if (status == KS_OK)
		status = by_id(matching, index, text, err);
	if (status == KS_OK)
		status = by_name(matching, index, text, err);
	if (status == KS_OK && link->form == KS_PERMALINK_NONE)
		status = by_external(matching, telling->store, index, text,
			err);
	if (status == KS_OK && matching->count == 0)
		status = by_source(matching, telling->store, index, text, err);
	return status;
}

static enum ks_status
not_found(const char *shown, const struct ks_permalink *link,
	struct ks_error *err)
{
	const char *what = NULL;

	switch (link->form) {
	case KS_PERMALINK_NONE:
		return ks_fail(err, KS_NOT_FOUND,
			"%s: nothing in this store has that digest, id%s or "
			"name", shown, strchr(shown, ':') == NULL ? "" :
			", external id");
	case KS_PERMALINK_OTHER:
		return ks_fail(err, KS_NOT_FOUND, "%s: not a permalink that "
			"kistore knows (runs/ID, serving-runs/ID, operations/"
			"SLUG, implementations/SLUG and projects/SLUG are)",
			shown);
	case KS_PERMALINK_DIGEST:
		what = "digest";
		break;
	case KS_PERMALINK_ID:
		what = "id";
		break;
	case KS_PERMALINK_SLUG:
		what = "slug or name";
		break;
	}
	return ks_fail(err, KS_NOT_FOUND, "%s: no %s in this store has that "
		"%s", shown, strrchr(link->kind, '/') + 1, what);
}

static enum ks_status
judge(const struct matching *matching, const char *reference,
	const struct ks_permalink *link, struct ks_error *err)
{
	char shown[256];

	(void)ks_printable(shown, sizeof(shown), ks_span_text(reference));
	if (matching->count == 0)
		return not_found(shown, link, err);
	if (matching->count > MATCHES_MAX)
		return ks_fail(err, KS_AMBIGUOUS,
			"%s is ambiguous: more than %d objects", shown,
			MATCHES_MAX);
	if (matching->count > 1)
		return ks_fail(err, KS_AMBIGUOUS,
			"%s is ambiguous: %zu objects", shown,
			matching->count);
	return KS_OK;
}

enum ks_status
ks_resolve(struct ks_store *store, const char *reference, ks_match_fn *visit,
	void *arg, struct ks_error *err)
{
	struct telling telling = {
		.store = store, .visit = visit, .arg = arg
	};
	struct matching matching = { .count = 0 };
	struct ks_permalink link;
	enum ks_status status = ks_store_index(store, &telling.index, NULL,
		err);

	ks_permalink_read(ks_span_text(reference), &link);
	if (status == KS_OK)
		status = pool_readings(&matching, &telling,
			ks_span_text(reference), &link, err);
	if (status != KS_OK)
		return status;
	tell_all(&telling, &matching);
	return judge(&matching, reference, &link, err);
}

static void
keep_digest(void *arg, const struct ks_match *match)
{
	*(struct ks_id *)arg = match->digest;
}

enum ks_status
ks_resolve_one(struct ks_store *store, const char *reference,
	struct ks_id *digest, struct ks_error *err)
{
	return ks_resolve(store, reference, keep_digest, digest, err);
}
