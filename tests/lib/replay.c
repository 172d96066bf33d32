/*
 * Gives every file of a directory to a fuzz target once: what fuzzing found
 * stays tested without a fuzzer. replay DIRECTORY writes TAP.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define NAME_MAX_LEN 4096

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The bytes of a file, in memory of exactly that size so that a read beyond
 * them is noticed; NULL when it cannot be read. */
static uint8_t *
read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long end;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0) {
		*size = (size_t)end;
		data = malloc(*size > 0 ? *size : 1);
		rewind(file);
		if (data != NULL && fread(data, 1, *size, file) != *size) {
			free(data);
			data = NULL;
		}
	}
	(void)fclose(file);
	return data;
}

static int
replay(const char *directory, const char *name)
{
	char path[NAME_MAX_LEN];
	size_t size = 0;
	uint8_t *data;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	data = read_file(path, &size);
	if (data == NULL)
		return -1;
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

int
main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	int failed = 0;
	int count;
	int i;

	if (argc != 2)
		return EXIT_FAILURE;
	count = scandir(argv[1], &entries, is_visible, alphasort);
	if (count < 0) {
		printf("1..1\nok 1 # skip no directory %s\n", argv[1]);
		return EXIT_SUCCESS;
	}
	printf("1..%d\n", count);
	for (i = 0; i < count; i++) {
		int bad = replay(argv[1], entries[i]->d_name);

		failed |= bad;
		printf("%sok %d - %s\n", bad != 0 ? "not " : "", i + 1,
			entries[i]->d_name);
		(void)fflush(stdout);
		free(entries[i]);
	}
	free(entries);
	return failed != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
