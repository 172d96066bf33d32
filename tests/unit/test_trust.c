#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/digest.h"
#include "format/trust.h"
#include "../lib/trust.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ORIGIN "log.example/a"
#define ELSEWHERE "log.example/b"
#define NOTES 8
#define LINES 8

/* ---- The people ---- */

enum who {
	NOBODY,
	LOG,		/* signs as ORIGIN from the start */
	NEXT,		/* its successors, of the same name */
	THIRD,
	THIEF,		/* of the same name, and nobody's successor */
	OTHER,		/* the key of ELSEWHERE */
	ALIAS,		/* the secret of LOG under the name ELSEWHERE */
	WITNESS,	/* cosigners */
	WITNESS2,
	PEOPLE
};

static struct ks_vkey vkeys[PEOPLE];
static struct ks_secret_key secrets[PEOPLE];

static int
make_people(void **state)
{
	(void)state;
	trust_make(ORIGIN, KS_SIGNATURE_ED25519, 1, &vkeys[LOG],
		&secrets[LOG]);
	trust_make(ORIGIN, KS_SIGNATURE_ED25519, 2, &vkeys[NEXT],
		&secrets[NEXT]);
	trust_make(ORIGIN, KS_SIGNATURE_ED25519, 3, &vkeys[THIRD],
		&secrets[THIRD]);
	trust_make(ORIGIN, KS_SIGNATURE_ED25519, 4, &vkeys[THIEF],
		&secrets[THIEF]);
	trust_make(ELSEWHERE, KS_SIGNATURE_ED25519, 5, &vkeys[OTHER],
		&secrets[OTHER]);
	trust_make(ELSEWHERE, KS_SIGNATURE_ED25519, 1, &vkeys[ALIAS],
		&secrets[ALIAS]);
	trust_make("w.example/1", KS_SIGNATURE_COSIGNATURE, 6,
		&vkeys[WITNESS], &secrets[WITNESS]);
	trust_make("w.example/2", KS_SIGNATURE_COSIGNATURE, 7,
		&vkeys[WITNESS2], &secrets[WITNESS2]);
	return 0;
}

/* ---- A log, as far as its roots go ---- */

/* Branches of a log: 'a' is the honest one, which others leave at entry 5. */
struct log {
	char branch;
	uint64_t size;
};

static struct ks_id
root_at(char branch, uint64_t size)
{
	char text[40];
	struct ks_id id;

	(void)snprintf(text, sizeof(text), "%c %llu", size <= 5 ? 'a' : branch,
		(unsigned long long)size);
	ks_sha256(ks_span_text(text), &id);
	return id;
}

static bool
root_of_log(void *arg, uint64_t size, struct ks_id *out)
{
	const struct log *log = arg;

	*out = root_at(log->branch, size);
	return size <= log->size;
}

/* A note of the first `size` entries of a branch; branch 0 = no such note. */
struct paper {
	enum who signer;
	uint64_t size;
	char branch;
	const char *origin;	/* NULL = the signer's name */
};

static void
write_paper(const struct paper *paper, struct ks_buf *out)
{
	const struct ks_vkey *signer = &vkeys[paper->signer];
	struct ks_checkpoint checkpoint = {
		.origin = ks_span_text(paper->origin == NULL ? signer->name :
			paper->origin),
		.size = paper->size,
		.root = root_at(paper->branch, paper->size)
	};
	struct ks_buf text = KS_BUF_INIT;
	uint8_t signature[KS_ED25519_SIGNATURE];

	ks_checkpoint_print(&checkpoint, &text);
	ks_buf_append(out, ks_buf_span(&text));
	ks_buf_byte(out, '\n');
	if (signer->type == KS_SIGNATURE_COSIGNATURE) {
		assert_int_equal(ks_checkpoint_cosign(ks_buf_span(&text),
			signer, &secrets[paper->signer], 1000, out, NULL),
			KS_OK);
	} else {
		assert_int_equal(ks_ed25519_sign(&secrets[paper->signer],
			ks_buf_span(&text), signature, NULL), KS_OK);
		ks_note_print_line(ks_span_text(signer->name), signer->id,
			ks_span(signature, sizeof(signature)), out);
	}
	assert_false(out->failed);
	ks_buf_release(&text);
}

/* One line more, by `who`, on a note. */
static void
add_line(struct ks_buf *note, enum who who, uint64_t time)
{
	struct ks_note parsed;
	struct ks_buf line = KS_BUF_INIT;
	uint8_t signature[KS_ED25519_SIGNATURE];

	assert_int_equal(ks_note_parse(ks_buf_span(note), &parsed, NULL),
		KS_OK);
	if (vkeys[who].type == KS_SIGNATURE_COSIGNATURE) {
		assert_int_equal(ks_checkpoint_cosign(parsed.text, &vkeys[who],
			&secrets[who], time, &line, NULL), KS_OK);
	} else {
		assert_int_equal(ks_ed25519_sign(&secrets[who], parsed.text,
			signature, NULL), KS_OK);
		ks_note_print_line(ks_span_text(vkeys[who].name),
			vkeys[who].id, ks_span(signature, sizeof(signature)),
			&line);
	}
	ks_note_release(&parsed);
	ks_buf_append(note, ks_buf_span(&line));
	ks_buf_release(&line);
}

/* ---- Judging one case ---- */

/* A line that names a key. `key` NOBODY ends the list. */
struct line {
	uint64_t index;
	enum who key, next;
};

struct judged {
	const char *name;
	enum who trusted[4];
	struct paper notes[NOTES];	/* signer NOBODY ends the list */
	struct line lines[LINES];	/* where the first is NOBODY: LOG's in
					 * entry 2 */
	struct log log;		/* size 0: branch a, of 30 entries */
	struct paper seen, since, revoked;	/* signer NOBODY = none */
	enum ks_trust_verdict verdict;
	uint64_t good;		/* size that counts; 0 = none */
	enum who signer;	/* of it */
	const char *said;
};

/* The subject of a case, with what it borrows. */
struct subject {
	struct ks_trust_subject subject;
	struct ks_buf notes[NOTES];
	struct ks_span spans[NOTES];
	struct ks_log_key keys[LINES];
	struct log log;
};

static void
fill_key(const struct line *line, struct ks_log_key *out)
{
	struct ks_buf text = KS_BUF_INIT;

	*out = (struct ks_log_key){ .index = line->index,
		.vkey = vkeys[line->key], .has_next = line->next != NOBODY };
	if (out->has_next) {
		ks_vkey_print(&vkeys[line->next], &text);
		ks_sha256(ks_buf_span(&text), &out->next);
	}
	ks_buf_release(&text);
}

static void
make_subject(const struct judged *judged, struct subject *out)
{
	static const struct line usual[LINES] = { { 2, LOG, NOBODY } };
	const struct line *lines = judged->lines[0].key == NOBODY ? usual :
		judged->lines;
	size_t i;

	memset(out, 0, sizeof(*out));
	out->log = judged->log;
	if (out->log.size == 0)
		out->log = (struct log){ 'a', 30 };
	for (i = 0; i < NOTES && judged->notes[i].signer != NOBODY; i++) {
		write_paper(&judged->notes[i], &out->notes[i]);
		out->spans[i] = ks_buf_span(&out->notes[i]);
	}
	out->subject = (struct ks_trust_subject){
		.origin = ks_span_text(ORIGIN), .notes = out->spans,
		.note_count = i, .keys = out->keys, .has_keys = true,
		.root = root_of_log, .arg = &out->log
	};
	for (i = 0; i < LINES && lines[i].key != NOBODY; i++)
		fill_key(&lines[i], &out->keys[i]);
	out->subject.key_count = i;
}

