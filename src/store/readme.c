#include "store/readme.h"

#include <stdlib.h>

#include "format/json.h"
#include "format/record.h"

/* Sources that are named, and characters of a text of theirs. */
#define SOURCES_MAX 200
#define SHOWN_MAX 400

/* ---- text of records, made harmless in Markdown ---------------------- */

static void
put_text(struct ks_buf *out, struct ks_span text)
{
	char shown[SHOWN_MAX];
	const char *p;

	for (p = ks_printable(shown, sizeof(shown), text); *p != '\0'; p++) {
		if (strchr("\\`*_{}[]<>|#", *p) != NULL)
			ks_buf_byte(out, '\\');
		ks_buf_byte(out, (uint8_t)*p);
	}
}

/* A string member of a canonical object; false when it has none. */
static bool
put_member(struct ks_buf *out, struct ks_span object, const char *name,
	const char *before, const char *after)
{
	struct ks_buf text = KS_BUF_INIT;
	struct ks_span value;

	if (!ks_json_find(object, name, &value) ||
		ks_json_type(value) != KS_JSON_STRING)
		return false;
	ks_json_unescape(&text, ks_json_raw(value));
	ks_buf_text(out, before);
	put_text(out, ks_buf_span(&text));
	ks_buf_text(out, after);
	ks_buf_release(&text);
	return true;
}

/* ---- what it holds --------------------------------------------------- */

struct kind_count {
	struct ks_span kind;
	uint64_t objects, retracted;
};

static int
by_kind(const void *a, const void *b)
{
	return ks_span_compare(((const struct kind_count *)a)->kind,
		((const struct kind_count *)b)->kind);
}

static enum ks_status
put_kinds(struct ks_replay *replay, struct ks_buf *out, struct ks_error *err)
{
	struct kind_count *counts = calloc(KS_REPLAY_KINDS + 1,
		sizeof(*counts));
	size_t used = 0;
	uint32_t i;

	if (counts == NULL)
		return ks_fail_nomem(err);
	for (i = 0; i < ks_replay_objects(replay); i++) {
		const struct ks_object_state *state =
			ks_replay_object(replay, i);

		if (state->taken_down || state->redacted)
			continue;
		if (state->kind >= used)
			used = (size_t)state->kind + 1;
		counts[state->kind].kind = ks_replay_kind(replay, state->kind);
		counts[state->kind].objects++;
		counts[state->kind].retracted += state->retracted;
	}
	qsort(counts, used, sizeof(*counts), by_kind);
	ks_buf_text(out, "| kind | objects | retracted |\n|---|--:|--:|\n");
	for (i = 0; i < used; i++) {
		if (counts[i].objects == 0)
			continue;
		ks_buf_text(out, "| ");
		put_text(out, counts[i].kind);
		ks_buf_printf(out, " | %llu | %llu |\n",
			(unsigned long long)counts[i].objects,
			(unsigned long long)counts[i].retracted);
	}
	free(counts);
	return ks_buf_check(out, err);
}

/* One Source: its name, and what its policy says of licence and attribution. */
static void
put_source(ks_readme_body_fn *read, void *arg, const struct ks_id *digest,
	struct ks_buf *out)
{
	struct ks_buf body = KS_BUF_INIT;
	struct ks_span spec, policy;

	if (read(arg, digest, &body, NULL) == KS_OK &&
		ks_json_find(ks_buf_span(&body), "spec", &spec) &&
		put_member(out, spec, "name", "- ", "")) {
		if (ks_json_find(spec, "policy", &policy) &&
			ks_json_type(policy) == KS_JSON_OBJECT) {
			(void)put_member(out, policy, "attribution",
				"\n  - attribution: ", "");
			(void)put_member(out, policy, "license",
				"\n  - licence: ", "");
			(void)put_member(out, policy, "terms",
				"\n  - terms: ", "");
			(void)put_member(out, policy, "url", "\n  - ", "");
		} else {
			ks_buf_text(out, "\n  - licence: not stated");
		}
		ks_buf_byte(out, '\n');
	}
	ks_buf_release(&body);
}

static void
put_sources(ks_readme_body_fn *read, void *arg, struct ks_replay *replay,
	struct ks_buf *out)
{
	size_t named = 0;
	uint32_t i;

	for (i = 0; i < ks_replay_objects(replay) && named < SOURCES_MAX; i++) {
		const struct ks_object_state *state =
			ks_replay_object(replay, i);

		if (state->taken_down || state->superseded ||
			!ks_span_is(ks_replay_kind(replay, state->kind),
				KS_API_KISTORE "/Source"))
			continue;
		put_source(read, arg, &state->digest, out);
		named++;
	}
	if (named == 0)
		ks_buf_text(out, "None is named.\n");
}

/* ---- how to check it ------------------------------------------------- */

/* %O stands for the origin, as put_origin() has it, %N for the number of
 * entries. */
static const char head[] =
	"\n"
	"An archive of benchmark records, in the format kistore/1. Each record "
	"is an\nobject named by the SHA-256 of its bytes; `log/` says, line by "
	"line, what was\npublished, retracted and so on; `checkpoint` is the "
	"signed root of that log.\nThis text describes the first %N entries "
	"of the log. It is not itself signed: the\nsame recipes are in the "
	"manual kistore(1), and the key must come from elsewhere.\n"
	"\n"
	"## What it holds\n"
	"\n";

static const char sources[] =
	"\n"
	"## Where it comes from\n"
	"\n"
	"Licences of the sources' data; a record's own may differ.\n"
	"\n";

