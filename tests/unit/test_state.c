#include "store/state.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/file.h"
#include "format/digest.h"
#include "../lib/scratch.h"
#include "../lib/trust.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define ORIGIN "log.example/a"
#define ROOT "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define WRITERS 4
#define ROUNDS 30

static struct ks_vkey first, second, elsewhere;

static int
setup(void **state)
{
	struct ks_secret_key secret;

	trust_make(ORIGIN, KS_SIGNATURE_ED25519, 1, &first, &secret);
	trust_make(ORIGIN, KS_SIGNATURE_ED25519, 2, &second, &secret);
	trust_make("log.example/b", KS_SIGNATURE_ED25519, 1, &elsewhere,
		&secret);
	(void)umask(022);
	return scratch_setup(state);
}

static struct ks_state *
open_state(const char *directory)
{
	struct ks_state *state = NULL;
	struct ks_error err = KS_ERROR_INIT;

	if (ks_state_new(&state, directory, &err) != KS_OK)
		fail_msg("%s", err.message);
	return state;
}

/* A note as far as its form goes. */
static void
print_note(uint64_t size, struct ks_buf *out)
{
	ks_buf_printf(out, ORIGIN "\n%llu\n" ROOT "\n\n\xe2\x80\x94 " ORIGIN
		" AAAAAAAA\n", (unsigned long long)size);
	assert_false(out->failed);
}

static enum ks_status
accept(struct ks_state *state, uint64_t size, struct ks_error *err)
{
	struct ks_buf note = KS_BUF_INIT;
	enum ks_status status;

	print_note(size, &note);
	status = ks_state_accept(state, ks_span_text(ORIGIN), size,
		ks_buf_span(&note), err);
	ks_buf_release(&note);
	return status;
}

static void
must_accept(struct ks_state *state, uint64_t size)
{
	struct ks_error err = KS_ERROR_INIT;

	if (accept(state, size, &err) != KS_OK)
		fail_msg("%s", err.message);
}

/* The size of what is accepted, whose bytes must be those of print_note();
 * 0 = nothing is there. */
static uint64_t
accepted(struct ks_state *state)
{
	struct ks_buf note = KS_BUF_INIT, whole = KS_BUF_INIT;
	unsigned long long size = 0;
	bool found;

	assert_int_equal(ks_state_accepted(state, ks_span_text(ORIGIN), &note,
		&found, NULL), KS_OK);
	if (found) {
		assert_int_equal(sscanf(ks_buf_cstr(&note), ORIGIN "\n%llu\n",
			&size), 1);
		print_note(size, &whole);
		assert_true(ks_span_equal(ks_buf_span(&note),
			ks_buf_span(&whole)));
	}
	ks_buf_release(&note);
	ks_buf_release(&whole);
	return size;
}

/* state/KIND/HEX of a text. */
static const char *
file_of(const char *kind, const char *subject)
{
	static char path[128];
	struct ks_id digest;
	char hex[KS_ID_HEX + 1];

	ks_sha256(ks_span_text(subject), &digest);
	(void)snprintf(path, sizeof(path), "state/%s/%s", kind,
		ks_id_print_hex(&digest, hex));
	return path;
}

static void
vkey_text(const struct ks_vkey *vkey, char out[400])
{
	struct ks_buf text = KS_BUF_INIT;

	ks_vkey_print(vkey, &text);
	(void)snprintf(out, 400, "%s", ks_buf_cstr(&text));
	ks_buf_release(&text);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		fail_msg("%s: %s", path, strerror(errno));
	return st.st_mode;
}

static void
assert_mode(const char *path, bool directory, mode_t rights)
{
	mode_t mode = mode_of(path);

	assert_true(directory ? S_ISDIR(mode) : S_ISREG(mode));
	assert_int_equal(mode & 07777, rights);
}

static bool
exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static enum ks_status
pin_key(struct ks_state *state, const struct ks_vkey *vkey,
	struct ks_error *err)
{
	struct ks_buf policy = KS_BUF_INIT;
	enum ks_status status;

