#include <inttypes.h>

#include "cli/cmd.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/out_entry.h"
#include "cli/ref.h"

/* Which entries are wanted: FROM..TO, of one object or of all. */
struct query {
	const char *reference;	/* NULL = of all */
	const char *range;	/* as given; NULL = the whole log */
	uint64_t from, to;	/* TO is the first that is not */
};

/* One walk over entries. */
struct walk {
	const struct ks_cli *cli;
	const struct query *query;
	int width;		/* of an index */
	enum ks_status status;
	struct ks_error *err;
};

/* ---- Operands ----------------------------------------------------------- */

/* Digits and dots only: no reference looks like that, but a short prefix of a
 * digest that happens to have no letter. */
static bool
is_range(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789.")] == '\0';
}

/* A number of at most `len` characters; "" leaves *out alone. */
static bool
read_end(const char *text, size_t len, uint64_t *out)
{
	char digits[20];
	int64_t value;

	if (len == 0)
		return true;
	if (len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (!ks_opt_number(digits, 0, INT64_MAX, &value))
		return false;
	*out = (uint64_t)value;
	return true;
}

static enum ks_status
read_range(struct query *query, struct ks_error *err)
{
	const char *text = query->range;
	const char *dots = strstr(text, "..");
	size_t len = dots == NULL ? strlen(text) : (size_t)(dots - text);

	if (!read_end(text, len, &query->from) || (dots != NULL &&
		!read_end(dots + 2, strlen(dots + 2), &query->to)))
		return ks_fail(err, KS_USAGE,
			"'%s' is not FROM..TO, numbers of entries", text);
	if (query->to < query->from)
		return ks_fail(err, KS_USAGE,
			"'%s' ends before it begins", text);
	return KS_OK;
}

static enum ks_status
read_operands(const struct ks_cli *cli, struct query *query,
	struct ks_error *err)
{
	size_t i;

	*query = (struct query){ .to = UINT64_MAX };
	for (i = 0; i < cli->operand_count; i++) {
		const char *text = cli->operands[i];
		const char **slot = is_range(text) ? &query->range :
			&query->reference;

		if (*slot != NULL)
			return ks_fail(err, KS_USAGE, "log takes one "
				"reference and one range, not '%s' as well",
				text);
		*slot = text;
	}
	return query->range == NULL ? KS_OK : read_range(query, err);
}

/* ---- Entries ------------------------------------------------------------ */

static bool
print_entry(void *arg, uint64_t index, struct ks_span line)
{
	struct walk *walk = arg;

	if (ks_cli_interrupted()) {
		walk->status = ks_fail(walk->err, KS_CANCELLED, "interrupted");
		return true;
	}
	if (index < walk->query->from || index >= walk->query->to)
		return false;
	walk->status = walk->cli->json ?
		ks_out_entry_json(index, line, walk->cli->verified,
			walk->err) :
		ks_out_entry(index, walk->width, line, walk->err);
	return walk->status != KS_OK;
}

static int
digits_of(uint64_t number)
{
	int count = 1;

	for (; number >= 10; number /= 10)
		count++;
	return count;
}

static enum ks_status
print_entries(struct ks_cli *cli, struct ks_store *store,
	const struct query *query, struct ks_error *err)
{
	struct walk walk = { .cli = cli, .query = query, .err = err };
	struct ks_ref ref = KS_REF_INIT;
	struct ks_log_info log;
	enum ks_status status = ks_log(store, &log, err);

	if (status != KS_OK)
		return status;
	walk.width = digits_of(log.size == 0 ? 0 : log.size - 1);
	if (query->reference == NULL) {
		status = ks_log_lines(store, query->from, query->to,
			print_entry, &walk, err);
	} else {
		status = ks_ref_find(cli, store, query->reference, &ref, err);
		if (status == KS_OK)
			status = ks_log_of(store, &ref.digest, print_entry,
				&walk, err);
	}
	return status == KS_OK ? walk.status : status;
}

/* ---- The root ----------------------------------------------------------- */

static enum ks_status
print_root(const struct ks_cli *cli, struct ks_store *store,
	struct ks_error *err)
{
	char root[KS_ID_TEXT + 1];
	struct ks_log_info log;
	struct ks_doc *doc;
	enum ks_status status = ks_log(store, &log, err);

	if (status != KS_OK)
		return status;
	if (!cli->json) {
		ks_out_printf("%" PRIu64 " %s\n", log.size,
			ks_id_print(&log.root, root));
		return KS_OK;
	}
	doc = ks_doc_new("log-root");
	ks_doc_integer(doc, "size", (int64_t)log.size);
	ks_doc_digest(doc, "root", &log.root);
	ks_doc_text(doc, "time", log.time);
	ks_doc_bool(doc, "verified", cli->verified);
	return ks_doc_write(doc, err);
}

enum ks_status
ks_cmd_log(struct ks_cli *cli, struct ks_error *err)
{
	bool root = false;
	const struct ks_opt options[] = {
		KS_FLAG(0, "root", &root,
			"print the number of entries and the Merkle root"),
	};
	struct query query;
	struct ks_store *store = NULL;
	enum ks_status status;

	cli->examples = "  kistore log --root\n"
		"  kistore log c3252a98\n"
		"  kistore log 7..           what was added since entry 6\n"
		"  kistore log --json |"
		" jq -c 'select(.entry.op == \"retract\")'\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = read_operands(cli, &query, err);
	if (status == KS_OK && root && cli->operand_count > 0)
		status = ks_fail(err, KS_USAGE,
			"--root is of the whole log (of an earlier one: --at)");
	if (status == KS_OK)
		status = ks_cli_open_view(cli, &store, err);
	if (status != KS_OK)
		return status;
	status = root ? print_root(cli, store, err) :
		print_entries(cli, store, &query, err);
	ks_store_close(store);
	return status;
}
