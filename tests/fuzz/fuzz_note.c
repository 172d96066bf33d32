/*
 * A note that is accepted has exactly one form: what was taken apart gives the
 * same bytes again. Opening and merging never say more than the lines that
 * verify, and what is merged is a note that opens. The same for checkpoints.
 */
#include "format/checkpoint.h"
#include "../lib/fuzz.h"

/* Keys of the notes in the corpus. */
static const char *const known[] = {
	"archive.example/log+f8ca281c+"
		"Af6Qjore+3UgLJPYS9K69S7FxBm84h4v5+PHmbYW22up",
	"witness.example/w1+44d58d5d+"
		"BAvCPfs2bIz6Yj2LPVfBDQ+bQOtqa2zrFNapuSnvGnVH",
	"mirror.example/m2+b5a0d82e+"
		"BEdCVrsjy2bPI3VpPfL3Rt4bSyL54wYXY8yWWP+nbhdQ",
	"alice.example/notes+07b0d7b8+"
		"Ab6fzhr98geVYA0fo1uZffwd3pCZrecx/kvRfUOWE38z",
	"bob.example/notes+fab705e2+"
		"Aawlof9uGSTCm3W44kb3n5oe6//8hEH94nWlASUqlzHn",
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static struct ks_vkey *
vkeys(void)
{
	static struct ks_vkey list[KNOWN];
	size_t i;

	for (i = 0; i < KNOWN && list[i].name[0] == '\0'; i++)
		require(ks_vkey_parse(ks_span_text(known[i]), &list[i],
			NULL) == KS_OK);
	return list;
}

static void
check_form(struct ks_span bytes, const struct ks_note *note)
{
	struct ks_buf again = KS_BUF_INIT;
	size_t i;

	require(ks_note_check_text(note->text, NULL) == KS_OK);
	require(note->line_count >= 1 && note->line_count <= KS_NOTE_LINES);
	ks_buf_append(&again, note->text);
	ks_buf_byte(&again, '\n');
	for (i = 0; i < note->line_count; i++) {
		const struct ks_note_line *line = &note->lines[i];
		size_t before = again.len;

		require(ks_key_name_is_legal(line->name));
		require(line->payload.len >= 1);
		ks_note_print_line(line->name, line->id, line->payload,
			&again);
		require(ks_span_equal(line->line, ks_span(again.data + before,
			again.len - before)));
	}
	require(ks_span_equal(ks_buf_span(&again), bytes));
	ks_buf_release(&again);
}

static void
check_checkpoint(struct ks_span text)
{
	struct ks_checkpoint checkpoint;
	struct ks_buf again = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_checkpoint_parse(text, &checkpoint, &err) != KS_OK) {
		require(err.status == KS_CORRUPT);
		return;
	}
	require(checkpoint.origin.len >= 1);
	require(checkpoint.size <= INT64_MAX);
	ks_checkpoint_print(&checkpoint, &again);
	require(ks_span_equal(ks_buf_span(&again), text));
	ks_buf_release(&again);
}

/* Whether any key verified; if so, each has its own line. */
static bool
check_keys(const struct ks_note *note, const struct ks_note_key *keys)
{
	bool any = false;
	size_t i;

	for (i = 0; i < KNOWN; i++) {
		const struct ks_note_line *line = &note->lines[keys[i].line];

		require(keys[i].verified ||
			(keys[i].line == 0 && keys[i].time == 0));
		if (!keys[i].verified)
			continue;
		any = true;
		require(keys[i].line < note->line_count);
		require(line->id == keys[i].vkey->id);
		require(ks_span_is(line->name, keys[i].vkey->name));
		require(keys[i].time <= INT64_MAX);
	}
	return any;
}

/* All of a note's lines, given to it once more. */
static void
check_merge(const struct ks_note *note, bool opened)
{
	const struct ks_note_line *last = &note->lines[note->line_count - 1];
	const uint8_t *first = note->lines[0].line.data;
	struct ks_span lines = ks_span(first,
		(size_t)(last->line.data - first) + last->line.len);
	struct ks_note_key keys[KNOWN];
	struct ks_note_merged merged;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_note result;
	enum ks_status status;
	size_t i;

	for (i = 0; i < KNOWN; i++)
		keys[i].vkey = &vkeys()[i];
	status = ks_note_merge(note, lines, keys, KNOWN,
		KS_NOTE_LINES_PUBLISHED, &out, &merged, NULL);
	require(status != KS_OK || opened);
	if (status == KS_OK) {
		require(ks_note_parse(ks_buf_span(&out), &result, NULL) ==
			KS_OK);
		require(ks_span_equal(result.text, note->text));
		require(result.line_count <= KS_NOTE_LINES_PUBLISHED);
		/* A key's line may be followed by others of its own. */
		require(merged.added == 0 &&
			merged.replaced + merged.known > 0);
		require(merged.replaced + merged.known + merged.unknown ==
			note->line_count);
		require(check_keys(&result, keys));
		ks_note_release(&result);
	} else {
		require(out.len == 0);
	}
	ks_buf_release(&out);
}

static void
check_note(const struct ks_note *note)
{
	struct ks_note_key keys[KNOWN];
	enum ks_status status;
	size_t i;

	for (i = 0; i < KNOWN; i++)
		keys[i].vkey = &vkeys()[i];
	status = ks_note_open(note, keys, KNOWN, NULL);
	require(status == KS_OK || status == KS_CORRUPT ||
		status == KS_UNTRUSTED);
	require(check_keys(note, keys) == (status == KS_OK));
	check_merge(note, status == KS_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ks_span bytes = ks_span(data, size);
	struct ks_error err = KS_ERROR_INIT;
	struct ks_vkey vkey;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_note note;

	if (ks_note_parse(bytes, &note, &err) == KS_OK) {
		check_form(bytes, &note);
		check_checkpoint(note.text);
		check_note(&note);
		ks_note_release(&note);
	} else {
		require(err.status == KS_CORRUPT && err.message[0] != '\0');
	}
	check_checkpoint(bytes);
	if (ks_vkey_parse(bytes, &vkey, NULL) == KS_OK) {
		ks_vkey_print(&vkey, &text);
		require(ks_span_equal(ks_buf_span(&text), bytes));
	}
	ks_buf_release(&text);
	return 0;
}
