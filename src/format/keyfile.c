#include "format/keyfile.h"

#include "format/armor.h"
#include "format/sshkey.h"

static const char name_line[] = "Name:";
/* How golang.org/x/mod/sumdb/note writes private keys. */
static const char signer_prefix[] = "PRIVATE+KEY+";
static const char openssh_label[] = "OPENSSH PRIVATE KEY";

/* Without a byte order mark and the blanks around. */
static struct ks_span
strip(struct ks_span text)
{
	if (ks_span_begins(text, "\xef\xbb\xbf"))
		text = ks_span(text.data + 3, text.len - 3);
	return ks_span_trim(text);
}

static enum ks_status
check_size(struct ks_span text, struct ks_error *err)
{
	if (text.len <= KS_KEY_FILE_MAX)
		return KS_OK;
	return ks_fail(err, KS_INVALID, "%zu bytes are too many for a key",
		text.len);
}

/* Whether there is no blank in it. */
static bool
is_word(struct ks_span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (ks_span_is_space(text.data[i]))
			return false;
	}
	return true;
}

/* One word with a '+' in it, as no other form is. */
static bool
looks_like_vkey(struct ks_span text)
{
	return text.len > 0 && is_word(text) &&
		memchr(text.data, '+', text.len) != NULL;
}

/* ---- Public keys ---- */

static enum ks_status
read_vkey(struct ks_span text, struct ks_span origin, struct ks_vkey *out,
	struct ks_error *err)
{
	char given[KS_KEY_NAME_MAX + 1], found[KS_KEY_NAME_MAX + 1];
	enum ks_status status;

	if (ks_span_begins(text, signer_prefix))
		return ks_fail(err, KS_INVALID, "private key where a public "
			"key is needed; keep it secret, and give the public "
			"half (N4)");
	status = ks_vkey_parse(text, out, err);
	if (status != KS_OK || origin.len == 0 ||
		ks_span_is(origin, out->name))
		return status;
	return ks_fail(err, KS_USAGE,
		"the key is for the origin %s, and --origin is %s",
		ks_printable(found, sizeof(found), ks_span_text(out->name)),
		ks_printable(given, sizeof(given), origin));
}

static bool
has_block(struct ks_span text)
{
	struct ks_armor armor;

	return ks_armor_find(text, &armor);
}

/* The forms that carry no name, or none that counts: whoever made the file
 * chose its comment. */
static enum ks_status
read_unnamed(struct ks_span text, struct ks_public_key *out,
	struct ks_error *err)
{
	struct ks_span comment;

	if (has_block(text))
		return ks_pem_read_public(text, out, err);
	if (is_word(text))
		return ks_fail(err, KS_INVALID, "not a public key: neither "
			"NAME+HASH+KEY nor a line \"ssh-ed25519 …\" nor a PEM "
			"PUBLIC KEY (N4)");
	return ks_ssh_line_read(text, out, &comment, err);
}

enum ks_status
ks_public_key_read(struct ks_span text, struct ks_span origin,
	struct ks_vkey *out, struct ks_error *err)
{
	struct ks_span inner = strip(text);
	struct ks_public_key key;
	enum ks_status status = check_size(text, err);

	if (status != KS_OK)
		return status;
	if (looks_like_vkey(inner))
		return read_vkey(inner, origin, out, err);
	status = read_unnamed(inner, &key, err);
	if (status != KS_OK)
		return status;
	if (origin.len == 0)
		return ks_fail(err, KS_USAGE, "an OpenSSH or PEM key does not "
			"say for which origin it is: give --origin NAME, or "
			"the key as NAME+HASH+KEY (N5)");
	return ks_vkey_make(origin, KS_SIGNATURE_ED25519, &key, out, err);
}

enum ks_status
ks_public_key_write(const struct ks_vkey *vkey, enum ks_key_form form,
	struct ks_buf *out, struct ks_error *err)
{
	switch (form) {
	case KS_KEY_VKEY:
		ks_vkey_print(vkey, out);
		ks_buf_byte(out, '\n');
		break;
	case KS_KEY_SSH:
		ks_ssh_line_write(&vkey->key, ks_span_text(vkey->name), out);
		break;
	case KS_KEY_PEM:
		return ks_pem_write_public(&vkey->key, out, err);
	}
	return ks_buf_check(out, err);
}

/* ---- Private keys ---- */

static enum ks_status
set_name(struct ks_span name, struct ks_named_key *out, struct ks_error *err)
{
	enum ks_status status = ks_key_name_check(name, err);

	if (status != KS_OK) {
		(void)ks_context(err, "the private key's name");
		return status;
	}
	memcpy(out->name, name.data, name.len);
	out->name[name.len] = '\0';
	return KS_OK;
}

