/*
 * What standard output is shown on, and text set for it.
 *
 * On a terminal, text is wrapped at its width (COLUMNS, or what the terminal
 * says) and coloured unless NO_COLOR is set or TERM is dumb. Anywhere else
 * nothing is wrapped or coloured; where a width is needed it is 80. All text
 * is escaped by ks_printable() first, and cut, with a mark, where it takes
 * more columns than anybody reads.
 */
#ifndef KS_CLI_SCREEN_H
#define KS_CLI_SCREEN_H

#include "cli/cmd.h"

struct ks_screen {
	bool terminal, colour, utf8;
	size_t width;
};

enum ks_style {
	KS_STYLE_PLAIN,
	KS_STYLE_STRONG,
	KS_STYLE_FAINT,
	KS_STYLE_WARNING
};

void ks_screen_init(struct ks_screen *screen);

/* Whether the locale's encoding is UTF-8: LC_ALL, LC_CTYPE, LANG decide. */
bool ks_screen_is_utf8(void);

/* The columns that a text takes once it is escaped, at most `most`. */
size_t ks_screen_columns(const char *text, size_t most);

/* Print a text in exactly so many columns: padded with blanks (in front, where
 * `right`), or cut with a mark. */
void ks_screen_cell(const struct ks_screen *screen, const char *text,
	size_t columns, bool right);

/* Print a text that begins in column `at`, and goes on there in further lines:
 * where it has LF, and, on a terminal, where a line is full. Returns the
 * column that it ends in. */
size_t ks_screen_text(const struct ks_screen *screen, const char *text,
	size_t at, enum ks_style style);

/* The same of a name, which on a terminal takes one line and is cut with a mark
 * where that is full. */
size_t ks_screen_name(const struct ks_screen *screen, const char *text,
	size_t at, enum ks_style style);

/* Print so many blanks. */
void ks_screen_blanks(size_t count);

/* From now on print in this style. */
void ks_screen_style(const struct ks_screen *screen, enum ks_style style);

#endif
