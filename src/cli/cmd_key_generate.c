#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/out_key.h"
#include "cli/secret.h"

struct plan {
	const char *name, *path;
	struct ks_secret secret;
	bool encrypted;
};

/* Nobody is asked for a passphrase in vain. ks_file_create() makes sure. */
static enum ks_status
check_path(const char *path, struct ks_error *err)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return ks_fail(err, KS_USAGE, "a private key is not written "
			"to standard output: name a file");
	if (lstat(path, &st) == 0)
		return ks_fail(err, KS_EXISTS, "%s: exists already, and a "
			"key is never overwritten", path);
	return KS_OK;
}

/* The whole key under its name, on the disk, or nothing. */
static enum ks_status
write_file(const char *path, struct ks_span text, struct ks_error *err)
{
	enum ks_status status = ks_file_create(path, text, S_IRUSR | S_IWUSR,
		err);

	if (status != KS_OK)
		return status == KS_NOT_FOUND ? KS_IO : status;
	status = ks_file_sync_parent(path, err);
	if (status != KS_OK)
		(void)unlink(path);
	return status;
}

static enum ks_status
write_key(struct plan *plan, const struct ks_signer *signer,
	struct ks_error *err)
{
	struct ks_buf passphrase = KS_BUF_INIT;
	struct ks_buf text = KS_BUF_INIT;
	enum ks_status status = KS_OK;

	plan->encrypted = plan->secret.ask || plan->secret.file != NULL;
	if (plan->encrypted)
		status = ks_secret_passphrase(&plan->secret, plan->path, true,
			&passphrase, err);
	if (status == KS_OK)
		status = ks_signer_write(signer, ks_buf_span(&passphrase),
			&text, err);
	ks_buf_wipe(&passphrase);
	/* A signal now comes when the file is whole. */
	ks_cli_catch_signals();
	if (status == KS_OK)
		status = write_file(plan->path, ks_buf_span(&text), err);
	ks_buf_wipe(&text);
	return status;
}

/* Said before anything can go wrong with standard output. */
static void
give_notes(struct ks_cli *cli, const struct plan *plan)
{
	ks_out_note(cli, "%s holds the private key%s: keep it safe, and a copy "
		"of it elsewhere, since whoever has it signs as %s",
		plan->path, plan->encrypted ? "" : ", not encrypted",
		plan->name);
	ks_out_note(cli, "publish the verifier key, the line %s+..., in two "
		"independent places outside of any store", plan->name);
}

static enum ks_status
generate(struct ks_cli *cli, struct plan *plan, struct ks_error *err)
{
	struct ks_signer *signer;
	struct ks_key_info info;
	enum ks_status status = ks_signer_generate(&signer, plan->name, err);

	if (status != KS_OK)
		return status;
	status = ks_signer_describe(signer, &info, err);
	if (status == KS_OK)
		status = check_path(plan->path, err);
	if (status == KS_OK)
		status = write_key(plan, signer, err);
	ks_signer_free(signer);
	if (status != KS_OK)
		return status;
	give_notes(cli, plan);
	if (cli->json)
		return ks_out_key_json(&info, err);
	ks_out_text(ks_span_text(info.vkey));
	ks_out_printf("\n");
	return KS_OK;
}

enum ks_status
ks_cmd_key_generate(struct ks_cli *cli, struct ks_error *err)
{
	struct plan plan = { .name = NULL };
	const struct ks_opt options[] = {
		KS_REQUIRED(0, "name", "NAME", &plan.name,
			"the origin of the log that it is to sign"),
		KS_REQUIRED('o', NULL, "FILE", &plan.path,
			"where the private key goes"),
		KS_SECRET_OPTIONS(&plan.secret),
	};
	enum ks_status status;

	cli->examples = "  kistore key generate --name example.org/records"
		" -o records.key\n";
	if (!ks_opt_parse(cli, options, KS_COUNT(options), &status, err))
		return status;
	status = ks_secret_check(&plan.secret, plan.path, err);
	return status == KS_OK ? generate(cli, &plan, err) : status;
}
