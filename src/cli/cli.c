#include "cli/cmd.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "cli/opt.h"
#include "cli/out.h"
#include "cli/trust.h"

/* ---- Signals ---------------------------------------------------------- */

static volatile sig_atomic_t caught;

static void
catch_signal(int number)
{
	caught = number;
}

/* A signal that the parent had ignored (nohup, a shell's background job) goes
 * on being ignored. */
static void
catch_one(int number)
{
	struct sigaction action = { .sa_handler = catch_signal,
		.sa_flags = (int)SA_RESETHAND };
	struct sigaction former;

	if (sigaction(number, NULL, &former) == 0 &&
		former.sa_handler == SIG_IGN)
		return;
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

void
ks_cli_catch_signals(void)
{
	catch_one(SIGINT);
	catch_one(SIGTERM);
}

bool
ks_cli_interrupted(void)
{
	return caught != 0;
}

void
ks_cli_die_of_signal(void)
{
	int number = caught;

	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* ---- Statuses --------------------------------------------------------- */

int
ks_cli_exit_code(enum ks_status status)
{
	switch (status) {
	case KS_OK:
		return 0;
	case KS_CORRUPT:
		return 1;
	case KS_USAGE:
		return 2;
	case KS_NOT_FOUND:
	case KS_AMBIGUOUS:
		return 3;
	case KS_INVALID:
		return 4;
	case KS_EXISTS:
	case KS_BUSY:
	case KS_CANCELLED:
	case KS_IO:
	case KS_NOMEM:
		return 5;
	case KS_UNTRUSTED:
		return 6;
	case KS_REVOKED:
		return 7;
	case KS_UNSUPPORTED:
		return 8;
	}
	return 5;
}

enum ks_status
ks_cli_worse(enum ks_status a, enum ks_status b)
{
	static const char gravest_first[] = { 1, 8, 5, 6, 3, 7, 4, 2, 0 };
	size_t i;

	for (i = 0; i < KS_COUNT(gravest_first); i++) {
		if (ks_cli_exit_code(a) == gravest_first[i])
			return a;
		if (ks_cli_exit_code(b) == gravest_first[i])
			return b;
	}
	return a;
}

/* ---- Environment ------------------------------------------------------ */

const char *
ks_cli_environment(const char *name)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): nothing ever sets one. */
	const char *value = getenv(name);

	return value == NULL || *value == '\0' ? NULL : value;
}

enum ks_status
ks_cli_open(struct ks_cli *cli, const char *at, struct ks_store **out,
	struct ks_error *err)
{
	const char *directory = cli->directory;

	if (directory == NULL)
		directory = ks_cli_environment("KISTORE_DIR");
	return ks_store_open(out, directory, at, err);
}

static enum ks_status
use_view(struct ks_cli *cli, struct ks_store *store, struct ks_error *err)
{
	struct ks_buf state = KS_BUF_INIT;
	struct ks_view view;
	enum ks_status status;

	ks_cli_state_directory(&state);
	status = ks_buf_check(&state, err);
	if (status == KS_OK)
		status = ks_store_view(store, ks_buf_cstr(&state), &cli->watch,
			&view, err);
	ks_buf_release(&state);
	if (status != KS_OK)
		return status;
	cli->verified = view.pinned;
	if (view.tail > 0)
		ks_out_note(cli, "%" PRIu64 " entr%s after the %" PRIu64
			" that are signed %s left out (--unsigned shows %s)",
			view.tail, view.tail == 1 ? "y" : "ies", view.size,
			view.tail == 1 ? "is" : "are",
			view.tail == 1 ? "it" : "them");
	else if (!view.pinned && view.has_snapshots)
		ks_out_note(cli, "what the log says is not verified: no key "
			"is pinned (kistore verify --key KEY --pin)");
	return KS_OK;
}

enum ks_status
ks_cli_open_view(struct ks_cli *cli, struct ks_store **out,
	struct ks_error *err)
{
	enum ks_status status = ks_cli_open(cli, cli->at, out, err);

	if (status != KS_OK || cli->with_unsigned)
		return status;
	status = use_view(cli, *out, err);
	if (status != KS_OK) {
		ks_store_close(*out);
		*out = NULL;
	}
	return status;
}

/* The years 1970 to 9999: what the log can hold. */
#define SECONDS_MAX INT64_C(253402300799)

/* *seconds is -1 where the variable is not set. */
static enum ks_status
source_date(int64_t *seconds, struct ks_error *err)
{
	const char *text = ks_cli_environment("SOURCE_DATE_EPOCH");

	*seconds = -1;
	if (text == NULL)
		return KS_OK;
	if (!ks_opt_number(text, 0, SECONDS_MAX, seconds))
		return ks_fail(err, KS_USAGE,
			"SOURCE_DATE_EPOCH is not a number of seconds: '%s'",
			text);
	return KS_OK;
}

enum ks_status
ks_cli_now(int64_t *seconds, struct ks_error *err)
{
	enum ks_status status = source_date(seconds, err);

	if (status == KS_OK && *seconds < 0)
		*seconds = (int64_t)time(NULL);
	return status;
}

enum ks_status
ks_cli_write_options(struct ks_cli *cli, struct ks_write_options *out,
	struct ks_error *err)
{
	*out = (struct ks_write_options){
		.wait_ms = (int)(cli->wait * 1000), .watch = &cli->watch
	};
	return source_date(&out->now, err);
}
