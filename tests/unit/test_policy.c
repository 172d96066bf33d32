#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base64.h"
#include "format/checkpoint.h"
#include "format/policy.h"
#include "../lib/trust.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define LOG_LINE "log " TRUST_LOG_VKEY "\n"
#define W_LINE "witness W " TRUST_WITNESS_VKEY "\n"
#define M_LINE "witness M " TRUST_MIRROR_VKEY "\n"
#define NONE_LINE "quorum none\n"
/* ML-DSA-44, as far as its first bytes go. */
#define TYPE_06 "w.example+00000000+BgAAAAAA"

static struct ks_policy *
parse(const char *text)
{
	struct ks_policy *policy = NULL;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_policy_parse(ks_span_text(text), &policy, &err) != KS_OK)
		fail_msg("%s: %s", text, err.message);
	assert_non_null(policy);
	return policy;
}

static void
assert_fails(struct ks_span text, enum ks_status status, const char *said)
{
	struct ks_policy *policy = (void *)1;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_policy_parse(text, &policy, &err) != status)
		fail_msg("not %s (%s): %.*s", ks_status_name(status), said,
			text.len > 400 ? 400 : (int)text.len,
			(const char *)text.data);
	assert_null(policy);
	assert_int_equal(err.status, status);
	if (strstr(err.message, said) == NULL)
		fail_msg("wanted \"%s\", got \"%s\"", said, err.message);
	/* Without a place for the message, the same. */
	assert_int_equal(ks_policy_parse(text, &policy, NULL), status);
}

/* Append the vkey of a key that nobody has, one for each number. */
static void
print_vkey(const char *name, enum ks_signature_type type, uint32_t number,
	struct ks_buf *out)
{
	struct ks_public_key key = { { 0 } };
	struct ks_vkey vkey;

	key.bytes[0] = (uint8_t)number;
	key.bytes[1] = (uint8_t)(number >> 8);
	key.bytes[2] = (uint8_t)(number >> 16);
	key.bytes[3] = 7;
	assert_int_equal(ks_vkey_make(ks_span_text(name), type, &key, &vkey,
		NULL), KS_OK);
	ks_vkey_print(&vkey, out);
}

static void
print_witness(const char *name, uint32_t number, struct ks_buf *out)
{
	ks_buf_printf(out, "witness %s ", name);
	print_vkey("w.example", KS_SIGNATURE_COSIGNATURE, number, out);
	ks_buf_byte(out, '\n');
}

/* A list of a policy's keys in which those verified whose bit is set. */
static struct ks_note_key *
some_keys(const struct ks_policy *policy, unsigned bits)
{
	size_t count = ks_policy_key_count(policy);
	struct ks_note_key *keys = calloc(count + 1, sizeof(*keys));
	size_t i;

	assert_non_null(keys);
	ks_policy_keys(policy, keys);
	for (i = 0; i < count; i++) {
		assert_ptr_equal(keys[i].vkey, ks_policy_key(policy, i));
		assert_false(keys[i].verified);
		keys[i].verified = i < 32 && (bits >> i & 1) != 0;
	}
	return keys;
}

static enum ks_status
quorum_of(const struct ks_policy *policy, unsigned bits, struct ks_error *err)
{
	struct ks_note_key *keys = some_keys(policy, bits);
	enum ks_status status = ks_policy_check_quorum(policy, keys,
		ks_policy_key_count(policy), err);

	free(keys);
	return status;
}

/* ---- Reading ---- */

static void
a_policy_gives_its_keys_in_the_order_of_its_lines(void **state)
{
	struct ks_policy *policy = parse(
		"# who must have signed\n"
		"\n"
		" \t \n"
		W_LINE
		"\t log\t" TRUST_LOG_VKEY "   https://log.example/ \t\n"
		"   # log nothing\n"
		"witness  M  " TRUST_MIRROR_VKEY " https://m.example\n"
		"group both all W M\n"
		"quorum both\n"
		"log " TRUST_OTHER_VKEY "\n");
	static const char *const texts[] = { TRUST_WITNESS_VKEY,
		TRUST_LOG_VKEY, TRUST_MIRROR_VKEY, TRUST_OTHER_VKEY };
	size_t i;

	(void)state;
	assert_int_equal(ks_policy_key_count(policy), COUNT(texts));
	for (i = 0; i < COUNT(texts); i++) {
		struct ks_vkey vkey;

		trust_vkey(ks_span_text(texts[i]), &vkey);
		assert_true(ks_vkey_equal(ks_policy_key(policy, i), &vkey));
	}
	assert_true(ks_policy_has_logs(policy));
	assert_true(ks_policy_has_log(policy, ks_span_text(TRUST_LOG)));
	assert_true(ks_policy_has_log(policy,
		ks_span_text("other.example/log")));
	assert_false(ks_policy_has_log(policy,
		ks_span_text("witness.example/w1")));
	assert_false(ks_policy_has_log(policy, ks_span_text("")));
	assert_false(ks_policy_has_log(policy,
		ks_span_text("archive.example/lo")));
	ks_policy_free(policy);
}