	ks_buf_text(&policy, "log ");
	ks_vkey_print(vkey, &policy);
	ks_buf_text(&policy, "\nquorum none\n");
	status = ks_state_pin_write(state, ks_span_text(vkey->name),
		ks_buf_span(&policy), err);
	ks_buf_release(&policy);
	return status;
}

/* ---- Nowhere to remember ---- */

static void
without_a_directory_nothing_is_found_and_nothing_written(void **unused)
{
	static const char *const none[] = { NULL, "" };
	size_t i;

	(void)unused;
	for (i = 0; i < COUNT(none); i++) {
		struct ks_state *state = open_state(none[i]);
		struct ks_signer_memory memory = KS_SIGNER_MEMORY_INIT;
		struct ks_buf text = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;
		struct ks_id root = { .bytes = { 0 } };
		bool found = true;

		assert_int_equal(ks_state_pin_read(state,
			ks_span_text(ORIGIN), &text, &found, &err), KS_OK);
		assert_false(found);
		assert_int_equal(accepted(state), 0);
		assert_int_equal(accept(state, 1, &err), KS_IO);
		assert_string_equal(err.message, "there is no place to "
			"remember this: set XDG_STATE_HOME or HOME");
		assert_int_equal(pin_key(state, &first, &err),
			KS_IO);
		assert_int_equal(ks_state_keep_fork(state,
			ks_span_text(ORIGIN), 1, &root, ks_span_text("x"),
			&text, &err), KS_IO);
		assert_int_equal(ks_state_signer_begin(state, &first, 0, NULL,
			&memory, &err), KS_IO);
		ks_state_signer_end(&memory);
		ks_buf_release(&text);
		ks_state_free(state);
	}
	ks_state_free(NULL);
}

static void
reading_makes_no_directory(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf text = KS_BUF_INIT;
	bool found;

	(void)unused;
	assert_int_equal(accepted(state), 0);
	assert_int_equal(ks_state_pin_read(state, ks_span_text(ORIGIN), &text,
		&found, NULL), KS_OK);
	assert_false(found);
	assert_false(exists("state"));
	ks_buf_release(&text);
	ks_state_free(state);
}

static bool
has_signed(struct ks_state *state, const struct ks_vkey *vkey)
{
	bool signed_ = true;

	assert_int_equal(ks_state_has_signed(state, vkey, &signed_, NULL),
		KS_OK);
	return signed_;
}

static void
who_has_signed_is_told_by_key_and_nothing_is_made(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_state *nowhere = open_state(NULL);
	struct ks_signer_memory memory;

	(void)unused;
	assert_false(has_signed(nowhere, &first));
	assert_false(has_signed(state, &first));
	assert_false(exists("state"));
	assert_int_equal(ks_state_signer_begin(state, &first, 0, NULL,
		&memory, NULL), KS_OK);
	/* It is about to, and has not yet. */
	assert_false(has_signed(state, &first));
	assert_int_equal(ks_state_signer_record(&memory,
		ks_span_text(ORIGIN "\n1\n" ROOT "\n"), NULL), KS_OK);
	assert_true(has_signed(state, &first));
	ks_state_signer_end(&memory);
	assert_true(has_signed(state, &first));
	assert_false(has_signed(state, &second));
	assert_false(has_signed(state, &elsewhere));
	ks_state_free(state);
	ks_state_free(nowhere);
}

/* ---- Names and rights ---- */

