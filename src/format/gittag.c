#include "format/gittag.h"

#include <inttypes.h>

#define NAMESPACE "git"
/* What fits into KS_GIT_TAG_MAX beside each other and a signature. */
#define MESSAGE_MAX 1000000
#define FIELD_MAX 4096
#define SECONDS_MAX 253402300799	/* the end of the year 9999 */
#define SECONDS_DIGITS 12

/* What git takes for the start of a signature where a line begins with it
 * (gitformat-signature(5)). */
static const char *const signature_lines[] = {
	KS_SSHSIG_BEGIN,
	"-----BEGIN PGP SIGNATURE-----",
	"-----BEGIN PGP MESSAGE-----",
	"-----BEGIN SIGNED MESSAGE-----",
};

#define SIGNATURE_LINES (sizeof(signature_lines) / sizeof(signature_lines[0]))

static bool
begins_signature(struct ks_span text)
{
	size_t i;

	for (i = 0; i < SIGNATURE_LINES; i++) {
		if (ks_span_begins(text, signature_lines[i]))
			return true;
	}
	return false;
}

/* The text after the first LF; empty when there is none. */
static struct ks_span
next_line(struct ks_span text)
{
	const uint8_t *end = memchr(text.data, '\n', text.len);
	size_t used = end == NULL ? text.len : (size_t)(end - text.data) + 1;

	return ks_span(text.data + used, text.len - used);
}

/* From the first line on that starts a signature of any kind; empty when
 * there is none. */
static struct ks_span
find_signature(struct ks_span text)
{
	while (text.len > 0 && !begins_signature(text))
		text = next_line(text);
	return text;
}

/* No control characters, and no blank either where it is a `word`. */
static bool
is_printable(struct ks_span text, bool word)
{
	size_t i;

	if (text.len == 0 || text.len > FIELD_MAX)
		return false;
	for (i = 0; i < text.len; i++) {
		if (text.data[i] < (word ? 0x21 : 0x20) ||
			text.data[i] == 0x7f)
			return false;
	}
	return true;
}

static bool
is_oid(struct ks_span hex)
{
	size_t i;

	for (i = 0; i < hex.len; i++) {
		if (!(hex.data[i] >= '0' && hex.data[i] <= '9') &&
			!(hex.data[i] >= 'a' && hex.data[i] <= 'f'))
			return false;
	}
	return hex.len == KS_GIT_TAG_OID;
}

/* "NAME <MAIL>", as git's fsck wants it. */
static bool
is_ident(struct ks_span ident)
{
	const uint8_t *open, *close;

	if (!is_printable(ident, false))
		return false;
	open = memchr(ident.data, '<', ident.len);
	close = memchr(ident.data, '>', ident.len);
	return open != NULL && open > ident.data && open[-1] == ' ' &&
		close == ident.data + ident.len - 1 && memchr(open + 1, '<',
			(size_t)(close - open)) == NULL;
}

static bool
is_message(struct ks_span message)
{
	if (message.len == 0)
		return true;
	return message.len <= MESSAGE_MAX &&
		message.data[message.len - 1] == '\n' &&
		memchr(message.data, '\0', message.len) == NULL &&
		find_signature(message).len == 0;
}

/* What both directions ask of the members; what is wrong, or NULL. */
static const char *
find_fault(const struct ks_git_tag *tag)
{
	if (!is_oid(tag->object))
		return "its object is not 40 lower-case hex digits";
	if (!is_printable(tag->name, true))
		return "its name is empty, too long, or has blanks or control "
			"characters";
	if (!is_ident(tag->ident))
		return "its tagger is not \"NAME <MAIL>\"";
	if (tag->seconds < 0 || tag->seconds > SECONDS_MAX)
		return "its time is not within the years 1970 to 9999";
	if (!is_message(tag->message))
		return "its message is too long, or has a NUL, a line that "
			"starts a signature, or no final LF";
	return NULL;
}

static enum ks_status
fail_malformed(enum ks_status status, const char *what, struct ks_error *err)
{
	return ks_fail(err, status, "malformed tag: %s (S4)", what);
}

/* ---- Writing ---- */

static void
put_line(const char *key, struct ks_span value, const char *end,
	struct ks_buf *out)
{
	ks_buf_text(out, key);
	ks_buf_append(out, value);
	ks_buf_text(out, end);
}

enum ks_status
ks_git_tag_write(const struct ks_git_tag *tag, const struct ks_secret_key *key,
	struct ks_buf *out, struct ks_error *err)
{
	const char *fault = find_fault(tag);
	struct ks_buf payload = KS_BUF_INIT;
	enum ks_status status;

	if (fault != NULL)
		return fail_malformed(KS_INVALID, fault, err);
	put_line("object ", tag->object, "\n", &payload);
	put_line("type ", ks_span_text("commit"), "\n", &payload);
	put_line("tag ", tag->name, "\n", &payload);
	put_line("tagger ", tag->ident, " ", &payload);
	ks_buf_printf(&payload, "%" PRId64 " +0000\n\n", tag->seconds);
	ks_buf_append(&payload, tag->message);
	status = ks_buf_check(&payload, err);
	if (status == KS_OK) {
		ks_buf_append(out, ks_buf_span(&payload));
		status = ks_sshsig_sign(key, NAMESPACE, ks_buf_span(&payload),
			out, err);
	}
	ks_buf_release(&payload);
	return status;
}

