/*
 * Citations in the forms that bibliography programs read: BibTeX, CSL-JSON,
 * RIS. They say what the text says, part by part, and in a note the digest and
 * what is signed.
 *
 * Unicode is kept. What has a meaning in the form (LaTeX's special characters,
 * JSON's, ends of lines) is escaped, so that nothing that a record says can
 * leave its field.
 */
#ifndef KS_FORMAT_CITEFORM_H
#define KS_FORMAT_CITEFORM_H

#include "format/citetext.h"

/* A citation and what covers it. */
struct ks_citeform {
	const struct ks_citetext *parts;
	struct ks_span accessed;	/* YYYY-MM-DD */
	struct ks_span origin;		/* of the log; empty = not signed */
	uint64_t size;			/* entries that are signed */
	uint32_t key_id;		/* of the key that signed them */
};

/* Append an entry @misc{kernelindex-DIGITS, ...}; each line ends in LF. */
void ks_citeform_bibtex(const struct ks_citeform *form, struct ks_buf *out);

/* Append a list of one item, canonical JSON, and LF. */
void ks_citeform_csl(const struct ks_citeform *form, struct ks_buf *out);

/* Append a record of type DATA; each line ends in CR LF. */
void ks_citeform_ris(const struct ks_citeform *form, struct ks_buf *out);

#endif
