/*
 * Runs each file named on the command line through a fuzz target once, so
 * that a corpus can be replayed without libFuzzer:
 *
 *	replay-TARGET FILE...
 *
 * The program is this file linked with one tests/fuzz/fuzz_TARGET.c. It ends
 * by abort() where the target finds fault; the file is named before that.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read all of `file` into memory for the caller to free; NULL on failure.
 * Exactly as large as the contents, so that tools see a read beyond them. */
static uint8_t *
read_all(FILE *file, size_t *size)
{
	uint8_t *data;
	long end;

	if (fseek(file, 0, SEEK_END) != 0)
		return NULL;
	end = ftell(file);
	if (end < 0 || fseek(file, 0, SEEK_SET) != 0)
		return NULL;
	*size = (size_t)end;
	data = malloc(*size == 0 ? 1 : *size);
	if (data != NULL && fread(data, 1, *size, file) != *size) {
		free(data);
		return NULL;
	}
	return data;
}

static int
replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0;

	if (file != NULL) {
		data = read_all(file, &size);
		(void)fclose(file);
	}
	if (data == NULL) {
		perror(path);
		return -1;
	}
	(void)printf("%s\n", path);
	(void)fflush(stdout);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

int
main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (replay(argv[i]) != 0)
			return 1;
	return 0;
}
