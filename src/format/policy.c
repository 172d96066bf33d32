#include "format/policy.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/idmap.h"
#include "format/checkpoint.h"
#include "format/digest.h"

#define NONE UINT32_MAX
#define NAME_SHOWN 96	/* bytes of a name in a message */

/* The key of a log or witness. */
struct key {
	struct ks_public_key public;	/* first: the idmap's key */
	struct ks_vkey vkey;
	uint32_t name;		/* the witness; NONE for a log */
};

/* A witness or a group. Members stand before their groups. */
struct name {
	struct ks_id hash;	/* first: the idmap's key; of the text */
	struct ks_span text;	/* in the policy's copy */
	uint32_t group;		/* the one group it is a member of, or NONE */
	uint32_t members;	/* of a group; 0 for a witness */
	uint32_t needed;	/* how many must have cosigned; 1 likewise */
};

struct ks_policy {
	struct ks_buf text;
	struct key *keys;
	struct ks_idmap by_key;
	struct name *names;
	struct ks_idmap by_name;
	uint32_t log_count;
	uint32_t quorum;	/* a name, or NONE */
	bool has_quorum;
};

/* Take the next item off a line: blanks are spaces and tabs only. */
static bool
next_item(struct ks_span *line, struct ks_span *item)
{
	const uint8_t *p = line->data;
	const uint8_t *end = p + line->len;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	item->data = p;
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	item->len = (size_t)(p - item->data);
	*line = ks_span(p, (size_t)(end - p));
	return item->len > 0;
}

static uint32_t
find_name(const struct ks_policy *policy, struct ks_span text)
{
	struct ks_id hash;

	ks_sha256(text, &hash);
	return ks_idmap_find(&policy->by_name, policy->names, hash.bytes);
}

/* "none" is predefined, and means something for a quorum only. */
static enum ks_status
add_name(struct ks_policy *policy, struct ks_span text, uint32_t members,
	uint32_t needed, struct ks_error *err)
{
	struct name *name = &policy->names[policy->by_name.used];
	char shown[NAME_SHOWN];

	if (ks_span_is(text, "none") || find_name(policy, text) != NONE)
		return ks_fail(err, KS_INVALID, "the name %s is taken already",
			ks_printable(shown, sizeof(shown), text));
	if (policy->by_name.used == KS_POLICY_NAMES)
		return ks_fail(err, KS_INVALID,
			"there are more than %d witnesses and groups",
			KS_POLICY_NAMES);
	*name = (struct name){ .text = text, .group = NONE,
		.members = members, .needed = needed };
	ks_sha256(text, &name->hash);
	if (!ks_idmap_add(&policy->by_name, policy->names))
		return ks_fail_nomem(err);
	return KS_OK;
}

/* RFC 8032 section 5.1.2: a point is y, less than p = 2^255 - 19, and the
 * sign of x. Some verifiers read y modulo p, and the sign of 0, so that such a
 * key would be another's twin. */
static bool
is_one_encoding(const struct ks_public_key *key)
{
	const uint8_t *y = key->bytes;
	uint8_t middle = y[1];
	uint8_t top = y[KS_ED25519_KEY - 1] & 0x7f;
	bool negative = y[KS_ED25519_KEY - 1] >= 0x80;
	size_t i;

	for (i = 2; i < KS_ED25519_KEY - 1; i++) {
		if (y[i] != middle)
			return true;
	}
	/* y is at least p, or p - 1 with x = 0. */
	if (middle == 0xff && top == 0x7f)
		return y[0] < 0xec || (y[0] == 0xec && !negative);
	/* y is 1 with x = 0. */
	return !(middle == 0 && top == 0 && y[0] == 1 && negative);
}

static enum ks_status
add_key(struct ks_policy *policy, const struct ks_vkey *vkey, uint32_t name,
	struct ks_error *err)
{
	struct key *key = &policy->keys[policy->by_key.used];

	if (!is_one_encoding(&vkey->key))
		return ks_fail(err, KS_INVALID, "the public key is not in its "
			"one encoding (RFC 8032 section 5.1.2)");
	if (ks_idmap_find(&policy->by_key, policy->keys, vkey->key.bytes) !=
		NONE)
		return ks_fail(err, KS_INVALID, "the public key stands in the "
			"policy already, and one key counts once");
	*key = (struct key){ .public = vkey->key, .vkey = *vkey,
		.name = name };
	if (!ks_idmap_add(&policy->by_key, policy->keys))
		return ks_fail_nomem(err);
	return KS_OK;
}