static void
what_is_read_does_not_depend_on_the_text_any_more(void **state)
{
	char text[] = W_LINE "quorum W\n";
	struct ks_policy *policy = parse(text);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	memset(text, '#', sizeof(text) - 1);
	assert_int_equal(quorum_of(policy, 0, &err), KS_UNTRUSTED);
	assert_non_null(strstr(err.message, "the witness W has not"));
	ks_policy_free(policy);
}

static void
names_are_opaque_and_may_be_keywords(void **state)
{
	static const char *const names[] = { "log", "witness", "group",
		"quorum", "any", "all", "2", "#", "#W", "a#", "None",
		"\xff", "\xe2\x84\xaa", "K", "k", "a+b", "\"", "w1" };
	struct ks_buf text = KS_BUF_INIT;
	struct ks_policy *policy;
	uint32_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++)
		print_witness(names[i], i, &text);
	ks_buf_text(&text, "group g all");
	for (i = 0; i < COUNT(names); i++)
		ks_buf_printf(&text, " %s", names[i]);
	ks_buf_text(&text, "\nquorum g\n");
	policy = parse(ks_buf_cstr(&text));
	assert_int_equal(quorum_of(policy, (1u << COUNT(names)) - 1, NULL),
		KS_OK);
	assert_int_equal(quorum_of(policy, (1u << COUNT(names)) - 2, NULL),
		KS_UNTRUSTED);
	ks_policy_free(policy);
	ks_buf_release(&text);
}