/* ---- Reading ---- */

/* Cut a line "KEY VALUE" off the front of *rest; `key` ends in the blank. */
static bool
take_line(struct ks_span *rest, const char *key, struct ks_span *value)
{
	struct ks_span after;

	if (!ks_span_begins(*rest, key))
		return false;
	after = next_line(*rest);
	*value = ks_span(rest->data + strlen(key),
		rest->len - strlen(key) - after.len);
	*rest = after;
	if (value->len == 0 || value->data[value->len - 1] != '\n')
		return false;
	value->len--;
	return true;
}

/* Cut decimal digits, without leading zeros, off the front of *rest. */
static bool
take_seconds(struct ks_span *rest, int64_t *out)
{
	size_t len = 0;

	*out = 0;
	while (len < rest->len && rest->data[len] >= '0' &&
		rest->data[len] <= '9') {
		if (len == SECONDS_DIGITS)
			return false;
		*out = *out * 10 + (rest->data[len] - '0');
		len++;
	}
	if (len == 0 || (len > 1 && rest->data[0] == '0'))
		return false;
	*rest = ks_span(rest->data + len, rest->len - len);
	return true;
}

/* " +HHMM" or " -HHMM"; where the tagger was is of no account. */
static bool
is_zone(struct ks_span text)
{
	size_t i;

	if (text.len != 6 || text.data[0] != ' ' ||
		(text.data[1] != '+' && text.data[1] != '-'))
		return false;
	for (i = 2; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	}
	return true;
}

static bool
parse_tagger(struct ks_span value, struct ks_git_tag *out)
{
	const uint8_t *close = memchr(value.data, '>', value.len);
	struct ks_span rest;

	if (close == NULL)
		return false;
	out->ident = ks_span(value.data, (size_t)(close - value.data) + 1);
	rest = ks_span(close + 1, value.len - out->ident.len);
	if (!ks_span_begins(rest, " "))
		return false;
	rest = ks_span(rest.data + 1, rest.len - 1);
	return take_seconds(&rest, &out->seconds) && is_zone(rest);
}

/* The header, and the empty line that ends it, off the front of *rest. */
static const char *
take_header(struct ks_span *rest, struct ks_git_tag *out)
{
	struct ks_span type, tagger;

	if (!take_line(rest, "object ", &out->object) ||
		!take_line(rest, "type ", &type) ||
		!take_line(rest, "tag ", &out->name) ||
		!take_line(rest, "tagger ", &tagger))
		return "its header is not the lines object, type, tag, tagger";
	if (!ks_span_is(type, "commit"))
		return "it is not one of a commit";
	if (!parse_tagger(tagger, out))
		return "its tagger is not \"NAME <MAIL> SECONDS ZONE\"";
	if (!ks_span_begins(*rest, "\n"))
		return "its header has other lines than object, type, tag, "
			"tagger";
	*rest = next_line(*rest);
	return NULL;
}

/* The message is what precedes the first line that starts any signature: so
 * git, which looks for the last one, finds the same, or there is more than
 * one, and what should be the signature's lines are none. */
static const char *
split_body(struct ks_span bytes, struct ks_span body, struct ks_git_tag *out)
{
	out->armor = find_signature(body);
	out->message = ks_span(body.data, body.len - out->armor.len);
	out->payload = ks_span(bytes.data, bytes.len - out->armor.len);
	if (out->armor.len == 0)
		return "it is not signed";
	if (!ks_span_begins(out->armor, KS_SSHSIG_BEGIN "\n"))
		return "its signature is not an SSH signature";
	if (out->armor.data[out->armor.len - 1] != '\n')
		return "its last line does not end in LF";
	return NULL;
}

enum ks_status
ks_git_tag_read(struct ks_span bytes, struct ks_git_tag *out,
	struct ks_error *err)
{
	struct ks_span rest = bytes;
	const char *fault;
	enum ks_status status;

	memset(out, 0, sizeof(*out));
	if (bytes.len > KS_GIT_TAG_MAX)
		return fail_malformed(KS_CORRUPT, "it is too long", err);
	fault = take_header(&rest, out);
	if (fault == NULL)
		fault = split_body(bytes, rest, out);
	if (fault == NULL)
		fault = find_fault(out);
	if (fault != NULL)
		return fail_malformed(KS_CORRUPT, fault, err);
	status = ks_sshsig_read(out->armor, NAMESPACE, &out->sig, err);
	if (status != KS_OK)
		(void)ks_context(err, "tag");
	return status;
}

enum ks_status
ks_git_tag_verify(const struct ks_git_tag *tag,
	const struct ks_public_key *key, struct ks_error *err)
{
	return ks_sshsig_verify(&tag->sig, key, NAMESPACE, tag->payload, err);
}
