#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/tlogproof.h"
#include "../lib/vectors.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the files of the vectors ------------------------------------------ */

/* What refuses a file: this module, the inclusion proof (format/proof.h), or
 * the signatures of the note and the keys that are trusted, which are not
 * looked at here. */
enum judge {
	BY_NOBODY,
	BY_PARSER,
	BY_PROOF,
	BY_NOTE
};

static const struct {
	const char *file;
	enum judge judge;
	const char *says;	/* BY_PARSER: in the message */
} files[] = {
	{ "ok-300-0.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-42.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-7-empty-leaf.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-9-binary-leaf.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-255.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-256.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-299.tlog-proof", BY_NOBODY, "" },
	{ "ok-256-255.tlog-proof", BY_NOBODY, "" },
	{ "ok-1-0-no-hashes.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-42-extra.tlog-proof", BY_NOBODY, "" },
	/* Good unless a quorum is asked for. */
	{ "ok-300-42-no-cosignatures.tlog-proof", BY_NOBODY, "" },
	{ "ok-300-42-unknown-signer.tlog-proof", BY_NOBODY, "" },
	{ "bad-leaf.tlog-proof", BY_PROOF, "" },
	{ "bad-index.tlog-proof", BY_PROOF, "" },
	{ "bad-index-too-large.tlog-proof", BY_PROOF, "" },
	{ "bad-index-leading-zero.tlog-proof", BY_PARSER, "decimal" },
	{ "bad-index-negative.tlog-proof", BY_PARSER, "decimal" },
	{ "bad-index-plus.tlog-proof", BY_PARSER, "decimal" },
	{ "bad-no-index.tlog-proof", BY_PARSER, "no index line" },
	{ "bad-extra-after-index.tlog-proof", BY_PARSER, "hash 1 " },
	{ "bad-extra-base64.tlog-proof", BY_PARSER, "extra line" },
	{ "bad-header.tlog-proof", BY_PARSER, "does not begin" },
	{ "bad-missing-hash.tlog-proof", BY_PROOF, "" },
	{ "bad-additional-hash.tlog-proof", BY_PROOF, "" },
	{ "bad-swapped-hashes.tlog-proof", BY_PROOF, "" },
	{ "bad-short-hash.tlog-proof", BY_PARSER, "no base64 hash" },
	{ "bad-no-blank-line.tlog-proof", BY_PARSER, "hash 10 " },
	{ "bad-wrong-checkpoint.tlog-proof", BY_PROOF, "" },
	{ "bad-log-signature.tlog-proof", BY_NOTE, "" },
	{ "bad-other-log.tlog-proof", BY_NOTE, "" },
	{ "bad-origin-cross-signed.tlog-proof", BY_NOTE, "" },
	{ "bad-known-witness-signature.tlog-proof", BY_NOTE, "" },
	{ "bad-cr.tlog-proof", BY_PARSER, "does not begin" },
	{ "bad-truncated.tlog-proof", BY_PARSER, "newline" },
};

static struct ks_span
take_line(struct ks_span *text)
{
	const uint8_t *lf = memchr(text->data, '\n', text->len);
	struct ks_span line;

	assert_non_null(lf);
	line = ks_span(text->data, (size_t)(lf - text->data));
	*text = ks_span(lf + 1, text->len - line.len - 1);
	return line;
}

/* Whether the proof leads from the leaf to the root that the second and third
 * line of the note state. */
static bool
is_included(const struct ks_tlogproof *proof, struct ks_span leaf_hex)
{
	static uint8_t bytes[4096];
	struct ks_span note = proof->note, line;
	struct ks_id leaf, root;
	int64_t size;

	assert_true(leaf_hex.len / 2 <= sizeof(bytes));
	assert_true(ks_hex_decode(leaf_hex, bytes, leaf_hex.len / 2));
	ks_merkle_leaf(ks_span(bytes, leaf_hex.len / 2), &leaf);
	(void)take_line(&note);
	line = take_line(&note);
	assert_true(ks_json_integer(line, &size));
	root = vector_base64(take_line(&note));
	return ks_proof_check_inclusion(&leaf, proof->index, (uint64_t)size,
		&proof->proof, &root);
}

