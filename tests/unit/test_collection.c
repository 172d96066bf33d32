#include "store/collection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct ks_collection all;

static int
setup(void **state)
{
	(void)state;
	return ks_collection_init(&all, "/tmp/", NULL) != KS_OK;
}

static int
teardown(void **state)
{
	(void)state;
	ks_collection_release(&all);
	return 0;
}

/* A digest of 32 equal bytes. */
static struct ks_id
digest(uint8_t byte)
{
	struct ks_id id;

	memset(id.bytes, byte, sizeof(id.bytes));
	return id;
}

static struct ks_intake_id
uuid(uint8_t byte)
{
	struct ks_intake_id id = { .present = true };

	memset(id.bytes, byte, sizeof(id.bytes));
	return id;
}

static struct ks_gathered
manifest(uint8_t byte, const char *body)
{
	return (struct ks_gathered){
		.place = { "in.jsonl", byte },
		.digest = digest(byte),
		.full_kind = ks_span_text("example/v1/Thing"),
		.body = ks_span_text(body)
	};
}

static uint32_t
add(const struct ks_gathered *given)
{
	struct ks_id id = given->digest;

	assert_int_equal(ks_collection_manifest(&all, given, NULL), KS_OK);
	return ks_collection_find(&all, &id);
}

static void
assert_kept(struct ks_kept kept, const char *text)
{
	struct ks_buf scratch = KS_BUF_INIT;
	struct ks_span got;

	assert_int_equal(ks_collection_get(&all, kept, &scratch, &got, NULL),
		KS_OK);
	assert_true(ks_span_is(got, text));
	ks_buf_release(&scratch);
}

static void
what_was_never_given_is_not_found(void **state)
{
	struct ks_id id = digest(1);

	(void)state;
	assert_int_equal(ks_collection_find(&all, &id), KS_NO_ITEM);
	assert_int_equal(ks_collection_find_id(&all, uuid(1).bytes),
		KS_NO_ITEM);
	assert_int_equal(all.order_count, 0);
	assert_int_equal(all.source, KS_NO_ITEM);
}

static void
each_digest_is_one_item_in_the_order_met(void **state)
{
	static const uint8_t given[] = { 5, 3, 5, 9, 3, 1 };
	static const uint8_t order[] = { 5, 3, 9, 1 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(given); i++) {
		struct ks_gathered one = manifest(given[i], "{}");

		(void)add(&one);
	}
	assert_int_equal(all.order_count, sizeof(order));
	for (i = 0; i < sizeof(order); i++)
		assert_int_equal(all.items[all.order[i]].digest.bytes[0],
			order[i]);
}

static void
the_first_occurrence_gives_body_notes_and_place(void **state)
{
	struct ks_gathered one = manifest(7, "body");
	struct ks_gathered again = manifest(7, "");
	struct ks_buf place = KS_BUF_INIT;
	const struct ks_item *item;

	(void)state;
	one.metadata = ks_span_text("{\"name\":\"a\"}");
	again.metadata = ks_span_text("{\"name\":\"b\"}");
	again.place.line = 99;
	(void)add(&one);
	item = &all.items[add(&again)];
	assert_kept(item->body, "body");
	assert_kept(item->metadata, "{\"name\":\"a\"}");
	assert_kept(ks_collection_row(&all, item)->provenance, "");
	assert_string_equal(ks_collection_kind(&all, item->kind_text),
		"example/v1/Thing");
	ks_collection_place(&all, item, &place);
	assert_string_equal(ks_buf_cstr(&place), "in.jsonl:7");
	assert_int_equal(all.other_metadata, 1);
	ks_buf_release(&place);
}

static void
the_same_metadata_again_is_nothing_new(void **state)
{
	struct ks_gathered one = manifest(7, "body");

	(void)state;
	(void)add(&one);
	(void)add(&one);
	assert_int_equal(all.other_metadata, 0);
	one.metadata = ks_span_text("{\"name\":\"a\"}");
	(void)add(&one);
	assert_int_equal(all.other_metadata, 1);
}

