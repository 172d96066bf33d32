#include "cli/screen.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/width.h"
#include "cli/opt.h"
#include "cli/out.h"

/* Of a terminal that says nothing, and of what is none. */
#define WIDTH 80
/* Narrower ones are not set for. */
#define WIDTH_MIN 20
#define WIDTH_MAX 10000

/* Columns of one line of a text that are shown. */
#define LINE_MAX_COLUMNS 4000

/* ---- what there is ------------------------------------------------------ */

/* The first of these variables that is set decides (POSIX, 8.2). */
bool
ks_screen_is_utf8(void)
{
	const char *name = ks_cli_environment("LC_ALL");
	const char *codeset;

	if (name == NULL)
		name = ks_cli_environment("LC_CTYPE");
	if (name == NULL)
		name = ks_cli_environment("LANG");
	codeset = name == NULL ? NULL : strchr(name, '.');
	return codeset != NULL && (strncasecmp(codeset, ".utf-8", 6) == 0 ||
		strncasecmp(codeset, ".utf8", 5) == 0);
}

static size_t
width_of_terminal(void)
{
	const char *text = ks_cli_environment("COLUMNS");
	struct winsize size;
	int64_t columns;

	if (text != NULL && ks_opt_number(text, 1, WIDTH_MAX, &columns))
		return columns < WIDTH_MIN ? WIDTH_MIN : (size_t)columns;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return WIDTH;
	return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

void
ks_screen_init(struct ks_screen *screen)
{
	const char *term = ks_cli_environment("TERM");

	screen->terminal = isatty(STDOUT_FILENO) == 1;
	screen->utf8 = ks_screen_is_utf8();
	screen->width = screen->terminal ? width_of_terminal() : WIDTH;
	screen->colour = screen->terminal && term != NULL &&
		strcmp(term, "dumb") != 0 &&
		ks_cli_environment("NO_COLOR") == NULL;
}

void
ks_screen_style(const struct ks_screen *screen, enum ks_style style)
{
	const char *code = "\033[0m";

	if (!screen->colour)
		return;
	switch (style) {
	case KS_STYLE_PLAIN:
		break;
	case KS_STYLE_STRONG:
		code = "\033[1m";
		break;
	case KS_STYLE_FAINT:
		code = "\033[2m";
		break;
	case KS_STYLE_WARNING:
		code = "\033[33m";
		break;
	}
	ks_out_bytes(ks_span_text(code));
}

/* ---- text --------------------------------------------------------------- */

/* An escaped copy for the caller to free(); NULL, and output has failed,
 * without memory. */
static char *
escaped(struct ks_span text)
{
	size_t size = 4 * text.len + 1;
	char *copy = malloc(size);

	if (copy == NULL) {
		ks_out_fail(ENOMEM);
		return NULL;
	}
	return ks_printable(copy, size, text);
}

static const char *
cut_mark(const struct ks_screen *screen)
{
	return screen->utf8 ? "…" : "~";
}

void
ks_screen_blanks(size_t count)
{
	while (count-- > 0)
		ks_out_bytes(ks_span_text(" "));
}

size_t
ks_screen_columns(const char *text, size_t most)
{
	char *copy = escaped(ks_span_text(text));
	size_t columns = copy == NULL ? 0 : ks_width(ks_span_text(copy));

	free(copy);
	return columns < most ? columns : most;
}

/* Print an escaped line in at most so many columns; returns how many. */
static size_t
put_cut(const struct ks_screen *screen, struct ks_span line, size_t columns)
{
	size_t used;
	size_t fits = ks_width_fit(line, columns, &used);

	if (fits < line.len && columns > 0) {
		fits = ks_width_fit(line, columns - 1, &used);
		ks_out_bytes(ks_span(line.data, fits));
		ks_out_bytes(ks_span_text(cut_mark(screen)));
		return used + 1;
	}
	ks_out_bytes(ks_span(line.data, fits));
	return used;
}

void
ks_screen_cell(const struct ks_screen *screen, const char *text,
	size_t columns, bool right)
{
	char *copy = escaped(ks_span_text(text));
	size_t width;

	if (copy == NULL)
		return;
	width = ks_width(ks_span_text(copy));
	if (right && width < columns)
		ks_screen_blanks(columns - width);
	width = put_cut(screen, ks_span_text(copy), columns);
	if (!right && width < columns)
		ks_screen_blanks(columns - width);
	free(copy);
}

/* How much of a line stands in the columns that are left. Words are not
 * broken: a digest or an address that is longer runs over, and stays what can
 * be copied. */
static size_t
break_line(struct ks_span line, size_t columns)
{
	size_t fits = ks_width_fit(line, columns, NULL);
	size_t at = fits;
	size_t lead = 0;

	if (fits == line.len)
		return fits;
	while (lead < fits && line.data[lead] == ' ')
		lead++;
	while (at > lead && line.data[at] != ' ')
		at--;
	if (at > lead)
		return at;
	while (fits < line.len && line.data[fits] != ' ')
		fits++;
	return fits;
}

/* A line, wrapped; returns the column that it ends in. */
static size_t
put_wrapped(const struct ks_screen *screen, struct ks_span line, size_t at)
{
	size_t columns = screen->width > at + 10 ? screen->width - at : 10;

	for (;;) {
		size_t len = break_line(line, columns);

		ks_out_bytes(ks_span(line.data, len));
		if (len == line.len)
			return at + ks_width(line);
		line = ks_span(line.data + len, line.len - len);
		while (line.len > 0 && line.data[0] == ' ')
			line = ks_span(line.data + 1, line.len - 1);
		if (line.len == 0)
			return at;
		ks_out_bytes(ks_span_text("\n"));
		ks_screen_blanks(at);
	}
}

static size_t
put_line(const struct ks_screen *screen, struct ks_span text, size_t at)
{
	char *copy = escaped(text);
	struct ks_span line;
	size_t end;

	if (copy == NULL)
		return at;
	line = ks_span_text(copy);
	if (screen->terminal && ks_width(line) <= LINE_MAX_COLUMNS)
		end = put_wrapped(screen, line, at);
	else
		end = at + put_cut(screen, line, LINE_MAX_COLUMNS);
	free(copy);
	return end;
}

size_t
ks_screen_text(const struct ks_screen *screen, const char *text, size_t at,
	enum ks_style style)
{
	size_t end;

	for (;;) {
		size_t len = strcspn(text, "\n");

		if (style != KS_STYLE_PLAIN)
			ks_screen_style(screen, style);
		end = put_line(screen, ks_span(text, len), at);
		if (style != KS_STYLE_PLAIN)
			ks_screen_style(screen, KS_STYLE_PLAIN);
		if (text[len] == '\0')
			return end;
		text += len + 1;
		ks_out_bytes(ks_span_text("\n"));
		ks_screen_blanks(at);
	}
}

size_t
ks_screen_name(const struct ks_screen *screen, const char *text, size_t at,
	enum ks_style style)
{
	size_t room = screen->width > at + 10 ? screen->width - at : 10;
	size_t columns = ks_screen_columns(text, room);

	if (!screen->terminal)
		return ks_screen_text(screen, text, at, style);
	if (style != KS_STYLE_PLAIN)
		ks_screen_style(screen, style);
	ks_screen_cell(screen, text, columns, false);
	if (style != KS_STYLE_PLAIN)
		ks_screen_style(screen, KS_STYLE_PLAIN);
	return at + columns;
}
