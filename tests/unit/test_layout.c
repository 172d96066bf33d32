#include "format/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define REST "52a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6"
#define HEX "c32" REST

static struct ks_id
digest(void)
{
	struct ks_id id;

	assert_true(ks_id_parse_hex(&id, ks_span_text(HEX)));
	return id;
}

/* store-layout.md, T7. */
static void
the_attributes_are_three_lines(void **state)
{
	(void)state;
	assert_string_equal(ks_layout_attributes,
		"* -text\n"
		"objects/**/*.zst -diff -delta\n"
		"dictionaries/** -diff -delta\n");
}

/* T11 */
static void
an_object_stands_where_its_digest_says(void **state)
{
	char path[KS_OBJECT_PATH + 1];
	struct ks_id id = digest();
	struct ks_id back;

	(void)state;
	assert_string_equal(ks_layout_object(&id, path),
		"objects/c/32/" REST ".zst");
	assert_int_equal(strlen(path), KS_OBJECT_PATH);
	assert_true(ks_layout_object_id("c", "32", REST ".zst", &back));
	assert_true(ks_id_equal(&id, &back));
}

static void
other_names_are_no_objects(void **state)
{
	static const char *const table[][3] = {
		{ "C", "32", REST ".zst" },
		{ "c", "3A", REST ".zst" },
		{ "", "32", REST ".zst" },
		{ "c3", "2", REST ".zst" },
		{ "c3", "32", REST ".zst" },
		{ "c", "3", REST ".zst" },
		{ "c", "325", REST ".zst" },
		{ "g", "32", REST ".zst" },
		{ "c", "3g", REST ".zst" },
		{ ".", "..", REST ".zst" },
		{ "c", "32", REST },
		{ "c", "32", REST ".zs" },
		{ "c", "32", REST ".zstd" },
		{ "c", "32", REST ".ZST" },
		{ "c", "32", REST ".zst " },
		{ "c", "32", "0" REST ".zst" },
		{ "c", "32", REST "0.zst" },
		{ "c", "32", ".zst" },
		{ "c", "32", "" },
		{ "c", "32", "52A98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619"
			"de6954416fcf6.zst" },
		{ "c", "32", "5 a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619"
			"de6954416fcf6.zst" },
	};
	struct ks_id id;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (ks_layout_object_id(table[i][0], table[i][1],
			table[i][2], &id))
			fail_msg("%s/%s/%s", table[i][0], table[i][1],
				table[i][2]);
}

/* T9 */
static void
a_segment_holds_256_entries(void **state)
{
	static const struct {
		uint64_t entry;
		const char *path;
	} table[] = {
		{ 0, "log/000/000.jsonl" },
		{ 255, "log/000/000.jsonl" },
		{ 256, "log/000/001.jsonl" },
		{ 65535, "log/000/255.jsonl" },
		{ 65536, "log/001/000.jsonl" },
		{ 65535999, "log/999/255.jsonl" },
		{ 65536000, "log/1000/000.jsonl" },
		{ UINT32_MAX, "log/65535/255.jsonl" },
		{ UINT64_MAX, "log/281474976710655/255.jsonl" },
	};
	char path[KS_SEGMENT_PATH];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_string_equal(ks_layout_segment(table[i].entry, path),
			table[i].path);
}

static void
a_segment_is_numbered_by_its_path(void **state)
{
	static const struct {
		const char *path;
		uint64_t number;
	} table[] = {
		{ "log/000/000.jsonl", 0 },
		{ "log/000/001.jsonl", 1 },
		{ "log/000/255.jsonl", 255 },
		{ "log/001/000.jsonl", 256 },
		{ "log/999/255.jsonl", 255999 },
		{ "log/1000/000.jsonl", 256000 },
		{ "log/65535/255.jsonl", 16777215 },
		{ "log/99999999/255.jsonl", 25599999999 },
	};
	char path[KS_SEGMENT_PATH];
	uint64_t number;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_true(ks_layout_segment_number(table[i].path, &number));
		assert_int_equal(number, table[i].number);
		assert_string_equal(ks_layout_segment(number * 256 + 255,
			path), table[i].path);
	}
}