static void
the_first_row_gives_ids_and_provenance(void **state)
{
	struct ks_gathered plain = manifest(7, "body");
	struct ks_gathered row = manifest(7, "");
	struct ks_gathered later = manifest(7, "");
	const struct ks_item *item;

	(void)state;
	row.id = uuid(1);
	row.source = uuid(2);
	row.provenance = ks_span_text("{\"id\":1}");
	later.id = uuid(3);
	later.project = uuid(4);
	later.provenance = ks_span_text("{\"id\":3}");
	(void)add(&plain);
	(void)add(&row);
	item = &all.items[add(&later)];
	assert_int_equal(ks_collection_row(&all, item)->id.bytes[0], 1);
	assert_true(ks_collection_row(&all, item)->source.present);
	assert_false(ks_collection_row(&all, item)->project.present);
	assert_kept(ks_collection_row(&all, item)->provenance,
		"{\"id\":1}");
	/* Both ids lead to it. */
	assert_int_equal(ks_collection_find_id(&all, uuid(1).bytes), 0);
	assert_int_equal(ks_collection_find_id(&all, uuid(3).bytes), 0);
}

static void
an_id_leads_to_the_newest_digest(void **state)
{
	struct ks_gathered one = manifest(1, "one");
	struct ks_gathered two = manifest(2, "two");

	(void)state;
	one.id = two.id = uuid(9);
	(void)add(&one);
	assert_int_equal(ks_collection_find_id(&all, uuid(9).bytes), 0);
	(void)add(&two);
	assert_int_equal(ks_collection_find_id(&all, uuid(9).bytes), 1);
	/* The row changed back. */
	(void)add(&one);
	assert_int_equal(ks_collection_find_id(&all, uuid(9).bytes), 0);
}

static void
references_are_items_that_are_not_present(void **state)
{
	struct ks_gathered_reference references[2] = {
		{ .target = digest(8) }, { .target = digest(9) }
	};
	struct ks_gathered one = manifest(7, "body");
	struct ks_gathered target = manifest(9, "target");
	const struct ks_item *item;
	struct ks_id missing = digest(8);
	struct ks_buf place = KS_BUF_INIT;
	uint32_t number;

	(void)state;
	one.references = references;
	one.reference_count = 2;
	(void)add(&one);
	item = &all.items[add(&target)];
	assert_true(item->present);
	number = ks_collection_find(&all, &missing);
	assert_int_not_equal(number, KS_NO_ITEM);
	assert_false(all.items[number].present);
	ks_collection_place(&all, &all.items[number], &place);
	assert_int_equal(place.len, 0);
	item = &all.items[0];
	assert_int_equal(item->reference_count, 2);
	assert_int_equal(all.references[item->first_reference].target, number);
	assert_int_equal(all.order_count, 2);
	ks_buf_release(&place);
}

static void
what_is_put_aside_has_no_place_until_the_input_has_it(void **state)
{
	struct ks_gathered aside = manifest(7, "body");
	struct ks_gathered given = manifest(7, "body");
	uint32_t number = 99;

	(void)state;
	aside.place = (struct ks_place){ "--source", 0 };
	aside.metadata = ks_span_text("{\"name\":\"aside\"}");
	given.metadata = ks_span_text("{\"name\":\"given\"}");
	assert_int_equal(ks_collection_aside(&all, &aside, &number, NULL),
		KS_OK);
	assert_int_equal(number, 0);
	assert_true(all.items[0].present);
	assert_int_equal(all.order_count, 0);
	assert_int_equal(add(&given), 0);
	assert_int_equal(all.order_count, 1);
	assert_kept(all.items[0].metadata, "{\"name\":\"given\"}");
	assert_int_equal(all.other_metadata, 0);
	/* And the other way round. */
	assert_int_equal(ks_collection_aside(&all, &aside, &number, NULL),
		KS_OK);
	assert_kept(all.items[0].metadata, "{\"name\":\"given\"}");
}

static void
facts_keep_the_order_of_their_rows(void **state)
{
	struct ks_gathered one = manifest(1, "one");
	struct ks_gathered two = manifest(2, "two");

	(void)state;
	one.reason = ks_span_text("\"first\"");
	one.retracted_at = ks_span_text("\"then\"");
	one.supersedes = uuid(5);
	two.reason = ks_span_text("\"second\"");
	(void)add(&one);
	(void)add(&two);
	assert_int_equal(all.fact_count, 3);
	assert_int_equal(all.facts[0].kind, KS_FACT_RETRACT);
	assert_kept(all.facts[0].reason, "\"first\"");
	assert_kept(all.facts[0].retracted_at, "\"then\"");
	assert_int_equal(all.facts[1].kind, KS_FACT_SUPERSEDE);
	assert_int_equal(all.facts[1].id[0], 5);
	assert_int_equal(all.facts[2].item, 1);
	assert_kept(all.facts[2].retracted_at, "");
}

