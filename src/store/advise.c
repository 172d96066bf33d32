#include "store/advise.h"

#include "format/json.h"

void
ks_adviser_release(struct ks_adviser *adviser)
{
	size_t i;

	for (i = 0; i < KS_ADVISER_TEXTS; i++)
		ks_buf_release(&adviser->texts[i]);
}

/* The body of a digest: collected, or from the store. What is looked up must
 * stay until the advice is given, so each goes into a buffer of its own. */
static bool
find_body(struct ks_adviser *adviser, const struct ks_id *target,
	struct ks_span *body)
{
	uint32_t number = ks_collection_find(adviser->all, target);
	struct ks_buf *text;

	if (adviser->used == KS_ADVISER_TEXTS)
		return false;
	text = &adviser->texts[adviser->used++];
	if (number != KS_NO_ITEM && adviser->all->items[number].present)
		return ks_collection_get(adviser->all,
			adviser->all->items[number].body, text, body, NULL) ==
			KS_OK;
	if (adviser->store == NULL) {
		adviser->incomplete = true;
		return false;
	}
	ks_buf_clear(text);
	if (ks_store_body(adviser->store, target, text, NULL) != KS_OK)
		return false;
	*body = ks_buf_span(text);
	return true;
}

static bool
look_up(void *arg, const struct ks_id *target, const struct ks_kind **kind,
	struct ks_span *spec)
{
	struct ks_span body, api_version, name;

	if (!find_body(arg, target, &body) ||
		!ks_json_find(body, "apiVersion", &api_version) ||
		!ks_json_find(body, "kind", &name) ||
		!ks_json_find(body, "spec", spec))
		return false;
	*kind = ks_kind_find(ks_json_raw(api_version), ks_json_raw(name));
	return *kind != NULL;
}

static bool
keep_note(void *arg, enum ks_finding_level level, const char *path,
	const char *message)
{
	struct ks_adviser *adviser = arg;

	(void)level;
	ks_buf_printf(adviser->notes, "%s %s", path, message);
	ks_buf_byte(adviser->notes, 0);
	return true;
}

bool
ks_advise(struct ks_adviser *adviser, const struct ks_item *item,
	struct ks_buf *notes)
{
	struct ks_span body, spec;
	struct ks_buf scratch = KS_BUF_INIT;
	size_t before = notes->len;

	adviser->used = 0;
	adviser->incomplete = false;
	adviser->notes = notes;
	if (item->kind != NULL && ks_collection_get(adviser->all, item->body,
		&scratch, &body, NULL) == KS_OK &&
		ks_json_find(body, "spec", &spec))
		ks_kind_advise(item->kind, spec, look_up, adviser, keep_note,
			adviser);
	ks_buf_release(&scratch);
	if (adviser->incomplete)
		notes->len = before;
	return !adviser->incomplete;
}