static void
assert_written_again(const struct ks_tlogproof *proof, struct ks_span text)
{
	struct ks_buf out = KS_BUF_INIT;

	ks_buf_text(&out, "kept ");
	assert_int_equal(ks_tlogproof_write(proof, &out, NULL), KS_OK);
	assert_memory_equal(out.data, "kept ", 5);
	assert_true(ks_span_equal(ks_span(out.data + 5, out.len - 5), text));
	ks_buf_release(&out);
}

static void
check_file(size_t row, struct ks_span leaf_hex)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	struct ks_tlogproof proof;
	char name[128];
	enum ks_status status;

	(void)snprintf(name, sizeof(name), "tlog_proof/%s", files[row].file);
	vector_read(name, &text);
	status = ks_tlogproof_parse(ks_buf_span(&text), true, &proof, &err);
	if (files[row].judge == BY_PARSER) {
		if (status != KS_CORRUPT ||
			strstr(err.message, files[row].says) == NULL)
			fail_msg("%s: %s", name, err.message);
	} else {
		if (status != KS_OK)
			fail_msg("%s: %s", name, err.message);
		assert_written_again(&proof, ks_buf_span(&text));
		if (is_included(&proof, leaf_hex) !=
			(files[row].judge != BY_PROOF))
			fail_msg("%s: inclusion", name);
	}
	ks_buf_release(&text);
}

static void
each_of_the_34_files_is_judged_where_it_is_bad(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span row;
	size_t i, count[4] = { 0 };

	(void)state;
	it = ks_json_iter(vector_member(
		vector_read_json("tlog_proof/index.json", &text), "cases"));
	for (i = 0; ks_json_next_element(&it, &row); i++) {
		bool good = !ks_json_is(vector_member(row, "expect"),
			"reject");

		assert_true(i < COUNT(files));
		assert_true(ks_json_is(vector_member(row, "file"),
			files[i].file));
		assert_int_equal(good, files[i].judge == BY_NOBODY);
		count[files[i].judge]++;
		check_file(i, vector_text(row, "leaf_hex"));
	}
	assert_int_equal(i, COUNT(files));
	assert_int_equal(count[BY_NOBODY], 12);
	assert_int_equal(count[BY_PARSER], 11);
	assert_int_equal(count[BY_PROOF], 7);
	assert_int_equal(count[BY_NOTE], 4);
	ks_buf_release(&text);
}

static void
the_parts_of_a_file_are_what_stands_there(void **state)
{
	struct ks_buf text = KS_BUF_INIT, extra = KS_BUF_INIT;
	struct ks_tlogproof proof;
	struct ks_id hash;

	(void)state;
	vector_read("tlog_proof/ok-300-42-extra.tlog-proof", &text);
	assert_int_equal(ks_tlogproof_parse(ks_buf_span(&text), true, &proof,
		NULL), KS_OK);
	assert_int_equal(proof.index, 42);
	assert_int_equal(proof.proof.count, 9);
	hash = vector_base64(ks_span_text(
		"9zSWQLoLEjDkpiJjALBnc3CV9W+JF1HhPJCSSy1J9WE="));
	assert_true(ks_id_equal(&hash, &proof.proof.hashes[0]));
	hash = vector_base64(ks_span_text(
		"Ox20udCg57OdRGejbK+rc9XWWh1YjvRBv8vgC0m1dgE="));
	assert_true(ks_id_equal(&hash, &proof.proof.hashes[8]));
	assert_true(ks_base64_decode(proof.extra, &extra));
	assert_string_equal(ks_buf_cstr(&extra),
		"free bytes, not authenticated\n");
	assert_memory_equal(proof.note.data, "archive.example/log\n300\n", 24);
	assert_ptr_equal(proof.note.data + proof.note.len,
		text.data + text.len);
	ks_buf_release(&text);
	ks_buf_release(&extra);
}