static void
release_subject(struct subject *subject)
{
	size_t i;

	for (i = 0; i < NOTES; i++)
		ks_buf_release(&subject->notes[i]);
}

static struct ks_trust *
new_trust(const enum who *who, size_t count)
{
	struct ks_trust *trust = NULL;
	size_t i;

	assert_int_equal(ks_trust_new(&trust, NULL), KS_OK);
	for (i = 0; i < count && who[i] != NOBODY; i++)
		assert_int_equal(ks_trust_add_key(trust, &vkeys[who[i]],
			NULL), KS_OK);
	return trust;
}

static void
remember(struct ks_trust *trust, const struct judged *judged)
{
	struct ks_buf note = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	enum ks_status status = KS_OK;

	if (judged->seen.signer != NOBODY) {
		write_paper(&judged->seen, &note);
		status = ks_trust_add_seen(trust, ks_buf_span(&note), true,
			&err);
	}
	ks_buf_clear(&note);
	if (status == KS_OK && judged->since.signer != NOBODY) {
		write_paper(&judged->since, &note);
		status = ks_trust_add_seen(trust, ks_buf_span(&note), false,
			&err);
	}
	ks_buf_clear(&note);
	if (status == KS_OK && judged->revoked.signer != NOBODY) {
		write_paper(&judged->revoked, &note);
		status = ks_trust_revoke(trust, ks_buf_span(&note), &err);
	}
	ks_buf_release(&note);
	if (status != KS_OK)
		fail_msg("%s: %s", judged->name, err.message);
}

static void
assert_result(const struct judged *judged, const struct ks_trust *trust,
	const struct ks_trust_result *result)
{
	if (result->verdict != judged->verdict)
		fail_msg("%s: \"%s\" instead of \"%s\" (%s)", judged->name,
			ks_trust_verdict_name(result->verdict),
			ks_trust_verdict_name(judged->verdict),
			result->message);
	if (strstr(result->message, judged->said) == NULL)
		fail_msg("%s: wanted \"%s\", got \"%s\"", judged->name,
			judged->said, result->message);
	if (result->has_good != (judged->good > 0) ||
		(result->has_good && result->size != judged->good))
		fail_msg("%s: %llu entries count, not %llu", judged->name,
			(unsigned long long)(result->has_good ? result->size :
			0), (unsigned long long)judged->good);
	if (result->has_good && !ks_vkey_equal(&result->key,
		&vkeys[judged->signer]))
		fail_msg("%s: not the signer wanted", judged->name);
	if ((result->seen.len > 0) != (result->verdict == KS_TRUST_ROLLBACK ||
		result->verdict == KS_TRUST_FORK))
		fail_msg("%s: what was seen", judged->name);
	assert_true(ks_trust_is_asked(trust) ==
		(judged->verdict != KS_TRUST_NOT_ASKED));
}

static void
judge(const struct judged *judged)
{
	struct ks_trust *trust = new_trust(judged->trusted, 4);
	struct subject subject;
	struct ks_trust_result result;
	struct ks_error err = KS_ERROR_INIT;

	remember(trust, judged);
	make_subject(judged, &subject);
	if (ks_trust_judge(trust, &subject.subject, &result, &err) != KS_OK)
		fail_msg("%s: %s", judged->name, err.message);
	assert_result(judged, trust, &result);
	release_subject(&subject);
	ks_trust_free(trust);
}

static void
judge_all(const struct judged *table, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		judge(&table[i]);
}

/* ---- One key ---- */

