#include <stdlib.h>

#include "base/grow.h"
#include "format/json.h"
#include "store/archive.h"

void
ks_takedowns_release(struct ks_takedowns *takedowns)
{
	free(takedowns->list);
	free(takedowns->lines);
	free(takedowns->redacted);
	memset(takedowns, 0, sizeof(*takedowns));
}

/* ---- noting --------------------------------------------------------- */

static enum ks_status
add_number(uint64_t **list, size_t *count, size_t *room, uint64_t number,
	struct ks_error *err)
{
	uint64_t *grown = ks_grow(*list, *count, room, sizeof(*grown), err);

	if (grown == NULL)
		return KS_NOMEM;
	*list = grown;
	grown[(*count)++] = number;
	return KS_OK;
}

static enum ks_status
add_takedown(struct ks_takedowns *takedowns, uint64_t index,
	const struct ks_entry *entry, struct ks_error *err)
{
	struct ks_takedown takedown = {
		.digest = entry->digest, .index = index,
		.first = takedowns->line_count
	};
	struct ks_json_iter it = ks_json_iter(entry->lines);
	struct ks_takedown *grown;
	struct ks_span item;
	int64_t line;
	enum ks_status status = KS_OK;

	while (status == KS_OK && ks_json_next_element(&it, &item))
		if (ks_json_integer(item, &line) && line >= 0)
			status = add_number(&takedowns->lines,
				&takedowns->line_count, &takedowns->line_room,
				(uint64_t)line, err);
	takedown.count = takedowns->line_count - takedown.first;
	if (status != KS_OK)
		return status;
	grown = ks_grow(takedowns->list, takedowns->count, &takedowns->room,
		sizeof(*grown), err);
	if (grown == NULL)
		return KS_NOMEM;
	takedowns->list = grown;
	grown[takedowns->count++] = takedown;
	return KS_OK;
}

/* Whether a line may be one of the two: most are not, which shows without
 * taking them apart. */
static bool
may_concern(struct ks_span line)
{
	static const char mark[] = "\"op\":\"takedown\"";
	const uint8_t *at = line.data;
	size_t left = line.len, len = sizeof(mark) - 1;

	if (line.len > 0 && line.data[0] == '-')
		return true;
	while (left >= len && (at = memchr(at, '"', left - len + 1)) != NULL) {
		left = line.len - (size_t)(at - line.data);
		if (memcmp(at, mark, len) == 0)
			return true;
		at++;
		left--;
	}
	return false;
}

enum ks_status
ks_takedowns_line(struct ks_takedowns *takedowns, uint64_t index,
	const struct ks_entry *entry, struct ks_error *err)
{
	if (entry->op == KS_OP_TAKEDOWN)
		return add_takedown(takedowns, index, entry, err);
	if (entry->op == KS_OP_REDACTED)
		return add_number(&takedowns->redacted,
			&takedowns->redacted_count, &takedowns->redacted_room,
			index, err);
	return KS_OK;
}

enum ks_status
ks_takedowns_take(struct ks_takedowns *takedowns, struct ks_jcs *jcs,
	uint64_t index, struct ks_span line, struct ks_error *err)
{
	struct ks_entry entry;
	enum ks_status status;

	if (!may_concern(line))
		return KS_OK;
	status = ks_entry_parse(jcs, line, &entry, NULL);
	if (status == KS_NOMEM)
		return ks_fail_nomem(err);
	return status != KS_OK ? KS_OK : ks_takedowns_line(takedowns, index,
		&entry, err);
}

/* ---- foreseeing ----------------------------------------------------- */

static void
print_number(uint64_t number, struct ks_buf *text)
{
	ks_buf_printf(text, "%c%llu", text->len == 0 ? '[' : ',',
		(unsigned long long)number);
}

/* A canonical array of the lines from `from` on, or nothing. */
static void
print_lines(const struct ks_takedowns *takedowns,
	const struct ks_takedown *takedown, uint64_t from, struct ks_buf *text)
{
	size_t i;

	ks_buf_clear(text);
	for (i = 0; i < takedown->count; i++)
		if (takedowns->lines[takedown->first + i] >= from)
			print_number(takedowns->lines[takedown->first + i],
				text);
	if (text->len > 0)
		ks_buf_byte(text, ']');
}

enum ks_status
ks_takedowns_foresee(const struct ks_takedowns *takedowns,
	struct ks_replay *replay, uint64_t from, struct ks_error *err)
{
	struct ks_buf text = KS_BUF_INIT;
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < takedowns->count; i++) {
		const struct ks_takedown *takedown = &takedowns->list[i];
		struct ks_entry entry = { .op = KS_OP_TAKEDOWN,
			.digest = takedown->digest };

		print_lines(takedowns, takedown, from, &text);
		entry.lines = ks_buf_span(&text);
		status = ks_buf_check(&text, err);
		if (status == KS_OK)
			status = ks_replay_foresee(replay, takedown->index,
				&entry, err);
	}
	ks_buf_release(&text);
	return status;
}

void
ks_takedowns_trim(struct ks_entry *entry, uint64_t from, struct ks_buf *text)
{
	struct ks_json_iter it = ks_json_iter(entry->lines);
	struct ks_span item;
	int64_t line;

	ks_buf_clear(text);
	while (ks_json_next_element(&it, &item))
		if (ks_json_integer(item, &line) && line >= 0 &&
			(uint64_t)line >= from)
			print_number((uint64_t)line, text);
	if (text->len > 0)
		ks_buf_byte(text, ']');
	entry->lines = ks_buf_span(text);
}

/* ---- carried out? --------------------------------------------------- */

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool
is_redacted(const struct ks_takedowns *takedowns, uint64_t index)
{
	return takedowns->redacted_count > 0 && bsearch(&index,
		takedowns->redacted, takedowns->redacted_count, sizeof(index),
		by_number) != NULL;
}

static enum ks_status
check_one(const struct ks_takedowns *takedowns,
	const struct ks_takedown *takedown, uint64_t from,
	struct ks_error *err)
{
	size_t i;

	for (i = 0; i < takedown->count; i++) {
		uint64_t line = takedowns->lines[takedown->first + i];

		if (line >= from && line < takedown->index &&
			!is_redacted(takedowns, line))
			return ks_fail(err, KS_CORRUPT, "entry %llu stands in "
				"full, though the takedown in entry %llu "
				"lists it (X3, S9)", (unsigned long long)line,
				(unsigned long long)takedown->index);
	}
	return KS_OK;
}

enum ks_status
ks_takedowns_check(const struct ks_takedowns *takedowns, uint64_t from,
	uint64_t size, struct ks_error *err)
{
	size_t i;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < takedowns->count; i++)
		if (takedowns->list[i].index < size)
			status = check_one(takedowns, &takedowns->list[i],
				from, err);
	return status;
}

bool
ks_takedowns_lists(const struct ks_takedowns *takedowns, uint64_t since,
	uint64_t line)
{
	size_t i, k;

	for (i = 0; i < takedowns->count; i++) {
		const struct ks_takedown *takedown = &takedowns->list[i];

		for (k = 0; takedown->index >= since && k < takedown->count;
			k++)
			if (takedowns->lines[takedown->first + k] == line)
				return true;
	}
	return false;
}