/* A verifier key of the given type, and perhaps a URL, to the end of the
 * line. */
static enum ks_status
read_vkey(struct ks_span line, enum ks_signature_type type,
	struct ks_vkey *out, struct ks_error *err)
{
	struct ks_span item, url, more;
	enum ks_status status;

	if (!next_item(&line, &item))
		return ks_fail(err, KS_INVALID, "there is no verifier key");
	status = ks_vkey_parse(item, out, err);
	if (status != KS_OK)
		return status;
	if (out->type != type)
		return ks_fail(err, KS_INVALID, "the key is of type %02x, and "
			"%s are of type %02x (kistore key show%s)",
			(unsigned)out->type, type == KS_SIGNATURE_ED25519 ?
			"those of logs" : "those of witnesses", (unsigned)type,
			type == KS_SIGNATURE_ED25519 ? "" : " --cosigner");
	if (next_item(&line, &url) && next_item(&line, &more))
		return ks_fail(err, KS_INVALID,
			"there is more than a key and a URL");
	return KS_OK;
}

static enum ks_status
read_log(struct ks_policy *policy, struct ks_span line, struct ks_error *err)
{
	struct ks_vkey vkey;
	enum ks_status status = read_vkey(line, KS_SIGNATURE_ED25519, &vkey,
		err);

	if (status != KS_OK)
		return status;
	if (policy->log_count == KS_POLICY_LOGS)
		return ks_fail(err, KS_INVALID,
			"there are more than %d logs", KS_POLICY_LOGS);
	policy->log_count++;
	return add_key(policy, &vkey, NONE, err);
}

static enum ks_status
read_witness(struct ks_policy *policy, struct ks_span line,
	struct ks_error *err)
{
	struct ks_vkey vkey;
	struct ks_span name;
	enum ks_status status;

	if (!next_item(&line, &name))
		return ks_fail(err, KS_INVALID, "the witness has no name");
	status = read_vkey(line, KS_SIGNATURE_COSIGNATURE, &vkey, err);
	if (status == KS_OK)
		status = add_name(policy, name, 0, 1, err);
	if (status == KS_OK)
		status = add_key(policy, &vkey, policy->by_name.used - 1, err);
	return status;
}

/* Each name has at most one group, so that a witness counts in one way only.
 * `group` is the number that the group will have. */
static enum ks_status
add_member(struct ks_policy *policy, struct ks_span text, uint32_t group,
	struct ks_error *err)
{
	uint32_t member = find_name(policy, text);
	char shown[NAME_SHOWN];

	(void)ks_printable(shown, sizeof(shown), text);
	if (member == NONE)
		return ks_fail(err, KS_INVALID,
			"%s is no witness or group of a line before", shown);
	if (policy->names[member].group != NONE)
		return ks_fail(err, KS_INVALID,
			"%s is a member of a group already", shown);
	policy->names[member].group = group;
	return KS_OK;
}

static bool
read_needed(struct ks_span text, uint32_t members, uint32_t *needed)
{
	uint64_t number = 0;

	if (ks_span_is(text, "any"))
		number = 1;
	else if (ks_span_is(text, "all"))
		number = members;
	else if (!ks_checkpoint_read_number(text, &number))
		return false;
	*needed = (uint32_t)number;
	return number >= 1 && number <= members;
}

static enum ks_status
read_group(struct ks_policy *policy, struct ks_span line, struct ks_error *err)
{
	struct ks_span name, threshold, member;
	uint32_t members = 0;
	uint32_t needed;

	if (!next_item(&line, &name) || !next_item(&line, &threshold))
		return ks_fail(err, KS_INVALID, "a group has a name, how many "
			"of its members are needed, and the members");
	while (next_item(&line, &member)) {
		enum ks_status status = add_member(policy, member,
			policy->by_name.used, err);

		if (status != KS_OK)
			return status;
		members++;
	}
	if (!read_needed(threshold, members, &needed))
		return ks_fail(err, KS_INVALID, "of a group's members \"any\", "
			"\"all\" or a number from 1 to that of the members, "
			"here %" PRIu32 ", are needed", members);
	return add_name(policy, name, members, needed, err);
}

static enum ks_status
read_quorum(struct ks_policy *policy, struct ks_span line,
	struct ks_error *err)
{
	struct ks_span name, more;
	char shown[NAME_SHOWN];