static const struct {
	const char *text;
	const char *said;
} refused[] = {
	/* lines */
	{ "", "the policy has no quorum" },
	{ "\n", "the policy has no quorum" },
	{ LOG_LINE, "the policy has no quorum" },
	{ "# quorum none\n", "the policy has no quorum" },
	{ "quorum none", "line 1: the last line does not end in a newline" },
	{ LOG_LINE "quorum none", "line 2: the last line" },
	{ NONE_LINE "#", "line 2: the last line" },
	{ NONE_LINE " ", "line 2: the last line" },
	{ "quorum none\r\n", "line 1: byte 11 is a control character" },
	{ "\n# \x01\n" NONE_LINE, "line 2: byte 2 is a control" },
	{ NONE_LINE "# \x7f\n", "line 2: byte 2 is a control" },
	{ NONE_LINE "\v\n", "line 2: byte 0 is a control" },
	{ NONE_LINE "\f\n", "line 2: byte 0 is a control" },
	{ "witness W\x1b " TRUST_WITNESS_VKEY "\n" NONE_LINE, "control" },
	{ "Log " TRUST_LOG_VKEY "\n" NONE_LINE, "line 1: Log is not" },
	{ "\xef\xbb\xbf" LOG_LINE NONE_LINE, "line 1: \\xef\\xbb\\xbflog" },
	{ "logs " TRUST_LOG_VKEY "\n" NONE_LINE, "line 1: logs is not" },
	{ TRUST_LOG_VKEY "\n" NONE_LINE, "line 1: " TRUST_LOG },
	{ "quorum none # any\n", "line 1: a quorum is one name" },
	/* logs */
	{ NONE_LINE "log\n", "line 2: there is no verifier key" },
	{ NONE_LINE "log  \n", "line 2: there is no verifier key" },
	{ NONE_LINE "log L " TRUST_LOG_VKEY "\n", "line 2: a verifier key" },
	{ NONE_LINE "log " TRUST_LOG_VKEY " u v\n", "line 2: there is more" },
	{ NONE_LINE "log " TRUST_LOG_VKEY " u # v\n", "line 2: there is" },
	{ NONE_LINE "log " TRUST_LOG_VKEY "=\n", "line 2: a verifier key" },
	{ NONE_LINE "log archive.example/log\n", "line 2: a verifier key" },
	{ NONE_LINE "log " TRUST_WITNESS_VKEY "\n",
		"line 2: the key is of type 04, and those of logs" },
	{ LOG_LINE NONE_LINE LOG_LINE, "line 3: the public key stands" },
	/* witnesses */
	{ NONE_LINE "witness\n", "line 2: the witness has no name" },
	{ NONE_LINE "witness W\n", "line 2: there is no verifier key" },
	{ NONE_LINE "witness " TRUST_WITNESS_VKEY "\n",
		"line 2: there is no verifier key" },
	{ NONE_LINE "witness W W " TRUST_WITNESS_VKEY "\n", "verifier key" },
	{ NONE_LINE "witness W " TRUST_WITNESS_VKEY " u v\n",
		"line 2: there is more" },
	{ NONE_LINE "witness W " TRUST_LOG_VKEY "\n",
		"line 2: the key is of type 01, and those of witnesses" },
	{ NONE_LINE "witness none " TRUST_WITNESS_VKEY "\n",
		"line 2: the name none is taken" },
	{ W_LINE NONE_LINE "witness W " TRUST_MIRROR_VKEY "\n",
		"line 3: the name W is taken" },
	{ W_LINE NONE_LINE "witness V " TRUST_WITNESS_VKEY "\n",
		"line 3: the public key stands" },
	/* A log's key is no witness's, in either order. */
	{ LOG_LINE "witness L " TRUST_LOG_VKEY_04 "\n" NONE_LINE,
		"line 2: the public key stands" },
	{ "witness L " TRUST_LOG_VKEY_04 "\n" LOG_LINE NONE_LINE,
		"line 2: the public key stands" },
	/* groups */
	{ W_LINE "group\n" NONE_LINE, "line 2: a group has a name" },
	{ W_LINE "group g\n" NONE_LINE, "line 2: a group has a name" },
	{ W_LINE "group g any\n" NONE_LINE, "members, here 0" },
	{ W_LINE "group g all\n" NONE_LINE, "members, here 0" },
	{ W_LINE "group g 0\n" NONE_LINE, "members, here 0" },
	{ W_LINE "group g 0 W\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group g 2 W\n" NONE_LINE, "line 2: of a group's members" },
	{ W_LINE "group g 01 W\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group g +1 W\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group g -1 W\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group g 1.0 W\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group g Any W\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group g 4294967297 W\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group g 18446744073709551617 W\n" NONE_LINE, "here 1" },
	{ W_LINE "group g W\n" NONE_LINE, "members, here 0" },
	{ W_LINE M_LINE "group g W M\n" NONE_LINE, "members, here 1" },
	{ W_LINE "group W any W\n" NONE_LINE, "line 2: the name W is taken" },
	{ W_LINE "group none any W\n" NONE_LINE, "the name none is taken" },
	{ W_LINE "group g any W\ngroup g any g\n" NONE_LINE,
		"line 3: the name g is taken" },
	{ W_LINE "group g any W W\n" NONE_LINE,
		"line 2: W is a member of a group already" },
	{ W_LINE "group g any W\ngroup h any W\n" NONE_LINE,
		"line 3: W is a member of a group already" },
	{ W_LINE "group g any W\ngroup h any g\ngroup i any g\n" NONE_LINE,
		"line 4: g is a member of a group already" },
	{ "group g any g\n" NONE_LINE, "line 1: g is no witness or group" },
	{ "group g any W\n" W_LINE NONE_LINE, "line 1: W is no witness" },
	{ "group g any h\n" W_LINE "group h any W\n" NONE_LINE,
		"line 1: h is no witness" },
	{ W_LINE "group g any none\n" NONE_LINE, "line 2: none is no" },
	{ W_LINE "group g any w\n" NONE_LINE, "line 2: w is no witness" },
	{ W_LINE "group g any W,M\n" NONE_LINE, "line 2: W,M is no" },
	{ W_LINE "group g any W # all\n" NONE_LINE, "line 2: # is no" },
	{ LOG_LINE "group g any " TRUST_LOG "\n" NONE_LINE, "is no witness" },
	/* quorums */
	{ NONE_LINE NONE_LINE, "line 2: there is a second quorum" },
	{ W_LINE "quorum W\nquorum W\n", "line 3: there is a second quorum" },
	{ W_LINE "quorum W\n" NONE_LINE, "line 3: there is a second quorum" },
	{ "quorum\n", "line 1: a quorum is one name" },
	{ W_LINE M_LINE "quorum W M\n", "line 3: a quorum is one name" },
	{ "quorum W\n" W_LINE, "line 1: the quorum W is no witness" },
	{ "quorum g\n" W_LINE "group g any W\n", "line 1: the quorum g is" },
	{ W_LINE "quorum any\n", "line 2: the quorum any is no witness" },
	{ W_LINE "quorum None\n", "line 2: the quorum None is no witness" },
	{ LOG_LINE "quorum " TRUST_LOG "\n", "is no witness" },
};

