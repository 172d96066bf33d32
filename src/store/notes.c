#include "store/notes.h"

#include <stdio.h>
#include <stdlib.h>

void
ks_notes_release(struct ks_notes *notes)
{
	free(notes->sorts);
	*notes = (struct ks_notes){ .watch = notes->watch };
}

/* The text without what is quoted and without digits. */
static void
generalise(const char *text, char *out, size_t size)
{
	size_t used = 0;
	bool quoted = false;

	for (; *text != '\0' && used + 1 < size; text++) {
		if (*text == '"')
			quoted = !quoted;
		else if (quoted || (*text >= '0' && *text <= '9'))
			continue;
		out[used++] = *text;
	}
	out[used] = '\0';
}

static struct ks_note_sort *
find_sort(struct ks_notes *notes, const char *pattern)
{
	size_t i;

	for (i = 0; i < notes->used; i++)
		if (strcmp(notes->sorts[i].pattern, pattern) == 0)
			return &notes->sorts[i];
	if (notes->used == KS_NOTE_SORTS)
		return NULL;
	memset(&notes->sorts[i], 0, sizeof(notes->sorts[i]));
	(void)snprintf(notes->sorts[i].pattern,
		sizeof(notes->sorts[i].pattern), "%s", pattern);
	notes->used++;
	return &notes->sorts[i];
}

void
ks_notes_add(struct ks_notes *notes, uint64_t record, const char *place,
	const char *text)
{
	char pattern[sizeof(notes->sorts->pattern)];
	struct ks_note_sort *sort;

	notes->total++;
	if (notes->watch != NULL && notes->watch->all_notes) {
		ks_watch_note(notes->watch, "%s%s%s", place,
			place[0] == '\0' ? "" : ": ", text);
		return;
	}
	if (notes->sorts == NULL)
		notes->sorts = calloc(KS_NOTE_SORTS, sizeof(*notes->sorts));
	generalise(text, pattern, sizeof(pattern));
	sort = notes->sorts == NULL ? NULL : find_sort(notes, pattern);
	if (sort == NULL) {
		notes->others++;
		return;
	}
	if (sort->count == 0)
		(void)snprintf(sort->first, sizeof(sort->first), "%s%s%s",
			place, place[0] == '\0' ? "" : ": ", text);
	else if (sort->last == record)
		return;
	sort->count++;
	sort->last = record;
}

void
ks_notes_tell(const struct ks_notes *notes)
{
	const struct ks_watch *watch = notes->watch;
	size_t i;

	for (i = 0; i < notes->used; i++) {
		const struct ks_note_sort *sort = &notes->sorts[i];

		if (sort->count == 1)
			ks_watch_note(watch, "%s", sort->first);
		else
			ks_watch_note(watch, "%s (and %llu more records like "
				"this)", sort->first,
				(unsigned long long)(sort->count - 1));
	}
	if (notes->others > 0)
		ks_watch_note(watch, "%llu more notes of other sorts",
			(unsigned long long)notes->others);
}