static void
what_is_written_is_private_whatever_the_umask(void **unused)
{
	static const mode_t masks[] = { 0, 022, 077 };
	size_t i;

	(void)unused;
	for (i = 0; i < COUNT(masks); i++) {
		struct ks_state *state = open_state("state");
		struct ks_signer_memory memory;
		char vkey[400], path[160];

		(void)umask(masks[i]);
		must_accept(state, 9);
		assert_int_equal(pin_key(state, &first, NULL),
			KS_OK);
		assert_int_equal(ks_state_signer_begin(state, &first, 0, NULL,
			&memory, NULL), KS_OK);
		assert_int_equal(ks_state_signer_record(&memory,
			ks_span_text(ORIGIN "\n1\n" ROOT "\n"), NULL), KS_OK);
		ks_state_signer_end(&memory);
		assert_mode("state", true, 0700);
		assert_mode("state/accepted", true, 0700);
		assert_mode("state/pins", true, 0700);
		assert_mode(file_of("accepted", ORIGIN), false, 0600);
		assert_mode(file_of("pins", ORIGIN), false, 0600);
		vkey_text(&first, vkey);
		assert_mode(file_of("signers", vkey), true, 0700);
		(void)snprintf(path, sizeof(path), "%s/checkpoint",
			file_of("signers", vkey));
		assert_mode(path, false, 0600);
		ks_state_free(state);
		(void)umask(022);
		assert_int_equal(sh("[ -z \"$(find state -name "
			"'.kistore-*')\" ] && rm -rf state"), 0);
	}
}

static void
directories_that_are_there_keep_their_rights(void **unused)
{
	struct ks_state *state = open_state("a/b/state");

	(void)unused;
	assert_int_equal(mkdir("a", 0755), 0);
	must_accept(state, 9);
	assert_mode("a", true, 0755);
	assert_mode("a/b", true, 0700);
	assert_int_equal(accepted(state), 9);
	ks_state_free(state);
}

static void
any_origin_is_a_file_of_its_own_directly_in_the_directory(void **unused)
{
	char longest[KS_KEY_NAME_MAX + 1];
	const char *const origins[] = {
		"a", "A", "a/b", "/", "..", "../../../etc/passwd", "a\nb", "",
		"\xe2\x80\xae", longest
	};
	struct ks_state *state = open_state("state");
	size_t i;

	(void)unused;
	memset(longest, 'x', KS_KEY_NAME_MAX);
	longest[KS_KEY_NAME_MAX] = '\0';
	for (i = 0; i < COUNT(origins); i++) {
		struct ks_buf note = KS_BUF_INIT;
		bool found;

		assert_int_equal(ks_state_accept(state,
			ks_span_text(origins[i]), i, ks_span_text("x"), NULL),
			KS_OK);
		assert_true(exists(file_of("accepted", origins[i])));
		assert_int_equal(ks_state_accepted(state,
			ks_span_text(origins[i]), &note, &found, NULL), KS_OK);
		assert_true(found);
		ks_buf_release(&note);
	}
	assert_int_equal(sh("[ $(ls state/accepted | wc -l) -eq 11 ]"),
		0);
	ks_state_free(state);
}

/* ---- Accepted notes ---- */

static void
an_older_note_never_replaces_a_newer_one(void **unused)
{
	static const uint64_t sizes[] = { 9, 12, 3, 12, 0, 11, 13,
		(uint64_t)INT64_MAX, 14 };
	struct ks_state *state = open_state("state");
	uint64_t most = 0;
	size_t i;

	(void)unused;
	for (i = 0; i < COUNT(sizes); i++) {
		must_accept(state, sizes[i]);
		most = sizes[i] > most ? sizes[i] : most;
		assert_true(accepted(state) == most);
	}
	ks_state_free(state);
}

/* Cosignatures may have come meanwhile. */
static void
a_note_of_the_same_size_replaces_the_one_there_is(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf note = KS_BUF_INIT, found = KS_BUF_INIT;
	bool there;

	(void)unused;
	must_accept(state, 9);
	print_note(9, &note);
	ks_buf_text(&note, "\xe2\x80\x94 w AAAAAAAA\n");
	assert_int_equal(ks_state_accept(state, ks_span_text(ORIGIN), 9,
		ks_buf_span(&note), NULL), KS_OK);
	assert_int_equal(ks_state_accepted(state, ks_span_text(ORIGIN),
		&found, &there, NULL), KS_OK);
	assert_true(there && ks_span_equal(ks_buf_span(&note),
		ks_buf_span(&found)));
	ks_buf_release(&note);
	ks_buf_release(&found);
	ks_state_free(state);
}

