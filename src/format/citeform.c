#include "format/citeform.h"

#include <inttypes.h>

#include "format/json.h"

/* What the note says: the digest, and the snapshot that covers it. */
static void
append_note(const struct ks_citeform *form, struct ks_buf *out)
{
	char digest[KS_ID_TEXT + 1];

	ks_buf_append(out, ks_buf_span(&form->parts->what));
	ks_buf_printf(out, ", %s", ks_id_print(&form->parts->digest, digest));
	if (form->origin.len == 0)
		return;
	ks_buf_text(out, "; log ");
	ks_buf_append(out, form->origin);
	ks_buf_printf(out, ", snapshot %" PRIu64 ", key %08" PRIx32,
		form->size, form->key_id);
}

/* "Transformers · Rotary position embedding, …: 621.5 µs (median)" */
static void
append_title(const struct ks_citeform *form, struct ks_buf *out)
{
	const struct ks_citetext *parts = form->parts;

	ks_buf_append(out, ks_buf_span(&parts->subject));
	if (parts->finding.len == 0)
		return;
	ks_buf_text(out, ": ");
	ks_buf_append(out, ks_buf_span(&parts->finding));
}

/* Begin each field: append a text, made by `make`, as `put` writes it. */
typedef void make_fn(const struct ks_citeform *form, struct ks_buf *out);
typedef void put_fn(struct ks_buf *out, struct ks_span text);

static void
append_made(struct ks_buf *out, const struct ks_citeform *form, make_fn *make,
	put_fn *put)
{
	struct ks_buf text = KS_BUF_INIT;

	make(form, &text);
	put(out, ks_buf_span(&text));
	out->failed = out->failed || text.failed;
	ks_buf_release(&text);
}

static bool
has_control(uint8_t c)
{
	return c < 0x20 || c == 0x7f;
}

/* ---- BibTeX ------------------------------------------------------------- */

/* What LaTeX reads as a command, as a text. Braces are never bare, so that the
 * value ends where it should. */
static const char *
latex(uint8_t c)
{
	switch (c) {
	case '\\':
		return "{\\textbackslash}";
	case '{':
		return "{\\textbraceleft}";
	case '}':
		return "{\\textbraceright}";
	case '~':
		return "{\\textasciitilde}";
	case '^':
		return "{\\textasciicircum}";
	case '#':
		return "\\#";
	case '$':
		return "\\$";
	case '%':
		return "\\%";
	case '&':
		return "\\&";
	case '_':
		return "\\_";
	case '"':
		return "{\\textquotedbl}";
	default:
		return NULL;
	}
}

static void
put_latex(struct ks_buf *out, struct ks_span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		const char *escape = latex(text.data[i]);

		if (escape != NULL)
			ks_buf_text(out, escape);
		else
			ks_buf_byte(out, has_control(text.data[i]) ? ' ' :
				text.data[i]);
	}
}

/* What needs no escape: digests, days, addresses made of them. */
static void
bibtex_plain(struct ks_buf *out, const char *name, struct ks_span value)
{
	ks_buf_printf(out, ",\n  %s = {", name);
	ks_buf_append(out, value);
	ks_buf_byte(out, '}');
}

static void
bibtex_address(struct ks_buf *out, const struct ks_buf *link)
{
	size_t i;

	ks_buf_text(out, ",\n  url = {");
	/* An id is a text of the log: only what addresses have is taken. */
	for (i = 0; i < link->len; i++) {
		uint8_t c = link->data[i];

		if (c > 0x20 && c < 0x7f && strchr("{}\\%#\"", c) == NULL)
			ks_buf_byte(out, c);
	}
	ks_buf_byte(out, '}');
}

void
ks_citeform_bibtex(const struct ks_citeform *form, struct ks_buf *out)
{
	const struct ks_citetext *parts = form->parts;
	char hex[KS_ID_HEX + 1];

	ks_buf_printf(out, "@misc{kernelindex-%.12s,\n  title = {{",
		ks_id_print_hex(&parts->digest, hex));
	append_made(out, form, append_title, put_latex);
	ks_buf_text(out, "}}");
	if (parts->reporter.len > 0) {
		ks_buf_text(out, ",\n  author = {{");
		put_latex(out, ks_buf_span(&parts->reporter));
		ks_buf_text(out, "}}");
	}
	if (parts->issued[0] != '\0') {
		bibtex_plain(out, "year", ks_span(parts->issued, 4));
		bibtex_plain(out, "date", ks_span_text(parts->issued));
	}
	if (parts->link.len > 0)
		bibtex_address(out, &parts->link);
	bibtex_plain(out, "urldate", form->accessed);
	ks_buf_text(out, ",\n  note = {");
	append_made(out, form, append_note, put_latex);
	ks_buf_text(out, "}\n}\n");
}

