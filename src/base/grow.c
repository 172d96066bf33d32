#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST_ROOM 16

void *
ks_grow(void *list, size_t count, size_t *room, size_t item,
	struct ks_error *err)
{
	size_t wanted = *room == 0 ? FIRST_ROOM : 2 * *room;
	void *grown = NULL;

	if (count < *room)
		return list;
	if (*room <= SIZE_MAX / 2 && wanted <= SIZE_MAX / item)
		grown = realloc(list, wanted * item);
	if (grown == NULL)
		(void)ks_fail_nomem(err);
	else
		*room = wanted;
	return grown;
}
