/*
 * es6_stream LINES [sha256]: print the first LINES lines of the ES6 number
 * file (es6_lines.h), or only their SHA-256. KISTORE_SHARED, ../shared by
 * default, is where vectors/jcs/es6-static-values.txt lies.
 */
#include "es6_lines.h"

#include <errno.h>
#include <stdlib.h>

static int
fail(const char *what, const char *name)
{
	fprintf(stderr, "es6_stream: %s %s\n", what, name);
	return EXIT_FAILURE;
}

static bool
parse_count(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0';
}

static void
print_lines(struct es6_lines *lines, uint64_t count)
{
	char line[ES6_LINE_MAX];

	for (; count > 0; count--) {
		size_t len = es6_line_write(es6_lines_next(lines), line);

		fwrite(line, 1, len, stdout);
	}
}

static void
print_digest(struct es6_lines *lines, uint64_t count, struct ks_digest *digest)
{
	static char block[1 << 16];
	char hex[KS_ID_HEX + 1];
	size_t len = 0;
	struct ks_id id;

	for (; count > 0; count--) {
		if (sizeof(block) - len < ES6_LINE_MAX) {
			ks_digest_update(digest, ks_span(block, len));
			len = 0;
		}
		len += es6_line_write(es6_lines_next(lines), block + len);
	}
	ks_digest_update(digest, ks_span(block, len));
	ks_digest_final(digest, &id);
	puts(ks_id_print_hex(&id, hex));
}

int
main(int argc, char **argv)
{
	static struct es6_lines lines;
	const char *shared = getenv("KISTORE_SHARED");
	struct ks_error err = KS_ERROR_INIT;
	struct ks_digest *digest;
	char path[4096];
	uint64_t count;

	if (argc < 2 || argc > 3 || !parse_count(argv[1], &count) ||
		(argc == 3 && strcmp(argv[2], "sha256") != 0))
		return fail("usage:", "es6_stream LINES [sha256]");
	snprintf(path, sizeof(path), "%s/vectors/jcs/es6-static-values.txt",
		shared != NULL ? shared : "../shared");
	if (!es6_lines_open(&lines, path))
		return fail("cannot read", path);
	if (argc == 2) {
		print_lines(&lines, count);
	} else {
		if (ks_digest_new(&digest, &err) != KS_OK)
			return fail("cannot hash:", err.message);
		print_digest(&lines, count, digest);
		ks_digest_free(digest);
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		return fail("cannot write to", "standard output");
	return EXIT_SUCCESS;
}