	if (policy->has_quorum)
		return ks_fail(err, KS_INVALID, "there is a second quorum");
	if (!next_item(&line, &name) || next_item(&line, &more))
		return ks_fail(err, KS_INVALID, "a quorum is one name");
	policy->has_quorum = true;
	if (ks_span_is(name, "none"))
		return KS_OK;
	policy->quorum = find_name(policy, name);
	if (policy->quorum == NONE)
		return ks_fail(err, KS_INVALID, "the quorum %s is no witness "
			"or group of a line before",
			ks_printable(shown, sizeof(shown), name));
	return KS_OK;
}

static enum ks_status
check_characters(struct ks_span line, struct ks_error *err)
{
	size_t i;

	for (i = 0; i < line.len; i++) {
		if ((line.data[i] < 0x20 && line.data[i] != '\t') ||
			line.data[i] == 0x7f)
			return ks_fail(err, KS_INVALID,
				"byte %zu is a control character", i);
	}
	return KS_OK;
}

static enum ks_status
read_line(struct ks_policy *policy, struct ks_span line, struct ks_error *err)
{
	static const struct {
		const char *word;
		enum ks_status (*read)(struct ks_policy *policy,
			struct ks_span line, struct ks_error *err);
	} kinds[] = {
		{ "log", read_log },
		{ "witness", read_witness },
		{ "group", read_group },
		{ "quorum", read_quorum },
	};
	enum ks_status status = check_characters(line, err);
	char shown[NAME_SHOWN];
	struct ks_span word;
	size_t i;

	if (status != KS_OK || !next_item(&line, &word) ||
		word.data[0] == '#')
		return status;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (ks_span_is(word, kinds[i].word))
			return kinds[i].read(policy, line, err);
	}
	return ks_fail(err, KS_INVALID, "%s is not \"log\", \"witness\", "
		"\"group\" or \"quorum\"",
		ks_printable(shown, sizeof(shown), word));
}

/* A line without its LF may have lost more than that. */
static enum ks_status
read_lines(struct ks_policy *policy, struct ks_error *err)
{
	struct ks_span rest = ks_buf_span(&policy->text);
	size_t number;

	for (number = 1; rest.len > 0; number++) {
		const uint8_t *lf = memchr(rest.data, '\n', rest.len);
		size_t len = lf == NULL ? rest.len :
			(size_t)(lf - rest.data);
		enum ks_status status = lf == NULL ? ks_fail(err, KS_INVALID,
			"the last line does not end in a newline") :
			read_line(policy, ks_span(rest.data, len), err);

		if (status != KS_OK) {
			(void)ks_context(err, "line %zu", number);
			return status;
		}
		rest = ks_span(lf + 1, rest.len - len - 1);
	}
	if (!policy->has_quorum)
		return ks_fail(err, KS_INVALID, "the policy has no quorum");
	return KS_OK;
}

/* Room for as many keys and names as lines can give, and one more of each, as
 * a limit is found exceeded on adding. */
