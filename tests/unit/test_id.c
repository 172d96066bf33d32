#include "format/id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEX "c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6"
#define UPPER "C3252A98BA487075F12047E8FC1ECD6DC156A9144E5FC5A6619DE6954416FCF6"

enum way { STORED, HEX_ONLY, TYPED };

static bool
parse(enum way way, struct ks_id *id, const char *text)
{
	struct ks_span span = ks_span_text(text);

	switch (way) {
	case STORED: return ks_id_parse(id, span);
	case HEX_ONLY: return ks_id_parse_hex(id, span);
	case TYPED: return ks_id_parse_loose(id, span);
	}
	return false;
}

/* store-layout.md, O2. */
static void
a_digest_is_taken_in_the_forms_that_its_reader_allows(void **state)
{
	static const struct {
		const char *text;
		bool stored, hex, typed;
	} table[] = {
		{ "sha256:" HEX, true, false, true },
		{ HEX, false, true, true },
		{ "sha256:" UPPER, false, false, true },
		{ "SHA256:" HEX, false, false, true },
		{ UPPER, false, false, true },
		{ "", false, false, false },
		{ "sha256:", false, false, false },
		{ "sha256", false, false, false },
		{ "sha512:" HEX, false, false, false },
		{ "sha256-" HEX, false, false, false },
		{ " sha256:" HEX, false, false, false },
		{ "sha256: " HEX, false, false, false },
		{ "sha256:" HEX " ", false, false, false },
		{ "sha256:" HEX "\n", false, false, false },
		{ "sha256:" HEX "0", false, false, false },
		{ HEX "0", false, false, false },
		{ "xsha256" HEX, false, false, false },
		{ "sha256:g3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619"
			"de6954416fcf6", false, false, false },
		{ "g3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de69544"
			"16fcf6", false, false, false },
		{ "c3252a98", false, false, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_id id;

		if (parse(STORED, &id, table[i].text) != table[i].stored ||
			parse(HEX_ONLY, &id, table[i].text) != table[i].hex ||
			parse(TYPED, &id, table[i].text) != table[i].typed)
			fail_msg("%s", table[i].text);
	}
}

static void
every_form_gives_the_same_bytes(void **state)
{
	static const char *const texts[] = {
		"sha256:" HEX, HEX, "sha256:" UPPER, UPPER, "Sha256:" HEX,
	};
	char out[KS_ID_TEXT + 1], hex[KS_ID_HEX + 1];
	struct ks_id id;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_true(parse(TYPED, &id, texts[i]));
		assert_int_equal(id.bytes[0], 0xc3);
		assert_int_equal(id.bytes[31], 0xf6);
		assert_string_equal(ks_id_print(&id, out), "sha256:" HEX);
		assert_string_equal(ks_id_print_hex(&id, hex), HEX);
	}
}

static void
a_single_character_cut_off_is_refused(void **state)
{
	static const char text[] = "sha256:" HEX;
	struct ks_id id;
	size_t len;

	(void)state;
	for (len = 0; len < KS_ID_TEXT; len++) {
		assert_false(ks_id_parse(&id, ks_span(text, len)));
		assert_int_equal(ks_id_parse_loose(&id, ks_span(text + len,
			KS_ID_TEXT - len)), len == 0 || len == 7);
	}
}

static void
order_is_that_of_bytes_and_of_the_text(void **state)
{
	static const char *const sorted[] = {
		"00" "252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416"
			"fcf6",
		"7f" "252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416"
			"fcf6",
		"80" "252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416"
			"fcf5",
		"80" "252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416"
			"fcf6",
		"ff" "252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416"
			"fcf6",
	};
	struct ks_id id[5];
	size_t i, k;

	(void)state;
	for (i = 0; i < 5; i++)
		assert_true(parse(HEX_ONLY, &id[i], sorted[i]));
	for (i = 0; i < 5; i++)
		for (k = 0; k < 5; k++) {
			int order = ks_id_compare(&id[i], &id[k]);

			assert_int_equal((order > 0) - (order < 0),
				(i > k) - (i < k));
			assert_int_equal(ks_id_equal(&id[i], &id[k]), i == k);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_digest_is_taken_in_the_forms_that_its_reader_allows),
		cmocka_unit_test(every_form_gives_the_same_bytes),
		cmocka_unit_test(a_single_character_cut_off_is_refused),
		cmocka_unit_test(order_is_that_of_bytes_and_of_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