/* Cut the first line off *rest. */
static struct ks_span
take_line(struct ks_span *rest)
{
	const uint8_t *end = memchr(rest->data, '\n', rest->len);
	size_t used = end == NULL ? rest->len :
		(size_t)(end - rest->data) + 1;
	struct ks_span line = ks_span(rest->data, used);

	*rest = ks_span(rest->data + used, rest->len - used);
	return line;
}

/* The name that the one line "Name: NAME" gives. */
static enum ks_status
read_name(struct ks_span before, struct ks_named_key *out,
	struct ks_error *err)
{
	size_t prefix = strlen(name_line);
	struct ks_span name = ks_span(NULL, 0);
	struct ks_span line;
	size_t count = 0;

	while (before.len > 0) {
		line = take_line(&before);
		if (!ks_span_begins(line, name_line))
			continue;
		name = ks_span_trim(ks_span(line.data + prefix,
			line.len - prefix));
		count++;
	}
	if (count == 0)
		return ks_fail(err, KS_INVALID, "private key has no name: put "
			"a line \"Name: NAME\" before its line BEGIN (N4)");
	if (count > 1)
		return ks_fail(err, KS_INVALID,
			"private key has more than one line \"Name:\" (N4)");
	return set_name(name, out, err);
}

/* What the PEM holds is judged before its name, and its name before its
 * passphrase: nobody should be asked for one in vain. */
static enum ks_status
read_pem(struct ks_span text, struct ks_span before,
	struct ks_span passphrase, struct ks_named_key *out,
	struct ks_error *err)
{
	enum ks_status status = ks_pem_read_secret(text, passphrase,
		&out->secret, err);
	struct ks_error named = KS_ERROR_INIT;
	enum ks_status name_status;

	if (status != KS_OK && status != KS_UNTRUSTED)
		return status;
	name_status = read_name(before, out, &named);
	if (name_status == KS_OK)
		return status;
	if (err != NULL)
		*err = named;
	return name_status;
}

static enum ks_status
read_openssh(struct ks_span text, struct ks_named_key *out,
	struct ks_error *err)
{
	struct ks_buf comment = KS_BUF_INIT;
	enum ks_status status =
		ks_ssh_secret_read(text, &out->secret, &comment, err);

	if (status == KS_OK && comment.len == 0)
		status = ks_fail(err, KS_INVALID, "OpenSSH private key has no "
			"name: set its comment by ssh-keygen -c -C NAME -f "
			"FILE (N4)");
	else if (status == KS_OK)
		status = set_name(ks_buf_span(&comment), out, err);
	ks_buf_release(&comment);
	return status;
}

static enum ks_status
read_private(struct ks_span text, struct ks_span passphrase,
	struct ks_named_key *out, struct ks_error *err)
{
	struct ks_span inner = strip(text);
	struct ks_armor armor;

	if (ks_armor_find(text, &armor)) {
		if (ks_span_is(armor.label, openssh_label))
			return read_openssh(text, out, err);
		return read_pem(text, armor.before, passphrase, out, err);
	}
	if (ks_span_begins(inner, signer_prefix))
		return ks_fail(err, KS_INVALID, "private key in the form "
			"PRIVATE+KEY+NAME+…, which is not read: give a PKCS#8 "
			"or OpenSSH private key (N4)");
	if (looks_like_vkey(inner) || ks_span_begins(inner, "ssh-"))
		return ks_fail(err, KS_INVALID, "public key where a private "
			"key is needed (N4)");
	return ks_fail(err, KS_INVALID, "not a private key: neither a PKCS#8 "
		"PEM nor an OpenSSH private key (N4)");
}

enum ks_status
ks_private_key_read(struct ks_span text, struct ks_span passphrase,
	struct ks_named_key *out, struct ks_error *err)
{
	enum ks_status status = check_size(text, err);

	memset(out, 0, sizeof(*out));
	if (status == KS_OK)
		status = read_private(text, passphrase, out, err);
	if (status != KS_OK)
		ks_wipe(out, sizeof(*out));
	return status;
}

enum ks_status
ks_private_key_write(const struct ks_named_key *key, struct ks_span passphrase,
	struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status = ks_key_name_check(ks_span_text(key->name), err);

	if (status != KS_OK)
		return status;
	ks_buf_printf(out, "%s %s\n", name_line, key->name);
	return ks_pem_write_secret(&key->secret, passphrase, out, err);
}