/* store-layout.md A5 */
static void
an_extra_line_is_refused_where_there_must_be_none(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_tlogproof proof;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	vector_read("tlog_proof/ok-300-42-extra.tlog-proof", &text);
	assert_int_equal(ks_tlogproof_parse(ks_buf_span(&text), false, &proof,
		&err), KS_CORRUPT);
	assert_string_equal(err.message, "proof has an extra line (A5)");
	ks_buf_clear(&text);
	vector_read("tlog_proof/ok-300-42.tlog-proof", &text);
	assert_int_equal(ks_tlogproof_parse(ks_buf_span(&text), false, &proof,
		NULL), KS_OK);
	assert_int_equal(proof.extra.len, 0);
	ks_buf_release(&text);
}

/* ---- texts made by hand ------------------------------------------------ */

#define HEAD "c2sp.org/tlog-proof@v1\n"
#define HASH "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

static void
the_smallest_and_the_largest_numbers_are_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t index;
	} table[] = {
		{ HEAD "index 0\n\n\n", 0 },
		{ HEAD "index 9\n\nnote\n", 9 },
		{ HEAD "index 10\n" HASH "\n\nnote\n\nmore\n", 10 },
		{ HEAD "index 9223372036854775807\n\nnote\n", INT64_MAX },
		{ HEAD "extra AA==\nindex 1\n\nnote\n", 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		struct ks_span text = ks_span_text(table[i].text);
		struct ks_tlogproof proof;
		struct ks_error err = KS_ERROR_INIT;

		if (ks_tlogproof_parse(text, true, &proof, &err) != KS_OK)
			fail_msg("row %zu: %s", i, err.message);
		assert_int_equal(proof.index, table[i].index);
		assert_written_again(&proof, text);
	}
}

static const struct {
	const char *text;
	const char *says;
} bad_texts[] = {
	{ "", "does not begin" },
	{ "\n", "does not begin" },
	{ "c2sp.org/tlog-proof@v1", "does not begin" },
	{ "c2sp.org/tlog-proof@v1 \n", "does not begin" },
	{ "C2SP.org/tlog-proof@v1\nindex 0\n\nnote\n", "does not begin" },
	{ "c2sp.org/tlog-proof@v10\nindex 0\n\nnote\n", "does not begin" },
	{ "\xef\xbb\xbf" HEAD "index 0\n\nnote\n", "does not begin" },
	{ "\n" HEAD "index 0\n\nnote\n", "does not begin" },
	{ HEAD, "no index line" },
	{ HEAD "\n", "no index line" },
	{ HEAD "index 0", "no index line" },
	{ HEAD "index\n\nnote\n", "no index line" },
	{ HEAD " index 0\n\nnote\n", "no index line" },
	{ HEAD "Index 0\n\nnote\n", "no index line" },
	{ HEAD "\nindex 0\n\nnote\n", "no index line" },
	{ HEAD "extra AA==\n", "no index line" },
	{ HEAD "extra AA==\nextra AA==\nindex 0\n\nn\n", "no index line" },
	{ HEAD "extra\nindex 0\n\nnote\n", "no index line" },
	{ HEAD "extra \nindex 0\n\nnote\n", "not base64" },
	{ HEAD "extra  AA==\nindex 0\n\nnote\n", "not base64" },
	{ HEAD "extra AA== \nindex 0\n\nnote\n", "not base64" },
	{ HEAD "extra AB==\nindex 0\n\nnote\n", "not base64" },
	{ HEAD "extra AA\nindex 0\n\nnote\n", "not base64" },
	{ HEAD "extra -_-_\nindex 0\n\nnote\n", "not base64" },
	{ HEAD "index \n\nnote\n", "not a decimal" },
	{ HEAD "index  0\n\nnote\n", "not a decimal" },
	{ HEAD "index 0 \n\nnote\n", "not a decimal" },
	{ HEAD "index 00\n\nnote\n", "not a decimal" },
	{ HEAD "index 01\n\nnote\n", "not a decimal" },
	{ HEAD "index +1\n\nnote\n", "not a decimal" },
	{ HEAD "index -0\n\nnote\n", "not a decimal" },
	{ HEAD "index 0x1\n\nnote\n", "not a decimal" },
	{ HEAD "index 1e3\n\nnote\n", "not a decimal" },
	{ HEAD "index 1.0\n\nnote\n", "not a decimal" },
	{ HEAD "index 0\r\n\nnote\n", "not a decimal" },
	{ HEAD "index 9223372036854775808\n\nnote\n", "not a decimal" },
	{ HEAD "index 18446744073709551616\n\nnote\n", "not a decimal" },
	{ HEAD "index 99999999999999999999999\n\nnote\n", "not a decimal" },
	{ HEAD "index 0\n", "no empty line" },
	{ HEAD "index 0\n" HASH, "no empty line" },
	{ HEAD "index 0\n" HASH "\n", "no empty line" },
	{ HEAD "index 0\n" HASH "\n" HASH "\nnote\n", "hash 3 " },
	{ HEAD "index 0\nnote\n", "hash 1 " },
	{ HEAD "index 0\n" HASH " \n\nnote\n", "hash 1 " },
	{ HEAD "index 0\n " HASH "\n\nnote\n", "hash 1 " },
	{ HEAD "index 0\n" HASH "\r\n\nnote\n", "hash 1 " },
	{ HEAD "index 0\n" HASH HASH "\n\nnote\n", "hash 1 " },
	{ HEAD "index 0\nAA==\n\nnote\n", "hash 1 " },
	{ HEAD "index 0\nindex 0\n\nnote\n", "hash 1 " },
	{ HEAD "index 0\n\r\nnote\n", "hash 1 " },
	{ HEAD "index 0\n\n", "newline" },
	{ HEAD "index 0\n\nnote", "newline" },
	{ HEAD "index 0\n\nnote\n ", "newline" },
};