static void
what_is_scrambled_is_replaced_by_any_note(void **unused)
{
	static const char *const junk[] = {
		"", "garbage", ORIGIN "\n99\n" ROOT "\n",
		ORIGIN "\n099\n" ROOT "\n\n\xe2\x80\x94 a AAAAAAAA\n",
		"\n\n\n\n"
	};
	struct ks_state *state = open_state("state");
	size_t i;

	(void)unused;
	must_accept(state, 50);
	for (i = 0; i < COUNT(junk); i++) {
		scratch_write(file_of("accepted", ORIGIN),
			ks_span_text(junk[i]));
		must_accept(state, 5);
		assert_true(accepted(state) == 5);
	}
	ks_state_free(state);
}

static void
a_file_that_is_too_long_is_not_read(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf big = KS_BUF_INIT, text = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	bool found = true;
	size_t i;

	(void)unused;
	must_accept(state, 9);
	assert_int_equal(pin_key(state, &first, NULL), KS_OK);
	for (i = 0; i <= KS_POLICY_MAX; i++)
		ks_buf_byte(&big, 'x');
	scratch_write(file_of("accepted", ORIGIN), ks_buf_span(&big));
	assert_int_not_equal(ks_state_accepted(state, ks_span_text(ORIGIN),
		&text, &found, &err), KS_OK);
	assert_false(found);
	assert_non_null(strstr(err.message, "is longer than 1000000 bytes"));
	scratch_write(file_of("pins", ORIGIN), ks_buf_span(&big));
	assert_int_not_equal(ks_state_pin_read(state, ks_span_text(ORIGIN),
		&text, &found, &err), KS_OK);
	assert_false(found);
	assert_int_equal(text.len, 0);
	/* What cannot be read is no reason to stay without a memory. */
	must_accept(state, 3);
	assert_true(accepted(state) == 3);
	ks_buf_release(&big);
	ks_buf_release(&text);
	ks_state_free(state);
}

/* One of several writers, whose sizes go up and down. */
static void
write_sizes(unsigned number)
{
	struct ks_state *state = open_state("state");
	unsigned i;

	for (i = 0; i < ROUNDS; i++)
		if (accept(state, 1 + (i * 37 + number * 11) % 100, NULL) !=
			KS_OK)
			leave(1);
	if (accept(state, 200 - number, NULL) != KS_OK)
		leave(1);
	ks_state_free(state);
	leave(0);
}

static void
among_many_writers_the_size_only_grows_and_each_note_is_whole(void **unused)
{
	struct ks_state *state = open_state("state");
	pid_t writers[WRITERS];
	uint64_t before = 0;
	unsigned i, ended = 0;

	(void)unused;
	for (i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		assert_true(writers[i] >= 0);
		if (writers[i] == 0)
			write_sizes(i);
	}
	while (ended < WRITERS) {
		uint64_t size = accepted(state);
		int status;

		assert_true(size >= before);
		before = size;
		if (waitpid(-1, &status, WNOHANG) > 0) {
			assert_true(WIFEXITED(status));
			assert_int_equal(WEXITSTATUS(status), 0);
			ended++;
		}
	}
	assert_true(accepted(state) == 200);
	assert_int_equal(sh("[ -z \"$(find state -name "
		"'.kistore-*')\" ]"), 0);
	ks_state_free(state);
}

/* ---- Pins ---- */

static void
a_pin_is_a_policy_that_stock_tools_read(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf text = KS_BUF_INIT, expected = KS_BUF_INIT;
	struct ks_policy *policy;
	bool found;

	(void)unused;
	assert_int_equal(pin_key(state, &first, NULL), KS_OK);
	assert_int_equal(ks_state_pin_read(state, ks_span_text(ORIGIN), &text,
		&found, NULL), KS_OK);
	assert_true(found);
	ks_buf_text(&expected, "log ");
	ks_vkey_print(&first, &expected);
	ks_buf_text(&expected, "\nquorum none\n");
	assert_true(ks_span_equal(ks_buf_span(&text), ks_buf_span(&expected)));
	assert_int_equal(ks_policy_parse(ks_buf_span(&text), &policy, NULL),
		KS_OK);
	assert_true(ks_policy_has_log(policy, ks_span_text(ORIGIN)));
	ks_policy_free(policy);
	ks_buf_release(&text);
	ks_buf_release(&expected);
	ks_state_free(state);
}