static void
what_is_against_a_rule_is_refused_with_the_line(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(refused); i++)
		assert_fails(ks_span_text(refused[i].text), KS_INVALID,
			refused[i].said);
	assert_fails(ks_span(NULL, 0), KS_INVALID, "no quorum");
	assert_fails(ks_span("quorum none\0\n", 13), KS_INVALID,
		"byte 11 is a control");
}

static void
a_key_of_a_type_not_understood_is_unsupported(void **state)
{
	(void)state;
	assert_fails(ks_span_text("log " TYPE_06 "\n" NONE_LINE),
		KS_UNSUPPORTED, "line 1: a verifier key has the signature type "
		"06");
	assert_fails(ks_span_text(NONE_LINE "witness W " TYPE_06 "\n"),
		KS_UNSUPPORTED, "line 2");
}

static void
every_prefix_of_a_policy_is_refused_before_its_quorum_line_ends(void **state)
{
	static const char text[] = LOG_LINE W_LINE M_LINE
		"group g 2 W M\nquorum g\n";
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(text) - 1; len++) {
		char *copy = malloc(len + (len == 0));

		assert_non_null(copy);
		memcpy(copy, text, len);
		assert_fails(ks_span(copy, len), KS_INVALID, "");
		free(copy);
	}
	ks_policy_free(parse(text));
}

/* The same point in a second encoding (RFC 8032 section 5.1.3 refuses them),
 * and neighbours that are the only encoding. */
