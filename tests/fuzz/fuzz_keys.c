/*
 * Keys, signatures and tags that are accepted are written again as what is
 * read again the same. The first byte picks what the rest is read as.
 */
#include "format/gittag.h"
#include "format/keyfile.h"
#include "format/sshkey.h"
#include "../lib/fuzz.h"

/* A refusal says why, in one line. */
static bool
accepted(enum ks_status status, const struct ks_error *err)
{
	if (status == KS_OK)
		return true;
	require(err->status == status && err->message[0] != '\0');
	require(strchr(err->message, '\n') == NULL);
	return false;
}

static void
try_pem_public(struct ks_span text)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_public_key key, again;

	if (!accepted(ks_pem_read_public(text, &key, &err), &err)) {
		require(err.status == KS_INVALID);
		return;
	}
	require(ks_pem_write_public(&key, &out, NULL) == KS_OK);
	require(ks_pem_read_public(ks_buf_span(&out), &again, NULL) == KS_OK);
	require(ks_public_key_equal(&key, &again));
	ks_buf_release(&out);
}

static void
try_ssh_line(struct ks_span text)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_public_key key, again;
	struct ks_span comment, same;

	if (!accepted(ks_ssh_line_read(text, &key, &comment, &err), &err)) {
		require(err.status == KS_INVALID);
		return;
	}
	ks_ssh_line_write(&key, comment, &out);
	require(ks_ssh_line_read(ks_buf_span(&out), &again, &same, NULL) ==
		KS_OK);
	require(ks_public_key_equal(&key, &again));
	require(ks_span_equal(comment, same));
	ks_buf_release(&out);
}

static void
try_ssh_secret(struct ks_span text)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf comment = KS_BUF_INIT;
	struct ks_buf same = KS_BUF_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_secret_key key, again;

	if (!accepted(ks_ssh_secret_read(text, &key, &comment, &err), &err)) {
		require(err.status == KS_INVALID && comment.len == 0);
		return;
	}
	if (comment.len < 1024) {
		require(ks_ssh_secret_write(&key, ks_buf_span(&comment), &out,
			NULL) == KS_OK);
		require(ks_ssh_secret_read(ks_buf_span(&out), &again, &same,
			NULL) == KS_OK);
		require(memcmp(&key, &again, sizeof(key)) == 0);
		require(ks_span_equal(ks_buf_span(&comment),
			ks_buf_span(&same)));
	}
	ks_buf_release(&comment);
	ks_buf_release(&same);
	ks_buf_release(&out);
}

static void
try_signature(struct ks_span text)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_sshsig sig;

	if (!accepted(ks_sshsig_read(text, "git", &sig, &err), &err)) {
		require(err.status == KS_CORRUPT ||
			err.status == KS_UNTRUSTED);
		return;
	}
	if (!accepted(ks_sshsig_verify(&sig, &sig.key, "git",
		ks_span_text("message\n"), &err), &err))
		require(err.status == KS_CORRUPT);
}

static void
check_tag(const struct ks_git_tag *tag, struct ks_span bytes)
{
	static const uint8_t seed[KS_ED25519_KEY] = { 1 };
	struct ks_buf out = KS_BUF_INIT;
	struct ks_secret_key key;
	struct ks_git_tag again;

	require(tag->payload.data == bytes.data);
	require(tag->payload.len + tag->armor.len == bytes.len);
	require(tag->armor.data == bytes.data + tag->payload.len);
	require(ks_ed25519_from_seed(seed, &key, NULL) == KS_OK);
	require(ks_git_tag_write(tag, &key, &out, NULL) == KS_OK);
	require(ks_git_tag_read(ks_buf_span(&out), &again, NULL) == KS_OK);
	require(ks_git_tag_verify(&again, &key.public, NULL) == KS_OK);
	require(ks_span_equal(tag->object, again.object));
	require(ks_span_equal(tag->name, again.name));
	require(ks_span_equal(tag->ident, again.ident));
	require(tag->seconds == again.seconds);
	require(ks_span_equal(tag->message, again.message));
	ks_buf_release(&out);
}

static void
try_tag(struct ks_span bytes)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_git_tag tag;

	if (accepted(ks_git_tag_read(bytes, &tag, &err), &err))
		check_tag(&tag, bytes);
	else
		require(err.status == KS_CORRUPT ||
			err.status == KS_UNTRUSTED);
}

static void
try_public(struct ks_span text)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_vkey vkey, again;
	int form;

	if (!accepted(ks_public_key_read(text, ks_span_text("a.example/log"),
		&vkey, &err), &err))
		return;
	for (form = KS_KEY_VKEY; form <= KS_KEY_PEM; form++) {
		struct ks_buf out = KS_BUF_INIT;

		require(ks_public_key_write(&vkey, (enum ks_key_form)form,
			&out, NULL) == KS_OK);
		require(ks_public_key_read(ks_buf_span(&out),
			ks_span_text(vkey.name), &again, NULL) == KS_OK);
		require(ks_public_key_equal(&vkey.key, &again.key));
		ks_buf_release(&out);
	}
}

static void
try_private(struct ks_span text)
{
	struct ks_error err = KS_ERROR_INIT;
	struct ks_buf out = KS_BUF_INIT;
	struct ks_named_key key, again;

	if (!accepted(ks_private_key_read(text, ks_span(NULL, 0), &key, &err),
		&err))
		return;
	require(ks_private_key_write(&key, ks_span(NULL, 0), &out, NULL) ==
		KS_OK);
	require(ks_private_key_read(ks_buf_span(&out), ks_span(NULL, 0),
		&again, NULL) == KS_OK);
	require(memcmp(&key, &again, sizeof(key)) == 0);
	ks_buf_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		uint8_t letter;
		void (*try)(struct ks_span text);
	} targets[] = {
		{ 'P', try_pem_public },
		{ 'L', try_ssh_line },
		{ 'S', try_ssh_secret },
		{ 'A', try_signature },
		{ 'T', try_tag },
		{ 'K', try_public },
		{ 'N', try_private },
	};
	size_t i;

	for (i = 0; size > 0 && i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (data[0] == targets[i].letter)
			targets[i].try(ks_span(data + 1, size - 1));
	}
	return 0;
}