static void
a_pin_is_written_once_and_another_key_is_refused(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_error err = KS_ERROR_INIT;
	struct stat before, after;

	(void)unused;
	assert_int_equal(pin_key(state, &first, &err), KS_OK);
	assert_int_equal(stat(file_of("pins", ORIGIN), &before), 0);
	assert_int_equal(pin_key(state, &first, &err), KS_OK);
	assert_int_equal(pin_key(state, &second, &err), KS_EXISTS);
	assert_non_null(strstr(err.message, ORIGIN " is pinned otherwise in "
		"state/pins/"));
	assert_non_null(strstr(err.message,
		": remove that file to pin another key"));
	assert_int_equal(stat(file_of("pins", ORIGIN), &after), 0);
	assert_true(before.st_ino == after.st_ino);
	/* Another origin has a pin of its own. */
	assert_int_equal(pin_key(state, &elsewhere, &err), KS_OK);
	assert_int_equal(unlink(file_of("pins", ORIGIN)), 0);
	assert_int_equal(pin_key(state, &second, &err), KS_OK);
	ks_state_free(state);
}

static void
a_pin_that_somebody_edited_is_left_as_it_is(void **unused)
{
	static const char *const edited[] = { "", "quorum none\n", "junk" };
	struct ks_state *state = open_state("state");
	struct ks_buf text = KS_BUF_INIT;
	bool found;
	size_t i;

	(void)unused;
	assert_int_equal(pin_key(state, &first, NULL), KS_OK);
	for (i = 0; i < COUNT(edited); i++) {
		scratch_write(file_of("pins", ORIGIN),
			ks_span_text(edited[i]));
		assert_int_equal(pin_key(state, &first, NULL),
			KS_EXISTS);
		ks_buf_clear(&text);
		assert_int_equal(ks_state_pin_read(state,
			ks_span_text(ORIGIN), &text, &found, NULL), KS_OK);
		assert_true(found && ks_span_is(ks_buf_span(&text),
			edited[i]));
	}
	ks_buf_release(&text);
	ks_state_free(state);
}

/* ---- Evidence ---- */

static void
evidence_of_each_fork_is_kept_beside_that_of_others(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf path = KS_BUF_INIT, other = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT;
	struct ks_id root = { .bytes = { 0xab } };
	char expected[200];

	(void)unused;
	assert_int_equal(ks_state_keep_fork(state, ks_span_text(ORIGIN), 12,
		&root, ks_span_text("evidence"), &path, NULL), KS_OK);
	(void)snprintf(expected, sizeof(expected), "%s-12-ab00000000000000",
		file_of("forks", ORIGIN));
	assert_string_equal(ks_buf_cstr(&path), expected);
	assert_mode(expected, false, 0600);
	assert_int_equal(ks_file_read(expected, 100, &text, NULL), KS_OK);
	assert_true(ks_span_is(ks_buf_span(&text), "evidence"));
	root.bytes[0] = 0xcd;
	assert_int_equal(ks_state_keep_fork(state, ks_span_text(ORIGIN), 12,
		&root, ks_span_text("more"), &other, NULL), KS_OK);
	assert_string_not_equal(ks_buf_cstr(&path), ks_buf_cstr(&other));
	assert_int_equal(sh("[ $(ls state/forks | wc -l) -eq 2 ]"), 0);
	ks_buf_release(&path);
	ks_buf_release(&other);
	ks_buf_release(&text);
	ks_state_free(state);
}

/* ---- The memory of a signer ---- */

static enum ks_status
begin(struct ks_state *state, const struct ks_vkey *vkey,
	struct ks_signer_memory *memory, struct ks_error *err)
{
	return ks_state_signer_begin(state, vkey, 0, NULL, memory, err);
}