static void
add_alias(uint8_t operation, const char *text)
{
	struct ks_place place = { "rows.jsonl", 3 };

	assert_int_equal(ks_collection_alias(&all, &place,
		uuid(operation).bytes, ks_span_text(text), NULL), KS_OK);
}

static void
aliases_are_those_of_their_operation_sorted_and_unique(void **state)
{
	static const struct {
		uint8_t operation;
		const char *expected;
	} table[] = {
		{ 1, "[\"only\"]" },
		{ 2, "[\"\",\"B\",\"a\\nb\",\"a\\\"\",\"b\",\"\xc3\xa9\"]" },
		{ 3, "" },
		{ 4, "[\"last\"]" },
		{ 0, "" },
		{ 255, "" },
	};
	size_t i;

	(void)state;
	add_alias(2, "\"b\"");
	add_alias(4, "\"last\"");
	add_alias(2, "\"\xc3\xa9\"");
	add_alias(2, "\"B\"");
	add_alias(1, "\"only\"");
	add_alias(2, "\"b\"");
	add_alias(2, "\"\"");
	add_alias(2, "\"a\\\"\"");
	add_alias(2, "\"a\\nb\"");
	assert_int_equal(ks_collection_close(&all, NULL), KS_OK);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ks_buf out = KS_BUF_INIT;

		assert_int_equal(ks_collection_aliases(&all,
			uuid(table[i].operation).bytes, &out, NULL), KS_OK);
		assert_string_equal(ks_buf_cstr(&out), table[i].expected);
		ks_buf_release(&out);
	}
}

static void
an_overlay_may_come_for_any_digest(void **state)
{
	struct ks_gathered one = manifest(7, "body");
	struct ks_id known = digest(7), unknown = digest(8);
	uint32_t number;

	(void)state;
	(void)add(&one);
	assert_int_equal(ks_collection_overlay(&all, &known,
		ks_span_text("{\"a\":1}"), NULL), KS_OK);
	assert_int_equal(ks_collection_overlay(&all, &unknown,
		ks_span_text("{\"b\":1}"), NULL), KS_OK);
	assert_kept(ks_collection_row(&all, &all.items[0])->overlay,
		 "{\"a\":1}");
	number = ks_collection_find(&all, &unknown);
	assert_kept(ks_collection_row(&all, &all.items[number])->overlay,
		 "{\"b\":1}");
	assert_false(all.items[number].present);
}

/* Far more than the first room of any array. */
static void
many_items_are_all_found_again(void **state)
{
	struct ks_id id;
	uint32_t i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		struct ks_gathered one = manifest((uint8_t)i, "some body");

		memcpy(one.digest.bytes, &i, sizeof(i));
		one.id = uuid(0);
		memcpy(one.id.bytes, &i, sizeof(i));
		assert_int_equal(add(&one), i);
	}
	for (i = 0; i < 20000; i++) {
		id = digest((uint8_t)i);
		memcpy(id.bytes, &i, sizeof(i));
		assert_int_equal(ks_collection_find(&all, &id), i);
		assert_kept(all.items[i].body, "some body");
	}
	assert_int_equal(all.order_count, 20000);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_never_given_is_not_found),
		TEST(each_digest_is_one_item_in_the_order_met),
		TEST(the_first_occurrence_gives_body_notes_and_place),
		TEST(the_same_metadata_again_is_nothing_new),
		TEST(the_first_row_gives_ids_and_provenance),
		TEST(an_id_leads_to_the_newest_digest),
		TEST(references_are_items_that_are_not_present),
		TEST(what_is_put_aside_has_no_place_until_the_input_has_it),
		TEST(facts_keep_the_order_of_their_rows),
		TEST(aliases_are_those_of_their_operation_sorted_and_unique),
		TEST(an_overlay_may_come_for_any_digest),
		TEST(many_items_are_all_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
