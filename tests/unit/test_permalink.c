#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "format/permalink.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SITE "https://kernelindex.com/"
#define UUID "01a016ae-0000-7000-8000-000000000001"
#define HEX \
	"c3252a98ba487075f12047e8fc1ecd6dc156a9144e5fc5a6619de6954416fcf6"
#define UPPER \
	"C3252A98BA487075F12047E8FC1ECD6DC156A9144E5FC5A6619DE6954416FCF6"

struct meaning {
	const char *text;
	const char *says;
};

static const struct meaning links[] = {
	{ SITE "runs/" UUID, "BenchmarkRun id " UUID },
	{ SITE "runs/" UUID "/", "BenchmarkRun id " UUID },
	{ SITE "runs/01A016AE-0000-7000-8000-000000000001",
		"BenchmarkRun id " UUID },
	{ SITE "runs/sha256:" HEX, "BenchmarkRun digest " HEX },
	{ SITE "runs/sha256%3A" HEX, "BenchmarkRun digest " HEX },
	{ SITE "runs/sha256%3a" HEX "/?a=b/c#d", "BenchmarkRun digest " HEX },
	{ SITE "runs/" UPPER, "BenchmarkRun digest " HEX },
	{ SITE "serving-runs/" UUID "#top", "ServingRun id " UUID },
	{ SITE "operations/rope?workload=" UUID "&cohort=sha256:" HEX,
		"OperationSpec slug rope" },
	{ SITE "operations/a.b_c-1", "OperationSpec slug a.b_c-1" },
	{ SITE "operations/%72ope", "OperationSpec slug rope" },
	/* A slug may look like anything. */
	{ SITE "operations/" UUID, "OperationSpec slug " UUID },
	{ SITE "implementations/x", "ImplementationRevision slug x" },
	{ SITE "projects/x/", "SoftwareProject slug x" },
	{ "http://kernelindex.com/runs/" UUID, "BenchmarkRun id " UUID },
	{ "HTTPS://KernelIndex.COM/runs/" UUID, "BenchmarkRun id " UUID },
};

static const char *const others[] = {
	"https://kernelindex.com",
	"https://kernelindex.com?runs/" UUID,
	"https://kernelindex.com#runs/" UUID,
	SITE,
	SITE "/runs/" UUID,
	SITE "runs",
	SITE "runs/",
	SITE "runs//",
	SITE "runs/" UUID "//",
	SITE "runs/" UUID "/x",
	SITE "runs/01a016ae",
	SITE "runs/" UUID ".",
	SITE "runs/sha256:c3252a98",
	SITE "runs/sha512:" HEX,
	SITE "runs?" UUID,
	SITE "Runs/" UUID,
	SITE "run/" UUID,
	SITE "gpus/h100",
	SITE "api/v1/runs/" UUID,
	SITE "operations/a/b",
	SITE "operations/a%2Fb",
	SITE "operations/a%2fb",
	SITE "operations/a%00",
	SITE "operations/a%",
	SITE "operations/a%4",
	SITE "operations/a%4g",
	SITE "operations/a b",
	SITE "operations/a%20b",
	SITE "operations/\xc3\xa9",
	SITE "operations/\x1b",
};

static const char *const none[] = {
	"", "h", "https:", "https://", "https://kernelindex.co",
	"kernelindex.com/runs/" UUID,
	"//kernelindex.com/runs/" UUID,
	"ftp://kernelindex.com/runs/" UUID,
	"https:/kernelindex.com/runs/" UUID,
	" https://kernelindex.com/runs/" UUID,
	"https://kernelindex.com.example.org/runs/" UUID,
	"https://kernelindex.community/runs/" UUID,
	"https://kernelindex.com@example.org/runs/" UUID,
	"https://user@kernelindex.com/runs/" UUID,
	"https://kernelindex.com:443/runs/" UUID,
	"https://example.org/?https://kernelindex.com/runs/" UUID,
	"https://kernelindex.com\\runs/" UUID,
	UUID, HEX, "sha256:" HEX, "name", "BenchmarkRun/name",
};