static void
a_signer_finds_what_it_recorded_last(void **unused)
{
	static const char one[] = ORIGIN "\n1\n" ROOT "\n";
	static const char two[] = ORIGIN "\n2\n" ROOT "\n";
	struct ks_state *state = open_state("state");
	struct ks_signer_memory memory;

	(void)unused;
	assert_int_equal(begin(state, &first, &memory, NULL), KS_OK);
	assert_int_equal(memory.text.len, 0);
	assert_int_equal(ks_state_signer_record(&memory, ks_span_text(one),
		NULL), KS_OK);
	assert_int_equal(ks_state_signer_record(&memory, ks_span_text(two),
		NULL), KS_OK);
	ks_state_signer_end(&memory);
	assert_int_equal(begin(state, &first, &memory, NULL), KS_OK);
	assert_true(ks_span_is(ks_buf_span(&memory.text), two));
	ks_state_signer_end(&memory);
	/* Keys of one name, and one key of two names, have each their own. */
	assert_int_equal(begin(state, &second, &memory, NULL), KS_OK);
	assert_int_equal(memory.text.len, 0);
	ks_state_signer_end(&memory);
	assert_int_equal(begin(state, &elsewhere, &memory, NULL), KS_OK);
	assert_int_equal(memory.text.len, 0);
	ks_state_signer_end(&memory);
	ks_state_free(state);
}

static void
two_signers_with_one_key_do_not_sign_side_by_side(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_signer_memory memory, other;
	struct ks_error err = KS_ERROR_INIT;

	(void)unused;
	assert_int_equal(begin(state, &first, &memory, NULL), KS_OK);
	assert_int_equal(begin(state, &first, &other, &err), KS_BUSY);
	ks_state_signer_end(&other);
	/* With another key they do. */
	assert_int_equal(begin(state, &second, &other, &err), KS_OK);
	ks_state_signer_end(&other);
	ks_state_signer_end(&memory);
	assert_int_equal(begin(state, &first, &other, &err), KS_OK);
	ks_state_signer_end(&other);
	ks_state_free(state);
}