static enum ks_status
make_room(struct ks_policy *policy, struct ks_span text, struct ks_error *err)
{
	size_t lines = 1;
	size_t i;

	for (i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	if (lines > KS_POLICY_LOGS + KS_POLICY_NAMES)
		lines = KS_POLICY_LOGS + KS_POLICY_NAMES;
	ks_idmap_init(&policy->by_key, KS_ED25519_KEY, sizeof(struct key));
	ks_idmap_init(&policy->by_name, KS_ID_BYTES, sizeof(struct name));
	policy->keys = calloc(lines + 1, sizeof(*policy->keys));
	policy->names = calloc(lines + 1, sizeof(*policy->names));
	ks_buf_append(&policy->text, text);
	if (policy->keys == NULL || policy->names == NULL)
		return ks_fail_nomem(err);
	return ks_buf_check(&policy->text, err);
}

enum ks_status
ks_policy_parse(struct ks_span text, struct ks_policy **out,
	struct ks_error *err)
{
	struct ks_policy *policy;
	enum ks_status status;

	*out = NULL;
	if (text.len > KS_POLICY_MAX)
		return ks_fail(err, KS_INVALID,
			"the policy is longer than %zu bytes", KS_POLICY_MAX);
	policy = calloc(1, sizeof(*policy));
	if (policy == NULL)
		return ks_fail_nomem(err);
	policy->quorum = NONE;
	status = make_room(policy, text, err);
	if (status == KS_OK)
		status = read_lines(policy, err);
	if (status == KS_OK)
		*out = policy;
	else
		ks_policy_free(policy);
	return status;
}

void
ks_policy_free(struct ks_policy *policy)
{
	if (policy == NULL)
		return;
	ks_idmap_release(&policy->by_key);
	ks_idmap_release(&policy->by_name);
	ks_buf_release(&policy->text);
	free(policy->keys);
	free(policy->names);
	free(policy);
}

size_t
ks_policy_key_count(const struct ks_policy *policy)
{
	return policy->by_key.used;
}

const struct ks_vkey *
ks_policy_key(const struct ks_policy *policy, size_t index)
{
	return &policy->keys[index].vkey;
}

void
ks_policy_keys(const struct ks_policy *policy, struct ks_note_key *out)
{
	uint32_t i;

	for (i = 0; i < policy->by_key.used; i++)
		out[i] = (struct ks_note_key){
			.vkey = &policy->keys[i].vkey };
}

bool
ks_policy_has_log(const struct ks_policy *policy, struct ks_span origin)
{
	uint32_t i;

	for (i = 0; i < policy->by_key.used; i++) {
		if (policy->keys[i].name == NONE &&
			ks_span_is(origin, policy->keys[i].vkey.name))
			return true;
	}
	return false;
}

bool
ks_policy_has_logs(const struct ks_policy *policy)
{
	return policy->log_count > 0;
}

/* The policy's own key that a verified one is; NULL when it is none. */
static const struct key *
own_key(const struct ks_policy *policy, const struct ks_note_key *verified)
{
	uint32_t index;

	if (!verified->verified)
		return NULL;
	index = ks_idmap_find(&policy->by_key, policy->keys,
		verified->vkey->key.bytes);
	if (index == NONE ||
		!ks_vkey_equal(&policy->keys[index].vkey, verified->vkey))
		return NULL;
	return &policy->keys[index];
}

enum ks_status
ks_policy_check_log(const struct ks_policy *policy, struct ks_span origin,
	const struct ks_note_key *keys, size_t count, struct ks_error *err)
{
	char shown[NAME_SHOWN];
	size_t i;

	for (i = 0; i < count; i++) {
		const struct key *key = own_key(policy, &keys[i]);

		if (key != NULL && key->name == NONE &&
			ks_span_is(origin, key->vkey.name))
			return KS_OK;
	}
	return ks_fail(err, KS_UNTRUSTED, "no log of the policy has signed for "
		"the origin %s", ks_printable(shown, sizeof(shown), origin));
}

/* Members stand before their group: one pass in order settles all. `have`
 * counts for each name the members that have cosigned, all 0 at first; for a
 * witness, itself. */
static void
count_cosigners(const struct ks_policy *policy,
	const struct ks_note_key *keys, size_t count, uint32_t *have)
{
	uint32_t name;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct key *key = own_key(policy, &keys[i]);

		if (key != NULL && key->name != NONE)
			have[key->name] = 1;
	}
	for (name = 0; name < policy->by_name.used; name++) {
		const struct name *n = &policy->names[name];

		if (n->group != NONE && have[name] >= n->needed)
			have[n->group]++;
	}
}

static enum ks_status
check_name(const struct ks_policy *policy, uint32_t name, uint32_t have,
	struct ks_error *err)
{
	const struct name *n = &policy->names[name];
	char shown[NAME_SHOWN];

	if (have >= n->needed)
		return KS_OK;
	(void)ks_printable(shown, sizeof(shown), n->text);
	if (n->members == 0)
		return ks_fail(err, KS_UNTRUSTED, "the witness %s has not "
			"cosigned, which the policy demands", shown);
	return ks_fail(err, KS_UNTRUSTED, "%" PRIu32 " of the %" PRIu32
		" members of %s have cosigned, and the policy demands %"
		PRIu32, have, n->members, shown, n->needed);
}

enum ks_status
ks_policy_check_quorum(const struct ks_policy *policy,
	const struct ks_note_key *keys, size_t count, struct ks_error *err)
{
	enum ks_status status;
	uint32_t *have;

	if (policy->quorum == NONE)
		return KS_OK;
	have = calloc(policy->by_name.used, sizeof(*have));
	if (have == NULL)
		return ks_fail_nomem(err);
	count_cosigners(policy, keys, count, have);
	status = check_name(policy, policy->quorum, have[policy->quorum], err);
	free(have);
	return status;
}

enum ks_status
ks_policy_judge(const struct ks_policy *policy, struct ks_span origin,
	const struct ks_note_key *keys, size_t count, struct ks_error *err)
{
	enum ks_status status = ks_policy_check_log(policy, origin, keys,
		count, err);

	return status == KS_OK ? ks_policy_check_quorum(policy, keys, count,
		err) : status;
}
