/*
 * Fetching from another repository, with stock git: over whatever it can, with
 * the user's own configuration for reaching it (ssh, proxies, credentials).
 */
#include "store/gitdb_internal.h"

#include <unistd.h>

#include "base/file.h"

/* What a server says of two names fits in here. */
#define ANSWER_MAX 65536

/* A server that sends nothing for so long is given up. */
#define LOW_SPEED "http.lowSpeedLimit=1"
#define LOW_SPEED_TIME "http.lowSpeedTime=120"

/* "ID<tab>HEAD". Other names that end in "/HEAD" are answered, too, but after
 * it. */
static bool
read_head(struct ks_span answer, struct ks_oid *head)
{
	static const char name[] = "\tHEAD\n";
	size_t len = sizeof(name) - 1;

	return answer.len >= KS_OID_HEX + len && memcmp(answer.data +
		KS_OID_HEX, name, len) == 0 && ks_oid_read(head, answer);
}

enum ks_status
ks_gitdb_remote_head(struct ks_gitdb *db, const char *url,
	const struct ks_watch *watch, struct ks_oid *head,
	struct ks_error *err)
{
	const char *words[] = { "-c", LOW_SPEED, "-c", LOW_SPEED_TIME,
		"ls-remote", "--quiet", "--", url, "HEAD", NULL };
	struct ks_git_channels channels = KS_GIT_NO_CHANNELS;
	struct ks_buf answer = KS_BUF_INIT;
	enum ks_status status = ks_git_scratch(db, ks_span(NULL, 0),
		&channels.output, err);

	channels.watch = watch;
	memset(head, 0, sizeof(*head));
	if (status == KS_OK)
		status = ks_git_run(db, "ls-remote", words, &channels, err);
	if (status == KS_OK && lseek(channels.output, 0, SEEK_SET) != 0)
		status = ks_fail_errno(err, "git ls-remote");
	if (status == KS_OK)
		status = ks_file_read_fd(channels.output, "git ls-remote",
			ANSWER_MAX, &answer, err);
	if (channels.output >= 0)
		(void)close(channels.output);
	if (status == KS_OK && !read_head(ks_buf_span(&answer), head))
		status = ks_fail(err, KS_NOT_FOUND, "it has no HEAD: nothing "
			"was committed there yet");
	ks_buf_release(&answer);
	return status == KS_INVALID ? KS_IO : status;
}

/* "object ID: badTree: …": what git fsck says of one. */
static bool
is_about_object(const char *message)
{
	static const char word[] = "object ";
	const char *at = strstr(message, word);
	struct ks_oid oid;

	if (at == NULL)
		return false;
	at += sizeof(word) - 1;
	return ks_oid_read(&oid, ks_span_text(at)) && at[KS_OID_HEX] == ':';
}

enum ks_status
ks_gitdb_fetch(struct ks_gitdb *db, const char *url, int lock,
	const struct ks_watch *watch, struct ks_error *err)
{
	/* One pack, flushed to disk, of objects that are in form, with names
	 * that can be checked out; nothing runs on in the background. */
	static const char head[] = "+HEAD:" KS_GIT_FETCHED;
	static const char tags[] = "+refs/tags/snapshot/*:"
		"refs/tags/snapshot/*";
	const char *words[] = { "-c", LOW_SPEED, "-c", LOW_SPEED_TIME, "-c",
		"fetch.unpackLimit=1", "-c", "fetch.fsckObjects=true", "-c",
		"core.fsync=all", "-c", "maintenance.auto=false", "fetch",
		"--quiet", "--progress", "--no-tags", "--no-write-fetch-head",
		"--no-recurse-submodules", "--prune", "--", url, head, tags,
		NULL };
	struct ks_git_channels channels = KS_GIT_NO_CHANNELS;
	struct ks_error why = KS_ERROR_INIT;
	int rc;
	enum ks_status status;

	channels.lock = lock;
	channels.watch = watch;
	status = ks_git_run(db, "fetch", words, &channels, &why);
	if (status != KS_OK)
		return ks_fail(err, status == KS_IO &&
			is_about_object(why.message) ? KS_CORRUPT : status,
			"%s", why.message);
	rc = git_odb_refresh(db->odb);
	return rc < 0 ? ks_git_fail(err, rc, KS_IO, "%s", db->objects) : KS_OK;
}