static void
a_signer_that_was_killed_holds_nothing(void **unused)
{
	static const char text[] = ORIGIN "\n7\n" ROOT "\n";
	struct ks_state *state = open_state("state");
	struct ks_signer_memory memory;
	int status;
	pid_t pid = fork();

	(void)unused;
	assert_true(pid >= 0);
	if (pid == 0) {
		if (begin(state, &first, &memory, NULL) != KS_OK ||
			ks_state_signer_record(&memory, ks_span_text(text),
				NULL) != KS_OK)
			_exit(1);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(begin(state, &first, &memory, NULL), KS_OK);
	assert_true(ks_span_is(ks_buf_span(&memory.text), text));
	ks_state_signer_end(&memory);
	ks_state_free(state);
}

static void
a_memory_that_is_scrambled_is_not_taken_for_none(void **unused)
{
	static const char *const junk[] = {
		"", "\n", "garbage", ORIGIN "\n1\n", ORIGIN "\n01\n" ROOT "\n",
		ORIGIN "\n1\n" ROOT, "\n1\n" ROOT "\n"
	};
	struct ks_state *state = open_state("state");
	struct ks_signer_memory memory;
	struct ks_error err = KS_ERROR_INIT;
	char vkey[400], path[160];
	size_t i;

	(void)unused;
	assert_int_equal(begin(state, &first, &memory, NULL), KS_OK);
	ks_state_signer_end(&memory);
	vkey_text(&first, vkey);
	(void)snprintf(path, sizeof(path), "%s/checkpoint",
		file_of("signers", vkey));
	for (i = 0; i < COUNT(junk); i++) {
		scratch_write(path, ks_span_text(junk[i]));
		assert_int_equal(begin(state, &first, &memory, &err),
			KS_CORRUPT);
		assert_int_equal(strncmp(err.message, path, strlen(path)), 0);
		ks_state_signer_end(&memory);
		assert_int_equal(begin(state, &first, &memory, NULL),
			KS_CORRUPT);
		ks_state_signer_end(&memory);
	}
	ks_state_free(state);
}

/* ---- Links, and what cannot be written ---- */

static void
the_directory_may_be_a_link(void **unused)
{
	struct ks_state *state = open_state("state");

	(void)unused;
	assert_int_equal(mkdir("real", 0700), 0);
	assert_int_equal(symlink("real", "state"), 0);
	must_accept(state, 9);
	assert_true(accepted(state) == 9);
	assert_true(S_ISLNK(mode_of("state")));
	assert_true(exists("real/accepted"));
	ks_state_free(state);
}

static void
a_file_that_is_a_link_is_read_and_replaced_not_written_through(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf text = KS_BUF_INIT;

	(void)unused;
	must_accept(state, 9);
	assert_int_equal(rename(file_of("accepted", ORIGIN), "target"), 0);
	assert_int_equal(symlink("../../target",
		file_of("accepted", ORIGIN)), 0);
	assert_true(accepted(state) == 9);
	must_accept(state, 5);
	assert_true(accepted(state) == 9);
	must_accept(state, 12);
	assert_true(accepted(state) == 12);
	assert_true(S_ISREG(mode_of(file_of("accepted", ORIGIN))));
	assert_int_equal(ks_file_read("target", 1000, &text, NULL), KS_OK);
	assert_non_null(strstr(ks_buf_cstr(&text), "\n9\n"));
	ks_buf_release(&text);
	ks_state_free(state);
}

static void
a_lock_that_is_a_link_is_not_followed(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_signer_memory memory;
	struct ks_error err = KS_ERROR_INIT;
	char vkey[400], path[160];

	(void)unused;
	assert_int_equal(sh("mkdir -p state/accepted && "
		"ln -s ../../target state/accepted/kistore.lock"), 0);
	assert_int_equal(accept(state, 9, &err), KS_IO);
	assert_non_null(strstr(err.message, "is a symbolic link"));
	assert_int_equal(accepted(state), 0);
	vkey_text(&first, vkey);
	assert_int_equal(mkdir("state/signers", 0700), 0);
	assert_int_equal(mkdir(file_of("signers", vkey), 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/kistore.lock",
		file_of("signers", vkey));
	assert_int_equal(symlink("../../../target", path), 0);
	assert_int_equal(begin(state, &first, &memory, &err), KS_IO);
	ks_state_signer_end(&memory);
	assert_false(exists("target"));
	ks_state_free(state);
}

/* Each of these is of the system, and none says "not found". */
static void
what_cannot_be_written_is_an_error_of_the_system(void **unused)
{
	static const struct {
		const char *name, *script;
	} table[] = {
		{ "a file in place of the directory", ": >state" },
		{ "a file above it", "rm -rf state; : >up; ln -s up/down state" },
		{ "a dangling link in place of it", "ln -s nowhere state" },
		{ "files in place of the directories", "mkdir state && "
			"cd state && : >pins; : >accepted; : >forks; "
			": >signers" },
		{ "dangling links in their place", "mkdir state && cd state "
			"&& ln -s no pins; ln -s no accepted; ln -s no forks; "
			"ln -s no signers" },
	};
	size_t i;

	(void)unused;
	for (i = 0; i < COUNT(table); i++) {
		struct ks_state *state = open_state("state");
		struct ks_signer_memory memory;
		struct ks_id root = { .bytes = { 0 } };
		struct ks_buf path = KS_BUF_INIT;
		struct ks_error err = KS_ERROR_INIT;

		assert_int_equal(sh("rm -rf state up"), 0);
		assert_int_equal(sh(table[i].script), 0);
		if (accept(state, 9, &err) != KS_IO)
			fail_msg("%s: accepting: %s", table[i].name,
				ks_status_name(err.status));
		if (pin_key(state, &first, &err) != KS_IO)
			fail_msg("%s: pinning: %s", table[i].name,
				ks_status_name(err.status));
		if (ks_state_keep_fork(state, ks_span_text(ORIGIN), 1, &root,
			ks_span_text("x"), &path, &err) != KS_IO)
			fail_msg("%s: evidence: %s", table[i].name,
				ks_status_name(err.status));
		if (begin(state, &first, &memory, &err) != KS_IO)
			fail_msg("%s: signing: %s", table[i].name,
				ks_status_name(err.status));
		ks_state_signer_end(&memory);
		ks_buf_release(&path);
		ks_state_free(state);
	}
}

static void
a_directory_in_place_of_a_file_is_an_error_of_the_system(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf text = KS_BUF_INIT;
	struct ks_error err = KS_ERROR_INIT;
	bool found = true;

	(void)unused;
	assert_int_equal(sh("mkdir -p state/accepted state/pins"), 0);
	assert_int_equal(mkdir(file_of("accepted", ORIGIN), 0700), 0);
	assert_int_equal(mkdir(file_of("pins", ORIGIN), 0700), 0);
	assert_int_equal(ks_state_accepted(state, ks_span_text(ORIGIN), &text,
		&found, &err), KS_IO);
	assert_false(found);
	assert_int_equal(ks_state_pin_read(state, ks_span_text(ORIGIN), &text,
		&found, &err), KS_IO);
	assert_false(found);
	assert_int_equal(accept(state, 9, &err), KS_IO);
	assert_int_equal(pin_key(state, &first, &err), KS_IO);
	assert_int_equal(sh("[ -z \"$(find state -name "
		"'.kistore-*')\" ]"), 0);
	ks_buf_release(&text);
	ks_state_free(state);
}

/* A FIFO would make a reader wait for ever. */
static void
a_fifo_in_place_of_a_file_is_refused_at_once(void **unused)
{
	struct ks_state *state = open_state("state");
	struct ks_buf text = KS_BUF_INIT;
	bool found;

	(void)unused;
	assert_int_equal(sh("mkdir -p state/accepted state/pins"), 0);
	assert_int_equal(mkfifo(file_of("accepted", ORIGIN), 0600), 0);
	assert_int_equal(mkfifo(file_of("pins", ORIGIN), 0600), 0);
	(void)alarm(20);
	assert_int_equal(ks_state_accepted(state, ks_span_text(ORIGIN), &text,
		&found, NULL), KS_IO);
	assert_int_equal(ks_state_pin_read(state, ks_span_text(ORIGIN), &text,
		&found, NULL), KS_IO);
	must_accept(state, 9);
	assert_true(accepted(state) == 9);
	(void)alarm(0);
	ks_buf_release(&text);
	ks_state_free(state);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, setup, scratch_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_directory_nothing_is_found_and_nothing_written),
		TEST(reading_makes_no_directory),
		TEST(who_has_signed_is_told_by_key_and_nothing_is_made),
		TEST(what_is_written_is_private_whatever_the_umask),
		TEST(directories_that_are_there_keep_their_rights),
		TEST(any_origin_is_a_file_of_its_own_directly_in_the_directory),
		TEST(an_older_note_never_replaces_a_newer_one),
		TEST(a_note_of_the_same_size_replaces_the_one_there_is),
		TEST(what_is_scrambled_is_replaced_by_any_note),
		TEST(a_file_that_is_too_long_is_not_read),
		TEST(among_many_writers_the_size_only_grows_and_each_note_is_whole),
		TEST(a_pin_is_a_policy_that_stock_tools_read),
		TEST(a_pin_is_written_once_and_another_key_is_refused),
		TEST(a_pin_that_somebody_edited_is_left_as_it_is),
		TEST(evidence_of_each_fork_is_kept_beside_that_of_others),
		TEST(a_signer_finds_what_it_recorded_last),
		TEST(two_signers_with_one_key_do_not_sign_side_by_side),
		TEST(a_signer_that_was_killed_holds_nothing),
		TEST(a_memory_that_is_scrambled_is_not_taken_for_none),
		TEST(the_directory_may_be_a_link),
		TEST(a_file_that_is_a_link_is_read_and_replaced_not_written_through),
		TEST(a_lock_that_is_a_link_is_not_followed),
		TEST(what_cannot_be_written_is_an_error_of_the_system),
		TEST(a_directory_in_place_of_a_file_is_an_error_of_the_system),
		TEST(a_fifo_in_place_of_a_file_is_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