static void
no_other_text_is_accepted(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad_texts); i++) {
		struct ks_tlogproof proof;
		struct ks_error err = KS_ERROR_INIT;

		if (ks_tlogproof_parse(ks_span_text(bad_texts[i].text), true,
			&proof, &err) != KS_CORRUPT ||
			strstr(err.message, bad_texts[i].says) == NULL)
			fail_msg("row %zu: %s", i, err.message);
	}
}

/* store-layout.md B18 */
static void
a_proof_has_at_most_63_hashes(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_tlogproof proof;
	struct ks_error err = KS_ERROR_INIT;
	size_t count, i;

	(void)state;
	for (count = 62; count <= 65; count++) {
		ks_buf_clear(&text);
		ks_buf_text(&text, HEAD "index 0\n");
		for (i = 0; i < count; i++)
			ks_buf_text(&text, HASH "\n");
		ks_buf_text(&text, "\nnote\n");
		assert_int_equal(ks_tlogproof_parse(ks_buf_span(&text), false,
			&proof, &err), count <= 63 ? KS_OK : KS_CORRUPT);
	}
	assert_string_equal(err.message, "proof of more than 63 hashes (B18)");
	ks_buf_release(&text);
}

/* Memory of exactly its length, so that a read behind it is noticed. */
static enum ks_status
parse_exactly(struct ks_span text, struct ks_tlogproof *proof)
{
	uint8_t *copy = malloc(text.len == 0 ? 1 : text.len);
	enum ks_status status;

	assert_non_null(copy);
	if (text.len > 0)
		memcpy(copy, text.data, text.len);
	status = ks_tlogproof_parse(ks_span(copy, text.len), true, proof,
		NULL);
	free(copy);
	return status;
}

