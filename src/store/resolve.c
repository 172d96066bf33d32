#include <stdio.h>

#include "format/json.h"
#include "store/store.h"

/* Candidates that are shown of an ambiguous reference. */
#define MATCHES_MAX 50
#define PREFIX_MIN 6

/* The matches so far: each digest once, under its first reading. */
struct matching {
	struct ks_store *store;
	ks_match_fn *visit;
	void *arg;
	const char *reading;
	struct ks_span kind_filter;	/* len 0 = any */
	struct ks_id seen[MATCHES_MAX + 1];
	size_t count;
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
tell(struct matching *matching, const struct ks_index_row *row)
{
	struct ks_match match = {
		.digest = row->state.digest,
		.kind = row->kind,
		.name = row->name,
		.reading = matching->reading,
		.retracted = row->state.retracted,
		.superseded = row->state.superseded,
		.taken_down = row->state.taken_down
	};
	struct ks_buf metadata = KS_BUF_INIT;
	struct ks_buf title = KS_BUF_INIT;

	if (ks_store_notes(matching->store, row, &metadata, NULL, NULL) ==
		KS_OK)
		member_text(ks_buf_span(&metadata), "title", &title);
	match.title = ks_buf_cstr(&title);
	if (matching->visit != NULL)
		matching->visit(matching->arg, &match);
	ks_buf_release(&metadata);
	ks_buf_release(&title);
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
		if (ks_id_equal(&matching->seen[i], &row->state.digest))
			return false;
	matching->seen[matching->count++] = row->state.digest;
	if (matching->count <= MATCHES_MAX)
		tell(matching, row);
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

/* A name, or KIND/NAME with the kind short or in full. */
static enum ks_status
by_name(struct matching *matching, struct ks_index *index,
	struct ks_span text, struct ks_error *err)
{
	size_t slash = text.len;
	enum ks_status status;

	matching->reading = "name";
	status = ks_index_by_name(index, text, on_row, matching, err);
	while (slash > 0 && text.data[slash - 1] != '/')
		slash--;
	if (status != KS_OK || slash < 2)
		return status;
	matching->kind_filter = ks_span(text.data, slash - 1);
	return ks_index_by_name(index,
		ks_span(text.data + slash, text.len - slash), on_row,
		matching, err);
}

/* Pool all readings. A digest in full is never anything else. */
static enum ks_status
pool_readings(struct matching *matching, struct ks_index *index,
	struct ks_span text, struct ks_error *err)
{
	struct ks_id full;
	enum ks_status status = by_digest(matching, index, text, err);

	if (status != KS_OK || ks_id_parse_loose(&full, text) ||
		(text.len >= 7 && memcmp(text.data, "sha256:", 7) == 0))
		return status;
	/* Ids and names are the log's. */
	status = matching->count > 0 ? KS_OK :
		ks_log_understood(matching->store, err);
	if (status == KS_OK)
		status = by_id(matching, index, text, err);
	return status == KS_OK ? by_name(matching, index, text, err) : status;
}

static enum ks_status
judge(const struct matching *matching, const char *reference,
	struct ks_error *err)
{
	char shown[256];

	(void)ks_printable(shown, sizeof(shown), ks_span_text(reference));
	if (matching->count == 0)
		return ks_fail(err, KS_NOT_FOUND,
			"%s: nothing in this store has that digest, id or "
			"name", shown);
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
	struct matching matching = {
		.store = store, .visit = visit, .arg = arg
	};
	struct ks_index *index;
	enum ks_status status = ks_store_index(store, &index, NULL, err);

	if (status == KS_OK)
		status = pool_readings(&matching, index,
			ks_span_text(reference), err);
	return status == KS_OK ? judge(&matching, reference, err) : status;
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
