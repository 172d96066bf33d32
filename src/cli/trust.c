#include "cli/trust.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/in.h"
#include "cli/out.h"

/* What a key, a policy or a note may be long. */
#define FILE_MAX ((uint64_t)1 << 20)

/* ---- reading what is named ------------------------------------------- */

void
ks_cli_state_directory(struct ks_buf *out)
{
	const char *state = ks_cli_environment("XDG_STATE_HOME");
	const char *home = ks_cli_environment("HOME");

	/* The XDG specification: a relative path is to be ignored. */
	if (state != NULL && state[0] == '/')
		ks_buf_printf(out, "%s/kistore", state);
	else if (home != NULL && access(home, F_OK) == 0)
		ks_buf_printf(out, "%s/.local/state/kistore", home);
}

/* NAME+HHHHHHHH+BASE64 */
static bool
is_vkey(const char *text)
{
	const char *plus = strchr(text, '+');

	return plus != NULL && strspn(plus + 1, "0123456789abcdefABCDEF") ==
		8 && plus[9] == '+';
}

bool
ks_cli_is_key(const char *text)
{
	return strncmp(text, "ssh-", 4) == 0 ||
		strncmp(text, "-----BEGIN ", 11) == 0 || is_vkey(text);
}

enum ks_status
ks_cli_key_text(const char *key, struct ks_buf *out, struct ks_error *err)
{
	if (!ks_cli_is_key(key))
		return ks_in_read(key, FILE_MAX, out, err);
	ks_buf_text(out, key);
	return ks_buf_check(out, err);
}

static enum ks_status
read_file(const char *path, struct ks_buf *text, struct ks_span *out,
	struct ks_error *err)
{
	enum ks_status status;

	if (path == NULL)
		return KS_OK;
	status = ks_in_read(path, FILE_MAX, text, err);
	if (status == KS_OK && text->len == 0)
		status = ks_fail(err, KS_INVALID, "%s: is empty",
			ks_in_name(path));
	/* E10: nothing is put in. */
	if (status == KS_INVALID)
		status = err->status = KS_USAGE;
	*out = ks_buf_span(text);
	return status;
}

static enum ks_status
read_texts(struct ks_cli_trust *trust, struct ks_error *err)
{
	size_t count = trust->keys.count, i;
	struct ks_buf *files = trust->texts + count;
	enum ks_status status = KS_OK;

	for (i = 0; status == KS_OK && i < count; i++) {
		status = ks_cli_key_text(trust->keys.items[i],
			&trust->texts[i], err);
		trust->spans[i] = ks_buf_span(&trust->texts[i]);
	}
	if (status == KS_OK)
		status = read_file(trust->policy, &files[0],
			&trust->options.policy, err);
	if (status == KS_OK)
		status = read_file(trust->since, &files[1],
			&trust->options.since, err);
	return status != KS_OK ? status : read_file(trust->revoked, &files[2],
		&trust->options.revoked, err);
}

enum ks_status
ks_cli_trust_read(struct ks_cli *cli, struct ks_cli_trust *trust,
	struct ks_error *err)
{
	size_t count = trust->keys.count;
	enum ks_status status;

	(void)cli;
	trust->texts = calloc(count + 3, sizeof(*trust->texts));
	trust->spans = calloc(count + 1, sizeof(*trust->spans));
	if (trust->texts == NULL || trust->spans == NULL)
		return ks_fail_nomem(err);
	ks_cli_state_directory(&trust->state);
	status = ks_buf_check(&trust->state, err);
	trust->options.keys = trust->spans;
	trust->options.key_count = count;
	trust->options.origin = trust->origin;
	trust->options.pin = trust->pin;
	trust->options.state_directory = ks_buf_cstr(&trust->state);
	return status == KS_OK ? read_texts(trust, err) : status;
}

void
ks_cli_trust_release(struct ks_cli_trust *trust)
{
	size_t i;

	for (i = 0; trust->texts != NULL && i < trust->keys.count + 3; i++)
		ks_buf_release(&trust->texts[i]);
	free(trust->texts);
	free(trust->spans);
	ks_buf_release(&trust->state);
}

/* ---- telling what came of it ----------------------------------------- */

void
ks_cli_time(int64_t seconds, char out[KS_CLI_TIME])
{
	time_t when = (time_t)seconds;
	struct tm utc;

	if (gmtime_r(&when, &utc) == NULL ||
		strftime(out, KS_CLI_TIME, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		(void)snprintf(out, KS_CLI_TIME, "@%" PRId64, seconds);
}

static void
print_extent(const struct ks_signature_result *result)
{
	/* What is older than, or not consistent with, what was accepted before
	 * is signed, but that is no comfort. */
	if (result->status == KS_CORRUPT)
		return;
	ks_out_printf("signed: %" PRIu64 " entr%s%s", result->size,
		result->size == 1 ? "y" : "ies", result->status == KS_OK ?
		"" : ", by an earlier snapshot");
	if (result->tail > 0)
		ks_out_printf("; %" PRIu64 " after %s not", result->tail,
			result->tail == 1 ? "them is" : "them are");
	ks_out_printf("\n");
}

void
ks_cli_print_evidence(const struct ks_signature_result *result)
{
	if (result->evidence[0] == '\0')
		return;
	ks_out_printf("evidence: ");
	ks_out_field(result->evidence);
	ks_out_printf("\n");
}

void
ks_cli_print_signature(const struct ks_signature_result *result)
{
	char time[KS_CLI_TIME];

	if (!result->asked)
		return;
	ks_out_printf("signature: %s", result->verdict);
	ks_out_printf("%s", result->status == KS_OK ? " by " : ": ");
	ks_out_field(result->status == KS_OK ? result->signer :
		result->message);
	ks_out_printf("\n");
	if (result->size > 0)
		print_extent(result);
	if (result->witnesses > 0) {
		ks_cli_time(result->time, time);
		ks_out_printf("cosigned by %" PRIu64 ", last at %s\n",
			result->witnesses, time);
	}
	if (result->pinned)
		ks_out_printf("pinned: trusted for its origin from now on\n");
	ks_cli_print_evidence(result);
}

void
ks_cli_doc_signature(struct ks_doc *doc,
	const struct ks_signature_result *result)
{
	char time[KS_CLI_TIME];

	ks_doc_object(doc, "signature");
	ks_doc_text(doc, "verdict", result->verdict);
	ks_doc_text(doc, "message", result->message);
	ks_doc_integer(doc, "size", (int64_t)result->size);
	ks_doc_integer(doc, "unsignedTail", (int64_t)result->tail);
	if (result->signer[0] != '\0')
		ks_doc_text(doc, "signer", result->signer);
	else
		ks_doc_null(doc, "signer");
	ks_doc_integer(doc, "witnesses", (int64_t)result->witnesses);
	if (result->witnesses > 0) {
		ks_cli_time(result->time, time);
		ks_doc_text(doc, "cosignedAt", time);
	} else {
		ks_doc_null(doc, "cosignedAt");
	}
	ks_doc_bool(doc, "pinned", result->pinned);
	if (result->evidence[0] != '\0')
		ks_doc_text(doc, "evidence", result->evidence);
	else
		ks_doc_null(doc, "evidence");
	ks_doc_end(doc);
}