static void
a_file_cut_in_its_head_or_its_last_line_is_refused(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_tlogproof proof;
	size_t len, head;

	(void)state;
	vector_read("tlog_proof/ok-300-42-extra.tlog-proof", &text);
	assert_int_equal(ks_tlogproof_parse(ks_buf_span(&text), true, &proof,
		NULL), KS_OK);
	head = text.len - proof.note.len;
	for (len = 0; len < text.len; len++) {
		/* A note that ends after a whole line is for its reader. */
		bool whole = len > head && text.data[len - 1] == '\n';

		assert_int_equal(parse_exactly(ks_span(text.data, len),
			&proof), whole ? KS_OK : KS_CORRUPT);
	}
	ks_buf_release(&text);
}

/* So one text stands for given parts: nothing can be changed and still be the
 * same proof. */
static void
every_changed_byte_is_refused_or_other_parts(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_tlogproof proof;
	size_t i, accepted = 0;
	unsigned c;

	(void)state;
	vector_read("tlog_proof/ok-300-42-extra.tlog-proof", &text);
	for (i = 0; i < text.len; i++)
		for (c = 1; c < 256; c++) {
			text.data[i] ^= (uint8_t)c;
			if (ks_tlogproof_parse(ks_buf_span(&text), true,
				&proof, NULL) == KS_OK) {
				accepted++;
				assert_written_again(&proof,
					ks_buf_span(&text));
			}
			text.data[i] ^= (uint8_t)c;
		}
	/* The note but its LF; 40 characters of extra, and padding for the
	 * last; two digits of the index; nine hashes of 42 characters and one
	 * with two spare bits. An LF in place of the second digit, or of a
	 * hash's first character, makes an empty line: the note begins there,
	 * and cannot be one. */
	assert_int_equal(ks_tlogproof_parse(ks_buf_span(&text), true, &proof,
		NULL), KS_OK);
	assert_int_equal(accepted, (proof.note.len - 1) * 255 + 40 * 63 + 1 +
		8 + 9 + 1 + 9 * (42 * 63 + 15 + 1));
	ks_buf_release(&text);
}

/* ---- writing ----------------------------------------------------------- */

static void
what_could_not_be_read_is_not_written(void **state)
{
	struct ks_tlogproof proof = { .note = ks_span_text("note\n") };
	struct ks_buf out = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	proof.index = (uint64_t)INT64_MAX + 1;
	assert_int_equal(ks_tlogproof_write(&proof, &out, &err), KS_INVALID);
	assert_string_equal(err.message,
		"index 9223372036854775808 of a proof is too large");
	proof.index = 0;
	proof.proof.count = KS_PROOF_MAX + 1;
	assert_int_equal(ks_tlogproof_write(&proof, &out, NULL), KS_INVALID);
	proof.proof.count = 0;
	proof.extra = ks_span_text("AB==");
	assert_int_equal(ks_tlogproof_write(&proof, &out, NULL), KS_INVALID);
	proof.extra = ks_span_text("AA==\n");
	assert_int_equal(ks_tlogproof_write(&proof, &out, NULL), KS_INVALID);
	proof.extra = ks_span(NULL, 0);
	proof.note = ks_span_text("note");
	assert_int_equal(ks_tlogproof_write(&proof, &out, NULL), KS_INVALID);
	proof.note = ks_span(NULL, 0);
	assert_int_equal(ks_tlogproof_write(&proof, &out, NULL), KS_INVALID);
	assert_int_equal(out.len, 0);
	ks_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_of_the_34_files_is_judged_where_it_is_bad),
		cmocka_unit_test(the_parts_of_a_file_are_what_stands_there),
		cmocka_unit_test(
			an_extra_line_is_refused_where_there_must_be_none),
		cmocka_unit_test(the_smallest_and_the_largest_numbers_are_read),
		cmocka_unit_test(no_other_text_is_accepted),
		cmocka_unit_test(a_proof_has_at_most_63_hashes),
		cmocka_unit_test(
			a_file_cut_in_its_head_or_its_last_line_is_refused),
		cmocka_unit_test(every_changed_byte_is_refused_or_other_parts),
		cmocka_unit_test(what_could_not_be_read_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