static void
a_key_in_another_encoding_is_refused(void **state)
{
	static const struct {
		uint8_t first, middle, last;
		bool good;
	} rows[] = {
		{ 0xec, 0xff, 0x7f, true },	/* p - 1 */
		{ 0xed, 0xff, 0x7f, false },	/* p */
		{ 0xee, 0xff, 0x7f, false },
		{ 0xff, 0xff, 0x7f, false },
		{ 0xed, 0xff, 0xff, false },
		{ 0xff, 0xff, 0xff, false },
		{ 0xeb, 0xff, 0xff, true },
		{ 0xec, 0xff, 0xff, false },	/* -0 */
		{ 0xff, 0xff, 0x7e, true },
		{ 0xff, 0xff, 0xfe, true },
		{ 0xff, 0xfe, 0x7f, true },
		{ 0x01, 0x00, 0x00, true },	/* 1 */
		{ 0x01, 0x00, 0x80, false },	/* -0 */
		{ 0x00, 0x00, 0x80, true },
		{ 0x02, 0x00, 0x80, true },
		{ 0x01, 0x00, 0x81, true },
		{ 0x01, 0x01, 0x80, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct ks_public_key key;
		struct ks_vkey vkey;
		struct ks_buf text = KS_BUF_INIT;

		memset(key.bytes, rows[i].middle, sizeof(key.bytes));
		key.bytes[0] = rows[i].first;
		key.bytes[31] = rows[i].last;
		assert_int_equal(ks_vkey_make(ks_span_text("a"),
			KS_SIGNATURE_COSIGNATURE, &key, &vkey, NULL), KS_OK);
		ks_buf_text(&text, NONE_LINE "witness W ");
		ks_vkey_print(&vkey, &text);
		ks_buf_byte(&text, '\n');
		if (rows[i].good)
			ks_policy_free(parse(ks_buf_cstr(&text)));
		else
			assert_fails(ks_buf_span(&text), KS_INVALID,
				"line 2: the public key is not in its one");
		ks_buf_release(&text);
	}
	/* One byte in the middle is enough for another number. */
	for (i = 1; i < 31; i++) {
		struct ks_public_key key;
		struct ks_vkey vkey;
		struct ks_buf text = KS_BUF_INIT;

		memset(key.bytes, 0xff, sizeof(key.bytes));
		key.bytes[i] = 0xfe;
		key.bytes[31] = 0x7f;
		assert_int_equal(ks_vkey_make(ks_span_text("a"),
			KS_SIGNATURE_COSIGNATURE, &key, &vkey, NULL), KS_OK);
		ks_buf_text(&text, NONE_LINE "witness W ");
		ks_vkey_print(&vkey, &text);
		ks_buf_byte(&text, '\n');
		ks_policy_free(parse(ks_buf_cstr(&text)));
		ks_buf_release(&text);
	}
}

/* One public key under each name, id and type that it could have. */
static void
a_public_key_stands_in_a_policy_once(void **state)
{
	static const struct {
		const char *line;
		const char *name;
		enum ks_signature_type type;
	} ways[] = {
		{ "log ", "a.example", KS_SIGNATURE_ED25519 },
		{ "log ", "b.example", KS_SIGNATURE_ED25519 },
		{ "witness W ", "a.example", KS_SIGNATURE_COSIGNATURE },
		{ "witness V ", "c.example", KS_SIGNATURE_COSIGNATURE },
	};
	size_t a, b;

	(void)state;
	for (a = 0; a < COUNT(ways); a++) {
		for (b = 0; b < COUNT(ways); b++) {
			struct ks_buf text = KS_BUF_INIT;

			ks_buf_text(&text, ways[a].line);
			print_vkey(ways[a].name, ways[a].type, 5, &text);
			ks_buf_text(&text, "\n" NONE_LINE);
			if (a == b)
				ks_policy_free(parse(ks_buf_cstr(&text)));
			ks_buf_text(&text, ways[b].line);
			print_vkey(ways[b].name, ways[b].type, 5, &text);
			ks_buf_byte(&text, '\n');
			assert_fails(ks_buf_span(&text), KS_INVALID,
				a == b && a >= 2 ? "is taken already" :
				"line 3: the public key stands");
			ks_buf_release(&text);
		}
	}
}

static void
a_policy_has_at_most_1024_logs_and_1024_names_and_a_mebibyte(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_policy *policy;
	char name[16];
	uint32_t i;

	(void)state;
	for (i = 0; i < KS_POLICY_LOGS; i++) {
		ks_buf_text(&text, "log ");
		print_vkey("log.example", KS_SIGNATURE_ED25519, i, &text);
		ks_buf_byte(&text, '\n');
	}
	for (i = 0; i < KS_POLICY_NAMES - 2; i++) {
		(void)snprintf(name, sizeof(name), "w%lu", (unsigned long)i);
		print_witness(name, 100000 + i, &text);
	}
	ks_buf_text(&text, "group g any w0 w1\ngroup h any g w2\nquorum h\n");
	policy = parse(ks_buf_cstr(&text));
	assert_int_equal(ks_policy_key_count(policy), 2046);
	ks_policy_free(policy);
	i = (uint32_t)text.len;
	ks_buf_text(&text, "group i any h\n");
	assert_fails(ks_buf_span(&text), KS_INVALID,
		"line 2050: there are more than 1024 witnesses and groups");
	text.len = i;
	print_witness("more", 200000, &text);
	assert_fails(ks_buf_span(&text), KS_INVALID,
		"there are more than 1024 witnesses and groups");
	text.len = i;
	ks_buf_text(&text, "log ");
	print_vkey("log.example", KS_SIGNATURE_ED25519, 200000, &text);
	ks_buf_byte(&text, '\n');
	assert_fails(ks_buf_span(&text), KS_INVALID,
		"line 2050: there are more than 1024 logs");
	text.len = i;
	while (text.len < KS_POLICY_MAX)
		ks_buf_byte(&text, '\n');
	ks_policy_free(parse(ks_buf_cstr(&text)));
	ks_buf_byte(&text, '\n');
	assert_fails(ks_buf_span(&text), KS_INVALID, "longer than 1048576");
	ks_buf_release(&text);
}

/* A group of all, to the bound, and names that differ at their end only. */
static void
long_names_and_large_groups_are_read_in_linear_time(void **state)
{
	struct ks_buf text = KS_BUF_INIT, name = KS_BUF_INIT;
	struct ks_note_key *keys;
	struct ks_policy *policy;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < KS_POLICY_NAMES - 1; i++) {
		ks_buf_clear(&name);
		for (k = 0; k < 400; k++)
			ks_buf_byte(&name, 'n');
		ks_buf_printf(&name, "%lu", (unsigned long)i);
		print_witness(ks_buf_cstr(&name), i, &text);
	}
	ks_buf_text(&text, "group g 1000");
	for (i = 0; i < KS_POLICY_NAMES - 1; i++) {
		ks_buf_byte(&text, ' ');
		for (k = 0; k < 400; k++)
			ks_buf_byte(&text, 'n');
		ks_buf_printf(&text, "%lu", (unsigned long)i);
	}
	ks_buf_text(&text, "\nquorum g\n");
	policy = parse(ks_buf_cstr(&text));
	keys = some_keys(policy, 0);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(ks_policy_check_quorum(policy, keys,
			ks_policy_key_count(policy), NULL), KS_UNTRUSTED);
		keys[(size_t)i * 7 % 1023].verified = true;
	}
	assert_int_equal(ks_policy_check_quorum(policy, keys,
		ks_policy_key_count(policy), NULL), KS_OK);
	free(keys);
	ks_policy_free(policy);
	ks_buf_release(&text);
	ks_buf_release(&name);
}

/* ---- Judging ---- */