static void
other_paths_are_no_segments(void **state)
{
	static const char *const table[] = {
		"",
		"log",
		"log/",
		"log/000",
		"log/000/",
		"log/000/000",
		"log/000/000.json",
		"log/000/000.jsonl2",
		"log/000/000.jsonl/",
		"log/000/000.JSONL",
		"log/000/0.jsonl",
		"log/000/00.jsonl",
		"log/000/0000.jsonl",
		"log/00/000.jsonl",
		"log/0/000.jsonl",
		"log/0000/000.jsonl",
		"log/0001/000.jsonl",
		"log/01000/000.jsonl",
		"log/000/256.jsonl",
		"log/000/999.jsonl",
		"log/000/1000.jsonl",
		"log/001/-01.jsonl",
		"log/-01/000.jsonl",
		"log/+01/000.jsonl",
		"log/ 01/000.jsonl",
		"log/000/ 01.jsonl",
		"log/000/+01.jsonl",
		"log/0x1/000.jsonl",
		"log/00a/000.jsonl",
		"log/000/00a.jsonl",
		"log//000.jsonl",
		"log/000//000.jsonl",
		"log/000/000/000.jsonl",
		"/log/000/000.jsonl",
		"LOG/000/000.jsonl",
		"logs/000/000.jsonl",
		"lo/000/000.jsonl",
		"log/000/000.jsonl ",
		"log/000/000.jsonl\n",
		"log/100000000/000.jsonl",
		"log/18446744073709551616/000.jsonl",
		"log/72057594037927936/000.jsonl",
	};
	uint64_t number;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (ks_layout_segment_number(table[i], &number))
			fail_msg("%s", table[i]);
}

/* T13 */
static void
a_dictionary_is_named_by_id_and_digest(void **state)
{
	static const struct {
		uint32_t id;
		const char *name;
	} table[] = {
		{ 1, "1-" HEX ".zdict" },
		{ 32768, "32768-" HEX ".zdict" },
		{ UINT32_MAX, "4294967295-" HEX ".zdict" },
	};
	char path[KS_DICTIONARY_PATH], expected[KS_DICTIONARY_PATH];
	struct ks_id file = digest();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint32_t id = 0;
		struct ks_id back;

		memcpy(expected, "dictionaries/", 14);
		memcpy(expected + 13, table[i].name,
			strlen(table[i].name) + 1);
		assert_string_equal(ks_layout_dictionary(table[i].id, &file,
			path), expected);
		assert_true(ks_layout_dictionary_name(table[i].name, &id,
			&back));
		assert_int_equal(id, table[i].id);
		assert_true(ks_id_equal(&back, &file));
	}
}

static void
other_names_are_no_dictionaries(void **state)
{
	static const char *const table[] = {
		"",
		"-",
		"-" HEX ".zdict",
		"0-" HEX ".zdict",
		"01-" HEX ".zdict",
		"+1-" HEX ".zdict",
		" 1-" HEX ".zdict",
		"1a-" HEX ".zdict",
		"4294967296-" HEX ".zdict",
		"9999999999-" HEX ".zdict",
		"18446744073709551617-" HEX ".zdict",
		"1" HEX ".zdict",
		"1_" HEX ".zdict",
		"1--" HEX ".zdict",
		"1-" HEX,
		"1-" HEX ".zdic",
		"1-" HEX ".zdict2",
		"1-" HEX ".ZDICT",
		"1-0" HEX ".zdict",
		"1-" REST ".zdict",
		"1-C32" REST ".zdict",
		"1-g32" REST ".zdict",
	};
	struct ks_id file;
	uint32_t id;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (ks_layout_dictionary_name(table[i], &id, &file))
			fail_msg("%s", table[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_attributes_are_three_lines),
		cmocka_unit_test(an_object_stands_where_its_digest_says),
		cmocka_unit_test(other_names_are_no_objects),
		cmocka_unit_test(a_segment_holds_256_entries),
		cmocka_unit_test(a_segment_is_numbered_by_its_path),
		cmocka_unit_test(other_paths_are_no_segments),
		cmocka_unit_test(a_dictionary_is_named_by_id_and_digest),
		cmocka_unit_test(other_names_are_no_dictionaries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