/* ---- CSL-JSON ----------------------------------------------------------- */

/* {"date-parts":[[2026,8,17]]}: numbers, so without leading zeros. */
static void
csl_date(struct ks_buf *out, const char *name, struct ks_span day)
{
	unsigned number = 0;
	size_t i;

	ks_buf_printf(out, "\"%s\":{\"date-parts\":[[", name);
	for (i = 0; i < day.len; i++) {
		if (day.data[i] != '-') {
			number = number * 10 + (day.data[i] - (unsigned)'0');
			continue;
		}
		ks_buf_printf(out, "%u,", number);
		number = 0;
	}
	ks_buf_printf(out, "%u]]}", number);
}

void
ks_citeform_csl(const struct ks_citeform *form, struct ks_buf *out)
{
	const struct ks_citetext *parts = form->parts;
	char hex[KS_ID_HEX + 1];

	ks_buf_text(out, "[{");
	if (parts->link.len > 0) {
		ks_buf_text(out, "\"URL\":");
		ks_json_quote(out, ks_buf_span(&parts->link));
		ks_buf_byte(out, ',');
	}
	csl_date(out, "accessed", form->accessed);
	if (parts->reporter.len > 0) {
		ks_buf_text(out, ",\"author\":[{\"literal\":");
		ks_json_quote(out, ks_buf_span(&parts->reporter));
		ks_buf_text(out, "}]");
	}
	ks_buf_printf(out, ",\"id\":\"kernelindex-%.12s\"",
		ks_id_print_hex(&parts->digest, hex));
	if (parts->issued[0] != '\0') {
		ks_buf_byte(out, ',');
		csl_date(out, "issued", ks_span_text(parts->issued));
	}
	ks_buf_text(out, ",\"note\":");
	append_made(out, form, append_note, ks_json_quote);
	ks_buf_text(out, ",\"publisher\":\"KernelIndex\",\"title\":");
	append_made(out, form, append_title, ks_json_quote);
	ks_buf_text(out, ",\"type\":\"dataset\"}]\n");
}

/* ---- RIS ---------------------------------------------------------------- */

static void
put_line(struct ks_buf *out, struct ks_span text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		ks_buf_byte(out, has_control(text.data[i]) ? ' ' :
			text.data[i]);
}

static void
ris_field(struct ks_buf *out, const char *tag, struct ks_span value)
{
	ks_buf_printf(out, "%s  - ", tag);
	put_line(out, value);
	ks_buf_text(out, "\r\n");
}

static void
ris_made(struct ks_buf *out, const char *tag, const struct ks_citeform *form,
	make_fn *make)
{
	ks_buf_printf(out, "%s  - ", tag);
	append_made(out, form, make, put_line);
	ks_buf_text(out, "\r\n");
}

/* RIS writes days with slashes. */
static void
ris_day(struct ks_buf *out, const char *tag, struct ks_span day)
{
	size_t i;

	ks_buf_printf(out, "%s  - ", tag);
	for (i = 0; i < day.len; i++)
		ks_buf_byte(out, day.data[i] == '-' ? '/' : day.data[i]);
	ks_buf_text(out, "\r\n");
}

void
ks_citeform_ris(const struct ks_citeform *form, struct ks_buf *out)
{
	const struct ks_citetext *parts = form->parts;
	char digest[KS_ID_TEXT + 1];

	ks_buf_text(out, "TY  - DATA\r\n");
	ris_made(out, "TI", form, append_title);
	if (parts->reporter.len > 0)
		ris_field(out, "AU", ks_buf_span(&parts->reporter));
	if (parts->issued[0] != '\0') {
		ris_field(out, "PY", ks_span(parts->issued, 4));
		ris_day(out, "DA", ks_span_text(parts->issued));
	}
	ris_field(out, "AN", ks_span_text(ks_id_print(&parts->digest,
		digest)));
	if (parts->link.len > 0)
		ris_field(out, "UR", ks_buf_span(&parts->link));
	ris_day(out, "Y2", form->accessed);
	ris_made(out, "N1", form, append_note);
	ks_buf_text(out, "ER  - \r\n");
}