static void
a_note_counts_when_a_trusted_key_signed_it_and_the_log_is_its(void **state)
{
	static const struct judged table[] = {
		{ "nobody is trusted", { NOBODY }, { { LOG, 9, 'a', NULL } },
			.verdict = KS_TRUST_NOT_ASKED,
			.said = "signature not checked" },
		{ "there is no note", { LOG }, { { NOBODY, 0, 0, NULL } },
			.verdict = KS_TRUST_UNSIGNED,
			.said = "nothing is signed" },
		{ "the one key signed", { LOG }, { { LOG, 9, 'a', NULL } },
			.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
			.said = "signed by " ORIGIN "+" },
		{ "the whole log is signed", { LOG },
			{ { LOG, 30, 'a', NULL } },
			.verdict = KS_TRUST_SIGNED, .good = 30, .signer = LOG,
			.said = "signed by" },
		{ "the newest of three counts", { LOG },
			{ { LOG, 4, 'a', NULL }, { LOG, 9, 'a', NULL },
			{ LOG, 12, 'a', NULL } },
			.verdict = KS_TRUST_SIGNED, .good = 12, .signer = LOG,
			.said = "signed by" },
		{ "one of three keys signed", { THIEF, OTHER, LOG },
			{ { LOG, 9, 'a', NULL } },
			.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
			.said = "signed by" },
		{ "another key signed", { LOG }, { { THIEF, 9, 'a', NULL } },
			.verdict = KS_TRUST_UNTRUSTED_KEY,
			.said = "the note of size 9 is signed by " ORIGIN "+" },
		{ "another key signed last", { LOG },
			{ { LOG, 9, 'a', NULL }, { THIEF, 12, 'a', NULL } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "no key that is trusted" },
		{ "another key signed between", { LOG },
			{ { LOG, 4, 'a', NULL }, { THIEF, 9, 'a', NULL },
			{ LOG, 12, 'a', NULL } },
			.verdict = KS_TRUST_SIGNED, .good = 12, .signer = LOG,
			.said = "signed by" },
		{ "the note is of another branch", { LOG },
			{ { LOG, 9, 'b', NULL } },
			.verdict = KS_TRUST_MISMATCH, .said = "(S1)" },
		{ "the last is of another branch", { LOG },
			{ { LOG, 4, 'b', NULL }, { LOG, 9, 'b', NULL } },
			.verdict = KS_TRUST_MISMATCH, .good = 4, .signer = LOG,
			.said = "the first 9 entries of the log are not "
			"those that were signed (S1)" },
		{ "more is signed than the log has", { LOG },
			{ { LOG, 31, 'a', NULL } },
			.verdict = KS_TRUST_MISMATCH,
			.said = "31 entries are signed, and the log has "
			"fewer (S2)" },
		{ "far more is", { LOG },
			{ { LOG, INT64_MAX, 'a', NULL } },
			.verdict = KS_TRUST_MISMATCH, .said = "(S2)" },
		{ "for another origin", { LOG },
			{ { LOG, 9, 'a', ELSEWHERE } },
			.verdict = KS_TRUST_WRONG_ORIGIN,
			.said = "the key of " ORIGIN " signed this for the "
			"origin " ELSEWHERE " (S3)" },
		{ "the same secret under another name", { LOG },
			{ { ALIAS, 9, 'a', NULL } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .said = "no key" },
		{ "of the origin of another store", { OTHER },
			{ { OTHER, 9, 'a', NULL } }, { { 2, OTHER, NOBODY } },
			.verdict = KS_TRUST_WRONG_ORIGIN,
			.said = "which is not that of the store (S3)" },
		{ "only a cosigner signed", { LOG },
			{ { WITNESS, 9, 'a', ORIGIN } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .said = "no key" },
		{ "the log names no key", { LOG }, { { LOG, 2, 'a', NULL } },
			.verdict = KS_TRUST_MISMATCH,
			.said = "the log names no key of its own within the "
			"signed size 2 (S3)" },
		{ "the log names another key", { LOG },
			{ { LOG, 9, 'a', NULL } }, { { 3, THIEF, NOBODY } },
			.verdict = KS_TRUST_REVOKED_KEY,
			.said = "as its key since entry 3 (S3)" },
		{ "the log names another key later", { LOG },
			{ { LOG, 9, 'a', NULL } },
			{ { 2, LOG, NOBODY }, { 9, THIEF, NOBODY } },
			.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
			.said = "signed by" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

/* ---- Succession (N9) ---- */

#define HANDED_OVER { 2, LOG, NOBODY }, { 7, LOG, NEXT }, { 10, NEXT, NOBODY }

static void
a_successor_counts_that_was_announced_under_a_signature_that_counts(
	void **state)
{
	static const struct judged table[] = {
		{ "the successor signs", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_SIGNED, .good = 12,
			.signer = NEXT, .said = "signed by" },
		{ "so it does for who knows only it", { NEXT },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_SIGNED, .good = 12,
			.signer = NEXT, .said = "signed by" },
		{ "it signs often", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL },
			{ NEXT, 20, 'a', NULL }, { NEXT, 30, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_SIGNED, .good = 30,
			.signer = NEXT, .said = "signed by" },
		{ "announced in the first line", { LOG },
			{ { LOG, 4, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ { 2, LOG, NEXT }, { 10, NEXT, NOBODY } },
			.verdict = KS_TRUST_SIGNED, .good = 12,
			.signer = NEXT, .said = "signed by" },
		{ "two in a row", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL },
			{ THIRD, 20, 'a', NULL } },
			{ { 2, LOG, NEXT }, { 10, NEXT, THIRD },
			{ 15, THIRD, NOBODY } },
			.verdict = KS_TRUST_SIGNED, .good = 20,
			.signer = THIRD, .said = "signed by" },
		{ "nobody announced it", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ { 2, LOG, NOBODY }, { 10, NEXT, NOBODY } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "no key that is trusted" },
		{ "another was announced", { LOG },
			{ { LOG, 9, 'a', NULL }, { THIEF, 12, 'a', NULL } },
			{ { 2, LOG, NEXT }, { 10, THIEF, NOBODY } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "no key" },
		{ "announced after the last signature", { LOG },
			{ { LOG, 7, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 7,
			.signer = LOG, .said = "no key" },
		{ "announced where the thief alone signs", { LOG },
			{ { LOG, 7, 'a', NULL }, { THIEF, 9, 'a', NULL },
			{ THIEF, 12, 'a', NULL } },
			{ { 2, LOG, NOBODY }, { 7, LOG, THIEF },
			{ 10, THIEF, NOBODY } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 7,
			.signer = LOG, .said = "no key" },
		{ "announced by a key that is not trusted", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ { 1, THIEF, NEXT }, { 2, LOG, NOBODY },
			{ 10, NEXT, NOBODY } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "no key" },
		{ "announced in a note of another branch", { LOG },
			{ { LOG, 9, 'b', NULL }, { NEXT, 12, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .said = "no key" },
		{ "the log has no line of the successor", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ { 2, LOG, NEXT } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "no key" },
		{ "its line is not within what it signs", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 10, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "no key" },
		{ "the successor of a successor that never signed", { LOG },
			{ { LOG, 9, 'a', NULL }, { THIRD, 12, 'a', NULL } },
			{ { 2, LOG, NEXT }, { 9, NEXT, THIRD },
			{ 10, THIRD, NOBODY } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "no key" },
		{ "its note is of another branch", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'b', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_MISMATCH, .good = 9,
			.signer = LOG, .said = "(S1)" },
		{ "nobody knows the first key", { THIRD },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .said = "no key" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

static void
a_key_that_has_handed_over_signs_no_more(void **state)
{
	static const struct judged table[] = {
		{ "it signs beside its successor", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL },
			{ LOG, 20, 'a', NULL } }, { HANDED_OVER },
			.verdict = KS_TRUST_REVOKED_KEY, .good = 12,
			.signer = NEXT, .said = "but the log names" },
		{ "it signs in place of it", { LOG },
			{ { LOG, 9, 'a', NULL }, { LOG, 12, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_REVOKED_KEY, .good = 9,
			.signer = LOG, .said = "since entry 10 (S3)" },
		{ "and for who trusts both", { LOG, NEXT },
			{ { LOG, 9, 'a', NULL }, { LOG, 12, 'a', NULL } },
			{ HANDED_OVER },
			.verdict = KS_TRUST_REVOKED_KEY, .good = 9,
			.signer = LOG, .said = "(S3)" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

/* The stolen old key appends a line that names it: nobody announced that. */
static void
a_key_that_has_handed_over_does_not_take_over_again(void **state)
{
	static const struct judged again = {
		"it names itself again", { LOG },
		{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL },
		{ LOG, 20, 'a', NULL } },
		{ HANDED_OVER, { 15, LOG, NOBODY } },
		.verdict = KS_TRUST_REVOKED_KEY, .good = 12, .signer = NEXT,
		.said = ""
	};

	(void)state;
	judge(&again);
}

static void
of_two_keys_announced_the_later_one_takes_over(void **state)
{
	static const struct judged table[] = {
		{ "the later one", { LOG },
			{ { LOG, 9, 'a', NULL }, { THIRD, 12, 'a', NULL } },
			{ { 2, LOG, NEXT }, { 7, LOG, THIRD },
			{ 10, THIRD, NOBODY } },
			.verdict = KS_TRUST_SIGNED, .good = 12,
			.signer = THIRD, .said = "signed by" },
		{ "the earlier one, after it", { LOG },
			{ { LOG, 9, 'a', NULL }, { THIRD, 12, 'a', NULL },
			{ NEXT, 20, 'a', NULL } },
			{ { 2, LOG, NEXT }, { 7, LOG, THIRD },
			{ 10, THIRD, NOBODY }, { 15, NEXT, NOBODY } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 12,
			.signer = THIRD, .said = "" },
		{ "the earlier one, instead", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ { 2, LOG, NEXT }, { 7, LOG, THIRD },
			{ 10, NEXT, NOBODY } },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 9,
			.signer = LOG, .said = "" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

/* ---- Revocation (N10) ---- */

static void
a_revoked_key_counts_up_to_its_last_good_note(void **state)
{
	static const struct judged table[] = {
		{ "nothing came after", { LOG }, { { LOG, 9, 'a', NULL } },
			.revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
			.said = "signed by" },
		{ "an older state", { LOG }, { { LOG, 7, 'a', NULL } },
			.revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 7, .signer = LOG,
			.said = "signed by" },
		{ "a later note", { LOG },
			{ { LOG, 9, 'a', NULL }, { LOG, 10, 'a', NULL } },
			.revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_REVOKED_KEY, .good = 9,
			.signer = LOG, .said = "its notes count up to size 9, "
			"and this one has 10 (N10)" },
		{ "another branch of the same size", { LOG },
			{ { LOG, 9, 'b', NULL } }, .log = { 'b', 30 },
			.revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_REVOKED_KEY, .said = "the log is "
			"not consistent with its last good note, of size 9" },
		{ "a shorter note of another branch", { LOG },
			{ { LOG, 7, 'b', NULL } }, .log = { 'b', 30 },
			.revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_REVOKED_KEY,
			.said = "not consistent" },
		{ "a log that is too short to tell", { LOG },
			{ { LOG, 7, 'a', NULL } }, .log = { 'a', 8 },
			.revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_REVOKED_KEY,
			.said = "not consistent" },
		{ "its successor goes on", { LOG },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ HANDED_OVER }, .revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 12,
			.signer = NEXT, .said = "signed by" },
		{ "but not one that it announced afterwards", { LOG },
			{ { LOG, 6, 'a', NULL }, { LOG, 9, 'a', NULL },
			{ NEXT, 12, 'a', NULL } },
			{ HANDED_OVER }, .revoked = { LOG, 6, 'a', NULL },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .good = 6,
			.signer = LOG, .said = "no key" },
		{ "another trusted key is not revoked", { LOG, NEXT },
			{ { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
			{ HANDED_OVER }, .revoked = { NEXT, 11, 'a', NULL },
			.verdict = KS_TRUST_REVOKED_KEY, .good = 9,
			.signer = LOG, .said = "and this one has 12" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

/* ---- What was seen before (N6) ---- */

static void
a_log_is_neither_older_nor_another_than_what_was_seen(void **state)
{
	static const struct judged table[] = {
		{ "the same", { LOG }, { { LOG, 9, 'a', NULL } },
			.seen = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
			.said = "signed by" },
		{ "a newer one", { LOG }, { { LOG, 12, 'a', NULL } },
			.seen = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 12, .signer = LOG,
			.said = "signed by" },
		{ "an older one", { LOG }, { { LOG, 9, 'a', NULL } },
			.log = { 'a', 9 }, .seen = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK, .good = 9,
			.signer = LOG, .said = "older than what was accepted "
			"before: 9 entries are signed, 12 were then (N6)" },
		{ "an older one, whose log has it all", { LOG },
			{ { LOG, 9, 'a', NULL } },
			.seen = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK, .good = 9,
			.signer = LOG, .said = "(N6)" },
		{ "none at all", { LOG }, { { NOBODY, 0, 0, NULL } },
			.log = { 'a', 9 }, .seen = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK,
			.said = "0 entries are signed, 12 were then (N6)" },
		{ "another of the same size", { LOG },
			{ { LOG, 9, 'b', NULL } }, .log = { 'b', 30 },
			.seen = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_FORK, .good = 9, .signer = LOG,
			.said = "not the log that was accepted before: its "
			"first 9 entries were others then (N6)" },
		{ "another that is longer", { LOG },
			{ { LOG, 12, 'b', NULL } }, .log = { 'b', 30 },
			.seen = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_FORK, .good = 12, .signer = LOG,
			.said = "first 9 entries" },
		{ "another where both began alike", { LOG },
			{ { LOG, 12, 'b', NULL } }, .log = { 'b', 30 },
			.seen = { LOG, 5, 'a', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 12, .signer = LOG,
			.said = "signed by" },
		{ "given, the same", { LOG }, { { LOG, 9, 'a', NULL } },
			.since = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
			.said = "signed by" },
		{ "given, a newer one", { LOG }, { { LOG, 9, 'a', NULL } },
			.since = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK, .good = 9,
			.signer = LOG, .said = "(N6)" },
		{ "given, another", { LOG }, { { LOG, 12, 'a', NULL } },
			.since = { LOG, 9, 'b', NULL },
			.verdict = KS_TRUST_FORK, .good = 12, .signer = LOG,
			.said = "(N6)" },
		{ "a rollback by one and a fork by the other", { LOG },
			{ { LOG, 12, 'a', NULL } },
			.seen = { LOG, 20, 'a', NULL },
			.since = { LOG, 9, 'b', NULL },
			.verdict = KS_TRUST_FORK, .good = 12, .signer = LOG,
			.said = "first 9 entries" },
		{ "the other way round", { LOG }, { { LOG, 12, 'a', NULL } },
			.seen = { LOG, 9, 'b', NULL },
			.since = { LOG, 20, 'a', NULL },
			.verdict = KS_TRUST_FORK, .good = 12, .signer = LOG,
			.said = "first 9 entries" },
		{ "seen by another key of that origin", { LOG },
			{ { LOG, 9, 'a', NULL } },
			.seen = { NEXT, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK, .good = 9,
			.signer = LOG, .said = "(N6)" },
		{ "of another origin", { LOG }, { { LOG, 9, 'a', NULL } },
			.seen = { OTHER, 12, 'b', NULL },
			.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
			.said = "signed by" },
		{ "what is wrong otherwise stays that", { LOG },
			{ { LOG, 9, 'b', NULL } },
			.seen = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_MISMATCH, .said = "(S1)" },
		{ "what a revoked key signed after all, and was accepted",
			{ LOG }, { { LOG, 9, 'a', NULL }, { LOG, 12, 'a',
			NULL } }, .seen = { LOG, 12, 'a', NULL },
			.revoked = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_REVOKED_KEY, .good = 9,
			.signer = LOG, .said = "(N10)" },
		{ "nobody is trusted", { NOBODY }, { { LOG, 9, 'a', NULL } },
			.seen = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_NOT_ASKED, .said = "not checked" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

/* Whoever appends a note of his own to an old state must not hide how old it
 * is: readers go by what counts. */
static void
a_note_of_nobody_on_top_does_not_hide_a_rollback(void **state)
{
	static const struct judged table[] = {
		{ "an older state and the thief's note", { LOG },
			{ { LOG, 9, 'a', NULL }, { THIEF, 11, 'a', NULL } },
			.seen = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK, .good = 9,
			.signer = LOG, .said = "(N6)" },
		{ "another log and the thief's note", { LOG },
			{ { LOG, 9, 'b', NULL }, { THIEF, 11, 'b', NULL } },
			.log = { 'b', 30 }, .seen = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_FORK, .good = 9, .signer = LOG,
			.said = "(N6)" },
		{ "only the thief's note: there is nothing to compare",
			{ LOG }, { { THIEF, 11, 'b', NULL } },
			.log = { 'b', 30 }, .seen = { LOG, 9, 'a', NULL },
			.verdict = KS_TRUST_UNTRUSTED_KEY, .said = "no key" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

/* Entries that nobody signed are no evidence of a fork. */
static void
an_unsigned_tail_makes_no_fork_of_a_rollback(void **state)
{
	static const struct judged table[] = {
		{ "a tail of others", { LOG }, { { LOG, 5, 'b', NULL } },
			.log = { 'b', 30 }, .seen = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK, .good = 5,
			.signer = LOG, .said = "(N6)" },
		{ "nothing but a tail", { LOG }, { { NOBODY, 0, 0, NULL } },
			.log = { 'b', 30 }, .seen = { LOG, 12, 'a', NULL },
			.verdict = KS_TRUST_ROLLBACK, .said = "(N6)" },
	};

	(void)state;
	judge_all(table, COUNT(table));
}

/* ---- Without a log, or without its lines ---- */

static void
a_note_alone_is_judged_by_its_signature(void **state)
{
	static const struct judged judged = {
		"a note", { LOG }, { { LOG, 9, 'b', NULL } },
		.verdict = KS_TRUST_SIGNED, .good = 9, .signer = LOG,
		.said = "signed by"
	};
	struct ks_trust *trust = new_trust(judged.trusted, 4);
	struct ks_trust_result result;
	struct subject subject;

	(void)state;
	make_subject(&judged, &subject);
	subject.subject.root = NULL;
	subject.subject.keys = NULL;
	subject.subject.key_count = 0;
	assert_int_equal(ks_trust_judge(trust, &subject.subject, &result,
		NULL), KS_OK);
	assert_int_equal(result.verdict, KS_TRUST_MISMATCH);
	subject.subject.has_keys = false;
	assert_int_equal(ks_trust_judge(trust, &subject.subject, &result,
		NULL), KS_OK);
	assert_result(&judged, trust, &result);
	/* Where the origin is not known, that of the key is. */
	subject.subject.origin = ks_span(NULL, 0);
	assert_int_equal(ks_trust_judge(trust, &subject.subject, &result,
		NULL), KS_OK);
	assert_result(&judged, trust, &result);
	release_subject(&subject);
	ks_trust_free(trust);
}

static void
a_note_alone_is_compared_with_one_of_its_size(void **state)
{
	static const struct {
		struct paper seen;
		enum ks_trust_verdict verdict;
	} table[] = {
		{ { LOG, 9, 'a', NULL }, KS_TRUST_SIGNED },
		{ { LOG, 9, 'b', NULL }, KS_TRUST_FORK },
		{ { LOG, 12, 'b', NULL }, KS_TRUST_ROLLBACK },
		{ { LOG, 7, 'b', NULL }, KS_TRUST_SIGNED },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		struct judged judged = { "a note", { LOG },
			{ { LOG, 9, 'a', NULL } }, .seen = table[i].seen };
		struct ks_trust *trust = new_trust(judged.trusted, 4);
		struct ks_trust_result result;
		struct subject subject;

		remember(trust, &judged);
		make_subject(&judged, &subject);
		subject.subject.root = NULL;
		assert_int_equal(ks_trust_judge(trust, &subject.subject,
			&result, NULL), KS_OK);
		assert_int_equal(result.verdict, table[i].verdict);
		release_subject(&subject);
		ks_trust_free(trust);
	}
}

static void
a_note_alone_of_a_revoked_key_must_be_its_last_good_one(void **state)
{
	static const struct {
		struct paper revoked;
		enum ks_trust_verdict verdict;
	} table[] = {
		{ { LOG, 9, 'a', NULL }, KS_TRUST_SIGNED },
		{ { LOG, 9, 'b', NULL }, KS_TRUST_REVOKED_KEY },
		{ { LOG, 8, 'a', NULL }, KS_TRUST_REVOKED_KEY },
		{ { LOG, 10, 'a', NULL }, KS_TRUST_REVOKED_KEY },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		struct judged judged = { "a note", { LOG },
			{ { LOG, 9, 'a', NULL } },
			.revoked = table[i].revoked };
		struct ks_trust *trust = new_trust(judged.trusted, 4);
		struct ks_trust_result result;
		struct subject subject;

		remember(trust, &judged);
		make_subject(&judged, &subject);
		subject.subject.root = NULL;
		assert_int_equal(ks_trust_judge(trust, &subject.subject,
			&result, NULL), KS_OK);
		assert_int_equal(result.verdict, table[i].verdict);
		release_subject(&subject);
		ks_trust_free(trust);
	}
}

/* ---- Notes that are none ---- */

/* Judge bytes for who trusts LOG. */
static void
judge_bytes(struct ks_span bytes, enum ks_trust_verdict verdict,
	const char *said)
{
	static const enum who log[] = { LOG };
	static const struct line line = { 2, LOG, NOBODY };
	struct ks_trust *trust = new_trust(log, 1);
	struct log branch = { 'a', 30 };
	struct ks_log_key key;
	struct ks_trust_subject subject = {
		.origin = ks_span_text(ORIGIN), .notes = &bytes,
		.note_count = 1, .keys = &key, .key_count = 1,
		.has_keys = true, .root = root_of_log, .arg = &branch
	};
	struct ks_trust_result result;

	fill_key(&line, &key);
	assert_int_equal(ks_trust_judge(trust, &subject, &result, NULL),
		KS_OK);
	if (result.verdict != verdict || strstr(result.message, said) == NULL)
		fail_msg("%s (%s), not %s (%s): %.*s",
			ks_trust_verdict_name(result.verdict), result.message,
			ks_trust_verdict_name(verdict), said, (int)bytes.len,
			(const char *)bytes.data);
	ks_trust_free(trust);
}

static void
a_note_that_is_malformed_or_does_not_verify_is_forged(void **state)
{
	static const struct paper paper = { LOG, 9, 'a', NULL };
	static const char *const texts[] = {
		"", "\n", "x", ORIGIN "\n9\n", "\n\n\n", "a\nb\nc\n\nd\n"
	};
	struct ks_buf note = KS_BUF_INIT, bad = KS_BUF_INIT;
	size_t i;

	(void)state;
	write_paper(&paper, &note);
	judge_bytes(ks_buf_span(&note), KS_TRUST_SIGNED, "signed by");
	for (i = 0; i < COUNT(texts); i++)
		judge_bytes(ks_span_text(texts[i]), KS_TRUST_FORGED, "");
	/* Every prefix, and every byte that is another. */
	for (i = 0; i < note.len; i++)
		judge_bytes(ks_span(note.data, i), KS_TRUST_FORGED, "");
	for (i = 0; i < note.len; i++) {
		struct ks_span text;

		ks_buf_clear(&bad);
		ks_buf_append(&bad, ks_buf_span(&note));
		bad.data[i] ^= 1;
		text = ks_buf_span(&bad);
		/* The name or the id of its line: then it is nobody's. */
		if (note.len - i <= sizeof(ORIGIN) + 95)
			continue;
		judge_bytes(text, KS_TRUST_FORGED, "");
	}
	ks_buf_release(&note);
	ks_buf_release(&bad);
}

static void
a_fourth_line_of_text_is_refused_though_it_is_signed(void **state)
{
	struct ks_checkpoint checkpoint = {
		.origin = ks_span_text(ORIGIN), .size = 9,
		.root = root_at('a', 9), .extension = ks_span_text("more\n")
	};
	struct ks_buf text = KS_BUF_INIT, note = KS_BUF_INIT;
	uint8_t signature[KS_ED25519_SIGNATURE];

	(void)state;
	ks_checkpoint_print(&checkpoint, &text);
	assert_int_equal(ks_ed25519_sign(&secrets[LOG], ks_buf_span(&text),
		signature, NULL), KS_OK);
	ks_buf_append(&note, ks_buf_span(&text));
	ks_buf_byte(&note, '\n');
	ks_note_print_line(ks_span_text(ORIGIN), vkeys[LOG].id,
		ks_span(signature, sizeof(signature)), &note);
	judge_bytes(ks_buf_span(&note), KS_TRUST_FORGED,
		"a checkpoint of a store has three lines (S1)");
	ks_buf_release(&text);
	ks_buf_release(&note);
}

static void
lines_of_other_keys_change_nothing(void **state)
{
	static const struct paper paper = { LOG, 9, 'a', NULL };
	struct ks_buf note = KS_BUF_INIT;
	size_t i;

	(void)state;
	write_paper(&paper, &note);
	add_line(&note, THIEF, 0);
	add_line(&note, OTHER, 0);
	add_line(&note, WITNESS, 7);
	judge_bytes(ks_buf_span(&note), KS_TRUST_SIGNED, "signed by");
	/* Up to the hundred that a note may have. */
	for (i = 4; i < KS_NOTE_LINES; i++)
		add_line(&note, WITNESS2, i);
	judge_bytes(ks_buf_span(&note), KS_TRUST_SIGNED, "signed by");
	add_line(&note, THIRD, 0);
	judge_bytes(ks_buf_span(&note), KS_TRUST_FORGED, "(B16)");
	ks_buf_release(&note);
}

static void
the_signers_of_a_note_of_nobody_are_named_up_to_three(void **state)
{
	static const struct paper paper = { THIEF, 9, 'a', NULL };
	struct ks_buf note = KS_BUF_INIT;
	char said[200];

	(void)state;
	write_paper(&paper, &note);
	add_line(&note, OTHER, 0);
	add_line(&note, WITNESS, 7);
	add_line(&note, WITNESS2, 7);
	(void)snprintf(said, sizeof(said), "is signed by %s+%08lx, %s+%08lx, "
		"%s+%08lx: no key", ORIGIN, (unsigned long)vkeys[THIEF].id,
		ELSEWHERE, (unsigned long)vkeys[OTHER].id, "w.example/1",
		(unsigned long)vkeys[WITNESS].id);
	judge_bytes(ks_buf_span(&note), KS_TRUST_UNTRUSTED_KEY, said);
	ks_buf_release(&note);
}

static void
a_hostile_name_is_escaped_and_cut(void **state)
{
	struct ks_buf note = KS_BUF_INIT, name = KS_BUF_INIT;
	uint8_t payload[64] = { 0 };
	int i;

	(void)state;
	ks_buf_text(&name, "\xe2\x80\xae\x7f");
	for (i = 0; i < 5000; i++)
		ks_buf_byte(&name, 'x');
	ks_buf_printf(&note, ORIGIN "\n9\n"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n");
	for (i = 0; i < 5; i++)
		ks_note_print_line(ks_buf_span(&name), 7, ks_span(payload,
			sizeof(payload)), &note);
	judge_bytes(ks_buf_span(&note), KS_TRUST_UNTRUSTED_KEY,
		"by \\xe2\\x80\\xae\\x7fxxx");
	ks_buf_release(&note);
	ks_buf_release(&name);
}

/* ---- Policies ---- */

static struct ks_trust *
trust_policy(const char *end)
{
	struct ks_trust *trust = new_trust(NULL, 0);
	struct ks_buf text = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	ks_buf_text(&text, "log ");
	ks_vkey_print(&vkeys[LOG], &text);
	ks_buf_text(&text, "\nwitness W ");
	ks_vkey_print(&vkeys[WITNESS], &text);
	ks_buf_text(&text, "\nwitness V ");
	ks_vkey_print(&vkeys[WITNESS2], &text);
	ks_buf_printf(&text, "\n%s", end);
	if (ks_trust_set_policy(trust, ks_buf_span(&text), &err) != KS_OK)
		fail_msg("%s", err.message);
	ks_buf_release(&text);
	return trust;
}

/* Judge notes that were made before, by a policy that ends so. */
static void
judge_policy(const char *end, struct subject *subject,
	struct ks_trust_result *result)
{
	struct ks_trust *trust = trust_policy(end);
	size_t i;

	for (i = 0; i < subject->subject.note_count; i++)
		subject->spans[i] = ks_buf_span(&subject->notes[i]);
	assert_true(ks_trust_is_asked(trust));
	assert_int_equal(ks_trust_judge(trust, &subject->subject, result,
		NULL), KS_OK);
	ks_trust_free(trust);
}

static void
a_policy_demands_its_quorum_of_each_note(void **state)
{
	static const struct judged judged = {
		.notes = { { LOG, 9, 'a', NULL }, { LOG, 12, 'a', NULL } }
	};
	struct ks_trust_result result;
	struct subject subject;

	(void)state;
	make_subject(&judged, &subject);
	judge_policy("quorum none\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_SIGNED);
	assert_int_equal(result.size, 12);
	assert_int_equal(result.witnesses, 0);
	assert_true(result.time == 0);
	judge_policy("quorum W\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_UNTRUSTED_KEY);
	assert_non_null(strstr(result.message, "the witness W has not"));
	assert_false(result.has_good);
	add_line(&subject.notes[0], WITNESS, 77);
	judge_policy("quorum W\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_UNTRUSTED_KEY);
	assert_true(result.has_good);
	assert_int_equal(result.size, 9);
	add_line(&subject.notes[1], WITNESS, 80);
	add_line(&subject.notes[1], WITNESS2, 79);
	judge_policy("group all all W V\nquorum all\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_SIGNED);
	assert_int_equal(result.size, 12);
	assert_int_equal(result.witnesses, 2);
	assert_true(result.time == 80);
	release_subject(&subject);
}

/* What is told of witnesses is about the note that counts. */
static void
witnesses_of_a_note_that_does_not_count_are_not_told(void **state)
{
	static const struct judged judged = {
		.notes = { { LOG, 9, 'a', NULL }, { LOG, 12, 'a', NULL } }
	};
	struct ks_trust_result result;
	struct subject subject;

	(void)state;
	make_subject(&judged, &subject);
	add_line(&subject.notes[0], WITNESS, 77);
	add_line(&subject.notes[0], WITNESS2, 78);
	add_line(&subject.notes[1], WITNESS, 90);
	judge_policy("group all all W V\nquorum all\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_UNTRUSTED_KEY);
	assert_true(result.has_good);
	assert_int_equal(result.size, 9);
	assert_int_equal(result.witnesses, 2);
	assert_true(result.time == 78);
	release_subject(&subject);
}

static void
a_successor_needs_the_quorum_too(void **state)
{
	static const struct judged judged = {
		.notes = { { LOG, 9, 'a', NULL }, { NEXT, 12, 'a', NULL } },
		.lines = { HANDED_OVER }
	};
	struct ks_trust_result result;
	struct subject subject;

	(void)state;
	make_subject(&judged, &subject);
	add_line(&subject.notes[1], WITNESS, 80);
	/* Nor is an announcement one, without it. */
	judge_policy("quorum W\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_UNTRUSTED_KEY);
	assert_false(result.has_good);
	add_line(&subject.notes[0], WITNESS, 70);
	judge_policy("quorum W\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_SIGNED);
	assert_int_equal(result.size, 12);
	release_subject(&subject);
}

static void
a_cosigner_alone_signs_for_no_log(void **state)
{
	static const struct judged judged = {
		.notes = { { WITNESS, 9, 'a', ORIGIN } }
	};
	struct ks_trust_result result;
	struct subject subject;

	(void)state;
	make_subject(&judged, &subject);
	judge_policy("quorum W\n", &subject, &result);
	assert_int_equal(result.verdict, KS_TRUST_UNTRUSTED_KEY);
	assert_non_null(strstr(result.message, "only cosigners that are "
		"trusted signed it, not the log's key (N1)"));
	assert_false(result.has_good);
	release_subject(&subject);
}

static void
there_is_one_policy_and_it_is_well_formed(void **state)
{
	struct ks_trust *trust = new_trust(NULL, 0);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_false(ks_trust_is_asked(trust));
	assert_int_equal(ks_trust_set_policy(trust, ks_span_text("x\n"),
		&err), KS_INVALID);
	assert_non_null(strstr(err.message, "line 1: "));
	assert_false(ks_trust_is_asked(trust));
	assert_int_equal(ks_trust_set_policy(trust,
		ks_span_text("quorum none\n"), &err), KS_OK);
	assert_true(ks_trust_is_asked(trust));
	assert_false(ks_trust_knows(trust, ks_span_text(ORIGIN)));
	assert_int_equal(ks_trust_set_policy(trust,
		ks_span_text("quorum none\n"), &err), KS_USAGE);
	assert_string_equal(err.message, "there is a policy already");
	ks_trust_free(trust);
	trust = trust_policy("quorum none\n");
	assert_true(ks_trust_knows(trust, ks_span_text(ORIGIN)));
	assert_false(ks_trust_knows(trust, ks_span_text("w.example/1")));
	assert_false(ks_trust_knows(trust, ks_span_text(ELSEWHERE)));
	ks_trust_free(trust);
}

/* ---- What is taken in ---- */

static void
keys_of_logs_are_trusted_and_no_others(void **state)
{
	static const enum who log[] = { LOG };
	struct ks_trust *trust = new_trust(log, 1);
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	assert_int_equal(ks_trust_add_key(trust, &vkeys[WITNESS], &err),
		KS_INVALID);
	assert_string_equal(err.message, "this is the key of a cosigner: a "
		"log's is asked for (type 01, N1)");
	assert_int_equal(ks_trust_add_key(trust, &vkeys[LOG], &err), KS_OK);
	assert_true(ks_trust_knows(trust, ks_span_text(ORIGIN)));
	assert_false(ks_trust_knows(trust, ks_span_text(ELSEWHERE)));
	assert_int_equal(ks_trust_add_key(trust, &vkeys[OTHER], &err), KS_OK);
	assert_true(ks_trust_knows(trust, ks_span_text(ELSEWHERE)));
	ks_trust_free(trust);
	ks_trust_free(NULL);
}

static void
at_most_64_of_each_are_taken(void **state)
{
	static const struct paper paper = { LOG, 9, 'a', NULL };
	static const enum who log[] = { LOG };
	struct ks_trust *trust = new_trust(log, 1);
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf note = KS_BUF_INIT;
	uint64_t sizes[2 * KS_TRUST_KEYS];
	struct ks_secret_key secret;
	struct ks_vkey vkey;
	int i;

	(void)state;
	write_paper(&paper, &note);
	for (i = 1; i < KS_TRUST_KEYS; i++) {
		trust_make(ORIGIN, KS_SIGNATURE_ED25519, (uint8_t)(100 + i),
			&vkey, &secret);
		assert_int_equal(ks_trust_add_key(trust, &vkey, &err), KS_OK);
	}
	assert_int_equal(ks_trust_add_key(trust, &vkeys[OTHER], &err),
		KS_INVALID);
	assert_string_equal(err.message, "more than 64 keys");
	assert_int_equal(ks_trust_add_key(trust, &vkeys[LOG], &err), KS_OK);
	assert_int_equal(ks_trust_sizes(trust, sizes), 0);
	for (i = 0; i < KS_TRUST_KEYS; i++) {
		assert_int_equal(ks_trust_add_seen(trust, ks_buf_span(&note),
			i % 2 == 0, &err), KS_OK);
		assert_int_equal(ks_trust_revoke(trust, ks_buf_span(&note),
			&err), KS_OK);
	}
	assert_int_equal(ks_trust_add_seen(trust, ks_buf_span(&note), true,
		&err), KS_INVALID);
	assert_string_equal(err.message, "more than 64 notes");
	assert_int_equal(ks_trust_revoke(trust, ks_buf_span(&note), &err),
		KS_INVALID);
	assert_string_equal(err.message, "more than 64 revoked keys");
	assert_int_equal(ks_trust_sizes(trust, sizes), 2 * KS_TRUST_KEYS);
	for (i = 0; i < 2 * KS_TRUST_KEYS; i++)
		assert_int_equal(sizes[i], 9);
	ks_buf_release(&note);
	ks_trust_free(trust);
}

static void
a_note_that_is_kept_must_be_one(void **state)
{
	static const struct {
		struct paper paper;
		enum ks_status seen, since, revoked;
	} table[] = {
		{ { LOG, 9, 'a', NULL }, KS_OK, KS_OK, KS_OK },
		{ { THIEF, 9, 'a', NULL }, KS_OK, KS_UNTRUSTED, KS_UNTRUSTED },
		{ { OTHER, 9, 'a', NULL }, KS_OK, KS_UNTRUSTED, KS_UNTRUSTED },
		{ { LOG, 9, 'a', ELSEWHERE }, KS_OK, KS_UNTRUSTED,
			KS_UNTRUSTED },
		{ { ALIAS, 9, 'a', NULL }, KS_OK, KS_UNTRUSTED, KS_UNTRUSTED },
		{ { WITNESS, 9, 'a', ORIGIN }, KS_OK, KS_UNTRUSTED,
			KS_UNTRUSTED },
	};
	static const enum who log[] = { LOG };
	struct ks_buf note = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		struct ks_trust *trust = new_trust(log, 1);
		struct ks_span bytes;

		ks_buf_clear(&note);
		write_paper(&table[i].paper, &note);
		bytes = ks_buf_span(&note);
		assert_int_equal(ks_trust_add_seen(trust, bytes, true, &err),
			table[i].seen);
		assert_int_equal(ks_trust_add_seen(trust, bytes, false, &err),
			table[i].since);
		assert_int_equal(ks_trust_revoke(trust, bytes, &err),
			table[i].revoked);
		/* Broken, it is refused by all, and without a message. */
		bytes.len--;
		assert_int_equal(ks_trust_add_seen(trust, bytes, true, NULL),
			KS_CORRUPT);
		assert_int_equal(ks_trust_add_seen(trust, bytes, false, NULL),
			KS_CORRUPT);
		assert_int_equal(ks_trust_revoke(trust, bytes, NULL),
			KS_CORRUPT);
		ks_trust_free(trust);
	}
	ks_buf_release(&note);
}

static void
a_note_that_does_not_verify_is_kept_by_nobody_but_the_memory(void **state)
{
	static const struct paper paper = { LOG, 9, 'a', NULL };
	static const enum who log[] = { LOG };
	struct ks_trust *trust = new_trust(log, 1);
	struct ks_buf note = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	(void)state;
	write_paper(&paper, &note);
	note.data[sizeof(ORIGIN)] = '8';
	assert_int_equal(ks_trust_add_seen(trust, ks_buf_span(&note), false,
		&err), KS_CORRUPT);
	assert_non_null(strstr(err.message, "does not verify (N2)"));
	assert_int_equal(ks_trust_revoke(trust, ks_buf_span(&note), &err),
		KS_CORRUPT);
	assert_int_equal(ks_trust_add_seen(trust, ks_buf_span(&note), true,
		&err), KS_OK);
	ks_buf_release(&note);
	ks_trust_free(trust);
}

static void
what_is_kept_does_not_depend_on_the_bytes_given(void **state)
{
	static const struct judged judged = { .trusted = { LOG },
		.notes = { { LOG, 9, 'a', NULL } } };
	static const struct paper paper = { LOG, 12, 'a', NULL };
	struct ks_trust *trust = new_trust(judged.trusted, 4);
	struct ks_buf note = KS_BUF_INIT, copy = KS_BUF_INIT;
	struct ks_trust_result result;
	struct subject subject;

	(void)state;
	write_paper(&paper, &note);
	ks_buf_append(&copy, ks_buf_span(&note));
	assert_int_equal(ks_trust_add_seen(trust, ks_buf_span(&note), true,
		NULL), KS_OK);
	memset(note.data, 'x', note.len);
	ks_buf_release(&note);
	make_subject(&judged, &subject);
	assert_int_equal(ks_trust_judge(trust, &subject.subject, &result,
		NULL), KS_OK);
	assert_int_equal(result.verdict, KS_TRUST_ROLLBACK);
	assert_true(ks_span_equal(result.seen, ks_buf_span(&copy)));
	ks_buf_release(&copy);
	release_subject(&subject);
	ks_trust_free(trust);
}

/* ---- Keys that clash, and many notes ---- */

static void
two_keys_of_one_name_and_id_are_a_mistake_of_the_call(void **state)
{
	static const struct judged judged = { .trusted = { LOG },
		.notes = { { LOG, 9, 'a', NULL } } };
	struct ks_trust *trust = new_trust(judged.trusted, 4);
	struct ks_vkey twin = vkeys[THIEF];
	struct ks_error err = KS_ERROR_INIT;
	struct ks_trust_result result;
	struct subject subject;

	(void)state;
	twin.id = vkeys[LOG].id;
	assert_int_equal(ks_trust_add_key(trust, &twin, NULL), KS_OK);
	make_subject(&judged, &subject);
	assert_int_equal(ks_trust_judge(trust, &subject.subject, &result,
		&err), KS_USAGE);
	assert_non_null(strstr(err.message, "two keys are named " ORIGIN));
	assert_int_equal(ks_trust_judge(trust, &subject.subject, &result,
		NULL), KS_USAGE);
	release_subject(&subject);
	ks_trust_free(trust);
}

#define MANY 2000

static void
of_many_notes_each_is_judged(void **state)
{
	static const enum who log[] = { LOG };
	static const struct line line = { 0, LOG, NOBODY };
	struct ks_trust *trust = new_trust(log, 1);
	struct ks_buf *notes = calloc(MANY, sizeof(*notes));
	struct ks_span *spans = calloc(MANY, sizeof(*spans));
	struct ks_log_key key;
	struct log branch = { 'a', MANY };
	struct ks_trust_subject subject = {
		.origin = ks_span_text(ORIGIN), .notes = spans, .keys = &key,
		.key_count = 1, .has_keys = true, .root = root_of_log,
		.arg = &branch
	};
	struct ks_trust_result result;
	size_t i;

	(void)state;
	assert_non_null(notes);
	assert_non_null(spans);
	fill_key(&line, &key);
	for (i = 0; i < MANY; i++) {
		struct paper paper = { i == 1000 ? THIEF : LOG, i + 1, 'a',
			NULL };

		write_paper(&paper, &notes[i]);
		spans[i] = ks_buf_span(&notes[i]);
	}
	subject.note_count = MANY;
	assert_int_equal(ks_trust_judge(trust, &subject, &result, NULL),
		KS_OK);
	assert_int_equal(result.verdict, KS_TRUST_SIGNED);
	assert_int_equal(result.size, MANY);
	assert_int_equal(result.note, MANY - 1);
	subject.note_count = 1001;
	assert_int_equal(ks_trust_judge(trust, &subject, &result, NULL),
		KS_OK);
	assert_int_equal(result.verdict, KS_TRUST_UNTRUSTED_KEY);
	assert_int_equal(result.size, 1000);
	assert_int_equal(result.note, 999);
	for (i = 0; i < MANY; i++)
		ks_buf_release(&notes[i]);
	free(notes);
	free(spans);
	ks_trust_free(trust);
}

/* A log may name many keys; the newest announcement is found among them. */
static void
of_many_announcements_the_newest_counts(void **state)
{
	static const struct line old = { 0, LOG, NOBODY };
	static const struct line announced = { 0, LOG, NEXT };
	static const struct line named = { 0, NEXT, NOBODY };
	static const struct judged judged = { .trusted = { LOG },
		.notes = { { LOG, 20, 'a', NULL }, { NEXT, 30, 'a', NULL } } };
	struct ks_trust *trust = new_trust(judged.trusted, 4);
	struct ks_log_key *keys = calloc(1002, sizeof(*keys));
	struct ks_trust_result result;
	struct subject subject;
	uint32_t i;

	(void)state;
	assert_non_null(keys);
	make_subject(&judged, &subject);
	for (i = 0; i < 1000; i++) {
		fill_key(&old, &keys[i]);
		keys[i].has_next = true;
		ks_sha256(ks_span(&i, sizeof(i)), &keys[i].next);
	}
	fill_key(&announced, &keys[1000]);
	keys[1000].index = 10;
	fill_key(&named, &keys[1001]);
	keys[1001].index = 25;
	subject.subject.keys = keys;
	subject.subject.key_count = 1002;
	assert_int_equal(ks_trust_judge(trust, &subject.subject, &result,
		NULL), KS_OK);
	assert_int_equal(result.verdict, KS_TRUST_SIGNED);
	assert_int_equal(result.size, 30);
	free(keys);
	release_subject(&subject);
	ks_trust_free(trust);
}

/* ---- Names ---- */

static void
each_verdict_has_a_name_and_a_status(void **state)
{
	static const struct {
		enum ks_trust_verdict verdict;
		const char *name;
		enum ks_status status;
	} table[] = {
		{ KS_TRUST_NOT_ASKED, "not asked", KS_OK },
		{ KS_TRUST_SIGNED, "signed", KS_OK },
		{ KS_TRUST_UNSIGNED, "unsigned", KS_UNTRUSTED },
		{ KS_TRUST_UNTRUSTED_KEY, "untrusted key", KS_UNTRUSTED },
		{ KS_TRUST_REVOKED_KEY, "revoked key", KS_UNTRUSTED },
		{ KS_TRUST_WRONG_ORIGIN, "wrong origin", KS_CORRUPT },
		{ KS_TRUST_FORGED, "forged", KS_CORRUPT },
		{ KS_TRUST_MISMATCH, "mismatch", KS_CORRUPT },
		{ KS_TRUST_ROLLBACK, "rollback", KS_CORRUPT },
		{ KS_TRUST_FORK, "fork", KS_CORRUPT },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		assert_string_equal(ks_trust_verdict_name(table[i].verdict),
			table[i].name);
		assert_int_equal(ks_trust_verdict_status(table[i].verdict),
			table[i].status);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_note_counts_when_a_trusted_key_signed_it_and_the_log_is_its),
		cmocka_unit_test(
			a_successor_counts_that_was_announced_under_a_signature_that_counts),
		cmocka_unit_test(a_key_that_has_handed_over_signs_no_more),
		cmocka_unit_test(
			a_key_that_has_handed_over_does_not_take_over_again),
		cmocka_unit_test(
			of_two_keys_announced_the_later_one_takes_over),
		cmocka_unit_test(
			a_revoked_key_counts_up_to_its_last_good_note),
		cmocka_unit_test(
			a_log_is_neither_older_nor_another_than_what_was_seen),
		cmocka_unit_test(
			a_note_of_nobody_on_top_does_not_hide_a_rollback),
		cmocka_unit_test(an_unsigned_tail_makes_no_fork_of_a_rollback),
		cmocka_unit_test(a_note_alone_is_judged_by_its_signature),
		cmocka_unit_test(
			a_note_alone_is_compared_with_one_of_its_size),
		cmocka_unit_test(
			a_note_alone_of_a_revoked_key_must_be_its_last_good_one),
		cmocka_unit_test(
			a_note_that_is_malformed_or_does_not_verify_is_forged),
		cmocka_unit_test(
			a_fourth_line_of_text_is_refused_though_it_is_signed),
		cmocka_unit_test(lines_of_other_keys_change_nothing),
		cmocka_unit_test(
			the_signers_of_a_note_of_nobody_are_named_up_to_three),
		cmocka_unit_test(a_hostile_name_is_escaped_and_cut),
		cmocka_unit_test(a_policy_demands_its_quorum_of_each_note),
		cmocka_unit_test(
			witnesses_of_a_note_that_does_not_count_are_not_told),
		cmocka_unit_test(a_successor_needs_the_quorum_too),
		cmocka_unit_test(a_cosigner_alone_signs_for_no_log),
		cmocka_unit_test(there_is_one_policy_and_it_is_well_formed),
		cmocka_unit_test(keys_of_logs_are_trusted_and_no_others),
		cmocka_unit_test(at_most_64_of_each_are_taken),
		cmocka_unit_test(a_note_that_is_kept_must_be_one),
		cmocka_unit_test(
			a_note_that_does_not_verify_is_kept_by_nobody_but_the_memory),
		cmocka_unit_test(
			what_is_kept_does_not_depend_on_the_bytes_given),
		cmocka_unit_test(
			two_keys_of_one_name_and_id_are_a_mistake_of_the_call),
		cmocka_unit_test(of_many_notes_each_is_judged),
		cmocka_unit_test(of_many_announcements_the_newest_counts),
		cmocka_unit_test(each_verdict_has_a_name_and_a_status),
	};

	return cmocka_run_group_tests(tests, make_people, NULL);
}