/* The example of tlog-policy, with all of its 64 cases. */
static void
a_quorum_of_groups_is_met_as_the_groups_say(void **state)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_policy *policy;
	unsigned bits;

	(void)state;
	print_witness("X1", 1, &text);
	print_witness("X2", 2, &text);
	print_witness("X3", 3, &text);
	ks_buf_text(&text, "group X-witnesses 2 X1 X2 X3\n");
	print_witness("Y1", 4, &text);
	print_witness("Y2", 5, &text);
	print_witness("Y3", 6, &text);
	ks_buf_text(&text, "group Y-witnesses any Y1 Y2 Y3\n"
		"group X-and-Y all X-witnesses Y-witnesses\n"
		"quorum X-and-Y\n");
	policy = parse(ks_buf_cstr(&text));
	for (bits = 0; bits < 64; bits++) {
		unsigned x = (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1);
		bool met = x >= 2 && bits >> 3 != 0;

		assert_int_equal(quorum_of(policy, bits, NULL),
			met ? KS_OK : KS_UNTRUSTED);
	}
	ks_policy_free(policy);
	ks_buf_release(&text);
}

static void
each_threshold_asks_for_that_many_members(void **state)
{
	static const struct {
		const char *threshold;
		unsigned needed;
	} rows[] = { { "any", 1 }, { "1", 1 }, { "2", 2 }, { "3", 3 },
		{ "4", 4 }, { "all", 4 } };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		struct ks_buf text = KS_BUF_INIT;
		struct ks_policy *policy;
		unsigned bits;

		print_witness("a", 1, &text);
		print_witness("b", 2, &text);
		print_witness("c", 3, &text);
		print_witness("d", 4, &text);
		ks_buf_printf(&text, "group g %s a b c d\nquorum g\n",
			rows[i].threshold);
		policy = parse(ks_buf_cstr(&text));
		for (bits = 0; bits < 16; bits++) {
			unsigned have = (bits & 1) + (bits >> 1 & 1) +
				(bits >> 2 & 1) + (bits >> 3 & 1);

			assert_int_equal(quorum_of(policy, bits, NULL),
				have >= rows[i].needed ? KS_OK :
				KS_UNTRUSTED);
		}
		ks_policy_free(policy);
		ks_buf_release(&text);
	}
}

static void
what_a_quorum_lacks_is_said(void **state)
{
	struct ks_policy *policy = parse(LOG_LINE W_LINE M_LINE
		"group both all W M\nquorum both\n");
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(quorum_of(policy, 1 | 2, &err), KS_UNTRUSTED);
	assert_string_equal(err.message, "1 of the 2 members of both have "
		"cosigned, and the policy demands 2");
	ks_policy_free(policy);
}

static void
a_witness_outside_of_the_quorum_does_not_count(void **state)
{
	struct ks_policy *policy = parse(LOG_LINE W_LINE M_LINE "quorum W\n");

	(void)state;
	assert_int_equal(quorum_of(policy, 1 | 4, NULL), KS_UNTRUSTED);
	assert_int_equal(quorum_of(policy, 2, NULL), KS_OK);
	ks_policy_free(policy);
	policy = parse(W_LINE M_LINE "group g any W\ngroup h any M\n"
		"quorum h\n");
	assert_int_equal(quorum_of(policy, 1, NULL), KS_UNTRUSTED);
	assert_int_equal(quorum_of(policy, 2, NULL), KS_OK);
	ks_policy_free(policy);
	/* Nor does the group around it. */
	policy = parse(W_LINE M_LINE "group g any W M\nquorum W\n");
	assert_int_equal(quorum_of(policy, 2, NULL), KS_UNTRUSTED);
	ks_policy_free(policy);
}

static void
a_quorum_of_none_asks_for_nobody(void **state)
{
	struct ks_policy *policy = parse(W_LINE NONE_LINE);

	(void)state;
	assert_int_equal(quorum_of(policy, 0, NULL), KS_OK);
	assert_int_equal(ks_policy_check_quorum(policy, NULL, 0, NULL),
		KS_OK);
	assert_false(ks_policy_has_logs(policy));
	ks_policy_free(policy);
	policy = parse(NONE_LINE);
	assert_int_equal(ks_policy_key_count(policy), 0);
	ks_policy_free(policy);
}