static const char recipes[] =
	"\n"
	"## How to check it with stock tools\n"
	"\n"
	"In a clone with a work tree; bash, git, zstd, jq, perl and openssl "
	"suffice. Set D\nto the 64 hex digits of a digest.\n"
	"\n"
	"Find a record by words of its metadata; see all that was said of "
	"one; list what\nwas retracted:\n"
	"\n"
	"    cat log/*/*.jsonl | grep -i 'WORDS' | jq -r '[.digest, .kind, "
	".metadata.name] | @tsv'\n"
	"    cat log/*/*.jsonl | grep \"sha256:$D\" | jq .\n"
	"    cat log/*/*.jsonl | jq -r 'select(.op == \"retract\") | .digest'"
	"\n"
	"\n"
	"Read a record (a frame may need one of the dictionaries):\n"
	"\n"
	"    F=objects/${D:0:1}/${D:1:2}/${D:3}.zst\n"
	"    body() { zstd -dcq $F 2>&- || for d in dictionaries/*; do zstd "
	"-dcq -D $d $F 2>&- && break; done; }\n"
	"    body | jq .\n"
	"\n"
	"Check a record: these two lines are the same digits:\n"
	"\n"
	"    body | sha256sum\n"
	"    echo $D\n"
	"\n"
	"Check that it is in the log, and as which entry (line numbers "
	"begin at 1, entries\nat 0; the root below covers each line in its "
	"place):\n"
	"\n"
	"    cat log/*/*.jsonl | head -n %N > entries\n"
	"    grep -n '\"op\":\"publish\"' entries | grep \"sha256:$D\"\n"
	"    wc -l < entries\n"
	"\n"
	"Check the root (RFC 6962): the last two lines of output are the "
	"same:\n"
	"\n"
	"    perl -MDigest::SHA=sha256 -MMIME::Base64 -ne 'chomp; $h = "
	"/^-([0-9a-f]{64})$/ ? pack(\"H*\", $1) : sha256(\"\\0$_\"); $n = "
	"$i++; while ($n & 1) { $h = sha256(\"\\1\" . pop(@s) . $h); $n >>= 1 "
	"} push @s, $h; END { $h = pop @s; $h = sha256(\"\\1\" . pop(@s) . $h) "
	"while @s; print encode_base64($h) }' entries\n"
	"    sed -n 3p checkpoints/%N\n"
	"\n"
	"Check the signature, with the log's public key in key.pem (from two "
	"independent\nplaces, neither of them this repository): the first "
	"line of the note is the\norigin, the second %N, the third the root:\n"
	"\n"
	"    sed '/^$/,$d' checkpoints/%N | tee text\n"
	"    grep -m 1 '^\342\200\224 %O ' checkpoints/%N | cut -d ' ' -f 3 | "
	"base64 -d | tail -c 64 > sig\n"
	"    openssl pkeyutl -verify -rawin -pubin -inkey key.pem -in text "
	"-sigfile sig\n"
	"\n"
	"Or the tag, with the line `%O ssh-ed25519 AAAA...` of that key in "
	"the file signers:\n"
	"\n"
	"    git -c gpg.ssh.allowedSignersFile=$PWD/signers verify-tag "
	"snapshot/%N\n"
	"\n"
	"With kistore, all of it: `kistore verify --key KEY`.\n";

/* The origin where a shell or grep will read it: what means something to
 * either stands as the dot that matches any character. */
static void
put_origin(struct ks_buf *out, const char *origin)
{
	const char *p;

	for (p = origin; *p != '\0'; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') ||
			(*p >= 'A' && *p <= 'Z') ||
			(*p >= '0' && *p <= '9') ||
			strchr("/:_-~", *p) != NULL;

		ks_buf_byte(out, plain ? (uint8_t)*p : '.');
	}
}

static void
put_template(struct ks_buf *out, const char *template, const char *origin,
	uint64_t size)
{
	const char *p;

	for (p = template; *p != '\0'; p++) {
		if (p[0] == '%' && p[1] == 'O')
			put_origin(out, origin);
		else if (p[0] == '%' && p[1] == 'N')
			ks_buf_printf(out, "%llu", (unsigned long long)size);
		else
			ks_buf_byte(out, (uint8_t)*p);
		p += p[0] == '%' && (p[1] == 'O' || p[1] == 'N') ? 1 : 0;
	}
}

enum ks_status
ks_readme_print_from(ks_readme_body_fn *read, void *arg,
	struct ks_replay *replay, const char *origin, uint64_t size,
	struct ks_buf *out, struct ks_error *err)
{
	enum ks_status status;

	ks_buf_text(out, "# ");
	put_text(out, ks_span_text(origin));
	ks_buf_byte(out, '\n');
	put_template(out, head, origin, size);
	status = put_kinds(replay, out, err);
	put_template(out, sources, origin, size);
	put_sources(read, arg, replay, out);
	put_template(out, recipes, origin, size);
	return status != KS_OK ? status : ks_buf_check(out, err);
}

static enum ks_status
read_from_store(void *arg, const struct ks_id *digest, struct ks_buf *out,
	struct ks_error *err)
{
	return ks_store_body(arg, digest, out, err);
}

enum ks_status
ks_readme_print(struct ks_store *store, struct ks_replay *replay,
	const char *origin, uint64_t size, struct ks_buf *out,
	struct ks_error *err)
{
	return ks_readme_print_from(read_from_store, store, replay, origin,
		size, out, err);
}
