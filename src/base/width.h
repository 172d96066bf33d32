/*
 * How many columns of a terminal a text takes.
 *
 * By the table of Unicode's East Asian widths, coarsely: what is in doubt
 * counts as wide. And so do marks that are piled on one character, from the
 * third on, so that a short width means a short text. Where this is wrong a
 * text is cut too early, never too late. Texts are what ks_printable() made of
 * them: bytes that are no UTF-8 count one column each.
 */
#ifndef KS_BASE_WIDTH_H
#define KS_BASE_WIDTH_H

#include "base/span.h"

/* The columns that `text` takes. */
size_t ks_width(struct ks_span text);

/* How many bytes of `text` fit into so many columns: whole characters, with
 * the marks on them. *used, unless NULL, is the columns that they take. */
size_t ks_width_fit(struct ks_span text, size_t columns, size_t *used);

#endif