/* Whatever stands in the list, in whatever order and how often. */
static void
a_key_counts_once_however_often_it_is_listed(void **state)
{
	struct ks_policy *policy = parse(W_LINE M_LINE
		"group g 2 W M\nquorum g\n");
	const struct ks_vkey *w = ks_policy_key(policy, 0);
	const struct ks_vkey *m = ks_policy_key(policy, 1);
	struct ks_vkey copy = *w, renamed = *m, retyped = *m, other = *m;
	struct ks_note_key keys[] = {
		{ .vkey = w, .verified = true },
		{ .vkey = &copy, .verified = true },
		{ .vkey = w, .verified = true },
		{ .vkey = &renamed, .verified = true },
		{ .vkey = &retyped, .verified = true },
		{ .vkey = &other, .verified = true },
		{ .vkey = m, .verified = false },
	};

	(void)state;
	/* The mirror's key, but not as the policy has it. */
	(void)snprintf(renamed.name, sizeof(renamed.name), "witness.example");
	retyped.type = KS_SIGNATURE_ED25519;
	other.id ^= 1;
	assert_int_equal(ks_policy_check_quorum(policy, keys, COUNT(keys),
		NULL), KS_UNTRUSTED);
	keys[6].verified = true;
	assert_int_equal(ks_policy_check_quorum(policy, keys, COUNT(keys),
		NULL), KS_OK);
	/* A copy of a vkey is as good as the policy's own. */
	assert_int_equal(ks_policy_check_quorum(policy, keys + 1, 1, NULL),
		KS_UNTRUSTED);
	keys[0].verified = keys[2].verified = false;
	assert_int_equal(ks_policy_check_quorum(policy, keys, COUNT(keys),
		NULL), KS_OK);
	ks_policy_free(policy);
}

static void
one_log_of_the_policy_must_have_signed_for_its_own_origin(void **state)
{
	struct ks_policy *policy = parse(LOG_LINE "log " TRUST_OTHER_VKEY "\n"
		W_LINE NONE_LINE);
	struct ks_span log = ks_span_text(TRUST_LOG);
	struct ks_span other = ks_span_text("other.example/log");
	struct ks_error err = KS_ERROR_INIT;
	struct ks_note_key *keys = some_keys(policy, 1);

	(void)state;
	assert_int_equal(ks_policy_check_log(policy, log, keys, 3, NULL),
		KS_OK);
	/* Signed by a log of the policy, but not by this one. */
	assert_int_equal(ks_policy_check_log(policy, other, keys, 3, &err),
		KS_UNTRUSTED);
	assert_string_equal(err.message, "no log of the policy has signed for "
		"the origin other.example/log");
	assert_int_equal(ks_policy_check_log(policy,
		ks_span_text("witness.example/w1"), keys, 3, NULL),
		KS_UNTRUSTED);
	free(keys);
	keys = some_keys(policy, 4);
	assert_int_equal(ks_policy_check_log(policy, log, keys, 3, NULL),
		KS_UNTRUSTED);
	assert_int_equal(ks_policy_check_log(policy,
		ks_span_text("witness.example/w1"), keys, 3, NULL),
		KS_UNTRUSTED);
	assert_int_equal(ks_policy_check_log(policy, log, NULL, 0, NULL),
		KS_UNTRUSTED);
	free(keys);
	ks_policy_free(policy);
}

static void
a_judgement_asks_for_log_and_quorum(void **state)
{
	struct ks_policy *policy = parse(LOG_LINE W_LINE "quorum W\n");
	struct ks_span origin = ks_span_text(TRUST_LOG);
	unsigned bits;

	(void)state;
	for (bits = 0; bits < 4; bits++) {
		struct ks_note_key *keys = some_keys(policy, bits);

		assert_int_equal(ks_policy_judge(policy, origin, keys, 2,
			NULL), bits == 3 ? KS_OK : KS_UNTRUSTED);
		free(keys);
	}
	ks_policy_free(policy);
	/* Without logs it trusts none. */
	policy = parse(NONE_LINE);
	assert_int_equal(ks_policy_judge(policy, origin, NULL, 0, NULL),
		KS_UNTRUSTED);
	ks_policy_free(policy);
}

/* The verdict on a checkpoint of the vectors, without the lines of some. */
static enum ks_status
judge_note(const char *text, struct ks_span bytes)
{
	struct ks_policy *policy = parse(text);
	struct ks_note_key *keys = some_keys(policy, 0);
	size_t count = ks_policy_key_count(policy);
	struct ks_checkpoint checkpoint;
	struct ks_note note;
	enum ks_status status;

	assert_int_equal(ks_note_parse(bytes, &note, NULL), KS_OK);
	status = ks_note_open(&note, keys, count, NULL);
	if (status == KS_OK) {
		assert_int_equal(ks_checkpoint_parse(note.text, &checkpoint,
			NULL), KS_OK);
		status = ks_policy_judge(policy, checkpoint.origin, keys,
			count, NULL);
	}
	ks_note_release(&note);
	free(keys);
	ks_policy_free(policy);
	return status;
}