/* What a link is taken for, as a text. */
static void
print(const struct ks_permalink *link, struct ks_buf *out)
{
	char text[KS_ID_HEX + 1];

	ks_buf_clear(out);
	switch (link->form) {
	case KS_PERMALINK_NONE:
		ks_buf_text(out, "none");
		break;
	case KS_PERMALINK_OTHER:
		ks_buf_text(out, "other");
		break;
	case KS_PERMALINK_DIGEST:
		ks_buf_printf(out, "%s digest %s", strrchr(link->kind, '/') + 1,
			ks_id_print_hex(&link->digest, text));
		break;
	case KS_PERMALINK_ID:
		ks_buf_printf(out, "%s id %s", strrchr(link->kind, '/') + 1,
			ks_uuid_print(link->id, text));
		break;
	case KS_PERMALINK_SLUG:
		ks_buf_printf(out, "%s slug %s", strrchr(link->kind, '/') + 1,
			link->slug);
		break;
	}
}

static void
expect(struct ks_span text, const char *says)
{
	struct ks_permalink link;
	struct ks_buf out = KS_BUF_INIT;

	ks_permalink_read(text, &link);
	print(&link, &out);
	if (strcmp(ks_buf_cstr(&out), says) != 0)
		fail_msg("%.*s: %s", (int)text.len, (const char *)text.data,
			ks_buf_cstr(&out));
	ks_buf_release(&out);
}

static void
a_permalink_names_a_record_by_id_digest_or_slug(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(links); i++)
		expect(ks_span_text(links[i].text), links[i].says);
}

static void
any_other_address_of_the_host_is_no_permalink(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(others); i++)
		expect(ks_span_text(others[i]), "other");
	expect(ks_span(SITE "operations/a\0b", sizeof(SITE) + 13), "other");
	expect(ks_span("https://kernelindex.com\0/x", 26), "none");
}

static void
another_host_is_not_this_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(none); i++)
		expect(ks_span_text(none[i]), "none");
}

/* What was printed is read as what it was. */
static void
the_address_of_a_run_is_printed(void **state)
{
	static const struct {
		const char *kind, *key, *says;
	} cases[] = {
		{ "BenchmarkRun", UUID, SITE "runs/" UUID },
		{ "BenchmarkRun", "sha256:" HEX, SITE "runs/sha256:" HEX },
		{ "ServingRun", UUID, SITE "serving-runs/" UUID },
		{ "OperationSpec", UUID, "" },
		{ "WorkloadCase", UUID, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct ks_buf kind = KS_BUF_INIT, out = KS_BUF_INIT;
		struct ks_permalink link;

		ks_buf_printf(&kind, "kernelindex.dev/v1alpha1/%s",
			cases[i].kind);
		ks_permalink_print(&out, ks_buf_cstr(&kind),
			ks_span_text(cases[i].key));
		assert_string_equal(ks_buf_cstr(&out), cases[i].says);
		if (out.len > 0) {
			ks_permalink_read(ks_buf_span(&out), &link);
			assert_string_equal(link.kind, ks_buf_cstr(&kind));
		}
		ks_buf_release(&kind);
		ks_buf_release(&out);
	}
}

static void
a_slug_has_at_most_200_characters(void **state)
{
	struct ks_buf text = KS_BUF_INIT, says = KS_BUF_INIT;

	(void)state;
	ks_buf_text(&text, SITE "operations/");
	ks_buf_text(&says, "OperationSpec slug ");
	for (int i = 0; i < KS_PERMALINK_SLUG_MAX; i++) {
		ks_buf_byte(&text, 'x');
		ks_buf_byte(&says, 'x');
	}
	expect(ks_buf_span(&text), ks_buf_cstr(&says));
	ks_buf_byte(&text, 'x');
	expect(ks_buf_span(&text), "other");
	ks_buf_release(&text);
	ks_buf_release(&says);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_permalink_names_a_record_by_id_digest_or_slug),
		cmocka_unit_test(
			any_other_address_of_the_host_is_no_permalink),
		cmocka_unit_test(another_host_is_not_this_one),
		cmocka_unit_test(the_address_of_a_run_is_printed),
		cmocka_unit_test(a_slug_has_at_most_200_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