static void
the_checkpoints_of_the_vectors_are_judged_by_policies(void **state)
{
	static const struct {
		const char *policy;
		enum ks_status status;
	} rows[] = {
		{ LOG_LINE NONE_LINE, KS_OK },
		{ LOG_LINE W_LINE "quorum W\n", KS_OK },
		{ LOG_LINE W_LINE M_LINE "group g all W M\nquorum g\n",
			KS_OK },
		{ "log " TRUST_OTHER_VKEY "\n" LOG_LINE NONE_LINE, KS_OK },
		{ "log " TRUST_OTHER_VKEY "\n" NONE_LINE, KS_UNTRUSTED },
		{ "log " TRUST_OTHER_VKEY "\n" W_LINE "quorum W\n",
			KS_UNTRUSTED },
		{ W_LINE "quorum W\n", KS_UNTRUSTED },
		{ LOG_LINE W_LINE "witness V v.example+d19a4c27+"
			"BAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n"
			"group g 2 W V\nquorum g\n", KS_UNTRUSTED },
	};
	struct ks_buf file = KS_BUF_INIT, bytes = KS_BUF_INIT;
	struct ks_json_iter it;
	struct ks_span item;
	size_t i;

	(void)state;
	it = ks_json_iter(vector_member(
		vector_read_json("log300_checkpoints.json", &file), "checkpoints"));
	while (ks_json_next_element(&it, &item)) {
		(void)vector_unescape(vector_member(item, "checkpoint"), &bytes);
		for (i = 0; i < COUNT(rows); i++)
			assert_int_equal(judge_note(rows[i].policy,
				ks_buf_span(&bytes)), rows[i].status);
	}
	ks_buf_release(&file);
	ks_buf_release(&bytes);
}

static void
a_hostile_name_is_escaped_in_what_is_said_of_it(void **state)
{
	struct ks_policy *policy = parse("witness \xe2\x80\xae\xff\xc2\x9b "
		TRUST_WITNESS_VKEY "\nquorum \xe2\x80\xae\xff\xc2\x9b\n");
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(quorum_of(policy, 0, &err), KS_UNTRUSTED);
	assert_string_equal(err.message, "the witness \\xe2\\x80\\xae\\xff"
		"\\xc2\\x9b has not cosigned, which the policy demands");
	assert_int_equal(ks_policy_check_log(policy,
		ks_span_text("a\x1b[2J"), NULL, 0, &err), KS_UNTRUSTED);
	assert_non_null(strstr(err.message, "origin a\\x1b[2J"));
	ks_policy_free(policy);
}

static void
freeing_no_policy_does_nothing(void **state)
{
	(void)state;
	ks_policy_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_policy_gives_its_keys_in_the_order_of_its_lines),
		cmocka_unit_test(
			what_is_read_does_not_depend_on_the_text_any_more),
		cmocka_unit_test(names_are_opaque_and_may_be_keywords),
		cmocka_unit_test(
			what_is_against_a_rule_is_refused_with_the_line),
		cmocka_unit_test(
			a_key_of_a_type_not_understood_is_unsupported),
		cmocka_unit_test(
			every_prefix_of_a_policy_is_refused_before_its_quorum_line_ends),
		cmocka_unit_test(a_key_in_another_encoding_is_refused),
		cmocka_unit_test(a_public_key_stands_in_a_policy_once),
		cmocka_unit_test(
			a_policy_has_at_most_1024_logs_and_1024_names_and_a_mebibyte),
		cmocka_unit_test(
			long_names_and_large_groups_are_read_in_linear_time),
		cmocka_unit_test(a_quorum_of_groups_is_met_as_the_groups_say),
		cmocka_unit_test(each_threshold_asks_for_that_many_members),
		cmocka_unit_test(what_a_quorum_lacks_is_said),
		cmocka_unit_test(
			a_witness_outside_of_the_quorum_does_not_count),
		cmocka_unit_test(a_quorum_of_none_asks_for_nobody),
		cmocka_unit_test(a_key_counts_once_however_often_it_is_listed),
		cmocka_unit_test(
			one_log_of_the_policy_must_have_signed_for_its_own_origin),
		cmocka_unit_test(a_judgement_asks_for_log_and_quorum),
		cmocka_unit_test(
			the_checkpoints_of_the_vectors_are_judged_by_policies),
		cmocka_unit_test(
			a_hostile_name_is_escaped_in_what_is_said_of_it),
		cmocka_unit_test(freeing_no_policy_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
